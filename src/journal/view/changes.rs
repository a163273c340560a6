//! What an import changed of records that were there.

use rusqlite::Connection;

use crate::error::Result;
use crate::model::id::JobId;
use crate::model::time::Moment;

/// Whether what a job brought about was carried out for the row at `place`, of an import at this moment: the job was not done
/// before, and no later row asked for something else.
pub(in crate::journal) fn is_of(
    connection: &Connection,
    job: JobId,
    place: i64,
    imported_at: Moment,
) -> Result<bool> {
    let is_of = connection
        .prepare_cached(
            "SELECT state = 'done' AND finished_at > ?3 AND NOT EXISTS (
                 SELECT 1 FROM sheet_row AS later
                 WHERE later.job = job.id AND later.place > ?2 AND later.disposition = 'revised')
             FROM job WHERE id = ?1",
        )?
        .query_row((job, place, imported_at), |row| row.get(0))?;
    Ok(is_of)
}

#[cfg(test)]
mod tests {
    use crate::journal::fixture::{apply, at, bench, claim, row, sheet};
    use crate::journal::{Disposition, Evidence, How, Journal, NewJob, Write};
    use crate::model::action::{Action, OwnedEntry, Owner};
    use crate::model::before::Before;
    use crate::model::id::{ImportId, JobId, RemoteId};
    use crate::model::kind::{Kind, Upkeep};
    use crate::model::operation::Operation::PutDeviceMetadata;
    use crate::model::record::{Link, Role, Target};
    use crate::model::state::JobState::{InDoubt, Sending};
    use crate::model::time::Moment;
    use crate::model::verdict::{Doubt, Execution};

    fn asset(value: &str) -> NewJob {
        let entry =
            OwnedEntry { owner: Owner::Device, key: "asset".into(), value: Some(value.into()), id: None };
        NewJob {
            kind: Kind::Upkeep(Upkeep::Metadata),
            sheet_key: None,
            name: "asset".into(),
            natural_key: "device 7 asset".into(),
            content_hash: value.into(),
            links: vec![Link { role: Role::Device, target: Target::Remote(RemoteId::from_u128(7)) }],
            steps: vec![Action::PutMetadataEntry(entry)],
        }
    }

    /// An import at a moment whose one row asks for a value; a new one, or one that revises the job there is.
    fn import(journal: &mut Journal, moment: i64, value: &str, known: Option<JobId>) -> (ImportId, JobId) {
        let mut import = journal.begin_import(at(moment)).unwrap();
        let metadata = import.sheet(&sheet("metadata", Kind::Upkeep(Upkeep::Metadata))).unwrap();
        let job = match known {
            None => import.add_job(&asset(value)).unwrap(),
            Some(job) => {
                import.revise_job(job, &asset(value)).unwrap();
                job
            }
        };
        let disposition = if known.is_some() { Disposition::Revised } else { Disposition::New };
        import.row(&row(metadata, 2, job, disposition)).unwrap();
        (import.finish().unwrap().import, job)
    }

    fn claimed_over(job: JobId, before: Option<&str>) -> Write {
        let Write::Claim { operation, content, baseline, counted, at, .. } = claim(job, PutDeviceMetadata)
        else {
            unreachable!("it is a claim")
        };
        let before = before.map(|value| Before::Value { value: value.to_owned() });
        Write::Claim { job, operation, content, baseline, before, counted, at }
    }

    fn evidence(execution: Execution, moment: i64) -> Evidence {
        Evidence { execution, ..Evidence::at(at(moment)) }
    }

    fn done(job: JobId, from: crate::model::state::JobState, moment: i64) -> Write {
        let evidence = evidence(Execution::Confirmed, moment);
        Write::Advance { job, from, how: How::Done, id: None, evidence }
    }

    fn shown(journal: &Journal, import: ImportId) -> Option<String> {
        let sheet = journal.sheets(import).unwrap()[0].sheet;
        let mut shown = Vec::new();
        journal
            .rows(sheet, &mut |row| {
                shown.push(row.before);
                Ok(())
            })
            .unwrap();
        match shown.as_slice() {
            [Some(Before::Value { value })] => Some(value.clone()),
            [None] => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_there_before_is_shown_for_the_import_that_changed_it_last() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (first, job) = import(journal, 1_000, "A-2", None);
        apply(journal, claimed_over(job, Some("A-1"))).unwrap();
        assert_eq!(shown(journal, first), None, "it is under way");
        apply(journal, done(job, Sending, 3_000)).unwrap();
        assert_eq!(shown(journal, first).as_deref(), Some("A-1"));

        let (second, _) = import(journal, 4_000, "A-3", Some(job));
        assert_eq!((shown(journal, first), shown(journal, second)), (None, None));
        apply(journal, claimed_over(job, Some("A-2"))).unwrap();
        apply(journal, done(job, Sending, 5_000)).unwrap();
        assert_eq!((shown(journal, first), shown(journal, second).as_deref()), (None, Some("A-2")));
    }

    #[test]
    fn what_was_read_first_stays_until_it_is_proved_that_nothing_was_carried_out() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (first, job) = import(journal, 1_000, "A-2", None);
        // Proved not executed: somebody may change it before the next request, which is read again.
        apply(journal, claimed_over(job, Some("A-0"))).unwrap();
        let (code, reason) = ("rateLimitExceeded".to_owned(), "too fast".to_owned());
        let not_sent = evidence(Execution::NotExecuted, 2_100);
        apply(journal, Write::Return { job, code, reason, evidence: not_sent }).unwrap();
        apply(journal, claimed_over(job, Some("A-1"))).unwrap();
        // The answer is lost: what the look-up shows from now on may be what that request did.
        let (doubt, until) = (Doubt::Timeout, at(2_200));
        let lost = evidence(Execution::Doubtful, 2_200);
        apply(journal, Write::Doubt { job, doubt, executed: false, charged: true, until, evidence: lost })
            .unwrap();
        let note = "its values were not there".to_owned();
        apply(journal, Write::Release { job, note, at: at(2_300) }).unwrap();
        apply(journal, claimed_over(job, Some("A-2"))).unwrap();
        // Killed.
        journal.queue().recover(Moment::from_millis(2_400)).unwrap();
        apply(journal, done(job, InDoubt, 3_000)).unwrap();
        assert_eq!(shown(journal, first).as_deref(), Some("A-1"));
    }

    #[test]
    fn what_was_never_read_is_not_known_even_if_a_later_look_shows_something() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (first, job) = import(journal, 1_000, "A-2", None);
        apply(journal, claimed_over(job, None)).unwrap();
        journal.queue().recover(Moment::from_millis(2_400)).unwrap();
        let note = "its values were not there".to_owned();
        apply(journal, Write::Release { job, note, at: at(2_500) }).unwrap();
        apply(journal, claimed_over(job, Some("A-2"))).unwrap();
        apply(journal, done(job, Sending, 3_000)).unwrap();
        assert_eq!(shown(journal, first), None);
    }
}
