//! The words and numbers of the picture, by the news that made them.

use super::*;
use crate::model::id::{JobId, SheetId};
use crate::model::remaining::{Allowance, Doubts, Lane, Unanswered};
use crate::model::verdict::AnswerClass;

fn tick(seconds: u64) -> Tick {
    let start = Moment::parse("2026-03-01T12:00:00Z").unwrap();
    Tick { now: start.plus(Duration::from_secs(seconds)), elapsed: Duration::from_secs(seconds) }
}

fn quota_used(confirmed: u64, ceiling: u64) -> Event {
    let day = tick(0).now.day();
    Event::QuotaUsed(QuotaDay { sent: confirmed, confirmed, ..QuotaDay::unused(day) }.under(Some(ceiling)))
}

fn moved(from: JobState, to: JobState) -> Event {
    Event::Moved { job: JobId(1), kind: Kind::Device, from, to }
}

fn picture(devices: u64) -> Picture {
    let mut tally = Tally::default();
    tally.add(Kind::Device, JobState::Ready, devices);
    Picture::new((tally, QuotaDay::unused(tick(0).now.day())), tick(0))
}

/// So many devices to create, and to verify.
fn facts(devices: u64, at: u64) -> Remaining {
    let lane = |requests| Lane { requests, limit: Some(98.0), pace: None };
    Remaining {
        at: tick(at).now,
        making: [(Operation::AddDevice, lane(devices))].into(),
        verifying_at_end: [(Operation::GetDeviceByMac, lane(devices))].into(),
        moving: true,
        ..Remaining::default()
    }
}

fn counts(picture: &mut Picture, facts: Remaining, at: u64) {
    assert_eq!(picture.take(&Event::Remaining(Box::new(facts)), tick(at), &TimeZone::UTC), None);
}

#[test]
fn a_creation_that_is_not_known_to_be_counted_is_told_apart() {
    let unused = QuotaDay::unused(tick(0).now.day());
    for (day, line) in [
        (unused, None),
        (QuotaDay { confirmed: 3_000, ..unused }, Some("3,000 creations today")),
        (
            QuotaDay { confirmed: 3_000, doubtful: 1, ..unused },
            Some("3,000 creations today, 1 more not known to be counted"),
        ),
        // Of an older copy of the journal.
        (QuotaDay { confirmed: 3_000, partial: true, ..unused }, Some("at least 3,000 creations today")),
        (
            QuotaDay { confirmed: 3_000, partial: true, ..unused }.limited_to(5_000),
            Some("quota at least 3,000 of 5,000 used, at most 2,000 left"),
        ),
    ] {
        let mut picture = picture(1);
        picture.take(&Event::QuotaUsed(day), tick(0), &TimeZone::UTC);
        assert_eq!(picture.quota_line().as_deref(), line);
    }
}

#[test]
fn the_line_tells_counts_the_pace_of_each_operation_quota_and_when_it_is_done() {
    let mut picture = picture(1_180);
    for second in 0..10 {
        for _ in 0..20 {
            for operation in [Operation::GetDeviceByMac, Operation::AddDevice] {
                assert_eq!(picture.take(&Event::Sent { operation }, tick(second), &TimeZone::UTC), None);
            }
            let news = moved(JobState::Ready, JobState::Created);
            assert_eq!(picture.take(&news, tick(second), &TimeZone::UTC), None);
        }
    }
    let line = |picture: &Picture| picture.line(tick(10), &TimeZone::UTC);
    assert_eq!(
        line(&picture),
        "200 of 1,180 jobs done, 980 waiting; addDevice 20/s",
        "nothing is invented before anything is counted"
    );
    counts(&mut picture, facts(980, 10), 10);
    assert_eq!(
        line(&picture),
        "200 of 1,180 jobs done, 980 waiting; addDevice 20/s of 98; done about 12:00:30 UTC, in 20 s, verification included"
    );
    picture.take(&quota_used(200, 700), tick(10), &TimeZone::UTC);
    let quota = Some(Allowance { per_day: 700, today: 500 });
    counts(&mut picture, Remaining { quota, ..facts(980, 10) }, 10);
    assert_eq!(
        line(&picture),
        "200 of 1,180 jobs done, 980 waiting; addDevice 20/s of 98; done about 2026-03-02 00:00 UTC, in 12 h, \
         verification included; quota 200 of 700 used, 500 left"
    );
    let told = serde_json::to_value(picture.object(tick(10))).unwrap();
    assert_eq!(told["pace"], serde_json::json!({"addDevice": {"per_second": 20.0, "limit": 98.0}}));
    assert_eq!(told["finish_estimate"], "2026-03-02T00:00:14Z");
}

#[test]
fn what_failed_and_what_is_held_is_counted_apart_and_the_counts_add_up() {
    let mut picture = picture(10);
    for to in [JobState::Rejected, JobState::Skipped, JobState::Adopted, JobState::InDoubt] {
        picture.take(&moved(JobState::Ready, to), tick(1), &TimeZone::UTC);
    }
    let told = picture.take(&moved(JobState::Ready, JobState::Held), tick(1), &TimeZone::UTC);
    assert_eq!(told.as_deref(), Some("a row of devices is on hold: needs your decision (1 so far)"));
    let standing = picture.standing_of(Kind::Device);
    let left = RowCounts { left: 6, waiting: 5, in_doubt: 1, ..RowCounts::default() };
    assert_eq!(standing, RowCounts { rows: 10, done: 1, failed: 1, skipped: 1, held: 1, ..left });
    assert_eq!(standing.words(), "1 of 10 jobs done, 5 waiting, 1 in doubt, 1 failed, 1 skipped, 1 on hold");
    // Of very many, now and then how many there are.
    let mut held =
        || picture.take(&moved(JobState::Ready, JobState::Held), tick(2), &TimeZone::UTC).is_some();
    assert_eq!([held(), held(), held(), held()], [true, false, true, false]);
}

#[test]
fn every_notable_event_has_its_sentence() {
    let midnight = Moment::parse("2026-03-02T00:00:05Z").unwrap();
    let table = [
        (
            Event::Parked { until: midnight },
            "today's quota is spent; rows that need it wait until 2026-03-02 00:00:05 UTC (12 h from now)",
        ),
        (Event::Woken, "rows that need the quota go on"),
        (
            Event::SlowedDown { operation: Operation::AddSite, rate: 68.6 },
            "the service asks for a slower pace: addSite at 69 requests a second",
        ),
        (
            Event::Breaker {
                operation: Operation::AddSite,
                open: true,
                reason: "20 failures in a row".into(),
                next_try_in: Some(Duration::from_secs(5)),
            },
            "addSite is paused: 20 failures in a row; next try in 5 s, one request at a time",
        ),
        (
            Event::Unreachable { reason: "connection refused".into(), retry_in: Duration::from_millis(500) },
            "no request can be sent: connection refused; next try in 1 s",
        ),
        (
            Event::ClockSkew { seconds: 90 },
            "this machine's clock is 1 min 30 s behind the service's; the service's clock counts",
        ),
        (
            Event::ClockSkew { seconds: -90 },
            "this machine's clock is 1 min 30 s ahead of the service's; the service's clock counts",
        ),
        (
            Event::SheetPaused {
                sheet: SheetId(3),
                title: "'Devices' of onboarding.xlsx".into(),
                times: 50,
                code: "invalidData".into(),
                message: "device.costCentre: is required".into(),
                asks: false,
            },
            "the sheet 'Devices' of onboarding.xlsx is paused: the service rejected 50 of its rows in a row with \
             invalidData: device.costCentre: is required; everything else goes on",
        ),
        (
            Event::Unseen {
                job: JobId(7),
                kind: Kind::Device,
                until: Moment::parse("2026-03-01T12:00:31Z").unwrap(),
            },
            "1 device waits: the service does not show yet what it refers to, which was created moments ago; tried until \
             12:00:31 UTC",
        ),
        (Event::Draining { under_way: 0 }, "stopping: nothing is under way"),
        (
            Event::Draining { under_way: 1 },
            "stopping: waiting for 1 request under way (once more to stop at once)",
        ),
    ];
    for (event, expected) in table {
        let told = picture(1).take(&event, tick(0), &TimeZone::UTC);
        assert_eq!(told.as_deref(), Some(expected));
    }
}

#[test]
fn rows_that_wait_until_the_service_knows_what_they_refer_to_are_counted_and_told_once() {
    let mut picture = picture(4);
    let at = |seconds: u64| Moment::parse("2026-03-01T12:00:31Z").unwrap().plus(Duration::from_secs(seconds));
    let mut told = Vec::new();
    for (job, kind) in [(1, Kind::Device), (2, Kind::Site), (3, Kind::Device)] {
        let event = Event::Unseen { job: JobId(job), kind, until: at(job.unsigned_abs()) };
        told.extend(picture.take(&event, tick(1), &TimeZone::UTC));
    }
    assert_eq!(told.len(), 1, "{told:?}");
    let line = |picture: &Picture| picture.unseen_line(&TimeZone::UTC);
    let words = "1 site and 2 devices wait: the service does not show yet what they refer to, which was created moments \
                 ago; tried until 12:00:34 UTC";
    assert_eq!(line(&picture).as_deref(), Some(words));
    for (job, kind, from, to) in [
        (1, Kind::Device, JobState::Deferred, JobState::Ready),
        (1, Kind::Device, JobState::Ready, JobState::Sending),
        (1, Kind::Device, JobState::Sending, JobState::Deferred),
        (2, Kind::Site, JobState::Sending, JobState::Created),
        (3, Kind::Device, JobState::Sending, JobState::Rejected),
    ] {
        picture.take(&Event::Moved { job: JobId(job), kind, from, to }, tick(2), &TimeZone::UTC);
    }
    let words = "1 device waits: the service does not show yet what it refers to, which was created moments ago; tried \
                 until 12:00:32 UTC";
    assert_eq!(line(&picture).as_deref(), Some(words));
    let (kind, from, to) = (Kind::Device, JobState::Sending, JobState::Rejected);
    picture.take(&Event::Moved { job: JobId(1), kind, from, to }, tick(3), &TimeZone::UTC);
    assert_eq!(line(&picture), None);
}

#[test]
fn a_slower_pace_is_told_again_when_it_is_much_slower_than_what_was_told() {
    let mut picture = picture(1);
    let mut told = |operation, rate| {
        picture.take(&Event::SlowedDown { operation, rate }, tick(1), &TimeZone::UTC).is_some()
    };
    assert!(told(Operation::AddSite, 68.6));
    assert!(!told(Operation::AddSite, 60.0));
    assert!(told(Operation::AddSite, 48.0));
    assert!(!told(Operation::AddSite, 48.0));
    assert!(told(Operation::AddPerson, 68.6));
}

#[test]
fn a_look_up_is_shown_beside_what_is_sent_where_the_service_asked_for_a_slower_pace_of_it() {
    let mut picture = picture(10);
    let limited = |limit| Lane { requests: 10, limit: Some(limit), pace: None };
    for limit in [98.0, 70.0] {
        let making = [(Operation::AddSite, limited(98.0)), (Operation::FindSitesByName, limited(limit))];
        counts(&mut picture, Remaining { making: making.into(), ..facts(10, 10) }, 1);
        for operation in [Operation::AddSite, Operation::FindSitesByName] {
            picture.take(&Event::Sent { operation }, tick(1), &TimeZone::UTC);
        }
        let shown: Vec<Operation> = picture.paces(tick(2)).into_keys().collect();
        let is_shown = shown.contains(&Operation::FindSitesByName);
        assert_eq!(is_shown, limit < 98.0, "{shown:?}");
    }
}

#[test]
fn a_run_that_is_stopped_or_has_verified_everything_forecasts_no_end() {
    let mut done = picture(1);
    counts(&mut done, facts(1, 1), 1);
    assert_eq!(done.read_line(), None);
    done.take(&moved(JobState::Ready, JobState::Created), tick(2), &TimeZone::UTC);
    assert_eq!(done.read_line().as_deref(), Some("verification: 1 look-up left"));
    done.take(&Event::ReadBack { done: 0, of: 1 }, tick(2), &TimeZone::UTC);
    assert!(done.finish(tick(2).now).is_some());
    done.take(&Event::ReadBack { done: 1, of: 1 }, tick(3), &TimeZone::UTC);
    assert_eq!(done.finish(tick(3).now), None, "whatever was counted a second ago");

    let mut stopped = picture(100);
    counts(&mut stopped, facts(100, 1), 1);
    stopped.take(&Event::Draining { under_way: 3 }, tick(2), &TimeZone::UTC);
    assert_eq!(stopped.line(tick(2), &TimeZone::UTC), "0 of 100 jobs done, 100 waiting");
}

#[test]
fn while_the_service_answers_nothing_the_end_is_not_known_and_that_is_said() {
    let mut picture = picture(60);
    let unanswered = Some(Unanswered { requests: 60, since: tick(10).now });
    counts(&mut picture, Remaining { unanswered, ..facts(60, 0) }, 15);
    assert_eq!(
        picture.line(tick(20), &TimeZone::UTC),
        "0 of 60 jobs done, 60 waiting; the service has answered none of 60 requests for 10 s"
    );
    counts(&mut picture, facts(60, 21), 21);
    assert!(picture.finish(tick(21).now).is_some());
}

#[test]
fn that_the_service_cannot_be_reached_is_shown_until_it_answers() {
    let mut picture = picture(10);
    let lost = Event::Unreachable { reason: "connection refused".into(), retry_in: Duration::from_secs(8) };
    picture.take(&lost, tick(0), &TimeZone::UTC);
    let answered =
        |took| Event::Answered { operation: Operation::AddDevice, class: AnswerClass::NotSent, took };
    picture.take(&answered(None), tick(1), &TimeZone::UTC);
    assert_eq!(
        picture.next_lines(tick(1), &TimeZone::UTC),
        ["the service cannot be reached, next try 12:00:08 UTC"]
    );
    picture.take(&answered(Some(Duration::from_millis(90))), tick(8), &TimeZone::UTC);
    assert_eq!(picture.next_lines(tick(8), &TimeZone::UTC), Vec::<String>::new());
}

#[test]
fn once_the_run_has_ended_no_end_is_forecast_and_no_look_up_is_left() {
    let mut picture = picture(1);
    counts(&mut picture, facts(1, 1), 1);
    assert!(picture.line(tick(2), &TimeZone::UTC).contains("; done about "));
    let mut done = self::picture(1);
    counts(&mut done, facts(1, 1), 1);
    done.take(&moved(JobState::Ready, JobState::Created), tick(2), &TimeZone::UTC);
    assert!(done.line(tick(2), &TimeZone::UTC).contains("verification: 1 look-up left"));
    for (mut picture, line) in [(picture, "0 of 1 job done, 1 waiting"), (done, "1 of 1 job done")] {
        picture.end();
        assert_eq!(picture.line(tick(2), &TimeZone::UTC), line);
        assert_eq!(picture.finish(tick(2).now), None);
    }
}

#[test]
fn the_last_rows_are_never_done_in_no_time() {
    let mut picture = picture(1);
    counts(&mut picture, Remaining { verifying_at_end: [].into(), ..facts(1, 1) }, 1);
    let line = picture.finish_line(tick(2), &TimeZone::UTC);
    assert_eq!(line.as_deref(), Some("done about 12:00:03 UTC, in 1 s"));
    // The rows of a paused sheet are left, but the run does nothing for them any more.
    assert_eq!(picture.finish_line(tick(7), &TimeZone::UTC), None);
}

#[test]
fn that_an_operation_is_held_back_is_said_once_and_its_next_try_is_shown_until_it_goes_on() {
    let mut picture = picture(10);
    counts(&mut picture, facts(10, 0), 0);
    let operation = Operation::AddSite;
    let mut take = |open: bool, wait: Option<u64>, second: u64| {
        let next_try_in = wait.map(Duration::from_secs);
        let event = Event::Breaker { operation, open, reason: "a reason".into(), next_try_in };
        let told = picture.take(&event, tick(second), &TimeZone::UTC);
        if !open {
            counts(&mut picture, Remaining { at: tick(second).now, ..facts(10, 0) }, second);
        }
        let shown = picture.object(tick(second)).finish_estimate;
        (told, picture.next_lines(tick(second + 1), &TimeZone::UTC).join("; "), shown)
    };
    let (told, line, finish) = take(true, Some(5), 0);
    let opened = "addSite is paused: a reason; next try in 5 s, one request at a time";
    assert_eq!(told.as_deref(), Some(opened));
    assert_eq!((line.as_str(), finish), ("addSite paused, next try 12:00:05 UTC", None));
    let (told, line, finish) = take(true, Some(10), 5);
    assert_eq!((told, finish), (None, None));
    assert_eq!(line, "addSite paused, next try 12:00:15 UTC");
    let (told, line, finish) = take(false, None, 15);
    assert_eq!(told.as_deref(), Some("addSite goes on: a reason"));
    assert_eq!((line.as_str(), finish.is_some()), ("", true));
    // It comes and goes: said again after a minute.
    assert_eq!(take(true, Some(1), 20).0, None);
    assert_eq!(take(false, None, 22).0, None);
    assert!(take(true, Some(1), 61).0.is_some());
}

#[test]
fn while_records_are_verified_it_is_seen_how_far_that_is() {
    let mut picture = picture(0);
    assert_eq!(picture.read_line(), None);
    let mut read = |done| {
        picture.take(&Event::ReadBack { done, of: 3_240 }, tick(1), &TimeZone::UTC);
        picture.read_line()
    };
    assert_eq!(read(1_292).as_deref(), Some("1,292 of 3,240 verified"));
    assert_eq!(read(3_240), None, "all of them are");
    let told = picture.object(tick(111));
    assert_eq!((told.read_back, told.to_read_back), (3_240, 3_240));
}

#[test]
fn rows_in_doubt_are_named_with_the_moment_by_which_they_are_settled() {
    let mut picture = picture(9);
    for job in 1..=8 {
        let (from, to) = (JobState::Ready, JobState::InDoubt);
        picture.take(
            &Event::Moved { job: JobId(job), kind: Kind::Device, from, to },
            tick(0),
            &TimeZone::UTC,
        );
    }
    // The live count is newer.
    let doubts = Doubts {
        rows: 9,
        not_found: 9,
        settled_by: Some(tick(560).now),
        decided_by: Some(tick(600).now),
        ..Doubts::default()
    };
    counts(&mut picture, Remaining { doubts, moving: false, ..facts(0, 1) }, 1);
    let auckland = TimeZone::get("Pacific/Auckland").unwrap();
    assert_eq!(picture.finish_line(tick(2), &auckland), None);
    assert_eq!(
        picture.next_lines(tick(2), &auckland),
        ["in doubt 8, settled by 12:10:00 UTC (01:10:00 Pacific/Auckland)"]
    );
    let told = serde_json::to_value(picture.object(tick(2))).unwrap();
    let next = serde_json::json!([{"event": "doubt_settled", "rows": 8, "at": "2026-03-01T12:10:00Z"}]);
    assert_eq!((&told["finish_estimate"], &told["next_events"]), (&serde_json::Value::Null, &next));
}

#[test]
fn while_parked_it_is_said_until_when_and_the_end_counts_from_then() {
    let mut picture = picture(980);
    let midnight = Moment::parse("2026-03-02T00:00:03Z").unwrap();
    let quota = Some(Allowance { per_day: 5_000, today: 5_000 });
    counts(&mut picture, Remaining { quota, ..facts(980, 0) }, 0);
    picture.take(&Event::Parked { until: midnight }, tick(0), &TimeZone::UTC);
    assert_eq!(
        picture.next_lines(tick(0), &TimeZone::UTC),
        ["today's quota is spent, rows that need it wait 12 h, until 2026-03-02 00:00 UTC"]
    );
    assert_eq!(
        picture.object(tick(3_600)).finish_estimate.map(|at| at.0.to_string()).as_deref(),
        Some("2026-03-02T00:00:23Z")
    );
    // Tried before its time, in vain.
    let told = picture.take(&Event::Parked { until: midnight }, tick(1), &TimeZone::UTC);
    let still =
        "today's quota is still spent; rows that need it wait until 2026-03-02 00:00:03 UTC (12 h from now)";
    assert_eq!(told.as_deref(), Some(still));
    picture.take(&Event::Woken, tick(2), &TimeZone::UTC);
    assert_eq!(picture.next_lines(tick(2), &TimeZone::UTC), Vec::<String>::new());
}
