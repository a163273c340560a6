//! Asks the service what exists: each operation at the pace of its limiter, and again where an answer tells nothing.
//!
//! Only for what reads (specification 4, the operations that find, get and list): a request may be sent again at any time.

mod in_order;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Mutex as Turns;

pub use self::in_order::InOrder;
use super::client::Parsing;
use super::{Call, Client, Limiter, List, Rate};
use crate::clock::Clock;
use crate::model::operation::Operation;
use crate::model::verdict::{NotSent, Rejection, Verdict};

/// How often a request is sent whose answer tells nothing.
const TRIES: u32 = 3;
/// The wait before it is sent again; the next is longer by as much.
const WAIT: Duration = Duration::from_secs(1);
/// How often a request may be refused for its pace. The limiter slows down at each, so that this many show that the service
/// will not have it.
const MOST_REFUSALS: u32 = 50;
/// How many requests are under way at once where many are asked for.
const SIDE_BY_SIDE: usize = 64;
/// How many lists are asked for at once where many are: each may be long.
const LISTS_SIDE_BY_SIDE: usize = 16;
/// The longest wait between two tries to reach the service.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Why there is no answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadError {
    /// The operation has no known path (status 0), or the service answered with the page of an endpoint that is not there.
    Unavailable(Operation, u16),
    /// `noDataFound`: there is no such record. Carries the words of the service.
    NotFound(Operation, String),
    /// The service did not give a usable answer about this record.
    Failed(Operation, String),
    /// The service refuses us or cannot be reached: nothing more can be read.
    Stopped(Verdict),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(operation, 0) => write!(f, "{operation} has no known path"),
            Self::Unavailable(operation, status) => write!(f, "{operation}: the service answers {status}"),
            Self::NotFound(operation, words) | Self::Failed(operation, words) => {
                write!(f, "{operation}: {words}")
            }
            Self::Stopped(_) => f.write_str("the service refuses requests or cannot be reached"),
        }
    }
}

/// The answer to a question for a list.
#[derive(Debug, Clone, PartialEq)]
pub enum ListAnswer {
    /// The list.
    List(List),
    /// Something else: one record, or none.
    Other(Value),
}

/// A question under way.
type Asking<T> = Pin<Box<dyn Future<Output = Result<T, ReadError>> + Send>>;

/// Asks the service. Clones share pace and token.
#[derive(Clone)]
pub struct ServiceReader(Arc<Inner>);

struct Inner {
    client: Client,
    clock: Arc<dyn Clock>,
    rate: Rate,
    /// For so long the service may be out of reach.
    patience: Duration,
    operations: Mutex<HashMap<Operation, Arc<OperationPace>>>,
    sent: AtomicU64,
}

/// The pace of one operation.
struct OperationPace {
    /// Whoever waits for a permit keeps the others waiting behind it, in their order.
    limiter: Turns<Limiter>,
    /// The HTTP status of the page that showed that the endpoint is not there.
    missing: Mutex<Option<u16>>,
}

impl ServiceReader {
    /// One that has asked nothing yet, with so many requests a second for each operation.
    pub fn new(client: Client, clock: Arc<dyn Clock>, rate: Rate, patience: Duration) -> Self {
        let operations = Mutex::default();
        Self(Arc::new(Inner { client, clock, rate, patience, operations, sent: AtomicU64::new(0) }))
    }

    /// Whether an operation has a known path and, as far as is known, an endpoint there.
    pub fn available(&self, operation: Operation) -> bool {
        self.0.client.endpoints().available(operation) && self.pace(operation).missing().is_none()
    }

    /// Requests sent so far.
    pub fn sent(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }

    /// Gets the first token, so that no requests wait for it that have their permit.
    ///
    /// # Errors
    ///
    /// [`ReadError::Stopped`] when there is none.
    pub async fn sign_in(&self) -> Result<(), ReadError> {
        self.0.client.sign_in().await.map(drop).map_err(ReadError::Stopped)
    }

    /// Asks, again while an answer tells nothing, and gives the body of the answer as it came.
    ///
    /// # Errors
    ///
    /// Says why there is no answer.
    pub async fn read(&self, call: Call) -> Result<Value, ReadError> {
        self.ask(call, Parsing::Whole).await.map(|(body, _)| body)
    }

    /// As [`Self::read`], for a list, which is given without parsing more than an entry at a time.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub async fn list(&self, call: Call) -> Result<ListAnswer, ReadError> {
        let (body, list) = self.ask(call, Parsing::ByEntry).await?;
        Ok(list.map_or(ListAnswer::Other(body), ListAnswer::List))
    }

    async fn ask(&self, call: Call, parsing: Parsing) -> Result<(Value, Option<List>), ReadError> {
        let operation = call.operation;
        let pace = self.pace(operation);
        let (mut tries, mut refusals, mut wait) = (0, 0, WAIT);
        let mut unreached_since: Option<Duration> = None;
        loop {
            if let Some(status) = pace.missing() {
                return Err(ReadError::Unavailable(operation, status));
            }
            pace.permit(&*self.0.clock).await;
            self.0.sent.fetch_add(1, Ordering::Relaxed);
            let (answer, list) = self.0.client.send_parsing(call.clone(), parsing).await;
            let verdict = answer.verdict;
            let why = match verdict {
                Verdict::Succeeded(success) => return Ok((success.body, list)),
                Verdict::NoDataFound(rejection) => {
                    return Err(ReadError::NotFound(operation, in_words(&rejection)));
                }
                Verdict::Rejected(rejection) | Verdict::Duplicate(rejection) => {
                    return Err(ReadError::Failed(operation, in_words(&rejection)));
                }
                Verdict::Contradicted(contradiction) => {
                    return Err(ReadError::Failed(operation, contradiction.what));
                }
                Verdict::EndpointMissing(status) => {
                    pace.note_missing(status);
                    return Err(ReadError::Unavailable(operation, status));
                }
                Verdict::Refused(_) | Verdict::NotSent(NotSent::Untrusted(_)) => {
                    return Err(ReadError::Stopped(verdict));
                }
                Verdict::NotSent(
                    NotSent::NoConnection(_) | NotSent::NoToken(_) | NotSent::NoResources(_),
                ) => {
                    let now = self.0.clock.elapsed();
                    let since = *unreached_since.get_or_insert(now);
                    if now.saturating_sub(since) >= self.0.patience {
                        return Err(ReadError::Stopped(verdict));
                    }
                    self.pause(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                    continue;
                }
                Verdict::Throttled if refusals < MOST_REFUSALS => {
                    refusals += 1;
                    pace.limiter.lock().await.refused();
                    continue;
                }
                Verdict::Throttled => "the service asks for a slower pace".to_owned(),
                Verdict::QuotaSpent => "the service says that the day's quota is spent".to_owned(),
                Verdict::TokenInvalid => "the access token was no longer valid".to_owned(),
                Verdict::Doubtful(doubt) => doubt.words().to_owned(),
            };
            tries += 1;
            if tries == TRIES {
                return Err(ReadError::Failed(operation, why));
            }
            self.pause(WAIT * tries).await;
        }
    }

    /// Asks many questions side by side and gives the answers in their order.
    ///
    /// # Errors
    ///
    /// Why nothing more can be read, or which operation cannot be reached.
    pub async fn read_all(&self, calls: Vec<Call>) -> Result<Vec<Result<Value, ReadError>>, ReadError> {
        let mut answers = Vec::with_capacity(calls.len());
        self.read_each(calls, &mut |answer| {
            answers.push(answer);
            Ok::<(), ReadError>(())
        })
        .await?;
        Ok(answers)
    }

    /// As [`Self::read_all`], but hands each answer over, so that no more are kept than are under way.
    ///
    /// # Errors
    ///
    /// As [`Self::read_all`], and whatever `each` fails with.
    pub async fn read_each<E: From<ReadError>>(
        &self,
        calls: impl IntoIterator<Item = Call>,
        each: &mut dyn FnMut(Result<Value, ReadError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let ask = |reader: Self, call| -> Asking<Value> { Box::pin(async move { reader.read(call).await }) };
        self.ask_each(calls, SIDE_BY_SIDE, ask, each).await
    }

    /// As [`Self::read_each`], for lists.
    ///
    /// # Errors
    ///
    /// As [`Self::read_each`].
    pub async fn list_each<E: From<ReadError>>(
        &self,
        calls: impl IntoIterator<Item = Call>,
        each: &mut dyn FnMut(Result<ListAnswer, ReadError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let ask =
            |reader: Self, call| -> Asking<ListAnswer> { Box::pin(async move { reader.list(call).await }) };
        self.ask_each(calls, LISTS_SIDE_BY_SIDE, ask, each).await
    }

    async fn ask_each<T: Send + 'static, E: From<ReadError>>(
        &self,
        calls: impl IntoIterator<Item = Call>,
        most: usize,
        ask: fn(Self, Call) -> Asking<T>,
        each: &mut dyn FnMut(Result<T, ReadError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut calls = calls.into_iter();
        let mut under_way = InOrder::default();
        loop {
            while under_way.len() < most
                && let Some(call) = calls.next()
            {
                under_way.begin(ask(self.clone(), call));
            }
            let Some(answer) = under_way.next().await else { return Ok(()) };
            match answer {
                Err(error @ (ReadError::Stopped(_) | ReadError::Unavailable(..))) => return Err(error.into()),
                answer => each(answer)?,
            }
        }
    }

    async fn pause(&self, length: Duration) {
        let clock = &self.0.clock;
        clock.sleep_until(clock.elapsed().saturating_add(length)).await;
    }

    fn pace(&self, operation: Operation) -> Arc<OperationPace> {
        let Inner { operations, rate, clock, .. } = &*self.0;
        // Entries are only ever added.
        let mut operations = operations.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = operations.entry(operation).or_insert_with(|| {
            let limiter = Turns::new(Limiter::new(*rate, Arc::clone(clock)));
            Arc::new(OperationPace { limiter, missing: Mutex::default() })
        });
        Arc::clone(pace)
    }
}

impl OperationPace {
    /// Waits until a request may leave.
    async fn permit(&self, clock: &dyn Clock) {
        let mut limiter = self.limiter.lock().await;
        while let Err(at) = limiter.permit() {
            clock.sleep_until(at).await;
        }
    }

    fn missing(&self) -> Option<u16> {
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_missing(&self, status: u16) {
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    }
}

/// A refusal as the service words it.
fn in_words(rejection: &Rejection) -> String {
    let Rejection { code, message, .. } = rejection;
    if message.is_empty() { code.clone() } else { format!("{code}: {message}") }
}
