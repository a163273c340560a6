//! Builds the requests that change something: creations, and what a row asks for besides (specification 4.2 to 4.9).
//!
//! Look-ups are in [`super::lookup`]; the path is a matter of [`super::endpoint`].

use serde_json::{Value, json};

use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::{Extra, Record, Role};

/// One request: the operation, its named parameters and its JSON body.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What is asked.
    pub operation: Operation,
    /// The named parameters of specification section 4, unencoded. Whether one stands in the path or in the query
    /// is a matter of the [endpoint](super::endpoint::Endpoint).
    pub parameters: Vec<(&'static str, String)>,
    /// The JSON body, for operations that take one.
    pub body: Option<Value>,
}

/// The creation of `record`: its serialised form is the body, with the ids it links to under their fields.
pub fn creation(record: &Record, links: &[(Role, RemoteId)]) -> Call {
    let body = match record {
        Record::Company(company) => serde_json::to_value(company),
        Record::Site(site) => serde_json::to_value(site),
        Record::Person(person) => serde_json::to_value(person),
        Record::Device(device) => serde_json::to_value(device),
    };
    // Records are structs with string keys throughout, the one thing serialising to a value needs.
    let mut body = body.expect("a record serialises to JSON");
    for (role, id) in links {
        body[role.field()] = json!(id);
    }
    Call { operation: record.creation(), parameters: Vec::new(), body: Some(body) }
}

/// What a row asks for besides its record, for the record `owner` of `kind`; `None` where the service has no such
/// operation for that kind.
pub fn extra(kind: Kind, owner: RemoteId, extra: &Extra) -> Option<Call> {
    let operation = extra.operation(kind)?;
    let by_owner = || vec![(owner_parameter(kind), owner.to_string())];
    let (parameters, body) = match extra {
        Extra::Labels(labels) => {
            (by_owner(), labels.iter().map(|label| json!({ "label": label })).collect::<Value>())
        }
        Extra::Metadata(entries) => (
            by_owner(),
            entries.iter().map(|entry| json!({ "key": entry.key, "value": entry.value })).collect::<Value>(),
        ),
        Extra::Licence(code) => (Vec::new(), json!({ "deviceId": owner, "licenceCode": code })),
        Extra::EnterpriseTemplate(template) => {
            (Vec::new(), json!({ "deviceId": owner, "enterpriseTemplateId": template }))
        }
        Extra::VpnCloud(cloud) => (Vec::new(), json!({ "deviceId": owner, "vpnCloudId": cloud })),
    };
    Some(Call { operation, parameters, body: Some(body) })
}

/// The parameter that names the record something belongs to.
pub(crate) fn owner_parameter(kind: Kind) -> &'static str {
    match kind {
        Kind::Company => "companyId",
        Kind::Site => "siteId",
        Kind::Person => "id",
        Kind::Device => "deviceId",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::Operation;
    use crate::model::record::{Address, Device, Metadata, Site, SnatMapping, TemplateCopy};
    use crate::service::template::parameters;

    fn id(n: u128) -> RemoteId {
        RemoteId::from_u128(n)
    }

    fn device(copy: Option<TemplateCopy>) -> Record {
        Record::Device(Device {
            name: "Till".into(),
            address: Address { address1: Some("1 High St".into()), ..Address::default() },
            phone_number: "1".into(),
            fax_number: None,
            device_model: None,
            identification: None,
            custom_site_id: None,
            custom_site_name: None,
            copy,
        })
    }

    #[test]
    fn a_creation_sends_the_record_with_its_links_and_nothing_else() {
        let site = Record::Site(Site {
            name: "Shop".into(),
            reference: None,
            latitude: Some(-36.5),
            longitude: None,
            address: Address::default(),
            phone_number: "1".into(),
            fax_number: None,
        });
        let call = creation(&site, &[(Role::Company, id(7))]);
        assert_eq!(call.operation, Operation::AddSite);
        assert_eq!(
            call.body.unwrap(),
            json!({
                "name": "Shop", "latitude": -36.5, "address": {}, "phoneNumber": "1",
                "companyId": "00000000-0000-0000-0000-000000000007",
            })
        );
    }

    #[test]
    fn a_copied_device_names_its_template_and_what_to_copy() {
        let copy = TemplateCopy {
            copy_dhcp_leases: true,
            copy_internet_passwords: false,
            snat_mapping: vec![SnatMapping {
                cloud: "hq".into(),
                mapping: [("eth0".to_owned(), "10.0.0.0/24".to_owned())].into(),
            }],
        };
        let call = creation(
            &device(Some(copy)),
            &[(Role::Company, id(1)), (Role::Site, id(2)), (Role::Template, id(3))],
        );
        assert_eq!(call.operation, Operation::AddDeviceFromTemplate);
        assert_eq!(
            call.body.unwrap(),
            json!({
                "name": "Till", "address": {"address1": "1 High St"}, "phoneNumber": "1",
                "copyDhcpLeases": true, "copyInternetPasswords": false,
                "snatMapping": [{"cloud": "hq", "mapping": {"eth0": "10.0.0.0/24"}}],
                "companyId": id(1), "siteId": id(2), "templateId": id(3),
            })
        );
    }

    #[test]
    fn every_extra_is_sent_as_the_specification_shows_it() {
        let owner = id(9);
        let labels = Extra::Labels(vec!["a".into(), "b".into()]);
        let metadata = Extra::Metadata(vec![Metadata { key: "k".into(), value: "v".into() }]);
        let table = [
            (Kind::Site, &labels, "putSiteLabels", json!([{"label": "a"}, {"label": "b"}])),
            (Kind::Device, &labels, "putDeviceLabels", json!([{"label": "a"}, {"label": "b"}])),
            (Kind::Company, &metadata, "putCompanyMetadataList", json!([{"key": "k", "value": "v"}])),
            (Kind::Site, &metadata, "putSiteMetadataList", json!([{"key": "k", "value": "v"}])),
            (Kind::Device, &metadata, "putDeviceMetadataList", json!([{"key": "k", "value": "v"}])),
            (
                Kind::Device,
                &Extra::Licence("L1".into()),
                "addLicenceCode",
                json!({"deviceId": owner, "licenceCode": "L1"}),
            ),
            (
                Kind::Device,
                &Extra::EnterpriseTemplate(id(3)),
                "subscribeTemplate",
                json!({"deviceId": owner, "enterpriseTemplateId": id(3)}),
            ),
            (
                Kind::Device,
                &Extra::VpnCloud(id(4)),
                "addDeviceToVpnCloud",
                json!({"deviceId": owner, "vpnCloudId": id(4)}),
            ),
        ];
        for (kind, wanted, operation, body) in table {
            let call = extra(kind, owner, wanted).unwrap();
            assert_eq!(call.operation.name(), operation);
            assert_eq!(call.body, Some(body), "{operation}");
            let names: Vec<_> = call.parameters.iter().map(|(name, _)| *name).collect();
            let known: Vec<_> =
                parameters(call.operation).into_iter().map(|parameter| parameter.name).collect();
            assert_eq!(names, known, "{operation}");
        }
        assert_eq!(extra(Kind::Person, owner, &labels), None);
    }
}
