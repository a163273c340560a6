//! The lines at the bottom of the terminal that are drawn again and again while a run goes on.
//!
//! They are wrapped to the width that the terminal has when they are drawn. One that has become narrower since shows them
//! on more rows, which are counted, so that nothing of an older drawing stays. The cursor rests on a blank row below them,
//! where what a person types meanwhile, `^C` above all, is echoed.

use super::Line;
use super::width::wide;

/// The lines, and how they were drawn.
#[derive(Default)]
pub(super) struct Live {
    lines: Vec<Line>,
    /// The columns of each row as it was drawn; empty while they are not on the screen.
    drawn: Vec<usize>,
    /// What was drawn, and how wide the terminal was then.
    shown: (Vec<String>, usize),
    /// Whether they make room, for a question.
    hidden: bool,
}

impl Live {
    /// Shows these lines from now on; what is to be written for it, if anything.
    pub(super) fn show(&mut self, lines: Vec<Line>, colour: bool, size: (usize, usize)) -> Option<String> {
        self.lines = lines;
        if self.hidden {
            return None;
        }
        let rows = self.rows(colour, size);
        let same = self.shown.0 == rows && self.shown.1 == size.0;
        (!same || (self.drawn.is_empty() && !rows.is_empty()))
            .then(|| self.erase(size.0) + &self.draw(colour, size))
    }

    /// Takes the lines off the screen, for something else to be written in their place.
    pub(super) fn erase(&mut self, columns: usize) -> String {
        let rows: usize = self.drawn.iter().map(|wide| wide.div_ceil(columns.max(1)).max(1)).sum();
        self.drawn.clear();
        // Up to the first of them, and everything below it away.
        if rows == 0 { String::new() } else { format!("\r\x1b[{rows}A\x1b[J") }
    }

    /// Draws the lines where the cursor is.
    pub(super) fn draw(&mut self, colour: bool, size: (usize, usize)) -> String {
        if self.hidden {
            return String::new();
        }
        let rows = self.rows(colour, size);
        self.drawn = rows.iter().map(|row| wide(row)).collect();
        let text = rows.iter().map(|row| format!("{row}\r\n")).collect();
        self.shown = (rows, size.0);
        text
    }

    /// Makes room for a question, or shows itself again.
    pub(super) fn hide(&mut self, hidden: bool) {
        self.hidden = hidden;
    }

    /// The rows as they are drawn; no more than the terminal has, but for the one of the cursor.
    fn rows(&self, colour: bool, (columns, height): (usize, usize)) -> Vec<String> {
        let wrapped = self.lines.iter().map(|line| line.render(colour, Some(columns)));
        let rows = wrapped.flat_map(|text| text.split('\n').map(str::to_owned).collect::<Vec<_>>());
        rows.take(height.saturating_sub(1).max(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Ink;

    fn lines() -> Vec<Line> {
        vec![
            Line::plain("devices [████████████████] 422 of 2,400 done, 1,960 waiting, 9 in doubt, 9 failed"),
            Line::new().ink(Ink::Warning, "addDevice is tried again at 12:04:22 UTC (01:04:22 here)"),
        ]
    }

    /// What is on a screen of so many columns.
    fn screen(columns: u16, written: &str) -> String {
        let mut parser = vt100::Parser::new(24, columns, 0);
        parser.process(b"a message\r\n");
        parser.process(written.as_bytes());
        parser.screen().contents()
    }

    #[test]
    fn lines_are_wrapped_and_drawn_over_each_other() {
        let mut live = Live::default();
        let mut written = live.show(lines(), true, (60, 24)).unwrap();
        assert_eq!(live.show(lines(), true, (60, 24)), None, "the same is not drawn again");
        written += &live.show(lines()[..1].to_vec(), true, (60, 24)).unwrap();
        insta::assert_snapshot!("wrapped", screen(60, &written).trim_end());
        written += &live.show(Vec::new(), true, (60, 24)).unwrap();
        assert_eq!(screen(60, &written).trim_end(), "a message");
    }

    #[test]
    fn a_terminal_that_has_become_narrower_keeps_nothing_of_an_older_drawing() {
        for narrower in [80, 60, 40] {
            let mut live = Live::default();
            // The terminal shows what was drawn for 120 columns on as many rows as it takes.
            let mut written = live.show(lines(), true, (120, 24)).unwrap();
            written += &live.show(lines(), true, (narrower, 24)).unwrap();
            let columns = u16::try_from(narrower).unwrap();
            let shown = screen(columns, &written);
            assert_eq!(shown.matches("devices").count(), 1, "{shown}");
            assert_eq!(shown.matches("addDevice").count(), 1, "{shown}");
            assert!(shown.starts_with("a message\ndevices"), "{shown}");
        }
    }

    #[test]
    fn what_is_typed_meanwhile_leaves_no_line_behind_and_a_low_terminal_is_not_overflowed() {
        let mut live = Live::default();
        let mut written = live.show(lines(), false, (80, 24)).unwrap() + "^C^C";
        written += &(live.erase(80) + "stopping\r\n" + &live.draw(false, (80, 24)));
        let shown = screen(80, &written);
        assert_eq!(shown.matches("devices").count(), 1, "{shown}");
        assert!(shown.starts_with("a message\nstopping\ndevices"), "{shown}");
        let low = live.show(lines(), false, (80, 3)).unwrap();
        assert_eq!(low.matches('\n').count(), 2, "{low}");
    }
}
