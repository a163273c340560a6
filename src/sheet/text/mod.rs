//! The closed list of normalisations of text, and the signs that text was damaged on its way here.
//!
//! Nothing else is ever changed silently: what is not on this list is a finding. Whether a value fits its column
//! is left to the fields.

mod markup;
mod mojibake;
mod placeholders;

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

pub(crate) use markup::has_markup;
pub(crate) use mojibake::repair_mojibake;
pub(crate) use placeholders::{is_ditto, is_formula_error, is_placeholder, is_too_narrow, is_zero};

/// Characters that are removed wherever they stand: zero-width space, word joiner, byte order mark, soft hyphen.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// Characters that turn the writing direction; they can make one text look like another.
pub(crate) fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

/// Characters that join letters or keep them apart; names in some scripts need them.
pub(crate) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Characters for programs, not for readers: separators of lines and paragraphs, annotations, invisible operators.
pub(crate) fn is_format(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}' | '\u{180e}' | '\u{2061}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
}

/// How the text of a column is normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Norm {
    /// Composed letters (NFC), inner white space to one space: names, cities.
    Name,
    /// Composed letters (NFC), inner white space kept: addresses, labels, metadata.
    Prose,
    /// Compatibility forms (NFKC), every dash to `-`: keys, ids, addresses of machines, numbers.
    Code,
    /// Like [`Norm::Code`], inner white space to one space: enumerations and phones.
    Words,
}

/// What was changed, to be counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// White space around or doubled inside.
    pub(crate) trimmed: bool,
    /// Invisible characters, or compatibility forms of letters and dashes.
    pub(crate) invisible: bool,
    /// The wrapping `="…"` or a leading apostrophe.
    pub(crate) unwrapped: bool,
    /// Zeros that only the number format showed.
    pub(crate) padded: bool,
}

/// The normalised text. Line ends become LF; nothing else happens to what is inside.
pub(crate) fn normalise<'a>(text: &'a str, norm: Norm, changes: &mut Changes) -> Cow<'a, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut removed = false;
    for c in text.chars() {
        if is_invisible(c) {
            removed = true;
        } else {
            result.push(c);
        }
    }
    if result.contains('\r') {
        result = result.replace("\r\n", "\n").replace('\r', "\n");
    }
    result = match norm {
        Norm::Name | Norm::Prose => match is_nfc_quick(result.chars()) {
            IsNormalized::Yes => result,
            IsNormalized::No | IsNormalized::Maybe => result.nfc().collect(),
        },
        Norm::Code | Norm::Words => {
            let folded: String = result.nfkc().map(dash).collect();
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            removed |= letters(&folded) != letters(&result);
            folded
        }
    };
    let trimmed = result.trim();
    let collapsed = match norm {
        Norm::Name | Norm::Words => collapse(trimmed),
        Norm::Prose | Norm::Code => trimmed.to_owned(),
    };
    changes.trimmed |= collapsed != result;
    changes.invisible |= removed;
    Cow::Owned(collapsed)
}

/// Printable ASCII without spaces at its ends or doubled inside: by far the most common cell.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut space = true;
    for &byte in bytes {
        let is_space = byte == b' ';
        if !(b' '..=b'~').contains(&byte) || (is_space && space) {
            return false;
        }
        space = is_space;
    }
    bytes.is_empty() || !space
}

/// Every kind of dash as the plain one.
fn dash(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c => c,
    }
}

/// Runs of white space on one line as one space; line breaks and the controls of old printers (VT, FF) stay, they are
/// findings of their own.
fn collapse(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() && !matches!(c, '\n' | '\u{b}' | '\u{c}') {
            space = true;
        } else {
            if space {
                result.push(' ');
                space = false;
            }
            result.push(c);
        }
    }
    result
}

/// Whether the text is blank once what is invisible is taken away.
pub(crate) fn is_blank(text: &str) -> bool {
    // Asked of every cell more than once.
    let is_seen = text.as_bytes().first().is_some_and(u8::is_ascii_graphic);
    !is_seen && text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// The text inside `="…"`, as exporters write it to keep Excel from changing numbers.
pub(crate) fn unwrap_excel(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("=\"")?.strip_suffix('"')?;
    (!inner.contains('"')).then_some(inner)
}

/// Words that are within reach of `text`, nearest first, at most three.
///
/// Near is a Damerau-Levenshtein distance of at most a quarter of the length (1 at least) and a Jaro-Winkler
/// likeness of at least 0.85, both on text in lower case.
pub(crate) fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = text.to_lowercase();
    let length = wanted.chars().count();
    if length > 100 {
        return Vec::new();
    }
    let reach = (length / 4).max(1);
    let letters = bytes_of(&wanted);
    let mut found: Vec<(f64, &str)> = Vec::new();
    for candidate in candidates {
        if candidate.len().abs_diff(wanted.len()) > 4 * reach {
            continue;
        }
        let folded = candidate.to_lowercase();
        // Cheap, and true of nearly every candidate among a hundred thousand names.
        if are_far_apart(&letters, &bytes_of(&folded), reach) {
            continue;
        }
        if distance(&wanted, &folded) > reach {
            continue;
        }
        let likeness = strsim::jaro_winkler(&wanted, &folded);
        if likeness >= 0.85 && !found.iter().any(|(_, known)| *known == candidate) {
            found.push((likeness, candidate));
        }
    }
    found.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(right.1)));
    found.truncate(3);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The Damerau-Levenshtein distance, which what both texts begin and end with takes no part in: keys that are counted up
/// differ in few characters.
fn distance(left: &str, right: &str) -> usize {
    let begin = left.char_indices().zip(right.chars()).find(|((_, a), b)| a != b).map(|((at, _), _)| at);
    let begin = begin.unwrap_or(left.len().min(right.len()));
    let (left, right) = (&left[begin..], &right[begin..]);
    let end: usize = left
        .chars()
        .rev()
        .zip(right.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    strsim::damerau_levenshtein(&left[..left.len() - end], &right[..right.len() - end])
}

/// How often each byte comes, by its last five bits.
fn bytes_of(text: &str) -> [u8; 32] {
    let mut counts = [0_u8; 32];
    for byte in text.bytes() {
        let count = &mut counts[usize::from(byte & 31)];
        *count = count.saturating_add(1);
    }
    counts
}

/// Whether two texts with these letters are certainly further apart than `reach`: a change of one character, which has
/// four bytes at most, takes away four and adds four.
fn are_far_apart(left: &[u8; 32], right: &[u8; 32], reach: usize) -> bool {
    let differing: usize = left.iter().zip(right).map(|(a, b)| usize::from(a.abs_diff(*b))).sum();
    differing > 8 * reach
}

/// "Did you mean …?" with what [`nearest`] has found; empty when nothing is near.
pub(crate) fn did_you_mean(near: &[&str]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let quoted: Vec<_> = near.iter().map(|word| format!("'{}'", super::finding::shown(word))).collect();
    format!(" Did you mean {}?", quoted.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str, norm: Norm) -> (String, Changes) {
        let mut changes = Changes::default();
        (normalise(text, norm, &mut changes).into_owned(), changes)
    }

    #[test]
    fn the_closed_list_of_normalisations_and_nothing_else() {
        let table = [
            ("Acme", Norm::Name, "Acme"),
            ("  Acme\u{a0} \tLtd ", Norm::Name, "Acme Ltd"),
            ("1  High St ", Norm::Prose, "1  High St"),
            ("Cafe\u{301}", Norm::Name, "Caf\u{e9}"),
            ("\u{feff}Acme\u{200b}", Norm::Name, "Acme"),
            ("\u{ff10}\u{ff11}\u{ff21}\u{2013}x", Norm::Code, "01A-x"),
            ("\u{ff21}cme \u{2013} x", Norm::Name, "\u{ff21}cme \u{2013} x"),
            ("Full\u{3000} Reseller", Norm::Words, "Full Reseller"),
            ("a\r\nb\rc", Norm::Prose, "a\nb\nc"),
            ("Smith & Sons", Norm::Name, "Smith & Sons"),
        ];
        for (text, norm, expected) in table {
            assert_eq!(normal(text, norm).0, expected, "{text:?} {norm:?}");
        }
    }

    #[test]
    fn what_was_changed_is_said() {
        assert_eq!(normal("Acme", Norm::Name).1, Changes::default());
        assert!(normal(" Acme", Norm::Name).1.trimmed);
        assert!(normal("Ac\u{200b}me", Norm::Name).1.invisible);
        assert!(normal("\u{ff10}1", Norm::Code).1.invisible);
        assert!(!normal("a\u{a0}b", Norm::Code).1.invisible);
        assert!(!normal("a\nb", Norm::Words).1.invisible);
    }

    #[test]
    fn what_exporters_wrap_around_values_is_taken_off() {
        assert_eq!(unwrap_excel("=\"00123\""), Some("00123"));
        assert_eq!(unwrap_excel("=A1"), None);
    }

    #[test]
    fn near_words_come_nearest_first_and_far_ones_not_at_all() {
        let zones = ["Pacific/Auckland", "Pacific/Apia", "Europe/Paris"];
        assert_eq!(nearest("Pacific/Aukland", zones), ["Pacific/Auckland"]);
        assert_eq!(nearest("xyz", zones), [""; 0]);
        assert_eq!(did_you_mean(&nearest("adress1", ["address1", "address2"])), " Did you mean 'address1'?");
    }
}
