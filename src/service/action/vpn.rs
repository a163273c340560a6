//! The settings of a device in a VPN cloud: the body that sends them, and whether an answer shows them (specification 2.9).

use serde_json::{Map, Value, json};

use crate::model::action::{InterfaceSettings, VpnSettings};
use crate::model::id::RemoteId;
use crate::service::found::Found;
use crate::service::judge::parse_id;

/// The body of the request; `None` while the id of something that it names is not known.
pub(super) fn body(settings: &VpnSettings, device: RemoteId) -> Option<Value> {
    let mut body = json!({ "deviceId": device, "vpnCloudId": settings.cloud.id()? });
    let settings = settings.sent();
    if let Some(suite) = &settings.cipher_suite {
        body["cipherSuite"] = json!(suite);
    }
    if !settings.interfaces.is_empty() {
        let entries: Option<Vec<Value>> = settings.interfaces.iter().map(entry).collect();
        body["interfaceConfiguration"] = Value::Array(entries?);
    }
    Some(body)
}

fn entry(settings: &InterfaceSettings) -> Option<Value> {
    let mut entry = fields(settings);
    entry.insert("interfaceDeviceId".to_owned(), json!(settings.id?));
    Some(Value::Object(entry))
}

/// The fields that are given.
fn fields(settings: &InterfaceSettings) -> Map<String, Value> {
    let InterfaceSettings { interface: _, id: _, direction, snat, weight, default, exported: _ } = settings;
    let mut fields = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    };
    put("direction", direction.as_ref().map(|value| json!(value)));
    put("snat", snat.as_ref().map(|value| json!(value)));
    put("weight", weight.map(|value| json!(value)));
    put("configurationDisabled", default.map(|value| json!(value)));
    fields
}

/// The entry of an answer that is about this cloud.
pub(in crate::service) fn of_cloud(found: &[Found], cloud: RemoteId) -> Option<&Value> {
    found.iter().map(|found| &found.raw).find(|raw| id_of(&raw["cloud"]["id"]) == Some(cloud))
}

/// The settings in the cloud that these are for, as an answer shows them.
pub fn shown_settings<'f>(settings: &VpnSettings, found: &'f [Found]) -> Option<&'f Value> {
    of_cloud(found, settings.cloud.id()?)
}

/// Whether an answer shows all that was sent, or, as long as that is not known, all that is given. Nothing shows that settings
/// were sent of which nothing is given.
pub(super) fn is_shown(settings: &VpnSettings, found: &[Found]) -> bool {
    let Some(shown) = settings.cloud.id().and_then(|cloud| of_cloud(found, cloud)) else { return false };
    let settings = settings.sent();
    if !settings.asks_for_a_change() {
        return false;
    }
    let has_suite = settings.cipher_suite.as_ref().is_none_or(|suite| shown["cipherSuite"] == **suite);
    let entries = shown["interfaceConfiguration"].as_array().map_or(&[][..], Vec::as_slice);
    let given = settings.interfaces.iter().filter(|interface| !fields(interface).is_empty());
    has_suite && given.into_iter().all(|interface| has_entry(interface, entries))
}

/// Whether an answer shows a value, be it another one, for all that was sent; `None` where it does not show the cloud.
pub(super) fn shows_all_fields(settings: &VpnSettings, found: &[Found]) -> Option<bool> {
    let shown = shown_settings(settings, found)?;
    let settings = settings.sent();
    if !settings.asks_for_a_change() {
        return Some(false);
    }
    let has_suite = settings.cipher_suite.is_none() || shown["cipherSuite"].is_string();
    let entries = shown["interfaceConfiguration"].as_array().map_or(&[][..], Vec::as_slice);
    let has_entry = |settings: &InterfaceSettings| entries.iter().any(|entry| is_of(entry, settings));
    Some(has_suite && settings.interfaces.iter().all(has_entry))
}

/// Whether an entry is about the interface of these settings.
fn is_of(entry: &Value, settings: &InterfaceSettings) -> bool {
    let id = id_of(&entry["interfaceDevice"]["id"]).or_else(|| id_of(&entry["interfaceDeviceId"]));
    id.is_some() && id == settings.id
}

fn has_entry(settings: &InterfaceSettings, entries: &[Value]) -> bool {
    let Some(entry) = entries.iter().find(|entry| is_of(entry, settings)) else { return false };
    let is_default = entry["configurationDisabled"] == true;
    // An interface that uses the default configuration has none of the others.
    is_default == settings.default.unwrap_or(false)
        && fields(settings)
            .iter()
            .filter(|(name, _)| *name != "configurationDisabled")
            .all(|(name, value)| entry[name] == *value)
}

fn id_of(value: &Value) -> Option<RemoteId> {
    value.as_str().and_then(parse_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::{Action, Offer};
    use crate::model::kind::{Kind, Upkeep};
    use crate::model::operation::Operation;
    use crate::service::{found, request};

    fn id(n: u128) -> RemoteId {
        RemoteId::from_u128(n)
    }

    fn interface(n: u128) -> InterfaceSettings {
        InterfaceSettings { id: Some(id(n)), ..InterfaceSettings::named(format!("LAN {n}")) }
    }

    fn settings() -> VpnSettings {
        VpnSettings {
            cloud: Offer::Id(id(9)),
            cipher_suite: Some("Automatic".to_owned()),
            interfaces: vec![
                InterfaceSettings { weight: Some(10), snat: Some("hide".to_owned()), ..interface(1) },
                InterfaceSettings { default: Some(true), ..interface(2) },
            ],
            ..VpnSettings::default()
        }
    }

    #[test]
    fn only_what_is_given_is_sent() {
        let action = Action::ConfigureVpn(settings());
        let call = request(&action, Kind::Upkeep(Upkeep::Vpn), Some(id(5)), &[]).unwrap();
        assert_eq!(call.operation, Operation::UpdateDeviceVpnConfiguration);
        assert_eq!(
            call.body.unwrap(),
            json!({
                "deviceId": id(5), "vpnCloudId": id(9), "cipherSuite": "Automatic",
                "interfaceConfiguration": [
                    {"interfaceDeviceId": id(1), "snat": "hide", "weight": 10},
                    {"interfaceDeviceId": id(2), "configurationDisabled": true},
                ],
            })
        );
        let mut unknown = settings();
        unknown.interfaces[1].id = None;
        assert_eq!(body(&unknown, id(5)), None);
    }

    #[test]
    fn settings_are_shown_when_all_that_is_given_is_there() {
        let answer = |suite: &str, first: Value, second: Value| {
            let entry = |n: u128, rest: Value| {
                let mut entry = json!({"interfaceDevice": {"id": id(n), "name": format!("LAN {n}")}});
                entry.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
                entry
            };
            let answer = json!([{
                "cloud": {"id": id(9)}, "cipherSuite": suite,
                "interfaceConfiguration": [entry(1, first), entry(2, second), entry(3, json!({"weight": 7}))],
            }]);
            found(Operation::GetDeviceVpnConfiguration, &answer).unwrap()
        };
        let right =
            || json!({"snat": "hide", "weight": 10, "direction": "both", "configurationDisabled": false});
        let default = || json!({"configurationDisabled": true});
        let table = [
            (answer("Automatic", right(), default()), true),
            (answer("ECDHE_ECDSA_AES128_GCM", right(), default()), false),
            (answer("Automatic", json!({"snat": "hide", "weight": 11}), default()), false),
            (answer("Automatic", json!({"weight": 10}), default()), false),
            (answer("Automatic", right(), json!({})), false),
            (answer("Automatic", default(), default()), false),
            (Vec::new(), false),
        ];
        for (found, expected) in table {
            assert_eq!(is_shown(&settings(), &found), expected, "{found:?}");
        }
        let elsewhere = VpnSettings { cloud: Offer::Id(id(8)), ..settings() };
        assert!(!is_shown(&elsewhere, &answer("Automatic", right(), default())));
    }
}
