//! Sites and the devices assigned to them (specification 4.8).

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::call::{Call, id_and_name};
use super::validation::Form;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Site};

const DETAILS: [&str; 5] = ["latitude", "longitude", "address", "phoneNumber", "faxNumber"];

fn record(site: &Site) -> Value {
    let mut record = json!({ "id": site.id, "companyId": site.company, "name": site.name });
    if let Some(reference) = &site.reference {
        record["reference"] = json!(reference);
    }
    record
}

pub(crate) fn add_site(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut form = Form::of("site", call.body)?;
    let company = form.id("companyId");
    let name = form.text("name");
    let reference = form.optional_text("reference");
    form.number("latitude");
    form.number("longitude");
    form.address("address", true, false);
    form.text("phoneNumber");
    form.optional_text("faxNumber");
    let details = form.keep(&DETAILS);
    form.judge()?;
    call.company(company)?;
    let id = make(call, company, name.clone(), reference, details);
    Ok(id_and_name(id, &name))
}

/// Makes a site: on request, or for a device that brings its own.
pub(crate) fn make(
    call: &mut Call<'_>,
    company: Uuid,
    name: String,
    reference: Option<String>,
    details: Map<String, Value>,
) -> Uuid {
    let site = Site { id: call.fresh_id(), company, name, reference, made_at: call.now, details };
    let id = site.id;
    call.create("site", id, Some(company), Change::Site(site));
    id
}

pub(crate) fn update_site(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("siteId")?;
    let mut form = Form::of("site", call.body)?;
    let name = form.optional_text("name");
    let reference = form.optional_text("reference");
    form.number("latitude");
    form.number("longitude");
    form.address("address", false, false);
    form.optional_text("phoneNumber");
    form.optional_text("faxNumber");
    let details = form.keep(&DETAILS);
    form.judge()?;
    let mut site = call.site(id)?.clone();
    site.name = name.unwrap_or(site.name);
    site.reference = reference.or(site.reference);
    site.details.extend(details);
    let mut answer = record(&site);
    answer["companyName"] = json!(call.world.company_name(site.company));
    if let Some(fields) = answer.as_object_mut() {
        fields.extend(site.details.clone());
    }
    call.alter("site", id, Some(site.company), Change::Site(site));
    Ok(answer)
}

pub(crate) fn assign_device_to_site(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut form = Form::of("assignment", call.body)?;
    let site = form.id("siteId");
    let device = form.id("deviceId");
    form.judge()?;
    call.site(site)?;
    let mut device = call.device(device)?.clone();
    device.site = Some(site);
    call.alter("assignment", device.id, Some(site), Change::Device(device));
    Ok(Value::Null)
}

pub(crate) fn get_site(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("id")?;
    call.site(id).map(record)
}

pub(crate) fn list_sites(call: &mut Call<'_>) -> Result<Value, Failure> {
    let sites = call.world.sites.iter();
    Ok(call.page(sites.filter(|site| call.sees(site.made_at)).map(record)))
}

pub(crate) fn find_sites_by_name(call: &mut Call<'_>) -> Result<Value, Failure> {
    let part = call.required("name")?;
    let company = call.optional_id("companyId")?;
    let sites = call.world.sites.search(&part);
    Ok(call.page(
        sites
            .filter(|site| company.is_none_or(|company| site.company == company))
            .filter(|site| call.sees(site.made_at))
            .map(record),
    ))
}
