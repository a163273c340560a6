//! Answers that left it open what became of a request. A second creation cannot be taken back, so such a row is never
//! sent again on hope: its record is looked up first.

use super::service::DECIDE;
use super::{Entry, Scope};
use crate::advice::Part::{Command, Words};
use crate::advice::Parts;

const fn lost(code: &'static str, words: &'static str, follows: &'static str, advice: Parts) -> Entry {
    Entry::new(Scope::Answers, code, words, follows, advice)
}

/// What is done about every lost answer.
const LOOKED_UP: &str = "The row is in doubt, and fleetload looks its record up by its key. If the record is found, \
    it is adopted. If it certainly does not exist, the row is sent again. If the look-up is inconclusive, the row is \
    put on hold.";

/// What is done where the record is known to be there.
const THERE: &str = "The row is never sent again. fleetload looks the record up to get its id; if it is not found, \
    the row is put on hold.";

/// Every doubt there is.
pub(super) const ENTRIES: &[Entry] = &[
    lost("answer.timeout", "the service did not answer in time", LOOKED_UP, DECIDE),
    lost("answer.disconnected", "the connection ended before the service answered", LOOKED_UP, DECIDE),
    lost("answer.truncated", "the answer was cut off", LOOKED_UP, DECIDE),
    lost("answer.unreadable", "the answer is not one that the service documents", LOOKED_UP, DECIDE),
    lost("answer.server-error", "the service reported an internal error", LOOKED_UP, DECIDE),
    lost("answer.unknown", "the service answered with a code that it does not document", LOOKED_UP, DECIDE),
    lost(
        "answer.redirect",
        "the service answered with a redirect, which is never followed",
        LOOKED_UP,
        DECIDE,
    ),
    lost("answer.process-ended", "fleetload was stopped while the request was under way", LOOKED_UP, DECIDE),
    lost("answer.worker-lost", "fleetload failed while the request was under way", LOOKED_UP, DECIDE),
    lost(
        "journal.restored",
        "the journal is an older copy, so the row may have been sent without its knowing",
        "No answer was lost: an older copy of the journal was accepted. Every row that the copy does not know to be \
        done is looked up before anything is sent, and put on hold if the look-up is inconclusive.",
        DECIDE,
    ),
    lost(
        "answer.duplicate",
        "the service says that a value which must be unique is in use, perhaps by the record of this row",
        THERE,
        DECIDE,
    ),
    lost(
        "answer.no-id",
        "the service confirmed the creation without giving an id: the record exists",
        THERE,
        &[Words("Find the record in the service and type: "), Command("resolve {job} --created ID")],
    ),
];
