//! Where jobs stand, as everybody is shown: a request that no run awaits is in doubt, as the next run finds it.

use std::cell::OnceCell;
use std::fs::{File, TryLockError};
use std::path::Path;

use crate::journal::file::db_file;
use crate::journal::{Holder, View};
use crate::model::state::JobState;

/// Where the jobs of a journal stand, by whether a run is at work, which is asked where a request is under way.
#[derive(Debug)]
pub(in crate::journal) struct Awaited<'p> {
    path: &'p Path,
    is_awaited: OnceCell<bool>,
}

impl<'p> Awaited<'p> {
    /// Of the journal in this file.
    pub(in crate::journal) fn of(path: &'p Path) -> Self {
        Self { path, is_awaited: OnceCell::new() }
    }

    /// Where a job stands that has this state in the journal.
    pub(in crate::journal) fn state(&self, stored: JobState) -> JobState {
        let is_awaited = || *self.is_awaited.get_or_init(|| run_at_work(self.path).is_some());
        if stored == JobState::Sending && !is_awaited() { JobState::InDoubt } else { stored }
    }
}

/// The run that holds the lock of a journal. Where that cannot be seen, it is taken to be held: what is said of it is only
/// shown.
fn run_at_work(journal: &Path) -> Option<Holder> {
    let file = File::open(db_file::beside(journal, ".lock")).ok()?;
    match file.try_lock_shared() {
        Ok(()) => None,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => Some(Holder::of(file)),
    }
}

impl View {
    /// The run that is at work on this journal.
    pub fn run_at_work(&self) -> Option<Holder> {
        run_at_work(&self.path)
    }

    /// Whether a run is at work on this journal.
    pub fn is_run_at_work(&self) -> bool {
        self.run_at_work().is_some()
    }

    /// Where its jobs stand.
    pub(in crate::journal) fn awaited(&self) -> Awaited<'_> {
        Awaited::of(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::RowView;
    use crate::journal::fixture::*;
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::{InDoubt, Ready, Sending};

    #[test]
    fn a_run_is_at_work_while_it_holds_the_lock_and_awaits_what_is_under_way() {
        let mut bench = bench();
        let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
        let check = |bench: &Bench, is_at_work, expected| {
            assert_eq!(bench.journal.is_run_at_work(), is_at_work);
            for tally in [bench.journal.tally(None), bench.journal.tally(Some(imported.import))] {
                assert_eq!(tally.unwrap().in_state(expected), 1);
            }
            let mut states = Vec::new();
            let sheet = bench.journal.sheets(imported.import).unwrap()[0].sheet;
            let mut each = |row: RowView| {
                states.push(row.state);
                Ok(())
            };
            bench.journal.rows(sheet, &mut each).unwrap();
            assert_eq!(states, [expected, Ready]);
        };
        check(&bench, false, InDoubt);
        let lock = bench.journal.lock_for_run().unwrap().unwrap();
        check(&bench, true, Sending);
        drop(lock);
        check(&bench, false, InDoubt);
    }
}
