//! Key/value metadata of companies, devices and sites (specification 4.6). The three differ only in their owner.
//!
//! A key is there once for each owner: to put it again changes its value.

use serde_json::{Value, json};
use uuid::Uuid;

use super::call::{Call, device, site};
use super::failure::Failure;
use super::validation::{Form, each};
use super::world::{Change, Metadata};

fn company(call: &Call<'_>) -> Result<Uuid, Failure> {
    let id = call.id("companyId")?;
    call.company(id).map(|company| company.id)
}

fn absent(what: &str) -> Failure {
    Failure::NoDataFound(format!("No metadata found: {what}"))
}

fn find(call: &Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let key = call.required("key")?;
    let mut entries = call.world.metadata(owner).iter();
    let entry = entries.find(|entry| entry.key == key);
    entry.map(|entry| json!(entry)).ok_or_else(|| absent(&key))
}

fn list(call: &Call<'_>, owner: Uuid) -> Value {
    let entries = call.world.metadata(owner).iter();
    call.page(entries.map(|entry| json!(entry)))
}

struct Wanted {
    id: Option<Uuid>,
    key: String,
    value: String,
}

fn read(body: &Value) -> Result<Wanted, Failure> {
    let mut form = Form::of("metadata", body)?;
    let id = form.optional_id("id");
    let key = form.text("key");
    let value = form.text("value");
    form.judge()?;
    Ok(Wanted { id, key, value })
}

fn place(call: &mut Call<'_>, entries: &mut Vec<Metadata>, wanted: Wanted) -> Result<Metadata, Failure> {
    let Wanted { id, key, value } = wanted;
    let known = match id {
        Some(id) => {
            let known = entries.iter_mut().find(|entry| entry.id == id);
            Some(known.ok_or_else(|| absent(&id.to_string()))?)
        }
        None => entries.iter_mut().find(|entry| entry.key == key),
    };
    if let Some(known) = known {
        known.key = key;
        known.value = value;
        return Ok(known.clone());
    }
    let entry = Metadata { id: call.fresh_id(), key, value };
    entries.push(entry.clone());
    Ok(entry)
}

fn store(call: &mut Call<'_>, owner: Uuid, id: Uuid, entries: Vec<Metadata>) {
    let before = call.world.metadata(owner);
    if before == entries.as_slice() {
        return;
    }
    let created = before.len() < entries.len();
    let change = Change::Metadata { owner, entries };
    call.commit(created, "metadata", id, Some(owner), change);
}

fn put_one(call: &mut Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let wanted = read(call.body)?;
    let mut entries = call.world.metadata(owner).to_vec();
    let entry = place(call, &mut entries, wanted)?;
    store(call, owner, entry.id, entries);
    Ok(json!(entry))
}

/// The answer leaves the ids out, as the specification shows it.
fn put_several(call: &mut Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let wanted = each(call.body, read)?;
    let mut entries = call.world.metadata(owner).to_vec();
    let mut placed = Vec::new();
    for one in wanted {
        let entry = place(call, &mut entries, one)?;
        placed.push(json!({ "key": entry.key, "value": entry.value }));
    }
    store(call, owner, owner, entries);
    Ok(Value::Array(placed))
}

fn remove(call: &mut Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let id = call.id("metadataId")?;
    let mut entries = call.world.metadata(owner).to_vec();
    let place = entries.iter().position(|entry| entry.id == id);
    entries.remove(place.ok_or_else(|| absent(&id.to_string()))?);
    store(call, owner, id, entries);
    Ok(Value::Null)
}

macro_rules! target {
    ($owner:ident: $delete:ident, $list:ident, $find:ident, $put:ident, $put_several:ident) => {
        pub(crate) fn $delete(call: &mut Call<'_>) -> Result<Value, Failure> {
            let owner = $owner(call)?;
            remove(call, owner)
        }

        pub(crate) fn $list(call: &mut Call<'_>) -> Result<Value, Failure> {
            Ok(list(call, $owner(call)?))
        }

        pub(crate) fn $find(call: &mut Call<'_>) -> Result<Value, Failure> {
            find(call, $owner(call)?)
        }

        pub(crate) fn $put(call: &mut Call<'_>) -> Result<Value, Failure> {
            let owner = $owner(call)?;
            put_one(call, owner)
        }

        pub(crate) fn $put_several(call: &mut Call<'_>) -> Result<Value, Failure> {
            let owner = $owner(call)?;
            put_several(call, owner)
        }
    };
}

target!(company: delete_company_metadata, list_company_metadata, find_company_metadata,
    put_company_metadata, put_company_metadata_list);
target!(device: delete_device_metadata, list_device_metadata, find_device_metadata,
    put_device_metadata, put_device_metadata_list);
target!(site: delete_site_metadata, list_site_metadata, find_site_metadata,
    put_site_metadata, put_site_metadata_list);
