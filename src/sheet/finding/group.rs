//! Groups of equal findings: what makes two of them equal, how many there are and where.
//!
//! There are never more than some thousand groups: those that a hostile sheet would add are told together, whatever their
//! column. Which findings of a group are kept is left to [`super::list::Findings`].

use std::collections::HashMap;

use super::Finding;
use super::code::{Code, Severity};
use super::ranges::Places;

/// Groups told apart by column and header; a sheet with ever other headers would make ever more.
pub(super) const GROUPS: usize = 10_000;

/// What equal findings have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    /// The file, by its name as given.
    pub file: String,
    /// The worksheet; absent for text tables.
    pub sheet: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub code: Code,
    /// The column by its canonical name.
    pub column: Option<String>,
    /// The header of the column, as written in the file.
    pub header: Option<String>,
}

/// Equal findings of one column.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they have in common.
    pub key: GroupKey,
    /// How many there are.
    pub count: usize,
    /// Where they are.
    pub places: Places,
    /// How many of them are kept.
    pub(super) kept: usize,
    /// The first of them, by their place among those kept.
    pub(super) first: Vec<usize>,
}

impl Group {
    /// Whether some of them are counted and placed only.
    pub fn is_shortened(&self) -> bool {
        self.beyond() > 0
    }

    /// How many of them are.
    pub(super) fn beyond(&self) -> usize {
        self.count - self.kept
    }
}

/// All groups, each found by its key.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    numbers: HashMap<GroupKey, usize>,
}

impl Groups {
    /// The groups, in the order their first findings came.
    pub(super) fn all(&self) -> &[Group] {
        &self.all
    }

    /// The same, to be taken in by another list.
    pub(super) fn into_all(self) -> Vec<Group> {
        self.all
    }

    /// The group of this number.
    pub(super) fn at(&mut self, number: usize) -> &mut Group {
        &mut self.all[number]
    }

    /// The number of the group of a finding; of a new one, if it is the first.
    pub(super) fn of(&mut self, finding: &Finding) -> usize {
        self.with(GroupKey {
            file: finding.file.clone(),
            sheet: finding.sheet.clone(),
            severity: finding.severity,
            code: finding.code,
            column: finding.column.clone(),
            header: finding.header.clone(),
        })
    }

    /// The number of the group with this key; of a new one, if there is none and room for it.
    pub(super) fn with(&mut self, mut key: GroupKey) -> usize {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        if self.all.len() >= GROUPS {
            (key.column, key.header) = (None, None);
        }
        let next = self.all.len();
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            let (places, first) = (Places::default(), Vec::new());
            self.all.push(Group { key, count: 0, places, kept: 0, first });
        }
        number
    }

    /// Leaves only the groups whose keys are wanted.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&GroupKey) -> bool) {
        self.all.retain(|group| is_wanted(&group.key));
        let keys = self.all.iter().map(|group| group.key.clone());
        self.numbers = keys.zip(0..).collect();
    }
}
