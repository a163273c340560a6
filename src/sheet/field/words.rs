//! Text, phone numbers, e-mail addresses, enumerations, yes and no, time zones.

use std::sync::OnceLock;

use jiff::tz::TimeZone;

use super::super::code::Code;
use super::super::text::{did_you_mean, nearest};
use super::{Problem, Reading, Value, suspicions};

/// Any text.
pub(super) fn text(text: &str, reading: &mut Reading) -> Result<Value, Problem> {
    suspicions(text, &mut reading.problems);
    Ok(Value::Text(text.to_owned()))
}

/// A phone number stays text; only what cannot be one is told.
pub(super) fn phone(text: &str, reading: &mut Reading) -> Result<Value, Problem> {
    const RULE: &str = "digits, spaces and + ( ) - . /, with an extension as x5 or ext 5";
    let digits = text.chars().filter(char::is_ascii_digit).count();
    if text.contains([';', ',']) || text.contains(" or ") {
        return Err(Problem::new(
            Code::CellMultipleValues,
            "the cell seems to hold several phone numbers: keep one",
        )
        .rule("one phone number"));
    }
    if digits < 3 {
        return Err(Problem::new(
            Code::CellPhone,
            format!("a phone number has at least 3 digits; this has {digits}"),
        )
        .rule(RULE)
        .error());
    }
    let lower = text.to_ascii_lowercase().replace("ext.", "x").replace("ext", "x");
    if let Some(odd) = lower.chars().find(|c| !c.is_ascii_digit() && !" +().-/x#*".contains(*c)) {
        reading.problems.push(
            Problem::new(
                Code::CellPhone,
                format!("'{odd}' is unusual in a phone number; it is sent as it stands: check it"),
            )
            .rule(RULE),
        );
    }
    Ok(Value::Text(text.to_owned()))
}

/// An e-mail address: local part, at sign, domain with a dot.
pub(super) fn email(text: &str) -> Result<Value, Problem> {
    const RULE: &str = "name@company.example";
    let bare = text
        .rsplit_once('<')
        .and_then(|(_, rest)| rest.strip_suffix('>'))
        .or_else(|| text.strip_prefix("mailto:"))
        .unwrap_or(text)
        .trim();
    let wrong = |message: String| Err(Problem::new(Code::CellEmail, message).rule(RULE));
    if bare == text && text.matches('@').count() > 1 && text.contains([';', ',', ' ', '/']) {
        return Err(Problem::new(
            Code::CellMultipleValues,
            "the cell holds several e-mail addresses: keep one",
        )
        .rule("one address"));
    }
    let Some((local, domain)) = bare.rsplit_once('@') else {
        return wrong("an e-mail address has an @ between name and domain".into());
    };
    let odd = |c: char| c.is_whitespace() || "\"<>()[],;:\\".contains(c) || c == '@';
    if let Some(odd) = local.chars().chain(domain.chars()).find(|c| odd(*c)) {
        return wrong(format!("'{odd}' (U+{:04X}) may not stand in an e-mail address", u32::from(odd)));
    }
    let labels: Vec<&str> = domain.split('.').collect();
    if local.is_empty()
        || local.starts_with('.')
        || local.ends_with('.')
        || local.contains("..")
        || local.len() > 64
    {
        return wrong("the part before the @ is not one of an e-mail address".into());
    }
    let good = |label: &&str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    if labels.len() < 2 || !labels.iter().all(good) {
        return wrong(format!("'{domain}' is not a domain such as company.example"));
    }
    if labels.iter().all(|label| label.bytes().all(|byte| byte.is_ascii_digit())) {
        return wrong("the domain of an e-mail address is a name, not a number".into());
    }
    let canonical = format!("{local}@{}", domain.to_lowercase());
    if bare != text {
        return Err(Problem::new(
            Code::CellEmail,
            "the cell holds more than the bare address: keep only that",
        )
        .rule(RULE)
        .suggest(canonical));
    }
    Ok(Value::Text(canonical))
}

/// One of some values; case, spaces, underlines and dashes do not matter.
pub(super) fn choice(text: &str, values: &'static [&'static str]) -> Result<Value, Problem> {
    let folded = fold(text);
    if let Some(position) = values.iter().position(|value| fold(value) == folded) {
        return Ok(Value::Choice(position));
    }
    let mut problem = Problem::new(
        Code::CellEnum,
        format!("use one of: {}.{}", values.join(", "), did_you_mean(text, values.iter().copied())),
    )
    .rule("one of the listed values");
    if let [near] = nearest(text, values.iter().copied()).as_slice() {
        problem = problem.suggest(*near);
    }
    Err(problem)
}

fn fold(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Yes or no, in the words of Excel's languages.
pub(super) fn truth(text: &str) -> Result<Value, Problem> {
    const YES: [&str; 25] = [
        "true",
        "yes",
        "y",
        "1",
        "on",
        "t",
        "wahr",
        "vrai",
        "verdadero",
        "verdadeiro",
        "vero",
        "waar",
        "sant",
        "sand",
        "tosi",
        "prawda",
        "истина",
        "doğru",
        "ja",
        "oui",
        "sí",
        "si",
        "sim",
        "1.0",
        "tak",
    ];
    const NO: [&str; 23] = [
        "false", "no", "n", "0", "off", "f", "falsch", "faux", "falso", "onwaar", "falskt", "falsk",
        "epätosi", "fałsz", "ложь", "yanliş", "yanlış", "nein", "non", "não", "nee", "0.0", "nie",
    ];
    let lower = text.to_lowercase();
    if YES.contains(&lower.as_str()) {
        Ok(Value::Bool(true))
    } else if NO.contains(&lower.as_str()) {
        Ok(Value::Bool(false))
    } else {
        Err(Problem::new(Code::CellBool, "use yes or no (or true/false, y/n, 1/0, on/off)").rule("yes or no"))
    }
}

/// A time zone: kept as written when the IANA list has it, otherwise told and kept, for the service's own list decides.
pub(super) fn timezone(text: &str, reading: &mut Reading) -> Result<Value, Problem> {
    static ZONES: OnceLock<Vec<String>> = OnceLock::new();
    const RULE: &str = "a name of the IANA list, such as Pacific/Auckland";
    let compact: String = text.to_ascii_uppercase().replace(['(', ')'], "");
    let offset = compact.strip_prefix("GMT").or_else(|| compact.strip_prefix("UTC")).unwrap_or(&compact);
    if offset.starts_with(['+', '-']) && offset[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Problem::new(
            Code::CellTimezone,
            "an offset is not a time zone, as it does not know summer time: use a name such as Pacific/Auckland",
        )
        .rule(RULE)
        .error());
    }
    if let Ok(zone) = TimeZone::get(text) {
        return Ok(Value::Text(zone.iana_name().unwrap_or(text).to_owned()));
    }
    let zones = ZONES.get_or_init(|| jiff::tz::db().available().map(|name| name.to_string()).collect());
    let near = nearest(text, zones.iter().map(String::as_str));
    let mut problem = Problem::new(
        Code::CellTimezone,
        format!(
            "'{text}' is not in the IANA list of time zones; it is sent as it stands.{}",
            did_you_mean(text, zones.iter().map(String::as_str))
        ),
    )
    .rule(RULE);
    if let Some(best) = near.first() {
        problem = problem.suggest(*best);
    }
    reading.problems.push(problem);
    Ok(Value::Text(text.to_owned()))
}

/// What to do with a row.
pub(super) fn action(text: &str) -> Result<Value, Problem> {
    if text.eq_ignore_ascii_case("create") {
        return Ok(Value::Choice(0));
    }
    Err(Problem::new(
        Code::CellUnsupportedAction,
        "the only action for these rows is create: leave the cell blank or write create",
    )
    .rule("create")
    .suggest("create"))
}
