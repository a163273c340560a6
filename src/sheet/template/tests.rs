use super::*;
use crate::sheet::between::{Between, Nothing};
use crate::sheet::finding::{Code, Finding, Severity};
use crate::sheet::{Mapped, Options, Row, Table, open};

/// The tables of some files and everything found in them, read as one import.
fn read(paths: &[PathBuf]) -> (Vec<Table>, usize, Vec<Finding>) {
    let (mut tables, mut found, mut between, mut rows) = (Vec::new(), Vec::new(), Between::default(), 0);
    for path in paths {
        let book = open(path, &Options::default()).map_err(|found| format!("{found:?}")).expect("it opens");
        found.extend(book.findings.iter().cloned());
        for table in &book.tables {
            let number = between.table(table);
            let mut take = |row: Row| {
                rows += 1;
                between.add(number, &row);
                found.extend(row.findings);
                Ok(())
            };
            let summary = book.read(table, &mut take).expect("it is read");
            found.extend(summary.findings);
            tables.push(table.clone());
        }
    }
    between.check(&Nothing, &mut |finding| found.push(finding)).expect("nothing is looked up");
    (tables, rows, found)
}

fn codes(found: &[Finding]) -> Vec<Code> {
    let mut codes: Vec<Code> = found.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn a_blank_workbook_reads_back_with_nothing_but_its_example_rows_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("blank.xlsx");
    workbook(&Kind::ALL, &out).unwrap();
    let (tables, rows, found) = read(&[out]);
    assert_eq!(rows, 0);
    assert_eq!(codes(&found), [Code::SheetEmpty, Code::RowTemplate], "{found:?}");
    assert!(found.iter().all(|finding| finding.severity == Severity::Info), "{found:?}");
    for (table, kind) in tables.iter().zip(Kind::ALL) {
        assert_eq!(table.kind, kind);
        let expected: Vec<_> = shown(kind).map(|column| Mapped::Column { column, entry: None }).collect();
        assert_eq!(table.mapping, expected);
    }
    assert_eq!(tables.len(), 4);
}

#[test]
fn blank_csv_files_read_back_like_the_workbook() {
    let folder = tempfile::tempdir().unwrap();
    let paths = csv(&Kind::ALL, &folder.path().join("new")).unwrap();
    assert_eq!(paths.len(), 4);
    let (tables, rows, found) = read(&paths);
    assert_eq!((tables.len(), rows), (4, 0));
    assert_eq!(codes(&found), [Code::SheetEmpty, Code::RowTemplate], "{found:?}");
}

#[test]
fn the_examples_are_rows_that_can_be_imported_and_fit_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for kind in Kind::ALL {
        let own = shown(kind).find(|column| column.form == Form::Key).unwrap().example;
        let above = columns(Kind::Company).iter().find(|column| column.name == "parent").unwrap().example;
        let text = String::from_utf8(csv_bytes(kind).unwrap())
            .unwrap()
            .replace(EXAMPLE_KEY, own)
            // The company above the example is one that exists.
            .replace(above, "6f1c2a3e-0000-4000-8000-000000000001");
        let path = folder.path().join(format!("{kind}.csv"));
        std::fs::write(&path, text).unwrap();
        paths.push(path);
    }
    let (_, rows, found) = read(&paths);
    assert_eq!(rows, 4);
    assert!(found.iter().all(|finding| finding.severity == Severity::Info), "{found:?}");
}

#[test]
fn the_same_columns_give_the_same_bytes() {
    assert!(workbook_bytes(&Kind::ALL).unwrap() == workbook_bytes(&Kind::ALL).unwrap());
    let twice = [Kind::Site, Kind::Site];
    assert!(workbook_bytes(&twice).unwrap() == workbook_bytes(&[Kind::Site]).unwrap());
}

#[test]
fn what_somebody_may_have_filled_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mine.xlsx");
    std::fs::write(&out, "filled").unwrap();
    let error = workbook(&[Kind::Device], &out).unwrap_err();
    assert!(error.what().ends_with("is there already"), "{error}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "filled");
    std::fs::write(folder.path().join("people.csv"), "filled").unwrap();
    assert!(csv(&[Kind::Company, Kind::Person], folder.path()).is_err());
    assert!(!folder.path().join("companies.csv").exists());
    assert!(workbook_bytes(&[]).is_err());
}
