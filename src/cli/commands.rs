//! What was typed after the name of each command, with the examples of its help. How files are to be read is left to
//! `reading_flags`, what every command has to `args`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

use super::args::{Overrides, Rehearsal};
use super::reading_flags::Reading;
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::Kind;

/// `fleetload run`.
#[derive(Debug, ClapArgs)]
pub(super) struct Run {
    /// Sheets to import first: workbooks (.xlsx) or CSV files; none to go on with the journal
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Begin no request after this moment and exit with 5: `18:00` (local time), or `2026-03-02T06:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<String>,

    /// Go on with a journal that is an older copy, or was run on another machine: every row that is not known to be
    /// done is looked up first, and held if the look-up is inconclusive
    #[arg(long, hide_short_help = true)]
    pub(super) accept_journal: bool,

    /// Go on with a sheet of which the service refuses 50 rows in a row for the same reason, instead of setting it
    /// aside
    #[arg(long)]
    pub(super) despite_rejections: bool,

    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) rehearsal: Rehearsal,
    #[command(flatten)]
    pub(super) overrides: Overrides,
}

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  fleetload run onboarding.xlsx                 import the workbook and create everything in it
  fleetload run                                 go on where the last run stopped
  fleetload run onboarding.xlsx --sandbox       rehearse it: nothing leaves this machine
  fleetload run companies.csv sites.csv         several sheets that refer to each other
  fleetload run --until 18:00 --on-quota exit   for a scheduled run: stop instead of waiting
  fleetload run --despite-rejections            send all of a sheet that was set aside after 50 refusals

Ctrl-C once stops after the requests under way, twice at once. Both are safe: `fleetload run` goes on.";

/// `fleetload check`.
#[derive(Debug, ClapArgs)]
pub(super) struct Check {
    /// The sheets: workbooks (.xlsx) or CSV files; those that refer to each other together
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// Write the sheets to this folder, too, with every problem in its cell: `<name>.checked.xlsx`
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,

    #[command(flatten)]
    pub(super) reading: Reading,
}

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  fleetload check onboarding.xlsx
  fleetload check companies.csv people.csv sites.csv devices.csv
  fleetload check sites.csv --map \"Store No.=reference\" --ignore-column Notes
  fleetload check sites.csv --customer northern        as the profile keeps it for this customer
  fleetload check onboarding.xlsx --deny warnings      nothing may even look wrong
  fleetload check onboarding.xlsx --out checked/   the workbook with red cells, to correct and run
  fleetload check onboarding.xlsx --json | jq 'select(.severity == \"error\")'

Every problem is told at once, with its cell as the spreadsheet shows it. Exit code 3 when there are any.";

/// `fleetload plan`.
#[derive(Debug, ClapArgs)]
pub(super) struct Plan {
    /// The sheets to plan for
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// Write the plan as a page for the browser, too
    #[arg(long, value_name = "FILE.html")]
    pub(super) out: Option<PathBuf>,

    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) rehearsal: Rehearsal,
    #[command(flatten)]
    pub(super) overrides: Overrides,
}

pub(super) const PLAN_EXAMPLES: &str = "\
Examples:
  fleetload plan onboarding.xlsx
  fleetload plan onboarding.xlsx --daily-quota 10000   how many days would it take?
  fleetload plan onboarding.xlsx --out plan.html       a page to pass on

The run that follows says whether something has changed since. Nothing is imported and nothing is sent. Without a profile the documented paths are assumed.";

/// `fleetload import`.
#[derive(Debug, ClapArgs)]
pub(super) struct Import {
    /// The sheets to import
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) reading: Reading,
}

pub(super) const IMPORT_EXAMPLES: &str = "\
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

pub(super) const STATUS_EXAMPLES: &str = "\
Examples:
  fleetload status
  fleetload status 3 --json

Reads the journal only; it may be asked while a run is under way.";

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  fleetload report
  fleetload report 3 --reports /srv/reports

The reports of import 3 are in reports/3/: report.html, the page to read first, print or pass on; results.xlsx and,
for every sheet, what became of each row; and fix sheets with the rows a person must correct. Correct them and run
them as they are.";

/// `fleetload retry`.
#[derive(Debug, ClapArgs)]
pub(super) struct Retry {
    /// The number of the import; all imports when left out
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(super) import: Option<ImportId>,

    /// Only rows rejected or incomplete with this code, as in the report
    #[arg(long, value_name = "CODE")]
    pub(super) code: Option<String>,

    /// Only rows of this sheet
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,

    /// Only this row, as the spreadsheet numbers it
    #[arg(long, value_name = "N", requires = "sheet")]
    pub(super) row: Option<u32>,
}

pub(super) const RETRY_EXAMPLES: &str = "\
Examples:
  fleetload retry                        every rejected or incomplete row, with the values it has
  fleetload retry 3 --code invalidState
  fleetload retry 3 --sheet Devices --row 17

Rows whose values are wrong are repaired in the sheet instead: correct it and `fleetload run` it again.";

/// `fleetload resolve`.
#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("decision").multiple(false))]
#[command(group = clap::ArgGroup::new("selection").multiple(true))]
pub(super) struct Resolve {
    /// The numbers of the jobs, as `fleetload status` shows them
    #[arg(
        value_name = "JOB",
        value_parser = job_id,
        group = "selection",
        conflicts_with_all = ["import", "sheet", "code"]
    )]
    pub(super) jobs: Vec<JobId>,

    /// All held jobs of this import
    #[arg(long, value_name = "N", value_parser = import_id, group = "selection")]
    pub(super) import: Option<ImportId>,

    /// All held jobs of sheets with this name
    #[arg(long, value_name = "NAME", group = "selection")]
    pub(super) sheet: Option<String>,

    /// All jobs held with this code, as in the report
    #[arg(long, value_name = "CODE", group = "selection")]
    pub(super) code: Option<String>,

    /// It was created: this is its id in the service (one job at a time)
    #[arg(long, value_name = "ID", group = "decision", requires = "selection")]
    pub(super) created: Option<RemoteId>,

    /// It was not created: it may be sent again
    #[arg(long, group = "decision", requires = "selection")]
    pub(super) not_created: bool,

    /// Give it up; rows below it are skipped
    #[arg(long, group = "decision", requires = "selection")]
    pub(super) abandon: bool,

    /// Mark verification findings as reviewed, so that runs stop reporting them
    #[arg(long, group = "decision", requires = "selection")]
    pub(super) seen: bool,

    /// Accept the decision without checking the service (recorded as unchecked)
    #[arg(long, requires = "decision", conflicts_with_all = ["abandon", "seen"])]
    pub(super) unchecked: bool,

    #[command(flatten)]
    pub(super) rehearsal: Rehearsal,
}

pub(super) const RESOLVE_EXAMPLES: &str = "\
Examples:
  fleetload resolve                        the held rows, and what the service shows of each now
  fleetload resolve 17 --created 6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11
  fleetload resolve 17 18 19 --not-created
  fleetload resolve --import 3 --code absent --not-created
  fleetload resolve 17 --abandon
  fleetload resolve 17 --seen              what was found when it was read back has been looked into
  fleetload resolve --import 3 --code audit.vanished --seen

A decision is checked by asking the service before it is believed: a record that is created twice cannot be
removed. Exit code 2 when the decision about one job is refused; with several jobs each is decided on its own, and
the exit code is 8 when some of them stay held.";

/// `fleetload cancel`.
#[derive(Debug, ClapArgs)]
pub(super) struct Cancel {
    /// The number of the import
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(super) import: ImportId,
}

pub(super) const CANCEL_EXAMPLES: &str = "\
Examples:
  fleetload cancel 3

What was not sent is cancelled, and so are rows that were not imported because of errors: nobody is asked to correct
them any more. What was sent stays: records cannot be removed. Rows in doubt are listed, and still cleared up by the next run:
exit code 5 when there are any, 8 when rows are held.";

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

pub(super) const TEMPLATE_EXAMPLES: &str = "\
Examples:
  fleetload template                             one workbook with a sheet for each kind
  fleetload template devices --out devices.xlsx
  fleetload template --out blank/                a folder of CSV files";

/// `fleetload explain`.
#[derive(Debug, ClapArgs)]
pub(super) struct Explain {
    /// Codes of findings and of rows, states, or exit codes (`exit 4`); all of them are listed when left out
    #[arg(value_name = "CODE")]
    pub(super) codes: Vec<String>,
}

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  fleetload explain                            every code, with its meaning in a line
  fleetload explain cell.numeric-identifier
  fleetload explain noDataFound held exit 4
  fleetload explain --json | jq .code

Codes are in the findings of check, in the column result_code of the reports, and in status.";

/// `fleetload doctor`.
#[derive(Debug, ClapArgs)]
pub(super) struct Doctor {
    #[command(flatten)]
    pub(super) rehearsal: Rehearsal,
    #[command(flatten)]
    pub(super) overrides: Overrides,
}

pub(super) const DOCTOR_EXAMPLES: &str = "\
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

pub(super) const SANDBOX_EXAMPLES: &str = "\
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

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
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

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  fleetload man | man -l -
  fleetload man --out ~/.local/share/man/man1";

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
