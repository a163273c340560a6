//! Upkeep rows of a trial: drawn from its seed, and held against what the service has in the end.
//!
//! Rows are about records of the same import, and about two that were there before and have something to be taken away.
//! No two rows of one import are about the same thing, so that the state that is wished for does not depend on their order.
//! Rows of a later import ask for the opposite of some of them.

use std::collections::{BTreeMap, BTreeSet};

use fleetload::journal::RowView;
use fleetload::model::kind::{Kind, Upkeep};
use fleetload::sandbox::{
    Attachment, ENTERPRISE_TEMPLATES, FaultKind, LedgerEntry, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS,
};
use uuid::Uuid;

use super::oracle::Outcome;
use super::script::{THERE, drawn};

/// The kinds of fault for what upkeep rows ask for.
pub(super) const KINDS: [FaultKind; 16] = [
    FaultKind::AnswerLost,
    FaultKind::RequestLost,
    FaultKind::Error500Before,
    FaultKind::Error500After,
    FaultKind::ResetAfter,
    FaultKind::AnswerCut,
    FaultKind::StallAfter,
    FaultKind::LateCommit,
    FaultKind::Html200,
    FaultKind::Html503After,
    FaultKind::CaptivePortal,
    FaultKind::UnknownCode,
    FaultKind::Garbled,
    FaultKind::RateLimitExceeded,
    FaultKind::TokenRevoked,
    FaultKind::InvalidData,
];
/// Every operation by which an upkeep row is carried out.
const WRITES: [&str; 16] = [
    "putSiteLabel",
    "putDeviceLabel",
    "putInterfaceLabel",
    "deleteInterfaceLabel",
    "putCompanyMetadata",
    "putSiteMetadata",
    "putDeviceMetadata",
    "deleteCompanyMetadata",
    "deleteSiteMetadata",
    "deleteDeviceMetadata",
    "addLicenceCode",
    "subscribeTemplate",
    "unsubscribeTemplate",
    "assignDeviceToSite",
    "addDeviceToVpnCloud",
    "removeDeviceFromVpnCloud",
];
const INTERFACES: [&str; 3] = ["WAN 1", "LAN 1", "LAN 2"];
/// How labels of upkeep rows begin, and their licence codes: those that rows of records have besides are others.
const LABEL: &str = "upkeep ";
const CODE: &str = "UPL-";

/// What a trial has of upkeep.
pub(crate) struct Drawn {
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) rows: usize,
    /// Requests of somebody else, before anything is imported.
    pub(crate) before: Vec<(String, String)>,
}

/// Which trials have upkeep rows: those of seeds by which no defect of creations is known, so that these stay as they are.
pub(crate) const fn has(seed: u64) -> bool {
    matches!(seed % 7, 0 | 5)
}

/// The sheets of a later import: of some rows of upkeep sheets the opposite, of some the same, and some not at all.
pub(crate) fn opposite(
    chance: &mut fastrand::Rng,
    sheets: &[(&'static str, String)],
) -> (Vec<(&'static str, String)>, usize) {
    let (mut files, mut rows) = (Vec::new(), 0);
    for (name, text) in sheets {
        let mut lines = text.lines();
        let head = lines.next().expect("a header");
        let mut later = Vec::new();
        for line in lines {
            match chance.usize(..5) {
                0 => {}
                1 => later.push(line.to_owned()),
                _ => later.push(opposite_of(name, line).unwrap_or_else(|| line.to_owned())),
            }
        }
        if !later.is_empty() {
            rows += later.len();
            files.push((*name, format!("{head}\n{}\n", later.join("\n"))));
        }
    }
    (files, rows)
}

/// A row that asks for the opposite of what a row asks for; `None` where the service has none.
fn opposite_of(sheet: &str, line: &str) -> Option<String> {
    let mut cells: Vec<&str> = line.split(',').collect();
    let action = *cells.last()?;
    let other = |remove| if action == remove { "" } else { remove };
    match sheet {
        "labels.csv" if cells[0] == "interface" => cells[4] = if action == "put" { "delete" } else { "put" },
        "metadata.csv" => {
            let (value, action) = match (cells[3], action) {
                (_, "delete") => ("new 0", ""),
                ("new 0", _) => ("new 1", ""),
                _ => ("", "delete"),
            };
            (cells[3], cells[4]) = (value, action);
        }
        "subscriptions.csv" => cells[2] = other("unsubscribe"),
        "vpn.csv" => cells[2] = other("leave"),
        _ => return None,
    }
    Some(cells.join(","))
}

/// Draws the upkeep sheets of a trial with these sheets of records, and the faults that its rows meet.
pub(crate) fn draw(
    chance: &mut fastrand::Rng,
    scenario: &mut Scenario,
    records: &[(&'static str, String)],
) -> Drawn {
    let owners = Owners::of(records);
    for operation in WRITES {
        let kind = KINDS[chance.usize(..KINDS.len())];
        scenario.fault.push(drawn(chance, operation, kind, 0.3));
    }
    scenario.device_status.never_online = if chance.bool() { 0.0 } else { 0.5 };
    let sheets: [(&'static str, &str, usize); 6] = [
        ("labels.csv", "owner_kind,owner,interface,label,action", chance.usize(1..9)),
        ("metadata.csv", "owner_kind,owner,key,value,action", chance.usize(1..9)),
        ("licences.csv", "device,licence_code", chance.usize(1..4)),
        ("subscriptions.csv", "device,template,action", chance.usize(0..5)),
        ("site_assignments.csv", "device,site", chance.usize(0..4)),
        ("vpn.csv", "device,cloud,action", chance.usize(0..5)),
    ];
    let (mut files, mut rows) = (Vec::new(), 0);
    for (sheet, head, count) in sheets {
        let (mut text, mut taken) = (format!("{head}\n"), BTreeSet::new());
        for _ in 0..count {
            let Some((about, line)) = owners.row(chance, sheet) else { continue };
            if taken.insert(about) {
                text += &format!("{line}\n");
                rows += 1;
            }
        }
        if !taken.is_empty() {
            files.push((sheet, text));
        }
    }
    Drawn { files, rows, before: before() }
}

/// What somebody has done to the records that were there before.
fn before() -> Vec<(String, String)> {
    let device = TEMPLATE_DEVICE;
    let entry = |key: &str| serde_json::json!({"key": key, "value": "old"});
    let pair = |field: &str, id: Uuid| serde_json::json!({"deviceId": device, field: id});
    let interface = |number: u128| Uuid::from_u128(device.as_u128() ^ number);
    let label = |n: usize| serde_json::json!({"label": format!("{LABEL}{n}")});
    let requests = [
        (format!("putDeviceMetadata/{device}"), entry("k0")),
        (format!("putDeviceMetadata/{device}"), entry("k1")),
        (format!("putCompanyMetadata/{THERE}"), entry("k0")),
        (format!("putCompanyMetadata/{THERE}"), entry("k2")),
        (format!("putInterfaceLabel/{}", interface(1)), label(0)),
        (format!("putInterfaceLabel/{}", interface(2)), label(1)),
        ("subscribeTemplate".to_owned(), pair("enterpriseTemplateId", ENTERPRISE_TEMPLATES[0])),
        ("addDeviceToVpnCloud".to_owned(), pair("vpnCloudId", VPN_CLOUDS[0])),
    ];
    let path = |operation: String| format!("/device-api/config/v1/{operation}");
    requests.map(|(operation, body)| (path(operation), body.to_string())).into()
}

/// What rows may be about, as they name it; with the company, where sites and devices must be of one.
struct Owners {
    companies: Vec<String>,
    sites: Vec<(String, String)>,
    devices: Vec<(String, String)>,
}

impl Owners {
    fn of(records: &[(&'static str, String)]) -> Self {
        let column = |file: &str, column: usize| -> Vec<String> {
            let sheet = records.iter().find(|(name, _)| *name == file).map(|(_, text)| text.lines().skip(1));
            let cell = |line: &str| line.split(',').nth(column).expect("a cell").to_owned();
            sheet.into_iter().flatten().map(cell).collect()
        };
        let pairs = |file: &str, name: usize, company: usize| {
            column(file, name).into_iter().zip(column(file, company)).collect::<Vec<_>>()
        };
        let mut companies = column("companies.csv", 0);
        companies.push(THERE.to_string());
        let mut devices = pairs("devices.csv", 1, 0);
        // Twice, as it has what can be taken away.
        devices.extend([TEMPLATE_DEVICE, TEMPLATE_DEVICE].map(|id| (id.to_string(), String::new())));
        Self { companies, sites: pairs("sites.csv", 0, 1), devices }
    }

    /// A row: what it is about, and its cells. `None` where there is nothing that it could be about.
    fn row(&self, chance: &mut fastrand::Rng, sheet: &str) -> Option<(String, String)> {
        let (device, company) = self.devices[chance.usize(..self.devices.len())].clone();
        let site = |chance: &mut fastrand::Rng| match self.sites.len() {
            0 => None,
            sites => Some(self.sites[chance.usize(..sites)].0.clone()),
        };
        let removes = chance.u8(..) < 100;
        let word = |put: &'static str, remove: &'static str| if removes { remove } else { put };
        Some(match sheet {
            "labels.csv" => {
                let label = format!("{LABEL}{}", chance.usize(..3));
                let (kind, owner, interface) = match chance.usize(..4) {
                    0 => ("site", site(chance)?, ""),
                    1 => ("device", device, ""),
                    _ => ("interface", device, INTERFACES[chance.usize(..INTERFACES.len())]),
                };
                let action = if kind == "interface" { word("put", "delete") } else { "" };
                (
                    format!("{owner} {interface} {label}"),
                    format!("{kind},{owner},{interface},{label},{action}"),
                )
            }
            "metadata.csv" => {
                let (kind, owner) = match chance.usize(..3) {
                    0 => ("company", self.companies[chance.usize(..self.companies.len())].clone()),
                    1 => ("site", site(chance)?),
                    _ => ("device", device),
                };
                let key = format!("k{}", chance.usize(..3));
                let value = if removes { String::new() } else { format!("new {}", chance.u8(..2)) };
                (format!("{owner} {key}"), format!("{kind},{owner},{key},{value},{}", word("", "delete")))
            }
            "licences.csv" => {
                let code = format!("{CODE}{}", chance.u32(..));
                (code.clone(), format!("{device},{code}"))
            }
            "subscriptions.csv" => {
                let id = ENTERPRISE_TEMPLATES[chance.usize(..2)];
                (format!("{device} {id}"), format!("{device},{id},{}", word("", "unsubscribe")))
            }
            "site_assignments.csv" => {
                let of_company: Vec<&String> =
                    self.sites.iter().filter(|(_, other)| *other == company).map(|(site, _)| site).collect();
                let site = of_company.get(chance.usize(..of_company.len().max(1)))?;
                (device.clone(), format!("{device},{site}"))
            }
            _ => {
                let id = VPN_CLOUDS[chance.usize(..2)];
                (format!("{device} {id}"), format!("{device},{id},{}", word("", "leave")))
            }
        })
    }
}

/// What a row asks for.
struct Wish {
    thing: Attachment,
    removes: bool,
}

impl Wish {
    /// Of a row, where the records that it names are there.
    fn of(row: &RowView, ids: &BTreeMap<String, Uuid>) -> Option<Self> {
        let Kind::Upkeep(upkeep) = row.kind else { return None };
        let cell = |column: usize| row.cells.get(column).map_or("", String::as_str);
        let id = |text: &str| text.parse().ok().or_else(|| ids.get(text).copied());
        let (owner, kind, value, action) = match upkeep {
            Upkeep::Labels => (cell(1), "label", cell(3).to_owned(), cell(4)),
            Upkeep::Metadata => (cell(1), "metadata", format!("{}={}", cell(2), cell(3)), cell(4)),
            Upkeep::Licences => (cell(0), "licence", cell(1).to_owned(), ""),
            Upkeep::Subscriptions => (cell(0), "subscription", cell(1).to_owned(), cell(2)),
            Upkeep::SiteAssignments => (cell(0), "site", id(cell(1))?.to_string(), ""),
            Upkeep::Vpn => (cell(0), "vpn_cloud", cell(1).to_owned(), cell(2)),
            Upkeep::CompanyUpdates | Upkeep::SiteUpdates | Upkeep::DeviceUpdates => return None,
        };
        let interface = INTERFACES.into_iter().find(|name| upkeep == Upkeep::Labels && *name == cell(2));
        let thing = Attachment { owner: id(owner)?, interface, kind, value };
        Some(Self { thing, removes: ["delete", "unsubscribe", "leave"].contains(&action) })
    }

    /// Whether a record cannot have both: another value of the same key, another site.
    fn excludes(&self, other: &Attachment) -> bool {
        let (thing, key) = (&self.thing, |value: &str| value.split('=').next().map(str::to_owned));
        (thing.owner, thing.interface, thing.kind) == (other.owner, other.interface, other.kind)
            && match thing.kind {
                "metadata" => key(&thing.value) == key(&other.value),
                "site" => true,
                _ => thing.value == other.value,
            }
    }
}

/// Holds what the service has against what the rows ask for and how they came out. `ids` are those of the records that
/// rows name by a key or name.
pub(crate) fn judge(
    rows: &[(&RowView, Outcome)],
    ids: &BTreeMap<String, Uuid>,
    (before, after): (&[Attachment], &[Attachment]),
    ledger: &[LedgerEntry],
) -> Vec<String> {
    let mut violations = Vec::new();
    // What must be there, and what may be.
    let mut must: BTreeSet<Attachment> = before.iter().cloned().collect();
    let mut may = must.clone();
    for (row, outcome) in rows {
        let Some(wish) = Wish::of(row, ids) else { continue };
        let carried_out = *outcome == Outcome::CarriedOut;
        if *outcome == Outcome::Nothing {
            continue;
        }
        must.retain(|other| !wish.excludes(other));
        if carried_out {
            may.retain(|other| !wish.excludes(other));
        }
        if carried_out && !wish.removes {
            must.insert(wish.thing.clone());
        }
        if !wish.removes {
            may.insert(wish.thing);
        }
    }
    let is_upkeep = |thing: &&Attachment| match thing.kind {
        "label" => thing.value.starts_with(LABEL),
        "licence" => thing.value.starts_with(CODE),
        // A device may bring a site of its own.
        "site" => must.iter().any(|other| other.kind == "site" && other.owner == thing.owner),
        _ => true,
    };
    let state: Vec<&Attachment> = after.iter().filter(is_upkeep).collect();
    for thing in &must {
        if !state.contains(&thing) && is_upkeep(&thing) {
            violations.push(format!("lost: the service has no {thing:?}"));
        }
    }
    for thing in &state {
        if !may.contains(*thing) {
            violations.push(format!("unexpected: the service has {thing:?}"));
        }
        if state.iter().filter(|other| other == &thing).count() > 1 {
            violations.push(format!("twice: {thing:?}"));
        }
    }
    // Nobody decides in a trial: a code is never sent again once it may have been carried out.
    let mut codes = BTreeSet::new();
    for entry in ledger.iter().filter(|entry| entry.kind == "licence") {
        let code = entry.request["licenceCode"].to_string();
        if !codes.insert((entry.id, code.clone())) {
            violations.push(format!("twice: the licence code {code}"));
        }
    }
    violations
}
