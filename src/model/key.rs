//! Natural keys: what makes two rows, or a row and a record, the same thing.
//!
//! Companies are known by name below their parent, sites by name and reference in their company, people by
//! username, devices by MAC or else by name in their company. Comparison is exact after NFC and trimming;
//! equality only without regard to case is "near" and never enough to adopt a record.

use unicode_normalization::UnicodeNormalization;

use super::action::Action;
use super::id::JobId;
use super::kind::Kind;
use super::record::{Link, Record, Role, Target, target_of};

/// Separates the parts of a written natural key; no trimmed cell can contain it.
const SEPARATOR: char = '\u{1f}';

/// A name as names are compared: NFC, trimmed, inner white space collapsed.
pub fn comparable(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !result.is_empty() {
            result.push(' ');
        }
        if word.is_ascii() {
            result.push_str(word);
        } else {
            result.extend(word.nfc());
        }
    }
    result
}

/// Hexadecimal digits of a MAC address.
const MAC_DIGITS: usize = 12;

/// How two names compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// The same after NFC and trimming.
    Equal,
    /// The same but for case: a person must look.
    Near,
    /// Different.
    Different,
}

/// Compares two names.
pub fn likeness(left: &str, right: &str) -> Likeness {
    let (left, right) = (comparable(left), comparable(right));
    if left == right {
        Likeness::Equal
    } else if left.to_lowercase() == right.to_lowercase() {
        Likeness::Near
    } else {
        Likeness::Different
    }
}

/// The twelve hexadecimal digits of a MAC address in lower case, whatever its separators; `None` for anything else.
pub fn mac_digits(text: &str) -> Option<String> {
    let mut digits = String::with_capacity(MAC_DIGITS);
    for c in text.chars().filter(|c| !matches!(c, ':' | '-' | '.' | ' ')) {
        if digits.len() == MAC_DIGITS || !c.is_ascii_hexdigit() {
            return None;
        }
        digits.push(c.to_ascii_lowercase());
    }
    (digits.len() == MAC_DIGITS).then_some(digits)
}

/// The written natural key of a record with its links, unique within one account and kind.
///
/// A link to a record of the journal is written as its job number, one to a foreign record as its id.
pub fn natural_key(record: &Record, links: &[Link]) -> String {
    OwnKey::of(record).under(links)
}

/// What a record has of its natural key, as long as it is not known what it is linked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnKey {
    /// All of it.
    Whole(String),
    /// What follows its owner, which has this role.
    InOwner(Role, String),
}

impl OwnKey {
    /// That of a record.
    pub fn of(record: &Record) -> Self {
        match record {
            Record::Company(company) => Self::InOwner(Role::Parent, comparable(&company.name)),
            Record::Site(site) => {
                let reference = comparable(site.reference.as_deref().unwrap_or_default());
                Self::InOwner(Role::Company, join(&[&comparable(&site.name), &reference]))
            }
            Record::Person(person) => Self::Whole(comparable(&person.username)),
            Record::Device(device) => match device.identification.as_deref().and_then(mac_digits) {
                Some(digits) => Self::Whole(digits),
                None => Self::InOwner(Role::Company, comparable(&device.name)),
            },
        }
    }

    /// The whole natural key of a record with these links.
    pub fn under(self, links: &[Link]) -> String {
        match self {
            Self::Whole(key) => key,
            Self::InOwner(role, own) => join(&[&owner(links, role), &own]),
        }
    }
}

/// The written natural key of an upkeep row, unique within one account and kind: the record it is about, and what of it.
pub fn upkeep_key(kind: Kind, action: &Action, links: &[Link]) -> String {
    let role = Role::owner(action.about(kind));
    let record = upkeep_record(kind, action, links);
    join(&[role.as_str(), &record, &comparable(&action.subject())])
}

/// The natural key of the row that updates the record which this job of this kind makes.
pub fn update_of(kind: Kind, job: JobId) -> String {
    join(&[Role::owner(kind).as_str(), &record_of(job), ""])
}

/// The natural key of the row that updates the record which the row with this natural key is about.
pub fn of_update(upkeep_key: &str) -> &str {
    upkeep_key.match_indices(SEPARATOR).nth(1).map_or(upkeep_key, |(at, _)| &upkeep_key[..=at])
}

/// Between which the natural keys are of rows about this label of any interface of the record which the row with this natural
/// key is about.
pub fn of_label(upkeep_key: &str, label: &str) -> (String, String) {
    let label = format!("{}{}", of_update(upkeep_key), comparable(label));
    (format!("{label} ("), format!("{label} )"))
}

/// The natural key of an upkeep row without what stands behind it where another row has it now ([`beside`]).
pub fn without_number(upkeep_key: &str) -> &str {
    upkeep_key.match_indices(SEPARATOR).nth(2).map_or(upkeep_key, |(at, _)| &upkeep_key[..at])
}

/// The natural key of an upkeep row beside another one about the same, which has its own; `number` is that of no other.
pub fn beside(upkeep_key: &str, number: &str) -> String {
    join(&[upkeep_key, number])
}

/// The record that an upkeep row is about, as natural keys have it.
pub fn upkeep_record(kind: Kind, action: &Action, links: &[Link]) -> String {
    owner(links, Role::owner(action.about(kind)))
}

/// What a row is known by among those with the same owner: its name, of a site with its reference; `None` for people, who
/// have no owner in their natural key, and without a name.
pub fn key_in_owner(kind: Kind, name: Option<&str>, reference: Option<&str>) -> Option<String> {
    let name = name.map(comparable).filter(|name| !name.is_empty())?;
    match kind {
        Kind::Company | Kind::Device => Some(name),
        Kind::Site => Some(join(&[&name, &comparable(reference.unwrap_or_default())])),
        Kind::Person | Kind::Upkeep(_) => None,
    }
}

/// The first and the last of what rows with a name, as names are compared, may be known by among those with the same owner.
pub fn keys_with_name(kind: Kind, comparable_name: &str) -> (String, String) {
    let name = comparable_name.to_owned();
    match kind {
        Kind::Site => (join(&[&name, ""]), join(&[&name, "\u{10ffff}"])),
        Kind::Company | Kind::Device | Kind::Person | Kind::Upkeep(_) => (name.clone(), name),
    }
}

/// A name below an owner, which are known by these texts.
pub fn below(owner: &str, name: &str) -> String {
    join(&[owner, name])
}

fn join(parts: &[&str]) -> String {
    parts.join(&SEPARATOR.to_string())
}

/// The record that a job makes.
pub fn record_of(job: JobId) -> String {
    format!("#{job}")
}

fn owner(links: &[Link], role: Role) -> String {
    match target_of(links, role) {
        Some(Target::Job(job)) => record_of(job),
        Some(Target::Remote(id)) => id.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_after_nfc_and_trimming_and_case_alone_is_only_near() {
        let table = [
            ("Acme", "Acme", Likeness::Equal),
            (" Acme  Ltd ", "Acme Ltd", Likeness::Equal),
            ("Cafe\u{301}", "Caf\u{e9}", Likeness::Equal),
            ("Acme\u{a0}Ltd", "Acme Ltd", Likeness::Equal),
            ("ACME", "Acme", Likeness::Near),
            ("Site 1", "Site 10", Likeness::Different),
        ];
        for (left, right, expected) in table {
            assert_eq!(likeness(left, right), expected, "{left:?} and {right:?}");
        }
    }

    #[test]
    fn a_mac_is_twelve_hexadecimal_digits_however_they_are_separated() {
        let table = [
            ("00:1A:2B:3C:4D:5E", Some("001a2b3c4d5e")),
            ("001a.2b3c.4d5e", Some("001a2b3c4d5e")),
            ("00-1a-2b-3c-4d-5e", Some("001a2b3c4d5e")),
            ("001A2B3C4D5", None),
            ("00:1A:2B:3C:4D:5G", None),
        ];
        for (text, expected) in table {
            assert_eq!(mac_digits(text).as_deref(), expected, "{text}");
        }
    }
}
