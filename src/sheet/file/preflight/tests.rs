//! Workbooks that want more than they are worth: what is refused, and after how many bytes.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;

use super::elements::{Elements, Stop};
use super::*;

/// Bytes of one kind without end, and how many were asked for.
struct Endless<'a> {
    start: &'a [u8],
    given: usize,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        for place in &mut *buffer {
            *place = self.start.get(self.given).copied().unwrap_or(b'>');
            self.given += 1;
        }
        Ok(buffer.len())
    }
}

fn stopped(bytes: &[u8]) -> Option<Code> {
    let refusal = |stop| match stop {
        Stop::Refused(fault) => fault.code,
        Stop::Letters | Stop::Structure => Code::SheetUnreadable,
    };
    let mut elements = match Elements::of("a.xml", Cursor::new(bytes), 100) {
        Ok(elements) => elements,
        Err(fault) => return Some(fault.code),
    };
    loop {
        match elements.next() {
            Ok(quick_xml::events::Event::Eof) => return None,
            Ok(_) => {}
            Err(stop) => return Some(refusal(stop)),
        }
    }
}

#[test]
fn a_part_is_stopped_where_a_parser_would_begin_to_collect_without_end() {
    let long = "x".repeat(101);
    let fine = "x".repeat(60);
    let table = [
        (format!("<a>{long}</a>"), Some(Code::FileTooLarge)),
        (format!("<a b='{long}'/>"), Some(Code::FileTooLarge)),
        (format!("<a b='{}>'/>", ">".repeat(101)), Some(Code::FileTooLarge)),
        (format!("<!--{}-->", "<>".repeat(51)), Some(Code::FileTooLarge)),
        (format!("<a><![CDATA[{}]]></a>", "<b>".repeat(40)), Some(Code::FileTooLarge)),
        (format!("<?x {} ?>", ">".repeat(101)), Some(Code::FileTooLarge)),
        (format!("<a>{fine}</a>").repeat(50), None),
        (format!("<a b=\"{fine}\"/>").repeat(50), None),
        (format!("<!--{fine}--><a/><a><![CDATA[{fine}]]></a><a/>").repeat(50), None),
        ("<a>".repeat(251), Some(Code::FileCorrupt)),
        ("<a>".repeat(250) + &"</a>".repeat(250), None),
        ("<a><b/></a><c d='/'></c>".repeat(300), None),
        ("<!DOCTYPE a>".into(), Some(Code::FileXmlEntity)),
        ("<a/><!doctype a>".into(), Some(Code::FileXmlEntity)),
        ("<a/>".repeat(4000) + "<!ENTITY b 'c'>", Some(Code::FileXmlEntity)),
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>".into(), None),
        ("\u{feff}<?xml version='1.0' encoding='utf-8'?><a/>".into(), None),
        ("<a></b>".into(), Some(Code::SheetUnreadable)),
    ];
    for (text, expected) in table {
        assert_eq!(stopped(text.as_bytes()), expected, "{}", &text[..text.len().min(80)]);
    }
    for wide in [&b"\xff\xfe<\0a\0"[..], b"\xfe\xff\0<", b"<\0a\0/\0>\0", b"\0<\0a"] {
        assert_eq!(stopped(wide), Some(Code::FileCorrupt), "{wide:?}");
    }
}

#[test]
fn an_endless_part_is_left_after_the_longest_text_and_one_piece_more() {
    for start in ["<c><v>", "<!--", "<a b='", "<![CDATA[", "<?x "] {
        let mut endless = Endless { start: start.as_bytes(), given: 0 };
        let mut elements = Elements::of("a.xml", &mut endless, LIMITS.run).expect("it begins");
        while elements.next().is_ok() {}
        drop(elements);
        assert!(endless.given as u64 <= LIMITS.run + (1 << 17), "{start}: {} bytes", endless.given);
    }
}

const RELATION: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// The parts of a workbook of one sheet with this content.
fn parts(sheet: &str) -> Vec<(String, String)> {
    let part = |name: &str, content: String| (name.to_owned(), content);
    vec![
        part(
            "_rels/.rels",
            format!(
                "<Relationships><Relationship Id='a' Type='{RELATION}/officeDocument' Target='xl/workbook.xml'/></Relationships>"
            ),
        ),
        part(
            "xl/workbook.xml",
            "<workbook xmlns:r='r'><sheets><sheet name='Sites' sheetId='1' r:id='a'/></sheets></workbook>"
                .into(),
        ),
        part(
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships><Relationship Id='a' Type='{RELATION}/worksheet' Target='worksheets/sheet1.xml'/></Relationships>"
            ),
        ),
        part("xl/worksheets/sheet1.xml", format!("<worksheet>{sheet}</worksheet>")),
    ]
}

/// What a workbook of these parts comes to, within these limits.
fn looked(parts: &[(String, String)], limits: WorkbookLimits) -> Result<WorksheetSurvey, WorkbookFault> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.xlsx");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).expect("a file"));
    for (name, content) in parts {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("a part");
        zip.write_all(content.as_bytes()).expect("its content");
    }
    zip.finish().expect("a package");
    let mut package = Preflight::open_within(&path, limits)?;
    package.must_be_safe_to_open()?;
    package.survey(0)
}

#[test]
fn every_limit_refuses_what_is_one_beyond_it() {
    let data = "<sheetData><row><c><v>1</v></c><c><v>2</v></c></row></sheetData>";
    let merged = format!("{data}<mergeCells><mergeCell ref='A1:A2'/><mergeCell ref='B1:B2'/></mergeCells>");
    let texts = ("xl/sharedStrings.xml".to_owned(), "<sst><si><t>a</t></si><si/></sst>".to_owned());
    let formats =
        ("xl/styles.xml".to_owned(), "<styleSheet><cellXfs><xf/><xf/></cellXfs></styleSheet>".to_owned());
    let all = [parts(&merged), vec![texts, formats]].concat();
    assert!(looked(&all, LIMITS).is_ok());
    let exact = WorkbookLimits { parts: 6, texts: 2, formats: 2, values: 2, ranges: 2, ..LIMITS };
    assert!(looked(&all, exact).is_ok());
    let below = [
        (WorkbookLimits { parts: 5, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { directory: 100, ..LIMITS }, Code::FileCorrupt),
        (WorkbookLimits { part: 100, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { sum: 500, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { strings: 10, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { small: 10, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { texts: 1, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { formats: 1, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { run: 20, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { format_run: 5, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { values: 1, ..LIMITS }, Code::FileTooLarge),
        (WorkbookLimits { ranges: 1, ..LIMITS }, Code::SheetUnreadable),
    ];
    for (limits, code) in below {
        let fault = looked(&all, limits).map(|_| ()).expect_err("beyond a limit");
        assert_eq!(fault.code, code, "{limits:?}: {}", fault.message);
    }
}

/// Every other row hidden, every other formula without a result: ranges that cannot be joined.
#[test]
fn what_is_remembered_of_a_worksheet_is_limited() {
    let rows: String =
        (1..40).map(|row| format!("<row r='{}' hidden='1'><c><f>A1</f></c></row>", row * 2)).collect();
    let all = parts(&format!("<sheetData>{rows}</sheetData>"));
    let survey = looked(&all, LIMITS).expect("it is not much");
    assert_eq!(
        (survey.hidden_rows.count(), survey.is_unsaved(0, 2), survey.is_unsaved(0, 3)),
        (39, true, false)
    );
    let fault =
        looked(&all, WorkbookLimits { ranges: 50, ..LIMITS }).map(|_| ()).expect_err("too much to remember");
    assert_eq!(fault.code, Code::SheetUnreadable);
}

#[test]
fn links_beyond_those_that_are_kept_are_known_to_be_missing() {
    let links: String = (1..=3)
        .map(|id| format!("<hyperlink ref='{}{id}' r:id='r{id}'/>", if id == 3 { 'D' } else { 'B' }))
        .collect();
    let target = |id: u32| {
        format!("<Relationship Id='r{id}' Type='{RELATION}/hyperlink' Target='mailto:{id}@x.example'/>")
    };
    let relations = format!("<Relationships>{}</Relationships>", (1..=3).map(target).collect::<String>());
    let all = [
        parts(&format!("<sheetData/><hyperlinks>{links}</hyperlinks>")),
        vec![("xl/worksheets/_rels/sheet1.xml.rels".to_owned(), relations)],
    ]
    .concat();
    let told = |limits: WorkbookLimits| {
        let survey = looked(&all, limits).expect("it is read");
        let at = |column, row| survey.links.in_row(row, &[column]).pop().map(|link| link.address.to_string());
        let found = [at(1, 1), at(1, 2), at(3, 3)].map(Option::unwrap_or_default).join(" ");
        let lacking: Vec<usize> = (0..8).filter(|column| survey.links.may_lack(*column)).collect();
        (found, lacking)
    };
    assert_eq!(told(LIMITS), ("1@x.example 2@x.example 3@x.example".to_owned(), vec![]));
    let (found, lacking) = told(WorkbookLimits { links: 2, ..LIMITS });
    assert_eq!((found.as_str(), lacking), ("1@x.example 2@x.example ", vec![3]));
}

#[test]
fn worksheets_that_are_surveyed_ahead_are_told_as_one_by_one_damaged_ones_included() {
    const SHEETS: usize = 5;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.xlsx");
    let mut book = rust_xlsxwriter::Workbook::new();
    for sheet in 0..SHEETS {
        let sheet_of_book = book.add_worksheet();
        for row in 0..10 * (sheet as u32 + 1) {
            sheet_of_book.write(row, 0, format!("{sheet} {row}")).expect("a cell");
        }
    }
    book.save(&path).expect("a workbook");
    let limits = WorkbookLimits { values: 35, ..LIMITS };
    let one_by_one: Vec<_> = {
        let mut preflight = Preflight::open_within(&path, limits).expect("a workbook");
        (0..=SHEETS).map(|sheet| preflight.survey(sheet).map(|survey| format!("{survey:?}"))).collect()
    };
    let refused = one_by_one.iter().filter(|survey| survey.is_err()).count();
    assert_eq!(refused, 3, "two of them have too many values, and one is not there");
    let mut preflight = Preflight::open_within(&path, limits).expect("a workbook");
    preflight.survey_ahead_from(&[0, 1, 2, 3, 4, 5], 0);
    assert_eq!(preflight.ahead.len(), SHEETS + 1);
    for (sheet, expected) in one_by_one.iter().enumerate() {
        let survey = preflight.survey(sheet).map(|survey| format!("{survey:?}"));
        assert_eq!(survey, *expected, "{sheet}");
    }
    assert!(preflight.ahead.is_empty());
}
