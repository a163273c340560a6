//! Lists that many rows need, asked for once: the children of a company, the labels or templates of a device.
//!
//! A list grows old while others work with the service too: after some minutes it is taken again. Asking for it and
//! acting on it are in `decide`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::record_list::RecordList;
use crate::journal::Work;
use crate::model::action::Turn;
use crate::model::id::{ImportId, JobId};
use crate::service::Lookup;

/// How long a list is used. A record that somebody else makes between the list and our sending is taken for ours if
/// our answer is lost and it is equal in all that can be compared: this bounds that time for the price of one
/// look-up in ten minutes for each list.
pub(in crate::run) const GOOD_FOR: Duration = Duration::from_secs(600);

/// Entries that are kept at most, over all lists: some tens of megabytes. Beyond it the list that was not used for
/// longest is dropped, for the price of one more look-up when it is needed again.
pub(in crate::run) const MOST_ENTRIES: usize = 50_000;

/// Lists by what they are of, as far as they were asked for; instants are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Default)]
pub(in crate::run) struct SharedLists {
    lists: HashMap<Lookup, SharedList>,
    /// How often lists were used.
    uses: u64,
}

/// One list.
#[derive(Debug)]
enum SharedList {
    /// Asked for, first for a row of this import; these jobs wait for it.
    Asked { import: ImportId, waiting: Vec<JobId>, unseen: UnseenChanges },
    /// Known since then and used last the so-manieth time; `None` where the list could not be read. Rows of a later import than
    /// the one it was asked for are compared with a newer one: what they ask for may be younger than the list.
    Known {
        list: Option<Arc<RecordList>>,
        at: Duration,
        /// `None` as long as no row has used it.
        import: Option<ImportId>,
        used: u64,
        unseen: UnseenChanges,
    },
}

/// What was sent since a list was asked for, which it may not show.
#[derive(Debug, Default)]
struct UnseenChanges {
    /// By these jobs.
    jobs: HashSet<JobId>,
    /// By rows of these imports.
    imports: BTreeSet<ImportId>,
    /// The earliest turn at its record of what was sent.
    turn: Option<Turn>,
    /// Whether all of it was replaced.
    replaces: bool,
}

impl UnseenChanges {
    /// Whether a list without them misleads a job. Rows of one import ask for different things, but for those of a later turn:
    /// what is put after a removal, and settings of what was put. Rows of a later import may take back what rows of an earlier one
    /// have put.
    fn matter_to(&self, ListUser { job, import, turn }: ListUser) -> bool {
        let by_others = self.imports.iter().any(|by| *by != import);
        let is_later = self.turn.is_some_and(|sent| sent < turn);
        self.jobs.contains(&job) || by_others || self.replaces || is_later
    }
}

/// Who needs a list, or has changed what it is of.
#[derive(Debug, Clone, Copy)]
pub(in crate::run) struct ListUser {
    pub(in crate::run) job: JobId,
    pub(in crate::run) import: ImportId,
    /// When it is sent among the rows about its record. What comes later must not count as there what an earlier one took away, nor
    /// as missing what it put.
    pub(in crate::run) turn: Turn,
}

impl ListUser {
    /// A row.
    pub(in crate::run) fn of(work: &Work, turn: Turn) -> Self {
        Self { job: work.job, import: work.import, turn }
    }
}

/// What is to be done for a job that needs a list.
#[derive(Debug)]
pub(in crate::run) enum ListNeed {
    /// The list is here; `None` where it could not be read.
    Met(Option<Arc<RecordList>>),
    /// The list is to be asked for; the job waits for it.
    Ask,
    /// The list was asked for; the job waits for it as well.
    Wait,
}

impl SharedLists {
    /// A job needs a list.
    pub(in crate::run) fn need(&mut self, of: &Lookup, user: ListUser, now: Duration) -> ListNeed {
        self.uses += 1;
        match self.lists.get_mut(of) {
            Some(SharedList::Asked { waiting, .. }) => {
                waiting.push(user.job);
                ListNeed::Wait
            }
            Some(SharedList::Known { list, at, import, used, unseen })
                if !is_old(*at, now)
                    && import.is_none_or(|import| user.import <= import)
                    && !unseen.matter_to(user) =>
            {
                *used = self.uses;
                import.get_or_insert(user.import);
                ListNeed::Met(list.clone())
            }
            Some(SharedList::Known { .. }) | None => {
                let (import, waiting, unseen) = (user.import, vec![user.job], UnseenChanges::default());
                self.lists.insert(of.clone(), SharedList::Asked { import, waiting, unseen });
                ListNeed::Ask
            }
        }
    }

    /// A request of a job was sent that may have changed what a list shows: a row that is corrected meanwhile and comes
    /// again is compared with a newer one, and so are rows of a later turn, and what another import asks for.
    pub(in crate::run) fn on_sent(&mut self, of: &Lookup, ListUser { job, import, turn }: ListUser) {
        if let Some(unseen) = self.unseen(of) {
            unseen.jobs.insert(job);
            unseen.imports.insert(import);
            unseen.turn = Some(unseen.turn.map_or(turn, |earlier| earlier.min(turn)));
        }
    }

    /// A list did not show what a job looked for: the job is compared with a newer one.
    pub(in crate::run) fn on_missed(&mut self, of: &Lookup, job: JobId) {
        if let Some(unseen) = self.unseen(of) {
            unseen.jobs.insert(job);
        }
    }

    /// A request was sent that replaces what a list shows: nobody is compared with it any more.
    pub(in crate::run) fn on_replaced(&mut self, of: &Lookup) {
        if let Some(unseen) = self.unseen(of) {
            unseen.replaces = true;
        }
    }

    fn unseen(&mut self, of: &Lookup) -> Option<&mut UnseenChanges> {
        self.lists.get_mut(of).map(|list| match list {
            SharedList::Asked { unseen, .. } | SharedList::Known { unseen, .. } => unseen,
        })
    }

    /// A list that is known.
    pub(in crate::run) fn known(&self, of: &Lookup) -> Option<&RecordList> {
        match self.lists.get(of) {
            Some(SharedList::Known { list, unseen, .. }) if !unseen.replaces => list.as_deref(),
            Some(SharedList::Known { .. } | SharedList::Asked { .. }) | None => None,
        }
    }

    /// A list has come, or could not be read. The jobs that wait for it come back.
    pub(in crate::run) fn on_list(
        &mut self,
        of: &Lookup,
        list: Option<Arc<RecordList>>,
        now: Duration,
    ) -> Vec<JobId> {
        let asked = self.lists.remove(of);
        let (import, waiting, unseen) = match asked {
            Some(SharedList::Asked { import, waiting, unseen }) => (Some(import), waiting, unseen),
            Some(SharedList::Known { .. }) | None => Default::default(),
        };
        self.lists.insert(of.clone(), SharedList::Known { list, at: now, import, used: self.uses, unseen });
        self.drop_old(now);
        while self.entries() > MOST_ENTRIES
            && let Some(least) = self.least_used().filter(|least| least != of)
        {
            self.lists.remove(&least);
        }
        waiting
    }

    /// The look failed: the list is to be asked for again. The jobs that wait for it come back.
    pub(in crate::run) fn on_failure(&mut self, of: &Lookup) -> Vec<JobId> {
        match self.lists.remove(of) {
            Some(SharedList::Asked { waiting, .. }) => waiting,
            Some(SharedList::Known { .. }) | None => Vec::new(),
        }
    }

    /// Drops the lists that are not used any more.
    pub(in crate::run) fn drop_old(&mut self, now: Duration) {
        self.lists.retain(|_, list| !matches!(list, SharedList::Known { at, .. } if is_old(*at, now)));
    }

    /// Drops all lists that are known: nobody can say how old they are.
    pub(in crate::run) fn forget(&mut self) {
        self.lists.retain(|_, list| matches!(list, SharedList::Asked { .. }));
    }

    fn entries(&self) -> usize {
        let known = self.lists.values().filter_map(|list| match list {
            SharedList::Known { list, .. } => list.as_ref(),
            SharedList::Asked { .. } => None,
        });
        known.map(|list| list.all().len()).sum()
    }

    fn least_used(&self) -> Option<Lookup> {
        let known = self.lists.iter().filter_map(|(of, list)| match list {
            SharedList::Known { used, .. } => Some((*used, of)),
            SharedList::Asked { .. } => None,
        });
        known.min().map(|(_, of)| of.clone())
    }
}

fn is_old(at: Duration, now: Duration) -> bool {
    now.saturating_sub(at) >= GOOD_FOR
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::tests::{found, record};

    fn children(company: u128) -> Lookup {
        Lookup::ChildCompanies(record(company))
    }

    fn list_of(entries: usize) -> Option<Arc<RecordList>> {
        let one = found(json!({"name": "Acme"}));
        Some(Arc::new(RecordList::of(vec![one; entries])))
    }

    fn puts(job: i64) -> ListUser {
        ListUser { job: JobId(job), import: ImportId(1), turn: Turn::Put }
    }

    fn removes(job: i64) -> ListUser {
        ListUser { job: JobId(job), import: ImportId(1), turn: Turn::Remove }
    }

    #[test]
    fn a_list_is_asked_for_once_and_again_when_it_is_old() {
        let mut lists = SharedLists::default();
        let (of, at) = (children(1), Duration::from_secs(5));
        assert!(matches!(lists.need(&of, puts(1), at), ListNeed::Ask));
        assert!(matches!(lists.need(&of, puts(2), at), ListNeed::Wait));
        assert_eq!(lists.on_list(&of, list_of(3), at), [JobId(1), JobId(2)]);
        assert!(matches!(lists.need(&of, puts(3), at), ListNeed::Met(Some(_))));
        assert!(matches!(lists.need(&of, puts(4), at + GOOD_FOR), ListNeed::Ask));
        assert_eq!(lists.on_failure(&of), [JobId(4)]);
        assert!(matches!(lists.need(&of, puts(4), at + GOOD_FOR), ListNeed::Ask));
    }

    #[test]
    fn a_job_that_was_sent_is_compared_with_a_newer_list_and_others_with_the_one_there_is() {
        let mut lists = SharedLists::default();
        let (of, at) = (children(1), Duration::from_secs(5));
        lists.need(&of, puts(1), at);
        lists.on_list(&of, list_of(3), at);
        lists.on_sent(&of, puts(1));
        assert!(matches!(lists.need(&of, puts(2), at), ListNeed::Met(Some(_))));
        assert!(matches!(lists.need(&of, puts(1), at), ListNeed::Ask));
        lists.on_list(&of, list_of(4), at);
        assert!(matches!(lists.need(&of, puts(1), at), ListNeed::Met(Some(_))));
    }

    #[test]
    fn what_was_replaced_is_asked_for_again_by_whoever_needs_it() {
        let mut lists = SharedLists::default();
        let (of, at) = (children(1), Duration::from_secs(5));
        lists.need(&of, puts(1), at);
        lists.on_replaced(&of);
        assert_eq!(lists.on_list(&of, list_of(3), at), [JobId(1)], "who waits for it has it");
        lists.on_replaced(&of);
        assert!(matches!(lists.need(&of, puts(2), at), ListNeed::Ask));
    }

    #[test]
    fn rows_of_a_later_turn_are_compared_with_a_newer_list() {
        let mut lists = SharedLists::default();
        let (of, at) = (children(1), Duration::from_secs(5));
        lists.need(&of, puts(1), at);
        lists.on_list(&of, list_of(3), at);
        assert!(matches!(lists.need(&of, puts(2), at), ListNeed::Met(Some(_))));
        lists.on_sent(&of, removes(1));
        assert!(matches!(lists.need(&of, removes(4), at), ListNeed::Met(Some(_))), "one for all removals");
        assert!(matches!(lists.need(&of, puts(2), at), ListNeed::Ask));
        assert!(matches!(lists.need(&of, puts(3), at), ListNeed::Wait), "it is asked for once");
        lists.on_list(&of, list_of(3), at);
        lists.on_sent(&of, puts(2));
        assert!(matches!(lists.need(&of, puts(3), at), ListNeed::Met(Some(_))), "one for all that is put");
        let configures = ListUser { turn: Turn::Configure, ..puts(5) };
        assert!(matches!(lists.need(&of, configures, at), ListNeed::Ask));
    }

    #[test]
    fn a_row_of_another_import_is_compared_with_a_list_that_shows_what_was_sent_before() {
        let mut lists = SharedLists::default();
        let (of, at) = (children(1), Duration::from_secs(5));
        let later = |turn| ListUser { job: JobId(9), import: ImportId(2), turn };
        lists.need(&of, later(Turn::Put), at);
        lists.on_list(&of, list_of(3), at);
        assert!(
            matches!(lists.need(&of, later(Turn::Remove), at), ListNeed::Met(Some(_))),
            "nothing was sent"
        );
        lists.on_sent(&of, puts(1));
        assert!(matches!(lists.need(&of, puts(2), at), ListNeed::Met(Some(_))), "rows of one import agree");
        assert!(matches!(lists.need(&of, later(Turn::Remove), at), ListNeed::Ask));
        // Sent after the list was asked for, and before it has come.
        lists.on_sent(&of, puts(2));
        assert_eq!(lists.on_list(&of, list_of(4), at), [JobId(9)]);
        assert!(matches!(lists.need(&of, later(Turn::Put), at), ListNeed::Ask));
        lists.on_list(&of, list_of(5), at);
        assert!(matches!(lists.need(&of, later(Turn::Put), at), ListNeed::Met(Some(_))));
    }

    #[test]
    fn rows_of_a_later_import_are_compared_with_a_list_that_was_asked_for_after_it() {
        let mut lists = SharedLists::default();
        let (of, at) = (children(1), Duration::from_secs(5));
        let by = |import| ListUser { job: JobId(9), import: ImportId(import), turn: Turn::Put };
        // Asked for before the run.
        lists.on_list(&of, list_of(3), at);
        assert!(matches!(lists.need(&of, by(2), at), ListNeed::Met(Some(_))));
        assert!(matches!(lists.need(&of, by(1), at), ListNeed::Met(Some(_))));
        assert!(matches!(lists.need(&of, by(3), at), ListNeed::Ask));
        lists.on_list(&of, list_of(3), at);
        assert!(matches!(lists.need(&of, by(3), at), ListNeed::Met(Some(_))));
    }

    #[test]
    fn lists_are_dropped_when_they_are_old_or_too_many_the_least_used_first() {
        let mut lists = SharedLists::default();
        let mut now = Duration::ZERO;
        let list = list_of(MOST_ENTRIES / 5);
        for n in 0..10 {
            lists.need(&children(n), puts(1), now);
            lists.on_list(&children(n), list.clone(), now);
            // The first is used by every row.
            lists.need(&children(0), puts(2), now);
            now += Duration::from_secs(1);
        }
        assert_eq!(lists.entries(), MOST_ENTRIES);
        let mut kept: Vec<Lookup> = lists.lists.keys().cloned().collect();
        kept.sort_unstable();
        assert_eq!(kept, [0, 6, 7, 8, 9].map(children));
        lists.drop_old(GOOD_FOR + Duration::from_secs(8));
        assert_eq!(lists.entries(), MOST_ENTRIES / 5, "the last is young still");
    }
}
