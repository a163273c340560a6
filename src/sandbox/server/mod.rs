//! The sandbox on a socket: connections, the clock of the machine, and what answers have to suffer on their way.
//!
//! A server is a function of a listener and the moment to stop. It listens on loopback only.

pub(super) mod wire;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::wire::{MOST_BODY, Reading};
use super::error::SandboxError;
use super::exchange::{Effect, Millis, Response};
use super::handle::Sandbox;

/// How long to wait when no connection can be accepted, for example because all file handles are in use.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a client that was refused may go on sending.
const LINGER: Duration = Duration::from_secs(2);
/// Bytes asked for at a time.
const READ: usize = 16 * 1024;
/// A request that has grown to this and is still not whole never will be.
const MOST_UNREAD: usize = 4 * MOST_BODY;

/// The clock of the machine, in milliseconds since the Unix epoch.
#[must_use]
pub fn wall_clock() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// The clock of the callers, in milliseconds since the Unix epoch. It must not go back.
pub type CallersClock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// The clock of the machine as it was at the start, going on evenly: a limit must not see time go back.
#[must_use]
pub fn steady_clock() -> CallersClock {
    let (start, started) = (wall_clock(), Instant::now());
    Arc::new(move || {
        let passed = Millis::try_from(started.elapsed().as_millis()).unwrap_or(Millis::MAX);
        start.saturating_add(passed)
    })
}

/// Listens on an address of this machine alone; port 0 takes any free one.
///
/// # Errors
/// When the address is not a loopback address or cannot be had.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, SandboxError> {
    if !address.ip().is_loopback() {
        return Err(SandboxError::NotLoopback(address));
    }
    TcpListener::bind(address).await.map_err(|cause| SandboxError::Listen { address, cause })
}

/// Serves the sandbox, by the clock of its callers, until `shutdown` comes to its end. Answers that are being held back are
/// then given up.
///
/// # Errors
/// When the listener can be reached from other machines.
async fn serve(
    clock: CallersClock,
    listener: TcpListener,
    sandbox: Arc<Sandbox>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), SandboxError> {
    // A listener without an address cannot be reached at all.
    if let Ok(address) = listener.local_addr()
        && !address.ip().is_loopback()
    {
        return Err(SandboxError::NotLoopback(address));
    }
    let stop = CancellationToken::new();
    let connections = TaskTracker::new();
    let accepting = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (sandbox, clock, stop) = (Arc::clone(&sandbox), Arc::clone(&clock), stop.clone());
                    connections.spawn(async move {
                        tokio::select! {
                            // A client that goes away in the middle is nothing to report.
                            _ = converse(&stream, &sandbox, &clock) => {}
                            () = stop.cancelled() => {}
                        }
                    });
                }
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    };
    tokio::select! {
        () = accepting => {}
        () = shutdown => {}
    }
    stop.cancel();
    connections.close();
    connections.wait().await;
    Ok(())
}

/// One connection, request after request.
async fn converse(stream: &TcpStream, sandbox: &Sandbox, clock: &CallersClock) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::new();
    let mut continued = false;
    loop {
        match wire::read(&bytes) {
            Reading::More { .. } if bytes.len() > MOST_UNREAD => {
                return give_up(stream, 413, "The request is too large").await;
            }
            Reading::More { expects } => {
                if expects && !continued {
                    continued = true;
                    write(stream, b"HTTP/1.1 100 Continue\r\n\r\n").await?;
                }
                if read(stream, &mut bytes).await? == 0 {
                    return Ok(());
                }
            }
            Reading::Bad(status, why) => return give_up(stream, status, why).await,
            Reading::Whole { request, taken, keep } => {
                continued = false;
                bytes.drain(..taken);
                let answer = sandbox.respond(&request, clock());
                if answer.delay_ms > 0 {
                    sleep(Duration::from_millis(answer.delay_ms)).await;
                }
                let mut encoded = answer.response.encode();
                match answer.effect {
                    Effect::Deliver => write(stream, &encoded).await?,
                    Effect::Close => return Ok(()),
                    Effect::Reset => return stream.set_zero_linger(),
                    Effect::Cut(at) => {
                        encoded.truncate(at);
                        return write(stream, &encoded).await;
                    }
                    Effect::Drip(ms) => {
                        for byte in encoded {
                            write(stream, &[byte]).await?;
                            sleep(Duration::from_millis(ms)).await;
                        }
                    }
                    Effect::Hold => return drain(stream).await,
                }
                if !keep {
                    return Ok(());
                }
            }
        }
    }
}

/// Refuses what cannot be read to its end, and the connection with it. What still comes is read for a while: closing
/// with unread bytes would reset the connection and take the refusal with it.
async fn give_up(stream: &TcpStream, status: u16, why: &str) -> io::Result<()> {
    let mut refusal = Response::page(status, why);
    refusal.headers.push(("Connection", "close".to_owned()));
    write(stream, &refusal.encode()).await?;
    timeout(LINGER, drain(stream)).await.unwrap_or(Ok(()))
}

/// Reads and forgets until the client leaves.
async fn drain(stream: &TcpStream) -> io::Result<()> {
    let mut bytes = Vec::new();
    while read(stream, &mut bytes).await? > 0 {
        bytes.clear();
    }
    Ok(())
}

async fn read(stream: &TcpStream, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let mut buffer = [0; READ];
    loop {
        match stream.try_read(&mut buffer) {
            Ok(number) => {
                bytes.extend_from_slice(&buffer[..number]);
                return Ok(number);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.readable().await?,
            Err(error) => return Err(error),
        }
    }
}

async fn write(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(number) => bytes = &bytes[number..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A sandbox that is being served in this process.
pub struct Running {
    address: SocketAddr,
    sandbox: Arc<Sandbox>,
    stop: CancellationToken,
    task: JoinHandle<Result<(), SandboxError>>,
}

impl Running {
    /// Serves on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(sandbox: Arc<Sandbox>) -> Result<Self, SandboxError> {
        Self::start_at(sandbox, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Serves on this address.
    ///
    /// # Errors
    /// When the address is not a loopback address or cannot be had.
    pub async fn start_at(sandbox: Arc<Sandbox>, address: SocketAddr) -> Result<Self, SandboxError> {
        Self::start_by(steady_clock(), sandbox, address).await
    }

    /// Serves on this address by another clock than the machine's.
    ///
    /// # Errors
    /// When the address is not a loopback address or cannot be had.
    pub async fn start_by(
        clock: CallersClock,
        sandbox: Arc<Sandbox>,
        address: SocketAddr,
    ) -> Result<Self, SandboxError> {
        let listener = bind(address).await?;
        let address = listener.local_addr().map_err(|cause| SandboxError::Listen { address, cause })?;
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let task = tokio::spawn(serve(clock, listener, Arc::clone(&sandbox), stopped));
        Ok(Self { address, sandbox, stop, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a profile has as `base_url`, for example `http://127.0.0.1:40123`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The sandbox itself, for its ledger and statistics.
    #[must_use]
    pub fn sandbox(&self) -> &Arc<Sandbox> {
        &self.sandbox
    }

    /// Stops serving and waits until every connection is closed.
    pub async fn stop(self) {
        self.stop.cancel();
        // The task ends by itself now; that it could not is a panic that has already been shown.
        let _ = self.task.await;
    }
}
