//! Lines of output: pieces of text, each with its ink; the word wrap that breaks them where a terminal is narrow; and small
//! tables of words and numbers.
//!
//! A [`Line`] is the only thing the terminal prints as text, so no caller can forget to clean what others wrote,
//! and colour is decided once, where it is printed. What is copied and typed stays in one piece: commands, and what a line
//! names. What follows the first line is indented a little.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Effects, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Row, Table as Grid};
use unicode_width::UnicodeWidthStr as _;

use super::clean::clean;
use crate::advice::{Advice, Piece};

/// How far what follows stands to the right of the line's beginning.
const HANGING: usize = 2;

/// What a piece of text means, and so how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Ordinary text.
    Plain,
    /// Names and numbers that matter.
    Strong,
    /// Less important text.
    Faint,
    /// Went well.
    Good,
    /// Needs a look.
    Warning,
    /// Went wrong.
    Error,
    /// What to do next.
    Hint,
}

impl Ink {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().effects(Effects::DIMMED),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default().bold(),
            Self::Error => AnsiColor::Red.on_default().bold(),
            Self::Hint => AnsiColor::Cyan.on_default().bold(),
        }
    }
}

/// A piece of text and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StyledText {
    ink: Ink,
    text: String,
    /// Whether it is to be typed or copied, and so never broken.
    is_command: bool,
}

/// One line of output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<StyledText>,
    /// Whether it is never broken.
    is_whole: bool,
}

impl Line {
    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// A line of ordinary text.
    pub fn plain(text: impl AsRef<str>) -> Self {
        Self::new().text(text)
    }

    /// Adds ordinary text.
    #[must_use]
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.ink(Ink::Plain, text)
    }

    /// Adds text with a meaning.
    #[must_use]
    pub fn ink(mut self, ink: Ink, text: impl AsRef<str>) -> Self {
        self.pieces.push(StyledText { ink, text: clean(text.as_ref()), is_command: false });
        self
    }

    /// Adds what is to be typed or copied as it stands.
    #[must_use]
    pub fn command(mut self, ink: Ink, text: impl AsRef<str>) -> Self {
        self.pieces.push(StyledText { ink, text: clean(text.as_ref()), is_command: true });
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn advice(self, advice: &Advice) -> Self {
        advice.pieces().into_iter().fold(self, |line, piece| match piece {
            Piece::Words(words) => line.text(words),
            Piece::Command(command) => line.command(Ink::Plain, command),
        })
    }

    /// The lines of what to do next.
    pub fn of_advice(advice: &Advice) -> Vec<Self> {
        let mut lines = vec![Self::new()];
        for piece in advice.pieces() {
            let (Piece::Words(text) | Piece::Command(text)) = piece;
            for (number, part) in text.split('\n').enumerate() {
                let line = if number > 0 { Self::new() } else { lines.pop().unwrap_or_default() };
                lines.push(match piece {
                    Piece::Words(_) => line.text(part),
                    Piece::Command(_) => line.command(Ink::Plain, part),
                });
            }
        }
        lines
    }

    /// Adds another line to the end of this one.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// A line of a table, or something to be copied as it stands: never broken, however narrow the terminal is.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// The line as written, with colour or without, broken where it has more than `columns`; no line end.
    pub(super) fn render(&self, colour: bool, columns: Option<usize>) -> String {
        let lines = match columns {
            Some(columns) if !self.is_whole => folded(&self.pieces, columns),
            Some(_) | None => return rendered(&self.pieces, colour),
        };
        let lines: Vec<String> = lines.iter().map(|pieces| rendered(pieces, colour)).collect();
        lines.join("\n")
    }
}

fn rendered(pieces: &[StyledText], colour: bool) -> String {
    let mut result = String::new();
    for StyledText { ink, text, .. } in pieces {
        if colour && *ink != Ink::Plain && !text.is_empty() {
            let style = ink.style();
            let _infallible = write!(result, "{style}{text}{style:#}");
        } else {
            result.push_str(text);
        }
    }
    result
}

impl From<&Advice> for Line {
    fn from(advice: &Advice) -> Self {
        Self::new().advice(advice)
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

/// The pieces of a line as the pieces of several, each of at most `width` columns where its words allow.
fn folded(pieces: &[StyledText], width: usize) -> Vec<Vec<StyledText>> {
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    if text.width() <= width {
        return vec![pieces.to_vec()];
    }
    let whole = kept_whole(pieces);
    let hanging = hanging(pieces).min(width / 2);
    let mut lines = Vec::new();
    let (mut start, mut end, mut column) = (0, 0, 0);
    for word in words(&text, &whole) {
        let gap = &text[end..word.start];
        let wide = text[word.clone()].width();
        // Whatever begins a line stays on it, however long it is.
        let begins = text[start..end].trim().is_empty();
        if !begins && column + gap.width() + wide > width {
            lines.push(cut(pieces, start..end, if lines.is_empty() { 0 } else { hanging }));
            start = word.start;
            column = hanging + wide;
        } else {
            column += gap.width() + wide;
        }
        end = word.end;
    }
    lines.push(cut(pieces, start..end, if lines.is_empty() { 0 } else { hanging }));
    lines
}

/// The words of a text: what stands between spaces, and what is to be kept whole.
fn words(text: &str, whole: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        let is_gap = c == ' ' && !whole.iter().any(|range| range.contains(&at));
        match (is_gap, start) {
            (true, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            (false, None) => start = Some(at),
            (true, None) | (false, Some(_)) => {}
        }
    }
    words.extend(start.map(|from| from..text.len()));
    words
}

/// What is kept in one piece: commands, and what a line names behind its beginning: files, numbers, values.
fn kept_whole(pieces: &[StyledText]) -> Vec<Range<usize>> {
    let mut whole = Vec::new();
    let mut at = 0;
    for piece in pieces {
        let end = at + piece.text.len();
        if piece.is_command || (at > 0 && matches!(piece.ink, Ink::Strong | Ink::Hint)) {
            whole.push(at..end);
        }
        at = end;
    }
    whole
}

/// Where what follows the first line begins: behind the word in front of it, or a little to the right.
fn hanging(pieces: &[StyledText]) -> usize {
    let Some(StyledText { ink, text: first, .. }) = pieces.first() else { return 0 };
    if *ink == Ink::Faint && first.ends_with("  ") || first == "hint:" {
        return first.width() + usize::from(!first.ends_with(' '));
    }
    first.len() - first.trim_start_matches(' ').len() + HANGING
}

/// The part of the pieces within a range of the text, indented.
fn cut(pieces: &[StyledText], range: Range<usize>, indent: usize) -> Vec<StyledText> {
    let mut line = Vec::new();
    if indent > 0 {
        line.push(StyledText { ink: Ink::Plain, text: " ".repeat(indent), is_command: false });
    }
    let mut at = 0;
    for piece in pieces {
        let (from, to) = (range.start.max(at), range.end.min(at + piece.text.len()));
        if from < to {
            line.push(StyledText { text: piece.text[from - at..to - at].to_owned(), ..*piece });
        }
        at += piece.text.len();
    }
    line
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

/// A table in the making.
pub struct Table {
    grid: Grid,
    numbers: Vec<usize>,
}

impl Table {
    /// A table with these column heads; the columns in `numbers` (from 0) are aligned to the right.
    pub fn new(heads: &[&str], numbers: &[usize]) -> Self {
        let mut grid = Grid::new();
        grid.load_style(NOTHING).set_header(heads.iter().copied());
        Self { grid, numbers: numbers.to_vec() }
    }

    /// Adds a row.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.grid.add_row(cells.into_iter().map(|cell| clean(cell.as_ref())));
    }

    /// Whether its lines fit into so many columns.
    pub fn fits(&self, columns: usize) -> bool {
        self.grid.lines().all(|line| line.trim_end().width() <= columns)
    }

    /// The lines of the table; where they do not fit into so many columns, each row in words instead.
    pub fn lines_within(self, columns: Option<usize>) -> Vec<Line> {
        match columns {
            Some(columns) if !self.fits(columns) => self.in_words(),
            Some(_) | None => self.lines(),
        }
    }

    /// Each row in words: its first cell, then the others that are filled and no zero, each behind the head of its column.
    fn in_words(&self) -> Vec<Line> {
        let heads: Vec<String> =
            self.grid.header().into_iter().flat_map(Row::cell_iter).map(Cell::content).collect();
        let words = |row: &Row| {
            let cells: Vec<String> = row.cell_iter().map(Cell::content).collect();
            let filled =
                heads.iter().zip(&cells).skip(1).filter(|(_, cell)| !matches!(cell.as_str(), "" | "0"));
            let parts: Vec<String> =
                filled.map(|(head, cell)| format!("{head} {cell}").trim_start().to_owned()).collect();
            let first = cells.first().map_or("", String::as_str);
            let colon = if parts.is_empty() { "" } else { ": " };
            Line::plain(format!(" {first}{colon}{}", parts.join("; ")))
        };
        self.grid.row_iter().map(words).collect()
    }

    /// The lines of the table, the heads first.
    pub fn lines(mut self) -> Vec<Line> {
        for number in &self.numbers {
            if let Some(column) = self.grid.column_mut(*number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self.grid
            .lines()
            .enumerate()
            .map(|(place, line)| {
                let ink = if place == 0 { Ink::Strong } else { Ink::Plain };
                Line::new().ink(ink, line.trim_end()).whole()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(line: &Line, width: usize) -> Vec<String> {
        line.render(false, Some(width)).lines().map(str::to_owned).collect()
    }

    fn told(pieces: &[(Ink, &str)], width: usize) -> Vec<String> {
        broken(&pieces.iter().fold(Line::new(), |line, (ink, text)| line.ink(*ink, text)), width)
    }

    #[test]
    fn a_line_is_broken_between_words_and_goes_on_below_its_beginning() {
        let text = "  the phone number has letters in it: write digits only";
        assert_eq!(told(&[(Ink::Plain, text)], 60), [text]);
        assert_eq!(
            told(&[(Ink::Plain, text)], 40),
            ["  the phone number has letters in it:", "    write digits only"]
        );
        let hint =
            [(Ink::Hint, "hint:"), (Ink::Plain, " "), (Ink::Plain, "correct the sheet and look at it again")];
        assert_eq!(told(&hint, 30), ["hint: correct the sheet and", "      look at it again"]);
        let fact = [(Ink::Faint, "to do      "), (Ink::Plain, "12 rows to create: 4 companies, 8 devices")];
        assert_eq!(told(&fact, 40), ["to do      12 rows to create: 4", "           companies, 8 devices"]);
    }

    #[test]
    fn what_is_typed_and_what_is_named_stays_in_one_piece_however_long_it_is() {
        let command = "fleetload run 'my reports/1/fix.xlsx' --journal acme.db --sandbox";
        let advice = Advice::from("correct the rows, then: ").command(command);
        assert_eq!(broken(&(&advice).into(), 40), ["correct the rows, then:", &format!("  {command}")]);
        let advice = Advice::from("decide it with `").command("fleetload resolve 7 --journal a.db");
        assert_eq!(
            broken(&(&advice.words("` or leave it as it is")).into(), 44),
            ["decide it with", "  `fleetload resolve 7 --journal a.db` or", "  leave it as it is"]
        );
        let file = "/home/ann/my customers/reports/1/report.html";
        let line =
            [(Ink::Plain, "report of import 1: "), (Ink::Strong, file), (Ink::Plain, ", results.xlsx")];
        assert_eq!(told(&line, 40), ["report of import 1:", &format!("  {file},"), "  results.xlsx"]);
    }

    #[test]
    fn wide_letters_count_as_they_are_wide_and_colour_goes_on_in_the_next_line() {
        assert_eq!(
            told(&[(Ink::Plain, "東京東京東京 東京東京東京")], 20),
            ["東京東京東京", "  東京東京東京"]
        );
        let line = Line::new().ink(Ink::Strong, "one two three four");
        let inks: Vec<Ink> = folded(&line.pieces, 10).concat().iter().map(|piece| piece.ink).collect();
        assert_eq!(inks, [Ink::Strong, Ink::Plain, Ink::Strong, Ink::Plain, Ink::Strong]);
    }

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
    fn colour_is_ours_and_escapes_in_the_text_are_not() {
        let line = Line::new().ink(Ink::Error, "error").text(": \u{1b}[2J");
        assert_eq!(line.render(false, None), "error: \\u{1b}[2J");
        assert_eq!(line.render(true, None), "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: \\u{1b}[2J");
    }

    #[test]
    fn columns_are_aligned_by_their_width_on_the_screen() {
        let mut table = Table::new(&["kind", "rows"], &[1]);
        table.row(["devices", "1,000"]);
        table.row(["東京", "7"]);
        table.row(["\u{1b}[2J", "7"]);
        let lines: Vec<_> = table.lines().iter().map(|line| line.render(false, None)).collect();
        assert_eq!(
            lines,
            [" kind        rows", " devices    1,000", " 東京           7", " \\u{1b}[2J      7"]
        );
    }

    #[test]
    fn a_table_that_is_wider_than_the_terminal_has_its_rows_in_words() {
        let lines = |columns| {
            let mut table = Table::new(&["company, site", "devices", "", "latest online since"], &[1]);
            table.row(["Northwind Networks", "1,000", "exact", "2026-03-02 10:00"]);
            table.row(["  東京東京東京東京", "7", "", ""]);
            let lines = table.lines_within(columns);
            lines.iter().map(|line| line.render(false, columns)).collect::<Vec<_>>().join("\n")
        };
        let whole = lines(None);
        assert_eq!(lines(Some(80)), whole, "it fits");
        assert!(whole.starts_with(" company, site"), "{whole}");
        let expected = " Northwind Networks: devices 1,000; exact;\n   latest online since 2026-03-02 10:00\n   \
                        東京東京東京東京: devices 7";
        assert_eq!(lines(Some(48)), expected);
        assert_eq!(lines(Some(30)).lines().filter(|line| line.width() > 30).count(), 0);
    }
}
