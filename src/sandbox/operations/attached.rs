//! Labels and metadata: lists attached to an interface, a device, a site or a company (specification 4.3, 4.6).
//!
//! A label that its owner has already is not put a second time: the one that is there is the answer. A key is there once
//! for each owner: to put it again changes its value.

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::call::{Call, device, site};
use super::devices::owner_of_interface;
use super::validation::{Form, each};
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Company, Device, Label, Metadata, Site, World};

/// A kind of record that something is attached to.
pub(crate) trait Owner {
    /// The one that the path names, which must be there.
    fn of(call: &Call<'_>) -> Result<Uuid, Failure>;
}

/// An Ethernet interface of a device.
pub(crate) struct EthernetInterface;

impl Owner for EthernetInterface {
    fn of(call: &Call<'_>) -> Result<Uuid, Failure> {
        let id = call.id("interfaceDeviceId")?;
        owner_of_interface(call, id)?;
        Ok(id)
    }
}

impl Owner for Device {
    fn of(call: &Call<'_>) -> Result<Uuid, Failure> {
        device(call)
    }
}

impl Owner for Site {
    fn of(call: &Call<'_>) -> Result<Uuid, Failure> {
        site(call)
    }
}

impl Owner for Company {
    fn of(call: &Call<'_>) -> Result<Uuid, Failure> {
        let id = call.id("companyId")?;
        call.company(id).map(|company| company.id)
    }
}

/// An entry of such a list.
pub(crate) trait Attached: Clone + PartialEq + Serialize {
    /// What is asked for when one is put.
    type Wanted;

    /// What the ledger calls it.
    const KIND: &'static str;

    /// The parameter that names one by its id.
    const ID: &'static str;

    /// The parameter that names one by its text.
    const TEXT: &'static str;

    /// The entries of an owner.
    fn all(world: &World, owner: Uuid) -> &[Self];

    /// The change that gives an owner these entries.
    fn change(owner: Uuid, entries: Vec<Self>) -> Change;

    /// Its id.
    fn id(&self) -> Uuid;

    /// Its label or its key.
    fn text(&self) -> &str;

    /// How the answer shows one of several that were put.
    fn shown(&self) -> Value;

    /// The failure when there is none.
    fn absent(what: &str) -> Failure;

    /// Reads one from a body.
    fn read(body: &Value) -> Result<Self::Wanted, Failure>;

    /// Finds the entry that is meant, or adds it; gives it as it is then.
    fn place(call: &mut Call<'_>, entries: &mut Vec<Self>, wanted: Self::Wanted) -> Result<Self, Failure>;
}

impl Attached for Label {
    type Wanted = (Option<Uuid>, String);

    const KIND: &'static str = "label";
    const ID: &'static str = "labelId";
    const TEXT: &'static str = "label";

    fn all(world: &World, owner: Uuid) -> &[Self] {
        world.labels(owner)
    }

    fn change(owner: Uuid, labels: Vec<Self>) -> Change {
        Change::Labels { owner, labels }
    }

    fn id(&self) -> Uuid {
        self.id
    }

    fn text(&self) -> &str {
        &self.label
    }

    fn shown(&self) -> Value {
        json!(self)
    }

    fn absent(what: &str) -> Failure {
        Failure::NoDataFound(format!("No label found: {what}"))
    }

    fn read(body: &Value) -> Result<Self::Wanted, Failure> {
        let mut form = Form::of("label", body)?;
        let id = form.optional_id("id");
        let text = form.text("label");
        form.judge()?;
        Ok((id, text))
    }

    fn place(call: &mut Call<'_>, labels: &mut Vec<Self>, wanted: Self::Wanted) -> Result<Self, Failure> {
        let (id, text) = wanted;
        if let Some(id) = id {
            let known = labels.iter_mut().find(|label| label.id == id);
            let known = known.ok_or_else(|| Self::absent(&id.to_string()))?;
            known.label = text;
            return Ok(known.clone());
        }
        if let Some(known) = labels.iter().find(|label| label.label == text) {
            return Ok(known.clone());
        }
        let label = Self { id: call.fresh_id(), label: text };
        labels.push(label.clone());
        Ok(label)
    }
}

/// What is asked for when metadata is put.
pub(crate) struct WantedMetadata {
    id: Option<Uuid>,
    key: String,
    value: String,
}

impl Attached for Metadata {
    type Wanted = WantedMetadata;

    const KIND: &'static str = "metadata";
    const ID: &'static str = "metadataId";
    const TEXT: &'static str = "key";

    fn all(world: &World, owner: Uuid) -> &[Self] {
        world.metadata(owner)
    }

    fn change(owner: Uuid, entries: Vec<Self>) -> Change {
        Change::Metadata { owner, entries }
    }

    fn id(&self) -> Uuid {
        self.id
    }

    fn text(&self) -> &str {
        &self.key
    }

    /// Without its id, as the specification shows it.
    fn shown(&self) -> Value {
        json!({ "key": self.key, "value": self.value })
    }

    fn absent(what: &str) -> Failure {
        Failure::NoDataFound(format!("No metadata found: {what}"))
    }

    fn read(body: &Value) -> Result<WantedMetadata, Failure> {
        let mut form = Form::of("metadata", body)?;
        let id = form.optional_id("id");
        let key = form.text("key");
        let value = form.text("value");
        form.judge()?;
        Ok(WantedMetadata { id, key, value })
    }

    fn place(call: &mut Call<'_>, entries: &mut Vec<Self>, wanted: WantedMetadata) -> Result<Self, Failure> {
        let WantedMetadata { id, key, value } = wanted;
        let known = match id {
            Some(id) => {
                let known = entries.iter_mut().find(|entry| entry.id == id);
                Some(known.ok_or_else(|| Self::absent(&id.to_string()))?)
            }
            None => entries.iter_mut().find(|entry| entry.key == key),
        };
        if let Some(known) = known {
            known.key = key;
            known.value = value;
            return Ok(known.clone());
        }
        let entry = Self { id: call.fresh_id(), key, value };
        entries.push(entry.clone());
        Ok(entry)
    }
}

/// The first entry of an owner that has the text asked for.
pub(crate) fn find<T: Attached, O: Owner>(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = O::of(call)?;
    let text = call.required(T::TEXT)?;
    let entry = T::all(call.world, owner).iter().find(|entry| entry.text() == text);
    entry.map(|entry| json!(entry)).ok_or_else(|| T::absent(&text))
}

/// All entries of an owner.
pub(crate) fn list<T: Attached, O: Owner>(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = O::of(call)?;
    Ok(call.page(T::all(call.world, owner).iter().map(|entry| json!(entry))))
}

/// Puts the entry of the body.
pub(crate) fn put<T: Attached, O: Owner>(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = O::of(call)?;
    let wanted = T::read(call.body)?;
    let mut entries = T::all(call.world, owner).to_vec();
    let entry = T::place(call, &mut entries, wanted)?;
    store(call, owner, entry.id(), entries);
    Ok(json!(entry))
}

/// Puts all entries of the body, or none.
pub(crate) fn put_several<T: Attached, O: Owner>(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = O::of(call)?;
    let wanted = each(call.body, T::read)?;
    let mut entries = T::all(call.world, owner).to_vec();
    let mut placed = Vec::new();
    for one in wanted {
        placed.push(T::place(call, &mut entries, one)?.shown());
    }
    store(call, owner, owner, entries);
    Ok(Value::Array(placed))
}

/// Removes the entry that the path names by its id.
pub(crate) fn delete_by_id<T: Attached, O: Owner>(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = O::of(call)?;
    let id = call.id(T::ID)?;
    remove::<T>(call, owner, &id.to_string(), |entry| entry.id() == id)
}

/// Removes the first entry that has the text asked for.
pub(crate) fn delete_by_text<T: Attached, O: Owner>(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = O::of(call)?;
    let text = call.required(T::TEXT)?;
    remove::<T>(call, owner, &text, |entry| entry.text() == text)
}

fn remove<T: Attached>(
    call: &mut Call<'_>,
    owner: Uuid,
    what: &str,
    is: impl Fn(&T) -> bool,
) -> Result<Value, Failure> {
    let mut entries = T::all(call.world, owner).to_vec();
    let place = entries.iter().position(is).ok_or_else(|| T::absent(what))?;
    let entry = entries.remove(place);
    store(call, owner, entry.id(), entries);
    Ok(Value::Null)
}

fn store<T: Attached>(call: &mut Call<'_>, owner: Uuid, id: Uuid, entries: Vec<T>) {
    let before = T::all(call.world, owner);
    if before == entries.as_slice() {
        return;
    }
    let created = before.len() < entries.len();
    call.commit(created, T::KIND, id, Some(owner), T::change(owner, entries));
}
