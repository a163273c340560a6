//! The children of a company, listed once for all rows below it and put in order by name, so that each row is
//! compared with its namesakes only.
//!
//! A list grows old while others work with the service too: after some minutes it is taken again. Asking for it and
//! acting on it are in `decide::pre_send`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::model::id::{JobId, RemoteId};
use crate::model::key::comparable;
use crate::service::{Found, may_be_a_page};

/// How long a list is used. A record that somebody else makes between the list and our sending is taken for ours if
/// our answer is lost and it is equal in all that can be compared: this bounds that time for the price of one
/// look-up in ten minutes for each parent.
const GOOD_FOR: Duration = Duration::from_secs(600);

/// Children that are kept at most, over all lists: some tens of megabytes. Beyond it the list that was not used for
/// longest is dropped, for the price of one more look-up when it is needed again.
const MOST_CHILDREN: usize = 50_000;

/// The children of companies, as far as they were asked for; instants are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Default)]
pub(in crate::run) struct ChildLists {
    child_lists: HashMap<RemoteId, ChildList>,
    /// How often lists were used.
    uses: u64,
}

/// The children of one company.
#[derive(Debug)]
enum ChildList {
    /// Asked for; these jobs wait for the list.
    Asked(Vec<JobId>),
    /// Known since then and used last the so-manieth time; `None` where the list could not be read.
    Known { children: Option<Arc<Children>>, at: Duration, used: u64 },
}

/// What is to be done for a job that needs the children of a company.
#[derive(Debug)]
pub(in crate::run) enum ChildListNeed {
    /// The list is here; `None` where it could not be read.
    Met(Option<Arc<Children>>),
    /// The list is to be asked for; the job waits for it.
    Ask,
    /// The list was asked for; the job waits for it as well.
    Wait,
}

impl ChildLists {
    /// A job needs the children of a company.
    pub(in crate::run) fn need(&mut self, parent: RemoteId, job: JobId, now: Duration) -> ChildListNeed {
        self.uses += 1;
        match self.child_lists.get_mut(&parent) {
            Some(ChildList::Asked(waiting)) => {
                waiting.push(job);
                ChildListNeed::Wait
            }
            Some(ChildList::Known { children, at, used }) if !is_old(*at, now) => {
                *used = self.uses;
                ChildListNeed::Met(children.clone())
            }
            Some(ChildList::Known { .. }) | None => {
                self.child_lists.insert(parent, ChildList::Asked(vec![job]));
                ChildListNeed::Ask
            }
        }
    }

    /// The list of a company's children has come, or could not be read. The jobs that wait for it come back.
    pub(in crate::run) fn on_list(
        &mut self,
        parent: RemoteId,
        children: Option<Arc<Children>>,
        now: Duration,
    ) -> Vec<JobId> {
        let used = self.uses;
        let asked = self.child_lists.insert(parent, ChildList::Known { children, at: now, used });
        self.drop_old(now);
        while self.children() > MOST_CHILDREN
            && let Some(least) = self.least_used().filter(|least| *least != parent)
        {
            self.child_lists.remove(&least);
        }
        waiting(asked)
    }

    /// The look failed: the list is to be asked for again. The jobs that wait for it come back.
    pub(in crate::run) fn on_failure(&mut self, parent: RemoteId) -> Vec<JobId> {
        waiting(self.child_lists.remove(&parent))
    }

    /// Drops the lists that are not used any more.
    pub(in crate::run) fn drop_old(&mut self, now: Duration) {
        self.child_lists.retain(|_, list| !matches!(list, ChildList::Known { at, .. } if is_old(*at, now)));
    }

    fn children(&self) -> usize {
        let known = self.child_lists.values().filter_map(|list| match list {
            ChildList::Known { children, .. } => children.as_ref(),
            ChildList::Asked(_) => None,
        });
        known.map(|children| children.count).sum()
    }

    fn least_used(&self) -> Option<RemoteId> {
        let known = self.child_lists.iter().filter_map(|(parent, list)| match list {
            ChildList::Known { used, .. } => Some((*used, *parent)),
            ChildList::Asked(_) => None,
        });
        known.min().map(|(_, parent)| parent)
    }
}

fn is_old(at: Duration, now: Duration) -> bool {
    now.saturating_sub(at) >= GOOD_FOR
}

fn waiting(list: Option<ChildList>) -> Vec<JobId> {
    match list {
        Some(ChildList::Asked(waiting)) => waiting,
        Some(ChildList::Known { .. }) | None => Vec::new(),
    }
}

/// A list of children by their names.
#[derive(Debug)]
pub(in crate::run) struct Children {
    by_name: HashMap<String, Vec<Found>>,
    ids: HashSet<RemoteId>,
    count: usize,
    whole: bool,
}

impl Children {
    /// Puts a list in order. Records without a name are nobody's namesakes.
    pub(in crate::run) fn of(children: Vec<Found>) -> Self {
        let count = children.len();
        let whole = !may_be_a_page(count);
        let ids = children.iter().filter_map(|child| child.id).collect();
        let mut by_name: HashMap<String, Vec<Found>> = HashMap::new();
        for child in children {
            if let Some(name) = &child.name {
                by_name.entry(folded(name)).or_default().push(child);
            }
        }
        Self { by_name, ids, count, whole }
    }

    /// The children whose name is this one, or nearly.
    pub(in crate::run) fn named(&self, name: &str) -> &[Found] {
        self.by_name.get(&folded(name)).map_or(&[], Vec::as_slice)
    }

    /// Whether the record with this id is one of them.
    pub(in crate::run) fn has(&self, id: RemoteId) -> bool {
        self.ids.contains(&id)
    }

    /// Whether the list has no length that a page of a longer one would have.
    pub(in crate::run) fn is_whole(&self) -> bool {
        self.whole
    }
}

/// Names that are equal or near, as [`crate::model::key::likeness`] has it, are the same when folded.
fn folded(name: &str) -> String {
    comparable(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::key::{Likeness, likeness};
    use crate::run::tests::{found, record};

    #[test]
    fn namesakes_are_found_whatever_their_case_and_spaces() {
        let names = ["Acme", "ACME", " Acme ", "Acme Ltd", "Caf\u{e9}", "Cafe\u{301}"];
        let children: Vec<Found> =
            names.iter().zip(0..).map(|(name, n)| found(json!({"name": name, "id": record(n)}))).collect();
        let children = Children::of(children);
        for wanted in names {
            let likely = names.iter().filter(|name| likeness(name, wanted) != Likeness::Different).count();
            assert_eq!(children.named(wanted).len(), likely, "{wanted}");
        }
        assert!(children.named("Bolt").is_empty());
        assert!(children.is_whole());
    }

    fn list(children: usize) -> Option<Arc<Children>> {
        let child = found(json!({"name": "x", "id": record(1)}));
        Some(Arc::new(Children::of(vec![child; children])))
    }

    #[test]
    fn a_list_is_asked_for_once_and_again_when_it_is_old() {
        let mut child_lists = ChildLists::default();
        let (parent, at) = (record(1), Duration::from_secs(5));
        assert!(matches!(child_lists.need(parent, JobId(1), at), ChildListNeed::Ask));
        assert!(matches!(child_lists.need(parent, JobId(2), at), ChildListNeed::Wait));
        assert_eq!(child_lists.on_list(parent, list(3), at), [JobId(1), JobId(2)]);
        assert!(matches!(child_lists.need(parent, JobId(3), at), ChildListNeed::Met(Some(_))));
        assert!(matches!(child_lists.need(parent, JobId(4), at + GOOD_FOR), ChildListNeed::Ask));
        assert_eq!(child_lists.on_failure(parent), [JobId(4)]);
        assert!(matches!(child_lists.need(parent, JobId(4), at + GOOD_FOR), ChildListNeed::Ask));
    }

    #[test]
    fn lists_are_dropped_when_they_are_old_or_too_many_the_least_used_first() {
        let mut child_lists = ChildLists::default();
        let mut now = Duration::ZERO;
        for n in 0..10 {
            child_lists.need(record(n), JobId(1), now);
            child_lists.on_list(record(n), list(MOST_CHILDREN / 5), now);
            // The first is used by every row.
            child_lists.need(record(0), JobId(2), now);
            now += Duration::from_secs(1);
        }
        assert_eq!(child_lists.children(), MOST_CHILDREN);
        let mut kept: Vec<RemoteId> = child_lists.child_lists.keys().copied().collect();
        kept.sort_unstable();
        assert_eq!(kept, [0, 6, 7, 8, 9].map(record));
        child_lists.drop_old(GOOD_FOR + Duration::from_secs(8));
        assert_eq!(child_lists.children(), MOST_CHILDREN / 5, "the last is young still");
    }

    #[test]
    fn a_list_as_long_as_a_page_is_not_taken_for_the_whole() {
        let children =
            |count: u128| (0..count).map(|n| found(json!({"name": "x", "id": record(n)}))).collect();
        for (count, whole) in [(0, true), (9, true), (10, false), (11, true), (100, false), (101, true)] {
            assert_eq!(Children::of(children(count)).is_whole(), whole, "{count}");
        }
    }
}
