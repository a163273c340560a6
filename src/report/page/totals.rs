//! Rows by sheet and state: a bar for every kind, and the table whose sums the bars show.

use crate::look::{count, counted, shown};
use crate::model::kind::Kind;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::report::figures::Figures;

use super::badge::{Badge, Tone, tone};

/// The least share of a bar that a part is drawn with, so that one row in a million is still seen.
const LEAST: f64 = 0.4;

/// The totals of an import.
pub(super) struct Totals {
    /// The states that occur.
    pub(super) states: Vec<Badge>,
    /// The tones that occur, for the legend.
    pub(super) tones: Vec<Tone>,
    pub(super) bars: Vec<Bar>,
    pub(super) lines: Vec<Line>,
    /// The sums.
    pub(super) sum: Line,
}

/// The rows of one kind.
pub(super) struct Bar {
    pub(super) kind: &'static str,
    pub(super) rows: String,
    /// The same in words, for who cannot see it.
    pub(super) words: String,
    pub(super) parts: Vec<Part>,
}

/// A part of a bar; places and lengths are percentages.
pub(super) struct Part {
    pub(super) class: &'static str,
    pub(super) x: String,
    pub(super) width: String,
    pub(super) words: String,
}

/// A line of the table.
pub(super) struct Line {
    pub(super) sheet: String,
    pub(super) file: String,
    pub(super) kind: &'static str,
    pub(super) rows: String,
    /// One for each of the states that occur; nothing for zero.
    pub(super) counts: Vec<Option<String>>,
}

impl Totals {
    pub(super) fn of(figures: &Figures) -> Self {
        let states: Vec<JobState> =
            JobState::ALL.iter().copied().filter(|&state| figures.states.in_state(state) > 0).collect();
        let counts = |tally: &Tally| -> Vec<Option<String>> {
            states
                .iter()
                .map(|&state| Some(tally.in_state(state)).filter(|&number| number > 0).map(count))
                .collect()
        };
        let lines = figures.sheets.iter().map(|sheet| Line {
            sheet: shown(&sheet.name),
            file: shown(&sheet.file),
            kind: sheet.kind.plural(),
            rows: count(sheet.rows),
            counts: counts(&sheet.states),
        });
        Self {
            tones: Tone::ALL
                .into_iter()
                .filter(|&wanted| Kind::ALL.into_iter().any(|kind| in_tone(figures, kind, wanted) > 0))
                .collect(),
            bars: Kind::ALL.into_iter().filter_map(|kind| Bar::of(kind, figures)).collect(),
            lines: lines.collect(),
            sum: Line {
                sheet: "All sheets".into(),
                file: String::new(),
                kind: "",
                rows: count(figures.rows),
                counts: counts(&figures.states),
            },
            states: states.into_iter().map(Badge::of).collect(),
        }
    }
}

impl Totals {
    /// The cells of a line, each with its state.
    pub(super) fn cells<'a>(
        &'a self,
        line: &'a Line,
    ) -> impl Iterator<Item = (&'a Badge, &'a Option<String>)> {
        self.states.iter().zip(&line.counts)
    }
}

impl Bar {
    fn of(kind: Kind, figures: &Figures) -> Option<Self> {
        let rows = figures.states.of_kind(kind);
        if rows == 0 {
            return None;
        }
        let shares: Vec<(Tone, u64)> = Tone::ALL
            .into_iter()
            .map(|tone| (tone, in_tone(figures, kind, tone)))
            .filter(|(_, rows)| *rows > 0)
            .collect();
        let words: Vec<String> =
            shares.iter().map(|(tone, rows)| format!("{} {}", count(*rows), tone.words())).collect();
        Some(Self {
            kind: kind.plural(),
            rows: counted(rows, "row", "rows"),
            words: words.join(", "),
            parts: parts(&shares, rows),
        })
    }
}

/// Rows of a kind by what they mean. Nobody refused what was left out because of errors.
fn in_tone(figures: &Figures, kind: Kind, wanted: Tone) -> u64 {
    let sent = |state| figures.states.of(kind, state).saturating_sub(figures.left_out.of(kind, state));
    let of_tone = JobState::ALL.iter().filter(|&&state| tone(state) == wanted);
    let left_out = if wanted == Tone::Aside { figures.left_out.of_kind(kind) } else { 0 };
    of_tone.map(|&state| sent(state)).sum::<u64>() + left_out
}

/// Where the parts of a bar stand.
fn parts(shares: &[(Tone, u64)], rows: u64) -> Vec<Part> {
    #[expect(clippy::cast_precision_loss, reason = "a share of a bar, drawn to a tenth of a percent")]
    let wide = |number: u64| (number as f64 / rows as f64 * 100.0).max(LEAST);
    let all: f64 = shares.iter().map(|(_, number)| wide(*number)).sum();
    let mut x = 0.0;
    shares
        .iter()
        .map(|(tone, number)| {
            let width = wide(*number) / all * 100.0;
            let part = Part {
                class: tone.class(),
                x: format!("{x:.2}"),
                width: format!("{width:.2}"),
                words: format!("{} {}", count(*number), tone.words()),
            };
            x += width;
            part
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_bar_fill_it_and_even_one_row_in_a_million_is_seen() {
        let parts = parts(&[(Tone::Done, 999_999), (Tone::Failed, 1)], 1_000_000);
        let number = |text: &str| text.parse::<f64>().unwrap();
        assert!(number(&parts[1].width) > 0.3);
        let end = number(&parts[1].x) + number(&parts[1].width);
        assert!((end - 100.0).abs() < 0.02, "{end}");
    }
}
