//! The list of what is below a company, taken before its rows are in a journal, beside the look-ups of the ids that sheets name
//! (specification 4.2). A run begins with it, so that its first row does not wait for it.
//!
//! It counts as if the run had asked for it: the lock of the account is held since, so that no other run of this machine has
//! created anything.

use std::sync::Arc;
use std::time::Duration;

use super::question::LookupAnswer;
use super::record_list::RecordList;
use super::shared_lists::GOOD_FOR;
use crate::clock::Clock;
use crate::model::id::RemoteId;
use crate::model::time::Moment;
use crate::run::id_check::SILENCE;
use crate::service::{Client, Lookup};

/// See the module.
#[derive(Debug, Clone)]
pub struct ListAhead {
    pub(in crate::run) of: Lookup,
    pub(in crate::run) list: Arc<RecordList>,
    /// When it was asked for, as [`Clock::elapsed`] has it.
    pub(in crate::run) at: Duration,
    /// The same by the wall clock, which goes on while the machine sleeps.
    taken: Moment,
}

impl ListAhead {
    /// Asks once for the companies below this one. What the service does not answer, within the time that it has for ids, is left
    /// to the run.
    pub async fn below(client: &Client, clock: &dyn Clock, parent: RemoteId) -> Option<Self> {
        let of = Lookup::ChildCompanies(parent);
        let (at, taken) = (clock.elapsed(), clock.now());
        let answer = tokio::select! {
            answer = client.send(of.call()) => answer,
            () = clock.sleep_until(at.saturating_add(SILENCE)) => return None,
        };
        match LookupAnswer::of(of.operation(), answer.verdict, false) {
            LookupAnswer::Records(found) => {
                Some(Self { of, list: Arc::new(RecordList::of(found)), at, taken })
            }
            LookupAnswer::Inconclusive(_) | LookupAnswer::Failed(_) | LookupAnswer::Unavailable => None,
        }
    }

    /// Whether it is used when it is `now` by the wall clock: not once the machine may have slept, or its clock was set back.
    pub(in crate::run) fn is_good(&self, now: Moment) -> bool {
        self.taken <= now && now.since(self.taken) < GOOD_FOR
    }
}
