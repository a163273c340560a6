//! LookupAnswer back: before a run ends, what it made is looked up again. A record may have vanished, a middlebox may have
//! sent a creation twice, a device that failed may have left its site behind. Found and told, never repaired.
//!
//! ```text
//! a row:   by its key (companies: one list for all below a parent) ── shows it ──────────────┐
//!             └ does not ── by its id ── shows it ───────────────────────────────────────────┤
//!                              └ does not, until the settle time, and a control is found ──┐ │
//!          a device in doubt that brings a site along: the sites of that name ── noted ────┴─┘
//! ```
//!
//! What follows from a look is in [`lookups`]. Look-ups pass their lanes like any other; what cannot be asked now
//! stays due for the next run.

mod findings;
mod lookups;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use self::findings::Findings;
use crate::error::Result;
use crate::journal::{AuditFigures, AuditScope, Candidate, JobQueue, ReadBy, Work, Write};
use crate::model::amount::counted;
use crate::model::event::Event;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::run::action::Action;
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::in_flight::{Backlog, Purpose};
use crate::run::journal_questions::Message;
use crate::service::Lookup;

/// Rows taken from the journal at once.
const PAGE: usize = 1024;

/// What a look-up of the audit asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::run) enum AuditQuestion {
    /// The records with the key of a row.
    Key(JobId),
    /// The children of a company, for every row below it.
    Children(RemoteId),
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
pub(in crate::run) enum AuditReply {
    /// Rows that are due; how many there are in all, the first time.
    Page { works: Vec<Work>, total: Option<u64> },
    /// Who owns the records that are equal to that of a row.
    Twins { job: JobId, owners: Vec<(RemoteId, JobId)> },
    /// Who owns the sites of the name that a device brings along, and how many devices brought such a site.
    Sites { job: JobId, owners: Vec<(RemoteId, JobId)>, devices: u64 },
    /// Records known to exist.
    Controls { job: JobId, operation: Operation, works: Vec<Work> },
    /// It could not be read; the row is left.
    Unreadable { job: JobId },
}

/// A row that is being read back.
pub(in crate::run) struct Row {
    pub(in crate::run) work: Work,
    pub(in crate::run) by: ReadBy,
    /// Equal records whose owners are asked for, or that are to be compared in full.
    pub(in crate::run) suspects: Vec<(RemoteId, Candidate)>,
    /// Whether the look by key showed the record.
    pub(in crate::run) shown: bool,
    /// The operation that was asked by key.
    pub(in crate::run) key_operation: Option<Operation>,
    /// Whether its list may be one page of a longer one.
    pub(in crate::run) page: bool,
    pub(in crate::run) absent: u32,
    pub(in crate::run) first_missed: Option<Duration>,
    pub(in crate::run) looks_again: Option<Duration>,
    pub(in crate::run) findings: Findings,
}

/// The audit of a run.
pub(in crate::run) struct Audit {
    supply: Backlog,
    cursor: Option<JobId>,
    /// Whether the journal has given a row since it was asked from the beginning.
    fresh: bool,
    pub(in crate::run) rows: HashMap<JobId, Row>,
    pub(in crate::run) child_lists: HashMap<RemoteId, Vec<JobId>>,
    /// Rows that could not be asked about in this run.
    left: HashSet<JobId>,
    told: bool,
    /// How many rows there were to read back, and how many of them are done with.
    progress: (u64, u64),
    pub(in crate::run) told_missing: bool,
    figures: AuditFigures,
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            supply: Backlog::Unknown,
            cursor: None,
            fresh: false,
            rows: HashMap::new(),
            child_lists: HashMap::new(),
            left: HashSet::new(),
            told: false,
            progress: (0, 0),
            told_missing: false,
            figures: AuditFigures::default(),
        }
    }
}

impl Audit {
    /// What was read back, if anything was.
    pub(in crate::run) fn figures(&self) -> Option<&AuditFigures> {
        (self.figures != AuditFigures::default()).then_some(&self.figures)
    }

    /// Records that were not seen, and for how long after the first look they are looked up again.
    pub(in crate::run) fn missing(&self, settle: Duration) -> (u64, Option<Duration>) {
        let missing = self.rows.values().filter(|row| row.looks_again.is_some());
        let first_missed = self.rows.values().filter_map(|row| row.first_missed).max();
        (missing.count() as u64, first_missed.map(|first| first + settle))
    }

    /// When a record that was not seen is looked up again.
    pub(in crate::run) fn next_look(&self) -> Option<Duration> {
        if !self.told_missing {
            return None;
        }
        self.rows.values().filter_map(|row| row.looks_again).min()
    }
}

impl Dispatcher {
    /// Nothing else is left to be done: whether what was made has been read back. Goes on with it if not.
    pub(in crate::run) fn is_audited(&mut self) -> bool {
        let Some(scope) = self.options.policy.audit else { return true };
        match self.audit.supply {
            Backlog::Unknown => self.ask_for_page(scope),
            Backlog::Asked => {}
            // Rows may have been finished since the journal was asked from the beginning.
            Backlog::Exhausted { .. } if self.audit.rows.is_empty() && self.audit.fresh => {
                (self.audit.fresh, self.audit.cursor) = (false, None);
                self.ask_for_page(scope);
            }
            Backlog::Exhausted { .. } if self.audit.rows.is_empty() => return true,
            Backlog::Exhausted { .. } => {}
        }
        false
    }

    /// Looks up again what was not seen, as far as its time has come.
    pub(in crate::run) fn retry_missing(&mut self) {
        if !self.audit.told_missing {
            return;
        }
        let now = self.clock.elapsed();
        let due = |row: &Row| row.looks_again.is_some_and(|at| at <= now);
        let mut again: Vec<JobId> =
            self.audit.rows.iter().filter(|(_, row)| due(row)).map(|(job, _)| *job).collect();
        again.sort_unstable();
        for job in again {
            let Some(row) = self.audit.rows.get_mut(&job) else { continue };
            row.looks_again = None;
            match row.work.remote_id.map(|id| Lookup::record(row.work.kind, id)) {
                Some(lookup) if self.gates.usable(lookup.operation()) => {
                    self.ask(lookup, AuditQuestion::Id(job))
                }
                Some(_) | None => self.ask_by_key(job),
            }
        }
    }

    fn ask_for_page(&mut self, scope: AuditScope) {
        self.audit.supply = Backlog::Asked;
        let (cursor, told) = (self.audit.cursor, self.audit.told);
        self.ask_journal(move |journal| {
            let total = if told { None } else { journal.count_unaudited(scope).ok() };
            let works = journal.unaudited(scope, cursor, PAGE).unwrap_or_default();
            Some(Message::Audit(AuditReply::Page { works, total }))
        });
    }

    /// The journal has answered.
    pub(in crate::run) fn on_audit_reply(&mut self, news: AuditReply) {
        if self.drain.is_some() {
            return;
        }
        match news {
            AuditReply::Page { works, total } => self.add_audit_rows(works, total),
            AuditReply::Twins { job, owners } => self.twins_owned(job, &owners),
            AuditReply::Sites { job, owners, devices } => self.sites_owned(job, &owners, devices),
            AuditReply::Controls { job, operation, works } => self.run_audit_control(job, operation, &works),
            AuditReply::Unreadable { job } => self.leave_unverified(vec![job]),
        }
    }

    fn add_audit_rows(&mut self, works: Vec<Work>, total: Option<u64>) {
        if let Some(total) = total {
            self.audit.told = true;
            if total > 0 {
                let records = counted(total, "record is looked up", "records are looked up");
                self.tell(Event::Note { text: format!("verification: {records}") });
                self.audit.progress.0 = total;
                self.tell(Event::ReadBack { done: 0, of: total });
            }
        }
        let Some(last) = works.last().map(|work| work.job) else {
            self.audit.supply = Backlog::Exhausted { next_due: None };
            return;
        };
        self.audit.cursor = Some(last);
        self.audit.supply = Backlog::Unknown;
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

    pub(in crate::run) fn ask(&mut self, lookup: Lookup, question: AuditQuestion) {
        let (operation, purpose) = (lookup.operation(), Purpose::Audit(question));
        if self.gates.usable(operation) {
            self.queue_lookup(lookup, purpose);
        } else {
            self.unanswered(question);
        }
    }

    /// A look-up of the audit has its answer.
    pub(in crate::run) fn on_audit_answer(
        &mut self,
        question: AuditQuestion,
        operation: Operation,
        reading: LookupAnswer,
    ) {
        let found = match reading {
            LookupAnswer::Records(found) => found,
            LookupAnswer::Unavailable | LookupAnswer::Inconclusive(_) => return self.unanswered(question),
            LookupAnswer::Failed(_) => return self.failed(question),
        };
        match question {
            AuditQuestion::Key(job) => self.read_key(job, operation, &found, found.len()),
            AuditQuestion::Children(parent) => self.read_children(parent, operation, found),
            AuditQuestion::Id(job) => self.read_id(job, operation, &found),
            AuditQuestion::Twin(job, twin) => self.read_twin(job, twin, &found),
            AuditQuestion::Narrow(job) => self.read_narrow(job, &found),
            AuditQuestion::Sites(job) => self.read_sites(job, &found),
            AuditQuestion::Control(job, expected) => {
                if findings::shows(expected, &found) {
                    self.proved.insert(operation);
                    self.vanished(job);
                } else {
                    self.not_verified(job);
                }
            }
        }
    }

    /// No answer that tells anything, and asking again would tell no more: the next best look-up, if there is one.
    fn unanswered(&mut self, question: AuditQuestion) {
        match question {
            AuditQuestion::Children(parent) => {
                for job in self.audit.child_lists.remove(&parent).unwrap_or_default() {
                    self.ask_by_id(job);
                }
            }
            AuditQuestion::Key(job) => self.ask_by_id(job),
            AuditQuestion::Id(job) | AuditQuestion::Control(job, _) => self.not_verified(job),
            // Not known to be equal in full, so not told as a second one.
            AuditQuestion::Twin(job, _) => {
                if let Some(row) = self.audit.rows.get_mut(&job) {
                    row.suspects.pop();
                }
                self.go_on(job);
            }
            AuditQuestion::Narrow(job) => self.ask_for_sites(job),
            AuditQuestion::Sites(job) => self.conclude(job),
        }
    }

    /// The service failed: the rows stay due, and the next run asks again.
    fn failed(&mut self, question: AuditQuestion) {
        let jobs = match question {
            AuditQuestion::Children(parent) => self.audit.child_lists.remove(&parent).unwrap_or_default(),
            AuditQuestion::Key(job)
            | AuditQuestion::Id(job)
            | AuditQuestion::Twin(job, _)
            | AuditQuestion::Narrow(job)
            | AuditQuestion::Sites(job)
            | AuditQuestion::Control(job, _) => vec![job],
        };
        self.leave_unverified(jobs);
    }

    /// Leaves rows to the next run.
    fn leave_unverified(&mut self, jobs: Vec<JobId>) {
        for job in jobs {
            if self.audit.rows.remove(&job).is_some() {
                self.audit.left.insert(job);
                self.audit.figures.not_verified_yet += 1;
                self.count_audited();
            }
        }
    }

    /// Asks the journal about a row.
    pub(in crate::run) fn ask_about_row(
        &self,
        job: JobId,
        question: impl FnOnce(&mut JobQueue<'_>) -> Result<AuditReply> + Send + 'static,
    ) {
        self.ask_journal(move |journal| {
            Some(Message::Audit(question(journal).unwrap_or(AuditReply::Unreadable { job })))
        });
    }

    /// Leaves what waits for a look-up whose breaker has opened: everything is made, so that nobody has to wait for
    /// the service to recover.
    pub(in crate::run) fn drop_failing_lookups(&mut self) {
        if self.audit.rows.is_empty() {
            return;
        }
        let failing: Vec<Operation> = self.gates.open_breakers().map(|open| open.operation).collect();
        for operation in failing {
            for purpose in self.in_flight.take_audit_lookups(operation) {
                if let Purpose::Audit(question) = purpose {
                    self.failed(question);
                }
            }
        }
    }

    /// Everything that can be known about a row is: notes it.
    pub(in crate::run) fn conclude(&mut self, job: JobId) {
        let Some(Row { work, by, findings, .. }) = self.audit.rows.remove(&job) else { return };
        let (id, run, at) = (work.remote_id, self.run, self.clock.now());
        let finding = findings.noted(&work);
        self.audit.figures.add(id.is_some(), by, finding.as_ref().map(|finding| finding.code.as_str()));
        self.carry_out(vec![Action::Write(Write::Audited { job, id, run, by, finding, at })]);
        self.count_audited();
    }

    /// One more row is done with. Rows that are made while others are read back come on top of those there were.
    fn count_audited(&mut self) {
        let (of, done) = &mut self.audit.progress;
        *done += 1;
        *of = (*of).max(*done);
        let (of, done) = (*of, *done);
        self.tell(Event::ReadBack { done, of });
    }
}
