//! What a row changed or removed, in words: what its record had of it before.

use serde_json::Value;

use crate::model::action::before::Before;
use crate::model::operation::Operation;

/// A value of a field, so that its ends are seen.
fn quoted(value: &Value) -> String {
    match value {
        Value::Null => "blank".to_owned(),
        Value::String(text) if text.is_empty() => "blank".to_owned(),
        Value::String(text) => format!("\"{text}\""),
        other => other.to_string(),
    }
}

/// What there was before the last step of a row; nothing where it only added something.
pub fn words(operation: Operation, before: &Before) -> String {
    let removes = matches!(
        operation,
        Operation::DeleteInterfaceLabel
            | Operation::DeleteCompanyMetadata
            | Operation::DeleteSiteMetadata
            | Operation::DeleteDeviceMetadata
            | Operation::UnsubscribeTemplate
            | Operation::RemoveDeviceFromVpnCloud
    );
    match before {
        Before::Absent => String::new(),
        Before::Present { name, .. } if removes => match name {
            Some(name) => format!("removed: it was \"{name}\""),
            None => "removed: it was there before".to_owned(),
        },
        Before::Present { .. } => String::new(),
        Before::Value { value } if removes => format!("removed: the value was \"{value}\""),
        Before::Value { value } => format!("the value was \"{value}\" before"),
        Before::Entries { entries } => {
            let had = |(key, was): (&String, &Option<String>)| {
                was.as_ref().map(|value| format!("the value of {key} was \"{value}\" before"))
            };
            entries.iter().filter_map(had).collect::<Vec<_>>().join("; ")
        }
        Before::Site { id, name: Some(name) } => format!("it was in the site \"{name}\" ({id}) before"),
        Before::Site { id, name: None } => format!("it was in the site {id} before"),
        Before::Fields { fields, sent, left } => {
            let changed = sent.iter().map(|(field, now)| match fields.get(field) {
                Some(was) => format!("{field} was {}, now {}", quoted(was), quoted(now)),
                None => format!("{field} was not shown, now {}", quoted(now)),
            });
            let left = left.iter().map(|(field, there)| {
                format!(
                    "{field} was changed to {} in the service since the export, and left so",
                    quoted(there)
                )
            });
            changed.chain(left).collect::<Vec<_>>().join("; ")
        }
    }
}
