//! How the words of the model stand in columns: ids of ours and moments as integers, kinds, roles and
//! operations by their numbers, everything else as its word.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::ending::RunEnd;
use crate::journal::{Disposition, RunId, SheetId};
use crate::model::content_hash::ContentHash;
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
    JobState: JobState::as_str, JobState::parse;
    Doubt: Doubt::code, Doubt::parse;
    Execution: Execution::as_str, Execution::parse;
    Disposition: Disposition::as_str, Disposition::parse;
    RunEnd: RunEnd::as_str, RunEnd::parse;
}

/// Declares a type that is its place, from 1, in the list of all there are; schema.sql has the names of these numbers.
macro_rules! numbered {
    ($($type:ty: $all:expr, $place:expr;)+) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(count($place(*self)).saturating_add(1)))
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let number = i64::column_result(value)?;
                let place = number.checked_sub(1).and_then(|place| usize::try_from(place).ok());
                place.and_then(|place| $all.get(place).copied()).ok_or(FromSqlError::OutOfRange(number))
            }
        }
    )+};
}

numbered! {
    Kind: Kind::ALL, Kind::index;
    Operation: Operation::ALL, |operation: Operation| operation as usize;
    Role: Role::ALL, |role: Role| Role::ALL.iter().position(|known| *known == role).unwrap_or(usize::MAX);
}

/// The id of a record in the service, as its sixteen bytes; what a person looks at shows it as text (the view `jobs`).
#[derive(Debug, Clone, Copy)]
pub(in crate::journal) struct Id(pub(in crate::journal) RemoteId);

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_bytes().as_slice()))
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let id = match value {
            // Within an action, which is JSON.
            ValueRef::Text(text) => RemoteId::try_parse_ascii(text),
            value => RemoteId::from_slice(value.as_blob()?),
        };
        id.map(Self).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

impl ToSql for ContentHash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.as_bytes()))
    }
}

impl FromSql for ContentHash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::try_from(value.as_blob()?).map_err(|error| FromSqlError::Other(Box::new(error)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::bench;

    #[test]
    fn the_journal_names_every_number_as_the_model_does() {
        let bench = bench();
        let names = |table: &str| -> Vec<(i64, String)> {
            let sql = format!("SELECT id, name FROM {table} ORDER BY id");
            let mut statement = bench.journal.connection.prepare(&sql).unwrap();
            let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            names.collect::<rusqlite::Result<_>>().unwrap()
        };
        let numbered = |names: &mut dyn Iterator<Item = &'static str>| -> Vec<(i64, String)> {
            (1..).zip(names.map(str::to_owned)).collect()
        };
        // A journal keeps the numbers: what is added comes last, with a step that adds its name.
        assert_eq!(names("kind_name"), numbered(&mut Kind::ALL.iter().map(|kind| kind.singular())));
        assert_eq!(
            names("operation_name"),
            numbered(&mut Operation::ALL.iter().map(|operation| operation.name()))
        );
        assert_eq!(Role::ALL.map(|role| role.as_str()), ["company", "device", "parent", "site", "template"]);
    }

    #[test]
    fn a_number_that_nothing_has_is_an_error() {
        for number in [0, -1, 999, i64::MIN] {
            assert!(Kind::column_result(ValueRef::Integer(number)).is_err());
            assert!(Operation::column_result(ValueRef::Integer(number)).is_err());
            assert!(Role::column_result(ValueRef::Integer(number)).is_err());
        }
        for &operation in Operation::ALL {
            let ToSqlOutput::Owned(rusqlite::types::Value::Integer(number)) = operation.to_sql().unwrap()
            else {
                panic!("no number");
            };
            assert_eq!(Operation::column_result(ValueRef::Integer(number)).unwrap(), operation);
        }
    }
}
