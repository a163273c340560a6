//! The options of each command, with the examples of its help. How files are to be read is left to
//! [`crate::cli::args::options`], what every command has to `args`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

use super::options::{Overrides, ReadingArgs, RehearsalArgs, WindowArgs, words};
use crate::model::id::{CallId, ImportId, JobId, RemoteId};
use crate::model::kind::Kind;
use crate::term::{EventDetail, clean};

/// `fleetload run`.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(in crate::cli) struct Run {
    /// Sheets to import first: workbooks (.xlsx), CSV files, folders of them, or `-` for standard input; without any, go on with the
    /// journal
    #[arg(value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,

    /// What to call the import in status, reports and notifications, instead of by its files: at most 80 characters
    #[arg(long, value_name = "TEXT", value_parser = label, requires = "files")]
    pub(in crate::cli) label: Option<String>,

    /// Refuse to run unless exactly that happens which this plan says: the file of `fleetload plan --save`
    #[arg(long, value_name = "PLAN", requires = "files")]
    pub(in crate::cli) plan: Option<PathBuf>,

    /// Do not ask, where the profile has confirm = true
    #[arg(long)]
    pub(in crate::cli) yes: bool,

    /// First send and verify N rows of each kind, of different companies and sheets, and what they depend on; go on only when
    /// all of them are right. 0 ends a canary that is under way, and sends everything
    #[arg(long, value_name = "N")]
    pub(in crate::cli) canary: Option<u32>,

    /// With --json, which news of the run to print
    #[arg(long, value_name = "WHICH", default_value = "rows", value_parser = words!(EventDetail), hide_short_help = true)]
    pub(in crate::cli) events: EventDetail,

    /// Write figures for Prometheus to this file every 15 seconds, in the OpenMetrics text form
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(in crate::cli) metrics_file: Option<PathBuf>,
    /// Start no request after this time and exit with 5: `18:00` (local time, or that of --zone), `2026-03-02 06:00`, or
    /// in UTC `06:00Z`, `2026-03-02T06:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) until: Option<String>,

    /// Import now, and start to send at this time, written as that of --until
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) at: Option<String>,

    /// Let the run in progress on this journal try again now what it waits to try: a service that fails or cannot be
    /// reached, a spent quota, deferred rows
    #[arg(long, conflicts_with = "files")]
    pub(in crate::cli) now: bool,

    /// Go on with a journal that is an older copy, or was run on another machine: every row that is not known to be
    /// done is looked up first, and put on hold if the look-up is inconclusive
    #[arg(long, hide_short_help = true)]
    pub(in crate::cli) accept_journal: bool,

    /// Keep sending a sheet after the service has rejected 50 of its rows in a row for the same reason, instead of
    /// pausing it
    #[arg(long)]
    pub(in crate::cli) despite_rejections: bool,

    /// Let updates set fields that the service has changed since the sheet was exported
    #[arg(long, hide_short_help = true)]
    pub(in crate::cli) overwrite: bool,

    #[command(flatten)]
    pub(in crate::cli) turn: TurnArgs,
    #[command(flatten)]
    pub(in crate::cli) window: WindowArgs,
    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,
    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
    #[command(flatten)]
    pub(in crate::cli) overrides: Overrides,
}

impl Run {
    /// The options with which the rows go on as they were begun, each with a space before it.
    pub(in crate::cli) fn options_again(&self) -> String {
        let mut line = self.overrides.command_line() + &self.window.command_line();
        for (option, is_typed) in
            [(" --overwrite", self.overwrite), (" --despite-rejections", self.despite_rejections)]
        {
            line.push_str(if is_typed { option } else { "" });
        }
        line
    }
}

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  fleetload run onboarding.xlsx                 import the workbook and create everything in it
  fleetload run                                 go on where the last run stopped
  fleetload run onboarding.xlsx --sandbox       rehearse it: nothing leaves this machine
  fleetload run companies.csv sites.csv         several sheets that refer to each other
  fleetload run onboarding.xlsx --canary 2      two rows of each kind first; the rest when these are verified
  fleetload run customers/                      all sheets directly in a folder, in the order of their names
  export-devices | fleetload run - --kind devices   a sheet from standard input
  fleetload run --until 18:00 --on-quota exit   for a scheduled run: stop instead of waiting
  fleetload run --despite-rejections            send all of a sheet that was paused after 50 rejections
  fleetload run --between 22:00-06:00 --zone Pacific/Auckland   only at night
  fleetload run onboarding.xlsx --at 00:05Z     import now, send from 00:05 UTC on
  fleetload run --now                           in another terminal: the run in progress tries again now

Ctrl-C once stops after the requests under way; Ctrl-C twice stops at once. Both are safe: `fleetload run` goes on.";

/// `fleetload check`.
#[derive(Debug, Clone, ClapArgs)]
pub(in crate::cli) struct Check {
    /// The sheets: workbooks (.xlsx), CSV files, folders of them, or `-` for standard input; name sheets that refer to each other
    /// together
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,

    /// Also write the sheets to this folder, with every problem marked in its cell: `<name>.checked.xlsx`
    #[arg(long, value_name = "FOLDER")]
    pub(in crate::cli) out: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,
}

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  fleetload check onboarding.xlsx
  fleetload check companies.csv people.csv sites.csv devices.csv
  fleetload check sites.csv --map \"Store No.=reference\" --ignore-column Notes
  fleetload check sites.csv --customer northern        with the options kept for this customer
  fleetload check onboarding.xlsx --deny warnings      treat warnings as errors
  fleetload check onboarding.xlsx --out checked/   the workbook with red cells, to correct and run
  fleetload check onboarding.xlsx --json | jq 'select(.severity == \"error\")'

All problems are listed at once, each with its cell as the spreadsheet names it. Exit code 3 if there are errors.";

/// `fleetload plan`.
#[derive(Debug, Clone, ClapArgs)]
pub(in crate::cli) struct Plan {
    /// The sheets to plan for: files, folders of them, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,

    /// Ask the service: look up every id that the sheets name. Needs the profile; changes nothing
    #[arg(long)]
    pub(in crate::cli) refresh: bool,

    /// List every row: what would happen to it, the rows and ids that it refers to, and the operations that are sent for it
    #[arg(long)]
    pub(in crate::cli) rows: bool,

    /// Also write the plan as a page for the browser
    #[arg(long, value_name = "FILE.html")]
    pub(in crate::cli) out: Option<PathBuf>,

    /// Also save the plan to this file, for `fleetload run FILE --plan PLAN`
    #[arg(long, value_name = "PLAN")]
    pub(in crate::cli) save: Option<PathBuf>,

    /// Exit with 10 instead of 0 when rows would be sent
    #[arg(long)]
    pub(in crate::cli) detailed_exitcode: bool,

    #[command(flatten)]
    pub(in crate::cli) window: WindowArgs,
    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,
    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
    #[command(flatten)]
    pub(in crate::cli) overrides: Overrides,
}

pub(super) const PLAN_EXAMPLES: &str = "\
Examples:
  fleetload plan onboarding.xlsx
  fleetload plan onboarding.xlsx --daily-quota 10000   how many days would it take?
  fleetload plan onboarding.xlsx --out plan.html       a page to share
  fleetload plan onboarding.xlsx --rows                what happens to each row
  fleetload plan onboarding.xlsx --save agreed.json    for `fleetload run onboarding.xlsx --plan agreed.json`
  fleetload plan onboarding.xlsx --refresh             also look up the ids that the sheets name

Imports nothing and sends nothing, but for the look-ups of --refresh. The run that follows says whether anything has changed since the plan. Without a
profile the plan uses the documented paths.";

/// `fleetload import`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Import {
    /// The sheets to import: files, folders of them, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,

    /// What to call the import in status, reports and notifications, instead of by its files: at most 80 characters
    #[arg(long, value_name = "TEXT", value_parser = label)]
    pub(in crate::cli) label: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) turn: TurnArgs,

    /// Keep so many creations of each day's quota for the rows of these files, as long as they have some to send
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    pub(in crate::cli) reserve: Option<u64>,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,
}

pub(super) const IMPORT_EXAMPLES: &str = "\
Examples:
  fleetload import onboarding.xlsx   later: `fleetload run`
  fleetload import north.xlsx --label \"Northern region\"
  fleetload import urgent.xlsx --priority 10   its rows are sent first
  fleetload import urgent.xlsx --reserve 300   300 creations of each day are kept for its rows

Importing a sheet again is safe: rows that are done already are recognised and not sent again. It is a further round of
its import then, and has that import's label unless you give another.";

/// A command about one import.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct OfImport {
    /// The number of the import; without it, the latest
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: Option<ImportId>,
}

/// `fleetload status`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Status {
    /// The number of the import; without it, all imports
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: Option<ImportId>,

    /// Exit with the code of how things stand: 0 done, 4 rows were rejected, 5 rows wait, 7 the service stopped the run, 8
    /// something needs your decision
    #[arg(long)]
    pub(in crate::cli) check: bool,

    /// Show it again and again, in place at a terminal; Ctrl-C ends it
    #[arg(long, conflicts_with = "check")]
    pub(in crate::cli) watch: bool,

    /// Seconds from one look to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 2, requires = "watch")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(in crate::cli) every: u64,

    /// Print figures for Prometheus in the OpenMetrics text form, and nothing else
    #[arg(long, conflicts_with_all = ["import", "check", "watch", "unfinished", "all"])]
    pub(in crate::cli) metrics: bool,

    /// List only the imports with rows that wait or need you; of more than ten imports, this is the default
    #[arg(long, conflicts_with_all = ["import", "all"])]
    pub(in crate::cli) unfinished: bool,

    /// List all imports, however many they are
    #[arg(long, conflicts_with = "import")]
    pub(in crate::cli) all: bool,
}

pub(super) const STATUS_EXAMPLES: &str = "\
Examples:
  fleetload status
  fleetload status 3 --json
  fleetload status --check     for a script or a monitor: the exit code says how things stand
  fleetload status --watch     in a second terminal, while a run is in progress
  fleetload status --metrics   figures for Prometheus

Reads only the journal; you can use it while a run is in progress.";

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  fleetload report
  fleetload report 3 --reports /srv/reports

The reports of import 3 are in reports/3/: report.html, the page to read first, print or share; results.xlsx and,
for every sheet, the result of each row; and fix sheets with the rows that you must correct. Correct them and run
them as they are.";

/// `fleetload rollout`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Rollout {
    /// The number of the import; without it, the latest
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: Option<ImportId>,

    /// Look again and again until every device is online; Ctrl-C ends it
    #[arg(long)]
    pub(in crate::cli) watch: bool,

    /// Seconds from one look to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "watch")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(in crate::cli) every: u64,

    /// Also write every device, company and site to this workbook
    #[arg(long, value_name = "FILE.xlsx")]
    pub(in crate::cli) out: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
    #[command(flatten)]
    pub(in crate::cli) overrides: Overrides,
}

pub(super) const ROLLOUT_EXAMPLES: &str = "\
Examples:
  fleetload rollout                          the devices of the latest import
  fleetload rollout 3 --watch --every 60     look every minute until all are online
  fleetload rollout 3 --out rollout.xlsx     every device, to filter and share

Sends one request for each company where a list of its devices is available, otherwise one for each device. Changes
nothing. A device counts as online when the service gives the status Online; other statuses and times are shown as the
service writes them. Exit code 0 when every device of the import that exists is online, 5 when not.";

/// `fleetload undo`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Undo {
    /// The number of the import
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: ImportId,

    /// The workbook to write; a file that exists is not overwritten
    #[arg(long, value_name = "FILE.xlsx")]
    pub(in crate::cli) out: PathBuf,
}

pub(super) const UNDO_EXAMPLES: &str = "\
Examples:
  fleetload undo 3 --out undo.xlsx       what restores import 3
  fleetload plan undo.xlsx               what it would do
  fleetload run undo.xlsx

Reads only the journal and sends nothing. The workbook has the upkeep rows that restore labels of interfaces, metadata,
subscriptions, sites of devices and VPN memberships as they were read before the import changed them. Records, licence
codes and labels of sites and devices cannot be removed. What is not restored is listed with its reason, in the workbook
too; the exit code is 4 then.";

/// `fleetload retry`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Retry {
    /// The number of the import; without it, all imports
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: Option<ImportId>,

    /// Only rows rejected or incomplete with this code, as in the report
    #[arg(long, value_name = "CODE")]
    pub(in crate::cli) code: Option<String>,

    /// Only rows of this sheet
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,

    /// Only the row with this number in the spreadsheet; needs --sheet
    #[arg(long, value_name = "N", requires = "sheet")]
    pub(in crate::cli) row: Option<u32>,
}

pub(super) const RETRY_EXAMPLES: &str = "\
Examples:
  fleetload retry                        every rejected or incomplete row, with the values it has
  fleetload retry 3 --code invalidState
  fleetload retry 3 --sheet Devices --row 17

If the values of a row are wrong, correct the sheet instead and `fleetload run` it again.";

/// `fleetload resolve`.
#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("decision").multiple(false))]
#[command(group = clap::ArgGroup::new("selection").multiple(true))]
pub(in crate::cli) struct Resolve {
    /// The numbers of the jobs, as `fleetload status` shows them
    #[arg(
        value_name = "JOB",
        value_parser = job_id,
        group = "selection",
        conflicts_with_all = ["import", "sheet", "code"]
    )]
    pub(in crate::cli) jobs: Vec<JobId>,

    /// All rows on hold of this import
    #[arg(long, value_name = "N", value_parser = import_id, group = "selection")]
    pub(in crate::cli) import: Option<ImportId>,

    /// All rows on hold of sheets with this name
    #[arg(long, value_name = "NAME", group = "selection")]
    pub(in crate::cli) sheet: Option<String>,

    /// All rows on hold with this code, as in the report
    #[arg(long, value_name = "CODE", group = "selection")]
    pub(in crate::cli) code: Option<String>,

    /// A call with an unknown outcome, by its number in `fleetload status`; with --seen
    #[arg(
        long = "call",
        value_name = "N",
        value_parser = call_id,
        group = "selection",
        requires = "seen",
        conflicts_with_all = ["jobs", "import", "sheet", "code", "created", "done", "not_created", "abandon"]
    )]
    pub(in crate::cli) calls: Vec<CallId>,

    /// The record was created and has this id in the service (one job at a time)
    #[arg(long, value_name = "ID", group = "decision", requires = "selection")]
    pub(in crate::cli) created: Option<RemoteId>,

    /// What the row asks for is so in the service, of a row that creates no record
    #[arg(long, group = "decision", requires = "selection")]
    pub(in crate::cli) done: bool,

    /// The record was not created, or what the row asks for is not so; the row may be sent again
    #[arg(long, visible_alias = "not-done", group = "decision", requires = "selection")]
    pub(in crate::cli) not_created: bool,

    /// Cancel the row; the rows that depend on it are skipped
    #[arg(long, group = "decision", requires = "selection")]
    pub(in crate::cli) abandon: bool,

    /// Mark verification findings, or calls with an unknown outcome, as reviewed, so that they are not reported again
    #[arg(long, group = "decision", requires = "selection")]
    pub(in crate::cli) seen: bool,

    /// Accept the decision without checking the service (recorded as unchecked)
    #[arg(long, requires = "decision", conflicts_with_all = ["abandon", "seen"])]
    pub(in crate::cli) unchecked: bool,

    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
}

pub(super) const RESOLVE_EXAMPLES: &str = "\
Examples:
  fleetload resolve                        the rows on hold, and what the service has of each now
  fleetload resolve 17 --created 6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11
  fleetload resolve 17 18 19 --not-created
  fleetload resolve --import 3 --code absent --not-created
  fleetload resolve 52 53 --done           labels, codes … that are in the service as the rows ask for
  fleetload resolve 17 --abandon
  fleetload resolve 17 --seen              the findings of its verification are reviewed
  fleetload resolve --import 3 --code audit.vanished --seen
  fleetload resolve --call 4 --seen        you have looked whether call 4 was carried out

fleetload checks a decision with the service before it accepts it, because a record that is created twice cannot be
removed. Exit code 2 if the decision about one job is refused; several jobs are decided one by one, and
the exit code is 8 if some of them stay on hold.";

/// `fleetload cancel`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Cancel {
    /// The number of the import
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: ImportId,
}

pub(super) const CANCEL_EXAMPLES: &str = "\
Examples:
  fleetload cancel 3

Cancels the rows that were not sent, those that were rejected, and those that were not imported because of errors: no
report asks you to correct them any more. Records that exist stay: they cannot be removed. Rows in doubt are listed,
and the next run still settles them. Exit code 5 if there are any, 8 if rows are on hold.";

/// `fleetload pause` and `fleetload resume`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Pause {
    /// The number of the import
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: ImportId,
}

pub(super) const PAUSE_EXAMPLES: &str = "\
Examples:
  fleetload pause 3
  fleetload resume 3

Nothing more of the import is sent, also by a run in progress in another process. Requests under way end as usual, rows in
doubt are settled, and the rows of other imports go on. A run that has only paused rows left ends with 5.";

pub(super) const RESUME_EXAMPLES: &str = "\
Examples:
  fleetload resume 3

A run in progress goes on with the rows of the import; otherwise the next run does.";

/// `fleetload priority`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Priority {
    /// The number of the import
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: ImportId,

    /// Its priority, -1000 to 1000; 0 unless one was given
    #[arg(value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(-1000..=1000))]
    pub(in crate::cli) priority: i64,
}

pub(super) const PRIORITY_EXAMPLES: &str = "\
Examples:
  fleetload priority 3 10    send the rows of import 3 before those of imports with a lower priority
  fleetload priority 3 0     as usual again
  fleetload priority 2 -- -5   after all others

A run in progress follows within seconds. Rows of the same priority are sent in the order of their imports. A row that
depends on a row of another import waits for it, whatever the priorities: the command says so.";

/// `fleetload reserve`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Reserve {
    /// The number of the import
    #[arg(value_name = "IMPORT", value_parser = import_id)]
    pub(in crate::cli) import: ImportId,

    /// Creations of each day's quota that are kept for it; 0 for none
    #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    pub(in crate::cli) creations: u64,
}

pub(super) const RESERVE_EXAMPLES: &str = "\
Examples:
  fleetload reserve 3 300    keep 300 creations of each day's quota for the rows of import 3
  fleetload reserve 3 0      as usual again

As long as the import has rows to send, rows of other imports leave it so many creations a day; it may have more when they
leave more. A paused import has no reserve. A run in progress follows within seconds. `reserve` in a profile is for others
than fleetload.";

/// The turn of an import.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(in crate::cli) struct TurnArgs {
    /// Send the rows of these files before those of imports with a lower priority; 0 unless one is given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(i64).range(-1000..=1000))]
    pub(in crate::cli) priority: Option<i64>,
}

/// `fleetload template`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Template {
    /// companies, sites, people or devices, or a sheet of upkeep such as labels; without any, the first four
    #[arg(value_name = "KIND")]
    pub(in crate::cli) kinds: Vec<Kind>,

    /// Fill the drop-downs of the workbook with what the service has of this company, named by its id or its whole name:
    /// companies below it, sites, devices, enterprise templates and VPN clouds
    #[arg(long = "for", value_name = "COMPANY")]
    pub(in crate::cli) company: Option<String>,

    /// A workbook (FILE.xlsx), or a folder for CSV files
    #[arg(long, value_name = "WHERE", default_value = "fleetload-template.xlsx")]
    pub(in crate::cli) out: PathBuf,

    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
}

pub(super) const TEMPLATE_EXAMPLES: &str = "\
Examples:
  fleetload template                             one workbook with a sheet for each kind
  fleetload template devices --out devices.xlsx
  fleetload template --out blank/                a folder of CSV files
  fleetload template --for \"Acme Ltd\"            with the sites, devices and templates of a company to choose from";

/// `fleetload explain`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Explain {
    /// Codes of findings and of rows, states, or exit codes (`exit 4`); without any, lists all of them
    #[arg(value_name = "CODE")]
    pub(in crate::cli) codes: Vec<String>,
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
pub(in crate::cli) struct Doctor {
    /// Try the operations that read with this company, by its id or its whole name; without it, with records of the
    /// journal
    #[arg(long, value_name = "COMPANY")]
    pub(in crate::cli) company: Option<String>,

    /// Write the settings of every operation whose path the specification does not state, all commented out, to a new
    /// file: for the owner of the account to complete
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) write_endpoints: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
    #[command(flatten)]
    pub(in crate::cli) overrides: Overrides,
}

pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  fleetload doctor
  fleetload doctor --profile acme
  fleetload doctor -v --company Northwind           each operation, tried with a company that exists
  fleetload doctor --write-endpoints endpoints.toml   a list to complete of the paths that are not known

Shows every setting and where it comes from, gets an access token, compares the clocks, and tries everything that
only reads: the look-ups with a record that cannot exist, then all with records that exist. It changes nothing.";

/// `fleetload notify`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Notify {
    /// Send a test to each receiver of the profile, once, and report whether it was delivered
    #[arg(long)]
    pub(in crate::cli) test: bool,
}

pub(super) const NOTIFY_EXAMPLES: &str = "\
Examples:
  fleetload notify --test   do notifications arrive?
  fleetload notify          deliver what is due, without a run

Whom a run notifies, and of what, is in [profile.NAME.notify]; docs/notifications.md has examples. Exit code 4 if a
notification is not delivered, 5 if a run is in progress, which delivers them itself.";

/// `fleetload call`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Call {
    /// The operation, by its name in `fleetload call --list`
    #[arg(value_name = "OPERATION", required_unless_present_any = ["list", "help"])]
    pub(in crate::cli) operation: Option<String>,

    /// A parameter of the operation; repeat the option for each
    #[arg(short, long = "parameter", value_name = "NAME=VALUE", conflicts_with = "list")]
    pub(in crate::cli) parameters: Vec<String>,

    /// The file with the JSON body, or `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub(in crate::cli) body: Option<PathBuf>,

    /// Print the whole answer as the service sent it, whatever it says, and not its body as JSON
    #[arg(long, conflicts_with = "list")]
    pub(in crate::cli) raw: bool,

    /// Send without asking an operation that changes something
    #[arg(long, conflicts_with = "list")]
    pub(in crate::cli) yes: bool,

    /// List all operations of the service, and whether the profile can reach them
    #[arg(long, conflicts_with = "operation")]
    pub(in crate::cli) list: bool,

    /// Print help; with OPERATION, its parameters and the fields of its body
    #[arg(short, long)]
    pub(in crate::cli) help: bool,

    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
}

pub(super) const CALL_EXAMPLES: &str = "\
Examples:
  fleetload call --list                                       all operations
  fleetload call addCompany --help                            its parameters, its fields and an example
  fleetload call findCompaniesByName -p companyName=Acme
  fleetload call getDevice -p id=6f1c2a3e-0000-4000-8000-000000000002 --sandbox
  fleetload call addCompany --body company.json --yes
  echo '{\"name\": \"Till 2\"}' | fleetload call updateDevice -p deviceId=ID --body - --yes
  fleetload call listDevices --json | jq 'select(.object == \"call\") | .body'

Parameters and body are checked before anything is sent. An operation that changes something asks first, is written to
the journal before it leaves, and is never sent a second time. The body of the answer is printed as JSON. Exit code 4 if
the service rejects the request, 8 if it is unknown whether a change was carried out.";

/// `fleetload sandbox`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Sandbox {
    /// The address to listen at; only addresses of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8470")]
    pub(in crate::cli) listen: SocketAddr,

    /// Scenario file (TOML): latency, quota and faults to simulate
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) scenario: Option<PathBuf>,

    /// Keep its records in this file across restarts; without it they are in memory only
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) state: Option<PathBuf>,
}

pub(super) const SANDBOX_EXAMPLES: &str = "\
Examples:
  fleetload sandbox
  fleetload sandbox --listen 127.0.0.1:0 --state rehearsal.json
  fleetload sandbox --scenario bad-day.toml

Prints a profile with which another terminal can use it. Ctrl-C ends it.";

/// `fleetload completions`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(in crate::cli) shell: Shell,
}

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  fleetload completions bash > ~/.local/share/bash-completion/completions/fleetload
  fleetload completions zsh > ~/.zfunc/_fleetload";

/// `fleetload man`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Man {
    /// Write a page for fleetload and each of its commands into this folder
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
}

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  fleetload man | man -l -
  fleetload man --out ~/.local/share/man/man1";

pub(super) fn import_id(text: &str) -> Result<ImportId, String> {
    positive(text, "an import").map(ImportId)
}

/// Characters of a label at most, so that it fits into a line.
const LONGEST_LABEL: usize = 80;

/// A label: some text in one line.
fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LONGEST_LABEL || clean(text) != text {
        return Err(format!("a label is text of 1 to {LONGEST_LABEL} characters in one line"));
    }
    Ok(text.to_owned())
}

fn job_id(text: &str) -> Result<JobId, String> {
    positive(text.strip_prefix('#').unwrap_or(text), "a job").map(JobId)
}

fn call_id(text: &str) -> Result<CallId, String> {
    positive(text, "a call").map(CallId)
}

fn positive(text: &str, what: &str) -> Result<i64, String> {
    text.parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| format!("{what} is a number from 1, as `fleetload status` shows it"))
}
