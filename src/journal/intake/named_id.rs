//! The ids by which rows name records of the service that no row creates: noted when rows come in, verified once by look-ups
//! before a run, and the rows that name one.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Transaction;

use crate::error::Result;
use crate::journal::file::column::Id;
use crate::journal::state::transition;
use crate::journal::{Journal, View};
use crate::model::digest::hexadecimal;
use crate::model::id::check::NamedId;
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::model::time::Moment;
use crate::model::verdict::Rejection;

/// The condition of a job that waits and was never sent.
macro_rules! waits_unsent {
    () => {
        "(job.state = 'ready' OR job.state = 'blocked' OR job.state = 'deferred') AND job.attempts = 0"
    };
}

/// Ids that a row names, each with what its record is to the row.
pub type Named = [(NamedId, Role)];

/// A row that waits to be sent and names a record by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamingRow {
    /// What the record is to the row.
    pub role: Role,
    /// The name of its file.
    pub file: String,
    /// The worksheet, in a workbook.
    pub worksheet: Option<String>,
    /// The kind of its rows.
    pub kind: Kind,
    /// The headers of its sheet.
    pub headers: Vec<String>,
    /// Its number in the sheet.
    pub row: u32,
    /// The import that brought it last.
    pub import: ImportId,
}

/// Notes ids that rows name; one that was verified stays so.
pub(in crate::journal) fn add(transaction: &Transaction<'_>, named: &BTreeSet<NamedId>) -> Result<()> {
    let mut insert = transaction
        .prepare_cached("INSERT INTO named_id (kind, id) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    for (kind, id) in named {
        insert.execute((*kind, Id(*id)))?;
    }
    Ok(())
}

impl Journal {
    /// Notes that look-ups showed the records with these ids. Only ids that rows name are kept.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_verified<'a>(
        &mut self,
        ids: impl IntoIterator<Item = &'a NamedId>,
        at: Moment,
    ) -> Result<()> {
        let transaction = self.begin()?;
        {
            let mut update = transaction
                .prepare_cached("UPDATE named_id SET verified_at = ?3 WHERE kind = ?1 AND id = ?2")?;
            for (kind, id) in ids {
                update.execute((*kind, Id(*id), at))?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// ready, deferred or blocked → rejected, of the rows that name records by these ids and were never sent; what is blocked
    /// below them → skipped. `rejection` says why, for a kind of row and the ids that it names, each with what its record is to
    /// the row. How many there are.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn reject_naming(
        &mut self,
        ids: &[NamedId],
        rejection: &dyn Fn(Kind, &Named) -> Rejection,
        at: Moment,
    ) -> Result<u64> {
        let transaction = self.begin()?;
        let rejections: Vec<(JobId, Rejection)> = naming(&transaction, ids)?
            .into_iter()
            .map(|(job, (kind, named))| (job, rejection(kind, &named)))
            .collect();
        transition::reject_unsent(&transaction, &rejections, at)?;
        transaction.commit()?;
        Ok(rejections.len() as u64)
    }
}

/// Rows by their jobs, each with its kind and what it names.
type NamingRows = BTreeMap<JobId, (Kind, Vec<(NamedId, Role)>)>;

/// The rows that were never sent and name records by these ids.
fn naming(transaction: &Transaction<'_>, ids: &[NamedId]) -> Result<NamingRows> {
    // All of them in one pass: links by id have no index.
    let mut statement = transaction.prepare_cached(concat!(
        "SELECT job.id, job.kind, link.role, link.target_id FROM link JOIN job ON job.id = link.job
         WHERE link.target_id IN (SELECT unhex(value) FROM json_each(?1)) AND ",
        waits_unsent!()
    ))?;
    let wanted: BTreeSet<NamedId> = ids.iter().copied().collect();
    let hex: Vec<String> = wanted.iter().map(|(_, id)| hexadecimal(id.as_bytes())).collect();
    let mut rows = statement.query([serde_json::json!(hex).to_string()])?;
    let mut naming = NamingRows::new();
    while let Some(row) = rows.next()? {
        let (job, of_row, role): (JobId, Kind, Role) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let Id(id) = row.get(3)?;
        let named = (role.target(), id);
        if wanted.contains(&named) {
            naming.entry(job).or_insert((of_row, Vec::new())).1.push((named, role));
        }
    }
    Ok(naming)
}

impl View {
    /// The ids by which rows that wait to be sent name records, and which no look-up has shown yet.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn unverified_ids(&self) -> Result<Vec<NamedId>> {
        let any = "SELECT EXISTS (SELECT 1 FROM named_id WHERE verified_at IS NULL)";
        if !self.connection.prepare_cached(any)?.query_row([], |row| row.get::<_, bool>(0))? {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare_cached(concat!(
            "SELECT DISTINCT link.role, link.target_id FROM link JOIN job ON job.id = link.job
             WHERE link.target_id IN (SELECT id FROM named_id WHERE verified_at IS NULL) AND ",
            waits_unsent!()
        ))?;
        let mut rows = statement.query([])?;
        let mut ids = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let (role, Id(id)): (Role, Id) = (row.get(0)?, row.get(1)?);
            ids.insert((role.target(), id));
        }
        let verified = "SELECT verified_at IS NOT NULL FROM named_id WHERE kind = ?1 AND id = ?2";
        let mut verified = self.connection.prepare_cached(verified)?;
        let mut unverified = Vec::with_capacity(ids.len());
        for (kind, id) in ids {
            if !verified.query_row((kind, Id(id)), |row| row.get::<_, bool>(0))? {
                unverified.push((kind, id));
            }
        }
        Ok(unverified)
    }

    /// Whether a row of an import named a record by this id, and where `verified` a look-up showed it, or the record is that of
    /// a row.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn is_named(&self, (kind, id): NamedId, verified: bool) -> Result<bool> {
        let known =
            "SELECT EXISTS (SELECT 1 FROM named_id WHERE kind = ?1 AND id = ?2 AND (NOT ?3 OR verified_at IS NOT NULL))
                 OR EXISTS (SELECT 1 FROM job WHERE kind = ?1 AND remote_id = ?2)";
        Ok(self.connection.prepare_cached(known)?.query_row((kind, Id(id), verified), |row| row.get(0))?)
    }

    /// The first rows that wait to be sent and name a record by this id, and how many there are.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn rows_naming(&self, (kind, id): NamedId, most: usize) -> Result<(Vec<NamingRow>, u64)> {
        let mut statement = self.connection.prepare_cached(concat!(
            "SELECT link.role, sheet.file, sheet.worksheet, sheet.kind, sheet.headers,
                 max(sheet_row.place) & 4294967295, sheet.import
             FROM link JOIN job ON job.id = link.job JOIN sheet_row ON sheet_row.job = job.id
             JOIN sheet ON sheet.id = sheet_row.place >> 32
             WHERE link.target_id = ?1 AND ",
            waits_unsent!(),
            " GROUP BY link.job, link.role ORDER BY max(sheet_row.place)"
        ))?;
        let mut rows = statement.query([Id(id)])?;
        let (mut naming, mut count) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let role: Role = row.get(0)?;
            if role.target() != kind {
                continue;
            }
            count += 1;
            if naming.len() < most {
                let headers: String = row.get(4)?;
                naming.push(NamingRow {
                    role,
                    file: row.get(1)?,
                    worksheet: row.get(2)?,
                    kind: row.get(3)?,
                    // Written by us; of a sheet whose headers cannot be read the row is named without its column.
                    headers: serde_json::from_str(&headers).unwrap_or_default(),
                    row: row.get(5)?,
                    import: row.get(6)?,
                });
            }
        }
        Ok((naming, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Disposition;
    use crate::journal::fixture::{at, bench, code, device, id, link, row, sheet, site, state};
    use crate::journal::state::dependents::record_order;
    use crate::model::action::Turn;
    use crate::model::record::{Link, Target};
    use crate::model::state::JobState;

    #[test]
    fn ids_that_waiting_rows_name_are_asked_for_until_a_look_up_has_shown_them() {
        let mut bench = bench();
        let named = |role, number| Link { role, target: Target::Remote(id(number)) };
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let sheet = import.sheet(&sheet("any", Kind::Site)).unwrap();
        let first = import.add_job(&site("a", vec![named(Role::Company, 1)], Vec::new())).unwrap();
        let second = import.add_job(&site("b", vec![named(Role::Company, 1)], Vec::new())).unwrap();
        let third = import.add_job(&site("c", vec![named(Role::Company, 2)], Vec::new())).unwrap();
        // The same id as that of another kind of record is another one.
        let fourth = import
            .add_job(&site("d", vec![named(Role::Device, 2), link(Role::Company, first)], Vec::new()))
            .unwrap();
        for (number, job) in [(2, first), (3, second), (4, third), (5, fourth)] {
            import.row(&row(sheet, number, job, Disposition::New)).unwrap();
        }
        let import = import.finish().unwrap().import;
        let journal = &mut bench.journal;
        let (company, other, device) =
            ((Kind::Company, id(1)), (Kind::Company, id(2)), (Kind::Device, id(2)));
        assert_eq!(journal.unverified_ids().unwrap(), [company, other, device]);

        journal.note_verified(&[other], at(2)).unwrap();
        assert_eq!(journal.unverified_ids().unwrap(), [company, device]);
        assert!(journal.is_named(other, true).unwrap() && !journal.is_named(device, true).unwrap());

        let (rows, count) = journal.rows_naming(company, 1).unwrap();
        assert_eq!(count, 2);
        let places: Vec<_> = rows.iter().map(|row| (row.role, row.row, row.import)).collect();
        assert_eq!(places, [(Role::Company, 2, import)]);
        assert_eq!(journal.rows_naming((Kind::Site, id(1)), 9).unwrap(), (Vec::new(), 0));

        let unknown = |_, _: &Named| Rejection {
            code: "ref.unknown-id".into(),
            message: "no such device".into(),
            violations: Vec::new(),
        };
        assert_eq!(journal.reject_naming(&[device], &unknown, at(3)).unwrap(), 1);
        assert_eq!(journal.tally(None).unwrap().in_state(JobState::Rejected), 1);
        assert_eq!(journal.unverified_ids().unwrap(), [company], "rejected rows wait for nothing");

        journal.note_verified(&[company, device, (Kind::Site, id(9))], at(3)).unwrap();
        assert_eq!(journal.unverified_ids().unwrap(), []);
        assert!(!journal.is_named((Kind::Site, id(9)), true).unwrap(), "no row names it");
        assert!(
            journal.is_named(device, false).unwrap()
                && !journal.is_named((Kind::Site, id(9)), false).unwrap()
        );
    }

    #[test]
    fn a_row_below_another_one_that_names_an_unknown_id_has_its_own_reason_if_it_names_one() {
        let mut bench = bench();
        let named = |role, number| Link { role, target: Target::Remote(id(number)) };
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let sheet = import.sheet(&sheet("any", Kind::Site)).unwrap();
        let parent = import.add_job(&site("parent", vec![named(Role::Company, 1)], Vec::new())).unwrap();
        let below = |own: Option<Link>| own.into_iter().chain([link(Role::Site, parent)]).collect();
        let jobs = [
            ("same id", Some(named(Role::Company, 1))),
            ("another id", Some(named(Role::Company, 2))),
            ("no id", None),
            ("an id that is there", Some(named(Role::Company, 3))),
        ]
        .map(|(name, own)| import.add_job(&device(name, below(own), Vec::new())).unwrap());
        for (number, job) in (2..).zip([parent].into_iter().chain(jobs)) {
            import.row(&row(sheet, number, job, Disposition::New)).unwrap();
        }
        import.finish().unwrap();
        let journal = &mut bench.journal;
        let why = |_, named: &Named| Rejection {
            code: "ref.unknown-id".into(),
            message: format!("{} unknown", named.len()),
            violations: Vec::new(),
        };
        let ids = [(Kind::Company, id(1)), (Kind::Company, id(2))];
        assert_eq!(journal.reject_naming(&ids, &why, at(3)).unwrap(), 3);
        let told = [parent].into_iter().chain(jobs).map(|job| (state(journal, job), code(journal, job)));
        let told: Vec<_> = told.map(|(state, code)| (state, code.unwrap_or_default())).collect();
        let [unknown, below] = ["ref.unknown-id", "parent.rejected"].map(str::to_owned);
        assert_eq!(
            told,
            [
                (JobState::Rejected, unknown.clone()),
                (JobState::Rejected, unknown.clone()),
                (JobState::Rejected, unknown),
                (JobState::Skipped, below.clone()),
                (JobState::Skipped, below),
            ]
        );
        assert_eq!(journal.reject_naming(&ids, &why, at(4)).unwrap(), 0, "all of it is reported");
    }

    #[test]
    fn rows_that_come_after_a_rejected_one_about_the_same_record_go_on() {
        let mut bench = bench();
        let named = |number| Link { role: Role::Company, target: Target::Remote(id(number)) };
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let sheet = import.sheet(&sheet("any", Kind::Site)).unwrap();
        let jobs = [1, 2].map(|number| {
            import.add_job(&site(&format!("site {number}"), vec![named(number)], Vec::new())).unwrap()
        });
        for (number, job) in (2..).zip(jobs) {
            import.row(&row(sheet, number, job, Disposition::New)).unwrap();
        }
        import.finish().unwrap();
        let journal = &mut bench.journal;
        for (job, turn) in jobs.into_iter().zip([Turn::Put, Turn::Configure]) {
            record_order::note(&journal.connection, job, "a device", turn).unwrap();
        }
        record_order::keep(&journal.connection, "a device").unwrap();
        assert_eq!(jobs.map(|job| state(journal, job)), [JobState::Ready, JobState::Blocked]);
        let why = |_, _: &Named| Rejection {
            code: "ref.unknown-id".into(),
            message: "unknown".into(),
            violations: Vec::new(),
        };
        journal.reject_naming(&[(Kind::Company, id(1))], &why, at(3)).unwrap();
        assert_eq!(jobs.map(|job| state(journal, job)), [JobState::Rejected, JobState::Ready]);
    }
}
