//! The options of `fleetload watch`, with the examples of its help.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;

use super::options::{Overrides, ReadingArgs, RehearsalArgs};

/// `fleetload watch`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Watch {
    /// The folder that sheets are put into
    #[arg(value_name = "FOLDER")]
    pub(in crate::cli) folder: PathBuf,

    /// From one look to the next: seconds, or with a unit (10s, 2m)
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = every)]
    pub(in crate::cli) every: Duration,

    /// How long a file must not have changed before it counts as whole
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(in crate::cli) at_rest: Duration,

    /// Look once, run the files that are whole, and end: for cron
    #[arg(long)]
    pub(in crate::cli) once: bool,

    /// Do not ask, where the profile has confirm = true: nobody can be asked here
    #[arg(long)]
    pub(in crate::cli) yes: bool,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,
    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
    #[command(flatten)]
    pub(in crate::cli) overrides: Overrides,
}

pub(super) const WATCH_EXAMPLES: &str = "\
Examples:
  fleetload watch /srv/inbox
  fleetload watch /srv/inbox --at-rest 60s    for files that arrive slowly
  fleetload watch /srv/inbox --once --quiet   from cron, every quarter of an hour

Each file is checked, imported and run as with `fleetload run FILE`, each content once. Then it is in FOLDER/done, or in
FOLDER/failed if it was not imported or rows of it need you, in a folder of its own with its reports and its log. While
it is at work, or its rows wait, it is in FOLDER/working. Links, hidden files and files that are not spreadsheets are left
alone. One line is printed for each file. Ctrl-C or a kill ends it after the requests under way; the next start goes on.
With --once the exit code is that of the worst file, otherwise 5 after a signal.";

/// A day: nobody waits longer.
const LONGEST: u64 = 86_400;

/// A time between two looks: never none.
fn every(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Duration::ZERO => Err("at least 1s".to_owned()),
        time => Ok(time),
    }
}

/// Seconds (`10`, `10s`) or minutes (`2m`).
fn time(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60),
        None => (text.strip_suffix('s').unwrap_or(text), 1),
    };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    seconds
        .filter(|seconds| *seconds <= LONGEST)
        .map(Duration::from_secs)
        .ok_or_else(|| "write seconds or minutes, at most a day: 10s, 2m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_of_seconds_or_minutes() {
        let table = [
            ("10s", Some(10)),
            ("10", Some(10)),
            ("2m", Some(120)),
            ("0", Some(0)),
            ("1441m", None),
            ("-1s", None),
            ("1.5s", None),
            ("s", None),
            ("", None),
            ("10h", None),
        ];
        for (text, seconds) in table {
            assert_eq!(time(text).ok(), seconds.map(Duration::from_secs), "{text}");
        }
        assert!(every("0s").is_err() && every("1").is_ok());
    }
}
