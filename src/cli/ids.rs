//! The ids by which sheets name records of the service: looked up before rows are imported and before a run sends them, and
//! what that showed is reported with the cells.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::context::Context;
use crate::advice::Advice;
use crate::ending::End;
use crate::error::Result;
use crate::import::Examined;
use crate::journal::{Journal, Named, NamingRow, RunId};
use crate::model::id::RemoteId;
use crate::model::id::check::{IdCheck, NamedId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::verdict::{Rejection, Violation};
use crate::run::{Ending, ListAhead, look_up_of, sign_in, verify_ids};
use crate::service::{Client, Rate, ReadError, ServiceReader};
use crate::sheet::finding::Code;
use crate::sheet::{Mapped, address, column_of_role, meaning};
use crate::term::{count, counted};

/// Ids that are looked up before the rows are imported: some twenty seconds' worth. More are looked up after it, when what was
/// shown is kept while the look-ups go on.
const MOST_BEFORE_IMPORT: usize = 2_000;
/// From so many on it is said that ids are looked up.
const SAID: usize = 200;
/// Ids that are shown one by one, and rows of each.
const SHOWN: usize = 20;
const ROWS_SHOWN: usize = 5;

/// Which of the ids that rows name are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those that the journal does not know. What it knows is looked up before a run, if a row that waits names it.
    New,
    /// Those that no look-up has shown.
    Unverified,
    /// All of them.
    All,
}

/// The ids by which usable rows name records that no row makes.
pub(super) fn named(examined: &Examined, journal: Option<&Journal>, wanted: Wanted) -> Result<Vec<NamedId>> {
    let mut ids = Vec::new();
    for id in examined.checked().named_ids() {
        let known = match (journal, wanted) {
            (None, _) | (Some(_), Wanted::All) => false,
            (Some(journal), wanted) => journal.is_named(id, wanted == Wanted::Unverified)?,
        };
        if !known {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Looks ids up before their rows are imported, and lists what is below one of them meanwhile, where that is asked for. Nothing,
/// where there are very many or the service cannot be asked: they are looked up before they are sent.
pub(super) async fn before_import(
    context: &Context<'_>,
    asked: (&Client, Rate),
    ids: Vec<NamedId>,
    parent: Option<RemoteId>,
) -> Result<(Option<IdCheck>, Option<ListAhead>)> {
    if ids.is_empty() || ids.len() > MOST_BEFORE_IMPORT {
        return Ok((None, None));
    }
    let list = async { ListAhead::below(asked.0, &*context.clock, parent?).await };
    let mut each = |_: &IdCheck| Ok(());
    let (check, list) = tokio::join!(look_up(context, asked, ids, &mut each), list);
    Ok((check?.ok(), list))
}

/// Signs in for the run with this entry, and looks up what waiting rows name and no look-up has shown yet. If the service
/// does not have a record, the rows that name it are rejected, with their cells, and nothing is sent.
pub(super) async fn before_run(
    context: &Context<'_>,
    (client, rate): (&Client, Rate),
    (journal, run): (&mut Journal, RunId),
    asked_before: &IdCheck,
) -> Result<Option<Ending>> {
    let mut ids = journal.unverified_ids()?;
    if ids.is_empty() {
        return Ok(None);
    }
    // What had no answer a moment ago is not waited for again.
    let mut failed = asked_before.failed.clone();
    failed.retain(|id, _| ids.contains(id));
    ids.retain(|id| !failed.contains_key(id));
    // A service that cannot be reached is left to the run, which waits for it and tells how it ends.
    let tell = |text: &str| context.terminal.say(text);
    if !ids.is_empty() && sign_in(client, &*context.clock, (&mut *journal, run), tell).await.is_err() {
        return Ok(None);
    }
    let at = context.now();
    let check = look_up(context, (client, rate), ids, &mut |round| {
        if round.verified.is_empty() { Ok(()) } else { journal.note_verified(&round.verified, at) }
    })
    .await?;
    let Ok(mut check) = check else { return Ok(None) };
    check.failed.append(&mut failed);
    tell_not_verified(context, &check);
    if check.absent.is_empty() {
        return Ok(None);
    }
    tell_absent(context, journal, &check)?;
    let rejection = |of_row, named: &Named| {
        let violations: Vec<Violation> = named
            .iter()
            .map(|&((kind, id), role)| Violation {
                path: column_of_role(of_row, role).to_owned(),
                message: format!("the service has no {} with the id {id}", kind.singular()),
            })
            .collect();
        let mut messages: Vec<&str> = violations.iter().map(|violation| violation.message.as_str()).collect();
        // A row may name one record in two ways.
        messages.dedup();
        let message = messages.join("; ");
        Rejection { code: Code::RefUnknownId.as_str().to_owned(), message, violations }
    };
    let absent: Vec<NamedId> = check.absent.iter().copied().collect();
    let rejected = journal.reject_naming(&absent, &rejection, at)?;
    let find = find_again(context, &check);
    let ending = Ending::Stopped {
        end: End::UnknownIds,
        why: format!(
            "{} unknown to the service; {} rejected and nothing was sent",
            counted(check.absent.len() as u64, "id is", "ids are"),
            counted(rejected, "row was", "rows were")
        ),
        hint: format!(
            "find the right ids with `{}` and correct the rejected rows; the next run sends the others",
            find.join("`, `")
        ),
    };
    Ok(Some(ending))
}

/// The commands that find the id of a record by its name, one for each kind of which an id is unknown.
fn find_again(context: &Context<'_>, check: &IdCheck) -> Vec<String> {
    let kinds: BTreeSet<Kind> = check.absent.iter().map(|(kind, _)| *kind).collect();
    kinds.into_iter().map(|kind| context.again(&format!("find {} NAME", kind.plural()))).collect()
}

/// Says how the right ids are found, where the service has none of these.
pub(super) fn tell_how_to_find(context: &Context<'_>, check: Option<&IdCheck>) {
    if let Some(check) = check.filter(|check| !check.absent.is_empty()) {
        let mut advice = Advice::from("to find the right ids: ");
        for (nth, command) in find_again(context, check).into_iter().enumerate() {
            advice = advice.words(if nth == 0 { "" } else { ", " }).command(command);
        }
        context.terminal.hint(advice);
    }
}

/// Looks ids up; the inner error says why the service cannot be asked.
pub(super) async fn look_up(
    context: &Context<'_>,
    (client, rate): (&Client, Rate),
    ids: Vec<NamedId>,
    each: &mut dyn FnMut(&IdCheck) -> Result<()>,
) -> Result<std::result::Result<IdCheck, ReadError>> {
    let reader = ServiceReader::new(client.clone(), Arc::clone(&context.clock), rate, Duration::ZERO);
    if ids.iter().any(|id| look_up_of(*id, &|operation| reader.available(operation)).is_some())
        && let Err(error) = reader.sign_in().await
    {
        return Ok(Err(error));
    }
    if ids.len() >= SAID {
        context.terminal.say(format!(
            "looking up {} that the sheets name, before anything is sent",
            counted(ids.len() as u64, "id", "ids")
        ));
    }
    Ok(Ok(verify_ids(&reader, &*context.clock, ids, each).await?))
}

/// Tells which ids could not be verified, and why.
fn tell_not_verified(context: &Context<'_>, check: &IdCheck) {
    for line in unreachable(&check.unreachable.iter().copied().collect::<Vec<_>>()) {
        context.terminal.say(line);
    }
    tell_failed(context, check);
}

fn tell_failed(context: &Context<'_>, check: &IdCheck) {
    let mut failed: BTreeMap<(Kind, &str), u64> = BTreeMap::new();
    for ((kind, _), why) in &check.failed {
        *failed.entry((*kind, why)).or_default() += 1;
    }
    for ((kind, why), number) in failed {
        context.terminal.warn(format!(
            "{} not verified: {why}; if one is wrong, the service rejects the rows that name it",
            counted(
                number,
                &format!("id of a {} was", kind.singular()),
                &format!("ids of {} were", kind.plural())
            )
        ));
    }
}

/// The ids that no operation within reach looks up, in words: a line for each kind.
fn unreachable(ids: &[NamedId]) -> Vec<String> {
    let line = |(kind, number): (Kind, u64)| {
        let operation = kind.descriptor().by_id.map_or("a look-up", Operation::name);
        format!(
            "{} cannot be verified: {operation} has no known path in this profile",
            counted(number, &format!("id of a {}", kind.singular()), &format!("ids of {}", kind.plural()))
        )
    };
    IdCheck::by_kind(ids).into_iter().map(line).collect()
}

/// Of these ids, those that no operation within reach looks up, in words.
pub(super) fn unreachable_of(ids: &[NamedId], available: &dyn Fn(Operation) -> bool) -> Vec<String> {
    let ids: Vec<NamedId> = ids.iter().copied().filter(|id| look_up_of(*id, available).is_none()).collect();
    unreachable(&ids)
}

/// Tells with a plan what a look at all ids has shown, where there was one, and which ids no look-up shows. The cells of ids
/// that the service does not have are findings.
pub(super) fn tell_of_plan(context: &Context<'_>, check: Option<&IdCheck>, cannot_be_verified: Vec<String>) {
    if let Some(check) = check {
        let (verified, absent) = (check.verified.len() as u64, check.absent.len() as u64);
        let failed = check.failed.len() as u64;
        context.terminal.result(format!(
            "{} looked up: {} verified, {} unknown to the service, {} without an answer",
            counted(verified + absent + failed, "id", "ids"),
            count(verified),
            count(absent),
            count(failed)
        ));
        tell_failed(context, check);
    }
    for line in cannot_be_verified {
        context.terminal.result(line);
    }
}

/// How many ids a look has verified, for programs.
pub(super) fn figures(check: &IdCheck) -> IdFigures {
    IdFigures {
        verified: check.verified.len(),
        unknown: check.absent.len(),
        not_answered: check.failed.len(),
        no_look_up: check.unreachable.len(),
    }
}

/// Tells the rows that name records which the service does not have.
fn tell_absent(context: &Context<'_>, journal: &Journal, check: &IdCheck) -> Result<()> {
    let terminal = context.terminal;
    for (number, &(kind, id)) in check.absent.iter().enumerate() {
        let (rows, naming) = journal.rows_naming((kind, id), ROWS_SHOWN)?;
        let places: Vec<String> = rows.iter().map(place).collect();
        let code = Code::RefUnknownId;
        terminal.object(&UnknownIdObject { code, kind, id, rows: naming, places: &places });
        if number < SHOWN {
            let more = naming - rows.len() as u64;
            let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
            terminal.warn(format!(
                "{}: the service has no {} with the id {id}, which {}{more} {}",
                Code::RefUnknownId,
                kind.singular(),
                places.join(", "),
                if naming == 1 { "names" } else { "name" }
            ));
        }
    }
    if check.absent.len() > SHOWN {
        terminal.warn(format!("and {} more ids", count((check.absent.len() - SHOWN) as u64)));
    }
    if !check.absent.is_empty() {
        terminal.hint(Advice::from("what it means: ").command(context.again("explain ref.unknown-id")));
    }
    Ok(())
}

/// The cell that names the record, as a spreadsheet shows it; the row, where a default stands for the cell.
fn place(row: &NamingRow) -> String {
    let sheet =
        row.worksheet.as_ref().map_or_else(|| row.file.clone(), |sheet| format!("{}!{sheet}", row.file));
    let name = column_of_role(row.kind, row.role);
    let is_it =
        |mapped: &Mapped| matches!(mapped, Mapped::Column { column, entry: None } if column.name == name);
    match meaning(row.kind, &row.headers).iter().position(is_it) {
        Some(column) => format!("{sheet}!{}", address(column, row.row)),
        None => format!("{sheet}, row {}", row.row),
    }
}

/// What a look-up of ids has shown.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct IdFigures {
    /// Ids that the service knows.
    verified: usize,
    /// Ids that it does not know.
    unknown: usize,
    /// Ids of which no answer came.
    not_answered: usize,
    /// Ids that no operation within reach looks up.
    no_look_up: usize,
}

/// An id that the sheets name and the service does not know.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct UnknownIdObject<'a> {
    code: Code,
    kind: Kind,
    /// The id.
    id: RemoteId,
    /// How many rows name it.
    rows: u64,
    /// The first cells that do: `file!sheet!cell`.
    places: &'a [String],
}
