//! `fleetload plan`: what a run would do with these sheets. Imports nothing and sends nothing.

pub(super) mod dry_run;
pub(super) mod output;
pub(super) mod rows;
pub(super) mod saved;
mod tree;

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use self::dry_run::TempJournal;
use self::dry_run::survey;
use crate::advice::{Advice, quoted_files};
use crate::cli::args::commands::Plan as Typed;
use crate::cli::args::options::WindowArgs;
use crate::cli::context::Context;
use crate::cli::findings::remedy::remedy;
use crate::cli::findings::{self, FindingCounts};
use crate::cli::ids::IdFigures;
use crate::cli::ids::{self, Wanted};
use crate::cli::import::objects::RefusedSheetsSummary;
use crate::cli::import::{self, files};
use crate::cli::reading::access::ServiceAccess;
use crate::cli::run::preconditions::would_refuse;
use crate::cli::run::{unborn_rehearsal, with_journal};
use crate::cli::sandbox::rehearsal::read_scenario;
use crate::cli::settings::reading::ReadingSettings;
use crate::cli::settings::{Purpose, Settings};
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::Result;
use crate::import::{Examined, Placed, rehearse_with};
use crate::journal::{Journal, Whose};
use crate::model::forecast::Allowance;
use crate::model::id::check::{IdCheck, NamedId};
use crate::model::operation::Operation;
use crate::model::policy::{Audit, OnQuota, Proxy};
use crate::model::state::JobState;
use crate::model::time::Rfc3339;
use crate::plan::{Cause, FieldChange, FieldChanges, FixedCell, Plan, Terms};
use crate::report::Outlook;
use crate::service::Rate;
use crate::sheet::finding::{Code, Finding, Findings};
use crate::sheet::{RowUse, Table};
use crate::term::{Ink, Line, counted};

/// Obstacles told one by one.
const OBSTACLES: usize = 8;

/// Plans for the sheets and tells the plan.
pub(super) fn plan(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    context.rehearse(&typed.rehearsal);
    // It needs no account; of a rehearsal only its client, paths and limits matter, so no sandbox is started.
    let sandbox = typed.rehearsal.sandbox;
    let purpose = if sandbox { unborn_rehearsal(&typed.rehearsal)? } else { Purpose::Reckoning };
    let settings = context.settings(&purpose, &typed.overrides)?;
    let mut manner = typed.reading.settle(context)?;
    if let Some(out) = &typed.out {
        output::refuse_others(out)?;
    }
    if let Some(file) = &typed.save {
        saved::refuse_others(file)?;
    }
    let typed = &Typed { files: files::expand(context, &typed.files)?, ..typed.clone() };
    let journal = journal_of(context, &settings)?;
    let mut examined = import::read(context, RowUse::Import, &typed.files, &manner, journal.as_ref())?;
    let mut asked_now = None;
    if typed.refresh && !examined.findings.forbid_import(manner.skip_invalid) {
        asked_now = refresh(context, typed, ids::named(&examined, journal.as_ref(), Wanted::All)?)?;
    }
    if let Some(check) = &asked_now {
        manner.options.ids = Some(Arc::new(check.clone()));
        examined = import::read(context, RowUse::Import, &typed.files, &manner, journal.as_ref())?;
    }
    if examined.findings.forbid_import(manner.skip_invalid) {
        return Ok(refuse(context, &examined.findings, &manner));
    }
    let endpoints = settings.endpoints()?;
    let unverified = ids::named(&examined, journal.as_ref(), Wanted::Unverified)?;
    let cannot_be_verified = ids::unreachable_of(&unverified, &|operation| endpoints.available(operation));
    let terms = terms(context, &settings, &typed.window)?;
    let (outlook, placed) =
        match look((context, typed), &examined, journal, &settings, &terms.terms, manner.skip_invalid)? {
            Ok(looked) => looked,
            Err(taken) => return Ok(refuse(context, &taken, &manner)),
        };
    examined.take(placed);
    examined.findings.extend(quota_finding(&examined, &outlook.plan, settings.on_quota.value));
    let found = FindingCounts::of(&examined.findings);
    let compared = context.whose.borrow().clone().unwrap_or_default();
    // Without an account, the rows are those of the journal.
    let whose = settings.identity().map_or_else(|| compared.clone(), |account| Whose::from(Some(account)));
    let is_refused = compared.account().is_some() && compared != whose;
    if is_refused {
        context.rehearse(&typed.rehearsal);
    }
    if whose.account().is_some() {
        context.tell_whose(&whose);
    }
    tell(context, &settings, &terms, &outlook, &rehearsed(context, typed, &manner));
    ids::tell_of_plan(context, asked_now.as_ref(), cannot_be_verified);
    import::tell_sheets(context, &examined, &manner);
    context.terminal.result("");
    findings::tell(context, &examined.findings, manner.redact);
    findings::tell_explain(context, &examined.findings);
    let journal = match (is_refused, whose.banner(), compared.banner()) {
        (false, _, _) => String::new(),
        (true, Some(_), _) => with_journal("rehearsal.db"),
        (true, None, Some(_)) => with_journal("service.db"),
        (true, None, None) => with_journal("NEW.db"),
    };
    let run = format!("run{}{journal}", with_options(typed, &manner));
    let again = context.again(&run);
    if let Some(out) = &typed.out {
        let rehearsed = rehearsed(context, typed, &manner);
        let command = if outlook.plan.unavailable.is_empty() { &again } else { &rehearsed };
        let known = output::PageFacts { settings: &settings, terms: &terms, whose: &whose, command };
        output::write_page(context, out, &examined, &known, &outlook)?;
    }
    let plan = &outlook.plan;
    let missing = &plan.unavailable;
    let any_sent = plan.sent.iter().chain(&plan.sent_earlier).any(|calls| calls.calls > 0);
    let end = match missing.is_empty() {
        false => End::EndpointUnknown,
        true if typed.detailed_exitcode && any_sent => End::ChangesPlanned,
        true => End::Done,
    };
    let obstacles = outlook.obstacles.iter();
    let summary = Summary::new(end).with(&PlanSummary {
        plan,
        in_the_way: obstacles.map(|(what, rows)| InTheWay { rows: *rows, what: what.as_str() }).collect(),
        left_out: outlook.left_out.0 + outlook.left_out.1,
        unavailable: missing,
        found,
        finish: plan.finish.map(Rfc3339),
        page: typed.out.as_deref(),
        ids: asked_now.as_ref().map(ids::figures),
        changes: &outlook.changes.listed,
        changed_cells: outlook.changes.total,
        not_changeable: &outlook.changes.fixed,
        not_changeable_cells: outlook.changes.fixed_total,
    });
    if missing.is_empty() {
        let words = match any_sent {
            true => "to do it",
            false => "nothing would be sent; to import the rows and write their report",
        };
        let needs_profile = settings.account.is_none() && !context.rehearsing.get();
        let first = match (needs_profile, &settings.profile) {
            (false, _) => "",
            (true, Some(_)) => ", set base_url in the profile and type",
            (true, None) => ", write a profile (fleetload.example.toml is one to copy) and type",
        };
        let mut hint = Advice::from(words).words(first).words(": ").command(again);
        if needs_profile && compared.account().is_none() {
            let rehearsed = context.again(&format!("{run} --sandbox"));
            hint = hint.words("\nto rehearse it without a profile: ").command(rehearsed);
        }
        context.terminal.hint(hint);
    } else {
        context.terminal.error(&import::unavailable(missing));
    }
    Ok(summary)
}

/// Looks up every id that the sheets name. A rehearsal takes them as there, unless its scenario is strict.
fn refresh(context: &Context<'_>, typed: &Typed, ids: Vec<NamedId>) -> Result<Option<IdCheck>> {
    let rehearsal = &typed.rehearsal;
    if rehearsal.sandbox && !read_scenario(rehearsal.scenario.as_deref())?.strict {
        context
            .terminal
            .say("a rehearsal takes the ids that the sheets name as present: nothing was looked up");
        return Ok(None);
    }
    let access = ServiceAccess::to_read(context, rehearsal, &typed.overrides)?;
    let client = access.settings.client(context.clock.clone())?;
    let asked = (&client, access.settings.rate.value);
    let check = access.runtime.block_on(ids::look_up(context, asked, ids, &mut |_| Ok(())));
    let check = check.and_then(|check| check.map_err(|error| access.failed(&error)));
    access.leave();
    check.map(Some)
}

/// Says that the sheets have problems.
fn refuse(context: &Context<'_>, findings: &Findings, manner: &ReadingSettings) -> Summary {
    let found = FindingCounts::of(findings);
    findings::tell(context, findings, manner.redact);
    let terminal = context.terminal;
    terminal.result(Line::new().ink(Ink::Error, found.words()).text("; there is nothing to plan yet"));
    findings::tell_explain(context, findings);
    ids::tell_how_to_find(context, manner.options.ids.as_deref());
    terminal.hint(format!("{}, then type the command again", remedy(findings)));
    Summary::new(End::Sheets).with(&RefusedSheetsSummary { found })
}

/// The journal that a run with these settings would use; `None` when it would begin a new one. One that belongs to
/// another account, a rehearsal's for one, a run would refuse: its rows are not those of this account.
fn journal_of(context: &Context<'_>, settings: &Settings) -> Result<Option<Journal>> {
    let Some(journal) = import::existing(context)? else { return Ok(None) };
    match (journal.account()?, settings.identity()) {
        (Some(bound), Some(account)) if bound != account => {
            context.terminal.warn(format!(
                "the journal {} belongs to another account, so a run would refuse it; planned as for a new journal",
                context.common.journal.display()
            ));
            Ok(None)
        }
        (Some(_) | None, Some(_) | None) => {
            if let Some(regression) = would_refuse(&journal) {
                let path = context.common.journal.display();
                context
                    .terminal
                    .warn(format!("the journal {path} {}, so a run refuses it", regression.words()));
            }
            let canary = journal.canary()?.len() as u64;
            if canary > 0 {
                let are = counted(canary, "row is", "rows are");
                let words = format!(
                    "a canary of earlier sheets goes first: {are} to be right before any other row is sent; how it stands: "
                );
                context.terminal.hint(context.advice(words, "status"));
            }
            Ok(Some(journal))
        }
    }
}

/// Places the rows as an import would, looks at what a run would find then, and undoes it. Errors of the rows against
/// the journal come back as findings.
fn look(
    (context, typed): (&Context<'_>, &Typed),
    examined: &Examined,
    journal: Option<Journal>,
    settings: &Settings,
    terms: &Terms,
    skip_invalid: bool,
) -> Result<std::result::Result<(Outlook, Placed), Findings>> {
    // A run that is at work on the journal does not wait for the plan.
    let mut scratch = TempJournal::of(journal.as_ref())?;
    drop(journal);
    let endpoints = settings.endpoints()?;
    let available = |operation: Operation| endpoints.available(operation);
    let mut looked = None;
    let placed = rehearse_with(examined, &mut scratch.journal, skip_invalid, terms.now, &mut |writer| {
        let mut surveyed = survey(writer, examined, terms.now)?;
        saved::complete(&mut surveyed, settings.identity().as_ref(), &available);
        let plan = Plan::new(&surveyed.survey, &available, terms);
        if typed.rows {
            rows::tell(context, writer, &surveyed.survey, &available, typed.reading.redact)?;
        }
        let mut obstacles = Vec::new();
        let again = context.commands();
        for obstacle in plan.obstacles.iter().take(OBSTACLES) {
            let place = match obstacle.cause {
                Cause::Row(job, _) => writer.place_of(job)?,
                Cause::Operation(_) | Cause::List(_) => String::new(),
            };
            obstacles.push((output::in_the_way(&again, obstacle.cause, &place), obstacle.rows));
        }
        let more_obstacles = plan.obstacles.len().saturating_sub(OBSTACLES) as u64;
        let left_out = |state| writer.left_out().in_state(state);
        let left_out = (left_out(JobState::Rejected), left_out(JobState::Skipped));
        let has_updates = |table: &Table| table.position("action").is_some();
        let changes = match examined.books().iter().flat_map(|book| &book.tables).any(has_updates) {
            true => FieldChanges::of(writer, &surveyed.survey.outcomes(&available))?,
            false => FieldChanges::default(),
        };
        let answered = writer.answered();
        let outlook = Outlook { plan, obstacles, more_obstacles, left_out, answered, changes };
        looked = Some((outlook, surveyed.promise));
        Ok(())
    })?;
    Ok(match looked {
        Some((outlook, promise)) => {
            saved::keep(context, &promise);
            if let Some(file) = &typed.save {
                saved::save(context, file, &promise)?;
            }
            Ok((outlook, placed))
        }
        None => Err(placed.findings),
    })
}

/// That the quota makes it last.
fn quota_finding(examined: &Examined, plan: &Plan, on_quota: OnQuota) -> Option<Finding> {
    let days = plan.days.filter(|_| plan.is_quota_bound && plan.unavailable.is_empty())?;
    let file = examined.files().next()?;
    let between = match on_quota {
        OnQuota::Wait => "a run waits in between, and may be stopped at any time",
        OnQuota::Exit => "a run ends with exit code 5 when a day's quota is spent, and the next run goes on",
    };
    let message = format!(
        "{} take {}, because of the daily quota; {between}",
        counted(plan.counted_creations(), "creation", "creations"),
        counted(days, "day", "days")
    );
    Some(Finding::of_file(Code::PlanQuota, &file.name, message))
}

/// The files with how they are read and what was typed of limits and window, each with a space before it.
fn with_options(typed: &Typed, manner: &ReadingSettings) -> String {
    let (settings, window) = (typed.overrides.command_line(), typed.window.command_line());
    quoted_files(&typed.files) + &manner.command_line() + &settings + &window
}

/// The same plan for a simulated service.
fn rehearsed(context: &Context<'_>, typed: &Typed, manner: &ReadingSettings) -> String {
    context.again(&format!("plan{} --sandbox", with_options(typed, manner)))
}

fn tell(context: &Context<'_>, settings: &Settings, terms: &PlanTerms, outlook: &Outlook, rehearsed: &str) {
    let terminal = context.terminal;
    output::tell_headline(context, outlook, &terms.terms, rehearsed);
    if settings.account.is_none() {
        terminal.warn(without_service(settings, &terms.terms));
    }
    output::tell_tree(context, &outlook.plan);
    for company in &outlook.plan.tree.companies {
        terminal.object(&output::CompanyObject::of(&outlook.plan, company));
    }
    output::tell_changes(context, &outlook.changes);
    output::tell_not_changeable(context, &outlook.changes);
    output::tell_calls(context, &outlook.plan);
    if let Some(windows) = &terms.terms.hours.windows {
        terminal.result(format!("requests leave only in the window {}", windows.words()));
    }
    output::tell_days(context, &outlook.plan, settings, &terms.terms, terms.learned);
    tell_proxies(context, settings);
    terminal.result("");
}

/// That nothing but what was typed is known of the service.
fn without_service(settings: &Settings, terms: &Terms) -> String {
    let rate = match terms.rate {
        Some(rate) => format!("{rate} requests a second"),
        None => "any number of requests a second".to_owned(),
    };
    let quota = match terms.quota {
        Some(quota) => format!("{} a day", counted(quota.per_day, "creation", "creations")),
        None => "no quota".to_owned(),
    };
    let lacks = match &settings.profile {
        Some((name, _)) => format!("the profile {name} has no base_url"),
        None => "there is no profile".to_owned(),
    };
    format!("{lacks}; planned with the documented paths, {rate}, {quota}")
}

/// What is known of the limits.
pub(super) struct PlanTerms {
    pub(super) terms: Terms,
    /// Whether the quota was learned from the service.
    pub(super) learned: bool,
}

/// The limits to reckon with, and whether the quota was learned from the service.
fn terms(context: &Context<'_>, settings: &Settings, typed: &WindowArgs) -> Result<PlanTerms> {
    let now = context.now();
    let hours = settings.window.hours(typed, None, &context.here)?;
    let journal = import::existing(context)?;
    // What another account has used of its quota, a rehearsal's for one, does not count for this one.
    let (used, learned, parked_until) = match &journal {
        Some(journal) if journal.account()? == settings.identity() => {
            (journal.quota_now(now)?.sent, journal.latest_ceiling()?, journal.quota_resets_at(now)?)
        }
        Some(_) | None => (0, None, None),
    };
    let ceiling = settings.daily_quota.value.or(learned);
    let quota = ceiling.map(|ceiling| {
        let per_day = ceiling.saturating_sub(settings.reserve.value);
        Allowance { per_day, today: per_day.saturating_sub(used) }
    });
    let rate = match settings.rate.value {
        Rate::PerSecond(rate) => Some(rate),
        Rate::Unlimited => None,
    };
    // How many rows will ever be in doubt nobody knows beforehand.
    let read_back = settings.audit.value == Audit::All;
    Ok(PlanTerms {
        terms: Terms { rate, quota, parked_until, now, hours, read_back, in_doubt: settings.in_doubt.value },
        learned: settings.daily_quota.value.is_none() && learned.is_some(),
    })
}

/// Whether a proxy of the environment stands between us and the service.
fn tell_proxies(context: &Context<'_>, settings: &Settings) {
    let proxies = context.environment.proxies();
    if proxies.is_empty() || settings.account.is_none() {
        return;
    }
    let proxies = proxies.join(" and ");
    context.terminal.result(match settings.proxy.value {
        Proxy::Ignored => format!(
            "the proxy of {proxies} is ignored: requests go straight to the service ({}; proxy = \"environment\" uses it)",
            settings.proxy.origin
        ),
        Proxy::FromEnvironment => format!(
            "requests go through the proxy of {proxies} ({}), except to this machine itself",
            settings.proxy.origin
        ),
    });
}

/// What a run would do.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct PlanSummary<'a> {
    /// The plan.
    plan: &'a Plan,
    /// What keeps rows from being sent; the first causes where there are very many.
    in_the_way: Vec<InTheWay<'a>>,
    /// Rows that would not be imported because of errors.
    left_out: u64,
    /// Operations that the rows need and that have no known path.
    unavailable: &'a [Operation],
    /// The findings in the sheets, in numbers.
    found: FindingCounts,
    /// When the last row would be done and verified, if nothing goes wrong.
    finish: Option<Rfc3339>,
    /// The page that was written.
    page: Option<&'a Path>,
    /// What a look-up of the ids that the sheets name has shown; `null` where they were not looked up.
    ids: Option<IdFigures>,
    /// The cells that change records which exist; the first of very many.
    changes: &'a [FieldChange],
    /// How many such cells there are.
    changed_cells: usize,
    /// The cells that were edited since they were exported and whose fields the service cannot change, so that their rows are
    /// rejected; the first of very many.
    not_changeable: &'a [FixedCell],
    /// How many such cells there are.
    not_changeable_cells: usize,
}

/// Something that keeps rows from being sent.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct InTheWay<'a> {
    /// How many rows wait for it.
    rows: u64,
    /// What it is and what to do.
    what: &'a str,
}
