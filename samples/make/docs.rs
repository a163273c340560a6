//! The tables that pages of `docs/` have from the program, between markers: columns in `sheets.md`, the ways a command can
//! end in `scheduling.md`, the operations that change something in `guarantees.md`. The rest of those pages is written by hand.

use std::fmt::Write as _;

use fleetload::ending::End;
use fleetload::model::descriptor::ActionDescriptor;
use fleetload::model::kind::Kind;
use fleetload::model::operation::Operation;
use fleetload::sheet::column::{Form, Need, columns};
use fleetload::status::catalogue::{Scope, of_scope};
use serde::Deserialize;

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

/// What is known of an operation that changes something, for when its answer is lost: a line of `writing.csv` (specification 2
/// and 4).
#[derive(Deserialize)]
struct Writing {
    operation: Operation,
    /// The look-ups that show whether it was carried out, best first; none where the service has no such operation.
    shown_by: String,
    /// What a second request does. Of a creation, that of a record without a value that is unique.
    repeat: String,
    why: String,
    /// The sections of the specification that say so.
    sections: String,
}

impl Writing {
    fn all() -> Result<Vec<Self>> {
        let lines = include_str!("writing.csv").as_bytes();
        Ok(csv::Reader::from_reader(lines).deserialize().collect::<std::result::Result<_, _>>()?)
    }
}

fn writing() -> Result<String> {
    let mut table = String::from(
        "\n| operation | sent by | look-ups that show whether it was carried out | a second request | because | its answer is lost, and no look-up is available |\n\
         |---|---|---|---|---|---|\n",
    );
    for Writing { operation, shown_by, repeat, why, sections } in Writing::all()? {
        let is_step = ActionDescriptor::of(operation).is_some();
        let shown: Vec<String> = shown_by.split_whitespace().map(|by| format!("`{by}`")).collect();
        let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
        let sent_by = if is_step { "rows, `call`" } else { "`call`" };
        let without = without_look_up(operation, is_step);
        writeln!(
            table,
            "| `{operation}` | {sent_by} | {shown} | {repeat} | {why} ({sections}) | {without} |"
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The look-ups of an operation that changes something, and what a second request does.
    fn known(operation: Operation) -> (Vec<Operation>, String) {
        let mut all = Writing::all().unwrap().into_iter();
        let Writing { shown_by, repeat, .. } = all.find(|line| line.operation == operation).unwrap();
        (shown_by.split_whitespace().map(|by| by.parse().unwrap()).collect(), repeat)
    }

    #[test]
    fn every_operation_that_changes_something_is_described_and_no_other() {
        let described: Vec<Operation> = Writing::all().unwrap().iter().map(|line| line.operation).collect();
        let changing: Vec<Operation> =
            Operation::ALL.iter().copied().filter(|operation| operation.changes()).collect();
        assert_eq!(described, changing);
        assert_eq!(changing.len(), 32);
    }

    #[cfg(feature = "testing")]
    #[test]
    fn it_says_of_every_operation_what_the_action_says_that_it_carries_out() {
        use fleetload::model::action::Repeat;
        use fleetload::testing;

        for action in testing::actions() {
            for operation in Kind::ALL.into_iter().filter_map(|kind| action.operation(kind)) {
                let (shown_by, repeat) = known(operation);
                let expected = match action.repeat() {
                    Repeat::Duplicates => "makes another record",
                    Repeat::Refused => "is refused",
                    Repeat::Harmless => "changes nothing",
                    Repeat::Unknown => "is not known to be harmless",
                };
                assert_eq!(repeat, expected, "{operation}");
                let shown = |by: &Operation| action.descriptor().shown_by.contains(by);
                assert!(operation.creates() || shown_by.iter().all(shown), "{operation}");
            }
        }
    }

    #[test]
    fn the_look_ups_that_an_action_names_are_those_of_its_operations() {
        for action in ActionDescriptor::ALL {
            for by in action.shown_by {
                let shows = |&(_, operation): &(Kind, Operation)| known(operation).0.contains(by);
                assert!(action.operations.iter().any(shows), "{by} of {}", action.words);
            }
        }
    }

    #[test]
    fn a_look_up_reads_and_a_creation_is_looked_up_as_its_kind_is() {
        for operation in Operation::ALL.iter().copied().filter(|operation| operation.changes()) {
            let (shown_by, _) = known(operation);
            assert!(shown_by.iter().all(|by| !by.changes()), "{operation}");
            if let Some(kind) = operation.makes() {
                let used = kind.descriptor();
                let shown = |by: &Operation| used.look_ups.contains(by) || used.by_id == Some(*by);
                assert!(shown_by.iter().all(shown), "{operation}");
            }
        }
    }
}
