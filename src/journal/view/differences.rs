//! In what rows of later imports differ from the records that were made of earlier ones.

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::journal::file::column::natural;
use crate::journal::file::sqlite_error::damaged;
use crate::journal::{View, row_ref};
use crate::model::id::{ImportId, JobId};

/// A column in which a row differs from the record that was made earlier, with what the sheets say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The column by its name in the table of columns; of a family with what stands after the colon: `meta:till`.
    pub column: String,
    /// Its header as the sheet has it, or our name for a column that the sheet lacks.
    pub header: String,
    /// What the record was made with; absent for a blank.
    pub earlier: Option<String>,
    /// What the row says now; absent for a blank.
    pub now: Option<String>,
}

impl Difference {
    /// The column with both values.
    pub fn words(&self) -> String {
        format!("{} {}", self.header, self.values())
    }

    /// Both values, as words that follow the name of the column.
    pub fn values(&self) -> String {
        let said =
            |value: &Option<String>| value.as_ref().map_or("blank".to_owned(), |value| format!("'{value}'"));
        format!("was {}, is {} now", said(&self.earlier), said(&self.now))
    }
}

/// A statement over the rows that differ from a record that is there: place, columns, and the newest place of a row with
/// the same job, or of one that has changed the record or says by hand what it has: a row of an export that changed nothing says
/// what the service showed. Of what a change of a device names only the device is changed, and not its site: the numbers are those
/// of the roles. It begins with the few that differ (CROSS JOIN), however many rows there are.
macro_rules! differing {
    () => {
        "SELECT difference.place AS place, difference.columns AS columns,
             (SELECT max(later.place) FROM sheet_row AS later WHERE later.job IN (
                  SELECT job.id UNION ALL
                  SELECT changing.id FROM link JOIN job AS changing ON changing.id = link.job
                  JOIN kind_name ON kind_name.id = changing.kind
                  WHERE link.target_job = job.id
                    AND (changing.state = 'done' OR changing.state = 'existing' AND NOT EXISTS (
                        SELECT 1 FROM step LEFT JOIN shape ON shape.id = step.shape
                        WHERE step.id BETWEEN changing.id << 16 AND changing.id << 16 | 65535
                          AND instr(coalesce(shape.text, step.action), '\"exported\":') > 0))
                    AND (kind_name.name, link.role)
                        IN (VALUES ('company update', 1), ('device update', 2), ('site update', 4)))) AS newest
         FROM difference CROSS JOIN sheet_row ON sheet_row.place = difference.place
             CROSS JOIN job ON job.id = sheet_row.job
         WHERE job.state IN ('created', 'adopted', 'existing', 'done')"
    };
}
pub(in crate::journal) use differing;

/// Whether rows between two places differ.
pub(in crate::journal) fn any(connection: &Connection, range: (i64, i64)) -> Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM difference WHERE place BETWEEN ?1 AND ?2)";
    Ok(connection.prepare_cached(any)?.query_row(range, |row| row.get(0))?)
}

/// In what the row at a place differs. Read row by row: all of a sheet may.
pub(in crate::journal) fn of_place(connection: &Connection, place: i64) -> Result<Vec<Difference>> {
    let columns: Option<String> = connection
        .prepare_cached("SELECT columns FROM difference WHERE place = ?1")?
        .query_row([place], |row| row.get(0))
        .optional()?;
    columns.map_or(Ok(Vec::new()), |columns| list(&columns))
}

pub(in crate::journal) fn list(columns: &str) -> Result<Vec<Difference>> {
    serde_json::from_str(columns).map_err(|error| damaged("the differences of a row", error))
}

impl View {
    /// The import that has the newest row of a job, where that row differs from it.
    pub fn with_other_values(&self, job: JobId) -> Result<Option<ImportId>> {
        let newest = "SELECT sheet.import FROM difference JOIN sheet ON sheet.id = difference.place >> 32
             WHERE difference.place = (SELECT max(place) FROM sheet_row WHERE job = ?1)";
        Ok(self.connection.prepare_cached(newest)?.query_row([job], |row| row.get(0)).optional()?)
    }

    /// How many rows of an import, or of all, differ from the record that was made earlier, and have not come again since
    /// in a later import, nor been changed by one.
    pub fn differing(&self, import: Option<ImportId>) -> Result<u64> {
        let range = row_ref::range_of_any(&self.connection, import)?;
        Ok(self
            .connection
            .prepare_cached(concat!(
                "SELECT count(*) FROM (",
                differing!(),
                ") WHERE newest = place AND place BETWEEN ?1 AND ?2"
            ))?
            .query_row(range, |row| Ok(natural(row.get(0)?)))?)
    }
}
