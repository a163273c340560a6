//! Key/value metadata of companies, devices and sites (specification 4.6). The three differ only in their owner.
//!
//! A key is there once for each owner: to put it again changes its value.

use serde_json::{Value, json};
use uuid::Uuid;

use super::attached::{self, Attached};
use super::call::{Call, device, site};
use super::validation::Form;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Metadata, World};

fn company(call: &Call<'_>) -> Result<Uuid, Failure> {
    let id = call.id("companyId")?;
    call.company(id).map(|company| company.id)
}

/// What is asked for when metadata is put.
pub(crate) struct Wanted {
    id: Option<Uuid>,
    key: String,
    value: String,
}

impl Attached for Metadata {
    type Wanted = Wanted;

    const KIND: &'static str = "metadata";

    fn all(world: &World, owner: Uuid) -> &[Self] {
        world.metadata(owner)
    }

    fn change(owner: Uuid, entries: Vec<Self>) -> Change {
        Change::Metadata { owner, entries }
    }

    fn id(&self) -> Uuid {
        self.id
    }

    /// Without its id, as the specification shows it.
    fn shown(&self) -> Value {
        json!({ "key": self.key, "value": self.value })
    }

    fn absent(what: &str) -> Failure {
        Failure::NoDataFound(format!("No metadata found: {what}"))
    }

    fn read(body: &Value) -> Result<Wanted, Failure> {
        let mut form = Form::of("metadata", body)?;
        let id = form.optional_id("id");
        let key = form.text("key");
        let value = form.text("value");
        form.judge()?;
        Ok(Wanted { id, key, value })
    }

    fn place(call: &mut Call<'_>, entries: &mut Vec<Self>, wanted: Wanted) -> Result<Self, Failure> {
        let Wanted { id, key, value } = wanted;
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

fn find(call: &Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let key = call.required("key")?;
    attached::find::<Metadata>(call, owner, &key, |entry| entry.key == key)
}

fn remove(call: &mut Call<'_>, owner: Uuid) -> Result<Value, Failure> {
    let id = call.id("metadataId")?;
    attached::remove::<Metadata>(call, owner, &id.to_string(), |entry| entry.id == id)
}

macro_rules! target {
    ($owner:ident: $delete:ident, $list:ident, $find:ident, $put:ident, $put_several:ident) => {
        pub(crate) fn $delete(call: &mut Call<'_>) -> Result<Value, Failure> {
            let owner = $owner(call)?;
            remove(call, owner)
        }

        pub(crate) fn $list(call: &mut Call<'_>) -> Result<Value, Failure> {
            Ok(attached::list::<Metadata>(call, $owner(call)?))
        }

        pub(crate) fn $find(call: &mut Call<'_>) -> Result<Value, Failure> {
            find(call, $owner(call)?)
        }

        pub(crate) fn $put(call: &mut Call<'_>) -> Result<Value, Failure> {
            let owner = $owner(call)?;
            attached::put_one::<Metadata>(call, owner)
        }

        pub(crate) fn $put_several(call: &mut Call<'_>) -> Result<Value, Failure> {
            let owner = $owner(call)?;
            attached::put_several::<Metadata>(call, owner)
        }
    };
}

target!(company: delete_company_metadata, list_company_metadata, find_company_metadata,
    put_company_metadata, put_company_metadata_list);
target!(device: delete_device_metadata, list_device_metadata, find_device_metadata,
    put_device_metadata, put_device_metadata_list);
target!(site: delete_site_metadata, list_site_metadata, find_site_metadata,
    put_site_metadata, put_site_metadata_list);
