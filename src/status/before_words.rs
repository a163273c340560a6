//! What a row changed or removed, in words: what its record had of it before.

use serde_json::Value;

use crate::model::before::Before;
use crate::model::operation::Operation;

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
        Before::Site { id, name: Some(name) } => format!("it was in the site \"{name}\" ({id}) before"),
        Before::Site { id, name: None } => format!("it was in the site {id} before"),
        Before::Fields { fields } => {
            let was = |(field, value): (&String, &Value)| match value {
                Value::Null => format!("{field} was blank"),
                Value::String(value) => format!("{field} was \"{value}\""),
                other => format!("{field} was {other}"),
            };
            match fields.is_empty() {
                true => String::new(),
                false => format!("{} before", fields.iter().map(was).collect::<Vec<_>>().join(", ")),
            }
        }
    }
}
