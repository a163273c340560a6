//! The command line as typed: the commands, their options and their help. What it means is decided in
//! [`crate::cli::settings`].
//!
//! Secrets are never options. The options that every command understands may stand before or after its name.

pub(super) mod commands;
pub(super) mod until;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args as ClapArgs, Parser, Subcommand};

use self::commands::*;
use crate::model::policy::{Audit, InDoubt, OnExisting, OnQuota};
use crate::status::catalogue::{Scope, of_scope};

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

    /// No colour (so does the environment variable NO_COLOR)
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) no_color: bool,
}

/// Rehearsal against the simulated service.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Rehearsal")]
pub(super) struct Rehearsal {
    /// Use a simulated service inside fleetload instead of a real one; needs no profile
    #[arg(long)]
    pub(super) sandbox: bool,

    /// Scenario file (TOML): latency, quota and faults to simulate
    #[arg(long, value_name = "FILE", requires = "sandbox")]
    pub(super) scenario: Option<PathBuf>,
}

/// Takes one of the words of a choice, which the help lists with their meanings.
macro_rules! words {
    ($choice:ty) => {
        PossibleValuesParser::new(possible(<$choice>::WORDS, <$choice>::MEANINGS))
            .try_map(|word| word.parse::<$choice>())
    };
}

fn possible(words: &'static [&'static str], meanings: &'static [&'static str]) -> Vec<PossibleValue> {
    let help = |meaning: &'static str| meaning.trim().trim_end_matches('.');
    words.iter().zip(meanings).map(|(word, meaning)| PossibleValue::new(word).help(help(meaning))).collect()
}

/// Settings of the profile that may be set for one command.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Settings, for this command only")]
pub(super) struct Overrides {
    /// Requests a second for each operation, at most 100
    #[arg(long, value_name = "N")]
    pub(super) rate: Option<String>,

    /// Requests under way at once, 1 to 1024
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(super) concurrency: Option<String>,

    /// Creations allowed a day; without it fleetload learns the service's limit
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(super) daily_quota: Option<String>,

    /// Creations a day to leave for others
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(super) reserve: Option<String>,

    /// When the day's quota is spent: wait for the next day, or exit with 5
    #[arg(long, value_name = "WHAT", value_parser = words!(OnQuota))]
    pub(super) on_quota: Option<OnQuota>,

    /// If a record with the row's key already exists: adopt it, skip the row, or reject the row (`fail`)
    #[arg(long, value_name = "WHAT", value_parser = words!(OnExisting), hide_short_help = true)]
    pub(super) on_existing: Option<OnExisting>,

    /// If it is unknown whether a record was created: settle it by look-ups, or put the row on hold
    #[arg(long, value_name = "WHAT", value_parser = words!(InDoubt), hide_short_help = true)]
    pub(super) in_doubt: Option<InDoubt>,

    /// Records to verify before the run ends: all, those whose creation was ever in doubt, or none
    #[arg(long, value_name = "WHAT", value_parser = words!(Audit), hide_short_help = true)]
    pub(super) audit: Option<Audit>,
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
    Status(OfImport),
    /// Write the reports again from the journal, at any time
    #[command(after_help = REPORT_EXAMPLES)]
    Report(OfImport),
    /// Make rejected and incomplete rows ready again
    #[command(after_help = RETRY_EXAMPLES)]
    Retry(Retry),
    /// Show the rows on hold and what the service has of them, or decide them
    #[command(after_help = RESOLVE_EXAMPLES)]
    Resolve(Resolve),
    /// Cancel the rows of an import that have not been sent
    #[command(after_help = CANCEL_EXAMPLES)]
    Cancel(Cancel),
    /// Write blank sheets to fill in
    #[command(after_help = TEMPLATE_EXAMPLES)]
    Template(Template),
    /// Explain a code, a state or an exit code: what it means, why it matters, what to do
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// Check profile, credentials, clock and journal, and show what can be created for each kind of row; creates nothing
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(Doctor),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

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
                "retry",
                "resolve",
                "cancel",
                "template",
                "explain",
                "doctor",
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
}
