//! Keys, references and usernames: where identity is at stake nothing is guessed.

use std::borrow::Cow;

use uuid::Uuid;

use super::confusables;
use super::{CellReading, Pointer, Problem, Value};
use crate::model::action::Offer;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::text::{Changes, Norm, normalise};

/// Longest key in characters.
const KEY_LIMIT: usize = 64;

/// A key as keys are compared: compatibility forms, plain dashes, lower case.
pub fn fold_key(key: &str) -> String {
    folded_key(key).into_owned()
}

/// The same, left in place where it is folded already.
pub(in crate::sheet) fn folded_key(key: &str) -> Cow<'_, str> {
    match normalise(key, Norm::Code, &mut Changes::default()) {
        Cow::Borrowed(key) if key.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) => {
            key.into()
        }
        key => key.to_lowercase().into(),
    }
}

/// A row's own key.
pub(super) fn key(text: &str, reading: &mut CellReading) -> Result<Value, Problem> {
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
    if let Some((form, _)) = explicit(text) {
        return Err(Problem::new(
            Code::CellKey,
            format!("a key must not begin with '{form}:', as references do: choose another one"),
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
            format!("{named} is not allowed in a key: replace it here and wherever the key is referred to"),
        )
        .rule(RULE));
    }
    if let Some(odd) = confusables::in_a_latin_word(text) {
        reading.add(confusables::problem(odd, text).warning());
    }
    Ok(Value::Text(text.into()))
}

/// A reference that says by what it refers: `key:acme` as `key` and `acme`.
fn explicit(text: &str) -> Option<(&'static str, &str)> {
    let (form, rest) = text.split_once(':')?;
    let form = ["id", "key", "name"].into_iter().find(|known| form.trim().eq_ignore_ascii_case(known))?;
    Some((form, rest.trim()))
}

/// The id, key or name of another record. Whether what is no id was meant as one is asked when no record has it for a key
/// or name ([`broken_id`]).
pub(super) fn reference(text: &str) -> Result<Value, Problem> {
    let pointer = match explicit(text) {
        Some((form, "")) => {
            return Err(Problem::new(
                Code::RefNotFound,
                format!("the value after '{form}:' is missing: enter the key, name or id, or clear the cell"),
            ));
        }
        Some(("id", rest)) => Pointer::Id(uuid(rest).ok_or_else(|| bad_uuid(rest))?),
        Some(("key", rest)) => Pointer::Key(rest.to_owned()),
        Some((_, rest)) => Pointer::Name(rest.to_owned()),
        None => uuid_or_listed(text).map_or_else(|| Pointer::Any(text.to_owned()), Pointer::Id),
    };
    Ok(Value::Pointer(pointer))
}

/// The id or name of something that the service lists.
pub(in crate::sheet) fn offer(text: &str) -> Result<Offer, Problem> {
    match explicit(text) {
        Some(("id", rest)) => uuid(rest).map(Offer::Id).ok_or_else(|| bad_uuid(rest)),
        Some(("name", rest)) if !rest.is_empty() => Ok(Offer::named(rest)),
        Some(_) | None => match (uuid_or_listed(text), broken_id(text)) {
            (Some(id), _) => Ok(Offer::Id(id)),
            (None, Some(_)) => Err(bad_uuid(text)),
            (None, None) => Ok(Offer::named(text)),
        },
    }
}

/// Whether a cell has several ids in it.
pub(in crate::sheet) fn has_several_ids(text: &str) -> bool {
    text.contains(';') && text.split(';').all(|item| uuid(item.trim()).is_some())
}

/// An id, or one with the name before it as the drop-downs of a template for a company list it: `Queen Street (id:6f1c…)`.
pub(super) fn uuid_or_listed(text: &str) -> Option<Uuid> {
    let listed = || text.trim_end().strip_suffix(')')?.rsplit_once("(id:").and_then(|(_, id)| uuid(id));
    uuid(text).or_else(listed)
}

/// An id of the service in any of its usual spellings.
pub(super) fn uuid(text: &str) -> Option<Uuid> {
    let plain = normalise(text, Norm::Code, &mut Changes::default());
    Uuid::try_parse(&plain).ok()
}

pub(super) fn bad_uuid(text: &str) -> Problem {
    Problem::new(
        Code::CellUuid,
        format!("'{}' is not an id of the service (a UUID): copy the complete id", shown(text)),
    )
    .rule("32 hexadecimal digits, usually as 8-4-4-4-12")
}

/// A text that no record has for a key or name, and that was probably meant as an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrokenId {
    /// The id with something around it.
    Wrapped(Uuid),
    /// A part of an id, or one with letters in it that no id has.
    Cut,
}

/// Whether a text was probably meant as an id.
pub(crate) fn broken_id(text: &str) -> Option<BrokenId> {
    let marks = |c: char| c.is_whitespace() || "()[]<>{}\"'“”‘’,;.".contains(c);
    let bare = text.trim_matches(marks);
    if bare != text
        && let Some(id) = uuid(bare)
    {
        return Some(BrokenId::Wrapped(id));
    }
    let inner = bare.trim_matches(|c: char| c == '…' || marks(c));
    let is_shortened = inner.len() < bare.len() || text.trim_end().ends_with("...");
    let count = inner.bytes().filter(u8::is_ascii_hexdigit).count();
    let is_hexadecimal = inner.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let dashes = inner.matches('-').count();
    let begins_as_one = inner.split('-').zip([8, 4, 4, 4]).take(dashes).all(|(part, of)| part.len() == of);
    let is_part = is_hexadecimal
        && ((dashes >= 2 && count >= 16 && begins_as_one)
            || (is_shortened && dashes >= 1 && count >= 8)
            || (dashes == 0 && count >= 24 && inner.bytes().any(|byte| byte.is_ascii_alphabetic())));
    let is_like_one =
        dashes >= 3 && count >= 24 && inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    (is_part || is_like_one).then_some(BrokenId::Cut)
}

/// A username (specification 2.4: `^[a-z0-9-.@]*$`), with at least one character.
pub(super) fn username(text: &str) -> Result<Value, Problem> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '@');
    let mut bad: Vec<char> = text.chars().filter(|c| !allowed(*c)).collect();
    if bad.is_empty() {
        return Ok(Value::Text(text.into()));
    }
    bad.sort_unstable();
    bad.dedup();
    const RULE: &str = "lower-case letters a-z, digits and - . @";
    if let Some(odd) = bad.iter().find(|c| confusables::latin(**c).is_some()) {
        return Err(confusables::problem(*odd, text).rule(RULE));
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
        format!("usernames must be lower case: found {}", named.join(", "))
    } else {
        format!("a username cannot contain {}: choose another one", named.join(", "))
    };
    let mut problem = Problem::new(Code::CellUsername, message).rule(RULE);
    let lower = text.to_ascii_lowercase();
    if lower.chars().all(allowed) {
        problem = problem.suggest(lower);
    }
    Err(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_was_cut_or_wrapped_is_told_from_a_name() {
        let id = Uuid::from_u128(0x6f1c_9c8e_3b0a_4d55_9f5a_0c8f_0d3a_2b11);
        for text in
            [format!("({id})"), format!("\"{id}\""), format!("{id},"), format!(" {id}. "), format!("<{id}>")]
        {
            assert_eq!(broken_id(&text), Some(BrokenId::Wrapped(id)), "{text}");
        }
        for text in [
            "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b",
            "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d…",
            "6f1c9c8e-3b0a-4d55-9…",
            "6f1c9c8e-3b0a-4d55-9...",
            "6f1c9c8e-3b0a-4d55",
            "6f1c9c8e-3b…",
            "…9f5a-0c8f0d3a2b11",
            "6f1c9c8e3b0a4d559f5a0c8f0d3a2b",
            "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b1G",
            "a1b2c3d4-e5f6a7b8-c9d0e1f2-ab",
        ] {
            assert_eq!(broken_id(text), Some(BrokenId::Cut), "{text}");
        }
        for text in [
            "acme",
            "Acme Ltd (North)",
            "Acme…",
            "\"Acme\"",
            "face-2-face",
            "2024-10-01",
            "12345678",
            "100000000000000000000001",
            "dead-beef",
            "N-01-02-03-04",
            "",
            "…",
            "()",
        ] {
            assert_eq!(broken_id(text), None, "{text}");
        }
    }
}
