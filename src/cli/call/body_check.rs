//! The body of a call checked against the fields of the specification: every unknown, missing or wrong field, with its
//! place in the JSON.

use serde_json::{Map, Value};

use super::input::{is_id, meant};
use crate::cli::settings::setting::nearest;
use crate::model::operation::input::{Body, Field, FieldForm, FieldNeed, record_fields};
use crate::term::clean;

/// How many problems are listed; a list of thousands of entries may have one in each.
const MOST: usize = 20;

/// Every problem of a body, each with its place; only the first of many, with how many more there are.
pub(super) fn problems(expected: Body, body: &Value) -> Vec<String> {
    let mut check = Check { found: Vec::new() };
    match expected {
        Body::Object(fields) => check.object("", fields, body),
        Body::List(fields) => check.list("", fields, body),
    }
    let mut found = check.found;
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found
}

struct Check {
    found: Vec<String>,
}

impl Check {
    /// Names and values of the body are those of a file: one problem stays one line.
    fn put(&mut self, place: &str, what: &str) {
        self.found.push(match place {
            "" => format!("the body {}", clean(what)),
            _ => format!("{} {}", clean(place), clean(what)),
        });
    }

    fn list(&mut self, place: &str, fields: &'static [Field], value: &Value) {
        let Some(entries) = value.as_array() else {
            return self.put(place, &format!("must be a JSON array, and is {}", kind_of(value)));
        };
        for (number, entry) in entries.iter().enumerate() {
            self.object(&format!("{place}[{number}]"), fields, entry);
        }
    }

    fn object(&mut self, place: &str, fields: &'static [Field], value: &Value) {
        let Some(object) = value.as_object() else {
            return self.put(place, &format!("must be a JSON object, and is {}", kind_of(value)));
        };
        for (name, value) in object {
            match fields.iter().find(|field| field.name == name) {
                Some(field) => self.field(&inside(place, name), field, value),
                None => self.unknown(place, name, fields),
            }
        }
        self.missing(place, fields, object);
    }

    fn unknown(&mut self, place: &str, name: &str, fields: &[Field]) {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let near = nearest(name, names.iter().copied());
        let known = if near.is_some() { meant(near) } else { format!("; it has {}", names.join(", ")) };
        self.put(place, &format!("has no field '{name}'{known}"));
    }

    fn missing(&mut self, place: &str, fields: &'static [Field], object: &Map<String, Value>) {
        for field in fields.iter().filter(|field| field.need == FieldNeed::Required) {
            if object.get(field.name).is_none_or(Value::is_null) {
                self.put(&inside(place, field.name), "is missing");
            }
        }
    }

    /// One value; `null` is no value, whatever the field holds.
    fn field(&mut self, place: &str, field: &'static Field, value: &Value) {
        if value.is_null() {
            return;
        }
        match &field.form {
            FieldForm::Record(record) => return self.object(place, record_fields(record), value),
            FieldForm::Records(record) => return self.list(place, record_fields(record), value),
            FieldForm::String
            | FieldForm::Uuid
            | FieldForm::Number
            | FieldForm::Integer
            | FieldForm::Boolean
            | FieldForm::Choice(_)
            | FieldForm::Texts => {}
        }
        if let Some(rule) = broken(&field.form, value) {
            self.put(place, &format!("must be {rule}"));
        }
    }
}

/// The rule that a value breaks, in words; `None` when it is right.
fn broken(form: &FieldForm, value: &Value) -> Option<String> {
    let is = kind_of(value);
    let (right, rule) = match form {
        FieldForm::String => (value.is_string(), "a string"),
        FieldForm::Uuid => (value.as_str().is_some_and(is_id), "a UUID"),
        FieldForm::Number => (value.is_number(), "a number"),
        FieldForm::Integer => (value.is_i64() || value.is_u64(), "a whole number"),
        FieldForm::Boolean => (value.is_boolean(), "true or false"),
        FieldForm::Texts => {
            let texts = value.as_object().is_some_and(|texts| texts.values().all(Value::is_string));
            (texts, "an object of strings")
        }
        FieldForm::Choice(words) => {
            let text = value.as_str();
            if text.is_some_and(|text| words.contains(&text)) {
                return None;
            }
            let near = meant(text.and_then(|text| nearest(text, words.iter().copied())));
            return Some(format!("one of {}, and is {is}{near}", words.join(", ")));
        }
        // Their own fields are checked one by one.
        FieldForm::Record(_) | FieldForm::Records(_) => return None,
    };
    (!right).then(|| format!("{rule}, and is {is}"))
}

/// A value as a message shows it: short ones whole, others by what they are.
fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.chars().count() <= 60 => format!("'{text}'"),
        Value::String(_) => "a longer text".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn inside(place: &str, name: &str) -> String {
    match place {
        "" => name.to_owned(),
        _ => format!("{place}.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::Operation::{self, *};
    use serde_json::json;

    fn found(operation: Operation, body: &Value) -> Vec<String> {
        problems(operation.body().unwrap(), body)
    }

    #[test]
    fn the_example_of_every_operation_is_right() {
        for &operation in Operation::ALL {
            if let Some(body) = operation.body() {
                assert_eq!(problems(body, &body.example()), [""; 0], "{operation}");
            }
        }
    }

    #[test]
    fn every_problem_of_a_body_is_found_at_once_with_its_place() {
        let mut body = AddDevice.body().unwrap().example();
        body["companyId"] = json!("17");
        body["phonNumber"] = json!("1");
        body["name"] = Value::Null;
        body["address"] = json!({"city": 5, "town": "x"});
        assert_eq!(
            found(AddDevice, &body),
            [
                "companyId must be a UUID, and is '17'",
                "address.city must be a string, and is 5",
                "address has no field 'town'; it has address1, address2, suburb, city, state, postOrZipCode, \
                 country, timezone, latitude, longitude",
                "address.address1 is missing",
                "the body has no field 'phonNumber': did you mean phoneNumber?",
                "name is missing",
            ]
        );
    }

    #[test]
    fn a_value_must_be_of_the_form_of_its_field() {
        let vpn = |name: &str, value: Value| {
            let mut body = UpdateDeviceVpnConfiguration.body().unwrap().example();
            body[name] = value;
            (UpdateDeviceVpnConfiguration, body)
        };
        let person = |name: &str, value: Value| {
            let mut body = AddPerson.body().unwrap().example();
            body[name] = value;
            (AddPerson, body)
        };
        let copy = |value: Value| {
            let mut body = AddDeviceFromTemplate.body().unwrap().example();
            body["snatMapping"] = value;
            (AddDeviceFromTemplate, body)
        };
        let table = [
            (person("allowLogin", json!("yes")), "allowLogin must be true or false, and is 'yes'"),
            (
                person("templateScope", json!("COMPANY_INHERITS")),
                "templateScope must be one of COMPANY_INHERIT, COMPANY_NO_INHERIT, COMPANY_CHILDREN, and is \
                 'COMPANY_INHERITS': did you mean COMPANY_INHERIT?",
            ),
            (person("phoneNumber", json!(5)), "phoneNumber must be a string, and is 5"),
            (
                vpn("interfaceConfiguration", json!([{"weight": 1.5}])),
                "interfaceConfiguration[0].weight must be a whole number, and is 1.5",
            ),
            (
                vpn("interfaceConfiguration", json!({})),
                "interfaceConfiguration must be a JSON array, and is an object",
            ),
            (
                vpn("interfaceConfiguration", json!([{"interfaceDevice": {}}])),
                "interfaceConfiguration[0] has no field 'interfaceDevice': did you mean interfaceDeviceId?",
            ),
            (
                copy(json!([{"cloud": "hq", "mapping": {"eth0": 5}}])),
                "snatMapping[0].mapping must be an object of strings, and is an object",
            ),
            ((PutDeviceLabels, json!({"label": "x"})), "the body must be a JSON array, and is an object"),
            ((PutDeviceLabel, json!(["x"])), "the body must be a JSON object, and is an array"),
            ((PutDeviceLabels, json!([{"label": "x"}, {}])), "[1].label is missing"),
        ];
        for ((operation, body), expected) in table {
            assert_eq!(found(operation, &body), [expected], "{operation}");
        }
    }

    #[test]
    fn a_name_in_the_body_cannot_forge_a_line_of_the_message() {
        let body = json!({"name": "x", "\u{1b}[2J\nerror: all is lost": 1});
        let found = found(UpdateDevice, &body);
        assert_eq!(found, ["the body has no field '\\u{1b}[2J\\nerror: all is lost'; it has name"]);
    }

    #[test]
    fn of_very_many_problems_the_first_are_listed() {
        let body = Value::Array(vec![json!({}); 50]);
        let found = found(PutDeviceLabels, &body);
        assert_eq!((found.len(), found[20].as_str()), (21, "and 30 more"));
    }
}
