//! What each operation takes: the parameters of its path or query string, and the fields of its body (specification 2
//! and 4).
//!
//! The fields are in `body_fields.csv`, each once. Checking values is left to whoever has some.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::Operation;

/// A parameter of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// As the specification names it.
    pub name: &'static str,
    /// Whether it must be given.
    pub required: bool,
}

impl Parameter {
    /// Whether its value is an id; every id of the service is a UUID (specification, conventions).
    pub fn is_id(self) -> bool {
        self.name == "id" || self.name.ends_with("Id")
    }
}

/// What the body of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A JSON object with these fields.
    Object(&'static [Field]),
    /// A JSON array of such objects.
    List(&'static [Field]),
}

/// A field of a body, or of a record inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// As the specification names it.
    pub name: &'static str,
    /// What it holds.
    pub form: FieldForm,
    /// Whether it must be there.
    pub need: FieldNeed,
    /// A value for an example; empty for none.
    example: &'static str,
    note: &'static str,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldForm {
    /// Any text.
    String,
    /// A UUID as text.
    Uuid,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// One of these texts.
    Choice(Vec<&'static str>),
    /// An object: the record of this name.
    Record(&'static str),
    /// An array of such objects.
    Records(&'static str),
    /// An object of texts under names of the caller's own.
    Texts,
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldNeed {
    /// The service refuses a body without it.
    Required,
    /// It may be absent.
    Optional,
    /// The specification does not say.
    NotStated,
}

/// The lines of the file by what they are about: an operation, or a record inside bodies.
static FIELDS: LazyLock<HashMap<&'static str, Vec<Field>>> = LazyLock::new(|| {
    let mut fields: HashMap<&'static str, Vec<Field>> = HashMap::new();
    let lines = include_str!("body_fields.csv").lines().filter(|line| !line.starts_with('#'));
    for line in lines.skip(1) {
        let cells: Vec<&'static str> = line.splitn(6, ',').collect();
        let [of, name, form, need, example, note] = cells[..] else {
            unreachable!("every line has six cells, which a test sees to");
        };
        let (form, need) = (FieldForm::parse(form), FieldNeed::parse(need));
        fields.entry(of).or_default().push(Field { name, form, need, example, note });
    }
    fields
});

/// The fields of a record inside bodies, by its name.
pub fn record_fields(name: &str) -> &'static [Field] {
    FIELDS.get(name).map_or(&[], Vec::as_slice)
}

impl FieldForm {
    fn parse(text: &'static str) -> Self {
        let inside = |open, close| text.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
        match (text, inside('{', '}'), inside('[', ']')) {
            (_, Some(record), _) => Self::Record(record),
            (_, _, Some(record)) => Self::Records(record),
            ("string", ..) => Self::String,
            ("uuid", ..) => Self::Uuid,
            ("number", ..) => Self::Number,
            ("integer", ..) => Self::Integer,
            ("boolean", ..) => Self::Boolean,
            ("texts", ..) => Self::Texts,
            _ => Self::Choice(text.split('|').collect()),
        }
    }

    /// In words.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Uuid => "uuid",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Choice(_) => "choice",
            Self::Record(_) => "object",
            Self::Records(_) => "list of objects",
            Self::Texts => "object of strings",
        }
    }

    /// The fields of the records that it holds.
    pub fn fields(&self) -> &'static [Field] {
        match self {
            Self::Record(name) | Self::Records(name) => record_fields(name),
            Self::String
            | Self::Uuid
            | Self::Number
            | Self::Integer
            | Self::Boolean
            | Self::Choice(_)
            | Self::Texts => &[],
        }
    }
}

impl FieldNeed {
    fn parse(word: &str) -> Self {
        match word {
            "yes" => Self::Required,
            "not stated" => Self::NotStated,
            _ => Self::Optional,
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Optional => "optional",
            Self::NotStated => "not stated",
        }
    }
}

impl Operation {
    /// The parameters that it knows (specification section 4), in the order of its path.
    pub fn parameters(self) -> Vec<Parameter> {
        self.path()
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}'))
            .map(|(name, _)| Parameter { name, required: !self.is_optional(name) })
            .collect()
    }

    /// Specification 4.5 and 4.8: a search by name may be limited to one company.
    fn is_optional(self, parameter: &str) -> bool {
        let in_query = self.path().split_once('?').is_some_and(|(_, query)| query.contains("{companyId}"));
        in_query && parameter == "companyId"
    }

    /// A value of a parameter for an example. The ids are those of every rehearsal, but for sites, interfaces, people, labels
    /// and metadata.
    pub fn example_of(self, parameter: Parameter) -> &'static str {
        match (parameter.name, self) {
            ("companyId", _) | ("id", Self::GetCompany) => "6f1c2a3e-0000-4000-8000-000000000001",
            ("deviceId", _) | ("id", Self::GetDevice) => "6f1c2a3e-0000-4000-8000-000000000002",
            ("vpnCloudId", _) => "6f1c2a3e-0000-4000-8000-000000000005",
            ("macAddress", _) => "00:1a:2b:3c:4d:5e",
            ("username", _) => "ann.smith@acme.example",
            ("label", _) => "north",
            ("key", _) => "cost-centre",
            ("name" | "companyName", _) => "Acme",
            (_, _) => "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11",
        }
    }

    /// The JSON body that it takes; `None` for one that takes none. That of the authentication is a form, made of the
    /// credentials.
    pub fn body(self) -> Option<Body> {
        let fields = FIELDS.get(self.name())?;
        Some(match fields.as_slice() {
            [Field { name: "", form: FieldForm::Records(record), .. }] => Body::List(record_fields(record)),
            [Field { name: "", form: FieldForm::Record(record), .. }] => Body::Object(record_fields(record)),
            _ => Body::Object(fields),
        })
    }
}

impl Body {
    /// The fields of the object, or of each object of the list.
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Self::Object(fields) | Self::List(fields) => fields,
        }
    }

    /// A body as it could be sent.
    pub fn example(self) -> Value {
        let object = example(self.fields());
        match self {
            Self::Object(_) => object,
            Self::List(_) => Value::Array(vec![object]),
        }
    }
}

/// The fields that have an example, and the records that must be there.
fn example(fields: &[Field]) -> Value {
    let shown = |field: &&Field| !field.example.is_empty() || field.need == FieldNeed::Required;
    let entries = fields.iter().filter(shown).map(|field| (field.name.to_owned(), field.example()));
    Value::Object(entries.collect::<Map<_, _>>())
}

impl Field {
    /// What else there is to know: the words of a choice, or a note; mostly empty.
    pub fn note(&self) -> String {
        match &self.form {
            FieldForm::Choice(words) => words.join(", "),
            FieldForm::String
            | FieldForm::Uuid
            | FieldForm::Number
            | FieldForm::Integer
            | FieldForm::Boolean
            | FieldForm::Record(_)
            | FieldForm::Records(_)
            | FieldForm::Texts => self.note.to_owned(),
        }
    }

    fn example(&self) -> Value {
        match &self.form {
            FieldForm::String | FieldForm::Uuid | FieldForm::Choice(_) => Value::from(self.example),
            FieldForm::Number | FieldForm::Integer | FieldForm::Boolean => {
                serde_json::from_str(self.example).unwrap_or_default()
            }
            FieldForm::Record(record) => example(record_fields(record)),
            FieldForm::Records(record) => Value::Array(vec![example(record_fields(record))]),
            FieldForm::Texts => {
                let (name, value) = self.example.split_once('=').unwrap_or_default();
                Value::Object(Map::from_iter([(name.to_owned(), Value::from(value))]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::Method;
    use crate::model::record::{CompanyType, TemplateScope, UserType};
    use crate::testing;

    #[test]
    fn every_line_is_whole_and_about_an_operation_or_a_record_that_some_body_holds() {
        let lines = include_str!("body_fields.csv").lines().filter(|line| !line.starts_with('#'));
        assert!(lines.skip(1).all(|line| line.split(',').count() >= 6));
        let mut used: Vec<&str> = Operation::ALL.iter().map(|operation| operation.name()).collect();
        for field in FIELDS.values().flatten() {
            if let FieldForm::Record(record) | FieldForm::Records(record) = field.form {
                assert!(!record_fields(record).is_empty(), "{record}");
                used.push(record);
            }
        }
        for of in FIELDS.keys() {
            assert!(used.contains(of), "{of}");
        }
    }

    #[test]
    fn whatever_changes_something_takes_a_body_but_for_deletions() {
        for &operation in Operation::ALL {
            let expected = operation.method() != Method::Get
                && !operation.name().starts_with("delete")
                && operation != Operation::Auth;
            assert_eq!(operation.body().is_some(), expected, "{operation}");
        }
        let lists = Operation::ALL.iter().filter(|operation| matches!(operation.body(), Some(Body::List(_))));
        assert_eq!(lists.count(), 6, "labels and metadata of three owners each");
    }

    #[test]
    fn an_example_has_every_required_field_and_no_empty_value() {
        fn whole(value: &Value) -> bool {
            match value {
                Value::Null => false,
                Value::String(text) => !text.is_empty(),
                Value::Array(entries) => !entries.is_empty() && entries.iter().all(whole),
                Value::Object(fields) => {
                    !fields.is_empty() && fields.iter().all(|(name, value)| !name.is_empty() && whole(value))
                }
                Value::Bool(_) | Value::Number(_) => true,
            }
        }
        for &operation in Operation::ALL {
            let example = operation.body().map(Body::example);
            assert!(example.as_ref().is_none_or(whole), "{operation}: {example:?}");
        }
    }

    #[test]
    fn the_fields_of_a_creation_are_those_of_the_record_that_a_sheet_makes() {
        use crate::model::record::{Record, SnatMapping, TemplateCopy};
        let mut copied = testing::device("Till", None);
        copied.device_model = None;
        copied.copy = Some(TemplateCopy {
            copy_dhcp_leases: true,
            copy_internet_passwords: true,
            snat_mapping: vec![SnatMapping {
                cloud: "HQ".into(),
                mapping: [("LAN1".into(), "10.1.0.0/16".into())].into(),
            }],
        });
        let made = [
            Record::Company(testing::company("Acme")),
            Record::Site(testing::site("HQ")),
            Record::Person(testing::person("ann")),
            Record::Device(testing::device("Till", Some("00:1a:2b:3c:4d:5e"))),
            Record::Device(copied),
        ];
        for record in made {
            let fields = record.creation().body().unwrap().fields();
            for (name, value) in record.body().as_object().unwrap() {
                let field =
                    fields.iter().find(|field| field.name == name).unwrap_or_else(|| panic!("{name}"));
                let lines = value.as_object().into_iter().flatten();
                for (line, _) in lines {
                    assert!(field.form.fields().iter().any(|known| known.name == line), "{name}.{line}");
                }
            }
        }
    }

    #[test]
    fn a_choice_has_the_words_that_a_sheet_may_hold() {
        let words = |operation: Operation, name: &str| {
            let fields = operation.body().unwrap().fields();
            match &fields.iter().find(|field| field.name == name).unwrap().form {
                FieldForm::Choice(words) => words.clone(),
                other => panic!("{other:?}"),
            }
        };
        let written = |value: Value| value.as_str().unwrap().to_owned();
        let types =
            [CompanyType::Customer, CompanyType::Reseller].map(|word| written(serde_json::json!(word)));
        assert_eq!(words(Operation::AddCompany, "companyType"), types);
        let users = [
            UserType::ConfigureClient,
            UserType::DiagnosticsClient,
            UserType::FullReseller,
            UserType::ReportsClient,
            UserType::ReportsOnlyReseller,
            UserType::VpnUser,
        ];
        assert_eq!(
            words(Operation::AddPerson, "userType"),
            users.map(|word| written(serde_json::json!(word)))
        );
        let scopes =
            [TemplateScope::CompanyInherit, TemplateScope::CompanyNoInherit, TemplateScope::CompanyChildren];
        assert_eq!(
            words(Operation::AddPerson, "templateScope"),
            scopes.map(|word| written(serde_json::json!(word)))
        );
    }
}
