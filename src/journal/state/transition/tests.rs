//! The state machine as a table, and what its transitions remember. What they do to the rows below is told in `below`,
//! what becomes of them when values were corrected meanwhile in `corrected`.

mod below;
mod corrected;

use crate::error::ErrorKind;
use crate::journal::file::column::Id;
use crate::journal::fixture::*;
use crate::journal::{Decision, Disposition, Evidence, How, Work, Write};
use crate::model::action::Action;
use crate::model::content_hash::ContentHash;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::record::{Record, Role};
use crate::model::state::JobState::{
    self, Adopted, Blocked, Created, Deferred, Existing, Held, InDoubt, Ready, Rejected, Sending,
};
use crate::model::time::Day;
use crate::model::verdict::{Doubt, Execution};

const ADD: Operation = Operation::AddCompany;

/// The writes, as they would be meant for a job in `from`, each with the states it leaves and the one it leads to.
fn writes(job: JobId, from: JobState) -> Vec<(Write, &'static [JobState], JobState)> {
    let evidence = Evidence { status: Some(200), ..Evidence::at(at(3_000)) };
    let (code, reason) = ("a.code".to_owned(), "a reason".to_owned());
    vec![
        (claim(job, ADD), &[Ready, Deferred], Sending),
        (
            created(job, from, id(u128::from(job.0.unsigned_abs()))),
            &[Sending, InDoubt, Ready, Deferred, Held],
            Created,
        ),
        (rejected(job, from), &[Sending, Ready, Deferred, InDoubt], Rejected),
        (
            Write::Defer {
                job,
                until: at(9_000),
                code: code.clone(),
                reason: reason.clone(),
                evidence: evidence.clone(),
            },
            &[Sending],
            Deferred,
        ),
        (
            Write::Return { job, code: code.clone(), reason: reason.clone(), evidence: evidence.clone() },
            &[Sending],
            Ready,
        ),
        (
            Write::Leave { job, from, id: id(u128::from(job.0.unsigned_abs())), evidence: evidence.clone() },
            &[Ready, Deferred],
            Existing,
        ),
        (
            Write::Postpone { job, from, until: at(9_000), code: code.clone(), reason: reason.clone() },
            &[Ready, Deferred],
            Deferred,
        ),
        (
            Write::Doubt {
                job,
                doubt: Doubt::Timeout,
                executed: false,
                charged: true,
                until: at(9_000),
                evidence: evidence.clone(),
            },
            &[Sending],
            InDoubt,
        ),
        (
            Write::Suspect { job, from, doubt: Doubt::JournalBehind, at: at(3_000) },
            &[Ready, Deferred],
            InDoubt,
        ),
        (
            Write::KeepDoubting { job, until: at(9_000), absent_reads: 1, note: "not there".into() },
            &[InDoubt],
            InDoubt,
        ),
        (Write::Release { job, note: "absent".into(), at: at(3_000) }, &[InDoubt], Ready),
        (
            Write::Hold { job, from, code, reason, candidates: vec![], evidence },
            &[Ready, Deferred, Sending, InDoubt],
            Held,
        ),
    ]
}

#[test]
fn every_write_leaves_only_the_states_it_may_leave_and_any_other_changes_nothing() {
    let mut bench = bench();
    let (mut allowed, mut refused) = (0, 0);
    for &from in JobState::ALL {
        for index in 0..writes(JobId(1), from).len() {
            let names = [format!("{from} {index}"), format!("below {from} {index}")];
            let (_, jobs) =
                import_companies(&mut bench.journal, &[names[0].as_str(), names[1].as_str()], true);
            let (write, leaves, to) = writes(jobs[0], from).swap_remove(index);
            force(&bench.journal, jobs[0], from);
            let before = everything(&bench.journal).unwrap();
            let outcome = apply(&mut bench.journal, write.clone());
            if leaves.contains(&from) {
                allowed += 1;
                let moved = outcome.unwrap_or_else(|error| panic!("{from}: {write:?}: {error}"));
                assert_eq!((moved[0].job, moved[0].from, moved[0].to), (jobs[0], from, to), "{write:?}");
                assert_eq!(state(&bench.journal, jobs[0]), to, "{write:?}");
            } else {
                refused += 1;
                let error = outcome.expect_err("a write that does not fit is refused");
                assert_eq!(error.kind(), ErrorKind::Internal);
                assert!(error.to_string().contains(from.as_str()), "{error}");
                assert_eq!(everything(&bench.journal).unwrap(), before, "{from}: {write:?}");
            }
        }
    }
    assert_eq!((allowed, refused), (26, 14 * 12 - 26));
}

fn attempts(bench: &Bench, job: JobId) -> i64 {
    let sql = "SELECT attempts FROM job WHERE id = ?1";
    bench.journal.connection.query_row(sql, [job], |row| row.get(0)).unwrap()
}

#[test]
fn a_write_that_believes_the_job_elsewhere_is_refused_and_the_rest_of_its_batch_is_carried_out() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
    let outcomes = bench
        .journal
        .queue()
        .apply(&[claim(jobs[1], ADD), rejected(jobs[0], Deferred), claim(JobId(99), ADD)])
        .unwrap();
    assert!(outcomes[0].is_ok());
    assert!(outcomes[1].as_ref().unwrap_err().to_string().contains("expected to be deferred but is ready"));
    assert!(outcomes[2].as_ref().unwrap_err().to_string().contains("no job 99"));
    assert_eq!(state(&bench.journal, jobs[0]), Ready);
    assert_eq!(state(&bench.journal, jobs[1]), Sending);
    assert_eq!(attempts(&bench, jobs[1]), 1, "once, however often it was tried");
}

#[test]
fn a_claim_for_another_operation_than_the_job_stands_at_is_refused() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
    assert!(apply(&mut bench.journal, claim(jobs[0], Operation::AddDevice)).is_err());
    assert_eq!(state(&bench.journal, jobs[0]), Ready);
}

#[test]
fn a_claim_counts_the_quota_and_its_baseline_has_what_was_seen_before_earlier_ones() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
    let day = Day::from_number(20_000);
    let with = |job, baseline: Option<Vec<RemoteId>>, at| Write::Claim {
        content: None,
        job,
        operation: ADD,
        before: None,
        baseline,
        counted: Some(day),
        at,
    };
    let defer = Write::Defer {
        job: jobs[0],
        until: at(9_000),
        code: "rateLimitExceeded".into(),
        reason: "slower".into(),
        evidence: Evidence {
            execution: Execution::NotExecuted,
            status: Some(429),
            ..Evidence::at(at(2_500))
        },
    };
    apply(&mut bench.journal, with(jobs[0], Some(vec![id(9), id(7), id(9)]), at(2_000))).unwrap();
    apply(&mut bench.journal, defer).unwrap();
    apply(&mut bench.journal, with(jobs[0], Some(vec![id(8)]), at(9_000))).unwrap();
    apply(&mut bench.journal, with(jobs[1], Some(vec![]), at(9_001))).unwrap();
    apply(&mut bench.journal, Write::Ceiling { day, ceiling: 77 }).unwrap();

    let work = bench.journal.work(jobs[0]).unwrap().unwrap();
    assert_eq!(work.baseline, Some(vec![id(7), id(8), id(9)]));
    assert_eq!((attempts(&bench, jobs[0]), work.first_sent_at), (2, Some(at(2_000))));
    assert_eq!(bench.journal.work(jobs[1]).unwrap().unwrap().baseline, Some(vec![]));
    let kept: i64 =
        bench.journal.connection.query_row("SELECT count(*) FROM baseline", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 3, "each set once");
    let _run = bench.journal.lock_for_run().unwrap().unwrap();
    let quota = bench.journal.quota(day).unwrap();
    assert_eq!((quota.sent, quota.used(), quota.under_way(), quota.ceiling), (2, 0, 2, Some(77)));
    assert_eq!(bench.journal.latest_ceiling().unwrap(), Some(77));
    let open: i64 = bench
        .journal
        .connection
        .query_row("SELECT count(*) FROM attempt WHERE ended_at IS NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(open, 2, "the deferred attempt has ended, the other two are under way");
}

#[test]
fn a_baseline_is_of_the_look_before_the_last_send_until_a_request_may_have_been_carried_out() {
    let claim = |job, seen: Option<u128>, at| Write::Claim {
        content: None,
        job,
        operation: ADD,
        before: None,
        baseline: seen.map(|seen| vec![id(seen)]),
        counted: None,
        at,
    };
    let refused = |job| Write::Return {
        job,
        code: "quotaLimitExceeded".into(),
        reason: "tomorrow".into(),
        evidence: Evidence { execution: Execution::NotExecuted, ..Evidence::at(at(2_500)) },
    };
    let lost = |job| Write::Doubt {
        job,
        doubt: Doubt::Timeout,
        executed: false,
        charged: true,
        until: at(3_000),
        evidence: Evidence::at(at(2_500)),
    };
    let absent = |job| Write::Release { job, note: "absent".into(), at: at(4_000) };
    let (a, b) = (Some(7), Some(8));
    let of = |ids: &[u128]| Some(ids.iter().map(|&n| id(n)).collect::<Vec<_>>());
    let table = [
        ("refused, and nothing said the second time", a, vec![refused as fn(JobId) -> Write], None, None),
        ("refused, and looked up again", None, vec![refused], b, of(&[8])),
        ("in doubt, and found absent", a, vec![lost, absent], b, of(&[7])),
    ];
    for (case, first, between, second, expected) in table {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        apply(&mut bench.journal, claim(jobs[0], first, at(2_000))).unwrap();
        for write in between {
            apply(&mut bench.journal, write(jobs[0])).unwrap();
        }
        apply(&mut bench.journal, claim(jobs[0], second, at(9_000))).unwrap();
        assert_eq!(bench.journal.work(jobs[0]).unwrap().unwrap().baseline, expected, "{case}");
    }
}

#[test]
fn a_creation_without_an_id_is_refused_and_so_is_another_id_later() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let job = import.add_job(&site("Depot", vec![], vec![Action::PutLabels(vec!["north".into()])])).unwrap();
    import.finish().unwrap();
    let advance =
        |from, id| Write::Advance { job, from, how: How::Done, id, evidence: Evidence::at(at(3_000)) };
    assert!(apply(&mut bench.journal, advance(Ready, None)).is_err());
    apply(&mut bench.journal, advance(Ready, Some(id(1)))).unwrap();
    assert!(apply(&mut bench.journal, advance(Ready, Some(id(2)))).is_err());
    apply(&mut bench.journal, advance(Ready, None)).unwrap();
    assert_eq!(state(&bench.journal, job), JobState::Done);
}

#[test]
fn the_steps_after_a_creation_come_one_by_one_and_the_creation_names_the_end() {
    let mut bench = bench();
    let extras = vec![Action::PutLabels(vec!["north".into()]), Action::PutMetadata(vec![])];
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let parent = import.add_job(&site("Depot", vec![], extras.clone())).unwrap();
    import.finish().unwrap();

    apply(&mut bench.journal, claim(parent, Operation::AddSite)).unwrap();
    let doubt = Write::Doubt {
        job: parent,
        doubt: Doubt::Timeout,
        executed: false,
        charged: true,
        until: at(4_000),
        evidence: Evidence::at(at(3_000)),
    };
    apply(&mut bench.journal, doubt).unwrap();
    let adopt =
        |from, how, id| Write::Advance { job: parent, from, how, id, evidence: Evidence::at(at(5_000)) };
    let moved = apply(&mut bench.journal, adopt(InDoubt, How::Adopted, Some(id(1)))).unwrap();
    assert_eq!((moved[0].to, moved[0].operation), (Ready, Operation::PutSiteLabels));
    let look = |bench: &Bench| -> Work { bench.journal.work(parent).unwrap().unwrap() };
    let work = look(&bench);
    assert_eq!((work.step, work.first_sent_at, work.doubted), (1, None, false));
    assert_eq!(work.action, extras[0]);
    assert_eq!(work.remote_id, Some(id(1)));

    apply(&mut bench.journal, claim(parent, Operation::PutSiteLabels)).unwrap();
    let moved = apply(&mut bench.journal, adopt(Sending, How::Done, None)).unwrap();
    assert_eq!((moved[0].to, moved[0].operation), (Ready, Operation::PutSiteMetadataList));
    let moved = apply(&mut bench.journal, adopt(Ready, How::Existing, None)).unwrap();
    assert_eq!(moved[0].to, Adopted);
}

#[test]
fn an_id_that_another_job_owns_holds_the_second_job_and_names_the_first() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Cog"], false);
    apply(&mut bench.journal, claim(jobs[0], ADD)).unwrap();
    apply(&mut bench.journal, claim(jobs[1], ADD)).unwrap();
    let outcomes = bench
        .journal
        .queue()
        .apply(&[created(jobs[0], Sending, id(1)), created(jobs[1], Sending, id(1))])
        .unwrap();
    assert_eq!(outcomes[1].as_ref().unwrap()[0].to, Held);
    let held = bench.journal.held(&crate::journal::Selection::default()).unwrap();
    assert_eq!(held.len(), 1);
    assert_eq!((held[0].job, held[0].code.as_str()), (jobs[1], "id.owned"));
    assert_eq!(held[0].place, "customers.csv!customers!3");
    assert_eq!(held[0].candidates[0].id, Some(id(1)));
    assert_eq!(held[0].candidates[0].name.as_deref(), Some("Acme"));
    assert!(held[0].candidates[0].details.contains("customers.csv!customers!2"), "{held:?}");
    assert_eq!(bench.journal.owners(&[id(2), id(1)]).unwrap(), [(id(1), jobs[0])]);

    // The index itself is the last line: not even a direct change gets past it.
    let direct = bench
        .journal
        .connection
        .execute("UPDATE job SET remote_id = ?2, outcome = 'created' WHERE id = ?1", (jobs[2], Id(id(1))));
    assert!(direct.unwrap_err().to_string().contains("UNIQUE"));
}

#[test]
fn a_row_to_be_left_as_it_is_with_the_record_of_another_job_is_held_and_keeps_its_steps() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let first = import.add_job(&site("Depot", vec![], vec![])).unwrap();
    let second = import.add_job(&site("Shop", vec![], vec![Action::PutLabels(vec!["n".into()])])).unwrap();
    import.finish().unwrap();
    apply(&mut bench.journal, created(first, Ready, id(1))).unwrap();
    let leave = Write::Leave { job: second, from: Ready, id: id(1), evidence: Evidence::at(at(3_000)) };
    assert_eq!(apply(&mut bench.journal, leave).unwrap()[0].to, Held);
    assert_eq!(code(&bench.journal, second).as_deref(), Some("id.owned"));

    bench.journal.resolve(second, Decision::Created(id(2)), None, "operator", at(4_000)).unwrap();
    let work = bench.journal.work(second).unwrap().unwrap();
    assert_eq!((work.state, work.operation), (Ready, Operation::PutSiteLabels));
}

#[test]
fn a_job_that_creates_nothing_goes_through_its_steps_without_an_id() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let mut values = site("labels of Depot", vec![], vec![]);
    values.steps = vec![Action::PutLabels(vec!["north".into()]), Action::PutMetadata(vec![])];
    let job = import.add_job(&values).unwrap();
    import.finish().unwrap();
    let advance = |how, id| Write::Advance { job, from: Sending, how, id, evidence: Evidence::at(at(3_000)) };

    apply(&mut bench.journal, claim(job, Operation::PutSiteLabels)).unwrap();
    assert!(apply(&mut bench.journal, advance(How::Done, Some(id(1)))).is_err(), "it makes no record");
    assert_eq!(apply(&mut bench.journal, advance(How::Existing, None)).unwrap()[0].to, Ready);
    let work = bench.journal.work(job).unwrap().unwrap();
    assert_eq!((work.step, work.operation), (1, Operation::PutSiteMetadataList));
    assert_eq!((work.record(), work.remote_id), (None, None));

    apply(&mut bench.journal, claim(job, Operation::PutSiteMetadataList)).unwrap();
    let incomplete = apply(&mut bench.journal, rejected(job, Sending)).unwrap();
    assert_eq!(incomplete[0].to, JobState::Incomplete, "its first step was carried out");
}

#[test]
fn a_job_that_creates_nothing_is_rejected_at_its_first_step() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let mut values = site("labels of Depot", vec![], vec![]);
    values.steps = vec![Action::PutLabels(vec!["north".into()])];
    let job = import.add_job(&values).unwrap();
    import.finish().unwrap();
    apply(&mut bench.journal, claim(job, Operation::PutSiteLabels)).unwrap();
    assert_eq!(apply(&mut bench.journal, rejected(job, Sending)).unwrap()[0].to, JobState::Rejected);

    values.steps = vec![Action::PutLabels(vec!["south".into()])];
    let mut import = bench.journal.begin_import(at(5)).unwrap();
    import.revise_job(job, &values).unwrap();
    import.finish().unwrap();
    let done =
        Write::Advance { job, from: Ready, how: How::Done, id: None, evidence: Evidence::at(at(6_000)) };
    assert_eq!(apply(&mut bench.journal, done).unwrap()[0].to, JobState::Done);
}

#[test]
fn a_row_left_as_it_is_has_no_steps_left() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let job = import.add_job(&site("Depot", vec![], vec![Action::PutLabels(vec!["n".into()])])).unwrap();
    import.finish().unwrap();
    let leave = Write::Leave { job, from: Ready, id: id(1), evidence: Evidence::at(at(3_000)) };
    assert_eq!(apply(&mut bench.journal, leave).unwrap()[0].to, Existing);
    let sql = "SELECT count(*) FROM step WHERE job = ?1 AND ended = 2";
    let skipped: i64 = bench.journal.connection.query_row(sql, [job], |row| row.get(0)).unwrap();
    assert_eq!(skipped, 2, "neither the creation nor the labels were carried out");
}

#[test]
fn what_the_service_says_it_carried_out_is_never_released() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
    apply(&mut bench.journal, claim(jobs[0], ADD)).unwrap();
    let doubt = Write::Doubt {
        job: jobs[0],
        doubt: Doubt::Unreadable,
        executed: true,
        charged: true,
        until: at(4_000),
        evidence: Evidence::at(at(3_000)),
    };
    apply(&mut bench.journal, doubt).unwrap();
    let release = Write::Release { job: jobs[0], note: "absent".into(), at: at(4_000) };
    assert!(apply(&mut bench.journal, release).is_err());
    let work = bench.journal.work(jobs[0]).unwrap().unwrap();
    assert_eq!(
        (work.state, work.executed, work.doubted),
        (InDoubt, true, false),
        "no earlier attempt was in doubt"
    );
    assert_eq!(work.doubt_since, Some(at(3_000)));
}

#[test]
fn looks_that_decide_nothing_are_counted_and_the_first_doubt_is_remembered() {
    let mut bench = bench();
    let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
    force(&bench.journal, jobs[0], InDoubt);
    for (look, until) in [(1, 6_000), (2, 7_000)] {
        let keep = Write::KeepDoubting {
            job: jobs[0],
            until: at(until),
            absent_reads: look,
            note: "not there".into(),
        };
        apply(&mut bench.journal, keep).unwrap();
    }
    let work = bench.journal.work(jobs[0]).unwrap().unwrap();
    assert_eq!((work.looks, work.absent_reads, work.doubt_since), (2, 2, Some(at(4_000))));
    assert!(bench.journal.queue().doubtful(at(6_999), 10, &[]).unwrap().work.is_empty());
    let page = bench.journal.queue().doubtful(at(6_999), 10, &[]).unwrap();
    assert_eq!(page.next_due, Some(at(7_000)));
    assert_eq!(bench.journal.queue().doubtful(at(7_000), 10, &[]).unwrap().work.len(), 1);
}

#[test]
fn what_was_refused_and_then_not_there_is_in_doubt_no_more_when_it_is_sent_again() {
    for (doubt, expected) in [(Doubt::Timeout, true), (Doubt::Refused, false)] {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        apply(&mut bench.journal, claim(jobs[0], ADD)).unwrap();
        let (until, evidence) = (at(3_500), Evidence::at(at(3_000)));
        let (executed, charged) = (false, true);
        apply(&mut bench.journal, Write::Doubt { job: jobs[0], doubt, executed, charged, until, evidence })
            .unwrap();
        let release = Write::Release { job: jobs[0], note: "not there".into(), at: at(4_000) };
        apply(&mut bench.journal, release).unwrap();
        let work = bench.journal.work(jobs[0]).unwrap().unwrap();
        assert_eq!((work.state, work.doubt, work.doubted), (Ready, None, expected), "{doubt:?}");
    }
}

#[test]
fn a_record_was_made_with_what_was_sent_last_unless_an_earlier_request_is_not_known_to_be_over() {
    #[derive(Debug, Clone, Copy)]
    enum Step {
        Lost,
        NotThere,
        NotMade,
        Abandoned,
        Refused,
        Corrected,
    }
    use Step::{Abandoned, Corrected, Lost, NotMade, NotThere, Refused};
    let (earlier, now) = ("+64 9 555 0100", "+64 9 777 0100");
    let table: [(&[Step], &str); 12] = [
        (&[Lost, NotThere, Refused, Corrected, Lost], now),
        (&[Lost, NotThere, Corrected, Lost], now),
        (&[Lost, NotMade, Corrected, Lost, NotThere, Lost], now),
        (&[Lost, Abandoned, Corrected], earlier),
        // Found before it is sent again, it was not what the person said.
        (&[Lost, NotMade, Corrected], earlier),
        (&[Lost, NotMade, Refused, Corrected], earlier),
        (&[Lost, NotMade, Lost, Abandoned, Corrected], earlier),
        (&[Lost, NotMade, Corrected, Lost], now),
        (&[Lost, NotMade, Refused, Corrected, Lost], now),
        (&[Lost, NotThere, Lost, NotMade, Corrected, Lost], now),
        (&[Lost, NotThere, Refused, Corrected, Lost, NotMade, Corrected, Lost], now),
        (&[Refused, Corrected, Lost], now),
    ];
    for (steps, expected) in table {
        let mut bench = bench();
        let mut values = site("Depot", vec![], vec![]);
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let job = import.add_job(&values).unwrap();
        import.finish().unwrap();
        for step in steps {
            if matches!(step, Lost | Refused) {
                apply(&mut bench.journal, claim(job, Operation::AddSite)).unwrap();
            }
            match step {
                Lost => {
                    let (doubt, until, evidence) = (Doubt::Timeout, at(3_500), Evidence::at(at(3_000)));
                    let (executed, charged) = (false, true);
                    let doubt = Write::Doubt { job, doubt, executed, charged, until, evidence };
                    apply(&mut bench.journal, doubt).unwrap();
                }
                NotThere => {
                    let (until, note) = (at(5_000), "not there".to_owned());
                    let look = Write::KeepDoubting { job, until, absent_reads: 1, note: note.clone() };
                    apply(&mut bench.journal, look).unwrap();
                    apply(&mut bench.journal, Write::Release { job, note, at: at(5_000) }).unwrap();
                }
                NotMade => {
                    bench.journal.resolve(job, Decision::NotCreated, None, "operator", at(5_000)).unwrap();
                }
                Abandoned => {
                    bench.journal.resolve(job, Decision::Abandon, None, "operator", at(5_000)).unwrap();
                }
                Refused => {
                    apply(&mut bench.journal, rejected(job, Sending)).unwrap();
                }
                Corrected => {
                    let mut corrected = crate::testing::site("Depot");
                    corrected.phone_number = now.into();
                    values.steps = vec![Action::Create(Record::Site(corrected))];
                    values.content_hash = ContentHash::of("the corrected row");
                    let mut import = bench.journal.begin_import(at(6_000)).unwrap();
                    import.revise_job(job, &values).unwrap();
                    import.finish().unwrap();
                }
            }
        }
        let (from, how, id) = (bench.journal.work(job).unwrap().unwrap().state, How::Adopted, Some(id(1)));
        let adopted = Write::Advance { job, from, how, id, evidence: Evidence::at(at(7_000)) };
        apply(&mut bench.journal, adopted).unwrap();
        let made = format!("{:?}", bench.journal.work(job).unwrap().unwrap().record().unwrap());
        assert!(made.contains(expected), "{steps:?}: {made}");
    }
}

fn with_extras(mut job: crate::journal::NewJob, extras: Vec<Action>) -> crate::journal::NewJob {
    job.steps.extend(extras);
    job
}

#[test]
fn how_a_creation_ended_is_its_final_state() {
    for (how, expected) in [(How::Created, Created), (How::Adopted, Adopted), (How::Existing, Existing)] {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        let write = Write::Advance {
            job: jobs[0],
            from: Ready,
            how,
            id: Some(id(1)),
            evidence: Evidence::at(at(3_000)),
        };
        apply(&mut bench.journal, write).unwrap();
        assert_eq!(state(&bench.journal, jobs[0]), expected);
    }
}

#[test]
fn every_write_survives_the_spill_file_and_back() {
    let day = Day::from_number(20_000);
    let mut all: Vec<Write> = writes(JobId(7), Sending).into_iter().map(|(write, ..)| write).collect();
    all.push(Write::IfUnchanged {
        content: ContentHash::of("Acme"),
        then: Box::new(rejected(JobId(7), Ready)),
    });
    all.push(Write::Ceiling { day, ceiling: u64::MAX >> 1 });
    all.push(Write::Claim {
        content: None,
        job: JobId(7),
        operation: ADD,
        before: None,
        baseline: Some(vec![id(1)]),
        counted: Some(day),
        at: at(1),
    });
    for write in all {
        let text = serde_json::to_string(&write).unwrap();
        assert_eq!(serde_json::from_str::<Write>(&text).unwrap(), write, "{text}");
    }
}
