//! `fleetload import`, and the import at the start of a run: all rows into the journal, or every problem told.

pub(super) mod check;
pub(super) mod files;
pub(super) mod objects;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use self::objects::{
    FileFormat, ImportSummary, ImportedObject, ReadFile, ReadSheet, ReadSheets, RefusedSheetsSummary,
};
use crate::advice::Advice;
use crate::cli::args::commands::{Import as Typed, TurnArgs};
use crate::cli::args::options::ReadingArgs;
use crate::cli::context::Context;
use crate::cli::decide::turn::refuse_too_much;
use crate::cli::findings::mapping;
use crate::cli::findings::remedy::remedy;
use crate::cli::findings::{self, FindingCounts};
use crate::cli::ids::{self, Wanted};
use crate::cli::plan::dry_run::survey;
use crate::cli::plan::saved;
use crate::cli::run::preconditions;
use crate::cli::settings::reading::ReadingSettings;
use crate::cli::status::next_commands;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::import::{Examined, Outcome, examine, import_when};
use crate::journal::{Account, ImportInfo, Imported, Journal, was_there};
use crate::model::id::ImportId;
use crate::model::id::check::{IdCheck, NamedId};
use crate::model::kind::{Kind, Plural};
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::zone::ZoneList;
use crate::plan::{Demand, SavedPlan, ability, order};
use crate::sheet::cross_row::Checked;
use crate::sheet::finding::{Code, Findings};
use crate::sheet::{Format, Options, RowUse, Table};
use crate::status::Status;
use crate::status::row_words;
use crate::term::{Ink, Line, count, counted};

/// The column of time zones.
const TIMEZONE: &str = "timezone";

/// Imports files and sends nothing.
pub(super) fn import_only(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    preconditions::refuse_unsafe_storage(context)?;
    let files = files::expand(context, &typed.files)?;
    if let Some(creations) = typed.reserve {
        refuse_too_much(context, existing(context)?.as_ref(), None, creations)?;
    }
    let turn = (typed.label.as_deref(), &typed.turn, typed.reserve);
    let (journal, imported) = match import(context, &files, turn, &typed.reading, None)? {
        Ok(imported) => imported,
        Err(refused) => return Ok(refused),
    };
    let status = Status::now(&journal, Some(imported.import), context.now())?;
    next_commands::tell_next(context, &status);
    Ok(Summary::new(End::Done).with(&ImportSummary { import: imported.import, rows: imported.rows }))
}

/// Reads and checks files, offline; references may lead to records of the journal, when there is one.
pub(super) fn read(
    context: &Context<'_>,
    row_use: RowUse,
    files: &[PathBuf],
    manner: &ReadingSettings,
    journal: Option<&Journal>,
) -> Result<Examined> {
    if let Some(kept) = manner.kept_in() {
        context.terminal.say(format!("read as {kept} says"));
    }
    let options = Options { row_use, ..listed(context, manner) };
    let examined = examine(files, &options, journal)?;
    for option in idle(&examined, manner) {
        let files = if option == "--worksheet" { "workbooks" } else { "text tables" };
        context.terminal.warn(format!("{option} says nothing here: it is for {files}, and there is none"));
    }
    mapping::tell_unmatched(context, &examined, manner.typed());
    Ok(examined)
}

/// The options that were typed and say nothing about these files.
fn idle(examined: &Examined, manner: &ReadingSettings) -> Vec<&'static str> {
    let formats: Vec<Format> = examined.files().map(|file| file.format.clone()).collect();
    manner.idle(&formats)
}

/// How sheets are read; programs are told every finding, people the first of many.
fn listed(context: &Context<'_>, manner: &ReadingSettings) -> Options {
    Options { list_all: context.terminal.json(), ..manner.options.clone() }
}

/// The journal of the common options, unless it is not there yet. Where a run has saved a copy of it, or its log is left, it
/// was there.
pub(super) fn existing(context: &Context<'_>) -> Result<Option<Journal>> {
    let path = &context.common.journal;
    if !was_there(path) {
        return Ok(None);
    }
    let journal = Journal::open_existing(path)?;
    context.note_whose(&journal)?;
    Ok(Some(journal))
}

/// Looks up ids that these sheets name; nothing where they are looked up later.
pub(super) type LookUp<'a> = dyn Fn(&Checked, Vec<NamedId>) -> Result<Option<IdCheck>> + 'a;

/// What a run knows of the service before anything is brought in.
pub(super) struct ServiceFacts<'a> {
    /// The operations whose place is known.
    pub(super) available: &'a dyn Fn(Operation) -> bool,
    pub(super) account: &'a Account,
    /// Asks for the time zones; nothing where that cannot be.
    pub(super) zones: &'a dyn Fn() -> Option<ZoneList>,
    pub(super) look_up: &'a LookUp<'a>,
    /// The plan that must be kept to.
    pub(super) plan: Option<&'a SavedPlan>,
}

/// Puts files into the journal; when they have problems, which were told, how the command ended. With a service, rows that need
/// an operation whose place nobody knows are refused before anything is imported. What was planned for the files is held
/// against what comes of them now, for its account.
pub(super) fn import(
    context: &Context<'_>,
    files: &[PathBuf],
    (label, turn, reserve): (Option<&str>, &TurnArgs, Option<u64>),
    reading: &ReadingArgs,
    service: Option<&ServiceFacts<'_>>,
) -> Result<std::result::Result<(Journal, Imported), Summary>> {
    let mut manner = reading.settle(context)?;
    let mut examined = read(context, RowUse::Import, files, &manner, existing(context)?.as_ref())?;
    if !examined.findings.forbid_import(manner.skip_invalid)
        && let Some(service) = service
        && wants_zones(context, &examined, &manner)
        && let Some(zones) = (service.zones)()
    {
        let is_the_same = manner.options.zones.is_none() && examined.would_be_the_same_with(&zones);
        manner.options.zones = Some(Arc::new(zones));
        if !is_the_same {
            examined = examine(files, &listed(context, &manner), existing(context)?.as_ref())?;
        }
    }
    let mut verified = None;
    if !examined.findings.forbid_import(manner.skip_invalid)
        && let Some(service) = service
        && has_all(&examined, service.available)
    {
        let journal = existing(context)?;
        let ids = ids::named(&examined, journal.as_ref(), Wanted::New)?;
        verified = (service.look_up)(examined.checked(), ids)?;
        if let Some(check) = verified.as_ref().filter(|check| !check.absent.is_empty()) {
            manner.options.ids = Some(Arc::new(check.clone()));
            examined = examine(files, &listed(context, &manner), journal.as_ref())?;
        }
    }
    if examined.findings.forbid_import(manner.skip_invalid) {
        return Ok(Err(refuse(context, &examined.findings, &manner)));
    }
    examined.reading = context.reading.borrow().clone();
    examined.label = label.map(str::to_owned);
    let available = service.map(|service| service.available);
    let account = service.map(|service| service.account);
    let agreed = service.and_then(|service| service.plan);
    let planned = agreed.cloned().or_else(|| saved::of(context, &examined));
    let lacking = available.filter(|available| !has_all(&examined, available));
    if let Some(available) = lacking
        && !context.common.journal.exists()
    {
        require(&demand(&examined)?.unavailable(available))?;
    }
    let mut journal = Journal::open(&context.common.journal)?;
    context.at_journal.set(true);
    let now = context.now();
    let mut since_plan = None;
    let outcome = import_when(&examined, &mut journal, manner.skip_invalid, now, &mut |writer| {
        turn.priority.map_or(Ok(()), |priority| writer.priority(priority))?;
        reserve.map_or(Ok(()), |creations| writer.reserve(creations))?;
        // Rows that are for one account never stand in the journal without it.
        account.map_or(Ok(()), |account| writer.bind(account))?;
        if planned.is_none() && lacking.is_none() {
            return Ok(());
        }
        let mut surveyed = survey(writer, &examined, now)?;
        let anything = |_| true;
        saved::complete(&mut surveyed, account, available.unwrap_or(&anything));
        if lacking.is_some() {
            require(&surveyed.promise.unavailable)?;
        }
        if let Some(agreed) = agreed {
            saved::require(context, agreed, &surveyed.promise)?;
        }
        if let (None, Some(planned)) = (available, &planned) {
            // Without a profile nobody knows what is available.
            surveyed.promise.unavailable.clone_from(&planned.unavailable);
        }
        since_plan = Some(surveyed.promise);
        Ok(())
    })?;
    match outcome {
        Outcome::Imported(imported, placed) => {
            examined.take(placed);
            if let Some(check) = verified.filter(|check| !check.verified.is_empty()) {
                journal.note_verified(&check.verified, now)?;
            }
            if service.is_none() {
                context.tell_compared();
            }
            findings::tell(context, &examined.findings, manner.redact);
            tell_sheets(context, &examined, &manner);
            let info = next_commands::import(&journal, imported.import)?;
            tell_imported(context, &journal, &info, &imported)?;
            tell_turn(context, &info, (turn, reserve));
            tell_taken_from_paused(context, &journal, imported.import)?;
            if let (Some(planned), Some(now)) = (planned, since_plan) {
                saved::tell(context, &planned, &now);
                saved::forget(context);
            }
            Ok(Ok((journal, imported)))
        }
        Outcome::Refused(refusals) => Ok(Err(refuse(context, &refusals, &manner))),
    }
}

/// Whether there are time zones in the sheets, and the service has not said of late which it has.
fn wants_zones(context: &Context<'_>, examined: &Examined, manner: &ReadingSettings) -> bool {
    let options = &manner.options;
    let is_fresh =
        options.zones.as_ref().is_some_and(|list| crate::cli::zones::is_fresh(list, context.now()));
    let mut tables = examined.books().iter().flat_map(|book| &book.tables);
    !is_fresh
        && tables.any(|table| {
            table.position(TIMEZONE).is_some() || options.default_for(table.kind, TIMEZONE).is_some()
        })
}

fn refuse(context: &Context<'_>, refusals: &Findings, manner: &ReadingSettings) -> Summary {
    let found = FindingCounts::of(refusals);
    findings::tell(context, refusals, manner.redact);
    let terminal = context.terminal;
    terminal.result(
        Line::new().ink(Ink::Error, found.words()).text("; nothing was imported and nothing was sent"),
    );
    findings::tell_explain(context, refusals);
    let whole = refusals.of_the_whole();
    if manner.skip_invalid && !whole.is_empty() {
        let codes: Vec<&str> = whole.iter().map(|code| code.as_str()).collect();
        terminal.hint(format!(
            "--skip-invalid is for rows with errors; it does not help if a whole file or sheet is wrong: {}",
            codes.join(", ")
        ));
    }
    ids::tell_how_to_find(context, manner.options.ids.as_deref());
    terminal.hint(format!("{}, then type the command again", remedy(refusals)));
    Summary::new(End::Sheets).with(&RefusedSheetsSummary { found })
}

/// Tells the sheets that were read, and how, where that was not as anybody would expect.
pub(super) fn tell_sheets(context: &Context<'_>, examined: &Examined, manner: &ReadingSettings) {
    let tables = examined.books().iter().flat_map(|book| &book.tables);
    for (sheet, table) in examined.sheets.iter().zip(tables) {
        let left_out = sheet.rows - sheet.usable;
        let wrong = match (left_out, referring(&examined.findings, table)) {
            (0, _) => String::new(),
            (left_out, 0) => format!(", {} cannot be used", count(left_out)),
            (left_out, referring) if referring == left_out => {
                format!(", {} cannot be used because of what they refer to", count(left_out))
            }
            (left_out, referring) => format!(
                ", {} cannot be used, {} of them because of what they refer to",
                count(left_out),
                count(referring)
            ),
        };
        context.terminal.result(format!(
            "{}, {}: {}{wrong}",
            sheet.file,
            sheet.name,
            counted(sheet.rows, &format!("row of {}", sheet.kind), &format!("rows of {}", sheet.kind))
        ));
        if let Some(read) = mapping::reading_of(examined, table) {
            context.terminal.result(format!("  read with {read}"));
        }
        for (number, columns) in mapping::told(table, manner).into_iter().enumerate() {
            let label = if number == 0 { "columns:" } else { "        " };
            context.terminal.result(format!("  {label} {columns}"));
        }
    }
    for book in examined.books() {
        for (at, sheets) in mapping::not_read(book).into_iter().enumerate() {
            let before = if at == 0 { format!("{}, not read: ", book.file.name) } else { "  ".to_owned() };
            context.terminal.result(format!("{before}{sheets}"));
        }
    }
}

/// How many rows of a table cannot be used only because of a row or a sheet that they refer to.
fn referring(findings: &Findings, table: &Table) -> u64 {
    let groups = findings.groups().iter().filter(|group| {
        let key = &group.key;
        key.code == Code::RefTargetInvalid && key.file == table.file && key.sheet == table.worksheet
    });
    groups.map(|group| group.count as u64).sum()
}

/// The files and sheets as programs read them.
pub(super) fn read_sheets(examined: &Examined, manner: &ReadingSettings) -> ReadSheets {
    let files = examined.books().iter().map(|book| {
        let file = &book.file;
        let (format, encoding, delimiter) = match &file.format {
            Format::Workbook => (FileFormat::Workbook, None, None),
            Format::Text { encoding, delimiter } => {
                (FileFormat::Text, Some(encoding.name()), Some(delimiter.to_string()))
            }
        };
        ReadFile {
            name: file.name.clone(),
            sha256: file.sha256.clone(),
            bytes: file.bytes,
            format,
            encoding,
            delimiter,
        }
    });
    let tables = examined.books().iter().flat_map(|book| &book.tables);
    let sheets = examined.sheets.iter().zip(tables).map(|(sheet, table)| ReadSheet {
        name: sheet.name.clone(),
        file: sheet.file.clone(),
        kind: Plural(sheet.kind),
        rows: sheet.rows,
        usable: sheet.usable,
        header_row: table.header_row,
        columns: mapping::read_columns(table, &manner.options),
        defaults: mapping::column_defaults(table, manner),
    });
    ReadSheets {
        files: files.collect(),
        sheets: sheets.collect(),
        not_read: mapping::sheets_not_read(examined),
    }
}

fn tell_imported(
    context: &Context<'_>,
    journal: &Journal,
    info: &ImportInfo,
    imported: &Imported,
) -> Result<()> {
    let terminal = context.terminal;
    let mut parts = vec![format!("{} new", count(imported.added))];
    for (number, words) in [
        (imported.revised, "corrected"),
        (imported.recognised, "known and unchanged"),
        (imported.changed_since, "known, with other values"),
    ] {
        if number > 0 {
            parts.push(format!("{} {words}", count(number)));
        }
    }
    if imported.answered > 0 {
        let words = row_words::without_errors_before(imported.answered);
        parts.push(format!("{} {words}", count(imported.answered)));
    }
    let [own, along] = [JobState::Rejected, JobState::Skipped].map(|state| imported.left_out.in_state(state));
    if own + along > 0 {
        parts.push(row_words::with_along(
            format!("{} not imported because of errors", count(own)),
            own,
            along,
        ));
    }
    let round = info.round_words().map_or_else(String::new, |words| format!(", {words}"));
    terminal.result(Line::plain("import ").ink(Ink::Strong, info.named()).text(format!(
        "{round}: {}, {}",
        counted(imported.rows, "row", "rows"),
        parts.join(", ")
    )));
    if imported.changed_since > 0 {
        terminal.warn(format!(
            "{} from what was imported earlier; {} values are not sent",
            counted(imported.changed_since, "row differs", "rows differ"),
            if imported.changed_since == 1 { "its" } else { "their" }
        ));
    }
    // Of a new row nothing is cancelled yet.
    let cancelled = imported.tally.in_state(JobState::Cancelled);
    if cancelled > 0 {
        let (are, them, stay) = match cancelled {
            1 => ("is", "it", "it is"),
            _ => ("are", "them", "they are"),
        };
        let rows = counted(cancelled, "row", "rows");
        let made = match journal.cancelled_with_record(Some(imported.import))? {
            0 => String::new(),
            made => {
                let (one, many) = ("of them has a record and stays so", "of them have a record and stay so");
                format!("; {}, also when changed", counted(made, one, many))
            }
        };
        terminal.warn(format!(
            "{rows} {are} cancelled: nothing is sent for {them} as long as {stay} unchanged{made}"
        ));
        terminal.hint(context.advice("how to have them sent: ", "explain cancelled"));
    }
    terminal.object(&ImportedObject {
        import: imported.import,
        label: info.label(),
        round: info.round,
        round_of: info.round_of,
        rows: imported.rows,
        added: imported.added,
        revised: imported.revised,
        recognised: imported.recognised,
        changed_since: imported.changed_since,
    });
    Ok(())
}

/// Tells the priority and the reserve that a further round has from the one before it.
fn tell_turn(context: &Context<'_>, info: &ImportInfo, (turn, reserve): (&TurnArgs, Option<u64>)) {
    if info.round_of.is_none() {
        return;
    }
    let import = info.import;
    if turn.priority.is_none() && info.priority != 0 {
        context.terminal.say(format!("priority {}, as the round before it had", info.priority));
        context.terminal.hint(context.advice("without it: ", &format!("priority {import} 0")));
    }
    if reserve.is_none() && info.reserve != 0 {
        context
            .terminal
            .say(format!("a reserve of {} creations a day, as the round before it had", count(info.reserve)));
        context.terminal.hint(context.advice("without it: ", &format!("reserve {import} 0")));
    }
}

/// Tells which rows of an import are not paused any more, as they belonged to a paused import before.
fn tell_taken_from_paused(context: &Context<'_>, journal: &Journal, import: ImportId) -> Result<()> {
    for (paused, rows) in journal.taken_from_paused(import)? {
        let (rows, they, belong) = match rows {
            1 => (counted(1, "row", "rows"), "it is", "belongs"),
            _ => (counted(rows, "row", "rows"), "they are", "belong"),
        };
        context.terminal.result(format!(
            "{rows} of import {paused}, which is paused, came again: {they} not paused any more and {belong} to import {import}"
        ));
    }
    Ok(())
}

/// What the usable rows of examined files ask of the service. Reads the files again.
fn demand(examined: &Examined) -> Result<Demand> {
    let mut demand = Demand::default();
    let mut number = 0;
    for book in examined.books() {
        for table in &book.tables {
            book.read(table, &mut |row| {
                if examined.checked().is_usable(number)
                    && let Some(draft) = row.draft
                {
                    demand.add(table.kind, &draft.steps);
                }
                number += 1;
                Ok(())
            })?;
        }
    }
    Ok(demand)
}

/// Whether everything that rows of these kinds could need is there, so that nobody need look at each of them.
fn has_all(examined: &Examined, available: &dyn Fn(Operation) -> bool) -> bool {
    let kinds: BTreeSet<Kind> = examined.sheets.iter().map(|sheet| sheet.kind).collect();
    // Devices may name templates and clouds, which lists show.
    let lists = [Operation::ListAssignableTemplates, Operation::ListJoinableVpnClouds];
    kinds.iter().all(|&kind| ability::could_send(kind).all(available))
        && (!kinds.contains(&Kind::Device) || lists.into_iter().all(available))
}

/// Refuses what needs an operation whose place is neither documented nor mapped.
fn require(missing: &[Operation]) -> Result<()> {
    if missing.is_empty() { Ok(()) } else { Err(unavailable(missing)) }
}

/// The error about operations whose place nobody knows, in the order in which they are listed everywhere.
pub(super) fn unavailable(missing: &[Operation]) -> Error {
    let mut missing = missing.to_vec();
    missing.sort_by_key(|&operation| order(operation));
    missing.dedup();
    let names: Vec<&str> = missing.iter().map(|operation| operation.name()).collect();
    let ask = Advice::from("ask the provider for method and path and set them in the profile:\n");
    let hint = missing.iter().fold(ask, |advice, operation| {
        advice.command(format!("[profile.NAME.endpoints.{operation}]")).words("\n")
    });
    Error::usage(format!(
        "the sheets need {}, whose path is neither documented nor in the profile; nothing was imported",
        names.join(", ")
    ))
    .ending(End::EndpointUnknown)
    .hint(hint.words("or set paths = \"assumed\" to use the paths that the service's naming suggests"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_the_key_to_set() {
        let error = unavailable(&[Operation::AddSite, Operation::PutSiteLabels]);
        assert_eq!(
            error.what(),
            "the sheets need addSite, putSiteLabels, whose path is neither documented nor in the profile; nothing was imported"
        );
        assert!(error.next_step().unwrap_or_default().contains("[profile.NAME.endpoints.addSite]"));
    }
}
