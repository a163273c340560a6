//! From an answer to the outcome of a step: the verdict, what follows from it for the job, and what the run
//! does besides. The rules themselves are [`crate::model::settle`]; this writes them down and carries them out.

use std::time::Duration;

use super::before::Reading;
use super::breaker::{Outcome, Phase};
use super::dispatcher::Dispatcher;
use super::ends::Ending;
use super::hand::Inbox;
use super::lane::{Errand, Halt};
use super::lookups;
use super::quota::Parking;
use crate::journal::{Action, Candidate, Evidence, How, Work, Write};
use crate::mistake::{self, Mistake};
use crate::model::event::Event;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::reason::{Reason, ServiceCode};
use crate::model::settle::{Consequence, Settled, Standing, settle, unseen_for};
use crate::model::state::JobState;
use crate::model::time::{Day, Moment};
use crate::model::verdict::{Doubt, NotSent, Refusal, Verdict};
use crate::service::Answer;

/// A record made by us less than this ago may not be visible to the service's checks yet.
const FRESH: Duration = Duration::from_secs(60);
/// How long after a lost answer the first look is taken: most late commits have happened by then.
const FIRST_LOOK: Duration = Duration::from_secs(2);

/// The answer of a request whose task was lost: it may have been sent.
pub(super) fn lost() -> Answer {
    Answer {
        verdict: Verdict::Doubtful(Doubt::WorkerLost),
        status: None,
        date: None,
        took: Duration::ZERO,
        excerpt: None,
    }
}

impl Dispatcher {
    /// A step of a job has its answer.
    pub(super) fn answered(&mut self, job: JobId, answer: Answer, phase: Phase) {
        let Some(in_hand) = self.in_hand.get(&job) else { return };
        let (operation, counted) = (in_hand.work.operation, in_hand.counted);
        let standing = Standing {
            creation: matches!(in_hand.work.action, Action::Create),
            fresh_reference: self.refers_to_fresh(&in_hand.work),
            deferrals: in_hand.work.deferrals,
            token_refusals: self.token_refusals.get(&job).copied().unwrap_or(0),
        };
        let mut evidence = self.evidence(&answer);
        let contradicting = match &answer.verdict {
            Verdict::Contradicted(contradiction) => contradiction.id,
            _ => None,
        };
        if answer.verdict == Verdict::TokenInvalid {
            *self.token_refusals.entry(job).or_default() += 1;
        } else {
            self.token_refusals.remove(&job);
        }
        if matches!(answer.verdict, Verdict::Succeeded(_)) {
            self.shown.extend(in_hand.work.parents.iter().map(|(_, parent)| *parent));
        }
        self.heed_status(operation, &answer);
        let outcome = said(&answer.verdict);
        let (settled, consequence) = settle(standing, answer.verdict);
        let settled = match settled {
            // It was sent again without a look, since the service refuses a second record: what else it says of the
            // second request says nothing about the first.
            Settled::Rejected(rejection) if self.may_be_there(job) => Settled::Held {
                code: Reason::RefusedInDoubt.as_str(),
                reason: format!(
                    "an earlier answer was lost, and the service refused the row when it was sent again: {}",
                    rejection.message
                ),
            },
            settled => settled,
        };
        if let Settled::InDoubt(doubt) = settled
            && self.lane(operation).breaker.is_probe(phase)
        {
            // It failed for the service's sake, not for the row's: not one of the doubts a row may have.
            evidence.code = Some(doubt.code_of_probe());
        }
        self.count(counted, &settled, consequence == Consequence::ParkCreations);
        self.follow(operation, counted, consequence, (outcome, phase));
        match &settled {
            Settled::Done { .. } => self.note_verdict(job, None),
            Settled::Rejected(rejection) => self.note_verdict(job, Some(rejection)),
            Settled::Returned { .. }
            | Settled::Deferred { .. }
            | Settled::InDoubt(_)
            | Settled::Held { .. } => {}
        }
        let write = self.outcome(job, standing, settled, evidence, contradicting);
        self.settle(job, write);
    }

    /// Whether an earlier request may have made the record, and no look-up can tell.
    fn may_be_there(&self, job: JobId) -> bool {
        self.in_hand.get(&job).is_some_and(|in_hand| {
            let work = &in_hand.work;
            let looked = lookups::by_key(work, &|operation| self.usable(operation)).is_some();
            let taken_in = !mistake::made(Mistake::DuplicateRejects);
            matches!(work.action, Action::Create) && work.doubted && !looked && taken_in
        })
    }

    /// Until when a job is sent again that is put off for what the service does not show yet.
    pub(super) fn unseen_until(&self, job: JobId, write: &Write) -> Option<Moment> {
        let deferrals = self.in_hand.get(&job)?.work.deferrals;
        match write {
            Write::Defer { charged: true, until, .. } => Some(until.plus(unseen_for(deferrals))),
            _ => None,
        }
    }

    /// The write that puts `settled` in the journal.
    fn outcome(
        &self,
        job: JobId,
        standing: Standing,
        settled: Settled,
        evidence: Evidence,
        contradicting: Option<RemoteId>,
    ) -> Write {
        let from = JobState::Sending;
        match settled {
            Settled::Done { id } => {
                let how = if standing.creation { How::Created } else { How::Done };
                Write::Advance { job, from, how, id, evidence }
            }
            Settled::Rejected(rejection) => Write::Reject { job, from, rejection, evidence },
            Settled::Returned { code, reason } => {
                Write::Return { job, code: code.to_owned(), reason, evidence }
            }
            Settled::Deferred { charged, delay, code, reason } => {
                let until = evidence.at.plus(delay);
                Write::Defer { job, until, charged, code: code.to_owned(), reason, evidence }
            }
            Settled::InDoubt(doubt) => {
                let until = if doubt.executed() {
                    evidence.at
                } else {
                    evidence.at.plus(FIRST_LOOK.min(self.options.policy.settle))
                };
                Write::Doubt { job, doubt, executed: doubt.executed(), until, evidence }
            }
            Settled::Held { code, reason } => {
                let candidates = contradicting
                    .map(|id| Candidate {
                        id: Some(id),
                        name: None,
                        details: "named in the answer".to_owned(),
                        difference: reason.clone(),
                    })
                    .into_iter()
                    .collect();
                Write::Hold { job, from, code: code.to_owned(), reason, candidates, evidence }
            }
        }
    }

    /// What the run does besides.
    fn follow(
        &mut self,
        operation: Operation,
        counted: Option<Day>,
        consequence: Consequence,
        (outcome, phase): (Outcome, Phase),
    ) {
        if !matches!(consequence, Consequence::Unreachable(_) | Consequence::LowerConcurrency(_)) {
            self.reach.reached();
        }
        let now = self.clock.elapsed();
        let breaker = &mut self.lane(operation).breaker;
        if let Consequence::Nothing | Consequence::Failure = consequence {
            let change = breaker.heard(outcome, phase, now);
            self.tell_breaker(operation, change);
        } else {
            breaker.came_home(phase);
        }
        match consequence {
            Consequence::Nothing | Consequence::Failure => {}
            Consequence::SlowDown => self.slow_down(operation),
            Consequence::ParkCreations => self.quota_refused(counted),
            Consequence::StopOperation(status) => self.stop_operation(operation, status),
            Consequence::StopRun(refusal) => self.stop_run(refusal),
            Consequence::Distrust(words) => self.drain(Ending::distrusted(&words)),
            Consequence::LowerConcurrency(words) => self.ran_short(operation, &words),
            Consequence::Unreachable(words) => {
                if let Some(retry_in) = self.reach.failed(now, &words) {
                    self.tell(Event::Unreachable { reason: words, retry_in });
                }
            }
        }
    }

    /// A 429 that says nothing we know: in doubt for the row, and a plain sign to slow down. A redirect: in doubt for
    /// the row, and a sign that the service is elsewhere, so that each further row would only be put in doubt as well.
    /// Questions are harmless and go on being asked: the network may have sent us to a sign-in page of its own.
    pub(super) fn heed_status(&mut self, operation: Operation, answer: &Answer) {
        match (answer.status, &answer.verdict) {
            (Some(429), Verdict::Doubtful(_)) => self.slow_down(operation),
            (Some(status), Verdict::Doubtful(Doubt::Redirect)) if !operation.looks_up() => {
                self.stop_operation(operation, status);
            }
            _ => {}
        }
    }

    fn slow_down(&mut self, operation: Operation) {
        let limiter = &mut self.lane(operation).limiter;
        let before = limiter.rate();
        let rate = limiter.refused();
        if rate < before {
            self.tell(Event::SlowedDown { operation, rate });
        }
    }

    /// What follows for the run from the answer to a look-up.
    pub(super) fn follow_look_up(&mut self, operation: Operation, verdict: &Verdict, phase: Phase) {
        let consequence = match verdict {
            Verdict::Succeeded(_)
            | Verdict::Rejected(_)
            | Verdict::NoDataFound(_)
            | Verdict::Duplicate(_)
            | Verdict::Contradicted(_)
            | Verdict::TokenInvalid => Consequence::Nothing,
            Verdict::NotSent(NotSent::Untrusted(words)) => Consequence::Distrust(words.clone()),
            Verdict::NotSent(NotSent::NoResources(words)) => Consequence::LowerConcurrency(words.clone()),
            Verdict::NotSent(why) => Consequence::Unreachable(why.words().to_owned()),
            Verdict::Throttled | Verdict::QuotaSpent => Consequence::SlowDown,
            Verdict::Refused(refusal) => Consequence::StopRun(*refusal),
            Verdict::EndpointMissing(status) => Consequence::StopOperation(*status),
            Verdict::Doubtful(_) => Consequence::Failure,
        };
        self.follow(operation, None, consequence, (said(verdict), phase));
    }

    /// Keeps the quota in step with what became of a creation that counted on `day`.
    /// A refusal for want of quota is taken back where it is dealt with.
    fn count(&mut self, day: Option<Day>, settled: &Settled, parks: bool) {
        let Some(day) = day else { return };
        let (sent, confirmed, doubtful) = match settled {
            Settled::Done { .. } | Settled::Rejected(_) | Settled::Held { .. } => {
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

    fn tell_quota(&self) {
        self.tell(Event::QuotaUsed { used: self.quota.used(), ceiling: self.quota.ceiling() });
    }

    fn quota_refused(&mut self, counted: Option<Day>) {
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

    /// The endpoint of an operation is not where it was looked for: nothing of it is sent any more.
    fn stop_operation(&mut self, operation: Operation, status: u16) {
        let lane = self.lane(operation);
        if lane.halt.is_some() {
            return;
        }
        lane.halt = Some(Halt::Missing { status });
        let waiting: Vec<_> = lane.queue.drain(..).collect();
        self.tell(Event::Note {
            text: format!("the service answered {status} to {operation}: stopped sending it"),
        });
        for errand in waiting {
            self.give_up_errand(operation, &errand);
        }
    }

    /// An errand of a halted operation: a step goes back to the journal, a question is answered with silence.
    fn give_up_errand(&mut self, operation: Operation, errand: &Errand) {
        match errand {
            Errand::Send(job) => self.let_go(*job),
            Errand::Look { purpose, .. } => self.read(operation, *purpose, Reading::Unavailable),
        }
    }

    fn stop_run(&mut self, refusal: Refusal) {
        self.drain(Ending::refused(refusal));
    }

    /// Takes a claim back whose request never left.
    pub(super) fn take_back(&mut self, job: JobId, reason: &str) {
        if let Some(day) = self.in_hand.get(&job).and_then(|in_hand| in_hand.counted) {
            self.counted.add(day, -1, 0, 0);
        }
        self.uncount(job);
        let evidence = Evidence::at(self.clock.now());
        let reason = reason.to_owned();
        self.settle(job, Write::Return { job, code: Reason::NotSent.as_str().to_owned(), reason, evidence });
    }

    /// A creation that was counted has not left.
    pub(super) fn uncount(&mut self, job: JobId) {
        if let Some(day) = self.in_hand.get_mut(&job).and_then(|in_hand| in_hand.counted.take()) {
            self.quota.came_home_unexecuted(day);
            self.tell_quota();
        }
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

    /// Whether a row refers to a record that we made moments ago and that the service has yet to show it knows.
    fn refers_to_fresh(&self, work: &Work) -> bool {
        let now = self.clock.elapsed();
        work.parents
            .iter()
            .filter(|(_, parent)| !self.shown.contains(parent))
            .any(|(_, parent)| self.made.get(parent).is_some_and(|made| now.saturating_sub(*made) < FRESH))
    }

    fn evidence(&self, answer: &Answer) -> Evidence {
        Evidence {
            at: self.clock.now(),
            status: answer.status,
            code: code(&answer.verdict),
            excerpt: answer.excerpt.clone(),
            took_ms: u64::try_from(answer.took.as_millis()).ok(),
        }
    }
}

/// What an answer says about the service. Told only of answers that say anything.
fn said(verdict: &Verdict) -> Outcome {
    match verdict {
        // A redirect, like a page, comes from something that stands before the service.
        Verdict::Doubtful(Doubt::Unreadable | Doubt::Redirect) => Outcome::Page,
        Verdict::Doubtful(_) | Verdict::Contradicted(_) => Outcome::Failed,
        Verdict::Succeeded(_)
        | Verdict::Rejected(_)
        | Verdict::NoDataFound(_)
        | Verdict::Duplicate(_)
        | Verdict::NotSent(_)
        | Verdict::Throttled
        | Verdict::QuotaSpent
        | Verdict::TokenInvalid
        | Verdict::Refused(_)
        | Verdict::EndpointMissing(_) => Outcome::Answered,
    }
}

/// The code under which an attempt is kept.
fn code(verdict: &Verdict) -> Option<String> {
    let code = match verdict {
        Verdict::Succeeded(_) => return None,
        Verdict::Rejected(rejection) | Verdict::NoDataFound(rejection) | Verdict::Duplicate(rejection) => {
            &rejection.code
        }
        Verdict::NotSent(_) => Reason::NotSent.as_str(),
        Verdict::Throttled => ServiceCode::RateLimitExceeded.as_str(),
        Verdict::QuotaSpent => ServiceCode::QuotaLimitExceeded.as_str(),
        Verdict::TokenInvalid | Verdict::Refused(Refusal::TokenRefused) => ServiceCode::InvalidToken.as_str(),
        Verdict::Refused(Refusal::InvalidClient) => ServiceCode::InvalidClient.as_str(),
        Verdict::Refused(Refusal::UnauthorizedSource) => ServiceCode::UnauthorizedSource.as_str(),
        Verdict::EndpointMissing(_) => Reason::EndpointMissing.as_str(),
        Verdict::Contradicted(_) => Reason::AnswerContradicts.as_str(),
        Verdict::Doubtful(doubt) => doubt.code(),
    };
    Some(code.to_owned())
}
