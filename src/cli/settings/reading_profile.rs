//! What a profile keeps about reading sheets, for the account and for each customer: read from the settings file, and
//! written as it would stand there.

use toml::{Table, Value};

use super::reading_options::Layer;
use super::section::{Located, Section};
use crate::error::{Error, Result};
use crate::model::kind::Kind;
use crate::sheet::rename;
use crate::sheet::{CountryForm, HiddenRows, MacForm, Options, Policy};

/// The keys, as a table of the settings file has them.
pub(super) const KEYS: &[&str] = &[
    "kind",
    "worksheets",
    "map",
    "ignore_columns",
    "defaults",
    "encoding",
    "delimiter",
    "header_row",
    "hidden_rows",
    "include_hidden",
    "fill_merged",
    "allow_empty",
    "escape",
    "allow_missing_address1",
    "copy_coordinates",
    "placeholders_blank",
    "country",
    "mac_form",
    "longest_text",
    "skip_invalid",
    "deny",
    "allow",
];

/// Reads one table; every value is checked here, so that complaints name its line.
pub(super) fn read(mut section: Section<'_>, elsewhere: impl Fn(&str) -> Option<String>) -> Result<Layer> {
    let layer = Layer {
        kind: section.word("kind", &Kind::ALL.map(Kind::plural))?,
        worksheets: texts(section.list("worksheets")?),
        map: checked_pairs(&mut section, "map", false, rename::check)?,
        ignore_columns: texts(section.list("ignore_columns")?),
        defaults: checked_pairs(&mut section, "defaults", true, |place, value| {
            Options::default().set_default(&format!("{place}={value}"))
        })?,
        encoding: encoding(&mut section)?,
        delimiter: character(&mut section, "delimiter")?,
        header_row: number(&mut section, "header_row")?,
        hidden_rows: section.word("hidden_rows", HiddenRows::WORDS)?,
        include_hidden: section.flag("include_hidden")?,
        fill_merged: section.flag("fill_merged")?,
        allow_empty: section.flag("allow_empty")?,
        escape: character(&mut section, "escape")?,
        allow_missing_address1: section.flag("allow_missing_address1")?,
        copy_coordinates: section.flag("copy_coordinates")?,
        placeholders_blank: section.flag("placeholders_blank")?,
        country: section.word("country", CountryForm::WORDS)?,
        mac_form: section.word("mac_form", MacForm::WORDS)?,
        longest_text: number(&mut section, "longest_text")?,
        skip_invalid: section.flag("skip_invalid")?,
        deny: checked_list(&mut section, "deny", |word| Policy::default().deny(word))?,
        allow: checked_list(&mut section, "allow", |code| Policy::default().allow(code))?,
    };
    section.finish(elsewhere)?;
    Ok(layer)
}

fn texts(found: Vec<Located<String>>) -> Vec<String> {
    found.into_iter().map(|text| text.value).collect()
}

fn pairs(found: Vec<(String, Located<String>)>) -> Vec<(String, String)> {
    found.into_iter().map(|(key, text)| (key, text.value)).collect()
}

/// The complaint of another room, with the line of the value it is about.
fn at_line(section: &Section<'_>, line: usize, key: &str, error: &Error) -> Error {
    let told = section.complain(line, format_args!("'{key}': {}", error.what()));
    match error.next_step() {
        Some(hint) if !hint.contains("--") => told.hint(hint),
        Some(_) | None => told,
    }
}

fn checked_list(
    section: &mut Section<'_>,
    key: &'static str,
    mut check: impl FnMut(&str) -> Result<()>,
) -> Result<Vec<String>> {
    let found = section.list(key)?;
    for text in &found {
        check(&text.value).map_err(|error| at_line(section, text.line, key, &error))?;
    }
    Ok(texts(found))
}

fn checked_pairs(
    section: &mut Section<'_>,
    key: &'static str,
    nested: bool,
    mut check: impl FnMut(&str, &str) -> Result<()>,
) -> Result<Vec<(String, String)>> {
    let found = section.pairs(key, nested)?;
    for (place, text) in &found {
        check(place, &text.value).map_err(|error| at_line(section, text.line, key, &error))?;
    }
    Ok(pairs(found))
}

fn encoding(section: &mut Section<'_>) -> Result<Option<String>> {
    let Some(text) = section.text("encoding")? else { return Ok(None) };
    Options::default()
        .set_encoding(&text.value)
        .map_err(|error| at_line(section, text.line, "encoding", &error))?;
    Ok(Some(text.value))
}

fn character(section: &mut Section<'_>, key: &'static str) -> Result<Option<char>> {
    let Some(text) = section.text(key)? else { return Ok(None) };
    let mut characters = text.value.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => {
            let (delimiter, escape) =
                if key == "escape" { (None, Some(character)) } else { (Some(character), None) };
            let said = Options { delimiter, escape, ..Options::default() };
            said.check().map_err(|error| at_line(section, text.line, key, &error))?;
            Ok(Some(character))
        }
        (_, _) => Err(section
            .complain(text.line, format_args!("'{key}' must be one character"))
            .hint(format!("for example {key} = \";\", or \"\\t\" for a tab"))),
    }
}

fn number<T: TryFrom<u64>>(section: &mut Section<'_>, key: &'static str) -> Result<Option<T>> {
    let Some(text) = section.number(key, None)? else { return Ok(None) };
    let number = text.value.parse::<u64>().ok().filter(|number| *number > 0);
    match number.and_then(|number| T::try_from(number).ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(section.complain(text.line, format_args!("'{key}' must be a whole number from 1"))),
    }
}

/// The text of one table as it would stand in a settings file, with its name: `profile`, `acme`, `reading`.
pub(in crate::cli) fn written(layer: &Layer, path: &[&str]) -> Result<String> {
    let mut table = Value::Table(values(layer));
    for name in path.iter().rev() {
        table = Value::Table(Table::from_iter([((*name).to_owned(), table)]));
    }
    toml::to_string(&table)
        .map_err(|error| Error::internal("the options cannot be written as settings").because(error))
}

fn values(layer: &Layer) -> Table {
    let mut table = Table::new();
    let list = |texts: &[String]| Value::Array(texts.iter().cloned().map(Value::String).collect());
    let pairs = |pairs: &[(String, String)]| {
        // Only letters and digits of a header count, so that its line breaks need not be kept.
        let plain = |key: &str| key.split_whitespace().collect::<Vec<_>>().join(" ");
        Value::Table(pairs.iter().map(|(key, value)| (plain(key), Value::String(value.clone()))).collect())
    };
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(key.to_owned(), value);
        }
    };
    let text = |text: Option<&str>| text.map(|text| Value::String(text.to_owned()));
    let number =
        |number: Option<usize>| number.and_then(|number| i64::try_from(number).ok()).map(Value::Integer);
    put("kind", text(layer.kind.map(Kind::plural)));
    put("worksheets", (!layer.worksheets.is_empty()).then(|| list(&layer.worksheets)));
    put("ignore_columns", (!layer.ignore_columns.is_empty()).then(|| list(&layer.ignore_columns)));
    put("encoding", text(layer.encoding.as_deref()));
    put("delimiter", layer.delimiter.map(|character| Value::String(character.to_string())));
    put("header_row", layer.header_row.map(|row| Value::Integer(row.into())));
    put("hidden_rows", text(layer.hidden_rows.map(HiddenRows::word)));
    put("include_hidden", layer.include_hidden.map(Value::Boolean));
    put("fill_merged", layer.fill_merged.map(Value::Boolean));
    put("allow_empty", layer.allow_empty.map(Value::Boolean));
    put("escape", layer.escape.map(|character| Value::String(character.to_string())));
    put("allow_missing_address1", layer.allow_missing_address1.map(Value::Boolean));
    put("copy_coordinates", layer.copy_coordinates.map(Value::Boolean));
    put("placeholders_blank", layer.placeholders_blank.map(Value::Boolean));
    put("country", text(layer.country.map(CountryForm::word)));
    put("mac_form", text(layer.mac_form.map(MacForm::word)));
    put("longest_text", number(layer.longest_text));
    put("skip_invalid", layer.skip_invalid.map(Value::Boolean));
    put("deny", (!layer.deny.is_empty()).then(|| list(&layer.deny)));
    put("allow", (!layer.allow.is_empty()).then(|| list(&layer.allow)));
    put("map", (!layer.map.is_empty()).then(|| pairs(&layer.map)));
    put("defaults", (!layer.defaults.is_empty()).then(|| pairs(&layer.defaults)));
    table
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::settings::profile::parse;

    fn read_back(text: &str) -> crate::error::Result<Layer> {
        parse(Path::new("fleetload.toml"), text, None).map(|profile| profile.reading)
    }

    fn full() -> Layer {
        Layer {
            kind: Some(Kind::Site),
            worksheets: vec!["Sites \"2026\"".into()],
            map: vec![
                ("Filiale.Nr".into(), "key".into()),
                ("Größe 'x' \\ y".into(), "name".into()),
                ("Store No.".into(), "reference".into()),
            ],
            ignore_columns: vec!["Notes, old".into()],
            defaults: vec![("sites.company".into(), "key:C1".into())],
            encoding: Some("windows-1252".into()),
            delimiter: Some('\t'),
            header_row: Some(3),
            hidden_rows: Some(HiddenRows::Skip),
            include_hidden: Some(true),
            fill_merged: Some(false),
            allow_empty: Some(true),
            escape: Some('\\'),
            allow_missing_address1: Some(true),
            copy_coordinates: Some(true),
            placeholders_blank: Some(true),
            country: Some(CountryForm::Alpha2),
            mac_form: Some(MacForm::Bare),
            longest_text: Some(100),
            skip_invalid: Some(true),
            deny: vec!["warnings".into()],
            allow: vec!["cell.country".into()],
        }
    }

    #[test]
    fn what_is_written_is_read_back_the_same() {
        for layer in [full(), Layer::default(), Layer { header_row: Some(2), ..Layer::default() }] {
            let text = written(&layer, &["profile", "acme", "reading"]).unwrap();
            assert_eq!(read_back(&text).unwrap(), layer, "{text}");
        }
        let text = written(&full(), &["profile", "acme", "customers", "Northern Ltd."]).unwrap();
        let profile = parse(Path::new("fleetload.toml"), &text, None).unwrap();
        assert_eq!(profile.customers, [("Northern Ltd.".to_owned(), full())]);
    }

    #[test]
    fn every_key_is_written_and_known() {
        let table = values(&full());
        let mut written: Vec<&str> = table.keys().map(String::as_str).collect();
        let mut known = KEYS.to_vec();
        written.sort_unstable();
        known.sort_unstable();
        assert_eq!(written, known);
    }

    #[test]
    fn a_default_may_be_named_with_its_kind_in_front_or_in_one_word() {
        for text in ["'companies.parent' = 'x'", "companies.parent = 'x'"] {
            let layer = read_back(&format!("[profile.a.reading.defaults]\n{text}\n")).unwrap();
            assert_eq!(layer.defaults, [("companies.parent".to_owned(), "x".to_owned())], "{text}");
        }
    }

    #[test]
    fn a_wrong_value_is_refused_with_its_line() {
        let table = [
            (
                "headrow = 3",
                "fleetload.toml, line 2: [profile.a.reading] has no key 'headrow' | did you mean 'header_row'?",
            ),
            (
                "rate = 3",
                "fleetload.toml, line 2: [profile.a.reading] has no key 'rate' | 'rate' belongs in [profile.a.limits]",
            ),
            (
                "kind = 'firms'",
                "fleetload.toml, line 2: 'kind' must be \"companies\" or \"sites\" or \"people\" or \"devices\"",
            ),
            (
                "hidden_rows = 'skipp'",
                "fleetload.toml, line 2: 'hidden_rows' must be \"import\" or \"skip\" | did you mean hidden_rows = \"skip\"?",
            ),
            ("header_row = 0", "fleetload.toml, line 2: 'header_row' must be a whole number from 1"),
            (
                "fill_merged = 'yes'",
                "fleetload.toml, line 2: 'fill_merged' must be true or false, not a text",
            ),
            (
                "delimiter = ';;'",
                "fleetload.toml, line 2: 'delimiter' must be one character | for example delimiter = \";\", or \"\\t\" for a tab",
            ),
            (
                "escape = '§'",
                "fleetload.toml, line 2: 'escape': '§' cannot be the escape character | name a tab, or a character of a plain keyboard other than the quotation mark, such as ; or \\",
            ),
            (
                "encoding = 'klingon'",
                "fleetload.toml, line 2: 'encoding': 'klingon' is not a known encoding | try utf-8, windows-1252 or macintosh",
            ),
            (
                "worksheets = 'Sites'",
                "fleetload.toml, line 2: 'worksheets' must be a list such as [\"…\"], not a text",
            ),
            (
                "worksheets = [\n1]",
                "fleetload.toml, line 3: 'worksheets' must hold texts in quotes, not a number",
            ),
            (
                "allow = ['cell.required']",
                "fleetload.toml, line 2: 'allow': cell.required is an error and cannot be allowed: only warnings can",
            ),
            (
                "map.Store.No = 'key'",
                "fleetload.toml, line 2: 'map' must hold texts in quotes, not a table | a name with dots or spaces in it needs quotes of its own",
            ),
            (
                "map = {\n'Strasse' = 'adress1' }",
                "fleetload.toml, line 3: 'map': 'Strasse=adress1': no sheet has a column 'adress1' | did you mean 'address1'?",
            ),
            (
                "defaults.sites.adress1 = 'x'",
                "fleetload.toml, line 2: 'defaults': sites have no column 'adress1' | did you mean sites.address1=VALUE?",
            ),
            (
                "defaults.firms = 'x'",
                "fleetload.toml, line 2: 'defaults': 'firms' names no column of a kind | write it as companies.parent=VALUE",
            ),
        ];
        for (line, expected) in table {
            let error = read_back(&format!("[profile.a.reading]\n{line}\n")).unwrap_err();
            let told = match error.next_step() {
                Some(hint) => format!("{error} | {hint}"),
                None => error.to_string(),
            };
            assert_eq!(told, expected);
        }
    }
}
