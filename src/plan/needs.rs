//! What each operation is needed for, and the groups in which operations are shown.

use crate::model::operation::Operation;

/// The groups, in the order of the specification.
const GROUPS: [(&str, &[&str]); 9] = [
    ("operations of access and companies", &["4.1", "4.2"]),
    ("operations of labels", &["4.3"]),
    ("operations of licences", &["4.4"]),
    ("operations of devices and templates", &["4.5", "4.11"]),
    ("operations of metadata", &["4.6"]),
    ("operations of people", &["4.7"]),
    ("operations of sites", &["4.8"]),
    ("operations of VPN clouds", &["4.9"]),
    ("operations of status and diagnostics", &["4.10"]),
];

/// The operations of every group.
pub fn groups() -> impl Iterator<Item = (&'static str, Vec<Operation>)> {
    GROUPS.into_iter().map(|(name, sections)| {
        let operations = Operation::ALL.iter().copied();
        (name, operations.filter(|operation| sections.contains(&operation.section())).collect())
    })
}

/// What fleetload needs an operation for.
#[rustfmt::skip]
pub fn needed_for(operation: Operation) -> &'static str {
    use Operation as O;
    match operation {
        O::Auth => "signing in",
        O::AddCompany => "creating companies",
        O::AddPerson => "creating people",
        O::AddSite => "creating sites",
        O::AddDevice => "creating devices by model",
        O::AddDeviceFromTemplate => "creating devices from a template",
        O::FindCompaniesByName | O::GetChildCompanies => "finding companies before and after they are sent",
        O::FindDevicesByName | O::GetDeviceByMac => "finding devices before and after they are sent",
        O::FindSitesByName => "finding sites before and after they are sent",
        O::GetPersonByUsername | O::ListPeople => "finding people before and after they are sent",
        O::GetCompany | O::GetDevice | O::GetSite | O::GetPerson => "verifying records, and reading them before a change",
        O::ListCompanies | O::ListDevices | O::ListSites => "listing everything",
        O::ListTimeZones => "checking the column timezone of sheets",
        O::UpdateCompany => "changing companies",
        O::UpdateDevice => "changing devices",
        O::UpdateSite => "changing sites",
        O::PutInterfaceLabel | O::PutInterfaceLabels | O::PutDeviceLabel | O::PutDeviceLabels | O::PutSiteLabel
        | O::PutSiteLabels => "putting labels",
        O::DeleteInterfaceLabelById | O::DeleteInterfaceLabel => "deleting labels of interfaces",
        O::FindInterfaceLabel | O::FindDeviceLabel | O::FindSiteLabel => "finding one label",
        O::ListInterfaceLabels | O::ListDeviceLabels | O::ListSiteLabels => "seeing which labels exist before one is put",
        O::AddLicenceCode => "adding licence codes",
        O::ListInterfaces => "finding an interface by its name",
        O::ListAssignableTemplates | O::ListOwnAssignableTemplates => "finding a template by its name",
        O::ListAssignedTemplates => "seeing the subscriptions of a device before one changes",
        O::SubscribeTemplate => "subscribing devices to templates",
        O::UnsubscribeTemplate => "unsubscribing devices from templates",
        O::PutCompanyMetadata | O::PutCompanyMetadataList | O::PutDeviceMetadata | O::PutDeviceMetadataList
        | O::PutSiteMetadata | O::PutSiteMetadataList => "putting metadata",
        O::DeleteCompanyMetadata | O::DeleteDeviceMetadata | O::DeleteSiteMetadata => "deleting metadata",
        O::ListCompanyMetadata | O::ListDeviceMetadata | O::ListSiteMetadata => "seeing which metadata exists before it changes",
        O::FindCompanyMetadata | O::FindDeviceMetadata | O::FindSiteMetadata => "finding the value of one key",
        O::AssignDeviceToSite => "moving devices to sites",
        O::AddDeviceToVpnCloud => "adding devices to VPN clouds",
        O::RemoveDeviceFromVpnCloud => "removing devices from VPN clouds",
        O::UpdateDeviceVpnConfiguration => "configuring devices in VPN clouds",
        O::ListJoinableVpnClouds => "finding a VPN cloud by its name",
        O::ListDeviceVpnClouds => "seeing the VPN clouds of a device before one changes",
        O::GetDeviceVpnConfiguration => "seeing the VPN configuration of a device before it changes",
        O::GetTunnelStatus => "reading IPsec tunnels",
        O::GetVpnConnections => "reading VPN connections",
        O::GetVpnRoutes => "reading VPN routes",
        O::ListCompanyDeviceStates | O::ListCompanyTreeDeviceStates | O::ListSiteDeviceStates => "reading device states",
        O::ListCompanyDeviceFullStatuses | O::ListCompanyDeviceOnlineStatuses
        | O::ListCompanyTreeDeviceFullStatuses | O::ListCompanyTreeDeviceOnlineStatuses => "rollout, one request for each company",
        O::GetDeviceFullStatus | O::GetDeviceOnlineStatus => "rollout, one request for each device",
        O::ListSiteDeviceOnlineStatuses | O::ListSiteDeviceFullStatuses => "reading the status of the devices of a site",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_in_one_group() {
        let mut listed: Vec<Operation> = groups().flat_map(|(_, operations)| operations).collect();
        listed.sort_unstable();
        assert_eq!(listed, Operation::ALL);
    }
}
