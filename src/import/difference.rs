//! In what a row differs from the record that was made earlier: compared as the service has the values, shown as the two
//! sheets say them.

use std::collections::BTreeMap;

use serde_json::Value;
use smol_str::SmolStr;

use crate::journal::{Difference, EarlierRow};
use crate::model::action::Action;
use crate::model::kind::Kind;
use crate::model::record::{Link, Role, target_of};
use crate::sheet::column::{Column, column, column_of_violation};
use crate::sheet::{Mapped, Table, column_of_role, meaning, subject_column};

/// The column whose values the address of a site takes where it has none of its own.
const COORDINATES: [(&str, &str); 2] = [("address_latitude", "latitude"), ("address_longitude", "longitude")];

/// The columns by which an upkeep row names its record, and what only an export fills in.
const NAMES_OF_RECORDS: [&str; 6] = ["id", "key", "mac", "owner", "device", "exported"];

/// All that a row asks for. What it refers to is named as `label` says.
pub(super) struct Content<'a> {
    /// A record that a job owns is linked as that job, so that equal links are equal.
    pub(super) links: &'a [Link],
    pub(super) steps: &'a [Action],
}

/// A column: its name in the table of columns and, of a family, what stands after the colon.
type Place = (&'static str, Option<String>);

/// The columns in which a row differs from what its job was made with, in the order of the sheet. `said_earlier` is the row
/// that the job has its values from; `label` names what is referred to where no cell does.
pub(super) fn between(
    kind: Kind,
    earlier: &Content<'_>,
    now: &Content<'_>,
    (table, cells): (&Table, &[SmolStr]),
    said_earlier: Option<&EarlierRow>,
    label: &dyn Fn(&Link) -> String,
) -> Vec<Difference> {
    let (before, after) = (values(kind, earlier, label), values(kind, now, label));
    let mut differing: Vec<Place> = before
        .iter()
        .filter(|(place, value)| after.get(*place) != Some(*value))
        .chain(after.iter().filter(|(place, _)| !before.contains_key(*place)))
        .map(|(place, _)| place.clone())
        .collect();
    for (role, place) in roles(kind) {
        let target = |content: &Content<'_>| target_of(content.links, role);
        // Two records of one name are two.
        if target(earlier) != target(now) && !differing.contains(&place) {
            differing.push(place);
        }
    }
    // Coordinates that stand in one pair of columns are reported once.
    for (copy, original) in COORDINATES {
        let is_copy = kind == Kind::Site && table.position(copy).is_none();
        let changes = |name| (before.get(&(name, None)), after.get(&(name, None)));
        if is_copy && changes(copy) == changes(original) {
            differing.retain(|(name, _)| *name != copy);
        }
    }
    let told = RowPair { table, cells, earlier: said_earlier, meaning: meaning_of(table, said_earlier) };
    if let Kind::Upkeep(upkeep) = kind
        && differing.is_empty()
        && !asks_the_same(earlier.steps, now.steps)
    {
        differing = told.differing_cells();
        if differing.is_empty() {
            differing.push((subject_column(upkeep), None));
        }
    }
    let mut differing: Vec<Place> = differing.into_iter().flat_map(|place| told.columns_of(place)).collect();
    differing.sort_by_key(|place| told.position(place).unwrap_or(usize::MAX));
    differing.dedup();
    differing
        .into_iter()
        .map(|place| {
            let value = |values: &BTreeMap<Place, String>| values.get(&place).cloned();
            let (earlier, now) = told.values(&place, value(&before), value(&after));
            let header = told.position(&place).and_then(|at| table.headers.get(at));
            let column = format!("{}{}", place.0, place.1.unwrap_or_default());
            let header = header.map_or_else(|| column.clone(), |header| header.trim().to_owned());
            Difference { column, header, earlier, now }
        })
        .collect()
}

/// Whether two rows about one thing ask for the same of it.
fn asks_the_same(earlier: &[Action], now: &[Action]) -> bool {
    let is_same = |(earlier, now): (&Action, &Action)| match (earlier, now) {
        // What a row calls its record says nothing about what it asks for.
        (Action::Update(earlier), Action::Update(now)) => {
            (&earlier.fields, &earlier.fixed, &earlier.exported) == (&now.fields, &now.fixed, &now.exported)
        }
        _ => earlier == now,
    };
    earlier.len() == now.len() && earlier.iter().zip(now).all(is_same)
}

/// What an earlier sheet means by its headers: the same as this one where they are the same, however they were mapped.
fn meaning_of(table: &Table, earlier: Option<&EarlierRow>) -> Vec<Mapped> {
    match earlier {
        Some(row) if row.headers != table.headers => meaning(table.kind, &row.headers),
        Some(_) | None => table.mapping.clone(),
    }
}

/// The roles that a record of a kind refers to others in, with their columns.
fn roles(kind: Kind) -> impl Iterator<Item = (Role, Place)> {
    kind.descriptor().roles.iter().filter_map(move |&role| {
        let column = column(kind, column_of_role(kind, role))?;
        Some((role, (column.name, None)))
    })
}

/// Every value by its column. What is no column of a sheet (a record's kind) is not among them.
fn values(kind: Kind, content: &Content<'_>, label: &dyn Fn(&Link) -> String) -> BTreeMap<Place, String> {
    let mut values = BTreeMap::new();
    for link in content.links {
        if let Some(column) = column(kind, column_of_role(kind, link.role)) {
            values.insert((column.name, None), label(link));
        }
    }
    let mut lists: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for step in content.steps {
        match step {
            Action::Create(record) => {
                flatten(kind, "", &record.body(), &mut values);
            }
            // Labels are a set.
            Action::PutLabels(labels) => lists.entry("labels").or_default().extend(labels.iter().cloned()),
            Action::PutMetadata(entries) => {
                for entry in entries {
                    values.insert(("meta:", Some(entry.key.clone())), entry.value.clone());
                }
            }
            Action::AddLicence(code) => lists.entry("licence_code").or_default().push(code.clone()),
            Action::SubscribeTemplate(offer) => {
                lists.entry("enterprise_template").or_default().push(offer.to_string());
            }
            Action::JoinVpnCloud(offer) => lists.entry("vpn_clouds").or_default().push(offer.to_string()),
            // Shown by the cells of the row.
            Action::Update(_)
            | Action::Keep(_)
            | Action::PutLabel(_)
            | Action::DeleteLabel(_)
            | Action::PutMetadataEntry(_)
            | Action::DeleteMetadataEntry(_)
            | Action::UnsubscribeTemplate(_)
            | Action::LeaveVpnCloud(_)
            | Action::ConfigureVpn(_)
            | Action::AssignToSite => {}
        }
    }
    for (name, mut list) in lists {
        list.sort();
        list.dedup();
        values.insert((name, None), list.join("; "));
    }
    values
}

/// Takes in the fields of a record under the columns that are sent as them.
fn flatten(kind: Kind, path: &str, value: &Value, values: &mut BTreeMap<Place, String>) {
    let column = |path: &str| column_of_violation(kind, path).map(|column| column.name);
    let text = match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let path = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
                flatten(kind, &path, value, values);
            }
            return;
        }
        Value::Array(clouds) => {
            for cloud in clouds {
                let name = cloud.get("cloud").and_then(Value::as_str).unwrap_or_default();
                for (interface, network) in
                    cloud.get("mapping").and_then(Value::as_object).into_iter().flatten()
                {
                    let network = network.as_str().unwrap_or_default().to_owned();
                    values.insert(("snat:", Some(format!("{name}:{interface}"))), network);
                }
            }
            return;
        }
        Value::Null => return,
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
    };
    if let Some(name) = column(path) {
        values.insert((name, None), text);
    }
}

/// Two rows of sheets.
struct RowPair<'a> {
    table: &'a Table,
    cells: &'a [SmolStr],
    earlier: Option<&'a EarlierRow>,
    /// Of the headers of the earlier sheet.
    meaning: Vec<Mapped>,
}

impl RowPair<'_> {
    /// Where a column is in the sheet.
    fn position(&self, place: &Place) -> Option<usize> {
        position(&self.table.mapping, place)
    }

    /// What the cells of a column say, earlier and now.
    fn cells(&self, place: &Place) -> (Option<&str>, Option<&str>) {
        (
            self.earlier.and_then(|row| said(&row.cells, position(&self.meaning, place))),
            said(self.cells, position(&self.table.mapping, place)),
        )
    }

    /// What is shown of a column: the cells where they differ, else the values, which a default, the cell above or another
    /// way of reading may have given.
    fn values(
        &self,
        place: &Place,
        before: Option<String>,
        after: Option<String>,
    ) -> (Option<String>, Option<String>) {
        match self.cells(place) {
            (earlier, now) if earlier == now => (before, after),
            (earlier, now) => (earlier.map(str::to_owned).or(before), now.map(str::to_owned).or(after)),
        }
    }

    /// The columns whose cells differ, but for those that name the record.
    fn differing_cells(&self) -> Vec<Place> {
        let place = |mapped: &Mapped| match mapped {
            Mapped::Column { column, entry } => Some((column.name, entry.clone())),
            Mapped::Ignored | Mapped::Blank | Mapped::Unknown => None,
        };
        let differs = |place: &Place| {
            let (earlier, now) = self.cells(place);
            earlier != now && !NAMES_OF_RECORDS.contains(&place.0)
        };
        self.table.mapping.iter().chain(&self.meaning).filter_map(place).filter(differs).collect()
    }

    /// Labels may stand in columns of their own: those whose cells differ are meant.
    fn columns_of(&self, place: Place) -> Vec<Place> {
        if place.0 != "labels" || self.table.position("labels").is_some() {
            return vec![place];
        }
        let of_labels = |mapped: &Mapped| match mapped {
            Mapped::Column { column, entry } if column.name == "label:" => {
                Some((column.name, Some(entry.clone().unwrap_or_default())))
            }
            Mapped::Column { .. } | Mapped::Ignored | Mapped::Blank | Mapped::Unknown => None,
        };
        let differing: Vec<Place> = self
            .table
            .mapping
            .iter()
            .filter_map(of_labels)
            .filter(|label| {
                let (earlier, now) = self.cells(label);
                earlier != now
            })
            .collect();
        if differing.is_empty() { vec![place] } else { differing }
    }
}

/// Where a column is among the columns of a sheet.
fn position(mapping: &[Mapped], (name, wanted): &Place) -> Option<usize> {
    mapping.iter().position(|mapped| {
        matches!(mapped, Mapped::Column { column: Column { name: found, .. }, entry }
            if found == name && entry.as_deref().unwrap_or_default() == wanted.as_deref().unwrap_or_default())
    })
}

/// What a cell says; nothing for a blank.
fn said(cells: &[impl AsRef<str>], at: Option<usize>) -> Option<&str> {
    let cell = cells.get(at?)?.as_ref().trim();
    (!cell.is_empty()).then_some(cell)
}
