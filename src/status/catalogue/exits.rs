//! The exit codes, and the reasons that they stand for: what a command ends with. The reasons are those of
//! [`crate::ending`].

use super::{Entry, Scope};
use crate::advice::Part::{Command, Words};
use crate::advice::Parts;
use crate::ending::End;

const fn exit(code: &'static str, words: &'static str, follows: &'static str, advice: Parts) -> Entry {
    Entry::new(Scope::Exits, code, words, follows, advice)
}

/// Every exit code.
pub(super) const ENTRIES: &[Entry] = &[
    exit("0", "every row is done", "Nothing is left to send and nothing needs your attention.", &[]),
    exit(
        "1",
        "fleetload itself failed",
        "Something unforeseen happened, such as a full disk under a report. Every request that was sent is in the \
        journal.",
        &[Words("Read the message, fix what you can, then type: "), Command("run")],
    ),
    exit(
        "2",
        "usage, profile or settings are wrong",
        "Nothing was imported and nothing was sent.",
        &[
            Words("Correct what the message names. To see the settings and their origin, type: "),
            Command("doctor"),
        ],
    ),
    exit(
        "3",
        "the sheets have problems; nothing was imported, nothing sent",
        "No row of them is in the journal.",
        &[
            Words("Correct the cells that are named, then run the file again. What a code means: "),
            Command("explain CODE"),
        ],
    ),
    exit(
        "4",
        "finished, and some rows were rejected, incomplete or skipped, or differ from what was created earlier",
        "Everything else is done. The rows to correct, each with its reason, are in fix.xlsx in the folder of the reports. Nothing is sent for a row \
         that differs; its columns are in the report.",
        &[
            Words("Correct the rows in fix.xlsx and type: "),
            Command("run FILE"),
            Words(
                ". Of rows that differ, put the earlier values back into the sheet, or change the records \
             in the service",
            ),
        ],
    ),
    exit(
        "5",
        "stopped with work left that can go on automatically later",
        "The day's quota is spent, the time given with --until was reached, the run was stopped, or another run is \
        using this journal. The restart time is printed if it is known.",
        &[Words("To go on, type: "), Command("run")],
    ),
    exit(
        "6",
        "the journal is locked, damaged, full, not writable or an older copy, or a run with another journal uses the account",
        "Nothing further was sent, because fleetload could not record it in the journal.",
        &[Words("Do what the message says about the journal, then type: "), Command("run")],
    ),
    exit(
        "7",
        "the service refuses fleetload or cannot be reached",
        "No row was rejected for it. The rows not sent stay ready.",
        &[Words("To find the cause, type: "), Command("doctor")],
    ),
    exit(
        "8",
        "finished, but something needs your decision",
        "Some rows are on hold, a sheet is paused, or verification found problems.",
        &[Words("To see each of them with its command, type: "), Command("status")],
    ),
];

/// Every reason, from the table of the ways a command ends.
pub(super) const ENDINGS: [Entry; End::ALL.len()] = {
    let mut entries = [Entry::new(Scope::Endings, "", "", "", &[]); End::ALL.len()];
    let mut at = 0;
    while at < entries.len() {
        let end = End::ALL[at].entry();
        entries[at] = Entry::new(Scope::Endings, end.reason, end.words, end.follows, end.advice);
        at += 1;
    }
    entries
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_of_the_table_is_explained_and_no_other() {
        let mut codes: Vec<String> = End::ALL.iter().map(|end| end.exit().code().to_string()).collect();
        codes.dedup();
        assert_eq!(ENTRIES.iter().map(|entry| entry.code).collect::<Vec<_>>(), codes);
    }
}
