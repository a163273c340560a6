//! What a run asks its journal besides writing, and the messages that come back. The journal answers on the thread of its
//! writer; the loop never waits for it.

use std::time::Duration;

use super::audit::{Audit, AuditInquiry, AuditReply};
use super::dispatcher::Dispatcher;
use super::evidence::lookup_control::Asker;
use super::in_flight::{Fetch, FoundRecords, Stage};
use super::watch::clock::latest_due;
use crate::error::{Error, Result};
use crate::journal::{JobQueue, Page, Reply, Shelved, Unfinished, Work};
use crate::model::event::Event;
use crate::model::id::{JobId, SheetId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::remaining::Remaining;
use crate::model::tally::Tally;
use crate::model::time::{Day, Moment};

/// How often the journal is asked whether another process has written to it.
const CHECK_EVERY: Duration = Duration::from_secs(2);
/// Records known to exist among which one is chosen to prove a look-up by.
const CONTROLS: usize = 64;

/// A message for the dispatcher besides answers of the service.
pub(super) enum Message {
    /// The journal's writer answers.
    Journal(Reply),
    /// Which operations unfinished jobs need, and whether another process has written.
    JournalChanges { operations: Vec<Operation>, version: i64, tally: Option<Tally> },
    /// What the journal knows of the quota of a day.
    QuotaLedger { day: Day, sent: u64 },
    /// The moments that rows wait for were brought forward in the journal, as the clock was set back.
    DueTimesRebased,
    /// A sheet is paused in the journal.
    SheetPaused { sheet: SheetId, paused: Result<Shelved> },
    /// Records known to exist, to prove a look-up by.
    Controls { asker: Asker, operation: Operation, rows: Vec<Work> },
    /// What is still to be done, by the journal; `None` when it could not be read.
    Unfinished(Option<Box<Unfinished>>),
    /// What the journal says about records that are read back.
    Audit(AuditReply),
}

impl Dispatcher {
    /// Has the journal answer a question with a message. One that cannot be read or written any more shows itself at the
    /// next write, where it ends the run.
    fn ask_journal(&self, question: impl FnOnce(&mut JobQueue<'_>) -> Option<Message> + Send + 'static) {
        let inbox = self.inbox.clone();
        self.writer.ask(Box::new(move |journal| {
            if let Some(message) = question(journal) {
                drop(inbox.send(message));
            }
        }));
    }

    /// Asks the journal for whatever may be had and is not in memory yet, and sees to what is due.
    pub(super) fn refill(&mut self) {
        if self.failure.is_none() && self.writer.is_gone() {
            self
                .fail(Error::internal("writing the journal failed; nothing was sent after that").hint(
                "run the same command again: requests that were under way are looked up before anything is sent again",
            ));
        }
        if self.is_stopping() {
            return;
        }
        let now = self.clock.now();
        let gates = &self.gates;
        for fetch in self.in_flight.fetches(now, |operation| gates.halt(operation).is_some()) {
            match fetch {
                Fetch::Ready { operation, limit, in_memory } => {
                    self.writer.ready(operation, now, limit, in_memory);
                }
                Fetch::Doubtful { limit, in_memory } => self.writer.doubtful(now, limit, in_memory),
            }
        }
        self.audit(Audit::retry_missing);
        self.resolve_reference_lag();
        self.drop_failing_lookups();
        self.check_for_changes();
    }

    /// When the next job falls due, or the time for what is under way ends.
    pub(super) fn next_due(&self, now: Duration) -> Duration {
        let wall = self.clock.now();
        // Only what `refill` would ask for: the loop must not wake for what it then leaves where it is.
        let asks = !self.is_stopping();
        let due = self.in_flight.next_due(|operation| self.gates.halt(operation).is_some());
        let due = due.filter(|_| asks).map(|due| now + due.since(wall));
        let deadline = self.drain.as_ref().map(|drain| drain.deadline);
        let look = self.audit.next_look().filter(|_| asks);
        let reference = self.evidence.lag.next_due().filter(|_| asks);
        due.into_iter().chain(deadline).chain(look).chain(reference).min().unwrap_or(Duration::MAX)
    }

    /// A page of jobs that may be sent.
    pub(super) fn on_jobs(&mut self, operation: Operation, page: Page) {
        if self.drain.is_some() {
            return;
        }
        for job in self.in_flight.add_ready(operation, page) {
            self.progress.moved();
            self.pre_send_lookup(job);
        }
    }

    /// A page of jobs in doubt whose look-up is due.
    pub(super) fn on_doubtful_jobs(&mut self, page: Page) {
        if self.drain.is_some() {
            return;
        }
        for job in self.in_flight.add_doubtful(page) {
            self.progress.moved();
            self.reconcile(job);
        }
    }

    /// Asks, now and then, whether another process has put rows in the journal.
    fn check_for_changes(&mut self) {
        let now = self.clock.elapsed();
        if now < self.checked_at + CHECK_EVERY && self.version.is_some() {
            return;
        }
        self.checked_at = now;
        self.evidence.children.drop_old(now);
        let known = self.version;
        self.ask_journal(move |journal| {
            let version = journal.data_version().ok()?;
            if known == Some(version) {
                return None;
            }
            let operations = journal.lanes().ok()?;
            // What the run began with is known already.
            let tally = known.map(|_| journal.tally(None)).transpose().ok()?;
            Some(Message::JournalChanges { operations, version, tally })
        });
    }

    pub(super) fn on_journal_changes(
        &mut self,
        operations: &[Operation],
        version: i64,
        tally: Option<Tally>,
    ) {
        if self.version.replace(version) == Some(version) {
            return;
        }
        if let Some(tally) = tally {
            self.tell(Event::Rows { tally });
        }
        for &operation in operations {
            self.gates.require(operation);
            self.in_flight.on_journal_changed(operation);
        }
    }

    /// Brings the moments forward that rows wait for, as the clock was set back by so much.
    pub(super) fn rebase_due_times(&self, by: Duration) {
        let (now, settle) = (self.clock.now(), self.options.policy.settle);
        self.ask_journal(move |journal| {
            drop(journal.bring_forward(by, now, latest_due(now, settle)));
            Some(Message::DueTimesRebased)
        });
    }

    /// Asks how many creations are counted on a day.
    pub(super) fn ask_quota(&self, day: Day) {
        self.ask_journal(move |journal| {
            let known = journal.quota(day).ok()?;
            Some(Message::QuotaLedger { day, sent: known.sent })
        });
    }

    /// Asks for records known to exist, to prove a look-up by. Without one it stays unproved, which is the safe side.
    pub(super) fn ask_controls(&self, asker: Asker, operation: Operation, kind: Kind) {
        self.ask_journal(move |journal| {
            let rows = journal.witness(kind, CONTROLS).unwrap_or_default();
            Some(Message::Controls { asker, operation, rows })
        });
    }

    /// Asks who owns the records that were found for a job.
    pub(super) fn ask_owners(&mut self, job: JobId, found: FoundRecords) {
        self.writer.owners(job.0.cast_unsigned(), found.ids());
        self.in_flight.set_stage(job, Stage::Owners(Box::new(found)));
    }

    /// Asks about rows that are read back.
    pub(super) fn ask_audit(&self, inquiry: AuditInquiry) {
        self.ask_journal(move |journal| {
            Some(Message::Audit(match inquiry {
                AuditInquiry::Page { scope, after, limit, count } => {
                    let total = if count { journal.count_unaudited(scope).ok() } else { None };
                    let works = journal.unaudited(scope, after, limit).unwrap_or_default();
                    AuditReply::Page { works, total }
                }
                AuditInquiry::Twins { job, ids } => match journal.owners(&ids) {
                    Ok(owners) => AuditReply::Twins { job, owners },
                    Err(_) => AuditReply::Unreadable { job },
                },
                AuditInquiry::Sites { job, ids, company, device } => {
                    match (journal.devices_with_site(company, &device), journal.owners(&ids)) {
                        (Ok(devices), Ok(owners)) => AuditReply::Sites { job, owners, devices },
                        (Err(_), _) | (_, Err(_)) => AuditReply::Unreadable { job },
                    }
                }
            }))
        });
    }

    /// Pauses a sheet in the journal.
    pub(super) fn pause_in_journal(&self, sheet: SheetId) {
        self.ask_journal(move |journal| Some(Message::SheetPaused { sheet, paused: journal.shelve(sheet) }));
    }

    /// Takes the pause of a sheet back in the journal.
    pub(super) fn resume_in_journal(&self, sheet: SheetId) {
        self.writer.ask(Box::new(move |journal| journal.unshelve(sheet)));
    }

    /// Asks what is still to be done.
    pub(super) fn ask_unfinished(&self) {
        let scope = self.options.policy.audit;
        self.ask_journal(move |journal| {
            Some(Message::Unfinished(journal.unfinished(scope).ok().map(Box::new)))
        });
    }

    /// Notes for `status` what is still to be done.
    pub(super) fn note_remaining(&self, remaining: Remaining) {
        let run = self.run;
        self.ask_journal(move |journal| {
            drop(journal.note_remaining(run, &remaining));
            None
        });
    }

    /// Notes for `status` until when creations are parked.
    pub(super) fn note_resumption(&self, until: Option<Moment>) {
        let run = self.run;
        self.ask_journal(move |journal| {
            drop(journal.note_resumption(run, until));
            None
        });
    }

    /// Notes for `status` which operations are held back.
    pub(super) fn note_held_back(&self, words: Option<String>) {
        let run = self.run;
        self.ask_journal(move |journal| {
            drop(journal.note_held_back(run, words.as_deref()));
            None
        });
    }
}
