//! However a table is stored, it makes the same jobs, byte for byte: six encodings, four separators, three line ends, and
//! workbooks with their texts in the cells or in one list. The order of columns, the spelling of their names and columns
//! that are not read change nothing either.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use encoding_rs::{MACINTOSH, WINDOWS_1252};
use fleetload::import::{Outcome, examine, import};
use fleetload::journal::Journal;
use fleetload::model::time::Moment;
use fleetload::sheet::Options;
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

/// What an import holds: each sheet with its header and rows.
type Sheets = Vec<(&'static str, Vec<Vec<String>>)>;

const ROOT: &str = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";

/// An import of all kinds of records, with what every kind has beside its fields. Its letters are in every encoding.
fn sheets() -> Sheets {
    let table = |rows: &[&str]| {
        rows.iter()
            .map(|row| row.replace("ROOT", ROOT).split('/').map(|cell| cell.trim().to_owned()).collect())
            .collect()
    };
    vec![
        (
            "companies",
            table(&[
                "key/parent/company_type/name/phone/support_email/sales_email/accounts_email/address1/city/country/meta:Vertrag/meta:zone",
                "cafe/ROOT/RESELLER/Café Zoë, Gruppe/+64 9 557 0001/s@a.example/t@a.example/u@a.example/1 Straße; Haus \"B\"/Zürich/Switzerland/C-77|b/Süd",
                "soehne/cafe/CUSTOMER/Müller & Söhne/+64 9 557 0002/s@b.example/t@b.example/u@b.example/2 Rua São João/Málaga/Spain/ /Nord",
            ]),
        ),
        (
            "people",
            table(&[
                "company/user_type/template_scope/first_name/last_name/username/email/allow_login/phone/address1/city/country",
                "cafe/Full Reseller/COMPANY_CHILDREN/Zoë/Façade/zoe.facade@a.example/zoe@a.example/yes/+64 9 557 0003/1 Straße/Zürich/Switzerland",
                "soehne/VPN User/COMPANY_INHERIT/Jörg/Ñandú/jorg/jorg@b.example/no/ /2 Rua São João/Málaga/Spain",
            ]),
        ),
        (
            "sites",
            table(&[
                "key/company/name/reference/phone/address1/address2/city/country/latitude/longitude/labels/meta:Vertrag",
                "haupt/cafe/Zürich, Haupt \"A\"/007/+64 9 557 0004/1 Straße; Haus \"B\"/Etage 2|b/Zürich/Switzerland/47.3769/8.5417/retail; Süd/C-77",
                "oest/Müller & Söhne/Östlich/E-5/+64 9 557 0005/3 Çedro/ /Málaga/Spain/ / / /C-78",
            ]),
        ),
        (
            "devices",
            table(&[
                "key/company/name/site/device_model/mac/phone/address1/city/country/labels/licence_code/meta:Vertrag",
                "d-1/cafe/Kasse »1«/haupt/A1/00:1a:2b:3c:4d:5e/+64 9 557 0006/1 Straße/Zürich/Switzerland/Café; \"Nord; Süd\"/L-0001/C-79",
                "d-2/cafe/Kasse »2«/name:Zürich, Haupt \"A\"/A1/001A2B3C4D5F/+64 9 557 0007/1 Straße/Zürich/Switzerland/ / /",
            ]),
        ),
    ]
}

/// How a text table is stored.
#[derive(Debug, Clone, Copy)]
struct Stored {
    letters: &'static str,
    delimiter: char,
    end: &'static str,
}

fn encoded(letters: &str, text: &str) -> Vec<u8> {
    let marked = format!("\u{feff}{text}");
    let (bytes, all_fit) = match letters {
        "utf-8" => (text.as_bytes().to_vec(), true),
        "utf-8 marked" => (marked.into_bytes(), true),
        "utf-16le" => (marked.encode_utf16().flat_map(u16::to_le_bytes).collect(), true),
        "utf-16be" => (marked.encode_utf16().flat_map(u16::to_be_bytes).collect(), true),
        "windows-1252" => (WINDOWS_1252.encode(text).0.into_owned(), !WINDOWS_1252.encode(text).2),
        "macintosh" => (MACINTOSH.encode(text).0.into_owned(), !MACINTOSH.encode(text).2),
        other => panic!("no encoding {other}"),
    };
    assert!(all_fit, "every letter is in {letters}");
    bytes
}

fn text(rows: &[Vec<String>], stored: Stored) -> String {
    let special = |c: char| c == stored.delimiter || matches!(c, '"' | '\r' | '\n');
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().map(|cell| {
            if cell.contains(special) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
        });
        text.push_str(&cells.collect::<Vec<_>>().join(&stored.delimiter.to_string()));
        text.push_str(stored.end);
    }
    text
}

/// Files as they are imported, in a folder of their own.
struct Files {
    folder: TempDir,
    paths: Vec<PathBuf>,
    options: Options,
}

impl Files {
    fn of(named: &[(String, Vec<u8>)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |(name, bytes): &(String, Vec<u8>)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("the file is written");
            path
        };
        let paths = named.iter().map(put).collect();
        Self { folder, paths, options: Options::default() }
    }

    fn of_text(sheets: &Sheets, stored: Stored) -> Self {
        let named: Vec<_> = sheets
            .iter()
            .map(|(name, rows)| (format!("{name}.csv"), encoded(stored.letters, &text(rows, stored))))
            .collect();
        let mut files = Self::of(&named);
        if matches!(stored.letters, "windows-1252" | "macintosh") {
            files.options.set_encoding(stored.letters).expect("it is known");
        }
        files
    }

    /// What they come to in a fresh journal: the rows of these tables, as text. The tables name no file.
    fn jobs(&self, tables: &[&str]) -> String {
        let examined = examine(&self.paths, &self.options, None).expect("the files are read");
        let errors: Vec<_> = examined.findings.iter().filter(|finding| finding.is_error()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let path = self.folder.path().join("fleetload.db");
        let mut journal = Journal::open(&path).expect("a journal");
        let now = Moment::parse("2026-03-01T10:00:00Z").expect("a moment");
        let outcome = import(&examined, &mut journal, false, now).expect("it is imported");
        assert!(matches!(outcome, Outcome::Imported(..)), "{outcome:?}");
        drop(journal);
        dump(&path, tables)
    }
}

/// Every value of tables of a journal, in the order of their keys.
fn dump(path: &Path, tables: &[&str]) -> String {
    let connection = Connection::open(path).expect("the journal is opened");
    let mut dump = String::new();
    for table in tables {
        // The line in the file is where a row stands, and not what it is; a workbook has none.
        let columns = if *table == "sheet_row" { "place, job, disposition, cells" } else { "*" };
        let mut all = connection
            .prepare(&format!("SELECT {columns} FROM {table} ORDER BY 1, 2"))
            .expect("the table is there");
        let names: Vec<String> = all.column_names().map(str::to_owned).collect();
        let mut rows = all.query([]).expect("it is read");
        while let Some(row) = rows.next().expect("it is read") {
            dump.push_str(table);
            for (at, name) in names.iter().enumerate() {
                let value = match row.get_ref(at).expect("a value") {
                    ValueRef::Null => "nothing".to_owned(),
                    ValueRef::Integer(value) => value.to_string(),
                    ValueRef::Real(value) => value.to_string(),
                    ValueRef::Text(value) => format!("{:?}", String::from_utf8_lossy(value)),
                    ValueRef::Blob(value) => format!("{value:?}"),
                };
                dump.push_str(&format!(" {name}={value}"));
            }
            dump.push('\n');
        }
    }
    dump
}

const JOBS: [&str; 3] = ["job", "link", "step"];
const JOBS_AND_ROWS: [&str; 4] = ["job", "link", "step", "sheet_row"];
const PLAIN: Stored = Stored { letters: "utf-8", delimiter: ',', end: "\n" };

#[test]
fn a_text_table_makes_the_same_jobs_in_every_encoding_with_every_separator_and_line_end() {
    let sheets = sheets();
    let expected = Files::of_text(&sheets, PLAIN).jobs(&JOBS_AND_ROWS);
    for part in [
        "\njob id=8 ",
        "\nlink job=8 ",
        "\nstep id=458753 job=7 ",
        "\nsheet_row ",
        "Café Zoë, Gruppe",
        "Nord; Süd",
    ] {
        assert!(expected.contains(part), "{part} in {expected}");
    }
    for letters in ["utf-8", "utf-8 marked", "utf-16le", "utf-16be", "windows-1252", "macintosh"] {
        for delimiter in [',', ';', '\t', '|'] {
            for end in ["\n", "\r\n", "\r"] {
                let stored = Stored { letters, delimiter, end };
                let found = Files::of_text(&sheets, stored).jobs(&JOBS_AND_ROWS);
                assert_eq!(found, expected, "{stored:?}");
            }
        }
    }
}

#[test]
fn a_workbook_makes_the_same_jobs_with_its_texts_in_the_cells_or_in_one_list() {
    let sheets = sheets();
    let expected = Files::of_text(&sheets, PLAIN).jobs(&JOBS_AND_ROWS);
    for is_shared in [false, true] {
        let bytes = workbook(&sheets, is_shared);
        let parts = parts(&bytes);
        assert_eq!(parts.iter().any(|(name, _)| name == "xl/sharedStrings.xml"), is_shared);
        for (name, content) in parts.iter().filter(|(name, _)| name.starts_with("xl/worksheets/")) {
            assert_eq!(content.contains(" t=\"s\""), is_shared, "{name}");
            assert_eq!(content.contains("inlineStr"), !is_shared, "{name}");
        }
        let files = Files::of(&[("rollout.xlsx".to_owned(), bytes)]);
        assert_eq!(files.jobs(&JOBS_AND_ROWS), expected, "shared: {is_shared}");
    }
}

/// A workbook of all the sheets, each cell a text.
fn workbook(sheets: &Sheets, is_shared: bool) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    const TYPE: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    let mut strings: Vec<String> = Vec::new();
    let mut parts: Vec<(String, String)> = Vec::new();
    let (mut listed, mut related, mut typed) = (String::new(), String::new(), String::new());
    for (number, (name, rows)) in (1..).zip(sheets) {
        let mut data = String::new();
        for (row, cells) in (1..).zip(rows) {
            data.push_str(&format!("<row r=\"{row}\">"));
            for (column, cell) in ('A'..='Z').zip(cells).filter(|(_, cell)| !cell.is_empty()) {
                let escaped = cell.replace('&', "&amp;").replace('<', "&lt;");
                if is_shared {
                    let at = strings.iter().position(|known| *known == escaped).unwrap_or_else(|| {
                        strings.push(escaped.clone());
                        strings.len() - 1
                    });
                    data.push_str(&format!("<c r=\"{column}{row}\" t=\"s\"><v>{at}</v></c>"));
                } else {
                    let text = format!("<is><t>{escaped}</t></is>");
                    data.push_str(&format!("<c r=\"{column}{row}\" t=\"inlineStr\">{text}</c>"));
                }
            }
            data.push_str("</row>");
        }
        listed.push_str(&format!("<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>"));
        related.push_str(&format!(
            "<Relationship Id=\"rId{number}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
        ));
        typed.push_str(&format!(
            "<Override PartName=\"/xl/worksheets/sheet{number}.xml\" ContentType=\"{TYPE}.worksheet+xml\"/>"
        ));
        let sheet = format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{data}</sheetData></worksheet>");
        parts.push((format!("xl/worksheets/sheet{number}.xml"), sheet));
    }
    if is_shared {
        let items: String = strings.iter().map(|text| format!("<si><t>{text}</t></si>")).collect();
        let count = strings.len();
        let list = format!("<sst xmlns=\"{MAIN}\" count=\"{count}\" uniqueCount=\"{count}\">{items}</sst>");
        parts.push(("xl/sharedStrings.xml".to_owned(), list));
        related.push_str(&format!(
            "<Relationship Id=\"rIdS\" Type=\"{OFFICE}/sharedStrings\" Target=\"sharedStrings.xml\"/>"
        ));
        typed.push_str(&format!(
            "<Override PartName=\"/xl/sharedStrings.xml\" ContentType=\"{TYPE}.sharedStrings+xml\"/>"
        ));
    }
    let relations =
        |inner: &str| format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{inner}</Relationships>");
    let root =
        format!("<Relationship Id=\"rId1\" Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/>");
    let types = format!(
        "<Types xmlns=\"{PACKAGE}/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"/xl/workbook.xml\" ContentType=\"{TYPE}.sheet.main+xml\"/>{typed}</Types>"
    );
    let book =
        format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>{listed}</sheets></workbook>");
    parts.push(("[Content_Types].xml".to_owned(), types));
    parts.push(("_rels/.rels".to_owned(), relations(&root)));
    parts.push(("xl/workbook.xml".to_owned(), book));
    parts.push(("xl/_rels/workbook.xml.rels".to_owned(), relations(&related)));
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in &parts {
        zip.start_file(name, SimpleFileOptions::default()).expect("a part begins");
        let declared = format!("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n{content}");
        zip.write_all(declared.as_bytes()).expect("a part is written");
    }
    zip.finish().expect("the package is complete").into_inner()
}

/// The parts of a package, read back.
fn parts(bytes: &[u8]) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("a package");
    let mut parts = Vec::new();
    for index in 0..archive.len() {
        let part = archive.by_index(index).expect("a part");
        let name = part.name().expect("a name").into_owned();
        parts.push((name, std::io::read_to_string(part).expect("text")));
    }
    parts
}

/// Other spellings of headers that mean the same.
const SPELLINGS: [(&str, [&str; 3]); 14] = [
    ("key", ["Key *", "KEY", "key"]),
    ("company", ["Company ID", "companyId", "Account"]),
    ("parent", ["Parent Company", "parentCompanyId", "Reseller"]),
    ("company_type", ["Company Type *", "COMPANY-TYPE (required)", "Account type"]),
    ("phone", ["Phone Number", "telephone", "Tel"]),
    ("address1", ["Street Address", "BillingStreet", "Address line 1"]),
    ("address2", ["Address 2", "Unit", "Suite"]),
    ("city", ["Town", "Mailing City", "CITY"]),
    ("country", ["Country / Region", "country code", "Billing Country"]),
    ("first_name", ["First\nName", "Given name", "Forename"]),
    ("mac", ["MAC Address", "identification", "hwaddr"]),
    ("device_model", ["Model", "deviceModel", "Hardware model"]),
    ("latitude", ["Lat", "LATITUDE", "latitude"]),
    ("longitude", ["Lng", "Long", "lon"]),
];

/// The sheets with their columns in this order, headers spelt in this way, and columns that are not read.
fn dressed(order: &[usize], spelling: usize, extra: usize) -> Sheets {
    sheets()
        .into_iter()
        .map(|(name, rows)| {
            let width = rows[0].len();
            let order: Vec<usize> = order.iter().copied().filter(|column| *column < width).collect();
            let dress = |(number, row): (usize, Vec<String>)| {
                let mut cells: Vec<String> = order
                    .iter()
                    .map(|&column| row.get(column).cloned().unwrap_or_default())
                    .map(|cell| if number == 0 { spelt(&cell, spelling) } else { cell })
                    .collect();
                let own = if number == 0 { ["x-notes", "_checked by"] } else { ["see below", "Ada"] };
                for (at, cell) in own.into_iter().enumerate().take(extra) {
                    cells.insert(at * cells.len() / 2, cell.to_owned());
                }
                cells
            };
            (name, rows.into_iter().enumerate().map(dress).collect())
        })
        .collect()
}

fn spelt(header: &str, spelling: usize) -> String {
    let found = SPELLINGS.iter().find(|(name, _)| *name == header).filter(|_| spelling > 0);
    found.map_or(header, |(_, spellings)| spellings[spelling - 1]).to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn order_and_spelling_of_columns_and_columns_not_read_change_no_job(
        order in Just((0..16).collect::<Vec<usize>>()).prop_shuffle(),
        spelling in 0..4_usize,
        extra in 0..3_usize,
    ) {
        let expected = Files::of_text(&sheets(), PLAIN).jobs(&JOBS);
        let found = Files::of_text(&dressed(&order, spelling, extra), PLAIN).jobs(&JOBS);
        prop_assert_eq!(found, expected);
    }
}
