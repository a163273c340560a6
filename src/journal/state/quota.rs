//! The ledger of the daily quota: by UTC day of the service's clock the creations sent, confirmed, refused and doubtful,
//! and the ceiling once learned.
//!
//! The service counts what it answers, refused creations included. So a creation counts from its claim on, and only what
//! is proved not executed is taken back. The ledger changes in the transaction of the attempt it is about, so that no end
//! of the process can part them.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

use crate::ending::End;
use crate::error::Result;
use crate::failpoint;
use crate::journal::View;
use crate::journal::file::column::{count, natural};
use crate::journal::lineage::identity;
use crate::journal::state::job_row::JobRow;
use crate::model::quota::QuotaDay;
use crate::model::time::{Day, Moment};
use crate::model::verdict::Execution;

/// The ceiling learned last, unless as many creations have been answered in a day since as it cannot allow.
macro_rules! latest_ceiling {
    () => {
        "(SELECT known.ceiling FROM quota AS known WHERE known.ceiling > 0 AND NOT EXISTS (
            SELECT 1 FROM quota AS later
            WHERE later.day >= known.day AND later.confirmed + later.refused > known.ceiling)
          ORDER BY known.day DESC LIMIT 1)"
    };
}

/// Selects what [`read`] reads.
macro_rules! ledger {
    ($rest:literal) => {
        concat!(
            "SELECT day, sent, confirmed, refused, doubtful, coalesce(nullif(ceiling, 0), ",
            latest_ceiling!(),
            "), ceiling IS NOT NULL FROM quota ",
            $rest
        )
    };
}

fn read(row: &Row<'_>) -> rusqlite::Result<QuotaDay> {
    let ledger = QuotaDay {
        day: row.get(0)?,
        sent: natural(row.get(1)?),
        confirmed: natural(row.get(2)?),
        refused: natural(row.get(3)?),
        doubtful: natural(row.get(4)?),
        ceiling: None,
        spent: row.get(6)?,
        partial: false,
    };
    Ok(ledger.under(row.get::<_, Option<i64>>(5)?.map(natural)))
}

/// The days of which an older copy of the journal may lack creations. They stay partial when somebody has gone on with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::journal) struct PartialDays(Vec<RangeInclusive<Day>>);

impl PartialDays {
    /// Says of a day whether it is one of them.
    pub(in crate::journal) fn mark(&self, ledger: QuotaDay) -> QuotaDay {
        QuotaDay { partial: self.0.iter().any(|days| days.contains(&ledger.day)), ..ledger }
    }
}

impl View {
    /// Those from the last run that the copy knows of until somebody went on with it.
    pub(in crate::journal) fn partial_days(&self) -> Result<PartialDays> {
        let days = self
            .connection
            .prepare_cached(
                "SELECT (SELECT max(started_at) FROM run WHERE started_at < decision.at), at FROM decision WHERE what = ?1",
            )?
            .query_map([identity::ACCEPTED], |row| {
                let (since, until): (Option<Moment>, Moment) = (row.get(0)?, row.get(1)?);
                Ok(since.unwrap_or(until).day()..=until.day())
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(PartialDays(days))
    }

    /// The ledger of a day; nothing used when nothing is known of it.
    pub fn quota(&self, day: Day) -> Result<QuotaDay> {
        let known =
            self.connection.prepare_cached(ledger!("WHERE day = ?1"))?.query_row([day], read).optional()?;
        let ledger = match known {
            Some(ledger) => self.as_awaited(ledger),
            None => QuotaDay::unused(day).under(self.latest_ceiling()?),
        };
        Ok(self.partial_days()?.mark(ledger))
    }

    /// The ledger of the day it is at the service, as far as the journal knows: where this machine's clock is behind, the
    /// service has begun another day; where it is ahead, a run that waits for the quota waits for the end of its day.
    pub fn quota_now(&self, now: Moment) -> Result<QuotaDay> {
        match self.latest_quota()? {
            Some(ledger) if ledger.day >= now.day() || self.quota_resets_at(now)?.is_some() => {
                Ok(self.partial_days()?.mark(self.as_awaited(ledger)))
            }
            Some(_) | None => self.quota(now.day()),
        }
    }

    /// A day as the ledger has it, by whether a run is at work that awaits what was under way.
    fn as_awaited(&self, ledger: QuotaDay) -> QuotaDay {
        let is_awaited = ledger.under_way() == 0 || self.is_run_at_work();
        if is_awaited { ledger } else { ledger.with_none_awaited() }
    }

    /// When the quota resets that the last run waits for, or would wait for if it had not ended.
    pub fn quota_resets_at(&self, now: Moment) -> Result<Option<Moment>> {
        let run = self.last_run()?.filter(|run| run.waits_until(End::Quota, now).is_some());
        let resets_at = run.and_then(|run| run.quota_resets_at.or(run.resumes_at));
        Ok(resets_at.filter(|resets_at| *resets_at > now))
    }

    /// [`Self::quota_now`] under the limit that a run keeps: a run `at_work` the one that it has noted, any other the
    /// `configured` one. Where none is configured, that of the last run stands.
    pub fn limited_quota(&self, now: Moment, configured: Option<u64>, at_work: bool) -> Result<QuotaDay> {
        let ledger = self.quota_now(now)?;
        // While it waits to begin, a run has noted nothing.
        let has_noted = at_work && self.has_noted_terms()?;
        let set = match configured.filter(|_| !has_noted) {
            Some(set) => Some(set),
            None => self.last_daily_quota()?,
        };
        Ok(set.map_or(ledger, |set| ledger.limited_to(set)))
    }

    /// The limit that the last run was given.
    fn last_daily_quota(&self) -> Result<Option<u64>> {
        let terms: Option<Value> = self.last_terms()?.and_then(|terms| serde_json::from_str(&terms).ok());
        Ok(terms.and_then(|terms| terms.get("daily_quota")?.as_u64()))
    }

    /// The latest day of the ledger as it is written, for the run at work.
    pub fn latest_quota(&self) -> Result<Option<QuotaDay>> {
        let latest = self
            .connection
            .prepare_cached(ledger!("ORDER BY day DESC LIMIT 1"))?
            .query_row([], read)
            .optional()?;
        Ok(latest)
    }

    /// The ledger from one day to another, both included: the latest `most` days it knows, in order.
    pub fn quota_days(&self, from: Day, to: Day, most: usize) -> Result<Vec<QuotaDay>> {
        let mut days = self
            .connection
            .prepare_cached(ledger!("WHERE day BETWEEN ?1 AND ?2 ORDER BY day DESC LIMIT ?3"))?
            .query_map((from, to, count(most)), read)?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        days.reverse();
        let partial = self.partial_days()?;
        Ok(days.into_iter().map(|day| partial.mark(self.as_awaited(day))).collect())
    }

    /// The ceiling learned last, on whatever day, as long as it is not proved wrong.
    pub fn latest_ceiling(&self) -> Result<Option<u64>> {
        let ceiling: Option<i64> = self
            .connection
            .prepare_cached(concat!("SELECT ", latest_ceiling!()))?
            .query_row([], |row| row.get(0))?;
        Ok(ceiling.map(natural))
    }
}

/// A creation is about to leave on `day`.
pub(in crate::journal) fn begin(connection: &Connection, day: Day) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO quota (day, sent) VALUES (?1, 1) ON CONFLICT (day) DO UPDATE SET sent = sent + 1",
        )?
        .execute([day])?;
    Ok(())
}

/// The statement that counts a creation as what it came to, on this day.
macro_rules! count_ended {
    ($execution:expr, $day:literal) => {
        match $execution {
            Execution::Confirmed => concat!("UPDATE quota SET confirmed = confirmed + 1 WHERE day = ", $day),
            Execution::Refused => concat!("UPDATE quota SET refused = refused + 1 WHERE day = ", $day),
            Execution::Doubtful => concat!("UPDATE quota SET doubtful = doubtful + 1 WHERE day = ", $day),
            Execution::NotExecuted => concat!("UPDATE quota SET sent = sent - 1 WHERE day = ", $day),
        }
    };
}

/// A creation that left on `day` has ended.
pub(in crate::journal) fn end(connection: &Connection, day: Day, execution: Execution) -> Result<()> {
    connection.prepare_cached(count_ended!(execution, "?1"))?.execute([day])?;
    failpoint::reach("quota.in-transaction");
    Ok(())
}

/// The last attempt of a job has ended; it counts on the day on which it left, if it creates.
pub(in crate::journal) fn end_attempt(
    connection: &Connection,
    standing: &JobRow,
    execution: Execution,
) -> Result<()> {
    let sql = count_ended!(execution, "(SELECT counted FROM attempt WHERE job = ?1 AND number = ?2)");
    if connection.prepare_cached(sql)?.execute((standing.job, standing.attempts))? > 0 {
        failpoint::reach("quota.in-transaction");
    }
    Ok(())
}

/// One of the doubtful creations of the step was executed, as what it made was found. Which one is not known when they
/// left on several days; then they stay doubtful. So they do where the service has confirmed another one, which made it.
pub(in crate::journal) fn found(connection: &Connection, standing: &JobRow) -> Result<()> {
    let (first, last): (Option<Day>, Option<Day>) = connection
        .prepare_cached(
            "SELECT min(counted), max(counted) FROM attempt
             WHERE job = ?1 AND step = ?2 AND execution = 'doubtful' AND counted IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM attempt
                    WHERE job = ?1 AND step = ?2 AND execution = 'confirmed' AND counted IS NOT NULL)",
        )?
        .query_row((standing.job, standing.step), |row| Ok((row.get(0)?, row.get(1)?)))?;
    if let Some(day) = first.filter(|_| first == last) {
        connection
            .prepare_cached(
                "UPDATE quota SET doubtful = doubtful - 1, confirmed = confirmed + 1 WHERE day = ?1 AND doubtful > 0",
            )?
            .execute([day])?;
    }
    Ok(())
}

/// Remembers the ceiling of a day. 0 teaches nothing but that the quota of the day is spent.
pub(in crate::journal) fn learn(connection: &Connection, day: Day, ceiling: u64) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO quota (day, ceiling) VALUES (?1, ?2) ON CONFLICT (day) DO UPDATE SET ceiling = ?2",
        )?
        .execute((day, count(ceiling)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::ending::RunEnd;
    use crate::journal::Journal;
    use crate::journal::fixture::*;
    use crate::journal::{Decision, EndOfRun, Evidence, How, Waiting, Write};
    use crate::model::id::JobId;
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::{InDoubt, Sending};
    use crate::model::verdict::Doubt;

    const DAY: Day = Day::from_number(20_000);
    const NEXT: Day = Day::from_number(20_001);

    fn figures(journal: &Journal, day: Day) -> (u64, u64, u64, u64) {
        let ledger = journal.quota(day).unwrap();
        (ledger.confirmed, ledger.refused, ledger.doubtful, ledger.under_way())
    }

    fn seen(execution: Execution) -> Evidence {
        Evidence { execution, ..Evidence::at(at(3_000)) }
    }

    fn put_off(job: JobId, execution: Execution) -> Write {
        let (code, reason) = ("a.code".to_owned(), "a reason".to_owned());
        Write::Defer { job, until: at(9_000), code, reason, evidence: seen(execution) }
    }

    fn doubt(job: JobId, charged: bool) -> Write {
        let evidence = seen(Execution::Doubtful);
        Write::Doubt { job, doubt: Doubt::Timeout, executed: false, charged, until: at(5_000), evidence }
    }

    fn adopted(job: JobId, number: u128) -> Write {
        let (from, how) = (InDoubt, How::Adopted);
        Write::Advance { job, from, how, id: Some(id(number)), evidence: Evidence::at(at(6_000)) }
    }

    #[test]
    fn what_the_service_answered_counts_whatever_follows_for_the_row_and_what_it_did_not_execute_does_not() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil", "Dock"], false);
        for &job in &jobs {
            apply(&mut bench.journal, counted(job, AddCompany, DAY)).unwrap();
        }
        assert_eq!(figures(&bench.journal, DAY), (0, 0, 4, 0), "no run awaits them");
        let _run = bench.journal.lock_for_run().unwrap().unwrap();
        assert_eq!(figures(&bench.journal, DAY), (0, 0, 0, 4));
        apply(&mut bench.journal, created(jobs[0], Sending, id(1))).unwrap();
        apply(&mut bench.journal, rejected(jobs[1], Sending)).unwrap();
        // Answered, and to be sent again later.
        apply(&mut bench.journal, put_off(jobs[2], Execution::Refused)).unwrap();
        // Turned away.
        apply(&mut bench.journal, put_off(jobs[3], Execution::NotExecuted)).unwrap();
        assert_eq!(figures(&bench.journal, DAY), (1, 2, 0, 0));
        assert_eq!(bench.journal.quota(DAY).unwrap().used(), 3);
    }

    #[test]
    fn a_doubtful_creation_is_confirmed_on_its_day_once_what_it_made_is_found() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil"], false);
        for &job in &jobs {
            apply(&mut bench.journal, counted(job, AddCompany, DAY)).unwrap();
            apply(&mut bench.journal, doubt(job, true)).unwrap();
        }
        assert_eq!(figures(&bench.journal, DAY), (0, 0, 3, 0));
        // Found the day after, by a look-up and by a person.
        apply(&mut bench.journal, adopted(jobs[0], 1)).unwrap();
        bench.journal.resolve(jobs[1], Decision::Created(id(2)), None, "ann", at(7_000)).unwrap();
        assert_eq!(figures(&bench.journal, DAY), (2, 0, 1, 0));
        // Not there, as far as can be seen: whether the service counted it is not known. The next one is another.
        let release = Write::Release { job: jobs[2], note: "absent".into(), at: at(7_000) };
        apply(&mut bench.journal, release).unwrap();
        apply(&mut bench.journal, counted(jobs[2], AddCompany, NEXT)).unwrap();
        apply(&mut bench.journal, doubt(jobs[2], true)).unwrap();
        assert_eq!(figures(&bench.journal, NEXT), (0, 0, 1, 0));
        // One of the two was executed, and nobody knows on which day.
        apply(&mut bench.journal, adopted(jobs[2], 3)).unwrap();
        assert_eq!(
            (figures(&bench.journal, DAY), figures(&bench.journal, NEXT)),
            ((2, 0, 1, 0), (0, 0, 1, 0))
        );
    }

    #[test]
    fn what_is_found_is_what_the_service_confirmed_and_says_nothing_of_an_earlier_request() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        let job = jobs[0];
        apply(&mut bench.journal, counted(job, AddCompany, DAY)).unwrap();
        apply(&mut bench.journal, doubt(job, true)).unwrap();
        apply(&mut bench.journal, Write::Release { job, note: "absent".into(), at: at(7_000) }).unwrap();
        // The next one was answered with OK, without an id.
        apply(&mut bench.journal, counted(job, AddCompany, DAY)).unwrap();
        let (doubt, evidence) = (Doubt::NoId, seen(Execution::Confirmed));
        let until = at(8_000);
        apply(
            &mut bench.journal,
            Write::Doubt { job, doubt, executed: true, charged: true, until, evidence },
        )
        .unwrap();
        apply(&mut bench.journal, adopted(job, 1)).unwrap();
        assert_eq!(figures(&bench.journal, DAY), (1, 0, 1, 0));
    }

    #[test]
    fn what_was_under_way_when_the_process_ended_stays_in_the_ledger_as_doubtful() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        apply(&mut bench.journal, counted(jobs[0], AddCompany, DAY)).unwrap();
        bench.journal.queue().recover(at(9_000)).unwrap();
        assert_eq!(figures(&bench.journal, DAY), (0, 0, 1, 0));
    }

    #[test]
    fn days_that_an_accepted_copy_may_not_know_whole_are_partial_from_its_last_run_until_it_was_accepted() {
        let mut bench = bench();
        let noon = |day: i64| Day::from_number(day).start().plus(Duration::from_hours(12));
        bench.journal.queue().begin_run(noon(20_000)).unwrap();
        bench.journal.queue().begin_run(noon(20_002)).unwrap();
        let accepted = "INSERT INTO decision (at, who, what) VALUES (?1, 'ann', ?2)";
        bench.journal.connection.execute(accepted, (noon(20_004), identity::ACCEPTED)).unwrap();
        bench.journal.queue().begin_run(noon(20_006)).unwrap();
        let is_partial = |day: &i64| bench.journal.quota(Day::from_number(*day)).unwrap().partial;
        assert_eq!((20_000..20_008).filter(is_partial).collect::<Vec<_>>(), [20_002, 20_003, 20_004]);
        assert!(bench.journal.quota_now(noon(20_004)).unwrap().partial);
        assert!(!bench.journal.quota_now(noon(20_005)).unwrap().partial);
    }

    #[test]
    fn a_ceiling_that_more_creations_prove_wrong_is_not_shown_and_the_one_before_it_is() {
        let mut bench = bench();
        let names: Vec<String> = (0..5).map(|n| format!("Company {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (_, jobs) = import_companies(&mut bench.journal, &names, false);
        let make = |journal: &mut Journal, number: usize, day: Day| {
            apply(journal, counted(jobs[number], AddCompany, day)).unwrap();
            apply(journal, created(jobs[number], Sending, id(number as u128 + 1))).unwrap();
        };
        let ceiling = |day, ceiling| Write::Ceiling { day, ceiling };
        make(&mut bench.journal, 0, DAY);
        make(&mut bench.journal, 1, DAY);
        apply(&mut bench.journal, ceiling(DAY, 2)).unwrap();
        let today = |journal: &Journal, day| journal.quota(day).unwrap();
        assert_eq!(
            (today(&bench.journal, DAY).ceiling, today(&bench.journal, DAY).left()),
            (Some(2), Some(0))
        );
        assert_eq!(today(&bench.journal, NEXT).ceiling, Some(2), "nothing else is known of the next day");
        // Raised on the same day.
        make(&mut bench.journal, 2, DAY);
        assert_eq!((today(&bench.journal, DAY).used(), today(&bench.journal, DAY).ceiling), (3, None));
        assert_eq!(today(&bench.journal, NEXT).ceiling, None);
        assert_eq!(bench.journal.latest_ceiling().unwrap(), None);
        assert!(today(&bench.journal, DAY).spent);
        // Refused again.
        apply(&mut bench.journal, ceiling(DAY, 3)).unwrap();
        assert_eq!(today(&bench.journal, DAY).ceiling, Some(3));
        // Others of the account used part of this day.
        make(&mut bench.journal, 3, NEXT);
        apply(&mut bench.journal, ceiling(DAY, 0)).unwrap();
        assert_eq!(today(&bench.journal, DAY).ceiling, None, "others had spent it all");
        apply(&mut bench.journal, ceiling(DAY, 3)).unwrap();
        apply(&mut bench.journal, ceiling(NEXT, 1)).unwrap();
        assert_eq!(bench.journal.latest_ceiling().unwrap(), Some(1));
        make(&mut bench.journal, 4, NEXT);
        assert_eq!(today(&bench.journal, NEXT).ceiling, None, "2 of 1 used is never shown");
        assert_eq!(bench.journal.latest_ceiling().unwrap(), Some(3));
        let days = bench.journal.quota_days(DAY, NEXT, 1).unwrap();
        assert_eq!(
            days.iter().map(|day| day.day).collect::<Vec<_>>(),
            [NEXT],
            "the latest when they are many"
        );
    }

    #[test]
    fn a_run_that_waits_for_the_quota_waits_for_the_end_of_the_services_day_whatever_our_clock_says() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        let run = bench.journal.queue().begin_run(at(1)).unwrap();
        apply(&mut bench.journal, counted(jobs[0], AddCompany, DAY)).unwrap();
        apply(&mut bench.journal, created(jobs[0], Sending, id(1))).unwrap();
        let today = |journal: &Journal, now| {
            let ledger = journal.quota_now(now).unwrap();
            (ledger.day, ledger.used())
        };
        let (behind, same) = (DAY.start(), DAY.start().plus(Duration::from_secs(60)));
        let ahead = NEXT.start().plus(Duration::from_secs(60));
        for now in [behind, same] {
            assert_eq!(today(&bench.journal, now), (DAY, 1));
        }
        assert_eq!(today(&bench.journal, ahead), (NEXT, 0), "nothing says that this clock is ahead");
        let until = ahead.plus(Duration::from_secs(120));
        let why = "today's quota is spent".to_owned();
        let waiting = Waiting { until, waits_for: End::Quota, quota_resets_at: Some(until), why };
        bench.journal.queue().note_waiting(run, Some(&waiting)).unwrap();
        assert_eq!(today(&bench.journal, ahead), (DAY, 1));
        assert_eq!(today(&bench.journal, until), (NEXT, 0));
        // Where the run may send only later, the day is over before that.
        let later = Waiting { until: until.plus(Duration::from_secs(9 * 3_600)), ..waiting.clone() };
        bench.journal.queue().note_waiting(run, Some(&later)).unwrap();
        assert_eq!(today(&bench.journal, ahead), (DAY, 1));
        assert_eq!(today(&bench.journal, until), (NEXT, 0));
        assert_eq!(bench.journal.quota_resets_at(ahead).unwrap(), Some(until));
        // Whoever waits for the hours of a run does not wait for a day.
        let hours = Waiting { waits_for: End::Window, ..waiting };
        bench.journal.queue().note_waiting(run, Some(&hours)).unwrap();
        assert_eq!(today(&bench.journal, ahead), (NEXT, 0));
        let ending = RunEnd::Early(End::Quota);
        let end = EndOfRun { ending, detail: None, resumes_at: Some(until), sheets_left: Vec::new() };
        bench.journal.queue().end_run(run, ahead, &end, &BTreeMap::new()).unwrap();
        assert_eq!(today(&bench.journal, ahead), (DAY, 1));
    }

    #[test]
    fn a_row_is_held_against_its_doubts_whatever_their_codes_and_not_against_probes() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        let doubts = |journal: &Journal| journal.work(jobs[0]).unwrap().unwrap().doubts;
        let release = || Write::Release { job: jobs[0], note: "absent".into(), at: at(7_000) };
        for (charged, expected) in [(true, 1), (false, 1), (true, 2)] {
            apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
            apply(&mut bench.journal, doubt(jobs[0], charged)).unwrap();
            assert_eq!(doubts(&bench.journal), expected);
            apply(&mut bench.journal, release()).unwrap();
        }
        let from = crate::model::state::JobState::Ready;
        apply(
            &mut bench.journal,
            Write::Suspect { job: jobs[0], from, doubt: Doubt::JournalBehind, at: at(8_000) },
        )
        .unwrap();
        assert_eq!(doubts(&bench.journal), 3, "journal.restored counts as well");
        apply(&mut bench.journal, release()).unwrap();
        apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
        bench.journal.queue().recover(at(9_000)).unwrap();
        assert_eq!(doubts(&bench.journal), 4);
        apply(&mut bench.journal, adopted(jobs[0], 1)).unwrap();
        assert_eq!(doubts(&bench.journal), 0, "they are those of a step");
    }
}
