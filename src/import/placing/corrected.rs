//! Rows that correct earlier ones in what tells those apart. Each row of a fix sheet says which row it corrects, and may have
//! another MAC address, username or request than that one. Without this the earlier row would stay to be corrected.

use std::collections::BTreeSet;

use super::super::identity::{owner, person_or_thing};
use super::super::prepared::Ready;
use super::Placing;
use super::deciding::nameless;
use super::second_record::without_unique;
use crate::error::Result;
use crate::journal::{KnownJob, SamePlace};
use crate::model::action::wishes;
use crate::model::id::{JobId, SheetId};
use crate::model::record::{Link, Record, Role, target_of};
use crate::model::state::JobState;

impl Placing<'_, '_> {
    /// The failed job of the row that a row of a fix sheet says it corrects. Files of several imports may have one name, and
    /// rows may be copied: it must be about the same as well.
    pub(super) fn corrected(&mut self, ready: &Ready) -> Result<Option<KnownJob>> {
        if !self.has_failed {
            return Ok(None);
        }
        let source = ready.source(self.examined);
        let named = source.as_deref().and_then(|source| source.rsplit_once('!'));
        let Some((sheet, Ok(row))) = named.map(|(sheet, row)| (sheet, row.parse::<u32>())) else {
            return Ok(None);
        };
        for sheet in self.earlier_sheets(sheet)? {
            let failed = self.writer.placed_at(ready.values.kind, sheet, row)?;
            let is_meant = |job: &KnownJob| {
                matches!(job.state, JobState::Rejected | JobState::Incomplete | JobState::Skipped)
                    && !self.touched.contains(&job.job)
            };
            let Some(failed) = failed.filter(is_meant) else { continue };
            let is_same = match failed.kind.is_record() {
                true => self.is_same_record(ready, &failed)?,
                false => self.is_same_request(ready, &failed)?,
            };
            if is_same {
                return Ok(Some(failed));
            }
        }
        Ok(None)
    }

    /// The sheets of earlier imports with this file and name (`file!sheet`), newest first.
    pub(super) fn earlier_sheets(&mut self, name: &str) -> Result<Vec<SheetId>> {
        if let Some(sheets) = self.namesakes.get(name) {
            return Ok(sheets.clone());
        }
        let sheets = self.writer.earlier_sheets(name)?;
        self.namesakes.insert(name.to_owned(), sheets.clone());
        Ok(sheets)
    }

    /// Whether nothing was made of a job, and its record has the company of a row's, and its name or all else. Where one of
    /// them has a key, the key says which row is which.
    fn is_same_record(&mut self, ready: &Ready, failed: &KnownJob) -> Result<bool> {
        let has_key = ready.values.sheet_key.is_some() || failed.sheet_key.is_some();
        if has_key || failed.remote_id.is_some() || failed.state == JobState::Incomplete {
            return Ok(false);
        }
        let links = self.links_now(&failed.links)?;
        let (earlier, own) = (self.writer.record_of(failed.job)?, ready.record()?);
        Ok(owner(&links) == owner(&ready.values.links)
            && (person_or_thing(&earlier) == person_or_thing(own) || nameless(&earlier) == nameless(own)))
    }

    /// Whether a row with the key of a job, and another name and other values, is a correction of its row still: it has the same
    /// reference or is the same person, comes from its fix sheet, or stands in its place and is alike. Files of one name may be
    /// of different folders, so that the place alone says little.
    pub(super) fn is_corrected(
        &self,
        ready: &Ready,
        job: JobId,
        (earlier, own): (&Record, &Record),
    ) -> Result<bool> {
        let has_its_place = self.moving.contains(&job);
        let is_same = match (earlier, own) {
            (Record::Site(earlier), Record::Site(own)) => {
                own.reference.is_some() && own.reference == earlier.reference
            }
            _ => person_or_thing(earlier) == person_or_thing(own),
        };
        if has_its_place || is_same {
            return Ok(true);
        }
        Ok(match self.place_of(ready, job)? {
            Some(SamePlace::Source) => true,
            Some(SamePlace::Own) => is_alike(earlier, own),
            None => false,
        })
    }

    /// Whether a row stands where a row of a job did, and how that is known.
    pub(super) fn place_of(&self, ready: &Ready, job: JobId) -> Result<Option<SamePlace>> {
        let source = ready.source(self.examined);
        self.writer.is_at_place_of(job, ready.origin.sheet, ready.row.number, source.as_deref())
    }

    /// Whether a row of upkeep is about the record that a failed one is about, and asks for nothing else of it.
    fn is_same_request(&mut self, ready: &Ready, failed: &KnownJob) -> Result<bool> {
        let values = &ready.values;
        let Some(step) = values.steps.first() else { return Ok(false) };
        let role = Role::owner(step.about(values.kind));
        let about = |links: &[Link]| target_of(links, role);
        let earlier = about(&self.links_now(&failed.links)?);
        let asked = wishes(failed.kind, &self.writer.steps_of(failed.job)?);
        Ok(earlier.is_some()
            && earlier == about(&values.links)
            && of_fields(&wishes(values.kind, &values.steps)).is_subset(&of_fields(&asked)))
    }
}

/// Whether two records of other names may be one whose row was corrected.
fn is_alike(earlier: &Record, own: &Record) -> bool {
    match (earlier, own) {
        (Record::Site(site), Record::Site(other)) => {
            let has_one = site.reference.is_none() || other.reference.is_none();
            has_one && site.address == other.address
                || nameless(&without_unique(earlier)) == nameless(&without_unique(own))
        }
        (Record::Device(earlier), Record::Device(own)) => {
            let has_one = earlier.identification.is_none() || own.identification.is_none();
            has_one && earlier.address == own.address
        }
        (Record::Person(earlier), Record::Person(own)) => {
            earlier.first_name == own.first_name
                || earlier.last_name == own.last_name
                || earlier.email == own.email
        }
        _ => false,
    }
}

/// What wishes are about: all entries of the metadata are about the same, and all settings in a VPN cloud, as the key or the name
/// of an interface may have been wrong.
fn of_fields(wishes: &BTreeSet<String>) -> BTreeSet<&str> {
    wishes.iter().map(|wish| wish.split([':', '(']).next().unwrap_or(wish)).collect()
}
