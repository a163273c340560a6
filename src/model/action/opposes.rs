//! Whether one action may leave a record otherwise than another one has brought it about: what was put and then deleted, a
//! value that was replaced.

use super::{Action, InterfaceSettings, Offer, OwnedEntry, OwnedLabel, Owner, VpnSettings};

/// Whether `later`, on the same record, may have changed what `earlier` brought about. Where the one names an interface,
/// template or cloud by its name and the other by its id, they may be the same.
pub fn opposes(later: &Action, earlier: &Action) -> bool {
    match (earlier, later) {
        (Action::Keep(earlier), _) => opposes(later, earlier),
        (_, Action::Keep(later)) => opposes(later, earlier),
        (Action::PutLabel(put), Action::DeleteLabel(deleted))
        | (Action::DeleteLabel(deleted), Action::PutLabel(put)) => is_same_label(put, deleted),
        (Action::SubscribeTemplate(one), Action::UnsubscribeTemplate(other))
        | (Action::UnsubscribeTemplate(one), Action::SubscribeTemplate(other))
        | (Action::JoinVpnCloud(one), Action::LeaveVpnCloud(other))
        | (Action::LeaveVpnCloud(one), Action::JoinVpnCloud(other)) => may_be_same(one, other),
        (Action::ConfigureVpn(settings), Action::LeaveVpnCloud(other) | Action::JoinVpnCloud(other)) => {
            may_be_same(&settings.cloud, other)
        }
        (Action::ConfigureVpn(settings), Action::ConfigureVpn(other)) => {
            may_be_same(&settings.cloud, &other.cloud)
                && (settings.asks_for_a_change() || changes_what_is_kept(other, settings))
        }
        (Action::Update(_), Action::Update(_)) | (Action::AssignToSite, Action::AssignToSite) => true,
        _ => {
            let (wanted, left) = (entries(earlier), entries(later));
            wanted.iter().any(|(key, value)| left.iter().any(|(other, left)| key == other && value != left))
        }
    }
}

/// The metadata entries that an action puts, or deletes as `None`.
pub(super) fn entries(action: &Action) -> Vec<(&str, Option<&str>)> {
    match action {
        Action::PutMetadata(entries) => {
            entries.iter().map(|entry| (entry.key.as_str(), Some(entry.value.as_str()))).collect()
        }
        Action::PutMetadataEntry(OwnedEntry { key, value, .. }) => vec![(key, value.as_deref())],
        Action::DeleteMetadataEntry(OwnedEntry { key, .. }) => vec![(key, None)],
        _ => Vec::new(),
    }
}

fn is_same_label(one: &OwnedLabel, other: &OwnedLabel) -> bool {
    let on_interfaces = |label: &OwnedLabel| matches!(label.owner, Owner::Interface { .. });
    one.label == other.label && on_interfaces(one) == on_interfaces(other)
}

/// Whether settings change some that are as they were exported: of these, those of other interfaces are a row beside them.
fn changes_what_is_kept(later: &VpnSettings, kept: &VpnSettings) -> bool {
    let has_own =
        |given: &InterfaceSettings| kept.interfaces.iter().any(|own| own.interface == given.interface);
    later.cipher_suite.is_some() && kept.exported_suite.is_some()
        || later.given().interfaces.iter().any(has_own)
}

fn may_be_same(one: &Offer, other: &Offer) -> bool {
    one.is_same(other) != Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::RemoteId;
    use crate::model::record::Metadata;

    #[test]
    fn an_action_opposes_another_about_the_same_thing_that_asks_for_it_otherwise() {
        let label = |interface: Option<&str>, label: &str| OwnedLabel {
            owner: interface
                .map_or(Owner::Device, |name| Owner::Interface { name: name.to_owned(), id: None }),
            label: label.to_owned(),
        };
        let entry = |key: &str, value: Option<&str>| OwnedEntry {
            owner: Owner::Device,
            key: key.to_owned(),
            value: value.map(str::to_owned),
            exported: None,
            id: None,
        };
        let put = |key: &str, value: &str| Action::PutMetadataEntry(entry(key, Some(value)));
        let list = |key: &str, value: &str| {
            Action::PutMetadata(vec![Metadata { key: key.to_owned(), value: value.to_owned() }])
        };
        let id = |n| Offer::Id(RemoteId::from_u128(n));
        let named = |name: &str| Offer::named(name);
        let (sub, unsub) = (Action::SubscribeTemplate, Action::UnsubscribeTemplate);
        let lan = Some("LAN 1");
        let settings = |interface: &str, weight, exported_suite: Option<&str>| {
            let entry = InterfaceSettings { weight, ..InterfaceSettings::named(interface) };
            let (cloud, exported_suite) = (named("Guest"), exported_suite.map(str::to_owned));
            let interfaces = vec![entry];
            Action::ConfigureVpn(VpnSettings { cloud, exported_suite, interfaces, ..VpnSettings::default() })
        };
        let suite = |suite: &str| {
            let cipher_suite = Some(suite.to_owned());
            Action::ConfigureVpn(VpnSettings {
                cloud: named("Guest"),
                cipher_suite,
                ..VpnSettings::default()
            })
        };
        let table = [
            (Action::DeleteLabel(label(lan, "a")), Action::PutLabel(label(lan, "a")), true),
            (Action::PutLabel(label(Some("7"), "a")), Action::DeleteLabel(label(lan, "a")), true),
            (Action::DeleteLabel(label(lan, "b")), Action::PutLabel(label(lan, "a")), false),
            (Action::DeleteLabel(label(lan, "a")), Action::PutLabel(label(None, "a")), false),
            (Action::PutLabel(label(None, "b")), Action::PutLabel(label(None, "a")), false),
            (put("k", "2"), put("k", "1"), true),
            (put("k", "1"), put("k", "1"), false),
            (put("l", "2"), put("k", "1"), false),
            (list("k", "2"), put("k", "1"), true),
            (put("k", "2"), list("k", "1"), true),
            (Action::DeleteMetadataEntry(entry("k", None)), put("k", "1"), true),
            (put("k", "1"), Action::DeleteMetadataEntry(entry("k", None)), true),
            (unsub(id(1)), sub(id(1)), true),
            (unsub(id(2)), sub(id(1)), false),
            (unsub(named("Retail")), sub(id(1)), true),
            (unsub(named("Retail")), sub(named("Office")), false),
            (sub(id(1)), sub(id(1)), false),
            (Action::LeaveVpnCloud(id(1)), Action::JoinVpnCloud(id(1)), true),
            (Action::LeaveVpnCloud(id(1)), sub(id(1)), false),
            (Action::AssignToSite, Action::AssignToSite, true),
            (settings("eth0", Some(2), None), settings("eth1", Some(1), None), true),
            // Nobody has asked for the earlier ones.
            (settings("eth0", Some(2), None), settings("eth1", None, Some("Automatic")), false),
            (settings("eth1", Some(2), None), settings("eth1", None, None), true),
            (suite("Other"), settings("eth1", None, Some("Automatic")), true),
            (suite("Other"), settings("eth1", None, None), false),
        ];
        for (later, earlier, expected) in table {
            assert_eq!(opposes(&later, &earlier), expected, "{later:?} after {earlier:?}");
        }
    }
}
