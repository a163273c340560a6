//! Reads what look-ups answer into one form, tolerant of missing fields and of nothing else.
//!
//! A malformed answer is an error, never an empty list: "not there" must be something the service said. Comparing
//! with what is wanted is left to the run. The list of time zones is read here as well, all of it or none.

use serde_json::{Map, Value};

use super::envelope::Entries;
use super::judge::parse_id;
use super::reader::ListAnswer;
use super::wording::clean;
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::model::zone::ZoneList;

/// The most entries of one answer.
const MOST: usize = 200_000;

/// Characters shown of something that is no name of a zone.
const SHOWN: usize = 60;

/// Lengths of lists that look like a page of a longer one: what such a list does not show is not known absent.
const SUSPECTED_PAGES: [usize; 8] = [10, 20, 25, 50, 100, 200, 500, 1000];

/// Whether a list of this length may be one page of a longer one.
pub fn may_be_a_page(length: usize) -> bool {
    SUSPECTED_PAGES.contains(&length)
}

/// One entry of an answer: the fields of specification 2.3 to 2.8 that help to tell records apart. Absent and `null`
/// are the same; texts are as the service wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the fields are those of specification 2.3 to 2.8, by their names")]
pub struct Found {
    pub id: Option<RemoteId>,
    pub name: Option<String>,
    /// `companyId`.
    pub company: Option<RemoteId>,
    pub company_name: Option<String>,
    /// `siteId`.
    pub site: Option<RemoteId>,
    pub site_name: Option<String>,
    /// The MAC address of a device.
    pub identification: Option<String>,
    pub username: Option<String>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub email: Option<String>,
    pub phone_number: Option<String>,
    pub reference: Option<String>,
    pub label: Option<String>,
    /// `cpeId`: the device that a status or state is of (specification 2.10).
    pub device: Option<RemoteId>,
    /// `normalizedName` of an interface.
    pub normalized_name: Option<String>,
    pub key: Option<String>,
    pub value: Option<String>,
    /// The entry as it was answered, to compare with what was sent.
    pub raw: Value,
}

impl Found {
    /// Whether it has no field that a record would have.
    fn is_blank(&self) -> bool {
        Self { raw: Value::Null, ..self.clone() } == Self::default()
    }
}

/// Reads the `body` of a successful look-up: an array is all its entries, an object is one.
///
/// # Errors
///
/// Says in words why the answer proves nothing: no data, entries that are not records, fields of the wrong type, or
/// an object without an id where `operation` answers a list (it may be a page of one).
pub fn found(operation: Operation, body: &Value) -> Result<Vec<Found>, String> {
    match body {
        Value::Array(entries) if entries.len() > MOST => {
            Err(format!("the answer has more than {MOST} entries"))
        }
        Value::Array(entries) => {
            entries.iter().cloned().enumerate().map(|(index, entry)| of_entry(index, entry)).collect()
        }
        Value::Object(fields) => {
            let found = one(fields.clone())?;
            if found.is_blank() || (answers_list(operation) && found.id.is_none()) {
                return Err("the answer is neither a list nor a record".to_owned());
            }
            Ok(vec![found])
        }
        Value::Null => Err("the answer holds no data".to_owned()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Err("the answer is not a record".to_owned()),
    }
}

fn of_entry(index: usize, entry: Value) -> Result<Found, String> {
    match entry {
        Value::Object(fields) => one(fields).map_err(|why| format!("entry {}: {why}", index + 1)),
        _ => Err(format!("entry {} is not a record", index + 1)),
    }
}

/// The records of an answer, one by one: all of them were read before the first is given.
#[derive(Debug)]
pub struct Records {
    length: usize,
    /// Those of a list.
    listed: Option<Entries>,
    /// Those of any other answer.
    others: std::vec::IntoIter<Found>,
}

impl Records {
    /// Reads what a question for a list is answered with, as [`found`] does.
    ///
    /// # Errors
    ///
    /// As [`found`].
    pub fn of(operation: Operation, answer: ListAnswer) -> Result<Self, String> {
        match answer {
            ListAnswer::List(list) if list.len() > MOST => {
                Err(format!("the answer has more than {MOST} entries"))
            }
            ListAnswer::List(list) => {
                list.entries().enumerate().try_for_each(|(index, entry)| of_entry(index, entry).map(drop))?;
                Ok(Self { length: list.len(), listed: Some(list.entries()), others: Vec::new().into_iter() })
            }
            ListAnswer::Other(body) => {
                let others = found(operation, &body)?;
                Ok(Self { length: others.len(), listed: None, others: others.into_iter() })
            }
        }
    }

    /// How many there are in all.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl Iterator for Records {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        match &mut self.listed {
            // That each of them is a record was found out before.
            Some(entries) => entries.next().and_then(|entry| of_entry(0, entry).ok()),
            None => self.others.next(),
        }
    }
}

/// Whether the specification says that the operation answers an array.
fn answers_list(operation: Operation) -> bool {
    let name = operation.name();
    name.starts_with("list")
        || (name.starts_with("find") && name.ends_with("ByName"))
        || operation == Operation::GetChildCompanies
}

fn one(fields: Map<String, Value>) -> Result<Found, String> {
    let found = Found {
        id: id(&fields, "id")?,
        name: text(&fields, "name")?,
        company: id(&fields, "companyId")?,
        company_name: text(&fields, "companyName")?,
        site: id(&fields, "siteId")?,
        site_name: text(&fields, "siteName")?,
        identification: text(&fields, "identification")?,
        username: text(&fields, "username")?,
        first_name: text(&fields, "firstName")?,
        last_name: text(&fields, "lastName")?,
        email: text(&fields, "email")?,
        phone_number: text(&fields, "phoneNumber")?,
        reference: text(&fields, "reference")?,
        label: text(&fields, "label")?,
        device: id(&fields, "cpeId")?,
        normalized_name: text(&fields, "normalizedName")?,
        key: text(&fields, "key")?,
        value: text(&fields, "value")?,
        raw: Value::Null,
    };
    Ok(Found { raw: Value::Object(fields), ..found })
}

fn id(fields: &Map<String, Value>, field: &str) -> Result<Option<RemoteId>, String> {
    match text(fields, field)? {
        None => Ok(None),
        Some(text) => match parse_id(&text) {
            Some(id) => Ok(Some(id)),
            None => Err(format!("{field} '{}' is not an id", clean(&text, 80))),
        },
    }
}

fn text(fields: &Map<String, Value>, field: &str) -> Result<Option<String>, String> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{field} is not a text")),
    }
}

/// Reads the `body` of a successful answer to `listTimeZones`, had at `asked_at`.
///
/// # Errors
///
/// Says in words why it is not the whole list: what is not in it must be something the service does not have.
pub fn time_zones(body: &Value, asked_at: Moment) -> Result<ZoneList, String> {
    let Value::Array(entries) = body else { return Err("the answer is not a list".to_owned()) };
    if entries.is_empty() {
        return Err("the answer is an empty list".to_owned());
    }
    if entries.len() > ZoneList::MOST {
        return Err(format!("the answer has more than {} entries", ZoneList::MOST));
    }
    if may_be_a_page(entries.len()) {
        return Err(format!("the answer has {} entries, which may be a page of more", entries.len()));
    }
    let id = |(entry, at): (&Value, usize)| match entry.get("zoneId") {
        Some(Value::String(id)) => Ok(id.clone()),
        Some(other) => {
            Err(format!("the zoneId of entry {at} is no text: {}", clean(&other.to_string(), SHOWN)))
        }
        None => Err(format!("entry {at} has no zoneId")),
    };
    let ids = entries.iter().zip(1..).map(id).collect::<Result<Vec<_>, _>>()?;
    ZoneList::new(ids, asked_at).ok_or_else(|| "the answer has a zoneId that is no name".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str = "6f2b6f0a-0000-4000-8000-000000000001";

    #[test]
    fn entries_are_read_with_whatever_fields_they_have() {
        let id = parse_id(ID);
        let table = [
            (Operation::GetChildCompanies, json!([]), vec![]),
            (
                Operation::GetChildCompanies,
                json!([{"id": ID, "name": "Acme"}, {"id": null, "name": "Beta", "other": [1]}]),
                vec![
                    Found { id, name: Some("Acme".into()), ..Found::default() },
                    Found { name: Some("Beta".into()), ..Found::default() },
                ],
            ),
            (
                Operation::GetDeviceByMac,
                json!({"id": ID, "companyId": ID, "companyName": "A", "name": "Till", "identification": "aa"}),
                vec![Found {
                    id,
                    company: id,
                    company_name: Some("A".into()),
                    name: Some("Till".into()),
                    identification: Some("aa".into()),
                    ..Found::default()
                }],
            ),
            (
                Operation::GetPersonByUsername,
                json!([{"username": "a@b", "firstName": "A", "lastName": "B", "email": "e"}]),
                vec![Found {
                    username: Some("a@b".into()),
                    first_name: Some("A".into()),
                    last_name: Some("B".into()),
                    email: Some("e".into()),
                    ..Found::default()
                }],
            ),
            (
                // A text as long as a cell is must not hide the records beside it.
                Operation::ListPeople,
                json!([{"username": "x".repeat(100_000)}, {"username": "b"}]),
                vec![
                    Found { username: Some("x".repeat(100_000)), ..Found::default() },
                    Found { username: Some("b".into()), ..Found::default() },
                ],
            ),
            (
                Operation::ListDeviceMetadata,
                json!([{"key": "k", "value": "v"}]),
                vec![Found { key: Some("k".into()), value: Some("v".into()), ..Found::default() }],
            ),
            (
                Operation::ListPeople,
                json!({"id": ID, "username": "a"}),
                vec![Found { id, username: Some("a".into()), ..Found::default() }],
            ),
        ];
        for (operation, body, expected) in table {
            let mut entries = found(operation, &body).expect("a readable answer");
            for entry in &mut entries {
                assert!(entry.raw.is_object(), "{operation} {body}");
                entry.raw = Value::Null;
            }
            assert_eq!(entries, expected, "{operation} {body}");
        }
    }

    #[test]
    fn a_malformed_answer_is_never_an_empty_list() {
        let many: Vec<Value> = vec![json!({}); MOST + 1];
        let table = [
            (Operation::ListPeople, json!(null)),
            (Operation::ListPeople, json!("none")),
            (Operation::ListPeople, json!(0)),
            (Operation::ListPeople, json!(false)),
            (Operation::ListPeople, json!({})),
            (Operation::ListPeople, json!({"items": [], "total": 0})),
            (Operation::FindSitesByName, json!({"name": "page"})),
            (Operation::GetPersonByUsername, json!({})),
            (Operation::ListPeople, json!([null])),
            (Operation::ListPeople, json!([[]])),
            (Operation::ListPeople, json!(["a"])),
            (Operation::ListPeople, json!([{"id": "17"}])),
            (Operation::ListPeople, json!([{"id": 17}])),
            (Operation::ListPeople, json!([{"id": "00000000-0000-0000-0000-000000000000"}])),
            (Operation::FindDevicesByName, json!([{"id": ID, "companyId": "x"}])),
            (Operation::FindDevicesByName, json!([{"id": ID, "name": {"en": "Till"}}])),
            (Operation::FindDevicesByName, Value::Array(many)),
        ];
        for (operation, body) in table {
            assert!(
                found(operation, &body).is_err(),
                "{operation} {}",
                &body.to_string()[..20.min(body.to_string().len())]
            );
        }
    }

    #[test]
    fn the_list_is_read_whole_or_not_at_all() {
        let zone = |id: &str| json!({"zoneId": id, "name": "a name", "region": "a region"});
        let whole = json!([zone("Pacific/Auckland"), zone("Asia/Tokyo"), {"zoneId": "UTC", "more": 1}]);
        let list = time_zones(&whole, Moment::from_millis(7)).unwrap();
        assert_eq!(list.ids(), ["Asia/Tokyo", "Pacific/Auckland", "UTC"]);
        assert_eq!(list.asked_at(), Moment::from_millis(7));

        let many = |count: usize| Value::Array((0..count).map(|n| zone(&format!("Zone/{n}"))).collect());
        for (body, why) in [
            (json!(null), "the answer is not a list"),
            (json!({"zones": []}), "the answer is not a list"),
            (json!([]), "the answer is an empty list"),
            (json!([zone("UTC"), "Asia/Tokyo"]), "entry 2 has no zoneId"),
            (json!([zone("UTC"), {"zoneId": 5}]), "the zoneId of entry 2 is no text: 5"),
            (json!([zone("UTC"), zone("")]), "the answer has a zoneId that is no name"),
            (many(50), "the answer has 50 entries, which may be a page of more"),
            (many(ZoneList::MOST + 1), "the answer has more than 5000 entries"),
        ] {
            assert_eq!(time_zones(&body, Moment::default()), Err(why.to_owned()));
        }
        assert_eq!(time_zones(&many(51), Moment::default()).unwrap().ids().len(), 51);
    }
}
