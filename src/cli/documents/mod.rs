//! What fleetload hands out of itself: explanations, completions and manual pages, and here `fleetload template`: blank
//! sheets to fill in. What they look like is [`crate::sheet::template`]'s business.

mod company_records;
pub(super) mod completions;
pub(super) mod explain;

use std::path::PathBuf;

use serde::Serialize;

use super::args::commands::Template as Typed;
use super::context::Context;
use super::summary::Summary;
use super::zones;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::model::kind::Kind;
use crate::sheet::template::{self as blank, KnownRecords};
use crate::term::{Ink, Line};

/// Writes the blank sheets.
pub(super) fn template(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let kinds: &[Kind] = if typed.kinds.is_empty() { &Kind::RECORDS } else { &typed.kinds };
    let is_workbook = typed.out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xlsx"));
    if !is_workbook && typed.company.is_some() {
        return Err(Error::usage("--for fills drop-downs, and CSV files have none")
            .hint("name a workbook: --out FILE.xlsx"));
    }
    let mut counts = None;
    let files = if is_workbook {
        let known = match &typed.company {
            Some(company) => company_records::read(context, typed, company)?,
            None => KnownRecords::default(),
        };
        let zones = zones::of_service(context, context.profile_for_sheets()?.as_ref());
        blank::workbook(kinds, zones.as_ref(), &known, &typed.out)?;
        counts = typed.company.as_ref().map(|_| FilledIn::from(&known));
        vec![typed.out.clone()]
    } else {
        blank::csv(kinds, &typed.out)?
    };
    for file in &files {
        context.terminal.result(Line::plain("wrote ").ink(Ink::Strong, file.display().to_string()));
    }
    let named: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let command = format!("check {}", named.join(" "));
    context.terminal.hint(context.advice("fill them in, then: ", &command));
    Ok(Summary::new(End::Done).with(&TemplateSummary { files, filled_in: counts }))
}

/// Blank sheets that were written.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct TemplateSummary {
    /// The files.
    files: Vec<PathBuf>,
    /// What the drop-downs were filled with; `null` without `--for`.
    filled_in: Option<FilledIn>,
}

/// The records that the drop-downs of a workbook offer, in numbers.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct FilledIn {
    /// Companies.
    companies: usize,
    /// Sites.
    sites: usize,
    /// Devices.
    devices: usize,
    /// Enterprise templates.
    templates: usize,
    /// VPN clouds.
    clouds: usize,
    /// What could not be read, or is too long to be offered.
    notes: Vec<String>,
}

impl From<&KnownRecords> for FilledIn {
    fn from(known: &KnownRecords) -> Self {
        Self {
            companies: known.companies.len(),
            sites: known.sites.len(),
            devices: known.devices.len(),
            templates: known.templates.len(),
            clouds: known.clouds.len(),
            notes: known.notes.clone(),
        }
    }
}
