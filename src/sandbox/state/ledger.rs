//! The ledger: what was done, apart from what was answered; one entry for each change of the world, in order.
//!
//! This is what a test holds a run against. The same entries, with the record as it was stored, are the lines of a
//! state file; creations that were refused but used up quota have lines of their own there, so that a day's quota
//! survives as well.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::world::Change;
use crate::sandbox::exchange::Millis;

/// One change that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// From 1, without gaps.
    pub sequence: u64,
    /// When, by the service's own clock.
    pub at: Timestamp,
    /// The client id that asked for it.
    pub client: String,
    /// The operation that did it, for example `addDevice`; `vanished` when a fault took back what was done.
    pub operation: String,
    /// Whether a record came into being, as against one that changed or went.
    pub created: bool,
    /// `company`, `person`, `site`, `device`, `label`, `metadata`, `licence`, `subscription`, `assignment` or
    /// `vpn_cloud`.
    pub kind: String,
    /// The record. For several labels or entries put at once, their owner.
    pub id: Uuid,
    /// What it belongs to: the parent company, the company, the owner.
    pub parent: Option<Uuid>,
    /// Whether it used up one creation of the daily quota.
    pub charged: bool,
    /// The body of the request.
    pub request: Value,
}

/// One line of a state file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Commit { entry: LedgerEntry, change: Change },
    Charge { at: Millis, client: String, operation: String },
}

impl Line {
    pub(crate) fn text(&self) -> String {
        // A line is made of strings, numbers and JSON values: nothing in it can refuse to be written.
        let mut text = serde_json::to_string(self).expect("a line of plain values is JSON");
        text.push('\n');
        text
    }
}
