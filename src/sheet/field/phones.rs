//! Whether a cell holds several phone numbers. A number of one country may be written with strokes, dashes and spaces in
//! it, so that nothing between two parts is enough: both parts have to be numbers of their own.

/// Digits from which on a part of a cell may be a phone number of its own.
const OWN: usize = 6;
/// Digits of a number without the code of its area.
const LOCAL: usize = 7;
/// Digits from which on a number with the code of its area, or with that of its country, is whole.
const WITH_AREA: usize = 8;
const WITH_COUNTRY: usize = 10;
/// Digits of the longest number in the world.
const MOST: usize = 15;

/// How many digits a text has.
pub(super) fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Whether a text is several phone numbers.
pub(super) fn are_in(text: &str) -> bool {
    is_list(text)
        || stand_around_words(text)
        || stand_around_a_plus(text)
        || have_a_code_each(text)
        || are_two_runs(text)
        || text.split_once(" - ").is_some_and(|(left, right)| are_two(left, right))
        || are_around_a_stroke(text)
        || is_too_long(text)
}

/// Parts between signs that no phone number has, or has for something else only where a part is short.
fn is_list(text: &str) -> bool {
    let parts = |signs: &[char], most: usize| {
        let is_extension = |part: &str| part.trim_start().to_lowercase().starts_with("ext");
        text.split(signs).filter(|part| digits(part) >= most && !is_extension(part)).count() > 1
    };
    (digits(text) > OWN && parts(&[';', '|'], 2)) || parts(&[',', '&'], OWN)
}

/// A number, words, and another number.
fn stand_around_words(text: &str) -> bool {
    let lower = text.to_lowercase();
    let joined = [" or ", " and "].into_iter().any(|word| {
        lower.split_once(word).is_some_and(|(left, right)| digits(left) >= 2 && digits(right) >= 2)
    });
    let mut own = 0;
    let mut is_extension = false;
    // Words and what stands between them, in turns.
    let mut rest = lower.as_str();
    while !rest.is_empty() {
        let end = rest.find(char::is_alphabetic).unwrap_or(rest.len());
        own += usize::from(!is_extension && digits(&rest[..end]) >= OWN);
        rest = &rest[end..];
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        is_extension = matches!(&rest[..end], "x" | "ext" | "extn" | "extension");
        rest = &rest[end..];
    }
    own > 1 || (joined && digits(text) > OWN)
}

/// A number, and another one that begins with a plus.
fn stand_around_a_plus(text: &str) -> bool {
    text.match_indices('+').any(|(at, _)| digits(&text[..at]) >= OWN && digits(&text[at..]) >= OWN)
}

/// The same code of an area in brackets twice.
fn have_a_code_each(text: &str) -> bool {
    let codes: Vec<&str> = text
        .split('(')
        .skip(1)
        .filter_map(|part| part.split_once(')').map(|(code, _)| code.trim()))
        .filter(|code| digits(code) >= 2)
        .collect();
    codes.iter().enumerate().any(|(at, code)| codes[..at].contains(code))
}

/// Two numbers with nothing between them, and no spaces inside.
fn are_two_runs(text: &str) -> bool {
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(' ').is_some_and(|(left, right)| {
        all_digits(left) && all_digits(right) && left.len() >= LOCAL && are_two(left, right)
    })
}

/// A stroke stands between two numbers, or between a number and the local part of another one. Before a stroke there may
/// also be nothing but the codes of country and area.
fn are_around_a_stroke(text: &str) -> bool {
    text.match_indices('/').any(|(at, _)| {
        let (left, right) = (&text[..at], &text[at + 1..]);
        let right = right.split('/').next().unwrap_or_default();
        are_two(left, right) || (is_whole(left) && digits(right) >= OWN)
    })
}

/// Whether a number has so many digits that more of them cannot belong to it.
pub(super) fn is_whole(number: &str) -> bool {
    let count = digits(number);
    if number.contains('+') {
        count >= WITH_COUNTRY
    } else if is_international(number) {
        count >= WITH_COUNTRY + 2
    } else {
        starts_with_zero(number) && count >= WITH_AREA
    }
}

/// Whether two parts are alike, so that both are whole numbers of their own.
fn are_two(left: &str, right: &str) -> bool {
    let (first, second) = (digits(left), digits(right));
    if left.contains('+') || is_international(left) {
        return false;
    }
    match (starts_with_zero(left), starts_with_zero(right)) {
        (true, true) => first >= OWN && second >= OWN,
        (false, false) => first >= LOCAL && second >= LOCAL && first.abs_diff(second) <= 1,
        (false, true) => first >= OWN && second >= WITH_AREA,
        (true, false) => false,
    }
}

/// More digits than a number has, in more than one run.
fn is_too_long(text: &str) -> bool {
    let number = text.split(char::is_alphabetic).next().unwrap_or_default();
    let runs = number.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty()).count();
    runs > 1 && significant(number) > MOST
}

/// The digits of a number that count: without what is dialled for another country, and the zero that is not dialled then.
pub(super) fn significant(number: &str) -> usize {
    let spaceless = number.replace(' ', "");
    let count = digits(number) - usize::from(spaceless.contains("(0)"));
    let own: String = number.chars().filter(char::is_ascii_digit).collect();
    let prefix = ["0011", "011", "00"].into_iter().find(|prefix| own.starts_with(prefix));
    count.saturating_sub(prefix.map_or(0, str::len))
}

fn starts_with_zero(number: &str) -> bool {
    number.bytes().find(u8::is_ascii_digit) == Some(b'0')
}

fn is_international(number: &str) -> bool {
    let mut own = number.bytes().filter(u8::is_ascii_digit);
    (own.next(), own.next()) == (Some(b'0'), Some(b'0'))
}
