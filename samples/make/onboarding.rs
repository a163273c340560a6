//! The workbook of a reseller's customer team: "Harbour Managed IT", its customers in a tree, their people, sites
//! and devices. Everything in it is right, in the untidy ways in which real workbooks are right: children above their
//! parents, references by key, by name and by id, MAC addresses as each supplier writes them.

use fastrand::Rng;

use super::sheet::{Cell, Column, Notes, Sheet, number, text};
use super::world::{self, Town, World};
use super::{ENTERPRISE_TEMPLATE, OWN_COMPANY, Result, TEMPLATE_DEVICE, VPN_CLOUD};

/// The companies, in the order of the sheet.
const COMPANIES: &str = include_str!("companies.txt");
/// The sites, each with the number of its devices.
const SITES: &str = include_str!("sites.txt");

/// One line of `companies.txt`.
struct Company {
    key: &'static str,
    /// Key of the company above; none for the reseller itself.
    parent: &'static str,
    name: &'static str,
    domain: &'static str,
    town: Town,
    street: &'static str,
    cost_centre: &'static str,
}

/// One line of `sites.txt`.
struct Site {
    company: &'static str,
    key: &'static str,
    name: &'static str,
    reference: &'static str,
    town: Town,
    street: &'static str,
    labels: &'static str,
    devices: usize,
}

/// Everything the sheets are made of.
struct Customers {
    world: World,
    companies: Vec<Company>,
    sites: Vec<Site>,
    rng: Rng,
}

impl Customers {
    fn load() -> Result<Self> {
        let world = World::load()?;
        let companies = world::lines(COMPANIES)
            .map(|[key, parent, name, domain, town, street, cost_centre]| {
                Ok(Company { key, parent, name, domain, town: world.town(town)?, street, cost_centre })
            })
            .collect::<Result<_>>()?;
        let sites = world::lines(SITES)
            .map(|[company, key, name, reference, town, street, labels, devices]| {
                let (town, devices) = (world.town(town)?, devices.parse()?);
                Ok(Site { company, key, name, reference, town, street, labels, devices })
            })
            .collect::<Result<_>>()?;
        Ok(Self { world, companies, sites, rng: Rng::with_seed(2026) })
    }
}

/// What the customer team wrote on the first page.
pub(crate) fn notes() -> Notes {
    Notes {
        author: "Harbour Managed IT",
        title: "Harbour Managed IT: onboarding, autumn 2026",
        lines: vec![
            "Prepared by the customer team in Auckland. Questions to onboarding@harbourit.example.",
            "Companies: ourselves first, then every customer with its subsidiaries. Parent is the key of the company above.",
            "People: one row for each login. Field engineers of the customers get VPN User only.",
            "Sites: reference is the store or depot number that the customer uses.",
            "Devices: MAC addresses as printed on the packing lists. Devices without one have not been delivered yet.",
            "Three devices are copied from another one; leave model and MAC blank for those.",
            "Column 'x-packing list' is for us only.",
        ],
    }
}

/// The four sheets, in the order of the workbook.
pub(crate) fn sheets() -> Result<Vec<Sheet>> {
    let Customers { world, companies, sites, mut rng } = Customers::load()?;
    Ok(vec![
        company_sheet(&companies, &mut rng)?,
        people_sheet(&companies, &world, &mut rng)?,
        site_sheet(&sites, &companies, &mut rng)?,
        device_sheet(&sites, &companies, &mut rng)?,
    ])
}

fn address_columns() -> [Column; 6] {
    [
        text("Address 1", 32.0),
        text("City", 16.0),
        text("State / region", 18.0),
        text("Postcode", 11.0),
        text("Country", 16.0),
        text("Time zone", 21.0),
    ]
}

fn address(street: &str, town: &Town) -> [Cell; 6] {
    [
        street.into(),
        town.city.into(),
        town.state.into(),
        town.postcode.into(),
        town.country.into(),
        town.timezone.into(),
    ]
}

fn company<'a>(companies: &'a [Company], key: &str) -> Result<&'a Company> {
    companies
        .iter()
        .find(|company| company.key == key)
        .ok_or_else(|| format!("no company has the key {key}").into())
}

fn company_sheet(companies: &[Company], rng: &mut Rng) -> Result<Sheet> {
    let mut columns = vec![
        text("Key", 18.0),
        text("Parent", 38.0),
        text("Company type", 14.0),
        text("Name", 38.0),
        text("Phone", 19.0),
        text("Support email", 32.0),
        text("Sales email", 32.0),
        text("Accounts email", 34.0),
    ];
    columns.extend(address_columns());
    columns.push(text("meta:cost-centre", 17.0));
    let mut rows = Vec::new();
    for &Company { key, parent, name, domain, town, street, cost_centre } in companies {
        // Some refer to the company above by its name, as people do who fill one row at a time.
        let parent = match parent {
            "" => OWN_COMPANY,
            "southerly" | "pennine" => company(companies, parent)?.name,
            key => key,
        };
        let kind = if key.starts_with("harbour") { "RESELLER" } else { "CUSTOMER" };
        let mut row: Vec<Cell> =
            vec![key.into(), parent.into(), kind.into(), name.into(), town.phone(rng).into()];
        row.extend(["support", "sales", "accounts"].map(|role| Cell::from(format!("{role}@{domain}"))));
        row.extend(address(street, &town));
        row.push(cost_centre.into());
        rows.push(row);
    }
    Ok(Sheet { name: "Companies", columns, rows })
}

fn people_sheet(companies: &[Company], world: &World, rng: &mut Rng) -> Result<Sheet> {
    let mut columns = vec![
        text("Company", 38.0),
        text("User type", 22.0),
        text("Template scope", 23.0),
        text("First name", 14.0),
        text("Last name", 17.0),
        text("Username", 42.0),
        text("Email", 42.0),
        text("Allow login", 12.0),
        text("Phone", 19.0),
    ];
    columns.extend(address_columns());
    let mut rows = Vec::new();
    let mut taken = std::collections::BTreeSet::new();
    for &Company { key, name, domain, town, street, .. } in companies {
        let is_reseller = key.starts_with("harbour");
        let count = if is_reseller { 6 } else { 2 + rng.usize(0..4) };
        for position in 0..count {
            let (first, last) = world.person(town.country, rng)?;
            let plain = format!("{}.{}", world::plain(first), world::plain(last));
            let mailbox = (1..)
                .map(|n| if n == 1 { format!("{plain}@{domain}") } else { format!("{plain}{n}@{domain}") })
                .find(|mailbox| !taken.contains(mailbox))
                .ok_or("no username is left")?;
            taken.insert(mailbox.clone());
            let (kind, scope) = match (is_reseller, position) {
                (true, 5) => ("Reports Only Reseller", "COMPANY_CHILDREN"),
                (true, _) => ("Full Reseller", "COMPANY_CHILDREN"),
                (false, 0) => ("Configure Client", "COMPANY_INHERIT"),
                (false, 1) => ("Reports Client", "COMPANY_INHERIT"),
                (false, 2) => ("Diagnostics Client", "COMPANY_NO_INHERIT"),
                (false, _) => ("VPN User", "COMPANY_NO_INHERIT"),
            };
            let company = if key == "wattlegrove" || key == "fernhill" { name } else { key };
            let has_phone = rng.u32(0..4) > 0;
            let mut row: Vec<Cell> = [company, kind, scope, first, last].map(Cell::from).to_vec();
            row.push(mailbox.clone().into());
            row.push(mailbox.into());
            // Those who left stay on the list without a login.
            row.push(if rng.u32(0..12) == 0 { "no" } else { "yes" }.into());
            row.push(if has_phone { town.phone(rng).into() } else { Cell::Blank });
            row.extend(address(street, &town));
            rows.push(row);
        }
    }
    // Two of the reseller's own staff who work in the account's company itself.
    let town = world.town("auckland")?;
    for (first, last, username) in
        [("Hana", "Whitcombe", "hana.whitcombe"), ("Joel", "Prasad", "joel-prasad")]
    {
        let mut row: Vec<Cell> = [OWN_COMPANY, "Full Reseller", "COMPANY_CHILDREN", first, last, username]
            .map(Cell::from)
            .to_vec();
        row.push(format!("{}@harbourit.example", username.replace('-', ".")).into());
        row.push("yes".into());
        row.push(town.phone(rng).into());
        row.extend(address("Level 4, 82 Customs Street East", &town));
        rows.push(row);
    }
    Ok(Sheet { name: "People", columns, rows })
}

fn site_sheet(sites: &[Site], companies: &[Company], rng: &mut Rng) -> Result<Sheet> {
    let mut columns = vec![
        text("Key", 16.0),
        text("Company", 38.0),
        text("Name", 30.0),
        text("Reference", 11.0),
        text("Phone", 19.0),
        number("Latitude", 11.0),
        number("Longitude", 11.0),
    ];
    columns.extend(address_columns());
    columns.push(text("Labels", 26.0));
    let mut rows = Vec::new();
    for &Site { company: owner, key, name, reference, town, street, labels, .. } in sites {
        let owner =
            if owner == "southerly" || owner == "corrib" { company(companies, owner)?.name } else { owner };
        let mut row: Vec<Cell> = [key, owner, name, reference].map(Cell::from).to_vec();
        row.push(town.phone(rng).into());
        // Not every customer has sent coordinates.
        if owner == "otway" || owner == "clyde-marine" {
            row.extend([Cell::Blank, Cell::Blank]);
        } else {
            row.extend([near(town.latitude, rng), near(town.longitude, rng)]);
        }
        row.extend(address(street, &town));
        row.push(labels.into());
        rows.push(row);
    }
    Ok(Sheet { name: "Sites", columns, rows })
}

/// A coordinate within two kilometres, to a metre or so.
fn near(degrees: f64, rng: &mut Rng) -> Cell {
    let steps = f64::from(rng.i32(-2_000..2_000));
    Cell::Number(((degrees * 1e5).round() + steps) / 1e5)
}

fn device_sheet(sites: &[Site], companies: &[Company], rng: &mut Rng) -> Result<Sheet> {
    let mut columns = vec![
        text("Asset tag", 12.0),
        text("Company", 18.0),
        text("Site", 26.0),
        text("Name", 36.0),
        text("Model", 14.0),
        text("MAC address", 19.0),
        text("Template", 38.0),
        text("Copy DHCP leases", 18.0),
        text("Phone", 19.0),
    ];
    columns.extend(address_columns());
    columns.extend([
        text("Licence code", 22.0),
        text("Enterprise template", 38.0),
        text("VPN clouds", 38.0),
        text("Labels", 22.0),
        text("meta:cost-centre", 17.0),
        text("x-packing list", 15.0),
    ]);
    let mut rows = Vec::new();
    let mut taken = std::collections::BTreeSet::new();
    for &Site { company: owner, key: site, name: site_name, town, street, labels, devices, .. } in sites {
        for position in 0..devices {
            let tag = rows.len() + 1;
            let (room, model) = role(labels, position);
            let mac = fresh_mac(&mut taken, rng);
            // The barcode scanners of two customers and the packing lists of the others write MAC addresses differently.
            let mac = world::mac(mac, if owner.starts_with("tuistreet") { 3 } else { position + site.len() });
            let template = match site {
                "tui-005" if position == 1 => "HMI-0022",
                "ccu-westport" if position == 1 => "HMI-0140",
                "fh-inverness" if position == 2 => TEMPLATE_DEVICE,
                _ => "",
            };
            let is_copy = !template.is_empty();
            let undelivered = !is_copy && rng.u32(0..22) == 0;
            let main = position == 0;
            // The pharmacies know their shops by name only.
            let site_cell = if owner == "tuistreet-south" { site_name } else { site };
            let mut row: Vec<Cell> = vec![
                format!("HMI-{tag:04}").into(),
                owner.into(),
                site_cell.into(),
                format!("{site_name} {room}").into(),
                if is_copy { Cell::Blank } else { model.into() },
                if is_copy || undelivered { Cell::Blank } else { mac.into() },
                template.into(),
                if is_copy { "yes".into() } else { Cell::Blank },
                town.phone(rng).into(),
            ];
            row.extend(address(street, &town));
            let licensed = main && matches!(owner, "fernhill" | "manukau-doctors" | "corrib");
            row.push(if licensed { licence(rng) } else { Cell::Blank });
            row.push(if main && owner.starts_with("tuistreet") { ENTERPRISE_TEMPLATE } else { "" }.into());
            row.push(if main && owner == "southerly" { VPN_CLOUD } else { "" }.into());
            row.push(if main { "primary" } else { "" }.into());
            row.push(if rng.bool() { company(companies, owner)?.cost_centre } else { "" }.into());
            row.push(if undelivered { Cell::Blank } else { format!("PL-{}", 4400 + tag / 9).into() });
            rows.push(row);
        }
    }
    Ok(Sheet { name: "Devices", columns, rows })
}

/// What stands in a site besides its router, and on which model.
fn role(labels: &str, position: usize) -> (&'static str, &'static str) {
    if labels.contains("LTE") || labels.contains("satellite") && position == 2 {
        return ("mobile link", "Edge 500 LTE");
    }
    match position {
        0 => (
            "router",
            if labels.contains("depot") || labels.contains("hotel") { "Edge 500" } else { "Edge 200" },
        ),
        1 => ("front desk", "Edge 100"),
        2 => ("back office", "Branch 20"),
        3 => ("guest Wi-Fi", "Edge 200"),
        _ => ("warehouse", "Edge 100"),
    }
}

/// An address as manufacturers give them: of one device, and not made up by it. Each has a letter among its digits,
/// so that no spreadsheet program takes it for a number.
fn fresh_mac(taken: &mut std::collections::BTreeSet<u64>, rng: &mut Rng) -> u64 {
    loop {
        let vendor = [0x0000_2596_u64, 0x003c_8d20, 0x0058_c17a][rng.usize(0..3)];
        let mac = vendor << 24 | u64::from(rng.u32(0..1 << 24));
        let shown = format!("{mac:012x}");
        if shown.bytes().any(|digit| matches!(digit, b'a'..=b'd' | b'f')) && taken.insert(mac) {
            return mac;
        }
    }
}

fn licence(rng: &mut Rng) -> Cell {
    let mut group = || -> String {
        (0..4).map(|_| char::from(b"ACDEFGHJKLMNPQRTUVWXY34679"[rng.usize(0..26)])).collect()
    };
    format!("LIC-{}-{}-{}", group(), group(), group()).into()
}
