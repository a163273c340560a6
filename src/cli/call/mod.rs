//! `fleetload call`: one operation of the service by its name, as a person or a script wants it.
//!
//! What was typed is checked against the table of operations (`input`, `body_check`) before anything is sent. A look-up needs
//! neither journal nor lock, and works beside a run: it is one request more. Whatever changes something is asked about and
//! written down first (`changing`). What came of it is told in `answer`; `list` and `operation_help` show the table.

pub(super) mod answer;
mod body_check;
mod changing;
mod input;
pub(super) mod list;
mod operation_help;

use clap::{ColorChoice, CommandFactory as _};

use super::args::Args;
use super::args::commands::Call as Typed;
use super::args::options::Overrides;
use super::context::Context;
use super::reading::access::ServiceAccess;
use super::run::unborn_rehearsal;
use super::settings::{Purpose, Settings};
use super::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::Whose;
use crate::model::operation::Operation;
use crate::service::Call;

/// Sends one operation and prints the answer; or shows what there is to send.
pub(super) fn call(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    context.rehearse(&typed.rehearsal);
    if typed.list {
        return list::list(context, typed);
    }
    let Some(name) = &typed.operation else {
        return Ok(help(context));
    };
    let operation = input::operation(context, name)?;
    if typed.help {
        return operation_help::tell(context, typed, operation);
    }
    if typed.raw && context.common.json {
        return Err(Error::usage("--raw and --json exclude each other")
            .hint("--raw prints the answer as it came, --json one object with the answer in it"));
    }
    if typed.raw && operation == Operation::Auth {
        return Err(Error::usage("auth with --raw would print the access token")
            .hint(context.advice("for the type and the life of the token: ", "call auth")));
    }
    let call = input::request(context, operation, typed)?;
    if operation.changes() { changing::send(context, typed, call) } else { look_up(context, typed, call) }
}

/// The help of the command.
fn help(context: &Context<'_>) -> Summary {
    let mut command = Args::command();
    if context.common.no_color {
        command = command.color(ColorChoice::Never);
    }
    command.build();
    if let Some(call) = command.find_subcommand_mut("call") {
        call.print_long_help().unwrap_or_else(|error| context.terminal.fail_result(error));
    }
    Summary::of_document()
}

/// Sends what changes nothing.
fn look_up(context: &Context<'_>, typed: &Typed, call: Call) -> Result<Summary> {
    let operation = call.operation;
    let access = ServiceAccess::to_read(context, &typed.rehearsal, &Overrides::default())?;
    tell_whose(context, &access.settings);
    let asked = place(&access.settings, &call)
        .and_then(|_| access.settings.client(context.clock.clone()))
        .map(|client| access.runtime.block_on(client.send_and_show(call)));
    access.leave();
    let (answered, bytes) = asked?;
    answer::tell(context, operation, &answered, typed.raw.then_some(&bytes))
}

/// The settings of the account that is called.
fn settings(context: &Context<'_>, purpose: &Purpose) -> Result<Settings> {
    let settings = context.settings(purpose, &Overrides::default())?;
    tell_whose(context, &settings);
    Ok(settings)
}

/// Tells that it is a rehearsal, once, and notes whose account is called.
fn tell_whose(context: &Context<'_>, settings: &Settings) {
    let whose = Whose::from(settings.identity());
    if whose.banner().is_some() && context.whose.borrow().is_none() {
        context.terminal.say(whose.line());
    }
    context.whose.replace(Some(whose));
}

/// What the settings are for where nothing is sent: without an account the documented paths are shown.
fn reckoning(typed: &Typed) -> Result<Purpose> {
    match typed.rehearsal.sandbox {
        true => unborn_rehearsal(&typed.rehearsal),
        false => Ok(Purpose::Reckoning),
    }
}

/// Method and address of a call below the base address.
///
/// # Errors
/// Usage when the profile does not say where the operation is, or when a parameter cannot stand in its path.
fn place(settings: &Settings, call: &Call) -> Result<String> {
    let operation = call.operation;
    let endpoints = settings.endpoints()?;
    let Some(endpoint) = endpoints.get(operation) else {
        return Err(Error::usage(format!(
            "the path of {operation} is unknown: the specification does not state it; nothing was sent"
        ))
        .ending(End::EndpointUnknown)
        .hint(settings.to_map(&[operation])));
    };
    let path = endpoint.fill(&call.parameters).map_err(|why| {
        Error::usage(format!("{operation}: {why}; nothing was sent")).hint("give another value")
    })?;
    Ok(format!("{} {path}", endpoint.method().as_str()))
}
