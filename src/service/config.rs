//! What the client needs to know of a profile, and which addresses it takes.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use url::{Host, Url};

use super::endpoint::Endpoints;
pub use crate::model::policy::Proxy;

/// What the client needs to know of a profile.
#[derive(Debug, Clone)]
pub struct Config {
    /// The base address; every path goes below it.
    pub base_url: Url,
    /// The client id.
    pub client_id: String,
    /// The client secret.
    pub client_secret: SecretString,
    /// Where the operations are.
    pub endpoints: Endpoints,
    /// The most time for one request, from connecting to the end of the answer.
    pub request_timeout: Duration,
    /// The most time for connecting.
    pub connect_timeout: Duration,
    /// Whether the environment's proxies are used.
    pub proxy: Proxy,
    /// Certificates to trust besides the machine's, in PEM form.
    pub ca_file: Option<PathBuf>,
}

/// Whether the address is this machine's own.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        // The case is that of the parser: small.
        Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Checks the address of something that is sent a secret.
///
/// # Errors
/// The rule that it breaks, without the address itself: a password or a token may stand in it.
pub(crate) fn check_address(url: &Url) -> Result<(), &'static str> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or password");
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(url) => Ok(()),
        _ => Err("must begin with https://, so that nobody can read the secret on its way"),
    }
}

/// As [`check_address`], for a base address.
///
/// # Errors
/// As [`check_address`].
pub(crate) fn check_base(url: &Url) -> Result<(), &'static str> {
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must end before any ? or #");
    }
    check_address(url)
}
