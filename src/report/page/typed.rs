//! Advice taken apart into words and commands to type, so that a page can show the commands as such.
//!
//! A command begins with `fleetload` and goes on while what follows can only be part of one: options and their values,
//! numbers, and words in capitals that stand for something.

use crate::look::shown;

/// A part of an advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// To be read.
    Words(String),
    /// To be typed.
    Command(String),
}

/// How advice imports a file that was corrected.
const RUN: &str = "fleetload run FILE";

/// Options that stand alone: what follows them is no value.
const ALONE: [&str; 4] = ["--not-created", "--abandon", "--seen", "--sandbox"];

/// The parts of an advice, in order.
pub(super) fn pieces(advice: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = advice;
    while let Some((before, command, after)) = next_command(rest) {
        if !before.is_empty() {
            pieces.push(Piece::Words(shown(before)));
        }
        pieces.push(Piece::Command(shown(command)));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Words(shown(rest)));
    }
    pieces
}

/// The parts of an advice about rows to correct, with the workbook that has them, as it is typed, where there is one.
pub(super) fn pieces_with(advice: &str, fix: Option<&str>) -> Vec<Piece> {
    // What is decided first is not among the rows to correct.
    let Some(fix) = fix.filter(|_| !advice.contains("fleetload resolve")) else { return pieces(advice) };
    let named = |piece| match piece {
        Piece::Command(command) if command == RUN => Piece::Command(shown(&format!("fleetload run {fix}"))),
        Piece::Command(_) | Piece::Words(_) => piece,
    };
    pieces(&advice.replace("fleetload run fix.xlsx", RUN)).into_iter().map(named).collect()
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
const COMMANDS: [&str; 12] = [
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

    /// The commands of an advice in brackets.
    fn marked(advice: &str) -> String {
        let pieces = pieces(advice).into_iter().map(|piece| match piece {
            Piece::Words(words) => words,
            Piece::Command(command) => format!("[{command}]"),
        });
        pieces.collect()
    }

    #[test]
    fn the_workbook_to_run_is_named_where_there_is_one() {
        let run = Piece::Command("fleetload run reports/1/fix.xlsx".into());
        for advice in ["type: fleetload run FILE", "type: fleetload run fix.xlsx"] {
            let expected = [Piece::Words("type: ".into()), run.clone()];
            assert_eq!(pieces_with(advice, Some("reports/1/fix.xlsx")), expected);
        }
        assert_eq!(pieces_with("fleetload retry 3", Some("fix.xlsx")), pieces("fleetload retry 3"));
        assert_eq!(pieces_with("fleetload run FILE", None), [Piece::Command(RUN.into())]);
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
