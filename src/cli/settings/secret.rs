//! Secrets, the client secret above all: where one comes from, and getting it from there into a type that cannot be printed.
//!
//! No message names the content of a file, the output of a command or a value that may be a pasted secret.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use secrecy::SecretString;

use super::environment::Environment;
use super::layers::Layers;
use super::setting::SettingSpec;
use crate::error::{Error, Result};

/// The variable with the client secret.
pub(super) const CLIENT_SECRET: &str = "FLEETLOAD_CLIENT_SECRET";

/// More than any secret needs; a larger file, or a command that prints more, is something else.
const LARGEST_SECRET: u64 = 64 * 1024;

/// How long the command that prints the secret may take: somebody may have to type a passphrase first.
const LONGEST_COMMAND: Duration = Duration::from_secs(60);

/// Where the secret comes from. Printing it shows no secret.
#[derive(Debug, Clone)]
pub(in crate::cli) enum SecretSource {
    /// A variable of ours, by its name.
    Environment(&'static str, SecretString),
    /// What the sandbox inside the process asks for.
    Rehearsal(SecretString),
    /// A file that the settings file names as `key`, already joined to its folder; `credentials` is systemd's folder.
    File { key: &'static str, path: PathBuf, place: String, credentials: Option<PathBuf> },
    /// `client_secret_command`, run in the folder of the settings file.
    Command { command: String, place: String, folder: PathBuf },
}

impl SecretSource {
    /// The secret of a variable of the environment, when it is set there.
    pub(super) fn of_environment(environment: &Environment, variable: &'static str) -> Option<Self> {
        environment.get(variable).map(|secret| Self::Environment(variable, secret.to_owned().into()))
    }

    /// The file that the settings file names, from its own folder, for this setting.
    pub(super) fn of_file(layers: &Layers<'_>, known: &SettingSpec) -> Option<Self> {
        let file = layers.profile;
        let named = file.value(known)?;
        Some(Self::File {
            key: known.key,
            path: file.file.parent().unwrap_or(Path::new("")).join(&named.value),
            place: format!("{}, line {}", file.file.display(), named.line),
            credentials: layers.environment.folder("CREDENTIALS_DIRECTORY"),
        })
    }

    /// What kind of place it is, in words.
    pub(in crate::cli) fn words(&self) -> String {
        match self {
            Self::Environment(variable, _) => format!("environment {variable}"),
            Self::Rehearsal(_) => "rehearsal".to_owned(),
            Self::File { key, .. } => (*key).to_owned(),
            Self::Command { .. } => "client_secret_command".to_owned(),
        }
    }

    /// Gets the secret.
    pub(in crate::cli) fn read(&self) -> Result<SecretString> {
        match self {
            Self::Environment(_, secret) | Self::Rehearsal(secret) => Ok(secret.clone()),
            Self::File { key, path, place, credentials } => {
                let text = read_file(path, credentials.as_deref())
                    .map_err(|refusal| refusal.into_error(key, place))?;
                checked(text, key, place)
            }
            Self::Command { command, place, folder } => {
                let text = run(command, folder, LONGEST_COMMAND)
                    .map_err(|refusal| refusal.into_error("client_secret_command", place))?;
                checked(text, "client_secret_command", place)
            }
        }
    }
}

/// Why a secret could not be had.
struct Refusal {
    why: String,
    hint: String,
    cause: Option<std::io::Error>,
}

impl Refusal {
    fn new(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { why: why.into(), hint: hint.into(), cause: None }
    }

    fn into_error(self, key: &str, place: &str) -> Error {
        let error = Error::usage(format!("{place}: {key}: {}", self.why)).hint(self.hint);
        match self.cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    }
}

fn read_file(path: &Path, credentials: Option<&Path>) -> std::result::Result<Vec<u8>, Refusal> {
    let cannot = |cause: std::io::Error| Refusal {
        why: "the file it names cannot be read".to_owned(),
        hint: "a relative name is looked for in the folder of the settings file".to_owned(),
        cause: Some(cause),
    };
    let mut file = std::fs::File::open(path).map_err(cannot)?;
    // Of the open file, so that what is checked is what is read.
    let metadata = file.metadata().map_err(cannot)?;
    if !metadata.is_file() {
        return Err(Refusal::new(
            "it names something that is not a file",
            "name a file that holds the secret",
        ));
    }
    if metadata.len() > LARGEST_SECRET {
        return Err(Refusal::new(
            "the file it names is too large to be a secret",
            "the file should hold the secret and nothing else",
        ));
    }
    refuse_readable_by_others(&metadata, path, credentials)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}

#[cfg(unix)]
fn refuse_readable_by_others(
    metadata: &std::fs::Metadata,
    path: &Path,
    credentials: Option<&Path>,
) -> std::result::Result<(), Refusal> {
    use std::os::unix::fs::MetadataExt as _;

    // systemd hands out credentials as 0440 in a folder that only the service can enter.
    let given_by_systemd = credentials.is_some_and(|folder| path.parent() == Some(folder));
    let forbidden = if given_by_systemd { 0o037 } else { 0o077 };
    if metadata.mode() & forbidden == 0 {
        return Ok(());
    }
    Err(Refusal::new(
        format!("others can read or change the file it names (mode {:04o})", metadata.mode() & 0o7777),
        "make it yours alone: chmod 600 and the name of the file",
    ))
}

#[cfg(not(unix))]
fn refuse_readable_by_others(
    _: &std::fs::Metadata,
    _: &Path,
    _: Option<&Path>,
) -> std::result::Result<(), Refusal> {
    Ok(())
}

/// What a command prints, which must come to its end within a time and a size.
fn run(command: &str, folder: &Path, limit: Duration) -> std::result::Result<Vec<u8>, Refusal> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let started = |cause: std::io::Error| Refusal {
        why: "the command cannot be started".to_owned(),
        hint: "try the command in a shell first".to_owned(),
        cause: Some(cause),
    };
    let mut child = Command::new(shell)
        .arg(flag)
        .arg(command)
        .current_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        .stdin(Stdio::inherit())
        .stderr(Stdio::inherit())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(started)?;
    let Some(printed) = child.stdout.take() else {
        return Err(started(std::io::Error::other("its output cannot be read")));
    };
    // Read beside, so that a command that prints nothing more, or does not end, is not waited for.
    let (send, received) = channel();
    thread::Builder::new()
        .name("secret".to_owned())
        .spawn(move || {
            let mut bytes = Vec::new();
            let read = printed.take(LARGEST_SECRET + 1).read_to_end(&mut bytes).map(|_length| bytes);
            // Whoever asked may wait no longer.
            let _gone = send.send(read);
        })
        .map_err(started)?;
    let begun = Instant::now();
    let printed = received.recv_timeout(limit);
    if matches!(&printed, Ok(Ok(bytes)) if bytes.len() as u64 > LARGEST_SECRET) {
        end(&mut child);
        return Err(Refusal::new(
            format!("the command printed more than {} KiB", LARGEST_SECRET / 1024),
            "it should print the secret and nothing else",
        ));
    }
    let status =
        if printed.is_ok() { ended(&mut child, limit.saturating_sub(begun.elapsed())) } else { None };
    let (Ok(printed), Some(status)) = (printed, status) else {
        end(&mut child);
        return Err(Refusal::new(
            format!("the command did not end within {} s", limit.as_secs()),
            "try it in a shell: it should print the secret and end",
        ));
    };
    let printed = printed.map_err(started)?;
    if !status.success() {
        return Err(Refusal::new(
            format!("the command failed ({status})"),
            "its own words, if it had any, are above; try it in a shell",
        ));
    }
    Ok(printed)
}

/// How a command ended whose output has ended; nothing when it goes on without it for so long.
fn ended(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    const LOOK_EVERY: Duration = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if waited < limit => thread::sleep(LOOK_EVERY),
            Ok(None) | Err(_) => return None,
        }
        waited += LOOK_EVERY;
    }
}

/// Ends a command.
fn end(child: &mut Child) {
    let _ended_already = child.kill();
    let _ended = child.wait();
}

/// Takes off one last line end and refuses what no secret is.
fn checked(bytes: Vec<u8>, key: &str, place: &str) -> Result<SecretString> {
    let refuse = |why: &str, hint: &str| Err(Refusal::new(why, hint).into_error(key, place));
    // The error of this conversion holds the bytes and must not travel.
    let Ok(mut text) = String::from_utf8(bytes) else {
        return refuse("what it gives is not text", "the secret must be the only content, as plain text");
    };
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    if text.trim().is_empty() {
        return refuse("what it gives is empty", "the secret must be the only content");
    }
    if text.chars().any(char::is_control) {
        return refuse(
            "what it gives has several lines or control characters",
            "the secret must be the only content, on one line",
        );
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    fn command(command: &str) -> Result<SecretString> {
        SecretSource::Command {
            command: command.to_owned(),
            place: "fleetload.toml, line 4".to_owned(),
            folder: std::env::temp_dir(),
        }
        .read()
    }

    fn told<T>(result: Result<T>) -> String {
        let error = result.map(|_| ()).unwrap_err();
        format!("{error} | {}", error.next_step().unwrap_or_default())
    }

    #[cfg(unix)]
    fn file(content: &str, mode: u32, given_by_systemd: bool) -> Result<SecretString> {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("acme.secret");
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let credentials = given_by_systemd.then(|| folder.path().to_owned());
        let (key, place) = ("client_secret_file", "fleetload.toml, line 4".to_owned());
        SecretSource::File { key, path, place, credentials }.read()
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_file_is_read_only_when_nobody_else_can() {
        for (mode, systemd, allowed) in [
            (0o600, false, true),
            (0o400, false, true),
            (0o640, false, false),
            (0o604, false, false),
            (0o620, false, false),
            (0o440, false, false),
            (0o440, true, true),
            (0o444, true, false),
            (0o460, true, false),
        ] {
            assert_eq!(file("hunter2\n", mode, systemd).is_ok(), allowed, "{mode:o} {systemd}");
        }
        assert_eq!(
            told(file("hunter2\n", 0o644, false)),
            "fleetload.toml, line 4: client_secret_file: others can read or change the file it names (mode 0644) \
             | make it yours alone: chmod 600 and the name of the file"
        );
    }

    #[cfg(unix)]
    #[test]
    fn one_last_line_end_is_no_part_of_the_secret() {
        for content in ["hunter2", "hunter2\n", "hunter2\r\n"] {
            assert_eq!(file(content, 0o600, false).unwrap().expose_secret(), "hunter2");
        }
        assert_eq!(file(" hunter2 ", 0o600, false).unwrap().expose_secret(), " hunter2 ");
        for content in ["", "\n", "hunter2\n\n", "hunter2\nmore"] {
            let told = told(file(content, 0o600, false));
            assert!(told.contains("client_secret_file: what it gives"), "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    }

    #[test]
    fn a_missing_file_is_told_without_its_name_which_may_be_a_pasted_secret() {
        let source = SecretSource::File {
            key: "client_secret_file",
            path: "hunter2".into(),
            place: "fleetload.toml, line 4".to_owned(),
            credentials: None,
        };
        let told = told(source.read());
        assert!(
            told.starts_with("fleetload.toml, line 4: client_secret_file: the file it names cannot be read")
        );
        assert!(!told.contains("hunter2"), "{told}");
    }

    #[cfg(unix)]
    #[test]
    fn a_command_prints_the_secret_and_its_failure_is_told() {
        assert_eq!(command("printf 'hunter2\\n'").unwrap().expose_secret(), "hunter2");
        assert_eq!(
            told(command("echo hunter2; exit 3")),
            "fleetload.toml, line 4: client_secret_command: the command failed (exit status: 3) \
             | its own words, if it had any, are above; try it in a shell"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_prints_without_end_or_does_not_end_is_not_waited_for() {
        assert_eq!(
            told(command("yes hunter2")),
            "fleetload.toml, line 4: client_secret_command: the command printed more than 64 KiB \
             | it should print the secret and nothing else"
        );
        let refusal = run("exec tail -f /dev/null", &std::env::temp_dir(), Duration::ZERO);
        assert_eq!(
            refusal.err().map(|refusal| refusal.why).as_deref(),
            Some("the command did not end within 0 s")
        );
    }

    #[test]
    fn the_source_can_be_printed_without_the_secret() {
        let environment = Environment::of(&[("FLEETLOAD_CLIENT_SECRET", "hunter2")]);
        let source = SecretSource::of_environment(&environment, CLIENT_SECRET).unwrap();
        assert_eq!(source.read().unwrap().expose_secret(), "hunter2");
        assert!(!format!("{source:?}").contains("hunter2"));
    }
}
