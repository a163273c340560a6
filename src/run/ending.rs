//! How a run ended, in words and for the journal.

use crate::ending::{End, RunEnd};
use crate::error::Result;
use crate::journal::{CanaryRow, EndOfRun, Journal};
use crate::model::amount::counted;
use crate::model::id::SheetId;
use crate::model::remaining::SheetPause;
use crate::model::time::Moment;
use crate::model::verdict::{Refusal, Verdict};
use crate::run::first_sign_in;

/// Rows of a canary that are named where it is noted how it ended.
const NAMED: usize = 3;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is left that goes on automatically. Held jobs may remain.
    Finished,
    /// The day's quota is spent, or the window is closed, and the policy is to exit.
    Parked {
        /// Which of them.
        end: End,
        /// When the rows can go on, by our clock.
        until: Moment,
        /// Why, in words.
        why: String,
    },
    /// Nothing is left that goes on automatically, but for rows of sheets that were paused because the service
    /// refused one row after another.
    SheetsLeft {
        /// The sheets.
        sheets: Vec<LeftSheet>,
    },
    /// Rows that were sent before all others are not as they should be; nothing else was sent.
    CanaryWrong {
        /// These.
        rows: Vec<CanaryRow>,
        /// Of so many.
        of: u64,
    },
    /// Stopped on request, with work left that goes on automatically later.
    Interrupted {
        /// What asked for it: a signal, or the time given.
        by: End,
        /// Why, in words.
        why: String,
    },
    /// The service refuses us or cannot be reached; jobs are ready.
    Stopped {
        /// What is in the way.
        end: End,
        /// Why, in words.
        why: String,
        /// What to do about it.
        hint: String,
    },
}

/// A sheet that was paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftSheet {
    /// Its number in the journal.
    pub sheet: SheetId,
    /// Which it is, why it was paused, and how many of its rows stay ready.
    pub pause: SheetPause,
    /// Why the service refused them, in its words.
    pub message: String,
}

impl Ending {
    /// A signal came before anything was sent.
    pub fn interrupted_unsent() -> Self {
        Self::Interrupted { by: End::Signal, why: "on request, before anything was sent".to_owned() }
    }

    /// The time given with --until has come.
    pub(super) fn until(at: Option<Moment>) -> Self {
        let at = at.map_or_else(String::new, |at| format!(" ({at})"));
        Self::Interrupted { by: End::Until, why: format!("the time given with --until has come{at}") }
    }

    /// The service refuses us altogether.
    pub(super) fn refused(refusal: Refusal) -> Self {
        let (end, why, hint) = match refusal {
            Refusal::InvalidClient => (
                End::Credentials,
                "the service refused the client id or the client secret (invalid_client)",
                "check client_id and the secret of the profile, then run again; no row was rejected",
            ),
            Refusal::UnauthorizedSource => (
                End::SourceAddress,
                "the service does not accept requests from this network address (unauthorizedSource)",
                "check VPN and network, or have the address added, then run again; no row was rejected",
            ),
            Refusal::TokenRefused => (
                End::Credentials,
                "the service refused a fresh access token twice in a row (invalid_token)",
                "try `fleetload doctor`; if it fails as well, ask the service's operator; no row was rejected",
            ),
        };
        Self::Stopped { end, why: why.to_owned(), hint: hint.to_owned() }
    }

    /// Whoever answers at the service's address cannot show to be the service.
    pub(super) fn distrusted(words: &str) -> Self {
        Self::Stopped {
            end: End::Certificate,
            why: format!("the certificate of the service is not accepted: {words}"),
            hint: "check this machine's clock and base_url; if the service has a certificate of your own authority, \
                   name its file with ca_file in the profile; no row was rejected"
                .to_owned(),
        }
    }

    /// There is nothing at the address for tokens.
    pub(super) fn no_token_endpoint(status: u16) -> Self {
        Self::Stopped {
            end: End::EndpointMissing,
            why: format!("the address for access tokens answered {status}: there is no such endpoint"),
            hint:
                "check base_url, or set method and path in [profile.NAME.endpoints.auth]; no row was rejected"
                    .to_owned(),
        }
    }

    /// With what the journal says of sheets paused: those that have no row left to send were not held up.
    pub(super) fn counted(self, journal: &Journal) -> Result<Self> {
        let Self::SheetsLeft { mut sheets } = self else { return Ok(self) };
        for left in &mut sheets {
            left.pause.rows = journal.unsent(left.sheet)?;
        }
        sheets.retain(|left| left.pause.rows > 0);
        Ok(if sheets.is_empty() { Self::Finished } else { Self::SheetsLeft { sheets } })
    }

    /// Why the run ended before everything was done; `None` when nothing was left that goes on automatically.
    pub fn early(&self) -> Option<End> {
        match self {
            Self::Finished => None,
            Self::Parked { end, .. } => Some(*end),
            Self::SheetsLeft { .. } => Some(End::SheetPaused),
            Self::CanaryWrong { .. } => Some(End::Canary),
            Self::Interrupted { by, .. } => Some(*by),
            Self::Stopped { end, .. } => Some(*end),
        }
    }

    /// How the journal notes it.
    pub(super) fn noted(&self) -> EndOfRun {
        let (detail, resumes_at) = match self {
            Self::Finished => (None, None),
            Self::SheetsLeft { sheets } => {
                let sheets: Vec<String> = sheets.iter().map(|left| left.pause.words()).collect();
                (Some(sheets.join("; ")), None)
            }
            Self::CanaryWrong { rows, of } => {
                let are = if rows.len() == 1 { "is" } else { "are" };
                let named: Vec<String> = rows
                    .iter()
                    .take(NAMED)
                    .map(|row| {
                        format!("{} ({})", row.place, row.code.as_deref().unwrap_or(row.state.as_str()))
                    })
                    .collect();
                let more = if rows.len() > NAMED { " …" } else { "" };
                let words = format!(
                    "{} of its {} {are} not right: {}{more}",
                    rows.len(),
                    counted(*of, "row", "rows"),
                    named.join(", ")
                );
                (Some(words), None)
            }
            Self::Parked { until, why, .. } => (Some(why.clone()), Some(*until)),
            Self::Interrupted { why, .. } | Self::Stopped { why, .. } => (Some(why.clone()), None),
        };
        let mut sheets_left = Vec::new();
        if let Self::SheetsLeft { sheets } = self {
            sheets_left.extend(sheets.iter().map(|left| left.pause.clone()));
        }
        let ending = self.early().map_or(RunEnd::Finished, RunEnd::Early);
        EndOfRun { ending, detail, resumes_at, sheets_left }
    }
}

/// How a run ends that the service meets like this when it signs in, and every later request.
pub fn end_of(verdict: &Verdict) -> End {
    match (first_sign_in::ending_of(verdict).and_then(|ending| ending.early()), verdict) {
        (Some(end), _) => end,
        (None, Verdict::NotSent(_)) => End::Unreachable,
        (None, _) => End::Service,
    }
}
