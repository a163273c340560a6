//! Reading back while rows are still being created: each record that one look-up shows is looked up within moments of its
//! creation, by requests that take no room from any other. What one list shows for many rows is left for the end, and so is
//! everything as soon as such a look-up fails.

use std::time::Duration;

use super::{Audit, AuditContext, AuditedRow, Inquiry, RunAction};
use crate::journal::{AuditScope, Work};
use crate::model::id::JobId;
use crate::model::kind::Kind;

/// How often records that were created meanwhile are taken up.
const EVERY: Duration = Duration::from_millis(250);
/// Records that are read back at once; a few seconds of one operation.
const AT_ONCE: usize = 256;
/// Records that wait to be taken up; those beyond are read at the end.
const WAITING: usize = 4_096;

impl Audit {
    /// The record of a row is made, and that is on disk.
    pub(in crate::run) fn on_made(&mut self, job: JobId, kind: Kind) {
        if !kind.is_listed() && self.takes_early() && self.made.len() < WAITING {
            self.made.push_back(job);
        }
    }

    /// Whether records are read back before the end.
    pub(in crate::run) fn takes_early(&self) -> bool {
        self.takes_early && self.scope == Some(AuditScope::All)
    }

    /// Takes up what was created since the last time.
    pub(in crate::run) fn read_early(&mut self, cx: &mut AuditContext<'_>) {
        let Some(scope) = self.scope else { return };
        let room = AT_ONCE.saturating_sub(self.rows.len()).min(self.made.len());
        if self.made_asked || room == 0 || cx.now < self.next_early {
            return;
        }
        (self.made_asked, self.next_early) = (true, cx.now + EVERY);
        let jobs = self.made.drain(..room).collect();
        self.actions.push(RunAction::AskJournal(Inquiry::Made { scope, jobs }));
    }

    /// The journal has given those of them that are to be read back.
    pub(super) fn add_made(&mut self, cx: &mut AuditContext<'_>, works: Vec<Work>) {
        self.made_asked = false;
        for work in works {
            let job = work.job;
            if self.rows.contains_key(&job) {
                continue;
            }
            self.rows.insert(job, AuditedRow::new(work));
            self.ask_first(cx, job);
        }
    }

    /// What is still due is read at the end.
    pub(super) fn stop_early(&mut self) {
        self.takes_early = false;
        self.made.clear();
    }
}
