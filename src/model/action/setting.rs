//! What a record has one of, and what an action asks it to be: an entry of its metadata, its subscription to a template, its
//! membership in a VPN cloud and its cipher suite there, its site; and a licence code, which is added to it once. Two rows of
//! one import that ask for different things contradict each other.

use super::opposes::entries;
use super::{Action, Offer};
use crate::model::key::comparable;

/// What a record has one of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Setting {
    /// The metadata entry with this key.
    Metadata(String),
    /// The subscription to the enterprise template of this id or name, as [`comparable`] writes it.
    Template(String),
    /// The membership in the VPN cloud of this id or name, as [`comparable`] writes it.
    Cloud(String),
    /// The cipher suite in the VPN cloud of this id or name, as [`comparable`] writes it.
    CipherSuite(String),
    /// The site of a device.
    Site,
    /// A licence code, which is the value.
    Licence,
}

/// What it is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wish<'a> {
    /// There, with this value.
    Value(&'a str),
    /// There; its value, if it has one, is no part of the action.
    There,
    /// Not there.
    Gone,
}

/// What an action asks for. Nothing of a creation, whose site is a reference of its row, and of what an export saw.
pub fn asked(action: &Action) -> Vec<(Setting, Wish<'_>)> {
    let template = |offer: &Offer| Setting::Template(comparable(&offer.to_string()));
    let cloud = |offer: &Offer| Setting::Cloud(comparable(&offer.to_string()));
    match action {
        Action::PutMetadata(_) | Action::PutMetadataEntry(_) | Action::DeleteMetadataEntry(_) => {
            entries(action)
                .into_iter()
                .map(|(key, value)| {
                    (Setting::Metadata(key.to_owned()), value.map_or(Wish::Gone, Wish::Value))
                })
                .collect()
        }
        Action::SubscribeTemplate(offer) => vec![(template(offer), Wish::There)],
        Action::UnsubscribeTemplate(offer) => vec![(template(offer), Wish::Gone)],
        Action::JoinVpnCloud(offer) => vec![(cloud(offer), Wish::There)],
        Action::LeaveVpnCloud(offer) => vec![(cloud(offer), Wish::Gone)],
        Action::ConfigureVpn(settings) => {
            let suite = settings.cipher_suite.as_deref().map(|suite| {
                (Setting::CipherSuite(comparable(&settings.cloud.to_string())), Wish::Value(suite))
            });
            let membership = settings.asks_for_a_change().then(|| (cloud(&settings.cloud), Wish::There));
            membership.into_iter().chain(suite).collect()
        }
        Action::AssignToSite => vec![(Setting::Site, Wish::There)],
        Action::AddLicence(code) => vec![(Setting::Licence, Wish::Value(code))],
        Action::Create(_)
        | Action::Update(_)
        | Action::Keep(_)
        | Action::PutLabels(_)
        | Action::PutLabel(_)
        | Action::DeleteLabel(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::vpn::VpnSettings;
    use crate::model::action::{OwnedEntry, Owner};
    use crate::model::record::Metadata;

    #[test]
    fn what_is_asked_for_is_named_alike_by_every_sheet() {
        let entry = |value: Option<&str>| OwnedEntry {
            owner: Owner::Device,
            key: "floor".to_owned(),
            value: value.map(str::to_owned),
            exported: None,
            id: None,
        };
        let metadata = || Setting::Metadata("floor".into());
        let list = vec![Metadata { key: "floor".into(), value: "2".into() }];
        let (template, cloud) =
            (|| Setting::Template("Retail NZ".into()), || Setting::Cloud("Office".into()));
        let table = [
            (Action::PutMetadata(list), vec![(metadata(), Wish::Value("2"))]),
            (Action::PutMetadataEntry(entry(Some("2"))), vec![(metadata(), Wish::Value("2"))]),
            (Action::DeleteMetadataEntry(entry(None)), vec![(metadata(), Wish::Gone)]),
            (Action::SubscribeTemplate(Offer::named("Retail  NZ")), vec![(template(), Wish::There)]),
            (Action::UnsubscribeTemplate(Offer::named("Retail NZ ")), vec![(template(), Wish::Gone)]),
            (Action::JoinVpnCloud(Offer::named("Office")), vec![(cloud(), Wish::There)]),
            (Action::LeaveVpnCloud(Offer::named("Office")), vec![(cloud(), Wish::Gone)]),
            (
                Action::ConfigureVpn(VpnSettings {
                    cloud: Offer::named("Office"),
                    cipher_suite: Some("Automatic".into()),
                    ..VpnSettings::default()
                }),
                vec![
                    (cloud(), Wish::There),
                    (Setting::CipherSuite("Office".into()), Wish::Value("Automatic")),
                ],
            ),
            (Action::AssignToSite, vec![(Setting::Site, Wish::There)]),
            (Action::AddLicence("L-5".into()), vec![(Setting::Licence, Wish::Value("L-5"))]),
            (Action::Keep(Box::new(Action::PutMetadataEntry(entry(Some("2"))))), vec![]),
        ];
        for (action, expected) in table {
            assert_eq!(asked(&action), expected, "{action:?}");
        }
    }
}
