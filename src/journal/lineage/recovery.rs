//! The start after an end that was not one: what was spilled is taken in, what was being sent is in doubt.
//!
//! Nothing else changes: no other state needs the process that wrote it. Only the holder of the run's lock may
//! recover, since the jobs of a living process are not in doubt.

use crate::error::Result;
use crate::failpoint;
use crate::journal::lineage::spill;
use crate::journal::state::doubt;
use crate::journal::state::hold::put_on_hold;
use crate::journal::state::job_row;
use crate::journal::{Evidence, JobQueue};
use crate::mistake::{self, Mistake};
use crate::model::id::JobId;
use crate::model::reason::Reason;
use crate::model::time::Moment;
use crate::model::verdict::{Doubt, Execution};

/// The death of the process at which a row is held: it may be the row that brings fleetload down.
const DEATHS: u32 = 3;

/// The code of a row held for that.
const POISON: &str = Reason::Poison.as_str();

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

impl JobQueue<'_> {
    /// Takes in the spill file, then puts every job that is still being sent in doubt, due at once.
    pub fn recover(&mut self, at: Moment) -> Result<Recovered> {
        let path = self.journal.view.path.clone();
        let transaction = self.journal.begin()?;
        failpoint::reach("recovery.begun");
        let taken_in = spill::take_in(&transaction, &path, at)?;
        failpoint::reach("recovery.spill-taken-in");
        let mut recovered =
            Recovered { spilled: taken_in.carried_out, left_out: taken_in.left_out, ..Recovered::default() };
        let sending: Vec<JobId> = transaction
            .prepare_cached("SELECT id FROM job INDEXED BY job_sending WHERE state = 'sending' ORDER BY id")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        // Doubtful for the quota as well: an attempt that was under way is not lost from the ledger.
        let execution = match mistake::made(Mistake::UnderWayForgotten) {
            true => Execution::NotExecuted,
            false => Execution::Doubtful,
        };
        let evidence =
            Evidence { execution, code: Some(Doubt::ProcessEnded.code().to_owned()), ..Evidence::at(at) };
        for job in sending {
            let standing = job_row::of(&transaction, job)?;
            if mistake::made(Mistake::RestartMeansReady) {
                let sql = "UPDATE job SET state = 'ready' WHERE id = ?1 AND state = ?2";
                standing.change(&transaction, sql, &[])?;
                continue;
            }
            let sql = "UPDATE job SET deaths = deaths + 1 WHERE id = ?1 AND state = ?2";
            standing.change(&transaction, sql, &[])?;
            doubt::begin(&transaction, job, Doubt::ProcessEnded, (false, true), at, &evidence)?;
            failpoint::reach("recovery.put-in-doubt");
            if standing.deaths + 1 < DEATHS {
                recovered.doubtful += 1;
                continue;
            }
            let reason = format!(
                "fleetload ended {DEATHS} times while this row was being sent; check whether the record exists, then \
                decide"
            );
            let standing = job_row::of(&transaction, job)?;
            put_on_hold(&transaction, &standing, (POISON, &reason), &[], &evidence)?;
            recovered.held += 1;
        }
        failpoint::reach("recovery.before-commit");
        transaction.commit()?;
        failpoint::reach("recovery.committed");
        spill::put_away(&path, taken_in)?;
        failpoint::reach("recovery.spill-put-away");
        Ok(recovered)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::journal::fixture::*;
    use crate::journal::{Selection, Write};
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::{Created, Held, InDoubt, Ready, Sending};

    #[test]
    fn what_was_being_sent_is_in_doubt_after_a_start_and_nothing_else_changes() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
        let recovered = bench.journal.queue().recover(at(9_000)).unwrap();
        assert_eq!(recovered, Recovered { doubtful: 1, ..Recovered::default() });
        let work = bench.journal.work(jobs[0]).unwrap().unwrap();
        assert_eq!((work.state, work.deaths, work.doubt), (InDoubt, 1, Some(Doubt::ProcessEnded)));
        assert!(work.doubted && !work.executed);
        assert_eq!(bench.journal.queue().doubtful(at(9_000), 10, &[]).unwrap().work, [work]);
        assert_eq!(state(&bench.journal, jobs[1]), Ready);
        let before = everything(&bench.journal).unwrap();
        assert_eq!(bench.journal.queue().recover(at(9_001)).unwrap(), Recovered::default());
        assert_eq!(everything(&bench.journal).unwrap(), before);
    }

    #[test]
    fn a_row_that_was_being_sent_at_three_deaths_is_held() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme"], false);
        for (death, expected) in [(1, InDoubt), (2, InDoubt), (3, Held)] {
            apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
            let recovered = bench.journal.queue().recover(at(9_000)).unwrap();
            assert_eq!((recovered.doubtful, recovered.held), (u64::from(death < 3), u64::from(death == 3)));
            assert_eq!(state(&bench.journal, jobs[0]), expected, "death {death}");
            if expected == InDoubt {
                let release = Write::Release { job: jobs[0], note: "absent".into(), at: at(9_500) };
                apply(&mut bench.journal, release).unwrap();
            }
        }
        assert_eq!(bench.journal.held(&Selection::default()).unwrap()[0].code, POISON);
    }

    #[test]
    fn what_was_spilled_is_taken_in_once_and_before_anything_is_put_in_doubt() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], true);
        apply(&mut bench.journal, counted(jobs[0], AddCompany, at(0).day())).unwrap();
        let writes = [claim(jobs[1], AddCompany), created(jobs[0], Sending, id(1))];
        let spill = bench.journal.spill(&writes).unwrap();
        let lines = fs::read(&spill).unwrap();
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&spill.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }

        let recovered = bench.journal.queue().recover(at(9_000)).unwrap();
        assert_eq!(recovered, Recovered { spilled: 1, ..Recovered::default() });
        assert_eq!(state(&bench.journal, jobs[0]), Created);
        assert_eq!(state(&bench.journal, jobs[1]), Ready, "released by the spilled creation");
        assert!(!spill.exists());

        // As if the process had ended between the commit and the removal of the file.
        fs::write(&spill, lines).unwrap();
        assert_eq!(bench.journal.queue().recover(at(9_001)).unwrap(), Recovered::default());
        let quota = bench.journal.quota(at(0).day()).unwrap();
        assert_eq!((quota.sent, quota.confirmed), (1, 1));
    }

    #[test]
    fn a_torn_line_and_one_that_no_longer_fits_are_left_out_and_kept() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
        let writes = [created(jobs[0], Sending, id(1)), created(jobs[1], Sending, id(2))];
        let spill = bench.journal.spill(&writes).unwrap();
        let mut text = fs::read_to_string(&spill).unwrap();
        text.push_str("{\"id\":\"0000");
        fs::write(&spill, &text).unwrap();
        let recovered = bench.journal.queue().recover(at(9_000)).unwrap();
        assert_eq!((recovered.spilled, recovered.left_out), (1, 2));
        assert_eq!(state(&bench.journal, jobs[0]), Created);
        assert_eq!(state(&bench.journal, jobs[1]), Ready);
        assert!(!spill.exists());
        let kept = |name: &str| fs::read_to_string(bench.folder.path().join(name)).unwrap();
        assert_eq!(kept("fleetload.db.spill.left-out"), text);
        fs::write(&spill, "another").unwrap();
        assert_eq!(bench.journal.queue().recover(at(9_001)).unwrap().left_out, 1);
        assert_eq!(kept("fleetload.db.spill.left-out"), text, "the earlier ones stay");
        assert_eq!(kept("fleetload.db.spill.left-out-2"), "another");
    }
}
