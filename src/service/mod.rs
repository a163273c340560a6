//! The only client of the service: requests out, verdicts in.
//!
//! A [`call::Call`] names an operation, its parameters and its body; [`client::Client`] finds the path, takes a token,
//! sends it exactly once and has the answer judged into a [`Verdict`](crate::model::verdict::Verdict). What follows
//! from a verdict, when to send and whether to send again is left to the run; so is asking the [`limiter::Limiter`].

pub mod call;
pub mod client;
pub mod endpoint;
pub mod found;
pub mod judge;
pub mod limiter;
pub mod lookup;
pub mod request;
pub mod token;
pub mod transport;

#[cfg(test)]
mod client_tests;
mod envelope;
mod grant;
#[cfg(test)]
mod judge_tests;
mod template;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod token_tests;
mod wire;
mod wording;
