//! Text, enumerations, yes and no, and what to do with a row.

use super::confusables;
use super::text_checks::suspicions;
use super::{CellReading, Problem, Value};
use crate::sheet::data::BOOLEAN_WORDS;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::text::{did_you_mean, nearest};

/// Any text.
pub(super) fn text(text: &str, reading: &mut CellReading) -> Result<Value, Problem> {
    reading.add_all(suspicions(text));
    Ok(Value::Text(text.into()))
}

/// One of some values; case, spaces, underlines and dashes do not matter.
pub(super) fn choice(text: &str, values: &'static [&'static str]) -> Result<Value, Problem> {
    const RULE: &str = "one of the listed values; case, spaces, _ and - do not matter";
    let folded = fold(text);
    if let Some(position) = values.iter().position(|value| fold(value) == folded) {
        return Ok(Value::Choice(position));
    }
    let plain = confusables::plain(text);
    if let Some(odd) = text.chars().find(|c| confusables::latin(*c).is_some())
        && let Some(meant) = values.iter().find(|value| fold(value) == fold(&plain))
    {
        return Err(confusables::problem(odd, text).rule(RULE).suggest(*meant));
    }
    let mut problem = Problem::new(
        Code::CellEnum,
        format!(
            "'{}' is not one of the values: use {}.{}",
            shown(text),
            values.join(", "),
            did_you_mean(&nearest(text, values.iter().copied()))
        ),
    )
    .rule(RULE);
    let reordered = |value: &&&'static str| words(value) == words(text);
    if let [near] = nearest(text, values.iter().copied()).as_slice() {
        problem = problem.suggest(*near);
    } else if let Some(meant) = values.iter().find(reordered) {
        problem = problem.suggest(*meant);
    }
    Err(problem)
}

/// The words of a text in the order of the alphabet, so that `Reseller Full` is found to be `Full Reseller`.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> =
        text.split([' ', '_', '-']).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    words.sort_unstable();
    words
}

fn fold(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Yes or no, in the words of Excel's languages.
pub(super) fn truth(text: &str) -> Result<Value, Problem> {
    if let Some(truth) = BOOLEAN_WORDS.get(&text.to_lowercase()) {
        Ok(Value::Bool(*truth))
    } else {
        let problem = Problem::new(
            Code::CellBool,
            format!(
                "'{}' is neither yes nor no: use yes or no (or true/false, y/n, 1/0, on/off)",
                shown(text)
            ),
        )
        .rule("yes or no, in a word of Excel's languages");
        // What a program makes of 1 and 0 that knows only decimals.
        Err(match text {
            "1.0" => problem.suggest("1"),
            "0.0" => problem.suggest("0"),
            _ => problem,
        })
    }
}

/// What can be done with a row.
pub(in crate::sheet) const ACTIONS: [&str; 2] = ["create", "update"];

/// What to do with a row.
pub(super) fn action(text: &str) -> Result<Value, Problem> {
    if let Some(position) = ACTIONS.iter().position(|action| text.eq_ignore_ascii_case(action)) {
        return Ok(Value::Choice(position));
    }
    let problem = Problem::new(
        Code::CellUnsupportedAction,
        "the actions for these rows are create and update: the service deletes no record",
    )
    .rule("create or update; blank means create");
    Err(match nearest(text, ACTIONS).as_slice() {
        [near] => problem.suggest(*near),
        _ => problem,
    })
}
