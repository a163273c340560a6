//! What an action names otherwise than by its id (an interface, an entry, a template, a VPN cloud): the lists that show the
//! id, and what they show.

use crate::model::action::{Action, Offer, OwnedEntry, Owner, VpnSettings};
use crate::model::id::RemoteId;
use crate::model::key::comparable;
use crate::model::kind::Kind;
use crate::service::found::Found;
use crate::service::lookup::Lookup;

/// What a list shows of the name that an action gives.
#[derive(Debug, Clone, PartialEq)]
pub enum NameSearch {
    /// The action with the id.
    Found(Action),
    /// Nothing of this name.
    Missing(String),
    /// Several of this name.
    Several(String, Vec<RemoteId>),
}

/// The lists that show the id of what an action names otherwise, on the record `owner`, in the order in which they are asked:
/// what the device has before what it may have. None where the action needs none.
pub fn name_lookups(action: &Action, kind: Kind, owner: RemoteId) -> Vec<Lookup> {
    match action {
        Action::Keep(action) => name_lookups(action, kind, owner),
        Action::PutLabel(label) | Action::DeleteLabel(label) => match &label.owner {
            Owner::Interface { id: None, .. } => vec![Lookup::DeviceInterfaces(owner)],
            Owner::Interface { id: Some(_), .. } | Owner::Company | Owner::Site | Owner::Device => Vec::new(),
        },
        Action::DeleteMetadataEntry(OwnedEntry { id: None, .. }) => {
            Lookup::metadata(action.about(kind), owner).into_iter().collect()
        }
        Action::SubscribeTemplate(template) | Action::UnsubscribeTemplate(template)
            if template.id().is_none() =>
        {
            vec![Lookup::AssignedTemplates(owner), Lookup::AssignableTemplates(owner)]
        }
        Action::JoinVpnCloud(cloud) | Action::LeaveVpnCloud(cloud) if cloud.id().is_none() => {
            vec![Lookup::DeviceVpnClouds(owner), Lookup::JoinableVpnClouds(owner)]
        }
        Action::ConfigureVpn(settings) if settings.cloud.id().is_none() => {
            vec![Lookup::DeviceVpnClouds(owner), Lookup::JoinableVpnClouds(owner)]
        }
        Action::ConfigureVpn(settings) if settings.interfaces.iter().any(|entry| entry.id.is_none()) => {
            vec![Lookup::DeviceInterfaces(owner)]
        }
        _ => Vec::new(),
    }
}

/// What the answer to one of [`name_lookups`] shows.
pub fn find_name(action: &Action, found: &[Found]) -> NameSearch {
    if let Action::ConfigureVpn(settings) = action {
        return find_names(settings, found);
    }
    if let Action::Keep(action) = action {
        return match find_name(action, found) {
            NameSearch::Found(action) => NameSearch::Found(Action::Keep(Box::new(action))),
            other => other,
        };
    }
    let is_it = |found: &&Found| match action {
        Action::PutLabel(label) | Action::DeleteLabel(label) => match &label.owner {
            Owner::Interface { name, .. } => is_interface(found, name),
            Owner::Company | Owner::Site | Owner::Device => false,
        },
        Action::DeleteMetadataEntry(entry) => found.key.as_deref() == Some(&entry.key),
        Action::SubscribeTemplate(offer)
        | Action::UnsubscribeTemplate(offer)
        | Action::JoinVpnCloud(offer)
        | Action::LeaveVpnCloud(offer) => is_offer(found, offer),
        _ => false,
    };
    let name = || match action {
        Action::PutLabel(label) | Action::DeleteLabel(label) => match &label.owner {
            Owner::Interface { name, .. } => name.clone(),
            Owner::Company | Owner::Site | Owner::Device => label.label.clone(),
        },
        _ => action.subject(),
    };
    match ids(found.iter().filter(is_it)).as_slice() {
        [] => NameSearch::Missing(name()),
        &[id] => {
            let mut action = action.clone();
            action.set_id(id);
            NameSearch::Found(action)
        }
        several => NameSearch::Several(name(), several.to_vec()),
    }
}

/// The cloud of settings, else all of their interfaces.
fn find_names(settings: &VpnSettings, found: &[Found]) -> NameSearch {
    let mut settings = settings.clone();
    if settings.cloud.id().is_none() {
        match ids(found.iter().filter(|found| is_offer(found, &settings.cloud))).as_slice() {
            [] => return NameSearch::Missing(settings.cloud.to_string()),
            &[id] => settings.cloud.set_id(id),
            several => return NameSearch::Several(settings.cloud.to_string(), several.to_vec()),
        }
        return NameSearch::Found(Action::ConfigureVpn(settings));
    }
    for entry in &mut settings.interfaces {
        match ids(found.iter().filter(|found| is_interface(found, &entry.interface))).as_slice() {
            [] => return NameSearch::Missing(entry.interface.clone()),
            &[id] => entry.id = Some(id),
            several => return NameSearch::Several(entry.interface.clone(), several.to_vec()),
        }
    }
    NameSearch::Found(Action::ConfigureVpn(settings))
}

/// Whether a list shows the interface of this name or id.
fn is_interface(found: &Found, name: &str) -> bool {
    found.normalized_name.as_deref() == Some(name) || found.id.is_some_and(|id| id.to_string() == name)
}

fn is_offer(found: &Found, offer: &Offer) -> bool {
    match offer {
        Offer::Id(id) => found.id == Some(*id),
        Offer::Name { name, .. } => {
            found.name.as_deref().is_some_and(|listed| comparable(listed) == comparable(name))
        }
    }
}

/// Their ids, each once.
fn ids<'a>(found: impl Iterator<Item = &'a Found>) -> Vec<RemoteId> {
    let mut ids: Vec<RemoteId> = found.filter_map(|found| found.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::operation::Operation;
    use crate::service::found::found;
    use crate::testing;

    #[test]
    fn a_name_is_that_of_one_record_of_several_or_of_none() {
        let id = RemoteId::from_u128;
        let list = json!([
            {"id": id(1), "name": "Retail"},
            {"id": id(2), "name": " Office  Standard "},
            {"id": id(3), "name": "Retail"},
            {"id": id(2), "name": "Office Standard"},
        ]);
        let list = found(Operation::ListAssignableTemplates, &list).unwrap();
        let search = |name: &str| find_name(&Action::SubscribeTemplate(Offer::named(name)), &list);
        assert_eq!(search("Retail"), NameSearch::Several("Retail".to_owned(), vec![id(1), id(3)]));
        assert_eq!(search("retail"), NameSearch::Missing("retail".to_owned()));
        let NameSearch::Found(action) = search("Office Standard") else { panic!("not found") };
        assert_eq!(name_lookups(&action, Kind::Device, id(9)), []);
        assert_eq!(action.subject(), "Office Standard", "it is known by its name still");
    }

    #[test]
    fn an_action_that_names_nothing_by_a_name_needs_no_list() {
        for action in testing::actions() {
            let mut with_id = action.clone();
            with_id.set_id(RemoteId::from_u128(7));
            assert_eq!(name_lookups(&with_id, Kind::Device, RemoteId::nil()), [], "{action:?}");
        }
    }
}
