//! The companies of an import as a tree, with what belongs to each: for the report that shows it.
//!
//! Bounded: of a huge import the first companies only, with how many there are. What belongs to a company is counted
//! by SQLite.

use std::collections::HashMap;

use rusqlite::Params;

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::{Id, count, natural};
use crate::journal::state::dependents::changed_record;
use crate::journal::state::step::text;
use crate::journal::stored_row::{StoredTexts, stored_action};
use crate::journal::view::every_row::rows_with_job;
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::model::state::JobState;
use crate::model::tally::Tally;

/// Where a company hangs, or what hangs below one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Above {
    /// A company of the journal.
    Job(JobId),
    /// A record of the service that no row made.
    Remote(RemoteId),
    /// Nothing is known of it.
    Nothing,
}

/// A company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyNode {
    /// Its job.
    pub job: JobId,
    /// Its name, as the row has it.
    pub name: String,
    /// Where the job stands.
    pub state: JobState,
    /// What it belongs to.
    pub above: Above,
}

/// The companies of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompanyTree {
    /// The first of its companies, in the order of their rows.
    pub companies: Vec<CompanyNode>,
    /// How many there are.
    pub total: u64,
    /// Companies that rows, or the devices and sites that rows are about, belong to and that are not among those above, by
    /// their jobs: from an earlier import, or left out.
    pub others: Vec<CompanyNode>,
    /// What the other rows of the import are about, counted at the company that each belongs to.
    pub belongings: Vec<(Above, Tally)>,
    /// Rows about records of which the journal knows no company: they are named by ids that no row made.
    pub elsewhere: u64,
    /// Rows that were not imported: what they are about is nowhere in the tree.
    pub not_imported: u64,
}

impl View {
    /// The companies of an import, at most `most` of them, with what belongs to each.
    pub fn company_tree(&self, import: ImportId, most: usize) -> Result<CompanyTree> {
        let total: i64 = self
            .connection
            .prepare_cached(rows_with_job!(
                "SELECT count(DISTINCT job.id) FROM ",
                " AS own JOIN job ON job.id = own.job WHERE job.kind = ?2"
            ))?
            .query_row((import, Kind::Company), |row| row.get(0))?;
        let companies = self.nodes(
            concat!(
                "SELECT job.id, ",
                stored_action!("step"),
                rows_with_job!(
                    ", job.state, link.target_job, link.target_id FROM ",
                    " AS own JOIN job ON job.id = own.job JOIN step ON step.id = job.id << 16
             LEFT JOIN link ON link.job = job.id AND link.role = ?4
             WHERE job.kind = ?3 GROUP BY job.id ORDER BY min(own.place) LIMIT ?2"
                )
            ),
            (import, count(most), Kind::Company, Role::Parent),
        )?;
        let others = self.nodes(
            concat!(
                "SELECT job.id, ",
                stored_action!("step"),
                ", job.state, link.target_job, link.target_id FROM job
             JOIN step ON step.id = job.id << 16
             LEFT JOIN link ON link.job = job.id AND link.role = ?4
             WHERE job.kind = ?3 AND job.id IN (
                 SELECT owner.target_job FROM ",
                rows_with_job!(
                    "",
                    " AS own JOIN link AS owner ON owner.job = own.job AND owner.role IN (?4, ?5)
                 UNION SELECT above.target_job FROM "
                ),
                rows_with_job!(
                    "",
                    " AS own JOIN link AS about ON about.job = own.job AND about.role IN (?6, ?7)
                 JOIN link AS above ON above.job = about.target_job AND above.role = ?5
                 WHERE NOT EXISTS (SELECT 1 FROM link WHERE link.job = own.job AND link.role = ?5))
             AND NOT EXISTS (
                 SELECT 1 FROM sheet_row AS own JOIN sheet ON sheet.id = own.place >> 32
                 WHERE own.job = job.id AND sheet.import = ?1)
             AND job.id NOT IN (
                 SELECT left_out.job FROM sheet
                 JOIN left_out ON left_out.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
                 WHERE sheet.import = ?1 AND left_out.job IS NOT NULL)
             ORDER BY job.id LIMIT ?2"
                )
            ),
            (import, count(most), Kind::Company, Role::Parent, Role::Company, Role::Device, Role::Site),
        )?;
        let (belongings, elsewhere) = self.belongings(import, most)?;
        let not_imported = self
            .connection
            .prepare_cached(
                "SELECT count(*) FROM sheet
                 JOIN left_out ON left_out.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
                 WHERE sheet.import = ?1 AND left_out.job IS NULL",
            )?
            .query_row([import], |row| row.get(0))?;
        let (total, not_imported) = (natural(total), natural(not_imported));
        Ok(CompanyTree { companies, total, others, belongings, elsewhere, not_imported })
    }

    fn nodes(&self, sql: &str, values: impl Params) -> Result<Vec<CompanyNode>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let (mut nodes, mut texts) = (Vec::new(), StoredTexts::of(&self.connection));
        let awaited = self.awaited();
        while let Some(row) = rows.next()? {
            let action = texts.action(text(row, 1)?)?;
            let Some(record) = action.record() else { continue };
            let job = row.get(0)?;
            nodes.push(CompanyNode {
                job,
                name: changed_record::as_updated(&self.connection, job, record)?.name().to_owned(),
                state: awaited.state(row.get(2)?),
                above: above(row.get(3)?, row.get::<_, Option<Id>>(4)?),
            });
        }
        Ok(nodes)
    }

    /// What belongs to each company, those of the first companies where there are too many; and how many rows belong to no
    /// company that is known. A row that names no company belongs to that of its device, or else of its site.
    fn belongings(&self, import: ImportId, most: usize) -> Result<(Vec<(Above, Tally)>, u64)> {
        let mut statement = self.connection.prepare_cached(rows_with_job!(
            "SELECT coalesce(own.target_job, above.target_job), coalesce(own.target_id, above.target_id), job.kind,
                job.state, count(*) FROM ",
            " AS named JOIN job ON job.id = named.job
             LEFT JOIN link AS own ON own.job = job.id AND own.role = ?2
             LEFT JOIN link AS about ON own.job IS NULL AND about.job = job.id AND about.role = (
                 SELECT min(role) FROM link WHERE link.job = job.id AND role IN (?4, ?5))
             LEFT JOIN link AS above ON above.job = about.target_job AND above.role = ?2
             WHERE job.kind <> ?3 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        ))?;
        let mut rows = statement.query((import, Role::Company, Kind::Company, Role::Device, Role::Site))?;
        let (mut belongings, mut elsewhere): (Vec<(Above, Tally)>, u64) = (Vec::new(), 0);
        let awaited = self.awaited();
        let mut known: HashMap<Above, usize> = HashMap::new();
        while let Some(row) = rows.next()? {
            let owner = above(row.get(0)?, row.get::<_, Option<Id>>(1)?);
            let count = natural(row.get(4)?);
            if owner == Above::Nothing {
                elsewhere += count;
                continue;
            }
            let place = match known.get(&owner) {
                Some(&place) => place,
                // The tree shows no more companies than this either.
                None if belongings.len() >= 2 * most => continue,
                None => {
                    known.insert(owner, belongings.len());
                    belongings.push((owner, Tally::default()));
                    belongings.len() - 1
                }
            };
            belongings[place].1.add(row.get(2)?, awaited.state(row.get(3)?), count);
        }
        Ok((belongings, elsewhere))
    }
}

fn above(job: Option<JobId>, id: Option<Id>) -> Above {
    match (job, id) {
        (Some(job), _) => Above::Job(job),
        (None, Some(id)) => Above::Remote(id.0),
        (None, None) => Above::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;
    use crate::journal::{Disposition, NewJob, NewRow};
    use crate::model::action::{Action, OwnedLabel, Owner};
    use crate::model::content_hash::ContentHash;
    use crate::model::kind::Upkeep;
    use crate::model::record::{Link, Target};

    #[test]
    fn companies_hang_where_their_rows_say_and_what_belongs_to_them_is_counted() {
        let mut bench = bench();
        let (first, jobs) = import_companies(&mut bench.journal, &["Top", "Low"], true);
        let mut import = bench.journal.begin_import(at(7)).unwrap();
        import.file("sites.csv", "00").unwrap();
        let sites = import.sheet(&sheet("sites", Kind::Site)).unwrap();
        for (number, name) in [(2, "One"), (3, "Two")] {
            let job = import.add_job(&site(name, vec![link(Role::Company, jobs[1])], vec![])).unwrap();
            let row: NewRow = row(sites, number, job, Disposition::New);
            import.row(&row).unwrap();
        }
        let second = import.finish().unwrap();

        let tree = bench.journal.company_tree(first.import, 10).unwrap();
        let told: Vec<_> = tree.companies.iter().map(|node| (node.name.as_str(), node.above)).collect();
        assert_eq!(told[1], ("Low", Above::Job(jobs[0])));
        assert_eq!((tree.total, told[0].0, tree.others.len()), (2, "Top", 0));
        assert_eq!(bench.journal.company_tree(first.import, 1).unwrap().companies.len(), 1);

        let tree = bench.journal.company_tree(second.import, 10).unwrap();
        assert_eq!((tree.total, tree.others[0].name.as_str()), (0, "Low"));
        let (owner, tally) = &tree.belongings[0];
        assert_eq!((*owner, tally.of_kind(Kind::Site)), (Above::Job(jobs[1]), 2));
    }

    #[test]
    fn rows_about_a_device_are_counted_at_its_company() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Top", "Low"], true);
        let mut import = bench.journal.begin_import(at(7)).unwrap();
        import.file("devices.xlsx", "00").unwrap();
        let [devices, labels] = [("devices", Kind::Device), ("labels", Kind::Upkeep(Upkeep::Labels))]
            .map(|(name, kind)| import.sheet(&sheet(name, kind)).unwrap());
        let made = import.add_job(&device("Gateway", vec![link(Role::Company, jobs[1])], vec![])).unwrap();
        import.row(&row(devices, 2, made, Disposition::New)).unwrap();
        let unknown = Link { role: Role::Device, target: Target::Remote(RemoteId::from_u128(9)) };
        for (number, about) in [(2, link(Role::Device, made)), (3, unknown)] {
            let label = OwnedLabel { owner: Owner::Device, label: "north".into() };
            let job = import.add_job(&NewJob {
                kind: Kind::Upkeep(Upkeep::Labels),
                sheet_key: None,
                name: "north".to_owned(),
                natural_key: format!("label {number}"),
                content_hash: ContentHash::OF_NO_ROW,
                links: vec![about],
                steps: vec![Action::PutLabel(label)],
            });
            let job = job.unwrap();
            import.row(&row(labels, number, job, Disposition::New)).unwrap();
        }
        let imported = import.finish().unwrap();

        let tree = bench.journal.company_tree(imported.import, 10).unwrap();
        let [(owner, tally)] = &*tree.belongings else { panic!("{:?}", tree.belongings) };
        assert_eq!(*owner, Above::Job(jobs[1]));
        assert_eq!((tally.of_kind(Kind::Device), tally.of_kind(Kind::Upkeep(Upkeep::Labels))), (1, 1));
        assert_eq!(tree.elsewhere, 1);
    }
}
