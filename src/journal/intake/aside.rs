//! The indexes of what an import fills, put aside while the first import of a journal writes its rows.
//!
//! Built when all rows are there, an index is sorted once instead of being searched for the place of every entry. All of
//! it happens in the transaction of the import: undone, it leaves the indexes as they were. Their texts are those of the
//! schema, as SQLite keeps them.

use rusqlite::{Connection, Transaction};

use crate::error::Result;
use crate::journal::ImportWriter;
use crate::model::id::ImportId;

/// The first import of a journal.
const FIRST: ImportId = ImportId(1);

/// Page cache in KiB meanwhile, and what is sorted in memory at once: rows only ever go to the end of their tables.
const CACHE_KIB: i64 = 16_384;

/// The indexes in which new rows have entries, and which nothing asks while rows are placed. Others stay: to build one
/// that is empty its whole table has to be read.
const NAMES: [&str; 8] = [
    "job_natural_key",
    "job_sheet_key",
    "job_name",
    "job_blocked",
    "job_ready",
    "link_target",
    "step_waiting",
    "sheet_row_of_job",
];

/// What is put aside.
#[derive(Debug, Default)]
pub(in crate::journal) struct Aside {
    /// The statements that make the indexes.
    statements: Vec<String>,
    /// The page cache as it was, when it is another one now; that of an import that is undone stays small.
    cache: Option<i64>,
}

impl Aside {
    /// Puts the indexes aside for the first import, and none for a later one. What SQLite cannot sort in memory lies
    /// in its folder for temporary files for a moment.
    pub(in crate::journal) fn of(transaction: &Transaction<'_>, import: ImportId) -> Result<Self> {
        if import != FIRST {
            return Ok(Self::default());
        }
        let cache: i64 = transaction.pragma_query_value(None, "cache_size", |row| row.get(0))?;
        // A number of pages, or of KiB where it is negative; a smaller one was chosen on purpose.
        if cache < -CACHE_KIB {
            transaction.pragma_update(None, "cache_size", -CACHE_KIB)?;
        }
        let mut text_of =
            transaction.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1")?;
        let mut statements = Vec::with_capacity(NAMES.len());
        for name in NAMES {
            statements.push(text_of.query_row([name], |row| row.get(0))?);
            transaction.execute_batch(&format!("DROP INDEX {name}"))?;
        }
        Ok(Self { statements, cache: Some(cache) })
    }

    /// Builds them.
    fn build(&mut self, connection: &Connection) -> Result<()> {
        for statement in self.statements.drain(..) {
            connection.execute_batch(&statement)?;
        }
        Ok(())
    }

    /// Gives the journal its page cache again, when everything of the import is written and read.
    pub(in crate::journal) fn end(self, connection: &Connection) -> Result<()> {
        if let Some(cache) = self.cache {
            connection.pragma_update(None, "cache_size", cache)?;
        }
        Ok(())
    }
}

impl ImportWriter<'_> {
    /// Whether nothing was imported before.
    pub fn is_first(&self) -> bool {
        self.import() == FIRST
    }

    /// All rows are added: what they are looked up by is made of them. Before that looking up jobs of the first import by
    /// key or name takes long.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn complete(&mut self) -> Result<()> {
        self.aside.build(&self.transaction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::{at, bench, company, import_companies, row, sheet};
    use crate::journal::{Disposition, Journal};
    use crate::model::kind::Kind;

    fn schema(journal: &Journal) -> Vec<(String, Option<String>)> {
        journal
            .connection
            .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap()
    }

    #[test]
    fn the_first_import_leaves_the_indexes_as_they_were_whether_it_is_finished_or_undone() {
        let mut bench = bench();
        let before = schema(&bench.journal);
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        assert!(import.is_first());
        let customers = import.sheet(&sheet("customers", Kind::Company)).unwrap();
        let job = import.add_job(&company("Acme", vec![])).unwrap();
        import.row(&row(customers, 2, job, Disposition::New)).unwrap();
        drop(import);
        assert_eq!(schema(&bench.journal), before);
        for name in ["Acme", "Bolt"] {
            import_companies(&mut bench.journal, &[name], false);
            assert_eq!(schema(&bench.journal), before);
        }
        assert!(!bench.journal.begin_import(at(2)).unwrap().is_first());
        let sound: String =
            bench.journal.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }

    #[test]
    fn indexes_are_put_aside_during_the_first_import_only_and_back_once_it_is_complete() {
        let mut bench = bench();
        let kept = |import: &ImportWriter<'_>| -> usize {
            let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?1)";
            let is_there =
                |name: &str| -> bool { import.transaction.query_row(sql, [name], |row| row.get(0)).unwrap() };
            NAMES.iter().filter(|&name| is_there(name)).count()
        };
        let mut first = bench.journal.begin_import(at(1)).unwrap();
        assert_eq!(kept(&first), 0);
        first.complete().unwrap();
        assert_eq!(kept(&first), NAMES.len());
        first.finish().unwrap();
        assert_eq!(kept(&bench.journal.begin_import(at(2)).unwrap()), NAMES.len());
    }
}
