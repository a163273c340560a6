//! The settings of a device in a VPN cloud (specification 2.9).

use serde::{Deserialize, Serialize};

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
}
