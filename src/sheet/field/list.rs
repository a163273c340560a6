//! Cells that hold several values, and networks.

use std::net::IpAddr;

use super::super::code::Code;
use super::identifier::{bad_uuid, uuid};
use super::{Problem, Value};

const LABELS: &str = "labels separated by semicolons, in quotation marks where they contain one";

/// Ids separated by semicolons; doubled ones once.
pub(super) fn uuids(text: &str) -> Result<Value, Problem> {
    let mut ids = Vec::new();
    for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
        let id = uuid(item).ok_or_else(|| bad_uuid(item))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(Value::Uuids(ids))
}

/// Labels separated by semicolons, quoted when they contain one; doubled ones once, order kept.
pub(super) fn labels(text: &str) -> Result<Value, Problem> {
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
                    "a quotation mark in the list of labels is never closed: close it after the label",
                )
                .rule(LABELS));
            };
            let after = quoted[end..].trim_start();
            if !after.is_empty() && !after.starts_with(';') {
                return Err(Problem::new(
                    Code::RowQuoteStray,
                    "something follows the closing quotation mark of a label: put a semicolon between two labels",
                )
                .rule(LABELS));
            }
            (label, after)
        } else {
            let end = rest.find(';').unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        };
        let label = label.trim().to_owned();
        if !label.is_empty() && !labels.contains(&label) {
            labels.push(label);
        }
        rest = after.strip_prefix(';').unwrap_or(after).trim_start();
    }
    Ok(Value::Labels(labels))
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
    if good { Ok(Value::Text(format!("{address}/{mask}"))) } else { Err(wrong()) }
}
