//! The table of settings: each with its place in a profile, its environment variable, its option, and what values it can have.

use std::ops::RangeInclusive;

use crate::model::policy::{Audit, InDoubt, OnClose, OnExisting, OnQuota, Paths, Proxy};
use crate::notify::Format;

/// The pace without a limit, in a settings file and as an option.
pub(super) const UNLIMITED: &str = "unlimited";

/// Before a minute has passed, "it is not there" proves little: the service may still be at work on the request.
const SHORTEST_SETTLE: u64 = 60;
/// More creations a day than any service allows.
const MOST_CREATIONS: u64 = 1_000_000_000;

/// The table of a profile that a key stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProfileTable {
    /// The profile itself.
    Profile,
    /// Its table `limits`.
    Limits,
    /// Its table `policy`.
    Policy,
    /// Its table `notify`.
    Notify,
    /// Its table `window`.
    Window,
}

/// What values a setting can have.
#[derive(Debug)]
pub(super) enum ValueForm {
    /// Any text.
    Text,
    /// Requests a second.
    Rate,
    /// A whole number of a unit, within bounds, and the default, where there is one.
    Whole(RangeInclusive<u64>, &'static str, Option<u64>),
    /// Yes or no.
    Flag,
    /// One of a few words.
    Word(&'static [&'static str]),
}

/// A setting: where it stands in a profile, its environment variable and its option, blank where there is none.
#[derive(Debug)]
pub(super) struct SettingSpec {
    pub(super) place: ProfileTable,
    pub(super) key: &'static str,
    pub(super) variable: &'static str,
    pub(super) option: &'static str,
    pub(super) form: ValueForm,
}

/// Declares the settings, in the order of the settings file.
macro_rules! settings {
    ($($name:ident = $place:ident, $key:literal, $variable:literal, $option:literal, $form:expr;)+) => {
        $(pub(super) static $name: SettingSpec = SettingSpec {
            place: ProfileTable::$place, key: $key, variable: $variable, option: $option, form: $form,
        };)+

        /// Every setting.
        pub(super) static SETTINGS: &[&SettingSpec] = &[$(&$name),+];
    };
}

settings! {
    BASE_URL = Profile, "base_url", "FLEETLOAD_BASE_URL", "", ValueForm::Text;
    CLIENT_ID = Profile, "client_id", "FLEETLOAD_CLIENT_ID", "", ValueForm::Text;
    SECRET_FILE = Profile, "client_secret_file", "", "", ValueForm::Text;
    SECRET_COMMAND = Profile, "client_secret_command", "", "", ValueForm::Text;
    PATHS = Profile, "paths", "FLEETLOAD_PATHS", "", ValueForm::Word(Paths::WORDS);
    CA_FILE = Profile, "ca_file", "FLEETLOAD_CA_FILE", "", ValueForm::Text;
    PROXY = Profile, "proxy", "FLEETLOAD_PROXY", "", ValueForm::Word(Proxy::WORDS);
    CONFIRM = Profile, "confirm", "FLEETLOAD_CONFIRM", "", ValueForm::Flag;
    METRICS_FILE = Profile, "metrics_file", "FLEETLOAD_METRICS_FILE", "", ValueForm::Text;
    RATE = Limits, "rate", "FLEETLOAD_RATE", "--rate", ValueForm::Rate;
    CONCURRENCY = Limits, "concurrency", "FLEETLOAD_CONCURRENCY", "--concurrency",
        ValueForm::Whole(1..=1024, "requests", Some(256));
    DAILY_QUOTA = Limits, "daily_quota", "FLEETLOAD_DAILY_QUOTA", "--daily-quota",
        ValueForm::Whole(1..=MOST_CREATIONS, "creations", None);
    RESERVE = Limits, "reserve", "FLEETLOAD_RESERVE", "--reserve",
        ValueForm::Whole(0..=MOST_CREATIONS, "creations", Some(0));
    ON_QUOTA = Policy, "on_quota", "FLEETLOAD_ON_QUOTA", "--on-quota", ValueForm::Word(OnQuota::WORDS);
    ON_EXISTING = Policy, "on_existing", "FLEETLOAD_ON_EXISTING", "--on-existing",
        ValueForm::Word(OnExisting::WORDS);
    IN_DOUBT = Policy, "in_doubt", "FLEETLOAD_IN_DOUBT", "--in-doubt", ValueForm::Word(InDoubt::WORDS);
    AUDIT = Policy, "audit", "FLEETLOAD_AUDIT", "--audit", ValueForm::Word(Audit::WORDS);
    SETTLE = Policy, "settle_seconds", "FLEETLOAD_SETTLE_SECONDS", "",
        ValueForm::Whole(SHORTEST_SETTLE..=86_400, "seconds", Some(600));
    REQUEST_TIMEOUT = Policy, "request_timeout_seconds", "FLEETLOAD_REQUEST_TIMEOUT_SECONDS", "",
        ValueForm::Whole(1..=600, "seconds", Some(120));
    ZONE = Window, "zone", "", "", ValueForm::Text;
    ON_CLOSE = Window, "on_close", "FLEETLOAD_ON_CLOSE", "", ValueForm::Word(OnClose::WORDS);
    WEBHOOK = Notify, "webhook", "FLEETLOAD_NOTIFY_WEBHOOK", "", ValueForm::Text;
    FORMAT = Notify, "format", "FLEETLOAD_NOTIFY_FORMAT", "", ValueForm::Word(Format::WORDS);
    NOTIFY_SECRET_FILE = Notify, "secret_file", "", "", ValueForm::Text;
    NOTIFY_TIMEOUT = Notify, "timeout_seconds", "FLEETLOAD_NOTIFY_TIMEOUT_SECONDS", "",
        ValueForm::Whole(1..=60, "seconds", Some(10));
}

/// The known word nearest to `word`, when one is near enough to be what was meant.
pub(in crate::cli) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered_and_a_far_one_is_not() {
        let known = ["rate", "concurrency", "daily_quota", "reserve"];
        let table = [
            ("rates", Some("rate")),
            ("dailyQuota", Some("daily_quota")),
            ("Concurrency", Some("concurrency")),
            ("reserv", Some("reserve")),
            ("colour", None),
        ];
        for (word, expected) in table {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
