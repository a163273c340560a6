//! Why rows did not get through: what each cause means, how often, where, and what to do.

use crate::command::Piece;
use crate::journal::Cause;
use crate::look::{count, counted, shown};
use crate::report::advice::{self, Advisor};
use crate::report::figures::Figures;

use super::attention::{Attention, Sample, fit, readable};

/// Causes shown; all of them are in `summary.json`.
const CAUSES: usize = 50;
/// Messages shown of a cause; more of them are in `summary.json`.
const SAID: usize = 5;

/// A cause.
pub(super) struct CauseView {
    pub(super) code: String,
    pub(super) meaning: String,
    /// What was said, the most frequent first; empty when it is what the code means.
    pub(super) said: Vec<SaidView>,
    /// What was said besides; empty when that is all.
    pub(super) unsaid: String,
    pub(super) rows: String,
    /// Its length beside the most frequent cause, in percent.
    pub(super) share: String,
    pub(super) what_next: Vec<Piece>,
    pub(super) samples: Vec<Sample>,
    /// The code as it stands in an address.
    pub(super) link: String,
}

/// A message, and of how many rows it was said.
pub(super) struct SaidView {
    pub(super) words: String,
    pub(super) rows: String,
}

/// The causes of an import, the most frequent first, then those that only follow from others.
pub(super) fn of(figures: &Figures, attention: &Attention, advisor: &Advisor<'_>) -> Vec<CauseView> {
    let most = figures.causes.iter().map(|cause| cause.count).max().unwrap_or_default().max(1);
    figures
        .causes
        .iter()
        .take(CAUSES)
        .map(|cause| {
            #[expect(clippy::cast_precision_loss, reason = "a length, drawn to a hundredth of a percent")]
            let share = cause.count as f64 / most as f64 * 100.0;
            let meaning = advice::words(&cause.code).unwrap_or_default();
            CauseView {
                code: shown(&cause.code),
                meaning: sentence(meaning),
                said: said(cause, meaning),
                unsaid: unsaid(cause),
                rows: rows(cause),
                share: format!("{:.2}", share.max(0.5)),
                what_next: fit(&advisor.of_cause(&cause.code, figures.import)),
                samples: attention.samples(&cause.code).to_vec(),
                link: url::form_urlencoded::byte_serialize(shown(&cause.code).as_bytes()).collect(),
            }
        })
        .collect()
}

/// How many rows have a cause, with those that were skipped because of them.
fn rows(cause: &Cause) -> String {
    let rows = counted(cause.count, "row", "rows");
    let them = if cause.count == 1 { "it" } else { "them" };
    match cause.consequences {
        0 => rows,
        more => format!("{rows}, and {} below {them} skipped", count(more)),
    }
}

/// What was said of the rows with a cause, as far as it says more than its code.
fn said(cause: &Cause, meaning: &str) -> Vec<SaidView> {
    cause
        .said
        .iter()
        .take(SAID)
        .filter(|said| !said.message.is_empty() && said.message != meaning)
        .map(|said| SaidView { words: readable(&said.message), rows: counted(said.count, "row", "rows") })
        .collect()
}

fn unsaid(cause: &Cause) -> String {
    match cause.unsaid + cause.said.len().saturating_sub(SAID) as u64 {
        0 => String::new(),
        more => format!("and {}, in the rows below", counted(more, "other message", "other messages")),
    }
}

/// With a capital at its beginning.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
