//! One table of a settings file, read key by key, so that every complaint names file, line and key.
//!
//! No complaint shows a line or a value of the file: a secret that was put in the wrong place stays unseen.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::choice::{Choice, nearest};
use crate::error::{Error, Result};

/// The file a section is in.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// The line of a byte, from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        let before = self.text.as_bytes().get(..byte).unwrap_or(self.text.as_bytes());
        1 + before.iter().filter(|&&b| b == b'\n').count()
    }

    /// A usage error at a line.
    pub(super) fn error(&self, line: usize, what: impl std::fmt::Display) -> Error {
        Error::usage(format!("{}, line {line}: {what}", self.file.display()))
    }
}

/// A value and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) line: usize,
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
    pub(super) fn new(source: Source<'a>, path: impl Into<String>, table: DeTable<'a>) -> Self {
        Self { source, path: path.into(), table, known: Vec::new() }
    }

    /// A text.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<Located<String>>> {
        let Some(found) = self.take(key) else { return Ok(None) };
        match found.value {
            DeValue::String(text) => Ok(Some(Located { value: text.into_owned(), line: found.line })),
            other => Err(self.wrong_type(found.line, key, "a text in quotes", &other)),
        }
    }

    /// A number, as written; or `word` in quotes where one is allowed instead.
    pub(super) fn number(
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
    pub(super) fn choice<C: Choice>(&mut self, key: &'static str) -> Result<Option<Located<C>>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match C::from_word(&text.value) {
            Some(value) => Ok(Some(Located { value, line: text.line })),
            None => {
                let words: Vec<_> = C::WORDS.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                let error = self.source.error(text.line, format!("'{key}' must be {}", words.join(" or ")));
                Err(match nearest(&text.value, C::WORDS.iter().map(|(word, _)| *word)) {
                    Some(word) => error.hint(format!("did you mean {key} = \"{word}\"?")),
                    None => error,
                })
            }
        }
    }

    /// A table below this one; empty when it is absent.
    pub(super) fn section(&mut self, key: &'static str) -> Result<Section<'a>> {
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
    pub(super) fn sections(self) -> Result<Vec<(Located<String>, Section<'a>)>> {
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
    pub(super) fn finish(self, elsewhere: impl Fn(&str) -> Option<String>) -> Result<()> {
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
        let found = match found {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.source.error(line, format!("'{key}' must be {wanted}, not {found}"))
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
