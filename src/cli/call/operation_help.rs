//! `fleetload call OPERATION --help`: where the operation is, its parameters, the fields of its body, and an example.

use serde::Serialize;
use serde_json::Value;

use super::answer::CallSummary;
use super::changing::effect;
use super::list::{OperationObject, Row};
use super::{reckoning, settings};
use crate::advice::quoted;
use crate::cli::args::commands::Call as Typed;
use crate::cli::context::Context;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::Result;
use crate::model::operation::input::{Body, Field};
use crate::model::operation::{Operation, Parameter};
use crate::term::{Ink, Line, Table};

/// Tells what an operation takes.
pub(super) fn tell(context: &Context<'_>, typed: &Typed, operation: Operation) -> Result<Summary> {
    let endpoints = settings(context, &reckoning(typed)?)?.endpoints()?;
    let row = Row::of(operation, &endpoints);
    let terminal = context.terminal;
    let title = format!(" (specification {})", operation.section());
    terminal.result(Line::new().ink(Ink::Strong, operation.name()).text(title));
    let reach = if row.reachable { "" } else { "; not reachable with this profile" };
    terminal.result(format!("  {} {}, {}{reach}", row.method, row.path, row.provenance));
    terminal.result(format!("  {}", what_it_does(operation)));
    let heading = |words: &str| {
        terminal.result("");
        terminal.result(Line::new().ink(Ink::Strong, words));
    };
    let parameters = operation.parameters();
    heading("Parameters:");
    let mut table = Table::new(&["", "", ""], &[]);
    for parameter in &parameters {
        let form = if parameter.is_id() { "uuid" } else { "string" };
        table.row([parameter.name, form, need(*parameter)]);
    }
    tell_table(context, table, parameters.is_empty());
    if let Some(body) = operation.body() {
        heading(match body {
            Body::Object(_) => "Body, a JSON object:",
            Body::List(_) => "Body, a JSON array of objects:",
        });
        let mut table = Table::new(&["", "", "", ""], &[]);
        rows(&mut table, "", body.fields());
        tell_table(context, table, false);
        heading("Example of a body:");
        if !terminal.json() {
            terminal.pretty(&body.example());
        }
    }
    heading("Example:");
    terminal.result(format!("  {}", command(context, operation, &parameters)));
    let takes = Takes {
        parameters: parameters.iter().map(|parameter| ParameterObject::from(*parameter)).collect(),
        body: operation.body().map(|body| BodyObject {
            list: matches!(body, Body::List(_)),
            fields: FieldObject::all(body.fields()),
            example: body.example(),
        }),
    };
    terminal.object(&OperationObject::of(operation, &row, Some(takes)));
    Ok(Summary::new(End::Done).with(&CallSummary { operation, resumes_at: None }))
}

fn what_it_does(operation: Operation) -> String {
    match operation {
        Operation::Auth => {
            "signs in with the credentials of the profile; the access token is never shown".to_owned()
        }
        _ if operation.creates() => {
            format!("{}; counts against the daily quota; asks first", effect(operation))
        }
        _ if operation.changes() => format!("{}; asks first", effect(operation)),
        _ => "reads; changes nothing".to_owned(),
    }
}

fn need(parameter: Parameter) -> &'static str {
    if parameter.required { "required" } else { "optional" }
}

fn tell_table(context: &Context<'_>, table: Table, is_empty: bool) {
    if is_empty {
        return context.terminal.result("  none");
    }
    for line in table.lines().into_iter().skip(1) {
        context.terminal.result(Line::plain("  ").join(line));
    }
}

/// The lines of fields, those of records inside them with the name of the field before them.
fn rows(table: &mut Table, before: &str, fields: &[Field]) {
    for field in fields {
        let name = format!("{before}{}", field.name);
        table.row([name.as_str(), field.form.words(), field.need.words(), &field.note()]);
        rows(table, &format!("{name}."), field.form.fields());
    }
}

/// What an operation takes.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Takes {
    /// The parameters of its path and query.
    parameters: Vec<ParameterObject>,
    /// Its body; `null` where it takes none.
    body: Option<BodyObject>,
}

/// A parameter of an operation.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct ParameterObject {
    /// Its name in the specification.
    name: &'static str,
    /// `uuid` or `string`.
    #[serde(rename = "type")]
    form: &'static str,
    /// Whether it must be given.
    required: bool,
}

impl From<Parameter> for ParameterObject {
    fn from(parameter: Parameter) -> Self {
        let form = if parameter.is_id() { "uuid" } else { "string" };
        Self { name: parameter.name, form, required: parameter.required }
    }
}

/// The body of an operation.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct BodyObject {
    /// Whether it is a list of such objects.
    list: bool,
    /// Its fields.
    fields: Vec<FieldObject>,
    /// An example of it.
    example: Value,
}

/// A field of a body.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct FieldObject {
    /// Its name in the specification.
    name: &'static str,
    /// Its form, in a word.
    #[serde(rename = "type")]
    form: &'static str,
    /// Whether it must be given, in a word.
    need: &'static str,
    /// What else is to be known.
    note: String,
    /// The fields of a record in it.
    fields: Option<Vec<FieldObject>>,
}

impl FieldObject {
    fn all(fields: &[Field]) -> Vec<Self> {
        let of = |field: &Field| Self {
            name: field.name,
            form: field.form.words(),
            need: field.need.words(),
            note: field.note(),
            fields: Some(Self::all(field.form.fields())).filter(|fields| !fields.is_empty()),
        };
        fields.iter().map(of).collect()
    }
}

/// A command to type, with values of a rehearsal where it has them.
fn command(context: &Context<'_>, operation: Operation, parameters: &[Parameter]) -> String {
    let mut line = format!("call {operation}");
    for parameter in parameters {
        line.push_str(&format!(" -p {}={}", parameter.name, quoted(operation.example_of(*parameter))));
    }
    if operation.body().is_some() {
        line.push_str(" --body body.json");
    }
    context.again(&line)
}
