//! The questions asked of the service: is it there, what does it look like (specification 4.2 to 4.9).
//!
//! Reading the answers is in [`super::found()`]; what follows from them is left to the run.

use super::call::{Call, owner_parameter};
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;

/// A question. Searches by name are partial matches at the service: compare exactly on our side.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lookup {
    /// The device with this MAC address.
    DeviceByMac(String),
    /// Devices whose name contains this one, of one company or of all.
    DevicesByName {
        /// The name.
        name: String,
        /// Only devices of this company.
        company: Option<RemoteId>,
    },
    /// The person with this username.
    PersonByUsername(String),
    /// All people of a company.
    PeopleOf(RemoteId),
    /// Sites whose name contains this one, of one company or of all.
    SitesByName {
        /// The name.
        name: String,
        /// Only sites of this company.
        company: Option<RemoteId>,
    },
    /// The companies below a company.
    ChildCompanies(RemoteId),
    /// Companies whose name contains this one.
    CompaniesByName(String),
    /// A company by its id.
    Company(RemoteId),
    /// A device by its id.
    Device(RemoteId),
    /// A site by its id.
    Site(RemoteId),
    /// A person by their id.
    Person(RemoteId),
    /// The labels of a site.
    SiteLabels(RemoteId),
    /// The labels of a device.
    DeviceLabels(RemoteId),
    /// The metadata of a company.
    CompanyMetadata(RemoteId),
    /// The metadata of a site.
    SiteMetadata(RemoteId),
    /// The metadata of a device.
    DeviceMetadata(RemoteId),
    /// The enterprise templates a device is subscribed to.
    AssignedTemplates(RemoteId),
    /// The enterprise templates a device can be assigned to, inherited ones included.
    AssignableTemplates(RemoteId),
    /// The VPN clouds a device belongs to.
    DeviceVpnClouds(RemoteId),
    /// The VPN clouds a device can join.
    JoinableVpnClouds(RemoteId),
    /// The settings of a device in a VPN cloud.
    DeviceVpnConfiguration {
        /// The device.
        device: RemoteId,
        /// The cloud.
        cloud: RemoteId,
    },
    /// The interfaces of a device.
    DeviceInterfaces(RemoteId),
    /// The labels of an interface.
    InterfaceLabels(RemoteId),
    /// The statuses of the devices at a site: one for each device.
    SiteStatuses(RemoteId),
}

impl Lookup {
    /// The record of `kind` with this id; `None` for what is no record.
    pub fn record(kind: Kind, id: RemoteId) -> Option<Self> {
        match kind {
            Kind::Company => Some(Self::Company(id)),
            Kind::Site => Some(Self::Site(id)),
            Kind::Person => Some(Self::Person(id)),
            Kind::Device => Some(Self::Device(id)),
            Kind::Upkeep(_) => None,
        }
    }

    /// The labels of a record; `None` where the service keeps none for that kind.
    pub fn labels(kind: Kind, owner: RemoteId) -> Option<Self> {
        match kind {
            Kind::Site => Some(Self::SiteLabels(owner)),
            Kind::Device => Some(Self::DeviceLabels(owner)),
            Kind::Company | Kind::Person | Kind::Upkeep(_) => None,
        }
    }

    /// The metadata of a record; `None` where the service keeps none for that kind.
    pub fn metadata(kind: Kind, owner: RemoteId) -> Option<Self> {
        match kind {
            Kind::Company => Some(Self::CompanyMetadata(owner)),
            Kind::Site => Some(Self::SiteMetadata(owner)),
            Kind::Device => Some(Self::DeviceMetadata(owner)),
            Kind::Person | Kind::Upkeep(_) => None,
        }
    }

    /// The operation that answers it.
    pub fn operation(&self) -> Operation {
        match self {
            Self::DeviceByMac(_) => Operation::GetDeviceByMac,
            Self::DevicesByName { .. } => Operation::FindDevicesByName,
            Self::PersonByUsername(_) => Operation::GetPersonByUsername,
            Self::PeopleOf(_) => Operation::ListPeople,
            Self::SitesByName { .. } => Operation::FindSitesByName,
            Self::ChildCompanies(_) => Operation::GetChildCompanies,
            Self::CompaniesByName(_) => Operation::FindCompaniesByName,
            Self::Company(_) => Operation::GetCompany,
            Self::Device(_) => Operation::GetDevice,
            Self::Site(_) => Operation::GetSite,
            Self::Person(_) => Operation::GetPerson,
            Self::SiteLabels(_) => Operation::ListSiteLabels,
            Self::DeviceLabels(_) => Operation::ListDeviceLabels,
            Self::CompanyMetadata(_) => Operation::ListCompanyMetadata,
            Self::SiteMetadata(_) => Operation::ListSiteMetadata,
            Self::DeviceMetadata(_) => Operation::ListDeviceMetadata,
            Self::AssignedTemplates(_) => Operation::ListAssignedTemplates,
            Self::AssignableTemplates(_) => Operation::ListAssignableTemplates,
            Self::DeviceVpnClouds(_) => Operation::ListDeviceVpnClouds,
            Self::JoinableVpnClouds(_) => Operation::ListJoinableVpnClouds,
            Self::DeviceVpnConfiguration { .. } => Operation::GetDeviceVpnConfiguration,
            Self::DeviceInterfaces(_) => Operation::ListInterfaces,
            Self::InterfaceLabels(_) => Operation::ListInterfaceLabels,
            Self::SiteStatuses(_) => Operation::ListSiteDeviceOnlineStatuses,
        }
    }

    /// The request that asks it.
    pub fn call(&self) -> Call {
        let parameters = match self {
            Self::DeviceByMac(mac) => vec![("macAddress", mac.clone())],
            Self::PersonByUsername(username) => vec![("username", username.clone())],
            Self::CompaniesByName(name) => vec![("companyName", name.clone())],
            Self::DevicesByName { name, company } | Self::SitesByName { name, company } => {
                let mut parameters = vec![("name", name.clone())];
                parameters.extend(company.map(|company| ("companyId", company.to_string())));
                parameters
            }
            Self::Company(id) | Self::Device(id) | Self::Site(id) | Self::Person(id) => {
                vec![("id", id.to_string())]
            }
            Self::PeopleOf(id) | Self::ChildCompanies(id) | Self::CompanyMetadata(id) => {
                vec![(owner_parameter(Kind::Company), id.to_string())]
            }
            Self::SiteLabels(id) | Self::SiteMetadata(id) | Self::SiteStatuses(id) => {
                vec![(owner_parameter(Kind::Site), id.to_string())]
            }
            Self::DeviceLabels(id)
            | Self::DeviceMetadata(id)
            | Self::AssignedTemplates(id)
            | Self::AssignableTemplates(id)
            | Self::DeviceVpnClouds(id)
            | Self::JoinableVpnClouds(id)
            | Self::DeviceInterfaces(id) => vec![(owner_parameter(Kind::Device), id.to_string())],
            Self::DeviceVpnConfiguration { device, cloud } => {
                vec![(owner_parameter(Kind::Device), device.to_string()), ("vpnCloudId", cloud.to_string())]
            }
            Self::InterfaceLabels(id) => vec![("interfaceDeviceId", id.to_string())],
        };
        Call { operation: self.operation(), parameters, body: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::Method;

    #[test]
    fn every_question_gives_its_operation_the_parameters_it_needs() {
        let id = RemoteId::from_u128(5);
        let named = |company| {
            [
                Lookup::DevicesByName { name: "x".into(), company },
                Lookup::SitesByName { name: "x".into(), company },
            ]
        };
        let mut questions = vec![
            Lookup::DeviceByMac("00:1a:2b:3c:4d:5e".into()),
            Lookup::PersonByUsername("a@b".into()),
            Lookup::PeopleOf(id),
            Lookup::ChildCompanies(id),
            Lookup::CompaniesByName("x".into()),
            Lookup::AssignedTemplates(id),
            Lookup::AssignableTemplates(id),
            Lookup::DeviceVpnClouds(id),
            Lookup::JoinableVpnClouds(id),
            Lookup::DeviceVpnConfiguration { device: id, cloud: id },
            Lookup::DeviceInterfaces(id),
            Lookup::InterfaceLabels(id),
            Lookup::SiteStatuses(id),
        ];
        questions.extend(named(Some(id)));
        questions.extend(named(None));
        for kind in Kind::ALL {
            questions.extend(Lookup::record(kind, id));
            questions.extend(Lookup::labels(kind, id));
            questions.extend(Lookup::metadata(kind, id));
        }
        assert_eq!(questions.len(), 26);
        for question in questions {
            let call = question.call();
            assert_eq!(call.operation.method(), Method::Get, "{question:?}");
            let known = call.operation.parameters();
            for parameter in &known {
                let given = call.parameters.iter().any(|(name, _)| *name == parameter.name);
                assert!(given || !parameter.required, "{question:?} lacks {}", parameter.name);
            }
            for (name, _) in &call.parameters {
                assert!(known.iter().any(|parameter| parameter.name == *name), "{question:?} gives {name}");
            }
        }
    }
}
