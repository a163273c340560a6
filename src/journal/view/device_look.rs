//! What `rollout` saw of the devices of an import when it looked last, for the next look and for the report page.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::journal::{Journal, View};
use crate::model::device_status::Shown;
use crate::model::id::{ImportId, JobId};
use crate::model::time::Moment;

/// The last look at the devices of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLook {
    /// When it was.
    pub at: Moment,
    /// What it showed, by the jobs of the devices.
    pub devices: HashMap<JobId, SeenDevice>,
}

/// What a look showed of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenDevice {
    /// `None` where there was no record to ask for.
    pub shown: Option<Shown>,
    /// When a look saw it online last, where it no longer is.
    pub was_online: Option<Moment>,
}

impl Journal {
    /// Notes a look at the devices of an import; it takes the place of the one before.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_device_look<'a>(
        &mut self,
        import: ImportId,
        at: Moment,
        devices: impl IntoIterator<Item = (JobId, Option<&'a Shown>, Option<Moment>)>,
    ) -> Result<()> {
        let transaction = self.begin()?;
        transaction
            .prepare_cached(
                "INSERT INTO look (import, at) VALUES (?1, ?2) ON CONFLICT (import) DO UPDATE SET at = excluded.at",
            )?
            .execute((import, at))?;
        {
            // Most devices are as they were at the look before.
            let mut put = transaction.prepare_cached(
                "INSERT INTO device_look (import, job, shown, was_online) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (import, job) DO UPDATE SET shown = excluded.shown, was_online = excluded.was_online
                 WHERE shown IS NOT excluded.shown OR was_online IS NOT excluded.was_online",
            )?;
            for (job, shown, was_online) in devices {
                let shown = shown.map(serde_json::to_string).transpose().map_err(|error| {
                    Error::internal("the status of a device cannot be written").because(error)
                })?;
                put.execute((import, job, shown, was_online))?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

impl View {
    /// The last look at the devices of an import; `None` where nobody has looked.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn device_look(&self, import: ImportId) -> Result<Option<DeviceLook>> {
        let mut looks = self.connection.prepare_cached("SELECT at FROM look WHERE import = ?1")?;
        let mut looks = looks.query([import])?;
        let Some(look) = looks.next()? else { return Ok(None) };
        let at = look.get(0)?;
        let mut statement = self
            .connection
            .prepare_cached("SELECT job, shown, was_online FROM device_look WHERE import = ?1")?;
        let mut rows = statement.query([import])?;
        let mut devices = HashMap::new();
        while let Some(row) = rows.next()? {
            let shown = match row.get::<_, Option<String>>(1)? {
                Some(text) => Some(serde_json::from_str(&text).map_err(|error| {
                    Error::journal("what the last roll-out showed of a device cannot be read").because(error)
                })?),
                None => None,
            };
            devices.insert(row.get(0)?, SeenDevice { shown, was_online: row.get(2)? });
        }
        Ok(Some(DeviceLook { at, devices }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::{at, bench, import_companies};
    use crate::model::device_status::DeviceStatus;
    use crate::model::operation::Operation;

    #[test]
    fn a_look_takes_the_place_of_the_one_before_and_keeps_what_it_did_not_see_again() {
        let mut bench = bench();
        let (imported, jobs) = import_companies(&mut bench.journal, &["one", "two"], true);
        let import = imported.import;
        let journal = &mut bench.journal;
        assert_eq!(journal.device_look(import).unwrap(), None);

        let status = DeviceStatus { word: "Online".into(), since: Some("2026".into()), contact: None };
        let online = Shown::Status(status, Operation::GetDeviceOnlineStatus);
        journal
            .note_device_look(import, at(1), [(jobs[0], Some(&online), None), (jobs[1], None, None)])
            .unwrap();
        let nothing = Shown::Nothing(Operation::ListCompanyDeviceOnlineStatuses);
        journal.note_device_look(import, at(2), [(jobs[0], Some(&nothing), Some(at(1)))]).unwrap();

        let look = journal.device_look(import).unwrap().unwrap();
        assert_eq!(look.at, at(2));
        assert_eq!(look.devices[&jobs[0]], SeenDevice { shown: Some(nothing), was_online: Some(at(1)) });
        assert_eq!(look.devices[&jobs[1]], SeenDevice { shown: None, was_online: None });
    }
}
