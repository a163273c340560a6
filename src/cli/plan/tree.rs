//! The companies of a plan: as a table for people, as objects for programs.

use serde::Serialize;

use crate::cli::context::Context;
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::state::JobState;
use crate::plan::{ActionCounts, Company, Extent, Plan, PlannedAction, Visit, rows_in};
use crate::term::{Table, clean, count, counted};

/// How much of the tree is shown.
const SHOWN: Extent = Extent { broad: 8, deep: 5, all: 40 };

/// Columns of the narrowest screen that the table of companies fits on.
const SCREEN: usize = 79;

/// The name of a company is shown at least this wide, and at most.
const NAME: (usize, usize) = (20, 40);

/// The number in a column, from the rows in a company.
type Number = Box<dyn Fn(&[ActionCounts]) -> u64>;

/// The companies, with what is created in each.
pub(in crate::cli) fn tell_tree(context: &Context<'_>, plan: &Plan) {
    let visits = plan.tree.walk(SHOWN);
    if visits.is_empty() {
        return;
    }
    let total = |of: &dyn Fn(&ActionCounts) -> u64, kinds: &[Kind]| -> u64 {
        let rows = plan.tree.companies.iter();
        rows.flat_map(|company| kinds.iter().map(|kind| of(company.of(*kind)))).sum()
    };
    let sent =
        |actions: &ActionCounts| actions.of(PlannedAction::Create) + actions.of(PlannedAction::Complete);
    let mut columns: Vec<(&str, Number)> = Vec::new();
    for kind in Kind::RECORDS {
        let head = if kind == Kind::Company { "below" } else { kind.plural() };
        if total(&sent, &[kind]) > 0 {
            columns.push((head, Box::new(move |rows| sent(&rows[kind.index()]))));
        }
    }
    if total(&ActionCounts::there, &Kind::ALL) > 0 {
        columns.push(("there", Box::new(|rows| rows.iter().map(ActionCounts::there).sum())));
    }
    if total(&ActionCounts::waiting, &Kind::ALL) > 0 {
        columns.push(("not sent", Box::new(|rows| rows.iter().map(ActionCounts::waiting).sum())));
    }
    let taken: usize = columns.iter().map(|(head, _)| head.len().max(5) + 2).sum();
    let word = plan.tree.companies.iter().map(|company| company.word().1.len()).max().unwrap_or(0);
    let width = SCREEN.saturating_sub(taken + word.max(9) + 3).clamp(NAME.0, NAME.1);
    let mut heads = vec!["company", ""];
    heads.extend(columns.iter().map(|(head, _)| *head));
    let numbers: Vec<usize> = (2..heads.len()).collect();
    let mut table = Table::new(&heads, &numbers);
    let mut row = |depth: usize, name: &str, word: &str, rows: &[ActionCounts]| {
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
                row(company.depth, &company.title(), company.word().1, &company.rows);
            }
            Visit::More { depth, companies } => {
                let name =
                    format!("and {}", counted(companies.len() as u64, "more company", "more companies"));
                row(depth, &name, "", &rows_in(&plan.tree, &companies));
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

/// A company of a plan, with what would happen to the rows directly in it.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CompanyObject<'a> {
    /// Its name; `null` where only its id is known.
    name: Option<&'a str>,
    /// Its id, where it exists.
    id: Option<RemoteId>,
    /// The row that makes it.
    job: Option<JobId>,
    /// The state of that row.
    state: Option<JobState>,
    /// What would happen to that row.
    becomes: Option<PlannedAction>,
    /// How many companies of the plan are above it.
    depth: usize,
    /// The company above it.
    parent: Option<ParentCompany<'a>>,
    /// Rows of companies directly below it, by what would happen to them.
    companies: &'a ActionCounts,
    /// Rows of its sites, likewise.
    sites: &'a ActionCounts,
    /// Rows of its people, likewise.
    people: &'a ActionCounts,
    /// Rows of its devices, likewise.
    devices: &'a ActionCounts,
}

/// The company above another one.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct ParentCompany<'a> {
    /// Its name.
    name: Option<&'a str>,
    /// Its id, where it exists.
    id: Option<RemoteId>,
    /// The row that makes it.
    job: Option<JobId>,
}

impl<'a> CompanyObject<'a> {
    pub(in crate::cli) fn of(plan: &'a Plan, company: &'a Company) -> Self {
        let parent = company.parent.map(|parent| &plan.tree.companies[parent]);
        Self {
            name: company.name.as_deref(),
            id: company.id,
            job: company.job,
            state: company.state,
            becomes: company.action,
            depth: company.depth,
            parent: parent.map(|parent| ParentCompany {
                name: parent.name.as_deref(),
                id: parent.id,
                job: parent.job,
            }),
            companies: company.of(Kind::Company),
            sites: company.of(Kind::Site),
            people: company.of(Kind::Person),
            devices: company.of(Kind::Device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_their_width_on_the_screen() {
        assert_eq!(cut("Acme", 4), "Acme");
        assert_eq!(cut("Acme Ltd", 5), "Acme…");
        assert_eq!(cut("東京電力", 5), "東京…");
    }
}
