//! When the breaker opens, whom it lets pass, when it closes.

use super::*;

const NEVER: Duration = Duration::ZERO;

fn breaker() -> Breaker {
    Breaker::of(Operation::AddDevice)
}

/// A request leaves and comes back at once.
fn pass(breaker: &mut Breaker, outcome: BreakerOutcome, now: Duration) -> BreakerChange {
    let phase = breaker.on_send();
    breaker.on_outcome(outcome, phase, now)
}

fn opened() -> Breaker {
    let mut breaker = breaker();
    for _ in 1..STREAK {
        assert_eq!(pass(&mut breaker, BreakerOutcome::Failed, NEVER), BreakerChange::Same);
    }
    let opened = BreakerChange::Opened { reason: OpenReason::Streak, pause: FIRST_PAUSE };
    assert_eq!(pass(&mut breaker, BreakerOutcome::Failed, NEVER), opened);
    breaker
}

/// After so many outcomes, of which every `nth` failed, with which reason it opened.
fn with_every(nth: usize, outcomes: usize) -> Option<(usize, OpenReason)> {
    let mut breaker = breaker();
    (1..=outcomes).find_map(|n| {
        let outcome = if n % nth == 0 { BreakerOutcome::Failed } else { BreakerOutcome::Answered };
        match pass(&mut breaker, outcome, NEVER) {
            BreakerChange::Opened { reason, .. } => Some((n, reason)),
            _ => None,
        }
    })
}

#[test]
fn twenty_failures_in_a_row_open_it_and_a_success_among_them_does_not() {
    let mut breaker = breaker();
    for _ in 0..5 {
        for _ in 1..STREAK {
            assert_eq!(pass(&mut breaker, BreakerOutcome::Failed, NEVER), BreakerChange::Same);
        }
        assert_eq!(pass(&mut breaker, BreakerOutcome::Answered, NEVER), BreakerChange::Same);
    }
    assert_eq!(breaker.permits(NEVER), Ok(()));
    opened();
}

#[test]
fn a_twentieth_of_the_last_two_hundred_opens_it_and_less_or_fewer_do_not() {
    assert_eq!(with_every(20, 10_000), Some((200, OpenReason::Share)), "exactly 5 %");
    assert_eq!(with_every(23, 10_000), None, "at most 9 of 200, however the window lies");
    assert_eq!(with_every(2, 199), None, "half of fewer than two hundred is no share yet");
    assert_eq!(with_every(2, 200), Some((200, OpenReason::Share)));
}

#[test]
fn an_outage_after_many_successes_opens_it_at_the_tenth_failure() {
    let mut breaker = breaker();
    for _ in 0..1_000 {
        assert_eq!(pass(&mut breaker, BreakerOutcome::Answered, NEVER), BreakerChange::Same);
    }
    let failures = (1..).find(|_| pass(&mut breaker, BreakerOutcome::Failed, NEVER) != BreakerChange::Same);
    assert_eq!(failures, Some(SHARE));
}

#[test]
fn questions_put_no_row_in_doubt_and_are_held_back_only_when_nothing_gets_through() {
    let mut breaker = Breaker::of(Operation::GetDeviceByMac);
    for n in 0..1_000 {
        let outcome = if n % 2 == 0 { BreakerOutcome::Failed } else { BreakerOutcome::Answered };
        assert_eq!(pass(&mut breaker, outcome, NEVER), BreakerChange::Same);
    }
    for _ in 1..STREAK {
        assert_eq!(pass(&mut breaker, BreakerOutcome::Failed, NEVER), BreakerChange::Same);
    }
    assert!(matches!(pass(&mut breaker, BreakerOutcome::Failed, NEVER), BreakerChange::Opened { .. }));
    assert!(!breaker.wants_health_check(FIRST_PAUSE), "a question is its own probe");
    assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
}

#[test]
fn three_pages_in_a_row_open_it_and_an_answer_between_them_does_not() {
    let mut breaker = breaker();
    for outcome in [
        BreakerOutcome::Page,
        BreakerOutcome::Page,
        BreakerOutcome::Answered,
        BreakerOutcome::Page,
        BreakerOutcome::Page,
    ] {
        assert_eq!(pass(&mut breaker, outcome, NEVER), BreakerChange::Same);
    }
    let opened = BreakerChange::Opened { reason: OpenReason::Pages, pause: FIRST_PAUSE };
    assert_eq!(pass(&mut breaker, BreakerOutcome::Page, NEVER), opened);
}

#[test]
fn an_open_breaker_lets_one_probe_pass_after_its_pause() {
    let mut breaker = opened();
    assert_eq!(breaker.permits(Duration::from_secs(4)), Err(Some(FIRST_PAUSE)));
    assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    let probe = breaker.on_send();
    assert!(breaker.is_probe(probe));
    assert_eq!(breaker.permits(FIRST_PAUSE), Err(None));
    assert_eq!(breaker.on_outcome(BreakerOutcome::Answered, probe, FIRST_PAUSE), BreakerChange::Closed);
    assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
}

#[test]
fn what_was_under_way_when_it_opened_neither_closes_nor_reopens_it() {
    let mut breaker = breaker();
    let under_way: Vec<Phase> = (0..100).map(|_| breaker.on_send()).collect();
    let (first, rest) = under_way.split_at(20);
    for &phase in first {
        breaker.on_outcome(BreakerOutcome::Failed, phase, NEVER);
    }
    assert!(breaker.withdraws(rest[0]));
    assert_eq!(breaker.on_outcome(BreakerOutcome::Answered, rest[0], NEVER), BreakerChange::Same);
    assert_eq!(breaker.permits(NEVER), Err(Some(FIRST_PAUSE)), "a late success is old news");
    assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    let probe = breaker.on_send();
    assert!(!breaker.withdraws(probe));
    breaker.on_no_outcome(rest[1]);
    assert_eq!(breaker.on_outcome(BreakerOutcome::Failed, rest[2], FIRST_PAUSE), BreakerChange::Same);
    assert_eq!(breaker.permits(FIRST_PAUSE), Err(None), "the probe is still under way");
    assert_eq!(breaker.on_outcome(BreakerOutcome::Answered, probe, FIRST_PAUSE), BreakerChange::Closed);
    for &phase in &rest[3..] {
        assert_eq!(breaker.on_outcome(BreakerOutcome::Failed, phase, FIRST_PAUSE), BreakerChange::Same);
    }
    assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
}

#[test]
fn of_an_outage_no_more_leaves_than_is_under_way_and_twenty() {
    for concurrency in [1, 16, 256] {
        for answered_before in [0, 1_000] {
            let mut breaker = breaker();
            for _ in 0..answered_before {
                pass(&mut breaker, BreakerOutcome::Answered, NEVER);
            }
            // Dark from here on: whatever leaves fails, and for each that comes back another leaves.
            let mut under_way: VecDeque<Phase> = (0..concurrency).map(|_| breaker.on_send()).collect();
            let mut left = concurrency;
            while let Some(phase) = under_way.pop_front() {
                breaker.on_outcome(BreakerOutcome::Failed, phase, NEVER);
                if breaker.permits(NEVER).is_ok() {
                    under_way.push_back(breaker.on_send());
                    left += 1;
                }
            }
            assert!(left <= concurrency + 20, "{left} of {concurrency}");
        }
    }
}

#[test]
fn after_a_share_of_failures_three_probes_in_a_row_must_succeed() {
    let mut breaker = breaker();
    for _ in 0..WINDOW / 2 {
        pass(&mut breaker, BreakerOutcome::Answered, NEVER);
        pass(&mut breaker, BreakerOutcome::Failed, NEVER);
    }
    let mut now = SHORT_PAUSE;
    let table = [
        (BreakerOutcome::Failed, Some(2)),
        (BreakerOutcome::Failed, Some(4)),
        (BreakerOutcome::Answered, None),
        (BreakerOutcome::Answered, None),
        (BreakerOutcome::Failed, Some(1)),
        (BreakerOutcome::Answered, None),
        (BreakerOutcome::Answered, None),
    ];
    for (outcome, pause) in table {
        assert_eq!(breaker.permits(now), Ok(()));
        let change = pass(&mut breaker, outcome, now);
        match pause.map(Duration::from_secs) {
            Some(pause) => {
                assert_eq!(change, BreakerChange::StillOpen { reason: OpenReason::Share, pause });
                now += pause;
            }
            None => assert_eq!(change, BreakerChange::Same),
        }
    }
    assert_eq!(pass(&mut breaker, BreakerOutcome::Answered, now), BreakerChange::Closed);
    for _ in 1..WINDOW {
        assert!(breaker.is_closed(), "old evidence does not open it again");
        pass(&mut breaker, BreakerOutcome::Answered, now);
    }
}

#[test]
fn pauses_double_up_to_five_minutes_while_probes_fail() {
    let mut breaker = opened();
    let mut now = Duration::ZERO;
    let mut pauses = Vec::new();
    for _ in 0..8 {
        let until = breaker.permits(now).expect_err("open").expect("a time");
        pauses.push((until - now).as_secs());
        now = until;
        assert_eq!(breaker.permits(now), Ok(()));
        pass(&mut breaker, BreakerOutcome::Failed, now);
    }
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
    assert_eq!(breaker.open_for(now), Some(now));
}

#[test]
fn hours_of_maintenance_cost_questions_and_no_request_that_could_leave_a_row_in_doubt() {
    let mut breaker = opened();
    let (mut now, mut questions) = (Duration::ZERO, 0);
    let end = Duration::from_secs(6 * 3_600);
    while now < end {
        now += Duration::from_secs(1);
        if breaker.wants_health_check(now) {
            breaker.on_health_check_sent();
            assert_eq!(breaker.permits(now), Err(None), "nothing leaves before it is answered");
            assert!(matches!(breaker.on_health_check(false, now), BreakerChange::StillOpen { .. }));
            questions += 1;
        }
        assert!(breaker.permits(now).is_err());
    }
    assert!((70..90).contains(&questions), "{questions}");
    now = breaker.permits(now).expect_err("open").expect("a time");
    assert!(breaker.wants_health_check(now));
    breaker.on_health_check_sent();
    assert_eq!(breaker.on_health_check(true, now), BreakerChange::Same);
    assert_eq!(breaker.permits(now), Ok(()));
    assert_eq!(pass(&mut breaker, BreakerOutcome::Answered, now), BreakerChange::Closed);
}

#[test]
fn a_probe_that_tells_nothing_lets_another_pass() {
    let mut breaker = opened();
    assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    let probe = breaker.on_send();
    breaker.on_no_outcome(probe);
    assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
}
