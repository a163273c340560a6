//! Where references lead and what is wrong with them, be it that they lead nowhere or that they do not agree. The order of
//! creation that follows is left to `order`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;

use super::earlier_records::{self, Several};
use super::{Between, By, Index, Known, Namesake, Resolution, RowEntry, To};
use crate::error::Result;
use crate::model::id::check::NamedId;
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::key::{comparable, mac_digits};
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::sheet::field::{BrokenId, Pointer, broken_id, fold_key};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Severity, ValueKind, shown};
use crate::sheet::row::draft::{column_of_role, from_default};
use crate::sheet::text::{did_you_mean, nearest};

/// Distinct references that lead nowhere for which similar keys are looked up.
const SUGGESTIONS: usize = 50;
/// Rows that are walked over for it, in all walks together; the first walk is not asked.
const WALKED: usize = 500_000;
/// Rows named when a name fits several.
const LISTED: usize = 5;

/// Resolves every distinct reference; with those that several records of earlier imports answer, and these.
pub(super) fn all(between: &Between, known: &dyn Known) -> Result<(Vec<Resolution>, Several)> {
    let rows = between.entries.len();
    let of = |row: usize| &between.entries[row];
    // Made only where they are asked: those who refer by id alone need no row to be found.
    let by_id_alone = between.pointers.iter().all(|(_, pointer)| matches!(pointer, Pointer::Id(_)));
    let found = if by_id_alone { 0 } else { rows };
    let keys = Index::new(found, |row| between.own_key(of(row)).map(fold_key));
    let names = Index::new(found, |row| between.get(of(row).name));
    let is_device = |row: usize| between.kind(of(row)) == Kind::Device;
    let mac_of = |row: usize| between.get(of(row).unique).filter(|_| is_device(row)).and_then(mac_digits);
    let is_mac = |(kind, pointer): &(Kind, Pointer)| match pointer {
        Pointer::Any(text) | Pointer::Name(text) => *kind == Kind::Device && mac_digits(text).is_some(),
        Pointer::Id(_) | Pointer::Key(_) => false,
    };
    // Most imports name no device by its address.
    let macs = Index::new(if between.pointers.iter().any(is_mac) { rows } else { 0 }, mac_of);
    let mut suggested = 0;
    let mut earlier_names: HashMap<Kind, Vec<(Option<String>, String)>> = HashMap::new();
    let mut resolutions = Vec::with_capacity(between.pointers.len());
    let mut several_earlier = Several::new();
    for (kind, pointer) in &between.pointers {
        let by_key = |text: &str| -> Vec<u32> {
            let folded = fold_key(text);
            keys.find(&folded)
                .filter(|row| between.get(of(*row as usize).key).is_some_and(|key| fold_key(key) == folded))
                .collect()
        };
        let by_name = |text: &str| -> Vec<u32> {
            let name = comparable(text);
            names
                .find(name.as_str())
                .filter(|row| between.get(of(*row as usize).name) == Some(&name))
                .collect()
        };
        let (key, name) = match pointer {
            Pointer::Id(id) => {
                let made_here = known.find(*kind, By::Id(*id))?.first().map(|job| To::Job(*job));
                resolutions.push(made_here.map_or_else(|| between.by_id(*kind, *id), Resolution::To));
                continue;
            }
            Pointer::Key(key) => (Some(key), None),
            Pointer::Name(name) => (None, Some(name)),
            Pointer::Any(text) => (Some(text), Some(text)),
        };
        let with_key = key.map(|key| by_key(key)).unwrap_or_default();
        let with_name = name.map(|name| by_name(name)).unwrap_or_default();
        let right = |row: &u32| between.kind(of(*row as usize)) == *kind;
        // A key that two rows have is an error of its own; the first of them is meant.
        if let Some(row) = with_key.iter().find(|row| right(row)) {
            resolutions.push(Resolution::To(To::Row(*row as usize)));
            continue;
        }
        let fitting: Vec<u32> = with_name.iter().copied().filter(right).collect();
        match fitting.as_slice() {
            [row] => {
                resolutions.push(Resolution::To(To::Row(*row as usize)));
                continue;
            }
            [] => {}
            several => {
                resolutions.push(Resolution::Failed {
                    code: Code::RefAmbiguous,
                    message: format!(
                        "{} rows have this name: {}, or delete all but one if they are the same {}",
                        several.len(),
                        match several.iter().all(|row| between.own_key(of(*row as usize)).is_some()) {
                            true => "refer to the key of the right one",
                            false => "give the right one a key and refer to that",
                        },
                        kind.singular()
                    ),
                    suggestion: None,
                    related: several.iter().take(LISTED).map(|row| between.by_its_name(*row)).collect(),
                });
                continue;
            }
        }
        // A device goes by its MAC address as well.
        let digits = name.filter(|_| *kind == Kind::Device).and_then(|text| mac_digits(text));
        if let Some(digits) = digits {
            let row = macs.find(&digits).find(|row| mac_of(*row as usize).as_ref() == Some(&digits));
            let job = if row.is_none() { known.find(*kind, By::Mac(&digits))? } else { Vec::new() };
            let to = row.map(|row| To::Row(row as usize)).or(job.first().map(|job| To::Job(*job)));
            if let Some(to) = to {
                resolutions.push(Resolution::To(to));
                continue;
            }
        }
        let (what, jobs) = earlier(known, *kind, key, name)?;
        if let [job] = jobs[..] {
            resolutions.push(Resolution::To(To::Job(job)));
            continue;
        }
        if !jobs.is_empty() {
            resolutions.push(earlier_records::ambiguous(what, jobs.len()));
            several_earlier.insert(resolutions.len() - 1, jobs);
            continue;
        }
        let mut failed = || -> Result<Resolution> {
            let text = key.or(name).map(String::as_str).unwrap_or_default();
            let by_its_key = with_key.first().map(|row| Namesake { row: *row, column: "key" });
            if let Some(wrong) = by_its_key.or(with_name.first().map(|row| between.by_its_name(*row))) {
                let found = between.kind(of(wrong.row as usize)).singular();
                return Ok(Resolution::Failed {
                    code: Code::RefWrongKind,
                    message: format!(
                        "this is the key or name of a {found}: enter that of a {}",
                        kind.singular()
                    ),
                    suggestion: None,
                    related: vec![wrong],
                });
            }
            if let Some(broken) = broken_id(text) {
                return Ok(not_an_id(*kind, broken));
            }
            suggested += 1;
            let is_sought = suggested == 1 || (suggested <= SUGGESTIONS && suggested * rows <= WALKED);
            let is_hidden = between.hidden.contains(kind);
            let mut lost = LostReference { pointer, kind: *kind, text, is_hidden, suggestion: None };
            let named: Vec<u32> = match pointer {
                Pointer::Key(_) => by_name(text),
                Pointer::Name(_) => by_key(text),
                Pointer::Id(_) | Pointer::Any(_) => Vec::new(),
            };
            // A record of an earlier import counts only where no row of this one has the name.
            let is_one = match named.iter().filter(|row| right(row)).count() {
                0 => called_otherwise_earlier(known, *kind, pointer)?,
                rows => rows == 1,
            };
            let message = if is_one {
                lost.called_otherwise()
            } else if let Some(import) = left_out_earlier(known, *kind, key, name)? {
                lost.left_out(import)
            } else if is_sought {
                let candidates = between.entries.iter().filter(|entry| between.kind(entry) == *kind);
                let names =
                    candidates.flat_map(|entry| lost.names(between.get(entry.key), between.get(entry.name)));
                let mut near = nearest(text, names.flatten());
                if near.is_empty() {
                    let earlier = match earlier_names.entry(*kind) {
                        Entry::Occupied(read) => read.into_mut(),
                        Entry::Vacant(unread) => unread.insert(known.names(*kind)?),
                    };
                    let names = earlier.iter().flat_map(|(key, name)| lost.names(key.as_deref(), Some(name)));
                    near = nearest(text, names.flatten());
                }
                lost.unknown(&near)
            } else {
                lost.unknown(&[])
            };
            let suggestion = lost.suggestion;
            Ok(Resolution::Failed { code: Code::RefNotFound, message, suggestion, related: Vec::new() })
        };
        resolutions.push(failed()?);
    }
    Ok((resolutions, several_earlier))
}

impl Between {
    /// A row by what it is known by besides its key.
    fn by_its_name(&self, row: u32) -> Namesake {
        let is_person = self.kind(&self.entries[row as usize]) == Kind::Person;
        Namesake { row, column: if is_person { "username" } else { "name" } }
    }

    /// Where an id leads: nowhere, if the service says that it has no such record.
    fn by_id(&self, kind: Kind, id: RemoteId) -> Resolution {
        if !self.ids.as_ref().is_some_and(|ids| ids.absent.contains(&(kind, id))) {
            return Resolution::To(To::Remote(id));
        }
        Resolution::Failed {
            code: Code::RefUnknownId,
            message: format!("the service has no {} with this id", kind.singular()),
            suggestion: None,
            related: Vec::new(),
        }
    }
}

/// A reference by a key or name that no record has.
struct LostReference<'a> {
    pointer: &'a Pointer,
    kind: Kind,
    text: &'a str,
    /// Whether it may be that of a row that is skipped because it is hidden.
    is_hidden: bool,
    /// What to enter, where there is one such thing.
    suggestion: Option<String>,
}

impl LostReference<'_> {
    /// What the record is named by, and what a cell that says so begins with.
    fn form(&self) -> (&'static str, &'static str) {
        match self.pointer {
            Pointer::Key(_) => ("key", "key:"),
            Pointer::Name(_) => ("name", "name:"),
            Pointer::Id(_) | Pointer::Any(_) => ("key or name", ""),
        }
    }

    /// By what a row may be meant.
    fn names<'t>(&self, key: Option<&'t str>, name: Option<&'t str>) -> [Option<&'t str>; 2] {
        match self.pointer {
            Pointer::Key(_) => [key, None],
            Pointer::Name(_) => [None, name],
            Pointer::Id(_) | Pointer::Any(_) => [key, name],
        }
    }

    /// A row has as its name what was written as a key, or the reverse.
    fn called_otherwise(&mut self) -> String {
        let ((form, _), kind, text) = (self.form(), self.kind.singular(), shown(self.text));
        let other = if form == "key" { "name" } else { "key" };
        self.suggestion = Some(format!("{other}:{}", self.text));
        format!(
            "no {kind} has the {form} '{text}', but one has that {other}: write {other}:{text}, if that is meant"
        )
    }

    /// The row that has it waits to be corrected since an earlier import.
    fn left_out(&self, import: ImportId) -> String {
        let ((what, _), kind, text) = (self.form(), self.kind.singular(), shown(self.text));
        format!(
            "the {kind} with the {what} '{text}' was not imported with import {import} and waits in fix.xlsx of that import: \
             correct and import that first, or give the id"
        )
    }

    /// Records of other companies only have it.
    fn of_other_companies(&self, records: usize) -> String {
        let ((what, _), kind, text) = (self.form(), self.kind.singular(), shown(self.text));
        format!(
            "no {kind} of the row's company has the {what} '{text}', and {records} of other companies have it: correct it, \
             add the row, or give the id"
        )
    }

    /// Nothing has it; these are like it.
    fn unknown(&mut self, near: &[&str]) -> String {
        let ((what, form), kind, text) = (self.form(), self.kind.singular(), shown(self.text));
        if let [only] = near {
            self.suggestion = Some(format!("{form}{only}"));
        }
        let (hidden, row) = match self.is_hidden {
            true => (format!("; hidden rows of {} were skipped", self.kind), "show the row if it is hidden"),
            false => (String::new(), "add the row"),
        };
        format!(
            "no {kind} has the {what} '{text}', in these sheets or in an earlier import{hidden}: correct it, {row}, or \
             give the id.{}",
            did_you_mean(near)
        )
    }
}

/// What is said of a reference that so many records of earlier imports have for a key or name, none of them in the row's company.
pub(super) fn of_other_companies(kind: Kind, pointer: &Pointer, records: usize) -> Resolution {
    let text = match pointer {
        Pointer::Key(text) | Pointer::Name(text) | Pointer::Any(text) => text.as_str(),
        Pointer::Id(_) => "",
    };
    let lost = LostReference { pointer, kind, text, is_hidden: false, suggestion: None };
    let message = lost.of_other_companies(records);
    Resolution::Failed { code: Code::RefNotFound, message, suggestion: None, related: Vec::new() }
}

/// What is said of a reference that no record has for a key or name, and that was probably meant as an id.
fn not_an_id(kind: Kind, broken: BrokenId) -> Resolution {
    let kind = kind.singular();
    let (message, suggestion) = match broken {
        BrokenId::Wrapped(id) => (
            format!("this is the id of a {kind} with something around it: keep only the id"),
            Some(id.to_string()),
        ),
        BrokenId::Cut => {
            (format!("this looks like the id of a {kind} but is not complete: copy it again"), None)
        }
    };
    Resolution::Failed { code: Code::CellUuid, message, suggestion, related: Vec::new() }
}

/// The records of earlier imports with this key, or else with this name; and which of the two they have.
pub(super) fn earlier(
    known: &dyn Known,
    kind: Kind,
    key: Option<&String>,
    name: Option<&String>,
) -> Result<(&'static str, Vec<JobId>)> {
    if let Some(key) = key {
        let jobs = known.find(kind, By::Key(&fold_key(key)))?;
        if !jobs.is_empty() {
            return Ok(("key", jobs));
        }
    }
    let jobs = name.map(|name| known.find(kind, By::Name(&comparable(name)))).transpose()?;
    Ok(("name", jobs.unwrap_or_default()))
}

/// The latest import that left out a row with this key, or else with this name, where that waits to be corrected.
fn left_out_earlier(
    known: &dyn Known,
    kind: Kind,
    key: Option<&String>,
    name: Option<&String>,
) -> Result<Option<ImportId>> {
    if let Some(key) = key
        && let Some(import) = known.left_out(kind, By::Key(&fold_key(key)))?
    {
        return Ok(Some(import));
    }
    Ok(name.map(|name| known.left_out(kind, By::Name(&comparable(name)))).transpose()?.flatten())
}

/// Whether one record of an earlier import has as its name what was written as a key, or the reverse.
fn called_otherwise_earlier(known: &dyn Known, kind: Kind, pointer: &Pointer) -> Result<bool> {
    let jobs = match pointer {
        Pointer::Key(text) => known.find(kind, By::Name(&comparable(text)))?,
        Pointer::Name(text) => known.find(kind, By::Key(&fold_key(text)))?,
        Pointer::Id(_) | Pointer::Any(_) => return Ok(false),
    };
    Ok(jobs.len() == 1)
}

/// The column of the cell that refers to a record. An update names its record by its id, its key or its MAC address.
pub(super) fn column_of(between: &Between, entry: &RowEntry, role: Role, pointer: &Pointer) -> &'static str {
    let kind = between.kind(entry);
    match pointer {
        Pointer::Key(_) if entry.is_update && role == Role::owner(kind.sheet()) => "key",
        Pointer::Any(_) if entry.is_update && role == Role::owner(kind.sheet()) => "mac",
        Pointer::Id(_) | Pointer::Key(_) | Pointer::Name(_) | Pointer::Any(_) => column_of_role(kind, role),
    }
}

/// What a cell that refers to another record may hold.
fn rule(role: Role) -> String {
    format!("the key, name or id of a {}", role.target().singular())
}

/// Tells the references that lead nowhere, each at its cell; once each id that was not looked up, and once each key of a company
/// that a cancelled one has too.
pub(super) fn tell(
    between: &mut Between,
    resolutions: &[Resolution],
    known: &dyn Known,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    let mut was_told = vec![false; resolutions.len()];
    for number in 0..between.entries.len() {
        let entry = between.entries[number];
        for (role, reference) in entry.references() {
            let (kind, pointer) = &between.pointers[reference as usize];
            let column = column_of(between, &entry, role, pointer);
            let is_first = |was_told: &mut Vec<bool>| !mem::replace(&mut was_told[reference as usize], true);
            match &resolutions[reference as usize] {
                Resolution::To(To::Remote(id)) => {
                    let is_verified =
                        |id: &NamedId| between.ids.as_ref().is_some_and(|ids| ids.verified.contains(id));
                    if !is_verified(&(role.target(), *id)) && is_first(&mut was_told) {
                        let message = "an id of the service, which has not been looked up (reported once)";
                        found(
                            between
                                .finding(Code::RefUnverified, message, &entry, column)
                                .showing(&id.to_string(), ValueKind::Text),
                        );
                    }
                }
                Resolution::To(To::Job(job)) => {
                    if let (Kind::Company, Pointer::Key(key) | Pointer::Any(key)) = (kind, pointer)
                        && is_first(&mut was_told)
                        && let Some(other) = known.given_up(&fold_key(key), *job)?
                    {
                        let [own, other] = [known.record(*job)?, known.record(other)?];
                        let message = format!(
                            "this is the key of '{}' ({}), and was that of '{}' ({}), which was cancelled: if that is meant, \
                             import its sheet together with this one, with a changed value in each cancelled row that is to be \
                             sent (reported once)",
                            shown(&own.name),
                            shown(&own.place),
                            shown(&other.name),
                            shown(&other.place)
                        );
                        let finding = between.finding(Code::RefAmbiguous, message, &entry, column);
                        found(finding.as_severity(Severity::Warning).showing(key, ValueKind::Text));
                    }
                }
                Resolution::To(To::Row(_)) => {}
                Resolution::Failed { .. } => {
                    tell_lost(between, resolutions, (number, reference), (role, column), found);
                }
            }
        }
    }
    Ok(())
}

/// A reference as a cell has it.
pub(super) fn written(pointer: &Pointer) -> String {
    match pointer {
        Pointer::Id(id) => id.to_string(),
        Pointer::Key(text) => format!("key:{text}"),
        Pointer::Name(text) => format!("name:{text}"),
        Pointer::Any(text) => text.clone(),
    }
}

/// Tells a reference of a row that leads nowhere, at its cell.
pub(super) fn tell_lost(
    between: &mut Between,
    resolutions: &[Resolution],
    (number, reference): (usize, u32),
    (role, column): (Role, &str),
    found: &mut dyn FnMut(Finding),
) {
    let Resolution::Failed { code, message, suggestion, related } = &resolutions[reference as usize] else {
        return;
    };
    let entry = between.entries[number];
    let (of_kind, pointer) = &between.pointers[reference as usize];
    let of_kind = *of_kind;
    // The column `key` has the key alone.
    let entered = |text: &str| match column {
        "key" => text.trim_start_matches("key:").to_owned(),
        _ => text.to_owned(),
    };
    let mut message = message.clone();
    if entry.is_default(role) {
        message.push_str(&from_default(between.kind(&entry), column));
    }
    let mut finding = between.finding(*code, message, &entry, column);
    finding = finding.showing(&entered(&written(pointer)), ValueKind::Text);
    finding.rule = Some(rule(role));
    finding.suggestion = suggestion.as_deref().map(entered);
    finding.related.extend(related.iter().map(|Namesake { row, column }| {
        between.related(*row as usize, column, &format!("has this {column}"))
    }));
    if *code != Code::RefNotFound || !between.unread.contains(&of_kind) {
        found(finding);
    } else if !entry.unusable {
        found(of_unread(between, &entry, column, of_kind));
    }
    between.entries[number].unusable = true;
}

/// The note on a row that refers to what may be in a sheet that could not be read.
fn of_unread(between: &Between, entry: &RowEntry, column: &str, of_kind: Kind) -> Finding {
    let message = format!(
        "it refers to {of_kind}, of which a sheet could not be read: correct that, and it is found whether this row is right"
    );
    between.finding(Code::RefTargetInvalid, message, entry, column)
}

/// A row that changes a record by its id and has the key of another one.
pub(super) fn keys_beside_ids(
    between: &mut Between,
    resolutions: &[Resolution],
    known: &dyn Known,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    for number in 0..between.entries.len() {
        let entry = between.entries[number];
        let (true, Some(key), Some(Resolution::To(own))) =
            (entry.is_update, between.get(entry.key), resolutions.get(entry.owner as usize))
        else {
            continue;
        };
        let kind = between.kind(&entry).sheet();
        let jobs = known.find(kind, By::Key(&fold_key(key)))?;
        let Some(other) = jobs.first().filter(|_| !jobs.iter().any(|job| *own == To::Job(*job))) else {
            continue;
        };
        let (key, kind) = (key.to_owned(), kind.singular());
        let message = format!(
            "the key '{}' is that of another {kind} (job {other}), and the id says which {kind} is changed: correct one of \
             them, or clear the key",
            shown(&key)
        );
        let mut finding =
            between.finding(Code::RowConflict, message, &entry, "key").showing(&key, ValueKind::Text);
        finding.rule = Some("the key and the id of one record".to_owned());
        found(finding);
        between.entries[number].unusable = true;
    }
    Ok(())
}

/// A device in a site of another company, where both companies are known in the same way. What belongs to records of earlier
/// imports is known when the rows are placed.
pub(super) fn owners(between: &mut Between, resolutions: &[Resolution], found: &mut dyn FnMut(Finding)) {
    for number in 0..between.entries.len() {
        let entry = between.entries[number];
        let to = |reference: u32| match resolutions.get(reference as usize) {
            Some(Resolution::To(to)) => Some(*to),
            Some(Resolution::Failed { .. }) | None => None,
        };
        let owner_of = |record: &To| match record {
            To::Row(row) => to(between.entries[*row].owner),
            To::Job(_) | To::Remote(_) => None,
        };
        let Some(site) = to(entry.site) else { continue };
        // An assignment and an update name the device, and a creation its company.
        let own = match (between.kind(&entry).is_record(), to(entry.owner)) {
            (true, company) => company,
            (false, Some(device)) => owner_of(&device),
            (false, None) => None,
        };
        let (Some(own), Some(other)) = (own, owner_of(&site)) else { continue };
        if own.is_another(other) {
            let name = |to: &To| match to {
                To::Row(row) => shown(between.get(between.entries[*row].name).unwrap_or("?")),
                To::Remote(id) => id.to_string(),
                To::Job(job) => format!("the company of job {job}"),
            };
            let message = format!(
                "the site belongs to {} and the device to {}: name a site of the same company",
                name(&other),
                name(&own)
            );
            let mut finding = between.finding(Code::RefWrongOwner, message, &entry, "site");
            finding.rule = Some("a site of the device's own company".to_owned());
            if let To::Row(site) = site {
                finding.related.push(between.related(site, "company", "the site's company"));
            }
            found(finding);
            between.entries[number].unusable = true;
        }
    }
}
