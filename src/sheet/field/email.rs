//! E-mail addresses: what cannot be one is reported, and none is rewritten but for the case of its domain.

use super::confusables;
use super::{CellReading, Problem, Value};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::text::{Changes, Norm, normalise};

const RULE: &str = "one address such as name@company.example";

/// Characters of the longest domain.
const LONGEST_DOMAIN: usize = 253;

/// An e-mail address, and the one that the link behind its cell leads to. Where the two differ nobody knows which is right.
pub(super) fn email(text: &str, link: Option<&str>, reading: &mut CellReading) -> Result<Value, Problem> {
    let read = address(text, reading);
    let mut changes = Changes::default();
    let Some(link) = link.map(|link| normalise(link, Norm::Code, &mut changes)) else { return read };
    if link.to_lowercase() == bare(text).to_lowercase() {
        return read;
    }
    match read {
        Err(problem) if problem.code == Code::CellEmail && !text.contains('@') => Err(behind(text, &link)),
        // What is no address for another reason is reported as what it is.
        Err(problem) if problem.code != Code::CellEmail || problem.suggestion.is_none() => Err(problem),
        Ok(_) | Err(_) => Err(Problem::new(
            Code::CellEmail,
            format!(
                "the cell says {}, and the link behind it leads to {}: enter the right one, and remove the link",
                shown(bare(text)),
                shown(&link)
            ),
        )
        .rule(RULE)),
    }
}

/// The finding for a name with a link to an address.
fn behind(text: &str, link: &str) -> Problem {
    let problem = Problem::new(
        Code::CellEmail,
        format!(
            "the cell says '{}', and the link behind it leads to {}: enter the address itself, and remove the link",
            shown(text),
            shown(link)
        ),
    )
    .rule(RULE);
    match address(link, &mut CellReading::default()) {
        Ok(Value::Text(canonical)) => problem.suggest(canonical),
        Ok(_) | Err(_) => problem,
    }
}

/// An e-mail address: local part, at sign, domain with a dot.
fn address(text: &str, reading: &mut CellReading) -> Result<Value, Problem> {
    let bare = bare(text);
    let wrong = |message: String| Err(Problem::new(Code::CellEmail, message).rule(RULE));
    if bare == text && text.matches('@').count() > 1 && text.contains([';', ',', ' ', '/', '|']) {
        return Err(Problem::new(
            Code::CellMultipleValues,
            "the cell holds several e-mail addresses: keep one",
        )
        .rule(RULE));
    }
    let Some((local, domain)) = bare.rsplit_once('@') else {
        return wrong("an e-mail address has an @ between name and domain: enter the whole address".into());
    };
    if local.starts_with('"') {
        return wrong("quotation marks before the @ are not accepted: enter an address without them".into());
    }
    if domain.starts_with('[') || is_number(domain) {
        return wrong(format!(
            "the domain of an e-mail address is a name, not the number '{}': enter the name",
            shown(domain)
        ));
    }
    let odd = |c: char| c.is_whitespace() || "\"<>()[],;:\\".contains(c) || c == '@';
    if let Some(odd) = local.chars().chain(domain.chars()).find(|c| odd(*c)) {
        let named =
            if odd == ' ' { "a space".to_owned() } else { format!("'{odd}' (U+{:04X})", u32::from(odd)) };
        return wrong(format!("{named} is not allowed in an e-mail address: correct it"));
    }
    local_part(local, text)?;
    domain_part(domain, text, reading)?;
    let canonical = format!("{local}@{}", domain.to_lowercase());
    if bare != text {
        return Err(Problem::new(
            Code::CellEmail,
            "the cell holds more than the bare address: keep only that",
        )
        .rule(RULE)
        .suggest(canonical));
    }
    Ok(Value::Text(canonical.into()))
}

/// The address without what mail programs write around it: `Name <a@b.example>`, `mailto:a@b.example?subject=x`.
fn bare(text: &str) -> &str {
    if let Some(address) = text.rsplit_once('<').and_then(|(_, rest)| rest.strip_suffix('>')) {
        return address.trim();
    }
    match text.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("mailto:") => {
            text[7..].split('?').next().unwrap_or_default().trim()
        }
        _ => text.trim(),
    }
}

fn is_number(domain: &str) -> bool {
    !domain.is_empty() && domain.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn local_part(local: &str, text: &str) -> Result<(), Problem> {
    if let Some(odd) = local.chars().find(|c| confusables::latin(*c).is_some()) {
        return Err(confusables::problem(odd, text).rule(RULE));
    }
    let message = if let Some(odd) = local.chars().find(|c| !c.is_ascii()) {
        format!(
            "'{odd}' (U+{:04X}) is not allowed before the @: enter the address in letters a-z",
            u32::from(odd)
        )
    } else if local.is_empty() {
        "the part before the @ is missing: enter the whole address".into()
    } else if local.len() > 64 {
        format!("the part before the @ has {} characters and is limited to 64: correct it", local.len())
    } else if local.starts_with('.') || local.ends_with('.') || local.contains("..") {
        "the part before the @ begins or ends with a dot, or has two dots in a row: correct it".into()
    } else {
        return Ok(());
    };
    Err(Problem::new(Code::CellEmail, message).rule(RULE))
}

fn domain_part(domain: &str, text: &str, reading: &mut CellReading) -> Result<(), Problem> {
    let good = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    if !domain.contains('.') || !domain.split('.').all(good) {
        return Err(Problem::new(
            Code::CellEmail,
            format!("'{}' is not a domain such as company.example: correct it", shown(domain)),
        )
        .rule(RULE));
    }
    if domain.len() > LONGEST_DOMAIN {
        return Err(Problem::new(
            Code::CellEmail,
            format!(
                "the domain has {} characters and is limited to {LONGEST_DOMAIN}: correct it",
                domain.len()
            ),
        )
        .rule(RULE));
    }
    if domain.rsplit('.').next().is_some_and(is_number) {
        return Err(Problem::new(
            Code::CellEmail,
            format!("'{}' ends in a number, which no domain does: correct it", shown(domain)),
        )
        .rule(RULE));
    }
    if let Some(odd) = confusables::in_a_latin_word(domain) {
        return Err(confusables::problem(odd, text).rule(RULE));
    }
    if let Some(odd) = domain.chars().find(|c| !c.is_ascii()) {
        reading.add(
            Problem::new(
                Code::CellEmail,
                format!("the domain has the letter '{odd}', which some mail servers do not accept: compare it with \
                    the address that is in use"),
            )
            .rule("a domain in letters a-z, digits and -")
            .warning(),
        );
    }
    Ok(())
}
