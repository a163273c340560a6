//! Finds the devices of an export by every list that can be reached, so that one shows what another does not: the list of all
//! devices, the statuses of the company, of the companies below it, or of the site (specification 4.5, 4.10), and, where no list
//! is certain to be whole, searches for the single characters of which names are made.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::{Result, Scope, SurveyError, Surveyor, belongs};
use crate::export::owner::Owner;
use crate::export::subject::OwnerKind;
use crate::model::amount::{count, counted};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::service::{Call, Found, List, ListAnswer, ReadError, may_be_a_page};

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

/// The devices found so far: their ids. Each is handed over when a list shows its name, and at the end where none does.
#[derive(Debug, Default)]
struct Ways {
    /// Whether each was handed over.
    devices: HashMap<RemoteId, bool>,
    /// Those that statuses show, in their order.
    by_statuses: Vec<RemoteId>,
    /// Whether one of the lists is certain to be no page of a longer one.
    is_whole: bool,
    /// The statuses that may be a page, and how many they are: no page matters where the list of all devices is whole.
    page: Option<(Operation, usize)>,
    /// How many ways have answered.
    asked: usize,
    /// Why the first that failed did.
    failure: Option<ReadError>,
}

/// What one way shows.
#[derive(Debug, Default)]
struct Shown {
    devices: u64,
    /// Those that no way before it has shown.
    news: u64,
    /// Of how many in all these are.
    of: Option<usize>,
    is_whole: bool,
}

impl Ways {
    /// Takes in a device that a list shows with its name; whether it is to be handed over.
    fn take(&mut self, shown: &mut Shown, id: RemoteId) -> bool {
        shown.devices += 1;
        match self.devices.insert(id, true) {
            None => {
                shown.news += 1;
                true
            }
            Some(was_handed_over) => !was_handed_over,
        }
    }

    /// Takes in a device that a status shows.
    fn take_id(&mut self, shown: &mut Shown, id: RemoteId) {
        shown.devices += 1;
        if let Entry::Vacant(place) = self.devices.entry(id) {
            place.insert(false);
            shown.news += 1;
            self.by_statuses.push(id);
        }
    }
}

impl Surveyor<'_> {
    /// The devices of a scope, by every way that can be reached.
    pub(super) async fn devices(&mut self, scope: &Scope) -> Result<()> {
        let mut ways = Ways::default();
        match scope {
            Scope::Records(_) => return Ok(()),
            Scope::Device(_) => return self.keep_all(self.root.clone()),
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
                match self.company_ids(*below).await {
                    Ok(companies) => {
                        self.by_list(&mut ways, |device| belongs(device, Some(&companies))).await?;
                        if !ways.is_whole {
                            self.by_names(&mut ways, &companies).await?;
                        }
                    }
                    // The statuses of the companies below show their devices without it.
                    Err(SurveyError::Read(error @ ReadError::Unavailable(..))) if ways.asked > 0 => {
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
            return Err(ways.failure.unwrap_or(ReadError::Unavailable(first, 0)).into());
        }
        if let Some((operation, length)) = ways.page {
            self.note_page(operation, length);
        }
        let asked = if ways.asked == 1 { "this operation does" } else { "these operations do" };
        self.survey.limits.push(format!("devices that {asked} not show are not in this export"));
        let Ways { devices, by_statuses, .. } = ways;
        let without_name = by_statuses.into_iter().filter(|id| devices.get(id) == Some(&false));
        self.keep_all(without_name.map(|id| Owner::new(OwnerKind::Device, id)))
    }

    /// Adds the devices of the first status operation that can be reached.
    async fn by_statuses(&mut self, ways: &mut Ways, operations: &[Operation], id: RemoteId) -> Result<()> {
        let Some(&operation) = operations.iter().find(|&&operation| self.reader.available(operation)) else {
            return Ok(());
        };
        let answer = self.reader.list(Call::reading(operation, [id.to_string()])).await;
        let listed = answer.and_then(|answer| match answer {
            ListAnswer::List(list) => Ok(list),
            ListAnswer::Other(_) => Err(ReadError::Failed(operation, "the answer is not a list".to_owned())),
        });
        let Some(list) = self.unless_failed(ways, listed)? else { return Ok(()) };
        ways.page = Some((operation, list.len()));
        let mut shown = Shown { is_whole: !may_be_a_page(list.len()), ..Shown::default() };
        for id in device_ids(&list) {
            ways.take_id(&mut shown, id);
        }
        self.tell(ways, operation, &shown);
        Ok(())
    }

    /// Adds those of all devices that are of the scope.
    async fn by_list(&mut self, ways: &mut Ways, is_of_scope: impl Fn(&Found) -> bool) -> Result<()> {
        let operation = Operation::ListDevices;
        if !self.reader.available(operation) {
            return Ok(());
        }
        let listed = self.list(operation).await;
        let Some(listed) = self.unless_failed(ways, listed)? else { return Ok(()) };
        let all = listed.length();
        let mut shown = Shown { of: Some(all), is_whole: !may_be_a_page(all), ..Shown::default() };
        ways.page.take_if(|_| shown.is_whole);
        for device in listed.filter(is_of_scope) {
            self.take(ways, &mut shown, device)?;
        }
        self.tell(ways, operation, &shown);
        Ok(())
    }

    /// Adds the devices that are found by the characters of names.
    async fn by_names(&mut self, ways: &mut Ways, companies: &HashSet<RemoteId>) -> Result<()> {
        let operation = Operation::FindDevicesByName;
        if !self.reader.available(operation) {
            return Ok(());
        }
        let mut shown = Shown::default();
        let mut take = |this: &mut Self, device| this.take(ways, &mut shown, device);
        let found = match self.by_characters(operation, companies, &mut take).await {
            Ok(()) => Ok(()),
            Err(SurveyError::Read(error)) => Err(error),
            Err(error @ SurveyError::Keep(_)) => return Err(error),
        };
        if self.unless_failed(ways, found)?.is_some() {
            self.tell(ways, operation, &shown);
        }
        Ok(())
    }

    /// Takes in a device that a list shows.
    fn take(&mut self, ways: &mut Ways, shown: &mut Shown, device: Found) -> Result<()> {
        match device.id {
            Some(id) if ways.take(shown, id) => self.keep_listed(OwnerKind::Device, device),
            Some(_) => Ok(()),
            None => {
                shown.devices += 1;
                Ok(())
            }
        }
    }

    /// What a way answered; a way that failed is reported, and the others go on.
    fn unless_failed<T>(
        &mut self,
        ways: &mut Ways,
        answer: std::result::Result<T, ReadError>,
    ) -> Result<Option<T>> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(error @ (ReadError::Failed(..) | ReadError::Unavailable(..))) => {
                self.survey.limits.push(format!("devices were not looked for by one more way: {error}"));
                ways.failure.get_or_insert(error);
                Ok(None)
            }
            Err(error @ (ReadError::NotFound(..) | ReadError::Stopped(_))) => Err(error.into()),
        }
    }

    /// Tells what a way shows.
    fn tell(&mut self, ways: &mut Ways, operation: Operation, shown: &Shown) {
        let Shown { devices, news, of, is_whole } = *shown;
        let devices = match of {
            Some(all) => format!("{} of {}", count(devices), counted(all as u64, "device", "devices")),
            None => counted(devices, "device", "devices"),
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

/// The ids of the devices that statuses are of (specification 2.10).
fn device_ids(list: &List) -> impl Iterator<Item = RemoteId> {
    list.entries().filter_map(|entry| RemoteId::try_parse(entry["cpeId"].as_str()?).ok())
}
