//! Finds the folder of the reports of an import. Two journals may share a folder of reports, and both have an import 1: no
//! report is ever put in the place of one of another journal.
//!
//! Whose a report is, its `summary.json` tells: an import is known by its number, its moment and its files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::journal::ImportInfo;
use crate::report::figures;

/// The folder of this name for the reports of an import: `3`, or where that has the report of another journal, `3-2` and
/// so on.
pub fn folder(reports: &Path, name: &str, info: &ImportInfo) -> PathBuf {
    let mut free = None;
    for number in 1_u32.. {
        let folder = if number == 1 { reports.join(name) } else { reports.join(format!("{name}-{number}")) };
        match figures::before(&folder) {
            Some(summary) if is_of(&summary, info) => return folder,
            Some(_) => {}
            None if folder.exists() => free = free.or(Some(folder)),
            None => return free.unwrap_or(folder),
        }
    }
    reports.join(name)
}

/// Whether a report is that of an import.
fn is_of(summary: &Value, info: &ImportInfo) -> bool {
    let digests = summary["files"].as_array().into_iter().flatten().map(|file| file["sha256"].as_str());
    summary["import"] == info.import.0
        && summary[figures::IMPORTED_AT_MS] == info.at.millis()
        && digests.eq(info.files.iter().map(|(_, sha256)| Some(sha256.as_str())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::id::ImportId;
    use crate::model::time::Moment;

    fn info(at: i64, digest: &str) -> ImportInfo {
        ImportInfo {
            import: ImportId(3),
            at: Moment::from_millis(at),
            files: vec![("sites.csv".to_owned(), digest.to_owned())],
            rows: 1,
            reading: None,
        }
    }

    fn write(folder: &Path, info: &ImportInfo) {
        let files: Vec<Value> =
            info.files.iter().map(|(name, sha256)| json!({"name": name, "sha256": sha256})).collect();
        let summary =
            json!({"import": info.import, figures::IMPORTED_AT_MS: info.at.millis(), "files": files});
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(figures::NAME), summary.to_string()).unwrap();
    }

    #[test]
    fn a_report_stays_in_its_folder_and_never_takes_that_of_another_journal() {
        let reports = tempfile::tempdir().unwrap();
        let named = |info: &ImportInfo| {
            let folder = folder(reports.path(), "3", info);
            (folder.file_name().unwrap().to_string_lossy().into_owned(), folder)
        };
        let (first, second, third) = (info(1, "a"), info(2, "a"), info(1, "b"));
        assert_eq!(named(&first).0, "3");
        // A report that was ended before it was whole has no summary.
        std::fs::create_dir_all(reports.path().join("3")).unwrap();
        assert_eq!(named(&first).0, "3");
        write(&named(&first).1, &first);
        assert_eq!(named(&first).0, "3");
        assert_eq!(named(&second).0, "3-2");
        write(&named(&second).1, &second);
        assert_eq!((named(&first).0.as_str(), named(&second).0.as_str()), ("3", "3-2"));
        assert_eq!(named(&third).0, "3-3");
        // What nobody can read is nobody's.
        std::fs::write(reports.path().join("3").join(figures::NAME), "{").unwrap();
        assert_eq!((named(&third).0.as_str(), named(&second).0.as_str()), ("3", "3-2"));
    }
}
