//! What a part of the run asks the dispatcher to do: parts decide, the dispatcher carries out.

use super::audit::AuditInquiry;
use super::ending::Ending;
use super::evidence::lookup_control::Asker;
use super::in_flight::Purpose;
use crate::journal::Write;
use crate::model::event::Event;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::time::{Day, Moment};
use crate::service::Lookup;

/// One thing to do, in the order in which they are given.
#[derive(Debug)]
pub(super) enum Action {
    /// Tell it to whoever shows the run.
    Tell(Event),
    /// Write what no job waits for.
    Write(Write),
    /// Queue a look-up.
    LookUp(Lookup, Purpose),
    /// Ask the journal about rows that are read back.
    AskAudit(AuditInquiry),
    /// Ask the journal for records known to exist, to prove a look-up by.
    AskControls(Asker, Operation, Kind),
    /// Note for `status` until when creations are parked.
    NoteResumption(Option<Moment>),
    /// Note for `status` which operations are held back, in words.
    NoteHeldBack(Option<String>),
    /// Ask the journal how many creations are counted on a day.
    AskQuota(Day),
    /// Give up what waits for an operation that is not sent any more.
    GiveUp(Operation),
    /// Begin nothing more.
    Drain(Ending),
}
