//! Settings of a device in a VPN cloud, compared with what the service has of them: what is sent, and what the service has
//! changed since the sheet was exported (specification 2.9).
//!
//! What the service does with the fields of an interface that a request leaves out is not documented, so the settings of an
//! interface of which a field changes are sent whole.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record_update::{FieldDifference, text};
use super::vpn::{DEFAULT, InterfaceSettings, SUITE, VpnSettings};
use crate::model::id::RemoteId;

/// A field that the service has changed since the export.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingDifference {
    /// The interface, as the row has it; `None` for the cipher suite.
    pub interface: Option<String>,
    /// The field.
    pub difference: FieldDifference,
}

/// A setting that the service has changed since the export of the rows, and that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LeftSetting {
    /// The interface, as the row has it; `null` for the cipher suite.
    pub interface: Option<String>,
    /// The field, as the service names it.
    pub field: String,
    /// What the service has; blank for no value.
    pub value: String,
}

impl From<SettingDifference> for LeftSetting {
    fn from(SettingDifference { interface, difference }: SettingDifference) -> Self {
        let FieldDifference { field, shown, .. } = difference;
        Self { interface, field, value: shown.unwrap_or_default() }
    }
}

/// What the settings that the service has mean for those that a sheet asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct VpnComparison {
    /// What is to be sent.
    pub send: VpnSettings,
    /// Fields that the sheet and the service have both changed since the export.
    pub conflicts: Vec<SettingDifference>,
    /// Fields that only the service has changed since the export.
    pub left: Vec<SettingDifference>,
}

/// What a field that the service has means for the one of a sheet.
enum Fit {
    /// It is as the sheet says, or the sheet says nothing.
    Same,
    /// It is to be set to this.
    Send(String),
    /// The sheet and the service have both changed it to something else.
    Conflict(String),
    /// Only the service has changed it.
    Left(String),
}

/// Compares a field that the sheet has changed to `wanted`, or left as it was `exported`, with what is there.
fn fit(wanted: Option<String>, exported: Option<&str>, there: &str, overwrite: bool) -> Fit {
    match (wanted, exported) {
        (Some(wanted), _) if wanted == there => Fit::Same,
        (Some(wanted), Some(exported)) if exported != there && !overwrite => Fit::Conflict(wanted),
        (Some(wanted), _) => Fit::Send(wanted),
        (None, Some(exported)) if exported == there => Fit::Same,
        (None, Some(exported)) => Fit::Left(exported.to_owned()),
        (None, None) => Fit::Same,
    }
}

impl VpnSettings {
    /// Compares settings of which some come from an export with those that the service shows, by the ids of the interfaces.
    /// With `overwrite` the cells that the sheet changed are sent though the service has changed the same since the export; the
    /// others are left in any case.
    pub fn compare(&self, shown: &Value, overwrite: bool) -> VpnComparison {
        let send = Self { cloud: self.cloud.clone(), ..Self::default() };
        let mut comparison = VpnComparison { send, conflicts: Vec::new(), left: Vec::new() };
        let suite = text(&shown[SUITE]);
        let exported = self.exported_suite.as_deref();
        match fit(self.cipher_suite.clone(), exported, &suite, overwrite) {
            Fit::Same => {}
            Fit::Send(suite) => comparison.send.cipher_suite = Some(suite),
            Fit::Conflict(wanted) => comparison.conflicts.push(difference(None, SUITE, wanted, suite)),
            Fit::Left(wanted) => comparison.left.push(difference(None, SUITE, wanted, suite)),
        }
        for own in &self.interfaces {
            let entry = own.entry_of(shown).unwrap_or(&Value::Null);
            comparison.add_interface(own, entry, overwrite);
        }
        comparison
    }

    /// What of the settings that the service shows is about what is sent.
    pub fn part_of(&self, shown: &Value) -> Value {
        let entries = self.interfaces.iter().filter_map(|own| own.entry_of(shown)).cloned().collect();
        let mut part = shown.clone();
        if let Value::Object(fields) = &mut part {
            if self.cipher_suite.is_none() {
                fields.remove(SUITE);
            }
            fields.insert("interfaceConfiguration".to_owned(), Value::Array(entries));
        }
        part
    }
}

impl VpnComparison {
    /// Adds what the fields of an interface come to.
    fn add_interface(&mut self, own: &InterfaceSettings, entry: &Value, overwrite: bool) {
        let mut whole = InterfaceSettings { id: own.id, ..InterfaceSettings::named(&own.interface) };
        let mut is_sent = false;
        for field in InterfaceSettings::FIELDS {
            let there = setting(field, &text(&entry[field]));
            let exported = own.exported.get(field).map(|exported| setting(field, exported));
            let is_of_row = own.value(field).is_some() || exported.is_some();
            let told = |wanted| difference(Some(&own.interface), field, wanted, there.clone());
            match fit(own.value(field), exported.as_deref(), &there, overwrite) {
                Fit::Same if is_of_row => whole.set(field, &there),
                Fit::Same => {}
                Fit::Send(value) => {
                    whole.set(field, &value);
                    is_sent = true;
                }
                Fit::Conflict(wanted) => self.conflicts.push(told(wanted)),
                Fit::Left(wanted) => {
                    whole.set(field, &there);
                    self.left.push(told(wanted));
                }
            }
        }
        if whole.default == Some(true) {
            // An interface that uses the default configuration has none of the others.
            (whole.direction, whole.snat, whole.weight) = (None, None, None);
        }
        if is_sent {
            self.send.interfaces.push(whole);
        }
    }
}

fn difference(interface: Option<&str>, field: &str, wanted: String, there: String) -> SettingDifference {
    let difference = FieldDifference { field: field.to_owned(), wanted, shown: Some(there) };
    SettingDifference { interface: interface.map(str::to_owned), difference }
}

/// The value of a field as it is compared: an interface that says nothing about it has settings of its own.
pub(super) fn setting(field: &str, text: &str) -> String {
    match (field, text) {
        (DEFAULT, "") => "false".to_owned(),
        (_, text) => text.to_owned(),
    }
}

impl InterfaceSettings {
    /// What the service shows of the interface, by its id.
    fn entry_of<'v>(&self, shown: &'v Value) -> Option<&'v Value> {
        let id = |value: &Value| value.as_str().and_then(|text| RemoteId::try_parse(text).ok());
        let is_own = |entry: &&Value| {
            let of = id(&entry["interfaceDevice"]["id"]).or_else(|| id(&entry["interfaceDeviceId"]));
            of.is_some() && of == self.id
        };
        shown["interfaceConfiguration"].as_array()?.iter().find(is_own)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::action::Offer;

    fn exported(fields: &[(&str, &str)]) -> InterfaceSettings {
        let exported = fields.iter().map(|(field, text)| ((*field).to_owned(), (*text).to_owned())).collect();
        InterfaceSettings { id: Some(RemoteId::from_u128(1)), exported, ..InterfaceSettings::named("eth0") }
    }

    fn settings(interfaces: Vec<InterfaceSettings>) -> VpnSettings {
        let suite = Some("Automatic".to_owned());
        VpnSettings {
            cloud: Offer::named("Guest"),
            exported_suite: suite,
            interfaces,
            ..VpnSettings::default()
        }
    }

    fn shown(suite: &str, fields: &Value) -> Value {
        let mut entry = json!({"interfaceDevice": {"id": RemoteId::from_u128(1), "name": "eth0"}});
        entry.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({"cipherSuite": suite, "interfaceConfiguration": [entry]})
    }

    fn fields(found: &[SettingDifference]) -> Vec<&str> {
        found.iter().map(|of| of.difference.field.as_str()).collect()
    }

    #[test]
    fn an_interface_of_which_a_field_was_changed_is_sent_whole_and_nothing_else_is() {
        let seen = [("direction", "out"), ("weight", "10"), ("configurationDisabled", "false")];
        let changed = InterfaceSettings { weight: Some(20), ..exported(&seen) };
        let there = json!({"direction": "out", "weight": 10, "configurationDisabled": false});
        let compared = settings(vec![changed.clone()]).compare(&shown("Automatic", &there), false);
        assert_eq!((fields(&compared.conflicts), fields(&compared.left)), (vec![], vec![]));
        let [sent] = &compared.send.interfaces[..] else { panic!("one interface") };
        assert_eq!(
            (sent.direction.as_deref(), sent.weight, sent.default),
            (Some("out"), Some(20), Some(false))
        );
        assert_eq!(compared.send.cipher_suite, None);
        // It is so already; and a row that nobody changed.
        let there = json!({"direction": "out", "weight": 20, "configurationDisabled": false});
        assert!(
            settings(vec![changed]).compare(&shown("Automatic", &there), false).send.interfaces.is_empty()
        );
        let as_exported = settings(vec![exported(&seen)]);
        assert!(!as_exported.asks_for_a_change());
        let compared = as_exported.compare(&shown("Automatic", &there), false);
        assert_eq!((fields(&compared.conflicts), fields(&compared.left)), (vec![], vec!["weight"]));
        assert!(compared.send.interfaces.is_empty());
    }

    #[test]
    fn what_the_service_changed_since_is_not_overwritten_unless_asked() {
        let seen = [("direction", "out"), ("weight", "10"), ("snat", "")];
        let own = InterfaceSettings { weight: Some(20), snat: Some("hide".into()), ..exported(&seen) };
        let there = json!({"direction": "in", "weight": 15, "snat": "plain"});
        let compared = settings(vec![own.clone()]).compare(&shown("ECDHE", &there), false);
        assert_eq!(fields(&compared.conflicts), ["snat", "weight"]);
        assert_eq!(fields(&compared.left), ["cipherSuite", "direction"]);
        // Nobody has asked for the cipher suite and the direction.
        let compared = settings(vec![own]).compare(&shown("ECDHE", &there), true);
        let sent = &compared.send.interfaces[0];
        assert_eq!(
            (sent.direction.as_deref(), sent.weight, sent.snat.as_deref()),
            (Some("in"), Some(20), Some("hide"))
        );
        assert_eq!(compared.send.cipher_suite, None);
        assert_eq!(fields(&compared.left), ["cipherSuite", "direction"]);
        assert!(compared.conflicts.is_empty());
    }

    #[test]
    fn an_interface_that_is_set_to_the_default_configuration_has_nothing_else() {
        let own =
            InterfaceSettings { default: Some(true), ..exported(&[("configurationDisabled", "false")]) };
        let there = json!({"weight": 15});
        let compared = settings(vec![own]).compare(&shown("Automatic", &there), false);
        let sent = &compared.send.interfaces[0];
        assert_eq!((sent.weight, sent.default), (None, Some(true)));
        let part = compared.send.part_of(&shown("Automatic", &there));
        assert_eq!(part.get("cipherSuite"), None);
        assert_eq!(part["interfaceConfiguration"][0]["weight"], 15);
    }
}
