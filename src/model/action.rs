//! Actions: what one step of a job brings about (specification 4.2 to 4.9).
//!
//! A job is a row and its steps, and a step is one action. Creating a record is one action among others. The request that
//! carries an action out, and the look-up that shows whether it is so already, are in `service::action`; what is known of an
//! action whatever its values is in [`super::descriptor`].

pub mod before;
pub mod inverse;
mod offer;
pub mod opposes;
pub mod record_update;
pub mod setting;
mod vpn;
pub mod vpn_comparison;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::descriptor::{self, ActionDescriptor};
use super::id::RemoteId;
use super::kind::{Kind, Upkeep};
use super::operation::Operation;
use super::record::{Metadata, Record};
use crate::mistake::{self, Mistake};
pub use offer::Offer;
use record_update::RecordUpdate;
pub use vpn::{CIPHER_SUITES, InterfaceSettings, ReplacedSetting, VpnSettings};

/// What a step brings about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", content = "value", rename_all = "snake_case")]
pub enum Action {
    /// Creates a record.
    Create(Record),
    /// Changes fields of a record that exists.
    Update(RecordUpdate),
    /// What an export saw and nobody changed in the sheet. It asks for nothing: it is carried out again only if the operator
    /// lets the sheet overwrite what the service has changed since.
    Keep(Box<Action>),
    /// Puts labels on a site or device.
    PutLabels(Vec<String>),
    /// Puts metadata on a company, site or device.
    PutMetadata(Vec<Metadata>),
    /// Adds a licence code to a device.
    AddLicence(String),
    /// Subscribes a device to an enterprise template.
    SubscribeTemplate(Offer),
    /// Adds a device to a VPN cloud.
    JoinVpnCloud(Offer),
    /// Puts one label on a site, device or interface, beside those that it has.
    PutLabel(OwnedLabel),
    /// Deletes a label of an interface.
    DeleteLabel(OwnedLabel),
    /// Puts one metadata entry on a company, site or device, beside those that it has.
    PutMetadataEntry(OwnedEntry),
    /// Deletes a metadata entry.
    DeleteMetadataEntry(OwnedEntry),
    /// Unsubscribes a device from an enterprise template.
    UnsubscribeTemplate(Offer),
    /// Removes a device from a VPN cloud.
    LeaveVpnCloud(Offer),
    /// Assigns a device to a site. Both are links of its row.
    AssignToSite,
    /// Gives a device settings in a VPN cloud.
    ConfigureVpn(VpnSettings),
}

/// When rows about one record are sent, the earliest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// What makes the record, with all that its row puts there.
    Create,
    /// What takes something away.
    Remove,
    /// What puts something there.
    Put,
    /// What needs something that was put: settings in a cloud.
    Configure,
}

/// What a label or a metadata entry belongs to. The record is a link of its row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A company.
    Company,
    /// A site.
    Site,
    /// A device.
    Device,
    /// An Ethernet interface of a device.
    Interface {
        /// Its `normalizedName` or its id, as the row has it.
        name: String,
        /// Its id, once the list of the device's interfaces has shown it.
        #[serde(skip)]
        id: Option<RemoteId>,
    },
}

impl Owner {
    /// The kind of record that the row refers to; of an interface, its device.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Company => Kind::Company,
            Self::Site => Kind::Site,
            Self::Device | Self::Interface { .. } => Kind::Device,
        }
    }
}

/// What an upkeep row of this kind asks to be changed of its record: the cells of an update, of which an address is one; each
/// setting in a VPN cloud. A row of any other sheet asks for one thing, which is in its natural key.
pub fn wishes(kind: Kind, steps: &[Action]) -> BTreeSet<String> {
    let updates = is_update(kind);
    let mut wishes = BTreeSet::new();
    for step in steps.iter().filter(|step| !step.is_as_exported()) {
        match step {
            Action::Update(update) => {
                let fields = update.fields.keys().chain(update.fixed.keys());
                wishes.extend(fields.map(|field| record_update::root(field).to_owned()));
            }
            Action::PutMetadata(entries) if updates => {
                wishes.extend(entries.iter().map(Metadata::wish));
            }
            other if updates => drop(wishes.insert(other.descriptor().words.to_owned())),
            Action::ConfigureVpn(settings) => wishes.extend(settings.wishes()),
            _ => drop(wishes.insert(String::new())),
        }
    }
    wishes
}

fn is_update(kind: Kind) -> bool {
    matches!(kind, Kind::Upkeep(upkeep) if upkeep.updated().is_some())
}

/// Whether a later row of this kind asks for all again that an earlier one did; of a list, for each of its parts.
pub fn asks_again(kind: Kind, earlier: &[Action], later: &[Action]) -> bool {
    let is_part = |step: &&Action| {
        matches!(step, Action::PutLabels(_) | Action::SubscribeTemplate(_) | Action::JoinVpnCloud(_))
    };
    wishes(kind, later).is_superset(&wishes(kind, earlier))
        && (!is_update(kind) || earlier.iter().filter(is_part).all(|step| later.contains(step)))
}

/// A label and what it is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedLabel {
    /// What it is on.
    pub owner: Owner,
    /// Its text.
    pub label: String,
}

/// A metadata entry and what it is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedEntry {
    /// What it is on.
    pub owner: Owner,
    /// Its key, case kept.
    pub key: String,
    /// Its value; `None` where it is deleted.
    pub value: Option<String>,
    /// The value that an export saw, where the row comes from one; blank for an entry without a value, or that was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exported: Option<String>,
    /// The id by which it is deleted, once the owner's list has shown it.
    #[serde(skip)]
    pub id: Option<RemoteId>,
}

/// What a second request does after one that may have been carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// It makes another record, which cannot be deleted.
    Duplicates,
    /// The service refuses it: a value of the record is unique (specification 2.5 and 7).
    Refused,
    /// It changes nothing.
    Harmless,
    /// The specification does not say.
    Unknown,
}

impl Action {
    /// What is known of it whatever its values.
    pub const fn descriptor(&self) -> &'static ActionDescriptor {
        match self {
            Self::Create(_) => &descriptor::CREATE,
            Self::Update(_) => &descriptor::UPDATE,
            Self::Keep(action) => action.descriptor(),
            Self::PutLabels(_) => &descriptor::PUT_LABELS,
            Self::PutMetadata(_) => &descriptor::PUT_METADATA,
            Self::AddLicence(_) => &descriptor::ADD_LICENCE,
            Self::SubscribeTemplate(_) => &descriptor::SUBSCRIBE_TEMPLATE,
            Self::JoinVpnCloud(_) => &descriptor::JOIN_VPN_CLOUD,
            Self::PutLabel(_) => &descriptor::PUT_LABEL,
            Self::DeleteLabel(_) => &descriptor::DELETE_LABEL,
            Self::PutMetadataEntry(_) => &descriptor::PUT_METADATA_ENTRY,
            Self::DeleteMetadataEntry(_) => &descriptor::DELETE_METADATA_ENTRY,
            Self::UnsubscribeTemplate(_) => &descriptor::UNSUBSCRIBE_TEMPLATE,
            Self::LeaveVpnCloud(_) => &descriptor::LEAVE_VPN_CLOUD,
            Self::AssignToSite => &descriptor::ASSIGN_TO_SITE,
            Self::ConfigureVpn(_) => &descriptor::CONFIGURE_VPN,
        }
    }

    /// The kind of record that it is about, as a step of a row of `kind`: the row's own, or the one that an upkeep row
    /// refers to.
    pub const fn about(&self, kind: Kind) -> Kind {
        match (kind, self) {
            (_, Self::Keep(action)) => action.about(kind),
            (Kind::Upkeep(Upkeep::CompanyUpdates | Upkeep::SiteUpdates | Upkeep::DeviceUpdates), _) => {
                kind.sheet()
            }
            (Kind::Upkeep(_), Self::PutLabel(label) | Self::DeleteLabel(label)) => label.owner.kind(),
            (Kind::Upkeep(_), Self::PutMetadataEntry(entry) | Self::DeleteMetadataEntry(entry)) => {
                entry.owner.kind()
            }
            (Kind::Upkeep(_), _) => Kind::Device,
            (Kind::Company | Kind::Site | Kind::Person | Kind::Device, _) => kind,
        }
    }

    /// The operation that carries it out as a step of a row of `kind`; `None` where the service has none.
    pub fn operation(&self, kind: Kind) -> Option<Operation> {
        match self {
            Self::Create(record) => (record.kind() == kind).then(|| record.creation()),
            Self::Keep(action) => action.operation(kind),
            Self::PutLabel(OwnedLabel { owner: Owner::Interface { .. }, .. }) => {
                Some(Operation::PutInterfaceLabel)
            }
            other => other.descriptor().operations_on(self.about(kind)).next(),
        }
    }

    /// Whether a row asks for a change by it. What an export saw and nobody changed asks for none.
    pub fn asks_for_a_change(&self) -> bool {
        match self {
            Self::Keep(_) => false,
            Self::Update(update) => !update.fields.is_empty(),
            Self::ConfigureVpn(settings) => settings.asks_for_a_change(),
            _ => true,
        }
    }

    /// Whether it is what an export saw, and nobody has changed it.
    pub fn is_as_exported(&self) -> bool {
        match self {
            Self::Keep(_) => true,
            Self::Update(update) => update.fields.is_empty() && update.fixed.is_empty(),
            Self::ConfigureVpn(settings) => !settings.asks_for_a_change(),
            _ => false,
        }
    }

    /// When it is sent among the rows about one record.
    pub const fn turn(&self) -> Turn {
        match self {
            Self::DeleteLabel(_)
            | Self::DeleteMetadataEntry(_)
            | Self::UnsubscribeTemplate(_)
            | Self::LeaveVpnCloud(_) => Turn::Remove,
            Self::Keep(action) => action.turn(),
            Self::Create(_) => Turn::Create,
            Self::Update(_)
            | Self::PutLabels(_)
            | Self::PutMetadata(_)
            | Self::AddLicence(_)
            | Self::SubscribeTemplate(_)
            | Self::JoinVpnCloud(_)
            | Self::PutLabel(_)
            | Self::PutMetadataEntry(_)
            | Self::AssignToSite => Turn::Put,
            Self::ConfigureVpn(_) => Turn::Configure,
        }
    }

    /// Whether it changes a record or settings as a whole, of which rows of other imports know nothing.
    pub fn replaces(&self) -> bool {
        matches!(self, Self::Update(_) | Self::ConfigureVpn(_))
    }

    /// Whether it takes something away.
    pub fn removes(&self) -> bool {
        self.turn() == Turn::Remove
    }

    /// What a second request does after one that may have been carried out.
    pub fn repeat(&self) -> Repeat {
        match self {
            Self::Create(Record::Device(device))
                if device.makes_a_site() && !mistake::made(Mistake::OwnSiteSentAgain) =>
            {
                Repeat::Duplicates
            }
            Self::Create(Record::Device(device)) if device.identification.is_some() => Repeat::Refused,
            Self::Create(_) => Repeat::Duplicates,
            Self::Keep(action) => action.repeat(),
            Self::Update(_)
            | Self::PutLabels(_)
            | Self::PutMetadata(_)
            | Self::SubscribeTemplate(_)
            | Self::JoinVpnCloud(_)
            | Self::PutLabel(_)
            | Self::DeleteLabel(_)
            | Self::PutMetadataEntry(_)
            | Self::DeleteMetadataEntry(_)
            | Self::UnsubscribeTemplate(_)
            | Self::LeaveVpnCloud(_)
            | Self::AssignToSite
            | Self::ConfigureVpn(_) => Repeat::Harmless,
            Self::AddLicence(_) => Repeat::Unknown,
        }
    }

    /// Takes in the id of what it names otherwise.
    pub fn set_id(&mut self, found: RemoteId) {
        match self {
            Self::PutLabel(OwnedLabel { owner: Owner::Interface { id, .. }, .. })
            | Self::DeleteLabel(OwnedLabel { owner: Owner::Interface { id, .. }, .. })
            | Self::DeleteMetadataEntry(OwnedEntry { id, .. }) => *id = Some(found),
            Self::SubscribeTemplate(offer)
            | Self::UnsubscribeTemplate(offer)
            | Self::JoinVpnCloud(offer)
            | Self::LeaveVpnCloud(offer) => offer.set_id(found),
            Self::ConfigureVpn(settings) => {
                settings.cloud.set_id(found);
                settings.interfaces.iter_mut().for_each(|interface| interface.id = Some(found));
            }
            _ => {}
        }
    }

    /// What tells it from other rows about the same record: the text of a label, the key of an entry, the id or name of
    /// a template or cloud. Nothing for a creation, and for what a record has one of.
    pub fn subject(&self) -> String {
        match self {
            Self::PutLabel(OwnedLabel { owner, label }) | Self::DeleteLabel(OwnedLabel { owner, label }) => {
                match owner {
                    Owner::Interface { name, .. } => format!("{label} ({name})"),
                    Owner::Company | Owner::Site | Owner::Device => label.clone(),
                }
            }
            Self::PutMetadataEntry(entry) | Self::DeleteMetadataEntry(entry) => entry.key.clone(),
            Self::AddLicence(code) => code.clone(),
            Self::Keep(action) => action.subject(),
            Self::SubscribeTemplate(offer)
            | Self::UnsubscribeTemplate(offer)
            | Self::JoinVpnCloud(offer)
            | Self::LeaveVpnCloud(offer) => offer.to_string(),
            // Its membership in the cloud is another row's.
            Self::ConfigureVpn(settings) => format!("{} (settings)", settings.cloud),
            Self::Create(_)
            | Self::Update(_)
            | Self::PutLabels(_)
            | Self::PutMetadata(_)
            | Self::AssignToSite => String::new(),
        }
    }

    /// The record that it creates.
    pub const fn record(&self) -> Option<&Record> {
        match self {
            Self::Create(record) => Some(record),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::Quota;
    use crate::testing;

    #[test]
    fn an_action_has_the_operations_of_its_descriptor_and_survives_the_journal() {
        for action in testing::actions() {
            for kind in Kind::ALL {
                let operation = action.operation(kind);
                assert!(operation.is_none_or(|operation| {
                    std::ptr::eq(ActionDescriptor::of(operation).unwrap(), action.descriptor())
                }));
            }
            let text = serde_json::to_string(&action).unwrap();
            assert_eq!(serde_json::from_str::<Action>(&text).unwrap(), action, "{text}");
        }
    }

    #[test]
    fn every_descriptor_has_an_action_that_is_tested() {
        for descriptor in ActionDescriptor::ALL {
            let is_tested = |action: &Action| std::ptr::eq(action.descriptor(), *descriptor);
            assert!(testing::actions().iter().any(is_tested), "{}", descriptor.words);
        }
    }

    #[test]
    fn only_creations_count_against_the_quota_and_only_they_make_a_second_record() {
        for action in testing::actions() {
            let creates = action.record().is_some();
            for operation in Kind::ALL.into_iter().filter_map(|kind| action.operation(kind)) {
                assert_eq!(operation.quota() == Quota::Counted, creates, "{operation}");
            }
            let duplicates = matches!(action.repeat(), Repeat::Duplicates | Repeat::Refused);
            assert_eq!(duplicates, creates, "{action:?}");
        }
    }

    #[test]
    fn a_later_update_asks_again_for_another_value_of_a_cell_but_not_for_another_part_of_a_list() {
        let metadata = |key: &str, value: &str| {
            Action::PutMetadata(vec![Metadata { key: key.to_owned(), value: value.to_owned() }])
        };
        let labels = |label: &str| Action::PutLabels(vec![label.to_owned()]);
        let join = |cloud: &str| Action::JoinVpnCloud(Offer::named(cloud));
        let table = [
            (vec![metadata("floor", "1")], vec![metadata("floor", "3")], true),
            (vec![metadata("floor", "1")], vec![metadata("room", "1")], false),
            (vec![Action::AssignToSite], vec![Action::AssignToSite, labels("till")], true),
            (vec![labels("till")], vec![labels("till")], true),
            (vec![labels("till")], vec![labels("north")], false),
            (vec![join("Office")], vec![join("Lab"), join("Office")], true),
            (vec![join("Office"), join("Lab")], vec![join("Office")], false),
        ];
        for (earlier, later, expected) in table {
            let kind = Kind::Upkeep(Upkeep::DeviceUpdates);
            assert_eq!(asks_again(kind, &earlier, &later), expected, "{earlier:?}, then {later:?}");
        }
    }

    #[test]
    fn the_service_refuses_a_second_device_with_a_mac_address_unless_its_site_would_be_made_twice() {
        let mut device = testing::device("Till", Some("00:1a:2b:3c:4d:5e"));
        assert_eq!(Action::Create(Record::Device(device.clone())).repeat(), Repeat::Refused);
        device.custom_site_name = Some("HQ".into());
        assert_eq!(Action::Create(Record::Device(device)).repeat(), Repeat::Duplicates);
    }
}
