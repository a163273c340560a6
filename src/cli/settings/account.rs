//! The service account among the settings: base address, client id, and where the secret comes from.

use std::path::Path;

use secrecy::SecretString;
use url::Url;

use super::layers::{Layers, Origin, Setting, wrong};
use super::secret::{CLIENT_SECRET, SecretSource};
use super::setting::{BASE_URL, CLIENT_ID, SECRET_COMMAND, SECRET_FILE};
use super::{Purpose, Settings};
use crate::error::{Error, Result};
use crate::journal::Account;
use crate::service::check_base;

/// The service account: where, who, and where the secret is.
#[derive(Debug, Clone)]
pub(in crate::cli) struct AccountSettings {
    pub(in crate::cli) base_url: Setting<Url>,
    pub(in crate::cli) client_id: Setting<String>,
    /// Without one nothing is sent.
    pub(in crate::cli) secret: Option<SecretSource>,
}

/// Where the sandbox inside the process listens, and whom it lets in.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Rehearsed {
    pub(in crate::cli) address: Url,
    pub(in crate::cli) client_id: String,
    pub(in crate::cli) client_secret: SecretString,
}

impl Settings {
    /// The account that a journal is bound to. A rehearsal has a name of its own, that no real service has.
    pub(in crate::cli) fn identity(&self) -> Option<Account> {
        let account = self.account.as_ref()?;
        let client_id = account.client_id.value.clone();
        Some(match account.base_url.origin {
            Origin::Rehearsal => Account::of_rehearsal(client_id),
            Origin::Flag(_) | Origin::Environment(_) | Origin::File(..) | Origin::Default => {
                let base_url = account.base_url.value.as_str().trim_end_matches('/').to_owned();
                Account { base_url, client_id }
            }
        })
    }
}

pub(super) fn rehearsal_account(rehearsed: &Rehearsed) -> AccountSettings {
    AccountSettings {
        base_url: Setting::of_rehearsal(rehearsed.address.clone()),
        client_id: Setting::of_rehearsal(rehearsed.client_id.clone()),
        secret: Some(SecretSource::Rehearsal(rehearsed.client_secret.clone())),
    }
}

pub(super) fn account(layers: &Layers<'_>, purpose: &Purpose) -> Result<Option<AccountSettings>> {
    let file = layers.profile;
    let base_url = layers.text(&BASE_URL, None);
    let client_id = layers.text(&CLIENT_ID, None);
    if matches!(purpose, Purpose::Reckoning) && base_url.is_none() {
        return Ok(None);
    }
    let missing = |key: &str, variable: &str| {
        let (error, first) = if file.name.is_empty() {
            (Error::usage("there is no profile: no settings file was found"), {
                format!("copy fleetload.example.toml to fleetload.toml and set {key} there")
            })
        } else {
            let error = format!("{}: [profile.{}] has no {key}", file.file.display(), file.name);
            (Error::usage(error), format!("set {key} there"))
        };
        error.hint(format!(
            "{first}, or set {variable};\nto rehearse without a service: fleetload run FILE --sandbox"
        ))
    };
    let base_url = base_url.ok_or_else(|| missing("base_url", "FLEETLOAD_BASE_URL"))?;
    let named = (BASE_URL.key, "https://provisioning.example");
    let base_url = Setting { value: address(&base_url, named, check_base)?, origin: base_url.origin };
    let client_id = client_id.ok_or_else(|| missing("client_id", "FLEETLOAD_CLIENT_ID"))?;
    if client_id.value.trim().is_empty() || client_id.value.chars().any(char::is_control) {
        return Err(wrong(&client_id, "client_id", "must not be empty or hold control characters"));
    }
    let secret = secret(layers)?;
    if secret.is_none() && !matches!(purpose, Purpose::Reckoning) {
        return Err(missing("client_secret_file", "FLEETLOAD_CLIENT_SECRET"));
    }
    Ok(Some(AccountSettings { base_url, client_id, secret }))
}

fn secret(layers: &Layers<'_>) -> Result<Option<SecretSource>> {
    let file = layers.profile;
    let place = |line: usize| format!("{}, line {line}", file.file.display());
    if let (Some(_), Some(command)) = (file.value(&SECRET_FILE), file.value(&SECRET_COMMAND)) {
        return Err(Error::usage(format!(
            "{}: the profile has both client_secret_file and client_secret_command",
            place(command.line)
        ))
        .hint("remove one of the two"));
    }
    if let Some(secret) = SecretSource::of_environment(layers.environment, CLIENT_SECRET) {
        return Ok(Some(secret));
    }
    if let Some(secret) = SecretSource::of_file(layers, &SECRET_FILE) {
        return Ok(Some(secret));
    }
    Ok(file.value(&SECRET_COMMAND).map(|command| SecretSource::Command {
        command: command.value.clone(),
        place: place(command.line),
        folder: file.file.parent().unwrap_or(Path::new("")).to_owned(),
    }))
}

/// The address of something that is sent a secret, where it breaks no rule of `check`. No message shows it: it may hold a
/// password or a token.
pub(super) fn address(
    text: &Setting<String>,
    (key, example): (&str, &str),
    check: fn(&Url) -> std::result::Result<(), &'static str>,
) -> Result<Url> {
    let broken = |rule: &str| {
        wrong(text, key, rule).hint(format!(
            "write it like {example}; plain http is allowed only to this machine: 127.0.0.1, [::1] or localhost"
        ))
    };
    let url = Url::parse(&text.value).map_err(|cause| broken("is not an address").because(cause))?;
    check(&url).map_err(broken)?;
    Ok(url)
}
