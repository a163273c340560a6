//! What every HTML page shares: one style sheet, one script, the policy that allows these two and nothing else, and how text
//! and moments are shown.
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

use crate::model::time::Moment;
use crate::model::unseen::is_unseen;

/// The style of every page.
pub const STYLE: &str = include_str!("../../templates/page/style.css");

/// The script of every page; a page says everything without it.
pub const SCRIPT: &str = include_str!("../../templates/page/script.js");

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
            c if c.is_control() || is_unseen(c) => result.extend(c.escape_unicode()),
            c => result.push(c),
        }
    }
    result
}

/// A text as far as so many characters, fit to be shown.
pub(super) fn cut_short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\u{2026}", shown(&text[..end])),
        None => shown(text),
    }
}

/// A moment for machines and for people.
pub(super) struct When {
    pub(super) iso: String,
    pub(super) text: String,
}

impl When {
    pub(super) fn of(at: Moment) -> Self {
        Self { iso: at.to_string(), text: stamp(at) }
    }
}

/// A moment to the minute, for a sentence.
pub(super) fn minute(at: Moment) -> String {
    at.civil().strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// A moment as the page writes it.
pub(super) fn stamp(at: Moment) -> String {
    at.civil().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
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

    /// A colour of the style, in light or in dark.
    fn colour(name: &str, dark: usize) -> [f64; 3] {
        let (_, rest) =
            STYLE.split_once(&format!("--{name}: light-dark(")).unwrap_or_else(|| panic!("{name}"));
        let (pair, _) = rest.split_once(')').unwrap();
        let digits = pair.split(", ").nth(dark).unwrap().trim_start_matches('#');
        [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0)
    }

    /// The contrast of two colours, as WCAG 2 defines it.
    fn contrast(left: [f64; 3], right: [f64; 3]) -> f64 {
        let linear = |c: f64| if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        let luminance = |[red, green, blue]: [f64; 3]| {
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        };
        let (one, other) = (luminance(left), luminance(right));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn every_text_and_every_sign_stands_out_from_its_ground_in_light_and_in_dark() {
        assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 0.001);
        let tones = ["done", "failed", "person", "waiting", "aside"];
        for dark in [0, 1] {
            let stands_out = |ink: &str, ground: &str, least: f64| {
                let found = contrast(colour(ink, dark), colour(ground, dark));
                assert!(found >= least, "{ink} on {ground}, dark {dark}: {found:.2}");
            };
            for ground in ["page", "card", "sunken"] {
                for ink in ["ink", "muted", "accent"].into_iter().chain(tones) {
                    stands_out(ink, ground, 4.5);
                }
            }
            for tone in tones {
                stands_out(tone, &format!("{tone}-ground"), 4.5);
                stands_out(&format!("{tone}-fill"), "card", 3.0);
            }
        }
    }
}
