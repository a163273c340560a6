//! The command to type next, so that it is about the same journal, account and rehearsal as the one before.
//!
//! The one owner of such lines: the terminal, the tables, the workbooks and the pages take them from here. Advice is
//! written with bare commands (`fleetload retry 3`); [`Again::said`] finds them in it and completes them. A command in it
//! begins with `fleetload` and goes on while what follows can only be part of one: options and their values, numbers, and
//! words in capitals that stand for something. What is advised is left to [`crate::status::catalogue`] and to the reports.

use std::path::Path;

use crate::advice::{Piece, quoted};

/// How fleetload is called again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Again {
    /// Options that every command takes, each with its value.
    common: Vec<(&'static str, String)>,
    /// Options of a rehearsal.
    rehearsal: Vec<(&'static str, String)>,
    /// How files are read, each option with a space before it.
    reading: String,
}

/// How advice imports a file that was corrected.
const RUN: &str = "fleetload run FILE";
/// What stands for the name of a file in advice.
const FILE: &str = " FILE";
/// The commands that may be a rehearsal.
const REHEARSED: [&str; 4] = ["run", "plan", "doctor", "resolve"];
/// Options that stand alone: what follows them is no value.
const ALONE: [&str; 4] = ["--not-created", "--abandon", "--seen", "--sandbox"];

impl Again {
    /// With an option that every command takes; one that stands alone has an empty value.
    #[must_use]
    pub fn with(mut self, option: &'static str, value: &str) -> Self {
        self.common.push((option, value.to_owned()));
        self
    }

    /// As a rehearsal, with the file of what the simulated service does wrong.
    #[must_use]
    pub fn rehearsing(mut self, scenario: Option<&Path>) -> Self {
        self.rehearsal.push(("--sandbox", String::new()));
        self.rehearsal.extend(scenario.map(|file| ("--scenario", file.to_string_lossy().into_owned())));
        self
    }

    /// With the options by which files are read, each with a space before it.
    #[must_use]
    pub fn reading(mut self, options: String) -> Self {
        self.reading = options;
        self
    }

    /// A command with everything that matters: `run`, `resolve 7 --abandon`. Options that it has already stay.
    pub fn command(&self, command: &str) -> String {
        let rehearsed = REHEARSED.iter().any(|name| command.split(' ').next() == Some(name));
        let mut line = format!("fleetload {command}");
        for (option, value) in self.common.iter().chain(self.rehearsal.iter().filter(|_| rehearsed)) {
            if command.split(' ').any(|word| word == *option) {
                continue;
            }
            line.push(' ');
            line.push_str(option);
            if !value.is_empty() {
                line.push(' ');
                line.push_str(&quoted(value));
            }
        }
        line
    }

    /// The same for a command that takes a file of ours or one that was corrected.
    pub fn with_file(&self, command: &str, file: &Path) -> String {
        self.command(&format!("{command} {}{}", quoted(&file.to_string_lossy()), self.reading))
    }

    /// An advice with its commands completed; `corrected` is the file of rows to correct, where there is one.
    pub fn said(&self, advice: &str, corrected: Option<&Path>) -> Vec<Piece> {
        // What is decided first is not among the rows to correct.
        let corrected = corrected.filter(|_| !advice.contains("fleetload resolve"));
        let completed = |piece| match (piece, corrected) {
            (Piece::Command(command), Some(file)) if command == RUN => {
                Piece::Command(self.with_file("run", file))
            }
            (Piece::Command(command), _) => Piece::Command(self.completed(&command)),
            (words @ Piece::Words(_), _) => words,
        };
        pieces(advice).into_iter().map(completed).collect()
    }

    fn completed(&self, command: &str) -> String {
        let bare = command.strip_prefix("fleetload ").unwrap_or(command);
        match bare.split_once(FILE) {
            Some((before, after)) => self.command(&format!("{before}{FILE}{}{after}", self.reading)),
            None => self.command(bare),
        }
    }
}

/// The parts of an advice, in order.
fn pieces(advice: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = advice;
    while let Some((before, command, after)) = next_command(rest) {
        if !before.is_empty() {
            pieces.push(Piece::Words(before.to_owned()));
        }
        pieces.push(Piece::Command(command.to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Words(rest.to_owned()));
    }
    pieces
}

/// What stands before the first command, the command, and what stands after it.
fn next_command(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("fleetload ") {
        let start = from + found;
        let begins =
            text[..start].chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(' || c == ':');
        match end_of_command(&text[start..]) {
            Some(length) if begins => {
                return Some((&text[..start], &text[start..start + length], &text[start + length..]));
            }
            _ => from = start + "fleetload ".len(),
        }
    }
    None
}

/// How long the command at the beginning of a text is; `None` when it is the name of the program in a sentence.
fn end_of_command(text: &str) -> Option<usize> {
    let introduced = *COMMANDS.iter().find(|command| {
        text["fleetload ".len()..]
            .strip_prefix(**command)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ';', ',', '.', ')']))
    })?;
    let mut length = "fleetload".len();
    let mut before = "";
    for (position, word) in text.split(' ').skip(1).enumerate() {
        let bare = if position == 0 { introduced } else { word.trim_end_matches([';', ',', '.', ')']) };
        if position > 0 && !belongs(bare, before) {
            break;
        }
        length += 1 + bare.len();
        // A sign after the word ends the sentence, and the command.
        if bare.len() < word.len() {
            break;
        }
        before = bare;
    }
    Some(length)
}

/// The commands that advice names.
pub const COMMANDS: [&str; 12] = [
    "run", "check", "plan", "import", "status", "report", "retry", "resolve", "cancel", "template", "doctor",
    "explain",
];

/// Whether a word can only be part of the command before it.
fn belongs(word: &str, before: &str) -> bool {
    let value = before.starts_with("--") && !ALONE.contains(&before);
    let stands_for = word.chars().any(|c| c.is_ascii_uppercase())
        && !word.chars().next().is_some_and(char::is_lowercase)
        && word
            .split('.')
            .next()
            .is_some_and(|stem| stem.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
    let number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    value || word.starts_with("--") || stands_for || number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::text;

    /// The commands of an advice in brackets.
    fn marked(advice: &str) -> String {
        let pieces = pieces(advice).into_iter().map(|piece| match piece {
            Piece::Words(words) => words,
            Piece::Command(command) => format!("[{command}]"),
        });
        pieces.collect()
    }

    /// As a command was typed with a journal of its own, for a customer, as a rehearsal.
    fn again() -> Again {
        let again = Again::default().with("--journal", "my jobs.db").with("--any-storage", "");
        again.rehearsing(Some(Path::new("bad-day.toml"))).reading(" --customer northern".into())
    }

    #[test]
    fn a_command_is_about_the_same_journal_and_is_a_rehearsal_where_it_may_be_one() {
        let table = [
            ("run", "fleetload run --journal 'my jobs.db' --any-storage --sandbox --scenario bad-day.toml"),
            ("retry 3 --code a.b", "fleetload retry 3 --code a.b --journal 'my jobs.db' --any-storage"),
            (
                "run FILE --journal NEW.db",
                "fleetload run FILE --journal NEW.db --any-storage --sandbox --scenario bad-day.toml",
            ),
        ];
        for (command, expected) in table {
            assert_eq!(again().command(command), expected);
            assert_eq!(Again::default().command(command), format!("fleetload {command}"));
        }
    }

    #[test]
    fn the_workbook_to_run_is_named_where_there_is_one_and_read_as_the_sheets_were() {
        let fix = Path::new("reports/1/fix.xlsx");
        let advice = "Correct the row and type: fleetload run FILE";
        let with = |again: &Again, fix| text(&again.said(advice, fix));
        assert_eq!(
            with(&Again::default(), Some(fix)),
            "Correct the row and type: fleetload run reports/1/fix.xlsx"
        );
        assert_eq!(with(&Again::default(), None), advice);
        let options =
            "--customer northern --journal 'my jobs.db' --any-storage --sandbox --scenario bad-day.toml";
        assert_eq!(
            with(&again(), Some(fix)),
            format!("Correct the row and type: fleetload run reports/1/fix.xlsx {options}")
        );
        assert_eq!(with(&again(), None), format!("{advice} {options}"));
        let decided = "type: fleetload resolve 7 --abandon, then: fleetload run FILE";
        assert_eq!(text(&Again::default().said(decided, Some(fix))), decided, "it is not among those rows");
    }

    #[test]
    fn every_command_of_an_advice_is_completed_and_its_words_stay() {
        let again = Again::default().with("--journal", "a.db");
        let advice = "If it is, type: fleetload resolve 7 --created ID; if not: fleetload resolve 7 --abandon. \
                      fleetload ended.";
        assert_eq!(
            text(&again.said(advice, None)),
            "If it is, type: fleetload resolve 7 --created ID --journal a.db; if not: fleetload resolve 7 --abandon \
             --journal a.db. fleetload ended."
        );
    }

    #[test]
    fn what_is_to_be_typed_is_told_apart_from_what_is_to_be_read() {
        let table = [
            ("", ""),
            ("Nothing to correct.", "Nothing to correct."),
            ("Correct it and type: fleetload run FILE", "Correct it and type: [fleetload run FILE]"),
            (
                "type: fleetload resolve 7 --created ID; if not: fleetload resolve 7 --not-created; or: fleetload resolve 7 --abandon",
                "type: [fleetload resolve 7 --created ID]; if not: [fleetload resolve 7 --not-created]; or: [fleetload resolve 7 --abandon]",
            ),
            (
                "fleetload resolve 7 --created ID with its id",
                "[fleetload resolve 7 --created ID] with its id",
            ),
            (
                "type: fleetload retry 3 --code answer.no-id. Then wait",
                "type: [fleetload retry 3 --code answer.no-id]. Then wait",
            ),
            ("type: fleetload run; it finds out", "type: [fleetload run]; it finds out"),
            ("type: fleetload run FILE --journal NEW.db", "type: [fleetload run FILE --journal NEW.db]"),
            (
                "this is a fault of fleetload. Try fleetload doctor",
                "this is a fault of fleetload. Try [fleetload doctor]",
            ),
            ("fleetload ended three times", "fleetload ended three times"),
            ("fleetload failed; fleetload runs on", "fleetload failed; fleetload runs on"),
        ];
        for (advice, expected) in table {
            assert_eq!(marked(advice), expected);
        }
    }
}
