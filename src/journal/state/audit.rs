//! Notes how the record of a job was read back, and what was found.

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::RunId;
use crate::journal::file::column::Id;
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::state::selection::{Selection, is_selected};
use crate::journal::state::step;
use crate::journal::state::write::{AuditFinding, ReadBy};
use crate::model::action::Action;
use crate::model::action::opposes::opposes;
use crate::model::content_hash::ContentHash;
use crate::model::id::{JobId, RemoteId};
use crate::model::reason::Reason;
use crate::model::time::Moment;

impl AuditFinding {
    /// The code of a record that is not there any more.
    pub const VANISHED: &str = Reason::AuditVanished.as_str();
    /// The code of a record beside which there is a second one.
    pub const DOUBLE: &str = Reason::AuditDouble.as_str();
    /// The code of a site that belongs to no row.
    pub const ORPHAN_SITE: &str = Reason::AuditOrphanSite.as_str();
    /// The code of what an upkeep row brought about and is not so any more.
    pub const REVERTED: &str = Reason::AuditReverted.as_str();
}

// CROSS JOIN: the few findings are looked up among all jobs, and not the other way round.
pub(in crate::journal) const REVERTED_JOBS: &str =
    "SELECT job.id FROM audit CROSS JOIN job ON job.id = audit.job
     WHERE audit.code = ?1 AND job.state IN ('done', 'incomplete') AND (?2 OR NOT EXISTS (
         SELECT 1 FROM decision AS seen
         WHERE seen.job = audit.job AND seen.what = 'seen' AND seen.details = CAST(audit.run AS TEXT)))
     ORDER BY audit.job";

/// The upkeep rows with a finding `?1` about the record `?2`, whose id as text is `?3`, but for the job `?4`.
pub(in crate::journal) const REVERTED_OF_RECORD: &str =
    "SELECT audit.job FROM audit CROSS JOIN upkeep ON upkeep.job = audit.job
     WHERE audit.code = ?1 AND audit.job <> ?4
         AND upkeep.record IN (SELECT ?3 UNION SELECT '#' || id FROM job WHERE remote_id = ?2)";

/// The upkeep rows that a selection means and of which what they changed is not so any more, oldest first. One whose finding was
/// reviewed is to stay as it is, unless its row is named.
pub(in crate::journal) fn reverted(connection: &Connection, selection: &Selection) -> Result<Vec<JobId>> {
    let jobs: Vec<JobId> = connection
        .prepare_cached(REVERTED_JOBS)?
        .query_map((AuditFinding::REVERTED, selection.row.is_some()), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut meant = Vec::new();
    for job in jobs {
        if is_selected(connection, job, selection)? {
            meant.push(job);
        }
    }
    Ok(meant)
}

/// What was found about the values that an upkeep row had before is not about those that it has now.
pub(in crate::journal) fn forget(connection: &Connection, job: JobId) -> Result<()> {
    connection.prepare_cached("DELETE FROM audit WHERE job = ?1")?.execute([job])?;
    Ok(())
}

/// A step that was carried out, or found to be so already, ends what was found about other rows that changed the same of its
/// record: that they are undone. Carried out again, they would put an old value over a newer one.
pub(in crate::journal) fn forget_changed_again(connection: &Connection, job: JobId, step: u32) -> Result<()> {
    let any: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM audit WHERE code = ?1)")?
        .query_row([AuditFinding::REVERTED], |row| row.get(0))?;
    if !any {
        return Ok(());
    }
    let Some(record) = record_of(connection, job)? else { return Ok(()) };
    let reverted: Vec<JobId> = connection
        .prepare_cached(REVERTED_OF_RECORD)?
        .query_map((AuditFinding::REVERTED, Id(record), record.to_string(), job), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if reverted.is_empty() {
        return Ok(());
    }
    let later = step::actions(connection, job)?.into_iter().nth(step as usize);
    let changes = |earlier: &Action| match (&later, earlier) {
        (Some(Action::Update(later)), Action::Update(earlier)) => later.shares_field_with(earlier),
        (Some(later), earlier) => opposes(later, earlier),
        (None, _) => false,
    };
    for earlier in reverted {
        if step::actions(connection, earlier)?.iter().any(changes) {
            forget(connection, earlier)?;
            // It is read back no more: the same was changed again.
            connection
                .prepare_cached("UPDATE job SET audit = ?2 WHERE id = ?1")?
                .execute((earlier, ReadBy::Nothing.as_str()))?;
        }
    }
    Ok(())
}

/// The id of the record that a job makes or is about, as far as it is known.
fn record_of(connection: &Connection, job: JobId) -> Result<Option<RemoteId>> {
    let found: (Option<Id>, Option<String>) = connection
        .prepare_cached(
            "SELECT coalesce(job.remote_id, maker.remote_id), upkeep.record FROM job
             LEFT JOIN upkeep ON upkeep.job = job.id
             LEFT JOIN job AS maker
                 ON upkeep.record LIKE '#%' AND maker.id = CAST(substr(upkeep.record, 2) AS INTEGER)
             WHERE job.id = ?1",
        )?
        .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match found {
        (Some(Id(record)), _) => Some(record),
        (None, record) => record.and_then(|record| record.parse().ok()),
    })
}

/// Notes how a job was read back, unless it has another record or other values by now than those that were read; `site` is the
/// name of those that were looked up beside its device.
pub(in crate::journal) fn note(
    connection: &Connection,
    (job, id, content): (JobId, Option<RemoteId>, ContentHash),
    run: RunId,
    (by, site): (ReadBy, Option<&str>),
    finding: Option<&AuditFinding>,
    at: Moment,
) -> Result<()> {
    let noted = connection
        .prepare_cached(
            "UPDATE job SET audit = ?3 WHERE id = ?1 AND remote_id IS ?2 AND content_hash = ?4
                AND (audit IS NOT NULL OR state = 'held')",
        )?
        .execute((job, id.map(Id), by.as_str(), content))?;
    if noted == 0 {
        return Ok(());
    }
    if let Some(finding) = finding {
        let found = serde_json::to_string(&finding.found).map_err(unwritable)?;
        connection
            .prepare_cached(
                "INSERT INTO audit (job, run, at, code, message, found) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (job) DO UPDATE SET run = ?2, at = ?3, code = ?4, message = ?5, found = ?6",
            )?
            .execute((job, run, at, &finding.code, &finding.message, found))?;
    } else {
        // What was found once and is in order by now. A look by id alone shows no second record; no look, nothing. A site that
        // an earlier try left behind is not the row's own once the row has other values.
        let (all, vanished) = (by == ReadBy::Key, by == ReadBy::Id);
        connection
            .prepare_cached(
                "DELETE FROM audit WHERE job = ?1 AND iif(code = ?5,
                     EXISTS (SELECT 1 FROM json_each(found) WHERE value ->> 'name' = ?6), ?2 OR (?3 AND code = ?4))",
            )?
            .execute((job, all, vanished, AuditFinding::VANISHED, AuditFinding::ORPHAN_SITE, site))?;
    }
    Ok(())
}
