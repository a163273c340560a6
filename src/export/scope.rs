//! Finds out which records an export is about: companies below a company, sites of companies, and devices, which no
//! documented operation lists by company (specification 4.2, 4.5, 4.8, 4.10, 4.11).
//!
//! The ways to find devices are in `devices`.

mod devices;

use std::collections::HashSet;

use serde_json::Value;

use super::owner::Owner;
use super::subject::{OwnerKind, Subject};
use crate::model::amount::{count, counted};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::service::{Call, Found, ReadError, ServiceReader, found, may_be_a_page};

/// The characters that names are searched for by.
const CHARACTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Which records an export is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Scope {
    /// Everything that the account sees.
    Everything,
    /// A company, and what belongs to it.
    Company {
        /// Its id.
        id: RemoteId,
        /// With all companies below it.
        below: bool,
    },
    /// A site and its devices.
    Site(RemoteId),
    /// A device.
    Device(RemoteId),
    /// These records.
    Records(Vec<Owner>),
}

/// What a scope came to.
#[derive(Debug, Default)]
pub struct Survey {
    /// What is asked about, in the order of the export.
    pub owners: Vec<Owner>,
    /// How the records were found, a sentence each.
    pub ways: Vec<String>,
    /// What this export cannot know, a sentence each.
    pub limits: Vec<String>,
}

/// Finds out which records `scope` is for an export of `subject`.
///
/// # Errors
///
/// [`ReadError::Unavailable`] when no operation that could tell can be reached, and whatever keeps the first question from
/// being answered. What fails later is an owner with its trouble.
pub async fn survey(reader: &ServiceReader, subject: Subject, scope: Scope) -> Result<Survey, ReadError> {
    let root = root(reader, subject, &scope).await?;
    let mut surveyor = Surveyor { reader, survey: Survey::default(), root, companies: None };
    let owners = surveyor.owners(subject, scope).await?;
    Ok(Survey { owners, ..surveyor.survey })
}

/// The record that the scope names, which must be there; as it is, where its operation cannot be reached.
async fn root(reader: &ServiceReader, subject: Subject, scope: &Scope) -> Result<Option<Owner>, ReadError> {
    let (kind, id, operation, record_of) = match scope {
        Scope::Everything | Scope::Records(_) => return Ok(None),
        Scope::Company { id, .. } => (OwnerKind::Company, *id, Operation::GetCompany, Subject::Companies),
        Scope::Site(id) => (OwnerKind::Site, *id, Operation::GetSite, Subject::Sites),
        Scope::Device(id) => (OwnerKind::Device, *id, Operation::GetDevice, Subject::Devices),
    };
    let owner = Owner::new(kind, id);
    match reader.read(Call::reading(operation, [id.to_string()])).await {
        Ok(body) => {
            let name = one(operation, &body)?.name;
            Ok(Some(Owner { name, record: Some(body).filter(|_| subject == record_of), ..owner }))
        }
        Err(ReadError::Unavailable(..)) => Ok(Some(owner)),
        Err(error) => Err(error),
    }
}

/// A record of which a list shows all.
fn whole(kind: OwnerKind, found: Found) -> Option<Owner> {
    let record = Some(found.raw.clone());
    Owner::listed(kind, found).map(|owner| Owner { record, ..owner })
}

/// The records that an export of `subject` is asked for. Where an answer about one shows what belongs to it, only the
/// smallest: a device is among those of its site and of its company as well.
fn smallest(subject: Subject, records: Vec<Owner>) -> Vec<Owner> {
    let wanted = subject.owners();
    let has = |kind: &&OwnerKind| records.iter().any(|one| one.kind == **kind && one.trouble.is_none());
    let only = wanted.iter().rev().find(has).filter(|_| subject.is_shown_by_larger()).copied();
    let is_meant = |one: &Owner| match only {
        Some(kind) => one.kind == kind || one.trouble.is_some(),
        None => true,
    };
    records.into_iter().filter(|one| wanted.contains(&one.kind) && is_meant(one)).collect()
}

struct Surveyor<'a> {
    reader: &'a ServiceReader,
    survey: Survey,
    /// The record that the scope names.
    root: Option<Owner>,
    /// The companies of the scope, once they are known.
    companies: Option<Vec<Owner>>,
}

impl Surveyor<'_> {
    async fn owners(&mut self, subject: Subject, scope: Scope) -> Result<Vec<Owner>, ReadError> {
        let wanted = subject.owners();
        if wanted.contains(&OwnerKind::Account) {
            return Ok(vec![Owner::account()]);
        }
        if let Scope::Records(records) = scope {
            let records = smallest(subject, records);
            if subject != Subject::States {
                return Ok(records);
            }
            let (devices, mut owners): (Vec<Owner>, Vec<Owner>) = records
                .into_iter()
                .partition(|record| record.kind == OwnerKind::Device && record.trouble.is_none());
            owners.extend(self.by_company(devices).await?);
            return Ok(owners);
        }
        if wanted.contains(&OwnerKind::CompanyTree) {
            return self.of_diagnostics(subject, &scope).await;
        }
        let mut owners = Vec::new();
        for kind in wanted {
            match kind {
                OwnerKind::Company => {
                    if matches!(scope, Scope::Everything | Scope::Company { .. }) {
                        owners.extend(self.companies(&scope).await?);
                    }
                }
                OwnerKind::Site => owners.extend(self.sites(&scope).await?),
                OwnerKind::Device => owners.extend(self.devices(&scope).await?),
                OwnerKind::Account | OwnerKind::CompanyTree | OwnerKind::Person => {}
            }
        }
        Ok(owners)
    }

    /// For statuses and states: the largest that one answer covers, else the devices one by one.
    async fn of_diagnostics(&mut self, subject: Subject, scope: &Scope) -> Result<Vec<Owner>, ReadError> {
        let owner = match scope {
            Scope::Everything | Scope::Records(_) => None,
            Scope::Company { id, below: true } => Some(Owner::new(OwnerKind::CompanyTree, *id)),
            Scope::Device(_) if subject == Subject::States => {
                return self.by_company(self.root.clone().into_iter().collect()).await;
            }
            Scope::Company { below: false, .. } | Scope::Site(_) | Scope::Device(_) => self.root.clone(),
        };
        let can_be_asked =
            |kind| subject.needed(kind).iter().all(|&operation| self.reader.available(operation));
        if let Some(owner) = owner.filter(|owner| can_be_asked(owner.kind)) {
            return Ok(vec![owner]);
        }
        if can_be_asked(OwnerKind::Company) && matches!(scope, Scope::Everything | Scope::Company { .. }) {
            return self.companies(scope).await;
        }
        if subject != Subject::States && can_be_asked(OwnerKind::Device) {
            return self.devices(scope).await;
        }
        let kind = match scope {
            Scope::Site(_) => OwnerKind::Site,
            Scope::Company { below: true, .. } => OwnerKind::CompanyTree,
            Scope::Everything | Scope::Company { .. } | Scope::Device(_) | Scope::Records(_) => {
                OwnerKind::Company
            }
        };
        let first = subject.needed(kind).first().copied().unwrap_or(Operation::ListDevices);
        Err(ReadError::Unavailable(first, 0))
    }

    /// Devices by the company that each belongs to, since states are listed by company only.
    async fn by_company(&mut self, devices: Vec<Owner>) -> Result<Vec<Owner>, ReadError> {
        let calls = devices.iter().map(|device| Call::reading(Operation::GetDevice, [device.id.to_string()]));
        let answers = self.reader.read_all(calls.collect()).await?;
        let mut groups: Vec<Owner> = Vec::new();
        let mut troubled = Vec::new();
        for (device, answer) in devices.into_iter().zip(answers) {
            let company =
                answer.and_then(|body| one(Operation::GetDevice, &body)).map(|record| record.company);
            match company {
                Ok(Some(company)) => {
                    let group = groups.iter_mut().find(|group| group.id == company);
                    let only = match group {
                        Some(group) => &mut group.only,
                        None => {
                            groups.push(Owner::new(OwnerKind::Company, company));
                            let added = groups.len() - 1;
                            &mut groups[added].only
                        }
                    };
                    only.get_or_insert_default().push(device.id);
                }
                Ok(None) => troubled.push(device.troubled("getDevice does not show its company".to_owned())),
                Err(error) => troubled.push(device.troubled(error.to_string())),
            }
        }
        groups.extend(troubled);
        Ok(groups)
    }

    /// The companies of a scope, those above before those below.
    async fn companies(&mut self, scope: &Scope) -> Result<Vec<Owner>, ReadError> {
        if let Some(companies) = &self.companies {
            return Ok(companies.clone());
        }
        let companies = match scope {
            Scope::Everything => {
                let listed = self.list(Operation::ListCompanies).await?;
                self.found("company", "companies", listed.len(), Operation::ListCompanies);
                listed.into_iter().filter_map(|found| whole(OwnerKind::Company, found)).collect()
            }
            Scope::Company { below, .. } => {
                let mut tree: Vec<Owner> = self.root.clone().into_iter().collect();
                if *below {
                    self.add_below(&mut tree).await?;
                    self.found("company", "companies", tree.len(), Operation::GetChildCompanies);
                }
                tree
            }
            Scope::Site(_) | Scope::Device(_) | Scope::Records(_) => Vec::new(),
        };
        self.companies = Some(companies.clone());
        Ok(companies)
    }

    /// Adds all companies below those of a tree, level by level.
    async fn add_below(&mut self, tree: &mut Vec<Owner>) -> Result<(), ReadError> {
        let mut seen: HashSet<RemoteId> = tree.iter().map(|company| company.id).collect();
        let mut level = 0..tree.len();
        while !level.is_empty() {
            let parents: Vec<RemoteId> = tree[level.clone()].iter().map(|company| company.id).collect();
            let operation = Operation::GetChildCompanies;
            let calls = parents.iter().map(|id| Call::reading(operation, [id.to_string()]));
            let answers = self.reader.read_all(calls.collect()).await?;
            let start = tree.len();
            for (parent, answer) in parents.into_iter().zip(answers) {
                let children = match answer.and_then(|body| entries(operation, &body)) {
                    Ok(children) => children,
                    // Without the first answer nothing is known.
                    Err(error) if level.start == 0 => return Err(error),
                    Err(error) => {
                        let why = format!("the companies below it are not in this export: {error}");
                        tree.push(Owner::new(OwnerKind::Company, parent).troubled(why));
                        continue;
                    }
                };
                self.note_page(operation, children.len());
                for child in children {
                    if let Some(owner) = Owner::listed(OwnerKind::Company, child)
                        && seen.insert(owner.id)
                    {
                        tree.push(Owner { parent: Some(parent), ..owner });
                    }
                }
            }
            // A company whose children could not be read is not asked again.
            level = start..tree.len();
            while tree[level.clone()].first().is_some_and(|company| company.trouble.is_some()) {
                level.start += 1;
            }
        }
        Ok(())
    }

    /// The sites of a scope.
    async fn sites(&mut self, scope: &Scope) -> Result<Vec<Owner>, ReadError> {
        let companies: Option<HashSet<RemoteId>> = match scope {
            Scope::Site(_) => return Ok(self.root.clone().into_iter().collect()),
            Scope::Device(_) | Scope::Records(_) => return Ok(Vec::new()),
            Scope::Everything => None,
            Scope::Company { .. } => {
                Some(self.companies(scope).await?.into_iter().map(|company| company.id).collect())
            }
        };
        let sites: Vec<Found> = if self.reader.available(Operation::ListSites) {
            let listed = self.list(Operation::ListSites).await?;
            let all = listed.len();
            let of_scope: Vec<Found> =
                listed.into_iter().filter(|site| belongs(site, companies.as_ref())).collect();
            let (some, all) = (count(of_scope.len() as u64), counted(all as u64, "site", "sites"));
            self.survey.ways.push(format!("{some} of {all} from listSites"));
            of_scope
        } else {
            let operation = Operation::FindSitesByName;
            let Some(companies) = companies.filter(|_| self.reader.available(operation)) else {
                return Err(ReadError::Unavailable(Operation::ListSites, 0));
            };
            let found = self.by_characters(operation, &companies).await?;
            self.found("site", "sites", found.len(), operation);
            found
        };
        Ok(sites.into_iter().filter_map(|site| whole(OwnerKind::Site, site)).collect())
    }

    /// Every record whose name has one of the characters, company by company.
    async fn by_characters(
        &mut self,
        operation: Operation,
        companies: &HashSet<RemoteId>,
    ) -> Result<Vec<Found>, ReadError> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut sorted: Vec<RemoteId> = companies.iter().copied().collect();
        sorted.sort_unstable();
        for company in sorted {
            let calls = CHARACTERS
                .chars()
                .map(|character| Call::reading(operation, [character.to_string(), company.to_string()]));
            for answer in self.reader.read_all(calls.collect()).await? {
                let records = entries(operation, &answer?)?;
                self.note_page(operation, records.len());
                found
                    .extend(records.into_iter().filter(|record| record.id.is_some_and(|id| seen.insert(id))));
            }
        }
        self.survey.limits.push(format!(
            "{operation} was asked for each letter and digit: records whose names have none of A to Z and 0 to 9 are not in \
             this export"
        ));
        Ok(found)
    }

    /// The list of everything of a kind, with a note where it may be a page.
    async fn list(&mut self, operation: Operation) -> Result<Vec<Found>, ReadError> {
        let body = self.reader.read(Call::reading(operation, [])).await?;
        let listed = entries(operation, &body)?;
        self.note_page(operation, listed.len());
        Ok(listed)
    }

    /// Tells how many records an operation shows.
    fn found(&mut self, one: &str, several: &str, length: usize, operation: Operation) {
        self.survey.ways.push(format!("{} from {operation}", counted(length as u64, one, several)));
    }

    fn note_page(&mut self, operation: Operation, length: usize) {
        if may_be_a_page(length) {
            self.survey.limits.push(format!(
                "{operation} gave {length} entries, which may be a page of more: records may be missing"
            ));
        }
    }
}

/// Whether a record belongs to one of the companies.
fn belongs(record: &Found, companies: Option<&HashSet<RemoteId>>) -> bool {
    companies.is_none_or(|companies| record.company.is_some_and(|company| companies.contains(&company)))
}

fn entries(operation: Operation, body: &Value) -> Result<Vec<Found>, ReadError> {
    found(operation, body).map_err(|why| ReadError::Failed(operation, why))
}

fn one(operation: Operation, body: &Value) -> Result<Found, ReadError> {
    let mut records = entries(operation, body)?;
    records.pop().ok_or_else(|| ReadError::Failed(operation, "the answer is empty".to_owned()))
}
