//! What a header names: how headers are compared, which column one means, and which columns are skipped.

use unicode_normalization::UnicodeNormalization;

use super::column::{Column, Family, Form, columns};
use crate::model::kind::Kind;
use crate::sheet::finding::shown;
use crate::sheet::text::{Norm, is_direction, is_invisible, normalise};

/// Characters that the name of a column has at most; of a longer one no more than its beginning is known.
pub(crate) const LONGEST: usize = 250;

/// How the names of our result columns begin.
const RESULT: &str = "result_";

/// A header as headers are compared: compatibility forms, lower case, without invisible characters, a trailing
/// asterisk or bracketed note, and all but letters and digits.
pub fn fold(header: &str) -> String {
    // Asked of the first cells of every row, which are plain as a rule.
    let text: String = if header.is_ascii() {
        header.to_ascii_lowercase()
    } else {
        header
            .nfkc()
            .filter(|c| !is_invisible(*c) && !is_direction(*c))
            .flat_map(char::to_lowercase)
            .collect()
    };
    let mut rest = text.trim_end();
    loop {
        let before = rest;
        rest = rest.trim_end_matches('*').trim_end();
        if let Some(open) = rest.rfind(['(', '['])
            && rest.ends_with([')', ']'])
            && open > 0
        {
            rest = rest[..open].trim_end();
        }
        if rest == before {
            break;
        }
    }
    rest.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// How many digits a text has.
pub(crate) fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Whether a text has more digits than a name has, so that it need not be folded to know that it is another one: asked of
/// every row. Those in brackets do not count.
pub(crate) fn has_more_digits(text: &str, most: usize) -> bool {
    digits(text) > most && !text.contains(['(', '['])
}

/// A header as a finding keeps it: as it is in the file, of a longer one than is read its beginning.
pub(crate) fn cut(header: &str) -> String {
    match header.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &header[..end]),
        None => header.to_owned(),
    }
}

/// A header as it is typed in an option: in one line, without what cannot be seen.
pub fn typed(header: &str) -> String {
    let words: Vec<String> = header
        .split_whitespace()
        .map(|word| word.chars().filter(|c| !is_invisible(*c) && !is_direction(*c)).collect())
        .collect();
    shown(&words.join(" "))
}

/// Whether a column is skipped without a word.
pub(crate) fn is_ignored(header: &str) -> bool {
    let header = header.trim().trim_start_matches(is_invisible).to_ascii_lowercase();
    is_result(&header) || header.starts_with('_') || header.starts_with("x-")
}

/// Whether a column is one of those that our workbooks have beside what came in.
pub(crate) fn is_result(header: &str) -> bool {
    header.trim().get(..RESULT.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESULT))
}

/// The family a header names, and the part after its colon.
pub(super) fn family(kind: Kind, header: &str) -> Option<(&'static Column, Family, String)> {
    let (prefix, entry) = header.split_once(':')?;
    let family = match fold(prefix).as_str() {
        "label" => Family::Label,
        "meta" | "metadata" => Family::Meta,
        "snat" => Family::Snat,
        _ => return None,
    };
    let column = columns(kind).iter().find(|column| column.form == Form::Family(family))?;
    let entry = normalise(entry, Norm::Name, &mut Default::default());
    let entry = match (family, entry.split_once(':')) {
        // Spaces around the colon are part of neither name.
        (Family::Snat, Some((cloud, interface))) => format!("{}:{}", cloud.trim(), interface.trim()),
        _ => entry.into_owned(),
    };
    Some((column, family, entry))
}

/// The column a folded header means, by name or alias.
pub(super) fn by_name(kind: Kind, folded: &str) -> Option<&'static Column> {
    columns(kind)
        .iter()
        .filter(|column| column.family().is_none())
        .find(|column| fold_name(column.name) == folded || column.aliases.contains(&folded))
        .or_else(|| {
            // The name of the service's field, with and without the object around it.
            columns(kind).iter().filter(|column| column.family().is_none()).find(|column| {
                column.api.is_some_and(|api| {
                    let leaf = api.rsplit('.').next().unwrap_or(api);
                    fold_name(api) == folded
                        || (fold_name(leaf) == folded && !is_other_leaf(kind, column, leaf))
                })
            })
        })
}

/// The column that a header means: by its name, or by two names of one column with a stroke between them, as in
/// `Town/City`.
pub(super) fn named(kind: Kind, header: &str) -> Option<&'static Column> {
    by_name(kind, &fold(header)).or_else(|| {
        let (one, other) = header.split_once('/')?;
        let column = by_name(kind, &fold(one))?;
        (by_name(kind, &fold(other)) == Some(column)).then_some(column)
    })
}

/// Whether the last part of a field's name also is a field of the record itself.
fn is_other_leaf(kind: Kind, column: &Column, leaf: &str) -> bool {
    columns(kind).iter().any(|other| other.name != column.name && other.api == Some(leaf))
}

/// Folding of names that are plain already; much cheaper than [`fold`].
pub(super) fn fold_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a header of a sheet of `kind` could be a column by this name.
pub(in crate::sheet) fn is_column(kind: Kind, name: &str) -> bool {
    let folded = fold(name);
    family(kind, name).is_some()
        || named(kind, name).is_some()
        || columns(kind).iter().any(|column| column.weak_aliases.contains(&folded.as_str()))
}
