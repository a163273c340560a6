//! Postcodes that lost their zeros in front when they were stored as numbers, where the country leaves no doubt of them.

use super::country;

/// How the postcodes of a country are written, where all of them are digits of one number, and zeros stand in front of
/// some.
struct Written {
    country: &'static str,
    /// How many digits each has.
    digits: usize,
    /// The lowest of them as a number: what is lower has lost something else than zeros.
    lowest: u32,
}

/// Shorthand of the table below.
const fn written(country: &'static str, digits: usize, lowest: u32) -> Written {
    Written { country, digits, lowest }
}

/// The countries that are certain. Those that write a letter, a dash or a space into every postcode are none of them,
/// nor those that have postcodes of several lengths; the United States are, as the longer form is never shorter than five.
const COUNTRIES: [Written; 23] = [
    written("AU", 4, 200),
    written("CN", 6, 10_000),
    written("CO", 6, 50_000),
    written("DE", 5, 1_067),
    written("DK", 4, 555),
    written("DZ", 5, 1_000),
    written("ES", 5, 1_001),
    written("FI", 5, 100),
    written("FR", 5, 1_000),
    written("IT", 5, 10),
    written("KE", 5, 100),
    written("KR", 5, 1_000),
    written("LK", 5, 100),
    written("MX", 5, 1_000),
    written("MY", 5, 1_000),
    written("NO", 4, 1),
    written("NZ", 4, 110),
    written("RO", 6, 10_000),
    written("SG", 6, 10_000),
    written("TR", 5, 1_000),
    written("UA", 5, 1_001),
    written("US", 5, 501),
    written("ZA", 4, 1),
];

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
    let (code, name) = country::known(country?)?;
    let written = COUNTRIES.iter().find(|written| written.country == code)?;
    let is_short = digits.len() < written.digits && number >= written.lowest;
    let width = written.digits;
    is_short.then(|| Whole { code: format!("{digits:0>width$}"), country: name, digits: width })
}

/// Whether a postcode of so many digits, the first of which is no zero, is whole in the row's country: nothing was lost.
pub(super) fn is_whole(digits: &str, country: Option<&str>) -> bool {
    let Some((code, _)) = country.and_then(country::known) else { return false };
    let of_one_length =
        COUNTRIES.iter().find(|written| written.country == code).map(|written| written.digits);
    // Those that have no zeros in front.
    let length = of_one_length.or(match code {
        "AT" | "BE" | "CH" | "LU" => Some(4),
        _ => None,
    });
    length == Some(digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn every_country_of_the_table_is_one_and_its_lowest_postcode_has_a_zero_in_front() {
        for written in &COUNTRIES {
            assert_eq!(country::known(written.country).map(|(code, _)| code), Some(written.country));
            let digits = written.lowest.to_string();
            let whole = whole(&digits, Some(written.country)).expect("it has lost a zero");
            assert!(whole.code.len() == written.digits && whole.code.starts_with('0'), "{whole:?}");
        }
        assert!(COUNTRIES.is_sorted_by(|left, right| left.country < right.country));
    }
}
