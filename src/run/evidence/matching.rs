//! Compares the records that a look-up returned with the row that asked. Searches of the service are partial matches, so
//! everything is compared again on our side, exactly.
//!
//! What follows before sending, and after a lost answer, is in [`super::classify`].

use serde_json::Value;

use crate::journal::{Candidate, Work};
use crate::mistake::{self, Mistake};
use crate::model::id::{JobId, RemoteId};
use crate::model::key::{self, Likeness};
use crate::model::kind::Kind;
use crate::service::{self, Found};

/// Fields that tell records apart: one that only the record has, or only the row, is a difference.
const DISTINGUISHING: [&str; 2] = ["reference", "identification"];

/// Characters shown of a value.
const SHOWN: usize = 200;

/// How a returned record relates to what a row asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::run) enum RecordMatch {
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
pub(in crate::run) fn sent(work: &Work) -> Value {
    work.record().map_or(Value::Null, |record| service::creation_body(record, &work.links))
}

/// Whether the service itself keeps the row's natural key unique, so that two records with it cannot be.
pub(in crate::run) fn key_is_unique(work: &Work) -> bool {
    work.record().is_some_and(|record| record.kind().has_unique_key(record.has_mac()))
}

/// Relates one returned record to the row of `work`, whose body is `sent`.
pub(in crate::run) fn relate(work: &Work, sent: &Value, found: &Found) -> RecordMatch {
    let returned = &found.raw;
    match work.kind {
        Kind::Person => match text(returned, "username").map(|name| key::likeness(name, &work.name)) {
            Some(Likeness::Equal) => compared(sent, returned),
            Some(Likeness::Near) => RecordMatch::Near("username differs in case".to_owned()),
            Some(Likeness::Different) | None => RecordMatch::Unrelated,
        },
        Kind::Device => match mac(sent) {
            Some(ours) => match mac(returned) {
                Some(theirs) if theirs == ours => compared(sent, returned),
                _ => RecordMatch::Unrelated,
            },
            None => by_name(sent, returned),
        },
        Kind::Site => match (text(sent, "reference"), text(returned, "reference")) {
            (Some(ours), Some(theirs)) if key::likeness(ours, theirs) == Likeness::Different => {
                RecordMatch::Unrelated
            }
            _ => by_name(sent, returned),
        },
        Kind::Company => by_name(sent, returned),
        // It makes no record.
        Kind::Upkeep(_) => RecordMatch::Unrelated,
    }
}

/// Relates by name within the company, for kinds that have no better key.
fn by_name(sent: &Value, returned: &Value) -> RecordMatch {
    if is_of_another_company(sent, returned) {
        return RecordMatch::Unrelated;
    }
    match (text(sent, "name"), text(returned, "name")) {
        (Some(ours), Some(theirs)) => match key::likeness(ours, theirs) {
            _ if mistake::made(Mistake::PartialMatchIsEqual) && theirs.starts_with(ours) => {
                RecordMatch::Agrees
            }
            Likeness::Equal => compared(sent, returned),
            Likeness::Near => RecordMatch::Near(format!("its name is '{}'", shown(theirs))),
            Likeness::Different => RecordMatch::Unrelated,
        },
        _ => RecordMatch::Unrelated,
    }
}

/// Whether a returned record is said to lie below another company than the row's.
pub(super) fn is_of_another_company(sent: &Value, returned: &Value) -> bool {
    match (text(sent, "companyId"), text(returned, "companyId")) {
        (Some(ours), Some(theirs)) => !ours.eq_ignore_ascii_case(theirs),
        _ => false,
    }
}

/// Compares everything that both sides have.
fn compared(sent: &Value, returned: &Value) -> RecordMatch {
    let mut differences = Vec::new();
    collect_differences("", sent, returned, &mut differences);
    for field in DISTINGUISHING {
        match (text(sent, field), text(returned, field)) {
            (None, Some(theirs)) => differences.push(format!("{field} is '{theirs}', the row has none")),
            (Some(ours), None) => differences.push(format!("no {field} is shown, the row has '{ours}'")),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
    if differences.is_empty() { RecordMatch::Agrees } else { RecordMatch::Differs(differences.join("; ")) }
}

/// What a full record of the service says otherwise than the row, field by field; empty when it agrees.
pub(in crate::run) fn differences(sent: &Value, returned: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    collect_differences("", sent, returned, &mut differences);
    differences
}

/// Fields by which a record of one company is another one, not the same with other values.
const IDENTIFYING: [&str; 4] = ["username", "name", "identification", "reference"];

/// What a record that is said to be a row's says otherwise: first what makes it another record, then what may have
/// been changed since, or by the service.
pub(in crate::run) fn apart(sent: &Value, returned: &Value) -> (Vec<String>, Vec<String>) {
    let (mut another, mut changed) = (Vec::new(), Vec::new());
    let (Some(ours), Some(theirs)) = (sent.as_object(), returned.as_object()) else {
        return (vec!["it is not a record".to_owned()], changed);
    };
    for (field, theirs) in theirs {
        let Some(ours) = ours.get(field) else { continue };
        let one = |value: &Value| Value::Object([(field.clone(), value.clone())].into_iter().collect());
        let differences = differences(&one(ours), &one(theirs));
        let near = match (ours.as_str(), theirs.as_str()) {
            (Some(ours), Some(theirs)) => key::likeness(ours, theirs) != Likeness::Different,
            _ => false,
        };
        if (field == "companyId" || IDENTIFYING.contains(&field.as_str())) && !near {
            another.extend(differences);
        } else {
            changed.extend(differences);
        }
    }
    for field in DISTINGUISHING {
        if let (None, Some(theirs)) = (text(sent, field), text(returned, field)) {
            changed.push(format!("{field} is '{theirs}', the row has none"));
        }
    }
    (another, changed)
}

/// What a record is known by that a row of another one would send: a username, a name, a MAC address or a reference.
pub(in crate::run) fn other_identity<'r>(sent: &Value, returned: &'r Value) -> Option<&'r str> {
    let is_another = |theirs: &str, ours: &str| key::likeness(ours, theirs) == Likeness::Different;
    IDENTIFYING.into_iter().find_map(|field| {
        let (theirs, ours) = (text(returned, field)?, text(sent, field)?);
        is_another(theirs, ours).then_some(theirs)
    })
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
            let (theirs, ours) = (shown(&theirs.to_string()), shown(&ours.to_string()));
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

/// A value of the service, or of a row beside it, for people: its beginning where it is long.
fn shown(value: &str) -> String {
    service::clean(value, SHOWN)
}

/// A returned record as shown to the person who decides.
pub(in crate::run) fn candidate(found: &Found, difference: &str) -> Candidate {
    let details: Vec<String> =
        ["companyName", "identification", "username", "email", "reference", "siteName"]
            .iter()
            .filter_map(|field| text(&found.raw, field).map(|value| format!("{field} {}", shown(value))))
            .collect();
    Candidate {
        id: found.id,
        name: found.name.as_deref().or(found.username.as_deref()).map(shown),
        details: details.join(", "),
        difference: difference.to_owned(),
    }
}

/// Several returned records, for the person who decides.
pub(in crate::run) fn candidates(related: &[(&Found, RecordMatch)]) -> Vec<Candidate> {
    let several = related.len() > 1;
    related
        .iter()
        .map(|(found, relation)| match relation {
            RecordMatch::Near(difference) | RecordMatch::Differs(difference) => candidate(found, difference),
            RecordMatch::Agrees | RecordMatch::Unrelated if several => {
                candidate(found, "equal, as others are")
            }
            RecordMatch::Agrees | RecordMatch::Unrelated => candidate(found, "equal"),
        })
        .collect()
}

/// A returned record with the job of ours that owns it, if one does.
#[derive(Debug, Clone)]
pub(in crate::run) struct SeenRecord {
    pub(in crate::run) found: Found,
    pub(in crate::run) owner: Option<JobId>,
    /// The job that gives it another name, as a row of the same import or one that is not sent yet.
    pub(in crate::run) renamed_by: Option<JobId>,
}

impl SeenRecord {
    /// Pairs records with their owners, and with the jobs that rename them.
    pub(in crate::run) fn pair(
        found: Vec<Found>,
        owners: &[(RemoteId, JobId)],
        renamed: &[(RemoteId, JobId)],
    ) -> Vec<Self> {
        let job = |jobs: &[(RemoteId, JobId)], of: &Found| {
            jobs.iter().find(|(id, _)| of.id == Some(*id)).map(|(_, job)| *job)
        };
        found
            .into_iter()
            .map(|found| Self { owner: job(owners, &found), renamed_by: job(renamed, &found), found })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::tests::{OTHER, OURS, company, device, found, person, site};

    #[test]
    fn a_partial_match_is_compared_again_exactly() {
        let near = |what: &str| RecordMatch::Near(what.to_owned());
        let differs = |what: &str| RecordMatch::Differs(what.to_owned());
        let table = [
            (
                "site, equal",
                site("Depot 1", Some("D1")),
                json!({"companyId": OURS, "name": "Depot 1", "reference": "D1"}),
                RecordMatch::Agrees,
            ),
            ("site, longer name", site("Depot 1", None), json!({"name": "Depot 10"}), RecordMatch::Unrelated),
            (
                "site, another reference",
                site("Depot 1", Some("D1")),
                json!({"name": "Depot 1", "reference": "D2"}),
                RecordMatch::Unrelated,
            ),
            (
                "site, a reference we lack",
                site("Depot 1", None),
                json!({"name": "Depot 1", "reference": "D2"}),
                differs("reference is 'D2', the row has none"),
            ),
            (
                "site, no reference",
                site("Depot 1", Some("D1")),
                json!({"companyId": OURS, "name": "Depot 1", "reference": null}),
                differs("no reference is shown, the row has 'D1'"),
            ),
            (
                "site, another company",
                site("Depot 1", None),
                json!({"companyId": OTHER, "name": "Depot 1"}),
                RecordMatch::Unrelated,
            ),
            (
                "site, folded by the service",
                site("Depot 1", None),
                json!({"name": "DEPOT 1"}),
                near("its name is 'DEPOT 1'"),
            ),
            ("company, listed by name", company("Acme"), json!({"name": "Acme"}), RecordMatch::Agrees),
            (
                "company, white space",
                company("Acme Ltd"),
                json!({"name": " Acme  Ltd "}),
                RecordMatch::Agrees,
            ),
            (
                "person, equal",
                person("ann@acme.example"),
                json!({"username": "ann@acme.example", "firstName": "Ann"}),
                RecordMatch::Agrees,
            ),
            (
                "person, another",
                person("ann@acme.example"),
                json!({"username": "joanna@acme.example"}),
                RecordMatch::Unrelated,
            ),
            (
                "person, other name",
                person("ann@acme.example"),
                json!({"username": "ann@acme.example", "firstName": "Bob"}),
                differs("firstName is \"Bob\", the row has \"Ann\""),
            ),
            (
                "device, other notation",
                device("Till", Some("00:1a:2b:3c:4d:5e")),
                json!({"name": "Till", "identification": "001A.2B3C.4D5E"}),
                RecordMatch::Agrees,
            ),
            (
                "device, MAC of another company",
                device("Till", Some("00:1a:2b:3c:4d:5e")),
                json!({"companyId": OTHER, "name": "Till", "identification": "00:1a:2b:3c:4d:5e"}),
                differs(&format!("companyId is \"{OTHER}\", the row has \"{OURS}\"")),
            ),
            (
                "device, same name, other MAC",
                device("Till", Some("00:1a:2b:3c:4d:5e")),
                json!({"name": "Till", "identification": "00:1a:2b:3c:4d:5f"}),
                RecordMatch::Unrelated,
            ),
            (
                "device without a MAC",
                device("Till", None),
                json!({"companyId": OURS, "name": "Till"}),
                RecordMatch::Agrees,
            ),
            (
                "device, a MAC we lack",
                device("Till", None),
                json!({"name": "Till", "identification": "00:1a:2b:3c:4d:5e"}),
                differs("identification is '00:1a:2b:3c:4d:5e', the row has none"),
            ),
            (
                "absent fields prove nothing",
                device("Till", None),
                json!({"name": "Till", "phoneNumber": null}),
                RecordMatch::Agrees,
            ),
        ];
        for (case, work, returned, expected) in table {
            assert_eq!(relate(&work, &sent(&work), &found(returned)), expected, "{case}");
        }
    }

    #[test]
    fn a_person_is_shown_the_beginning_of_a_long_value() {
        let long = "x".repeat(100_000);
        let (sent, returned) = (json!({"label": "ours"}), json!({"label": &long, "reference": &long}));
        let shown = candidate(&Found { name: Some(long), raw: returned.clone(), ..Found::default() }, "");
        assert_eq!(shown.name.map(|name| name.chars().count()), Some(SHOWN));
        assert!(shown.details.len() < 2 * SHOWN, "{}", shown.details);
        assert!(differences(&sent, &returned)[0].len() < 2 * SHOWN);
    }

    #[test]
    fn another_name_or_company_makes_another_record_and_other_values_do_not() {
        let work = site("Depot", Some("D1"));
        let table = [
            (json!({"companyId": OURS, "name": "Depot", "reference": "D1"}), 0, 0),
            (json!({"companyId": OTHER, "name": "Depot", "reference": "D1"}), 1, 0),
            (json!({"companyId": OURS, "name": "Depot 2", "reference": "D2"}), 2, 0),
            (json!({"companyId": OURS, "name": "DEPOT", "reference": "D1"}), 0, 1),
            (json!({"companyId": OURS, "name": "Depot", "phoneNumber": "+64 9 555 9999"}), 0, 1),
        ];
        for (returned, another, changed) in table {
            let (found_another, found_changed) = apart(&sent(&work), &returned);
            assert_eq!((found_another.len(), found_changed.len()), (another, changed), "{returned}");
        }
    }

    #[test]
    fn a_full_record_is_compared_field_by_field_down_into_the_address() {
        let work = company("Acme");
        let mut returned = sent(&work);
        assert_eq!(differences(&sent(&work), &returned), Vec::<String>::new());
        returned["address"]["city"] = json!("Wellington");
        assert_eq!(
            differences(&sent(&work), &returned),
            ["address.city is \"Wellington\", the row has \"Auckland\""]
        );
    }
}
