//! The kinds of record a sheet can hold.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
