//! News of a run, travelling up to whoever shows it. An event is reported only after what it tells is on disk.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::quota::QuotaDay;
use super::remaining::Remaining;
use super::state::JobState;
use super::tally::Tally;
use super::verdict::AnswerClass;
use crate::model::id::{JobId, SheetId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::time::{Moment, rfc_3339};

/// One piece of news.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A job is in another state now.
    Moved {
        /// The job.
        job: JobId,
        /// What kind of record it is about.
        kind: Kind,
        /// The state it left.
        from: JobState,
        /// The state it is in.
        to: JobState,
    },
    /// Another command has changed what is in the journal: rows came in, or were decided on.
    Rows {
        /// All rows of the journal now.
        tally: Tally,
    },
    /// A row waits because the service does not show yet what it refers to, which was made moments ago.
    Unseen {
        /// The job.
        job: JobId,
        /// What kind of record it is about.
        kind: Kind,
        /// Until when that is looked for. Then the row is sent again, and rejected when it is refused again.
        #[serde(serialize_with = "rfc_3339")]
        #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
        until: Moment,
    },
    /// A request left for an operation. Programs are not given it.
    #[cfg_attr(feature = "schemas", schemars(skip))]
    Sent {
        /// The operation.
        operation: Operation,
    },
    /// The answer to a request came, or it is known that none will. Programs are not given it.
    #[cfg_attr(feature = "schemas", schemars(skip))]
    Answered {
        /// The operation.
        operation: Operation,
        /// What it means.
        class: AnswerClass,
        /// How long it took; `None` where no answer came.
        #[serde(rename = "took_ms", serialize_with = "milliseconds")]
        took: Option<Duration>,
    },
    /// More is known of the day's quota. What is used only rises until the day ends.
    QuotaUsed(QuotaDay),
    /// The day's quota is spent; creations wait.
    Parked {
        /// When they are tried again: the quota of the next day is there, and the run may send.
        #[serde(serialize_with = "rfc_3339")]
        #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
        until: Moment,
    },
    /// Creations go on.
    Woken,
    /// Nothing is sent, because the run is outside the hours in which it may send.
    OutsideHours {
        /// When it sends again.
        #[serde(serialize_with = "rfc_3339")]
        #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
        until: Moment,
        /// Why, in words.
        why: String,
    },
    /// The run may send again.
    WithinHours,
    /// The service asked for a slower pace for one operation.
    SlowedDown {
        /// The operation.
        operation: Operation,
        /// Requests a second from now on.
        rate: f64,
    },
    /// The breaker of an operation opened, has tried the service in vain, or closed.
    Breaker {
        /// The operation.
        operation: Operation,
        /// Whether it is paused.
        open: bool,
        /// Why, in words.
        reason: String,
        /// How long until the next try, in milliseconds, while they are.
        #[serde(rename = "next_try_in_ms", serialize_with = "milliseconds")]
        #[cfg_attr(feature = "schemas", schemars(with = "Option<u64>"))]
        next_try_in: Option<Duration>,
    },
    /// A sheet was paused: the service rejected its rows one after another for the same reason. Nothing more of it
    /// is sent; its rows stay ready.
    SheetPaused {
        /// The sheet.
        sheet: SheetId,
        /// How it is called.
        title: String,
        /// How many rows in a row were refused alike.
        times: u32,
        /// With which code.
        code: String,
        /// In the service's words.
        message: String,
        /// Whether the run waits for a person's answer.
        asks: bool,
    },
    /// The service cannot be reached; rows wait.
    Unreachable {
        /// Why, in words.
        reason: String,
        /// How long until the next try, in milliseconds.
        #[serde(rename = "retry_in_ms", serialize_with = "milliseconds")]
        #[cfg_attr(feature = "schemas", schemars(with = "u64"))]
        retry_in: Duration,
    },
    /// A record was read back, or cannot be in this run; or it is known how many there are.
    #[cfg_attr(feature = "schemas", schemars(skip))]
    ReadBack {
        /// How many have been.
        done: u64,
        /// Of how many.
        of: u64,
    },
    /// What is still to be done and what holds it up: the facts that the forecast is made of.
    #[cfg_attr(feature = "schemas", schemars(skip))]
    Remaining(Box<Remaining>),
    /// Our clock and the service's differ noticeably.
    ClockSkew {
        /// The service's time minus ours, in seconds.
        seconds: i64,
    },
    /// Something a person should read, that changes no state.
    Note {
        /// One sentence.
        text: String,
    },
    /// No more requests are begun; those under way are waited for.
    Draining {
        /// How many are under way.
        under_way: usize,
    },
}

impl Event {
    /// Whether it is something that went wrong: whoever keeps only warnings reads it.
    pub const fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::SlowedDown { .. }
                | Self::Breaker { open: true, .. }
                | Self::SheetPaused { .. }
                | Self::Unreachable { .. }
                | Self::ClockSkew { .. }
        )
    }
}

/// A length of time for programs.
fn milliseconds<S: Serializer, T: Copy + Into<Option<Duration>>>(
    length: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    (*length).into().map(|length| length.as_millis()).serialize(serializer)
}
