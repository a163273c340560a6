//! The journal as a run uses it: writes and questions, in order, on the thread of its writer. The answers come back as
//! messages; the loop never waits for them.

use std::time::Duration;

use tokio::sync::mpsc;

use super::evidence::question::Asker;
use super::in_flight::Fetch;
use super::run_action::Inquiry;
use crate::error::Result;
use crate::journal::{
    CanaryRow, ImportReserve, ImportTurn, JobQueue, Journal, Reply, RunId, Shelved, Unaudited, Unfinished,
    Work, Write, Writer, Writing,
};
use crate::model::action::Action;
use crate::model::id::{JobId, RemoteId, SheetId};
use crate::model::operation::Operation;
use crate::model::tally::Tally;
use crate::model::time::{Day, Moment};

/// How often the journal is asked whether another process has written to it.
const CHECK_EVERY: Duration = Duration::from_secs(2);
/// Records known to exist among which one is chosen to prove a look-up by.
const CONTROLS: usize = 64;

/// A message of the journal.
pub(super) enum JournalMessage {
    /// Its writer answers.
    Reply(Reply),
    /// Which operations unfinished jobs need, and whether another process has written.
    Changed {
        operations: Vec<Operation>,
        version: i64,
        tally: Option<Tally>,
        turns: Vec<ImportTurn>,
        /// How often a person asked the run to try again at once.
        asked_now: u64,
    },
    /// What it knows of the quota of a day.
    Quota { day: Day, sent: u64 },
    /// How the imports with a reserve stand on a day.
    Reserves { day: Day, reserves: Vec<ImportReserve> },
    /// The moments that rows wait for were brought forward.
    BroughtForward,
    /// A sheet is paused.
    SheetPaused { sheet: SheetId, paused: Result<Shelved> },
    /// What became of the rows of the canary, and how many others are to be sent; or that it cannot be said, or ended.
    Canary(Result<(Vec<CanaryRow>, u64)>),
    /// Records known to exist, to prove a look-up by.
    Controls { asker: Asker, job: JobId, operation: Operation, rows: Vec<Work> },
    /// What is still to be done; `None` when it could not be read.
    Unfinished(Option<Box<Unfinished>>),
    /// What it says about records that are read back.
    Audit(AuditReply),
}

/// What the journal says about records that are read back.
pub(super) enum AuditReply {
    /// Rows that are due; how many there are in all, the first time.
    Page { works: Vec<Work>, total: Option<Unaudited> },
    /// Rows that are due among those whose records were made a moment ago.
    Made { works: Vec<Work> },
    /// Who owns the records that are equal to that of a row.
    Twins { job: JobId, owners: Vec<(RemoteId, JobId)> },
    /// Who owns the sites of the name that a device brings along, and how many devices brought such a site.
    CustomSites { job: JobId, owners: Vec<(RemoteId, JobId)>, devices: u64 },
    /// What other rows changed of the record of a row after it.
    ChangedLater { job: JobId, later: Vec<Action> },
    /// It could not be read; the row is left.
    Unreadable { job: JobId },
}

/// See the module.
pub(super) struct JournalClient {
    writer: Writer,
    inbox: mpsc::UnboundedSender<JournalMessage>,
    run: RunId,
    /// The version of the journal's content that was last seen; `None` when it is to be looked at again.
    version: Option<i64>,
    checked_at: Duration,
    /// Whether it was looked at since the run began with the counts of its rows.
    was_checked: bool,
}

impl JournalClient {
    /// Starts the writer of a journal for this run; its messages go to `inbox`.
    pub(super) fn start(
        journal: Journal,
        writing: Writing,
        run: RunId,
        inbox: mpsc::UnboundedSender<JournalMessage>,
    ) -> Result<Self> {
        let replies = inbox.clone();
        let writer = Writer::start(journal, writing, move |reply| {
            // The dispatcher outlives the writer; once it is gone nobody waits for replies.
            drop(replies.send(JournalMessage::Reply(reply)));
        })?;
        Ok(Self { writer, inbox, run, version: None, checked_at: Duration::ZERO, was_checked: false })
    }

    /// Whether the writer has ended before its time.
    pub(super) fn is_gone(&self) -> bool {
        self.writer.is_gone()
    }

    /// Waits until everything is written, and gives the journal back.
    pub(super) async fn close(self) -> Result<Journal> {
        self.writer.close().await
    }

    /// Writes under a number, with which the answer comes.
    pub(super) fn write(&self, number: u64, write: Write) {
        self.writer.write(number, write);
    }

    /// Asks for jobs.
    pub(super) fn fetch(&self, fetch: Fetch, now: Moment) {
        match fetch {
            Fetch::Ready { operation, imports, limit, in_memory } => {
                self.writer.ready((operation, imports), now, limit, in_memory);
            }
            Fetch::Doubtful { limit, in_memory } => self.writer.doubtful(now, limit, in_memory),
        }
    }

    /// Asks who owns the records that were found for a job, whose number comes back with the answer.
    pub(super) fn ask_owners(&self, job: JobId, ids: Vec<RemoteId>) {
        self.writer.owners(job.0.cast_unsigned(), ids);
    }

    /// Asks, now and then, whether another process has put rows in the journal. Says whether it did.
    pub(super) fn check_for_changes(&mut self, now: Duration) -> bool {
        if now < self.checked_at + CHECK_EVERY && self.version.is_some() {
            return false;
        }
        self.checked_at = now;
        let (known, run) = (self.version, self.run);
        // What the run began with is known already.
        let counts = std::mem::replace(&mut self.was_checked, true);
        self.send(move |journal| {
            let version = journal.data_version().ok()?;
            if known == Some(version) {
                return None;
            }
            let operations = journal.lanes().ok()?;
            let tally = counts.then(|| journal.tally(None)).transpose().ok()?;
            let turns = journal.import_turns().ok()?;
            let asked_now = journal.asked_now(run).ok()?;
            Some(JournalMessage::Changed { operations, version, tally, turns, asked_now })
        });
        true
    }

    /// What was asked for may be out of date: asks for changes at once.
    pub(super) fn check_again(&mut self) {
        self.version = None;
    }

    /// Whether everything that the journal has was seen.
    pub(super) fn is_seen(&self) -> bool {
        self.version.is_some()
    }

    /// The journal's content has this version. Whether that is news.
    pub(super) fn see(&mut self, version: i64) -> bool {
        self.version.replace(version) != Some(version)
    }

    /// Asks the journal.
    pub(super) fn ask(&mut self, inquiry: Inquiry) {
        if matches!(inquiry, Inquiry::ResumeSheet(_) | Inquiry::CloseCanary) {
            // What was asked for before that may come back without the rows that follow: ask once more, after it.
            self.check_again();
        }
        let run = self.run;
        self.send(move |journal| answer(journal, run, inquiry));
    }

    /// A question that cannot be answered any more is not: that the journal fails shows itself at the next write, where
    /// it ends the run.
    fn send(&self, question: impl FnOnce(&mut JobQueue<'_>) -> Option<JournalMessage> + Send + 'static) {
        let inbox = self.inbox.clone();
        self.writer.ask(Box::new(move |journal| {
            if let Some(message) = question(journal) {
                drop(inbox.send(message));
            }
        }));
    }
}

/// What the journal answers, on the thread of its writer.
fn answer(journal: &mut JobQueue<'_>, run: RunId, inquiry: Inquiry) -> Option<JournalMessage> {
    Some(match inquiry {
        Inquiry::Controls { asker, job, operation, kind } => {
            // Without one the look-up stays unproved, which is the safe side.
            let rows = journal.witness(kind, CONTROLS).unwrap_or_default();
            JournalMessage::Controls { asker, job, operation, rows }
        }
        Inquiry::Quota(day) => JournalMessage::Quota { day, sent: journal.quota(day).ok()?.sent },
        Inquiry::Reserves(day, now) => {
            let reserves = journal.import_reserves(day, now, None).ok()?;
            JournalMessage::Reserves { day, reserves }
        }
        Inquiry::Unaudited { scope, after, limit, count } => {
            let total = if count { journal.count_to_read_back(scope).ok() } else { None };
            let works = journal.unaudited(scope, after, limit).unwrap_or_default();
            JournalMessage::Audit(AuditReply::Page { works, total })
        }
        Inquiry::Made { scope, jobs } => {
            // What cannot be read now is read at the end.
            let works = journal.unaudited_among(scope, &jobs).unwrap_or_default();
            JournalMessage::Audit(AuditReply::Made { works })
        }
        Inquiry::Twins { job, ids } => JournalMessage::Audit(match journal.owners(&ids) {
            Ok(owners) => AuditReply::Twins { job, owners },
            Err(_) => AuditReply::Unreadable { job },
        }),
        Inquiry::CustomSites { job, ids, company, device } => {
            JournalMessage::Audit(match (journal.devices_with_site(company, &device), journal.owners(&ids)) {
                (Ok(devices), Ok(owners)) => AuditReply::CustomSites { job, owners, devices },
                (Err(_), _) | (_, Err(_)) => AuditReply::Unreadable { job },
            })
        }
        Inquiry::ChangedLater { job, record } => {
            JournalMessage::Audit(match journal.changed_later(job, record) {
                Ok(later) => AuditReply::ChangedLater { job, later },
                Err(_) => AuditReply::Unreadable { job },
            })
        }
        Inquiry::Unfinished(scope) => {
            JournalMessage::Unfinished(journal.unfinished(scope).ok().map(Box::new))
        }
        Inquiry::Canary => {
            let others = journal.beside_canary();
            JournalMessage::Canary(journal.canary_rows().and_then(|rows| Ok((rows, others?))))
        }
        Inquiry::CloseCanary => JournalMessage::Canary(Err(journal.close_canary().err()?)),
        Inquiry::PauseSheet(sheet) => JournalMessage::SheetPaused { sheet, paused: journal.shelve(sheet) },
        Inquiry::ResumeSheet(sheet) => {
            journal.unshelve(sheet);
            return None;
        }
        Inquiry::BringForward { by, now, latest } => {
            drop(journal.bring_forward(by, now, latest));
            JournalMessage::BroughtForward
        }
        Inquiry::NoteRemaining(remaining) => {
            drop(journal.note_remaining(run, &remaining));
            return None;
        }
        Inquiry::NoteWaiting(waiting) => {
            drop(journal.note_waiting(run, waiting.as_ref()));
            return None;
        }
        Inquiry::NotePagesWhole => {
            // Not noted, the next run looks once more.
            drop(journal.note_pages_whole());
            return None;
        }
        Inquiry::NoteHeldBack(words) => {
            drop(journal.note_held_back(run, words.as_deref()));
            return None;
        }
    })
}
