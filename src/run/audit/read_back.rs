//! The look-ups of the audit, and what follows from each for one row: seen, there twice, not seen and looked for again, a
//! site left behind.
//!
//! Which rows are looked at, and what is noted about them, is in [`super`]; what a list of records means in
//! [`super::findings`].

use super::{Asker, Audit, AuditContext, Inquiry, RunAction, Subject, findings};
use crate::journal::{Candidate, ReadBy};
use crate::model::event::Event;
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::{Record, Role};
use crate::run::decide::reconcile::{ABSENT_READS, FIRST_WAIT};
use crate::run::evidence::matching::RecordMatch;
use crate::run::evidence::record_list::RecordList;
use crate::run::evidence::{classify, lookups, matching};
use crate::service::{Found, Lookup, may_be_a_page};

impl Audit {
    /// The first look. Where the service keeps the key unique there is no second record to be seen, and the record with
    /// that key is asked for by its id: the operation that finds it by the key has those rows to look up that are not sent.
    pub(super) fn ask_first(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        row.by_id_first = matching::key_is_unique(&row.work) && row.by_id(cx).is_some();
        if row.by_id_first { self.ask_by_id(cx, job) } else { self.ask_by_key(cx, job) }
    }

    /// A look by the key, which would show a second record as well.
    pub(super) fn ask_by_key(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get(&job) else { return };
        if !row.work.kind.is_record() {
            return self.ask_for_change(cx, job);
        }
        if row.work.remote_id.is_none() {
            return self.ask_for_sites(cx, job);
        }
        match lookups::by_key(&row.work, &|operation| cx.gates.usable(operation)) {
            Some(Lookup::ChildCompanies(parent)) => {
                let waiting = self.child_lists.entry(parent).or_default();
                waiting.push(job);
                if waiting.len() == 1 {
                    self.ask(cx, Lookup::ChildCompanies(parent), Subject::Children(parent));
                }
            }
            Some(lookup) => self.ask(cx, lookup, Subject::Key(job)),
            None => self.ask_by_id(cx, job),
        }
    }

    /// The record itself, where a look by key did not show it or none is available.
    pub(super) fn ask_by_id(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get(&job) else { return };
        match (row.by_id(cx), row.key_operation) {
            (Some((id, lookup)), _) => self.ask(cx, lookup, Subject::Record(job, id)),
            (None, Some(operation)) => self.missed(cx, job, operation),
            (None, None) => self.conclude(cx, job),
        }
    }

    /// The record was asked for by its id.
    pub(super) fn read_own(
        &mut self,
        cx: &mut AuditContext<'_>,
        job: JobId,
        operation: Operation,
        found: &[Found],
    ) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        let own = found.iter().find(|found| found.id.is_some() && found.id == row.work.remote_id);
        let company = lookups::link(&row.work, Role::Company);
        if let (Some(theirs), Some(ours)) = (own.and_then(|own| own.company), company)
            && theirs != ours
        {
            row.by = ReadBy::Id;
            row.findings.of_company = Some(theirs);
            return self.ask_for_sites(cx, job);
        }
        let sent = matching::sent(&row.work);
        let related = own.map(|own| matching::relate(&row.work, &sent, own));
        // Somebody may have changed its other values since.
        let has_key = matches!(related, Some(RecordMatch::Agrees | RecordMatch::Differs(_)));
        if std::mem::take(&mut row.by_id_first) && !has_key {
            return self.ask_by_key(cx, job);
        }
        let there = own.is_some();
        // A list that would show a second record, and does not show the row's own yet, is looked at again.
        let unique = matching::key_is_unique(&row.work);
        let tells_doubles = !unique && row.key_operation.is_some() && row.tells_doubles();
        row.is_unlisted = has_key && tells_doubles;
        if row.is_unlisted && self.is_awaited(cx, job) {
            return;
        }
        let Some(row) = self.rows.get_mut(&job) else { return };
        if let Some(name) = own.and_then(|own| matching::other_identity(&sent, &own.raw)).filter(|_| !has_key)
            && let Some(record) = row.work.remote_id
        {
            // Another row may have renamed it; else the id is another record's.
            row.other_name = Some(name.to_owned());
            row.by = ReadBy::Id;
            cx.controls.prove(operation);
            return self.actions.push(RunAction::AskJournal(Inquiry::ChangedLater { job, record }));
        }
        if row.by == ReadBy::Nothing || there {
            // A look by key that does not show the record would not show a second one either. Where the service
            // keeps the key unique there is none.
            let unique = matching::key_is_unique(&row.work);
            row.by = if unique { ReadBy::Key } else { ReadBy::Id };
        }
        if there {
            cx.controls.prove(operation);
            self.seen(cx, job);
        } else {
            self.missed(cx, job, operation);
        }
    }

    /// The record could not be asked for by its id.
    pub(super) fn unanswered_by_id(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        match std::mem::take(&mut row.by_id_first) {
            true => self.ask_by_key(cx, job),
            false => self.not_verified(cx, job),
        }
    }

    /// The children of a company, shared out among the rows below it.
    pub(super) fn read_children(
        &mut self,
        cx: &mut AuditContext<'_>,
        parent: RemoteId,
        operation: Operation,
        found: Vec<Found>,
    ) {
        let length = found.len();
        let children = RecordList::of(found);
        for job in self.child_lists.remove(&parent).unwrap_or_default() {
            let Some(row) = self.rows.get(&job) else { continue };
            // A second one would have the name with which this one was sent; renamed meanwhile, the row's own is there anyway.
            let sent = row.work.record().map_or(row.work.name.as_str(), Record::name);
            let mut alike = children.named(sent).to_vec();
            let own = row.work.remote_id.filter(|id| children.has(*id) && !findings::shows(*id, &alike));
            if let Some(id) = own {
                alike.push(Found { id: Some(id), ..Found::default() });
            }
            self.read_key(cx, job, operation, &alike, length);
        }
    }

    /// The records with the key of a row, from a list of this length.
    pub(super) fn read_key(
        &mut self,
        cx: &mut AuditContext<'_>,
        job: JobId,
        operation: Operation,
        found: &[Found],
        length: usize,
    ) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        let Some(ours) = row.work.remote_id else { return };
        row.shown = findings::shows(ours, found);
        row.key_operation = Some(operation);
        row.page = may_be_a_page(length);
        let unique = matching::key_is_unique(&row.work);
        row.by = if unique || row.tells_doubles() { ReadBy::Key } else { ReadBy::Id };
        row.findings.twins.clear();
        row.suspects = findings::twins(&row.work, ours, found);
        if row.shown {
            cx.controls.prove(operation);
        }
        if row.suspects.is_empty() {
            return self.go_on(cx, job);
        }
        let ids: Vec<RemoteId> = row.suspects.iter().map(|(id, _)| *id).collect();
        self.actions.push(RunAction::AskJournal(Inquiry::Twins { job, ids }));
    }

    pub(super) fn twins_owned(
        &mut self,
        cx: &mut AuditContext<'_>,
        job: JobId,
        owners: &[(RemoteId, JobId)],
    ) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        row.suspects.retain(|(id, _)| !owners.iter().any(|(owned, _)| owned == id));
        // Lists of companies show nothing but names; the other kinds show what there is to compare.
        if row.work.kind != Kind::Company || !cx.gates.usable(Operation::GetCompany) {
            let Some(row) = self.rows.get_mut(&job) else { return };
            let twins = std::mem::take(&mut row.suspects);
            row.findings.twins.extend(twins.into_iter().map(|(_, twin)| twin));
        }
        self.go_on(cx, job);
    }

    /// Compares the next equal company in full, else sees to the record itself.
    pub(super) fn go_on(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        if let Some((id, _)) = row.suspects.last() {
            let id = *id;
            return self.ask(cx, Lookup::Company(id), Subject::Record(job, id));
        }
        if row.shown { self.seen(cx, job) } else { self.ask_by_id(cx, job) }
    }

    /// The record is there. Where the list that was to show a second one may be a page, a narrower question is asked.
    pub(super) fn seen(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get(&job) else { return };
        let narrower = row.key_operation.filter(|_| row.page && row.findings.twins.is_empty());
        match narrower.and_then(|operation| lookups::narrower(&row.work, operation)) {
            Some(lookup) => self.ask(cx, lookup, Subject::Narrower(job)),
            None => self.ask_for_sites(cx, job),
        }
    }

    pub(super) fn read_narrower(&mut self, cx: &mut AuditContext<'_>, job: JobId, found: &[Found]) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        let Some(ours) = row.work.remote_id else { return };
        // It does not say below which parent a record is: good for showing that there is none.
        let alone = findings::shows(ours, found) && findings::twins(&row.work, ours, found).is_empty();
        if alone && row.work.baseline.is_some() && !may_be_a_page(found.len()) {
            row.by = ReadBy::Key;
        }
        self.ask_for_sites(cx, job);
    }

    pub(super) fn read_twin(&mut self, cx: &mut AuditContext<'_>, job: JobId, id: RemoteId, found: &[Found]) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        let sent = matching::sent(&row.work);
        let equal = found
            .iter()
            .any(|found| found.id == Some(id) && matching::differences(&sent, &found.raw).is_empty());
        if let Some((_, twin)) = row.suspects.pop()
            && equal
        {
            row.findings.twins.push(twin);
        }
        self.go_on(cx, job);
    }

    /// A look did not show the record. Believed only after the settle time, of more than one look, and of a look-up
    /// that finds what is known to exist.
    pub(super) fn missed(&mut self, cx: &mut AuditContext<'_>, job: JobId, operation: Operation) {
        if self.is_awaited(cx, job) {
            return;
        }
        let Some(row) = self.rows.get_mut(&job) else { return };
        let asked_by_id = row.work.kind.descriptor().by_id == Some(operation);
        if row.page && !asked_by_id {
            return self.not_verified(cx, job);
        }
        if cx.controls.is_proved(operation) {
            return self.vanished(cx, job);
        }
        self.ask_for_control(job, operation);
    }

    /// Whether what a look did not show is to be looked up again, as its settle time is not over.
    pub(super) fn is_awaited(&mut self, cx: &mut AuditContext<'_>, job: JobId) -> bool {
        let (now, settle) = (cx.now, self.settle);
        let Some(row) = self.rows.get_mut(&job) else { return false };
        row.absent += 1;
        let since = *row.first_missed.get_or_insert(now);
        if now >= since + settle && row.absent >= ABSENT_READS {
            return false;
        }
        let wait = FIRST_WAIT.saturating_mul(1 << (row.absent - 1).min(16));
        row.next_lookup_at = Some((now + wait).min((since + settle).max(now)));
        let what = match row.work.kind.is_record() {
            true if row.is_unlisted => "a list does not show a record yet that was made",
            true => "a record that was made is not seen now",
            false => "something that was changed is not seen as it was asked for",
        };
        if !std::mem::replace(&mut self.missing_reported, true) {
            let text = format!("{what}; it is looked up again for up to {} s", settle.as_secs());
            self.actions.push(RunAction::Tell(Event::Note { text }));
        }
        true
    }

    /// Asks for a record that is known to exist, to prove by it the look-up that did not show something of a row.
    pub(super) fn ask_for_control(&mut self, job: JobId, operation: Operation) {
        let Some(row) = self.rows.get(&job) else { return };
        let (asker, kind) = (Asker::Audit, row.work.kind);
        self.actions.push(RunAction::AskJournal(Inquiry::Controls { asker, job, operation, kind }));
    }

    pub(super) fn vanished(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get(&job) else { return };
        if !row.work.kind.is_record() {
            return self.vanished_change(cx, job);
        }
        let Some(record) = row.work.remote_id else { return };
        let by_id = Lookup::record(row.work.kind, record);
        if by_id.is_some_and(|lookup| cx.gates.usable(lookup.operation())) {
            return self.is_missing(cx, job);
        }
        // A record that another row has renamed is not found by the name that it was created with.
        self.actions.push(RunAction::AskJournal(Inquiry::ChangedLater { job, record }));
    }

    /// The record of a row is not there.
    pub(super) fn is_missing(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        row.findings.vanished = true;
        self.ask_for_sites(cx, job);
    }

    /// Nothing that can be relied on was learned about the record itself.
    pub(super) fn not_verified(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        if !row.work.kind.is_record() {
            return self.end_change(cx, job, false);
        }
        match (row.shown, row.findings.twins.is_empty()) {
            (true, _) => {}
            (false, true) => row.by = ReadBy::Nothing,
            (false, false) => row.findings.is_unseen = true,
        }
        self.conclude(cx, job);
    }

    /// A device that was in doubt, or is there twice, may have left a site behind.
    pub(super) fn ask_for_sites(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get(&job) else { return };
        let more_than_one_try = row.work.doubted || !row.findings.twins.is_empty();
        match lookups::of_custom_site(&row.work).filter(|_| more_than_one_try) {
            Some(lookup) if cx.gates.usable(lookup.operation()) => {
                self.ask(cx, lookup, Subject::CustomSites(job))
            }
            Some(_) | None => self.conclude(cx, job),
        }
    }

    pub(super) fn read_sites(&mut self, cx: &mut AuditContext<'_>, job: JobId, found: &[Found]) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        let Some(device) = classify::device_with_site(&row.work) else {
            return self.conclude(cx, job);
        };
        let company = lookups::link(&row.work, Role::Company);
        row.findings.site = device.custom_site_name.as_deref().map(str::to_owned);
        row.findings.sites = findings::sites(device, company, found);
        if row.findings.sites.is_empty() {
            return self.conclude(cx, job);
        }
        let ids: Vec<RemoteId> = row.findings.sites.iter().filter_map(|site| site.id).collect();
        let device = Box::new(device.clone());
        self.actions.push(RunAction::AskJournal(Inquiry::CustomSites { job, ids, company, device }));
    }

    pub(super) fn sites_owned(
        &mut self,
        cx: &mut AuditContext<'_>,
        job: JobId,
        owners: &[(RemoteId, JobId)],
        devices: u64,
    ) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        let owned = |site: &Candidate| owners.iter().any(|(owned, _)| site.id == Some(*owned));
        row.findings.sites.retain(|site| !owned(site));
        row.findings.expected_sites = devices;
        self.conclude(cx, job);
    }
}
