//! `fleetload report`, and the reports at the end of a run: written from the journal, and said where.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::preconditions;
use crate::cli::args::commands::OfImport;
use crate::cli::context::Context;
use crate::cli::status::next_commands;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, ErrorKind, Result};
use crate::journal::{ImportInfo, Journal, Salvaged, is_damage};
use crate::model::id::ImportId;
use crate::model::state::JobState;
use crate::report::{self, Caller, ImportEnd, KeptFix, ReportedCounts, Written};
use crate::status::next_command::Again;
use crate::status::row_words;
use crate::status::{RunState, Status, Unanswered};
use crate::term::{Ink, Line, count, counted};

/// Rows named where some cannot be read.
const NUMBERS: usize = 20;

/// Writes the reports of an import again; of a damaged journal, what can still be read of it.
pub(in crate::cli) fn report(context: &Context<'_>, typed: &OfImport) -> Result<Summary> {
    let written = context.journal().and_then(|journal| {
        let (import, standing) = asked_for(context, typed, &journal)?;
        context.tell_whose(&journal.whose()?);
        let (written, _) = write(context, &journal, import, &standing)?;
        match preconditions::older_advice(context, &journal) {
            Some(older) => context.terminal.hint(older),
            None => {
                drop(next_commands::tell_next(context, &Status::now(&journal, Some(import), context.now())?))
            }
        }
        Ok(summary(End::Done, import, &standing, &written))
    });
    match written {
        Err(error) if is_damage(&error) => salvage(context, typed, &error),
        done => done,
    }
}

/// The import that was asked for, and how it stands.
fn asked_for(context: &Context<'_>, typed: &OfImport, journal: &Journal) -> Result<(ImportId, ImportEnd)> {
    let imports = journal.imports()?;
    let import = match (typed.import, imports.last()) {
        (Some(wanted), _) => ImportInfo::find(&imports, wanted)?.import,
        (None, Some(last)) => last.import,
        (None, None) => {
            return Err(Error::usage("the journal has no imports yet")
                .hint(context.advice("import a sheet first: ", "import SHEET.xlsx")));
        }
    };
    Ok((import, standing(journal, import)?))
}

/// How an import stands.
pub(super) fn standing(journal: &Journal, import: ImportId) -> Result<ImportEnd> {
    let status = Status::of_report(journal, import)?;
    Ok(ImportEnd {
        end: status.end(),
        exit_code: status.end().exit().code(),
        resumes_at: status.resumes_at(),
        holder: status.holder(),
    })
}

/// Of `report`: it ended as `end` says, and told how an import stands.
fn summary(end: End, import: ImportId, standing: &ImportEnd, written: &Written) -> Summary {
    Summary::new(end)
        .with(&ReportSummary {
            import,
            folder: written.folder.clone(),
            files: written.files.clone(),
            to_fix: written.to_fix,
            kept: kept(written),
        })
        .about(RunState::Ended(standing.end))
}

/// Writes reports of what can be read of a damaged journal, to a folder that says so: those of before stay.
fn salvage(context: &Context<'_>, typed: &OfImport, damage: &Error) -> Result<Summary> {
    let path = &context.common.journal;
    context
        .terminal
        .warn(format!("{damage}; the rows that can still be read are written to separate reports"));
    let salvaged = Salvaged::of(path)?;
    let (import, mut standing) =
        asked_for(context, typed, &salvaged.journal).map_err(|error| match error.kind() {
            ErrorKind::Usage => {
                let wanted =
                    typed.import.map_or_else(|| "no import".to_owned(), |import| format!("import {import}"));
                let can = if typed.import.is_some() { "cannot" } else { "can" };
                Error::journal(format!("{wanted} of the damaged journal {} {can} be read", path.display()))
                    .ending(End::JournalDamaged)
                    .hint("go back to a copy of the journal")
            }
            _ => error,
        })?;
    standing.exit_code = End::JournalDamaged.exit().code();
    let info = next_commands::import(&salvaged.journal, import)?;
    let folder = report::folder(&context.common.reports, &format!("{import}-damaged"), &info);
    let again = next_commands::commands(context, &info);
    let written = write_into(&salvaged.journal, (import, &folder), &standing, &again)?;
    let lines = unreadable(path, &salvaged, import);
    let list = folder.join("unreadable.txt");
    std::fs::write(&list, lines.join("\n") + "\n").map_err(|error| {
        Error::internal(format!("cannot write {}", list.display()))
            .because(error)
            .hint("see that the disk has room")
    })?;
    for line in &lines {
        context.terminal.result(line.as_str());
    }
    context.terminal.result(
        Line::plain(format!("report of the rest of import {import}: "))
            .ink(Ink::Strong, folder.display().to_string()),
    );
    tell_kept(context, &again, &written);
    context.terminal.hint(
        "go back to a copy of the journal, and look in the service for the rows that are missing here before anything is sent again",
    );
    Ok(summary(End::JournalDamaged, import, &standing, &written).about(RunState::Ended(End::JournalDamaged)))
}

/// What could not be read, a line each.
fn unreadable(path: &Path, salvaged: &Salvaged, import: ImportId) -> Vec<String> {
    let mut lines = vec![format!("This report was written from the damaged journal {}.", path.display())];
    for lost in salvaged.lost.iter().filter(|lost| lost.import == import) {
        let numbers: Vec<String> = lost.numbers.iter().take(NUMBERS).map(u32::to_string).collect();
        let among =
            if numbers.is_empty() { String::new() } else { format!(", among them {}", numbers.join(", ")) };
        lines.push(format!(
            "Sheet {}: {} of {} cannot be shown{among}.",
            lost.sheet,
            count(lost.rows),
            counted(lost.of, "row", "rows")
        ));
    }
    if !salvaged.parts.is_empty() {
        lines.push(format!(
            "Parts of the journal that cannot be read in full: {}.",
            salvaged.parts.join(", ")
        ));
    }
    if lines.len() == 1 {
        lines.push("Every row could be read.".to_owned());
    }
    lines
}

/// Writes the reports of an import into a folder.
fn write_into(
    journal: &Journal,
    (import, folder): (ImportId, &Path),
    standing: &ImportEnd,
    again: &Again,
) -> Result<Written> {
    report::write(journal, import, folder, standing, Caller { again, folder })
}

/// Writes the reports of an import and says where they are; those, and the commands that they tell.
pub(in crate::cli) fn write(
    context: &Context<'_>,
    journal: &Journal,
    import: ImportId,
    standing: &ImportEnd,
) -> Result<(Written, Again)> {
    let info = next_commands::import(journal, import)?;
    let (folder, again) = (next_commands::folder(context, &info), next_commands::commands(context, &info));
    let usual = context.common.reports.join(import.to_string());
    if folder != usual {
        context.terminal.warn(format!(
            "{} has the report of another journal, or of another copy of this one, so that this report goes to {}: to keep \
             them apart, name a folder for each journal with --reports",
            usual.display(),
            folder.display()
        ));
    }
    let written = write_into(journal, (import, &folder), standing, &again)?;
    let page = folder.join(report::PAGE);
    context.terminal.result(
        Line::plain(format!("report of import {}: ", info.named()))
            .ink(Ink::Strong, page.display().to_string())
            .text(format!(", {}", report::RESULTS)),
    );
    if let Some(fix) = &written.fix {
        context.terminal.result(format!("{}: {}", to_correct(&written), fix.display()));
    }
    tell_kept(context, &again, &written);
    Ok((written, again))
}

/// Writes the reports of earlier imports again that no longer say what became of their rows: a later import may have
/// corrected them, a run may have verified them, and a person may have cancelled them or reviewed what verification found.
/// Reports that are not there are not missed.
pub(in crate::cli) fn renew(
    context: &Context<'_>,
    journal: &Journal,
    but: &[ImportId],
) -> Result<Vec<Written>> {
    let mut renewed = Vec::new();
    let (jobs, below) = (journal.job_tallies()?, journal.rows_below_pauses()?);
    for info in journal.imports()?.iter().filter(|info| !but.contains(&info.import)) {
        let folder = next_commands::folder(context, info);
        let Some(told) = report::reported_counts(&folder) else { continue };
        let tally = journal.tally_with(info.import, &jobs)?;
        let kept = journal.rows_kept_by_pauses(info.import, &below)?;
        let now = ReportedCounts {
            counts: JobState::ALL.iter().map(|&state| (state, tally.in_state(state))).collect(),
            // Fewer than before, where rows came again.
            to_fix: Unanswered::of(journal, info.import, &tally)?.total().min(told.to_fix),
            findings: journal.unseen_findings(Some(info.import))?.len() as u64,
            paused: kept.rows,
            paused_imports: kept.paused_imports(),
            // Rows that are to be verified once more have been in another state.
            unverified: match told.unverified {
                0 => 0,
                _ => journal.audit_figures(Some(info.import))?.unread(),
            },
        };
        if now == told {
            continue;
        }
        let again = next_commands::commands(context, info);
        let standing = standing(journal, info.import)?;
        let written = write_into(journal, (info.import, &folder), &standing, &again)?;
        context.terminal.result(format!(
            "report of import {}: written again, as {}: {}",
            info.import,
            changed(&told, &now),
            match &written.fix {
                Some(fix) => format!("{} in {}", to_correct(&written), fix.display()),
                None => "nothing is left to be corrected in it".to_owned(),
            }
        ));
        tell_kept(context, &again, &written);
        renewed.push(written);
    }
    Ok(renewed)
}

/// Why a report is written again, in words.
fn changed(told: &ReportedCounts, now: &ReportedCounts) -> &'static str {
    if told.counts.get(&JobState::Cancelled) < now.counts.get(&JobState::Cancelled) {
        "rows of it were cancelled"
    } else if told.counts != now.counts {
        "rows of it are in another state"
    } else if told.paused < now.paused {
        "rows of it are not sent before a paused import is resumed"
    } else if told.paused > now.paused {
        "rows of it no longer wait for a paused import"
    } else if told.paused_imports != now.paused_imports {
        "rows of it wait for other paused imports"
    } else if told.to_fix != now.to_fix {
        "rows of it were imported again"
    } else if told.findings < now.findings {
        "verification found problems with rows of it"
    } else if told.unverified != now.unverified {
        "rows of it were verified"
    } else {
        "its findings were reviewed"
    }
}

/// How many rows a report has for a person to correct, in words.
fn to_correct(written: &Written) -> String {
    row_words::to_correct(written.to_fix.saturating_sub(written.along), written.along)
}

/// Tells of fix files that somebody has corrected: they have another name now.
fn tell_kept(context: &Context<'_>, again: &Again, written: &Written) {
    for kept in &written.kept {
        let place = kept.path.display();
        context.terminal.result(match (kept.is_imported, kept.has_rows) {
            (true, _) => {
                Line::plain(format!("your corrections, which were imported already, are kept in {place}"))
            }
            (false, false) => {
                Line::plain(format!("your fix file, which has no row left, is kept in {place}"))
            }
            (false, true) => Line::plain(format!("your corrections are kept in {place}: "))
                .command(Ink::Plain, again.with_file("run", &kept.path)),
        });
    }
}

/// The same for programs.
pub(super) fn kept(written: &Written) -> Vec<KeptFile> {
    let of = |kept: &KeptFix| KeptFile { file: kept.path.clone(), imported: kept.is_imported };
    written.kept.iter().map(of).collect()
}

/// A report that was written.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReportSummary {
    import: ImportId,
    /// The folder of the report.
    folder: PathBuf,
    /// Its files.
    files: Vec<PathBuf>,
    /// Rows that a person must correct.
    to_fix: u64,
    /// Fix files with corrections, which have another name now.
    kept: Vec<KeptFile>,
}

/// A fix file with corrections, which has another name now.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct KeptFile {
    /// The file.
    file: PathBuf,
    /// Whether its corrections are imported already.
    imported: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_report_is_written_again_follows_from_what_is_other_than_it_told() {
        let counts = |(to_fix, findings, paused, unverified), imports: &[i64]| ReportedCounts {
            counts: [].into(),
            to_fix,
            findings,
            paused,
            paused_imports: imports.iter().copied().map(ImportId).collect(),
            unverified,
        };
        for (told, now, expected) in [
            ((0, 0, 0, 0), (0, 0, 1, 0), "rows of it are not sent before a paused import is resumed"),
            ((0, 0, 1, 0), (0, 0, 0, 0), "rows of it no longer wait for a paused import"),
            ((2, 0, 0, 0), (1, 0, 0, 0), "rows of it were imported again"),
            ((0, 0, 0, 3), (0, 1, 0, 0), "verification found problems with rows of it"),
            ((0, 0, 0, 3), (0, 0, 0, 0), "rows of it were verified"),
            ((0, 1, 0, 0), (0, 0, 0, 0), "its findings were reviewed"),
        ] {
            assert_eq!(changed(&counts(told, &[]), &counts(now, &[])), expected, "{told:?} {now:?}");
        }
        let (told, now) = (counts((0, 0, 1, 0), &[1, 2]), counts((0, 0, 1, 0), &[2]));
        assert_eq!(changed(&told, &now), "rows of it wait for other paused imports");
    }
}
