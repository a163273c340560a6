//! When a run sends: windows of a time zone, a time to start at, and waits that a person cuts short.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::bench::{self, Bench, Outcome};
use crate::inside::{self, Direct, Fate, Inside, Virtual, noted};
use fleetload::clock::Clock;
use fleetload::ending::{End, RunEnd};
use fleetload::journal::{Journal, Waiting, Writing};
use fleetload::model::event::Event;
use fleetload::model::forecast::forecast;
use fleetload::model::id::ImportId;
use fleetload::model::operation::Operation;
use fleetload::model::remaining::{HeldBack, Remaining};
use fleetload::model::state::JobState;
use fleetload::model::time::Moment;
use fleetload::model::window::{SendingHours, Windows};
use fleetload::run::{Ending, Interrupt, OnClose, OnQuota, RunOptions, Waited, end_unsent, wait_to_begin};
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use fleetload::service::Rate;
use tokio::sync::mpsc;

const MINUTE: Duration = Duration::from_secs(60);

fn at(text: &str) -> Moment {
    Moment::parse(text).expect("a moment")
}

/// Windows in UTC.
fn between(windows: &[&str]) -> SendingHours {
    let windows = windows.iter().map(|text| text.parse().expect("a window")).collect();
    SendingHours { from: None, windows: Windows::new(windows, jiff::tz::TimeZone::UTC) }
}

/// So many companies in the journal of a bench.
fn companies(count: usize) -> Bench {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(count));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench
}

/// One request a second of each operation, within these hours.
fn one_a_second(hours: SendingHours) -> RunOptions {
    let mut options = inside::options(Duration::from_secs(1));
    options.limits.rate = Rate::PerSecond(1.0);
    options.writing = Writing::AmongTasks(Arc::new(|| Box::pin(std::future::ready(()))));
    RunOptions { hours, ..options }
}

/// A run in virtual time, from 2026-03-01T10:00:00Z on, with the moments at which its requests left.
fn recorded(bench: &Bench, options: RunOptions) -> (Inside, Arc<Mutex<Vec<Moment>>>) {
    let (clock, left) = (Virtual::start(), Arc::new(Mutex::new(Vec::new())));
    let fate = {
        let (clock, left) = (clock.clone(), Arc::clone(&left));
        move |_: &str| {
            left.lock().expect("no panic").push(clock.now());
            Fate::AnsweredAfter(Duration::from_millis(300))
        }
    };
    let transport = Direct::new(bench.sandbox(), clock.clone(), fate);
    let client = inside::client_over(bench, clock.clone(), transport);
    (Inside::start(bench, client, clock, options), left)
}

#[test]
fn outside_the_window_no_request_leaves_and_what_is_under_way_comes_home() {
    let bench = companies(100);
    inside::drive_virtually(async {
        let (run, left) = recorded(&bench, one_a_second(between(&["09:00-10:01", "11:00-12:00"])));
        let (journal, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished);
        assert_eq!(journal.tally(None).expect("counts").in_state(JobState::Created), 100);
        let left = left.lock().expect("no panic");
        let (closed, opened) = (at("2026-03-01T10:01:00Z"), at("2026-03-01T11:00:00Z"));
        let before = left.iter().filter(|moment| **moment < closed).count();
        let after = left.iter().filter(|moment| **moment >= opened).count();
        assert!(before > 50 && after > 30, "{before} before, {after} after");
        assert_eq!(before + after, left.len(), "none between");
        let outside = told.iter().find_map(|event| match event {
            Event::OutsideHours { until, why } => Some((*until, why.clone())),
            _ => None,
        });
        let why = "outside the window 09:00-10:01, 11:00-12:00 (UTC)".to_owned();
        assert_eq!(outside, Some((opened, why)));
        assert!(told.contains(&Event::WithinHours), "{told:#?}");
    });
    bench.fleetload(&["report", "1"]).expect_code(0);
    bench.assert_exact(1);
}

/// A run whose window closes; a colleague, who does not wait for the window, makes all companies meanwhile.
fn a_colleague_works_while_the_window_is_closed(bench: &Bench) {
    inside::drive_virtually(async {
        let hours = between(&["09:00-10:01", "11:00-12:00"]);
        let (mut run, _) = recorded(bench, one_a_second(hours));
        run.hears("the window closes", |event| matches!(event, Event::OutsideHours { .. })).await;
        let before = bench.created("company").len();
        assert!((20..80).contains(&before), "{before}");
        bench.fleetload(&["run", "companies.csv", "--journal", "colleague.db"]).expect_code(0);
        assert_eq!(bench.created("company").len(), 100);
        let (journal, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished, "{told:#?}");
        let tally = journal.tally(None).expect("counts");
        assert_eq!(tally.in_state(JobState::Existing), 100 - before as u64, "{tally:?}");
    });
    assert_eq!(bench.created("company").len(), 100, "none was created twice");
}

#[test]
fn what_was_looked_up_before_the_window_closed_is_looked_up_again_when_it_opens() {
    a_colleague_works_while_the_window_is_closed(&companies(100));
}

#[test]
fn below_a_company_that_the_run_made_itself_what_a_colleague_makes_while_the_window_is_closed_is_seen() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    // The first company is the parent of all others.
    let sheet = bench::companies(100);
    let (parent, below) = sheet.split_at(sheet.find("\nC1,").expect("a second row"));
    bench.write("companies.csv", &(parent.to_owned() + &below.replace(&bench::root(), "C0")));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    a_colleague_works_while_the_window_is_closed(&bench);
}

#[test]
fn a_run_that_is_to_exit_ends_when_its_window_closes_with_the_moment_at_which_it_opens_again() {
    let bench = companies(100);
    inside::drive_virtually(async {
        let mut options = one_a_second(between(&["22:00-10:01"]));
        options.policy.on_close = OnClose::Exit;
        let (run, left) = recorded(&bench, options);
        let (journal, ending, _) = run.ends().await;
        let Ending::Parked { end, until, .. } = &ending else { panic!("{ending:?}") };
        assert_eq!((*end, *until), (End::Window, at("2026-03-01T22:00:00Z")));
        let tally = journal.tally(None).expect("counts");
        let created = tally.in_state(JobState::Created);
        assert!(created > 50 && created < 100, "{created}");
        assert_eq!(created + tally.in_state(JobState::Ready), 100, "nothing is in doubt");
        assert!(left.lock().expect("no panic").iter().all(|moment| *moment < at("2026-03-01T10:01:00Z")));
    });
    bench.fleetload(&["run"]).expect_code(0);
    bench.assert_exact(1);
}

/// A run of thirty companies in these windows, of which the service allows twenty a day.
fn beyond_the_quota(windows: &[&str]) -> (Bench, RunOptions) {
    let bench = companies(30);
    bench.sandbox().change(|scenario| scenario.daily_quota = 20).expect("a consistent scenario");
    (bench, one_a_second(between(windows)))
}

#[test]
fn rows_that_are_looked_up_again_after_midnight_are_looked_up_at_once() {
    let (bench, options) = beyond_the_quota(&["00:00-24:00"]);
    inside::drive_virtually(async {
        let (run, left) = recorded(&bench, options);
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished, "{told:#?}");
        let midnight = at("2026-03-02T00:00:00Z");
        let left = left.lock().expect("no panic");
        let first = left.iter().find(|moment| **moment >= midnight).expect("requests after midnight");
        assert!(first.since(midnight) < Duration::from_secs(5), "the first left at {first}");
    });
    assert_eq!(bench.created("company").len(), 30);
}

#[test]
fn a_run_that_waits_for_the_quota_and_its_window_says_when_both_are_there_and_goes_on_then() {
    let (bench, options) = beyond_the_quota(&["09:00-12:00", "20:00-22:00"]);
    let both = at("2026-03-02T09:00:00Z");
    inside::drive_virtually(async {
        let clock = Virtual::start();
        let run = inside::start_virtually(&bench, clock.clone(), Duration::from_millis(300), options);
        let side = inside::journal(&bench);
        // In the first window, after it, in the second one, and after midnight.
        let looks = [
            ("2026-03-01T11:00:00Z", End::Quota, "2026-03-01"),
            ("2026-03-01T13:00:00Z", End::Window, "2026-03-01"),
            ("2026-03-01T21:00:00Z", End::Quota, "2026-03-01"),
            ("2026-03-02T01:00:00Z", End::Window, "2026-03-02"),
        ];
        for (look, waits_for, day) in looks {
            clock.sleep_until(clock.elapsed() + at(look).since(clock.now())).await;
            let run = side.last_run().expect("readable").expect("a run");
            assert_eq!(run.waits_until(waits_for, clock.now()), Some(both), "{look}: {run:?}");
            assert_eq!(side.quota_now(clock.now()).expect("readable").day.to_string(), day, "{look}");
            let facts = side.noted_remaining(run.run).expect("readable").expect("noted");
            assert_eq!(facts.parked_until, Some(both), "{look}");
            assert!(forecast(&facts).finish.is_some_and(|finish| finish >= both), "{look}: {facts:?}");
        }
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished);
        let untils: Vec<Moment> = told
            .iter()
            .filter_map(|event| match event {
                Event::Parked { until } | Event::OutsideHours { until, .. } => Some(*until),
                _ => None,
            })
            .collect();
        // Parked, closed, parked again, closed again.
        assert_eq!(untils, [both; 4], "{told:#?}");
        let spent = "and the day's quota of creations is spent";
        let says_both =
            |event: &Event| matches!(event, Event::OutsideHours { why, .. } if why.contains(spent));
        assert!(told.iter().any(says_both), "{told:#?}");
    });
    let made = bench.created("company");
    let later = made.iter().filter(|entry| entry.at.as_millisecond() >= both.millis()).count();
    assert_eq!((made.len(), later), (30, 10));
    bench.fleetload(&["report", "1"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn a_run_that_is_to_exit_with_the_quota_spent_names_the_moment_at_which_its_window_is_open_as_well() {
    for (window, on_quota, on_close, expected) in [
        ("09:00-10:01", OnQuota::Wait, OnClose::Exit, End::Window),
        ("09:00-10:01", OnQuota::Exit, OnClose::Wait, End::Quota),
    ] {
        let (bench, mut options) = beyond_the_quota(&[window, "20:00-22:00"]);
        (options.policy.on_quota, options.policy.on_close) = (on_quota, on_close);
        inside::drive_virtually(async {
            let clock = Virtual::start();
            let run = inside::start_virtually(&bench, clock.clone(), Duration::from_millis(300), options);
            let (journal, ending, _) = run.ends().await;
            let both = at("2026-03-02T09:00:00Z");
            let Ending::Parked { end, until, .. } = &ending else { panic!("{ending:?}") };
            assert_eq!((*end, *until), (expected, both));
            let run = journal.last_run().expect("readable").expect("a run");
            assert_eq!(run.waits_until(expected, clock.now()), Some(both));
            // The day is over at midnight all the same.
            let morning = at("2026-03-02T01:00:00Z");
            assert_eq!(journal.quota_now(morning).expect("readable").day.to_string(), "2026-03-02");
        });
    }
}

#[test]
fn what_creates_nothing_goes_on_when_the_window_opens_even_if_the_quota_is_spent() {
    let (bench, mut options) = beyond_the_quota(&["09:00-10:01", "20:00-22:00"]);
    options.policy.on_close = OnClose::Exit;
    // A lost answer, and then no look-up that could show what became of it.
    let lost = Fault::new("addCompany", FaultKind::AnswerLost).after(5).times(1);
    let blind = Fault::new("lookups", FaultKind::Html503Before).after(1);
    bench.sandbox().change(|scenario| scenario.fault = vec![lost, blind]).expect("a consistent scenario");
    inside::drive_virtually(async {
        let run = inside::start_virtually(&bench, Virtual::start(), Duration::from_millis(300), options);
        let (journal, ending, _) = run.ends().await;
        assert_eq!(journal.tally(None).expect("counts").in_state(JobState::InDoubt), 1);
        let Ending::Parked { end, until, .. } = &ending else { panic!("{ending:?}") };
        assert_eq!((*end, *until), (End::Window, at("2026-03-01T20:00:00Z")));
    });
}

#[test]
fn a_run_that_begins_outside_its_hours_waits_for_them_or_is_stopped_and_the_journal_says_so() {
    let bench = companies(2);
    inside::drive_virtually(async {
        let clock = Virtual::start();
        let mut journal = inside::journal(&bench);
        let (interrupt, mut interrupts) = mpsc::channel(1);
        let at_once = RunOptions { hours: between(&["09:00-10:01"]), ..inside::options(MINUTE) };
        let waited =
            wait_to_begin(&mut journal, &*clock, &at_once, &mut interrupts, |_, _| panic!("open")).await;
        let Ok(Waited::Begun(begun)) = waited else { panic!("{waited:?}") };
        let side = inside::journal(&bench);
        assert!(side.last_run().expect("readable").is_some_and(|run| run.ended_at.is_none()), "it is seen");
        end_unsent(&mut journal, begun, clock.now(), Ending::interrupted_unsent())
            .expect("it can be written");
        assert_eq!(side.last_run().expect("readable"), None, "it has neither waited nor sent");

        let later = RunOptions { hours: between(&["22:00-06:00"]), ..inside::options(MINUTE) };
        let tell = |until, why: &str| {
            assert_eq!((until, why), (at("2026-03-01T22:00:00Z"), "outside the window 22:00-06:00 (UTC)"));
        };
        let waited = wait_to_begin(&mut journal, &*clock, &later, &mut interrupts, tell).await;
        let Ok(Waited::Begun(begun)) = waited else { panic!("{waited:?}") };
        let run = begun.run();
        assert_eq!(clock.now(), at("2026-03-01T22:00:00Z"));
        let info = side.last_run().expect("readable").expect("a run");
        assert_eq!((info.run, info.started_at, info.resumes_at), (run, clock.now(), None));
        journal.queue().withdraw_run(run).expect("a journal that can be written");
        assert_eq!(side.last_run().expect("readable"), None);

        let in_vain = RunOptions { until: Some(at("2026-03-02T20:00:00Z")), ..later.clone() };
        clock.sleep_until(clock.elapsed() + 10 * 60 * MINUTE).await;
        let began = clock.now();
        let waited = wait_to_begin(&mut journal, &*clock, &in_vain, &mut interrupts, |_, _| {}).await;
        let Ok(Waited::Ended(Ending::Parked { end: End::Window, until, .. })) = waited else {
            panic!("{waited:?}")
        };
        assert_eq!((clock.now(), until), (began, at("2026-03-02T22:00:00Z")), "it would open too late");

        let mut at_given = later.clone();
        at_given.hours = SendingHours { from: Some(at("2026-03-02T12:00:00Z")), windows: None };
        at_given.policy.on_close = OnClose::Exit;
        interrupt.send(Interrupt::Drain).await.expect("it listens");
        let waited = wait_to_begin(&mut journal, &*clock, &at_given, &mut interrupts, |_, _| {}).await;
        let Ok(Waited::Ended(Ending::Interrupted { by: End::Signal, .. })) = waited else {
            panic!("{waited:?}")
        };
        let info = side.last_run().expect("readable").expect("a run");
        assert!(info.ended_at.is_some() && info.ending.is_some(), "{info:?}");
    });
    assert_eq!(bench.statistics().tokens_issued, 0, "the service was not asked");
}

#[test]
fn a_run_that_waits_for_its_hours_ends_once_all_that_it_was_to_send_is_paused_or_cancelled() {
    type Change = fn(&mut Journal, Moment) -> bool;
    let pause: Change = |journal, now| journal.pause(ImportId(1), "ann", now).is_ok();
    let cancel: Change = |journal, now| journal.cancel(ImportId(1), "ann", now).is_ok();
    for change in [pause, cancel] {
        let bench = companies(2);
        inside::drive_virtually(async {
            let clock = Virtual::start();
            let mut journal = inside::journal(&bench);
            let side = Mutex::new(inside::journal(&bench));
            let (_interrupt, mut interrupts) = mpsc::channel(1);
            let options = RunOptions { hours: between(&["22:00-06:00"]), ..inside::options(MINUTE) };
            let began = clock.now();
            let tell = |_, _: &str| assert!(change(&mut side.lock().expect("no other"), began));
            let waited = wait_to_begin(&mut journal, &*clock, &options, &mut interrupts, tell).await;
            assert!(matches!(waited, Ok(Waited::Ended(Ending::Finished))), "{waited:?}");
            assert!(clock.now().since(began) <= MINUTE, "{}", clock.now());
            let info = journal.last_run().expect("readable").expect("a run");
            assert_eq!((info.ending, info.resumes_at), (Some(RunEnd::Finished), None));
        });
        assert_eq!(bench.statistics().tokens_issued, 0, "the service was not asked");
    }
}

#[test]
fn a_run_that_has_waited_and_cannot_sign_in_is_not_taken_for_killed() {
    let bench = companies(2);
    let refused = Fault::new("auth", FaultKind::InvalidClient);
    bench.sandbox().change(|scenario| scenario.fault.push(refused)).expect("a consistent scenario");
    inside::drive_virtually(async {
        let clock = Virtual::start();
        let mut journal = inside::journal(&bench);
        let (_interrupt, mut interrupts) = mpsc::channel(1);
        let mut options = RunOptions { hours: between(&["22:00-06:00"]), ..inside::options(MINUTE) };
        let waited = wait_to_begin(&mut journal, &*clock, &options, &mut interrupts, |_, _| {}).await;
        let Ok(Waited::Begun(begun)) = waited else { panic!("{waited:?}") };
        options.begun = Some(begun);
        let delay = Duration::from_millis(50);
        let run = inside::start_virtually_over(journal, &bench, clock, delay, options);
        let (journal, ending, _) = run.ends().await;
        assert!(matches!(ending, Ending::Stopped { end: End::Credentials, .. }), "{ending:?}");
        let info = journal.last_run().expect("readable").expect("a run");
        assert_eq!((info.run, info.ending), (begun.run(), Some(RunEnd::Early(End::Credentials))));
    });
}

/// A window that begins in two hours and lasts one, and when it opens.
pub(crate) fn in_two_hours() -> (String, jiff::Timestamp) {
    let opens = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(2);
    let civil = opens.to_zoned(jiff::tz::TimeZone::UTC);
    let end = (opens + jiff::SignedDuration::from_hours(1)).to_zoned(jiff::tz::TimeZone::UTC);
    let from = civil.with().second(0).subsec_nanosecond(0).build().expect("a time").timestamp();
    (format!("{}-{}", civil.strftime("%H:%M"), end.strftime("%H:%M")), from)
}

#[test]
fn a_nightly_run_outside_its_window_imports_and_leaves_with_the_next_opening_in_local_time_and_utc() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(3));
    let (window, opens) = in_two_hours();
    let arguments =
        ["run", "companies.csv", "--between", &window, "--zone", "UTC", "--on-close", "exit", "--json"];
    let ended = bench.fleetload(&arguments).expect_code(5);
    let last = ended.summary();
    assert_eq!((&last["state"], &last["reason"]), (&"parked".into(), &"window".into()), "{last}");
    assert_eq!(last["resumes_at"], opens.to_string(), "{last}");
    assert_eq!(bench.counts(1)["ready"], 3);
    let statistics = bench.statistics();
    assert_eq!((statistics.tokens_issued, statistics.requests.len()), (0, 0), "no request left");

    let mut status = bench.command(&["status"]);
    let told = Outcome::of(status.env("TZ", "Pacific/Auckland").output().expect("it starts")).expect_code(0);
    let words = format!("outside the window {window} (UTC), 3 rows remaining");
    for words in ["paused until ", " UTC (", " Pacific/Auckland", words.as_str()] {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    let checked = bench.fleetload(&["status", "--check", "--json"]).expect_code(5).summary();
    assert_eq!((&checked["reason"], &checked["paused_until"]), (&"window".into(), &opens.to_string().into()));

    // The window is that of the profile, the zone is typed.
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("the profile");
    let table = format!("\n[profile.bench.window]\nbetween = [\"{window}\"]\n");
    bench.write("fleetload.toml", &(profile.clone() + &table));
    let ended = bench.fleetload(&["run", "--zone", "UTC", "--on-close", "exit"]).expect_code(5);
    let told = bench.fleetload(&["status"]).expect_code(0);
    for told in [&ended.stderr, &told.stderr] {
        assert!(told.contains("fleetload run --zone UTC --on-close exit"), "{told}");
    }

    // The profile says the same, and one option sends at every time.
    let table =
        format!("\n[profile.bench.window]\nbetween = [\"{window}\"]\nzone = \"UTC\"\non_close = \"exit\"\n");
    bench.write("fleetload.toml", &(profile + &table));
    let ended = bench.fleetload(&["run"]).expect_code(5);
    assert!(ended.stderr.contains(&format!("requests leave only in the window {window} (UTC)")), "{ended:?}");
    bench.fleetload(&["run", "--between", "00:00-24:00"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
    bench.assert_exact(1);
}

#[test]
fn status_and_metrics_name_the_moment_at_which_quota_and_window_are_there() {
    // The window is open, and closed when the quota resets in three hours, by the clock of the service.
    let midnight: jiff::Timestamp = "2026-03-02T00:00:00Z".parse().expect("a moment");
    let starts_at = midnight - jiff::SignedDuration::from_hours(3);
    let bench = Bench::new(Scenario {
        rate: 0,
        daily_quota: 2,
        clock_starts_at: Some(starts_at),
        ..Scenario::default()
    });
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(3));
    let hours = |count| {
        let moment = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(count);
        let moment = moment.to_zoned(jiff::tz::TimeZone::UTC);
        moment.with().second(0).subsec_nanosecond(0).build().expect("a time")
    };
    let (from, to) = (hours(-1), hours(1));
    let window = format!("{}-{}", from.strftime("%H:%M"), to.strftime("%H:%M"));
    let opens = from.timestamp() + jiff::SignedDuration::from_hours(24);
    let arguments = ["run", "companies.csv", "--between", &window, "--zone", "UTC", "--json"];
    let ended = bench.fleetload(&arguments).expect_code(5).summary();
    let words = |name: &str| ended[name].as_str().expect("words").to_owned();
    assert_eq!((words("reason"), words("resumes_at")), ("quota".to_owned(), opens.to_string()), "{ended}");
    let told = bench.fleetload(&["status", "--json"]).expect_code(0).summary();
    assert_eq!(told["parked_until"], opens.to_string(), "{told}");
    let metrics = bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout;
    let until = metrics.lines().find(|line| line.starts_with("fleetload_parked_until_timestamp_seconds"));
    let until = until.and_then(|line| line.rsplit_once(' ')).expect("a value").1;
    assert_eq!(until.parse::<f64>().ok(), Some(opens.as_second() as f64), "{metrics}");
}

#[test]
fn a_run_with_a_time_to_start_at_imports_at_once_and_sends_then() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(3));
    let start = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(3);
    let mut run = bench.start(&["run", "companies.csv", "--at", &start.to_string(), "--json"]);
    run.hears(&["outside_hours", "the time given with --at has not come"]);
    let ended = run.ended().expect_code(0);
    assert_eq!(ended.summary()["reason"], "done");
    let made = bench.created("company");
    assert_eq!(made.len(), 3);
    let is_early = |at: jiff::Timestamp| at.as_millisecond() < start.as_millisecond();
    assert!(!made.iter().any(|entry| is_early(entry.at)), "made before {start}: {made:?}");
    bench.assert_exact(1);
    let until_first = ["--at", "2199-01-01T12:00:00Z", "--until", "2199-01-01T12:00:00Z"];
    let wrong: [&[&str]; 5] = [
        &["--at", "2020-01-01T00:00:00Z"],
        &["--at", "soon"],
        &["--between", "22-06"],
        &["--zone", "Mars"],
        &until_first,
    ];
    for wrong in wrong {
        let error = bench.fleetload(&[&["run"], wrong].concat()).expect_code(2);
        assert!(error.stderr.contains(wrong[0]), "{error:?}");
    }
}

#[test]
fn a_run_outside_its_window_tries_nothing_at_once_and_whoever_asks_is_told_so() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(3));
    let (window, opens) = in_two_hours();
    let mut run = bench.start(&["run", "companies.csv", "--between", &window, "--zone", "UTC", "--json"]);
    run.hears(&["outside_hours"]);
    // What a run waits for is in the journal once it is reported.
    let ask = || bench.fleetload(&["run", "--now"]).expect_code(0);
    run.until(|| ask().stdout.contains("is outside its hours until"));
    let told = ask();
    let opens = opens.to_string().replace('T', " ").replace('Z', " UTC");
    assert!(told.stdout.contains(&opens), "{opens}: {}", told.stdout);
    // Hours that another command is given are not those of the run.
    let second = bench.fleetload(&["run"]).expect_code(5);
    let words = format!("it sends the rows that can be sent from {opens}");
    assert!(second.stdout.contains("is outside its hours") && second.stdout.contains(&words), "{second:?}");
    run.signal("-INT");
    run.ended().expect_code(5);
    assert_eq!(bench.statistics().requests.len(), 0);
}

#[test]
fn a_person_ends_the_wait_of_a_run_for_a_failing_service() {
    let bench = companies(60);
    let away = Fault::new("*", FaultKind::Html503Before);
    inside::drive_virtually(async {
        let (clock, delay) = (Virtual::start(), Duration::from_millis(50));
        bench
            .sandbox()
            .change(|scenario| {
                // The list of what is there before the first row is sent gets through.
                let of = |operations: &str, after| Fault {
                    operation: operations.to_owned(),
                    after,
                    ..away.clone()
                };
                scenario.fault = vec![of("creations", 0), of("lookups", 1)];
            })
            .expect("a consistent scenario");
        let mut run =
            inside::start_virtually(&bench, clock.clone(), delay, inside::options(Duration::from_secs(1)));
        run.hears("a long pause", |event| {
            matches!(event, Event::Breaker { operation: Operation::AddCompany, next_try_in: Some(wait), .. }
                if *wait > MINUTE * 2)
        })
        .await;
        bench.clear_faults();
        let asked = clock.elapsed();
        inside::journal(&bench).ask_now(clock.now()).expect("a journal").expect("a run under way");
        run.hears("it goes on", |event| {
            matches!(event, Event::Breaker { operation: Operation::AddCompany, open: false, .. })
        })
        .await;
        let took = clock.elapsed().saturating_sub(asked);
        assert!(took < Duration::from_secs(20), "{took:?}");
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished);
        assert!(noted(&told, "asked to try again now: addCompany"), "{told:#?}");
    });
    assert!(bench.statistics().faults_fired["html_503_before"] > 20);
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 60);
    bench.assert_exact(1);
}

#[test]
fn a_page_written_while_a_run_is_at_work_says_so_and_advises_no_other_run() {
    let bench = companies(2);
    let mut journal = inside::journal(&bench);
    let lock = journal.lock_for_run().expect("a lock").expect("nobody has it");
    let run = journal.queue().begin_run(at("2026-03-01T10:00:00Z")).expect("a journal");
    let page = || {
        bench.fleetload(&["report", "1"]).expect_code(0);
        std::fs::read_to_string(bench.path("reports/1/report.html")).expect("the page")
    };
    let go_on = "To go on:</p>";
    for waits_for in [None, Some(End::Quota)] {
        let until = at("2199-01-01T00:00:00Z");
        let waiting = waits_for.map(|waits_for| Waiting {
            waits_for,
            until,
            quota_resets_at: Some(until),
            why: String::new(),
        });
        journal.queue().note_waiting(run, waiting.as_ref()).expect("a journal");
        let page = page();
        assert!(page.contains("A run is at work on the rest. To see how far it is:"), "{page}");
        assert!(!page.contains(go_on), "{page}");
        assert_eq!(page.contains("<dt>Parked until</dt>"), waits_for.is_some(), "{page}");
    }
    drop(lock);
    assert!(page().contains(go_on), "without a run");
}

#[test]
fn the_command_beside_a_run_says_what_that_run_waited_for_and_without_one_it_runs() {
    let bench = companies(2);
    let mut journal = inside::journal(&bench);
    let lock = journal.lock_for_run().expect("a lock").expect("nobody has it");
    let now = at("2026-03-01T10:00:00Z");
    let run = journal.queue().begin_run(now).expect("a journal");
    let told = bench.fleetload(&["run", "--now"]).expect_code(0);
    assert!(told.stdout.contains("does not wait for another try"), "{told:?}");
    // That it waits for the quota is noted before all else that is left.
    let until = Moment::from_millis(in_two_hours().1.as_millisecond());
    let quota = Waiting { waits_for: End::Quota, until, quota_resets_at: Some(until), why: String::new() };
    journal.queue().note_waiting(run, Some(&quota)).expect("a journal");
    let told = bench.fleetload(&["run", "--now"]).expect_code(0);
    assert!(told.stdout.contains("one creation, in case the quota was raised"), "{told:?}");
    journal.queue().note_waiting(run, None).expect("a journal");
    let next_try = Some(at("2199-01-01T00:00:00Z"));
    let held_back = vec![HeldBack { operation: Operation::AddCompany, next_try, brief: false }];
    let remaining = Remaining { at: now, held_back, ..Remaining::default() };
    journal.queue().note_remaining(run, Some(&remaining)).expect("a journal");
    let told = bench.fleetload(&["run", "--now", "--json"]).expect_code(0);
    let waited = &told.summary()["tried_now"][0];
    assert_eq!(waited, "addCompany, which waited until 2199-01-01 00:00:00 UTC");
    let summary = told.summary();
    assert_eq!((&summary["state"], &summary["reason"]), (&"running".into(), &Value::Null), "{summary}");
    assert_eq!((&summary["exit_code"], &summary["counts"]["ready"]), (&0.into(), &2.into()), "{summary}");
    assert!(!told.stderr.contains("run ended"), "the run goes on: {told:?}");
    assert_eq!(journal.asked_now(run).expect("a journal"), 3);
    drop((lock, journal));
    bench.fleetload(&["run", "--now", "companies.csv"]).expect_code(2);
    bench.fleetload(&["run", "--now"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 2);
}

#[test]
fn a_plan_counts_only_the_time_in_which_the_run_may_send() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "rate = 10", "");
    bench.write("companies.csv", &bench::companies(20));
    let (window, opens) = in_two_hours();
    let told = bench
        .fleetload(&["plan", "companies.csv", "--between", &window, "--zone", "UTC", "--json"])
        .expect_code(0);
    let text = told.stdout.as_str();
    let first = text.lines().find_map(|line| {
        let object: Value = serde_json::from_str(line).ok()?;
        let finish = object["finish"].as_str().or(object["finish_estimate"].as_str())?;
        finish.parse::<jiff::Timestamp>().ok()
    });
    let finish = first.unwrap_or_else(|| panic!("a finish time: {text}"));
    assert!(finish >= opens && finish < opens + jiff::SignedDuration::from_mins(5), "{finish} {opens}");
    let told =
        bench.fleetload(&["plan", "companies.csv", "--between", &window, "--zone", "UTC"]).expect_code(0);
    assert!(told.stdout.contains(&format!("requests leave only in the window {window} (UTC)")), "{told:?}");
}
