//! Rows that may be a record of an earlier import once more: a device, site or person with its name in its company, and another
//! MAC address, reference or username. A row without a key says nothing else of which one it is, and the service deletes no
//! record.

use super::super::identity::{came_to_nothing, owner, person_or_thing};
use super::super::prepared::Ready;
use super::Placing;
use super::deciding::nameless;
use crate::error::Result;
use crate::journal::KnownJob;
use crate::model::kind::Kind;
use crate::model::record::{Device, Record, Site};

/// A record that a row may be once more.
pub(super) struct SecondRecord {
    pub(super) known: KnownJob,
    /// Whether its row is at the place of that row.
    pub(super) is_at_its_place: bool,
}

impl Placing<'_, '_> {
    /// The record of an earlier import that a new row may be, where no row of this one is that. Of a row that corrects one
    /// that was `rejected`, only a record that came later may be the same.
    pub(super) fn second_record(
        &mut self,
        ready: &Ready,
        rejected: Option<&KnownJob>,
    ) -> Result<Option<SecondRecord>> {
        let Some(record) = ready.values.record() else { return Ok(None) };
        let candidates = match record.kind() {
            Kind::Site | Kind::Device => {
                self.writer.earlier_by_name(ready.values.kind, &ready.values.name)?
            }
            // Their names are not what the journal knows them by.
            Kind::Person => self.earlier_in_place(ready)?,
            Kind::Company | Kind::Upkeep(_) => Vec::new(),
        };
        let mut alike = None;
        for mut known in candidates {
            let have_keys = known.sheet_key.is_some() && ready.values.sheet_key.is_some();
            let is_earlier = rejected.is_some_and(|rejected| known.first_import <= rejected.first_import);
            if is_earlier || came_to_nothing(&known) || have_keys || self.touched.contains(&known.job) {
                continue;
            }
            known.links = self.links_now(&known.links)?;
            let other = self.writer.record_of(known.job)?;
            if owner(&known.links) != owner(&ready.values.links)
                || person_or_thing(&other) != person_or_thing(record)
            {
                continue;
            }
            if self.place_of(ready, known.job)?.is_some() {
                return Ok(Some(SecondRecord { known, is_at_its_place: true }));
            }
            if alike.is_none() && without_unique(&other) == without_unique(record) {
                alike = Some(SecondRecord { known, is_at_its_place: false });
            }
        }
        Ok(alike)
    }

    /// The jobs of rows of earlier imports at the place of a row.
    fn earlier_in_place(&mut self, ready: &Ready) -> Result<Vec<KnownJob>> {
        let table = ready.table(self.examined);
        let sheets = self.earlier_sheets(&format!("{}!{}", table.file, table.name))?;
        let (kind, row) = (ready.values.kind, ready.row.number);
        let jobs: Result<Vec<_>> =
            sheets.into_iter().map(|sheet| self.writer.placed_at(kind, sheet, row)).collect();
        Ok(jobs?.into_iter().flatten().collect())
    }
}

/// A record without what tells it from others of its name.
pub(super) fn without_unique(record: &Record) -> Record {
    match record {
        Record::Device(device) => Record::Device(Device { identification: None, ..device.clone() }),
        Record::Site(site) => Record::Site(Site { reference: None, ..site.clone() }),
        Record::Person(_) | Record::Company(_) => nameless(record),
    }
}
