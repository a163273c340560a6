//! The attributes of an element of a worksheet, as they are written: nothing is guessed, and one that is broken or there
//! twice is an error.

use quick_xml::events::BytesStart;

use super::Fault;
use super::worksheet::unreadable;
use crate::sheet::finding::code::Code;

/// The values of these attributes; one that is there twice is an error.
pub(super) fn attributes<'a, const N: usize>(
    element: &'a BytesStart<'_>,
    names: [&str; N],
) -> Result<[Option<&'a str>; N], Fault> {
    let broken = || Fault::new(Code::SheetUnreadable, unreadable(None, "an attribute is broken"));
    let mut found = [None; N];
    let raw = element.attributes_raw();
    for pair in (RawAttributes { rest: raw }) {
        let (key, value) = pair.ok_or_else(broken)?;
        if let Some(place) = names.iter().position(|name| *name == key)
            && found[place].replace(value).is_some()
        {
            return Err(broken());
        }
    }
    Ok(found)
}

/// The attributes of an element, as they are written.
struct RawAttributes<'a> {
    rest: &'a str,
}

impl<'a> Iterator for RawAttributes<'a> {
    /// A name and its value; `None` when there is no such pair.
    type Item = Option<(&'a str, &'a str)>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.trim_ascii_start().trim_end_matches('/');
        self.rest = "";
        if rest.is_empty() {
            return None;
        }
        let pair = || {
            let (key, rest) = rest.split_once('=')?;
            let rest = rest.trim_ascii_start();
            let mark = rest.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
            let (value, rest) = rest[1..].split_once(mark)?;
            Some(((key.trim_ascii_end(), value), rest))
        };
        Some(pair().map(|(pair, rest)| {
            self.rest = rest;
            pair
        }))
    }
}

pub(super) fn is_true(value: Option<&str>) -> bool {
    matches!(value, Some("1" | "true"))
}

/// Whether a height or width is none.
pub(super) fn is_nothing(value: &str) -> bool {
    value.parse::<f64>().is_ok_and(|size| size == 0.0)
}
