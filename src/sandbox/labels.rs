//! Labels on Ethernet interfaces, devices and sites (specification 4.3). The three differ only in their owner.
//!
//! To put a label that the owner has already changes nothing and answers with the one that is there.

use serde_json::{Value, json};
use uuid::Uuid;

use super::call::{Call, device, site};
use super::devices::owner_of_interface;
use super::failure::Failure;
use super::validation::{Form, each};
use super::world::{Change, Label};

fn interface(call: &Call<'_>) -> Result<Uuid, Failure> {
    let id = call.id("interfaceDeviceId")?;
    owner_of_interface(call, id)?;
    Ok(id)
}

fn unlabelled(what: &str) -> Failure {
    Failure::NoDataFound(format!("No label found: {what}"))
}

fn find(call: &Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let text = call.required("label")?;
    let labels = call.world.labels(owner).iter();
    let label = labels.clone().find(|known| known.label == text);
    label.map(|label| json!(label)).ok_or_else(|| unlabelled(&text))
}

fn list(call: &Call<'_>, owner: Uuid) -> Value {
    let labels = call.world.labels(owner).iter();
    call.page(labels.map(|label| json!(label)))
}

fn read(body: &Value) -> Result<(Option<Uuid>, String), Failure> {
    let mut form = Form::of("label", body)?;
    let id = form.optional_id("id");
    let text = form.text("label");
    form.judge()?;
    Ok((id, text))
}

fn place(
    call: &mut Call<'_>,
    labels: &mut Vec<Label>,
    wanted: (Option<Uuid>, String),
) -> Result<Label, Failure> {
    let (id, text) = wanted;
    if let Some(id) = id {
        let known = labels.iter_mut().find(|label| label.id == id);
        let known = known.ok_or_else(|| unlabelled(&id.to_string()))?;
        known.label = text;
        return Ok(known.clone());
    }
    if let Some(known) = labels.iter().find(|label| label.label == text) {
        return Ok(known.clone());
    }
    let label = Label { id: call.fresh_id(), label: text };
    labels.push(label.clone());
    Ok(label)
}

fn store(call: &mut Call<'_>, owner: Uuid, id: Uuid, labels: Vec<Label>) {
    let before = call.world.labels(owner);
    if before == labels.as_slice() {
        return;
    }
    let created = before.len() < labels.len();
    let change = Change::Labels { owner, labels };
    call.commit(created, "label", id, Some(owner), change);
}

fn put_one(call: &mut Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let wanted = read(call.body)?;
    let mut labels = call.world.labels(owner).to_vec();
    let label = place(call, &mut labels, wanted)?;
    store(call, owner, label.id, labels);
    Ok(json!(label))
}

fn put_several(call: &mut Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let wanted = each(call.body, read)?;
    let mut labels = call.world.labels(owner).to_vec();
    let mut placed = Vec::new();
    for one in wanted {
        placed.push(place(call, &mut labels, one)?);
    }
    store(call, owner, owner, labels);
    Ok(json!(placed))
}

fn remove(
    call: &mut Call<'_>,
    owner: Uuid,
    what: &str,
    is: impl Fn(&Label) -> bool,
) -> Result<Value, Failure> {
    let mut labels = call.world.labels(owner).to_vec();
    let place = labels.iter().position(is).ok_or_else(|| unlabelled(what))?;
    let label = labels.remove(place);
    store(call, owner, label.id, labels);
    Ok(Value::Null)
}

pub(crate) fn delete_interface_label_by_id(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = interface(call)?;
    let id = call.id("labelId")?;
    remove(call, owner, &id.to_string(), |label| label.id == id)
}

pub(crate) fn delete_interface_label(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = interface(call)?;
    let text = call.required("label")?;
    remove(call, owner, &text, |label| label.label == text)
}

macro_rules! target {
    ($owner:ident: $find:ident, $list:ident, $put:ident, $put_several:ident) => {
        pub(crate) fn $find(call: &mut Call<'_>) -> Result<Value, Failure> {
            find(call, $owner(call)?)
        }

        pub(crate) fn $list(call: &mut Call<'_>) -> Result<Value, Failure> {
            Ok(list(call, $owner(call)?))
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

target!(interface: find_interface_label, list_interface_labels, put_interface_label, put_interface_labels);
target!(device: find_device_label, list_device_labels, put_device_label, put_device_labels);
target!(site: find_site_label, list_site_labels, put_site_label, put_site_labels);
