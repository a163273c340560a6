//! Companies as they hang below each other, and a bounded walk through them in the order in which they are shown.
//!
//! What is said of a company is the affair of whoever fills the tree: the plan says what becomes of it, the report how far
//! it has come. No step recurses, so that a chain of ten thousand companies is no deeper here than one.

use std::ops::{Deref, DerefMut};

/// A company in its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// What is known of it.
    company: T,
    /// The company above it, by its place in the tree.
    pub parent: Option<usize>,
    /// How deep it hangs; 0 for those at the top.
    pub depth: usize,
    /// The companies directly below it, by their place in the tree.
    pub below: Vec<usize>,
}

impl<T> Deref for Placed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.company
    }
}

impl<T> DerefMut for Placed<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.company
    }
}

/// Companies as they hang below each other: one tree or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyForest<T> {
    /// All of them, each after the one above it.
    pub companies: Vec<Placed<T>>,
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
    /// Companies that are not shown, with all that are below them.
    More {
        /// How deep they hang.
        depth: usize,
        /// Their places.
        companies: Vec<usize>,
    },
}

impl<T> CompanyForest<T> {
    /// The tree of companies, each with the place of the one above it in this list. Those below one keep their order.
    pub fn of(companies: Vec<(T, Option<usize>)>) -> Self {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); companies.len()];
        for (place, (_, parent)) in companies.iter().enumerate() {
            if let Some(parent) = parent {
                below[*parent].push(place);
            }
        }
        let tops = (0..companies.len()).filter(|&place| companies[place].1.is_none());
        // Companies above each other in a circle, which only a damaged journal has, are at the top as well.
        let every: Vec<usize> = tops.chain(0..companies.len()).collect();
        let mut bare: Vec<Option<T>> = companies.into_iter().map(|(company, _)| Some(company)).collect();
        let mut tree = Self { companies: Vec::with_capacity(bare.len()), roots: Vec::new() };
        for top in every {
            let mut open = vec![(top, None, 0)];
            while let Some((place, parent, depth)) = open.pop() {
                let Some(company) = bare[place].take() else { continue };
                let here = tree.companies.len();
                tree.companies.push(Placed { company, parent, depth, below: Vec::new() });
                match parent {
                    Some(parent) => tree.companies[parent].below.push(here),
                    None => tree.roots.push(here),
                }
                open.extend(below[place].iter().rev().map(|&child| (child, Some(here), depth + 1)));
            }
        }
        tree
    }

    /// Adds every company to the one above it, from below.
    pub fn add_up(&mut self, mut add: impl FnMut(&mut T, &T)) {
        for place in (0..self.companies.len()).rev() {
            let (before, rest) = self.companies.split_at_mut(place);
            if let Some(parent) = rest[0].parent {
                add(&mut before[parent], &rest[0]);
            }
        }
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
                let companies = self.with_all_below(&beside[passed..]);
                visits.push(Visit::More { depth: company.depth, companies });
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

    /// These companies and all below them.
    fn with_all_below(&self, tops: &[usize]) -> Vec<usize> {
        let mut places = tops.to_vec();
        let mut next = 0;
        while let Some(&place) = places.get(next) {
            places.extend(&self.companies[place].below);
            next += 1;
        }
        places
    }
}
