//! Names of files and worksheets, made from names of sheets. No path from a sheet ever reaches the file system.

use std::collections::HashSet;

use crate::model::kind::Kind;
use crate::sheet::kind_of_name;

/// The workbook of all rows.
pub const RESULTS: &str = "results.xlsx";
/// The workbook of the rows to correct.
pub const FIX: &str = "fix.xlsx";
/// How the names of the text tables of rows to correct end.
pub(super) const FIX_ENDING: &str = ".fix.csv";

/// Longest stem of a file name, in bytes; room is left for a number and the endings.
const STEM_BYTES: usize = 120;

/// Longest name of a worksheet, in UTF-16 units, as Excel has it.
const WORKSHEET_UNITS: usize = 31;

/// Names that Windows keeps for devices.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Names given out so far, compared without regard to case.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Names of which these are taken from the start.
    pub(super) fn without(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|name| name.to_lowercase()).collect() }
    }

    /// The name, or with a number when it is taken; `cut` shortens a name so that the number still fits.
    fn free(&mut self, name: &str, numbered: impl Fn(&str, usize) -> String) -> String {
        let mut free = name.to_owned();
        let mut number = 2;
        while !self.taken.insert(free.to_lowercase()) {
            free = numbered(name, number);
            number += 1;
        }
        free
    }

    /// A stem for the files of a sheet.
    pub(super) fn stem(&mut self, sheet: &str) -> String {
        self.free(&safe_stem(sheet), |stem, number| format!("{stem}-{number}"))
    }

    /// A name for a worksheet.
    pub(super) fn worksheet(&mut self, sheet: &str) -> String {
        self.free(&safe_worksheet(sheet), |name, number| {
            let ending = format!(" {number}");
            format!("{}{ending}", cut(name, WORKSHEET_UNITS - ending.len(), char::len_utf16))
        })
    }
}

/// The name, with the kind added when that alone makes the name say what the rows are: rows to correct must import as
/// they are.
pub(super) fn naming_kind(name: &str, kind: Kind) -> String {
    let named = format!("{name}-{}", kind.plural());
    if kind_of_name(name) != Some(kind) && kind_of_name(&named) == Some(kind) {
        named
    } else {
        name.to_owned()
    }
}

/// The stem of a sheet that was one of our reports is that of the sheet it was a report of.
fn origin(sheet: &str) -> &str {
    let lower = sheet.to_ascii_lowercase();
    for ending in [".fix", ".results", ".checked"] {
        if lower.ends_with(ending) && sheet.len() > ending.len() {
            return &sheet[..sheet.len() - ending.len()];
        }
    }
    sheet
}

fn safe_stem(sheet: &str) -> String {
    let plain: String = origin(sheet)
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '(' | ')') { c } else { '_' })
        .collect();
    let plain = plain.trim_matches(|c: char| c == '.' || c.is_whitespace());
    let plain = cut(plain, STEM_BYTES, char::len_utf8);
    let plain = plain.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    if plain.is_empty() {
        return "sheet".to_owned();
    }
    let first = plain.split('.').next().unwrap_or(plain).trim_end().to_lowercase();
    if DEVICES.contains(&first.as_str()) { format!("_{plain}") } else { plain.to_owned() }
}

fn safe_worksheet(sheet: &str) -> String {
    let plain: String = sheet
        .chars()
        .map(
            |c| if matches!(c, '[' | ']' | ':' | '*' | '?' | '/' | '\\') || c.is_control() { '_' } else { c },
        )
        .collect();
    let plain = cut(plain.trim(), WORKSHEET_UNITS, char::len_utf16);
    let plain = plain.trim_matches(|c: char| c == '\'' || c.is_whitespace());
    if plain.is_empty() { "sheet".to_owned() } else { plain.to_owned() }
}

/// The beginning of a text that is no longer than `limit` by the measure of its characters.
pub(super) fn cut(text: &str, limit: usize, measure: impl Fn(char) -> usize) -> &str {
    let mut length = 0;
    for (at, c) in text.char_indices() {
        length += measure(c);
        if length > limit {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_from_a_sheet_reaches_the_file_system() {
        let table = [
            ("Devices", "Devices"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("/etc/passwd", "_etc_passwd"),
            ("C:\\Users\\x", "C__Users_x"),
            ("..", "sheet"),
            ("", "sheet"),
            ("a\0b\nc", "a_b_c"),
            ("NUL", "_NUL"),
            ("com1.old", "_com1.old"),
            ("Büro Süd", "Büro Süd"),
            ("x\u{202e}fdp", "x_fdp"),
            ("Devices.fix", "Devices"),
            ("Devices.results", "Devices"),
            ("Devices.checked", "Devices"),
            (".fix", "fix"),
        ];
        for (sheet, expected) in table {
            assert_eq!(safe_stem(sheet), expected, "{sheet:?}");
        }
        assert!(safe_stem(&"ü".repeat(500)).len() <= STEM_BYTES);
    }

    #[test]
    fn equal_names_are_numbered_without_regard_to_case() {
        let mut names = Names::default();
        let stems: Vec<_> = ["Sites", "sites", "SITES", "a/b", "a?b"].map(|sheet| names.stem(sheet)).into();
        assert_eq!(stems, ["Sites", "sites-2", "SITES-3", "a_b", "a_b-2"]);
    }

    #[test]
    fn a_name_that_does_not_say_the_kind_is_made_to() {
        assert_eq!(naming_kind("Branch sites", Kind::Site), "Branch sites");
        assert_eq!(naming_kind("Tabelle1", Kind::Site), "Tabelle1-sites");
        // Two kinds in one name leave it to the headers.
        assert_eq!(naming_kind("devices", Kind::Site), "devices");
    }

    #[test]
    fn a_worksheet_name_is_one_that_excel_takes() {
        let mut names = Names::without(&["Summary"]);
        assert_eq!(names.worksheet("Summary"), "Summary 2");
        assert_eq!(names.worksheet("a/b:[c]"), "a_b__c_");
        assert_eq!(names.worksheet("'quoted'"), "quoted");
        let long = "n".repeat(40);
        assert_eq!(names.worksheet(&long).len(), 31);
        let second = names.worksheet(&long);
        assert_eq!((second.len(), second.ends_with(" 2")), (31, true));
    }
}
