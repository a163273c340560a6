//! Creations against the day's quota: counted when they leave and again when they come home, parked when the day's are
//! spent, and by whose midnight that is judged.
//!
//! The rule is `quota`, which knows nothing of jobs; this keeps it, the ledger in the journal and what is told of both
//! in step with what the dispatcher does.

use super::dispatcher::Dispatcher;
use super::hand::Inbox;
use super::quota::Parking;
use crate::journal::Write;
use crate::model::event::Event;
use crate::model::id::JobId;
use crate::model::settle::Settled;
use crate::model::time::{Day, Moment};

impl Dispatcher {
    /// The service's time now.
    pub(super) fn there(&mut self) -> Moment {
        self.keep_time();
        self.service_clock.at(self.clock.now())
    }

    /// Learns the service's time from an answer.
    pub(super) fn hear_date(&mut self, date: Moment) {
        self.keep_time();
        let heard = self.service_clock.hear(date, self.clock.now());
        if let Some(seconds) = heard.notable {
            self.tell(Event::ClockSkew { seconds });
        }
        if heard.first && self.quota.begin_day(date.day()) {
            let (day, inbox) = (date.day(), self.inbox.clone());
            self.writer.ask(Box::new(move |journal| {
                // A failure here shows itself at the next write as well, where it ends the run.
                if let Ok(known) = journal.quota(day) {
                    drop(inbox.send(Inbox::Ledger { day, used: known.sent }));
                }
            }));
        }
    }

    /// Keeps the quota in step with what became of a creation that counted on `day`.
    /// A refusal for want of quota is taken back where it is dealt with.
    pub(super) fn count(&mut self, day: Option<Day>, settled: &Settled, parks: bool) {
        let Some(day) = day else { return };
        let (sent, confirmed, doubtful) = match settled {
            Settled::Done { .. } | Settled::Rejected(_) | Settled::Unseen(_) | Settled::Held { .. } => {
                if self.quota.accepted() {
                    self.woken();
                }
                (0, 1, 0)
            }
            Settled::InDoubt(_) => {
                self.quota.came_home_undecided();
                (0, 0, 1)
            }
            Settled::Returned { .. } | Settled::Deferred { .. } => {
                if !parks {
                    self.quota.came_home_unexecuted(day);
                }
                (-1, 0, 0)
            }
        };
        self.counted.add(day, sent, confirmed, doubtful);
        if !parks {
            self.tell_quota();
        }
    }

    /// A creation that was counted has not left.
    pub(super) fn uncount(&mut self, job: JobId) {
        if let Some(day) = self.in_hand.get_mut(&job).and_then(|in_hand| in_hand.counted.take()) {
            self.quota.came_home_unexecuted(day);
            self.tell_quota();
        }
    }

    pub(super) fn quota_refused(&mut self, counted: Option<Day>) {
        let there = self.there();
        let day = counted.unwrap_or(there.day());
        let parking = self.quota.refused(there, day);
        // At the first refusal requests are under way that count until they are refused as well: each further refusal
        // teaches a lower ceiling. What was counted since midnight says nothing about the day before.
        let ceiling = self.quota.used();
        let lower = parking == Parking::Already && self.quota.ceiling().is_some_and(|known| ceiling < known);
        if (lower || parking != Parking::Already) && ceiling > 0 && self.quota.is_at(day) {
            self.quota.learn(ceiling);
            self.note(Write::Ceiling { day, ceiling, at: self.clock.now() });
        }
        self.tell_quota();
        if parking != Parking::Already {
            self.tell_parking();
        }
    }

    /// Hands the round's changes of the quota ledger to the journal.
    pub(super) fn note_counted(&mut self) {
        for write in self.counted.take() {
            self.note(write);
        }
    }

    fn tell_quota(&self) {
        self.tell(Event::QuotaUsed { used: self.quota.used(), ceiling: self.quota.ceiling() });
    }

    /// Tells, once, that creations are parked, and notes it for whoever asks the journal.
    pub(super) fn tell_parking(&mut self) {
        // Compared by the service's clock: what it is by ours changes with every answer.
        let until = self.quota.parked_until();
        if let Some(until) = until
            && self.told_parking.replace(until) != Some(until)
        {
            let until = self.service_clock.ours(until);
            self.note_resumption(Some(until));
            self.reckoning.renew();
            self.tell(Event::Parked { until });
        }
    }

    /// Creations go on.
    pub(super) fn woken(&mut self) {
        self.told_parking = None;
        self.note_resumption(None);
        self.reckoning.renew();
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
