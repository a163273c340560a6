//! What each decision of a person may leave, and what it leads to.

use super::*;
use crate::error::ErrorKind;
use crate::journal::fixture::*;
use crate::journal::state::transition;
use crate::journal::{Disposition, ReadBy, Write};
use crate::model::action::Action;
use crate::model::operation::Operation::AddCompany;
use crate::model::state::JobState::{Adopted, Created, Sending, Skipped};
use crate::model::verdict::{Doubt, Execution};

fn states(bench: &Bench, jobs: &[JobId]) -> Vec<JobState> {
    jobs.iter().map(|&job| state(&bench.journal, job)).collect()
}

fn hold(bench: &mut Bench, job: JobId, from: JobState) {
    let candidates = vec![Candidate {
        id: Some(id(7)),
        name: Some("Acme".into()),
        details: "1 High St".into(),
        difference: "another phone number".into(),
    }];
    let write = Write::Hold {
        job,
        from,
        code: "candidate.differs".into(),
        reason: "one record differs".into(),
        candidates,
        evidence: Evidence::at(at(4_000)),
    };
    apply(&mut bench.journal, write).unwrap();
}

fn decisions(bench: &Bench) -> Vec<String> {
    let mut statement = bench
        .journal
        .connection
        .prepare("SELECT who || ' ' || what || ' ' || coalesce(job, 'import ' || import) FROM decision ORDER BY id")
        .unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn a_retry_makes_the_chosen_rejected_jobs_ready_and_opens_what_was_skipped_below() {
    let choices = [
        (Selection::default(), true),
        (Selection { import: Some(ImportId(1)), ..Selection::default() }, true),
        (Selection { import: Some(ImportId(2)), ..Selection::default() }, false),
        (Selection { sheet: Some("customers".into()), row: Some(2), ..Selection::default() }, true),
        (Selection { row: Some(3), ..Selection::default() }, false),
        (Selection { sheet: Some("sites".into()), ..Selection::default() }, false),
        (Selection { code: Some("invalidData".into()), ..Selection::default() }, true),
        (Selection { code: Some("duplicateEntity".into()), ..Selection::default() }, false),
    ];
    for (selection, meant) in choices {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Top", "Middle", "Low"], true);
        apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
        let retried = bench.journal.retry(&selection, "kim", at(8_000)).unwrap();
        if meant {
            assert_eq!(
                retried,
                Retried { retried: 1, released: 2, skipped: 0, codes: ["invalidData".to_owned()].into() },
                "{selection:?}"
            );
            assert_eq!(states(&bench, &jobs), [Ready, Blocked, Blocked]);
            assert_eq!(decisions(&bench), ["kim retry 1"]);
            assert_eq!(code(&bench.journal, jobs[0]), None);
        } else {
            assert_eq!(retried, Retried::default(), "{selection:?}");
            assert_eq!(states(&bench, &jobs), [Rejected, Skipped, Skipped]);
        }
    }
}

#[test]
fn a_job_below_one_that_is_not_made_is_skipped_when_it_is_retried_until_that_one_is() {
    for (lost, expected) in [(Rejected, "parent.rejected"), (JobState::Cancelled, "parent.cancelled")] {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Top", "Middle", "Low"], true);
        let rejection = crate::model::verdict::Rejection {
            code: "id.unknown".into(),
            message: "no such id".into(),
            violations: vec![],
        };
        transition::reject_unsent(&bench.journal.connection, &[(jobs[1], rejection)], at(2_000)).unwrap();
        if lost == Rejected {
            apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
        } else {
            hold(&mut bench, jobs[0], Ready);
            bench.journal.resolve(jobs[0], Decision::Abandon, None, "kim", at(7_000)).unwrap();
        }
        let selection = Selection { code: Some("id.unknown".into()), ..Selection::default() };
        let retried = bench.journal.retry(&selection, "kim", at(8_000)).unwrap();
        assert_eq!(retried, Retried { skipped: 1, ..Retried::default() });
        assert_eq!(states(&bench, &jobs), [lost, Skipped, Skipped]);
        assert_eq!(code(&bench.journal, jobs[1]).as_deref(), Some(expected));
        if lost == Rejected {
            let retried = bench.journal.retry(&Selection::default(), "kim", at(9_000)).unwrap();
            assert_eq!(
                retried,
                Retried { retried: 1, released: 2, skipped: 0, codes: ["invalidData".to_owned()].into() }
            );
            assert_eq!(states(&bench, &jobs), [Ready, Blocked, Blocked]);
        }
    }
}

#[test]
fn a_held_job_said_not_to_be_created_below_one_that_is_not_made_is_skipped() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Top", "Middle", "Low"], true);
    force(&bench.journal, jobs[1], Held);
    apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
    let moved = bench.journal.resolve(jobs[1], Decision::NotCreated, None, "kim", at(9_000)).unwrap();
    assert_eq!((moved[0].job, moved[0].from, moved[0].to), (jobs[1], Held, Skipped));
    assert_eq!(states(&bench, &jobs), [Rejected, Skipped, Skipped]);
}

#[test]
fn a_job_cancelled_in_doubt_is_cancelled_once_a_person_says_that_it_was_not_created() {
    let mut bench = bench();
    let (imported, jobs) = import_companies(&mut bench.journal, &["Top", "Low"], true);
    force(&bench.journal, jobs[0], InDoubt);
    bench.journal.cancel(imported.import, "kim", at(3_000)).unwrap();
    hold(&mut bench, jobs[0], InDoubt);
    let moved = bench.journal.resolve(jobs[0], Decision::NotCreated, None, "ann", at(9_000)).unwrap();
    assert_eq!((moved[0].from, moved[0].to), (Held, JobState::Cancelled));
    assert_eq!(states(&bench, &jobs), [JobState::Cancelled, JobState::Cancelled]);
    assert_eq!(message(&bench.journal, jobs[0]).as_deref(), Some("cancelled by kim"));
}

#[test]
fn a_cancelled_job_says_how_it_came_by_its_record_and_not_that_the_record_is_there_now() {
    for (how, words) in [
        (How::Created, "the site was created with the id"),
        (How::Adopted, "the site was found with the id"),
        (How::Existing, "the site was found with the id"),
    ] {
        let mut bench = bench();
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let owner = crate::model::action::Owner::Site;
        let label = Action::PutLabel(crate::model::action::OwnedLabel { owner, label: "north".into() });
        let sheet = import.sheet(&sheet("sites", Kind::Site)).unwrap();
        let job = import.add_job(&site("Depot", vec![], vec![label])).unwrap();
        import.row(&row(sheet, 2, job, Disposition::New)).unwrap();
        import.finish().unwrap();
        let evidence = Evidence { execution: Execution::Confirmed, ..Evidence::at(at(3_000)) };
        let write = Write::Advance { job, from: Ready, how, id: Some(id(7)), evidence };
        apply(&mut bench.journal, write).unwrap();
        apply(&mut bench.journal, rejected(job, Ready)).unwrap();
        bench.journal.cancel(ImportId(1), "kim", at(9_000)).unwrap();
        let expected =
            format!("cancelled by kim; {words} {}; before that it was incomplete: no such zone", id(7));
        assert_eq!(message(&bench.journal, job), Some(expected));
    }
}

#[test]
fn what_was_in_doubt_at_a_later_step_is_not_of_the_first_one_that_is_carried_out_again() {
    let mut bench = bench();
    let journal = &mut bench.journal;
    let mut import = journal.begin_import(at(1)).unwrap();
    let mut values = site("labels of Depot", vec![], vec![]);
    values.kind = Kind::Upkeep(crate::model::kind::Upkeep::Labels);
    let label = |label: &str| {
        let owner = crate::model::action::Owner::Site;
        Action::PutLabel(crate::model::action::OwnedLabel { owner, label: label.into() })
    };
    values.steps = vec![label("north"), label("south")];
    let job = import.add_job(&values).unwrap();
    import.finish().unwrap();
    let done = Evidence { execution: Execution::Confirmed, ..Evidence::at(at(3_000)) };
    apply(journal, Write::Advance { job, from: Ready, how: How::Done, id: None, evidence: done }).unwrap();
    let operation = journal.work(job).unwrap().unwrap().operation;
    apply(journal, claim(job, operation)).unwrap();
    let (doubt, until, evidence) = (Doubt::Timeout, at(4_000), Evidence::at(at(4_000)));
    apply(journal, Write::Doubt { job, doubt, executed: false, charged: true, until, evidence }).unwrap();
    apply(journal, Write::Release { job, note: "not there".into(), at: at(5_000) }).unwrap();
    apply(journal, rejected(job, Ready)).unwrap();
    assert_eq!(state(journal, job), Incomplete);
    let run = journal.queue().begin_run(at(5_100)).unwrap();
    let finding =
        AuditFinding { code: AuditFinding::REVERTED.to_owned(), message: "gone".into(), found: vec![] };
    let content = journal.work(job).unwrap().unwrap().content_hash;
    let (by, finding) = (ReadBy::Key, Some(finding));
    apply(journal, Write::Audited { job, id: None, content, run, by, finding, site: None, at: at(5_200) })
        .unwrap();
    let selection = Selection { code: Some(AuditFinding::REVERTED.to_owned()), ..Selection::default() };
    assert_eq!(journal.retry(&selection, "kim", at(8_000)).unwrap().retried, 1);
    let work = journal.work(job).unwrap().unwrap();
    assert_eq!((work.state, work.step), (Ready, 0));
    assert_eq!((work.doubted, work.doubts, work.first_sent_at), (false, 0, None));
}

#[test]
fn a_held_job_is_shown_with_its_place_and_its_candidates() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
    hold(&mut bench, jobs[0], Ready);
    let held = bench.journal.held(&Selection::default()).unwrap();
    assert_eq!((held[0].place.as_str(), held[0].since), ("customers.csv!customers!2", at(4_000)));
    assert_eq!((held[0].code.as_str(), held[0].reason.as_str()), ("candidate.differs", "one record differs"));
    assert_eq!(held[0].candidates[0].difference, "another phone number");
}

#[test]
fn a_held_job_said_to_be_created_has_its_record_and_releases_its_children() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Acme East"], true);
    hold(&mut bench, jobs[0], Ready);
    let moved = bench.journal.resolve(jobs[0], Decision::Created(id(7)), None, "kim", at(9_000)).unwrap();
    assert_eq!(moved.iter().map(|moved| moved.to).collect::<Vec<_>>(), [Adopted, Ready]);
    assert_eq!(bench.journal.work(jobs[0]).unwrap().unwrap().remote_id, Some(id(7)));
    assert_eq!(decisions(&bench), ["kim created 1"]);
}

#[test]
fn an_id_that_another_job_owns_is_refused_with_its_owner_named() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
    apply(&mut bench.journal, created(jobs[0], Ready, id(7))).unwrap();
    hold(&mut bench, jobs[1], Ready);
    let before = everything(&bench.journal).unwrap();
    let error = bench.journal.resolve(jobs[1], Decision::Created(id(7)), None, "kim", at(9_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("'Acme', customers.csv!customers!2"), "{error}");
    assert_eq!(everything(&bench.journal).unwrap(), before);
}

#[test]
fn a_job_said_not_to_be_created_is_sent_again_even_when_the_service_said_it_was() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
    apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
    let doubt = Write::Doubt {
        job: jobs[0],
        doubt: crate::model::verdict::Doubt::Unreadable,
        executed: true,
        charged: true,
        until: at(4_000),
        evidence: Evidence::at(at(3_000)),
    };
    apply(&mut bench.journal, doubt).unwrap();
    bench.journal.resolve(jobs[0], Decision::NotCreated, None, "kim", at(9_000)).unwrap();
    let work = bench.journal.work(jobs[0]).unwrap().unwrap();
    assert_eq!((work.state, work.executed, work.doubted), (Ready, false, true));
}

#[test]
fn an_abandoned_job_takes_its_descendants_with_it() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Top", "Middle", "Low"], true);
    hold(&mut bench, jobs[0], Ready);
    let moved = bench.journal.resolve(jobs[0], Decision::Abandon, None, "kim", at(9_000)).unwrap();
    assert_eq!(moved.len(), 3);
    assert_eq!(states(&bench, &jobs), [JobState::Cancelled, Skipped, Skipped]);
    assert_eq!(code(&bench.journal, jobs[2]).as_deref(), Some("parent.cancelled"));
}

#[test]
fn only_a_held_or_doubtful_job_can_be_decided() {
    let mut bench = bench();
    for (&from, number) in JobState::ALL.iter().zip(0..) {
        let name = format!("Acme {number}");
        let (_, jobs) = import_companies(&mut bench.journal, &[name.as_str()], false);
        force(&bench.journal, jobs[0], from);
        let outcome = bench.journal.resolve(jobs[0], Decision::NotCreated, None, "kim", at(9_000));
        match from {
            Held | InDoubt => assert_eq!(outcome.unwrap()[0].to, Ready),
            _ => assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Usage, "{from}"),
        }
    }
    let error = bench.journal.resolve(JobId(999), Decision::Abandon, None, "kim", at(9_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn a_cancellation_gives_up_what_was_not_sent_and_leaves_what_may_exist() {
    let mut bench = bench();
    let names = ["Sent", "Made", "Doubted", "Kept", "Open", "Refused"];
    let (imported, jobs) = import_companies(&mut bench.journal, &names, false);
    let mut import = bench.journal.begin_import(at(2)).unwrap();
    let elsewhere = import
        .add_job(&site("Depot", vec![link(crate::model::record::Role::Company, jobs[4])], vec![]))
        .unwrap();
    import.finish().unwrap();
    for (&job, state) in jobs.iter().zip([Sending, Created, InDoubt, Held]) {
        force(&bench.journal, job, state);
    }
    let mut import = bench.journal.begin_import(at(3)).unwrap();
    let skipped = import
        .add_job(&site("Shed", vec![link(crate::model::record::Role::Company, jobs[5])], vec![]))
        .unwrap();
    import.finish().unwrap();
    apply(&mut bench.journal, rejected(jobs[5], Ready)).unwrap();
    assert!(message(&bench.journal, skipped).unwrap().ends_with("was rejected"));
    let cancelled = bench.journal.cancel(imported.import, "kim", at(9_000)).unwrap();
    let left_to = BTreeMap::new();
    assert_eq!(
        cancelled,
        Cancelled { cancelled: 2, left_out: 0, skipped: 1, left_in_doubt: 2, left_held: 1, left_to }
    );
    assert_eq!(
        states(&bench, &jobs),
        [Sending, Created, InDoubt, Held, JobState::Cancelled, JobState::Cancelled]
    );
    let why = message(&bench.journal, jobs[5]).unwrap();
    assert_eq!(why, "cancelled by kim; before that it was rejected: no such zone");
    assert_eq!(state(&bench.journal, skipped), Skipped);
    assert!(message(&bench.journal, skipped).unwrap().ends_with("was cancelled"));
    assert_eq!(state(&bench.journal, elsewhere), Skipped);
    assert!(message(&bench.journal, elsewhere).unwrap().contains("cancelled"));
    assert_eq!(bench.journal.cancel(ImportId(9), "kim", at(9_000)).unwrap_err().kind(), ErrorKind::Usage);
}
