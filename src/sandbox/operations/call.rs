//! The context of one operation: what it may read, and the one way in which it changes the world.

use serde_json::{Value, json};
use uuid::Uuid;

use super::validation::parse_id;
use crate::sandbox::exchange::Millis;
use crate::sandbox::scenario::DeviceStatus;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Company, Device, Site, World};

/// A change that an operation has made, for the ledger.
#[derive(Debug)]
pub(crate) struct Commit {
    /// Whether a record came into being, as against one that changed.
    pub(crate) created: bool,
    pub(crate) kind: &'static str,
    pub(crate) id: Uuid,
    pub(crate) parent: Option<Uuid>,
    pub(crate) change: Change,
    /// The change that takes it back.
    pub(crate) previous: Change,
}

/// What an operation works with.
pub(crate) struct Call<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) chance: &'a mut fastrand::Rng,
    /// The service's own clock.
    pub(crate) now: Millis,
    pub(crate) lookup_lag: Millis,
    pub(crate) page_limit: usize,
    /// What the scenario says of the status of devices.
    pub(crate) device_status: &'a DeviceStatus,
    pub(crate) seed: u64,
    /// When the sandbox was opened, by the service's own clock.
    pub(crate) opened: Millis,
    /// Parameters of the path and of the query string, by name.
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) body: &'a Value,
    pub(crate) commits: Vec<Commit>,
    /// A creation that makes a site of its own breaks down once that is made.
    pub(crate) ends_after_site: bool,
}

impl Call<'_> {
    pub(crate) fn fresh_id(&mut self) -> Uuid {
        fresh_id(self.chance)
    }

    /// An optional parameter; one without a value is not there.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        self.parameters
            .iter()
            .find(|(known, value)| known == name && !value.is_empty())
            .map(|(_, value)| value.clone())
    }

    pub(crate) fn required(&self, name: &str) -> Result<String, Failure> {
        self.parameter(name).ok_or_else(|| Failure::InvalidParam(format!("Parameter {name} is required")))
    }

    pub(crate) fn optional_id(&self, name: &str) -> Result<Option<Uuid>, Failure> {
        let Some(text) = self.parameter(name) else {
            return Ok(None);
        };
        match parse_id(&text) {
            Some(id) => Ok(Some(id)),
            None => Err(Failure::InvalidParam(format!("Parameter {name} is not a valid UUID"))),
        }
    }

    pub(crate) fn id(&self, name: &str) -> Result<Uuid, Failure> {
        self.optional_id(name)?.ok_or_else(|| Failure::InvalidParam(format!("Parameter {name} is required")))
    }

    pub(crate) fn company(&self, id: Uuid) -> Result<&Company, Failure> {
        found(self.world.companies.get(id), "company", id)
    }

    pub(crate) fn site(&self, id: Uuid) -> Result<&Site, Failure> {
        found(self.world.sites.get(id), "site", id)
    }

    pub(crate) fn device(&self, id: Uuid) -> Result<&Device, Failure> {
        found(self.world.devices.get(id), "device", id)
    }

    /// Whether searches see a record made then.
    pub(crate) fn sees(&self, made_at: Millis) -> bool {
        self.lookup_lag == 0 || made_at.saturating_add(self.lookup_lag) <= self.now
    }

    /// A list as it is answered: no longer than the page limit.
    pub(crate) fn page(&self, entries: impl Iterator<Item = Value>) -> Value {
        if self.page_limit == 0 { entries.collect() } else { entries.take(self.page_limit).collect() }
    }

    /// Puts a new record into the world.
    pub(crate) fn create(&mut self, kind: &'static str, id: Uuid, parent: Option<Uuid>, change: Change) {
        self.commit(true, kind, id, parent, change);
    }

    /// Puts a changed record in place of the old one.
    pub(crate) fn alter(&mut self, kind: &'static str, id: Uuid, parent: Option<Uuid>, change: Change) {
        self.commit(false, kind, id, parent, change);
    }

    /// Puts a record in the world, new or changed.
    pub(crate) fn commit(
        &mut self,
        created: bool,
        kind: &'static str,
        id: Uuid,
        parent: Option<Uuid>,
        change: Change,
    ) {
        let previous = self.world.previous(&change);
        self.world.apply(change.clone());
        self.commits.push(Commit { created, kind, id, parent, change, previous });
    }
}

/// A random UUID, version 4 in its layout.
pub(crate) fn fresh_id(chance: &mut fastrand::Rng) -> Uuid {
    let bytes = chance.u128(..).to_be_bytes();
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

pub(crate) fn found<'a, T>(record: Option<&'a T>, kind: &str, id: Uuid) -> Result<&'a T, Failure> {
    record.ok_or_else(|| Failure::NoDataFound(format!("No {kind} found with id {id}")))
}

/// `{id, name}`, as several lists have it.
pub(crate) fn id_and_name(id: Uuid, name: &str) -> Value {
    json!({ "id": id, "name": name })
}

/// The device that the path names, which must be there.
pub(crate) fn device(call: &Call<'_>) -> Result<Uuid, Failure> {
    let id = call.id("deviceId")?;
    call.device(id).map(|device| device.id)
}

/// The site that the path names, which must be there.
pub(crate) fn site(call: &Call<'_>) -> Result<Uuid, Failure> {
    let id = call.id("siteId")?;
    call.site(id).map(|site| site.id)
}
