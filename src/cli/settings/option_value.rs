//! What a reading option needs to know of its type: how it is read from a table of a profile, written there, and typed.

use toml::{Table, Value};

use super::section::{Located, Section};
use crate::error::{Error, Result};
use crate::model::kind::Kind;
use crate::sheet::{CountryForm, HiddenRows, MacForm};

/// The value of one reading option, absent or empty where nothing is said.
pub(super) trait OptionValue: Sized {
    /// Where it stands in a command line: single values before lists, and those before switches.
    const RANK: u8 = 0;

    /// Takes the key of a section. `check` refuses values that cannot be meant.
    fn read(section: &mut Section<'_>, key: &'static str, check: Check<'_, Self>) -> Result<Self>;

    /// As it stands in a settings file.
    fn written(&self) -> Option<Value>;

    /// For each time that its option is to be typed, the value behind it, if it takes one.
    fn typed(&self) -> Vec<Option<String>>;

    /// This value before that of a lower layer.
    #[must_use]
    fn over(self, lower: Self) -> Self;
}

/// Refuses a value that the reader of sheets could not use.
pub(super) type Check<'a, T> = &'a dyn Fn(T) -> Result<()>;

/// The complaint of another room, with the line of the value it is about.
fn at_line(section: &Section<'_>, line: usize, key: &str, error: &Error) -> Error {
    let told = section.complain(line, format_args!("'{key}': {}", error.what()));
    match error.next_step() {
        Some(hint) if !hint.contains("--") => told.hint(hint),
        Some(_) | None => told,
    }
}

/// What all single values have alike: how they are typed, and that the higher layer counts.
macro_rules! single {
    ($value:ident => $text:expr) => {
        fn typed(&self) -> Vec<Option<String>> {
            self.iter().map(|$value| Some($text)).collect()
        }

        fn over(self, lower: Self) -> Self {
            self.or(lower)
        }
    };
}

/// A choice of a few words.
macro_rules! words {
    ($($type:ty: $words:expr, $word:ident;)+) => {$(
        impl OptionValue for Option<$type> {
            fn read(section: &mut Section<'_>, key: &'static str, _check: Check<'_, Self>) -> Result<Self> {
                Ok(section.word(key, $words)?.and_then(|word| word.value.parse().ok()))
            }

            fn written(&self) -> Option<Value> {
                self.map(|value| Value::String(value.$word().to_owned()))
            }

            single!(value => value.$word().to_owned());
        }
    )+};
}

words! {
    Kind: &Kind::SHEETS.map(Kind::plural), plural;
    HiddenRows: HiddenRows::WORDS, word;
    CountryForm: CountryForm::WORDS, word;
    MacForm: MacForm::WORDS, word;
}

/// A whole number from 1.
macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl OptionValue for Option<$type> {
            fn read(section: &mut Section<'_>, key: &'static str, _check: Check<'_, Self>) -> Result<Self> {
                let Some(text) = section.number(key, None)? else { return Ok(None) };
                match text.value.parse::<$type>().ok().filter(|number| *number > 0) {
                    Some(number) => Ok(Some(number)),
                    None => Err(section
                        .complain(text.line, format_args!("'{key}' must be a whole number from 1"))),
                }
            }

            fn written(&self) -> Option<Value> {
                self.and_then(|number| i64::try_from(number).ok()).map(Value::Integer)
            }

            single!(number => number.to_string());
        }
    )+};
}

numbers!(u32, usize);

impl OptionValue for Option<String> {
    fn read(section: &mut Section<'_>, key: &'static str, check: Check<'_, Self>) -> Result<Self> {
        let Some(text) = section.text(key)? else { return Ok(None) };
        check(Some(text.value.clone())).map_err(|error| at_line(section, text.line, key, &error))?;
        Ok(Some(text.value))
    }

    fn written(&self) -> Option<Value> {
        self.clone().map(Value::String)
    }

    single!(text => text.clone());
}

impl OptionValue for Option<char> {
    fn read(section: &mut Section<'_>, key: &'static str, check: Check<'_, Self>) -> Result<Self> {
        let Some(text) = section.text(key)? else { return Ok(None) };
        let mut characters = text.value.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else {
            return Err(section
                .complain(text.line, format_args!("'{key}' must be one character"))
                .hint(format!("for example {key} = \";\", or \"\\t\" for a tab")));
        };
        check(Some(character)).map_err(|error| at_line(section, text.line, key, &error))?;
        Ok(Some(character))
    }

    fn written(&self) -> Option<Value> {
        self.map(|character| Value::String(character.to_string()))
    }

    single!(character => character.to_string());
}

/// A switch: what is off need not be typed.
impl OptionValue for Option<bool> {
    const RANK: u8 = 2;

    fn read(section: &mut Section<'_>, key: &'static str, _check: Check<'_, Self>) -> Result<Self> {
        section.flag(key)
    }

    fn written(&self) -> Option<Value> {
        self.map(Value::Boolean)
    }

    fn typed(&self) -> Vec<Option<String>> {
        self.iter().filter(|on| **on).map(|_| None).collect()
    }

    fn over(self, lower: Self) -> Self {
        self.or(lower)
    }
}

impl OptionValue for Vec<String> {
    const RANK: u8 = 1;

    fn read(section: &mut Section<'_>, key: &'static str, check: Check<'_, Self>) -> Result<Self> {
        let mut texts = Vec::new();
        for Located { value, line } in section.list(key)? {
            check(vec![value.clone()]).map_err(|error| at_line(section, line, key, &error))?;
            texts.push(value);
        }
        Ok(texts)
    }

    fn written(&self) -> Option<Value> {
        let texts = || self.iter().cloned().map(Value::String).collect();
        (!self.is_empty()).then(|| Value::Array(texts()))
    }

    fn typed(&self) -> Vec<Option<String>> {
        self.iter().cloned().map(Some).collect()
    }

    fn over(mut self, lower: Self) -> Self {
        self.extend(lower);
        self
    }
}

impl OptionValue for Vec<(String, String)> {
    const RANK: u8 = 1;

    fn read(section: &mut Section<'_>, key: &'static str, check: Check<'_, Self>) -> Result<Self> {
        let mut pairs = Vec::new();
        // A column is named with its kind, `sites.city`; a header may hold dots of its own.
        for (name, text) in section.pairs(key, key == "defaults")? {
            check(vec![(name.clone(), text.value.clone())])
                .map_err(|error| at_line(section, text.line, key, &error))?;
            pairs.push((name, text.value));
        }
        Ok(pairs)
    }

    fn written(&self) -> Option<Value> {
        // Only letters and digits of a header count, so that its line breaks need not be kept.
        let plain = |key: &str| key.split_whitespace().collect::<Vec<_>>().join(" ");
        let table = || -> Table {
            self.iter().map(|(key, value)| (plain(key), Value::String(value.clone()))).collect()
        };
        (!self.is_empty()).then(|| Value::Table(table()))
    }

    fn typed(&self) -> Vec<Option<String>> {
        self.iter().map(|(name, value)| Some(format!("{name}={value}"))).collect()
    }

    fn over(mut self, lower: Self) -> Self {
        self.extend(lower);
        self
    }
}
