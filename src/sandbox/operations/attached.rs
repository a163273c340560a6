//! What is attached to a record of another kind, a list for each owner: labels and metadata (specification 4.3, 4.6).
//!
//! How entries are listed, put and removed is the same for both and stands here. What an entry is, and when two are the
//! same, is left to `labels` and `metadata`.

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::call::Call;
use super::validation::each;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, World};

/// An entry of such a list.
pub(crate) trait Attached: Clone + PartialEq + Serialize {
    /// What is asked for when one is put.
    type Wanted;

    /// What the ledger calls it.
    const KIND: &'static str;

    /// The entries of an owner.
    fn all(world: &World, owner: Uuid) -> &[Self];

    /// The change that gives an owner these entries.
    fn change(owner: Uuid, entries: Vec<Self>) -> Change;

    /// Its id.
    fn id(&self) -> Uuid;

    /// How the answer shows one of several that were put.
    fn shown(&self) -> Value;

    /// The failure when there is none.
    fn absent(what: &str) -> Failure;

    /// Reads one from a body.
    fn read(body: &Value) -> Result<Self::Wanted, Failure>;

    /// Finds the entry that is meant, or adds it; gives it as it is then.
    fn place(call: &mut Call<'_>, entries: &mut Vec<Self>, wanted: Self::Wanted) -> Result<Self, Failure>;
}

/// The first entry of an owner that is the one looked for.
pub(in crate::sandbox) fn find<T: Attached>(
    call: &Call<'_>,
    owner: Uuid,
    what: &str,
    is: impl Fn(&T) -> bool,
) -> Result<Value, Failure> {
    let entry = T::all(call.world, owner).iter().find(|entry| is(entry));
    entry.map(|entry| json!(entry)).ok_or_else(|| T::absent(what))
}

/// All entries of an owner.
pub(in crate::sandbox) fn list<T: Attached>(call: &Call<'_>, owner: Uuid) -> Value {
    call.page(T::all(call.world, owner).iter().map(|entry| json!(entry)))
}

/// Puts the entry of the body.
pub(in crate::sandbox) fn put_one<T: Attached>(call: &mut Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let wanted = T::read(call.body)?;
    let mut entries = T::all(call.world, owner).to_vec();
    let entry = T::place(call, &mut entries, wanted)?;
    store(call, owner, entry.id(), entries);
    Ok(json!(entry))
}

/// Puts all entries of the body, or none.
pub(in crate::sandbox) fn put_several<T: Attached>(
    call: &mut Call<'_>,
    owner: Uuid,
) -> Result<Value, Failure> {
    let wanted = each(call.body, T::read)?;
    let mut entries = T::all(call.world, owner).to_vec();
    let mut placed = Vec::new();
    for one in wanted {
        placed.push(T::place(call, &mut entries, one)?.shown());
    }
    store(call, owner, owner, entries);
    Ok(Value::Array(placed))
}

/// Removes the first entry that is the one meant.
pub(in crate::sandbox) fn remove<T: Attached>(
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
