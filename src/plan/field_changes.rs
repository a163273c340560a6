//! The cells by which rows of an import change records that exist, as far as the sheets tell: a cell that an export saw is
//! shown with what it was then.

use serde::Serialize;
use serde_json::Value;

use super::row_settings::{cells_as_written, settings_of_row};
use super::survey::Outcomes;
use crate::error::Result;
use crate::journal::{ImportWriter, Prospect};
use crate::model::action::record_update::{RecordUpdate, text};
use crate::model::action::{Action, InterfaceSettings, VpnSettings};
use crate::model::kind::{Kind, Upkeep};
use crate::sheet::column::column_of_violation;

/// Changes that are kept at most; the rest are counted.
const LISTED: usize = 1_000;

/// A cell that changes a field of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FieldChange {
    /// `file!sheet!row` of the row.
    pub row: String,
    /// The column of the cell.
    pub column: String,
    /// What an export saw; `None` where the row comes from no export.
    pub from: Option<String>,
    /// What the cell has.
    pub to: String,
}

/// A cell that was edited since it was exported, and whose field the service cannot change: its row is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FixedCell {
    /// `file!sheet!row` of the row.
    pub row: String,
    /// The column of the cell.
    pub column: String,
    /// What the cell has.
    pub to: String,
    /// Why it cannot be carried out.
    pub why: String,
}

/// The changes of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldChanges {
    /// The first of them, in the order of the rows.
    pub listed: Vec<FieldChange>,
    /// How many there are.
    pub total: usize,
    /// The first of the cells that cannot be carried out.
    pub fixed: Vec<FixedCell>,
    /// How many of those there are.
    pub fixed_total: usize,
    /// How many rows have one.
    pub fixed_rows: u64,
}

/// Its column, what an export saw, and what it has.
type Cell = (String, Option<String>, String);

impl FieldChanges {
    /// Those of the rows of an import that are still to be carried out, by what is planned for each.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn of(writer: &ImportWriter<'_>, outcomes: &Outcomes<'_>) -> Result<Self> {
        let mut changes = Self::default();
        writer.prospects(&mut |prospect| {
            if !outcomes.of(prospect.job).is_some_and(|outcome| outcome.may_be_sent()) {
                return Ok(());
            }
            let kind = prospect.kind;
            let fields: Vec<Cell> = match prospect.steps_by_shape.first() {
                _ if prospect.row.is_none() => Vec::new(),
                Some(Action::Update(update)) => {
                    let mut cells = of_update(kind, update);
                    for later in &prospect.steps_by_shape[1..] {
                        cells.extend(put_beside(writer, &prospect, later)?);
                    }
                    cells
                }
                Some(Action::PutMetadataEntry(entry)) if entry.exported != entry.value => {
                    let value = entry.value.clone().unwrap_or_default();
                    vec![("value".to_owned(), entry.exported.clone(), value)]
                }
                Some(Action::ConfigureVpn(job)) => {
                    settings(&settings_of_row(writer, &prospect)?.unwrap_or_else(|| job.clone()))
                }
                _ => Vec::new(),
            };
            if let (Some(Action::Update(update)), Some(row)) = (prospect.steps_by_shape.first(), prospect.row)
            {
                let fixed = fixed_since_export(kind, update);
                changes.fixed_rows += u64::from(!fixed.is_empty());
                for (column, to) in fixed {
                    changes.fixed_total += 1;
                    if changes.fixed.len() < LISTED {
                        let row = writer.place_of_row(row.sheet, row.number)?;
                        let why = format!(
                            "the service cannot change the {column} of a {}",
                            kind.sheet().singular()
                        );
                        changes.fixed.push(FixedCell { row, column, to, why });
                    }
                }
            }
            for (column, from, to) in fields {
                changes.total += 1;
                if let Some(row) = prospect.row.filter(|_| changes.listed.len() < LISTED) {
                    let row = writer.place_of_row(row.sheet, row.number)?;
                    changes.listed.push(FieldChange { row, column, from, to });
                }
            }
            Ok(())
        })?;
        Ok(changes)
    }
}

/// The cells of the fields of an update.
fn of_update(kind: Kind, update: &RecordUpdate) -> Vec<Cell> {
    let cell = |(field, wanted): (&String, &Value)| {
        (column_of(kind, field), update.exported.get(field).cloned(), text(wanted))
    };
    update.fields.iter().map(cell).collect()
}

/// The cells of fields that cannot be changed, each with what it has. Only a row that comes from an export is known to differ
/// in them: another may have what the record has.
fn fixed_since_export(kind: Kind, update: &RecordUpdate) -> Vec<(String, String)> {
    let fixed = update.fixed.iter().filter(|_| !update.exported.is_empty());
    fixed.map(|(field, wanted)| (column_of(kind, field), text(wanted))).collect()
}

fn column_of(kind: Kind, field: &str) -> String {
    column_of_violation(kind, field).map_or(field, |column| column.name).to_owned()
}

/// The cells of a step that follows an update.
fn put_beside(writer: &ImportWriter<'_>, prospect: &Prospect, step: &Action) -> Result<Vec<Cell>> {
    let cell = |column: &str, to: String| (column.to_owned(), None, to);
    Ok(match step {
        Action::PutLabels(labels) => labels.iter().map(|label| cell("labels", label.clone())).collect(),
        Action::PutMetadata(entries) => {
            entries.iter().map(|entry| cell(&format!("meta:{}", entry.key), entry.value.clone())).collect()
        }
        Action::SubscribeTemplate(offer) => vec![cell("enterprise_template", offer.to_string())],
        Action::JoinVpnCloud(offer) => vec![cell("vpn_clouds", offer.to_string())],
        Action::AssignToSite => {
            let [site] = cells_as_written(writer, prospect, ["site"])?;
            site.map(|site| cell("site", site)).into_iter().collect()
        }
        _ => Vec::new(),
    })
}

/// The cells of settings in a VPN cloud, with what an export saw.
fn settings(settings: &VpnSettings) -> Vec<Cell> {
    let suite = settings.cipher_suite.iter();
    let mut cells: Vec<_> = suite
        .map(|suite| ("cipher_suite".to_owned(), settings.exported_suite.clone(), suite.clone()))
        .collect();
    for entry in &settings.interfaces {
        cells.extend(InterfaceSettings::FIELDS.iter().filter_map(|field| {
            let column = column_of_violation(Kind::Upkeep(Upkeep::Vpn), field)?.name;
            Some((column.to_owned(), entry.exported.get(*field).cloned(), entry.value(field)?))
        }));
    }
    cells
}
