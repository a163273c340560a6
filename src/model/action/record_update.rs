//! Changes to fields of a record that exists: what a row asks for, and what of it is sent once the record has been read
//! (specification 4.2, 4.5 and 4.8).
//!
//! A row that comes from an export knows what the service showed then. A field is sent only if the sheet changed it, and if
//! the service still has the value of the export.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::before::Before;
use crate::mistake::{self, Mistake};
use crate::model::key::mac_digits;
use crate::model::kind::Kind;
use crate::model::record::Record;

/// The part of a field's path that all fields of an address begin with.
const ADDRESS: &str = "address.";

/// The field of the MAC address.
const MAC: &str = "identification";

/// The parts without which an address is not whole: those that every address of a new record needs.
const WHOLE_ADDRESS: [&str; 3] = ["address.address1", "address.city", "address.country"];

/// Values by field, each with its path in the body of a creation: `address.city`.
pub type FieldValues = BTreeMap<String, Value>;

/// New values for fields of a record that exists.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RecordUpdate {
    /// What the row calls the record: its name, else its key or id.
    pub called: String,
    /// The fields that the service can change, with the values that they shall have.
    pub fields: FieldValues,
    /// Fields that the service cannot change, with the values that the row has for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fixed: FieldValues,
    /// What the service showed when the row was exported, as text; blank where it showed that a field has no value. What the
    /// export could not tell is not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exported: BTreeMap<String, String>,
    /// What is sent, once the record has been read.
    #[serde(skip)]
    pub send: Option<FieldValues>,
    /// What the record had before, as it was read.
    #[serde(skip)]
    pub before: Option<Before>,
}

/// A field whose value at the service is none of those that were expected.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldDifference {
    /// Its path: `address.city`.
    pub field: String,
    /// What the row has; of a field that the sheet did not change, what was exported.
    pub wanted: String,
    /// What the service shows, blank if that is no value; `None` if it does not show the field.
    pub shown: Option<String>,
}

/// What a record that was read means for an update of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpdateComparison {
    /// What is to be sent; an address is sent whole.
    pub send: FieldValues,
    /// Fields that cannot be changed and are not, or cannot be seen to be, what the row says.
    pub fixed: Vec<FieldDifference>,
    /// Fields that the sheet and the service have both changed since the export.
    pub conflicts: Vec<FieldDifference>,
    /// Fields that only the service has changed since the export.
    pub left: Vec<FieldDifference>,
    /// The parts without which the address that would be sent, in the place of one that the service does not show, is not
    /// whole.
    pub lacking_of_address: Vec<&'static str>,
}

impl RecordUpdate {
    /// Whether the service can change a field of records of a kind.
    pub fn can_change(kind: Kind, field: &str) -> bool {
        match kind {
            Kind::Company => {
                field.starts_with(ADDRESS)
                    || matches!(
                        field,
                        "name"
                            | "phoneNumber"
                            | "faxNumber"
                            | "supportEmail"
                            | "salesEmail"
                            | "accountsEmail"
                    )
            }
            Kind::Site => {
                field.starts_with(ADDRESS)
                    || matches!(
                        field,
                        "name" | "reference" | "phoneNumber" | "faxNumber" | "latitude" | "longitude"
                    )
            }
            Kind::Device => field == "name",
            Kind::Person | Kind::Upkeep(_) => false,
        }
    }

    /// Takes in what an earlier row asks for beside these fields (of an address, `address`).
    pub fn take_over(&mut self, earlier: Self, own: &BTreeSet<String>) {
        let is_other = |field: &String| !own.contains(root(field));
        self.fields.extend(earlier.fields.into_iter().filter(|(field, _)| is_other(field)));
        self.fixed.extend(earlier.fixed.into_iter().filter(|(field, _)| is_other(field)));
        self.exported.extend(earlier.exported.into_iter().filter(|(field, _)| is_other(field)));
    }

    /// Whether both change the same field, of which an address is one.
    pub fn shares_field_with(&self, other: &Self) -> bool {
        self.fields.keys().any(|own| other.fields.keys().any(|field| root(field) == root(own)))
    }

    /// Compares what the row asks for with the record as the service shows it. With `overwrite` the fields that the sheet
    /// changed are sent though the service has changed them since the export; the others are left in any case.
    pub fn compare(&self, record: &Value, overwrite: bool) -> UpdateComparison {
        let shown = |field: &str| value_at(record, field);
        // The export read the same record: what it showed and is not shown any more has no value now.
        let is_as_exported =
            |field: &str, exported: &str| shown(field).map(text).unwrap_or_default() == exported;
        let mut comparison = UpdateComparison::default();
        let difference = |field: &str, wanted: String| FieldDifference {
            field: field.to_owned(),
            wanted,
            shown: shown(field).map(text),
        };
        for (field, wanted) in &self.fields {
            let there = shown(field);
            if there.is_some_and(|there| is_same(field, wanted, there))
                && !mistake::made(Mistake::EqualFieldsSent)
            {
                continue;
            }
            let has_changed =
                self.exported.get(field).is_some_and(|exported| !is_as_exported(field, exported));
            if has_changed && !overwrite {
                comparison.conflicts.push(difference(field, text(wanted)));
            } else {
                comparison.send.insert(field.clone(), wanted.clone());
            }
        }
        for (field, exported) in &self.exported {
            if !self.fields.contains_key(field) && !is_as_exported(field, exported) {
                comparison.left.push(difference(field, exported.clone()));
            }
        }
        for (field, wanted) in &self.fixed {
            let is_so = shown(field).is_some_and(|there| is_same(field, wanted, there));
            if !is_so && !mistake::made(Mistake::FixedFieldNotCompared) {
                comparison.fixed.push(difference(field, text(wanted)));
            }
        }
        if comparison.send.keys().any(|field| field.starts_with(ADDRESS)) {
            match record.get("address").and_then(Value::as_object) {
                Some(_) if mistake::made(Mistake::AddressSentInPart) => {}
                Some(address) => {
                    for (part, value) in address.iter().filter(|(_, value)| !value.is_null()) {
                        comparison.send.entry(format!("{ADDRESS}{part}")).or_insert_with(|| value.clone());
                    }
                }
                // The address of the row takes the place of all of the one that is there.
                None => {
                    let lacks = |field: &&str| !comparison.send.contains_key(*field);
                    comparison.lacking_of_address = WHOLE_ADDRESS.into_iter().filter(lacks).collect();
                }
            }
        }
        comparison
    }

    /// Whether the record has all that was sent, or, as long as that is not known, all that the row asks for. Nothing shows
    /// that a row was carried out which asks for nothing.
    pub fn is_shown_by(&self, record: &Value) -> bool {
        let sent = self.send.as_ref().unwrap_or(&self.fields);
        !sent.is_empty() && self.differences(record).is_empty()
    }

    /// The fields of which the record does not show what was sent, or, as long as that is not known, what the row asks for.
    pub fn differences(&self, record: &Value) -> Vec<FieldDifference> {
        let sent = self.send.as_ref().unwrap_or(&self.fields);
        let is_so = |field: &str, wanted: &Value| {
            value_at(record, field).is_some_and(|there| is_same(field, wanted, there))
        };
        let differing = sent.iter().filter(|(field, wanted)| !is_so(field, wanted));
        let difference = |(field, wanted): (&String, &Value)| FieldDifference {
            field: field.clone(),
            wanted: text(wanted),
            shown: value_at(record, field).map(text),
        };
        differing.map(difference).collect()
    }

    /// Leaves out the fields that cannot be changed and that the record was created with.
    pub fn drop_created(&mut self, record: &Record) {
        let created = fields_of(record);
        self.fixed
            .retain(|field, wanted| !created.get(field).is_some_and(|made| is_same(field, wanted, made)));
    }

    /// The same update, with what of it is sent and what the record had before.
    pub fn resolved(&self, record: &Value, compared: UpdateComparison) -> Self {
        let sent: FieldValues = compared
            .send
            .iter()
            .filter(|(field, _)| self.fields.contains_key(*field))
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        let shown = |field: &String| Some((field.clone(), value_at(record, field)?.clone()));
        let now = |field: &String| (field.clone(), value_at(record, field).cloned().unwrap_or_default());
        let before = Before::Fields {
            fields: sent.keys().filter_map(shown).collect(),
            left: compared.left.iter().map(|left| now(&left.field)).collect(),
            meanwhile: BTreeMap::new(),
            sent,
        };
        Self { send: Some(compared.send), before: Some(before), ..self.clone() }
    }

    /// The body of the request.
    pub fn body(&self) -> Value {
        let mut body = Map::new();
        for (field, value) in self.send.as_ref().unwrap_or(&self.fields) {
            match field.strip_prefix(ADDRESS) {
                Some(part) => {
                    let address = body.entry("address").or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(address) = address {
                        address.insert(part.to_owned(), value.clone());
                    }
                }
                None => {
                    body.insert(field.clone(), value.clone());
                }
            }
        }
        Value::Object(body)
    }
}

/// The fields of a record by their paths, as its creation sends them.
pub fn fields_of(record: &Record) -> FieldValues {
    let mut fields = FieldValues::new();
    let Value::Object(body) = record.body() else { return fields };
    for (field, value) in body {
        match value {
            Value::Object(parts) if field == "address" => {
                fields.extend(parts.into_iter().map(|(part, value)| (format!("{ADDRESS}{part}"), value)));
            }
            value => {
                fields.insert(field, value);
            }
        }
    }
    fields
}

/// The field of a record that a path leads into: `address` of all parts of an address.
pub fn root(field: &str) -> &str {
    field.split_once('.').map_or(field, |(root, _)| root)
}

/// The value of a field; `None` where the record does not show it. A field that is `null` is shown, and has no value.
fn value_at<'v>(record: &'v Value, field: &str) -> Option<&'v Value> {
    match field.strip_prefix(ADDRESS) {
        Some(part) => record.get("address")?.get(part),
        None => record.get(field),
    }
}

/// A value as a sheet shows it.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Whether a value of a field is the one that is there. A MAC address is, however it is written.
pub fn is_same(field: &str, wanted: &Value, there: &Value) -> bool {
    if let (Some(wanted), Some(there)) = (wanted.as_f64(), there.as_f64()) {
        return (wanted - there).abs() < 1e-9;
    }
    let (wanted, there) = (text(wanted), text(there));
    let is_one_mac = || mac_digits(&wanted).is_some_and(|digits| mac_digits(&there) == Some(digits));
    wanted == there || (field == MAC && is_one_mac())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use serde_json::json;

    fn values(value: &Value) -> FieldValues {
        value.as_object().unwrap().clone().into_iter().collect()
    }

    fn exported(fields: &[(&str, &str)]) -> BTreeMap<String, String> {
        fields.iter().map(|(field, text)| ((*field).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn an_address_is_one_field_of_two_updates() {
        let of =
            |field: &str| RecordUpdate { fields: values(&json!({field: "Rome"})), ..RecordUpdate::default() };
        let shared = |one: &str, other: &str| of(one).shares_field_with(&of(other));
        assert!(shared("name", "name") && shared("address.city", "address.suburb"));
        assert!(!shared("name", "reference"));
    }

    #[test]
    fn only_what_the_record_does_not_have_is_sent_and_an_address_whole() {
        let update = RecordUpdate {
            fields: values(
                &json!({"name": "New", "phoneNumber": "1", "address.city": "Rome", "latitude": 1.5}),
            ),
            ..RecordUpdate::default()
        };
        let record = json!({
            "name": "Old", "phoneNumber": "1", "latitude": 1.5,
            "address": {"address1": "1 High St", "city": "Paris", "suburb": null},
        });
        let compared = update.compare(&record, false);
        assert_eq!(
            compared.send,
            values(&json!({"name": "New", "address.city": "Rome", "address.address1": "1 High St"}))
        );
        let sent = RecordUpdate { send: Some(compared.send), ..update.clone() };
        assert_eq!(sent.body(), json!({"name": "New", "address": {"address1": "1 High St", "city": "Rome"}}));
        let after = json!({"name": "New", "phoneNumber": "1", "latitude": 1.5, "address": {"city": "Rome"}});
        assert!(!update.is_shown_by(&record) && update.is_shown_by(&after));
        // A record that does not show its address: a part of one might replace it all.
        let compared = update.compare(&json!({"name": "Old"}), false);
        assert_eq!(compared.lacking_of_address, ["address.address1", "address.country"]);
        assert_eq!(compared.send.len(), 4, "what is not shown is sent");
        let none: &[&str] = &[];
        for (parts, lacking) in [
            (json!({"address.address1": "1 High St"}), &["address.city", "address.country"][..]),
            (json!({"address.address1": "1 High St", "address.city": "Rome"}), &["address.country"]),
            (json!({"address.city": "Rome", "address.country": "IT"}), &["address.address1"]),
            (json!({"address.address1": "1", "address.city": "Rome", "address.country": "IT"}), none),
            (json!({"name": "New"}), none),
        ] {
            let update = RecordUpdate { fields: values(&parts), ..RecordUpdate::default() };
            let compared = update.compare(&json!({"name": "Old"}), false);
            assert_eq!(compared.lacking_of_address, lacking, "{parts}");
        }
    }

    #[test]
    fn what_the_service_changed_since_the_export_is_not_overwritten_unless_asked() {
        let update = RecordUpdate {
            fields: values(&json!({"name": "New", "reference": "R-2"})),
            exported: exported(&[
                ("name", "Old"),
                ("reference", "R-1"),
                ("phoneNumber", "1"),
                ("faxNumber", "2"),
            ]),
            ..RecordUpdate::default()
        };
        let record = json!({"name": "Theirs", "reference": "R-1", "phoneNumber": "9", "faxNumber": "2"});
        let compared = update.compare(&record, false);
        assert_eq!(compared.send, values(&json!({"reference": "R-2"})));
        let named = |found: &[FieldDifference]| -> Vec<(String, String, Option<String>)> {
            found.iter().map(|of| (of.field.clone(), of.wanted.clone(), of.shown.clone())).collect()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(named(&compared.conflicts), [("name".into(), "New".into(), some("Theirs"))]);
        assert_eq!(named(&compared.left), [("phoneNumber".into(), "1".into(), some("9"))]);
        // Nobody has asked for the telephone number.
        let compared = update.compare(&record, true);
        assert_eq!(compared.send, values(&json!({"name": "New", "reference": "R-2"})));
        assert_eq!(named(&compared.left), [("phoneNumber".into(), "1".into(), some("9"))]);
        assert!(compared.conflicts.is_empty());
    }

    #[test]
    fn a_blank_field_that_got_a_value_since_the_export_was_changed_and_so_was_one_that_lost_its_value() {
        let name = ("name", "Acme");
        let update = |wanted: &Value, seen: &[(&str, &str)]| RecordUpdate {
            fields: values(wanted),
            exported: exported(&[&[name], seen].concat()),
            ..RecordUpdate::default()
        };
        let (own, nothing) = (json!({"faxNumber": "7"}), json!({}));
        let theirs = json!({"name": "Acme", "faxNumber": "8"});
        let (hidden, null) = (json!({"name": "Acme"}), json!({"name": "Acme", "faxNumber": null}));
        let (blank, six) = ([("faxNumber", "")], [("faxNumber", "6")]);
        // What the sheet asks for, what the export saw, what is there: sent, in conflict, left.
        let table = [
            (&own, &blank[..], &theirs, [false, true, false]),
            (&own, &blank, &hidden, [true, false, false]),
            (&own, &blank, &null, [true, false, false]),
            // The export could not tell.
            (&own, &[], &theirs, [true, false, false]),
            (&own, &six, &hidden, [false, true, false]),
            (&own, &six, &null, [false, true, false]),
            (&nothing, &blank, &theirs, [false, false, true]),
            (&nothing, &six, &hidden, [false, false, true]),
            (&nothing, &blank, &null, [false, false, false]),
        ];
        for (wanted, seen, record, expected) in table {
            let compared = update(wanted, seen).compare(record, false);
            let found =
                [!compared.send.is_empty(), !compared.conflicts.is_empty(), !compared.left.is_empty()];
            assert_eq!(found, expected, "{wanted} {seen:?} {record}");
        }
        let removed = update(&json!({"name": "Own"}), &six);
        let resolved = removed.resolved(&hidden, removed.compare(&hidden, false));
        let Some(Before::Fields { left, .. }) = resolved.before else { panic!("it was read") };
        assert_eq!(left, values(&json!({"faxNumber": null})));
    }

    #[test]
    fn what_cannot_be_changed_must_be_so_already_by_the_service_or_by_its_creation() {
        let fixed =
            values(&json!({"identification": "aa", "deviceModel": "Edge 100", "address.city": "Auckland"}));
        let mut update = RecordUpdate { fixed, ..RecordUpdate::default() };
        update.drop_created(&Record::Device(testing::device("Till", None)));
        assert_eq!(update.fixed.keys().collect::<Vec<_>>(), ["identification"]);
        assert!(update.compare(&json!({"identification": "aa"}), false).fixed.is_empty());
        for record in [json!({"identification": "bb"}), json!({})] {
            assert_eq!(update.compare(&record, true).fixed.len(), 1, "{record}");
        }
        // The service may write a MAC address otherwise, and a name is as it is written.
        let mac = |field: &str, wanted: &str, there: &str| is_same(field, &json!(wanted), &json!(there));
        assert!(mac(MAC, "00:1a:2b:00:00:01", "001A2B000001"));
        assert!(!mac(MAC, "00:1a:2b:00:00:01", "00:1a:2b:00:00:02") && !mac(MAC, "Edge", "edge"));
        assert!(!mac("name", "00:1a:2b:00:00:01", "001A2B000001"));
        let table = [
            (Kind::Company, "supportEmail", true),
            (Kind::Company, "companyType", false),
            (Kind::Site, "address.city", true),
            (Kind::Site, "latitude", true),
            (Kind::Device, "name", true),
            (Kind::Device, "address.city", false),
            (Kind::Device, "identification", false),
        ];
        for (kind, field, expected) in table {
            assert_eq!(RecordUpdate::can_change(kind, field), expected, "{kind} {field}");
        }
    }
}
