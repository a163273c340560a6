//! What a run does with a row, and how many rows have which fate.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::model::state::JobState;

/// What a run does with a row, if nothing goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Its record is created, and what the row asks for besides is done.
    Create,
    /// Its record is there; what the row asks for besides is still to be done.
    Complete,
    /// Nothing: it is done.
    There,
    /// Nothing: it is done, with other values than the row has now.
    Changed,
    /// Nothing: it was rejected and has not changed since; only `retry` sends it again.
    Rejected,
    /// Nothing: it was created, a later step was rejected, and it has not changed since; only `retry` sends that again.
    Incomplete,
    /// Nothing before a person has decided.
    Held,
    /// It is found out what became of its request.
    InDoubt,
    /// Nothing: it was given up.
    Cancelled,
    /// Nothing: something it needs is missing.
    Blocked,
}

/// How many fates there are.
const FATES: usize = 10;

impl Fate {
    /// Every fate, those that send first.
    pub const ALL: [Self; FATES] = [
        Self::Create,
        Self::Complete,
        Self::There,
        Self::Changed,
        Self::Rejected,
        Self::Incomplete,
        Self::Held,
        Self::InDoubt,
        Self::Cancelled,
        Self::Blocked,
    ];

    /// The name in the output for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Complete => "complete",
            Self::There => "there",
            Self::Changed => "changed",
            Self::Rejected => "rejected",
            Self::Incomplete => "incomplete",
            Self::Held => "held",
            Self::InDoubt => "in_doubt",
            Self::Cancelled => "cancelled",
            Self::Blocked => "blocked",
        }
    }

    /// What is said of such rows, as in "3 rows to be created".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Create => "to be created",
            Self::Complete => "created already and still to be completed",
            Self::There => "already in the service",
            Self::Changed => "already in the service, with other values",
            Self::Rejected => "rejected earlier and unchanged",
            Self::Incomplete => "created, with a later step that failed, and unchanged",
            Self::Held => "on hold: needs your decision",
            Self::InDoubt => "outcome unknown, to be looked up",
            Self::Cancelled => "cancelled earlier and unchanged",
            Self::Blocked => "blocked by something missing",
        }
    }

    /// Whether such a row needs something before it is sent.
    pub const fn waits(self) -> bool {
        match self {
            Self::Rejected
            | Self::Incomplete
            | Self::Held
            | Self::InDoubt
            | Self::Cancelled
            | Self::Blocked => true,
            Self::Create | Self::Complete | Self::There | Self::Changed => false,
        }
    }

    /// The fate of a job that waits for nothing; `None` for one whose fate is that of what it waits for.
    pub(super) fn of(state: JobState, made: bool, changed_since: bool) -> Option<Self> {
        match state {
            JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => {
                Some(if changed_since { Self::Changed } else { Self::There })
            }
            JobState::Ready | JobState::Deferred => Some(if made { Self::Complete } else { Self::Create }),
            JobState::Sending | JobState::InDoubt => Some(Self::InDoubt),
            JobState::Held => Some(Self::Held),
            JobState::Rejected => Some(Self::Rejected),
            JobState::Incomplete => Some(Self::Incomplete),
            JobState::Cancelled => Some(Self::Cancelled),
            JobState::Skipped => Some(Self::Blocked),
            JobState::Blocked => None,
        }
    }
}

/// Rows by their fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fates([u64; FATES]);

impl Fates {
    /// Adds a row.
    pub fn add(&mut self, fate: Fate) {
        self.0[fate as usize] += 1;
    }

    /// Adds those of another count.
    pub fn add_all(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }

    /// Rows with this fate.
    pub fn of(&self, fate: Fate) -> u64 {
        self.0[fate as usize]
    }

    /// All rows.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Rows that are done.
    pub fn there(&self) -> u64 {
        self.of(Fate::There) + self.of(Fate::Changed)
    }

    /// Rows that need something before they are sent.
    pub fn waiting(&self) -> u64 {
        Fate::ALL.into_iter().filter(|fate| fate.waits()).map(|fate| self.of(fate)).sum()
    }
}

impl Serialize for Fates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let filled = Fate::ALL.iter().filter(|fate| self.of(**fate) > 0);
        let mut map = serializer.serialize_map(None)?;
        for fate in filled {
            map.serialize_entry(fate.as_str(), &self.of(*fate))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fates {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let filled = std::collections::BTreeMap::<Fate, u64>::deserialize(deserializer)?;
        let mut fates = Self::default();
        for (fate, rows) in filled {
            fates.0[fate as usize] = rows;
        }
        Ok(fates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fate_of_a_row_follows_from_where_its_job_stands() {
        use JobState::{
            Adopted, Blocked, Cancelled, Created, Deferred, Done, Existing, Held, InDoubt, Incomplete, Ready,
            Rejected, Sending, Skipped,
        };
        for &state in JobState::ALL {
            let expected = match state {
                Ready | Deferred => Some(Fate::Create),
                Sending | InDoubt => Some(Fate::InDoubt),
                Created | Adopted | Existing | Done => Some(Fate::There),
                Held => Some(Fate::Held),
                Rejected => Some(Fate::Rejected),
                Incomplete => Some(Fate::Incomplete),
                Cancelled => Some(Fate::Cancelled),
                Skipped => Some(Fate::Blocked),
                Blocked => None,
            };
            assert_eq!(Fate::of(state, false, false), expected, "{state}");
        }
        assert_eq!(Fate::of(Ready, true, false), Some(Fate::Complete));
        assert_eq!(Fate::of(Created, true, true), Some(Fate::Changed));
    }

    #[test]
    fn counts_are_written_without_zeros_and_read_back() {
        let mut fates = Fates::default();
        for fate in [Fate::Create, Fate::Create, Fate::There, Fate::Held] {
            fates.add(fate);
        }
        assert_eq!((fates.total(), fates.there(), fates.waiting()), (4, 1, 1));
        let text = serde_json::to_string(&fates).unwrap();
        assert_eq!(text, r#"{"create":2,"there":1,"held":1}"#);
        assert_eq!(serde_json::from_str::<Fates>(&text).unwrap(), fates);
    }

    #[test]
    fn every_fate_has_its_place() {
        for (place, fate) in Fate::ALL.iter().enumerate() {
            assert_eq!(*fate as usize, place);
            assert_eq!(serde_json::to_value(fate).unwrap(), fate.as_str());
        }
    }
}
