//! Look-ups of a run: what is asked about the rows that the journal hands out, how answers reach whoever asked, and how a
//! decision about a row is carried out.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Dispatcher, answered};
use crate::failpoint;
use crate::journal::{Evidence, Ownership, SameLicence, Work, WorkPage, Write};
use crate::model::event::Event;
use crate::model::id::{JobId, RemoteId, SheetId};
use crate::model::operation::Operation;
use crate::model::reason::ServiceCode;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::run::decide::{FoundRecords, RowDecision, RunFacts, pre_send, reconcile, upkeep};
use crate::run::evidence::ControlResult;
use crate::run::evidence::lookups::{self, ReferencedRecord};
use crate::run::evidence::matching::SeenRecord;
use crate::run::evidence::question::{Asker, LookupAnswer, Question, Subject, Tries};
use crate::run::evidence::record_list::RecordList;
use crate::run::evidence::reference_lag::{LagStep, RefusedRow};
use crate::run::evidence::shared_lists::{GOOD_FOR, ListNeed, ListUser};
use crate::run::gates::{BreakerOutcome, Phase, consequence_of_lookup};
use crate::run::in_flight::{QueuedRequest, Stage};
use crate::run::run_action::Inquiry;
use crate::service::{Answer, Lookup};

impl Dispatcher {
    /// A page of jobs that may be sent.
    pub(super) fn on_jobs(&mut self, operation: Operation, page: WorkPage) {
        if self.drain.is_some() {
            return;
        }
        for job in self.in_flight.add_ready(operation, page) {
            self.progress.moved();
            self.decide(job, pre_send::first_lookup);
        }
    }

    /// A page of jobs in doubt whose look-up is due.
    pub(super) fn on_doubtful_jobs(&mut self, page: WorkPage) {
        if self.drain.is_some() {
            return;
        }
        for job in self.in_flight.add_doubtful(page) {
            self.progress.moved();
            failpoint::reach("doubt.taken-up");
            let (now, settle) = (self.clock.elapsed(), self.options.policy.settle);
            self.evidence.settle.take_up(job, now, settle);
            self.decide(job, reconcile::first_lookup);
        }
    }

    /// Decides about a row, and carries that out.
    fn decide(&mut self, job: JobId, rule: impl FnOnce(&Work, &RunFacts<'_>) -> RowDecision) {
        let Some(work) = self.in_flight.work(job) else { return };
        let facts = RunFacts {
            usable: &|operation| self.gates.usable(operation),
            evidence: &self.evidence,
            policy: self.options.policy,
            elapsed: self.clock.elapsed(),
            now: self.clock.now(),
            is_paused: self.is_paused(work) || self.in_flight.is_kept_back(work),
            is_unstable: self.gates.is_unstable(work.operation, self.in_flight.has_waiting(work.operation)),
        };
        let decision = rule(work, &facts);
        self.carry_out_decision(job, decision);
    }

    fn carry_out_decision(&mut self, job: JobId, decision: RowDecision) {
        match decision {
            RowDecision::Send => {
                self.in_flight.on_looked_up(job, self.clock.elapsed());
                self.queue_send(job);
            }
            RowDecision::SendOver(before) => {
                self.in_flight.set_before(job, before);
                self.carry_out_decision(job, RowDecision::Send);
            }
            RowDecision::Ask(lookup, question) => self.ask(lookup, question),
            RowDecision::CompareWithList(lookup) => self.compare_with_list(job, lookup),
            RowDecision::Resolved(action) => {
                self.in_flight.set_action(job, *action);
                self.decide(job, |work, facts| match work.state {
                    JobState::InDoubt => reconcile::first_lookup(work, facts),
                    _ => pre_send::first_lookup(work, facts),
                });
            }
            RowDecision::AskOwners(found) => {
                self.journal.ask_owners(job, found.ids());
                self.in_flight.set_stage(job, Stage::Owners(Box::new(found)));
            }
            RowDecision::AskControl(operation) => {
                let Some(work) = self.in_flight.work(job) else { return };
                let asker = if work.state == JobState::InDoubt { Asker::Reconcile } else { Asker::PreSend };
                self.journal.ask(Inquiry::Controls { asker, job, operation, kind: work.kind });
            }
            RowDecision::Write(write) => self.settle(job, *write),
            RowDecision::WriteUnlisted(lookup, write) => {
                self.evidence.lists.on_missed(&lookup, job);
                self.settle(job, *write);
            }
            RowDecision::Refused(rejection) => {
                self.count_verdict(job, Some(&rejection));
                let (from, evidence) = (JobState::InDoubt, Evidence::at(self.clock.now()));
                self.decide(job, |work, _| {
                    pre_send::unless_corrected(work, Write::Reject { job, from, rejection, evidence })
                });
            }
            RowDecision::Drop => self.drop_job(job),
            RowDecision::Baseline(baseline, then) => {
                self.in_flight.set_baseline(job, baseline);
                self.carry_out_decision(job, *then);
            }
        }
    }

    /// Queues the step of a job.
    fn queue_send(&mut self, job: JobId) {
        let Some(work) = self.in_flight.work(job) else { return };
        let operation = work.operation;
        if self.gates.usable(operation) && !self.is_paused(work) && !self.in_flight.is_kept_back(work) {
            self.in_flight.queue_send(job);
        } else {
            self.drop_job(job);
        }
    }

    /// Puts a question to the service as soon as it may be asked.
    pub(super) fn ask(&mut self, lookup: Lookup, question: Question) {
        let (operation, tries) = (lookup.operation(), Tries::default());
        self.in_flight.push(operation, QueuedRequest::Lookup { lookup, question, tries });
    }

    fn compare_with_list(&mut self, job: JobId, lookup: Lookup) {
        let Some(work) = self.in_flight.work(job) else { return };
        let user = ListUser::of(work, work.action.turn());
        match self.evidence.lists.need(&lookup, user, self.clock.elapsed()) {
            ListNeed::Met(list) => self.decide_by_list(job, &lookup, list.as_deref()),
            ListNeed::Wait => self.in_flight.set_stage(job, Stage::AwaitingList),
            ListNeed::Ask => {
                self.in_flight.set_stage(job, Stage::AwaitingList);
                self.ask(lookup, Question { asker: Asker::PreSend, subject: Subject::SharedList });
            }
        }
    }

    /// A list that a row needs before it is sent is there, or could not be read.
    fn decide_by_list(&mut self, job: JobId, lookup: &Lookup, list: Option<&RecordList>) {
        self.decide(job, |work, facts| pre_send::on_list(work, facts, lookup, list));
    }

    /// A look-up that was `sent` then has its answer: it is asked again when that tells nothing, else it goes to whoever asked.
    pub(super) fn on_lookup_response(
        &mut self,
        (lookup, question, tries): (Lookup, Question, Tries),
        (answer, sent): (Answer, Moment),
        phase: Phase,
    ) {
        let operation = lookup.operation();
        self.tell(answered(operation, &answer));
        let actions = self.gates.on_status(operation, &answer);
        self.carry_out(actions);
        let token_refused = tries.token_refused > 0 && !answer.token_ended;
        let consequence = consequence_of_lookup(&answer.verdict, token_refused);
        self.follow(operation, None, consequence, (BreakerOutcome::of(&answer.verdict), phase));
        if self.drain.is_some() {
            return;
        }
        // What was read late, as the machine slept or this process stood still, says nothing of now. An answer that never
        // came is another matter, however long it was waited for.
        let is_answered = matches!(answer.verdict, Verdict::Succeeded(_) | Verdict::NoDataFound(_));
        let is_old = is_answered && self.clock.now().since(sent) >= GOOD_FOR;
        let again = tries.again(question, &answer.verdict, self.gates.is_closed(operation));
        let again = again.or_else(|| is_old.then_some(tries));
        // Another answer may have shown meanwhile that the look-up is not available: nothing leaves its queue then.
        if let Some(tries) = again
            && self.gates.halt(operation).is_none()
        {
            self.in_flight.push(operation, QueuedRequest::Lookup { lookup, question, tries });
            return;
        }
        let answer = match is_old {
            true => LookupAnswer::Unavailable,
            false => LookupAnswer::of(operation, answer.verdict, again.is_some()),
        };
        self.on_lookup_answer(&lookup, question, answer);
    }

    /// Tells once of each operation that rows which create records are sent though its look-up says nothing.
    fn tell_inconclusive(&mut self, lookup: &Lookup, question: Question, why: &str) {
        let creates = match question.job() {
            Some(job) => self.in_flight.work(job).is_some_and(lookups::creates),
            // Of the lists that several rows need, only this one is for creations.
            None => matches!(lookup, Lookup::ChildCompanies(_)),
        };
        let operation = lookup.operation();
        if creates && self.evidence.inconclusive.insert(operation) {
            let text = format!(
                "{operation}: the look-up before sending says nothing ({why}): rows are sent without it, and a record that \
                 exists already is created again"
            );
            self.tell(Event::Note { text });
        }
    }

    /// Hands what a look-up says to whoever asked.
    fn on_lookup_answer(&mut self, lookup: &Lookup, question: Question, answer: LookupAnswer) {
        let (operation, Question { asker, subject }) = (lookup.operation(), question);
        if let (Asker::PreSend, LookupAnswer::Inconclusive(why)) = (asker, &answer) {
            self.tell_inconclusive(lookup, question, why);
        }
        match (asker, subject) {
            (_, Subject::Control(job, expected)) => {
                self.on_control_answer(asker, job, (operation, expected), answer);
            }
            (Asker::PreSend, Subject::SharedList) => self.on_list(lookup, answer),
            (Asker::PreSend, Subject::Key(job) | Subject::Narrower(job)) => {
                match &answer {
                    LookupAnswer::Failed(why) => {
                        self.evidence.failed_looks.entry(job).or_default().why.clone_from(why);
                    }
                    _ => drop(self.evidence.failed_looks.remove(&job)),
                }
                self.decide(job, |work, facts| {
                    pre_send::on_answer(work, facts, (subject, operation), answer)
                });
            }
            (Asker::Reconcile, Subject::Key(job) | Subject::Narrower(job)) => {
                self.decide(job, |work, facts| {
                    reconcile::on_answer(work, facts, (subject, operation), answer)
                });
            }
            (Asker::Reconcile, Subject::Record(job, id)) => {
                self.decide(job, |work, facts| reconcile::on_confirmation(work, facts, id, answer));
            }
            (Asker::Reconcile, Subject::CustomSites(job)) => {
                self.decide(job, |work, facts| reconcile::on_custom_sites(work, facts, answer));
            }
            (Asker::ReferenceLag, Subject::Record(reference, id)) => {
                self.evidence.lag.on_answer(reference, id, answer, self.clock.elapsed());
            }
            (Asker::Audit, subject) => {
                self.audit(|audit, cx| audit.on_answer(cx, subject, lookup, answer));
            }
            (Asker::Breaker(operation), _) => self.on_health_check(operation, &answer),
            // Nobody asks these.
            (
                Asker::PreSend,
                Subject::Record(..) | Subject::CustomSites(_) | Subject::Children(_) | Subject::Anything,
            )
            | (Asker::Reconcile, Subject::Children(_) | Subject::SharedList | Subject::Anything)
            | (
                Asker::ReferenceLag,
                Subject::Key(_)
                | Subject::Narrower(_)
                | Subject::Children(_)
                | Subject::CustomSites(_)
                | Subject::SharedList
                | Subject::Anything,
            ) => {}
        }
    }

    /// A list has been read, for every job that waits for it.
    fn on_list(&mut self, lookup: &Lookup, answer: LookupAnswer) {
        let list = match answer {
            LookupAnswer::Failed(why) => {
                for job in self.evidence.lists.on_failure(lookup) {
                    self.decide(job, |work, facts| pre_send::postpone(work, facts, &why));
                }
                return;
            }
            LookupAnswer::Records(found) => Some(Arc::new(RecordList::of(found))),
            LookupAnswer::Inconclusive(_) | LookupAnswer::Unavailable => None,
        };
        // Who is misled by it, as others have sent something since it was asked for, asks again.
        for job in self.evidence.lists.on_list(lookup, list, self.clock.elapsed()) {
            self.compare_with_list(job, lookup.clone());
        }
    }

    /// The journal has said who owns the records found for a job, and of which rows under way they may be.
    pub(super) fn on_owners(&mut self, job: JobId, ownership: &Ownership) {
        let Ownership { owners, renamed, under_way, same_licence } = ownership;
        let Some(FoundRecords { question, operation, found, is_whole }) = self.in_flight.take_found(job)
        else {
            return;
        };
        let subject = question.subject;
        let seen = SeenRecord::pair(found, owners, renamed);
        if operation == Operation::AddLicenceCode {
            // One that the journal does not know of yet comes first.
            let beside = self.in_flight.with_same_step(job).map(SameLicence::UnderWay);
            self.decide(job, |work, facts| upkeep::on_licence(work, facts, same_licence.or(beside)));
        } else if question.asker == Asker::Reconcile {
            if !owners.is_empty() {
                // It has found a record that is known to exist: its "not there" counts from now on.
                self.evidence.controls.prove(operation);
            }
            self.decide(job, |work, facts| {
                reconcile::on_owners(work, facts, (subject, operation), &seen, under_way)
            });
        } else {
            let asked = (subject, (!is_whole).then_some(operation));
            self.decide(job, |work, facts| pre_send::on_owners(work, facts, asked, &seen, under_way));
        }
    }

    /// The journal has named records that are known to exist: looks one of them up by the operation that did not find the
    /// record of a job.
    pub(super) fn on_controls(&mut self, asker: Asker, job: JobId, operation: Operation, rows: &[Work]) {
        // Before sending, the question is whether the service answers it now.
        if asker != Asker::PreSend && self.evidence.controls.is_proved(operation) {
            return self.on_control_result(asker, job, ControlResult::Proved);
        }
        let mut rows = rows.iter().filter(|row| !self.audit.misses(row.job));
        match rows.find_map(|row| lookups::control(row, operation)) {
            Some((lookup, id)) if self.gates.usable(operation) => {
                let (question, tries) =
                    (Question { asker, subject: Subject::Control(job, id) }, Tries::default());
                let request = QueuedRequest::Lookup { lookup, question, tries };
                match asker {
                    // It tells more of the service than whatever waits there, which may fail as well.
                    Asker::PreSend => self.in_flight.push_first(operation, request),
                    _ => self.in_flight.push(operation, request),
                }
            }
            Some(_) => self.on_control_result(asker, job, ControlResult::Unavailable),
            None => self.on_control_result(asker, job, ControlResult::NoRecord),
        }
    }

    /// A control look-up has its answer.
    fn on_control_answer(
        &mut self,
        asker: Asker,
        job: JobId,
        (operation, expected): (Operation, RemoteId),
        answer: LookupAnswer,
    ) {
        let result = ControlResult::of(expected, answer);
        if matches!(result, ControlResult::Proved) {
            self.evidence.controls.prove(operation);
        }
        self.on_control_result(asker, job, result);
    }

    fn on_control_result(&mut self, asker: Asker, job: JobId, result: ControlResult) {
        match asker {
            Asker::Audit => self.audit(|audit, cx| audit.on_control(cx, job, &result)),
            Asker::PreSend => {
                let mut failed = self.evidence.failed_looks.remove(&job).unwrap_or_default();
                failed.alone +=
                    u32::from(matches!(result, ControlResult::Proved | ControlResult::NotProved(_)));
                self.decide(job, |work, facts| pre_send::on_control(work, facts, &failed));
                self.evidence.failed_looks.insert(job, failed);
            }
            _ => self.decide(job, |work, facts| reconcile::on_control(work, facts, result)),
        }
    }

    /// Nothing of an operation is sent any more: a step goes back to the journal, a question is answered with silence.
    pub(super) fn give_up(&mut self, operation: Operation) {
        for request in self.in_flight.take_all(operation) {
            match request {
                QueuedRequest::Send(job) => self.drop_job(job),
                QueuedRequest::Lookup { lookup, question, .. } => {
                    self.on_lookup_answer(&lookup, question, LookupAnswer::Unavailable);
                }
            }
        }
    }

    /// Whether a health check must be answered before a request of `operation` may try the service; it is on its way
    /// then: a question about the company of the row that is next, which the service can always answer. Where there is
    /// none, the request itself finds out.
    pub(super) fn health_check_first(&mut self, operation: Operation) -> bool {
        if !self.gates.wants_health_check(operation) {
            return false;
        }
        let next = match self.in_flight.first(operation) {
            Some(QueuedRequest::Send(job)) => self.in_flight.work(*job),
            Some(QueuedRequest::Lookup { .. }) | None => None,
        };
        let lookup = next.and_then(lookups::of_company);
        let Some(lookup) = lookup.filter(|lookup| self.gates.usable(lookup.operation())) else {
            return false;
        };
        self.gates.on_health_check_queued(operation);
        // Before what waits there: rows of two operations depend on it.
        let question = Question { asker: Asker::Breaker(operation), subject: Subject::Anything };
        let tries = Tries::default();
        self.in_flight.push_first(lookup.operation(), QueuedRequest::Lookup { lookup, question, tries });
        true
    }

    /// The health check has its answer, and any answer will do.
    fn on_health_check(&mut self, operation: Operation, answer: &LookupAnswer) {
        let answered = match answer {
            LookupAnswer::Failed(_) => false,
            // Not available after all: a request of the operation must find out.
            LookupAnswer::Records(_) | LookupAnswer::Inconclusive(_) | LookupAnswer::Unavailable => true,
        };
        let actions = self.gates.on_health_check(operation, answered);
        self.carry_out(actions);
    }

    /// Puts a row off that was refused with `noDataFound`, until it is known whether what it refers to is visible. It
    /// stays in memory.
    pub(super) fn await_references(&mut self, job: JobId, mut refused: RefusedRow, evidence: Evidence) {
        if refused.counts_at_once() {
            refused.counted = true;
            self.count_verdict(job, Some(&refused.rejection));
        }
        let now = self.clock.elapsed();
        let until = evidence.at.plus(refused.until().unwrap_or(now).saturating_sub(now));
        let code = ServiceCode::NoDataFound.as_str().to_owned();
        let reason = "rejected; the service may not show yet the record that this row refers to, which was created moments ago";
        let write = Write::Defer { job, until, code, reason: reason.to_owned(), evidence };
        self.settle_as(job, write, Some(Box::new(refused)));
    }

    /// It is on disk that a row was refused and put off.
    pub(super) fn wait_for_references(&mut self, job: JobId, refused: RefusedRow) {
        let Some(work) = self.in_flight.work(job).filter(|_| self.drain.is_none()) else {
            return self.drop_job(job);
        };
        self.evidence.lag.wait(work, refused, self.clock.elapsed());
        self.in_flight.defer(job);
    }

    /// Looks up, sends again and rejects rows that were refused below records that were not visible, as it is time to.
    pub(super) fn resolve_reference_lag(&mut self) {
        let now = self.clock.elapsed();
        for step in self.evidence.lag.steps(now) {
            match step {
                LagStep::LookUp(ReferencedRecord { job, id, lookup }) => {
                    self.ask(
                        lookup,
                        Question { asker: Asker::ReferenceLag, subject: Subject::Record(job, id) },
                    );
                }
                LagStep::Send(job) => self.queue_send(job),
                LagStep::Reject { job, rejection, counted } => {
                    if !counted {
                        self.count_verdict(job, Some(&rejection));
                    }
                    let evidence = Evidence::at(self.clock.now());
                    let from = JobState::Deferred;
                    self.decide(job, |work, _| {
                        pre_send::unless_corrected(work, Write::Reject { job, from, rejection, evidence })
                    });
                }
                LagStep::Tell(job, until) => {
                    let Some(work) = self.in_flight.work(job) else { continue };
                    let until = self.clock.now().plus(until.saturating_sub(now));
                    self.tell(Event::Unseen { job, kind: work.kind, until });
                }
            }
        }
    }

    /// The place in its queue of the first request of an operation that may leave now. A row stays where it is while
    /// the answers to others of its sheet may show that it would be refused as well.
    pub(super) fn first_sendable(&self, operation: Operation) -> Option<usize> {
        let lag = &self.evidence.lag;
        let keeps_back = operation.creates() && self.gates.has_reserves();
        if lag.is_empty() && self.paused_sheets.is_calm() && !keeps_back {
            return self.in_flight.has_waiting(operation).then_some(0);
        }
        let now = self.clock.elapsed();
        let mut sheets = HashMap::new();
        self.in_flight.position(operation, |request| {
            let QueuedRequest::Send(job) = request else { return true };
            let Some(work) = self.in_flight.work(*job) else { return true };
            let sheet = work.sheet;
            let &mut (has_room, is_full) =
                sheets.entry(sheet).or_insert_with(|| (self.has_room_for(sheet), lag.is_full(sheet)));
            has_room
                && !(keeps_back && self.is_kept_back(work))
                && (!is_full || lag.has(*job) || !lag.may_be_refused(work, now))
        })
    }

    /// Whether one more row of a sheet may be under way.
    fn has_room_for(&self, sheet: SheetId) -> bool {
        self.paused_sheets.room(sheet).is_none_or(|room| !self.in_flight.has_under_way(sheet, room))
    }
}
