//! The settings of a device in a VPN cloud (specification 2.9).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::inverse::LeftValue;
use super::offer::Offer;
use super::record_update::text;
use super::vpn_comparison::{LeftSetting, setting};
use crate::model::id::RemoteId;
use crate::model::key::comparable;

/// Cipher suites, as the service spells them.
pub const CIPHER_SUITES: [&str; 6] = [
    "Automatic",
    "ECDHE_ECDSA_AES128_GCM",
    "ECDHE_ECDSA_AES256_GCM",
    "ECDHE_ECDSA_CHACHA20_POLY1305",
    "ECDHE_ECDSA_AES128_CTR",
    "ECDHE_ECDSA_AES256_CTR",
];

/// The field of the cipher suite.
pub(super) const SUITE: &str = "cipherSuite";
/// The field by which an interface uses the default configuration.
pub(super) const DEFAULT: &str = "configurationDisabled";

/// What a device is to have in a VPN cloud. What is not given stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VpnSettings {
    /// The cloud, which the device belongs to.
    pub cloud: Offer,
    /// One of [`CIPHER_SUITES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cipher_suite: Option<String>,
    /// Those of its interfaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceSettings>,
    /// The cipher suite that an export saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exported_suite: Option<String>,
    /// What is sent of settings that an export saw, once those that the service has were read.
    #[serde(skip)]
    pub send: Option<Box<Self>>,
    /// What the service has changed since the export, where something else is sent.
    #[serde(skip)]
    pub left: Vec<LeftSetting>,
}

/// The settings of one interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
    /// What an export saw of the fields that are given, and of those that nobody changed, which are not given then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exported: BTreeMap<String, String>,
}

impl InterfaceSettings {
    /// The fields, as the service names them.
    pub const FIELDS: [&str; 4] = ["direction", "snat", "weight", DEFAULT];

    /// Those of an interface of which nothing is given.
    pub fn named(interface: impl Into<String>) -> Self {
        Self { interface: interface.into(), ..Self::default() }
    }

    /// A field that is given, as text.
    pub fn value(&self, field: &str) -> Option<String> {
        match field {
            "direction" => self.direction.clone(),
            "snat" => self.snat.clone(),
            "weight" => self.weight.map(|weight| weight.to_string()),
            DEFAULT => self.default.map(|default| default.to_string()),
            _ => None,
        }
    }

    /// Takes in a field from its text; blank leaves it out.
    pub(super) fn set(&mut self, field: &str, text: &str) {
        let given = || Some(text.to_owned()).filter(|text| !text.is_empty());
        match field {
            "direction" => self.direction = given(),
            "snat" => self.snat = given(),
            "weight" => self.weight = text.parse().ok(),
            DEFAULT => self.default = text.parse().ok(),
            _ => {}
        }
    }

    /// Whether a field is given.
    fn asks_for_a_change(&self) -> bool {
        Self::FIELDS.iter().any(|field| self.value(field).is_some())
    }

    /// The fields that it decides: an interface that uses the default configuration has none of the others.
    fn decided(&self) -> impl Iterator<Item = &'static str> {
        let is_decided = |field: &&str| self.default == Some(true) || self.value(field).is_some();
        Self::FIELDS.into_iter().filter(is_decided)
    }

    /// Takes in the fields that only an earlier row about the same interface decides.
    fn take_over(&mut self, earlier: &Self) {
        if self.default == Some(true) {
            return;
        }
        let is_default_no_more = self.asks_for_a_change() && earlier.default == Some(true);
        for field in Self::FIELDS {
            let wanted = earlier.value(field).filter(|_| self.value(field).is_none());
            if let Some(wanted) = wanted.filter(|_| !is_default_no_more) {
                self.set(field, &wanted);
                self.exported.remove(field);
            }
            if let Some(exported) = earlier.exported.get(field) {
                self.exported.entry(field.to_owned()).or_insert_with(|| exported.clone());
            }
        }
    }
}

impl VpnSettings {
    /// Whether rows of an export are among those that ask for them.
    pub fn is_from_export(&self) -> bool {
        self.exported_suite.is_some() || self.interfaces.iter().any(|entry| !entry.exported.is_empty())
    }

    /// Whether something is given. Rows of an export that nobody changed give nothing.
    pub fn asks_for_a_change(&self) -> bool {
        self.cipher_suite.is_some() || self.interfaces.iter().any(InterfaceSettings::asks_for_a_change)
    }

    /// What of it is given, without the interfaces of which nothing is.
    pub fn given(&self) -> Self {
        let interfaces = self.interfaces.iter().filter(|own| own.asks_for_a_change()).cloned().collect();
        let (cloud, cipher_suite) = (self.cloud.clone(), self.cipher_suite.clone());
        Self { cloud, cipher_suite, interfaces, ..Self::default() }
    }

    /// Two names of one interface, once the ids are known.
    pub fn twice(&self) -> Option<(&str, &str)> {
        self.interfaces.iter().enumerate().find_map(|(at, own)| {
            let other = self.interfaces[..at].iter().find(|other| own.id.is_some() && other.id == own.id)?;
            Some((other.interface.as_str(), own.interface.as_str()))
        })
    }

    /// What the request sends.
    pub fn sent(&self) -> &Self {
        self.send.as_deref().unwrap_or(self)
    }

    /// Takes in those of another row about the same device and cloud. Rows that contradict each other were refused.
    pub fn merge(&mut self, other: &Self) {
        if self.cipher_suite.is_none() {
            self.cipher_suite.clone_from(&other.cipher_suite);
        }
        if self.exported_suite.is_none() {
            self.exported_suite.clone_from(&other.exported_suite);
        }
        self.interfaces.extend(other.interfaces.iter().cloned());
    }

    /// Takes in what only an earlier row about the same device and cloud asks for, which these replace before anything was sent.
    pub fn take_over(&mut self, earlier: Self) {
        if self.cipher_suite.is_none() && earlier.cipher_suite.is_some() {
            (self.cipher_suite, self.exported_suite) = (earlier.cipher_suite, earlier.exported_suite);
        }
        for interface in earlier.interfaces {
            let is_same =
                |own: &&mut InterfaceSettings| comparable(&own.interface) == comparable(&interface.interface);
            match self.interfaces.iter_mut().find(is_same) {
                Some(own) => own.take_over(&interface),
                None => self.interfaces.push(interface),
            }
        }
        self.sort();
    }

    /// Puts the interfaces into their order: that of the rows says nothing.
    pub fn sort(&mut self) {
        self.interfaces.sort_by(|left, right| left.interface.cmp(&right.interface));
    }

    /// What they ask for, setting by setting: the part in parentheses tells one from the others.
    pub(super) fn wishes(&self) -> impl Iterator<Item = String> {
        let suite = self.cipher_suite.as_ref().map(|_| format!("({SUITE})"));
        let of_interface = |own: &InterfaceSettings| {
            let interface = comparable(&own.interface);
            own.decided().map(move |field| format!("({field} of {interface})")).collect::<Vec<_>>()
        };
        suite.into_iter().chain(self.interfaces.iter().flat_map(of_interface))
    }

    /// What they have left in the cloud.
    pub(super) fn left(&self) -> Vec<LeftValue> {
        let suite = self.cipher_suite.clone();
        let suite =
            suite.map(|suite| LeftValue { of: format!("{SUITE} in {}", self.cloud), value: Some(suite) });
        let of_interface = |own: &InterfaceSettings| {
            let of = |field: &'static str| format!("{field} of {}", own.interface);
            own.decided()
                .map(|field| LeftValue { of: of(field), value: own.value(field) })
                .collect::<Vec<_>>()
        };
        suite.into_iter().chain(self.interfaces.iter().flat_map(of_interface)).collect()
    }

    /// The settings that restore what these changed, one for each row of a sheet, with what these set as what an export saw;
    /// `before` is the configuration as the service answered it (specification 2.9), of settings that an export saw the part
    /// that was sent. `None` for an interface that it does not show.
    pub fn restored(&self, before: &Value) -> Vec<Option<Self>> {
        let of_cloud = || Self { cloud: self.cloud.clone(), ..Self::default() };
        let is_sent = |shown: bool| !self.is_from_export() || shown;
        let suite = before[SUITE].as_str().map(str::to_owned);
        let suite = (self.cipher_suite.is_some() || self.is_from_export() && suite.is_some()).then(|| {
            let (cipher_suite, exported_suite) = (Some(suite.clone()?), self.cipher_suite.clone());
            Some(Self { cipher_suite, exported_suite, ..of_cloud() })
        });
        let interfaces = self.interfaces.iter().filter_map(|own| {
            let entry = own.entry_named(before);
            is_sent(entry.is_some())
                .then(|| Some(Self { interfaces: vec![own.restored(entry?)], ..of_cloud() }))
        });
        suite.filter(|_| is_sent(before.get(SUITE).is_some())).into_iter().chain(interfaces).collect()
    }

    /// The fields that these set and that were blank before, each with its interface: a blank cell does not bring that back. Those
    /// of an interface that used the default configuration are not among them, as it does so again.
    pub fn blank_before<'a>(&'a self, before: &'a Value) -> impl Iterator<Item = String> + 'a {
        let own = self.interfaces.iter().filter_map(|own| Some((own, own.entry_named(before)?)));
        own.filter(|(_, entry)| entry[DEFAULT] != true).flat_map(|(own, entry)| {
            let fields = InterfaceSettings::FIELDS.into_iter().filter(|field| *field != DEFAULT);
            let was_blank = |field: &&str| own.value(field).is_some() && text(&entry[*field]).is_empty();
            fields.filter(was_blank).map(|field| format!("{field} of {}", own.interface))
        })
    }
}

/// A setting that was replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacedSetting {
    /// The interface, as the row has it; `None` for the cipher suite.
    pub interface: Option<String>,
    /// The field.
    pub field: &'static str,
    /// What it was; blank where it had none.
    pub was: String,
    /// What it was set to; blank where an interface uses the default configuration now.
    pub now: String,
}

impl VpnSettings {
    /// The settings that these replaced, of the configuration as the service answered it before.
    pub fn replaced(&self, before: &Value) -> Vec<ReplacedSetting> {
        let replaced = |interface: Option<&str>, field, was: &Value, now: String| {
            let was = setting(field, &text(was));
            let interface = interface.map(str::to_owned);
            (was != now).then_some(ReplacedSetting { interface, field, was, now })
        };
        let suite = self.cipher_suite.clone();
        let suite = suite.and_then(|suite| replaced(None, SUITE, &before[SUITE], suite));
        let of_interface = |own: &InterfaceSettings| -> Vec<ReplacedSetting> {
            let Some(entry) = own.entry_named(before) else { return Vec::new() };
            let given = |field| own.value(field).or_else(|| own.default?.then(String::new));
            let fields = InterfaceSettings::FIELDS.into_iter();
            fields
                .filter_map(|field| replaced(Some(&own.interface), field, &entry[field], given(field)?))
                .collect()
        };
        suite.into_iter().chain(self.interfaces.iter().flat_map(of_interface)).collect()
    }
}

impl InterfaceSettings {
    /// What the service showed of the interface, by its name or id as the row has it.
    fn entry_named<'v>(&self, shown: &'v Value) -> Option<&'v Value> {
        let is_own = |entry: &&Value| {
            ["name", "id"].iter().any(|field| entry["interfaceDevice"][field] == *self.interface)
        };
        shown["interfaceConfiguration"].as_array()?.iter().find(is_own)
    }

    /// The settings that an interface had, with what these set as what an export saw.
    fn restored(&self, entry: &Value) -> Self {
        let text = |field: &str| entry[field].as_str().map(str::to_owned);
        let is_default = entry[DEFAULT] == true;
        let put = |field: &&str| Some(((*field).to_owned(), self.value(field)?));
        Self {
            interface: self.interface.clone(),
            id: None,
            direction: text("direction").filter(|_| !is_default),
            snat: text("snat").filter(|_| !is_default),
            weight: entry["weight"].as_i64().filter(|_| !is_default),
            default: Some(is_default),
            exported: Self::FIELDS.iter().filter_map(put).collect(),
        }
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
            let (cloud, cipher_suite) = (settings.cloud.clone(), suite.map(str::to_owned));
            let exported_suite = suite.and(settings.cipher_suite.clone());
            let of_row =
                VpnSettings { cloud, cipher_suite, exported_suite, interfaces, ..VpnSettings::default() };
            Some(of_row)
        };
        let first = InterfaceSettings { exported: [("weight".to_owned(), "10".to_owned())].into(), ..first };
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
        let replaced = |settings: &VpnSettings| -> Vec<String> {
            let words = |of: ReplacedSetting| {
                format!("{} {}: {} -> {}", of.interface.unwrap_or_default(), of.field, of.was, of.now)
            };
            settings.replaced(&before).into_iter().map(words).collect()
        };
        let suite = " cipherSuite: ECDHE_ECDSA_AES128_GCM -> Automatic";
        assert_eq!(replaced(&settings), [suite, "eth0 weight: 7 -> 10", "eth1 weight:  -> 10"]);
        settings.interfaces =
            vec![InterfaceSettings { default: Some(true), ..InterfaceSettings::named("eth0") }];
        let default =
            ["eth0 direction: out -> ", "eth0 weight: 7 -> ", "eth0 configurationDisabled: false -> true"];
        assert_eq!(replaced(&settings)[1..], default);
    }
}
