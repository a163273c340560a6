//! What the service has of a company, for the drop-downs of a blank workbook: companies below it, sites, devices, and the
//! templates and clouds that a device of it can have. What cannot be read is reported, on the terminal and in the workbook.

use std::time::Duration;

use crate::cli::args::commands::Template as Typed;
use crate::cli::args::options::Overrides;
use crate::cli::context::Context;
use crate::cli::reading::access::ServiceAccess;
use crate::cli::reading::reference::resolve;
use crate::error::{Error, Result};
use crate::export::{Query, Scope, Sought, Subject, SurveyError, search, shown_name, survey};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::service::{Call, ReadError, ServiceReader, found};
use crate::sheet::template::KnownRecords;
use crate::term::{clean, count, counted};

/// A person who waits gets the workbook, or the reason why there is none, within this time.
const PATIENCE: Duration = Duration::from_secs(5);
/// Records of one kind that a drop-down lists; nobody scrolls through more.
const MOST: usize = 10_000;

/// Reads what the service has of a company.
pub(super) fn read(context: &Context<'_>, typed: &Typed, company: &str) -> Result<KnownRecords> {
    let access = ServiceAccess::to_read(context, &typed.rehearsal, &Overrides::default())?;
    let whose = access.whose();
    let banner = whose.banner().map(|_| whose.line());
    context.tell_whose(&whose);
    let known = read_from(context, &access, company);
    access.leave();
    let mut known = known?;
    for note in &known.notes {
        context.terminal.say(clean(note));
    }
    known.notes.splice(0..0, banner);
    Ok(known)
}

fn read_from(context: &Context<'_>, access: &ServiceAccess, company: &str) -> Result<KnownRecords> {
    let reader = access.reader(context, PATIENCE)?;
    access.runtime.block_on(async {
        let option = ("--for", Sought::Companies);
        let id = resolve(context, &|error| access.failed(error), &reader, option, company, None).await?;
        let own = Query { sought: Sought::Companies, text: Some(id.to_string()), company: None, device: None };
        let own = search(&reader, &own).await.map_err(|error| access.failed(&error))?;
        let name = own.hits.first().map(|hit| shown_name(&hit.record)).ok_or_else(|| {
            let find = context.advice("to search, type: ", "find companies NAME");
            Error::usage(format!("--for: the service has no company with the id {id}")).hint(find)
        })?;
        let mut lists = Lists { access, reader: &reader, notes: Vec::new() };
        let mut companies = vec![(name.clone(), id)];
        companies.extend(lists.read(Sought::Companies, Some(id), None).await?);
        let sites = lists.read(Sought::Sites, Some(id), None).await?;
        let devices = lists.read(Sought::Devices, Some(id), None).await?;
        let (mut templates, mut clouds) = (Vec::new(), Vec::new());
        match devices.first() {
            Some((device, device_id)) => {
                templates = lists.read(Sought::Templates, None, Some(*device_id)).await?;
                clouds = lists.read(Sought::Clouds, None, Some(*device_id)).await?;
                let which = format!("templates and clouds are those of the device {device}; other devices may have others");
                lists.notes.push(which);
            }
            None => lists.notes.push(
                "templates and clouds are not filled in: the service lists them for a device only, and no device of \
                 the company is known"
                    .to_owned(),
            ),
        }
        lists.notes.push("hardware models are not filled in: the service has no operation that lists them".to_owned());
        let sum = |number: usize, sought: Sought| counted(number as u64, sought.singular(), sought.plural());
        let filled = format!(
            "Filled in for {name}: {}, {}, {}, {}, {}. The drop-downs list these in place of the keys of this workbook.",
            sum(companies.len(), Sought::Companies),
            sum(sites.len(), Sought::Sites),
            sum(devices.len(), Sought::Devices),
            sum(templates.len(), Sought::Templates),
            sum(clouds.len(), Sought::Clouds),
        );
        lists.notes.insert(0, filled);
        Ok(KnownRecords { companies, sites, devices, templates, clouds, notes: lists.notes })
    })
}

/// The lists under way, with what is to be said of them.
struct Lists<'a> {
    access: &'a ServiceAccess,
    reader: &'a ServiceReader,
    notes: Vec<String>,
}

impl Lists<'_> {
    /// The records of a kind by name; none where they cannot be read, which is noted.
    async fn read(
        &mut self,
        sought: Sought,
        company: Option<RemoteId>,
        device: Option<RemoteId>,
    ) -> Result<Vec<(String, RemoteId)>> {
        let kind = sought.plural();
        let query = Query { sought, text: None, company, device };
        let result = match search(self.reader, &query).await {
            Ok(result) => result,
            Err(error @ ReadError::Stopped(_)) => return Err(self.access.failed(&error)),
            Err(error @ ReadError::Unavailable(..)) => return self.survey(sought, company, &error).await,
            Err(error @ (ReadError::NotFound(..) | ReadError::Failed(..))) => {
                self.notes.push(format!("{kind} are not filled in: {error}"));
                return Ok(Vec::new());
            }
        };
        for operation in &result.unavailable {
            self.notes.push(format!("{kind} may be missing: {operation} has no known path"));
        }
        for (operation, length) in &result.perhaps_pages {
            let length = count(*length as u64);
            self.notes.push(format!(
                "{kind} may be missing: {operation} gave {length} entries, which may be a page"
            ));
        }
        let records =
            result.hits.iter().filter_map(|hit| Some((clean(&shown_name(&hit.record)), hit.record.id?)));
        Ok(self.most(sought, records.collect()))
    }

    /// The records of a kind that no list shows, found as an export finds them; `missing` is the list.
    async fn survey(
        &mut self,
        sought: Sought,
        company: Option<RemoteId>,
        missing: &ReadError,
    ) -> Result<Vec<(String, RemoteId)>> {
        let kind = sought.plural();
        let subject = match sought {
            Sought::Sites => Some(Subject::Sites),
            Sought::Devices => Some(Subject::Devices),
            Sought::Companies | Sought::People | Sought::Templates | Sought::Clouds => None,
        };
        let (Some(subject), Some(id)) = (subject, company) else {
            self.notes.push(format!("{kind} are not filled in: {missing}"));
            return Ok(Vec::new());
        };
        let mut owners = Vec::new();
        let mut keep = |owner| {
            owners.push(owner);
            Ok(())
        };
        match survey(self.reader, subject, Scope::Company { id, below: false }, &mut keep).await {
            Ok(_) => {}
            Err(SurveyError::Read(error @ ReadError::Stopped(_))) => return Err(self.access.failed(&error)),
            Err(_) => {
                self.notes.push(format!("{kind} are not filled in: {missing}"));
                return Ok(Vec::new());
            }
        }
        self.notes.push(format!("{kind} may be missing: {missing}, so they were found by other operations"));
        let nameless: Vec<Call> = owners
            .iter()
            .filter(|owner| owner.name.is_none() && subject == Subject::Devices)
            .map(|owner| Call::reading(Operation::GetDevice, [owner.id.to_string()]))
            .collect();
        let mut records: Vec<(String, RemoteId)> =
            owners.into_iter().filter_map(|owner| Some((clean(&owner.name?), owner.id))).collect();
        for answer in self.reader.read_all(nameless).await.map_err(|error| self.access.failed(&error))? {
            let read =
                answer.ok().and_then(|body| found(Operation::GetDevice, &body).ok()).unwrap_or_default();
            records.extend(read.iter().filter_map(|record| Some((clean(&shown_name(record)), record.id?))));
        }
        records.sort();
        Ok(self.most(sought, records))
    }

    /// As many as a drop-down lists; it is noted where there are more.
    fn most(&mut self, sought: Sought, mut records: Vec<(String, RemoteId)>) -> Vec<(String, RemoteId)> {
        let kind = sought.plural();
        if records.len() > MOST {
            let (most, all) = (count(MOST as u64), count(records.len() as u64));
            self.notes.push(format!("of {all} {kind} the first {most} are filled in"));
            records.truncate(MOST);
        }
        records
    }
}
