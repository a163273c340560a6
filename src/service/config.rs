//! What the client needs to know of a profile, and which addresses it takes.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use url::{Host, Url};

use super::endpoint::Endpoints;
use crate::error::{Error, Result};
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
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(super) fn check_base(url: &Url) -> Result<()> {
    let wrong = |why: &str| {
        // Not the address itself: a password may stand in it.
        Error::usage(format!("base_url: {why}"))
            .hint("write it like base_url = \"https://provisioning.example\"")
    };
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(url) => {}
        "http" => return Err(wrong("credentials are sent over https only, except to this machine")),
        _ => return Err(wrong("it does not begin with https://")),
    }
    if url.host().is_none() {
        return Err(wrong("it names no host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it holds a user name or password, which belong into client_id and client_secret"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it ends in a query or a fragment"));
    }
    Ok(())
}
