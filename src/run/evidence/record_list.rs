//! A list that the service has answered, in order by name, so that a row is compared with its namesakes only: the children of
//! a company, the labels or templates of a device.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::model::id::RemoteId;
use crate::model::key::comparable;
use crate::service::{Found, may_be_a_page};

/// A list of records.
#[derive(Debug)]
pub(in crate::run) struct RecordList {
    /// In order by their folded names, those without a name first.
    records: Vec<Found>,
    by_name: HashMap<String, Range<usize>>,
    ids: HashSet<RemoteId>,
}

impl RecordList {
    /// Puts a list in order. Records without a name are nobody's namesakes.
    pub(in crate::run) fn of(mut records: Vec<Found>) -> Self {
        let name = |record: &Found| record.name.as_deref().map(folded);
        records.sort_by_cached_key(name);
        let ids = records.iter().filter_map(|record| record.id).collect();
        let mut by_name: HashMap<String, Range<usize>> = HashMap::new();
        for (at, record) in records.iter().enumerate() {
            if let Some(name) = name(record) {
                by_name.entry(name).or_insert(at..at).end = at + 1;
            }
        }
        Self { records, by_name, ids }
    }

    /// All of them.
    pub(in crate::run) fn all(&self) -> &[Found] {
        &self.records
    }

    /// Those whose name is this one, or nearly.
    pub(in crate::run) fn named(&self, name: &str) -> &[Found] {
        self.by_name.get(&folded(name)).map_or(&[], |range| &self.records[range.clone()])
    }

    /// Whether the record with this id is one of them.
    pub(in crate::run) fn has(&self, id: RemoteId) -> bool {
        self.ids.contains(&id)
    }

    /// Whether the list has no length that a page of a longer one would have.
    pub(in crate::run) fn is_whole(&self) -> bool {
        !may_be_a_page(self.records.len())
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
        let children = RecordList::of(children);
        for wanted in names {
            let likely = names.iter().filter(|name| likeness(name, wanted) != Likeness::Different).count();
            assert_eq!(children.named(wanted).len(), likely, "{wanted}");
        }
        assert!(children.named("Bolt").is_empty());
        assert!(children.is_whole());
    }

    #[test]
    fn a_list_as_long_as_a_page_is_not_taken_for_the_whole() {
        let children =
            |count: u128| (0..count).map(|n| found(json!({"name": "x", "id": record(n)}))).collect();
        for (count, whole) in [(0, true), (9, true), (10, false), (11, true), (100, false), (101, true)] {
            assert_eq!(RecordList::of(children(count)).is_whole(), whole, "{count}");
        }
    }
}
