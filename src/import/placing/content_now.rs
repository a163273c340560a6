//! What a job brought about as it is now: as it was sent, with what rows of other jobs have changed of it since.

use std::collections::BTreeMap;

use super::Placing;
use crate::error::Result;
use crate::journal::{KnownJob, LaterChange, LaterScope, NewJob};
use crate::model::action::opposes::opposes;
use crate::model::action::record_update::fields_of;
use crate::model::action::{Action, Offer, OwnedEntry, OwnedLabel, Owner};
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::{Kind, Upkeep};
use crate::model::record::{Link, Metadata, Record, Role, Target, target_of};
use crate::model::state::JobState;

impl Placing<'_, '_> {
    /// Whether other jobs have changed what an upkeep job brought about.
    pub(super) fn was_undone(&self, known: &KnownJob) -> Result<bool> {
        let is_done = matches!(known.state, JobState::Existing | JobState::Done);
        if !is_done {
            return Ok(false);
        }
        let own = self.writer.steps_of(known.job)?;
        let Some(record) = self.record_changed_by(known, &own)? else { return Ok(false) };
        let label = match own.first() {
            Some(
                Action::PutLabel(OwnedLabel { owner: Owner::Interface { .. }, label })
                | Action::DeleteLabel(OwnedLabel { owner: Owner::Interface { .. }, label }),
            ) => Some(label.as_str()),
            _ => None,
        };
        let scope = match known.kind {
            // Earlier rows of such a sheet about the same label, entry or code are no later ones; and a record may have many.
            Kind::Upkeep(Upkeep::Labels | Upkeep::Metadata | Upkeep::Licences) => {
                LaterScope::ByRecordRows { label }
            }
            _ => LaterScope::All,
        };
        for change in self.writer.changed_later(known.job, record, scope)? {
            let undone = || own.iter().filter(|step| opposes(&change.action, step));
            let is_of_more = undone().any(|step| *step != Action::AssignToSite);
            // Assigned to the same site, a device is where it was.
            if is_of_more || undone().next().is_some() && self.site(change.job)? != self.site(known.job)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The links and the steps of a job.
    pub(super) fn content_made(&self, job: JobId) -> Result<(Vec<Link>, Vec<Action>)> {
        Ok((self.writer.links_of(job)?, self.writer.steps_of(job)?))
    }

    /// The same, of a job that makes a record, as they are now, as far as the job or the row says anything of it: of the rest,
    /// other rows may change what they like.
    pub(super) fn content_now(
        &self,
        (job, record): (JobId, Option<RemoteId>),
        (made_links, made_steps): &(Vec<Link>, Vec<Action>),
        row: &NewJob,
    ) -> Result<(Vec<Link>, Vec<Action>)> {
        let (mut links, mut steps) = (made_links.clone(), made_steps.clone());
        let Some(wanted) = row.record() else { return Ok((links, steps)) };
        for step in &mut steps {
            if let Action::Create(created) = step {
                *created = self.updated(job, created, wanted)?;
            }
        }
        let record = record.filter(|_| self.has_upkeep);
        let later = record.map_or(Ok(Vec::new()), |record| {
            self.writer.changed_later(job, record, LaterScope::AfterCreation)
        })?;
        let sent = if later.is_empty() { BTreeMap::new() } else { self.writer.steps_sent(job)? };
        for LaterChange { job: other, action, at } in later {
            // A step of the job itself may have been sent after that.
            let is_over = |n: u32| sent.get(&n).is_some_and(|sent| *sent > at);
            let mut opposed = made_steps.iter().zip(0..).filter(|(step, _)| opposes(&action, step));
            if opposed.any(|(_, n)| is_over(n)) {
                continue;
            }
            match action {
                Action::AssignToSite if site_of(&links).or(site_of(&row.links)).is_some() => {
                    let site = self.site(other)?;
                    links.retain(|link| link.role != Role::Site);
                    links.extend(site.map(|target| Link { role: Role::Site, target }));
                }
                Action::AssignToSite => {}
                action => carry_out(&action, &mut steps, &row.steps),
            }
        }
        Ok((links, steps))
    }

    /// A record that a job makes as updates have left it, but for fields of which neither the job nor this row says anything.
    fn updated(&self, job: JobId, made: &Record, row: &Record) -> Result<Record> {
        let mut changed = self.writer.updated_fields(job)?;
        if !changed.is_empty() {
            let (created, wanted) = (fields_of(made), fields_of(row));
            changed.retain(|field, _| created.contains_key(field) || wanted.contains_key(field));
        }
        Ok(made.with_fields(&changed))
    }

    /// The record that an upkeep job is about, as far as it exists.
    fn record_changed_by(&self, known: &KnownJob, steps: &[Action]) -> Result<Option<RemoteId>> {
        let role = steps.first().map(|first| Role::owner(first.about(known.kind)));
        match known.links.iter().find(|link| Some(link.role) == role).map(|link| link.target) {
            Some(Target::Remote(id)) => Ok(Some(id)),
            Some(Target::Job(job)) => self.writer.remote_id_of(job),
            None => Ok(None),
        }
    }

    /// The site that a job names.
    fn site(&self, job: JobId) -> Result<Option<Target>> {
        Ok(site_of(&self.writer.links_of(job)?))
    }
}

pub(super) fn site_of(links: &[Link]) -> Option<Target> {
    target_of(links, Role::Site)
}

/// Carries out on the steps of a job what another one did to the same record, as far as they or `row` say anything of that.
fn carry_out(action: &Action, steps: &mut Vec<Action>, row: &[Action]) {
    let is = |own: &Offer, offer: &Offer| own.is_same(offer) == Some(true);
    match action {
        Action::PutMetadataEntry(OwnedEntry { key, value, .. })
        | Action::DeleteMetadataEntry(OwnedEntry { key, value, .. }) => {
            set_entry(key, value.as_deref(), steps, row);
        }
        Action::PutMetadata(entries) => {
            for Metadata { key, value } in entries {
                set_entry(key, Some(value), steps, row);
            }
        }
        Action::PutLabel(OwnedLabel { owner: Owner::Site | Owner::Device, label }) => {
            add_label(label, steps, row);
        }
        Action::PutLabels(labels) => labels.iter().for_each(|label| add_label(label, steps, row)),
        Action::AddLicence(_) => {
            if row.contains(action) {
                steps.push(action.clone());
            }
        }
        Action::SubscribeTemplate(offer) => {
            if row.iter().any(|step| matches!(step, Action::SubscribeTemplate(own) if is(own, offer))) {
                steps.push(action.clone());
            }
        }
        Action::JoinVpnCloud(offer) => {
            if row.iter().any(|step| matches!(step, Action::JoinVpnCloud(own) if is(own, offer))) {
                steps.push(action.clone());
            }
        }
        Action::UnsubscribeTemplate(left) => {
            steps.retain(|step| !matches!(step, Action::SubscribeTemplate(own) if is(own, left)));
        }
        Action::LeaveVpnCloud(left) => {
            steps.retain(|step| !matches!(step, Action::JoinVpnCloud(own) if is(own, left)));
        }
        Action::Keep(_)
        | Action::Create(_)
        | Action::Update(_)
        | Action::PutLabel(_)
        | Action::DeleteLabel(_)
        | Action::AssignToSite
        | Action::ConfigureVpn(_) => {}
    }
}

/// Gives a metadata entry the value that it has now, or none.
fn set_entry(key: &str, value: Option<&str>, steps: &mut Vec<Action>, row: &[Action]) {
    let has_key = |step: &Action| matches!(step, Action::PutMetadata(entries) if entries.iter().any(|entry| entry.key == key));
    if !steps.iter().chain(row).any(has_key) {
        return;
    }
    for step in steps.iter_mut() {
        if let Action::PutMetadata(entries) = step {
            entries.retain(|entry| entry.key != key);
        }
    }
    if let Some(value) = value {
        steps.push(Action::PutMetadata(vec![Metadata { key: key.to_owned(), value: value.to_owned() }]));
    }
}

/// Adds a label that the row has as well.
fn add_label(label: &str, steps: &mut Vec<Action>, row: &[Action]) {
    let has =
        |step: &Action| matches!(step, Action::PutLabels(labels) if labels.iter().any(|own| own == label));
    if row.iter().any(has) {
        steps.push(Action::PutLabels(vec![label.to_owned()]));
    }
}
