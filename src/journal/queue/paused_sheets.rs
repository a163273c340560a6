//! Paused sheets: their rows stay as they are and are not handed out. Kept in memory, for the run that holds the journal; a
//! later run begins with none.

use crate::error::Result;
use crate::journal::queue::work::list;
use crate::journal::row_ref;
use crate::journal::{JobQueue, Journal, SheetId, View};
use crate::model::id::ImportId;

/// A paused sheet, as people know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedSheetName {
    /// Its import.
    pub import: ImportId,
    /// The file's name as it was given.
    pub file: String,
    /// The worksheet within a workbook.
    pub worksheet: Option<String>,
}

impl Journal {
    /// The paused sheets, as SQL takes a list.
    pub(in crate::journal) fn paused_sheet_list(&self) -> String {
        list(&self.paused_sheets)
    }
}

impl JobQueue<'_> {
    /// Pauses a sheet: [`JobQueue::ready`](crate::journal::JobQueue::ready) hands out no row that it was the last to name.
    pub fn pause_sheet(&mut self, sheet: SheetId) -> Result<PausedSheetName> {
        self.journal.paused_sheets.insert(sheet);
        Ok(self
            .connection
            .prepare_cached("SELECT import, file, worksheet FROM sheet WHERE id = ?1")?
            .query_row([sheet], |row| {
                Ok(PausedSheetName { import: row.get(0)?, file: row.get(1)?, worksheet: row.get(2)? })
            })?)
    }

    /// Resumes a sheet.
    pub fn resume_sheet(&mut self, sheet: SheetId) {
        self.journal.paused_sheets.remove(&sheet);
    }
}

impl View {
    /// Rows that this sheet was the last to name and that could be sent.
    pub fn unsent(&self, sheet: SheetId) -> Result<u64> {
        let (first, last) = row_ref::range(sheet);
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
        Ok(crate::journal::file::column::natural(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;
    use crate::journal::{Disposition, Write};
    use crate::model::id::JobId;
    use crate::model::kind::Kind;
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::Ready;

    fn handed_out(journal: &mut Journal) -> (Vec<JobId>, bool) {
        let page = journal.queue().ready(AddCompany, at(9_000), 10, &[]).unwrap();
        (page.work.iter().map(|work| work.job).collect(), page.next_due.is_some())
    }

    #[test]
    fn a_sheet_set_aside_hands_out_nothing_and_waits_for_nothing_until_it_is_taken_up_again() {
        let mut bench = bench();
        let (_, first) = import_companies(&mut bench.journal, &["A", "B"], false);
        let (second, others) = import_companies(&mut bench.journal, &["C"], false);
        let sheet = bench.journal.work(first[0]).unwrap().unwrap().sheet;
        let later = Write::Postpone {
            job: first[1],
            from: Ready,
            until: at(10_000),
            code: "look-up".into(),
            reason: "the look-up failed".into(),
        };
        apply(&mut bench.journal, later).unwrap();
        assert_eq!(handed_out(&mut bench.journal), (vec![first[0], others[0]], true));
        let paused = bench.journal.queue().pause_sheet(sheet).unwrap();
        assert_eq!((paused.file.as_str(), paused.worksheet), ("customers.csv", None));
        assert_ne!(paused.import, second.import);
        assert_eq!(handed_out(&mut bench.journal), (others, false));
        assert_eq!(bench.journal.unsent(sheet).unwrap(), 2);
        bench.journal.queue().resume_sheet(sheet);
        assert_eq!(handed_out(&mut bench.journal).0.len(), 2);
    }

    #[test]
    fn a_row_that_a_later_sheet_names_belongs_to_that_sheet() {
        let mut bench = bench();
        let (_, all) = import_companies(&mut bench.journal, &["A", "B"], false);
        let old = bench.journal.work(all[0]).unwrap().unwrap().sheet;
        let mut import = bench.journal.begin_import(at(2_000)).unwrap();
        let new = import.sheet(&sheet("corrected", Kind::Company)).unwrap();
        import.row(&row(new, 2, all[0], Disposition::Revised)).unwrap();
        import.finish().unwrap();
        assert_eq!(bench.journal.work(all[0]).unwrap().unwrap().sheet, new);
        bench.journal.queue().pause_sheet(old).unwrap();
        assert_eq!(handed_out(&mut bench.journal).0, [all[0]]);
        assert_eq!((bench.journal.unsent(old).unwrap(), bench.journal.unsent(new).unwrap()), (1, 1));
    }
}
