//! Sheets set aside: their rows stay as they are and are not handed out. Kept in memory, for the run that holds the
//! journal; a later run begins with none.

use super::{Journal, SheetId, place};
use crate::error::Result;
use crate::model::id::ImportId;

/// A sheet that was set aside, as people know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelved {
    /// Its import.
    pub import: ImportId,
    /// The file's name as it was given.
    pub file: String,
    /// The worksheet within a workbook.
    pub worksheet: Option<String>,
}

impl Journal {
    /// Sets a sheet aside: [`Journal::ready`] hands out no row that it was the last to name.
    pub fn shelve(&mut self, sheet: SheetId) -> Result<Shelved> {
        self.shelved.insert(sheet);
        Ok(self
            .connection
            .prepare_cached("SELECT import, file, worksheet FROM sheet WHERE id = ?1")?
            .query_row([sheet], |row| {
                Ok(Shelved { import: row.get(0)?, file: row.get(1)?, worksheet: row.get(2)? })
            })?)
    }

    /// Takes a sheet up again.
    pub fn unshelve(&mut self, sheet: SheetId) {
        self.shelved.remove(&sheet);
    }

    /// Rows that this sheet was the last to name and that could be sent.
    pub fn unsent(&self, sheet: SheetId) -> Result<u64> {
        let (first, last) = place::range(sheet);
        let count: i64 = self
            .connection
            .prepare_cached(
                "SELECT count(*) FROM (
                     SELECT sheet_row.job FROM sheet_row JOIN job ON job.id = sheet_row.job
                     WHERE sheet_row.place BETWEEN ?1 AND ?2 AND (job.state = 'ready' OR job.state = 'deferred')
                       AND NOT EXISTS (SELECT 1 FROM sheet_row AS later
                                       WHERE later.job = sheet_row.job AND later.place > ?2)
                     GROUP BY sheet_row.job)",
            )?
            .query_row([first, last], |row| row.get(0))?;
        Ok(super::column::natural(count))
    }

    /// The sheets set aside, as SQL takes a list.
    pub(super) fn shelved(&self) -> String {
        let sheets: Vec<String> = self.shelved.iter().map(SheetId::to_string).collect();
        format!("[{}]", sheets.join(","))
    }
}
