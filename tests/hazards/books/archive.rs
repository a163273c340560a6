//! The archive a workbook is: damaged, forged, hostile, or put together in an unusual way.

use std::io::{Cursor, Read, Write};

use proptest::prelude::*;
use zip::write::SimpleFileOptions;

use super::super::desk::{Desk, package};
use super::{HEADER, errors, row, site, told, worksheet};

/// A workbook with one site, and these parts besides or instead.
fn workbook(parts: &[(&str, &str)]) -> Vec<u8> {
    let part = worksheet("", &format!("{}{}", row(1, &HEADER), site(2)), "");
    let mut all = vec![("xl/worksheets/sheet1.xml", part.as_str())];
    all.retain(|(name, _)| !parts.iter().any(|(given, _)| given == name));
    all.extend(parts);
    package("Sites", "", &all)
}

fn desk(file: impl AsRef<[u8]>) -> Desk {
    Desk::with("sites.xlsx", file)
}

/// The code and the message of a file that is refused.
#[track_caller]
fn refused(file: impl AsRef<[u8]>) -> (String, String) {
    let findings = desk(file).findings();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    (findings[0].code.to_string(), findings[0].message.clone())
}

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// The workbook's part with this list of sheets.
fn listing(sheets: &str) -> String {
    format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\"><sheets>{sheets}</sheets></workbook>")
}

/// Its relations.
fn relations(all: &[(&str, &str, &str)]) -> String {
    let all: String = all
        .iter()
        .map(|(id, what, target)| {
            format!("<Relationship Id=\"{id}\" Type=\"{RELATIONS}/{what}\" Target=\"{target}\"/>")
        })
        .collect();
    format!("<Relationships>{all}</Relationships>")
}

/// An upload that broke off: every length of the file that is not all of it.
#[test]
fn f10_a_file_that_breaks_off_is_refused_wherever_it_does() {
    let whole = workbook(&[]);
    for length in (4..whole.len()).step_by(37).chain([whole.len() - 1]) {
        let (code, message) = refused(&whole[..length]);
        assert_eq!(code, "file.corrupt", "{length} of {}", whole.len());
        assert!(
            message.contains("incomplete or damaged") && message.contains("export it again"),
            "{message}"
        );
    }
}

/// The checksum of a part is not that of its content: a disk or a mail gateway changed a byte.
#[test]
fn f10_a_byte_changed_on_the_way_is_noticed() {
    let mut file = workbook(&[]);
    let stored = package_stored(&[(
        "xl/worksheets/sheet1.xml",
        &worksheet("", &[row(1, &HEADER), site(2)].concat(), ""),
    )]);
    file.clone_from(&stored);
    let at = find(&file, b"Earl Street");
    file[at] = b'P';
    let findings = desk(file).findings();
    assert_eq!(findings[0].code.as_str(), "file.corrupt", "{findings:#?}");
}

/// The parts of [`workbook`], not compressed.
fn package_stored(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(workbook(parts))).expect("a package");
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).expect("a part");
        let mut content = Vec::new();
        part.read_to_end(&mut content).expect("its content");
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let name = part.name().expect("its name").into_owned();
        zip.start_file(name, options).expect("a part begins");
        zip.write_all(&content).expect("a part is written");
    }
    zip.finish().expect("the package is complete").into_inner()
}

/// Where these bytes are for the first time.
fn find(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).position(|window| window == wanted).expect("they are there")
}

/// The declared size of the last part in the list of parts, changed.
fn declaring(file: &[u8], part: &str, size: u32) -> Vec<u8> {
    let mut file = file.to_vec();
    let sign = b"PK\x01\x02";
    let at = (0..file.len() - 46)
        .filter(|at| file[*at..].starts_with(sign))
        .find(|at| file[at + 46..].starts_with(part.as_bytes()))
        .expect("the part is listed");
    file[at + 24..at + 28].copy_from_slice(&size.to_le_bytes());
    file
}

/// A forged zip bomb: a part that unpacks to more than it declares.
#[test]
fn f11_a_part_larger_than_it_declares_is_refused() {
    let (code, message) = refused(declaring(&workbook(&[]), "xl/worksheets/sheet1.xml", 10));
    assert_eq!(code, "file.corrupt");
    assert!(message.contains("open it in Excel and save it"), "{message}");
}

/// A forged zip bomb: a few kilobytes that declare a gigabyte.
#[test]
fn f12_a_part_that_declares_a_gigabyte_is_refused_before_it_is_unpacked() {
    for part in ["xl/worksheets/sheet1.xml", "xl/workbook.xml"] {
        let (code, message) = refused(declaring(&workbook(&[]), part, 1 << 30));
        assert_eq!(code, "file.too-large");
        assert!(message.contains("1024 MB when unpacked and at most 512 MB are read"), "{message}");
    }
}

/// Billion laughs, an entity that reads a file, and one far down in a worksheet.
#[test]
fn f13_entities_are_refused_wherever_they_are_declared() {
    let laughs = "<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]>";
    let file = "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>";
    let rows: String = (2..400).map(site).collect();
    let far = worksheet("", &rows, "").replace("</worksheet>", &format!("{laughs}</worksheet>"));
    let in_sheet = format!("{file}{}", worksheet("", "", ""));
    let in_strings = format!("{laughs}<sst/>");
    let table = [
        ("xl/worksheets/sheet1.xml", in_sheet.as_str()),
        ("xl/worksheets/sheet1.xml", &far),
        ("xl/sharedStrings.xml", &in_strings),
        ("xl/styles.xml", &in_strings),
        ("xl/workbook.xml", file),
        ("_rels/.rels", laughs),
    ];
    for (part, content) in table {
        let codes: Vec<String> =
            desk(workbook(&[(part, content)])).findings().iter().map(|one| one.code.to_string()).collect();
        assert_eq!(codes, ["file.xml-entity"], "{part}");
    }
}

/// What rare generators write.
#[test]
fn f14_parts_in_utf_16_are_refused_with_the_way_out() {
    let wide = |text: &str| -> Vec<u8> {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let mut archive = zip::ZipArchive::new(Cursor::new(workbook(&[]))).expect("a package");
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).expect("a part");
        let mut content = String::new();
        part.read_to_string(&mut content).expect("its content");
        let name = part.name().expect("its name").into_owned();
        zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("a part begins");
        let bytes = if name.ends_with("sheet1.xml") { wide(&content) } else { content.into_bytes() };
        zip.write_all(&bytes).expect("a part is written");
    }
    let (code, message) = refused(zip.finish().expect("the package is complete").into_inner());
    assert_eq!(code, "file.corrupt");
    assert!(
        message.contains("is stored as UTF-16") && message.contains("open it in Excel and save it"),
        "{message}"
    );
}

/// Two parts of one name, of which one program shows the first and another the second.
#[test]
fn f10_two_parts_of_one_name_are_refused() {
    let other = worksheet("", &[row(1, &HEADER), site(3)].concat(), "");
    let (code, message) = refused(workbook(&[("XL/Worksheets/Sheet1.xml", &other)]));
    assert_eq!(code, "file.corrupt");
    assert!(message.contains("two parts called"), "{message}");
}

/// 400 thousand million texts in two kilobytes: the reader would ask for all of them at once.
#[test]
fn x19_an_absurd_count_of_texts_is_refused() {
    for count in ["400000000000", "99999999999999999999999999", "65537"] {
        let strings = format!("<sst xmlns=\"{MAIN}\" uniqueCount=\"{count}\"><si><t>a</t></si></sst>");
        let (code, message) = refused(workbook(&[("xl/sharedStrings.xml", &strings)]));
        assert_eq!(code, "file.corrupt", "{count}");
        assert!(message.contains("more than fit into it"), "{message}");
    }
    // Some programs count wrongly, which costs nothing.
    let strings = format!("<sst xmlns=\"{MAIN}\" uniqueCount=\"1000\"><si><t>a</t></si></sst>");
    assert!(errors(&Desk::with("book.xlsx", workbook(&[("xl/sharedStrings.xml", &strings)]))).is_empty());
    // Far behind the first bytes, and under a prefix.
    let strings =
        format!("<?xml version=\"1.0\"?>{}<x:sst uniqueCount='9999999'/>", "<!-- -->".repeat(20_000));
    assert_eq!(refused(workbook(&[("xl/sharedStrings.xml", &strings)])).0, "file.corrupt");
}

/// Thirteen million empty texts, and texts of more bytes than are held.
#[test]
fn x20_more_texts_than_are_held_are_refused() {
    let strings = format!("<sst>{}</sst>", "<si/>".repeat(4_000_001));
    let (code, message) = refused(workbook(&[("xl/sharedStrings.xml", &strings)]));
    assert_eq!(code, "file.too-large");
    assert!(message.contains("more than 4000000 different texts"), "{message}");
    let (code, message) = refused(declaring(
        &workbook(&[("xl/sharedStrings.xml", "<sst/>")]),
        "xl/sharedStrings.xml",
        65 << 20,
    ));
    assert_eq!(code, "file.too-large");
    assert!(message.contains("65 MB when unpacked and at most 64 MB are read"), "{message}");
}

/// A runaway cell.
#[test]
fn x21_a_text_of_more_than_a_million_characters_is_refused() {
    let cell = |text: &str| format!("<row r=\"2\"><c r=\"C2\" t=\"inlineStr\"><is>{text}</is></c></row>");
    let one = cell(&format!("<t>{}</t>", "x".repeat(1_100_000)));
    let many = cell(&format!("<r><t>{}</t></r>", "x".repeat(10_000)).repeat(110));
    let refs = cell(&format!("<t>{}</t>", "&amp;".repeat(300_000)));
    let too_long = "longer than a million characters";
    for (rows, words) in [(one, too_long), (many, "C2 holds more"), (refs, "C2 holds more")] {
        let part = worksheet("", &format!("{}{rows}", row(1, &HEADER)), "");
        let (code, message) = refused(workbook(&[("xl/worksheets/sheet1.xml", &part)]));
        assert_eq!(code, "file.too-large");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn x25_charts_are_passed_over_and_macro_sheets_refused() {
    let sheets = "<sheet name=\"Chart\" sheetId=\"2\" r:id=\"rId2\"/><sheet name=\"Sites\" sheetId=\"1\" r:id=\"rId1\"/>";
    for what in ["chartsheet", "dialogsheet"] {
        let links = relations(&[
            ("rId1", "worksheet", "worksheets/sheet1.xml"),
            ("rId2", what, "chartsheets/sheet1.xml"),
        ]);
        let parts = [
            ("xl/workbook.xml", listing(sheets)),
            ("xl/_rels/workbook.xml.rels", links),
            ("xl/chartsheets/sheet1.xml", "<chartsheet/>".to_owned()),
        ];
        let parts: Vec<_> = parts.iter().map(|(name, content)| (*name, content.as_str())).collect();
        let desk = desk(workbook(&parts));
        assert_eq!(told(&desk), Vec::<String>::new(), "{what}");
        assert_eq!(desk.examined().sheets[0].usable, 1);
    }
    let macros = relations(&[
        ("rId1", "worksheet", "worksheets/sheet1.xml"),
        ("rId2", "xlMacrosheet", "odd/sheet1.xml"),
    ]);
    let by_relation = [
        ("xl/workbook.xml", listing(sheets)),
        ("xl/_rels/workbook.xml.rels", macros),
        ("xl/odd/sheet1.xml", "<macrosheet/>".to_owned()),
    ];
    let by_relation: Vec<_> = by_relation.iter().map(|(name, content)| (*name, content.as_str())).collect();
    for parts in [&by_relation[..], &[("xl/macrosheets/sheet1.xml", "<macrosheet/>")]] {
        let (code, message) = refused(workbook(parts));
        assert_eq!(code, "file.format-unsupported");
        assert!(message.contains("macro sheet") && message.contains("save it as .xlsx"), "{message}");
    }
}

/// What generators get wrong in the list of sheets.
#[test]
fn x26_a_list_of_sheets_that_cannot_be_trusted_is_refused() {
    let links = relations(&[
        ("rId1", "worksheet", "worksheets/sheet1.xml"),
        ("rId2", "worksheet", "worksheets/sheet1.xml"),
    ]);
    let table = [
        (
            "<sheet name=\"Sites\" r:id=\"rId1\"/><sheet name=\"Devices\" r:id=\"rId2\"/>",
            "lists the sheet 'Devices' twice",
        ),
        ("<sheet name=\"Sites\" r:id=\"rId1\"/><sheet name=\"sites\"/>", "lists the sheet 'sites' twice"),
    ];
    for (sheets, what) in table {
        let (code, message) = refused(workbook(&[
            ("xl/workbook.xml", &listing(sheets)),
            ("xl/_rels/workbook.xml.rels", &links),
        ]));
        assert_eq!(code, "file.corrupt", "{sheets}");
        assert!(message.contains(what) && message.contains("open it in Excel and save it"), "{message}");
    }
    let elsewhere = [
        (
            relations(&[("rId1", "worksheet", "worksheets/sheet7.xml")]),
            "the part of the sheet 'Sites' is missing",
        ),
        (relations(&[("rId1", "notes", "worksheets/sheet1.xml")]), "of an unknown kind"),
        (
            relations(&[
                ("rId1", "worksheet", "worksheets/sheet1.xml"),
                ("rId2", "sharedStrings", "texts.xml"),
            ]),
            "the part texts.xml is not where it belongs",
        ),
    ];
    for (links, what) in elsewhere {
        let parts = [("xl/_rels/workbook.xml.rels", links.as_str()), ("xl/texts.xml", "<sst/>")];
        let (code, message) = refused(workbook(&parts));
        assert_eq!(code, "file.corrupt");
        assert!(message.contains(what), "{message}");
    }
}

/// What generators write and other programs read: a state that is none, a sheet that leads nowhere beside one that is whole.
#[test]
fn x26_sheets_with_an_unknown_state_are_shown_and_one_that_leads_nowhere_stops_until_it_is_left_out() {
    let part = worksheet("", &format!("{}{}", row(1, &HEADER), site(2)), "");
    let book = |sheets: &str| {
        let parts = [("xl/workbook.xml", listing(sheets)), ("xl/worksheets/sheet1.xml", part.clone())];
        let parts: Vec<_> = parts.iter().map(|(name, text)| (*name, text.as_str())).collect();
        desk(workbook(&parts))
    };
    let whole = "<sheet name=\"Sites\" sheetId=\"1\" state=\"show\" r:id=\"rId1\"/>";
    assert_eq!(book(whole).found(), Vec::<String>::new());
    assert_eq!(book(whole).examined().sheets[0].usable, 1);
    for lost in
        ["<sheet name=\"Notes\" sheetId=\"2\"/>", "<sheet name=\"Notes\" sheetId=\"2\" r:id=\"rId9\"/>"]
    {
        for sheets in [format!("{whole}{lost}"), format!("{lost}{whole}")] {
            let desk = book(&sheets);
            assert_eq!(desk.found(), ["fatal sheet.unreadable Notes"], "{sheets}");
            let message = desk.the("sheet.unreadable").message;
            assert!(message.contains("does not say where its cells are"), "{message}");
            assert!(message.contains("name the sheets to read with --worksheet"), "{message}");
            let desk = book(&sheets).read_with(|options| options.sheets = vec!["Sites".to_owned()]);
            assert_eq!(desk.found(), Vec::<String>::new(), "{sheets}");
            assert_eq!(desk.rows()[0].number, 2, "{sheets}");
        }
    }
}

/// Parts at the root of the archive, and numbers with line breaks around them.
#[test]
fn x26_parts_at_the_root_and_white_space_around_numbers_make_no_difference() {
    let root = relations(&[("rId1", "officeDocument", "workbook.xml")]);
    let sheets = listing("<sheet name=\"Sites\" sheetId=\"1\" r:id=\"rId1\"/>");
    let links = relations(&[("rId1", "worksheet", "sheet.xml")]);
    let header = HEADER.iter().copied().chain(["latitude", "longitude"]).collect::<Vec<_>>();
    let numbers = site(2)
        .replace("</row>", "<c r=\"G2\"><v>\n -36.8485 \n</v></c><c r=\"H2\"><v>\r\n174.7633</v></c></row>");
    let part = worksheet("", &format!("{}{numbers}", row(1, &header)), "");
    let desk = desk(workbook(&[
        ("_rels/.rels", &root),
        ("workbook.xml", &sheets),
        ("_rels/workbook.xml.rels", &links),
        ("sheet.xml", &part),
    ]));
    assert_eq!(desk.found(), Vec::<String>::new());
    let draft = format!("{:?}", desk.rows()[0].draft.as_ref().expect("the row is right").record());
    assert!(draft.contains("-36.8485") && draft.contains("174.7633"), "{draft}");
}

/// Of two parts that are not where they belong the same one is named each time.
#[test]
fn x26_the_same_of_several_misplaced_parts_is_named_each_time() {
    let root = relations(&[("rId1", "officeDocument", "workbook.xml")]);
    let sheets = listing("<sheet name=\"Sites\" sheetId=\"1\" r:id=\"rId1\"/>");
    let misplaced: Vec<(String, String)> =
        (2..20).map(|n| (format!("rId{n:02}"), format!("strings{n:02}.xml"))).collect();
    let mut parts = vec![("rId1", "worksheet", "sheet.xml")];
    parts.extend(misplaced.iter().map(|(id, part)| (id.as_str(), "sharedStrings", part.as_str())));
    let links = relations(&parts);
    for _ in 0..5 {
        let desk = desk(workbook(&[
            ("_rels/.rels", &root),
            ("workbook.xml", &sheets),
            ("_rels/workbook.xml.rels", &links),
            ("sharedStrings.xml", "<sst/>"),
        ]));
        let message = desk.the("file.corrupt").message;
        assert!(message.contains("the part strings02.xml is not where it belongs"), "{message}");
    }
}

/// A workbook in another folder than usual is one all the same.
#[test]
fn x26_a_workbook_in_another_folder_is_read() {
    let root = relations(&[("rId1", "officeDocument", "/book/main.xml")]);
    let sheets = listing("<sheet name=\"Sites\" sheetId=\"1\" r:id=\"rId1\"/>");
    let links = relations(&[("rId1", "worksheet", "/book/one.xml")]);
    let part = worksheet("", &format!("{}{}", row(1, &HEADER), site(2)), "");
    let desk = desk(workbook(&[
        ("_rels/.rels", &root),
        ("book/main.xml", &sheets),
        ("book/_rels/main.xml.rels", &links),
        ("book/one.xml", &part),
    ]));
    assert_eq!(told(&desk), Vec::<String>::new());
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

/// The parts whose bytes are changed below, each with something to lose.
fn rich_parts() -> Vec<(String, Vec<u8>)> {
    let strings = format!(
        "<sst xmlns=\"{MAIN}\" count=\"2\" uniqueCount=\"2\"><si><t>North</t></si><si><r><t>So</t></r><r><t>uth</t></r></si></sst>"
    );
    let styles = "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"00000\"/></numFmts><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>";
    let odd = "<row r=\"3\" hidden=\"1\"><c r=\"A3\" s=\"1\"><v>42</v></c><c r=\"C3\" t=\"s\"><v>1</v></c><c r=\"D3\" t=\"b\"><v>1</v></c>\
               <c r=\"E3\"><f>TODAY()+[1]A!B2</f></c><c r=\"F3\" t=\"e\"><v>#REF!</v></c></row>";
    let part = worksheet(
        "<dimension ref=\"A1:F3\"/><cols><col min=\"2\" max=\"2\" hidden=\"1\"/></cols>",
        &format!("{}{}{odd}", row(1, &HEADER), site(2)),
        "<autoFilter ref=\"A1:F3\"/><mergeCells count=\"1\"><mergeCell ref=\"B2:B3\"/></mergeCells>",
    );
    let links = relations(&[
        ("rId1", "worksheet", "worksheets/sheet1.xml"),
        ("rId2", "sharedStrings", "sharedStrings.xml"),
        ("rId3", "styles", "styles.xml"),
    ]);
    let file = workbook(&[
        ("xl/worksheets/sheet1.xml", &part),
        ("xl/sharedStrings.xml", &strings),
        ("xl/styles.xml", styles),
        ("xl/_rels/workbook.xml.rels", &links),
    ]);
    let mut archive = zip::ZipArchive::new(Cursor::new(file)).expect("a package");
    (0..archive.len())
        .map(|index| {
            let mut part = archive.by_index(index).expect("a part");
            let mut content = Vec::new();
            part.read_to_end(&mut content).expect("its content");
            (part.name().expect("its name").into_owned(), content)
        })
        .collect()
}

fn zipped(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("a part begins");
        zip.write_all(content).expect("a part is written");
    }
    zip.finish().expect("the package is complete").into_inner()
}

#[test]
fn f10_the_parts_that_are_changed_below_are_read_when_they_are_not() {
    let found = desk(zipped(&rich_parts())).found();
    assert!(found.contains(&"error sheet.hidden-rows Sites row 3".to_owned()), "{found:?}");
    assert!(found.contains(&"error cell.merged-covered Sites!B3".to_owned()), "{found:?}");
}

/// One change of the bytes of a part.
#[derive(Debug, Clone)]
enum Change {
    Set(usize, u8),
    Cut(usize, usize),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (
            any::<usize>(),
            prop_oneof![any::<u8>(), Just(b'<'), Just(b'>'), Just(b'"'), Just(b'9'), Just(b'/')]
        )
            .prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<usize>(), 1..200_usize).prop_map(|(at, length)| Change::Cut(at, length)),
        (any::<usize>(), 1..200_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

fn changed(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    match *change {
        Change::Set(at, byte) => {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        Change::Cut(at, length) => {
            let at = at % bytes.len();
            bytes.drain(at..(at + length).min(bytes.len()));
        }
        Change::Repeat(at, length) => {
            let at = at % bytes.len();
            let piece = bytes[at..(at + length).min(bytes.len())].to_vec();
            bytes.splice(at..at, piece);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever becomes of the bytes of the parts: no panic, and twice the same.
    #[test]
    fn f10_no_change_of_a_part_upsets_the_reader(
        changes in prop::collection::vec((any::<usize>(), change()), 1..4),
    ) {
        let mut parts = rich_parts();
        for (part, change) in &changes {
            let part = part % parts.len();
            changed(&mut parts[part].1, change);
        }
        let desk = desk(zipped(&parts));
        prop_assert_eq!(told(&desk), told(&desk));
    }

    /// The same of the bytes of the archive itself.
    #[test]
    fn f10_no_change_of_the_archive_upsets_the_reader(changes in prop::collection::vec(change(), 1..4)) {
        let mut file = zipped(&rich_parts());
        for change in &changes {
            changed(&mut file, change);
        }
        let desk = desk(file);
        prop_assert_eq!(told(&desk), told(&desk));
    }
}
