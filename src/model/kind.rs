//! The kinds of record a sheet can hold.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::operation::Operation;
use super::record::Role;

/// What the rows of a sheet are. The order is the order of creation within one company.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A customer or reseller (specification 2.3).
    Company,
    /// A group of devices (specification 2.6).
    Site,
    /// A user account (specification 2.4).
    Person,
    /// A managed network appliance (specification 2.5).
    Device,
}

impl Kind {
    /// Every kind, in the order of creation.
    pub const ALL: [Self; 4] = [Self::Company, Self::Site, Self::Person, Self::Device];

    /// One of them, as written in the journal: `company`.
    pub const fn singular(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Site => "site",
            Self::Person => "person",
            Self::Device => "device",
        }
    }

    /// Several of them, as sheets and commands name them: `companies`.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Company => "companies",
            Self::Site => "sites",
            Self::Person => "people",
            Self::Device => "devices",
        }
    }
}

/// What is known of a kind: how it is looked up and what its records refer to. Its natural key is in
/// [`natural_key`](super::key::natural_key), its actions are in [`super::action`], its columns in the table of the sheets.
#[derive(Debug)]
pub struct Descriptor {
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
    pub const fn descriptor(self) -> &'static Descriptor {
        match self {
            Self::Company => &Descriptor {
                creation: Operation::AddCompany,
                look_ups: &[Operation::GetChildCompanies],
                by_id: Operation::GetCompany,
                roles: &[Role::Parent],
            },
            Self::Site => &Descriptor {
                creation: Operation::AddSite,
                look_ups: &[Operation::FindSitesByName],
                by_id: Operation::GetSite,
                roles: &[Role::Company],
            },
            Self::Person => &Descriptor {
                creation: Operation::AddPerson,
                look_ups: &[Operation::GetPersonByUsername],
                by_id: Operation::GetPerson,
                roles: &[Role::Company],
            },
            Self::Device => &Descriptor {
                creation: Operation::AddDevice,
                look_ups: &[Operation::GetDeviceByMac, Operation::FindDevicesByName],
                by_id: Operation::GetDevice,
                roles: &[Role::Company, Role::Site, Role::Template],
            },
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plural())
    }
}

/// A word that names no kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a kind of sheet; the kinds are companies, sites, people and devices")]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.singular() == word || kind.plural() == word)
            .ok_or_else(|| UnknownKind(word.to_owned()))
    }
}
