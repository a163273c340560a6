//! What a record has of what an action changes, by the answer to the look-up of the action: to be put back by an undo.

use std::collections::BTreeMap;

use super::vpn::of_cloud;
use crate::model::action::before::Before;
use crate::model::action::{Action, OwnedEntry, OwnedLabel};
use crate::model::record::Metadata;
use crate::service::found::{Found, may_be_a_page};

/// What the answer to [`look_up`](super::look_up) shows of what the action is about to change. `None` where it does not show
/// it: a list that may be a page of a longer one does not show that something is absent.
pub fn before(action: &Action, found: &[Found]) -> Option<Before> {
    let absent = || (!may_be_a_page(found.len())).then_some(Before::Absent);
    match action {
        Action::PutLabel(OwnedLabel { label, .. }) | Action::DeleteLabel(OwnedLabel { label, .. }) => {
            match found.iter().any(|found| found.label.as_ref() == Some(label)) {
                true => Some(Before::present()),
                false => absent(),
            }
        }
        Action::PutMetadataEntry(OwnedEntry { key, .. })
        | Action::DeleteMetadataEntry(OwnedEntry { key, .. }) => {
            match found.iter().find(|found| found.key.as_ref() == Some(key)) {
                Some(entry) => entry.value.clone().map(|value| Before::Value { value, meanwhile: None }),
                None => absent(),
            }
        }
        Action::PutMetadata(wanted) => {
            let mut entries = BTreeMap::new();
            for Metadata { key, value } in wanted {
                let shown = found.iter().find(|found| found.key.as_ref() == Some(key));
                // A list that may be a page, and an entry without a value, do not show what was there.
                let was = match shown {
                    Some(entry) => Some(entry.value.clone()?),
                    None => absent().map(|_| None)?,
                };
                if was.as_ref() != Some(value) {
                    entries.insert(key.clone(), was);
                }
            }
            Some(Before::Entries { entries })
        }
        Action::SubscribeTemplate(offer)
        | Action::UnsubscribeTemplate(offer)
        | Action::JoinVpnCloud(offer)
        | Action::LeaveVpnCloud(offer) => {
            match found.iter().find(|found| found.id.is_some() && found.id == offer.id()) {
                Some(entry) => {
                    let name = entry.name.clone();
                    Some(Before::Present { name, settings: None, left: Vec::new() })
                }
                None => absent(),
            }
        }
        Action::ConfigureVpn(settings) => {
            match settings.cloud.id().and_then(|cloud| of_cloud(found, cloud)) {
                Some(shown) => Some(Before::Present {
                    name: shown["cloud"]["name"].as_str().map(str::to_owned),
                    settings: Some(match &settings.send {
                        Some(sent) => sent.part_of(shown),
                        None => shown.clone(),
                    }),
                    left: settings.left.clone(),
                }),
                None => absent(),
            }
        }
        // The list of a site's devices does not show in which site a device was that is not among them.
        Action::AssignToSite => None,
        // They are carried out on a record that the same row has made, or cannot be looked up.
        Action::Create(_) | Action::PutLabels(_) | Action::AddLicence(_) => None,
        // What is kept depends on what is sent.
        Action::Update(update) => update.before.clone(),
        Action::Keep(action) => before(action, found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::Offer;
    use crate::model::action::Owner;
    use crate::model::id::RemoteId;
    use crate::model::operation::Operation;
    use crate::service::found;
    use serde_json::{Value, json};

    #[test]
    fn what_was_there_is_read_from_the_list_that_the_row_is_compared_with() {
        let (id, other) = (RemoteId::from_u128(5), RemoteId::from_u128(6));
        let label = |label: &str| OwnedLabel { owner: Owner::Device, label: label.into() };
        let entry = |key: &str| OwnedEntry {
            owner: Owner::Site,
            key: key.into(),
            value: None,
            exported: None,
            id: None,
        };
        let list = |entries: &[(&str, &str)]| {
            let entry = |(key, value): &(&str, &str)| Metadata { key: (*key).into(), value: (*value).into() };
            entries.iter().map(entry).collect::<Vec<_>>()
        };
        let present = |name: Option<&str>| {
            Some(Before::Present { name: name.map(str::to_owned), settings: None, left: Vec::new() })
        };
        let labels = || json!([{"label": "north"}]);
        let entries =
            || json!([{"id": id, "key": "k", "value": "v"}, {"id": other, "key": "empty", "value": null}]);
        let clouds = || json!([{"id": id, "name": "Core"}]);
        let page = |of: Value| Value::Array(vec![of; 100]);
        let table = [
            (Action::PutLabel(label("north")), Operation::ListDeviceLabels, labels(), present(None)),
            (Action::PutLabel(label("south")), Operation::ListDeviceLabels, labels(), Some(Before::Absent)),
            (Action::DeleteLabel(label("north")), Operation::ListDeviceLabels, labels(), present(None)),
            (
                Action::PutLabel(label("x")),
                Operation::ListDeviceLabels,
                page(json!({"label": "north"})),
                None,
            ),
            (
                Action::PutMetadataEntry(entry("k")),
                Operation::ListSiteMetadata,
                entries(),
                Some(Before::Value { value: "v".into(), meanwhile: None }),
            ),
            (
                Action::PutMetadataEntry(entry("K")),
                Operation::ListSiteMetadata,
                entries(),
                Some(Before::Absent),
            ),
            (Action::DeleteMetadataEntry(entry("empty")), Operation::ListSiteMetadata, entries(), None),
            (
                Action::PutMetadata(list(&[("k", "w"), ("K", "w")])),
                Operation::ListSiteMetadata,
                entries(),
                Some(Before::Entries {
                    entries: [("k".to_owned(), Some("v".to_owned())), ("K".to_owned(), None)].into(),
                }),
            ),
            (
                Action::PutMetadata(list(&[("k", "v"), ("l", "w")])),
                Operation::ListSiteMetadata,
                entries(),
                Some(Before::Entries { entries: [("l".to_owned(), None)].into() }),
            ),
            (Action::PutMetadata(list(&[("empty", "w")])), Operation::ListSiteMetadata, entries(), None),
            (
                Action::PutMetadata(list(&[("k", "w")])),
                Operation::ListSiteMetadata,
                page(json!({"id": other, "key": "l", "value": "v"})),
                None,
            ),
            (
                Action::LeaveVpnCloud(Offer::Id(id)),
                Operation::ListDeviceVpnClouds,
                clouds(),
                present(Some("Core")),
            ),
            (
                Action::JoinVpnCloud(Offer::Id(other)),
                Operation::ListDeviceVpnClouds,
                clouds(),
                Some(Before::Absent),
            ),
            (
                Action::UnsubscribeTemplate(Offer::Id(id)),
                Operation::ListAssignedTemplates,
                clouds(),
                present(Some("Core")),
            ),
            (
                Action::SubscribeTemplate(Offer::Id(other)),
                Operation::ListAssignedTemplates,
                clouds(),
                Some(Before::Absent),
            ),
            (Action::AssignToSite, Operation::ListSiteDeviceOnlineStatuses, json!([]), None),
        ];
        for (action, operation, answer, expected) in table {
            let found = found(operation, &answer).unwrap();
            assert_eq!(before(&action, &found), expected, "{action:?} {answer}");
        }
    }
}
