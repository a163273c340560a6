//! A record that is named on the command line: by its id, or by a name, MAC address or username that only one has.

use crate::cli::context::Context;
use crate::error::{Error, Result};
use crate::export::{Query, SearchResult, Sought, as_id, search, shown_name};
use crate::model::id::RemoteId;
use crate::service::{ReadError, ServiceReader};
use crate::term::{clean, count};

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
    let result = search(reader, &query).await.map_err(|error| failed(&error))?;
    let exact: Vec<RemoteId> =
        result.hits.iter().filter(|hit| hit.exact).filter_map(|hit| hit.record.id).collect();
    match *exact.as_slice() {
        [only] => Ok(only),
        [] => {
            let find = context.advice("to search, type: ", &format!("find {} NAME", sought.plural()));
            let none = format!("{option}: no {} is named exactly '{name}'", sought.singular());
            Err(Error::usage(none + &candidates(&result)).hint(find))
        }
        [..] => {
            let many = count(exact.len() as u64);
            let several = format!("{option}: {many} {} are named '{name}'", sought.plural());
            Err(Error::usage(several + &candidates(&result)).hint(format!("give the id of one: {option} ID")))
        }
    }
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
