//! What a notification says: the sentence of the terminal, what needs a person, the next command, and the facts behind
//! them; and the key by which a change is reported once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use uuid::Uuid;

use crate::advice::{Piece, quoted_files};
use crate::cli::args::commands::Run;
use crate::cli::context::{Context, absolute};
use crate::cli::settings::Settings;
use crate::cli::status::next_commands::NextCommands;
use crate::cli::status::waited_for;
use crate::clock::Clock;
use crate::ending::{End, State};
use crate::error::Result;
use crate::journal::{Journal, RunId, Whose};
use crate::model::id::ImportId;
use crate::model::remaining::sheet_paused;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::notify::{Draft, Event, ImportFacts, NeedFacts, Notification, Occasion};
use crate::status::{RunState, Status, Wording, room_needed};
use crate::term::{clean, moment, operation_paused, unreachable};

/// More imports, and more files of one, are not listed.
const LISTED: usize = 20;
/// More characters of one text are not told.
const LONGEST: usize = 1000;

/// Writes notifications of one command; goes to the thread that needs one.
#[derive(Clone)]
pub(super) struct Drafter {
    commands: NextCommands,
    here: TimeZone,
    profile: Option<String>,
    whose: Whose,
    /// With its folder.
    journal: PathBuf,
    /// The names of the files that the command imports.
    files: Vec<String>,
    /// The options of a run as the command has them, each with a space before it.
    typed: String,
    /// The command that runs these files without being asked, where it can be told in full.
    unasked: Option<String>,
    clock: Arc<dyn Clock>,
}

impl Drafter {
    pub(super) fn of(context: &Context<'_>, settings: &Settings) -> Self {
        Self {
            commands: NextCommands::elsewhere(context),
            here: context.here.clone(),
            profile: settings.profile.as_ref().map(|(name, _)| name.clone()),
            whose: settings.identity().into(),
            journal: absolute(&context.common.journal),
            files: Vec::new(),
            typed: String::new(),
            unasked: None,
            clock: context.clock.clone(),
        }
    }

    /// With the files that the command imports.
    pub(super) fn of_run(self, typed: &Run) -> Self {
        // How files are read may hold values of rows.
        let is_short = typed.files.len() <= LISTED && typed.reading.is_empty();
        let options = typed.options_again();
        let command = format!("run{} --yes{options}", quoted_files(&typed.files));
        let unasked = is_short.then(|| self.commands.again.command(&command));
        let files = typed.files.iter().take(LISTED).map(|file| file_name(&file.to_string_lossy())).collect();
        Self { files, typed: options, unasked, ..self }
    }

    /// A notification without facts of the journal.
    pub(super) fn bare(&self, event: Event, text: &str) -> Notification {
        Notification {
            version: Notification::VERSION,
            id: Uuid::new_v4(),
            event,
            at: self.clock.now().to_string(),
            text: told(text),
            next: None,
            needs: Vec::new(),
            state: RunState::Running.word().to_owned(),
            reason: None,
            exit_code: None,
            resumes_at: None,
            imports: Vec::new(),
            counts: BTreeMap::new(),
            left_out: 0,
            profile: self.profile.clone(),
            account: self.whose.account().map(clean),
            service: self.whose.service().map(clean),
            journal: clean(&self.journal.to_string_lossy()),
            host: None,
        }
    }

    /// With whose records it speaks of.
    fn of_journal(&self, event: Event, text: &str, journal: &Journal) -> Result<Notification> {
        let whose = journal.whose()?;
        Ok(Notification {
            account: whose.account().map(clean),
            service: whose.service().map(clean),
            host: journal.machine_name()?.as_deref().map(clean),
            ..self.bare(event, text)
        })
    }

    /// With where the rows stand, and what to do about them; needs of the causes that the text has are not repeated.
    fn of_status(
        &self,
        event: Event,
        (text, text_has): (&str, &[&str]),
        journal: &Journal,
        status: &Status,
        imports: &[ImportId],
    ) -> Result<Notification> {
        let needs = self.commands.with(Vec::new(), |commands| status.needs(commands));
        let needs: Vec<NeedFacts> = needs
            .into_iter()
            .filter(|need| !text_has.contains(&need.cause))
            .map(|need| NeedFacts { words: told(need.words.as_str()), command: clean(&need.command) })
            .collect();
        let next = self.commands.with(Vec::new(), |commands| status.next(commands));
        // Where all that goes on alone is done, what is gravest comes first; rows are corrected before they are tried again.
        let waits_for_person = matches!(event, Event::FailedRows | Event::NeedsDecision);
        let next = match needs.first().filter(|_| waits_for_person) {
            Some(need) => Some(need.command.clone()),
            None => next.first().map(|step| clean(&step.command)),
        };
        let of = status.imports().iter().filter(|facts| imports.contains(&facts.info.import));
        let facts = of.take(LISTED).map(|facts| {
            let info = &facts.info;
            let files: Vec<String> =
                info.files.iter().take(LISTED).map(|(name, _)| file_name(name)).collect();
            ImportFacts {
                import: info.import.0,
                label: info.given_label.as_deref().map_or_else(|| files.join(", "), told),
                round: info.round,
                round_of: info.round_of.map(|first| first.0),
                files,
                rows: info.rows,
            }
        });
        Ok(Notification {
            next,
            needs: needs.into_iter().take(LISTED).collect(),
            state: status.state().word().to_owned(),
            reason: status.state().end().map(|end| end.as_str().to_owned()),
            resumes_at: status.resumes_at().map(|at| at.to_string()),
            imports: facts.collect(),
            counts: status.with_job().by_state(),
            left_out: status.left_out().total(),
            ..self.of_journal(event, text, journal)?
        })
    }

    /// The end of a run.
    pub(super) fn end(&self, journal: &Journal, end: &RunEnded<'_>) -> Result<Draft> {
        let event = event_of(end.end);
        let mut notification = self.of_status(event, (end.text, &[]), journal, end.status, end.imports)?;
        notification.state = end.end.state().as_str().to_owned();
        notification.reason = Some(end.end.as_str().to_owned());
        notification.exit_code = Some(end.end.exit().code());
        notification.resumes_at = end.resumes_at.map(|at| at.to_string());
        let key = match (event, end.resumes_at) {
            (Event::Parked, Some(until)) if end.end == End::Window => format!("window until {until}"),
            (Event::Parked, Some(until)) => parked_key(until),
            (Event::Finished | Event::FailedRows | Event::NeedsDecision, _) => {
                Self::rows_key(journal, end.end)?
            }
            _ => format!("{} {} {}", event.as_str(), end.end.as_str(), self.run_and_day(journal)?),
        };
        Ok(Draft { key, notification })
    }

    /// The same rows of the journal in the same states, unless one of them has changed since or more were imported. Which
    /// imports a run was about says nothing: the next one is not about those that this one finished.
    fn rows_key(journal: &Journal, end: End) -> Result<String> {
        let (tally, imports) = (journal.tally(None)?, journal.imports()?);
        let counts: Vec<String> =
            JobState::ALL.iter().map(|&state| tally.in_state(state).to_string()).collect();
        let newest = imports.last().map_or(0, |info| info.import.0);
        let at = journal.last_change()?.map_or(0, Moment::millis);
        let event = event_of(end).as_str();
        Ok(format!("{event} {} import {newest} counts {} at {at}", end.as_str(), counts.join(",")))
    }

    /// The last run that sent something, and the day: one that could not begin, tried again, is no news.
    fn run_and_day(&self, journal: &Journal) -> Result<String> {
        let run = journal.last_run_that_sent()?.unwrap_or(RunId(0));
        Ok(format!("run {run} day {}", self.clock.now().day()))
    }

    /// A command that ended with something else than the end of a run: one that could not begin, or one that began and
    /// failed. Only what the table of endings says of it leaves the machine: its own message may hold the value of a cell.
    pub(super) fn failed(&self, journal: Option<&Journal>, end: End, has_begun: bool) -> Draft {
        let event = event_of(end);
        let entry = end.entry();
        let text = match (end, self.files.as_slice()) {
            (End::Sheets | End::UnknownIds | End::NobodyToAsk, [_, ..]) => {
                format!("{}: {}", entry.words, self.files.join(", "))
            }
            _ => entry.words.to_owned(),
        };
        let facts = journal.and_then(|journal| self.of_journal(event, &text, journal).ok());
        let is_whole = |command: &&str| !command.contains(|c: char| c.is_ascii_uppercase());
        let next = entry.advice.iter().find_map(|piece| match piece {
            Piece::Command(command) => Some(*command).filter(|command| is_whole(command)),
            Piece::Words(_) => None,
        });
        let next = match end {
            End::NobodyToAsk => self.unasked.clone(),
            _ => next.map(|command| {
                let typed = if command == "run" { &self.typed } else { "" };
                self.commands.again.command(&format!("{command}{typed}"))
            }),
        };
        let next = next.as_deref().map(clean);
        let to_make_room = next.clone().filter(|_| end == End::JournalFull);
        let needs = to_make_room.map(|command| NeedFacts { words: room_needed(), command });
        let notification = Notification {
            next,
            needs: needs.into_iter().collect(),
            state: entry.state.as_str().to_owned(),
            reason: Some(end.as_str().to_owned()),
            exit_code: Some(entry.exit.code()),
            ..facts.unwrap_or_else(|| self.bare(event, &text))
        };
        // A failure is reported as well where the journal cannot be read.
        let run_and_day = journal.filter(|_| has_begun).and_then(|journal| self.run_and_day(journal).ok());
        let which = run_and_day.unwrap_or_else(|| format!("day {}", self.clock.now().day()));
        Draft { key: format!("{} {} {text} {which}", event.as_str(), end.as_str()), notification }
    }

    /// The last run was killed, which only those after it can tell.
    pub(super) fn killed(&self, journal: &Journal) -> Result<Option<Draft>> {
        let Some(run) = journal.last_run()?.filter(|run| run.ended_at.is_none()) else { return Ok(None) };
        let (status, imports) = of_unfinished(|import| Status::after(journal, import, End::Killed, None))?;
        let text = self.sentence(&status);
        let mut notification = self.of_status(Event::Stopped, (&text, &[]), journal, &status, &imports)?;
        notification.exit_code = Some(End::Killed.exit().code());
        Ok(Some(Draft { key: format!("stopped killed run {}", run.run), notification }))
    }

    /// Something while a run goes on.
    pub(super) fn occasion(&self, journal: Option<&Journal>, occasion: &Occasion) -> Result<Draft> {
        let hour = self.clock.now().millis() / 3_600_000;
        let run = match journal {
            Some(journal) => journal.last_run()?.map_or(0, |run| run.run.0),
            None => 0,
        };
        let (key, text, next) = match occasion {
            Occasion::Parked(until) => {
                let text = format!("parked until {}: today's quota is spent", moment(*until, &self.here));
                (parked_key(*until), text, None)
            }
            Occasion::Held => {
                let text = "a row needs your decision; the run goes on with the others".to_owned();
                (format!("needs-decision first run {run}"), text, Some("resolve"))
            }
            Occasion::SheetPaused { sheet, title, times, code } => {
                let text = format!("{}; everything else goes on", sheet_paused(title, *times, code));
                (format!("paused sheet {} run {run}", sheet.0), text, Some("status"))
            }
            Occasion::OperationPaused { operation, reason, next_try_in } => {
                let text = operation_paused(*operation, reason, Some(*next_try_in));
                (format!("paused {operation} hour {hour}"), text, Some("status"))
            }
            Occasion::Unreachable { reason } => {
                (format!("unreachable hour {hour}"), unreachable(reason), Some("doctor"))
            }
        };
        let event = occasion.event();
        let next = next.map(|command| clean(&self.commands.again.command(command)));
        let Some(journal) = journal else {
            return Ok(Draft { key, notification: Notification { next, ..self.bare(event, &text) } });
        };
        let (status, imports) = of_unfinished(|import| match occasion {
            Occasion::Parked(until) => Status::after(journal, import, End::Quota, Some(*until)),
            _ => Status::now(journal, import, self.clock.now()),
        })?;
        let text = match occasion {
            Occasion::Parked(_) => self.sentence(&status),
            _ => text,
        };
        let text_has: &[&str] = match occasion {
            // The journal may not have the last of these rows yet, nor the pause; or the run may have ended meanwhile.
            Occasion::SheetPaused { .. } => &["rejected", "set_aside"],
            Occasion::Parked(_)
            | Occasion::Held
            | Occasion::OperationPaused { .. }
            | Occasion::Unreachable { .. } => &[],
        };
        let mut notification = self.of_status(event, (&text, text_has), journal, &status, &imports)?;
        notification.next = next;
        Ok(Draft { key, notification })
    }

    fn sentence(&self, status: &Status) -> String {
        let now = self.clock.now();
        let until = |until: Moment| waited_for(&self.here, until, now);
        status.sentence(&Wording { until: &until, running: None })
    }
}

/// How a run ended, as the terminal says it.
pub(in crate::cli) struct RunEnded<'a> {
    pub(in crate::cli) end: End,
    pub(in crate::cli) text: &'a str,
    pub(in crate::cli) status: &'a Status,
    /// The imports that it was about, and those of which rows failed.
    pub(in crate::cli) imports: &'a [ImportId],
    pub(in crate::cli) resumes_at: Option<Moment>,
}

/// What an end is reported as.
pub(super) fn event_of(end: End) -> Event {
    match (end, end.state()) {
        (End::Done, _) => Event::Finished,
        (End::RowsFailed, _) => Event::FailedRows,
        (End::SheetPaused | End::ImportPaused, _) => Event::Paused,
        (End::Unreachable, _) => Event::Unreachable,
        (_, State::Parked) => Event::Parked,
        (_, State::Held) => Event::NeedsDecision,
        (_, State::Finished | State::Stopped | State::Waiting | State::Failed) => Event::Stopped,
    }
}

/// Told once for each day that is waited for.
fn parked_key(until: Moment) -> String {
    format!("parked until {}", until.day())
}

/// The imports of which rows are left, with the status of the only one, or else of the journal.
fn of_unfinished(status: impl Fn(Option<ImportId>) -> Result<Status>) -> Result<(Status, Vec<ImportId>)> {
    let whole = status(None)?;
    let is_left = |state: JobState| !state.is_final();
    let open = whole.imports().iter().filter(|facts| facts.tally.count(is_left) > 0);
    let open: Vec<ImportId> = open.map(|facts| facts.info.import).collect();
    match open[..] {
        [only] => Ok((status(Some(only))?, open)),
        _ => Ok((whole, open)),
    }
}

/// A text fit to be told anywhere.
fn told(text: &str) -> String {
    clean(&text.chars().take(LONGEST).collect::<String>())
}

/// The name of a file without its folder.
fn file_name(name: &str) -> String {
    told(name.rsplit(['/', '\\']).next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_told_as_one_event() {
        let table = [
            (End::Done, "finished"),
            (End::RowsFailed, "failed-rows"),
            (End::RowsHeld, "needs-decision"),
            (End::Verification, "needs-decision"),
            (End::Quota, "parked"),
            (End::Window, "parked"),
            (End::SheetPaused, "paused"),
            (End::ImportPaused, "paused"),
            (End::Until, "stopped"),
            (End::Signal, "stopped"),
            (End::Killed, "stopped"),
            (End::RowsWaiting, "stopped"),
            (End::Credentials, "stopped"),
            (End::EndpointMissing, "stopped"),
            (End::Breaker, "stopped"),
            (End::Sheets, "stopped"),
            (End::JournalFull, "stopped"),
            (End::Unreachable, "unreachable"),
        ];
        for (end, expected) in table {
            assert_eq!(event_of(end).as_str(), expected, "{end:?}");
        }
    }

    #[test]
    fn of_a_file_the_name_is_told_without_its_folder_and_without_what_steers() {
        for (name, expected) in [
            ("/home/kim/a.xlsx", "a.xlsx"),
            ("C:\\kim\\a.xlsx", "a.xlsx"),
            ("a\r\nb.csv", "a\\r\\nb.csv"),
            ("\u{202e}a.csv", "\\u{202e}a.csv"),
        ] {
            assert_eq!(file_name(name), expected);
        }
    }
}
