//! Parking, midnights, refusals, and the clock of the service.

use super::*;

fn at(text: &str) -> Moment {
    Moment::parse(text).unwrap()
}

/// A creation that left on `day` is refused for the quota.
fn refused(quota: &mut DailyQuota, now: Moment, day: Day) -> Parking {
    quota.on_not_executed(day);
    quota.refused(now, day, true)
}

#[test]
fn a_refusal_parks_creations_until_shortly_after_the_services_midnight() {
    let now = at("2026-03-01T10:00:00Z");
    let mut quota = DailyQuota::new(now.day(), 0, None, None, 0);
    assert_eq!(quota.permits(now), Ok(()));
    let day = quota.on_send(now);
    let until = at("2026-03-02T00:00:03Z");
    assert_eq!(refused(&mut quota, now, day), Parking::Until(until));
    assert_eq!(quota.sent, 0, "a refused creation does not count");
    assert_eq!(quota.permits(now), Err(Some(until)));
    assert_eq!(refused(&mut quota, now, day), Parking::Already, "others were under way");
}

#[test]
fn a_refusal_of_what_was_not_counted_parks_creations_and_takes_none_back() {
    let now = at("2026-03-01T10:00:00Z");
    let mut quota = DailyQuota::new(now.day(), 5, None, None, 0);
    for _ in 0..3 {
        quota.refused(now, now.day(), true);
    }
    assert_eq!(quota.sent, 5);
    assert_eq!(quota.new_ceiling(), Some(5));
    assert!(quota.permits(now).is_err());
}

#[test]
fn one_creation_goes_ahead_after_midnight_and_the_rest_follow_when_it_is_accepted() {
    let now = at("2026-03-01T10:00:00Z");
    let mut quota = DailyQuota::new(now.day(), 5, None, None, 0);
    let day = quota.on_send(now);
    refused(&mut quota, now, day);
    let morning = at("2026-03-02T00:00:03Z");
    assert_eq!(quota.permits(morning), Ok(()));
    quota.on_send(morning);
    assert_eq!(quota.permits(morning), Err(None));
    assert!(quota.accepted());
    assert_eq!(quota.permits(morning), Ok(()));
    assert_eq!(quota.sent, 1);
}

#[test]
fn a_run_that_begins_after_a_refusal_of_the_same_day_sends_one_and_parks_until_midnight() {
    let now = at("2026-03-01T10:00:00Z");
    let mut quota = DailyQuota::new(now.day(), 20, None, Some(20), 0);
    quota.begin_with_one_ahead();
    assert_eq!(quota.permits(now), Ok(()));
    let day = quota.on_send(now);
    assert_eq!(quota.permits(now), Err(None), "no storm");
    assert_eq!(refused(&mut quota, now, day), Parking::Until(at("2026-03-02T00:00:03Z")));
}

#[test]
fn still_refused_after_midnight_means_minutes_and_not_a_day() {
    let now = at("2026-03-01T10:00:00Z");
    let mut quota = DailyQuota::new(now.day(), 5, None, None, 0);
    let day = quota.on_send(now);
    refused(&mut quota, now, day);
    let mut time = at("2026-03-02T00:00:03Z");
    let mut waits = Vec::new();
    for _ in 0..7 {
        assert_eq!(quota.permits(time), Ok(()));
        let day = quota.on_send(time);
        let Parking::Until(until) = refused(&mut quota, time, day) else { panic!("parked again") };
        waits.push(until.since(time).as_secs() / 60);
        time = until;
    }
    assert_eq!(waits, [1, 2, 4, 8, 15, 15, 15]);
}

#[test]
fn a_refusal_of_a_creation_that_left_before_midnight_does_not_park_the_new_day() {
    let evening = at("2026-03-01T23:59:59Z");
    let mut quota = DailyQuota::new(evening.day(), 5, None, None, 0);
    let day = quota.on_send(evening);
    let midnight = at("2026-03-02T00:00:01Z");
    let until = at("2026-03-02T00:00:04Z");
    assert_eq!(refused(&mut quota, midnight, day), Parking::Until(until));
    assert_eq!(quota.permits(until), Ok(()));
    // Still refused: minutes, as for any late reset.
    let day = quota.on_send(until);
    assert_eq!(refused(&mut quota, until, day), Parking::Until(at("2026-03-02T00:01:04Z")));
}

#[test]
fn a_known_ceiling_and_its_reserve_are_kept_without_asking_the_service() {
    let now = at("2026-03-01T10:00:00Z");
    let mut quota = DailyQuota::new(now.day(), 7, Some(10), None, 2);
    assert_eq!(quota.permits(now), Ok(()));
    quota.on_send(now);
    assert!(quota.permits(now).is_err());
    assert!(quota.parked_until().is_some());
}

#[test]
fn a_clock_that_steps_back_over_midnight_brings_no_second_quota() {
    let midnight = at("2026-03-02T00:00:10Z");
    let mut quota = DailyQuota::new(midnight.day(), 3, Some(4), None, 0);
    quota.on_send(midnight);
    let before = at("2026-03-01T23:59:50Z");
    assert!(quota.permits(before).is_err());
    assert_eq!(quota.sent, 4);
}

#[test]
fn the_services_day_counts_even_where_it_lies_before_ours() {
    let ours = at("2026-11-21T06:00:00Z");
    let theirs = at("2026-03-01T23:59:55Z");
    let mut quota = DailyQuota::new(ours.day(), 7, Some(3), None, 0);
    assert!(quota.begin_day(theirs.day()));
    quota.add_sent(theirs.day(), 2);
    assert_eq!(quota.permits(theirs), Ok(()));
    quota.on_send(theirs);
    assert_eq!(quota.permits(theirs), Err(Some(at("2026-03-02T00:00:03Z"))));
    assert!(!quota.begin_day(theirs.day()), "the same day again changes nothing");
    assert_eq!(quota.sent, 3);
}

#[test]
fn the_services_date_decides_and_a_large_difference_is_told_once() {
    let ours = at("2026-03-01T10:00:00Z");
    let mut clock = ServiceClock::default();
    assert_eq!(
        clock.observe_date_header(at("2026-03-01T10:00:00Z"), ours, ours),
        DateObserved { first: true, notable: None }
    );
    assert_eq!(clock.at(ours), ours, "a second's rounding is no skew");
    let later = |notable| DateObserved { first: false, notable };
    assert_eq!(clock.observe_date_header(at("2026-03-01T13:00:00Z"), ours, ours), later(Some(10_800)));
    assert_eq!(clock.observe_date_header(at("2026-03-01T13:00:00Z"), ours, ours), later(None));
    assert_eq!(clock.at(ours).day(), ours.day());
    assert_eq!(clock.ours(clock.at(ours)), ours);
}

#[test]
fn a_first_answer_during_which_the_clock_was_set_says_nothing_of_the_services_time() {
    // The clock was set four hours ahead while the answer was under way.
    let (sent, now) = (at("2026-03-01T22:00:00Z"), at("2026-03-02T02:00:00Z"));
    let mut clock = ServiceClock::default();
    clock.observe_date_header(sent, sent, now);
    assert!(!clock.is_known());
    clock.observe_date_header(at("2026-03-01T22:00:01Z"), now, now);
    assert!(clock.is_known());
    assert_eq!(clock.at(now).day(), sent.day());
    // An answer that took as long as a request may is believed, as one of them must be.
    let mut clock = ServiceClock::default();
    clock.observe_date_header(sent, sent, Moment::from_millis(sent.millis() + 600_000));
    assert!(clock.is_known());
}

#[test]
fn an_answer_that_was_long_on_its_way_says_little_of_the_clock() {
    // The process was suspended for 70 s, the answer written before or after that.
    let (sent, now) = (at("2026-03-01T10:00:00Z"), at("2026-03-01T10:01:10Z"));
    let exactly = |skew_s: i64| Moment::from_millis(now.millis() + skew_s * 1_000);
    for date in ["2026-03-01T10:00:00Z", "2026-03-01T10:00:35Z", "2026-03-01T10:01:10Z"] {
        let mut clock = ServiceClock::default();
        assert_eq!(clock.observe_date_header(at(date), sent, now).notable, None, "{date}");
        assert_eq!(clock.at(now), now, "{date}");
        // What was known before is possible as well.
        clock.observe_date_header(exactly(-30), now, now);
        let known = clock.at(now);
        clock.observe_date_header(at("2026-03-01T10:00:20Z"), sent, now);
        assert_eq!(clock.at(now), known, "{date}");
    }
    // A clock that is three hours ahead is so even then.
    let mut clock = ServiceClock::default();
    let told = clock.observe_date_header(at("2026-03-01T13:00:00Z"), sent, now).notable;
    assert!(told.is_some_and(|seconds| (10_730..=10_801).contains(&seconds)), "{told:?}");
    // One that may be 20 s or 80 s behind is not called wrong, until it is known.
    let mut clock = ServiceClock::default();
    let date = at("2026-03-01T09:59:40Z");
    assert_eq!(
        clock.observe_date_header(date, sent, Moment::from_millis(sent.millis() + 90_000)).notable,
        None
    );
    assert!(clock.at(now) < now);
    assert_eq!(clock.observe_date_header(exactly(-80), now, now).notable, Some(-79));
}

#[test]
fn when_our_clock_jumps_the_services_goes_on_as_it_did_until_it_is_heard_again() {
    let ours = at("2026-03-01T23:00:00Z");
    let mut clock = ServiceClock::default();
    clock.observe_date_header(at("2026-03-01T22:30:00Z"), ours, ours);
    for jump_ms in [7 * 3_600_000, -30 * 3_600_000] {
        let mut clock = clock;
        clock.on_clock_jump(jump_ms);
        let now = Moment::from_millis(ours.millis() + jump_ms);
        assert_eq!(clock.at(now), Moment::from_millis(at("2026-03-01T22:30:00Z").millis() + 500));
        // It was the machine that slept: the service's next answer says so.
        clock.observe_date_header(at("2026-03-02T05:30:00Z"), now, now);
        assert_eq!(clock.at(now).day(), at("2026-03-02T05:30:00Z").day());
    }
    // Never heard: this machine's clock is all there is.
    let mut silent = ServiceClock::default();
    silent.on_clock_jump(3_600_000);
    assert_eq!(silent.at(ours), ours);
}

#[test]
fn at_the_edges_of_years_and_of_time_itself_nothing_panics() {
    for edge in
        ["2026-12-31T23:59:59Z", "2028-02-29T23:59:59Z", "1970-01-01T00:00:00Z", "9999-12-30T22:00:00Z"]
    {
        let now = at(edge);
        let mut quota = DailyQuota::new(now.day(), 5, Some(5), None, 0);
        let until = quota.permits(now).unwrap_err().expect("parked");
        assert_eq!(until, now.day().next().start().plus(AFTER_MIDNIGHT), "{edge}");
        assert_eq!(quota.permits(until), Ok(()), "{edge}");
    }
    let mut clock = ServiceClock::default();
    for there in [i64::MIN, i64::MAX] {
        for here in [i64::MIN, 0, i64::MAX] {
            let here = Moment::from_millis(here);
            clock.observe_date_header(Moment::from_millis(there), here, here);
            clock.observe_date_header(Moment::from_millis(there), Moment::from_millis(there), here);
            clock.on_clock_jump(there);
            let shown = clock.at(here).day();
            let mut quota = DailyQuota::new(shown, 5, Some(5), None, 0);
            let _any_answer = quota.permits(clock.ours(here));
        }
    }
}

#[test]
fn the_ceiling_is_what_was_counted_when_no_more_were_allowed_less_what_is_turned_away_as_well() {
    let now = at("2026-03-01T12:00:00Z");
    let day = now.day();
    let mut quota = DailyQuota::new(day, 57, None, Some(40), 0);
    for _ in 0..5 {
        quota.on_send(now);
    }
    assert_eq!(quota.new_ceiling(), None, "nothing was refused yet");
    refused(&mut quota, now, day);
    assert_eq!(quota.new_ceiling(), Some(61), "four are under way and may have come before");
    assert_eq!(quota.new_ceiling(), None, "that is no news");
    refused(&mut quota, now, day);
    assert_eq!(quota.new_ceiling(), Some(60));
    // Turned away for its pace, and one that never left: they were not counted either.
    quota.on_not_executed(day);
    assert_eq!(quota.new_ceiling(), Some(59));
    quota.on_not_executed(day);
    assert_eq!(quota.new_ceiling(), Some(58));
    assert!(!quota.accepted(), "the one that came before");

    // Others have spent all of it: what was under way at the first refusal is refused as well.
    let mut spent = DailyQuota::new(day, 0, None, None, 0);
    spent.on_send(now);
    spent.on_send(now);
    refused(&mut spent, now, day);
    assert_eq!(spent.new_ceiling(), Some(1), "one is under way");
    refused(&mut spent, now, day);
    assert_eq!(spent.new_ceiling(), Some(0));
    assert_eq!(spent.allowance_beside(now, 0).1, None);
    assert_eq!(spent.new_ceiling(), None);

    // Raised on the same day: the next refusal teaches again, and more.
    let mut raised = DailyQuota::new(day, 58, None, Some(58), 0);
    raised.begin_with_one_ahead();
    raised.on_send(now);
    assert!(raised.accepted());
    for _ in 0..3 {
        raised.on_send(now);
    }
    refused(&mut raised, now, day);
    assert_eq!(raised.new_ceiling(), Some(61));
    // What was counted since midnight says nothing about the day before.
    let later = at("2026-03-02T00:00:04Z");
    assert_eq!(raised.permits(later), Ok(()));
    assert_eq!(raised.new_ceiling(), None);
}

#[test]
fn a_day_of_which_creations_may_be_missing_teaches_no_ceiling() {
    let now = at("2026-03-01T12:00:00Z");
    let mut quota = DailyQuota::new(now.day(), 4, None, None, 0);
    quota.mark_partial();
    quota.on_send(now);
    refused(&mut quota, now, now.day());
    assert_eq!(quota.new_ceiling(), Some(0), "the day is spent, and nothing else is known");
    assert_eq!(quota.new_ceiling(), None);
    assert_eq!(quota.allowance_beside(now, 0).1, None);
    // The next day is known whole.
    let tomorrow = at("2026-03-02T12:00:00Z");
    assert_eq!(quota.permits(tomorrow), Ok(()));
    for _ in 0..11 {
        quota.on_send(tomorrow);
    }
    refused(&mut quota, tomorrow, tomorrow.day());
    assert_eq!(quota.new_ceiling(), Some(10));
}

#[test]
fn what_a_day_allows_is_known_of_the_next_day_before_anything_is_sent_on_it() {
    let now = at("2026-03-01T22:00:00Z");
    let quota = DailyQuota::new(now.day(), 90, Some(100), None, 5);
    let allowed = |now: Moment| quota.allowance_beside(now, 5).1.map(|known| (known.per_day, known.today));
    assert_eq!(allowed(now), Some((95, 5)));
    assert_eq!(allowed(at("2026-03-02T00:00:00Z")), Some((95, 95)));
    let learned = DailyQuota::new(now.day(), 90, None, Some(80), 0);
    assert_eq!(learned.allowance_beside(now, 0).1, None, "proved wrong on this day");
}
