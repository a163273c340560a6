//! `summary.json`: the numbers of an import for programs; and what the one of an earlier report tells: what it counted, whose
//! it is, and the digests of its fix files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ending::{End, State};
use crate::error::Result;
use crate::journal::{AuditFigures, Cause, FileDigest, ImportInfo, Said, WhoseFacts};
use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::model::quota::QuotaDay;
use crate::model::state::JobState;
use crate::model::time::Rfc3339;
use crate::status::row_advice::{self, Advisor};

use crate::report::atomic_write::{FileChange, Folder};
use crate::report::figures::Figures;
use crate::report::format::{FormatWriter, ReportFacts};
use crate::report::layout::Layout;
use crate::report::names::{FIX, FIX_ENDING};

/// The file's name.
pub(in crate::report) const NAME: &str = "summary.json";

/// What rows in each state, rows to correct, findings that nobody has looked into, paused rows and what verification came to are
/// called in it.
const COUNTS: &str = "counts";
const TO_FIX: &str = "to_fix";
const FINDINGS: &str = "findings_unseen";
const PAUSED: &str = "paused";
const PAUSED_IMPORTS: &str = "paused_imports";
const AUDIT: &str = "audit";
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
    /// How many are not sent before a paused import is resumed.
    pub paused: u64,
    /// The paused imports for which these wait.
    pub paused_imports: BTreeSet<ImportId>,
    /// How many are not verified yet.
    pub unverified: u64,
}

/// What the report in a folder says of its rows; nothing where there is no report.
pub fn reported_counts(folder: &Path) -> Option<ReportedCounts> {
    let before = before(folder)?;
    let count = |state: &JobState| before[COUNTS].get(state.as_str()).and_then(Value::as_u64);
    Some(ReportedCounts {
        counts: JobState::ALL.iter().map(|state| (*state, count(state).unwrap_or_default())).collect(),
        to_fix: before.get(TO_FIX)?.as_u64()?,
        findings: before.get(FINDINGS).and_then(Value::as_u64).unwrap_or_default(),
        paused: before.get(PAUSED).and_then(Value::as_u64).unwrap_or_default(),
        paused_imports: BTreeSet::deserialize(&before[PAUSED_IMPORTS]).unwrap_or_default(),
        unverified: AuditFigures::deserialize(&before[AUDIT]).unwrap_or_default().unread(),
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
    figures: &'a Figures<'a>,
    advisor: &'a Advisor<'a>,
}

impl<'a> SummaryFile<'a> {
    pub(in crate::report) const fn of(facts: &ReportFacts<'a>) -> Self {
        Self { folder: facts.folder, figures: facts.figures, advisor: facts.advisor }
    }
}

impl FormatWriter for SummaryFile<'_> {
    fn finish(self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        let written = fix_digests(self.folder, changes)?;
        let document = json!(ImportFigures::of(self.figures, self.advisor, written));
        let mut file = self.folder.begin(NAME)?;
        // A value without special floats and with text for keys always has a written form.
        writeln!(file, "{document:#}").map_err(|error| self.folder.failed_file(NAME, error))?;
        changes.push(FileChange::Put(file));
        Ok(())
    }
}

/// The numbers of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ImportFigures<'a> {
    #[serde(flatten)]
    whose: WhoseFacts,
    import: ImportId,
    /// What it is called: its label, else its files.
    label: String,
    /// Which round of its rows it is, counted from 1.
    round: u32,
    /// The import of the first round, where it is a later one.
    round_of: Option<ImportId>,
    state: State,
    reason: End,
    /// The exit code that stands for it.
    exit_code: u8,
    /// When its rows go on.
    resumes_at: Option<Rfc3339>,
    /// When it was imported.
    imported_at: Rfc3339,
    /// The same in milliseconds since 1970.
    imported_at_ms: i64,
    /// When the first request for its rows was sent.
    started_at: Option<Rfc3339>,
    /// When its last row was finished; `null` while some go on automatically.
    finished_at: Option<Rfc3339>,
    /// Its files.
    files: Vec<FileDigest>,
    /// Its rows.
    rows: u64,
    /// Its rows in each state.
    counts: BTreeMap<JobState, u64>,
    /// Rows that a person must correct, and those that depend on them.
    to_fix: u64,
    /// Rows that were known from earlier imports.
    recognised: u64,
    /// Rows that were not imported because of errors.
    left_out: u64,
    /// Rows that differ from what was imported earlier.
    changed_since: u64,
    /// What verification came to.
    audit: AuditFigures,
    /// Findings of verification that nobody has reviewed.
    findings_unseen: u64,
    /// Rows that are not sent before a paused import is resumed.
    paused: u64,
    /// The paused imports for which these rows wait.
    paused_imports: Vec<ImportId>,
    /// The rows of each sheet.
    by_sheet: Vec<SheetNumbers<'a>>,
    /// Why rows failed, the most frequent cause first.
    causes: Vec<CauseFigures<'a>>,
    /// Requests sent for its rows.
    requests: u64,
    /// The quota of the day on which its last creation counted.
    quota: QuotaDay,
    /// The SHA-256 of each fix file, by its name.
    written: BTreeMap<String, String>,
}

/// The rows of one sheet.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct SheetNumbers<'a> {
    /// The name of the sheet.
    sheet: &'a str,
    /// Its file.
    file: &'a str,
    kind: Kind,
    /// Its rows.
    rows: u64,
    /// These rows in each state.
    counts: BTreeMap<JobState, u64>,
}

/// Why rows failed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct CauseFigures<'a> {
    /// The code; docs/codes.md explains it.
    code: &'a str,
    /// What the code means.
    meaning: Option<&'static str>,
    /// The most frequent message; empty where there was none.
    message: &'a str,
    /// How many rows.
    count: u64,
    /// Rows that were skipped because they depend on these.
    consequences: u64,
    /// Whether the rows only follow from others, so that nothing is to be corrected in them.
    is_consequence: bool,
    /// The first of the rows: `file!sheet!row`.
    rows: &'a [String],
    /// What was said of the rows, the most frequent first; at most ten.
    messages: &'a [Said],
    /// How many more messages there are.
    other_messages: u64,
    /// What to do.
    advice: String,
}

impl<'a> ImportFigures<'a> {
    fn of(figures: &'a Figures<'a>, advisor: &Advisor<'_>, written: BTreeMap<String, String>) -> Self {
        let info = figures.info;
        Self {
            whose: figures.whose.facts(),
            import: info.import,
            label: info.label(),
            round: info.round,
            round_of: info.round_of,
            state: figures.end.end.state(),
            reason: figures.end.end,
            exit_code: figures.end.exit_code,
            resumes_at: figures.end.resumes_at.map(Rfc3339),
            imported_at: info.at.into(),
            imported_at_ms: info.at.millis(),
            started_at: figures.started_at.map(Rfc3339),
            finished_at: figures.finished_at.map(Rfc3339),
            files: FileDigest::all(&info.files),
            rows: figures.rows,
            counts: figures.states.by_state(),
            to_fix: figures.to_fix,
            recognised: figures.recognised,
            left_out: figures.left_out.total(),
            changed_since: figures.changed_since,
            audit: figures.audit,
            findings_unseen: figures.findings,
            paused: figures.paused.rows,
            paused_imports: figures.paused.paused_imports().into_iter().collect(),
            by_sheet: figures.layouts.iter().map(SheetNumbers::of).collect(),
            causes: figures
                .causes
                .iter()
                .map(|cause| CauseFigures::of(cause, info.import, advisor))
                .collect(),
            requests: figures.requests,
            quota: figures.quota,
            written,
        }
    }
}

impl<'a> CauseFigures<'a> {
    fn of(cause: &'a Cause, import: ImportId, advisor: &Advisor<'_>) -> Self {
        Self {
            code: &cause.code,
            meaning: row_advice::words(&cause.code),
            message: cause.message(),
            count: cause.count,
            consequences: cause.consequences,
            is_consequence: cause.is_consequence(),
            rows: &cause.rows,
            messages: &cause.said,
            other_messages: cause.unsaid,
            advice: advisor.of_cause(cause.into(), import).as_str().to_owned(),
        }
    }
}

impl<'a> SheetNumbers<'a> {
    fn of(sheet: &'a Layout) -> Self {
        Self {
            sheet: &sheet.name,
            file: &sheet.file,
            kind: sheet.kind,
            rows: sheet.count.rows,
            counts: sheet.count.states.by_state(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Moment;

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
