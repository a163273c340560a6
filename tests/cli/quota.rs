//! The daily quota: parked when it is spent, woken at the service's midnight, or left for a later run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::bench::{self, Bench};
use crate::inside::{self, Direct, Fate, Inside, Virtual};
use fleetload::clock::Clock;
use fleetload::ending::End;
use fleetload::journal::Writing;
use fleetload::model::event::Event;
use fleetload::run::Ending;
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// A service that allows `quota` creations a day and whose midnight is `seconds` away.
fn service(quota: u64, seconds: i64) -> Scenario {
    let midnight: jiff::Timestamp = "2026-03-02T00:00:00Z".parse().expect("a moment");
    let starts_at = midnight - jiff::SignedDuration::from_secs(seconds);
    Scenario { daily_quota: quota, clock_starts_at: Some(starts_at), ..Scenario::default() }
}

#[test]
fn an_import_larger_than_the_quota_waits_for_the_services_midnight_and_is_finished() {
    let bench = Bench::new(service(20, 3600));
    bench.write("companies.csv", &bench::companies(30));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    inside::drive_virtually(async {
        let options = inside::options(Duration::from_secs(1));
        let run = inside::start_virtually(&bench, Virtual::start_now(), Duration::from_millis(50), options);
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished);
        let parked = told.iter().position(|event| matches!(event, Event::Parked { .. })).expect("it parks");
        assert!(told[parked..].contains(&Event::Woken), "{told:#?}");
    });
    assert_eq!(bench.created("company").len(), 30);
    assert!(bench.statistics().answers["quotaLimitExceeded"] >= 1, "the quota was met");
    bench.fleetload(&["report", "1"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn a_step_that_creates_nothing_and_is_refused_for_the_quota_waits_for_midnight_as_creations_do() {
    let bench = Bench::new(service(1000, 3600).with_fault(
        // Once on the day, and twice after its midnight, as for a late reset.
        Fault::new("putDeviceLabels", FaultKind::QuotaExceeded).times(3),
    ));
    bench.write("companies.csv", &bench::companies(1));
    let devices = "company,name,device_model,mac,phone,address1,city,country,labels\n\
                   C0,Till,Edge 100,00:1a:2b:00:00:01,+64 9 557 0001,1 Earl Street,Auckland,NZ,front\n";
    bench.write("devices.csv", devices);
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    inside::drive_virtually(async {
        let options = inside::options(Duration::from_secs(1));
        let run = inside::start_virtually(&bench, Virtual::start_now(), Duration::from_millis(50), options);
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished);
        let parked = told.iter().filter(|event| matches!(event, Event::Parked { .. })).count();
        assert_eq!(parked, 3, "until midnight, then for one minute and for two: {told:#?}");
        assert!(told.contains(&Event::Woken), "{told:#?}");
    });
    assert_eq!(bench.statistics().answers["quotaLimitExceeded"], 3);
    assert_eq!(bench.requests("putDeviceLabels"), 4);
    bench.fleetload(&["report", "1"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn of_the_steps_that_create_nothing_and_wait_for_the_quota_one_finds_out_whether_it_is_there_again() {
    // On the day, and twice after its midnight, as for a late reset.
    let devices = bench::devices(200, 1).replacen('\n', ",labels\n", 1).replace(",NZ\n", ",NZ,front\n");
    let bench = Bench::new(Scenario { rate: 0, ..service(1000, 3600) });
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &devices);
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let refused_until = Arc::new(Mutex::new(None));
    inside::drive_virtually(async {
        let clock = Virtual::start_now();
        let fate = {
            let sandbox = Arc::clone(bench.sandbox());
            let (clock, refused_until) = (clock.clone(), Arc::clone(&refused_until));
            move |path: &str| {
                let mut until = refused_until.lock().expect("no panic");
                if path.contains("putDeviceLabels") && until.is_none() {
                    *until = Some(clock.elapsed() + Duration::from_secs(3600 + 120));
                    let spent = Fault::new("putDeviceLabels", FaultKind::QuotaExceeded);
                    sandbox.change(|scenario| scenario.fault = vec![spent]).expect("a scenario");
                }
                if until.is_some_and(|until| clock.elapsed() >= until) {
                    sandbox.change(|scenario| scenario.fault.clear()).expect("a scenario");
                }
                Fate::AnsweredAfter(Duration::from_millis(300))
            }
        };
        let transport = Direct::new(bench.sandbox(), clock.clone(), fate);
        let client = inside::client_over(&bench, clock.clone(), transport);
        let mut options = inside::options(Duration::from_secs(1));
        options.limits.concurrency = 64;
        options.writing = Writing::AmongTasks(Arc::new(|| Box::pin(std::future::ready(()))));
        let (_, ending, told) = Inside::start(&bench, client, clock, options).ends().await;
        assert_eq!(ending, Ending::Finished, "{told:#?}");
    });
    let refused = bench.statistics().faults_fired["quota_exceeded"];
    assert!(
        (4..=66).contains(&refused),
        "those under way on the day, and one at each try after it: {refused}"
    );
    assert_eq!(bench.requests("putDeviceLabels"), 200 + refused);
    bench.fleetload(&["report", "1"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn with_exit_the_run_ends_with_5_and_the_restart_time_and_a_later_run_finishes_it() {
    let bench = Bench::new(service(20, 3600));
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(30));
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    assert_eq!(bench.created("company").len(), 20);
    assert!(outcome.stderr.contains("fleetload run"), "{outcome:?}");
    assert_eq!(bench.summary(1)["state"], "parked");
    assert!(bench.summary(1)["quota"]["resets_at"].is_string(), "{}", bench.summary(1)["quota"]);

    bench.sandbox().advance_clock(3700);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 30);
    bench.assert_exact(1);
}

#[test]
fn with_exit_the_run_settles_what_is_in_doubt_before_it_ends() {
    for (kind, then) in [(FaultKind::AnswerLost, "found"), (FaultKind::RequestLost, "sent again")] {
        let fault = Fault { times: Some(1), after: 1, ..Fault::new("addCompany", kind) };
        let bench = Bench::new(service(3, 3600).with_fault(fault));
        bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
        bench.write("companies.csv", &bench::companies(6));
        bench.fleetload(&["run", "companies.csv", "--concurrency", "1"]).expect_code(5);
        assert_eq!(bench.statistics().faults_fired.values().sum::<u64>(), 1, "{then}");
        assert_eq!(bench.created("company").len(), 3, "{then}");
        let counts = &bench.summary(1)["counts"];
        assert_eq!(counts["in_doubt"], 0, "{then}: {counts}");
    }
}

#[test]
fn of_rows_that_need_no_quota_a_spent_quota_says_nothing() {
    let bench = Bench::new(service(2, 3600));
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    let company = bench.created("company")[0].id.to_string();
    bench
        .write("metadata.csv", &format!("owner_kind,owner,key,value,action\ncompany,{company},tier,1,put\n"));
    bench.write("sites.csv", &bench::sites(1, 1).replace(",C0,", &format!(",{company},")));
    let imported = bench.fleetload(&["import", "metadata.csv"]).expect_code(0);
    assert!(imported.stderr.ends_with("to go on: fleetload run\n"), "{imported:?}");
    bench.fleetload(&["import", "sites.csv"]).expect_code(0);
    let state = |arguments: &[&str], code| {
        let outcome = bench.fleetload(&[&["status", "--check"], arguments].concat()).expect_code(code);
        outcome.stdout.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(state(&["2"], 5), "1 row remaining; no run is in progress");
    assert!(state(&[], 5).starts_with("3 rows remaining"));
    for import in ["1", "3"] {
        assert!(state(&[import], 5).starts_with("parked until "), "import {import}");
    }
    bench.fleetload(&["report", "2"]).expect_code(0);
    assert_eq!(bench.summary(2)["reason"], "rows-waiting");
    bench.fleetload(&["run"]).expect_code(5);
    assert_eq!(state(&["2"], 0), "finished: every row is done");
    assert!(state(&[], 5).starts_with("parked until "));
}

#[test]
fn rows_that_a_canary_keeps_back_are_not_said_to_be_sent_without_quota() {
    let bench = Bench::new(service(1, 3600));
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(1, 1));
    let own = bench::root();
    let entry = |key: &str| format!("company,{own},{key},1,put\n");
    bench.write(
        "metadata.csv",
        &format!("owner_kind,owner,key,value,action\n{}{}", entry("tier"), entry("plan")),
    );
    let run = ["run", "companies.csv", "sites.csv", "metadata.csv", "--canary", "1"];
    bench.fleetload(&run).expect_code(5);
    assert_eq!(bench.requests("putCompanyMetadata") + bench.requests("putCompanyMetadataList"), 1);
    let status = bench.fleetload(&["status", "--check"]).expect_code(5).stdout;
    assert!(status.starts_with("parked until "), "{status}");
}

#[test]
fn the_picture_of_a_run_ends_with_as_many_creations_as_the_ledger_has() {
    let bench = Bench::new(Scenario { daily_quota: 20, ..Scenario::default() });
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(30));
    let told = bench.fleetload(&["run", "companies.csv", "--json"]).expect_code(5);
    let mut objects = told.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let last = objects.rfind(|object: &serde_json::Value| object["object"] == "progress").expect("a picture");
    let shown = (&last["quota_used"], &last["quota_ceiling"], &last["quota_left"]);
    assert_eq!(shown, (&20.into(), &20.into(), &0.into()), "{last}");
    let ledger = &bench.summary(1)["quota"];
    assert_eq!((&ledger["used"], &ledger["ceiling"]), (&20.into(), &20.into()));
}

#[test]
fn a_quota_set_in_the_profile_is_kept_without_asking_the_service() {
    let bench = Bench::new(service(1000, 3600));
    bench.profile("", "rate = \"unlimited\"\ndaily_quota = 12\nreserve = 2", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(30));
    bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    assert_eq!(bench.created("company").len(), 10);
    assert!(!bench.statistics().answers.contains_key("quotaLimitExceeded"));
}

#[test]
fn status_and_its_metrics_show_the_quota_that_a_run_keeps() {
    let bench = Bench::new(service(1000, 3600));
    bench.profile("", "rate = \"unlimited\"\ndaily_quota = 12\nreserve = 2", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(30));
    let shown = |words: &str, figures: [u64; 2]| {
        let told = bench.fleetload(&["status"]).expect_code(0).stdout;
        let line = told.lines().find(|line| line.starts_with("quota of")).expect("a line");
        assert!(line.contains(words), "{line}");
        let told = bench.fleetload(&["status", "--json"]).expect_code(0).stdout;
        let objects = told.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let objects: Vec<serde_json::Value> = objects.collect();
        let object = objects.iter().find(|object| object["object"] == "quota").expect("the quota");
        for quota in [object, &objects.last().expect("a summary")["quota"]] {
            assert_eq!([&quota["ceiling"], &quota["left"]], figures.map(serde_json::Value::from).each_ref());
        }
        let metrics = bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout;
        let ceiling = metrics.lines().find(|line| line.starts_with("fleetload_quota_ceiling_creations{"));
        assert!(ceiling.is_some_and(|line| line.ends_with(&format!(" {}", figures[0]))), "{metrics}");
    };
    bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    shown(": 10 creations of 12 used", [12, 2]);
    bench.alter("daily_quota = 12", "daily_quota = 14");
    shown(": 10 creations of 14 used", [14, 4]);
    bench.alter("daily_quota = 14", "daily_quota = 8");
    shown(": 10 creations of 8 used", [8, 0]);
    // Set by an option of the last run, and by nothing else.
    bench.alter("daily_quota = 8\nreserve = 2", "");
    let outcome = bench.fleetload(&["run", "--daily-quota", "15"]).expect_code(5);
    shown(": 15 creations of 15 used", [15, 0]);
    // What is typed next keeps to what was typed before.
    let again = "to go on: fleetload run --daily-quota 15\n";
    for told in [outcome, bench.fleetload(&["status"]).expect_code(0)] {
        assert!(told.stderr.contains(again), "{}", told.stderr);
    }
}

/// The service has created all of them, and answered three.
#[cfg(unix)]
#[test]
fn what_was_under_way_when_a_run_ended_at_once_is_used_and_not_left_wherever_the_quota_is_shown() {
    for is_killed in [true, false] {
        let silent = Fault::new("addCompany", FaultKind::StallAfter).after(3);
        let bench = Bench::new(Scenario { daily_quota: 100, ..Scenario::default() }.with_fault(silent));
        bench.profile(
            "metrics_file = \"m.prom\"",
            "rate = \"unlimited\"\nconcurrency = 24\ndaily_quota = 100",
            "",
        );
        bench.write("companies.csv", &bench::companies(27));
        let mut run = bench.start(&["run", "companies.csv", "--json"]);
        let summary = || bench.fleetload(&["status", "--json"]).summary();
        run.until(|| bench.created("company").len() == 27 && summary()["quota"]["confirmed"] == 3);
        assert_eq!(summary()["quota"]["under_way"], 24);
        if is_killed {
            run.kill();
        } else {
            run.signal("-INT");
            run.hears(&["\"draining\""]);
            run.signal("-INT");
            let told = run.ended().expect_code(5).stdout;
            let last = told.lines().rfind(|line| line.contains("\"progress\"")).expect("a picture");
            let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
            assert_eq!([&last["quota_used"], &last["quota_left"]], [27, 73], "{last}");
        }
        let used = bench.statistics().quota_used.values().sum::<u64>();
        assert_eq!(used, 27);

        let told = bench.fleetload(&["status"]).expect_code(0).stdout;
        let line = told.lines().find(|line| line.starts_with("quota of")).expect("a line");
        let words =
            ": 27 creations of 100 used (3 confirmed, 0 refused, 24 not known to be counted), 73 left; ";
        assert!(line.contains(words), "{line}");
        bench.fleetload(&["report", "1"]).expect_code(0);
        let told = bench.fleetload(&["status", "--json"]).expect_code(0).stdout;
        let objects = told.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let objects: Vec<serde_json::Value> = objects.collect();
        let object = objects.iter().find(|object| object["object"] == "quota").expect("the quota");
        for quota in [object, &objects.last().expect("a summary")["quota"], &bench.summary(1)["quota"]] {
            let figures = ["used", "confirmed", "doubtful", "under_way"].map(|figure| quota[figure].as_u64());
            assert_eq!(figures, [27, 3, 24, 0].map(Some), "{quota}");
        }
        assert_eq!(object["left"], 73);
        let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
        assert!(page.contains("data-label=\"Used\">27</td>"), "{page}");
        let metrics = bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout;
        let in_metrics = |text: &str| {
            let creations = text.lines().filter(|line| line.starts_with("fleetload_quota_creations{"));
            creations.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>()
        };
        assert_eq!(in_metrics(&metrics), 27, "{metrics}");
        if !is_killed {
            let file = std::fs::read_to_string(bench.path("m.prom")).expect("the file of metrics");
            assert_eq!(in_metrics(&file), 27, "{file}");
        }
        // Nothing of that changes when the next run takes it up.
        bench.clear_faults();
        bench.fleetload(&["run"]).expect_code(0);
        assert_eq!(summary()["quota"]["used"], 27);
    }
}

/// Every figure of creations used that a run told as JSON, in order.
fn told_used(stdout: &str) -> Vec<u64> {
    let objects = stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let used = objects.filter_map(|object| match object["object"].as_str() {
        Some("progress") => object["quota_used"].as_u64(),
        Some("event") if object["event"] == "quota_used" => object["used"].as_u64(),
        _ => None,
    });
    used.collect()
}

#[test]
fn the_first_progress_of_a_run_shows_what_was_used_of_the_day_before_it() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "daily_quota = 9", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.write("sites.csv", &bench::sites(2, 3));
    let told = bench.fleetload(&["run", "sites.csv", "--json"]).expect_code(0).stdout;
    let mut objects = told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let first = objects.find(|object| object["object"] == "progress").expect("a picture");
    let figures = ["used", "confirmed", "refused", "doubtful", "ceiling", "left"]
        .map(|figure| first[format!("quota_{figure}")].as_u64());
    assert_eq!(figures, [3, 3, 0, 0, 9, 6].map(Some), "{first}");
    assert_eq!(first["requests"], 0, "before anything was sent");
}

#[test]
fn the_ledger_counts_refusals_as_the_service_does_and_no_figure_runs_backwards() {
    let bench = Bench::new(Scenario { daily_quota: 60, latency_ms: [1, 40], ..Scenario::default() });
    bench.profile("", "", "on_quota = \"exit\"\nin_doubt = \"settle\"");
    bench
        .sandbox()
        .change(|scenario| {
            scenario.fault = vec![
                Fault { probability: 0.2, ..Fault::new("addDevice", FaultKind::NoDataFound) },
                Fault { probability: 0.1, ..Fault::new("addDevice", FaultKind::InvalidData) },
                Fault { probability: 0.1, ..Fault::new("creations", FaultKind::RateLimitExceeded) },
            ];
        })
        .expect("a consistent scenario");
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(120, 3));
    let told = bench.fleetload(&["run", "companies.csv", "devices.csv", "--json"]).expect_code(5);
    let statistics = bench.statistics();
    for fault in ["no_data_found", "invalid_data", "rate_limit_exceeded"] {
        assert!(statistics.faults_fired[fault] > 0, "{fault} did not fire");
    }
    assert!(statistics.answers["quotaLimitExceeded"] > 0);
    let there = statistics.quota_used.values().sum::<u64>();

    let used = told_used(&told.stdout);
    assert!(used.is_sorted(), "{used:?}");
    assert_eq!(used.last(), Some(&there));
    let told = bench.fleetload(&["status", "--json"]).expect_code(0).stdout;
    let mut told = told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let ledger = told.find(|object| object["object"] == "quota").expect("the quota");
    let summary = told.find(|object| object["object"] == "summary").expect("a summary")["quota"].clone();
    for quota in [&ledger, &summary, &bench.summary(1)["quota"]] {
        assert_eq!(quota["used"], there, "{quota}");
        assert_eq!(quota["ceiling"], there, "{quota}");
        let sum =
            ["confirmed", "refused", "doubtful"].map(|figure| quota[figure].as_u64().expect("a number"));
        assert_eq!(sum.iter().sum::<u64>(), there, "{quota}");
        assert!(sum[1] > 0 && sum[2] == 0, "{quota}");
        assert_eq!((&quota["under_way"], &quota["left"]), (&0.into(), &0.into()));
    }
    assert_eq!(
        ledger["confirmed"].as_u64(),
        Some(bench.ledger().iter().filter(|entry| entry.charged).count() as u64)
    );
}

#[test]
fn a_quota_that_others_have_spent_teaches_nothing() {
    let latency = Fault { ms: 1_000, ..Fault::new("addCompany", FaultKind::Latency) };
    let bench = Bench::new(Scenario { rate: 0, daily_quota: 0, ..Scenario::default() }.with_fault(latency));
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(4));
    bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    assert!(bench.requests("addCompany") > 1, "several were under way when the first was refused");
    assert_eq!(bench.created("company").len(), 0);
    let status = bench.fleetload(&["status", "--json"]).expect_code(0);
    assert!(!status.stdout.contains("\"ceiling\":1"), "{}", status.stdout);
    // The next run knows that it is spent: one creation finds out whether it still is.
    let before = bench.requests("addCompany");
    bench.fleetload(&["run"]).expect_code(5);
    assert_eq!(bench.requests("addCompany"), before + 1);
    let plan = bench.fleetload(&["plan", "companies.csv", "--rate", "98"]).expect_code(0);
    assert!(plan.stdout.contains("not known: today's quota is spent, and how many"), "{}", plan.stdout);
}

#[test]
fn a_quota_that_is_raised_on_the_same_day_is_not_shown_as_overdrawn() {
    let bench = Bench::new(Scenario { daily_quota: 20, ..Scenario::default() });
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(50));
    bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    let shown = || bench.fleetload(&["status"]).expect_code(0).stdout;
    let quota =
        |told: String| told.lines().find(|line| line.starts_with("quota of")).expect("a line").to_owned();
    assert!(
        quota(shown())
            .contains("20 creations of 20 used (20 confirmed, 0 refused, 0 not known to be counted), 0 left")
    );
    bench.sandbox().change(|scenario| scenario.daily_quota = 1_000).expect("a consistent scenario");
    bench.fleetload(&["run"]).expect_code(0);
    let shown = quota(shown());
    assert!(shown.contains("(UTC): 50 creations used (50 confirmed"), "{shown}");
    assert!(bench.summary(1)["quota"]["ceiling"].is_null(), "{}", bench.summary(1)["quota"]);
}

#[test]
fn creations_whose_answers_were_lost_are_confirmed_once_they_are_found() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "rate = \"unlimited\"", "");
    bench
        .sandbox()
        .change(|scenario| {
            scenario.fault = vec![Fault::new("addCompany", FaultKind::AnswerLost).times(3)];
        })
        .expect("a consistent scenario");
    bench.write("companies.csv", &bench::companies(10));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 3);
    let quota = &bench.summary(1)["quota"];
    assert_eq!(bench.counts(1)["adopted"], 3);
    let figures =
        ["used", "confirmed", "refused", "doubtful"].map(|figure| quota[figure].as_u64().expect("a number"));
    assert_eq!(figures, [10, 10, 0, 0]);
    assert_eq!(bench.statistics().quota_used.values().sum::<u64>(), 10);
}

#[test]
fn a_person_who_has_a_spent_quota_tried_is_told_at_once_that_it_is_still_spent() {
    let bench = Bench::new(service(20, 5 * 3600));
    bench.write("companies.csv", &bench::companies(30));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let is_parked = |event: &Event| matches!(event, Event::Parked { .. });
    inside::drive_virtually(async {
        let (clock, options) = (Virtual::start_now(), inside::options(Duration::from_secs(1)));
        // Long enough that what is left is counted while the creation is tried.
        let mut run = inside::start_virtually(&bench, clock.clone(), Duration::from_secs(3), options);
        run.hears("parked", is_parked).await;
        let (side, parked) = (inside::journal(&bench), clock.elapsed());
        let noted = || {
            let run = side.last_run().expect("readable").expect("a run");
            let remaining = side.noted_remaining(run.run).expect("readable").expect("noted");
            (remaining.parked_until.is_some(), run.waits_until(End::Quota, clock.now()).is_some())
        };
        clock.sleep_until(parked + Duration::from_secs(100)).await;
        assert_eq!(noted(), (true, true), "whoever asks the journal sees it");
        let sent = bench.requests("addCompany");
        inside::journal(&bench).ask_now(clock.now()).expect("a journal").expect("a run under way");
        run.hears("asked", |event| matches!(event, Event::Note { .. })).await;
        let (heard, tried) = (run.told.len(), clock.elapsed());
        run.hears("still parked", is_parked).await;
        assert_eq!(clock.elapsed() - tried, Duration::from_secs(3), "with the answer");
        assert_eq!(bench.requests("addCompany"), sent + 1, "one was tried");
        let believed = |event: &Event| match event {
            Event::Woken => false,
            Event::Remaining(facts) => facts.parked_until.is_some(),
            _ => true,
        };
        assert!(run.told[heard..].iter().all(believed), "{:#?}", &run.told[heard..]);
        assert_eq!(noted(), (true, true));
        let (_, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished);
        assert_eq!(told.iter().filter(|event| is_parked(event)).count(), 2, "{told:#?}");
    });
    assert_eq!(bench.created("company").len(), 30);
    bench.fleetload(&["report", "1"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn an_update_that_is_refused_for_the_quota_teaches_nothing_about_creations() {
    let bench = Bench::new(service(1000, 3600));
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let refused = Fault::new("updateCompany", FaultKind::QuotaExceeded).times(1);
    bench.sandbox().change(|scenario| scenario.fault = vec![refused]).expect("a consistent scenario");
    bench.write("companies.csv", "action,key,phone\nupdate,C0,+64 9 555 0199\n");
    let told = bench.fleetload(&["run", "companies.csv"]).expect_code(5).stderr;
    assert_eq!(bench.statistics().faults_fired["quota_exceeded"], 1);
    assert!(told.contains("today's quota is spent; rows that need it wait until"), "{told}");
    let status = bench.fleetload(&["status", "--json"]).expect_code(0);
    assert_eq!(status.summary()["quota"]["ceiling"], serde_json::Value::Null, "{}", status.stdout);
    assert_eq!(bench.summary(2)["quota"]["ceiling"], serde_json::Value::Null, "{}", bench.summary(2));
    bench.fleetload(&["run"]).expect_code(0);
}
