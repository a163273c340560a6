//! What was going on and when: requests and finished rows of an import over time; and what is going on right now.
//!
//! Added up by SQLite into a bounded number of spans, so that an import of days costs no more memory than one of
//! minutes. How the spans are drawn is left to the reports.

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::{count, natural};
use crate::journal::view::every_row::rows_with_job;
use crate::model::id::ImportId;
use crate::model::time::Moment;

/// Lengths of a span in milliseconds, from a second up to a day; the shortest that keeps the spans few is taken.
const STEPS_MS: [i64; 13] = [
    1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 900_000, 3_600_000, 10_800_000,
    21_600_000, 86_400_000,
];

/// What was going on with the rows of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// How long each span is, in milliseconds.
    pub step_ms: i64,
    /// The spans in which something was going on, in order; the others are left out.
    pub spans: Vec<Span>,
}

/// What was going on in a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its beginning: a multiple of the step.
    pub at: Moment,
    /// Requests that left in it and were answered as hoped.
    pub answered: u64,
    /// Requests that left in it and were refused: nothing was carried out.
    pub refused: u64,
    /// Requests that left in it and of which no answer told what became.
    pub unanswered: u64,
    /// Jobs that were done in it.
    pub done: u64,
    /// Jobs that were rejected in it, or of which a later step was.
    pub failed: u64,
    /// Jobs that were skipped or cancelled in it.
    pub skipped: u64,
}

impl Span {
    /// One in which nothing was going on.
    pub const fn quiet(at: Moment) -> Self {
        Self { at, answered: 0, refused: 0, unanswered: 0, done: 0, failed: 0, skipped: 0 }
    }

    /// Jobs that came to their final state in it.
    pub const fn finished(&self) -> u64 {
        self.done + self.failed + self.skipped
    }
}

impl View {
    /// What was going on with the rows of an import since it was made, in at most `most` spans from the first to the
    /// last.
    pub fn activity(&self, import: ImportId, since: Moment, most: usize) -> Result<Activity> {
        let Some((first, last)) = extent(&self.connection, import, since)? else {
            return Ok(Activity::default());
        };
        let most = count(most).max(1);
        let length = last.saturating_sub(first);
        let step_ms = *STEPS_MS
            .iter()
            .find(|&&step| length / step < most)
            // A journal of more than `most` days has longer spans: whole days, as many as are needed.
            .unwrap_or(&(STEPS_MS[STEPS_MS.len() - 1] * (length / STEPS_MS[STEPS_MS.len() - 1] / most + 1)));
        let mut spans = requests(&self.connection, import, step_ms)?;
        add_finished(&self.connection, import, since, step_ms, &mut spans)?;
        Ok(Activity { step_ms, spans })
    }
}

/// The first and the last moment at which something was going on.
fn extent(connection: &Connection, import: ImportId, since: Moment) -> Result<Option<(i64, i64)>> {
    let sent: (Option<i64>, Option<i64>) = connection
        .prepare_cached(rows_with_job!(
            "SELECT min(sent_at), max(sent_at) FROM attempt WHERE job IN (SELECT job FROM ",
            ")"
        ))?
        .query_row([import], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let finished: (Option<i64>, Option<i64>) = connection
        .prepare_cached(rows_with_job!(
            "SELECT min(finished_at), max(finished_at) FROM job WHERE finished_at >= ?2 AND id IN (SELECT job FROM ",
            ")"
        ))?
        .query_row((import, since), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let first = sent.0.into_iter().chain(finished.0).min();
    let last = sent.1.into_iter().chain(finished.1).max();
    Ok(first.zip(last))
}

fn requests(connection: &Connection, import: ImportId, step_ms: i64) -> Result<Vec<Span>> {
    let mut statement = connection.prepare_cached(rows_with_job!(
        "SELECT sent_at / ?2, sum(execution IS 'confirmed'), sum(execution IS 'refused' OR execution IS 'not_executed'),
                sum(execution IS 'doubtful' OR ended_at IS NULL)
         FROM attempt WHERE job IN (SELECT job FROM ",
        ") GROUP BY 1 ORDER BY 1"
    ))?;
    let spans = statement
        .query_map((import, step_ms), |row| {
            Ok(Span {
                answered: natural(row.get(1)?),
                refused: natural(row.get(2)?),
                unanswered: natural(row.get::<_, Option<i64>>(3)?.unwrap_or_default()),
                ..Span::quiet(moment(row.get(0)?, step_ms))
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(spans)
}

/// Adds the jobs that were finished, in spans that are there or of their own.
fn add_finished(
    connection: &Connection,
    import: ImportId,
    since: Moment,
    step_ms: i64,
    spans: &mut Vec<Span>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(rows_with_job!(
        "SELECT finished_at / ?3, count(*), sum(state IN ('rejected', 'incomplete')), sum(state IN ('skipped', 'cancelled'))
         FROM job WHERE finished_at >= ?2 AND id IN (SELECT job FROM ",
        ") GROUP BY 1 ORDER BY 1"
    ))?;
    let mut rows = statement.query((import, since, step_ms))?;
    while let Some(row) = rows.next()? {
        let at = moment(row.get(0)?, step_ms);
        let (finished, failed, skipped) = (natural(row.get(1)?), natural(row.get(2)?), natural(row.get(3)?));
        let place = match spans.binary_search_by_key(&at, |span| span.at) {
            Ok(place) => place,
            Err(place) => {
                spans.insert(place, Span::quiet(at));
                place
            }
        };
        let span = &mut spans[place];
        span.done += finished.saturating_sub(failed + skipped);
        span.failed += failed;
        span.skipped += skipped;
    }
    Ok(())
}

fn moment(number: i64, step_ms: i64) -> Moment {
    Moment::from_millis(number.saturating_mul(step_ms))
}

/// What happened since a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recent {
    /// Requests for rows that left.
    pub requests: u64,
    /// Rows that came to an end by what the service did; not those that were cancelled or skipped.
    pub finished: u64,
}

/// Requests that left since `?1`, read from an index: a journal has millions.
const REQUESTS: &str = "SELECT count(*) FROM attempt WHERE sent_at > ?1";
/// Rows that came to an end since `?1`, by an index: those that were cancelled, or skipped below another row, are left out.
const FINISHED: &str =
    "SELECT count(*) FROM job WHERE finished_at > ?1 AND state NOT IN ('skipped', 'cancelled')";

impl View {
    /// What happened since a moment.
    pub fn recent(&self, since: Moment) -> Result<Recent> {
        let count = |sql: &str| -> Result<u64> {
            Ok(natural(self.connection.query_row(sql, [since], |row| row.get::<_, i64>(0))?))
        };
        Ok(Recent { requests: count(REQUESTS)?, finished: count(FINISHED)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Journal;
    use crate::journal::fixture::*;
    use crate::journal::{Evidence, Write};
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::Sending;
    use crate::model::verdict::Execution;

    /// A minute, in milliseconds.
    const MINUTE: i64 = 60_000;

    fn claim_at(journal: &mut Journal, job: crate::model::id::JobId, when: i64) {
        let claim = Write::Claim {
            content: None,
            job,
            operation: AddCompany,
            before: None,
            baseline: None,
            counted: None,
            at: at(when),
        };
        apply(journal, claim).unwrap();
    }

    #[test]
    fn requests_and_finished_rows_are_counted_in_the_span_they_belong_to() {
        let mut bench = bench();
        let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil"], false);
        claim_at(&mut bench.journal, jobs[0], 10 * MINUTE);
        let how = crate::journal::How::Created;
        let evidence = Evidence { execution: Execution::Confirmed, ..Evidence::at(at(11 * MINUTE)) };
        let done = Write::Advance { job: jobs[0], from: Sending, how, id: Some(id(1)), evidence };
        apply(&mut bench.journal, done).unwrap();
        claim_at(&mut bench.journal, jobs[1], 10 * MINUTE + 1);
        let refused = Evidence { execution: Execution::NotExecuted, ..Evidence::at(at(10 * MINUTE + 400)) };
        let (code, reason) = ("rateLimitExceeded".into(), "slower".into());
        let defer = Write::Defer { job: jobs[1], until: at(12 * MINUTE), code, reason, evidence: refused };
        apply(&mut bench.journal, defer).unwrap();
        claim_at(&mut bench.journal, jobs[2], 10 * MINUTE + 30_000);

        let activity = bench.journal.activity(imported.import, at(0), 100).unwrap();
        assert_eq!(activity.step_ms, 1_000);
        let told: Vec<_> = activity
            .spans
            .iter()
            .map(|span| {
                (span.at.millis() / 1_000, span.answered, span.refused, span.unanswered, span.finished())
            })
            .collect();
        assert_eq!(told, [(600, 1, 1, 0, 0), (630, 0, 0, 1, 0), (660, 0, 0, 0, 1)]);
    }

    #[test]
    fn however_long_it_took_the_spans_are_no_more_than_asked_for() {
        let mut bench = bench();
        let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        assert_eq!(bench.journal.activity(imported.import, at(0), 5).unwrap(), Activity::default());
        claim_at(&mut bench.journal, jobs[0], 0);
        claim_at(&mut bench.journal, jobs[1], 900 * 86_400_000 + 1);
        for most in [1, 5, 100, 20_000] {
            let activity = bench.journal.activity(imported.import, at(0), most).unwrap();
            let last = activity.spans.last().unwrap().at.millis() / activity.step_ms;
            assert!(usize::try_from(last).unwrap() < most.max(2), "{most}: {}", activity.step_ms);
            assert_eq!(activity.spans.iter().map(|span| span.unanswered).sum::<u64>(), 2);
        }
    }

    #[test]
    fn what_happened_lately_is_read_by_indexes() {
        let bench = bench();
        for (sql, expected) in [
            (REQUESTS, "SEARCH attempt USING COVERING INDEX attempt_sent (sent_at>?)"),
            (FINISHED, "SEARCH job USING INDEX job_finished (finished_at>?)"),
        ] {
            assert_eq!(plan(&bench.journal, sql), [expected]);
        }
    }

    #[test]
    fn rows_that_were_cancelled_lately_are_not_among_those_that_the_service_finished() {
        let mut bench = bench();
        let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil"], false);
        claim_at(&mut bench.journal, jobs[0], MINUTE);
        let how = crate::journal::How::Created;
        let evidence = Evidence { execution: Execution::Confirmed, ..Evidence::at(at(MINUTE)) };
        let done = Write::Advance { job: jobs[0], from: Sending, how, id: Some(id(1)), evidence };
        apply(&mut bench.journal, done).unwrap();
        assert_eq!(bench.journal.cancel(imported.import, "me", at(MINUTE)).unwrap().cancelled, 2);
        assert_eq!(bench.journal.recent(at(0)).unwrap(), Recent { requests: 1, finished: 1 });
    }
}
