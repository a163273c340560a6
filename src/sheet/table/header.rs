//! From the header row to the columns: folding, aliases, near misses, and what is unknown, doubled or unsupported.
//!
//! Knows only header texts; where the header row is, and what stands below it, is left to the book.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::column::{Column, Family, Form, Need, columns};
use super::header_name::{LONGEST, by_name, family, fold, fold_name, is_ignored, named, typed};
use super::rename;
use crate::advice::quoted;
use crate::model::kind::Kind;
use crate::sheet::address::letters;
use crate::sheet::data::KIND_NAMES;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::text::{did_you_mean, is_blank, nearest};

/// Letters of another name of a column from which on one that is like it is probably meant; among short words many are.
const LONG_ALIAS: usize = 4;

/// What a column of a file is taken for.
#[derive(Debug, Clone, PartialEq)]
pub enum Mapped {
    /// A column of the table; `entry` is the part of the header after the colon, for families.
    Column {
        /// The column of the table.
        column: &'static Column,
        /// What stands after the colon: the metadata key, `cloud:interface`.
        entry: Option<String>,
    },
    /// Not read, on purpose: our own result columns, and those that start with `_` or `x-`.
    Ignored,
    /// No header; not read as long as no cell below has a value.
    Blank,
    /// Not understood; a finding says so.
    Unknown,
}

/// A problem of one header; `column` counts from 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeaderProblem {
    pub(crate) code: Code,
    /// Where; `None` for a column that is not there.
    pub(crate) column: Option<usize>,
    /// The first of two equal ones.
    pub(crate) other: Option<usize>,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
}

impl HeaderProblem {
    fn at(index: usize, code: Code, message: impl Into<String>) -> Self {
        Self { code, column: Some(index), other: None, message: message.into(), suggestion: None }
    }
}

/// What a header stands for: itself, or what it is renamed to.
fn meant<'a>(kind: Kind, header: &'a str, headers: &[String], renamed: &'a [(String, String)]) -> &'a str {
    rename::renamed(kind, header, headers, renamed).unwrap_or(header)
}

/// How many different columns of `kind` the headers name, those that are renamed included.
pub(crate) fn score(kind: Kind, headers: &[String], renamed: &[(String, String)]) -> usize {
    let mut found: Vec<&str> = headers
        .iter()
        .filter(|header| !is_blank(header) && header.len() <= 200)
        .map(|header| meant(kind, header, headers, renamed))
        .filter_map(|header| family(kind, header).map(|(column, ..)| column).or_else(|| named(kind, header)))
        .map(|column| column.name)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.len()
}

/// What each header of a sheet of `kind` is taken for, without a word on what is wrong with them.
pub fn meaning(kind: Kind, headers: &[String]) -> Vec<Mapped> {
    map(kind, headers, &[], &[], &|_| true).0
}

/// Maps the headers of a sheet of `kind`; `have_default` says which columns need not be there.
pub(crate) fn map(
    kind: Kind,
    headers: &[String],
    renamed: &[(String, String)],
    ignored: &[String],
    have_default: &dyn Fn(&str) -> bool,
) -> (Vec<Mapped>, Vec<HeaderProblem>) {
    let mut problems = Vec::new();
    let mut mapping: Vec<Mapped> = Vec::with_capacity(headers.len());
    let mut first: HashMap<(&'static str, Option<String>), usize> = HashMap::new();
    let mut weak: Vec<(usize, &'static Column)> = Vec::new();
    let is_action = |header: &String| {
        named(kind, meant(kind, header, headers, renamed)).is_some_and(|column| column.form == Form::Action)
    };
    let has_action = headers.iter().any(is_action);
    let lists_updates = has_action && kind.updates().is_some();
    for (index, header) in headers.iter().enumerate() {
        let mut mapped = if ignored.iter().any(|name| rename::is_name_of(name, header, headers)) {
            Mapped::Ignored
        } else if is_blank(header) {
            Mapped::Blank
        } else if is_ignored(header) {
            Mapped::Ignored
        } else {
            one(kind, meant(kind, header, headers, renamed), index, &mut problems, &mut weak)
        };
        if let Mapped::Column { column, .. } = &mapped
            && kind.is_record()
            && is_of_updates(column)
            && !has_action
        {
            problems.push(of_updates(kind, header, index));
            mapped = Mapped::Unknown;
        }
        if let Mapped::Column { column, entry } = &mapped {
            claim(column, entry.clone(), index, headers, &mut first, &mut problems);
        }
        mapping.push(mapped);
    }
    for (index, column) in weak {
        match first.entry((column.name, None)) {
            Entry::Occupied(_) => problems.push(unknown(kind, &headers[index], index)),
            Entry::Vacant(free) => {
                free.insert(index);
                mapping[index] = Mapped::Column { column, entry: None };
            }
        }
    }
    for column in columns(kind).iter().filter(|column| column.need == Need::Required) {
        // A sheet with an action may have nothing but updates; what its other rows lack is reported row by row.
        if !first.contains_key(&(column.name, None)) && !have_default(column.name) && !lists_updates {
            problems.push(HeaderProblem {
                code: Code::HeaderRequiredMissing,
                column: None,
                other: None,
                message: format!("the column '{}' is missing and every row needs it: add it", column.name),
                suggestion: Some(column.name.to_owned()),
            });
        }
    }
    (mapping, problems)
}

/// Whether a column has a meaning only where rows say that they change records: elsewhere its header is somebody's own.
fn is_of_updates(column: &Column) -> bool {
    matches!(column.form, Form::Id | Form::Exported)
}

/// The finding for a column of updates in a sheet whose rows all create records.
fn of_updates(kind: Kind, header: &str, index: usize) -> HeaderProblem {
    if kind.updates().is_none() {
        return unknown(kind, header, index);
    }
    let (shown, name) = (shown(header), typed(header));
    let message = format!(
        "'{shown}' is a column of {kind} only in a sheet that has a column 'action'. If these rows change records \
         that exist, add that column with update in each row. If not, ignore this one with --ignore-column {}.",
        quoted(&name)
    );
    HeaderProblem::at(index, Code::HeaderUnknown, message)
}

/// Notes which header claims a column first; the second is a finding.
fn claim(
    column: &'static Column,
    entry: Option<String>,
    index: usize,
    headers: &[String],
    first: &mut HashMap<(&'static str, Option<String>), usize>,
    problems: &mut Vec<HeaderProblem>,
) {
    let meta = column.family() == Some(Family::Meta);
    if let Some(&other) = first.get(&(column.name, entry.clone())) {
        // An option names a header, and so both where they are equal.
        let ignore = match headers[index].trim() == headers[other].trim() {
            true => "",
            false => ", or ignore one with --ignore-column",
        };
        let code = if meta { Code::DupMetadataKey } else { Code::HeaderDuplicate };
        let message = format!(
            "'{}' means the same as '{}' in column {}: remove one of them{ignore}",
            shown(&headers[index]),
            shown(&headers[other]),
            letters(other)
        );
        problems.push(HeaderProblem { other: Some(other), ..HeaderProblem::at(index, code, message) });
    } else {
        first.insert((column.name, entry), index);
    }
}

/// What one header that is neither blank nor ignored means.
fn one(
    kind: Kind,
    header: &str,
    index: usize,
    problems: &mut Vec<HeaderProblem>,
    weak: &mut Vec<(usize, &'static Column)>,
) -> Mapped {
    if header.chars().nth(LONGEST).is_some() {
        let message = format!("the name of this column has more than {LONGEST} characters: shorten it");
        problems.push(HeaderProblem::at(index, Code::HeaderUnknown, message));
        return Mapped::Unknown;
    }
    if let Some((column, family, entry)) = family(kind, header) {
        let complete = match family {
            Family::Label | Family::Meta => !entry.is_empty(),
            Family::Snat => entry
                .split_once(':')
                .is_some_and(|(cloud, interface)| !cloud.is_empty() && !interface.is_empty()),
        };
        if complete {
            return Mapped::Column { column, entry: Some(entry) };
        }
        let message = match family {
            Family::Label => "a label column needs a number after the colon, as in label:1",
            Family::Meta => "a metadata column needs its key after the colon, as in meta:contract",
            Family::Snat => {
                "this column needs a VPN cloud and an interface after the colon, as in snat:Head Office:LAN1"
            }
        };
        problems.push(HeaderProblem::at(index, Code::HeaderUnknown, message));
        return Mapped::Unknown;
    }
    let folded = fold(header);
    if let Some(column) = named(kind, header) {
        return Mapped::Column { column, entry: None };
    }
    if let Some(column) = columns(kind).iter().find(|column| column.weak_aliases.contains(&folded.as_str())) {
        weak.push((index, column));
        return Mapped::Unknown;
    }
    problems.push(unsupported(kind, header, &folded, index).unwrap_or_else(|| unknown(kind, header, index)));
    Mapped::Unknown
}

/// The finding for a field that the service has, but not for this kind.
fn unsupported(kind: Kind, header: &str, folded: &str, index: usize) -> Option<HeaderProblem> {
    let prefix = header.split_once(':').map(|(prefix, _)| fold(prefix));
    let family = prefix.as_deref().unwrap_or(folded);
    let labels =
        matches!(family, "label" | "labels" | "tags") && matches!(kind, Kind::Company | Kind::Person);
    let metadata = matches!(family, "meta" | "metadata") && kind == Kind::Person;
    (labels || metadata).then(|| {
        let field = if labels { "labels" } else { "metadata" };
        let message = format!(
            "the service has no {field} for {kind}: remove the column, or start its name with x- to ignore it"
        );
        HeaderProblem::at(index, Code::HeaderUnsupportedField, message)
    })
}

/// The finding for a header that means nothing here.
fn unknown(kind: Kind, header: &str, index: usize) -> HeaderProblem {
    let folded = fold(header);
    let mut message = format!("'{}' is not a column of {kind}.", shown(header));
    let mut suggestion = None;
    let is_it = |column: &&Column| column.suggested_for.contains(&folded.as_str());
    if folded == "generalemail" {
        message.push_str(" The service has no general e-mail address; accounts_email is another one.");
    } else if let Some(column) = columns(kind).iter().find(is_it) {
        message.push_str(&format!(" It may mean {}.", column.name));
        suggestion = Some(column.name.to_owned());
    } else {
        let near = near_columns(kind, &folded);
        let hint = did_you_mean(&near);
        if hint.is_empty()
            && let Some(other) =
                Kind::SHEETS.into_iter().find(|other| *other != kind && by_name(*other, &folded).is_some())
        {
            message.push_str(&format!(" It is a column of {other}."));
        }
        if let [one] = near.as_slice() {
            suggestion = Some((*one).to_owned());
        }
        message.push_str(&hint);
        if matches!(folded.as_str(), "meta" | "metadata") {
            message.push_str(" Metadata has a column for each of its keys, as in meta:contract.");
        }
        message.push_str(&other_script(header));
    }
    let name = typed(header);
    message.push_str(&match &suggestion {
        Some(column) => format!(
            " Correct it, say what it means with --map {}, or ignore it with --ignore-column {}.",
            quoted(&format!("{name}={column}")),
            quoted(&name)
        ),
        None => format!(
            " Say what it means with --map {}, or ignore it with --ignore-column {}.",
            quoted(&format!("{name}=COLUMN")),
            quoted(&name)
        ),
    });
    HeaderProblem { suggestion, ..HeaderProblem::at(index, Code::HeaderUnknown, message) }
}

/// The columns that a misspelt header may mean: those with the name that is nearest to it, be it their own, the one in words,
/// or another that is read as theirs.
fn near_columns(kind: Kind, folded: &str) -> Vec<&'static str> {
    let known = columns(kind)
        .iter()
        .filter(|column| column.family().is_none() && !(kind.is_record() && is_of_updates(column)));
    let names: Vec<(String, &'static str)> = known
        .flat_map(|column| {
            let others = column.aliases.iter().filter(|alias| alias.len() >= LONG_ALIAS);
            let own = [fold_name(column.name), fold(&column.header())];
            own.into_iter().chain(others.map(|&alias| alias.to_owned())).map(|name| (name, column.name))
        })
        .collect();
    let near = nearest(folded, names.iter().map(|(name, _)| name.as_str()));
    let apart = |name: &str| strsim::damerau_levenshtein(folded, name);
    let least = near.iter().map(|name| apart(name)).min();
    let mut columns = Vec::new();
    for name in near.into_iter().filter(|name| Some(apart(name)) == least) {
        let of_name = names.iter().filter(|(known, _)| known == name).map(|(_, column)| *column);
        for column in of_name {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
    }
    columns
}

/// The header with its letters of another script spelt out, where they stand among Latin ones and look like them.
fn other_script(header: &str) -> String {
    let is_other = |c: char| matches!(c, '\u{370}'..='\u{52f}');
    if !header.contains(|c: char| c.is_ascii_alphabetic()) || !header.contains(is_other) {
        return String::new();
    }
    let mut spelt = String::new();
    for c in header.chars() {
        if is_other(c) { spelt.extend(c.escape_unicode()) } else { spelt.push(c) }
    }
    format!(" It contains letters of another script that look like Latin ones: '{}'.", shown(&spelt))
}

/// The kind a name speaks of: of a worksheet, or of a file without its ending. `None` for none or several.
pub fn kind_of_name(name: &str) -> Option<Kind> {
    let lower = name.to_lowercase();
    let mut found: Option<Kind> = None;
    for word in lower.split(|c: char| !c.is_alphanumeric()) {
        let kind = KIND_NAMES.iter().find(|[known, _]| known == word).and_then(|[_, kind]| kind.parse().ok());
        match (found, kind) {
            (_, None) => {}
            (None, Some(kind)) => found = Some(kind),
            (Some(before), Some(kind)) if before == kind => {}
            // Labels of devices are labels.
            (Some(before), Some(kind)) if before.is_record() != kind.is_record() => {
                found = Some(if kind.is_record() { before } else { kind });
            }
            (Some(_), Some(_)) => return None,
        }
    }
    found
}

#[cfg(test)]
mod tests;
