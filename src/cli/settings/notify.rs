//! The settings of notifications: whom a run tells, and what of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::account::address;
use super::layers::{Layers, Origin, Setting};
use super::secret::SecretSource;
use super::section::Located;
use super::setting::{FORMAT, NOTIFY_SECRET_FILE, NOTIFY_TIMEOUT, WEBHOOK, nearest};
use super::{CONNECT_TIMEOUT, Settings};
use crate::error::{Error, Result};
use crate::notify::{CommandTarget, Event, Format, Target, WebhookTarget};
use crate::service::{Reach, check_address};

/// The variable with the secret of the signature.
const SECRET: &str = "FLEETLOAD_NOTIFY_SECRET";
/// The longest address of a mail (RFC 5321).
const LONGEST_ADDRESS: usize = 254;

/// Whom a run tells, and what of it.
#[derive(Debug, Clone)]
pub(in crate::cli) struct NotifySettings {
    /// Its value holds a token with some receivers and is never shown.
    webhook: Option<Setting<Address>>,
    format: Setting<Format>,
    secret: Option<SecretSource>,
    command: Option<Setting<Vec<String>>>,
    mail_to: Option<Setting<Vec<String>>>,
    folder: PathBuf,
    pub(in crate::cli) on: Setting<BTreeSet<Event>>,
    timeout: Setting<Duration>,
}

/// The address of a webhook, which cannot be printed.
#[derive(Clone)]
struct Address(Url);

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Address")
    }
}

impl NotifySettings {
    /// Brings environment and file together and checks them.
    pub(super) fn settle(layers: &Layers<'_>) -> Result<Self> {
        let file = layers.profile;
        let folder = file.file.parent().unwrap_or(Path::new("")).to_owned();
        let of_file = |line: usize| Origin::File(file.file.clone(), line);
        let at = |located: &Located<String>, what: &str| {
            Error::usage(format!("{}: {what}", of_file(located.line)))
        };
        let webhook = match layers.text(&WEBHOOK, None) {
            Some(text) => Some(Setting { value: webhook(&text)?, origin: text.origin }),
            None => None,
        };
        let secret = SecretSource::of_environment(layers.environment, SECRET)
            .or_else(|| SecretSource::of_file(layers, &NOTIFY_SECRET_FILE));
        let lists = &file.notify;
        let command = match lists.command.as_slice() {
            [] => None,
            [program, ..] if program.value.is_empty() => {
                return Err(at(program, "'command' begins with an empty text")
                    .hint("name the program first: command = [\"/usr/local/bin/notify\", \"--night\"]"));
            }
            [program, ..] => Some(Setting {
                value: lists.command.iter().map(|word| word.value.clone()).collect(),
                origin: of_file(program.line),
            }),
        };
        if let (None, Some(to)) = (&command, lists.mail_to.first()) {
            return Err(at(to, "'mail_to' needs a command that sends the mail")
                .hint("for example command = [\"/usr/sbin/sendmail\", \"-t\", \"-i\"]"));
        }
        if let Some(to) = lists.mail_to.iter().find(|to| !is_mail_address(&to.value)) {
            return Err(at(to, "'mail_to' holds something that is not the address of a mailbox")
                .hint("write the bare address: mail_to = [\"ops@example.com\"]"));
        }
        let on = match lists.on.first() {
            None => Setting::default_of(Event::ALL.into_iter().collect()),
            Some(first) => {
                let parse = |word: &Located<String>| {
                    Event::parse(&word.value).ok_or_else(|| unknown_event(&at, word))
                };
                let events = lists.on.iter().map(parse).collect::<Result<_>>()?;
                Setting { value: events, origin: of_file(first.line) }
            }
        };
        let missing = || Error::internal("a setting has neither value nor default");
        Ok(Self {
            webhook,
            format: layers.word(&FORMAT, None)?,
            secret,
            command,
            mail_to: lists.mail_to.first().map(|first| Setting {
                value: lists.mail_to.iter().map(|to| to.value.clone()).collect(),
                origin: of_file(first.line),
            }),
            folder,
            on,
            timeout: layers.number(&NOTIFY_TIMEOUT, None)?.ok_or_else(missing)?.map(Duration::from_secs),
        })
    }

    /// Whether anybody is notified.
    pub(in crate::cli) const fn tells(&self) -> bool {
        self.webhook.is_some() || self.command.is_some()
    }

    /// The names of the targets.
    pub(in crate::cli) fn names(&self) -> Vec<&'static str> {
        let webhook = self.webhook.as_ref().map(|_| Target::WEBHOOK);
        let command = self.command.as_ref().map(|_| Target::COMMAND);
        webhook.into_iter().chain(command).collect()
    }

    /// Each setting with its value and origin, where somebody is notified. Of address and secret, only the origin.
    pub(super) fn listed(&self, put: &mut dyn FnMut(&str, String, &dyn std::fmt::Display)) {
        if let Some(webhook) = &self.webhook {
            put("notify.webhook", "(not shown)".to_owned(), &webhook.origin);
            put("notify.format", self.format.value.word().to_owned(), &self.format.origin);
            if let Some(secret) = &self.secret {
                put("notify.secret", "(not shown)".to_owned(), &secret.words());
            }
        }
        if let Some(command) = &self.command {
            put("notify.command", command.value.join(" "), &command.origin);
            if let Some(to) = &self.mail_to {
                put("notify.mail_to", to.value.join(", "), &to.origin);
            }
        }
        if self.tells() {
            let on: Vec<&str> = self.on.value.iter().map(|event| event.as_str()).collect();
            put("notify.on", on.join(", "), &self.on.origin);
            put("notify.timeout_seconds", self.timeout.value.as_secs().to_string(), &self.timeout.origin);
        }
    }
}

impl Settings {
    /// Whom to tell; reads the secret of the signature.
    ///
    /// # Errors
    /// Usage when the secret or the certificates cannot be used.
    pub(in crate::cli) fn notify_targets(&self) -> Result<Vec<Target>> {
        let notify = &self.notify;
        let timeout = notify.timeout.value;
        let mut targets = Vec::new();
        if let Some(webhook) = &notify.webhook {
            let secret: Option<SecretString> = notify.secret.as_ref().map(SecretSource::read).transpose()?;
            let reach = Reach {
                request_timeout: timeout,
                connect_timeout: CONNECT_TIMEOUT.min(timeout),
                proxy: self.proxy.value,
                ca_file: self.ca_file.value.clone(),
            };
            let format = notify.format.value;
            targets.push(Target::Webhook(WebhookTarget::new(&webhook.value.0, format, secret, &reach)?));
        }
        if let Some([program, arguments @ ..]) =
            notify.command.as_ref().map(|command| command.value.as_slice())
        {
            targets.push(Target::Command(CommandTarget {
                program: program.clone(),
                arguments: arguments.to_vec(),
                folder: if notify.folder.as_os_str().is_empty() {
                    PathBuf::from(".")
                } else {
                    notify.folder.clone()
                },
                mail_to: notify.mail_to.as_ref().map(|to| to.value.clone()).unwrap_or_default(),
                timeout,
            }));
        }
        Ok(targets)
    }
}

fn unknown_event(at: &dyn Fn(&Located<String>, &str) -> Error, word: &Located<String>) -> Error {
    let known = Event::ALL.map(Event::as_str);
    let error = at(word, &format!("'on' must hold {}", known.join(", ")));
    match nearest(&word.value, known) {
        Some(known) => error.hint(format!("did you mean \"{known}\"?")),
        None => error,
    }
}

/// The address of a webhook.
fn webhook(text: &Setting<String>) -> Result<Address> {
    address(text, (WEBHOOK.key, "https://hooks.example/fleetload"), check_address).map(Address)
}

/// Whether a text is the bare address of a mailbox, and so cannot add to the headers of a mail.
fn is_mail_address(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic() && !",;:<>()[]\"\\".contains(c);
    text.len() <= LONGEST_ADDRESS
        && text.chars().all(is_plain)
        && text
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_goes_to_bare_addresses_only() {
        let table = [
            ("ops@example.com", true),
            ("o'neill+night@example.com", true),
            ("ops", false),
            ("@example.com", false),
            ("a@b@c", false),
            ("ops@example.com\nBcc: all@example.com", false),
            ("Ops <ops@example.com>", false),
            ("a@example.com,b@example.com", false),
            ("", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_mail_address(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_webhook_is_https_or_this_machine_and_its_address_is_never_shown() {
        let judge = |text: &str| {
            webhook(&Setting {
                value: text.to_owned(),
                origin: Origin::Environment("FLEETLOAD_NOTIFY_WEBHOOK"),
            })
        };
        for text in ["https://hooks.example/T0/s3cret", "http://127.0.0.1:9/x", "http://localhost/x"] {
            assert!(judge(text).is_ok(), "{text}");
        }
        for text in ["http://hooks.example/s3cret", "ftp://h/s3cret", "s3cret", "https://me:s3cret@h/"] {
            let error = judge(text).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{text}: {error}");
        }
    }
}
