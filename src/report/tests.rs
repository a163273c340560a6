//! Whole reports: of a journal with a tree of companies and devices in every state a row can be in.

use std::collections::BTreeMap;
use std::fs;

use calamine::{Data, Reader, Xlsx, open_workbook};
use tempfile::TempDir;

use super::*;
use crate::journal::{
    Candidate, Decision, Disposition, Evidence, How, ImportWriter, NewJob, NewRow, NewSheet, Selection, Write,
};
use crate::model::id::{JobId, RemoteId};
use crate::model::key::{comparable, natural_key};
use crate::model::operation::Operation;
use crate::model::record::{Link, Target};
use crate::model::state::JobState;
use crate::model::verdict::{Doubt, Rejection, Violation};
use crate::sheet::guard::unguarded;
use crate::sheet::{self, Draft, Options, Pointer, Row};

mod page;

const COMPANIES: &str = "\
Key,Parent,Type,Name,Phone,Support Email,Sales Email,Accounts Email,Street,City,result_note
acme,id:11111111-1111-4111-8111-111111111111,RESELLER,Acme Ltd,+64 9 555 0100,s@a.example,v@a.example,r@a.example,1 High St,Auckland,
evil,acme,CUSTOMER,=Evil & Co,-1 555,s@a.example,v@a.example,r@a.example,\"2 \"\"Low\"\" St\",'t Veld,keep
below,evil,CUSTOMER,Below Evil,555 0102,s@a.example,v@a.example,r@a.example,3 High St,Auckland,
held,acme,CUSTOMER,Held Ltd,555 0103,s@a.example,v@a.example,r@a.example,4 High St,Auckland,
under,held,CUSTOMER,Under Held,555 0104,s@a.example,v@a.example,r@a.example,5 High St,Auckland,
doubt,acme,CUSTOMER,Doubt Ltd,555 0105,s@a.example,v@a.example,r@a.example,6 High St,Auckland,
adopted,acme,CUSTOMER,Adopted Ltd,555 0106,s@a.example,v@a.example,r@a.example,7 High St,Auckland,
there,acme,CUSTOMER,There Ltd,555 0107,s@a.example,v@a.example,r@a.example,8 High St,Auckland,
later,acme,CUSTOMER,Later Ltd,555 0108,s@a.example,v@a.example,r@a.example,9 High St,Auckland,
ready,acme,CUSTOMER,Ready Ltd,555 0109,s@a.example,v@a.example,r@a.example,10 High St,Auckland,
given,acme,CUSTOMER,Given Up,555 0110,s@a.example,v@a.example,r@a.example,11 High St,Auckland,
away,acme,CUSTOMER,Away Ltd,555 0111,s@a.example,v@a.example,r@a.example,12 High St,Auckland,
";

const DEVICES: &str = "\
Company;Name;MAC;Model;Phone;Street;City;licence_code
acme;@Till 1;00:1a:2b:3c:4d:5e;Edge 100;555 0200;1 High St;Auckland;
acme;Till 2;00:1a:2b:3c:4d:5f;Edge 100;555 0201;1 High St;Auckland;
acme;Till 3;00:1a:2b:3c:4d:60;Edge 100;555 0202;1 High St;Auckland;ABC-1
acme;Till 4;00:1a:2b:3c:4d:61;Edge 100;555 0203;1 High St;Auckland;
";

/// Minutes after noon.
fn at(minute: i64) -> Moment {
    Moment::from_millis(1_772_366_400_000 + minute * 60_000)
}

fn id(number: u128) -> RemoteId {
    RemoteId::from_u128(0xa000_0000_0000_4000_8000_0000_0000_0000 + number)
}

/// The rows of a CSV file of this name.
fn rows_of(name: &str, text: &str) -> (sheet::Table, Vec<Row>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read(&path).remove(0)
}

/// The tables of a file with their rows.
fn read(path: &Path) -> Vec<(sheet::Table, Vec<Row>)> {
    let book = sheet::open(path, &Options::default()).unwrap_or_else(|findings| panic!("{findings:?}"));
    let rows = |table: &sheet::Table| {
        let mut rows = Vec::new();
        book.read(table, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        rows
    };
    book.tables.iter().map(|table| (table.clone(), rows(table))).collect()
}

/// Somebody who types from beside the folder `reports`.
fn caller(again: &Again) -> Caller<'_> {
    Caller { again, folder: Path::new("reports") }
}

/// A journal on disk with the jobs that its rows made, by their keys or names.
struct Bench {
    folder: TempDir,
    journal: Journal,
    jobs: BTreeMap<String, JobId>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("fleetload.db")).unwrap();
        Self { folder, journal, jobs: BTreeMap::new() }
    }

    /// Imports sheets; rows whose job is there are recognised, or changed since when their values differ.
    fn import(&mut self, sheets: &[(&str, &str, &str)]) -> ImportId {
        let minute = if self.jobs.is_empty() { 0 } else { 60 };
        let mut writer = self.journal.begin_import(at(minute)).unwrap();
        let import = writer.import();
        for (file, name, text) in sheets {
            let ending = if text.starts_with("Company;") { "devices.csv" } else { "companies.csv" };
            let (table, rows) = rows_of(ending, text);
            writer.file(file, "00ff").unwrap();
            let sheet = NewSheet {
                name: (*name).to_owned(),
                file: (*file).to_owned(),
                worksheet: None,
                kind: table.kind,
                headers: table.headers.clone(),
                header_row: table.header_row,
            };
            let sheet = writer.sheet(&sheet).unwrap();
            for row in rows {
                let (job, disposition) = job_of(&mut writer, &mut self.jobs, &row);
                let row =
                    NewRow { sheet, number: row.number, line: row.line, cells: row.cells, job, disposition };
                writer.row(&row).unwrap();
            }
        }
        writer.finish().unwrap();
        import
    }

    fn job(&self, name: &str) -> JobId {
        self.jobs[name]
    }

    fn apply(&mut self, writes: &[Write]) {
        for outcome in self.journal.apply(writes).unwrap() {
            outcome.unwrap();
        }
    }

    fn claim(&mut self, name: &str, operation: Operation, minute: i64) {
        let job = self.job(name);
        let counted = operation.creates().then(|| at(minute).day());
        self.apply(&[Write::Claim {
            content: None,
            job,
            operation,
            baseline: None,
            counted,
            at: at(minute),
        }]);
    }

    fn done(&mut self, name: &str, from: JobState, how: How, number: u128, minute: i64) {
        let evidence = Evidence::at(at(minute));
        self.apply(&[Write::Advance { job: self.job(name), from, how, id: Some(id(number)), evidence }]);
    }

    fn reject(&mut self, name: &str, code: &str, message: &str, violations: &[(&str, &str)], minute: i64) {
        let violations = violations
            .iter()
            .map(|(path, message)| Violation { path: (*path).into(), message: (*message).into() })
            .collect();
        let rejection = Rejection { code: code.into(), message: message.into(), violations };
        let (job, evidence) = (self.job(name), Evidence::at(at(minute)));
        self.apply(&[Write::Reject { job, from: JobState::Sending, rejection, evidence }]);
    }

    fn hold(&mut self, name: &str, code: &str, reason: &str, candidates: Vec<Candidate>, minute: i64) {
        let (job, evidence) = (self.job(name), Evidence::at(at(minute)));
        let (code, reason) = (code.to_owned(), reason.to_owned());
        self.apply(&[Write::Hold { job, from: JobState::Sending, code, reason, candidates, evidence }]);
    }

    /// Writes the reports of an import to a folder of this name.
    fn write(&self, import: ImportId, name: &str) -> Written {
        let standing = Standing { state: RunState::Parked, exit_code: 5, resumes_at: Some(at(720)) };
        write(&self.journal, import, &self.folder.path().join(name), &standing, caller(&Again::default()))
            .unwrap()
    }
}

fn job_of(
    writer: &mut ImportWriter<'_>,
    jobs: &mut BTreeMap<String, JobId>,
    row: &Row,
) -> (JobId, Disposition) {
    let draft = row.draft.as_ref().unwrap_or_else(|| panic!("{:?}", row.findings));
    let link = |reference: &sheet::Reference| Link {
        role: reference.role,
        target: match &reference.pointer {
            Pointer::Id(id) => Target::Remote(*id),
            Pointer::Key(name) | Pointer::Name(name) | Pointer::Any(name) => Target::Job(jobs[name]),
        },
    };
    let links: Vec<Link> = draft.references.iter().map(link).collect();
    let name = comparable(draft.record.name());
    let new = NewJob {
        natural_key: natural_key(&draft.record, &links),
        content_hash: format!("{:?} {:?}", draft.record, draft.extras),
        record: draft.record.clone(),
        sheet_key: draft.key.clone(),
        name: name.clone(),
        links,
        extras: draft.extras.clone(),
    };
    if let Some(known) = writer.by_natural_key(new.record.kind(), &new.natural_key).unwrap() {
        let same = known.content_hash == new.content_hash;
        return (known.job, if same { Disposition::Recognised } else { Disposition::ChangedSince });
    }
    let job = writer.add_job(&new).unwrap();
    jobs.insert(draft.key.clone().unwrap_or(name), job);
    (job, Disposition::New)
}

/// A journal with a row in every state.
fn every_state() -> (Bench, ImportId) {
    let mut bench = Bench::new();
    let import = bench.import(&[
        ("customer.csv", "Companies", COMPANIES),
        ("More/Till: devices.csv", "../Till: devices", DEVICES),
    ]);
    let add = Operation::AddCompany;
    bench.claim("acme", add, 1);
    bench.done("acme", JobState::Sending, How::Created, 1, 2);
    bench.claim("evil", add, 3);
    let violations = [
        ("company.phoneNumber", "must be a phone number"),
        ("company.address.address1", "must not contain quotes"),
        ("company.legalEntity", "must not be null"),
    ];
    bench.reject("evil", "invalidData", "several fields are invalid", &violations, 4);
    bench.claim("held", add, 5);
    let candidate = |number, difference: &str| Candidate {
        id: Some(id(number)),
        name: Some("HELD Ltd".into()),
        details: "phone 555 0103".into(),
        difference: difference.into(),
    };
    let candidates = vec![candidate(50, "the name differs in case"), candidate(51, "")];
    bench.hold("held", "candidates.unclear", "the records found do not say which is ours", candidates, 6);
    bench.claim("doubt", add, 7);
    let (job, evidence) = (bench.job("doubt"), Evidence::at(at(8)));
    let doubt = Doubt::Timeout;
    bench.apply(&[Write::Doubt { job, doubt, executed: false, until: at(18), evidence: evidence.clone() }]);
    bench.claim("adopted", add, 9);
    let job = bench.job("adopted");
    let doubt = Doubt::Disconnected;
    bench.apply(&[Write::Doubt { job, doubt, executed: false, until: at(19), evidence }]);
    bench.done("adopted", JobState::InDoubt, How::Adopted, 2, 20);
    bench.done("there", JobState::Ready, How::Existing, 3, 21);
    bench.claim("later", add, 22);
    let (job, evidence) = (bench.job("later"), Evidence::at(at(23)));
    let (code, reason) = ("quotaLimitExceeded".into(), "the day's quota of creations is spent".into());
    bench.apply(&[
        Write::Defer { job, until: at(720), charged: false, code, reason, evidence },
        Write::Ceiling { day: at(0).day(), ceiling: 9, at: at(23) },
        Write::Quota { day: at(0).day(), sent: -1, confirmed: 2, doubtful: 1 },
    ]);
    bench.claim("given", add, 24);
    bench.hold("given", "absent", "the record was not found", vec![], 25);
    let given = bench.job("given");
    bench.journal.resolve(given, Decision::Abandon, None, "ann", at(26)).unwrap();
    bench.claim("away", add, 27);

    let add = Operation::AddDevice;
    bench.claim("@Till 1", add, 30);
    bench.done("@Till 1", JobState::Sending, How::Created, 10, 31);
    bench.claim("Till 2", add, 32);
    bench.reject("Till 2", "duplicateEntity", "already in use by 'Old till'", &[], 33);
    bench.claim("Till 3", add, 34);
    bench.done("Till 3", JobState::Sending, How::Created, 11, 35);
    bench.claim("Till 3", Operation::AddLicenceCode, 36);
    bench.reject("Till 3", "noDataFound", "no such licence", &[], 37);
    bench.claim("Till 4", add, 38);
    bench.done("Till 4", JobState::Sending, How::Done, 12, 39);
    (bench, import)
}

/// The records of a CSV report, header first, guards still on.
fn records(path: &Path) -> Vec<Vec<String>> {
    let bytes = fs::read(path).unwrap();
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").expect("a byte order mark");
    csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text)
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

/// A summary without the digests of the fix files, which depend on how well they are compressed.
fn without_digests(text: &str) -> String {
    let plain = |line: &str| match line.split_once("fix.csv\": ").or(line.split_once("fix.xlsx\": ")) {
        Some((_, digest)) => line.replace(digest.trim_matches([',', '"']), "DIGEST"),
        None => line.to_owned(),
    };
    text.lines().map(|line| plain(line) + "\n").collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn every_row_is_told_with_its_state_and_what_to_do() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    assert_eq!(
        names(&written.folder),
        [
            "Companies.fix.csv",
            "Companies.results.csv",
            "_Till_ devices.fix.csv",
            "_Till_ devices.results.csv",
            "fix.xlsx",
            "report.html",
            "results.jsonl",
            "results.xlsx",
            "summary.json",
        ]
    );
    assert_eq!(written.to_fix, 3);
    for name in ["Companies.results.csv", "Companies.fix.csv", "_Till_ devices.results.csv"] {
        let text = fs::read_to_string(written.folder.join(name)).unwrap();
        assert!(
            text.starts_with('\u{feff}') && text.lines().count() * 2 == text.matches(['\r', '\n']).count()
        );
        insta::assert_snapshot!(name.replace(' ', "_"), text.replace(['\u{feff}', '\r'], ""));
    }
    for name in ["results.jsonl", "summary.json"] {
        let text = fs::read_to_string(written.folder.join(name)).unwrap();
        insta::assert_snapshot!(name, without_digests(&text));
    }
}

#[test]
fn the_fixture_has_a_row_in_every_state() {
    let (bench, import) = every_state();
    let tally = bench.journal.tally(Some(import)).unwrap();
    for &state in JobState::ALL {
        assert!(tally.in_state(state) > 0, "{state}");
    }
}

#[test]
fn the_same_journal_gives_the_same_bytes() {
    let (bench, import) = every_state();
    let first = bench.write(import, "first");
    let again = bench.write(import, "first");
    let second = bench.write(import, "second");
    assert_eq!(first, again);
    for name in names(&first.folder) {
        let bytes = |folder: &Path| fs::read(folder.join(&name)).unwrap();
        assert!(bytes(&first.folder) == bytes(&second.folder), "{name}");
    }
}

#[test]
fn every_original_cell_reads_back_unchanged_and_none_is_a_formula() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    for (text, file, name) in [
        (COMPANIES, "Companies.results.csv", "companies.csv"),
        (DEVICES, "_Till_ devices.results.csv", "devices.csv"),
    ] {
        let (table, rows) = rows_of(name, text);
        let records = records(&written.folder.join(file));
        assert!(
            records.iter().flatten().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']))
        );
        let width = table.headers.len();
        assert_eq!(records[0][..width], table.headers);
        assert_eq!(records[0][width..], RESULT_COLUMNS);
        assert_eq!(records.len(), rows.len() + 1);
        for (record, row) in records[1..].iter().zip(&rows) {
            let cells: Vec<&str> = record[..width].iter().map(|cell| unguarded(cell)).collect();
            assert_eq!(cells, row.cells);
        }
    }
}

#[test]
fn the_workbook_has_a_summary_and_every_cell_as_text() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let mut book: Xlsx<_> = open_workbook(written.folder.join("results.xlsx")).unwrap();
    assert_eq!(book.sheet_names(), ["Summary", "Companies", ".._Till_ devices"]);
    for (text, worksheet, name) in
        [(COMPANIES, "Companies", "companies.csv"), (DEVICES, ".._Till_ devices", "devices.csv")]
    {
        let range = book.worksheet_range(worksheet).unwrap();
        let (table, rows) = rows_of(name, text);
        assert_eq!(range.height(), rows.len() + 1);
        for (cells, row) in range.rows().skip(1).zip(&rows) {
            for (shown, cell) in cells.iter().zip(&row.cells) {
                match shown {
                    Data::Empty => assert_eq!(cell, ""),
                    Data::String(shown) => assert_eq!(shown, cell),
                    other => panic!("{other:?} for {cell:?}"),
                }
            }
            assert!(matches!(cells[table.headers.len()], Data::String(_)), "the status");
        }
        assert!(book.worksheet_formula(worksheet).unwrap().is_empty());
    }
    let summary = book.worksheet_range("Summary").unwrap();
    let row = |label: &str| {
        summary.rows().find(|row| row[0] == Data::String(label.into())).unwrap_or_else(|| panic!("{label}"))
    };
    assert_eq!(row("Rows")[1], Data::Float(16.0));
    let all: Vec<f64> = row("All sheets")[2..]
        .iter()
        .filter_map(|cell| if let Data::Float(n) = cell { Some(*n) } else { None })
        .collect();
    assert_eq!(all[0], 16.0);
    assert_eq!(all[1..].iter().sum::<f64>(), 16.0);
}

/// The parts of a workbook that are XML, by their names.
fn parts(path: &Path) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let mut parts = BTreeMap::new();
    for at in 0..archive.len() {
        let mut part = archive.by_index(at).unwrap();
        let mut text = String::new();
        if std::io::Read::read_to_string(&mut part, &mut text).is_ok() {
            parts.insert(part.name().unwrap().into_owned(), text);
        }
    }
    parts
}

/// What somebody types over a cell of theirs, or below the last one, keeps its zeros.
#[test]
fn every_column_of_the_users_and_every_cell_in_it_has_the_format_of_text() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let width = COMPANIES.lines().next().unwrap().split(',').count();
    for (file, sheet) in [("results.xlsx", 2), ("fix.xlsx", 1)] {
        let parts = parts(&written.folder.join(file));
        let (styles, sheet) = (&parts["xl/styles.xml"], &parts[&format!("xl/worksheets/sheet{sheet}.xml")]);
        let between = |text: &str, open: &str, close: &str| -> Vec<String> {
            text.split(open).skip(1).filter_map(|rest| rest.split(close).next().map(str::to_owned)).collect()
        };
        let attribute =
            |element: &str, name: &str| between(element, &format!(" {name}=\""), "\"").first().cloned();
        let text =
            between(styles, "<numFmt", "/>").into_iter().find(|format| format.contains("formatCode=\"@\""));
        let text = text.and_then(|format| attribute(&format, "numFmtId")).expect("a format of text");
        let formats = between(&between(styles, "<cellXfs", "</cellXfs>")[0], "<xf", ">");
        let is_text = |style: &str| {
            attribute(&formats[style.parse::<usize>().unwrap()], "numFmtId").as_ref() == Some(&text)
        };
        let mut columns = 0;
        for column in between(sheet, "<col", "/>").iter().filter(|column| column.starts_with(' ')) {
            let number = |name: &str| attribute(column, name).unwrap().parse::<usize>().unwrap();
            if number("max") <= width {
                assert!(is_text(&attribute(column, "style").expect("a style")), "{file}: {column}");
                columns += number("max") + 1 - number("min");
            }
        }
        assert_eq!(columns, width, "{file}");
        let mut cells = 0;
        for cell in between(sheet, "<c", ">").iter().filter(|cell| cell.starts_with(" r=")) {
            let at = attribute(cell, "r").unwrap();
            let letters = at.trim_end_matches(|c: char| c.is_ascii_digit());
            if letters.len() == 1 && usize::from(letters.as_bytes()[0] - b'A') < width {
                assert!(is_text(&attribute(cell, "s").expect("a style")), "{file}: {cell}");
                cells += 1;
            }
        }
        assert!(cells > width, "{file}: {cells}");
    }
}

/// Every sheet of a workbook as text, a line a row.
fn told(path: &Path) -> String {
    let mut book: Xlsx<_> = open_workbook(path).unwrap();
    let mut told = String::new();
    for name in book.sheet_names() {
        told.push_str(&format!("[{name}]\n"));
        for row in book.worksheet_range(&name).unwrap().rows() {
            let cells: Vec<String> = row.iter().map(|cell| cell.to_string().replace('\n', "\\n")).collect();
            told.push_str(cells.join(" | ").trim_end_matches([' ', '|']));
            told.push('\n');
        }
    }
    told
}

#[test]
fn the_workbooks_are_told_whole() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    insta::assert_snapshot!("results.xlsx", told(&written.folder.join("results.xlsx")));
    insta::assert_snapshot!("fix.xlsx", told(&written.folder.join("fix.xlsx")));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 40, ..Default::default() })]

    /// Whatever text stands in a cell is in every report as it was, and our reader reads it back so.
    #[test]
    fn any_text_goes_out_and_comes_back_unchanged(texts in proptest::collection::vec("(?s)[=+@'\\-]?\\PC{0,12}[ \"\n\t]?\\PC{0,6}", 1..6)) {
        let mut bench = Bench::new();
        let lines = COMPANIES.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
        let (table, mut rows) = rows_of("companies.csv", &lines);
        let mut row = rows.remove(0);
        row.cells.extend(texts.iter().cloned());
        let mut writer = bench.journal.begin_import(at(0)).unwrap();
        let import = writer.import();
        let mut headers = table.headers.clone();
        headers.extend((0..texts.len()).map(|n| format!("x-{n}")));
        let sheet = NewSheet {
            name: "companies".into(), file: "companies.csv".into(), worksheet: None, kind: table.kind, headers,
            header_row: 1,
        };
        let sheet = writer.sheet(&sheet).unwrap();
        let (job, disposition) = job_of(&mut writer, &mut bench.jobs, &row);
        writer.row(&NewRow { sheet, number: 2, line: None, cells: row.cells.clone(), job, disposition }).unwrap();
        writer.finish().unwrap();
        bench.claim("acme", Operation::AddCompany, 1);
        bench.reject("acme", "invalidData", "no", &[], 2);
        let written = bench.write(import, "reports");
        for file in ["companies.results.csv", "companies.fix.csv", "results.xlsx", "fix.xlsx"] {
            let (table, rows) = read(&written.folder.join(file)).remove(0);
            let first = table.headers.iter().position(|header| header == "x-0").unwrap();
            proptest::prop_assert_eq!(&rows[0].cells[first..first + texts.len()], &texts[..], "{}", file);
        }
    }
}

/// The text of the parts of a workbook whose names begin like this.
fn text_of(path: &Path, prefix: &str) -> String {
    parts(path).into_iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, text)| text).collect()
}

#[test]
fn every_sheet_is_printed_across_as_wide_as_a_page_with_its_header_and_the_number_of_the_page() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    for (name, sheets, tables) in [("results.xlsx", 3, 2), ("fix.xlsx", 2, 2)] {
        let path = written.folder.join(name);
        let text = text_of(&path, "xl/worksheets/sheet");
        for (mark, times) in [
            ("orientation=\"landscape\"", sheets),
            ("fitToHeight=\"0\"", sheets),
            ("<pageSetUpPr fitToPage=\"1\"/>", sheets),
            ("Page &amp;P of &amp;N", sheets),
        ] {
            assert_eq!(text.matches(mark).count(), times, "{name}: {mark}");
        }
        assert_eq!(text_of(&path, "xl/workbook.xml").matches("_xlnm.Print_Titles").count(), tables, "{name}");
    }
}

#[test]
fn the_cells_to_blame_carry_notes() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let notes = text_of(&written.folder.join("fix.xlsx"), "xl/comments");
    for (cell, words) in [
        ("E2", "must be a phone number"),
        ("I2", "must not contain quotes"),
        ("C2", "already in use by"),
        ("H3", "no such licence"),
    ] {
        let (_, after) =
            notes.split_once(&format!("ref=\"{cell}\"")).unwrap_or_else(|| panic!("{cell}: {notes}"));
        let note = after.split("</comment>").next().unwrap();
        assert!(note.contains(words), "{cell}: {note}");
    }
}

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
fn rows_known_from_before_say_so_when_nothing_was_sent_for_them() {
    let (mut bench, first) = every_state();
    // A report with its own result columns comes back, changed by hand in one row.
    let before = bench.write(first, "first");
    let text = fs::read_to_string(before.folder.join("Companies.results.csv")).unwrap();
    let text = text.replace("555 0106", "555 9999");
    let second = bench.import(&[("Companies.results.csv", "Companies.results", &text)]);
    bench.claim("ready", Operation::AddCompany, 61);
    bench.done("ready", JobState::Sending, How::Created, 4, 62);

    let written = bench.write(second, "second");
    let records = records(&written.folder.join("Companies.results.csv"));
    assert_eq!(records[0].iter().filter(|header| *header == "result_source").count(), 1);
    assert!(records[0].contains(&"result_note".to_owned()), "a column of the customer's own stays");
    let column = |name: &str| records[0].iter().position(|header| header == name).unwrap();
    let (status, message) = (column("result_status"), column("result_message"));
    let told: Vec<String> = records[1..]
        .iter()
        .map(|record| format!("{}: {}: {}", record[0], record[status], record[message]))
        .filter(|line| ["acme", "evil", "adop", "ther", "read"].iter().any(|key| line.starts_with(key)))
        .collect();
    insta::assert_snapshot!("known_from_before", told.join("\n"));
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

#[test]
fn cells_beyond_the_headers_and_cells_that_no_workbook_holds_are_not_lost() {
    let mut bench = Bench::new();
    let huge = "x".repeat(40_000);
    let line: String = COMPANIES.lines().take(2).map(|line| format!("{line}\n")).collect();
    let (table, mut rows) = rows_of("companies.csv", &line);
    let row = &mut rows[0];
    row.cells[10] = "a\0b\u{1b}\r\n".into();
    row.cells.extend(["beyond".into(), huge.clone()]);
    let mut writer = bench.journal.begin_import(at(0)).unwrap();
    let import = writer.import();
    let sheet = writer
        .sheet(&NewSheet {
            name: "companies".into(),
            file: "c.xlsx".into(),
            worksheet: Some("companies".into()),
            kind: table.kind,
            headers: table.headers,
            header_row: 1,
        })
        .unwrap();
    let (job, disposition) = job_of(&mut writer, &mut bench.jobs, row);
    writer.row(&NewRow { sheet, number: 2, line: None, cells: row.cells.clone(), job, disposition }).unwrap();
    writer.finish().unwrap();

    let written = bench.write(import, "reports");
    let records = records(&written.folder.join("companies.results.csv"));
    assert_eq!(records[0][11..13], ["x-column-12", "x-column-13"]);
    assert_eq!(records[1][10..13], ["a\0b\u{1b}\r\n", "beyond", huge.as_str()]);
    let mut book: Xlsx<_> = open_workbook(written.folder.join("results.xlsx")).unwrap();
    let range = book.worksheet_range("companies").unwrap();
    let Data::String(cut) = &range[(1, 12)] else { panic!("no text") };
    assert!(cut.starts_with("xxx") && cut.ends_with("in the CSV report)"), "{}", cut.len());
}

#[test]
fn an_import_that_is_not_there_is_told_with_the_latest_one() {
    let (bench, _) = every_state();
    let standing = Standing { state: RunState::Finished, exit_code: 0, resumes_at: None };
    let folder = bench.folder.path().join("none");
    let error =
        write(&bench.journal, ImportId(9), &folder, &standing, caller(&Again::default())).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
    assert!(error.next_step().unwrap().contains("latest one is 1"));
    assert!(!folder.exists());
}
