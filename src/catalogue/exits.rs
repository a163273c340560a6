//! The exit codes: the number a command ends with.

use super::{Entry, Scope};

const fn exit(code: &'static str, words: &'static str, follows: &'static str, advice: &'static str) -> Entry {
    Entry::new(Scope::Exits, code, words, follows, advice)
}

/// Every exit code.
pub(super) const ENTRIES: &[Entry] = &[
    exit("0", "every row is done", "Nothing is left to be sent and nothing needs a person.", ""),
    exit(
        "1",
        "fleetload itself failed",
        "Something unforeseen, such as a full disk under a report. What was sent is in the journal.",
        "Read the message; what can be mended, mend. Then type: fleetload run",
    ),
    exit(
        "2",
        "usage, profile or settings are wrong",
        "Nothing was imported and nothing was sent.",
        "Correct what the message names; see the settings and where they come from with: fleetload doctor",
    ),
    exit(
        "3",
        "the sheets have problems",
        "Nothing was imported and nothing was sent.",
        "Correct the cells that are named, then run the file again. What a code means: fleetload explain CODE",
    ),
    exit(
        "4",
        "finished, and some rows were rejected, incomplete or skipped",
        "Everything else is done. The rejected and incomplete rows, each with its reason, are in fix.xlsx in the folder of the reports.",
        "Correct them there and type: fleetload run FILE",
    ),
    exit(
        "5",
        "stopped with work left that can go on by itself later",
        "The day's quota is spent, the time given with --until has come, or somebody stopped it. The restart time is printed where it is known.",
        "To go on, type: fleetload run",
    ),
    exit(
        "6",
        "the journal is locked, damaged, full or not writable",
        "Nothing further was sent: without the journal nothing could be remembered.",
        "Do what the message says about the journal, then type: fleetload run",
    ),
    exit(
        "7",
        "the service refuses us or cannot be reached",
        "No row was rejected for it. The rows not sent stay ready.",
        "See what is wrong with: fleetload doctor",
    ),
    exit(
        "8",
        "finished, but a person must decide",
        "Some rows are held, a sheet was set aside, or reading back found something.",
        "See what it is, with the command for each, with: fleetload status",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;

    #[test]
    fn the_exit_codes_are_those_of_the_program() {
        let all = [
            Exit::Done,
            Exit::Failed,
            Exit::Usage,
            Exit::Sheets,
            Exit::Rejections,
            Exit::Parked,
            Exit::Journal,
            Exit::Service,
            Exit::Held,
        ];
        let codes: Vec<String> = all.iter().map(|exit| exit.code().to_string()).collect();
        assert_eq!(ENTRIES.iter().map(|entry| entry.code).collect::<Vec<_>>(), codes);
    }
}
