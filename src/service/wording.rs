//! Text from the service made fit to be stored and shown: no control characters, no tricks of direction, bounded,
//! and without the token or the secret should the service echo them.

use std::borrow::Cow;

use bytes::Bytes;

use crate::model::unseen::is_unseen;

/// How much of a text of the service is kept, in characters.
pub(crate) const LONGEST: usize = 500;

/// How much of an answer is looked at for its beginning, in bytes.
const LOOKED_AT: usize = 64 * 1024;

/// Shorter secrets are not looked for: they would be found in every text.
const SHORTEST_SECRET: usize = 4;

/// What stands where a secret stood.
const REMOVED: &str = "[removed]";

/// Makes messages for people of texts that may hold these secrets.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wording<'a> {
    /// What must not be repeated.
    pub(crate) secrets: &'a [&'a str],
}

impl Wording<'_> {
    /// The text without secrets, control characters as spaces, without invisible ones, at most `longest` characters.
    pub(crate) fn clean(self, text: &str, longest: usize) -> String {
        // Before anything is taken away or cut.
        let text = redact(text, self.secrets);
        let mut cleaned = String::with_capacity(text.len());
        for c in text.chars().filter(|&c| !is_invisible(c)).map(|c| if c.is_control() { ' ' } else { c }) {
            if !(c == ' ' && (cleaned.is_empty() || cleaned.ends_with(' '))) {
                cleaned.push(c);
            }
        }
        let cleaned = cleaned.trim_end();
        if cleaned == text {
            return cut(cleaned, longest);
        }
        // Again, in case that joined what stood apart.
        cut(&redact(cleaned, self.secrets), longest)
    }
}

/// A message for people, of a text that holds no secrets.
pub(crate) fn clean(text: &str, longest: usize) -> String {
    Wording::default().clean(text, longest)
}

/// The beginning of an answer for logs: control and invisible characters escaped, at most [`LONGEST`] characters.
/// `None` for an empty body.
pub(crate) fn excerpt(body: &[u8], secrets: &[&str]) -> Option<String> {
    let beginning = &body[..body.len().min(LOOKED_AT)];
    let beginning_text = String::from_utf8_lossy(beginning);
    let mut text = redact(beginning_text.trim(), secrets);
    if beginning.len() < body.len() {
        // The last part may be that of a secret, which JSON writes with up to six characters for one.
        let longest = secrets.iter().map(|secret| 6 * secret.len()).max().unwrap_or(0);
        let kept = text.chars().count().saturating_sub(longest);
        text = Cow::Owned(text.chars().take(kept).collect());
    }
    if text.is_empty() {
        return None;
    }
    let mut escaped = String::new();
    for c in text.chars().take(LONGEST + 1) {
        if c.is_control() || is_invisible(c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Some(cut(&escaped, LONGEST))
}

/// An answer as it came, without the secrets that it may repeat.
pub(crate) fn shown(body: Bytes, secrets: &[&str]) -> Bytes {
    // Each byte as a character, so that what is not UTF-8 stays as it is; secrets are ASCII.
    let text: String = body.iter().map(|&byte| char::from(byte)).collect();
    let redacted = redact(&text, secrets);
    if redacted == text {
        return body;
    }
    redacted.chars().filter_map(|c| u8::try_from(c).ok()).collect::<Vec<u8>>().into()
}

/// The text with every secret taken out, also where it stands as JSON or an address would write it.
fn redact<'t>(text: &'t str, secrets: &[&str]) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    let mut remove = |form: &str| {
        if !form.is_empty() && text.contains(form) {
            text = Cow::Owned(text.replace(form, REMOVED));
        }
    };
    for secret in secrets.iter().filter(|secret| secret.len() >= SHORTEST_SECRET) {
        remove(secret);
        // Most consist of characters that are written the same everywhere.
        if secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._*".contains(&byte)) {
            continue;
        }
        let quoted = serde_json::Value::from(*secret).to_string();
        let quoted = quoted.trim_start_matches('"').trim_end_matches('"');
        let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        for form in [quoted, &quoted.replace('/', "\\/"), &encoded, &encoded.replace('+', "%20")] {
            remove(form);
        }
    }
    text
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some(_) => {
            let mut kept: String = text.chars().take(longest - 1).collect();
            kept.push('\u{2026}');
            kept
        }
    }
}

/// What changes what a reader sees without being seen, joiners among it: a secret may hide behind one.
fn is_invisible(c: char) -> bool {
    is_unseen(c) || matches!(c, '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_what_a_reader_cannot_see() {
        let table = [
            ("must not be null", "must not be null"),
            ("line one\r\nline two\ttab", "line one line two tab"),
            ("\u{1b}[31mred\u{1b}[0m", "[31mred [0m"),
            ("abc\u{202e}fdp.exe", "abcfdp.exe"),
            ("\u{feff}a\u{200b}b\u{2066}c", "abc"),
            ("  padded\u{7}  ", "padded"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(clean(text, LONGEST), expected, "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_cut_at_the_limit_and_show_it() {
        assert_eq!(clean(&"x".repeat(500), 500), "x".repeat(500));
        let cut = clean(&"\u{e9}".repeat(100_000), 500);
        assert_eq!(cut.chars().count(), 500);
        assert!(cut.ends_with('\u{2026}'));
        let excerpt = excerpt("\n".repeat(10).as_bytes(), &[]);
        assert_eq!(excerpt, None);
    }

    #[test]
    fn an_excerpt_is_escaped_bounded_and_without_secrets() {
        let token = "ab/c+d.token";
        let body = format!("{{\"said\":\"{token}\",\n\"again\":\"ab\\/c+d.token\"}}{}", "\u{1}".repeat(1000));
        let excerpt = excerpt(body.as_bytes(), &[token]).unwrap();
        assert!(
            excerpt.starts_with("{\"said\":\"[removed]\",\\n\"again\":\"[removed]\"}\\u{1}"),
            "{excerpt}"
        );
        assert_eq!(excerpt.chars().count(), LONGEST);
        assert!(!excerpt.chars().any(char::is_control));
    }

    #[test]
    fn a_secret_where_a_large_answer_is_cut_leaves_no_beginning_behind() {
        let token = "the-whole-token-".repeat(120);
        for start in [0, 1, 7, 1000] {
            let body = "x".repeat(start) + &token.repeat(100);
            assert!(body.len() > LOOKED_AT);
            let excerpt = excerpt(body.as_bytes(), &[&token]).unwrap_or_default();
            assert!(!excerpt.contains("the-"), "{start}: {excerpt}");
        }
        assert_eq!(excerpt(&vec![b'x'; 10 * LOOKED_AT], &[]).unwrap().chars().count(), LONGEST);
    }

    #[test]
    fn an_answer_is_shown_byte_for_byte_without_the_token_in_it() {
        let body = Bytes::from_static(b"{\"a\":\"\xe9\x1b the-whole-token\"}");
        assert_eq!(shown(body.clone(), &["another-token"]), body);
        assert_eq!(shown(body, &["the-whole-token"]), &b"{\"a\":\"\xe9\x1b [removed]\"}"[..]);
    }

    #[test]
    fn a_secret_across_the_cut_leaves_no_beginning_behind() {
        let wording = Wording { secrets: &["the-whole-token"] };
        for start in 0..30 {
            let text = format!("{}the-whole-token and more", "x".repeat(start));
            assert!(!wording.clean(&text, 20).contains("the-"), "{start}");
        }
        assert_eq!(wording.clean("the-\u{200b}whole-token", 20), "[removed]");
    }

    #[test]
    fn secrets_are_found_however_they_are_written() {
        let secret = "p\"w /d";
        for written in ["p\"w /d", "p\\\"w /d", "p\\\"w \\/d", "p%22w+%2Fd", "p%22w%20%2Fd"] {
            assert_eq!(redact(&format!("<{written}>"), &[secret]), "<[removed]>", "{written}");
        }
        assert_eq!(redact("a cat", &["a"]), "a cat", "too short to be looked for");
    }
}
