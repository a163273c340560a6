//! Moments that jobs wait for, put right after the wall clock went back: they were written by a clock that was
//! ahead, and would keep their jobs waiting for as long as it was.

use std::time::Duration;

use crate::error::Result;
use crate::journal::JobQueue;
use crate::model::time::Moment;

impl JobQueue<'_> {
    /// Brings the moments that deferred and doubtful jobs wait for forward by `by`, and to `latest` at the most;
    /// none before `now`, and none that has come already. Returns how many jobs wait less long now.
    pub fn bring_forward(&mut self, by: Duration, now: Moment, latest: Moment) -> Result<u64> {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        let transaction = self.journal.begin()?;
        // One state each, so that the partial index of that state is used.
        let deferred = transaction
            .prepare_cached(
                "UPDATE job SET due = max(?2, min(due - ?1, ?3))
                 WHERE state = 'deferred' AND due > ?2 AND (?1 > 0 OR due > ?3)",
            )?
            .execute((by, now, latest))?;
        let doubtful = transaction
            .prepare_cached(
                "UPDATE job SET due = max(?2, min(due - ?1, ?3))
                 WHERE state = 'in_doubt' AND due > ?2 AND (?1 > 0 OR due > ?3)",
            )?
            .execute((by, now, latest))?;
        transaction.commit()?;
        Ok((deferred + doubtful) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Journal;
    use crate::journal::fixture::*;
    use crate::journal::{Evidence, Write};
    use crate::model::operation::Operation::AddCompany;
    use crate::model::verdict::Doubt;

    /// One job deferred until 20 s, one in doubt and looked at again at 40 s, one ready.
    fn waiting() -> Bench {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Cord"], false);
        for &job in &jobs[..2] {
            apply(&mut bench.journal, claim(job, AddCompany)).unwrap();
        }
        let defer = Write::Defer {
            job: jobs[0],
            until: at(20_000),
            code: "later".to_owned(),
            reason: "later".to_owned(),
            evidence: Evidence::at(at(5_000)),
        };
        apply(&mut bench.journal, defer).unwrap();
        let doubt = Write::Doubt {
            job: jobs[1],
            doubt: Doubt::Timeout,
            executed: false,
            charged: true,
            until: at(40_000),
            evidence: Evidence::at(at(5_000)),
        };
        apply(&mut bench.journal, doubt).unwrap();
        bench
    }

    fn dues(journal: &Journal) -> Vec<Option<i64>> {
        let mut statement = journal.connection.prepare("SELECT due FROM job ORDER BY id").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }

    #[test]
    fn a_clock_that_was_set_back_takes_the_moments_that_are_waited_for_with_it() {
        let mut bench = waiting();
        assert_eq!(dues(&bench.journal), [Some(20_000), Some(40_000), None]);
        let by = Duration::from_secs(15);
        assert_eq!(bench.journal.queue().bring_forward(by, at(1_000), at(900_000)).unwrap(), 2);
        assert_eq!(dues(&bench.journal), [Some(5_000), Some(25_000), None]);
    }

    #[test]
    fn nothing_comes_due_before_now_and_what_is_due_stays_as_it_is() {
        let mut bench = waiting();
        let by = Duration::from_secs(3600);
        assert_eq!(bench.journal.queue().bring_forward(by, at(30_000), at(900_000)).unwrap(), 1);
        assert_eq!(dues(&bench.journal), [Some(20_000), Some(30_000), None]);
    }

    #[test]
    fn at_the_start_only_waits_that_no_right_clock_makes_are_shortened() {
        let mut bench = waiting();
        assert_eq!(bench.journal.queue().bring_forward(Duration::ZERO, at(1_000), at(900_000)).unwrap(), 0);
        assert_eq!(bench.journal.queue().bring_forward(Duration::ZERO, at(1_000), at(30_000)).unwrap(), 1);
        assert_eq!(dues(&bench.journal), [Some(20_000), Some(30_000), None]);
    }
}
