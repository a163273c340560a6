//! Cells that hold several values, and networks.

use std::net::IpAddr;

use super::key::offer;
use super::spreadsheet::formula_error;
use super::text_checks::suspicions;
use super::{CellReading, Problem, Value, Ways};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::text::{is_formula_error, is_placeholder};

const LABELS: &str = "labels separated by semicolons, in quotation marks if they contain one";
const ITEMS: &str = "a list separated by semicolons, in quotation marks what contains one";

/// Ids and names separated by semicolons; doubled ones once, with a note. A name with a semicolon in it stands in quotation
/// marks, as a label does.
pub(super) fn offers(text: &str, reading: &mut CellReading) -> Result<Value, Problem> {
    let mut offers = Vec::new();
    for item in split(text, "names")? {
        let offer = offer(&item)?;
        if offers.contains(&offer) {
            told_once(doubled(&item), reading);
        } else {
            offers.push(offer);
        }
    }
    Ok(Value::Offers(offers))
}

/// The note on what a list names twice.
pub(in crate::sheet) fn doubled(item: &str) -> Problem {
    Problem::new(
        Code::CellMultipleValues,
        format!("'{}' is in the list twice and is sent once: remove one of them", shown(item)),
    )
    .note()
}

/// Adds a problem unless the cell has one of its code already.
fn told_once(problem: Problem, reading: &mut CellReading) {
    if !reading.problems().iter().any(|known| known.code == problem.code) {
        reading.add(problem);
    }
}

/// Labels separated by semicolons, quoted when they contain one; doubled ones once, order kept. Each is looked at as the
/// texts of other cells are.
pub(super) fn labels(text: &str, ways: &Ways, reading: &mut CellReading) -> Result<Value, Problem> {
    let split = split(text, "labels")?;
    let is_list = split.len() > 1;
    let mut labels: Vec<String> = Vec::with_capacity(split.len());
    for label in split {
        if is_formula_error(&label) {
            return Err(formula_error(&label));
        }
        suspicions(&label).into_iter().for_each(|problem| told_once(problem, reading));
        // Of a cell with nothing else it is reported already.
        if is_list && is_placeholder(&label) {
            let advice = if ways.placeholders_blank {
                "it is ignored; remove it from the list"
            } else {
                "it is sent as it is; remove it from the list unless it is right"
            };
            told_once(
                Problem::new(
                    Code::CellPlaceholder,
                    format!("the label '{}' is a placeholder: {advice}", shown(&label)),
                )
                .rule(LABELS),
                reading,
            );
            if ways.placeholders_blank {
                continue;
            }
        }
        if labels.contains(&label) {
            told_once(doubled(&label), reading);
        } else {
            labels.push(label);
        }
    }
    Ok(Value::Labels(labels))
}

/// The items of a cell, those that are blank left out; `what` they are.
fn split(text: &str, what: &str) -> Result<Vec<String>, Problem> {
    let mut labels: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (label, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let mut label = String::new();
            let mut chars = quoted.char_indices().peekable();
            let mut end = None;
            while let Some((at, c)) = chars.next() {
                if c != '"' {
                    label.push(c);
                } else if chars.next_if(|(_, next)| *next == '"').is_some() {
                    label.push('"');
                } else {
                    end = Some(at + 1);
                    break;
                }
            }
            let Some(end) = end else {
                return Err(Problem::new(
                    Code::RowQuoteUnterminated,
                    format!("a quotation mark in the list of {what} is never closed: close it"),
                )
                .rule(ITEMS));
            };
            let after = quoted[end..].trim_start();
            if !after.is_empty() && !after.starts_with(';') {
                return Err(Problem::new(
                    Code::RowQuoteStray,
                    format!("something follows a closing quotation mark: put a semicolon between two {what}"),
                )
                .rule(ITEMS));
            }
            (label, after)
        } else {
            let end = rest.find(';').unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        };
        let label = label.trim().to_owned();
        if !label.is_empty() {
            labels.push(label);
        }
        rest = after.strip_prefix(';').unwrap_or(after).trim_start();
    }
    Ok(labels)
}

/// A network: CIDR, or address and netmask (specification 2.5).
pub(super) fn network(text: &str) -> Result<Value, Problem> {
    let wrong = || {
        Problem::new(
            Code::CellNetwork,
            "this is not a network: write it as 10.1.0.0/16 or 10.1.0.0/255.255.0.0",
        )
        .rule("an address and a prefix length or netmask")
    };
    let (address, mask) = text.split_once('/').ok_or_else(wrong)?;
    let address: IpAddr = address.trim().parse().map_err(|_| wrong())?;
    let mask = mask.trim();
    let good = match (address, mask.parse::<u8>(), mask.parse::<std::net::Ipv4Addr>()) {
        (IpAddr::V4(_), Ok(bits), _) => bits <= 32,
        (IpAddr::V6(_), Ok(bits), _) => bits <= 128,
        (IpAddr::V4(_), Err(_), Ok(mask)) => {
            mask.to_bits().leading_ones() + mask.to_bits().trailing_zeros() >= 32
        }
        (IpAddr::V4(_) | IpAddr::V6(_), Err(_), _) => false,
    };
    if good { Ok(Value::Text(format!("{address}/{mask}").into())) } else { Err(wrong()) }
}
