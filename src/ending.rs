//! The ways a command can end: for each its exit code, its `state`, its `reason`, and what they mean.
//!
//! One table, [`End::entry`]. The exit code of the process, the last JSON object, `summary.json`, the journal, `explain`,
//! the help and the pages below `docs/` are made from it.

use crate::advice::Parts;
use crate::advice::Piece::{Command, Words};
use crate::error::{ErrorKind, Exit};
use crate::json_schema::serialize_as_word;
use crate::model::words::words;

words! {
    /// How the work stands when a command has ended; the `state` of its summary.
    pub enum State: as_str {
        /// Nothing is left that goes on automatically, and nothing needs a person's decision.
        Finished = "finished",
        /// Work is left that goes on automatically at a known time.
        Parked = "parked",
        /// Work is left, and the command ended before it was done.
        Stopped = "stopped",
        /// Rows wait for the next run, or for one that is at work.
        Waiting = "waiting",
        /// Nothing goes on automatically, and a person must decide something.
        Held = "held",
        /// The command could not do what was asked of it.
        Failed = "failed",
    }
}

serialize_as_word!(State, State::as_str, "State", "How the work stands.", State::ALL);

words! {
    /// A way a command ends, in the order of the exit codes; its word is the `reason` of the summary.
    #[expect(missing_docs, reason = "each is described in words by its entry in the table below")]
    pub enum End: as_str, parse {
        Done = "done",
        Internal = "internal",
        Stuck = "stuck",
        Usage = "usage",
        NobodyToAsk = "nobody-to-ask",
        EndpointUnknown = "endpoint-unknown",
        Sheets = "sheets",
        UnknownIds = "unknown-ids",
        NotAsPlanned = "not-as-planned",
        RowsFailed = "rows-failed",
        NothingFound = "nothing-found",
        NotRead = "not-read",
        NotUndone = "not-undone",
        NotDelivered = "not-delivered",
        CallRejected = "call-rejected",
        Quota = "quota",
        Window = "window",
        Until = "until",
        Signal = "signal",
        Killed = "killed",
        AnotherRun = "another-run",
        RowsWaiting = "rows-waiting",
        ImportPaused = "import-paused",
        DevicesAwaited = "devices-awaited",
        NotConfirmed = "not-confirmed",
        Journal = "journal",
        JournalMissing = "journal-missing",
        JournalLocked = "journal-locked",
        JournalDamaged = "journal-damaged",
        JournalFull = "journal-full",
        JournalOlder = "journal-older",
        AccountLocked = "account-locked",
        Unreachable = "unreachable",
        Credentials = "credentials",
        SourceAddress = "source-address",
        Certificate = "certificate",
        EndpointMissing = "endpoint-missing",
        Breaker = "breaker",
        Service = "service",
        RowsHeld = "rows-held",
        SheetPaused = "sheet-paused",
        Canary = "canary",
        Verification = "verification",
        CallUnknown = "call-unknown",
        ChangesPlanned = "changes-planned",
    }
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The `state` that programs read.
    pub state: State,
    /// The exit code.
    pub exit: Exit,
    /// What it means: a sentence without its full stop.
    pub words: &'static str,
    /// What follows from it, in sentences.
    pub follows: &'static str,
    /// What a person does; empty where nothing is to be done.
    pub advice: Parts,
}

const fn entry(
    (state, exit): (State, Exit),
    words: &'static str,
    follows: &'static str,
    advice: Parts,
) -> Entry {
    Entry { state, exit, words, follows, advice }
}

const FINISHED: (State, Exit) = (State::Finished, Exit::Done);
const INCOMPLETE: (State, Exit) = (State::Finished, Exit::Rejections);
const HELD: (State, Exit) = (State::Held, Exit::Held);
const STOPPED: (State, Exit) = (State::Stopped, Exit::Parked);
const REFUSED: (State, Exit) = (State::Stopped, Exit::Service);
const JOURNAL: (State, Exit) = (State::Failed, Exit::Journal);
const USAGE: (State, Exit) = (State::Failed, Exit::Usage);
const OURS: (State, Exit) = (State::Failed, Exit::Failed);

const GOES_ON: Parts = &[Words("To go on, type: "), Command("run")];
const STAYS_READY: &str = "No row was rejected for it. The rows not sent stay ready.";
const NOTHING_MORE: &str = "Nothing further was sent, because fleetload could not record it in the journal.";
const NOTHING_DONE: &str = "Nothing was imported and nothing was sent.";

impl End {
    /// The table.
    pub const fn entry(self) -> Entry {
        match self {
            Self::Done => entry(
                FINISHED,
                "the command completed",
                "After a run every row is done or cancelled. Nothing needs your attention.",
                &[],
            ),
            Self::Internal => entry(
                OURS,
                "fleetload itself failed",
                "Something unforeseen happened, such as a full disk under a report. Every request that was sent is in \
                the journal.",
                &[Words("Read the message, fix what you can, then type: "), Command("run")],
            ),
            Self::Stuck => entry(
                OURS,
                "a run made no progress for ten minutes and ended itself",
                "Everything that was sent is in the journal. Requests under way are looked up before anything is sent again.",
                &[
                    Words("Type: "),
                    Command("run"),
                    Words(". If it happens again, report the line that begins with 'in hand'."),
                ],
            ),
            Self::Usage => entry(
                USAGE,
                "the command line, the profile or a setting is wrong",
                NOTHING_DONE,
                &[
                    Words("Correct what the message names. To see the settings and their origin, type: "),
                    Command("doctor"),
                ],
            ),
            Self::NobodyToAsk => entry(
                USAGE,
                "a run must be confirmed (confirm = true), and nobody could be asked",
                NOTHING_DONE,
                &[
                    Words("To see what it would do, type: "),
                    Command("plan FILE"),
                    Words(". To run it without being asked, type: "),
                    Command("run FILE --yes"),
                ],
            ),
            Self::EndpointUnknown => entry(
                USAGE,
                "an operation that is needed has no known path",
                "Its path is neither documented nor in the profile. Nothing was sent.",
                &[
                    Words(
                        "Set method and path in [profile.NAME.endpoints.OPERATION], or set paths = \"assumed\". To \
             see what is missing, type: ",
                    ),
                    Command("doctor"),
                ],
            ),
            Self::Sheets => entry(
                (State::Failed, Exit::Sheets),
                "the sheets have errors",
                NOTHING_DONE,
                &[
                    Words("Correct the cells that are named, then run the file again. What a code means: "),
                    Command("explain CODE"),
                ],
            ),
            Self::UnknownIds => entry(
                (State::Failed, Exit::Sheets),
                "rows that wait to be sent name ids that the service does not have",
                "Nothing was sent. The rows that name them are rejected; the others stay ready.",
                &[
                    Words("Find the right ids with "),
                    Command("find companies NAME"),
                    Words(
                        ", and the same for sites and devices. Correct the rejected rows in fix.xlsx and type: ",
                    ),
                    Command("run FILE"),
                    Words(". To send the other rows, type: "),
                    Command("run"),
                ],
            ),
            Self::NotAsPlanned => entry(
                (State::Failed, Exit::Sheets),
                "what would happen is not what the plan given with --plan says",
                NOTHING_DONE,
                &[
                    Words("To see what would happen now and keep it as the new plan, type: "),
                    Command("plan FILE --save PLAN"),
                ],
            ),
            Self::NotConfirmed => entry(
                STOPPED,
                "you did not confirm the plan",
                NOTHING_DONE,
                &[Words("To go on, type the command again and answer y")],
            ),
            Self::ChangesPlanned => entry(
                (State::Finished, Exit::Changes),
                "the plan has rows to be sent; only with --detailed-exitcode",
                "A run would send them. Nothing was imported and nothing was sent.",
                &[],
            ),
            Self::RowsFailed => entry(
                INCOMPLETE,
                "finished, and some rows were rejected, incomplete or skipped, or differ from what was imported earlier",
                "Everything else is done. The rows to correct, each with its reason, are in fix.xlsx in the folder of the reports. Nothing is \
                 sent for a row that differs; its columns are in the report.",
                &[
                    Words("Correct the rows in fix.xlsx and type: "),
                    Command("run FILE"),
                    Words(
                        ". Of rows that differ, put what was sent last into the sheet or, where the service \
                         can change the column of a company, site or device, write update into a column \
                         action of the row",
                    ),
                ],
            ),
            Self::NothingFound => entry(
                INCOMPLETE,
                "finished, and the search found no record",
                "The operations that were asked are in 'asked'. Operations that this profile cannot reach are in \
                 'unavailable'.",
                &[
                    Words(
                        "Search for a shorter part of the name. To see what this profile can look up, type: ",
                    ),
                    Command("doctor"),
                ],
            ),
            Self::NotRead => entry(
                INCOMPLETE,
                "finished, and some records could not be read",
                "The reason stands beside each of them: in the last column of an export, in the list of a rollout. Everything else is \
                 complete.",
                &[Words("Read the reasons, then type the same command again")],
            ),
            Self::NotUndone => entry(
                INCOMPLETE,
                "finished, and something that the import did cannot be undone, or is not carried out yet",
                "The workbook restores the rest. What it does not restore is listed with its reason. Nothing was sent.",
                &[
                    Words("Read what is not restored. Then type: "),
                    Command("plan FILE"),
                    Words(" with the workbook, to see what it would do"),
                ],
            ),
            Self::NotDelivered => entry(
                INCOMPLETE,
                "finished, and some notifications were not delivered",
                "Those of runs stay in the journal, and the next run delivers them. Only notify ends like this: the exit code of a \
                 run does not depend on notifications.",
                &[Words("Correct [profile.NAME.notify], then type: "), Command("notify --test")],
            ),
            Self::CallRejected => entry(
                INCOMPLETE,
                "the service rejected the request of a call",
                "Nothing was carried out. The code and the message are those of the service.",
                &[Words("Correct what the message names. What the code means: "), Command("explain CODE")],
            ),
            Self::Quota => entry(
                (State::Parked, Exit::Parked),
                "the day's quota of creations is spent",
                "The remaining rows wait for the service's next day. The time is in 'resumes_at' of the run and the report, and in 'parked_until' of the status.",
                GOES_ON,
            ),
            Self::Window => entry(
                (State::Parked, Exit::Parked),
                "the window in which a run may send is closed, or the time given with --at has not come",
                "The rows not sent stay ready. The time at which a run may send again is in 'resumes_at' of the run and the report, and in 'paused_until' of the status.",
                GOES_ON,
            ),
            Self::Until => entry(
                STOPPED,
                "the time given with --until was reached",
                "No request was started after it. The rows not sent stay ready.",
                GOES_ON,
            ),
            Self::Signal => entry(
                STOPPED,
                "stopped by a signal: Ctrl-C, kill, a shutdown",
                "The rows not sent stay ready. After a second signal rows may be in doubt; they are looked up before anything is sent again.",
                GOES_ON,
            ),
            Self::Killed => entry(
                STOPPED,
                "the last run was killed, or the machine stopped",
                "Only status and report show this, for a run that could not record its end. Its rows in doubt are \
                 looked up before anything is sent again.",
                GOES_ON,
            ),
            Self::AnotherRun => entry(
                STOPPED,
                "another run is using this journal",
                "It sends the rows that can be sent, also those that this command imported. 'held_by' names its process.",
                &[Words("Let it finish. To see its progress, type: "), Command("status")],
            ),
            Self::RowsWaiting => entry(
                (State::Waiting, Exit::Parked),
                "rows wait for the next run, or for a run in progress",
                "They can go on automatically; nothing needs your attention.",
                GOES_ON,
            ),
            Self::ImportPaused => entry(
                (State::Waiting, Exit::Parked),
                "all rows that wait are of imports that you paused",
                "They go on after resume. Everything else is done.",
                &[
                    Words("To let the rows go on, type: "),
                    Command("resume IMPORT"),
                    Words(", then: "),
                    Command("run"),
                ],
            ),
            Self::DevicesAwaited => entry(
                (State::Waiting, Exit::Parked),
                "devices of the import are not online yet, as far as the service shows",
                "Only rollout ends like this. It sends nothing that creates or changes a record.",
                &[Words("To look again, type: "), Command("rollout")],
            ),
            Self::Journal => entry(
                JOURNAL,
                "the journal, or a file beside it, cannot be used or written",
                NOTHING_MORE,
                &[Words("Do what the message says, then type: "), Command("run")],
            ),
            Self::JournalMissing => entry(
                JOURNAL,
                "the journal that is named does not exist",
                "Nothing was sent.",
                &[Words("Check the folder and --journal. The first import creates the journal.")],
            ),
            Self::JournalLocked => entry(
                JOURNAL,
                "another program has locked the journal",
                NOTHING_MORE,
                &[
                    Words("End the other program (a database viewer, for example), then type: "),
                    Command("run"),
                ],
            ),
            Self::JournalDamaged => entry(
                JOURNAL,
                "the journal is damaged, or is not a journal",
                NOTHING_MORE,
                &[
                    Words("To save the rows that can still be read, type: "),
                    Command("report"),
                    Words(". Then go back to a backup of the journal."),
                ],
            ),
            Self::JournalFull => entry(
                JOURNAL,
                "there is no disk space left for the journal",
                NOTHING_MORE,
                &[Words("Free space on its disk, then type: "), Command("run")],
            ),
            Self::JournalOlder => entry(
                JOURNAL,
                "the journal is an older copy, or was run on another machine",
                "Nothing was sent, because requests that this copy does not know of would be sent again.",
                &[Words("Use the newest copy. If there is none, type: "), Command("run --accept-journal")],
            ),
            Self::AccountLocked => entry(
                JOURNAL,
                "a run with another journal uses the same account",
                "Two at once would exceed the account's limits. 'held_by' names the process and its journal.",
                &[Words("Wait for the other run to end, then type: "), Command("run")],
            ),
            Self::Unreachable => entry(
                REFUSED,
                "the service cannot be reached",
                STAYS_READY,
                &[
                    Words("Check the network and base_url with: "),
                    Command("doctor"),
                    Words(". Then type: "),
                    Command("run"),
                ],
            ),
            Self::Credentials => entry(
                REFUSED,
                "the service refuses the client id, the secret or a fresh access token",
                STAYS_READY,
                &[
                    Words("Check client_id and the secret of the profile with: "),
                    Command("doctor"),
                    Words(". Then type: "),
                    Command("run"),
                ],
            ),
            Self::SourceAddress => entry(
                REFUSED,
                "the service does not accept requests from this network address",
                STAYS_READY,
                &[Words("Check VPN and network, or have the address added. Then type: "), Command("run")],
            ),
            Self::Certificate => entry(
                REFUSED,
                "the certificate of the service is not accepted",
                STAYS_READY,
                &[
                    Words("Check this machine's clock, base_url and ca_file with: "),
                    Command("doctor"),
                    Words(". Then type: "),
                    Command("run"),
                ],
            ),
            Self::EndpointMissing => entry(
                REFUSED,
                "the service has no endpoint at the path of an operation, or its path is not known",
                "The operation stopped and the others went on. No row was rejected for it; its rows stay ready.",
                &[
                    Words("Set method and path in [profile.NAME.endpoints.OPERATION], then type: "),
                    Command("run"),
                ],
            ),
            Self::Breaker => entry(
                REFUSED,
                "the service failed at every attempt of an operation for 24 hours",
                STAYS_READY,
                &[Words("Ask the service's operator, then type: "), Command("run")],
            ),
            Self::Service => entry(
                REFUSED,
                "the service did not give a usable answer",
                "The command changed nothing after that.",
                &[Words("To find the cause, type: "), Command("doctor")],
            ),
            Self::RowsHeld => entry(
                HELD,
                "finished, but some rows are on hold and need your decision",
                "The rows that depend on them wait, and so do those of a paused import. Everything else is done.",
                &[Words("To see each of them with what the service has, type: "), Command("resolve")],
            ),
            Self::SheetPaused => entry(
                HELD,
                "finished, but a sheet is paused because the service rejected 50 of its rows in a row",
                "Its other rows were not sent and stay ready. The other sheets went on.",
                &[
                    Words("Correct the sheet and run it again. To send its other rows anyway, type: "),
                    Command("run --despite-rejections"),
                ],
            ),
            Self::Canary => entry(
                HELD,
                "stopped after the canary, because some of its rows are not as they should be",
                "No other row was sent; all of them stay ready.",
                &[
                    Words(
                        "Correct the rows that are named and run the sheet again; when they are right, the others \
                           follow. To send the others anyway, type: ",
                    ),
                    Command("run --canary 0"),
                ],
            ),
            Self::Verification => entry(
                HELD,
                "finished, but verification found records that are missing, duplicated or different",
                "Every run reports them until you mark them as reviewed.",
                &[Words("Review them, then type: "), Command("resolve JOB --seen")],
            ),
            Self::CallUnknown => entry(
                HELD,
                "the outcome of a call that changes something is unknown",
                "It may have been carried out. It is in the journal, and it is never sent again automatically.",
                &[
                    Words(
                        "Check in the service whether it was before you send it again. To see the call, type: ",
                    ),
                    Command("status"),
                ],
            ),
        }
    }

    /// The `state`.
    pub const fn state(self) -> State {
        self.entry().state
    }

    /// The exit code.
    pub const fn exit(self) -> Exit {
        self.entry().exit
    }

    /// The ways that end with a code, in the order of the table.
    pub fn of_exit(code: u8) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |end| end.exit().code() == code)
    }
}

/// An error that says no more than its kind.
impl From<ErrorKind> for End {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Internal => Self::Internal,
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Sheets => Self::Sheets,
            ErrorKind::Journal => Self::Journal,
            ErrorKind::Service => Self::Service,
        }
    }
}

serialize_as_word!(
    End,
    End::as_str,
    "Reason",
    "Why a command ended; docs/scheduling.md lists the reasons.",
    End::ALL
);

serialize_as_word!(
    RunEnd,
    RunEnd::as_str,
    "RunEnd",
    "How a run ended.",
    [&[RunEnd::Finished][..], &RunEnd::EARLY.map(RunEnd::Early)].concat()
);

/// How a run ended, as the journal keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunEnd {
    /// Nothing was left that goes on automatically.
    Finished,
    /// It ended before that, for this reason.
    Early(End),
}

impl RunEnd {
    /// The reasons for which a run ends early, and which its journal keeps.
    pub const EARLY: [End; 16] = [
        End::Quota,
        End::Window,
        End::Until,
        End::Signal,
        End::SheetPaused,
        End::Canary,
        End::Unreachable,
        End::Credentials,
        End::SourceAddress,
        End::Certificate,
        End::EndpointMissing,
        End::Breaker,
        End::Journal,
        End::JournalLocked,
        End::JournalDamaged,
        End::JournalFull,
    ];

    /// The written form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Early(end) => end.as_str(),
        }
    }

    /// The end with this word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "finished" => Some(Self::Finished),
            _ => Self::EARLY.into_iter().find(|end| end.as_str() == word).map(Self::Early),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_reason_is_a_word_of_its_own_and_leads_back_to_its_line() {
        let words: HashSet<&str> = End::ALL.iter().map(|end| end.as_str()).collect();
        assert_eq!(words.len(), End::ALL.len());
        for &end in End::ALL {
            assert_eq!(End::parse(end.as_str()), Some(end));
            assert!(end.as_str().chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{end:?}");
        }
        assert_eq!(End::parse("parked"), None);
    }

    #[test]
    fn every_exit_code_has_a_line_and_every_state_goes_with_the_codes_that_it_may_have() {
        for code in (0..=8).chain([10]) {
            assert!(End::of_exit(code).next().is_some(), "{code}");
        }
        for &end in End::ALL {
            let codes: &[u8] = match end.state() {
                State::Finished => &[0, 4, 10],
                State::Parked | State::Waiting => &[5],
                State::Stopped => &[5, 7],
                State::Held => &[8],
                State::Failed => &[1, 2, 3, 6],
            };
            assert!(codes.contains(&end.exit().code()), "{end:?}");
        }
    }

    #[test]
    fn an_error_without_a_reason_of_its_own_ends_as_its_kind_says() {
        for kind in
            [ErrorKind::Internal, ErrorKind::Usage, ErrorKind::Sheets, ErrorKind::Journal, ErrorKind::Service]
        {
            assert_eq!(End::from(kind).exit(), Exit::from(kind), "{kind:?}");
        }
    }

    #[test]
    fn the_end_of_a_run_is_read_as_it_was_written_and_nothing_else_is() {
        let early = RunEnd::EARLY.into_iter().map(RunEnd::Early);
        for end in early.chain([RunEnd::Finished]) {
            assert_eq!(RunEnd::parse(end.as_str()), Some(end));
        }
        for word in ["usage", "interrupted", "stopped: the service", ""] {
            assert_eq!(RunEnd::parse(word), None, "{word}");
        }
    }
}
