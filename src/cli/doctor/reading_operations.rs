//! Tries every operation that only reads and that the profile can reach, with records that exist where one is known: of
//! the journal, of `--company`, and of the answers themselves. So a list of interfaces gives the interface whose labels
//! are listed next.
//!
//! A question about a real record shows more than one about nothing: that an operation is mapped to the right path.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::probe::{Finding, finding, question};
use crate::clock::Clock;
use crate::error::Result;
use crate::journal::Journal;
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::{Method, Operation};
use crate::model::record::Record;
use crate::model::verdict::{Rejection, Verdict};
use crate::service::{Call, Client};

/// How long one of so many answers is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Operations whose answers give what others ask for, in the order in which they are tried.
const GIVERS: [Operation; 20] = [
    Operation::GetCompany,
    Operation::ListPeople,
    Operation::ListCompanyDeviceFullStatuses,
    Operation::ListCompanyDeviceOnlineStatuses,
    Operation::ListCompanyDeviceStates,
    Operation::ListCompanyTreeDeviceFullStatuses,
    Operation::ListCompanyTreeDeviceOnlineStatuses,
    Operation::ListCompanyTreeDeviceStates,
    Operation::ListDevices,
    Operation::GetDevice,
    Operation::ListSites,
    Operation::GetSite,
    Operation::ListInterfaces,
    Operation::ListDeviceVpnClouds,
    Operation::ListInterfaceLabels,
    Operation::ListDeviceLabels,
    Operation::ListSiteLabels,
    Operation::ListCompanyMetadata,
    Operation::ListDeviceMetadata,
    Operation::ListSiteMetadata,
];

/// What trying an operation showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tried {
    /// It answered with data of a record that exists.
    Data,
    /// It answered that there are no data of a record that exists.
    NoData,
    /// It answered a question about nothing.
    Answers,
    /// It answered that there is no such record, of one that was taken to exist.
    NoRecord(String),
    /// It answered in another way, or not at all.
    Other(Finding),
    /// It was not tried: the profile maps it to a method that may change something.
    NotHarmless(Method),
    /// It has no known path.
    Unavailable,
}

impl Tried {
    /// Whether its path is known to be right, as far as an answer can show it.
    pub(super) const fn answers(&self) -> bool {
        matches!(self, Self::Data | Self::NoData | Self::Answers)
    }

    /// The same in words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Data => "answers".to_owned(),
            Self::NoData => "answers without data".to_owned(),
            Self::Answers => "answers a question about nothing".to_owned(),
            Self::NoRecord(why) => why.clone(),
            Self::Other(Finding::Answers) => "answers".to_owned(),
            Self::Other(Finding::Missing(why) | Finding::Unclear(why) | Finding::Refused(why)) => why.clone(),
            Self::NotHarmless(method) => format!("not tried: mapped to {}", method.as_str()),
            Self::Unavailable => "no known path".to_owned(),
        }
    }
}

/// Values that exist in the service, by what they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Known(BTreeMap<Of, String>);

/// What a known value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Company,
    CompanyName,
    Site,
    SiteName,
    Device,
    DeviceName,
    Mac,
    Person,
    Username,
    Interface,
    Cloud,
    Label(Owner),
    Key(Owner),
}

/// What a label or metadata is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Company,
    Site,
    Device,
    Interface,
}

impl Known {
    /// The last records that rows of the journal have.
    pub(super) fn of_journal(journal: &Journal) -> Result<Self> {
        let mut known = Self::default();
        for kind in Kind::ALL {
            let Some((id, record)) = journal.known_record(kind)? else { continue };
            known.learn_record(id, &record);
        }
        Ok(known)
    }

    /// A company, and nothing else: what else is asked for is found through it.
    pub(super) fn of_company(id: RemoteId) -> Self {
        Self(BTreeMap::from([(Of::Company, id.to_string())]))
    }

    fn learn_record(&mut self, id: RemoteId, record: &Record) {
        let id = id.to_string();
        match record {
            Record::Company(company) => {
                self.put(Of::Company, Some(&id));
                self.put(Of::CompanyName, Some(&company.name));
            }
            Record::Site(site) => {
                self.put(Of::Site, Some(&id));
                self.put(Of::SiteName, Some(&site.name));
            }
            Record::Person(person) => {
                self.put(Of::Person, Some(&id));
                self.put(Of::Username, Some(&person.username));
            }
            Record::Device(device) => {
                self.put(Of::Device, Some(&id));
                self.put(Of::DeviceName, Some(&device.name));
                self.put(Of::Mac, device.identification.as_deref());
            }
        }
    }

    /// What is known first stays.
    fn put(&mut self, of: Of, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.0.entry(of).or_insert_with(|| value.to_owned());
        }
    }

    /// The call about records that exist; `None` where one that it needs is not known.
    fn call(&self, operation: Operation) -> Option<Call> {
        let mut parameters = Vec::new();
        for name in operation.parameters().into_iter().map(|parameter| parameter.name) {
            match self.0.get(&asked(operation, name)?) {
                Some(value) => parameters.push((name, value.clone())),
                // The company only narrows a search by name.
                None if name == "companyId" && by_name(operation) => {}
                None => return None,
            }
        }
        Some(Call { operation, parameters, body: None })
    }

    /// Takes from an answer what others ask for.
    fn learn(&mut self, operation: Operation, body: &Value) {
        let company = self.0.get(&Of::Company).cloned();
        let first = match body {
            Value::Array(entries) => {
                // Lists of everything give a record of the company that is asked about.
                let ours = |entry: &&Value| match entry.get("companyId").and_then(Value::as_str) {
                    Some(id) => company.as_deref().is_none_or(|company| company == id),
                    None => true,
                };
                entries.iter().find(ours)
            }
            other => Some(other),
        };
        let field = |name: &str| first.and_then(|entry| entry.get(name)).and_then(Value::as_str);
        match operation {
            Operation::GetCompany => self.put(Of::CompanyName, field("name")),
            Operation::ListPeople => {
                self.put(Of::Person, field("id"));
                self.put(Of::Username, field("username"));
            }
            Operation::ListCompanyDeviceFullStatuses
            | Operation::ListCompanyDeviceOnlineStatuses
            | Operation::ListCompanyDeviceStates
            | Operation::ListCompanyTreeDeviceFullStatuses
            | Operation::ListCompanyTreeDeviceOnlineStatuses
            | Operation::ListCompanyTreeDeviceStates => self.put(Of::Device, field("cpeId")),
            Operation::ListDevices => self.put(Of::Device, field("id")),
            Operation::GetDevice => {
                self.put(Of::DeviceName, field("name"));
                self.put(Of::Mac, field("identification"));
            }
            Operation::ListSites => self.put(Of::Site, field("id")),
            Operation::GetSite => self.put(Of::SiteName, field("name")),
            Operation::ListInterfaces => self.put(Of::Interface, field("id")),
            Operation::ListDeviceVpnClouds => self.put(Of::Cloud, field("id")),
            Operation::ListInterfaceLabels => self.put(Of::Label(Owner::Interface), field("label")),
            Operation::ListDeviceLabels => self.put(Of::Label(Owner::Device), field("label")),
            Operation::ListSiteLabels => self.put(Of::Label(Owner::Site), field("label")),
            Operation::ListCompanyMetadata => self.put(Of::Key(Owner::Company), field("key")),
            Operation::ListDeviceMetadata => self.put(Of::Key(Owner::Device), field("key")),
            Operation::ListSiteMetadata => self.put(Of::Key(Owner::Site), field("key")),
            _ => {}
        }
    }
}

/// Whether it searches by name, in a company or everywhere.
fn by_name(operation: Operation) -> bool {
    matches!(operation, Operation::FindDevicesByName | Operation::FindSitesByName)
}

/// What a parameter of an operation asks for.
fn asked(operation: Operation, parameter: &str) -> Option<Of> {
    let name = operation.name();
    let owner = || match name {
        _ if name.contains("Interface") => Owner::Interface,
        _ if name.contains("Device") => Owner::Device,
        _ if name.contains("Site") => Owner::Site,
        _ => Owner::Company,
    };
    Some(match parameter {
        "companyId" => Of::Company,
        "siteId" => Of::Site,
        "deviceId" => Of::Device,
        "interfaceDeviceId" => Of::Interface,
        "vpnCloudId" => Of::Cloud,
        "companyName" => Of::CompanyName,
        "macAddress" => Of::Mac,
        "username" => Of::Username,
        "label" => Of::Label(owner()),
        "key" => Of::Key(owner()),
        "name" if operation == Operation::FindSitesByName => Of::SiteName,
        "name" => Of::DeviceName,
        "id" => match operation {
            Operation::GetCompany => Of::Company,
            Operation::GetSite => Of::Site,
            Operation::GetPerson => Of::Person,
            _ => Of::Device,
        },
        _ => return None,
    })
}

/// Tries every operation that only reads; stops where the service refuses us, with what was tried until then.
pub(super) async fn try_all(
    client: &Client,
    clock: &dyn Clock,
    mut known: Known,
) -> BTreeMap<Operation, Tried> {
    let reads = |operation: &Operation| operation.looks_up();
    let givers = GIVERS.into_iter().filter(reads);
    let others = Operation::ALL.iter().copied().filter(reads).filter(|operation| !GIVERS.contains(operation));
    let mut tried = BTreeMap::new();
    for operation in givers.chain(others) {
        let Some(endpoint) = client.endpoints().get(operation) else {
            tried.insert(operation, Tried::Unavailable);
            continue;
        };
        if endpoint.method() != Method::Get {
            tried.insert(operation, Tried::NotHarmless(endpoint.method()));
            continue;
        }
        let call = known.call(operation);
        let is_real = call.is_some();
        let sending = client.send(call.unwrap_or_else(|| question(operation)));
        let answer = tokio::select! {
            answer = sending => answer,
            () = clock.sleep_until(clock.elapsed() + PATIENCE) => {
                let words = format!("no answer within {} seconds", PATIENCE.as_secs());
                tried.insert(operation, Tried::Other(Finding::Unclear(words)));
                continue;
            }
        };
        let shown = match (&answer.verdict, finding(&answer.verdict)) {
            (Verdict::Succeeded(success), Finding::Answers) if is_real => {
                known.learn(operation, &success.body);
                if is_empty(&success.body) { Tried::NoData } else { Tried::Data }
            }
            (Verdict::NoDataFound(said), Finding::Answers) if is_real && is_by_id(operation) => {
                Tried::NoRecord(failed(said))
            }
            (Verdict::Rejected(said) | Verdict::Duplicate(said), Finding::Answers) if is_real => {
                Tried::Other(Finding::Unclear(failed(said)))
            }
            (_, Finding::Answers) if is_real => Tried::NoData,
            (_, Finding::Answers) => Tried::Answers,
            (_, other) => Tried::Other(other),
        };
        let refused = matches!(shown, Tried::Other(Finding::Refused(_)));
        tried.insert(operation, shown);
        if refused {
            break;
        }
    }
    tried
}

/// What the service says about a record that was taken to exist, with its code.
fn failed(said: &Rejection) -> String {
    format!("{}: {}", said.code, said.message)
}

/// Whether it reads one record by its id, which has data where the record exists.
fn is_by_id(operation: Operation) -> bool {
    Kind::ALL.iter().any(|kind| kind.descriptor().by_id == Some(operation))
}

/// Whether an answer has no data.
fn is_empty(body: &Value) -> bool {
    match body {
        Value::Null => true,
        Value::Array(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "6f2b6f0a-0000-4000-8000-000000000001";

    #[test]
    fn every_parameter_of_an_operation_that_reads_is_asked_for_by_what_it_is() {
        let mut seen = 0;
        for operation in Operation::ALL.iter().filter(|operation| operation.looks_up()) {
            for name in operation.parameters().into_iter().map(|parameter| parameter.name) {
                assert!(asked(*operation, name).is_some(), "{operation} {name}");
                seen += 1;
            }
        }
        assert_eq!(seen, 53);
    }

    #[test]
    fn what_an_answer_shows_is_what_the_next_question_is_about() {
        let mut known = Known::of_company(RemoteId::from_u128(5));
        assert!(known.call(Operation::GetCompany).is_some());
        assert_eq!(known.call(Operation::ListInterfaces), None);
        known.learn(Operation::ListCompanyDeviceStates, &json!([{ "cpeId": ID, "state": {} }]));
        known.learn(Operation::ListInterfaces, &json!([{ "id": "an-interface" }]));
        known.learn(Operation::ListInterfaceLabels, &json!([{ "id": ID, "label": "till" }]));
        let call = known.call(Operation::FindInterfaceLabel).unwrap();
        let expected = [("interfaceDeviceId", "an-interface".to_owned()), ("label", "till".to_owned())];
        assert_eq!(call.parameters, expected);
        // A list of everything gives a site of the company, and no other.
        let of_another = json!({ "id": "another", "companyId": ID });
        known.learn(Operation::ListSites, &json!([of_another]));
        assert_eq!(known.call(Operation::GetSite), None);
    }
}
