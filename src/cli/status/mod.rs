//! `fleetload status`: where things stand, read from the journal alone; a run may be under way. First the status in one
//! sentence, counts, pace, quota, and what needs a person; then the rows behind it.

pub(super) mod counts;
pub(super) mod next_commands;
pub(super) mod objects;
pub(super) mod review;
pub(super) mod review_objects;
mod watch;

use std::time::Duration;

use self::next_commands::NextCommands;
use self::objects::{
    AnsweredRows, ImportObject, NotificationsObject, OverviewFigures, QuotaObject, RecentPace, RunObject,
    StatusSummary,
};
use super::args::commands::Status as Typed;
use super::args::options::Overrides;
use super::context::Context;
use super::lock_holder;
use super::notify::notifier::{deliver_advice, not_delivered};
use super::run::preconditions::{older_words, would_refuse};
use super::settings::Purpose;
use super::summary::Summary;
use crate::ending::{End, RunEnd};
use crate::error::Result;
use crate::journal::{
    AuditFigures, FileDigest, ImportInfo, ImportReserve, Journal, Recent, Regression, UnknownCall,
};
use crate::metrics::{JournalFigures, Source, exposition};
use crate::model::amount::share;
use crate::model::forecast::{Forecast, forecast_noted};
use crate::model::id::ImportId;
use crate::model::quota::QuotaDay;
use crate::model::remaining::Remaining;
use crate::model::state::JobState;
use crate::model::time::{Moment, Rfc3339};
use crate::notify::Target;
use crate::status::run_state::{moving, unfinished, worse};
use crate::status::{ImportFacts, Need, RunState, Status, Wording};
use crate::status::{row_advice, row_words};
use crate::term::{Ink, Line, awaited, count, counted, expected, moment, span};
use jiff::tz::TimeZone;

/// Tells where an import, or the whole journal, stands.
pub(super) fn status(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    match (typed.metrics, typed.watch) {
        (true, _) => metrics(context),
        (false, true) => watch::watch(context, typed),
        (false, false) => once(context, typed),
    }
}

/// Prints the figures of the journal for Prometheus.
fn metrics(context: &Context<'_>) -> Result<Summary> {
    let journal = context.journal()?;
    let profile = context.profile_for_sheets()?.map(|profile| profile.name);
    let source = Source { profile: profile.as_deref(), now: context.now(), ended: None };
    let figures = JournalFigures::read(&journal, source.now, configured_quota(context, &journal)?)?;
    context.terminal.document(&exposition(source, Some(&figures), None));
    Ok(Summary::of_document())
}

/// The quota that the settings set for a run of this journal. The commands that need them report what is wrong with
/// them.
fn configured_quota(context: &Context<'_>, journal: &Journal) -> Result<Option<u64>> {
    let Ok(settings) = context.settings(&Purpose::Reckoning, &Overrides::default()) else { return Ok(None) };
    let account = journal.account()?;
    let is_its = account.is_none() || account == settings.identity();
    Ok(settings.daily_quota.value.filter(|_| is_its))
}

/// Tells it as it is at this moment.
fn once(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let journal = context.journal()?;
    if let Some(wanted) = typed.import {
        ImportInfo::find(&journal.imports()?, wanted)?;
    }
    let overview = Overview::of(context, &journal, typed.import)?;
    if let Some(banner) = journal.whose()?.banner() {
        context.terminal.result(Line::new().ink(Ink::Warning, banner));
    }
    overview.tell_sentence(context);
    tell_account(context, &journal)?;
    let reserves = Reserves {
        imports: journal.import_reserves(overview.quota.day, overview.now, None)?,
        left: overview.quota.left(),
    };
    tell_imports(context, typed, overview.status.imports(), &reserves);
    overview.tell_figures(
        context,
        counts::cancelled_with_record(&journal, typed.import, overview.status.tally())?,
    );
    tell_unknown_calls(context, &overview.unknown_calls);
    context.terminal.object(&QuotaObject(overview.quota));
    overview.tell_needs(context);
    tell_run(context, &overview.status, overview.suspended);
    let canary = journal.canary()?.len() as u64;
    if canary > 0 {
        let rows = counted(canary, "row is", "rows are");
        context.terminal.result(format!("canary: {rows} to be right before any other row is sent"));
    }
    tell_notifications(context, &journal)?;
    review::tell(context, &journal, typed.import)?;
    let read_back = journal.audit_figures(typed.import)?;
    if read_back != AuditFigures::default() {
        let findings = journal.audit_findings(typed.import, None)?;
        review::tell_verified(context, &read_back, &findings);
        if let Some(which) = row_words::which_not_verified(&journal, typed.import, &read_back)? {
            context.terminal.result(format!("  {which}"));
        }
    }
    review::tell_decided(context, &journal, typed.import)?;
    let tally = overview.status.tally();
    let fields = StatusSummary {
        import: typed.import,
        rows: tally.total(),
        counts: tally.by_state(),
        changed_since: overview.status.differing(),
        audit: read_back,
        next_due: journal.next_due()?.map(Rfc3339),
        canary,
        overview: overview.figures(context),
    };
    if let Some(pid) = overview.suspended {
        context.terminal.hint(lock_holder::continue_advice(pid));
    }
    if overview.refused.is_none() {
        next_commands::tell_next(context, &overview.status);
    }
    Ok(match typed.check {
        true if overview.refused.is_some() => Summary::new(End::JournalOlder).with(&fields),
        true => {
            let of_calls = if overview.unknown_calls.is_empty() { End::Done } else { End::CallUnknown };
            Summary::new(worse(overview.status.end_to_check(), of_calls)).with(&fields)
        }
        false => Summary::new(End::Done).with(&fields).about(overview.status.state()),
    })
}

/// Imports beyond which only those are listed that have rows that wait or need someone.
const LISTED: usize = 10;

/// The imports with a reserve, and the creations that are left of the day, where that is known.
struct Reserves {
    imports: Vec<ImportReserve>,
    left: Option<u64>,
}

impl Reserves {
    /// How many creations of the day are kept for an import with a reserve.
    fn kept(&self, import: ImportId) -> Option<u64> {
        let kept = self.imports.iter().find(|reserve| reserve.import == import)?.kept();
        Some(kept.min(self.left.unwrap_or(kept)))
    }
}

/// Tells the imports that are wanted. Programs get all of them unless they ask for fewer.
fn tell_imports(context: &Context<'_>, typed: &Typed, imports: &[ImportFacts], reserves: &Reserves) {
    let few = typed.unfinished || (imports.len() > LISTED && !typed.all && !context.terminal.json());
    let mut listed: Vec<&ImportFacts> = imports.iter().filter(|import| !few || import.is_open()).collect();
    // The rounds of an import stand below it.
    listed.sort_by_key(|import| (import.info.first_round(), import.info.import));
    let mut above = None;
    for import in &listed {
        let first = import.info.first_round();
        tell_import(context, import, reserves.kept(import.info.import), above == Some(first));
        above = Some(first);
    }
    let all = || context.again("status --all");
    let line = match ((imports.len() - listed.len()) as u64, listed.is_empty()) {
        (0, _) => return,
        (1, true) => format!("the import is finished and needs nobody; to list it: {}", all()),
        (rest, true) => {
            format!("all {} imports are finished and need nobody; to list them: {}", count(rest), all())
        }
        (rest, false) => {
            let words = counted(rest, "other import is finished", "other imports are finished");
            format!("{words} and not listed; to list all of them: {}", all())
        }
    };
    context.terminal.result(Line::new().ink(Ink::Faint, line));
}

fn tell_account(context: &Context<'_>, journal: &Journal) -> Result<()> {
    let line = Line::plain("journal ").ink(Ink::Strong, journal.path().display().to_string());
    context.terminal.result(line.text(format!(", {}", journal.whose()?.words())));
    Ok(())
}

/// Tells an import; one that `is_below` an earlier round of its rows stands out less.
fn tell_import(context: &Context<'_>, facts: &ImportFacts, kept: Option<u64>, is_below: bool) {
    let ImportFacts { info: import, tally, left_out, unanswered: rows, differing, open_later, .. } = facts;
    let files: Vec<&str> = import.files.iter().map(|(name, _)| name.as_str()).collect();
    let state = match (moving(tally), tally.in_state(JobState::Held)) {
        (0, 0) if tally.count(JobState::is_success) == tally.total() => "finished".to_owned(),
        (0, 0) if unfinished(tally) == 0 => format!("finished: {}", counts::states(tally, left_out)),
        (0, held) if held > 0 => {
            format!("finished except for {}", counted(held, "row on hold", "rows on hold"))
        }
        _ => format!("{} unfinished", count(unfinished(tally))),
    };
    let mut answers = match rows.answers() {
        words if words.is_empty() => words,
        words => format!("; {words}"),
    };
    if *open_later > 0 {
        answers.push_str(&format!("; {} in a later round", count(*open_later)));
    }
    let round = import.round_words().map_or_else(String::new, |words| format!(" ({words})"));
    context.terminal.result(
        Line::plain(if is_below { "  import " } else { "import " })
            .ink(Ink::Strong, import.named())
            .text(format!("{round} of {}, {}: ", context.moment(import.at), files.join(", ")))
            .text(format!(
                "{}, {state}{answers}{}",
                counted(import.rows, "row", "rows"),
                turn(context, import, kept)
            )),
    );
    context.terminal.object(&ImportObject {
        import: import.import,
        label: import.label(),
        round: import.round,
        round_of: import.round_of,
        at: import.at.into(),
        rows: import.rows,
        files: FileDigest::all(&import.files),
        counts: tally.by_state(),
        changed_since: *differing,
        paused_at: import.paused_at.map(Rfc3339),
        priority: import.priority,
        reserve: import.reserve,
        reserve_kept: kept.unwrap_or(0),
        answered: rows.answered.iter().map(|&(rows, by)| AnsweredRows { rows, by }).collect(),
    });
}

/// How the turn of an import is not as usual, in words.
fn turn(context: &Context<'_>, import: &ImportInfo, kept: Option<u64>) -> String {
    let mut words = String::new();
    if import.priority != 0 {
        words.push_str(&format!("; priority {}", import.priority));
    }
    if let Some(kept) = kept {
        let (reserve, kept) = (count(import.reserve), count(kept));
        words.push_str(&format!("; reserve {reserve} a day, {kept} of them kept today"));
    }
    if let Some(since) = import.paused_at {
        words.push_str(&format!("; paused since {}", context.moment(since)));
    }
    words
}

/// For so long a call whose outcome is unknown is shown; the journal keeps it.
const CALLS_SHOWN: Duration = Duration::from_hours(7 * 24);

/// How many calls have an unknown outcome, in words.
fn unknown_words(calls: &[UnknownCall]) -> String {
    counted(calls.len() as u64, "call has an unknown outcome", "calls have an unknown outcome")
}

/// What a person does about calls of which nobody knows whether they were carried out.
fn to_review(context: &Context<'_>, calls: &[UnknownCall]) -> Option<Need> {
    let first = calls.first()?;
    let (they, them) = match calls.len() {
        1 => ("it was", "it"),
        _ => ("they were", "each"),
    };
    Some(Need {
        cause: "call_unknown",
        count: calls.len() as u64,
        words: format!(
            "{}: check in the service whether {they} carried out, then mark {them} as reviewed",
            unknown_words(calls)
        )
        .into(),
        command: context.again(&format!("resolve --call {} --seen", first.call)),
    })
}

/// Tells the calls of which nobody knows whether they were carried out.
fn tell_unknown_calls(context: &Context<'_>, calls: &[UnknownCall]) {
    if calls.is_empty() {
        return;
    }
    let terminal = context.terminal;
    let words = counted(
        calls.len() as u64,
        "call of the last 7 days with an unknown outcome; check in the service whether it was carried out:",
        "calls of the last 7 days with an unknown outcome; check in the service whether they were carried out:",
    );
    terminal.result("");
    terminal.result(Line::new().ink(Ink::Warning, words));
    for call in calls {
        let why = match &call.code {
            Some(code) => row_advice::words(code).unwrap_or(code),
            None => "its outcome is not in the journal: it is under way, or fleetload was stopped",
        };
        let sent = format!("{}, by {}", context.moment(call.sent_at), call.who);
        let what = format!("{} {}", call.operation, call.parameters);
        terminal.result(format!("  call {}: {what}, {sent}: {why}", call.call));
        terminal.object(call);
    }
}

fn tell_run(context: &Context<'_>, status: &Status, suspended: Option<u32>) {
    let terminal = context.terminal;
    if let Some(run) = status.run() {
        // A run that could not write its end has not counted them.
        let requests = match run.requests.values().sum() {
            0 => String::new(),
            requests => format!(", {}, look-ups included", counted(requests, "request", "requests")),
        };
        terminal.result("");
        match run.ended_at {
            Some(ended) => terminal.result(format!(
                "last run: {}, {}{requests}, {}",
                context.moment(run.started_at),
                span(ended.since(run.started_at)),
                match (run.ending, &run.detail) {
                    (Some(RunEnd::Early(end)), Some(detail)) => format!("{}: {detail}", end.state().as_str()),
                    (Some(RunEnd::Early(end)), None) => end.state().as_str().to_owned(),
                    (Some(RunEnd::Finished) | None, _) if unfinished(status.tally()) > 0 => {
                        "sent everything that could be sent".to_owned()
                    }
                    (Some(RunEnd::Finished) | None, _) => "finished".to_owned(),
                }
            )),
            None => terminal.result(format!(
                "last run: begun {}, {}{}",
                context.moment(run.started_at),
                match (status.at_work(), suspended) {
                    (true, Some(_)) => "suspended",
                    (true, None) => "under way",
                    (false, _) => "killed",
                },
                run.held_back.as_deref().map_or_else(String::new, |held_back| format!("; {held_back}"))
            )),
        }
        terminal.object(&RunObject {
            started_at: run.started_at.into(),
            ended_at: run.ended_at.map(Rfc3339),
            ending: run.ending,
            details: run.detail.as_deref(),
            held_back: run.held_back.as_deref(),
            resumes_at: run.resumes_at.map(Rfc3339),
            requests: &run.requests,
        });
    }
}

/// Tells how many notifications are due to be delivered, and why they are.
fn tell_notifications(context: &Context<'_>, journal: &Journal) -> Result<()> {
    // Without a profile it is not known who is notified.
    let settings = context.settings(&Purpose::Reckoning, &Overrides::default());
    let targets =
        settings.map_or_else(|_| vec![Target::WEBHOOK, Target::COMMAND], |settings| settings.notify.names());
    let due = journal.undelivered_figures(&targets)?;
    if due.notifications == 0 {
        return Ok(());
    }
    let words = not_delivered(due.notifications, due.last_error.as_deref());
    context.terminal.result("");
    context.terminal.result(Line::new().ink(Ink::Warning, words));
    context.terminal.object(&NotificationsObject {
        not_delivered: due.notifications,
        last_error: due.last_error.as_deref(),
    });
    context.terminal.hint(deliver_advice(context));
    Ok(())
}

/// Over how long the pace of a run is measured.
const LATELY: Duration = Duration::from_secs(60);

/// Everything the first screen tells.
pub(super) struct Overview {
    pub(super) status: Status,
    needs: Vec<Need>,
    /// The calls of which nobody knows whether they were carried out.
    unknown_calls: Vec<UnknownCall>,
    /// Why a run would refuse the journal as an older copy.
    refused: Option<Regression>,
    lately: Option<(Recent, Duration)>,
    /// What the run at work has said that it has still to do.
    remaining: Option<Remaining>,
    /// The process of the run at work, if it is suspended.
    suspended: Option<u32>,
    quota: QuotaDay,
    now: Moment,
}

/// Why the counts of all imports are other numbers than the rows of the imports.
const COUNTED_ONCE: &str = "rows that came again, and rows that are one request, count once; rows that were not imported \
                            and then cancelled do not count";

impl Overview {
    /// Reads what the journal knows of an import, or of all.
    pub(super) fn of(context: &Context<'_>, journal: &Journal, import: Option<ImportId>) -> Result<Self> {
        let now = context.now();
        let status = Status::now(journal, import, now)?;
        let (mut lately, mut remaining) = (None, None);
        if let Some(run) = status.run().filter(|_| status.at_work()) {
            let length = now.since(run.started_at).min(LATELY).max(Duration::from_secs(1));
            lately = Some((journal.recent(now.minus(length))?, length));
            remaining = journal.noted_remaining(run.run)?;
        }
        let unavailable = match status.state() {
            RunState::Running => Vec::new(),
            RunState::Empty | RunState::NotBegun | RunState::Ended(_) => {
                next_commands::unavailable(context, journal, import)?
            }
        };
        let mut needs = NextCommands::of(context).with(unavailable, |commands| status.needs(commands));
        let unknown_calls = journal.unknown_calls(now.minus(CALLS_SHOWN))?;
        needs.extend(to_review(context, &unknown_calls));
        let refused = if status.at_work() { None } else { would_refuse(journal) };
        if let Some(regression) = &refused {
            needs.insert(
                0,
                Need {
                    cause: "journal_older",
                    count: unfinished(status.tally()),
                    words: older_words(regression).into(),
                    command: context.again("run --accept-journal"),
                },
            );
        }
        let mut quota = journal.limited_quota(now, configured_quota(context, journal)?, status.at_work())?;
        quota.partial |= refused.is_some();
        let suspended = lock_holder::suspended(status.holder().and_then(|holder| holder.pid));
        Ok(Self { status, needs, unknown_calls, refused, lately, remaining, suspended, quota, now })
    }

    /// Tells the whole in one sentence.
    pub(super) fn tell_sentence(&self, context: &Context<'_>) {
        let is_warned = self.refused.is_some() || !self.unknown_calls.is_empty();
        let ink = if is_warned { Ink::Warning } else { ink(&self.status) };
        context.terminal.result(Line::new().ink(ink, self.sentence(context)));
    }

    /// Tells the counts, with what is to be added to them, the pace and the quota.
    fn tell_figures(&self, context: &Context<'_>, more: Option<Line>) {
        let terminal = context.terminal;
        let (all, left_out) = (self.status.all_rows(), self.status.left_out());
        if all.total() > 0 {
            terminal.result("");
            for line in counts::glance(&all, left_out, terminal.result_columns()) {
                terminal.result(line);
            }
            let states = counts::states(&all, left_out);
            terminal.result(Line::new().ink(Ink::Faint, format!("of these: {states}")));
            more.into_iter().for_each(|line| terminal.result(line));
            let rows: u64 = self.status.imports().iter().map(|import| import.info.rows).sum();
            if rows != all.total() {
                terminal.result(Line::new().ink(Ink::Faint, COUNTED_ONCE));
            }
        }
        if let Some(pace) = self.pace() {
            terminal.result("");
            terminal.result(format!("pace: {pace}"));
        }
        if let (RunState::Ended(End::Quota | End::Window), Some(finish)) =
            (self.status.state(), self.forecast().finish)
        {
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
            terminal.result(Line::plain("  ").advice(&need.words));
            terminal.result(Line::plain("    ").ink(Ink::Hint, &need.command));
        }
    }

    /// The same facts for programs.
    fn figures(&self, context: &Context<'_>) -> OverviewFigures {
        let state = self.status.state();
        let waits = |end| self.status.resumes_at().filter(|_| state == RunState::Ended(end));
        let (parked, paused) = (waits(End::Quota), waits(End::Window));
        let pace = self.lately.map(|(recent, length)| RecentPace {
            seconds: length.as_secs(),
            requests: recent.requests,
            rows_finished: recent.finished,
        });
        let forecast = self.forecast();
        OverviewFigures {
            headline: self.sentence(context),
            by_kind: counts::by_kind(&self.status.all_rows(), self.status.left_out()),
            left_out: self.status.left_out().total(),
            run_at_work: self.status.at_work(),
            pace,
            finish_estimate: forecast.finish.map(Rfc3339),
            next_events: forecast.next,
            quota: self.quota,
            parked_until: parked.map(Rfc3339),
            paused_until: paused.map(Rfc3339),
            needs_person: self.needs.clone(),
        }
    }

    fn sentence(&self, context: &Context<'_>) -> String {
        let until = |until: Moment| waited_for(&context.here, until, self.now);
        let mut sentence =
            self.status.sentence(&Wording { until: &until, running: Some(&|| self.running(context)) });
        if !self.unknown_calls.is_empty() {
            sentence.push_str(&format!("; {}", unknown_words(&self.unknown_calls)));
        }
        match &self.refused {
            // What follows may have changed since.
            Some(regression) => format!("the journal {}; as far as it knows: {sentence}", regression.words()),
            None => sentence,
        }
    }

    fn running(&self, context: &Context<'_>) -> String {
        let tally = self.status.tally();
        let done = share(tally.count(JobState::is_final), tally.total());
        let since = self.status.run().map_or_else(String::new, |run| context.moment(run.started_at));
        if self.suspended.is_some() {
            let process = lock_holder::process(self.suspended);
            return format!(
                "begun {since}: {done} done; suspended{process}, so nothing is sent until it is continued"
            );
        }
        let mut words = format!("running since {since}: {done} done");
        let forecast = self.forecast();
        if let Some(finish) = forecast.finish {
            words.push_str(&format!(", {}", expected(finish, self.now, &context.here)));
        }
        for next in awaited(&forecast.next, self.now, &context.here) {
            words.push_str(&format!("; {next}"));
        }
        for pause in self.status.sheet_pauses() {
            words.push_str(&format!("; the rest of {} is not sent, as the sheet is paused", pause.title));
        }
        if let Some(unseen) = self.remaining.as_ref().map(|facts| facts.unseen).filter(|unseen| *unseen > 0) {
            let rows = counted(
                unseen,
                "row waits until the service shows what it depends on",
                "rows wait until the service shows what they depend on",
            );
            words.push_str(&format!("; {rows}"));
        }
        words
    }

    fn pace(&self) -> Option<String> {
        let (recent, length) = self.lately?;
        Some(format!(
            "{:.1} rows/s finished, {:.1} requests/s sent for them, look-ups aside, in the last {}",
            per_second(recent.finished, length),
            per_second(recent.requests, length),
            span(length)
        ))
    }

    /// When it will be done, by what the run at work has said; the live display says the same. Nobody knows while it is
    /// suspended.
    fn forecast(&self) -> Forecast {
        let noted = self.remaining.as_ref().filter(|_| self.suspended.is_none());
        let known = noted.map(|noted| forecast_noted(noted, self.now)).unwrap_or_default();
        known.with_in_doubt(self.status.tally().in_state(JobState::InDoubt))
    }

    fn tell_quota(&self, context: &Context<'_>) {
        let quota = &self.quota;
        if quota.sent == 0 && quota.ceiling.is_none() {
            return;
        }
        let (least, most) = quota.bounds();
        let of = quota.ceiling.map_or_else(String::new, |ceiling| format!(" of {}", count(ceiling)));
        let left = quota.left().map_or_else(String::new, |left| format!(", {most}{} left", count(left)));
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
            "quota of {} (UTC): {least}{}{of} used{parts}{left}{under_way}; the next day begins {}",
            quota.day,
            counted(quota.used(), "creation", "creations"),
            context.moment(quota.day.next().start())
        ));
    }
}

/// A moment that is waited for, and how long that is.
pub(super) fn waited_for(here: &TimeZone, until: Moment, now: Moment) -> String {
    let wait = span(until.since(now).max(Duration::from_secs(1)));
    format!("{} (in {wait})", moment(until, here))
}

/// How a status is coloured.
pub(super) fn ink(status: &Status) -> Ink {
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
