//! The settings of a device in a VPN cloud (specification 2.9).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::offer::Offer;
use crate::model::id::RemoteId;

/// Cipher suites, as the service spells them.
pub const CIPHER_SUITES: [&str; 6] = [
    "Automatic",
    "ECDHE_ECDSA_AES128_GCM",
    "ECDHE_ECDSA_AES256_GCM",
    "ECDHE_ECDSA_CHACHA20_POLY1305",
    "ECDHE_ECDSA_AES128_CTR",
    "ECDHE_ECDSA_AES256_CTR",
];

/// What a device is to have in a VPN cloud. What is not given stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VpnSettings {
    /// The cloud, which the device belongs to.
    pub cloud: Offer,
    /// One of [`CIPHER_SUITES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cipher_suite: Option<String>,
    /// Those of its interfaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceSettings>,
}

/// The settings of one interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceSettings {
    /// Its `normalizedName` or its id, as the row has it.
    pub interface: String,
    /// Its id, once the list of the device's interfaces has shown it.
    #[serde(skip)]
    pub id: Option<RemoteId>,
    /// `direction`; the specification does not show the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// `snat`; the specification does not show the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snat: Option<String>,
    /// `weight`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
    /// `configurationDisabled`: the interface uses the default configuration and has none of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

impl VpnSettings {
    /// Takes in those of another row about the same device and cloud. Rows that contradict each other were refused.
    pub fn merge(&mut self, other: &Self) {
        if self.cipher_suite.is_none() {
            self.cipher_suite.clone_from(&other.cipher_suite);
        }
        self.interfaces.extend(other.interfaces.iter().cloned());
    }

    /// The settings that restore what these changed, one for each row of a sheet; `before` is the configuration as the service
    /// answered it (specification 2.9). `None` for an interface that it does not show.
    pub fn restored(&self, before: &Value) -> Vec<Option<Self>> {
        let of_cloud = || Self { cloud: self.cloud.clone(), cipher_suite: None, interfaces: Vec::new() };
        let suite = before["cipherSuite"].as_str().map(str::to_owned);
        let suite = self.cipher_suite.iter().map(|_| {
            let cipher_suite = Some(suite.clone()?);
            Some(Self { cipher_suite, ..of_cloud() })
        });
        let entries = before["interfaceConfiguration"].as_array().map_or(&[][..], Vec::as_slice);
        let interfaces = self.interfaces.iter().map(|own| {
            let device = |entry: &'_ &Value| {
                ["name", "id"].iter().any(|field| entry["interfaceDevice"][field] == *own.interface)
            };
            let entry = entries.iter().find(device)?;
            let text = |field: &str| entry[field].as_str().map(str::to_owned);
            let is_default = entry["configurationDisabled"] == true;
            let interfaces = vec![InterfaceSettings {
                interface: own.interface.clone(),
                id: None,
                direction: text("direction").filter(|_| !is_default),
                snat: text("snat").filter(|_| !is_default),
                weight: entry["weight"].as_i64().filter(|_| !is_default),
                default: Some(is_default),
            }];
            Some(Self { interfaces, ..of_cloud() })
        });
        suite.chain(interfaces).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn what_interfaces_and_the_cloud_had_before_is_restored_row_by_row() {
        let mut settings = VpnSettings { cipher_suite: Some("Automatic".into()), ..testing::vpn_settings() };
        let first = settings.interfaces[0].clone();
        settings.interfaces.push(InterfaceSettings { interface: "eth1".into(), ..first.clone() });
        settings.interfaces.push(InterfaceSettings { interface: "eth9".into(), ..first.clone() });
        let before = json!({
            "cipherSuite": "ECDHE_ECDSA_AES128_GCM",
            "interfaceConfiguration": [
                {"interfaceDevice": {"name": "eth0"}, "direction": "out", "weight": 7},
                {"interfaceDevice": {"name": "eth1"}, "configurationDisabled": true},
            ],
        });
        let of = |suite: Option<&str>, interfaces| {
            let cloud = settings.cloud.clone();
            Some(VpnSettings { cloud, cipher_suite: suite.map(str::to_owned), interfaces })
        };
        let eth0 = InterfaceSettings {
            direction: Some("out".into()),
            weight: Some(7),
            default: Some(false),
            ..first.clone()
        };
        let eth1 = InterfaceSettings { interface: "eth1".into(), weight: None, default: Some(true), ..first };
        let expected =
            [of(Some("ECDHE_ECDSA_AES128_GCM"), vec![]), of(None, vec![eth0]), of(None, vec![eth1]), None];
        assert_eq!(settings.restored(&before), expected);
    }
}
