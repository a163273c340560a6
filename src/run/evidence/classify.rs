//! Classifies the records that a look-up found: what they mean for a row before it is sent, and after a lost answer.
//!
//! Pure rules; `decide::pre_send` and `decide::reconcile` decide by them.

use super::lookups;
use super::matching::{self, RecordMatch, SeenRecord};
use crate::journal::{Candidate, Work};
use crate::mistake::{self, Mistake};
use crate::model::id::{JobId, RemoteId};
use crate::model::key::{Likeness, likeness};
use crate::model::kind::Kind;
use crate::model::reason::ServiceCode;
use crate::model::record::{Device, Record, Role};
use crate::model::verdict::{Doubt, Rejection};
use crate::service::Found;

/// What the records with a row's key mean for the row.
#[derive(Debug, PartialEq)]
pub(in crate::run) enum Classified {
    /// None of them is the row's.
    Absent,
    /// A request of ours made this one.
    Ours(RemoteId),
    /// This one is the row's record, and was there before we sent.
    Existing(RemoteId),
    /// A value that must be unique belongs to another record.
    Taken(Candidate),
    /// It is the record of another row of ours.
    Owned(JobId, Candidate),
    /// A person must look.
    Unclear(Vec<Candidate>),
}

/// The records that may be the row's, as far as no other row has them. What another row renames is none that has the row's name,
/// unless more than that name says so.
fn related<'s>(work: &Work, seen: &'s [SeenRecord]) -> Vec<(&'s Found, RecordMatch)> {
    let sent = matching::sent(work);
    let relate = |seen: &SeenRecord| match (matching::relate(work, &sent, &seen.found), seen.renamed_by) {
        (RecordMatch::Unrelated, _) => RecordMatch::Unrelated,
        (_, Some(job)) if !matching::key_is_unique(work) => {
            RecordMatch::Near(format!("job {job} gives it another name"))
        }
        (relation, _) => relation,
    };
    seen.iter()
        .filter(|seen| seen.owner.is_none_or(|owner| owner == work.job))
        .map(|seen| (&seen.found, relate(seen)))
        .filter(|(_, relation)| *relation != RecordMatch::Unrelated)
        .collect()
}

/// Whether a record is in the row's baseline: it was seen before an earlier send, or shown to a person, and is not the row's.
pub(in crate::run) fn was_there(work: &Work, found: &Found) -> bool {
    matches!((&work.baseline, found.id), (Some(baseline), Some(id)) if baseline.contains(&id))
}

/// Whether one of the records that nobody owns may be the row's, and may be that of one of these `others` as well, whose outcome
/// is not known yet. Where the list is that of the row's parent (`below_parent`), those below other parents have none in it.
pub(in crate::run) fn may_be_of_another<'w>(
    work: &Work,
    seen: &[SeenRecord],
    others: impl IntoIterator<Item = &'w Work>,
    below_parent: bool,
) -> bool {
    let mut fresh = related(work, seen);
    fresh.retain(|(found, _)| !was_there(work, found));
    let parent = |of: &Work| lookups::link(of, Role::Parent);
    others.into_iter().filter(|other| !below_parent || parent(other) == parent(work)).any(|other| {
        let sent = matching::sent(other);
        fresh.iter().any(|(found, _)| {
            !was_there(other, found) && matching::relate(other, &sent, found) != RecordMatch::Unrelated
        })
    })
}

/// What the records with a row's key mean before it is sent.
pub(in crate::run) fn before(work: &Work, seen: &[SeenRecord]) -> Classified {
    let mut foreign = related(work, seen);
    foreign.retain(|(found, _)| !was_there(work, found));
    match foreign.as_slice() {
        [] => match of_another_row(work, seen) {
            Some((owner, candidate)) => Classified::Owned(owner, candidate),
            None => Classified::Absent,
        },
        [(found, RecordMatch::Agrees)] => match found.id {
            Some(id) => Classified::Existing(id),
            None => Classified::Unclear(vec![matching::candidate(found, "the service names no id for it")]),
        },
        [(found, RecordMatch::Differs(difference))] if matching::key_is_unique(work) => {
            Classified::Taken(matching::candidate(found, difference))
        }
        several => Classified::Unclear(matching::candidates(several)),
    }
}

/// The record of another row of ours that leaves no room for this one: it has the row's unique key, or is equal to
/// what the row asks for in the same company.
fn of_another_row<'s>(
    work: &Work,
    seen: impl IntoIterator<Item = &'s SeenRecord>,
) -> Option<(JobId, Candidate)> {
    let sent = matching::sent(work);
    let unique = matching::key_is_unique(work);
    seen.into_iter().find_map(|seen| {
        let owner = seen.owner.filter(|owner| *owner != work.job)?;
        let difference = match matching::relate(work, &sent, &seen.found) {
            RecordMatch::Unrelated => return None,
            RecordMatch::Agrees if unique || belongs_with(work, &seen.found) => "equal".to_owned(),
            RecordMatch::Differs(difference) if unique => difference,
            RecordMatch::Agrees | RecordMatch::Near(_) | RecordMatch::Differs(_) => return None,
        };
        Some((owner, matching::candidate(&seen.found, &difference)))
    })
}

/// A record that is equal to what a row asks for, and that the journal has as the record of another job.
pub(super) fn recorded_for(owner: JobId, candidate: Candidate) -> Candidate {
    Candidate { difference: format!("equal; it is recorded as that of job {owner}"), ..candidate }
}

/// Whether a record is known to belong to the row's company; children are listed by their parent.
fn belongs_with(work: &Work, found: &Found) -> bool {
    match work.kind {
        Kind::Company => true,
        Kind::Site | Kind::Person | Kind::Device | Kind::Upkeep(_) => found.company.is_some(),
    }
}

/// Why a row is refused that another row of ours has the record of.
pub(in crate::run) fn owned(owner: JobId, candidate: &Candidate) -> Rejection {
    let id = candidate.id.map(|id| format!(" (id {id})")).unwrap_or_default();
    let name = candidate.name.as_deref().unwrap_or("a record without a name");
    refusal(
        ServiceCode::DuplicateEntity.as_str(),
        format!(
            "another row has this record already: '{name}'{id} is that of job {owner}; {}",
            candidate.difference
        ),
    )
}

/// Why a row is refused whose unique value another record has.
pub(in crate::run) fn taken(candidate: &Candidate) -> Rejection {
    let id = candidate.id.map(|id| format!(" (id {id})")).unwrap_or_default();
    let name = candidate.name.as_deref().unwrap_or("a record without a name");
    refusal(
        ServiceCode::DuplicateEntity.as_str(),
        format!("already in use by '{name}'{id}: {}", candidate.difference),
    )
}

pub(in crate::run) fn refusal(code: &str, message: String) -> Rejection {
    Rejection { code: code.to_owned(), message, violations: Vec::new() }
}

/// The device whose creation makes a site as well (`customSiteId`, `customSiteName`; specification 2.5).
pub(in crate::run) fn device_with_site(work: &Work) -> Option<&Device> {
    match work.record() {
        Some(Record::Device(device)) => device.makes_a_site().then_some(device),
        Some(Record::Company(_) | Record::Site(_) | Record::Person(_)) | None => None,
    }
}

/// Whether creating it makes a site as well, so that each try may make another one.
pub(in crate::run) fn makes_a_site(work: &Work) -> bool {
    device_with_site(work).is_some() && !mistake::made(Mistake::OwnSiteSentAgain)
}

/// Whether a site is the one that creating the device makes: its name, and its reference where both have one.
pub(in crate::run) fn is_custom_site(work: &Work, site: &Found) -> bool {
    let Some(device) = device_with_site(work) else { return false };
    let equal = |ours: Option<&str>, theirs: Option<&str>| match (ours, theirs) {
        (Some(ours), Some(theirs)) => likeness(ours, theirs) != Likeness::Different,
        _ => true,
    };
    let reference = device.custom_site_id.as_deref();
    equal(device.custom_site_name.as_deref().or(reference), site.name.as_deref())
        && equal(reference, site.reference.as_deref())
}

/// What the records with a row's key mean after its answer was lost.
pub(in crate::run) fn after(work: &Work, seen: &[SeenRecord]) -> Classified {
    let unique = matching::key_is_unique(work);
    let related = related(work, seen);
    let fresh: Vec<(&Found, RecordMatch)> =
        related.iter().filter(|(found, _)| !was_there(work, found)).cloned().collect();
    match fresh.as_slice() {
        [] => match related.as_slice() {
            // Only a unique key says that the older record is the one the service meant.
            [(found, relation)] if unique => older(found, relation),
            [] if unique => match of_another_row(work, seen) {
                Some((owner, candidate)) => Classified::Owned(owner, candidate),
                None => Classified::Absent,
            },
            // It was made since the row was first looked up, and is all that the row asks for: the other row may have its id by
            // a wrong answer.
            _ => match of_another_row(work, seen.iter().filter(|seen| !was_there(work, &seen.found))) {
                Some((owner, candidate)) => Classified::Unclear(vec![recorded_for(owner, candidate)]),
                None => Classified::Absent,
            },
        },
        [(found, RecordMatch::Agrees)] => match (found.id, &work.baseline, work.doubt, work.doubted) {
            // The first attempt was refused as a duplicate and nobody looked before: it was there.
            (Some(id), None, Some(Doubt::Duplicate), false) => Classified::Existing(id),
            // Whether we made it or somebody else did: it is there, as a look before sending would find it.
            (Some(id), None, Some(Doubt::JournalBehind), _) => Classified::Existing(id),
            (Some(id), Some(_), _, _) => Classified::Ours(id),
            (Some(id), None, _, _) if mistake::made(Mistake::BaselineIgnored) => Classified::Ours(id),
            (Some(id), None, _, _) if unique => Classified::Ours(id),
            (_, None, _, _) => {
                let why = "equal, but it may have been there before: no look was taken before sending";
                Classified::Unclear(vec![matching::candidate(found, why)])
            }
            (None, Some(_), _, _) => {
                Classified::Unclear(vec![matching::candidate(found, "the service names no id for it")])
            }
        },
        [(found, RecordMatch::Differs(difference))] if unique && is_foreign(work, found) => {
            Classified::Taken(matching::candidate(found, difference))
        }
        several => Classified::Unclear(matching::candidates(several)),
    }
}

/// Whether a new record with the row's unique key and other values is certainly not made for the row: no request before the
/// one that was refused as a duplicate can have made it, or it lies below another company. What a lost request made may show
/// other values, as the service writes them or somebody has changed them since.
fn is_foreign(work: &Work, found: &Found) -> bool {
    let refused_at_once = work.doubt == Some(Doubt::Duplicate) && !work.doubted;
    refused_at_once || matching::is_of_another_company(&matching::sent(work), &found.raw)
}

/// A record with the row's unique key that was there before the first send.
fn older(found: &Found, relation: &RecordMatch) -> Classified {
    match (relation, found.id) {
        (RecordMatch::Agrees, Some(id)) => Classified::Existing(id),
        (RecordMatch::Differs(difference), _) => Classified::Taken(matching::candidate(found, difference)),
        (RecordMatch::Agrees | RecordMatch::Near(_) | RecordMatch::Unrelated, _) => {
            Classified::Unclear(vec![matching::candidate(found, "it was there before")])
        }
    }
}

#[cfg(test)]
mod tests;
