//! Rows of a trial that change records which exist: drawn from its seed, and held against what the service has in the end.
//!
//! They name records of the same import, or of an earlier one, by key or MAC address, and two that were there before by
//! their ids. Their cells are blank, have what the record has already, something else, or what the service cannot change.
//! What a record has is added up from the service's ledger: its creation, then each update.

use std::collections::{BTreeMap, BTreeSet};

use fleetload::journal::RowView;
use fleetload::model::kind::{Kind, Upkeep};
use fleetload::model::state::JobState;
use fleetload::sandbox::{Attachment, LedgerEntry, Scenario, TEMPLATE_DEVICE};
use serde_json::Value;
use uuid::Uuid;

use super::network::SOMEBODY_ELSE;
use super::oracle::Outcome;
use super::script::{Script, THERE, drawn};
use super::upkeep::{Drawn, KINDS};

/// The operations, each with its sheet and the columns of that.
const SHEETS: [(&str, &str, &str); 3] = [
    ("updateCompany", "updates/companies.csv", "action,id,key,name,phone,city,company_type"),
    ("updateSite", "updates/sites.csv", "action,id,key,name,phone,city,address1,reference,labels,country"),
    ("updateDevice", "updates/devices.csv", "action,id,mac,name,device_model"),
];
/// A label that rows put on sites besides, which no other row does.
const LABEL: &str = "moved";
/// The field without which a part of an address is not sent for a record that does not show its address.
const ADDRESS1: &str = "address.address1";
/// A model that no device of a trial is of.
const OTHER_MODEL: &str = "Edge 500";

/// Draws the sheets that change records, about those of these sheets, and the faults that their rows meet.
pub(crate) fn draw(
    chance: &mut fastrand::Rng,
    scenario: &mut Scenario,
    records: &[(&'static str, String)],
) -> Drawn {
    for (operation, ..) in SHEETS {
        let kind = KINDS[chance.usize(..KINDS.len())];
        scenario.fault.push(drawn(chance, operation, kind, 0.3));
    }
    // The address is sent whole, so that a part of what somebody has put there must not get lost.
    let address = serde_json::json!({"address1": "9 Old Road", "city": "Auckland", "country": "NZ"});
    let body = serde_json::json!({"phoneNumber": phone(0), "address": address});
    let before = vec![(format!("/device-api/config/v1/updateCompany/{THERE}"), body.to_string())];
    let (mut files, mut rows) = (Vec::new(), 0);
    for (operation, sheet, head) in SHEETS {
        let mut lines = Vec::new();
        for name in names(operation, records) {
            if chance.u8(..) < 90 {
                lines.push(row(chance, operation, &name));
            }
        }
        if !lines.is_empty() {
            rows += lines.len();
            files.push((sheet, format!("{head}\n{}\n", lines.join("\n"))));
        }
    }
    Drawn { files, rows, before }
}

/// How rows name the records that an operation can change: the cells `id`, and `key` or `mac`.
fn names(operation: &str, records: &[(&'static str, String)]) -> Vec<String> {
    let (file, column, there) = match operation {
        "updateCompany" => ("companies.csv", 0, Some(THERE)),
        "updateSite" => ("sites.csv", 0, None),
        _ => ("devices.csv", 3, Some(TEMPLATE_DEVICE)),
    };
    let sheet = records.iter().find(|(name, _)| *name == file).map(|(_, text)| text.lines().skip(1));
    let cell = |line: &str| line.split(',').nth(column).expect("a cell").to_owned();
    let named = sheet.into_iter().flatten().map(cell).filter(|name| !name.is_empty());
    named.map(|name| format!(",{name}")).chain(there.map(|id| format!("{id},"))).collect()
}

/// A telephone number: the first two are those that companies and sites are created with.
fn phone(number: usize) -> &'static str {
    ["+64 9 555 0001", "+64 9 555 0002", "+64 9 555 0900", "+64 9 555 0901"][number]
}

fn row(chance: &mut fastrand::Rng, operation: &str, named: &str) -> String {
    let mut cell = |values: &[&str]| values[chance.usize(..values.len())].to_owned();
    let subject = named.trim_matches(',');
    // What the record is called by nobody else.
    let name = match cell(&["", "New", "Newer"]) {
        blank if blank.is_empty() => blank,
        word => format!("{word} {}", subject.replace(':', "")),
    };
    let phone = cell(&["", phone(0), phone(1), phone(2), phone(3)]);
    let city = cell(&["", "", "Auckland", "Wellington"]);
    match operation {
        "updateCompany" => {
            let fixed = cell(&["", "", "", "RESELLER", "RESELLER", "CUSTOMER"]);
            format!("update,{named},{name},{phone},{city},{fixed}")
        }
        "updateSite" => {
            let address = cell(&["", "2 Low Street"]);
            let (reference, label) = (cell(&["", "", "NEW-1", "NEW-2"]), cell(&["", "", LABEL]));
            // With a city, the address is whole.
            let country = if address.is_empty() { "" } else { "NZ" };
            format!("update,{named},{name},{phone},{city},{address},{reference},{label},{country}")
        }
        _ => format!("update,{named},{name},{}", cell(&["", "", "Edge 100", OTHER_MODEL])),
    }
}

/// What a row asks for: fields of a record, each with its path.
struct Wish {
    id: Uuid,
    fields: BTreeMap<&'static str, String>,
    label: bool,
    /// Whether it asks for something else that the service cannot change.
    impossible: bool,
    /// Whether it says what such a field is.
    is_fixed: bool,
}

impl Wish {
    /// Of a row, where the record that it names is there.
    fn of(row: &RowView, ids: &BTreeMap<String, Uuid>) -> Option<Self> {
        const NONE: &str = "";
        let columns = match row.kind {
            Kind::Upkeep(Upkeep::CompanyUpdates) => {
                ["name", "phoneNumber", "address.city", NONE, NONE, NONE, NONE]
            }
            Kind::Upkeep(Upkeep::SiteUpdates) => {
                ["name", "phoneNumber", "address.city", ADDRESS1, "reference", NONE, "address.country"]
            }
            Kind::Upkeep(Upkeep::DeviceUpdates) => ["name", NONE, NONE, NONE, NONE, NONE, NONE],
            _ => return None,
        };
        let cell = |column: usize| row.cells.get(column).map_or("", String::as_str);
        let id = cell(1).parse().ok().or_else(|| ids.get(cell(2)).copied())?;
        let cells = columns.into_iter().zip(3..).map(|(field, column)| (field, cell(column).to_owned()));
        let fields = cells.filter(|(field, cell)| *field != NONE && !cell.is_empty()).collect();
        let impossible = match row.kind {
            // Nothing shows what these two are.
            Kind::Upkeep(Upkeep::CompanyUpdates) if id == THERE => !cell(6).is_empty(),
            Kind::Upkeep(Upkeep::DeviceUpdates) if id == TEMPLATE_DEVICE => !cell(4).is_empty(),
            Kind::Upkeep(Upkeep::CompanyUpdates) => cell(6) == "CUSTOMER",
            _ => cell(4) == OTHER_MODEL,
        };
        let is_fixed = match row.kind {
            Kind::Upkeep(Upkeep::CompanyUpdates) => !cell(6).is_empty(),
            Kind::Upkeep(Upkeep::DeviceUpdates) => !cell(4).is_empty(),
            _ => false,
        };
        Some(Self { id, fields, label: cell(8) == LABEL, impossible, is_fixed })
    }

    /// What it asks for beside a later row. An address is one thing.
    fn beside(mut self, later: &Self) -> Self {
        let root = |field: &str| field.split('.').next().unwrap_or_default().to_owned();
        let taken: BTreeSet<String> = later.fields.keys().map(|field| root(field)).collect();
        self.fields.retain(|field, _| !taken.contains(&root(field)));
        self.impossible &= !later.is_fixed;
        self
    }
}

/// A field of a record.
type Field = (Uuid, String);

/// Holds what the service has against what the rows ask for and how they came out.
pub(crate) fn judge(
    rows: &[(&RowView, Outcome)],
    ids: &BTreeMap<String, Uuid>,
    after: &[Attachment],
    ledger: &[LedgerEntry],
    script: &Script,
) -> Vec<String> {
    let wishes: Vec<(Wish, Outcome)> = rows
        .iter()
        .enumerate()
        .filter_map(|(number, (row, outcome))| {
            let wish = Wish::of(row, ids)?;
            let is_waiting = matches!(row.state, JobState::Ready | JobState::Blocked | JobState::Deferred)
                && row.attempts == 0;
            // Before it was sent, a later row took its place: what only it asked for goes on with that.
            let later = rows[number + 1..].iter().find(|(later, _)| is_waiting && later.job == row.job);
            Some(match later.and_then(|(later, outcome)| Some((Wish::of(later, ids)?, *outcome))) {
                Some((later, outcome)) => (wish.beside(&later), outcome),
                None => (wish, *outcome),
            })
        })
        .collect();
    let mut violations = Vec::new();
    // What each field may have.
    let mut may: BTreeMap<Field, BTreeSet<Option<String>>> = BTreeMap::new();
    let mut state: BTreeMap<Field, String> = BTreeMap::new();
    for entry in ledger.iter().filter(|entry| entry.client == SOMEBODY_ELSE || entry.created) {
        state.extend(fields(entry));
    }
    for (Wish { id, fields, label, impossible, .. }, outcome) in &wishes {
        if *outcome == Outcome::CarriedOut && *impossible {
            violations.push(format!("called done, though it cannot be changed: {id}"));
        }
        let labelled = |thing: &Attachment| thing.owner == *id && thing.value == LABEL;
        if *outcome == Outcome::CarriedOut && *label && !after.iter().any(labelled) {
            violations.push(format!("lost: the label of {id}"));
        }
        if fields.contains_key(ADDRESS1) && *outcome != Outcome::Nothing {
            // A site does not show its address: that of the row takes its place.
            let key = (*id, "address.city".to_owned());
            let before = BTreeSet::from([state.get(&key).cloned()]);
            may.entry(key).or_insert(before).insert(Some(String::new()));
        }
        for (field, value) in fields {
            let key = (*id, (*field).to_owned());
            let before = BTreeSet::from([state.get(&key).cloned()]);
            let values = may.entry(key).or_insert(before);
            match outcome {
                Outcome::CarriedOut => *values = BTreeSet::from([Some(value.clone())]),
                Outcome::Open => drop(values.insert(Some(value.clone()))),
                Outcome::Nothing => {}
            }
        }
    }
    violations.extend(needless(&wishes, ledger, script));
    let before = state.clone();
    for entry in ledger.iter().filter(|entry| entry.operation.starts_with("update")) {
        state.extend(fields(entry).into_iter().filter(|_| entry.client != SOMEBODY_ELSE));
    }
    for (field, values) in &may {
        let has = state.get(field).cloned();
        if !values.contains(&has) {
            violations.push(format!("lost: {field:?} is {has:?}, and may be one of {values:?}"));
        }
    }
    // A site does not show its address: that of the row takes its place.
    let replaced =
        |(id, field): &Field| field.starts_with("address.") && may.contains_key(&(*id, ADDRESS1.to_owned()));
    for (field, value) in &before {
        if !may.contains_key(field) && !replaced(field) && state.get(field) != Some(value) {
            violations.push(format!("changed: {field:?} was {value}, and nobody asked for anything else"));
        }
    }
    violations
}

/// What was sent though no row asks for it, or though the record had it, as the service shows it.
fn needless(wishes: &[(Wish, Outcome)], ledger: &[LedgerEntry], script: &Script) -> Vec<String> {
    // All of a row is sent if its record cannot be read.
    let is_readable = !script.scenario.fault.iter().any(|fault| fault.operation == "lookups");
    let mut state: BTreeMap<Field, String> = BTreeMap::new();
    let mut ours: BTreeSet<(Field, String)> = BTreeSet::new();
    let mut violations = Vec::new();
    for entry in ledger.iter().filter(|entry| entry.created || entry.operation.starts_with("update")) {
        if entry.operation.starts_with("update") && entry.client != SOMEBODY_ELSE {
            for (field, value) in fields(entry) {
                let asked = |(wish, _): &(Wish, Outcome)| {
                    wish.id == field.0 && wish.fields.get(field.1.as_str()) == Some(&value)
                };
                let is_asked = wishes.iter().any(asked);
                let has_it = state.get(&field) == Some(&value);
                // A site shows nothing but its name and reference.
                let is_shown = entry.kind != "site" || ["name", "reference"].contains(&field.1.as_str());
                let is_part = field.1.starts_with("address.");
                if !is_asked && !(is_part && (has_it || !is_shown && value.is_empty())) {
                    violations.push(format!("nobody asked for it: {field:?} is sent as {value}"));
                }
                if is_readable
                    && is_shown
                    && has_it
                    && !is_part
                    && !ours.contains(&(field.clone(), value.clone()))
                {
                    violations.push(format!("sent needlessly: {field:?} is {value} already"));
                }
                ours.insert((field, value));
            }
        }
        state.extend(fields(entry));
    }
    violations
}

/// The fields of a record that an entry of the ledger gave values.
fn fields(entry: &LedgerEntry) -> Vec<(Field, String)> {
    if !["company", "site", "device"].contains(&entry.kind.as_str()) {
        return Vec::new();
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut fields = Vec::new();
    for (name, value) in entry.request.as_object().into_iter().flatten() {
        match value.as_object() {
            // It takes the place of the whole one that was there.
            Some(parts) => ["address1", "city", "country"].iter().for_each(|part| {
                let value = parts.get(*part).map(text).unwrap_or_default();
                fields.push(((entry.id, format!("{name}.{part}")), value));
            }),
            None => fields.push(((entry.id, name.clone()), text(value))),
        }
    }
    fields
}
