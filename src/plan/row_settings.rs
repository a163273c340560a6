//! What one row asks for of the settings of a device in a VPN cloud, where many rows are one request.

use crate::error::Result;
use crate::journal::{ImportWriter, Prospect};
use crate::model::action::{Action, VpnSettings};
use crate::model::key::comparable;
use crate::sheet::{Mapped, meaning};

/// The settings of the row by which a job comes; `None` for a job that gives no settings, and where the row does not show which
/// are its own.
///
/// # Errors
/// When the journal cannot be read.
pub fn settings_of_row(writer: &ImportWriter<'_>, prospect: &Prospect) -> Result<Option<VpnSettings>> {
    let [Action::ConfigureVpn(settings)] = &*prospect.steps_by_shape else { return Ok(None) };
    let [interface, suite] = cells_as_written(writer, prospect, ["interface", "cipher_suite"])?;
    if interface.is_none() && suite.is_none() {
        return Ok(None);
    }
    let mut own = settings.clone();
    own.cipher_suite = own
        .cipher_suite
        .filter(|asked| suite.as_ref().is_some_and(|suite| suite.eq_ignore_ascii_case(asked)));
    own.interfaces.retain(|entry| interface.as_ref() == Some(&comparable(&entry.interface)));
    Ok(Some(own))
}

/// What the row by which a job comes has in the columns of these names, as [`comparable`] writes it; `None` for a blank cell, and
/// where no column of the row's sheet has that name.
///
/// # Errors
/// When the journal cannot be read.
pub(super) fn cells_as_written<const N: usize>(
    writer: &ImportWriter<'_>,
    prospect: &Prospect,
    names: [&str; N],
) -> Result<[Option<String>; N]> {
    let Some(row) = prospect.row else { return Ok(names.map(|_| None)) };
    let written = writer.row_as_written(row.sheet, row.number)?;
    let mapping = meaning(prospect.kind.sheet(), &written.headers);
    Ok(names.map(|name| {
        let is_named =
            |mapped: &Mapped| matches!(mapped, Mapped::Column { column, .. } if column.name == name);
        let cell = written.cells.get(mapping.iter().position(is_named)?)?;
        Some(comparable(cell)).filter(|cell| !cell.is_empty())
    }))
}
