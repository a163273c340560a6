//! How wide and high the terminal is.

use std::io;

use unicode_width::UnicodeWidthStr;

/// Where the width is not known, and for files and pipes: what every terminal has.
const USUAL: usize = 80;
const USUAL_ROWS: usize = 24;
/// Longer lines are hard to read.
const WIDEST: usize = 100;
/// The same for lines that are reported one by one, with names and numbers.
const WIDEST_LINE: usize = 110;
/// Narrower than this nothing is readable.
const NARROWEST: usize = 40;

/// The columns of standard output, within what can be read.
pub fn width() -> usize {
    size(&io::stdout()).map_or(USUAL, |size| size.0).clamp(NARROWEST, WIDEST)
}

/// The columns and rows of standard error at this moment.
pub(super) fn of_screen() -> (usize, usize) {
    size(&io::stderr()).unwrap_or((USUAL, USUAL_ROWS))
}

/// How many columns a text takes, escape sequences left aside.
pub(super) fn wide(text: &str) -> usize {
    anstream::adapter::strip_str(text).map(UnicodeWidthStr::width).sum()
}

/// How many columns lines on standard output may have; `None` where it is no terminal.
pub(super) fn of_results() -> Option<usize> {
    size(&io::stdout()).map(|size| size.0.clamp(NARROWEST, WIDEST_LINE))
}

/// The same for standard error.
pub(super) fn of_messages() -> Option<usize> {
    size(&io::stderr()).map(|size| size.0.clamp(NARROWEST, WIDEST_LINE))
}

#[cfg(unix)]
fn size(stream: &impl std::os::fd::AsFd) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| (usize::from(size.ws_col), usize::from(size.ws_row)))
}

#[cfg(not(unix))]
fn size<Stream>(_stream: &Stream) -> Option<(usize, usize)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_is_no_terminal_is_neither_too_wide_nor_too_narrow() {
        assert!((NARROWEST..=WIDEST).contains(&width()));
    }
}
