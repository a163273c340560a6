//! How the files of a command are read: options over what the profile keeps for the customer, that over what it keeps for
//! the account.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::profile::Profile;
use super::reading_options::ReadingOptions;
use super::setting::nearest;
use crate::cli::args::options::ReadingArgs;
use crate::cli::context::Context;
use crate::cli::zones;
use crate::error::{Error, Result};
use crate::sheet::{Format, Options};
use crate::term::{Line, counted};

/// How the files of one command are read, all layers brought together.
#[derive(Debug, Clone)]
pub(in crate::cli) struct ReadingSettings {
    /// The options of the reader.
    pub(in crate::cli) options: Options,
    /// Whether rows with errors are left out instead of refusing everything.
    pub(in crate::cli) skip_invalid: bool,
    /// Whether values of the sheets stay unseen.
    pub(in crate::cli) redact: bool,
    typed: ReadingOptions,
    customer: Option<String>,
    profile: Option<Profile>,
}

impl ReadingArgs {
    /// Brings what was typed together with what the profile keeps.
    pub(in crate::cli) fn settle(&self, context: &Context<'_>) -> Result<ReadingSettings> {
        let mut manner = self.settle_with(context.profile_for_sheets()?)?;
        manner.options.zones = zones::of_service(context, manner.profile.as_ref()).map(Arc::new);
        *context.reading.borrow_mut() = manner.options_for_corrected();
        Ok(manner)
    }

    fn settle_with(&self, profile: Option<Profile>) -> Result<ReadingSettings> {
        let typed = self.typed.clone();
        // Of what was typed alone, so that a complaint is about what was typed.
        typed.options()?;
        let customer = self.customer.clone().filter(|name| !name.is_empty());
        let of_customer = match &customer {
            Some(name) => found(name, profile.as_ref())?,
            None => ReadingOptions::default(),
        };
        let of_account = profile.as_ref().map(|profile| profile.reading.clone()).unwrap_or_default();
        let layer = typed.clone().over(of_customer.over(of_account));
        let skip_invalid = layer.skip_invalid == Some(true);
        Ok(ReadingSettings {
            options: layer.options()?,
            skip_invalid,
            redact: self.redact,
            typed,
            customer,
            profile,
        })
    }
}

/// Lines of settings that are shown; a customer may have many headers.
const SHOWN: usize = 40;

/// Tells what the profile keeps about reading sheets, each table as it stands in the settings file.
pub(in crate::cli) fn tell_kept(context: &Context<'_>) -> Result<()> {
    let Some(profile) = context.profile_for_sheets()? else { return Ok(()) };
    let account = (vec!["profile", &*profile.name, "reading"], &profile.reading);
    let customers = profile
        .customers
        .iter()
        .map(|(customer, layer)| (vec!["profile", &*profile.name, "customers", customer], layer));
    let mut lines = Vec::new();
    for (path, layer) in std::iter::once(account).chain(customers).filter(|(_, layer)| !layer.is_empty()) {
        let text = layer.written(&path)?;
        context.terminal.object(&ReadingObject {
            table: path.join("."),
            file: &profile.file,
            settings: &text,
        });
        lines.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let terminal = context.terminal;
    if lines.is_empty() {
        terminal.result("the profile keeps nothing about reading sheets: the options of `check --help` have their defaults");
        terminal.result("");
        return Ok(());
    }
    terminal.result(format!("how sheets are read, in {}:", profile.file.display()));
    for line in lines.iter().take(SHOWN) {
        terminal.result(Line::plain("  ").text(line).whole());
    }
    if lines.len() > SHOWN {
        let more = u64::try_from(lines.len() - SHOWN).unwrap_or(u64::MAX);
        terminal.result(format!("  and {}", counted(more, "more line", "more lines")));
    }
    terminal.result("");
    Ok(())
}

/// What the profile keeps for a customer.
fn found(name: &str, profile: Option<&Profile>) -> Result<ReadingOptions> {
    let Some(profile) = profile else {
        return Err(Error::usage(format!("there is no settings file to find the customer '{name}' in"))
            .hint("omit --customer, or copy fleetload.example.toml to fleetload.toml"));
    };
    if let Some((_, layer)) = profile.customers.iter().find(|(known, _)| known == name) {
        return Ok(layer.clone());
    }
    let names: Vec<&str> = profile.customers.iter().map(|(known, _)| known.as_str()).collect();
    let error = Error::usage(format!("the profile '{}' has no customer '{name}'", profile.name));
    Err(match nearest(name, names.iter().copied()) {
        Some(known) => {
            error.hint(format!("did you mean --customer {known}? Its customers are {}", names.join(", ")))
        }
        None if names.is_empty() => error.hint(format!(
            "it has none; begin one in {} with [profile.{}.customers.{name}]",
            profile.file.display(),
            profile.name
        )),
        None => error.hint(format!("its customers are {}", names.join(", "))),
    })
}

impl ReadingSettings {
    /// What was typed, without what is kept.
    pub(in crate::cli) fn typed(&self) -> &ReadingOptions {
        &self.typed
    }

    /// The options that were typed and say nothing about files that are all text tables, or all workbooks.
    pub(in crate::cli) fn idle(&self, formats: &[Format]) -> Vec<&'static str> {
        let typed = &self.typed;
        let (for_workbooks, for_text) = (
            vec![("--worksheet", !typed.worksheets.is_empty())],
            vec![
                ("--delimiter", typed.delimiter.is_some()),
                ("--encoding", typed.encoding.is_some()),
                ("--escape", typed.escape.is_some()),
            ],
        );
        let is_workbook = |format: &Format| matches!(format, Format::Workbook);
        let idle = match formats {
            [] => Vec::new(),
            formats if formats.iter().all(is_workbook) => for_text,
            formats if !formats.iter().any(is_workbook) => for_workbooks,
            _ => Vec::new(),
        };
        idle.into_iter().filter(|(_, is_typed)| *is_typed).map(|(option, _)| option).collect()
    }

    /// As if these options of one file had not been typed.
    pub(in crate::cli) fn without(&self, options: &[&str]) -> Self {
        let mut manner = self.clone();
        let typed = &mut manner.typed;
        for option in options {
            match *option {
                "--worksheet" => typed.worksheets.clear(),
                "--header-row" => typed.header_row = None,
                "--delimiter" => typed.delimiter = None,
                "--encoding" => typed.encoding = None,
                "--escape" => typed.escape = None,
                _ => {}
            }
        }
        manner
    }

    /// What was typed, as it may be shown: values for blank cells are values of the sheets.
    fn shown(&self, mut layer: ReadingOptions) -> ReadingOptions {
        if self.redact {
            layer.defaults.iter_mut().for_each(|(_, value)| "VALUE".clone_into(value));
        }
        layer
    }

    /// The options to type for the same again, each with a space before it.
    pub(in crate::cli) fn command_line(&self) -> String {
        let mut line = self.line(&self.shown(self.typed.clone()));
        if self.redact {
            line.push_str(" --redact");
        }
        line
    }

    /// The same for a file of ours with rows of these files that were corrected: its form and its header are ours.
    fn options_for_corrected(&self) -> String {
        self.line(&self.typed.clone().of_columns())
    }

    fn line(&self, typed: &ReadingOptions) -> String {
        let mut line = typed.command_line();
        if let Some(customer) = &self.customer {
            line.push_str(&format!(" --customer {}", crate::advice::quoted(customer)));
        }
        line
    }

    /// Where in the settings file something was found that counts here, in words.
    pub(in crate::cli) fn kept_in(&self) -> Option<String> {
        let profile = self.profile.as_ref()?;
        let mut tables = Vec::new();
        tables.extend(
            self.customer.as_ref().map(|name| format!("[profile.{}.customers.{name}]", profile.name)),
        );
        if !profile.reading.is_empty() {
            tables.push(format!("[profile.{}.reading]", profile.name));
        }
        (!tables.is_empty()).then(|| format!("{} of {}", tables.join(" and "), profile.file.display()))
    }

    /// What to write into the settings file so that nothing need be typed the next time: what to do, and the text.
    pub(in crate::cli) fn to_keep(&self) -> Result<Option<(String, String)>> {
        if self.typed.is_empty() {
            return Ok(None);
        }
        let name = self.profile.as_ref().map_or("main", |profile| profile.name.as_str());
        let file = match &self.profile {
            Some(profile) => profile.file.display().to_string(),
            None => "fleetload.toml".to_owned(),
        };
        let (path, before) = match (&self.customer, &self.profile) {
            (Some(customer), Some(profile)) => {
                let kept = profile.customers.iter().find(|(known, _)| known == customer);
                (vec!["profile", name, "customers", customer], kept.map(|(_, layer)| layer))
            }
            (None, Some(profile)) => (vec!["profile", name, "reading"], Some(&profile.reading)),
            (_, None) => (vec!["profile", name, "reading"], None),
        };
        // A table may stand in the file only once: one that is there already is replaced.
        let before = before.filter(|before| !before.is_empty());
        let layer = self.shown(self.typed.clone().over(before.cloned().unwrap_or_default()));
        let what = if before.is_some() {
            format!("to keep this for the next time, replace [{}] in {file} by:", path.join("."))
        } else {
            format!("to keep this for the next time, put into {file}:")
        };
        Ok(Some((what, layer.written(&path)?)))
    }
}

/// What a profile keeps about reading sheets.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReadingObject<'a> {
    /// The table of the settings file.
    table: String,
    /// The settings file.
    file: &'a Path,
    /// The settings as they are written there.
    settings: &'a str,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::settings::profile::parse;

    const FILE: &str = "\
[profile.acme.reading]
encoding = 'windows-1252'
ignore_columns = ['Notes']
map = { 'Ort' = 'city' }
deny = ['warnings']

[profile.acme.customers.northern]
header_row = 3
map = { 'Store No.' = 'reference' }
allow = ['cell.country']
";

    fn manner(reading: &ReadingArgs) -> Result<ReadingSettings> {
        reading.settle_with(Some(parse(Path::new("fleetload.toml"), FILE, None).unwrap()))
    }

    #[test]
    fn flags_count_before_the_customer_and_the_customer_before_the_account() {
        let reading = ReadingArgs {
            customer: Some("northern".into()),
            typed: ReadingOptions {
                map: vec![("Ort".into(), "suburb".into())],
                header_row: Some(5),
                ..ReadingOptions::default()
            },
            ..ReadingArgs::default()
        };
        let options = manner(&reading).unwrap().options;
        let pair = |left: &str, right: &str| (left.to_owned(), right.to_owned());
        assert_eq!(options.rename, [pair("Ort", "suburb"), pair("Store No.", "reference")]);
        assert_eq!((options.header_row, options.ignore_columns), (Some(5), vec!["Notes".to_owned()]));
        let of_account = manner(&ReadingArgs::default()).unwrap().options;
        assert_eq!((of_account.rename, of_account.header_row), (vec![pair("Ort", "city")], None));
    }

    #[test]
    fn an_unknown_customer_is_refused_with_those_there_are() {
        let told = |name: &str| {
            let reading = ReadingArgs { customer: Some(name.into()), ..ReadingArgs::default() };
            let error = manner(&reading).unwrap_err();
            format!("{error} | {}", error.next_step().unwrap_or_default())
        };
        assert_eq!(
            told("nothern"),
            "the profile 'acme' has no customer 'nothern' | did you mean --customer northern? Its customers are northern"
        );
        assert_eq!(told("zz"), "the profile 'acme' has no customer 'zz' | its customers are northern");
        let without =
            ReadingArgs { customer: Some("northern".into()), ..ReadingArgs::default() }.settle_with(None);
        assert_eq!(
            without.unwrap_err().what(),
            "there is no settings file to find the customer 'northern' in"
        );
        let unset = ReadingArgs { customer: Some(String::new()), ..ReadingArgs::default() };
        assert!(unset.settle_with(None).is_ok(), "a variable set to nothing counts as not set");
    }

    #[test]
    fn what_is_to_be_kept_takes_the_place_of_the_table_and_reads_the_same_without_options() {
        let reading = ReadingArgs {
            customer: Some("northern".into()),
            typed: ReadingOptions { ignore_columns: vec!["Colour".into()], ..ReadingOptions::default() },
            ..ReadingArgs::default()
        };
        let manner = manner(&reading).unwrap();
        let (what, text) = manner.to_keep().unwrap().unwrap();
        assert_eq!(
            what,
            "to keep this for the next time, replace [profile.acme.customers.northern] in fleetload.toml by:"
        );
        let account = FILE.split("[profile.acme.customers").next().unwrap();
        let kept = parse(Path::new("fleetload.toml"), &format!("{account}\n{text}"), None).unwrap();
        let again = ReadingArgs { customer: Some("northern".into()), ..ReadingArgs::default() };
        let again = again.settle_with(Some(kept)).unwrap();
        assert_eq!(format!("{:?}", again.options), format!("{:?}", manner.options));
        assert_eq!(again.to_keep().unwrap(), None);
    }
}
