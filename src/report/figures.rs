//! The numbers of an import, and `summary.json`.
//!
//! Rows are counted as the reports show them, so that the sheets add up to the whole; causes, requests and quota are
//! asked of the journal.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::journal::{AuditFigures, Cause, ImportInfo, Journal, Whose};
use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::model::quota::QuotaDay;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;

use super::Standing;
use super::atomic_write::{Beside, Folder};
use super::layout::Layout;
use super::row_group::Group;
use crate::status::row_advice::{self, Advisor};

/// The file's name.
pub(super) const NAME: &str = "summary.json";

/// What rows in each state, rows to correct, and findings that nobody has looked into are called in it.
const COUNTS: &str = "counts";
const TO_FIX: &str = "to_fix";
const FINDINGS: &str = "findings_unseen";
/// When it was imported to the thousandth of a second, which no other import of the same number shares.
pub(super) const IMPORTED_AT_MS: &str = "imported_at_ms";
/// The digests of the fix files, by their names.
pub(super) const WRITTEN: &str = "written";
/// Most bytes of an earlier one.
const LARGEST: u64 = 1 << 26;

/// What an earlier report in a folder says of itself; nothing where there is none that can be read.
pub(super) fn before(folder: &Path) -> Option<Value> {
    let file = File::open(folder.join(NAME)).ok()?;
    serde_json::from_reader(BufReader::new(file.take(LARGEST))).ok()
}

/// What the report in a folder says of its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// How many are in each state.
    pub counts: BTreeMap<JobState, u64>,
    /// How many a person must correct.
    pub to_fix: u64,
    /// Findings of verification that nobody has looked into.
    pub findings: u64,
}

/// What the report in a folder says of its rows; nothing where there is no report.
pub fn told(folder: &Path) -> Option<Told> {
    let before = before(folder)?;
    let count = |state: &JobState| before[COUNTS].get(state.as_str()).and_then(Value::as_u64);
    Some(Told {
        counts: JobState::ALL.iter().map(|state| (*state, count(state).unwrap_or_default())).collect(),
        to_fix: before.get(TO_FIX)?.as_u64()?,
        findings: before.get(FINDINGS).and_then(Value::as_u64).unwrap_or_default(),
    })
}

/// The numbers of an import.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) import: ImportId,
    pub(super) whose: Whose,
    pub(super) standing: Standing,
    pub(super) imported_at: Moment,
    /// Name and SHA-256 of each file.
    pub(super) files: Vec<(String, String)>,
    pub(super) sheets: Vec<SheetFigures>,
    pub(super) rows: u64,
    pub(super) states: Tally,
    pub(super) to_fix: u64,
    /// Those of them in which nothing is to be corrected.
    pub(super) to_fix_along: u64,
    pub(super) recognised: u64,
    pub(super) changed_since: u64,
    /// Rows that were left out and have not come again.
    pub(super) left_out: Tally,
    /// Rows that did not get through and came again: how many, and the import that answers for them.
    pub(super) answered: Vec<(u64, ImportId)>,
    /// The most frequent first.
    pub(super) causes: Vec<Cause>,
    /// What verification came to.
    pub(super) audit: AuditFigures,
    /// Its findings that nobody has looked into yet.
    pub(super) findings: u64,
    pub(super) requests: u64,
    /// The day on which its last creation counted.
    pub(super) quota: QuotaDay,
    /// When the first request for its rows left; `None` when none did.
    pub(super) started_at: Option<Moment>,
    /// When its last row was finished; `None` while some go on by themselves.
    pub(super) finished_at: Option<Moment>,
}

/// The numbers of one sheet.
#[derive(Debug)]
pub(super) struct SheetFigures {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) kind: Kind,
    pub(super) rows: u64,
    pub(super) states: Tally,
    not_imported: Tally,
}

impl Figures {
    /// Rows in a group.
    pub(super) fn in_group(&self, group: Group) -> u64 {
        self.sheets.iter().map(|sheet| sheet.in_group(group)).sum()
    }

    /// Rows in a state; those that were not imported are in none.
    pub(super) fn in_state(&self, state: JobState) -> u64 {
        self.sheets.iter().map(|sheet| sheet.in_state(state)).sum()
    }

    /// The groups that have rows.
    pub(super) fn groups(&self) -> Vec<Group> {
        Group::ALL.into_iter().filter(|&group| self.in_group(group) > 0).collect()
    }

    /// Counts an import.
    pub(super) fn of(
        journal: &Journal,
        info: &ImportInfo,
        layouts: &[Layout],
        standing: Standing,
    ) -> Result<Self> {
        let attempts = journal.attempts(info.import)?;
        let day = attempts.last_counted.unwrap_or_else(|| attempts.last_at.unwrap_or(info.at).day());
        let mut states = Tally::default();
        for layout in layouts {
            for &state in JobState::ALL {
                states.add(layout.kind, state, layout.count.states.in_state(state));
            }
        }
        let sum = |of: fn(&Layout) -> u64| layouts.iter().map(of).sum();
        let unfinished = states.count(|state| !state.is_final());
        Ok(Self {
            import: info.import,
            whose: journal.whose()?,
            standing,
            imported_at: info.at,
            files: info.files.clone(),
            sheets: layouts.iter().map(SheetFigures::of).collect(),
            rows: sum(|layout| layout.count.rows),
            states,
            to_fix: sum(|layout| layout.count.to_fix),
            to_fix_along: sum(|layout| layout.count.along),
            recognised: sum(|layout| layout.count.recognised),
            changed_since: sum(|layout| layout.count.changed_since),
            left_out: journal.left_out_tally(Some(info.import))?,
            answered: journal
                .answered_later(info.import)?
                .iter()
                .map(|later| (later.refused.total() + later.left_out.total(), later.by))
                .collect(),
            causes: journal.causes(info.import)?,
            audit: journal.audit_figures(Some(info.import))?,
            findings: journal.unseen_findings(Some(info.import))?.len() as u64,
            requests: attempts.requests,
            quota: journal.quota(day)?,
            started_at: attempts.first_at,
            finished_at: match unfinished {
                0 => layouts.iter().filter_map(|layout| layout.count.finished_at).max(),
                _ => None,
            },
        })
    }

    /// Writes `summary.json`, with the digests of the fix files by their names.
    pub(super) fn write(
        &self,
        folder: &Folder,
        advisor: &Advisor<'_>,
        written: &BTreeMap<String, String>,
    ) -> Result<Beside> {
        let mut value = Value::Object(self.whose.fields());
        if let (Value::Object(all), Value::Object(numbers)) = (&mut value, self.value(advisor)) {
            all.extend(numbers);
        }
        value[WRITTEN] = json!(written);
        let mut file = folder.begin(NAME)?;
        // A value without special floats and with text for keys always has a written form.
        writeln!(file, "{value:#}")
            .map_err(|error| folder.failed("the file", &folder.path().join(NAME), error))?;
        Ok(file)
    }

    fn value(&self, advisor: &Advisor<'_>) -> Value {
        let moment = |at: Option<Moment>| at.map(|at| at.to_string());
        json!({
            "import": self.import,
            "state": self.standing.end.state().as_str(),
            "reason": self.standing.end.as_str(),
            "exit_code": self.standing.exit_code,
            "resumes_at": moment(self.standing.resumes_at),
            "imported_at": self.imported_at.to_string(),
            IMPORTED_AT_MS: self.imported_at.millis(),
            "started_at": moment(self.started_at),
            "finished_at": moment(self.finished_at),
            "files": self.files.iter().map(|(name, sha256)| json!({"name": name, "sha256": sha256}))
                .collect::<Vec<_>>(),
            "rows": self.rows,
            COUNTS: counts(&self.states),
            TO_FIX: self.to_fix,
            "recognised": self.recognised,
            "left_out": self.left_out.total(),
            "changed_since": self.changed_since,
            "audit": self.audit,
            FINDINGS: self.findings,
            "by_sheet": self.sheets.iter().map(SheetFigures::value).collect::<Vec<_>>(),
            "causes": self.causes.iter().map(|cause| self.cause(cause, advisor)).collect::<Vec<_>>(),
            "requests": self.requests,
            "quota": self.quota,
        })
    }

    fn cause(&self, cause: &Cause, advisor: &Advisor<'_>) -> Value {
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
            "advice": advisor.of_cause(&cause.code, self.import).as_str(),
        })
    }
}

impl SheetFigures {
    /// Rows in a state; those that were not imported are in none.
    pub(super) fn in_state(&self, state: JobState) -> u64 {
        self.states.in_state(state).saturating_sub(self.not_imported.in_state(state))
    }

    /// Rows in a group.
    pub(super) fn in_group(&self, group: Group) -> u64 {
        match group {
            Group::NotImported => self.not_imported.total(),
            Group::Done
            | Group::Failed
            | Group::Skipped
            | Group::Held
            | Group::InDoubt
            | Group::Waiting
            | Group::Cancelled => group.states().map(|state| self.in_state(state)).sum(),
        }
    }

    fn of(layout: &Layout) -> Self {
        Self {
            name: layout.name.clone(),
            file: layout.file.clone(),
            kind: layout.kind,
            rows: layout.count.rows,
            states: layout.count.states.clone(),
            not_imported: layout.count.not_imported.clone(),
        }
    }

    fn value(&self) -> Value {
        json!({
            "sheet": self.name,
            "file": self.file,
            "kind": self.kind,
            "rows": self.rows,
            "counts": counts(&self.states),
        })
    }
}

/// One number for each state, in the order a job meets them.
fn counts(states: &Tally) -> Map<String, Value> {
    JobState::ALL.iter().map(|&state| (state.to_string(), json!(states.in_state(state)))).collect()
}
