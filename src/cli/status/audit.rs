//! What verification found, printed at the end of a run and by `status`: how many records are there, and every row that
//! a person must review, with the ids. Finding it is left to the run.

use serde_json::json;

use crate::cli::context::Context;
use crate::journal::{AuditFigures, Audited};
use crate::status::row_advice;
use crate::status::row_words;
use crate::term::{Ink, Line, count, counted};

/// Findings shown at once; the reports have them all.
const SHOWN: usize = 20;

/// Tells what was verified, and what was found.
pub(in crate::cli) fn tell(context: &Context<'_>, figures: &AuditFigures, findings: &[Audited]) {
    let terminal = context.terminal;
    let ink = if figures.findings() > 0 { Ink::Warning } else { Ink::Plain };
    terminal.result("");
    terminal.result(Line::new().ink(ink, row_words::verified(figures)));
    list(context, findings);
}

/// Tells what earlier runs found and nobody has looked into yet.
pub(in crate::cli) fn tell_earlier(context: &Context<'_>, findings: &[Audited]) {
    if findings.is_empty() {
        return;
    }
    context.terminal.result("");
    context.terminal.result(Line::new().ink(
        Ink::Warning,
        format!(
            "an earlier run found problems with {}, not reviewed yet:",
            counted(findings.len() as u64, "record", "records")
        ),
    ));
    list(context, findings);
}

/// Tells how a finding is no longer told, when there is one.
pub(in crate::cli) fn tell_how_to_end(context: &Context<'_>, first: Option<&Audited>) {
    if let Some(finding) = first {
        let command = format!("resolve {} --seen", finding.job);
        context.terminal.hint(context.advice("when you have reviewed it: ", &command));
    }
}

fn list(context: &Context<'_>, findings: &[Audited]) {
    let terminal = context.terminal;
    for finding in findings.iter().take(SHOWN) {
        terminal.result(
            Line::plain("  job ")
                .ink(Ink::Strong, finding.job.to_string())
                .text(format!("  {} \"{}\"  ", finding.kind.singular(), finding.name))
                .ink(Ink::Faint, &finding.place),
        );
        let seen = finding
            .seen
            .as_ref()
            .map_or_else(String::new, |(who, at)| format!("; reviewed by {who}, {}", context.moment(*at)));
        terminal.result(format!("    {} ({}){seen}", finding.message, finding.code));
    }
    if findings.len() > SHOWN {
        let more = u64::try_from(findings.len() - SHOWN).unwrap_or(u64::MAX);
        terminal.result(format!("  and {} more; the report lists them all", count(more)));
    }
    for finding in findings {
        terminal.object(&json!({
            "object": "finding", "job": finding.job, "kind": finding.kind, "name": finding.name,
            "place": finding.place, "id": finding.id, "code": finding.code, "message": finding.message,
            "at": finding.at.to_string(),
            "seen": finding.seen.as_ref().map(|(who, at)| json!({"who": who, "at": at.to_string()})),
            "found": finding.found.iter()
                .map(|found| json!({"id": found.id, "name": found.name, "details": found.details}))
                .collect::<Vec<_>>(),
        }));
    }
    // What to do is for those that nobody has looked into.
    let unseen = findings.iter().filter(|finding| finding.seen.is_none());
    let mut codes: Vec<&str> = unseen.map(|finding| finding.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        if let Some(what) = row_advice::of_finding(code) {
            terminal.hint(what);
        }
    }
}
