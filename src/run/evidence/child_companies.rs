//! The children of a company, put in order by name, so that each row below it is compared with its namesakes only.

use std::collections::{HashMap, HashSet};

use super::shared_lists::Entries;
use crate::model::id::RemoteId;
use crate::model::key::comparable;
use crate::service::{Found, may_be_a_page};

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

impl Entries for Children {
    fn entries(&self) -> usize {
        self.count
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

    #[test]
    fn a_list_as_long_as_a_page_is_not_taken_for_the_whole() {
        let children =
            |count: u128| (0..count).map(|n| found(json!({"name": "x", "id": record(n)}))).collect();
        for (count, whole) in [(0, true), (9, true), (10, false), (11, true), (100, false), (101, true)] {
            assert_eq!(Children::of(children(count)).is_whole(), whole, "{count}");
        }
    }
}
