//! How many jobs of each kind are in each state. The counts of a run always add up to its rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::state::JobState;
use crate::model::kind::Kind;

/// Counts of jobs by kind and state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tally {
    /// Numbers of rows, by kind and state; what is missing is none.
    counts: BTreeMap<Kind, BTreeMap<JobState, u64>>,
}

impl Tally {
    /// How many jobs are in each state, in the order of the states.
    pub fn by_state(&self) -> BTreeMap<JobState, u64> {
        JobState::ALL.iter().map(|&state| (state, self.in_state(state))).collect()
    }

    /// Adds `count` jobs of `kind` in `state`.
    pub fn add(&mut self, kind: Kind, state: JobState, count: u64) {
        if count > 0 {
            *self.counts.entry(kind).or_default().entry(state).or_default() += count;
        }
    }

    /// Adds the counts of another to these.
    pub fn add_all(&mut self, other: &Self) {
        for (&kind, states) in &other.counts {
            states.iter().for_each(|(&state, &count)| self.add(kind, state, count));
        }
    }

    /// Takes the counts of another away from these.
    pub fn take_away(&mut self, other: &Self) {
        for (kind, states) in &other.counts {
            for (state, count) in states {
                if let Some(own) = self.counts.get_mut(kind).and_then(|own| own.get_mut(state)) {
                    *own = own.saturating_sub(*count);
                }
            }
        }
    }

    /// Moves one job of `kind` from one state to another.
    pub fn shift(&mut self, kind: Kind, from: JobState, to: JobState) {
        if let Some(count) = self.counts.get_mut(&kind).and_then(|states| states.get_mut(&from)) {
            *count = count.saturating_sub(1);
        }
        self.add(kind, to, 1);
    }

    /// Jobs of `kind` in `state`.
    pub fn of(&self, kind: Kind, state: JobState) -> u64 {
        self.counts.get(&kind).and_then(|states| states.get(&state)).copied().unwrap_or(0)
    }

    /// Jobs of every kind in `state`.
    pub fn in_state(&self, state: JobState) -> u64 {
        Kind::ALL.iter().map(|&kind| self.of(kind, state)).sum()
    }

    /// Jobs of `kind` in every state.
    pub fn of_kind(&self, kind: Kind) -> u64 {
        JobState::ALL.iter().map(|&state| self.of(kind, state)).sum()
    }

    /// All jobs.
    pub fn total(&self) -> u64 {
        Kind::ALL.iter().map(|&kind| self.of_kind(kind)).sum()
    }

    /// Jobs for which `wanted` holds.
    pub fn count(&self, wanted: impl Fn(JobState) -> bool) -> u64 {
        JobState::ALL.iter().filter(|&&state| wanted(state)).map(|&state| self.in_state(state)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_a_job_keeps_the_total() {
        let mut tally = Tally::default();
        tally.add(Kind::Device, JobState::Ready, 3);
        tally.shift(Kind::Device, JobState::Ready, JobState::Created);
        assert_eq!(tally.total(), 3);
        assert_eq!(tally.of(Kind::Device, JobState::Ready), 2);
        assert_eq!(tally.in_state(JobState::Created), 1);
        assert_eq!(tally.count(JobState::is_final), 1);
    }
}
