//! `prune`: what is old goes, with its reports; what recognises rows stays, and so does everything that needs a person.

use std::fs;
use std::path::Path;

use fleetload::sandbox::{Fault, FaultKind, Scenario};
use rusqlite::Connection;
use serde_json::Value;

use crate::bench::{self, Bench};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Moves everything that the journal knows of imports, requests and runs so many days into the past; reports are known by
/// the moment of their import.
fn age(bench: &Bench, days: i64) {
    let connection = Connection::open(bench.path("fleetload.db")).expect("the journal");
    let past = days * DAY;
    for (table, columns) in [
        ("import", &["at"][..]),
        ("job", &["finished_at", "first_sent_at", "held_since"]),
        ("attempt", &["sent_at", "ended_at"]),
        ("run", &["started_at", "ended_at"]),
        ("notification", &["at"]),
    ] {
        for column in columns {
            connection
                .execute(&format!("UPDATE {table} SET {column} = {column} - ?1 WHERE {column} > ?1"), [past])
                .expect("an aged journal");
        }
    }
    connection.execute("UPDATE quota SET day = day - ?1", [days]).expect("an aged journal");
    drop(connection);
    for entry in fs::read_dir(bench.path("reports")).into_iter().flatten().flatten() {
        let file = entry.path().join("summary.json");
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let mut summary: Value = serde_json::from_str(&text).expect("JSON");
        let at = summary["imported_at_ms"].as_i64().expect("a moment");
        summary["imported_at_ms"] = (at - past).into();
        fs::write(&file, summary.to_string()).expect("a summary");
    }
}

fn number(journal: &Path, question: &str) -> i64 {
    Connection::open(journal)
        .expect("a journal")
        .query_row(question, [], |row| row.get(0))
        .expect("an answer")
}

/// A journal of three imports, each a hundred days older than the next: two of the same companies, and one of sites; and of a
/// new one, which has all of them again.
fn aged() -> Bench {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.write("sites.csv", &bench::sites(4, 3));
    for sheet in ["companies.csv", "companies.csv", "sites.csv"] {
        bench.fleetload(&["run", sheet]).expect_code(0);
        age(&bench, 100);
    }
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    bench
}

#[test]
fn what_is_old_is_listed_and_then_removed_and_rows_are_still_recognised() {
    let bench = aged();
    let journal = bench.path("fleetload.db");
    let before = fs::read(&journal).expect("the journal");
    let listed = bench.fleetload(&["prune", "--older-than", "90d", "--dry-run", "--json"]).expect_code(0);
    let listed = listed.summary();
    let imports: Vec<_> =
        listed["imports"].as_array().expect("imports").iter().map(|import| &import["import"]).collect();
    assert_eq!(imports, [1, 2, 3]);
    assert_eq!(listed["requests"], 7, "{listed}");
    assert_eq!(listed["reports"].as_array().expect("folders").len(), 3);
    let bytes: u64 = bench::below(&bench.path("reports"))
        .iter()
        .filter(|path| path.is_file() && !path.starts_with(bench.path("reports/4")))
        .map(|path| fs::metadata(path).expect("a file").len())
        .sum();
    assert_eq!(listed["bytes"]["reports"], bytes);
    assert_eq!(fs::read(&journal).expect("the journal"), before, "nothing was removed");
    assert!(bench.path("reports/1/report.html").exists());

    bench.write("reports/2/notes.txt", "mine");
    let told = bench.fleetload(&["prune", "--older-than", "90d"]).expect_code(0).stdout;
    assert!(told.contains("7 requests that were sent") && told.contains("import 2: 3 rows"), "{told}");
    assert!(!bench.path("reports/1").exists() && !bench.path("reports/3").exists());
    assert_eq!(bench::below(&bench.path("reports/2")), [bench.path("reports/2/notes.txt")]);
    assert!(bench.path("reports/4/report.html").exists());
    assert_eq!(number(&journal, "SELECT count(*) FROM attempt"), 0);
    assert_eq!(number(&journal, "SELECT count(*) FROM job WHERE state = 'created'"), 7);

    // Everything that reads the journal goes on, and nothing is created again.
    let status = bench.fleetload(&["status", "--all"]).expect_code(0).stdout;
    let listed: Vec<&str> = status.lines().filter(|line| line.starts_with("import ")).collect();
    assert!(listed.len() == 1 && listed[0].starts_with("import 4"), "{status}");
    bench.fleetload(&["report"]).expect_code(0);
    let told = bench.fleetload(&["report", "2"]).expect_code(2).stderr;
    assert!(told.contains("import 2 was pruned"), "{told}");
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    assert_eq!(bench.counts(5), [("created".to_owned(), 7)].into());
    assert_eq!((bench.created("company").len(), bench.created("site").len()), (3, 4));
    bench.assert_exact(5);
    // A row with another address is still compared with the one that was sent.
    let other = bench::sites(4, 3).replace("0 King Street", "0 Duke Street");
    bench.write("sites.csv", &other);
    bench.fleetload(&["run", "sites.csv"]).expect_code(4);
    assert_eq!(bench.summary(6)["changed_since"], 1);
    let told = bench.fleetload(&["prune", "--older-than", "90d"]).expect_code(0).stdout;
    assert!(told.contains("nothing that can be removed is older than 90 days"), "{told}");
}

#[test]
fn an_import_that_needs_somebody_stays_whole() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("bad.csv", &bench::companies(4).replace("Customer 3,+64 9 555 0003", "Customer 3,no number"));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.fleetload(&["run", "bad.csv", "--skip-invalid"]).expect_code(4);
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    age(&bench, 100);
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let told = bench.fleetload(&["prune", "--older-than", "4w"]).expect_code(0).stdout;
    assert!(told.contains("not removed, because rows still need you or wait: import 2"), "{told}");
    assert!(bench.path("reports/2/fix.xlsx").exists() && !bench.path("reports/1").exists());
    bench.fleetload(&["report", "2"]).expect_code(0);
    // Cancelled, it needs nobody any more.
    bench.fleetload(&["cancel", "2"]).expect_code(0);
    bench.fleetload(&["prune", "--older-than", "4w"]).expect_code(0);
    assert!(!bench.path("reports/2").exists());
    bench.fleetload(&["report", "2"]).expect_code(2);
}

#[test]
fn an_import_of_which_rows_are_only_skipped_stays_whole() {
    let refused = Fault::new("addCompany", FaultKind::InvalidState).times(1);
    let bench = Bench::new(Scenario::default().with_fault(refused));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("people.csv", &bench::people(1, 1));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["import", "people.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(4);
    age(&bench, 100);
    bench.write(
        "more.csv",
        &bench::companies(2).replace("\nC0,", "\nC2,").replace("Customer 0", "Customer 2"),
    );
    bench.fleetload(&["run", "more.csv"]).expect_code(0);
    let told = bench.fleetload(&["prune", "--older-than", "4w"]).expect_code(0).stdout;
    assert!(told.contains("not removed, because rows still need you or wait: imports 1, 2"), "{told}");
    // Sent again with the row that it depends on, it needs nobody any more.
    bench.fleetload(&["retry", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    let told = bench.fleetload(&["prune", "--older-than", "4w"]).expect_code(0).stdout;
    assert!(!told.contains("not removed"), "{told}");
}

#[test]
fn nothing_is_removed_beside_a_run_and_nothing_that_is_young() {
    let bench = aged();
    let lock =
        fs::OpenOptions::new().write(true).open(bench.path("fleetload.db.lock")).expect("the lock of runs");
    lock.try_lock().expect("no run is in progress");
    let told = bench.fleetload(&["prune", "--older-than", "90d"]).expect_code(5).stdout;
    assert!(told.contains("a run is in progress: nothing was removed"), "{told}");
    drop(lock);
    assert!(bench.path("reports/1/report.html").exists());
    let told = bench.fleetload(&["prune", "--older-than", "6d"]).expect_code(2).stderr;
    assert!(told.contains("at least 7d"), "{told}");
    bench.fleetload(&["prune"]).expect_code(2);
    let told = bench.fleetload(&["prune", "--older-than", "400d"]).expect_code(0).stdout;
    assert!(told.contains("nothing that can be removed"), "{told}");
}
