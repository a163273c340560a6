//! Calls: requests that a person sends one at a time, apart from all rows. Each that changes something is noted before it
//! leaves and when it has ended, together with what it counts for in the quota ledger; none is ever sent again.
//!
//! A call needs no lock of the journal: each of its two changes is a transaction of its own, as an import is, and no row
//! depends on them. Nor does it bring the journal forward (`identity`): an older copy that lacks a call sends nothing twice.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::state::quota;
use crate::journal::state::write::Evidence;
use crate::journal::{Journal, View};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::model::time::{Day, Moment};
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

/// The number of a call within a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId(i64);

/// A call that was sent and of which nobody knows whether it was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCall {
    /// What was asked.
    pub operation: Operation,
    /// The parameters, as JSON.
    pub parameters: String,
    /// When it was sent.
    pub sent_at: Moment,
    /// Who sent it.
    pub who: String,
    /// The code of the doubt; `None` when no end is noted: it is under way, or its process was ended.
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
            "UPDATE call SET ended_at = ?2, execution = ?3, status = ?4, code = ?5, remote_id = ?6
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
}

impl View {
    /// The calls sent since a moment of which nobody knows whether they were carried out, oldest first.
    pub fn unknown_calls(&self, since: Moment) -> Result<Vec<UnknownCall>> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT operation, parameters, sent_at, who, code FROM call
                 WHERE sent_at >= ?1 AND (execution IS NULL OR execution = ?2) ORDER BY id",
            )?
            .query_map((since, Execution::Doubtful), |row| {
                Ok(UnknownCall {
                    operation: row.get(0)?,
                    parameters: row.get(1)?,
                    sent_at: row.get(2)?,
                    who: row.get(3)?,
                    code: row.get(4)?,
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(found)
    }
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
    fn a_call_ends_once() {
        let mut bench = bench();
        let call = begin(&mut bench.journal, Operation::PutDeviceLabel, 1_000);
        end(&mut bench.journal, call, Execution::Confirmed, None).unwrap();
        assert!(end(&mut bench.journal, call, Execution::Doubtful, None).is_err());
    }

    #[test]
    fn a_creation_counts_in_the_ledger_from_before_it_leaves_and_nothing_else_does() {
        let mut bench = bench();
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
