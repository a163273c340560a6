//! The facts of the journal that a status follows from: rows by state, what was left out, findings, and the last run.

use crate::error::Result;
use crate::journal::{Answered, ImportInfo, Journal, RunInfo};
use crate::model::amount::count;
use crate::model::id::{ImportId, JobId};
use crate::model::state::JobState;
use crate::model::tally::Tally;

/// What the journal knows of the rows of an import, or of all.
pub(super) struct Facts {
    /// Rows by state; of one import those included that it left out.
    pub(super) tally: Tally,
    /// Rows that were left out and have not come again.
    pub(super) left_out: Tally,
    /// Rows with a job that were rejected, and those skipped for what they depend on.
    pub(super) refused: (u64, u64),
    /// Whether there is an import, with rows or without.
    pub(super) imported: bool,
    /// Each import that the status is about.
    pub(super) imports: Vec<ImportFacts>,
    /// How many findings of verification nobody has looked into, and the first row of them.
    pub(super) findings: (u64, Option<JobId>),
    pub(super) run: Option<RunInfo>,
}

/// What is left to be done about one import.
pub(super) struct ImportFacts {
    pub(super) info: ImportInfo,
    pub(super) unanswered: Unanswered,
    /// Rows that differ from what was created earlier.
    pub(super) differing: u64,
}

impl Facts {
    /// Of an import, or of all.
    pub(super) fn of(journal: &Journal, import: Option<ImportId>) -> Result<Self> {
        let tally = journal.tally(import)?;
        let infos = journal.imports()?;
        let left_out = match import {
            Some(_) => journal.left_out_tally(import)?,
            None => left_out_once(journal, &infos)?,
        };
        // The rows of one import are counted with those it left out, all jobs are not.
        let counted_in = |state| if import.is_some() { left_out.in_state(state) } else { 0 };
        let with_job = |state| tally.in_state(state).saturating_sub(counted_in(state));
        let refused = (with_job(JobState::Rejected), with_job(JobState::Skipped));
        let imported = !infos.is_empty();
        let mut imports = Vec::new();
        for info in infos.into_iter().filter(|info| import.is_none_or(|wanted| wanted == info.import)) {
            imports.push(ImportFacts {
                unanswered: Unanswered::of(journal, info.import)?,
                differing: journal.differing(Some(info.import))?,
                info,
            });
        }
        let findings = journal.unseen_findings(import)?;
        let findings = (findings.len() as u64, findings.first().map(|finding| finding.job));
        Ok(Self { tally, left_out, refused, imported, imports, findings, run: journal.last_run()? })
    }

    /// Rows that differ from what was created earlier.
    pub(super) fn differing(&self) -> u64 {
        self.imports.iter().map(|import| import.differing).sum()
    }
}

/// The rows that imports left out and that have not come again, each counted once.
fn left_out_once(journal: &Journal, imports: &[ImportInfo]) -> Result<Tally> {
    let mut tally = journal.left_out_tally(None)?;
    for info in imports {
        for later in journal.answered_later(info.import)? {
            tally.take_away(&later.left_out);
        }
    }
    Ok(tally)
}

/// Rows of an import that did not get through, and for which no later import answers.
pub struct Unanswered {
    /// Those that the service rejected.
    pub refused: u64,
    /// Those that were created, with a later step that was rejected.
    pub incomplete: u64,
    /// Those that were left out because of their errors.
    pub left_out: u64,
    /// Those that were left out with what they belong to.
    pub along: u64,
    /// The rows that later imports answer for: how many, and which import.
    pub answered: Vec<(u64, ImportId)>,
}

impl Unanswered {
    /// Of an import.
    pub fn of(journal: &Journal, import: ImportId) -> Result<Self> {
        let left_out = journal.left_out_tally(Some(import))?;
        let tally = journal.tally(Some(import))?;
        let later = journal.answered_later(import)?;
        let answered = |state| later.iter().map(|later| later.left_out.in_state(state)).sum::<u64>();
        let left = |state| left_out.in_state(state).saturating_sub(answered(state));
        let of_jobs = |state| later.iter().map(|later| later.refused.in_state(state)).sum::<u64>();
        let rows = |later: &Answered| later.refused.count(JobState::is_failed) + later.left_out.total();
        let failed = |state| tally.in_state(state).saturating_sub(left_out.in_state(state) + of_jobs(state));
        Ok(Self {
            refused: failed(JobState::Rejected),
            incomplete: failed(JobState::Incomplete),
            left_out: left(JobState::Rejected),
            along: left(JobState::Skipped),
            answered: later
                .iter()
                .map(|later| (rows(later), later.by))
                .filter(|(rows, _)| *rows > 0)
                .collect(),
        })
    }

    /// How many they are.
    pub fn total(&self) -> u64 {
        self.refused + self.incomplete + self.left_out + self.along
    }

    /// Whether nothing is left to be corrected in this import.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// Which imports answer for its rows, in words: `3 answered by import 2`; empty for none.
    pub fn answers(&self) -> String {
        let words =
            self.answered.iter().map(|(rows, by)| format!("{} answered by import {by}", count(*rows)));
        words.collect::<Vec<_>>().join(", ")
    }
}
