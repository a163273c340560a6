//! The look before an upkeep row is sent: what is so already is not sent, and what the row names by its name gets its id.
//!
//! What a record has is listed once for all rows about it, and again after some minutes. Where no list is available the row
//! is sent without one: a second request changes nothing, or, where that is not known, a lost answer is for a person.

use std::time::Duration;

use super::pre_send::{hold, look_again, unless_corrected};
use super::{FoundRecords, RowDecision, RunFacts, settle, update};
use crate::journal::{Evidence, How, SameLicence, Work, Write};
use crate::mistake::{self, Mistake};
use crate::model::action::Action;
use crate::model::action::before::Before;
use crate::model::id::RemoteId;
use crate::model::reason::Reason;
use crate::model::verdict::{Doubt, Rejection, Violation};
use crate::run::evidence::classify::refusal;
use crate::run::evidence::lookups;
use crate::run::evidence::question::{Asker, Question, Subject};
use crate::run::evidence::record_list::RecordList;
use crate::service::{Found, Lookup, NameSearch, before, find_name, is_shown, may_be_a_page, shown_settings};
use crate::sheet::finding::Code;
use crate::sheet::{did_you_mean, nearest};

/// How long a row waits for the list of what a record has that was created moments ago.
const LIST_AGAIN: Duration = Duration::from_secs(2);

/// Names that a message lists at most.
const NAMES_SHOWN: usize = 20;

/// A row was fetched that is about a record which exists.
pub(in crate::run) fn first_lookup(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    if let Action::Update(update) = &work.action {
        return update::first_lookup(work, update, facts);
    }
    let lists = lookups::of_name(work);
    if let Some(last) = lists.last() {
        return match lists.iter().find(|lookup| (facts.usable)(lookup.operation())) {
            Some(lookup) => RowDecision::CompareWithList(lookup.clone()),
            None if work.action.is_as_exported() => update::unread_export(work, facts),
            None => reject(
                work,
                facts,
                Reason::LookupUnavailable,
                format!(
                    "{} is not available, and without it the id of what the row names is not known",
                    last.operation()
                ),
            ),
        };
    }
    match lookups::of_step(work, facts.usable) {
        Some(lookup) => RowDecision::CompareWithList(lookup),
        None => unread(work, facts),
    }
}

/// What the record has cannot be read.
fn unread(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    match &work.action {
        Action::Keep(_) => update::unread_export(work, facts),
        Action::ConfigureVpn(settings) if settings.is_from_export() && settings.send.is_none() => {
            update::unread_settings(work, settings, facts)
        }
        Action::PutMetadataEntry(entry) if entry.exported.is_some() && !facts.policy.overwrite => {
            update::unread_entry(work, facts)
        }
        // Nothing but the journal tells whether the device has it.
        Action::AddLicence(_) => RowDecision::AskOwners(FoundRecords {
            question: Question { asker: Asker::PreSend, subject: Subject::Key(work.job) },
            operation: work.operation,
            found: Vec::new(),
            is_whole: true,
        }),
        _ => RowDecision::Send,
    }
}

/// The journal has said what it knows of other requests for the licence code of a row: a second one may add it twice.
pub(in crate::run) fn on_licence(
    work: &Work,
    facts: &RunFacts<'_>,
    same: Option<SameLicence>,
) -> RowDecision {
    match same {
        None => RowDecision::Send,
        Some(SameLicence::Added) => is_so(work, facts),
        Some(SameLicence::UnderWay(job)) => {
            let reason = format!("waits for the outcome of job {job}, which adds the same licence code");
            look_again(work, facts, Reason::OutcomeAwaited, reason)
        }
        Some(SameLicence::Unknown(job)) => {
            let reason = format!(
                "the outcome of adding a licence code to the device by job {job} was unknown, and the service has no way to \
                 look it up"
            );
            hold(work, facts, Reason::LookupUnavailable.as_str(), reason, Vec::new())
        }
    }
}

/// What a record has is known, or could not be read.
pub(in crate::run) fn on_list(
    work: &Work,
    facts: &RunFacts<'_>,
    lookup: &Lookup,
    list: Option<&[Found]>,
) -> RowDecision {
    if let Action::Update(update) = &work.action {
        return update::on_record(work, update, facts, list);
    }
    let lists = lookups::of_name(work);
    if let Some(asked) = lists.iter().position(|list| list == lookup) {
        let next = lists[asked + 1..].iter().find(|lookup| (facts.usable)(lookup.operation()));
        return on_names(work, facts, (lookup, next), list);
    }
    let found = match list {
        Some(found) => found,
        None if mistake::made(Mistake::UnreadListMeansSo) => return is_so(work, facts),
        None => return unread(work, facts),
    };
    if let Action::ConfigureVpn(settings) = &work.action
        && settings.is_from_export()
        && settings.send.is_none()
    {
        match shown_settings(settings, found) {
            Some(shown) => return update::on_settings(work, settings, facts, shown),
            None if !settings.asks_for_a_change() => return update::gone_since_export(work, facts),
            // The service says so of a device that is not in the cloud.
            None => {}
        }
    }
    if is_shown(&work.action, work.owner().map(|(_, id)| id), found) {
        return is_so(work, facts);
    }
    if let Action::Keep(_) = &work.action {
        return update::gone_since_export(work, facts);
    }
    if let Action::PutMetadataEntry(entry) | Action::DeleteMetadataEntry(entry) = &work.action
        && let Some(refused) = update::refuse_overwriting(work, facts, entry, found)
    {
        return refused;
    }
    before(&work.action, found).map_or(RowDecision::Send, RowDecision::SendOver)
}

/// A list that shows the id of what the row names was read, or could not be; `next` is the list that is asked after it.
fn on_names(
    work: &Work,
    facts: &RunFacts<'_>,
    (lookup, next): (&Lookup, Option<&Lookup>),
    list: Option<&[Found]>,
) -> RowDecision {
    let missing = match list.map(|found| find_name(&work.action, found)) {
        Some(NameSearch::Found(action)) => {
            if let Action::ConfigureVpn(settings) = &action
                && let Some((one, other)) = settings.twice()
            {
                return one_interface(work, facts, one, other);
            }
            return RowDecision::Resolved(Box::new(action));
        }
        Some(NameSearch::Several(name, ids)) => return ambiguous(work, facts, &name, &ids),
        Some(NameSearch::Missing(name)) => name,
        None => String::new(),
    };
    if let Some(next) = next {
        return RowDecision::CompareWithList(next.clone());
    }
    // An entry that is not there is deleted already; all else is waited for.
    let is_entry = matches!(work.action, Action::DeleteMetadataEntry(_));
    if list.is_some() && !is_entry && facts.evidence.lag.is_below_young(work, facts.elapsed) {
        return wait_for_list(work, facts, lookup, &missing);
    }
    let is_read = |lookup: &Lookup| facts.evidence.lists.known(lookup).map(RecordList::all);
    let shown: Vec<&Found> = lookups::of_name(work).iter().filter_map(is_read).flatten().collect();
    match list {
        Some(found) if matches!(work.action, Action::DeleteMetadataEntry(_)) => {
            match is_shown(&work.action, None, found) {
                true => is_so(work, facts),
                false => not_listed(work, facts, &missing, &shown),
            }
        }
        Some(_) => not_listed(work, facts, &missing, &shown),
        None if work.action.is_as_exported() => update::unread_export(work, facts),
        None => {
            let message = format!(
                "{} could not be read, and without it the id of what the row names is not known",
                lookup.operation()
            );
            reject(work, facts, Reason::LookupUnavailable, message)
        }
    }
}

/// A row below a record that this run made just now: the service may not list yet what belongs to it.
fn wait_for_list(work: &Work, facts: &RunFacts<'_>, lookup: &Lookup, missing: &str) -> RowDecision {
    let (what, _) = named(&work.action);
    let write = Write::Postpone {
        job: work.job,
        from: work.state,
        until: facts.now.plus(LIST_AGAIN),
        code: Reason::NotListed.as_str().to_owned(),
        reason: format!(
            "the record was created moments ago, and the service does not list its {what} '{missing}' yet: it is looked \
             up again"
        ),
    };
    RowDecision::WriteUnlisted(lookup.clone(), Box::new(write))
}

/// What the row asks for is so already.
fn is_so(work: &Work, facts: &RunFacts<'_>) -> RowDecision {
    leave(work, facts, None, None)
}

/// Ends a step for which nothing is to be sent, with what is worth saying, and what others have changed of the record.
pub(super) fn leave(
    work: &Work,
    facts: &RunFacts<'_>,
    note: Option<(Reason, String)>,
    left: Option<Before>,
) -> RowDecision {
    let (job, from) = (work.job, work.state);
    let (code, excerpt) = note.map(|(code, words)| (code.as_str().to_owned(), words)).unzip();
    let evidence = Evidence { code, excerpt, left, ..Evidence::at(facts.now) };
    // After a lost answer what shows now may be what that request did.
    let how = if work.doubted { How::Done } else { How::Existing };
    unless_corrected(work, Write::Advance { job, from, how, id: None, evidence })
}

/// What a row names by its name: what it is, and the field that carries its id.
fn named(action: &Action) -> (&'static str, &'static str) {
    const CLOUD: (&str, &str) = ("VPN cloud", "vpnCloudId");
    const INTERFACE: (&str, &str) = ("interface", "interfaceDeviceId");
    match action {
        Action::PutLabel(_) | Action::DeleteLabel(_) => INTERFACE,
        Action::SubscribeTemplate(_) | Action::UnsubscribeTemplate(_) => {
            ("enterprise template", "enterpriseTemplateId")
        }
        Action::JoinVpnCloud(_) | Action::LeaveVpnCloud(_) => CLOUD,
        Action::ConfigureVpn(settings) if settings.cloud.id().is_none() => CLOUD,
        Action::ConfigureVpn(_) => INTERFACE,
        _ => ("entry", "key"),
    }
}

/// The cell that names something: in a sheet of records the column of the step, which is no field of the record.
fn cell(work: &Work, field: &'static str) -> &'static str {
    let of_step = work.action.descriptor().columns.first().filter(|_| work.kind.sheet().is_record());
    of_step.copied().unwrap_or(field)
}

/// A row that names what its record neither has nor can have.
fn not_listed(work: &Work, facts: &RunFacts<'_>, name: &str, shown: &[&Found]) -> RowDecision {
    if work.action.is_as_exported() {
        return update::gone_since_export(work, facts);
    }
    let (what, field) = named(&work.action);
    let listed = |found: &&'_ Found| found.normalized_name.as_ref().or(found.name.as_ref()).cloned();
    let mut names: Vec<String> = shown.iter().filter_map(listed).collect();
    names.sort_unstable();
    names.dedup();
    let near = did_you_mean(&nearest(name, names.iter().map(String::as_str)));
    let has = match names.len() {
        0 => "the service shows none".to_owned(),
        1..=NAMES_SHOWN => format!("the service shows {}", names.join(", ")),
        many => format!("the service shows {many}, among them {}", names[..NAMES_SHOWN].join(", ")),
    };
    let page = match may_be_a_page(shown.len()) {
        true => "; the list may go on after what the service shows of it",
        false => "",
    };
    let end = if near.is_empty() { "" } else { "." };
    let lacks = match lookups::of_name(work).len() {
        1 => "has no",
        _ => "neither has nor can have",
    };
    let message = format!("the record {lacks} {what} '{name}': {has}{page}{end}{near}");
    let field = of_interface(&work.action, name, cell(work, field));
    write_rejection(work, facts, with_cell(refusal(Reason::NotListed.as_str(), message), &field))
}

/// A field of the row, of settings that several rows ask for together with the interface that it is about.
fn of_interface(action: &Action, interface: &str, field: &str) -> String {
    match action {
        Action::ConfigureVpn(settings) if settings.cloud.id().is_some() => format!("{field}[{interface}]"),
        _ => field.to_owned(),
    }
}

/// A row that names several things by one name.
fn ambiguous(work: &Work, facts: &RunFacts<'_>, name: &str, ids: &[RemoteId]) -> RowDecision {
    let (what, field) = named(&work.action);
    let ids: Vec<String> = ids.iter().map(RemoteId::to_string).collect();
    let message = format!(
        "the service shows more than one {what} of the name '{name}': enter the id of the right one, one of {}",
        ids.join(", ")
    );
    let field = of_interface(&work.action, name, cell(work, field));
    write_rejection(work, facts, with_cell(refusal(Reason::NameAmbiguous.as_str(), message), &field))
}

/// Rows that name one interface twice.
fn one_interface(work: &Work, facts: &RunFacts<'_>, one: &str, other: &str) -> RowDecision {
    let message = format!("'{one}' and '{other}' are the same interface: give its settings in one row");
    let rejection = refusal(Code::RowConflict.as_str(), message);
    let of = |interface: &str| with_cell(rejection.clone(), &format!("interfaceDeviceId[{interface}]"));
    let violations = [one, other].map(of).into_iter().flat_map(|rejection| rejection.violations).collect();
    write_rejection(work, facts, Rejection { violations, ..rejection })
}

/// A rejection that is about one field of the row.
pub(super) fn with_cell(rejection: Rejection, field: &str) -> Rejection {
    let violation = Violation { path: field.to_owned(), message: rejection.message.clone() };
    Rejection { violations: vec![violation], ..rejection }
}

fn reject(work: &Work, facts: &RunFacts<'_>, code: Reason, message: String) -> RowDecision {
    write_rejection(work, facts, refusal(code.as_str(), message))
}

/// Rejects a row before it is sent; one whose earlier request may still be carried out is looked at again when late requests are
/// over.
pub(super) fn write_rejection(work: &Work, facts: &RunFacts<'_>, rejection: Rejection) -> RowDecision {
    let (job, from) = (work.job, work.state);
    if settle::may_still_change(work) {
        return unless_corrected(work, Write::Suspect { job, from, doubt: Doubt::Refused, at: facts.now });
    }
    unless_corrected(work, Write::Reject { job, from, rejection, evidence: Evidence::at(facts.now) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::{InterfaceSettings, Offer, OwnedEntry, Owner, VpnSettings};
    use crate::model::kind::{Kind, Upkeep};
    use crate::model::operation::Operation;
    use crate::model::record::Role;
    use crate::run::RunPolicy;
    use crate::run::evidence::RunEvidence;
    use crate::run::tests::{facts, named, site};
    use crate::service::found;
    use serde_json::json;

    #[test]
    fn a_row_that_nobody_changed_since_its_export_is_never_rejected() {
        let id = RemoteId::from_u128;
        let entry = InterfaceSettings {
            exported: [("weight".to_owned(), "10".to_owned())].into(),
            ..InterfaceSettings::named("eth0")
        };
        let (cloud, interfaces) = (Offer::Id(id(9)), vec![entry]);
        let settings = Action::ConfigureVpn(VpnSettings { cloud, interfaces, ..VpnSettings::default() });
        let kept = Action::Keep(Box::new(Action::SubscribeTemplate(Offer::named("Retail"))));
        let all: fn(_) -> bool = |_| true;
        let none: fn(_) -> bool = |_| false;
        let evidence = RunEvidence::default();
        for (action, upkeep) in [(settings, Upkeep::Vpn), (kept, Upkeep::Subscriptions)] {
            let (kind, links) = (Kind::Upkeep(upkeep), vec![(Role::Device, id(5))]);
            let work = Work { action, kind, links, ..site("Depot", None) };
            let told = |decision: RowDecision| match &decision {
                RowDecision::Write(write) => match write.bare() {
                    Write::Advance { how: How::Existing, evidence, .. } => evidence.code.clone(),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            };
            let last = lookups::of_name(&work).pop().unwrap();
            let known = facts(&all, &evidence);
            let gone = told(on_list(&work, &known, &last, Some(&[])));
            assert_eq!(gone.as_deref(), Some("changed.since-export"), "{work:?}");
            let unread = [
                told(on_list(&work, &known, &last, None)),
                told(first_lookup(&work, &facts(&none, &evidence))),
            ];
            for unread in unread {
                assert_eq!(unread.as_deref(), Some("lookup.unavailable"), "{work:?}");
            }
        }
    }

    #[test]
    fn an_exported_entry_that_somebody_else_changed_while_an_answer_was_lost_is_not_overwritten() {
        let entry = |value: Option<&str>| OwnedEntry {
            owner: Owner::Site,
            key: "contract".into(),
            value: value.map(str::to_owned),
            exported: Some("C-1".into()),
            id: Some(RemoteId::from_u128(1)),
        };
        let put = || Action::PutMetadataEntry(entry(Some("C-2")));
        let delete = || Action::DeleteMetadataEntry(entry(None));
        let (all, evidence): (fn(_) -> bool, _) = (|_| true, RunEvidence::default());
        let facts = facts(&all, &evidence);
        let over = "is sent over Value { value: \"C-1\", meanwhile: None }";
        let gone =
            "the service has deleted this entry since the export, which saw 'C-1', and the sheet has 'C-2'";
        let theirs = "the service has changed this to 'theirs' since the export, and the sheet has 'C-2'";
        for (action, there, first, doubted) in [
            (put(), Some("C-1"), over, over),
            (put(), Some("C-2"), "advances Existing", "advances Done"),
            (put(), Some("theirs"), theirs, "is suspected"),
            (put(), None, gone, "is suspected"),
            (delete(), Some("C-1"), over, over),
            (delete(), None, "advances Existing", "advances Done"),
        ] {
            let listed: Vec<_> =
                there.into_iter().map(|value| json!({"key": "contract", "value": value})).collect();
            let list = found(Operation::ListSiteMetadata, &json!(listed)).unwrap();
            for (is_doubted, expected) in [(false, first), (true, doubted)] {
                let work = Work { action: action.clone(), doubted: is_doubted, ..site("Depot", None) };
                let decision = on_list(&work, &facts, &Lookup::SiteMetadata(RemoteId::nil()), Some(&list));
                let told = match &decision {
                    RowDecision::Write(write) => match write.bare() {
                        Write::Reject { rejection, .. } => rejection.message.clone(),
                        _ => named(&decision),
                    },
                    _ => named(&decision),
                };
                assert_eq!(told, expected, "{action:?} {there:?} {is_doubted}");
            }
        }
        let none: fn(_) -> bool = |_| false;
        let blind = RunFacts { usable: &none, ..facts };
        let work = Work { action: put(), links: vec![(Role::Site, RemoteId::nil())], ..site("Depot", None) };
        for (overwrite, expected) in [(false, "is rejected"), (true, "is sent")] {
            let policy = RunPolicy { overwrite, ..blind.policy };
            let blind = RunFacts { policy, ..blind };
            assert_eq!(named(&first_lookup(&work, &blind)), expected);
            assert_eq!(
                named(&on_list(&work, &blind, &Lookup::SiteMetadata(RemoteId::nil()), None)),
                expected
            );
        }
    }

    #[test]
    fn a_row_refused_before_it_is_sent_again_is_not_rejected_while_its_first_request_may_be_carried_out() {
        let labels = || Work { action: Action::PutLabels(vec!["till".into()]), ..site("Depot", None) };
        let licence = || Work { action: Action::AddLicence("L".into()), ..site("Depot", None) };
        let doubted = |work: Work| Work { doubted: true, ..work };
        let (all, evidence): (fn(_) -> bool, _) = (|_| true, RunEvidence::default());
        let facts = facts(&all, &evidence);
        for (case, work, expected) in [
            ("never in doubt", labels(), None),
            ("in doubt before", doubted(labels()), Some(Doubt::Refused)),
            ("let go by a person", doubted(licence()), None),
        ] {
            let refused = refusal(Reason::LookupUnavailable.as_str(), "could not be read".to_owned());
            let RowDecision::Write(write) = write_rejection(&work, &facts, refused) else {
                panic!("{case}: nothing is written")
            };
            let doubt = match write.bare() {
                Write::Suspect { doubt, .. } => Some(*doubt),
                Write::Reject { .. } => None,
                other => panic!("{case}: {other:?}"),
            };
            assert_eq!(doubt, expected, "{case}");
        }
    }
}
