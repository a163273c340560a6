//! Reading back upkeep rows: whether what each of them changed is so still, step by step. What a record has is listed once for
//! all rows about it.
//!
//! ```text
//! a step:  the list that shows the id of what it names, if it names it otherwise ── the list that shows it ── as asked ── next
//!             └ none, or not conclusive ── cannot be verified          └ not so, until the settle time: a list of that
//!                                                                        operation has shown what other rows put
//!                                                                         └ and no later request changed the same ── noted
//! ```
//!
//! What a list shows of a change is in [`crate::service::seen_change`].

use std::sync::Arc;

use super::{Audit, AuditContext, Inquiry, RunAction};
use crate::journal::ReadBy;
use crate::model::action::{Action, Turn, opposes::opposes};
use crate::model::id::JobId;
use crate::run::evidence::lookups;
use crate::run::evidence::question::{Asker, LookupAnswer, Question, Subject};
use crate::run::evidence::record_list::RecordList;
use crate::run::evidence::shared_lists::{ListNeed, ListUser};
use crate::service::{Lookup, NameSearch, SeenChange, find_name, seen_change};

use super::findings;

impl Audit {
    /// Asks for the next list that the step of an upkeep row is compared with.
    pub(super) fn ask_for_change(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get(&job) else { return };
        let names = lookups::of_name(&row.work);
        let lookup = match names.is_empty() {
            true => lookups::of_step(&row.work, &|operation| cx.gates.usable(operation)),
            false => names.into_iter().find(|lookup| cx.gates.usable(lookup.operation())),
        };
        match lookup {
            Some(lookup) => self.compare_change(cx, job, lookup),
            None => self.end_change(cx, job, false),
        }
    }

    fn compare_change(&mut self, cx: &mut AuditContext<'_>, job: JobId, lookup: Lookup) {
        let Some(row) = self.rows.get(&job) else { return };
        match self.lists.need(&lookup, ListUser::of(&row.work, Turn::Put), cx.now) {
            ListNeed::Met(list) => self.read_change(cx, job, &lookup, list.as_deref()),
            ListNeed::Wait => {}
            ListNeed::Ask => {
                let question = Question { asker: Asker::Audit, subject: Subject::SharedList };
                self.actions.push(RunAction::LookUp(lookup, question));
            }
        }
    }

    /// A list has its answer, for every row that waits for it.
    pub(super) fn on_change_list(
        &mut self,
        cx: &mut AuditContext<'_>,
        lookup: &Lookup,
        answer: LookupAnswer,
    ) {
        let list = match answer {
            LookupAnswer::Failed(_) => return self.failed(cx, lookup, Subject::SharedList),
            LookupAnswer::Records(found) => Some(Arc::new(RecordList::of(found))),
            LookupAnswer::Inconclusive(_) | LookupAnswer::Unavailable => None,
        };
        for job in self.lists.on_list(lookup, list.clone(), cx.now) {
            self.read_change(cx, job, lookup, list.as_deref());
        }
    }

    fn read_change(
        &mut self,
        cx: &mut AuditContext<'_>,
        job: JobId,
        lookup: &Lookup,
        list: Option<&RecordList>,
    ) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        let Some(list) = list else { return self.end_change(cx, job, false) };
        let names = lookups::of_name(&row.work);
        if let Some(at) = names.iter().position(|name| name == lookup) {
            let found = find_name(&row.work.action, list.all());
            if let NameSearch::Found(action) = found {
                row.work.action = action;
                return self.ask_for_change(cx, job);
            }
            // The first list is of what the record has.
            let is_gone = at == 0 && list.is_whole() && lookups::is_gone_with_its_name(&row.work.action);
            let next = names[at + 1..].iter().find(|lookup| cx.gates.usable(lookup.operation()));
            return match (found, next) {
                (NameSearch::Missing(_), _) if is_gone => self.end_change(cx, job, true),
                (NameSearch::Missing(_), Some(next)) => self.compare_change(cx, job, next.clone()),
                (NameSearch::Missing(_) | NameSearch::Several(..) | NameSearch::Found(_), _) => {
                    self.end_change(cx, job, false);
                }
            };
        }
        let owner = row.work.owner().map(|(_, id)| id);
        match seen_change(&row.work.action, owner, list.all()) {
            SeenChange::AsAsked => {
                // Only what was put shows that the list has what is there.
                if !row.work.action.removes() {
                    cx.controls.prove(lookup.operation());
                }
                self.end_change(cx, job, true);
            }
            SeenChange::Unclear => self.end_change(cx, job, false),
            SeenChange::Otherwise(words) => self.missed_change(cx, job, lookup, Some(words)),
            SeenChange::Absent => self.missed_change(cx, job, lookup, None),
        }
    }

    /// A list shows a change otherwise, or not at all. Believed as for records: after the settle time, of more than one look,
    /// and, where nothing is shown, of a list that shows what is there.
    fn missed_change(
        &mut self,
        cx: &mut AuditContext<'_>,
        job: JobId,
        lookup: &Lookup,
        seen: Option<String>,
    ) {
        // It is asked for again, once for all rows that miss something.
        self.lists.on_missed(lookup, job);
        let Some(row) = self.rows.get_mut(&job) else { return };
        let (operation, is_shown) = (lookup.operation(), seen.is_some());
        row.seen = seen;
        if row.first_missed.is_none() {
            // Not waited for where a later request changed the same.
            return self.vanished_change(cx, job);
        }
        if self.is_awaited(cx, job) {
            return;
        }
        if is_shown || cx.controls.is_proved(operation) {
            return self.vanished_change(cx, job);
        }
        self.ask_for_control(job, operation);
    }

    /// It is not so; unless a later request changed the same, it is waited for, and then it is not so any more.
    pub(super) fn vanished_change(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.get(&job) else { return };
        match row.work.owner() {
            Some((_, record)) => {
                self.actions.push(RunAction::AskJournal(Inquiry::ChangedLater { job, record }));
            }
            None => self.end_change(cx, job, false),
        }
    }

    /// What was changed later of the record of a row that is not as asked.
    pub(super) fn on_changed_later(&mut self, cx: &mut AuditContext<'_>, job: JobId, later: &[Action]) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        if let Some(name) = row.other_name.take() {
            if later.iter().any(renames) {
                return self.seen(cx, job);
            }
            // The row's own record may not be listed yet.
            row.is_unlisted = row.findings.twins.is_empty();
            if row.is_unlisted && self.is_awaited(cx, job) {
                return;
            }
            let Some(row) = self.rows.get_mut(&job) else { return };
            row.findings.of_another = Some(name);
            return self.seen(cx, job);
        }
        if row.work.kind.is_record() {
            return match later.iter().any(renames) {
                true => self.not_verified(cx, job),
                false => self.is_missing(cx, job),
            };
        }
        if later.iter().any(|later| opposes(later, &row.work.action)) {
            return self.end_change(cx, job, false);
        }
        if row.first_missed.is_none() && self.is_awaited(cx, job) {
            return;
        }
        let Some(row) = self.rows.get_mut(&job) else { return };
        let words = findings::reverted(&row.work.action, row.seen.as_deref());
        row.findings.reverted.push(words);
        self.end_change(cx, job, true);
    }

    /// A step was read back, or cannot be: goes on with the next one.
    pub(super) fn end_change(&mut self, cx: &mut AuditContext<'_>, job: JobId, is_read: bool) {
        let Some(row) = self.rows.get_mut(&job) else { return };
        row.is_unclear |= !is_read;
        (row.absent, row.first_missed, row.next_lookup_at, row.seen) = (0, None, None, None);
        if let Some(next) = row.steps.pop() {
            row.work = next;
            return self.ask_for_change(cx, job);
        }
        row.by = if row.is_unclear { ReadBy::Nothing } else { ReadBy::Key };
        self.conclude(cx, job);
    }
}

/// Whether an action changes what a record is looked up by.
fn renames(action: &Action) -> bool {
    match action {
        Action::Update(update) => {
            ["name", "reference"].iter().any(|field| update.fields.contains_key(*field))
        }
        Action::Create(_)
        | Action::Keep(_)
        | Action::PutLabels(_)
        | Action::PutMetadata(_)
        | Action::AddLicence(_)
        | Action::SubscribeTemplate(_)
        | Action::UnsubscribeTemplate(_)
        | Action::JoinVpnCloud(_)
        | Action::LeaveVpnCloud(_)
        | Action::PutLabel(_)
        | Action::DeleteLabel(_)
        | Action::PutMetadataEntry(_)
        | Action::DeleteMetadataEntry(_)
        | Action::AssignToSite
        | Action::ConfigureVpn(_) => false,
    }
}
