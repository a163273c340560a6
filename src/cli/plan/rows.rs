//! `plan --rows`: every row with what would happen to it, what it belongs to, and the operations that are sent for it.

use serde::Serialize;

use super::output::in_the_way;
use crate::cli::context::Context;
use crate::error::Result;
use crate::journal::{ImportWriter, Prospect};
use crate::model::action::Action;
use crate::model::id::RemoteId;
use crate::model::kind::Plural;
use crate::model::operation::Operation;
use crate::model::record::Target;
use crate::plan::{Cause, PlannedAction, Survey, settings_of_row};
use crate::term::Line;

/// Lists the rows of the sheets, in their order; their names are left out of a list that is to be `redacted`.
pub(super) fn tell(
    context: &Context<'_>,
    writer: &ImportWriter<'_>,
    survey: &Survey,
    available: &dyn Fn(Operation) -> bool,
    redacted: bool,
) -> Result<()> {
    let outcomes = survey.outcomes(available);
    let again = context.commands();
    writer.prospects(&mut |prospect| {
        let Some(row) = prospect.row else { return Ok(()) };
        let Some(mut outcome) = outcomes.of(prospect.job) else { return Ok(()) };
        let own = settings_of_row(writer, &prospect)?;
        if outcome.action == PlannedAction::Apply
            && own.is_some_and(|own| Action::ConfigureVpn(own).is_as_exported())
        {
            (outcome.action, outcome.sent) = (PlannedAction::Unchanged, &[]);
        }
        let place = writer.place_of_row(row.sheet, row.number)?;
        let name = if redacted { None } else { Some(name_of(writer, &prospect)?) };
        let belongs_to = belongs_to(writer, &prospect)?;
        let waits_for = match outcome.cause {
            Some(Cause::Row(job, action)) => {
                Some(in_the_way(&again, Cause::Row(job, action), &writer.place_of(job)?))
            }
            Some(cause) => Some(in_the_way(&again, cause, "")),
            None => None,
        };
        let operations: Vec<&str> = outcome.sent.iter().map(|operation| operation.name()).collect();
        context.terminal.object(&PlannedRowObject {
            source: &place,
            kind: Plural(prospect.kind),
            name: name.as_deref(),
            action: outcome.action,
            operations: outcome.sent,
            belongs_to: belongs_to.iter().map(|(_, object)| object).collect(),
            waits_for: waits_for.as_ref().map(|words| words.as_str()),
        });
        let named = name.map_or_else(String::new, |name| format!(" '{name}'"));
        let by = if operations.is_empty() { String::new() } else { format!(" ({})", operations.join(", ")) };
        let below: String = belongs_to.iter().map(|(words, _)| format!("; {words}")).collect();
        let mut line = Line::plain(format!(
            "{place}: {}{named}: {}{by}{below}",
            prospect.kind.singular(),
            outcome.action.words()
        ));
        if let Some(words) = &waits_for {
            line = line.text("; ").advice(words);
        }
        context.terminal.result(line);
        Ok(())
    })
}

/// What a row is called: by its record, else as names are compared.
fn name_of(writer: &ImportWriter<'_>, prospect: &Prospect) -> Result<String> {
    if prospect.steps_by_shape.iter().any(|step| step.record().is_some()) {
        return Ok(writer.record_of(prospect.job)?.name().to_owned());
    }
    Ok(prospect.name.clone())
}

/// What a row refers to: the rows by their places, records that no row makes by their ids; in words and for programs.
fn belongs_to(writer: &ImportWriter<'_>, prospect: &Prospect) -> Result<Vec<(String, BelongsTo)>> {
    let mut all = Vec::with_capacity(prospect.links.len());
    for link in &prospect.links {
        let role = link.role.as_str();
        all.push(match link.target {
            Target::Job(job) => {
                let place = writer.place_of(job)?;
                (format!("{role} {place}"), BelongsTo::Row { role, source: place })
            }
            Target::Remote(id) => (format!("{role} {id}"), BelongsTo::Record { role, id }),
        });
    }
    Ok(all)
}

/// A row with what would happen to it.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct PlannedRowObject<'a> {
    /// `file!sheet!row` of the row.
    source: &'a str,
    kind: Plural,
    /// What it is called; `null` with `--redact`.
    name: Option<&'a str>,
    action: PlannedAction,
    /// The operations that would be sent for it.
    operations: &'a [Operation],
    /// What it refers to.
    belongs_to: Vec<&'a BelongsTo>,
    /// What keeps it from being sent, and what to do.
    waits_for: Option<&'a str>,
}

/// What a row refers to.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum BelongsTo {
    /// Another row.
    Row {
        /// What the other is to it.
        role: &'static str,
        /// `file!sheet!row` of the other.
        source: String,
    },
    /// A record that no row makes.
    Record {
        /// What the other is to it.
        role: &'static str,
        /// The id of the record.
        id: RemoteId,
    },
}
