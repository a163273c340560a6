//! Rows of fix sheets: each says which row it corrects, and may have another MAC address, username or request than that
//! one. Without this the earlier row would stay to be corrected.

use std::collections::BTreeSet;

use super::super::identity::{owner, person_or_thing};
use super::super::prepared::Ready;
use super::Placing;
use super::deciding::nameless;
use crate::error::Result;
use crate::journal::KnownJob;
use crate::model::action::wishes;
use crate::model::id::SheetId;
use crate::model::record::{Link, Role, target_of};
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
            let failed = self.writer.failed_at(ready.values.kind, sheet, row)?;
            let Some(failed) = failed.filter(|failed| !self.touched.contains(&failed.job)) else { continue };
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
    fn earlier_sheets(&mut self, name: &str) -> Result<Vec<SheetId>> {
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

/// What wishes are about: all entries of the metadata are about the same, and all settings in a VPN cloud, as the key or the name
/// of an interface may have been wrong.
fn of_fields(wishes: &BTreeSet<String>) -> BTreeSet<&str> {
    wishes.iter().map(|wish| wish.split([':', '(']).next().unwrap_or(wish)).collect()
}
