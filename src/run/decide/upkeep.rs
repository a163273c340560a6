//! The look before an upkeep row is sent: what is so already is not sent, and what the row names by its name gets its id.
//!
//! What a record has is listed once for all rows about it, and again after some minutes. Where no list is available the row
//! is sent without one: a second request changes nothing, or, where that is not known, a lost answer is for a person.

use super::pre_send::unless_corrected;
use super::{RowDecision, RunFacts};
use crate::journal::{Evidence, How, Work, Write};
use crate::model::action::{Action, OwnedLabel, Owner};
use crate::model::reason::Reason;
use crate::model::verdict::{Rejection, Violation};
use crate::run::evidence::classify::refusal;
use crate::run::evidence::lookups;
use crate::service::{Found, Lookup, before, is_shown, may_be_a_page, with_id};

/// A row was fetched that is about a record which exists.
pub(in crate::run) fn first_lookup(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    if let Some(lookup) = lookups::of_id(work) {
        return match facts.if_usable(Some(lookup.clone())) {
            Some(lookup) => RowDecision::CompareWithList(lookup),
            None => reject(
                work,
                facts,
                Reason::LookupUnavailable,
                format!(
                    "{} is not available, and without it the id of what the row names is not known",
                    lookup.operation()
                ),
            ),
        };
    }
    match lookups::of_step(work, facts.usable) {
        Some(lookup) => RowDecision::CompareWithList(lookup),
        None => RowDecision::Send,
    }
}

/// What a record has is known, or could not be read.
pub(in crate::run) fn on_list(
    work: &Work,
    facts: &RunFacts<'_>,
    lookup: &Lookup,
    list: Option<&[Found]>,
) -> RowDecision {
    let owner = work.owner().map(|(_, id)| id);
    let seeks_id = lookups::of_id(work).as_ref() == Some(lookup);
    let Some(found) = list else {
        if seeks_id {
            let message = format!(
                "{} could not be read, and without it the id of what the row names is not known",
                lookup.operation()
            );
            return reject(work, facts, Reason::LookupUnavailable, message);
        }
        return RowDecision::Send;
    };
    if seeks_id && let Some(action) = with_id(&work.action, found) {
        return RowDecision::Resolved(Box::new(action));
    }
    if is_shown(&work.action, owner, found) {
        let (job, from, evidence) = (work.job, work.state, Evidence::at(facts.now));
        // After a lost answer what shows now may be what that request did.
        let how = if work.doubted { How::Done } else { How::Existing };
        return unless_corrected(work, Write::Advance { job, from, how, id: None, evidence });
    }
    if seeks_id {
        return not_listed(work, facts, found);
    }
    before(&work.action, found).map_or(RowDecision::Send, RowDecision::SendOver)
}

/// A row that names an interface which its device does not have. An entry that is not there is deleted already.
fn not_listed(work: &Work, facts: &RunFacts<'_>, found: &[Found]) -> RowDecision {
    let page = match may_be_a_page(found.len()) {
        true => "; the list may go on after what the service shows of it",
        false => "",
    };
    let (message, field) = match &work.action {
        Action::PutLabel(OwnedLabel { owner: Owner::Interface { name, .. }, .. })
        | Action::DeleteLabel(OwnedLabel { owner: Owner::Interface { name, .. }, .. }) => {
            let names: Vec<&str> =
                found.iter().filter_map(|found| found.normalized_name.as_deref()).collect();
            let has = match names.as_slice() {
                [] => "the service shows no interface of it".to_owned(),
                names => format!("it has {}{page}", names.join(", ")),
            };
            (format!("the device has no interface '{name}': {has}"), "interfaceDeviceId")
        }
        _ => (format!("what the row names is not in the list of its record{page}"), "key"),
    };
    let violations = vec![Violation { path: field.to_owned(), message: message.clone() }];
    let rejection = Rejection { violations, ..refusal(Reason::NotListed.as_str(), message) };
    write_rejection(work, facts, rejection)
}

fn reject(work: &Work, facts: &RunFacts<'_>, code: Reason, message: String) -> RowDecision {
    write_rejection(work, facts, refusal(code.as_str(), message))
}

fn write_rejection(work: &Work, facts: &RunFacts<'_>, rejection: Rejection) -> RowDecision {
    let (job, from) = (work.job, work.state);
    unless_corrected(work, Write::Reject { job, from, rejection, evidence: Evidence::at(facts.now) })
}
