//! Rows in words, as every surface counts them: to correct, not imported, incomplete, and those that come along; and what
//! verification came to.

use crate::error::Result;
use crate::journal::{AuditFigures, AuditSubject, Journal};
use crate::model::amount::{count, counted};
use crate::model::id::ImportId;
use crate::model::kind::Kind;

/// Rows that a person corrects, with those that only come along: `1 row to correct, and 37 that come with it`.
pub fn to_correct(own: u64, along: u64) -> String {
    match (own, along) {
        (0, 1..) => counted(along, "row to import again", "rows to import again"),
        _ => with_along(counted(own, "row to correct", "rows to correct"), own, along),
    }
}

/// Rows that were not imported because of their errors, with those that belong to them; `of` says of what, where that is not
/// clear: ` of import 3`.
pub fn not_imported(of: &str, own: u64, along: u64) -> String {
    match (own, along) {
        (0, 1) => format!("1 row{of} was not imported because a row that it depends on was not"),
        (0, 2..) => {
            format!("{} rows{of} were not imported because rows that they depend on were not", count(along))
        }
        _ => {
            let one = format!("row{of} was not imported because of errors");
            let many = format!("rows{of} were not imported because of errors");
            with_along(counted(own, &one, &many), own, along)
        }
    }
}

/// Rows whose record exists and of which a later step failed.
pub fn incomplete(rows: u64) -> String {
    format!("{} (a later step failed)", counted(rows, "row is incomplete", "rows are incomplete"))
}

/// Words about some rows, with those that only come along with them.
pub fn with_along(words: String, own: u64, along: u64) -> String {
    let them = if own == 1 { "it" } else { "them" };
    match along {
        0 => words,
        1 => format!("{words}, and 1 that comes with {them}"),
        _ => format!("{words}, and {} that come with {them}", count(along)),
    }
}

/// Of rows that were left out as they were before: that an earlier import has them without errors.
pub fn without_errors_before(rows: u64) -> String {
    format!("not imported, as an earlier import has {} without errors", if rows == 1 { "it" } else { "them" })
}

/// Why a record could not be verified.
const RECORD_NOT_VERIFIED: &str = "the look-up was inconclusive or is not available";
/// Why a change could not.
const CHANGE_NOT_VERIFIED: &str = "the service does not show this, the look-up was inconclusive or is not available, or the \
    same was changed again";

/// What could not be verified of a row of this kind, and why.
pub fn not_verified(kind: Kind) -> String {
    let (what, why) = match AuditSubject::of(kind, true) {
        AuditSubject::Record | AuditSubject::Leftover => ("record", RECORD_NOT_VERIFIED),
        AuditSubject::Change => ("change", CHANGE_NOT_VERIFIED),
        AuditSubject::Licence => ("licence code", "the service has no look-up for it"),
    };
    format!("the {what} could not be verified: {why}")
}

/// Rows named that could not be verified.
const NAMED: usize = 5;

/// Which rows of an import, or of all, could not be verified: where the first of them are; nothing where there are none.
///
/// # Errors
/// When the journal cannot be read.
pub fn which_not_verified(
    journal: &Journal,
    import: Option<ImportId>,
    figures: &AuditFigures,
) -> Result<Option<String>> {
    let all = figures.not_checked + figures.changes_not_checked;
    if all == 0 {
        return Ok(None);
    }
    let places = journal.places_not_verified(import, NAMED)?;
    let more = match all.saturating_sub(places.len() as u64) {
        0 => String::new(),
        more => format!(", and {} more; the results say it of each row", count(more)),
    };
    Ok(Some(format!("could not be verified: {}{more}", places.join(", "))))
}

/// What was verified: records in one sentence, what upkeep rows changed in another.
pub fn verified(figures: &AuditFigures) -> String {
    let changes = verified_changes(figures);
    let has_records = figures.checked
        + figures.vanished
        + figures.doubled
        + figures.orphan_sites
        + figures.not_checked
        + figures.not_verified_yet
        > 0;
    match changes {
        Some(changes) if !has_records => changes,
        Some(changes) => format!("{}. {changes}", verified_records(figures)),
        None => verified_records(figures),
    }
}

fn verified_records(figures: &AuditFigures) -> String {
    let mut words = match figures.checked {
        // A run that was killed noted them, and not its counts.
        0 if figures.vanished + figures.doubled + figures.orphan_sites > 0 => "verified".to_owned(),
        0 => "no record was verified".to_owned(),
        checked => format!("{} verified", counted(checked, "record", "records")),
    };
    let single = figures.doubles_not_checked == figures.checked;
    let mut found = Vec::new();
    if figures.vanished > 0 {
        found.push(format!("{} missing", count(figures.vanished)));
    }
    if figures.doubled > 0 {
        found.push(format!("{} duplicated", count(figures.doubled)));
    }
    if figures.orphan_sites > 0 {
        found.push(format!(
            "{} with a site that belongs to no row",
            counted(figures.orphan_sites, "device", "devices")
        ));
    }
    if !found.is_empty() {
        words.push_str(&format!(": {}", found.join(", ")));
    } else if figures.checked > 0 {
        words.push_str(if single { ": all there" } else { ": all there, none duplicated" });
    }
    if figures.doubles_not_checked > 0 {
        let which =
            if single { String::new() } else { format!(" of {}", count(figures.doubles_not_checked)) };
        words.push_str(&format!("; no look-up could tell{which} whether they are duplicated"));
    }
    if figures.not_checked > 0 {
        words.push_str(&format!(
            "; {} not be verified: {RECORD_NOT_VERIFIED}",
            counted(figures.not_checked, "record could", "records could")
        ));
    }
    if figures.not_verified_yet > 0 {
        let records = counted(figures.not_verified_yet, "record is", "records are");
        words.push_str(&format!("; {records} not verified yet"));
    }
    words
}

/// What was verified of upkeep rows; `None` where there are none.
fn verified_changes(figures: &AuditFigures) -> Option<String> {
    let mut parts = Vec::new();
    match (figures.changes_checked, figures.reverted) {
        (0, 0) => {}
        // A run that was killed noted them, and not its counts.
        (0, reverted) => {
            parts.push(format!("verified: {}", counted(reverted, "change is undone", "changes are undone")));
        }
        (1, 0) => parts.push("1 change verified: as asked".to_owned()),
        (checked, 0) => parts.push(format!("{} changes verified: all as asked", count(checked))),
        (checked, reverted) => {
            let checked = counted(checked, "change", "changes");
            let are = if reverted == 1 { "is" } else { "are" };
            parts.push(format!("{checked} verified: {} {are} undone", count(reverted)));
        }
    }
    if figures.changes_not_checked > 0 {
        parts.push(format!(
            "{} not be verified: {CHANGE_NOT_VERIFIED}",
            counted(figures.changes_not_checked, "change could", "changes could")
        ));
    }
    if figures.licences_not_shown > 0 {
        parts.push(format!(
            "{} not be verified: the service has no look-up for them",
            counted(figures.licences_not_shown, "licence code could", "licence codes could")
        ));
    }
    if figures.changes_not_verified_yet > 0 {
        let changes = counted(figures.changes_not_verified_yet, "change is", "changes are");
        parts.push(format!("{changes} not verified yet"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_only_come_along_are_told_apart_from_those_to_correct() {
        let table = [
            (1, 37, "1 row to correct, and 37 that come with it"),
            (2, 1, "2 rows to correct, and 1 that comes with them"),
            (3, 0, "3 rows to correct"),
            (0, 0, "0 rows to correct"),
            (0, 2, "2 rows to import again"),
        ];
        for (own, along, expected) in table {
            assert_eq!(to_correct(own, along), expected);
        }
        assert_eq!(
            not_imported("", 1, 1_200),
            "1 row was not imported because of errors, and 1,200 that come with it"
        );
        assert_eq!(
            not_imported(" of import 1", 0, 2),
            "2 rows of import 1 were not imported because rows that they depend on were not"
        );
    }

    #[test]
    fn what_was_verified_is_one_honest_sentence() {
        let figures = AuditFigures { checked: 312, ..AuditFigures::default() };
        let changed =
            |changes_checked, reverted| AuditFigures { changes_checked, reverted, ..AuditFigures::default() };
        let table = [
            (figures, "312 records verified: all there, none duplicated"),
            (
                AuditFigures { vanished: 1, doubled: 2, ..figures },
                "312 records verified: 1 missing, 2 duplicated",
            ),
            (
                AuditFigures { doubles_not_checked: 12, ..figures },
                "312 records verified: all there, none duplicated; no look-up could tell of 12 whether they are duplicated",
            ),
            (
                AuditFigures { doubles_not_checked: 312, ..figures },
                "312 records verified: all there; no look-up could tell whether they are duplicated",
            ),
            (
                AuditFigures { checked: 0, not_checked: 4, ..figures },
                "no record was verified; 4 records could not be verified: the look-up was inconclusive or is not available",
            ),
            (
                AuditFigures { not_verified_yet: 460, ..figures },
                "312 records verified: all there, none duplicated; 460 records are not verified yet",
            ),
            (AuditFigures { checked: 0, vanished: 1, ..figures }, "verified: 1 missing"),
            (
                AuditFigures { checked: 1, orphan_sites: 1, ..figures },
                "1 record verified: 1 device with a site that belongs to no row",
            ),
            (
                AuditFigures { changes_checked: 40, ..figures },
                "312 records verified: all there, none duplicated. 40 changes verified: all as asked",
            ),
            (changed(1, 0), "1 change verified: as asked"),
            (changed(0, 1), "verified: 1 change is undone"),
            (changed(9, 2), "9 changes verified: 2 are undone"),
            (
                AuditFigures {
                    changes_not_checked: 2,
                    licences_not_shown: 1,
                    changes_not_verified_yet: 7,
                    ..changed(3, 0)
                },
                "3 changes verified: all as asked; 2 changes could not be verified: the service does not show this, the \
                 look-up was inconclusive or is not available, or the same was changed again; 1 licence code could \
                 not be verified: the service has no look-up for them; 7 changes are not verified yet",
            ),
        ];
        for (figures, expected) in table {
            assert_eq!(verified(&figures), expected);
        }
    }
}
