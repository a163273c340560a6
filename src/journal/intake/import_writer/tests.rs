//! Whole imports, revisions, and what they do to the jobs below.

use super::*;
use crate::journal::fixture::*;
use crate::journal::{Decision, Evidence, How, Write};
use crate::model::content_hash::ContentHash;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::model::state::JobState::{Adopted, Created, Done, Existing, Held, InDoubt, Sending};
use crate::model::verdict::Doubt;

#[test]
fn an_import_is_there_whole_or_not_at_all() {
    let mut bench = bench();
    {
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let sheet = import.sheet(&sheet("customers", Kind::Company)).unwrap();
        let job = import.add_job(&company("Acme", vec![])).unwrap();
        import.row(&row(sheet, 2, job, Disposition::New)).unwrap();
    }
    assert!(bench.journal.imports().unwrap().is_empty());
    assert!(bench.journal.by_natural_key(Kind::Company, "Acme").unwrap().is_none());

    let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], true);
    assert_eq!((imported.rows, imported.added, imported.recognised), (2, 2, 0));
    assert_eq!(imported.tally.of(Kind::Company, Ready), 1);
    assert_eq!(imported.tally.of(Kind::Company, Blocked), 1);
    assert_eq!(imported.tally, bench.journal.tally(Some(imported.import)).unwrap());
    let known = bench.journal.by_natural_key(Kind::Company, "Bolt").unwrap().unwrap();
    assert_eq!((known.job, known.state, known.first_import), (jobs[1], Blocked, imported.import));
    assert_eq!(known.links, [link(Role::Parent, jobs[0])]);
    assert!(bench.journal.by_natural_key(Kind::Site, "Bolt").unwrap().is_none());
}

#[test]
fn jobs_are_found_by_key_name_and_id_newest_first_while_the_import_goes_on() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let first = import.add_job(&company("Acme", vec![])).unwrap();
    let second = import
        .add_job(&NewJob { natural_key: "other".into(), ..company("Acme", vec![link(Role::Parent, first)]) })
        .unwrap();
    let jobs = |known: Vec<crate::journal::KnownJob>| -> Vec<JobId> {
        known.iter().map(|known| known.job).collect()
    };
    assert_eq!(jobs(import.by_sheet_key(Kind::Company, "acme").unwrap()), [second, first]);
    assert_eq!(jobs(import.by_name(Kind::Company, "Acme").unwrap()), [second, first]);
    assert!(import.by_name(Kind::Company, "ACME").unwrap().is_empty());
    import.finish().unwrap();
    apply(&mut bench.journal, created(first, Ready, id(1))).unwrap();
    assert_eq!(bench.journal.by_remote_id(Kind::Company, id(1)).unwrap().unwrap().job, first);
    assert!(bench.journal.by_remote_id(Kind::Site, id(1)).unwrap().is_none());
}

#[test]
fn a_job_is_revised_only_from_states_in_which_nothing_is_under_way_or_done() {
    let mut bench = bench();
    for (&from, number) in JobState::ALL.iter().zip(0..) {
        let name = format!("Acme {number}");
        let (_, jobs) = import_companies(&mut bench.journal, &[name.as_str()], false);
        force(&bench.journal, jobs[0], from);
        let allowed = match from {
            Blocked | Ready | Deferred | Rejected | Incomplete | Skipped | Cancelled => true,
            Sending | InDoubt | Held | Created | Adopted | Existing | Done => false,
        };
        let mut import = bench.journal.begin_import(at(2)).unwrap();
        let revised = import.revise_job(jobs[0], &company(&name, vec![]));
        assert_eq!(revised.is_ok(), allowed, "{from}");
        import.finish().unwrap();
        let expected = match from {
            // Its record is there, and nothing is left to be done besides.
            Incomplete => Created,
            // All that is in doubt is there of each of them; here it stays so.
            Cancelled => InDoubt,
            _ if allowed => Ready,
            from => from,
        };
        assert_eq!(state(&bench.journal, jobs[0]), expected);
    }
}

#[test]
fn a_job_without_a_key_learns_one_in_every_state_and_nothing_else_of_it_changes() {
    let mut bench = bench();
    for (&from, number) in JobState::ALL.iter().zip(0..) {
        let name = format!("Acme {number}");
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let job = import.add_job(&NewJob { sheet_key: None, ..company(&name, vec![]) }).unwrap();
        import.finish().unwrap();
        force(&bench.journal, job, from);
        let columns = |bench: &Bench| -> Vec<rusqlite::types::Value> {
            let mut statement = bench.journal.connection.prepare("SELECT * FROM job WHERE id = ?1").unwrap();
            let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let others = |row: &rusqlite::Row<'_>| {
                names.iter().filter(|name| *name != "sheet_key").map(|name| row.get(name.as_str())).collect()
            };
            statement.query_row([job], others).unwrap()
        };
        let before = columns(&bench);
        let key = format!("key {number}");
        let mut import = bench.journal.begin_import(at(2)).unwrap();
        import.learn_key(job, &key).unwrap();
        assert!(import.learn_key(job, "another").is_err(), "{from}: a key is learnt once");
        import.finish().unwrap();
        let found = bench.journal.by_sheet_key(Kind::Company, &key).unwrap();
        assert_eq!(found.iter().map(|known| known.job).collect::<Vec<_>>(), [job], "{from}");
        assert_eq!(columns(&bench), before, "{from}");
    }
    let mut import = bench.journal.begin_import(at(3)).unwrap();
    assert!(import.learn_key(JobId(1_000), "none").is_err());
}

#[test]
fn a_corrected_parent_brings_its_skipped_descendants_back() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Top", "Middle", "Low"], true);
    apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
    assert_eq!(state(&bench.journal, jobs[2]), Skipped);
    let mut import = bench.journal.begin_import(at(2)).unwrap();
    let mut values = company("Top", vec![]);
    values.content_hash = ContentHash::of("corrected");
    import.revise_job(jobs[0], &values).unwrap();
    import.finish().unwrap();
    assert_eq!(
        jobs.iter().map(|&job| state(&bench.journal, job)).collect::<Vec<_>>(),
        [Ready, Blocked, Blocked]
    );
    assert_eq!((code(&bench.journal, jobs[0]), message(&bench.journal, jobs[1])), (None, None));
    let known = bench.journal.by_natural_key(Kind::Company, "Top").unwrap().unwrap();
    assert_eq!(known.content_hash, ContentHash::of("corrected"));
}

#[test]
fn what_is_below_two_rejected_ones_comes_back_when_both_are_corrected() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
    let mut import = bench.journal.begin_import(at(2)).unwrap();
    let links = vec![link(Role::Company, jobs[0]), link(Role::Parent, jobs[1])];
    let child = import.add_job(&site("Depot", links, vec![])).unwrap();
    import.finish().unwrap();
    apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
    apply(&mut bench.journal, rejected(jobs[1], Ready)).unwrap();
    for (job, expected) in [(jobs[0], Skipped), (jobs[1], Blocked)] {
        let known = bench.journal.work(job).unwrap().unwrap();
        let mut import = bench.journal.begin_import(at(3)).unwrap();
        import.revise_job(job, &company(&known.name, vec![])).unwrap();
        import.finish().unwrap();
        assert_eq!(state(&bench.journal, child), expected);
    }
}

#[test]
fn a_new_row_below_a_rejected_one_is_skipped_unless_the_same_import_corrects_it() {
    for corrected in [false, true] {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Top"], false);
        apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
        let mut import = bench.journal.begin_import(at(2)).unwrap();
        let child = import.add_job(&site("Depot", vec![link(Role::Company, jobs[0])], vec![])).unwrap();
        if corrected {
            import.revise_job(jobs[0], &company("Top", vec![])).unwrap();
        }
        import.finish().unwrap();
        assert_eq!(state(&bench.journal, child), if corrected { Blocked } else { Skipped });
    }
}

#[test]
fn a_step_rejected_after_the_creation_is_revised_without_creating_again() {
    let mut bench = bench();
    let labels = Action::PutLabels(vec!["north".into()]);
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let wrong = vec![labels.clone(), Action::PutMetadata(vec![])];
    let job = import.add_job(&site("Depot", vec![], wrong)).unwrap();
    import.finish().unwrap();
    apply(&mut bench.journal, created(job, Ready, id(1))).unwrap();
    let done =
        Write::Advance { job, from: Ready, how: How::Done, id: None, evidence: Evidence::at(at(4_000)) };
    apply(&mut bench.journal, done).unwrap();
    apply(&mut bench.journal, rejected(job, Ready)).unwrap();

    let right = vec![
        labels,
        Action::PutMetadata(vec![crate::model::record::Metadata {
            key: "region".into(),
            value: "north".into(),
        }]),
    ];
    let mut import = bench.journal.begin_import(at(5)).unwrap();
    import.revise_job(job, &site("Depot", vec![], right)).unwrap();
    import.finish().unwrap();
    let work = bench.journal.work(job).unwrap().unwrap();
    assert_eq!((work.state, work.step, work.operation), (Ready, 2, Operation::PutSiteMetadataList));
    assert_eq!(work.remote_id, Some(id(1)));
    let done =
        Write::Advance { job, from: Ready, how: How::Done, id: None, evidence: Evidence::at(at(4_000)) };
    apply(&mut bench.journal, done).unwrap();
    assert_eq!(state(&bench.journal, job), Created);
}

#[test]
fn two_jobs_of_a_kind_never_have_the_same_natural_key() {
    let mut bench = bench();
    import_companies(&mut bench.journal, &["Acme"], false);
    let mut import = bench.journal.begin_import(at(2)).unwrap();
    assert!(import.add_job(&company("Acme", vec![])).is_err());
}

#[test]
fn a_corrected_row_that_asks_for_nothing_more_is_what_its_creation_made_of_it_and_can_be_read() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let job = import.add_job(&site("Depot", vec![], vec![Action::PutLabels(vec!["n".into()])])).unwrap();
    import.finish().unwrap();
    apply(&mut bench.journal, created(job, Ready, id(1))).unwrap();
    apply(&mut bench.journal, rejected(job, Ready)).unwrap();

    let mut import = bench.journal.begin_import(at(2)).unwrap();
    import.revise_job(job, &site("Depot", vec![], vec![])).unwrap();
    import.finish().unwrap();
    let work = bench.journal.work(job).unwrap().unwrap();
    assert_eq!((work.state, work.step, work.remote_id), (Created, 0, Some(id(1))));
    assert_eq!(bench.journal.witness(Kind::Site, 10).unwrap(), [work]);
}

#[test]
fn a_row_that_was_cancelled_in_doubt_is_in_doubt_when_it_comes_again_unless_it_has_another_key() {
    let table = [
        (Doubt::NoId, "Depot", (InDoubt, true)),
        (Doubt::Timeout, "Depot", (InDoubt, false)),
        (Doubt::NoId, "Depot 2", (Ready, false)),
    ];
    for (doubt, name, expected) in table {
        let mut bench = bench();
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let job = import.add_job(&site("Depot", vec![], vec![])).unwrap();
        import.finish().unwrap();
        apply(&mut bench.journal, claim(job, Operation::AddSite)).unwrap();
        let doubt = Write::Doubt {
            job,
            doubt,
            executed: doubt.executed(),
            charged: true,
            until: at(4_000),
            evidence: Evidence::at(at(3_000)),
        };
        apply(&mut bench.journal, doubt).unwrap();
        bench.journal.resolve(job, Decision::Abandon, None, "operator", at(5_000)).unwrap();

        let mut import = bench.journal.begin_import(at(6_000)).unwrap();
        import.revise_job(job, &site(name, vec![], vec![])).unwrap();
        import.finish().unwrap();
        let work = bench.journal.work(job).unwrap().unwrap();
        assert_eq!((work.state, work.executed), expected, "{name}");
    }
}
