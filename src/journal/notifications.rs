//! Notifications: what is to be reported to others, each change once, and kept until it is delivered.
//!
//! They need no lock of the journal: each change is a transaction of its own, and no row depends on them. Nor do they
//! bring the journal forward (`identity`): an older copy reports something a second time at worst.

use rusqlite::OptionalExtension;

use crate::error::Result;
use crate::journal::file::column::natural;
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::{Journal, View};
use crate::model::time::Moment;

/// A notification that a target has not got yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// Its number in the journal.
    pub number: i64,
    /// What is delivered, as JSON.
    pub body: String,
}

/// How much is not delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndeliveredFigures {
    /// How many notifications at least one target has not got.
    pub notifications: u64,
    /// Why the latest try failed that did.
    pub last_error: Option<String>,
}

impl Journal {
    /// Notes a notification for these targets, unless the same change is noted already; says whether it was new.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_notification(
        &mut self,
        key: &str,
        body: &str,
        targets: &[&'static str],
        at: Moment,
    ) -> Result<bool> {
        let transaction = self.begin()?;
        let added = transaction
            .prepare_cached(
                "INSERT INTO notification (key, at, body) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO NOTHING",
            )?
            .execute((key, at, body))?;
        if added == 0 {
            return Ok(false);
        }
        let number = transaction.last_insert_rowid();
        for target in targets {
            transaction
                .prepare_cached("INSERT INTO delivery (notification, target) VALUES (?1, ?2)")?
                .execute((number, target))?;
        }
        transaction.commit()?;
        Ok(true)
    }

    /// Notes that a target has got a notification.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_delivered(&mut self, number: i64, target: &'static str, at: Moment) -> Result<()> {
        self.view.connection.execute(
            "UPDATE delivery SET last_error = NULL, failed_at = NULL, delivered_at = ?3
             WHERE notification = ?1 AND target = ?2",
            (number, target, at),
        )?;
        Ok(())
    }

    /// Notes that a try to deliver a notification failed, why and when.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_not_delivered(
        &mut self,
        number: i64,
        target: &'static str,
        why: &str,
        at: Moment,
    ) -> Result<()> {
        self.view.connection.execute(
            "UPDATE delivery SET last_error = ?3, failed_at = ?4
             WHERE notification = ?1 AND target = ?2 AND delivered_at IS NULL",
            (number, target, why, at),
        )?;
        Ok(())
    }
}

impl View {
    /// The oldest notification beyond a number that a target has not got.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn undelivered(&self, target: &str, beyond: i64) -> Result<Option<Undelivered>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT notification.id, body FROM delivery JOIN notification ON notification.id = notification
             WHERE target = ?1 AND delivered_at IS NULL AND notification > ?2 ORDER BY notification LIMIT 1",
        )?;
        let found = statement
            .query_row((target, beyond), |row| Ok(Undelivered { number: row.get(0)?, body: row.get(1)? }));
        Ok(found.optional()?)
    }

    /// How much is not delivered to these targets. What is due to others waits until they are targets again.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn undelivered_figures(&self, targets: &[&str]) -> Result<UndeliveredFigures> {
        let targets = serde_json::to_string(targets).map_err(unwritable)?;
        let notifications: i64 = self.connection.query_row(
            "SELECT count(DISTINCT notification) FROM delivery
             WHERE delivered_at IS NULL AND target IN (SELECT value FROM json_each(?1))",
            [&targets],
            |row| row.get(0),
        )?;
        let mut statement = self.connection.prepare_cached(
            "SELECT last_error FROM delivery WHERE delivered_at IS NULL AND last_error IS NOT NULL
                 AND target IN (SELECT value FROM json_each(?1))
             ORDER BY failed_at DESC, notification DESC LIMIT 1",
        )?;
        let last_error = statement.query_row([&targets], |row| row.get(0)).optional()?;
        Ok(UndeliveredFigures { notifications: natural(notifications), last_error })
    }

    /// The name of the machine that ran it last.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn machine_name(&self) -> Result<Option<String>> {
        Ok(self.connection.query_row("SELECT machine_name FROM identity", [], |row| row.get(0))?)
    }

    /// When a row was last done, failed, held or decided on; what is reported of the rows changes only with it.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn last_change(&self) -> Result<Option<Moment>> {
        Ok(self.connection.query_row(
            "SELECT max(at) FROM (
                 SELECT max(finished_at) AS at FROM job
                 UNION ALL SELECT max(held_since) FROM job WHERE state = 'held'
                 UNION ALL SELECT max(at) FROM decision
                 UNION ALL SELECT max(at) FROM audit)",
            [],
            |row| row.get(0),
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::{at, bench};

    const BOTH: [&str; 2] = ["command", "webhook"];

    #[test]
    fn the_same_change_is_noted_once_and_another_one_as_well() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        for (key, is_new) in [("parked 1", true), ("parked 1", false), ("parked 2", true)] {
            assert_eq!(journal.note_notification(key, key, &BOTH, at(1)).unwrap(), is_new, "{key}");
        }
        assert_eq!(journal.undelivered_figures(&BOTH).unwrap().notifications, 2);
    }

    #[test]
    fn it_stays_due_for_each_target_until_that_has_got_it() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        for key in ["one", "two"] {
            journal.note_notification(key, key, &BOTH, at(1)).unwrap();
        }
        let due = |journal: &Journal, target, beyond| {
            journal.undelivered(target, beyond).unwrap().map(|due| (due.number, due.body))
        };
        let (one, two) = (Some((1, "one".to_owned())), Some((2, "two".to_owned())));
        assert_eq!((due(journal, "webhook", 0), due(journal, "webhook", 1)), (one.clone(), two.clone()));
        for (number, why, second) in [(2, "late", 1), (1, "refused", 2)] {
            journal.note_not_delivered(number, "webhook", why, at(second)).unwrap();
        }
        let figures = UndeliveredFigures { notifications: 2, last_error: Some("refused".to_owned()) };
        assert_eq!(journal.undelivered_figures(&BOTH).unwrap(), figures);
        let of_command = journal.undelivered_figures(&["command"]).unwrap();
        assert_eq!(of_command, UndeliveredFigures { notifications: 2, last_error: None });
        journal.note_delivered(1, "webhook", at(2)).unwrap();
        assert_eq!((due(journal, "webhook", 0), due(journal, "command", 0)), (two, one));
        for (number, target) in [(1, "command"), (2, "command"), (2, "webhook")] {
            journal.note_delivered(number, target, at(3)).unwrap();
        }
        assert_eq!(journal.undelivered_figures(&BOTH).unwrap(), UndeliveredFigures::default());
        assert_eq!((due(journal, "webhook", 0), due(journal, "command", 0)), (None, None));
        assert!(!journal.note_notification("one", "one", &BOTH, at(4)).unwrap(), "it is remembered");
    }
}
