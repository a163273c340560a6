//! What can keep a sandbox from starting or going on, in words for the person who started it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a sandbox does not run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The scenario cannot be used; the text says which key and why.
    #[error("the scenario cannot be used: {0}")]
    Scenario(String),
    /// The address to listen on can be reached from other machines.
    #[error(
        "the sandbox does not listen on {0}: it is a rehearsal that lets anybody in, so only loopback addresses \
         are allowed; use 127.0.0.1 or [::1]"
    )]
    NotLoopback(SocketAddr),
    /// The address to listen on cannot be had.
    #[error("the sandbox cannot listen on {address}: {cause}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The state file cannot be read or written.
    #[error("the sandbox cannot use its state file {}: {cause}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A line of the state file, other than a torn last one, makes no sense.
    #[error(
        "line {line} of the state file {} is damaged ({what}); move the file away to start afresh",
        path.display()
    )]
    DamagedState {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
}

impl SandboxError {
    pub(crate) fn scenario(what: String) -> Self {
        Self::Scenario(what)
    }
}
