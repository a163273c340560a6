//! What a person does about what keeps files from being imported, in a few words that stand before the command to type.

use std::path::{Path, PathBuf};

use crate::model::amount::listed;
use crate::sheet;
use crate::sheet::finding::{Code, Findings, Severity};

/// What is to be done, in the order in which it was found: `check the path`, `correct the sheet`.
pub(in crate::cli) fn remedy(findings: &Findings) -> String {
    let mut words: Vec<&str> = Vec::new();
    for group in findings.groups() {
        let is_wrong = matches!(group.key.severity, Severity::Fatal | Severity::Error);
        let words_of_code = of(group.key.code);
        if is_wrong && !words.contains(&words_of_code) {
            words.push(words_of_code);
        }
    }
    listed(&words).unwrap_or_else(|| SHEET.to_owned())
}

const SHEET: &str = "correct the sheet";

/// What is to be done about files that cannot be read, and where an option can answer what a sheet leaves open; all other
/// findings are about what stands in one.
const FILES: [(Code, &str); 15] = [
    (Code::FileNotFound, "check the path"),
    (Code::FileLock, "close the workbook and name it instead of its lock file"),
    (Code::FileUnreadable, "make sure that the file can be read"),
    (Code::FileFormatUnsupported, UNPACK_OR_SAVE),
    (Code::FileFormatMismatch, SAVE_AS),
    (Code::FileEncrypted, "save it without a password"),
    (Code::FileEmpty, EXPORT),
    (Code::FileCorrupt, EXPORT),
    (Code::FileXmlEntity, EXPORT),
    (Code::FileTooLarge, "split the file"),
    (Code::FileDelimiterAmbiguous, "name its field separator"),
    (Code::SheetNotFound, "name the sheet, and say what its rows are"),
    (Code::SheetAmbiguous, "say which sheet is meant, or what its rows are"),
    (Code::HeaderMissing, "name the row of the column names and say what they mean"),
    (Code::SheetHiddenRows, "show the hidden rows, or choose whether to import them"),
];
const SAVE_AS: &str = "save it as an Excel workbook (.xlsx) or as CSV UTF-8 and name that file";
const UNPACK_OR_SAVE: &str = "unpack it if it is packed, else save it as an Excel workbook (.xlsx) or as CSV UTF-8, and name that file";
/// Endings of files that Excel, LibreOffice and Numbers save as workbooks that can be read.
const SAVED_AS_XLSX: [&str; 6] = ["ods", "fods", "numbers", "xls", "xlsb", "sxc"];
/// Endings of files in which one file is packed.
const PACKED: [&str; 4] = ["gz", "bz2", "xz", "zst"];
const EXPORT: &str = "export or download the file again";

fn of(code: Code) -> &'static str {
    FILES.iter().find(|(known, _)| *known == code).map_or(SHEET, |(_, words)| words)
}

/// The file that is meant by one: the workbook by its lock file, the one it is to be saved as or that is packed in it by one
/// that cannot be read, every other by itself.
pub(in crate::cli) fn meant(file: &Path, findings: &Findings) -> PathBuf {
    let name = file.file_name().map(|name| name.to_string_lossy());
    if let Some(workbook) = name.as_deref().and_then(sheet::locked) {
        return file.with_file_name(workbook);
    }
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let is_one_of = |endings: &[&str]| ending.as_deref().is_some_and(|ending| endings.contains(&ending));
    let is_refused = findings.groups().iter().any(|group| {
        let codes = [Code::FileFormatUnsupported, Code::FileFormatMismatch];
        let key = &group.key;
        key.severity == Severity::Fatal && codes.contains(&key.code) && name.as_deref() == Some(&*key.file)
    });
    match is_refused {
        true if is_one_of(&SAVED_AS_XLSX) => file.with_extension("xlsx"),
        true if is_one_of(&PACKED) => file.with_extension(""),
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::Finding;

    fn told(codes: &[Code]) -> String {
        let mut findings = Findings::default();
        for &code in codes {
            findings.extend([Finding::of_file(code, "a.xlsx", "wrong")]);
        }
        remedy(&findings)
    }

    #[test]
    fn what_to_do_fits_what_was_found() {
        assert_eq!(told(&[Code::FileNotFound]), "check the path");
        assert_eq!(told(&[Code::FileLock]), "close the workbook and name it instead of its lock file");
        assert_eq!(
            told(&[Code::FileFormatMismatch]),
            "save it as an Excel workbook (.xlsx) or as CSV UTF-8 and name that file"
        );
        assert_eq!(told(&[Code::SheetHiddenRows]), "show the hidden rows, or choose whether to import them");
        assert_eq!(told(&[Code::CellMac, Code::RowFooter]), "correct the sheet");
        assert_eq!(
            told(&[Code::FileNotFound, Code::CellMac, Code::CellEmail]),
            "check the path and correct the sheet"
        );
    }

    #[test]
    fn by_a_lock_file_the_workbook_is_meant() {
        let table = [
            ("in/~$rollout.xlsx", "in/rollout.xlsx"),
            ("in/.~lock.rollout.xlsx#", "in/rollout.xlsx"),
            ("in/rollout.xlsx", "in/rollout.xlsx"),
        ];
        for (file, expected) in table {
            assert_eq!(meant(Path::new(file), &Findings::default()), Path::new(expected));
        }
    }

    #[test]
    fn by_a_file_that_cannot_be_read_the_one_it_is_saved_as_is_meant() {
        let of = |file: &str, code| {
            let mut findings = Findings::default();
            let name = file.rsplit('/').next().unwrap_or(file);
            findings.extend([Finding::of_file(code, name, "wrong").as_severity(Severity::Fatal)]);
            findings.extend([Finding::of_file(Code::FileFormatUnsupported, "other.ods", "wrong")]);
            meant(Path::new(file), &findings).display().to_string()
        };
        assert_eq!(of("in/sites.ods", Code::FileFormatUnsupported), "in/sites.xlsx");
        assert_eq!(of("in/sites.csv.gz", Code::FileFormatUnsupported), "in/sites.csv");
        assert_eq!(of("in/sites.XLS", Code::FileFormatMismatch), "in/sites.xlsx");
        assert_eq!(
            of("in/sites.ods", Code::SheetNotFound),
            "in/sites.ods",
            "a table under another name is read"
        );
        assert_eq!(
            of("in/sites.zip", Code::FileFormatUnsupported),
            "in/sites.zip",
            "what is in it is not known"
        );
    }
}
