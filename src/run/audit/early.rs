//! Reading back while rows are still being created: each record that one look-up shows is looked up within moments of its
//! creation, by requests that take no room from any other. What one list shows for many rows is left for the end, and so is
//! everything as soon as such a look-up fails.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Audit, AuditContext, AuditedRow, Inquiry, RunAction};
use crate::journal::{AuditScope, Work};
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::run::evidence::matching;

/// How often records that were created meanwhile are taken up.
const EVERY: Duration = Duration::from_millis(250);
/// Records that are read back at once by one look-up; a few seconds of it.
const AT_ONCE: usize = 256;
/// Records that wait to be taken up for one look-up; those beyond are read at the end.
const WAITING: usize = 4_096;

/// Records that are read back by the same look-up: those of a kind, with a unique key or without. A look-up that is busy with
/// what is still to be sent, as that of sites may be, holds up no other.
pub(super) type EarlyLane = (Kind, bool);

fn lane(work: &Work) -> EarlyLane {
    (work.kind, matching::key_is_unique(work))
}

impl Audit {
    /// The record of a row is made, and that is on disk.
    pub(in crate::run) fn on_made(&mut self, work: &Work) {
        if work.kind.is_listed() || !self.takes_early() {
            return;
        }
        let made = self.made.entry(lane(work)).or_default();
        if made.len() < WAITING {
            made.push_back(work.job);
        }
    }

    /// Whether records are read back before the end.
    pub(in crate::run) fn takes_early(&self) -> bool {
        self.takes_early && self.scope == Some(AuditScope::All)
    }

    /// Takes up what was created since the last time.
    pub(in crate::run) fn read_early(&mut self, cx: &mut AuditContext<'_>) {
        let Some(scope) = self.scope else { return };
        if self.made_asked || self.made.is_empty() || cx.now < self.next_early {
            return;
        }
        self.next_early = cx.now + EVERY;
        let mut under_way: BTreeMap<EarlyLane, usize> = BTreeMap::new();
        for row in self.rows.values() {
            *under_way.entry(lane(&row.work)).or_default() += 1;
        }
        let mut jobs: Vec<JobId> = Vec::new();
        for (lane, made) in &mut self.made {
            let room = AT_ONCE.saturating_sub(under_way.get(lane).copied().unwrap_or_default());
            jobs.extend(made.drain(..room.min(made.len())));
        }
        self.made.retain(|_, made| !made.is_empty());
        if jobs.is_empty() {
            return;
        }
        self.made_asked = true;
        self.actions.push(RunAction::AskJournal(Inquiry::Made { scope, jobs }));
    }

    /// The journal has given those of them that are to be read back.
    pub(super) fn add_made(&mut self, cx: &mut AuditContext<'_>, works: Vec<Work>) {
        self.made_asked = false;
        for work in works {
            let job = work.job;
            if self.is_known(job) {
                continue;
            }
            self.rows.insert(job, AuditedRow::new(work));
            self.ask_first(cx, job);
        }
        self.forget_done_meanwhile();
    }

    /// What is still due is read at the end.
    pub(super) fn stop_early(&mut self) {
        self.takes_early = false;
        self.made.clear();
    }
}
