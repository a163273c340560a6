//! What follows from a verdict: the next state of the job, and what the run must do besides.
//!
//! This is the rule book of the promise "nothing created twice". Only a listed proof that nothing was executed
//! lets a step be sent again; everything that is not listed is in doubt. No clock and no journal here: the
//! dispatcher gives delays their moment and writes the result down.

use std::time::Duration;

use super::reason::{Reason, ServiceCode};
use super::verdict::{Contradiction, Doubt, NotSent, Refusal, Rejection, Verdict};
use crate::mistake;
use crate::model::id::RemoteId;

/// What the rules need to know of the step that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepContext {
    /// Whether the step creates the job's record and so must be answered with an id.
    pub creation: bool,
    /// Whether the step takes something away, so that it is done when that is not there.
    pub removal: bool,
    /// Whether a record it refers to was made by us moments ago, and the service may not have known it yet.
    pub fresh_reference: bool,
    /// How many answers in a row said that the token is invalid, this one not counted.
    pub token_refusals: u32,
}

/// What becomes of the job.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// The step is done. A creation carries the id of its record.
    Done {
        /// The id the service gave.
        id: Option<RemoteId>,
    },
    /// The service refused the row.
    Rejected(Rejection),
    /// The service refused the row, perhaps only because it does not show yet what the row refers to: that is looked
    /// up before the row is rejected or sent again.
    Unseen(Rejection),
    /// Not executed, nothing to wait for: may be sent again as soon as the run allows.
    Returned {
        /// Why, as a code.
        code: &'static str,
        /// Why, in words.
        reason: String,
    },
    /// Not executed: again after a delay.
    Deferred {
        /// How long to wait.
        delay: Duration,
        /// Why, as a code.
        code: &'static str,
        /// Why, in words.
        reason: String,
    },
    /// It may have been executed, or was and the record must be found.
    InDoubt(Doubt),
    /// A person decides.
    Held {
        /// Why, as a code.
        code: &'static str,
        /// Why, in words.
        reason: String,
        /// The record that an answer names which contradicts itself.
        record: Option<RemoteId>,
    },
}

/// What the run must do besides.
#[derive(Debug, Clone, PartialEq)]
pub enum Consequence {
    /// Nothing; the service answered.
    Nothing,
    /// Slow the operation down.
    SlowDown,
    /// Hold all creations, and this operation, back until the service's midnight.
    ParkCreations,
    /// Stop this operation: its endpoint is not where it was looked for. Carries the HTTP status.
    StopOperation(u16),
    /// End the run: the service refuses us.
    StopRun(Refusal),
    /// End the run: whoever answers at the service's address cannot show to be the service. Carries the reason.
    Distrust(String),
    /// Count a failure at the service for the breaker.
    Failure,
    /// This machine has no more sockets or open files: send fewer requests at once.
    LowerConcurrency(String),
    /// The service could not be reached: hold everything back for a while.
    Unreachable(String),
    /// The service gives no token: the same, for as long as an outage of the service is waited for.
    NoToken(String),
}

/// Decides what follows from `verdict` for a step that stands as `standing` says.
pub fn settle(standing: StepContext, verdict: Verdict) -> (Settled, Consequence) {
    let verdict = mistake::misjudged(verdict);
    let consequence = consequence(&verdict, standing.token_refusals > 0);
    let settled = match verdict {
        Verdict::Succeeded(success) => match success.id {
            None if standing.creation => Settled::InDoubt(Doubt::NoId),
            // The id of a label or an entry is that of no record of ours.
            id => Settled::Done { id: id.filter(|_| standing.creation) },
        },
        Verdict::NoDataFound(_) if standing.removal => Settled::InDoubt(Doubt::Gone),
        Verdict::NoDataFound(rejection) if standing.fresh_reference => Settled::Unseen(rejection),
        Verdict::Duplicate(_) if standing.creation => Settled::InDoubt(Doubt::Duplicate),
        Verdict::Rejected(rejection) | Verdict::NoDataFound(rejection) | Verdict::Duplicate(rejection) => {
            Settled::Rejected(rejection)
        }
        Verdict::NotSent(NotSent::NoConnection(_)) => {
            returned(Reason::Unreachable.as_str(), "the service could not be reached")
        }
        Verdict::NotSent(NotSent::NoToken(_)) => {
            returned(Reason::Unreachable.as_str(), "no access token could be had")
        }
        Verdict::NotSent(NotSent::NoResources(_)) => {
            returned(Reason::Resources.as_str(), "this machine has no more sockets or open files")
        }
        Verdict::NotSent(NotSent::Untrusted(_)) => {
            returned(Reason::Untrusted.as_str(), "the certificate of the service was not accepted")
        }
        Verdict::Throttled => Settled::Deferred {
            delay: Duration::from_secs(1),
            code: ServiceCode::RateLimitExceeded.as_str(),
            reason: "the service asked for a slower pace".to_owned(),
        },
        // The job stays ready: it is the operation as a whole that waits with all creations, by the service's clock and not by
        // ours.
        Verdict::QuotaSpent => {
            returned(ServiceCode::QuotaLimitExceeded.as_str(), "the day's quota of creations is spent")
        }
        Verdict::TokenInvalid => {
            returned(ServiceCode::InvalidToken.as_str(), "the access token was no longer valid")
        }
        Verdict::Refused(_) => returned(Reason::Refused.as_str(), "the service refused our credentials"),
        Verdict::EndpointMissing(_) => {
            returned(Reason::EndpointMissing.as_str(), "the service has no such endpoint at the path in use")
        }
        Verdict::Contradicted(Contradiction { id, what }) => {
            Settled::Held { code: Reason::AnswerContradicts.as_str(), reason: what, record: id }
        }
        Verdict::Doubtful(doubt) => Settled::InDoubt(doubt),
    };
    (settled, consequence)
}

/// Decides what the run must do after the answer to a step; `token_refused` when an answer before it refused its token.
pub fn consequence(verdict: &Verdict, token_refused: bool) -> Consequence {
    match verdict {
        Verdict::Succeeded(_) | Verdict::Rejected(_) | Verdict::NoDataFound(_) | Verdict::Duplicate(_) => {
            Consequence::Nothing
        }
        Verdict::NotSent(why) => {
            let words = why.words().to_owned();
            match why {
                NotSent::NoConnection(_) => Consequence::Unreachable(words),
                NotSent::NoToken(_) => Consequence::NoToken(words),
                NotSent::NoResources(_) => Consequence::LowerConcurrency(words),
                NotSent::Untrusted(_) => Consequence::Distrust(words),
            }
        }
        Verdict::Throttled => Consequence::SlowDown,
        Verdict::QuotaSpent => Consequence::ParkCreations,
        Verdict::TokenInvalid if !token_refused => Consequence::Nothing,
        Verdict::TokenInvalid => Consequence::StopRun(Refusal::TokenRefused),
        Verdict::Refused(refusal) => Consequence::StopRun(*refusal),
        Verdict::EndpointMissing(status) => Consequence::StopOperation(*status),
        Verdict::Contradicted(_) | Verdict::Doubtful(_) => Consequence::Failure,
    }
}

fn returned(code: &'static str, reason: &str) -> Settled {
    Settled::Returned { code, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::Success;

    const FIRST: StepContext =
        StepContext { creation: true, removal: false, fresh_reference: false, token_refusals: 0 };

    fn rejection(code: &str) -> Rejection {
        Rejection { code: code.to_owned(), message: "no".to_owned(), violations: vec![] }
    }

    fn id() -> RemoteId {
        RemoteId::from_u128(7)
    }

    #[test]
    fn nothing_is_sent_again_unless_it_is_proved_not_executed() {
        let again =
            |settled: &Settled| matches!(settled, Settled::Returned { .. } | Settled::Deferred { .. });
        let proofs = [
            Verdict::NotSent(NotSent::NoConnection("refused".into())),
            Verdict::NotSent(NotSent::NoToken("no".into())),
            Verdict::NotSent(NotSent::NoResources("files".into())),
            Verdict::NotSent(NotSent::Untrusted("expired".into())),
            Verdict::Throttled,
            Verdict::QuotaSpent,
            Verdict::TokenInvalid,
            Verdict::Refused(Refusal::InvalidClient),
            Verdict::Refused(Refusal::UnauthorizedSource),
            Verdict::EndpointMissing(404),
        ];
        for verdict in proofs {
            assert!(again(&settle(FIRST, verdict.clone()).0), "{verdict:?}");
        }
        let never = [
            Verdict::Succeeded(Success { id: Some(id()), body: serde_json::Value::Null }),
            Verdict::Succeeded(Success::default()),
            Verdict::Rejected(rejection("invalidData")),
            Verdict::NoDataFound(rejection("noDataFound")),
            Verdict::Duplicate(rejection("duplicateEntity")),
            Verdict::Contradicted(Contradiction { id: None, what: "name".into() }),
            Verdict::Doubtful(Doubt::Timeout),
            Verdict::Doubtful(Doubt::Disconnected),
            Verdict::Doubtful(Doubt::Truncated),
            Verdict::Doubtful(Doubt::Unreadable),
            Verdict::Doubtful(Doubt::ServerError),
            Verdict::Doubtful(Doubt::UnknownAnswer),
            Verdict::Doubtful(Doubt::Redirect),
            Verdict::Doubtful(Doubt::ProcessEnded),
            Verdict::Doubtful(Doubt::WorkerLost),
            Verdict::Doubtful(Doubt::JournalBehind),
        ];
        for verdict in never {
            assert!(!again(&settle(FIRST, verdict.clone()).0), "{verdict:?}");
        }
    }

    /// What becomes of a job, in a few words that a table can hold.
    fn told(settled: &Settled) -> String {
        match settled {
            Settled::Done { id } => format!("done {}", id.map_or(0, |id| id.as_u128())),
            Settled::Rejected(rejection) => format!("rejected {}", rejection.code),
            Settled::Returned { code, reason } => {
                assert!(!reason.is_empty());
                format!("returned {code}")
            }
            Settled::Unseen(rejection) => format!("unseen {}", rejection.code),
            Settled::Deferred { delay, code, reason } => {
                assert!(!reason.is_empty());
                format!("deferred {code} {delay:?}")
            }
            Settled::InDoubt(doubt) => format!("doubt {}", doubt.code()),
            Settled::Held { code, reason, record } => {
                format!("held {code} {reason} {}", record.map_or(0, |id| id.as_u128()))
            }
        }
    }

    #[test]
    fn every_verdict_settles_every_standing_as_the_table_says() {
        let success = |id| Verdict::Succeeded(Success { id, body: serde_json::Value::Null });
        let not_sent = |make: fn(String) -> NotSent| Verdict::NotSent(make("words".to_owned()));
        let other = Contradiction { id: Some(id()), what: "another name".to_owned() };
        let nothing = Consequence::Nothing;
        let unreachable = Consequence::Unreachable("words".to_owned());
        let no_token = Consequence::NoToken("words".to_owned());
        // The verdict; what becomes of a creation, and of any other step; what the run must do.
        #[rustfmt::skip]
        let mut table = vec![
            (success(Some(id())), "done 7", "done 0", nothing.clone()),
            (success(None), "doubt answer.no-id", "done 0", nothing.clone()),
            (Verdict::Rejected(rejection("invalidData")), "rejected invalidData", "rejected invalidData", nothing.clone()),
            (Verdict::NoDataFound(rejection("noDataFound")), "rejected noDataFound", "rejected noDataFound", nothing.clone()),
            (Verdict::Duplicate(rejection("duplicateEntity")), "doubt answer.duplicate", "rejected duplicateEntity", nothing.clone()),
            (not_sent(NotSent::NoConnection), "returned unreachable", "returned unreachable", unreachable),
            (not_sent(NotSent::NoToken), "returned unreachable", "returned unreachable", no_token),
            (not_sent(NotSent::NoResources), "returned resources", "returned resources", Consequence::LowerConcurrency("words".to_owned())),
            (
                not_sent(NotSent::Untrusted),
                "returned untrusted",
                "returned untrusted",
                Consequence::Distrust("words".into()),
            ),
            (Verdict::Throttled, "deferred rateLimitExceeded 1s", "deferred rateLimitExceeded 1s", Consequence::SlowDown),
            (Verdict::QuotaSpent, "returned quotaLimitExceeded", "returned quotaLimitExceeded", Consequence::ParkCreations),
            (Verdict::TokenInvalid, "returned invalid_token", "returned invalid_token", nothing),
            (Verdict::Contradicted(other), "held answer.contradicts another name 7", "held answer.contradicts another name 7", Consequence::Failure),
        ];
        for refusal in [Refusal::InvalidClient, Refusal::UnauthorizedSource, Refusal::TokenRefused] {
            let stop = Consequence::StopRun(refusal);
            table.push((Verdict::Refused(refusal), "returned refused", "returned refused", stop));
        }
        for status in [404, 405, 415] {
            let stop = Consequence::StopOperation(status);
            let missing = "returned endpoint.missing";
            table.push((Verdict::EndpointMissing(status), missing, missing, stop));
        }
        for (doubt, becomes) in [
            (Doubt::Timeout, "doubt answer.timeout"),
            (Doubt::Disconnected, "doubt answer.disconnected"),
            (Doubt::Truncated, "doubt answer.truncated"),
            (Doubt::Unreadable, "doubt answer.unreadable"),
            (Doubt::ServerError, "doubt answer.server-error"),
            (Doubt::UnknownAnswer, "doubt answer.unknown"),
            (Doubt::Redirect, "doubt answer.redirect"),
            (Doubt::ProcessEnded, "doubt answer.process-ended"),
            (Doubt::WorkerLost, "doubt answer.worker-lost"),
            (Doubt::Duplicate, "doubt answer.duplicate"),
            (Doubt::NoId, "doubt answer.no-id"),
            (Doubt::Gone, "doubt answer.gone"),
        ] {
            table.push((Verdict::Doubtful(doubt), becomes, becomes, Consequence::Failure));
        }
        for (verdict, of_a_creation, of_a_step, asked) in table {
            for creation in [true, false] {
                for fresh_reference in [false, true] {
                    for token_refusals in [0, 1, 2, u32::MAX] {
                        let standing =
                            StepContext { creation, removal: false, fresh_reference, token_refusals };
                        let (settled, consequence) = settle(standing, verdict.clone());
                        // The two verdicts that what happened before has a say in.
                        let (becomes, asked) = match &verdict {
                            Verdict::NoDataFound(_) if fresh_reference => {
                                ("unseen noDataFound".to_owned(), asked.clone())
                            }
                            Verdict::TokenInvalid if token_refusals > 0 => {
                                (of_a_step.to_owned(), Consequence::StopRun(Refusal::TokenRefused))
                            }
                            _ if creation => (of_a_creation.to_owned(), asked.clone()),
                            _ => (of_a_step.to_owned(), asked.clone()),
                        };
                        assert_eq!(
                            (told(&settled), consequence),
                            (becomes, asked),
                            "{verdict:?} for {standing:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_creation_confirmed_without_an_id_is_never_sent_again_but_looked_up() {
        let (settled, _) = settle(FIRST, Verdict::Succeeded(Success::default()));
        assert_eq!(settled, Settled::InDoubt(Doubt::NoId));
        assert!(Doubt::NoId.executed());
    }

    #[test]
    fn a_step_that_creates_nothing_is_done_without_an_id() {
        let standing = StepContext { creation: false, ..FIRST };
        assert_eq!(settle(standing, Verdict::Succeeded(Success::default())).0, Settled::Done { id: None });
    }

    #[test]
    fn what_is_to_be_taken_away_and_is_not_there_is_looked_for_before_its_row_is_refused() {
        for fresh_reference in [false, true] {
            let removal = StepContext { creation: false, removal: true, fresh_reference, token_refusals: 0 };
            let (settled, consequence) = settle(removal, Verdict::NoDataFound(rejection("noDataFound")));
            assert_eq!((settled, consequence), (Settled::InDoubt(Doubt::Gone), Consequence::Nothing));
            let (settled, _) = settle(removal, Verdict::Rejected(rejection("invalidData")));
            assert_eq!(settled, Settled::Rejected(rejection("invalidData")));
        }
    }

    #[test]
    fn a_second_refusal_of_the_token_in_a_row_ends_the_run() {
        assert_eq!(settle(FIRST, Verdict::TokenInvalid).1, Consequence::Nothing);
        let again = StepContext { token_refusals: 1, ..FIRST };
        assert_eq!(settle(again, Verdict::TokenInvalid).1, Consequence::StopRun(Refusal::TokenRefused));
    }

    #[test]
    fn quota_and_rate_refusals_charge_no_attempt() {
        let (settled, consequence) = settle(FIRST, Verdict::QuotaSpent);
        assert!(matches!(settled, Settled::Returned { code: "quotaLimitExceeded", .. }));
        assert_eq!(consequence, Consequence::ParkCreations);
        let (settled, consequence) = settle(FIRST, Verdict::Throttled);
        assert!(matches!(settled, Settled::Deferred { .. }));
        assert_eq!(consequence, Consequence::SlowDown);
    }
}
