//! Answers that left it open what became of a request. A second creation cannot be taken back, so such a row is never
//! sent again on hope: its record is looked up first.

use super::service::DECIDE;
use super::{Entry, Scope};

const fn lost(code: &'static str, words: &'static str, follows: &'static str, advice: &'static str) -> Entry {
    Entry::new(Scope::Answers, code, words, follows, advice)
}

/// What is done about every lost answer.
const LOOKED_UP: &str = "The row is in doubt: its record is looked up by its key. Found, it is adopted; certainly not there, the row is sent again; \
     where no look-up can tell, the row is held for a person.";

/// What is done where the record is known to be there.
const THERE: &str = "The row is never sent again. The record is looked up for its id; where it is not found, the row is held for a person.";

/// Every doubt there is.
pub(super) const ENTRIES: &[Entry] = &[
    lost("answer.timeout", "the service did not answer in time", LOOKED_UP, DECIDE),
    lost("answer.disconnected", "the connection ended before the service answered", LOOKED_UP, DECIDE),
    lost("answer.truncated", "the answer was cut off", LOOKED_UP, DECIDE),
    lost("answer.unreadable", "the answer was not one the service describes", LOOKED_UP, DECIDE),
    lost("answer.server-error", "the service reported an internal error", LOOKED_UP, DECIDE),
    lost("answer.unknown", "the service answered with a code it does not describe", LOOKED_UP, DECIDE),
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
        "No answer was lost here: an older copy of the journal was accepted. Every row that it does not know to be done is looked up before \
         anything is sent, and held where no look-up can tell.",
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
        "the service confirmed the creation without naming its id: the record is there",
        THERE,
        "Find the record in the service and type: fleetload resolve {job} --created ID",
    ),
];
