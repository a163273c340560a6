//! The operations besides creations and searches: updates, labels, metadata, subscriptions, VPN clouds, status.

use serde_json::json;

use super::{Bench, code, company, device, site};
use crate::sandbox::{ENTERPRISE_TEMPLATES, ROOT_COMPANY, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS};

#[test]
fn updates_change_what_they_name_and_nothing_else() {
    let bench = Bench::new(Scenario::default());
    let id = bench.made("addCompany", &company("Old"));
    let answer = bench.post(&format!("updateCompany/{id}"), &json!({"name": "New", "faxNumber": "9"}));
    assert_eq!(answer["body"]["name"], "New");
    assert_eq!(answer["body"]["faxNumber"], "9");
    assert_eq!(answer["body"]["phoneNumber"], "1");
    assert_eq!(bench.get("findCompaniesByName?companyName=old")["body"], json!([]));

    let id = bench.made("addSite", &site("Old"));
    let answer = bench.post(&format!("updateSite/{id}"), &json!({"reference": "R-2"}));
    assert_eq!(answer["body"]["reference"], "R-2");
    assert_eq!(answer["body"]["companyName"], "Northwind Networks");
    assert_eq!(bench.get(&format!("getSite/{id}"))["body"]["name"], "Old");

    let site_id = id;
    let id = bench.made("addDevice", &device("Old"));
    let assigned = bench.post("assignDeviceToSite", &json!({"siteId": site_id, "deviceId": id}));
    assert_eq!(assigned, json!({"status": "OK"}), "no body at all");
    let answer = bench.post(&format!("updateDevice/{id}"), &json!({"name": "New"}));
    assert_eq!(answer["body"]["siteName"], "Old");
    assert_eq!(answer["body"]["name"], "New");

    let ledger = bench.sandbox.ledger(bench.now);
    let created: Vec<_> = ledger.iter().map(|entry| entry.created).collect();
    assert_eq!(created, [true, false, true, false, true, false, false]);
    assert!(ledger.iter().zip(1..).all(|(entry, number)| entry.sequence == number));
}

#[test]
fn what_is_put_again_under_its_id_or_key_is_changed_and_only_what_is_deleted_is_gone() {
    let bench = Bench::new(Scenario::default());
    let id = bench.made("addDevice", &device("d"));
    let interfaces = bench.get(&format!("listInterfaces/{id}"));
    let interface = interfaces["body"][1]["id"].as_str().unwrap().to_owned();
    let site_id = bench.made("addSite", &site("s"));
    for (kind, owner) in [("Device", &id), ("Site", &site_id), ("Interface", &interface)] {
        let put = format!("put{kind}Label/{owner}");
        let label = bench.made(&put, &json!({"label": "till"}));
        assert_eq!(bench.made(&put, &json!({"label": "till"})), label, "once only");
        assert_eq!(bench.made(&put, &json!({"id": label, "label": "kasse"})), label);
        let find = |text: &str| bench.get(&format!("find{kind}Label/{owner}?label={text}"));
        assert_eq!(find("kasse")["body"]["id"], json!(label));
        assert_eq!(code(&find("till")), "noDataFound");
    }
    bench.post(&format!("putInterfaceLabels/{interface}"), &json!([{"label": "a"}, {"label": "b"}]));
    let list = || bench.get(&format!("listInterfaceLabels/{interface}"))["body"].clone();
    let by_id = format!("deleteInterfaceLabelById/{interface}/{}", list()[0]["id"].as_str().unwrap());
    for expected in ["OK", "noDataFound"] {
        assert_eq!(code(&bench.post(&by_id, &json!({}))), expected);
    }
    bench.post(&format!("deleteInterfaceLabel/{interface}?label=a"), &json!({}));
    assert_eq!((list().as_array().unwrap().len(), &list()[0]["label"]), (1, &json!("b")));
    let root = ROOT_COMPANY.to_string();
    for (kind, owner) in [("Device", &id), ("Site", &site_id), ("Company", &root)] {
        let put = format!("put{kind}Metadata/{owner}");
        let entry = bench.made(&put, &json!({"key": "till", "value": "1"}));
        assert_eq!(bench.made(&put, &json!({"key": "till", "value": "2"})), entry);
        bench.made(&put, &json!({"key": "a", "value": "x"}));
        let found = bench.get(&format!("find{kind}Metadata/{owner}?key=till"));
        assert_eq!(found["body"]["value"], "2");
        bench.post(&format!("delete{kind}Metadata/{owner}/{entry}"), &json!({}));
        let list = bench.get(&format!("list{kind}Metadata/{owner}"))["body"].clone();
        assert_eq!((list.as_array().unwrap().len(), &list[0]["key"]), (1, &json!("a")));
    }
}

#[test]
fn templates_are_inherited_from_the_companies_above() {
    let bench = Bench::new(Scenario::default());
    let customer = bench.made("addCompany", &company("Below"));
    let mut body = device("d");
    body["companyId"] = json!(customer);
    let id = bench.made("addDevice", &body);
    let count = |path: &str| {
        let answer = bench.get(&format!("{path}/{id}"));
        answer["body"].as_array().unwrap().len()
    };
    assert_eq!(count("listAssignableTemplates"), 2);
    assert_eq!(count("listOwnAssignableTemplates"), 0);
    let pair = json!({"deviceId": id, "enterpriseTemplateId": ENTERPRISE_TEMPLATES[0]});
    for _ in 0..2 {
        let answer = bench.post("subscribeTemplate", &pair);
        assert_eq!(answer["body"][0]["name"], "Retail Standard");
    }
    assert_eq!(count("listAssignedTemplates"), 1);
    assert_eq!(bench.post("unsubscribeTemplate", &pair)["body"], json!([]));
}

#[test]
fn a_device_joins_a_cloud_is_configured_shows_it_and_leaves() {
    let bench = Bench::new(Scenario::default());
    let id = bench.made("addDevice", &device("d"));
    let cloud = VPN_CLOUDS[0];
    let pair = json!({"deviceId": id, "vpnCloudId": cloud});
    assert_eq!(code(&bench.post("removeDeviceFromVpnCloud", &pair)), "noDataFound");
    let joined = bench.post("addDeviceToVpnCloud", &pair);
    assert_eq!(joined["body"]["cipherSuite"], "Automatic");
    let interface = bench.get(&format!("listInterfaces/{id}"))["body"][1]["id"].clone();
    let mut change = pair.clone();
    change["cipherSuite"] = json!("ECDHE_ECDSA_AES256_GCM");
    change["interfaceConfiguration"] =
        json!([{"interfaceDeviceId": interface, "direction": "BOTH", "weight": 7}]);
    let changed = bench.post("updateDeviceVpnConfiguration", &change);
    let entry = &changed["body"][0]["interfaceConfiguration"][1];
    assert_eq!((&entry["weight"], &entry["configurationDisabled"]), (&json!(7), &json!(false)));
    let shown = bench.get(&format!("getDeviceVpnConfiguration/{id}/{cloud}"));
    assert_eq!(shown["body"], changed["body"]);
    for (path, entries) in [("getTunnelStatus", 2), ("getVpnConnections", 1), ("getVpnRoutes", 1)] {
        let answer = bench.get(&format!("{path}/{id}"));
        assert_eq!(answer["body"]["vpns"].as_array().unwrap().len(), entries, "{path}");
    }
    change["cipherSuite"] = json!("ROT13");
    assert_eq!(code(&bench.post("updateDeviceVpnConfiguration", &change)), "invalidData");
    let count = |path: &str| {
        let answer = bench.get(&format!("{path}/{id}"));
        answer["body"].as_array().unwrap().len()
    };
    assert_eq!((count("listDeviceVpnClouds"), count("listJoinableVpnClouds")), (1, 1));
    assert_eq!(bench.post("removeDeviceFromVpnCloud", &pair)["body"], json!([]));
}

#[test]
fn status_is_told_of_a_device_of_a_site_of_a_company_and_of_all_below() {
    let bench = Bench::new(Scenario::default());
    let customer = bench.made("addCompany", &company("Below"));
    let site_id = bench.made("addSite", &site("s"));
    let mut body = device("d");
    body["companyId"] = json!(customer);
    body["siteId"] = json!(site_id);
    let id = bench.made("addDevice", &body);
    for kind in ["States", "OnlineStatuses", "FullStatuses"] {
        for (path, ids) in [
            (format!("listCompanyDevice{kind}/{customer}"), vec![id.clone()]),
            (format!("listCompanyDevice{kind}/{ROOT_COMPANY}"), vec![TEMPLATE_DEVICE.to_string()]),
            (
                format!("listCompanyTreeDevice{kind}/{ROOT_COMPANY}"),
                vec![TEMPLATE_DEVICE.to_string(), id.clone()],
            ),
            (format!("listSiteDevice{kind}/{site_id}"), vec![id.clone()]),
        ] {
            let answer = bench.get(&path);
            let entries = answer["body"].as_array().unwrap();
            let seen: Vec<_> = entries.iter().map(|e| e["cpeId"].as_str().unwrap()).collect();
            assert_eq!(seen, ids, "{path}");
        }
    }
    let online = bench.get(&format!("getDeviceOnlineStatus/{id}"));
    assert_eq!(online["body"]["statusTimestamp"], "2026-03-01T12:00:00.000");
    let full = bench.get(&format!("getDeviceFullStatus/{id}"));
    assert_eq!(full["body"]["status"], "Online");
}

#[test]
fn what_hangs_on_records_is_listed_with_its_owner_and_twice_if_it_is_there_twice() {
    let bench = Bench::new(Scenario::default());
    let site_id = bench.made("addSite", &site("s"));
    let id = bench.made("addDevice", &device("d"));
    let interfaces = bench.get(&format!("listInterfaces/{id}"));
    let interface = interfaces["body"][1]["id"].as_str().unwrap();
    let with = |field: &str, value: &str| json!({"deviceId": id, field: value});
    bench.post(&format!("putSiteMetadata/{site_id}"), &json!({"key": "a", "value": "b=c"}));
    bench.post(&format!("putInterfaceLabel/{interface}"), &json!({"label": "up"}));
    for _ in 0..2 {
        bench.post(&format!("putDeviceLabel/{id}"), &json!({"label": "till"}));
        bench.post("addLicenceCode", &with("licenceCode", "L-1"));
        bench.post("subscribeTemplate", &with("enterpriseTemplateId", &ENTERPRISE_TEMPLATES[0].to_string()));
        bench.post("addDeviceToVpnCloud", &with("vpnCloudId", &VPN_CLOUDS[1].to_string()));
        bench.post("assignDeviceToSite", &with("siteId", &site_id));
    }
    let shown: Vec<String> = bench
        .sandbox
        .attachments(bench.now)
        .into_iter()
        .filter(|one| one.owner.to_string() == id || one.owner.to_string() == site_id)
        .map(|one| format!("{} {} {}", one.interface.unwrap_or("-"), one.kind, one.value))
        .collect();
    let mut expected = vec![
        "- metadata a=b=c".to_owned(),
        "LAN 1 label up".to_owned(),
        "- label till".to_owned(),
        "- licence L-1".to_owned(),
        "- licence L-1".to_owned(),
        format!("- subscription {}", ENTERPRISE_TEMPLATES[0]),
        format!("- vpn_cloud {}", VPN_CLOUDS[1]),
        format!("- site {site_id}"),
    ];
    expected.sort();
    let mut shown = shown;
    shown.sort();
    assert_eq!(shown, expected);
}

#[test]
fn time_zones_have_an_identifier_a_name_and_a_region() {
    let bench = Bench::new(Scenario::default());
    let answer = bench.get("listTimeZones");
    let zones = answer["body"].as_array().unwrap();
    assert!(zones.len() >= 400);
    assert!(
        zones.iter().any(|zone| zone["zoneId"] == "Pacific/Auckland" && zone["name"] == "New Zealand Time")
    );
    for zone in zones {
        let id = zone["zoneId"].as_str().unwrap();
        assert!(jiff::tz::TimeZone::get(id).is_ok(), "{id}");
        assert!(id.starts_with(zone["region"].as_str().unwrap()));
    }
}
