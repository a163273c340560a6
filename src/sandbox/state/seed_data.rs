//! Seed data, there before the first request: the account's own company at the root, hardware models, a device to copy, the
//! provider's enterprise templates and VPN clouds, and what is taken as present because somebody refers to it. The
//! built-in ids are fixed, so that a first try needs no look-up.

use serde::Serialize;
use serde_json::{Map, json};
use uuid::Uuid;

use super::world::{Change, Company, Device, Offer, Site, World};
use crate::sandbox::error::SandboxError;
use crate::sandbox::operations::companies::zones;
use crate::sandbox::scenario::{CompanyEntry, Scenario};

/// The reseller at the root of the tree, "Northwind Networks": the account's own company.
pub const ROOT_COMPANY: Uuid = Uuid::from_u128(0x6f1c2a3e_0000_4000_8000_000000000001);
/// A device of the root company to create others from, "Template Edge 200".
pub const TEMPLATE_DEVICE: Uuid = Uuid::from_u128(0x6f1c2a3e_0000_4000_8000_000000000002);
/// The enterprise templates "Retail Standard" and "Office Standard", owned by the root company.
pub const ENTERPRISE_TEMPLATES: [Uuid; 2] = [
    Uuid::from_u128(0x6f1c2a3e_0000_4000_8000_000000000003),
    Uuid::from_u128(0x6f1c2a3e_0000_4000_8000_000000000004),
];
/// The VPN clouds "Corporate" and "Guest", owned by the root company.
pub const VPN_CLOUDS: [Uuid; 2] = [
    Uuid::from_u128(0x6f1c2a3e_0000_4000_8000_000000000005),
    Uuid::from_u128(0x6f1c2a3e_0000_4000_8000_000000000006),
];
/// The hardware models that every sandbox knows.
pub const MODELS: [&str; 5] = ["Edge 100", "Edge 200", "Edge 500", "Edge 500 LTE", "Branch 20"];

/// What is there whatever the scenario says: kind, id, name.
const BUILT_IN: [(&str, Uuid, &str); 6] = [
    ("company", ROOT_COMPANY, "Northwind Networks"),
    ("device", TEMPLATE_DEVICE, "Template Edge 200"),
    ("enterprise template", ENTERPRISE_TEMPLATES[0], "Retail Standard"),
    ("enterprise template", ENTERPRISE_TEMPLATES[1], "Office Standard"),
    ("VPN cloud", VPN_CLOUDS[0], "Corporate"),
    ("VPN cloud", VPN_CLOUDS[1], "Guest"),
];

/// What is there before the first request, for people who write sheets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Founding {
    /// Each record, the root company first.
    pub records: Vec<Founded>,
    /// The hardware models.
    pub models: Vec<String>,
    /// How many time zones are listed: those of the IANA database that have a place, and UTC.
    pub zones: usize,
}

/// A record that is there before the first request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Founded {
    /// `company`, `device`, `enterprise template` or `VPN cloud`.
    pub kind: &'static str,
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
}

impl Scenario {
    /// What is there before the first request.
    pub fn founding(&self) -> Founding {
        let built_in =
            BUILT_IN.iter().map(|(kind, id, name)| Founded { kind, id: *id, name: (*name).to_owned() });
        let own = self.company.iter();
        let own = own.map(|entry| Founded { kind: "company", id: entry.id, name: entry.name.clone() });
        Founding { records: built_in.chain(own).collect(), models: models(self), zones: zones().count() }
    }
}

/// Records and models that are taken as present because somebody refers to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Present {
    /// The records, by the ids that they are referred to by. Of one that is named as several kinds the first counts.
    pub records: Vec<(Uuid, Being)>,
    /// Hardware models.
    pub models: Vec<String>,
}

/// What a record that is taken as present is. It is the root company's, and a company is below the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Being {
    /// A company.
    Company,
    /// A site.
    Site {
        /// The company it is in, where that is known.
        company: Option<Uuid>,
    },
    /// A device.
    Device,
    /// An enterprise template.
    Template,
    /// A VPN cloud.
    Cloud,
}

/// Adds what is not there yet. An id that is known already stays what it is: it is one record, of one kind.
pub(crate) fn take_as_present(world: &mut World, present: &Present) {
    for (id, being) in present.records.iter().copied() {
        if world.knows(id) {
            continue;
        }
        match being {
            Being::Company => {
                let company = company(id, Some(ROOT_COMPANY), "CUSTOMER", &format!("Existing company {id}"));
                world.apply(Change::Company(company));
            }
            Being::Site { company } => {
                let owner = company.filter(|owner| world.companies.get(*owner).is_some());
                world.apply(Change::Site(Site {
                    id,
                    company: owner.unwrap_or(ROOT_COMPANY),
                    name: format!("Existing site {id}"),
                    reference: None,
                    made_at: 0,
                    details: contact().0,
                }));
            }
            Being::Device => {
                let device = device(id, &format!("Existing device {id}"), MODELS[0]);
                world.apply(Change::Device(device));
            }
            Being::Template => world.templates.push(offer(id, &format!("Existing template {id}"))),
            Being::Cloud => world.clouds.push(offer(id, &format!("Existing VPN cloud {id}"))),
        }
    }
    for model in &present.models {
        if !world.models.contains(model) {
            world.models.push(model.clone());
        }
    }
}

pub(crate) fn models(scenario: &Scenario) -> Vec<String> {
    let own = MODELS.iter().map(|model| (*model).to_owned());
    own.chain(scenario.models.iter().cloned()).collect()
}

pub(crate) fn world(scenario: &Scenario) -> Result<World, SandboxError> {
    let mut world = World::default();
    world.models = models(scenario);
    for (kind, id, name) in BUILT_IN {
        match kind {
            "company" => world.apply(Change::Company(company(id, None, "RESELLER", name))),
            "device" => world.apply(Change::Device(device(id, name, "Edge 200"))),
            "enterprise template" => world.templates.push(offer(id, name)),
            _ => world.clouds.push(offer(id, name)),
        }
    }
    for entry in &scenario.company {
        let CompanyEntry { id, name, parent, company_type } = entry;
        let parent = parent.unwrap_or(ROOT_COMPANY);
        if world.companies.get(parent).is_none() || world.companies.get(*id).is_some() {
            return Err(SandboxError::scenario(format!(
                "company `{name}`: its id must be new and its parent must be listed before it"
            )));
        }
        if !matches!(company_type.as_str(), "CUSTOMER" | "RESELLER") {
            return Err(SandboxError::scenario(format!(
                "company `{name}`: `type` must be CUSTOMER or RESELLER, not {company_type}"
            )));
        }
        world.apply(Change::Company(company(*id, Some(parent), company_type, name)));
    }
    Ok(world)
}

fn offer(id: Uuid, name: &str) -> Offer {
    Offer { id, name: name.to_owned(), company: ROOT_COMPANY }
}

/// A device of the root company that was there before the first request.
fn device(id: Uuid, name: &str, model: &str) -> Device {
    let (details, _) = contact();
    Device {
        id,
        company: ROOT_COMPANY,
        name: name.to_owned(),
        site: None,
        identification: None,
        model: Some(model.to_owned()),
        template: None,
        made_at: 0,
        details,
        subscriptions: Vec::new(),
        clouds: Vec::new(),
        licences: Vec::new(),
    }
}

type Details = Map<String, serde_json::Value>;

/// Address and telephone, and the mail addresses that only a company has.
fn contact() -> (Details, Details) {
    let mut place = Map::new();
    place.insert(
        "address".to_owned(),
        json!({
            "address1": "1 Exchange Street",
            "city": "Perth",
            "state": "WA",
            "postOrZipCode": "6000",
            "country": "Australia",
            "timezone": "Australia/Perth",
        }),
    );
    place.insert("phoneNumber".to_owned(), json!("+61 8 5550 0100"));
    let mut mail = Map::new();
    for role in ["support", "sales", "accounts"] {
        let address = format!("{role}@northwind.example");
        mail.insert(format!("{role}Email"), json!(address));
    }
    (place, mail)
}

fn company(id: Uuid, parent: Option<Uuid>, company_type: &str, name: &str) -> Company {
    let (mut details, mail) = contact();
    details.extend(mail);
    Company { id, parent, company_type: company_type.to_owned(), name: name.to_owned(), made_at: 0, details }
}
