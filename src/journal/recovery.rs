//! The start after an end that was not one: what was spilled is taken in, what was being sent is in doubt.
//!
//! Nothing else changes: no other state needs the process that wrote it. Only the holder of the run's lock may
//! recover, since the jobs of a living process are not in doubt.

use super::transition::{end_attempt, put_on_hold};
use super::{Evidence, Journal, spill, standing};
use crate::error::Result;
use crate::model::id::JobId;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::verdict::Doubt;

/// The death of the process at which a row is held: it may be the row that brings fleetload down.
const DEATHS: u32 = 3;

/// The code of a row held for that.
const POISON: &str = "poison";

/// What a recovery did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Jobs that were being sent and are in doubt now.
    pub doubtful: u64,
    /// Jobs that were being sent at three deaths and are held now.
    pub held: u64,
    /// Settlements taken in from the spill file.
    pub spilled: u64,
    /// Lines of the spill file that no longer fit their job or could not be read; they are kept beside it.
    pub left_out: u64,
}

impl Journal {
    /// Takes in the spill file, then puts every job that is still being sent in doubt, due at once.
    pub fn recover(&mut self, at: Moment) -> Result<Recovered> {
        let path = self.path.clone();
        let transaction = self.begin()?;
        let taken_in = spill::take_in(&transaction, &path, at)?;
        let mut recovered =
            Recovered { spilled: taken_in.carried_out, left_out: taken_in.left_out, ..Recovered::default() };
        let sending: Vec<JobId> = transaction
            .prepare_cached("SELECT id FROM job WHERE state = 'sending' ORDER BY id")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let doubt = Doubt::ProcessEnded;
        let evidence = Evidence { code: Some(doubt.code().to_owned()), ..Evidence::at(at) };
        for job in sending {
            let standing = standing::of(&transaction, job)?;
            standing.leaves(&[JobState::Sending], "recovered")?;
            end_attempt(&transaction, &standing, &evidence)?;
            standing.change(
                &transaction,
                "UPDATE job SET state = 'in_doubt', doubted = 1, deaths = deaths + 1, doubt = ?3, doubt_since = ?4,
                    due = ?4, absent_reads = 0, looks = 0, code = ?3, message = ?5
                 WHERE id = ?1 AND state = ?2",
                &[&doubt, &at, &doubt.words()],
            )?;
            if standing.deaths + 1 < DEATHS {
                recovered.doubtful += 1;
                continue;
            }
            let reason = format!(
                "fleetload ended {DEATHS} times while this row was being sent; look whether the record exists, then decide"
            );
            let standing = standing::of(&transaction, job)?;
            put_on_hold(&transaction, &standing, (POISON, &reason), &[], &evidence)?;
            recovered.held += 1;
        }
        transaction.commit()?;
        spill::put_away(&path, taken_in)?;
        Ok(recovered)
    }
}
