//! Word wrap, so that a terminal does not break lines within words. What follows is indented a little. What is copied
//! and typed stays in one piece: commands, and what a line names.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::line::Ink;

/// How far what follows stands to the right of the line's beginning.
const HANGING: usize = 2;

/// A piece of text and what it means.
type Piece = (Ink, String);

/// The pieces of a line as the pieces of several, each of at most `width` columns where its words allow.
pub(super) fn folded(pieces: &[Piece], width: usize) -> Vec<Vec<Piece>> {
    let text: String = pieces.iter().map(|(_, text)| text.as_str()).collect();
    if text.width() <= width {
        return vec![pieces.to_vec()];
    }
    let whole = [commands(&text), names(pieces)].concat();
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

/// The commands of a text: from the name of the program to the end of what is typed.
fn commands(text: &str) -> Vec<Range<usize>> {
    const NAME: &str = "fleetload ";
    let mut commands = Vec::new();
    let mut from = 0;
    while let Some(found) = text[from..].find(NAME) {
        let start = from + found;
        let typed = &text[start + NAME.len()..];
        let is_command = crate::status::next_command::COMMANDS.iter().any(|command| {
            typed.strip_prefix(command).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        from = start + NAME.len();
        if is_command {
            let length = end_of(typed);
            commands.push(start..from + length);
            from += length;
        }
    }
    commands
}

/// How long what is typed is: to a mark that ends a part of a sentence, outside of quotes.
fn end_of(typed: &str) -> usize {
    let mut quoted = false;
    let mut characters = typed.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        match c {
            '\'' => quoted = !quoted,
            '`' | ')' if !quoted => return at,
            ',' | ';' | ':' | '.' if !quoted && next.is_none_or(|next| next == ' ') => return at,
            _ => {}
        }
    }
    typed.trim_end().len()
}

/// What a line names behind its beginning: files, numbers, values.
fn names(pieces: &[Piece]) -> Vec<Range<usize>> {
    let mut names = Vec::new();
    let mut at = 0;
    for (ink, text) in pieces {
        let end = at + text.len();
        if at > 0 && matches!(ink, Ink::Strong | Ink::Hint) {
            names.push(at..end);
        }
        at = end;
    }
    names
}

/// Where what follows the first line begins: behind the word in front of it, or a little to the right.
fn hanging(pieces: &[Piece]) -> usize {
    let Some((ink, first)) = pieces.first() else { return 0 };
    if *ink == Ink::Faint && first.ends_with("  ") || first == "hint:" {
        return first.width() + usize::from(!first.ends_with(' '));
    }
    first.len() - first.trim_start_matches(' ').len() + HANGING
}

/// The part of the pieces within a range of the text, indented.
fn cut(pieces: &[Piece], range: Range<usize>, indent: usize) -> Vec<Piece> {
    let mut line = Vec::new();
    if indent > 0 {
        line.push((Ink::Plain, " ".repeat(indent)));
    }
    let mut at = 0;
    for (ink, text) in pieces {
        let (from, to) = (range.start.max(at), range.end.min(at + text.len()));
        if from < to {
            line.push((*ink, text[from - at..to - at].to_owned()));
        }
        at += text.len();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pieces: &[(Ink, &str)], width: usize) -> Vec<String> {
        let pieces: Vec<Piece> = pieces.iter().map(|(ink, text)| (*ink, (*text).to_owned())).collect();
        let lines = folded(&pieces, width);
        lines.into_iter().map(|line| line.into_iter().map(|(_, text)| text).collect()).collect()
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
        let text = format!("correct the rows, then: {command}");
        assert_eq!(told(&[(Ink::Plain, &text)], 40), ["correct the rows, then:", &format!("  {command}")]);
        let text = "decide it with `fleetload resolve 7 --journal a.db` or leave it as it is";
        assert_eq!(
            told(&[(Ink::Plain, text)], 44),
            ["decide it with", "  `fleetload resolve 7 --journal a.db` or", "  leave it as it is"]
        );
        let text = "what it means: fleetload explain cell.mac, or any other code in brackets";
        assert_eq!(
            told(&[(Ink::Plain, text)], 44),
            ["what it means: fleetload explain cell.mac,", "  or any other code in brackets"]
        );
        let file = "/home/ann/my customers/reports/1/report.html";
        let line =
            [(Ink::Plain, "report of import 1: "), (Ink::Strong, file), (Ink::Plain, ", results.xlsx")];
        assert_eq!(told(&line, 40), ["report of import 1:", &format!("  {file},"), "  results.xlsx"]);
        let sentence = "fleetload itself failed, and nothing was sent after that";
        assert_eq!(told(&[(Ink::Plain, sentence)], 40).len(), 2, "a sentence is no command");
    }

    #[test]
    fn wide_letters_count_as_they_are_wide_and_colour_goes_on_in_the_next_line() {
        assert_eq!(
            told(&[(Ink::Plain, "東京東京東京 東京東京東京")], 20),
            ["東京東京東京", "  東京東京東京"]
        );
        let pieces = [(Ink::Strong, "one two three four".to_owned())];
        let inks: Vec<Ink> = folded(&pieces, 10).concat().iter().map(|(ink, _)| *ink).collect();
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
}
