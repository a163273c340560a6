//! Why rows failed: what each cause means, how often, what to do, and which rows only follow from it.

use crate::advice::Advice;
use crate::journal::Cause;
use crate::model::amount::{capitalised, counted};
use crate::model::reason::Reason;
use crate::report::figures::Figures;
use crate::report::page_assets::shown;
use crate::status::row_advice::{self, Advisor};

use super::attention::{fit, readable};

/// Causes shown; all of them are in `summary.json`.
const CAUSES: usize = 50;
/// Messages shown of a cause; more of them are in `summary.json`.
const SAID: usize = 5;

/// The causes of an import.
pub(super) struct Causes {
    /// Those to act on, the most frequent first, then consequences that belong to none of them.
    pub(super) shown: Vec<CauseView>,
    /// How many are not shown, as a sentence.
    pub(super) more: Option<String>,
}

/// A cause.
pub(super) struct CauseView {
    pub(super) code: String,
    pub(super) meaning: String,
    /// What was said, the most frequent first; empty when it is what the code means.
    pub(super) said: Vec<SaidView>,
    /// What was said besides; empty when that is all.
    pub(super) unsaid: String,
    pub(super) rows: String,
    pub(super) what_next: Advice,
    /// The rows that were skipped because of its rows, in words; empty where there are none.
    pub(super) consequences: String,
    /// The code as an address has it.
    pub(super) link: String,
}

/// A message, and of how many rows it was said.
pub(super) struct SaidView {
    pub(super) words: String,
    pub(super) rows: String,
}

impl Causes {
    pub(super) fn of(figures: &Figures<'_>, advisor: &Advisor<'_>) -> Self {
        let folded: u64 = figures.causes.iter().map(|cause| cause.consequences).sum();
        // Each skipped row is shown with the cause that it follows from, where that is one of these.
        let is_folded =
            |cause: &&Cause| cause.code == Reason::ParentRejected.as_str() && cause.count <= folded;
        let causes: Vec<&Cause> = figures.causes.iter().filter(|cause| !is_folded(cause)).collect();
        let more = causes.len().saturating_sub(CAUSES) as u64;
        Self {
            shown: causes.iter().take(CAUSES).map(|cause| CauseView::of(cause, figures, advisor)).collect(),
            more: (more > 0)
                .then(|| format!("and {}, in summary.json", counted(more, "more cause", "more causes"))),
        }
    }
}

impl CauseView {
    fn of(cause: &Cause, figures: &Figures<'_>, advisor: &Advisor<'_>) -> Self {
        let meaning = row_advice::words(&cause.code).unwrap_or_default();
        Self {
            code: shown(&cause.code),
            meaning: capitalised(if meaning.is_empty() { &cause.code } else { meaning }),
            said: said(cause, meaning),
            unsaid: unsaid(cause),
            rows: counted(cause.count, "row", "rows"),
            what_next: fit(&advisor.of_cause(cause.into(), figures.info.import)),
            consequences: consequences(cause),
            link: url::form_urlencoded::byte_serialize(shown(&cause.code).as_bytes()).collect(),
        }
    }
}

fn consequences(cause: &Cause) -> String {
    let them = if cause.count == 1 { "it" } else { "them" };
    match cause.consequences {
        0 => String::new(),
        1 => format!("1 row that depends on {them} was skipped. There is nothing to correct in it."),
        rows => format!(
            "{} that depend on {them} were skipped. There is nothing to correct in those.",
            counted(rows, "row", "rows")
        ),
    }
}

/// What was said of the rows with a cause, as far as it says more than its code.
fn said(cause: &Cause, meaning: &str) -> Vec<SaidView> {
    if cause.is_consequence() {
        return Vec::new();
    }
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
        _ if cause.is_consequence() => String::new(),
        more => format!("and {}, in the rows below", counted(more, "other message", "other messages")),
    }
}
