//! Notes how the record of a job was read back, and what was found.

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::RunId;
use crate::journal::file::column::Id;
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::state::write::{AuditFinding, ReadBy};
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
}

impl ReadBy {
    pub(in crate::journal) const fn as_str(self) -> &'static str {
        match self {
            Self::Key => "by_key",
            Self::Id => "by_id",
            Self::Nothing => "unread",
        }
    }

    /// `None` for 'due': not yet.
    pub(in crate::journal) fn parse(word: &str) -> Option<Self> {
        match word {
            "by_key" => Some(Self::Key),
            "by_id" => Some(Self::Id),
            "unread" => Some(Self::Nothing),
            _ => None,
        }
    }
}

/// Notes how a job was read back, unless it has another record by now than the one that was read.
pub(in crate::journal) fn note(
    connection: &Connection,
    (job, id): (JobId, Option<RemoteId>),
    run: RunId,
    by: ReadBy,
    finding: Option<&AuditFinding>,
    at: Moment,
) -> Result<()> {
    let noted = connection
        .prepare_cached("UPDATE job SET audit = ?3 WHERE id = ?1 AND remote_id IS ?2")?
        .execute((job, id.map(Id), by.as_str()))?;
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
        // What was found once and is in order by now. A look by id alone shows no second record; no look, nothing.
        let (all, vanished) = (by == ReadBy::Key, by == ReadBy::Id);
        connection
            .prepare_cached("DELETE FROM audit WHERE job = ?1 AND (?2 OR (?3 AND code = ?4))")?
            .execute((job, all, vanished, AuditFinding::VANISHED))?;
    }
    Ok(())
}
