use super::*;
use crate::sheet::cross_row::{Between, Nothing};
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
    workbook(&Kind::SHEETS, None, &KnownRecords::default(), &out).unwrap();
    let (tables, rows, found) = read(&[out]);
    assert_eq!(rows, 0);
    assert_eq!(codes(&found), [Code::SheetEmpty, Code::RowTemplate], "{found:?}");
    assert!(found.iter().all(|finding| finding.severity == Severity::Info), "{found:?}");
    for (table, kind) in tables.iter().zip(Kind::SHEETS) {
        assert_eq!(table.kind, kind);
        let expected: Vec<_> = shown(kind).map(|column| Mapped::Column { column, entry: None }).collect();
        assert_eq!(table.mapping, expected);
    }
    assert_eq!(tables.len(), Kind::SHEETS.len());
}

#[test]
fn blank_csv_files_read_back_like_the_workbook() {
    let folder = tempfile::tempdir().unwrap();
    let paths = csv(&Kind::SHEETS, &folder.path().join("new")).unwrap();
    assert_eq!(paths.len(), Kind::SHEETS.len());
    let (tables, rows, found) = read(&paths);
    assert_eq!((tables.len(), rows), (Kind::SHEETS.len(), 0));
    assert_eq!(codes(&found), [Code::SheetEmpty, Code::RowTemplate], "{found:?}");
}

#[test]
fn the_examples_are_rows_that_can_be_imported_and_fit_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for kind in Kind::RECORDS {
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
    // As it stands an example is not to be imported; nothing else is wrong with it.
    let (left, other): (Vec<&Finding>, Vec<&Finding>) =
        found.iter().partition(|finding| finding.code == Code::RowTemplate);
    assert_eq!(left.iter().filter(|finding| finding.is_error()).count(), 4, "{found:?}");
    assert!(other.iter().all(|finding| finding.severity == Severity::Info), "{found:?}");
}

#[test]
fn the_same_columns_give_the_same_bytes() {
    assert!(workbook_bytes(&Kind::SHEETS, None).unwrap() == workbook_bytes(&Kind::SHEETS, None).unwrap());
    let twice = [Kind::Site, Kind::Site];
    assert!(workbook_bytes(&twice, None).unwrap() == workbook_bytes(&[Kind::Site], None).unwrap());
}

#[test]
fn what_somebody_may_have_filled_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mine.xlsx");
    std::fs::write(&out, "filled").unwrap();
    let error = workbook(&[Kind::Device], None, &KnownRecords::default(), &out).unwrap_err();
    assert!(error.what().ends_with("is there already"), "{error}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "filled");
    std::fs::write(folder.path().join("people.csv"), "filled").unwrap();
    assert!(csv(&[Kind::Company, Kind::Person], folder.path()).is_err());
    assert!(!folder.path().join("companies.csv").exists());
    assert!(workbook_bytes(&[], None).is_err());
}

/// A part of a blank workbook as text.
fn part(name: &str) -> String {
    let bytes = workbook_bytes(&Kind::SHEETS, None).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut archive.by_name(name).unwrap(), &mut text).unwrap();
    text
}

/// What stands between two marks, each time.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Vec<&'t str> {
    text.split(open).skip(1).filter_map(|rest| rest.split(close).next()).collect()
}

#[test]
fn every_column_is_text_and_every_choice_opens_a_list() {
    for (number, kind) in (2..).zip(Kind::SHEETS) {
        let sheet = part(&format!("xl/worksheets/sheet{number}.xml"));
        let rules = between(&sheet, "<dataValidation ", "</dataValidation>");
        for (at, column) in (0..).zip(shown(kind)) {
            let place = format!("sqref=\"{0}2:{0}1048576\"", crate::sheet::address::letters(at));
            let rule = rules.iter().find(|rule| rule.contains(&place)).copied().unwrap_or_default();
            let expected = match column.form {
                Form::Enum(values) => format!("<formula1>\"{}\"</formula1>", values.join(",")),
                Form::Bool => "<formula1>\"yes,no\"</formula1>".to_owned(),
                Form::Action => "<formula1>\"create,update\"</formula1>".to_owned(),
                Form::Timezone => {
                    format!("<formula1>{}</formula1>", Zones::of(None).range().trim_start_matches('='))
                }
                Form::Latitude | Form::Longitude => "NUMBERVALUE".to_owned(),
                Form::Reference(role) => format!("<formula1>OFFSET({}!$A$3,0,0,", sheet_name(role.target())),
                _ => String::new(),
            };
            assert!(rule.contains(&expected), "{kind} {}: {rule}", column.name);
            assert_eq!(rule.is_empty(), expected.is_empty(), "{kind} {}: {rule}", column.name);
        }
        // The one text format of the workbook, on all columns that are shown.
        let columns = between(&sheet, "<col ", "/>");
        let last = columns.last().and_then(|column| between(column, "max=\"", "\"").first().copied());
        assert_eq!(last, Some(shown(kind).count().to_string().as_str()), "{columns:?}");
        let style = between(columns[0], "style=\"", "\"")[0];
        assert!(columns.iter().all(|column| between(column, "style=\"", "\"") == [style]), "{columns:?}");
        let styles = part("xl/styles.xml");
        let formats = between(between(&styles, "<cellXfs", "</cellXfs>")[0], "<xf ", ">");
        let number_format = between(formats[style.parse::<usize>().unwrap()], "numFmtId=\"", "\"")[0];
        let is_text = format!("<numFmt numFmtId=\"{number_format}\" formatCode=\"@\"/>");
        assert!(styles.contains(&is_text), "{kind}: {formats:?}");
    }
}

#[test]
fn a_blank_workbook_keeps_the_rules_whose_breach_makes_excel_offer_a_repair() {
    let workbook = part("xl/workbook.xml");
    let names = between(&workbook, "<sheet name=\"", "\"");
    let kinds = Kind::SHEETS.map(sheet_name);
    let expected: Vec<&str> = ["Read me"].into_iter().chain(kinds).chain(["lists"]).collect();
    assert_eq!(names, expected);
    assert_eq!(between(&workbook, "state=\"", "\""), ["hidden"]);
    for number in 1..=names.len() {
        let sheet = part(&format!("xl/worksheets/sheet{number}.xml"));
        let rules = between(&sheet, "<dataValidation ", "</dataValidation>");
        if let Some(count) = between(&sheet, "<dataValidations count=\"", "\"").first() {
            assert_eq!(count.parse::<usize>().unwrap(), rules.len());
        }
        for rule in rules {
            for formula in between(rule, "<formula1>", "</formula1>") {
                assert!(
                    formula.chars().count() <= 257,
                    "a literal list has at most 255 characters: {formula}"
                );
            }
            for (title, most) in
                [("errorTitle=\"", 32), ("error=\"", 225), ("promptTitle=\"", 32), ("prompt=\"", 255)]
            {
                for text in between(rule, title, "\"") {
                    assert!(text.chars().count() <= most, "{text}");
                }
            }
        }
        for tag in between(&sheet, "<", ">") {
            let mut attributes: Vec<&str> =
                tag.split(' ').filter_map(|piece| piece.split_once("=\"")).map(|(name, _)| name).collect();
            let all = attributes.len();
            attributes.sort_unstable();
            attributes.dedup();
            assert_eq!(attributes.len(), all, "an attribute stands twice in <{tag}>");
        }
    }
}

#[test]
fn the_blank_workbook_is_told_whole() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("blank.xlsx");
    workbook(&Kind::RECORDS, None, &KnownRecords::default(), &out).unwrap();
    let mut book: calamine::Xlsx<_> = calamine::open_workbook(&out).unwrap();
    let mut told = String::new();
    for name in calamine::Reader::sheet_names(&book) {
        let range = calamine::Reader::worksheet_range(&mut book, &name).unwrap();
        told.push_str(&format!("[{name}] {} rows\n", range.height()));
        for row in range.rows().filter(|_| name != lists::NAME) {
            let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
            told.push_str(cells.join(" | ").trim_end_matches([' ', '|']));
            told.push('\n');
        }
    }
    insta::assert_snapshot!(told);
}
