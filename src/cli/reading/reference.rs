//! A record that is named on the command line: by its id, or by a name, MAC address or username that only one has.

use crate::cli::context::Context;
use crate::error::{Error, Result};
use crate::export::{Query, SearchResult, Sought, as_id, search, shown_name};
use crate::model::id::RemoteId;
use crate::service::{ReadError, ServiceReader};
use crate::term::{clean, count};

/// The option that names a company.
pub(in crate::cli) const COMPANY: (&str, Sought) = ("--company", Sought::Companies);

/// How many candidates are shown.
const MOST_SHOWN: usize = 10;

/// The id of the record that an option names. An id is taken as it is.
///
/// # Errors
///
/// Usage, with the candidates, when no record or several have the name; `failed` where the service gives no answer.
pub(in crate::cli) async fn resolve(
    context: &Context<'_>,
    failed: &dyn Fn(&ReadError) -> Error,
    reader: &ServiceReader,
    (option, sought): (&str, Sought),
    text: &str,
    company: Option<RemoteId>,
) -> Result<RemoteId> {
    if let Some(id) = as_id(text) {
        return Ok(id);
    }
    let name = text.strip_prefix("name:").unwrap_or(text);
    let query = Query { sought, text: Some(name.to_owned()), company, device: None };
    let result = search(reader, &query).await.map_err(|error| match (&error, company) {
        // The list of what a company has.
        (ReadError::NotFound(_, words), Some(_)) => unknown_id(context, COMPANY, words),
        _ => failed(&error),
    })?;
    let exact: Vec<RemoteId> =
        result.hits.iter().filter(|hit| hit.exact).filter_map(|hit| hit.record.id).collect();
    match *exact.as_slice() {
        [only] => Ok(only),
        [] => {
            let find = context.advice("to search, type: ", &format!("find {} NAME", sought.plural()));
            let of = company.map(|company| format!(" of the company {company}")).unwrap_or_default();
            let none = format!("{option}: no {}{of} is named exactly '{name}'", sought.singular());
            Err(Error::usage(none + &candidates(&result)).hint(find))
        }
        [..] => {
            let many = count(exact.len() as u64);
            let several = format!("{option}: {many} {} are named '{name}'", sought.plural());
            Err(Error::usage(several + &candidates(&result)).hint(format!("give the id of one: {option} ID")))
        }
    }
}

/// What is said of an id that the service does not have, with the option that names it; `words` are its own.
pub(in crate::cli) fn unknown_id(
    context: &Context<'_>,
    (option, sought): (&str, Sought),
    words: &str,
) -> Error {
    let find = format!("find {} NAME", sought.plural());
    Error::usage(format!("{option}: {words}")).hint(context.advice("to search for the id, type: ", &find))
}

/// What the search found, a line each.
fn candidates(result: &SearchResult) -> String {
    if result.hits.is_empty() {
        return String::new();
    }
    let mut lines: Vec<String> = result
        .hits
        .iter()
        .take(MOST_SHOWN)
        .map(|hit| {
            let id = hit.record.id.map_or_else(|| "(no id)".to_owned(), |id| id.to_string());
            let of = hit.record.company_name.as_deref().map(|of| format!(", {of}")).unwrap_or_default();
            clean(&format!("{id}  {}{of}", shown_name(&hit.record)))
        })
        .collect();
    if result.hits.len() > MOST_SHOWN {
        lines.push(format!("and {} more", count((result.hits.len() - MOST_SHOWN) as u64)));
    }
    format!("; the service has:\n{}", lines.join("\n"))
}
