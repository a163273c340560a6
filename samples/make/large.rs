//! An import of any size, row by row, so that a million rows need no memory. The same size and seed give the same bytes.
//!
//! Of a hundred rows two are companies, eight people, fifteen sites and the rest devices. Every reference is by key
//! and every row is right.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use super::sheet::{Cell, Column, Look, empty_workbook, number, text};
use super::world::{self, Town, World};
use super::{OWN_COMPANY, Result};

/// Rows of an Excel worksheet below its header.
const EXCEL_ROWS: u64 = 1_048_575;
/// Companies below one reseller.
const BELOW_RESELLER: u64 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Companies,
    People,
    Sites,
    Devices,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Companies, Self::People, Self::Sites, Self::Devices];

    const fn name(self) -> &'static str {
        match self {
            Self::Companies => "Companies",
            Self::People => "People",
            Self::Sites => "Sites",
            Self::Devices => "Devices",
        }
    }
}

/// How many rows of each kind there are.
#[derive(Debug, Clone, Copy)]
struct Size {
    companies: u64,
    people: u64,
    sites: u64,
    devices: u64,
}

impl Size {
    fn spread(rows: u64) -> Self {
        let companies = (rows * 2 / 100).max(1);
        let people = rows * 8 / 100;
        let sites = rows * 15 / 100;
        Self { companies, people, sites, devices: rows - companies - people - sites }
    }

    /// One kind alone; everything belongs to the account's own company then.
    fn only(kind: Kind, rows: u64) -> Self {
        let mut size = Self { companies: 0, people: 0, sites: 0, devices: 0 };
        match kind {
            Kind::Companies => size.companies = rows,
            Kind::People => size.people = rows,
            Kind::Sites => size.sites = rows,
            Kind::Devices => size.devices = rows,
        }
        size
    }

    const fn of(self, kind: Kind) -> u64 {
        match kind {
            Kind::Companies => self.companies,
            Kind::People => self.people,
            Kind::Sites => self.sites,
            Kind::Devices => self.devices,
        }
    }
}

/// Writes an import of `rows` rows: a CSV file, a workbook, or a folder of CSV files, by the ending of `out`.
pub(crate) fn large(rows: u64, out: &Path, seed: u64) -> Result<Vec<PathBuf>> {
    if rows == 0 {
        return Err("an import has at least one row".into());
    }
    match out.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => {
            let stem = out.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_lowercase();
            let named = |kind: &&Kind| stem.contains(&kind.name().to_lowercase());
            let kind = Kind::ALL.iter().find(named).copied().unwrap_or(Kind::Devices);
            csv_file(out, kind, Size::only(kind, rows), seed)?;
            Ok(vec![out.to_owned()])
        }
        Some("xlsx") => workbook(out, Size::spread(rows), seed),
        Some(other) => Err(format!("'.{other}' is not written: name a .csv, an .xlsx or a folder").into()),
        None => {
            fs::create_dir_all(out)?;
            let size = Size::spread(rows);
            let mut written = Vec::new();
            for kind in Kind::ALL.into_iter().filter(|&kind| size.of(kind) > 0) {
                let path = out.join(format!("{}.csv", kind.name().to_lowercase()));
                csv_file(&path, kind, size, seed)?;
                written.push(path);
            }
            Ok(written)
        }
    }
}

fn csv_file(path: &Path, kind: Kind, size: Size, seed: u64) -> Result<()> {
    let mut writer = csv::Writer::from_writer(BufWriter::new(File::create(path)?));
    writer.write_record(columns(kind).iter().map(|column| column.header))?;
    let mut rng = Rng::with_seed(seed);
    let world = World::load()?;
    let mut record = csv::StringRecord::new();
    for index in 0..size.of(kind) {
        record.clear();
        for cell in row(&world, kind, index, size, &mut rng)? {
            match cell {
                Cell::Text(text) => record.push_field(&text),
                Cell::Number(number) => record.push_field(&number.to_string()),
                Cell::Blank | Cell::Date(..) | Cell::Broken(..) => record.push_field(""),
            }
        }
        writer.write_record(&record)?;
    }
    writer.flush()?;
    Ok(())
}

fn workbook(out: &Path, size: Size, seed: u64) -> Result<Vec<PathBuf>> {
    if let Some(kind) = Kind::ALL.into_iter().find(|&kind| size.of(kind) > EXCEL_ROWS) {
        return Err(format!(
            "an Excel sheet has no room for {} {}; name a folder",
            size.of(kind),
            kind.name()
        )
        .into());
    }
    let mut workbook = empty_workbook("A large import", "fleetload samples")?;
    let (look, world) = (Look::new(), World::load()?);
    for kind in Kind::ALL.into_iter().filter(|&kind| size.of(kind) > 0) {
        let worksheet = workbook.add_worksheet_with_constant_memory()?;
        look.head(worksheet, kind.name(), &columns(kind))?;
        let mut rng = Rng::with_seed(seed);
        for index in 0..size.of(kind) {
            look.row(worksheet, u32::try_from(index + 1)?, &row(&world, kind, index, size, &mut rng)?)?;
        }
    }
    workbook.save(out)?;
    Ok(vec![out.to_owned()])
}

fn columns(kind: Kind) -> Vec<Column> {
    let mut columns = match kind {
        Kind::Companies => vec![
            text("key", 10.0),
            text("parent", 38.0),
            text("company_type", 14.0),
            text("name", 28.0),
            text("support_email", 28.0),
            text("sales_email", 28.0),
            text("accounts_email", 28.0),
        ],
        Kind::People => vec![
            text("company", 10.0),
            text("user_type", 18.0),
            text("template_scope", 20.0),
            text("first_name", 14.0),
            text("last_name", 14.0),
            text("username", 28.0),
            text("email", 34.0),
            text("allow_login", 12.0),
        ],
        Kind::Sites => vec![
            text("key", 10.0),
            text("company", 10.0),
            text("name", 24.0),
            text("reference", 12.0),
            number("latitude", 11.0),
            number("longitude", 11.0),
        ],
        Kind::Devices => vec![
            text("key", 10.0),
            text("company", 10.0),
            text("site", 10.0),
            text("name", 18.0),
            text("device_model", 14.0),
            text("mac", 19.0),
        ],
    };
    columns.extend([
        text("phone", 19.0),
        text("address1", 26.0),
        text("city", 16.0),
        text("state", 18.0),
        text("postcode", 11.0),
        text("country", 16.0),
        text("timezone", 21.0),
    ]);
    columns
}

fn row(world: &World, kind: Kind, index: u64, size: Size, rng: &mut Rng) -> Result<Vec<Cell>> {
    let town = world.any_town(rng);
    let mut cells = match kind {
        Kind::Companies => company(index, size.companies),
        Kind::People => person(world, index, size.companies, &town, rng)?,
        Kind::Sites => site(index, size.companies, &town, rng),
        Kind::Devices => device(index, size, rng),
    };
    cells.push(town.phone(rng).into());
    let streets =
        ["High Street", "Station Road", "Queen Street", "Harbour Road", "Mill Lane", "Victoria Avenue"];
    cells.push(format!("{} {}", rng.u32(1..400), streets[rng.usize(0..streets.len())]).into());
    cells.extend([town.city, town.state, town.postcode, town.country, town.timezone].map(Cell::from));
    Ok(cells)
}

/// The key of a company that there is, or the account's own company where the sheet has none.
fn owner(index: u64, companies: u64) -> String {
    if companies == 0 { OWN_COMPANY.to_owned() } else { company_key(index % companies) }
}

fn company_key(index: u64) -> String {
    format!("C-{index:06}")
}

/// One reseller at the top, one in twenty below it, customers below those.
fn company(index: u64, companies: u64) -> Vec<Cell> {
    let reseller = index - index % BELOW_RESELLER;
    let parent = match index {
        0 => OWN_COMPANY.to_owned(),
        _ if reseller == index => company_key(0),
        _ => company_key(reseller),
    };
    let is_reseller = reseller == index && companies > 1;
    let mut cells: Vec<Cell> = vec![
        company_key(index).into(),
        parent.into(),
        if is_reseller { "RESELLER" } else { "CUSTOMER" }.into(),
        format!("Sample company {index:06}").into(),
    ];
    cells.extend(["support", "sales", "accounts"].map(|role| Cell::from(format!("{role}@c{index}.example"))));
    cells
}

fn person(world: &World, index: u64, companies: u64, town: &Town, rng: &mut Rng) -> Result<Vec<Cell>> {
    let (first, last) = world.person(town.country, rng)?;
    let username = format!("{}.{}{index}", world::plain(first), world::plain(last));
    let email = format!("{username}@people.example");
    let owner = owner(index, companies);
    Ok([owner.as_str(), "Reports Client", "COMPANY_INHERIT", first, last, &username, &email, "yes"]
        .map(Cell::from)
        .to_vec())
}

fn site(index: u64, companies: u64, town: &Town, rng: &mut Rng) -> Vec<Cell> {
    let mut near = |degrees: f64| Cell::Number((degrees * 1e4 + f64::from(rng.i32(-500..500))).round() / 1e4);
    vec![
        format!("S-{index:06}").into(),
        owner(index, companies).into(),
        format!("{} {index:06}", town.city).into(),
        format!("R{index:06}").into(),
        near(town.latitude),
        near(town.longitude),
    ]
}

/// Devices stand in the site of the same number, counted round, and so in its company.
fn device(index: u64, size: Size, rng: &mut Rng) -> Vec<Cell> {
    let models = ["Edge 100", "Edge 200", "Edge 500", "Edge 500 LTE", "Branch 20"];
    let (site, company) = if size.sites == 0 {
        (String::new(), owner(index, size.companies))
    } else {
        (format!("S-{:06}", index % size.sites), owner(index % size.sites, size.companies))
    };
    // A manufacturer's prefix and a number for each device, so that no two are the same.
    let mac = 0x58c1_7b00_0000_u64 + index;
    vec![
        format!("D-{index:07}").into(),
        company.into(),
        site.into(),
        format!("Device {index:07}").into(),
        models[rng.usize(0..models.len())].into(),
        world::mac(mac, 0).into(),
    ]
}
