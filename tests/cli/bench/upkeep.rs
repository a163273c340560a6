//! Upkeep sheets drawn from a seed, and what the service must have once they are carried out: worked out here, row by row,
//! and held against what the simulated service has.

use std::collections::{BTreeMap, BTreeSet};

use fleetload::sandbox::{ENTERPRISE_TEMPLATES, VPN_CLOUDS, wall_clock};

use super::Bench;

/// How many records rows may be about, the first ones of the sheets of [`super`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owners {
    pub(crate) companies: usize,
    pub(crate) sites: usize,
    pub(crate) devices: usize,
}

/// How many rows of each sheet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpkeepRows {
    pub(crate) labels: usize,
    pub(crate) metadata: usize,
    pub(crate) licences: usize,
    pub(crate) subscriptions: usize,
    pub(crate) site_assignments: usize,
    pub(crate) vpn: usize,
}

/// Something that a record has: the name of the record, its interface, what it is, and which one.
type Thing = (String, String, &'static str, String);

/// A row, as it must end: its sheet, its number, its state.
pub(crate) type Ending = (String, u64, String);

/// The state that is wished for, over all imports so far.
#[derive(Debug)]
pub(crate) struct Wishes {
    chance: fastrand::Rng,
    /// What records shall have, with the value where one may change.
    state: BTreeMap<Thing, String>,
    /// What was asked for last of each thing, and how that row ends.
    asked: BTreeMap<Thing, (String, &'static str)>,
    licences: usize,
}

/// Sheets of one import.
#[derive(Debug, Default)]
pub(crate) struct UpkeepSheets {
    /// Their names without an ending, and their text as CSV. No cell has a comma in it.
    pub(crate) sheets: Vec<(&'static str, String)>,
    /// How each row must end, where nobody had to decide about it.
    pub(crate) endings: BTreeSet<Ending>,
}

/// Labels with everything that has a meaning in an address.
const LABELS: [&str; 8] = ["retail", "north", "50 % off", "q?a=1&b=2", "c/d e#f", "Überall", "till", "back"];
const KEYS: [&str; 8] =
    ["asset", "contract", "cost centre", "owner/team", "f?x=1", "50 %", "schlüssel", "since"];
const INTERFACES: [&str; 3] = ["WAN 1", "LAN 1", "LAN 2"];

impl Wishes {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            chance: fastrand::Rng::with_seed(seed),
            state: BTreeMap::new(),
            asked: BTreeMap::new(),
            licences: 0,
        }
    }

    /// Draws the sheets of an import. No two rows of it are about the same thing.
    pub(crate) fn draw(&mut self, owners: Owners, rows: UpkeepRows) -> UpkeepSheets {
        let kinds = [
            ("labels", "owner_kind,owner,interface,label,action", rows.labels),
            ("metadata", "owner_kind,owner,key,value,action", rows.metadata),
            ("licences", "device,licence_code", rows.licences),
            ("subscriptions", "device,template,action", rows.subscriptions),
            ("site_assignments", "device,site", rows.site_assignments),
            ("vpn", "device,cloud,action", rows.vpn),
        ];
        let mut drawn = UpkeepSheets::default();
        for (sheet, head, count) in kinds.into_iter().filter(|(.., count)| *count > 0) {
            let (mut text, mut taken) = (format!("{head}\n"), BTreeSet::new());
            while taken.len() < count {
                let (thing, cells, value, removes) = self.row(sheet, owners);
                if !taken.insert(thing.clone()) {
                    continue;
                }
                text += &format!("{cells}\n");
                let ending = self.wish(thing, value, removes);
                let number = u64::try_from(taken.len() + 1).expect("a row");
                drawn.endings.insert((sheet.to_owned(), number, ending.to_owned()));
            }
            drawn.sheets.push((sheet, text));
        }
        drawn
    }

    /// A row: what it is about, its cells, the value it puts, and whether it takes that away instead.
    fn row(&mut self, sheet: &str, owners: Owners) -> (Thing, String, String, bool) {
        let chance = &mut self.chance;
        let number = chance.usize(..owners.devices);
        let device = format!("Till {number}");
        // One of the device's own company: rows are spread over the companies in turn.
        let company = number % owners.companies;
        let site = chance.usize(..owners.sites / owners.companies) * owners.companies + company;
        let site = format!("Branch {site}");
        let removes = chance.u8(..) < 80;
        let thing = |owner: &str, interface: &str, kind: &'static str, which: &str| {
            (owner.to_owned(), interface.to_owned(), kind, which.to_owned())
        };
        let one_of = |chance: &mut fastrand::Rng, ids: [uuid::Uuid; 2]| ids[chance.usize(..2)].to_string();
        let word =
            |removes: bool, put: &'static str, remove: &'static str| if removes { remove } else { put };
        match sheet {
            "labels" => {
                let label = LABELS[chance.usize(..LABELS.len())];
                let (kind, owner, interface) = match chance.usize(..4) {
                    0 => ("site", site, ""),
                    1 => ("device", device, ""),
                    _ => ("interface", device, INTERFACES[chance.usize(..INTERFACES.len())]),
                };
                // The service deletes labels of interfaces only.
                let removes = removes && kind == "interface";
                let action = word(removes, "put", "delete");
                let cells = format!("{kind},{owner},{interface},{label},{action}");
                (thing(&owner, interface, "label", label), cells, String::new(), removes)
            }
            "metadata" => {
                let (kind, owner) = match chance.usize(..9) {
                    0 => ("company", format!("Customer {}", chance.usize(..owners.companies))),
                    1..5 => ("site", site),
                    _ => ("device", device),
                };
                let key = KEYS[chance.usize(..KEYS.len())];
                let value = if removes { String::new() } else { format!("V={}", chance.u8(..3)) };
                let cells = format!("{kind},{owner},{key},{value},{}", word(removes, "", "delete"));
                (thing(&owner, "", "metadata", key), cells, value, removes)
            }
            "licences" => {
                self.licences += 1;
                let code = format!("LIC-{:05}", self.licences);
                (thing(&device, "", "licence", &code), format!("{device},{code}"), String::new(), false)
            }
            "subscriptions" => {
                let id = one_of(chance, ENTERPRISE_TEMPLATES);
                let cells = format!("{device},{id},{}", word(removes, "subscribe", "unsubscribe"));
                (thing(&device, "", "subscription", &id), cells, String::new(), removes)
            }
            "site_assignments" => {
                let cells = format!("{device},{site}");
                (thing(&device, "", "site", ""), cells, site, false)
            }
            _ => {
                let id = one_of(chance, VPN_CLOUDS);
                let cells = format!("{device},{id},{}", word(removes, "join", "leave"));
                (thing(&device, "", "vpn_cloud", &id), cells, String::new(), removes)
            }
        }
    }

    /// Takes in what a row asks for; gives the state in which the row must end.
    fn wish(&mut self, thing: Thing, value: String, removes: bool) -> &'static str {
        let asks = format!("{removes} {value}");
        // The row of an earlier import, unchanged: it is not sent again, and shows how it ended.
        if let Some((before, ending)) = self.asked.get(&thing)
            && *before == asks
        {
            return ending;
        }
        let is_so = match removes {
            true => self.state.remove(&thing).is_none(),
            false => self.state.insert(thing.clone(), value.clone()) == Some(value),
        };
        let ending = if is_so { "existing" } else { "done" };
        self.asked.insert(thing, (asks, ending));
        ending
    }

    /// What the service must have, sorted.
    pub(crate) fn state(&self) -> Vec<Thing> {
        let mut state: Vec<Thing> = self
            .state
            .iter()
            .map(|((owner, interface, kind, which), value)| {
                let shown = match *kind {
                    "metadata" => format!("{which}={value}"),
                    "site" => value.clone(),
                    _ => which.clone(),
                };
                (owner.clone(), interface.clone(), *kind, shown)
            })
            .collect();
        state.sort();
        state
    }
}

/// What the service has of the records that it made, sorted: by names, and twice what is there twice.
pub(crate) fn state_of(bench: &Bench) -> Vec<Thing> {
    let made = bench.ledger().into_iter().filter(|entry| entry.created);
    let names: BTreeMap<String, String> = made
        .filter_map(|entry| Some((entry.id.to_string(), entry.request["name"].as_str()?.to_owned())))
        .collect();
    let mut state: Vec<Thing> = bench
        .sandbox()
        .attachments(wall_clock())
        .into_iter()
        .filter_map(|one| {
            let owner = names.get(&one.owner.to_string())?.clone();
            let value = if one.kind == "site" { names[&one.value].clone() } else { one.value };
            Some((owner, one.interface.unwrap_or_default().to_owned(), one.kind, value))
        })
        .collect();
    state.sort();
    state
}

/// How the upkeep rows of an import ended.
pub(crate) fn endings(bench: &Bench, import: u32) -> BTreeSet<Ending> {
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let sheets = ["labels", "metadata", "licences", "subscriptions", "site_assignments", "vpn"];
    let rows = bench.results(import).into_iter();
    rows.map(|row| (text(&row["sheet"]), row["row"].as_u64().expect("a row"), text(&row["status"])))
        .filter(|(sheet, ..)| sheets.contains(&sheet.trim_end_matches(".csv")))
        .map(|(sheet, row, status)| (sheet.trim_end_matches(".csv").to_owned(), row, status))
        .collect()
}
