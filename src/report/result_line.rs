//! One row of a report: the view of the journal put into the words that every format shows.

use crate::advice::Advice;
use crate::error::Result;
use crate::journal::{Candidate, Difference, Disposition, DoneStep, ImportInfo, ReplacedBy, RowView};
use crate::model::action::before::Before;
use crate::model::descriptor::ActionDescriptor;
use crate::model::id::ImportId;
use crate::model::state::JobState;

use super::cell_change::{CellChange, Suggestions};
use super::layout::{Blame, Layout, RESULT_COLUMNS, must_be_corrected};
use crate::status::before_words;
use crate::status::row_advice::{self, Advisor};
use crate::status::row_words;

/// A row with its results in words.
#[derive(Debug)]
pub(super) struct ResultLine {
    /// What the journal has.
    pub(super) row: RowView,
    /// What became of it, or is the matter; empty when there is nothing to add to the status.
    pub(super) message: String,
    /// The columns to blame.
    pub(super) blames: Vec<Blame>,
    /// What to do next, without what to change; empty when nothing is to be done.
    pub(super) advice: Advice,
    /// What to change in the row, where one cell is to blame.
    pub(super) change: Option<CellChange>,
    /// `file!sheet!row`.
    pub(super) source: String,
}

impl ResultLine {
    /// Puts a row into words.
    pub(super) fn of(
        layout: &Layout,
        import: &ImportInfo,
        (advisor, suggestions): (&Advisor<'_>, &Suggestions<'_>),
        row: RowView,
    ) -> Result<Self> {
        let blames = layout.blame(&row);
        // A row that the import recognised while it was unfinished is sent by it anyway.
        let settled_before = row.disposition == Disposition::Recognised && row.was_finished;
        let advice = match (row.answered_by, row.job) {
            (Some(by), _) => row_advice::of_answered(by),
            (None, Some(_)) if row.is_unsent() => row_advice::of_unsent(1),
            (None, Some(job)) if row.state.is_failed() => {
                let is_blamed = blames.iter().any(|blame| blame.header.is_some());
                let why = (row.code.as_deref(), row.state);
                row_advice::of_rejected(why, is_blamed, (job, import.import))
            }
            (None, Some(_)) if let Some(paused) = row.paused_by => row_advice::of_paused(paused),
            (None, Some(_)) if let Some(paused) = row.waits_for_paused => {
                row_advice::of_waiting_for_paused(paused)
            }
            (None, Some(_)) if row.differs() && !row.kind.is_record() => row_advice::of_differing_change(),
            (None, Some(job)) => match row.operation.filter(|operation| !operation.creates()) {
                Some(operation) if row.state == JobState::Held => {
                    row_advice::of_held_change(row.kind, operation, job)
                }
                Some(_) | None => row_advice::of(row.code.as_deref(), row.state).next(job, import.import),
            },
            (None, None) if row.state == JobState::Cancelled => {
                row_advice::of(row.code.as_deref(), row.state).next_for_all(import.import)
            }
            (None, None) => row_advice::of_left_out(row.state),
        };
        let is_to_correct = must_be_corrected(&row);
        let change = match is_to_correct && row.job.is_some() && !row.is_unsent() {
            true => suggestions.change(layout, &row, &blames)?,
            false => None,
        };
        let said = with_verification(message(&row, &blames, settled_before), &row);
        let said = with_decision(said, &row);
        let said = with_values(come_again(said, &row), &row);
        Ok(Self {
            message: answered(replaced(said, &row), row.answered_by),
            advice: advisor.said(&advice, is_to_correct),
            change,
            source: format!("{}!{}!{}", layout.file, layout.name, row.number),
            blames,
            row,
        })
    }

    /// The values of the result columns.
    pub(super) fn results(&self) -> [String; RESULT_COLUMNS.len()] {
        [
            self.row.state.to_string(),
            self.row.remote_id.map(|id| id.to_string()).unwrap_or_default(),
            self.row.code.clone().unwrap_or_default(),
            self.message.clone(),
            self.columns(),
            self.advice(),
            self.row.attempts.to_string(),
            self.row.finished_at.map(|at| at.to_string()).unwrap_or_default(),
            self.source.clone(),
        ]
    }

    /// What to do next, as one text.
    pub(super) fn advice(&self) -> String {
        // What to change stays apart from the words of ours till here: a cell may hold what looks like a command.
        match &self.change {
            Some(change) => change.around(&self.advice),
            None => self.advice.to_string(),
        }
    }

    /// The columns to blame, by their headers.
    pub(super) fn columns(&self) -> String {
        let mut names: Vec<&str> = self.blames.iter().filter_map(|blame| blame.header.as_deref()).collect();
        names.dedup();
        names.join("; ")
    }
}

/// That what a row made or changed could not be verified belongs to what is said of it.
fn with_verification(message: String, row: &RowView) -> String {
    if !row.unverified {
        return message;
    }
    let words = row_words::not_verified(row.kind);
    if message.is_empty() { words } else { format!("{message}; {words}") }
}

/// A person's decision about a row belongs to what is said of it, whatever became of it since.
fn with_decision(message: String, row: &RowView) -> String {
    let Some(decided) = &row.decided else { return message };
    let words = format!("decided by {} at {}: {}", decided.who, decided.at, decided.words());
    // Who gave a row up is the message.
    if row.state == JobState::Cancelled {
        return message;
    }
    if message.is_empty() { words } else { format!("{message}; {words}") }
}

/// A row that came again with other values while its outcome was open tells in what they differ from those that were sent.
fn with_values(message: String, row: &RowView) -> String {
    if row.differences.is_empty() || row.differs() {
        return message;
    }
    let columns: Vec<String> = row.differences.iter().map(Difference::words).collect();
    let words = format!("the values of this row were not sent: {}", columns.join("; "));
    if message.is_empty() { words } else { format!("{message}; {words}") }
}

/// A row that was left out and that another import has shows the outcome of that; why it has one is reported.
fn come_again(message: String, row: &RowView) -> String {
    if row.disposition != Disposition::LeftOut || row.job.is_none() {
        return message;
    }
    let words = "not imported here because of errors; another import has the row, and this is its result";
    if message.is_empty() { words.to_owned() } else { format!("{words}: {message}") }
}

/// A row of which a later import asked for something else is reported with the result of that.
fn replaced(message: String, row: &RowView) -> String {
    let Some(ReplacedBy { import, was_sent }) = row.replaced_by else { return message };
    let words = match (row.kind.is_record(), was_sent) {
        // That a row failed and came again is told beside it.
        (true, _) if row.answered_by.is_some() => return message,
        (true, _) => format!("import {import} has other values for this row, and this is its result"),
        (false, true) => {
            let own = changed(row);
            let own = if own.is_empty() { own } else { format!("{own}; ") };
            format!(
                "{own}import {import} asked for something else after this row was sent; this is its result"
            )
        }
        (false, false) => format!(
            "import {import} asked for something else of the same record before anything was sent for this row"
        ),
    };
    // The report of that import says how it was done.
    let is_all = message.is_empty() || !was_sent && row.state.is_success();
    if is_all { words } else { format!("{words}: {message}") }
}

/// A row that did not get through and came again in a later import is reported with that.
fn answered(message: String, by: Option<ImportId>) -> String {
    let Some(by) = by else { return message };
    let words = format!("import {by} has this row again; see its result there");
    if message.is_empty() { words } else { format!("{message}; {words}") }
}

/// What is to be said of a row besides its status; `settled_before` says that the import found its job finished, with
/// the same values.
fn message(row: &RowView, blames: &[Blame], settled_before: bool) -> String {
    let told = row.message.as_deref().unwrap_or_default();
    let or_words =
        || if told.is_empty() { row_advice::of(row.code.as_deref(), row.state).words } else { told };
    match row.state {
        JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => {
            let words = finished(row, settled_before);
            match row.code.as_deref() {
                Some(code) if row_advice::is_finding(code) && words.is_empty() => told.to_owned(),
                Some(code) if row_advice::is_finding(code) => format!("{words}; {told}"),
                Some(_) | None => words,
            }
        }
        JobState::Blocked => match &row.blocked_by {
            Some((job, place)) => format!("waits for {place}, job {job}"),
            None => or_words().to_owned(),
        },
        JobState::Deferred => match row.due {
            Some(due) => format!("{}; next at {due}", or_words()),
            None => or_words().to_owned(),
        },
        JobState::InDoubt | JobState::Sending | JobState::Cancelled => or_words().to_owned(),
        JobState::Rejected | JobState::Incomplete if settled_before => {
            format!(
                "not sent again, because the row is unchanged since it was rejected: {}",
                rejected(row, told, blames)
            )
        }
        JobState::Rejected | JobState::Incomplete if row.replaced_by.is_none() => {
            carried_out_before(rejected(row, told, blames), row)
        }
        JobState::Rejected | JobState::Incomplete => rejected(row, told, blames),
        JobState::Held => held(told, &row.candidates),
        JobState::Ready | JobState::Skipped => told.to_owned(),
    }
}

/// The words about a row that got what it asked for.
fn finished(row: &RowView, settled_before: bool) -> String {
    let done = match row.state {
        JobState::Existing => "found in the service",
        JobState::Done => "carried out",
        _ => "created",
    };
    if row.differs() {
        let columns: Vec<String> = row.differences.iter().map(Difference::words).collect();
        let columns = if columns.is_empty() { String::new() } else { format!(": {}", columns.join("; ")) };
        // Of a row of which something else was still to be done, that was sent.
        let unsent = if row.disposition == Disposition::Revised { "" } else { " and nothing was sent" };
        return format!(
            "this row differs from what was imported earlier{columns}; the record was left as it is{unsent}"
        );
    }
    if settled_before {
        let found = match (row.state, &row.message) {
            // What was found need not be what the row says.
            (JobState::Existing, Some(found)) if !row.kind.is_record() => {
                format!("as an earlier import found it: {found}")
            }
            (JobState::Existing, None) if !row.kind.is_record() => {
                "there was nothing to change when an earlier import looked".to_owned()
            }
            _ => format!("{done} by an earlier import"),
        };
        return format!("{found}, and this row asks for nothing else; nothing was sent");
    }
    match row.state {
        JobState::Adopted => {
            "the outcome of its creation was unknown; the record was found and is this row's".to_owned()
        }
        JobState::Existing if row.message.is_some() => row.message.clone().unwrap_or_default(),
        JobState::Existing if !row.kind.is_record() => {
            "there was nothing to change, and nothing was sent".to_owned()
        }
        JobState::Existing => {
            let was_there = match row.unsure {
                true => "the record is there: this copy of the journal may lack the request that created it",
                false => "the record was in the service before anything was sent",
            };
            let put_more = row.attempts > 0 && row.operation.is_some_and(|operation| !operation.creates());
            let more = if put_more { ", and what else the row asks for was put" } else { "" };
            format!("{was_there}; its fields were left as they are{more}")
        }
        JobState::Done if row.replaced_by.is_none() => changed(row),
        _ => String::new(),
    }
}

/// What a row changed or removed.
fn changed(row: &RowView) -> String {
    let before = row.before.iter().map(before_words::words);
    before.filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Whether nothing was sent for a step: what is kept of it is what others have changed.
fn is_unsent(step: &DoneStep) -> bool {
    step.before.as_ref().is_some_and(Before::is_unsent)
}

/// A row that was carried out, and rejected when a person had it carried out again, tells what it changed the first time; one of
/// which a later step failed, what the steps before changed.
fn carried_out_before(message: String, row: &RowView) -> String {
    match (row.state, changed(row).as_str()) {
        (JobState::Rejected, "") if row.before.is_empty() => message,
        (JobState::Rejected, "") => format!("{message}; it had been carried out before that"),
        (JobState::Rejected, words) => format!("{message}; it had been carried out before that: {words}"),
        (JobState::Incomplete, words) if row.before.iter().all(is_unsent) && !words.is_empty() => {
            format!("{message}; {words}")
        }
        (JobState::Incomplete, words) if !words.is_empty() => {
            format!("{message}; this was carried out: {words}")
        }
        _ => message,
    }
}

/// The words about a rejection: what was rejected, the service's message, and its words about each field.
fn rejected(row: &RowView, told: &str, blames: &[Blame]) -> String {
    let mut parts = Vec::new();
    // A single violation is often the message itself.
    if !told.is_empty() && !blames.iter().any(|blame| blame.words == told) {
        parts.push(told.to_owned());
    }
    let of_fields = blames.iter().filter(|blame| !blame.words.is_empty());
    parts.extend(of_fields.map(|blame| format!("{}: {}", blame.name(), blame.words)));
    let mut words = parts.join("; ");
    if blames.iter().any(|blame| blame.is_of_other_row) {
        words = format!(
            "another row of the same request is to be corrected, and this one stays as it is: {words}"
        );
    }
    match row.operation {
        Some(operation) if row.state == JobState::Incomplete => {
            let name = row.kind.sheet().singular();
            let step = ActionDescriptor::of(operation).map_or(operation.name(), |action| action.words);
            match row.kind.is_record() {
                true => format!("the {name} was created; a later step failed, {step}: {words}"),
                false => {
                    format!(
                        "the fields of the {name} are as the row asks; a later step failed, {step}: {words}"
                    )
                }
            }
        }
        Some(_) => words,
        None => format!("not imported, nothing was sent: {words}"),
    }
}

/// The words about a row that a person decides: why, and which records it may be.
fn held(told: &str, candidates: &[Candidate]) -> String {
    let mut words = told.to_owned();
    for candidate in candidates {
        words.push_str("; it may be ");
        words.push_str(&match (&candidate.name, candidate.id) {
            (Some(name), Some(id)) => format!("'{name}' ({id})"),
            (Some(name), None) => format!("'{name}'"),
            (None, Some(id)) => format!("the record {id}"),
            (None, None) => "a record without a name".to_owned(),
        });
        for more in [&candidate.details, &candidate.difference] {
            // What tells the two apart is often why the row is held.
            if !more.is_empty() && more != told {
                words.push_str(", ");
                words.push_str(more);
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::RemoteId;

    #[test]
    fn a_record_that_may_be_the_rows_is_told_by_what_is_known_of_it_and_nothing_is_said_twice() {
        let candidate = |name: Option<&str>, id: Option<u128>, difference: &str| Candidate {
            id: id.map(RemoteId::from_u128),
            name: name.map(str::to_owned),
            details: String::new(),
            difference: difference.to_owned(),
        };
        let id = RemoteId::from_u128(7);
        for (candidate, words) in [
            (
                candidate(Some("Acme"), Some(7), "another phone"),
                format!("; it may be 'Acme' ({id}), another phone"),
            ),
            (candidate(Some("Acme"), None, ""), "; it may be 'Acme'".to_owned()),
            (candidate(None, Some(7), "the names differ"), format!("; it may be the record {id}")),
            (candidate(None, None, ""), "; it may be a record without a name".to_owned()),
        ] {
            assert_eq!(held("the names differ", &[candidate]), format!("the names differ{words}"));
        }
    }
}
