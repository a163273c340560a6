//! Reconciliation after a lost answer: a request left, nothing told what became of it, and sending again on hope could make
//! a second record for ever.
//!
//! The record is looked up by its natural key. Records seen before the first send and records that another job
//! owns are left out. One candidate that agrees in all that can be compared is ours; several, or one that
//! differs, are for a person. "Not there" is believed only after the settle time, of a look-up that has found in
//! this run what is known to exist, and twice.
//!
//! Of a device with a site of its own (`customSiteId`, `customSiteName`; specification 2.5) the service makes the site with
//! the device, and may fail between. Such a row is never sent again by itself, and the site that stands alone is named.

use std::time::Duration;

use super::pre_send::{hold, unless_corrected};
use super::{FoundRecords, RowDecision, RunFacts};
use crate::failpoint;
use crate::journal::{Evidence, How, Work, Write};
use crate::mistake::{self, Mistake};
use crate::model::action::Repeat;
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::reason::Reason;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::verdict::Doubt;
use crate::run::InDoubt;
use crate::run::evidence::ControlResult;
use crate::run::evidence::classify::{self, Classified};
use crate::run::evidence::lookups;
use crate::run::evidence::matching::{self, SeenRecord};
use crate::run::evidence::question::{Asker, LookupAnswer, Question, Subject};
use crate::service::{Found, Lookup, NameSearch, SeenChange, find_name, may_be_a_page, seen_change};

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

fn ask(lookup: Lookup, subject: Subject) -> RowDecision {
    RowDecision::Ask(lookup, Question { asker: Asker::Reconcile, subject })
}

/// A job in doubt was fetched, since its look-up is due.
pub(in crate::run) fn first_lookup(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    if mistake::made(Mistake::RemovalPresumed) && work.action.removes() {
        return advance(work, facts, How::Done, None);
    }
    let usable = |lookup: &Lookup| (facts.usable)(lookup.operation());
    if let Some(lookup) = lookups::of_name(work).into_iter().find(usable) {
        return ask(lookup, Subject::Key(work.job));
    }
    match lookups::of_step(work, facts.usable) {
        Some(lookup) => ask(lookup, Subject::Key(work.job)),
        None => without_lookup(work, facts),
    }
}

/// No look-up can tell. Only where the service's own uniqueness makes a second creation impossible may the
/// step be sent again, once late commits are over.
fn without_lookup(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    if is_guarded(work) {
        if is_settled(work, facts) {
            return send_again(work, facts, "its MAC address cannot be registered twice");
        }
        let until = settle_moment(work, facts);
        return stay_in_doubt(work, until, work.absent_reads, "waiting for late answers to settle");
    }
    if mistake::made(Mistake::LicenceSentAgain) && work.action.repeat() == Repeat::Unknown {
        return send_again(work, facts, "its outcome was unknown");
    }
    let code = match work.doubt {
        Some(Doubt::JournalBehind) => Doubt::JournalBehind.code(),
        _ => Reason::LookupUnavailable.as_str(),
    };
    hold(work, facts, code, lookups::why_none(work), Vec::new())
}

/// Whether a job may be sent again without any look-up, since the service refuses a second record.
fn is_guarded(work: &Work) -> bool {
    !work.executed && work.action.repeat() == Repeat::Refused
}

/// A look after a lost answer has been read.
pub(in crate::run) fn on_answer(
    work: &Work,
    facts: &RunFacts<'_>,
    (subject, operation): (Subject, Operation),
    answer: LookupAnswer,
) -> RowDecision {
    failpoint::reach("doubt.look-read");
    let found = match answer {
        LookupAnswer::Unavailable => return first_lookup(work, facts),
        LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
            return look_up_later(work, facts, &format!("the look-up was inconclusive: {why}"));
        }
        LookupAnswer::Records(found) => found,
    };
    if lookups::creates(work) {
        let question = Question { asker: Asker::Reconcile, subject };
        let is_whole = !may_be_a_page(found.len());
        return RowDecision::AskOwners(FoundRecords { question, operation, found, is_whole });
    }
    if let Some(decision) = after_names(work, facts, operation, &found) {
        return decision;
    }
    let seen = seen_change(&work.action, work.owner().map(|(_, id)| id), &found);
    if seen == SeenChange::AsAsked {
        advance(work, facts, How::Done, None)
    } else if work.doubt == Some(Doubt::Refused) && !is_settled(work, facts) {
        let until = next_lookup(work, facts);
        stay_in_doubt(work, until, work.absent_reads, "its values are not there so far")
    } else if work.doubt == Some(Doubt::Refused) && seen == SeenChange::Unclear {
        let reason = format!(
            "{}, the service refused the row when it was sent again, and the look-up does not show all that the row asks for",
            cause(work)
        );
        hold(work, facts, Reason::RefusedInDoubt.as_str(), reason, Vec::new())
    } else if work.action.repeat() == Repeat::Harmless {
        // Putting it again changes nothing if the first request is still executed later.
        send_again(work, facts, "its values were not there")
    } else {
        let reason =
            format!("{}, and what the step puts is not there; a second request may do harm", cause(work));
        hold(work, facts, Reason::Absent.as_str(), reason, Vec::new())
    }
}

/// What follows from a list that may show the id of what the row names; `None` where it is no such list, and when there is
/// no other one to ask.
fn after_names(
    work: &Work,
    facts: &RunFacts<'_>,
    operation: Operation,
    found: &[Found],
) -> Option<RowDecision> {
    let lists = lookups::of_name(work);
    let asked = lists.iter().position(|lookup| lookup.operation() == operation)?;
    if let NameSearch::Found(action) = find_name(&work.action, found) {
        return Some(RowDecision::Resolved(Box::new(action)));
    }
    let next = lists.into_iter().skip(asked + 1).find(|lookup| (facts.usable)(lookup.operation()))?;
    Some(ask(next, Subject::Key(work.job)))
}

/// The journal has said who owns the found records, and which rows like this one are `under_way` or in doubt. The row waits
/// for the answers of those under way; of two in doubt none waits for the other.
pub(in crate::run) fn on_owners(
    work: &Work,
    facts: &RunFacts<'_>,
    (subject, operation): (Subject, Operation),
    seen: &[SeenRecord],
    under_way: &[Work],
) -> RowDecision {
    let is_narrower = matches!(subject, Subject::Narrower(_));
    let unanswered = under_way.iter().filter(|other| other.state == JobState::Sending);
    if classify::may_be_of_another(work, seen, unanswered, !is_narrower) {
        let note = "a record was found that may be that of another row, whose answer is still to come";
        return stay_in_doubt(work, next_lookup(work, facts), work.absent_reads, note);
    }
    let conclusion = classify::after(work, seen);
    if mistake::made(Mistake::FirstLookBelieved) && conclusion == Classified::Absent {
        return send_again(work, facts, "not found");
    }
    if is_narrower && conclusion != Classified::Absent {
        // Good for showing that there is none; it does not say below which parent one is.
        return look_up_later(work, facts, "a company of this name is there, perhaps below another parent");
    }
    match conclusion {
        Classified::Ours(id) => confirm(work, facts, id),
        Classified::Existing(id) => advance(work, facts, How::Existing, Some(id)),
        // The refusal it comes from was one of the service, and counted against the quota.
        Classified::Taken(candidate) => RowDecision::Refused(classify::taken(&candidate)),
        Classified::Owned(owner, candidate) => {
            let (job, from, evidence) = (work.job, JobState::InDoubt, Evidence::at(facts.now));
            let rejection = classify::owned(owner, &candidate);
            unless_corrected(work, Write::Reject { job, from, rejection, evidence })
        }
        Classified::Unclear(candidates) => {
            let cause = cause(work);
            let reason =
                format!("{cause}, and it is not clear which of the records found belongs to the row");
            hold(work, facts, Reason::CandidatesUnclear.as_str(), reason, candidates)
        }
        // The list that does not show the record may be one page of a longer one.
        Classified::Absent if may_be_a_page(seen.len()) => {
            match facts.if_usable(lookups::narrower(work, operation)) {
                Some(lookup) => ask(lookup, Subject::Narrower(work.job)),
                None => look_up_later(work, facts, "the list may be one page of a longer one"),
            }
        }
        Classified::Absent
            if facts.evidence.controls.is_proved(operation) || mistake::made(Mistake::ProofNotAsked) =>
        {
            absent(work, facts)
        }
        Classified::Absent => RowDecision::AskControl(operation),
    }
}

/// Compares the only candidate in full where a record of it can be read; lists of companies show only names.
fn confirm(work: &Work, facts: &RunFacts<'_>, id: RemoteId) -> RowDecision {
    let lookup = (work.kind == Kind::Company).then_some(Lookup::Company(id));
    match facts.if_usable(lookup) {
        Some(lookup) => ask(lookup, Subject::Record(work.job, id)),
        None => advance(work, facts, How::Adopted, Some(id)),
    }
}

/// The only candidate has been read in full.
pub(in crate::run) fn on_confirmation(
    work: &Work,
    facts: &RunFacts<'_>,
    id: RemoteId,
    answer: LookupAnswer,
) -> RowDecision {
    let found = match answer {
        LookupAnswer::Unavailable => return advance(work, facts, How::Adopted, Some(id)),
        LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
            return look_up_later(work, facts, &format!("the record could not be read: {why}"));
        }
        LookupAnswer::Records(found) => found,
    };
    let Some(record) = found.iter().find(|found| found.id == Some(id)) else {
        return look_up_later(work, facts, "the record was listed but could not be read");
    };
    let differences = matching::differences(&matching::sent(work), &record.raw);
    if differences.is_empty() {
        return advance(work, facts, How::Adopted, Some(id));
    }
    let candidate = matching::candidate(record, &differences.join("; "));
    let reason = format!("{}, and the only record found differs from the row", cause(work));
    hold(work, facts, Reason::CandidatesDiffer.as_str(), reason, vec![candidate])
}

/// Whether the look-up that found nothing of a job finds what is known to exist.
pub(in crate::run) fn on_control(work: &Work, facts: &RunFacts<'_>, result: ControlResult) -> RowDecision {
    match result {
        ControlResult::Proved => absent(work, facts),
        ControlResult::NotProved(why) | ControlResult::Failed(why) => look_up_later(work, facts, &why),
        ControlResult::Unavailable => first_lookup(work, facts),
        // The service's own uniqueness is proof enough.
        ControlResult::NoRecord if facts.policy.in_doubt == InDoubt::Settle && is_guarded(work) => {
            without_lookup(work, facts)
        }
        ControlResult::NoRecord => {
            look_up_later(work, facts, "nothing known to exist could prove the look-up")
        }
    }
}

/// An admissible look-up found nothing.
fn absent(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    let reads = work.absent_reads + 1;
    if !is_settled(work, facts) || reads < ABSENT_READS {
        let until = next_lookup(work, facts);
        return stay_in_doubt(work, until, reads, "not found so far");
    }
    let makes_a_site = classify::makes_a_site(work);
    if !work.executed && facts.policy.in_doubt == InDoubt::Settle && !makes_a_site {
        let seconds = facts.policy.settle.as_secs();
        return send_again(work, facts, &format!("not there after {seconds} s, by {reads} look-ups"));
    }
    if let Some(lookup) = custom_site_lookup(work, facts) {
        return ask(lookup, Subject::CustomSites(work.job));
    }
    let cause = cause(work);
    let reason = if work.executed {
        "the service said the record is there, but it is not found".to_owned()
    } else if makes_a_site {
        format!("{cause}, and the device is not found; sending it could make its site twice")
    } else {
        format!("{cause}, and the record is not found; in_doubt is \"hold\", so it needs your decision")
    };
    hold(work, facts, Reason::Absent.as_str(), reason, Vec::new())
}

/// The look-up for the site that may have been made without its device.
fn custom_site_lookup(work: &Work, facts: &RunFacts<'_>) -> Option<Lookup> {
    facts.if_usable(lookups::of_custom_site(work)).filter(|_| !work.executed)
}

/// The device is not there; holds the row, and names the site that was made for it, if it is there.
pub(in crate::run) fn on_custom_sites(
    work: &Work,
    facts: &RunFacts<'_>,
    answer: LookupAnswer,
) -> RowDecision {
    let (mut code, found_out) = if work.absent_reads > 0 {
        (Reason::Absent, "the device is not found")
    } else {
        (Reason::LookupInconclusive, "no look-up says for certain whether the device is there")
    };
    let mut reason = format!("{}, and {found_out}; sending it could make its site twice", cause(work));
    match answer {
        LookupAnswer::Records(found) => {
            let is_made = |found: &&Found| classify::is_custom_site(work, found);
            for site in found.iter().filter(is_made) {
                code = Reason::SiteUnclear;
                let id = site.id.map(|id| format!(" (id {id})")).unwrap_or_default();
                reason.push_str(&format!(
                    "; the site '{}'{id} is there, perhaps made without its device",
                    site.name.as_deref().unwrap_or_default()
                ));
            }
        }
        LookupAnswer::Inconclusive(_) | LookupAnswer::Failed(_) | LookupAnswer::Unavailable => {
            code = Reason::SiteUnclear;
            reason.push_str("; the service could not be asked about that site");
        }
    }
    hold(work, facts, code.as_str(), reason, Vec::new())
}

/// It was not executed: it may be sent again, unless that has failed too often.
fn send_again(work: &Work, facts: &RunFacts<'_>, note: &str) -> RowDecision {
    if work.doubts >= MOST_DOUBTS {
        let reason = format!(
            "its outcome was unknown {} times: no answer came, or one that proves nothing",
            work.doubts
        );
        return hold(work, facts, Reason::AnswerNever.as_str(), reason, Vec::new());
    }
    let deed = if work.doubt == Some(Doubt::JournalBehind) { "sent" } else { "sent again" };
    unless_corrected(work, Write::Release { job: work.job, note: format!("{deed}: {note}"), at: facts.now })
}

/// This look decided nothing. After enough late ones a person is asked; not while the service fails at the
/// operation, since what it makes afterwards may prove the look-up.
fn look_up_later(work: &Work, facts: &RunFacts<'_>, note: &str) -> RowDecision {
    let enough = lookups_before(facts.policy.settle) + LATE_LOOKS;
    if is_settled(work, facts) && work.looks >= enough && !facts.is_unstable {
        return match custom_site_lookup(work, facts) {
            Some(lookup) => ask(lookup, Subject::CustomSites(work.job)),
            None => hold(work, facts, Reason::LookupInconclusive.as_str(), note.to_owned(), Vec::new()),
        };
    }
    stay_in_doubt(work, next_lookup(work, facts), work.absent_reads, note)
}

fn advance(work: &Work, facts: &RunFacts<'_>, how: How, id: Option<RemoteId>) -> RowDecision {
    let (from, evidence) = (JobState::InDoubt, Evidence::at(facts.now));
    unless_corrected(work, Write::Advance { job: work.job, from, how, id, evidence })
}

fn stay_in_doubt(work: &Work, until: Moment, absent_reads: u32, note: &str) -> RowDecision {
    let (job, note) = (work.job, note.to_owned());
    RowDecision::write(Write::KeepDoubting { job, until, absent_reads, note })
}

fn is_settled(work: &Work, facts: &RunFacts<'_>) -> bool {
    settle_left(work, facts).is_zero() || mistake::made(Mistake::SettleTimeIgnored)
}

/// How long "not there" may not be believed yet.
fn settle_left(work: &Work, facts: &RunFacts<'_>) -> Duration {
    facts.evidence.settle.left(work.job, facts.elapsed, facts.policy.settle)
}

/// From when on "not there" may be believed, as far as the wall clock goes evenly. The journal counts whole
/// milliseconds, and a look must not come a fraction of one too early.
fn settle_moment(work: &Work, facts: &RunFacts<'_>) -> Moment {
    facts.now.plus(settle_left(work, facts) + Duration::from_millis(1))
}

/// When to look again: soon at first, at the settle time at the latest, then every few seconds.
fn next_lookup(work: &Work, facts: &RunFacts<'_>) -> Moment {
    if is_settled(work, facts) {
        return facts.now.plus(LATE_WAIT.min(facts.policy.settle));
    }
    let wait = FIRST_WAIT.saturating_mul(1 << work.looks.min(16));
    settle_moment(work, facts).min(facts.now.plus(wait))
}

/// Why it is not known whether a row was executed, in words that go on with ", and".
fn cause(work: &Work) -> &'static str {
    match work.doubt {
        Some(Doubt::JournalBehind) => "this copy of the journal may not know that the row was sent",
        _ => "its outcome was unknown",
    }
}

/// How long after the settle time the last look comes, before a person is asked, as long as each is answered within a wait.
pub(in crate::run) fn last_look_after(settle: Duration) -> Duration {
    // The look at the settle time is not a late one, and what a look takes comes on top of the waits.
    LATE_WAIT.min(settle).saturating_mul(LATE_LOOKS + 2)
}

/// How many looks fit before the settle time, as their waits double.
fn lookups_before(settle: Duration) -> u32 {
    let mut passed = FIRST_WAIT;
    let mut looks = 1;
    while passed < settle {
        passed = passed.saturating_mul(2);
        looks += 1;
    }
    looks
}

#[cfg(test)]
mod tests;
