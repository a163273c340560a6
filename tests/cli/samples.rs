//! The committed sample sheets are what the program that makes them makes, and as right or as wrong as they claim.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fleetload::sheet::cross_row::{Between, Nothing};
use fleetload::sheet::finding::{Code, Finding, Severity};
use fleetload::sheet::{self, Options, Row};

#[path = "../../samples/make/mod.rs"]
mod make;

/// Every file below a folder but the sources, by its path within it.
fn files(folder: &Path) -> make::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            let inside = path.strip_prefix(folder)?.to_owned();
            // The sources, and the pages among the templates, are written by hand.
            if ["make", "make.rs", "README.md", "page"].iter().any(|name| inside.starts_with(name)) {
                continue;
            }
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(inside, fs::read(path)?);
            }
        }
    }
    Ok(found)
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_committed_samples_are_current() {
    let folder = tempfile::tempdir().unwrap();
    make::all(folder.path()).unwrap();
    let (kept, made) = (files(&here().join("samples")).unwrap(), files(folder.path()).unwrap());
    assert_eq!(kept.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>());
    for (path, bytes) in made {
        assert!(kept[&path] == bytes, "{}: run cargo run --example samples -- all", path.display());
    }
}

#[test]
fn the_committed_blank_sheets_are_current() {
    let folder = tempfile::tempdir().unwrap();
    make::templates(folder.path()).unwrap();
    let kept = files(&here().join("templates")).unwrap();
    for (path, bytes) in files(folder.path()).unwrap() {
        let current = kept.get(&path).is_some_and(|kept| *kept == bytes);
        assert!(current, "templates/{}: run cargo run --example samples -- templates", path.display());
    }
}

#[test]
fn the_pages_of_the_documentation_that_are_made_from_the_program_are_current() {
    let folder = tempfile::tempdir().unwrap();
    let docs = here().join("docs");
    for page in ["sheets.md", "upkeep.md", "scheduling.md", "guarantees.md", "metrics.md"] {
        fs::copy(docs.join(page), folder.path().join(page)).unwrap();
    }
    for written in make::renew_docs(folder.path()).unwrap() {
        let name = written.file_name().unwrap().to_str().unwrap();
        let kept = fs::read_to_string(docs.join(name)).unwrap_or_default();
        let current = kept == fs::read_to_string(&written).unwrap();
        assert!(current, "docs/{name}: run cargo run --example samples -- docs");
    }
}

#[cfg(feature = "schemas")]
#[test]
fn the_schemas_of_all_objects_are_current() {
    let folder = tempfile::tempdir().unwrap();
    make::schemas(folder.path()).unwrap();
    let kept = files(&here().join("docs").join("schema")).unwrap();
    let made = files(folder.path()).unwrap();
    assert!(kept == made, "docs/schema: run cargo run --all-features --example samples -- schemas");
}

#[test]
fn a_large_import_has_the_size_asked_for_and_is_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count() as u64 - 1;
    for rows in [1, 7, 1_000] {
        let (first, again) = (folder.path().join(format!("a{rows}")), folder.path().join(format!("b{rows}")));
        let written = make::large(rows, &first, 1).unwrap();
        assert_eq!(written.iter().map(|path| lines(path)).sum::<u64>(), rows);
        make::large(rows, &again, 1).unwrap();
        assert!(files(&first).unwrap() == files(&again).unwrap());
    }
    let (one, other) = (folder.path().join("one.xlsx"), folder.path().join("other.xlsx"));
    make::large(1_000, &one, 7).unwrap();
    make::large(1_000, &other, 7).unwrap();
    assert!(fs::read(one).unwrap() == fs::read(other).unwrap());
    let single = folder.path().join("big-sites.csv");
    make::large(50, &single, 1).unwrap();
    assert_eq!(lines(&single), 50);
    assert!(fs::read_to_string(single).unwrap().starts_with("key,company,name,reference,"));
}

/// Everything that is found in some files, read as one import.
fn findings(paths: &[PathBuf]) -> fleetload::error::Result<(usize, Vec<Finding>)> {
    let mut found = Vec::new();
    let mut between = Between::default();
    let mut rows = 0;
    for path in paths {
        let book = match sheet::open(path, &Options::default()) {
            Ok(book) => book,
            Err(findings) => {
                found.extend(findings);
                continue;
            }
        };
        found.extend(book.findings.iter().cloned());
        for table in &book.tables {
            let number = between.table(table);
            let summary = book.read(table, &mut |row: Row| {
                rows += 1;
                between.add(number, &row);
                found.extend(row.findings);
                Ok(())
            })?;
            found.extend(summary.findings);
        }
    }
    between.check(&Nothing, &mut |finding| found.push(finding))?;
    Ok((rows, found))
}

fn told(findings: &[Finding]) -> String {
    let tell = |finding: &Finding| {
        let place = finding.cell.as_deref().or(finding.header.as_deref()).unwrap_or("");
        format!("{} {}!{place}: {}\n", finding.code, finding.sheet.as_deref().unwrap_or(""), finding.message)
    };
    findings.iter().map(tell).collect()
}

#[test]
fn the_onboarding_workbook_is_right_and_so_are_its_csv_files() {
    let samples = here().join("samples");
    let csv = ["companies", "people", "sites", "devices"]
        .map(|name| samples.join("onboarding").join(format!("{name}.csv")));
    for files in [vec![samples.join("onboarding.xlsx")], csv.to_vec()] {
        let (rows, found) = findings(&files).unwrap();
        assert_eq!(rows, 312);
        let worse: Vec<_> = found.into_iter().filter(|finding| finding.severity != Severity::Info).collect();
        assert!(worse.is_empty(), "{}", told(&worse));
    }
}

#[test]
fn every_planted_mistake_is_found_and_nothing_else_is() {
    let samples = here().join("samples");
    let (_, found) = findings(&[samples.join("mistakes.xlsx")]).unwrap();
    let found: Vec<_> = found.into_iter().filter(|finding| finding.severity != Severity::Info).collect();
    let mut places: Vec<(String, String, String)> = found
        .iter()
        .map(|finding| {
            let place = (finding.sheet.clone(), finding.cell.clone());
            (place.0.unwrap_or_default(), place.1.unwrap_or_default(), finding.code.to_string())
        })
        .collect();
    let mut planted: Vec<(String, String, String)> = csv::Reader::from_path(samples.join("mistakes.csv"))
        .unwrap()
        .records()
        .map(|record| {
            let record = record.unwrap();
            (record[0].to_owned(), record[1].to_owned(), record[2].to_owned())
        })
        .collect();
    places.sort();
    planted.sort();
    assert_eq!(places, planted, "{}", told(&found));
}

#[test]
fn what_the_service_refuses_no_check_can_find() {
    let (rows, found) = findings(&[here().join("samples/service-refuses.csv")]).unwrap();
    assert_eq!(rows, 7);
    assert!(found.iter().all(|finding| finding.code == Code::RefUnverified), "{}", told(&found));
}

#[test]
fn the_upkeep_workbook_is_right() {
    let (rows, found) = findings(&[here().join("samples/upkeep.xlsx")]).unwrap();
    assert_eq!(rows, 12);
    let worse: Vec<_> = found.into_iter().filter(|finding| finding.severity != Severity::Info).collect();
    assert!(worse.is_empty(), "{}", told(&worse));
}

#[test]
fn a_large_import_has_no_mistake() {
    let folder = tempfile::tempdir().unwrap();
    for out in ["big", "big.xlsx", "devices.csv", "companies.csv", "people.csv"] {
        let written = make::large(2_000, &folder.path().join(out), 1).unwrap();
        let (rows, found) = findings(&written).unwrap();
        assert_eq!(rows, 2_000, "{out}");
        let worse: Vec<_> = found.into_iter().filter(|finding| finding.severity != Severity::Info).collect();
        assert!(worse.is_empty(), "{out}: {}", told(&worse));
    }
}
