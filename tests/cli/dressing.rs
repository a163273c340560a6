//! One wrong cell in a sheet that is right otherwise, in every dress text tables come in: it alone is found, at its cell,
//! in the row a spreadsheet program shows, and on the line where an editor has it.
//!
//! Where that is is counted here, by a model that knows nothing of the reader: what is written is counted while it is
//! written.

use std::path::PathBuf;

use encoding_rs::{MACINTOSH, WINDOWS_1252};
use fleetload::import::examine;
use fleetload::sheet::Options;
use fleetload::sheet::finding::Finding;
use proptest::prelude::*;

const COMPANY: &str = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";
const COLUMNS: [&str; 8] = ["key", "company", "name", "phone", "address1", "x-notes", "city", "country"];
const ENDS: [&str; 4] = ["\n", "\r\n", "\r", "\r\r\n"];

/// How letters are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Letters {
    Utf8,
    Utf8Marked,
    Utf16Little,
    Utf16Big,
    Windows,
    Macintosh,
}

impl Letters {
    fn write(self, text: &str) -> Vec<u8> {
        let marked = format!("\u{feff}{text}");
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf8Marked => marked.into_bytes(),
            Self::Utf16Little => marked.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Big => marked.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Windows => WINDOWS_1252.encode(text).0.into_owned(),
            Self::Macintosh => MACINTOSH.encode(text).0.into_owned(),
        }
    }

    /// What a person has to say for it to be read.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Utf8 | Self::Utf8Marked | Self::Utf16Little | Self::Utf16Big => None,
            Self::Windows => Some("windows-1252"),
            Self::Macintosh => Some("macintosh"),
        }
    }
}

/// The cell that is wrong: what it holds, in which column, and what is found.
#[derive(Debug, Clone, Copy)]
struct Wrong {
    column: &'static str,
    value: &'static str,
    code: &'static str,
}

const WRONG: [Wrong; 6] = [
    Wrong { column: "key", value: "a b!", code: "cell.key" },
    Wrong { column: "company", value: "nobody, at all", code: "ref.not-found" },
    Wrong { column: "name", value: "Hill\u{7}side", code: "cell.control-char" },
    Wrong { column: "name", value: " ", code: "cell.required" },
    Wrong { column: "phone", value: "", code: "cell.required" },
    Wrong { column: "address1", value: "", code: "cell.required" },
];

/// A record of the file, and what stands before it.
#[derive(Debug, Clone)]
struct Dress {
    /// Blank lines before it, by their look: 0 nothing, 1 spaces, 2 separators, 3 separators and spaces.
    blanks: Vec<u8>,
    /// Which line end it has; the first of all where they are not mixed.
    end: usize,
    /// Which of its cells are quoted without need.
    quoted: u8,
    /// Blank cells after its last; those of the header are those of all.
    surplus: usize,
    /// Whether its last cell is blank.
    is_blank_at_its_end: bool,
    /// The lines of its note, and the line end between them.
    note: (usize, usize),
    /// Which name and street it has.
    words: usize,
}

#[derive(Debug, Clone)]
struct File {
    letters: Letters,
    delimiter: char,
    has_separator_line: bool,
    is_mixed: bool,
    titles: usize,
    /// Where the column of notes stands.
    notes: usize,
    /// Of the header, then of each row.
    records: Vec<Dress>,
    blanks_after: usize,
    has_last_end: bool,
    /// Which of the rows is wrong, and how.
    wrong: (usize, Wrong),
}

fn dress() -> impl Strategy<Value = Dress> {
    let blanks = prop::collection::vec(0..4_u8, 0..3);
    let rest = (0..4_usize, any::<u8>(), 0..3_usize, any::<bool>(), (0..4_usize, 0..4_usize), 0..6_usize);
    (blanks, rest).prop_map(|(blanks, (end, quoted, surplus, is_blank_at_its_end, note, words))| Dress {
        blanks,
        end,
        quoted,
        surplus,
        is_blank_at_its_end,
        note,
        words,
    })
}

fn file() -> impl Strategy<Value = File> {
    let letters = prop::sample::select(vec![
        Letters::Utf8,
        Letters::Utf8Marked,
        Letters::Utf16Little,
        Letters::Utf16Big,
        Letters::Windows,
        Letters::Macintosh,
    ]);
    let delimiter = prop::sample::select(vec![',', ';', '\t', '|']);
    let looks = (letters, delimiter, any::<bool>(), any::<bool>(), 0..3_usize, 0..8_usize);
    let records = prop::collection::vec(dress(), 2..8);
    let rest =
        (0..3_usize, any::<bool>(), any::<prop::sample::Index>(), prop::sample::select(WRONG.to_vec()));
    (looks, records, rest).prop_map(|(looks, records, (blanks_after, has_last_end, at, wrong))| {
        let (letters, delimiter, has_separator_line, is_mixed, titles, notes) = looks;
        let wrong = (at.index(records.len() - 1), wrong);
        File {
            letters,
            delimiter,
            has_separator_line,
            is_mixed,
            titles,
            notes,
            records,
            blanks_after,
            has_last_end,
            wrong,
        }
    })
}

/// Where the wrong cell is.
#[derive(Debug, PartialEq)]
struct Place {
    cell: String,
    row: u32,
    line: u64,
}

/// Writes the file and counts rows and lines on the way.
#[derive(Default)]
struct Writer {
    text: String,
    row: u32,
    line: u64,
}

impl Writer {
    /// Writes a record, which may have line ends inside; its row and first line.
    fn record(&mut self, text: &str, lines_inside: usize, end: &str) -> (u32, u64) {
        // A lone CR before a record that begins with a line end would make one line end of two.
        if text.is_empty() && self.text.ends_with('\r') {
            self.text.push(' ');
        }
        self.row += 1;
        self.line += 1;
        let place = (self.row, self.line);
        self.line += lines_inside as u64;
        self.text.push_str(text);
        self.text.push_str(end);
        place
    }
}

impl File {
    fn end(&self, dress: &Dress) -> &'static str {
        ENDS[if self.is_mixed { dress.end } else { self.records[0].end }]
    }

    fn columns(&self) -> Vec<&'static str> {
        let mut columns: Vec<&str> = COLUMNS.into_iter().filter(|name| *name != "x-notes").collect();
        columns.insert(self.notes.min(columns.len()), "x-notes");
        columns
    }

    /// The cells of a row, and the line ends in them.
    fn cells(&self, number: usize, dress: &Dress) -> (Vec<String>, usize) {
        const NAMES: [&str; 6] =
            ["Hillside", "Café Zoë", "The \"Old\" Mill", "Müller, Söhne", "North; South", "A|B ç"];
        const STREETS: [&str; 6] =
            ["1 Earl Street", "2, High St", "Straße 3", "\"The Oaks\"", "5 Main St; rear", "6 Côte|Sud"];
        let (lines, end) = dress.note;
        let mut note = vec!["see below"; lines + 1].join(ENDS[end]);
        if lines == 0 && dress.quoted.is_multiple_of(2) {
            note.clear();
        }
        let cells = self.columns().into_iter().map(|column| match column {
            "key" => format!("s{number}"),
            "company" => COMPANY.to_owned(),
            "name" => format!("{} {number}", NAMES[dress.words]),
            "phone" => format!("+64 9 557 {number:04}"),
            "address1" => STREETS[dress.words].to_owned(),
            "x-notes" => note.clone(),
            "city" => "Málaga".to_owned(),
            _ => if dress.is_blank_at_its_end { "" } else { "NZ" }.to_owned(),
        });
        (cells.collect(), lines)
    }

    fn joined(&self, cells: &[String], dress: &Dress) -> String {
        let special = |c: char| c == self.delimiter || matches!(c, '"' | '\r' | '\n');
        let written = cells.iter().enumerate().map(|(at, cell)| {
            if cell.contains(special) || dress.quoted >> (at % 8) & 1 == 1 {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.clone()
            }
        });
        let mut text = written.collect::<Vec<_>>().join(&self.delimiter.to_string());
        // All records of a file have one width.
        text.extend(std::iter::repeat_n(self.delimiter, self.records[0].surplus));
        text
    }

    /// The text of the file, and where its wrong cell is.
    fn written(&self) -> (String, Place) {
        let mut writer = Writer::default();
        let (wrong_row, wrong) = self.wrong;
        if self.has_separator_line {
            writer.record(&format!("sep={}", self.delimiter), 0, self.end(&self.records[0]));
            writer.row = 0;
        }
        for title in 0..self.titles {
            writer.record(
                ["Sites of Acme", "\"As of \"\"today\"\"\""][title % 2],
                0,
                self.end(&self.records[0]),
            );
        }
        let columns = self.columns();
        let mut place = None;
        for (number, dress) in self.records.iter().enumerate() {
            for blank in &dress.blanks {
                let separators = self.delimiter.to_string().repeat(3);
                let blank =
                    ["", "  ", &separators, &format!(" {separators} ")][usize::from(*blank)].to_owned();
                writer.record(&blank, 0, self.end(dress));
            }
            let end = self.end(dress);
            let is_last = number + 1 == self.records.len() && self.blanks_after == 0 && !self.has_last_end;
            let end = if is_last { "" } else { end };
            if number == 0 {
                let names: Vec<_> = columns.iter().map(|&name| name.to_owned()).collect();
                writer.record(&self.joined(&names, dress), 0, end);
                continue;
            }
            let (mut cells, lines) = self.cells(number, dress);
            let at = columns.iter().position(|column| *column == wrong.column).expect("the column is there");
            let is_wrong = number == wrong_row + 1;
            if is_wrong {
                wrong.value.clone_into(&mut cells[at]);
            }
            let (row, line) = writer.record(&self.joined(&cells, dress), lines, end);
            if is_wrong {
                place = Some(Place {
                    cell: format!("{}{row}", ["A", "B", "C", "D", "E", "F", "G", "H"][at]),
                    row,
                    line,
                });
            }
        }
        for _ in 0..self.blanks_after {
            writer.record("", 0, self.end(&self.records[0]));
        }
        (writer.text, place.expect("one row is wrong"))
    }
}

fn errors(file: &File, text: &str) -> (Vec<Finding>, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("sites.csv");
    std::fs::write(&path, file.letters.write(text)).expect("the file is written");
    let mut options = Options::default();
    if let Some(name) = file.letters.name() {
        options.set_encoding(name).expect("it is known");
    }
    let examined = examine(&[path], &options, None).expect("the file is read");
    let rows = examined.sheets.first().map_or(0, |sheet| sheet.rows);
    (examined.findings.into_vec().into_iter().filter(Finding::is_error).collect(), rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn one_wrong_cell_is_found_at_its_place_in_every_dress(file in file()) {
        let (text, place) = file.written();
        let (errors, rows) = errors(&file, &text);
        let told: Vec<_> = errors.iter().map(|error| (error.code.as_str(), &error.cell, &error.message)).collect();
        prop_assert_eq!(told.len(), 1, "{:?} in {:?}", told, text);
        let error = &errors[0];
        prop_assert_eq!(error.code.as_str(), file.wrong.1.code, "in {:?}", text);
        let found = Place {
            cell: error.cell.clone().unwrap_or_default(),
            row: error.row.unwrap_or_default(),
            line: error.line.unwrap_or_default(),
        };
        prop_assert_eq!(found, place, "in {:?}", text);
        prop_assert_eq!(rows, file.records.len() as u64 - 1, "in {:?}", text);
    }
}
