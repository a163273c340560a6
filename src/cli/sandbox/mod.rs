//! `fleetload sandbox`: serves the simulated service until a signal ends it. It sees no sheets, so it is always strict: a
//! record that sheets name must be created in it, or be in its scenario.

pub(super) mod rehearsal;

use std::sync::Arc;

use serde::Serialize;

use crate::cli::args::commands::Sandbox as Typed;
use crate::cli::context::Context;
use crate::cli::run::signals::Signals;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::sandbox::{Founded, Founding, Running};
use crate::term::{Ink, Line};
use rehearsal::{client_of, open, read_scenario, told};

/// The sandbox for programs.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct SandboxObject<'a> {
    /// Where it listens.
    base_url: &'a str,
    /// The client id that it accepts.
    client_id: &'a str,
    /// Requests that control and inspect it.
    control: [String; 4],
    /// Records that are there from the start.
    records: &'a [Founded],
    /// Device models that it knows.
    models: &'a [String],
    /// How many time zones it knows.
    zones: usize,
}

/// Serves until a signal.
pub(super) fn sandbox(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let scenario = read_scenario(typed.scenario.as_deref())?;
    let (client_id, client_secret) = client_of(&scenario);
    let founding = scenario.founding();
    let sandbox = open(scenario, typed.state.as_deref())?;
    context.runtime()?.block_on(async {
        let mut signals =
            Signals::listen().map_err(|error| Error::internal("cannot listen for signals").because(error))?;
        let running =
            Running::start_at(Arc::new(sandbox), typed.listen).await.map_err(|error| told(&error))?;
        tell(context, &running.base_url(), &client_id, &client_secret, &founding);
        signals.next().await;
        context.terminal.say("stopping");
        running.stop().await;
        Ok(Summary::new(End::Done))
    })
}

/// Tells where it listens and how to use it. The secret shown opens nothing but this sandbox.
fn tell(context: &Context<'_>, base_url: &str, client_id: &str, client_secret: &str, founding: &Founding) {
    let terminal = context.terminal;
    let control = [
        format!("GET {base_url}/sandbox/ledger"),
        format!("GET {base_url}/sandbox/statistics"),
        format!("POST {base_url}/sandbox/scenario"),
        format!("POST {base_url}/sandbox/clock"),
    ];
    terminal.result(Line::plain("The simulated service listens at ").ink(Ink::Strong, base_url));
    terminal.result("");
    terminal.result("To use it from another terminal, put this in fleetload.toml:");
    terminal.result("");
    for line in profile(base_url, client_id, client_secret) {
        terminal.result(Line::plain("  ").text(line));
    }
    terminal.result("");
    terminal.result("What sheets may refer to from the start:");
    for Founded { kind, id, name } in &founding.records {
        terminal.result(Line::plain(format!("  {kind:<19}  {id}  ")).text(name));
    }
    terminal.result(Line::plain(format!("  {:<19}  ", "device models")).text(founding.models.join(", ")));
    terminal.result(format!("  {:<19}  {} of the IANA database", "time zones", founding.zones));
    terminal.result("");
    terminal.result("To control and inspect it:");
    for (address, what) in control.iter().zip([
        "records that were created, one JSON object a line",
        "requests and answers, counted",
        "change limits and faults (TOML)",
        "move its clock: {\"advance_seconds\": 60}",
    ]) {
        terminal.result(Line::plain("  ").text(address).text("  ").ink(Ink::Faint, what));
    }
    terminal.object(&SandboxObject {
        base_url,
        client_id,
        control,
        records: &founding.records,
        models: &founding.models,
        zones: founding.zones,
    });
    terminal.hint("Ctrl-C ends it");
}

/// A profile for the sandbox, ready to be used.
fn profile(base_url: &str, client_id: &str, client_secret: &str) -> Vec<String> {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let shell_word = format!("printf %s '{}'", client_secret.replace('\'', "'\\''"));
    vec![
        "[profile.sandbox]".to_owned(),
        format!("base_url = {}", quoted(base_url)),
        format!("client_id = {}", quoted(client_id)),
        format!("client_secret_command = {}", quoted(&shell_word)),
        "paths = \"assumed\"".to_owned(),
        String::new(),
        "[profile.sandbox.policy]".to_owned(),
        "settle_seconds = 5".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::cli::args::options::Overrides;
    use crate::cli::settings::environment::Environment;
    use crate::cli::settings::{Purpose, Settings};

    #[cfg(unix)]
    #[test]
    fn the_profile_it_prints_works_as_it_is() {
        let text = profile("http://127.0.0.1:8470", "it's", "a \"secret\" it's").join("\n");
        let profile = crate::cli::settings::profile::parse(Path::new("fleetload.toml"), &text, None).unwrap();
        let settings =
            Settings::settle(&Purpose::Service, &Overrides::default(), &Environment::of(&[]), Some(&profile))
                .unwrap();
        let account = settings.account.unwrap();
        assert_eq!(account.client_id.value, "it's");
        assert_eq!(account.secret.unwrap().read().unwrap().expose_secret(), "a \"secret\" it's");
        assert_eq!(settings.paths.value.to_string(), "assumed");
        assert_eq!(settings.settle.value.as_secs(), 5);
    }
}
