//! `fleetload explain`: what a code means, what follows from it, what to do. The words are in [`crate::status::catalogue`]; here
//! is only how they are found and shown.

use serde::Serialize;

use crate::advice::Advice;
use crate::cli::args::commands::Explain;
use crate::cli::context::Context;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::sheet::finding::{Code, Severity};
use crate::status::catalogue::{self, Entry, Scope};
use crate::term::{Ink, Line, width, wrap};

/// The columns that codes take in the list; the longest fits.
const CODES: usize = 28;

/// Explains the codes that were typed, or lists them all.
pub(in crate::cli) fn explain(context: &Context<'_>, typed: &Explain) -> Result<Summary> {
    let words: Vec<&str> = typed
        .codes
        .iter()
        .flat_map(|typed| typed.split_whitespace())
        .filter(|word| !word.eq_ignore_ascii_case("exit"))
        .collect();
    if words.is_empty() {
        // `explain exit` asks for the exit codes, and for the reasons that they stand for.
        let scopes: &[Scope] =
            if typed.codes.is_empty() { &Scope::ALL } else { &[Scope::Exits, Scope::Endings] };
        return Ok(Summary::new(End::Done).with(&CodesSummary { codes: list(context, scopes) }));
    }
    let (mut told, mut unknown) = (0_usize, Vec::new());
    for word in words {
        let entries = match known(context, word) {
            Ok(entries) => entries,
            Err(error) => {
                unknown.push(error);
                continue;
            }
        };
        for entry in entries {
            if told > 0 {
                context.terminal.result("");
            }
            tell(context, entry);
            told += 1;
        }
    }
    for error in &unknown {
        context.terminal.error(error);
    }
    let end = unknown.first().map_or(End::Done, Error::end);
    Ok(Summary::new(end).with(&CodesSummary { codes: told }))
}

/// What goes by a word, or an error that names what is nearest to it.
fn known(context: &Context<'_>, word: &str) -> Result<Vec<&'static Entry>> {
    let found = catalogue::all_of(word);
    if !found.is_empty() {
        return Ok(found);
    }
    let error = Error::usage(format!("there is no code '{word}'"));
    let all = context.advice("to see every code: ", "explain");
    Err(match catalogue::nearest(word).as_slice() {
        [] => error.hint(all),
        near => error.hint(Advice::from(format!("did you mean {}?\n", near.join(" or "))).join(&all)),
    })
}

/// One code with all its parts.
fn tell(context: &Context<'_>, entry: &'static Entry) {
    let terminal = context.terminal;
    let width = width();
    let title = match entry.scope {
        Scope::Exits => format!("exit code {}", entry.code),
        Scope::Sheets
        | Scope::Service
        | Scope::Answers
        | Scope::Rows
        | Scope::States
        | Scope::Work
        | Scope::Endings => entry.code.clone(),
    };
    let severity = severity(entry).map_or_else(String::new, |severity| format!(", {severity}"));
    let kind = if entry.scope == Scope::Exits {
        String::new()
    } else {
        format!(": {}{severity}", entry.scope.noun())
    };
    terminal.result(Line::new().ink(Ink::Strong, title).ink(Ink::Faint, kind));
    let part = |text: &str, indent: usize| {
        for line in wrap(text, width - indent) {
            terminal.result(format!("{}{line}", " ".repeat(indent)));
        }
    };
    let heading = |text: &str| {
        terminal.result("");
        terminal.result(Line::plain("  ").ink(Ink::Strong, text));
    };
    part(&entry.sentence(), 2);
    heading(entry.scope.follows());
    part(&entry.follows, 4);
    if entry.scope == Scope::Exits {
        heading("Reasons");
        for end in reasons(entry) {
            part(&format!("{} ({}): {}", end.as_str(), end.state().as_str(), end.entry().words), 4);
        }
    }
    heading("What to do");
    part(&to_do(entry), 4);
    if let Some((stands, should)) = &entry.example {
        heading("Example");
        terminal.result(format!("    {stands}  ->  {should}"));
    }
    terminal.object(&object(entry));
}

/// The reasons for which a command ends with an exit code.
fn reasons(entry: &Entry) -> Vec<End> {
    let code = entry.code.parse().ok();
    code.map_or_else(Vec::new, |code| End::of_exit(code).collect())
}

/// What a person does, as it can be said of any row.
fn to_do(entry: &Entry) -> String {
    let advice = entry.advice("JOB", "IMPORT").to_string();
    match advice.chars().last() {
        None => "Nothing needs to be done.".to_owned(),
        Some('.') => advice,
        Some(_) => format!("{advice}."),
    }
}

/// How bad a finding is, the usual first: "an error, or a warning".
fn severity(entry: &Entry) -> Option<String> {
    let code = Code::ALL.iter().find(|code| entry.scope == Scope::Sheets && code.as_str() == entry.code)?;
    let word = |severity: &Severity| match severity {
        Severity::Fatal => "the file or sheet cannot be used",
        Severity::Error => "an error",
        Severity::Warning => "a warning",
        Severity::Info => "a note",
    };
    let words: Vec<&str> = code.severities().iter().map(word).collect();
    let (last, before) = words.split_last()?;
    Some(if before.is_empty() { (*last).to_owned() } else { format!("{}, or {last}", before.join(", ")) })
}

fn object(entry: &Entry) -> CodeObject<'_> {
    CodeObject {
        code: &entry.code,
        scope: entry.scope.title(),
        severity: severity(entry),
        meaning: entry.sentence(),
        follows: &entry.follows,
        what_to_do: to_do(entry),
        reasons: (entry.scope == Scope::Exits)
            .then(|| reasons(entry).iter().map(|end| end.as_str()).collect()),
        example: entry.example.as_ref().map(|(stands, should)| CodeExample { stands, should }),
    }
}

/// Every code of some scopes with its meaning in a line; how many they are.
fn list(context: &Context<'_>, scopes: &[Scope]) -> usize {
    let terminal = context.terminal;
    let width = width();
    let mut told = 0_usize;
    for (place, scope) in scopes.iter().enumerate() {
        if place > 0 {
            terminal.result("");
        }
        terminal.result(Line::new().ink(Ink::Strong, scope.title()));
        for entry in catalogue::of_scope(*scope) {
            let mut lines = wrap(&entry.words, width - CODES - 2).into_iter();
            terminal.result(
                Line::plain("  ")
                    .ink(Ink::Strong, &entry.code)
                    .text(" ".repeat(CODES.saturating_sub(entry.code.len())))
                    .text(lines.next().unwrap_or_default()),
            );
            for line in lines {
                terminal.result(format!("{}{line}", " ".repeat(CODES + 2)));
            }
            terminal.object(&object(entry));
            told += 1;
        }
    }
    terminal.hint(Advice::from("more about one of them: ").command("fleetload explain CODE"));
    told
}

/// A code with what it means.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CodeObject<'a> {
    /// The code; of exit codes the number.
    code: &'a str,
    /// What it is a code of, in words.
    scope: &'static str,
    /// Of findings in sheets: how bad it is, in words.
    severity: Option<String>,
    /// What it means.
    meaning: String,
    /// What follows from it.
    follows: &'a str,
    /// What a person does.
    what_to_do: String,
    /// Of exit codes: the reasons that they stand for.
    reasons: Option<Vec<&'static str>>,
    /// Of findings in cells: a cell that has it, and how it would be right.
    example: Option<CodeExample<'a>>,
}

/// A cell that is wrong, and how it would be right.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct CodeExample<'a> {
    /// What is in the cell.
    stands: &'a str,
    /// What should be in it.
    should: &'a str,
}

/// How many codes were explained.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CodesSummary {
    /// How many codes were explained or listed.
    codes: usize,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::args::Args;

    #[test]
    fn every_code_fits_the_list_and_every_part_of_it_says_something() {
        for entry in Scope::ALL.into_iter().flat_map(catalogue::of_scope) {
            assert!(entry.code.len() < CODES, "{}", entry.code);
            let object = serde_json::to_value(object(entry)).unwrap();
            for part in ["meaning", "follows", "what_to_do"] {
                let text = object[part].as_str().unwrap();
                assert!(text.len() > 10 && text.ends_with(['.', '?']), "{} {part}: {text}", entry.code);
            }
            assert_eq!(object["severity"].is_null(), entry.scope != Scope::Sheets, "{}", entry.code);
        }
    }

    #[test]
    fn every_option_and_command_that_is_advised_exists() {
        let command = Args::command();
        let mut options: BTreeSet<String> = BTreeSet::new();
        let mut commands: BTreeSet<String> = BTreeSet::new();
        let of = |command: &clap::Command| {
            command
                .get_arguments()
                .flat_map(|option| option.get_long_and_visible_aliases().unwrap_or_default())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        options.extend(of(&command));
        for sub in command.get_subcommands() {
            commands.insert(sub.get_name().to_owned());
            options.extend(of(sub));
        }
        let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        for entry in Scope::ALL.into_iter().flat_map(catalogue::of_scope) {
            let advice = entry.advice("7", "3");
            for text in [entry.follows.as_str(), advice.as_str()] {
                for word in text.split_whitespace().filter(|word| word.starts_with("--")) {
                    assert!(options.contains(&plain(word)), "{}: {word}", entry.code);
                }
                let words: Vec<&str> = text.split_whitespace().collect();
                for pair in words.windows(2).filter(|pair| pair[0] == "fleetload") {
                    let is_verb = [
                        "is",
                        "ended",
                        "ends",
                        "was",
                        "failed",
                        "cannot",
                        "could",
                        "does",
                        "itself",
                        "looks",
                        "never",
                        "or",
                        "reads",
                        "recognises",
                        "would",
                    ]
                    .contains(&pair[1]);
                    assert!(is_verb || commands.contains(&plain(pair[1])), "{}: {pair:?}", entry.code);
                }
            }
        }
    }
}
