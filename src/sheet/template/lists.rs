//! The lists that drop-downs open and that are too long for a cell rule, which holds 255 characters: the time zones, on a
//! hidden sheet, and the keys of the workbook itself.

use rust_xlsxwriter::{Workbook, XlsxError};

use super::{sheet_name, shown};
use crate::model::kind::Kind;
use crate::model::zone::ZoneList;
use crate::sheet::address::letters;
use crate::sheet::table::column::Form;

/// The name of the sheet.
pub(crate) const NAME: &str = "lists";

/// Keys that a drop-down shows.
const KEYS: u32 = 10_000;

/// The lists of a workbook.
pub(super) struct Lists<'a> {
    /// The kinds that have a sheet in it.
    pub(super) kinds: &'a [Kind],
    pub(super) zones: &'a Zones,
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
    pub(super) fn fill(&self, workbook: &mut Workbook) -> Result<(), XlsxError> {
        let sheet = workbook.add_worksheet();
        sheet.set_name(NAME)?;
        sheet.set_hidden(true);
        for (row, name) in (0..).zip(&self.0) {
            sheet.write_string(row, 0, name)?;
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
    fn the_zones_to_choose_from_are_those_of_the_service_where_they_are_known() {
        let ids = vec!["UTC".to_owned(), "Asia/Calcutta".to_owned()];
        let zones = Zones::of(ZoneList::new(ids, Moment::default()).as_ref());
        assert_eq!(zones.0, ["Asia/Calcutta", "UTC"]);
        assert_eq!(zones.range(), "=lists!$A$1:$A$2");
    }
}
