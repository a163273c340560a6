//! What was meant: flags over environment over file over defaults, each value with its origin, all of it checked.
//!
//! Nothing is sent, and nothing imported, before this has passed. Reading the secret is left to [`super::secret`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::account::{AccountSettings, Rehearsed, account, is_loopback, rehearsal_account};
use super::args::Overrides;
use super::bounds::{rate, within};
use super::choice::{
    AuditWord, Choice, InDoubtWord, MethodWord, OnExistingWord, OnQuotaWord, PathsWord, ProxyWord, nearest,
};
use super::environment::Environment;
use super::profile::Profile;
use super::section::Located;
use crate::error::{Error, Result};
use crate::model::operation::Operation;

/// Leaves room for delays on the way to vary: a sliding second at the service stays within 100.
const DEFAULT_RATE: f64 = 98.0;
const DEFAULT_CONCURRENCY: usize = 256;
const HIGHEST_CONCURRENCY: usize = 1024;
const DEFAULT_SETTLE: Duration = Duration::from_secs(600);
/// Before a minute has passed, "it is not there" proves little: the service may still be at work on the request.
const SHORTEST_SETTLE: u64 = 60;
const LONGEST_SETTLE: u64 = 86_400;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const LONGEST_TIMEOUT: u64 = 600;
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
        let (paths, settle, base) = if rehearsal {
            (PathsWord::Assumed, REHEARSAL_SETTLE, Origin::Rehearsal)
        } else {
            (PathsWord::Documented, DEFAULT_SETTLE, Origin::Default)
        };
        let shortest_settle = if local { 1 } else { SHORTEST_SETTLE };

        let settings = Self {
            profile: profile.map(|profile| (profile.name.clone(), profile.file.clone())),
            endpoints: endpoints(file),
            paths: match purpose {
                Purpose::Rehearsal(_) => Setting { value: paths, origin: base.clone() },
                Purpose::Service | Purpose::Reckoning => layers
                    .word(None, "FLEETLOAD_PATHS", "paths", file.paths.as_ref())?
                    .unwrap_or(Setting { value: paths, origin: Origin::Default }),
            },
            ca_file: layers
                .text(None, "FLEETLOAD_CA_FILE", file.ca_file.as_ref())
                .map(|text| text.map(PathBuf::from))
                .map(beside_its_file)
                .unwrap_or(Setting { value: None, origin: Origin::Default }),
            proxy: layers
                .word(None, "FLEETLOAD_PROXY", "proxy", file.proxy.as_ref())?
                .unwrap_or(Setting { value: ProxyWord::Ignore, origin: Origin::Default }),
            rate: layers
                .text(flags.rate.as_deref().map(|f| ("--rate", f)), "FLEETLOAD_RATE", file.rate.as_ref())
                .map(|text| rate(&text, local))
                .transpose()?
                .unwrap_or(Setting { value: RateSetting::PerSecond(DEFAULT_RATE), origin: Origin::Default }),
            concurrency: layers
                .number(
                    flags.concurrency.as_deref().map(|f| ("--concurrency", f)),
                    "FLEETLOAD_CONCURRENCY",
                    file.concurrency.as_ref(),
                    "concurrency",
                    1..=HIGHEST_CONCURRENCY as u64,
                    "requests",
                )?
                .map(|setting| setting.map(|number| usize::try_from(number).unwrap_or(HIGHEST_CONCURRENCY)))
                .unwrap_or(Setting { value: DEFAULT_CONCURRENCY, origin: Origin::Default }),
            daily_quota: layers
                .number(
                    flags.daily_quota.as_deref().map(|f| ("--daily-quota", f)),
                    "FLEETLOAD_DAILY_QUOTA",
                    file.daily_quota.as_ref(),
                    "daily_quota",
                    1..=1_000_000_000,
                    "creations",
                )?
                .map(|setting| setting.map(Some))
                .unwrap_or(Setting { value: None, origin: Origin::Default }),
            reserve: layers
                .number(
                    flags.reserve.as_deref().map(|f| ("--reserve", f)),
                    "FLEETLOAD_RESERVE",
                    file.reserve.as_ref(),
                    "reserve",
                    0..=1_000_000_000,
                    "creations",
                )?
                .unwrap_or(Setting { value: 0, origin: Origin::Default }),
            on_quota: layers
                .word(
                    flags.on_quota.map(|f| ("--on-quota", f)),
                    "FLEETLOAD_ON_QUOTA",
                    "on_quota",
                    file.on_quota.as_ref(),
                )?
                .unwrap_or(Setting { value: OnQuotaWord::Wait, origin: Origin::Default }),
            on_existing: layers
                .word(
                    flags.on_existing.map(|f| ("--on-existing", f)),
                    "FLEETLOAD_ON_EXISTING",
                    "on_existing",
                    file.on_existing.as_ref(),
                )?
                .unwrap_or(Setting { value: OnExistingWord::Adopt, origin: Origin::Default }),
            in_doubt: layers
                .word(
                    flags.in_doubt.map(|f| ("--in-doubt", f)),
                    "FLEETLOAD_IN_DOUBT",
                    "in_doubt",
                    file.in_doubt.as_ref(),
                )?
                .unwrap_or(Setting { value: InDoubtWord::Settle, origin: Origin::Default }),
            audit: layers
                .word(flags.audit.map(|f| ("--audit", f)), "FLEETLOAD_AUDIT", "audit", file.audit.as_ref())?
                .unwrap_or(Setting { value: AuditWord::All, origin: Origin::Default }),
            settle: layers
                .number(
                    None,
                    "FLEETLOAD_SETTLE_SECONDS",
                    file.settle_seconds.as_ref(),
                    "settle_seconds",
                    shortest_settle..=LONGEST_SETTLE,
                    "seconds",
                )?
                .map(|setting| setting.map(Duration::from_secs))
                .unwrap_or(Setting { value: settle, origin: base }),
            request_timeout: layers
                .number(
                    None,
                    "FLEETLOAD_REQUEST_TIMEOUT_SECONDS",
                    file.request_timeout_seconds.as_ref(),
                    "request_timeout_seconds",
                    1..=LONGEST_TIMEOUT,
                    "seconds",
                )?
                .map(|setting| setting.map(Duration::from_secs))
                .unwrap_or(Setting { value: DEFAULT_TIMEOUT, origin: Origin::Default }),
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
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), origin: self.origin }
    }
}

/// Environment and file, below the flags.
pub(super) struct Layers<'a> {
    pub(super) environment: &'a Environment,
    pub(super) file: &'a Path,
}

impl Layers<'_> {
    /// The text of the highest layer that has one.
    pub(super) fn text(
        &self,
        flag: Option<(&'static str, &str)>,
        variable: &'static str,
        file: Option<&Located<String>>,
    ) -> Option<Setting<String>> {
        flag.map(|(name, value)| Setting { value: value.to_owned(), origin: Origin::Flag(name) })
            .or_else(|| self.variable(variable))
            .or_else(|| file.map(|located| self.of_file(located)))
    }

    /// The whole number of the highest layer that has one, which must be within its range.
    fn number(
        &self,
        flag: Option<(&'static str, &str)>,
        variable: &'static str,
        file: Option<&Located<String>>,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
        unit: &str,
    ) -> Result<Option<Setting<u64>>> {
        self.text(flag, variable, file).map(|text| within(&text, key, range, unit)).transpose()
    }

    /// The word of the highest layer that has one.
    fn word<C: Choice>(
        &self,
        flag: Option<(&'static str, C)>,
        variable: &'static str,
        key: &str,
        file: Option<&Located<C>>,
    ) -> Result<Option<Setting<C>>> {
        if let Some((name, value)) = flag {
            return Ok(Some(Setting { value, origin: Origin::Flag(name) }));
        }
        let Some(text) = self.variable(variable) else {
            return Ok(file.map(|located| self.of_file(located)));
        };
        match C::from_word(&text.value) {
            Some(value) => Ok(Some(Setting { value, origin: text.origin })),
            None => {
                let words: Vec<_> = C::WORDS.iter().map(|(word, _)| *word).collect();
                let error = wrong(&text, key, &format!("must be {}", words.join(" or ")));
                Err(match nearest(&text.value, words) {
                    Some(word) => error.hint(format!("did you mean {variable}={word}?")),
                    None => error,
                })
            }
        }
    }

    fn variable(&self, name: &'static str) -> Option<Setting<String>> {
        self.environment
            .get(name)
            .map(|value| Setting { value: value.to_owned(), origin: Origin::Environment(name) })
    }

    fn of_file<T: Clone>(&self, located: &Located<T>) -> Setting<T> {
        Setting { value: located.value.clone(), origin: Origin::File(self.file.to_owned(), located.line) }
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
