//! `fleetload prune`: removes what old imports that are finished no longer need, in the journal and of their reports.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;

use crate::cli::args::housekeeping::Prune as Typed;
use crate::cli::atomic_file::beside;
use crate::cli::context::Context;
use crate::cli::import::files;
use crate::cli::summary::{HeldBySummary, Summary};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{ImportInfo, Journal, Old, Pruned};
use crate::model::id::ImportId;
use crate::model::time::{Moment, Rfc3339};
use crate::report::OldFolder;
use crate::status::Status;
use crate::term::{Ink, Line, count, counted, size};

/// Imports that are listed one by one.
const LISTED: usize = 10;

/// Removes what is old, or lists it.
pub(in crate::cli) fn prune(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let mut journal = context.journal()?;
    // A run reads what may be removed, and writes reports of it. It is also who fills the pages that become free.
    let _lock = match journal.lock_for_run()? {
        Ok(lock) => lock,
        Err(holder) => {
            context.terminal.result("a run is in progress: nothing was removed");
            context.terminal.hint(context.advice("to see its progress: ", "status"));
            return Ok(Summary::new(End::AnotherRun).with(&HeldBySummary::from(holder)));
        }
    };
    let now = context.now();
    let before = now.minus(typed.older_than);
    let choice = Choice::of(context, &journal, before)?;
    let imports: Vec<ImportId> = choice.settled.iter().map(|old| old.info.import).collect();
    let old = Old { imports: &imports, before, now };
    let would = journal.would_prune(&old)?;
    // What a row of it has kept since is told as kept.
    let of_pruned = |old: &&OldImport| would.imports.iter().any(|(import, _)| *import == old.info.import);
    let folders: Vec<&OldFolder> =
        choice.settled.iter().filter(of_pruned).filter_map(|old| old.folder.as_ref()).collect();
    context.tell_whose(&journal.whose()?);
    let mut given_back = 0;
    if !typed.dry_run {
        // Reports first: they are found by the imports that the journal has.
        for folder in &folders {
            folder.remove()?;
        }
        journal.prune(&old)?;
        given_back = journal.give_back_pages()?;
    }
    let originals = originals(&context.common.journal, &journal, before)?;
    if !typed.dry_run {
        for (file, _) in &originals {
            fs::remove_file(file).map_err(|error| {
                Error::usage(format!("the old sheet {} cannot be removed", file.display()))
                    .because(error)
                    .hint("make its folder writable for you, then type the command again")
            })?;
        }
    }
    let reports: u64 = folders.iter().map(|folder| folder.bytes).sum();
    tell(context, typed, &would, (&folders, reports, &originals), given_back);
    tell_kept(context, &choice);
    let in_use = journal.bytes_in_use()?;
    Ok(Summary::new(End::Done).with(&PruneSummary {
        dry_run: typed.dry_run,
        before: before.into(),
        imports: would.imports.iter().map(|&(import, rows)| PrunedImport { import, rows }).collect(),
        reports: &folders,
        requests: would.attempts,
        runs: would.runs,
        days: would.days,
        notifications: would.notifications,
        undelivered: would.undelivered,
        kept: &choice.kept,
        originals: originals.iter().map(|(file, bytes)| PrunedFile { file, bytes: *bytes }).collect(),
        bytes: PrunedBytes { reports, journal: would.bytes, given_back, journal_in_use: in_use },
    }))
}

/// An import that needs nobody any more, and its reports.
struct OldImport {
    info: ImportInfo,
    folder: Option<OldFolder>,
}

/// The imports that are old.
struct Choice {
    settled: Vec<OldImport>,
    /// Those that still need somebody.
    kept: Vec<ImportId>,
}

impl Choice {
    fn of(context: &Context<'_>, journal: &Journal, before: Moment) -> Result<Self> {
        let status = Status::now(journal, None, before)?;
        let newest = status.imports().last().map(|facts| facts.info.import);
        let mut choice = Self { settled: Vec::new(), kept: Vec::new() };
        let old = status.imports().iter().filter(|facts| facts.info.at < before);
        for facts in old.filter(|facts| Some(facts.info.import) != newest) {
            let import = facts.info.import;
            if facts.is_settled() && journal.unseen_findings(Some(import))?.is_empty() {
                let folder = OldFolder::of(&context.common.reports, &facts.info)?;
                choice.settled.push(OldImport { info: facts.info.clone(), folder });
            } else {
                choice.kept.push(import);
            }
        }
        Ok(choice)
    }
}

/// Sheets from standard input that were kept before a moment, and that no import has that is still there.
fn originals(path: &Path, journal: &Journal, before: Moment) -> Result<Vec<(PathBuf, u64)>> {
    let imports = journal.imports()?;
    let is_needed = |name: &str| {
        let digest = name.strip_prefix("stdin-").and_then(|name| name.split('.').next());
        let files = imports.iter().filter(|info| info.at >= before).flat_map(|info| &info.files);
        digest.is_none_or(|digest| files.into_iter().any(|(_, sha256)| sha256.starts_with(digest)))
    };
    let mut originals = Vec::new();
    for entry in fs::read_dir(beside(path, files::KEPT)).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let is_old = modified.is_some_and(|since| {
            i64::try_from(since.as_millis()).is_ok_and(|millis| Moment::from_millis(millis) < before)
        });
        if metadata.is_file() && is_old && !entry.file_name().to_str().is_none_or(is_needed) {
            originals.push((entry.path(), metadata.len()));
        }
    }
    originals.sort();
    Ok(originals)
}

fn tell(
    context: &Context<'_>,
    typed: &Typed,
    pruned: &Pruned,
    (folders, bytes, originals): (&[&OldFolder], u64, &[(PathBuf, u64)]),
    given_back: u64,
) {
    let terminal = context.terminal;
    let days = typed.older_than.as_secs() / 86_400;
    if pruned.is_empty() && folders.is_empty() && originals.is_empty() {
        terminal
            .result(format!("nothing that can be removed is older than {}", counted(days, "day", "days")));
        return;
    }
    terminal.result(match typed.dry_run {
        true => Line::new().ink(Ink::Strong, "would remove").text(", and has removed nothing:"),
        false => Line::new().ink(Ink::Good, "removed").text(":"),
    });
    for (import, rows) in pruned.imports.iter().take(LISTED) {
        terminal.result(format!("  import {import}{}", of_sheets(*rows)));
    }
    let more = pruned.imports.get(LISTED..).unwrap_or_default();
    if !more.is_empty() {
        let rows: u64 = more.iter().map(|(_, rows)| rows).sum();
        let imports = counted(more.len() as u64, "more import", "more imports");
        terminal.result(format!("  {imports}{}", of_sheets(rows)));
    }
    for (number, one, many) in [
        (pruned.attempts, "request that was sent", "requests that were sent"),
        (pruned.runs, "run", "runs"),
        (pruned.days, "day of the quota", "days of the quota"),
        (pruned.notifications, "notification", "notifications"),
        (pruned.undelivered, "delivery that never succeeded", "deliveries that never succeeded"),
    ] {
        if number > 0 {
            terminal.result(format!("  {}", counted(number, one, many)));
        }
    }
    let number = folders.len() as u64;
    terminal.result(format!("  reports in {}, {}", counted(number, "folder", "folders"), size(bytes)));
    for folder in folders.iter().filter(|folder| folder.others > 0) {
        let left = counted(
            folder.others,
            "file that fleetload did not write stays",
            "files that fleetload did not write stay",
        );
        terminal.result(Line::new().ink(Ink::Faint, format!("    {left} in {}", folder.path.display())));
    }
    if !originals.is_empty() {
        let sheets = counted(originals.len() as u64, "sheet", "sheets");
        let bytes = originals.iter().map(|(_, bytes)| bytes).sum();
        terminal.result(format!("  {sheets} from standard input, {}", size(bytes)));
    }
    let freed = format!("  {} of the journal", size(pruned.bytes));
    terminal.result(match given_back {
        0 => format!("{freed}, for the next imports"),
        given_back => format!("{freed}; {} given back to the disk", size(given_back)),
    });
}

/// The rows of which the cells go; others are those that an import is recognised by.
fn of_sheets(rows: u64) -> String {
    if rows == 0 { String::new() } else { format!(": {}", counted(rows, "row of sheets", "rows of sheets")) }
}

/// Tells which imports stay, as they need somebody.
fn tell_kept(context: &Context<'_>, choice: &Choice) {
    let number = choice.kept.len() as u64;
    if number == 0 {
        return;
    }
    let shown: Vec<String> = choice.kept.iter().take(LISTED).map(ToString::to_string).collect();
    let more = choice.kept.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
    context.terminal.result(format!(
        "not removed, because rows still need you or wait: {} {}{more}",
        if number == 1 { "import" } else { "imports" },
        shown.join(", ")
    ));
    context.terminal.hint(context.advice("to see what they need: ", "status --unfinished"));
}

/// What was removed, or would be.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct PruneSummary<'a> {
    /// Whether nothing was removed, only listed.
    dry_run: bool,
    /// What is older than this is removed.
    before: Rfc3339,
    /// The imports.
    imports: Vec<PrunedImport>,
    /// Their reports.
    reports: &'a [&'a OldFolder],
    /// Records of requests.
    requests: u64,
    /// Records of runs.
    runs: u64,
    /// Days of the quota.
    days: u64,
    /// Notifications.
    notifications: u64,
    /// Those of them that were never delivered.
    undelivered: u64,
    /// Old imports that are kept because they are not finished.
    kept: &'a [ImportId],
    /// Original files.
    originals: Vec<PrunedFile<'a>>,
    /// Sizes in bytes.
    bytes: PrunedBytes,
}

/// An old import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PrunedImport {
    import: ImportId,
    /// Its rows.
    rows: u64,
}

/// An old original.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PrunedFile<'a> {
    /// The file.
    file: &'a Path,
    /// Its size in bytes.
    bytes: u64,
}

/// What pruning frees.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PrunedBytes {
    /// Of reports.
    reports: u64,
    /// In the journal.
    journal: u64,
    /// By which the journal became smaller.
    given_back: u64,
    /// That the journal uses now.
    journal_in_use: u64,
}
