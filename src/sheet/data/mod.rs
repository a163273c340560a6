//! Countries, time zones, and words of languages and programs: tables that are embedded as CSV files, each with its source
//! in its first lines.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::finding::code::Code;

/// A country of ISO 3166-1.
#[derive(Debug)]
pub(super) struct Country {
    pub(super) alpha2: String,
    pub(super) alpha3: String,
    /// In English.
    pub(super) name: String,
    pub(super) other_names: Vec<String>,
    pub(super) postcodes: Option<Postcodes>,
}

/// How the postcodes of a country are written, where all of them are digits of one number.
#[derive(Debug)]
pub(super) struct Postcodes {
    pub(super) digits: usize,
    /// The lowest of them as a number: what is lower has lost something else than zeros.
    pub(super) lowest: u32,
}

/// A time zone of Windows.
#[derive(Debug)]
pub(super) struct WindowsZone {
    pub(super) name: String,
    /// What Windows shows beside the offset.
    pub(super) places: String,
    /// The name in the IANA list.
    pub(super) zone: String,
}

pub(super) static COUNTRIES: LazyLock<Vec<Country>> = LazyLock::new(|| {
    records(include_str!("countries.csv"), |[alpha2, alpha3, name, others, digits, lowest]| Country {
        alpha2,
        alpha3,
        name,
        other_names: others.split('|').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        postcodes: digits
            .parse()
            .ok()
            .zip(lowest.parse().ok())
            .map(|(digits, lowest)| Postcodes { digits, lowest }),
    })
});

pub(super) static WINDOWS_ZONES: LazyLock<Vec<WindowsZone>> = LazyLock::new(|| {
    records(include_str!("windows_zones.csv"), |[name, places, zone]| WindowsZone { name, places, zone })
});

/// Older names of the IANA list, each with the name of today.
pub(super) static RENAMED_ZONES: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| records(include_str!("renamed_zones.csv"), |names| names));

/// Abbreviations, each with the zones of cities that go by it.
pub(super) static ZONE_ABBREVIATIONS: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| records(include_str!("zone_abbreviations.csv"), |names| names));

/// Names of the IANA list for the time of no place, each with that time.
pub(super) static ZONES_OF_NO_PLACE: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| records(include_str!("zones_of_no_place.csv"), |name| name));

/// Words that stand for no value, each with what it means.
pub(super) static PLACEHOLDERS: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| records(include_str!("placeholders.csv"), |word| word));

/// Words for the kinds of rows in names of sheets, each with the kind.
pub(super) static KIND_NAMES: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| records(include_str!("kind_names.csv"), |word| word));

/// The first bytes of files that are never read, with the code and the words of their refusal.
pub(super) static FILE_SIGNS: LazyLock<Vec<(Vec<u8>, Code, String)>> = LazyLock::new(|| {
    let signs = records(include_str!("file_signs.csv"), |[bytes, code, what]| {
        let bytes = (0..bytes.len() / 2).map(|at| u8::from_str_radix(&bytes[2 * at..2 * at + 2], 16).ok());
        Some((bytes.collect::<Option<Vec<u8>>>()?, Code::parse(&code)?, what))
    });
    signs.into_iter().flatten().collect()
});

/// Names of HTML, each with what it is the name of.
pub(super) static HTML_NAMES: LazyLock<Vec<[String; 2]>> =
    LazyLock::new(|| records(include_str!("html_names.csv"), |name| name));

/// The errors of formulas, in small letters.
pub(super) static FORMULA_ERRORS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    records(include_str!("formula_errors.csv"), |[_language, error]| error).into_iter().collect()
});

/// Words for yes and no, in small letters.
pub(super) static BOOLEAN_WORDS: LazyLock<HashMap<String, bool>> = LazyLock::new(|| {
    records(include_str!("boolean_words.csv"), |[word, means]| (word, means == "yes")).into_iter().collect()
});

/// Letters of other alphabets, each with the Latin one it looks like.
pub(super) static CONFUSABLES: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let pairs =
        records(include_str!("confusables.csv"), |[letter, latin]| letter.chars().zip(latin.chars()).next());
    pairs.into_iter().flatten().collect()
});

/// The records of an embedded table, without its comments and its header.
pub(super) fn records<const N: usize, T>(table: &str, row: impl Fn([String; N]) -> T) -> Vec<T> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(table.as_bytes());
    let records = reader.records().flatten();
    records
        .filter_map(|record| record.iter().map(str::to_owned).collect::<Vec<_>>().try_into().ok())
        .map(row)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_read() {
        let lines = |table: &str| table.lines().filter(|line| !line.starts_with('#')).count() - 1;
        assert_eq!((COUNTRIES.len(), COUNTRIES.len()), (249, lines(include_str!("countries.csv"))));
        assert_eq!(WINDOWS_ZONES.len(), lines(include_str!("windows_zones.csv")));
        assert_eq!(RENAMED_ZONES.len(), lines(include_str!("renamed_zones.csv")));
        assert_eq!(ZONE_ABBREVIATIONS.len(), lines(include_str!("zone_abbreviations.csv")));
        assert_eq!(ZONES_OF_NO_PLACE.len(), lines(include_str!("zones_of_no_place.csv")));
        assert_eq!(PLACEHOLDERS.len(), lines(include_str!("placeholders.csv")));
        assert_eq!(KIND_NAMES.len(), lines(include_str!("kind_names.csv")));
        assert_eq!(FILE_SIGNS.len(), lines(include_str!("file_signs.csv")));
        assert_eq!(HTML_NAMES.len(), lines(include_str!("html_names.csv")));
        assert_eq!(FORMULA_ERRORS.len(), 112);
        assert_eq!(BOOLEAN_WORDS.len(), lines(include_str!("boolean_words.csv")));
        assert_eq!(CONFUSABLES.len(), lines(include_str!("confusables.csv")));
        assert_eq!(COUNTRIES.iter().filter(|country| country.postcodes.is_some()).count(), 27);
    }
}
