//! The command line as typed: the commands, their options and their help. What it means is decided in
//! [`crate::cli::settings`].
//!
//! Secrets are never options. The options that every command understands may stand before or after its name.

pub(super) mod commands;
pub(super) mod housekeeping;
pub(super) mod options;
pub(super) mod reading;
pub(super) mod watch;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{
    Arg, ArgAction, Args as ClapArgs, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand,
};
use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

use self::commands::*;
use self::housekeeping::{BACKUP_EXAMPLES, Backup, PRUNE_EXAMPLES, Prune};
use self::options::words;
use self::reading::{EXPORT_EXAMPLES, Export, FIND_EXAMPLES, Find};
use self::watch::{WATCH_EXAMPLES, Watch};
use crate::error::{Error, Result};
use crate::model::time::Moment;
use crate::model::window::moment_of;
use crate::status::catalogue::{Scope, of_scope};
use crate::term::LogFormat;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The end of the help, with the exit codes as they are explained.
fn examples() -> String {
    let entries = of_scope(Scope::Exits).into_iter();
    let codes = entries.map(|entry| format!("\n  {}  {}", entry.code, entry.words));
    format!("{EXAMPLES}{}", codes.collect::<String>())
}

const EXAMPLES: &str = "\
First steps:
  fleetload run samples/onboarding.xlsx --sandbox   rehearse the whole product
  fleetload template --out blank.xlsx               blank sheets to fill in
  fleetload check customers.xlsx                    is my sheet right?
  fleetload plan customers.xlsx                     what will happen?
  fleetload run customers.xlsx                      do it
  fleetload status                                  where are we?
  fleetload explain cell.mac                        what does that code mean?

Exit codes:";

/// Creates companies, people, sites and devices from spreadsheets in a provisioning service: each row once, within the
/// service's limits, with a result for every row.
#[derive(Debug, Parser)]
#[command(name = "fleetload", version, styles = STYLES, after_help = examples(), max_term_width = 110)]
#[command(arg_required_else_help = true, infer_long_args = false)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    pub(super) command: Command,
}

impl Args {
    /// What was typed. A variable that is set to nothing counts as not set.
    pub(super) fn of_line(line: &[OsString]) -> clap::error::Result<Self> {
        let mut command = without_blank_variables(Self::command());
        if is_typed(line, "--no-color") {
            command = command.color(ColorChoice::Never);
        }
        let mut matches = command.try_get_matches_from_mut(line).map_err(without_dashes_advised)?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// Nobody means an option that the command does not have as a file or a number, which `-- --option` would make it.
fn without_dashes_advised(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg)
        && typed.starts_with("--")
    {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// Whether an option without a value stands in a line, which may not be one that can be parsed.
pub(super) fn is_typed(line: &[OsString], option: &str) -> bool {
    line.iter().take_while(|word| *word != "--").any(|word| word == option)
}

fn without_blank_variables(command: clap::Command) -> clap::Command {
    let is_blank = |arg: &Arg| {
        let value = arg.get_env().and_then(std::env::var_os);
        value.is_some_and(|value| value.to_str().is_some_and(|value| value.trim().is_empty()))
    };
    command
        .mut_args(|arg| if is_blank(&arg) { arg.env(None::<&str>) } else { arg })
        .mut_subcommands(without_blank_variables)
}

/// What every command understands.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Common options")]
pub(super) struct Common {
    /// The profile of the service account; needed only when the settings file has several
    #[arg(long, global = true, value_name = "NAME", env = "FLEETLOAD_PROFILE")]
    pub(super) profile: Option<String>,

    /// The settings file; otherwise ./fleetload.toml, then fleetload/fleetload.toml in your configuration folder
    #[arg(long, global = true, value_name = "FILE", env = "FLEETLOAD_CONFIG")]
    pub(super) config: Option<PathBuf>,

    /// The journal file, which holds the imports and the result of every row
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "FLEETLOAD_JOURNAL",
        default_value = "fleetload.db"
    )]
    pub(super) journal: PathBuf,

    /// Allow the journal on a network drive or in a synchronised folder (unsafe)
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) any_storage: bool,

    /// The folder the reports are written to
    #[arg(long, global = true, value_name = "DIR", env = "FLEETLOAD_REPORTS", default_value = "reports")]
    pub(super) reports: PathBuf,

    /// Print JSON for programs: one object a line for progress, and a summary as the last object
    #[arg(long, global = true)]
    pub(super) json: bool,

    /// Print only the result
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,

    /// Show notes and log what happens to each row; -vv also logs every request
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,

    /// The form of messages on standard error. Without it: plain at a terminal, elsewhere each line with its time and level
    #[arg(long, global = true, value_name = "FORM", env = "FLEETLOAD_LOG_FORMAT", value_parser = words!(LogFormat))]
    #[arg(hide_short_help = true)]
    pub(super) log_format: Option<LogFormat>,

    /// No colour (so does the environment variable NO_COLOR)
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) no_color: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Import the files, send every unfinished row in the journal, then write the reports
    #[command(after_help = RUN_EXAMPLES)]
    Run(Run),
    /// Check every cell, offline and without credentials, and list all problems at once
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Check, then show what would be created, in which order, with how many calls, and how long it would take
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(Plan),
    /// Import rows without sending them
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(Import),
    /// Show progress, quota, resume time, and rows that need a decision
    #[command(after_help = STATUS_EXAMPLES)]
    Status(Status),
    /// Write the reports again from the journal, at any time
    #[command(after_help = REPORT_EXAMPLES)]
    Report(OfImport),
    /// Show which devices of an import are online, since when, and which are not
    #[command(after_help = ROLLOUT_EXAMPLES)]
    Rollout(Rollout),
    /// Write the workbook that restores what an import changed, as it was before; sends nothing
    #[command(after_help = UNDO_EXAMPLES)]
    Undo(Undo),
    /// Make rejected and incomplete rows ready again
    #[command(after_help = RETRY_EXAMPLES)]
    Retry(Retry),
    /// Show the rows on hold and what the service has of them, or decide them
    #[command(after_help = RESOLVE_EXAMPLES)]
    Resolve(Resolve),
    /// Cancel the rows of an import that have not been sent
    #[command(after_help = CANCEL_EXAMPLES)]
    Cancel(Cancel),
    /// Send nothing more of an import until it is resumed
    #[command(after_help = PAUSE_EXAMPLES)]
    Pause(Pause),
    /// Go on with an import that was paused
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(Pause),
    /// Send the rows of an import before, or after, those of others
    #[command(after_help = PRIORITY_EXAMPLES)]
    Priority(Priority),
    /// Keep creations of each day's quota for an import
    #[command(after_help = RESERVE_EXAMPLES)]
    Reserve(Reserve),
    /// Write blank sheets to fill in
    #[command(after_help = TEMPLATE_EXAMPLES)]
    Template(Template),
    /// Explain a code, a state or an exit code: what it means, why it matters, what to do
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// Check profile, credentials, clock and journal, and show what can be created for each kind of row; creates nothing
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(Doctor),
    /// Find the ids of companies, sites, devices, people, templates and clouds that exist in the service
    #[command(after_help = FIND_EXAMPLES)]
    Find(Find),
    /// Export what exists in the service as CSV, XLSX or JSON: companies, people, sites, devices, labels, statuses and more
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Export),
    /// Deliver the notifications that are due, or send a test
    #[command(after_help = NOTIFY_EXAMPLES)]
    Notify(Notify),
    /// Watch a folder: check, import and run the sheets that are put into it
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(Watch),
    /// Copy the journal to one file, also while a run is in progress, or check such a copy
    #[command(after_help = BACKUP_EXAMPLES)]
    Backup(Backup),
    /// Remove old reports, sheets and requests of finished imports; rows are still recognised
    #[command(after_help = PRUNE_EXAMPLES)]
    Prune(Prune),
    /// Send one operation of the service by its name, and print the answer
    #[command(after_help = CALL_EXAMPLES, disable_help_flag = true)]
    Call(Call),
    /// Serve the simulated service on this machine
    #[command(after_help = SANDBOX_EXAMPLES)]
    Sandbox(Sandbox),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(Completions),
    /// Print the manual page, or write one for every command
    #[command(after_help = MAN_EXAMPLES)]
    Man(Man),
}

/// The moment to come that the value of `option` means: RFC 3339; `HH:MM`, the next time the clock of `zone` shows it;
/// `HH:MMZ`, that of UTC; or `YYYY-MM-DD HH:MM` by the clock of `zone`.
pub(super) fn moment_to_come(option: &str, text: &str, now: Moment, zone: &TimeZone) -> Result<Moment> {
    let text = text.trim();
    let moment = Moment::parse(text)
        .or_else(|| match text.strip_suffix('Z') {
            Some(utc) => time_of_day(utc, now, &TimeZone::UTC),
            None => time_of_day(text, now, zone),
        })
        .or_else(|| moment_of(text.parse::<DateTime>().ok()?, zone));
    let moment = moment.ok_or_else(|| {
        Error::usage(format!("{option}: '{text}' is not a time")).hint(
            "write 18:00 for the next time your clock shows it, 2026-03-02 18:00, or in UTC 18:00Z or \
             2026-03-02T06:00:00Z",
        )
    })?;
    if moment <= now {
        return Err(Error::usage(format!("{option}: {moment} is past")).hint("give a time in the future"));
    }
    Ok(moment)
}

fn time_of_day(text: &str, now: Moment, zone: &TimeZone) -> Option<Moment> {
    let (hours, minutes) = text.split_once(':')?;
    let digits = |part: &str| (part.len() <= 2).then(|| part.parse::<i8>().ok()).flatten();
    let time = Time::new(digits(hours)?, digits(minutes)?, 0, 0).ok()?;
    let today = Timestamp::from_millisecond(now.millis()).ok()?.to_zoned(zone.clone()).date();
    let days = [Some(today), today.tomorrow().ok()].into_iter().flatten();
    days.filter_map(|date| moment_of(date.to_datetime(time), zone)).find(|moment| *moment > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_commands_are_those_of_this_version() {
        let names: Vec<_> = Args::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        assert_eq!(
            names,
            [
                "run",
                "check",
                "plan",
                "import",
                "status",
                "report",
                "rollout",
                "undo",
                "retry",
                "resolve",
                "cancel",
                "pause",
                "resume",
                "priority",
                "reserve",
                "template",
                "explain",
                "doctor",
                "find",
                "export",
                "notify",
                "watch",
                "backup",
                "prune",
                "call",
                "sandbox",
                "completions",
                "man"
            ]
        );
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Args::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("fleetload {}", command.get_name())), "{}", command.get_name());
        }
    }

    #[test]
    fn a_decision_about_a_held_job_is_exactly_one() {
        let parse = |line: &str| Args::try_parse_from(line.split(' '));
        assert!(parse("fleetload resolve 17 --not-created").is_ok());
        assert!(parse("fleetload resolve #17 --abandon").is_ok());
        assert!(parse("fleetload resolve").is_ok(), "shows what is held");
        assert!(parse("fleetload resolve 17").is_ok(), "shows it");
        assert!(parse("fleetload resolve --import 3 --code absent --not-created").is_ok());
        assert!(parse("fleetload resolve 17 --not-created --unchecked").is_ok());
        assert!(parse("fleetload resolve --import 3 --code audit.vanished --seen").is_ok());
        assert!(parse("fleetload resolve --call 4 --call 5 --seen").is_ok());
        assert!(parse("fleetload resolve --call 4").is_err());
        assert!(parse("fleetload resolve --call 4 --abandon").is_err());
        assert!(parse("fleetload resolve 17 --call 4 --seen").is_err());
        assert!(parse("fleetload resolve --seen").is_err());
        assert!(parse("fleetload resolve 17 --seen --abandon").is_err());
        assert!(parse("fleetload resolve 17 --seen --unchecked").is_err());
        assert!(parse("fleetload resolve 17 --unchecked").is_err());
        assert!(parse("fleetload resolve 17 --import 3 --abandon").is_err());
        assert!(parse("fleetload resolve --not-created").is_err());
        assert!(parse("fleetload resolve 17 --not-created --abandon").is_err());
        assert!(parse("fleetload resolve --abandon").is_err());
        assert!(parse("fleetload resolve 0 --abandon").is_err());
        assert!(parse("fleetload resolve 17 --created 6f1c9c8e").is_err());
    }

    #[test]
    fn a_scenario_is_for_a_rehearsal_only() {
        let parse = |line: &str| Args::try_parse_from(line.split(' '));
        assert!(parse("fleetload run --sandbox --scenario bad-day.toml").is_ok());
        assert!(parse("fleetload run --scenario bad-day.toml").is_err());
    }

    #[test]
    fn a_time_of_day_is_the_next_time_the_readers_clock_shows_it() {
        let now = Moment::parse("2026-03-01T10:00:00Z").unwrap();
        let auckland = TimeZone::get("Pacific/Auckland").unwrap();
        let table = [
            ("18:00", &TimeZone::UTC, "2026-03-01T18:00:00Z"),
            ("09:30", &TimeZone::UTC, "2026-03-02T09:30:00Z"),
            ("10:00", &TimeZone::UTC, "2026-03-02T10:00:00Z"),
            // 23:00 in Auckland now.
            ("23:30", &auckland, "2026-03-01T10:30:00Z"),
            ("6:00", &auckland, "2026-03-01T17:00:00Z"),
            ("2026-03-02T06:00:00+01:00", &TimeZone::UTC, "2026-03-02T05:00:00Z"),
            ("00:05Z", &auckland, "2026-03-02T00:05:00Z"),
            ("2026-03-03 06:00", &auckland, "2026-03-02T17:00:00Z"),
            ("2026-03-03T06:00", &auckland, "2026-03-02T17:00:00Z"),
            // Clocks are set back at 03:00: the first 02:30 counts. They are set forward at 02:00: the moment of the change.
            ("2026-04-05 02:30", &auckland, "2026-04-04T13:30:00Z"),
            ("2026-09-27 02:30", &auckland, "2026-09-26T14:00:00Z"),
        ];
        for (text, here, expected) in table {
            assert_eq!(moment_to_come("--until", text, now, here).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_to_come_is_refused() {
        let now = Moment::parse("2026-03-01T10:00:00Z").unwrap();
        for text in [
            "soon",
            "25:00",
            "2026-03-01 09:00",
            "06:00 Z",
            "18",
            "18:60",
            "2026-03-01T09:00:00Z",
            "-1:30",
            "",
        ] {
            let error = moment_to_come("--until", text, now, &TimeZone::UTC).unwrap_err();
            assert!(error.what().starts_with("--until: ") && error.next_step().is_some(), "{text}");
        }
    }
}
