//! What an export asks about: a record, or the account.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::subject::OwnerKind;
use crate::model::id::RemoteId;
use crate::service::Found;

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    /// What it is.
    pub kind: OwnerKind,
    /// Its id; nil for the account, and where it is not known.
    pub id: RemoteId,
    /// Its name, where it is known.
    pub name: Option<String>,
    /// Of a company, the one above it, where that is known.
    pub parent: Option<RemoteId>,
    /// The record, where a list showed all of it.
    pub record: Option<Value>,
    /// Whether that record is an entry of a list, which may show less of it than its own look-up.
    #[serde(default)]
    pub is_listed: bool,
    /// Only what is of these devices, where it is asked about something larger.
    pub only: Option<Vec<RemoteId>>,
    /// What could not be found out about it before it is asked for: it is told, and nothing is asked.
    pub trouble: Option<String>,
}

/// A record that an export is asked for by name. There may be very many, and of most only the id is known.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedRecord {
    /// What it is, and its id.
    Known(OwnerKind, RemoteId),
    /// It could not be found.
    Unknown(Box<Owner>),
}

impl NamedRecord {
    /// What it is.
    pub(super) fn kind(&self) -> OwnerKind {
        match self {
            Self::Known(kind, _) => *kind,
            Self::Unknown(owner) => owner.kind,
        }
    }

    /// The same as an owner.
    pub(super) fn owner(self) -> Owner {
        match self {
            Self::Known(kind, id) => Owner::new(kind, id),
            Self::Unknown(owner) => *owner,
        }
    }
}

impl Owner {
    /// A record of which only the id is known.
    pub fn new(kind: OwnerKind, id: RemoteId) -> Self {
        Self { kind, id, name: None, parent: None, record: None, is_listed: false, only: None, trouble: None }
    }

    /// The account.
    pub fn account() -> Self {
        Self::new(OwnerKind::Account, RemoteId::nil())
    }

    /// A record that a list shows; `None` without an id.
    pub(super) fn listed(kind: OwnerKind, found: Found) -> Option<Self> {
        let id = found.id?;
        Some(Self { name: found.name, ..Self::new(kind, id) })
    }

    /// The same that tells why it could not be looked into.
    pub fn troubled(self, why: String) -> Self {
        Self { trouble: Some(why), ..self }
    }

    /// What is known of it before anything is asked, under the names of the columns.
    pub(super) fn given(&self) -> Vec<(&'static str, Value)> {
        if self.id.is_nil() {
            return Vec::new();
        }
        let mut given = vec![("@owner", json!(self.id)), ("@owner_name", json!(self.name))];
        match self.kind {
            OwnerKind::Device => {
                given.extend([("@device", json!(self.id)), ("@device_name", json!(self.name))])
            }
            OwnerKind::Company | OwnerKind::CompanyTree => {
                given.extend([("@parent", json!(self.parent)), ("@company_name", json!(self.name))]);
            }
            OwnerKind::Account | OwnerKind::Site | OwnerKind::Person => {}
        }
        given.push(("@owner_kind", json!(self.kind.word())));
        given
    }

    /// What it is and its id, in words.
    pub(super) fn words(&self) -> String {
        match self.kind {
            OwnerKind::Account => "the account".to_owned(),
            _ if self.id.is_nil() => self.name.clone().unwrap_or_else(|| self.kind.word().to_owned()),
            OwnerKind::Company
            | OwnerKind::CompanyTree
            | OwnerKind::Site
            | OwnerKind::Person
            | OwnerKind::Device => format!("{} {}", self.kind.word(), self.id),
        }
    }
}
