//! What was typed: the commands, their options and their help. What it means is decided in [`super::settings`].
//!
//! Secrets are never options. The options that every command understands may stand before or after its name.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args as ClapArgs, Parser, Subcommand};
use clap_complete::Shell;

use super::choice::{InDoubtWord, OnExistingWord, OnQuotaWord};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::Kind;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
First steps:
  fleetload run samples/onboarding.xlsx --sandbox   the whole product, rehearsed, with no set-up
  fleetload template --out blank.xlsx               blank sheets to fill in
  fleetload check customers.xlsx                    is my sheet right?
  fleetload plan customers.xlsx                     what will happen?
  fleetload run customers.xlsx                      do it
  fleetload status                                  where are we?

Exit codes:
  0  every job done
  1  fleetload itself failed
  2  usage, profile or settings wrong
  3  the sheets have problems; nothing was imported, nothing sent
  4  finished, and some rows were rejected or skipped
  5  stopped with work left that can go on by itself later; the time is printed
  6  journal locked, damaged, full or not writable
  7  the service refuses us or cannot be reached
  8  finished, but some rows are held: a person must decide";

/// Creates companies, people, sites and devices from spreadsheets in a provisioning service: row by row, exactly
/// once, inside its limits, with an answer for every row.
#[derive(Debug, Parser)]
#[command(name = "fleetload", version, styles = STYLES, after_help = EXAMPLES, max_term_width = 110)]
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

    /// The journal: the file that holds the imports and what became of every row
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "FLEETLOAD_JOURNAL",
        default_value = "fleetload.db"
    )]
    pub(super) journal: PathBuf,

    /// The folder the reports are written to
    #[arg(long, global = true, value_name = "DIR", env = "FLEETLOAD_REPORTS", default_value = "reports")]
    pub(super) reports: PathBuf,

    /// Machine output on standard output: one JSON object a line for progress and one last summary
    #[arg(long, global = true)]
    pub(super) json: bool,

    /// Say nothing but the result
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,

    /// Say what is done and why; twice for every decision
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,

    /// No colour (so does the environment variable NO_COLOR)
    #[arg(long, global = true)]
    pub(super) no_color: bool,
}

/// Rehearsal against the simulated service.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Rehearsal")]
pub(super) struct Rehearsal {
    /// Use a simulated service inside fleetload instead of a real one; needs no profile
    #[arg(long)]
    pub(super) sandbox: bool,

    /// What the simulated service does wrong: latency, quota, faults (a TOML file)
    #[arg(long, value_name = "FILE", requires = "sandbox")]
    pub(super) scenario: Option<PathBuf>,
}

/// Settings of the profile that may be set for one command.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Settings, for this command only")]
pub(super) struct Overrides {
    /// Requests a second for each operation, at most 100
    #[arg(long, value_name = "N")]
    pub(super) rate: Option<String>,

    /// Requests under way at once, 1 to 1024
    #[arg(long, value_name = "N")]
    pub(super) concurrency: Option<String>,

    /// Creations that a day allows; without it the service's own limit is learned
    #[arg(long, value_name = "N")]
    pub(super) daily_quota: Option<String>,

    /// Creations of a day to leave for others
    #[arg(long, value_name = "N")]
    pub(super) reserve: Option<String>,

    /// When the day's quota is spent: wait for the next day, or exit with 5
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(super) on_quota: Option<OnQuotaWord>,

    /// When a record with the row's key is there before we send: adopt it, skip the row, or fail it
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(super) on_existing: Option<OnExistingWord>,

    /// When it stays unknown whether a record was created: settle it by looking, or hold the row for a person
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(super) in_doubt: Option<InDoubtWord>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Import the files, then run every unfinished job in the journal, then report
    #[command(after_help = RUN_EXAMPLES)]
    Run(Run),
    /// Validate every cell, offline, without credentials; every problem at once
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Check, then tell what would be created, in what order, with how many calls, days and hours
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(Plan),
    /// Put the rows in the journal, send nothing
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(Import),
    /// Tell where things stand: counts, quota, waiting until when, what needs a person
    #[command(after_help = STATUS_EXAMPLES)]
    Status(OfImport),
    /// Write the reports again from the journal, at any time
    #[command(after_help = REPORT_EXAMPLES)]
    Report(OfImport),
    /// Make rejected jobs ready again
    #[command(after_help = RETRY_EXAMPLES)]
    Retry(Retry),
    /// Decide jobs that are held
    #[command(after_help = RESOLVE_EXAMPLES)]
    Resolve(Resolve),
    /// Give up what has not been sent of one import
    #[command(after_help = CANCEL_EXAMPLES)]
    Cancel(Cancel),
    /// Write blank sheets to fill in
    #[command(after_help = TEMPLATE_EXAMPLES)]
    Template(Template),
    /// Check profile, credentials, clock, journal, and which mapped endpoints answer; creates nothing
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

/// `fleetload run`.
#[derive(Debug, ClapArgs)]
pub(super) struct Run {
    /// Sheets to import first: workbooks (.xlsx) or CSV files; none to go on with the journal
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Begin no request after this moment and exit with 5: `18:00` (local time), or `2026-03-02T06:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<String>,

    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) rehearsal: Rehearsal,
    #[command(flatten)]
    pub(super) overrides: Overrides,
}

const RUN_EXAMPLES: &str = "\
Examples:
  fleetload run onboarding.xlsx                 import the workbook and create everything in it
  fleetload run                                 go on where the last run stopped
  fleetload run onboarding.xlsx --sandbox       rehearse it: nothing leaves this machine
  fleetload run companies.csv sites.csv         several sheets that refer to each other
  fleetload run --until 18:00 --on-quota exit   for a scheduled run: stop instead of waiting

Ctrl-C once stops after the requests under way, twice at once. Both are safe: `fleetload run` goes on.";

/// How files are read.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Reading")]
pub(super) struct Reading {
    /// What the rows of the files are, where neither sheet name, file name nor headers tell
    #[arg(long, value_name = "KIND")]
    pub(super) kind: Option<Kind>,

    /// Read only this worksheet of workbooks; may be given several times
    #[arg(long = "worksheet", value_name = "NAME")]
    pub(super) worksheets: Vec<String>,

    /// The row of the header, where it is not found by itself
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) header_row: Option<u32>,

    /// A header that means a column of ours: `--rename "Department=name"`; may be given several times
    #[arg(long, value_name = "HEADER=COLUMN", value_parser = assignment)]
    pub(super) rename: Vec<(String, String)>,

    /// A column that is not to be read, by its header; may be given several times
    #[arg(long, value_name = "HEADER")]
    pub(super) ignore_column: Vec<String>,

    /// A value for blank cells of a column: `--default companies.parent=ID`; may be given several times
    #[arg(long, value_name = "KIND.COLUMN=VALUE")]
    pub(super) default: Vec<String>,

    /// What stands between the cells of CSV files, where it is not recognised
    #[arg(long, value_name = "CHARACTER")]
    pub(super) delimiter: Option<char>,

    /// Leave out rows with errors, and those that depend on them, instead of refusing everything
    #[arg(long)]
    pub(super) skip_invalid: bool,

    /// The encoding of CSV files, where it is not recognised: windows-1252, macintosh …
    #[arg(long, value_name = "NAME")]
    pub(super) encoding: Option<String>,
}

/// `fleetload check`.
#[derive(Debug, ClapArgs)]
pub(super) struct Check {
    /// The sheets: workbooks (.xlsx) or CSV files; those that refer to each other together
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) reading: Reading,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  fleetload check onboarding.xlsx
  fleetload check companies.csv people.csv sites.csv devices.csv
  fleetload check onboarding.xlsx --json | jq 'select(.severity == \"error\")'

Every problem is told at once, with its cell as the spreadsheet shows it. Exit code 3 when there are any.";

/// `fleetload plan`.
#[derive(Debug, ClapArgs)]
pub(super) struct Plan {
    /// The sheets to plan for
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) rehearsal: Rehearsal,
    #[command(flatten)]
    pub(super) overrides: Overrides,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  fleetload plan onboarding.xlsx
  fleetload plan onboarding.xlsx --daily-quota 10000   how many days would it take?

Nothing is imported and nothing is sent. Without a profile the documented paths are assumed.";

/// `fleetload import`.
#[derive(Debug, ClapArgs)]
pub(super) struct Import {
    /// The sheets to import
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) reading: Reading,
}

const IMPORT_EXAMPLES: &str = "\
Examples:
  fleetload import onboarding.xlsx   then `fleetload run` when the time has come

Importing a sheet again is safe: rows that are done already are recognised and not sent again.";

/// A command about one import.
#[derive(Debug, ClapArgs)]
pub(super) struct OfImport {
    /// The number of the import; the latest when left out
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(super) import: Option<ImportId>,
}

const STATUS_EXAMPLES: &str = "\
Examples:
  fleetload status
  fleetload status 3 --json

Reads the journal only; it may be asked while a run is under way.";

const REPORT_EXAMPLES: &str = "\
Examples:
  fleetload report
  fleetload report 3 --reports /srv/reports

The reports of import 3 are in reports/3/: results.xlsx and, for every sheet, what became of each row, and fix
sheets with the rows a person must correct. Correct them and run them as they are.";

/// `fleetload retry`.
#[derive(Debug, ClapArgs)]
pub(super) struct Retry {
    /// The number of the import; all imports when left out
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(super) import: Option<ImportId>,

    /// Only rows rejected with this code, as in the report
    #[arg(long, value_name = "CODE")]
    pub(super) code: Option<String>,

    /// Only rows of this sheet
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,

    /// Only this row, as the spreadsheet numbers it
    #[arg(long, value_name = "N", requires = "sheet")]
    pub(super) row: Option<u32>,
}

const RETRY_EXAMPLES: &str = "\
Examples:
  fleetload retry                        every rejected row, with the values it has
  fleetload retry 3 --code invalidState
  fleetload retry 3 --sheet Devices --row 17

Rows whose values are wrong are repaired in the sheet instead: correct it and `fleetload run` it again.";

/// `fleetload resolve`.
#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("decision").required(true).multiple(false))]
pub(super) struct Resolve {
    /// The numbers of the held jobs, as `fleetload status` shows them
    #[arg(value_name = "JOB", required = true, value_parser = job_id)]
    pub(super) jobs: Vec<JobId>,

    /// It was created: this is its id in the service (one job at a time)
    #[arg(long, value_name = "ID", group = "decision")]
    pub(super) created: Option<RemoteId>,

    /// It was not created: it may be sent again
    #[arg(long, group = "decision")]
    pub(super) not_created: bool,

    /// Give it up; rows below it are skipped
    #[arg(long, group = "decision")]
    pub(super) abandon: bool,
}

const RESOLVE_EXAMPLES: &str = "\
Examples:
  fleetload resolve 17 --created 6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11
  fleetload resolve 17 18 19 --not-created
  fleetload resolve 17 --abandon

Look in the service first: a record that is created twice cannot be removed.";

/// `fleetload cancel`.
#[derive(Debug, ClapArgs)]
pub(super) struct Cancel {
    /// The number of the import
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(super) import: ImportId,
}

const CANCEL_EXAMPLES: &str = "\
Examples:
  fleetload cancel 3

What was sent stays: records cannot be removed. Rows in doubt are still cleared up by the next run.";

/// `fleetload template`.
#[derive(Debug, ClapArgs)]
pub(super) struct Template {
    /// companies, sites, people or devices; all four when left out
    #[arg(value_name = "KIND")]
    pub(super) kinds: Vec<Kind>,

    /// A workbook (FILE.xlsx), or a folder for CSV files
    #[arg(long, value_name = "WHERE", default_value = "fleetload-template.xlsx")]
    pub(super) out: PathBuf,
}

const TEMPLATE_EXAMPLES: &str = "\
Examples:
  fleetload template                             one workbook with a sheet for each kind
  fleetload template devices --out devices.xlsx
  fleetload template --out blank/                a folder of CSV files";

/// `fleetload doctor`.
#[derive(Debug, ClapArgs)]
pub(super) struct Doctor {
    #[command(flatten)]
    pub(super) rehearsal: Rehearsal,
    #[command(flatten)]
    pub(super) overrides: Overrides,
}

const DOCTOR_EXAMPLES: &str = "\
Examples:
  fleetload doctor
  fleetload doctor --profile acme

Shows every setting and where it comes from, takes a token, compares the clocks and asks look-ups for a record
that cannot exist. Creations are never tried.";

/// `fleetload sandbox`.
#[derive(Debug, ClapArgs)]
pub(super) struct Sandbox {
    /// Where to listen; only addresses of this machine itself
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8470")]
    pub(super) listen: SocketAddr,

    /// What it does wrong: latency, quota, faults (a TOML file)
    #[arg(long, value_name = "FILE")]
    pub(super) scenario: Option<PathBuf>,

    /// Keep its records in this file over a restart; otherwise in memory
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,
}

const SANDBOX_EXAMPLES: &str = "\
Examples:
  fleetload sandbox
  fleetload sandbox --listen 127.0.0.1:0 --state rehearsal.json
  fleetload sandbox --scenario bad-day.toml

Prints a profile to use it with from another terminal. Ctrl-C ends it.";

/// `fleetload completions`.
#[derive(Debug, ClapArgs)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(super) shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  fleetload completions bash > ~/.local/share/bash-completion/completions/fleetload
  fleetload completions zsh > ~/.zfunc/_fleetload";

/// `fleetload man`.
#[derive(Debug, ClapArgs)]
pub(super) struct Man {
    /// Write a page for fleetload and each of its commands into this folder
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  fleetload man | man -l -
  fleetload man --out ~/.local/share/man/man1";

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((header, column)) if !header.trim().is_empty() && !column.trim().is_empty() => {
            Ok((header.trim().to_owned(), column.trim().to_owned()))
        }
        Some(_) | None => Err("write it as HEADER=COLUMN".to_owned()),
    }
}

fn import_id(text: &str) -> Result<ImportId, String> {
    positive(text, "an import").map(ImportId)
}

fn job_id(text: &str) -> Result<JobId, String> {
    positive(text.strip_prefix('#').unwrap_or(text), "a job").map(JobId)
}

fn positive(text: &str, what: &str) -> Result<i64, String> {
    text.parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| format!("{what} is a number from 1, as `fleetload status` shows it"))
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
        assert!(parse("fleetload resolve 17").is_err());
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
