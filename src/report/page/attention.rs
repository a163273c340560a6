//! The rows that a person looks at, gathered while the reports are written: bounded, with samples of every code.
//!
//! Each sort of row has a share of its own, so that ten thousand refusals do not hide the one row that a person decides;
//! what does not fit is counted, and is in `results.xlsx`.

use std::collections::{BTreeMap, BTreeSet};

use crate::command::Piece;
use crate::look::{count, counted, shown};
use crate::model::state::JobState;
use crate::report::advice;
use crate::report::layout::Layout;
use crate::report::line::ResultLine;

use super::badge::{Badge, Tone, tone};

/// Rows shown that a person decides or looks into, that were refused, and that only follow from others.
const DECIDED: usize = 2_000;
const REFUSED: usize = 2_000;
const FOLLOWERS: usize = 1_000;

/// Codes that samples are kept of, and samples of each.
const CODES: usize = 100;
const SAMPLES: usize = 3;

/// Letters of a text of somebody else's that are shown; a cell may hold a book.
const LETTERS: usize = 600;

/// Rows that need attention.
#[derive(Default)]
pub(super) struct Attention {
    pub(super) rows: Vec<Row>,
    /// How many there are, those included that are not shown.
    pub(super) total: u64,
    /// How many of them are of each sort.
    sorts: [usize; 3],
    samples: BTreeMap<String, Vec<Sample>>,
}

/// A row of the table.
pub(super) struct Row {
    /// `file!sheet!cell`, or the row where no cell is to blame.
    pub(super) place: String,
    pub(super) sheet: String,
    /// What the row is known by.
    pub(super) name: String,
    pub(super) key: String,
    pub(super) job: String,
    pub(super) badge: Badge,
    pub(super) code: String,
    /// What the code means.
    pub(super) meaning: &'static str,
    /// What happened, in the words of the service or of ours.
    pub(super) message: String,
    pub(super) what_next: Vec<Piece>,
    /// Whether it is the first row of its code: where the cause leads to without the script.
    pub(super) first: bool,
}

/// A row as a sample of its cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) place: String,
    pub(super) name: String,
    /// The value of the cell that is to blame; empty where none is.
    pub(super) value: String,
}

impl Attention {
    /// Takes in a row, if it needs attention.
    pub(super) fn line(&mut self, layout: &Layout, line: &ResultLine) {
        let code = line.row.code.as_deref().unwrap_or_default();
        let differs = line.row.differs() && line.row.answered_by.is_none();
        if !needs_attention(line.row.state) && !advice::is_finding(code) && !differs {
            return;
        }
        self.total += 1;
        let blamed = line.blames.iter().find_map(|blame| blame.positions.first().copied());
        let place = place(layout, line, blamed);
        let name = layout.cell(&line.row, "name").or_else(|| layout.cell(&line.row, "username"));
        let name = readable(name.unwrap_or_default());
        let first = !code.is_empty() && self.sample(layout, line, (code, blamed), &place, &name);
        let (sort, most) = sort(line.row.state);
        if self.sorts[sort] >= most {
            return;
        }
        self.sorts[sort] += 1;
        self.rows.push(Row {
            place,
            sheet: shown(&layout.name),
            name,
            key: readable(layout.cell(&line.row, "key").unwrap_or_default()),
            job: line.row.job.map(|job| job.to_string()).unwrap_or_default(),
            badge: Badge::of(line.row.state),
            code: shown(code),
            meaning: advice::words(code).unwrap_or_default(),
            message: readable(&line.message),
            what_next: fit(&line.advice),
            first,
        });
    }

    /// Keeps a row as a sample of its code; whether it is the first.
    fn sample(
        &mut self,
        layout: &Layout,
        line: &ResultLine,
        (code, blamed): (&str, Option<usize>),
        place: &str,
        name: &str,
    ) -> bool {
        let full = self.samples.len() >= CODES;
        if full && !self.samples.contains_key(code) {
            return false;
        }
        let samples = self.samples.entry(code.to_owned()).or_default();
        if samples.len() < SAMPLES {
            let value = blamed.and_then(|position| layout.cells(&line.row).nth(position)).unwrap_or_default();
            samples.push(Sample { place: place.to_owned(), name: name.to_owned(), value: readable(&value) });
        }
        samples.len() == 1
    }

    /// Samples of a code.
    pub(super) fn samples(&self, code: &str) -> &[Sample] {
        self.samples.get(code).map_or(&[], Vec::as_slice)
    }

    /// What is left out, as a sentence.
    pub(super) fn left_out(&self) -> Option<String> {
        let shown = u64::try_from(self.rows.len()).unwrap_or(u64::MAX);
        let hidden = self.total.saturating_sub(shown);
        (hidden > 0).then(|| {
            format!(
                "Shown are {} of {}; all of them are in results.xlsx beside this page.",
                count(shown),
                counted(self.total, "row", "rows")
            )
        })
    }

    /// What the rows can be filtered by: states, codes, sheets.
    pub(super) fn choices(&self) -> (BTreeSet<&'static str>, BTreeSet<&str>, BTreeSet<&str>) {
        let states = self.rows.iter().map(|row| row.badge.word).collect();
        let codes = self.rows.iter().map(|row| row.code.as_str()).filter(|code| !code.is_empty()).collect();
        let sheets = self.rows.iter().map(|row| row.sheet.as_str()).collect();
        (states, codes, sheets)
    }
}

/// `file!sheet!cell` of the cell to blame, else `file!sheet!row`.
fn place(layout: &Layout, line: &ResultLine, blamed: Option<usize>) -> String {
    let cell = match blamed {
        Some(position) => layout.address(position, line.row.number),
        None => line.row.number.to_string(),
    };
    shown(&format!("{}!{}!{cell}", layout.file, layout.name))
}

/// Whether a person looks at rows in this state.
fn needs_attention(state: JobState) -> bool {
    match state {
        JobState::Rejected
        | JobState::Incomplete
        | JobState::Skipped
        | JobState::Held
        | JobState::InDoubt => true,
        JobState::Blocked
        | JobState::Ready
        | JobState::Deferred
        | JobState::Sending
        | JobState::Created
        | JobState::Adopted
        | JobState::Existing
        | JobState::Done
        | JobState::Cancelled => false,
    }
}

/// The sort of a row, and how many of it are shown.
fn sort(state: JobState) -> (usize, usize) {
    match tone(state) {
        Tone::Failed => (1, REFUSED),
        Tone::Aside => (2, FOLLOWERS),
        // What reading back found is about rows that are done.
        Tone::Person | Tone::Waiting | Tone::Done => (0, DECIDED),
    }
}

/// Advice, fit to be shown: a path may hold anything.
pub(super) fn fit(advice: &[Piece]) -> Vec<Piece> {
    let fit = |piece: &Piece| match piece {
        Piece::Words(words) => Piece::Words(shown(words)),
        Piece::Command(command) => Piece::Command(shown(command)),
    };
    advice.iter().map(fit).collect()
}

/// A text of somebody else's, fit to be shown and not longer than can be read.
pub(super) fn readable(text: &str) -> String {
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}\u{2026}", shown(&text[..end])),
        None => shown(text),
    }
}
