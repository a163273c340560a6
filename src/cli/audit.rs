//! What verification found, printed at the end of a run and by `status`: how many records are there, and every row that
//! a person must review, with the ids. Finding it is left to the run.

use serde_json::json;

use super::context::Context;
use crate::journal::{AuditFigures, Audited};
use crate::report::advice;
use crate::term::{Ink, Line, count, counted};

/// Findings shown at once; the reports have them all.
const SHOWN: usize = 20;

/// Tells what was verified, and what was found.
pub(super) fn tell(context: &Context<'_>, figures: &AuditFigures, findings: &[Audited]) {
    let terminal = context.terminal;
    let ink = if figures.findings() > 0 { Ink::Warning } else { Ink::Plain };
    terminal.result("");
    terminal.result(Line::new().ink(ink, summary(figures)));
    list(context, findings);
}

/// Tells what earlier runs found and nobody has looked into yet.
pub(super) fn tell_earlier(context: &Context<'_>, findings: &[Audited]) {
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
pub(super) fn tell_how_to_end(context: &Context<'_>, first: Option<&Audited>) {
    if let Some(finding) = first {
        context.terminal.hint(format!(
            "when you have reviewed it: {}",
            context.again(&format!("resolve {} --seen", finding.job))
        ));
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
        if let Some(what) = advice::of_finding(code) {
            terminal.hint(&what);
        }
    }
}

/// All of it in one sentence.
fn summary(figures: &AuditFigures) -> String {
    let mut words = match figures.checked {
        // A run that was killed noted them, and not its counts.
        0 if figures.findings() > 0 => "verified".to_owned(),
        0 => "no record was verified".to_owned(),
        checked => format!("{} verified", counted(checked, "record", "records")),
    };
    let single = figures.doubles_not_checked == figures.checked;
    let mut found = Vec::new();
    if figures.vanished > 0 {
        found.push(format!("{} not there any more", count(figures.vanished)));
    }
    if figures.doubled > 0 {
        found.push(format!("{} there twice", count(figures.doubled)));
    }
    if figures.orphan_sites > 0 {
        found.push(format!(
            "{} with a site that belongs to no row",
            counted(figures.orphan_sites, "device", "devices")
        ));
    }
    if !found.is_empty() {
        words.push_str(&format!(": {}", found.join(", ")));
    } else if figures.checked > 0 {
        words.push_str(if single { ": all there" } else { ": all there, none doubled" });
    }
    if figures.doubles_not_checked > 0 {
        let which =
            if single { String::new() } else { format!(" of {}", count(figures.doubles_not_checked)) };
        words.push_str(&format!("; no look-up could tell{which} whether they are there twice"));
    }
    if figures.not_checked > 0 {
        words.push_str(&format!(
            "; {} not be verified: the look-up was inconclusive or is not available",
            counted(figures.not_checked, "record could", "records could")
        ));
    }
    if figures.not_verified_yet > 0 {
        let records = counted(figures.not_verified_yet, "record is", "records are");
        words.push_str(&format!("; {records} not verified yet"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_verified_is_one_honest_sentence() {
        let figures = AuditFigures { checked: 312, ..AuditFigures::default() };
        let table = [
            (figures, "312 records verified: all there, none doubled"),
            (
                AuditFigures { vanished: 1, doubled: 2, ..figures },
                "312 records verified: 1 not there any more, 2 there twice",
            ),
            (
                AuditFigures { doubles_not_checked: 12, ..figures },
                "312 records verified: all there, none doubled; no look-up could tell of 12 whether they are there twice",
            ),
            (
                AuditFigures { doubles_not_checked: 312, ..figures },
                "312 records verified: all there; no look-up could tell whether they are there twice",
            ),
            (
                AuditFigures { checked: 0, not_checked: 4, ..figures },
                "no record was verified; 4 records could not be verified: the look-up was inconclusive or is not available",
            ),
            (
                AuditFigures { not_verified_yet: 460, ..figures },
                "312 records verified: all there, none doubled; 460 records are not verified yet",
            ),
            (AuditFigures { checked: 0, vanished: 1, ..figures }, "verified: 1 not there any more"),
            (
                AuditFigures { checked: 1, orphan_sites: 1, ..figures },
                "1 record verified: 1 device with a site that belongs to no row",
            ),
        ];
        for (figures, expected) in table {
            assert_eq!(summary(&figures), expected);
        }
    }
}
