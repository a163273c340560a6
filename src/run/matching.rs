//! Which of the records a look-up returned is the one a row asks for. Searches of the service are partial
//! matches, so everything is compared again on our side, exactly.
//!
//! What follows from it before sending is in [`super::before`], after a lost answer in [`super::after`].

use serde_json::Value;

use crate::journal::{Candidate, Work};
use crate::model::id::RemoteId;
use crate::model::key::{self, Likeness};
use crate::model::kind::Kind;
use crate::model::record::Record;
use crate::service::{self, Call, Found};

/// Fields that tell records apart: one that the record has and the row does not is a difference.
const TELLING: [&str; 2] = ["reference", "identification"];

/// How a returned record relates to what a row asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Relation {
    /// The row's natural key, and equal in all that can be compared.
    Agrees,
    /// The row's natural key but for case, or trimmed or suffixed by the service; says what differs.
    Near(String),
    /// The row's natural key with other values; says what differs.
    Differs(String),
    /// Another record that the partial match returned.
    Unrelated,
}

/// What a row would send, for comparison.
pub(super) fn sent(work: &Work) -> Value {
    let call: Call = service::creation(&work.record, &work.links);
    call.body.unwrap_or(Value::Null)
}

/// Whether the service itself keeps the row's natural key unique, so that two records with it cannot be.
pub(super) fn key_is_unique(record: &Record) -> bool {
    match record {
        Record::Person(_) => true,
        Record::Device(device) => device.identification.is_some(),
        Record::Company(_) | Record::Site(_) => false,
    }
}

/// Relates one returned record to the row of `work`, whose body is `sent`.
pub(super) fn relate(work: &Work, sent: &Value, found: &Found) -> Relation {
    let returned = &found.raw;
    match work.kind {
        Kind::Person => {
            match text(returned, "username").map(|name| key::likeness(name, work.record.name())) {
                Some(Likeness::Equal) => compared(sent, returned),
                Some(Likeness::Near) => Relation::Near("username differs in case".to_owned()),
                Some(Likeness::Different) | None => Relation::Unrelated,
            }
        }
        Kind::Device => match mac(sent) {
            Some(ours) => match mac(returned) {
                Some(theirs) if theirs == ours => compared(sent, returned),
                _ => Relation::Unrelated,
            },
            None => by_name(sent, returned),
        },
        Kind::Site => match (text(sent, "reference"), text(returned, "reference")) {
            (Some(ours), Some(theirs)) if key::likeness(ours, theirs) == Likeness::Different => {
                Relation::Unrelated
            }
            _ => by_name(sent, returned),
        },
        Kind::Company => by_name(sent, returned),
    }
}

/// Relates by name within the company, for kinds that have no better key.
fn by_name(sent: &Value, returned: &Value) -> Relation {
    if let (Some(ours), Some(theirs)) = (text(sent, "companyId"), text(returned, "companyId"))
        && !ours.eq_ignore_ascii_case(theirs)
    {
        return Relation::Unrelated;
    }
    match (text(sent, "name"), text(returned, "name")) {
        (Some(ours), Some(theirs)) => match key::likeness(ours, theirs) {
            Likeness::Equal => compared(sent, returned),
            Likeness::Near => Relation::Near(format!("its name is '{theirs}'")),
            Likeness::Different => Relation::Unrelated,
        },
        _ => Relation::Unrelated,
    }
}

/// Compares everything that both sides have.
fn compared(sent: &Value, returned: &Value) -> Relation {
    let mut differences = Vec::new();
    collect_differences("", sent, returned, &mut differences);
    for field in TELLING {
        if let (None, Some(theirs)) = (text(sent, field), text(returned, field)) {
            differences.push(format!("{field} is '{theirs}', the row has none"));
        }
    }
    if differences.is_empty() { Relation::Agrees } else { Relation::Differs(differences.join("; ")) }
}

/// What a full record of the service says otherwise than the row, field by field; empty when it agrees.
pub(super) fn differences(sent: &Value, returned: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    collect_differences("", sent, returned, &mut differences);
    differences
}

fn collect_differences(at: &str, sent: &Value, returned: &Value, differences: &mut Vec<String>) {
    let (Some(ours), Some(theirs)) = (sent.as_object(), returned.as_object()) else { return };
    for (field, theirs) in theirs {
        let Some(ours) = ours.get(field) else { continue };
        let place = if at.is_empty() { field.clone() } else { format!("{at}.{field}") };
        let same = match (ours, theirs) {
            (_, Value::Null) => true,
            (Value::Object(_), Value::Object(_)) => {
                collect_differences(&place, ours, theirs, differences);
                true
            }
            (Value::String(ours), Value::String(theirs)) if field == "identification" => {
                key::mac_digits(ours) == key::mac_digits(theirs)
            }
            (Value::String(ours), Value::String(theirs)) if field.ends_with("Id") => {
                ours.eq_ignore_ascii_case(theirs)
            }
            (Value::String(ours), Value::String(theirs)) => key::likeness(ours, theirs) == Likeness::Equal,
            (Value::Number(ours), Value::Number(theirs)) => match (ours.as_f64(), theirs.as_f64()) {
                (Some(ours), Some(theirs)) => (ours - theirs).abs() < 1e-9,
                _ => ours == theirs,
            },
            (ours, theirs) => ours == theirs,
        };
        if !same {
            differences.push(format!("{place} is {theirs}, the row has {ours}"));
        }
    }
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn mac(value: &Value) -> Option<String> {
    text(value, "identification").and_then(key::mac_digits)
}

/// A returned record as shown to the person who decides.
pub(super) fn candidate(found: &Found, difference: &str) -> Candidate {
    let details: Vec<String> =
        ["companyName", "identification", "username", "email", "reference", "siteName"]
            .iter()
            .filter_map(|field| text(&found.raw, field).map(|value| format!("{field} {value}")))
            .collect();
    Candidate {
        id: found.id,
        name: found.name.clone().or_else(|| found.username.clone()),
        details: details.join(", "),
        difference: difference.to_owned(),
    }
}

/// Several returned records, for the person who decides.
pub(super) fn candidates(related: &[(&Found, Relation)]) -> Vec<Candidate> {
    let several = related.len() > 1;
    related
        .iter()
        .map(|(found, relation)| match relation {
            Relation::Near(difference) | Relation::Differs(difference) => candidate(found, difference),
            Relation::Agrees | Relation::Unrelated if several => candidate(found, "equal, as others are"),
            Relation::Agrees | Relation::Unrelated => candidate(found, "equal"),
        })
        .collect()
}

/// A returned record with the job of ours that owns it, if one does.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) found: Found,
    pub(super) owner: Option<crate::model::id::JobId>,
}

impl Seen {
    /// Pairs records with their owners.
    pub(super) fn pair(found: Vec<Found>, owners: &[(RemoteId, crate::model::id::JobId)]) -> Vec<Self> {
        found
            .into_iter()
            .map(|found| {
                let owner = found.id.and_then(|id| owners.iter().find(|(owned, _)| *owned == id));
                Self { owner: owner.map(|(_, job)| *job), found }
            })
            .collect()
    }
}
