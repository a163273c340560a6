//! `fleetload call OPERATION --help`: where the operation is, its parameters, the fields of its body, and an example.

use serde_json::{Value, json};

use super::changing::effect;
use super::list::Row;
use super::{reckoning, settings};
use crate::advice::quoted;
use crate::cli::args::commands::Call as Typed;
use crate::cli::context::Context;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::Result;
use crate::model::operation::input::{Body, Field};
use crate::model::operation::{Operation, Parameter, Quota};
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
    terminal.object(&json!({
        "object": "operation", "operation": operation, "section": operation.section(), "method": row.method,
        "path": row.path, "provenance": row.provenance, "reachable": row.reachable,
        "changes": operation.changes(), "counted": operation.quota() == Quota::Counted,
        "parameters": parameters.iter().map(|parameter| json!({
            "name": parameter.name, "type": if parameter.is_id() { "uuid" } else { "string" },
            "required": parameter.required,
        })).collect::<Value>(),
        "body": operation.body().map(|body| json!({
            "list": matches!(body, Body::List(_)), "fields": object(body.fields()), "example": body.example(),
        })),
    }));
    Ok(Summary::new(End::Done).with("operation", operation))
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

fn object(fields: &[Field]) -> Value {
    fields
        .iter()
        .map(|field| {
            let inside = field.form.fields();
            json!({
                "name": field.name, "type": field.form.words(), "need": field.need.words(), "note": field.note(),
                "fields": if inside.is_empty() { Value::Null } else { object(inside) },
            })
        })
        .collect()
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
