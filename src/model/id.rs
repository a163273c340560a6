//! The numbers and ids things go by in a journal, each a type of its own so that one is never taken for another.

pub mod check;

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares a number that is one kind of thing's name within a journal.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// An import: the sheets read together by one command, numbered from 1 within a journal.
    ImportId
}
number! {
    /// A job: one row and its result, numbered from 1 within a journal.
    JobId
}
number! {
    /// An attempt: one request sent for a step, numbered from 1 within a journal.
    AttemptId
}

number! {
    /// A sheet of an import, numbered from 1 within a journal.
    SheetId
}

number! {
    /// A call: one request that a person sent with `call`, numbered from 1 within a journal.
    CallId
}

/// The id the service gave to a record (specification, conventions: a UUID).
pub type RemoteId = uuid::Uuid;
