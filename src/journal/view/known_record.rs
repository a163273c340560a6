//! A record that exists in the service, with what its row says of it: for questions that only a real one answers.

use rusqlite::OptionalExtension as _;

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::Id;
use crate::journal::state::dependents::changed_record;
use crate::journal::stored_row::{StoredTexts, stored_action};
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::record::Record;

impl View {
    /// The last record of a kind that a row has, as updates have left it; `None` where no row has one yet.
    pub fn known_record(&self, kind: Kind) -> Result<Option<(RemoteId, Record)>> {
        let row: Option<(Id, Option<String>, JobId)> = self
            .connection
            .prepare_cached(concat!(
                "SELECT job.remote_id, ",
                stored_action!("step"),
                ", job.id FROM job JOIN step ON step.id = job.id << 16
                 WHERE job.kind = ?1 AND job.remote_id IS NOT NULL ORDER BY job.id DESC LIMIT 1"
            ))?
            .query_row([kind], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((id, action, job)) = row else { return Ok(None) };
        let action = StoredTexts::of(&self.connection).action(action.as_deref())?;
        let Some(created) = action.record() else { return Ok(None) };
        Ok(Some((id.0, changed_record::as_updated(&self.connection, job, created)?)))
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::fixture::*;
    use crate::model::kind::Kind;
    use crate::model::operation::Operation;
    use crate::model::state::JobState;

    #[test]
    fn only_a_record_that_exists_is_given() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Harbour", "Wharf"], false);
        assert_eq!(bench.journal.known_record(Kind::Company).unwrap(), None);
        apply(&mut bench.journal, claim(jobs[0], Operation::AddCompany)).unwrap();
        apply(&mut bench.journal, created(jobs[0], JobState::Sending, id(7))).unwrap();
        let (found, record) = bench.journal.known_record(Kind::Company).unwrap().unwrap();
        assert_eq!((found, record.name()), (id(7), "Harbour"));
        assert_eq!(bench.journal.known_record(Kind::Site).unwrap(), None);
    }
}
