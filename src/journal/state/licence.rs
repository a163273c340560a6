//! Licence codes, for which the service has no look-up and no removal: what the journal knows of other requests that add a
//! code to a device is all that prevents a second one.

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::Work;
use crate::journal::file::column::Id;
use crate::journal::state::step;
use crate::journal::stored_row::StoredTexts;
use crate::model::action::Action;
use crate::model::id::JobId;
use crate::model::operation::Operation;

/// What is known of a request that adds the same licence code to the same device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameLicence {
    /// It is added.
    Added,
    /// Whether that of this job was carried out is unknown.
    Unknown(JobId),
    /// That of this job has no answer yet.
    UnderWay(JobId),
}

/// What is known of requests for the licence code of a row, apart from those for the step that it stands at.
pub(in crate::journal) fn of_others(connection: &Connection, work: &Work) -> Result<Option<SameLicence>> {
    let (Action::AddLicence(_), Some((_, device))) = (&work.action, work.owner()) else { return Ok(None) };
    // What a person said later of a request whose outcome is unknown counts.
    let mut sent = connection.prepare_cached(
        "WITH maker AS (SELECT id FROM job WHERE remote_id = ?1),
              about AS (SELECT id AS job FROM maker
                        UNION SELECT job FROM upkeep WHERE record = ?2
                        UNION SELECT job FROM upkeep WHERE record IN (SELECT '#' || id FROM maker))
         SELECT attempt.job, step.id, step.ended = 1, attempt.execution = 'confirmed', attempt.execution = 'doubtful'
             AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.job = attempt.job AND decision.at >= attempt.ended_at
                 AND what = 'not created')
         FROM about CROSS JOIN attempt ON attempt.job = about.job
         LEFT JOIN step ON step.id = attempt.job << 16 | attempt.step
         WHERE attempt.operation = ?3 AND NOT (attempt.job = ?4 AND attempt.step = ?5)
         ORDER BY attempt.job, attempt.number",
    )?;
    let own = (Id(device), device.to_string(), Operation::AddLicenceCode, work.job, work.step);
    let mut rows = sent.query(own)?;
    let (mut texts, mut found) = (StoredTexts::of(connection), None);
    while let Some(row) = rows.next()? {
        let job: JobId = row.get(0)?;
        let asked = match row.get(1)? {
            Some(id) => Some(step::action(connection, &mut texts, id)?),
            None => None,
        };
        let is_same = asked.as_ref() == Some(&work.action);
        // Of a step that asks for something else by now nobody can say which code it asked for.
        let is_replaced = !matches!(asked, Some(Action::AddLicence(_)));
        let (is_done, is_confirmed, is_doubtful): (Option<bool>, Option<bool>, Option<bool>) =
            (row.get(2)?, row.get(3)?, row.get(4)?);
        match (is_confirmed, is_doubtful) {
            (Some(true), _) | (_, Some(true)) if is_same && is_done == Some(true) => {
                return Ok(Some(SameLicence::Added));
            }
            (_, Some(true)) if is_same || is_replaced => found = Some(SameLicence::Unknown(job)),
            (None, _) if is_same => found = found.or(Some(SameLicence::UnderWay(job))),
            _ => {}
        }
    }
    Ok(found)
}
