//! What rows of an import change of the records that other rows of it create. Of that a row which creates a record need not say
//! what the record has now: imported again, the sheets are as they were.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use super::super::Examined;
use super::super::kept_rows::{KeptRows, KeptStep};
use super::super::prepared::asked;
use crate::error::Result;
use crate::model::action::Action;
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::sheet::Table;
use crate::sheet::column::column_of_violation;
use crate::sheet::cross_row::To;

/// By the number of a row that creates a record: the columns of it that other rows change, as
/// [`Difference::column`](crate::journal::Difference::column) names them.
pub(super) type ChangedHere = HashMap<usize, BTreeSet<String>>;

/// Reads it of the rows of an import.
pub(super) fn changed_here(examined: &Examined, kept: &KeptRows) -> Result<ChangedHere> {
    let mut changed = ChangedHere::new();
    let table =
        |(book, table, _): &(usize, usize, usize)| -> &Table { &examined.books[*book].tables[*table] };
    if !examined.places.iter().any(|place| table(place).kind.is_record()) {
        return Ok(changed);
    }
    for (number, place) in examined.places.iter().enumerate() {
        let table = table(place);
        if table.kind.is_record() && table.position("action").is_none() {
            continue;
        }
        let (_, _, mut next) = *place;
        kept.read(number, examined.sheets[number].rows, &mut |row, draft| {
            let ordinal = next;
            next += 1;
            let usable = draft.filter(|draft| !draft.kind.is_record() && examined.checked.is_usable(ordinal));
            let Some(draft) = usable else { return Ok(ControlFlow::Continue(())) };
            let rows: Vec<(Role, usize)> = examined
                .checked
                .links(ordinal)
                .into_iter()
                .filter_map(|(role, to)| match to {
                    To::Row(of) => Some((role, of)),
                    To::Job(_) | To::Remote(_) => None,
                })
                .collect();
            for KeptStep { action, .. } in draft.steps.iter().filter(|_| !rows.is_empty()) {
                let action = asked(action, &row.cells, kept.shapes())?;
                let about = action.about(draft.kind);
                let owner = rows.iter().find(|(role, _)| *role == Role::owner(about));
                let columns = columns(about, &action);
                if let Some((_, creates)) = owner.filter(|_| !columns.is_empty()) {
                    changed.entry(*creates).or_default().extend(columns);
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(changed)
}

/// The columns of a row that creates a record of which an action changes what they say.
fn columns(kind: Kind, action: &Action) -> Vec<String> {
    let entry = |key: &str| format!("meta:{key}");
    match action {
        Action::Update(update) => {
            let fields = update.fields.keys().filter_map(|field| column_of_violation(kind, field));
            fields.map(|column| column.name.to_owned()).collect()
        }
        Action::PutMetadata(entries) => entries.iter().map(|put| entry(&put.key)).collect(),
        Action::PutMetadataEntry(put) | Action::DeleteMetadataEntry(put) => vec![entry(&put.key)],
        Action::SubscribeTemplate(_) | Action::UnsubscribeTemplate(_) => {
            vec!["enterprise_template".to_owned()]
        }
        Action::JoinVpnCloud(_) | Action::LeaveVpnCloud(_) => vec!["vpn_clouds".to_owned()],
        Action::AssignToSite => vec!["site".to_owned()],
        // They put something beside what the row says, or what it says nothing of.
        Action::Create(_)
        | Action::Keep(_)
        | Action::PutLabel(_)
        | Action::PutLabels(_)
        | Action::DeleteLabel(_)
        | Action::AddLicence(_)
        | Action::ConfigureVpn(_) => Vec::new(),
    }
}
