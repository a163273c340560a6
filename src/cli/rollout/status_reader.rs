//! Reads the status of devices from the service: one request for each company where a list of its devices is available,
//! else one for each device.
//!
//! A full status also has the last contact, so lists of those come first. What a list does not show is without a status,
//! unless the list may be a page of a longer one: then the devices that it lacks are asked for one by one.

use std::collections::HashMap;

use serde_json::{Map, Value};
use tokio::task::JoinSet;

use crate::journal::DeviceRow;
use crate::model::device_status::{DeviceStatus, Shown};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::model::verdict::Verdict;
use crate::service::{Call, ReadError, ServiceReader, may_be_a_page};

/// Lists of the devices of a company, the best first. Those of the companies below show more than is needed.
pub(super) const LISTS: [Operation; 4] = [
    Operation::ListCompanyDeviceFullStatuses,
    Operation::ListCompanyDeviceOnlineStatuses,
    Operation::ListCompanyTreeDeviceFullStatuses,
    Operation::ListCompanyTreeDeviceOnlineStatuses,
];
/// The status of one device, the best first.
pub(super) const SINGLE: [Operation; 2] = [Operation::GetDeviceFullStatus, Operation::GetDeviceOnlineStatus];

/// What a look showed.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Of each device that has a record.
    pub(super) shown: HashMap<RemoteId, Shown>,
    /// Operations that the service does not have where they should be, with the status of its answer.
    pub(super) missing: Vec<(Operation, u16)>,
}

/// The service refuses us or cannot be reached.
pub(super) struct Stopped(pub(super) Verdict);

/// The best of some operations that can be asked.
pub(super) fn best(reader: &ServiceReader, of: &[Operation]) -> Option<Operation> {
    of.iter().copied().find(|operation| reader.available(*operation))
}

/// Looks at every device that has a record, with at most so many requests under way.
pub(super) async fn look(
    reader: &ServiceReader,
    devices: &[DeviceRow],
    most_under_way: usize,
) -> Result<Look, Stopped> {
    let mut look = Look::default();
    let mut open: Vec<(RemoteId, Option<RemoteId>)> =
        devices.iter().filter_map(|device| Some((device.id?, device.company.id))).collect();
    let mut why: HashMap<RemoteId, String> = HashMap::new();
    let mut companies: Vec<RemoteId> = open.iter().filter_map(|(_, company)| *company).collect();
    companies.sort_unstable();
    companies.dedup();
    let mut answered_by = None;
    for operation in LISTS {
        // A list of the companies below is longer, and fails where a shorter one does.
        let of_companies_below = LISTS[2..].contains(&operation) && answered_by.is_some();
        if !reader.available(operation) || of_companies_below || companies.is_empty() {
            continue;
        }
        let answers = ask(reader, operation, "companyId", companies.clone(), most_under_way).await?;
        if let Some(status) = missing(&answers) {
            look.missing.push((operation, status));
            continue;
        }
        answered_by = Some(operation);
        let lists: HashMap<RemoteId, Result<(Statuses, usize), String>> = answers
            .into_iter()
            .map(|(company, answer)| {
                let list = answer.map_err(|error| error.to_string());
                (company, list.and_then(|body| statuses(&body).map_err(|why| format!("{operation}: {why}"))))
            })
            .collect();
        open.retain(|(device, company)| {
            let Some(list) = company.and_then(|company| lists.get(&company)) else { return true };
            let shown = match list {
                Ok((statuses, entries)) => match statuses.get(device) {
                    Some(status) => Shown::Status(status.clone(), operation),
                    None if !may_be_a_page(*entries) => Shown::Nothing(operation),
                    None => {
                        let words = format!("the answer of {operation} may be a page of a longer list");
                        why.insert(*device, words);
                        return true;
                    }
                },
                Err(words) => {
                    why.insert(*device, words.clone());
                    return true;
                }
            };
            look.shown.insert(*device, shown);
            false
        });
        // The next one, whose entries are shorter, for companies whose list is not usable: it may be too long.
        companies.retain(|company| matches!(lists.get(company), Some(Err(_))));
    }
    while let Some(operation) = best(reader, &SINGLE)
        && !open.is_empty()
    {
        let devices: Vec<RemoteId> = open.iter().map(|(device, _)| *device).collect();
        let answers = ask(reader, operation, "deviceId", devices, most_under_way).await?;
        if let Some(status) = missing(&answers) {
            look.missing.push((operation, status));
            continue;
        }
        let shown = answers.into_iter().map(|(device, answer)| {
            let shown = match answer {
                Ok(body) => match body.as_object().and_then(status) {
                    Some(status) => Shown::Status(status, operation),
                    None => Shown::Unknown(format!("{operation}: the answer is not a status")),
                },
                Err(ReadError::NotFound(_, _)) => Shown::Nothing(operation),
                Err(error) => Shown::Unknown(error.to_string()),
            };
            (device, shown)
        });
        look.shown.extend(shown);
        open.clear();
    }
    for (device, _) in open {
        let words = why.remove(&device);
        let words = words.unwrap_or_else(|| "no operation that shows its status has a known path".to_owned());
        look.shown.insert(device, Shown::Unknown(words));
    }
    Ok(look)
}

type Answers = Vec<(RemoteId, Result<Value, ReadError>)>;

/// The status of the page that showed that the operation is not there, where one did.
fn missing(answers: &Answers) -> Option<u16> {
    answers.iter().find_map(|(_, answer)| match answer {
        Err(ReadError::Unavailable(_, status)) => Some(*status),
        Ok(_) | Err(ReadError::NotFound(_, _) | ReadError::Failed(_, _) | ReadError::Stopped(_)) => None,
    })
}

/// Asks for each record, in no order.
async fn ask(
    reader: &ServiceReader,
    operation: Operation,
    parameter: &'static str,
    records: Vec<RemoteId>,
    most_under_way: usize,
) -> Result<Answers, Stopped> {
    let mut records = records.into_iter();
    let mut under_way = JoinSet::new();
    let mut answers = Vec::new();
    loop {
        while under_way.len() < most_under_way.max(1)
            && let Some(record) = records.next()
        {
            let (reader, parameters) = (reader.clone(), vec![(parameter, record.to_string())]);
            let call = Call { operation, parameters, body: None };
            under_way.spawn(async move { (record, reader.read(call).await) });
        }
        match under_way.join_next().await {
            None => return Ok(answers),
            Some(Ok((_, Err(ReadError::Stopped(verdict))))) => return Err(Stopped(verdict)),
            Some(Ok(answer)) => answers.push(answer),
            Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

type Statuses = HashMap<RemoteId, DeviceStatus>;

/// The statuses of a list by device, and how many entries it has.
fn statuses(body: &Value) -> Result<(Statuses, usize), String> {
    let Value::Array(entries) = body else { return Err("the answer is not a list".to_owned()) };
    let mut statuses = Statuses::new();
    for (entry, number) in entries.iter().zip(1..) {
        let device = entry.get("cpeId").and_then(Value::as_str).and_then(|id| RemoteId::try_parse(id).ok());
        let status = entry.as_object().and_then(status);
        let (Some(device), Some(status)) = (device, status) else {
            return Err(format!("entry {number} of the answer is not the status of a device"));
        };
        // Of a device that is listed twice, what says that it is online is not lost.
        let known = statuses.entry(device).or_default();
        if !known.is_online() {
            *known = status;
        }
    }
    Ok((statuses, entries.len()))
}

/// A status, its values as they came.
fn status(fields: &Map<String, Value>) -> Option<DeviceStatus> {
    let text = |field: &str| match fields.get(field) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    Some(DeviceStatus { word: text("status")?, since: text("statusTimestamp"), contact: text("contactDate") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "6f2b6f0a-0000-4000-8000-000000000001";

    #[test]
    fn statuses_are_read_as_they_came() {
        let at = "2026-03-01T12:00:00.000";
        let body = json!([
            { "cpeId": ID, "status": "Offline", "statusTimestamp": at, "contactDate": null, "more": [1] },
            { "cpeId": ID, "status": "ONLINE", "statusTimestamp": 5 },
        ]);
        let (statuses, entries) = statuses(&body).unwrap();
        let status = &statuses[&RemoteId::try_parse(ID).unwrap()];
        assert_eq!((entries, statuses.len()), (2, 1));
        assert_eq!((status.word.as_str(), status.since.as_deref()), ("ONLINE", Some("5")));
        assert_eq!(status.contact, None);
    }

    #[test]
    fn a_list_with_an_entry_that_is_no_status_is_not_believed() {
        for (body, why) in [
            (json!(null), "the answer is not a list"),
            (json!({}), "the answer is not a list"),
            (json!([5]), "entry 1 of the answer is not the status of a device"),
            (
                json!([{ "cpeId": "till", "status": "Online" }]),
                "entry 1 of the answer is not the status of a device",
            ),
            (json!([{ "cpeId": ID }]), "entry 1 of the answer is not the status of a device"),
        ] {
            assert_eq!(statuses(&body).map(|(_, entries)| entries), Err(why.to_owned()), "{body}");
        }
    }
}
