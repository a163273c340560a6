//! The only client of the service: requests out, verdicts in. Its `Wire` is the only HTTP client.
//!
//! A [`Call`] names an operation, its parameters and its body; [`Client`] finds the path, takes a token,
//! sends it exactly once and has the answer judged into a [`Verdict`](crate::model::verdict::Verdict). What follows
//! from a verdict, when to send and whether to send again is left to the run; so is asking the [`Limiter`]. A
//! [`ServiceReader`] asks what exists, which may be asked again at any time.

mod action;
mod call;
mod client;
mod config;
mod endpoint;
mod found;
mod judge;
mod limiter;
mod lookup;
mod reader;
mod token;
mod transport;

mod envelope;
mod send_window;
#[cfg(test)]
mod tests;
mod wording;

pub use action::{
    NameSearch, SeenChange, before, creation_body, find_name, is_shown, look_up, name_lookups, request,
    seen_change, shown_settings,
};

pub use call::Call;
pub use client::{Answer, Client};
pub use config::{Config, Proxy};
pub(crate) use config::{check_address, check_base, is_loopback};
pub use endpoint::{Endpoint, Endpoints, Mapping, Origin, Paths};
pub use envelope::{Entries, List};
pub use found::{Found, Records, found, may_be_a_page, time_zones};
pub use judge::{Expectation, Raw, judge};
pub use limiter::{Limiter, Rate};
pub use lookup::Lookup;
pub use reader::{InOrder, ListAnswer, ReadError, ServiceReader};
pub use token::TokenInfo;
pub use transport::{HttpAnswer, HttpRequest, SendFailure, Sending, Transport};
pub(crate) use transport::{Reach, Wire};
pub(crate) use wording::clean;
