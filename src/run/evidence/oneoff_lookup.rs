//! Look-ups outside of a run: one at a time and slowly, since a run may be under way with the same account.
//!
//! What to ask and what follows from the answer is in [`super::verify`].

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::question::LookupAnswer;
use crate::clock::Clock;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::model::operation::Operation;
use crate::model::verdict::Verdict;
use crate::run::ending::Ending;
use crate::service::{Client, Found, Limiter, Lookup, Rate};

/// Look-ups a second: few enough to leave a run that is under way its pace.
const PACE: f64 = 10.0;
/// How often a look-up is tried whose answer tells nothing.
const TRIES: u32 = 3;
/// The wait before it is tried again.
const WAIT: Duration = Duration::from_secs(1);
/// How long the list of a company's children or people is used for the next row: many rows have the same parent.
const LIST_GOOD_FOR: Duration = Duration::from_secs(30);

/// Asks the service, one look-up at a time.
pub(super) struct OneoffLookups {
    client: Client,
    clock: Arc<dyn Clock>,
    limiter: Limiter,
    missing: HashSet<Operation>,
    /// The list that was asked for last, and when.
    list: Option<(Lookup, Duration, Vec<Found>)>,
}

impl OneoffLookups {
    /// One that has asked nothing yet.
    pub(in crate::run) fn new(client: Client, clock: Arc<dyn Clock>) -> Self {
        let limiter = Limiter::new(Rate::PerSecond(PACE), Arc::clone(&clock));
        Self { client, clock, limiter, missing: HashSet::new(), list: None }
    }

    /// Whether an operation can be asked, as far as is known.
    pub(in crate::run) fn usable(&self, operation: Operation) -> bool {
        self.client.endpoints().available(operation) && !self.missing.contains(&operation)
    }

    fn remembered(&self, lookup: &Lookup) -> Option<Vec<Found>> {
        let (known, at, list) = self.list.as_ref()?;
        let fresh = self.clock.elapsed().saturating_sub(*at) < LIST_GOOD_FOR;
        (known == lookup && fresh).then(|| list.clone())
    }

    fn remember(&mut self, lookup: &Lookup, found: &[Found]) {
        if matches!(lookup, Lookup::ChildCompanies(_) | Lookup::PeopleOf(_)) {
            self.list = Some((lookup.clone(), self.clock.elapsed(), found.to_vec()));
        }
    }

    /// Asks, again and again while an answer tells nothing.
    ///
    /// # Errors
    ///
    /// `Service` when the service cannot be reached, refuses us, or does not answer.
    pub(in crate::run) async fn ask(&mut self, lookup: &Lookup) -> Result<LookupAnswer> {
        if let Some(list) = self.remembered(lookup) {
            return Ok(LookupAnswer::Records(list));
        }
        let operation = lookup.operation();
        let mut why = String::new();
        for _ in 0..TRIES {
            while let Err(at) = self.limiter.permit() {
                self.clock.sleep_until(at).await;
            }
            let answer = self.client.send(lookup.call()).await;
            why = match answer.verdict {
                verdict @ (Verdict::Succeeded(_)
                | Verdict::NoDataFound(_)
                | Verdict::EndpointMissing(_)
                | Verdict::Rejected(_)
                | Verdict::Duplicate(_)
                | Verdict::Contradicted(_)) => {
                    let answer = LookupAnswer::of(operation, verdict, false);
                    match &answer {
                        LookupAnswer::Records(found) => self.remember(lookup, found),
                        LookupAnswer::Unavailable => {
                            self.missing.insert(operation);
                        }
                        LookupAnswer::Inconclusive(_) | LookupAnswer::Failed(_) => {}
                    }
                    return Ok(answer);
                }
                Verdict::Refused(refusal) => return Err(refused(&Ending::refused(refusal))),
                Verdict::NotSent(why) => {
                    return Err(Error::service(format!("the service cannot be reached: {}", why.words()))
                        .ending(End::Unreachable));
                }
                Verdict::Throttled | Verdict::QuotaSpent => "the service asks for a slower pace".to_owned(),
                Verdict::TokenInvalid => "the access token was no longer valid".to_owned(),
                Verdict::Doubtful(doubt) => doubt.words().to_owned(),
            };
            self.clock.sleep_until(self.clock.elapsed() + WAIT).await;
        }
        Err(Error::service(format!("the service does not answer {operation}: {why}")))
    }
}

/// The error of a service that refuses us.
fn refused(ending: &Ending) -> Error {
    match ending {
        Ending::Stopped { end, why, .. } => Error::service(why.clone()).ending(*end),
        Ending::Finished
        | Ending::Parked { .. }
        | Ending::SheetsLeft { .. }
        | Ending::CanaryWrong { .. }
        | Ending::Interrupted { .. } => Error::service("the service refuses us"),
    }
}
