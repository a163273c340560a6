//! The world as a sandbox finds it: the account's own company at the root, hardware models, a device to copy, and
//! the provider's enterprise templates and VPN clouds. The ids are fixed, so that a first try needs no look-up.

use serde_json::{Map, json};
use uuid::Uuid;

use super::error::SandboxError;
use super::scenario::{CompanyEntry, Scenario};
use super::world::{Change, Company, Device, Offer, World};

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

const NAMES: [(&str, &str); 2] = [("Retail Standard", "Corporate"), ("Office Standard", "Guest")];

pub(crate) fn models(scenario: &Scenario) -> Vec<String> {
    let own = MODELS.iter().map(|model| (*model).to_owned());
    own.chain(scenario.models.iter().cloned()).collect()
}

pub(crate) fn world(scenario: &Scenario) -> Result<World, SandboxError> {
    let mut world = World::default();
    world.models = models(scenario);
    world.apply(Change::Company(company(ROOT_COMPANY, None, "RESELLER", "Northwind Networks")));
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
    let (details, _) = contact();
    world.apply(Change::Device(Device {
        id: TEMPLATE_DEVICE,
        company: ROOT_COMPANY,
        name: "Template Edge 200".to_owned(),
        site: None,
        identification: None,
        model: Some("Edge 200".to_owned()),
        template: None,
        made_at: 0,
        details,
        subscriptions: Vec::new(),
        clouds: Vec::new(),
        licences: Vec::new(),
    }));
    for (place, (template, cloud)) in NAMES.into_iter().enumerate() {
        world.templates.push(Offer {
            id: ENTERPRISE_TEMPLATES[place],
            name: template,
            company: ROOT_COMPANY,
        });
        world.clouds.push(Offer { id: VPN_CLOUDS[place], name: cloud, company: ROOT_COMPANY });
    }
    Ok(world)
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
