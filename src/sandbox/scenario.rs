//! What a sandbox is told before it starts, or while it runs: limits, clock, world and faults.
//!
//! A scenario is a TOML file or is built in Rust. Unknown keys are refused, with those that are known: a fault that never
//! fires because of a slip of the pen would prove nothing.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::SandboxError;
use super::faults::Fault;
use super::operations::routes;

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
/// What is settled when the sandbox is opened and cannot be told to it later.
const AT_START_ONLY: [&str; 5] = ["seed", "strict", "clock_offset_seconds", "clock_starts_at", "company"];

/// Everything that can be said about a sandbox. The default is a well-behaved service with the documented limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Where ids, tokens, latencies and faults come from.
    pub seed: u64,
    /// Refuse ids and models that nobody created, whatever is to be taken as present.
    pub strict: bool,
    /// Requests accepted in any sliding second for each client and operation; 0 for no limit.
    pub rate: u32,
    /// Creations accepted for each client in a UTC day of the service's own clock.
    pub daily_quota: u64,
    /// Whether a creation that is rejected uses up the quota too.
    pub quota_counts_failures: bool,
    /// Whether each creating operation has a quota of its own; otherwise they share one.
    pub quota_per_operation: bool,
    /// How long a token lives, in seconds.
    pub token_seconds: u64,
    /// What `expires_in` says, when it is not the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_expires_in: Option<i64>,
    /// How far the service's own clock is ahead of the caller's.
    pub clock_offset_seconds: i64,
    /// What the service's own clock shows when the sandbox is opened; takes the place of the offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_starts_at: Option<Timestamp>,
    /// Every answer takes between the first and the second number of milliseconds.
    pub latency_ms: [u64; 2],
    /// For so long what was created is not seen by searches and lists, nor by MAC address or username.
    pub lookup_lag_ms: u64,
    /// Searches and lists give no more than so many entries; 0 for all.
    pub page_limit: usize,
    /// Every request comes from a source address that is not authorized.
    pub unauthorized: bool,
    /// Errors come without the envelope (specification 2.1 allows both).
    pub bare_errors: bool,
    /// Hardware models besides the built-in ones.
    pub models: Vec<String>,
    /// The method that an operation takes instead of the one of the specification, by the operation's name.
    pub methods: BTreeMap<String, String>,
    /// The clients that may sign in; when empty, any may.
    pub client: Vec<ClientEntry>,
    /// Clients that may not sign in, and whose tokens no longer count.
    pub revoked_clients: Vec<String>,
    /// Companies besides the root, parents before children.
    pub company: Vec<CompanyEntry>,
    /// When devices come online.
    pub device_status: DeviceStatus,
    /// What goes wrong. The first rule that fires decides.
    pub fault: Vec<Fault>,
}

/// A client that may sign in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientEntry {
    /// The client id.
    pub id: String,
    /// The client secret.
    pub secret: String,
}

impl fmt::Debug for ClientEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ClientEntry").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A company that is there from the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompanyEntry {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Its parent; the root company when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Uuid>,
    /// `CUSTOMER` or `RESELLER`; a customer when absent.
    #[serde(rename = "type", default = "customer", skip_serializing_if = "is_customer")]
    pub company_type: String,
}

/// When devices come online, and how one that is not online shows. Which device does what follows from the seed and its
/// id. A device that was there before the first request is online from the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceStatus {
    /// A device comes online between the first and the second number of seconds after its creation.
    pub online_after_seconds: [u64; 2],
    /// So many seconds after it came online a device goes away for good; 0 for never.
    pub online_for_seconds: u64,
    /// The share of the created devices that never come online, from 0 to 1.
    pub never_online: f64,
    /// The status of a device that is not online. Without it such a device has no status: lists leave it out, and it is
    /// not found when asked for, since the specification shows `Online` and no other value (2.10, 3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline_word: Option<String>,
}

impl Default for DeviceStatus {
    fn default() -> Self {
        Self { online_after_seconds: [0, 0], online_for_seconds: 0, never_online: 0.0, offline_word: None }
    }
}

fn customer() -> String {
    "CUSTOMER".to_owned()
}

fn is_customer(company_type: &str) -> bool {
    company_type == "CUSTOMER"
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            seed: 1,
            strict: false,
            rate: 100,
            daily_quota: 100_000,
            quota_counts_failures: true,
            quota_per_operation: false,
            token_seconds: 14_400,
            answered_expires_in: None,
            clock_offset_seconds: 0,
            clock_starts_at: None,
            latency_ms: [0, 0],
            lookup_lag_ms: 0,
            page_limit: 0,
            unauthorized: false,
            bare_errors: false,
            models: Vec::new(),
            methods: BTreeMap::new(),
            client: Vec::new(),
            revoked_clients: Vec::new(),
            company: Vec::new(),
            device_status: DeviceStatus::default(),
            fault: Vec::new(),
        }
    }
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// When the text is not TOML, has an unknown key, or a value that makes no sense.
    pub fn parse(text: &str) -> Result<Self, SandboxError> {
        let scenario: Self = read(toml::from_str(text))?;
        scenario.verify()?;
        Ok(scenario)
    }

    /// Adds a fault.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault.push(fault);
        self
    }

    /// This scenario with the keys of `text` put in place of its own; faults are replaced as a whole.
    pub(crate) fn changed_by(&self, text: &str) -> Result<Self, SandboxError> {
        let changes: toml::Table = read(toml::from_str(text))?;
        if let Some(key) = AT_START_ONLY.iter().find(|key| changes.contains_key(**key)) {
            return Err(SandboxError::scenario(format!(
                "`{key}` is taken when the sandbox starts and cannot be changed while it runs"
            )));
        }
        let mut merged =
            toml::Table::try_from(self).map_err(|error| SandboxError::scenario(error.to_string()))?;
        merged.extend(changes);
        let scenario: Self = read(merged.try_into())?;
        scenario.verify()?;
        Ok(scenario)
    }

    /// Checks what types cannot say.
    pub(crate) fn verify(&self) -> Result<(), SandboxError> {
        if self.latency_ms[0] > self.latency_ms[1] {
            return Err(SandboxError::scenario(
                "`latency_ms` must be [least, most], with the least first".to_owned(),
            ));
        }
        let status = &self.device_status;
        if status.online_after_seconds[0] > status.online_after_seconds[1] {
            return Err(SandboxError::scenario(
                "`online_after_seconds` must be [least, most], with the least first".to_owned(),
            ));
        }
        if !(0.0..=1.0).contains(&status.never_online) {
            return Err(SandboxError::scenario(format!(
                "`never_online` must be from 0 to 1, not {}",
                status.never_online
            )));
        }
        for (operation, method) in &self.methods {
            if !routes::names().any(|name| name == operation) {
                return Err(unknown("operation", operation, routes::names()));
            }
            if !METHODS.contains(&method.as_str()) {
                return Err(SandboxError::scenario(format!(
                    "the method of {operation} must be one of {}, not `{method}`",
                    METHODS.join(", ")
                )));
            }
        }
        for fault in &self.fault {
            let operation = fault.operation.as_str();
            let names = routes::names().chain(["*", "creations", "lookups"]);
            if !names.clone().any(|name| name == operation) {
                return Err(unknown("operation", operation, names));
            }
            if !(0.0..=1.0).contains(&fault.probability) {
                return Err(SandboxError::scenario(format!(
                    "the probability of {} must be from 0 to 1, not {}",
                    fault.kind.name(),
                    fault.probability
                )));
            }
            if fault.status.is_some_and(|status| !(500..600).contains(&status)) {
                return Err(SandboxError::scenario(
                    "the `status` of a fault must be from 500 to 599".to_owned(),
                ));
            }
        }
        Ok(())
    }
}

/// What a scenario is read from, with the place in the text where that is known.
fn read<T>(result: Result<T, toml::de::Error>) -> Result<T, SandboxError> {
    result.map_err(|error| SandboxError::scenario(error.to_string()))
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> SandboxError {
    let nearest =
        known.max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)));
    SandboxError::scenario(match nearest {
        Some(nearest) => format!("unknown {what} `{name}`; the nearest known one is `{nearest}`"),
        None => format!("unknown {what} `{name}`"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::faults::FaultKind;
    use super::*;

    const FULL: &str = r#"
seed = 7
strict = true
rate = 50
daily_quota = 500
quota_counts_failures = false
quota_per_operation = true
token_seconds = 2
answered_expires_in = 0
clock_offset_seconds = -60
clock_starts_at = "2026-03-01T23:59:50Z"
latency_ms = [50, 200]
lookup_lag_ms = 3000
page_limit = 20
unauthorized = true
bare_errors = true
models = ["Edge 900"]
methods = { updateDevice = "PUT" }
revoked_clients = ["old"]

[[client]]
id = "acme"
secret = "pass phrase"

[[company]]
id = "6f1c2a3e-0000-4000-8000-000000000099"
name = "Harbour"
parent = "6f1c2a3e-0000-4000-8000-000000000001"
type = "RESELLER"

[device_status]
online_after_seconds = [5, 60]
online_for_seconds = 600
never_online = 0.25
offline_word = "Offline"

[[fault]]
operation = "addDevice"
kind = "answer_cut"
probability = 0.05
times = 3
after = 2
ms = 10
at = 12
status = 503
"#;

    #[test]
    fn a_file_with_every_key_is_read_and_survives_a_change() {
        let scenario = Scenario::parse(FULL).unwrap();
        assert_eq!(scenario.fault.len(), 1);
        let table: toml::Table = toml::from_str(FULL).unwrap();
        assert_eq!(toml::Table::try_from(&scenario).unwrap(), table, "the file above shows every key");
        let changed = scenario.changed_by("fault = []\nrate = 9").unwrap();
        assert!(changed.fault.is_empty());
        assert_eq!(Scenario { rate: 50, fault: scenario.fault.clone(), ..changed }, scenario);
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is() {
        for (text, known) in [
            ("daily_qouta = 5", "`daily_quota`"),
            ("methods = { addSites = \"PUT\" }", "`addSite`"),
            ("[[client]]\nid = \"a\"\nsecert = \"b\"", "`secret`"),
            ("[[fault]]\noperaton = \"*\"\nkind = \"garbled\"", "`operation`"),
            ("[[fault]]\noperation = \"*\"\nkind = \"answer_losst\"", "`answer_lost`"),
            ("[[fault]]\noperation = \"addDevices\"\nkind = \"garbled\"", "`addDevice`"),
            ("[device_status]\nnever = 0.1", "`never_online`"),
        ] {
            let error = Scenario::parse(text).unwrap_err().to_string();
            assert!(error.contains(known), "{error}");
        }
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for (text, part) in [
            ("latency_ms = [5, 1]", "least first"),
            ("[[fault]]\noperation = \"*\"\nkind = \"garbled\"\nprobability = 5.0", "from 0 to 1"),
            ("[[fault]]\noperation = \"*\"\nkind = \"html_503_after\"\nstatus = 200", "from 500"),
            ("rate = -1", "rate"),
            ("[device_status]\nonline_after_seconds = [5, 1]", "least first"),
            ("[device_status]\nnever_online = 1.5", "from 0 to 1"),
            ("methods = { addSite = \"put\" }", "one of GET, POST, PUT, PATCH, DELETE, not `put`"),
        ] {
            let error = Scenario::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(Scenario::default().changed_by("seed = 4").is_err());
    }

    #[test]
    fn the_documentation_lists_every_key_and_every_kind_of_fault_and_its_example_is_read() {
        let page = include_str!("../../docs/rehearsal.md");
        let part = |from: &str, to: &str| page.split_once(from).unwrap().1.split_once(to).unwrap().0;
        let names = |part: &str| -> Vec<String> {
            let rows = part.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
            rows.map(|(name, _)| name.trim_matches(['[', ']']).to_owned()).collect()
        };
        let kinds = names(part("<!-- kinds of faults -->", "<!-- end of kinds of faults -->"));
        assert_eq!(kinds, FaultKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>());
        let full: toml::Table = toml::from_str(FULL).unwrap();
        let (faults, status) =
            (full["fault"][0].as_table().unwrap(), full["device_status"].as_table().unwrap());
        for (from, to, keys) in [
            ("## Scenarios", "## Faults", &full),
            ("## Faults", "<!-- kinds of faults -->", faults),
            ("## Status of devices", "```", status),
        ] {
            let listed: BTreeSet<String> = names(part(from, to)).into_iter().collect();
            assert!(listed.iter().eq(keys.keys().collect::<BTreeSet<_>>()), "{from}: {listed:?}");
        }
        let status = part("## Status of devices", "<!-- end of status -->");
        let example = status.split_once("```toml").unwrap().1.split_once("```").unwrap().0;
        assert_eq!(Scenario::parse(example).unwrap().device_status.online_after_seconds, [5, 90]);
        assert_eq!(Scenario::parse(part("```toml", "```")).unwrap().fault.len(), 2);
    }

    #[test]
    fn a_secret_is_not_shown() {
        let shown = format!("{:?}", Scenario::parse(FULL).unwrap());
        assert!(!shown.contains("pass phrase"), "{shown}");
    }
}
