//! What holds between the rows of one import: keys and names used once, references that lead somewhere, a company
//! tree without circles, sites of the right company.
//!
//! Of each row only what this needs is kept (some hundred bytes), so that a million rows fit. References that no row
//! answers are asked of the records of earlier imports, which the caller supplies as [`Known`].

mod chunked_list;
pub mod contradictions;
mod duplicates;
mod earlier_records;
mod kept_text;
mod order;
mod references;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;
use std::{panic, thread};

use foldhash::fast::RandomState;
use smol_str::SmolStr;
use uuid::Uuid;

use super::field::{Pointer, fold_key};
use super::finding::Finding;
use super::finding::code::Code;
use super::finding::severity_policy::SeverityPolicy;
use super::row::Row;
use super::row::draft::column_of_role;
use super::table::Table;
use crate::error::{Error, Result};
use crate::model::id::check::{IdCheck, NamedId};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::key::{comparable, mac_digits};
use crate::model::kind::Kind;
use crate::model::record::Role;
use chunked_list::ChunkedList;
use contradictions::Settings;
use kept_text::{KeptText, TextSpan};

/// Rows from which on a second thread pays.
const MANY: usize = 20_000;

/// No reference in this place.
const NONE: u32 = u32::MAX;

/// The records of earlier imports.
pub trait Known {
    /// The jobs of a kind that go by a key or name; more than one when it is not unique.
    ///
    /// # Errors
    /// When they cannot be looked up.
    fn find(&self, kind: Kind, by: By<'_>) -> Result<Vec<JobId>>;

    /// A cancelled company of another owner that has this key as well as the company of a job.
    ///
    /// # Errors
    /// When it cannot be looked up.
    fn given_up(&self, folded_key: &str, beside: JobId) -> Result<Option<JobId>>;

    /// What tells such a job from others with the same key or name.
    ///
    /// # Errors
    /// When it cannot be looked up.
    fn record(&self, job: JobId) -> Result<EarlierRecord>;

    /// The latest import that left out a row of a kind with this key or name, if that waits to be corrected.
    ///
    /// # Errors
    /// When it cannot be looked up.
    fn left_out(&self, kind: Kind, by: By<'_>) -> Result<Option<ImportId>>;

    /// The keys and names of jobs of a kind, not of all where there are many.
    ///
    /// # Errors
    /// When they cannot be read.
    fn names(&self, kind: Kind) -> Result<Vec<(Option<String>, String)>>;
}

/// A record of an earlier import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierRecord {
    /// Its name.
    pub name: String,
    /// The company that it belongs to.
    pub company: Option<To>,
    /// Its id, once it is created.
    pub id: Option<RemoteId>,
    /// `file!sheet!row` of its row.
    pub place: String,
}

/// What to look a record up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By<'a> {
    /// Its key, folded as by [`super::fold_key`].
    Key(&'a str),
    /// Its name, as [`crate::model::key::comparable`] writes it.
    Name(&'a str),
    /// Its MAC address, as [`crate::model::key::mac_digits`] writes it.
    Mac(&'a str),
    /// Its id.
    Id(RemoteId),
}

/// No earlier imports.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

impl Known for Nothing {
    fn find(&self, _: Kind, _: By<'_>) -> Result<Vec<JobId>> {
        Ok(Vec::new())
    }

    fn given_up(&self, _: &str, _: JobId) -> Result<Option<JobId>> {
        Ok(None)
    }

    fn record(&self, job: JobId) -> Result<EarlierRecord> {
        Err(Error::internal(format!("job {job} of no import")))
    }

    fn left_out(&self, _: Kind, _: By<'_>) -> Result<Option<ImportId>> {
        Ok(None)
    }

    fn names(&self, _: Kind) -> Result<Vec<(Option<String>, String)>> {
        Ok(Vec::new())
    }
}

/// What is kept of a row.
#[derive(Debug, Clone, Copy)]
struct RowEntry {
    table: u32,
    row: u32,
    /// Text tables only: the line where the row starts. Lines beyond 2^32 are not told.
    line: Option<NonZeroU32>,
    key: TextSpan,
    name: TextSpan,
    /// What tells it from others: of a device the MAC address as it is written in its cell, of a person the username, of a site
    /// the reference, of an upkeep row what it is about.
    unique: TextSpan,
    /// What it belongs to, or of an upkeep row what it is about; a number in the list of distinct references.
    owner: u32,
    /// As what it refers to that.
    owner_role: Role,
    /// Site of a device.
    site: u32,
    /// Template of a device.
    template: u32,
    fingerprint: u64,
    /// Has errors, or depends on a row that has.
    unusable: bool,
    /// Whether the row changes a record that exists.
    is_update: bool,
    /// Of which references the cell is blank, so that a default stands for it: a bit for each role.
    defaults: u8,
}

impl RowEntry {
    fn line(&self) -> Option<u64> {
        self.line.map(|line| u64::from(line.get()))
    }

    /// Whether a default stands for the cell that refers to another record in this role.
    fn is_default(&self, role: Role) -> bool {
        self.defaults & bit(role) != 0
    }

    fn references(&self) -> impl Iterator<Item = (Role, u32)> {
        [(self.owner_role, self.owner), (Role::Site, self.site), (Role::Template, self.template)]
            .into_iter()
            .filter(|(_, reference)| *reference != NONE)
    }
}

/// What must be unique in a row. A MAC address is kept as it is written, which findings show, where its digits are as plain
/// there.
fn unique_as_written<'r>(table: &Table, row: &'r Row) -> Option<&'r str> {
    let unique = row.identity.unique.as_deref()?;
    let cell = table.position("mac").filter(|_| table.kind == Kind::Device);
    let written = cell.and_then(|position| row.cells.get(position)).map(|cell| cell.trim());
    Some(written.filter(|written| mac_digits(written) == mac_digits(unique)).unwrap_or(unique))
}

/// A bit for each role that a row of one kind can have.
fn bit(role: Role) -> u8 {
    match role {
        Role::Parent | Role::Company => 1,
        Role::Site => 2,
        Role::Template => 4,
        Role::Device => 8,
    }
}

/// The rows of all sheets of one import, as far as they matter to each other.
#[derive(Debug, Default)]
pub struct Between {
    tables: Vec<Table>,
    text: KeptText,
    entries: ChunkedList<RowEntry>,
    /// The distinct references, each resolved once.
    pointers: Vec<(Kind, Pointer)>,
    numbers: HashMap<(Kind, Pointer), u32, RandomState>,
    settings: Settings,
    policy: SeverityPolicy,
    /// What look-ups have shown of the ids that rows name.
    ids: Option<Arc<IdCheck>>,
    /// The companies that rows name beside the record that they change, or of a company its parent, by the numbers of the rows.
    beside: HashMap<usize, u32>,
    /// Kinds of which not all rows could be read: a reference to one of those may lead to a row that is not here.
    unread: Vec<Kind>,
    /// Kinds of which rows are skipped because they are hidden.
    hidden: Vec<Kind>,
}

/// Where a reference leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum To {
    /// To a row of this import, by the number [`Between::add`] gave it.
    Row(usize),
    /// To a record of an earlier import.
    Job(JobId),
    /// To a record of the service that nothing here makes.
    Remote(Uuid),
}

impl To {
    /// Whether two references certainly lead to two records: a row of this import, a record of an earlier one and an id may be
    /// one.
    fn is_another(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other) && self != other
    }
}

/// What came of a distinct reference.
#[derive(Debug, Clone, PartialEq)]
enum Resolution {
    To(To),
    Failed { code: Code, message: String, suggestion: Option<String>, related: Vec<Namesake> },
}

/// A row that has what a cell refers to as its key or name, and is not the one that is meant, or may not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Namesake {
    row: u32,
    /// The column in which it has that: its key, or what it is known by.
    column: &'static str,
}

/// The rows of an import with their references resolved.
#[derive(Debug)]
pub struct Checked {
    tables: Vec<Table>,
    entries: ChunkedList<RowEntry>,
    resolutions: Vec<Resolution>,
    order: Vec<u32>,
}

impl Between {
    /// No rows yet; what is found between them is judged by `policy`.
    pub fn under(policy: SeverityPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// The same with what look-ups have shown of the ids that rows name.
    pub fn beside(self, ids: Option<Arc<IdCheck>>) -> Self {
        Self { ids, ..self }
    }

    /// Notes that some rows of a kind could not be read; of any kind where it is not known.
    pub fn unread(&mut self, kind: Option<Kind>) {
        match kind {
            Some(kind) => self.unread.push(kind),
            None => self.unread.extend(Kind::ALL),
        }
    }

    /// Notes that rows of a kind are skipped because they are hidden.
    pub fn hidden(&mut self, kind: Kind) {
        self.hidden.push(kind);
    }

    /// Takes in a table; its number is needed for its rows.
    pub fn table(&mut self, table: &Table) -> usize {
        self.tables.push(table.clone());
        self.tables.len() - 1
    }

    /// Takes in a row; the numbers count up from 0 in the order of the calls.
    pub fn add(&mut self, table: usize, row: &Row) -> usize {
        let name = row.identity.name.as_deref().map(|name| match self.tables[table].kind {
            // Names are looked up and told apart as they are compared; one of letters a to z was read like that.
            Kind::Company | Kind::Site | Kind::Device if !name.is_ascii() => Cow::Owned(comparable(name)),
            Kind::Company | Kind::Site | Kind::Device | Kind::Person | Kind::Upkeep(_) => Cow::Borrowed(name),
        });
        let mut entry = RowEntry {
            // Tables and distinct references are far fewer than rows, and rows than 2^32.
            table: u32::try_from(table).unwrap_or(u32::MAX),
            row: row.number,
            line: row.line.and_then(|line| u32::try_from(line).ok()).and_then(NonZeroU32::new),
            key: self
                .keep(row.identity.key.as_ref().or(row.identity.key_beside_id.as_ref()).map(SmolStr::as_str)),
            name: self.keep(name.as_deref()),
            unique: self.keep(unique_as_written(&self.tables[table], row)),
            owner: NONE,
            owner_role: Role::Company,
            site: NONE,
            template: NONE,
            fingerprint: row.fingerprint(),
            unusable: row.draft.is_none(),
            defaults: 0,
            is_update: row.identity.is_update,
        };
        let kind = self.kind(&entry);
        let is_record = kind.is_record();
        let references = row.draft.as_ref().map_or(&row.identity.references, |draft| &draft.references);
        for reference in references {
            let number = self.number(reference.role.target(), &reference.pointer);
            let position = self.tables[table].position(column_of_role(kind, reference.role));
            let cell = position.and_then(|position| row.cells.get(position));
            if !entry.is_update && cell.is_none_or(|cell| super::text::is_blank(cell)) {
                entry.defaults |= bit(reference.role);
            }
            match reference.role {
                Role::Site if is_record || entry.owner != NONE => entry.site = number,
                Role::Template => entry.template = number,
                role @ (Role::Parent | Role::Company | Role::Site | Role::Device) => {
                    (entry.owner, entry.owner_role) = (number, role);
                }
            }
        }
        let changes = !self.makes_record(&entry);
        let number = self.entries.push(entry);
        if let Some(company) = &row.identity.company {
            let company = self.number(Kind::Company, company);
            self.beside.insert(number, company);
        }
        if let Some(draft) = &row.draft {
            self.settings.add(number, draft, changes);
        }
        number
    }

    fn keep(&mut self, text: Option<&str>) -> TextSpan {
        text.map(|text| self.text.keep(text)).unwrap_or_default()
    }

    fn number(&mut self, kind: Kind, pointer: &Pointer) -> u32 {
        let place = (kind, pointer.clone());
        if let Some(number) = self.numbers.get(&place) {
            return *number;
        }
        let number = u32::try_from(self.pointers.len()).unwrap_or(NONE - 1);
        self.pointers.push(place.clone());
        self.numbers.insert(place, number);
        number
    }

    /// Whether a row refers to this key of a kind, which no row has. Asked of few keys: it walks through the references.
    pub fn is_referred_to(&self, kind: Kind, key: &str) -> bool {
        let key = fold_key(key);
        let is_meant = |(of, pointer): &(Kind, Pointer)| match pointer {
            Pointer::Key(text) | Pointer::Any(text) => *of == kind && fold_key(text) == key,
            Pointer::Id(_) | Pointer::Name(_) => false,
        };
        let has_it = |entry: &RowEntry| {
            self.kind(entry) == kind && self.get(entry.key).is_some_and(|own| fold_key(own) == key)
        };
        self.pointers.iter().any(is_meant) && !self.entries.iter().any(has_it)
    }

    /// The kept text; `None` when there was none.
    fn get(&self, span: TextSpan) -> Option<&str> {
        self.text.get(span)
    }

    /// The key of a row. One that changes a record has none of its own.
    fn own_key(&self, entry: &RowEntry) -> Option<&str> {
        self.get(entry.key).filter(|_| !entry.is_update)
    }

    /// Whether a row makes a record.
    fn makes_record(&self, entry: &RowEntry) -> bool {
        self.kind(entry).is_record() && !entry.is_update
    }

    fn kind(&self, entry: &RowEntry) -> Kind {
        let kind = self.tables[entry.table as usize].kind;
        match kind.updates() {
            Some(updates) if entry.is_update => updates,
            Some(_) | None => kind,
        }
    }

    /// Checks all rows against each other; everything found goes to `found`.
    ///
    /// # Errors
    /// When earlier imports cannot be looked up.
    pub fn check(mut self, known: &dyn Known, found: &mut dyn FnMut(Finding)) -> Result<Checked> {
        let policy = std::mem::take(&mut self.policy);
        let mut denied = HashSet::new();
        let judged = &mut |mut finding: Finding| {
            if policy.judge(&mut finding) {
                denied.insert((finding.file.clone(), finding.sheet.clone(), finding.row));
            }
            found(finding);
        };
        let mut told = vec![false; self.entries.len()];
        duplicates::keys(&mut self, &mut told, judged);
        duplicates::uniques(&mut self, &mut told, judged);
        let (mut resolutions, several) = references::all(&self, known)?;
        earlier_records::choose(&mut self, &mut resolutions, &several, known)?;
        references::tell(&mut self, &resolutions, known, judged)?;
        earlier_records::owners_of_updates(&mut self, &resolutions, &several, known, judged)?;
        references::keys_beside_ids(&mut self, &resolutions, known, judged)?;
        duplicates::natural(&mut self, &resolutions, &mut told, judged);
        contradictions::tell(&mut self, &resolutions, judged);
        duplicates::nearly(&self, &resolutions, judged);
        duplicates::whole_rows(&self, &told, judged);
        let depths = order::depths(&mut self, &resolutions, judged);
        references::owners(&mut self, &resolutions, judged);
        self.leave_out(&denied);
        let order = order::order(&self, &depths);
        order::spread(&mut self, &mut resolutions, &order, known, found)?;
        Ok(Checked { tables: self.tables, entries: self.entries, resolutions, order })
    }

    /// Makes rows unusable of which a warning counts as an error.
    fn leave_out(&mut self, denied: &HashSet<(String, Option<String>, Option<u32>)>) {
        if denied.is_empty() {
            return;
        }
        for entry in self.entries.iter_mut() {
            let table = &self.tables[entry.table as usize];
            entry.unusable |=
                denied.contains(&(table.file.clone(), table.worksheet.clone(), Some(entry.row)));
        }
    }

    /// A finding in a row, at a column of its table.
    fn finding(&self, code: Code, message: impl Into<String>, entry: &RowEntry, column: &str) -> Finding {
        let table = &self.tables[entry.table as usize];
        let column = super::table::column::column(table.kind, column);
        let mut finding = table.finding_at(code, message, entry.row, entry.line(), column);
        finding.row_key = self.get(entry.key).map(super::finding::shown);
        finding
    }

    /// How a finding in the row `from` speaks of another one: `row 7`, with the sheet where it is another sheet.
    fn row_as_seen(&self, of: &RowEntry, from: &RowEntry) -> String {
        let (of_table, from_table) = (&self.tables[of.table as usize], &self.tables[from.table as usize]);
        let row = of.row;
        if of.table == from.table {
            format!("row {row}")
        } else if of_table.file == from_table.file {
            format!("row {row} of the sheet {}", super::finding::shown(&of_table.name))
        } else {
            format!("row {row} of {}", super::finding::shown(&of_table.file))
        }
    }

    /// A row that belongs to a finding, at a column of its table.
    fn related(&self, row: usize, column: &str, note: &str) -> super::finding::Related {
        let entry = &self.entries[row];
        let table = &self.tables[entry.table as usize];
        table.related(entry.row, table.position(column), note)
    }
}

impl Checked {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.entries.len()
    }

    /// Whether the row and everything it depends on is free of errors.
    pub fn is_usable(&self, row: usize) -> bool {
        !self.entries[row].unusable
    }

    /// Where the references of a usable row lead.
    pub fn links(&self, row: usize) -> Vec<(Role, To)> {
        let entry = &self.entries[row];
        entry
            .references()
            .filter_map(|(role, number)| match &self.resolutions[number as usize] {
                Resolution::To(to) => Some((role, *to)),
                Resolution::Failed { .. } => None,
            })
            .collect()
    }

    /// The ids of the service by which usable rows name records.
    pub fn named_ids(&self) -> BTreeSet<NamedId> {
        let mut named = BTreeSet::new();
        // Each reference is resolved once, however many rows have it.
        let mut seen = vec![false; self.resolutions.len()];
        for entry in self.entries.iter().filter(|entry| !entry.unusable) {
            for (role, number) in entry.references() {
                if let Resolution::To(To::Remote(id)) = &self.resolutions[number as usize]
                    && !std::mem::replace(&mut seen[number as usize], true)
                {
                    named.insert((role.target(), *id));
                }
            }
        }
        named
    }

    /// The id of the company below which the first row is created, where that is named by its id.
    pub fn first_parent(&self) -> Option<RemoteId> {
        let links = self.order().next().map(|row| self.links(row)).unwrap_or_default();
        links.into_iter().find_map(|link| match link {
            (Role::Parent, To::Remote(id)) => Some(id),
            _ => None,
        })
    }

    /// The usable rows in the order of creation: companies, parents first, then sites, people and devices.
    pub fn order(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|row| *row as usize).filter(|row| self.is_usable(*row))
    }

    /// A finding at the cell of a row in the column of this name.
    pub fn finding_at(&self, code: Code, message: impl Into<String>, row: usize, column: &str) -> Finding {
        let entry = &self.entries[row];
        let table = &self.tables[entry.table as usize];
        table.finding_at(
            code,
            message,
            entry.row,
            entry.line(),
            super::table::column::column(table.kind, column),
        )
    }
}

/// Rows by the hash of a text of theirs: sixteen bytes a row, made when needed and dropped after. A hash only leads to
/// rows; that the texts are truly equal is checked by whoever asks.
struct Index {
    hasher: RandomState,
    sorted: Vec<(u64, u32)>,
}

impl Index {
    /// Indexes the rows for which `of` gives a value; of many the two halves side by side.
    fn new<T: Hash>(rows: usize, of: impl Fn(usize) -> Option<T> + Sync) -> Self {
        let hasher = RandomState::default();
        let part = |range: Range<usize>, room: usize| {
            let hashed = range.filter_map(|row| {
                let hash = hasher.hash_one(of(row)?);
                Some((hash, u32::try_from(row).ok()?))
            });
            let mut sorted: Vec<(u64, u32)> = Vec::with_capacity(room);
            sorted.extend(hashed);
            sorted.sort_unstable();
            sorted
        };
        if rows < MANY {
            let sorted = part(0..rows, rows);
            return Self { hasher, sorted };
        }
        let half = rows / 2;
        let mut sorted = thread::scope(|scope| {
            let second = scope.spawn(|| part(half..rows, rows - half));
            let mut sorted = part(0..half, rows);
            sorted.extend(second.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)));
            sorted
        });
        // Two runs that are sorted take this one a single pass.
        sorted.sort();
        Self { hasher, sorted }
    }

    /// The rows that may have this value, lowest first.
    fn find(&self, value: impl Hash) -> impl Iterator<Item = u32> {
        let hash = self.hasher.hash_one(value);
        let start = self.sorted.partition_point(|(known, _)| *known < hash);
        self.sorted[start..].iter().take_while(move |(known, _)| *known == hash).map(|(_, row)| *row)
    }

    /// Runs of at least two rows that may have one value, lowest first.
    fn runs(&self) -> impl Iterator<Item = &[(u64, u32)]> {
        self.sorted.chunk_by(|left, right| left.0 == right.0).filter(|run| run.len() > 1)
    }
}

#[cfg(test)]
mod tests;
