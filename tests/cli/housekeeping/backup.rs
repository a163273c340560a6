//! `backup`: one whole file, taken during a run as well, which is known as an older copy when it is restored.

use std::fs;

use fleetload::sandbox::{Fault, FaultKind, Scenario};

use crate::bench::{self, Bench};

/// A bench whose service takes a moment for each device, so that a run lasts.
fn slow() -> Bench {
    let bench = Bench::new(Scenario { latency_ms: [20, 60], ..Scenario::default() });
    bench.profile("", "rate = 90", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(120, 3));
    bench
}

#[test]
fn a_backup_is_taken_checked_and_counted() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(4));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let outcome = bench.fleetload(&["backup", "copy.db", "--json"]).expect_code(0);
    let taken = outcome.summary();
    assert_eq!(
        (&taken["imports"], &taken["rows"], &taken["counts"]["created"]),
        (&1.into(), &4.into(), &4.into())
    );
    assert_eq!(taken["bytes"], fs::metadata(bench.path("copy.db")).expect("the backup").len());
    assert!(taken["taken_at"].is_string(), "{taken}");

    // The check needs neither journal nor profile.
    fs::rename(bench.path("fleetload.db"), bench.path("elsewhere.db")).expect("a journal");
    let outcome = bench.fleetload(&["backup", "--check", "copy.db"]).expect_code(0);
    for words in
        ["account onboarding at", "every page is in order", "taken ", "1 import", "4 rows: 4 created"]
    {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    assert_eq!(
        bench.fleetload(&["backup", "--check", "copy.db", "--json"]).summary()["taken_at"],
        taken["taken_at"]
    );
    let beside = bench::below(bench.path("").as_path());
    assert!(beside.iter().all(|path| !path.to_string_lossy().contains("copy.db-")), "{beside:?}");

    // What is no backup is said to be none, without a word of the journal.
    fs::write(bench.path("text.db"), "a text").expect("a file");
    for other in ["text.db", "."] {
        let outcome = bench.fleetload(&["backup", "--check", other]).expect_code(6);
        assert!(
            outcome.stderr.contains("hint: name a file that `fleetload backup` wrote"),
            "{}",
            outcome.stderr
        );
    }

    // A damaged one is said to be so.
    let mut bytes = fs::read(bench.path("copy.db")).expect("the backup");
    let end = bytes.len();
    bytes[end - 4096 * 4..].fill(0x5a);
    fs::write(bench.path("copy.db"), bytes).expect("the backup");
    let outcome = bench.fleetload(&["backup", "--check", "copy.db"]).expect_code(6);
    assert!(outcome.stderr.contains("the backup copy.db is damaged"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("journal is damaged"), "{}", outcome.stderr);
}

#[test]
fn a_file_that_is_there_is_replaced_with_force_only_and_the_journal_never() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["backup", "copy.db"]).expect_code(0);
    let outcome = bench.fleetload(&["backup", "copy.db"]).expect_code(2);
    assert!(outcome.stderr.contains("--force"), "{}", outcome.stderr);
    bench.fleetload(&["backup", "copy.db", "--force"]).expect_code(0);
    let before = fs::read(bench.path("fleetload.db")).expect("the journal");
    bench.write("fleetload.db.rescued", "what a run saved");
    fs::create_dir_all(bench.path("fleetload.db.stdin")).expect("a folder");
    let beside = ["-wal", ".lock", ".rescued", ".rescued-2", ".v1.bak", ".spill.left-out", ".stdin/a.csv"];
    let beside = beside.map(|ending| format!("fleetload.db{ending}"));
    for own in ["fleetload.db", "./fleetload.db"].into_iter().chain(beside.iter().map(String::as_str)) {
        let outcome = bench.fleetload(&["backup", own, "--force"]).expect_code(2);
        assert!(outcome.stderr.contains("the journal itself"), "{}", outcome.stderr);
    }
    assert_eq!(fs::read(bench.path("fleetload.db")).expect("the journal"), before);
    assert_eq!(fs::read(bench.path("fleetload.db.rescued")).expect("a file"), b"what a run saved");
    bench.fleetload(&["backup", "--check", "none.db"]).expect_code(6);
    bench.fleetload(&["backup", "--check", "companies.csv"]).expect_code(6);
}

/// The backup is of a moment at which requests were under way; what the run created after it is in no row of it.
#[test]
fn a_backup_taken_during_a_run_is_noticed_when_it_is_restored_and_creates_nothing_twice() {
    let bench = slow();
    let silent = Fault::new("addDevice", FaultKind::StallBefore).after(60);
    bench.sandbox().change(|scenario| scenario.fault.push(silent)).expect("a consistent scenario");
    let mut run = bench.start(&["run", "companies.csv", "devices.csv", "--json"]);
    run.until(|| bench.statistics().faults_fired.contains_key("stall_before"));
    bench.fleetload(&["backup", "copy.db"]).expect_code(0);
    bench.fleetload(&["backup", "--check", "copy.db"]).expect_code(0);
    run.kill();
    bench.clear_faults();
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 120);

    // Restored as the page on the journal says.
    for ending in ["", "-wal", "-shm"] {
        drop(fs::remove_file(bench.path(&format!("fleetload.db{ending}"))));
    }
    fs::copy(bench.path("copy.db"), bench.path("fleetload.db")).expect("a backup");
    let before = bench.ledger().len();
    let outcome = bench.fleetload(&["run"]).expect_code(6);
    assert!(outcome.stderr.contains("is an older copy"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--accept-journal"), "{}", outcome.stderr);
    assert_eq!(bench.ledger().len(), before, "nothing was sent");

    bench.fleetload(&["run", "--accept-journal"]).expect_code(0);
    assert_eq!((bench.created("device").len(), bench.created("company").len()), (120, 3));
    bench.assert_exact(1);
    // It is the journal now, and no backup any more.
    let outcome = bench.fleetload(&["backup", "--check", "fleetload.db"]).expect_code(0);
    assert!(outcome.stdout.contains("run since"), "{}", outcome.stdout);
}

#[test]
fn a_backup_that_lacks_nothing_just_goes_on() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(3, 2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.fleetload(&["backup", "copy.db"]).expect_code(0);
    fs::rename(bench.path("copy.db"), bench.path("fleetload.db")).expect("a backup");
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    assert_eq!(bench.created("site").len(), 3);
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 2);
}

/// Rejected rows of the copy are not sent by the run that accepts it, and looked up by the one that sends them again.
#[test]
fn rejected_rows_of_an_accepted_copy_are_looked_up_when_they_are_sent_again() {
    let bench = Bench::new(Scenario::default().with_fault(Fault::new("addCompany", FaultKind::InvalidData)));
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    bench.fleetload(&["backup", "copy.db"]).expect_code(0);
    bench.clear_faults();
    bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 2);
    fs::rename(bench.path("copy.db"), bench.path("fleetload.db")).expect("a backup");

    let accepted = bench.fleetload(&["run", "--accept-journal"]).expect_code(4);
    assert!(
        accepted.stderr.contains(
            "accepted as it is: 2 rows that failed or were skipped are looked up if they are sent again"
        ) && !accepted.stderr.contains("before anything is sent"),
        "{}",
        accepted.stderr
    );
    bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    // The copy knows which records were there before the rows were first sent.
    assert_eq!((bench.counts(1)["adopted"], bench.created("company").len()), (2, 2));
}
