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
    let (Some(row), [Action::ConfigureVpn(settings)]) = (prospect.row, &*prospect.steps_by_shape) else {
        return Ok(None);
    };
    let written = writer.row_as_written(row.sheet, row.number)?;
    let mapping = meaning(prospect.kind, &written.headers);
    let cell = |name: &str| {
        let is_named =
            |mapped: &Mapped| matches!(mapped, Mapped::Column { column, .. } if column.name == name);
        let cell = written.cells.get(mapping.iter().position(is_named)?)?;
        Some(comparable(cell)).filter(|cell| !cell.is_empty())
    };
    let (interface, suite) = (cell("interface"), cell("cipher_suite"));
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
