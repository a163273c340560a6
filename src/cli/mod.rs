//! The command line: what was typed, what was meant, and one file for each command.
//!
//! A command brings the rooms together and returns an [`Exit`]; what it says goes through [`crate::term`].
//!
//! ```text
//! args/       what was typed: commands, options and their help
//! settings/   what was meant: options, environment, profile and defaults brought together; the secret; reading options
//! import/     reading files into the journal, and `check`
//! objects     the list of what programs read, with its JSON Schemas
//! output_file  what is said of a file that is to be written
//! ids         the ids that sheets name, looked up in the service
//! zones       the time zones that the service lists
//! findings/   what is wrong with the rows, and how columns were matched
//! plan/       what would happen, as text, as JSON and as a page; the plan that was saved
//! rollout/    which devices of an import are online
//! watch/      `watch`: the sheets that are put into a folder
//! undo        the workbook that restores what an import changed
//! run/        a run over the journal: locks, signals, display, end and reports
//! status/     where things stand and what needs a person
//! decide/     `retry`, `cancel`, `resolve`, `pause`, `resume`, `priority` and `reserve`
//! doctor/     `doctor`, and the probe of the service
//! reading/    `find` and `export`: what exists in the service
//! housekeeping/  `backup` and `prune`
//! notify/     what a run notifies others of, and `notify`
//! call/       `call`: one operation by its name
//! sandbox/    `sandbox`, and rehearsals against it
//! documents/  templates, explanations, completions, manual pages
//! ```

mod args;
mod atomic_file;
mod call;
mod context;
mod decide;
mod doctor;
mod documents;
mod findings;
mod housekeeping;
mod ids;
mod import;
mod lock_holder;
mod notify;
mod objects;
mod output_file;
mod plan;
mod reading;
mod rollout;
mod run;
mod sandbox;
mod service_manager;
mod settings;
mod status;
mod summary;
mod undo;
mod watch;
pub(super) mod zones;

#[cfg(feature = "schemas")]
pub use self::objects::schemas;

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::path::Path;

use clap::error::ErrorKind;
use jiff::tz::TimeZone;

use self::args::options::Overrides;
use self::args::{Args, Command, is_typed};
use self::context::Context;
use self::run::meter::Meter;
use self::run::signals::Watch;
use self::settings::environment::Environment;
use self::settings::{Purpose, Settings};
use self::summary::Summary;
use crate::advice::Advice;
use crate::clock::SystemClock;
use crate::ending::End;
use crate::error::{Error, Exit, Result};
use crate::journal::{Journal, Whose};
use crate::term::{LogFormat, Manner, Terminal, start_log};

/// Carries out the command that `line` names and returns the exit code of the process.
pub fn main(line: impl IntoIterator<Item = OsString>) -> Exit {
    let line = with_help_explained(line.into_iter().collect());
    let args = match Args::of_line(&line) {
        Ok(args) => args,
        Err(error) => return told_by_parser(&error, &line),
    };
    let common = &args.common;
    let log_format = LogFormat::or_usual(common.log_format);
    let manner = Manner { json: common.json, quiet: common.quiet, no_color: common.no_color, log_format };
    let terminal = Terminal::of_process(manner);
    start_log(&terminal, common.verbose);
    let summary = match Environment::of_process() {
        Ok(environment) => carry_out(&terminal, &environment, &args),
        Err(error) => printed(&terminal, failed(&terminal, &error).of_account(&Whose::default(), false)),
    };
    if matches!(args.command, Command::Run(_)) {
        summary.date(&terminal, SystemClock::start().now());
    }
    summary.end().exit()
}

/// Prints the last object. How the command ended after that.
fn printed(terminal: &Terminal, summary: Summary) -> Summary {
    let exit = terminal.finish(summary.tell(terminal));
    // A result that could not be written is the end of a command that ended well.
    if exit == summary.end().exit() { summary } else { Summary::new(End::Internal) }
}

/// `help --help` asks how `help` is used, which its parser takes for a mistake; `help run --help` is `help run`.
fn with_help_explained(mut line: Vec<OsString>) -> Vec<OsString> {
    if line.get(1).is_some_and(|word| word == "help") {
        let words = line.len();
        line.retain(|word| word != "--help" && word != "-h");
        if line.len() < words && line.len() == 2 {
            line.push(OsString::from("help"));
        }
    }
    line
}

/// An error that ends the command.
fn failed(terminal: &Terminal, error: &Error) -> Summary {
    terminal.error(error);
    Summary::of_error(error)
}

/// Whether the text of a settings file can be used: it is read, and what it says is brought together, as for a command
/// that talks to the service and was given neither options nor environment. `file` is how complaints name it.
///
/// # Errors
/// Usage, with the line, when it cannot.
pub fn check_settings(file: &Path, text: &str) -> Result<()> {
    let profile = settings::profile::parse(file, text, None)?;
    let (flags, environment) = (Overrides::default(), Environment::default());
    Settings::settle(&Purpose::Service, &flags, &environment, Some(&profile)).map(|_settings| ())
}

/// Help, version and mistakes of the command line, in the parser's own words; a mistake also as objects for programs.
fn told_by_parser(error: &clap::Error, line: &[OsString]) -> Exit {
    let log_format = LogFormat::or_usual(typed_log_format(line));
    let [json, no_color] = ["--json", "--no-color"].map(|option| is_typed(line, option));
    let terminal = Terminal::of_process(Manner { json, log_format, no_color, ..Manner::default() });
    if !error.use_stderr() {
        error.print().unwrap_or_else(|error| terminal.fail_result(error));
        return terminal.finish(Exit::Done);
    }
    if !terminal.dates_lines() {
        drop(error.print());
    }
    let error = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Error::usage("no command was given")
                .hint(Advice::from("to see the commands: ").command("fleetload --help"))
        }
        _ => {
            let (message, hint) = in_parts(&error.to_string());
            Error::usage(message).hint(hint)
        }
    };
    match terminal.dates_lines() {
        true => terminal.error(&error),
        false => terminal.error_object(&error),
    }
    let summary = Summary::of_error(&error).of_account(&Whose::default(), is_typed(line, "--sandbox"));
    terminal.finish(summary.tell(&terminal))
}

/// The form of the log in a line that could not be parsed.
fn typed_log_format(line: &[OsString]) -> Option<LogFormat> {
    let words: Vec<&str> = line.iter().filter_map(|word| word.to_str()).collect();
    let after = |place: usize| words.get(place + 1).copied();
    let of_option =
        words.iter().enumerate().find_map(|(place, word)| match word.strip_prefix("--log-format") {
            Some("") => after(place),
            Some(value) => value.strip_prefix('='),
            None => None,
        });
    let of_environment = std::env::var("FLEETLOAD_LOG_FORMAT").ok();
    of_option.or(of_environment.as_deref()).and_then(|word| word.parse().ok())
}

/// What the parser says of a mistake, and what it advises.
fn in_parts(text: &str) -> (String, String) {
    let mut parts = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let message = parts.next().unwrap_or_default();
    let parts = parts.filter(|part| !part.is_empty());
    let hint: Vec<String> = parts.map(|part| part.trim_start_matches("tip: ").to_owned()).collect();
    (message.trim_start_matches("error: ").to_owned(), hint.join("\n"))
}

fn carry_out(terminal: &Terminal, environment: &Environment, args: &Args) -> Summary {
    for stranger in environment.strangers() {
        terminal.warn(stranger);
    }
    let context = Context {
        terminal,
        environment,
        common: &args.common,
        clock: SystemClock::start(),
        here: TimeZone::system(),
        rehearsing: Cell::new(false),
        scenario: RefCell::new(None),
        whose: RefCell::new(None),
        reading: RefCell::new(String::new()),
        at_journal: Cell::new(false),
        signals: None,
        meter: Meter::default(),
    };
    let summary =
        command(&context, args).unwrap_or_else(|error| failed(terminal, &context.with_commands(error)));
    let whose = context.whose.take().unwrap_or_default();
    let summary = summary.of_account(&whose, context.rehearsing.get());
    let summary = if terminal.json() && context.at_journal.get() {
        summary.counting(|| Journal::open_existing(&args.common.journal)?.tally(None))
    } else {
        summary
    };
    let summary = printed(terminal, summary);
    if matches!(args.command, Command::Run(_)) {
        context.meter.finish(&context, summary.end());
    }
    summary
}

/// Listens for signals beside a command that does not listen itself.
fn listen(context: &Context<'_>, command: &Command) -> Result<()> {
    let advice = match command {
        Command::Run(_)
        | Command::Watch(_)
        | Command::Status(_)
        | Command::Rollout(_)
        | Command::Export(_)
        | Command::Sandbox(_) => return Ok(()),
        Command::Call(_) => context.advice("to see whether something was sent: ", "status"),
        Command::Check(_)
        | Command::Plan(_)
        | Command::Import(_)
        | Command::Report(_)
        | Command::Pause(_)
        | Command::Resume(_)
        | Command::Priority(_)
        | Command::Reserve(_)
        | Command::Template(_)
        | Command::Undo(_)
        | Command::Retry(_)
        | Command::Resolve(_)
        | Command::Cancel(_)
        | Command::Explain(_)
        | Command::Doctor(_)
        | Command::Find(_)
        | Command::Notify(_)
        | Command::Backup(_)
        | Command::Prune(_)
        | Command::Completions(_)
        | Command::Man(_) => Advice::from("to do it, type the command again"),
    };
    Watch::start_beside(context, advice)
}

fn command(context: &Context<'_>, args: &Args) -> Result<Summary> {
    if let Err(error) = listen(context, &args.command) {
        tracing::warn!(%error, "a signal ends this command without a word");
    }
    match &args.command {
        Command::Run(typed) => run::run(context, typed),
        Command::Check(typed) => import::check::check(context, typed),
        Command::Plan(typed) => plan::plan(context, typed),
        Command::Import(typed) => import::import_only(context, typed),
        Command::Report(typed) => run::reports::report(context, typed),
        Command::Pause(typed) => decide::turn::pause(context, typed),
        Command::Resume(typed) => decide::turn::resume(context, typed),
        Command::Priority(typed) => decide::turn::priority(context, typed),
        Command::Reserve(typed) => decide::turn::reserve(context, typed),
        Command::Template(typed) => documents::template(context, typed),
        Command::Status(typed) => status::status(context, typed),
        Command::Rollout(typed) => rollout::rollout(context, typed),
        Command::Undo(typed) => undo::undo(context, typed),
        Command::Retry(typed) => decide::retry(context, typed),
        Command::Resolve(typed) => decide::resolve::resolve(context, typed),
        Command::Cancel(typed) => decide::cancel(context, typed),
        Command::Explain(typed) => documents::explain::explain(context, typed),
        Command::Doctor(typed) => doctor::doctor(context, typed),
        Command::Find(typed) => reading::find::find(context, typed),
        Command::Export(typed) => reading::export::export(context, typed),
        Command::Notify(typed) => notify::notify(context, typed),
        Command::Watch(typed) => watch::watch(context, typed),
        Command::Backup(typed) => housekeeping::backup::backup(context, typed),
        Command::Prune(typed) => housekeeping::prune::prune(context, typed),
        Command::Call(typed) => call::call(context, typed),
        Command::Sandbox(typed) => sandbox::sandbox(context, typed),
        Command::Completions(typed) => Ok(documents::completions::completions(context.terminal, typed)),
        Command::Man(typed) => documents::completions::man(context.terminal, typed),
    }
}
