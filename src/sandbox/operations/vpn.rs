//! VPN clouds, the devices in them and their configuration by interface (specification 2.9, 4.9).
//!
//! A cloud can be joined by the devices of the company that owns it and of all companies below. Allowed values of
//! `direction` and `snat` are not documented, so any string is taken.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::call::{Call, found};
use super::devices::interfaces;
use super::validation::Form;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Change, Device, Membership, Offer};

const CIPHER_SUITES: [&str; 6] = [
    "Automatic",
    "ECDHE_ECDSA_AES128_GCM",
    "ECDHE_ECDSA_AES256_GCM",
    "ECDHE_ECDSA_CHACHA20_POLY1305",
    "ECDHE_ECDSA_AES128_CTR",
    "ECDHE_ECDSA_AES256_CTR",
];
const SETTINGS: [&str; 4] = ["direction", "snat", "weight", "configurationDisabled"];

fn cloud<'a>(call: &'a Call<'_>, id: Uuid) -> Result<&'a Offer, Failure> {
    let mut clouds = call.world.clouds.iter();
    found(clouds.find(|cloud| cloud.id == id), "VPN cloud", id)
}

fn summary(call: &Call<'_>, cloud: &Offer) -> Value {
    json!({
        "id": cloud.id,
        "name": cloud.name,
        "companyName": call.world.company_name(cloud.company),
    })
}

fn configuration(call: &Call<'_>, device: &Device, place: &Membership) -> Result<Value, Failure> {
    let entries: Vec<Value> = interfaces(device.id)
        .map(|interface| {
            let mut entry = Map::new();
            entry.insert(
                "interfaceDevice".to_owned(),
                json!({
                    "id": interface.id,
                    "name": interface.name,
                    "network": interface.network,
                }),
            );
            let configured = place.interfaces.iter().find(|(id, _)| *id == interface.id);
            match configured {
                Some((_, settings)) => entry.extend(settings.clone()),
                None => {
                    entry.insert("configurationDisabled".to_owned(), json!(true));
                }
            }
            Value::Object(entry)
        })
        .collect();
    Ok(json!({
        "cloud": summary(call, cloud(call, place.cloud)?),
        "cipherSuite": place.cipher_suite,
        "interfaceConfiguration": entries,
    }))
}

fn clouds_of(call: &Call<'_>, device: &Device, joined: bool) -> Value {
    let lineage = call.world.lineage(device.company);
    let clouds = call.world.clouds.iter();
    call.page(
        clouds
            .filter(|cloud| {
                let member = device.clouds.iter().any(|place| place.cloud == cloud.id);
                member == joined && (joined || lineage.contains(&cloud.company))
            })
            .map(|cloud| summary(call, cloud)),
    )
}

fn pair(call: &Call<'_>) -> Result<(Device, Uuid), Failure> {
    let mut form = Form::of("deviceVpnCloud", call.body)?;
    let device = form.id("deviceId");
    let id = form.id("vpnCloudId");
    form.judge()?;
    let device = call.device(device)?.clone();
    Ok((device, cloud(call, id)?.id))
}

fn keep(call: &mut Call<'_>, device: &Device, cloud: Uuid) {
    let change = Change::Device(device.clone());
    call.alter("vpn_cloud", cloud, Some(device.id), change);
}

fn outside(device: Uuid, cloud: Uuid) -> Failure {
    Failure::NoDataFound(format!("Device {device} is not in VPN cloud {cloud}"))
}

/// To join twice changes nothing: no error is documented for it.
pub(crate) fn add_device_to_vpn_cloud(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (mut device, id) = pair(call)?;
    if let Some(place) = device.clouds.iter().find(|place| place.cloud == id) {
        return configuration(call, &device, place);
    }
    let owner = cloud(call, id)?.company;
    if !call.world.lineage(device.company).contains(&owner) {
        return Err(Failure::NoDataFound(format!("VPN cloud {id} cannot be joined by device {}", device.id)));
    }
    let place = Membership::new(id);
    device.clouds.push(place.clone());
    keep(call, &device, id);
    configuration(call, &device, &place)
}

pub(crate) fn list_joinable_vpn_clouds(call: &mut Call<'_>) -> Result<Value, Failure> {
    Ok(clouds_of(call, call.device(call.id("deviceId")?)?, false))
}

pub(crate) fn list_device_vpn_clouds(call: &mut Call<'_>) -> Result<Value, Failure> {
    Ok(clouds_of(call, call.device(call.id("deviceId")?)?, true))
}

pub(crate) fn get_device_vpn_configuration(call: &mut Call<'_>) -> Result<Value, Failure> {
    let device = call.device(call.id("deviceId")?)?;
    let id = cloud(call, call.id("vpnCloudId")?)?.id;
    let mut places = device.clouds.iter();
    let place = places.find(|place| place.cloud == id).ok_or_else(|| outside(device.id, id))?;
    Ok(Value::Array(vec![configuration(call, device, place)?]))
}

pub(crate) fn remove_device_from_vpn_cloud(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (mut device, id) = pair(call)?;
    let before = device.clouds.len();
    device.clouds.retain(|place| place.cloud != id);
    if device.clouds.len() == before {
        return Err(outside(device.id, id));
    }
    keep(call, &device, id);
    Ok(clouds_of(call, &device, true))
}

pub(crate) fn update_device_vpn_configuration(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (mut device, id) = pair(call)?;
    let mut form = Form::of("deviceVpnCloud", call.body)?;
    let cipher_suite = form.optional_text("cipherSuite");
    if let Some(suite) = &cipher_suite
        && !CIPHER_SUITES.contains(&suite.as_str())
    {
        form.refuse("cipherSuite", &format!("must be one of {}", CIPHER_SUITES.join(", ")));
    }
    form.array("interfaceConfiguration");
    form.judge()?;
    let mut entries = Vec::new();
    let listed = call.body["interfaceConfiguration"].as_array();
    for entry in listed.into_iter().flatten() {
        entries.push(read_entry(entry, device.id)?);
    }
    let device_id = device.id;
    let place = device.clouds.iter_mut().find(|place| place.cloud == id);
    let place = place.ok_or_else(|| outside(device_id, id))?;
    if let Some(suite) = cipher_suite {
        place.cipher_suite = suite;
    }
    for (interface, settings) in entries {
        place.interfaces.retain(|(known, _)| *known != interface);
        place.interfaces.push((interface, settings));
    }
    let place = place.clone();
    keep(call, &device, id);
    Ok(Value::Array(vec![configuration(call, &device, &place)?]))
}

fn read_entry(entry: &Value, device: Uuid) -> Result<(Uuid, Map<String, Value>), Failure> {
    let mut form = Form::of("interfaceConfiguration", entry)?;
    let interface = form.id("interfaceDeviceId");
    form.optional_text("direction");
    form.optional_text("snat");
    form.integer("weight");
    form.boolean("configurationDisabled", false);
    let mut settings = form.keep(&SETTINGS);
    form.judge()?;
    if !interfaces(device).any(|known| known.id == interface) {
        return Err(Failure::NoDataFound(format!("No interface found with id {interface}")));
    }
    // A disabled entry carries nothing else (specification 2.9).
    if settings.get("configurationDisabled") == Some(&Value::Bool(true)) {
        settings.retain(|name, _| name == "configurationDisabled");
    } else {
        settings.insert("configurationDisabled".to_owned(), json!(false));
    }
    Ok((interface, settings))
}
