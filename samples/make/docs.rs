//! The tables that pages of `docs/` have from the program, between markers: columns in `sheets.md`, the ways a command can
//! end in `scheduling.md`, the operations that change something in `guarantees.md`. The rest of those pages is written by hand.

use std::fmt::Write as _;

use fleetload::ending::End;
use fleetload::model::action::Repeat;
use fleetload::model::descriptor::ActionDescriptor;
use fleetload::model::kind::Kind;
use fleetload::model::operation::Operation;
use fleetload::sheet::column::{Form, Need, columns};
use fleetload::status::catalogue::{Scope, of_scope};

use super::Result;

/// `sheets.md` or `upkeep.md` with its tables of the columns of these kinds made again.
pub(crate) fn renew_columns(page: &str, kinds: &[Kind]) -> Result<String> {
    let mut page = page.to_owned();
    for &kind in kinds {
        replace(&mut page, &format!("columns of {kind}"), &format!("end of {kind}"), &table(kind)?)?;
    }
    Ok(page)
}

/// `scheduling.md` with its tables made again.
pub(crate) fn renew_endings(page: &str) -> Result<String> {
    let mut page = page.to_owned();
    replace(&mut page, "exit codes", "end of exit codes", &exit_codes()?)?;
    replace(&mut page, "reasons", "end of reasons", &reasons()?)?;
    Ok(page)
}

/// `metrics.md` with its table made again.
pub(crate) fn renew_metrics(page: &str) -> Result<String> {
    let mut page = page.to_owned();
    replace(&mut page, "metrics", "end of metrics", &fleetload::metrics::table())?;
    Ok(page)
}

/// `guarantees.md` with its table of the operations that change something made again.
pub(crate) fn renew_writing(page: &str) -> Result<String> {
    let mut page = page.to_owned();
    replace(&mut page, "operations that change something", "end of operations", &writing()?)?;
    Ok(page)
}

/// Puts a table between two markers of a page.
fn replace(page: &mut String, begin: &str, end: &str, table: &str) -> Result<()> {
    let (begin, end) = (format!("<!-- {begin} -->\n"), format!("<!-- {end} -->"));
    let start = page.find(&begin).ok_or_else(|| format!("the page has no line {begin}"))? + begin.len();
    let length = page[start..].find(&end).ok_or_else(|| format!("the page has no line {end}"))?;
    page.replace_range(start..start + length, table);
    Ok(())
}

fn exit_codes() -> Result<String> {
    let mut table = String::from("\n| code | what it means | what to do |\n|---|---|---|\n");
    for entry in of_scope(Scope::Exits) {
        writeln!(table, "| {} | {} | {} |", entry.code, entry.words, entry.advice("JOB", "IMPORT"))?;
    }
    table.push('\n');
    Ok(table)
}

fn reasons() -> Result<String> {
    let mut table =
        String::from("\n| `exit_code` | `state` | `reason` | what it means |\n|---|---|---|---|\n");
    for end in End::ALL {
        let (code, state) = (end.exit().code(), end.state().as_str());
        writeln!(table, "| {code} | `{state}` | `{}` | {} |", end.as_str(), end.entry().words)?;
    }
    table.push('\n');
    Ok(table)
}

fn writing() -> Result<String> {
    let mut table = String::from(
        "\n| operation | sent by | look-ups that show whether it was carried out | a second request | because | its answer is lost, and no look-up is available |\n\
         |---|---|---|---|---|---|\n",
    );
    for &operation in Operation::ALL.iter().filter(|operation| operation.changes()) {
        let known = operation.writing().ok_or_else(|| format!("{operation} is not described"))?;
        let is_step = ActionDescriptor::of(operation).is_some();
        let shown: Vec<String> = known.shown_by.iter().map(|by| format!("`{by}`")).collect();
        let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
        let repeat = match known.repeat {
            Repeat::Duplicates => "makes another record",
            Repeat::Refused => "is refused",
            Repeat::Harmless => "changes nothing",
            Repeat::Unknown => "is not known to be harmless",
        };
        writeln!(
            table,
            "| `{operation}` | {} | {shown} | {repeat} | {} ({}) | {} |",
            if is_step { "rows, `call`" } else { "`call`" },
            known.why,
            known.sections,
            without_look_up(operation, is_step),
        )?;
    }
    table.push('\n');
    Ok(table)
}

/// What becomes of a row that is about to be sent by an operation, or whose answer was lost, where no look-up is available.
fn without_look_up(operation: Operation, is_step: bool) -> &'static str {
    match operation {
        _ if !is_step => "unknown, as said above",
        Operation::AddDevice => {
            "on hold; with a MAC address and without a site of its own sent again after `settle_seconds`"
        }
        Operation::DeleteCompanyMetadata
        | Operation::DeleteDeviceMetadata
        | Operation::DeleteSiteMetadata => "rejected before it is sent, since only the look-up shows the id",
        Operation::PutInterfaceLabel | Operation::DeleteInterfaceLabel => {
            "on hold; without `listInterfaces` rejected before it is sent, since only that shows the id"
        }
        _ => "on hold",
    }
}

fn table(kind: Kind) -> Result<String> {
    let mut table =
        String::from("\n| column | needed | holds | what it is | also read |\n|---|---|---|---|---|\n");
    for column in columns(kind) {
        let name = match column.family() {
            Some(_) => format!("{}…", column.name),
            None => column.name.to_owned(),
        };
        let needed = match column.need {
            Need::Required => "**yes**",
            Need::Wanted => "should",
            Need::Conditional => "depends",
            Need::Optional => "",
        };
        let holds = match column.form {
            Form::Enum(values) => {
                values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
            }
            form => form.describe(),
        };
        let also: Vec<String> =
            column.aliases.iter().chain(column.weak_aliases).map(|alias| format!("`{alias}`")).collect();
        writeln!(table, "| `{name}` | {needed} | {holds} | {} | {} |", column.help, also.join(" "))?;
    }
    table.push('\n');
    Ok(table)
}
