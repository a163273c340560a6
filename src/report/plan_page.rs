//! The plan as one page for the browser, with nothing that it would have to fetch.
//!
//! The frame and the look are those of every page; markup is escaped by the template engine, invisible characters by
//! [`shown`].

use askama::Template;

use super::page_assets::{When, shown};
use crate::advice::Advice;
use crate::error::{Error, Result};
use crate::journal::Whose;
use crate::model::amount::{count, counted, listed};
use crate::model::forecast::DayShare;
use crate::model::kind::Kind;
use crate::model::state::RowGroup;
use crate::plan::{
    ActionCounts, Calls, Extent, FieldChange, FieldChanges, Lacking, Plan, PlannedAction, Terms, Visit,
    rows_in, without_end,
};
use crate::status::row_words::{not_imported, without_errors_before};

/// What the page of a plan has near its beginning, and no other page.
pub const MARK: &str = "<!-- a plan of fleetload -->";

/// How much of the tree is shown. Deeper than any real tree of companies; browsers flatten what is nested deeper still.
const SHOWN: Extent = Extent { broad: 200, deep: 24, all: 2_000 };

/// Changed cells that are listed.
const CHANGES: usize = 500;

/// What is planned, and what the plan itself does not know.
pub struct Outlook {
    /// The plan.
    pub plan: Plan,
    /// What is in the way, in words, with the rows that it blocks; not all, when there is very much.
    pub obstacles: Vec<(Advice, u64)>,
    /// Obstacles that are not listed.
    pub more_obstacles: u64,
    /// Rows that are left out for their errors, and those that come along with them.
    pub left_out: (u64, u64),
    /// Rows that are left out as they were before, and that an earlier import has without errors.
    pub answered: u64,
    /// The cells that change records which exist.
    pub changes: FieldChanges,
}

impl Outlook {
    /// What is not sent, and why.
    pub fn waiting(&self) -> Vec<String> {
        let sums = self.plan.sums();
        let mut waiting: Vec<String> = PlannedAction::ALL
            .iter()
            .copied()
            .filter(|action| action.waits() && sums.of(*action) > 0)
            .map(|action| format!("{} {}", counted(sums.of(action), "row", "rows"), action.words()))
            .collect();
        if self.left_out != (0, 0) {
            waiting.push(not_imported("", self.left_out.0, self.left_out.1));
        }
        if self.answered > 0 {
            let rows = counted(self.answered, "row is", "rows are");
            waiting.push(format!("{rows} {}", without_errors_before(self.answered)));
        }
        waiting
    }
}

/// What is put into the page.
pub struct PlanPage<'a> {
    /// The names of the files.
    pub files: &'a [String],
    /// The plan, and what is in its way.
    pub outlook: &'a Outlook,
    /// What it was reckoned with.
    pub terms: &'a Terms,
    /// The daily quota in words.
    pub quota: &'a str,
    /// Whose plan it is.
    pub whose: &'a Whose,
    /// The command that does it.
    pub command: &'a str,
}

/// The template with what it shows, all of it in words.
#[derive(Template)]
#[template(path = "page/plan.html")]
struct Sheet<'a> {
    mark: &'static str,
    title: String,
    headline: String,
    /// How it stands: `done`, `failed` or `person`.
    mood: &'static str,
    now: When,
    ending: Ending,
    whose: &'a Whose,
    command: &'a str,
    figures: Vec<Figure>,
    waiting: Vec<String>,
    obstacles: Vec<String>,
    branches: Vec<Branch>,
    changes: Vec<Change>,
    more_changes: Option<String>,
    /// How many requests there are, in a sentence.
    requests: String,
    lists: Vec<(&'static str, Vec<Call>)>,
    doubts: Vec<String>,
    quota: String,
    days: Vec<Day>,
    more_days: Option<String>,
}

/// When it is done.
enum Ending {
    At(When),
    Soon,
    Unknown,
    WithoutEnd(&'static str),
    /// Operations are missing; what would be sent if they were there.
    NotYet(String),
}

/// A number with what it counts.
struct Figure {
    words: String,
    number: String,
    of: String,
}

/// The calls of an operation.
struct Call {
    name: &'static str,
    calls: String,
    counted: bool,
    available: bool,
}

/// A day with what is created on it.
struct Day {
    day: String,
    creations: String,
    from: When,
    until: When,
}

/// A changed cell.
struct Change {
    row: String,
    column: String,
    from: Option<String>,
    to: String,
}

/// A step through the tree, as the template takes it.
enum Branch {
    /// A company; `below` says whether a list of others follows.
    Enter {
        name: String,
        id: String,
        word: &'static str,
        tint: &'static str,
        sign: &'static str,
        rows: String,
        below: bool,
        open: bool,
    },
    Leave {
        below: bool,
    },
    More {
        words: String,
        rows: String,
    },
}

/// The page of a plan.
///
/// # Errors
/// When the page cannot be put together, which is a fault of ours.
pub fn page(page: &PlanPage<'_>) -> Result<String> {
    let Outlook { plan, changes, .. } = page.outlook;
    let files: Vec<String> = page.files.iter().map(|file| shown(file)).collect();
    let waiting = page.outlook.waiting();
    let lacking = plan.lacking(page.terms.quota);
    let ending = ending(page, lacking.as_ref());
    let mood = match (&ending, waiting.is_empty()) {
        (Ending::NotYet(_) | Ending::WithoutEnd(_), _) => "failed",
        (Ending::At(_) | Ending::Soon | Ending::Unknown, false) => "person",
        (Ending::At(_) | Ending::Soon | Ending::Unknown, true) => "done",
    };
    let listed = plan.by_day.len() as u64;
    Sheet {
        mark: MARK,
        title: format!("Plan for {}", files.join(", ")),
        headline: lacking
            .as_ref()
            .map_or_else(|| in_days(headline(plan), plan), |lacking| lacking.headline.clone()),
        requests: requests(plan),
        mood,
        now: When::of(page.terms.now),
        ending,
        whose: page.whose,
        command: page.command,
        figures: if lacking.is_some() { Vec::new() } else { figures(plan) },
        waiting,
        obstacles: obstacles(page.outlook),
        branches: branches(plan),
        changes: changes.listed.iter().take(CHANGES).map(change).collect(),
        more_changes: changes.total.checked_sub(CHANGES).filter(|more| *more > 0).map(|more| {
            format!("and {}; plan --json lists more", counted(more as u64, "other cell", "other cells"))
        }),
        lists: plan
            .requests()
            .into_iter()
            .map(|(title, calls)| (title, calls.iter().map(call).collect()))
            .collect(),
        doubts: plan
            .doubts
            .iter()
            .map(|doubt| format!("{}: {}", doubt.rows_in_words(), doubt.way.words()))
            .collect(),
        quota: quota(page),
        days: plan.by_day.iter().map(day).collect(),
        more_days: plan.days.filter(|days| *days > listed).map(|days| {
            format!("{} in all; the first and the last of them are listed.", counted(days, "day", "days"))
        }),
    }
    .render()
    .map_err(|error| Error::internal("the page of the plan cannot be put together").because(error))
}

fn ending(page: &PlanPage<'_>, lacking: Option<&Lacking>) -> Ending {
    if let Some(lacking) = lacking {
        return Ending::NotYet(lacking.then.clone());
    }
    match page.outlook.plan.finish {
        Some(_) if page.outlook.plan.is_soon(page.terms.now) => Ending::Soon,
        Some(finish) => Ending::At(When::of(finish)),
        None if page.terms.rate.is_none() => Ending::Unknown,
        None => Ending::WithoutEnd(without_end(page.terms.quota, page.terms.parked_until)),
    }
}

fn obstacles(outlook: &Outlook) -> Vec<String> {
    let mut obstacles: Vec<String> = outlook
        .obstacles
        .iter()
        .map(|(words, rows)| {
            format!("{}: {}", counted(*rows, "row waits", "rows wait"), shown(words.as_str()))
        })
        .collect();
    if outlook.more_obstacles > 0 {
        obstacles.push(format!("and {}", counted(outlook.more_obstacles, "more thing", "more things")));
    }
    obstacles
}

fn figures(plan: &Plan) -> Vec<Figure> {
    let sums = plan.sums();
    let mut figures: Vec<Figure> = plan
        .rows
        .iter()
        .map(|(kind, actions)| Figure {
            words: if kind.is_record() {
                format!("{kind} to be created")
            } else {
                format!("{kind} to carry out")
            },
            number: count(actions.of(PlannedAction::Create) + actions.of(PlannedAction::Apply)),
            of: format!("of {}", counted(actions.total(), "row", "rows")),
        })
        .collect();
    let mut besides = |words: &str, rows: u64| {
        if rows > 0 {
            figures.push(Figure { words: words.to_owned(), number: count(rows), of: String::new() });
        }
    };
    besides("rows unchanged since the export", sums.of(PlannedAction::Unchanged));
    besides("rows that exist already", sums.there());
    besides("rows of earlier imports, also sent", plan.rows_earlier);
    figures
}

fn call(calls: &Calls) -> Call {
    Call {
        name: calls.operation.name(),
        calls: count(calls.calls),
        counted: calls.counted,
        available: calls.available,
    }
}

fn quota(page: &PlanPage<'_>) -> String {
    let pace = match page.terms.rate {
        Some(rate) => format!(" At most {rate} requests a second for each operation."),
        None => String::new(),
    };
    let creations = counted(page.outlook.plan.creations, "creation", "creations");
    let later =
        if page.outlook.plan.unavailable.is_empty() { "" } else { "Once the operations have a path: " };
    format!("{later}{creations}; daily quota: {}.{pace}", shown(page.quota))
}

fn change(change: &FieldChange) -> Change {
    Change {
        row: shown(&change.row),
        column: shown(&change.column),
        from: change.from.as_deref().map(shown),
        to: shown(&change.to),
    }
}

fn day(share: &DayShare) -> Day {
    Day {
        day: share.from.civil().date().to_string(),
        creations: count(share.creations),
        from: When::of(share.from),
        until: When::of(share.until),
    }
}

fn headline(plan: &Plan) -> String {
    let parts: Vec<String> = plan.to_do().into_iter().map(|(_, rows)| rows).collect();
    listed(&parts).unwrap_or_else(|| plan.nothing_to_do().to_owned())
}

/// A headline with the days that it takes, where that is more than one.
fn in_days(headline: String, plan: &Plan) -> String {
    match plan.days {
        Some(days @ 2..) => format!("{headline}, in {} days", count(days)),
        Some(_) | None => headline,
    }
}

fn requests(plan: &Plan) -> String {
    let all = |calls: &[Calls]| calls.iter().map(|calls| calls.calls).sum::<u64>();
    let sent = all(&plan.sent) + all(&plan.sent_earlier);
    format!(
        "{} sent, at most {} first and {} for verification at the end.",
        counted(sent, "request is", "requests are"),
        counted(all(&plan.looked_up), "look-up", "look-ups"),
        counted(all(&plan.read_back), "look-up", "look-ups")
    )
}

fn branches(plan: &Plan) -> Vec<Branch> {
    let tree = &plan.tree;
    tree.walk(SHOWN)
        .into_iter()
        .map(|visit| match visit {
            Visit::Enter(place) => {
                let company = &tree.companies[place];
                let (group, word) = company.word();
                Branch::Enter {
                    name: shown(&company.title()),
                    id: match (&company.name, company.id) {
                        (Some(_), Some(id)) => id.to_string(),
                        (Some(_) | None, _) => String::new(),
                    },
                    word,
                    tint: group.class(),
                    sign: if group == RowGroup::Waiting { "+" } else { group.sign() },
                    rows: contents(&company.rows),
                    below: !company.below.is_empty(),
                    open: company.depth < 2,
                }
            }
            Visit::Leave(place) => Branch::Leave { below: !tree.companies[place].below.is_empty() },
            Visit::More { companies, .. } => Branch::More {
                words: format!("and {}", counted(companies.len() as u64, "more company", "more companies")),
                rows: contents(&rows_in(tree, &companies)),
            },
        })
        .collect()
}

/// `3 sites, 12 devices to be created · 4 rows that exist already`.
fn contents(rows: &[ActionCounts]) -> String {
    let mut parts = Vec::new();
    for &action in PlannedAction::ALL {
        let kinds: Vec<String> = Kind::ALL
            .into_iter()
            .zip(rows)
            .filter(|(_, actions)| actions.of(action) > 0)
            .map(|(kind, actions)| counted(actions.of(action), kind.singular(), kind.plural()))
            .collect();
        if !kinds.is_empty() {
            parts.push(format!("{} {}", kinds.join(", "), action.words()));
        }
    }
    parts.join(" \u{b7} ")
}

#[cfg(test)]
mod tests;
