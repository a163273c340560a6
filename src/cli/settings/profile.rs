//! What a settings file says: one profile for each service account, checked for form, each value with its line.
//!
//! Whether the values make sense together with flags and environment is decided in [`crate::cli::settings`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::environment::Environment;
use super::reading_options::{self, ReadingOptions};
use super::section::{Located, Section, Source};
use super::setting::{BASE_URL, ProfileTable, SETTINGS, SettingSpec, UNLIMITED, ValueForm, nearest};
use crate::error::{Error, Result};
use crate::model::operation::{Method, Operation};
use crate::service::Mapping;

/// The name of the settings file.
const FILE_NAME: &str = "fleetload.toml";
/// More than any settings file needs; a larger file is something else.
const LARGEST_FILE: u64 = 1024 * 1024;

/// The methods that an endpoint can have.
const METHODS: &[Method] = &[Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete];

/// One profile, as the file has it. Absent keys are absent, nothing is filled in.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Profile {
    pub(in crate::cli) name: String,
    pub(in crate::cli) file: PathBuf,
    /// The settings that it has, by their keys.
    values: BTreeMap<&'static str, Located<String>>,
    /// Where it says that operations are: `[profile.NAME.endpoints.OPERATION]`.
    pub(super) endpoints: BTreeMap<Operation, Located<Mapping>>,
    /// What its table `notify` lists.
    pub(super) notify: NotifyLists,
    /// The windows in which a run may send.
    pub(super) between: Vec<Located<String>>,
    /// How the sheets of this account are read.
    pub(in crate::cli) reading: ReadingOptions,
    /// How those of its customers are read, by their names.
    pub(in crate::cli) customers: Vec<(String, ReadingOptions)>,
}

/// The lists of `[profile.NAME.notify]`.
#[derive(Debug, Clone, Default)]
pub(super) struct NotifyLists {
    /// The command and its arguments.
    pub(super) command: Vec<Located<String>>,
    /// To whom the command sends a mail.
    pub(super) mail_to: Vec<Located<String>>,
    /// What is reported.
    pub(super) on: Vec<Located<String>>,
}

impl Profile {
    /// What it says of a setting.
    pub(super) fn value(&self, known: &SettingSpec) -> Option<&Located<String>> {
        self.values.get(known.key)
    }

    /// The address of its service, as it stands there.
    pub(in crate::cli) fn base_url(&self) -> Option<&str> {
        self.value(&BASE_URL).map(|located| located.value.as_str())
    }
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
        let inside = [
            "base_url",
            "client_id",
            "limits",
            "policy",
            "window",
            "notify",
            "endpoints",
            "reading",
            "customers",
        ]
        .contains(&key);
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
    let mut notify = section.section("notify")?;
    let mut window = section.section("window")?;
    let endpoints = section.section("endpoints")?;
    let reading = section.section("reading")?;
    let customers = section.section("customers")?;
    // The table in which a key would be right, for one that stands in another.
    let right = |key: &str| {
        let table = match SETTINGS.iter().find(|known| known.key == key).map(|known| known.place) {
            Some(ProfileTable::Limits) => "limits",
            Some(ProfileTable::Policy) => "policy",
            Some(ProfileTable::Notify) => "notify",
            Some(ProfileTable::Window) => "window",
            Some(ProfileTable::Profile) => return None,
            None if reading_options::KEYS.contains(&key) => "reading",
            None => return None,
        };
        Some(format!("[profile.{name}.{table}]"))
    };
    let mut by_customer = Vec::new();
    for (customer, section) in customers.sections()? {
        by_customer.push((customer.value, ReadingOptions::read(section, right)?));
    }
    let reading = ReadingOptions::read(reading, right)?;
    let mut values = BTreeMap::new();
    for known in SETTINGS {
        let table = match known.place {
            ProfileTable::Profile => &mut section,
            ProfileTable::Limits => &mut limits,
            ProfileTable::Policy => &mut policy,
            ProfileTable::Notify => &mut notify,
            ProfileTable::Window => &mut window,
        };
        let value = match known.form {
            ValueForm::Text => table.text(known.key)?,
            ValueForm::Rate => table.number(known.key, Some(UNLIMITED))?,
            ValueForm::Whole(..) => table.number(known.key, None)?,
            ValueForm::Flag => table.yes_or_no(known.key)?,
            ValueForm::Word(words) => table.word(known.key, words)?,
        };
        values.extend(value.map(|value| (known.key, value)));
    }
    let lists = NotifyLists {
        command: notify.list("command")?,
        mail_to: notify.list("mail_to")?,
        on: notify.list("on")?,
    };
    let between = window.list("between")?;
    let endpoints = endpoints_of(source, endpoints)?;
    section.finish(right)?;
    limits.finish(right)?;
    policy.finish(right)?;
    notify.finish(right)?;
    window.finish(right)?;
    let (name, file) = (name.to_owned(), file.to_owned());
    Ok(Profile { name, file, values, endpoints, notify: lists, between, reading, customers: by_customer })
}

fn endpoints_of(source: Source<'_>, endpoints: Section<'_>) -> Result<BTreeMap<Operation, Located<Mapping>>> {
    let words: Vec<_> = METHODS.iter().map(|method| method.as_str()).collect();
    let mut result = BTreeMap::new();
    for (name, mut section) in endpoints.sections()? {
        let operation = name.value.parse::<Operation>().map_err(|unknown| {
            let error = source.error(name.line, unknown);
            match nearest(&name.value, Operation::ALL.iter().map(|operation| operation.name())) {
                Some(known) => error.hint(format!("did you mean '{known}'?")),
                None => error.hint("the operations are those of the specification's section 4"),
            }
        })?;
        let method = section.word("method", &words)?;
        let path = section.text("path")?;
        section.finish(|_| None)?;
        let path = path.ok_or_else(|| {
            source
                .error(name.line, format!("the endpoint of {operation} has no path"))
                .hint(format!("for example path = \"{}\"", operation.path()))
        })?;
        let named = method.and_then(|word| METHODS.iter().find(|method| method.as_str() == word.value));
        let method = named.copied().unwrap_or_else(|| operation.method());
        let mapping = Mapping { method, path: path.value };
        result.insert(operation, Located { value: mapping, line: path.line });
    }
    Ok(result)
}
