//! Reading a request body as the service does: every required field that is null is one violation; when none is
//! missing, the first value of a wrong form is the one message (specification 2.1, 7).
//!
//! The fields and which of them are required are said by the operations; fields that nobody reads are ignored.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::sandbox::service::failure::{Failure, Violation};

/// Reads every entry of a body that is a list.
pub(crate) fn each<T>(body: &Value, read: fn(&Value) -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
    let entries = body
        .as_array()
        .ok_or_else(|| Failure::MalformedJson("Cannot read the request body as a JSON array".to_owned()))?;
    entries.iter().map(read).collect()
}

/// One body being read. `entity` is the first part of a violation's path, for example `device`.
pub(crate) struct Form<'a> {
    entity: &'static str,
    fields: &'a Map<String, Value>,
    violations: Vec<Violation>,
    wrong: Option<String>,
}

impl<'a> Form<'a> {
    /// Fails when the body is no JSON object.
    pub(crate) fn of(entity: &'static str, body: &'a Value) -> Result<Self, Failure> {
        let fields = body.as_object().ok_or_else(|| {
            Failure::MalformedJson("Cannot read the request body as a JSON object".to_owned())
        })?;
        Ok(Self { entity, fields, violations: Vec::new(), wrong: None })
    }

    fn value(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    fn path(&self, field: &str) -> String {
        format!("{}.{field}", self.entity)
    }

    fn missing(&mut self, field: &str) {
        let path = self.path(field);
        self.violations.push(Violation { path, message: "must not be null".to_owned() });
    }

    pub(crate) fn refuse(&mut self, field: &str, rule: &str) {
        let message = format!("{} {rule}", self.path(field));
        self.wrong.get_or_insert(message);
    }

    pub(crate) fn optional_text(&mut self, field: &str) -> Option<String> {
        match self.value(field)? {
            Value::String(text) => Some(text.clone()),
            _ => {
                self.refuse(field, "must be a string");
                None
            }
        }
    }

    pub(crate) fn text(&mut self, field: &str) -> String {
        if self.value(field).is_none() {
            self.missing(field);
        }
        self.optional_text(field).unwrap_or_default()
    }

    pub(crate) fn optional_id(&mut self, field: &str) -> Option<Uuid> {
        let text = self.optional_text(field)?;
        let id = parse_id(&text);
        if id.is_none() {
            self.refuse(field, "must be a valid UUID");
        }
        id
    }

    pub(crate) fn id(&mut self, field: &str) -> Uuid {
        if self.value(field).is_none() {
            self.missing(field);
        }
        self.optional_id(field).unwrap_or_default()
    }

    pub(crate) fn one_of(&mut self, field: &str, allowed: &[&str]) -> String {
        let text = self.text(field);
        if self.value(field).is_some() && !allowed.contains(&text.as_str()) {
            self.refuse(field, &format!("must be one of {}", allowed.join(", ")));
        }
        text
    }

    pub(crate) fn boolean(&mut self, field: &str, required: bool) {
        match self.value(field) {
            None if required => self.missing(field),
            None | Some(Value::Bool(_)) => {}
            Some(_) => self.refuse(field, "must be true or false"),
        }
    }

    pub(crate) fn number(&mut self, field: &str) {
        if self.value(field).is_some_and(|value| !value.is_number()) {
            self.refuse(field, "must be a number");
        }
    }

    pub(crate) fn integer(&mut self, field: &str) {
        if self.value(field).is_some_and(|value| !value.is_i64() && !value.is_u64()) {
            self.refuse(field, "must be an integer");
        }
    }

    pub(crate) fn array(&mut self, field: &str) {
        if self.value(field).is_some_and(|value| !value.is_array()) {
            self.refuse(field, "must be an array");
        }
    }

    /// An address (specification 2.2). Only `address1`, and only where a device is created, is known to be required.
    pub(crate) fn address(&mut self, field: &str, required: bool, first_line: bool) {
        const TEXTS: [&str; 8] =
            ["address1", "address2", "suburb", "city", "state", "postOrZipCode", "country", "timezone"];
        let Some(value) = self.value(field) else {
            if required {
                self.missing(field);
            }
            return;
        };
        let Some(lines) = value.as_object() else {
            self.refuse(field, "must be an object");
            return;
        };
        for (name, line) in lines {
            let good = match line {
                Value::Null => true,
                Value::String(_) => name != "latitude" && name != "longitude",
                Value::Number(_) => !TEXTS.contains(&name.as_str()),
                _ => !TEXTS.contains(&name.as_str()) && name != "latitude" && name != "longitude",
            };
            if !good {
                self.refuse(&format!("{field}.{name}"), "has a value of the wrong type");
            }
        }
        if first_line && lines.get("address1").is_none_or(Value::is_null) {
            self.missing(&format!("{field}.address1"));
        }
    }

    /// The named fields that are present, as they came, in the order of `names`.
    pub(crate) fn keep(&self, names: &[&str]) -> Map<String, Value> {
        names.iter().filter_map(|name| Some(((*name).to_owned(), self.value(name)?.clone()))).collect()
    }

    /// The judgement over the whole body.
    pub(crate) fn judge(self) -> Result<(), Failure> {
        if !self.violations.is_empty() {
            return Err(Failure::Violations(self.violations));
        }
        match self.wrong {
            Some(message) => Err(Failure::InvalidData(message)),
            None => Ok(()),
        }
    }
}

/// A UUID in its hyphenated form; the other forms that the `uuid` crate reads are no ids of this service.
pub(crate) fn parse_id(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_missing_field_is_a_violation_and_comes_before_a_wrong_value() {
        let body = json!({"flag": "yes", "address": {"city": "Perth"}, "name": null});
        let mut form = Form::of("device", &body).unwrap();
        form.boolean("flag", true);
        form.text("name");
        form.id("companyId");
        form.address("address", true, true);
        let Err(Failure::Violations(violations)) = form.judge() else {
            panic!("violations expected");
        };
        let paths: Vec<_> = violations.iter().map(|v| v.path.as_str()).collect();
        assert_eq!(paths, ["device.name", "device.companyId", "device.address.address1"]);
        assert!(violations.iter().all(|v| v.message == "must not be null"));
    }

    #[test]
    fn a_wrong_value_alone_is_one_message_that_names_the_field() {
        for (body, field) in [
            (json!({"companyId": "not-a-uuid"}), "site.companyId"),
            (json!({"companyId": 5}), "site.companyId"),
            (json!({"companyId": "6f1c2a3e000040008000000000000001"}), "site.companyId"),
        ] {
            let mut form = Form::of("site", &body).unwrap();
            form.id("companyId");
            let Err(Failure::InvalidData(message)) = form.judge() else {
                panic!("one message expected for {body}");
            };
            assert!(message.starts_with(field), "{message}");
        }
    }

    #[test]
    fn a_body_that_is_no_object_is_malformed() {
        assert!(matches!(Form::of("site", &json!([1])), Err(Failure::MalformedJson(_))));
    }
}
