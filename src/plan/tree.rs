//! The companies of a plan as they hang below each other, with what becomes of the rows in each.

use std::collections::HashMap;

use super::action::{ActionCounts, PlannedAction};
use super::survey::{JobActions, JobOrigin, Survey};
use crate::model::company_forest::{CompanyForest, Placed};
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::record::Target;
use crate::model::state::{JobState, RowGroup};

/// A company of a plan in its tree.
pub type Company = Placed<PlannedCompany>;

/// The companies of a plan.
pub type Tree = CompanyForest<PlannedCompany>;

/// What a plan says of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCompany {
    /// Its name; `None` when only its id is known.
    pub name: Option<String>,
    /// Its id, once it exists.
    pub id: Option<RemoteId>,
    /// Its job; `None` when the journal knows it by its id only.
    pub job: Option<JobId>,
    /// Where its job stands before the run.
    pub state: Option<JobState>,
    /// What becomes of it; `None` when it exists and the journal has no job for it.
    pub action: Option<PlannedAction>,
    /// The rows of the sheets directly in it, by kind.
    pub rows: [ActionCounts; Kind::ALL.len()],
}

impl PlannedCompany {
    /// What it is called: its name, else its id.
    pub fn title(&self) -> String {
        match (&self.name, self.id) {
            (Some(name), _) => name.clone(),
            (None, Some(id)) => id.to_string(),
            (None, None) => String::new(),
        }
    }

    /// What becomes of it, in a word, and the group that its row belongs to.
    pub const fn word(&self) -> (RowGroup, &'static str) {
        match self.action {
            None
            | Some(
                PlannedAction::There
                | PlannedAction::Changed
                | PlannedAction::Unchanged
                | PlannedAction::Complete
                | PlannedAction::Incomplete,
            ) => (RowGroup::Done, "exists"),
            Some(PlannedAction::Create) => (RowGroup::Waiting, "create"),
            Some(PlannedAction::Apply) => (RowGroup::Waiting, "apply"),
            Some(PlannedAction::Rejected) => (RowGroup::Failed, "rejected"),
            Some(PlannedAction::Held) => (RowGroup::Held, "on hold"),
            Some(PlannedAction::InDoubt) => (RowGroup::InDoubt, "outcome unknown"),
            Some(PlannedAction::Cancelled) => (RowGroup::Cancelled, "cancelled"),
            Some(PlannedAction::Blocked) => (RowGroup::Failed, "blocked"),
        }
    }

    /// The rows of one kind directly in it.
    pub fn of(&self, kind: Kind) -> &ActionCounts {
        &self.rows[kind.index()]
    }
}

/// What names a company.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Which {
    Known(u32),
    Remote(RemoteId),
}

/// The companies that rows of the sheets are, belong to, or hang below.
pub(super) fn company_tree(survey: &Survey, decided: &JobActions) -> Tree {
    let mut builder = TreeBuilder { survey, decided, places: HashMap::new(), companies: Vec::new() };
    for (number, node) in (0_u32..).zip(&survey.nodes) {
        if !matches!(node.origin, JobOrigin::Sheets { .. }) || !node.kind.is_record() {
            continue;
        }
        if node.kind == Kind::Company {
            builder.company(Which::Known(number));
        }
        let Some(owner) = builder.owner(number) else { continue };
        let owner = builder.company(owner);
        builder.companies[owner].1.rows[node.kind.index()].add(decided.actions[number as usize], 1);
    }
    builder.finish()
}

/// The rows in some of the companies, by kind.
pub fn rows_in(tree: &Tree, companies: &[usize]) -> [ActionCounts; Kind::ALL.len()] {
    let mut rows: [ActionCounts; Kind::ALL.len()] = Default::default();
    for &place in companies {
        for (sum, more) in rows.iter_mut().zip(&tree.companies[place].rows) {
            sum.add_all(more);
        }
    }
    rows
}

/// A tree in the making.
struct TreeBuilder<'a> {
    survey: &'a Survey,
    decided: &'a JobActions,
    places: HashMap<Which, usize>,
    companies: Vec<(Which, PlannedCompany)>,
}

impl TreeBuilder<'_> {
    /// The company that a job belongs to, or that is above it.
    fn owner(&self, number: u32) -> Option<Which> {
        match self.survey.owner_of(&self.survey.nodes[number as usize])? {
            Target::Job(job) => self.survey.place_of(job).map(Which::Known),
            Target::Remote(id) => Some(Which::Remote(id)),
        }
    }

    /// The place of a company, which gets one, as do all above it.
    fn company(&mut self, which: Which) -> usize {
        let mut open = Some(which);
        while let Some(next) = open {
            if self.places.contains_key(&next) {
                break;
            }
            self.places.insert(next, self.companies.len());
            self.companies.push((next, self.bare(next)));
            open = match next {
                Which::Known(number) => self.owner(number),
                Which::Remote(_) => None,
            };
        }
        self.places[&which]
    }

    fn bare(&self, which: Which) -> PlannedCompany {
        let mut company = PlannedCompany {
            name: None,
            id: None,
            job: None,
            state: None,
            action: None,
            rows: Default::default(),
        };
        match which {
            Which::Remote(id) => company.id = Some(id),
            Which::Known(number) => {
                let node = &self.survey.nodes[number as usize];
                company.job = Some(node.job);
                company.state = Some(node.state);
                company.action = Some(self.decided.actions[number as usize]);
                if let Some(named) = self.survey.companies.get(&number) {
                    company.name = Some(named.name.clone());
                    company.id = named.id;
                }
            }
        }
        company
    }

    /// Hangs the companies below each other.
    fn finish(self) -> Tree {
        let above = |which: Which| match which {
            Which::Known(number) => self.owner(number).and_then(|owner| self.places.get(&owner).copied()),
            Which::Remote(_) => None,
        };
        let parents: Vec<Option<usize>> = self.companies.iter().map(|(which, _)| above(*which)).collect();
        CompanyForest::of(self.companies.into_iter().map(|(_, company)| company).zip(parents).collect())
    }
}

#[cfg(test)]
mod tests;
