//! The objects that programs get with `--json`. Each is a type next to the code that prints it; its schema in
//! `docs/schema` is made from the type.

use serde::Serialize;
use serde_json::{Map, Value};

/// What is printed as one line of JSON.
pub trait Object: Serialize {
    /// Its name, the field `object`.
    const NAME: &'static str;
}

/// Which edition of the schemas the objects follow. It changes when a field goes or means something else.
const EDITION: u32 = 1;
/// The version of fleetload.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The line: the name, the fields of the object, the edition and the version.
pub(super) fn line<T: Object>(object: &T) -> serde_json::Result<Value> {
    let mut line = Map::from_iter([("object".to_owned(), T::NAME.into())]);
    match serde_json::to_value(object)? {
        Value::Object(fields) => line.extend(fields),
        other => return Err(serde::ser::Error::custom(format!("{} is no object: {other}", T::NAME))),
    }
    line.insert("schema".to_owned(), EDITION.into());
    line.insert("version".to_owned(), VERSION.into());
    Ok(Value::Object(line))
}

/// The fields that [`line`] puts before those of an object, and after them.
#[cfg(feature = "schemas")]
pub(crate) fn added(name: &str) -> [Map<String, Value>; 2] {
    use serde_json::json;
    let name = json!({"description": "The name of the object.", "const": name});
    let schema = json!({
        "description": "The edition of the schemas. It changes when a field goes or means something else.",
        "const": EDITION,
    });
    let version = json!({"description": "The version of fleetload.", "type": "string"});
    [
        Map::from_iter([("object".to_owned(), name)]),
        Map::from_iter([("schema".to_owned(), schema), ("version".to_owned(), version)]),
    ]
}
