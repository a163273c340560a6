//! One row of a report: the view of the journal put into the words that every format shows.

use crate::journal::{Disposition, RowView};
use crate::model::id::ImportId;
use crate::model::state::JobState;

use super::advice;
use super::layout::{Blame, Layout};

/// The result columns, always last and in this order.
pub const RESULT_COLUMNS: [&str; 9] = [
    "result_status",
    "result_id",
    "result_code",
    "result_message",
    "result_column",
    "result_advice",
    "result_attempts",
    "result_finished_at",
    "result_source",
];

/// A row with its results in words.
#[derive(Debug)]
pub(super) struct ResultLine {
    /// What the journal has.
    pub(super) row: RowView,
    /// What became of it, or is the matter; empty when there is nothing to add to the status.
    pub(super) message: String,
    /// The columns to blame.
    pub(super) blames: Vec<Blame>,
    /// What to do next; empty when nothing is to be done.
    pub(super) advice: String,
    /// `file!sheet!row`.
    pub(super) source: String,
}

impl ResultLine {
    /// Puts a row into words.
    pub(super) fn of(layout: &Layout, import: ImportId, row: RowView) -> Self {
        let blames = layout.blame(&row);
        Self {
            message: message(&row, &blames),
            advice: advice::of(row.code.as_deref(), row.state).next(row.job, import),
            source: format!("{}!{}!{}", layout.file, layout.name, row.number),
            blames,
            row,
        }
    }

    /// The values of the result columns.
    pub(super) fn results(&self) -> [String; RESULT_COLUMNS.len()] {
        [
            self.row.state.to_string(),
            self.row.remote_id.map(|id| id.to_string()).unwrap_or_default(),
            self.row.code.clone().unwrap_or_default(),
            self.message.clone(),
            self.columns(),
            self.advice.clone(),
            self.row.attempts.to_string(),
            self.row.finished_at.map(|at| at.to_string()).unwrap_or_default(),
            self.source.clone(),
        ]
    }

    /// The columns to blame, by their headers.
    pub(super) fn columns(&self) -> String {
        let mut names: Vec<&str> = self.blames.iter().filter_map(|blame| blame.header.as_deref()).collect();
        names.dedup();
        names.join("; ")
    }
}

/// What is to be said of a row besides its status.
fn message(row: &RowView, blames: &[Blame]) -> String {
    let told = row.message.as_deref().unwrap_or_default();
    match row.state {
        JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => finished(row),
        JobState::Blocked => match &row.blocked_by {
            Some((job, place)) => format!("waits for {place}, job {job}"),
            None => told.to_owned(),
        },
        JobState::Deferred | JobState::InDoubt => {
            let words = if told.is_empty() { advice::of(row.code.as_deref(), row.state).words } else { told };
            match row.due {
                Some(due) => format!("{words}; next at {due}"),
                None => words.to_owned(),
            }
        }
        JobState::Rejected => rejected(row, told, blames),
        JobState::Held => held(row, told),
        JobState::Ready | JobState::Sending | JobState::Skipped | JobState::Cancelled => told.to_owned(),
    }
}

/// The words about a row that got what it asked for.
fn finished(row: &RowView) -> String {
    let done = match row.state {
        JobState::Created => "created",
        JobState::Adopted => "created and found again after a lost answer",
        JobState::Existing => "found in the service",
        _ => "carried out",
    };
    match row.disposition {
        Disposition::ChangedSince => {
            format!(
                "this row differs from what was {done} earlier; the record was left as it is and nothing was sent"
            )
        }
        Disposition::Recognised => {
            format!("{done} by an earlier import with the same values; nothing was sent")
        }
        Disposition::New | Disposition::Revised => match row.state {
            JobState::Adopted => {
                "the answer to its creation was lost; the record was found and is this row's".to_owned()
            }
            JobState::Existing => "was in the service before anything was sent".to_owned(),
            _ => String::new(),
        },
    }
}

/// The words about a refusal: what was refused, the service's message, and its words about each field.
fn rejected(row: &RowView, told: &str, blames: &[Blame]) -> String {
    let mut parts = Vec::new();
    if row.remote_id.is_some() && !row.operation.creates() {
        parts.push(format!("the record is there, but {} was refused", row.operation));
    }
    let of_fields: Vec<String> = blames
        .iter()
        .filter(|blame| !blame.words.is_empty())
        .map(|blame| format!("{}: {}", blame.name(), blame.words))
        .collect();
    // A single violation is often the message itself.
    if !told.is_empty() && !blames.iter().any(|blame| blame.words == told) {
        parts.push(told.to_owned());
    }
    parts.extend(of_fields);
    parts.join("; ")
}

/// The words about a row that a person decides: why, and which records it may be.
fn held(row: &RowView, told: &str) -> String {
    let mut words = told.to_owned();
    for candidate in &row.candidates {
        let name = candidate.name.as_deref().unwrap_or("a record without a name");
        words.push_str(&format!("; it may be '{name}'"));
        if let Some(id) = candidate.id {
            words.push_str(&format!(" ({id})"));
        }
        for more in [&candidate.details, &candidate.difference] {
            if !more.is_empty() {
                words.push_str(", ");
                words.push_str(more);
            }
        }
    }
    words
}
