//! The companies of an import as the page shows them: what hangs below what, with how far each branch has come.
//!
//! Written as a list of openings and closings in the order of the page, so that the template needs no recursion.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::journal::{Above, CompanyNode, CompanyTree, Journal};
use crate::model::amount::{count, counted};
use crate::model::company_forest::{CompanyForest, Extent, Visit};
use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::model::state::RowGroup;
use crate::model::tally::Tally;
use crate::report::page_assets::shown;
use crate::report::row_group::Badge;

use super::attention::readable;

/// Companies that are read; what hangs below one is counted among these.
const READ: usize = 20_000;

/// Companies that are shown.
const SHOWN: usize = 2_000;

/// Branches open from the beginning, when there are no more companies than this.
const FEW: usize = 12;

/// What is to be said of a company that rows name by its id, as long as nothing got into it.
const NAMED: &str = "named by its id; no row is about it";

/// The tree of an import.
pub(super) struct Tree {
    pub(super) steps: Vec<TreeStep>,
    /// What is left out, as a sentence; empty when nothing is.
    pub(super) left_out: String,
}

/// A step through the tree.
pub(super) enum TreeStep {
    /// A company with others below it.
    Open(Twig),
    /// A company without.
    Leaf(Twig),
    /// Everything below the last open company has been told.
    Close,
}

/// A company.
pub(super) struct Twig {
    pub(super) name: String,
    /// Its state; `None` for a record that no row of the journal is about.
    pub(super) badge: Option<Badge>,
    /// What is in it and below it, by kind.
    pub(super) below: Vec<Below>,
    pub(super) open: bool,
    /// What to say of it besides.
    pub(super) note: &'static str,
}

/// Records of one kind in and below a company.
pub(super) struct Below {
    pub(super) words: String,
    /// How many are in each group that has some.
    pub(super) groups: Vec<(RowGroup, String)>,
}

/// What is known of a company, with the counts of its branch.
struct CompanyBranch<'a> {
    company: Option<&'a CompanyNode>,
    above: Above,
    branch: Tally,
    note: &'static str,
}

impl Tree {
    /// Reads and lays out the tree; `None` when rows belong to no company.
    pub(super) fn of(journal: &Journal, import: ImportId) -> Result<Option<Self>> {
        let tree = journal.company_tree(import, READ)?;
        Ok((tree.total > 0 || !tree.belongings.is_empty()).then(|| laid_out(&tree)))
    }
}

fn laid_out(tree: &CompanyTree) -> Tree {
    let mut nodes = nodes(tree);
    nodes.add_up(|above, node| {
        above.branch.add_all(&node.branch);
        if let Some(company) = node.company {
            above.branch.add(Kind::Company, company.state, 1);
        }
    });
    let open = nodes.companies.len() <= FEW;
    let mut steps = Vec::new();
    let mut told = 0;
    for visit in nodes.walk(Extent { broad: usize::MAX, deep: usize::MAX, all: SHOWN }) {
        match visit {
            Visit::Enter(place) => {
                told += 1;
                let node = &nodes.companies[place];
                // The account's own company is open: below it begins what the sheets speak of.
                let twig = twig(node, open || node.company.is_none());
                steps.push(if node.below.is_empty() { TreeStep::Leaf(twig) } else { TreeStep::Open(twig) });
            }
            Visit::Leave(place) if nodes.companies[place].below.is_empty() => {}
            Visit::Leave(_) => steps.push(TreeStep::Close),
            // Counted in `left_out`.
            Visit::More { .. } => {}
        }
    }
    Tree { steps, left_out: left_out(tree, nodes.companies.len(), told) }
}

fn left_out(tree: &CompanyTree, known: usize, told: usize) -> String {
    let read = u64::try_from(tree.companies.len()).unwrap_or(u64::MAX);
    let hidden = u64::try_from(known - told).unwrap_or(u64::MAX);
    let companies = match (tree.total.saturating_sub(read), hidden) {
        (0, 0) => None,
        (0, hidden) => Some(format!(
            "{} not shown here, but counted above",
            counted(hidden, "more company is", "more companies are")
        )),
        (unread, hidden) => Some(format!(
            "{} not shown here; the counts are of the first {} companies",
            counted(unread + hidden, "more company is", "more companies are"),
            count(read)
        )),
    };
    let rows = (tree.elsewhere > 0).then(|| {
        counted(
            tree.elsewhere,
            "row is not counted here, as the journal does not know the company of the record that it names by id",
            "rows are not counted here, as the journal does not know the companies of the records that they name by id",
        )
    });
    let not_imported = (tree.not_imported > 0).then(|| {
        format!("{} not imported: not counted here", counted(tree.not_imported, "row was", "rows were"))
    });
    let said: Vec<String> = companies.into_iter().chain(rows).chain(not_imported).collect();
    if said.is_empty() {
        return String::new();
    }
    format!("{}. Every row is in results.xlsx.", said.join(". "))
}

/// The companies as they hang below each other.
fn nodes(tree: &CompanyTree) -> CompanyForest<CompanyBranch<'_>> {
    let mut nodes = Vec::new();
    let mut known: HashMap<Above, usize> = HashMap::new();
    for (companies, note) in [(&tree.companies, ""), (&tree.others, "from an earlier import")] {
        for company in companies {
            let place = *known.entry(Above::Job(company.job)).or_insert(nodes.len());
            if place == nodes.len() {
                nodes.push(CompanyBranch {
                    company: Some(company),
                    above: company.above,
                    branch: Tally::default(),
                    note,
                });
            }
        }
    }
    // Whatever something belongs to and no row here is about.
    // The companies above those of earlier imports are of no concern here.
    let earlier: HashSet<Above> =
        nodes.iter().filter(|node| !node.note.is_empty()).map(|node| node.above).collect();
    let outside: Vec<Above> =
        nodes.iter().map(|node| node.above).chain(tree.belongings.iter().map(|(owner, _)| *owner)).collect();
    for above in outside {
        if above != Above::Nothing && !known.contains_key(&above) && !earlier.contains(&above) {
            known.insert(above, nodes.len());
            let note = match above {
                // Said for certain only where the service has let something into it; see `twig`.
                Above::Remote(_) => NAMED,
                Above::Job(_) | Above::Nothing => "not shown in full",
            };
            nodes.push(CompanyBranch { company: None, above, branch: Tally::default(), note });
        }
    }
    for (owner, tally) in &tree.belongings {
        if let Some(&place) = known.get(owner) {
            nodes[place].branch.add_all(tally);
        }
    }
    let parent = |at: usize, node: &CompanyBranch<'_>| {
        known.get(&node.above).copied().filter(|&above| above != at && node.company.is_some())
    };
    let parents: Vec<Option<usize>> = nodes.iter().enumerate().map(|(at, node)| parent(at, node)).collect();
    CompanyForest::of(nodes.into_iter().zip(parents).collect())
}

fn twig(node: &CompanyBranch<'_>, open: bool) -> Twig {
    let name = match (node.company, node.above) {
        (Some(company), _) => readable(&company.name),
        (None, Above::Remote(id)) => format!("Company {id}"),
        (None, Above::Job(job)) => format!("Company of job {job}"),
        (None, Above::Nothing) => String::new(),
    };
    let below = Kind::ALL.into_iter().filter_map(|kind| below(kind, &node.branch)).collect();
    // What was let into it proves that it is there; a refusal may mean that it is not.
    let is_there = node.branch.count(|state| state.is_success()) > 0;
    Twig {
        name: shown(&name),
        badge: node.company.map(|company| Badge::of(company.state, true)),
        below,
        open,
        note: if node.note == NAMED && is_there { "was in the service before" } else { node.note },
    }
}

fn below(kind: Kind, branch: &Tally) -> Option<Below> {
    let all = branch.of_kind(kind);
    if all == 0 {
        return None;
    }
    let groups = RowGroup::ALL
        .into_iter()
        .map(|group| (group, group.states().map(|state| branch.of(kind, state)).sum::<u64>()))
        .filter(|(_, rows)| *rows > 0)
        .map(|(group, rows)| (group, format!("{} {}", count(rows), group.words())));
    Some(Below { words: counted(all, kind.singular(), kind.plural()), groups: groups.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{JobId, RemoteId};
    use crate::model::state::JobState;

    fn node(job: i64, above: Above) -> CompanyNode {
        CompanyNode { job: JobId(job), name: format!("C{job}"), state: JobState::Created, above }
    }

    /// The tree as brackets.
    fn outline(tree: &CompanyTree) -> String {
        laid_out(tree)
            .steps
            .iter()
            .map(|step| match step {
                TreeStep::Open(twig) => format!("{}(", twig.name),
                TreeStep::Leaf(twig) => format!("{} ", twig.name),
                TreeStep::Close => ")".to_owned(),
            })
            .collect()
    }

    #[test]
    fn companies_stand_below_what_they_belong_to_in_the_order_of_their_rows() {
        let top = Above::Remote(RemoteId::from_u128(7));
        let companies = vec![
            node(1, top),
            node(2, Above::Job(JobId(1))),
            node(3, Above::Job(JobId(2))),
            node(4, Above::Job(JobId(1))),
        ];
        let mut devices = Tally::default();
        devices.add(Kind::Device, JobState::Rejected, 3);
        let belongings = vec![(Above::Job(JobId(3)), devices)];
        let tree = CompanyTree { total: 4, companies, belongings, ..CompanyTree::default() };
        assert_eq!(outline(&tree), format!("Company {}(C1(C2(C3 )C4 ))", RemoteId::from_u128(7)));
        let laid_out = laid_out(&tree);
        let TreeStep::Open(top) = &laid_out.steps[0] else { panic!() };
        let told: Vec<_> = top.below.iter().map(|below| (&*below.words, &*below.groups[0].1)).collect();
        assert_eq!(told, [("4 companies", "4 done"), ("3 devices", "3 failed")]);
        assert_eq!(laid_out.left_out, "");
        assert_eq!(top.note, "was in the service before");
    }

    #[test]
    fn rows_whose_company_is_not_known_are_counted_beside_the_tree() {
        let tree = CompanyTree {
            total: 1,
            companies: vec![node(1, Above::Nothing)],
            elsewhere: 2,
            ..CompanyTree::default()
        };
        let said = "2 rows are not counted here, as the journal does not know the companies of the records that they name by \
                    id. Every row is in results.xlsx.";
        assert_eq!(laid_out(&tree).left_out, said);
    }

    #[test]
    fn a_company_that_is_only_named_by_its_id_is_not_said_to_be_there_while_nothing_got_into_it() {
        let refused =
            CompanyNode { state: JobState::Rejected, ..node(1, Above::Remote(RemoteId::from_u128(7))) };
        let tree = CompanyTree { total: 1, companies: vec![refused], ..CompanyTree::default() };
        let TreeStep::Open(top) = &laid_out(&tree).steps[0] else { panic!() };
        assert_eq!((top.note, &*top.below[0].groups[0].1), (NAMED, "1 failed"));
    }

    #[test]
    fn rows_under_many_companies_of_the_service_are_told_and_what_is_above_earlier_imports_is_not() {
        let remote = |number: u128| Above::Remote(RemoteId::from_u128(number));
        let mut devices = Tally::default();
        devices.add(Kind::Device, JobState::Created, 1);
        let belongings = (1..=100_000).map(|number| (remote(number), devices.clone())).collect();
        // The company of an earlier import is below one that no row is about, which is not shown, or shown for its rows.
        let others = vec![node(7, remote(200_000)), node(8, Above::Job(JobId(99)))];
        let tree = CompanyTree {
            total: 1,
            companies: vec![node(1, Above::Job(JobId(7)))],
            others,
            belongings,
            ..CompanyTree::default()
        };
        let nodes = nodes(&tree);
        assert_eq!((nodes.companies.len(), nodes.roots.len()), (100_003, 100_002));
        assert!(!nodes.companies.iter().any(|node| node.company.is_none() && node.above == remote(200_000)));
    }

    #[test]
    fn a_chain_of_ten_thousand_companies_is_shown_in_part_and_closed_in_full() {
        let companies: Vec<_> = (1..=10_000).map(|job| node(job, Above::Job(JobId(job - 1)))).collect();
        let tree = CompanyTree { total: 10_000, companies, ..CompanyTree::default() };
        let laid_out = laid_out(&tree);
        let open = laid_out.steps.iter().filter(|step| matches!(step, TreeStep::Open(_))).count();
        let closed = laid_out.steps.iter().filter(|step| matches!(step, TreeStep::Close)).count();
        assert_eq!((open, closed), (SHOWN, SHOWN));
        assert!(laid_out.left_out.starts_with("8,001 more companies are"), "{}", laid_out.left_out);
    }
}
