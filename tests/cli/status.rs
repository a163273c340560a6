//! `fleetload status`: where things stand in one glance, in each of the states a person meets.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::bench::{self, Bench};
use crate::inside;
use fleetload::journal::Journal;
use fleetload::model::operation::Operation;
use fleetload::model::remaining::{Lane, Remaining};
use fleetload::model::time::Moment;
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::Value;

/// The first screen of `status`, without what changes from one day and machine to the next.
fn screen(bench: &Bench, arguments: &[&str]) -> String {
    let outcome = bench.fleetload(&[&["status"], arguments].concat()).expect_code(0);
    let text = outcome.stdout.replace(&bench.base_url(), "https://service");
    text.lines().map(|line| steady(line) + "\n").collect()
}

/// A line with its dates, times and lengths of time replaced.
fn steady(line: &str) -> String {
    let words: Vec<String> = line.split(' ').map(steady_word).collect();
    let line = words.join(" ");
    let parts: Vec<&str> = line
        .split(", ")
        .map(|part| match part.split_once(' ') {
            Some((number, "s" | "ms")) if number.chars().all(|c| c.is_ascii_digit()) => "SPAN",
            Some((number, "requests")) if number.chars().all(|c| c.is_ascii_digit()) => "N requests",
            Some(_) | None => part,
        })
        .collect();
    let line = parts.join(", ");
    match (line.find("(in "), line.find("): ")) {
        (Some(from), Some(to)) if from < to => format!("{}(in SPAN{}", &line[..from], &line[to..]),
        _ => line,
    }
}

fn steady_word(word: &str) -> String {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    let shape: String = core.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    match shape.as_str() {
        "0000-00-00" => word.replace(core, "DATE"),
        "00:00:00" => word.replace(core, "TIME"),
        _ => word.to_owned(),
    }
}

/// How `status --check` ends, in its exit code and in words for programs.
fn checked(bench: &Bench, code: i32) -> (String, String) {
    let outcome = bench.fleetload(&["status", "--check", "--json"]).expect_code(code);
    let summary = outcome.summary();
    assert_eq!(summary["exit_code"], code, "{summary}");
    let word = |name: &str| summary[name].as_str().expect("a word").to_owned();
    (word("state"), word("reason"))
}

fn words(state: &str, reason: &str) -> (String, String) {
    (state.to_owned(), reason.to_owned())
}

/// The summary for programs.
fn summary(bench: &Bench) -> Value {
    bench.fleetload(&["status", "--json"]).expect_code(0).summary()
}

fn bench_with(fault: Option<Fault>, scenario: Scenario) -> Bench {
    let bench = Bench::new(match fault {
        Some(fault) => scenario.with_fault(fault),
        None => scenario,
    });
    bench.write("companies.csv", &bench::companies(4));
    bench
}

#[test]
fn of_a_journal_without_rows_it_says_what_to_do_first() {
    let bench = Bench::new(Scenario::default());
    drop(Journal::open(&bench.path("fleetload.db")).expect("a journal"));
    insta::assert_snapshot!("empty", screen(&bench, &[]));
    assert_eq!(summary(&bench)["state"], "empty");
    assert_eq!(checked(&bench, 0), words("finished", "done"));
}

#[test]
fn of_a_run_under_way_it_says_since_when_how_far_and_how_fast() {
    let bench = bench_with(None, Scenario::default());
    bench.profile("", "rate = 1", "");
    let mut run = bench.start(&["run", "companies.csv", "--json"]);
    run.hears(&["\"moved\"", "\"created\""]);
    let shown = screen(&bench, &[]);
    let told = summary(&bench);
    let hints = bench.fleetload(&["status"]).expect_code(0).stderr;
    assert_eq!(checked(&bench, 5), words("waiting", "rows-waiting"));
    run.kill();
    let headline = shown.lines().next().expect("a headline");
    assert!(headline.starts_with("running since DATE TIME UTC: "), "{shown}");
    for words in ["% done", "rows/s", "pace: ", "in the last ", "last run: begun DATE TIME UTC, under way"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!hints.contains("to go on"), "{hints}");
    assert_eq!((&told["state"], &told["run_at_work"]), (&"running".into(), &true.into()));
    assert!(told["pace"]["rows_finished"].as_u64() >= Some(1), "{told}");
    assert_eq!(told["by_kind"]["companies"]["rows"], 4);

    // It was ended from outside: status says so, and what to type.
    assert!(bench.fleetload(&["status"]).expect_code(0).stderr.contains("to go on: fleetload run"));
    let shown = screen(&bench, &[]);
    assert!(shown.starts_with("the last run was killed: "), "{shown}");
    let told = summary(&bench);
    assert_eq!((&told["state"], &told["reason"]), (&"stopped".into(), &"killed".into()));
    assert_eq!(checked(&bench, 5), words("stopped", "killed"));
}

#[test]
fn of_a_run_that_has_noted_nothing_for_long_it_forecasts_nothing() {
    let bench = bench_with(None, Scenario::default());
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let mut journal = inside::journal(&bench);
    let _lock = journal.lock_for_run().expect("a lock").expect("nobody has it");
    let now = Moment::from_millis(jiff::Timestamp::now().as_millisecond());
    let run = journal.queue().begin_run(now).expect("a journal");
    let making = [(Operation::AddCompany, Lane { requests: 4, limit: Some(0.001), pace: None })].into();
    let mut note = |at| {
        let remaining = Remaining { at, making: Clone::clone(&making), moving: true, ..Remaining::default() };
        journal.queue().note_remaining(run, Some(&remaining)).expect("a journal");
        (screen(&bench, &[]), summary(&bench))
    };
    let (shown, told) = note(now);
    assert!(shown.contains(", done about "), "{shown}");
    assert!(told["finish_estimate"].is_string(), "{told}");
    let (shown, told) = note(now.minus(Duration::from_secs(3_600)));
    assert!(
        shown.contains("0 % done; it has noted nothing for 1 h, its process may be suspended"),
        "{shown}"
    );
    assert_eq!(
        (&told["finish_estimate"], &told["next_events"][0]["event"]),
        (&Value::Null, &"silent".into())
    );
}

#[test]
fn of_a_spent_quota_it_says_until_when_creations_wait() {
    let bench = bench_with(None, Scenario { daily_quota: 2, ..Scenario::default() });
    bench.fleetload(&["run", "companies.csv", "--on-quota", "exit"]).expect_code(5);
    insta::assert_snapshot!("parked", screen(&bench, &[]));
    let told = summary(&bench);
    assert_eq!((&told["state"], &told["quota"]["left"]), (&"parked".into(), &0.into()));
    assert!(told["parked_until"].as_str().is_some_and(|at| at.ends_with('Z')), "{told}");
    assert_eq!(checked(&bench, 5), words("parked", "quota"));
}

#[cfg(unix)]
#[test]
fn of_a_run_that_was_killed_while_it_waited_for_its_quota_nothing_is_said_to_go_on() {
    let bench = bench_with(None, Scenario { daily_quota: 2, ..Scenario::default() });
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| summary(&bench)["parked_until"].is_string());
    run.kill();
    let shown = screen(&bench, &[]);
    assert!(shown.starts_with("the last run was killed: 2 rows remaining\n"), "{shown}");
    let told = summary(&bench);
    assert_eq!((&told["parked_until"], &told["quota"]["left"]), (&Value::Null, &0.into()));
    bench.fleetload(&["report", "1"]).expect_code(0);
    for told in [told, bench.summary(1)] {
        assert_eq!((&told["state"], &told["reason"]), (&"stopped".into(), &"killed".into()), "{told}");
        assert!(told["resumes_at"].is_null(), "{told}");
    }
    assert_eq!(checked(&bench, 5), words("stopped", "killed"));
}

#[test]
fn of_a_run_that_the_service_stopped_it_says_why() {
    let bench = bench_with(Some(Fault::new("addCompany", FaultKind::NotFound404)), Scenario::default());
    bench.fleetload(&["run", "companies.csv"]).expect_code(7);
    insta::assert_snapshot!("stopped", screen(&bench, &[]));
    assert_eq!(summary(&bench)["needs_person"][0]["command"], "fleetload run");
    assert_eq!(checked(&bench, 7), words("stopped", "endpoint-missing"));
}

#[test]
fn of_held_rows_it_says_how_to_decide_them() {
    let lost = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::RequestLost) };
    let bench = bench_with(Some(lost), Scenario::default());
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    let shown = screen(&bench, &[]);
    assert!(shown.starts_with("finished except for 1 row that needs your decision\n"), "{shown}");
    assert!(
        shown.contains(
            "needs a person:\n  1 row needs your decision: check the service first\n    fleetload resolve\n"
        ),
        "{shown}"
    );
    let told = summary(&bench);
    assert_eq!((&told["state"], &told["needs_person"][0]["cause"]), (&"held".into(), &"held".into()));
    assert_eq!(checked(&bench, 8), words("held", "rows-held"));
}

#[test]
fn what_is_not_as_it_should_be_is_said_besides_the_rows_on_hold() {
    let lost = Fault::new("addCompany", FaultKind::RequestLost).times(1);
    let refused = Fault::new("addCompany", FaultKind::InvalidState).times(2);
    let bench = Bench::new(Scenario::default().with_fault(lost).with_fault(refused));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    let sheet = bench::companies(5).replace("Customer 4,+64 9 555 0004", "Customer 4,");
    bench.write("companies.csv", &sheet);
    let ended = bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(8);
    let words = "inished except for 1 row that needs your decision; 2 rows were rejected and 1 row was not imported because of \
                 errors";
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    for shown in [&ended.stdout, &screen(&bench, &[]), &page] {
        assert!(shown.contains(words), "{shown}");
    }
    assert_eq!(summary(&bench)["headline"], format!("f{words}"));
}

#[test]
fn of_refused_rows_it_says_where_to_correct_them_and_what_to_run_then() {
    let refused = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::InvalidState) };
    let bench = bench_with(Some(refused), Scenario::default());
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    insta::assert_snapshot!("refused", screen(&bench, &["1"]));
    assert_eq!(summary(&bench)["needs_person"][0]["command"], "fleetload run reports/1/fix.xlsx");
    assert_eq!(checked(&bench, 4), words("finished", "rows-failed"));
    let fix = std::fs::read_to_string(bench.path("reports/1/companies.fix.csv")).expect("a sheet to fix");
    bench.write("companies.csv", &fix.replace("Customer ", "Client "));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(checked(&bench, 0), words("finished", "done"), "a later import answers for the row");
}

#[test]
fn it_says_that_rows_of_several_imports_are_counted_once() {
    let bench = bench_with(None, Scenario::default());
    let words = "rows that came again, and rows that are one request, count once; rows that were not imported and then \
                 cancelled do not count";
    for is_told in [false, true] {
        bench.fleetload(&["run", "companies.csv"]).expect_code(0);
        assert_eq!(screen(&bench, &[]).contains(words), is_told);
        assert!(!screen(&bench, &["1"]).contains(words));
    }
}

#[test]
fn of_each_import_with_rows_to_correct_it_says_where_they_are() {
    let refused = Fault::new("addCompany", FaultKind::InvalidState).times(2);
    let bench = bench_with(Some(refused), Scenario::default());
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    let others = bench::companies(3).replace("\nC", "\nD").replace("Customer", "Branch");
    bench.write("others.csv", &others.replacen("CUSTOMER", "CLIENT", 1));
    bench.fleetload(&["run", "others.csv", "--kind", "companies", "--skip-invalid"]).expect_code(4);
    let run = bench.fleetload(&["run"]).expect_code(4);
    assert!(
        run.stdout.contains("finished; 2 rows were rejected and 1 row was not imported"),
        "{}",
        run.stdout
    );
    let status = bench.fleetload(&["status"]).expect_code(0);
    let hint = "where no cell is wrong and the cause is gone, type fleetload retry 1; otherwise correct the rows in \
                reports/1/fix.xlsx, then: fleetload run reports/1/fix.xlsx\n\
                \x20     correct the rows in reports/2/fix.xlsx, then: fleetload run reports/2/fix.xlsx\n";
    for told in [&run.stderr, &status.stderr] {
        assert!(told.contains(hint), "{told}");
    }
}

#[test]
fn a_row_that_was_skipped_counts_for_a_check_as_it_does_for_a_run() {
    let bench = bench_with(None, Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("people.csv", &bench::people(1, 1));
    bench.fleetload(&["import", "companies.csv", "people.csv"]).expect_code(0);
    bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert_eq!(checked(&bench, 0), words("finished", "done"));
    bench.write("people.csv", &bench::people(1, 1).replace("0 Duke Street", "7 Duke Street"));
    bench.fleetload(&["run", "companies.csv", "people.csv"]).expect_code(4);
    assert_eq!(bench.counts(2), [("cancelled".to_owned(), 1), ("skipped".to_owned(), 1)].into());
    bench.fleetload(&["run"]).expect_code(4);
    assert_eq!(checked(&bench, 4), words("finished", "rows-failed"));
    bench.fleetload(&["status", "2", "--check"]).expect_code(4);
    let told = summary(&bench);
    let need = &told["needs_person"][0];
    assert_eq!((&need["cause"], &need["count"]), (&"skipped".into(), &1.into()), "{told}");
    assert_eq!(need["command"], "fleetload cancel 2");
    let hint = bench.fleetload(&["status"]).expect_code(0).stderr;
    assert!(hint.contains("fleetload cancel 2"), "{hint}");
    bench.fleetload(&["cancel", "2"]).expect_code(0);
    assert_eq!(checked(&bench, 0), words("finished", "done"));
}

#[test]
fn an_import_of_which_rows_are_only_skipped_is_among_the_unfinished() {
    let refused = Fault::new("addCompany", FaultKind::InvalidState).times(1);
    let bench = bench_with(Some(refused), Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("people.csv", &bench::people(1, 1));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["import", "people.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(4);
    let shown = bench.fleetload(&["status", "--unfinished"]).expect_code(0).stdout;
    assert!(shown.contains("import 2 of ") && !shown.contains("not listed"), "{shown}");
    bench.fleetload(&["retry", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    let shown = bench.fleetload(&["status", "--unfinished"]).expect_code(0).stdout;
    assert!(shown.contains("all 2 imports are finished and need nobody"), "{shown}");
}

#[test]
fn it_names_no_fix_sheet_that_is_not_there() {
    let bench =
        bench_with(Some(Fault::new("addCompany", FaultKind::InvalidData).times(1)), Scenario::default());
    bench.fleetload(&["run", "companies.csv", "--reports", "elsewhere"]).expect_code(4);
    let outcome = bench.fleetload(&["status"]).expect_code(0);
    assert!(outcome.stdout.contains("write the report, which has it in fix.xlsx"), "{}", outcome.stdout);
    let hint = "otherwise write the report, which has the rows in fix.xlsx: fleetload report 1\n";
    assert!(outcome.stderr.contains(hint), "{}", outcome.stderr);
}

/// The first run ends with one row rejected, and its report; the second is killed when another row was rejected, and with a
/// request under way.
#[cfg(unix)]
fn killed_after_a_report() -> Bench {
    let once = |kind| Fault::new("addCompany", kind).times(1);
    let [first, second] = [once(FaultKind::InvalidState), once(FaultKind::InvalidState)];
    let silent = Fault::new("addCompany", FaultKind::StallBefore);
    let faults = vec![first, once(FaultKind::NotFound404), second, silent];
    let bench = bench_with(None, Scenario { fault: faults, ..Scenario::default() });
    bench.profile("", "concurrency = 1", "");
    bench.fleetload(&["run", "companies.csv"]).expect_code(7);
    assert_eq!(bench.summary(1)["to_fix"], 1);
    let asked = bench.requests("addCompany");
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| bench.requests("addCompany") == asked + 2);
    run.kill();
    bench
}

#[cfg(unix)]
#[test]
fn it_names_no_fix_sheet_without_the_rows_that_a_killed_run_has_left() {
    let bench = killed_after_a_report();
    let fix = "fleetload run reports/1/fix.xlsx";
    for (words, command) in [
        ("otherwise write the report, which has them in fix.xlsx", "fleetload report 1"),
        ("otherwise correct them in reports/1/fix.xlsx, then run that file", fix),
    ] {
        let need = &summary(&bench)["needs_person"][0];
        let told = need["words"].as_str().expect("words");
        assert!(told.starts_with("2 rows of import 1 were rejected: ") && told.ends_with(words), "{told}");
        assert_eq!(need["command"], command);
        bench.fleetload(&["report", "1"]).expect_code(0);
        assert_eq!(bench.summary(1)["to_fix"], 2);
    }
}

#[cfg(unix)]
#[test]
fn a_request_that_nobody_awaits_is_in_doubt_in_every_count() {
    let bench = killed_after_a_report();
    let shown = screen(&bench, &[]);
    assert!(shown.contains("of these: 1 waiting, 1 in doubt, 2 rejected\n"), "{shown}");
    let told = bench.fleetload(&["status", "--json"]).expect_code(0);
    let of_import = told.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let of_import = of_import.filter(|object| object["object"] == "import");
    for told in of_import.chain([told.summary()]) {
        let counts = ["sending", "in_doubt", "ready", "rejected"].map(|state| &told["counts"][state]);
        assert_eq!(counts, [0, 1, 1, 2], "{told}");
    }
    let of_kind = &told.summary()["by_kind"]["companies"];
    let counts = ["waiting", "in_doubt", "failed", "rows"].map(|group| &of_kind[group]);
    assert_eq!(counts, [1, 1, 2, 4], "{of_kind}");

    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(bench.counts(1), counted(&[("in_doubt", 1), ("ready", 1), ("rejected", 2)]));
    let states: Vec<Value> = bench.results(1).iter().map(|row| row["status"].clone()).collect();
    assert_eq!(states.iter().filter(|state| *state == "in_doubt").count(), 1, "{states:?}");
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(page.contains("outcome unknown") && !page.contains("sending"), "{page}");
    let metrics = bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout;
    for (state, rows) in [("sending", 0), ("in_doubt", 1)] {
        let sample = format!("kind=\"companies\",state=\"{state}\"}} {rows}");
        assert!(metrics.contains(&sample), "{sample}: {metrics}");
    }
}

#[test]
fn a_request_that_a_run_awaits_is_under_way_in_every_count() {
    let silent = Fault::new("addCompany", FaultKind::StallBefore).times(1);
    let bench = bench_with(Some(silent), Scenario::default());
    bench.profile("", "concurrency = 1", "");
    let mut run = bench.start(&["run", "companies.csv", "--json"]);
    run.until(|| bench.requests("addCompany") == 1);
    bench.fleetload(&["report", "1"]).expect_code(0);
    let (told, metrics) = (summary(&bench), bench.fleetload(&["status", "--metrics"]).expect_code(0).stdout);
    run.kill();
    assert_eq!(bench.counts(1), counted(&[("ready", 3), ("sending", 1)]));
    assert_eq!(told["counts"]["sending"], 1, "{told}");
    assert!(metrics.contains("state=\"sending\"} 1"), "{metrics}");
}

/// Rows by state.
fn counted(states: &[(&str, u64)]) -> BTreeMap<String, u64> {
    states.iter().map(|&(state, rows)| (state.to_owned(), rows)).collect()
}

#[test]
fn of_rows_left_out_it_says_that_they_wait_and_never_that_every_row_is_done() {
    let bench = bench_with(None, Scenario::default());
    bench.write("companies.csv", &bench::companies(4).replace("+64 9 555 0001", ""));
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    for arguments in [&[][..], &["1"]] {
        let shown = screen(&bench, arguments);
        assert!(shown.starts_with("finished; 1 row was not imported because of errors\n"), "{shown}");
        let need = "needs a person:\n  1 row of import 1 was not imported because of errors: correct it in \
                    reports/1/fix.xlsx, then run that file\n    fleetload run reports/1/fix.xlsx\n";
        assert!(shown.contains(need), "{shown}");
        assert!(!shown.replace("0 refused", "").contains("refused"), "{shown}");
    }
    let told = summary(&bench);
    assert_eq!((&told["left_out"], &told["needs_person"][0]["cause"]), (&1.into(), &"left_out".into()));
    assert_eq!(checked(&bench, 4), words("finished", "rows-failed"));
    let hint = bench.fleetload(&["status"]).expect_code(0).stderr;
    assert!(hint.contains("correct the rows in reports/1/fix.xlsx, then: fleetload run"), "{hint}");
    assert!(!hint.contains("retry"), "{hint}");
}

#[test]
fn rows_that_came_again_in_a_fix_sheet_are_told_once_under_the_import_that_answers_for_them() {
    let refused = Fault { times: Some(3), ..Fault::new("addCompany", FaultKind::InvalidState) };
    let bench = bench_with(Some(refused), Scenario::default());
    // One after the other, so that it is the first three that are refused.
    bench.profile("", "concurrency = 1", "");
    bench.write(
        "companies.csv",
        &bench::companies(6).replace("+64 9 555 0004", "").replace("+64 9 555 0005", ""),
    );
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    // Of five rows one is corrected and goes through; two stay as they were, one stays wrong, and one is left away.
    let fix = std::fs::read_to_string(bench.path("reports/1/companies.fix.csv")).expect("a sheet to fix");
    let fix = fix.replace("Customer 0", "Customer Nought");
    let lines: Vec<&str> = fix.split_inclusive("\r\n").filter(|line| !line.contains("Customer 5")).collect();
    bench.write("companies.csv", &lines.concat());
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    insta::assert_snapshot!("answered", screen(&bench, &[]));
    let told = summary(&bench);
    let needs: Vec<_> =
        told["needs_person"].as_array().expect("needs").iter().map(|need| &need["count"]).collect();
    assert_eq!(needs, [1, 2, 1], "of import 1 what did not come again, of import 2 the rest: {told}");
    assert_eq!(told["left_out"], 2);
    bench.fleetload(&["report", "1"]).expect_code(0);
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(page.contains("3 rows came again since: import 2 answers for them"), "{page}");
    let hint = bench.fleetload(&["status", "2"]).expect_code(0).stderr;
    assert!(hint.contains("correct the rows in reports/2/fix.xlsx"), "{hint}");
}

#[test]
fn rows_that_came_again_unchanged_are_sent_again_by_the_command_that_is_named() {
    // With the second code the service names a field that the sheet does not have.
    for kind in [FaultKind::InvalidState, FaultKind::InvalidData] {
        let bench = bench_with(Some(Fault::new("addCompany", kind).times(1)), Scenario::default());
        bench.fleetload(&["run", "companies.csv"]).expect_code(4);
        bench.fleetload(&["run", "reports/1/fix.xlsx"]).expect_code(4);
        let need = "1 row of import 2 was rejected: where no cell is wrong and the cause is gone, type fleetload retry \
                    2; otherwise correct it in reports/2/fix.xlsx, then run that file";
        let shown = screen(&bench, &[]);
        assert!(shown.contains(need), "{shown}");
        let row = &bench.results(2)[0];
        let advice = row["advice"].as_str().unwrap_or_default();
        let retry = format!("fleetload retry 2 --code {}", row["code"].as_str().unwrap_or_default());
        assert!(advice.contains(&retry), "{row}");
        bench.fleetload(&["retry", "2"]).expect_code(0);
        bench.fleetload(&["run"]).expect_code(0);
        assert!(!screen(&bench, &[]).contains("retry"));
    }
}

#[test]
fn of_rows_rejected_for_records_that_are_there_it_says_how_these_are_taken_or_left() {
    let others = Scenario { company: vec![bench::first_company_of_others()], ..Scenario::default() };
    let bench = bench_with(None, others);
    bench.profile("", "", "on_existing = \"fail\"");
    let ended = bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    let take = "set on_existing = \"adopt\" in the profile and type fleetload retry 1";
    let shown = screen(&bench, &[]);
    for told in [&shown, &ended.stderr] {
        assert!(told.contains(take) && !told.contains("fix.xlsx"), "{told}");
    }
    assert_eq!(summary(&bench)["needs_person"][0]["command"], "fleetload cancel 1");
    bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert_eq!(checked(&bench, 0), words("finished", "done"));
}

#[test]
fn sheets_without_rows_are_neither_done_nor_not_imported() {
    let bench = bench_with(None, Scenario::default());
    let header = bench::companies(1).lines().next().expect("a header").to_owned();
    bench.write("companies.csv", &format!("{header}\n"));
    let told = bench.fleetload(&["run", "companies.csv", "--allow-empty"]).expect_code(0).stdout;
    assert!(told.ends_with("the sheets have no rows: there is nothing to do\n"), "{told}");
    assert!(screen(&bench, &[]).starts_with("the sheets have no rows: there is nothing to do\n"));
}

#[test]
fn rows_to_correct_that_came_again_are_told_once_and_send_nobody_to_the_older_fix_sheet() {
    let bench = bench_with(None, Scenario::default());
    bench.write("companies.csv", &bench::companies(3).replace("Customer 1", ""));
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    let again = bench.fleetload(&["run", "reports/1/fix.xlsx", "--skip-invalid"]).expect_code(4).stdout;
    assert!(again.contains("1 row to correct: reports/2/fix.xlsx"), "{again}");
    let first = bench.fleetload(&["report", "1"]).expect_code(0);
    let hint = "the rows that failed were imported again: fleetload status 2";
    assert!(first.stderr.contains(hint), "{}", first.stderr);
    assert!(!first.stdout.contains("fix.xlsx") && !first.stderr.contains("fix.xlsx"), "{}", first.stderr);
    assert!(!bench.path("reports/1/fix.xlsx").exists());
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    let (_, next) = page.split_once("id=\"next\"").expect("something to do");
    let (next, _) = next.split_once("</ol>").expect("its end");
    assert!(next.contains("fleetload status 2") && !next.contains("fix.xlsx"), "{next}");
}

#[test]
fn rows_that_wait_for_an_operation_that_is_not_available_are_told_with_what_to_set() {
    let bench = bench_with(None, Scenario::default());
    bench.write("sites.csv", &bench::sites(5, 2));
    bench.fleetload(&["import", "companies.csv", "sites.csv"]).expect_code(0);
    assert!(!screen(&bench, &[]).contains("not available"), "the profile allows assumed paths");
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    insta::assert_snapshot!("unavailable", screen(&bench, &[]));
    assert_eq!(summary(&bench)["needs_person"][0]["cause"], "unavailable");
}

#[test]
fn of_cancelled_rows_it_does_not_say_that_they_are_done() {
    let bench = bench_with(None, Scenario::default());
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["cancel", "1"]).expect_code(0);
    let shown = screen(&bench, &[]);
    assert!(shown.starts_with("finished; 4 rows were cancelled\n"), "{shown}");
    assert!(shown.contains("4 rows, finished: 4 cancelled\n"), "{shown}");
}

#[test]
fn a_rehearsal_is_called_one() {
    let bench = bench_with(None, Scenario::default());
    bench.fleetload(&["run", "companies.csv", "--sandbox"]);
    let shown = screen(&bench, &[]);
    assert!(
        shown.contains("journal fleetload.db, account sandbox at the simulated service in fleetload"),
        "{shown}"
    );
    assert!(shown.starts_with("REHEARSAL: nothing was created\n"), "{shown}");
    assert!(!shown.contains("sandbox://"), "{shown}");
}

#[test]
fn of_many_imports_it_lists_those_with_rows_that_wait_or_need_a_person() {
    let bench = bench_with(None, Scenario::default());
    for number in 1..=10 {
        bench.write("companies.csv", &bench::companies(number));
        bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    }
    bench.fleetload(&["run"]).expect_code(0);
    let listed = |arguments: &[&str]| {
        let shown = screen(&bench, arguments);
        let imports = shown.lines().filter(|line| line.starts_with("import ")).count();
        let rest = shown.lines().find(|line| line.contains("not listed")).map(str::to_owned);
        (imports, rest)
    };
    let rest = Some(
        "10 other imports are finished and not listed; to list all of them: fleetload status --all"
            .to_owned(),
    );
    assert_eq!(listed(&[]), (10, None), "so many are listed");
    assert_eq!(listed(&["--unfinished"]), (0, None));
    let shown = screen(&bench, &["--unfinished"]);
    let sentence = "all 10 imports are finished and need nobody; to list them: fleetload status --all\n";
    assert!(shown.contains(sentence), "{shown}");
    bench.write("companies.csv", &bench::companies(11));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    assert_eq!(listed(&[]), (1, rest));
    assert_eq!(listed(&["--all"]), (11, None));
    assert_eq!(listed(&["3"]), (1, None));
    let programs = bench.fleetload(&["status", "--json"]).expect_code(0).stdout;
    assert_eq!(programs.lines().filter(|line| line.contains("\"object\":\"import\"")).count(), 11);
}

#[test]
fn a_corrected_sheet_is_a_round_of_its_import_and_answers_for_it_everywhere() {
    let bench = bench_with(None, Scenario::default());
    let wrong = bench::devices(4, 1).replace("Till 3,Edge 100", "Till 3,Edge 9000");
    bench.write("devices.csv", &wrong);
    let first = ["run", "companies.csv", "devices.csv", "--label", "Northern region"];
    bench.fleetload(&first).expect_code(4);
    bench.write("other.csv", &bench::people(2, 1));
    bench.fleetload(&["import", "other.csv"]).expect_code(0);

    // A sheet with the row that was rejected is round 2, and keeps the label; what it has is not listed twice.
    bench.write("devices.csv", &wrong.replace("Edge 9000", "Edge 200"));
    let imported = bench.fleetload(&["import", "devices.csv"]).expect_code(0).stdout;
    assert!(imported.contains("import 3 'Northern region', round 2 of import 1: 4 rows"), "{imported}");
    let imports = |arguments: &[&str]| -> Vec<String> {
        let shown = screen(&bench, arguments);
        let imports = shown.lines().filter(|line| line.trim_start().starts_with("import "));
        imports.map(str::to_owned).collect()
    };
    assert_eq!(
        imports(&[]),
        [
            "import 1 'Northern region' of DATE TIME UTC, companies.csv, devices.csv: 8 rows, 1 unfinished; 1 in a later \
             round",
            "  import 3 'Northern region' (round 2 of import 1) of DATE TIME UTC, devices.csv: 4 rows, 1 unfinished",
            "import 2 of DATE TIME UTC, other.csv: 2 rows, 2 unfinished",
        ]
    );
    let unfinished = imports(&["--unfinished"]);
    assert_eq!(unfinished.len(), 2, "{unfinished:?}");
    assert!(unfinished.iter().all(|line| !line.contains("import 1 ")), "{unfinished:?}");

    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(imports(&["--unfinished"]), Vec::<String>::new());
    let told: Vec<Value> = bench
        .fleetload(&["status", "--json"])
        .expect_code(0)
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|object: &Value| object["object"] == "import")
        .collect();
    let rounds: Vec<Value> = told
        .iter()
        .map(|import| {
            serde_json::json!([import["import"], import["label"], import["round"], import["round_of"]])
        })
        .collect();
    let expected = serde_json::json!([
        [1, "Northern region", 1, null],
        [3, "Northern region", 2, 1],
        [2, "other.csv", 1, null],
    ]);
    assert_eq!(Value::Array(rounds), expected);
    let summary = bench.summary(3);
    assert_eq!(
        (&summary["label"], &summary["round"], &summary["round_of"]),
        (&"Northern region".into(), &2.into(), &1.into())
    );
    let page = std::fs::read_to_string(bench.path("reports/3/report.html")).expect("a page");
    assert!(page.contains("<span>Import 3: Northern region, round 2 of import 1</span>"), "{page}");
    assert_eq!(bench.counts(3), [("created".to_owned(), 4)].into());

    // The file that was unchanged since is a round as well: it has the same rows.
    bench.fleetload(&["import", "devices.csv", "--label", "Everything"]).expect_code(0);
    let last = imports(&["4"]);
    assert!(last[0].starts_with("import 4 'Everything' (round 3 of import 1) of "), "{last:?}");
}

#[test]
fn a_label_is_one_line_of_text() {
    let bench = bench_with(None, Scenario::default());
    for label in ["", "  ", "two\nlines", "\u{202e}turned", &"x".repeat(81)] {
        let refused = bench.fleetload(&["import", "companies.csv", "--label", label]).expect_code(2);
        assert!(refused.stderr.contains("a label is text of 1 to 80 characters in one line"), "{refused:?}");
    }
    assert!(!bench.path("fleetload.db").exists());
}

#[cfg(unix)]
#[test]
fn it_is_shown_again_until_a_signal_ends_it() {
    let bench = bench_with(None, Scenario::default());
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let mut watch = bench.start(&["status", "--watch", "--every", "1"]);
    watch.hears(&["4 rows, 4 unfinished"]);
    bench.fleetload(&["run"]).expect_code(0);
    watch.hears(&["4 rows, finished"]);
    watch.signal("-INT");
    let ended = watch.ended().expect_code(5);
    assert!(!ended.stdout.contains('\u{1b}'), "no screen is cleared in a pipe: {}", ended.stdout);

    let mut watch = bench.start(&["status", "--watch", "--json"]);
    watch.hears(&["\"object\":\"look\"", "\"state\":\"finished\""]);
    watch.signal("-INT");
    let told = watch.ended().expect_code(5).stdout;
    assert!(told.lines().last().is_some_and(|line| line.contains("\"reason\":\"signal\"")), "{told}");
}

#[test]
fn a_watch_ends_quietly_when_its_reader_has_gone() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    for form in [&["--json"][..], &[]] {
        let watch = bench.command(&[&["status", "--watch", "--every", "1"], form].concat());
        let ended = bench::child::read_one_line(watch).expect_code(0);
        assert!(!ended.stderr.contains("error"), "{ended:?}");
    }
}
