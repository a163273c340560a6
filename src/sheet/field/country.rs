//! Countries: sent as they stand, or as a code or a name where that is asked for.
//!
//! The specification shows no form, so that an unknown country is only worth a warning; the service decides.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{CellReading, Problem, Value};
use crate::sheet::data::{COUNTRIES, Country};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::options::CountryForm;
use crate::sheet::text::{did_you_mean, is_placeholder, nearest};

/// Letters of a code.
const CODE: usize = 3;

/// Reads a country; `seeks` says whether it is sought what a wrong one means.
pub(super) fn country(text: &str, form: CountryForm, seeks: bool, reading: &mut CellReading) -> Value {
    let Some(country) = known(text) else {
        reading.add(unknown(text, form, seeks));
        return Value::Text(text.into());
    };
    Value::Text(match form {
        CountryForm::AsIs => text.into(),
        CountryForm::Alpha2 => country.alpha2.as_str().into(),
        CountryForm::Name => country.name.as_str().into(),
    })
}

/// A country by its code, its name or another name it goes by.
pub(super) fn known(text: &str) -> Option<&'static Country> {
    static PLACES: LazyLock<HashMap<String, &Country>> = LazyLock::new(|| {
        let mut places = HashMap::new();
        for country in COUNTRIES.iter() {
            for word in [&country.alpha2, &country.alpha3, &country.name] {
                places.insert(fold(word), country);
                // As most sheets have it: found without being folded first.
                places.insert(word.clone(), country);
            }
            places.extend(country.other_names.iter().map(|name| (fold(name), country)));
        }
        places
    });
    // "N/A" is no more Namibia than "n.a." is.
    if is_placeholder(text) {
        return None;
    }
    PLACES.get(text).or_else(|| PLACES.get(&fold(text)).filter(|_| !is_parted_code(text))).copied()
}

/// Whether a text is the letters of a code with something between them that is no dot, as in `D E`.
fn is_parted_code(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '.');
    let words = words.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("the"));
    fold(text).len() <= CODE && words.count() > 1
}

fn unknown(text: &str, form: CountryForm, seeks: bool) -> Problem {
    let names = COUNTRIES.iter().map(|country| country.name.as_str());
    let near = if seeks { nearest(text, names) } else { Vec::new() };
    let told = shown(text);
    let message = if text.chars().any(|c| c.is_ascii_digit()) {
        format!("'{told}' is not a country and is sent as it is: check whether the columns are shifted")
    } else {
        format!(
            "'{told}' is neither a country code nor an English country name, and is sent as it is: correct it.{}",
            did_you_mean(&near)
        )
    };
    let problem =
        Problem::new(Code::CellCountry, message).rule("the English name of a country, or its ISO code");
    match near.as_slice() {
        [name] => match (form, known(name)) {
            (CountryForm::Alpha2, Some(country)) => problem.suggest(&country.alpha2),
            (CountryForm::Alpha2 | CountryForm::AsIs | CountryForm::Name, _) => problem.suggest(*name),
        },
        _ => problem,
    }
}

/// A name as names of countries are compared: small letters without accents, `&` and `St` written out, no article.
fn fold(text: &str) -> String {
    let plain: String = text
        .nfkd()
        .filter(|c| !is_combining_mark(*c) && *c != '.' && *c != '\'' && *c != '’')
        .flat_map(char::to_lowercase)
        .collect();
    plain
        .replace('&', " and ")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && *word != "the")
        .map(|word| if word == "st" { "saint" } else { word })
        .collect::<Vec<_>>()
        .concat()
}

/// A postcode with its zeros.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) code: String,
    /// The name of the country.
    pub(super) country: &'static str,
    /// How many digits its postcodes have.
    pub(super) digits: usize,
}

/// The postcode that these digits were before their zeros were lost; `None` where there were none, and where the country,
/// as its cell has it, does not make it certain.
pub(super) fn whole(digits: &str, country: Option<&str>) -> Option<Whole> {
    let number: u32 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let country = known(country?)?;
    let written = country.postcodes.as_ref()?;
    let is_short = digits.len() < written.digits && number >= written.lowest;
    let width = written.digits;
    is_short.then(|| Whole { code: format!("{digits:0>width$}"), country: &country.name, digits: width })
}

/// Whether a postcode of so many digits, the first of which is no zero, is whole in the row's country: nothing was lost.
pub(super) fn is_whole(digits: &str, country: Option<&str>) -> bool {
    let written = country.and_then(known).and_then(|country| country.postcodes.as_ref());
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && written.is_some_and(|written| written.digits == digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_countries_share_a_code_or_a_name() {
        let mut seen = HashMap::new();
        for country in COUNTRIES.iter() {
            let Country { alpha2, alpha3, name, other_names, .. } = country;
            assert_eq!((alpha2.len(), alpha3.len()), (2, 3), "{name}");
            for word in [alpha2, alpha3, name] {
                assert_eq!(seen.insert(fold(word), alpha2), None, "{word}");
            }
            for also in other_names {
                assert!(seen.insert(fold(also), alpha2).is_none_or(|before| before == alpha2), "{also}");
            }
        }
    }

    #[test]
    fn zeros_are_known_only_where_the_country_has_one_length_and_such_postcodes() {
        let table = [
            ("2134", Some("US"), Some("02134")),
            ("501", Some("United States"), Some("00501")),
            ("500", Some("US"), None),
            ("5", Some("US"), None),
            ("90210", Some("USA"), None),
            ("902101234", Some("US"), None),
            ("1067", Some("Germany"), Some("01067")),
            ("1066", Some("DE"), None),
            ("118", Some("IT"), Some("00118")),
            ("1", Some("South Africa"), Some("0001")),
            ("110", Some(" nz "), Some("0110")),
            ("1010", Some("NZ"), None),
            ("18956", Some("SG"), Some("018956")),
            // No zeros in front, a dash, letters, and no country at all.
            ("101", Some("AT"), None),
            ("1", Some("PL"), None),
            ("1", Some("GB"), None),
            ("2134", Some("Massachusetts"), None),
            ("2134", Some("N/A"), None),
            ("2134", Some(""), None),
            ("2134", None, None),
            ("-2134", Some("US"), None),
            ("+2134", Some("US"), None),
            ("21.5", Some("US"), None),
            ("99999999999", Some("US"), None),
            ("0", Some("ZA"), None),
            ("", Some("US"), None),
        ];
        for (digits, country, expected) in table {
            let found = whole(digits, country).map(|whole| whole.code);
            assert_eq!(found.as_deref(), expected, "{digits} {country:?}");
        }
    }

    #[test]
    fn a_postcode_with_all_its_digits_is_whole() {
        for (digits, country) in
            [("1010", "NZ"), ("1010", "Austria"), ("8001", "CH"), ("2000", "AU"), ("78701", "US")]
        {
            assert!(is_whole(digits, Some(country)), "{digits} {country}");
        }
        for (digits, country) in
            [("101", Some("AT")), ("2134", Some("US")), ("1010", Some("GB")), ("1010", None)]
        {
            assert!(!is_whole(digits, country), "{digits} {country:?}");
        }
    }
}
