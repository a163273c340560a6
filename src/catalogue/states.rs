//! The states of a row: what can be said, and advised, of a row by its state alone.

use super::rows::GIVEN_UP;
use super::service::DECIDE;
use super::{Entry, Scope};
use crate::model::state::JobState;

const fn state(state: JobState, words: &'static str, follows: &'static str, advice: &'static str) -> Entry {
    Entry::new(Scope::States, state.as_str(), words, follows, advice)
}

/// The entry of a state. By name, so that the compiler asks for the words of a new one.
pub(super) const fn of(wanted: JobState) -> &'static Entry {
    let place = match wanted {
        JobState::Blocked => 0,
        JobState::Ready => 1,
        JobState::Deferred => 2,
        JobState::Sending => 3,
        JobState::InDoubt => 4,
        JobState::Held => 5,
        JobState::Created => 6,
        JobState::Adopted => 7,
        JobState::Existing => 8,
        JobState::Done => 9,
        JobState::Rejected => 10,
        JobState::Incomplete => 11,
        JobState::Skipped => 12,
        JobState::Cancelled => 13,
    };
    &ENTRIES[place]
}

const ROW_IS_DONE: &str = "it is done";

/// Every state, in the order a row meets them.
pub(super) const ENTRIES: &[Entry; 14] = &[
    state(
        JobState::Blocked,
        "it waits for the record it belongs to",
        "It is sent as soon as that record is there; it stays blocked while that row is held.",
        "Nothing to correct: it is sent once the record it waits for is there. To go on, type: fleetload run",
    ),
    state(
        JobState::Ready,
        "it has not been sent yet",
        "It is sent when its turn comes.",
        "Nothing to correct. To send it, type: fleetload run",
    ),
    state(
        JobState::Deferred,
        "it was not carried out and waits for its time",
        "It is sent again at the moment its report names. That nothing was carried out is certain.",
        "Nothing to correct: it is sent again by itself. To go on, type: fleetload run",
    ),
    state(
        JobState::Sending,
        "a request for it is under way",
        "Its answer decides. When fleetload ends before the answer, the row is in doubt at the next start, never ready.",
        "Do not enter it by hand. When no run is going on, type: fleetload run; it finds out what became of the request",
    ),
    state(
        JobState::InDoubt,
        "a request for it left, and no answer told what became of it",
        "Its record is looked up. Found, it is adopted; certainly not there, it is sent again; where no look-up can tell, it is held.",
        "Do not enter it by hand. It is looked up and cleared by itself; to go on, type: fleetload run",
    ),
    state(
        JobState::Held,
        "a person must decide",
        "Nothing more is sent for it, and what belongs to it waits. Its code tells why.",
        DECIDE,
    ),
    state(
        JobState::Created,
        ROW_IS_DONE,
        "The service confirmed the creation; the id of the record is in the report.",
        "",
    ),
    state(
        JobState::Adopted,
        ROW_IS_DONE,
        "An answer was lost, and the record it was about was found: it is the row's, with its id in the report.",
        "",
    ),
    state(
        JobState::Existing,
        ROW_IS_DONE,
        "The record was there before anything was sent, so nothing was created; its id is in the report.",
        "",
    ),
    state(JobState::Done, ROW_IS_DONE, "A row that creates no record was carried out.", ""),
    state(
        JobState::Rejected,
        "it was refused by the service, or by a rule of fleetload",
        "Nothing was created. It is sent again when the row has changed, or when it is retried; what belongs to it is skipped until then.",
        "Read the message, correct the row, in the sheet or in fix.xlsx, and type: fleetload run FILE; when the row is right as it is: \
         fleetload retry {import}",
    ),
    state(
        JobState::Incomplete,
        "its record was created; a later step failed",
        "The record is there, with its id in the report, and what belongs to it is sent. The creation is never sent again. The failed step is sent \
         again when the row has changed, or when it is retried.",
        "Do not enter the record by hand: it is there. Read the message, correct the row, in the sheet or in fix.xlsx, and type: \
         fleetload run FILE; when the row is right as it is: fleetload retry {import}",
    ),
    state(
        JobState::Skipped,
        "what it belongs to is not there",
        "It was not sent. It becomes ready again when the row it belongs to is corrected.",
        "Nothing to correct here: correct the row it belongs to, and this one comes back by itself",
    ),
    state(
        JobState::Cancelled,
        "a person gave it up",
        "Nothing more is sent for it. What was created of it stays in the service.",
        GIVEN_UP,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_the_entry_of_its_word_and_only_what_is_done_needs_nobody() {
        for &state in JobState::ALL {
            assert_eq!(of(state).code, state.as_str());
            assert_eq!(of(state).needs_nobody(), state.is_success(), "{state}");
        }
    }
}
