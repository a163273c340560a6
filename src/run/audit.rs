//! Reading back: before a run ends, what it made is looked up again. A record may have vanished, a middlebox may have
//! sent a creation twice, a device that failed may have left its site behind. Found and told, never repaired.
//!
//! ```text
//! a row:   by its key (companies: one list for all below a parent) ── shows it ──────────────┐
//!             └ does not ── by its id ── shows it ───────────────────────────────────────────┤
//!                              └ does not, until the settle time, and a control is found ──┐ │
//!          a device in doubt that brings a site along: the sites of that name ── noted ────┴─┘
//! ```
//!
//! What a look means is in [`super::readback`]. Look-ups pass their lanes like any other; what cannot be asked now
//! stays due for the next run.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::after::{ABSENT_READS, FIRST_WAIT, SUSPECTED_PAGES};
use super::before::Reading;
use super::dispatcher::Dispatcher;
use super::hand::Inbox;
use super::lane::{Errand, Purpose, Supply};
use super::readback::{self, Findings};
use super::{lookups, matching};
use crate::journal::{AuditFigures, AuditScope, Candidate, ReadBy, Work, Write};
use crate::model::event::Event;
use crate::model::id::{JobId, RemoteId};
use crate::model::key;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::service::{Found, Lookup};

/// Rows taken from the journal at once.
const PAGE: usize = 1024;
/// Made records among which one is chosen that a look-up must be able to find.
const WITNESSES: usize = 64;

/// What a look-up of the audit asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// The records with the key of a row.
    Key(JobId),
    /// The children of a company, for every row below it.
    Family(RemoteId),
    /// The record of a row by its id.
    Id(JobId),
    /// Whether a record beside that of a row is equal in full.
    Twin(JobId, RemoteId),
    /// Whether a shorter list than one that may be a page shows no second record either.
    Narrow(JobId),
    /// The sites of the name that a device brings along.
    Sites(JobId),
    /// Whether the look-up that did not find the record of a row finds what is known to exist.
    Control(JobId, RemoteId),
}

/// What the journal answers.
pub(super) enum News {
    /// Rows that are due; how many there are in all, the first time.
    Page { works: Vec<Work>, total: Option<u64> },
    /// Who owns the records that are equal to that of a row.
    Twins { job: JobId, owners: Vec<(RemoteId, JobId)> },
    /// Who owns the sites of the name that a device brings along, and how many devices brought such a site.
    Sites { job: JobId, owners: Vec<(RemoteId, JobId)>, devices: u64 },
    /// Records known to exist.
    Witnesses { job: JobId, operation: Operation, works: Vec<Work> },
}

/// A row that is being read back.
struct Row {
    work: Work,
    by: ReadBy,
    /// Equal records whose owners are asked for, or that are to be compared in full.
    suspects: Vec<(RemoteId, Candidate)>,
    /// Whether the look by key showed the record.
    shown: bool,
    /// The operation that was asked by key.
    key_operation: Option<Operation>,
    /// Whether its list may be one page of a longer one.
    page: bool,
    absent: u32,
    first_missed: Option<Duration>,
    looks_again: Option<Duration>,
    findings: Findings,
}

/// The audit of a run.
pub(super) struct Audit {
    supply: Supply,
    cursor: Option<JobId>,
    /// Whether the journal has given a row since it was asked from the beginning.
    fresh: bool,
    rows: HashMap<JobId, Row>,
    families: HashMap<RemoteId, Vec<JobId>>,
    /// Rows that could not be asked about in this run.
    left: HashSet<JobId>,
    told: bool,
    told_missing: bool,
    figures: AuditFigures,
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            supply: Supply::Unknown,
            cursor: None,
            fresh: false,
            rows: HashMap::new(),
            families: HashMap::new(),
            left: HashSet::new(),
            told: false,
            told_missing: false,
            figures: AuditFigures::default(),
        }
    }
}

impl Audit {
    /// What was read back, if anything was.
    pub(super) fn figures(&self) -> Option<&AuditFigures> {
        (self.figures != AuditFigures::default()).then_some(&self.figures)
    }

    /// When a record that was not seen is looked up again.
    pub(super) fn next_look(&self) -> Option<Duration> {
        self.rows.values().filter_map(|row| row.looks_again).min()
    }
}

impl Dispatcher {
    /// Nothing else is left to be done: whether what was made has been read back. Goes on with it if not.
    pub(super) fn is_read_back(&mut self) -> bool {
        let Some(scope) = self.options.policy.audit else { return true };
        match self.audit.supply {
            Supply::Unknown => self.ask_for_page(scope),
            Supply::Asked => {}
            // Rows may have been finished since the journal was asked from the beginning.
            Supply::Exhausted { .. } if self.audit.rows.is_empty() && self.audit.fresh => {
                (self.audit.fresh, self.audit.cursor) = (false, None);
                self.ask_for_page(scope);
            }
            Supply::Exhausted { .. } if self.audit.rows.is_empty() => return true,
            Supply::Exhausted { .. } => {}
        }
        false
    }

    /// Looks up again what was not seen, as far as its time has come.
    pub(super) fn look_again(&mut self) {
        let now = self.clock.elapsed();
        let due = |row: &Row| row.looks_again.is_some_and(|at| at <= now);
        let again: Vec<JobId> =
            self.audit.rows.iter().filter(|(_, row)| due(row)).map(|(job, _)| *job).collect();
        for job in again {
            let Some(row) = self.audit.rows.get_mut(&job) else { continue };
            row.looks_again = None;
            match row.work.remote_id.map(|id| Lookup::record(row.work.kind, id)) {
                Some(lookup) if self.usable(lookup.operation()) => self.ask(lookup, Question::Id(job)),
                Some(_) | None => self.ask_by_key(job),
            }
        }
    }

    fn ask_for_page(&mut self, scope: AuditScope) {
        self.audit.supply = Supply::Asked;
        let (cursor, told, inbox) = (self.audit.cursor, self.audit.told, self.inbox.clone());
        self.writer.ask(Box::new(move |journal| {
            let total = if told { None } else { journal.count_unaudited(scope).ok() };
            // A journal that cannot be read any more shows itself at the next write, where it ends the run.
            let works = journal.unaudited(scope, cursor, PAGE).unwrap_or_default();
            drop(inbox.send(Inbox::Audit(News::Page { works, total })));
        }));
    }

    /// The journal has answered.
    pub(super) fn heard_of_audit(&mut self, news: News) {
        if self.drain.is_some() {
            return;
        }
        match news {
            News::Page { works, total } => self.take_in_made(works, total),
            News::Twins { job, owners } => self.twins_owned(job, &owners),
            News::Sites { job, owners, devices } => self.sites_owned(job, &owners, devices),
            News::Witnesses { job, operation, works } => self.control(job, operation, &works),
        }
    }

    fn take_in_made(&mut self, works: Vec<Work>, total: Option<u64>) {
        if let Some(total) = total {
            self.audit.told = true;
            if total > 0 {
                let records = if total == 1 { "record" } else { "records" };
                self.tell(Event::Note { text: format!("reading back {total} {records}") });
            }
        }
        let Some(last) = works.last().map(|work| work.job) else {
            self.audit.supply = Supply::Exhausted { next_due: None };
            return;
        };
        self.audit.cursor = Some(last);
        self.audit.supply = Supply::Unknown;
        let mut fresh = Vec::new();
        for work in works {
            let job = work.job;
            if self.audit.rows.contains_key(&job) || self.audit.left.contains(&job) {
                continue;
            }
            let row = Row {
                work,
                by: ReadBy::Nothing,
                suspects: Vec::new(),
                shown: false,
                key_operation: None,
                page: false,
                absent: 0,
                first_missed: None,
                looks_again: None,
                findings: Findings::default(),
            };
            self.audit.rows.insert(job, row);
            fresh.push(job);
        }
        self.audit.fresh |= !fresh.is_empty();
        for job in fresh {
            self.ask_by_key(job);
        }
    }

    fn ask(&mut self, lookup: Lookup, question: Question) {
        let (operation, purpose) = (lookup.operation(), Purpose::Audit(question));
        if self.usable(operation) {
            self.queue(operation, Errand::Look { lookup, purpose, tries: 0 });
        } else {
            self.unanswered(question);
        }
    }

    /// The first look: by the key, which would show a second record as well.
    fn ask_by_key(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get(&job) else { return };
        if row.work.remote_id.is_none() {
            return self.ask_for_sites(job);
        }
        match lookups::by_key(&row.work, &|operation| self.usable(operation)) {
            Some(Lookup::ChildCompanies(parent)) => {
                let waiting = self.audit.families.entry(parent).or_default();
                waiting.push(job);
                if waiting.len() == 1 {
                    self.ask(Lookup::ChildCompanies(parent), Question::Family(parent));
                }
            }
            Some(lookup) => self.ask(lookup, Question::Key(job)),
            None => self.ask_by_id(job),
        }
    }

    /// The record itself, where a look by key did not show it or none is available.
    fn ask_by_id(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get(&job) else { return };
        let Some(id) = row.work.remote_id else { return };
        let (lookup, by_key) = (Lookup::record(row.work.kind, id), row.key_operation);
        match by_key {
            _ if self.usable(lookup.operation()) => self.ask(lookup, Question::Id(job)),
            Some(operation) => self.missed(job, operation),
            None => self.conclude(job),
        }
    }

    /// A look-up of the audit has its answer.
    pub(super) fn read_audit(&mut self, question: Question, operation: Operation, reading: Reading) {
        let found = match reading {
            Reading::Records(found) => found,
            Reading::Unavailable | Reading::Inconclusive(_) => return self.unanswered(question),
            Reading::Failed(_) => return self.failed(question),
        };
        match question {
            Question::Key(job) => self.read_key(job, operation, &found, found.len()),
            Question::Family(parent) => self.read_children(parent, operation, found),
            Question::Id(job) => {
                let Some(row) = self.audit.rows.get_mut(&job) else { return };
                let there = row.work.remote_id.is_some_and(|id| readback::shows(id, &found));
                if row.by == ReadBy::Nothing {
                    // Where the service keeps the key unique there is nothing besides to look for.
                    let unique = matching::key_is_unique(&row.work.record);
                    row.by = if unique { ReadBy::Key } else { ReadBy::Id };
                }
                if there {
                    self.proved.insert(operation);
                    self.seen(job);
                } else {
                    self.missed(job, operation);
                }
            }
            Question::Twin(job, twin) => self.read_twin(job, twin, &found),
            Question::Narrow(job) => self.read_narrow(job, &found),
            Question::Sites(job) => self.read_sites(job, &found),
            Question::Control(job, expected) => {
                if readback::shows(expected, &found) {
                    self.proved.insert(operation);
                    self.vanished(job);
                } else {
                    self.unread(job);
                }
            }
        }
    }

    /// No answer that tells anything, and asking again would tell no more: the next best look-up, if there is one.
    fn unanswered(&mut self, question: Question) {
        match question {
            Question::Family(parent) => {
                for job in self.audit.families.remove(&parent).unwrap_or_default() {
                    self.ask_by_id(job);
                }
            }
            Question::Key(job) => self.ask_by_id(job),
            Question::Id(job) | Question::Control(job, _) => self.unread(job),
            // Not known to be equal in full, so not told as a second one.
            Question::Twin(job, _) => {
                if let Some(row) = self.audit.rows.get_mut(&job) {
                    row.suspects.pop();
                }
                self.go_on(job);
            }
            Question::Narrow(job) => self.ask_for_sites(job),
            Question::Sites(job) => self.conclude(job),
        }
    }

    /// The service failed: the rows stay due, and the next run asks again.
    fn failed(&mut self, question: Question) {
        let jobs = match question {
            Question::Family(parent) => self.audit.families.remove(&parent).unwrap_or_default(),
            Question::Key(job)
            | Question::Id(job)
            | Question::Twin(job, _)
            | Question::Narrow(job)
            | Question::Sites(job)
            | Question::Control(job, _) => vec![job],
        };
        for job in jobs {
            if self.audit.rows.remove(&job).is_some() {
                self.audit.left.insert(job);
                self.audit.figures.not_checked += 1;
            }
        }
    }

    /// The children of a company, shared out among the rows below it.
    fn read_children(&mut self, parent: RemoteId, operation: Operation, found: Vec<Found>) {
        let length = found.len();
        let mut by_name: HashMap<String, Vec<Found>> = HashMap::new();
        let ids: HashSet<RemoteId> = found.iter().filter_map(|child| child.id).collect();
        for child in found {
            let name = key::comparable(child.name.as_deref().unwrap_or_default());
            by_name.entry(name).or_default().push(child);
        }
        for job in self.audit.families.remove(&parent).unwrap_or_default() {
            let Some(row) = self.audit.rows.get(&job) else { continue };
            let mut alike =
                by_name.get(&key::comparable(row.work.record.name())).cloned().unwrap_or_default();
            // Renamed meanwhile, it is there all the same.
            if let Some(id) =
                row.work.remote_id.filter(|id| ids.contains(id) && !readback::shows(*id, &alike))
            {
                alike.push(Found { id: Some(id), ..Found::default() });
            }
            self.read_key(job, operation, &alike, length);
        }
    }

    /// The records with the key of a row, from a list of this length.
    fn read_key(&mut self, job: JobId, operation: Operation, found: &[Found], length: usize) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let Some(ours) = row.work.remote_id else { return };
        row.shown = readback::shows(ours, found);
        row.key_operation = Some(operation);
        row.page = SUSPECTED_PAGES.contains(&length);
        // A page shows what is there, not that there is nothing besides; and where nobody looked before sending, a
        // second record may be an older one.
        let tells_doubles = !row.page && row.work.baseline.is_some();
        let unique = matching::key_is_unique(&row.work.record);
        row.by = if unique || tells_doubles { ReadBy::Key } else { ReadBy::Id };
        row.findings.twins.clear();
        row.suspects = readback::twins(&row.work, ours, found);
        if row.shown {
            self.proved.insert(operation);
        }
        if row.suspects.is_empty() {
            return self.go_on(job);
        }
        let ids: Vec<RemoteId> = row.suspects.iter().map(|(id, _)| *id).collect();
        self.ask_journal(move |journal| {
            let owners = journal.owners(&ids).ok()?;
            Some(News::Twins { job, owners })
        });
    }

    /// Asks the journal. A failure there shows itself at the next write as well, where it ends the run.
    fn ask_journal(
        &self,
        question: impl FnOnce(&mut crate::journal::Journal) -> Option<News> + Send + 'static,
    ) {
        let inbox = self.inbox.clone();
        self.writer.ask(Box::new(move |journal| {
            if let Some(news) = question(journal) {
                drop(inbox.send(Inbox::Audit(news)));
            }
        }));
    }

    fn twins_owned(&mut self, job: JobId, owners: &[(RemoteId, JobId)]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        row.suspects.retain(|(id, _)| !owners.iter().any(|(owned, _)| owned == id));
        // Lists of companies show nothing but names; the other kinds show what there is to compare.
        if row.work.kind != Kind::Company || !self.usable(Operation::GetCompany) {
            let Some(row) = self.audit.rows.get_mut(&job) else { return };
            let twins = std::mem::take(&mut row.suspects);
            row.findings.twins.extend(twins.into_iter().map(|(_, twin)| twin));
        }
        self.go_on(job);
    }

    /// Compares the next equal company in full, else sees to the record itself.
    fn go_on(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        if let Some((id, _)) = row.suspects.last() {
            let id = *id;
            return self.ask(Lookup::Company(id), Question::Twin(job, id));
        }
        if row.shown { self.seen(job) } else { self.ask_by_id(job) }
    }

    /// The record is there. Where the list that was to show a second one may be a page, a narrower question is asked.
    fn seen(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get(&job) else { return };
        let narrower = row.key_operation.filter(|_| row.page && row.findings.twins.is_empty());
        match narrower.and_then(|operation| lookups::narrower(&row.work, operation)) {
            Some(lookup) => self.ask(lookup, Question::Narrow(job)),
            None => self.ask_for_sites(job),
        }
    }

    fn read_narrow(&mut self, job: JobId, found: &[Found]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let Some(ours) = row.work.remote_id else { return };
        // It does not say below which parent a record is: good for showing that there is none.
        let alone = readback::shows(ours, found) && readback::twins(&row.work, ours, found).is_empty();
        if alone && row.work.baseline.is_some() && !SUSPECTED_PAGES.contains(&found.len()) {
            row.by = ReadBy::Key;
        }
        self.ask_for_sites(job);
    }

    fn read_twin(&mut self, job: JobId, id: RemoteId, found: &[Found]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let sent = matching::sent(&row.work);
        let equal = found
            .iter()
            .any(|found| found.id == Some(id) && matching::differences(&sent, &found.raw).is_empty());
        if let Some((_, twin)) = row.suspects.pop()
            && equal
        {
            row.findings.twins.push(twin);
        }
        self.go_on(job);
    }

    /// A look did not show the record. Believed only after the settle time, of more than one look, and of a look-up
    /// that finds what is known to exist.
    fn missed(&mut self, job: JobId, operation: Operation) {
        let (now, settle) = (self.clock.elapsed(), self.options.policy.settle);
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        row.absent += 1;
        let since = *row.first_missed.get_or_insert(now);
        if now < since + settle || row.absent < ABSENT_READS {
            let wait = FIRST_WAIT.saturating_mul(1 << (row.absent - 1).min(16));
            row.looks_again = Some((now + wait).min((since + settle).max(now)));
            if !std::mem::replace(&mut self.audit.told_missing, true) {
                let seconds = settle.as_secs();
                let text = format!(
                    "a record that was made is not seen now; it is looked up again for up to {seconds} s"
                );
                self.tell(Event::Note { text });
            }
            return;
        }
        let asked_by_id = operation == Lookup::record(row.work.kind, RemoteId::nil()).operation();
        if row.page && !asked_by_id {
            return self.unread(job);
        }
        if self.proved.contains(&operation) {
            return self.vanished(job);
        }
        let kind = row.work.kind;
        self.ask_journal(move |journal| {
            let works = journal.witness(kind, WITNESSES).unwrap_or_default();
            Some(News::Witnesses { job, operation, works })
        });
    }

    /// Looks up, by the same operation, a record that is known to exist.
    fn control(&mut self, job: JobId, operation: Operation, works: &[Work]) {
        if self.proved.contains(&operation) {
            return self.vanished(job);
        }
        let missing = |job: JobId| self.audit.rows.get(&job).is_some_and(|row| row.first_missed.is_some());
        let control = works.iter().filter(|witness| !missing(witness.job)).find_map(|witness| {
            let id = witness.remote_id?;
            let by_id =
                Some(Lookup::record(witness.kind, id)).filter(|lookup| lookup.operation() == operation);
            Some((by_id.or_else(|| lookups::by_operation(witness, operation))?, id))
        });
        match control {
            Some((lookup, id)) if self.usable(operation) => self.ask(lookup, Question::Control(job, id)),
            Some(_) | None => self.unread(job),
        }
    }

    fn vanished(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        row.findings.vanished = true;
        self.ask_for_sites(job);
    }

    /// Nothing that can be relied on was learned about the record itself.
    fn unread(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        if !row.shown {
            row.by = ReadBy::Nothing;
        }
        self.conclude(job);
    }

    /// A device that was in doubt may have left a site behind.
    fn ask_for_sites(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get(&job) else { return };
        let name =
            readback::brings_a_site(&row.work).filter(|_| row.work.doubted).and_then(readback::site_name);
        let company = lookups::link(&row.work, Role::Company);
        match name.map(|name| Lookup::SitesByName { name: name.to_owned(), company }) {
            Some(lookup) if self.usable(lookup.operation()) => self.ask(lookup, Question::Sites(job)),
            Some(_) | None => self.conclude(job),
        }
    }

    fn read_sites(&mut self, job: JobId, found: &[Found]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let Some(device) = readback::brings_a_site(&row.work) else { return self.conclude(job) };
        let company = lookups::link(&row.work, Role::Company);
        row.findings.sites = readback::sites(device, company, found);
        if row.findings.sites.is_empty() {
            return self.conclude(job);
        }
        let ids: Vec<RemoteId> = row.findings.sites.iter().filter_map(|site| site.id).collect();
        let device = device.clone();
        self.ask_journal(move |journal| {
            let owners = journal.owners(&ids).ok()?;
            let devices = journal.devices_with_site(company, &device).ok()?;
            Some(News::Sites { job, owners, devices })
        });
    }

    fn sites_owned(&mut self, job: JobId, owners: &[(RemoteId, JobId)], devices: u64) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let owned = |site: &Candidate| owners.iter().any(|(owned, _)| site.id == Some(*owned));
        row.findings.sites.retain(|site| !owned(site));
        row.findings.expected_sites = devices;
        self.conclude(job);
    }

    /// Everything that can be known about a row is: notes it.
    fn conclude(&mut self, job: JobId) {
        let Some(Row { work, by, findings, .. }) = self.audit.rows.remove(&job) else { return };
        let (id, run, at) = (work.remote_id, self.run, self.clock.now());
        let finding = findings.noted(&work);
        self.audit.figures.add(id.is_some(), by, finding.as_ref().map(|finding| finding.code.as_str()));
        self.note(Write::Audited { job, id, run, by, finding, at });
    }
}
