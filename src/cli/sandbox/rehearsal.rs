//! The simulated service inside the process: the option `--sandbox`.
//!
//! Any sheet can be rehearsed: what its rows refer to and no row creates is taken as present, unless the scenario is
//! strict.
//!
//! A rehearsal keeps its records beside the journal, so that one that was interrupted goes on; and its journal is
//! bound to a name that no real service has, so that the two are never mixed up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::atomic_file;
use crate::cli::settings::account::Rehearsed;
use crate::error::{Error, Result};
use crate::journal::{Journal, Noun, Referenced};
use crate::sandbox::{Being, Present, Running, Sandbox, SandboxError, Scenario, wall_clock};

/// Whom a sandbox lets in whose scenario names nobody.
const CLIENT: &str = "sandbox";

/// A sandbox at work in this process.
pub(in crate::cli) struct Rehearsal {
    pub(in crate::cli) running: Running,
    pub(in crate::cli) account: Rehearsed,
}

impl Rehearsal {
    /// Starts the sandbox on a free port of this machine, for the rows of a journal, with its records beside that; or
    /// with nothing but the world of the scenario, in memory.
    pub(in crate::cli) async fn start(scenario: Option<&Path>, journal: Option<&Path>) -> Result<Self> {
        let scenario = read_scenario(scenario)?;
        let (client_id, client_secret) = client_of(&scenario);
        let sandbox = match journal {
            Some(journal) => {
                open(scenario, Some(&state_file(journal)))?.taking_as_present(referred_to(journal)?)
            }
            None => open(scenario, None)?,
        };
        let running = Running::start(Arc::new(sandbox)).await.map_err(|error| told(&error))?;
        let address = running.base_url().parse().map_err(|error| {
            Error::internal("the sandbox listens at something that is not an address").because(error)
        })?;
        let account = Rehearsed { address, client_id, client_secret: client_secret.into() };
        Ok(Self { running, account })
    }
}

/// What the rows of a journal refer to and none of them creates, as often as there is something new: another command
/// may import rows meanwhile.
fn referred_to(journal: &Path) -> Result<impl FnMut() -> Option<Present> + Send + 'static> {
    let journal = Journal::open_existing(journal)?;
    let mut known = None;
    let mut news = move || -> Result<Option<Referenced>> {
        let latest = journal.latest_import()?;
        let referenced = if latest == known { None } else { Some(journal.referenced()?) };
        known = latest;
        Ok(referenced)
    };
    Ok(move || match news() {
        Ok(referenced) => referenced.map(present),
        Err(error) => {
            tracing::warn!(%error, "what the rows refer to cannot be read");
            None
        }
    })
}

fn present(referenced: Referenced) -> Present {
    let being = |noun| match noun {
        Noun::Company => Being::Company,
        Noun::Site { company } => Being::Site { company },
        Noun::Device => Being::Device,
        Noun::Template => Being::Template,
        Noun::Cloud => Being::Cloud,
    };
    let Referenced { records, models } = referenced;
    Present { records: records.into_iter().map(|(id, noun)| (id, being(noun))).collect(), models }
}

/// Where a rehearsal keeps its records: beside the journal.
pub(super) fn state_file(journal: &Path) -> PathBuf {
    atomic_file::beside(journal, ".sandbox")
}

/// The scenario of a file, or the well-behaved one.
pub(in crate::cli) fn read_scenario(file: Option<&Path>) -> Result<Scenario> {
    let Some(file) = file else { return Ok(Scenario::default()) };
    let text = std::fs::read_to_string(file).map_err(|error| {
        Error::usage(format!("cannot read the scenario {}", file.display()))
            .because(error)
            .hint("name a scenario file with --scenario, or omit --scenario for a service without faults")
    })?;
    Scenario::parse(&text).map_err(|error| Error::usage(file.display().to_string()).because(error))
}

/// The client id and secret that a sandbox with this scenario lets in.
pub(in crate::cli) fn client_of(scenario: &Scenario) -> (String, String) {
    match scenario.client.first() {
        Some(client) => (client.id.clone(), client.secret.clone()),
        None => (CLIENT.to_owned(), CLIENT.to_owned()),
    }
}

/// Opens a sandbox with its records in a file, or in memory.
pub(in crate::cli) fn open(scenario: Scenario, state: Option<&Path>) -> Result<Sandbox> {
    let sandbox = match state {
        Some(state) => Sandbox::open(scenario, state, wall_clock()),
        None => Sandbox::new(scenario, wall_clock()),
    };
    sandbox.map_err(|error| told(&error))
}

/// A sandbox that does not start is a matter of how it was called.
pub(in crate::cli) fn told(error: &SandboxError) -> Error {
    Error::usage(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_of_a_rehearsal_are_beside_its_journal() {
        assert_eq!(state_file(Path::new("jobs/acme.db")), Path::new("jobs/acme.db.sandbox"));
    }

    #[test]
    fn a_wrong_scenario_is_told_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bad-day.toml");
        std::fs::write(&file, "daily_quotas = 5\n").unwrap();
        let told = read_scenario(Some(&file)).unwrap_err().to_string();
        assert!(told.contains("bad-day.toml") && told.contains("daily_quota"), "{told}");
    }

    #[tokio::test]
    async fn a_rehearsal_is_met_on_this_machine_with_its_own_client() {
        let rehearsal = Rehearsal::start(None, None).await.unwrap();
        assert!(crate::service::is_loopback(&rehearsal.account.address));
        assert_eq!(rehearsal.account.client_id, "sandbox");
        rehearsal.running.stop().await;
    }
}
