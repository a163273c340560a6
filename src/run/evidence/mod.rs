//! Evidence: what the service shows of a row, and what it means for it. A question (`lookups`) has an answer
//! (`lookup_answer`), whose records are compared with the row (`matching`, `classify`).
//!
//! Its four callers are the look-up before sending and the reconciliation after a lost answer (`decide`), the audit, and
//! `verify` for a person who decides.

pub(super) mod child_companies;
pub(super) mod classify;
pub(super) mod lookup_answer;
pub(super) mod lookup_control;
pub(super) mod lookups;
pub(super) mod matching;
pub(super) mod oneoff_lookup;
pub(super) mod recent_creations;
pub(super) mod reference_lag;
pub(super) mod settle_timer;
pub(super) mod verify;

use self::child_companies::ChildLists;
use self::lookup_control::LookupControls;
use self::recent_creations::RecentCreations;
use self::reference_lag::ReferenceLag;
use self::settle_timer::SettleTimers;

/// What a run knows of what the service shows. Each part owns what it knows.
#[derive(Debug, Default)]
pub(super) struct RunEvidence {
    /// Which look-ups are believed when they find nothing.
    pub(super) controls: LookupControls,
    /// The children of companies.
    pub(super) children: ChildLists,
    /// What this run has made.
    pub(super) created: RecentCreations,
    /// Rows refused because of a record that may not be visible yet.
    pub(super) lag: ReferenceLag,
    /// How long "not found" is not believed.
    pub(super) settle: SettleTimers,
}
