//! The look that every page shares: one style, one script, and the policy that allows these two and nothing else.
//!
//! `templates/page/base.html` is the frame; a page extends it and fills its blocks `title`, `kind`, `nav`, `content`
//! and `footer`. What its parts are called is in the style sheet. Escaping markup is askama's work; [`shown`] takes
//! care of what no escaping reaches: characters that are invisible or reorder the text around them.
//!
//! The policy forbids inline styles too: lengths in a chart are attributes of SVG elements.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The style of every page.
pub const STYLE: &str = include_str!("../templates/page/style.css");

/// The script of every page; a page says everything without it.
pub const SCRIPT: &str = include_str!("../templates/page/script.js");

/// The content security policy of a page: no network, no frame, no form, and only [`STYLE`] and [`SCRIPT`].
pub fn policy() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
            digest(STYLE),
            digest(SCRIPT)
        )
    });
    &POLICY
}

/// How a policy names a text that it allows.
fn digest(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// A count with its thousands apart: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::with_capacity(digits.len() / 3 + 1);
    groups.extend(digits.get(..first).filter(|group| !group.is_empty()));
    groups.extend((first..digits.len()).step_by(3).filter_map(|at| digits.get(at..at + 3)));
    groups.join(",")
}

/// A count with its noun: `1 row`, `2 rows`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Text that others wrote, fit to be shown: what is invisible or would reorder its neighbours becomes its code, and the
/// ends of lines become a sign. Letters of every script stay as they are.
pub fn shown(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => result.push_str(" \u{21b5} "),
            '\t' => result.push(' '),
            c if is_unseen(c) => result.extend(c.escape_unicode()),
            c => result.push(c),
        }
    }
    result
}

/// Whether a character shows nothing by itself, or turns the direction of what follows. Joiners are part of words and of
/// signs, and stay.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_style_and_script_by_their_digests_and_nothing_of_the_network() {
        // The digest of the empty text is known from elsewhere.
        assert_eq!(digest(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        let policy = policy();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert_eq!(policy.matches("'sha256-").count(), 2, "{policy}");
        for open in ["http", "*", "unsafe", "data:", "self"] {
            assert!(!policy.contains(open), "{open}: {policy}");
        }
    }

    #[test]
    fn style_and_script_stay_inside_their_elements_and_ask_for_nothing() {
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains('\r'), "a browser would see other bytes than the digest did");
            let lower = text.to_ascii_lowercase();
            for open in
                ["</", "<!--", "http:", "https:", "url(", "@import", "fetch(", "innerhtml", "storage."]
            {
                assert!(!lower.contains(open), "{open}");
            }
        }
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        let table = [(0, "0"), (12, "12"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in table {
            assert_eq!(count(number), expected);
        }
        assert_eq!(
            (counted(1, "row", "rows").as_str(), counted(0, "row", "rows").as_str()),
            ("1 row", "0 rows")
        );
    }

    #[test]
    fn what_is_unseen_or_turns_the_text_is_shown_as_its_code() {
        let table = [
            ("Acme Ltd", "Acme Ltd"),
            ("Café Ōtautahi 東京 👩‍💻", "Café Ōtautahi 東京 👩‍💻"),
            ("شركة النور", "شركة النور"),
            ("two\r\nlines\nthree", "two \u{21b5} lines \u{21b5} three"),
            ("tab\there", "tab here"),
            ("nul\0 bell\u{7} \u{1b}[31m", "nul\\u{0} bell\\u{7} \\u{1b}[31m"),
            ("exe\u{202e}fdp", "exe\\u{202e}fdp"),
            ("hid\u{200b}den\u{ad}", "hid\\u{200b}den\\u{ad}"),
            ("\u{feff}mark", "\\u{feff}mark"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected);
        }
    }
}
