//! Creations of each day's quota that are kept for one import, counted in the ledger of the service.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use crate::bench::{self, Bench};
use crate::inside::{self, Virtual};
use fleetload::model::event::Event;
use fleetload::model::id::ImportId;
use fleetload::model::time::Moment;
use fleetload::run::Ending;
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// A service that allows `quota` creations a day, an hour before its midnight.
fn service(quota: u64) -> Scenario {
    let starts_at = "2026-03-01T23:00:00Z".parse().expect("a moment");
    Scenario { daily_quota: quota, rate: 0, clock_starts_at: Some(starts_at), ..Scenario::default() }
}

/// Runs end when the quota is spent, and send one request at a time, so that rows come to the service in their order.
fn nightly(quota: u64, limits: &str) -> Bench {
    let bench = Bench::new(service(quota));
    let limits = format!("rate = \"unlimited\"\nconcurrency = 1\n{limits}");
    bench.profile("", &limits, "on_quota = \"exit\"");
    bench
}

/// Imports some of a sheet of companies, from which the sheets of several imports are cut.
fn import(bench: &Bench, name: &str, rows: Range<usize>, options: &[&str]) {
    let sheet = bench::companies(rows.end);
    let lines: Vec<&str> = sheet.lines().collect();
    bench.write(name, &format!("{}\n{}\n", lines[0], lines[rows.start + 1..].join("\n")));
    bench.fleetload(&[&["import", name], options].concat()).expect_code(0);
}

/// How many companies were created on each day of the service, of the first rows and of the others.
fn of_each_day(bench: &Bench, first: usize) -> Vec<(usize, usize)> {
    let mut days: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for entry in bench.created("company") {
        let name = entry.request["name"].as_str().expect("a name").to_owned();
        let number: usize = name.trim_start_matches("Customer ").parse().expect("a number");
        let day = days.entry(entry.at.to_string()[..10].to_owned()).or_default();
        if number < first {
            day.0 += 1;
        } else {
            day.1 += 1;
        }
    }
    days.into_values().collect()
}

/// Runs every day until nothing waits.
fn run_daily(bench: &Bench) {
    for _ in 0..20 {
        if bench.fleetload(&["run"]).code == 0 {
            return;
        }
        bench.sandbox().advance_clock(86_400);
    }
    panic!("rows still wait");
}

#[test]
fn each_day_has_what_is_reserved_for_an_import_while_it_has_rows_and_then_all_is_there_for_others() {
    let bench = nightly(1_000, "daily_quota = 10");
    import(&bench, "big.csv", 0..25, &[]);
    import(&bench, "small.csv", 25..33, &["--reserve", "3"]);
    run_daily(&bench);
    // The small one needs two on the third day.
    assert_eq!(of_each_day(&bench, 25), [(7, 3), (7, 3), (8, 2), (3, 0)]);
    assert!(!bench.statistics().answers.contains_key("quotaLimitExceeded"));
    bench.assert_exact_all(&[1, 2]);
}

#[test]
fn nothing_is_said_to_be_kept_of_a_day_of_which_nothing_is_left() {
    let bench = nightly(1_000, "daily_quota = 4");
    import(&bench, "big.csv", 0..10, &[]);
    bench.fleetload(&["run"]).expect_code(5);
    import(&bench, "small.csv", 10..13, &["--reserve", "2"]);
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(status.stdout.contains("; reserve 2 a day, 0 of them kept today"), "{status:?}");
    let told = bench.fleetload(&["run"]).expect_code(5);
    assert!(!told.stderr.contains("reserved"), "{told:?}");
}

#[test]
fn a_quota_that_nobody_knows_is_used_for_what_is_reserved_first() {
    let bench = nightly(10, "");
    import(&bench, "big.csv", 0..25, &["--priority", "5"]);
    import(&bench, "small.csv", 25..33, &[]);
    let told = bench.fleetload(&["reserve", "2", "3"]).expect_code(0);
    assert!(told.stdout.contains("import 2 has a reserve of 3 creations a day now, after 0"), "{told:?}");
    assert!(told.stderr.contains("the day's quota is not known"), "{told:?}");
    let told = bench.fleetload(&["run"]).expect_code(5);
    assert!(told.stderr.contains("what is reserved comes first (3 creations for import 2)"), "{told:?}");
    assert_eq!(of_each_day(&bench, 25), [(7, 3)]);
    bench.sandbox().advance_clock(86_400);
    // What the service refused yesterday is known today.
    let told = bench.fleetload(&["run"]).expect_code(5);
    assert!(
        told.stderr.contains("the rest of the day's quota is reserved (3 creations for import 2)"),
        "{told:?}"
    );
    assert_eq!(of_each_day(&bench, 25)[1], (7, 3));
    bench.sandbox().advance_clock(86_400);
    run_daily(&bench);
    assert_eq!(of_each_day(&bench, 25)[2..], [(8, 2), (3, 0)]);
    bench.assert_exact_all(&[1, 2]);
}

#[test]
fn many_requests_at_once_take_nothing_of_what_is_reserved() {
    for limits in ["", "daily_quota = 60"] {
        let bench = Bench::new(service(60));
        bench.profile("", &format!("rate = \"unlimited\"\n{limits}"), "on_quota = \"exit\"");
        import(&bench, "big.csv", 0..150, &["--priority", "5"]);
        import(&bench, "small.csv", 150..210, &["--reserve", "20"]);
        run_daily(&bench);
        let days = of_each_day(&bench, 150);
        for (big, small) in &days[..2] {
            assert!(*small >= 20 && big + small == 60, "{limits}: {days:?}");
        }
        assert_eq!(days.iter().map(|(big, small)| big + small).sum::<usize>(), 210);
        bench.assert_exact_all(&[1, 2]);
    }
}

#[test]
fn what_a_killed_run_has_sent_counts_against_the_reserve_of_the_same_day() {
    let bench = nightly(1_000, "daily_quota = 40");
    import(&bench, "big.csv", 0..100, &[]);
    import(&bench, "small.csv", 100..150, &["--reserve", "12"]);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let stall = Fault::new("addCompany", FaultKind::StallAfter).after(6).times(1);
    bench.sandbox().change(|scenario| scenario.fault = vec![stall]).expect("a consistent scenario");
    let mut run = bench.start(&["run"]);
    run.until(|| bench.statistics().faults_fired.contains_key("stall_after"));
    run.kill();
    assert_eq!(of_each_day(&bench, 100), [(0, 7)]);
    bench.fleetload(&["resume", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(5);
    assert_eq!(of_each_day(&bench, 100), [(28, 12)]);
    bench.assert_exact_all(&[1, 2]);
}

#[test]
fn a_paused_import_has_no_reserve() {
    let bench = nightly(1_000, "daily_quota = 10");
    import(&bench, "big.csv", 0..25, &[]);
    import(&bench, "small.csv", 25..33, &["--reserve", "3"]);
    bench.fleetload(&["pause", "2"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(5);
    assert_eq!(of_each_day(&bench, 25), [(10, 0)]);
    bench.fleetload(&["resume", "2"]).expect_code(0);
    bench.sandbox().advance_clock(86_400);
    bench.fleetload(&["run"]).expect_code(5);
    assert_eq!(of_each_day(&bench, 25)[1], (7, 3));
}

#[test]
fn nothing_is_kept_for_rows_that_wait_for_rows_of_another_import() {
    let bench = nightly(1_000, "daily_quota = 10");
    import(&bench, "big.csv", 0..25, &[]);
    // All of them are in a company that is created on the second day.
    bench.write("sites.csv", &bench::sites(5, 1).replace(",C0,", ",C12,"));
    bench.fleetload(&["import", "sites.csv", "--reserve", "9"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(5);
    assert_eq!((bench.created("company").len(), bench.created("site").len()), (10, 0));
    bench.sandbox().advance_clock(86_400);
    run_daily(&bench);
    assert_eq!((bench.created("company").len(), bench.created("site").len()), (25, 5));
    bench.assert_exact_all(&[1, 2]);
}

#[test]
fn rows_of_a_paused_sheet_keep_nothing_from_others() {
    let bench = nightly(1_000, "daily_quota = 100");
    import(&bench, "big.csv", 0..100, &[]);
    bench.write("sites.csv", &bench::sites(90, 1).replace(",C0,", &format!(",{},", bench::root())));
    bench.fleetload(&["import", "sites.csv", "--reserve", "80"]).expect_code(0);
    let refused = Fault::new("addSite", FaultKind::InvalidData);
    bench.sandbox().change(|scenario| scenario.fault = vec![refused]).expect("a consistent scenario");
    let told = bench.fleetload(&["run"]).expect_code(5);
    assert_eq!(bench.statistics().faults_fired["invalid_data"], 50, "the sheet is paused then");
    assert!(told.stderr.contains("nothing is left that could use what is reserved"), "{told:?}");
    assert_eq!(of_each_day(&bench, 100), [(50, 0)], "what the refused rows left of the day");
}

#[test]
fn reserves_that_a_day_does_not_have_are_refused_and_none_is_changed() {
    let bench = nightly(1_000, "daily_quota = 10\nreserve = 1");
    import(&bench, "big.csv", 0..25, &["--reserve", "4"]);
    import(&bench, "small.csv", 25..33, &[]);
    let told = bench.fleetload(&["reserve", "2", "6"]).expect_code(2);
    assert!(
        told.stderr.contains(
            "a reserve of 6 beside 4 of import 1 is more than the 9 creations that a day has for fleetload"
        ),
        "{told:?}"
    );
    assert!(told.stderr.contains("fleetload reserve IMPORT N"), "{told:?}");
    bench.fleetload(&["reserve", "2", "5"]).expect_code(0);
    let told = bench.fleetload(&["reserve", "2", "5"]).expect_code(0);
    assert!(told.stdout.contains("import 2 has a reserve of 5 creations a day already"), "{told:?}");
    let status = bench.fleetload(&["status"]).expect_code(0);
    for words in ["; reserve 4 a day, 4 of them kept today", "; reserve 5 a day, 5 of them kept today"] {
        assert!(status.stdout.contains(words), "{words}: {}", status.stdout);
    }
    bench.write("more.csv", "name\nMore\n");
    bench.fleetload(&["import", "more.csv", "--reserve", "1"]).expect_code(2);
    assert_eq!(bench.fleetload(&["status", "3"]).code, 2, "it is not imported");
    let told = bench.fleetload(&["reserve", "1", "0"]).expect_code(0);
    assert!(told.stdout.contains("import 1 has no reserve any more, after 4 a day"), "{told:?}");
    bench.fleetload(&["reserve", "9", "1"]).expect_code(2);
    run_daily(&bench);
    assert_eq!(of_each_day(&bench, 25), [(4, 5), (6, 3), (9, 0), (6, 0)]);
}

#[test]
fn the_limit_of_the_last_run_is_a_quota_that_is_known() {
    let bench = nightly(1_000, "");
    import(&bench, "big.csv", 0..25, &[]);
    import(&bench, "small.csv", 25..33, &[]);
    bench.fleetload(&["run", "--daily-quota", "9"]).expect_code(5);
    assert!(bench.fleetload(&["status"]).expect_code(0).stdout.contains(" of 9 used"));
    let too_much = "is more than the 9 creations that a day has for fleetload (the limit of the last run)";
    let told = bench.fleetload(&["reserve", "2", "10"]).expect_code(2);
    assert!(told.stderr.contains(too_much), "{told:?}");
    bench.write("more.csv", "name\nMore\n");
    let told = bench.fleetload(&["import", "more.csv", "--reserve", "10"]).expect_code(2);
    assert!(told.stderr.contains(too_much), "{told:?}");
    let told = bench.fleetload(&["reserve", "2", "9"]).expect_code(0);
    assert!(!told.stderr.contains("not known"), "{told:?}");
    // What the profile sets counts before it.
    bench.profile("", "daily_quota = 20", "");
    bench.fleetload(&["reserve", "2", "10"]).expect_code(0);
}

#[test]
fn a_run_at_work_keeps_what_is_reserved_meanwhile_and_goes_on_over_midnight() {
    let bench = Bench::new(service(30));
    import(&bench, "big.csv", 0..60, &[]);
    import(&bench, "small.csv", 60..90, &[]);
    inside::drive_virtually(async {
        let mut options = inside::options(Duration::from_secs(1));
        options.limits.daily_quota = Some(30);
        options.limits.rate = fleetload::service::Rate::PerSecond(2.0);
        let delay = Duration::from_millis(50);
        let mut run = inside::start_virtually(&bench, Virtual::start_now(), delay, options);
        run.hears_of(fleetload::model::state::JobState::Created).await;
        let mut side = inside::journal(&bench);
        side.reserve(ImportId(2), 10, "kim", Moment::default()).expect("a journal");
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished);
        assert!(told.iter().any(|event| matches!(event, Event::Parked { .. })), "{told:#?}");
    });
    assert_eq!(of_each_day(&bench, 60), [(20, 10), (20, 10), (20, 10)]);
    bench.fleetload(&["report", "1"]).expect_code(0);
    bench.fleetload(&["report", "2"]).expect_code(0);
    bench.assert_exact_all(&[1, 2]);
}
