//! The children of a company, listed once for all rows below it and put in order by name, so that each row is
//! compared with its namesakes only.
//!
//! A list grows old while others work with the service too: after some minutes it is taken again. Asking for it and
//! acting on it are in [`super::before`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::model::id::JobId;
use crate::model::key::comparable;
use crate::service::{Found, may_be_a_page};

/// How long a list is used. A record that somebody else makes between the list and our sending is taken for ours if
/// our answer is lost and it is equal in all that can be compared: this bounds that time for the price of one
/// look-up in ten minutes for each parent.
pub(super) const GOOD_FOR: Duration = Duration::from_secs(600);

/// The children of a company, as far as they were asked for.
#[derive(Debug)]
pub(super) enum Family {
    /// Asked for; these jobs wait for the list.
    Asked(Vec<JobId>),
    /// Known since then; `None` where the list could not be read.
    Known { siblings: Option<Arc<Siblings>>, at: Duration },
}

/// A list of children by their names.
#[derive(Debug)]
pub(super) struct Siblings {
    by_name: HashMap<String, Vec<Found>>,
    whole: bool,
}

impl Siblings {
    /// Puts a list in order. Records without a name are nobody's namesakes.
    pub(super) fn of(children: Vec<Found>) -> Self {
        let whole = !may_be_a_page(children.len());
        let mut by_name: HashMap<String, Vec<Found>> = HashMap::new();
        for child in children {
            if let Some(name) = &child.name {
                by_name.entry(folded(name)).or_default().push(child);
            }
        }
        Self { by_name, whole }
    }

    /// The children whose name is this one, or nearly.
    pub(super) fn named(&self, name: &str) -> &[Found] {
        self.by_name.get(&folded(name)).map_or(&[], Vec::as_slice)
    }

    /// Whether the list has no length that a page of a longer one would have.
    pub(super) fn whole(&self) -> bool {
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

    use super::super::example::{found, record};
    use super::*;
    use crate::model::key::{Likeness, likeness};

    #[test]
    fn namesakes_are_found_whatever_their_case_and_spaces() {
        let names = ["Acme", "ACME", " Acme ", "Acme Ltd", "Caf\u{e9}", "Cafe\u{301}"];
        let children: Vec<Found> =
            names.iter().zip(0..).map(|(name, n)| found(json!({"name": name, "id": record(n)}))).collect();
        let siblings = Siblings::of(children);
        for wanted in names {
            let likely = names.iter().filter(|name| likeness(name, wanted) != Likeness::Different).count();
            assert_eq!(siblings.named(wanted).len(), likely, "{wanted}");
        }
        assert!(siblings.named("Bolt").is_empty());
        assert!(siblings.whole());
    }

    #[test]
    fn a_list_as_long_as_a_page_is_not_taken_for_the_whole() {
        let children =
            |count: u128| (0..count).map(|n| found(json!({"name": "x", "id": record(n)}))).collect();
        for (count, whole) in [(0, true), (9, true), (10, false), (11, true), (100, false), (101, true)] {
            assert_eq!(Siblings::of(children(count)).whole(), whole, "{count}");
        }
    }
}
