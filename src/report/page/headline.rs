//! The status of an import as the page and the first sheet of `results.xlsx` show it.

use std::cell::Cell;

use crate::advice::{Advice, Piece};
use crate::ending::{End, State};
use crate::error::Exit;
use crate::journal::ImportInfo;
use crate::model::amount::{capitalised, count, counted};
use crate::model::state::RowGroup;
use crate::report::figures::Figures;
use crate::report::page_assets::shown;
use crate::report::row_group::Badge;
use crate::status::row_advice::Advisor;
use crate::status::run_state::moving;
use crate::status::{Commands, ImportFacts, Status, Wording};

use super::attention::{fit, readable};
use crate::report::page_assets::{When, minute};

/// What stands at the head of the page.
pub(in crate::report) struct Headline {
    pub(in crate::report) badge: Badge,
    /// The state in one sentence, without a full stop.
    pub(in crate::report) sentence: String,
    /// What is to be said besides; empty when nothing is.
    pub(in crate::report) besides: String,
    /// How many rows are done; empty where the sentence says it, or there are no rows.
    pub(super) done: String,
    /// When a parked import may go on.
    pub(super) resumes_at: Option<When>,
    pub(in crate::report) next: Vec<HeadlineStep>,
    /// Whether there is a workbook of rows to correct.
    pub(super) has_fix: bool,
}

/// Something to do.
pub(in crate::report) struct HeadlineStep {
    /// What it is for; it names other commands that may be typed.
    pub(in crate::report) words: Advice,
    pub(in crate::report) command: String,
}

impl Headline {
    pub(in crate::report) fn of(figures: &Figures<'_>, status: &Status, advisor: &Advisor<'_>) -> Self {
        let done = figures.in_group(RowGroup::Done);
        let correction = |_: &ImportFacts| advisor.correction();
        let commands = Commands {
            again: advisor.again(),
            correction: &correction,
            unavailable: Vec::new(),
            in_report: true,
            is_watched: false,
        };
        let put = |words: &Advice, command: &str| HeadlineStep {
            words: fit(&begun_as_sentence(words).words(":")),
            command: shown(command),
        };
        let mut next: Vec<HeadlineStep> =
            status.needs(&commands).iter().map(|need| put(&need.words, &need.command)).collect();
        next.extend(status.next(&commands).into_iter().map(|step| put(&step.words.into(), &step.command)));
        let wording = Wording { until: &minute, running: None };
        Self {
            badge: badge(figures),
            sentence: readable(&capitalised(&status.sentence(&wording))),
            besides: answered(figures),
            done: match done {
                done if done == figures.rows => String::new(),
                done => {
                    let are = if done == 1 { "is" } else { "are" };
                    format!("{} of {} {are} done.", count(done), counted(figures.rows, "row", "rows"))
                }
            },
            resumes_at: figures.end.resumes_at.filter(|_| moving(&figures.states) > 0).map(When::of),
            next,
            has_fix: advisor.has_fix(),
        }
    }
}

/// With a capital at its beginning.
fn begun_as_sentence(words: &Advice) -> Advice {
    let is_first = Cell::new(true);
    words.map(|piece| match (piece, is_first.replace(false)) {
        (Piece::Words(first), true) => capitalised(first),
        (Piece::Words(text) | Piece::Command(text), _) => text.to_owned(),
    })
}

/// How the import stands, in the fewest words.
fn badge(figures: &Figures<'_>) -> Badge {
    let in_group = |group, words: &str| {
        let rows = figures.in_group(group);
        (rows > 0).then(|| (group, format!("{} {words}", counted(rows, "row", "rows"))))
    };
    let (group, words) = match figures.end.end.state() {
        State::Finished => in_group(RowGroup::Failed, "failed")
            .or_else(|| in_group(RowGroup::NotImported, "not imported"))
            .or_else(|| {
                let differing = figures.changed_since;
                (differing > 0).then(|| (RowGroup::Failed, counted(differing, "row differs", "rows differ")))
            })
            .or_else(|| in_group(RowGroup::Skipped, "skipped"))
            .or_else(|| in_group(RowGroup::Cancelled, "cancelled"))
            .unwrap_or((RowGroup::Done, "done".to_owned())),
        State::Parked | State::Waiting => (RowGroup::Waiting, "waiting".to_owned()),
        State::Stopped | State::Failed if figures.end.end.exit() == Exit::Service => {
            (RowGroup::Failed, "stopped".to_owned())
        }
        State::Stopped | State::Failed => (RowGroup::Waiting, "stopped".to_owned()),
        State::Held if figures.end.end == End::Verification => {
            (RowGroup::Held, "needs your review".to_owned())
        }
        State::Held => (RowGroup::Held, "needs your decision".to_owned()),
    };
    Badge { group, words }
}

/// Which later imports answer for rows that did not get through.
fn answered(figures: &Figures<'_>) -> String {
    let parts = figures.answered.iter().map(|(number, by)| {
        let them = if *number == 1 { "it" } else { "them" };
        let came = counted(*number, "row came", "rows came");
        format!("{came} again since: import {by} answers for {them}.")
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// What an import is called besides its number, and which round of which import it is.
pub(super) fn called(info: &ImportInfo) -> String {
    let label = info.given_label.as_ref().map_or_else(String::new, |label| format!(": {}", shown(label)));
    let round = info.round_of.map_or_else(String::new, |of| format!(", round {} of import {of}", info.round));
    format!("{label}{round}")
}

/// The files of an import: name and the beginning of its digest.
pub(super) fn files(info: &ImportInfo) -> Vec<(String, String)> {
    info.files.iter().map(|(name, sha256)| (shown(name), shown(sha256.get(..12).unwrap_or(sha256)))).collect()
}
