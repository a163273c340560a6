//! Actions: what one step of a job brings about, with a descriptor for each (specification 4.2 to 4.9).
//!
//! A job is a row and its steps, and a step is one action. Creating a record is one action among others. The request that
//! carries an action out, and the look-up that shows whether it is so already, are in `service::action`.

use serde::{Deserialize, Serialize};

use super::id::RemoteId;
use super::kind::Kind;
use super::operation::Operation;
use super::record::{Metadata, Record};
use crate::mistake::{self, Mistake};

/// What a step brings about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", content = "value", rename_all = "snake_case")]
pub enum Action {
    /// Creates a record.
    Create(Record),
    /// Puts labels on a site or device.
    PutLabels(Vec<String>),
    /// Puts metadata on a company, site or device.
    PutMetadata(Vec<Metadata>),
    /// Adds a licence code to a device.
    AddLicence(String),
    /// Subscribes a device to an enterprise template.
    SubscribeTemplate(RemoteId),
    /// Adds a device to a VPN cloud.
    JoinVpnCloud(RemoteId),
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

/// What is known of an action whatever its values.
#[derive(Debug)]
pub struct Descriptor {
    /// The operation that carries it out, for each kind of record that the service has it for.
    pub operations: &'static [(Kind, Operation)],
    /// What it does to a record, in words: `setting its labels`.
    pub words: &'static str,
    /// The one column of a sheet that asks for it; `None` where several do.
    pub column: Option<&'static str>,
}

/// Creating a record.
const CREATE: Descriptor = Descriptor {
    operations: &[
        (Kind::Company, Operation::AddCompany),
        (Kind::Site, Operation::AddSite),
        (Kind::Person, Operation::AddPerson),
        (Kind::Device, Operation::AddDevice),
        (Kind::Device, Operation::AddDeviceFromTemplate),
    ],
    words: "creating it",
    column: None,
};

const PUT_LABELS: Descriptor = Descriptor {
    operations: &[(Kind::Site, Operation::PutSiteLabels), (Kind::Device, Operation::PutDeviceLabels)],
    words: "setting its labels",
    column: None,
};

const PUT_METADATA: Descriptor = Descriptor {
    operations: &[
        (Kind::Company, Operation::PutCompanyMetadataList),
        (Kind::Site, Operation::PutSiteMetadataList),
        (Kind::Device, Operation::PutDeviceMetadataList),
    ],
    words: "setting its metadata",
    column: None,
};

const ADD_LICENCE: Descriptor = Descriptor {
    operations: &[(Kind::Device, Operation::AddLicenceCode)],
    words: "adding its licence code",
    column: Some("licence_code"),
};

const SUBSCRIBE_TEMPLATE: Descriptor = Descriptor {
    operations: &[(Kind::Device, Operation::SubscribeTemplate)],
    words: "subscribing it to its enterprise template",
    column: Some("enterprise_template"),
};

const JOIN_VPN_CLOUD: Descriptor = Descriptor {
    operations: &[(Kind::Device, Operation::AddDeviceToVpnCloud)],
    words: "adding it to its VPN cloud",
    column: Some("vpn_clouds"),
};

impl Descriptor {
    /// Every action, in the order in which a row asks for them.
    pub const ALL: [&'static Self; 6] =
        [&CREATE, &PUT_LABELS, &PUT_METADATA, &ADD_LICENCE, &SUBSCRIBE_TEMPLATE, &JOIN_VPN_CLOUD];

    /// The action that an operation carries out; `None` for one that no step sends.
    pub fn of(operation: Operation) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|action| action.operations.iter().any(|&(_, known)| known == operation))
    }

    /// The operations that carry it out for records of a kind, the usual one first.
    pub fn operations_for(&self, kind: Kind) -> impl Iterator<Item = Operation> {
        self.operations.iter().filter(move |(known, _)| *known == kind).map(|&(_, operation)| operation)
    }
}

impl Action {
    /// What is known of it whatever its values.
    pub const fn descriptor(&self) -> &'static Descriptor {
        match self {
            Self::Create(_) => &CREATE,
            Self::PutLabels(_) => &PUT_LABELS,
            Self::PutMetadata(_) => &PUT_METADATA,
            Self::AddLicence(_) => &ADD_LICENCE,
            Self::SubscribeTemplate(_) => &SUBSCRIBE_TEMPLATE,
            Self::JoinVpnCloud(_) => &JOIN_VPN_CLOUD,
        }
    }

    /// The operation that carries it out for a record of `kind`; `None` where the service has none.
    pub fn operation(&self, kind: Kind) -> Option<Operation> {
        match self {
            Self::Create(record) => (record.kind() == kind).then(|| record.creation()),
            other => other.descriptor().operations_for(kind).next(),
        }
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
            Self::PutLabels(_)
            | Self::PutMetadata(_)
            | Self::SubscribeTemplate(_)
            | Self::JoinVpnCloud(_) => Repeat::Harmless,
            Self::AddLicence(_) => Repeat::Unknown,
        }
    }

    /// The record that it creates.
    pub const fn record(&self) -> Option<&Record> {
        match self {
            Self::Create(record) => Some(record),
            Self::PutLabels(_)
            | Self::PutMetadata(_)
            | Self::AddLicence(_)
            | Self::SubscribeTemplate(_)
            | Self::JoinVpnCloud(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::Quota;
    use crate::testing;

    fn actions() -> Vec<Action> {
        let mut actions: Vec<Action> =
            Kind::ALL.into_iter().map(|kind| Action::Create(testing::record(kind))).collect();
        actions.extend([
            Action::PutLabels(vec!["north".into()]),
            Action::PutMetadata(vec![Metadata { key: "k".into(), value: "v".into() }]),
            Action::AddLicence("L1".into()),
            Action::SubscribeTemplate(RemoteId::nil()),
            Action::JoinVpnCloud(RemoteId::nil()),
        ]);
        actions
    }

    #[test]
    fn an_action_has_the_operations_of_its_descriptor_and_survives_the_journal() {
        for action in actions() {
            for kind in Kind::ALL {
                let operation = action.operation(kind);
                assert!(operation.is_none_or(|operation| {
                    std::ptr::eq(Descriptor::of(operation).unwrap(), action.descriptor())
                }));
            }
            let text = serde_json::to_string(&action).unwrap();
            assert_eq!(serde_json::from_str::<Action>(&text).unwrap(), action, "{text}");
        }
    }

    #[test]
    fn only_creations_count_against_the_quota_and_only_they_make_a_second_record() {
        for action in actions() {
            let creates = action.record().is_some();
            for operation in Kind::ALL.into_iter().filter_map(|kind| action.operation(kind)) {
                assert_eq!(operation.quota() == Quota::Counted, creates, "{operation}");
            }
            let duplicates = matches!(action.repeat(), Repeat::Duplicates | Repeat::Refused);
            assert_eq!(duplicates, creates, "{action:?}");
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
