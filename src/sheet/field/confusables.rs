//! Letters of other alphabets that look like Latin ones, and what they are taken for.
//!
//! A text with one of them looks equal to another and is not: nothing finds it. Where only Latin letters may stand it is
//! an error; in names only a word that mixes the alphabets is worth a word.

use super::Problem;
use crate::sheet::data::CONFUSABLES;
use crate::sheet::finding::code::Code;

/// The Latin letter that a letter looks like.
pub(super) fn latin(c: char) -> Option<char> {
    if c.is_ascii() { None } else { CONFUSABLES.get(&c).copied() }
}

/// The text with Latin letters for those that look like them.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| latin(c).unwrap_or(c)).collect()
}

/// A look-alike within a word that has Latin letters too. The dotless i of Turkish is at home among them.
pub(super) fn in_a_latin_word(text: &str) -> Option<char> {
    if text.is_ascii() {
        return None;
    }
    text.split(|c: char| !c.is_alphabetic())
        .filter(|word| word.chars().any(|c| c.is_ascii_alphabetic()))
        .find_map(|word| word.chars().find(|c| *c != 'ı' && latin(*c).is_some()))
}

/// The finding for a letter that is not the one it looks like; the text without it is suggested where the rest is Latin.
pub(super) fn problem(odd: char, text: &str) -> Problem {
    let message = match latin(odd) {
        Some(latin) => format!(
            "'{odd}' (U+{:04X}) looks like the letter {latin} but is from another alphabet: type it again",
            u32::from(odd)
        ),
        None => format!("'{odd}' (U+{:04X}) is not a letter from a to z: type it again", u32::from(odd)),
    };
    let problem = Problem::new(Code::CellNonAsciiLookalike, message).rule("letters of the Latin alphabet");
    let repaired = if has_foreign_word(text) { plain_where_mixed(text) } else { plain(text) };
    if latin(odd).is_some() && repaired.is_ascii() && text.chars().any(|c| c.is_ascii_alphabetic()) {
        problem.suggest(repaired)
    } else {
        problem
    }
}

/// The same in a text that may have words of any alphabet: a warning, and only the mixed words are suggested otherwise.
pub(super) fn in_a_name(odd: char, text: &str) -> Problem {
    let mut problem = problem(odd, text).warning();
    let repaired = plain_where_mixed(text);
    problem.suggestion = in_a_latin_word(&repaired).is_none().then_some(repaired);
    problem
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(|c: char| !c.is_alphabetic())
}

fn is_mixed(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_alphabetic())
}

/// Whether a word of another alphabet stands for itself: it has no Latin letter, and more than the few of an abbreviation.
fn has_foreign_word(text: &str) -> bool {
    words(text).any(|word| !is_mixed(word) && word.chars().filter(|c| c.is_alphabetic()).count() > 2)
}

/// The text with Latin letters for those that look like them, in the words that have Latin letters too.
fn plain_where_mixed(text: &str) -> String {
    words(text).map(|word| if is_mixed(word) { plain(word) } else { word.to_owned() }).collect()
}
