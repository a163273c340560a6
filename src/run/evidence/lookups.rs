//! Which request carries out a step, and which look-up answers which question about a row. What an answer means is in
//! [`super::classify`].

use super::classify;
use crate::journal::Work;
use crate::model::action::Action;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::record::{Record, Role};
use crate::model::verdict::Doubt;
use crate::service::{self, Call, Lookup};

/// Whether the current step of a row creates its record.
pub(in crate::run) fn creates(work: &Work) -> bool {
    work.action.record().is_some()
}

/// The look-up that shows whether the current step of a row is carried out: the record with its key, or what a step after
/// the creation puts on it. The best available one; `None` when none is.
pub(in crate::run) fn of_step(work: &Work, usable: &dyn Fn(Operation) -> bool) -> Option<Lookup> {
    if creates(work) {
        return by_key(work, usable);
    }
    let (_, owner) = work.owner()?;
    service::look_up(&work.action, work.kind, owner, &work.links).filter(|lookup| usable(lookup.operation()))
}

/// The lists that show the id of what the current step of a row names otherwise, in the order in which they are asked; none
/// where it needs none.
pub(in crate::run) fn of_name(work: &Work) -> Vec<Lookup> {
    work.owner().map_or_else(Vec::new, |(_, owner)| service::name_lookups(&work.action, work.kind, owner))
}

/// Whether what an action removes is gone when the list of what its record has does not show the name.
pub(in crate::run) fn is_gone_with_its_name(action: &Action) -> bool {
    match action {
        Action::Keep(action) => is_gone_with_its_name(action),
        Action::DeleteMetadataEntry(_) | Action::UnsubscribeTemplate(_) | Action::LeaveVpnCloud(_) => true,
        Action::Create(_)
        | Action::Update(_)
        | Action::PutLabels(_)
        | Action::PutMetadata(_)
        | Action::AddLicence(_)
        | Action::SubscribeTemplate(_)
        | Action::JoinVpnCloud(_)
        | Action::PutLabel(_)
        // An interface that is not listed says nothing of its labels.
        | Action::DeleteLabel(_)
        | Action::PutMetadataEntry(_)
        | Action::AssignToSite
        | Action::ConfigureVpn(_) => false,
    }
}

/// Why nothing tells whether a step was carried out for which [`of_step`] has no look-up.
pub(in crate::run) fn why_none(work: &Work) -> &'static str {
    match (&work.action, work.doubt) {
        (_, Some(Doubt::JournalBehind)) => {
            "this copy of the journal may not know that the row was sent, and no look-up is available to find out"
        }
        (Action::AddLicence(_), _) => {
            "the outcome of adding the licence code was unknown, and the service has no way to look it up"
        }
        (_, Some(Doubt::Duplicate)) => {
            "the service says the record is there, and no look-up is available to find its id"
        }
        (_, Some(Doubt::NoId)) => "the record was created, and no look-up is available to find its id",
        (_, Some(Doubt::Gone)) => {
            "the service does not find what is to be removed, and no look-up is available to find out whether it is gone"
        }
        _ => "its outcome was unknown, and no look-up is available to find out whether the row was executed",
    }
}

/// The look-up that finds the record of a row by its natural key, the best available one; `None` when none is.
pub(in crate::run) fn by_key(work: &Work, usable: &dyn Fn(Operation) -> bool) -> Option<Lookup> {
    candidates(work).into_iter().find(|lookup| usable(lookup.operation()))
}

/// A question about a row that the service can always answer, whatever became of the row: the company it belongs to.
pub(in crate::run) fn of_company(work: &Work) -> Option<Lookup> {
    link(work, Role::Parent).or_else(|| link(work, Role::Company)).map(Lookup::Company)
}

/// A question whose answer is a shorter list than that of `operation`, good for showing that there is no such record.
pub(in crate::run) fn narrower(work: &Work, operation: Operation) -> Option<Lookup> {
    match (work.record(), operation) {
        (Some(Record::Company(company)), Operation::GetChildCompanies) => {
            Some(Lookup::CompaniesByName(company.name.to_string()))
        }
        _ => None,
    }
}

/// The look-up by `operation` that finds the record of a row, where it is one of those that do.
fn by_operation(work: &Work, operation: Operation) -> Option<Lookup> {
    candidates(work)
        .into_iter()
        .flat_map(|lookup| [narrower(work, lookup.operation()), Some(lookup)])
        .flatten()
        .find(|lookup| lookup.operation() == operation)
}

/// The look-ups that would find the record of a row, best first.
fn candidates(work: &Work) -> Vec<Lookup> {
    let company = link(work, Role::Company);
    match work.record() {
        None => Vec::new(),
        Some(Record::Company(_)) => {
            link(work, Role::Parent).map(Lookup::ChildCompanies).into_iter().collect()
        }
        Some(Record::Person(person)) => vec![Lookup::PersonByUsername(person.username.to_string())],
        Some(Record::Site(site)) => vec![Lookup::SitesByName { name: site.name.to_string(), company }],
        Some(Record::Device(device)) => {
            let by_name = Lookup::DevicesByName { name: device.name.to_string(), company };
            match &device.identification {
                Some(mac) => vec![Lookup::DeviceByMac(mac.to_string()), by_name],
                None => vec![by_name],
            }
        }
    }
}

/// The look-up by `operation` that must find the record of this row, which is known to exist, and the id it must find.
pub(in crate::run) fn control(row: &Work, operation: Operation) -> Option<(Lookup, RemoteId)> {
    let id = row.remote_id?;
    let by_id = Lookup::record(row.kind, id).filter(|lookup| lookup.operation() == operation);
    Some((by_id.or_else(|| by_operation(row, operation))?, id))
}

/// The look-up for the site that creating a device makes as well, named as the row says.
pub(in crate::run) fn of_custom_site(work: &Work) -> Option<Lookup> {
    let device = classify::device_with_site(work)?;
    let name = device.custom_site_name.as_ref().or(device.custom_site_id.as_ref())?.to_string();
    Some(Lookup::SitesByName { name, company: link(work, Role::Company) })
}

/// A record of a job of ours, and the look-up that shows whether it is there.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::run) struct ReferencedRecord {
    pub(in crate::run) job: JobId,
    pub(in crate::run) id: RemoteId,
    pub(in crate::run) lookup: Lookup,
}

/// The records of jobs of ours that the current step of a row refers to: a creation to those above it, a later step to
/// the row's own.
pub(super) fn references(work: &Work) -> Vec<ReferencedRecord> {
    let refer = |job, kind, id| Some(ReferencedRecord { job, id, lookup: Lookup::record(kind, id)? });
    if let Some(id) = work.remote_id {
        return refer(work.job, work.kind, id).into_iter().collect();
    }
    let above = |&(role, job): &(Role, JobId)| link(work, role).and_then(|id| refer(job, role.target(), id));
    work.parents.iter().filter_map(above).collect()
}

/// The id of the record a row refers to as `role`.
pub(in crate::run) fn link(work: &Work, role: Role) -> Option<RemoteId> {
    work.links.iter().find(|(linked, _)| *linked == role).map(|(_, id)| *id)
}

/// The request that carries out the current step of `work`; `None` for a step after the creation whose record
/// has no id, which must never turn into another creation.
pub(in crate::run) fn step(work: &Work) -> Option<Call> {
    service::request(&work.action, work.kind, work.owner().map(|(_, id)| id), &work.links)
}
