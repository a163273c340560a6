//! Enterprise templates and the devices subscribed to them (specification 2.8, 4.5).
//!
//! A template can be assigned to the devices of the company that owns it and of all companies below. To subscribe
//! twice, or to unsubscribe from what was never subscribed to, changes nothing: no error is documented for either.

use serde_json::{Value, json};
use uuid::Uuid;

use super::call::{Call, found};
use super::validation::Form;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Device, Offer};

fn record(call: &Call<'_>, template: &Offer) -> Value {
    json!({
        "id": template.id,
        "name": template.name,
        "pciTemplate": false,
        "companyId": template.company,
        "companyName": call.world.company_name(template.company),
    })
}

fn assignable(call: &Call<'_>, owners: &[Uuid]) -> Value {
    let templates = call.world.templates.iter();
    call.page(
        templates
            .filter(|template| owners.contains(&template.company))
            .map(|template| record(call, template)),
    )
}

fn assigned(call: &Call<'_>, device: &Device) -> Value {
    let templates = call.world.templates.iter();
    call.page(
        templates
            .filter(|template| device.subscriptions.contains(&template.id))
            .map(|template| record(call, template)),
    )
}

pub(crate) fn list_assignable_templates(call: &mut Call<'_>) -> Result<Value, Failure> {
    let company = call.device(call.id("deviceId")?)?.company;
    Ok(assignable(call, &call.world.lineage(company)))
}

pub(crate) fn list_own_assignable_templates(call: &mut Call<'_>) -> Result<Value, Failure> {
    let company = call.device(call.id("deviceId")?)?.company;
    Ok(assignable(call, &[company]))
}

pub(crate) fn list_assigned_templates(call: &mut Call<'_>) -> Result<Value, Failure> {
    Ok(assigned(call, call.device(call.id("deviceId")?)?))
}

fn read(call: &Call<'_>) -> Result<(Device, Uuid), Failure> {
    let mut form = Form::of("subscription", call.body)?;
    let device = form.id("deviceId");
    let template = form.id("enterpriseTemplateId");
    form.judge()?;
    let device = call.device(device)?.clone();
    let mut templates = call.world.templates.iter();
    let known = templates.find(|known| known.id == template);
    Ok((device, found(known, "enterprise template", template)?.id))
}

pub(crate) fn subscribe_template(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (mut device, template) = read(call)?;
    let lineage = call.world.lineage(device.company);
    let mut templates = call.world.templates.iter();
    if !templates.any(|known| known.id == template && lineage.contains(&known.company)) {
        let id = device.id;
        return Err(Failure::NoDataFound(format!(
            "Enterprise template {template} cannot be assigned to device {id}"
        )));
    }
    if !device.subscriptions.contains(&template) {
        device.subscriptions.push(template);
        let id = device.id;
        call.alter("subscription", template, Some(id), Change::Device(device.clone()));
    }
    Ok(assigned(call, &device))
}

pub(crate) fn unsubscribe_template(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (mut device, template) = read(call)?;
    if device.subscriptions.contains(&template) {
        device.subscriptions.retain(|known| *known != template);
        let id = device.id;
        call.alter("subscription", template, Some(id), Change::Device(device.clone()));
    }
    Ok(assigned(call, &device))
}
