//! The states of a row: what can be said, and advised, of a row by its state alone.

use super::rows::GIVEN_UP;
use super::service::DECIDE;
use super::{Entry, Scope};
use crate::advice::Part::{Command, Words};
use crate::advice::Parts;
use crate::model::state::JobState;

const fn state(state: JobState, words: &'static str, follows: &'static str, advice: Parts) -> Entry {
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
        "it waits for a record that it depends on",
        "It is sent as soon as that record exists; it stays blocked while the row of that record is on hold.",
        &[
            Words(
                "Nothing to correct: it is sent once the record that it waits for exists. To go on, type: ",
            ),
            Command("run"),
        ],
    ),
    state(
        JobState::Ready,
        "it has not been sent yet",
        "It is sent when its turn comes.",
        &[Words("Nothing to correct. To send it, type: "), Command("run")],
    ),
    state(
        JobState::Deferred,
        "the service did not carry it out; it is sent again later",
        "It is certain that nothing was carried out. The report gives the time of the next attempt.",
        &[Words("Nothing to correct: it is sent again automatically. To go on, type: "), Command("run")],
    ),
    state(
        JobState::Sending,
        "a request for it is in progress",
        "The answer decides. If fleetload ends before the answer arrives, the row is in doubt at the next start, \
        never ready.",
        &[
            Words("Do not enter it by hand. If no run is in progress, type: "),
            Command("run"),
            Words("; it finds out whether the request was executed"),
        ],
    ),
    state(
        JobState::InDoubt,
        "outcome unknown, being settled: no answer showed whether the request was carried out",
        "fleetload looks its record up. If the record is found, it is adopted. If it certainly does not exist, the \
        row is sent again. If the look-up is inconclusive, the row is put on hold.",
        &[
            Words("Do not enter it by hand. It is looked up and settled automatically. To go on, type: "),
            Command("run"),
        ],
    ),
    state(
        JobState::Held,
        "on hold: needs your decision",
        "Nothing more is sent for it, and the rows that depend on it wait. Its code gives the reason.",
        DECIDE,
    ),
    state(
        JobState::Created,
        ROW_IS_DONE,
        "The service confirmed the creation; the id of the record is in the report.",
        &[],
    ),
    state(
        JobState::Adopted,
        ROW_IS_DONE,
        "An answer was lost, and a look-up found the record of the row. Its id is in the report.",
        &[],
    ),
    state(
        JobState::Existing,
        ROW_IS_DONE,
        "The record existed before anything was sent, so nothing was created. Its id is in the report.",
        &[],
    ),
    state(JobState::Done, ROW_IS_DONE, "The row creates no record, and was carried out.", &[]),
    state(
        JobState::Rejected,
        "the service, or a rule of fleetload, rejected it",
        "Nothing was created. It is sent again when the row has changed, or when it is retried. The rows that depend \
        on it are skipped until then.",
        &[
            Words("Read the message, correct the row, in the sheet or in fix.xlsx, and type: "),
            Command("run FILE"),
            Words(". If the row is right as it is, type: "),
            Command("retry {import}"),
        ],
    ),
    state(
        JobState::Incomplete,
        "created; a later step failed",
        "The record exists, with its id in the report, and the rows that depend on it are sent. The creation is never \
        sent again. The failed step is sent again when the row has changed, or when it is retried.",
        &[
            Words(
                "Do not enter the record by hand: it exists. Read the message, correct the row, in the \
             sheet or in fix.xlsx, and type: ",
            ),
            Command("run FILE"),
            Words(". If the row is right as it is, type: "),
            Command("retry {import}"),
        ],
    ),
    state(
        JobState::Skipped,
        "a row that it depends on failed or was cancelled",
        "It was not sent. It becomes ready again when the other row is corrected.",
        &[Words(
            "Nothing to correct here: correct the row that it depends on, and this row is sent \
             automatically",
        )],
    ),
    state(
        JobState::Cancelled,
        "it was cancelled",
        "Nothing more is sent for it. Records that were already created for it stay in the service.",
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
