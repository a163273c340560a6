//! Devices, their interfaces and licence codes (specification 4.4, 4.5, 4.11).

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::call::{Call, found};
use super::sites;
use super::validation::Form;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Device, Membership, Offer};

const DETAILS: [&str; 6] =
    ["address", "phoneNumber", "faxNumber", "copyDhcpLeases", "copyInternetPasswords", "snatMapping"];

/// The Ethernet interfaces of every device: name, description, whether it faces outwards, network, priority.
const INTERFACES: [(&str, &str, bool, &str, Option<u32>); 3] = [
    ("WAN 1", "Internet uplink", true, "198.51.100.0/24", Some(1)),
    ("LAN 1", "Office network", false, "192.168.1.0/24", None),
    ("LAN 2", "Guest network", false, "192.168.2.0/24", None),
];

/// One interface of a device.
pub(crate) struct Interface {
    pub(crate) id: Uuid,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) external: bool,
    pub(crate) network: &'static str,
    pub(crate) priority: Option<u32>,
}

/// The interfaces of a device. Their ids follow from the device's, so that nothing has to be stored for them.
pub(crate) fn interfaces(device: Uuid) -> impl Iterator<Item = Interface> {
    INTERFACES.iter().zip(1_u128..).map(move |((name, description, external, network, priority), number)| {
        let id = Uuid::from_u128(device.as_u128() ^ number);
        Interface { id, name, description, external: *external, network, priority: *priority }
    })
}

/// The device that has this interface.
pub(crate) fn owner_of_interface<'a>(call: &'a Call<'_>, interface: Uuid) -> Result<&'a Device, Failure> {
    let owner = (1..=INTERFACES.len() as u128)
        .find_map(|number| call.world.devices.get(Uuid::from_u128(interface.as_u128() ^ number)))
        .filter(|device| interfaces(device.id).any(|known| known.id == interface));
    found(owner, "interface", interface)
}

/// A device as it is answered. One without a MAC address has no identification.
fn record(call: &Call<'_>, device: &Device) -> Value {
    let mut record = json!({
        "id": device.id,
        "companyId": device.company,
        "name": device.name,
        "companyName": call.world.company_name(device.company),
    });
    if let Some(mac) = &device.identification {
        record["identification"] = json!(mac);
    }
    record
}

pub(crate) fn add_device(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut form = Form::of("device", call.body)?;
    let company = form.id("companyId");
    let name = form.text("name");
    form.address("address", true, true);
    form.text("phoneNumber");
    form.optional_text("faxNumber");
    let model = form.optional_text("deviceModel");
    let identification = form.optional_text("identification");
    let site = form.optional_id("siteId");
    let custom_reference = form.optional_text("customSiteId");
    let custom_name = form.optional_text("customSiteName");
    let details = form.keep(&DETAILS);
    form.judge()?;
    call.company(company)?;
    if let Some(model) = &model
        && !call.world.models.contains(model)
    {
        return Err(Failure::NoDataFound(format!("No device model found with name {model}")));
    }
    if let Some(mac) = &identification
        && call.world.device_by_mac(mac).is_some()
    {
        return Err(Failure::DuplicateEntity(format!(
            "Identification {mac} is already used by another device"
        )));
    }
    let site = match site {
        Some(site) => Some(call.site(site)?.id),
        None if custom_reference.is_some() || custom_name.is_some() => {
            let site_name = custom_name.or_else(|| custom_reference.clone()).unwrap_or_default();
            let about: Map<String, Value> = details
                .iter()
                .filter(|(field, _)| *field == "address" || *field == "phoneNumber")
                .map(|(field, value)| (field.clone(), value.clone()))
                .collect();
            let site = sites::make(call, company, site_name, custom_reference, about);
            if call.ends_after_site {
                return Err(Failure::InternalServerError);
            }
            Some(site)
        }
        None => None,
    };
    let id = call.fresh_id();
    finish(
        call,
        Device {
            id,
            company,
            name,
            site,
            identification,
            model,
            template: None,
            made_at: call.now,
            details,
            subscriptions: Vec::new(),
            clouds: Vec::new(),
            licences: Vec::new(),
        },
    )
}

/// A copy of another device. Which fields are required is not shown; asked for is what no device can be without.
pub(crate) fn add_device_from_template(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut form = Form::of("device", call.body)?;
    let company = form.id("companyId");
    let site = form.optional_id("siteId");
    let name = form.text("name");
    form.address("address", true, true);
    form.text("phoneNumber");
    let template = form.id("templateId");
    form.boolean("copyDhcpLeases", false);
    form.boolean("copyInternetPasswords", false);
    form.array("snatMapping");
    let details = form.keep(&DETAILS);
    form.judge()?;
    call.company(company)?;
    let source = found(call.world.devices.get(template), "device", template)?;
    let model = source.model.clone();
    // The copy has what its own company may have.
    let lineage = call.world.lineage(company);
    let offered = |offers: &[Offer], id: Uuid| {
        offers.iter().any(|offer| offer.id == id && lineage.contains(&offer.company))
    };
    let subscriptions = source.subscriptions.iter().copied();
    let subscriptions = subscriptions.filter(|id| offered(&call.world.templates, *id)).collect();
    // What was configured for the source's interfaces is the source's: the copy has interfaces of its own.
    let clouds = source.clouds.iter().map(|place| place.cloud);
    let clouds = clouds.filter(|id| offered(&call.world.clouds, *id)).map(Membership::new).collect();
    if let Some(site) = site {
        call.site(site)?;
    }
    let id = call.fresh_id();
    finish(
        call,
        Device {
            id,
            company,
            name,
            site,
            identification: None,
            model,
            template: Some(template),
            made_at: call.now,
            details,
            subscriptions,
            clouds,
            licences: Vec::new(),
        },
    )
}

fn finish(call: &mut Call<'_>, device: Device) -> Result<Value, Failure> {
    let answer = record(call, &device);
    call.create("device", device.id, Some(device.company), Change::Device(device));
    Ok(answer)
}

pub(crate) fn update_device(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("deviceId")?;
    let mut form = Form::of("device", call.body)?;
    let name = form.optional_text("name");
    form.judge()?;
    let mut device = call.device(id)?.clone();
    device.name = name.unwrap_or(device.name);
    let mut answer = record(call, &device);
    if let Some(site) = device.site.and_then(|site| call.world.sites.get(site)) {
        answer["siteId"] = json!(site.id);
        answer["siteName"] = json!(site.name);
    }
    call.alter("device", id, Some(device.company), Change::Device(device));
    Ok(answer)
}

pub(crate) fn get_device(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("id")?;
    Ok(record(call, call.device(id)?))
}

pub(crate) fn get_device_by_mac(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mac = call.required("macAddress")?;
    call.world
        .device_by_mac(&mac)
        .filter(|device| call.sees(device.made_at))
        .map(|device| record(call, device))
        .ok_or_else(|| Failure::NoDataFound(format!("No device found with MAC address {mac}")))
}

pub(crate) fn list_devices(call: &mut Call<'_>) -> Result<Value, Failure> {
    let devices = call.world.devices.iter();
    Ok(call.page(devices.filter(|device| call.sees(device.made_at)).map(|device| record(call, device))))
}

pub(crate) fn find_devices_by_name(call: &mut Call<'_>) -> Result<Value, Failure> {
    let part = call.required("name")?;
    let company = call.optional_id("companyId")?;
    let devices = call.world.devices.search(&part);
    Ok(call.page(
        devices
            .filter(|device| company.is_none_or(|company| device.company == company))
            .filter(|device| call.sees(device.made_at))
            .map(|device| record(call, device)),
    ))
}

pub(crate) fn list_interfaces(call: &mut Call<'_>) -> Result<Value, Failure> {
    let id = call.id("deviceId")?;
    call.device(id)?;
    Ok(call.page(interfaces(id).map(|interface| {
        let mut entry = json!({
            "id": interface.id,
            "normalizedName": interface.name,
            "description": interface.description,
            "external": interface.external,
            "subnet": interface.network,
        });
        if let Some(priority) = interface.priority {
            entry["priority"] = json!(priority);
        }
        entry
    })))
}

pub(crate) fn add_licence_code(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut form = Form::of("licence", call.body)?;
    let id = form.id("deviceId");
    let code = form.text("licenceCode");
    form.judge()?;
    let mut device = call.device(id)?.clone();
    device.licences.push(code);
    call.alter("licence", id, Some(id), Change::Device(device));
    Ok(Value::Null)
}
