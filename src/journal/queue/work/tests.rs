//! What the pages hold, and by which index they are read.

use super::*;
use crate::journal::Write;
use crate::journal::fixture::*;
use crate::model::action::Action;
use crate::model::operation::Operation::{AddCompany, AddSite, PutSiteLabels};
use crate::model::state::JobState::{self, Deferred, Held, InDoubt, Ready, Sending};

fn jobs(page: &WorkPage) -> Vec<JobId> {
    page.work.iter().map(|work| work.job).collect()
}

#[test]
fn a_page_holds_what_is_ready_and_what_is_due_oldest_first_and_tells_the_next_time() {
    let mut bench = bench();
    let (_, all) = import_companies(&mut bench.journal, &["A", "B", "C", "D"], false);
    for (job, until) in [(all[0], 5_000), (all[3], 6_000)] {
        let write = Write::Postpone {
            job,
            from: Ready,
            until: at(until),
            code: "look-up".into(),
            reason: "the look-up failed".into(),
        };
        apply(&mut bench.journal, write).unwrap();
    }
    let page = bench.journal.queue().ready(AddCompany, at(4_999), 10, &[]).unwrap();
    assert_eq!((jobs(&page), page.next_due), (vec![all[1], all[2]], Some(at(5_000))));
    let page = bench.journal.queue().ready(AddCompany, at(5_000), 10, &[]).unwrap();
    assert_eq!((jobs(&page), page.next_due), (vec![all[0], all[1], all[2]], Some(at(6_000))));
    assert_eq!(page.work[0].state, Deferred);
    let page = bench.journal.queue().ready(AddCompany, at(9_000), 2, &[]).unwrap();
    assert_eq!((jobs(&page), page.next_due), (vec![all[0], all[1]], None));
    let page = bench.journal.queue().ready(AddCompany, at(5_000), 2, &[all[0], all[1], all[3]]).unwrap();
    assert_eq!((jobs(&page), page.next_due), (vec![all[2]], None), "those in hand are not read again");
    assert!(bench.journal.queue().ready(AddSite, at(9_000), 10, &[]).unwrap().work.is_empty());
    assert_eq!(bench.journal.next_due().unwrap(), Some(at(5_000)));
}

#[test]
fn the_lanes_are_the_operations_that_unfinished_jobs_still_need() {
    let mut bench = bench();
    assert!(bench.journal.lanes().unwrap().is_empty());
    let (_, companies) = import_companies(&mut bench.journal, &["Acme"], false);
    let mut import = bench.journal.begin_import(at(2)).unwrap();
    let labels = vec![Action::PutLabels(vec!["north".into()])];
    let depot = import.add_job(&site("Depot", vec![link(Role::Company, companies[0])], labels)).unwrap();
    import.finish().unwrap();
    assert_eq!(bench.journal.lanes().unwrap(), [AddCompany, PutSiteLabels, AddSite]);
    apply(&mut bench.journal, created(companies[0], Ready, id(1))).unwrap();
    apply(&mut bench.journal, created(depot, Ready, id(2))).unwrap();
    assert_eq!(bench.journal.lanes().unwrap(), [PutSiteLabels]);
    apply(&mut bench.journal, rejected(depot, Ready)).unwrap();
    assert!(bench.journal.lanes().unwrap().is_empty());
}

#[test]
fn only_a_job_that_could_go_on_waits_for_an_operation_and_a_held_one_needs_none() {
    for &state in JobState::ALL {
        let mut bench = bench();
        let (_, all) = import_companies(&mut bench.journal, &["Acme"], false);
        force(&bench.journal, all[0], state);
        let waits = bench.journal.waits_for(AddCompany).unwrap();
        assert_eq!(waits, [Ready, Deferred].contains(&state), "{state}");
        assert!(!bench.journal.waits_for(AddSite).unwrap());
        let needed = bench.journal.lanes().unwrap();
        assert_eq!(needed.is_empty(), state.is_final() || state == Held, "{state}: {needed:?}");
    }
}

#[test]
fn rows_like_another_are_under_way_while_nobody_knows_their_records() {
    let mut bench = bench();
    let (_, all) = import_companies(&mut bench.journal, &["Acme", "ACME", "Bolt"], false);
    let like_acme = |bench: &Bench| -> Vec<JobId> {
        let found = bench.journal.under_way_like(all[0]).unwrap();
        found.iter().map(|work| work.job).collect()
    };
    for job in [all[0], all[2]] {
        apply(&mut bench.journal, claim(job, AddCompany)).unwrap();
    }
    for &state in JobState::ALL {
        force(&bench.journal, all[1], state);
        let expected: &[JobId] = if [Sending, InDoubt].contains(&state) { &all[1..2] } else { &[] };
        assert_eq!(like_acme(&bench), expected, "{state}");
    }
    force(&bench.journal, all[1], InDoubt);
    // Its doubt waits for the end of the canary.
    bench.journal.queue().open_canary(&all[..1]).unwrap();
    assert_eq!(like_acme(&bench), []);
}

#[test]
fn witnesses_are_records_we_made_newest_first() {
    let mut bench = bench();
    let (_, all) = import_companies(&mut bench.journal, &["A", "B", "C"], false);
    assert!(bench.journal.witness(Kind::Company, 5).unwrap().is_empty());
    for (&job, number) in all.iter().zip(1..) {
        apply(&mut bench.journal, created(job, Ready, id(number))).unwrap();
    }
    let found = bench.journal.witness(Kind::Company, 2).unwrap();
    assert_eq!(found.iter().map(|work| work.job).collect::<Vec<_>>(), [all[2], all[1]]);
    assert!(bench.journal.witness(Kind::Site, 2).unwrap().is_empty());
}

#[test]
fn the_pages_are_read_by_their_partial_indexes() {
    let bench = bench();
    let plan = |sql: &str| plan(&bench.journal, sql).join("; ");
    for (sql, index) in [
        (OF_ALL.ready, "job_ready (operation=? AND last_import=?)"),
        (OF_ALL.due, "job_deferred (operation=? AND due<?)"),
        (OF_ALL.next_due, "job_deferred (operation=? AND due>?)"),
        (OF_ALL.doubtful, "job_in_doubt"),
        ("SELECT id FROM job INDEXED BY job_sending WHERE state = 'sending' ORDER BY id", "job_sending"),
        ("SELECT 1 FROM job WHERE state = 'held' AND operation = ?1", "job_held"),
        ("SELECT 1 FROM job WHERE state = 'blocked' AND operation = ?1", "job_blocked"),
    ] {
        assert!(plan(sql).contains(index), "{sql}: {}", plan(sql));
    }
    let HandOut { ready, due, next_due, doubtful, next_look } = OF_CANARY;
    for sql in [ready, due, next_due, doubtful, next_look] {
        let plan = plan(sql);
        assert!(plan.contains("canary; SEARCH job USING INTEGER PRIMARY KEY"), "{sql}: {plan}");
    }
    assert!(!plan(OF_ALL.ready).contains("TEMP B-TREE"), "imports are read in their order");
    let children = plan(
        "SELECT id FROM job WHERE +state = 'blocked' AND id IN (SELECT link.job FROM link WHERE link.target_job = ?1)",
    );
    assert!(children.contains("link_target") && !children.contains("job_blocked"), "{children}");
}
