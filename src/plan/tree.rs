//! The companies of a plan as they hang below each other, with what becomes of the rows in each.

use std::collections::HashMap;

use super::action::{Fate, Fates};
use super::survey::{Fated, Origin, Survey};
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::record::Target;
use crate::model::state::JobState;

/// A company of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    /// Its name; `None` when only its id is known.
    pub name: Option<String>,
    /// Its id, once it exists.
    pub id: Option<RemoteId>,
    /// Its job; `None` when the journal knows it by its id only.
    pub job: Option<JobId>,
    /// Where its job stands before the run.
    pub state: Option<JobState>,
    /// What becomes of it; `None` when it exists and the journal has no job for it.
    pub fate: Option<Fate>,
    /// The company above it, by its place in the tree.
    pub parent: Option<usize>,
    /// How deep it hangs; 0 for those at the top.
    pub depth: usize,
    /// The rows of the sheets directly in it, by kind.
    pub rows: [Fates; Kind::ALL.len()],
    /// The companies directly below it, by their place in the tree.
    pub below: Vec<usize>,
}

impl Company {
    /// What it is called: its name, else its id.
    pub fn title(&self) -> String {
        match (&self.name, self.id) {
            (Some(name), _) => name.clone(),
            (None, Some(id)) => id.to_string(),
            (None, None) => String::new(),
        }
    }

    /// The rows of one kind directly in it.
    pub fn of(&self, kind: Kind) -> &Fates {
        &self.rows[kind as usize]
    }
}

/// The companies of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// All of them, each after the one above it.
    pub companies: Vec<Company>,
    /// Those at the top, by their place.
    pub roots: Vec<usize>,
}

/// How much of a tree is shown.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Companies directly below one.
    pub broad: usize,
    /// Levels.
    pub deep: usize,
    /// Companies in all.
    pub all: usize,
}

/// A step of a walk through the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visit {
    /// A company; what is below it follows, up to its [`Visit::Leave`].
    Enter(usize),
    /// The end of what is below a company.
    Leave(usize),
    /// Companies that are not shown, with all that is in and below them.
    More {
        /// How deep they hang.
        depth: usize,
        /// How many there are.
        companies: u64,
        /// The rows in them.
        rows: [Fates; Kind::ALL.len()],
    },
}

/// What names a company.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Which {
    Known(u32),
    Remote(RemoteId),
}

impl Tree {
    /// The companies that rows of the sheets are, belong to, or hang below.
    pub(super) fn of(survey: &Survey, fated: &Fated) -> Self {
        let mut growing = Growing { survey, fated, places: HashMap::new(), companies: Vec::new() };
        for (number, node) in (0_u32..).zip(&survey.nodes) {
            if !matches!(node.origin, Origin::Sheets { .. }) {
                continue;
            }
            if node.kind == Kind::Company {
                growing.company(Which::Known(number));
            }
            let Some(owner) = growing.owner(number) else { continue };
            let owner = growing.company(owner);
            growing.companies[owner].rows[node.kind as usize].add(fated.fates[number as usize]);
        }
        growing.finish()
    }

    /// Walks through the tree, the companies below one before the next beside it, and shows no more than `extent`.
    pub fn walk(&self, extent: Extent) -> Vec<Visit> {
        enum Step<'a> {
            Beside(&'a [usize], usize),
            Leave(usize),
        }
        let mut visits = Vec::new();
        let mut shown = 0;
        let mut open = vec![Step::Beside(&self.roots, 0)];
        while let Some(step) = open.pop() {
            let (beside, passed) = match step {
                Step::Leave(place) => {
                    visits.push(Visit::Leave(place));
                    continue;
                }
                Step::Beside(beside, passed) => (beside, passed),
            };
            let Some(&place) = beside.get(passed) else { continue };
            let company = &self.companies[place];
            // One that would be alone among those not shown takes no more room than the word about it.
            let full = passed >= extent.broad && beside.len() > passed + 1;
            if full || company.depth >= extent.deep || shown >= extent.all {
                visits.push(self.more(&beside[passed..], company.depth));
                continue;
            }
            shown += 1;
            visits.push(Visit::Enter(place));
            open.push(Step::Beside(beside, passed + 1));
            open.push(Step::Leave(place));
            open.push(Step::Beside(&company.below, 0));
        }
        visits
    }

    /// What is in these companies and below them.
    fn more(&self, tops: &[usize], depth: usize) -> Visit {
        let mut rows = [Fates::default(); Kind::ALL.len()];
        let mut companies = 0;
        let mut open = tops.to_vec();
        while let Some(place) = open.pop() {
            let company = &self.companies[place];
            companies += 1;
            for (sum, more) in rows.iter_mut().zip(&company.rows) {
                sum.add_all(more);
            }
            open.extend(&company.below);
        }
        Visit::More { depth, companies, rows }
    }
}

/// A tree in the making.
struct Growing<'a> {
    survey: &'a Survey,
    fated: &'a Fated,
    places: HashMap<Which, usize>,
    companies: Vec<Company>,
}

impl Growing<'_> {
    /// The company that a job belongs to, or that is above it.
    fn owner(&self, number: u32) -> Option<Which> {
        match self.survey.nodes[number as usize].owner? {
            Target::Job(job) => self.survey.by_job.get(&job).copied().map(Which::Known),
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
            self.companies.push(self.bare(next));
            open = match next {
                Which::Known(number) => self.owner(number),
                Which::Remote(_) => None,
            };
        }
        self.places[&which]
    }

    fn bare(&self, which: Which) -> Company {
        let mut company = Company {
            name: None,
            id: None,
            job: None,
            state: None,
            fate: None,
            parent: None,
            depth: 0,
            rows: [Fates::default(); Kind::ALL.len()],
            below: Vec::new(),
        };
        match which {
            Which::Remote(id) => company.id = Some(id),
            Which::Known(number) => {
                let node = &self.survey.nodes[number as usize];
                company.job = Some(node.job);
                company.state = Some(node.state);
                company.fate = Some(self.fated.fates[number as usize]);
                if let Some(named) = self.survey.companies.get(&number) {
                    company.name = Some(named.name.clone());
                    company.id = named.id;
                }
            }
        }
        company
    }

    /// Hangs the companies below each other and brings them in the order of a walk.
    fn finish(self) -> Tree {
        let whichever: Vec<(Which, usize)> =
            self.places.iter().map(|(which, place)| (*which, *place)).collect();
        let mut parents: Vec<Option<usize>> = vec![None; self.companies.len()];
        for (which, place) in whichever {
            if let Which::Known(number) = which {
                parents[place] = self.owner(number).and_then(|owner| self.places.get(&owner).copied());
            }
        }
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
        for (place, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                below[*parent].push(place);
            }
        }
        let tops = (0..parents.len()).filter(|&place| parents[place].is_none());
        // Companies above each other in a circle, which only a damaged journal has, are at the top as well.
        let every: Vec<usize> = tops.chain(0..parents.len()).collect();
        let mut order: Vec<(usize, Option<usize>, usize)> = Vec::with_capacity(parents.len());
        let mut taken: Vec<Option<usize>> = vec![None; parents.len()];
        for top in every {
            let mut open = vec![(top, None, 0)];
            while let Some((place, parent, depth)) = open.pop() {
                if taken[place].is_some() {
                    continue;
                }
                taken[place] = Some(order.len());
                order.push((place, parent, depth));
                let here = taken[place];
                open.extend(below[place].iter().rev().map(|&child| (child, here, depth + 1)));
            }
        }
        let mut bare: Vec<Option<Company>> = self.companies.into_iter().map(Some).collect();
        let mut tree = Tree::default();
        for (place, parent, depth) in order {
            let Some(mut company) = bare[place].take() else { continue };
            let new = tree.companies.len();
            (company.parent, company.depth) = (parent, depth);
            tree.companies.push(company);
            match parent {
                Some(parent) => tree.companies[parent].below.push(new),
                None => tree.roots.push(new),
            }
        }
        tree
    }
}

#[cfg(test)]
mod tests;
