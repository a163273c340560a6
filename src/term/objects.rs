//! The objects that programs get with `--json`: which there are, and the fields of each, from one table. The schemas in
//! `docs/schema` are made from it.
//!
//! A field is always there or sometimes; `*` stands for more fields, which depend on the command.

use serde_json::{Map, Value, json};

/// See the module.
const TABLE: &str = include_str!("objects.csv");
/// Which edition of the schemas the objects follow. It changes when a field goes or means something else.
pub(super) const EDITION: u32 = 1;
/// The version of fleetload.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// One line of the table.
struct Row {
    object: &'static str,
    fields: &'static str,
    types: &'static str,
    is_required: bool,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().skip(1).filter_map(|line| {
        let mut parts = line.split(',');
        let (object, fields, types) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Row { object, fields, types, is_required: parts.next()? == "always" })
    })
}

/// The names of all objects.
pub fn object_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = rows().map(|row| row.object).collect();
    names.dedup();
    names
}

/// The JSON Schema of an object.
pub fn object_schema(object: &str) -> Value {
    let mut properties = Map::from_iter([
        ("object".to_owned(), json!({"const": object})),
        ("schema".to_owned(), json!({"const": EDITION})),
        ("version".to_owned(), json!({"type": "string"})),
    ]);
    let mut required = vec!["object", "schema", "version"];
    let mut has_more = false;
    for row in rows().filter(|row| row.object == object) {
        for field in row.fields.split(' ') {
            if field == "*" {
                has_more = true;
                continue;
            }
            let types: Vec<&str> = row.types.split(' ').collect();
            let property = match types.as_slice() {
                ["any"] => json!({}),
                [one] => json!({"type": one}),
                several => json!({"type": several}),
            };
            properties.insert(field.to_owned(), property);
            if row.is_required {
                required.push(field);
            }
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": object,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": has_more,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_field_of_an_object_once_with_types_of_json() {
        let known = ["any", "array", "boolean", "integer", "null", "number", "object", "string"];
        let mut seen = Vec::new();
        for row in rows() {
            assert!(row.types.split(' ').all(|one| known.contains(&one)), "{}: {}", row.object, row.types);
            for field in row.fields.split(' ') {
                assert!(!seen.contains(&(row.object, field)), "{} {field}", row.object);
                seen.push((row.object, field));
            }
        }
        let lines = TABLE.lines().count();
        assert_eq!(rows().count(), lines - 1, "every line is read");
        assert!(object_names().is_sorted(), "{:?}", object_names());
    }
}
