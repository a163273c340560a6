//! Finds the devices of an export by every list that can be reached, so that one shows what another does not: the list of all
//! devices, the statuses of the company, of the companies below it, or of the site (specification 4.5, 4.10), and, where no list
//! is certain to be whole, searches for the single characters of which names are made.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Scope, Surveyor, belongs};
use crate::export::owner::Owner;
use crate::export::subject::OwnerKind;
use crate::model::amount::{count, counted};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::service::{Call, Found, ReadError, may_be_a_page};

/// The operations that show the devices of a company by their statuses, the smallest answer first.
const COMPANY_STATUSES: [Operation; 3] = [
    Operation::ListCompanyDeviceOnlineStatuses,
    Operation::ListCompanyDeviceFullStatuses,
    Operation::ListCompanyDeviceStates,
];
/// The same of a company and all below it.
const TREE_STATUSES: [Operation; 3] = [
    Operation::ListCompanyTreeDeviceOnlineStatuses,
    Operation::ListCompanyTreeDeviceFullStatuses,
    Operation::ListCompanyTreeDeviceStates,
];
/// The same of a site.
const SITE_STATUSES: [Operation; 3] = [
    Operation::ListSiteDeviceOnlineStatuses,
    Operation::ListSiteDeviceFullStatuses,
    Operation::ListSiteDeviceStates,
];

/// The devices found so far.
#[derive(Debug, Default)]
struct Ways {
    devices: Vec<Owner>,
    places: HashMap<RemoteId, usize>,
    /// Whether one of the lists is certain to be no page of a longer one.
    is_whole: bool,
    /// How many ways have answered.
    asked: usize,
    /// Why the first that failed did.
    failure: Option<ReadError>,
}

impl Surveyor<'_> {
    /// The devices of a scope, by every way that can be reached.
    pub(super) async fn devices(&mut self, scope: &Scope) -> Result<Vec<Owner>, ReadError> {
        let mut ways = Ways::default();
        match scope {
            Scope::Records(_) => return Ok(Vec::new()),
            Scope::Device(_) => return Ok(self.root.clone().into_iter().collect()),
            Scope::Site(id) => {
                self.by_statuses(&mut ways, &SITE_STATUSES, *id).await?;
                if !ways.is_whole {
                    self.by_list(&mut ways, |device| device.site == Some(*id)).await?;
                }
            }
            Scope::Everything => self.by_list(&mut ways, |_| true).await?,
            Scope::Company { id, below } => {
                let statuses = if *below { &TREE_STATUSES } else { &COMPANY_STATUSES };
                self.by_statuses(&mut ways, statuses, *id).await?;
                match self.companies(scope).await {
                    Ok(companies) => {
                        let companies: HashSet<RemoteId> =
                            companies.into_iter().map(|company| company.id).collect();
                        self.by_list(&mut ways, |device| belongs(device, Some(&companies))).await?;
                        if !ways.is_whole {
                            self.by_names(&mut ways, &companies).await?;
                        }
                    }
                    // The statuses of the companies below show their devices without it.
                    Err(error @ ReadError::Unavailable(..)) if ways.asked > 0 => {
                        self.survey
                            .limits
                            .push(format!("{error}: devices without a status are not in this export"));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        if ways.asked == 0 {
            let first = match scope {
                Scope::Site(_) => SITE_STATUSES[0],
                Scope::Everything | Scope::Company { .. } | Scope::Device(_) | Scope::Records(_) => {
                    Operation::ListDevices
                }
            };
            return Err(ways.failure.unwrap_or(ReadError::Unavailable(first, 0)));
        }
        let asked = if ways.asked == 1 { "this operation does" } else { "these operations do" };
        self.survey.limits.push(format!("devices that {asked} not show are not in this export"));
        Ok(ways.devices)
    }

    /// Adds the devices of the first status operation that can be reached.
    async fn by_statuses(
        &mut self,
        ways: &mut Ways,
        operations: &[Operation],
        id: RemoteId,
    ) -> Result<(), ReadError> {
        let Some(&operation) = operations.iter().find(|&&operation| self.reader.available(operation)) else {
            return Ok(());
        };
        let body = self.reader.read(Call::reading(operation, [id.to_string()])).await;
        let listed = body.and_then(|body| match body {
            Value::Array(entries) => Ok(entries),
            _ => Err(ReadError::Failed(operation, "the answer is not a list".to_owned())),
        });
        let Some(entries) = self.unless_failed(ways, listed)? else { return Ok(()) };
        let device = |entry: &Value| {
            let id = entry["cpeId"].as_str().and_then(|text| RemoteId::try_parse(text).ok());
            id.map(|id| Found { id: Some(id), ..Found::default() })
        };
        self.note_page(operation, entries.len());
        let is_whole = !may_be_a_page(entries.len());
        self.add(ways, operation, entries.iter().filter_map(device).collect(), None, is_whole);
        Ok(())
    }

    /// Adds those of all devices that are of the scope.
    async fn by_list(
        &mut self,
        ways: &mut Ways,
        is_of_scope: impl Fn(&Found) -> bool,
    ) -> Result<(), ReadError> {
        let operation = Operation::ListDevices;
        if !self.reader.available(operation) {
            return Ok(());
        }
        let listed = self.list(operation).await;
        let Some(listed) = self.unless_failed(ways, listed)? else { return Ok(()) };
        let (all, is_whole) = (listed.len(), !may_be_a_page(listed.len()));
        let of_scope = listed.into_iter().filter(is_of_scope).collect();
        self.add(ways, operation, of_scope, Some(all), is_whole);
        Ok(())
    }

    /// Adds the devices that are found by the characters of names.
    async fn by_names(&mut self, ways: &mut Ways, companies: &HashSet<RemoteId>) -> Result<(), ReadError> {
        let operation = Operation::FindDevicesByName;
        if !self.reader.available(operation) {
            return Ok(());
        }
        let found = self.by_characters(operation, companies).await;
        let Some(found) = self.unless_failed(ways, found)? else { return Ok(()) };
        self.add(ways, operation, found, None, false);
        Ok(())
    }

    /// What a way answered; a way that failed is reported, and the others go on.
    fn unless_failed<T>(
        &mut self,
        ways: &mut Ways,
        answer: Result<T, ReadError>,
    ) -> Result<Option<T>, ReadError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(error @ (ReadError::Failed(..) | ReadError::Unavailable(..))) => {
                self.survey.limits.push(format!("devices were not looked for by one more way: {error}"));
                ways.failure.get_or_insert(error);
                Ok(None)
            }
            Err(error @ (ReadError::NotFound(..) | ReadError::Stopped(_))) => Err(error),
        }
    }

    /// Adds what a way shows, and tells it.
    fn add(
        &mut self,
        ways: &mut Ways,
        operation: Operation,
        found: Vec<Found>,
        of: Option<usize>,
        is_whole: bool,
    ) {
        let (length, mut news) = (found.len() as u64, 0);
        for device in found {
            let Some(owner) = Owner::listed(OwnerKind::Device, device) else { continue };
            match ways.places.get(&owner.id) {
                Some(&place) => {
                    let known: &mut Owner = &mut ways.devices[place];
                    known.name = known.name.take().or(owner.name);
                }
                None => {
                    news += 1;
                    ways.places.insert(owner.id, ways.devices.len());
                    ways.devices.push(owner);
                }
            }
        }
        let devices = match of {
            Some(all) => format!("{} of {}", count(length), counted(all as u64, "device", "devices")),
            None => counted(length, "device", "devices"),
        };
        let alone = match news {
            news if ways.asked > 0 && news > 0 => format!(", {} of them from it alone", count(news)),
            _ => String::new(),
        };
        self.survey.ways.push(format!("{devices} from {operation}{alone}"));
        ways.asked += 1;
        ways.is_whole |= is_whole;
    }
}
