//! What the provider offers and a device is attached to: an enterprise template or a VPN cloud, as a row names it
//! (specification 2.8).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::id::RemoteId;
use crate::model::key::comparable;

/// An enterprise template or VPN cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Offer {
    /// By its id.
    Id(RemoteId),
    /// By its name among those that the device has or may have.
    Name {
        /// The name, as the row has it.
        name: String,
        /// Its id, once a list has shown it.
        #[serde(skip)]
        id: Option<RemoteId>,
    },
}

impl Offer {
    /// One named by its name.
    pub fn named(name: impl Into<String>) -> Self {
        Self::Name { name: name.into(), id: None }
    }

    /// Its id, as far as it is known.
    pub const fn id(&self) -> Option<RemoteId> {
        match self {
            Self::Id(id) => Some(*id),
            Self::Name { id, .. } => *id,
        }
    }

    /// Whether it is the same as another one; `None` where the one has a name and the other an id, and nothing tells.
    pub fn is_same(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Name { name: own, .. }, Self::Name { name, .. }) => {
                Some(comparable(own) == comparable(name))
            }
            _ => self.id().zip(other.id()).map(|(own, id)| own == id),
        }
    }

    /// Takes in the id of one that is named by its name.
    pub fn set_id(&mut self, found: RemoteId) {
        match self {
            Self::Id(_) => {}
            Self::Name { id, .. } => *id = Some(found),
        }
    }
}

/// One that is not named yet.
impl Default for Offer {
    fn default() -> Self {
        Self::Id(RemoteId::nil())
    }
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name { name, .. } => f.write_str(name),
        }
    }
}
