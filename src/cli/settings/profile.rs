//! What a settings file says: one profile for each service account, checked for form, each value with its line.
//!
//! Whether the values make sense together with flags and environment is decided in [`crate::cli::settings`].

use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::choice::{
    AuditWord, InDoubtWord, MethodWord, OnExistingWord, OnQuotaWord, PathsWord, ProxyWord, nearest,
};
use super::environment::Environment;
use super::reading_options::Layer;
use super::reading_profile;
use super::section::{Located, Section, Source};
use crate::error::{Error, Result};
use crate::model::operation::{Method, Operation};

/// The name of the settings file.
const FILE_NAME: &str = "fleetload.toml";
/// More than any settings file needs; a larger file is something else.
const LARGEST_FILE: u64 = 1024 * 1024;

const LIMITS: &[&str] = &["rate", "concurrency", "daily_quota", "reserve"];
const POLICY: &[&str] =
    &["on_quota", "on_existing", "in_doubt", "audit", "settle_seconds", "request_timeout_seconds"];

/// One profile, as the file has it. Absent keys are absent, nothing is filled in.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Profile {
    pub(in crate::cli) name: String,
    pub(in crate::cli) file: PathBuf,
    pub(in crate::cli) base_url: Option<Located<String>>,
    pub(super) client_id: Option<Located<String>>,
    pub(super) client_secret_file: Option<Located<String>>,
    pub(super) client_secret_command: Option<Located<String>>,
    pub(super) paths: Option<Located<PathsWord>>,
    pub(super) ca_file: Option<Located<String>>,
    pub(super) proxy: Option<Located<ProxyWord>>,
    pub(super) rate: Option<Located<String>>,
    pub(super) concurrency: Option<Located<String>>,
    pub(super) daily_quota: Option<Located<String>>,
    pub(super) reserve: Option<Located<String>>,
    pub(super) on_quota: Option<Located<OnQuotaWord>>,
    pub(super) on_existing: Option<Located<OnExistingWord>>,
    pub(super) in_doubt: Option<Located<InDoubtWord>>,
    pub(super) audit: Option<Located<AuditWord>>,
    pub(super) settle_seconds: Option<Located<String>>,
    pub(super) request_timeout_seconds: Option<Located<String>>,
    pub(super) endpoints: Vec<MappedEndpoint>,
    /// How the sheets of this account are read.
    pub(in crate::cli) reading: Layer,
    /// How those of its customers are read, by their names.
    pub(in crate::cli) customers: Vec<(String, Layer)>,
}

/// `[profile.NAME.endpoints.OPERATION]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MappedEndpoint {
    pub(in crate::cli) operation: Operation,
    pub(in crate::cli) method: MethodWord,
    pub(in crate::cli) path: String,
    pub(in crate::cli) line: usize,
}

/// Finds the settings file: the one named, else one in `here`, else one in the user's configuration folder.
pub(in crate::cli) fn locate(
    named: Option<&Path>,
    here: &Path,
    environment: &Environment,
) -> Result<Option<PathBuf>> {
    if let Some(file) = named {
        return if file.is_file() {
            Ok(Some(file.to_owned()))
        } else {
            Err(Error::usage(format!("there is no settings file {}", file.display()))
                .hint("name one that exists with --config, or copy fleetload.example.toml to it"))
        };
    }
    let beside = PathBuf::from(FILE_NAME);
    if here.join(&beside).is_file() {
        return Ok(Some(beside));
    }
    Ok(user_folder(environment)
        .map(|folder| folder.join("fleetload").join(FILE_NAME))
        .filter(|f| f.is_file()))
}

fn user_folder(environment: &Environment) -> Option<PathBuf> {
    if cfg!(windows) {
        return environment.folder("APPDATA");
    }
    // A relative XDG_CONFIG_HOME is to be ignored, says its specification.
    environment
        .folder("XDG_CONFIG_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| environment.folder("HOME").map(|home| home.join(".config")))
}

/// Reads a settings file and picks the profile `wanted`, or the only one.
pub(in crate::cli) fn read(file: &Path, wanted: Option<&str>) -> Result<Profile> {
    choose(file, profiles(file, &content(file)?)?, wanted)
}

/// The profile that says how sheets are read; no account is needed for it. `None` where none says anything, so that
/// none need be chosen.
pub(in crate::cli) fn read_for_sheets(file: &Path, wanted: Option<&str>) -> Result<Option<Profile>> {
    let profiles = profiles(file, &content(file)?)?;
    let says = |profile: &Profile| !profile.reading.is_empty() || !profile.customers.is_empty();
    if wanted.is_none() && profiles.len() != 1 && !profiles.iter().any(says) {
        return Ok(None);
    }
    choose(file, profiles, wanted).map(Some)
}

fn content(file: &Path) -> Result<String> {
    let cannot = || Error::usage(format!("cannot read the settings file {}", file.display()));
    let size = std::fs::metadata(file).map_err(|error| cannot().because(error))?.len();
    if size > LARGEST_FILE {
        return Err(cannot().because("it is larger than any settings file needs to be"));
    }
    std::fs::read_to_string(file).map_err(|error| cannot().because(error))
}

/// Reads the text of a settings file.
pub(in crate::cli) fn parse(file: &Path, text: &str, wanted: Option<&str>) -> Result<Profile> {
    choose(file, profiles(file, text)?, wanted)
}

fn profiles(file: &Path, text: &str) -> Result<Vec<Profile>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source { file, text };
    let table = DeTable::parse(text).map_err(|error| {
        // The error's own form shows the line, which may hold a secret: only its words and place are used.
        let line = source.line(error.span().map_or(0, |span| span.start));
        source.error(line, format!("this is not TOML: {}", error.message()))
    })?;
    let mut root = Section::new(source, "", table.into_inner());
    let profiles_table = root.section("profile")?;
    root.finish(|key| {
        let inside =
            ["base_url", "client_id", "limits", "policy", "endpoints", "reading", "customers"].contains(&key);
        inside.then(|| "a profile, which begins with [profile.NAME]".to_owned())
    })?;
    let mut profiles = Vec::new();
    for (name, section) in profiles_table.sections()? {
        profiles.push(profile(file, source, &name.value, section)?);
    }
    Ok(profiles)
}

fn choose(file: &Path, mut profiles: Vec<Profile>, wanted: Option<&str>) -> Result<Profile> {
    let names: Vec<String> = profiles.iter().map(|profile| profile.name.clone()).collect();
    let file = file.display();
    match (wanted, profiles.len()) {
        (_, 0) => Err(Error::usage(format!("{file} has no profile"))
            .hint("begin one with [profile.NAME]; fleetload.example.toml explains every line")),
        (Some(wanted), _) => match names.iter().position(|name| name == wanted) {
            Some(place) => Ok(profiles.swap_remove(place)),
            None => {
                let error = Error::usage(format!("{file} has no profile '{wanted}'"));
                Err(match nearest(wanted, names.iter().map(String::as_str)) {
                    Some(name) => error.hint(format!("did you mean --profile {name}?")),
                    None => error.hint(format!("its profiles are {}", names.join(", "))),
                })
            }
        },
        (None, 1) => Ok(profiles.swap_remove(0)),
        (None, _) => Err(Error::usage(format!("{file} has several profiles: {}", names.join(", ")))
            .hint(format!("choose one, for example --profile {}", names[0]))),
    }
}

fn profile(file: &Path, source: Source<'_>, name: &str, mut section: Section<'_>) -> Result<Profile> {
    let mut limits = section.section("limits")?;
    let mut policy = section.section("policy")?;
    let endpoints = section.section("endpoints")?;
    let reading = section.section("reading")?;
    let customers = section.section("customers")?;
    let right = |key: &str| {
        let table = if LIMITS.contains(&key) {
            "limits"
        } else if POLICY.contains(&key) {
            "policy"
        } else if reading_profile::KEYS.contains(&key) {
            "reading"
        } else {
            return None;
        };
        Some(format!("[profile.{name}.{table}]"))
    };
    let of_account = |key: &str| right(key).filter(|_| !reading_profile::KEYS.contains(&key));
    let mut by_customer = Vec::new();
    for (customer, section) in customers.sections()? {
        by_customer.push((customer.value, reading_profile::read(section, of_account)?));
    }
    let profile = Profile {
        reading: reading_profile::read(reading, of_account)?,
        customers: by_customer,
        file: file.to_owned(),
        base_url: section.text("base_url")?,
        client_id: section.text("client_id")?,
        client_secret_file: section.text("client_secret_file")?,
        client_secret_command: section.text("client_secret_command")?,
        paths: section.choice("paths")?,
        ca_file: section.text("ca_file")?,
        proxy: section.choice("proxy")?,
        rate: limits.number("rate", Some("unlimited"))?,
        concurrency: limits.number("concurrency", None)?,
        daily_quota: limits.number("daily_quota", None)?,
        reserve: limits.number("reserve", None)?,
        on_quota: policy.choice("on_quota")?,
        on_existing: policy.choice("on_existing")?,
        in_doubt: policy.choice("in_doubt")?,
        audit: policy.choice("audit")?,
        settle_seconds: policy.number("settle_seconds", None)?,
        request_timeout_seconds: policy.number("request_timeout_seconds", None)?,
        endpoints: endpoints_of(source, endpoints)?,
        name: name.to_owned(),
    };
    section.finish(right)?;
    limits.finish(|key| right(key).filter(|_| !LIMITS.contains(&key)))?;
    policy.finish(|key| right(key).filter(|_| !POLICY.contains(&key)))?;
    Ok(profile)
}

fn endpoints_of(source: Source<'_>, endpoints: Section<'_>) -> Result<Vec<MappedEndpoint>> {
    let mut result = Vec::new();
    for (name, mut section) in endpoints.sections()? {
        let operation = name.value.parse::<Operation>().map_err(|unknown| {
            let error = source.error(name.line, unknown);
            match nearest(&name.value, Operation::ALL.iter().map(|operation| operation.name())) {
                Some(known) => error.hint(format!("did you mean '{known}'?")),
                None => error.hint("the operations are those of the specification's section 4"),
            }
        })?;
        let method = section.choice::<MethodWord>("method")?;
        let path = section.text("path")?;
        section.finish(|_| None)?;
        let path = path.ok_or_else(|| {
            source
                .error(name.line, format!("the endpoint of {operation} has no path"))
                .hint(format!("for example path = \"{}\"", operation.path()))
        })?;
        let method = method.map_or_else(
            || match operation.method() {
                Method::Get => MethodWord::Get,
                Method::Post => MethodWord::Post,
                Method::Put => MethodWord::Put,
                Method::Patch => MethodWord::Patch,
                Method::Delete => MethodWord::Delete,
            },
            |method| method.value,
        );
        result.push(MappedEndpoint { operation, method, path: path.value, line: path.line });
    }
    Ok(result)
}
