//! The look-up before sending: whether the record of a row is there already, and which records with its key are
//! (the baseline), so that after a lost answer an older twin is never taken for ours.
//!
//! The children of a company are listed once for all rows below it, and again after some minutes. Where no look-up is
//! available the row is sent without a baseline; if its answer is lost, a person decides.

use std::time::Duration;

use super::{FoundRecords, RowDecision, RunFacts, upkeep};
use crate::journal::{Candidate, Evidence, How, Work, Write};
use crate::model::action::Action;
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::reason::Reason;
use crate::model::record::Role;
use crate::model::verdict::Doubt;
use crate::run::OnExisting;
use crate::run::evidence::FailedLook;
use crate::run::evidence::classify::{self, Classified};
use crate::run::evidence::lookups;
use crate::run::evidence::matching::{self, RecordMatch, SeenRecord};
use crate::run::evidence::question::{Asker, LookupAnswer, Question, Subject};
use crate::run::evidence::record_list::RecordList;
use crate::service::{Found, Lookup, may_be_a_page};

/// How long a row waits whose look before sending failed, or found what may be the record of a row under way.
const NEXT_LOOK_WAIT: Duration = Duration::from_secs(5);
/// How often in a row the look before sending a row fails while that of another record is answered, until a person is asked.
const FAILED_ALONE: u32 = 6;

fn question(subject: Subject) -> Question {
    Question { asker: Asker::PreSend, subject }
}

/// A job was fetched: looks whether its record is there, where that can be looked up.
pub(in crate::run) fn first_lookup(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    if facts.is_paused {
        return RowDecision::Drop;
    }
    if work.unsure {
        // An older copy of the journal says that it was not sent: it is treated as if its answer had been lost.
        let doubt = Doubt::JournalBehind;
        return RowDecision::write(Write::Suspect { job: work.job, from: work.state, doubt, at: facts.now });
    }
    // So does a step after the creation that names a template or cloud by its name, or adds a licence code.
    if !work.kind.is_record() || names_something(work) || matches!(work.action, Action::AddLicence(_)) {
        return upkeep::first_lookup(work, facts);
    }
    // Every time: since a request that was refused, or that never left, others may have created the record. After one that may
    // have been executed it is too late for a baseline, but not to see whether it was.
    let again = work.doubted;
    let due = lookups::creates(work);
    let made_here = || {
        let mut parents = work.parents.iter().filter(|(role, _)| *role == Role::Parent);
        parents.any(|(_, parent)| facts.evidence.lag.has_company(*parent, facts.elapsed))
    };
    match due.then(|| lookups::by_key(work, facts.usable)).flatten() {
        None => RowDecision::Send,
        // A company that this run made a while ago at most has no children but ours.
        Some(Lookup::ChildCompanies(_)) if !again && made_here() => {
            RowDecision::Baseline(Some(Vec::new()), Box::new(RowDecision::Send))
        }
        Some(lookup @ Lookup::ChildCompanies(_)) if !again => RowDecision::CompareWithList(lookup),
        Some(lookup) => RowDecision::Ask(lookup, question(Subject::Key(work.job))),
    }
}

/// Whether the current step of a row names something of which the id is not known.
fn names_something(work: &Work) -> bool {
    !lookups::creates(work) && !lookups::of_name(work).is_empty()
}

/// A list that a row needs before it is sent is there, or could not be read.
pub(in crate::run) fn on_list(
    work: &Work,
    facts: &RunFacts<'_>,
    lookup: &Lookup,
    list: Option<&RecordList>,
) -> RowDecision {
    match lookups::creates(work) {
        true => on_children(work, facts, list),
        false => upkeep::on_list(work, facts, lookup, list.map(RecordList::all)),
    }
}

/// A look before sending has been read.
pub(in crate::run) fn on_answer(
    work: &Work,
    facts: &RunFacts<'_>,
    (subject, operation): (Subject, Operation),
    answer: LookupAnswer,
) -> RowDecision {
    match answer {
        LookupAnswer::Records(found) => {
            let is_whole = !may_be_a_page(found.len());
            on_records(work, facts, (subject, operation), &found, is_whole)
        }
        // Perhaps another look-up is available; else the row goes without a baseline.
        LookupAnswer::Unavailable => first_lookup(work, facts),
        LookupAnswer::Inconclusive(_) => RowDecision::Send,
        // Whether it fails at this one only, a record that is known to exist tells.
        LookupAnswer::Failed(_) => RowDecision::AskControl(operation),
    }
}

/// The look failed, and it is known whether the service answers the same one for another record.
pub(in crate::run) fn on_control(work: &Work, facts: &RunFacts<'_>, failed: &FailedLook) -> RowDecision {
    if failed.alone < FAILED_ALONE {
        return postpone(work, facts, &failed.why);
    }
    let reason = format!(
        "the service failed at the look-up before sending {FAILED_ALONE} times in a row, and answered it for another record each \
         time: {}",
        failed.why
    );
    hold(work, facts, Reason::LookupFailed.as_str(), reason, Vec::new())
}

/// The children of the row's parent are known, or could not be read.
fn on_children(work: &Work, facts: &RunFacts<'_>, children: Option<&RecordList>) -> RowDecision {
    let Some(children) = children else { return RowDecision::Send };
    let namesakes = children.named(&work.name);
    let asked = (Subject::Key(work.job), Operation::GetChildCompanies);
    on_records(work, facts, asked, namesakes, children.is_whole())
}

/// The look failed at the service: the row waits rather than being sent without one, since a record that is
/// there already would be made twice.
pub(in crate::run) fn postpone(work: &Work, facts: &RunFacts<'_>, why: &str) -> RowDecision {
    look_again(work, facts, Reason::LookupFailed, format!("waits for the look-up before sending: {why}"))
}

pub(super) fn look_again(work: &Work, facts: &RunFacts<'_>, code: Reason, reason: String) -> RowDecision {
    let (job, from, until) = (work.job, work.state, facts.now.plus(NEXT_LOOK_WAIT));
    RowDecision::write(Write::Postpone { job, from, until, code: code.as_str().to_owned(), reason })
}

/// Sorts out which of the returned records matter for a row; asks the journal who owns them. A list that is
/// not surely whole is no baseline: an older twin beyond its end would be taken for ours after a lost answer.
fn on_records(
    work: &Work,
    facts: &RunFacts<'_>,
    (subject, operation): (Subject, Operation),
    found: &[Found],
    is_whole: bool,
) -> RowDecision {
    let related = related_to(work, found);
    let ids: Vec<RemoteId> = related.iter().filter_map(|found| found.id).collect();
    let narrower = lookups::narrower(work, operation).filter(|_| !is_whole);
    let next = match facts.if_usable(narrower) {
        _ if !related.is_empty() => RowDecision::AskOwners(FoundRecords {
            question: question(subject),
            operation,
            found: related,
            is_whole,
        }),
        Some(lookup) => RowDecision::Ask(lookup, question(Subject::Narrower(work.job))),
        None => RowDecision::Send,
    };
    if work.doubted { next } else { RowDecision::Baseline(is_whole.then_some(ids), Box::new(next)) }
}

/// Those of the returned records that matter for a row. Most rows are looked up in vain.
fn related_to(work: &Work, found: &[Found]) -> Vec<Found> {
    if found.is_empty() {
        return Vec::new();
    }
    let sent = matching::sent(work);
    let is_related = |found: &&Found| matching::relate(work, &sent, found) != RecordMatch::Unrelated;
    found.iter().filter(is_related).cloned().collect()
}

/// The journal has said which of the found records are ours, and which rows like this one are `under_way` or in doubt. The
/// row waits for those: they do not wait for it, as nothing of it is under way. Where the list may be one page, `page_of` is
/// its operation: the row's record may be beyond its end.
pub(in crate::run) fn on_owners(
    work: &Work,
    facts: &RunFacts<'_>,
    (subject, page_of): (Subject, Option<Operation>),
    seen: &[SeenRecord],
    under_way: &[Work],
) -> RowDecision {
    let is_narrower = matches!(subject, Subject::Narrower(_));
    if classify::may_be_of_another(work, seen, under_way, !is_narrower) {
        let reason = "waits for the outcome of another row, whose record may be the one that was found";
        return look_again(work, facts, Reason::OutcomeAwaited, reason.to_owned());
    }
    if is_narrower {
        return hold_for_namesakes(work, facts, seen);
    }
    // Of a row that was in doubt, proved absent, or not there by a person's word: what shows now is the record of that
    // request, executed late.
    let again = work.doubted;
    let (job, from, evidence) = (work.job, work.state, Evidence::at(facts.now));
    let reject = |rejection| Write::Reject { job, from, rejection, evidence: Evidence::at(facts.now) };
    let resend_reason = "before it was sent again, records that may be this one were found";
    let conclusion = if again { classify::after(work, seen) } else { classify::before(work, seen) };
    let write = match conclusion {
        Classified::Absent => {
            let narrower = page_of.and_then(|operation| lookups::narrower(work, operation));
            let ask = |lookup| RowDecision::Ask(lookup, question(Subject::Narrower(work.job)));
            return facts.if_usable(narrower).map_or(RowDecision::Send, ask);
        }
        Classified::Existing(id) => match facts.policy.on_existing {
            OnExisting::Skip if !again => Write::Leave { job, from, id, evidence },
            OnExisting::Fail if !again => reject(classify::refusal(
                Reason::Existing.as_str(),
                format!("a record with this key is already there, with the id {id}"),
            )),
            OnExisting::Adopt | OnExisting::Skip | OnExisting::Fail => {
                Write::Advance { job, from, how: How::Existing, id: Some(id), evidence }
            }
        },
        // Lists of companies show nothing but names, too little to go by without asking.
        Classified::Ours(id) if work.kind == Kind::Company => {
            let ours = seen.iter().filter(|seen| seen.found.id == Some(id));
            let candidates =
                ours.map(|seen| matching::candidate(&seen.found, "it has the row's name")).collect();
            return hold(work, facts, Reason::CandidatesUnclear.as_str(), resend_reason, candidates);
        }
        Classified::Ours(id) => Write::Advance { job, from, how: How::Adopted, id: Some(id), evidence },
        Classified::Taken(candidate) => reject(classify::taken(&candidate)),
        Classified::Owned(owner, candidate) => reject(classify::owned(owner, &candidate)),
        Classified::Unclear(candidates) if again => {
            return hold(work, facts, Reason::CandidatesUnclear.as_str(), resend_reason, candidates);
        }
        Classified::Unclear(candidates) => {
            let reason = "records that may be this one are already there";
            return hold(work, facts, Reason::ExistingUnclear.as_str(), reason, candidates);
        }
    };
    unless_corrected(work, write)
}

/// Settles what a look says of a job. The look may have been held back for minutes: it says nothing of a row that an
/// import has corrected meanwhile, which is looked up again with the values it has now.
pub(in crate::run) fn unless_corrected(work: &Work, write: Write) -> RowDecision {
    RowDecision::write(Write::IfUnchanged { content: work.content_hash, then: Box::new(write) })
}

/// The list of the parent's children may be one page of a longer one, and companies of the row's name are
/// there, below which parent is not said: one of them may be the row's, beyond the end of the list.
fn hold_for_namesakes(work: &Work, facts: &RunFacts<'_>, seen: &[SeenRecord]) -> RowDecision {
    let candidates: Vec<_> = seen
        .iter()
        .filter(|seen| seen.owner.is_none() && !classify::was_there(work, &seen.found))
        .map(|seen| matching::candidate(&seen.found, "it may be below another parent"))
        .collect();
    if candidates.is_empty() {
        return RowDecision::Send;
    }
    let reason = "companies of this name are there, and the list of the parent's companies may go on after \
                  what the service shows of it";
    hold(work, facts, Reason::ExistingUnclear.as_str(), reason, candidates)
}

/// Puts a row on hold by what a look says of it.
pub(super) fn hold(
    work: &Work,
    facts: &RunFacts<'_>,
    code: &str,
    reason: impl Into<String>,
    candidates: Vec<Candidate>,
) -> RowDecision {
    let (job, from, evidence) = (work.job, work.state, Evidence::at(facts.now));
    let (code, reason) = (code.to_owned(), reason.into());
    unless_corrected(work, Write::Hold { job, from, code, reason, candidates, evidence })
}

#[cfg(test)]
mod tests;
