//! `fleetload status`: where things stand, read from the journal alone; a run may be under way.

pub(super) mod audit;
pub(super) mod counts;
pub(super) mod held;
pub(super) mod next_commands;
pub(super) mod overview;

use serde_json::json;

use self::next_commands::require;
use self::overview::Overview;
use crate::cli::args::commands::OfImport;
use crate::cli::context::Context;
use crate::cli::summary::Summary;
use crate::ending::{End, RunEnd};
use crate::error::Result;
use crate::journal::{AuditFigures, Journal};
use crate::model::state::JobState;
use crate::status::run_state::{moving, unfinished};
use crate::status::{ImportFacts, Status};
use crate::term::{Ink, Line, count, counted, span};

/// Tells where an import, or the whole journal, stands.
pub(super) fn status(context: &Context<'_>, typed: &OfImport) -> Result<Summary> {
    let journal = context.journal()?;
    if let Some(wanted) = typed.import {
        require(&journal.imports()?, wanted)?;
    }
    let overview = Overview::of(context, &journal, typed.import)?;
    if let Some(banner) = journal.whose()?.banner() {
        context.terminal.result(Line::new().ink(Ink::Warning, banner));
    }
    overview.tell_sentence(context);
    tell_account(context, &journal)?;
    for import in overview.status.imports() {
        tell_import(context, import);
    }
    overview.tell_figures(context);
    tell_quota_object(context, &journal)?;
    overview.tell_needs(context);
    tell_run(context, &overview.status);
    held::tell(context, &journal, typed.import)?;
    let read_back = journal.audit_figures(typed.import)?;
    if read_back != AuditFigures::default() {
        let findings = journal.audit_findings(typed.import, None)?;
        audit::tell(context, &read_back, &findings);
        audit::tell_how_to_end(context, findings.iter().find(|finding| finding.seen.is_none()));
    }
    held::tell_decided(context, &journal, typed.import)?;
    let tally = overview.status.tally();
    let fields = json!({
        "import": typed.import, "rows": tally.total(), "counts": counts::object(tally),
        "changed_since": overview.status.differing(), "audit": read_back,
        "next_due": journal.next_due()?.map(|due| due.to_string()),
    });
    next_commands::tell_next(context, &overview.status);
    Ok(Summary::new(End::Done).with_all(fields).with_all(overview.fields(context)))
}

fn tell_account(context: &Context<'_>, journal: &Journal) -> Result<()> {
    let line = Line::plain("journal ").ink(Ink::Strong, journal.path().display().to_string());
    context.terminal.result(line.text(format!(", {}", journal.whose()?.words())));
    Ok(())
}

fn tell_import(context: &Context<'_>, facts: &ImportFacts) {
    let ImportFacts { info: import, tally, unanswered: rows, differing, .. } = facts;
    let files: Vec<&str> = import.files.iter().map(|(name, _)| name.as_str()).collect();
    let state = match (moving(tally), tally.in_state(JobState::Held)) {
        (0, 0) if tally.count(JobState::is_success) == tally.total() => "finished".to_owned(),
        (0, 0) => format!("finished: {}", counts::states(tally)),
        (0, held) => format!("finished except for {}", counted(held, "row on hold", "rows on hold")),
        _ => format!("{} unfinished", count(unfinished(tally))),
    };
    let answers = match rows.answers() {
        words if words.is_empty() => words,
        words => format!("; {words}"),
    };
    context.terminal.result(
        Line::plain("import ")
            .ink(Ink::Strong, import.import.to_string())
            .text(format!(" of {}, {}: ", context.moment(import.at), files.join(", ")))
            .text(format!("{}, {state}{answers}", counted(import.rows, "row", "rows"))),
    );
    context.terminal.object(&json!({
        "object": "import", "import": import.import, "at": import.at.to_string(), "rows": import.rows,
        "files": import.files.iter().map(|(name, sha256)| json!({"name": name, "sha256": sha256}))
            .collect::<Vec<_>>(),
        "counts": counts::object(tally), "changed_since": differing,
        "answered": rows.answered.iter().map(|(rows, by)| json!({"rows": rows, "by": by})).collect::<Vec<_>>(),
    }));
}

fn tell_quota_object(context: &Context<'_>, journal: &Journal) -> Result<()> {
    let mut object = json!(journal.quota_now(context.now())?);
    object["object"] = json!("quota");
    context.terminal.object(&object);
    Ok(())
}

fn tell_run(context: &Context<'_>, status: &Status) {
    let terminal = context.terminal;
    if let Some(run) = status.run() {
        let requests: u64 = run.requests.values().sum();
        terminal.result("");
        match run.ended_at {
            Some(ended) => terminal.result(format!(
                "last run: {}, {}, {}, look-ups included, {}",
                context.moment(run.started_at),
                span(ended.since(run.started_at)),
                counted(requests, "request", "requests"),
                match (run.ending, &run.detail) {
                    (Some(RunEnd::Early(end)), Some(detail)) => format!("{}: {detail}", end.state().as_str()),
                    (Some(RunEnd::Early(end)), None) => end.state().as_str().to_owned(),
                    (Some(RunEnd::Finished) | None, _) => "finished".to_owned(),
                }
            )),
            None => terminal.result(format!(
                "last run: begun {}, {}{}",
                context.moment(run.started_at),
                if status.at_work() { "under way" } else { "killed" },
                run.held_back.as_deref().map_or_else(String::new, |held_back| format!("; {held_back}"))
            )),
        }
        terminal.object(&json!({
            "object": "run", "started_at": run.started_at.to_string(),
            "ended_at": run.ended_at.map(|at| at.to_string()), "ending": run.ending.map(RunEnd::as_str),
            "details": run.detail, "held_back": run.held_back,
            "resumes_at": run.resumes_at.map(|at| at.to_string()), "requests": run.requests,
        }));
    }
}
