//! Sheets with more rows than a worksheet has: their rows go on in another one.

use calamine::{Data, Reader as _, Xlsx, open_workbook};

use super::fixture::{Bench, COMPANIES, every_state, read, rows_of};

/// The texts of a worksheet, row by row.
fn texts(book: &mut Xlsx<std::io::BufReader<std::fs::File>>, worksheet: &str) -> Vec<Vec<String>> {
    let text = |cell: &Data| if let Data::Empty = cell { String::new() } else { cell.to_string() };
    let range = book.worksheet_range(worksheet).unwrap();
    range.rows().map(|row| row.iter().map(text).collect()).collect()
}

#[test]
fn the_rows_of_a_sheet_go_on_in_another_worksheet_where_one_ends_and_none_is_lost() {
    let (bench, import) = every_state();
    let whole = bench.write(import, "whole");
    let mut whole: Xlsx<_> = open_workbook(whole.folder.join("results.xlsx")).unwrap();
    let whole = texts(&mut whole, "Companies");
    // Five rows below each header, of twelve.
    let parts = bench.write_within(import, "parts", 6);
    let mut book: Xlsx<_> = open_workbook(parts.folder.join("results.xlsx")).unwrap();
    assert_eq!(
        book.sheet_names(),
        ["Summary", "Companies", "Companies 2", "Companies 3", ".._Till_ devices"]
    );
    let mut rows = vec![whole[0].clone()];
    for (worksheet, height) in [("Companies", 6), ("Companies 2", 6), ("Companies 3", 3)] {
        let part = texts(&mut book, worksheet);
        assert_eq!((part.len(), &part[0]), (height, &whole[0]), "{worksheet}: a header of its own");
        rows.extend_from_slice(&part[1..]);
    }
    assert_eq!(rows, whole);
    let summary = texts(&mut book, "Summary");
    let told: Vec<_> = summary
        .iter()
        .filter(|row| row[1].contains("after the first"))
        .map(|row| (&*row[0], &*row[1]))
        .collect();
    assert_eq!(
        told,
        [
            ("Companies 2", "the rows of Companies after the first 5"),
            ("Companies 3", "the rows of Companies after the first 10")
        ]
    );
}

#[test]
fn a_sheet_that_just_fits_has_one_worksheet() {
    let mut bench = Bench::new();
    let (_, rows) = rows_of("companies.csv", COMPANIES);
    let import =
        bench.import(&[("customer.csv", "Companies", COMPANIES), ("more.csv", "Companies 2", COMPANIES)]);
    let header = 1;
    let rows = u32::try_from(rows.len()).unwrap();
    for (last_row, worksheets) in [
        (rows + header, vec!["Summary", "Companies", "Companies 2"]),
        // Names that sheets have are theirs.
        (rows, vec!["Summary", "Companies", "Companies 3", "Companies 2", "Companies 2 2"]),
    ] {
        let written = bench.write_within(import, "reports", last_row);
        let book: Xlsx<_> = open_workbook(written.folder.join("results.xlsx")).unwrap();
        assert_eq!(book.sheet_names(), worksheets);
    }
}

#[test]
fn rows_to_correct_import_as_they_are_from_every_worksheet() {
    let (bench, import) = every_state();
    let whole = read(&bench.write(import, "whole").fix.unwrap());
    let parts = bench.write_within(import, "parts", 2).fix.unwrap();
    let parts = read(&parts);
    let cells = |tables: &[(crate::sheet::Table, Vec<crate::sheet::Row>)]| -> Vec<_> {
        tables
            .iter()
            .flat_map(|(table, rows)| {
                rows.iter().map(|row| (table.kind, row.cells.clone())).collect::<Vec<_>>()
            })
            .collect()
    };
    assert!(parts.len() > whole.len() && parts.iter().all(|(_, rows)| rows.len() == 1));
    let what_is_asked_for = |(kind, cells): &(_, Vec<_>)| (*kind, cells[3..].to_vec());
    let asked = |tables| cells(tables).iter().map(what_is_asked_for).collect::<Vec<_>>();
    assert_eq!(asked(&parts), asked(&whole));
}
