//! Calls: requests that a person sends one at a time, apart from all rows. Each that changes something is noted before it
//! leaves and when it has ended, together with what it counts for in the quota ledger; none is ever sent again.
//!
//! A call needs no lock of the journal: each of its two changes is a transaction of its own, as an import is, and no row
//! depends on them. Nor does it bring the journal forward (`identity`): an older copy that lacks a call sends nothing twice.

use rusqlite::OptionalExtension as _;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::advice::Advice;
use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::state::quota;
use crate::journal::state::write::Evidence;
use crate::journal::{Journal, View};
use crate::model::id::{CallId, RemoteId};
use crate::model::operation::Operation;
use crate::model::time::{Day, Moment, rfc_3339};
use crate::model::verdict::Execution;

/// A call that is about to leave.
#[derive(Debug, Clone)]
pub struct NewCall<'a> {
    /// What is asked.
    pub operation: Operation,
    /// The parameters, by their names in the specification.
    pub parameters: &'a [(&'static str, String)],
    /// The digest of the body, in hexadecimal.
    pub body_sha256: Option<String>,
    /// Who sends it.
    pub who: String,
    /// The day on whose quota it counts; `None` for what is no creation.
    pub counted: Option<Day>,
}

/// A call of one operation whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct UnknownCall {
    /// Its number.
    pub call: CallId,
    /// What was asked.
    pub operation: Operation,
    /// Its parameters, as JSON.
    pub parameters: String,
    /// When it was sent.
    #[serde(serialize_with = "rfc_3339")]
    #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
    pub sent_at: Moment,
    /// Who sent it.
    pub who: String,
    /// Why the outcome is unknown; `null` while the call is under way, or when fleetload was stopped.
    pub code: Option<String>,
}

impl Journal {
    /// Notes a call. The request may leave once this returns.
    pub fn begin_call(&mut self, call: &NewCall<'_>, at: Moment) -> Result<CallId> {
        let parameters: Map<String, Value> =
            call.parameters.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
        let transaction = self.begin()?;
        let id = transaction
            .prepare_cached(
                "INSERT INTO call (operation, parameters, body_sha256, who, sent_at, counted)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .insert((
                call.operation,
                Value::Object(parameters).to_string(),
                &call.body_sha256,
                &call.who,
                at,
                call.counted,
            ))?;
        if let Some(day) = call.counted {
            quota::begin(&transaction, day)?;
        }
        transaction.commit()?;
        Ok(CallId(id))
    }

    /// Notes what a call came to, with the id of the record that it made.
    pub fn end_call(&mut self, call: CallId, evidence: &Evidence, made: Option<RemoteId>) -> Result<()> {
        let transaction = self.begin()?;
        let changed = transaction.execute(
            // What was reviewed before it ended was not known then.
            "UPDATE call SET ended_at = ?2, execution = ?3, status = ?4, code = ?5, remote_id = ?6,
                 reviewed_at = NULL, reviewed_by = NULL
             WHERE id = ?1 AND ended_at IS NULL",
            (call.0, evidence.at, evidence.execution, evidence.status, &evidence.code, made.map(Id)),
        )?;
        if changed != 1 {
            return Err(Error::internal(format!("the journal has no call {} under way", call.0)));
        }
        let counted: Option<Day> =
            transaction.query_row("SELECT counted FROM call WHERE id = ?1", [call.0], |row| row.get(0))?;
        if let Some(day) = counted {
            quota::end(&transaction, day, evidence.execution)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Takes a person's word that they have looked in the service whether these calls were carried out: all of them, or
    /// none. Hands back those that were not reviewed before.
    ///
    /// # Errors
    /// Usage when the journal has no such call, or its outcome is known.
    pub fn review_calls(&mut self, calls: &[CallId], who: &str, at: Moment) -> Result<Vec<CallId>> {
        let transaction = self.begin()?;
        let mut reviewed = Vec::new();
        for &call in calls {
            let is_unknown: Option<bool> = transaction
                .prepare_cached("SELECT execution IS NULL OR execution = ?2 FROM call WHERE id = ?1")?
                .query_row((call, Execution::Doubtful), |row| row.get(0))
                .optional()?;
            match is_unknown {
                Some(true) => {}
                Some(false) => return Err(not_unknown(call, "the outcome is known of call")),
                None => return Err(not_unknown(call, "the journal has no call")),
            }
            let changed = transaction
                .prepare_cached(
                    "UPDATE call SET reviewed_at = ?2, reviewed_by = ?3 WHERE id = ?1 AND reviewed_at IS NULL",
                )?
                .execute((call, at, who))?;
            if changed == 1 {
                reviewed.push(call);
            }
        }
        transaction.commit()?;
        Ok(reviewed)
    }
}

impl View {
    /// The calls sent since a moment of which nobody knows whether they were carried out, oldest first.
    pub fn unknown_calls(&self, since: Moment) -> Result<Vec<UnknownCall>> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT id, operation, parameters, sent_at, who, code FROM call
                 WHERE sent_at >= ?1 AND (execution IS NULL OR execution = ?2) AND reviewed_at IS NULL ORDER BY id",
            )?
            .query_map((since, Execution::Doubtful), |row| {
                Ok(UnknownCall {
                    call: row.get(0)?,
                    operation: row.get(1)?,
                    parameters: row.get(2)?,
                    sent_at: row.get(3)?,
                    who: row.get(4)?,
                    code: row.get(5)?,
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(found)
    }
}

/// A call that cannot be reviewed.
fn not_unknown(call: CallId, what: &str) -> Error {
    Error::usage(format!("{what} {call}"))
        .hint(Advice::from("to list the calls with an unknown outcome, type: ").command("fleetload status"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;

    const DAY: Day = Day::from_number(20_000);

    fn begin(journal: &mut Journal, operation: Operation, when: i64) -> CallId {
        let parameters = [("deviceId", id(7).to_string())];
        let call = NewCall {
            operation,
            parameters: &parameters,
            body_sha256: Some("ab".into()),
            who: "kim".into(),
            counted: operation.creates().then_some(DAY),
        };
        journal.begin_call(&call, at(when)).unwrap()
    }

    fn end(journal: &mut Journal, call: CallId, execution: Execution, code: Option<&str>) -> Result<()> {
        let code = code.map(str::to_owned);
        journal.end_call(call, &Evidence { execution, code, ..Evidence::at(at(9_000)) }, None)
    }

    #[test]
    fn a_call_whose_end_is_doubtful_or_not_noted_is_unknown_and_every_other_is_not() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let label = Operation::PutDeviceLabel;
        let lost = begin(journal, label, 1_000);
        end(journal, lost, Execution::Doubtful, Some("answer.timeout")).unwrap();
        begin(journal, label, 2_000);
        for (when, execution) in
            [(3_000, Execution::Confirmed), (4_000, Execution::Refused), (5_000, Execution::NotExecuted)]
        {
            let call = begin(journal, label, when);
            end(journal, call, execution, None).unwrap();
        }
        let unknown = |since| -> Vec<(Moment, Option<String>)> {
            let calls = journal.unknown_calls(at(since)).unwrap();
            calls.into_iter().map(|call| (call.sent_at, call.code)).collect()
        };
        assert_eq!(unknown(0), [(at(1_000), Some("answer.timeout".to_owned())), (at(2_000), None)]);
        assert_eq!(unknown(1_500), [(at(2_000), None)]);
    }

    #[test]
    fn a_call_that_was_reviewed_is_not_shown_until_its_end_is_unknown_after_that() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (known, under_way) =
            (begin(journal, Operation::AddSite, 1), begin(journal, Operation::AddSite, 2));
        end(journal, known, Execution::Confirmed, None).unwrap();
        let unknown = |journal: &Journal| -> Vec<CallId> {
            journal.unknown_calls(at(0)).unwrap().iter().map(|call| call.call).collect()
        };
        for (calls, words) in [
            (vec![under_way, known], format!("the outcome is known of call {known}")),
            (vec![under_way, CallId(9)], "the journal has no call 9".to_owned()),
        ] {
            let error = journal.review_calls(&calls, "kim", at(3_000)).unwrap_err();
            assert_eq!(error.what(), words);
            assert_eq!(unknown(journal), [under_way], "all of them or none");
        }
        assert_eq!(journal.review_calls(&[under_way], "kim", at(3_000)).unwrap(), [under_way]);
        assert_eq!(unknown(journal), []);
        assert_eq!(journal.review_calls(&[under_way], "kim", at(4_000)).unwrap(), []);
        // It was under way still.
        end(journal, under_way, Execution::Doubtful, Some("answer.timeout")).unwrap();
        assert_eq!(unknown(journal), [under_way]);
    }

    #[test]
    fn a_call_ends_once() {
        let mut bench = bench();
        let call = begin(&mut bench.journal, Operation::PutDeviceLabel, 1_000);
        end(&mut bench.journal, call, Execution::Confirmed, None).unwrap();
        assert!(end(&mut bench.journal, call, Execution::Doubtful, None).is_err());
    }

    #[test]
    fn a_creation_counts_in_the_ledger_from_before_it_leaves_and_nothing_else_does() {
        let mut bench = bench();
        let _run = bench.journal.lock_for_run().unwrap().unwrap();
        let journal = &mut bench.journal;
        let figures = |journal: &Journal| {
            let day = journal.quota(DAY).unwrap();
            (day.sent, day.confirmed, day.refused, day.doubtful)
        };
        begin(journal, Operation::PutDeviceLabel, 1_000);
        assert_eq!(figures(journal), (0, 0, 0, 0));
        let calls: Vec<CallId> = (0..4).map(|n| begin(journal, Operation::AddSite, 2_000 + n)).collect();
        assert_eq!(figures(journal), (4, 0, 0, 0));
        let ends = [Execution::Confirmed, Execution::Refused, Execution::Doubtful, Execution::NotExecuted];
        for (call, execution) in calls.into_iter().zip(ends) {
            end(journal, call, execution, None).unwrap();
        }
        assert_eq!(figures(journal), (3, 1, 1, 1));
    }
}
