//! The lists that drop-downs open and that are too long for a cell rule, which holds 255 characters: the time zones and what
//! the service has of a company, on a hidden sheet, and the keys of the workbook itself.

use rust_xlsxwriter::{Workbook, XlsxError};

use super::{sheet_name, shown};
use crate::model::id::RemoteId;
use crate::model::kind::{Kind, Upkeep};
use crate::model::zone::ZoneList;
use crate::sheet::address::letters;
use crate::sheet::table::column::{Column, Form};

/// The name of the sheet.
pub(crate) const NAME: &str = "lists";

/// Keys that a drop-down shows.
const KEYS: u32 = 10_000;

/// The lists of a workbook.
pub(super) struct Lists<'a> {
    /// The kinds that have a sheet in it.
    pub(super) kinds: &'a [Kind],
    pub(super) zones: &'a Zones,
    pub(super) known: &'a KnownRecords,
}

impl Lists<'_> {
    /// The keys of a kind as far as they are filled in, as a drop-down names them; `None` where the kind has no sheet.
    pub(super) fn keys(&self, kind: Kind) -> Option<String> {
        let sheet = self.kinds.contains(&kind).then(|| sheet_name(kind))?;
        let column = letters(shown(kind).position(|column| column.form == Form::Key)?);
        // Below the header and the example.
        let first = format!("{sheet}!${column}$3");
        let all = format!("{first}:${column}${}", KEYS + 2);
        Some(format!("=OFFSET({first},0,0,MAX(1,COUNTA({all})),1)"))
    }
}

/// What the service has of a company, to choose from: each record with its name and its id.
#[derive(Debug, Clone, Default)]
pub struct KnownRecords {
    /// The company and those directly below it.
    pub companies: Vec<(String, RemoteId)>,
    /// Its sites.
    pub sites: Vec<(String, RemoteId)>,
    /// Its devices.
    pub devices: Vec<(String, RemoteId)>,
    /// Enterprise templates that a device of it has or can be assigned to.
    pub templates: Vec<(String, RemoteId)>,
    /// VPN clouds that a device of it belongs to or can join.
    pub clouds: Vec<(String, RemoteId)>,
    /// What is to be said of it on the first page: whose it is, and what could not be read.
    pub notes: Vec<String>,
}

/// Columns of the hidden sheet, behind the time zones.
const COLUMNS_OF_RECORDS: [fn(&KnownRecords) -> Vec<String>; 6] = [
    |known| listed(&known.companies),
    |known| listed(&known.sites),
    |known| listed(&known.devices),
    |known| [listed(&known.companies), listed(&known.sites), listed(&known.devices)].concat(),
    |known| listed(&known.templates),
    |known| listed(&known.clouds),
];

/// Records as a cell names them: by the name, for the reader, and the id.
fn listed(records: &[(String, RemoteId)]) -> Vec<String> {
    // A semicolon separates the ids of a cell.
    records.iter().map(|(name, id)| format!("{} (id:{id})", name.replace(';', ","))).collect()
}

impl KnownRecords {
    /// The range of the records that a column of a kind names, as a drop-down has it; `None` where there are none.
    pub(super) fn range(&self, kind: Kind, column: &Column) -> Option<String> {
        let at = match (column.form, kind, column.name) {
            (Form::Reference(role), ..) => match role.target() {
                Kind::Company => 0,
                Kind::Site => 1,
                Kind::Device => 2,
                Kind::Person | Kind::Upkeep(_) => return None,
            },
            (Form::Owner, ..) => 3,
            (_, Kind::Device, "enterprise_template")
            | (_, Kind::Upkeep(Upkeep::Subscriptions), "template") => 4,
            (_, Kind::Device, "vpn_clouds") | (_, Kind::Upkeep(Upkeep::Vpn), "cloud") => 5,
            _ => return None,
        };
        let length = COLUMNS_OF_RECORDS[at](self).len();
        let column = letters(at + 1);
        (length > 0).then(|| format!("={NAME}!${column}$1:${column}${length}"))
    }
}

/// The time zones to choose from, in the order of their names.
pub(super) struct Zones(Vec<String>);

impl Zones {
    /// Those that the service lists, or those that are known everywhere: the ones with a place, and UTC.
    pub(super) fn of(listed: Option<&ZoneList>) -> Self {
        Self(listed.map_or_else(known_everywhere, |list| list.ids().to_vec()))
    }

    /// Their range, as a drop-down names it.
    pub(super) fn range(&self) -> String {
        format!("={NAME}!$A$1:$A${}", self.0.len())
    }

    /// Adds the sheet, hidden, as the last one.
    pub(super) fn fill(&self, workbook: &mut Workbook, known: &KnownRecords) -> Result<(), XlsxError> {
        let sheet = workbook.add_worksheet();
        sheet.set_name(NAME)?;
        sheet.set_hidden(true);
        for (row, name) in (0..).zip(&self.0) {
            sheet.write_string(row, 0, name)?;
        }
        for (column, entries) in (1..).zip(COLUMNS_OF_RECORDS) {
            for (row, entry) in (0..).zip(entries(known)) {
                sheet.write_string(row, column, entry)?;
            }
        }
        Ok(())
    }
}

fn known_everywhere() -> Vec<String> {
    // Those that come along with the program, so that every machine makes the same sheets.
    let bundled = jiff::tz::TimeZoneDatabase::bundled();
    let mut names: Vec<String> = bundled
        .available()
        .map(|name| name.to_string())
        .filter(|name| name == "UTC" || (name.contains('/') && !name.starts_with("Etc/")))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Moment;

    #[test]
    fn every_zone_of_the_list_is_one_that_the_sheets_may_hold() {
        let names = Zones::of(None).0;
        assert!(names.len() > 400, "{}", names.len());
        for name in ["Pacific/Auckland", "Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        for name in &names {
            assert!(jiff::tz::TimeZone::get(name).is_ok(), "{name}");
        }
        assert_eq!(Zones::of(None).range(), format!("=lists!$A$1:$A${}", names.len()));
    }

    #[test]
    fn records_of_a_company_are_listed_where_a_column_names_one_of_their_kind() {
        let records = |names: &[&str]| -> Vec<(String, RemoteId)> {
            names.iter().zip(1..).map(|(name, id)| ((*name).to_owned(), RemoteId::from_u128(id))).collect()
        };
        let known = KnownRecords {
            sites: records(&["Pier; east", "Quay"]),
            templates: records(&["Retail", "Office", "Retail"]),
            ..KnownRecords::default()
        };
        let range = |kind: Kind, name: &str| {
            let column = shown(kind).find(|column| column.name == name).unwrap();
            known.range(kind, column)
        };
        assert_eq!(range(Kind::Device, "site").as_deref(), Some("=lists!$C$1:$C$2"));
        assert_eq!(range(Kind::Device, "company"), None);
        assert_eq!(range(Kind::Device, "name"), None);
        let subscriptions = Kind::Upkeep(Upkeep::Subscriptions);
        assert_eq!(range(subscriptions, "template").as_deref(), Some("=lists!$F$1:$F$3"));
        assert_eq!(listed(&known.sites)[0], format!("Pier, east (id:{})", RemoteId::from_u128(1)));
    }

    #[test]
    fn the_zones_to_choose_from_are_those_of_the_service_where_they_are_known() {
        let ids = vec!["UTC".to_owned(), "Asia/Calcutta".to_owned()];
        let zones = Zones::of(ZoneList::new(ids, Moment::default()).as_ref());
        assert_eq!(zones.0, ["Asia/Calcutta", "UTC"]);
        assert_eq!(zones.range(), "=lists!$A$1:$A$2");
    }
}
