//! What is known of each kind of record and of each action, whatever their values: one descriptor each, from which plan,
//! doctor, report and the run take it.

use super::kind::Kind;
use super::operation::Operation;
use super::record::Role;

/// What is known of a kind: how it is looked up and what its records refer to. Its natural key is in
/// [`natural_key`](super::key::natural_key), its columns are in the table of the sheets.
#[derive(Debug)]
pub struct KindDescriptor {
    /// The operation without which no row of the kind is created.
    pub creation: Operation,
    /// The look-ups that find a record by its natural key, best first.
    pub look_ups: &'static [Operation],
    /// The look-up of a record by its id.
    pub by_id: Operation,
    /// What its records refer to others as.
    pub roles: &'static [Role],
}

impl Kind {
    /// What is known of it.
    pub const fn descriptor(self) -> &'static KindDescriptor {
        match self {
            Self::Company => &KindDescriptor {
                creation: Operation::AddCompany,
                look_ups: &[Operation::GetChildCompanies],
                by_id: Operation::GetCompany,
                roles: &[Role::Parent],
            },
            Self::Site => &KindDescriptor {
                creation: Operation::AddSite,
                look_ups: &[Operation::FindSitesByName],
                by_id: Operation::GetSite,
                roles: &[Role::Company],
            },
            Self::Person => &KindDescriptor {
                creation: Operation::AddPerson,
                look_ups: &[Operation::GetPersonByUsername],
                by_id: Operation::GetPerson,
                roles: &[Role::Company],
            },
            Self::Device => &KindDescriptor {
                creation: Operation::AddDevice,
                look_ups: &[Operation::GetDeviceByMac, Operation::FindDevicesByName],
                by_id: Operation::GetDevice,
                roles: &[Role::Company, Role::Site, Role::Template],
            },
        }
    }
}

/// What is known of an action whatever its values.
#[derive(Debug)]
pub struct ActionDescriptor {
    /// The operation that carries it out, for each kind of record that the service has it for.
    pub operations: &'static [(Kind, Operation)],
    /// The look-ups that show whether it is so already.
    pub shown_by: &'static [Operation],
    /// What it does to a record, in words: `setting its labels`.
    pub words: &'static str,
    /// The one column of a sheet that asks for it; `None` where several do.
    pub column: Option<&'static str>,
}

/// Declares the descriptors of the actions, in the order in which a row asks for them, so that none is missing in the list.
macro_rules! actions {
    ($($name:ident = $descriptor:expr;)+) => {
        $(pub(super) static $name: ActionDescriptor = $descriptor;)+

        impl ActionDescriptor {
            /// Every action, in the order in which a row asks for them.
            pub const ALL: &'static [&'static Self] = &[$(&$name),+];
        }
    };
}

actions! {
    CREATE = ActionDescriptor {
        operations: &[
            (Kind::Company, Operation::AddCompany),
            (Kind::Site, Operation::AddSite),
            (Kind::Person, Operation::AddPerson),
            (Kind::Device, Operation::AddDevice),
            (Kind::Device, Operation::AddDeviceFromTemplate),
        ],
        shown_by: &[],
        words: "creating it",
        column: None,
    };

    PUT_LABELS = ActionDescriptor {
        operations: &[(Kind::Site, Operation::PutSiteLabels), (Kind::Device, Operation::PutDeviceLabels)],
        shown_by: &[Operation::ListSiteLabels, Operation::ListDeviceLabels],
        words: "setting its labels",
        column: None,
    };

    PUT_METADATA = ActionDescriptor {
        operations: &[
            (Kind::Company, Operation::PutCompanyMetadataList),
            (Kind::Site, Operation::PutSiteMetadataList),
            (Kind::Device, Operation::PutDeviceMetadataList),
        ],
        shown_by: &[Operation::ListCompanyMetadata, Operation::ListSiteMetadata, Operation::ListDeviceMetadata],
        words: "setting its metadata",
        column: None,
    };

    ADD_LICENCE = ActionDescriptor {
        operations: &[(Kind::Device, Operation::AddLicenceCode)],
        shown_by: &[],
        words: "adding its licence code",
        column: Some("licence_code"),
    };

    SUBSCRIBE_TEMPLATE = ActionDescriptor {
        operations: &[(Kind::Device, Operation::SubscribeTemplate)],
        shown_by: &[Operation::ListAssignedTemplates],
        words: "subscribing it to its enterprise template",
        column: Some("enterprise_template"),
    };

    JOIN_VPN_CLOUD = ActionDescriptor {
        operations: &[(Kind::Device, Operation::AddDeviceToVpnCloud)],
        shown_by: &[Operation::ListDeviceVpnClouds],
        words: "adding it to its VPN cloud",
        column: Some("vpn_clouds"),
    };
}

impl ActionDescriptor {
    /// The action that an operation carries out; `None` for one that no step sends.
    pub fn of(operation: Operation) -> Option<&'static Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|action| action.operations.iter().any(|&(_, known)| known == operation))
    }

    /// The operations that carry it out for records of a kind, the usual one first.
    pub fn operations_for(&self, kind: Kind) -> impl Iterator<Item = Operation> {
        self.operations.iter().filter(move |(known, _)| *known == kind).map(|&(_, operation)| operation)
    }
}

impl Operation {
    /// The kind of record that a call creates; `None` for one that creates none.
    pub fn makes(self) -> Option<Kind> {
        let action = ActionDescriptor::of(self).filter(|_| self.creates())?;
        action.operations.iter().find(|(_, known)| *known == self).map(|&(kind, _)| kind)
    }
}
