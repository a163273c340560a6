//! The words and numbers of the picture, by the news that made them.

use super::*;
use crate::model::id::{JobId, SheetId};

fn tick(seconds: u64) -> Tick {
    let start = Moment::parse("2026-03-01T12:00:00Z").unwrap();
    Tick { now: start.plus(Duration::from_secs(seconds)), elapsed: Duration::from_secs(seconds) }
}

fn moved(from: JobState, to: JobState) -> Event {
    Event::Moved { job: JobId(1), kind: Kind::Device, from, to }
}

fn picture(devices: u64) -> Picture {
    let mut tally = Tally::default();
    tally.add(Kind::Device, JobState::Ready, devices);
    Picture::new(tally, tick(0))
}

#[test]
fn the_line_tells_counts_pace_quota_and_time_to_finish() {
    let mut picture = picture(1_000);
    for second in 0..10 {
        for _ in 0..20 {
            let sent = Event::Sent { operation: Operation::AddDevice };
            assert_eq!(picture.take(&sent, tick(second), &TimeZone::UTC), None);
            let news = moved(JobState::Ready, JobState::Created);
            assert_eq!(picture.take(&news, tick(second), &TimeZone::UTC), None);
        }
    }
    assert_eq!(
        picture.line(tick(10), &TimeZone::UTC),
        "200 of 1,000 done, 800 left; 20 requests/s, about 40 s to go"
    );
    let quota = Event::QuotaUsed { used: 200, ceiling: Some(500) };
    assert_eq!(picture.take(&quota, tick(10), &TimeZone::UTC), None);
    assert_eq!(
        picture.line(tick(10), &TimeZone::UTC),
        "200 of 1,000 done, 800 left; 20 requests/s, done about 2026-03-02 00:00 UTC, \
         quota 200 of 500 used, 300 left"
    );
}

#[test]
fn what_failed_and_what_is_held_is_counted_apart_and_the_counts_add_up() {
    let mut picture = picture(10);
    for to in [JobState::Rejected, JobState::Skipped, JobState::Adopted, JobState::InDoubt] {
        picture.take(&moved(JobState::Ready, to), tick(1), &TimeZone::UTC);
    }
    let told = picture.take(&moved(JobState::Ready, JobState::Held), tick(1), &TimeZone::UTC);
    assert_eq!(told.as_deref(), Some("a row of devices is held until a person decides (1 so far)"));
    let standing = picture.standing_of(Kind::Device);
    assert_eq!(standing, Standing { rows: 10, done: 1, left: 6, failed: 2, held: 1 });
    assert_eq!(standing.words(), "1 of 10 done, 6 left, 2 failed, 1 held");
}

#[test]
fn every_notable_event_has_its_sentence() {
    let midnight = Moment::parse("2026-03-02T00:00:05Z").unwrap();
    let table = [
        (
            Event::Parked { until: midnight },
            "today's quota is spent; creations wait until 2026-03-02 00:00:05 UTC (12 h from now)",
        ),
        (Event::Woken, "creations go on"),
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
            "addSite is held back: 20 failures in a row; tried again in 5 s, one request at a time",
        ),
        (
            Event::Unreachable { reason: "connection refused".into(), retry_in: Duration::from_millis(500) },
            "the service cannot be reached: connection refused; next try in 1 s",
        ),
        (
            Event::ClockSkew { seconds: 90 },
            "this machine's clock is 1 min 30 s behind the service's; the service's counts",
        ),
        (
            Event::ClockSkew { seconds: -90 },
            "this machine's clock is 1 min 30 s ahead of the service's; the service's counts",
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
            "the sheet 'Devices' of onboarding.xlsx is set aside: the service refused 50 of its rows in a row with \
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
fn a_slower_pace_is_told_once_for_each_operation() {
    let mut picture = picture(1);
    let mut told = |operation, rate| {
        picture.take(&Event::SlowedDown { operation, rate }, tick(1), &TimeZone::UTC).is_some()
    };
    assert!(told(Operation::AddSite, 68.6));
    assert!(!told(Operation::AddSite, 48.0));
    assert!(told(Operation::AddPerson, 68.6));
}

#[test]
fn the_last_rows_are_never_done_in_no_time() {
    let mut picture = picture(100);
    for _ in 0..99 {
        picture.take(&moved(JobState::Ready, JobState::Created), tick(1), &TimeZone::UTC);
    }
    let line = picture.pace_line(tick(2), &TimeZone::UTC);
    assert!(line.ends_with("about 1 s to go"), "{line}");
}

#[test]
fn that_an_operation_is_held_back_is_said_once_and_shown_until_it_goes_on() {
    let mut picture = picture(10);
    let operation = Operation::AddSite;
    let mut take = |open: bool, wait: Option<u64>, second: u64| {
        let next_try_in = wait.map(Duration::from_secs);
        let event = Event::Breaker { operation, open, reason: "a reason".into(), next_try_in };
        let told = picture.take(&event, tick(second), &TimeZone::UTC);
        (told, picture.pace_line(tick(second + 1), &TimeZone::UTC))
    };
    let (told, line) = take(true, Some(5), 0);
    let opened = "addSite is held back: a reason; tried again in 5 s, one request at a time";
    assert_eq!(told.as_deref(), Some(opened));
    assert_eq!(line, "0 requests/s, addSite held back, next try in 4 s");
    let (told, line) = take(true, Some(10), 5);
    assert_eq!((told, line.as_str()), (None, "0 requests/s, addSite held back, next try in 9 s"));
    let (told, line) = take(false, None, 15);
    assert_eq!(told.as_deref(), Some("addSite goes on: a reason"));
    assert_eq!(line, "0 requests/s");
    // It comes and goes: said again after a minute.
    assert_eq!(take(true, Some(1), 20).0, None);
    assert_eq!(take(false, None, 22).0, None);
    assert!(take(true, Some(1), 61).0.is_some());
    assert_eq!(take(true, Some(0), 62).1, "0 requests/s, addSite held back, being tried");
}

#[test]
fn while_records_are_read_back_it_is_seen_how_far_that_is_and_how_long_the_rest_takes() {
    let mut picture = picture(100);
    assert_eq!(picture.read_line(tick(1)), None);
    let mut read = |done, second| {
        picture.take(&Event::ReadBack { done, of: 1_000 }, tick(second), &TimeZone::UTC);
        picture.read_line(tick(second + 1))
    };
    assert_eq!(read(0, 100).as_deref(), Some("0 of 1,000 records read back"));
    for done in 1..10 {
        read(done, 100 + done);
    }
    assert_eq!(read(10, 110).as_deref(), Some("10 of 1,000 records read back, about 18 min 9 s to go"));
    assert_eq!(read(1_000, 111), None, "all of them are");
    let told = picture.object(tick(111));
    assert_eq!((told.read_back, told.to_read_back), (1_000, 1_000));
}

#[test]
fn while_parked_the_rest_of_the_quota_does_not_count() {
    let mut picture = picture(100);
    let midnight = Moment::parse("2026-03-02T00:00:05Z").unwrap();
    picture.take(&Event::Parked { until: midnight }, tick(0), &TimeZone::UTC);
    assert_eq!(
        picture.parked_line(tick(0), &TimeZone::UTC).as_deref(),
        Some("parked 12 h, until 2026-03-02 00:00 UTC")
    );
    for second in 1..11 {
        picture.take(&moved(JobState::Ready, JobState::Created), tick(second), &TimeZone::UTC);
    }
    // Long after the last row: by the pace of before, from the moment creations go on.
    let estimate = picture.object(tick(3_600)).finish_estimate;
    assert_eq!(estimate.as_deref(), Some("2026-03-02T00:01:45Z"));
    picture.take(&Event::Woken, tick(1), &TimeZone::UTC);
    assert_eq!(picture.parked_line(tick(1), &TimeZone::UTC), None);
}
