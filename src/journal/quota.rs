//! The ledger of the daily quota: creations sent, confirmed and doubtful by day, and the ceiling once learned.

use rusqlite::{Connection, OptionalExtension};

use super::Journal;
use super::column::{count, natural};
use crate::error::Result;
use crate::model::time::{Day, Moment};

/// One day of the ledger, by the service's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaDay {
    /// The day.
    pub day: Day,
    /// Creations sent and not known to be refused.
    pub sent: u64,
    /// Of these, confirmed.
    pub confirmed: u64,
    /// Of these, not known to have happened.
    pub doubtful: u64,
    /// The most that the day allowed, learned when the service refused.
    pub ceiling: Option<u64>,
}

impl Journal {
    /// The ledger of a day; all zero when nothing is known of it.
    pub fn quota(&self, day: Day) -> Result<QuotaDay> {
        let known = self
            .connection
            .prepare_cached("SELECT sent, confirmed, doubtful, ceiling FROM quota WHERE day = ?1")?
            .query_row([day], |row| {
                Ok(QuotaDay {
                    day,
                    sent: natural(row.get(0)?),
                    confirmed: natural(row.get(1)?),
                    doubtful: natural(row.get(2)?),
                    ceiling: row.get::<_, Option<i64>>(3)?.map(natural),
                })
            })
            .optional()?;
        Ok(known.unwrap_or(QuotaDay { day, sent: 0, confirmed: 0, doubtful: 0, ceiling: None }))
    }

    /// The ceiling learned last, on whatever day.
    pub fn latest_ceiling(&self) -> Result<Option<u64>> {
        let ceiling: Option<i64> = self
            .connection
            .query_row(
                "SELECT ceiling FROM quota WHERE ceiling IS NOT NULL ORDER BY day DESC LIMIT 1",
                [],
                |row| row.get(0),
            )
            .optional()?;
        Ok(ceiling.map(natural))
    }
}

/// Adds to the ledger of a day. Nothing falls below zero: what is taken back may have been counted by another journal.
pub(super) fn add(connection: &Connection, day: Day, sent: i64, confirmed: i64, doubtful: i64) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO quota (day, sent, confirmed, doubtful)
             VALUES (?1, max(0, ?2), max(0, ?3), max(0, ?4))
             ON CONFLICT (day) DO UPDATE SET
                sent = max(0, sent + ?2),
                confirmed = max(0, confirmed + ?3),
                doubtful = max(0, doubtful + ?4)",
        )?
        .execute((day, sent, confirmed, doubtful))?;
    Ok(())
}

/// Remembers the ceiling of a day.
pub(super) fn learn(connection: &Connection, day: Day, ceiling: u64, at: Moment) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO quota (day, ceiling, ceiling_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (day) DO UPDATE SET ceiling = ?2, ceiling_at = ?3",
        )?
        .execute((day, count(ceiling), at))?;
    Ok(())
}
