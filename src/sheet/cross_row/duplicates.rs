//! Rows that are the same thing twice: by key, by what must be unique, by natural key, or cell by cell.

use std::borrow::Cow;

use super::references::column_of;
use super::{Between, Index, Resolution, RowEntry, TextSpan, To};
use crate::model::key::{comparable, mac_digits};
use crate::model::kind::{Kind, Upkeep};
use crate::sheet::field::{fold_key, folded_key};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Related, ValueKind, shown};
use crate::sheet::row::draft::INTERFACE;
use crate::sheet::row::upkeep::subject_column;

/// What is said of a row of which there is another one.
struct Repeat {
    code: Code,
    /// What the other row is or has, and what to do.
    what: String,
    column: &'static str,
    value: TextSpan,
    rule: String,
}

/// Tells every row but the first of those with one value, marks it as told and makes it unusable.
fn tell<T: PartialEq>(
    between: &mut Between,
    index: &Index,
    of: impl Fn(&Between, &RowEntry) -> Option<T>,
    say: impl Fn(&Between, &RowEntry, &RowEntry) -> Repeat,
    told: &mut [bool],
    found: &mut dyn FnMut(Finding),
) {
    for (row, first) in repeated(index, |row| of(between, &between.entries[row as usize])) {
        let (entry, before) = (between.entries[row as usize], between.entries[first as usize]);
        found(finding(between, (&entry, &before), first, say(between, &entry, &before)));
        between.entries[row as usize].unusable = true;
        told[row as usize] = true;
    }
}

/// The finding at a row of which another one is there before.
fn finding(
    between: &Between,
    (entry, before): (&RowEntry, &RowEntry),
    first: u32,
    repeat: Repeat,
) -> Finding {
    let Repeat { code, what, column, value, rule } = repeat;
    let message = format!("{} {what}", between.row_as_seen(before, entry));
    let finding = between.finding(code, message, entry, column);
    let mut finding = finding.showing(between.get(value).unwrap_or_default(), ValueKind::Text);
    finding.rule = Some(rule);
    finding.related.push(between.related(first as usize, column, "first use"));
    finding
}

/// Everything in an index but the first of those with one value, in its order, with that first one.
pub(super) fn repeated<T: PartialEq>(index: &Index, of: impl Fn(u32) -> Option<T>) -> Vec<(u32, u32)> {
    let mut repeated: Vec<(u32, u32)> = Vec::new();
    for run in index.runs() {
        let mut firsts: Vec<(T, u32)> = Vec::new();
        for (_, row) in run {
            let Some(value) = of(*row) else { continue };
            match firsts.iter().find(|(first, _)| *first == value) {
                Some((_, first)) => repeated.push((*row, *first)),
                None => firsts.push((value, *row)),
            }
        }
    }
    repeated.sort_unstable();
    repeated
}

/// What to do with a row of which `what` is there already: nothing is lost where the whole row is.
fn advice(entry: &RowEntry, before: &RowEntry, otherwise: &str) -> String {
    if entry.fingerprint == before.fingerprint {
        "the two rows are the same cell by cell, so delete one of them".to_owned()
    } else {
        otherwise.to_owned()
    }
}

/// The advice about two records, and what helps where they are one, though not written alike.
fn or_delete(between: &Between, entry: &RowEntry, advice: &str) -> String {
    format!("{advice}, or delete one if both are the same {}", between.kind(entry).singular())
}

/// A key that two rows of a kind have, whatever their case.
pub(super) fn keys(between: &mut Between, told: &mut [bool], found: &mut dyn FnMut(Finding)) {
    let of = |between: &Between, entry: &RowEntry| {
        between.own_key(entry).map(|key| (between.kind(entry), fold_key(key)))
    };
    let index = Index::new(between.entries.len(), |row| {
        let entry = &between.entries[row];
        between.own_key(entry).map(|key| (between.kind(entry), folded_key(key)))
    });
    tell(
        between,
        &index,
        of,
        |between, entry, before| Repeat {
            code: Code::DupKey,
            what: format!(
                "has this key already: {}",
                advice(entry, before, &or_delete(between, entry, "give each row a key of its own"))
            ),
            column: "key",
            value: entry.key,
            rule: "a key that no other row of its kind has, ignoring case".to_owned(),
        },
        told,
        found,
    );
}

/// A MAC or a username that two rows have.
pub(super) fn uniques(between: &mut Between, told: &mut [bool], found: &mut dyn FnMut(Finding)) {
    let index = Index::new(between.entries.len(), |row| unique_of(between, &between.entries[row]));
    let of = |between: &Between, entry: &RowEntry| {
        unique_of(between, entry).map(|(kind, unique)| (kind, unique.into_owned()))
    };
    tell(
        between,
        &index,
        of,
        |between, entry, before| {
            let (code, column, name, value) = if between.kind(entry) == Kind::Person {
                (Code::DupUsername, "username", "username", entry.name)
            } else {
                (Code::DupMac, "mac", "MAC address", entry.unique)
            };
            let advice = advice(entry, before, &or_delete(between, entry, "correct one of the two"));
            let what = format!("has this {name} already: {advice}");
            Repeat { code, what, column, value, rule: format!("a {name} that no other row has") }
        },
        told,
        found,
    );
}

fn unique_of<'b>(between: &'b Between, entry: &RowEntry) -> Option<(Kind, Cow<'b, str>)> {
    let kind = between.kind(entry);
    let unique = between.get(entry.unique);
    let unique = match kind {
        Kind::Person => unique?.into(),
        Kind::Device => mac_digits(unique?)?.into(),
        Kind::Company | Kind::Site | Kind::Upkeep(_) => return None,
    };
    Some((kind, unique))
}

/// The natural key of a row, as far as it is none of the above: owner, name, and the reference of a site.
type Natural<'a> = (Kind, To, &'a str, String);

fn natural_of<'a>(between: &'a Between, entry: &RowEntry, resolutions: &[Resolution]) -> Option<Natural<'a>> {
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
        Kind::Upkeep(_) => comparable(unique.unwrap_or_default()),
    };
    let Resolution::To(owner) = resolutions.get(entry.owner as usize)? else { return None };
    let name = if kind.is_record() { between.get(entry.name)? } else { "" };
    Some((kind, *owner, name, reference))
}

/// Two rows with one name in one company (and one reference, for sites).
pub(super) fn natural(
    between: &mut Between,
    resolutions: &[Resolution],
    told: &mut [bool],
    found: &mut dyn FnMut(Finding),
) {
    let index =
        Index::new(between.entries.len(), |row| natural_of(between, &between.entries[row], resolutions));
    let owned = |between: &Between, entry: &RowEntry| {
        natural_of(between, entry, resolutions)
            .map(|(kind, owner, name, reference)| (kind, owner, name.to_owned(), reference))
    };
    tell(
        between,
        &index,
        owned,
        |between, entry, before| {
            let what = match between.kind(entry) {
                Kind::Company => "a company of this name below the same parent",
                Kind::Site => "a site of this name and reference in the same company",
                Kind::Person | Kind::Device => {
                    "a device of this name in the same company, and neither has a MAC address"
                }
                Kind::Upkeep(_) if is_settings(between.get(entry.unique)) => {
                    let advice = advice(entry, before, "keep the one that is right, and delete the other");
                    return Repeat {
                        code: Code::DupNaturalKey,
                        what: format!(
                            "has settings of the same interface of this device in this cloud: {advice}"
                        ),
                        column: "interface",
                        value: TextSpan::default(),
                        rule: "one row for each interface of a device in a cloud".to_owned(),
                    };
                }
                Kind::Upkeep(upkeep) => {
                    let advice = advice(entry, before, "keep the one that is right, and delete the other");
                    if upkeep.updated().is_some() {
                        let (role, (_, pointer)) =
                            (entry.owner_role, &between.pointers[entry.owner as usize]);
                        return Repeat {
                            code: Code::DupNaturalKey,
                            what: format!("changes the same {}: {advice}", upkeep.thing()),
                            column: column_of(between, entry, role, pointer),
                            value: entry.unique,
                            rule: "one update for each record".to_owned(),
                        };
                    }
                    let (what, rule) = match upkeep {
                        // A device is in one site, whichever the rows say.
                        Upkeep::SiteAssignments => {
                            ("assigns the same device".to_owned(), "one row for each device".to_owned())
                        }
                        _ => (
                            format!("is about the same {} of the same record", upkeep.thing()),
                            format!("one row for each {} of a record", upkeep.thing()),
                        ),
                    };
                    return Repeat {
                        code: Code::DupNaturalKey,
                        what: format!("{what}: {advice}"),
                        column: subject_column(upkeep),
                        value: entry.unique,
                        rule,
                    };
                }
            };
            let advice = advice(entry, before, "delete one of the two, or give them different names");
            let what = format!("is {what}: {advice}");
            let rule = "one row for each record".to_owned();
            Repeat { code: Code::DupNaturalKey, what, column: "name", value: entry.name, rule }
        },
        told,
        found,
    );
}

/// Whether this is what tells rows with settings of a device in a VPN cloud apart.
fn is_settings(unique: Option<&str>) -> bool {
    unique.is_some_and(|unique| unique.contains(INTERFACE))
}

/// Rows whose names differ in capitals, spaces and marks only, and that belong to one company (with one reference, for sites).
/// They may be meant, so each is reported as worth a look.
pub(super) fn nearly(between: &Between, resolutions: &[Resolution], found: &mut dyn FnMut(Finding)) {
    let of = |between: &Between, entry: &RowEntry| {
        let (kind, owner, name, reference) = natural_of(between, entry, resolutions)?;
        let letters = bare(name);
        (!letters.is_empty()).then_some((kind, owner, letters, reference))
    };
    let index = Index::new(between.entries.len(), |row| of(between, &between.entries[row]));
    for (row, first) in repeated(&index, |row| of(between, &between.entries[row as usize])) {
        let entry = &between.entries[row as usize];
        let before = &between.entries[first as usize];
        let what = format!(
            "is '{}', which differs only in case, spaces or punctuation: delete one of the two if they are the same; if \
             not, both are created",
            shown(between.get(before.name).unwrap_or_default())
        );
        let rule = "one row for each record".to_owned();
        let repeat = Repeat { code: Code::DupRow, what, column: "name", value: entry.name, rule };
        found(finding(between, (entry, before), first, repeat));
    }
}

/// The letters and digits of a name in small letters. What parts two digits stays: 1-1 is not 11.
fn bare(name: &str) -> String {
    let mut bare = String::with_capacity(name.len());
    let mut parted = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            parted = true;
            continue;
        }
        if parted && c.is_numeric() && bare.ends_with(char::is_numeric) {
            bare.push(' ');
        }
        parted = false;
        bare.extend(c.to_lowercase());
    }
    bare
}

/// Rows that are another one cell by cell and were not told as the same thing already. That happens to rows with errors
/// only, of which it is not known what they would be: whoever corrects them would correct them twice.
pub(super) fn whole_rows(between: &Between, told: &[bool], found: &mut dyn FnMut(Finding)) {
    if !between.entries.iter().any(|entry| entry.unusable) {
        return;
    }
    let of = |between: &Between, entry: &RowEntry| {
        let table = &between.tables[entry.table as usize];
        Some((table.kind, table.headers.len(), entry.fingerprint))
    };
    let index = Index::new(between.entries.len(), |row| of(between, &between.entries[row]));
    for (row, first) in repeated(&index, |row| of(between, &between.entries[row as usize])) {
        let entry = &between.entries[row as usize];
        let before = &between.entries[first as usize];
        let same_headers = entry.table == before.table
            || between.tables[entry.table as usize].headers == between.tables[before.table as usize].headers;
        if told[row as usize] || !same_headers {
            continue;
        }
        let table = &between.tables[entry.table as usize];
        let message =
            format!("{} is the same cell by cell: delete one of the two", between.row_as_seen(before, entry));
        let mut finding = table.finding_at(Code::DupRow, message, entry.row, None, None);
        finding.row_key = between.get(entry.key).map(shown);
        finding.rule = Some("one row for each record".to_owned());
        finding.related.push(table_row(between, first));
        found(finding);
    }
}

/// A whole row that belongs to a finding.
fn table_row(between: &Between, row: u32) -> Related {
    let entry = &between.entries[row as usize];
    between.tables[entry.table as usize].related(entry.row, None, "the same row")
}
