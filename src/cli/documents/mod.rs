//! What fleetload hands out of itself: explanations, completions and manual pages, and here `fleetload template`: blank
//! sheets to fill in. What they look like is [`crate::sheet::template`]'s business.

mod company_records;
pub(super) mod completions;
pub(super) mod explain;

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
        counts = typed.company.as_ref().map(|_| company_records::object(&known));
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
    Ok(Summary::new(End::Done).with("files", files).with("filled_in", counts))
}
