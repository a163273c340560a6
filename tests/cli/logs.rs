//! What an unattended run leaves in its log: each line has its time and level, or its priority for the journal of systemd.

use std::fs::File;
use std::process::Command;

use serde_json::Value;

use crate::bench::{self, Bench, Outcome};
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// The binary as a scheduler starts it: nothing says how messages are to look.
fn unattended(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(arguments);
    command.env_remove("FLEETLOAD_LOG_FORMAT");
    command
}

fn ended(mut command: Command) -> Outcome {
    Outcome::of(command.output().expect("the binary starts"))
}

/// A time in RFC 3339, UTC.
fn is_time(word: &str) -> bool {
    word.ends_with('Z') && word.parse::<jiff::Timestamp>().is_ok()
}

#[track_caller]
fn assert_dated(text: &str, levels: &[&str]) {
    assert!(!text.is_empty());
    for line in text.lines() {
        let (time, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        let level = rest.split(' ').next().unwrap_or_default();
        assert!(is_time(time) && levels.contains(&level), "{line}\n{text}");
    }
}

#[test]
fn every_line_of_the_documented_cron_line_has_its_date_and_its_level() {
    let bench = Bench::new(Scenario { daily_quota: 4, clock_offset_seconds: -600, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(10));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let log = bench.path("nightly.log");
    for _night in 0..2 {
        let mut command =
            unattended(&bench, &["run", "--quiet", "--on-quota", "exit", "--until", &bench::at_the_latest()]);
        let file = File::options().append(true).create(true).open(&log).expect("a log");
        assert_eq!(command.stderr(file).output().expect("it starts").status.code(), Some(5));
    }
    let text = std::fs::read_to_string(&log).expect("a log");
    assert_dated(&text, &["info", "warning", "error"]);
    assert_eq!(text.matches("run ended: parked (quota), exit code 5").count(), 2, "{text}");
    assert_eq!(text.matches("run ended: ").count(), 2, "{text}");
    // What is wrong meanwhile is kept as well.
    assert!(text.contains(" warning this machine's clock is "), "{text}");
}

#[test]
fn progress_warnings_errors_and_mistakes_of_the_command_line_have_their_time_once() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    let outcome = ended(unattended(&bench, &["run", "companies.csv", "-vv"])).expect_code(0);
    assert_dated(&outcome.stderr, &["info", "warning", "debug"]);
    assert!(outcome.stderr.contains("3 of 3 jobs done"), "{}", outcome.stderr);
    for line in outcome.stderr.lines() {
        let times = line.split(' ').filter(|word| is_time(word) && word.contains('T')).count();
        assert_eq!(times, 1, "{line}");
    }
    let mut stranger = unattended(&bench, &["status"]);
    stranger.env("FLEETLOAD_RATES", "3");
    let outcome = ended(stranger).expect_code(0);
    assert!(
        outcome.stderr.contains(" warning the environment variable FLEETLOAD_RATES"),
        "{}",
        outcome.stderr
    );
    for arguments in [
        &["status", "--journal", "missing.db"][..],
        &["run", "--nonsense"],
        &["run", "--quiet", "--journal", "missing.db"],
    ] {
        let outcome = ended(unattended(&bench, arguments));
        assert_dated(&outcome.stderr, &["error", "info"]);
        assert!(outcome.stderr.contains(" error   "), "{}", outcome.stderr);
    }
}

#[test]
fn the_log_of_what_happens_to_each_row_has_no_requests() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    let told = bench.fleetload(&["run", "companies.csv", "-v"]).expect_code(0).stderr;
    let logged: Vec<&str> = told.lines().filter(|line| line.contains(" INFO ")).collect();
    let ended = logged.iter().filter(|line| line.contains(" moved job=") && line.ends_with(" to=created"));
    assert_eq!(ended.count(), 2, "{told}");
    assert!(!logged.iter().any(|line| line.contains("operation")), "{told}");
}

#[test]
fn every_command_logs_its_requests_when_it_is_asked_to() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let commands: [&[&str]; 6] = [
        &["run", "companies.csv", "-vv"],
        &["find", "companies", "Customer", "-vv"],
        &["call", "listCompanies", "-vv"],
        &["export", "companies", "--out", "companies.jsonl", "-vv"],
        &["plan", "companies.csv", "--refresh", "-vv"],
        &["doctor", "-vv"],
    ];
    for arguments in commands {
        let requests = || bench.statistics().requests.values().sum::<u64>();
        let before = requests();
        let told = bench.fleetload(arguments).expect_code(0).stderr;
        for word in [" sent operation=", " answered operation="] {
            let logged = told.lines().filter(|line| line.contains("DEBUG") && line.contains(word)).count();
            assert_eq!(logged as u64, requests() - before, "{arguments:?}, {word}: {told}");
        }
        assert!(requests() > before, "{arguments:?}");
    }
}

#[test]
fn with_log_format_json_each_line_is_a_record() {
    let bench = Bench::new(Scenario::default().with_fault(Fault::new("auth", FaultKind::InvalidClient)));
    bench.write("companies.csv", &bench::companies(1));
    for arguments in
        [&["run", "companies.csv", "--log-format", "json"][..], &["run", "--nonsense", "--log-format=json"]]
    {
        let outcome = ended(unattended(&bench, arguments));
        let records: Vec<Value> =
            outcome.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(records.iter().any(|record| record["level"] == "error"), "{}", outcome.stderr);
        for record in &records {
            assert!(is_time(record["time"].as_str().expect("a time")), "{record}");
            assert!(
                record["message"].is_string() && record.as_object().expect("fields").len() == 3,
                "{record}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn in_the_journal_of_systemd_a_line_has_its_priority_and_no_time_of_its_own() {
    use std::os::unix::fs::MetadataExt;
    let bench = Bench::new(Scenario::default());
    let log = bench.path("journal");
    let run = |stream: &dyn Fn(&File) -> String| {
        let file = File::create(&log).expect("a file");
        let mut command = unattended(&bench, &["status", "--journal", "missing.db"]);
        command.env("JOURNAL_STREAM", stream(&file)).stderr(file);
        assert_eq!(command.output().expect("it starts").status.code(), Some(6));
        std::fs::read_to_string(&log).expect("a log")
    };
    let own = |file: &File| {
        let found = file.metadata().expect("a file");
        format!("{}:{}", found.dev(), found.ino())
    };
    let text = run(&own);
    assert!(text.starts_with("<3>") && text.lines().all(|line| line.starts_with('<')), "{text}");
    assert!(!text.split([' ', '>']).any(is_time), "{text}");
    // The variable was inherited from another unit: standard error is elsewhere.
    assert_dated(&run(&|_| "1:1".to_owned()), &["error", "info"]);
}

#[test]
fn news_of_a_row_names_its_place_key_id_and_code_and_can_be_omitted() {
    let refused = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::InvalidData) };
    let bench = Bench::new(Scenario::default().with_fault(refused));
    bench.write("companies.csv", &bench::companies(3));
    let news = |arguments: &[&str]| -> Vec<Value> {
        let told = bench.fleetload(&[&["run", "companies.csv", "--json"], arguments].concat()).stdout;
        let objects = told.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        objects.filter(|object| object["object"] == "event").collect()
    };
    let told = news(&[]);
    let rows = bench.results(1);
    for row in &rows {
        let of_row = |event: &&Value| event["event"] == "moved" && event["job"] == row["job"];
        let last = told.iter().rfind(of_row).expect("its last news");
        for field in ["import", "sheet", "row", "name", "id", "code"] {
            assert_eq!(last[field], row[field], "{field}: {last}\n{row}");
        }
        assert_eq!(
            last["key"].as_str(),
            row["key"].as_str().map(str::to_lowercase).as_deref(),
            "as compared"
        );
        assert_eq!(last["to"], row["status"]);
        let cells = (&row["values"]["key"], &row["values"]["country"]);
        assert_eq!(cells, (&row["key"], &"NZ".into()), "{row}");
    }
    let codes: Vec<&Value> = rows.iter().map(|row| &row["code"]).filter(|code| !code.is_null()).collect();
    assert_eq!(codes, ["invalidData"], "the fault fired");
    bench.write("companies.csv", &bench::companies(5));
    let told = news(&["--events", "summary"]);
    assert!(!told.is_empty() && told.iter().all(|event| event["event"] != "moved"), "{told:?}");
    assert_eq!(bench.created("company").len(), 4, "the refused row is unchanged");
}
