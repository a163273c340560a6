//! Undo: the upkeep rows that would restore what an import changed, as it was read before it was sent, and what cannot be
//! restored, each with its reason. Nothing is sent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::journal::{ChangedRow, DoneStep, View};
use crate::model::action::before::Before;
use crate::model::action::inverse::{Inverse, Irreversible, NotRestored, inverse, of_entry};
use crate::model::action::record_update;
use crate::model::action::{Action, InterfaceSettings, Offer, OwnedEntry, OwnedLabel, Owner};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::{Kind, Upkeep};
use crate::model::record::Role;
use crate::model::state::JobState;
use crate::sheet;

/// What restores an import.
#[derive(Debug, Default)]
pub struct Undo {
    /// The rows, by what they are, in the order of the import.
    pub rows: BTreeMap<Kind, Vec<UndoRow>>,
    /// What is not restored, in the order of the import.
    pub left: Vec<NotUndone>,
}

/// A row that restores something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoRow {
    /// `file!sheet!row` of the row that changed it.
    pub source: String,
    /// The job of that row.
    pub job: JobId,
    /// The cells, by the names of the columns.
    pub cells: BTreeMap<&'static str, String>,
}

/// Something that is not restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUndone {
    /// `file!sheet!row` of the row that changed it, or may have.
    pub source: String,
    /// The job of that row.
    pub job: JobId,
    /// What the row is.
    pub kind: Kind,
    /// What of its record: the text of a label, the key of an entry, the column of a field, a setting of an interface, an id; empty
    /// where there is nothing to name.
    pub subject: String,
    /// Why.
    pub reason: LeftReason,
}

/// Why something is not restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeftReason {
    /// The service cannot, or what was there before is not known.
    Irreversible(Irreversible),
    /// A sheet cannot hold the value so that it is read back as it was.
    NotWritable,
    /// A later import asked for something else of the same.
    ChangedSince(ImportId),
    /// It is not known whether it was carried out.
    OutcomeUnknown,
    /// It is still to be sent.
    Unfinished,
}

impl LeftReason {
    /// The word that programs read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Irreversible(Irreversible::Created) => "created",
            Self::Irreversible(Irreversible::Licence) => "licence",
            Self::Irreversible(Irreversible::LabelStays) => "label-stays",
            Self::Irreversible(Irreversible::NotRead) => "not-read",
            Self::Irreversible(Irreversible::NoSite) => "no-site",
            Self::Irreversible(Irreversible::WasBlank) => "was-blank",
            Self::Irreversible(Irreversible::SettingsNotRead) => "settings-not-read",
            Self::NotWritable => "not-writable",
            Self::ChangedSince(_) => "changed-since",
            Self::OutcomeUnknown => "outcome-unknown",
            Self::Unfinished => "unfinished",
        }
    }

    /// The reason in words.
    pub fn words(self) -> String {
        match self {
            Self::Irreversible(Irreversible::Created) => "the service has no operation that deletes records",
            Self::Irreversible(Irreversible::Licence) => {
                "the service has no operation that takes a licence code back"
            }
            Self::Irreversible(Irreversible::LabelStays) => {
                "the service deletes labels of interfaces only, not of sites and devices"
            }
            Self::Irreversible(Irreversible::NotRead) => {
                "what was there before is not known, because no look-up showed it before it was sent"
            }
            Self::Irreversible(Irreversible::NoSite) => {
                "the device was in no site, and the service has no operation that takes it out of one"
            }
            Self::Irreversible(Irreversible::WasBlank) => {
                "the field was blank, and a blank cell leaves a field as it is"
            }
            Self::Irreversible(Irreversible::SettingsNotRead) => {
                "the device joins the VPN cloud again, but the settings that it had were not read"
            }
            Self::NotWritable => "a sheet cannot hold the value that was there without changing it",
            Self::ChangedSince(import) => {
                return format!(
                    "import {import} asked about the same again since; what this import replaced, if anything, is in its \
                     report"
                );
            }
            Self::OutcomeUnknown => "it is not known whether it was carried out",
            Self::Unfinished => "it is not carried out yet",
        }
        .to_owned()
    }
}

impl Undo {
    /// What restores an import of the journal.
    pub fn of(journal: &View, import: ImportId) -> Result<Self> {
        let mut undo = Self::default();
        let mut jobs = BTreeSet::new();
        journal.changed_rows(import, &mut |row| {
            // Several rows may be one job.
            if jobs.insert(row.job) {
                undo.add(&row);
            }
            Ok(())
        })?;
        undo.drop_settings_of_clouds_left();
        Ok(undo)
    }

    /// A device that leaves a VPN cloud has no settings there to restore.
    fn drop_settings_of_clouds_left(&mut self) {
        let Some(rows) = self.rows.get_mut(&Kind::Upkeep(Upkeep::Vpn)) else { return };
        let cell = |row: &UndoRow, name: &str| row.cells.get(name).cloned().unwrap_or_default();
        let membership = |row: &UndoRow| (cell(row, "device"), cell(row, "cloud"));
        let leaves = |row: &&UndoRow| cell(row, "action") == "leave";
        let left: BTreeSet<(String, String)> = rows.iter().filter(leaves).map(membership).collect();
        rows.retain(|row| cell(row, "action") != "configure" || !left.contains(&membership(row)));
    }

    /// How many rows restore something.
    pub fn count(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }

    fn add(&mut self, row: &ChangedRow) {
        if let Some(later) = row.asked_again {
            return self.leave(row, String::new(), LeftReason::ChangedSince(later));
        }
        let made = matches!(row.outcome, Some(JobState::Created | JobState::Adopted));
        for step in &row.done {
            // What is put on a record that the row has made stays with it.
            if made && step.n > 0 {
                continue;
            }
            self.restore(row, step);
        }
        let open = match row.state {
            JobState::Sending | JobState::InDoubt => Some(LeftReason::OutcomeUnknown),
            JobState::Held | JobState::Cancelled if row.is_doubted => Some(LeftReason::OutcomeUnknown),
            JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Held => {
                Some(LeftReason::Unfinished)
            }
            JobState::Created
            | JobState::Adopted
            | JobState::Existing
            | JobState::Done
            | JobState::Rejected
            | JobState::Incomplete
            | JobState::Skipped
            | JobState::Cancelled => None,
        };
        if let Some(reason) = open {
            self.leave(row, String::new(), reason);
        }
    }

    fn restore(&mut self, row: &ChangedRow, step: &DoneStep) {
        let about = step.action.about(row.kind);
        let mut changed = BTreeMap::new();
        for ((n, of), later) in &row.changed_since {
            if *n == step.n {
                changed.insert(of.as_str(), LeftReason::ChangedSince(*later));
            }
        }
        let name = |field: &str| {
            sheet::column::column_of_violation(about, field).map_or(field, |column| column.name).to_owned()
        };
        let mut before = step.before.clone();
        // What it left, the same in what was read before it, and in words.
        let parts: Vec<(String, &String, String)> = match &step.before {
            Some(Before::Fields { sent, .. }) => {
                sent.keys().map(|field| (field.clone(), field, name(field))).collect()
            }
            Some(Before::Entries { entries }) => {
                entries.keys().map(|key| (of_entry(key), key, key.clone())).collect()
            }
            Some(_) | None => match changed.first_entry() {
                Some(first) => return self.leave(row, step.action.subject(), *first.get()),
                None => Vec::new(),
            },
        };
        for (of, part, subject) in parts {
            if let Some(reason) = changed.get(of.as_str()) {
                self.leave(row, subject, *reason);
                before = before.map(|before| before.without(part));
            }
        }
        for part in inverse(&step.action, about, before.as_ref()) {
            match part {
                Ok(part) => match written(row, &part) {
                    Ok((kind, cells)) => {
                        let (source, job) = (row.place.clone(), row.job);
                        self.rows.entry(kind).or_default().push(UndoRow { source, job, cells });
                    }
                    Err(reason) => self.leave(row, step.action.subject(), reason),
                },
                Err(NotRestored { reason, field }) => {
                    let subject = field.map_or_else(|| step.action.subject(), |field| name(&field));
                    self.leave(row, subject, LeftReason::Irreversible(reason));
                }
            }
        }
    }

    fn leave(&mut self, row: &ChangedRow, subject: String, reason: LeftReason) {
        let (source, job, kind) = (row.place.clone(), row.job, row.kind);
        self.left.push(NotUndone { source, job, kind, subject, reason });
    }
}

/// The row that restores a part of what a row changed.
fn written(
    row: &ChangedRow,
    part: &Inverse,
) -> std::result::Result<(Kind, BTreeMap<&'static str, String>), LeftReason> {
    let not_read = LeftReason::Irreversible(Irreversible::NotRead);
    let owner = owner(row, &part.action).ok_or(not_read)?;
    let (kind, cells) = cells(part, row.kind, owner).ok_or(not_read)?;
    if keeps(kind, &cells) { Ok((kind, cells)) } else { Err(LeftReason::NotWritable) }
}

/// The record that an action of a row is about.
fn owner(row: &ChangedRow, action: &Action) -> Option<RemoteId> {
    if row.kind.is_record() {
        return row.remote_id;
    }
    let role = Role::owner(action.about(row.kind));
    row.links.iter().find(|(linked, _)| *linked == role).map(|&(_, id)| id)
}

/// The column of what the service had when the row was written, so that a change since then is not overwritten.
const EXPORTED: &str = "exported";

/// The row that asks for an action on a record.
fn cells(inverse: &Inverse, of: Kind, owner: RemoteId) -> Option<(Kind, BTreeMap<&'static str, String>)> {
    let of_owner = |of: &Owner| {
        let (word, interface) = match of {
            Owner::Company => ("company", String::new()),
            Owner::Site => ("site", String::new()),
            Owner::Device => ("device", String::new()),
            Owner::Interface { name, .. } => ("interface", name.clone()),
        };
        [("owner_kind", word.to_owned()), ("owner", owner.to_string()), ("interface", interface)]
    };
    let label = |OwnedLabel { owner, label }: &OwnedLabel, action: &str| {
        let cells = of_owner(owner).into_iter();
        (Upkeep::Labels, cells.chain([("label", label.clone()), ("action", action.to_owned())]).collect())
    };
    let entry = |OwnedEntry { owner, key, value, exported, .. }: &OwnedEntry, action: &str| {
        let cells = of_owner(owner).into_iter().take(2);
        let value = value.clone().unwrap_or_default();
        let exported = exported.as_ref().map(|put| (EXPORTED, json!({"value": put}).to_string()));
        let more = [("key", key.clone()), ("value", value), ("action", action.to_owned())];
        (Upkeep::Metadata, cells.chain(more).chain(exported).collect())
    };
    let of_device = |upkeep: Upkeep, more: &[(&'static str, String)]| {
        let device = ("device", owner.to_string());
        (upkeep, std::iter::once(device).chain(more.iter().cloned()).collect())
    };
    let named = |upkeep, column, of: &Offer, action: &str| {
        of_device(upkeep, &[(column, of.to_string()), ("action", action.to_owned())])
    };
    if let Action::Update(update) = &inverse.action {
        let about = inverse.action.about(of);
        let mut cells: BTreeMap<&'static str, String> =
            [("id", owner.to_string()), ("action", "update".to_owned())].into();
        let mut exported = Map::new();
        for (field, value) in &update.fields {
            let column = sheet::column::column_of_violation(about, field)?.name;
            cells.insert(column, record_update::text(value));
            if let Some(now) = update.exported.get(field) {
                exported.insert(column.to_owned(), json!(now));
            }
        }
        cells.insert(EXPORTED, Value::Object(exported).to_string());
        return Some((about, cells));
    }
    let (upkeep, cells): (Upkeep, BTreeMap<&'static str, String>) = match &inverse.action {
        Action::PutLabel(what) => label(what, "put"),
        Action::DeleteLabel(what) => label(what, "delete"),
        Action::PutMetadataEntry(what) => entry(what, "put"),
        Action::DeleteMetadataEntry(what) => entry(what, "delete"),
        Action::SubscribeTemplate(of) => named(Upkeep::Subscriptions, "template", of, "subscribe"),
        Action::UnsubscribeTemplate(of) => named(Upkeep::Subscriptions, "template", of, "unsubscribe"),
        Action::JoinVpnCloud(of) => named(Upkeep::Vpn, "cloud", of, "join"),
        Action::LeaveVpnCloud(of) => named(Upkeep::Vpn, "cloud", of, "leave"),
        Action::ConfigureVpn(settings) => {
            let (of, interface) = (settings.cloud.to_string(), settings.interfaces.first());
            let of_interface = |value: fn(&InterfaceSettings) -> Option<String>| {
                interface.and_then(value).unwrap_or_default()
            };
            let yes_or_no = |truth: bool| if truth { "yes" } else { "no" }.to_owned();
            let default = interface.and_then(|entry| entry.default).map(yes_or_no).unwrap_or_default();
            let of_field = |(field, put): (&String, &String)| {
                let column = sheet::column::column_of_violation(Kind::Upkeep(Upkeep::Vpn), field)?.name;
                Some((column.to_owned(), json!(put)))
            };
            let suite = settings.exported_suite.as_ref().map(|put| ("cipher_suite".to_owned(), json!(put)));
            let exported: Map<String, Value> = interface
                .into_iter()
                .flat_map(|entry| entry.exported.iter().filter_map(of_field))
                .chain(suite)
                .collect();
            of_device(
                Upkeep::Vpn,
                &[
                    ("cloud", of),
                    ("action", "configure".to_owned()),
                    ("cipher_suite", settings.cipher_suite.clone().unwrap_or_default()),
                    ("interface", of_interface(|entry| Some(entry.interface.clone()))),
                    ("direction", of_interface(|entry| entry.direction.clone())),
                    ("snat", of_interface(|entry| entry.snat.clone())),
                    ("weight", of_interface(|entry| entry.weight.map(|weight| weight.to_string()))),
                    ("default", default),
                    (EXPORTED, Value::Object(exported).to_string()),
                ],
            )
        }
        Action::AssignToSite => of_device(Upkeep::SiteAssignments, &[("site", inverse.site?.to_string())]),
        // Nothing is restored by them.
        Action::Create(_)
        | Action::Update(_)
        | Action::Keep(_)
        | Action::PutLabels(_)
        | Action::PutMetadata(_)
        | Action::AddLicence(_) => {
            return None;
        }
    };
    Some((Kind::Upkeep(upkeep), cells))
}

/// Whether the texts that came from the service are read back from their cells as they are.
fn keeps(kind: Kind, cells: &BTreeMap<&'static str, String>) -> bool {
    let is_restored = |name: &str| match kind.is_record() {
        true => !matches!(name, "id" | "action" | EXPORTED),
        false => matches!(name, "value" | "label" | "key" | "interface" | "direction" | "snat"),
    };
    let is_put = cells.get("action").is_some_and(|action| action == "put");
    cells.iter().filter(|(name, _)| is_restored(name)).all(|(name, text)| {
        let Some(column) = sheet::column::column(kind, name) else { return false };
        match text.is_empty() {
            true => *name != "value" || !is_put,
            false => sheet::keeps(column, text),
        }
    })
}
