//! The signals that end a command: Ctrl-C, `kill`, and the terminal going away.
//!
//! A terminal that goes away ends nothing where its signal is ignored, as under `nohup`. One listener for the whole life of the process: once it listens, the system no longer ends us by itself.

use std::io;

/// Listens for SIGINT, SIGTERM and SIGHUP, or Ctrl-C where there are no such signals.
#[cfg(unix)]
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` where whoever started us has it ignored (`nohup`): the run is to outlive its terminal then.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: match ignores_hang_up() {
                true => None,
                false => Some(signal(SignalKind::hangup())?),
            },
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hung_up(self.hang_up.as_mut()) => {}
        }
    }
}

#[cfg(unix)]
async fn hung_up(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether SIGHUP was being ignored when this process began. To listen for it would undo that.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    // Where the system does not tell in this way, it is listened for.
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| hang_up_is_ignored_in(&status))
}

#[cfg(unix)]
fn hang_up_is_ignored_in(status: &str) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        // Bit 0 stands for signal 1, which is SIGHUP everywhere.
        .is_some_and(|mask| mask & 1 == 1)
}

/// Listens for Ctrl-C.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next Ctrl-C.
    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_of_the_ignored_signals_is_the_hang_up() {
        for (mask, ignored) in [
            ("0000000000000001", true),
            ("0000000000001003", true),
            ("0000000000001002", false),
            ("0000000000000000", false),
            ("not a mask", false),
        ] {
            let status = format!("Name:\tfleetload\nSigIgn:\t{mask}\nSigCgt:\t0000000000000001\n");
            assert_eq!(hang_up_is_ignored_in(&status), ignored, "{mask}");
        }
        assert!(!hang_up_is_ignored_in(""));
    }
}
