//! A command: started without a shell, with the facts in its environment and the notification on its standard input. It
//! has a process group of its own, which is killed when the command does not end in time.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::Failure;
use crate::notify::Notification;
use crate::notify::format::mail::mail;
use crate::notify::format::variables::variables;

/// How much of what the command prints is kept for the log; the rest is read and dropped.
const KEPT: usize = 4096;

/// How long what a command printed may take to arrive after its end.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// What the command must not see.
const SECRETS: [&str; 3] = ["FLEETLOAD_CLIENT_SECRET", "FLEETLOAD_NOTIFY_SECRET", "FLEETLOAD_NOTIFY_WEBHOOK"];

/// A command that is started for each notification.
#[derive(Debug, Clone)]
pub struct CommandTarget {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder it is started in.
    pub folder: PathBuf,
    /// The addresses of the mail that it gets on standard input; without any it gets JSON.
    pub mail_to: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// Kills the process group of the command unless that has ended: also when nobody waits for it any more.
struct Group {
    child: Child,
    ended: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            kill(&mut self.child);
        }
    }
}

impl CommandTarget {
    /// Starts it once and waits for its end.
    pub(super) async fn deliver(&self, notification: &Notification) -> Result<(), Failure> {
        let input = match self.mail_to.as_slice() {
            [] => format!("{}\n", notification.json()),
            to => mail(notification, to),
        };
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(variables(notification))
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for secret in SECRETS {
            command.env_remove(secret);
        }
        #[cfg(unix)]
        command.process_group(0);
        let child = command
            .spawn()
            .map_err(|error| Failure::Passing(format!("the command cannot be started: {error}")))?;
        let mut group = Group { child, ended: false };
        let mut printed = [Vec::new(), Vec::new()];
        let ended = timeout(self.timeout, run(&mut group.child, input.as_bytes(), &mut printed)).await;
        group.ended = ended.is_ok();
        let printed = printed.concat();
        if !printed.is_empty() {
            tracing::info!(printed = %String::from_utf8_lossy(&printed), "notification command");
        }
        match ended {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(Failure::Passing(format!("the command failed ({status})"))),
            Ok(Err(error)) => Err(Failure::Passing(format!("the command cannot be waited for: {error}"))),
            Err(_late) => Err(Failure::Late(format!(
                "the command did not end within {} s and was killed",
                self.timeout.as_secs()
            ))),
        }
    }
}

/// Feeds a command and reads what it prints until it ends. What its own children print after that is not waited for.
async fn run(
    child: &mut Child,
    input: &[u8],
    [out, err]: &mut [Vec<u8>; 2],
) -> std::io::Result<std::process::ExitStatus> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A command that does not read it is free to do so.
            let _unread = stdin.write_all(input).await;
        }
    };
    let talk = async { tokio::join!(feed, keep(stdout, out), keep(stderr, err)) };
    tokio::pin!(talk);
    tokio::select! {
        status = child.wait() => {
            let _held_open_by_others = timeout(LAST_WORDS, talk).await;
            status
        }
        _ = &mut talk => child.wait().await,
    }
}

/// Reads to the end, and keeps the beginning.
async fn keep(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut from) = from else { return };
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        kept.extend(chunk.iter().take(length.min(KEPT.saturating_sub(kept.len()))));
    }
}

#[cfg(unix)]
fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};

    // Its number is that of its group, and is not given to another before it was waited for.
    if let Some(group) = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
        let _ended_already = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _ended_already = child.start_kill();
}
