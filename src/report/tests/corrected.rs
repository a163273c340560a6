//! The files of rows to correct: they are imported as they are, go when nothing is left to correct, and what somebody
//! has corrected in them is never lost.

use super::*;
use crate::journal::Selection;
use crate::sheet::{Draft, Row};

#[test]
fn what_is_to_be_corrected_imports_as_it_is_with_the_same_drafts() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let drafts = |rows: Vec<Row>| -> Vec<Draft> { rows.into_iter().map(|row| row.draft.unwrap()).collect() };
    let companies = drafts(rows_of("companies.csv", COMPANIES).1);
    let devices = drafts(rows_of("devices.csv", DEVICES).1);
    let expected = [vec![companies[1].clone()], vec![devices[1].clone(), devices[2].clone()]];

    let from_csv = ["Companies.fix.csv", "_Till_ devices.fix.csv"]
        .map(|name| drafts(read(&written.folder.join(name)).remove(0).1));
    assert_eq!(from_csv, expected);
    let from_workbook: Vec<Vec<Draft>> =
        read(&written.fix.unwrap()).into_iter().map(|(_, rows)| drafts(rows)).collect();
    assert_eq!(from_workbook, expected);
}

#[test]
fn what_keeps_a_value_text_in_a_csv_file_is_in_no_report_and_what_is_text_in_a_workbook_is_in_each() {
    let line = |text: &str| text.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    let wrapped = line(COMPANIES).replace("+64 9 555 0100", "'09 555 0100").replace("Acme Ltd", "=\"00777\"");
    let folder = tempfile::tempdir().unwrap();
    let workbook = folder.path().join("companies.xlsx");
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet().set_name("Companies").unwrap();
    for (row, line) in (0..).zip(wrapped.lines()) {
        sheet.write_row(row, 0, line.split(',')).unwrap();
    }
    book.save(&workbook).unwrap();
    let tables = [rows_of("companies.csv", &wrapped), read(&workbook).remove(0)];
    for (table, is_sent_as_it_is) in tables.into_iter().zip([false, true]) {
        let drafts = |rows: &[Row]| rows.iter().map(|row| row.draft.clone().unwrap()).collect::<Vec<_>>();
        let expected = drafts(&table.1);
        assert_eq!(format!("{expected:?}").contains("'09 555 0100"), is_sent_as_it_is);
        let mut bench = Bench::new();
        let import = bench.import_tables(vec![("companies", "Companies", table)]);
        bench.claim("acme", Operation::AddCompany, 1);
        bench.reject("acme", "invalidData", "no", &[], 2);
        let folder = bench.write(import, "reports").folder;
        for name in ["Companies.results.csv", "Companies.fix.csv", "results.xlsx", "fix.xlsx"] {
            assert_eq!(drafts(&read(&folder.join(name)).remove(0).1), expected, "{name}");
        }
    }
}

#[test]
fn two_sheets_of_one_kind_are_both_corrected_in_one_workbook() {
    let mut bench = Bench::new();
    let second = COMPANIES.replace("acme,id:", "bolt,id:").replace("Acme Ltd", "Bolt Ltd");
    let line = |text: &str| text.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    let import = bench.import(&[
        ("a/customers.csv", "customers", &line(COMPANIES)),
        ("b/customers.csv", "Customers", &line(&second)),
    ]);
    for key in ["acme", "bolt"] {
        bench.claim(key, Operation::AddCompany, 1);
        bench.reject(key, "invalidData", "no", &[], 2);
    }
    let written = bench.write(import, "reports");
    assert!(names(&written.folder).contains(&"Customers-2.fix.csv".to_owned()));
    let tables = read(&written.fix.unwrap());
    let names: Vec<_> = tables.iter().map(|(table, rows)| (table.name.as_str(), rows.len())).collect();
    assert_eq!(names, [("customers", 1), ("Customers 2", 1)]);
}

#[test]
fn files_of_rows_to_correct_go_when_nothing_is_to_be_corrected_any_more() {
    let (mut bench, first) = every_state();
    let before = bench.write(first, "reports");
    assert!(before.fix.is_some() && before.removed.is_empty());
    for (name, minute) in [("evil", 50), ("Till 2", 52)] {
        let selection = Selection { import: Some(first), ..Selection::default() };
        bench.journal.retry(&selection, "ann", at(minute)).unwrap();
        let operation = if name == "evil" { Operation::AddCompany } else { Operation::AddDevice };
        bench.claim(name, operation, minute);
        bench.done(name, JobState::Sending, How::Created, 60 + u128::try_from(minute).unwrap(), minute + 1);
    }
    let written = bench.write(first, "reports");
    assert_eq!((written.fix, written.to_fix), (None, 0));
    let gone = ["fix.xlsx", "Companies.fix.csv", "_Till_ devices.fix.csv"];
    assert_eq!(written.removed, gone.map(|name| written.folder.join(name)));
    assert!(!names(&written.folder).iter().any(|name| name.contains("fix")));
}

#[test]
fn fix_files_that_somebody_has_corrected_are_kept_under_another_name_whatever_comes_after() {
    let (mut bench, first) = every_state();
    let folder = bench.write(first, "reports").folder;
    let text = |name: &str| fs::read(folder.join(name)).unwrap();
    let (ours, table) = (text("fix.xlsx"), text("Companies.fix.csv"));
    assert!(bench.write(first, "reports").kept.is_empty(), "nobody has touched them");

    fs::write(folder.join("fix.xlsx"), "corrected").unwrap();
    fs::write(folder.join("Companies.fix.csv"), "corrected, too").unwrap();
    let kept = |written: &Written| -> Vec<String> {
        written.kept.iter().map(|kept| kept.path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    };
    let written = bench.write(first, "reports");
    assert_eq!(kept(&written), ["fix.edited.xlsx", "Companies.fix.edited.csv"]);
    assert!(written.kept.iter().all(|kept| !kept.is_imported));
    assert_eq!((text("fix.edited.xlsx"), text("fix.xlsx")), (b"corrected".to_vec(), ours.clone()));
    assert_eq!(
        (text("Companies.fix.edited.csv"), text("Companies.fix.csv")),
        (b"corrected, too".to_vec(), table)
    );
    assert!(bench.write(first, "reports").kept.is_empty(), "they are told once");

    // The same again needs no other name; something else does, also where the report of before is gone.
    fs::write(folder.join("fix.xlsx"), "corrected").unwrap();
    assert_eq!(kept(&bench.write(first, "reports")), ["fix.edited.xlsx"]);
    fs::write(folder.join("fix.xlsx"), "corrected once more").unwrap();
    fs::remove_file(folder.join("summary.json")).unwrap();
    assert_eq!(kept(&bench.write(first, "reports")), ["fix.edited-2.xlsx"]);
    assert_eq!((text("fix.edited.xlsx"), text("fix.xlsx")), (b"corrected".to_vec(), ours));

    // When nothing is left to be corrected, the outdated file goes and the corrections stay.
    fs::write(folder.join("fix.xlsx"), "corrected at last").unwrap();
    for (name, operation) in [("evil", Operation::AddCompany), ("Till 2", Operation::AddDevice)] {
        let selection = Selection { import: Some(first), ..Selection::default() };
        bench.journal.retry(&selection, "ann", at(50)).unwrap();
        bench.claim(name, operation, 50);
        bench.done(name, JobState::Sending, How::Created, 61, 51);
    }
    let written = bench.write(first, "reports");
    assert_eq!((kept(&written), written.fix), (vec!["fix.edited-3.xlsx".to_owned()], None));
    assert_eq!(text("fix.edited-3.xlsx"), b"corrected at last");
}
