//! The 81 operations as one table: name, method, path, whether it counts against the quota, and who does it.
//!
//! Paths of which the specification shows only an ending, or nothing, are assumed in the style of the known ones
//! (specification 4.0). Every path has three fixed segments after `/device-api/`; what follows are parameters, and
//! named parameters of the query string are read by the operations themselves.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::attached::{self, EthernetInterface};
use super::call::Call;
use super::{companies, devices, diagnostics, people, sites, status, subscriptions, vpn};
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Company, Device, Label, Metadata, Site};
use serde_json::Value;

/// What carries an operation out. A result of `null` is answered with the status alone.
pub(crate) type Deed = fn(&mut Call<'_>) -> Result<Value, Failure>;

/// Who answers.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// The service itself: authentication is the one operation without a token and without an envelope.
    SignIn,
    /// An operation on the world.
    Does(Deed),
}

/// One operation.
pub(crate) struct Route {
    pub(crate) operation: &'static str,
    pub(crate) method: &'static str,
    /// Relative to `/device-api/`.
    pub(crate) path: &'static str,
    /// Whether it creates an entity, and so counts against the daily quota (specification 8).
    pub(crate) creates: bool,
    pub(crate) act: Act,
}

impl Route {
    /// Whether it changes nothing.
    pub(crate) fn reads(&self) -> bool {
        self.method == "GET"
    }

    fn fixed(&self) -> &'static str {
        let end = self.path.match_indices('/').nth(2);
        end.map_or(self.path, |(end, _)| &self.path[..end])
    }

    /// The names of the parameters in the path, in order.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').skip(3).map(|segment| segment.trim_matches(['{', '}']))
    }
}

const fn get(operation: &'static str, path: &'static str, deed: Deed) -> Route {
    Route { operation, method: "GET", path, creates: false, act: Act::Does(deed) }
}

const fn post(operation: &'static str, path: &'static str, deed: Deed) -> Route {
    Route { operation, method: "POST", path, creates: false, act: Act::Does(deed) }
}

const fn create(operation: &'static str, path: &'static str, deed: Deed) -> Route {
    Route { creates: true, ..post(operation, path, deed) }
}

/// All operations, in the order of the specification.
#[rustfmt::skip]
pub(crate) static ROUTES: [Route; 81] = [
    Route { operation: "auth", method: "POST", path: "auth/v1/auth", creates: false, act: Act::SignIn },
    create("addCompany", "config/v1/addCompany", companies::add_company),
    get("findCompaniesByName", "config/v1/findCompaniesByName", companies::find_companies_by_name),
    get("getCompany", "config/v1/getCompany/{id}", companies::get_company),
    get("listCompanies", "config/v1/listCompanies", companies::list_companies),
    get("getChildCompanies", "config/v1/getChildCompanies/{companyId}", companies::get_child_companies),
    get("listTimeZones", "config/v1/listTimeZones", companies::list_time_zones),
    post("updateCompany", "config/v1/updateCompany/{companyId}", companies::update_company),
    post("deleteInterfaceLabelById", "config/v1/deleteInterfaceLabelById/{interfaceDeviceId}/{labelId}", attached::delete_by_id::<Label, EthernetInterface>),
    post("deleteInterfaceLabel", "config/v1/deleteInterfaceLabel/{interfaceDeviceId}", attached::delete_by_text::<Label, EthernetInterface>),
    get("findInterfaceLabel", "config/v1/findInterfaceLabel/{interfaceDeviceId}", attached::find::<Label, EthernetInterface>),
    get("listInterfaceLabels", "config/v1/listInterfaceLabels/{interfaceDeviceId}", attached::list::<Label, EthernetInterface>),
    post("putInterfaceLabel", "config/v1/putInterfaceLabel/{interfaceDeviceId}", attached::put::<Label, EthernetInterface>),
    post("putInterfaceLabels", "config/v1/putInterfaceLabels/{interfaceDeviceId}", attached::put_several::<Label, EthernetInterface>),
    get("findDeviceLabel", "config/v1/findDeviceLabel/{deviceId}", attached::find::<Label, Device>),
    get("listDeviceLabels", "config/v1/listDeviceLabels/{deviceId}", attached::list::<Label, Device>),
    post("putDeviceLabel", "config/v1/putDeviceLabel/{deviceId}", attached::put::<Label, Device>),
    post("putDeviceLabels", "config/v1/putDeviceLabels/{deviceId}", attached::put_several::<Label, Device>),
    get("findSiteLabel", "config/v1/findSiteLabel/{siteId}", attached::find::<Label, Site>),
    get("listSiteLabels", "config/v1/listSiteLabels/{siteId}", attached::list::<Label, Site>),
    post("putSiteLabel", "config/v1/putSiteLabel/{siteId}", attached::put::<Label, Site>),
    post("putSiteLabels", "config/v1/putSiteLabels/{siteId}", attached::put_several::<Label, Site>),
    post("addLicenceCode", "config/v1/addLicenceCode", devices::add_licence_code),
    create("addDevice", "config/v1/addDevice", devices::add_device),
    create("addDeviceFromTemplate", "config/v1/addDeviceFromTemplate", devices::add_device_from_template),
    get("findDevicesByName", "config/v1/findDevicesByName", devices::find_devices_by_name),
    get("listAssignableTemplates", "config/v1/listAssignableTemplates/{deviceId}", subscriptions::list_assignable_templates),
    get("listOwnAssignableTemplates", "config/v1/listOwnAssignableTemplates/{deviceId}", subscriptions::list_own_assignable_templates),
    get("listInterfaces", "config/v1/listInterfaces/{deviceId}", devices::list_interfaces),
    get("getDevice", "config/v1/getDevice/{id}", devices::get_device),
    get("getDeviceByMac", "config/v1/getDeviceByMac", devices::get_device_by_mac),
    get("listAssignedTemplates", "config/v1/listAssignedTemplates/{deviceId}", subscriptions::list_assigned_templates),
    post("subscribeTemplate", "config/v1/subscribeTemplate", subscriptions::subscribe_template),
    post("unsubscribeTemplate", "config/v1/unsubscribeTemplate", subscriptions::unsubscribe_template),
    post("updateDevice", "config/v1/updateDevice/{deviceId}", devices::update_device),
    get("listDevices", "config/v1/listDevices", devices::list_devices),
    post("deleteCompanyMetadata", "config/v1/deleteCompanyMetadata/{companyId}/{metadataId}", attached::delete_by_id::<Metadata, Company>),
    get("listCompanyMetadata", "config/v1/listCompanyMetadata/{companyId}", attached::list::<Metadata, Company>),
    get("findCompanyMetadata", "config/v1/findCompanyMetadata/{companyId}", attached::find::<Metadata, Company>),
    post("putCompanyMetadata", "config/v1/putCompanyMetadata/{companyId}", attached::put::<Metadata, Company>),
    post("putCompanyMetadataList", "config/v1/putCompanyMetadataList/{companyId}", attached::put_several::<Metadata, Company>),
    post("deleteDeviceMetadata", "config/v1/deleteDeviceMetadata/{deviceId}/{metadataId}", attached::delete_by_id::<Metadata, Device>),
    get("listDeviceMetadata", "config/v1/listDeviceMetadata/{deviceId}", attached::list::<Metadata, Device>),
    get("findDeviceMetadata", "config/v1/findDeviceMetadata/{deviceId}", attached::find::<Metadata, Device>),
    post("putDeviceMetadata", "config/v1/putDeviceMetadata/{deviceId}", attached::put::<Metadata, Device>),
    post("putDeviceMetadataList", "config/v1/putDeviceMetadataList/{deviceId}", attached::put_several::<Metadata, Device>),
    post("deleteSiteMetadata", "config/v1/deleteSiteMetadata/{siteId}/{metadataId}", attached::delete_by_id::<Metadata, Site>),
    get("listSiteMetadata", "config/v1/listSiteMetadata/{siteId}", attached::list::<Metadata, Site>),
    get("findSiteMetadata", "config/v1/findSiteMetadata/{siteId}", attached::find::<Metadata, Site>),
    post("putSiteMetadata", "config/v1/putSiteMetadata/{siteId}", attached::put::<Metadata, Site>),
    post("putSiteMetadataList", "config/v1/putSiteMetadataList/{siteId}", attached::put_several::<Metadata, Site>),
    create("addPerson", "config/v1/addPerson", people::add_person),
    get("getPerson", "config/v1/getPerson/{id}", people::get_person),
    get("getPersonByUsername", "config/v1/getPersonByUsername", people::get_person_by_username),
    get("listPeople", "config/v1/listPeople/{companyId}", people::list_people),
    create("addSite", "config/v1/addSite", sites::add_site),
    post("assignDeviceToSite", "config/v1/assignDeviceToSite", sites::assign_device_to_site),
    get("findSitesByName", "config/v1/findSitesByName", sites::find_sites_by_name),
    get("getSite", "config/v1/getSite/{id}", sites::get_site),
    get("listSites", "config/v1/listSites", sites::list_sites),
    post("updateSite", "config/v1/updateSite/{siteId}", sites::update_site),
    post("addDeviceToVpnCloud", "config/v1/addDeviceToVpnCloud", vpn::add_device_to_vpn_cloud),
    get("listJoinableVpnClouds", "config/v1/listJoinableVpnClouds/{deviceId}", vpn::list_joinable_vpn_clouds),
    get("listDeviceVpnClouds", "config/v1/listDeviceVpnClouds/{deviceId}", vpn::list_device_vpn_clouds),
    get("getDeviceVpnConfiguration", "config/v1/getDeviceVpnConfiguration/{deviceId}/{vpnCloudId}", vpn::get_device_vpn_configuration),
    post("removeDeviceFromVpnCloud", "config/v1/removeDeviceFromVpnCloud", vpn::remove_device_from_vpn_cloud),
    post("updateDeviceVpnConfiguration", "config/v1/updateDeviceVpnConfiguration", vpn::update_device_vpn_configuration),
    get("getTunnelStatus", "config/v1/getTunnelStatus/{deviceId}", diagnostics::get_tunnel_status),
    get("getVpnConnections", "config/v1/getVpnConnections/{deviceId}", diagnostics::get_vpn_connections),
    get("getVpnRoutes", "config/v1/getVpnRoutes/{deviceId}", diagnostics::get_vpn_routes),
    get("listCompanyDeviceStates", "config/v1/listCompanyDeviceStates/{companyId}", status::list_company_device_states),
    get("listCompanyTreeDeviceStates", "config/v1/listCompanyTreeDeviceStates/{companyId}", status::list_company_tree_device_states),
    get("listSiteDeviceStates", "config/v1/listSiteDeviceStates/{siteId}", status::list_site_device_states),
    get("getDeviceOnlineStatus", "config/v1/getDeviceOnlineStatus/{deviceId}", status::get_device_online_status),
    get("listCompanyDeviceOnlineStatuses", "config/v1/listCompanyDeviceOnlineStatuses/{companyId}", status::list_company_device_online_statuses),
    get("listCompanyTreeDeviceOnlineStatuses", "config/v1/listCompanyTreeDeviceOnlineStatuses/{companyId}", status::list_company_tree_device_online_statuses),
    get("listSiteDeviceOnlineStatuses", "config/v1/listSiteDeviceOnlineStatuses/{siteId}", status::list_site_device_online_statuses),
    get("getDeviceFullStatus", "config/v1/getDeviceFullStatus/{deviceId}", status::get_device_full_status),
    get("listCompanyDeviceFullStatuses", "config/v1/listCompanyDeviceFullStatuses/{companyId}", status::list_company_device_full_statuses),
    get("listCompanyTreeDeviceFullStatuses", "config/v1/listCompanyTreeDeviceFullStatuses/{companyId}", status::list_company_tree_device_full_statuses),
    get("listSiteDeviceFullStatuses", "config/v1/listSiteDeviceFullStatuses/{siteId}", status::list_site_device_full_statuses),
];

static BY_PATH: LazyLock<HashMap<&'static str, &'static Route>> =
    LazyLock::new(|| ROUTES.iter().map(|route| (route.fixed(), route)).collect());

/// The names of all operations.
pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
    ROUTES.iter().map(|route| route.operation)
}

/// Operations of which the specification shows that the parameter is in the path (4.2, 4.5).
const IN_PATH_ONLY: [&str; 2] = ["getCompany", "getDevice"];

/// The operation at a path, with the values of the parameters in the path; the method is not looked at. Where the
/// specification does not say where parameters are, all of them may be in the query string instead.
pub(crate) fn find(path: &str) -> Option<(&'static Route, Vec<String>)> {
    let relative = path.strip_prefix("/device-api/")?;
    let (fixed, rest) = match relative.match_indices('/').nth(2) {
        Some((end, _)) => (&relative[..end], Some(&relative[end + 1..])),
        None => (relative, None),
    };
    let route = BY_PATH.get(fixed)?;
    let values: Vec<String> = match rest {
        None => Vec::new(),
        Some(rest) => rest.split('/').map(decoded).collect(),
    };
    let in_query = values.is_empty() && !IN_PATH_ONLY.contains(&route.operation);
    (in_query || values.len() == route.parameters().count()).then_some((route, values))
}

/// A path segment without its percent-encoding. A plus sign is a plus sign here.
fn decoded(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut next = 0;
    while next < bytes.len() {
        let code = (bytes[next] == b'%')
            .then(|| bytes.get(next + 1..next + 3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(byte) => {
                plain.push(byte);
                next += 3;
            }
            None => {
                plain.push(bytes[next]);
                next += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operations of the specification, by section 4.1 to 4.11.
    const SPECIFIED: &str = "
        auth
        addCompany findCompaniesByName getCompany listCompanies getChildCompanies listTimeZones
        updateCompany
        deleteInterfaceLabelById deleteInterfaceLabel findInterfaceLabel listInterfaceLabels
        putInterfaceLabel putInterfaceLabels findDeviceLabel listDeviceLabels putDeviceLabel
        putDeviceLabels findSiteLabel listSiteLabels putSiteLabel putSiteLabels
        addLicenceCode
        addDevice addDeviceFromTemplate findDevicesByName listAssignableTemplates
        listOwnAssignableTemplates listInterfaces getDevice getDeviceByMac listAssignedTemplates
        subscribeTemplate unsubscribeTemplate updateDevice
        listDevices
        deleteCompanyMetadata listCompanyMetadata findCompanyMetadata putCompanyMetadata
        putCompanyMetadataList deleteDeviceMetadata listDeviceMetadata findDeviceMetadata
        putDeviceMetadata putDeviceMetadataList deleteSiteMetadata listSiteMetadata findSiteMetadata
        putSiteMetadata putSiteMetadataList
        addPerson getPerson getPersonByUsername listPeople
        addSite assignDeviceToSite findSitesByName getSite listSites updateSite
        addDeviceToVpnCloud listJoinableVpnClouds listDeviceVpnClouds getDeviceVpnConfiguration
        removeDeviceFromVpnCloud updateDeviceVpnConfiguration
        getTunnelStatus getVpnConnections getVpnRoutes listCompanyDeviceStates
        listCompanyTreeDeviceStates listSiteDeviceStates getDeviceOnlineStatus
        listCompanyDeviceOnlineStatuses listCompanyTreeDeviceOnlineStatuses
        listSiteDeviceOnlineStatuses getDeviceFullStatus listCompanyDeviceFullStatuses
        listCompanyTreeDeviceFullStatuses listSiteDeviceFullStatuses";

    #[test]
    fn the_table_holds_exactly_the_operations_of_the_specification() {
        let mut specified: Vec<_> = SPECIFIED.split_whitespace().collect();
        let mut known: Vec<_> = names().collect();
        specified.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, specified);
        assert_eq!(known.len(), 81);
        assert_eq!(BY_PATH.len(), 81, "no two operations share a path");
    }

    #[test]
    fn four_creations_and_a_site_count_against_the_quota() {
        let creations: Vec<_> =
            ROUTES.iter().filter(|route| route.creates).map(|route| route.operation).collect();
        assert_eq!(creations, ["addCompany", "addDevice", "addDeviceFromTemplate", "addPerson", "addSite"]);
    }

    #[test]
    fn a_path_is_found_with_its_parameters_and_nothing_else_is() {
        for (path, found) in [
            ("/device-api/auth/v1/auth", Some(("auth", vec![]))),
            ("/device-api/config/v1/addDevice", Some(("addDevice", vec![]))),
            ("/device-api/config/v1/getCompany/7", Some(("getCompany", vec!["7"]))),
            ("/device-api/config/v1/getCompany/a%2Fb+", Some(("getCompany", vec!["a/b+"]))),
            ("/device-api/config/v1/deleteSiteMetadata/1/2", Some(("deleteSiteMetadata", vec!["1", "2"]))),
            ("/device-api/config/v1/getSite", Some(("getSite", vec![]))),
            ("/device-api/config/v1/deleteSiteMetadata", Some(("deleteSiteMetadata", vec![]))),
            ("/device-api/config/v1/deleteSiteMetadata/1", None),
            ("/device-api/config/v1/getCompany", None),
            ("/device-api/config/v1/getCompany/1/2", None),
            ("/device-api/config/v2/addDevice", None),
            ("/device-api/config/v1/addDevice/", None),
            ("/", None),
        ] {
            let seen = find(path).map(|(route, values)| (route.operation, values));
            let found =
                found.map(|(name, values)| (name, values.into_iter().map(str::to_owned).collect::<Vec<_>>()));
            assert_eq!(seen, found, "{path}");
        }
    }
}
