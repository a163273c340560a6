//! `summary.json`: the numbers of an import for programs; and what the one of an earlier report tells: what it counted, whose
//! it is, and the digests of its fix files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::journal::{Cause, ImportInfo};
use crate::model::id::ImportId;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;
use crate::status::row_advice::{self, Advisor};

use crate::report::atomic_write::{FileChange, Folder};
use crate::report::figures::{Figures, SheetFigures};
use crate::report::format::{FormatWriter, ReportFacts};
use crate::report::names::{FIX, FIX_ENDING};

/// The file's name.
pub(in crate::report) const NAME: &str = "summary.json";

/// What rows in each state, rows to correct, and findings that nobody has looked into are called in it.
const COUNTS: &str = "counts";
const TO_FIX: &str = "to_fix";
const FINDINGS: &str = "findings_unseen";
/// When it was imported to the thousandth of a second, which no other import of the same number shares.
pub(in crate::report) const IMPORTED_AT_MS: &str = "imported_at_ms";
/// The digests of the fix files, by their names.
pub(in crate::report) const WRITTEN: &str = "written";
/// Most bytes of an earlier one.
const LARGEST: u64 = 1 << 26;

/// What an earlier report in a folder says of itself; nothing where there is none that can be read.
pub(in crate::report) fn before(folder: &Path) -> Option<Value> {
    let file = File::open(folder.join(NAME)).ok()?;
    serde_json::from_reader(BufReader::new(file.take(LARGEST))).ok()
}

/// What the report in a folder says of its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportedCounts {
    /// How many are in each state.
    pub counts: BTreeMap<JobState, u64>,
    /// How many a person must correct.
    pub to_fix: u64,
    /// Findings of verification that nobody has looked into.
    pub findings: u64,
}

/// What the report in a folder says of its rows; nothing where there is no report.
pub fn reported_counts(folder: &Path) -> Option<ReportedCounts> {
    let before = before(folder)?;
    let count = |state: &JobState| before[COUNTS].get(state.as_str()).and_then(Value::as_u64);
    Some(ReportedCounts {
        counts: JobState::ALL.iter().map(|state| (*state, count(state).unwrap_or_default())).collect(),
        to_fix: before.get(TO_FIX)?.as_u64()?,
        findings: before.get(FINDINGS).and_then(Value::as_u64).unwrap_or_default(),
    })
}

/// The folder of this name for the reports of an import: `3`, or where that has the report of another journal, `3-2` and
/// so on.
pub fn folder(reports: &Path, name: &str, info: &ImportInfo) -> PathBuf {
    let mut free = None;
    for number in 1_u32.. {
        let folder = if number == 1 { reports.join(name) } else { reports.join(format!("{name}-{number}")) };
        match before(&folder) {
            Some(summary) if is_of(&summary, info) => return folder,
            Some(_) => {}
            None if folder.exists() => free = free.or(Some(folder)),
            None => return free.unwrap_or(folder),
        }
    }
    reports.join(name)
}

/// Whether a report is that of an import.
pub(in crate::report) fn is_of(summary: &Value, info: &ImportInfo) -> bool {
    let digests = summary["files"].as_array().into_iter().flatten().map(|file| file["sha256"].as_str());
    summary["import"] == info.import.0
        && summary[IMPORTED_AT_MS] == info.at.millis()
        && digests.eq(info.files.iter().map(|(_, sha256)| Some(sha256.as_str())))
}

/// Whether a file of a report is one of rows to correct.
pub(in crate::report) fn is_fix(name: &str) -> bool {
    name == FIX || name.ends_with(FIX_ENDING)
}

/// The digests of the fix files among the changes, by their names.
pub(in crate::report) fn fix_digests(
    folder: &Folder,
    changes: &mut [FileChange],
) -> Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for change in changes {
        if let FileChange::Put(beside) = change
            && is_fix(beside.name())
        {
            let path = folder.path().join(beside.name());
            let digest = beside.digest().map_err(|error| folder.failed("a file beside", &path, error))?;
            digests.insert(beside.name().to_owned(), digest);
        }
    }
    Ok(digests)
}

/// The file, which is written when everything else is.
pub(in crate::report) struct SummaryFile<'a> {
    folder: &'a Folder,
    figures: &'a Figures,
    advisor: &'a Advisor<'a>,
}

impl<'a> SummaryFile<'a> {
    pub(in crate::report) const fn of(facts: &ReportFacts<'a>) -> Self {
        Self { folder: facts.folder, figures: facts.figures, advisor: facts.advisor }
    }
}

impl FormatWriter for SummaryFile<'_> {
    fn finish(self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        let mut value = Value::Object(self.figures.whose.fields());
        if let (Value::Object(all), Value::Object(numbers)) =
            (&mut value, value_of(self.figures, self.advisor))
        {
            all.extend(numbers);
        }
        value[WRITTEN] = json!(fix_digests(self.folder, changes)?);
        let mut file = self.folder.begin(NAME)?;
        // A value without special floats and with text for keys always has a written form.
        writeln!(file, "{value:#}").map_err(|error| self.folder.failed_file(NAME, error))?;
        changes.push(FileChange::Put(file));
        Ok(())
    }
}

fn value_of(figures: &Figures, advisor: &Advisor<'_>) -> Value {
    let moment = |at: Option<Moment>| at.map(|at| at.to_string());
    json!({
        "import": figures.import,
        "label": figures.label,
        "round": figures.round,
        "round_of": figures.round_of,
        "state": figures.end.end.state().as_str(),
        "reason": figures.end.end.as_str(),
        "exit_code": figures.end.exit_code,
        "resumes_at": moment(figures.end.resumes_at),
        "imported_at": figures.imported_at.to_string(),
        IMPORTED_AT_MS: figures.imported_at.millis(),
        "started_at": moment(figures.started_at),
        "finished_at": moment(figures.finished_at),
        "files": figures.files.iter().map(|(name, sha256)| json!({"name": name, "sha256": sha256}))
            .collect::<Vec<_>>(),
        "rows": figures.rows,
        COUNTS: counts(&figures.states),
        TO_FIX: figures.to_fix,
        "recognised": figures.recognised,
        "left_out": figures.left_out.total(),
        "changed_since": figures.changed_since,
        "audit": figures.audit,
        FINDINGS: figures.findings,
        "by_sheet": figures.sheets.iter().map(sheet_value).collect::<Vec<_>>(),
        "causes": figures.causes.iter().map(|cause| cause_value(cause, figures.import, advisor)).collect::<Vec<_>>(),
        "requests": figures.requests,
        "quota": figures.quota,
    })
}

fn cause_value(cause: &Cause, import: ImportId, advisor: &Advisor<'_>) -> Value {
    json!({
        "code": cause.code,
        "meaning": row_advice::words(&cause.code),
        "message": cause.message(),
        "count": cause.count,
        "consequences": cause.consequences,
        "is_consequence": cause.is_consequence(),
        "rows": cause.rows,
        "messages": cause.said.iter()
            .map(|said| json!({"message": said.message, "count": said.count, "rows": said.rows}))
            .collect::<Vec<_>>(),
        "other_messages": cause.unsaid,
        "advice": advisor.of_cause(&cause.code, import).as_str(),
    })
}

fn sheet_value(sheet: &SheetFigures) -> Value {
    json!({
        "sheet": sheet.name,
        "file": sheet.file,
        "kind": sheet.kind,
        "rows": sheet.rows,
        "counts": counts(&sheet.states),
    })
}

/// One number for each state, in the order a job meets them.
fn counts(states: &Tally) -> Map<String, Value> {
    JobState::ALL.iter().map(|&state| (state.to_string(), json!(states.in_state(state)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(at: i64, digest: &str) -> ImportInfo {
        ImportInfo {
            import: ImportId(3),
            at: Moment::from_millis(at),
            files: vec![("sites.csv".to_owned(), digest.to_owned())],
            rows: 1,
            reading: None,
            paused_at: None,
            priority: 0,
            reserve: 0,
            given_label: None,
            round: 1,
            round_of: None,
        }
    }

    fn write(folder: &Path, info: &ImportInfo) {
        let files: Vec<Value> =
            info.files.iter().map(|(name, sha256)| json!({"name": name, "sha256": sha256})).collect();
        let summary = json!({"import": info.import, IMPORTED_AT_MS: info.at.millis(), "files": files});
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(NAME), summary.to_string()).unwrap();
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
        std::fs::write(reports.path().join("3").join(NAME), "{").unwrap();
        assert_eq!((named(&third).0.as_str(), named(&second).0.as_str()), ("3", "3-2"));
    }
}
