//! The settings of a command: options over environment over settings file over defaults, each value with its origin, all
//! of it checked; and all of them listed.
//!
//! Nothing is sent, and nothing imported, before this has passed. Reading the secret is left to [`crate::cli::settings::secret`].

pub(super) mod account;
pub(super) mod environment;
mod layers;
pub(super) mod notify;
mod option_value;
pub(super) mod profile;
#[cfg(test)]
mod profile_tests;
pub(super) mod reading;
pub(super) mod reading_options;
#[cfg(test)]
mod reading_options_tests;
pub(super) mod secret;
mod section;
pub(super) mod setting;
#[cfg(test)]
mod settings_tests;
pub(super) mod window;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use self::account::{AccountSettings, Rehearsed, account, rehearsal_account};
use self::environment::Environment;
use self::layers::{Layers, Origin, Setting};
use self::notify::NotifySettings;
use self::profile::Profile;
use self::section::Located;
use self::setting::{
    AUDIT, CA_FILE, CONCURRENCY, CONFIRM, DAILY_QUOTA, IN_DOUBT, METRICS_FILE, ON_EXISTING, ON_QUOTA, PATHS,
    PROXY, REQUEST_TIMEOUT, RESERVE, SETTLE,
};
use self::window::WindowSettings;
use crate::advice::Advice;
use crate::cli::args::options::Overrides;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::model::operation::Operation;
use crate::model::policy::{Audit, InDoubt, OnExisting, OnQuota, Paths, Proxy};
use crate::service::{Client, Config, Endpoints, Mapping, Rate, is_loopback};

/// A service that has not taken a connection in this time is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The rehearsal forgets nothing and answers at once, so waiting for ten minutes would show nothing.
pub(super) const REHEARSAL_SETTLE: Duration = Duration::from_secs(5);

/// Everything a command needs to know before it talks to the service.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    /// The name of the profile, when there is a settings file.
    pub(super) profile: Option<(String, PathBuf)>,
    pub(super) account: Option<AccountSettings>,
    pub(super) paths: Setting<Paths>,
    /// Certificates to trust besides the machine's.
    pub(super) ca_file: Setting<Option<PathBuf>>,
    pub(super) proxy: Setting<Proxy>,
    /// Whether a person confirms each run.
    pub(super) confirm: Setting<bool>,
    /// Where a run writes its figures; see [`Settings::metrics_file`].
    pub(super) metrics_file: Setting<Option<PathBuf>>,
    pub(super) endpoints: BTreeMap<Operation, Setting<Mapping>>,
    pub(super) rate: Setting<Rate>,
    pub(super) concurrency: Setting<usize>,
    pub(super) daily_quota: Setting<Option<u64>>,
    pub(super) reserve: Setting<u64>,
    pub(super) on_quota: Setting<OnQuota>,
    pub(super) on_existing: Setting<OnExisting>,
    pub(super) in_doubt: Setting<InDoubt>,
    pub(super) audit: Setting<Audit>,
    pub(super) settle: Setting<Duration>,
    pub(super) request_timeout: Setting<Duration>,
    pub(super) notify: NotifySettings,
    pub(super) window: WindowSettings,
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
        let layers = Layers { environment, profile: file };
        let account = match purpose {
            Purpose::Rehearsal(rehearsed) => Some(rehearsal_account(rehearsed)),
            Purpose::Service | Purpose::Reckoning => account(&layers, purpose)?,
        };
        let local = account.as_ref().is_some_and(|account| is_loopback(&account.base_url.value));
        let rehearsal = matches!(purpose, Purpose::Rehearsal(_));
        let number = |known, typed| {
            let missing = || Error::internal("a setting has neither value nor default");
            layers.number(known, typed)?.ok_or_else(missing)
        };
        let settle = layers.number_from(local.then_some(1), &SETTLE, None)?;
        let settle = settle.filter(|settle| !rehearsal || settle.origin != Origin::Default);
        let settings = Self {
            profile: profile.map(|profile| (profile.name.clone(), profile.file.clone())),
            endpoints: endpoints(file),
            paths: if rehearsal {
                Setting::of_rehearsal(Paths::Assumed)
            } else {
                layers.word(&PATHS, None)?
            },
            ca_file: layers.path(&CA_FILE),
            // A rehearsal does not replace the figures of the work itself.
            metrics_file: match rehearsal {
                true => Setting::of_rehearsal(None),
                false => layers.path(&METRICS_FILE),
            },
            proxy: layers.word(&PROXY, None)?,
            confirm: if rehearsal { Setting::of_rehearsal(false) } else { layers.flag(&CONFIRM)? },
            rate: layers.rate(flags.rate.as_deref(), local)?,
            concurrency: number(&CONCURRENCY, flags.concurrency.as_deref())?
                .map(|number| usize::try_from(number).unwrap_or(usize::MAX)),
            daily_quota: match layers.number(&DAILY_QUOTA, flags.daily_quota.as_deref())? {
                Some(quota) => quota.map(Some),
                None => Setting::default_of(None),
            },
            reserve: number(&RESERVE, flags.reserve.as_deref())?,
            on_quota: layers.word(&ON_QUOTA, flags.on_quota.map(OnQuota::word))?,
            on_existing: layers.word(&ON_EXISTING, flags.on_existing.map(OnExisting::word))?,
            in_doubt: layers.word(&IN_DOUBT, flags.in_doubt.map(InDoubt::word))?,
            audit: layers.word(&AUDIT, flags.audit.map(Audit::word))?,
            settle: match settle {
                Some(settle) => settle.map(Duration::from_secs),
                None => Setting::of_rehearsal(REHEARSAL_SETTLE),
            },
            request_timeout: number(&REQUEST_TIMEOUT, None)?.map(Duration::from_secs),
            notify: NotifySettings::settle(&layers)?,
            window: WindowSettings::settle(&layers)?,
            account,
        };
        settings.check_reserve()?;
        settings.endpoints()?;
        Ok(settings)
    }

    /// Where a run writes its figures. It is known even where the other settings cannot be used.
    pub(super) fn metrics_file(environment: &Environment, profile: Option<&Profile>) -> Option<PathBuf> {
        let nothing = Profile::default();
        let layers = Layers { environment, profile: profile.unwrap_or(&nothing) };
        layers.path(&METRICS_FILE).value
    }

    /// Where every available operation is found.
    pub(super) fn endpoints(&self) -> Result<Endpoints> {
        let mapped = self.endpoints.iter().map(|(operation, setting)| (*operation, setting.value.clone()));
        Endpoints::new(self.paths.value, mapped.collect())
    }

    /// The name of the profile, for the keys to set in it.
    pub(super) fn profile_name(&self) -> &str {
        self.profile.as_ref().map_or("NAME", |(name, _)| name.as_str())
    }

    /// The keys to set in the profile for operations that are not available. The assumed paths help where one has no path.
    pub(super) fn to_map(&self, operations: &[Operation]) -> Advice {
        let profile = self.profile_name();
        let keys: Vec<String> =
            operations.iter().map(|operation| format!("[profile.{profile}.endpoints.{operation}]")).collect();
        let known = self.endpoints();
        let has_path =
            |operation: &Operation| known.as_ref().is_ok_and(|known| known.get(*operation).is_some());
        let or = if operations.iter().all(has_path) { "" } else { ", or paths = \"assumed\"" };
        Advice::from(format!("set method and path in {}{or}", keys.join(", ")))
    }

    /// A client for the account; reads the secret. Nothing is sent yet.
    pub(super) fn client(&self, clock: Arc<dyn Clock>) -> Result<Client> {
        let lacking =
            || Error::internal("the settings of a command that talks to the service lack an account");
        let account = self.account.as_ref().ok_or_else(lacking)?;
        let config = Config {
            base_url: account.base_url.value.clone(),
            client_id: account.client_id.value.clone(),
            client_secret: account.secret.as_ref().ok_or_else(lacking)?.read()?,
            endpoints: self.endpoints()?,
            request_timeout: self.request_timeout.value,
            connect_timeout: CONNECT_TIMEOUT.min(self.request_timeout.value),
            proxy: self.proxy.value,
            ca_file: self.ca_file.value.clone(),
        };
        Client::new(config, clock)
    }

    /// Every setting with its value and origin, in the order of the settings file. Of the secret, only the origin.
    pub(super) fn listed(&self) -> Vec<(String, String, String)> {
        let mut rows = Vec::new();
        let mut put = |name: &str, value: String, origin: &dyn fmt::Display| {
            rows.push((name.to_owned(), value, origin.to_string()));
        };
        if let Some(account) = &self.account {
            put("base_url", account.base_url.value.to_string(), &account.base_url.origin);
            put("client_id", account.client_id.value.clone(), &account.client_id.origin);
            if let Some(secret) = &account.secret {
                put("client_secret", "(not shown)".to_owned(), &secret.words());
            }
        }
        put("paths", self.paths.value.to_string(), &self.paths.origin);
        let shown = |file: &Option<PathBuf>| {
            file.as_ref().map_or_else(|| "none".to_owned(), |file| file.display().to_string())
        };
        put("ca_file", shown(&self.ca_file.value), &self.ca_file.origin);
        put("proxy", self.proxy.value.to_string(), &self.proxy.origin);
        put("confirm", self.confirm.value.to_string(), &self.confirm.origin);
        put("metrics_file", shown(&self.metrics_file.value), &self.metrics_file.origin);
        let rate = match self.rate.value {
            Rate::PerSecond(rate) => rate.to_string(),
            Rate::Unlimited => "unlimited".to_owned(),
        };
        put("rate", rate, &self.rate.origin);
        put("concurrency", self.concurrency.value.to_string(), &self.concurrency.origin);
        let quota = self.daily_quota.value.map_or_else(|| "learned".to_owned(), |quota| quota.to_string());
        put("daily_quota", quota, &self.daily_quota.origin);
        put("reserve", self.reserve.value.to_string(), &self.reserve.origin);
        put("on_quota", self.on_quota.value.to_string(), &self.on_quota.origin);
        put("on_existing", self.on_existing.value.to_string(), &self.on_existing.origin);
        put("in_doubt", self.in_doubt.value.to_string(), &self.in_doubt.origin);
        put("audit", self.audit.value.to_string(), &self.audit.origin);
        put("settle_seconds", self.settle.value.as_secs().to_string(), &self.settle.origin);
        let timeout = self.request_timeout.value.as_secs().to_string();
        put("request_timeout_seconds", timeout, &self.request_timeout.origin);
        self.window.listed(&mut put);
        self.notify.listed(&mut put);
        for (operation, endpoint) in &self.endpoints {
            let value = format!("{} {}", endpoint.value.method.as_str(), endpoint.value.path);
            put(&format!("endpoints.{operation}"), value, &endpoint.origin);
        }
        rows
    }

    fn check_reserve(&self) -> Result<()> {
        match self.daily_quota.value {
            Some(quota) if self.reserve.value >= quota => Err(Error::usage(format!(
                "reserve ({}, {}) must be less than daily_quota ({quota}, {}): nothing would be left to create with",
                self.reserve.value, self.reserve.origin, self.daily_quota.origin
            ))
            .hint("lower reserve or raise daily_quota")),
            None if self.reserve.value > 0 => Err(Error::usage(format!(
                "reserve ({}, {}) leaves a part of each day's creations to others, and daily_quota is not set: what is left of \
                 a quota that is not known cannot be known either",
                self.reserve.value, self.reserve.origin
            ))
            .hint("set daily_quota beside it, or set reserve to 0")),
            Some(_) | None => Ok(()),
        }
    }
}

fn endpoints(file: &Profile) -> BTreeMap<Operation, Setting<Mapping>> {
    let setting = |mapped: &Located<Mapping>| Setting {
        value: mapped.value.clone(),
        origin: Origin::File(file.file.clone(), mapped.line),
    };
    file.endpoints.iter().map(|(operation, mapped)| (*operation, setting(mapped))).collect()
}
