//! Sessions of work with the pauses between them, in columns that fit the chart of the pace.

use crate::journal::{Activity, Span};
use crate::model::time::Moment;

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
pub(super) struct Session {
    pub(super) from: i64,
    pub(super) columns: Vec<Span>,
}

/// The shortest columns that fit, and the work in them.
pub(super) fn fitting(activity: &Activity) -> (i64, Vec<Session>) {
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
pub(super) fn across(sessions: &[Session]) -> i64 {
    let columns: usize = sessions.iter().map(|session| session.columns.len()).sum();
    let pauses = sessions.len().saturating_sub(1);
    i64::try_from(columns)
        .unwrap_or(i64::MAX)
        .saturating_add(PAUSE.saturating_mul(i64::try_from(pauses).unwrap_or(i64::MAX)))
}

fn sessions(spans: &[Span], width: i64) -> Vec<Session> {
    let pause = PAUSE_COLUMNS.saturating_mul(width).max(PAUSE_MS);
    let mut sessions: Vec<Session> = Vec::new();
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
                sessions.push(Session { from, columns: vec![column] });
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
pub(super) fn end(session: &Session, width: i64) -> i64 {
    session
        .from
        .saturating_add(width.saturating_mul(i64::try_from(session.columns.len()).unwrap_or(i64::MAX)))
}
