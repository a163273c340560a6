//! A notification: a change of how a run stands, in words and with its facts. It holds counts, codes, names of files and
//! numbers of imports, and no value of a row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::state::JobState;

/// What has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A run finished, and every row is done.
    Finished,
    /// A run finished, and rows failed, were skipped or differ.
    FailedRows,
    /// A row is on hold, or verification found something: a person must decide.
    NeedsDecision,
    /// The quota of the day is spent.
    Parked,
    /// A sheet or an operation is paused because the service rejects it or fails.
    Paused,
    /// A run ended with work left.
    Stopped,
    /// The service cannot be reached.
    Unreachable,
    /// Nothing: a test whether notifications arrive.
    Test,
}

impl Event {
    /// Those that a profile can choose, in the order of the docs.
    pub const ALL: [Self; 7] = [
        Self::Finished,
        Self::FailedRows,
        Self::NeedsDecision,
        Self::Parked,
        Self::Paused,
        Self::Stopped,
        Self::Unreachable,
    ];

    /// The written form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::FailedRows => "failed-rows",
            Self::NeedsDecision => "needs-decision",
            Self::Parked => "parked",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
            Self::Unreachable => "unreachable",
            Self::Test => "test",
        }
    }

    /// The one with this word that a profile can choose.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == word)
    }
}

/// What is delivered, as JSON: the fields are those of `docs/notifications.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Notification {
    /// The version of this form.
    pub version: u32,
    /// Its own: the same however often it is delivered.
    pub id: Uuid,
    /// What has changed.
    pub event: Event,
    /// When it was noted (RFC 3339).
    pub at: String,
    /// What the terminal says of it, in one sentence.
    pub text: String,
    /// The command to type next.
    pub next: Option<String>,
    /// What needs a person, the gravest first.
    pub needs: Vec<NeedFacts>,
    /// `state` of the table of endings.
    pub state: String,
    /// `reason` of the table of endings; of a run that goes on only where it is parked.
    pub reason: Option<String>,
    /// The exit code of the run; nothing while it goes on.
    pub exit_code: Option<u8>,
    /// When creations go on that wait for another day (RFC 3339).
    pub resumes_at: Option<String>,
    /// The imports that it is about.
    pub imports: Vec<ImportFacts>,
    /// The rows in each state, of the import if `imports` has one, otherwise of the journal: those that were imported.
    pub counts: BTreeMap<JobState, u64>,
    /// Rows of the same that were not imported because of errors, or with what they belong to, and that did not come again.
    #[serde(default)]
    pub left_out: u64,
    /// The name of the profile.
    pub profile: Option<String>,
    /// The client id.
    pub account: Option<String>,
    /// The base address of the service.
    pub service: Option<String>,
    /// The journal, with its folder.
    pub journal: String,
    /// The machine.
    pub host: Option<String>,
}

impl Notification {
    /// The present version of its form.
    pub const VERSION: u32 = 1;

    /// As JSON.
    pub fn json(&self) -> String {
        // It has no part that cannot be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Something that needs a person, and the command for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NeedFacts {
    /// What it is and what to do.
    pub words: String,
    /// The command to type.
    pub command: String,
}

/// One import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ImportFacts {
    /// Its number.
    pub import: i64,
    /// What it is called: its label, else its files.
    pub label: String,
    /// Which round of its rows it is, counted from 1.
    pub round: u32,
    /// The import of the first round, where it is a later one.
    pub round_of: Option<i64>,
    /// Its files, without their folders.
    pub files: Vec<String>,
    /// How many rows it has.
    pub rows: u64,
}

/// A notification that is to be told unless the same change has been.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Which change it is.
    pub key: String,
    /// What is reported of it.
    pub notification: Notification,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One whose every name is out to do harm.
    pub(in crate::notify) fn hostile() -> Notification {
        Notification {
            version: Notification::VERSION,
            id: Uuid::from_u128(0x6f1c_9c8e_3b0a_4d55_9f5a_0c8f_0d3a_2b11),
            event: Event::NeedsDecision,
            at: "2026-03-01T02:03:04Z".to_owned(),
            text: "finished except for 2 rows that need your decision: <!channel> & *Bold* [x](http://e)\r\nBcc: all"
                .to_owned(),
            next: Some("fleetload run".to_owned()),
            needs: vec![NeedFacts {
                words: "2 rows need your decision: check the service first".to_owned(),
                command: "fleetload resolve".to_owned(),
            }],
            state: "held".to_owned(),
            reason: Some("rows-held".to_owned()),
            exit_code: Some(8),
            resumes_at: None,
            imports: vec![ImportFacts {
                import: 3,
                label: "<@U2> & `North`".to_owned(),
                round: 2,
                round_of: Some(1),
                files: vec!["<@U1> `x`.csv".to_owned(), "Łódź\u{202e}\".xlsx".to_owned()],
                rows: 12,
            }],
            counts: [(JobState::Held, 2), (JobState::Created, 9)].into(),
            left_out: 1,
            profile: Some("acme".to_owned()),
            account: Some("onboarding".to_owned()),
            service: Some("https://provisioning.example".to_owned()),
            journal: "/srv/fleetload/fleetload.db".to_owned(),
            host: Some("night-1".to_owned()),
        }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let text = hostile().json();
        assert_eq!(serde_json::from_str::<Notification>(&text).unwrap(), hostile());
        insta::assert_snapshot!("json", text);
    }

    #[test]
    fn the_documentation_has_every_field_and_every_event() {
        let page = include_str!("../../docs/notifications.md");
        let example = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let read: Notification = serde_json::from_str(example).unwrap();
        assert_eq!(format!("{}\n", serde_json::to_string_pretty(&read).unwrap()), example);
        for event in Event::ALL {
            assert!(page.contains(&format!("| `{}` |", event.as_str())), "{event:?}");
        }
        for (name, _) in crate::notify::format::variables::variables(&hostile()) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn every_event_has_a_word_that_leads_back_to_it() {
        for event in Event::ALL {
            assert_eq!(Event::parse(event.as_str()), Some(event));
            assert_eq!(serde_json::to_value(event).unwrap(), event.as_str());
        }
        assert_eq!(Event::parse("test"), None);
    }
}
