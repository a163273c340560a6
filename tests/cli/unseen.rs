//! `noDataFound` below records that this run made: one wrong cell costs one creation, and a record that the service
//! shows late rejects nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fleetload::clock::Clock;
use fleetload::journal::Writing;
use fleetload::model::event::Event;
use fleetload::model::state::JobState;
use fleetload::model::tally::Tally;
use fleetload::run::{Ending, RunLimits, RunOptions};
use fleetload::sandbox::Scenario;
use fleetload::service::{HttpAnswer, HttpRequest, Rate, Sending, Transport};

use crate::bench::{self, Bench};
use crate::inside::{self, Direct, Fate, Inside, Settable, Virtual};

/// A bench with one company, two sites and devices that are put in them in turn, by this model.
fn bench_of(scenario: Scenario, limits: &str, devices: usize, model: &str) -> Bench {
    let bench = Bench::new(scenario);
    bench.profile("", limits, "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    let mut sheet = "company,site,name,device_model,mac,phone,address1,city,country\n".to_owned();
    for n in 0..devices {
        sheet += &format!(
            "C0,S{},Till {n},{model},00:1a:2b:00:{:02x}:{:02x},+64 9 557 {n:04},{n} Earl Street,Auckland,NZ\n",
            n % 2,
            n >> 8,
            n & 255,
        );
    }
    bench.write("devices.csv", &sheet);
    bench
}

const SHEETS: [&str; 4] = ["run", "companies.csv", "sites.csv", "devices.csv"];

#[test]
fn a_wrong_model_below_records_of_this_run_costs_one_creation_a_row() {
    let bench = bench_of(Scenario::default(), "", 20, "Edge 999");
    bench.fleetload(&SHEETS).expect_code(4);
    assert_eq!(bench.requests("addDevice"), 20, "each row was sent once");
    assert!((1..=2).contains(&bench.requests("getSite")), "{:?}", bench.statistics().requests);
    assert_eq!(bench.counts(1)["rejected"], 20);
    for row in bench.results(1).iter().filter(|row| row["status"] == "rejected") {
        assert_eq!((&row["code"], &row["attempts"]), (&"noDataFound".into(), &1.into()), "{row}");
        assert!(row["message"].as_str().is_some_and(|words| words.contains("Edge 999")), "{row}");
    }
}

#[test]
fn a_small_quota_is_enough_to_find_out_that_the_model_is_wrong() {
    let bench = bench_of(Scenario { daily_quota: 26, ..Scenario::default() }, "", 20, "Edge 999");
    bench.fleetload(&[&SHEETS[..], &["--on-quota", "exit"]].concat()).expect_code(4);
    assert_eq!(bench.counts(1)["rejected"], 20);
}

#[test]
fn the_sheet_pauses_after_fifty_rows_with_a_wrong_model_and_what_was_under_way() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "concurrency = 16", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(600, 3).replace("Edge 100", "Edge 999"));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    let sent = bench.requests("addDevice");
    assert!((50..=50 + 16).contains(&sent), "{sent} creations");
    assert_eq!(bench.counts(1)["rejected"], sent, "every row that was sent knows why");
    assert_eq!(bench.counts(1)["ready"], 600 - sent);
}

/// The way to a service that shows the sites late: until then devices are refused, and looks at sites find nothing.
struct Late {
    way: Arc<Direct>,
    clock: Arc<dyn Clock>,
    until: Duration,
    /// Whether sites can be looked up at all.
    has_look: bool,
    refused: AtomicU64,
}

impl Transport for Late {
    fn send(&self, request: HttpRequest) -> Sending {
        let path = request.url.path();
        let (is_look, is_device) = (path.contains("/getSite/"), path.ends_with("/addDevice"));
        let (status, body) = if is_look && !self.has_look {
            (404, "<html><body>Not found</body></html>")
        } else if (is_look || is_device) && self.clock.elapsed() < self.until {
            self.refused.fetch_add(u64::from(is_device), Ordering::SeqCst);
            (200, r#"{"status":"FAILED","error":{"errorCode":"noDataFound","message":"No data found"}}"#)
        } else {
            return self.way.send(request);
        };
        let body = body.as_bytes().into();
        Box::pin(async move {
            tokio::time::sleep(ROUND_TRIP).await;
            Ok(HttpAnswer { status, date: None, body, flaw: None })
        })
    }
}

const ROUND_TRIP: Duration = Duration::from_millis(1_000);

/// What a run over a late service has come to.
struct Run {
    ending: Ending,
    told: Vec<Event>,
    tally: Tally,
    /// Requests for devices that were refused for what was not shown yet.
    refused: u64,
    took: Duration,
}

/// Runs the sheets of a bench in virtual time at a service that shows the sites after so many seconds.
fn run_late(bench: &Bench, seconds: u64, has_look: bool) -> Run {
    bench.fleetload(&[&["import"], &SHEETS[1..]].concat()).expect_code(0);
    let mut run = None;
    inside::drive_virtually(async {
        let clock = Virtual::start();
        let way = Direct::new(bench.sandbox(), clock.clone(), |_: &str| Fate::AnsweredAfter(ROUND_TRIP));
        let until = Duration::from_secs(seconds);
        let late = Arc::new(Late { way, clock: clock.clone(), until, has_look, refused: AtomicU64::new(0) });
        let client = inside::client_over(bench, clock.clone(), late.clone());
        let rate = Rate::PerSecond(98.0);
        let limits = RunLimits { rate, concurrency: 256, daily_quota: None, reserve: 0 };
        let writing =
            Writing::AmongTasks(Arc::new(|| Box::pin(tokio::time::sleep(Duration::from_millis(5)))));
        let options = RunOptions { limits, writing, ..inside::options(Duration::from_secs(60)) };
        let (journal, ending, told) = Inside::start(bench, client, clock.clone(), options).ends().await;
        let tally = journal.tally(None).expect("counts");
        let refused = late.refused.load(Ordering::SeqCst);
        run = Some(Run { ending, told, tally, refused, took: clock.elapsed() });
    });
    run.expect("a run")
}

#[test]
fn rows_below_a_record_that_shows_late_wait_for_it_and_are_all_created() {
    let bench = bench_of(Scenario::default(), "", 300, "Edge 100");
    let run = run_late(&bench, 8, true);
    assert_eq!(run.ending, Ending::Finished, "the sheet is not paused for refusals that are explained");
    assert_eq!(run.tally.in_state(JobState::Created), 303, "{:?}", run.tally);
    assert!((8..=110).contains(&run.refused), "those under way when the first was refused: {}", run.refused);
    assert_eq!(bench.created("device").len(), 300, "and nothing twice");
    let told = run.told.iter().filter(|event| matches!(event, Event::Unseen { .. })).count() as u64;
    assert!((1..=run.refused).contains(&told), "{told} of {}", run.refused);
    assert!(run.took < Duration::from_secs(25), "{:?}", run.took);
}

#[test]
fn rows_that_waited_for_such_a_record_while_the_machine_slept_are_looked_up_before_they_are_sent_again() {
    let bench = bench_of(Scenario::default(), "", 4, "Edge 100");
    let sheet = std::fs::read_to_string(bench.path("devices.csv")).expect("the sheet");
    // The service refuses a second device of the same MAC address, but not of the same name.
    let without = (0..4).fold(sheet, |sheet, n| sheet.replace(&format!("00:1a:2b:00:00:{n:02x}"), ""));
    bench.write("devices.csv", &without);
    bench.fleetload(&[&["import"], &SHEETS[1..]].concat()).expect_code(0);
    inside::drive_virtually(async {
        let clock = Settable::over(Virtual::start());
        let way = Direct::new(bench.sandbox(), clock.clone(), |_: &str| Fate::AnsweredAfter(ROUND_TRIP));
        let (until, refused) = (Duration::from_secs(20), AtomicU64::new(0));
        let late = Arc::new(Late { way, clock: clock.clone(), until, has_look: true, refused });
        let client = inside::client_over(&bench, clock.clone(), late);
        let writing = Writing::AmongTasks(Arc::new(|| Box::pin(std::future::ready(()))));
        let options = RunOptions { writing, ..inside::options(Duration::from_secs(60)) };
        let mut run = Inside::start(&bench, client, clock.clone(), options);
        run.hears("rows wait", |event| matches!(event, Event::Unseen { .. })).await;
        bench.fleetload(&[&SHEETS[..], &["--journal", "colleague.db"]].concat()).expect_code(0);
        clock.jump(12 * 3600);
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished, "{told:#?}");
    });
    assert_eq!(bench.created("device").len(), 4, "none was created twice");
}

#[test]
fn of_rows_with_a_wrong_model_below_a_record_that_shows_late_three_are_sent_again() {
    let bench = bench_of(Scenario::default(), "", 8, "Edge 999");
    let run = run_late(&bench, 8, true);
    assert_eq!((run.ending, run.tally.in_state(JobState::Rejected)), (Ending::Finished, 8));
    assert_eq!((run.refused, bench.requests("addDevice")), (8, 3));
}

#[test]
fn where_no_look_up_can_tell_one_row_is_sent_again_for_all_of_its_like() {
    let bench = bench_of(Scenario::default(), "", 20, "Edge 100");
    let run = run_late(&bench, 8, false);
    assert_eq!((run.ending, run.tally.in_state(JobState::Created)), (Ending::Finished, 23));
    assert_eq!(bench.created("device").len(), 20, "and nothing twice");
    assert!((20..=24).contains(&run.refused), "{} refusals", run.refused);
    assert!(run.took < Duration::from_secs(40), "{:?}", run.took);
}

#[test]
fn a_record_that_is_never_shown_rejects_its_rows_after_a_minute_and_a_few_probes() {
    for has_look in [true, false] {
        let bench = bench_of(Scenario::default(), "", 20, "Edge 100");
        let run = run_late(&bench, 10_000, has_look);
        assert_eq!((run.ending, run.tally.in_state(JobState::Rejected)), (Ending::Finished, 20));
        assert!((23..=28).contains(&run.refused), "{} refusals, look: {has_look}", run.refused);
        assert!((60..=90).contains(&run.took.as_secs()), "{:?}", run.took);
    }
}
