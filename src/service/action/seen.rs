//! What the answer to the look-up of an action shows of it some time after it was carried out: it is so still, it is
//! otherwise, or nobody can tell.

use super::{is_shown, vpn};
use crate::model::action::{Action, OwnedEntry};
use crate::model::id::RemoteId;
use crate::service::found::{Found, may_be_a_page};

/// What is seen of a change that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenChange {
    /// It is as the action brought it about.
    AsAsked,
    /// The service shows it otherwise: how, in words.
    Otherwise(String),
    /// What was put is not shown.
    Absent,
    /// The answer does not tell.
    Unclear,
}

/// What the answer to [`look_up`](super::look_up) shows of an action on the record `owner`.
pub fn seen_change(action: &Action, owner: Option<RemoteId>, found: &[Found]) -> SeenChange {
    if is_shown(action, owner, found) {
        return SeenChange::AsAsked;
    }
    // What is not on a page may be on the next.
    let absent = || match may_be_a_page(found.len()) {
        true => SeenChange::Unclear,
        false => SeenChange::Absent,
    };
    let shown = |is_it: &dyn Fn(&Found) -> bool| match found.iter().any(is_it) {
        true => SeenChange::Otherwise("it is there now".to_owned()),
        false => SeenChange::Unclear,
    };
    let other_value = |key: &str| {
        let entry = found.iter().find(|found| found.key.as_deref() == Some(key))?;
        Some(match &entry.value {
            Some(value) => format!("the value of '{key}' is '{value}' now"),
            None => format!("'{key}' has no value now"),
        })
    };
    match action {
        Action::Keep(action) => seen_change(action, owner, found),
        Action::PutLabels(_)
        | Action::PutLabel(_)
        | Action::SubscribeTemplate(_)
        | Action::JoinVpnCloud(_) => absent(),
        Action::PutMetadata(entries) => {
            let is_so = |key: &str, value: &str| {
                found.iter().any(|f| f.key.as_deref() == Some(key) && f.value.as_deref() == Some(value))
            };
            let others = entries.iter().filter(|entry| !is_so(&entry.key, &entry.value));
            let words: Vec<String> = others.filter_map(|entry| other_value(&entry.key)).collect();
            match words.is_empty() {
                true => absent(),
                false => SeenChange::Otherwise(words.join(", ")),
            }
        }
        Action::PutMetadataEntry(OwnedEntry { key, .. }) => {
            other_value(key).map_or_else(absent, SeenChange::Otherwise)
        }
        Action::DeleteLabel(label) => shown(&|found| found.label.as_ref() == Some(&label.label)),
        Action::DeleteMetadataEntry(entry) => shown(&|found| found.key.as_ref() == Some(&entry.key)),
        Action::UnsubscribeTemplate(offer) | Action::LeaveVpnCloud(offer) => {
            shown(&|found| found.id.is_some() && found.id == offer.id())
        }
        Action::ConfigureVpn(settings) => match vpn::shows_all_fields(settings, found) {
            Some(true) => SeenChange::Otherwise("the service shows other settings now".to_owned()),
            Some(false) => SeenChange::Unclear,
            None => absent(),
        },
        Action::Update(update) => match found.iter().find(|found| found.id == owner) {
            Some(record) => {
                let differences = update.differences(&record.raw);
                let words: Vec<String> = differences
                    .iter()
                    .filter_map(|field| Some(format!("{} is '{}' now", field.field, field.shown.as_ref()?)))
                    .collect();
                match words.is_empty() {
                    // The service does not show the field.
                    true => SeenChange::Unclear,
                    false => SeenChange::Otherwise(words.join(", ")),
                }
            }
            None => absent(),
        },
        // A device without a status is in no list of statuses.
        Action::AssignToSite | Action::Create(_) | Action::AddLicence(_) => SeenChange::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::action::record_update::RecordUpdate;
    use crate::model::action::{Offer, OwnedLabel, Owner, VpnSettings};
    use crate::model::operation::Operation as O;
    use crate::service::found;

    #[test]
    fn what_was_changed_is_as_asked_otherwise_absent_or_nobody_can_tell() {
        let id = RemoteId::from_u128;
        let label = OwnedLabel { owner: Owner::Device, label: "north".into() };
        let entry = |value: Option<&str>| OwnedEntry {
            owner: Owner::Device,
            key: "k".into(),
            value: value.map(str::to_owned),
            exported: None,
            id: None,
        };
        let put_label = Action::PutLabel(label);
        let put = Action::PutMetadataEntry(entry(Some("v")));
        let delete = Action::DeleteMetadataEntry(entry(None));
        let leave = Action::LeaveVpnCloud(Offer::Id(id(5)));
        let join = Action::JoinVpnCloud(Offer::Id(id(5)));
        let fields = [("name".to_owned(), json!("Front desk"))].into();
        let update = Action::Update(RecordUpdate { fields, ..RecordUpdate::default() });
        let configure = Action::ConfigureVpn(VpnSettings {
            cloud: Offer::Id(id(5)),
            cipher_suite: Some("Automatic".into()),
            ..VpnSettings::default()
        });
        let nothing = Action::ConfigureVpn(VpnSettings { cloud: Offer::Id(id(5)), ..VpnSettings::default() });
        let unasked = Action::Update(RecordUpdate::default());
        let page = Value::Array(vec![json!({"label": "south"}); 100]);
        let otherwise = |words: &str| SeenChange::Otherwise(words.to_owned());
        let table = [
            (&put_label, O::ListDeviceLabels, json!([{"label": "north"}]), SeenChange::AsAsked),
            (&put_label, O::ListDeviceLabels, json!([{"label": "south"}]), SeenChange::Absent),
            (&put_label, O::ListDeviceLabels, json!([]), SeenChange::Absent),
            (&put_label, O::ListDeviceLabels, page, SeenChange::Unclear),
            (&put, O::ListDeviceMetadata, json!([{"key": "k", "value": "v"}]), SeenChange::AsAsked),
            (
                &put,
                O::ListDeviceMetadata,
                json!([{"key": "k", "value": "w"}]),
                otherwise("the value of 'k' is 'w' now"),
            ),
            (&put, O::ListDeviceMetadata, json!([{"key": "l", "value": "v"}]), SeenChange::Absent),
            (&delete, O::ListDeviceMetadata, json!([]), SeenChange::AsAsked),
            (
                &delete,
                O::ListDeviceMetadata,
                json!([{"key": "k", "value": "v"}]),
                otherwise("it is there now"),
            ),
            (&leave, O::ListDeviceVpnClouds, json!([{"id": id(6)}]), SeenChange::AsAsked),
            (&leave, O::ListDeviceVpnClouds, json!([{"id": id(5)}]), otherwise("it is there now")),
            (&join, O::ListDeviceVpnClouds, json!([{"id": id(6)}]), SeenChange::Absent),
            (&update, O::GetDevice, json!({"id": id(1), "name": "Front desk"}), SeenChange::AsAsked),
            (&update, O::GetDevice, json!({"id": id(1), "name": "Till"}), otherwise("name is 'Till' now")),
            (&update, O::GetDevice, json!({"id": id(1)}), SeenChange::Unclear),
            (
                &configure,
                O::GetDeviceVpnConfiguration,
                json!([{"cloud": {"id": id(5)}, "cipherSuite": "Other"}]),
                otherwise("the service shows other settings now"),
            ),
            (
                &configure,
                O::GetDeviceVpnConfiguration,
                json!([{"cloud": {"id": id(5)}}]),
                SeenChange::Unclear,
            ),
            (&configure, O::GetDeviceVpnConfiguration, json!([]), SeenChange::Absent),
            // What asks for nothing cannot be compared.
            (
                &nothing,
                O::GetDeviceVpnConfiguration,
                json!([{"cloud": {"id": id(5)}, "cipherSuite": "Other"}]),
                SeenChange::Unclear,
            ),
            (&unasked, O::GetDevice, json!({"id": id(1), "name": "Till"}), SeenChange::Unclear),
            (&Action::AssignToSite, O::ListSiteDeviceOnlineStatuses, json!([]), SeenChange::Unclear),
        ];
        for (action, operation, answer, expected) in table {
            let found = found(operation, &answer).unwrap();
            assert_eq!(seen_change(action, Some(id(1)), &found), expected, "{action:?} {answer}");
        }
    }
}
