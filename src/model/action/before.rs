//! What a record had before a step changed it: read by a look-up before the request left, kept in the journal, shown in the
//! reports, and put back by an undo.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Action;
use super::record_update::is_same;
use super::vpn_comparison::LeftSetting;
use crate::model::id::RemoteId;

/// What a record had of what a step changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "was", rename_all = "snake_case")]
pub enum Before {
    /// Nothing: no such label, entry, subscription or membership.
    Absent,
    /// A label, a subscription or a membership was there.
    Present {
        /// The name of the template or cloud, as its list shows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The settings of a membership, as the service answered them, where they were read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<Value>,
        /// Settings that the service changed since the export of the rows, and that were left as they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<LeftSetting>,
    },
    /// A metadata entry had this value.
    Value {
        /// The value.
        value: String,
        /// Another one that was there when the request was sent again after a lost answer: that of another person or program, or
        /// an earlier one of the row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        meanwhile: Option<String>,
    },
    /// Metadata entries had these values.
    Entries {
        /// By the key of the entry; `null` for one that was not there. Those that had the asked-for value are not listed.
        entries: BTreeMap<String, Option<String>>,
    },
    /// A device was in a site.
    Site {
        /// The id of the site.
        id: RemoteId,
        /// Its name, where the service shows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// The fields of a record that an update changes had these values.
    Fields {
        /// By the names of the specification; `null` for a field without a value.
        fields: BTreeMap<String, Value>,
        /// What was sent in their place.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        sent: BTreeMap<String, Value>,
        /// What the service has of fields that it changed since the export of the row, and that were left as they are; `null`
        /// for a field that has no value any more.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        left: BTreeMap<String, Value>,
        /// Other values that were there when the request was sent again after a lost answer: those of another person or program,
        /// or earlier ones of the row.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        meanwhile: BTreeMap<String, Value>,
    },
}

impl Before {
    /// What was there, of which nothing more is known.
    pub const fn present() -> Self {
        Self::Present { name: None, settings: None, left: Vec::new() }
    }

    /// Whether nothing was sent: it is only what others have changed.
    pub fn is_unsent(&self) -> bool {
        matches!(self, Self::Fields { sent, .. } if sent.is_empty())
    }

    /// The same as if this field, or this entry of a list of metadata, had not been sent.
    pub fn without(mut self, of: &str) -> Self {
        match &mut self {
            Self::Fields { sent, .. } => drop(sent.remove(of)),
            Self::Entries { entries } => drop(entries.remove(of)),
            Self::Absent | Self::Present { .. } | Self::Value { .. } | Self::Site { .. } => {}
        }
        self
    }

    /// What was read before the first of several requests that each may have been carried out, for the last of them: `action`
    /// is what that asks for, and `again` what was read before it. Of each field and entry the value that was read first
    /// counts, since a later one may be what an earlier request put there.
    pub fn kept_for(self, action: &Action, again: Option<&Self>) -> Self {
        match (self, action, again) {
            (Self::Fields { mut fields, sent, left, mut meanwhile }, Action::Update(update), again) => {
                let (mut asked, mut left) = (sent, left);
                if let Some(Self::Fields { fields: now, sent, left: left_now, .. }) = again {
                    let is_of_others = |(field, there): &(&String, &Value)| {
                        let is_ours =
                            |known: Option<&Value>| known.is_none_or(|known| is_same(field, known, there));
                        !is_ours(fields.get(*field))
                            && !is_ours(asked.get(*field))
                            && !is_ours(sent.get(*field))
                    };
                    let others = now.iter().filter(is_of_others);
                    meanwhile.extend(others.map(|(field, there)| (field.clone(), there.clone())));
                    let is_new = |field: &String| !asked.contains_key(field);
                    fields.extend(now.clone().into_iter().filter(|(field, _)| is_new(field)));
                    asked.extend(sent.clone());
                    left.clone_from(left_now);
                }
                let is_asked = |field: &String| asked.contains_key(field);
                let sent: BTreeMap<String, Value> =
                    update.fields.clone().into_iter().filter(|(field, _)| is_asked(field)).collect();
                fields.retain(|field, _| sent.contains_key(field));
                meanwhile.retain(|field, _| sent.contains_key(field));
                Self::Fields { fields, sent, left, meanwhile }
            }
            (
                Self::Value { value, meanwhile },
                Action::PutMetadataEntry(entry),
                Some(Self::Value { value: now, .. }),
            ) => {
                let is_of_others = *now != value && entry.value.as_ref() != Some(now);
                let meanwhile = if is_of_others { Some(now.clone()) } else { meanwhile };
                Self::Value { value, meanwhile }
            }
            (Self::Entries { mut entries }, _, Some(Self::Entries { entries: now })) => {
                for (key, was) in now {
                    entries.entry(key.clone()).or_insert_with(|| was.clone());
                }
                Self::Entries { entries }
            }
            (first, ..) => first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::record_update::RecordUpdate;
    use serde_json::json;

    #[test]
    fn of_several_requests_the_value_that_was_read_first_and_the_one_that_is_asked_for_last_count() {
        let fields =
            |value: &Value| value.as_object().unwrap().clone().into_iter().collect::<BTreeMap<_, _>>();
        let read = |was: &Value, sent: &Value| Before::Fields {
            fields: fields(was),
            sent: fields(sent),
            left: BTreeMap::new(),
            meanwhile: BTreeMap::new(),
        };
        let asked =
            |value: &Value| Action::Update(RecordUpdate { fields: fields(value), ..RecordUpdate::default() });
        let first =
            read(&json!({"name": "A", "phone": "1"}), &json!({"name": "B", "phone": "2", "fax": "3"}));
        let table = [
            // The same is sent again, and the first request has set a part of it meanwhile.
            (
                json!({"name": "B", "phone": "2", "fax": "3"}),
                Some(read(&json!({"phone": "1", "fax": "0"}), &json!({"phone": "2", "fax": "3"}))),
                read(&json!({"name": "A", "phone": "1"}), &json!({"name": "B", "phone": "2", "fax": "3"})),
            ),
            // Another name, another field, and one that the row has no more.
            (
                json!({"name": "C", "city": "X"}),
                Some(read(&json!({"name": "B", "city": "Y"}), &json!({"name": "C", "city": "X"}))),
                read(&json!({"name": "A", "city": "Y"}), &json!({"name": "C", "city": "X"})),
            ),
            // Not read again.
            (json!({"name": "C"}), None, read(&json!({"name": "A"}), &json!({"name": "C"}))),
        ];
        for (wanted, again, expected) in table {
            assert_eq!(first.clone().kept_for(&asked(&wanted), again.as_ref()), expected, "{wanted}");
        }
        let entries = |of: &[(&str, Option<&str>)]| Before::Entries {
            entries: of.iter().map(|(key, was)| ((*key).to_owned(), was.map(str::to_owned))).collect(),
        };
        let again = entries(&[("floor", Some("2")), ("room", None)]);
        assert_eq!(
            entries(&[("floor", Some("1"))]).kept_for(&Action::PutMetadata(vec![]), Some(&again)),
            entries(&[("floor", Some("1")), ("room", None)])
        );
        let value = |value: &str| Before::Value { value: value.to_owned(), meanwhile: None };
        assert_eq!(value("1").kept_for(&Action::PutMetadata(vec![]), Some(&value("2"))), value("1"));
    }

    #[test]
    fn it_survives_the_journal_and_says_no_more_than_is_known() {
        let id = RemoteId::from_u128(7);
        let table = [
            (Before::Absent, json!({"was": "absent"})),
            (Before::present(), json!({"was": "present"})),
            (
                Before::Present {
                    name: Some("Core".into()),
                    settings: Some(json!({"cipherSuite": "Automatic"})),
                    left: vec![LeftSetting {
                        interface: Some("eth0".into()),
                        field: "weight".into(),
                        value: "7".into(),
                    }],
                },
                json!({
                    "was": "present", "name": "Core", "settings": {"cipherSuite": "Automatic"},
                    "left": [{"interface": "eth0", "field": "weight", "value": "7"}],
                }),
            ),
            (Before::Value { value: "A-1".into(), meanwhile: None }, json!({"was": "value", "value": "A-1"})),
            (
                Before::Entries {
                    entries: [("floor".to_owned(), Some("1".to_owned())), ("room".to_owned(), None)].into(),
                },
                json!({"was": "entries", "entries": {"floor": "1", "room": null}}),
            ),
            (Before::Site { id, name: None }, json!({"was": "site", "id": id})),
            (
                Before::Fields {
                    fields: [("name".to_owned(), json!("Acme")), ("faxNumber".to_owned(), json!(null))]
                        .into(),
                    sent: BTreeMap::new(),
                    left: BTreeMap::new(),
                    meanwhile: BTreeMap::new(),
                },
                json!({"was": "fields", "fields": {"faxNumber": null, "name": "Acme"}}),
            ),
        ];
        for (before, expected) in table {
            assert_eq!(serde_json::to_value(&before).unwrap(), expected);
            assert_eq!(serde_json::from_value::<Before>(expected).unwrap(), before);
        }
    }
}
