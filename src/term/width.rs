//! How wide the output is, and text broken into lines that fit.

use std::io;

/// Where the width is not known, and for files and pipes: what every terminal has.
const USUAL: usize = 80;
/// Longer lines are hard to read.
const WIDEST: usize = 100;
/// The same for lines that are told one by one, with names and numbers.
const WIDEST_LINE: usize = 110;
/// Narrower than this nothing is readable.
const NARROWEST: usize = 40;

/// The columns of standard output, within what can be read.
pub fn width() -> usize {
    columns(&io::stdout()).unwrap_or(USUAL).clamp(NARROWEST, WIDEST)
}

/// The columns of standard error, whatever they are.
pub(super) fn of_talk() -> usize {
    columns(&io::stderr()).unwrap_or(USUAL)
}

/// How many columns lines on standard output may have; `None` where it is no terminal.
pub(super) fn of_results() -> Option<usize> {
    columns(&io::stdout()).map(|columns| columns.clamp(NARROWEST, WIDEST_LINE))
}

/// The same for standard error.
pub(super) fn of_messages() -> Option<usize> {
    columns(&io::stderr()).map(|columns| columns.clamp(NARROWEST, WIDEST_LINE))
}

#[cfg(unix)]
fn columns(stream: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn columns<Stream>(_stream: &Stream) -> Option<usize> {
    None
}

/// The text in lines of at most `width` characters, broken at spaces; a longer word has a line of its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_a_long_word_is_kept_whole() {
        let table: [(&str, &[&str]); 4] = [
            ("", &[]),
            ("one two three", &["one two", "three"]),
            ("Ōtautahi is far", &["Ōtautahi", "is far"]),
            ("a [profile.NAME] b", &["a", "[profile.NAME]", "b"]),
        ];
        for (text, expected) in table {
            assert_eq!(wrap(text, 8), expected, "{text}");
        }
    }

    #[test]
    fn output_that_is_no_terminal_is_neither_too_wide_nor_too_narrow() {
        assert!((NARROWEST..=WIDEST).contains(&width()));
    }
}
