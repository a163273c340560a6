//! The options of the commands that look after the journal, with the examples of their help.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;

/// `fleetload backup`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Backup {
    /// The file to write, or with --check the backup to check
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,

    /// Replace the file if it exists; the journal itself is never replaced
    #[arg(long, conflicts_with = "check")]
    pub(in crate::cli) force: bool,

    /// Write nothing: open the backup, check every page, and show what it holds
    #[arg(long)]
    pub(in crate::cli) check: bool,
}

pub(super) const BACKUP_EXAMPLES: &str = "\
Examples:
  fleetload backup /mnt/backup/fleetload-monday.db
  fleetload backup /mnt/backup/fleetload.db --force    replace the one of the day before
  fleetload backup --check /mnt/backup/fleetload.db    is it whole, and of when?

The backup is the journal of one moment in one file, readable by you alone. It gets its name when every page of it has
been checked. A run may be in progress meanwhile. To restore a backup, see docs/journal.md: rows may have been sent after
it was taken, and the next run stops and says so.";

/// `fleetload prune`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Prune {
    /// How old what is removed must be: days or weeks, at least 7d
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(in crate::cli) older_than: Duration,

    /// Remove nothing: list what would be removed
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

pub(super) const PRUNE_EXAMPLES: &str = "\
Examples:
  fleetload prune --older-than 90d --dry-run    what would be removed?
  fleetload prune --older-than 90d              in a nightly job, after the run

Removes the reports of finished imports that are older, the rows of their sheets and the requests that were sent for them,
and notifications, runs and days of the quota that are as old. Rows are still recognised when they are imported again.
An import stays as long as a row of it waits, is on hold or in doubt, is to be corrected, or has a finding that nobody
has reviewed; the newest import always stays. Exit code 5 if a run is in progress: nothing is removed then.";

/// Seconds of a day.
const DAY: u64 = 86_400;

/// Everything younger is in use.
const YOUNGEST_DAYS: u64 = 7;

/// A number of days (`90d`) or weeks (`12w`).
fn age(text: &str) -> Result<Duration, String> {
    let days = match text.trim().split_at_checked(text.trim().len().saturating_sub(1)) {
        Some((number, "d")) => number.parse::<u64>().ok(),
        Some((number, "w")) => number.parse::<u64>().ok().and_then(|weeks| weeks.checked_mul(7)),
        _ => None,
    };
    let days = days.filter(|days| *days <= 100_000).ok_or("write days or weeks: 90d, 12w")?;
    if days < YOUNGEST_DAYS {
        return Err(format!("at least {YOUNGEST_DAYS}d: what is younger is in use"));
    }
    Ok(Duration::from_secs(days * DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_of_days_or_weeks() {
        let table = [
            ("90d", Some(90)),
            ("7d", Some(7)),
            ("2w", Some(14)),
            ("6d", None),
            ("0w", None),
            ("90", None),
            ("d", None),
            ("", None),
            ("-9d", None),
            ("1.5w", None),
            ("3 months", None),
            ("99999999999999999999d", None),
            ("9999999999999999999w", None),
        ];
        for (text, days) in table {
            let expected = days.map(|days| Duration::from_secs(days * DAY));
            assert_eq!(age(text).ok(), expected, "{text}");
        }
    }
}
