//! Draws the live lines at the bottom of the terminal while a run goes on.
//!
//! indicatif draws them, how often it chooses, and takes them away while something else is written. What it does not know is
//! what a terminal makes of its lines when it becomes narrower: it moves up by the rows that they took when they were drawn.
//! [`Screen`] keeps what was drawn and moves by the rows that it takes now, so that nothing of an older drawing stays. The
//! cursor rests on a blank row below the lines, where what a person types meanwhile, `^C` above all, is echoed.

use std::fmt::{self, Write as _};
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::style::ProgressTracker;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};

use super::width::wide;
use super::{Line, Streams};

/// Drawings a second at most.
const MOST_OFTEN: u8 = 20;
/// How often the lines are drawn though nothing is new: the terminal may have another width.
const STEADY: Duration = Duration::from_millis(200);

/// The columns and rows of the terminal at this moment.
pub(super) type Size = Arc<dyn Fn() -> (usize, usize) + Send + Sync>;

/// The lines, all of them one bar of indicatif, so that they change together.
///
/// Whoever draws, or writes above the lines, has indicatif's lock first and then that of the streams, never the other way
/// round.
#[derive(Clone)]
pub(super) struct Live {
    bar: ProgressBar,
    lines: Arc<Mutex<Vec<Line>>>,
    streams: Arc<Mutex<Streams>>,
    steady: bool,
}

impl Live {
    /// At the bottom of a terminal of this size, which the streams are written to. Without `steady` the lines are drawn when
    /// they are shown, and only then.
    pub(super) fn new(streams: &Arc<Mutex<Streams>>, size: &Size, steady: bool) -> Self {
        let lines = Arc::<Mutex<Vec<Line>>>::default();
        let colour = super::lock(streams).talk.colour;
        let shown = LiveLines { lines: Arc::clone(&lines), colour, size: Arc::clone(size) };
        let style = ProgressStyle::with_template("{lines}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let screen =
            Screen { streams: Arc::clone(streams), size: Arc::clone(size), written: Mutex::default() };
        let target = if steady {
            ProgressDrawTarget::term_like_with_hz(Box::new(screen), MOST_OFTEN)
        } else {
            ProgressDrawTarget::term_like(Box::new(screen))
        };
        let bar = ProgressBar::with_draw_target(None, target).with_style(style.with_key("lines", shown));
        Self { bar, lines, streams: Arc::clone(streams), steady }
    }

    /// Shows these lines from now on.
    pub(super) fn show(&self, lines: Vec<Line>) {
        let is_any = !lines.is_empty();
        let was_any = !mem::replace(&mut *lock(&self.lines), lines).is_empty();
        if self.steady && is_any && !was_any {
            self.bar.enable_steady_tick(STEADY);
        } else if self.steady && !is_any {
            self.bar.disable_steady_tick();
            self.above(|_| {});
        }
        // Between the steady ones this draws nothing.
        self.bar.tick();
    }

    /// Takes the lines away while something else is written.
    pub(super) fn above(&self, write: impl FnOnce(&mut Streams)) {
        self.bar.suspend(|| write(&mut super::lock(&self.streams)));
    }

    /// Makes room for a question, or shows the lines again.
    pub(super) fn hide(&self, hidden: bool) {
        self.above(|streams| streams.drawn.hidden = hidden);
    }
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    // Lines and rows are replaced as a whole.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lines as a part of a template: with their colours, and wrapped to the width that the terminal has when they are drawn.
#[derive(Clone)]
struct LiveLines {
    lines: Arc<Mutex<Vec<Line>>>,
    colour: bool,
    size: Size,
}

impl ProgressTracker for LiveLines {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, _: &ProgressState, _: Instant) {}

    fn reset(&mut self, _: &ProgressState, _: Instant) {}

    fn write(&self, _: &ProgressState, to: &mut dyn fmt::Write) {
        let columns = (self.size)().0;
        let lines = lock(&self.lines);
        let rows: Vec<String> = lines.iter().map(|line| line.render(self.colour, Some(columns))).collect();
        // A text takes everything.
        let _infallible = to.write_str(&rows.join("\n"));
    }
}

/// What is on the terminal of the lines.
#[derive(Default)]
pub(super) struct Drawn {
    /// The rows as they were written, and the columns that the terminal had then.
    rows: (Vec<String>, usize),
    /// Whether they make room, for a question.
    hidden: bool,
}

impl Drawn {
    /// What takes the rows off a terminal of so many columns: up to the first of them, and everything below it away.
    pub(super) fn erased(&mut self, columns: usize) -> String {
        let rows = mem::take(&mut self.rows.0);
        let rows: usize = rows.iter().map(|row| wide(row).div_ceil(columns.max(1)).max(1)).sum();
        if rows == 0 { String::new() } else { format!("\r\x1b[{rows}A\x1b[J") }
    }
}

/// The terminal as indicatif draws on it. All its moves are within its own lines, from the bottom to the top and back, to
/// clear them and write others: they are made at once when it is done.
struct Screen {
    streams: Arc<Mutex<Streams>>,
    size: Size,
    /// The rows that are being written.
    written: Mutex<Vec<String>>,
}

impl fmt::Debug for Screen {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Screen").finish_non_exhaustive()
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        u16::try_from((self.size)().0).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        // One row is the cursor's.
        u16::try_from((self.size)().1.saturating_sub(1).max(1)).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, row: &str) -> io::Result<()> {
        self.write_str(row)
    }

    fn write_str(&self, row: &str) -> io::Result<()> {
        // Each row is followed by blanks up to the edge, so that the next begins below it: ours end with a line end.
        if !row.trim().is_empty() {
            lock(&self.written).push(row.to_owned());
        }
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let rows = mem::take(&mut *lock(&self.written));
        let columns = (self.size)().0;
        let mut streams = super::lock(&self.streams);
        let Streams { talk, drawn, .. } = &mut *streams;
        let now = (if drawn.hidden { Vec::new() } else { rows }, columns);
        if drawn.rows == now || (drawn.rows.0.is_empty() && now.0.is_empty()) {
            return Ok(());
        }
        let mut text = drawn.erased(columns);
        for row in &now.0 {
            let _infallible = write!(text, "{row}\r\n");
        }
        drawn.rows = now;
        talk.write(&text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Kept, resizable};
    use super::*;
    use crate::term::{Ink, Terminal};

    fn lines() -> Vec<Line> {
        vec![
            Line::plain("devices [████████████████] 422 of 2,400 done, 1,960 waiting, 9 in doubt, 9 failed"),
            Line::new()
                .ink(Ink::Warning, "addDevice is tried again at 12:04:22 UTC (01:04:22 Pacific/Auckland)"),
        ]
    }

    /// A terminal with a message on it and nothing below.
    fn after_a_message(size: (usize, usize)) -> (Terminal, Arc<Mutex<(usize, usize)>>, Kept) {
        let (terminal, now, talk) = resizable(size);
        terminal.say("a message");
        (terminal, now, talk)
    }

    #[test]
    fn lines_are_wrapped_and_drawn_over_each_other() {
        let (terminal, _, talk) = after_a_message((60, 24));
        terminal.show(lines());
        let written = talk.text();
        terminal.show(lines());
        assert_eq!(talk.text(), written, "the same is not drawn again");
        terminal.show(lines()[..1].to_vec());
        insta::assert_snapshot!("wrapped", talk.screen(60));
        terminal.show(Vec::new());
        assert_eq!(talk.screen(60), "a message");
    }

    #[test]
    fn a_terminal_that_has_become_narrower_keeps_nothing_of_an_older_drawing() {
        for narrower in [80, 60, 40] {
            let (terminal, size, talk) = after_a_message((120, 24));
            // The terminal shows what was drawn for 120 columns on as many rows as it takes.
            terminal.show(lines());
            *lock(&size) = (narrower, 24);
            terminal.show(lines());
            let shown = talk.screen(u16::try_from(narrower).unwrap());
            assert_eq!(shown.matches("devices").count(), 1, "{shown}");
            assert_eq!(shown.matches("addDevice").count(), 1, "{shown}");
            assert!(shown.starts_with("a message\ndevices"), "{shown}");
            terminal.say("another");
            let shown = talk.screen(u16::try_from(narrower).unwrap());
            assert!(shown.starts_with("a message\nanother\ndevices"), "{shown}");
            assert_eq!(shown.matches("devices").count(), 1, "{shown}");
        }
    }

    #[test]
    fn what_is_typed_meanwhile_leaves_no_line_behind_and_a_low_terminal_is_not_overflowed() {
        let (terminal, size, mut talk) = after_a_message((80, 24));
        terminal.show(lines());
        io::Write::write_all(&mut talk, b"^C^C").unwrap();
        terminal.say("stopping");
        let shown = talk.screen(80);
        assert_eq!(shown.matches("devices").count(), 1, "{shown}");
        assert!(shown.starts_with("a message\nstopping\ndevices"), "{shown}");
        let before = talk.text().len();
        *lock(&size) = (80, 3);
        terminal.show(lines());
        let low = talk.text()[before..].to_owned();
        assert_eq!(low.matches('\n').count(), 2, "{low}");
    }

    #[test]
    fn a_question_is_not_drawn_over_and_what_is_said_meanwhile_stands_above_the_lines() {
        let (terminal, _, talk) = after_a_message((80, 24));
        terminal.show(lines());
        terminal.live.hide(true);
        terminal.say("a question?");
        terminal.show(lines()[..1].to_vec());
        assert_eq!(talk.screen(80), "a message\na question?");
        terminal.live.hide(false);
        assert!(talk.screen(80).starts_with("a message\na question?\ndevices"), "{}", talk.screen(80));
    }
}
