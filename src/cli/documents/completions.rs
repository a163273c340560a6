//! `fleetload completions` and `fleetload man`: documents generated from the command line itself.

use std::path::Path;

use clap::CommandFactory as _;
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, bold, roman};
use serde::Serialize;

use crate::cli::args::Args;
use crate::cli::args::commands::{Completions, Man};
use crate::cli::atomic_file;
use crate::cli::output_file::refuse_unless;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::status::catalogue::{self, Scope};
use crate::term::{Terminal, counted};

/// Prints the completion script for a shell.
pub(in crate::cli) fn completions(terminal: &Terminal, typed: &Completions) -> Summary {
    let mut script = Vec::new();
    clap_complete::generate(typed.shell, &mut Args::command(), "fleetload", &mut script);
    terminal.document(&String::from_utf8_lossy(&script));
    Summary::of_document()
}

/// Prints the manual page, or writes all of them into a folder.
pub(in crate::cli) fn man(terminal: &Terminal, typed: &Man) -> Result<Summary> {
    let Some(folder) = &typed.out else {
        terminal.document(&page(&Args::command(), "fleetload")?);
        return Ok(Summary::of_document());
    };
    let written = write_pages(folder)?;
    terminal.say(format!("wrote {} to {}", counted(written, "page", "pages"), folder.display()));
    Ok(Summary::new(End::Done).with(&PagesSummary { folder, pages: written }))
}

/// What to do when the pages cannot be put where they were to go.
const ELSEWHERE: &str = "name another folder with --out";

fn write_pages(folder: &Path) -> Result<u64> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::usage(format!("cannot make the folder {}", folder.display())).because(error).hint(ELSEWHERE)
    })?;
    let mut command = Args::command();
    command.build();
    let name = command.get_name().to_owned();
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    let pages = std::iter::once((name.clone(), &command))
        .chain(below.map(|below| (format!("{name}-{}", below.get_name()), below)))
        .map(|(title, command)| Ok((folder.join(format!("{title}.1")), page(command, &title)?)))
        .collect::<Result<Vec<_>>>()?;
    for (file, _) in &pages {
        refuse_unless(is_page(file), file, "a manual page of fleetload", "--out")
            .map_err(|error| error.hint("name another folder with --out, or remove this file first"))?;
    }
    for (file, page) in &pages {
        std::fs::write(file, page).map_err(|error| {
            Error::usage(format!("cannot write {}", file.display())).because(error).hint(ELSEWHERE)
        })?;
    }
    Ok(pages.len() as u64)
}

/// Whether a file begins as a manual page of fleetload, of whatever version.
fn is_page(file: &Path) -> bool {
    let beginning = atomic_file::read(file, 4096).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&beginning).lines().any(|line| line.starts_with(".TH fleetload"))
}

/// The files that commands read and write, for the manual page.
const FILES: &[(&str, &str)] = &[
    (
        "fleetload.toml",
        "the profile of the service account; also fleetload/fleetload.toml in your configuration folder",
    ),
    ("fleetload.db", "the journal, and files beside it whose names begin with its own"),
    (
        "reports/IMPORT/",
        "the reports of an import: report.html, results.xlsx, fix.xlsx, summary.json and others",
    ),
    (
        "$XDG_STATE_HOME/fleetload/",
        "locks of accounts, and the progress of the journals; otherwise ~/.local/state/fleetload/",
    ),
];

/// Environment variables that are no option, for the manual page.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("FLEETLOAD_CLIENT_SECRET", "the client secret, if the profile names no file or command for it"),
    (
        "FLEETLOAD_NOTIFY_SECRET",
        "the secret of the signature of notifications; it counts before the file in the profile",
    ),
    (
        "FLEETLOAD_COMMAND",
        "what the next command to type begins with, instead of fleetload, where another program starts it",
    ),
    ("FLEETLOAD_LOG", "the filter of the diagnostic log, such as fleetload=debug"),
    ("NO_COLOR", "no colour"),
    ("XDG_STATE_HOME, XDG_CONFIG_HOME", "the state folder and the configuration folder"),
    ("TZ", "the time zone in which times are shown, and of --until"),
];

/// The page of a command, with the sections that manual pages have.
fn page(command: &clap::Command, title: &str) -> Result<String> {
    let man = Page::new(command.clone()).title(title);
    let mut text = Vec::new();
    let rendered = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text))
        .and_then(|()| match command.has_subcommands() {
            true => man.render_subcommands_section(&mut text),
            false => Ok(()),
        })
        .and_then(|()| sections(command, title).to_writer(&mut text));
    rendered.map_err(|error| Error::internal("cannot generate the manual page").because(error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// What stands behind the options.
fn sections(command: &clap::Command, title: &str) -> Roff {
    let mut roff = Roff::new();
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for part in help.split("\n\n").filter(|part| !part.starts_with("Exit codes:")) {
        let (name, text) = match part.split_once(":\n") {
            Some(("Examples" | "First steps", text)) => ("EXAMPLES", text),
            Some(_) | None => ("NOTES", part),
        };
        roff.control("SH", [name]);
        roff.control("nf", []);
        for line in text.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    let list = |roff: &mut Roff, name: &str, entries: &[(String, String)]| {
        roff.control("SH", [name]);
        for (term, words) in entries {
            roff.control("TP", []);
            roff.text([bold(term.as_str())]);
            roff.text([roman(words.as_str())]);
        }
    };
    let owned = |entries: &[(&str, &str)]| -> Vec<(String, String)> {
        entries.iter().map(|&(term, words)| (term.to_owned(), words.to_owned())).collect()
    };
    let codes = catalogue::of_scope(Scope::Exits);
    let codes: Vec<_> = codes.iter().map(|entry| (entry.code.clone(), entry.words.clone())).collect();
    list(&mut roff, "EXIT STATUS", &codes);
    list(&mut roff, "FILES", &owned(FILES));
    let mut variables: Vec<(String, String)> = command
        .get_arguments()
        .filter_map(|option| {
            let name = option.get_env()?.to_string_lossy().into_owned();
            Some((name, format!("the value of --{}", option.get_long()?)))
        })
        .collect();
    variables.extend(owned(ENVIRONMENT));
    list(&mut roff, "ENVIRONMENT", &variables);
    roff.control("SH", ["SEE ALSO"]);
    let others = Args::command();
    let pages = std::iter::once("fleetload".to_owned())
        .chain(others.get_subcommands().map(|other| format!("fleetload-{}", other.get_name())));
    let pages: Vec<String> = pages.filter(|page| page != title).map(|page| format!("{page}(1)")).collect();
    roff.text([roman(pages.join(", "))]);
    roff
}

/// The manual pages that were written.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct PagesSummary<'a> {
    /// Their folder.
    folder: &'a Path,
    /// How many.
    pages: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::settings::environment::OTHERS;
    use crate::error::Exit;
    use crate::term::{Manner, testing::terminal};

    #[test]
    fn completion_scripts_know_the_commands() {
        for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
            let (terminal, results, _) = terminal(Manner::default());
            assert_eq!(completions(&terminal, &Completions { shell }).tell(&terminal), Exit::Done);
            assert!(results.text().contains("resolve"), "{shell}");
        }
    }

    #[test]
    fn there_is_a_page_for_fleetload_and_one_for_each_command() {
        let folder = tempfile::tempdir().unwrap();
        let (terminal, results, _) = terminal(Manner::default());
        man(&terminal, &Man { out: None }).unwrap();
        assert!(results.text().contains(".TH fleetload 1"));
        man(&terminal, &Man { out: Some(folder.path().to_owned()) }).unwrap();
        assert!(folder.path().join("fleetload.1").is_file());
        let page = std::fs::read_to_string(folder.path().join("fleetload-run.1")).unwrap();
        assert!(page.contains("onboarding.xlsx"), "{page}");
        let (_, listed) = page.split_once(".SH ENVIRONMENT").unwrap();
        for variable in OTHERS {
            assert_eq!(listed.matches(&format!("\\fB{variable}\\fR\n")).count(), 1, "{variable}: {listed}");
        }
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let page = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for section in ["EXAMPLES", "EXIT STATUS", "FILES", "ENVIRONMENT", "SEE ALSO"] {
                let heading = format!(".SH {section}\n")
                    .replace(".SH EXIT STATUS", ".SH \"EXIT STATUS\"")
                    .replace(".SH SEE ALSO", ".SH \"SEE ALSO\"");
                assert_eq!(page.matches(&heading).count(), 1, "{section}: {page}");
            }
            assert!(!page.contains("EXTRA"), "{page}");
        }
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1 + Args::command().get_subcommands().count()
        );
    }

    #[test]
    fn only_pages_of_fleetload_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (terminal, ..) = terminal(Manner::default());
        let pages = || man(&terminal, &Man { out: Some(folder.path().to_owned()) });
        let (first, other) = (folder.path().join("fleetload.1"), folder.path().join("fleetload-run.1"));
        pages().unwrap();
        let page = std::fs::read_to_string(&first).unwrap();
        std::fs::write(&first, page.replace("0.1.0", "0.0.9")).unwrap();
        pages().unwrap();
        assert_eq!(std::fs::read_to_string(&first).unwrap(), page);

        std::fs::remove_file(&first).unwrap();
        std::fs::write(&other, "notes about the first run").unwrap();
        let refused = pages().unwrap_err();
        let told = format!("{} already exists and is not a manual page of fleetload", other.display());
        assert_eq!(refused.what(), told);
        let hint = "name another folder with --out, or remove this file first";
        assert_eq!(refused.next_step(), Some(hint));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "notes about the first run");
        assert!(!first.exists(), "nothing is written beside it");
    }
}
