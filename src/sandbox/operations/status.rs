//! Status and diagnostics (specification 2.10, 4.10).
//!
//! Nothing runs behind a simulated device, so what is answered follows from its id: the same device always shows
//! the same addresses and tunnels. Every device is Online, the only status that is documented.

use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::call::Call;
use super::devices::interfaces;
use crate::sandbox::service::failure::Failure;
use crate::sandbox::state::world::{Device, Membership};

/// A local date-time with milliseconds and no zone designator (specification 2.10).
fn local(now: i64) -> String {
    Timestamp::from_millisecond(now).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S%.3f").to_string()
}

/// A number below `bound` that belongs to this device.
fn figure(id: Uuid, salt: usize, bound: u64) -> u64 {
    let bytes = id.as_bytes();
    let mix = bytes.iter().zip(1..).fold(0_u64, |sum, (byte, place)| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*byte) * place).wrapping_add(salt as u64)
    });
    mix % bound.max(1)
}

fn address(id: Uuid, salt: usize) -> String {
    format!("203.0.113.{}", 1 + figure(id, salt, 254))
}

fn state(device: &Device, _now: i64) -> Value {
    json!({ "cpeId": device.id, "state": { "online": true } })
}

fn online(device: &Device, now: i64) -> Value {
    json!({ "cpeId": device.id, "statusTimestamp": local(now), "status": "Online" })
}

fn full(device: &Device, now: i64) -> Value {
    let ago = i64::try_from(figure(device.id, 3, 60_000)).unwrap_or(0);
    json!({
        "cpeId": device.id,
        "statusTimestamp": local(now),
        "status": "Online",
        "contactDate": local(now - ago),
        "wanIpAddress": address(device.id, 1),
        "contactIpAddress": address(device.id, 1),
    })
}

type View = fn(&Device, i64) -> Value;

fn of_device(call: &Call<'_>, view: View) -> Result<Value, Failure> {
    Ok(view(call.device(call.id("deviceId")?)?, call.now))
}

fn of_company(call: &Call<'_>, below: bool, view: View) -> Result<Value, Failure> {
    let company = call.company(call.id("companyId")?)?.id;
    let companies = if below { call.world.tree(company) } else { vec![company] };
    let devices = companies
        .iter()
        .flat_map(|company| call.world.devices_of(*company))
        .filter_map(|id| call.world.devices.get(*id));
    Ok(call.page(devices.map(|device| view(device, call.now))))
}

fn of_site(call: &Call<'_>, view: View) -> Result<Value, Failure> {
    let site = call.site(call.id("siteId")?)?.id;
    let devices = call.world.devices.iter();
    Ok(call.page(devices.filter(|device| device.site == Some(site)).map(|device| view(device, call.now))))
}

macro_rules! views {
    ($($name:ident = $of:ident($($argument:expr),*);)*) => {
        $(pub(crate) fn $name(call: &mut Call<'_>) -> Result<Value, Failure> {
            $of(call, $($argument),*)
        })*
    };
}

views! {
    list_company_device_states = of_company(false, state);
    list_company_tree_device_states = of_company(true, state);
    list_site_device_states = of_site(state);
    get_device_online_status = of_device(online);
    list_company_device_online_statuses = of_company(false, online);
    list_company_tree_device_online_statuses = of_company(true, online);
    list_site_device_online_statuses = of_site(online);
    get_device_full_status = of_device(full);
    list_company_device_full_statuses = of_company(false, full);
    list_company_tree_device_full_statuses = of_company(true, full);
    list_site_device_full_statuses = of_site(full);
}

fn in_clouds(
    call: &Call<'_>,
    view: impl Fn(&Device, usize, &Membership, &str) -> Value,
) -> Result<Value, Failure> {
    let device = call.device(call.id("deviceId")?)?;
    let vpns: Vec<Value> = device
        .clouds
        .iter()
        .enumerate()
        .map(|(number, place)| {
            let mut clouds = call.world.clouds.iter();
            let cloud = clouds.find(|cloud| cloud.id == place.cloud);
            view(device, number, place, cloud.map_or("", |cloud| cloud.name.as_str()))
        })
        .collect();
    Ok(json!({ "vpns": vpns }))
}

/// One tunnel that is up for each cloud that the device is in.
pub(crate) fn get_tunnel_status(call: &mut Call<'_>) -> Result<Value, Failure> {
    let now = call.now / 1000;
    in_clouds(call, |device, number, place, _| {
        let packets = 1000 + figure(device.id, number + 10, 100_000);
        json!({
            "id": format!("vpn-{number}"),
            "child-id": format!("vpn-{number}-1"),
            "up": true,
            "local-nw": "192.168.1.0/255.255.255.0",
            "remote-nw": format!("10.{}.0.0/255.255.0.0", figure(place.cloud, number, 256)),
            "peer-address": address(place.cloud, number),
            "bytes-in": packets * 600,
            "packets-in": packets,
            "last-in-ts": now,
            "bytes-out": packets * 400,
            "packets-out": packets,
            "last-out-ts": now,
            "ciphersuite": place.cipher_suite,
            "uptime": figure(device.id, number, 86_400),
        })
    })
}

/// One connection, to the hub, for each cloud that the device is in.
pub(crate) fn get_vpn_connections(call: &mut Call<'_>) -> Result<Value, Failure> {
    in_clouds(call, |device, number, place, name| {
        let packets = 1000 + figure(device.id, number + 20, 100_000);
        json!({
            "name": name,
            "dev": format!("tun{number}"),
            "cn": device.id,
            "connections": [{
                "vpn-name": name,
                "peer-cn": place.cloud,
                "local-state": "established",
                "peer-state": "established",
                "address": address(place.cloud, number),
                "peer-type": "hub",
                "subid": 0,
                "connection-id": number + 1,
                "latency": 5 + figure(device.id, number, 60),
                "recv-packets": packets,
                "recv-bytes": packets * 600,
                "sent-packets": packets,
                "sent-bytes": packets * 400,
                "lost-packets": 0,
                "error-packets": 0,
                "delay-packets": 0,
                "uptime": figure(device.id, number, 86_400),
                "up": true,
            }],
        })
    })
}

/// The device's own networks and the way to the hub, for each cloud that the device is in.
pub(crate) fn get_vpn_routes(call: &mut Call<'_>) -> Result<Value, Failure> {
    in_clouds(call, |device, number, place, name| {
        let mut routes: Vec<Value> = interfaces(device.id)
            .filter(|interface| !interface.external)
            .map(|interface| json!({ "network": interface.network, "weight": 100, "connection-id": 0 }))
            .collect();
        routes.push(json!({
            "network": format!("10.{}.0.0/16", figure(place.cloud, number, 256)),
            "weight": 50,
            "connection-id": number + 1,
            "up": true,
            "peer": { "cn": place.cloud, "subid": 0, "address": address(place.cloud, number) },
        }));
        json!({
            "name": name,
            "dev": format!("tun{number}"),
            "cn": device.id,
            "ipv4-size": routes.len(),
            "ipv4-buckets": 16,
            "ipv6-size": 0,
            "ipv6-buckets": 16,
            "ipv4-table-hint": [routes.len()],
            "ipv6-table-hint": [0],
            "ipv4": routes,
            "ipv6": [],
        })
    })
}
