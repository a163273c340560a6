//! The tables that pages of `docs/` have from the program, between markers: columns in `sheets.md`, the ways a command can
//! end in `scheduling.md`. The rest of those pages is written by hand.

use std::fmt::Write as _;

use fleetload::ending::End;
use fleetload::model::kind::Kind;
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
    for end in End::ALL.map(End::entry) {
        let (code, state) = (end.exit.code(), end.state.as_str());
        writeln!(table, "| {code} | `{state}` | `{}` | {} |", end.reason, end.words)?;
    }
    table.push('\n');
    Ok(table)
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
