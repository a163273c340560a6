//! Where things stand, in one glance: a sentence for the whole, pace, quota, and what needs a person with the command
//! for it. The first screen of `fleetload status`; what needs a person is found in [`crate::cli::status::needs`], the details below it
//! are told in [`crate::cli::status`].

use std::time::Duration;

use serde_json::{Value, json};

use super::counts;
use super::needs::{Need, needs};
use super::stand::{Stand, stand};
use crate::cli::context::Context;
use crate::cli::run::ending::end_of_rows;
use crate::ending::End;
use crate::error::Result;
use crate::journal::{Journal, Recent, RunInfo};
use crate::model::amount::share;
use crate::model::forecast::{Forecast, forecast};
use crate::model::id::ImportId;
use crate::model::quota::QuotaDay;
use crate::model::remaining::Remaining;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;
use crate::status::row_words;
use crate::term::{Ink, Line, awaited, count, counted, expected, span};

/// Over how long the pace of a run is measured.
const LATELY: Duration = Duration::from_secs(60);

/// Everything the first screen tells.
pub(super) struct Glance {
    tally: Tally,
    /// Rows that were left out and have not come again.
    left_out: Tally,
    /// Whether there is an import, with rows or without.
    imported: bool,
    /// Rows with a job that were rejected, and those skipped for what they depend on.
    refused: (u64, u64),
    run: Option<RunInfo>,
    working: bool,
    stand: Stand,
    /// How a command ends of which only the rows speak.
    rows: End,
    lately: Option<(Recent, Duration)>,
    /// What the run at work has said that it has still to do.
    remaining: Option<Remaining>,
    quota: QuotaDay,
    needs: Vec<Need>,
    now: Moment,
}

impl Glance {
    /// Reads what the journal knows of an import, or of all.
    pub(in crate::cli) fn of(
        context: &Context<'_>,
        journal: &Journal,
        import: Option<ImportId>,
    ) -> Result<Self> {
        let now = context.now();
        let (tally, run) = (journal.tally(import)?, journal.last_run()?);
        let open = run.as_ref().is_some_and(|run| run.ended_at.is_none());
        let working = open && journal.is_run_at_work();
        let left_out = match import {
            Some(_) => journal.left_out_tally(import)?,
            None => left_out_once(journal)?,
        };
        let stand = match stand(&tally, run.as_ref(), working, now) {
            Stand::Empty if left_out.total() > 0 => Stand::Finished,
            stand => stand,
        };
        let exit = counts::exit_with(&tally, journal.differing(import)?);
        let rows = end_of_rows(exit, !journal.unseen_findings(import)?.is_empty());
        let lately = match &run {
            Some(run) if working => {
                let length = now.since(run.started_at).min(LATELY).max(Duration::from_secs(1));
                Some((journal.recent(before(now, length))?, length))
            }
            Some(_) | None => None,
        };
        // The rows of one import are counted with those it left out, all jobs are not.
        let counted_in = |state| if import.is_some() { left_out.in_state(state) } else { 0 };
        let with_job = |state| tally.in_state(state).saturating_sub(counted_in(state));
        let refused = (with_job(JobState::Rejected), with_job(JobState::Skipped));
        let remaining = match &run {
            Some(run) if working => journal.noted_remaining(run.run)?,
            Some(_) | None => None,
        };
        let quota = journal.quota_now(now)?;
        let needs = needs(context, journal, import, &tally, (run.as_ref(), stand))?;
        let imported = stand == Stand::Empty && !journal.imports()?.is_empty();
        Ok(Self {
            tally,
            left_out,
            imported,
            refused,
            run,
            working,
            stand,
            rows,
            lately,
            remaining,
            quota,
            needs,
            now,
        })
    }

    /// Tells the headline: the whole in one sentence.
    pub(in crate::cli) fn tell_headline(&self, context: &Context<'_>) {
        let ink = match self.stand {
            Stand::Parked(_)
            | Stand::Interrupted(_)
            | Stand::Stopped(_)
            | Stand::Killed
            | Stand::SetAside
            | Stand::Held => Ink::Warning,
            Stand::Finished if self.needs.is_empty() && self.tally.in_state(JobState::Cancelled) == 0 => {
                Ink::Good
            }
            Stand::Finished | Stand::Empty | Stand::NotBegun | Stand::Running | Stand::Waiting => Ink::Strong,
        };
        context.terminal.result(Line::new().ink(ink, self.headline(context)));
    }

    /// Tells the counts, the pace and the quota.
    pub(super) fn tell_figures(&self, context: &Context<'_>) {
        let terminal = context.terminal;
        if self.tally.total() > 0 {
            terminal.result("");
            for line in counts::glance(&self.tally) {
                terminal.result(line);
            }
            terminal
                .result(Line::new().ink(Ink::Faint, format!("of these: {}", counts::states(&self.tally))));
        }
        if let Some(pace) = self.pace() {
            terminal.result("");
            terminal.result(format!("pace: {pace}"));
        }
        if let (Stand::Parked(_), Some(finish)) = (self.stand, self.forecast().finish) {
            terminal.result(expected(finish, self.now, &context.here));
        }
        self.tell_quota(context);
    }

    /// Tells what needs a person, each with the command to type.
    pub(super) fn tell_needs(&self, context: &Context<'_>) {
        if self.needs.is_empty() {
            return;
        }
        let terminal = context.terminal;
        terminal.result("");
        terminal.result(Line::new().ink(Ink::Warning, "needs a person:"));
        for need in &self.needs {
            terminal.result(Line::plain(format!("  {}", need.words)));
            terminal.result(Line::plain("    ").ink(Ink::Hint, &need.command));
        }
    }

    /// The same facts for programs, as fields of the summary.
    pub(in crate::cli) fn fields(&self, context: &Context<'_>) -> Vec<(&'static str, Value)> {
        let parked = match self.stand {
            Stand::Parked(until) => Some(until.to_string()),
            _ => None,
        };
        vec![
            ("state", self.stand.word(self.rows).into()),
            ("reason", self.stand.end(self.rows).map(End::as_str).into()),
            ("headline", self.headline(context).into()),
            ("by_kind", counts::by_kind(&self.tally)),
            ("left_out", self.left_out.total().into()),
            ("run_at_work", self.working.into()),
            (
                "pace",
                self.lately.map_or(Value::Null, |(recent, length)| {
                    json!({"seconds": length.as_secs(), "requests": recent.requests, "rows_finished": recent.finished})
                }),
            ),
            ("finish_estimate", self.forecast().finish.map(|finish| finish.to_string()).into()),
            ("next_events", json!(self.forecast().next)),
            ("quota", json!(self.quota)),
            ("parked_until", parked.into()),
            (
                "needs_person",
                self.needs
                    .iter()
                    .map(|need| json!({"cause": need.cause, "count": need.count, "words": need.words, "command": need.command}))
                    .collect(),
            ),
        ]
    }

    /// The whole in one sentence, rows that were left out included.
    fn headline(&self, context: &Context<'_>) -> String {
        let words = self.stands(context);
        match (self.stand, self.left_out.total()) {
            (Stand::Finished, _) | (_, 0) => words,
            (_, _) => format!("{words}; {}", left_out(&self.left_out)),
        }
    }

    /// Where the rows with a job stand.
    fn stands(&self, context: &Context<'_>) -> String {
        let left = counted(counts::unfinished(&self.tally), "row remaining", "rows remaining");
        match self.stand {
            Stand::Empty if self.imported => "the sheets have no rows: there is nothing to do".to_owned(),
            Stand::Empty => "nothing has been imported yet".to_owned(),
            Stand::NotBegun => format!("imported, nothing sent yet: {left}"),
            Stand::Running => self.running(context),
            Stand::Parked(until) => {
                let wait = span(until.since(self.now).max(Duration::from_secs(1)));
                let goes_on = if self.working { "; the run goes on automatically then" } else { "" };
                format!(
                    "parked until {} (in {wait}): today's quota is spent, {left}{goes_on}",
                    context.moment(until)
                )
            }
            Stand::Interrupted(End::Until) => format!("stopped at the time given: {left}"),
            Stand::Interrupted(_) => format!("stopped on request: {left}"),
            Stand::Stopped(end) => format!("stopped: {}; {left}", self.why(end)),
            Stand::Killed => format!("the last run was killed: {left}"),
            Stand::SetAside => format!("finished except for a paused sheet: {left}"),
            Stand::Waiting => format!("{left}; no run is in progress"),
            Stand::Held => {
                let held = self.tally.in_state(JobState::Held);
                let waiting = match (counts::unfinished(&self.tally), held) {
                    (0, _) => String::new(),
                    (waiting, 1) => format!("; {} for it", counted(waiting, "row waits", "rows wait")),
                    (waiting, _) => format!("; {} for them", counted(waiting, "row waits", "rows wait")),
                };
                format!(
                    "finished except for {}{waiting}",
                    counted(held, "row that needs your decision", "rows that need your decision")
                )
            }
            Stand::Finished => self.finished(),
        }
    }

    /// What became of the rows when none is left.
    fn finished(&self) -> String {
        let mut parts = Vec::new();
        let mut put = |number, one, more| {
            if number > 0 {
                parts.push(counted(number, one, more));
            }
        };
        let (refused, skipped) = self.refused;
        put(refused, "row was rejected", "rows were rejected");
        if refused > 0 {
            put(skipped, "dependent row was skipped", "dependent rows were skipped");
        } else {
            put(skipped, "row was skipped", "rows were skipped");
        }
        let incomplete = self.tally.in_state(JobState::Incomplete);
        if incomplete > 0 {
            parts.push(row_words::incomplete(incomplete));
        }
        if self.left_out.total() > 0 {
            parts.push(left_out(&self.left_out));
        }
        let cancelled = self.tally.in_state(JobState::Cancelled);
        if cancelled > 0 {
            parts.push(counted(cancelled, "row was cancelled", "rows were cancelled"));
        }
        let differing: u64 =
            self.needs.iter().filter(|need| need.cause == "differs").map(|need| need.count).sum();
        if differing > 0 {
            let rows = counted(differing, "row differs", "rows differ");
            parts.push(format!("{rows} from what was created earlier"));
        }
        match parts.pop() {
            None => "finished: every row is done".to_owned(),
            Some(last) if parts.is_empty() => format!("finished; {last}"),
            Some(last) => format!("finished; {} and {last}", parts.join(", ")),
        }
    }

    /// Why the last run was stopped, as it noted it.
    fn why(&self, end: End) -> &str {
        let noted = self.run.as_ref().and_then(|run| run.detail.as_deref());
        noted.unwrap_or(end.entry().words)
    }

    fn running(&self, context: &Context<'_>) -> String {
        let done = share(self.tally.count(JobState::is_final), self.tally.total());
        let since = self.run.as_ref().map_or_else(String::new, |run| context.moment(run.started_at));
        let mut words = format!("running since {since}: {done} done");
        let forecast = self.forecast();
        if let Some(finish) = forecast.finish {
            words.push_str(&format!(", {}", expected(finish, self.now, &context.here)));
        }
        for next in awaited(&forecast.next, self.now, &context.here) {
            words.push_str(&format!("; {next}"));
        }
        if let Some(unseen) = self.remaining.as_ref().map(|facts| facts.unseen).filter(|unseen| *unseen > 0) {
            let rows = counted(unseen, "row waits", "rows wait");
            words.push_str(&format!("; {rows} until the service shows what they depend on"));
        }
        words
    }

    fn pace(&self) -> Option<String> {
        let (recent, length) = self.lately?;
        Some(format!(
            "{:.1} rows/s finished, {:.1} requests/s sent, in the last {}",
            per_second(recent.finished, length),
            per_second(recent.requests, length),
            span(length)
        ))
    }

    /// When it will be done, by what the run at work has said; the live display says the same.
    fn forecast(&self) -> Forecast {
        let known = self.remaining.as_ref().map(forecast).unwrap_or_default();
        known.with_in_doubt(self.tally.in_state(JobState::InDoubt))
    }

    fn tell_quota(&self, context: &Context<'_>) {
        let quota = &self.quota;
        if quota.sent == 0 && quota.ceiling.is_none() {
            return;
        }
        let of = quota.ceiling.map_or_else(String::new, |ceiling| format!(" of {}", count(ceiling)));
        let left = quota.left().map_or_else(String::new, |left| format!(", {} left", count(left)));
        let parts = match quota.used() {
            0 => String::new(),
            _ => format!(
                " ({} confirmed, {} refused, {} not known to be counted)",
                count(quota.confirmed),
                count(quota.refused),
                count(quota.doubtful)
            ),
        };
        let under_way = match quota.under_way() {
            0 => String::new(),
            under_way => format!(", {} under way", count(under_way)),
        };
        context.terminal.result("");
        context.terminal.result(format!(
            "quota of {} (UTC): {}{of} used{parts}{left}{under_way}; the next day begins {}",
            quota.day,
            counted(quota.used(), "creation", "creations"),
            context.moment(quota.day.next().start())
        ));
    }
}

/// The rows that imports left out and that have not come again, each counted once.
fn left_out_once(journal: &Journal) -> Result<Tally> {
    let mut tally = journal.left_out_tally(None)?;
    for info in journal.imports()? {
        for later in journal.answered_later(info.import)? {
            tally.take_away(&later.left_out);
        }
    }
    Ok(tally)
}

/// Rows that were left out, in words.
fn left_out(tally: &Tally) -> String {
    row_words::not_imported(tally.in_state(JobState::Rejected), tally.in_state(JobState::Skipped))
}

fn per_second(number: u64, length: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a pace is shown with one digit")]
    let number = number as f64;
    number / length.as_secs_f64()
}

/// A moment so long before another.
fn before(now: Moment, length: Duration) -> Moment {
    let millis = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
    Moment::from_millis(now.millis().saturating_sub(millis))
}
