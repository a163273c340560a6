//! `fleetload completions` and `fleetload man`: documents generated from the command line itself.

use std::path::Path;

use clap::CommandFactory as _;
use clap_mangen::Man as Page;

use super::args::Args;
use super::commands::{Completions, Man};
use crate::error::{Error, Exit, Result};
use crate::term::{Terminal, counted};

/// Prints the completion script for a shell.
pub(super) fn completions(terminal: &Terminal, typed: &Completions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(typed.shell, &mut Args::command(), "fleetload", &mut script);
    terminal.document(&String::from_utf8_lossy(&script));
    Exit::Done
}

/// Prints the manual page, or writes all of them into a folder.
pub(super) fn man(terminal: &Terminal, typed: &Man) -> Result<Exit> {
    let Some(folder) = &typed.out else {
        terminal.document(&page(&Args::command(), "fleetload")?);
        return Ok(Exit::Done);
    };
    let written = write_pages(folder)?;
    terminal.say(format!("wrote {} to {}", counted(written, "page", "pages"), folder.display()));
    Ok(Exit::Done)
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
    let mut written = 0;
    let pages = std::iter::once((name.clone(), command.clone())).chain(
        command
            .get_subcommands()
            .filter(|below| below.get_name() != "help")
            .map(|below| (format!("{name}-{}", below.get_name()), below.clone())),
    );
    for (title, command) in pages {
        let file = folder.join(format!("{title}.1"));
        std::fs::write(&file, page(&command, &title)?).map_err(|error| {
            Error::usage(format!("cannot write {}", file.display())).because(error).hint(ELSEWHERE)
        })?;
        written += 1;
    }
    Ok(written)
}

fn page(command: &clap::Command, title: &str) -> Result<String> {
    let mut text = Vec::new();
    Page::new(command.clone())
        .title(title)
        .render(&mut text)
        .map_err(|error| Error::internal("cannot generate the manual page").because(error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Manner, testing::terminal};

    #[test]
    fn completion_scripts_know_the_commands() {
        for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
            let (terminal, results, _) = terminal(Manner::default());
            assert_eq!(completions(&terminal, &Completions { shell }), Exit::Done);
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
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 16);
    }
}
