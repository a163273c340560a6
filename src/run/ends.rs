//! The two ends of a run: what it begins with, and how it ended.

use crate::error::{Error, Result};
use crate::journal::{Journal, RunId};
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::service::Client;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is left that goes on by itself. Held jobs may remain.
    Finished,
    /// The day's quota is spent and the policy is to exit.
    Parked {
        /// When creations can go on, by our clock.
        until: Moment,
        /// Why, in words.
        why: String,
    },
    /// Stopped on request, with work left that goes on by itself later.
    Interrupted {
        /// Why, in words.
        why: String,
    },
    /// The service refuses us or cannot be reached; jobs are ready.
    Stopped {
        /// Why, in words.
        why: String,
        /// What to do about it.
        hint: String,
    },
}

impl Ending {
    /// How the journal notes it, and when the run may go on.
    pub(super) fn noted(&self) -> (&'static str, Option<Moment>) {
        match self {
            Self::Finished => ("finished", None),
            Self::Parked { until, .. } => ("parked", Some(*until)),
            Self::Interrupted { .. } => ("interrupted", None),
            Self::Stopped { .. } => ("stopped", None),
        }
    }
}

/// What a run begins with.
pub(super) struct Opening {
    pub(super) lanes: Vec<Operation>,
    pub(super) used: u64,
    pub(super) learned: Option<u64>,
    pub(super) run: RunId,
}

impl Opening {
    pub(super) fn of(journal: &mut Journal, client: &Client, now: Moment) -> Result<Self> {
        let lanes = journal.lanes()?;
        require_available(client, &lanes)?;
        Ok(Self {
            lanes,
            used: journal.quota(now.day())?.sent,
            learned: journal.latest_ceiling()?,
            run: journal.begin_run(now)?,
        })
    }
}

/// Refuses to begin when an operation that some job needs has no endpoint.
fn require_available(client: &Client, needed: &[Operation]) -> Result<()> {
    let missing: Vec<&str> = needed
        .iter()
        .filter(|operation| !client.endpoints().available(**operation))
        .map(|operation| operation.name())
        .collect();
    let Some(first) = missing.first() else { return Ok(()) };
    Err(Error::usage(format!(
        "rows of this journal need {}, whose path the specification does not state",
        missing.join(", ")
    ))
    .hint(format!(
        "map it in the profile as [profile.NAME.endpoints.{first}] with method and path, or set paths = \"assumed\""
    )))
}
