//! Options that several commands share: rehearsal, settings for one command, and how files are read.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::PossibleValue;

use crate::advice::quoted;
use crate::cli::settings::reading_options::ReadingOptions;
use crate::model::policy::{Audit, InDoubt, OnClose, OnExisting, OnQuota};

/// Rehearsal against the simulated service.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Rehearsal")]
pub(in crate::cli) struct RehearsalArgs {
    /// Use a simulated service inside fleetload instead of a real one; needs no profile
    #[arg(long)]
    pub(in crate::cli) sandbox: bool,

    /// Scenario file (TOML): latency, quota and faults to simulate
    #[arg(long, value_name = "FILE", requires = "sandbox")]
    pub(in crate::cli) scenario: Option<PathBuf>,
}

/// Takes one of the words of a choice, which the help lists with their meanings.
macro_rules! words {
    ($choice:ty) => {
        clap::builder::TypedValueParser::try_map(
            clap::builder::PossibleValuesParser::new($crate::cli::args::options::possible(
                <$choice>::WORDS,
                <$choice>::MEANINGS,
            )),
            |word| word.parse::<$choice>(),
        )
    };
}
pub(super) use words;

pub(super) fn possible(
    words: &'static [&'static str],
    meanings: &'static [&'static str],
) -> Vec<PossibleValue> {
    let help = |meaning: &'static str| meaning.trim().trim_end_matches('.');
    words.iter().zip(meanings).map(|(word, meaning)| PossibleValue::new(word).help(help(meaning))).collect()
}

/// Settings of the profile that may be set for one command.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "Settings, for this command only")]
pub(in crate::cli) struct Overrides {
    /// Requests a second for each operation, at most 100
    #[arg(long, value_name = "N")]
    pub(in crate::cli) rate: Option<String>,

    /// Requests under way at once, 1 to 1024
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(in crate::cli) concurrency: Option<String>,

    /// Creations allowed a day; without it fleetload learns the service's limit
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(in crate::cli) daily_quota: Option<String>,

    /// Creations a day to leave for others
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(in crate::cli) reserve: Option<String>,

    /// When the day's quota is spent: wait for the next day, or exit with 5
    #[arg(long, value_name = "WHAT", value_parser = words!(OnQuota))]
    pub(in crate::cli) on_quota: Option<OnQuota>,

    /// If a record with the row's key already exists: adopt it, skip the row, or reject the row (`fail`)
    #[arg(long, value_name = "WHAT", value_parser = words!(OnExisting), hide_short_help = true)]
    pub(in crate::cli) on_existing: Option<OnExisting>,

    /// If it is unknown whether a record was created: settle it by look-ups, or put the row on hold
    #[arg(long, value_name = "WHAT", value_parser = words!(InDoubt), hide_short_help = true)]
    pub(in crate::cli) in_doubt: Option<InDoubt>,

    /// Records and changes to verify before the run ends: all, those that were ever in doubt, or none
    #[arg(long, value_name = "WHAT", value_parser = words!(Audit), hide_short_help = true)]
    pub(in crate::cli) audit: Option<Audit>,
}

impl Overrides {
    /// The options as they were typed, each with a space before it.
    pub(in crate::cli) fn command_line(&self) -> String {
        let Self { rate, concurrency, daily_quota, reserve, on_quota, on_existing, in_doubt, audit } = self;
        typed_again(&[
            ("--rate", rate.as_deref()),
            ("--concurrency", concurrency.as_deref()),
            ("--daily-quota", daily_quota.as_deref()),
            ("--reserve", reserve.as_deref()),
            ("--on-quota", on_quota.map(OnQuota::word)),
            ("--on-existing", on_existing.map(OnExisting::word)),
            ("--in-doubt", in_doubt.map(InDoubt::word)),
            ("--audit", audit.map(Audit::word)),
        ])
    }
}

/// Options with their values, each with a space before it; those that were not typed are left out.
fn typed_again(options: &[(&str, Option<&str>)]) -> String {
    let typed = options.iter().filter_map(|(option, value)| Some((option, (*value)?)));
    typed.map(|(option, value)| format!(" {option} {}", quoted(value))).collect()
}

/// When a run may send.
#[derive(Debug, Clone, Default, ClapArgs)]
#[command(next_help_heading = "When it may send")]
pub(in crate::cli) struct WindowArgs {
    /// Send only in this window: `22:00-06:00`, or with days `"Mon-Fri 22:00-06:00"`; repeat it for several. In place of
    /// those of the profile
    #[arg(long, value_name = "WINDOW")]
    pub(in crate::cli) between: Vec<String>,

    /// The time zone of --between, --at and --until, such as `Pacific/Auckland`; without it, that of this machine.
    /// Windows of the profile keep the zone that the profile names
    #[arg(long, value_name = "ZONE")]
    pub(in crate::cli) zone: Option<String>,

    /// Outside the window: wait until it opens, or exit with 5
    #[arg(long, value_name = "WHAT", value_parser = words!(OnClose))]
    pub(in crate::cli) on_close: Option<OnClose>,
}

impl WindowArgs {
    /// The options as they were typed, each with a space before it.
    pub(in crate::cli) fn command_line(&self) -> String {
        let Self { between, zone, on_close } = self;
        let windows: String =
            between.iter().map(|window| typed_again(&[("--between", Some(window))])).collect();
        windows + &typed_again(&[("--zone", zone.as_deref()), ("--on-close", on_close.map(OnClose::word))])
    }
}

/// What was typed about how files are read: the same flags for every command that reads some.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(in crate::cli) struct ReadingArgs {
    #[command(flatten)]
    pub(in crate::cli) typed: ReadingOptions,

    /// Use the reading options that the profile keeps for this customer: [profile.NAME.customers.CUSTOMER]
    #[arg(long, value_name = "CUSTOMER", env = "FLEETLOAD_CUSTOMER", help_heading = "Which sheets and rows")]
    pub(in crate::cli) customer: Option<String>,

    /// Hide the values of the sheets in findings and show only their kind and length, for logs that are shared
    #[arg(long, help_heading = "Findings", hide_short_help = true)]
    pub(in crate::cli) redact: bool,
}

impl ReadingArgs {
    /// Whether nothing was typed.
    pub(in crate::cli) fn is_empty(&self) -> bool {
        self.typed.is_empty() && self.customer.is_none() && !self.redact
    }
}
