//! What rows refer to and no row creates: records by their ids, and hardware models by their names. A rehearsal takes
//! them as present.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::Id;
use crate::journal::state::step::text;
use crate::journal::stored_row::{StoredTexts, stored_action};
use crate::model::id::{ImportId, RemoteId};
use crate::model::operation::Operation;
use crate::model::record::{Record, Role};

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Referenced {
    /// Records by their ids, those first that were named first: where rows disagree what an id is, later ones are wrong.
    pub records: Vec<(RemoteId, Noun)>,
    /// Hardware models.
    pub models: Vec<String>,
}

/// What a row takes a record for that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    /// A company: the parent, or the one that the row belongs to.
    Company,
    /// The site that a device is put in.
    Site {
        /// The company of the device, where that is named by its id too.
        company: Option<RemoteId>,
    },
    /// The device that another one is copied from.
    Device,
    /// An enterprise template.
    Template,
    /// A VPN cloud.
    Cloud,
}

impl View {
    /// The import that came last. What rows refer to changes with an import only.
    pub fn latest_import(&self) -> Result<Option<ImportId>> {
        let mut statement = self.connection.prepare_cached("SELECT max(id) FROM import")?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// What the rows of all imports refer to and no row creates.
    pub fn referenced(&self) -> Result<Referenced> {
        let mut statement = self.connection.prepare(
            "SELECT min(job), role, operation, id, max(owner) FROM (
                 SELECT link.job, link.role, NULL AS operation, link.target_id AS id, company.target_id AS owner
                 FROM link LEFT JOIN link AS company
                     ON link.role = ?3 AND company.job = link.job AND company.role = ?4
                 WHERE link.target_id IS NOT NULL
                 UNION ALL
                 SELECT job, NULL, operation, json_extract(action, '$.value'), NULL FROM step
                 WHERE (operation = ?1 OR operation = ?2) AND json_type(action, '$.value') = 'text')
             GROUP BY role, operation, id
             ORDER BY 1, role IS NULL OR role NOT IN (?4, ?5), role IS NULL, role, operation, id",
        )?;
        let (template, cloud) = (Operation::SubscribeTemplate, Operation::AddDeviceToVpnCloud);
        let mut rows = statement.query((template, cloud, Role::Site, Role::Company, Role::Parent))?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            let operation: Option<Operation> = row.get(2)?;
            let noun = match row.get::<_, Option<Role>>(1)? {
                Some(Role::Parent | Role::Company) => Noun::Company,
                Some(Role::Site) => {
                    Noun::Site { company: row.get::<_, Option<Id>>(4)?.map(|Id(company)| company) }
                }
                Some(Role::Template | Role::Device) => Noun::Device,
                None if operation == Some(template) => Noun::Template,
                None => Noun::Cloud,
            };
            let Id(id) = row.get(3)?;
            records.push((id, noun));
        }
        Ok(Referenced { records, models: self.models()? })
    }

    fn models(&self) -> Result<Vec<String>> {
        let mut models = BTreeSet::new();
        let mut texts = StoredTexts::of(&self.connection);
        let mut statement = self.connection.prepare(concat!(
            "SELECT ",
            stored_action!("step"),
            " FROM step WHERE n = 0 AND (operation = ?1 OR operation = ?2)"
        ))?;
        let mut rows = statement.query((Operation::AddDevice, Operation::AddDeviceFromTemplate))?;
        while let Some(row) = rows.next()? {
            if let Some(Record::Device(device)) = texts.action(text(row, 0)?)?.record()
                && let Some(model) = &device.device_model
                && !models.contains(model.as_str())
            {
                models.insert(model.to_string());
            }
        }
        Ok(models.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::{at, bench, company, id, link, sheet, site};
    use crate::model::kind::Kind;
    use crate::model::record::{Link, Target};

    #[test]
    fn records_named_by_their_ids_are_told_by_kind_and_those_that_rows_create_are_not() {
        let mut bench = bench();
        assert_eq!(bench.journal.latest_import().unwrap(), None);
        let named = |role, number| Link { role, target: Target::Remote(id(number)) };
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        import.sheet(&sheet("any", Kind::Company)).unwrap();
        let acme = import.add_job(&company("acme", vec![named(Role::Parent, 1)])).unwrap();
        import.add_job(&company("below", vec![link(Role::Parent, acme)])).unwrap();
        for (name, owner) in [("a", named(Role::Company, 2)), ("b", named(Role::Company, 2))] {
            import.add_job(&site(name, vec![owner], Vec::new())).unwrap();
        }
        // What a device has is reported of any row: the journal does not look at its kind.
        let device = vec![named(Role::Company, 1), named(Role::Site, 3), named(Role::Template, 4)];
        import.add_job(&site("c", device, Vec::new())).unwrap();
        let elsewhere = vec![link(Role::Company, acme), named(Role::Site, 5)];
        import.add_job(&site("d", elsewhere, Vec::new())).unwrap();
        let finished = import.finish().unwrap().import;
        assert_eq!(bench.journal.latest_import().unwrap(), Some(finished));
        let expected = [
            (id(1), Noun::Company),
            (id(2), Noun::Company),
            (id(1), Noun::Company),
            (id(3), Noun::Site { company: Some(id(1)) }),
            (id(4), Noun::Device),
            (id(5), Noun::Site { company: None }),
        ];
        assert_eq!(bench.journal.referenced().unwrap().records, expected);
    }
}
