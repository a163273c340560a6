//! Keys, references, usernames and MAC addresses: where identity is at stake nothing is guessed.

use uuid::Uuid;

use crate::model::record::Role;

use super::super::code::Code;
use super::super::text::{Changes, Norm, normalise};
use super::{Pointer, Problem, Reading, Value};

/// Longest key in characters.
const KEY_LIMIT: usize = 64;

/// A key as keys are compared: compatibility forms, plain dashes, lower case.
pub fn fold_key(key: &str) -> String {
    normalise(key, Norm::Code, &mut Changes::default()).to_lowercase()
}

/// A row's own key.
pub(super) fn key(text: &str) -> Result<Value, Problem> {
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
            format!("a key has at most {KEY_LIMIT} characters: shorten it"),
        )
        .rule(RULE));
    }
    if let Some(odd) = text.chars().find(|c| !c.is_alphanumeric() && !"._-:".contains(*c)) {
        return Err(Problem::new(Code::CellKey, format!("'{odd}' may not stand in a key")).rule(RULE));
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
            return Err(Problem::new(Code::RefNotFound, format!("nothing stands after '{form}:'")));
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
        format!("'{}' is not an id of the service (a UUID)", super::super::finding::shown(text)),
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
    if let Some(odd) = bad.iter().find(|c| !c.is_ascii()) {
        return Err(Problem::new(
            Code::CellNonAsciiLookalike,
            format!(
                "'{odd}' (U+{:04X}) is not a letter of the Latin alphabet a-z: type it again",
                u32::from(*odd)
            ),
        )
        .rule("small letters a-z, digits and - . @"));
    }
    let named: Vec<String> =
        bad.iter().map(|c| if *c == ' ' { "a space".to_owned() } else { format!("'{c}'") }).collect();
    let mut problem =
        Problem::new(Code::CellUsername, format!("{} may not stand in a username", named.join(", ")))
            .rule("small letters a-z, digits and - . @");
    let lower = text.to_ascii_lowercase();
    if lower.chars().all(allowed) {
        problem = problem.suggest(lower);
    }
    Err(problem)
}

/// A MAC address in any usual notation, written as `aa:bb:cc:dd:ee:ff`.
pub(super) fn mac(text: &str, reading: &mut Reading) -> Result<Value, Problem> {
    const RULE: &str = "12 hexadecimal digits";
    let separator = |c: char| matches!(c, ':' | '-' | '.' | ' ');
    if let Some(odd) = text.chars().find(|c| !c.is_ascii_hexdigit() && !separator(*c)) {
        let hint = if text.chars().filter(char::is_ascii_hexdigit).count() < 8 || odd.is_ascii_alphabetic() {
            ": is this the serial number?"
        } else {
            ""
        };
        let code = if odd.is_ascii() { Code::CellMac } else { Code::CellNonAsciiLookalike };
        return Err(Problem::new(
            code,
            format!("'{odd}' (U+{:04X}) is no hexadecimal digit (0-9, a-f){hint}", u32::from(odd)),
        )
        .rule(RULE));
    }
    let groups: Vec<&str> = text.split(separator).filter(|group| !group.is_empty()).collect();
    let digits: String = if groups.len() == 6 && groups.iter().all(|group| group.len() <= 2) {
        if groups.iter().any(|group| group.len() == 1) {
            reading.changes.padded = true;
        }
        groups.iter().map(|group| format!("{group:0>2}")).collect()
    } else {
        groups.concat()
    };
    if digits.len() != 12 {
        return Err(Problem::new(
            Code::CellMacLength,
            format!("a MAC address has 12 hexadecimal digits; this has {}", digits.len()),
        )
        .rule(RULE));
    }
    let digits = digits.to_ascii_lowercase();
    let first = u8::from_str_radix(&digits[..2], 16).unwrap_or(0);
    let reserved = if digits.bytes().all(|digit| digit == b'0') {
        Some("all zeros")
    } else if digits.bytes().all(|digit| digit == b'f') {
        Some("the address of all devices at once")
    } else if first & 1 == 1 {
        Some("an address of a group of devices")
    } else {
        None
    };
    if let Some(what) = reserved {
        return Err(
            Problem::new(Code::CellMacReserved, format!("this is {what}, not that of one device")).rule(RULE)
        );
    }
    if first & 2 == 2 {
        reading.problems.push(
            Problem::new(
                Code::CellMacReserved,
                "this address was not given by a manufacturer (phones make such addresses up): check it",
            )
            .rule(RULE)
            .warning(),
        );
    }
    let pairs: Vec<&str> = (0..6).map(|pair| &digits[2 * pair..2 * pair + 2]).collect();
    Ok(Value::Text(pairs.join(":")))
}
