//! JSON Schemas (draft 2020-12) of what programs read, made from the types that serialise it. Only the feature `schemas`
//! compiles more than the macro below: what is shipped has no schemas in it.
//!
//! An object has no other fields than its type names, unless the type says that it is open.

/// Serialises a type as a word, and gives it the schema of that: an enumeration of the words of all its values.
macro_rules! serialize_as_word {
    ($type:ty, $word:expr, $name:literal, $about:literal, $all:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                let word: fn($type) -> &'static str = $word;
                serializer.serialize_str(word(*self))
            }
        }

        #[cfg(feature = "schemas")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words: Vec<&'static str> = $all.iter().copied().map($word).collect();
                schemars::json_schema!({"description": $about, "type": "string", "enum": words})
            }
        }
    };
}
pub(crate) use serialize_as_word;

#[cfg(feature = "schemas")]
mod of_types {
    use std::collections::BTreeMap;

    use schemars::generate::SchemaSettings;
    use schemars::{JsonSchema, Schema, SchemaGenerator};
    use serde_json::{Map, Value, json};

    /// The schemas of a form of output, each under its name. What has several forms fits one of them.
    #[derive(Default)]
    pub struct Schemas {
        forms: BTreeMap<&'static str, Vec<Form>>,
    }

    /// One form: the schema of its type, and the fields that the printing puts before and after those of the type.
    struct Form {
        schema: fn(&mut SchemaGenerator) -> Schema,
        added: [Map<String, Value>; 2],
    }

    impl Schemas {
        /// With a form of what goes by a name, and the fields that are put before and after those of its type.
        #[must_use]
        pub fn with<T: JsonSchema>(mut self, name: &'static str, added: [Map<String, Value>; 2]) -> Self {
            self.forms.entry(name).or_default().push(Form { schema: T::json_schema, added });
            self
        }

        /// All of them, by their names.
        pub fn all(self) -> BTreeMap<&'static str, Value> {
            self.forms.into_iter().map(|(name, forms)| (name, document(name, forms))).collect()
        }
    }

    /// The schema of what goes by a name.
    fn document(name: &str, forms: Vec<Form>) -> Value {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let mut schemas: Vec<Value> = forms.into_iter().map(|form| of_form(form, &mut generator)).collect();
        let mut document = Map::from_iter([
            ("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema")),
            ("title".to_owned(), json!(name)),
        ]);
        match (schemas.len(), schemas.pop()) {
            (1, Some(Value::Object(only))) => document.extend(only),
            (_, last) => {
                schemas.extend(last);
                document.insert("anyOf".to_owned(), Value::Array(schemas));
            }
        }
        let parts = generator.take_definitions(true);
        if !parts.is_empty() {
            document.insert("$defs".to_owned(), Value::Object(parts));
        }
        let mut document = Value::Object(document);
        close(&mut document, false);
        document
    }

    fn of_form(form: Form, generator: &mut SchemaGenerator) -> Value {
        let mut schema = (form.schema)(generator).to_value();
        let [before, after] = form.added;
        let fields = schema["properties"].as_object().cloned().unwrap_or_default();
        let names = |fields: &Map<String, Value>| fields.keys().map(|name| json!(name)).collect();
        let of_type = schema["required"].as_array().cloned().unwrap_or_default();
        let required: Vec<Value> = [names(&before), of_type, names(&after)].concat();
        let all: Map<String, Value> = before.into_iter().chain(fields).chain(after).collect();
        schema["type"] = json!("object");
        schema["properties"] = Value::Object(all);
        schema["required"] = Value::Array(required);
        schema
    }

    /// From so many words on the keys of a map are listed as names, and not as fields of an object.
    const MANY: usize = 20;

    /// Lists the keys of a map once that may be any of many words, where each of them has the same form.
    fn shorten(rules: &mut Map<String, Value>) {
        let Some(fields) = rules.get("properties").and_then(Value::as_object) else { return };
        let mut forms = fields.values();
        let first = forms.next().cloned().unwrap_or_default();
        if fields.len() < MANY || rules.contains_key("required") || forms.any(|form| *form != first) {
            return;
        }
        let names: Vec<&String> = fields.keys().collect();
        rules.insert("propertyNames".to_owned(), json!({"enum": names}));
        rules.insert("additionalProperties".to_owned(), first);
        rules.remove("properties");
    }

    /// Closes every object to fields that are not named. A part that shares its object with others is closed with them.
    fn close(schema: &mut Value, is_part: bool) {
        let Some(rules) = schema.as_object_mut() else { return };
        shorten(rules);
        // What is read where a field is missing says nothing of what is written.
        rules.remove("default");
        if let Some(Value::String(words)) = rules.get_mut("description") {
            *words = words.replace('\n', " ");
        }
        let has_fields = rules.contains_key("properties");
        assert!(!(has_fields && rules.contains_key("$ref")), "fields beside a reference: inline its type");
        let mut has_parts = false;
        for name in ["allOf", "anyOf", "oneOf"] {
            for part in rules.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
                has_parts = true;
                close(part, is_part || has_fields);
            }
        }
        for name in ["properties", "$defs"] {
            let inside = rules.get_mut(name).and_then(Value::as_object_mut);
            inside.into_iter().flat_map(|inside| inside.values_mut()).for_each(|inside| close(inside, false));
        }
        for name in ["items", "additionalProperties"] {
            if let Some(inside) = rules.get_mut(name) {
                close(inside, false);
            }
        }
        let is_open =
            rules.contains_key("additionalProperties") || rules.contains_key("unevaluatedProperties");
        if has_fields && !is_part && !is_open {
            let rule = if has_parts { "unevaluatedProperties" } else { "additionalProperties" };
            rules.insert(rule.to_owned(), json!(false));
        }
    }
}

#[cfg(feature = "schemas")]
pub use of_types::Schemas;
