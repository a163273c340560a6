//! The rows that a person looks at, with what to type: those on hold, and what verification found, which is printed at the
//! end of a run and by `status`. Finding it is left to the run.

use std::collections::BTreeSet;

use super::review_objects::{
    DecidedRowObject, FoundRecord, HeldObject, ReviewedBy, VerificationFindingObject,
};
use crate::advice::Advice;
use crate::cli::context::Context;
use crate::error::Result;
use crate::journal::{AuditFigures, Audited, Candidate, DecidedJob, HeldJob, Journal, Selection};
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::reason::Reason;
use crate::model::record::Role;
use crate::status::{Review, Step, row_advice, row_words};
use crate::term::{Ink, Line, count, counted};

/// Held jobs shown at once; the reports have them all.
const SHOWN: usize = 20;

/// Tells one held job, and what the service was found to have of it.
pub(in crate::cli) fn tell_with(context: &Context<'_>, job: &HeldJob, now: &[String]) {
    tell_one(context, job);
    for line in now {
        context.terminal.result(format!("    now: {line}"));
    }
}

/// A record that a held job may be, in words.
pub(in crate::cli) fn in_words(candidate: &Candidate) -> String {
    let id = candidate.id.map_or_else(|| "without an id".to_owned(), |id| id.to_string());
    let name = candidate.name.as_deref().map_or_else(String::new, |name| format!(" \"{name}\""));
    let details =
        if candidate.details.is_empty() { String::new() } else { format!(" {}", candidate.details) };
    let difference =
        if candidate.difference.is_empty() { String::new() } else { format!("; {}", candidate.difference) };
    format!("{id}{name}{details}{difference}")
}

/// Tells the held jobs of an import, or of the journal, and how to decide them. Returns how many there are.
pub(in crate::cli) fn tell(
    context: &Context<'_>,
    journal: &Journal,
    import: Option<ImportId>,
) -> Result<usize> {
    let held = journal.held(&Selection { import, ..Selection::default() })?;
    if held.is_empty() {
        return Ok(0);
    }
    let terminal = context.terminal;
    terminal.result("");
    let rows = held.len() as u64;
    let words =
        counted(rows, "row is on hold and needs your decision:", "rows are on hold and need your decision:");
    terminal.result(Line::new().ink(Ink::Warning, words));
    for job in held.iter().take(SHOWN) {
        tell_one(context, job);
    }
    if held.len() > SHOWN {
        let more = u64::try_from(held.len() - SHOWN).unwrap_or(u64::MAX);
        terminal.result(format!("  and {} more; the report lists them all", count(more)));
    }
    for job in &held {
        terminal.object(&HeldObject::of(job, None));
    }
    if let Some(first) = held.first() {
        let advice = match held.iter().all(HeldJob::is_unseen) {
            true => Advice::from(
                "no look-up shows licence codes: look at the devices in the service, then decide:",
            ),
            false => context
                .advice("to see what the service has of them now: ", "resolve")
                .words("\nlook in the service, then decide:"),
        };
        terminal.hint(at_once(context, ways(context, advice, first), import, &held));
    }
    Ok(held.len())
}

/// Adds how all rows are decided together that are on hold for the same reason as the first.
fn at_once(context: &Context<'_>, advice: Advice, import: Option<ImportId>, held: &[HeldJob]) -> Advice {
    let Some(first) = held.first() else { return advice };
    let alike = held.iter().filter(|job| job.code == first.code);
    let (rows, code) = (alike.clone().count() as u64, &first.code);
    if rows < 2 {
        return advice;
    }
    if [Reason::CandidatesUnclear, Reason::CandidatesDiffer].iter().any(|reason| reason.as_str() == code) {
        // Each has records of its own to be compared with.
        return advice;
    }
    let decision = if alike.clone().any(HeldJob::is_change) { "--not-done" } else { "--not-created" };
    let is_unchecked = alike.clone().any(HeldJob::is_unseen) || *code == Reason::LookupUnavailable.as_str();
    let (words, unchecked) = match is_unchecked {
        true => (
            format!(
                "only if none of the {} rows with the code {code} was carried out, as each is then sent again without a \
                 look-up: ",
                count(rows)
            ),
            " --unchecked",
        ),
        false => (
            format!(
                "to decide all {} with the code {code} together, each after a look-up of its own: ",
                count(rows)
            ),
            "",
        ),
    };
    let import = import.map_or_else(String::new, |import| format!(" --import {import}"));
    advice
        .words(format!("\n{words}"))
        .command(context.again(&format!("resolve{import} --code {code} {decision}{unchecked}")))
}

/// The ways to decide a job, a line each.
pub(in crate::cli) fn ways(context: &Context<'_>, advice: Advice, held: &HeldJob) -> Advice {
    let decisions = match (held.is_change(), held.is_unseen()) {
        (false, _) => ["--created ID", "--not-created", "--abandon"],
        (true, false) => ["--done", "--not-done", "--abandon"],
        (true, true) => ["--done --unchecked", "--not-done --unchecked", "--abandon"],
    };
    let job = held.job;
    decisions.into_iter().fold(advice, |advice, decision| {
        advice.words("\n").command(context.again(&format!("resolve {job} {decision}")))
    })
}

/// The line of a job: its number, what it is, by its name and, where it is an upkeep row, the records that it is about, and its
/// place.
fn heading(job: JobId, (kind, name, about): (Kind, &str, &[(Role, String)]), place: &str) -> Line {
    let mut what = kind.singular().to_owned();
    if !name.is_empty() || about.is_empty() {
        what += &format!(" \"{name}\"");
    }
    for (at, (role, record)) in about.iter().enumerate() {
        what += if at == 0 { " of " } else { ", " };
        what += &format!("{} \"{record}\"", role.as_str());
    }
    Line::plain("  job ").ink(Ink::Strong, job.to_string()).text(format!("  {what}  ")).ink(Ink::Faint, place)
}

fn tell_one(context: &Context<'_>, job: &HeldJob) {
    let terminal = context.terminal;
    terminal.result(heading(job.job, (job.kind, &job.name, &job.about), &job.place));
    terminal.result(format!("    {} ({}), since {}", job.reason, job.code, context.moment(job.since)));
    for candidate in &job.candidates {
        let mut candidate = candidate.clone();
        // What tells the two apart is often why the row is held, which was said.
        if candidate.difference == job.reason {
            candidate.difference.clear();
        }
        terminal.result(format!("    found: {}", in_words(&candidate)));
    }
}

/// Tells what people decided about rows of an import, or of the journal, and how it was checked; the latest last.
pub(in crate::cli) fn tell_decided(
    context: &Context<'_>,
    journal: &Journal,
    import: Option<ImportId>,
) -> Result<()> {
    let decided = journal.decided(&Selection { import, ..Selection::default() })?;
    if decided.is_empty() {
        return Ok(());
    }
    let terminal = context.terminal;
    terminal.result("");
    terminal.result(match decided.len() {
        1 => "1 row was decided by a person:".to_owned(),
        many => format!("{many} rows were decided by a person:"),
    });
    let left_out = decided.len().saturating_sub(SHOWN);
    if left_out > 0 {
        terminal.result(format!("  {} before these; the report lists them all", count(left_out as u64)));
    }
    for one in &decided[left_out..] {
        terminal.result(heading(one.job, (one.kind, &one.name, &one.about), &one.place));
        terminal.result(format!(
            "    decided by {} at {}: {}",
            one.decided.who,
            context.moment(one.decided.at),
            one.decided.words()
        ));
    }
    for one in &decided {
        let DecidedJob { job, kind, name, about: _, place, decided } = one;
        terminal.object(&DecidedRowObject { job: *job, kind: *kind, name, place, decided });
    }
    Ok(())
}

/// Findings of verification shown at once; the reports have them all.
const FINDINGS: usize = 20;

/// Tells what was verified, and what was found.
pub(in crate::cli) fn tell_verified(context: &Context<'_>, figures: &AuditFigures, findings: &[Audited]) {
    let terminal = context.terminal;
    let ink = if figures.findings() > 0 { Ink::Warning } else { Ink::Plain };
    terminal.result("");
    terminal.result(Line::new().ink(ink, row_words::verified(figures)));
    list_findings(context, findings);
}

/// Tells what earlier runs found and nobody has looked into yet.
pub(in crate::cli) fn tell_earlier_findings(context: &Context<'_>, findings: &[Audited]) {
    if findings.is_empty() {
        return;
    }
    context.terminal.result("");
    context.terminal.result(Line::new().ink(
        Ink::Warning,
        format!(
            "an earlier run found problems with {}, not reviewed yet:",
            counted(findings.len() as u64, "row", "rows")
        ),
    ));
    list_findings(context, findings);
}

/// Tells how the findings about these jobs, which nobody has looked into, are no longer told, unless that was `told`.
pub(in crate::cli) fn tell_how_to_review(context: &Context<'_>, jobs: BTreeSet<JobId>, told: &[Step]) {
    let Some(review) = Review::of(jobs) else { return };
    let command = context.again(&review.command());
    if told.iter().all(|step| step.command != command) {
        let words = format!("when you have reviewed {}: ", review.what());
        context.terminal.hint(Advice::from(words).command(command));
    }
}

fn list_findings(context: &Context<'_>, findings: &[Audited]) {
    let terminal = context.terminal;
    for finding in findings.iter().take(FINDINGS) {
        terminal.result(heading(finding.job, (finding.kind, &finding.name, &finding.about), &finding.place));
        let seen = finding
            .seen
            .as_ref()
            .map_or_else(String::new, |(who, at)| format!("; reviewed by {who}, {}", context.moment(*at)));
        terminal.result(format!("    {} ({}){seen}", finding.message, finding.code));
    }
    if findings.len() > FINDINGS {
        let more = u64::try_from(findings.len() - FINDINGS).unwrap_or(u64::MAX);
        terminal.result(format!("  and {} more; the report lists them all", count(more)));
    }
    for finding in findings {
        terminal.object(&VerificationFindingObject {
            job: finding.job,
            kind: finding.kind,
            name: &finding.name,
            place: &finding.place,
            id: finding.id,
            code: &finding.code,
            message: &finding.message,
            at: finding.at.into(),
            seen: finding.seen.as_ref().map(|(who, at)| ReviewedBy { who, at: (*at).into() }),
            found: finding.found.iter().map(FoundRecord::of).collect(),
        });
    }
    // What to do is for those that nobody has looked into.
    let unseen = findings.iter().filter(|finding| finding.seen.is_none());
    let mut codes: Vec<(&str, ImportId)> =
        unseen.map(|finding| (finding.code.as_str(), finding.import)).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut advice: Vec<Advice> =
        codes.into_iter().filter_map(|(code, import)| row_advice::of_finding(code, import)).collect();
    // Not all of it names the import.
    advice.dedup();
    for what in advice {
        terminal.hint(context.commands().said(&what, None));
    }
}
