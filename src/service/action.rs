//! The service's side of each action: the request that carries it out, the look-up that shows whether it is so already, and
//! whether an answer shows it (specification 4.2 to 4.9).
//!
//! What is known of an action without the service is in [`crate::model::action`].

mod before;
mod named;
mod seen;
pub(super) mod vpn;

use serde_json::{Value, json};

use super::call::{Call, owner_parameter};
use super::found::{Found, may_be_a_page};
use super::lookup::Lookup;
use crate::mistake::{self, Mistake};
use crate::model::action::{Action, OwnedEntry, OwnedLabel, Owner};
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::record::{Record, Role};
pub use before::before;
pub use named::{NameSearch, find_name, name_lookups};
pub use seen::{SeenChange, seen_change};
pub use vpn::shown_settings;

/// The body of a creation, with the ids that the record links to under their fields.
pub fn creation_body(record: &Record, links: &[(Role, RemoteId)]) -> Value {
    let mut body = record.body();
    for (role, id) in links {
        body[role.field()] = json!(id);
    }
    body
}

/// The request that carries out an action as a step of a row of `kind`. A creation and an assignment send the ids of
/// `links`; every other action is about the record `owner`.
///
/// `None` where the service has no such operation for that kind, for an action on a record that has no id, as it must never
/// turn into another creation, and for one that names an interface or entry of which the id is not known.
pub fn request(
    action: &Action,
    kind: Kind,
    owner: Option<RemoteId>,
    links: &[(Role, RemoteId)],
) -> Option<Call> {
    if let Action::Keep(action) = action {
        return request(action, kind, owner, links);
    }
    let operation = action.operation(kind)?;
    let about = action.about(kind);
    let by_owner = |owner: RemoteId| vec![(owner_parameter(about), owner.to_string())];
    let by_target = |target: &Owner| match target {
        Owner::Interface { id, .. } => Some(vec![("interfaceDeviceId", id.as_ref()?.to_string())]),
        Owner::Company | Owner::Site | Owner::Device => Some(by_owner(owner?)),
    };
    let linked = |role: Role| links.iter().find(|(linked, _)| *linked == role).map(|(_, id)| *id);
    let device_and = |field: &str, id: RemoteId| Some(json!({ "deviceId": owner?, field: id }));
    let (parameters, body) = match action {
        Action::Create(record) => (Vec::new(), creation_body(record, links)),
        Action::Keep(_) => return None,
        Action::Update(update) => (by_owner(owner?), update.body()),
        Action::PutLabels(labels) => {
            (by_owner(owner?), labels.iter().map(|label| json!({ "label": label })).collect::<Value>())
        }
        Action::PutMetadata(entries) => (
            by_owner(owner?),
            entries.iter().map(|entry| json!({ "key": entry.key, "value": entry.value })).collect::<Value>(),
        ),
        Action::AddLicence(code) => (Vec::new(), json!({ "deviceId": owner?, "licenceCode": code })),
        Action::SubscribeTemplate(template) | Action::UnsubscribeTemplate(template) => {
            (Vec::new(), device_and("enterpriseTemplateId", template.id()?)?)
        }
        Action::JoinVpnCloud(cloud) | Action::LeaveVpnCloud(cloud) => {
            (Vec::new(), device_and("vpnCloudId", cloud.id()?)?)
        }
        Action::PutLabel(OwnedLabel { owner, label }) => (by_target(owner)?, json!({ "label": label })),
        Action::PutMetadataEntry(OwnedEntry { owner, key, value, .. }) => {
            (by_target(owner)?, json!({ "key": key, "value": value }))
        }
        Action::AssignToSite => (Vec::new(), device_and("siteId", linked(Role::Site)?)?),
        Action::ConfigureVpn(settings) => (Vec::new(), vpn::body(settings, owner?)?),
        Action::DeleteLabel(OwnedLabel { owner, label }) => {
            let mut parameters = by_target(owner)?;
            parameters.push(("label", label.clone()));
            return Some(Call { operation, parameters, body: None });
        }
        Action::DeleteMetadataEntry(OwnedEntry { owner, id, .. }) => {
            let mut parameters = by_target(owner)?;
            parameters.push(("metadataId", id.as_ref()?.to_string()));
            return Some(Call { operation, parameters, body: None });
        }
    };
    Some(Call { operation, parameters, body: Some(body) })
}

/// The look-up that shows whether an action was carried out, as a step of a row of `kind` about the record `owner`; `None`
/// where the service has none, or an id in it is not known yet. A creation is found by the natural key of its record instead.
pub fn look_up(action: &Action, kind: Kind, owner: RemoteId, links: &[(Role, RemoteId)]) -> Option<Lookup> {
    let about = action.about(kind);
    match action {
        Action::Create(_) | Action::AddLicence(_) => None,
        Action::Update(_) => Lookup::record(about, owner),
        Action::Keep(action) => look_up(action, kind, owner, links),
        Action::PutLabels(_) => Lookup::labels(about, owner),
        Action::PutMetadata(_) | Action::PutMetadataEntry(_) | Action::DeleteMetadataEntry(_) => {
            Lookup::metadata(about, owner)
        }
        Action::SubscribeTemplate(template) | Action::UnsubscribeTemplate(template) => {
            template.id().map(|_| Lookup::AssignedTemplates(owner))
        }
        Action::JoinVpnCloud(cloud) | Action::LeaveVpnCloud(cloud) => {
            cloud.id().map(|_| Lookup::DeviceVpnClouds(owner))
        }
        Action::PutLabel(label) | Action::DeleteLabel(label) => match &label.owner {
            Owner::Interface { id, .. } => id.map(Lookup::InterfaceLabels),
            Owner::Company | Owner::Site | Owner::Device => Lookup::labels(about, owner),
        },
        Action::ConfigureVpn(settings) => {
            settings.cloud.id().map(|cloud| Lookup::DeviceVpnConfiguration { device: owner, cloud })
        }
        Action::AssignToSite => {
            let site = links.iter().find(|(role, _)| *role == Role::Site).map(|(_, id)| *id);
            site.map(Lookup::SiteStatuses)
        }
    }
}

/// Whether the answer to [`look_up`] shows that it is so, for an action on the record `owner`.
pub fn is_shown(action: &Action, owner: Option<RemoteId>, found: &[Found]) -> bool {
    let has_label = |label: &str| found.iter().any(|found| found.label.as_deref() == Some(label));
    let entry = |key: &str| found.iter().find(|found| found.key.as_deref() == Some(key));
    let has_value = |key: &str, value: &str| {
        entry(key).is_some_and(|found| {
            // An entry without a value has a blank one.
            found.value.as_deref().unwrap_or_default() == value || mistake::made(Mistake::ValueNotCompared)
        })
    };
    let has_id = |id: RemoteId| found.iter().any(|found| found.id == Some(id));
    match action {
        Action::Keep(action) => is_shown(action, owner, found),
        Action::Update(update) => {
            let record = found.iter().find(|found| found.id == owner);
            record.is_some_and(|found| update.is_shown_by(&found.raw))
        }
        Action::PutLabels(labels) => labels.iter().all(|label| has_label(label)),
        Action::PutMetadata(entries) => entries.iter().all(|entry| has_value(&entry.key, &entry.value)),
        Action::SubscribeTemplate(offer) | Action::JoinVpnCloud(offer) => offer.id().is_some_and(has_id),
        Action::UnsubscribeTemplate(offer) | Action::LeaveVpnCloud(offer) => {
            offer.id().is_some_and(|id| !has_id(id)) && !may_be_a_page(found.len())
        }
        Action::PutLabel(OwnedLabel { label, .. }) => has_label(label),
        Action::DeleteLabel(OwnedLabel { label, .. }) => !has_label(label) && !may_be_a_page(found.len()),
        Action::PutMetadataEntry(OwnedEntry { key, value, .. }) => {
            value.as_deref().is_some_and(|value| has_value(key, value))
        }
        Action::DeleteMetadataEntry(OwnedEntry { key, .. }) => {
            entry(key).is_none() && !may_be_a_page(found.len())
        }
        Action::ConfigureVpn(settings) => vpn::is_shown(settings, found),
        Action::AssignToSite => owner.is_some() && found.iter().any(|found| found.device == owner),
        Action::Create(_) | Action::AddLicence(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::Offer;
    use crate::model::operation::Operation;
    use crate::model::record::{Address, Metadata, Site, SnatMapping, TemplateCopy};
    use crate::service::found;
    use crate::testing;

    fn id(n: u128) -> RemoteId {
        RemoteId::from_u128(n)
    }

    fn created(record: Record, links: &[(Role, RemoteId)]) -> Call {
        let kind = record.kind();
        request(&Action::Create(record), kind, None, links).unwrap()
    }

    #[test]
    fn a_creation_sends_the_record_with_its_links_and_nothing_else() {
        let site = Site { latitude: Some(-36.5), address: Address::default(), ..testing::site("Shop") };
        let call = created(Record::Site(site), &[(Role::Company, id(7))]);
        assert_eq!(call.operation, Operation::AddSite);
        assert_eq!(
            call.body.unwrap(),
            json!({
                "name": "Shop", "latitude": -36.5, "address": {}, "phoneNumber": "+64 9 555 0100",
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
        let mut device = testing::device("Till", None);
        (device.device_model, device.copy) = (None, Some(copy));
        let links = [(Role::Company, id(1)), (Role::Site, id(2)), (Role::Template, id(3))];
        let call = created(Record::Device(device), &links);
        assert_eq!(call.operation, Operation::AddDeviceFromTemplate);
        assert_eq!(
            call.body.unwrap(),
            json!({
                "name": "Till", "phoneNumber": "+64 9 555 0100",
                "address": {"address1": "1 High St", "city": "Auckland"},
                "copyDhcpLeases": true, "copyInternetPasswords": false,
                "snatMapping": [{"cloud": "hq", "mapping": {"eth0": "10.0.0.0/24"}}],
                "companyId": id(1), "siteId": id(2), "templateId": id(3),
            })
        );
    }

    #[test]
    fn every_other_action_is_sent_as_the_specification_shows_it() {
        let owner = id(9);
        let labels = Action::PutLabels(vec!["a".into(), "b".into()]);
        let metadata = Action::PutMetadata(vec![Metadata { key: "k".into(), value: "v".into() }]);
        let table = [
            (Kind::Site, &labels, "putSiteLabels", json!([{"label": "a"}, {"label": "b"}])),
            (Kind::Device, &labels, "putDeviceLabels", json!([{"label": "a"}, {"label": "b"}])),
            (Kind::Company, &metadata, "putCompanyMetadataList", json!([{"key": "k", "value": "v"}])),
            (Kind::Site, &metadata, "putSiteMetadataList", json!([{"key": "k", "value": "v"}])),
            (Kind::Device, &metadata, "putDeviceMetadataList", json!([{"key": "k", "value": "v"}])),
            (
                Kind::Device,
                &Action::AddLicence("L1".into()),
                "addLicenceCode",
                json!({"deviceId": owner, "licenceCode": "L1"}),
            ),
            (
                Kind::Device,
                &Action::SubscribeTemplate(Offer::Id(id(3))),
                "subscribeTemplate",
                json!({"deviceId": owner, "enterpriseTemplateId": id(3)}),
            ),
            (
                Kind::Device,
                &Action::JoinVpnCloud(Offer::Id(id(4))),
                "addDeviceToVpnCloud",
                json!({"deviceId": owner, "vpnCloudId": id(4)}),
            ),
        ];
        for (kind, wanted, operation, body) in table {
            let call = request(wanted, kind, Some(owner), &[]).unwrap();
            assert_eq!(call.operation.name(), operation);
            assert_eq!(call.body, Some(body), "{operation}");
            let names: Vec<_> = call.parameters.iter().map(|(name, _)| *name).collect();
            let known: Vec<_> =
                call.operation.parameters().into_iter().map(|parameter| parameter.name).collect();
            assert_eq!(names, known, "{operation}");
        }
        assert_eq!(request(&labels, Kind::Person, Some(owner), &[]), None);
        assert_eq!(request(&labels, Kind::Site, None, &[]), None, "no record, no request");
    }

    #[test]
    fn the_look_up_of_an_action_is_one_of_its_descriptor() {
        for action in testing::actions() {
            for kind in action.descriptor().operations.iter().map(|&(kind, _)| kind) {
                if let Some(lookup) = look_up(&action, kind, id(1), &[]) {
                    assert!(action.descriptor().shown_by.contains(&lookup.operation()), "{action:?} {kind}");
                }
            }
        }
    }

    #[test]
    fn an_action_is_carried_out_when_all_it_puts_is_there() {
        let entry = |key: &str, value: &str| Metadata { key: key.into(), value: value.into() };
        let labels = Action::PutLabels(vec!["north".into(), "till".into()]);
        let metadata = Action::PutMetadata(vec![entry("cost-centre", "17")]);
        let cloud = Action::JoinVpnCloud(Offer::Id(id(5)));
        let table = [
            (&labels, json!([{"label": "till"}, {"label": "north"}]), true),
            (&labels, json!([{"label": "till"}]), false),
            (&metadata, json!([{"key": "cost-centre", "value": "17"}]), true),
            (&metadata, json!([{"key": "cost-centre", "value": "18"}]), false),
            (&cloud, json!([{"id": id(5)}]), true),
            (&cloud, json!([{"id": id(6)}]), false),
        ];
        for (action, answer, expected) in table {
            let lookup = look_up(action, Kind::Device, id(1), &[]).unwrap();
            let found = found(lookup.operation(), &answer).unwrap();
            assert_eq!(is_shown(action, Some(id(1)), &found), expected, "{action:?} {answer}");
        }
        assert_eq!(look_up(&Action::AddLicence("L1".into()), Kind::Device, id(1), &[]), None);
    }
}
