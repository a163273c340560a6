//! What the rows of a sheet are: records to be created, or upkeep of records that exist.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::json_schema::serialize_as_word;
use crate::model::amount::listed;

/// What the rows of a sheet are. The order is the order in which rows of one company are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub enum Kind {
    /// A customer or reseller (specification 2.3).
    Company,
    /// A group of devices (specification 2.6).
    Site,
    /// A user account (specification 2.4).
    Person,
    /// A managed network appliance (specification 2.5).
    Device,
    /// Something about a record that exists, or that another row creates.
    Upkeep(Upkeep),
}

/// What the rows of an upkeep sheet are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Upkeep {
    /// A label of a site, device or interface (specification 4.3).
    Labels,
    /// A metadata entry of a company, site or device (specification 4.6).
    Metadata,
    /// A licence code of a device (specification 4.4).
    Licences,
    /// An enterprise template that a device is subscribed to (specification 4.5).
    Subscriptions,
    /// The site that a device is assigned to (specification 4.8).
    SiteAssignments,
    /// A VPN cloud that a device belongs to (specification 4.9).
    Vpn,
    /// Fields of a company that exists (specification 4.2); a row of the companies sheet with the action `update`.
    CompanyUpdates,
    /// Fields of a site that exists (specification 4.8).
    SiteUpdates,
    /// Fields of a device that exists (specification 4.5).
    DeviceUpdates,
}

impl Upkeep {
    /// What a row of the sheet is about, beside its record: `label`.
    pub const fn thing(self) -> &'static str {
        match self {
            Self::Labels => "label",
            Self::Metadata => "entry",
            Self::Licences => "licence code",
            Self::Subscriptions => "template",
            Self::SiteAssignments => "site",
            Self::Vpn => "cloud",
            Self::CompanyUpdates => "company",
            Self::SiteUpdates => "site",
            Self::DeviceUpdates => "device",
        }
    }

    /// The kind of record whose fields a row changes; `None` for a row of a sheet of its own.
    pub const fn updated(self) -> Option<Kind> {
        match self {
            Self::CompanyUpdates => Some(Kind::Company),
            Self::SiteUpdates => Some(Kind::Site),
            Self::DeviceUpdates => Some(Kind::Device),
            Self::Labels
            | Self::Metadata
            | Self::Licences
            | Self::Subscriptions
            | Self::SiteAssignments
            | Self::Vpn => None,
        }
    }
}

impl Kind {
    /// Every kind, in the order in which rows are carried out.
    pub const ALL: [Self; 13] = [
        Self::Company,
        Self::Site,
        Self::Person,
        Self::Device,
        Self::Upkeep(Upkeep::Labels),
        Self::Upkeep(Upkeep::Metadata),
        Self::Upkeep(Upkeep::Licences),
        Self::Upkeep(Upkeep::Subscriptions),
        Self::Upkeep(Upkeep::SiteAssignments),
        Self::Upkeep(Upkeep::Vpn),
        Self::Upkeep(Upkeep::CompanyUpdates),
        Self::Upkeep(Upkeep::SiteUpdates),
        Self::Upkeep(Upkeep::DeviceUpdates),
    ];

    /// The kinds that have sheets of their own, in the order of the sheets.
    pub const SHEETS: [Self; 10] = [
        Self::Company,
        Self::Site,
        Self::Person,
        Self::Device,
        Self::Upkeep(Upkeep::Labels),
        Self::Upkeep(Upkeep::Metadata),
        Self::Upkeep(Upkeep::Licences),
        Self::Upkeep(Upkeep::Subscriptions),
        Self::Upkeep(Upkeep::SiteAssignments),
        Self::Upkeep(Upkeep::Vpn),
    ];

    /// The kinds whose rows are records, in the order of creation.
    pub const RECORDS: [Self; 4] = [Self::Company, Self::Site, Self::Person, Self::Device];

    /// Its place in [`Kind::ALL`].
    pub const fn index(self) -> usize {
        match self {
            Self::Company => 0,
            Self::Site => 1,
            Self::Person => 2,
            Self::Device => 3,
            Self::Upkeep(upkeep) => 4 + upkeep as usize,
        }
    }

    /// The kind of the sheets in which its rows stand.
    pub const fn sheet(self) -> Self {
        match self {
            Self::Upkeep(upkeep) => match upkeep.updated() {
                Some(record) => record,
                None => self,
            },
            Self::Company | Self::Site | Self::Person | Self::Device => self,
        }
    }

    /// The kind of the rows of its sheets that change records which exist; `None` where the service changes none.
    pub const fn updates(self) -> Option<Self> {
        match self {
            Self::Company => Some(Self::Upkeep(Upkeep::CompanyUpdates)),
            Self::Site => Some(Self::Upkeep(Upkeep::SiteUpdates)),
            Self::Device => Some(Self::Upkeep(Upkeep::DeviceUpdates)),
            Self::Person | Self::Upkeep(_) => None,
        }
    }

    /// Whether its rows are records.
    pub const fn is_record(self) -> bool {
        !matches!(self, Self::Upkeep(_))
    }

    /// One of them, as written in the journal: `company`.
    pub const fn singular(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Site => "site",
            Self::Person => "person",
            Self::Device => "device",
            Self::Upkeep(Upkeep::Labels) => "label",
            Self::Upkeep(Upkeep::Metadata) => "metadata entry",
            Self::Upkeep(Upkeep::Licences) => "licence",
            Self::Upkeep(Upkeep::Subscriptions) => "subscription",
            Self::Upkeep(Upkeep::SiteAssignments) => "site assignment",
            Self::Upkeep(Upkeep::Vpn) => "VPN membership",
            Self::Upkeep(Upkeep::CompanyUpdates) => "company update",
            Self::Upkeep(Upkeep::SiteUpdates) => "site update",
            Self::Upkeep(Upkeep::DeviceUpdates) => "device update",
        }
    }

    /// Several of them, as sheets and commands name them: `companies`.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Company => "companies",
            Self::Site => "sites",
            Self::Person => "people",
            Self::Device => "devices",
            Self::Upkeep(Upkeep::Labels) => "labels",
            Self::Upkeep(Upkeep::Metadata) => "metadata",
            Self::Upkeep(Upkeep::Licences) => "licences",
            Self::Upkeep(Upkeep::Subscriptions) => "subscriptions",
            Self::Upkeep(Upkeep::SiteAssignments) => "site_assignments",
            Self::Upkeep(Upkeep::Vpn) => "vpn",
            Self::Upkeep(Upkeep::CompanyUpdates) => "company updates",
            Self::Upkeep(Upkeep::SiteUpdates) => "site updates",
            Self::Upkeep(Upkeep::DeviceUpdates) => "device updates",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plural())
    }
}

serialize_as_word!(Kind, Kind::singular, "Kind", "What the rows of a sheet are, or one record.", Kind::ALL);

/// A kind that serialises as the name of its sheet: `devices`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plural(pub Kind);

serialize_as_word!(
    Plural,
    |kinds| kinds.0.plural(),
    "Kinds",
    "What the rows of a sheet are, as sheets are called.",
    Kind::ALL.map(Plural)
);

/// A word that names no kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a kind of sheet; the kinds are {kinds}", kinds = kinds())]
pub struct UnknownKind(pub String);

fn kinds() -> String {
    listed(&Kind::SHEETS.map(Kind::plural)).unwrap_or_default()
}

/// A kind of sheet, as people name it; as worksheets are named, with capitals as well.
impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let is_sheet = |kind: &Self| kind.plural().eq_ignore_ascii_case(word);
        named(&Self::SHEETS, word)
            .or_else(|| Self::SHEETS.into_iter().find(is_sheet))
            .ok_or_else(|| UnknownKind(word.to_owned()))
    }
}

/// Any kind, as it was written by us: in the journal, a plan.
impl TryFrom<String> for Kind {
    type Error = UnknownKind;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        named(&Self::ALL, &word).ok_or(UnknownKind(word))
    }
}

fn named(kinds: &[Kind], word: &str) -> Option<Kind> {
    kinds.iter().copied().find(|kind| kind.singular() == word || kind.plural() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_place_and_its_words() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind.index(), index);
            for word in [kind.singular(), kind.plural()] {
                assert_eq!(Kind::try_from(word.to_owned()), Ok(kind));
                assert_eq!(
                    word.parse().ok(),
                    Some(kind).filter(|kind| Kind::SHEETS.contains(kind)),
                    "{word}"
                );
            }
            assert_eq!(Kind::RECORDS.contains(&kind), kind.is_record());
            assert_eq!(Kind::SHEETS.contains(&kind), kind.sheet() == kind);
            assert!(kind.updates().is_none_or(|updates| updates.sheet() == kind));
        }
        assert_eq!(
            "gateway".parse::<Kind>().unwrap_err().to_string(),
            "'gateway' is not a kind of sheet; the kinds are companies, sites, people, devices, labels, metadata, \
             licences, subscriptions, site_assignments and vpn"
        );
    }
}
