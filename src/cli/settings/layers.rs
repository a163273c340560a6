//! The one way to the value of a setting: the highest of option, environment and settings file that says something about it,
//! with its origin, checked against the setting's bounds or words.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::environment::Environment;
use super::profile::Profile;
use super::setting::{RATE, SettingSpec, UNLIMITED, ValueForm, nearest};
use crate::error::{Error, Result};
use crate::service::Rate;

/// The service refuses more requests a second than this, for each account and operation (specification 8).
const HIGHEST_RATE: f64 = 100.0;
/// Slower than one request in a hundred seconds is most likely a mistake in the unit.
const LOWEST_RATE: f64 = 0.01;
/// Leaves room for delays on the way to vary: a sliding second at the service stays within 100.
pub(super) const DEFAULT_RATE: f64 = 98.5;
/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Origin {
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
pub(in crate::cli) struct Setting<T> {
    pub(in crate::cli) value: T,
    pub(in crate::cli) origin: Origin,
}

impl<T> Setting<T> {
    pub(super) fn default_of(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }

    pub(super) fn of_rehearsal(value: T) -> Self {
        Self { value, origin: Origin::Rehearsal }
    }

    /// The same value in another form.
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), origin: self.origin }
    }
}

/// A usage error about one setting, with its origin; the value is left to the caller to show.
pub(super) fn wrong(setting: &Setting<String>, key: &str, rule: &str) -> Error {
    Error::usage(format!("{}: {key} {rule}", setting.origin))
}

/// Environment and settings file, below the options.
pub(super) struct Layers<'a> {
    pub(super) environment: &'a Environment,
    pub(super) profile: &'a Profile,
}

impl Layers<'_> {
    /// The text of the highest layer that has one.
    pub(super) fn text(&self, known: &'static SettingSpec, typed: Option<&str>) -> Option<Setting<String>> {
        let setting = |value: &str, origin| Setting { value: value.to_owned(), origin };
        typed
            .map(|value| setting(value, Origin::Flag(known.option)))
            .or_else(|| {
                let value = self.environment.get(known.variable)?;
                Some(setting(value, Origin::Environment(known.variable)))
            })
            .or_else(|| {
                let located = self.profile.value(known)?;
                Some(setting(&located.value, Origin::File(self.profile.file.clone(), located.line)))
            })
    }

    /// The file of the highest layer that names one. That of a settings file is named from the folder of that file.
    pub(super) fn path(&self, known: &'static SettingSpec) -> Setting<Option<PathBuf>> {
        let Some(named) = self.text(known, None) else { return Setting::default_of(None) };
        let folder = match &named.origin {
            Origin::File(file, _) => file.parent().map(Path::to_owned),
            Origin::Flag(_) | Origin::Environment(_) | Origin::Rehearsal | Origin::Default => None,
        };
        named.map(|path| Some(folder.map_or_else(|| PathBuf::from(&path), |folder| folder.join(&path))))
    }

    /// The whole number of the highest layer that has one, which must be within its bounds; else the default, if there
    /// is one.
    pub(super) fn number(
        &self,
        known: &'static SettingSpec,
        typed: Option<&str>,
    ) -> Result<Option<Setting<u64>>> {
        self.number_from(None, known, typed)
    }

    /// The same, from another lower bound on.
    pub(super) fn number_from(
        &self,
        least: Option<u64>,
        known: &'static SettingSpec,
        typed: Option<&str>,
    ) -> Result<Option<Setting<u64>>> {
        let ValueForm::Whole(range, unit, default) = &known.form else {
            return Err(Error::internal(format!("the setting {} is no whole number", known.key)));
        };
        let Some(text) = self.text(known, typed) else { return Ok(default.map(Setting::default_of)) };
        let range = least.unwrap_or(*range.start())..=*range.end();
        match text.value.parse::<u64>() {
            Ok(number) if range.contains(&number) => Ok(Some(text.map(|_| number))),
            Ok(_) | Err(_) => {
                let rule =
                    format!("must be a whole number of {unit} from {} to {}", range.start(), range.end());
                Err(wrong(&text, known.key, &rule))
            }
        }
    }

    /// Whether the highest layer that says something says yes; no where none does.
    pub(super) fn flag(&self, known: &'static SettingSpec) -> Result<Setting<bool>> {
        let Some(text) = self.text(known, None) else { return Ok(Setting::default_of(false)) };
        match text.value.parse() {
            Ok(value) => Ok(text.map(|_| value)),
            Err(_) => Err(wrong(&text, known.key, "must be true or false")),
        }
    }

    /// The value of the word of the highest layer that has one, else the default. Files and options have been checked.
    pub(super) fn word<T: FromStr + Default>(
        &self,
        known: &'static SettingSpec,
        typed: Option<&str>,
    ) -> Result<Setting<T>> {
        let ValueForm::Word(words) = known.form else {
            return Err(Error::internal(format!("the setting {} is no word", known.key)));
        };
        let Some(text) = self.text(known, typed) else { return Ok(Setting::default_of(T::default())) };
        if let Ok(value) = text.value.parse() {
            return Ok(text.map(|_| value));
        }
        let error = wrong(&text, known.key, &format!("must be {}", words.join(" or ")));
        Err(match nearest(&text.value, words.iter().copied()) {
            Some(word) => error.hint(format!("did you mean {}={word}?", known.variable)),
            None => error,
        })
    }

    /// The pace; no limit at all only towards this machine itself.
    pub(super) fn rate(&self, typed: Option<&str>, local: bool) -> Result<Setting<Rate>> {
        let Some(text) = self.text(&RATE, typed) else {
            return Ok(Setting::default_of(Rate::PerSecond(DEFAULT_RATE)));
        };
        if text.value == UNLIMITED {
            return if local {
                Ok(text.map(|_| Rate::Unlimited))
            } else {
                Err(wrong(&text, "rate", "may be \"unlimited\" only towards this machine itself").hint(
                    "the service allows 100 requests a second for each operation; leave rate out for 98.5",
                ))
            };
        }
        let number: Option<f64> = text.value.parse().ok().filter(|number: &f64| number.is_finite());
        match number {
            Some(number) if number > HIGHEST_RATE => {
                Err(wrong(&text, "rate", "is above 100 requests a second, which the service refuses")
                    .hint("leave rate out for 98.5, which uses the limit as far as it safely goes"))
            }
            Some(number) if number >= LOWEST_RATE => Ok(text.map(|_| Rate::PerSecond(number))),
            Some(_) | None => {
                Err(wrong(&text, "rate", "must be a number of requests a second from 0.01 to 100"))
            }
        }
    }
}
