//! How the words of the model stand in columns: ids and moments as integers, everything else as its word.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::ending::RunEnd;
use crate::journal::{Disposition, RunId, SheetId};
use crate::model::id::{CallId, ImportId, JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::model::state::JobState;
use crate::model::time::{Day, Moment};
use crate::model::verdict::{Doubt, Execution};

/// Declares a type that is one integer in the journal.
macro_rules! integer {
    ($($type:ty: $from:expr, $to:expr;)+) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from($to(*self)))
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map($from)
            }
        }
    )+};
}

integer! {
    ImportId: ImportId, |id: ImportId| id.0;
    CallId: CallId, |id: CallId| id.0;
    JobId: JobId, |id: JobId| id.0;
    SheetId: SheetId, |id: SheetId| id.0;
    RunId: RunId, |id: RunId| id.0;
    Moment: Moment::from_millis, Moment::millis;
    Day: Day::from_number, Day::number;
}

/// A word that names nothing of the expected type.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is not one of the words of this column")]
struct UnknownWord(String);

/// Declares a type that is one of a few words in the journal.
macro_rules! word {
    ($($type:ty: $to:expr, $from:expr;)+) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from($to(*self)))
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let word = value.as_str()?;
                let known: Option<Self> = $from(word);
                known.ok_or_else(|| FromSqlError::Other(Box::new(UnknownWord(word.to_owned()))))
            }
        }
    )+};
}

word! {
    JobState: JobState::as_str, |word: &str| word.parse().ok();
    Kind: Kind::singular, |word: &str| Kind::try_from(word.to_owned()).ok();
    Operation: Operation::name, |word: &str| word.parse().ok();
    Role: Role::as_str, Role::parse;
    Doubt: Doubt::code, Doubt::parse;
    Execution: Execution::as_str, Execution::parse;
    Disposition: Disposition::as_str, Disposition::parse;
    RunEnd: RunEnd::as_str, RunEnd::parse;
}

/// The id of a record in the service, as text, so that a person can look for it.
#[derive(Debug, Clone, Copy)]
pub(in crate::journal) struct Id(pub(in crate::journal) RemoteId);

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.hyphenated().to_string()))
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        RemoteId::try_parse(text).map(Self).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A count as SQLite keeps it; counts beyond 2^63 do not occur and stop there.
pub(in crate::journal) fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A count that SQLite gave and that a CHECK or `count(*)` keeps from being negative.
pub(in crate::journal) fn natural(number: i64) -> u64 {
    number.unsigned_abs()
}
