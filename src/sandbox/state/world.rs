//! What exists in the service: companies, people, sites, devices and what hangs on them.
//!
//! The world changes in one way only: a [`Change`] is applied. Operations make changes, the ledger keeps them, and
//! a state file replays them; so a replayed world is the world that was. Rules about what may be changed are with
//! the operations.

use std::collections::HashMap;
use std::mem;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::sandbox::exchange::Millis;

/// A company (specification 2.3). `details` are the other fields of the request, as they came.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Company {
    pub(crate) id: Uuid,
    pub(crate) parent: Option<Uuid>,
    pub(crate) company_type: String,
    pub(crate) name: String,
    pub(crate) made_at: Millis,
    pub(crate) details: Map<String, Value>,
}

/// A person (specification 2.4).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Person {
    pub(crate) id: Uuid,
    pub(crate) company: Uuid,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) username: String,
    pub(crate) email: String,
    pub(crate) made_at: Millis,
    pub(crate) details: Map<String, Value>,
}

/// A site (specification 2.6).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Site {
    pub(crate) id: Uuid,
    pub(crate) company: Uuid,
    pub(crate) name: String,
    pub(crate) reference: Option<String>,
    pub(crate) made_at: Millis,
    pub(crate) details: Map<String, Value>,
}

/// A device (specification 2.5) with its subscriptions, VPN clouds and licence codes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Device {
    pub(crate) id: Uuid,
    pub(crate) company: Uuid,
    pub(crate) name: String,
    pub(crate) site: Option<Uuid>,
    pub(crate) identification: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) template: Option<Uuid>,
    pub(crate) made_at: Millis,
    pub(crate) details: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) subscriptions: Vec<Uuid>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) clouds: Vec<Membership>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) licences: Vec<String>,
}

/// A device's place in a VPN cloud (specification 2.9): entries by interface, as they were configured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Membership {
    pub(crate) cloud: Uuid,
    pub(crate) cipher_suite: String,
    pub(crate) interfaces: Vec<(Uuid, Map<String, Value>)>,
}

impl Membership {
    pub(crate) fn new(cloud: Uuid) -> Self {
        Self { cloud, cipher_suite: "Automatic".to_owned(), interfaces: Vec::new() }
    }
}

/// A label (specification 2.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    pub(crate) id: Uuid,
    pub(crate) label: String,
}

/// A metadata entry (specification 2.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) id: Uuid,
    pub(crate) key: String,
    pub(crate) value: String,
}

/// What belongs to the provider and is only pointed at: enterprise templates and VPN clouds (specification 2.8).
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) company: Uuid,
}

/// One change of the world: a record put in place of the one with its id, or all that hangs on one owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Company(Company),
    Person(Person),
    Site(Site),
    Device(Device),
    Labels {
        owner: Uuid,
        labels: Vec<Label>,
    },
    Metadata {
        owner: Uuid,
        entries: Vec<Metadata>,
    },
    /// The company, person, site or device is no more. No operation does this; a fault does.
    Gone {
        id: Uuid,
    },
}

/// A record with an id and a name to search by.
pub(crate) trait Record {
    fn id(&self) -> Uuid;
    fn name(&self) -> &str;
}

macro_rules! records {
    ($($kind:ty: $name:ident),*) => {
        $(impl Record for $kind {
            fn id(&self) -> Uuid {
                self.id
            }
            fn name(&self) -> &str {
                &self.$name
            }
        })*
    };
}
records!(Company: name, Person: username, Site: name, Device: name);

/// Records of one kind in the order in which they were made.
#[derive(Debug)]
pub(crate) struct Table<T> {
    rows: Vec<Row<T>>,
    places: HashMap<Uuid, usize>,
    /// Rows that are not gone: asked for while a run is watched, however many there are.
    there: usize,
}

#[derive(Debug)]
struct Row<T> {
    // Searches ignore case; folding a hundred thousand names for each search would be most of its time.
    folded: String,
    record: T,
    gone: bool,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), places: HashMap::new(), there: 0 }
    }
}

impl<T: Record> Table<T> {
    pub(crate) fn get(&self, id: Uuid) -> Option<&T> {
        let row = self.places.get(&id).map(|place| &self.rows[*place])?;
        (!row.gone).then_some(&row.record)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let rows = self.rows.iter().filter(|row| !row.gone);
        rows.map(|row| &row.record)
    }

    /// Whether a record has, or had, this id.
    fn knows(&self, id: Uuid) -> bool {
        self.places.contains_key(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.there
    }

    fn lose(&mut self, id: Uuid) {
        if let Some(place) = self.places.get(&id) {
            let was_gone = mem::replace(&mut self.rows[*place].gone, true);
            self.there -= usize::from(!was_gone);
        }
    }

    /// The records whose name contains `part`, without regard to case.
    pub(crate) fn search(&self, part: &str) -> impl Iterator<Item = &T> {
        let part = part.to_lowercase();
        self.rows.iter().filter(move |row| !row.gone && row.folded.contains(&part)).map(|row| &row.record)
    }

    /// Says whether the record is new.
    fn put(&mut self, record: T) -> bool {
        let row = Row { folded: record.name().to_lowercase(), record, gone: false };
        let id = row.record.id();
        if let Some(place) = self.places.get(&id) {
            let before = mem::replace(&mut self.rows[*place], row);
            self.there += usize::from(before.gone);
            return false;
        }
        self.there += 1;
        self.places.insert(id, self.rows.len());
        self.rows.push(row);
        true
    }
}

/// Lists of what hangs on records, by the record.
#[derive(Debug)]
struct Attached<T> {
    lists: HashMap<Uuid, Vec<T>>,
    /// Entries of all lists.
    entries: usize,
}

impl<T> Default for Attached<T> {
    fn default() -> Self {
        Self { lists: HashMap::new(), entries: 0 }
    }
}

impl<T> Attached<T> {
    fn of(&self, owner: Uuid) -> &[T] {
        self.lists.get(&owner).map_or(&[], Vec::as_slice)
    }

    fn put(&mut self, owner: Uuid, list: Vec<T>) {
        self.entries += list.len();
        let before = self.lists.insert(owner, list);
        self.entries -= before.map_or(0, |before| before.len());
    }
}

/// Everything that exists.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) companies: Table<Company>,
    pub(crate) people: Table<Person>,
    pub(crate) sites: Table<Site>,
    pub(crate) devices: Table<Device>,
    pub(crate) models: Vec<String>,
    pub(crate) templates: Vec<Offer>,
    pub(crate) clouds: Vec<Offer>,
    labels: Attached<Label>,
    metadata: Attached<Metadata>,
    children: HashMap<Uuid, Vec<Uuid>>,
    people_of: HashMap<Uuid, Vec<Uuid>>,
    devices_of: HashMap<Uuid, Vec<Uuid>>,
    usernames: HashMap<String, Uuid>,
    macs: HashMap<String, Uuid>,
}

impl World {
    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Company(company) => {
                let (id, parent) = (company.id, company.parent);
                if self.companies.put(company)
                    && let Some(parent) = parent
                {
                    self.children.entry(parent).or_default().push(id);
                }
            }
            Change::Person(person) => {
                let (id, company) = (person.id, person.company);
                self.usernames.insert(person.username.clone(), id);
                if self.people.put(person) {
                    self.people_of.entry(company).or_default().push(id);
                }
            }
            Change::Site(site) => {
                self.sites.put(site);
            }
            Change::Device(device) => {
                let (id, company) = (device.id, device.company);
                if let Some(mac) = &device.identification {
                    self.macs.insert(normal_mac(mac), id);
                }
                if self.devices.put(device) {
                    self.devices_of.entry(company).or_default().push(id);
                }
            }
            Change::Labels { owner, labels } => {
                self.labels.put(owner, labels);
            }
            Change::Metadata { owner, entries } => {
                self.metadata.put(owner, entries);
            }
            Change::Gone { id } => {
                self.companies.lose(id);
                self.people.lose(id);
                self.sites.lose(id);
                self.devices.lose(id);
            }
        }
    }

    /// The change that would take this one back.
    pub(crate) fn previous(&self, change: &Change) -> Change {
        let or_gone = |id: Uuid, previous: Option<Change>| previous.unwrap_or(Change::Gone { id });
        match change {
            Change::Company(Company { id, .. }) => {
                or_gone(*id, self.companies.get(*id).cloned().map(Change::Company))
            }
            Change::Person(Person { id, .. }) => {
                or_gone(*id, self.people.get(*id).cloned().map(Change::Person))
            }
            Change::Site(Site { id, .. }) => or_gone(*id, self.sites.get(*id).cloned().map(Change::Site)),
            Change::Device(Device { id, .. }) => {
                or_gone(*id, self.devices.get(*id).cloned().map(Change::Device))
            }
            Change::Labels { owner, .. } => {
                Change::Labels { owner: *owner, labels: self.labels(*owner).to_vec() }
            }
            Change::Metadata { owner, .. } => {
                Change::Metadata { owner: *owner, entries: self.metadata(*owner).to_vec() }
            }
            Change::Gone { id } => Change::Gone { id: *id },
        }
    }

    /// Whether anything has, or had, this id: one id is one record, of one kind.
    pub(crate) fn knows(&self, id: Uuid) -> bool {
        self.companies.knows(id)
            || self.people.knows(id)
            || self.sites.knows(id)
            || self.devices.knows(id)
            || self.templates.iter().chain(&self.clouds).any(|offer| offer.id == id)
    }

    pub(crate) fn labels(&self, owner: Uuid) -> &[Label] {
        self.labels.of(owner)
    }

    pub(crate) fn metadata(&self, owner: Uuid) -> &[Metadata] {
        self.metadata.of(owner)
    }

    pub(crate) fn children(&self, company: Uuid) -> &[Uuid] {
        self.children.get(&company).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn people_of(&self, company: Uuid) -> &[Uuid] {
        self.people_of.get(&company).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn devices_of(&self, company: Uuid) -> &[Uuid] {
        self.devices_of.get(&company).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn person_by_username(&self, username: &str) -> Option<&Person> {
        self.people.get(*self.usernames.get(username)?)
    }

    pub(crate) fn device_by_mac(&self, mac: &str) -> Option<&Device> {
        self.devices.get(*self.macs.get(&normal_mac(mac))?)
    }

    /// A company and all below it, parents before children. The tree may be deeper than a stack.
    pub(crate) fn tree(&self, company: Uuid) -> Vec<Uuid> {
        let mut found = vec![company];
        let mut next = 0;
        while let Some(id) = found.get(next).copied() {
            found.extend_from_slice(self.children(id));
            next += 1;
        }
        found
    }

    /// A company and all above it, nearest first. Ends even on a state file that holds a ring.
    pub(crate) fn lineage(&self, company: Uuid) -> Vec<Uuid> {
        let mut found = Vec::new();
        let mut next = Some(company);
        while let Some(id) = next
            && !found.contains(&id)
        {
            found.push(id);
            next = self.companies.get(id).and_then(|company| company.parent);
        }
        found
    }

    pub(crate) fn company_name(&self, id: Uuid) -> &str {
        self.companies.get(id).map_or("", |company| company.name.as_str())
    }

    /// How many records of each kind there are.
    pub(crate) fn census(&self) -> [(&'static str, usize); 6] {
        [
            ("company", self.companies.len()),
            ("person", self.people.len()),
            ("site", self.sites.len()),
            ("device", self.devices.len()),
            ("label", self.labels.entries),
            ("metadata", self.metadata.entries),
        ]
    }
}

/// A MAC address for comparison: without separators, in capitals.
pub(crate) fn normal_mac(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, ':' | '-' | '.') && !c.is_whitespace())
        .flat_map(char::to_uppercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_counted_when_it_is_made_changed_gone_and_there_again() {
        let id = Uuid::from_u128(7);
        let company = || {
            Change::Company(Company {
                id,
                parent: None,
                company_type: "customer".to_owned(),
                name: "Acme".to_owned(),
                made_at: 0,
                details: Map::new(),
            })
        };
        let labels = |number: usize| Change::Labels {
            owner: id,
            labels: (0..number)
                .map(|n| Label { id: Uuid::from_u128(n as u128), label: n.to_string() })
                .collect(),
        };
        let mut world = World::default();
        let steps = [
            (company(), (1, 0)),
            (company(), (1, 0)),
            (labels(3), (1, 3)),
            (labels(2), (1, 2)),
            (Change::Gone { id }, (0, 2)),
            (Change::Gone { id }, (0, 2)),
            (company(), (1, 2)),
        ];
        for (change, (companies, labels)) in steps {
            world.apply(change);
            let census = HashMap::from(world.census());
            assert_eq!((census["company"], census["label"]), (companies, labels));
            assert_eq!(world.companies.iter().count(), companies);
        }
    }
}
