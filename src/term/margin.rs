//! The terminal that the bars are drawn on, with room behind the last of their lines.
//!
//! What a person types while they are shown, `^C` above all, is echoed where the cursor stands. The library leaves it at
//! the right edge, so that the echo begins a new line and the next drawing, one line too low, leaves the uppermost bar
//! behind for good. Here the last line is not filled: of its blanks one is written, which is enough to be on it.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressDrawTarget, TermLike};

/// How often a second the bars are drawn at most; more is not seen.
const DRAWN: u8 = 20;

/// Where the bars are drawn: standard error.
pub(super) fn target() -> ProgressDrawTarget {
    let terminal = console::Term::buffered_stderr();
    if terminal.is_term() {
        ProgressDrawTarget::term_like_with_hz(Box::new(Margin::of(terminal)), DRAWN)
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// A terminal that keeps what was written last until it knows what follows.
#[derive(Debug)]
pub(super) struct Margin<T> {
    to: T,
    last: Mutex<String>,
}

impl<T: TermLike> Margin<T> {
    pub(super) fn of(to: T) -> Self {
        Self { to, last: Mutex::default() }
    }

    fn last(&self) -> MutexGuard<'_, String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what was kept, and is followed by something.
    fn write_last(&self) -> io::Result<()> {
        let last = std::mem::take(&mut *self.last());
        if last.is_empty() { Ok(()) } else { self.to.write_str(&last) }
    }
}

impl<T: TermLike> TermLike for Margin<T> {
    fn width(&self) -> u16 {
        self.to.width()
    }

    fn height(&self) -> u16 {
        self.to.height()
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.write_last()?;
        self.to.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.write_last()?;
        self.to.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.write_last()?;
        self.to.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.write_last()?;
        self.to.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_last()?;
        self.to.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.write_last()?;
        text.clone_into(&mut self.last());
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write_last()?;
        self.to.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        if self.last().trim_start_matches(' ').is_empty() {
            self.last().truncate(1);
        }
        self.write_last()?;
        self.to.flush()
    }
}
