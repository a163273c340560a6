//! The operations of the service, each one line of one table (specification section 4).
//!
//! Method and path are what the specification documents, or, marked [`Provenance::Assumed`], what its naming
//! suggests: such a path is used only when the profile says `paths = "assumed"` or maps the operation itself.
//! What each takes is in [`input`]. Building requests and reading answers is left to [`crate::service`].

pub mod input;

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

pub use input::Parameter;

use crate::json_schema::serialize_as_word;
use crate::model::words::words;

words! {
    /// The HTTP method of an operation.
    pub enum Method: as_str {
        /// Reads.
        Get = "GET",
        /// Creates, changes, removes.
        Post = "POST",
        /// Puts or replaces; only where the profile maps an operation to it.
        Put = "PUT",
        /// Changes; only where the profile maps an operation to it.
        Patch = "PATCH",
        /// Removes; only where the profile maps an operation to it.
        Delete = "DELETE",
    }
}

words! {
    /// How far the path of an operation can be relied on.
    pub enum Provenance: words {
        /// The specification states method and path.
        Documented = "documented",
        /// The specification states only how the path ends.
        EndingOnly = "ending only",
        /// The specification states neither; method and path follow its naming.
        Assumed = "assumed",
    }
}

/// Whether a call counts against the daily quota of creations (specification 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quota {
    /// Creates a record and counts.
    Counted,
    /// Does not count.
    Free,
}

/// Declares the enum and its table together, so that an operation cannot be in one and not in the other.
macro_rules! operations {
    ($($variant:ident, $name:literal, $section:literal, $method:ident, $path:literal, $provenance:ident, $quota:ident, $need:literal;)+) => {
        words! {
            /// An operation of the service, in the order of the specification.
            pub enum Operation: name, parse {
                $(
                    #[doc = concat!("`", $name, "`, specification ", $section, ".")]
                    $variant = $name,
                )+
            }
        }

        impl Operation {
            /// The section of the specification that describes it.
            pub const fn section(self) -> &'static str {
                match self { $(Self::$variant => $section,)+ }
            }

            /// The method, documented or assumed.
            pub const fn method(self) -> Method {
                match self { $(Self::$variant => Method::$method,)+ }
            }

            /// The path below the base address, documented or assumed; `{name}` stands for a parameter.
            pub const fn path(self) -> &'static str {
                match self { $(Self::$variant => $path,)+ }
            }

            /// How far [`Operation::path`] can be relied on.
            pub const fn provenance(self) -> Provenance {
                match self { $(Self::$variant => Provenance::$provenance,)+ }
            }

            /// Whether a call counts against the daily quota.
            pub const fn quota(self) -> Quota {
                match self { $(Self::$variant => Quota::$quota,)+ }
            }

            /// What fleetload needs it for, in words.
            pub const fn needed_for(self) -> &'static str {
                match self { $(Self::$variant => $need,)+ }
            }
        }
    };
}

#[rustfmt::skip]
operations! {
    Auth, "auth", "4.1", Post, "/device-api/auth/v1/auth", Documented, Free, "signing in";
    AddCompany, "addCompany", "4.2", Post, "/device-api/config/v1/addCompany", Documented, Counted, "creating companies";
    FindCompaniesByName, "findCompaniesByName", "4.2", Get, "/device-api/config/v1/findCompaniesByName?companyName={companyName}", Assumed, Free, "finding companies before and after they are sent";
    GetCompany, "getCompany", "4.2", Get, "/device-api/config/v1/getCompany/{id}", Documented, Free, "verifying records, and reading them before a change";
    ListCompanies, "listCompanies", "4.2", Get, "/device-api/config/v1/listCompanies", EndingOnly, Free, "listing everything";
    GetChildCompanies, "getChildCompanies", "4.2", Get, "/device-api/config/v1/getChildCompanies/{companyId}", Assumed, Free, "finding companies before and after they are sent";
    ListTimeZones, "listTimeZones", "4.2", Get, "/device-api/config/v1/listTimeZones", Assumed, Free, "checking the column timezone of sheets";
    UpdateCompany, "updateCompany", "4.2", Post, "/device-api/config/v1/updateCompany/{companyId}", Assumed, Free, "changing companies";
    DeleteInterfaceLabelById, "deleteInterfaceLabelById", "4.3", Post, "/device-api/config/v1/deleteInterfaceLabelById/{interfaceDeviceId}/{labelId}", Assumed, Free, "deleting labels of interfaces";
    DeleteInterfaceLabel, "deleteInterfaceLabel", "4.3", Post, "/device-api/config/v1/deleteInterfaceLabel/{interfaceDeviceId}?label={label}", Assumed, Free, "deleting labels of interfaces";
    FindInterfaceLabel, "findInterfaceLabel", "4.3", Get, "/device-api/config/v1/findInterfaceLabel/{interfaceDeviceId}?label={label}", Assumed, Free, "finding one label";
    ListInterfaceLabels, "listInterfaceLabels", "4.3", Get, "/device-api/config/v1/listInterfaceLabels/{interfaceDeviceId}", Assumed, Free, "seeing which labels exist before one is put";
    PutInterfaceLabel, "putInterfaceLabel", "4.3", Post, "/device-api/config/v1/putInterfaceLabel/{interfaceDeviceId}", Assumed, Free, "putting labels";
    PutInterfaceLabels, "putInterfaceLabels", "4.3", Post, "/device-api/config/v1/putInterfaceLabels/{interfaceDeviceId}", Assumed, Free, "putting labels";
    FindDeviceLabel, "findDeviceLabel", "4.3", Get, "/device-api/config/v1/findDeviceLabel/{deviceId}?label={label}", Assumed, Free, "finding one label";
    ListDeviceLabels, "listDeviceLabels", "4.3", Get, "/device-api/config/v1/listDeviceLabels/{deviceId}", Assumed, Free, "seeing which labels exist before one is put";
    PutDeviceLabel, "putDeviceLabel", "4.3", Post, "/device-api/config/v1/putDeviceLabel/{deviceId}", Assumed, Free, "putting labels";
    PutDeviceLabels, "putDeviceLabels", "4.3", Post, "/device-api/config/v1/putDeviceLabels/{deviceId}", Assumed, Free, "putting labels";
    FindSiteLabel, "findSiteLabel", "4.3", Get, "/device-api/config/v1/findSiteLabel/{siteId}?label={label}", Assumed, Free, "finding one label";
    ListSiteLabels, "listSiteLabels", "4.3", Get, "/device-api/config/v1/listSiteLabels/{siteId}", Assumed, Free, "seeing which labels exist before one is put";
    PutSiteLabel, "putSiteLabel", "4.3", Post, "/device-api/config/v1/putSiteLabel/{siteId}", Assumed, Free, "putting labels";
    PutSiteLabels, "putSiteLabels", "4.3", Post, "/device-api/config/v1/putSiteLabels/{siteId}", Assumed, Free, "putting labels";
    AddLicenceCode, "addLicenceCode", "4.4", Post, "/device-api/config/v1/addLicenceCode", Assumed, Free, "adding licence codes";
    AddDevice, "addDevice", "4.5", Post, "/device-api/config/v1/addDevice", Documented, Counted, "creating devices by model";
    AddDeviceFromTemplate, "addDeviceFromTemplate", "4.5", Post, "/device-api/config/v1/addDeviceFromTemplate", Assumed, Counted, "creating devices from a template";
    FindDevicesByName, "findDevicesByName", "4.5", Get, "/device-api/config/v1/findDevicesByName?name={name}&companyId={companyId}", Assumed, Free, "finding devices before and after they are sent";
    ListAssignableTemplates, "listAssignableTemplates", "4.5", Get, "/device-api/config/v1/listAssignableTemplates/{deviceId}", Assumed, Free, "finding a template by its name";
    ListOwnAssignableTemplates, "listOwnAssignableTemplates", "4.5", Get, "/device-api/config/v1/listOwnAssignableTemplates/{deviceId}", Assumed, Free, "finding a template by its name";
    ListInterfaces, "listInterfaces", "4.5", Get, "/device-api/config/v1/listInterfaces/{deviceId}", Assumed, Free, "finding an interface by its name";
    GetDevice, "getDevice", "4.5", Get, "/device-api/config/v1/getDevice/{id}", Documented, Free, "verifying records, and reading them before a change";
    GetDeviceByMac, "getDeviceByMac", "4.5", Get, "/device-api/config/v1/getDeviceByMac?macAddress={macAddress}", Assumed, Free, "finding devices before and after they are sent";
    ListAssignedTemplates, "listAssignedTemplates", "4.5", Get, "/device-api/config/v1/listAssignedTemplates/{deviceId}", Assumed, Free, "seeing the subscriptions of a device before one changes";
    SubscribeTemplate, "subscribeTemplate", "4.5", Post, "/device-api/config/v1/subscribeTemplate", Assumed, Free, "subscribing devices to templates";
    UnsubscribeTemplate, "unsubscribeTemplate", "4.5", Post, "/device-api/config/v1/unsubscribeTemplate", Assumed, Free, "unsubscribing devices from templates";
    UpdateDevice, "updateDevice", "4.5", Post, "/device-api/config/v1/updateDevice/{deviceId}", Assumed, Free, "changing devices";
    ListDevices, "listDevices", "4.11", Get, "/device-api/config/v1/listDevices", Assumed, Free, "listing everything";
    DeleteCompanyMetadata, "deleteCompanyMetadata", "4.6", Post, "/device-api/config/v1/deleteCompanyMetadata/{companyId}/{metadataId}", Assumed, Free, "deleting metadata";
    ListCompanyMetadata, "listCompanyMetadata", "4.6", Get, "/device-api/config/v1/listCompanyMetadata/{companyId}", Assumed, Free, "seeing which metadata exists before it changes";
    FindCompanyMetadata, "findCompanyMetadata", "4.6", Get, "/device-api/config/v1/findCompanyMetadata/{companyId}?key={key}", Assumed, Free, "finding the value of one key";
    PutCompanyMetadata, "putCompanyMetadata", "4.6", Post, "/device-api/config/v1/putCompanyMetadata/{companyId}", Assumed, Free, "putting metadata";
    PutCompanyMetadataList, "putCompanyMetadataList", "4.6", Post, "/device-api/config/v1/putCompanyMetadataList/{companyId}", Assumed, Free, "putting metadata";
    DeleteDeviceMetadata, "deleteDeviceMetadata", "4.6", Post, "/device-api/config/v1/deleteDeviceMetadata/{deviceId}/{metadataId}", Assumed, Free, "deleting metadata";
    ListDeviceMetadata, "listDeviceMetadata", "4.6", Get, "/device-api/config/v1/listDeviceMetadata/{deviceId}", Assumed, Free, "seeing which metadata exists before it changes";
    FindDeviceMetadata, "findDeviceMetadata", "4.6", Get, "/device-api/config/v1/findDeviceMetadata/{deviceId}?key={key}", Assumed, Free, "finding the value of one key";
    PutDeviceMetadata, "putDeviceMetadata", "4.6", Post, "/device-api/config/v1/putDeviceMetadata/{deviceId}", Assumed, Free, "putting metadata";
    PutDeviceMetadataList, "putDeviceMetadataList", "4.6", Post, "/device-api/config/v1/putDeviceMetadataList/{deviceId}", Assumed, Free, "putting metadata";
    DeleteSiteMetadata, "deleteSiteMetadata", "4.6", Post, "/device-api/config/v1/deleteSiteMetadata/{siteId}/{metadataId}", Assumed, Free, "deleting metadata";
    ListSiteMetadata, "listSiteMetadata", "4.6", Get, "/device-api/config/v1/listSiteMetadata/{siteId}", Assumed, Free, "seeing which metadata exists before it changes";
    FindSiteMetadata, "findSiteMetadata", "4.6", Get, "/device-api/config/v1/findSiteMetadata/{siteId}?key={key}", Assumed, Free, "finding the value of one key";
    PutSiteMetadata, "putSiteMetadata", "4.6", Post, "/device-api/config/v1/putSiteMetadata/{siteId}", Assumed, Free, "putting metadata";
    PutSiteMetadataList, "putSiteMetadataList", "4.6", Post, "/device-api/config/v1/putSiteMetadataList/{siteId}", Assumed, Free, "putting metadata";
    AddPerson, "addPerson", "4.7", Post, "/device-api/config/v1/addPerson", Documented, Counted, "creating people";
    GetPerson, "getPerson", "4.7", Get, "/device-api/config/v1/getPerson/{id}", Assumed, Free, "verifying records, and reading them before a change";
    GetPersonByUsername, "getPersonByUsername", "4.7", Get, "/device-api/config/v1/getPersonByUsername?username={username}", Assumed, Free, "finding people before and after they are sent";
    ListPeople, "listPeople", "4.7", Get, "/device-api/config/v1/listPeople/{companyId}", Assumed, Free, "finding people before and after they are sent";
    AddSite, "addSite", "4.8", Post, "/device-api/config/v1/addSite", Assumed, Counted, "creating sites";
    AssignDeviceToSite, "assignDeviceToSite", "4.8", Post, "/device-api/config/v1/assignDeviceToSite", Assumed, Free, "moving devices to sites";
    FindSitesByName, "findSitesByName", "4.8", Get, "/device-api/config/v1/findSitesByName?name={name}&companyId={companyId}", Assumed, Free, "finding sites before and after they are sent";
    GetSite, "getSite", "4.8", Get, "/device-api/config/v1/getSite/{id}", Assumed, Free, "verifying records, and reading them before a change";
    ListSites, "listSites", "4.8", Get, "/device-api/config/v1/listSites", Assumed, Free, "listing everything";
    UpdateSite, "updateSite", "4.8", Post, "/device-api/config/v1/updateSite/{siteId}", Assumed, Free, "changing sites";
    AddDeviceToVpnCloud, "addDeviceToVpnCloud", "4.9", Post, "/device-api/config/v1/addDeviceToVpnCloud", Assumed, Free, "adding devices to VPN clouds";
    ListJoinableVpnClouds, "listJoinableVpnClouds", "4.9", Get, "/device-api/config/v1/listJoinableVpnClouds/{deviceId}", Assumed, Free, "finding a VPN cloud by its name";
    ListDeviceVpnClouds, "listDeviceVpnClouds", "4.9", Get, "/device-api/config/v1/listDeviceVpnClouds/{deviceId}", Assumed, Free, "seeing the VPN clouds of a device before one changes";
    GetDeviceVpnConfiguration, "getDeviceVpnConfiguration", "4.9", Get, "/device-api/config/v1/getDeviceVpnConfiguration/{deviceId}/{vpnCloudId}", Assumed, Free, "seeing the VPN configuration of a device before it changes";
    RemoveDeviceFromVpnCloud, "removeDeviceFromVpnCloud", "4.9", Post, "/device-api/config/v1/removeDeviceFromVpnCloud", Assumed, Free, "removing devices from VPN clouds";
    UpdateDeviceVpnConfiguration, "updateDeviceVpnConfiguration", "4.9", Post, "/device-api/config/v1/updateDeviceVpnConfiguration", Assumed, Free, "configuring devices in VPN clouds";
    GetTunnelStatus, "getTunnelStatus", "4.10", Get, "/device-api/config/v1/getTunnelStatus/{deviceId}", Assumed, Free, "reading IPsec tunnels";
    GetVpnConnections, "getVpnConnections", "4.10", Get, "/device-api/config/v1/getVpnConnections/{deviceId}", Assumed, Free, "reading VPN connections";
    GetVpnRoutes, "getVpnRoutes", "4.10", Get, "/device-api/config/v1/getVpnRoutes/{deviceId}", Assumed, Free, "reading VPN routes";
    ListCompanyDeviceStates, "listCompanyDeviceStates", "4.10", Get, "/device-api/config/v1/listCompanyDeviceStates/{companyId}", Assumed, Free, "reading device states";
    ListCompanyTreeDeviceStates, "listCompanyTreeDeviceStates", "4.10", Get, "/device-api/config/v1/listCompanyTreeDeviceStates/{companyId}", Assumed, Free, "reading device states";
    ListSiteDeviceStates, "listSiteDeviceStates", "4.10", Get, "/device-api/config/v1/listSiteDeviceStates/{siteId}", Assumed, Free, "reading device states";
    GetDeviceOnlineStatus, "getDeviceOnlineStatus", "4.10", Get, "/device-api/config/v1/getDeviceOnlineStatus/{deviceId}", Assumed, Free, "rollout, one request for each device";
    ListCompanyDeviceOnlineStatuses, "listCompanyDeviceOnlineStatuses", "4.10", Get, "/device-api/config/v1/listCompanyDeviceOnlineStatuses/{companyId}", Assumed, Free, "rollout, one request for each company";
    ListCompanyTreeDeviceOnlineStatuses, "listCompanyTreeDeviceOnlineStatuses", "4.10", Get, "/device-api/config/v1/listCompanyTreeDeviceOnlineStatuses/{companyId}", Assumed, Free, "rollout, one request for each company";
    ListSiteDeviceOnlineStatuses, "listSiteDeviceOnlineStatuses", "4.10", Get, "/device-api/config/v1/listSiteDeviceOnlineStatuses/{siteId}", Assumed, Free, "reading the status of the devices of a site";
    GetDeviceFullStatus, "getDeviceFullStatus", "4.10", Get, "/device-api/config/v1/getDeviceFullStatus/{deviceId}", Assumed, Free, "rollout, one request for each device";
    ListCompanyDeviceFullStatuses, "listCompanyDeviceFullStatuses", "4.10", Get, "/device-api/config/v1/listCompanyDeviceFullStatuses/{companyId}", Assumed, Free, "rollout, one request for each company";
    ListCompanyTreeDeviceFullStatuses, "listCompanyTreeDeviceFullStatuses", "4.10", Get, "/device-api/config/v1/listCompanyTreeDeviceFullStatuses/{companyId}", Assumed, Free, "rollout, one request for each company";
    ListSiteDeviceFullStatuses, "listSiteDeviceFullStatuses", "4.10", Get, "/device-api/config/v1/listSiteDeviceFullStatuses/{siteId}", Assumed, Free, "reading the status of the devices of a site";
}

impl Operation {
    /// Whether a call only reads, so that repeating it is harmless.
    pub const fn looks_up(self) -> bool {
        matches!(self.method(), Method::Get)
    }

    /// Whether a call may change something: everything but look-ups and the authentication.
    pub const fn changes(self) -> bool {
        !self.looks_up() && !matches!(self, Self::Auth)
    }

    /// Whether a call creates a record and so must never be repeated on hope.
    pub const fn creates(self) -> bool {
        matches!(self.quota(), Quota::Counted)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::parse(name).ok_or_else(|| UnknownOperation(name.to_owned()))
    }
}

serialize_as_word!(Operation, Operation::name, "Operation", "An operation of the service.", Operation::ALL);

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A name that no operation has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the service has no operation named '{0}'")]
pub struct UnknownOperation(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_81_operations_of_the_specification_each_once() {
        let mut names: Vec<_> = Operation::ALL.iter().map(|operation| operation.name()).collect();
        assert_eq!(names.len(), 81);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 81);
    }

    #[test]
    fn every_name_is_read_back_as_its_operation() {
        for &operation in Operation::ALL {
            assert_eq!(operation.name().parse(), Ok(operation));
        }
        assert!("deleteCompany".parse::<Operation>().is_err());
    }

    #[test]
    fn only_the_five_creations_count_against_the_quota() {
        let creations: Vec<_> = Operation::ALL.iter().filter(|operation| operation.creates()).collect();
        assert_eq!(
            creations,
            [
                &Operation::AddCompany,
                &Operation::AddDevice,
                &Operation::AddDeviceFromTemplate,
                &Operation::AddPerson,
                &Operation::AddSite
            ]
        );
    }

    #[test]
    fn what_counts_against_the_quota_makes_a_record_of_one_kind_and_nothing_else_does() {
        for operation in Operation::ALL {
            assert_eq!(operation.makes().is_some(), operation.creates(), "{operation}");
        }
    }

    #[test]
    fn the_documented_paths_are_those_of_the_specification() {
        let documented: Vec<_> = Operation::ALL
            .iter()
            .filter(|operation| operation.provenance() == Provenance::Documented)
            .map(|operation| (operation.method().as_str(), operation.path()))
            .collect();
        assert_eq!(
            documented,
            [
                ("POST", "/device-api/auth/v1/auth"),
                ("POST", "/device-api/config/v1/addCompany"),
                ("GET", "/device-api/config/v1/getCompany/{id}"),
                ("POST", "/device-api/config/v1/addDevice"),
                ("GET", "/device-api/config/v1/getDevice/{id}"),
                ("POST", "/device-api/config/v1/addPerson"),
            ]
        );
    }
}
