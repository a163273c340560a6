//! What is known of each kind of record and of each action, whatever their values: one descriptor each, from which plan,
//! doctor, report and the run take it.

use super::kind::{Kind, Upkeep};
use super::operation::Operation;
use super::record::Role;

/// What is known of a kind: how it is looked up and what its records refer to. Its natural key is in
/// [`natural_key`](super::key::natural_key), its columns are in the table of the sheets.
#[derive(Debug)]
pub struct KindDescriptor {
    /// The operation without which no row of the kind is carried out: the creation of a record.
    pub creation: Operation,
    /// The look-ups that find a record by its natural key, best first.
    pub look_ups: &'static [Operation],
    /// The look-up of a record by its id; `None` for what is no record.
    pub by_id: Option<Operation>,
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
                by_id: Some(Operation::GetCompany),
                roles: &[Role::Parent],
            },
            Self::Site => &KindDescriptor {
                creation: Operation::AddSite,
                look_ups: &[Operation::FindSitesByName],
                by_id: Some(Operation::GetSite),
                roles: &[Role::Company],
            },
            Self::Person => &KindDescriptor {
                creation: Operation::AddPerson,
                look_ups: &[Operation::GetPersonByUsername],
                by_id: Some(Operation::GetPerson),
                roles: &[Role::Company],
            },
            Self::Device => &KindDescriptor {
                creation: Operation::AddDevice,
                look_ups: &[Operation::GetDeviceByMac, Operation::FindDevicesByName],
                by_id: Some(Operation::GetDevice),
                roles: &[Role::Company, Role::Site, Role::Template],
            },
            Self::Upkeep(upkeep) => upkeep.descriptor(),
        }
    }
}

impl Upkeep {
    const fn descriptor(self) -> &'static KindDescriptor {
        const DEVICE: &[Role] = &[Role::Device];
        const fn of(creation: Operation, roles: &'static [Role]) -> KindDescriptor {
            KindDescriptor { creation, look_ups: &[], by_id: None, roles }
        }
        const LABELS: KindDescriptor = of(Operation::PutDeviceLabel, &[Role::Site, Role::Device]);
        const METADATA: KindDescriptor =
            of(Operation::PutDeviceMetadata, &[Role::Company, Role::Site, Role::Device]);
        const LICENCES: KindDescriptor = of(Operation::AddLicenceCode, DEVICE);
        const SUBSCRIPTIONS: KindDescriptor = of(Operation::SubscribeTemplate, DEVICE);
        const ASSIGNMENTS: KindDescriptor = of(Operation::AssignDeviceToSite, &[Role::Device, Role::Site]);
        const VPN: KindDescriptor = of(Operation::AddDeviceToVpnCloud, DEVICE);
        const COMPANY_UPDATES: KindDescriptor = of(Operation::UpdateCompany, &[Role::Company]);
        const SITE_UPDATES: KindDescriptor = of(Operation::UpdateSite, &[Role::Site]);
        const DEVICE_UPDATES: KindDescriptor = of(Operation::UpdateDevice, &[Role::Device, Role::Site]);
        match self {
            Self::Labels => &LABELS,
            Self::Metadata => &METADATA,
            Self::Licences => &LICENCES,
            Self::Subscriptions => &SUBSCRIPTIONS,
            Self::SiteAssignments => &ASSIGNMENTS,
            Self::Vpn => &VPN,
            Self::CompanyUpdates => &COMPANY_UPDATES,
            Self::SiteUpdates => &SITE_UPDATES,
            Self::DeviceUpdates => &DEVICE_UPDATES,
        }
    }
}

impl Kind {
    /// Whether the service keeps the natural key of its records unique: usernames, and MAC addresses of devices that have one.
    pub fn has_unique_key(self, has_mac: bool) -> bool {
        match self {
            Self::Person => true,
            Self::Device => has_mac,
            Self::Company | Self::Site | Self::Upkeep(_) => false,
        }
    }

    /// The look-ups that find a record by its natural key, best first.
    pub fn found_by(self, has_mac: bool) -> Vec<Operation> {
        let usable = |operation: &Operation| has_mac || *operation != Operation::GetDeviceByMac;
        self.descriptor().look_ups.iter().copied().filter(usable).collect()
    }

    /// The look-ups that read a record back, best first. Where its key is unique the id shows as much as the key, by an
    /// operation that has nothing else to do.
    pub fn read_back_by(self, has_mac: bool) -> Vec<Operation> {
        let by_id = self.descriptor().by_id;
        let first = by_id.filter(|_| self.has_unique_key(has_mac));
        first.into_iter().chain(self.found_by(has_mac)).chain(by_id).collect()
    }

    /// Whether one list shows many of its rows, so that they are read back when everything else is done.
    pub const fn is_listed(self) -> bool {
        matches!(self, Self::Company | Self::Upkeep(_))
    }
}

const COMPANY_UPDATES: Kind = Kind::Upkeep(Upkeep::CompanyUpdates);
const SITE_UPDATES: Kind = Kind::Upkeep(Upkeep::SiteUpdates);
const DEVICE_UPDATES: Kind = Kind::Upkeep(Upkeep::DeviceUpdates);

/// What is known of an action whatever its values.
#[derive(Debug)]
pub struct ActionDescriptor {
    /// The kinds of rows that ask for it.
    pub asked_by: &'static [Kind],
    /// The operation that carries it out, for each kind of record that the service has it for.
    pub operations: &'static [(Kind, Operation)],
    /// The look-ups that show whether it is so already.
    pub shown_by: &'static [Operation],
    /// What it does to a record, in words: `setting its labels`.
    pub words: &'static str,
    /// The columns that ask for it, one in each kind of sheet; empty where several columns of a sheet do.
    pub columns: &'static [&'static str],
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
        asked_by: &Kind::RECORDS,
        operations: &[
            (Kind::Company, Operation::AddCompany),
            (Kind::Site, Operation::AddSite),
            (Kind::Person, Operation::AddPerson),
            (Kind::Device, Operation::AddDevice),
            (Kind::Device, Operation::AddDeviceFromTemplate),
        ],
        shown_by: &[],
        words: "creating it",
        columns: &[],
    };

    UPDATE = ActionDescriptor {
        asked_by: &[COMPANY_UPDATES, SITE_UPDATES, DEVICE_UPDATES],
        operations: &[
            (Kind::Company, Operation::UpdateCompany),
            (Kind::Site, Operation::UpdateSite),
            (Kind::Device, Operation::UpdateDevice),
        ],
        shown_by: &[Operation::GetCompany, Operation::GetSite, Operation::GetDevice],
        words: "changing its fields",
        columns: &[],
    };

    PUT_LABELS = ActionDescriptor {
        asked_by: &[Kind::Site, Kind::Device, SITE_UPDATES, DEVICE_UPDATES],
        operations: &[(Kind::Site, Operation::PutSiteLabels), (Kind::Device, Operation::PutDeviceLabels)],
        shown_by: &[Operation::ListSiteLabels, Operation::ListDeviceLabels],
        words: "setting its labels",
        columns: &[],
    };

    PUT_METADATA = ActionDescriptor {
        asked_by: &[
            Kind::Company,
            Kind::Site,
            Kind::Device,
            COMPANY_UPDATES,
            SITE_UPDATES,
            DEVICE_UPDATES,
        ],
        operations: &[
            (Kind::Company, Operation::PutCompanyMetadataList),
            (Kind::Site, Operation::PutSiteMetadataList),
            (Kind::Device, Operation::PutDeviceMetadataList),
        ],
        shown_by: &[Operation::ListCompanyMetadata, Operation::ListSiteMetadata, Operation::ListDeviceMetadata],
        words: "setting its metadata",
        columns: &[],
    };

    ADD_LICENCE = ActionDescriptor {
        asked_by: &[Kind::Device, Kind::Upkeep(Upkeep::Licences)],
        operations: &[(Kind::Device, Operation::AddLicenceCode)],
        shown_by: &[],
        words: "adding its licence code",
        columns: &["licence_code"],
    };

    SUBSCRIBE_TEMPLATE = ActionDescriptor {
        asked_by: &[Kind::Device, DEVICE_UPDATES, Kind::Upkeep(Upkeep::Subscriptions)],
        operations: &[(Kind::Device, Operation::SubscribeTemplate)],
        shown_by: &[Operation::ListAssignedTemplates],
        words: "subscribing it to its enterprise template",
        columns: &["enterprise_template", "template"],
    };

    JOIN_VPN_CLOUD = ActionDescriptor {
        asked_by: &[Kind::Device, DEVICE_UPDATES, Kind::Upkeep(Upkeep::Vpn)],
        operations: &[(Kind::Device, Operation::AddDeviceToVpnCloud)],
        shown_by: &[Operation::ListDeviceVpnClouds],
        words: "adding it to its VPN cloud",
        columns: &["vpn_clouds", "cloud"],
    };

    PUT_LABEL = ActionDescriptor {
        asked_by: &[Kind::Upkeep(Upkeep::Labels)],
        operations: &[
            (Kind::Site, Operation::PutSiteLabel),
            (Kind::Device, Operation::PutDeviceLabel),
            (Kind::Device, Operation::PutInterfaceLabel),
        ],
        shown_by: &[Operation::ListSiteLabels, Operation::ListDeviceLabels, Operation::ListInterfaceLabels],
        words: "putting the label",
        columns: &["label"],
    };

    DELETE_LABEL = ActionDescriptor {
        asked_by: &[Kind::Upkeep(Upkeep::Labels)],
        operations: &[(Kind::Device, Operation::DeleteInterfaceLabel)],
        shown_by: &[Operation::ListInterfaceLabels],
        words: "deleting the label",
        columns: &["label"],
    };

    PUT_METADATA_ENTRY = ActionDescriptor {
        asked_by: &[Kind::Upkeep(Upkeep::Metadata)],
        operations: &[
            (Kind::Company, Operation::PutCompanyMetadata),
            (Kind::Site, Operation::PutSiteMetadata),
            (Kind::Device, Operation::PutDeviceMetadata),
        ],
        shown_by: &[Operation::ListCompanyMetadata, Operation::ListSiteMetadata, Operation::ListDeviceMetadata],
        words: "putting the entry",
        columns: &["value"],
    };

    DELETE_METADATA_ENTRY = ActionDescriptor {
        asked_by: &[Kind::Upkeep(Upkeep::Metadata)],
        operations: &[
            (Kind::Company, Operation::DeleteCompanyMetadata),
            (Kind::Site, Operation::DeleteSiteMetadata),
            (Kind::Device, Operation::DeleteDeviceMetadata),
        ],
        shown_by: &[Operation::ListCompanyMetadata, Operation::ListSiteMetadata, Operation::ListDeviceMetadata],
        words: "deleting the entry",
        columns: &["key"],
    };

    UNSUBSCRIBE_TEMPLATE = ActionDescriptor {
        asked_by: &[Kind::Upkeep(Upkeep::Subscriptions)],
        operations: &[(Kind::Device, Operation::UnsubscribeTemplate)],
        shown_by: &[Operation::ListAssignedTemplates],
        words: "unsubscribing the device from the template",
        columns: &["template"],
    };

    LEAVE_VPN_CLOUD = ActionDescriptor {
        asked_by: &[Kind::Upkeep(Upkeep::Vpn)],
        operations: &[(Kind::Device, Operation::RemoveDeviceFromVpnCloud)],
        shown_by: &[Operation::ListDeviceVpnClouds],
        words: "removing the device from the VPN cloud",
        columns: &["cloud"],
    };

    CONFIGURE_VPN = ActionDescriptor {
        asked_by: &[Kind::Upkeep(Upkeep::Vpn)],
        operations: &[(Kind::Device, Operation::UpdateDeviceVpnConfiguration)],
        shown_by: &[Operation::GetDeviceVpnConfiguration],
        words: "configuring the device in the VPN cloud",
        columns: &["cloud"],
    };

    ASSIGN_TO_SITE = ActionDescriptor {
        asked_by: &[DEVICE_UPDATES, Kind::Upkeep(Upkeep::SiteAssignments)],
        operations: &[(Kind::Device, Operation::AssignDeviceToSite)],
        shown_by: &[Operation::ListSiteDeviceOnlineStatuses],
        words: "assigning the device to the site",
        columns: &["site"],
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

    /// The look-up that shows what an operation has changed: the one in its place, where the action has one for each.
    pub fn shown_by_of(operation: Operation) -> Option<Operation> {
        let action = Self::of(operation)?;
        let place = action.operations.iter().position(|&(_, known)| known == operation)?;
        action.shown_by.get(place).copied()
    }

    /// The operations that carry it out on records of a kind, the usual one first.
    pub fn operations_on(&self, kind: Kind) -> impl Iterator<Item = Operation> {
        self.operations.iter().filter(move |(known, _)| *known == kind).map(|&(_, operation)| operation)
    }

    /// The operations by which rows of a kind have it carried out: on their own record, or on any that they refer to.
    pub fn operations_for(&self, rows: Kind) -> impl Iterator<Item = Operation> {
        let asks = self.asked_by.contains(&rows);
        let own = rows.sheet();
        let fits = move |kind: Kind| asks && (kind == own || !own.is_record());
        self.operations.iter().filter(move |(kind, _)| fits(*kind)).map(|&(_, operation)| operation)
    }
}

impl Operation {
    /// The kind of record that a call creates; `None` for one that creates none.
    pub fn makes(self) -> Option<Kind> {
        let action = ActionDescriptor::of(self).filter(|_| self.creates())?;
        action.operations.iter().find(|(_, known)| *known == self).map(|&(kind, _)| kind)
    }
}
