//! The first screen of `fleetload status`: the status in one sentence, counts, pace, quota, and what needs a person.

use std::time::Duration;

use serde_json::{Value, json};

use super::{counts, next_commands};
use crate::cli::context::Context;
use crate::ending::End;
use crate::error::Result;
use crate::journal::{Journal, Recent};
use crate::model::amount::share;
use crate::model::forecast::{Forecast, forecast};
use crate::model::id::ImportId;
use crate::model::quota::QuotaDay;
use crate::model::remaining::Remaining;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::status::{Need, RunState, Status, Wording};
use crate::term::{Ink, Line, awaited, count, counted, expected, span};

/// Over how long the pace of a run is measured.
const LATELY: Duration = Duration::from_secs(60);

/// Everything the first screen tells.
pub(super) struct Overview {
    pub(super) status: Status,
    needs: Vec<Need>,
    lately: Option<(Recent, Duration)>,
    /// What the run at work has said that it has still to do.
    remaining: Option<Remaining>,
    quota: QuotaDay,
    now: Moment,
}

impl Overview {
    /// Reads what the journal knows of an import, or of all.
    pub(super) fn of(context: &Context<'_>, journal: &Journal, import: Option<ImportId>) -> Result<Self> {
        let now = context.now();
        let status = Status::now(journal, import, now)?;
        let (mut lately, mut remaining) = (None, None);
        if let Some(run) = status.run().filter(|_| status.at_work()) {
            let length = now.since(run.started_at).min(LATELY).max(Duration::from_secs(1));
            lately = Some((journal.recent(before(now, length))?, length));
            remaining = journal.noted_remaining(run.run)?;
        }
        let unavailable = match status.state() {
            RunState::Running => Vec::new(),
            RunState::Empty | RunState::NotBegun | RunState::Ended(_) => {
                next_commands::unavailable(context, journal, import)?
            }
        };
        let needs = next_commands::with_commands(context, unavailable, |commands| status.needs(commands));
        Ok(Self { status, needs, lately, remaining, quota: journal.quota_now(now)?, now })
    }

    /// Tells the whole in one sentence.
    pub(super) fn tell_sentence(&self, context: &Context<'_>) {
        context.terminal.result(Line::new().ink(ink(&self.status), self.sentence(context)));
    }

    /// Tells the counts, the pace and the quota.
    pub(super) fn tell_figures(&self, context: &Context<'_>) {
        let terminal = context.terminal;
        let tally = self.status.tally();
        if tally.total() > 0 {
            terminal.result("");
            for line in counts::glance(tally) {
                terminal.result(line);
            }
            terminal.result(Line::new().ink(Ink::Faint, format!("of these: {}", counts::states(tally))));
        }
        if let Some(pace) = self.pace() {
            terminal.result("");
            terminal.result(format!("pace: {pace}"));
        }
        if let (RunState::Ended(End::Quota), Some(finish)) = (self.status.state(), self.forecast().finish) {
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
    pub(super) fn fields(&self, context: &Context<'_>) -> Value {
        let state = self.status.state();
        let parked = self.status.resumes_at().filter(|_| state == RunState::Ended(End::Quota));
        let pace = self.lately.map_or(Value::Null, |(recent, length)| {
            json!({"seconds": length.as_secs(), "requests": recent.requests, "rows_finished": recent.finished})
        });
        let forecast = self.forecast();
        json!({
            "state": state.word(),
            "reason": state.end().map(End::as_str),
            "headline": self.sentence(context),
            "by_kind": counts::by_kind(self.status.tally()),
            "left_out": self.status.left_out().total(),
            "run_at_work": self.status.at_work(),
            "pace": pace,
            "finish_estimate": forecast.finish.map(|finish| finish.to_string()),
            "next_events": forecast.next,
            "quota": self.quota,
            "parked_until": parked.map(|until| until.to_string()),
            "needs_person": self.needs.iter()
                .map(|need| json!({"cause": need.cause, "count": need.count, "words": need.words, "command": need.command}))
                .collect::<Value>(),
        })
    }

    fn sentence(&self, context: &Context<'_>) -> String {
        let until = |until: Moment| waited_for(context, until, self.now);
        self.status.sentence(&Wording { until: &until, running: Some(&|| self.running(context)) })
    }

    fn running(&self, context: &Context<'_>) -> String {
        let tally = self.status.tally();
        let done = share(tally.count(JobState::is_final), tally.total());
        let since = self.status.run().map_or_else(String::new, |run| context.moment(run.started_at));
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
        known.with_in_doubt(self.status.tally().in_state(JobState::InDoubt))
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

/// A moment that is waited for, and how long that is.
pub(in crate::cli) fn waited_for(context: &Context<'_>, until: Moment, now: Moment) -> String {
    let wait = span(until.since(now).max(Duration::from_secs(1)));
    format!("{} (in {wait})", context.moment(until))
}

/// How a status is coloured.
pub(in crate::cli) fn ink(status: &Status) -> Ink {
    match status.state() {
        RunState::Ended(End::Done) if status.is_good() => Ink::Good,
        RunState::Ended(End::Done | End::RowsFailed | End::Verification | End::RowsWaiting) => Ink::Strong,
        RunState::Empty | RunState::NotBegun | RunState::Running => Ink::Strong,
        RunState::Ended(_) => Ink::Warning,
    }
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
