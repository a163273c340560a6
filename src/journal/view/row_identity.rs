//! Which row a job is: where it stands in its newest sheet, what it is known by, and what the journal has of it now. Read for
//! one job at a time, by its number.

use rusqlite::OptionalExtension;
use serde::Serialize;

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::Id;
use crate::model::id::{ImportId, JobId, RemoteId};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RowIdentity {
    /// The newest import that has the row.
    pub import: Option<ImportId>,
    /// The name of its sheet there.
    pub sheet: Option<String>,
    /// Its number in the sheet, as a spreadsheet counts.
    pub row: Option<u32>,
    /// Its key in the sheet, as keys are compared.
    pub key: Option<String>,
    /// The name of its record.
    pub name: String,
    /// The id of its record.
    pub id: Option<RemoteId>,
    /// The machine code of what is the matter.
    pub code: Option<String>,
}

impl View {
    /// Which row a job is; nothing where there is no such job.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn row_identity(&self, job: JobId) -> Result<Option<RowIdentity>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT sheet.import, sheet.name, sheet_row.place & 4294967295, job.sheet_key, job.name, job.remote_id, job.code
             FROM job
             LEFT JOIN sheet_row ON sheet_row.place = (SELECT max(place) FROM sheet_row AS last WHERE last.job = job.id)
             LEFT JOIN sheet ON sheet.id = sheet_row.place >> 32
             WHERE job.id = ?1",
        )?;
        let found = statement.query_row([job], |row| {
            Ok(RowIdentity {
                import: row.get(0)?,
                sheet: row.get(1)?,
                row: row.get(2)?,
                key: row.get(3)?,
                name: row.get(4)?,
                id: row.get::<_, Option<Id>>(5)?.map(|id| id.0),
                code: row.get(6)?,
            })
        });
        Ok(found.optional()?)
    }
}
