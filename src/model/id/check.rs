//! What look-ups by id have shown of the records that sheets name: which of them exist.

use std::collections::{BTreeMap, BTreeSet};

use super::RemoteId;
use crate::model::kind::Kind;

/// A record of the service as a sheet names it: by its id, as a record of this kind.
pub type NamedId = (Kind, RemoteId);

/// See the module. An id is in one of the four.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdCheck {
    /// The service has a record of the kind with this id.
    pub verified: BTreeSet<NamedId>,
    /// The service says that it has none.
    pub absent: BTreeSet<NamedId>,
    /// The look-up had no usable answer, for this reason: nothing is known of the id.
    pub failed: BTreeMap<NamedId, String>,
    /// No operation that looks the id up can be reached.
    pub unreachable: BTreeSet<NamedId>,
}

/// What an answer shows of the record that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdStanding {
    /// It is there.
    Verified,
    /// It is not there.
    Absent,
    /// Nothing, for this reason.
    Unknown(String),
}

impl IdCheck {
    /// Takes in what an answer showed.
    pub fn note(&mut self, id: NamedId, standing: IdStanding) {
        match standing {
            IdStanding::Verified => drop(self.verified.insert(id)),
            IdStanding::Absent => drop(self.absent.insert(id)),
            IdStanding::Unknown(why) => drop(self.failed.insert(id, why)),
        }
    }

    /// Takes in what another look showed of other ids.
    pub fn append(&mut self, mut other: Self) {
        self.verified.append(&mut other.verified);
        self.absent.append(&mut other.absent);
        self.failed.append(&mut other.failed);
        self.unreachable.append(&mut other.unreachable);
    }

    /// How many of some ids are of each kind.
    pub fn by_kind<'a>(ids: impl IntoIterator<Item = &'a NamedId>) -> BTreeMap<Kind, u64> {
        let mut counts = BTreeMap::new();
        for (kind, _) in ids {
            *counts.entry(*kind).or_default() += 1;
        }
        counts
    }
}
