//! Creations against the day's quota: counted when they are claimed and again when they come back, parked when the day's
//! are spent, and by whose midnight that is judged.
//!
//! The rule is `quota`, which knows nothing of requests. The ledger in the journal changes with the attempts themselves,
//! and what is reported is what stands there.

use super::Gates;
use super::quota::{Parking, ServiceClock};
use crate::ending::End;
use crate::journal::{ImportReserve, Waiting, Write};
use crate::model::event::Event;
use crate::model::id::ImportId;
use crate::model::quota::QuotaDay;
use crate::model::remaining::Allowance;
use crate::model::time::{Day, Moment};
use crate::model::verdict::Execution;
use crate::run::run_action::{Inquiry, RunAction};

/// Why creations are parked.
pub(in crate::run) const QUOTA_SPENT: &str = "the day's quota of creations is spent";

impl Gates {
    /// The service's time now, by what its answers have said.
    pub(super) fn service_now(&self) -> Moment {
        self.service_clock.at(self.clock.now())
    }

    /// Whether the service has ever said what time it is.
    pub(in crate::run) fn knows_service_time(&self) -> bool {
        self.service_clock.is_known()
    }

    /// The service does not say any more what time it is: this machine's clock is all there is.
    pub(in crate::run) fn forget_service_time(&mut self) {
        self.service_clock = ServiceClock::default();
    }

    /// This machine's clock has jumped by so many milliseconds.
    pub(in crate::run) fn on_clock_jump(&mut self, jump_ms: i64) {
        self.service_clock.on_clock_jump(jump_ms);
        // What was told of the moment at which creations go on was told by the clock as it was.
        self.reported_parking = None;
    }

    /// Learns the service's time from the `Date` of an answer to a request that was `sent` then.
    pub(in crate::run) fn observe_date(&mut self, date: Moment, sent: Moment) -> Vec<RunAction> {
        let observed = self.service_clock.observe_date_header(date, sent, self.clock.now());
        let mut actions = Vec::new();
        if let Some(seconds) = observed.notable {
            actions.push(RunAction::Tell(Event::ClockSkew { seconds }));
        }
        if observed.first && self.quota.begin_day(date.day()) {
            self.reserves.forget();
            actions.push(RunAction::AskJournal(Inquiry::Quota(date.day())));
        }
        actions
    }

    /// The journal knows of so many creations on a day that was not known to be the service's when the run began.
    pub(in crate::run) fn add_creations(&mut self, day: Day, sent: u64) {
        self.quota.add_sent(day, sent);
    }

    /// A creation for a row of this import is claimed; says on which day it counts.
    pub(in crate::run) fn count_creation(&mut self, import: ImportId) -> Day {
        let service_now = self.service_now();
        let day = self.quota.on_send(service_now);
        self.reserves.on_send(import, day);
        day
    }

    /// A creation that was counted has not left.
    pub(in crate::run) fn uncount_creation(&mut self, day: Day, import: ImportId) -> Vec<RunAction> {
        self.reserves.on_not_executed(import, day);
        self.quota.on_not_executed(day);
        self.learned_ceiling(day)
    }

    /// Whether creations for rows of some imports wait, as what is left of the day is kept for others.
    pub(in crate::run) fn keeps_back(&self, import: ImportId) -> bool {
        if self.reserves.is_empty() {
            return false;
        }
        let (day, allowance) = self.today();
        self.reserves.keeps_back(import, day, allowance.map(|allowance| allowance.today))
    }

    /// Whether creations of each day are kept for some imports.
    pub(in crate::run) fn has_reserves(&self) -> bool {
        !self.reserves.is_empty()
    }

    /// Tells when what is left of the day begins to be kept for some imports, and when it is there for all again.
    pub(in crate::run) fn reserve_news(&mut self) -> Vec<RunAction> {
        if self.reserves.is_empty() || self.is_parked() {
            return Vec::new();
        }
        let (day, allowance) = self.today();
        self.reserves.news(day, allowance.map(|allowance| allowance.today))
    }

    /// Nothing is left that the run could send but rows which are kept back: no reserve is kept until something changes.
    pub(in crate::run) fn release_reserves(&mut self) -> Vec<RunAction> {
        let (day, _) = self.today();
        self.reserves.release(day)
    }

    /// Something has changed that the reserves may follow from.
    pub(in crate::run) fn on_reserves_changed(&mut self) {
        self.reserves.on_changed();
    }

    /// The day on which the journal is to be asked for the reserves, now and then while some import `has_reserves`.
    pub(in crate::run) fn reserves_to_ask(&mut self, has_reserves: bool) -> Option<Day> {
        let (day, _) = self.today();
        self.reserves.wants_asking(has_reserves, self.clock.elapsed()).then_some(day)
    }

    /// The journal knows how the imports with a reserve stand on a day.
    pub(in crate::run) fn on_reserves(&mut self, day: Day, reserves: &[ImportReserve]) {
        self.reserves.on_known(day, reserves);
    }

    /// Keeps the quota in step with the answer to a creation that counted on `day`. What it says of the execution
    /// decides, not what follows for the row: one that is put off after the service refused it counts anyway.
    pub(in crate::run) fn on_creation(
        &mut self,
        (day, import): (Day, ImportId),
        execution: Execution,
    ) -> Vec<RunAction> {
        if execution != Execution::NotExecuted {
            self.reserves.on_answer(import);
        }
        match execution {
            Execution::Confirmed | Execution::Refused => self.on_quota_accepted(),
            Execution::Doubtful => {
                self.quota.on_unknown_outcome();
                Vec::new()
            }
            Execution::NotExecuted => self.uncount_creation(day, import),
        }
    }

    /// The service let a request through that may wait for the quota: what was parked goes on.
    pub(super) fn on_quota_accepted(&mut self) -> Vec<RunAction> {
        if !self.quota.accepted() {
            return Vec::new();
        }
        self.reported_parking = None;
        vec![RunAction::AskJournal(Inquiry::NoteWaiting(None)), RunAction::Tell(Event::Woken)]
    }

    /// The service answered that the day's quota is spent, to a creation or to something else.
    pub(super) fn on_quota_refused(&mut self, counted: Option<Day>, is_creation: bool) -> Vec<RunAction> {
        let service_now = self.service_now();
        let day = counted.unwrap_or(service_now.day());
        let parking = self.quota.refused(service_now, day, is_creation);
        let mut actions = self.learned_ceiling(day);
        if parking != Parking::Already {
            // A try in vain is reported even where the moment is the same as before.
            self.reported_parking = None;
            actions.extend(self.parking_news());
        }
        actions
    }

    /// What the refusals of the day have taught. What was counted since midnight says nothing about the day before.
    fn learned_ceiling(&mut self, day: Day) -> Vec<RunAction> {
        if self.quota.is_at(day)
            && let Some(ceiling) = self.quota.new_ceiling()
        {
            return vec![RunAction::Write(Write::Ceiling { day, ceiling })];
        }
        Vec::new()
    }

    /// The ledger on disk has changed: the figures of the day, which only rise until it ends.
    pub(in crate::run) fn quota_news(&self, ledger: QuotaDay) -> Option<Event> {
        if !self.quota.is_at(ledger.day) {
            return None;
        }
        Some(Event::QuotaUsed(match self.quota.set() {
            Some(set) => ledger.limited_to(set),
            None => ledger,
        }))
    }

    /// Tells, once, that creations are parked.
    pub(in crate::run) fn parking_news(&mut self) -> Vec<RunAction> {
        if self.closed_until().is_some() {
            return Vec::new();
        }
        // Compared by the service's clock: what it is by ours changes with every answer.
        let resets_at = self.quota.parked_until();
        if let Some(resets_at) = resets_at
            && self.reported_parking.replace(resets_at) != Some(resets_at)
            && let Some(until) = self.parked_until()
        {
            return vec![
                RunAction::AskJournal(Inquiry::NoteWaiting(Some(Waiting {
                    waits_for: End::Quota,
                    until,
                    quota_resets_at: self.quota_resets_at(),
                    why: QUOTA_SPENT.to_owned(),
                }))),
                RunAction::Tell(Event::Parked { until }),
            ];
        }
        Vec::new()
    }

    /// Whether creations wait for the quota.
    pub(in crate::run) fn is_parked(&self) -> bool {
        self.quota.parked_until().is_some()
    }

    /// When the quota allows creations again, by this machine's clock.
    pub(super) fn quota_resets_at(&self) -> Option<Moment> {
        self.quota.parked_until().map(|until| self.service_clock.ours(until))
    }

    /// Until when creations are parked, by this machine's clock: the quota allows them again, and the run may send.
    pub(in crate::run) fn parked_until(&self) -> Option<Moment> {
        self.quota_resets_at().map(|resets_at| self.hours().opening(resets_at))
    }

    /// The service's clock minus this machine's, in milliseconds.
    pub(in crate::run) fn service_ahead_ms(&self) -> i64 {
        self.service_clock.ahead_ms()
    }

    /// What the quota allows us, as far as it is known.
    pub(in crate::run) fn allowance(&self) -> Option<Allowance> {
        self.today().1
    }

    /// The day it is at the service, and what it allows us, as far as it is known.
    fn today(&self) -> (Day, Option<Allowance>) {
        self.quota.allowance_beside(self.service_now(), self.reserve)
    }
}
