//! Keys, references and usernames: where identity is at stake nothing is guessed.

use uuid::Uuid;

use crate::model::record::Role;

use super::super::code::Code;
use super::super::finding::shown;
use super::super::text::{Changes, Norm, normalise};
use super::{Pointer, Problem, Reading, Value, lookalike};

/// Longest key in characters.
const KEY_LIMIT: usize = 64;

/// A key as keys are compared: compatibility forms, plain dashes, lower case.
pub fn fold_key(key: &str) -> String {
    normalise(key, Norm::Code, &mut Changes::default()).to_lowercase()
}

/// A row's own key.
pub(super) fn key(text: &str, reading: &mut Reading) -> Result<Value, Problem> {
    const RULE: &str = "up to 64 letters, digits and . _ - :";
    if uuid(text).is_some() {
        return Err(Problem::new(
            Code::RefKeyIsUuid,
            "a key must not look like an id of the service: choose a short name of your own",
        )
        .rule(RULE));
    }
    if text.chars().count() > KEY_LIMIT {
        return Err(Problem::new(
            Code::CellKey,
            format!("a key has at most {KEY_LIMIT} characters and this has more: shorten it"),
        )
        .rule(RULE));
    }
    if let Some(odd) = text.chars().find(|c| !c.is_alphanumeric() && !"._-:".contains(*c)) {
        let named = match odd {
            ' ' => "a space".to_owned(),
            odd => format!("'{odd}' (U+{:04X})", u32::from(odd)),
        };
        return Err(Problem::new(
            Code::CellKey,
            format!("{named} may not stand in a key: replace it here and wherever the key is referred to"),
        )
        .rule(RULE));
    }
    if let Some(odd) = lookalike::in_a_latin_word(text) {
        reading.problems.push(lookalike::problem(odd, text).warning());
    }
    Ok(Value::Text(text.to_owned()))
}

/// The id, key or name of another record.
pub(super) fn reference(text: &str, role: Role) -> Result<Value, Problem> {
    let form = text.split_once(':').and_then(|(form, rest)| {
        let form = form.trim().to_ascii_lowercase();
        matches!(form.as_str(), "id" | "key" | "name").then(|| (form, rest.trim().to_owned()))
    });
    let pointer = match form {
        Some((form, rest)) if rest.is_empty() => {
            return Err(Problem::new(
                Code::RefNotFound,
                format!("nothing stands after '{form}:': enter what is referred to, or clear the cell"),
            ));
        }
        Some((form, rest)) if form == "id" => match uuid(&rest) {
            Some(id) => Pointer::Id(id),
            None => return Err(bad_uuid(&rest)),
        },
        Some((form, rest)) if form == "key" => Pointer::Key(rest),
        Some((_, rest)) => Pointer::Name(rest),
        None => match uuid(text) {
            Some(id) => Pointer::Id(id),
            None if looks_like_uuid(text) => {
                return Err(Problem::new(
                    Code::CellUuid,
                    format!(
                        "this looks like the id of a {} but is not whole: copy it again",
                        role.target().singular()
                    ),
                )
                .rule("32 hexadecimal digits, usually as 8-4-4-4-12"));
            }
            None => Pointer::Any(text.to_owned()),
        },
    };
    Ok(Value::Pointer(pointer))
}

/// An id of the service in any of its usual spellings.
pub(super) fn uuid(text: &str) -> Option<Uuid> {
    let plain = normalise(text, Norm::Code, &mut Changes::default());
    Uuid::try_parse(&plain).ok()
}

pub(super) fn bad_uuid(text: &str) -> Problem {
    Problem::new(
        Code::CellUuid,
        format!("'{}' is not an id of the service (a UUID): copy the whole id", shown(text)),
    )
    .rule("32 hexadecimal digits, usually as 8-4-4-4-12")
}

/// Whether a text was probably meant as an id: mostly hexadecimal digits in groups.
fn looks_like_uuid(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_hexdigit).count();
    text.matches('-').count() >= 3
        && digits >= 24
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '{' | '}' | '…' | '.'))
}

/// A username (specification 2.4: `^[a-z0-9-.@]*$`), with at least one character.
pub(super) fn username(text: &str) -> Result<Value, Problem> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '@');
    let mut bad: Vec<char> = text.chars().filter(|c| !allowed(*c)).collect();
    if bad.is_empty() {
        return Ok(Value::Text(text.to_owned()));
    }
    bad.sort_unstable();
    bad.dedup();
    const RULE: &str = "small letters a-z, digits and - . @";
    if let Some(odd) = bad.iter().find(|c| lookalike::latin(**c).is_some()) {
        return Err(lookalike::problem(*odd, text).rule(RULE));
    }
    let named: Vec<String> = bad
        .iter()
        .map(|c| match c {
            ' ' => "a space".to_owned(),
            c if c.is_ascii() => format!("'{c}'"),
            c => format!("'{c}' (U+{:04X})", u32::from(*c)),
        })
        .collect();
    let message = if bad.iter().all(char::is_ascii_uppercase) {
        format!("capital letters ({}) may not stand in a username: write small ones", named.join(", "))
    } else {
        format!("{} may not stand in a username: choose another one", named.join(", "))
    };
    let mut problem = Problem::new(Code::CellUsername, message).rule(RULE);
    let lower = text.to_ascii_lowercase();
    if lower.chars().all(allowed) {
        problem = problem.suggest(lower);
    }
    Err(problem)
}
