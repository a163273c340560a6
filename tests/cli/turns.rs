//! Which import is sent when: paused and resumed, also while a run is at work.

use std::ops::Range;
use std::time::Duration;

use crate::bench::{self, Bench};
use crate::inside::{self, Inside, Virtual};
use fleetload::model::event::Event;
use fleetload::model::id::ImportId;
use fleetload::model::state::JobState;
use fleetload::model::time::Moment;
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use fleetload::service::Rate;

/// A bench whose run sends one request at a time, ten a second.
fn slow() -> Bench {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.profile("", "rate = 10\nconcurrency = 1", "");
    bench
}

/// The same in virtual time, when its first row is created.
async fn slowly(bench: &Bench) -> Inside {
    let mut options = inside::options(Duration::from_secs(1));
    options.limits.rate = Rate::PerSecond(10.0);
    options.limits.concurrency = 1;
    let mut run = inside::start_virtually(bench, Virtual::start(), Duration::from_millis(20), options);
    run.hears_of(JobState::Created).await;
    run
}

/// Some of a sheet of companies, from which the sheets of several imports are cut.
fn companies(rows: Range<usize>) -> String {
    let sheet = bench::companies(rows.end);
    let lines: Vec<&str> = sheet.lines().collect();
    format!("{}\n{}\n", lines[0], lines[rows.start + 1..].join("\n"))
}

/// Imports some companies.
fn import(bench: &Bench, name: &str, rows: Range<usize>) {
    bench.write(name, &companies(rows));
    bench.fleetload(&["import", name]).expect_code(0);
}

#[test]
fn rows_of_a_paused_import_wait_until_it_is_resumed_and_every_surface_says_so() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "first.csv", 0..3);
    import(&bench, "second.csv", 3..7);
    let told = bench.fleetload(&["pause", "1"]).expect_code(0);
    assert!(told.stdout.contains("import 1 is paused; 3 rows wait until it is resumed"), "{told:?}");
    assert!(told.stderr.contains("fleetload resume 1"), "{told:?}");
    let again = bench.fleetload(&["pause", "1"]).expect_code(0);
    assert!(again.stdout.contains("import 1 is already paused, since "), "{again:?}");

    let ended = bench.fleetload(&["run", "--json"]).expect_code(5);
    assert_eq!(bench.names("company"), ["Customer 3", "Customer 4", "Customer 5", "Customer 6"]);
    let last = ended.summary();
    assert_eq!((&last["state"], &last["reason"]), (&"waiting".into(), &"import-paused".into()), "{last}");
    // Nothing is to be sent: the service is not asked.
    let tokens = bench.statistics().tokens_issued;
    bench.fleetload(&["run"]).expect_code(5);
    assert_eq!(bench.statistics().tokens_issued, tokens);

    let status = bench.fleetload(&["status"]).expect_code(0);
    for words in
        ["paused: import 1, 3 rows remaining", "paused since ", "import 1 is paused: 3 rows wait", "resume 1"]
    {
        assert!(status.stdout.contains(words), "{words}: {}", status.stdout);
    }
    assert!(status.stderr.contains("fleetload resume 1"), "{status:?}");
    bench.fleetload(&["status", "--check"]).expect_code(5);
    bench.fleetload(&["status", "2", "--check"]).expect_code(0);
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(
        (&bench.summary(1)["reason"], &bench.summary(1)["exit_code"]),
        (&"import-paused".into(), &5.into())
    );

    let told = bench.fleetload(&["resume", "1"]).expect_code(0);
    assert!(told.stdout.contains("import 1 is resumed; 3 rows go on with the next run"), "{told:?}");
    bench.fleetload(&["resume", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 7);
    bench.assert_exact_all(&[1, 2]);
    bench.fleetload(&["pause", "9"]).expect_code(2);
}

#[test]
fn rows_on_hold_or_rejected_are_told_also_where_another_import_is_paused() {
    for (kind, code, reason, words) in [
        (
            FaultKind::AnswerLost,
            8,
            "rows-held",
            "1 row that needs your decision; paused: import 1, 3 rows remaining",
        ),
        (
            FaultKind::GeneralError,
            5,
            "import-paused",
            "paused: import 1, 3 rows remaining; 1 row was rejected",
        ),
    ] {
        let fault = Fault { times: Some(1), ..Fault::new("addCompany", kind) };
        let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(fault));
        bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
        import(&bench, "first.csv", 0..3);
        bench.fleetload(&["pause", "1"]).expect_code(0);
        bench.write("second.csv", &companies(3..7));
        let ended = bench.fleetload(&["run", "second.csv"]).expect_code(code);
        assert!(ended.stdout.contains(words), "{ended:?}");
        assert!(ended.stderr.contains("fleetload resume 1"), "{ended:?}");
        match kind {
            FaultKind::AnswerLost => {
                assert!(ended.stdout.contains("1 row is on hold and needs your decision:"), "{ended:?}");
            }
            _ => assert!(ended.stderr.contains("fleetload retry 2"), "{ended:?}"),
        }
        let last = bench.fleetload(&["run", "--json"]).expect_code(code).summary();
        assert_eq!(last["reason"], reason, "{last}");
    }
}

#[test]
fn a_run_at_work_sends_nothing_more_of_an_import_that_is_paused_and_ends_when_nothing_else_is_left() {
    let bench = slow();
    import(&bench, "companies.csv", 0..60);
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| bench.requests("addCompany") >= 3);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let sent = bench.requests("addCompany");
    let ended = run.ended().expect_code(5);
    assert_eq!(ended.summary()["reason"], "import-paused");
    assert!(ended.stdout.contains("import 1 is paused"), "{}", ended.stdout);
    let after = bench.requests("addCompany");
    assert!(after <= sent + 1, "one request may have been under way: {sent}, then {after}");
    assert!(after < 60, "{after}");
    assert_eq!(bench.created("company").len() as u64, after, "each was answered and recorded");
    bench.fleetload(&["resume", "1"]).expect_code(0);
    bench.profile("", "rate = \"unlimited\"", "");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 60);
    bench.assert_exact(1);
}

#[test]
fn no_row_of_an_import_that_is_paused_is_looked_up_before_it_is_resumed() {
    let bench = slow();
    import(&bench, "companies.csv", 0..1);
    bench.write("devices.csv", &bench::devices(200, 1));
    bench.fleetload(&["import", "devices.csv"]).expect_code(0);
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| bench.requests("getDeviceByMac") >= 3);
    bench.fleetload(&["pause", "2"]).expect_code(0);
    let asked = bench.requests("getDeviceByMac");
    run.ended().expect_code(5);
    let after = bench.requests("getDeviceByMac");
    assert!(after < asked + 50, "a run sees within two seconds what others write: {asked}, then {after}");
    assert!(bench.created("device").len() < 50);
}

#[test]
fn no_row_of_an_import_that_is_cancelled_is_looked_up_any_more_and_those_of_others_go_on() {
    let bench = slow();
    import(&bench, "companies.csv", 0..1);
    bench.write("devices.csv", &bench::devices(200, 1));
    bench.fleetload(&["import", "devices.csv"]).expect_code(0);
    let all = bench::devices(205, 1);
    let lines: Vec<&str> = all.lines().collect();
    bench.write("more.csv", &format!("{}\n{}\n", lines[0], lines[201..].join("\n")));
    bench.fleetload(&["import", "more.csv"]).expect_code(0);
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| bench.requests("getDeviceByMac") >= 3);
    // One row may be under way.
    bench.fleetload(&["cancel", "2"]);
    let asked = bench.requests("getDeviceByMac");
    run.ended().expect_code(0);
    let after = bench.requests("getDeviceByMac");
    assert!(after < asked + 50, "a run sees within two seconds what others write: {asked}, then {after}");
    let states = |import: u32| -> Vec<String> {
        bench.results(import).iter().map(|row| row["status"].as_str().expect("a state").to_owned()).collect()
    };
    assert_eq!(states(3), ["created"; 5]);
    assert!(states(2).iter().filter(|state| *state == "cancelled").count() > 150);
}

#[test]
fn a_run_at_work_goes_on_with_an_import_that_is_resumed() {
    let bench = slow();
    import(&bench, "first.csv", 0..20);
    import(&bench, "second.csv", 20..60);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let run = {
        let mut run = bench.start(&["run", "--json"]);
        run.until(|| bench.requests("addCompany") >= 2);
        bench.fleetload(&["resume", "1"]).expect_code(0);
        run
    };
    let ended = run.ended().expect_code(0);
    assert!(ended.stdout.contains("import 1 is resumed"), "{}", ended.stdout);
    assert_eq!(bench.created("company").len(), 60);
    bench.assert_exact_all(&[1, 2]);
}

#[test]
fn a_row_that_a_later_import_names_has_the_turn_of_that_import() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "all.csv", 0..5);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    import(&bench, "urgent.csv", 3..5);
    let told = bench.fleetload(&["pause", "1"]).expect_code(0);
    let later = "2 of its unfinished rows came again in import 2";
    assert!(told.stderr.contains(later) && told.stderr.contains("fleetload pause 2"), "{told:?}");
    bench.fleetload(&["run"]).expect_code(5);
    assert_eq!(bench.names("company"), ["Customer 3", "Customer 4"]);
    bench.fleetload(&["resume", "1"]).expect_code(0);
    // All of them came again.
    import(&bench, "again.csv", 0..5);
    let told = bench.fleetload(&["pause", "1"]).expect_code(0);
    assert!(told.stdout.contains("no row of import 1 waits to be sent with this import"), "{told:?}");
    let later = "3 of its unfinished rows came again in import 3";
    assert!(told.stderr.contains(later) && told.stderr.contains("fleetload pause 3"), "{told:?}");
    let told = bench.fleetload(&["priority", "1", "5"]).expect_code(0);
    assert!(told.stderr.contains(later) && told.stderr.contains("fleetload priority 3 5"), "{told:?}");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 5);
    let told = bench.fleetload(&["pause", "1"]).expect_code(0);
    assert!(told.stdout.contains("no row of import 1 waits to be sent; nothing was changed"), "{told:?}");
}

#[test]
fn a_row_of_a_paused_import_is_told_to_wait_for_it_in_the_reports() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(1, 1));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let advices = |words: &str| {
        bench.fleetload(&["report", "1"]).expect_code(0);
        let rows = bench.results(1);
        assert_eq!(rows.len(), 2);
        assert!(rows.iter().all(|row| row["advice"].as_str().expect("words").ends_with(words)), "{rows:#?}");
    };
    advices("fleetload run");
    let again = |why: &str| {
        format!("report of import 1: written again, as rows of it {why}: nothing is left to be corrected")
    };
    let paused = bench.fleetload(&["pause", "1"]).expect_code(0);
    assert!(paused.stdout.contains(&again("are not sent before a paused import is resumed")), "{paused:?}");
    let waits = "Import 1 is paused, and this row with it. To let it go on, type: fleetload resume 1";
    assert!(bench.results(1).iter().all(|row| row["advice"].as_str().expect("words").ends_with(waits)));
    advices(waits);
    let resumed = bench.fleetload(&["resume", "1"]).expect_code(0);
    assert!(resumed.stdout.contains(&again("no longer wait for a paused import")), "{resumed:?}");
    assert!(resumed.stderr.contains("to send them: fleetload run"), "{resumed:?}");
    bench.fleetload(&["run"]).expect_code(0);
    let resumed = bench.fleetload(&["resume", "1"]).expect_code(0);
    assert!(!resumed.stderr.contains("fleetload run"), "nothing is left: {resumed:?}");
}

#[test]
fn a_report_that_is_written_again_for_rows_that_are_retried_says_that_they_are_in_another_state() {
    let rejected = Fault::new("addCompany", FaultKind::InvalidState).times(1);
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(rejected));
    import(&bench, "first.csv", 0..2);
    bench.fleetload(&["run"]).expect_code(4);
    bench.fleetload(&["retry", "1"]).expect_code(0);
    import(&bench, "second.csv", 2..3);
    let told = bench.fleetload(&["pause", "2"]).expect_code(0);
    let words = "report of import 1: written again, as rows of it are in another state: nothing is left to be corrected in it";
    assert!(told.stdout.contains(words), "{told:?}");
}

#[test]
fn rows_of_a_paused_import_that_came_again_are_said_not_to_wait_any_more() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "all.csv", 0..5);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let again = |name: &str, rows: Range<usize>| {
        bench.write(name, &companies(rows));
        bench.fleetload(&["import", name]).expect_code(0)
    };
    let told = again("urgent.csv", 3..5);
    let words = "2 rows of import 1, which is paused, came again: they are not paused any more and belong to import 2\n";
    assert!(told.stdout.contains(words), "{told:?}");
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(status.stdout.contains("import 1 is paused: 3 rows wait until you resume it"), "{status:?}");
    let told = again("again.csv", 0..5);
    let words = "3 rows of import 1, which is paused, came again: they are not paused any more and belong to import 3";
    assert!(told.stdout.contains(words) && !told.stdout.contains("import 2"), "{told:?}");
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(!status.stdout.contains("until you resume it"), "{status:?}");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 5);
}

#[test]
fn a_row_that_a_later_import_names_is_cancelled_with_that_import() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "all.csv", 0..5);
    import(&bench, "urgent.csv", 3..6);
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert!(told.stdout.contains("3 rows of import 1 cancelled"), "{told:?}");
    let later = "2 rows that another import has are left: they are cancelled with import 2";
    assert!(told.stderr.contains(later) && told.stderr.contains("fleetload cancel 2"), "{told:?}");
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert!(told.stdout.contains("nothing to cancel"), "{told:?}");
    assert!(told.stdout.contains("in this import alone"), "{told:?}");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.names("company"), ["Customer 3", "Customer 4", "Customer 5"]);
    let states = |import: u32| -> Vec<String> {
        bench.results(import).iter().map(|row| row["status"].as_str().expect("a state").to_owned()).collect()
    };
    assert_eq!(states(1), ["cancelled", "cancelled", "cancelled", "created", "created"]);
    assert_eq!(states(2), ["created", "created", "created"]);
}

#[test]
fn one_row_that_came_again_is_told_as_one() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "all.csv", 0..2);
    import(&bench, "urgent.csv", 1..2);
    let told = bench.fleetload(&["pause", "1"]).expect_code(0);
    let words = "1 of its unfinished rows came again in import 2 and is sent when that import's rows are";
    assert!(told.stderr.contains(words), "{told:?}");
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert!(told.stdout.contains("1 row of import 1 cancelled\n"), "{told:?}");
}

#[test]
fn rows_of_a_later_import_below_one_that_is_cancelled_are_skipped_and_not_left() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(2, 1));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    bench.fleetload(&["import", "devices.csv"]).expect_code(0);
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    let words = "1 row of import 1 cancelled, and 2 rows of other imports that depend on it skipped";
    assert!(told.stdout.contains(words), "{told:?}");
    assert!(!told.stderr.contains("came again"), "{told:?}");
}

#[test]
fn rows_below_a_row_of_a_paused_import_wait_with_it() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "companies.csv", 0..2);
    bench.write("sites.csv", &bench::sites(4, 2));
    bench.fleetload(&["import", "sites.csv"]).expect_code(0);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let ended = bench.fleetload(&["run", "--json"]).expect_code(5);
    assert_eq!(ended.summary()["reason"], "import-paused");
    assert_eq!(bench.ledger().len(), 0);
    bench.fleetload(&["resume", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("site").len(), 4);
    bench.assert_exact_all(&[1, 2]);
}

#[test]
fn a_resumed_import_counts_what_goes_on_and_says_what_its_other_rows_wait_for() {
    let lost = Fault::new("addCompany", FaultKind::AnswerLost).times(1);
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost));
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("held.csv", &companies(0..1));
    bench.fleetload(&["run", "held.csv"]).expect_code(8);
    import(&bench, "paused.csv", 1..2);
    bench.fleetload(&["pause", "2"]).expect_code(0);
    bench.write("free.csv", &companies(2..3));
    bench.write("sites.csv", &bench::sites(3, 3));
    bench.fleetload(&["import", "free.csv", "sites.csv"]).expect_code(0);
    bench.write("metadata.csv", "owner_kind,owner,key,value\nsite,S0,floor,1\nsite,S1,floor,1\n");
    bench.fleetload(&["import", "metadata.csv"]).expect_code(0);
    for (import, goes_on) in [("3", "2 rows go on"), ("4", "0 rows go on")] {
        bench.fleetload(&["pause", import]).expect_code(0);
        let told = bench.fleetload(&["resume", import]).expect_code(0);
        let words = format!("import {import} is resumed; {goes_on} with the next run");
        assert!(told.stdout.contains(&words), "{told:?}");
        for words in [
            "1 row of it waits for rows of import 2, which is paused; to let these go on too: fleetload resume 2",
            "1 row of it waits for rows that need your decision; to decide: fleetload resolve",
        ] {
            assert!(told.stderr.contains(words), "{words}: {told:?}");
        }
        let is_sent = told.stderr.contains("to send them: fleetload run");
        assert_eq!(is_sent, import == "3", "{told:?}");
    }
}

#[test]
fn a_row_that_waits_for_one_of_a_paused_import_is_told_to_resume_that_in_the_reports() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "companies.csv", 0..2);
    bench.write("sites.csv", &bench::sites(2, 2));
    bench.fleetload(&["import", "sites.csv"]).expect_code(0);
    bench.write("metadata.csv", "owner_kind,owner,key,value\nsite,S0,floor,1\n");
    bench.fleetload(&["import", "metadata.csv"]).expect_code(0);
    let advices = |words: &str| {
        for (import, rows) in [(2, 2), (3, 1)] {
            let advices: Vec<String> =
                bench.results(import).iter().map(|row| row["advice"].to_string()).collect();
            assert_eq!(advices.len(), rows);
            assert!(advices.iter().all(|advice| advice.trim_matches('"').ends_with(words)), "{advices:#?}");
        }
    };
    for import in ["2", "3"] {
        bench.fleetload(&["report", import]).expect_code(0);
    }
    advices("fleetload run");
    let told = bench.fleetload(&["pause", "1"]).expect_code(0);
    for import in [2, 3] {
        let words = format!(
            "report of import {import}: written again, as rows of it are not sent before a paused import is resumed: "
        );
        assert!(told.stdout.contains(&words), "{told:?}");
    }
    let waits =
        "This row waits for a row of import 1, which is paused. To let that go on, type: fleetload resume 1";
    advices(waits);
    let need =
        "import 1 is paused: 2 rows wait until you resume it, and 3 rows of other imports wait for them\n";
    for status in [&["status"][..], &["status", "1"]] {
        let status = bench.fleetload(status).expect_code(0);
        assert!(status.stdout.contains(need), "{status:?}");
    }
    let told = bench.fleetload(&["resume", "1"]).expect_code(0);
    assert!(told.stdout.contains("as rows of it no longer wait for a paused import: "), "{told:?}");
    advices("fleetload run");
}

#[test]
fn a_row_that_waits_for_two_paused_imports_is_told_of_the_other_when_one_is_resumed() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "companies.csv", 0..1);
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.write(
        "devices.csv",
        "company,site,name,device_model,phone,address1,city,country\n\
         C0,S0,Till 1,Edge 100,+64 9 557 0001,1 Earl Street,Auckland,NZ\n",
    );
    for sheet in ["sites.csv", "devices.csv"] {
        bench.fleetload(&["import", sheet]).expect_code(0);
    }
    for paused in ["1", "2"] {
        bench.fleetload(&["pause", paused]).expect_code(0);
    }
    bench.fleetload(&["report", "3"]).expect_code(0);
    let waits_for = |import: u64| {
        let row = &bench.results(3)[0];
        let words = format!("This row waits for a row of import {import}, which is paused.");
        assert!(row["advice"].as_str().is_some_and(|advice| advice.contains(&words)), "{import}: {row}");
        assert_eq!(bench.summary(3)["paused"], 1);
    };
    waits_for(1);
    let before = bench.summary(3);
    let told = bench.fleetload(&["resume", "1"]).expect_code(0).stdout;
    assert!(told.contains("as rows of it wait for other paused imports: "), "{told}");
    waits_for(2);
    let after = bench.summary(3);
    let told = bench.fleetload(&["resume", "2"]).expect_code(0).stdout;
    assert!(told.contains("as rows of it no longer wait for a paused import: "), "{told}");
    let imports = [before, after, bench.summary(3)].map(|told| told["paused_imports"].clone());
    assert_eq!(imports, [serde_json::json!([1, 2]), serde_json::json!([2]), serde_json::json!([])]);
}

#[test]
fn an_import_whose_rows_all_wait_for_another_one_says_so_and_one_that_is_finished_is_not_paused() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "companies.csv", 0..2);
    bench.write("sites.csv", &bench::sites(4, 2));
    bench.fleetload(&["import", "sites.csv", "--label", "North"]).expect_code(0);
    let status = bench.fleetload(&["status", "2"]).expect_code(0);
    assert!(
        status.stdout.contains("4 rows remaining, waiting for 2 rows of import 1; no run is"),
        "{status:?}"
    );
    assert!(status.stdout.contains("4 rows, 4 unfinished"), "{status:?}");
    bench.fleetload(&["status", "2", "--check"]).expect_code(5);
    let told = bench.fleetload(&["pause", "1"]).expect_code(0);
    assert!(told.stdout.contains("import 1 is paused; 2 rows wait"), "{told:?}");
    let status = bench.fleetload(&["status", "2"]).expect_code(0);
    assert!(
        status.stdout.contains("4 rows remaining, waiting for 2 rows of import 1, which is paused"),
        "{status:?}"
    );
    bench.fleetload(&["resume", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    let told = bench.fleetload(&["pause", "2"]).expect_code(0);
    assert!(
        told.stdout.contains("no row of import 2 'North' waits to be sent; nothing was changed"),
        "{told:?}"
    );
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(!status.stdout.contains("paused"), "{status:?}");
    let told = bench.fleetload(&["cancel", "2"]).expect_code(0);
    assert!(
        told.stdout.contains("nothing to cancel: no row of import 2 'North' is waiting or to be corrected"),
        "{told:?}"
    );
}

/// The names of the companies in the order in which the service made them.
fn in_order(bench: &Bench) -> Vec<String> {
    let name = |entry: fleetload::sandbox::LedgerEntry| {
        entry.request["name"].as_str().unwrap_or_default().to_owned()
    };
    bench.created("company").into_iter().map(name).collect()
}

fn customers(rows: Range<usize>) -> Vec<String> {
    rows.map(|number| format!("Customer {number}")).collect()
}

#[test]
fn rows_of_an_import_with_a_higher_priority_are_sent_first_and_those_of_a_lower_one_last() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    import(&bench, "usual.csv", 0..4);
    bench.write("urgent.csv", &companies(4..7));
    bench.fleetload(&["import", "urgent.csv", "--priority", "10"]).expect_code(0);
    import(&bench, "later.csv", 7..9);
    let told = bench.fleetload(&["priority", "3", "20"]).expect_code(0);
    assert!(
        told.stdout.contains("import 3 has the priority 20 now, after 0; 2 rows of it could be sent now"),
        "{told:?}"
    );
    bench.fleetload(&["priority", "1", "-5"]).expect_code(0);
    let status = bench.fleetload(&["status"]).expect_code(0);
    for words in ["; priority -5", "; priority 10", "; priority 20"] {
        assert!(status.stdout.contains(words), "{words}: {}", status.stdout);
    }
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(in_order(&bench), [customers(7..9), customers(4..7), customers(0..4)].concat());
    bench.fleetload(&["priority", "9", "1"]).expect_code(2);
    bench.fleetload(&["priority", "1", "1001"]).expect_code(2);
}

#[test]
fn a_run_at_work_turns_to_rows_that_were_given_a_priority_and_to_those_that_come_in_with_one() {
    let bench = slow();
    import(&bench, "usual.csv", 0..200);
    import(&bench, "urgent.csv", 200..205);
    bench.write("express.csv", &companies(205..208));
    inside::drive_virtually(async {
        let mut run = slowly(&bench).await;
        let mut side = inside::journal(&bench);
        side.prioritise(ImportId(2), 10, "kim", Moment::default()).expect("a journal");
        let created = |event: &Event| matches!(event, Event::Moved { to: JobState::Created, .. });
        for _ in 0..60 {
            run.hears("more rows", created).await;
        }
        // The command ends while time stands still.
        bench.fleetload(&["import", "express.csv", "--priority", "20"]).expect_code(0);
        run.ends().await;
    });
    let order = in_order(&bench);
    assert_eq!(order.len(), 208);
    let place = |name: &str| order.iter().position(|made| made == name).expect(name);
    let (urgent, express) = (customers(200..205), customers(205..208));
    let places: Vec<usize> = urgent.iter().map(|name| place(name)).collect();
    assert!(places.iter().all(|place| *place < 40), "noticed within seconds: {places:?}");
    let places: Vec<usize> = express.iter().map(|name| place(name)).collect();
    assert!(places.iter().all(|place| *place < 110), "noticed within seconds: {places:?}");
    assert_eq!(order[place(&express[0])..][..3], express[..], "one after the other");
}

#[test]
fn a_row_that_takes_back_what_the_run_at_work_has_put_is_sent() {
    let bench = slow();
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(1, 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv", "--rate", "98"]).expect_code(0);
    let device = bench.created("device")[0].id.to_string();
    let entries = |rows: &[String]| format!("owner_kind,owner,key,value,action\n{}\n", rows.join("\n"));
    let mut rows: Vec<String> = (0..100).map(|n| format!("device,{device},key {n},1,put")).collect();
    rows.insert(0, format!("device,{device},asset,A-1,put"));
    bench.write("metadata.csv", &entries(&rows));
    bench.fleetload(&["import", "metadata.csv"]).expect_code(0);
    bench.write("back.csv", &entries(&[format!("device,{device},asset,,delete")]));
    inside::drive_virtually(async {
        let mut options = inside::options(Duration::from_secs(1));
        options.limits.rate = Rate::PerSecond(10.0);
        options.limits.concurrency = 1;
        let mut run = inside::start_virtually(&bench, Virtual::start(), Duration::from_millis(20), options);
        run.hears_of(JobState::Done).await;
        let back = ["import", "back.csv", "--kind", "metadata", "--priority", "9"];
        bench.fleetload(&back).expect_code(0);
        run.ends().await;
    });
    assert_eq!(bench.requests("deleteDeviceMetadata"), 1);
    bench.fleetload(&["report", "3"]).expect_code(0);
    assert_eq!(bench.results(3)[0]["status"], "done", "{:?}", bench.results(3));
}

#[test]
fn a_row_waits_for_its_parent_whatever_the_priorities_and_the_command_says_so() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    import(&bench, "companies.csv", 0..2);
    bench.write("sites.csv", &bench::sites(4, 2));
    bench.fleetload(&["import", "sites.csv"]).expect_code(0);
    let told = bench.fleetload(&["priority", "2", "5"]).expect_code(0);
    assert!(
        told.stderr.contains("4 rows of it wait for rows of import 1, which has a lower priority"),
        "{told:?}"
    );
    assert!(told.stderr.contains("fleetload priority 1 5"), "{told:?}");
    let told = bench.fleetload(&["priority", "1", "5"]).expect_code(0);
    assert!(!told.stderr.contains("wait"), "{told:?}");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("site").len(), 4);
}

#[test]
fn a_run_at_work_counts_what_is_cancelled_meanwhile() {
    let bench = slow();
    import(&bench, "companies.csv", 0..200);
    inside::drive_virtually(async {
        let mut run = slowly(&bench).await;
        let cancelled = inside::journal(&bench)
            .cancel(ImportId(1), "kim", Moment::default())
            .expect("a journal")
            .cancelled;
        let counted = |event: &Event| match event {
            Event::Rows { tally } => tally.in_state(JobState::Cancelled) == cancelled,
            _ => false,
        };
        run.hears("the rows that are cancelled", counted).await;
        run.ends().await;
    });
}

#[test]
fn what_is_under_way_when_an_import_is_cancelled_is_left_to_the_run_at_work() {
    let stall = Fault { ms: 3_600_000, ..Fault::new("addCompany", FaultKind::Latency) };
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(stall));
    bench.profile("", "rate = 10\nconcurrency = 1", "");
    import(&bench, "companies.csv", 0..3);
    let mut run = bench.start(&["run", "--json"]);
    run.until(|| bench.requests("addCompany") == 1);
    let told = bench.fleetload(&["cancel", "1"]).expect_code(5);
    assert!(told.stdout.contains("2 rows of import 1 cancelled"), "{told:?}");
    let words = "1 row is under way or in doubt; the run in progress records its outcome";
    assert!(told.stderr.contains(words) && told.stderr.contains("fleetload status"), "{told:?}");
    run.kill();
    // Without a run at work the next one finds out.
    let told = bench.fleetload(&["cancel", "1"]).expect_code(5);
    assert!(told.stderr.contains("1 row is in doubt; the next run finds out"), "{told:?}");
}
