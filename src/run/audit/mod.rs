//! Reading back: before a run ends, what it made is looked up again, most of it while other rows are still created. A
//! record may have vanished, a middlebox may have sent a creation twice, a device that failed may have left its site behind.
//! Found and told, never repaired.
//!
//! ```text
//! a row:   by its id, where the service keeps the key unique ── shows it with that key ───────┐
//!             └ else by its key (companies: one list for all below a parent) ── shows it ─────┤
//!             └ does not ── by its id ── shows it ───────────────────────────────────────────┤
//!                              └ does not, until the settle time, and a control is found ──┐ │
//!          a device in doubt that brings a site along: the sites of that name ── noted ────┴─┘
//! ```
//!
//! What follows from a look-up is in `read_back`, for what upkeep rows changed in `changes`. Look-ups pass the gates like any
//! other; what cannot be asked now stays due for the next run.

mod changes;
mod early;
mod findings;
mod read_back;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

use self::early::EarlyLane;
use self::findings::RowFindings;
use super::evidence::question::{Asker, LookupAnswer, Question, Subject};
use super::evidence::shared_lists::SharedLists;
use super::evidence::{ControlResult, LookupControls};
use super::gates::Gates;
use super::journal_client::AuditReply;
use super::run_action::{Inquiry, RunAction};
use crate::journal::{
    AuditFigures, AuditScope, AuditSubject, Candidate, ReadBy, RunId, Unaudited, Work, Write,
};
use crate::model::amount::{count, counted};
use crate::model::event::Event;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::service::Lookup;

/// Rows taken from the journal at once.
const PAGE: usize = 1024;

/// What the audit sees of the run.
pub(super) struct AuditContext<'run> {
    pub(super) gates: &'run Gates,
    pub(super) controls: &'run mut LookupControls,
    /// By [`crate::clock::Clock::elapsed`].
    pub(super) now: Duration,
    pub(super) wall: Moment,
}

/// A row that is being read back.
struct AuditedRow {
    work: Work,
    by: ReadBy,
    /// Equal records whose owners are asked for, or that are to be compared in full.
    suspects: Vec<(RemoteId, Candidate)>,
    /// Whether its id is asked for before its key, and has not been answered.
    by_id_first: bool,
    /// Whether the look by key showed the record.
    shown: bool,
    /// The operation that was asked by key.
    key_operation: Option<Operation>,
    /// Whether its list may be one page of a longer one.
    page: bool,
    /// Whether its list does not show the record yet, which is there by its id.
    is_unlisted: bool,
    /// What the record with its id is known by, where that is not the row's.
    other_name: Option<String>,
    absent: u32,
    first_missed: Option<Duration>,
    next_lookup_at: Option<Duration>,
    /// Of an upkeep row, the steps after the one at hand, the last first.
    steps: Vec<Work>,
    /// Whether a step of it cannot be verified.
    is_unclear: bool,
    /// What the service shows otherwise than the step at hand.
    seen: Option<String>,
    findings: RowFindings,
}

impl AuditedRow {
    fn new(work: Work) -> Self {
        Self {
            work,
            by: ReadBy::Nothing,
            suspects: Vec::new(),
            by_id_first: false,
            shown: false,
            key_operation: None,
            page: false,
            is_unlisted: false,
            other_name: None,
            absent: 0,
            first_missed: None,
            next_lookup_at: None,
            steps: Vec::new(),
            is_unclear: false,
            seen: None,
            findings: RowFindings::default(),
        }
    }

    /// The look-up of its record by the id, where that can be asked.
    fn by_id(&self, cx: &AuditContext<'_>) -> Option<(RemoteId, Lookup)> {
        let id = self.work.remote_id?;
        let lookup = Lookup::record(self.work.kind, id)?;
        cx.gates.usable(lookup.operation()).then_some((id, lookup))
    }

    /// Whether the list that was asked by key would show a second record. A page shows what is there, not that there is nothing
    /// besides; and where nobody looked before sending, a second record may be an older one.
    fn tells_doubles(&self) -> bool {
        !self.page && self.work.baseline.is_some()
    }

    fn subject(&self) -> AuditSubject {
        AuditSubject::of(self.work.kind, self.work.remote_id.is_some())
    }
}

/// How far the journal's rows that are due have been asked for.
#[derive(Debug, Clone, Copy)]
enum Pages {
    /// There may be a next page.
    Unread,
    /// It has been asked for.
    Asked,
    /// There is none.
    Read,
}

/// The audit of a run.
pub(super) struct Audit {
    run: RunId,
    /// Which records are read back; `None` for none.
    scope: Option<AuditScope>,
    /// How long a record that was not seen is looked up again.
    settle: Duration,
    pages: Pages,
    cursor: Option<JobId>,
    /// Whether the journal has given a row since it was asked from the beginning.
    fresh: bool,
    rows: HashMap<JobId, AuditedRow>,
    /// Rows that wait for the list of a company's children.
    child_lists: HashMap<RemoteId, Vec<JobId>>,
    /// What records have that upkeep rows changed.
    lists: SharedLists,
    /// Whether everything else is done.
    is_at_end: bool,
    /// Whether records are taken up before that: until a look-up fails.
    takes_early: bool,
    /// Rows whose records were made since they were last taken up, by the look-up that reads them back.
    made: BTreeMap<EarlyLane, VecDeque<JobId>>,
    made_asked: bool,
    /// When they are taken up next.
    next_early: Duration,
    /// Rows that were done with while the journal was asked for rows: its answer may still give them.
    done_meanwhile: HashSet<JobId>,
    /// Rows that could not be asked about in this run.
    left: HashSet<JobId>,
    counted: bool,
    /// How many rows there were to read back, and how many of them are done with.
    progress: (u64, u64),
    /// How many of them were when the journal was asked for a page.
    done_when_asked: u64,
    missing_reported: bool,
    figures: AuditFigures,
    /// What the dispatcher is to do.
    actions: Vec<RunAction>,
}

impl Audit {
    /// Nothing is read back yet.
    pub(super) fn new(run: RunId, scope: Option<AuditScope>, settle: Duration) -> Self {
        Self {
            run,
            scope,
            settle,
            pages: Pages::Unread,
            cursor: None,
            fresh: false,
            rows: HashMap::new(),
            child_lists: HashMap::new(),
            lists: SharedLists::default(),
            is_at_end: false,
            takes_early: true,
            made: BTreeMap::new(),
            made_asked: false,
            next_early: Duration::ZERO,
            done_meanwhile: HashSet::new(),
            left: HashSet::new(),
            counted: false,
            progress: (0, 0),
            done_when_asked: 0,
            missing_reported: false,
            figures: AuditFigures::default(),
            actions: Vec::new(),
        }
    }

    /// What is to be done now, in this order.
    pub(super) fn take_actions(&mut self) -> Vec<RunAction> {
        std::mem::take(&mut self.actions)
    }

    /// What was read back, if anything was.
    pub(super) fn figures(&self) -> Option<&AuditFigures> {
        (self.figures != AuditFigures::default()).then_some(&self.figures)
    }

    /// Records that were not seen, and for how long after the first look they are looked up again.
    pub(super) fn missing(&self) -> (u64, Option<Duration>) {
        let missing = self.rows.values().filter(|row| row.next_lookup_at.is_some());
        let first_missed = self.rows.values().filter_map(|row| row.first_missed).max();
        (missing.count() as u64, first_missed.map(|first| first + self.settle))
    }

    /// When a record that was not seen is looked up again.
    pub(super) fn next_lookup(&self) -> Option<Duration> {
        if !self.missing_reported {
            return None;
        }
        self.rows.values().filter_map(|row| row.next_lookup_at).min()
    }

    /// Nothing else is left to be done: whether what was made has been read back. Goes on with it if not.
    pub(super) fn is_done(&mut self) -> bool {
        let Some(scope) = self.scope else { return true };
        self.is_at_end = true;
        self.stop_early();
        match self.pages {
            Pages::Unread => self.ask_for_page(scope),
            Pages::Asked => {}
            // Rows may have been finished since the journal was asked from the beginning.
            Pages::Read if self.rows.is_empty() && self.fresh => {
                (self.fresh, self.cursor) = (false, None);
                self.ask_for_page(scope);
            }
            Pages::Read if self.rows.is_empty() => return true,
            Pages::Read => {}
        }
        false
    }

    /// What was read back were only the rows of a canary: begins again with those in `scope`.
    pub(super) fn begin_again(&mut self, scope: Option<AuditScope>) {
        (self.scope, self.pages, self.cursor) = (scope, Pages::Unread, None);
        (self.is_at_end, self.takes_early, self.counted, self.missing_reported) = (false, true, false, false);
    }

    /// Whether a row is being read back.
    pub(super) fn is_under_way(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Looks up again what was not seen, as far as its time has come.
    pub(super) fn retry_missing(&mut self, cx: &mut AuditContext<'_>) {
        if !self.missing_reported {
            return;
        }
        let now = cx.now;
        let due = |row: &AuditedRow| row.next_lookup_at.is_some_and(|at| at <= now);
        let mut again: Vec<JobId> =
            self.rows.iter().filter(|(_, row)| due(row)).map(|(job, _)| *job).collect();
        again.sort_unstable();
        for job in again {
            let Some(row) = self.rows.get_mut(&job) else { continue };
            row.next_lookup_at = None;
            let is_unlisted = std::mem::take(&mut row.is_unlisted);
            match row.by_id(cx).filter(|_| row.work.kind.is_record() && !is_unlisted) {
                Some((id, lookup)) => self.ask(cx, lookup, Subject::Record(job, id)),
                None => self.ask_by_key(cx, job),
            }
        }
    }

    fn ask_for_page(&mut self, scope: AuditScope) {
        self.pages = Pages::Asked;
        self.done_when_asked = self.progress.1;
        let (after, count) = (self.cursor, !self.counted);
        self.actions.push(RunAction::AskJournal(Inquiry::Unaudited { scope, after, limit: PAGE, count }));
    }

    /// The journal has answered.
    pub(super) fn on_reply(&mut self, cx: &mut AuditContext<'_>, reply: AuditReply) {
        match reply {
            AuditReply::Page { works, total } => self.add_rows(cx, works, total),
            AuditReply::Made { works } => self.add_made(cx, works),
            AuditReply::Twins { job, owners } => self.twins_owned(cx, job, &owners),
            AuditReply::CustomSites { job, owners, devices } => self.sites_owned(cx, job, &owners, devices),
            AuditReply::ChangedLater { job, later } => self.on_changed_later(cx, job, &later),
        }
    }

    fn add_rows(&mut self, cx: &mut AuditContext<'_>, works: Vec<Work>, total: Option<Unaudited>) {
        if let Some(unaudited) = total {
            self.counted = true;
            let total = unaudited.total();
            if total > 0 {
                let already = match self.done_when_asked {
                    0 => String::new(),
                    1 => "; 1 is verified already".to_owned(),
                    many => format!("; {} are verified already", count(many)),
                };
                if let Some(looked_up) = looked_up(unaudited) {
                    let text = format!("verification: {looked_up}{already}");
                    self.actions.push(RunAction::Tell(Event::Note { text }));
                }
                let (of, done) = (self.done_when_asked + total, self.progress.1);
                self.progress.0 = of;
                self.actions.push(RunAction::Tell(Event::ReadBack { done, of }));
            }
        }
        let Some(last) = works.last().map(|work| work.job) else {
            self.pages = Pages::Read;
            self.forget_done_meanwhile();
            return;
        };
        self.cursor = Some(last);
        self.pages = Pages::Unread;
        let mut fresh: Vec<JobId> = Vec::new();
        for work in works {
            let job = work.job;
            // Another step of the row before.
            if fresh.last() == Some(&job)
                && let Some(row) = self.rows.get_mut(&job)
            {
                row.steps.insert(0, work);
                continue;
            }
            if self.is_known(job) || self.left.contains(&job) {
                continue;
            }
            self.rows.insert(job, AuditedRow::new(work));
            fresh.push(job);
        }
        self.forget_done_meanwhile();
        self.fresh |= !fresh.is_empty();
        for job in fresh {
            self.ask_first(cx, job);
        }
    }

    /// Whether a row that the journal gives is being read back, or was when the journal was asked.
    fn is_known(&self, job: JobId) -> bool {
        self.rows.contains_key(&job) || self.done_meanwhile.contains(&job)
    }

    /// Whether an answer of the journal with rows is on the way.
    fn awaits_rows(&self) -> bool {
        self.made_asked || matches!(self.pages, Pages::Asked)
    }

    /// What the journal is asked for from now on, it is asked for after what was noted until now.
    fn forget_done_meanwhile(&mut self) {
        if !self.awaits_rows() {
            self.done_meanwhile.clear();
        }
    }

    fn ask(&mut self, cx: &mut AuditContext<'_>, lookup: Lookup, subject: Subject) {
        if cx.gates.usable(lookup.operation()) {
            self.actions.push(RunAction::LookUp(lookup, Question { asker: Asker::Audit, subject }));
        } else {
            self.unanswered(cx, subject);
        }
    }

    /// Whether the record with this id is the row's own.
    fn is_own(&self, job: JobId, id: RemoteId) -> bool {
        self.rows.get(&job).is_some_and(|row| row.work.remote_id == Some(id))
    }

    /// A look-up of the audit has its answer; that to a control look-up comes by [`Self::on_control`].
    pub(super) fn on_answer(
        &mut self,
        cx: &mut AuditContext<'_>,
        subject: Subject,
        lookup: &Lookup,
        answer: LookupAnswer,
    ) {
        if subject == Subject::SharedList {
            return self.on_change_list(cx, lookup, answer);
        }
        let operation = lookup.operation();
        let found = match answer {
            LookupAnswer::Records(found) => found,
            LookupAnswer::Unavailable | LookupAnswer::Inconclusive(_) => {
                return self.unanswered(cx, subject);
            }
            LookupAnswer::Failed(_) => return self.failed(cx, lookup, subject),
        };
        match subject {
            Subject::Key(job) => self.read_key(cx, job, operation, &found, found.len()),
            Subject::Narrower(job) => self.read_narrower(cx, job, &found),
            Subject::Children(parent) => self.read_children(cx, parent, operation, found),
            Subject::Record(job, id) if self.is_own(job, id) => self.read_own(cx, job, operation, &found),
            Subject::Record(job, twin) => self.read_twin(cx, job, twin, &found),
            Subject::CustomSites(job) => self.read_sites(cx, job, &found),
            Subject::Control(..) | Subject::SharedList | Subject::Anything => {}
        }
    }

    /// No answer that tells anything, and asking again would tell no more: the next best look-up, if there is one.
    fn unanswered(&mut self, cx: &mut AuditContext<'_>, subject: Subject) {
        match subject {
            Subject::Children(parent) => {
                for job in self.child_lists.remove(&parent).unwrap_or_default() {
                    self.ask_by_id(cx, job);
                }
            }
            Subject::Key(job) => self.ask_by_id(cx, job),
            Subject::Record(job, id) if self.is_own(job, id) => self.unanswered_by_id(cx, job),
            // Not known to be equal in full, so not told as a second one.
            Subject::Record(job, _) => {
                if let Some(row) = self.rows.get_mut(&job) {
                    row.suspects.pop();
                }
                self.go_on(cx, job);
            }
            Subject::Narrower(job) => self.ask_for_sites(cx, job),
            Subject::CustomSites(job) => self.conclude(cx, job),
            Subject::Control(..) | Subject::SharedList | Subject::Anything => {}
        }
    }

    /// The service failed: a record that was asked for by its id is asked for by its key, other rows stay due, and the next
    /// run asks again.
    pub(super) fn failed(&mut self, cx: &mut AuditContext<'_>, lookup: &Lookup, subject: Subject) {
        if let Subject::Record(job, _) = subject
            && let Some(row) = self.rows.get_mut(&job)
            && std::mem::take(&mut row.by_id_first)
        {
            return self.ask_by_key(cx, job);
        }
        let jobs = match subject {
            Subject::Children(parent) => self.child_lists.remove(&parent).unwrap_or_default(),
            Subject::Key(job)
            | Subject::Narrower(job)
            | Subject::Record(job, _)
            | Subject::CustomSites(job)
            | Subject::Control(job, _) => vec![job],
            Subject::SharedList => self.lists.on_failure(lookup),
            Subject::Anything => Vec::new(),
        };
        self.leave_unverified(jobs);
    }

    /// Leaves rows to the end of the run; at the end, to the next run.
    fn leave_unverified(&mut self, jobs: Vec<JobId>) {
        for job in jobs {
            if let Some(row) = self.rows.remove(&job) {
                if !self.is_at_end {
                    self.stop_early();
                    continue;
                }
                self.left.insert(job);
                self.figures.add_unread(row.subject(), 1);
                self.count_audited();
            }
        }
    }

    /// Whether the look-up that did not show the record of a row finds what is known to exist.
    pub(super) fn on_control(&mut self, cx: &mut AuditContext<'_>, job: JobId, result: &ControlResult) {
        match result {
            ControlResult::Proved => self.vanished(cx, job),
            ControlResult::Failed(_) => self.leave_unverified(vec![job]),
            ControlResult::NotProved(_) | ControlResult::Unavailable | ControlResult::NoRecord => {
                self.not_verified(cx, job);
            }
        }
    }

    /// Whether the record of a job was looked up in vain, so that no look-up can be proved by it.
    pub(super) fn misses(&self, job: JobId) -> bool {
        self.rows.get(&job).is_some_and(|row| row.first_missed.is_some())
    }

    /// Everything that can be known about a row is: notes it.
    pub(super) fn conclude(&mut self, cx: &mut AuditContext<'_>, job: JobId) {
        let Some(row) = self.rows.remove(&job) else { return };
        let (subject, by) = (row.subject(), row.by);
        let (id, run, at) = (row.work.remote_id, self.run, cx.wall);
        let site = row.findings.site.clone();
        let finding = row.findings.noted(&row.work);
        self.figures.add(subject, by, finding.as_ref().map(|finding| finding.code.as_str()));
        let content = row.work.content_hash;
        self.actions.push(RunAction::Write(Write::Audited { job, id, content, run, by, finding, site, at }));
        if self.awaits_rows() {
            self.done_meanwhile.insert(job);
        }
        self.count_audited();
    }

    /// One more row is done with. Rows that are made while others are read back come on top of those there were.
    fn count_audited(&mut self) {
        let (of, done) = &mut self.progress;
        *done += 1;
        *of = (*of).max(*done);
        let (of, done) = (*of, *done);
        if !self.is_at_end {
            return;
        }
        self.actions.push(RunAction::Tell(Event::ReadBack { done, of }));
    }
}

/// How many rows are looked up, in words; `None` where none is.
fn looked_up(Unaudited { records, changes, .. }: Unaudited) -> Option<String> {
    let are = match records + changes {
        0 => return None,
        1 => "is",
        _ => "are",
    };
    let words = [(records, ("record", "records")), (changes, ("change", "changes"))];
    let counts = words.into_iter().filter(|(many, _)| *many > 0);
    let counts: Vec<String> = counts.map(|(many, (one, several))| counted(many, one, several)).collect();
    Some(format!("{} {are} looked up", counts.join(" and ")))
}
