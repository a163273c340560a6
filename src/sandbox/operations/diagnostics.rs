//! Diagnostics of the VPN clouds that a device is in: tunnels, connections and routes (specification 2.10, 4.10).
//!
//! What is answered follows from the id of the device, so that the same device always shows the same addresses. Each cloud
//! has a tunnel that is up, and one to a second hub that is down. The device is connected in the first cloud that it
//! joined; in the others `connections` is empty. A device that is not online has no tunnel up and no connection.

use serde_json::{Value, json};
use uuid::Uuid;

use super::call::{Call, device};
use super::devices::interfaces;
use super::status::{Presence, address, figure};
use crate::sandbox::service::failure::Failure;

/// The device in one of its clouds.
struct Place<'a> {
    device: Uuid,
    cloud: Uuid,
    /// The name of the cloud.
    name: &'a str,
    cipher_suite: &'a str,
    /// Counted from 0, in the order in which the clouds were joined.
    number: usize,
    online: bool,
    now: i64,
}

impl Place<'_> {
    fn connected(&self) -> bool {
        self.online && self.number == 0
    }

    /// Seconds since the tunnel or the connection came up.
    fn uptime(&self) -> u64 {
        figure(self.device, self.number, 86_400)
    }
}

/// One or more entries for each cloud that the device is in.
fn in_clouds(call: &Call<'_>, entries: impl Fn(&Place<'_>) -> Vec<Value>) -> Result<Value, Failure> {
    let device = call.device(device(call)?)?;
    let online = matches!(Presence::of(call, device), Presence::Online { .. });
    let mut vpns = Vec::new();
    for (number, place) in device.clouds.iter().enumerate() {
        let cloud = call.world.clouds.iter().find(|cloud| cloud.id == place.cloud);
        vpns.extend(entries(&Place {
            device: device.id,
            cloud: place.cloud,
            name: cloud.map_or("", |cloud| cloud.name.as_str()),
            cipher_suite: &place.cipher_suite,
            number,
            online,
            now: call.now,
        }));
    }
    Ok(json!({ "vpns": vpns }))
}

pub(crate) fn get_tunnel_status(call: &mut Call<'_>) -> Result<Value, Failure> {
    in_clouds(call, |place| vec![tunnel(place, 1, place.online), tunnel(place, 2, false)])
}

/// A tunnel to one of the hubs of a cloud. Counters and the cipher suite are those of a tunnel that is up.
fn tunnel(place: &Place<'_>, hub: usize, up: bool) -> Value {
    let Place { device, cloud, number, .. } = *place;
    let mut tunnel = json!({
        "id": format!("vpn-{number}"),
        "child-id": format!("vpn-{number}-{hub}"),
        "up": up,
        "local-nw": "192.168.1.0/255.255.255.0",
        "remote-nw": format!("10.{}.0.0/255.255.0.0", figure(cloud, number, 256)),
        "peer-address": address(cloud, number + hub),
    });
    if up {
        let packets = 1000 + figure(device, number + 10, 100_000);
        let last = place.now / 1000;
        tunnel["bytes-in"] = json!(packets * 600);
        tunnel["packets-in"] = json!(packets);
        tunnel["last-in-ts"] = json!(last);
        tunnel["bytes-out"] = json!(packets * 400);
        tunnel["packets-out"] = json!(packets);
        tunnel["last-out-ts"] = json!(last);
        tunnel["ciphersuite"] = json!(place.cipher_suite);
    } else {
        tunnel["tasks-queued"] = json!(1 + figure(device, number, 3));
    }
    tunnel["uptime"] = json!(if up { place.uptime() } else { 0 });
    tunnel
}

pub(crate) fn get_vpn_connections(call: &mut Call<'_>) -> Result<Value, Failure> {
    in_clouds(call, |place| {
        let Place { device, cloud, name, number, .. } = *place;
        let packets = 1000 + figure(device, number + 20, 100_000);
        let hub = json!({
            "vpn-name": name,
            "peer-cn": cloud,
            "local-state": "established",
            "peer-state": "established",
            "address": address(cloud, number + 1),
            "peer-type": "hub",
            "subid": 0,
            "connection-id": number + 1,
            "latency": 5 + figure(device, number, 60),
            "recv-packets": packets,
            "recv-bytes": packets * 600,
            "sent-packets": packets,
            "sent-bytes": packets * 400,
            "lost-packets": figure(device, number, 10),
            "error-packets": 0,
            "delay-packets": 0,
            "uptime": place.uptime(),
            "up": true,
        });
        let connections = if place.connected() { vec![hub] } else { Vec::new() };
        vec![json!({
            "name": name,
            "dev": format!("tun{number}"),
            "cn": device,
            "connections": connections,
        })]
    })
}

/// The device's own networks, and those behind the hub while there is a connection to it.
pub(crate) fn get_vpn_routes(call: &mut Call<'_>) -> Result<Value, Failure> {
    in_clouds(call, |place| {
        let Place { device, cloud, name, number, .. } = *place;
        let own = |network: &str| json!({ "network": network, "weight": 100, "connection-id": 0 });
        let behind_hub = |network: String| {
            json!({
                "network": network,
                "weight": 50,
                "connection-id": number + 1,
                "up": true,
                "peer": { "cn": cloud, "subid": 0, "address": address(cloud, number + 1) },
            })
        };
        let inside = interfaces(device).filter(|interface| !interface.external);
        let mut ipv4: Vec<Value> = inside.map(|interface| own(interface.network)).collect();
        let mut ipv6 = vec![own(&format!("2001:db8:{:x}::/64", figure(device, 7, 0x1_0000)))];
        if place.connected() {
            ipv4.push(behind_hub(format!("10.{}.0.0/16", figure(cloud, number, 256))));
            ipv6.push(behind_hub(format!("2001:db8:{:x}::/48", figure(cloud, 7, 0x1_0000))));
        }
        vec![json!({
            "name": name,
            "dev": format!("tun{number}"),
            "cn": device,
            "ipv4-size": ipv4.len(),
            "ipv4-buckets": 16,
            "ipv6-size": ipv6.len(),
            "ipv6-buckets": 16,
            "ipv4-table-hint": [0, ipv4.len()],
            "ipv6-table-hint": [0, ipv6.len()],
            "ipv4": ipv4,
            "ipv6": ipv6,
        })]
    })
}
