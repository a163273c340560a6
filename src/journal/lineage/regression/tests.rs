//! Older copies, missing logs and other machines are told apart from what is in order.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::error::ErrorKind;
use crate::journal::file::file_watch::log_of;
use crate::journal::fixture::*;
use crate::journal::lineage::high_water_mark::Machine;
use crate::model::id::RemoteId;
use crate::model::operation::Operation::AddCompany;
use crate::model::state::JobState::{InDoubt, Ready, Sending};
use crate::model::verdict::Doubt;

/// A journal with one import, entered by a register of its own, after one claim.
struct Run {
    bench: Bench,
    register: Register,
}

fn run() -> Run {
    let mut bench = bench();
    import_companies(&mut bench.journal, &["Acme", "Bolt", "Cord"], false);
    let register = Register::open(&bench.folder.path().join("state")).unwrap();
    assert_eq!(bench.journal.regression(&register).unwrap(), None, "never run: nothing can be missing");
    bench.journal.enter(&register).unwrap();
    bench.journal.queue().begin_run(at(1)).unwrap();
    apply(&mut bench.journal, claim(crate::model::id::JobId(1), AddCompany)).unwrap();
    Run { bench, register }
}

/// Copies a journal as it lies there, with its log or without.
fn copy(run: &Run, name: &str, with_log: bool) -> PathBuf {
    let (from, to) = (run.bench.journal.path(), run.bench.folder.path().join(name));
    fs::copy(from, &to).unwrap();
    if with_log {
        fs::copy(log_of(from), log_of(&to)).unwrap();
    }
    to
}

fn judged(path: &Path, register: &Register) -> Option<Regression> {
    Journal::open_existing(path).unwrap().regression(register).unwrap()
}

#[test]
fn a_journal_whose_process_was_killed_goes_on_even_after_another_command_has_merged_its_log() {
    let run = run();
    let killed = copy(&run, "killed.db", true);
    assert_eq!(judged(&killed, &run.register), None);
    assert!(!log_of(&killed).exists(), "closing it has merged the log");
    assert_eq!(judged(&killed, &run.register), None);
}

#[test]
fn a_copy_without_its_log_is_recognised_even_where_nothing_is_remembered() {
    let run = run();
    let copied = copy(&run, "copied.db", false);
    let known = judged(&copied, &run.register).unwrap();
    assert!(matches!(known, Regression::Older { without_log: true, .. }), "{known:?}");
    // Another user of the same machine.
    let elsewhere = Register::open(&run.bench.folder.path().join("elsewhere")).unwrap();
    let again = copy(&run, "again.db", false);
    assert_eq!(judged(&again, &elsewhere), Some(Regression::WithoutLog));
    // With it, it is whole for them, too, and is remembered.
    let whole = copy(&run, "whole.db", true);
    assert_eq!(judged(&whole, &elsewhere), None);
    assert!(!log_of(&whole).exists());
    assert_eq!(judged(&whole, &elsewhere), None, "remembered, so that the merged log is not missed");
}

#[test]
fn a_backup_from_before_the_first_run_is_an_older_copy_too() {
    let mut bench = bench();
    import_companies(&mut bench.journal, &["Acme"], false);
    let register = Register::open(&bench.folder.path().join("state")).unwrap();
    let backup = bench.folder.path().join("backup.db");
    fs::copy(bench.journal.path(), &backup).unwrap();
    fs::copy(log_of(bench.journal.path()), log_of(&backup)).unwrap();
    assert_eq!(judged(&backup, &register), None, "nothing was sent yet");
    bench.journal.enter(&register).unwrap();
    bench.journal.queue().begin_run(at(1)).unwrap();
    apply(&mut bench.journal, claim(crate::model::id::JobId(1), AddCompany)).unwrap();
    let found = judged(&backup, &register);
    assert!(matches!(found, Some(Regression::Older { without_log: false, .. })), "{found:?}");
}

#[test]
fn a_backup_taken_before_the_last_claim_is_an_older_copy() {
    let mut run = run();
    let backup = copy(&run, "backup.db", true);
    apply(&mut run.bench.journal, claim(crate::model::id::JobId(2), AddCompany)).unwrap();
    let found = judged(&backup, &run.register).unwrap();
    let Regression::Older { place: Some(place), without_log: false } = &found else { panic!("{found:?}") };
    assert_eq!(place, run.bench.journal.path());
    let error = found.error(&backup, "sent", "fleetload run --accept-journal --journal backup.db");
    assert_eq!(error.kind(), ErrorKind::Journal);
    assert!(error.to_string().contains("is an older copy"), "{error}");
    let hint = error.next_step().unwrap();
    assert!(hint.ends_with("fleetload run --accept-journal --journal backup.db"), "{hint}");
    assert!(hint.contains(&place.display().to_string()), "{hint}");
    assert_eq!(judged(run.bench.journal.path(), &run.register), None, "the newest is in order");
}

#[test]
fn a_journal_of_another_machine_is_stopped_unless_it_was_never_run() {
    let mut run = run();
    run.register.machine = Machine { digest: "other".into(), name: "depot-7".into() };
    let found = run.bench.journal.regression(&run.register).unwrap().unwrap();
    assert_eq!(found, Regression::OtherMachine { name: "".into() }.named(&run));
    run.bench.journal.connection.execute("UPDATE identity SET serial = 0, under_way = 0", []).unwrap();
    // The other machine remembers nothing of it.
    run.register = Register::open(&run.bench.folder.path().join("elsewhere")).unwrap();
    run.register.machine = Machine { digest: "other".into(), name: "depot-7".into() };
    assert_eq!(run.bench.journal.regression(&run.register).unwrap(), None);
}

impl Regression {
    /// With the name of the machine the tests run on.
    fn named(self, run: &Run) -> Self {
        let name = run
            .bench
            .journal
            .connection
            .query_row("SELECT machine_name FROM identity", [], |row| row.get(0))
            .unwrap();
        Self::OtherMachine { name }
    }
}

#[test]
fn what_is_remembered_and_cannot_be_read_is_no_reason_to_go_on() {
    let run = run();
    let folder = run.bench.folder.path().join("state/journals");
    let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, "nothing").unwrap();
    let found = run.bench.journal.regression(&run.register).unwrap();
    assert_eq!(found, Some(Regression::Forgotten { file }));
}

#[test]
fn an_accepted_copy_has_its_open_rows_looked_into_and_is_the_newest_from_then_on() {
    let mut run = run();
    let backup = copy(&run, "backup.db", true);
    apply(&mut run.bench.journal, claim(crate::model::id::JobId(2), AddCompany)).unwrap();
    // As if its process had been killed between commits and the notes of them.
    run.bench.journal.entry = None;
    apply(&mut run.bench.journal, claim(crate::model::id::JobId(3), AddCompany)).unwrap();
    let mut accepted = Journal::open_existing(&backup).unwrap();
    let found = accepted.regression(&run.register).unwrap().unwrap();
    assert_eq!(accepted.accept(&run.register, &found, "ann", at(50)).unwrap().unsure, 3);
    assert_eq!(accepted.regression(&run.register).unwrap(), None);
    let (who, what): (String, String) = accepted
        .connection
        .query_row("SELECT who, what FROM decision", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!((who.as_str(), what.as_str()), ("ann", "accept journal"));
    let old = run.bench.journal.regression(&run.register).unwrap();
    assert!(matches!(old, Some(Regression::Older { .. })), "{old:?}");

    // What it takes for ready is in doubt until a look has shown that it is not there.
    let job = crate::model::id::JobId(2);
    let work = accepted.work(job).unwrap().unwrap();
    assert!(work.unsure && work.state == Ready);
    let doubt = Doubt::JournalBehind;
    apply(&mut accepted, crate::journal::Write::Suspect { job, from: Ready, doubt, at: at(60) }).unwrap();
    let work = accepted.work(job).unwrap().unwrap();
    assert_eq!((work.state, work.doubted, work.unsure), (InDoubt, true, true));
    apply(&mut accepted, crate::journal::Write::Release { job, note: "absent".into(), at: at(70) }).unwrap();
    let work = accepted.work(job).unwrap().unwrap();
    assert_eq!((work.state, work.unsure), (Ready, false));
}

#[test]
fn what_lies_below_a_record_that_an_accepted_copy_has_just_made_cannot_have_been_sent_and_new_rows_may_have()
{
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Cord"], true);
    let register = Register::open(&bench.folder.path().join("state")).unwrap();
    assert_eq!(bench.journal.accept(&register, &Regression::WithoutLog, "ann", at(50)).unwrap().unsure, 3);
    let unsure = |journal: &Journal, job| journal.work(job).unwrap().unwrap().unsure;
    // The first is not there and is made; the second is found.
    bench.journal.connection.execute("UPDATE job SET unsure = 0 WHERE id = 1", []).unwrap();
    apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
    apply(&mut bench.journal, created(jobs[0], Sending, RemoteId::from_u128(1))).unwrap();
    assert!(!unsure(&bench.journal, jobs[1]) && unsure(&bench.journal, jobs[2]));
    let found = crate::journal::Write::Advance {
        job: jobs[1],
        from: Ready,
        how: crate::journal::How::Existing,
        id: Some(RemoteId::from_u128(2)),
        evidence: crate::journal::Evidence::at(at(60)),
    };
    apply(&mut bench.journal, found).unwrap();
    assert!(unsure(&bench.journal, jobs[2]));
    let (_, new) = import_companies(&mut bench.journal, &["Dart"], false);
    assert!(unsure(&bench.journal, new[0]));
}

#[test]
fn answers_to_a_newer_copy_are_put_aside_when_an_older_one_is_accepted() {
    let mut run = run();
    let backup = copy(&run, "backup.db", true);
    let newer = import_companies(&mut run.bench.journal, &["Dart"], false).1[0];
    apply(&mut run.bench.journal, claim(newer, AddCompany)).unwrap();
    let spill = run.bench.journal.spill(&[created(newer, Sending, RemoteId::from_u128(4))]).unwrap();
    let beside = backup.with_extension("db.spill");
    fs::rename(spill, &beside).unwrap();
    let mut accepted = Journal::open_existing(&backup).unwrap();
    let found = accepted.regression(&run.register).unwrap().unwrap();
    let aside = accepted.accept(&run.register, &found, "ann", at(50)).unwrap().spilled.unwrap();
    assert!(aside.exists() && !beside.exists());
    let other = import_companies(&mut accepted, &["Echo"], false).1[0];
    assert_eq!(other, newer, "the number stands for another row here");
    apply(&mut accepted, claim(other, AddCompany)).unwrap();
    let recovered = accepted.queue().recover(at(60)).unwrap();
    assert_eq!((recovered.spilled, recovered.left_out), (0, 0));
    assert_eq!(state(&accepted, other), InDoubt);
}

#[test]
fn room_is_kept_for_answers_until_the_run_or_the_journal_ends() {
    let mut bench = bench();
    let register = Register::open(&bench.folder.path().join("state")).unwrap();
    let room = bench.folder.path().join("fleetload.db.spill-reserve");
    bench.journal.enter(&register).unwrap();
    bench.journal.enter(&register).unwrap();
    assert!(room.exists(), "entering again keeps it");
    drop(bench.journal);
    assert!(!room.exists(), "a run that never began gives it back");
}

#[test]
fn a_backup_of_a_run_under_way_is_an_older_copy_and_lacks_no_file() {
    let mut run = run();
    let backup = run.bench.folder.path().join("backup.db");
    drop(run.bench.journal.back_up(&backup, false, at(2)).unwrap());
    apply(&mut run.bench.journal, claim(crate::model::id::JobId(2), AddCompany)).unwrap();
    let found = judged(&backup, &run.register);
    assert!(matches!(found, Some(Regression::Older { without_log: false, .. })), "{found:?}");
    // Where nothing is remembered of it, nobody knows how far it has come.
    let elsewhere = Register::open(&run.bench.folder.path().join("elsewhere")).unwrap();
    assert_eq!(judged(&backup, &elsewhere), Some(Regression::Older { place: None, without_log: false }));
    // Run, it is the journal: the next time its log is missed.
    let mut restored = Journal::open_existing(&backup).unwrap();
    let regression = restored.regression(&run.register).unwrap().unwrap();
    restored.accept(&run.register, &regression, "kim", at(3)).unwrap();
    assert!(!identity::read(&restored.view.connection).unwrap().is_backup);
}
