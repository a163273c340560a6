//! Rows that correct one of an earlier import that failed: they are at its place, and have another name, MAC address or
//! request than it had. Without this the earlier row would stay to be corrected, and who corrects it as well creates its
//! record a second time.

use super::super::identity::{owner, person_or_thing};
use super::super::prepared::Ready;
use super::Placing;
use crate::error::Result;
use crate::journal::{KnownJob, SamePlace};
use crate::model::action::wishes;
use crate::model::record::{Link, Role};
use crate::model::state::JobState;

impl Placing<'_, '_> {
    /// The failed job of which a row is the correction, and whether the row names that place or is at it.
    pub(super) fn corrected(&mut self, ready: &Ready) -> Result<Option<(KnownJob, SamePlace)>> {
        if !self.has_failed {
            return Ok(None);
        }
        let source = ready.source(self.examined);
        let named = source.as_deref().and_then(|source| source.rsplit_once('!'));
        let named = named.and_then(|(sheet, row)| Some((sheet.to_owned(), row.parse().ok()?)));
        let (at, (sheet, row)) = match named {
            Some(named) => (SamePlace::Source, named),
            None => (SamePlace::Own, (self.writer.name_of_sheet(ready.origin.sheet)?, ready.row.number)),
        };
        let Some(failed) = self.failed_at(ready, sheet, row)? else { return Ok(None) };
        let corrects = self.may_take(ready, &failed)?
            && (at == SamePlace::Source || self.is_of_the_same(ready, &failed)?);
        Ok(corrects.then_some((failed, at)))
    }

    /// The failed job of the newest row at a place that no other row of this import is.
    fn failed_at(&mut self, ready: &Ready, sheet: String, row: u32) -> Result<Option<KnownJob>> {
        let sheets = match self.namesakes.get(&sheet) {
            Some(sheets) => sheets,
            None => {
                let sheets = self.writer.earlier_sheets(&sheet)?;
                self.namesakes.entry(sheet).or_insert(sheets)
            }
        };
        for &sheet in sheets {
            let failed = self.writer.failed_at(ready.values.kind, sheet, row)?;
            if let Some(failed) = failed.filter(|failed| !self.touched.contains(&failed.job)) {
                return Ok(Some(failed));
            }
        }
        Ok(None)
    }

    /// Whether a row at the place of a failed one is about the same, as rows may have moved: the record of its name in its
    /// company, or a request about the record that it was about. A row of an export that was not changed corrects nothing.
    fn is_of_the_same(&mut self, ready: &Ready, failed: &KnownJob) -> Result<bool> {
        let Some(record) = ready.values.record() else {
            let asks = !wishes(ready.values.kind, &ready.values.steps).is_empty();
            return Ok(asks && self.is_about_the_same(ready, failed)?);
        };
        let links = self.links_now(&failed.links)?;
        let earlier = self.writer.record_of(failed.job)?;
        Ok(owner(&links) == owner(&ready.values.links)
            && person_or_thing(&earlier) == person_or_thing(record))
    }

    /// Whether a row of upkeep is about the record that a failed one is about.
    fn is_about_the_same(&mut self, ready: &Ready, failed: &KnownJob) -> Result<bool> {
        let values = &ready.values;
        let Some(step) = values.steps.first() else { return Ok(false) };
        let role = Role::owner(step.about(values.kind));
        let about = |links: &[Link]| links.iter().find(|link| link.role == role).map(|link| link.target);
        let earlier = about(&self.links_now(&failed.links)?);
        Ok(earlier.is_some() && earlier == about(&values.links))
    }

    /// Whether a failed job may take the values of a row: nothing that it made or changed belongs to another record, and
    /// their keys are not two.
    fn may_take(&mut self, ready: &Ready, failed: &KnownJob) -> Result<bool> {
        let same_key = match (&ready.values.sheet_key, &failed.sheet_key) {
            (Some(key), Some(own)) => key == own,
            (Some(_) | None, None) | (None, Some(_)) => true,
        };
        Ok(same_key
            && match (failed.kind.is_record(), failed.state) {
                (true, state) => state != JobState::Incomplete && failed.remote_id.is_none(),
                (false, JobState::Incomplete) => self.is_about_the_same(ready, failed)?,
                (false, _) => true,
            })
    }
}
