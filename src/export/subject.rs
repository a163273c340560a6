//! What can be exported, about which records it is asked for, and with which operations.

use serde::{Deserialize, Serialize};

use super::column::Column;
use crate::model::operation::Operation;
use crate::model::words::words;

words! {
    /// What is asked about; its word says it of one.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum OwnerKind: word {
        /// The account itself: there is nothing to name.
        Account = "account",
        /// A company.
        Company = "company",
        /// A company and all below it, in one answer.
        CompanyTree = "company and all below it",
        /// A site.
        Site = "site",
        /// A person.
        Person = "person",
        /// A device.
        Device = "device",
    }
}

words! {
    /// What can be exported; its word is typed on the command line, and is in the table of columns.
    #[expect(missing_docs, reason = "each is described by its word and its columns")]
    pub enum Subject: word, parse {
        Companies = "companies",
        People = "people",
        Sites = "sites",
        Devices = "devices",
        Interfaces = "interfaces",
        Labels = "labels",
        Metadata = "metadata",
        Templates = "templates",
        Subscriptions = "subscriptions",
        Clouds = "clouds",
        Vpn = "vpn",
        TimeZones = "time-zones",
        Statuses = "statuses",
        FullStatuses = "full-statuses",
        States = "states",
        Tunnels = "tunnels",
        Connections = "connections",
        Routes = "routes",
    }
}

impl Subject {
    /// Its word as people read it.
    pub fn words(self) -> String {
        self.word().replace('-', " ")
    }

    /// Its columns, in their order.
    pub fn columns(self) -> &'static [Column] {
        Column::of(self.word())
    }

    /// The records that it is asked for, in the order of the export.
    pub const fn owners(self) -> &'static [OwnerKind] {
        match self {
            Self::Companies => &[OwnerKind::Company],
            Self::People => &[OwnerKind::Company, OwnerKind::Person],
            Self::Sites => &[OwnerKind::Site],
            Self::Labels => &[OwnerKind::Site, OwnerKind::Device],
            Self::Metadata => &[OwnerKind::Company, OwnerKind::Site, OwnerKind::Device],
            Self::TimeZones => &[OwnerKind::Account],
            Self::Statuses | Self::FullStatuses | Self::States => {
                &[OwnerKind::Company, OwnerKind::CompanyTree, OwnerKind::Site, OwnerKind::Device]
            }
            Self::Devices
            | Self::Interfaces
            | Self::Templates
            | Self::Subscriptions
            | Self::Clouds
            | Self::Vpn
            | Self::Tunnels
            | Self::Connections
            | Self::Routes => &[OwnerKind::Device],
        }
    }

    /// Whether an answer about a record shows what another answer shows of each record that belongs to it.
    pub const fn is_shown_by_larger(self) -> bool {
        match self {
            Self::People | Self::Statuses | Self::FullStatuses | Self::States => true,
            Self::Companies
            | Self::Sites
            | Self::Devices
            | Self::Interfaces
            | Self::Labels
            | Self::Metadata
            | Self::Templates
            | Self::Subscriptions
            | Self::Clouds
            | Self::Vpn
            | Self::TimeZones
            | Self::Tunnels
            | Self::Connections
            | Self::Routes => false,
        }
    }

    /// The operations without which nothing can be read about records of a kind.
    pub const fn needed(self, owner: OwnerKind) -> &'static [Operation] {
        match (self, owner) {
            (Self::Companies, OwnerKind::Company) => &[Operation::GetCompany],
            (Self::People, OwnerKind::Company) => &[Operation::ListPeople],
            (Self::People, OwnerKind::Person) => &[Operation::GetPerson],
            (Self::Sites, OwnerKind::Site) => &[Operation::GetSite],
            (Self::Devices, OwnerKind::Device) => &[Operation::GetDevice],
            (Self::Interfaces, OwnerKind::Device) => &[Operation::ListInterfaces],
            (Self::Labels, OwnerKind::Site) => &[Operation::ListSiteLabels],
            (Self::Labels, OwnerKind::Device) => &[Operation::ListDeviceLabels],
            (Self::Metadata, OwnerKind::Company) => &[Operation::ListCompanyMetadata],
            (Self::Metadata, OwnerKind::Site) => &[Operation::ListSiteMetadata],
            (Self::Metadata, OwnerKind::Device) => &[Operation::ListDeviceMetadata],
            (Self::Templates, OwnerKind::Device) => {
                &[Operation::ListAssignedTemplates, Operation::ListAssignableTemplates]
            }
            (Self::Subscriptions, OwnerKind::Device) => &[Operation::ListAssignedTemplates],
            (Self::Clouds, OwnerKind::Device) => {
                &[Operation::ListDeviceVpnClouds, Operation::ListJoinableVpnClouds]
            }
            (Self::Vpn, OwnerKind::Device) => {
                &[Operation::ListDeviceVpnClouds, Operation::GetDeviceVpnConfiguration]
            }
            (Self::TimeZones, OwnerKind::Account) => &[Operation::ListTimeZones],
            (Self::Statuses, OwnerKind::Company) => &[Operation::ListCompanyDeviceOnlineStatuses],
            (Self::Statuses, OwnerKind::CompanyTree) => &[Operation::ListCompanyTreeDeviceOnlineStatuses],
            (Self::Statuses, OwnerKind::Site) => &[Operation::ListSiteDeviceOnlineStatuses],
            (Self::Statuses, OwnerKind::Device) => &[Operation::GetDeviceOnlineStatus],
            (Self::FullStatuses, OwnerKind::Company) => &[Operation::ListCompanyDeviceFullStatuses],
            (Self::FullStatuses, OwnerKind::CompanyTree) => &[Operation::ListCompanyTreeDeviceFullStatuses],
            (Self::FullStatuses, OwnerKind::Site) => &[Operation::ListSiteDeviceFullStatuses],
            (Self::FullStatuses, OwnerKind::Device) => &[Operation::GetDeviceFullStatus],
            (Self::States, OwnerKind::Company | OwnerKind::Device) => &[Operation::ListCompanyDeviceStates],
            (Self::States, OwnerKind::CompanyTree) => &[Operation::ListCompanyTreeDeviceStates],
            (Self::States, OwnerKind::Site) => &[Operation::ListSiteDeviceStates],
            (Self::Tunnels, OwnerKind::Device) => &[Operation::GetTunnelStatus],
            (Self::Connections, OwnerKind::Device) => &[Operation::GetVpnConnections],
            (Self::Routes, OwnerKind::Device) => &[Operation::GetVpnRoutes],
            _ => &[],
        }
    }

    /// Operations that add to what is read about records of a kind; the export goes on without them and says so.
    pub const fn wanted(self, owner: OwnerKind) -> &'static [Operation] {
        match (self, owner) {
            (Self::Labels, OwnerKind::Device) => &[Operation::ListInterfaces, Operation::ListInterfaceLabels],
            (Self::Templates, OwnerKind::Device) => &[Operation::ListOwnAssignableTemplates],
            _ => &[],
        }
    }

    /// What a row asks for when the export is imported as a sheet.
    pub const fn action(self) -> Option<&'static str> {
        match self {
            Self::Companies | Self::Sites | Self::Devices => Some("update"),
            Self::Labels | Self::Metadata => Some("put"),
            Self::Subscriptions => Some("subscribe"),
            Self::Vpn => Some("configure"),
            Self::People
            | Self::Interfaces
            | Self::Templates
            | Self::Clouds
            | Self::TimeZones
            | Self::Statuses
            | Self::FullStatuses
            | Self::States
            | Self::Tunnels
            | Self::Connections
            | Self::Routes => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_export_has_columns_and_an_operation_for_each_of_its_owners() {
        for &subject in Subject::ALL {
            assert!(!subject.columns().is_empty(), "{}", subject.word());
            assert_eq!(Subject::parse(subject.word()), Some(subject));
            for &owner in subject.owners() {
                let needed = subject.needed(owner);
                assert!(!needed.is_empty(), "{} {}", subject.word(), owner.word());
                assert!(needed.iter().all(|operation| operation.looks_up()), "{}", subject.word());
            }
        }
    }
}
