//! Flags over environment over file: the highest of the three that says something about a setting, with its origin.
//!
//! Which settings there are, and their defaults, is left to [`crate::cli::settings`].

use std::path::Path;

use super::bounds::{Whole, within};
use super::choice::{Choice, nearest};
use super::environment::Environment;
use super::section::Located;
use super::{Origin, Setting, wrong};
use crate::error::Result;

/// What a setting that is one of a few words is called in the file, in the environment and on the command line;
/// blank where there is no such option.
pub(super) struct Word {
    pub(in crate::cli) key: &'static str,
    pub(in crate::cli) variable: &'static str,
    pub(in crate::cli) option: &'static str,
}

pub(super) const PATHS: Word = Word { key: "paths", variable: "FLEETLOAD_PATHS", option: "" };
pub(super) const PROXY: Word = Word { key: "proxy", variable: "FLEETLOAD_PROXY", option: "" };
pub(super) const ON_QUOTA: Word =
    Word { key: "on_quota", variable: "FLEETLOAD_ON_QUOTA", option: "--on-quota" };
pub(super) const ON_EXISTING: Word =
    Word { key: "on_existing", variable: "FLEETLOAD_ON_EXISTING", option: "--on-existing" };
pub(super) const IN_DOUBT: Word =
    Word { key: "in_doubt", variable: "FLEETLOAD_IN_DOUBT", option: "--in-doubt" };
pub(super) const AUDIT: Word = Word { key: "audit", variable: "FLEETLOAD_AUDIT", option: "--audit" };

/// What some layer says of a setting, if any does.
pub(in crate::cli) struct Found<T>(Option<Setting<T>>);

impl<T> Found<T> {
    pub(in crate::cli) fn map<U>(self, change: impl FnOnce(T) -> U) -> Found<U> {
        Found(self.0.map(|setting| setting.map(change)))
    }

    /// The same, or the default.
    pub(in crate::cli) fn or(self, default: T) -> Setting<T> {
        self.or_setting(Setting::default_of(default))
    }

    /// The same, or what stands by itself where no layer says anything.
    pub(super) fn or_setting(self, otherwise: Setting<T>) -> Setting<T> {
        self.0.unwrap_or(otherwise)
    }
}

/// Environment and file, below the flags.
pub(super) struct Layers<'a> {
    pub(in crate::cli) environment: &'a Environment,
    pub(in crate::cli) file: &'a Path,
}

impl Layers<'_> {
    /// The text of the highest layer that has one.
    pub(in crate::cli) fn text(
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
    pub(in crate::cli) fn number(
        &self,
        named: &Whole,
        flag: Option<&str>,
        file: Option<&Located<String>>,
    ) -> Result<Found<u64>> {
        let text = self.text(flag.map(|value| (named.option, value)), named.variable, file);
        let number = text.map(|text| within(&text, named)).transpose()?;
        Ok(Found(number))
    }

    /// The word of the highest layer that has one.
    pub(in crate::cli) fn word<C: Choice>(
        &self,
        named: &Word,
        flag: Option<C>,
        file: Option<&Located<C>>,
    ) -> Result<Found<C>> {
        if let Some(value) = flag {
            return Ok(Found(Some(Setting { value, origin: Origin::Flag(named.option) })));
        }
        let Some(text) = self.variable(named.variable) else {
            return Ok(Found(file.map(|located| self.of_file(located))));
        };
        if let Some(value) = C::from_word(&text.value) {
            return Ok(Found(Some(Setting { value, origin: text.origin })));
        }
        let words: Vec<_> = C::WORDS.iter().map(|(word, _)| *word).collect();
        let error = wrong(&text, named.key, &format!("must be {}", words.join(" or ")));
        Err(match nearest(&text.value, words) {
            Some(word) => error.hint(format!("did you mean {}={word}?", named.variable)),
            None => error,
        })
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
