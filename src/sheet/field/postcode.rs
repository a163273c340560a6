//! Postcodes that lost their zeros in front when they were stored as numbers, where the country leaves no doubt of them.

use super::country;

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
    let country = country::known(country?)?;
    let written = country.postcodes.as_ref()?;
    let is_short = digits.len() < written.digits && number >= written.lowest;
    let width = written.digits;
    is_short.then(|| Whole { code: format!("{digits:0>width$}"), country: &country.name, digits: width })
}

/// Whether a postcode of so many digits, the first of which is no zero, is whole in the row's country: nothing was lost.
pub(super) fn is_whole(digits: &str, country: Option<&str>) -> bool {
    let written = country.and_then(country::known).and_then(|country| country.postcodes.as_ref());
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && written.is_some_and(|written| written.digits == digits.len())
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
}
