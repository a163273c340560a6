//! Finds out which records an export is about: companies below a company, sites of companies, and devices, which no
//! documented operation lists by company (specification 4.2, 4.5, 4.8, 4.10, 4.11).
//!
//! Each is handed over as it is found: there may be very many. The companies are found in `companies`, the
//! devices in `devices`.

mod companies;
mod devices;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::owner::{NamedRecord, Owner};
use super::subject::{OwnerKind, Subject};
use crate::error::{Error, Result as Done};
use crate::model::amount::{count, counted};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::service::{Call, Found, ListAnswer, ReadError, Records, ServiceReader, found, may_be_a_page};

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
    Records(Vec<NamedRecord>),
}

/// How the records of a scope were found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Survey {
    /// How the records were found, a sentence each.
    pub ways: Vec<String>,
    /// What this export cannot know, a sentence each.
    pub limits: Vec<String>,
}

/// Why the records of a scope were not found out.
#[derive(Debug)]
pub enum SurveyError {
    /// A question has no answer.
    Read(ReadError),
    /// A record could not be kept.
    Keep(Error),
}

impl From<ReadError> for SurveyError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

type Result<T> = std::result::Result<T, SurveyError>;

/// What keeps the records that are found.
type Keep<'a> = &'a mut dyn FnMut(Owner) -> Done<()>;

/// Finds out which records `scope` is for an export of `subject`, and hands each over in the order of the export.
///
/// # Errors
///
/// [`ReadError::Unavailable`] when no operation that could tell can be reached, and whatever keeps the first question from
/// being answered. What fails later is an owner with its trouble.
pub async fn survey(
    reader: &ServiceReader,
    subject: Subject,
    scope: Scope,
    keep: Keep<'_>,
) -> Result<Survey> {
    let root = root(reader, subject, &scope).await?;
    let mut surveyor = Surveyor { reader, subject, survey: Survey::default(), root, companies: None, keep };
    surveyor.find(scope).await?;
    Ok(surveyor.survey)
}

/// The record that the scope names, which must be there; as it is, where its operation cannot be reached.
async fn root(
    reader: &ServiceReader,
    subject: Subject,
    scope: &Scope,
) -> std::result::Result<Option<Owner>, ReadError> {
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

/// The records that an export of `subject` is asked for. Where an answer about one shows what belongs to it, only the
/// smallest: a device is among those of its site and of its company as well.
fn smallest(subject: Subject, mut records: Vec<NamedRecord>) -> Vec<NamedRecord> {
    let wanted = subject.owners();
    let has = |kind: &&OwnerKind| {
        records.iter().any(|one| matches!(one, NamedRecord::Known(known, _) if known == *kind))
    };
    let only = wanted.iter().rev().find(has).filter(|_| subject.is_shown_by_larger()).copied();
    records.retain(|one| {
        let is_meant = match (one, only) {
            (NamedRecord::Known(kind, _), Some(only)) => *kind == only,
            (NamedRecord::Known(..) | NamedRecord::Unknown(_), _) => true,
        };
        is_meant && wanted.contains(&one.kind())
    });
    records
}

struct Surveyor<'a> {
    reader: &'a ServiceReader,
    subject: Subject,
    survey: Survey,
    /// The record that the scope names.
    root: Option<Owner>,
    /// The companies of the scope that begins with one, once they are known.
    companies: Option<HashSet<RemoteId>>,
    keep: Keep<'a>,
}

impl Surveyor<'_> {
    async fn find(&mut self, scope: Scope) -> Result<()> {
        let wanted = self.subject.owners();
        if wanted.contains(&OwnerKind::Account) {
            return self.keep(Owner::account());
        }
        if let Scope::Records(records) = scope {
            let records = smallest(self.subject, records);
            let mut devices = Vec::new();
            for record in records {
                match record {
                    NamedRecord::Known(OwnerKind::Device, id) if self.subject == Subject::States => {
                        devices.push(id);
                    }
                    record => self.keep(record.owner())?,
                }
            }
            return self.by_company(&devices).await;
        }
        if wanted.contains(&OwnerKind::CompanyTree) {
            return self.of_diagnostics(&scope).await;
        }
        for kind in wanted {
            match kind {
                OwnerKind::Company => {
                    if matches!(scope, Scope::Everything | Scope::Company { .. }) {
                        self.companies(&scope).await?;
                    }
                }
                OwnerKind::Site => self.sites(&scope).await?,
                OwnerKind::Device => self.devices(&scope).await?,
                OwnerKind::Account | OwnerKind::CompanyTree | OwnerKind::Person => {}
            }
        }
        Ok(())
    }

    fn keep(&mut self, owner: Owner) -> Result<()> {
        (self.keep)(owner).map_err(SurveyError::Keep)
    }

    fn keep_all(&mut self, owners: impl IntoIterator<Item = Owner>) -> Result<()> {
        owners.into_iter().try_for_each(|owner| self.keep(owner))
    }

    /// Keeps a record that a list shows, with all of it where the export is of such records.
    fn keep_listed(&mut self, kind: OwnerKind, mut record: Found) -> Result<()> {
        let is_whole = matches!(
            (self.subject, kind),
            (Subject::Companies, OwnerKind::Company) | (Subject::Sites, OwnerKind::Site)
        );
        let whole = is_whole.then(|| record.raw.take());
        match Owner::listed(kind, record) {
            Some(owner) => self.keep(Owner { record: whole, is_listed: is_whole, ..owner }),
            None => Ok(()),
        }
    }

    /// For statuses and states: the largest that one answer covers, else the devices one by one.
    async fn of_diagnostics(&mut self, scope: &Scope) -> Result<()> {
        let subject = self.subject;
        let owner = match scope {
            Scope::Everything | Scope::Records(_) => None,
            Scope::Company { id, below: true } => Some(Owner::new(OwnerKind::CompanyTree, *id)),
            Scope::Device(_) if subject == Subject::States => {
                let device: Vec<RemoteId> = self.root.iter().map(|device| device.id).collect();
                return self.by_company(&device).await;
            }
            Scope::Company { below: false, .. } | Scope::Site(_) | Scope::Device(_) => self.root.clone(),
        };
        let can_be_asked =
            |kind| subject.needed(kind).iter().all(|&operation| self.reader.available(operation));
        if let Some(owner) = owner.filter(|owner| can_be_asked(owner.kind)) {
            return self.keep(owner);
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
        Err(ReadError::Unavailable(first, 0).into())
    }

    /// Devices by the company that each belongs to, since states are listed by company only.
    async fn by_company(&mut self, devices: &[RemoteId]) -> Result<()> {
        let operation = Operation::GetDevice;
        let calls = devices.iter().map(|device| Call::reading(operation, [device.to_string()]));
        let mut devices = devices.iter();
        let (mut groups, mut places) = (Vec::<Owner>::new(), HashMap::new());
        let mut troubled = Vec::new();
        let mut take = |answer: std::result::Result<Value, ReadError>| -> Result<()> {
            let Some(&device) = devices.next() else { return Ok(()) };
            let troubled_device = |why| Owner::new(OwnerKind::Device, device).troubled(why);
            match answer.and_then(|body| one(operation, &body)).map(|record| record.company) {
                Ok(Some(company)) => {
                    let place = *places.entry(company).or_insert(groups.len());
                    if place == groups.len() {
                        groups.push(Owner::new(OwnerKind::Company, company));
                    }
                    groups[place].only.get_or_insert_default().push(device);
                }
                Ok(None) => troubled.push(troubled_device("getDevice does not show its company".to_owned())),
                Err(error) => troubled.push(troubled_device(error.to_string())),
            }
            Ok(())
        };
        self.reader.read_each(calls, &mut take).await?;
        self.keep_all(groups)?;
        self.keep_all(troubled)
    }

    /// The sites of a scope.
    async fn sites(&mut self, scope: &Scope) -> Result<()> {
        let companies = match scope {
            Scope::Site(_) => return self.keep_all(self.root.clone()),
            Scope::Device(_) | Scope::Records(_) => return Ok(()),
            Scope::Everything => None,
            Scope::Company { below, .. } => Some(self.company_ids(*below).await?),
        };
        if self.reader.available(Operation::ListSites) {
            let listed = self.list(Operation::ListSites).await?;
            let (mut some, all) = (0, counted(listed.length() as u64, "site", "sites"));
            for site in listed.filter(|site| belongs(site, companies.as_ref())) {
                some += 1;
                self.keep_listed(OwnerKind::Site, site)?;
            }
            self.survey.ways.push(format!("{} of {all} from listSites", count(some)));
            return Ok(());
        }
        let operation = Operation::FindSitesByName;
        let Some(companies) = companies.filter(|_| self.reader.available(operation)) else {
            return Err(ReadError::Unavailable(Operation::ListSites, 0).into());
        };
        let mut length = 0;
        let mut take = |this: &mut Self, site| {
            length += 1;
            this.keep_listed(OwnerKind::Site, site)
        };
        self.by_characters(operation, &companies, &mut take).await?;
        self.found("site", "sites", length, operation);
        Ok(())
    }

    /// Hands over every record whose name has one of the characters, company by company.
    async fn by_characters(
        &mut self,
        operation: Operation,
        companies: &HashSet<RemoteId>,
        each: &mut dyn FnMut(&mut Self, Found) -> Result<()>,
    ) -> Result<()> {
        let mut seen = HashSet::new();
        let mut sorted: Vec<RemoteId> = companies.iter().copied().collect();
        sorted.sort_unstable();
        for company in sorted {
            let calls = CHARACTERS
                .chars()
                .map(|character| Call::reading(operation, [character.to_string(), company.to_string()]));
            let reader = self.reader;
            let mut take = |answer: std::result::Result<ListAnswer, ReadError>| -> Result<()> {
                let found = records(operation, answer?)?;
                self.note_page(operation, found.length());
                for record in found {
                    if record.id.is_some_and(|id| seen.insert(id)) {
                        each(self, record)?;
                    }
                }
                Ok(())
            };
            reader.list_each(calls, &mut take).await?;
        }
        self.survey.limits.push(format!(
            "{operation} was asked for each letter and digit: records whose names have none of A to Z and 0 to 9 are not in \
             this export"
        ));
        Ok(())
    }

    /// The list of everything of a kind, with a note where it may be a page.
    async fn list(&mut self, operation: Operation) -> std::result::Result<Records, ReadError> {
        let listed = records(operation, self.reader.list(Call::reading(operation, [])).await?)?;
        self.note_page(operation, listed.length());
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

fn records(operation: Operation, answer: ListAnswer) -> std::result::Result<Records, ReadError> {
    Records::of(operation, answer).map_err(|why| ReadError::Failed(operation, why))
}

fn one(operation: Operation, body: &Value) -> std::result::Result<Found, ReadError> {
    let mut records = found(operation, body).map_err(|why| ReadError::Failed(operation, why))?;
    records.pop().ok_or_else(|| ReadError::Failed(operation, "the answer is empty".to_owned()))
}
