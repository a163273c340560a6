//! The file of a run, and `status --metrics`.

use super::open_metrics::{Metrics, whole};
use super::{of_status, promtool, written};
use crate::bench::{self, Bench, CLIENT, SECRET};
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// A run of companies and devices that meets refusals and lost answers, with its figures in `m.prom`.
fn an_eventful_run() -> Bench {
    let scenario = Scenario { latency_ms: [1, 20], ..Scenario::default() };
    let bench = Bench::new(
        scenario
            .with_fault(Fault { probability: 0.2, ..Fault::new("addDevice", FaultKind::InvalidData) })
            .with_fault(Fault { times: Some(4), ..Fault::new("addDevice", FaultKind::RateLimitExceeded) })
            .with_fault(Fault::new("addCompany", FaultKind::AnswerLost).times(1)),
    );
    bench.profile("", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(5));
    bench.write("devices.csv", &bench::devices(60, 5));
    bench.fleetload(&["run", "companies.csv", "devices.csv", "--metrics-file", "m.prom"]).expect_code(4);
    for fault in ["invalid_data", "rate_limit_exceeded", "answer_lost"] {
        assert!(bench.statistics().faults_fired[fault] > 0, "{fault} did not fire");
    }
    bench
}

#[test]
fn the_figures_of_a_run_agree_with_the_ledger_of_the_service_and_the_rows_of_the_journal() {
    let bench = an_eventful_run();
    let (metrics, statistics) = (written(&bench, "m.prom"), bench.statistics());

    let requests = metrics.by("fleetload_requests_total", "operation");
    for operation in ["addCompany", "addDevice", "getDeviceByMac"] {
        assert_eq!(requests.get(operation), statistics.requests.get(operation), "{operation}");
        assert!(requests[operation] > 0, "{operation}");
    }
    for (operation, sent) in &requests {
        assert!(statistics.requests[operation] >= *sent, "{operation}: {sent}");
        assert_eq!(metrics.sum("fleetload_answers_total", &[("operation", operation)]), *sent, "{operation}");
    }
    let answered =
        |class| metrics.sum("fleetload_answers_total", &[("operation", "addDevice"), ("class", class)]);
    assert_eq!(answered("throttled"), 4);
    assert_eq!(answered("succeeded"), bench.created("device").len() as u64);
    assert_eq!(answered("rejected"), statistics.faults_fired["invalid_data"]);
    assert_eq!(metrics.sum("fleetload_answers_total", &[("class", "doubtful")]), 1, "the lost answer");
    let in_time = metrics.sum("fleetload_answer_latency_seconds_count", &[("operation", "addDevice")]);
    assert_eq!(in_time, requests["addDevice"]);
    let of_companies = metrics.sum("fleetload_answer_latency_seconds_count", &[("operation", "addCompany")]);
    assert_eq!(of_companies, requests["addCompany"] - 1, "an answer that is lost has no latency");

    assert_eq!(metrics.by("fleetload_rows", "state"), bench.counts(1));
    assert_eq!(metrics.by("fleetload_rows", "kind")["devices"], 60);
    let quota = metrics.by("fleetload_quota_creations", "outcome");
    assert_eq!(quota.values().sum::<u64>(), statistics.quota_used[CLIENT]);
    assert_eq!(quota["refused"], statistics.faults_fired["invalid_data"]);

    assert_eq!(metrics.value("fleetload_last_run_exit_code"), Some(4.0));
    assert_eq!(metrics.value("fleetload_run_in_progress"), Some(0.0));
    assert_eq!(metrics.value("fleetload_last_success_timestamp_seconds"), None);
    let ended = metrics.value("fleetload_last_run_ended_timestamp_seconds");
    assert!(ended >= metrics.value("fleetload_last_run_started_timestamp_seconds") && ended.is_some());
    let (info, _) = &metrics.samples("fleetload_info")[0];
    assert_eq!((info["account"].as_str(), info["profile"].as_str()), (CLIENT, "bench"));
    assert_eq!((info["service"].as_str(), info["rehearsal"].as_str()), (&*bench.base_url(), "false"));
}

#[test]
fn status_has_the_same_figures_of_the_journal_and_none_of_a_run() {
    let bench = an_eventful_run();
    let (of_run, of_journal) = (written(&bench, "m.prom"), of_status(&bench));
    for name in [
        "fleetload_rows",
        "fleetload_quota_creations",
        "fleetload_last_run_exit_code",
        "fleetload_last_run_ended_timestamp_seconds",
        "fleetload_last_row_finished_timestamp_seconds",
        "fleetload_info",
    ] {
        assert_eq!(of_run.samples(name), of_journal.samples(name), "{name}");
        assert!(!of_run.samples(name).is_empty(), "{name}");
    }
    assert!(of_journal.samples("fleetload_requests_total").is_empty());
    assert!(of_journal.samples("fleetload_answer_latency_seconds_count").is_empty());
    bench.clear_faults();
    bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    let after = of_status(&bench);
    assert_eq!(after.value("fleetload_last_run_exit_code"), Some(0.0));
    let succeeded = after.value("fleetload_last_success_timestamp_seconds");
    assert_eq!(succeeded, after.value("fleetload_last_run_ended_timestamp_seconds"));
    let bytes = whole(after.value("fleetload_journal_size_bytes").expect("a size"));
    assert!(bytes >= std::fs::metadata(bench.path("fleetload.db")).unwrap().len(), "{bytes}");
}

#[test]
fn the_file_is_readable_by_others_and_holds_no_secret_and_no_value_of_a_row() {
    let bench = an_eventful_run();
    let text = std::fs::read_to_string(bench.path("m.prom")).unwrap();
    for hidden in [SECRET, "Customer", "Till", "Queen", "C1", "help@", "00:1a", "m.prom", "companies.csv"] {
        assert!(!text.contains(hidden), "{hidden}:\n{text}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(bench.path("m.prom")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
    }
    let beside = bench::below(&bench.path(""))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "part"));
    assert_eq!(beside.count(), 0);
}

#[test]
fn promtool_reads_both_and_misses_only_the_help_of_counters_which_the_older_form_names_otherwise() {
    let bench = an_eventful_run();
    let of_status = bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout;
    for text in [std::fs::read_to_string(bench.path("m.prom")).unwrap(), of_status] {
        let Some((said, code)) = promtool(&["check", "metrics"], &text) else { return };
        let missed: Vec<&str> = said.lines().collect();
        for line in &missed {
            let counter = line.strip_suffix("_total no help text").unwrap_or_else(|| panic!("{said}"));
            assert!(text.contains(&format!("# HELP {counter} ")), "{said}");
        }
        assert_eq!(code, Some(if missed.is_empty() { 0 } else { 3 }), "{said}");
    }
}

#[test]
fn while_a_run_is_parked_the_file_and_status_say_since_when_and_until_when() {
    let bench = Bench::new(Scenario { daily_quota: 4, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(10));
    let mut run = bench.start(&["run", "companies.csv", "--metrics-file", "m.prom"]);
    let parked = || {
        let text = std::fs::read_to_string(bench.path("m.prom")).unwrap_or_default();
        text.contains("\nfleetload_parked_since_timestamp_seconds{").then(|| Metrics::parse(&text))
    };
    run.until(|| parked().is_some());
    let metrics = parked().expect("it is parked");
    assert_eq!(metrics.value("fleetload_run_in_progress"), Some(1.0));
    assert!(
        metrics.value("fleetload_parked_until_timestamp_seconds")
            > metrics.value("fleetload_written_timestamp_seconds")
    );
    assert_eq!(metrics.value("fleetload_last_run_exit_code"), None, "none has ended");
    let status = of_status(&bench);
    assert_eq!(status.value("fleetload_run_in_progress"), Some(1.0));
    run.kill();
    let status = of_status(&bench);
    assert_eq!(status.value("fleetload_run_in_progress"), Some(0.0));
    assert_eq!(status.value("fleetload_last_run_exit_code"), Some(5.0), "it was killed");
    assert_eq!(written(&bench, "m.prom").value("fleetload_run_in_progress"), Some(1.0), "as it was left");
    bench.fleetload(&["run", "--on-quota", "exit", "--metrics-file", "m.prom"]).expect_code(5);
    let metrics = written(&bench, "m.prom");
    let (since, until) =
        ("fleetload_parked_since_timestamp_seconds", "fleetload_parked_until_timestamp_seconds");
    assert!(metrics.value(since).is_some() && metrics.value(since) < metrics.value(until), "{metrics:?}");
    // What was under way when it was killed counts as used, so that the ceiling may be learned as more than 4.
    let ceiling = bench.summary(1)["quota"]["ceiling"].as_f64();
    assert!(ceiling >= Some(4.0), "{metrics:?}");
    assert_eq!(metrics.value("fleetload_quota_ceiling_creations"), ceiling);
    assert_eq!(metrics.value("fleetload_last_run_exit_code"), Some(5.0));
}

#[test]
fn rows_in_doubt_and_on_hold_have_the_time_of_the_oldest() {
    let lost = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::Error500Before) };
    let bench = Bench::new(Scenario::default().with_fault(lost));
    bench.write("companies.csv", &bench::companies(3));
    bench
        .fleetload(&["run", "companies.csv", "--in-doubt", "hold", "--metrics-file", "m.prom"])
        .expect_code(8);
    let metrics = written(&bench, "m.prom");
    assert_eq!(metrics.sum("fleetload_rows", &[("state", "held")]), 1);
    assert!(metrics.value("fleetload_oldest_held_row_timestamp_seconds").is_some());
    assert_eq!(metrics.value("fleetload_oldest_in_doubt_row_timestamp_seconds"), None);
    assert_eq!(metrics.value("fleetload_oldest_waiting_row_timestamp_seconds"), None);
    assert_eq!(metrics.value("fleetload_last_run_exit_code"), Some(8.0));
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_anything_is_imported_or_sent() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    for (file, why) in [("missing/m.prom", "No such file"), (".", "directory")] {
        let outcome = bench.fleetload(&["run", "companies.csv", "--metrics-file", file]).expect_code(2);
        assert!(outcome.stderr.contains("the metrics file"), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains(why) && outcome.stderr.contains("--metrics-file"),
            "{}",
            outcome.stderr
        );
    }
    assert!(bench.ledger().is_empty() && !bench.path("fleetload.db").exists());
    assert!(bench.statistics().requests.is_empty(), "{:?}", bench.statistics().requests);
}

#[test]
fn only_a_metrics_file_is_replaced_and_the_journal_and_what_belongs_to_it_never() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.write("empty.prom", "");
    let run = |file: &str, code: i32| {
        bench.fleetload(&["run", "companies.csv", "--metrics-file", file]).expect_code(code).stderr
    };
    // Before there is a journal, its name is kept free as well.
    for own in ["fleetload.db", "./fleetload.db", "fleetload.db.lock", "fleetload.db-wal"] {
        let told = run(own, 2);
        assert!(told.contains("is the journal itself or belongs to it"), "{told}");
        assert!(told.contains("--metrics-file"), "{told}");
    }
    let refused = |file: &str, arguments: &[&str]| {
        let before = std::fs::read(bench.path(file)).unwrap();
        let told = bench.fleetload(&[&["run", "companies.csv"], arguments].concat()).expect_code(2).stderr;
        assert!(told.contains(&format!("{file} already exists and is not a metrics file")), "{told}");
        assert_eq!(std::fs::read(bench.path(file)).unwrap(), before, "{file}");
    };
    refused("companies.csv", &["--metrics-file", "companies.csv"]);
    refused("fleetload.toml", &["--metrics-file", "fleetload.toml"]);
    assert!(bench.ledger().is_empty() && !bench.path("fleetload.db").exists());
    // What keeps a run from beginning before that replaces nothing either.
    let sheet = std::fs::read(bench.path("companies.csv")).unwrap();
    let told = ["run", "companies.csv", "--until", "99", "--metrics-file", "companies.csv"];
    let told = bench.fleetload(&told).expect_code(2).stderr;
    assert!(told.contains("companies.csv already exists and is not a metrics file"), "{told}");
    assert_eq!(std::fs::read(bench.path("companies.csv")).unwrap(), sheet);

    for _ in 0..2 {
        run("empty.prom", 0);
        assert_eq!(written(&bench, "empty.prom").value("fleetload_last_run_exit_code"), Some(0.0));
    }
    let journal = std::fs::read(bench.path("fleetload.db")).unwrap();
    run("fleetload.db", 2);
    bench.profile("metrics_file = \"fleetload.db\"", "", "");
    bench.fleetload(&["run"]).expect_code(2);
    let doctor = bench.fleetload(&["doctor"]).expect_code(2).stdout;
    assert!(doctor.contains("wrong  metrics file: fleetload.db is the journal itself"), "{doctor}");
    assert_eq!(std::fs::read(bench.path("fleetload.db")).unwrap()[..16], journal[..16]);
    bench.profile("metrics_file = \"companies.csv\"", "", "");
    refused("companies.csv", &[]);
    bench.assert_exact(1);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_later_is_reported_once_and_the_run_goes_on() {
    let bench = Bench::new(Scenario { daily_quota: 4, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(10));
    std::fs::create_dir(bench.path("m")).unwrap();
    let mut run = bench.start(&["run", "companies.csv", "--metrics-file", "m/m.prom"]);
    run.until(|| {
        let text = std::fs::read_to_string(bench.path("m/m.prom")).unwrap_or_default();
        text.contains("\nfleetload_parked_since_timestamp_seconds{")
    });
    // A file under way may be there for a moment.
    run.until(|| std::fs::remove_dir_all(bench.path("m")).is_ok());
    run.signal("-INT");
    let outcome = run.ended();
    assert_eq!(outcome.code, 5, "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("warning: the metrics file").count(), 1, "{}", outcome.stderr);
    assert!(bench.path("reports/1/summary.json").exists());
    assert_eq!(bench.created("company").len(), 4);
}

#[test]
fn a_command_that_could_not_begin_writes_its_exit_code() {
    let bench = Bench::new(Scenario::default());
    bench.write("wrong.csv", "key,company\nsecret-value,\n");
    bench.fleetload(&["run", "wrong.csv", "--kind", "devices", "--metrics-file", "m.prom"]).expect_code(3);
    let metrics = written(&bench, "m.prom");
    assert_eq!(metrics.value("fleetload_last_run_exit_code"), Some(3.0));
    assert!(metrics.samples("fleetload_rows").is_empty());
    assert!(!bench.path("fleetload.db").exists());
}

#[test]
fn a_command_that_could_not_begin_is_the_last_one_of_a_journal_that_is_there() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let exit_code = || {
        let text = bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout;
        text.lines().find(|line| line.starts_with("fleetload_last_run_exit_code")).map(str::to_owned)
    };
    let ends_with = |code: &str| assert!(exit_code().is_some_and(|line| line.ends_with(code)), "{code}");
    ends_with(" 0");
    bench.write("wrong.csv", "key,company\nsecret-value,\n");
    bench.fleetload(&["run", "wrong.csv", "--kind", "devices"]).expect_code(3);
    ends_with(" 3");
    // Another journal has the account.
    let stall = Fault { ms: 3_600_000, ..Fault::new("addCompany", FaultKind::Latency) };
    bench.sandbox().change(|scenario| scenario.fault = vec![stall]).expect("a consistent scenario");
    bench.write("more.csv", &bench::companies(3));
    let other = ["run", "more.csv", "--kind", "companies", "--journal", "other.db", "--reports", "other"];
    let mut first = bench.start(&[&other[..], &["--json"]].concat());
    first.hears(&["\"progress\""]);
    bench.fleetload(&["run"]).expect_code(6);
    ends_with(" 6");
}

#[test]
fn whatever_keeps_a_run_from_beginning_is_the_exit_code_of_its_file() {
    let bench = Bench::new(Scenario::default());
    bench.profile("metrics_file = \"m.prom\"", "", "");
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).unwrap();
    bench.write("companies.csv", &bench::companies(2));
    let run = ["run", "companies.csv"];
    bench.fleetload(&run).expect_code(0);
    let success = written(&bench, "m.prom").value("fleetload_last_success_timestamp_seconds");
    assert!(success.is_some());
    let cannot_begin = |profile: &str, arguments: &[&str]| {
        std::fs::remove_file(bench.path("m.prom")).unwrap();
        bench.write("fleetload.toml", profile);
        bench.fleetload(&[&run[..], arguments].concat()).expect_code(2);
        let metrics = written(&bench, "m.prom");
        for metrics in [&metrics, &of_status(&bench)] {
            assert_eq!(metrics.value("fleetload_last_run_exit_code"), Some(2.0), "{arguments:?} {profile}");
            assert_eq!(metrics.value("fleetload_last_success_timestamp_seconds"), success);
        }
        assert_eq!(metrics.samples("fleetload_info")[0].0["profile"], "bench");
    };
    cannot_begin(&profile, &["--until", "99"]);
    cannot_begin(&profile.replace("metrics_file", "confirm = true\nmetrics_file"), &[]);
    cannot_begin(&profile.replace("client_secret_file = \"secret\"", "client_secret_file = \"gone\""), &[]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_the_exit_code_of_the_file_and_of_the_journal() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    let ends = [&["run", "companies.csv"][..], &["run", "--json"]].map(|arguments| {
        let to = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let arguments = [arguments, &["--metrics-file", "m.prom"]].concat();
        let run = bench.command(&arguments).stdout(to).output().expect("the binary starts");
        assert_eq!(run.status.code(), Some(1));
        [written(&bench, "m.prom"), of_status(&bench)].map(|metrics| {
            let success = metrics.value("fleetload_last_success_timestamp_seconds");
            (metrics.value("fleetload_last_run_exit_code"), success)
        })
    });
    assert_eq!(ends, [[(Some(1.0), None); 2]; 2]);
}

#[test]
fn the_profile_can_name_the_file_and_a_rehearsal_does_not_write_it() {
    let bench = Bench::new(Scenario::default());
    bench.profile("metrics_file = \"m.prom\"", "", "");
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv", "--sandbox", "--journal", "r.db"]).expect_code(0);
    assert!(!bench.path("m.prom").exists());
    let rehearsal = ["run", "companies.csv", "--sandbox", "--journal", "r.db", "--metrics-file", "r.prom"];
    bench.fleetload(&rehearsal).expect_code(0);
    let (info, _) = &written(&bench, "r.prom").samples("fleetload_info")[0].clone();
    assert_eq!(info["rehearsal"], "true");
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(written(&bench, "m.prom").value("fleetload_last_run_exit_code"), Some(0.0));
}
