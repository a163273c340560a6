//! Rows that may be a device of an earlier import once more: with its name in its company, and another MAC address. A row
//! without a key says nothing else of which one it is, and the service can neither change a MAC address nor delete a device.

use super::super::identity::{came_to_nothing, owner};
use super::super::prepared::Ready;
use super::Placing;
use crate::error::Result;
use crate::journal::KnownJob;
use crate::model::record::{Device, Record};

/// A device that a row may be once more.
pub(super) struct SecondDevice {
    pub(super) known: KnownJob,
    /// Whether its row is at the place of that row.
    pub(super) is_at_its_place: bool,
}

impl Placing<'_, '_> {
    /// The device of an earlier import that a new row may be, where no row of this one is that. Of a row that corrects one
    /// that was `rejected`, only a device that came later may be the same.
    pub(super) fn second_device(
        &mut self,
        ready: &Ready,
        rejected: Option<&KnownJob>,
    ) -> Result<Option<SecondDevice>> {
        let Some(Record::Device(device)) = ready.values.record() else { return Ok(None) };
        let mut alike = None;
        for mut known in self.writer.earlier_by_name(ready.values.kind, &ready.values.name)? {
            let have_keys = known.sheet_key.is_some() && ready.values.sheet_key.is_some();
            let is_earlier = rejected.is_some_and(|rejected| known.first_import <= rejected.first_import);
            if is_earlier || came_to_nothing(&known) || have_keys || self.touched.contains(&known.job) {
                continue;
            }
            known.links = self.links_now(&known.links)?;
            if owner(&known.links) != owner(&ready.values.links) {
                continue;
            }
            let Record::Device(other) = self.writer.record_of(known.job)? else { continue };
            if self.is_at_its_place(ready, &known)? {
                return Ok(Some(SecondDevice { known, is_at_its_place: true }));
            }
            if alike.is_none() && without_mac(&other) == without_mac(device) {
                alike = Some(SecondDevice { known, is_at_its_place: false });
            }
        }
        Ok(alike)
    }

    fn is_at_its_place(&self, ready: &Ready, known: &KnownJob) -> Result<bool> {
        let source = ready.source(self.examined);
        let place =
            self.writer.is_at_place_of(known.job, ready.origin.sheet, ready.row.number, source.as_deref())?;
        Ok(place.is_some())
    }
}

/// A device without what tells it from all others.
fn without_mac(device: &Device) -> Device {
    Device { identification: None, ..device.clone() }
}
