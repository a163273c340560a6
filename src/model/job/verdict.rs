//! What an answer of the service means, before anything is done about it.
//!
//! The raw answer is a matter of [`crate::service`], which judges it into a [`Verdict`]; what follows for the job
//! is decided in [`super::settle`].

use serde::{Deserialize, Serialize};

use crate::json_schema::serialize_as_word;
use crate::model::id::RemoteId;
use crate::model::words::words;

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
        words! {
            /// The verdict on an answer without what it carries, to count by.
            #[expect(missing_docs, reason = "each is the verdict of the same name")]
            pub enum AnswerClass: as_str { $($variant = $word,)+ }
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

serialize_as_word!(
    AnswerClass,
    AnswerClass::as_str,
    "Verdict",
    "What the answer to a request means.",
    AnswerClass::ALL
);

words! {
    /// Whether the service executed a request, and so whether a creation counts against the day's quota: all but what is
    /// proved not executed do.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Execution: as_str, parse {
        /// It answered that it did.
        Confirmed = "confirmed",
        /// It looked at the request and refused it. For the quota that is a creation like any other.
        Refused = "refused",
        /// Nobody knows.
        #[default]
        Doubtful = "doubtful",
        /// It did not, and did not count it: not sent, turned away for pace, quota, token or credentials, or answered with
        /// the page of an endpoint that is not there.
        NotExecuted = "not_executed",
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

words! {
    /// Why it is not known whether a request was executed, with the code that reports show.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Doubt: code, parse {
        /// No answer in time.
        Timeout = "answer.timeout",
        /// The connection ended before an answer.
        Disconnected = "answer.disconnected",
        /// The answer ended before its end.
        Truncated = "answer.truncated",
        /// The answer is not what the service promises: not JSON, too large, too deep.
        Unreadable = "answer.unreadable",
        /// A 5xx status or `internalServerError`.
        ServerError = "answer.server-error",
        /// An error code or status that is not in the specification.
        UnknownAnswer = "answer.unknown",
        /// A redirect, which is never followed.
        Redirect = "answer.redirect",
        /// The process ended while the request was under way.
        ProcessEnded = "answer.process-ended",
        /// The task that sent it panicked.
        WorkerLost = "answer.worker-lost",
        /// The journal is an older copy and may lack a request of the row.
        JournalBehind = "journal.restored",
        /// `duplicateEntity`: the record is there; whether it is ours is to be found out.
        Duplicate = "answer.duplicate",
        /// Status OK without an id: the record is there; its id is to be found out.
        NoId = "answer.no-id",
        /// `noDataFound` for what was to be taken away: it may be gone already.
        Gone = "answer.gone",
        /// A refusal of what was sent again: the request before it may still be carried out.
        Refused = "answer.refused",
    }
}

impl Doubt {
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
            Self::ServerError => "the service reported an error of its own",
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
}
