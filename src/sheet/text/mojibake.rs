//! Letters that were saved in UTF-8 and read in a code page of Windows, so that each became two or more: `CafÃ©`.
//!
//! Every letter is looked at by itself, for the rest of a text may have lived through it. What comes of the bytes has to be
//! a letter one would write, and where its signs can stand beside each other in a right text (`«Café»`, `JYVÄSKYLÄ–OULU`,
//! `RĂŞINARI`), something more has to speak for it.

use std::sync::OnceLock;

use encoding_rs::{Encoding, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252};

/// How often a text may have been garbled.
const ROUNDS: usize = 4;

/// A code page of Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodePage {
    Western,
    Central,
    Cyrillic,
}

impl CodePage {
    /// The characters of the bytes from 0x80 on.
    fn upper_half(self) -> &'static [char; 128] {
        static PAGES: OnceLock<[[char; 128]; 3]> = OnceLock::new();
        let of = |encoding: &'static Encoding| {
            std::array::from_fn(|at| {
                let byte = [0x80 | u8::try_from(at).unwrap_or(0x7f)];
                let (text, _) = encoding.decode_without_bom_handling(&byte);
                text.chars().next().unwrap_or('\u{fffd}')
            })
        };
        let pages = PAGES.get_or_init(|| [WINDOWS_1252, WINDOWS_1250, WINDOWS_1251].map(of));
        match self {
            Self::Western => &pages[0],
            Self::Central => &pages[1],
            Self::Cyrillic => &pages[2],
        }
    }

    /// The byte that this page reads as a character; `None` for ASCII, which nothing garbles, and for what it lacks.
    fn byte(self, c: char) -> Option<u8> {
        if c.is_ascii() || c == '\u{fffd}' {
            return None;
        }
        let at = self.upper_half().iter().position(|known| *known == c)?;
        u8::try_from(at).ok().map(|at| at | 0x80)
    }
}

/// What a garbled letter was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LetterKind {
    /// A letter or sign of two bytes in Latin writing.
    Latin,
    /// An accent that stands after its letter.
    Accent,
    /// A letter of Vietnamese, of three bytes.
    Vietnamese,
    /// A typographic sign or picture, of three or four bytes that stand together nowhere else.
    Sign,
    /// A letter of another writing, which seldom stands alone.
    Foreign,
}

/// One garbled letter within a text.
struct Garbled {
    at: usize,
    length: usize,
    letter: char,
    kind: LetterKind,
}

/// The text as it was before it was garbled; `None` when it shows no sign of that. To be asked of the text as it was
/// stored: white space and invisible characters are part of what became of some letters.
pub(crate) fn repair_mojibake(text: &str) -> Option<String> {
    let mut repaired = None;
    for _ in 0..ROUNDS {
        let Some(better) = repair_once(repaired.as_deref().unwrap_or(text)) else { break };
        repaired = Some(better);
    }
    repaired
}

fn repair_once(text: &str) -> Option<String> {
    let has_neighbours = |pair: &[u8]| pair[0] >= 0x80 && pair[1] >= 0xc0;
    if text.is_ascii() || !text.as_bytes().windows(2).any(has_neighbours) {
        return None;
    }
    let chars: Vec<char> = text.chars().collect();
    let mut best: Option<Vec<Garbled>> = None;
    for page in [CodePage::Western, CodePage::Central, CodePage::Cyrillic] {
        let pieces = pieces(&chars, page);
        if pieces.len() > best.as_ref().map_or(0, Vec::len)
            && (0..pieces.len()).any(|at| is_certain(&chars, &pieces, at, page))
        {
            best = Some(pieces);
        }
    }
    let mut repaired = String::with_capacity(text.len());
    let mut next = 0;
    for piece in best? {
        repaired.extend(&chars[next..piece.at]);
        repaired.push(piece.letter);
        next = piece.at + piece.length;
    }
    repaired.extend(&chars[next..]);
    Some(repaired)
}

/// What could be a garbled letter.
fn pieces(chars: &[char], page: CodePage) -> Vec<Garbled> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        match piece(&chars[at..], page) {
            Some((length, letter, kind)) => {
                pieces.push(Garbled { at, length, letter, kind });
                at += length;
            }
            None => at += 1,
        }
    }
    pieces
}

/// The garbled letter at the start: its length, itself, and what it was.
fn piece(chars: &[char], page: CodePage) -> Option<(usize, char, LetterKind)> {
    let first = page.byte(*chars.first()?)?;
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let mut bytes = [0; 4];
    for (byte, c) in bytes.iter_mut().zip(chars.get(..length)?) {
        *byte = page.byte(*c)?;
    }
    let letter = std::str::from_utf8(&bytes[..length]).ok()?.chars().next()?;
    Some((length, letter, kind(letter)?))
}

/// What a letter is; `None` of one that nobody writes.
fn kind(letter: char) -> Option<LetterKind> {
    match letter {
        '\u{a0}'..='\u{17f}' | '\u{1a0}' | '\u{1a1}' | '\u{1af}' | '\u{1b0}' | '\u{218}'..='\u{21b}' => {
            Some(LetterKind::Latin)
        }
        '\u{300}'..='\u{36f}' => Some(LetterKind::Accent),
        '\u{1e00}'..='\u{1eff}' => Some(LetterKind::Vietnamese),
        '\u{2010}'..='\u{203a}'
        | '\u{20ac}'
        | '\u{2116}'
        | '\u{2122}'
        | '\u{feff}'
        | '\u{1f000}'..='\u{1faff}' => Some(LetterKind::Sign),
        '\u{370}'..='\u{6ff}'
        | '\u{900}'..='\u{109f}'
        | '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{ff00}'..='\u{ffef}' => Some(LetterKind::Foreign),
        _ => None,
    }
}

/// Signs that stand behind a word, or between two, in right texts.
fn ends_a_word(c: char) -> bool {
    matches!(
        c,
        '\u{a0}'
            | '’'
            | '‘'
            | '”'
            | '“'
            | '…'
            | '–'
            | '—'
            | '›'
            | '‹'
            | '»'
            | '«'
            | '™'
            | '®'
            | '©'
            | '°'
            | 'º'
            | 'ª'
            | '·'
    )
}

/// Whether nothing but a garbled letter explains the piece.
fn is_certain(chars: &[char], pieces: &[Garbled], index: usize, page: CodePage) -> bool {
    let piece = &pieces[index];
    let second = chars[piece.at + 1];
    let before = piece.at.checked_sub(1).map(|at| chars[at]);
    let goes_on = chars.get(piece.at + piece.length).is_some_and(|c| c.is_alphabetic());
    match piece.kind {
        LetterKind::Sign => true,
        LetterKind::Accent => before.is_some_and(|c| c.is_ascii_lowercase()),
        LetterKind::Vietnamese => second != '»' || !ends_a_word(chars[piece.at + 2]) || goes_on,
        LetterKind::Foreign => {
            let is_lone_ideograph = page == CodePage::Western && piece.length == 3 && !ends_a_word(second);
            let enough = if page == CodePage::Cyrillic { 3 } else { 2 };
            is_lone_ideograph || neighbours(pieces, index) >= enough
        }
        LetterKind::Latin if page == CodePage::Cyrillic => before.is_some_and(|c| c.is_ascii_alphabetic()),
        LetterKind::Latin => is_certainly_latin(chars[piece.at], second, before, goes_on, page),
    }
}

/// How many letters of other writings stand together, this one included.
fn neighbours(pieces: &[Garbled], index: usize) -> usize {
    let touch = |left: &Garbled, right: &Garbled| {
        left.at + left.length == right.at
            && left.kind == LetterKind::Foreign
            && right.kind == LetterKind::Foreign
    };
    let after = pieces[index..].windows(2).take_while(|pair| touch(&pair[0], &pair[1])).count();
    let before = pieces[..=index].windows(2).rev().take_while(|pair| touch(&pair[0], &pair[1])).count();
    before + 1 + after
}

/// The same of a capital and the sign or letter after it, which came of a Latin letter.
fn is_certainly_latin(
    first: char,
    second: char,
    before: Option<char>,
    goes_on: bool,
    page: CodePage,
) -> bool {
    let is_dash = matches!(second, '–' | '—');
    match before.filter(|c| c.is_alphabetic()) {
        // No capital follows a small letter and is followed by a sign.
        Some(before) if before.is_lowercase() => true,
        // In a word of capitals a capital is nothing odd.
        Some(_) if ends_a_word(second) => first == 'Â' || (first == 'Ã' && second != '’' && goes_on),
        Some(_) if second.is_uppercase() => page == CodePage::Western && matches!(first, 'Ã' | 'Â'),
        Some(_) => true,
        None if second.is_alphabetic() && !ends_a_word(second) => page == CodePage::Western,
        None if ends_a_word(second) => first == 'Â' || (goes_on && (first == 'Ã' || !is_dash)),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbled_letters_are_found_one_by_one_and_as_often_as_they_were_garbled() {
        let table = [
            ("CafÃ©", "Café"),
            ("Joeâ€™s", "Joe’s"),
            ("Å\u{a0}koda Auto", "Škoda Auto"),
            ("Ã\u{a0}la carte", "àla carte"),
            ("Nguyá»…n Ltd", "Nguyễn Ltd"),
            ("Huáº¿", "Huế"),
            ("Zürich â€“ x", "Zürich – x"),
            ("MÃ¼ller €", "Müller €"),
            ("l’Ã©cole", "l’école"),
            ("Ĺ‚ĂłdĹş", "łódź"),
            ("KrakĂłw", "Kraków"),
            ("ä¸\u{ad}", "中"),
            ("æ\u{9d}±äº¬", "東京"),
            ("MÃƒÂ¼ller", "Müller"),
            ("Ã\u{81}vila", "Ávila"),
            ("MarÃ\u{ad}a", "María"),
            ("MÃ–BEL", "MÖBEL"),
            ("FÃŠTE", "FÊTE"),
            ("Ã‰cole", "École"),
            ("20Â°C", "20°C"),
            ("ACMEÂ\u{a0}LTD", "ACME\u{a0}LTD"),
            ("Ä°stanbul", "İstanbul"),
            ("BucureÈ™ti", "București"),
            ("ÐšÐ¸ÐµÐ²", "Киев"),
            ("РњРѕСЃРєРІР°", "Москва"),
            ("CafГ©", "Café"),
            ("Î‘Î¸Î®Î½Î±", "Αθήνα"),
            ("ðŸ˜€ Shop", "😀 Shop"),
            ("Acmeâ„¢", "Acme™"),
            ("10 â‚¬", "10 €"),
        ];
        for (garbled, meant) in table {
            assert_eq!(repair_mojibake(garbled).as_deref(), Some(meant), "{garbled}");
        }
    }

    #[test]
    fn right_names_in_many_languages_are_left_alone() {
        for name in [
            "São Paulo",
            "SÃO PAULO",
            "JOÃO",
            "IRMÃ",
            "“MANHÃ”",
            "AMANHÃ…",
            "«IRMÃ»",
            "MAÇÃ®",
            "IRMÃ’S",
            "Nguyễn",
            "Müller & Söhne",
            "Café Ångström",
            "Ñandú",
            "«Café»",
            "«\u{a0}Le Café\u{a0}»",
            "JOSÉ’S",
            "CAFÉ™",
            "CAFÉ®",
            "TELÉFONO Nº 5",
            "JYVÄSKYLÄ–HELSINKI",
            "“Å”",
            "Å",
            "Å i Lofoten",
            "RĂŞINARI",
            "Łódź",
            "Česká Lípa",
            "Žďár",
            "Київ",
            "кії",
            "СІЧІ",
            "Він",
            "Рівне",
            "Січ",
            "Сёмин",
            "РЁ",
            "Москва",
            "Αθήνα",
            "東京",
            "서울",
            "Ø 5°",
            "STRAßE’S",
            "groß…",
            "ÎLE–DE",
            "«está»…",
            "PÅ”",
            "Ä–Ö",
            "İstanbul",
            "ĞÜŞ",
            "Šķēde",
            "CÂŞTIG",
            "ĄŻ ĘŚ ŹŁ",
            "ĆŚ",
            "ÚŽASNÝ",
            "ĂŞTI",
            "Ăşa",
            "București",
            "Đặng",
            "LÂM",
            "Á Ø Æ",
            "😀 Shop",
            "Acme™",
        ] {
            assert_eq!(repair_mojibake(name), None, "{name}");
        }
    }
}
