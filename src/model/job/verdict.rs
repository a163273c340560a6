//! What an answer of the service means, before anything is done about it.
//!
//! The raw answer is a matter of [`crate::service`], which judges it into a [`Verdict`]; what follows for the job
//! is decided in [`super::settle`].

use serde::{Deserialize, Serialize};

use crate::model::id::RemoteId;

/// The meaning of one request's fate (specification 2.1 and 7).
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// HTTP 200 and status OK, and for a creation: it names the record that was asked for.
    Succeeded(Success),
    /// The service did not execute it and says why: no use in sending the same again.
    Rejected(Rejection),
    /// `noDataFound`: a record it refers to does not exist, or not yet.
    NoDataFound(Rejection),
    /// `duplicateEntity`: a value that must be unique is in use, perhaps by an earlier attempt of ours.
    Duplicate(Rejection),
    /// Nothing of the request left this machine.
    NotSent(NotSent),
    /// `rateLimitExceeded`: not executed.
    Throttled,
    /// `quotaLimitExceeded`: not executed, and no creation will be until the service's midnight.
    QuotaSpent,
    /// `invalid_token`: not executed.
    TokenInvalid,
    /// The service refuses us altogether: not executed.
    Refused(Refusal),
    /// A 404, 405 or 415 page: the endpoint is not where it was looked for; not executed. Carries the status.
    EndpointMissing(u16),
    /// Status OK with the id or the name of something else: the contract is broken.
    Contradicted(Contradiction),
    /// Everything else: it may or may not have been executed.
    Doubtful(Doubt),
}

impl Verdict {
    /// What it says about the execution of the request, whatever follows for the job.
    pub const fn execution(&self) -> Execution {
        match self {
            Self::Succeeded(_) => Execution::Confirmed,
            Self::Rejected(_) | Self::NoDataFound(_) | Self::Duplicate(_) => Execution::Refused,
            Self::NotSent(_)
            | Self::Throttled
            | Self::QuotaSpent
            | Self::TokenInvalid
            | Self::Refused(_)
            | Self::EndpointMissing(_) => Execution::NotExecuted,
            Self::Contradicted(_) | Self::Doubtful(_) => Execution::Doubtful,
        }
    }
}

/// Declares the classes of answers with their words, one for each verdict.
macro_rules! answer_classes {
    ($($variant:ident = $word:literal,)+) => {
        /// The verdict on an answer without what it carries, to count by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each is the verdict of the same name")]
        pub enum AnswerClass {
            $($variant,)+
        }

        impl AnswerClass {
            /// Every class there is.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its word in figures.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl Verdict {
            /// The class of the answer.
            pub const fn class(&self) -> AnswerClass {
                match self { $(Self::$variant { .. } => AnswerClass::$variant,)+ }
            }
        }
    };
}

answer_classes! {
    Succeeded = "succeeded",
    Rejected = "rejected",
    NoDataFound = "no_data_found",
    Duplicate = "duplicate",
    NotSent = "not_sent",
    Throttled = "throttled",
    QuotaSpent = "quota_spent",
    TokenInvalid = "token_invalid",
    Refused = "refused",
    EndpointMissing = "endpoint_missing",
    Contradicted = "contradicted",
    Doubtful = "doubtful",
}

impl Serialize for AnswerClass {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

crate::json_schema::words_schema!(
    AnswerClass,
    "Verdict",
    "What the answer to a request means.",
    AnswerClass::ALL.iter().map(|class| class.as_str())
);

/// Whether the service executed a request, and so whether a creation counts against the day's quota: all but what is
/// proved not executed do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// It answered that it did.
    Confirmed,
    /// It looked at the request and refused it. For the quota that is a creation like any other.
    Refused,
    /// Nobody knows.
    #[default]
    Doubtful,
    /// It did not, and did not count it: not sent, turned away for pace, quota, token or credentials, or answered with
    /// the page of an endpoint that is not there.
    NotExecuted,
}

impl Execution {
    /// Every word there is.
    pub const ALL: &'static [Self] = &[Self::Confirmed, Self::Refused, Self::Doubtful, Self::NotExecuted];

    /// Its form in the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refused => "refused",
            Self::Doubtful => "doubtful",
            Self::NotExecuted => "not_executed",
        }
    }

    /// From its form in the journal.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|execution| execution.as_str() == word)
    }
}

/// A confirmed success.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Success {
    /// The id in the answer, where it carried one.
    pub id: Option<RemoteId>,
    /// The `body` of the envelope; `null` where there was none.
    pub body: serde_json::Value,
}

/// Why the service, or a rule of ours, refused a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The machine code: `invalidData`, `duplicateEntity` …
    pub code: String,
    /// The service's words, cleaned of control characters and bounded in length.
    pub message: String,
    /// The violated fields, where the service lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// One violated field (specification 2.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Violation {
    /// `<entity>.<field path>`, e.g. `device.address.address1`.
    pub path: String,
    /// The service's words.
    pub message: String,
}

/// Why nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSent {
    /// No connection: name not resolved, refused, TLS cut short. Carries the words of the library.
    NoConnection(String),
    /// No token could be had for now. Carries the reason.
    NoToken(String),
    /// The machine has no more file descriptors or sockets.
    NoResources(String),
    /// The certificate of whoever answers is not accepted: a person must fix it. Carries the reason.
    Untrusted(String),
}

impl NotSent {
    /// What kept it back, in words.
    pub fn words(&self) -> &str {
        match self {
            Self::NoConnection(words)
            | Self::NoToken(words)
            | Self::NoResources(words)
            | Self::Untrusted(words) => words,
        }
    }
}

/// Who refuses us, and so what a person must fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// `invalid_client`: the client id or secret is wrong or revoked.
    InvalidClient,
    /// `unauthorizedSource`: our address is not on the service's list.
    UnauthorizedSource,
    /// `invalid_token` again with a fresh token.
    TokenRefused,
}

/// An answer that says OK about something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The id it named, when it named one.
    pub id: Option<RemoteId>,
    /// What differs, in words.
    pub what: String,
}

/// Why it is not known whether a request was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// No answer in time.
    Timeout,
    /// The connection ended before an answer.
    Disconnected,
    /// The answer ended before its end.
    Truncated,
    /// The answer is not what the service promises: not JSON, too large, too deep.
    Unreadable,
    /// A 5xx status or `internalServerError`.
    ServerError,
    /// An error code or status that is not in the specification.
    UnknownAnswer,
    /// A redirect, which is never followed.
    Redirect,
    /// The process ended while the request was under way.
    ProcessEnded,
    /// The task that sent it panicked.
    WorkerLost,
    /// The journal is an older copy and may lack a request of the row.
    JournalBehind,
    /// `duplicateEntity`: the record is there; whether it is ours is to be found out.
    Duplicate,
    /// Status OK without an id: the record is there; its id is to be found out.
    NoId,
    /// `noDataFound` for what was to be taken away: it may be gone already.
    Gone,
    /// A refusal of what was sent again: the request before it may still be carried out.
    Refused,
}

impl Doubt {
    /// Every doubt there is.
    pub const ALL: &'static [Self] = &[
        Self::Timeout,
        Self::Disconnected,
        Self::Truncated,
        Self::Unreadable,
        Self::ServerError,
        Self::UnknownAnswer,
        Self::Redirect,
        Self::ProcessEnded,
        Self::WorkerLost,
        Self::JournalBehind,
        Self::Duplicate,
        Self::NoId,
        Self::Gone,
        Self::Refused,
    ];

    /// The code shown in reports: `answer.timeout` …
    pub const fn code(self) -> &'static str {
        match self {
            Self::Timeout => "answer.timeout",
            Self::Disconnected => "answer.disconnected",
            Self::Truncated => "answer.truncated",
            Self::Unreadable => "answer.unreadable",
            Self::ServerError => "answer.server-error",
            Self::UnknownAnswer => "answer.unknown",
            Self::Redirect => "answer.redirect",
            Self::ProcessEnded => "answer.process-ended",
            Self::WorkerLost => "answer.worker-lost",
            Self::JournalBehind => "journal.restored",
            Self::Duplicate => "answer.duplicate",
            Self::NoId => "answer.no-id",
            Self::Gone => "answer.gone",
            Self::Refused => "answer.refused",
        }
    }

    /// Whether the record is certain to be there, so that the step must never be sent again.
    pub const fn executed(self) -> bool {
        match self {
            Self::Duplicate | Self::NoId => true,
            Self::Timeout
            | Self::Disconnected
            | Self::Truncated
            | Self::Unreadable
            | Self::ServerError
            | Self::UnknownAnswer
            | Self::Redirect
            | Self::ProcessEnded
            | Self::WorkerLost
            | Self::JournalBehind
            | Self::Gone
            | Self::Refused => false,
        }
    }

    /// What happened, in plain words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Timeout => "the service did not answer in time",
            Self::Disconnected => "the connection ended before the service answered",
            Self::Truncated => "the answer was cut off",
            Self::Unreadable => "the answer is not one that the service documents",
            Self::ServerError => "the service reported an internal error",
            Self::UnknownAnswer => "the service answered with a code that it does not document",
            Self::Redirect => "the service answered with a redirect",
            Self::ProcessEnded => "fleetload was stopped while the request was under way",
            Self::WorkerLost => "fleetload failed while the request was under way",
            Self::JournalBehind => {
                "the journal is an older copy, so the row may have been sent without its knowing"
            }
            Self::Duplicate => "the service says that a value which must be unique is already in use",
            Self::NoId => "the service confirmed the creation without naming its id",
            Self::Gone => "the service does not find what is to be removed: it may be gone already",
            Self::Refused => {
                "the row was refused after a lost answer, and the request before it may still be carried out"
            }
        }
    }

    /// From its form in the journal.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|doubt| doubt.code() == code)
    }
}
