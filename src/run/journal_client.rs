//! The journal as a run uses it: writes and questions, in order, on the thread of its writer. The answers come back as
//! messages; the loop never waits for them.

use std::time::Duration;

use tokio::sync::mpsc;

use super::evidence::question::Asker;
use super::in_flight::Fetch;
use super::run_action::Inquiry;
use crate::error::Result;
use crate::journal::{
    CanaryRow, ImportReserve, ImportTurn, JobQueue, Journal, PausedSheetName, Reply, RunId, Unaudited,
    Unfinished, Work, Write, Writer, Writing,
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
        /// Rows in memory that will not be sent any more.
        not_to_send: Vec<JobId>,
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
    SheetPaused { sheet: SheetId, paused: PausedSheetName },
    /// What became of the rows of the canary, and how many others are to be sent.
    Canary(Vec<CanaryRow>, u64),
    /// Records known to exist, to prove a look-up by.
    Controls { asker: Asker, job: JobId, operation: Operation, rows: Vec<Work> },
    /// What is still to be done.
    Unfinished(Box<Unfinished>),
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

    /// Asks who owns the records that were found for a job.
    pub(super) fn ask_owners(&self, job: JobId, ids: Vec<RemoteId>) {
        self.writer.owners(job, ids);
    }

    /// Asks, now and then, whether another process has put rows in the journal, or decided about those `in_memory`. Says
    /// whether it asked.
    pub(super) fn check_for_changes(
        &mut self,
        now: Duration,
        in_memory: impl FnOnce() -> Vec<JobId>,
    ) -> bool {
        if now < self.checked_at + CHECK_EVERY && self.version.is_some() {
            return false;
        }
        self.checked_at = now;
        let (known, run) = (self.version, self.run);
        // What the run began with is known already.
        let counts = std::mem::replace(&mut self.was_checked, true);
        let in_memory = in_memory();
        self.send(move |journal| {
            let version = journal.data_version()?;
            if known == Some(version) {
                return Ok(None);
            }
            let operations = journal.lanes()?;
            let tally = counts.then(|| journal.tally(None)).transpose()?;
            let turns = journal.import_turns()?;
            let not_to_send = journal.not_to_send(&in_memory)?;
            let asked_now = journal.asked_now(run)?;
            Ok(Some(JournalMessage::Changed { operations, version, tally, turns, not_to_send, asked_now }))
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

    /// A question that cannot be answered ends the run, as a write does that fails.
    fn send(
        &self,
        question: impl FnOnce(&mut JobQueue<'_>) -> Result<Option<JournalMessage>> + Send + 'static,
    ) {
        let inbox = self.inbox.clone();
        self.writer.ask(Box::new(move |journal| {
            let message = question(journal)
                .unwrap_or_else(|error| Some(JournalMessage::Reply(Reply::Failed { error })));
            if let Some(message) = message {
                drop(inbox.send(message));
            }
        }));
    }
}

/// What the journal answers, on the thread of its writer.
fn answer(journal: &mut JobQueue<'_>, run: RunId, inquiry: Inquiry) -> Result<Option<JournalMessage>> {
    Ok(Some(match inquiry {
        Inquiry::Controls { asker, job, operation, kind } => {
            JournalMessage::Controls { asker, job, operation, rows: journal.witness(kind, CONTROLS)? }
        }
        Inquiry::Quota(day) => JournalMessage::Quota { day, sent: journal.quota(day)?.sent },
        Inquiry::Reserves(day, now) => {
            JournalMessage::Reserves { day, reserves: journal.import_reserves(day, now, None)? }
        }
        Inquiry::Unaudited { scope, after, limit, count } => {
            let total = count.then(|| journal.count_to_read_back(scope)).transpose()?;
            let works = journal.unaudited(scope, after, limit)?;
            JournalMessage::Audit(AuditReply::Page { works, total })
        }
        Inquiry::Made { scope, jobs } => {
            JournalMessage::Audit(AuditReply::Made { works: journal.unaudited_among(scope, &jobs)? })
        }
        Inquiry::Twins { job, ids } => {
            JournalMessage::Audit(AuditReply::Twins { job, owners: journal.owners(&ids)? })
        }
        Inquiry::CustomSites { job, ids, company, device } => {
            let devices = journal.devices_with_site(company, &device)?;
            JournalMessage::Audit(AuditReply::CustomSites { job, owners: journal.owners(&ids)?, devices })
        }
        Inquiry::ChangedLater { job, record } => JournalMessage::Audit(AuditReply::ChangedLater {
            job,
            later: journal.changed_later(job, record)?,
        }),
        Inquiry::Unfinished(scope) => JournalMessage::Unfinished(Box::new(journal.unfinished(scope)?)),
        Inquiry::Canary => {
            let others = journal.beside_canary()?;
            JournalMessage::Canary(journal.canary_rows()?, others)
        }
        Inquiry::CloseCanary => {
            journal.close_canary()?;
            return Ok(None);
        }
        Inquiry::PauseSheet(sheet) => {
            JournalMessage::SheetPaused { sheet, paused: journal.pause_sheet(sheet)? }
        }
        Inquiry::ResumeSheet(sheet) => {
            journal.resume_sheet(sheet);
            return Ok(None);
        }
        Inquiry::BringForward { by, now, latest } => {
            drop(journal.bring_forward(by, now, latest));
            JournalMessage::BroughtForward
        }
        Inquiry::NoteRemaining(remaining) => {
            drop(journal.note_remaining(run, Some(&remaining)));
            return Ok(None);
        }
        Inquiry::NoteWaiting(waiting) => {
            drop(journal.note_waiting(run, waiting.as_ref()));
            return Ok(None);
        }
        Inquiry::NotePagesWhole => {
            // Not noted, the next run looks once more.
            drop(journal.note_pages_whole());
            return Ok(None);
        }
        Inquiry::NoteHeldBack(words) => {
            drop(journal.note_held_back(run, words.as_deref()));
            return Ok(None);
        }
    }))
}
