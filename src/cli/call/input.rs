//! What was typed for a call, checked against what the operation takes: its parameters and the fields of its body. All
//! problems are found before anything is sent.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::body_check;
use crate::cli::args::commands::Call as Typed;
use crate::cli::context::Context;
use crate::cli::settings::setting::nearest;
use crate::error::{Error, Result};
use crate::model::id::RemoteId;
use crate::model::operation::{Operation, Parameter};
use crate::service::Call;

/// The longest body that is read, in bytes: thousands of labels.
const LONGEST: u64 = 16 << 20;

/// The operation of this name.
///
/// # Errors
/// Usage, with the nearest one, when there is none.
pub(super) fn operation(context: &Context<'_>, name: &str) -> Result<Operation> {
    name.parse().map_err(|_| {
        let near = nearest(name, Operation::ALL.iter().map(|operation| operation.name()));
        let error = Error::usage(format!("the service has no operation '{name}'{}", meant(near)));
        error.hint(context.advice("to see all of them: ", "call --list"))
    })
}

/// The question for whoever may have meant something else; empty when nothing is near.
pub(super) fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!(": did you mean {near}?"))
}

/// The request that was typed.
///
/// # Errors
/// Usage, with every problem, when parameters or body are not those of the operation.
pub(super) fn request(context: &Context<'_>, operation: Operation, typed: &Typed) -> Result<Call> {
    let mut problems = Vec::new();
    let parameters = parameters(operation, &typed.parameters, &mut problems);
    let body = match (operation.body(), &typed.body) {
        (Some(expected), Some(file)) => match read(file)? {
            Ok(body) => {
                problems.extend(body_check::problems(expected, &body));
                Some(body)
            }
            Err(why) => {
                problems.push(format!("{}: {why}", named(file)));
                None
            }
        },
        (Some(_), None) => {
            problems.push("the body is missing: give it with --body FILE".to_owned());
            None
        }
        (None, Some(_)) => {
            problems.push("--body: this operation takes none".to_owned());
            None
        }
        (None, None) => None,
    };
    if problems.is_empty() {
        return Ok(Call { operation, parameters, body });
    }
    let what = match problems.as_slice() {
        [only] => format!("{operation}: {only}"),
        _ => format!("{operation}: {} problems; nothing was sent\n{}", problems.len(), problems.join("\n")),
    };
    let help = context.advice("what it takes: ", &format!("call {operation} --help"));
    Err(Error::usage(what).hint(help))
}

fn named(file: &Path) -> String {
    if file == Path::new("-") { "the body".to_owned() } else { file.display().to_string() }
}

/// The parameters that were typed, by the names of the operation; what is wrong with them goes to `problems`.
fn parameters(
    operation: Operation,
    typed: &[String],
    problems: &mut Vec<String>,
) -> Vec<(&'static str, String)> {
    let known = operation.parameters();
    let mut given: Vec<(&'static str, String)> = Vec::new();
    for text in typed {
        let Some((name, value)) = text.split_once('=') else {
            problems.push(format!("-p '{text}': write it as name=value"));
            continue;
        };
        let Some(parameter) = known.iter().find(|parameter| parameter.name == name) else {
            problems.push(unknown(name, &known));
            continue;
        };
        if given.iter().any(|(given, _)| *given == name) {
            problems.push(format!("the parameter {name} is given twice"));
        } else if value.is_empty() {
            problems.push(format!("the parameter {name} is empty"));
        } else if parameter.is_id() && !is_id(value) {
            problems.push(format!("the parameter {name} must be a UUID, and '{value}' is none"));
        }
        given.push((parameter.name, value.to_owned()));
    }
    for missing in known.iter().filter(|parameter| parameter.required) {
        if !given.iter().any(|(name, _)| *name == missing.name) {
            problems.push(format!("the parameter {0} is missing: -p {0}=…", missing.name));
        }
    }
    given
}

fn unknown(name: &str, known: &[Parameter]) -> String {
    let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
    match nearest(name, names.iter().copied()) {
        _ if names.is_empty() => format!("-p {name}: this operation has no parameters"),
        Some(near) => format!("it has no parameter '{name}': did you mean {near}?"),
        None => format!("it has no parameter '{name}'; it has {}", names.join(", ")),
    }
}

/// Whether a text is an id in the one form that the service writes: a UUID of 36 characters.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 36 && RemoteId::try_parse(text).is_ok()
}

/// The JSON of a file or of standard input; what is wrong with it, in words.
///
/// # Errors
/// Usage when it cannot be read.
fn read(file: &Path) -> Result<std::result::Result<Value, String>> {
    let mut bytes = Vec::new();
    let reading = if file == Path::new("-") {
        std::io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
    };
    reading.map_err(|error| {
        Error::usage(format!("cannot read {}", named(file)))
            .because(error)
            .hint("name a file with the JSON body, or give it on standard input with --body -")
    })?;
    if bytes.len() as u64 > LONGEST {
        return Ok(Err(format!("it is larger than {} MiB", LONGEST >> 20)));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if text.trim_ascii().is_empty() {
        return Ok(Err("it is empty".to_owned()));
    }
    Ok(serde_json::from_slice(text).map_err(|error| format!("it is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "6f1c2a3e-0000-4000-8000-000000000002";

    fn found(operation: Operation, typed: &[&str]) -> Vec<String> {
        let typed: Vec<String> = typed.iter().map(|text| (*text).to_owned()).collect();
        let mut problems = Vec::new();
        parameters(operation, &typed, &mut problems);
        problems
    }

    #[test]
    fn every_problem_with_the_parameters_is_found_at_once() {
        let id = format!("deviceId={ID}");
        let table: [(Operation, &[&str], &[&str]); 8] = [
            (Operation::ListDeviceLabels, &[&id], &[]),
            (Operation::FindDevicesByName, &["name=a=b c"], &[]),
            (Operation::ListTimeZones, &["id=7"], &["-p id: this operation has no parameters"]),
            (Operation::ListDeviceLabels, &[], &["the parameter deviceId is missing: -p deviceId=…"]),
            (
                Operation::ListDeviceLabels,
                &["deviceid=x"],
                &[
                    "it has no parameter 'deviceid': did you mean deviceId?",
                    "the parameter deviceId is missing: -p deviceId=…",
                ],
            ),
            (
                Operation::FindDeviceLabel,
                &["deviceId=17", "label"],
                &[
                    "the parameter deviceId must be a UUID, and '17' is none",
                    "-p 'label': write it as name=value",
                    "the parameter label is missing: -p label=…",
                ],
            ),
            (
                Operation::FindDevicesByName,
                &["name=", "colour=red"],
                &["the parameter name is empty", "it has no parameter 'colour'; it has name, companyId"],
            ),
            (Operation::ListDeviceLabels, &[&id, &id], &["the parameter deviceId is given twice"]),
        ];
        for (operation, typed, expected) in table {
            assert_eq!(found(operation, typed), expected, "{operation} {typed:?}");
        }
    }

    #[test]
    fn only_the_form_that_the_service_writes_is_an_id() {
        assert!(is_id(ID));
        for other in ["6f1c2a3e000040008000000000000002", "{6f1c2a3e-0000-4000-8000-000000000002}", "7", ""] {
            assert!(!is_id(other), "{other}");
        }
    }
}
