//! What a plan says while operations that it needs have no path: that nothing would be sent, and what would be if they
//! had one.

use super::Plan;

use crate::model::amount::{count, counted};
use crate::model::forecast::Allowance;

/// What is told in place of what will happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// That nothing can be sent, and why.
    pub headline: String,
    /// What would be sent once the operations are there.
    pub then: String,
}

impl Plan {
    /// What to say when operations are missing; `None` when all are there.
    pub fn lacking(&self, quota: Option<Allowance>) -> Option<Lacking> {
        let missing = self.unavailable();
        let first = missing.first()?.name();
        let headline = match missing.len() {
            1 => format!("Nothing can be sent yet: an operation has no path ({first})"),
            several => format!("Nothing can be sent yet: {several} operations have no path (first: {first})"),
        };
        let calls = self.sent.iter().chain(&self.sent_earlier).filter(|calls| calls.counted);
        let creations = counted(calls.map(|calls| calls.calls).sum(), "creation", "creations");
        let then = match (quota, self.days) {
            (None, _) => creations,
            (Some(_), None) => {
                format!("{creations}, and the reserve leaves nothing of the daily quota for them")
            }
            (Some(quota), Some(days)) => {
                format!("{creations}, {} at {} a day", counted(days, "day", "days"), count(quota.per_day))
            }
        };
        Some(Lacking { headline, then })
    }
}
