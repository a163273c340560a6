//! Labels on Ethernet interfaces, devices and sites (specification 4.3). The three differ only in their owner.
//!
//! To put a label that the owner has already changes nothing and answers with the one that is there.

use serde_json::{Value, json};
use uuid::Uuid;

use super::attached::{self, Attached};
use super::call::{Call, device, site};
use super::devices::owner_of_interface;
use super::validation::Form;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Label, World};

fn interface(call: &Call<'_>) -> Result<Uuid, Failure> {
    let id = call.id("interfaceDeviceId")?;
    owner_of_interface(call, id)?;
    Ok(id)
}

impl Attached for Label {
    type Wanted = (Option<Uuid>, String);

    const KIND: &'static str = "label";

    fn all(world: &World, owner: Uuid) -> &[Self] {
        world.labels(owner)
    }

    fn change(owner: Uuid, labels: Vec<Self>) -> Change {
        Change::Labels { owner, labels }
    }

    fn id(&self) -> Uuid {
        self.id
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

fn find(call: &Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let text = call.required("label")?;
    attached::find::<Label>(call, owner, &text, |label| label.label == text)
}

pub(crate) fn delete_interface_label_by_id(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = interface(call)?;
    let id = call.id("labelId")?;
    attached::remove::<Label>(call, owner, &id.to_string(), |label| label.id == id)
}

pub(crate) fn delete_interface_label(call: &mut Call<'_>) -> Result<Value, Failure> {
    let owner = interface(call)?;
    let text = call.required("label")?;
    attached::remove::<Label>(call, owner, &text, |label| label.label == text)
}

macro_rules! target {
    ($owner:ident: $find:ident, $list:ident, $put:ident, $put_several:ident) => {
        pub(crate) fn $find(call: &mut Call<'_>) -> Result<Value, Failure> {
            find(call, $owner(call)?)
        }

        pub(crate) fn $list(call: &mut Call<'_>) -> Result<Value, Failure> {
            Ok(attached::list::<Label>(call, $owner(call)?))
        }

        pub(crate) fn $put(call: &mut Call<'_>) -> Result<Value, Failure> {
            let owner = $owner(call)?;
            attached::put_one::<Label>(call, owner)
        }

        pub(crate) fn $put_several(call: &mut Call<'_>) -> Result<Value, Failure> {
            let owner = $owner(call)?;
            attached::put_several::<Label>(call, owner)
        }
    };
}

target!(interface: find_interface_label, list_interface_labels, put_interface_label, put_interface_labels);
target!(device: find_device_label, list_device_labels, put_device_label, put_device_labels);
target!(site: find_site_label, list_site_labels, put_site_label, put_site_labels);
