//! The main job, end to end: a workbook as a customer's team sends it, checked, imported, run and reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::bench::Bench;
use calamine::{Data, Reader, Xlsx, open_workbook};
use fleetload::sandbox::{LedgerEntry, Scenario};
use serde_json::Value;

fn sample(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(name);
    path.to_str().expect("a UTF-8 path").to_owned()
}

/// The rows of a worksheet of the sample workbook, by header.
fn rows(sheet: &str) -> Vec<BTreeMap<String, String>> {
    let mut book: Xlsx<_> = open_workbook(sample("onboarding.xlsx")).expect("the sample");
    let range = book.worksheet_range(sheet).expect("the worksheet");
    let mut lines = range.rows().map(|row| row.iter().map(text).collect::<Vec<_>>());
    let headers: Vec<String> = lines.next().expect("a header").iter().map(|header| folded(header)).collect();
    lines.map(|line| headers.iter().cloned().zip(line).collect()).collect()
}

fn text(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        cell => cell.to_string().trim().to_owned(),
    }
}

fn folded(header: &str) -> String {
    header.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn by_name(entries: &[LedgerEntry]) -> BTreeMap<String, &LedgerEntry> {
    entries.iter().map(|entry| (entry.request["name"].as_str().expect("a name").to_owned(), entry)).collect()
}

/// Holds what the service has made against the sample workbook: every row once, below the right parent.
fn assert_onboarded(bench: &Bench) {
    let companies = bench.created("company");
    let names = by_name(&companies);
    let rows_of_companies = rows("Companies");
    assert_eq!(companies.len(), rows_of_companies.len());
    let column = |row: &BTreeMap<String, String>, wanted: &[&str]| {
        wanted.iter().find_map(|header| row.get(*header)).cloned().unwrap_or_default()
    };
    let key_to_name: BTreeMap<String, String> = rows_of_companies
        .iter()
        .map(|row| (column(row, &["key", "ref"]).to_lowercase(), column(row, &["companyname", "name"])))
        .collect();
    let mut below_root = 0;
    for row in &rows_of_companies {
        let made = names[&column(row, &["companyname", "name"])];
        let parent = column(row, &["parent", "parentcompany"]);
        let expected = match parent.parse::<uuid::Uuid>() {
            Ok(id) => {
                below_root += 1;
                id
            }
            Err(_) => {
                let name = key_to_name.get(&parent.to_lowercase()).unwrap_or(&parent);
                names[name].id
            }
        };
        assert_eq!(made.parent, Some(expected), "the parent of {row:?}");
    }
    assert!(below_root >= 1);
    for (kind, sheet) in [("site", "Sites"), ("person", "People"), ("device", "Devices")] {
        let made = bench.created(kind);
        assert_eq!(made.len(), rows(sheet).len(), "{kind}");
        let owners: BTreeSet<_> = companies.iter().map(|company| Some(company.id)).collect();
        for entry in &made {
            let owned =
                owners.contains(&entry.parent) || entry.parent == Some(fleetload::sandbox::ROOT_COMPANY);
            assert!(owned, "{kind} {} belongs to a company of the workbook", entry.id);
        }
    }
    let people: BTreeSet<String> = bench
        .created("person")
        .iter()
        .map(|entry| entry.request["username"].as_str().expect("a username").to_owned())
        .collect();
    let expected: BTreeSet<String> = rows("People").iter().map(|row| row["username"].clone()).collect();
    assert_eq!(people, expected);
    bench.assert_exact(1);
}

/// What the service was asked to create, without the ids that differ from run to run.
fn requests(bench: &Bench) -> BTreeSet<String> {
    let mut requests: Vec<Value> =
        bench.ledger().into_iter().filter(|entry| entry.created).map(|entry| entry.request).collect();
    for request in &mut requests {
        if let Some(request) = request.as_object_mut() {
            request.retain(|field, _| !field.ends_with("Id"));
        }
    }
    requests.iter().map(Value::to_string).collect()
}

#[test]
fn the_sample_workbook_is_created_row_by_row_below_the_right_parents_and_the_csv_files_give_the_same() {
    let workbook = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    let outcome = workbook.fleetload(&["run", &sample("onboarding.xlsx")]).expect_code(0);
    assert!(outcome.stdout.contains("312"), "{}", outcome.stdout);
    assert_eq!(workbook.counts(1), [("created".to_owned(), 312)].into());
    assert_onboarded(&workbook);
    for entry in ["label", "metadata", "licence", "subscription", "vpn_cloud"] {
        assert!(workbook.ledger().iter().any(|made| made.kind == entry), "{entry}: nothing was put");
    }

    let text = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    let files =
        ["companies", "people", "sites", "devices"].map(|kind| sample(&format!("onboarding/{kind}.csv")));
    let mut arguments = vec!["run"];
    arguments.extend(files.iter().map(String::as_str));
    text.fleetload(&arguments).expect_code(0);
    assert_eq!(requests(&text), requests(&workbook));
}

#[test]
fn the_reports_of_the_sample_are_whole_and_the_same_when_written_twice() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    let run = bench.fleetload(&["run", &sample("onboarding.xlsx")]).expect_code(0);
    let told = "report of import 1: reports/1/report.html, results.xlsx\n";
    assert!(run.stdout.contains(told), "{}", run.stdout);
    let folder = bench.path("reports/1");
    let read = || -> BTreeMap<String, Vec<u8>> {
        std::fs::read_dir(&folder)
            .expect("reports")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.display().to_string(), std::fs::read(&path).expect("a report")))
            .collect()
    };
    let first = read();
    for name in ["report.html", "Companies.results.csv", "results.xlsx", "results.jsonl", "summary.json"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    bench.fleetload(&["report"]).expect_code(0);
    assert_eq!(first.keys().collect::<Vec<_>>(), read().keys().collect::<Vec<_>>());
    for (name, bytes) in read() {
        assert!(first[&name] == bytes, "{name} differs when it is written again");
    }
    assert_eq!(bench.results(1).len(), 312);
}

#[test]
fn check_names_every_planted_mistake_and_sends_nothing() {
    let bench = Bench::new(Scenario::default());
    let outcome = bench.fleetload(&["check", &sample("mistakes.xlsx"), "--json"]).expect_code(3);
    let found: BTreeSet<(String, String, String)> = outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter_map(|finding| {
            let field = |name: &str| finding[name].as_str().map(str::to_owned);
            Some((field("sheet")?, field("cell")?, field("code")?))
        })
        .collect();
    let planted = std::fs::read_to_string(sample("mistakes.csv")).expect("the list");
    let mut reader = csv::Reader::from_reader(planted.as_bytes());
    let mut count = 0;
    for record in reader.records() {
        let record = record.expect("a line");
        let wanted = (record[0].to_owned(), record[1].to_owned(), record[2].to_owned());
        assert!(found.contains(&wanted), "{wanted:?} was not found among {found:#?}");
        count += 1;
    }
    assert!(count >= 20, "{count} mistakes are planted");
    let outcome = bench.fleetload(&["run", &sample("mistakes.xlsx")]).expect_code(3);
    assert!(outcome.stdout.contains("nothing was imported and nothing was sent"), "{}", outcome.stdout);
    assert!(bench.statistics().requests.is_empty(), "nothing was sent");
    assert!(!bench.path("reports").exists());
}
