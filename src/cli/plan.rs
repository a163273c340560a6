//! `fleetload plan`: what a run would do with these sheets. Imports nothing and sends nothing.

use serde_json::json;

use super::account::Rehearsed;
use super::choice::{AuditWord, ProxyWord};
use super::commands::Plan as Typed;
use super::context::{Context, quoted};
use super::findings::{self, Found};
use super::intake;
use super::settings::{Purpose, RateSetting, Settings};
use crate::error::{Error, Exit, Result};
use crate::plan::forecast::Allowance;
use crate::plan::{Calls, Plan, Terms, Way};
use crate::term::{Ink, Line, Table, count, counted, span};

/// Plans for the sheets and tells the plan.
pub(super) fn plan(context: &Context<'_>, typed: &Typed) -> Result<Exit> {
    context.rehearsing.set(typed.rehearsal.sandbox);
    let settings = context.settings(&purpose(typed)?, &typed.overrides)?;
    let manner = typed.reading.settle(context)?;
    let examined = intake::read(context, &typed.files, &manner)?;
    let found = Found::of(&examined.findings);
    findings::tell(context, &examined.findings, manner.redact);
    let terminal = context.terminal;
    if examined.findings.forbid_import(manner.skip_invalid) {
        terminal.result(Line::new().ink(Ink::Error, found.words()).text("; there is nothing to plan yet"));
        terminal.object(&json!({"object": "summary", "found": found, "exit_code": Exit::Sheets.code()}));
        findings::tell_explain(context, &examined.findings);
        terminal.hint("correct the sheet and type the same command again");
        return Ok(Exit::Sheets);
    }
    if settings.account.is_none() {
        terminal
            .warn("there is no profile; planned with the documented paths, 98 requests a second, no quota");
    }
    let (terms, learned) = terms(context, &settings)?;
    let endpoints = settings.endpoints()?;
    let demand = intake::demand(&examined)?;
    let plan = Plan::new(&demand, &|operation| endpoints.available(operation), &terms);
    intake::tell_sheets(context, &examined, &manner);
    tell(context, &plan, &settings, &terms, learned);
    tell_proxies(context, &settings);
    if let Some(journal) = intake::existing(context)?
        && journal.account()? == settings.identity()
        && journal.tally(None)?.total() > 0
    {
        terminal.say("every row of the sheets is reckoned with; those that the journal knows as done are not sent again");
    }
    let missing = plan.unavailable();
    let exit = if missing.is_empty() { Exit::Done } else { Exit::Usage };
    terminal.object(&json!({
        "object": "summary", "plan": plan, "unavailable": missing, "found": found,
        "finish": plan.finish.map(|at| at.to_string()), "exit_code": exit.code(),
    }));
    if !missing.is_empty() {
        return Err(intake::unavailable(&missing));
    }
    let files: Vec<String> = typed.files.iter().map(|file| quoted(&file.to_string_lossy())).collect();
    let again = context.again(&format!("run {}{}", files.join(" "), manner.command_line()));
    terminal.hint(format!("to do it: {again}"));
    Ok(exit)
}

/// A plan needs no account; of a rehearsal only its paths and limits matter, so no sandbox is started.
fn purpose(typed: &Typed) -> Result<Purpose> {
    if !typed.rehearsal.sandbox {
        return Ok(Purpose::Reckoning);
    }
    let address = "http://127.0.0.1"
        .parse()
        .map_err(|error| Error::internal("the address of this machine is none").because(error))?;
    Ok(Purpose::Rehearsal(Rehearsed {
        address,
        client_id: super::rehearsal::CLIENT.to_owned(),
        client_secret: super::rehearsal::CLIENT.to_owned().into(),
    }))
}

/// The limits to reckon with, and whether the quota was learned from the service.
fn terms(context: &Context<'_>, settings: &Settings) -> Result<(Terms, bool)> {
    let now = context.now();
    let journal = intake::existing(context)?;
    // What another account has used of its quota, a rehearsal's for one, does not count for this one.
    let (used, learned) = match &journal {
        Some(journal) if journal.account()? == settings.identity() => {
            (journal.quota(now.day())?.sent, journal.latest_ceiling()?)
        }
        Some(_) | None => (0, None),
    };
    let ceiling = settings.daily_quota.value.or(learned);
    let quota = ceiling.map(|ceiling| {
        let per_day = ceiling.saturating_sub(settings.reserve.value);
        Allowance { per_day, today: per_day.saturating_sub(used) }
    });
    let rate = match settings.rate.value {
        RateSetting::PerSecond(rate) => Some(rate),
        RateSetting::Unlimited => None,
    };
    // How many rows will ever be in doubt nobody knows beforehand.
    let read_back = settings.audit.value == AuditWord::All;
    Ok((Terms { rate, quota, now, read_back }, settings.daily_quota.value.is_none() && learned.is_some()))
}

fn tell(context: &Context<'_>, plan: &Plan, settings: &Settings, terms: &Terms, learned: bool) {
    let terminal = context.terminal;
    terminal.result("");
    terminal.result("What would be sent, in this order (companies before what is in them):");
    tell_calls(context, &plan.sent);
    if !plan.looked_up.is_empty() {
        terminal.result("");
        terminal.result("What would be looked up first, at most:");
        tell_calls(context, &plan.looked_up);
    }
    if !plan.read_back.is_empty() {
        terminal.result("");
        terminal.result("What would be read back at the end, at most:");
        tell_calls(context, &plan.read_back);
    }
    terminal.result("");
    terminal.result("If an answer is lost:");
    for doubt in &plan.doubts {
        let rows = counted(doubt.rows, &format!("row of {}", doubt.kind), &format!("rows of {}", doubt.kind));
        let words = match doubt.way {
            Way::LookUp => "looked up, and adopted or sent again",
            Way::SendAgain => "sent again; the service itself refuses a second one",
            Way::Person => "held: a person must look in the service",
        };
        let ink = if doubt.way == Way::Person { Ink::Warning } else { Ink::Plain };
        terminal.result(Line::plain(format!("  {rows}: ")).ink(ink, words));
    }
    terminal.result("");
    tell_end(context, plan, settings, terms, learned);
}

/// Whether a proxy of the environment stands between us and the service.
fn tell_proxies(context: &Context<'_>, settings: &Settings) {
    let proxies = context.environment.proxies();
    if proxies.is_empty() || settings.account.is_none() {
        return;
    }
    let proxies = proxies.join(" and ");
    context.terminal.result(match settings.proxy.value {
        ProxyWord::Ignore => format!(
            "the proxy of {proxies} is ignored: requests go straight to the service ({}; proxy = \"environment\" uses it)",
            settings.proxy.origin
        ),
        ProxyWord::Environment => format!(
            "requests go through the proxy of {proxies} ({}), except to this machine itself",
            settings.proxy.origin
        ),
    });
}

fn tell_calls(context: &Context<'_>, calls: &[Calls]) {
    let mut table = Table::new(&["operation", "calls", "quota", ""], &[1]);
    for calls in calls {
        table.row([
            calls.operation.name(),
            &count(calls.calls),
            if calls.counted { "counts" } else { "free" },
            if calls.available { "" } else { "UNAVAILABLE: not documented, not in the profile" },
        ]);
    }
    for line in table.lines() {
        context.terminal.result(line);
    }
}

fn tell_end(context: &Context<'_>, plan: &Plan, settings: &Settings, terms: &Terms, learned: bool) {
    let terminal = context.terminal;
    let quota = match terms.quota {
        Some(quota) => format!(
            "{} a day ({}), {} left today",
            count(quota.per_day),
            if learned {
                "learned from the service".to_owned()
            } else {
                settings.daily_quota.origin.to_string()
            },
            count(quota.today)
        ),
        None => "not known; it is learned when the service says that it is spent".to_owned(),
    };
    terminal.result(format!("{}; daily quota: {quota}", counted(plan.creations, "creation", "creations")));
    match (terms.rate, plan.finish, plan.days) {
        (Some(rate), Some(finish), Some(days)) => terminal.result(
            Line::plain("started now, ")
                .ink(Ink::Strong, format!("done about {}", context.moment(finish)))
                .text(format!(
                    " ({}, {}) at {rate} requests a second for each operation",
                    span(finish.since(terms.now)),
                    counted(days, "day with creations", "days with creations")
                )),
        ),
        (None, ..) => terminal.result("the rate is unlimited: how long it takes depends on this machine"),
        (Some(_), ..) => terminal.result(
            Line::new()
                .ink(Ink::Warning, "it would never end: the reserve leaves nothing of the daily quota"),
        ),
    }
}
