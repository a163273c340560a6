//! The hidden sheet of long lists: a drop-down holds 255 characters by itself, the time zones need a range.

use rust_xlsxwriter::{Workbook, XlsxError};

/// The name of the sheet.
pub(crate) const NAME: &str = "lists";

/// The time zones that are known everywhere, in the order of their names: those with a place, and UTC.
fn zone_names() -> Vec<String> {
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

/// The range of the time zones, as a drop-down names it.
pub(super) fn zones() -> String {
    format!("={NAME}!$A$1:$A${}", zone_names().len())
}

/// Adds the sheet, hidden, as the last one.
pub(super) fn fill(workbook: &mut Workbook) -> Result<(), XlsxError> {
    let sheet = workbook.add_worksheet();
    sheet.set_name(NAME)?;
    sheet.set_hidden(true);
    for (row, name) in (0..).zip(zone_names()) {
        sheet.write_string(row, 0, &name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_of_the_list_is_one_that_the_sheets_may_hold() {
        let names = zone_names();
        assert!(names.len() > 400, "{}", names.len());
        for name in ["Pacific/Auckland", "Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        for name in &names {
            assert!(jiff::tz::TimeZone::get(name).is_ok(), "{name}");
        }
        assert_eq!(zones(), format!("=lists!$A$1:$A${}", names.len()));
    }
}
