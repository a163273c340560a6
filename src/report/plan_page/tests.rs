//! The page of a small plan, and what must not get into it.

use super::*;
use crate::model::action::Action;
use crate::model::forecast::Allowance;
use crate::model::id::JobId;
use crate::model::operation::Operation;
use crate::model::policy::InDoubt;
use crate::model::record::Target;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::window::SendingHours;
use crate::plan::{Asks, JobOrigin, Survey, SurveyedJob};
use crate::report::page_assets;
use crate::testing::record;

/// A company with two sites below one that exists.
fn survey(name: &str) -> Survey {
    let mut survey = Survey::default();
    let top = Target::Remote(uuid::Uuid::from_u128(7));
    let rows = [
        (record(Kind::Company), top),
        (record(Kind::Site), Target::Job(JobId(1))),
        (record(Kind::Site), Target::Job(JobId(1))),
    ];
    for (number, (record, owner)) in (1..).zip(rows) {
        survey.add(SurveyedJob {
            job: JobId(number),
            kind: record.kind(),
            state: if number == 3 { JobState::Held } else { JobState::Ready },
            remote_id: None,
            name,
            origin: JobOrigin::Sheets { changed_since: false },
            owner: Some(owner),
            unmade: &[],
            asks: Asks::of(record.kind(), &[Action::Create(record.clone())]).into(),
            is_unchanged: false,
        });
    }
    survey
}

fn shown(name: &str, available: bool) -> String {
    shown_under(1, name, available)
}

/// The page under a daily quota.
fn shown_under(per_day: u64, name: &str, available: bool) -> String {
    let terms = Terms {
        hours: SendingHours::default(),
        rate: Some(98.0),
        quota: Some(Allowance { per_day, today: per_day }),
        parked_until: None,
        now: Moment::parse("2026-03-01T12:00:00Z").unwrap(),
        read_back: false,
        in_doubt: InDoubt::Settle,
    };
    let usable = |operation| available || operation != Operation::AddSite;
    let plan = Plan::new(&survey(name), &usable, &terms);
    let renamed = FieldChange {
        row: format!("{name}!sites!2"),
        column: "name".to_owned(),
        from: Some("HQ".to_owned()),
        to: name.to_owned(),
    };
    let outlook = Outlook {
        plan,
        obstacles: vec![(format!("{name} is held").into(), 1)],
        more_obstacles: 2,
        left_out: (1, 2),
        answered: 0,
        changes: FieldChanges { listed: vec![renamed], total: 700, ..FieldChanges::default() },
    };
    page(&PlanPage {
        whose: &Whose::default(),
        files: &[name.to_owned()],
        outlook: &outlook,
        terms: &terms,
        quota: "1 a day",
        command: "fleetload run a.csv",
    })
    .unwrap()
}

#[test]
fn the_page_says_what_happens_what_is_in_the_way_and_how_long_it_takes() {
    let page = shown("Acme", true);
    let content = &page[page.find("<main").unwrap()..page.find("<footer").unwrap()];
    insta::assert_snapshot!(content);
    assert!(shown("Acme", false).contains("[profile.NAME.endpoints.addSite]"));
}

#[test]
fn nothing_that_others_wrote_becomes_markup_and_nothing_is_fetched() {
    let page = shown("<img src=x onerror=alert(1)>\u{202e}\"'&", true);
    assert!(!page.contains("<img"), "markup is escaped");
    assert!(!page.contains('\u{202e}'), "what turns the text is shown as its code");
    assert_eq!(page.matches("<script").count(), 1, "only the script of every page");
    for open in ["http://", "https://", " src=", " style="] {
        let rest = page.replace(page_assets::STYLE, "").replace(page_assets::SCRIPT, "");
        assert!(!rest.contains(open) || rest.contains("&#60;img src="), "{open}");
    }
}

#[test]
fn every_list_of_the_tree_that_is_opened_is_closed() {
    let page = shown("Acme", true);
    for element in ["ul", "li", "details", "section", "table", "tbody"] {
        let opened =
            page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
        assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
    }
}

#[test]
fn what_is_done_within_seconds_has_no_moment_that_the_answers_of_the_service_decide() {
    let page = shown_under(100, "HQ", true);
    assert!(page.contains("It is done soon after it starts"), "{page}");
    assert!(!page.contains("it is done about"), "{page}");
}
