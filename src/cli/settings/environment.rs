//! The environment variables fleetload knows, read once; a blank one counts as not set.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::setting::{SETTINGS, nearest};
use crate::error::{Error, Result};
use crate::failpoint::VARIABLES;

/// What every variable of ours begins with.
const PREFIX: &str = "FLEETLOAD_";

/// The variables of ours that are no settings of a profile. The first six are read by the command line itself.
pub(in crate::cli) const OTHERS: &[&str] = &[
    "FLEETLOAD_PROFILE",
    "FLEETLOAD_CONFIG",
    "FLEETLOAD_JOURNAL",
    "FLEETLOAD_REPORTS",
    "FLEETLOAD_CUSTOMER",
    "FLEETLOAD_LOG_FORMAT",
    "FLEETLOAD_LOG",
    "FLEETLOAD_COMMAND",
    "FLEETLOAD_CLIENT_SECRET",
    "FLEETLOAD_NOTIFY_SECRET",
];

/// How the variables begin that a notification command gets: it may start a fleetload of its own.
const OF_NOTIFICATIONS: &str = "FLEETLOAD_EVENT";

/// The variables of ours.
fn known() -> impl Iterator<Item = &'static str> {
    let of_settings = SETTINGS.iter().map(|known| known.variable).filter(|variable| !variable.is_empty());
    OTHERS.iter().copied().chain(of_settings)
}

/// The variables of others that say where settings and credentials live, and who asks.
const BORROWED: &[&str] = &["XDG_CONFIG_HOME", "HOME", "APPDATA", "CREDENTIALS_DIRECTORY", "USER", "LOGNAME"];

/// The variables of others that name a proxy for https.
const PROXIES: &[&str] = &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// The part of the environment that fleetload looks at. Holds a secret, so it cannot be printed.
#[derive(Clone, Default)]
pub(in crate::cli) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the environment of this process.
    pub(in crate::cli) fn of_process() -> Result<Self> {
        let mut values = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else { continue };
            if !name.starts_with(PREFIX)
                && !BORROWED.contains(&name.as_str())
                && !PROXIES.contains(&name.as_str())
            {
                continue;
            }
            // The value may be a secret and is not shown.
            let value = value.into_string().map_err(|_| {
                Error::usage(format!("the environment variable {name} is not valid UTF-8"))
                    .hint(format!("unset {name}"))
            })?;
            values.insert(name, value);
        }
        Ok(Self(values))
    }

    #[cfg(test)]
    pub(in crate::cli) fn of(values: &[(&str, &str)]) -> Self {
        Self(values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// The value of a variable, unless it is not set or blank.
    pub(in crate::cli) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// The variables that name a proxy. Their values may hold a password and are not told.
    pub(in crate::cli) fn proxies(&self) -> Vec<&'static str> {
        PROXIES.iter().copied().filter(|name| self.get(name).is_some()).collect()
    }

    /// The folder of a variable.
    pub(in crate::cli) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// A sentence for each variable that begins like ours and is none: most likely misspelt.
    pub(in crate::cli) fn strangers(&self) -> Vec<String> {
        self.0
            .keys()
            .filter(|name| name.starts_with(PREFIX) && !name.starts_with(OF_NOTIFICATIONS))
            .filter(|name| known().chain(VARIABLES.iter().copied()).all(|known| known != name.as_str()))
            .map(|name| match nearest(bare(name), known().map(bare)) {
                Some(known) => format!(
                    "the environment variable {name} is not one of fleetload's; did you mean {PREFIX}{known}?"
                ),
                None => {
                    format!("the environment variable {name} is not one of fleetload's and has no effect")
                }
            })
            .collect()
    }
}

/// A name without our prefix, which would make every name look near to every other.
fn bare(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_variable_is_told_with_the_nearest_one_and_without_its_value() {
        let environment = Environment::of(&[
            ("FLEETLOAD_RATES", "hunter2"),
            ("FLEETLOAD_TEA", "green"),
            ("FLEETLOAD_RATE", "50"),
            ("HOME", "/root"),
        ]);
        assert_eq!(
            environment.strangers(),
            [
                "the environment variable FLEETLOAD_RATES is not one of fleetload's; did you mean FLEETLOAD_RATE?",
                "the environment variable FLEETLOAD_TEA is not one of fleetload's and has no effect",
            ]
        );
    }

    #[test]
    fn the_documentation_explains_every_variable() {
        let page = include_str!("../../../docs/profile.md");
        let missing: Vec<_> = known().filter(|name| !page.contains(&format!("`{name}`"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        assert_eq!(Environment::of(&[("FLEETLOAD_RATE", "")]).get("FLEETLOAD_RATE"), None);
    }
}
