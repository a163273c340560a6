//! The output of a plan. On the terminal: what will happen, how long it takes and what is in the way first, then the
//! companies, the requests and the days. And as a page, which is written over nothing but a page of a plan.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::advice::Advice;
use crate::cli::atomic_file;
use crate::cli::context::Context;
use crate::cli::output_file::{refuse_unless, unwritable};
use crate::cli::settings::Settings;
use crate::error::Result;
use crate::import::Examined;
use crate::journal::Whose;
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::plan::{Calls, Cause, FieldChanges, Plan, PlannedAction, Terms, Way, without_end};
use crate::report::{MARK, Outlook, PlanPage as Page, plan_page as page};
use crate::status::next_command::Again;
use crate::term::{Ink, Line, Table, count, counted, span, upcoming};

pub(in crate::cli) use super::tree::{CompanyObject, tell_tree};

/// Days shown one by one.
const DAYS: usize = 10;

/// Changed cells shown one by one.
const CHANGES: usize = 20;

/// What stands in the way of rows, in words; `place` says where another row is.
pub(super) fn in_the_way(again: &Again, cause: Cause, place: &str) -> Advice {
    match cause {
        Cause::Operation(operation) => {
            Advice::from(format!("{operation} is neither documented nor in the profile: set "))
                .words(format!("[profile.NAME.endpoints.{operation}]"))
        }
        Cause::List(operation) => Advice::from(format!(
            "{operation} is neither documented nor in the profile, and without it the id of what the row names is not known: give the id, or set "
        ))
        .words(format!("[profile.NAME.endpoints.{operation}]")),
        Cause::Row(job, action) => {
            let place = Advice::from(format!("{place} "));
            match action {
                PlannedAction::Rejected => place
                    .words("was rejected: correct it, or send it again with `")
                    .command(again.command("retry"))
                    .words("`"),
                PlannedAction::Held => place
                    .words("is on hold: decide it with `")
                    .command(again.command(&format!("resolve {job}")))
                    .words("`"),
                PlannedAction::Cancelled => {
                    place.words("was cancelled: change it, or remove the rows that depend on it")
                }
                PlannedAction::InDoubt => place.words("is in doubt: the run settles it first"),
                // What depends on a record that is there is sent.
                PlannedAction::Blocked
                | PlannedAction::Create
                | PlannedAction::Apply
                | PlannedAction::Complete
                | PlannedAction::Unchanged
                | PlannedAction::There
                | PlannedAction::Changed
                | PlannedAction::Incomplete => place.words("is not sent either"),
            }
        }
    }
}

/// What will happen and how long it takes; where operations are missing, that nothing will, and how to `rehearse`.
fn prospect(context: &Context<'_>, plan: &Plan, terms: &Terms, rehearse: &str) -> Vec<(&'static str, Line)> {
    if let Some(lacking) = plan.lacking(terms.quota) {
        return vec![
            ("to do", Line::new().ink(Ink::Error, lacking.headline)),
            ("later", Line::plain(format!("once they are there: {}", lacking.then))),
            ("rehearse", Line::new().command(Ink::Plain, rehearse)),
        ];
    }
    let mut facts = vec![("to do", what(plan)), ("done", when(context, plan, terms))];
    if let doubted @ 1.. = plan.count(PlannedAction::InDoubt) {
        let rows = counted(doubted, "row is looked up first, and sent", "rows are looked up first, and sent");
        facts.push((
            "in doubt",
            Line::plain(format!("{rows} again if not created: that is not counted here")),
        ));
    }
    if let Some(days) = plan.days.filter(|days| *days > 1) {
        let days = counted(days, "day with creations", "days with creations");
        let because = if plan.is_quota_bound { ", because of the daily quota" } else { "" };
        facts.push(("days", Line::new().ink(Ink::Warning, days).text(because)));
    }
    facts
}

/// The first lines: what will happen, how long, what is in the way. The command to `rehearse` is for a plan that lacks
/// operations.
pub(super) fn tell_headline(context: &Context<'_>, outlook: &Outlook, terms: &Terms, rehearse: &str) {
    let (terminal, plan) = (context.terminal, &outlook.plan);
    let mut facts = prospect(context, plan, terms, rehearse);
    let sums = plan.sums();
    if plan.rows_earlier > 0 {
        let rows = counted(
            plan.rows_earlier,
            "row left over from earlier imports",
            "rows left over from earlier imports",
        );
        facts.push(("also", Line::plain(rows)));
    }
    if let unchanged @ 1.. = sums.of(PlannedAction::Unchanged) {
        let rows = counted(unchanged, "row", "rows");
        facts.push(("unchanged", Line::plain(format!("{rows} with no new value: nothing is asked for"))));
    }
    if sums.there() > 0 {
        let changed = match sums.of(PlannedAction::Changed) {
            0 => String::new(),
            changed => format!(", {} with other values, which are not sent", count(changed)),
        };
        facts.push(("existing", Line::plain(format!("{}{changed}", counted(sums.there(), "row", "rows")))));
    }
    facts.push(("blocked", hindrance(outlook)));
    for (word, line) in facts {
        terminal.result(Line::new().ink(Ink::Faint, format!("{word:<11}")).join(line));
    }
    for (words, rows) in &outlook.obstacles {
        let rows = counted(*rows, "row waits", "rows wait");
        terminal.result(Line::plain("  ").ink(Ink::Warning, rows).text(": ").advice(words));
    }
    if outlook.more_obstacles > 0 {
        let more = counted(outlook.more_obstacles, "more cause", "more causes");
        terminal.result(format!("  and {more}"));
    }
}

/// What will happen.
pub(in crate::cli) fn what(plan: &Plan) -> Line {
    let by_kind = |action: PlannedAction| {
        let kinds = plan.rows.iter().filter(move |(_, actions)| actions.of(action) > 0);
        let parts = kinds.map(|(kind, actions)| counted(actions.of(action), kind.singular(), kind.plural()));
        parts.collect::<Vec<String>>().join(", ")
    };
    let mut line = Line::new();
    for (action, rows) in plan.to_do() {
        if !line.is_empty() {
            line = line.text("; ");
        }
        line = line.ink(Ink::Strong, rows);
        if action != PlannedAction::Complete {
            line = line.text(format!(": {}", by_kind(action)));
        }
    }
    if line.is_empty() { line.ink(Ink::Strong, plan.nothing_to_do()) } else { line }
}

/// How long it takes.
pub(in crate::cli) fn when(context: &Context<'_>, plan: &Plan, terms: &Terms) -> Line {
    let all: u64 = plan.sent.iter().chain(&plan.sent_earlier).map(|calls| calls.calls).sum();
    match (terms.rate, plan.finish, plan.days) {
        _ if all == 0 && plan.count(PlannedAction::InDoubt) > 0 => Line::plain("not known"),
        _ if all == 0 => Line::plain("at once"),
        (None, _, Some(_)) => Line::plain("the rate is unlimited: how long it takes depends on this machine"),
        (_, Some(_), Some(_)) if plan.is_soon(terms.now) => {
            Line::plain("soon: the service decides by how fast it answers")
        }
        (_, Some(finish), Some(_)) => {
            let finish = upcoming(finish, terms.now);
            Line::plain("about ")
                .ink(Ink::Strong, context.moment(finish))
                .text(format!(", in {}", span(finish.since(terms.now))))
        }
        (_, None, _) | (None, Some(_), None) | (Some(_), Some(_), None) => {
            Line::new().ink(Ink::Warning, without_end(terms.quota, terms.parked_until))
        }
    }
}

fn hindrance(outlook: &Outlook) -> Line {
    match outlook.waiting() {
        none if none.is_empty() => Line::new().ink(Ink::Good, "nothing"),
        waiting => Line::new().ink(Ink::Warning, waiting.join(", ")),
    }
}

/// The cells that change records which exist.
pub(super) fn tell_changes(context: &Context<'_>, changes: &FieldChanges) {
    if changes.total == 0 {
        return;
    }
    let terminal = context.terminal;
    terminal.result("");
    terminal.result("Changes to records that exist, as far as they are not so already:");
    for change in changes.listed.iter().take(CHANGES) {
        let from = change.from.as_ref().map(|from| format!("{from:?} -> ")).unwrap_or_default();
        terminal.result(format!("  {}  {}: {from}{:?}", change.row, change.column, change.to));
    }
    if let more @ 1.. = changes.total.saturating_sub(CHANGES) {
        terminal.result(format!(
            "  and {}; --json lists more",
            counted(more as u64, "other cell", "other cells")
        ));
    }
}

/// The edits that cannot be carried out.
pub(super) fn tell_not_changeable(context: &Context<'_>, changes: &FieldChanges) {
    if changes.fixed_total == 0 {
        return;
    }
    let terminal = context.terminal;
    terminal.result("");
    let rows = counted(changes.fixed_rows, "row is", "rows are");
    terminal.result(Line::new().ink(
        Ink::Warning,
        format!(
            "Edits that the service cannot carry out, for which {rows} rejected unless they are taken back:"
        ),
    ));
    for cell in changes.fixed.iter().take(CHANGES) {
        terminal.result(format!("  {}  {}: {:?}: {}", cell.row, cell.column, cell.to, cell.why));
    }
    if let more @ 1.. = changes.fixed_total.saturating_sub(CHANGES) {
        terminal.result(format!(
            "  and {}; --json lists more",
            counted(more as u64, "other cell", "other cells")
        ));
    }
}

/// The requests, and what is done about lost answers.
pub(super) fn tell_calls(context: &Context<'_>, plan: &Plan) {
    let terminal = context.terminal;
    for (title, calls) in plan.requests() {
        terminal.result("");
        terminal.result(format!("{title}:"));
        table_of_calls(calls).into_iter().for_each(|line| terminal.result(line));
    }
    let finds_names = |calls: &Calls| {
        matches!(calls.operation, Operation::ListAssignableTemplates | Operation::ListJoinableVpnClouds)
    };
    if plan.looked_up.iter().any(finds_names) {
        terminal
            .result("Templates and clouds that rows name by a name are found when the run looks them up.");
    }
    if plan.doubts.is_empty() {
        return;
    }
    terminal.result("");
    terminal.result("If an answer is lost:");
    for doubt in &plan.doubts {
        let ink = if doubt.way == Way::Person { Ink::Warning } else { Ink::Plain };
        terminal.result(Line::plain(format!("  {}: ", doubt.rows_in_words())).ink(ink, doubt.way.words()));
    }
}

fn table_of_calls(calls: &[Calls]) -> Vec<Line> {
    let mut table = Table::new(&["operation", "calls", "quota", ""], &[1]);
    for calls in calls {
        table.row([
            calls.operation.name(),
            &count(calls.calls),
            if calls.counted { "counts" } else { "free" },
            if calls.available { "" } else { "UNAVAILABLE: not documented, not in the profile" },
        ]);
    }
    table.lines()
}

/// The quota, and the days when it takes several.
pub(super) fn tell_days(
    context: &Context<'_>,
    plan: &Plan,
    settings: &Settings,
    terms: &Terms,
    learned: bool,
) {
    let terminal = context.terminal;
    terminal.result("");
    let later = if plan.unavailable.is_empty() { "" } else { "once the operations are there: " };
    terminal.result(format!(
        "{later}{}; daily quota: {}",
        counted(plan.creations, "creation", "creations"),
        quota(settings, terms, learned)
    ));
    if let Some(rate) = terms.rate {
        terminal.result(format!("at {rate} requests a second for each operation"));
    }
    if plan.by_day.len() < 2 {
        return;
    }
    let elsewhere = plan.by_day.iter().any(|share| local(share.from, &context.here) != utc(share.from));
    let heads = ["day", "creations", "from (UTC)", "until", "from (here)", "until"];
    let mut table = Table::new(&heads[..if elsewhere { 6 } else { 4 }], &[0, 1]);
    for (number, share) in (1_u64..).zip(&plan.by_day).take(DAYS) {
        let mut cells = vec![count(number), count(share.creations)];
        cells.extend(from_until(utc(share.from), utc(share.until)));
        if elsewhere {
            cells.extend(from_until(local(share.from, &context.here), local(share.until, &context.here)));
        }
        table.row(cells);
    }
    table.lines().into_iter().for_each(|line| terminal.result(line));
    let more = plan.days.unwrap_or(0).saturating_sub(DAYS as u64);
    if more > 0 {
        terminal.result(format!(" and {}", counted(more, "more day", "more days")));
    }
}

fn utc(at: Moment) -> DateTime {
    at.civil()
}

/// What the clock on the wall shows.
fn local(at: Moment, here: &TimeZone) -> DateTime {
    jiff::Timestamp::from_millisecond(at.millis())
        .map_or_else(|_| at.civil(), |stamp| stamp.to_zoned(here.clone()).datetime())
}

/// The beginning with its date, the end without one on the same day.
fn from_until(from: DateTime, until: DateTime) -> [String; 2] {
    let end = if from.date() == until.date() { "%H:%M:%S" } else { "%m-%d %H:%M" };
    [from.strftime("%Y-%m-%d %H:%M").to_string(), until.strftime(end).to_string()]
}

/// The daily quota in words.
pub(in crate::cli) fn quota(settings: &Settings, terms: &Terms, learned: bool) -> String {
    match terms.quota {
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
    }
}

/// A page of ours says so within its first bytes.
const BEGINNING: u64 = 64 << 10;

/// What the page tells besides the sheets and what becomes of them.
pub(super) struct PageFacts<'a> {
    pub(in crate::cli) settings: &'a Settings,
    /// The limits.
    pub(super) terms: &'a super::PlanTerms,
    /// Whose plan it is.
    pub(in crate::cli) whose: &'a Whose,
    /// What is typed to do it.
    pub(in crate::cli) command: &'a str,
}

/// Refuses to write over a file that is no plan of ours.
pub(super) fn refuse_others(out: &Path) -> Result<()> {
    let mut beginning = Vec::new();
    let read = File::open(out).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    let ours = read.is_ok() && beginning.windows(MARK.len()).any(|bytes| bytes == MARK.as_bytes());
    refuse_unless(ours, out, "a plan page", "--out")
}

/// Writes the page; whole or not at all.
pub(super) fn write_page(
    context: &Context<'_>,
    out: &Path,
    examined: &Examined,
    known: &PageFacts<'_>,
    outlook: &Outlook,
) -> Result<()> {
    let files: Vec<String> = examined.files().map(|file| file.name.clone()).collect();
    let text = page(&Page {
        files: &files,
        outlook,
        terms: &known.terms.terms,
        quota: &quota(known.settings, &known.terms.terms, known.terms.learned),
        whose: known.whose,
        command: known.command,
    })?;
    atomic_file::put(out, text.as_bytes())
        .map_err(|error| unwritable(format_args!("the page {}", out.display()), error))?;
    let line = Line::plain("the plan as a page: ").ink(Ink::Strong, out.display().to_string());
    context.terminal.result(line);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_told_with_its_date_once() {
        let at = |text| Moment::parse(text).unwrap();
        let (from, until) = (at("2026-03-02T00:00:00Z"), at("2026-03-02T00:01:42Z"));
        assert_eq!(from_until(utc(from), utc(until)), ["2026-03-02 00:00", "00:01:42"]);
        let here = TimeZone::get("Pacific/Auckland").unwrap();
        assert_eq!(from_until(local(from, &here), local(until, &here)), ["2026-03-02 13:00", "13:01:42"]);
        let late = at("2026-03-02T12:30:00Z");
        assert_eq!(from_until(local(from, &here), local(late, &here)), ["2026-03-02 13:00", "03-03 01:30"]);
    }

    #[test]
    fn what_is_in_the_way_says_what_to_do() {
        use crate::model::id::JobId;
        use crate::model::operation::Operation;

        let row = |action| in_the_way(&Again::default(), Cause::Row(JobId(7), action), "a.csv!a!3");
        assert_eq!(
            row(PlannedAction::Held).as_str(),
            "a.csv!a!3 is on hold: decide it with `fleetload resolve 7`"
        );
        assert!(row(PlannedAction::Rejected).as_str().contains("fleetload retry"));
        let operation = in_the_way(&Again::default(), Cause::Operation(Operation::AddSite), "");
        assert!(operation.as_str().ends_with("set [profile.NAME.endpoints.addSite]"), "{operation}");
    }

    #[test]
    fn only_pages_of_plans_are_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("plan.html");
        refuse_others(&out).unwrap();
        std::fs::write(&out, "<!doctype html><title>Somebody's</title>").unwrap();
        let error = refuse_others(&out).unwrap_err();
        assert!(error.what().contains("is not a plan page"), "{}", error.what());
        std::fs::write(&out, format!("<!doctype html>{MARK}")).unwrap();
        refuse_others(&out).unwrap();
        assert!(refuse_others(folder.path()).is_err(), "a folder is no page");
    }
}
