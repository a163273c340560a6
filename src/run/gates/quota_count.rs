//! Creations against the day's quota: counted when they leave and again when they come home, parked when the day's are
//! spent, and by whose midnight that is judged.
//!
//! The rule is `quota`, which knows nothing of jobs; this keeps it in step with what the dispatcher does. The ledger in the
//! journal changes with the attempts themselves, and what is told is what stands there.

use super::quota::Parking;
use crate::journal::Write;
use crate::model::event::Event;
use crate::model::id::JobId;
use crate::model::quota::QuotaDay;
use crate::model::time::{Day, Moment};
use crate::model::verdict::Execution;
use crate::run::dispatcher::Dispatcher;
use crate::run::in_flight::Message;

impl Dispatcher {
    /// The service's time now.
    pub(in crate::run) fn service_now(&mut self) -> Moment {
        self.check_clock();
        self.service_clock.at(self.clock.now())
    }

    /// Learns the service's time from an answer.
    pub(in crate::run) fn observe_date(&mut self, date: Moment) {
        self.check_clock();
        let heard = self.service_clock.observe_date_header(date, self.clock.now());
        if let Some(seconds) = heard.notable {
            self.tell(Event::ClockSkew { seconds });
        }
        if heard.first && self.quota.begin_day(date.day()) {
            let (day, inbox) = (date.day(), self.inbox.clone());
            self.writer.ask(Box::new(move |journal| {
                // A failure here shows itself at the next write as well, where it ends the run.
                if let Ok(known) = journal.quota(day) {
                    drop(inbox.send(Message::QuotaLedger { day, sent: known.sent }));
                }
            }));
        }
    }

    /// Keeps the quota in step with the answer to a creation that counted on `day`. What it says of the execution
    /// decides, not what follows for the row: one that is put off after the service refused it counts anyway.
    /// A refusal for want of quota is taken back where it is dealt with.
    pub(in crate::run) fn count(&mut self, day: Option<Day>, execution: Execution, parks: bool) {
        let Some(day) = day else { return };
        match execution {
            Execution::Confirmed | Execution::Refused => {
                if self.quota.accepted() {
                    self.on_creations_resumed();
                }
            }
            Execution::Doubtful => self.quota.on_unknown_outcome(),
            Execution::NotExecuted if parks => {}
            Execution::NotExecuted => self.take_from_count(day),
        }
    }

    /// A creation that was counted has not left.
    pub(in crate::run) fn uncount(&mut self, job: JobId) {
        if let Some(day) = self.active.get_mut(&job).and_then(|active| active.counted.take()) {
            self.take_from_count(day);
        }
    }

    fn take_from_count(&mut self, day: Day) {
        self.quota.on_not_executed(day);
        self.learn_ceiling(day);
    }

    pub(in crate::run) fn quota_refused(&mut self, counted: Option<Day>) {
        let service_now = self.service_now();
        let day = counted.unwrap_or(service_now.day());
        let parking = self.quota.refused(service_now, day);
        self.learn_ceiling(day);
        if parking != Parking::Already {
            self.tell_parking();
        }
    }

    /// Notes what the refusals of the day have taught. What was counted since midnight says nothing about the day before.
    fn learn_ceiling(&mut self, day: Day) {
        if self.quota.is_at(day)
            && let Some(ceiling) = self.quota.new_ceiling()
        {
            self.note(Write::Ceiling { day, ceiling, at: self.clock.now() });
        }
    }

    /// The ledger on disk has changed: tells the figures of the day, which only rise until it ends.
    pub(in crate::run) fn tell_quota(&self, ledger: QuotaDay) {
        if !self.quota.is_at(ledger.day) {
            return;
        }
        let ledger = match self.quota.set() {
            Some(set) => ledger.under(Some(set)),
            None => ledger,
        };
        self.tell(Event::QuotaUsed(ledger));
    }

    /// Tells, once, that creations are parked, and notes it for whoever asks the journal.
    pub(in crate::run) fn tell_parking(&mut self) {
        // Compared by the service's clock: what it is by ours changes with every answer.
        let until = self.quota.parked_until();
        if let Some(until) = until
            && self.told_parking.replace(until) != Some(until)
        {
            let until = self.service_clock.ours(until);
            self.note_resumption(Some(until));
            self.remaining_count.renew();
            self.tell(Event::Parked { until });
        }
    }

    /// Creations go on.
    pub(in crate::run) fn on_creations_resumed(&mut self) {
        self.told_parking = None;
        self.note_resumption(None);
        self.remaining_count.renew();
        self.tell(Event::Woken);
    }

    fn note_resumption(&self, at: Option<Moment>) {
        let run = self.run;
        self.writer.ask(Box::new(move |journal| {
            // Only `status` reads it; a journal that cannot be written shows itself at the next write.
            drop(journal.note_resumption(run, at));
        }));
    }
}
