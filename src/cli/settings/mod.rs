//! What was meant: flags over environment over file over defaults, each value with its origin, all of it checked.
//!
//! Nothing is sent, and nothing imported, before this has passed. Reading the secret is left to [`crate::cli::settings::secret`].

pub(super) mod account;
pub(super) mod bounds;
pub(super) mod choice;
pub(super) mod connection;
pub(super) mod environment;
pub(super) mod precedence;
pub(super) mod profile;
#[cfg(test)]
mod profile_tests;
pub(super) mod reading;
pub(super) mod reading_options;
pub(super) mod reading_profile;
pub(super) mod secret;
pub(super) mod section;
#[cfg(test)]
mod settings_tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::account::{AccountSettings, Rehearsed, account, is_loopback, rehearsal_account};
use self::bounds::{
    CONCURRENCY, DAILY_QUOTA, HIGHEST_CONCURRENCY, LONGEST_SETTLE, REQUEST_TIMEOUT, RESERVE, SETTLE,
    SHORTEST_SETTLE, Whole, rate,
};
use self::choice::{AuditWord, InDoubtWord, MethodWord, OnExistingWord, OnQuotaWord, PathsWord, ProxyWord};
use self::environment::Environment;
use self::precedence::{AUDIT, IN_DOUBT, Layers, ON_EXISTING, ON_QUOTA, PATHS, PROXY};
use self::profile::Profile;
use crate::cli::args::Overrides;
use crate::error::{Error, Result};
use crate::model::operation::Operation;

/// Leaves room for delays on the way to vary: a sliding second at the service stays within 100.
const DEFAULT_RATE: f64 = 98.0;
const DEFAULT_CONCURRENCY: usize = 256;
const DEFAULT_SETTLE: Duration = Duration::from_secs(600);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// The rehearsal forgets nothing and answers at once, so waiting for ten minutes would show nothing.
pub(super) const REHEARSAL_SETTLE: Duration = Duration::from_secs(5);

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// An option of the command line: `--rate`.
    Flag(&'static str),
    /// An environment variable.
    Environment(&'static str),
    /// The settings file and the line in it.
    File(PathBuf, usize),
    /// The default.
    Default,
    /// The rehearsal.
    Rehearsal,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "option {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::File(file, line) => write!(f, "{}, line {line}", file.display()),
            Self::Default => f.write_str("default"),
            Self::Rehearsal => f.write_str("rehearsal"),
        }
    }
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
}

/// How fast each operation may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RateSetting {
    /// Requests a second.
    PerSecond(f64),
    /// As fast as it goes; only towards this machine itself.
    Unlimited,
}

/// Where the profile says an operation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndpointSetting {
    pub(super) method: MethodWord,
    pub(super) path: String,
}

/// Everything a command needs to know before it talks to the service.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    /// The name of the profile, when there is a settings file.
    pub(super) profile: Option<(String, PathBuf)>,
    pub(super) account: Option<AccountSettings>,
    pub(super) paths: Setting<PathsWord>,
    /// Certificates to trust besides the machine's.
    pub(super) ca_file: Setting<Option<PathBuf>>,
    pub(super) proxy: Setting<ProxyWord>,
    pub(super) endpoints: BTreeMap<Operation, Setting<EndpointSetting>>,
    pub(super) rate: Setting<RateSetting>,
    pub(super) concurrency: Setting<usize>,
    pub(super) daily_quota: Setting<Option<u64>>,
    pub(super) reserve: Setting<u64>,
    pub(super) on_quota: Setting<OnQuotaWord>,
    pub(super) on_existing: Setting<OnExistingWord>,
    pub(super) in_doubt: Setting<InDoubtWord>,
    pub(super) audit: Setting<AuditWord>,
    pub(super) settle: Setting<Duration>,
    pub(super) request_timeout: Setting<Duration>,
}

/// What settings are for.
#[derive(Debug, Clone)]
pub(super) enum Purpose {
    /// Talking to the service: an account is needed.
    Service,
    /// Reckoning only: an account may be missing.
    Reckoning,
    /// Talking to the sandbox inside the process.
    Rehearsal(Rehearsed),
}

impl Settings {
    /// Brings flags, environment and file together and checks them.
    pub(super) fn settle(
        purpose: &Purpose,
        flags: &Overrides,
        environment: &Environment,
        profile: Option<&Profile>,
    ) -> Result<Self> {
        let nothing = Profile::default();
        // A rehearsal is the same for everybody: neither file nor account of the environment count.
        let profile = match purpose {
            Purpose::Rehearsal(_) => None,
            Purpose::Service | Purpose::Reckoning => profile,
        };
        let file = profile.unwrap_or(&nothing);
        let layers = Layers { environment, file: &file.file };
        let account = match purpose {
            Purpose::Rehearsal(rehearsed) => Some(rehearsal_account(rehearsed)),
            Purpose::Service | Purpose::Reckoning => account(&layers, file, purpose)?,
        };
        let local = account.as_ref().is_some_and(|account| is_loopback(&account.base_url.value));
        let rehearsal = matches!(purpose, Purpose::Rehearsal(_));
        let settle = if rehearsal {
            Setting { value: REHEARSAL_SETTLE, origin: Origin::Rehearsal }
        } else {
            Setting::default_of(DEFAULT_SETTLE)
        };
        let shortest_settle = if local { 1 } else { SHORTEST_SETTLE };
        let settle_bounds = Whole { range: shortest_settle..=LONGEST_SETTLE, ..SETTLE };
        let settings = Self {
            profile: profile.map(|profile| (profile.name.clone(), profile.file.clone())),
            endpoints: endpoints(file),
            paths: if rehearsal {
                Setting { value: PathsWord::Assumed, origin: Origin::Rehearsal }
            } else {
                layers.word(&PATHS, None, file.paths.as_ref())?.or(PathsWord::Documented)
            },
            ca_file: match layers.text(None, "FLEETLOAD_CA_FILE", file.ca_file.as_ref()) {
                Some(text) => beside_its_file(text.map(PathBuf::from)),
                None => Setting::default_of(None),
            },
            proxy: layers.word(&PROXY, None, file.proxy.as_ref())?.or(ProxyWord::Ignore),
            rate: match layers.text(
                flags.rate.as_deref().map(|rate| ("--rate", rate)),
                "FLEETLOAD_RATE",
                file.rate.as_ref(),
            ) {
                Some(text) => rate(&text, local)?,
                None => Setting::default_of(RateSetting::PerSecond(DEFAULT_RATE)),
            },
            concurrency: layers
                .number(&CONCURRENCY, flags.concurrency.as_deref(), file.concurrency.as_ref())?
                .map(|number| usize::try_from(number).unwrap_or(HIGHEST_CONCURRENCY))
                .or(DEFAULT_CONCURRENCY),
            daily_quota: layers
                .number(&DAILY_QUOTA, flags.daily_quota.as_deref(), file.daily_quota.as_ref())?
                .map(Some)
                .or(None),
            reserve: layers.number(&RESERVE, flags.reserve.as_deref(), file.reserve.as_ref())?.or(0),
            on_quota: layers.word(&ON_QUOTA, flags.on_quota, file.on_quota.as_ref())?.or(OnQuotaWord::Wait),
            on_existing: layers
                .word(&ON_EXISTING, flags.on_existing, file.on_existing.as_ref())?
                .or(OnExistingWord::Adopt),
            in_doubt: layers.word(&IN_DOUBT, flags.in_doubt, file.in_doubt.as_ref())?.or(InDoubtWord::Settle),
            audit: layers.word(&AUDIT, flags.audit, file.audit.as_ref())?.or(AuditWord::All),
            settle: layers
                .number(&settle_bounds, None, file.settle_seconds.as_ref())?
                .map(Duration::from_secs)
                .or_setting(settle),
            request_timeout: layers
                .number(&REQUEST_TIMEOUT, None, file.request_timeout_seconds.as_ref())?
                .map(Duration::from_secs)
                .or(DEFAULT_TIMEOUT),
            account,
        };
        settings.check_reserve()?;
        settings.endpoints()?;
        Ok(settings)
    }

    fn check_reserve(&self) -> Result<()> {
        match self.daily_quota.value {
            Some(quota) if self.reserve.value >= quota => Err(Error::usage(format!(
                "reserve ({}, {}) must be less than daily_quota ({quota}, {}): nothing would be left to create with",
                self.reserve.value, self.reserve.origin, self.daily_quota.origin
            ))
            .hint("lower reserve or raise daily_quota")),
            Some(_) | None => Ok(()),
        }
    }
}

impl<T> Setting<T> {
    pub(super) fn default_of(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }

    /// The same value in another form.
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), origin: self.origin }
    }
}

/// A file that a settings file names is named from the folder of that file.
fn beside_its_file(named: Setting<PathBuf>) -> Setting<Option<PathBuf>> {
    let folder = match &named.origin {
        Origin::File(file, _) => file.parent().map(Path::to_owned),
        Origin::Flag(_) | Origin::Environment(_) | Origin::Rehearsal | Origin::Default => None,
    };
    named.map(|path| Some(folder.map_or_else(|| path.clone(), |folder| folder.join(&path))))
}

fn endpoints(file: &Profile) -> BTreeMap<Operation, Setting<EndpointSetting>> {
    file.endpoints
        .iter()
        .map(|mapped| {
            let value = EndpointSetting { method: mapped.method, path: mapped.path.clone() };
            let origin = Origin::File(file.file.clone(), mapped.line);
            (mapped.operation, Setting { value, origin })
        })
        .collect()
}

/// A usage error about one setting, with its origin; the value is left to the caller to show.
pub(super) fn wrong(setting: &Setting<String>, key: &str, rule: &str) -> Error {
    Error::usage(format!("{}: {key} {rule}", setting.origin))
}
