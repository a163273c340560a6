//! Rows refused below a record that may not be visible yet: what is looked up, sent again and rejected, and when.

use super::*;
use crate::model::id::RemoteId;

const SITE: JobId = JobId(100);
const START: Duration = Duration::from_secs(10);
const UNTIL: Duration = Duration::from_secs(70);

fn seconds(seconds: u64) -> Duration {
    START + Duration::from_secs(seconds)
}

fn site() -> ReferencedRecord {
    let id = RemoteId::from_u128(7);
    ReferencedRecord { job: SITE, id, lookup: crate::service::Lookup::Site(id) }
}

fn rejection(job: JobId) -> Rejection {
    Rejection { code: "noDataFound".into(), message: format!("row {job}"), violations: vec![] }
}

/// A row is refused below a site; `is_usable` when a look-up can tell of that.
fn refuse(reference_lag: &mut ReferenceLag, job: i64, is_usable: bool, now: Duration) {
    let job = JobId(job);
    let shape = (Operation::AddDevice, "noDataFound".into());
    let missed = !is_usable;
    let unproved = vec![(site(), is_usable, UNTIL)];
    let refused = RefusedRow { rejection: rejection(job), unproved, missed, counted: false };
    reference_lag.add(job, shape, SheetId(1), refused, now);
}

/// Rows that wait for the first look, which is under way.
fn looking(rows: i64) -> ReferenceLag {
    let mut reference_lag = ReferenceLag::default();
    for job in 1..=rows {
        refuse(&mut reference_lag, job, true, START);
    }
    assert_eq!(reference_lag.steps(START), [LagStep::LookUp(site())], "one look for all");
    assert_eq!(reference_lag.steps(START), []);
    reference_lag
}

fn rejected(steps: &[LagStep]) -> Vec<i64> {
    steps
        .iter()
        .map(|step| match step {
            LagStep::Reject { job, rejection: answer, .. } => {
                assert_eq!(*answer, rejection(*job), "its own answer");
                job.0
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn rows_below_a_record_that_is_there_are_rejected_on_the_answers_they_have() {
    let mut reference_lag = looking(3);
    reference_lag.await_no_more(SITE);
    assert_eq!(rejected(&reference_lag.steps(START)), [1, 2, 3]);
    assert!(reference_lag.is_empty() && reference_lag.steps(seconds(100)).is_empty());
}

#[test]
fn a_record_that_is_not_there_yet_is_looked_for_at_growing_distances_and_its_rows_are_told_of() {
    let mut reference_lag = looking(1);
    let mut at = Vec::new();
    reference_lag.on_not_visible(SITE, true, START);
    let mut now = START;
    assert_eq!(reference_lag.steps(now), [LagStep::Tell(JobId(1), UNTIL)]);
    while at.len() < 5 {
        now = reference_lag.next_due().expect("a moment to look again");
        assert_eq!(reference_lag.steps(now), [LagStep::LookUp(site())]);
        reference_lag.on_not_visible(SITE, true, now);
        assert_eq!(reference_lag.steps(now), []);
        at.push((now - START).as_secs());
    }
    assert_eq!(at, [1, 3, 7, 15, 31]);
}

#[test]
fn once_it_is_there_one_row_probes_and_when_it_is_accepted_the_others_follow() {
    let mut reference_lag = looking(4);
    reference_lag.on_not_visible(SITE, true, START);
    reference_lag.steps(START);
    reference_lag.await_no_more(SITE);
    assert_eq!(reference_lag.steps(seconds(1)), [LagStep::Send(JobId(1))]);
    assert_eq!(reference_lag.steps(seconds(1)), [], "the others wait for it");
    reference_lag.probed(JobId(1), true);
    assert_eq!(reference_lag.steps(seconds(1)), [2, 3, 4].map(|job| LagStep::Send(JobId(job))));
    assert!(reference_lag.is_empty());
}

#[test]
fn three_probes_refused_although_all_is_there_speak_for_the_others() {
    let mut reference_lag = looking(6);
    reference_lag.on_not_visible(SITE, true, START);
    reference_lag.steps(START);
    reference_lag.await_no_more(SITE);
    for job in 1..=3 {
        assert_eq!(reference_lag.steps(seconds(1)), [LagStep::Send(JobId(job))]);
        reference_lag.probed(JobId(job), false);
    }
    assert_eq!(rejected(&reference_lag.steps(seconds(1))), [4, 5, 6]);
}

#[test]
fn a_probe_that_comes_back_without_an_answer_is_followed_by_another() {
    let mut reference_lag = looking(2);
    reference_lag.on_not_visible(SITE, true, START);
    reference_lag.steps(START);
    reference_lag.await_no_more(SITE);
    assert_eq!(reference_lag.steps(seconds(1)), [LagStep::Send(JobId(1))]);
    reference_lag.forget(JobId(1));
    assert_eq!(reference_lag.steps(seconds(1)), [LagStep::Send(JobId(2))]);
}

#[test]
fn what_no_look_up_can_tell_of_is_probed_by_one_row_at_growing_distances_while_it_is_young() {
    let mut reference_lag = ReferenceLag::default();
    for job in 1..=4 {
        refuse(&mut reference_lag, job, false, START);
    }
    let told = [1, 2, 3, 4].map(|job| LagStep::Tell(JobId(job), UNTIL));
    assert_eq!(reference_lag.steps(START), told);
    let mut at = Vec::new();
    for _ in 0..5 {
        let now = reference_lag.next_due().expect("a moment to probe");
        assert_eq!(reference_lag.steps(now), [LagStep::Send(JobId(1))]);
        at.push((now - START).as_secs());
        refuse(&mut reference_lag, 1, false, now);
        reference_lag.steps(now);
    }
    assert_eq!(at, [1, 3, 7, 15, 31]);
    // It is young no longer: the last probe speaks for all.
    let now = UNTIL;
    let steps = reference_lag.steps(now);
    assert_eq!(rejected(&steps), [1, 2, 3, 4], "five probes were refused");
}

#[test]
fn a_record_that_never_shows_is_probed_for_once_it_is_no_longer_young() {
    let mut reference_lag = looking(2);
    reference_lag.on_not_visible(SITE, true, START);
    assert_eq!(reference_lag.steps(UNTIL), [LagStep::Send(JobId(1))]);
    reference_lag.probed(JobId(1), false);
    assert_eq!(reference_lag.steps(UNTIL), [LagStep::Send(JobId(2))]);
}

#[test]
fn a_sheet_is_full_with_eight_rows_that_wait() {
    let mut reference_lag = looking(7);
    assert!(!reference_lag.is_full(SheetId(1)));
    refuse(&mut reference_lag, 8, true, START);
    assert!(reference_lag.is_full(SheetId(1)) && !reference_lag.is_full(SheetId(2)));
}
