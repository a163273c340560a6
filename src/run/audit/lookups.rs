//! What follows from each look of the audit at one row: seen, there twice, not seen and looked for again, a site left
//! behind.
//!
//! Which rows are looked at, and what is noted about them, is in [`super`]; what a list of records means in
//! [`super::findings`].

use std::collections::{HashMap, HashSet};

use super::findings;
use super::{AuditQuestion, AuditReply};
use crate::journal::{Candidate, ReadBy, Work};
use crate::model::event::Event;
use crate::model::id::{JobId, RemoteId};
use crate::model::key;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::run::decide::reconcile::{ABSENT_READS, FIRST_WAIT};
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::{lookups, matching};
use crate::service::{Found, Lookup, may_be_a_page};

/// Made records among which one is chosen that a look-up must be able to find.
const WITNESSES: usize = 64;

impl Dispatcher {
    /// The first look: by the key, which would show a second record as well.
    pub(in crate::run) fn ask_by_key(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get(&job) else { return };
        if row.work.remote_id.is_none() {
            return self.ask_for_sites(job);
        }
        match lookups::by_key(&row.work, &|operation| self.gates.usable(operation)) {
            Some(Lookup::ChildCompanies(parent)) => {
                let waiting = self.audit.child_lists.entry(parent).or_default();
                waiting.push(job);
                if waiting.len() == 1 {
                    self.ask(Lookup::ChildCompanies(parent), AuditQuestion::Children(parent));
                }
            }
            Some(lookup) => self.ask(lookup, AuditQuestion::Key(job)),
            None => self.ask_by_id(job),
        }
    }

    /// The record itself, where a look by key did not show it or none is available.
    pub(in crate::run) fn ask_by_id(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get(&job) else { return };
        let Some(id) = row.work.remote_id else { return };
        let (lookup, by_key) = (Lookup::record(row.work.kind, id), row.key_operation);
        match by_key {
            _ if self.gates.usable(lookup.operation()) => self.ask(lookup, AuditQuestion::Id(job)),
            Some(operation) => self.missed(job, operation),
            None => self.conclude(job),
        }
    }

    /// The record was asked for by its id.
    pub(in crate::run) fn read_id(&mut self, job: JobId, operation: Operation, found: &[Found]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let there = row.work.remote_id.is_some_and(|id| findings::shows(id, found));
        if row.by == ReadBy::Nothing || there {
            // A look by key that does not show the record would not show a second one either. Where the service
            // keeps the key unique there is none.
            let unique = matching::key_is_unique(&row.work.record);
            row.by = if unique { ReadBy::Key } else { ReadBy::Id };
        }
        if there {
            self.proved.insert(operation);
            self.seen(job);
        } else {
            self.missed(job, operation);
        }
    }

    /// The children of a company, shared out among the rows below it.
    pub(in crate::run) fn read_children(
        &mut self,
        parent: RemoteId,
        operation: Operation,
        found: Vec<Found>,
    ) {
        let length = found.len();
        let mut by_name: HashMap<String, Vec<Found>> = HashMap::new();
        let ids: HashSet<RemoteId> = found.iter().filter_map(|child| child.id).collect();
        for child in found {
            let name = key::comparable(child.name.as_deref().unwrap_or_default());
            by_name.entry(name).or_default().push(child);
        }
        for job in self.audit.child_lists.remove(&parent).unwrap_or_default() {
            let Some(row) = self.audit.rows.get(&job) else { continue };
            let mut alike =
                by_name.get(&key::comparable(row.work.record.name())).cloned().unwrap_or_default();
            // Renamed meanwhile, it is there all the same.
            if let Some(id) =
                row.work.remote_id.filter(|id| ids.contains(id) && !findings::shows(*id, &alike))
            {
                alike.push(Found { id: Some(id), ..Found::default() });
            }
            self.read_key(job, operation, &alike, length);
        }
    }

    /// The records with the key of a row, from a list of this length.
    pub(in crate::run) fn read_key(
        &mut self,
        job: JobId,
        operation: Operation,
        found: &[Found],
        length: usize,
    ) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let Some(ours) = row.work.remote_id else { return };
        row.shown = findings::shows(ours, found);
        row.key_operation = Some(operation);
        row.page = may_be_a_page(length);
        // A page shows what is there, not that there is nothing besides; and where nobody looked before sending, a
        // second record may be an older one.
        let tells_doubles = !row.page && row.work.baseline.is_some();
        let unique = matching::key_is_unique(&row.work.record);
        row.by = if unique || tells_doubles { ReadBy::Key } else { ReadBy::Id };
        row.findings.twins.clear();
        row.suspects = findings::twins(&row.work, ours, found);
        if row.shown {
            self.proved.insert(operation);
        }
        if row.suspects.is_empty() {
            return self.go_on(job);
        }
        let ids: Vec<RemoteId> = row.suspects.iter().map(|(id, _)| *id).collect();
        self.ask_about_row(job, move |journal| Ok(AuditReply::Twins { job, owners: journal.owners(&ids)? }));
    }

    pub(in crate::run) fn twins_owned(&mut self, job: JobId, owners: &[(RemoteId, JobId)]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        row.suspects.retain(|(id, _)| !owners.iter().any(|(owned, _)| owned == id));
        // Lists of companies show nothing but names; the other kinds show what there is to compare.
        if row.work.kind != Kind::Company || !self.gates.usable(Operation::GetCompany) {
            let Some(row) = self.audit.rows.get_mut(&job) else { return };
            let twins = std::mem::take(&mut row.suspects);
            row.findings.twins.extend(twins.into_iter().map(|(_, twin)| twin));
        }
        self.go_on(job);
    }

    /// Compares the next equal company in full, else sees to the record itself.
    pub(in crate::run) fn go_on(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        if let Some((id, _)) = row.suspects.last() {
            let id = *id;
            return self.ask(Lookup::Company(id), AuditQuestion::Twin(job, id));
        }
        if row.shown { self.seen(job) } else { self.ask_by_id(job) }
    }

    /// The record is there. Where the list that was to show a second one may be a page, a narrower question is asked.
    pub(in crate::run) fn seen(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get(&job) else { return };
        let narrower = row.key_operation.filter(|_| row.page && row.findings.twins.is_empty());
        match narrower.and_then(|operation| lookups::narrower(&row.work, operation)) {
            Some(lookup) => self.ask(lookup, AuditQuestion::Narrow(job)),
            None => self.ask_for_sites(job),
        }
    }

    pub(in crate::run) fn read_narrow(&mut self, job: JobId, found: &[Found]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let Some(ours) = row.work.remote_id else { return };
        // It does not say below which parent a record is: good for showing that there is none.
        let alone = findings::shows(ours, found) && findings::twins(&row.work, ours, found).is_empty();
        if alone && row.work.baseline.is_some() && !may_be_a_page(found.len()) {
            row.by = ReadBy::Key;
        }
        self.ask_for_sites(job);
    }

    pub(in crate::run) fn read_twin(&mut self, job: JobId, id: RemoteId, found: &[Found]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let sent = matching::sent(&row.work);
        let equal = found
            .iter()
            .any(|found| found.id == Some(id) && matching::differences(&sent, &found.raw).is_empty());
        if let Some((_, twin)) = row.suspects.pop()
            && equal
        {
            row.findings.twins.push(twin);
        }
        self.go_on(job);
    }

    /// A look did not show the record. Believed only after the settle time, of more than one look, and of a look-up
    /// that finds what is known to exist.
    pub(in crate::run) fn missed(&mut self, job: JobId, operation: Operation) {
        let (now, settle) = (self.clock.elapsed(), self.options.policy.settle);
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        row.absent += 1;
        let since = *row.first_missed.get_or_insert(now);
        if now < since + settle || row.absent < ABSENT_READS {
            let wait = FIRST_WAIT.saturating_mul(1 << (row.absent - 1).min(16));
            row.looks_again = Some((now + wait).min((since + settle).max(now)));
            if !std::mem::replace(&mut self.audit.told_missing, true) {
                let seconds = settle.as_secs();
                let text = format!(
                    "a record that was made is not seen now; it is looked up again for up to {seconds} s"
                );
                self.tell(Event::Note { text });
            }
            return;
        }
        let asked_by_id = operation == Lookup::record(row.work.kind, RemoteId::nil()).operation();
        if row.page && !asked_by_id {
            return self.not_verified(job);
        }
        if self.proved.contains(&operation) {
            return self.vanished(job);
        }
        let kind = row.work.kind;
        self.ask_about_row(job, move |journal| {
            Ok(AuditReply::Controls { job, operation, works: journal.witness(kind, WITNESSES)? })
        });
    }

    /// Looks up, by the same operation, a record that is known to exist.
    pub(in crate::run) fn run_audit_control(&mut self, job: JobId, operation: Operation, works: &[Work]) {
        if self.proved.contains(&operation) {
            return self.vanished(job);
        }
        let missing = |job: JobId| self.audit.rows.get(&job).is_some_and(|row| row.first_missed.is_some());
        let run_audit_control = works.iter().filter(|witness| !missing(witness.job)).find_map(|witness| {
            let id = witness.remote_id?;
            let by_id =
                Some(Lookup::record(witness.kind, id)).filter(|lookup| lookup.operation() == operation);
            Some((by_id.or_else(|| lookups::by_operation(witness, operation))?, id))
        });
        match run_audit_control {
            Some((lookup, id)) if self.gates.usable(operation) => {
                self.ask(lookup, AuditQuestion::Control(job, id))
            }
            Some(_) | None => self.not_verified(job),
        }
    }

    pub(in crate::run) fn vanished(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        row.findings.vanished = true;
        self.ask_for_sites(job);
    }

    /// Nothing that can be relied on was learned about the record itself.
    pub(in crate::run) fn not_verified(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        if !row.shown {
            row.by = ReadBy::Nothing;
        }
        self.conclude(job);
    }

    /// A device that was in doubt, or is there twice, may have left a site behind.
    pub(in crate::run) fn ask_for_sites(&mut self, job: JobId) {
        let Some(row) = self.audit.rows.get(&job) else { return };
        let more_than_one_try = row.work.doubted || !row.findings.twins.is_empty();
        let name =
            findings::brings_a_site(&row.work).filter(|_| more_than_one_try).and_then(findings::site_name);
        let company = lookups::link(&row.work, Role::Company);
        match name.map(|name| Lookup::SitesByName { name: name.to_owned(), company }) {
            Some(lookup) if self.gates.usable(lookup.operation()) => {
                self.ask(lookup, AuditQuestion::Sites(job))
            }
            Some(_) | None => self.conclude(job),
        }
    }

    pub(in crate::run) fn read_sites(&mut self, job: JobId, found: &[Found]) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let Some(device) = findings::brings_a_site(&row.work) else { return self.conclude(job) };
        let company = lookups::link(&row.work, Role::Company);
        row.findings.sites = findings::sites(device, company, found);
        if row.findings.sites.is_empty() {
            return self.conclude(job);
        }
        let ids: Vec<RemoteId> = row.findings.sites.iter().filter_map(|site| site.id).collect();
        let device = device.clone();
        self.ask_about_row(job, move |journal| {
            let devices = journal.devices_with_site(company, &device)?;
            Ok(AuditReply::Sites { job, owners: journal.owners(&ids)?, devices })
        });
    }

    pub(in crate::run) fn sites_owned(&mut self, job: JobId, owners: &[(RemoteId, JobId)], devices: u64) {
        let Some(row) = self.audit.rows.get_mut(&job) else { return };
        let owned = |site: &Candidate| owners.iter().any(|(owned, _)| site.id == Some(*owned));
        row.findings.sites.retain(|site| !owned(site));
        row.findings.expected_sites = devices;
        self.conclude(job);
    }
}
