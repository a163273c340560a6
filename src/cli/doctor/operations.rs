//! All operations, group by group: which answer, which are not where they should be, and which have no known path and
//! what each is needed for. One line for each group; with `-v` one for each operation.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::probe::Finding;
use super::reading_operations::{Known, Tried, try_all};
use super::{Examined, Health, whose};
use crate::cli::reading::reference::resolve;
use crate::cli::settings::Settings;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::export::Sought;
use crate::journal::Journal;
use crate::model::operation::Operation;
use crate::sandbox::ROOT_COMPANY;
use crate::service::{Client, Endpoints, Origin, ReadError, ServiceReader};
use crate::term::{Ink, Line};

/// The groups, in the order of the specification.
const GROUPS: [(&str, &[&str]); 9] = [
    ("operations of access and companies", &["4.1", "4.2"]),
    ("operations of labels", &["4.3"]),
    ("operations of licences", &["4.4"]),
    ("operations of devices and templates", &["4.5", "4.11"]),
    ("operations of metadata", &["4.6"]),
    ("operations of people", &["4.7"]),
    ("operations of sites", &["4.8"]),
    ("operations of VPN clouds", &["4.9"]),
    ("operations of status and diagnostics", &["4.10"]),
];

/// The operations of every group.
pub(super) fn groups() -> impl Iterator<Item = (&'static str, Vec<Operation>)> {
    GROUPS.into_iter().map(|(name, sections)| {
        let operations = Operation::ALL.iter().copied();
        (name, operations.filter(|operation| sections.contains(&operation.section())).collect())
    })
}

impl Examined<'_> {
    /// Tries what only reads, and tells how it stands with every operation.
    pub(super) async fn operations(&mut self, client: &Client, settings: &Settings, company: Option<&str>) {
        let (mut asked, hint) = (None, "give the id of the company, or its whole name");
        let known = match company {
            Some(company) => {
                let (clock, rate) = (self.context.clock.clone(), settings.rate.value);
                let reader = ServiceReader::new(client.clone(), clock, rate, Duration::ZERO);
                let failed = |error: &ReadError| Error::usage(format!("--company: {error}")).hint(hint);
                let of = ("--company", Sought::Companies);
                let id = resolve(self.context, &failed, &reader, of, company, None).await;
                asked = self.noting("company", id);
                asked.map(Known::of_company)
            }
            // What is wrong with the journal has been told.
            None => self.of_journal(settings).ok(),
        };
        let tried = try_all(client, &*self.context.clock, known.unwrap_or_default()).await;
        if let (Some(id), Some(Tried::NoRecord(_))) = (asked, tried.get(&Operation::GetCompany)) {
            let none = format!("--company: the service has no company with the id {id}");
            self.noting::<()>("company", Err(Error::usage(none).hint(hint)));
        }
        for (group, operations) in groups() {
            self.group(group, &operations, &tried, client.endpoints(), settings.profile_name());
        }
    }

    /// Records of the journal, where it is that of this account; of a rehearsal, what exists in every one.
    fn of_journal(&self, settings: &Settings) -> Result<Known> {
        if self.context.rehearsing.get() {
            return Ok(Known::of_company(ROOT_COMPANY));
        }
        let path = &self.context.common.journal;
        if !path.exists() {
            return Ok(Known::default());
        }
        let journal = Journal::open_existing(path)?;
        if journal.account()? != settings.identity() {
            return Ok(Known::default());
        }
        Known::of_journal(&journal)
    }

    fn group(
        &mut self,
        group: &str,
        operations: &[Operation],
        tried: &BTreeMap<Operation, Tried>,
        endpoints: &Endpoints,
        profile: &str,
    ) {
        let read = || operations.iter().filter_map(|operation| Some((*operation, tried.get(operation)?)));
        let answer = read().filter(|(_, tried)| tried.answers()).count();
        let reads = operations.iter().filter(|operation| operation.looks_up()).count();
        let unmapped: Vec<Operation> =
            operations.iter().copied().filter(|operation| !endpoints.available(*operation)).collect();
        let others: Vec<(Operation, &Tried)> =
            read().filter(|(_, tried)| !tried.answers() && !matches!(tried, Tried::Unavailable)).collect();
        let path = match unmapped.len() {
            0 => format!("all {} have a path", operations.len()),
            missing => format!("{missing} of {} have no known path", operations.len()),
        };
        let message = match reads {
            0 => path,
            _ => format!("{path}; {answer} of the {reads} that only read answer"),
        };
        let health = if unmapped.is_empty() && others.is_empty() { Health::Well } else { Health::Look };
        self.tell(group, health, &message, None);
        let terminal = self.context.terminal;
        for (operation, tried) in &others {
            let words = format!("{operation} ({}): {}", origin(endpoints, *operation), tried.words());
            terminal.result(Line::plain("       ").text(words));
            // An assumed path was only a guess.
            if let (Tried::Other(Finding::Missing(_)), Some(Origin::Mapped | Origin::Documented)) =
                (tried, endpoints.get(*operation).map(|endpoint| endpoint.origin()))
            {
                self.note(End::EndpointMissing);
            }
        }
        if self.context.common.verbose > 0 {
            for operation in operations {
                let shown = match tried.get(operation) {
                    Some(tried) => tried.words(),
                    None if endpoints.available(*operation) => "not tried".to_owned(),
                    None => "no known path".to_owned(),
                };
                let words = format!(
                    "{operation} ({}): {shown}; needed for {}",
                    origin(endpoints, *operation),
                    operation.needed_for()
                );
                terminal.result(Line::plain("       ").ink(Ink::Faint, words));
            }
        } else if !unmapped.is_empty() {
            terminal.result(Line::plain("       ").text(format!("no known path: {}", by_need(&unmapped))));
        }
        for operation in operations {
            let endpoint = endpoints.get(*operation);
            terminal.object(&TriedOperationObject {
                operation: *operation,
                section: operation.section(),
                group,
                origin: origin(endpoints, *operation),
                path: endpoint.map(|endpoint| endpoint.path()),
                method: endpoint.map(|endpoint| endpoint.method().as_str()),
                needed_for: operation.needed_for(),
                answers: tried.get(operation).map(Tried::answers),
                tried: tried.get(operation).map(Tried::words),
                key: format!("[profile.{profile}.endpoints.{operation}]"),
            });
        }
    }

    /// Notes that something keeps a run from working, which has been told.
    fn note(&mut self, end: End) {
        if self.found.is_none_or(|found| end.exit() < found.exit()) {
            self.found = Some(end);
        }
    }
}

fn origin(endpoints: &Endpoints, operation: Operation) -> &'static str {
    endpoints.get(operation).map_or("unavailable", |endpoint| whose(endpoint.origin()))
}

/// Operations with what they are needed for, those for the same together.
fn by_need(operations: &[Operation]) -> String {
    let mut needs: Vec<(&str, Vec<&str>)> = Vec::new();
    for operation in operations {
        let need = operation.needed_for();
        match needs.iter_mut().find(|(known, _)| *known == need) {
            Some((_, names)) => names.push(operation.name()),
            None => needs.push((need, vec![operation.name()])),
        }
    }
    let needs = needs.into_iter().map(|(need, names)| format!("{} ({need})", names.join(", ")));
    needs.collect::<Vec<_>>().join("; ")
}

/// An operation that `doctor` has tried, or cannot try.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct TriedOperationObject<'a> {
    operation: Operation,
    /// The section of the specification.
    section: &'static str,
    /// The operations that it belongs to, in words.
    group: &'a str,
    /// Where the path is from: `documented`, `mapped` or `assumed`, else `unavailable`.
    origin: &'static str,
    /// Its path; `null` where it is not known.
    path: Option<&'a str>,
    /// Its method; `null` where its path is not known.
    method: Option<&'static str>,
    /// What it is needed for, in words.
    needed_for: &'static str,
    /// Whether it answers; `null` where it was not tried, as it changes something.
    answers: Option<bool>,
    /// What trying it has shown, in words.
    tried: Option<String>,
    /// The table of the settings file that sets method and path.
    key: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_in_one_group() {
        let mut listed: Vec<Operation> = groups().flat_map(|(_, operations)| operations).collect();
        listed.sort_unstable();
        assert_eq!(listed, Operation::ALL);
    }
}
