//! `fleetload call --list`: every operation with where it is, how that is known, and whether the profile can reach it.

use serde::Serialize;

use super::operation_help::Takes;
use super::{reckoning, settings};
use crate::cli::args::commands::Call as Typed;
use crate::cli::context::Context;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::Result;
use crate::model::operation::{Operation, Quota};
use crate::service::{Endpoint, Endpoints, Origin};
use crate::term::{Table, count};

/// Lists all operations.
pub(super) fn list(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let endpoints = settings(context, &reckoning(typed)?)?.endpoints()?;
    let mut table = Table::new(&["operation", "section", "method", "path", "known from", "reachable"], &[]);
    let mut narrow = Table::new(&["operation", "section", "method", "known from", "reachable"], &[]);
    for &operation in Operation::ALL {
        let row = Row::of(operation, &endpoints);
        let reachable = if row.reachable { "yes" } else { "no" };
        let (name, section) = (operation.name(), operation.section());
        table.row([name, section, row.method, row.path, row.provenance, reachable]);
        narrow.row([name, section, row.method, row.provenance, reachable]);
        context.terminal.object(&OperationObject::of(operation, &row, None));
    }
    // Where there is no room for paths, they are in the help of each.
    let fits = context.terminal.result_columns().is_none_or(|columns| table.fits(columns));
    for line in if fits { table } else { narrow }.lines() {
        context.terminal.result(line.whole());
    }
    let reachable = Operation::ALL.iter().filter(|operation| endpoints.available(**operation)).count();
    if reachable < Operation::ALL.len() {
        let words = format!(
            "{} of {} operations can be reached; for the others set method and path in \
             [profile.NAME.endpoints.OPERATION], or paths = \"assumed\"",
            count(reachable as u64),
            Operation::ALL.len()
        );
        context.terminal.say(words);
    }
    context.terminal.hint(context.advice("what an operation takes: ", "call OPERATION --help"));
    Ok(Summary::new(End::Done).with(&OperationsSummary { operations: Operation::ALL.len(), reachable }))
}

/// What the list shows of an operation.
pub(super) struct Row<'a> {
    pub(super) method: &'static str,
    pub(super) path: &'a str,
    pub(super) provenance: &'static str,
    pub(super) reachable: bool,
}

impl<'a> Row<'a> {
    /// Of an operation: as the profile has it, or else as the table of operations has it.
    pub(super) fn of(operation: Operation, endpoints: &'a Endpoints) -> Self {
        let endpoint = endpoints.get(operation);
        let is_mapped = endpoint.is_some_and(|endpoint| endpoint.origin() == Origin::Mapped);
        Row {
            method: endpoint.map_or(operation.method(), Endpoint::method).as_str(),
            path: endpoint.map_or(operation.path(), Endpoint::path),
            provenance: if is_mapped { "mapped" } else { operation.provenance().words() },
            reachable: endpoint.is_some(),
        }
    }
}

/// An operation, and whether the profile can reach it.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct OperationObject<'a> {
    operation: Operation,
    /// The section of the specification.
    section: &'static str,
    /// Its method.
    method: &'static str,
    /// Its path.
    path: &'a str,
    /// How the path is known: `documented`, `ending only`, `assumed` or `mapped`.
    provenance: &'static str,
    /// Whether it can be reached with this profile.
    reachable: bool,
    /// Whether it changes something.
    changes: bool,
    /// Whether it counts against the daily quota.
    counted: bool,
    #[serde(flatten)]
    takes: Option<Takes>,
}

impl<'a> OperationObject<'a> {
    pub(super) fn of(operation: Operation, row: &Row<'a>, takes: Option<Takes>) -> Self {
        Self {
            operation,
            section: operation.section(),
            method: row.method,
            path: row.path,
            provenance: row.provenance,
            reachable: row.reachable,
            changes: operation.changes(),
            counted: operation.quota() == Quota::Counted,
            takes,
        }
    }
}

/// The operations, in numbers.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct OperationsSummary {
    /// All operations.
    operations: usize,
    /// Those that can be reached with this profile.
    reachable: usize,
}
