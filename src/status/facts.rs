//! The facts of the journal that a status follows from: rows by state, what was left out, findings, and the last run.

use std::collections::BTreeMap;

use super::run_state::{moving, unfinished};
use super::to_do::Review;
use crate::ending::{End, RunEnd};
use crate::error::Result;
use crate::journal::{
    Answered, AwaitedRows, ImportInfo, JobTallies, Journal, KeptRows, RunInfo, UnansweredRows, UnsentRows,
};
use crate::model::amount::count;
use crate::model::id::ImportId;
use crate::model::reason::Reason;
use crate::model::remaining::SheetPause;
use crate::model::state::JobState;
use crate::model::tally::Tally;

/// What the journal knows of the rows of an import, or of all.
pub(super) struct Facts {
    /// Rows by state; of one import those included that it left out.
    pub(super) tally: Tally,
    /// Rows that were left out and have not come again.
    pub(super) left_out: Tally,
    /// Whether it is about one import.
    pub(super) is_of_one: bool,
    /// Rows that wait only for a paused import to be resumed.
    pub(super) paused: u64,
    /// The paused imports for which rows wait, with how many, those included that wait for other rows as well.
    pub(super) paused_imports: Vec<UnsentRows>,
    /// By such an import that the status is about, how many rows of imports that are not paused wait for rows of it.
    pub(super) below_paused: BTreeMap<ImportId, u64>,
    /// Where nothing of one import can be sent, and rows of it wait for rows of others: these.
    pub(super) awaited: Vec<AwaitedRows>,
    /// Then, and of all imports, the rows that wait for a decision of a person about others.
    pub(super) stuck: u64,
    /// Rows with a job that were rejected, and those skipped for what they depend on.
    pub(super) refused: (u64, u64),
    /// Whether there is an import, with rows or without.
    pub(super) imported: bool,
    /// Each import that the status is about.
    pub(super) imports: Vec<ImportFacts>,
    /// The findings of verification that nobody has looked into.
    pub(super) findings: Option<Review>,
    /// Rows that the last run was to verify and has not.
    pub(super) unread: u64,
    /// Rows that can be sent, of imports that came after the last run had ended early.
    pub(super) later: u64,
    /// Whether rows can be sent now that need no quota; asked only where a run waits, or waited, for that.
    pub(super) needs_no_quota: bool,
    pub(super) run: Option<RunInfo>,
    /// The sheets that a run in progress does not go on with.
    pub(super) sheet_pauses: Vec<SheetPause>,
    /// The paused sheets that the last run left.
    pub(super) sheets_left: Vec<SheetPause>,
}

/// The sheets that the run in progress does not go on with, as the service rejected their rows; nothing where none is in
/// progress.
///
/// # Errors
/// Journal when it cannot be read.
pub fn sheet_pauses(journal: &Journal) -> Result<Vec<SheetPause>> {
    let run = journal.last_run()?.filter(|run| run.ended_at.is_none() && journal.is_run_at_work());
    noted_pauses(journal, run.as_ref())
}

/// The paused sheets that a run has noted last.
fn noted_pauses(journal: &Journal, run: Option<&RunInfo>) -> Result<Vec<SheetPause>> {
    let noted = run.map(|run| journal.noted_remaining(run.run)).transpose()?.flatten();
    Ok(noted.map_or_else(Vec::new, |noted| noted.sheet_pauses))
}

/// How the rows of one import stand, and what is left to be done about them.
pub struct ImportFacts {
    /// The import.
    pub info: ImportInfo,
    /// Its rows by state, those included that it left out.
    pub tally: Tally,
    /// Rows that did not get through, and for which no later import answers.
    pub unanswered: Unanswered,
    /// With which codes those of them that have a job were rejected, or are incomplete.
    pub(super) codes: Vec<UnansweredRows>,
    /// Rows that were skipped because one that they depend on was cancelled, and have not come again.
    pub(super) below_cancelled: u64,
    /// Rows that differ from what was imported earlier.
    pub differing: u64,
    /// Those of them that it left out and that no import has.
    pub left_out: Tally,
    /// The later imports that answer for rows of it.
    later: Vec<Answered>,
    /// Rows that wait or need a person and that a later round of it has as well.
    pub open_later: u64,
}

impl ImportFacts {
    fn of(journal: &Journal, info: ImportInfo, jobs: &JobTallies, has_later_round: bool) -> Result<Self> {
        let tally = journal.tally_with(info.import, jobs)?;
        let left_out = journal.left_out_tally(Some(info.import))?;
        let later = journal.answered_later(info.import)?;
        let differing = journal.differing(Some(info.import))?;
        let unanswered = Unanswered::by(&tally, &left_out, &later);
        let skipped = tally.in_state(JobState::Skipped);
        let (skipped, codes): (Vec<_>, Vec<_>) = match unanswered.refused + unanswered.incomplete + skipped {
            0 => (Vec::new(), Vec::new()),
            _ => {
                let codes = journal.unanswered_codes(info.import)?;
                codes.into_iter().partition(|rows| rows.state == JobState::Skipped)
            }
        };
        let below_cancelled = skipped.iter().map(|rows| rows.rows).sum();
        let open_later = if has_later_round { journal.open_in_later_rounds(&info)? } else { 0 };
        Ok(Self { info, tally, unanswered, codes, below_cancelled, differing, left_out, later, open_later })
    }

    /// Whether rows of it wait, that no later round has, or did not get through.
    pub fn is_open(&self) -> bool {
        self.tally.count(|state| !state.is_final()) > self.open_later || self.is_unanswered()
    }

    /// Whether rows of it did not get through, for which no later import answers, or differ.
    pub fn has_failed(&self) -> bool {
        self.is_unanswered() || self.differing > 0
    }

    /// Whether no later import answers for rows of it that did not get through, those included that were skipped.
    fn is_unanswered(&self) -> bool {
        let skipped = |later: &Answered| {
            later.refused.in_state(JobState::Skipped) + later.left_out.in_state(JobState::Skipped)
        };
        let answered: u64 = self.later.iter().map(skipped).sum();
        !self.unanswered.is_empty() || self.tally.in_state(JobState::Skipped) > answered
    }

    /// Those of its rows that were rejected with values of an earlier import while their own were not sent.
    pub(super) fn unsent(&self) -> u64 {
        self.codes.iter().filter(|rows| rows.is_unsent).map(|rows| rows.rows).sum()
    }

    /// Whether all of its rows that were rejected were so because the service has their records.
    pub(super) fn exist_already(&self) -> bool {
        let mut rejected = self.codes.iter().filter(|rows| rows.state == JobState::Rejected).peekable();
        rejected.peek().is_some() && rejected.all(|rows| rows.code == Reason::Existing.as_str())
    }

    /// Whether it needs nobody any more: no row of it waits, is to be corrected or differs.
    pub fn is_settled(&self) -> bool {
        !self.is_open() && self.differing == 0
    }
}

impl Facts {
    /// Of an import, or of all.
    pub(super) fn of(journal: &Journal, import: Option<ImportId>) -> Result<Self> {
        let infos = journal.imports()?;
        let imported = !infos.is_empty();
        let latest: BTreeMap<ImportId, ImportId> =
            infos.iter().map(|info| (info.first_round(), info.import)).collect();
        let has_later_round = |info: &ImportInfo| latest.get(&info.first_round()) != Some(&info.import);
        let wanted = infos.into_iter().filter(|info| import.is_none_or(|wanted| wanted == info.import));
        let jobs = journal.job_tallies()?;
        let facts = |info: ImportInfo| {
            let has_later_round = has_later_round(&info);
            ImportFacts::of(journal, info, &jobs, has_later_round)
        };
        let imports = wanted.map(facts).collect::<Result<Vec<ImportFacts>>>()?;
        let (tally, left_out) = match (import, imports.as_slice()) {
            (Some(_), [only]) => (only.tally.clone(), only.left_out.clone()),
            (Some(_), _) => (Tally::default(), Tally::default()),
            // A row that came again is counted with the import that it came in.
            (None, _) => {
                let mut left_out = journal.left_out_tally(None)?;
                for later in imports.iter().flat_map(|import| &import.later) {
                    left_out.take_away(&later.left_out);
                }
                (jobs.all(), left_out)
            }
        };
        // The rows of one import are counted with those it left out, all jobs are not.
        let counted_in = |state| if import.is_some() { left_out.in_state(state) } else { 0 };
        let with_job = |state| tally.in_state(state).saturating_sub(counted_in(state));
        let refused = (with_job(JobState::Rejected), with_job(JobState::Skipped));
        let findings = Review::of(journal.unseen_findings(import)?.iter().map(|finding| finding.job));
        let paused_imports = journal.rows_by_paused_import(import)?;
        let kept = if paused_imports.is_empty() { KeptRows::default() } else { journal.kept_rows(None)? };
        let below = kept.by.into_iter().filter_map(|(paused, rows)| Some((paused?, rows)));
        let below_paused =
            below.filter(|(paused, _)| import.is_none_or(|wanted| wanted == *paused)).collect();
        let waits = moving(&tally) == 0 && unfinished(&tally) > 0;
        let (awaited, stuck) = match import {
            Some(import) if waits => (journal.awaited_rows(import)?, journal.stuck_rows(import)?),
            Some(_) => (Vec::new(), 0),
            None => (Vec::new(), tally.in_state(JobState::Blocked)),
        };
        let run = journal.last_run()?;
        let later = match run.as_ref().filter(|run| run.ending != Some(RunEnd::Finished)) {
            Some(run) => came_later(journal, &imports, run)?,
            None => 0,
        };
        let waits_for_quota =
            run.as_ref().is_some_and(|run| run.waits_for == Some(RunEnd::Early(End::Quota)));
        let of_wanted = |mut pauses: Vec<SheetPause>| {
            pauses.retain(|pause| import.is_none_or(|wanted| wanted == pause.import));
            pauses
        };
        let has_left = |run: &&RunInfo| run.ending == Some(RunEnd::Early(End::SheetPaused));
        let sheets_left = of_wanted(noted_pauses(journal, run.as_ref().filter(has_left))?);
        Ok(Self {
            tally,
            left_out,
            is_of_one: import.is_some(),
            paused: paused_imports.iter().map(|rows| rows.sendable).sum(),
            paused_imports,
            below_paused,
            awaited,
            stuck,
            refused,
            imported,
            imports,
            findings,
            unread: journal.left_to_verify(import)?,
            later,
            needs_no_quota: waits_for_quota && journal.can_send_without_quota(import)?,
            run,
            sheet_pauses: of_wanted(sheet_pauses(journal)?),
            sheets_left,
        })
    }

    /// Rows that the last run left as it had paused their sheets.
    pub(super) fn of_paused_sheets(&self) -> Option<u64> {
        let rows = moving(&self.tally).saturating_sub(self.paused + self.later);
        (rows > 0 && !self.sheets_left.is_empty()).then_some(rows)
    }

    /// Rows that differ from what was imported earlier.
    pub(super) fn differing(&self) -> u64 {
        self.imports.iter().map(|import| import.differing).sum()
    }
}

/// How many rows can be sent of the imports that came after a run had ended.
fn came_later(journal: &Journal, imports: &[ImportFacts], run: &RunInfo) -> Result<u64> {
    let mut rows = 0;
    for facts in imports.iter().filter(|facts| run.ended_at.is_some_and(|ended| facts.info.at > ended)) {
        let paused = journal.paused_rows(Some(facts.info.import))?;
        rows += moving(&facts.tally).saturating_sub(paused);
    }
    Ok(rows)
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
    /// Of an import whose rows are counted already.
    pub fn of(journal: &Journal, import: ImportId, tally: &Tally) -> Result<Self> {
        let left_out = journal.left_out_tally(Some(import))?;
        Ok(Self::by(tally, &left_out, &journal.answered_later(import)?))
    }

    fn by(tally: &Tally, left_out: &Tally, later: &[Answered]) -> Self {
        let answered = |state| later.iter().map(|later| later.left_out.in_state(state)).sum::<u64>();
        let left = |state| left_out.in_state(state).saturating_sub(answered(state));
        let of_jobs = |state| later.iter().map(|later| later.refused.in_state(state)).sum::<u64>();
        let rows = |later: &Answered| later.refused.count(JobState::is_failed) + later.left_out.total();
        let failed = |state| tally.in_state(state).saturating_sub(left_out.in_state(state) + of_jobs(state));
        Self {
            refused: failed(JobState::Rejected),
            incomplete: failed(JobState::Incomplete),
            left_out: left(JobState::Rejected),
            along: left(JobState::Skipped),
            answered: later
                .iter()
                .map(|later| (rows(later), later.by))
                .filter(|(rows, _)| *rows > 0)
                .collect(),
        }
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
