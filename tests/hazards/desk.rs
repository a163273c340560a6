//! The desk the hazards are laid on: files made from bytes, text or the parts of a workbook, and what is found in them.

#![allow(dead_code, reason = "every group of hazards uses a part of the desk")]

use std::io::{Cursor, Write};
use std::path::PathBuf;

use fleetload::import::{Examined, examine};
use fleetload::sheet::finding::{Code, Finding, Severity};
use fleetload::sheet::{Options, Row};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

/// Files of one import, in a folder of their own.
pub(crate) struct Desk {
    folder: TempDir,
    files: Vec<PathBuf>,
    /// How they are read.
    pub(crate) options: Options,
}

impl Desk {
    /// A desk with one file.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let desk = Self {
            folder: tempfile::tempdir().expect("a folder"),
            files: Vec::new(),
            options: Options::default(),
        };
        desk.and(name, content)
    }

    /// The same with another file.
    pub(crate) fn and(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("the file is written");
        self.files.push(path);
        self
    }

    /// The same, read in another way.
    pub(crate) fn read_with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// Where its first file is.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.files[0]
    }

    /// The files, read and checked.
    pub(crate) fn examined(&self) -> Examined {
        examine(&self.files, &self.options, None).expect("the files are read")
    }

    /// The rows of the first table of the first file, as they are read.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let examined = self.examined();
        let book = &examined.books()[0];
        let mut rows = Vec::new();
        book.read(&book.tables[0], &mut |row| {
            rows.push(row);
            Ok(())
        })
        .expect("the rows are read");
        rows
    }

    /// Everything that is found.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let findings = self.examined().findings.into_vec();
        findings.iter().for_each(must_be_whole);
        if self.options.policy == Options::default().policy {
            findings.iter().for_each(must_be_as_bad_as_its_code);
        }
        findings
    }

    /// What is found and not only noted, but for columns that a table should have, as `severity code place`: `error cell.required Devices!F14`, in the order it is found.
    pub(crate) fn found(&self) -> Vec<String> {
        let told = |finding: &&Finding| finding.severity != Severity::Info && !is_of_no_column(finding);
        self.findings().iter().filter(told).map(line).collect()
    }

    /// The same with the notes.
    pub(crate) fn found_with_notes(&self) -> Vec<String> {
        self.findings().iter().filter(|finding| !is_of_no_column(finding)).map(line).collect()
    }

    /// The one finding with this code.
    #[track_caller]
    pub(crate) fn the(&self, code: &str) -> Finding {
        let mut all = self.findings();
        let found: Vec<usize> = (0..all.len()).filter(|&at| all[at].code.as_str() == code).collect();
        assert_eq!(found.len(), 1, "findings {code} among {:#?}", all.iter().map(line).collect::<Vec<_>>());
        all.swap_remove(found[0])
    }
}

/// Whether a finding is about a column that is not there and should be: the tables of most hazards are small.
pub(crate) fn is_of_no_column(finding: &Finding) -> bool {
    finding.code == Code::CellRequired && finding.severity == Severity::Warning && finding.cell.is_none()
}

/// Whatever is found and not only noted says what to do, and the rule; a cell is named.
#[track_caller]
fn must_be_whole(finding: &Finding) {
    let told = format!("{}: {}", line(finding), finding.message);
    if finding.severity == Severity::Info {
        return;
    }
    assert!(finding.message.contains([':', '.']), "says what to do: {told}");
    assert!(finding.rule.is_some(), "has a rule: {told}");
    let is_of_cell = finding.code.as_str().starts_with("cell.") && finding.value.is_some();
    assert!(!is_of_cell || (finding.cell.is_some() && finding.header.is_some()), "says where: {told}");
    assert_eq!(finding.value.is_some(), finding.value_kind.is_some(), "says what kind of value: {told}");
    let is_in_text = finding.file.ends_with(".csv") && finding.sheet.is_none() && finding.row.is_some();
    let is_of_row = finding.code.as_str().starts_with("cell.") || finding.code.as_str().starts_with("row.");
    assert!(!(is_in_text && is_of_row) || finding.line.is_some(), "says the line: {told}");
}

/// Nobody has said how bad anything is: then it is what `explain` says of the code.
#[track_caller]
fn must_be_as_bad_as_its_code(finding: &Finding) {
    let known = finding.code.severities();
    assert!(known.contains(&finding.severity), "{} is one of {known:?}", line(finding));
}

/// A finding in a line: severity, code and place.
pub(crate) fn line(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Fatal => "fatal",
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let place = match (&finding.sheet, &finding.cell, finding.row) {
        (Some(sheet), Some(cell), _) => format!(" {sheet}!{cell}"),
        (Some(sheet), None, Some(row)) => format!(" {sheet} row {row}"),
        (Some(sheet), None, None) => format!(" {sheet}"),
        (None, Some(cell), _) => format!(" {cell}"),
        (None, None, Some(row)) => format!(" row {row}"),
        (None, None, None) => String::new(),
    };
    format!("{severity} {}{place}", finding.code)
}

/// A workbook made of its parts as they are given, for what no library would write. The parts that every workbook
/// needs are added where they are not among them: one worksheet called `sheet`, whose rows are `data`.
pub(crate) fn package(sheet: &str, data: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let worksheet = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<worksheet xmlns=\"{MAIN}\"><sheetData>{data}</sheetData></worksheet>"
    );
    let workbook = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}/relationships\"><sheets>\
         <sheet name=\"{sheet}\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
    );
    let relations = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"rId1\" \
         Type=\"{OFFICE}/relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
    );
    let root = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"rId1\" \
         Type=\"{OFFICE}/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    let types = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<Types xmlns=\"{PACKAGE}/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"/xl/workbook.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>\
         <Override PartName=\"/xl/worksheets/sheet1.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>\
         </Types>"
    );
    let needed = [
        ("[Content_Types].xml", types),
        ("_rels/.rels", root),
        ("xl/workbook.xml", workbook),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/worksheets/sheet1.xml", worksheet),
    ];
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |name: &str, content: &[u8]| {
        zip.start_file(name, SimpleFileOptions::default()).expect("a part begins");
        zip.write_all(content).expect("a part is written");
    };
    for (name, content) in &needed {
        if !parts.iter().any(|(given, _)| given == name) {
            put(name, content.as_bytes());
        }
    }
    for (name, content) in parts {
        put(name, content.as_bytes());
    }
    zip.finish().expect("the package is complete").into_inner()
}

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";

/// The sites' header that has all that every row needs.
pub(crate) const SITES: &str = "key,company,name,phone,address1,city,country\n";

/// A row of it that is right, with this key.
pub(crate) fn site(key: &str) -> String {
    format!(
        "{key},6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,Site {key},+64 9 557 0000,1 Earl Street,Auckland,NZ\n"
    )
}
