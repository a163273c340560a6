//! What restores what an action changed: the opposite action, by what the record had before, or why there is none.
//!
//! The service has no operation that deletes records, takes licence codes back, deletes labels of sites and devices or takes
//! a device out of its site (specification 4.2 to 4.9).

use std::collections::BTreeMap;

use super::before::Before;
use super::record_update::{self, FieldValues, RecordUpdate};
use super::setting::{Setting, Wish, asked};
use super::{Action, OwnedEntry, OwnedLabel, Owner};
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::record::Metadata;

/// An action that restores a part of what another one changed. Its record is that of the other one.
#[derive(Debug, Clone, PartialEq)]
pub struct Inverse {
    /// The action.
    pub action: Action,
    /// The site of an assignment.
    pub site: Option<RemoteId>,
}

/// Why something that was changed cannot be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Irreversible {
    /// A record was created.
    Created,
    /// A licence code was added.
    Licence,
    /// A label was put on a site or device.
    LabelStays,
    /// What was there before was not read.
    NotRead,
    /// A device was in no site.
    NoSite,
    /// A field of a record, or of an interface in a VPN cloud, was blank.
    WasBlank,
    /// The membership of a VPN cloud comes back without the settings that it had, which were not read.
    SettingsNotRead,
}

/// A part of a change that cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRestored {
    /// Why.
    pub reason: Irreversible,
    /// The field, as the service names it, of an interface with that; `None` for what is not one field.
    pub field: Option<String>,
}

impl From<Irreversible> for NotRestored {
    fn from(reason: Irreversible) -> Self {
        Self { reason, field: None }
    }
}

/// What restores what an action changed of a record of the kind `about`, part by part; nothing where it changed nothing.
pub fn inverse(action: &Action, about: Kind, before: Option<&Before>) -> Vec<Result<Inverse, NotRestored>> {
    let restored = |action: Action| Ok(Inverse { action, site: None });
    let one = match (action, before) {
        (Action::Create(_), _) => Err(Irreversible::Created),
        (Action::AddLicence(_), _) => Err(Irreversible::Licence),
        (Action::PutLabels(_), _) => Err(Irreversible::LabelStays),
        (Action::PutLabel(OwnedLabel { owner: Owner::Company | Owner::Site | Owner::Device, .. }), _) => {
            Err(Irreversible::LabelStays)
        }
        // It asked for nothing.
        (Action::Keep(_), _) => return Vec::new(),
        (_, None) => Err(Irreversible::NotRead),
        (Action::Update(update), Some(Before::Fields { fields, sent, .. })) => {
            return restored_fields(update, fields, sent);
        }
        (Action::PutLabel(label), Some(Before::Absent)) => restored(Action::DeleteLabel(label.clone())),
        (Action::DeleteLabel(label), Some(Before::Present { .. })) => {
            restored(Action::PutLabel(label.clone()))
        }
        (
            Action::PutMetadataEntry(entry) | Action::DeleteMetadataEntry(entry),
            Some(Before::Value { value, .. }),
        ) => {
            // What others have put there since is not overwritten, also where it was deleted.
            let exported = Some(entry.value.clone().unwrap_or_default());
            let entry = OwnedEntry { value: Some(value.clone()), id: None, exported, ..entry.clone() };
            restored(Action::PutMetadataEntry(entry))
        }
        (Action::PutMetadataEntry(entry), Some(Before::Absent)) => {
            let exported = entry.value.clone();
            let entry = OwnedEntry { value: None, id: None, exported, ..entry.clone() };
            restored(Action::DeleteMetadataEntry(entry))
        }
        (Action::PutMetadata(put), Some(Before::Entries { entries })) => {
            return restored_entries(put, about, entries);
        }
        (Action::SubscribeTemplate(of), Some(Before::Absent)) => {
            restored(Action::UnsubscribeTemplate(of.clone()))
        }
        (Action::UnsubscribeTemplate(of), Some(Before::Present { .. })) => {
            restored(Action::SubscribeTemplate(of.clone()))
        }
        (Action::JoinVpnCloud(of), Some(Before::Absent)) => restored(Action::LeaveVpnCloud(of.clone())),
        (Action::LeaveVpnCloud(of), Some(Before::Present { settings: None, .. })) => {
            let back = restored(Action::JoinVpnCloud(of.clone()));
            return vec![back.map_err(NotRestored::from), Err(Irreversible::SettingsNotRead.into())];
        }
        (Action::LeaveVpnCloud(of), Some(Before::Present { .. })) => {
            restored(Action::JoinVpnCloud(of.clone()))
        }
        (Action::ConfigureVpn(settings), Some(Before::Present { settings: Some(before), .. })) => {
            let part = |part: Option<_>| match part {
                Some(settings) => restored(Action::ConfigureVpn(settings)).map_err(NotRestored::from),
                None => Err(Irreversible::NotRead.into()),
            };
            let stays = |field| Err(NotRestored { reason: Irreversible::WasBlank, field: Some(field) });
            let restored = settings.restored(before).into_iter().map(part);
            return restored.chain(settings.blank_before(before).map(stays)).collect();
        }
        (Action::AssignToSite, Some(Before::Site { id, .. })) => {
            Ok(Inverse { action: Action::AssignToSite, site: Some(*id) })
        }
        (Action::AssignToSite, Some(Before::Absent)) => Err(Irreversible::NoSite),
        // It was as asked, and the request changed nothing.
        (
            Action::PutLabel(_) | Action::SubscribeTemplate(_) | Action::JoinVpnCloud(_),
            Some(Before::Present { .. }),
        )
        | (
            Action::DeleteLabel(_)
            | Action::DeleteMetadataEntry(_)
            | Action::UnsubscribeTemplate(_)
            | Action::LeaveVpnCloud(_),
            Some(Before::Absent),
        ) => return Vec::new(),
        // What was read is not what such a step changes.
        (
            Action::Update(_)
            | Action::PutMetadata(_)
            | Action::PutLabel(_)
            | Action::DeleteLabel(_)
            | Action::PutMetadataEntry(_)
            | Action::DeleteMetadataEntry(_)
            | Action::SubscribeTemplate(_)
            | Action::UnsubscribeTemplate(_)
            | Action::JoinVpnCloud(_)
            | Action::LeaveVpnCloud(_)
            | Action::ConfigureVpn(_)
            | Action::AssignToSite,
            Some(_),
        ) => Err(Irreversible::NotRead),
    };
    vec![one.map_err(NotRestored::from)]
}

/// What a step has left of its record: a field, an entry, a setting, or whether something is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftValue {
    /// What it is: the field of an update, what [`of_entry`] says of a metadata entry, or other words that tell it from others.
    pub of: String,
    /// Its value; `None` for what is not there.
    pub value: Option<String>,
}

/// What a metadata entry is among what an action has left.
pub fn of_entry(key: &str) -> String {
    format!("metadata {key}")
}

/// What an action has left that can be restored; `site` is where an assignment has put the device, if that is known. What a record
/// had before tells which of the fields were sent.
pub fn left(action: &Action, before: Option<&Before>, site: Option<RemoteId>) -> Vec<LeftValue> {
    let one = |of: String, value: Option<String>| vec![LeftValue { of, value }];
    let is_there = |of: String, is_there: bool| one(of, is_there.then(String::new));
    match action {
        Action::Update(update) => {
            let sent = match before {
                Some(Before::Fields { sent, .. }) => sent,
                _ => &update.fields,
            };
            let mut fields: BTreeMap<&str, String> =
                sent.iter().map(|(field, now)| (field.as_str(), record_update::text(now))).collect();
            // A place is one thing.
            let place = ["latitude", "longitude"];
            if place.iter().any(|field| fields.contains_key(field)) {
                let both = place.map(|field| {
                    sent.get(field)
                        .or_else(|| update.fields.get(field))
                        .map(record_update::text)
                        .unwrap_or_default()
                });
                fields.extend(place.map(|field| (field, both.join(" "))));
            }
            fields.into_iter().flat_map(|(field, now)| one(field.to_owned(), Some(now))).collect()
        }
        Action::PutLabel(_) => is_there(format!("label {}", action.subject()), true),
        Action::DeleteLabel(_) => is_there(format!("label {}", action.subject()), false),
        Action::ConfigureVpn(settings) => settings.left(),
        // Where that is not known it is none that another assignment leaves.
        Action::AssignToSite => one("site".to_owned(), site.map(|id| id.to_string())),
        Action::Create(_) | Action::Keep(_) | Action::PutLabels(_) | Action::AddLicence(_) => Vec::new(),
        Action::PutMetadata(_)
        | Action::PutMetadataEntry(_)
        | Action::DeleteMetadataEntry(_)
        | Action::SubscribeTemplate(_)
        | Action::UnsubscribeTemplate(_)
        | Action::JoinVpnCloud(_)
        | Action::LeaveVpnCloud(_) => {
            asked(action).into_iter().map(|(setting, wish)| left_of(setting, wish)).collect()
        }
    }
}

/// What an action that asks for one setting has left of it.
fn left_of(setting: Setting, wish: Wish<'_>) -> LeftValue {
    let of = match setting {
        Setting::Metadata(key) => of_entry(&key),
        Setting::Template(name) => format!("template {name}"),
        Setting::Cloud(name) => format!("cloud {name}"),
        Setting::CipherSuite(_) | Setting::Site | Setting::Licence => format!("{setting:?}"),
    };
    let value = match wish {
        Wish::Value(value) => Some(value.to_owned()),
        Wish::There => Some(String::new()),
        Wish::Gone => None,
    };
    LeftValue { of, value }
}

/// What gives the entries that a list of metadata put their former values, and deletes those that were not there, as long as
/// they are what was put.
fn restored_entries(
    put: &[Metadata],
    about: Kind,
    before: &BTreeMap<String, Option<String>>,
) -> Vec<Result<Inverse, NotRestored>> {
    let owner = match about {
        Kind::Company => Owner::Company,
        Kind::Site => Owner::Site,
        Kind::Device | Kind::Person | Kind::Upkeep(_) => Owner::Device,
    };
    let back = |Metadata { key, value }: &Metadata| {
        let was = before.get(key)?;
        let entry = OwnedEntry {
            owner: owner.clone(),
            key: key.clone(),
            value: was.clone(),
            exported: Some(value.clone()),
            id: None,
        };
        let action = match was {
            Some(_) => Action::PutMetadataEntry(entry),
            None => Action::DeleteMetadataEntry(entry),
        };
        Some(Ok(Inverse { action, site: None }))
    };
    put.iter().filter_map(back).collect()
}

/// The update that sets the fields that were sent to what they were, as long as they are what was sent; each that it cannot
/// restore, with the reason.
fn restored_fields(
    update: &RecordUpdate,
    before: &FieldValues,
    sent: &FieldValues,
) -> Vec<Result<Inverse, NotRestored>> {
    let mut back = RecordUpdate { called: update.called.clone(), ..RecordUpdate::default() };
    let mut parts = Vec::new();
    for (field, now) in sent {
        let not_restored = |reason| Err(NotRestored { reason, field: Some(field.clone()) });
        match before.get(field) {
            None => parts.push(not_restored(Irreversible::NotRead)),
            Some(value) if record_update::text(value).is_empty() => {
                parts.push(not_restored(Irreversible::WasBlank));
            }
            Some(value) => {
                back.fields.insert(field.clone(), value.clone());
                back.exported.insert(field.clone(), record_update::text(now));
            }
        }
    }
    // A row has both coordinates or none.
    for (one, other) in [("latitude", "longitude"), ("longitude", "latitude")] {
        if back.fields.contains_key(one)
            && !sent.contains_key(other)
            && let Some(value) = update.fields.get(other)
        {
            back.fields.insert(other.to_owned(), value.clone());
        }
    }
    if !back.fields.is_empty() {
        parts.push(Ok(Inverse { action: Action::Update(back), site: None }));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::Offer;
    use crate::testing;

    fn eth0(label: &str) -> OwnedLabel {
        OwnedLabel { owner: Owner::Interface { name: "eth0".into(), id: None }, label: label.into() }
    }

    fn entry(value: Option<&str>) -> OwnedEntry {
        let value = value.map(str::to_owned);
        OwnedEntry { owner: Owner::Device, key: "asset".into(), value, exported: None, id: None }
    }

    #[test]
    fn what_was_there_before_comes_back_and_what_was_not_goes() {
        let (of, site) = (|| Offer::Id(RemoteId::from_u128(5)), RemoteId::from_u128(6));
        let was = |value: &str| Before::Value { value: value.into(), meanwhile: None };
        let present = Before::present;
        let table = [
            (Action::PutLabel(eth0("up")), Before::Absent, Action::DeleteLabel(eth0("up"))),
            (Action::DeleteLabel(eth0("up")), present(), Action::PutLabel(eth0("up"))),
            (
                Action::PutMetadataEntry(entry(Some("A-2"))),
                was("A-1"),
                Action::PutMetadataEntry(OwnedEntry { exported: Some("A-2".into()), ..entry(Some("A-1")) }),
            ),
            (
                Action::PutMetadataEntry(entry(Some("A-2"))),
                Before::Absent,
                Action::DeleteMetadataEntry(OwnedEntry { exported: Some("A-2".into()), ..entry(None) }),
            ),
            (
                Action::DeleteMetadataEntry(entry(None)),
                was("A-1"),
                Action::PutMetadataEntry(OwnedEntry { exported: Some(String::new()), ..entry(Some("A-1")) }),
            ),
            (Action::SubscribeTemplate(of()), Before::Absent, Action::UnsubscribeTemplate(of())),
            (Action::UnsubscribeTemplate(of()), present(), Action::SubscribeTemplate(of())),
            (Action::JoinVpnCloud(of()), Before::Absent, Action::LeaveVpnCloud(of())),
        ];
        for (action, before, expected) in table {
            let found = inverse(&action, Kind::Device, Some(&before));
            assert_eq!(found, [Ok(Inverse { action: expected, site: None })], "{action:?}");
        }
        let list = ["asset", "floor", "room"].map(|key| Metadata { key: key.into(), value: "new".into() });
        let entries = [("asset".to_owned(), Some("A-1".to_owned())), ("room".to_owned(), None)].into();
        let exported = || Some("new".to_owned());
        let back =
            inverse(&Action::PutMetadata(list.into()), Kind::Device, Some(&Before::Entries { entries }));
        let asset = OwnedEntry { exported: exported(), ..entry(Some("A-1")) };
        let room = OwnedEntry { key: "room".into(), exported: exported(), ..entry(None) };
        let expected = [Action::PutMetadataEntry(asset), Action::DeleteMetadataEntry(room)];
        assert_eq!(back, expected.map(|action| Ok(Inverse { action, site: None })));
        let back = inverse(&Action::AssignToSite, Kind::Device, Some(&Before::Site { id: site, name: None }));
        assert_eq!(back, [Ok(Inverse { action: Action::AssignToSite, site: Some(site) })]);
        let rejoin = inverse(&Action::LeaveVpnCloud(of()), Kind::Device, Some(&present()));
        assert_eq!(rejoin.len(), 2, "the membership, and its settings that were not read");
        assert_eq!(rejoin[1], Err(Irreversible::SettingsNotRead.into()));
    }

    #[test]
    fn without_a_look_up_nothing_is_restored_and_what_the_service_cannot_take_back_never_is() {
        let on_site = OwnedLabel { owner: Owner::Site, label: "north".into() };
        for action in testing::actions() {
            assert!(inverse(&action, Kind::Device, None).iter().all(Result::is_err), "{action:?}");
        }
        for (action, before, why) in [
            (Action::PutLabel(on_site), Before::Absent, Irreversible::LabelStays),
            (Action::AddLicence("L".into()), Before::Absent, Irreversible::Licence),
            (Action::AssignToSite, Before::Absent, Irreversible::NoSite),
        ] {
            assert_eq!(inverse(&action, Kind::Device, Some(&before)), [Err(why.into())]);
        }
        let as_before = Before::present();
        assert_eq!(inverse(&Action::PutLabel(eth0("up")), Kind::Device, Some(&as_before)), []);
    }
}
