//! Reconciliation after a lost answer: a request left, nothing told what became of it, and sending again on hope could make
//! a second record for ever.
//!
//! The record is looked up by its natural key. Records seen before the first send and records that another job
//! owns are left out. One candidate that agrees in all that can be compared is ours; several, or one that
//! differs, are for a person. "Not there" is believed only after the settle time, of a look-up that has found in
//! this run what is known to exist, and twice.

use std::time::Duration;

use crate::failpoint;
use crate::journal::{Action, Candidate, Evidence, How, Work, Write};
use crate::mistake::{self, Mistake};
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::reason::Reason;
use crate::model::record::{Extra, Record};
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::verdict::Doubt;
use crate::run::InDoubt;
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::classify::{self, Reconciled, guarded_by_mac, makes_a_site, shows};
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::evidence::lookup_control::{Asker, ControlResult};
use crate::run::evidence::lookups;
use crate::run::evidence::matching::{self, Seen};
use crate::run::evidence::settle_timer::Clocks;
use crate::run::in_flight::{FoundRecords, Purpose};
use crate::service::{Lookup, may_be_a_page};

/// Agreeing look-ups that must have found nothing before "not there" is believed.
pub(in crate::run) const ABSENT_READS: u32 = 2;
/// The wait after the first look that decided nothing; each further one doubles, up to the settle time.
pub(in crate::run) const FIRST_WAIT: Duration = Duration::from_secs(4);
/// The wait between looks once the settle time has passed.
const LATE_WAIT: Duration = Duration::from_secs(5);
/// Looks past the settle time, without a decision, after which a person is asked.
const LATE_LOOKS: u32 = 6;

/// Requests for one step whose outcome had to be found out, after which a person is asked: it is not chance that
/// it fails, and every further one may be executed late.
const MOST_DOUBTS: u32 = 8;

impl Dispatcher {
    /// A job in doubt was fetched, since its look-up is due.
    pub(in crate::run) fn reconcile(&mut self, job: JobId) {
        failpoint::reach("doubt.taken-up");
        let Some(work) = self.in_flight.work(job) else { return };
        let elapsed = self.clock.elapsed();
        let clocks = Clocks { elapsed, wall: self.clock.now(), steady: self.clock_watch.steady(elapsed) };
        self.evidence.settle.resume(job, work.doubt_since, clocks, self.options.policy.settle);
        let usable = |operation| self.gates.usable(operation);
        let lookup = match (&work.action, work.remote_id) {
            (Action::Create, _) => lookups::by_key(work, &usable),
            (Action::Extra(_), Some(owner)) => lookups::of_extra(work, owner, &usable),
            (Action::Extra(_), None) => None,
        };
        match lookup {
            Some(lookup) => {
                self.queue_lookup(lookup, Purpose::Reconcile(job));
            }
            None => self.without_lookup(job),
        }
    }

    /// No look-up can tell. Only where the service's own uniqueness makes a second creation impossible may the
    /// step be sent again, once late commits are over.
    fn without_lookup(&mut self, job: JobId) {
        let Some(work) = self.in_flight.work(job) else { return };
        if matches!(work.action, Action::Create) && !work.executed && guarded_by_mac(&work.record) {
            if self.settled(work) {
                return self.send_again(job, "its MAC address cannot be registered twice");
            }
            let until = self.settle_moment(work);
            return self.stay_in_doubt(job, until, work.absent_reads, "waiting for late answers to settle");
        }
        if work.doubt == Some(Doubt::JournalBehind) {
            let reason = "this copy of the journal may not know that the row was sent, and no look-up is available to find out";
            return self.hold(job, Doubt::JournalBehind.code(), reason.to_owned(), Vec::new());
        }
        let reason = match (&work.action, work.doubt) {
            (Action::Extra(Extra::Licence(_)), _) => {
                "the answer to adding the licence code was lost, and the service has no way to look it up"
            }
            (_, Some(Doubt::Duplicate)) => {
                "the service says the record is there, and no look-up is available to find its id"
            }
            (_, Some(Doubt::NoId)) => "the record was created, and no look-up is available to find its id",
            _ => "the answer was lost, and no look-up is available to find out whether the row was executed",
        };
        self.hold(job, Reason::LookupUnavailable.as_str(), reason.to_owned(), Vec::new());
    }

    /// A look after a lost answer has been read.
    pub(in crate::run) fn on_reconcile_answer(
        &mut self,
        job: JobId,
        operation: Operation,
        answer: LookupAnswer,
    ) {
        failpoint::reach("doubt.look-read");
        let Some(work) = self.in_flight.work(job) else { return };
        match answer {
            LookupAnswer::Unavailable => self.reconcile(job),
            LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
                self.retry_lookup_later(job, &format!("the look-up was inconclusive: {why}"))
            }
            LookupAnswer::Records(found) => match &work.action {
                Action::Create => {
                    self.ask_owners(job, FoundRecords::Reconcile(operation, found));
                }
                Action::Extra(extra) => {
                    if shows(extra, &found) {
                        let evidence = Evidence::at(self.clock.now());
                        let (from, how) = (JobState::InDoubt, How::Done);
                        self.settle(job, Write::Advance { job, from, how, id: None, evidence });
                    } else {
                        // Putting it again changes nothing if the first request is still executed later.
                        self.send_again(job, "its values were not there");
                    }
                }
            },
        }
    }

    /// The journal has said who owns the found records.
    pub(in crate::run) fn on_owners(&mut self, job: JobId, owners: &[(RemoteId, JobId)]) {
        let Some(found) = self.in_flight.take_found(job) else { return };
        match found {
            FoundRecords::PreSend(operation, found) => {
                let seen = Seen::pair(found, owners);
                self.settle_pre_send(job, operation, &seen);
            }
            FoundRecords::Reconcile(operation, found) => {
                if !owners.is_empty() {
                    // It has found a record that is known to exist: its "not there" counts from now on.
                    self.evidence.controls.prove(operation);
                }
                let length = found.len();
                let seen = Seen::pair(found, owners);
                self.settle_reconciled(job, operation, length, &seen);
            }
        }
    }

    fn settle_reconciled(&mut self, job: JobId, operation: Operation, length: usize, seen: &[Seen]) {
        let Some(work) = self.in_flight.work(job) else { return };
        let evidence = Evidence::at(self.clock.now());
        let from = JobState::InDoubt;
        let conclusion = classify::after(work, seen);
        if mistake::made(Mistake::FirstLookBelieved) && conclusion == Reconciled::Absent {
            return self.send_again(job, "not found");
        }
        if operation == Operation::FindCompaniesByName && conclusion != Reconciled::Absent {
            // Good for showing that there is none; it does not say below which parent one is.
            return self
                .retry_lookup_later(job, "a company of this name is there, perhaps below another parent");
        }
        match conclusion {
            Reconciled::Ours(id) => self.confirm(job, id),
            Reconciled::Existing(id) => {
                let how = How::Existing;
                self.settle(job, Write::Advance { job, from, how, id: Some(id), evidence });
            }
            Reconciled::Taken(candidate) => {
                let rejection = classify::taken(&candidate);
                // The refusal it comes from was one of the service, and counted against the quota.
                self.note_verdict(job, Some(&rejection));
                self.settle(job, Write::Reject { job, from, rejection, evidence });
            }
            Reconciled::Owned(owner, candidate) => {
                let rejection = classify::owned(owner, &candidate);
                self.settle(job, Write::Reject { job, from, rejection, evidence });
            }
            Reconciled::Unclear(candidates) => {
                let cause = cause(work);
                let reason =
                    format!("{cause}, and it is not clear which of the records found belongs to the row");
                self.hold(job, Reason::CandidatesUnclear.as_str(), reason, candidates);
            }
            Reconciled::Absent if may_be_a_page(length) => self.try_narrower_lookup(job, operation),
            Reconciled::Absent if self.evidence.controls.is_proved(operation) => self.absent(job),
            Reconciled::Absent if mistake::made(Mistake::ProofNotAsked) => self.absent(job),
            Reconciled::Absent => {
                self.ask_controls(Asker::Reconcile(job), operation, work.kind);
            }
        }
    }

    /// The list that does not show the record may be one page of a longer one: asks a narrower question, where
    /// there is one.
    fn try_narrower_lookup(&mut self, job: JobId, operation: Operation) {
        let Some(work) = self.in_flight.work(job) else { return };
        match lookups::narrower(work, operation).filter(|lookup| self.gates.usable(lookup.operation())) {
            Some(lookup) => {
                self.queue_lookup(lookup, Purpose::Reconcile(job));
            }
            None => self.retry_lookup_later(job, "the list may be one page of a longer one"),
        }
    }

    /// Compares the only candidate in full where a record of it can be read; lists of companies show only names.
    fn confirm(&mut self, job: JobId, id: RemoteId) {
        let Some(work) = self.in_flight.work(job) else { return };
        let lookup = match &work.record {
            Record::Company(_) => Lookup::Company(id),
            Record::Site(_) | Record::Person(_) | Record::Device(_) => return self.adopt(job, id),
        };
        if self.gates.usable(lookup.operation()) {
            self.queue_lookup(lookup, Purpose::Confirm(job, id));
        } else {
            self.adopt(job, id);
        }
    }

    pub(in crate::run) fn on_confirmation(&mut self, job: JobId, id: RemoteId, answer: LookupAnswer) {
        let Some(work) = self.in_flight.work(job) else { return };
        match answer {
            LookupAnswer::Unavailable => self.adopt(job, id),
            LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
                self.retry_lookup_later(job, &format!("the record could not be read: {why}"))
            }
            LookupAnswer::Records(found) => {
                let sent = matching::sent(work);
                let Some(record) = found.iter().find(|found| found.id == Some(id)) else {
                    return self.retry_lookup_later(job, "the record was listed but could not be read");
                };
                let differences = matching::differences(&sent, &record.raw);
                if differences.is_empty() {
                    self.adopt(job, id);
                } else {
                    let candidate = matching::candidate(record, &differences.join("; "));
                    let reason = format!("{}, and the only record found differs from the row", cause(work));
                    self.hold(job, Reason::CandidatesDiffer.as_str(), reason, vec![candidate]);
                }
            }
        }
    }

    fn adopt(&mut self, job: JobId, id: RemoteId) {
        let evidence = Evidence::at(self.clock.now());
        let (from, how) = (JobState::InDoubt, How::Adopted);
        self.settle(job, Write::Advance { job, from, how, id: Some(id), evidence });
    }

    /// An admissible look-up found nothing.
    fn absent(&mut self, job: JobId) {
        let Some(work) = self.in_flight.work(job) else { return };
        let reads = work.absent_reads + 1;
        if !self.settled(work) || reads < ABSENT_READS {
            let until = self.next_look(work);
            return self.stay_in_doubt(job, until, reads, "not found so far");
        }
        let may_send =
            !work.executed && self.options.policy.in_doubt == InDoubt::Settle && !makes_a_site(&work.record);
        if may_send {
            let note =
                format!("not there after {} s, by {reads} look-ups", self.options.policy.settle.as_secs());
            self.send_again(job, &note);
        } else if let Some(lookup) = self.custom_site_lookup(work) {
            self.queue_lookup(lookup, Purpose::CustomSite(job));
        } else {
            let cause = cause(work);
            let reason = if work.executed {
                "the service said the record is there, but it is not found".to_owned()
            } else if makes_a_site(&work.record) {
                format!("{cause}, and the device is not found; sending it could make its site twice")
            } else {
                format!(
                    "{cause}, and the record is not found; in_doubt is \"hold\", so it needs your decision"
                )
            };
            self.hold(job, Reason::Absent.as_str(), reason, Vec::new());
        }
    }

    /// Whether the look-up that found nothing of a job finds what is known to exist.
    pub(in crate::run) fn on_control(&mut self, job: JobId, result: ControlResult) {
        match result {
            ControlResult::Proved => self.absent(job),
            ControlResult::NotProved(why) | ControlResult::Failed(why) => self.retry_lookup_later(job, &why),
            ControlResult::Unavailable => self.reconcile(job),
            // The service's own uniqueness is proof enough.
            ControlResult::NoRecord if self.is_guarded(job) => self.without_lookup(job),
            ControlResult::NoRecord => {
                self.retry_lookup_later(job, "nothing known to exist could prove the look-up");
            }
        }
    }

    /// Whether a job may be sent again without any look-up, since the service refuses a second record.
    fn is_guarded(&self, job: JobId) -> bool {
        self.options.policy.in_doubt == InDoubt::Settle
            && self.in_flight.work(job).is_some_and(|work| {
                matches!(work.action, Action::Create) && !work.executed && guarded_by_mac(&work.record)
            })
    }

    /// It was not executed: it may be sent again, unless that has failed too often.
    fn send_again(&mut self, job: JobId, note: &str) {
        let Some(work) = self.in_flight.work(job) else { return };
        if work.doubts >= MOST_DOUBTS {
            let reason = format!(
                "its outcome was unknown {} times: the answer was lost, or was an error of the service",
                work.doubts
            );
            return self.hold(job, Reason::AnswerNever.as_str(), reason, Vec::new());
        }
        let deed = if work.doubt == Some(Doubt::JournalBehind) { "sent" } else { "sent again" };
        let note = format!("{deed}: {note}");
        self.settle(job, Write::Release { job, note, at: self.clock.now() });
    }

    /// This look decided nothing. After enough late ones a person is asked; not while the service fails at the
    /// operation, since what it makes afterwards may prove the look-up.
    fn retry_lookup_later(&mut self, job: JobId, note: &str) {
        let Some(work) = self.in_flight.work(job) else { return };
        let early = looks_before(self.options.policy.settle);
        if self.settled(work) && work.looks >= early + LATE_LOOKS && !self.is_unstable(work.operation) {
            if let Some(lookup) = self.custom_site_lookup(work) {
                return self.queue_lookup(lookup, Purpose::CustomSite(job));
            }
            return self.hold(job, Reason::LookupInconclusive.as_str(), note.to_owned(), Vec::new());
        }
        let until = self.next_look(work);
        self.stay_in_doubt(job, until, work.absent_reads, note);
    }

    fn stay_in_doubt(&mut self, job: JobId, until: Moment, absent_reads: u32, note: &str) {
        let write =
            Write::KeepDoubting { job, until, absent_reads, note: note.to_owned(), at: self.clock.now() };
        self.settle(job, write);
    }

    pub(in crate::run) fn hold(
        &mut self,
        job: JobId,
        code: &str,
        reason: String,
        candidates: Vec<Candidate>,
    ) {
        let evidence = Evidence::at(self.clock.now());
        let (from, code) = (JobState::InDoubt, code.to_owned());
        self.settle(job, Write::Hold { job, from, code, reason, candidates, evidence });
    }

    fn settled(&self, work: &Work) -> bool {
        self.left(work).is_zero() || mistake::made(Mistake::SettleTimeIgnored)
    }

    /// How long "not there" may not be believed yet.
    fn left(&self, work: &Work) -> Duration {
        self.evidence.settle.left(work.job, self.clock.elapsed(), self.options.policy.settle)
    }

    /// From when on "not there" may be believed, as far as the wall clock goes evenly. The journal counts whole
    /// milliseconds, and a look must not come a fraction of one too early.
    fn settle_moment(&self, work: &Work) -> Moment {
        self.clock.now().plus(self.left(work) + Duration::from_millis(1))
    }

    /// When to look again: soon at first, at the settle time at the latest, then every few seconds.
    fn next_look(&self, work: &Work) -> Moment {
        let now = self.clock.now();
        if self.settled(work) {
            return now.plus(LATE_WAIT.min(self.options.policy.settle));
        }
        let wait = FIRST_WAIT.saturating_mul(1 << work.looks.min(16));
        self.settle_moment(work).min(now.plus(wait))
    }
}

/// Why it is not known whether a row was executed, in words that go on with ", and".
pub(in crate::run) fn cause(work: &Work) -> &'static str {
    match work.doubt {
        Some(Doubt::JournalBehind) => "this copy of the journal may not know that the row was sent",
        _ => "the answer was lost",
    }
}

/// How many looks fit before the settle time, as their waits double.
fn looks_before(settle: Duration) -> u32 {
    let mut passed = FIRST_WAIT;
    let mut looks = 1;
    while passed < settle {
        passed = passed.saturating_mul(2);
        looks += 1;
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::example::company;

    #[test]
    fn no_answer_is_said_to_be_lost_of_a_row_that_may_never_have_been_sent() {
        let mut work = company("Acme");
        work.doubt = Some(Doubt::Timeout);
        assert_eq!(cause(&work), "the answer was lost");
        work.doubt = Some(Doubt::JournalBehind);
        assert_eq!(cause(&work), "this copy of the journal may not know that the row was sent");
    }

    #[test]
    fn looks_double_their_distance_up_to_the_settle_time() {
        assert_eq!(looks_before(Duration::from_secs(1)), 1);
        assert_eq!(looks_before(Duration::from_secs(600)), 9);
    }
}
