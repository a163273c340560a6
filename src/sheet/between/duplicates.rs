//! Rows that are the same thing twice: by key, by what must be unique, by natural key.

use crate::model::key::comparable;
use crate::model::kind::Kind;

use super::super::code::Code;
use super::super::field::fold_key;
use super::super::finding::{Finding, ValueKind};
use super::index::Index;
use super::{Between, Entry, Resolution, To};

/// Tells every row but the first of those with one value, and makes it unusable.
fn tell<T: PartialEq>(
    between: &mut Between,
    index: &Index,
    of: impl Fn(&Between, &Entry) -> Option<T>,
    say: impl Fn(&Between, &Entry, &Entry, u32) -> Finding,
    found: &mut dyn FnMut(Finding),
) {
    let mut repeated: Vec<(u32, u32)> = Vec::new();
    for run in index.runs() {
        let mut firsts: Vec<(T, u32)> = Vec::new();
        for (_, row) in run {
            let Some(value) = of(between, &between.entries[*row as usize]) else { continue };
            match firsts.iter().find(|(first, _)| *first == value) {
                Some((_, first)) => repeated.push((*row, *first)),
                None => firsts.push((value, *row)),
            }
        }
    }
    repeated.sort_unstable();
    for (row, first) in repeated {
        let entry = between.entries[row as usize];
        let before = between.entries[first as usize];
        found(say(between, &entry, &before, first));
        between.entries[row as usize].unusable = true;
    }
}

/// A key that two rows of a kind have, whatever their case.
pub(super) fn keys(between: &mut Between, found: &mut dyn FnMut(Finding)) {
    let of = |between: &Between, entry: &Entry| {
        between.get(entry.key).map(|key| (between.kind(entry), fold_key(key)))
    };
    let index = Index::new(between.entries.len(), |row| of(between, &between.entries[row]));
    tell(
        between,
        &index,
        of,
        |between, entry, before, first| {
            let key = between.get(entry.key).unwrap_or_default();
            let mut finding = between
                .finding(
                    Code::DupKey,
                    format!("row {} has this key already: give each row its own", before.row),
                    entry,
                    "key",
                )
                .showing(key, ValueKind::Text);
            finding.related.push(between.related(first, "key", "first use"));
            finding
        },
        found,
    );
}

/// A MAC or a username that two rows have.
pub(super) fn uniques(between: &mut Between, found: &mut dyn FnMut(Finding)) {
    let of = |between: &Between, entry: &Entry| {
        let kind = between.kind(entry);
        match kind {
            Kind::Person | Kind::Device => between.get(entry.unique).map(|unique| (kind, unique.to_owned())),
            Kind::Company | Kind::Site => None,
        }
    };
    let index = Index::new(between.entries.len(), |row| of(between, &between.entries[row]));
    tell(
        between,
        &index,
        of,
        |between, entry, before, first| {
            let (code, column, what) = if between.kind(entry) == Kind::Person {
                (Code::DupUsername, "username", "username")
            } else {
                (Code::DupMac, "mac", "MAC address")
            };
            let mut finding = between
                .finding(
                    code,
                    format!("row {} has this {what} already: correct one of them", before.row),
                    entry,
                    column,
                )
                .showing(between.get(entry.unique).unwrap_or_default(), ValueKind::Text);
            finding.related.push(between.related(first, column, "first use"));
            finding
        },
        found,
    );
}

/// The natural key of a row, as far as it is none of the above: owner, name, and the reference of a site.
type Natural<'a> = (Kind, To, &'a str, String);

fn natural_of<'a>(between: &'a Between, entry: &Entry, resolutions: &[Resolution]) -> Option<Natural<'a>> {
    let kind = between.kind(entry);
    if entry.unusable {
        return None;
    }
    let unique = between.get(entry.unique);
    let reference = match kind {
        Kind::Company => String::new(),
        Kind::Site => comparable(unique.unwrap_or_default()),
        Kind::Device if unique.is_none() => String::new(),
        Kind::Device | Kind::Person => return None,
    };
    let Resolution::To(owner) = resolutions.get(entry.owner as usize)? else { return None };
    Some((kind, *owner, between.get(entry.name)?, reference))
}

/// Two rows with one name in one company (and one reference, for sites).
pub(super) fn natural(between: &mut Between, resolutions: &[Resolution], found: &mut dyn FnMut(Finding)) {
    let index =
        Index::new(between.entries.len(), |row| natural_of(between, &between.entries[row], resolutions));
    let owned = |between: &Between, entry: &Entry| {
        natural_of(between, entry, resolutions)
            .map(|(kind, owner, name, reference)| (kind, owner, name.to_owned(), reference))
    };
    tell(
        between,
        &index,
        owned,
        |between, entry, before, first| {
            let what = match between.kind(entry) {
                Kind::Company => "a company of this name below the same parent",
                Kind::Site => "a site of this name and reference in the same company",
                Kind::Person | Kind::Device => {
                    "a device of this name in the same company, and neither has a MAC"
                }
            };
            let mut finding = between
                .finding(
                    Code::DupNaturalKey,
                    format!("row {} is {what}: remove one of them, or make them differ", before.row),
                    entry,
                    "name",
                )
                .showing(between.get(entry.name).unwrap_or_default(), ValueKind::Text);
            finding.related.push(between.related(first, "name", "first use"));
            finding
        },
        found,
    );
}
