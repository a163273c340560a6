//! The look-up before sending: whether the record of a row is there already, and which records with its key are
//! (the baseline), so that after a lost answer an older twin is never taken for ours.
//!
//! The children of a company are listed once for all rows below it, and again after some minutes. Where no look-up is
//! available the row is sent without a baseline; if its answer is lost, a person decides.

use std::sync::Arc;
use std::time::Duration;

use crate::journal::{Action, Evidence, How, Write};
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::reason::Reason;
use crate::model::record::Role;
use crate::run::OnExisting;
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::child_companies::{Children, Need};
use crate::run::evidence::classify::{self, PreSend, Reconciled};
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::evidence::lookups;
use crate::run::evidence::matching::{self, Relation, Seen};
use crate::run::in_flight::{FoundRecords, Purpose, QueuedRequest, Stage};
use crate::service::{Found, Lookup, may_be_a_page};

/// How long a row waits whose look before sending failed.
const FAILED_LOOK_WAIT: Duration = Duration::from_secs(5);

impl Dispatcher {
    /// A job was fetched: looks whether its record is there, where that can be looked up.
    pub(in crate::run) fn pre_send_lookup(&mut self, job: JobId) {
        let Some(work) = self.in_flight.work(job) else { return };
        if self.is_sheet_paused(work) {
            return self.drop_job(job);
        }
        if work.unsure {
            // An older copy of the journal says that it was not sent: it is treated as if its answer had been lost.
            let write = Write::Suspect { job, from: work.state, at: self.clock.now() };
            return self.settle(job, write);
        }
        // A baseline stays good until the first request that may have been executed. After that it is too late to
        // take one, but not to see whether that request was executed after all.
        let again = work.doubted;
        let due = matches!(work.action, Action::Create) && (work.baseline.is_none() || again);
        match due.then(|| lookups::by_key(work, &|operation| self.gates.usable(operation))).flatten() {
            None => self.queue_send(job),
            Some(Lookup::ChildCompanies(parent)) if !again => self.compare_with_children(job, parent),
            Some(lookup) => {
                self.queue_lookup(lookup, Purpose::PreSend(job));
            }
        }
    }

    pub(in crate::run) fn queue_send(&mut self, job: JobId) {
        let Some(work) = self.in_flight.work(job) else { return };
        let operation = work.operation;
        if self.gates.usable(operation) && !self.is_sheet_paused(work) {
            self.in_flight.set_stage(job, Stage::Queued);
            self.queue(operation, QueuedRequest::Send(job));
        } else {
            self.drop_job(job);
        }
    }

    fn compare_with_children(&mut self, job: JobId, parent: RemoteId) {
        let Some(work) = self.in_flight.work(job) else { return };
        let made_here = work
            .parents
            .iter()
            .any(|(role, parent)| *role == Role::Parent && self.evidence.created.has(*parent));
        if made_here {
            // A company that this run made has no children but ours.
            self.in_flight.set_baseline(job, Some(Vec::new()));
            self.queue_send(job);
            return;
        }
        match self.evidence.children.need(parent, job, self.clock.elapsed()) {
            Need::Met(children) => self.classify_children(job, children.as_deref()),
            Need::Wait => self.in_flight.set_stage(job, Stage::AwaitingChildren),
            Need::Ask => {
                self.in_flight.set_stage(job, Stage::AwaitingChildren);
                self.queue_lookup(Lookup::ChildCompanies(parent), Purpose::Children(parent));
            }
        }
    }

    /// The look failed at the service: the row waits rather than being sent without one, since a record that is
    /// there already would be made twice.
    fn postpone_send(&mut self, job: JobId, why: &str) {
        let Some(work) = self.in_flight.work(job) else { return };
        let (from, at) = (work.state, self.clock.now());
        let reason = format!("waits for the look-up before sending: {why}");
        let code = Reason::LookupFailed.as_str().to_owned();
        self.settle(job, Write::Postpone { job, from, until: at.plus(FAILED_LOOK_WAIT), code, reason, at });
    }

    fn classify_children(&mut self, job: JobId, children: Option<&Children>) {
        let Some(work) = self.in_flight.work(job) else { return };
        match children {
            Some(children) => {
                let namesakes = children.named(work.record.name()).to_vec();
                self.find_related(job, Operation::GetChildCompanies, &namesakes, children.whole());
            }
            None => self.queue_send(job),
        }
    }

    /// A look before sending has been read.
    pub(in crate::run) fn on_pre_send_answer(
        &mut self,
        job: JobId,
        operation: Operation,
        answer: LookupAnswer,
    ) {
        match answer {
            LookupAnswer::Records(found) => {
                let whole = !may_be_a_page(found.len());
                self.find_related(job, operation, &found, whole);
            }
            // Perhaps another look-up is available; else the row goes without a baseline.
            LookupAnswer::Unavailable => self.pre_send_lookup(job),
            LookupAnswer::Inconclusive(_) => self.queue_send(job),
            LookupAnswer::Failed(why) => self.postpone_send(job, &why),
        }
    }

    /// The list of a company's children has been read, for every job that waits for it.
    pub(in crate::run) fn on_child_list(&mut self, parent: RemoteId, answer: LookupAnswer) {
        let children = match answer {
            LookupAnswer::Failed(why) => {
                for job in self.evidence.children.failed(parent) {
                    self.postpone_send(job, &why);
                }
                return;
            }
            LookupAnswer::Records(found) => Some(Arc::new(Children::of(found))),
            LookupAnswer::Inconclusive(_) | LookupAnswer::Unavailable => None,
        };
        for job in self.evidence.children.came(parent, children.clone(), self.clock.elapsed()) {
            self.classify_children(job, children.as_deref());
        }
    }

    /// Sorts out which of the returned records matter for a row; asks the journal who owns them. A list that is
    /// not surely `whole` is no baseline: an older twin beyond its end would be taken for ours after a lost answer.
    fn find_related(&mut self, job: JobId, operation: Operation, found: &[Found], whole: bool) {
        let Some(work) = self.in_flight.work(job) else { return };
        let sent = matching::sent(work);
        let related: Vec<Found> = found
            .iter()
            .filter(|found| matching::relate(work, &sent, found) != Relation::Unrelated)
            .cloned()
            .collect();
        let ids: Vec<RemoteId> = related.iter().filter_map(|found| found.id).collect();
        let narrower = lookups::narrower(work, operation).filter(|_| !whole);
        if !work.doubted {
            self.in_flight.set_baseline(job, whole.then(|| ids.clone()));
        }
        if related.is_empty() {
            match narrower.filter(|lookup| self.gates.usable(lookup.operation())) {
                Some(lookup) => {
                    self.queue_lookup(lookup, Purpose::PreSend(job));
                }
                None => self.queue_send(job),
            }
        } else {
            self.ask_owners(job, FoundRecords::PreSend(operation, related));
        }
    }

    /// The journal has said which of the found records are ours.
    pub(in crate::run) fn settle_pre_send(&mut self, job: JobId, operation: Operation, seen: &[Seen]) {
        let Some(work) = self.in_flight.work(job) else { return };
        if operation == Operation::FindCompaniesByName {
            return self.hold_for_namesakes(job, seen);
        }
        if work.doubted {
            return self.settle_resend(job, seen);
        }
        let from = work.state;
        let conclusion = classify::before(work, seen);
        let evidence = Evidence::at(self.clock.now());
        let write = match conclusion {
            PreSend::Clear => return self.queue_send(job),
            PreSend::Exists(id) => match self.options.policy.on_existing {
                OnExisting::Adopt => Write::Advance { job, from, how: How::Existing, id: Some(id), evidence },
                OnExisting::Skip => Write::Leave { job, from, id, evidence },
                OnExisting::Fail => {
                    let rejection = classify::refusal(
                        Reason::Existing.as_str(),
                        format!("a record with this key is already there, with the id {id}"),
                    );
                    Write::Reject { job, from, rejection, evidence }
                }
            },
            PreSend::Taken(candidate) => {
                Write::Reject { job, from, rejection: classify::taken(&candidate), evidence }
            }
            PreSend::Owned(owner, candidate) => {
                Write::Reject { job, from, rejection: classify::owned(owner, &candidate), evidence }
            }
            PreSend::Unclear(candidates) => Write::Hold {
                job,
                from,
                code: Reason::ExistingUnclear.as_str().to_owned(),
                reason: "records that may be this one are already there".to_owned(),
                candidates,
                evidence,
            },
        };
        self.settle_unless_corrected(job, write);
    }

    /// Settles what a look before sending says of a job. The look may have been held back for minutes: it says nothing
    /// of a row that an import has corrected meanwhile, which is looked up again with the values it has now.
    pub(in crate::run) fn settle_unless_corrected(&mut self, job: JobId, write: Write) {
        let Some(work) = self.in_flight.work(job) else { return };
        let content = work.content_hash.clone();
        self.settle(job, Write::IfUnchanged { content, then: Box::new(write) });
    }

    /// The list of the parent's children may be one page of a longer one, and companies of the row's name are
    /// there, below which parent is not said: one of them may be the row's, beyond the end of the list.
    fn hold_for_namesakes(&mut self, job: JobId, seen: &[Seen]) {
        let Some(work) = self.in_flight.work(job) else { return };
        let known = work.baseline.as_deref().unwrap_or_default();
        let candidates: Vec<_> = seen
            .iter()
            .filter(|seen| seen.owner.is_none() && seen.found.id.is_none_or(|id| !known.contains(&id)))
            .map(|seen| matching::candidate(&seen.found, "it may be below another parent"))
            .collect();
        if candidates.is_empty() {
            return self.queue_send(job);
        }
        let (from, evidence) = (work.state, Evidence::at(self.clock.now()));
        let reason = "companies of this name are there, and the list of the parent's companies may go on after \
                      what the service shows of it";
        let (code, reason) = (Reason::ExistingUnclear.as_str().to_owned(), reason.to_owned());
        self.settle_unless_corrected(job, Write::Hold { job, from, code, reason, candidates, evidence });
    }

    /// The look before a row is sent again whose first request was in doubt: proved absent, or not there by a
    /// person's word. What shows now is the record of that request, executed late.
    fn settle_resend(&mut self, job: JobId, seen: &[Seen]) {
        let Some(work) = self.in_flight.work(job) else { return };
        let from = work.state;
        let evidence = Evidence::at(self.clock.now());
        let candidates = match classify::after(work, seen) {
            Reconciled::Absent => return self.queue_send(job),
            Reconciled::Existing(id) => {
                let write = Write::Advance { job, from, how: How::Existing, id: Some(id), evidence };
                return self.settle_unless_corrected(job, write);
            }
            // Lists of companies show nothing but names, too little to go by without asking.
            Reconciled::Ours(id) if work.kind != Kind::Company => {
                let write = Write::Advance { job, from, how: How::Adopted, id: Some(id), evidence };
                return self.settle_unless_corrected(job, write);
            }
            Reconciled::Ours(id) => seen
                .iter()
                .filter(|seen| seen.found.id == Some(id))
                .map(|seen| matching::candidate(&seen.found, "it has the row's name"))
                .collect(),
            Reconciled::Taken(candidate) => {
                let write = Write::Reject { job, from, rejection: classify::taken(&candidate), evidence };
                return self.settle_unless_corrected(job, write);
            }
            Reconciled::Owned(owner, candidate) => {
                let rejection = classify::owned(owner, &candidate);
                return self.settle_unless_corrected(job, Write::Reject { job, from, rejection, evidence });
            }
            Reconciled::Unclear(candidates) => candidates,
        };
        let reason = "before it was sent again, records that may be this one were found".to_owned();
        let code = Reason::CandidatesUnclear.as_str().to_owned();
        self.settle_unless_corrected(job, Write::Hold { job, from, code, reason, candidates, evidence });
    }
}
