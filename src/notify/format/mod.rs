//! The forms in which a notification is delivered, and the lines that those for people share.

pub(super) mod mail;
mod slack;
mod teams;
pub(super) mod variables;

use super::Notification;
use crate::model::policy::choice;

choice! {
    /// The form of what a webhook gets.
    #[derive(Default)]
    Format {
        /// All facts, for programs.
        [default] Json = "json",
        /// A message of Slack.
        Slack = "slack",
        /// A card of Teams.
        Teams = "teams",
    }
}

impl Format {
    /// The body of the request.
    pub fn body(self, notification: &Notification) -> String {
        match self {
            Self::Json => notification.json(),
            Self::Slack => slack::body(notification),
            Self::Teams => teams::body(notification),
        }
    }
}

/// The notification in one line: which profile, and what has changed.
fn headline(notification: &Notification) -> String {
    let profile = notification.profile.as_ref().map_or_else(String::new, |profile| format!(" {profile}"));
    format!("fleetload{profile}: {}", notification.text)
}

/// What a person reads below the headline, line by line.
fn lines(notification: &Notification) -> Vec<String> {
    let Notification { needs, next, imports, counts, left_out, account, service, journal, host, .. } =
        notification;
    let mut lines: Vec<String> =
        needs.iter().map(|need| format!("{}: {}", need.words, need.command)).collect();
    if let Some(next) = next {
        lines.push(format!("Next: {next}"));
    }
    for import in imports {
        let files = import.files.join(", ");
        let label = if import.label == files { String::new() } else { format!(" '{}'", import.label) };
        let round =
            import.round_of.map_or_else(String::new, |of| format!(", round {} of import {of}", import.round));
        lines.push(format!("Import {}{label} of {files}{round}: {} rows", import.import, import.rows));
    }
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(state, count)| format!("{count} {state}"))
        .chain((*left_out > 0).then(|| format!("{left_out} not imported")))
        .collect();
    if !counts.is_empty() {
        lines.push(format!("Rows: {}", counts.join(", ")));
    }
    if let (Some(account), Some(service)) = (account, service) {
        lines.push(format!("Account {account} at {service}"));
    }
    let host = host.as_ref().map_or_else(String::new, |host| format!(" on {host}"));
    lines.push(format!("Journal {journal}{host}"));
    lines
}
