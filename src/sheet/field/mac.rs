//! MAC addresses in any usual notation. They identify a device, so that nothing of them is guessed.

use super::confusables;
use super::{CellReading, Problem, Value};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::options::MacForm;

pub(super) const RULE: &str = "12 hexadecimal digits (0-9, a-f)";

/// A MAC address, written in the form that is sent.
pub(super) fn mac(text: &str, form: MacForm, reading: &mut CellReading) -> Result<Value, Problem> {
    if form == MacForm::Colon && is_in_pairs(text) {
        let sent = text.to_ascii_lowercase();
        let mut digits = String::with_capacity(12);
        digits.extend(sent.split(':'));
        judge_owner(&digits, reading)?;
        return Ok(Value::Text(sent.into()));
    }
    let separator = |c: char| matches!(c, ':' | '-' | '.' | ' ');
    if holds_several(text) {
        return Err(several());
    }
    if let Some(odd) = text.chars().find(|c| !c.is_ascii_hexdigit() && !separator(*c)) {
        return Err(match with_more(text).as_slice() {
            [] => odd_character(odd, text),
            [address] => more_than(address),
            _ => several(),
        });
    }
    let groups: Vec<&str> = text.split(separator).filter(|group| !group.is_empty()).collect();
    let is_short = groups.len() == 6
        && groups.iter().all(|group| group.len() <= 2)
        && groups.iter().any(|group| group.len() == 1);
    let digits: String =
        if is_short { padded(&groups).ok_or_else(|| cut_off(&groups))? } else { groups.concat() };
    if digits.len() != 12 {
        return Err(wrong_length(&digits));
    }
    let digits = digits.to_ascii_lowercase();
    judge_owner(&digits, reading)?;
    let sent = written(&digits, form);
    if is_short {
        reading.add(Problem::new(Code::CellZeroPaddedFormat, format!("read as {sent}")));
    }
    Ok(Value::Text(sent.into()))
}

/// Whether an address is written as six pairs of digits with colons, as most are.
fn is_in_pairs(text: &str) -> bool {
    let is_right =
        |(at, byte): (usize, u8)| if at % 3 == 2 { byte == b':' } else { byte.is_ascii_hexdigit() };
    text.len() == 17 && text.bytes().enumerate().all(is_right)
}

/// Whether a text is an address of which there is nothing to say.
pub(super) fn is_of_a_device(text: &str) -> bool {
    let mut reading = CellReading::default();
    mac(text, MacForm::Colon, &mut reading).is_ok() && reading.problems().is_empty()
}

/// The digits of an address written without the leading zeros of its groups. Tools that write so leave out every one of
/// them: where another group has its zero, a digit was lost, and nobody knows which.
fn padded(groups: &[&str]) -> Option<String> {
    let has_zero = |group: &&str| group.len() == 2 && group.starts_with('0');
    (!groups.iter().any(has_zero)).then(|| groups.iter().map(|group| format!("{group:0>2}")).collect())
}

/// The finding for an address of which a digit is gone.
fn cut_off(groups: &[&str]) -> Problem {
    let count: usize = groups.iter().map(|group| group.len()).sum();
    let short: Vec<String> =
        groups.iter().filter(|group| group.len() == 1).map(|group| format!("'{group}'")).collect();
    Problem::new(
        Code::CellMacLength,
        format!(
            "a MAC address has 12 hexadecimal digits and this has {count}: a digit is missing at {}. Enter the address \
             as the device's label shows it",
            short.join(" and ")
        ),
    )
    .rule(RULE)
}

/// Twelve digits in the form that is sent.
fn written(digits: &str, form: MacForm) -> String {
    let grouped = |size: usize, separator: &str| {
        let groups: Vec<&str> =
            (0..12 / size).map(|group| &digits[size * group..size * (group + 1)]).collect();
        groups.join(separator)
    };
    match form {
        MacForm::Colon => grouped(2, ":"),
        MacForm::Dash => grouped(2, "-"),
        MacForm::Dot => grouped(4, "."),
        MacForm::Bare => digits.to_owned(),
    }
}

/// Whether a text is several addresses, with whatever between them.
fn holds_several(text: &str) -> bool {
    let is_address = |part: &str| {
        part.chars().filter(char::is_ascii_hexdigit).count() == 12
            && part.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '-' | '.'))
    };
    let parts: Vec<&str> =
        text.split([';', ',', '/', '|', ' ', '\n']).filter(|part| !part.is_empty()).collect();
    parts.len() > 1 && parts.iter().all(|part| is_address(part))
}

fn several() -> Problem {
    Problem::new(
        Code::CellMultipleValues,
        "the cell holds several MAC addresses: keep one, and give every device a row of its own",
    )
    .rule("one MAC address")
}

/// The addresses in a text that holds something else as well: `00:1a:2b:3c:4d:5e (eth0)`. Digits alone may be a serial
/// number.
fn with_more(text: &str) -> Vec<&str> {
    let parts = text.split(|c: char| c.is_whitespace() || "()[]{}<>,;=/|\"'".contains(c));
    parts
        .map(|part| part.trim_matches([':', '-', '.']))
        .filter(|part| {
            part.bytes().filter(u8::is_ascii_hexdigit).count() == 12
                && part.contains([':', '-', '.'])
                && part.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '-' | '.'))
        })
        .collect()
}

/// The finding for a cell that holds an address and something else.
fn more_than(address: &str) -> Problem {
    let problem =
        Problem::new(Code::CellMac, "the cell holds more than the address: keep only that").rule(RULE);
    if is_of_a_device(address) { problem.suggest(address) } else { problem }
}

fn odd_character(odd: char, text: &str) -> Problem {
    if confusables::latin(odd).is_some() {
        return confusables::problem(odd, text).rule(RULE);
    }
    let digits = text.chars().filter(char::is_ascii_hexdigit).count();
    let named = format!("'{}' (U+{:04X})", shown(odd.encode_utf8(&mut [0; 4])), u32::from(odd));
    let foreign = text.chars().filter(|c| c.is_alphabetic() && !c.is_ascii_hexdigit()).count();
    let message = match odd {
        'O' | 'o' if digits >= 8 => format!("{named} is the letter O, not the digit 0: correct it"),
        'I' | 'l' | 'L' if digits >= 8 => format!("{named} is a letter, not the digit 1: correct it"),
        _ if digits < 8 || foreign > 1 => {
            format!("{named} is not a hexadecimal digit: is this the serial number? Enter the MAC address")
        }
        _ => format!("{named} is not a hexadecimal digit: correct the address"),
    };
    Problem::new(Code::CellMac, message).rule(RULE)
}

fn wrong_length(digits: &str) -> Problem {
    let count = digits.len();
    let advice = match count {
        0 => "enter the address",
        16 => "an address of 16 digits (EUI-64) is not a MAC address: enter the MAC address",
        9..=11 if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            "format the column as Text and enter the address again, because leading zeros may be lost"
        }
        _ => "correct it",
    };
    Problem::new(
        Code::CellMacLength,
        format!("a MAC address has 12 hexadecimal digits and this has {count}: {advice}"),
    )
    .rule(RULE)
}

/// Refuses addresses that belong to no single device, and tells those that no manufacturer gave.
fn judge_owner(digits: &str, reading: &mut CellReading) -> Result<(), Problem> {
    const RULE: &str = "the address of one device, as its label shows it";
    let first = u8::from_str_radix(&digits[..2], 16).unwrap_or(0);
    let reserved = if digits.bytes().all(|digit| digit == b'0') {
        Some("all zeros")
    } else if digits.bytes().all(|digit| digit == b'f') {
        Some("the address of all devices at once")
    } else if first & 1 == 1 {
        Some("the address of a group of devices")
    } else {
        None
    };
    if let Some(what) = reserved {
        return Err(Problem::new(
            Code::CellMacReserved,
            format!("this is {what}: enter the address on the device's label"),
        )
        .rule(RULE));
    }
    if first & 2 == 2 {
        reading.add(
            Problem::new(
                Code::CellMacReserved,
                "this address is not from a manufacturer (phones and virtual machines make up such addresses): \
                 compare it with the device's label",
            )
            .rule(RULE)
            .warning(),
        );
    }
    Ok(())
}
