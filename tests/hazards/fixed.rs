//! What was once dropped, guessed or imported without a word, and must never be again.

use std::io::{Cursor, Read, Write};

use fleetload::import::{Outcome, import};
use fleetload::journal::Journal;
use fleetload::model::time::Moment;
use fleetload::sheet::finding::Severity;
use fleetload::sheet::{HiddenRows, open};
use rust_xlsxwriter::Workbook;

use super::desk::{Desk, SITES, line, package, site};

/// Nothing found.
const NOTHING: [&str; 0] = [];

/// A workbook of several sheets, every cell as text.
fn workbook(sheets: &[(&str, &[&str])]) -> Vec<u8> {
    let mut book = Workbook::new();
    for (name, rows) in sheets {
        let page = book.add_worksheet().set_name(*name).expect("a name");
        for (row, cells) in (0..).zip(*rows) {
            for (column, cell) in (0..).zip(cells.trim_end().split(',')) {
                if !cell.is_empty() {
                    page.write_string(row, column, cell).expect("a cell");
                }
            }
        }
    }
    book.save_to_buffer().expect("a workbook")
}

/// A workbook with something in one of its parts replaced.
fn changed(book: &[u8], part: &str, from: &str, to: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(book)).expect("an archive");
    let mut copy = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).expect("a part");
        let mut content = Vec::new();
        file.read_to_end(&mut content).expect("it can be read");
        let name = file.name().expect("a name").into_owned();
        if name == part {
            let text = String::from_utf8(content).expect("it is text");
            assert!(text.contains(from), "{text}");
            content = text.replace(from, to).into_bytes();
        }
        copy.start_file(name, zip::write::SimpleFileOptions::default()).expect("a part begins");
        copy.write_all(&content).expect("a part is written");
    }
    copy.finish().expect("the archive is complete").into_inner()
}

/// Whether an import that leaves out wrong rows goes on, in a journal of its own.
fn goes_on_without_wrong_rows(desk: &Desk) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = Journal::open(&folder.path().join("fleetload.db")).expect("a journal");
    let now = Moment::from_millis(1_000);
    match import(&desk.examined(), &mut journal, true, now).expect("the files are as they were") {
        Outcome::Imported(..) => true,
        Outcome::Refused(findings) => {
            assert!(!findings.is_clean(), "it is said why");
            false
        }
    }
}

#[test]
fn a_sheet_that_fits_two_kinds_is_never_dropped_without_a_word() {
    let bytes = workbook(&[
        ("Sites", &[SITES, &site("a")]),
        (
            "Shops North",
            &["key,company,name,phone,address1,city", "b,acme,North,+64 9 557 0000,1 Earl Street,Auckland"],
        ),
        ("Notes", &["whatever"]),
    ]);
    let desk = Desk::with("book.xlsx", &bytes);
    assert_eq!(desk.found(), ["fatal sheet.ambiguous Shops North"]);
    let message = desk.the("sheet.ambiguous").message;
    assert!(message.contains("fit sites and devices equally well: rename the sheet"), "{message}");
    let ignored = open(desk.path(), &desk.options).expect("a book").ignored;
    assert_eq!(
        ignored,
        [
            ("Shops North".to_owned(), "fits two kinds of row equally well"),
            ("Notes".to_owned(), "holds no known kind of row"),
        ]
    );
    // Either choice the message offers ends it.
    let desk = desk.read_with(|options| options.sheets = vec!["Sites".into()]);
    assert_eq!(desk.found(), NOTHING);
    let desk = desk.read_with(|options| {
        options.sheets = vec!["Shops North".into()];
        options.kind = Some(fleetload::model::kind::Kind::Site);
    });
    assert_eq!(desk.examined().sheets[0].name, "Shops North");
}

#[test]
fn a_damaged_sheet_stops_everything_whatever_its_name_until_it_is_left_out_by_name() {
    let cell = |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let names: String = ('A'..)
        .zip(["key", "company", "name", "mac"])
        .map(|(at, name)| cell(&format!("{at}1"), name))
        .collect();
    // In the third row a cell of a kind that does not exist.
    let remark = cell("A2", "all of them");
    let data = format!(
        "<row r=\"1\">{names}</row><row r=\"2\">{remark}</row><row r=\"3\"><c r=\"A3\" t=\"zz\"><v>1</v></c></row>"
    );
    let below_the_names =
        format!("<row r=\"1\">{names}</row><row r=\"2\"><c r=\"A2\" t=\"zz\"><v>1</v></c></row>");
    let without_names = "<row r=\"1\"><c r=\"A1\" t=\"zz\"><v>1</v></c></row>";
    for (sheet, data, may_be_left_out) in [
        ("Devices", &data[..], false),
        ("Notes", without_names, true),
        ("North", &data[..], false),
        ("West", &below_the_names[..], false),
    ] {
        let findings = Desk::with("book.xlsx", package(sheet, data, &[])).findings();
        let told: Vec<String> = findings.iter().map(line).collect();
        let unreadable = findings.iter().find(|finding| finding.code.as_str() == "sheet.unreadable");
        assert_eq!(unreadable.map(|finding| finding.severity), Some(Severity::Fatal), "{sheet} {told:?}");
        let says = unreadable.is_some_and(|finding| finding.message.contains("--worksheet"));
        assert_eq!(says, may_be_left_out, "{sheet}");
    }
    // Beside sheets that are right nothing is imported as long as nobody knows what it holds.
    let book = workbook(&[("Sites", &[SITES, &site("a")]), ("Notes", &["all of them"])]);
    let desk = Desk::with("book.xlsx", changed(&book, "xl/worksheets/sheet2.xml", "t=\"s\"", "t=\"zz\""));
    assert_eq!(desk.found(), ["fatal sheet.unreadable Notes"]);
    assert!(!goes_on_without_wrong_rows(&desk));
    let desk = desk.read_with(|options| options.sheets = vec!["Sites".into()]);
    assert_eq!(desk.found(), NOTHING);
}

#[test]
fn leaving_out_wrong_rows_does_not_help_where_the_sheet_is_wrong() {
    let (right, wrong) = (site("a"), site("b").replace("+64 9 557 0000", ""));
    let rows_only = Desk::with("sites.csv", format!("{SITES}{right}{wrong}"));
    assert!(goes_on_without_wrong_rows(&rows_only));
    let text = |header: &str, extra: &str| {
        format!("{},{header}\n{},{extra}\n{wrong}", SITES.trim_end(), right.trim_end())
    };
    for (code, text) in [
        ("header.duplicate", text("Site Name", "Other")),
        ("header.unknown", text("Colour", "red")),
        ("header.blank", text("", "red")),
        (
            "sheet.extra-table",
            format!("{SITES}{right}{wrong}key,company,name,mac\nd,acme,Till,00:1a:2b:3c:4d:5e\n"),
        ),
        ("sheet.extra-table", text(",key,name,device_model,mac", ",d1,Till,A1,00:1a:2b:3c:4d:5e")),
        ("header.multi-row", format!("key,company,name,phone,Address,,\n,,,,Street,City,Country\n{right}")),
    ] {
        let desk = Desk::with("sites.csv", &text);
        desk.the(code);
        assert!(!goes_on_without_wrong_rows(&desk), "{code}: {text}");
    }
    let empty = Desk::with("sites.csv", format!("{SITES}{right}")).and("people.csv", "key,company,name\n");
    assert!(!goes_on_without_wrong_rows(&empty));
}

#[test]
fn a_hidden_row_of_which_nobody_has_said_anything_is_neither_right_nor_imported() {
    let mut book = Workbook::new();
    let page = book.add_worksheet().set_name("Sites").expect("a name");
    for (row, text) in (0..).zip([SITES.to_owned(), site("a"), site("b"), site("c")]) {
        for (column, cell) in (0..).zip(text.trim_end().split(',')) {
            page.write_string(row, column, cell).expect("a cell");
        }
    }
    page.set_row_hidden(2).expect("hidden").set_row_hidden(3).expect("hidden");
    let desk = Desk::with("book.xlsx", book.save_to_buffer().expect("a workbook"));
    assert_eq!(desk.found(), ["error sheet.hidden-rows Sites row 3"]);
    let examined = desk.examined();
    let usable: Vec<bool> = (0..3).map(|row| examined.checked().is_usable(row)).collect();
    assert_eq!((examined.sheets[0].rows, usable), (3, vec![true, false, false]));
    assert!(!goes_on_without_wrong_rows(&desk));
    let left_out = vec!["warning sheet.hidden-rows Sites row 3".to_owned()];
    for (choice, found, rows) in [(HiddenRows::Import, vec![], 3), (HiddenRows::Skip, left_out, 1)] {
        let mut read = Desk::with("book.xlsx", std::fs::read(desk.path()).expect("the file"));
        read.options.hidden_rows = Some(choice);
        assert_eq!((read.found(), read.examined().sheets[0].usable), (found, rows));
        assert!(goes_on_without_wrong_rows(&read));
    }
}

#[test]
fn a_number_with_a_point_and_a_zero_names_no_record() {
    const COMPANY: &str = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";
    let header = "key,company,name,phone,address1,postcode,reference\n";
    let row = |key: &str, postcode: &str, reference: &str| {
        format!("{key},{COMPANY},Site {key},+64 9 555 0000,1 Earl St,{postcode},{reference}\n")
    };
    let desk = Desk::with("sites.csv", format!("{header}{}{}", row("1.0", "", ""), row("1", "", "")));
    assert_eq!(desk.found(), ["error cell.numeric-identifier A2"]);
    assert_eq!(desk.the("cell.numeric-identifier").suggestion.as_deref(), Some("1"));
    assert_eq!(desk.examined().sheets[0].usable, 1);
    let desk = Desk::with("sites.csv", format!("{header}{}", row("a", "1010.0", "12.0")));
    assert_eq!(
        desk.found(),
        ["warning cell.numeric-identifier F2", "error cell.numeric-identifier G2"],
        "a postcode names nothing"
    );
    let text = "key,company,site,name,mac,phone,address1\nd,acme,7.0,Till,00:1a:2b:3c:4d:5e,+64 9 555 0000,1 Earl St\n";
    let desk = Desk::with("devices.csv", text);
    assert!(desk.found().contains(&"error cell.numeric-identifier C2".to_owned()), "{:?}", desk.found());
}

/// Shared texts of a workbook, each in runs, and a site whose reference is the last of them.
fn shared(reference: &[String]) -> Desk {
    let header = format!("{},reference", SITES.trim_end());
    let row = site("a");
    let texts: Vec<&str> = header.split(',').chain(row.trim_end().split(',')).collect();
    let mut strings: String = texts.iter().map(|text| format!("<si><t>{text}</t></si>")).collect();
    let runs: String =
        reference.iter().map(|run| format!("<r><t xml:space=\"preserve\">{run}</t></r>")).collect();
    strings.push_str(&format!("<si>{runs}</si>"));
    let cells = |row: u32, texts: std::ops::Range<usize>| {
        let cells: String = ('A'..)
            .zip(texts)
            .map(|(column, text)| format!("<c r=\"{column}{row}\" t=\"s\"><v>{text}</v></c>"))
            .collect();
        format!("<row r=\"{row}\">{cells}</row>")
    };
    let data = cells(1, 0..8) + &cells(2, 8..16);
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let strings = format!("<sst xmlns=\"{main}\">{strings}</sst>");
    Desk::with("book.xlsx", package("Sites", &data, &[("xl/sharedStrings.xml", &strings)]))
}

#[test]
fn a_text_that_is_shared_by_many_cells_is_never_long() {
    let fits = shared(&["x".repeat(100), "y".repeat(100)]);
    assert_eq!(fits.found(), NOTHING);
    assert_eq!(shared(&vec!["x".repeat(600_000); 3]).found(), ["fatal file.too-large"]);
    let spaces = " ".repeat(40_000);
    for text in
        ["x".repeat(100_000), format!("x{spaces}y"), format!("{spaces}y"), "&#13;&#10;".repeat(60_000)]
    {
        let desk = shared(&[text]);
        assert_eq!(desk.found(), ["error cell.too-long Sites!H2"]);
        let longest: Vec<_> = desk.rows().iter().map(|row| row.cells[7].chars().count()).collect();
        assert_eq!(longest, [32_768], "no more of it is copied than says that it is too long");
    }
}

#[test]
fn a_column_whose_name_is_too_long_to_be_kept_is_refused() {
    let named = |length: usize| {
        let (header, row) = (SITES.trim_end(), site("a"));
        let name = "x".repeat(length);
        Desk::with("sites.csv", format!("{header},meta:{name}\n{},one\n", row.trim_end()))
    };
    assert_eq!(named(245).found(), NOTHING);
    assert_eq!(named(246).found(), ["error header.unknown H1"]);
    let message = named(300_000).the("header.unknown").message;
    assert_eq!(message, "the name of this column has more than 250 characters: shorten it");
}

#[test]
fn a_text_table_of_too_many_columns_is_refused_before_it_is_looked_at() {
    let wide = |columns: usize| {
        let (header, row) = (SITES.trim_end(), site("a"));
        format!("{header}{}\n{}{}\n", ",x-".repeat(columns - 7), row.trim_end(), ",".repeat(columns - 7))
    };
    assert_eq!(Desk::with("sites.csv", wide(1_000)).found(), NOTHING);
    let desk = Desk::with("sites.csv", wide(1_001));
    assert_eq!(desk.found(), ["fatal file.too-large row 1"]);
    let message = desk.the("file.too-large").message;
    assert!(message.starts_with("row 1 has more than 1000 columns"), "{message}");
    for text in ["a,".repeat(500_000), "name;".repeat(200_000)] {
        assert_eq!(Desk::with("sites.csv", text).found(), ["fatal file.too-large row 1"]);
    }
    let below = Desk::with("sites.csv", format!("Sites of Acme\n{}", wide(2_000)));
    assert_eq!(below.found(), ["fatal file.too-large row 2"]);
    // Separators with nothing between them, as after columns that were cleared, are no columns.
    let blank = Desk::with(
        "sites.csv",
        format!("{0}{2}\n{1}{2}\n", SITES.trim_end(), site("a").trim_end(), ",".repeat(5_000)),
    );
    assert_eq!(blank.found(), NOTHING);
    // A comma that does not separate may be there as often as it likes.
    let commas = format!("{};note\n{};\"{}\"\n", SITES, site("a"), "1,".repeat(2_000)).replace("\n;", ";");
    let commas = commas.replace(
        "key,company,name,phone,address1,city,country",
        "key;company;name;phone;address1;city;country",
    );
    let desk = Desk::with("sites.csv", commas);
    assert!(desk.found().iter().all(|found| !found.contains("too-large")), "{:?}", desk.found());
}

#[test]
fn the_named_header_row_is_found_far_below_rows_of_any_width() {
    let text = format!("{}{SITES}{}", format!("{}\n", "remark,".repeat(200)).repeat(2_000), site("a"));
    let desk = Desk::with("sites.csv", text).read_with(|options| options.header_row = Some(2_001));
    assert_eq!(desk.found(), NOTHING);
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

#[test]
fn no_character_but_a_plain_one_is_taken_for_a_separator() {
    let text = format!("{SITES}{}", site("a"));
    for odd in ['§', 'é', '€', '"', '\n', '\r', '\0', '\u{7f}'] {
        let desk = Desk::with("sites.csv", &text).read_with(|options| options.delimiter = Some(odd));
        assert_eq!(desk.found(), ["fatal file.delimiter-ambiguous"], "{odd:?}");
        let desk = Desk::with("sites.csv", &text).read_with(|options| options.escape = Some(odd));
        assert_eq!(desk.found(), ["fatal file.delimiter-ambiguous"], "{odd:?}");
    }
    for (plain, escape) in [('\t', '\\'), (';', '\\'), (' ', '\\'), ('~', '\\')] {
        let text = format!("key{plain}company{plain}name{plain}phone{plain}address1\n");
        let desk = Desk::with("sites.csv", text)
            .read_with(|options| (options.delimiter, options.escape) = (Some(plain), Some(escape)));
        assert_eq!(desk.found(), ["error sheet.empty row 1"], "{plain:?}");
    }
    // Nor where the file names it.
    let desk = Desk::with("sites.csv", format!("sep=\"\n{SITES}{}", site("a")));
    assert_eq!(desk.examined().sheets[0].usable, 1);
}
