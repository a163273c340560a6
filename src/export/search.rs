//! Searches for what exists by name, MAC address, username or id, by the operations that this profile can reach.
//!
//! Searches of the service are partial matches (specification 4.2, 4.5, 4.8); which records match exactly is found out here.
//! Where a search cannot be reached, a list is read and compared here instead.

use serde_json::Value;

use crate::model::id::RemoteId;
use crate::model::key::{Likeness, comparable, likeness, mac_digits};
use crate::model::operation::Operation;
use crate::model::words::words;
use crate::service::{Call, Found, ReadError, ServiceReader, found, may_be_a_page};

words! {
    /// What can be searched for.
    pub enum Sought: plural {
        /// Companies, by name.
        Companies = "companies",
        /// Sites, by name.
        Sites = "sites",
        /// Devices, by name or MAC address.
        Devices = "devices",
        /// People, by username; in a company by name as well.
        People = "people",
        /// The enterprise templates of a device.
        Templates = "templates",
        /// The VPN clouds of a device.
        Clouds = "clouds",
    }
}

impl Sought {
    /// One of them.
    pub const fn singular(self) -> &'static str {
        match self {
            Self::Companies => "company",
            Self::Sites => "site",
            Self::Devices => "device",
            Self::People => "person",
            Self::Templates => "template",
            Self::Clouds => "cloud",
        }
    }

    /// From its word, singular or plural.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|sought| sought.plural() == word || sought.singular() == word)
    }

    /// The operation that gives a record by its id; none for what belongs to a device.
    const fn by_id(self) -> Option<Operation> {
        match self {
            Self::Companies => Some(Operation::GetCompany),
            Self::Sites => Some(Operation::GetSite),
            Self::Devices => Some(Operation::GetDevice),
            Self::People => Some(Operation::GetPerson),
            Self::Templates | Self::Clouds => None,
        }
    }
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What kind of record.
    pub sought: Sought,
    /// Its name or a part of it, its MAC address, its username or its id; everything within the limits without it.
    pub text: Option<String>,
    /// Only records of this company; of companies, those directly below it.
    pub company: Option<RemoteId>,
    /// The device whose templates or clouds are meant.
    pub device: Option<RemoteId>,
}

/// A record that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The record.
    pub record: Found,
    /// Whether what was searched for is exactly its name, MAC address, username or id.
    pub exact: bool,
    /// The operations that show it.
    pub shown_by: Vec<Operation>,
}

/// What a search came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResult {
    /// The records, exact matches first, then by name.
    pub hits: Vec<Hit>,
    /// The operations that answered.
    pub asked: Vec<Operation>,
    /// Operations that would have been asked first, or as well, and cannot be reached.
    pub unavailable: Vec<Operation>,
    /// Lists that may be one page of a longer one: the operation and how many entries it gave.
    pub perhaps_pages: Vec<(Operation, usize)>,
}

/// One way to ask.
struct Way {
    operation: Operation,
    values: Vec<String>,
    /// Whether the entries are compared here: the operation lists more than what is searched for.
    compared_here: bool,
}

impl Way {
    fn search(operation: Operation, values: impl IntoIterator<Item = String>) -> Self {
        Self { operation, values: values.into_iter().collect(), compared_here: false }
    }

    fn list(operation: Operation, values: impl IntoIterator<Item = String>) -> Self {
        Self { compared_here: true, ..Self::search(operation, values) }
    }
}

impl Query {
    /// Whether what is sought is named by a value that names it alone: an id, or the MAC address of a device.
    pub fn is_whole(&self) -> bool {
        self.text.as_deref().is_some_and(|text| {
            as_id(text).is_some() || (self.sought == Sought::Devices && mac_digits(text).is_some())
        })
    }
}

/// Ways of which the first that can be reached is asked.
type Ways = Vec<Way>;

/// What is asked for a query: of each list of ways one.
fn questions(query: &Query) -> Vec<Ways> {
    let Query { sought, text, company, device } = query;
    let text = text.as_deref();
    let company = company.map(|id| id.to_string());
    let device = device.map(|id| id.to_string());
    if let (Some(id), Some(operation)) = (text.and_then(as_id), sought.by_id()) {
        return vec![vec![Way::search(operation, [id.to_string()])]];
    }
    let named = |operation| {
        text.map(|text| Way::search(operation, [text.to_owned()].into_iter().chain(company.clone())))
    };
    let mut questions = Vec::new();
    match sought {
        Sought::Companies => questions.push(match &company {
            Some(company) => vec![Way::list(Operation::GetChildCompanies, [company.clone()])],
            None => named(Operation::FindCompaniesByName)
                .into_iter()
                .chain([Way::list(Operation::ListCompanies, [])])
                .collect(),
        }),
        Sought::Sites => questions.push(
            named(Operation::FindSitesByName)
                .into_iter()
                .chain([Way::list(Operation::ListSites, [])])
                .collect(),
        ),
        Sought::Devices => {
            if let Some(digits) = text.and_then(mac_digits) {
                let pairs: Vec<&str> = (0..6).map(|n| &digits[2 * n..2 * n + 2]).collect();
                let mac = pairs.join(":");
                questions.push(vec![
                    Way::search(Operation::GetDeviceByMac, [mac]),
                    Way::list(Operation::ListDevices, []),
                ]);
            }
            questions.push(
                named(Operation::FindDevicesByName)
                    .into_iter()
                    .chain([Way::list(Operation::ListDevices, [])])
                    .collect(),
            );
        }
        Sought::People => {
            let username = text.filter(|text| is_username(text));
            questions.extend(
                username.map(|text| vec![Way::search(Operation::GetPersonByUsername, [text.to_owned()])]),
            );
            questions.extend(company.map(|company| vec![Way::list(Operation::ListPeople, [company])]));
        }
        Sought::Templates => {
            let of = |operation| Way::list(operation, device.clone());
            questions.push(vec![
                of(Operation::ListAssignableTemplates),
                of(Operation::ListOwnAssignableTemplates),
            ]);
            questions.push(vec![of(Operation::ListAssignedTemplates)]);
        }
        Sought::Clouds => {
            for operation in [Operation::ListJoinableVpnClouds, Operation::ListDeviceVpnClouds] {
                questions.push(vec![Way::list(operation, device.clone())]);
            }
        }
    }
    questions
}

/// Searches.
///
/// # Errors
///
/// [`ReadError::Unavailable`] when no operation that could answer can be reached, and whatever keeps one from answering
/// but that there is no such record.
pub async fn search(reader: &ServiceReader, query: &Query) -> Result<SearchResult, ReadError> {
    let mut result = SearchResult::default();
    let mut missing = None;
    for ways in questions(query) {
        for way in ways {
            // One list may answer several questions.
            if result.asked.contains(&way.operation) {
                break;
            }
            match reader.read(Call::reading(way.operation, way.values.clone())).await {
                Ok(body) => {
                    result.take(query, &way, &body)?;
                    break;
                }
                Err(ReadError::NotFound(operation, words)) => {
                    // Of a company or a device that is not there nothing can be listed.
                    if way.compared_here {
                        return Err(ReadError::NotFound(operation, words));
                    }
                    result.asked.push(way.operation);
                    break;
                }
                Err(error @ ReadError::Unavailable(operation, _)) => {
                    result.unavailable.push(operation);
                    missing.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
    }
    match missing {
        Some(error) if result.asked.is_empty() => Err(error),
        Some(_) | None => {
            result.hits.sort_by_cached_key(|hit| {
                (!hit.exact, comparable(&shown_name(&hit.record)).to_lowercase(), hit.record.id)
            });
            Ok(result)
        }
    }
}

impl SearchResult {
    fn take(&mut self, query: &Query, way: &Way, body: &Value) -> Result<(), ReadError> {
        self.asked.push(way.operation);
        let entries = found(way.operation, body).map_err(|why| ReadError::Failed(way.operation, why))?;
        if body.is_array() && may_be_a_page(entries.len()) {
            self.perhaps_pages.push((way.operation, entries.len()));
        }
        for record in entries {
            let elsewhere = query.company.is_some_and(|company| {
                record.company.is_some_and(|of| of != company) && query.sought != Sought::Companies
            });
            let matches = query.text.as_deref().is_none_or(|text| contains(&record, text));
            if elsewhere || (way.compared_here && !matches) {
                continue;
            }
            let exact = query.text.as_deref().is_some_and(|text| is_exactly(&record, text));
            let known =
                self.hits.iter_mut().find(|hit| hit.record.id.is_some() && hit.record.id == record.id);
            match known {
                Some(hit) => hit.shown_by.push(way.operation),
                None => self.hits.push(Hit { record, exact, shown_by: vec![way.operation] }),
            }
        }
        Ok(())
    }
}

/// Whether a text can be a username (specification 2.4).
pub fn is_username(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '@'))
}

/// An id as people copy it: with or without hyphens and braces, in any case.
pub fn as_id(text: &str) -> Option<RemoteId> {
    let bare = text.trim().trim_start_matches("id:");
    RemoteId::try_parse(bare).ok().filter(|id| !id.is_nil())
}

/// What a record is called: its name, of a person the given and the family name.
pub fn shown_name(record: &Found) -> String {
    match (&record.name, &record.first_name, &record.last_name) {
        (Some(name), _, _) => name.clone(),
        (None, first, last) => {
            let parts: Vec<&str> = [first, last].into_iter().flatten().map(String::as_str).collect();
            parts.join(" ")
        }
    }
}

/// The texts of a record that a search looks at.
fn searched(record: &Found) -> Vec<String> {
    let fields = [&record.username, &record.email, &record.identification, &record.reference];
    let texts = fields.into_iter().flatten().cloned();
    [shown_name(record)].into_iter().chain(texts).filter(|text| !text.is_empty()).collect()
}

fn contains(record: &Found, text: &str) -> bool {
    let part = comparable(text).to_lowercase();
    is_exactly(record, text)
        || searched(record).iter().any(|whole| comparable(whole).to_lowercase().contains(&part))
}

fn is_exactly(record: &Found, text: &str) -> bool {
    let mac = || {
        mac_digits(text)
            .filter(|digits| record.identification.as_deref().and_then(mac_digits).as_ref() == Some(digits))
    };
    (as_id(text).is_some() && as_id(text) == record.id)
        || likeness(&shown_name(record), text) == Likeness::Equal
        || record.username.as_deref() == Some(text)
        || mac().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(sought: Sought, text: &str, company: Option<u128>) -> Query {
        let text = (!text.is_empty()).then(|| text.to_owned());
        Query {
            sought,
            text,
            company: company.map(RemoteId::from_u128),
            device: Some(RemoteId::from_u128(9)),
        }
    }

    /// The operations in the order in which they are tried: of each list one.
    fn asked(query: &Query) -> Vec<Vec<&'static str>> {
        let names = |ways: Ways| ways.iter().map(|way| way.operation.name()).collect();
        questions(query).into_iter().map(names).collect()
    }

    #[test]
    fn each_search_has_its_operations_and_what_takes_their_place() {
        let id = "6f2b6f0a-0000-4000-8000-000000000001";
        let table = [
            (query(Sought::Companies, "Acme", None), vec![vec!["findCompaniesByName", "listCompanies"]]),
            (query(Sought::Companies, "Acme", Some(1)), vec![vec!["getChildCompanies"]]),
            (query(Sought::Companies, id, Some(1)), vec![vec!["getCompany"]]),
            (query(Sought::Sites, "Queen", Some(1)), vec![vec!["findSitesByName", "listSites"]]),
            (query(Sought::Sites, "", Some(1)), vec![vec!["listSites"]]),
            (query(Sought::Devices, "Till", None), vec![vec!["findDevicesByName", "listDevices"]]),
            (
                query(Sought::Devices, "00-1A-2b-3c-4d-5e", None),
                vec![vec!["getDeviceByMac", "listDevices"], vec!["findDevicesByName", "listDevices"]],
            ),
            (query(Sought::People, "jane", None), vec![vec!["getPersonByUsername"]]),
            (query(Sought::People, "jane", Some(1)), vec![vec!["getPersonByUsername"], vec!["listPeople"]]),
            (
                query(Sought::Templates, "", None),
                vec![
                    vec!["listAssignableTemplates", "listOwnAssignableTemplates"],
                    vec!["listAssignedTemplates"],
                ],
            ),
            (
                query(Sought::Clouds, id, None),
                vec![vec!["listJoinableVpnClouds"], vec!["listDeviceVpnClouds"]],
            ),
        ];
        for (query, expected) in table {
            assert_eq!(asked(&query), expected, "{query:?}");
        }
    }

    #[test]
    fn a_record_is_matched_by_what_people_know_of_it() {
        let record = Found {
            name: Some("Till  1".to_owned()),
            identification: Some("00:1a:2b:3c:4d:5e".to_owned()),
            id: Some(RemoteId::from_u128(0x6f2b_6f0a << 96)),
            ..Found::default()
        };
        for (text, exact, partly) in [
            ("Till 1", true, true),
            ("till 1", false, true),
            ("ill", false, true),
            ("001A.2B3C.4D5E", true, true),
            ("6F2B6F0A-0000-0000-0000-000000000000", true, true),
            ("Till 2", false, false),
        ] {
            assert_eq!(is_exactly(&record, text), exact, "{text}");
            assert_eq!(contains(&record, text), partly, "{text}");
        }
    }
}
