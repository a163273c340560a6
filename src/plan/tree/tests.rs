//! What becomes of jobs that wait for each other, and the companies as they hang below each other.

use super::*;
use crate::model::action::Action;
use crate::model::company_forest::{Extent, Visit};
use crate::model::operation::Operation;
use crate::plan::{Asks, Cause, SurveyedJob};
use crate::testing;

const TOP: RemoteId = RemoteId::from_u128(7);
const ALL: Extent = Extent { broad: 100, deep: 100, all: 1_000 };

/// A survey of rows: job, kind, state and owner; each waits for its owner when that is a job.
fn survey(rows: &[(i64, Kind, JobState, Target)]) -> Survey {
    let mut survey = Survey::default();
    for &(job, kind, state, owner) in rows {
        let record = testing::record(kind);
        let unmade = match owner {
            Target::Job(owner) => vec![owner],
            Target::Remote(_) => Vec::new(),
        };
        survey.add(SurveyedJob {
            job: JobId(job),
            kind,
            state,
            remote_id: None,
            name: &format!("{} {job}", kind.singular()),
            origin: JobOrigin::Sheets { changed_since: false },
            owner: Some(owner),
            unmade: &unmade,
            asks: Asks::of(record.kind(), &[Action::Create(record.clone())]).into(),
            is_unchanged: false,
        });
    }
    survey
}

fn below(job: i64) -> Target {
    Target::Job(JobId(job))
}

/// The companies as they are walked through, indented by their depth.
fn walked(tree: &Tree, extent: Extent) -> Vec<String> {
    let lines = tree.walk(extent).into_iter().filter_map(|visit| match visit {
        Visit::Enter(place) => {
            let company = &tree.companies[place];
            let rows: u64 = company.rows.iter().map(ActionCounts::total).sum();
            Some(format!("{}{} {rows}", " ".repeat(company.depth), company.title()))
        }
        Visit::More { depth, companies } => {
            let rows: u64 = rows_in(tree, &companies).iter().map(ActionCounts::total).sum();
            Some(format!("{}and {} more, {rows}", " ".repeat(depth), companies.len()))
        }
        Visit::Leave(_) => None,
    });
    lines.collect()
}

#[test]
fn companies_hang_below_each_other_in_the_order_of_their_rows() {
    let rows = [
        (1, Kind::Company, JobState::Blocked, below(3)),
        (2, Kind::Company, JobState::Blocked, below(3)),
        (3, Kind::Company, JobState::Ready, Target::Remote(TOP)),
        (4, Kind::Device, JobState::Blocked, below(1)),
        (5, Kind::Site, JobState::Blocked, below(1)),
    ];
    let survey = survey(&rows);
    let decided = survey.actions(&|_| true);
    assert!(
        decided.actions.iter().all(|action| *action == PlannedAction::Create),
        "all of them, one after the other"
    );
    let tree = company_tree(&survey, &decided);
    let top = TOP.to_string();
    assert_eq!(
        walked(&tree, ALL),
        [format!("{top} 1"), " company 3 2".into(), "  company 1 2".into(), "  company 2 0".into()]
    );
    assert_eq!(tree.companies[tree.roots[0]].of(Kind::Company).of(PlannedAction::Create), 1);
}

#[test]
fn what_is_not_shown_is_added_up() {
    let mut rows = vec![(1, Kind::Company, JobState::Ready, Target::Remote(TOP))];
    rows.extend((2..=10).map(|job| (job, Kind::Company, JobState::Blocked, below(1))));
    rows.extend((11..=30).map(|job| (job, Kind::Site, JobState::Blocked, below(10))));
    let survey = survey(&rows);
    let tree = company_tree(&survey, &survey.actions(&|_| true));
    let broad = walked(&tree, Extent { broad: 3, deep: 9, all: 99 });
    assert_eq!(broad[2..], ["  company 2 0", "  company 3 0", "  company 4 0", "  and 6 more, 20"]);
    let deep = walked(&tree, Extent { broad: 3, deep: 2, all: 99 });
    assert_eq!(deep[1..], [" company 1 9", "  and 9 more, 20"]);
    assert_eq!(walked(&tree, Extent { broad: 9, deep: 9, all: 1 })[1..], [" and 10 more, 29"]);
    assert_eq!(walked(&tree, Extent { broad: 8, deep: 9, all: 99 }).len(), 11, "the ninth stands for itself");
}

#[test]
fn what_waits_for_a_row_that_is_not_sent_is_blocked_by_the_first_of_the_chain() {
    for (state, action, word) in [
        (JobState::Held, PlannedAction::Held, "on hold"),
        (JobState::Rejected, PlannedAction::Rejected, "rejected"),
        (JobState::InDoubt, PlannedAction::InDoubt, "outcome unknown"),
        (JobState::Cancelled, PlannedAction::Cancelled, "cancelled"),
    ] {
        let survey = survey(&[
            (3, Kind::Device, JobState::Blocked, below(2)),
            (2, Kind::Company, JobState::Blocked, below(1)),
            (1, Kind::Company, state, Target::Remote(TOP)),
        ]);
        let decided = survey.actions(&|_| true);
        assert_eq!(decided.actions, [PlannedAction::Blocked, PlannedAction::Blocked, action]);
        assert_eq!(decided.causes[&0], Cause::Row(JobId(1), action));
        assert_eq!(decided.causes[&1], Cause::Row(JobId(1), action));
        let words: Vec<_> =
            company_tree(&survey, &decided).companies.iter().map(|company| company.word().1).collect();
        assert!(words.contains(&word), "{words:?}");
    }
}

#[test]
fn an_operation_that_is_missing_blocks_what_needs_it_and_what_hangs_on_that() {
    let survey = survey(&[
        (1, Kind::Company, JobState::Ready, Target::Remote(TOP)),
        (2, Kind::Site, JobState::Blocked, below(1)),
        (3, Kind::Device, JobState::Blocked, below(2)),
    ]);
    let decided = survey.actions(&|operation| operation != Operation::AddSite);
    assert_eq!(decided.actions, [PlannedAction::Create, PlannedAction::Blocked, PlannedAction::Blocked]);
    assert_eq!(decided.causes[&2], Cause::Operation(Operation::AddSite));
    assert!(decided.is_sent(2), "they would be sent if it could be used, and are counted");
}

#[test]
fn a_chain_of_a_hundred_thousand_companies_is_no_matter_and_a_circle_ends() {
    let many = 100_000;
    let mut rows: Vec<_> =
        (1..many).map(|job| (job, Kind::Company, JobState::Blocked, below(job + 1))).collect();
    rows.push((many, Kind::Company, JobState::Ready, Target::Remote(TOP)));
    let deep = survey(&rows);
    let decided = deep.actions(&|_| true);
    assert!(decided.actions.iter().all(|action| *action == PlannedAction::Create));
    let tree = company_tree(&deep, &decided);
    assert_eq!(tree.companies.len(), rows.len() + 1);
    assert_eq!(
        walked(&tree, Extent { broad: 3, deep: 2, all: 9 }).last().unwrap(),
        "  and 99999 more, 99998"
    );

    let circle = survey(&[
        (1, Kind::Company, JobState::Blocked, below(2)),
        (2, Kind::Company, JobState::Blocked, below(1)),
    ]);
    let decided = circle.actions(&|_| true);
    assert_eq!(decided.actions, [PlannedAction::Blocked, PlannedAction::Blocked]);
    assert_eq!(walked(&company_tree(&circle, &decided), ALL).len(), 2);
}

#[test]
fn jobs_that_others_refer_to_are_asked_for_until_all_are_there() {
    let survey =
        survey(&[(5, Kind::Site, JobState::Blocked, below(4)), (6, Kind::Site, JobState::Blocked, below(4))]);
    assert_eq!(survey.missing(), [JobId(4)]);
}
