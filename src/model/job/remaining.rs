//! What is still to be done at a moment, and what holds it up: the facts that a forecast is made of.
//!
//! A run counts them every few seconds, tells them and notes them in the journal; a plan counts them before a run. The
//! arithmetic is in [`crate::model::forecast`], so that every surface shows the same end.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::model::window::{SendingHours, Standing};

/// What is still to be done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Remaining {
    /// When it was counted.
    pub at: Moment,
    /// Requests that create and complete rows, with the look-ups before them as far as they are known.
    pub making: BTreeMap<Operation, Lane>,
    /// Look-ups of the verification, beside what is still made.
    pub verifying: BTreeMap<Operation, Lane>,
    /// Look-ups of the verification that begin when everything is made.
    #[serde(default)]
    pub verifying_at_end: BTreeMap<Operation, Lane>,
    /// Whether rows can be sent now: none can while all of them wait for rows in doubt.
    pub moving: bool,
    /// The latest moment that a deferred row waits for.
    pub deferred_until: Option<Moment>,
    /// Rows that wait until the service shows what they refer to.
    pub unseen: u64,
    /// The quota of creations, as far as it is known.
    pub quota: Option<Allowance>,
    /// The service's clock, whose days count, minus this machine's, in milliseconds.
    #[serde(default)]
    pub service_ahead_ms: i64,
    /// Until when creations wait for the quota, and for the hours in which the run may send.
    pub parked_until: Option<Moment>,
    /// When the run may send.
    #[serde(default)]
    pub hours: SendingHours,
    /// Rows in doubt, when there are any.
    pub doubts: Doubts,
    /// Operations that are held back, as the service fails at them.
    pub held_back: Vec<HeldBack>,
    /// Since when the run waits for its first sign-in, which is not answered yet.
    #[serde(default)]
    pub signing_in: Option<Moment>,
    /// When the service, which cannot be reached, is tried again.
    pub unreachable_until: Option<Moment>,
    /// Records that the verification has not found yet.
    pub missing: Missing,
    /// Requests under way of which none is answered.
    #[serde(default)]
    pub unanswered: Option<Unanswered>,
    /// How many requests may be under way at once.
    #[serde(default)]
    pub at_once: u64,
    /// How long answers took lately; `None` before the first.
    #[serde(default)]
    pub answer_time: Option<Duration>,
    /// Sheets that are paused as the service rejected their rows one after another, as far as rows of them are left. Nothing
    /// of these rows is counted above.
    #[serde(default)]
    pub sheet_pauses: Vec<SheetPause>,
}

/// A run at work counts again within this time, however busy the machine is, while something can move.
const COUNTED_WITHIN: Duration = Duration::from_secs(120);

impl Remaining {
    /// Whether the service cannot be reached, fails at an operation, or answers nothing.
    pub(crate) fn fails(&self) -> bool {
        self.signing_in.is_some()
            || self.unreachable_until.is_some()
            || self.unanswered.is_some()
            || self.held_back.iter().any(|held_back| !held_back.brief)
    }

    /// Whether nothing goes on before something comes by itself, so that these facts may hold for long.
    pub(crate) fn waits(&self) -> bool {
        let is_closed = matches!(self.hours.standing(self.at), Standing::Closed { .. });
        is_closed || self.parked_until.is_some() || !self.moving || self.fails()
    }

    /// Whether a run that goes on would have counted again by now: it noted these facts, and something is left to do.
    pub fn is_overdue(&self, now: Moment) -> bool {
        let is_left = !self.making.is_empty() || self.is_to_verify();
        is_left && !self.waits() && now.since(self.at) > COUNTED_WITHIN
    }

    /// Whether records are still to be verified.
    pub fn is_to_verify(&self) -> bool {
        !self.verifying.is_empty() || !self.verifying_at_end.is_empty()
    }

    /// The look-ups of an operation that verify.
    pub fn verifying_by(&self, operation: Operation) -> Option<&Lane> {
        self.verifying.get(&operation).or(self.verifying_at_end.get(&operation))
    }

    /// Look-ups that verify: those that show one record each go beside what is still made, the others come at the end.
    pub(crate) fn verified_by<T>(
        look_ups: BTreeMap<Operation, T>,
    ) -> (BTreeMap<Operation, T>, BTreeMap<Operation, T>) {
        let shows_one = |operation: &Operation| {
            Kind::RECORDS.iter().filter(|kind| !kind.is_listed()).any(|kind| {
                let known = kind.descriptor();
                known.look_ups.contains(operation) || known.by_id == Some(*operation)
            })
        };
        look_ups.into_iter().partition(|(operation, _)| shows_one(operation))
    }

    /// The look-ups of an operation that verify, with those of it that come before something is made.
    pub(crate) fn beside(&self, operation: Operation, lane: &Lane) -> Lane {
        let before = self.making.get(&operation).map_or(0, |lane| lane.requests);
        Lane { requests: lane.requests + before, ..*lane }
    }
}

/// The requests of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Lane {
    /// How many are still to be sent.
    pub requests: u64,
    /// The most that are sent in a second; `None` for no limit.
    pub limit: Option<f64>,
    /// How many were sent in a second lately, once that is measured.
    pub pace: Option<f64>,
}

/// The daily quota as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Creations that a day allows us.
    pub per_day: u64,
    /// Creations that today still allows us.
    pub today: u64,
}

/// Rows in doubt, and how doubts went so far.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Doubts {
    /// Rows in doubt.
    pub rows: u64,
    /// Those of them that a look-up has not found.
    pub not_found: u64,
    /// The latest moment at which one of the others is looked up for the first time.
    pub first_look_by: Option<Moment>,
    /// The latest moment at which "not there" may be believed of them.
    pub settled_by: Option<Moment>,
    /// When all of them are decided, late looks included, as long as look-ups are answered; `None` where that is not known.
    #[serde(default)]
    pub decided_by: Option<Moment>,
    /// How many of the requests of this run ended in doubt.
    pub share: f64,
    /// Doubts of this run that were looked up.
    pub looked_up: u64,
    /// How many of those the first look-up did not end.
    pub share_not_found: f64,
    /// How long after a lost answer the first look-up comes.
    pub first_look: Duration,
    /// How long after a lost answer "not there" may be believed.
    pub settle: Duration,
}

/// An operation that is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBack {
    /// The operation.
    pub operation: Operation,
    /// When it is tried again; `None` while a request finds out.
    pub next_try: Option<Moment>,
    /// Whether it is a short pause of a service that answers most requests: the pace includes it.
    pub brief: bool,
}

/// A sheet that a run does not go on with, or has left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SheetPause {
    /// Its import.
    pub import: ImportId,
    /// How it is called.
    pub title: String,
    /// How many of its rows in a row were rejected alike.
    pub times: u32,
    /// With which code.
    pub code: String,
    /// Whether the run waits for a person's answer.
    pub asked: bool,
    /// Its rows that could be sent and are not.
    pub rows: u64,
}

impl SheetPause {
    /// That the sheet is paused, and why, in words.
    pub fn words(&self) -> String {
        sheet_paused(&self.title, self.times, &self.code)
    }
}

/// That a sheet is paused, and why, in words.
pub fn sheet_paused(title: &str, times: u32, code: &str) -> String {
    format!("the sheet {title} is paused: the service rejected {times} of its rows in a row with {code}")
}

/// Requests under way while the service answers none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// How many.
    pub requests: u64,
    /// Since when no answer has come.
    pub since: Moment,
}

/// Records that the verification has not found yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Missing {
    /// How many.
    pub records: u64,
    /// When the last of them is looked up again.
    pub looked_up_by: Option<Moment>,
}
