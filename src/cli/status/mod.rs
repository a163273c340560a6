//! `fleetload status`: where things stand, read from the journal alone; a run may be under way.

pub(super) mod audit;
pub(super) mod corrected;
pub(super) mod counts;
pub(super) mod glance;
pub(super) mod held;
pub(super) mod needs;
pub(super) mod stand;

use serde_json::json;

use self::glance::Glance;
use self::needs::Unanswered;
use crate::cli::args::commands::OfImport;
use crate::cli::context::Context;
use crate::cli::summary::Summary;
use crate::ending::{End, RunEnd};
use crate::error::{Error, Exit, Result};
use crate::journal::{AuditFigures, ImportInfo, Journal};
use crate::model::id::ImportId;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::term::{Ink, Line, count, counted, span};

/// Tells where an import, or the whole journal, stands.
pub(super) fn status(context: &Context<'_>, typed: &OfImport) -> Result<Summary> {
    let journal = context.journal()?;
    let imports = journal.imports()?;
    if let Some(wanted) = typed.import {
        require(&imports, wanted)?;
    }
    let shown: Vec<&ImportInfo> =
        imports.iter().filter(|import| typed.import.is_none_or(|wanted| import.import == wanted)).collect();
    let glance = Glance::of(context, &journal, typed.import)?;
    if let Some(banner) = journal.whose()?.banner() {
        context.terminal.result(Line::new().ink(Ink::Warning, banner));
    }
    glance.tell_headline(context);
    tell_account(context, &journal)?;
    for import in &shown {
        tell_import(context, &journal, import, &Unanswered::of(&journal, import.import)?)?;
    }
    let tally = journal.tally(typed.import)?;
    glance.tell_figures(context);
    tell_quota_object(context, &journal)?;
    glance.tell_needs(context);
    tell_run(context, &journal)?;
    held::tell(context, &journal, typed.import)?;
    let read_back = journal.audit_figures(typed.import)?;
    if read_back != AuditFigures::default() {
        let findings = journal.audit_findings(typed.import, None)?;
        audit::tell(context, &read_back, &findings);
        audit::tell_how_to_end(context, findings.iter().find(|finding| finding.seen.is_none()));
    }
    held::tell_decided(context, &journal, typed.import)?;
    let mut fields = json!({
        "import": typed.import, "rows": tally.total(), "counts": counts::object(&tally),
        "changed_since": journal.differing(typed.import)?, "audit": read_back,
        "next_due": journal.next_due()?.map(|due| due.to_string()),
    });
    if let Some(fields) = fields.as_object_mut() {
        fields.extend(glance.fields(context).into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    next(context, &journal, &tally, typed.import.or(imports.last().map(|import| import.import)))?;
    Ok(Summary::new(End::Done).with_all(fields))
}

/// The import with this number, or a usage error that lists what there is.
pub(super) fn require(imports: &[ImportInfo], wanted: ImportId) -> Result<&ImportInfo> {
    imports.iter().find(|import| import.import == wanted).ok_or_else(|| {
        let error = Error::usage(format!("the journal has no import {wanted}"));
        match imports.last() {
            Some(last) => error.hint(format!("its imports are numbered 1 to {}", last.import)),
            None => error.hint("it has no imports yet"),
        }
    })
}

fn tell_account(context: &Context<'_>, journal: &Journal) -> Result<()> {
    let line = Line::plain("journal ").ink(Ink::Strong, journal.path().display().to_string());
    context.terminal.result(line.text(format!(", {}", journal.whose()?.words())));
    Ok(())
}

fn tell_import(
    context: &Context<'_>,
    journal: &Journal,
    import: &ImportInfo,
    rows: &Unanswered,
) -> Result<()> {
    let tally = journal.tally(Some(import.import))?;
    let files: Vec<&str> = import.files.iter().map(|(name, _)| name.as_str()).collect();
    let left_out = journal.left_out(Some(import.import))?;
    let differing = journal.differing(Some(import.import))?;
    let is_rejected = |state: JobState| state.is_failed() || state == JobState::Skipped;
    let state = if counts::moving(&tally) > 0 {
        format!("{} unfinished", count(counts::unfinished(&tally)))
    } else {
        match counts::exit_with(&tally, differing) {
            Exit::Held => "finished except for rows on hold".to_owned(),
            Exit::Rejections if left_out > 0 && left_out == tally.count(is_rejected) => {
                "finished, with rows that were not imported".to_owned()
            }
            Exit::Rejections if tally.count(is_rejected) == 0 => {
                "finished, with rows that differ from what was created earlier".to_owned()
            }
            Exit::Rejections => "finished, with rows that were rejected, incomplete or skipped".to_owned(),
            _ if tally.in_state(JobState::Cancelled) > 0 => {
                "finished, with rows that were cancelled".to_owned()
            }
            _ => "finished".to_owned(),
        }
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
        "counts": counts::object(&tally), "changed_since": differing,
        "answered": rows.answered.iter().map(|(rows, by)| json!({"rows": rows, "by": by})).collect::<Vec<_>>(),
    }));
    Ok(())
}

fn tell_quota_object(context: &Context<'_>, journal: &Journal) -> Result<()> {
    let mut object = json!(journal.quota_now(context.now())?);
    object["object"] = json!("quota");
    context.terminal.object(&object);
    Ok(())
}

fn tell_run(context: &Context<'_>, journal: &Journal) -> Result<()> {
    let terminal = context.terminal;
    if let Some(run) = journal.last_run()? {
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
                if journal.is_run_at_work() { "under way" } else { "killed" },
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
    Ok(())
}

/// What to type next, by how the rows stand; nothing while a run is at work on them.
pub(super) fn next(
    context: &Context<'_>,
    journal: &Journal,
    tally: &Tally,
    import: Option<ImportId>,
) -> Result<()> {
    let terminal = context.terminal;
    let Some(import) = import else {
        terminal.hint(context.again("run SHEET.xlsx"));
        return Ok(());
    };
    if counts::moving(tally) > 0 {
        if !journal.is_run_at_work() {
            terminal.hint(format!("to go on: {}", context.again("run")));
        }
        return Ok(());
    }
    let info = corrected::import(journal, import)?;
    let fix = corrected::fix(context, &info);
    let rows = Unanswered::of(journal, import)?;
    if tally.in_state(JobState::Held) > 0 {
        // How to decide them was told with the rows.
    } else if let (true, Some((_, by))) = (rows.is_empty(), rows.answered.last()) {
        terminal.hint(format!(
            "the rows that failed were imported again: {}",
            context.again(&format!("status {by}"))
        ));
    } else if rows.refused + rows.incomplete > 0 {
        terminal.hint(format!(
            "correct the rows in {} and run that file, or try them again as they are:\n{}",
            fix.display(),
            context.again(&format!("retry {import}"))
        ));
    } else if !rows.is_empty() && fix.exists() {
        terminal.hint(format!(
            "correct the rows in {}, then: {}",
            fix.display(),
            corrected::run(context, &info, &fix)
        ));
    } else {
        terminal.hint(format!("the report: {}", context.again(&format!("report {import}"))));
    }
    Ok(())
}
