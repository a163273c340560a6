//! Pace over time: what was going on, in a bounded number of columns, with the pauses cut short.
//!
//! An import that takes days is at work for minutes of each: drawn to scale it would be a few lines in an empty chart.
//! So time without any request is one narrow column that says how long it was.

use std::time::Duration;

use crate::journal::{Activity, Span};
use crate::model::amount::{count, counted, span};
use crate::model::time::Moment;
use crate::report::page_assets::{When, stamp};

/// Height of the columns in pixels.
const HEIGHT: u64 = 120;

/// Columns that there is room for at least: one or two of a short import are no wall of colour.
const ROOM: i64 = 12;

/// Stretches of work in the table.
const STRETCHES: usize = 60;

/// How far apart two labels are at least, in percent, on a wide screen and on a narrow one.
const APART: (f64, f64) = (12.0, 30.0);

/// The charts of an import.
pub(super) struct ActivityCharts {
    /// How long a column is, in words.
    pub(super) every: String,
    pub(super) finished: Chart,
    pub(super) requests: Chart,
    pub(super) pauses: Vec<Pause>,
    pub(super) labels: Vec<ChartLabel>,
    pub(super) stretches: Vec<Stretch>,
    /// Stretches that are left out of the table.
    pub(super) more: u64,
}

/// One chart.
pub(super) struct Chart {
    /// What its height means, in words and as a number.
    pub(super) top: String,
    high: u64,
    pub(super) columns: Vec<ChartColumn>,
    /// What the colours of its columns mean; empty where one needs no words.
    pub(super) key: Vec<(&'static str, &'static str)>,
    /// The same in words.
    pub(super) words: String,
}

/// What the columns of finished rows, and of requests, are made of: the class, its words, and how many there are.
type Shares = [(&'static str, &'static str, fn(&Span) -> u64); 3];
const FINISHED: Shares = [
    ("fill-done", "done", |span| span.done),
    ("fill-failed", "failed", |span| span.failed),
    ("fill-aside", "skipped or cancelled", |span| span.skipped),
];
const REQUESTS: Shares = [
    ("fill-waiting", "confirmed", |span| span.answered),
    ("fill-failed", "refused, nothing carried out", |span| span.refused),
    ("fill-person", "outcome unknown", |span| span.unanswered),
];

/// A column of a chart: places across in percent, upright in pixels.
pub(super) struct ChartColumn {
    pub(super) x: String,
    pub(super) width: String,
    pub(super) parts: Vec<Part>,
    pub(super) words: String,
}

/// A part of a column.
pub(super) struct Part {
    pub(super) class: &'static str,
    pub(super) y: u64,
    pub(super) height: u64,
}

/// Time in which nothing was going on.
pub(super) struct Pause {
    pub(super) x: String,
    pub(super) width: String,
    pub(super) words: String,
}

/// A moment named below the charts.
pub(super) struct ChartLabel {
    pub(super) x: String,
    pub(super) text: String,
    pub(super) anchor: &'static str,
    /// Left out on a narrow screen.
    pub(super) wide_only: bool,
}

/// A stretch of work without a pause, for the table.
pub(super) struct Stretch {
    pub(super) from: When,
    pub(super) to: When,
    pub(super) finished: String,
    pub(super) requests: String,
    pub(super) refused: String,
    pub(super) unanswered: String,
    pub(super) length: String,
}

impl ActivityCharts {
    /// The charts; `None` when nothing was going on.
    pub(super) fn of(activity: &Activity) -> Option<Self> {
        if activity.spans.is_empty() {
            return None;
        }
        let (width, sessions) = fitting(activity);
        Some(drawn(width, &sessions))
    }
}

impl ActivityCharts {
    /// The charts with their titles.
    pub(super) fn charts(&self) -> [(&'static str, &Chart); 2] {
        [("Rows finished", &self.finished), ("Requests", &self.requests)]
    }
}

fn length(millis: i64) -> String {
    span(Duration::from_millis(u64::try_from(millis).unwrap_or_default()))
}

/// All columns in their places.
fn drawn(width: i64, sessions: &[WorkSession]) -> ActivityCharts {
    #[expect(clippy::cast_precision_loss, reason = "a place of at most some hundred columns")]
    let percent = |columns: i64| columns as f64 / across(sessions).max(ROOM) as f64 * 100.0;
    let every = length(width);
    let mut pace = ActivityCharts {
        finished: Chart::new(("row finished", "rows finished"), &FINISHED, sessions, &every),
        requests: Chart::new(("request", "requests"), &REQUESTS, sessions, &every),
        every,
        pauses: Vec::new(),
        labels: Vec::new(),
        stretches: sessions.iter().take(STRETCHES).map(|session| stretch(session, width)).collect(),
        more: u64::try_from(sessions.len().saturating_sub(STRETCHES)).unwrap_or(u64::MAX),
    };
    let mut place = 0;
    let mut labels = Labels { seconds: width < 60_000, last: (f64::MIN, f64::MIN), day: None };
    for (at, session) in sessions.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).and_then(|before| sessions.get(before)) {
            let silent = session.from.saturating_sub(end(before, width));
            pace.pauses.push(Pause {
                x: format!("{:.3}", percent(place)),
                width: format!("{:.3}", percent(PAUSE)),
                words: format!("nothing sent for {}", length(silent)),
            });
            place += PAUSE;
        }
        pace.labels.extend(labels.next(percent(place), Moment::from_millis(session.from)));
        for column in &session.columns {
            let (x, wide) = (format!("{:.3}", percent(place)), format!("{:.3}", percent(1)));
            pace.finished.add(&FINISHED, column, (&x, &wide));
            pace.requests.add(&REQUESTS, column, (&x, &wide));
            place += 1;
        }
    }
    if let Some(session) = sessions.last().filter(|_| across(sessions) >= ROOM) {
        pace.labels.extend(labels.end(Moment::from_millis(end(session, width))));
    }
    pace
}

impl Chart {
    /// A chart without its columns, in which the highest of them will fit.
    fn new((one, several): (&str, &str), shares: &Shares, sessions: &[WorkSession], every: &str) -> Self {
        let columns = || sessions.iter().flat_map(|session| &session.columns);
        let all: u64 = columns().map(|column| sum(shares, column)).sum();
        let most = columns().map(|column| sum(shares, column)).max().unwrap_or_default();
        let key: Vec<_> = shares
            .iter()
            .filter(|(.., of)| columns().any(|column| of(column) > 0))
            .map(|(class, words, _)| (*class, *words))
            .collect();
        let is_plain = key.len() == 1 && key[0].0 == shares[0].0;
        Self {
            top: count(nice(most)),
            high: nice(most),
            columns: Vec::new(),
            key: if is_plain { Vec::new() } else { key },
            words: format!("{} in all, at most {} in {every}", counted(all, one, several), count(most)),
        }
    }

    /// Adds a column, where there is something to show.
    fn add(&mut self, shares: &Shares, column: &Span, (x, width): (&str, &str)) {
        let parts = shares.map(|(class, words, of)| (class, words, of(column)));
        if sum(shares, column) == 0 {
            return;
        }
        let words: Vec<String> = parts
            .iter()
            .filter(|(.., number)| *number > 0)
            .map(|(_, words, number)| format!("{} {words}", count(*number)))
            .collect();
        self.columns.push(ChartColumn {
            x: x.to_owned(),
            width: width.to_owned(),
            parts: stacked(&parts.map(|(class, _, number)| (class, number)), self.high),
            words: format!("{}: {}", stamp(column.at), words.join(", ")),
        });
    }
}

fn sum(shares: &Shares, column: &Span) -> u64 {
    shares.iter().map(|(.., of)| of(column)).sum()
}

fn stretch(session: &WorkSession, width: i64) -> Stretch {
    let total = |of: fn(&Span) -> u64| session.columns.iter().map(of).sum::<u64>();
    Stretch {
        from: When::of(Moment::from_millis(session.from)),
        to: When::of(Moment::from_millis(end(session, width))),
        length: length(end(session, width).saturating_sub(session.from)),
        finished: count(total(Span::finished)),
        requests: count(total(|column| sum(&REQUESTS, column))),
        refused: count(total(|column| column.refused)),
        unanswered: count(total(|column| column.unanswered)),
    }
}

/// Parts one upon the other, from the bottom; the smallest is seen.
fn stacked(shares: &[(&'static str, u64)], top: u64) -> Vec<Part> {
    let mut y = HEIGHT;
    let mut parts = Vec::new();
    for &(class, number) in shares.iter().filter(|(_, number)| *number > 0) {
        let height = (number.saturating_mul(HEIGHT) / top.max(1)).clamp(2, HEIGHT).min(y);
        y -= height;
        parts.push(Part { class, y, height });
    }
    parts
}

/// The next number that is easily read: one digit and zeros.
fn nice(number: u64) -> u64 {
    let mut unit = 1_u64;
    loop {
        for step in [1, 2, 3, 4, 5, 6, 8] {
            if unit.saturating_mul(step) >= number {
                return unit.saturating_mul(step);
            }
        }
        unit = unit.saturating_mul(10);
    }
}

/// Labels that do not run into each other.
struct Labels {
    seconds: bool,
    /// Where the last one stands on a wide screen and on a narrow one.
    last: (f64, f64),
    day: Option<i64>,
}

impl Labels {
    fn next(&mut self, x: f64, at: Moment) -> Option<ChartLabel> {
        // The end has a label of its own.
        if x - self.last.0 < APART.0 || x > 100.0 - APART.0 {
            return None;
        }
        let wide_only = x - self.last.1 < APART.1 || x > 100.0 - APART.1;
        self.last.0 = x;
        if !wide_only {
            self.last.1 = x;
        }
        Some(ChartLabel { x: format!("{x:.3}"), text: self.text(at), anchor: "start", wide_only })
    }

    fn end(&mut self, at: Moment) -> Option<ChartLabel> {
        Some(ChartLabel { x: "100".into(), text: self.text(at), anchor: "end", wide_only: false })
    }

    /// With the day where it is another one.
    fn text(&mut self, at: Moment) -> String {
        let day = at.day().number();
        let time = if self.seconds { "%H:%M:%S" } else { "%H:%M" };
        let format =
            if self.day.replace(day) == Some(day) { time.to_owned() } else { format!("%-d %b {time}") };
        at.civil().strftime(&format).to_string()
    }
}

/// Columns of a chart, those of the pauses included.
pub(super) const COLUMNS: i64 = 120;

/// Columns that a pause takes.
pub(super) const PAUSE: i64 = 3;

/// Lengths of a column in seconds.
const WIDTHS: [i64; 16] =
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400];

/// Nothing going on for so many columns, and for at least so many milliseconds, is a pause.
const PAUSE_COLUMNS: i64 = 10;
const PAUSE_MS: i64 = 60_000;

/// Work without a pause: its first column, and what was going on in each.
pub(super) struct WorkSession {
    pub(super) from: i64,
    pub(super) columns: Vec<Span>,
}

/// The shortest columns that fit, and the work in them.
pub(super) fn fitting(activity: &Activity) -> (i64, Vec<WorkSession>) {
    let mut width = activity.step_ms;
    let mut wider = WIDTHS.iter().map(|seconds| seconds * 1_000).filter(|&wide| wide > activity.step_ms);
    loop {
        let sessions = sessions(&activity.spans, width);
        if across(&sessions) <= COLUMNS {
            return (width, sessions);
        }
        width = wider.next().unwrap_or(width.saturating_mul(2));
    }
}

/// How many columns everything takes.
pub(super) fn across(sessions: &[WorkSession]) -> i64 {
    let columns: usize = sessions.iter().map(|session| session.columns.len()).sum();
    let pauses = sessions.len().saturating_sub(1);
    i64::try_from(columns)
        .unwrap_or(i64::MAX)
        .saturating_add(PAUSE.saturating_mul(i64::try_from(pauses).unwrap_or(i64::MAX)))
}

fn sessions(spans: &[Span], width: i64) -> Vec<WorkSession> {
    let pause = PAUSE_COLUMNS.saturating_mul(width).max(PAUSE_MS);
    let mut sessions: Vec<WorkSession> = Vec::new();
    let mut last = i64::MIN;
    for span in spans {
        let from = span.at.millis().div_euclid(width).saturating_mul(width);
        match sessions.last_mut().filter(|_| from.saturating_sub(last) <= pause) {
            Some(session) => {
                // A pause is at most a few columns here, so that this stays short.
                let place = usize::try_from((from - session.from) / width).unwrap_or_default();
                while session.columns.len() <= place {
                    let at = session.from + width * i64::try_from(session.columns.len()).unwrap_or_default();
                    session.columns.push(quiet(at));
                }
                add(&mut session.columns[place], span);
            }
            None => {
                let mut column = quiet(from);
                add(&mut column, span);
                sessions.push(WorkSession { from, columns: vec![column] });
            }
        }
        last = from;
    }
    sessions
}

fn quiet(at: i64) -> Span {
    Span::quiet(Moment::from_millis(at))
}

fn add(column: &mut Span, span: &Span) {
    column.answered += span.answered;
    column.refused += span.refused;
    column.unanswered += span.unanswered;
    column.done += span.done;
    column.failed += span.failed;
    column.skipped += span.skipped;
}

/// When a stretch of work ends, in milliseconds.
pub(super) fn end(session: &WorkSession, width: i64) -> i64 {
    session
        .from
        .saturating_add(width.saturating_mul(i64::try_from(session.columns.len()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(step_ms: i64, at: impl IntoIterator<Item = i64>) -> Activity {
        let span = |at| {
            let quiet = Span::quiet(Moment::from_millis(at));
            Span { answered: 10, refused: 1, done: 6, failed: 2, skipped: 1, ..quiet }
        };
        Activity { step_ms, spans: at.into_iter().map(span).collect() }
    }

    #[test]
    fn nights_are_cut_short_and_nothing_is_lost() {
        // Twenty minutes of each of three days, in spans of ten seconds.
        let days = (0..3).flat_map(|day| (0..120).map(move |ten| day * 86_400_000 + ten * 10_000));
        let pace = ActivityCharts::of(&activity(10_000, days)).unwrap();
        assert_eq!((pace.stretches.len(), pace.pauses.len(), pace.every.as_str()), (3, 2, "1 min"));
        assert_eq!(pace.pauses[0].words, "nothing sent for 23 h 40 min");
        assert!(pace.requests.words.starts_with("3,960 requests in all"), "{}", pace.requests.words);
        assert!(pace.stretches.iter().all(|stretch| stretch.finished == "1,080"));
        let classes =
            |chart: &Chart| chart.columns[0].parts.iter().map(|part| part.class).collect::<Vec<_>>();
        assert_eq!(
            classes(&pace.finished),
            ["fill-done", "fill-failed", "fill-aside"],
            "only what is done is green"
        );
        assert_eq!(
            pace.finished.columns[0].words,
            "1970-01-01 00:00:00 UTC: 36 done, 12 failed, 6 skipped or cancelled"
        );
        let words = |chart: &Chart| chart.key.iter().map(|(_, words)| *words).collect::<Vec<_>>();
        assert_eq!(words(&pace.requests), ["confirmed", "refused, nothing carried out"]);
    }

    #[test]
    fn however_scattered_the_columns_are_bounded_and_stay_inside() {
        let table: [(&str, Vec<i64>); 5] = [
            ("one", vec![0]),
            ("a second apart", (0..1_000).map(|at| at * 1_000).collect()),
            ("an hour apart", (0..5_000).map(|at| at * 3_600_000).collect()),
            ("far apart", (0..3_000).map(|at| at * 30 * 86_400_000).collect()),
            ("before 1970", vec![-86_400_000, 0]),
        ];
        for (name, at) in table {
            let pace = ActivityCharts::of(&activity(1_000, at)).unwrap();
            assert!(i64::try_from(pace.requests.columns.len()).unwrap() <= COLUMNS, "{name}");
            for column in &pace.requests.columns {
                let edge = column.x.parse::<f64>().unwrap() + column.width.parse::<f64>().unwrap();
                assert!(edge < 100.01, "{name}: {edge}");
                assert!(column.parts.iter().all(|part| part.y + part.height <= HEIGHT), "{name}");
            }
        }
        assert!(ActivityCharts::of(&Activity::default()).is_none());
    }

    #[test]
    fn a_column_of_a_short_import_is_no_wider_than_one_of_a_dozen() {
        for (columns, width, labels) in [(1, "8.333", 1), (2, "8.333", 1), (12, "8.333", 2), (20, "5.000", 2)]
        {
            let pace = ActivityCharts::of(&activity(1_000, (0..columns).map(|at| at * 1_000))).unwrap();
            assert_eq!(
                (pace.requests.columns[0].width.as_str(), pace.labels.len()),
                (width, labels),
                "{columns}"
            );
        }
    }

    #[test]
    fn the_top_of_a_chart_is_round() {
        for (number, expected) in [(0, 1), (1, 1), (7, 8), (11, 20), (328, 400), (980, 1_000)] {
            assert_eq!(nice(number), expected);
        }
    }
}
