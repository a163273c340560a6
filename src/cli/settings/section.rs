//! Reads one table of a settings file (TOML) key by key, so that every complaint names file, line and key.
//!
//! No complaint shows a line or a value of the file: a secret that was put in the wrong place stays unseen.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::setting::nearest;
use crate::error::{Error, Result};

/// The file a section is in.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(in crate::cli) file: &'a Path,
    pub(in crate::cli) text: &'a str,
}

impl Source<'_> {
    /// The line of a byte, from 1.
    pub(in crate::cli) fn line(&self, byte: usize) -> usize {
        let before = self.text.as_bytes().get(..byte).unwrap_or(self.text.as_bytes());
        1 + before.iter().filter(|&&b| b == b'\n').count()
    }

    /// A usage error at a line.
    pub(in crate::cli) fn error(&self, line: usize, what: impl std::fmt::Display) -> Error {
        Error::usage(format!("{}, line {line}: {what}", self.file.display()))
    }
}

/// A value and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Located<T> {
    pub(in crate::cli) value: T,
    pub(in crate::cli) line: usize,
}

/// A table whose keys are taken one by one; what is left over is unknown.
pub(super) struct Section<'a> {
    source: Source<'a>,
    /// As in the file: `profile.acme.limits`.
    path: String,
    table: DeTable<'a>,
    known: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub(in crate::cli) fn new(source: Source<'a>, path: impl Into<String>, table: DeTable<'a>) -> Self {
        Self { source, path: path.into(), table, known: Vec::new() }
    }

    /// A text.
    pub(in crate::cli) fn text(&mut self, key: &'static str) -> Result<Option<Located<String>>> {
        let Some(found) = self.take(key) else { return Ok(None) };
        match found.value {
            DeValue::String(text) => Ok(Some(Located { value: text.into_owned(), line: found.line })),
            other => Err(self.wrong_type(found.line, key, "a text in quotes", &other)),
        }
    }

    /// A number, as written; or `word` in quotes where one is allowed instead.
    pub(in crate::cli) fn number(
        &mut self,
        key: &'static str,
        word: Option<&str>,
    ) -> Result<Option<Located<String>>> {
        let Some(found) = self.take(key) else { return Ok(None) };
        let value = match &found.value {
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => number.to_string(),
                Err(_) => number.as_str().to_owned(),
            },
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::String(text) if Some(text.as_ref()) == word => text.clone().into_owned(),
            other => return Err(self.wrong_type(found.line, key, "a number without quotes", other)),
        };
        Ok(Some(Located { value, line: found.line }))
    }

    /// One of a few words.
    pub(super) fn word(&mut self, key: &'static str, words: &[&str]) -> Result<Option<Located<String>>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        if words.contains(&text.value.as_str()) {
            return Ok(Some(text));
        }
        let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let error = self.complain(text.line, format_args!("'{key}' must be {}", quoted.join(" or ")));
        Err(match nearest(&text.value, words.iter().copied()) {
            Some(word) => error.hint(format!("did you mean {key} = \"{word}\"?")),
            None => error,
        })
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<Option<bool>> {
        Ok(self.yes_or_no(key)?.map(|found| found.value == "true"))
    }

    /// Yes or no, as written.
    pub(super) fn yes_or_no(&mut self, key: &'static str) -> Result<Option<Located<String>>> {
        let Some(found) = self.take(key) else { return Ok(None) };
        match found.value {
            DeValue::Boolean(value) => Ok(Some(Located { value: value.to_string(), line: found.line })),
            other => Err(self.wrong_type(found.line, key, "true or false", &other)),
        }
    }

    /// A list of texts.
    pub(in crate::cli) fn list(&mut self, key: &'static str) -> Result<Vec<Located<String>>> {
        let Some(found) = self.take(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = found.value else {
            return Err(self.wrong_type(found.line, key, "a list such as [\"…\"]", &found.value));
        };
        items.into_iter().map(|item| self.held(key, item)).collect()
    }

    /// A table of texts under names of a person's own. With `nested` a name may stand in two parts, `sites.city`.
    pub(super) fn pairs(
        &mut self,
        key: &'static str,
        nested: bool,
    ) -> Result<Vec<(String, Located<String>)>> {
        let Some(found) = self.take(key) else { return Ok(Vec::new()) };
        let DeValue::Table(table) = found.value else {
            let wanted = format!("a table, [{}]", join(&self.path, key));
            return Err(self.wrong_type(found.line, key, &wanted, &found.value));
        };
        let mut pairs = Vec::new();
        for (name, value) in table {
            let name = name.into_inner().into_owned();
            if nested && matches!(value.get_ref(), DeValue::Table(_)) {
                let DeValue::Table(inner) = value.into_inner() else { continue };
                for (column, value) in inner {
                    pairs.push((format!("{name}.{}", column.into_inner()), self.held(key, value)?));
                }
            } else {
                pairs.push((name, self.held(key, value)?));
            }
        }
        Ok(pairs)
    }

    /// A text inside a list or table.
    fn held(&self, key: &str, item: Spanned<DeValue<'a>>) -> Result<Located<String>> {
        let line = self.source.line(item.span().start);
        match item.into_inner() {
            DeValue::String(text) => Ok(Located { value: text.into_owned(), line }),
            other => {
                let found = kind_of(&other);
                let error =
                    self.complain(line, format_args!("'{key}' must hold texts in quotes, not {found}"));
                Err(match other {
                    DeValue::Table(_) => {
                        error.hint("a name with dots or spaces in it needs quotes of its own")
                    }
                    _ => error,
                })
            }
        }
    }

    /// A usage error at a line of the file.
    pub(super) fn complain(&self, line: usize, what: impl std::fmt::Display) -> Error {
        self.source.error(line, what)
    }

    /// A table below this one; empty when it is absent.
    pub(in crate::cli) fn section(&mut self, key: &'static str) -> Result<Section<'a>> {
        let path = join(&self.path, key);
        let Some(found) = self.take(key) else {
            return Ok(Section::new(self.source, path, DeTable::new()));
        };
        match found.value {
            DeValue::Table(table) => Ok(Section::new(self.source, path, table)),
            other => Err(self.wrong_type(found.line, key, &format!("a table, [{path}]"), &other)),
        }
    }

    /// All tables below this one, whatever their names, in the order of the file.
    pub(in crate::cli) fn sections(self) -> Result<Vec<(Located<String>, Section<'a>)>> {
        let mut result = Vec::new();
        for (key, value) in self.table {
            let line = self.source.line(key.span().start);
            let name = key.into_inner().into_owned();
            let path = join(&self.path, &name);
            match value.into_inner() {
                DeValue::Table(table) => {
                    let section = Section::new(self.source, path, table);
                    result.push((Located { value: name, line }, section));
                }
                _ if is_secret(&name) => return Err(secret_in_file(&self.source, line, &name)),
                _ => {
                    return Err(self.source.error(line, format!("'{name}' must be a table, [{path}]")));
                }
            }
        }
        result.sort_by_key(|(name, _)| name.line);
        Ok(result)
    }

    /// Refuses what was not asked for. `elsewhere` tells in which table a key would be right.
    pub(in crate::cli) fn finish(self, elsewhere: impl Fn(&str) -> Option<String>) -> Result<()> {
        let first = self
            .table
            .keys()
            .map(|key| (self.source.line(key.span().start), key.get_ref().clone().into_owned()))
            .min();
        let Some((line, key)) = first else { return Ok(()) };
        if is_secret(&key) {
            return Err(secret_in_file(&self.source, line, &key));
        }
        let error = match self.path.as_str() {
            "" => self.source.error(line, format!("'{key}' is not a table of a settings file")),
            path => self.source.error(line, format!("[{path}] has no key '{key}'")),
        };
        Err(if let Some(right) = elsewhere(&key) {
            error.hint(format!("'{key}' belongs in {right}"))
        } else if let Some(known) = nearest(&key, self.known.iter().copied()) {
            error.hint(format!("did you mean '{known}'?"))
        } else {
            error.hint(format!("its keys are {}", self.known.join(", ")))
        })
    }

    fn take(&mut self, key: &'static str) -> Option<Located<DeValue<'a>>> {
        self.known.push(key);
        let value: Spanned<DeValue<'a>> = self.table.remove(key)?;
        let line = self.source.line(value.span().start);
        Some(Located { value: value.into_inner(), line })
    }

    fn wrong_type(&self, line: usize, key: &str, wanted: &str, found: &DeValue<'_>) -> Error {
        self.source.error(line, format!("'{key}' must be {wanted}, not {}", kind_of(found)))
    }
}

/// What kind of value stands there, in words.
fn kind_of(found: &DeValue<'_>) -> &'static str {
    match found {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Whether a key looks like the place of a secret.
fn is_secret(key: &str) -> bool {
    let folded: String =
        key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    ["clientsecret", "secret", "password", "token"].contains(&folded.as_str())
}

fn secret_in_file(source: &Source<'_>, line: usize, key: &str) -> Error {
    source.error(line, format!("'{key}' does not belong in the settings file")).hint(
        "put the secret alone in a file that only you can read and name that file:\n\
         client_secret_file = \"acme.secret\"\n\
         or give it in the environment variable FLEETLOAD_CLIENT_SECRET, or by client_secret_command;\n\
         if others could read the settings file, have the secret replaced",
    )
}
