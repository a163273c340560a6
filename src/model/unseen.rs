//! Characters that change what a reader sees without being seen, in text that others wrote: cells, answers, file names.

/// Whether a character shows nothing of its own, or turns the direction of what follows. Control characters are told by
/// [`char::is_control`]; joiners are part of words and of signs, and stay.
pub(crate) const fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
