//! What a plan says on the terminal: what will happen, how long it takes and what is in the way first; then the
//! companies, the requests and the days.

use serde_json::{Value, json};

use super::context::Context;
use super::settings::Settings;
use crate::model::kind::Kind;
use crate::plan::{Calls, Cause, Company, Extent, Fate, Fates, Plan, Terms, Visit, Way};
use crate::term::{Ink, Line, Table, clean, count, counted, span};

/// How much of the tree is shown.
const SHOWN: Extent = Extent { broad: 8, deep: 5, all: 40 };

/// Days shown one by one.
const DAYS: usize = 10;

/// Columns of the narrowest screen that the table of companies fits on.
const SCREEN: usize = 79;

/// The name of a company is shown at least this wide, and at most.
const NAME: (usize, usize) = (20, 40);

/// What is planned, and what the plan itself does not know.
pub(super) struct Outlook {
    pub(super) plan: Plan,
    /// What is in the way, in words, with the rows that it blocks; not all, when there is very much.
    pub(super) obstacles: Vec<(String, u64)>,
    /// Obstacles that are not listed.
    pub(super) more_obstacles: u64,
    /// Rows that are left out for their errors.
    pub(super) left_out: u64,
}

/// What stands in the way of rows, in words; `place` says where another row is.
pub(super) fn in_the_way(cause: Cause, place: &str) -> String {
    match cause {
        Cause::Operation(operation) => format!(
            "{operation} is neither documented nor in the profile: set [profile.NAME.endpoints.{operation}]"
        ),
        Cause::Row(job, fate) => {
            let what = match fate {
                Fate::Rejected => {
                    "was rejected: correct it, or send it again with `fleetload retry`".to_owned()
                }
                Fate::Held => format!("is held: decide it with `fleetload resolve {job}`"),
                Fate::Cancelled => "was given up: change it, or leave out what belongs to it".to_owned(),
                Fate::InDoubt => "is in doubt: the run finds out first what became of it".to_owned(),
                Fate::Blocked | Fate::Create | Fate::Complete | Fate::There | Fate::Changed => {
                    "is not sent either".to_owned()
                }
            };
            format!("{place} {what}")
        }
    }
}

/// The first lines: what will happen, how long, what is in the way.
pub(super) fn tell_headline(context: &Context<'_>, outlook: &Outlook, terms: &Terms) {
    let (terminal, plan) = (context.terminal, &outlook.plan);
    let mut facts: Vec<(&str, Line)> = vec![("to do", what(plan)), ("done", when(context, plan, terms))];
    if let Some(days) = plan.days.filter(|days| *days > 1) {
        let days = counted(days, "day with creations", "days with creations");
        let because = if terms.quota.is_some() { ", because of the daily quota" } else { "" };
        facts.push(("days", Line::new().ink(Ink::Warning, days).text(because)));
    }
    let sums = sums(plan);
    if plan.rows_earlier > 0 {
        let rows = counted(
            plan.rows_earlier,
            "row that earlier imports have left",
            "rows that earlier imports have left",
        );
        facts.push(("besides", Line::plain(rows)));
    }
    if sums.there() > 0 {
        let changed = match sums.of(Fate::Changed) {
            0 => String::new(),
            changed => format!(", {} with other values, which are not sent", count(changed)),
        };
        facts.push(("there", Line::plain(format!("{}{changed}", counted(sums.there(), "row", "rows")))));
    }
    facts.push(("in the way", hindrance(outlook, &sums)));
    for (word, line) in facts {
        terminal.result(Line::new().ink(Ink::Faint, format!("{word:<12}")).join(line));
    }
    for (words, rows) in &outlook.obstacles {
        let rows = counted(*rows, "row waits", "rows wait");
        terminal.result(Line::plain("  ").ink(Ink::Warning, rows).text(format!(": {words}")));
    }
    if outlook.more_obstacles > 0 {
        let more = counted(outlook.more_obstacles, "more thing is", "more things are");
        terminal.result(format!("  {more} in the way, told with --json"));
    }
}

/// All rows of the sheets by their fate.
pub(super) fn sums(plan: &Plan) -> Fates {
    let mut sums = Fates::default();
    plan.rows.values().for_each(|fates| sums.add_all(fates));
    sums
}

/// What will happen.
pub(super) fn what(plan: &Plan) -> Line {
    let parts: Vec<String> = plan
        .rows
        .iter()
        .filter(|(_, fates)| fates.of(Fate::Create) > 0)
        .map(|(kind, fates)| counted(fates.of(Fate::Create), kind.singular(), kind.plural()))
        .collect();
    let (create, complete) = (plan.count(Fate::Create), plan.count(Fate::Complete));
    let completed = match complete {
        0 => String::new(),
        _ => format!("{} to be completed", counted(complete, "row", "rows")),
    };
    match (create, complete) {
        (0, 0) => Line::new().ink(Ink::Strong, "nothing is sent for these sheets"),
        (0, _) => Line::new().ink(Ink::Strong, completed),
        (_, 0) => Line::new()
            .ink(Ink::Strong, counted(create, "row to be created", "rows to be created"))
            .text(format!(": {}", parts.join(", "))),
        _ => Line::new()
            .ink(Ink::Strong, counted(create, "row to be created", "rows to be created"))
            .text(format!(": {}; {completed}", parts.join(", "))),
    }
}

/// How long it takes.
pub(super) fn when(context: &Context<'_>, plan: &Plan, terms: &Terms) -> Line {
    let all: u64 = plan.sent.iter().chain(&plan.sent_earlier).map(|calls| calls.calls).sum();
    match (terms.rate, plan.finish, plan.days) {
        _ if !plan.unavailable().is_empty() => Line::plain("never, before what is in the way is out of it"),
        _ if all == 0 => Line::plain("at once"),
        (None, _, Some(_)) => Line::plain("the rate is unlimited: how long it takes depends on this machine"),
        (_, Some(finish), Some(_)) => Line::plain("about ")
            .ink(Ink::Strong, context.moment(finish))
            .text(format!(", in {}", span(finish.since(terms.now)))),
        (_, None, _) | (None, Some(_), None) | (Some(_), Some(_), None) => {
            Line::new().ink(Ink::Warning, "never: the reserve leaves nothing of the daily quota")
        }
    }
}

fn hindrance(outlook: &Outlook, sums: &Fates) -> Line {
    let mut parts = Vec::new();
    for fate in [Fate::Blocked, Fate::Rejected, Fate::Held, Fate::InDoubt, Fate::Cancelled] {
        if sums.of(fate) > 0 {
            parts.push(format!("{} {}", counted(sums.of(fate), "row", "rows"), fate.words()));
        }
    }
    if outlook.left_out > 0 {
        parts.push(format!("{} left out for their errors", counted(outlook.left_out, "row", "rows")));
    }
    if parts.is_empty() {
        return Line::new().ink(Ink::Good, "nothing");
    }
    Line::new().ink(Ink::Warning, parts.join(", "))
}

/// The companies, with what is created in each.
pub(super) fn tell_tree(context: &Context<'_>, plan: &Plan) {
    let visits = plan.tree.walk(SHOWN);
    if visits.is_empty() {
        return;
    }
    let total = |of: &dyn Fn(&Fates) -> u64, kinds: &[Kind]| -> u64 {
        let rows = plan.tree.companies.iter();
        rows.flat_map(|company| kinds.iter().map(|kind| of(company.of(*kind)))).sum()
    };
    let sent = |fates: &Fates| fates.of(Fate::Create) + fates.of(Fate::Complete);
    let mut columns: Vec<(&str, Box<dyn Fn(&[Fates]) -> u64>)> = Vec::new();
    for (kind, head) in
        [(Kind::Company, "below"), (Kind::Site, "sites"), (Kind::Person, "people"), (Kind::Device, "devices")]
    {
        if total(&sent, &[kind]) > 0 {
            columns.push((head, Box::new(move |rows| sent(&rows[kind as usize]))));
        }
    }
    if total(&Fates::there, &Kind::ALL) > 0 {
        columns.push(("there", Box::new(|rows| rows.iter().map(Fates::there).sum())));
    }
    if total(&Fates::waiting, &Kind::ALL) > 0 {
        columns.push(("not sent", Box::new(|rows| rows.iter().map(Fates::waiting).sum())));
    }
    let taken: usize = columns.iter().map(|(head, _)| head.len().max(5) + 2).sum();
    let width = SCREEN.saturating_sub(taken + 12).clamp(NAME.0, NAME.1);
    let mut heads = vec!["company", ""];
    heads.extend(columns.iter().map(|(head, _)| *head));
    let numbers: Vec<usize> = (2..heads.len()).collect();
    let mut table = Table::new(&heads, &numbers);
    let mut row = |depth: usize, name: &str, word: &str, rows: &[Fates]| {
        let indented = format!("{}{}", "  ".repeat(depth), clean(name));
        let mut cells = vec![cut(&indented, width), word.to_owned()];
        cells.extend(columns.iter().map(|(_, number)| match number(rows) {
            0 => String::new(),
            number => count(number),
        }));
        table.row(cells);
    };
    for visit in visits {
        match visit {
            Visit::Enter(place) => {
                let company = &plan.tree.companies[place];
                row(company.depth, &company.title(), word(company), &company.rows);
            }
            Visit::More { depth, companies, rows } => {
                let name = format!("and {}", counted(companies, "more company", "more companies"));
                row(depth, &name, "", &rows);
            }
            Visit::Leave(_) => {}
        }
    }
    let terminal = context.terminal;
    terminal.result("");
    terminal.result("What is created in each company (below: companies directly below it):");
    for line in table.lines() {
        terminal.result(line);
    }
}

/// What becomes of a company, in a word.
pub(super) fn word(company: &Company) -> &'static str {
    match company.fate {
        None | Some(Fate::There | Fate::Changed | Fate::Complete) => "exists",
        Some(Fate::Create) => "create",
        Some(Fate::Rejected) => "rejected",
        Some(Fate::Held) => "held",
        Some(Fate::InDoubt) => "in doubt",
        Some(Fate::Cancelled) => "given up",
        Some(Fate::Blocked) => "blocked",
    }
}

/// A text cut to a width on the screen; signs that may be two wide count as two.
fn cut(text: &str, width: usize) -> String {
    let wide = |c: char| if c < '\u{1100}' { 1 } else { 2 };
    if text.chars().map(wide).sum::<usize>() <= width {
        return text.to_owned();
    }
    let mut left = width - 1;
    let mut result = String::new();
    for c in text.chars() {
        let Some(rest) = left.checked_sub(wide(c)) else { break };
        left = rest;
        result.push(c);
    }
    result + "…"
}

/// The requests, and what is done about lost answers.
pub(super) fn tell_calls(context: &Context<'_>, plan: &Plan) {
    let terminal = context.terminal;
    let lists = [
        ("What is sent, in this order (companies before what is in them):", &plan.sent),
        ("What is sent besides, left from earlier imports:", &plan.sent_earlier),
        (
            "What is looked up first, at most; a record that is there already is not created again:",
            &plan.looked_up,
        ),
        ("What is read back at the end, at most:", &plan.read_back),
    ];
    for (title, calls) in lists {
        if !calls.is_empty() {
            terminal.result("");
            terminal.result(title);
            table_of_calls(calls).into_iter().for_each(|line| terminal.result(line));
        }
    }
    if plan.doubts.is_empty() {
        return;
    }
    terminal.result("");
    terminal.result("If an answer is lost:");
    for doubt in &plan.doubts {
        let rows = counted(doubt.rows, &format!("row of {}", doubt.kind), &format!("rows of {}", doubt.kind));
        let ink = if doubt.way == Way::Person { Ink::Warning } else { Ink::Plain };
        terminal.result(Line::plain(format!("  {rows}: ")).ink(ink, doubt.way.words()));
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
    terminal.result(format!(
        "{}; daily quota: {}",
        counted(plan.creations, "creation", "creations"),
        quota(settings, terms, learned)
    ));
    if let Some(rate) = terms.rate {
        terminal.result(format!("at {rate} requests a second for each operation"));
    }
    if plan.by_day.len() < 2 {
        return;
    }
    let mut table = Table::new(&["day", "creations", "from", "until"], &[0, 1]);
    for (number, share) in (1_u64..).zip(&plan.by_day).take(DAYS) {
        let (from, until) = (context.moment(share.from), context.moment(share.until));
        table.row([count(number), count(share.creations), from, until]);
    }
    table.lines().into_iter().for_each(|line| terminal.result(line));
    let more = plan.days.unwrap_or(0).saturating_sub(DAYS as u64);
    if more > 0 {
        terminal.result(format!(" and {}", counted(more, "more day", "more days")));
    }
}

/// The daily quota in words.
pub(super) fn quota(settings: &Settings, terms: &Terms, learned: bool) -> String {
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

/// A company as programs read it.
pub(super) fn company_object(plan: &Plan, company: &Company) -> Value {
    let parent = company.parent.map(|parent| &plan.tree.companies[parent]);
    let mut object = json!({
        "object": "company", "name": company.name, "id": company.id, "job": company.job, "state": company.state,
        "becomes": company.fate, "depth": company.depth,
        "parent": parent.map(|parent| json!({"name": parent.name, "id": parent.id, "job": parent.job})),
    });
    for kind in Kind::ALL {
        object[kind.plural()] = json!(company.of(kind));
    }
    object
}
