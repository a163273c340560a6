//! Replies after the commit, order, failure, and a second process beside the writer.

use std::fs;
use std::sync::mpsc::{self, channel};

use super::*;
use crate::error::ErrorKind;
use crate::journal::fixture::*;
use crate::model::operation::Operation::AddCompany;
use crate::model::state::JobState::{self, Created, Ready, Sending};

/// A writer whose replies arrive in a channel.
fn started(journal: Journal) -> (Writer, mpsc::Receiver<Reply>) {
    let (replies, inbox) = channel();
    let writer =
        Writer::start(journal, Writing::OwnThread, move |reply| replies.send(reply).unwrap()).unwrap();
    (writer, inbox)
}

/// The journal of a writer that has nothing left to do.
fn closed(writer: Writer) -> Journal {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(writer.close()).unwrap()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("Company {number}")).collect()
}

#[test]
fn a_reply_comes_only_when_another_connection_sees_what_was_written() {
    let mut bench = bench();
    let names = names(200);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (_, jobs) = import_companies(&mut bench.journal, &names, false);
    let other = Journal::open_existing(bench.journal.path()).unwrap();
    let (seen, sights) = channel();
    let in_order = jobs.clone();
    let writer = Writer::start(bench.journal, Writing::OwnThread, move |reply| {
        // On the writer's own thread: nothing can be committed between the reply and this look.
        let Reply::Written { ticket, .. } = reply else { panic!("{reply:?}") };
        let job = in_order[usize::try_from(ticket).unwrap()];
        seen.send((ticket, state(&other, job))).unwrap();
    })
    .unwrap();
    for (&job, ticket) in jobs.iter().zip(0..) {
        writer.write(ticket, claim(job, AddCompany));
    }
    closed(writer);
    let sights: Vec<(u64, JobState)> = sights.iter().collect();
    assert_eq!(sights, (0..200).map(|ticket| (ticket, Sending)).collect::<Vec<_>>());
}

#[test]
fn reads_and_questions_keep_their_order_with_the_writes() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], true);
    let (writer, replies) = started(bench.journal);
    writer.ready((AddCompany, vec![]), at(5_000), 10, vec![]);
    writer.write(1, claim(jobs[0], AddCompany));
    writer.ready((AddCompany, vec![]), at(5_000), 10, vec![]);
    writer.write(2, created(jobs[0], Sending, id(1)));
    writer.write(3, claim(jobs[0], AddCompany));
    writer.owners(JobId(4), vec![id(1)]);
    writer.doubtful(at(5_000), 10, vec![]);
    let (answer, answers) = channel();
    writer.ask(Box::new(move |journal| answer.send(state(journal, JobId(1))).unwrap()));
    writer.ready((AddCompany, vec![]), at(5_000), 10, vec![]);
    closed(writer);
    assert_eq!(answers.recv().unwrap(), Created);
    let told: Vec<String> = replies
        .iter()
        .map(|reply| match reply {
            Reply::Written { ticket, moved } => format!("written {ticket}: {}", moved.len()),
            Reply::Refused { ticket, error } => {
                assert_eq!(error.kind(), ErrorKind::Internal);
                format!("refused {ticket}")
            }
            Reply::Ready { page, .. } => {
                let jobs: Vec<i64> = page.work.iter().map(|work| work.job.0).collect();
                format!("ready {jobs:?}")
            }
            Reply::Doubtful { page } => format!("doubtful {}", page.work.len()),
            Reply::Owners { job, ownership } => format!("owners {job}: {}", ownership.owners.len()),
            Reply::Quota { day } => format!("quota {}", day.used()),
            Reply::Locked => "locked".to_owned(),
            Reply::Failed { error } => panic!("{error}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            "ready [1]",
            "written 1: 1",
            "ready []",
            "written 2: 2",
            "refused 3",
            "owners 4: 1",
            "doubtful 0",
            "ready [2]"
        ]
    );
}

#[test]
fn a_full_disk_stops_the_writer_and_the_settlements_come_back_at_the_next_start() {
    let mut bench = bench();
    let names = names(40);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (_, jobs) = import_companies(&mut bench.journal, &names, false);
    apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
    apply(&mut bench.journal, claim(jobs[1], AddCompany)).unwrap();
    let path = bench.journal.path().to_owned();
    // No page beyond those there are: what SQLite answers is what a full disk makes it answer.
    let pages: i64 =
        bench.journal.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    bench
        .journal
        .connection
        .pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))
        .unwrap();

    let (writer, replies) = started(bench.journal);
    let mut big = created(jobs[0], Sending, id(1));
    if let Write::Advance { evidence, .. } = &mut big {
        evidence.excerpt = Some("x".repeat(100_000));
    }
    writer.write(1, big);
    writer.owners(JobId(2), vec![]);
    writer.write(3, claim(jobs[2], AddCompany));
    writer.write(4, created(jobs[1], Sending, id(2)));
    writer.ask(Box::new(|_| panic!("what may write is not asked after a failed write")));
    drop(closed(writer));
    let replies: Vec<Reply> = replies.iter().collect();
    let [Reply::Failed { error }, Reply::Owners { job: JobId(2), .. }] = replies.as_slice() else {
        panic!("{replies:?}")
    };
    assert_eq!(error.kind(), ErrorKind::Journal);
    assert!(error.to_string().contains("the disk is full"), "{error}");

    let mut journal = Journal::open_existing(&path).unwrap();
    assert_eq!(state(&journal, jobs[0]), Sending, "nothing of the failed batch is on disk");
    let spill = bench.folder.path().join("fleetload.db.spill");
    assert_eq!(fs::read_to_string(spill).unwrap().lines().count(), 2);
    let recovered = journal.queue().recover(at(9_000)).unwrap();
    assert_eq!((recovered.spilled, recovered.doubtful), (2, 0));
    assert_eq!(state(&journal, jobs[0]), Created);
    assert_eq!(state(&journal, jobs[1]), Created);
    assert_eq!(state(&journal, jobs[2]), Ready, "the claim was dropped: nothing was sent");
}

#[test]
fn an_import_beside_a_running_writer_succeeds_and_so_does_the_writer() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
    let mut second = Journal::open_existing(bench.journal.path()).unwrap();
    let version = bench.journal.data_version().unwrap();
    let (writer, replies) = started(bench.journal);
    // The import holds the write lock while the claim is queued; the writer waits for it.
    let mut import = second.begin_import(at(1)).unwrap();
    writer.write(1, claim(jobs[0], AddCompany));
    let added = import.add_job(&company("Bolt", vec![])).unwrap();
    import.finish().unwrap();
    assert!(matches!(replies.recv().unwrap(), Reply::Written { ticket: 1, .. }));
    writer.ready((AddCompany, vec![]), at(5_000), 10, vec![]);
    let Reply::Ready { page, .. } = replies.recv().unwrap() else { panic!("not the page") };
    assert_eq!(page.work.iter().map(|work| work.job).collect::<Vec<_>>(), [added]);
    let journal = closed(writer);
    assert_ne!(journal.data_version().unwrap(), version);
}
