//! The form of an answer (specification 2.1 and 7): wrapped, bare, or no JSON at all.
//!
//! Everything is bounded before it is believed. What a form means together with its status is left to
//! [`super::judge()`].

mod list;

use bytes::Bytes;
use serde_json::{Map, Value};

use self::list::outline;
pub use self::list::{Entries, List};
use super::wording::{LONGEST, Wording, clean};
use crate::model::operation::{Method, Operation};
use crate::model::verdict::{Doubt, Rejection, Violation};

/// The largest answer to anything but a look-up, in bytes.
const LARGEST: usize = 1024 * 1024;

/// The largest answer to a look-up, in bytes: some list a whole company.
const LARGEST_LIST: usize = 16 * 1024 * 1024;

/// The deepest nesting of objects and arrays.
const DEEPEST: usize = 64;

/// How many violations of one row are kept.
const MOST_VIOLATIONS: usize = 100;

/// The longest path of a violation, in characters.
const LONGEST_PATH: usize = 200;

/// The largest answer that is read for `operation`, in bytes.
pub(crate) fn largest(operation: Operation) -> usize {
    match operation.method() {
        Method::Get => LARGEST_LIST,
        Method::Post | Method::Put | Method::Patch | Method::Delete => LARGEST,
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reading {
    /// Status OK, with its body or `null`.
    Ok(Value),
    /// An error with a code, wrapped or bare.
    Failed(Rejection),
    /// `{"error": "invalid_token"}`: a word in the place of the error, as it came and not to be shown.
    Word(String),
    /// The service's envelope, but saying something the specification does not.
    Strange,
    /// JSON of somebody else.
    Foreign(Map<String, Value>),
    /// No JSON object: a page, or nothing.
    Page,
}

impl Reading {
    /// The error code or word, where there is one.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Failed(rejection) => Some(&rejection.code),
            Self::Word(word) => Some(word),
            Self::Ok(_) | Self::Strange | Self::Foreign(_) | Self::Page => None,
        }
    }
}

/// Reads a body of at most `largest` bytes; `wording` goes over the messages in it. An error is a body that cannot be believed to be whole and well formed.
pub(crate) fn read(body: &[u8], largest: usize, wording: Wording<'_>) -> Result<Reading, Doubt> {
    match text(body, largest)? {
        Some(text) if outline(text).depth > DEEPEST => Err(Doubt::Unreadable),
        Some(text) => Ok(form(fields(text)?, wording)),
        None => Ok(Reading::Page),
    }
}

/// As [`read`], without keeping the entries of a list in the place of the body: it is empty in what was read, and that of a
/// success is given apart.
pub(crate) fn read_apart(
    body: &Bytes,
    largest: usize,
    wording: Wording<'_>,
) -> Result<(Reading, Option<List>), Doubt> {
    let Some(text) = text(body, largest)? else { return Ok((Reading::Page, None)) };
    let outline = outline(text);
    if outline.depth > DEEPEST {
        return Err(Doubt::Unreadable);
    }
    let Some(place) = outline.list else { return Ok((form(fields(text)?, wording), None)) };
    let list = List::read(body.slice_ref(text[place.clone()].as_bytes()))?;
    let envelope = [&text[..place.start], "[]", &text[place.end..]].concat();
    let reading = form(fields(&envelope)?, wording);
    let is_body = matches!(reading, Reading::Ok(_));
    Ok((reading, is_body.then_some(list)))
}

/// The text of a body that may be an object.
fn text(body: &[u8], largest: usize) -> Result<Option<&str>, Doubt> {
    if body.len() > largest {
        return Err(Doubt::Unreadable);
    }
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if !body.trim_ascii_start().starts_with(b"{") {
        return Ok(None);
    }
    std::str::from_utf8(body).map(Some).map_err(|error| match error.error_len() {
        None => Doubt::Truncated,
        Some(_) => Doubt::Unreadable,
    })
}

fn fields(text: &str) -> Result<Map<String, Value>, Doubt> {
    serde_json::from_str(text).map_err(|error| match error.is_eof() {
        true => Doubt::Truncated,
        false => Doubt::Unreadable,
    })
}

fn form(mut fields: Map<String, Value>, wording: Wording<'_>) -> Reading {
    let error = fields.get("error").filter(|error| !error.is_null());
    let bare = fields.get("errorCode").filter(|code| !code.is_null());
    match fields.get("status") {
        Some(Value::String(status)) if status == "OK" => match (error, bare) {
            (None, None) => Reading::Ok(fields.remove("body").unwrap_or(Value::Null)),
            _ => Reading::Strange,
        },
        Some(Value::String(status)) if status == "FAILED" => {
            failure(error, bare, &fields, wording).unwrap_or(Reading::Strange)
        }
        None | Some(Value::Null) => {
            failure(error, bare, &fields, wording).unwrap_or_else(|| Reading::Foreign(fields.clone()))
        }
        Some(Value::String(_)) => Reading::Strange,
        Some(_) => Reading::Foreign(fields),
    }
}

fn failure(
    error: Option<&Value>,
    bare: Option<&Value>,
    fields: &Map<String, Value>,
    wording: Wording<'_>,
) -> Option<Reading> {
    match (error, bare) {
        (Some(Value::Object(error)), _) => coded(error, wording),
        (Some(Value::String(word)), None) => Some(Reading::Word(word.clone())),
        (None, Some(_)) => coded(fields, wording),
        _ => None,
    }
}

fn coded(error: &Map<String, Value>, wording: Wording<'_>) -> Option<Reading> {
    let code = error.get("errorCode")?.as_str()?;
    // A code proves something only as it came: one that must be made fit to be shown first is none of the listed.
    if clean(code, LONGEST_PATH) != code {
        return Some(Reading::Strange);
    }
    Some(Reading::Failed(Rejection {
        code: code.to_owned(),
        message: said(error.get("message"), wording),
        violations: violations(error.get("errorDetails"), wording),
    }))
}

fn violations(details: Option<&Value>, wording: Wording<'_>) -> Vec<Violation> {
    let listed = details.and_then(|details| details.get("violations")).and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .take(MOST_VIOLATIONS)
        .map(|violation| Violation {
            path: wording
                .clean(violation.get("path").and_then(Value::as_str).unwrap_or_default(), LONGEST_PATH),
            message: said(violation.get("message"), wording),
        })
        .collect()
}

fn said(message: Option<&Value>, wording: Wording<'_>) -> String {
    wording.clean(message.and_then(Value::as_str).unwrap_or_default(), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_strings() {
        let table = [("{}", 1), (r#"{"a":[{"b":1}],"c":{}}"#, 3), (r#"{"a":"[[[\"[["}"#, 1), ("]]]{", 1)];
        for (text, expected) in table {
            assert_eq!(outline(text).depth, expected, "{text}");
        }
    }

    #[test]
    fn only_look_ups_may_answer_at_length() {
        assert_eq!(largest(Operation::ListPeople), 16 * 1024 * 1024);
        assert_eq!(largest(Operation::AddDevice), 1024 * 1024);
    }
}
