//! Devices that come online after their creation, that never do, and that go away; what lists and diagnostics show then.

use serde_json::{Value, json};

use super::{Bench, code, device};
use crate::sandbox::{DeviceStatus, ROOT_COMPANY, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS};

fn bench(status: DeviceStatus) -> Bench {
    Bench::new(Scenario { device_status: status, ..Scenario::default() })
}

/// The devices that the list of the root company shows, by id, with their status.
fn statuses(bench: &Bench) -> Vec<(String, Value)> {
    let answer = bench.get(&format!("listCompanyDeviceOnlineStatuses/{ROOT_COMPANY}"));
    let entries = answer["body"].as_array().unwrap().iter();
    entries.map(|entry| (entry["cpeId"].as_str().unwrap().to_owned(), entry.clone())).collect()
}

#[test]
fn devices_come_online_between_the_two_numbers_and_a_share_never_does() {
    let status =
        DeviceStatus { online_after_seconds: [5, 60], never_online: 0.25, ..DeviceStatus::default() };
    let mut bench = bench(status);
    let made: Vec<String> = (0..80).map(|n| bench.made("addDevice", &device(&format!("d{n}")))).collect();
    let mut counts = Vec::new();
    for second in [0, 4, 20, 40, 60, 100_000] {
        bench.now = super::NOON + second * 1000;
        bench.sign_in("acme");
        let online = statuses(&bench);
        assert_eq!(online[0].0, TEMPLATE_DEVICE.to_string(), "was there before");
        counts.push(online.len() - 1);
        for id in &made {
            let one = bench.get(&format!("getDeviceOnlineStatus/{id}"));
            let listed = online.iter().find(|(listed, _)| listed == id);
            assert_eq!(code(&one), if listed.is_some() { "OK" } else { "noDataFound" });
            assert_eq!(listed.map(|(_, entry)| entry), one.get("body"));
        }
    }
    assert_eq!(counts, [0, 0, 19, 40, 57, 57]);
}

#[test]
fn which_device_comes_online_when_follows_from_the_seed_and_its_id() {
    let seen = |seed| {
        let status = DeviceStatus { online_after_seconds: [0, 60], ..DeviceStatus::default() };
        let mut bench = Bench::new(Scenario { seed, device_status: status, ..Scenario::default() });
        for name in ["a", "b", "c", "d", "e", "f"] {
            bench.made("addDevice", &device(name));
        }
        bench.now += 30_000;
        statuses(&bench)
    };
    assert_eq!(seen(1), seen(1));
    assert_ne!(seen(1), seen(2));
}

#[test]
fn the_timestamp_says_since_when_and_a_device_that_went_away_shows_by_the_word() {
    let status = DeviceStatus {
        online_after_seconds: [10, 10],
        online_for_seconds: 30,
        never_online: 0.0,
        offline_word: Some("Offline".to_owned()),
    };
    let mut bench = bench(status);
    let id = bench.made("addDevice", &device("d"));
    let mut seen = Vec::new();
    for second in [0, 9, 10, 39, 40, 90] {
        bench.now = super::NOON + second * 1000;
        let full = bench.get(&format!("getDeviceFullStatus/{id}"))["body"].clone();
        let contact = full["contactDate"].as_str().map(str::to_owned);
        let online = bench.get(&format!("getDeviceOnlineStatus/{id}"))["body"].clone();
        assert_eq!(online["statusTimestamp"], full["statusTimestamp"]);
        let since = online["statusTimestamp"].as_str().unwrap()[17..].to_owned();
        seen.push((online["status"].as_str().unwrap().to_owned(), since, contact.is_some()));
    }
    let seen: Vec<_> = seen.iter().map(|(word, since, contact)| (&**word, &**since, *contact)).collect();
    assert_eq!(
        seen,
        [
            ("Offline", "00.000", false),
            ("Offline", "00.000", false),
            ("Online", "10.000", true),
            ("Online", "10.000", true),
            ("Offline", "40.000", true),
            ("Offline", "40.000", true),
        ]
    );
}

#[test]
fn a_device_that_is_away_has_no_tunnel_up_and_no_connection() {
    let status = DeviceStatus { online_after_seconds: [10, 10], ..DeviceStatus::default() };
    let mut bench = bench(status);
    let id = bench.made("addDevice", &device("d"));
    for cloud in VPN_CLOUDS {
        bench.post("addDeviceToVpnCloud", &json!({ "deviceId": id, "vpnCloudId": cloud }));
    }
    let shown = |bench: &Bench| {
        let tunnels = bench.get(&format!("getTunnelStatus/{id}"))["body"]["vpns"].clone();
        let up = tunnels.as_array().unwrap().iter().filter(|tunnel| tunnel["up"] == true).count();
        for tunnel in tunnels.as_array().unwrap() {
            for field in ["bytes-in", "packets-in", "last-in-ts", "bytes-out", "packets-out", "last-out-ts"] {
                assert_eq!(tunnel.get(field).is_some(), tunnel["up"] == true, "{tunnel}");
            }
            assert_eq!(tunnel.get("ciphersuite").is_some(), tunnel["up"] == true);
            assert_eq!(tunnel.get("tasks-queued").is_some(), tunnel["up"] == false);
        }
        let clouds = bench.get(&format!("getVpnConnections/{id}"))["body"]["vpns"].clone();
        let connections = clouds.as_array().unwrap().iter();
        let connections: Vec<_> =
            connections.map(|cloud| cloud["connections"].as_array().unwrap().len()).collect();
        let clouds = bench.get(&format!("getVpnRoutes/{id}"))["body"]["vpns"].clone();
        let routes = clouds.as_array().unwrap().iter();
        let routes: Vec<_> = routes.map(|cloud| cloud["ipv6"].as_array().unwrap().len()).collect();
        (tunnels.as_array().unwrap().len(), up, connections, routes)
    };
    assert_eq!(shown(&bench), (4, 0, vec![0, 0], vec![1, 1]));
    bench.now += 10_000;
    assert_eq!(shown(&bench), (4, 2, vec![1, 0], vec![2, 1]));
}

#[test]
fn a_device_without_a_mac_address_has_no_identification() {
    let bench = Bench::new(Scenario::default());
    let id = bench.made("addDevice", &device("d"));
    assert_eq!(bench.get(&format!("getDevice/{id}"))["body"].get("identification"), None);
}

#[test]
fn a_weight_is_an_integer_and_an_interface_one_of_the_device() {
    let bench = Bench::new(Scenario::default());
    let [id, other] = ["d", "e"].map(|name| bench.made("addDevice", &device(name)));
    let interface = |device: &str| bench.get(&format!("listInterfaces/{device}"))["body"][0]["id"].clone();
    bench.post("addDeviceToVpnCloud", &json!({ "deviceId": id, "vpnCloudId": VPN_CLOUDS[0] }));
    let configure = |interface: Value, weight: Value| {
        let entry = json!({ "interfaceDeviceId": interface, "weight": weight });
        let body = json!({ "deviceId": id, "vpnCloudId": VPN_CLOUDS[0], "interfaceConfiguration": [entry] });
        code(&bench.post("updateDeviceVpnConfiguration", &body)).to_owned()
    };
    assert_eq!(configure(interface(&id), json!(7)), "OK");
    assert_eq!(configure(interface(&id), json!(7.5)), "invalidData");
    assert_eq!(configure(interface(&id), json!("7")), "invalidData");
    assert_eq!(configure(interface(&other), json!(7)), "noDataFound");
}
