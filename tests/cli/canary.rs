//! `run --canary N`: a few rows of each kind are sent and verified before all others, and decide whether these follow.

use std::collections::BTreeSet;

use crate::bench::{self, Bench};
use crate::windows::in_two_hours;
use fleetload::journal::Journal;
use fleetload::sandbox::{Fault, FaultKind, Scenario};

fn bench() -> Bench {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.write("sites.csv", &bench::sites(6, 3));
    bench.write("people.csv", &bench::people(4, 3));
    bench.write("devices.csv", &bench::devices(20, 3));
    bench
}

const FILES: [&str; 5] = ["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"];

/// Runs the sheets with more arguments.
fn run(bench: &Bench, arguments: &[&str], code: i32) -> bench::Outcome {
    bench.fleetload(&[&FILES, arguments].concat()).expect_code(code)
}

/// How many rows the journal keeps as its canary.
fn under_way(bench: &Bench) -> usize {
    let journal = Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
    journal.canary().expect("the canary").len()
}

#[test]
fn the_rest_follows_when_every_row_of_the_canary_is_done_and_verified() {
    let bench = bench();
    // It is verified even where nothing else is.
    let ended = run(&bench, &["--canary", "2", "--audit", "none"], 0);
    let begun =
        "canary: 2 companies, 2 sites, 2 people, 2 devices are sent and verified before all other rows";
    assert!(ended.stderr.contains(begun), "{}", ended.stderr);
    let passed = "canary: 8 rows are done and verified; the other rows follow";
    assert!(ended.stderr.contains(passed), "{}", ended.stderr);
    let first: Vec<String> = bench.ledger().iter().take(8).map(|entry| entry.kind.to_string()).collect();
    for kind in ["company", "site", "person", "device"] {
        assert_eq!(first.iter().filter(|made| *made == kind).count(), 2, "{first:?}");
    }
    assert_eq!(bench.summary(1)["audit"]["checked"], 8, "{}", bench.summary(1));
    assert_eq!(under_way(&bench), 0);
    bench.assert_exact(1);
}

#[test]
fn a_row_of_the_canary_that_is_cancelled_no_longer_counts() {
    let bench = Bench::new(Scenario { daily_quota: 3, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(5));
    bench.fleetload(&["run", "companies.csv", "--canary", "5", "--on-quota", "exit"]).expect_code(5);
    assert_eq!((bench.created("company").len(), under_way(&bench)), (3, 5));
    bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert_eq!(under_way(&bench), 3);
    bench.sandbox().change(|scenario| scenario.daily_quota = 0).expect("a consistent scenario");
    let ended = bench.fleetload(&["run"]).expect_code(0);
    assert!(ended.stderr.contains("canary: 3 companies are sent and verified"), "{}", ended.stderr);
    assert!(ended.stderr.contains("canary: 3 rows are done and verified"), "{}", ended.stderr);
    assert_eq!(under_way(&bench), 0);
}

#[test]
fn nothing_else_is_sent_when_a_row_of_the_canary_is_rejected_until_it_is_corrected() {
    let bench = bench();
    let good = bench::devices(20, 3);
    bench.write("devices.csv", &good.replace("Edge 100", "Edge 9000"));
    let ended = run(&bench, &["--canary", "1"], 8);
    assert!(
        ended.stdout.contains("canary: 1 of 4 rows is not right; no other row was sent"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("device 'Till 0', devices.csv!devices!2: rejected: noDataFound"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("stopped after the canary: 29 rows remaining"), "{}", ended.stdout);
    let go_on = "to send the other rows anyway: fleetload run --canary 0";
    assert!(ended.stderr.contains(go_on), "{}", ended.stderr);
    assert_eq!(bench.ledger().len(), 3, "one company, one site and one person");

    // A later run, a scheduled one say, sends nothing either, and says the same.
    let requests = |bench: &Bench| -> u64 {
        ["addCompany", "addSite", "addPerson", "addDevice"].iter().map(|name| bench.requests(name)).sum()
    };
    let before = requests(&bench);
    let again = bench.fleetload(&["run", "--json"]).expect_code(8);
    let last = again.summary();
    assert_eq!((&last["state"], &last["reason"]), (&"held".into(), &"canary".into()), "{last}");
    let told = again.stdout.lines().filter(|line| line.contains("\"object\":\"canary_row\"")).count();
    assert_eq!(told, 1, "{}", again.stdout);
    assert_eq!(requests(&bench), before);
    let status = bench.fleetload(&["status", "--check"]).expect_code(8);
    assert!(status.stdout.contains("stopped after the canary: 29 rows remaining"), "{}", status.stdout);
    assert!(
        status.stdout.contains("canary: 1 of its 4 rows is not right: devices.csv!devices!2 (noDataFound)"),
        "{}",
        status.stdout
    );

    // So does whoever plans or imports another sheet.
    let rest = bench::companies(5);
    let [head, .., other] = &rest.lines().collect::<Vec<_>>()[..] else { panic!("{rest}") };
    bench.write("other.csv", &format!("{head}\n{other}\n"));
    let plan = bench.fleetload(&["plan", "other.csv", "--kind", "companies"]).expect_code(0).stderr;
    let goes_first = "a canary of earlier sheets goes first: 4 rows are to be right before any other row is sent; how it \
                      stands: fleetload status\n";
    assert!(plan.contains(goes_first), "{plan}");
    let import = bench.fleetload(&["import", "other.csv", "--kind", "companies"]).expect_code(0).stderr;
    let not_before = "a canary is not right, and no other row is sent before it is. Which rows it is, and why: fleetload status\n";
    assert!(import.contains(not_before), "{import}");

    // Corrected, it goes on, and then everything else.
    bench.write("devices.csv", &good);
    run(&bench, &[], 0);
    assert_eq!(under_way(&bench), 0);
    bench.assert_exact_all(&[2, 3]);
}

#[test]
fn the_rows_to_correct_are_those_of_the_import_that_the_canary_is_of() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("devices.csv", &bench::devices(4, 2).replace("Edge 100", "Edge 9000"));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    bench.write("more.csv", &bench::companies(4).replace("+64 9 555 0003", "no number"));
    bench.fleetload(&["import", "more.csv", "--skip-invalid"]).expect_code(0);
    let ended = bench.fleetload(&["run", "--canary", "1"]).expect_code(8);
    assert!(bench.path("reports/2/fix.xlsx").exists(), "the later import has rows to correct as well");
    let fix = "to correct the rows in reports/1/fix.xlsx and go on: fleetload run reports/1/fix.xlsx\n";
    assert!(ended.stderr.contains(fix) && !ended.stderr.contains("reports/2"), "{}", ended.stderr);
}

#[test]
fn zero_ends_a_canary_and_sends_everything() {
    let bench = bench();
    bench.write("devices.csv", &bench::devices(20, 3).replace("Till 0,Edge 100", "Till 0,Edge 9000"));
    run(&bench, &["--canary", "1"], 8);
    assert!(under_way(&bench) > 0);
    bench.fleetload(&["run", "--canary", "0"]).expect_code(4);
    assert_eq!(under_way(&bench), 0);
    assert_eq!(bench.counts(1), [("created".to_owned(), 32), ("rejected".to_owned(), 1)].into());
}

#[test]
fn a_run_after_a_kill_in_the_canary_goes_on_with_it() {
    let bench = bench();
    bench.profile("", "rate = 2", "");
    let mut killed = bench.start(&[&FILES[..], &["--canary", "2", "--json"]].concat());
    killed.hears(&["\"moved\"", "\"created\""]);
    killed.kill();
    assert_eq!(under_way(&bench), 8, "the journal knows which they are");
    let made_before = bench.ledger().len();
    assert!(made_before < 8, "it was killed in the canary: {made_before}");
    bench.profile("", "rate = \"unlimited\"", "");
    let status = bench.fleetload(&["status"]).expect_code(0).stdout;
    assert!(status.contains("canary: 8 rows are to be right before any other row is sent\n"), "{status}");
    let ended = bench.fleetload(&["run"]).expect_code(0);
    assert!(
        ended.stderr.contains("canary: 2 companies, 2 sites, 2 people, 2 devices are sent"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("canary: 8 rows are done and verified"), "{}", ended.stderr);
    let first: BTreeSet<String> =
        bench.ledger().iter().take(8).map(|entry| format!("{} {}", entry.kind, entry.id)).collect();
    assert_eq!(first.len(), 8);
    let of = |kind: &str| first.iter().filter(|made| made.starts_with(kind)).count();
    assert_eq!((of("company"), of("site"), of("person"), of("device")), (2, 2, 2, 2), "{first:?}");
    bench.assert_exact(1);
}

#[test]
fn a_canary_holds_in_the_next_run_where_the_window_of_this_one_is_closed() {
    let bench = bench();
    let (window, _) = in_two_hours();
    run(&bench, &["--canary", "1", "--between", &window, "--zone", "UTC", "--on-close", "exit"], 5);
    assert_eq!((under_way(&bench), bench.ledger().len()), (4, 0));
    let ended = bench.fleetload(&["run"]).expect_code(0);
    assert!(ended.stderr.contains("canary: 4 rows are done and verified"), "{ended:?}");
}

/// The rows of a sheet wait for those of an import that is paused.
#[test]
fn the_canary_of_a_sheet_has_its_own_rows_though_those_of_earlier_sheets_wait_as_well() {
    let bench = bench();
    let import = [&["import"][..], &FILES[1..]].concat();
    bench.fleetload(&import).expect_code(0);
    let pilot: Vec<String> = {
        let sheet = bench::companies(9);
        let mut lines = sheet.lines();
        [lines.next(), lines.last()].into_iter().flatten().map(str::to_owned).collect()
    };
    bench.write("pilot.csv", &format!("{}\n", pilot.join("\n")));
    let ended = bench.fleetload(&["run", "pilot.csv", "--kind", "companies", "--canary", "1"]).expect_code(0);
    assert!(
        ended.stderr.contains("canary: 1 company is sent and verified before all other rows"),
        "{ended:?}"
    );
    let first = &bench.created("company")[0];
    assert!(pilot[1].contains(first.request["name"].as_str().expect("a name")), "{first:?}");
}

/// Two sheets, `a.csv` and `b.csv`, of three companies each, with the rows of both; the service refuses the first creation.
fn two_sheets() -> (Bench, Vec<String>) {
    let refused = Fault::new("addCompany", FaultKind::InvalidData).times(1);
    let bench = Bench::new(Scenario { fault: vec![refused], ..Scenario::default() });
    let sheet = bench::companies(6);
    let [head, rows @ ..] = &sheet.lines().collect::<Vec<_>>()[..] else { panic!("{sheet}") };
    bench.write("a.csv", &format!("{head}\n{}\n", rows[..3].join("\n")));
    bench.write("b.csv", &format!("{head}\n{}\n", rows[3..].join("\n")));
    let rows = rows.iter().map(|row| (*row).to_owned()).collect();
    (bench, rows)
}

#[test]
fn a_sheet_has_a_canary_of_its_own_while_that_of_another_is_under_way() {
    let (bench, rows) = two_sheets();
    for (name, kept, made) in [("a.csv", 1, 0), ("b.csv", 2, 1)] {
        bench.fleetload(&["run", name, "--kind", "companies", "--canary", "1"]).expect_code(8);
        assert_eq!((under_way(&bench), bench.ledger().len()), (kept, made), "{name}");
    }
    bench.fleetload(&["retry", "1"]).expect_code(0);
    let ended = bench.fleetload(&["run"]).expect_code(0);
    assert!(ended.stderr.contains("canary: 2 rows are done and verified"), "{ended:?}");
    let first: Vec<String> =
        bench.created("company").iter().map(|made| made.request["name"].to_string()).collect();
    for (name, rows) in [("a.csv", &rows[..3]), ("b.csv", &rows[3..])] {
        let of_sheet = |made: &&String| rows.iter().any(|row| row.contains(made.trim_matches('"')));
        assert_eq!(first.iter().take(2).filter(of_sheet).count(), 1, "{name}: {first:?}");
    }
}

#[test]
fn the_canary_of_a_paused_import_keeps_no_other_import_waiting_and_counts_again_when_it_is_resumed() {
    let (bench, _) = two_sheets();
    bench.fleetload(&["run", "a.csv", "--kind", "companies", "--canary", "1"]).expect_code(8);
    bench.fleetload(&["run", "b.csv", "--kind", "companies"]).expect_code(8);
    assert_eq!(bench.ledger().len(), 0);

    bench.fleetload(&["pause", "1"]).expect_code(0);
    let plan = bench.fleetload(&["plan", "b.csv", "--kind", "companies"]).expect_code(0);
    assert!(!plan.stderr.contains("canary"), "{plan:?}");
    let ended = bench.fleetload(&["run"]);
    assert!(!ended.stderr.contains("canary"), "{ended:?}");
    assert_eq!(bench.counts(2), [("created".to_owned(), 3)].into());

    bench.fleetload(&["resume", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(8);
    assert_eq!((bench.ledger().len(), under_way(&bench)), (3, 1));
    bench.fleetload(&["retry", "1"]).expect_code(0);
    let ended = bench.fleetload(&["run"]).expect_code(0);
    assert!(ended.stderr.contains("canary: 1 row is done and verified"), "{ended:?}");
}

#[test]
fn that_no_row_of_the_sheet_can_be_sent_as_its_canary_is_told_with_the_command_that_sends_one_later() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.write("sites.csv", &bench::sites(6, 3));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let told = "no row of import 2 can be sent yet, so none is in a canary; when they can be sent: fleetload run --canary 1\n";
    let ended = bench.fleetload(&["run", "sites.csv", "--canary", "1"]).expect_code(5);
    assert!(ended.stderr.contains(told), "{ended:?}");
    // Nor where the rows of another import can be sent.
    let companies = bench::companies(4);
    let [head, .., other] = &companies.lines().collect::<Vec<_>>()[..] else { panic!("{companies}") };
    bench.write("other.csv", &format!("{head}\n{other}\n"));
    bench.fleetload(&["import", "other.csv"]).expect_code(0);
    let ended = bench.fleetload(&["run", "sites.csv", "--canary", "1"]).expect_code(5);
    assert!(ended.stderr.contains(&told.replace("import 2", "import 4")), "{ended:?}");
    assert_eq!(bench.ledger().len(), 1);

    bench.fleetload(&["resume", "1"]).expect_code(0);
    let ended = bench.fleetload(&["run", "--canary", "1"]).expect_code(0);
    assert!(ended.stderr.contains("canary: 1 company, 1 site are sent and verified"), "{ended:?}");
    assert!(!ended.stderr.contains("can be sent yet"), "{ended:?}");
}

#[test]
fn what_a_corrected_row_of_the_canary_waits_for_at_its_record_is_sent_with_it() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "concurrency = 1", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(3, 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    let devices: Vec<String> = bench.created("device").iter().map(|device| device.id.to_string()).collect();
    let metadata = |row: &str| format!("owner_kind,owner,key,value,action\n{row}\n");
    let put = |value| {
        metadata(
            &devices.iter().map(|id| format!("device,{id},floor,{value},")).collect::<Vec<_>>().join("\n"),
        )
    };
    bench.write("metadata.csv", &put(1));
    let refusal = Fault::new("putDeviceMetadata", FaultKind::InvalidState).times(1);
    bench.sandbox().change(|scenario| scenario.fault = vec![refusal]).expect("a fault");
    bench.fleetload(&["run", "metadata.csv", "--canary", "2"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["invalid_state"], 1);
    assert_eq!(under_way(&bench), 2);

    // What is taken away from a record comes before what is put on it. Of the row that is done nothing waits.
    let removals: Vec<String> = devices.iter().map(|id| format!("device,{id},other,,delete")).collect();
    bench.write("removal.csv", &metadata(&removals[..2].join("\n")));
    bench.fleetload(&["import", "removal.csv", "--kind", "metadata"]).expect_code(0);
    bench.write("metadata.csv", &put(2));
    let ended = bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    assert!(
        ended.stderr.contains("canary: 3 rows are done and verified; the other rows follow"),
        "{ended:?}"
    );
    assert_eq!(under_way(&bench), 0);
}
