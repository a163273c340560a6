//! What the documentation says of the files for programs: every field and column, and no other.

use std::collections::BTreeSet;
use std::fs;

use super::fixture::every_state;
use crate::model::kind::Kind;
use crate::report::RESULT_COLUMNS;
use crate::report::format::results_jsonl::known_by;

/// The names in the first column of a table of the documentation.
fn documented(table: &str) -> BTreeSet<String> {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reports.md")).unwrap();
    let (_, rest) = page.split_once(&format!("<!-- {table} -->")).expect("the beginning of the table");
    let (rows, _) = rest.split_once(&format!("<!-- end of {table} -->")).expect("its end");
    rows.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" | ").next())
        .flat_map(|names| names.split(", "))
        .map(|name| name.trim_matches('`').to_owned())
        .collect()
}

#[test]
fn every_field_and_column_for_programs_is_documented_and_no_other() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let text = |name: &str| fs::read_to_string(written.folder.join(name)).unwrap();
    let keys = |text: &str| -> BTreeSet<String> {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&text("summary.json")), documented("fields of summary.json"));
    assert_eq!(
        RESULT_COLUMNS.map(str::to_owned).into_iter().collect::<BTreeSet<_>>(),
        documented("result columns")
    );
    let mut told: BTreeSet<String> = text("results.jsonl").lines().flat_map(keys).collect();
    // The fixture has companies and devices, and nothing was left out, decided or changed, or differs from what was created.
    told.extend(["left_out", "decided", "differences", "before"].map(str::to_owned));
    told.extend(Kind::ALL.into_iter().flat_map(known_by).map(|name| (*name).to_owned()));
    assert_eq!(told, documented("fields of results.jsonl"));
}

#[test]
fn every_file_of_a_report_is_in_the_documentation() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reports.md")).unwrap();
    let (table, _) = page.split_once("\n\nEvery report names").expect("the table of files");
    for file in &written.files {
        let name = file.file_name().unwrap().to_str().unwrap();
        // A file of its own for each sheet is named after it.
        let known = match name.split_once('.') {
            Some((_, ending)) if ending.contains('.') => format!("`<sheet>.{ending}`"),
            _ => format!("`{name}`"),
        };
        assert!(table.contains(&known), "docs/reports.md does not tell of {known}");
    }
}
