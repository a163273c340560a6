//! The canary: a few rows of each kind over the whole tree, sent and verified before all others. Chosen here, and judged
//! here; the journal keeps which rows they are and hands out no other, so that a run after a kill goes on with them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU32;

use super::ending::Ending;
use super::run_action::{Inquiry, RunAction};
use crate::error::Result;
use crate::journal::{CanaryCandidate, CanaryRow, CanaryVerification, Journal, SheetId};
use crate::model::amount::counted;
use crate::model::event::Event;
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::state::JobState;

/// Rows of those that come into question which are looked at for each choice.
const LOOKED_AT: usize = 256;

/// A row and what kind of record it is about.
type KindOfRow = (JobId, Kind);

/// Chooses rows for a canary: `of_each` of each kind, as far as there are so many, those `under_way` counted. Of different
/// owners where that is possible, then of different sheets, then those that need the fewest other rows, then the oldest. What
/// a row waits for is chosen with it; `waits_for` says what that is, or nothing where it cannot be sent.
fn choose(
    of_each: NonZeroU32,
    candidates: &[CanaryCandidate],
    under_way: &[KindOfRow],
    waits_for: &dyn Fn(JobId) -> Result<Option<Vec<KindOfRow>>>,
) -> Result<BTreeMap<JobId, Kind>> {
    let mut chosen: BTreeMap<JobId, Kind> = under_way.iter().copied().collect();
    let mut out_of_question = BTreeSet::new();
    // From below, so that companies and sites are mostly those of the rows in them.
    for kind in Kind::ALL.into_iter().rev() {
        let of_kind: Vec<&CanaryCandidate> = candidates.iter().filter(|row| row.kind == kind).collect();
        loop {
            let so_far = chosen.values().filter(|chosen| **chosen == kind).count();
            if so_far >= of_each.get() as usize {
                break;
            }
            let (mut owners, mut sheets) = (HashMap::<&str, usize>::new(), HashMap::<SheetId, usize>::new());
            for row in of_kind.iter().filter(|row| chosen.contains_key(&row.job)) {
                *owners.entry(&row.owner).or_default() += 1;
                *sheets.entry(row.sheet).or_default() += 1;
            }
            let used = |row: &CanaryCandidate| {
                let owner = owners.get(&*row.owner).copied().unwrap_or_default();
                (owner, sheets.get(&row.sheet).copied().unwrap_or_default())
            };
            let mut left: Vec<&CanaryCandidate> = of_kind
                .iter()
                .copied()
                .filter(|row| !chosen.contains_key(&row.job) && !out_of_question.contains(&row.job))
                .collect();
            let Some(least) = left.iter().map(|row| used(row)).min() else { break };
            left.retain(|row| used(row) == least);
            let mut best: Option<BTreeMap<JobId, Kind>> = None;
            for row in left.into_iter().take(LOOKED_AT) {
                let Some(with) = with_all_it_waits_for((row.job, kind), &chosen, waits_for)? else {
                    out_of_question.insert(row.job);
                    continue;
                };
                if best.as_ref().is_none_or(|best| with.len() < best.len()) {
                    best = Some(with);
                }
            }
            chosen.extend(best.unwrap_or_default());
        }
    }
    Ok(chosen)
}

/// A row with all that it waits for, near and far, without what is chosen already; nothing where some of it cannot be sent.
fn with_all_it_waits_for(
    row: KindOfRow,
    chosen: &BTreeMap<JobId, Kind>,
    waits_for: &dyn Fn(JobId) -> Result<Option<Vec<KindOfRow>>>,
) -> Result<Option<BTreeMap<JobId, Kind>>> {
    let mut all = BTreeMap::from([row]);
    let mut next = vec![row.0];
    while let Some(job) = next.pop() {
        let Some(others) = waits_for(job)? else { return Ok(None) };
        for (other, kind) in others {
            if !chosen.contains_key(&other) && all.insert(other, kind).is_none() {
                next.push(other);
            }
        }
    }
    Ok(Some(all))
}

/// Whether a canary is right.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Judgement {
    /// Every row is done and verified; of so many no look-up shows the record.
    Right { not_shown: usize },
    /// These rows are not as they should be.
    Wrong(Vec<CanaryRow>),
    /// These rows wait, and none is wrong.
    Waits(Vec<CanaryRow>),
}

/// Judges a canary of which nothing goes on any more.
fn judge(rows: &[CanaryRow]) -> Judgement {
    let (mut wrong, mut waiting, mut not_shown) = (Vec::new(), Vec::new(), 0);
    for row in rows {
        match (row.state, row.verification) {
            (state, CanaryVerification::Done) if state.is_success() => {}
            (state, CanaryVerification::Impossible) if state.is_success() => not_shown += 1,
            (state, _) if state.is_final() || state == JobState::Held => wrong.push(row.clone()),
            (_, _) => waiting.push(row.clone()),
        }
    }
    match (wrong.is_empty(), waiting.is_empty()) {
        (false, _) => Judgement::Wrong(wrong),
        (true, false) => Judgement::Waits(waiting),
        (true, true) => Judgement::Right { not_shown },
    }
}

/// Chooses rows of an import, or of all, that runs send and verify before all others: so many `of_each` kind, those of a canary
/// under way counted. A canary under way of another import counts for none of this one: its rows stay and are sent as well.
///
/// # Errors
/// Journal when it cannot be read or written.
pub fn choose_canary(journal: &mut Journal, of_each: NonZeroU32, import: Option<ImportId>) -> Result<()> {
    let candidates = journal.canary_candidates(of_each.get().into(), import)?;
    let under_way: Vec<KindOfRow> = journal
        .canary_rows()?
        .into_iter()
        .filter(|row| import.is_none_or(|import| row.import == import))
        .map(|row| (row.job, row.kind))
        .collect();
    let chosen = choose(of_each, &candidates, &under_way, &|job| journal.waits_for_rows(job))?;
    keep(journal, &chosen)
}

fn keep(journal: &mut Journal, rows: &BTreeMap<JobId, Kind>) -> Result<()> {
    journal.queue().open_canary(&rows.keys().copied().collect::<Vec<_>>())
}

/// How far the canary of a run is.
#[derive(Debug, Clone)]
enum Stage {
    /// All rows are sent.
    Closed,
    /// Its rows are sent and verified.
    UnderWay,
    /// The journal has been asked how its rows stand.
    Asked,
    /// The run ends with it, like this.
    Ended(Ending),
}

/// The canary of a run.
#[derive(Debug, Clone)]
pub(super) struct Canary {
    stage: Stage,
}

impl Canary {
    /// The rows that the journal keeps, with those that they wait for: a row that was corrected since may wait for others. Says
    /// what is sent first, in words.
    pub(super) fn open(journal: &mut Journal) -> Result<(Self, Option<String>)> {
        let mut rows = BTreeMap::new();
        for row in journal.canary()? {
            let with = with_all_it_waits_for(row, &rows, &|job| journal.waits_for_rows(job))?;
            rows.extend(with.unwrap_or_else(|| BTreeMap::from([row])));
        }
        if rows.is_empty() {
            journal.queue().close_canary()?;
            return Ok((Self { stage: Stage::Closed }, None));
        }
        keep(journal, &rows)?;
        let text = format!("canary: {} sent and verified before all other rows", words(&rows));
        Ok((Self { stage: Stage::UnderWay }, Some(text)))
    }

    /// Whether only its rows are sent.
    pub(super) const fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Closed)
    }

    /// Nothing goes on any more: asks how its rows stand, or says how the run ends.
    pub(super) fn at_rest(&mut self) -> (Option<Ending>, Vec<RunAction>) {
        match &self.stage {
            Stage::UnderWay => {
                self.stage = Stage::Asked;
                (None, vec![RunAction::AskJournal(Inquiry::Canary)])
            }
            Stage::Ended(ending) => (Some(ending.clone()), Vec::new()),
            Stage::Asked | Stage::Closed => (None, Vec::new()),
        }
    }

    /// The journal has said how its rows stand, and how many `others` there are to be sent; `otherwise` is how the run ends
    /// where rows only wait.
    pub(super) fn on_rows(
        &mut self,
        rows: &[CanaryRow],
        others: u64,
        otherwise: Option<Ending>,
    ) -> Vec<RunAction> {
        let of = rows.len() as u64;
        let wrong = match (judge(rows), otherwise) {
            (Judgement::Right { .. }, _) if of == 0 => return self.close_silently(),
            (Judgement::Right { not_shown }, _) => return self.close(of, not_shown),
            // There is nothing to be kept from: the rows speak for themselves.
            (Judgement::Wrong(_) | Judgement::Waits(_), _) if others == 0 => return self.close_silently(),
            (Judgement::Waits(_), Some(ending)) => {
                self.stage = Stage::Ended(ending);
                return Vec::new();
            }
            (Judgement::Wrong(rows) | Judgement::Waits(rows), _) => rows,
        };
        self.stage = Stage::Ended(Ending::CanaryWrong { rows: wrong, of });
        Vec::new()
    }

    fn close(&mut self, rows: u64, not_shown: usize) -> Vec<RunAction> {
        let shown = match not_shown {
            0 => String::new(),
            some => {
                format!("; no look-up shows {}", counted(some as u64, "of its records", "of its records"))
            }
        };
        let are = counted(rows, "row is", "rows are");
        let text = format!("canary: {are} done and verified{shown}; the other rows follow");
        let mut actions = self.close_silently();
        actions.push(RunAction::Tell(Event::Note { text }));
        actions
    }

    fn close_silently(&mut self) -> Vec<RunAction> {
        self.stage = Stage::Closed;
        vec![RunAction::AskJournal(Inquiry::CloseCanary)]
    }
}

/// How many rows of each kind, in words.
fn words(rows: &BTreeMap<JobId, Kind>) -> String {
    let of = |kind: Kind| rows.values().filter(|row| **row == kind).count() as u64;
    let parts: Vec<String> = Kind::ALL
        .into_iter()
        .filter(|&kind| of(kind) > 0)
        .map(|kind| counted(of(kind), kind.singular(), kind.plural()))
        .collect();
    let are = if rows.len() == 1 { "is" } else { "are" };
    format!("{} {are}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::ImportId;
    use crate::model::kind::Kind::{Company, Device, Site};

    /// Rows as a table: job, kind, sheet, owner, and the rows it waits for; 0 for one that cannot be sent.
    type Table = &'static [(i64, Kind, i64, &'static str, &'static [i64])];

    fn chosen(of_each: u32, under_way: &[i64], table: Table) -> Vec<i64> {
        let kind_of = |job: i64| table.iter().find(|row| row.0 == job).map_or(Company, |row| row.1);
        let candidates: Vec<CanaryCandidate> = table
            .iter()
            .map(|&(job, kind, sheet, owner, _)| CanaryCandidate {
                job: JobId(job),
                kind,
                sheet: SheetId(sheet),
                owner: owner.to_owned(),
            })
            .collect();
        let waits_for = |job: JobId| {
            let others = table.iter().find(|row| row.0 == job.0).map_or(&[][..], |row| row.4);
            Ok((!others.contains(&0))
                .then(|| others.iter().map(|&other| (JobId(other), kind_of(other))).collect()))
        };
        let under_way: Vec<KindOfRow> = under_way.iter().map(|&job| (JobId(job), kind_of(job))).collect();
        let of_each = NonZeroU32::new(of_each).unwrap();
        choose(of_each, &candidates, &under_way, &waits_for).unwrap().keys().map(|job| job.0).collect()
    }

    /// Two chains of companies, with sites and devices; company 3 is below 2, 2 below 1; 4 stands alone.
    const TREE: Table = &[
        (1, Company, 1, "", &[]),
        (2, Company, 1, "1", &[1]),
        (3, Company, 1, "2", &[2]),
        (4, Company, 1, "", &[]),
        (11, Site, 2, "3", &[3]),
        (12, Site, 2, "4", &[4]),
        (21, Device, 3, "3", &[3, 11]),
        (22, Device, 3, "3", &[3]),
        (23, Device, 3, "4", &[4]),
        (24, Device, 4, "4", &[4]),
    ];

    #[test]
    fn rows_of_each_kind_come_from_different_owners_and_sheets_with_all_they_wait_for() {
        let table: &[(u32, Table, &[i64])] = &[
            // The device that needs the fewest others, and the site in the same company.
            (1, TREE, &[4, 12, 23]),
            // Devices of two companies, and the sites in them. The companies above come along.
            (2, TREE, &[1, 2, 3, 4, 11, 12, 22, 23]),
            // As many as there are.
            (9, TREE, &[1, 2, 3, 4, 11, 12, 21, 22, 23, 24]),
            (1, &[], &[]),
            // A row of another company before a second one of the same.
            (2, &[(1, Site, 1, "a", &[]), (2, Site, 1, "a", &[]), (3, Site, 1, "b", &[])], &[1, 3]),
            // Of the same company, one of another sheet.
            (2, &[(1, Site, 1, "a", &[]), (2, Site, 1, "a", &[]), (3, Site, 2, "a", &[])], &[1, 3]),
            // A row below one that cannot be sent is no row to choose.
            (1, &[(1, Site, 1, "a", &[0]), (2, Site, 1, "a", &[1]), (3, Site, 1, "a", &[])], &[3]),
            (1, &[(1, Site, 1, "a", &[0])], &[]),
        ];
        for (of_each, rows, expected) in table {
            assert_eq!(chosen(*of_each, &[], rows), *expected, "{of_each} of {rows:?}");
        }
    }

    #[test]
    fn rows_of_a_canary_that_is_under_way_are_counted() {
        assert_eq!(chosen(1, &[3, 21], TREE), [3, 11, 21]);
        // What is done is in no table of rows to be sent.
        assert_eq!(chosen(1, &[101, 102], &[(1, Company, 1, "", &[])]), [101, 102]);
    }

    fn row(state: JobState, verification: CanaryVerification) -> CanaryRow {
        CanaryRow {
            job: JobId(1),
            kind: Site,
            name: "harbour".to_owned(),
            place: "sites.csv!sites!2".to_owned(),
            import: ImportId(1),
            state,
            code: None,
            message: None,
            verification,
        }
    }

    #[test]
    fn a_canary_is_right_when_every_row_is_done_and_verified() {
        use CanaryVerification::{Done, Due, Impossible, Problem};
        use JobState::{Adopted, Blocked, Created, Existing, Held, Incomplete, Ready, Rejected, Skipped};
        let right = |not_shown| Judgement::Right { not_shown };
        let table: &[(JobState, CanaryVerification, Option<Judgement>)] = &[
            (Created, Done, Some(right(0))),
            (Adopted, Done, Some(right(0))),
            (Existing, Done, Some(right(0))),
            (Created, Impossible, Some(right(1))),
            (Created, Due, None),
            (Created, Problem, None),
            (Rejected, Done, None),
            (Incomplete, Done, None),
            (Skipped, Done, None),
            (Held, Done, None),
        ];
        for (state, verification, expected) in table {
            let rows = [row(Created, Done), row(*state, *verification)];
            let expected = expected.clone().unwrap_or_else(|| Judgement::Wrong(vec![rows[1].clone()]));
            assert_eq!(judge(&rows), expected, "{state} {verification:?}");
        }
        let waiting = [row(Created, Done), row(Ready, Done), row(Blocked, Done)];
        assert_eq!(judge(&waiting), Judgement::Waits(waiting[1..].to_vec()));
        let mixed = [row(Ready, Done), row(Rejected, Done)];
        assert_eq!(judge(&mixed), Judgement::Wrong(vec![mixed[1].clone()]), "what is wrong counts first");
        assert_eq!(judge(&[]), right(0));
    }
}
