//! What a part of the run asks the dispatcher to do, and what the dispatcher asks the journal: parts decide, the dispatcher
//! carries out.

use std::time::Duration;

use super::ending::Ending;
use super::evidence::question::{Asker, Question};
use crate::journal::{AuditScope, Waiting, Write};
use crate::model::event::Event;
use crate::model::id::{ImportId, JobId, RemoteId, SheetId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Device;
use crate::model::remaining::Remaining;
use crate::model::time::{Day, Moment};
use crate::service::Lookup;

/// One thing to do, in the order in which they are given.
#[derive(Debug)]
pub(super) enum RunAction {
    /// Tell it to whoever shows the run.
    Tell(Event),
    /// Write what no job waits for.
    Write(Write),
    /// Queue a look-up.
    LookUp(Lookup, Question),
    /// Ask the journal.
    AskJournal(Inquiry),
    /// Give up what waits for an operation that is not sent any more.
    GiveUp(Operation),
    /// Drop what waits to be sent for a sheet.
    DropSheet(SheetId),
    /// Drop what waits to be sent for an import.
    DropImport(ImportId),
    /// Drop what waits to be sent: it comes again in another order.
    QueueAgain,
    /// Create only for rows of these imports, or for all where none is named; what waits to be created comes again in its
    /// order.
    CreateOnlyFor(Vec<ImportId>),
    /// Begin nothing more.
    Drain(Ending),
}

/// What a run asks its journal besides writing the outcomes of jobs.
#[derive(Debug)]
pub(super) enum Inquiry {
    /// Records known to exist, to prove a look-up by.
    Controls { asker: Asker, job: JobId, operation: Operation, kind: Kind },
    /// How many creations are counted on a day.
    Quota(Day),
    /// How the imports with a reserve stand on a day.
    Reserves(Day, Moment),
    /// Rows to read back that come after this one; and how many there are in all.
    Unaudited { scope: AuditScope, after: Option<JobId>, limit: usize, count: bool },
    /// These rows, as far as they are to be read back.
    Made { scope: AuditScope, jobs: Vec<JobId> },
    /// Who owns the records that are equal to that of a row.
    Twins { job: JobId, ids: Vec<RemoteId> },
    /// Who owns the sites of the name that a device brings along, and how many devices brought such a site.
    CustomSites { job: JobId, ids: Vec<RemoteId>, company: Option<RemoteId>, device: Box<Device> },
    /// What other rows changed of a record after this one.
    ChangedLater { job: JobId, record: RemoteId },
    /// What is still to be done.
    Unfinished(Option<AuditScope>),
    /// What became of the rows of the canary.
    Canary,
    /// Lets all rows follow those of the canary.
    CloseCanary,
    /// Pauses a sheet.
    PauseSheet(SheetId),
    /// Takes the pause of a sheet back.
    ResumeSheet(SheetId),
    /// Brings the moments forward that rows wait for, as the clock was set back by so much; none is later than `latest`.
    BringForward { by: Duration, now: Moment, latest: Moment },
    /// Notes for `status` what is still to be done.
    NoteRemaining(Box<Remaining>),
    /// Notes for `status` what the run waits for.
    NoteWaiting(Option<Waiting>),
    /// Notes that every page was looked at and is whole.
    NotePagesWhole,
    /// Notes for `status` which operations are held back, in words.
    NoteHeldBack(Option<String>),
}
