//! `fleetload find`: the ids of records that exist, so that a person can fill in a sheet.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::access::ServiceAccess;
use super::reference::{COMPANY, resolve, unknown_id};
use crate::advice::Advice;
use crate::cli::args::options::Overrides;
use crate::cli::args::reading::Find as Typed;
use crate::cli::context::Context;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::export::{Hit, Query, SearchResult, Sought, is_username, search, shown_name};
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::service::ReadError;
use crate::term::{Ink, Line, Table, count, counted};

/// A person who waits gets an answer, or the reason why there is none, within this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Finds records and shows them.
pub(in crate::cli) fn find(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    context.rehearse(&typed.rehearsal);
    check(typed)?;
    let access = ServiceAccess::to_read(context, &typed.rehearsal, &Overrides::default())?;
    let found = answer(context, typed, &access);
    access.leave();
    found
}

/// What is typed can be searched for.
fn check(typed: &Typed) -> Result<()> {
    let name = typed.name.as_deref().map(str::trim);
    if name == Some("") {
        return Err(Error::usage("the name to search for is empty").hint("give a part of the name"));
    }
    match (typed.kind, &typed.device) {
        (Sought::Templates | Sought::Clouds, None) => {
            let kind = typed.kind.plural();
            let hint = Advice::from("name a device: ")
                .command(format!("fleetload find {kind} --device DEVICE"))
                .words(", with its id, MAC address or exact name");
            return Err(Error::usage(format!("the service lists {kind} for a device only")).hint(hint));
        }
        (Sought::Templates | Sought::Clouds, Some(_)) => {}
        (Sought::Companies | Sought::Sites | Sought::Devices | Sought::People, Some(_)) => {
            return Err(Error::usage("--device is for templates and clouds only").hint("omit --device"));
        }
        (Sought::Companies | Sought::Sites | Sought::Devices | Sought::People, None) => {}
    }
    if name.is_none() && typed.company.is_none() && typed.device.is_none() {
        let kind = typed.kind.plural();
        let hint = Advice::new()
            .command(format!("fleetload find {kind} NAME"))
            .words(", or ")
            .command(format!("fleetload find {kind} --company COMPANY"));
        return Err(Error::usage(format!("give a name to search for, or the company whose {kind} you want"))
            .hint(hint));
    }
    if typed.kind == Sought::People
        && typed.company.is_none()
        && name.is_some_and(|name| !is_username(name) && crate::export::as_id(name).is_none())
    {
        return Err(Error::usage("the service finds people by their username only")
            .hint("give the username, or add --company COMPANY to search the people of a company by name"));
    }
    Ok(())
}

fn answer(context: &Context<'_>, typed: &Typed, access: &ServiceAccess) -> Result<Summary> {
    let reader = access.reader(context, PATIENCE)?;
    let failed = |error: &ReadError| access.failed(error);
    let (query, result) = access.runtime.block_on(async {
        let company = match &typed.company {
            Some(text) => Some(resolve(context, &failed, &reader, COMPANY, text, None).await?),
            None => None,
        };
        let device = match &typed.device {
            Some(text) => {
                let of = ("--device", Sought::Devices);
                Some(resolve(context, &failed, &reader, of, text, company).await?)
            }
            None => None,
        };
        let text = typed.name.as_deref().map(|name| name.trim().to_owned());
        let query = Query { sought: typed.kind, text, company, device };
        let result =
            search(&reader, &query).await.map_err(|error| explained(context, access, &query, &error))?;
        Ok::<_, Error>((query, result))
    })?;
    context.tell_whose(&access.whose());
    Ok(tell(context, access, &query, &result))
}

/// Why nothing can be listed; of an owner that does not exist, with the option that names it.
fn explained(context: &Context<'_>, access: &ServiceAccess, query: &Query, error: &ReadError) -> Error {
    match error {
        ReadError::NotFound(_, words) => {
            let of = if query.device.is_some() { ("--device", Sought::Devices) } else { COMPANY };
            unknown_id(context, of, words)
        }
        ReadError::Unavailable(operation, _) => {
            let more = match operation {
                Operation::GetPersonByUsername if query.company.is_none() => {
                    ", or add --company COMPANY to read the people of a company"
                }
                _ => "",
            };
            let failed = access.failed(error);
            let hint = failed.next_step().map(|hint| format!("{hint}{more}"));
            match hint {
                Some(hint) => failed.hint(hint),
                None => failed,
            }
        }
        ReadError::Failed(..) | ReadError::Stopped(_) => access.failed(error),
    }
}

fn tell(context: &Context<'_>, access: &ServiceAccess, query: &Query, result: &SearchResult) -> Summary {
    let terminal = context.terminal;
    let exact = result.hits.iter().filter(|hit| hit.exact).count();
    if result.hits.is_empty() {
        tell_nothing(context, query);
    } else {
        for hit in &result.hits {
            terminal.object(&FoundObject::of(query.sought, hit));
        }
        for line in table(query, &result.hits).lines_within(terminal.result_columns()) {
            terminal.result(line);
        }
        let of = query.sought;
        let found = counted(result.hits.len() as u64, of.singular(), of.plural());
        let exactly = match (exact, &query.text) {
            (_, None) => String::new(),
            (0, Some(_)) => ", none of them an exact match".to_owned(),
            (exact, Some(_)) => format!(", {} an exact match", count(exact as u64)),
        };
        terminal.result("");
        terminal.result(Line::new().ink(Ink::Strong, found).text(format!("{exactly} ({})", asked(result))));
    }
    for (operation, length) in &result.perhaps_pages {
        terminal.warn(format!(
            "{operation} gave {} entries, which may be a page of more: search for a longer part of the name",
            count(*length as u64)
        ));
    }
    if !result.unavailable.is_empty() {
        let names: Vec<&str> = result.unavailable.iter().map(|operation| operation.name()).collect();
        terminal.say(format!("{} cannot be reached with this profile", names.join(", ")));
        terminal.hint(access.settings.to_map(&result.unavailable));
    }
    let pages: Vec<Operation> = result.perhaps_pages.iter().map(|(operation, _)| *operation).collect();
    Summary::new(if result.hits.is_empty() { End::NothingFound } else { End::Done }).with(&FindSummary {
        kind: query.sought.plural(),
        found: result.hits.len(),
        exact,
        asked: &result.asked,
        unavailable: &result.unavailable,
        perhaps_incomplete: pages,
    })
}

/// Which operations answered, in words.
fn asked(result: &SearchResult) -> String {
    let names: Vec<&str> = result.asked.iter().map(|operation| operation.name()).collect();
    format!("from {}", names.join(", "))
}

fn tell_nothing(context: &Context<'_>, query: &Query) {
    let one = query.sought.singular();
    let scope = match (query.company, query.device) {
        (Some(company), _) if query.sought == Sought::Companies => {
            format!(" directly below the company {company}")
        }
        (Some(company), _) => format!(" in the company {company}"),
        (None, Some(device)) => format!(" for the device {device}"),
        (None, None) => String::new(),
    };
    let text = query.text.as_deref().map(|text| format!(" that matches '{text}'")).unwrap_or_default();
    context.terminal.result(format!("no {one}{text}{scope} was found"));
    let hint = match (query.sought, &query.text) {
        (Sought::People, Some(_)) if query.company.is_none() => {
            "usernames match only as a whole; to search by name, add --company COMPANY"
        }
        (_, Some(_)) if query.is_whole() => {
            "an id and a MAC address match only as a whole; a search finds only what the account may see"
        }
        (_, Some(_)) => "search for a shorter part of the name; a search finds only what the account may see",
        (_, None) => "check the company or the device that you named",
    };
    context.terminal.hint(hint);
}

/// A record that was found.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct FoundObject<'a> {
    /// What it is: `company`, `site`, `device`, `person`, `template` or `cloud`.
    kind: &'static str,
    /// Its id.
    id: Option<RemoteId>,
    /// Its name; of people the username.
    name: String,
    /// Whether it matches exactly what was searched for.
    exact: bool,
    /// The operations that showed it.
    shown_by: &'a [Operation],
    /// The record as the service answered it.
    record: &'a Value,
}

impl<'a> FoundObject<'a> {
    fn of(sought: Sought, hit: &'a Hit) -> Self {
        Self {
            kind: sought.singular(),
            id: hit.record.id,
            name: shown_name(&hit.record),
            exact: hit.exact,
            shown_by: &hit.shown_by,
            record: &hit.record.raw,
        }
    }
}

/// What a search has found.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct FindSummary<'a> {
    /// What was searched for.
    kind: &'static str,
    /// How many records were found.
    found: usize,
    /// How many of them match exactly.
    exact: usize,
    /// The operations that answered.
    asked: &'a [Operation],
    /// Operations that would show more and have no known path.
    unavailable: &'a [Operation],
    /// Operations whose list may be one page of a longer one.
    perhaps_incomplete: Vec<Operation>,
}

/// The records as a table.
fn table(query: &Query, hits: &[Hit]) -> Table {
    let searched = query.text.is_some();
    let own: &[&str] = match query.sought {
        Sought::Companies => &[],
        Sought::Sites => &["reference", "company"],
        Sought::Devices => &["MAC address", "company"],
        Sought::People => &["username", "email"],
        Sought::Templates | Sought::Clouds => &["company", "of the device"],
    };
    let mut heads = vec!["id", "name"];
    heads.extend(own);
    heads.extend(searched.then_some("match"));
    let mut table = Table::new(&heads, &[]);
    for hit in hits {
        let record = &hit.record;
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let id = |id: Option<RemoteId>| id.map(|id| id.to_string()).unwrap_or_default();
        let company = || record.company_name.clone().unwrap_or_else(|| id(record.company));
        let mut cells = vec![id(record.id), shown_name(record)];
        match query.sought {
            Sought::Companies => {}
            Sought::Sites => cells.extend([text(&record.reference), company()]),
            Sought::Devices => cells.extend([text(&record.identification), company()]),
            Sought::People => cells.extend([text(&record.username), text(&record.email)]),
            Sought::Templates | Sought::Clouds => cells.extend([company(), of_device(hit).to_owned()]),
        }
        if searched {
            cells.push(if hit.exact { "exact" } else { "partial" }.to_owned());
        }
        table.row(cells);
    }
    table
}

/// How a template or a cloud and the device belong together.
fn of_device(hit: &Hit) -> &'static str {
    let shown_by = |operation| hit.shown_by.contains(&operation);
    if shown_by(Operation::ListAssignedTemplates) {
        "assigned"
    } else if shown_by(Operation::ListDeviceVpnClouds) {
        "member"
    } else if shown_by(Operation::ListJoinableVpnClouds) {
        "can be joined"
    } else {
        "can be assigned"
    }
}
