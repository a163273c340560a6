//! Where jobs are in a list, by their ids. The ids of an import follow each other, so that four bytes a job are enough.

use std::collections::HashMap;

use crate::model::id::JobId;

/// Jobs whose places are kept together.
const PAGE: i64 = 1_024;
/// Not in the list.
const NOWHERE: u32 = u32::MAX;

/// The places of jobs.
#[derive(Debug, Default)]
pub(super) struct JobPlaces {
    pages: HashMap<i64, Vec<u32>>,
}

impl JobPlaces {
    /// Where a job is.
    pub(super) fn get(&self, job: JobId) -> Option<u32> {
        let (page, at) = split(job);
        let place = self.pages.get(&page)?.get(at).copied()?;
        (place != NOWHERE).then_some(place)
    }

    /// Notes where a job is.
    pub(super) fn insert(&mut self, job: JobId, place: u32) {
        let (page, at) = split(job);
        let page = self.pages.entry(page).or_default();
        if page.len() <= at {
            page.resize(at + 1, NOWHERE);
        }
        page[at] = place;
    }
}

/// The page of a job, and its place there.
fn split(job: JobId) -> (i64, usize) {
    // What is left of a division by a small number is one.
    (job.0.div_euclid(PAGE), usize::try_from(job.0.rem_euclid(PAGE)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_found_where_it_was_put_and_no_other() {
        let ids = [1, 2, 1_023, 1_024, 1_025, 9_999_999, i64::MAX, 0, -1, i64::MIN];
        let mut places = JobPlaces::default();
        for (id, place) in ids.into_iter().zip(0..) {
            assert_eq!(places.get(JobId(id)), None);
            places.insert(JobId(id), place);
        }
        for (id, place) in ids.into_iter().zip(0..) {
            assert_eq!(places.get(JobId(id)), Some(place), "{id}");
        }
        for id in [3, 1_022, 1_026, 9_999_998, i64::MAX - 1, -2] {
            assert_eq!(places.get(JobId(id)), None, "{id}");
        }
    }
}
