//! The devices of an import with their ids, companies and sites: for the roll-out, which asks whether each is online.

use rusqlite::OptionalExtension;
use smol_str::SmolStr;

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::{Id, natural};
use crate::journal::row_ref;
use crate::journal::state::dependents::changed_record;
use crate::journal::state::step::text;
use crate::journal::stored_row::{StoredTexts, stored_action};
use crate::journal::view::every_row::rows_with_job;
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::record::{Record, Role};
use crate::model::state::JobState;

/// A device that a row of an import is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceRow {
    /// Its job.
    pub job: JobId,
    /// The sheet of its first row in the import.
    pub sheet: String,
    /// The number of that row.
    pub row: u32,
    /// Its name, as the row has it.
    pub name: String,
    /// Its MAC address, as the row has it.
    pub mac: Option<String>,
    /// Where the job stands.
    pub state: JobState,
    /// The record; `None` until there is one.
    pub id: Option<RemoteId>,
    /// The company it belongs to.
    pub company: Place,
    /// The site it was put in, when its row says so.
    pub site: Option<Place>,
}

/// A company or a site, as far as the journal knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The record; `None` until there is one.
    pub id: Option<RemoteId>,
    /// Its name; `None` where no row of the journal has it.
    pub name: Option<String>,
}

impl Place {
    /// Its name, or its id where no row has a name for it.
    pub fn words(&self) -> String {
        match (&self.name, self.id) {
            (Some(name), _) => name.clone(),
            (None, Some(id)) => id.to_string(),
            (None, None) => "(not known)".to_owned(),
        }
    }
}

impl View {
    /// The devices of an import, in the order of their rows; one that several rows name is there once. Those of rows that it
    /// left out and that a later import has are among them.
    pub fn devices(&self, import: ImportId) -> Result<Vec<DeviceRow>> {
        let mut statement = self.connection.prepare_cached(concat!(
            "SELECT job.id, min(own.place), sheet.name, ",
            stored_action!("step"),
            rows_with_job!(
                ", job.state, job.remote_id,
                 company.target_id, owner.remote_id, owner.name, (
                     SELECT known.name FROM job AS known
                     WHERE known.remote_id = company.target_id AND known.kind = ?2),
                 site.target_id, spot.remote_id, spot.name, (
                     SELECT known.name FROM job AS known
                     WHERE known.remote_id = site.target_id AND known.kind = ?3)
             FROM ",
                " AS own JOIN sheet ON sheet.id = own.place >> 32
             JOIN job ON job.id = own.job AND job.kind = ?4
             JOIN step ON step.id = job.id << 16
             LEFT JOIN link AS company ON company.job = job.id AND company.role = ?5
             LEFT JOIN job AS owner ON owner.id = company.target_job
             LEFT JOIN link AS site ON site.job = job.id AND site.role = ?6
             LEFT JOIN job AS spot ON spot.id = site.target_job
             GROUP BY job.id ORDER BY 2"
            )
        ))?;
        let mut rows =
            statement.query((import, Kind::Company, Kind::Site, Kind::Device, Role::Company, Role::Site))?;
        let (mut devices, mut texts) = (Vec::new(), StoredTexts::of(&self.connection));
        let awaited = self.awaited();
        while let Some(row) = rows.next()? {
            let place = |at: usize| -> Result<Place> {
                let (named, made): (Option<Id>, Option<Id>) = (row.get(at)?, row.get(at + 1)?);
                let (own, known): (Option<String>, Option<String>) = (row.get(at + 2)?, row.get(at + 3)?);
                Ok(Place { id: named.or(made).map(|id| id.0), name: own.or(known) })
            };
            let action = texts.action(text(row, 3)?)?;
            let (job, Some(created)) = (row.get(0)?, action.record()) else { continue };
            let Record::Device(device) = changed_record::as_updated(&self.connection, job, created)? else {
                continue;
            };
            let new_site = device.custom_site_name.as_ref().or(device.custom_site_id.as_ref());
            let new_site = new_site.map(|name| Place { id: None, name: Some(name.to_string()) });
            devices.push(DeviceRow {
                job,
                sheet: row.get(2)?,
                row: row_ref::number_of(row.get(1)?),
                name: device.name.to_string(),
                mac: device.identification.as_ref().map(SmolStr::to_string),
                state: awaited.state(row.get(4)?),
                id: row.get::<_, Option<Id>>(5)?.map(|id| id.0),
                company: place(6)?,
                site: Some(place(10)?).filter(|site| *site != Place::default()).or(new_site),
            });
        }
        Ok(devices)
    }

    /// The newest import with a row of a device.
    pub fn newest_import_with_devices(&self) -> Result<Option<ImportId>> {
        let newest = "SELECT sheet.import FROM sheet
             JOIN sheet_row ON sheet_row.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
             JOIN job ON job.id = sheet_row.job
             WHERE job.kind = ?1 ORDER BY sheet.id DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(newest)?;
        Ok(statement.query_row([Kind::Device], |row| row.get(0)).optional()?)
    }

    /// How many rows of devices an import left out that no later one has.
    pub fn devices_left_out(&self, import: ImportId) -> Result<u64> {
        let count = "SELECT count(*) FROM sheet
             JOIN left_out ON left_out.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
             WHERE sheet.import = ?1 AND left_out.kind = ?2 AND left_out.job IS NULL";
        let mut statement = self.connection.prepare_cached(count)?;
        Ok(natural(statement.query_row((import, Kind::Device), |row| row.get(0))?))
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::Disposition;
    use crate::journal::fixture::*;
    use crate::model::kind::Kind;
    use crate::model::record::Role;

    #[test]
    fn devices_are_given_with_the_company_and_the_site_that_their_rows_name() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Harbour"], true);
        let mut import = bench.journal.begin_import(at(7)).unwrap();
        import.file("devices.csv", "00").unwrap();
        let sheet = import.sheet(&sheet("devices", Kind::Device)).unwrap();
        let job = import.add_job(&device("Till", vec![link(Role::Company, jobs[0])], vec![])).unwrap();
        for number in [4, 9] {
            import.row(&row(sheet, number, job, Disposition::New)).unwrap();
        }
        let import = import.finish().unwrap().import;

        let devices = bench.journal.devices(import).unwrap();
        let told: Vec<_> = devices.iter().map(|device| (device.name.as_str(), device.row)).collect();
        assert_eq!(told, [("Till", 4)], "once, by its first row");
        assert_eq!(devices[0].company.words(), "Harbour");
        assert_eq!((devices[0].id, devices[0].site.clone()), (None, None));
    }
}
