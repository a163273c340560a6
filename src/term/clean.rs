//! Makes text that others wrote harmless to a terminal: cells of a sheet, answers of the service, file names.
//!
//! Control characters, terminal escapes and characters that reorder or hide text are shown as their code
//! (`\u{1b}`), so that nobody's data moves the cursor, repaints a line or forges one of our messages.

use crate::model::unseen::is_unseen;

/// Writes `text` with every character that could steer a terminal replaced by its code.
pub fn clean(text: &str) -> String {
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            c if steers(c) => result.extend(c.escape_unicode()),
            c => result.push(c),
        }
    }
    result
}

/// Writes a line of JSON with the same characters as JSON escapes: it means the same, and may be looked at.
pub(super) fn escape_json(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if steers(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                result.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            result.push(c);
        }
    }
    result
}

/// Whether a character does something other than show itself.
fn steers(c: char) -> bool {
    c.is_control() || is_unseen(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_means_the_same() {
        let value = serde_json::json!({"name": "a\u{1b}[31m\u{9b}2J\u{202e}b\u{200b}\u{e0041} Ōtautahi 👩‍💻"});
        let escaped = escape_json(&value.to_string());
        assert!(!escaped.chars().any(steers), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    #[test]
    fn what_steers_a_terminal_is_shown_as_its_code() {
        let table = [
            ("Acme Ltd", "Acme Ltd"),
            ("Café Ōtautahi 東京 👩‍💻", "Café Ōtautahi 東京 👩‍💻"),
            ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("bell\u{7}", "bell\\u{7}"),
            ("two\nlines\r\n", "two\\nlines\\r\\n"),
            ("tab\there", "tab\\there"),
            ("exe\u{202e}fdp", "exe\\u{202e}fdp"),
            ("hid\u{200b}den\u{ad}\u{e0041}", "hid\\u{200b}den\\u{ad}\\u{e0041}"),
        ];
        for (text, expected) in table {
            assert_eq!(clean(text), expected);
        }
    }
}
