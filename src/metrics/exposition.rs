//! The figures of the journal and of a run as one text.

use super::family::{
    ANSWERS, COMMAND_ENDED, EXIT_CODE, INFO, JOURNAL_SIZE, LAST_ROW, LAST_SUCCESS, LATENCY, LIMIT,
    OLDEST_IN_DOUBT, OLDEST_ON_HOLD, OLDEST_WAITING, OPERATION_PAUSED, PACE, PARKED_SINCE, PARKED_UNTIL,
    PAUSED_SINCE, QUOTA, QUOTA_CEILING, QUOTA_RESET, REQUESTS, ROWS, RUN_IN_PROGRESS, RUN_STARTED,
    SHEET_PAUSES, UNREACHABLE_SINCE, WRITTEN,
};
use super::journal_figures::JournalFigures;
use super::run_figures::RunFigures;
use super::text_form::{TextForm, counts, number};
use crate::journal::CommandEnd;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::remaining::{Lane, Remaining};
use crate::model::state::JobState;
use crate::model::time::Moment;

/// What every such text begins with: the information is always there, and first.
pub const BEGINNING: &str = "# TYPE fleetload_info ";

/// What the figures are of, and when.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The name of the profile, where there is one.
    pub profile: Option<&'a str>,
    /// When they are written.
    pub now: Moment,
    /// How the command ended whose figures they are, where the journal does not know it.
    pub ended: Option<CommandEnd>,
}

/// The text; without a journal what is known without one, and what a run knows only of a run.
pub fn exposition(source: Source<'_>, journal: Option<&JournalFigures>, run: Option<&RunFigures>) -> String {
    let account = journal.and_then(|journal| journal.whose.account());
    let mut text =
        TextForm::new(account.map(|account| ("account", account.to_owned())).into_iter().collect());
    let service = journal.and_then(|journal| journal.whose.service()).unwrap_or_default();
    let rehearsal = journal.is_some_and(|journal| journal.whose.banner().is_some());
    let rehearsal = if rehearsal { "true" } else { "false" };
    let info = vec![env!("CARGO_PKG_VERSION"), source.profile.unwrap_or_default(), service, rehearsal];
    text.family(&INFO, [(info, 1.0)]);
    text.moment(&WRITTEN, Some(source.now));
    if let Some(journal) = journal {
        rows(&mut text, journal);
    }
    ends(&mut text, source, journal);
    if let Some(journal) = journal {
        quota(&mut text, journal);
    }
    // A run that is over waits for nothing but the next day.
    let under_way = run.filter(|_| source.ended.is_none());
    let parked = match under_way {
        Some(run) => run.parked,
        None => journal.and_then(|journal| journal.parked(source.now)),
    };
    let facts = match under_way {
        Some(run) => run.remaining.as_ref(),
        None => journal.and_then(|journal| journal.remaining.as_ref()),
    };
    text.moment(&PARKED_SINCE, parked.map(|(since, _)| since));
    text.moment(&PARKED_UNTIL, parked.map(|(_, until)| until).or(facts.and_then(|facts| facts.parked_until)));
    if let Some(facts) = facts {
        pace(&mut text, facts);
    }
    if let Some(journal) = journal {
        text.value(&JOURNAL_SIZE, Some(number(journal.bytes)));
    }
    if let Some(run) = run {
        of_run(&mut text, run, under_way.is_some());
    }
    text.end()
}

fn rows(text: &mut TextForm, journal: &JournalFigures) {
    let kinds = Kind::ALL.into_iter().filter(|kind| journal.rows.of_kind(*kind) > 0);
    let samples = kinds.flat_map(|kind| {
        let rows = move |state: &JobState| number(journal.rows.of(kind, *state));
        JobState::ALL.iter().map(move |state| (vec![kind.plural(), state.as_str()], rows(state)))
    });
    text.family(&ROWS, samples);
    text.moment(&OLDEST_WAITING, journal.times.waiting_since);
    text.moment(&OLDEST_IN_DOUBT, journal.times.in_doubt_since);
    text.moment(&OLDEST_ON_HOLD, journal.times.on_hold_since);
    text.moment(&LAST_ROW, journal.times.last_finished);
}

fn ends(text: &mut TextForm, source: Source<'_>, journal: Option<&JournalFigures>) {
    let in_progress = source.ended.is_none() && journal.is_some_and(|journal| journal.at_work);
    text.value(&RUN_IN_PROGRESS, Some(f64::from(u8::from(in_progress))));
    let run = journal.and_then(|journal| journal.run.as_ref());
    text.moment(&RUN_STARTED, run.map(|run| run.started_at));
    let noted = journal.and_then(|journal| journal.command_end);
    let last = source.ended.or(noted);
    text.moment(&COMMAND_ENDED, last.map(|end| end.at));
    let exit_code = match source.ended {
        Some(end) => Some(end.exit_code),
        None => journal.and_then(JournalFigures::exit_code),
    };
    text.value(&EXIT_CODE, exit_code.map(f64::from));
    let succeeded = last.and_then(|end| end.succeeded_at);
    text.moment(&LAST_SUCCESS, succeeded.or(noted.and_then(|end| end.succeeded_at)));
}

fn quota(text: &mut TextForm, journal: &JournalFigures) {
    let day = &journal.quota;
    let figures = [("confirmed", day.confirmed), ("refused", day.refused), ("doubtful", day.doubtful)];
    text.family(&QUOTA, figures.map(|(outcome, creations)| (vec![outcome], number(creations))));
    text.value(&QUOTA_CEILING, day.ceiling.map(number));
    text.moment(&QUOTA_RESET, Some(day.day.next().start()));
}

/// The pace of each operation with requests left, and what pauses it.
fn pace(text: &mut TextForm, facts: &Remaining) {
    text.family(
        &OPERATION_PAUSED,
        facts.held_back.iter().map(|held_back| (vec![held_back.operation.name()], 1.0)),
    );
    let lane = |operation: Operation| -> Option<&Lane> {
        facts.making.get(&operation).or_else(|| facts.verifying_by(operation))
    };
    let lanes = || Operation::ALL.iter().filter_map(|operation| Some((operation.name(), lane(*operation)?)));
    text.family(&PACE, lanes().filter_map(|(name, lane)| Some((vec![name], lane.pace?))));
    text.family(&LIMIT, lanes().filter_map(|(name, lane)| Some((vec![name], lane.limit?))));
}

fn of_run(text: &mut TextForm, run: &RunFigures, is_under_way: bool) {
    text.family(&REQUESTS, counts(&run.requests, |operation| vec![operation.name()]));
    text.family(&ANSWERS, counts(&run.answers, |(operation, class)| vec![operation.name(), class.as_str()]));
    text.histograms(&LATENCY, run.latency.iter().map(|(operation, latency)| (operation.name(), latency)));
    if is_under_way {
        let seconds = run.paused.iter().map(|(operation, since)| (operation.name(), *since));
        text.moments(&PAUSED_SINCE, seconds);
        text.moment(&UNREACHABLE_SINCE, run.unreachable);
    }
    text.value(&SHEET_PAUSES, Some(number(run.sheet_pauses)));
}
