//! What follows for a row before it is sent, from each answer to the look before.

use serde_json::json;

use super::*;
use crate::model::id::JobId;
use crate::model::state::JobState;
use crate::run::evidence::RunEvidence;
use crate::run::evidence::shared_lists::GOOD_FOR;
use crate::run::tests::{OTHER, OURS, company, device, facts, found, named, record, site};

fn depot() -> Found {
    found(json!({"companyId": OURS, "name": "Depot", "id": record(1)}))
}

/// A company below a parent that is job 7.
fn below() -> Work {
    Work { parents: vec![(Role::Parent, JobId(7))], ..company("Acme") }
}

#[test]
fn a_row_is_looked_up_before_it_is_sent_where_that_can_be_looked_up() {
    let none: fn(Operation) -> bool = |_| false;
    let all: fn(Operation) -> bool = |_| true;
    let known = Work { baseline: Some(Vec::new()), ..site("Depot", None) };
    let again = Work { doubted: true, ..known.clone() };
    let table = [
        ("by key", site("Depot", None), all, "asks FindSitesByName"),
        ("no look-up", site("Depot", None), none, "is sent"),
        ("looked up before", known, all, "asks FindSitesByName"),
        ("sent before, and in doubt then", again, all, "asks FindSitesByName"),
        ("a company", below(), all, "is compared with getChildCompanies"),
        ("a company that may be there", Work { doubted: true, ..below() }, all, "asks GetChildCompanies"),
        ("an older copy of the journal", Work { unsure: true, ..site("Depot", None) }, all, "is suspected"),
    ];
    for (case, work, usable, expected) in table {
        let evidence = RunEvidence::default();
        assert_eq!(named(&first_lookup(&work, &facts(&usable, &evidence))), expected, "{case}");
    }
    let mut evidence = RunEvidence::default();
    evidence.lag.on_created(&Work { job: JobId(7), ..company("Northwind") }, Duration::ZERO);
    let decision = first_lookup(&below(), &facts(&all, &evidence));
    assert_eq!(named(&decision), "is sent, after 0 seen", "its parent was made by this run");
    let later = RunFacts { elapsed: GOOD_FOR, ..facts(&all, &evidence) };
    let decision = named(&first_lookup(&below(), &later));
    assert_eq!(decision, "is compared with getChildCompanies", "others may have made it since");
    let mut facts = facts(&all, &evidence);
    facts.is_paused = true;
    assert_eq!(named(&first_lookup(&below(), &facts)), "is dropped", "its sheet is paused");
}

#[test]
fn what_a_look_finds_is_the_baseline_unless_it_may_be_a_page() {
    let other = |n| found(json!({"companyId": OURS, "name": "Other", "id": record(n)}));
    let again = Work { doubted: true, baseline: Some(Vec::new()), ..site("Depot", None) };
    let table = [
        ("nothing", site("Depot", None), LookupAnswer::Records(Vec::new()), "is sent, after 0 seen"),
        ("others", site("Depot", None), LookupAnswer::Records(vec![other(2)]), "is sent, after 0 seen"),
        ("one", site("Depot", None), LookupAnswer::Records(vec![depot()]), "asks who owns 1, after 1 seen"),
        (
            "a page",
            site("Depot", None),
            LookupAnswer::Records((1..=10).map(other).collect()),
            "is sent, after an unknown number",
        ),
        ("once more", again, LookupAnswer::Records(vec![depot()]), "asks who owns 1"),
        (
            "no answer",
            site("Depot", None),
            LookupAnswer::Failed("lost".into()),
            "asks for a control of FindSitesByName",
        ),
        ("no use", site("Depot", None), LookupAnswer::Inconclusive("odd".into()), "is sent"),
        ("not available", site("Depot", None), LookupAnswer::Unavailable, "asks FindSitesByName"),
    ];
    for (case, work, answer, expected) in table {
        let evidence = RunEvidence::default();
        let asked = (Subject::Key(work.job), Operation::FindSitesByName);
        let decision = on_answer(&work, &facts(&|_| true, &evidence), asked, answer);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn a_list_of_children_that_may_be_a_page_is_followed_by_a_narrower_question() {
    let child = |n| found(json!({"name": "Other", "id": record(n)}));
    let evidence = RunEvidence::default();
    let decide = |children: Vec<Found>| {
        let children = RecordList::of(children);
        named(&on_children(&below(), &facts(&|_| true, &evidence), Some(&children)))
    };
    assert_eq!(decide((1..=9).map(child).collect()), "is sent, after 0 seen");
    assert_eq!(decide((1..=10).map(child).collect()), "asks FindCompaniesByName, after an unknown number");
    // The same where the page has records like the row's, and none of them is its own.
    let of_a_page = (Subject::Key(JobId(1)), Some(Operation::GetChildCompanies));
    let near = [SeenRecord {
        found: found(json!({"name": "DEPOT", "id": record(1)})),
        owner: Some(JobId(9)),
        renamed_by: None,
    }];
    let ask = |usable| named(&on_owners(&below(), &facts(&|_| usable, &evidence), of_a_page, &near, &[]));
    assert_eq!((ask(true), ask(false)), ("asks FindCompaniesByName".to_owned(), "is sent".to_owned()));
}

#[test]
fn who_owns_what_was_found_decides_with_the_policy() {
    let seen =
        |owner: Option<i64>| vec![SeenRecord { found: depot(), owner: owner.map(JobId), renamed_by: None }];
    let again = |baseline| Work { doubted: true, baseline, ..site("Depot", None) };
    let (key, narrower) = (Subject::Key(JobId(1)), Subject::Narrower(JobId(1)));
    let adopt = OnExisting::Adopt;
    let table = [
        ("adopted", site("Depot", None), key, adopt, seen(None), "advances Existing"),
        ("skipped", site("Depot", None), key, OnExisting::Skip, seen(None), "is left"),
        ("refused", site("Depot", None), key, OnExisting::Fail, seen(None), "is rejected"),
        ("another row's", site("Depot", None), key, adopt, seen(Some(9)), "is rejected"),
        (
            "a namesake without the row's reference",
            site("Depot", Some("R2")),
            key,
            adopt,
            seen(None),
            "holds existing.unclear",
        ),
        ("the same, another row's", site("Depot", Some("R2")), key, adopt, seen(Some(9)), "is sent"),
        (
            "two of them",
            site("Depot", None),
            key,
            adopt,
            [seen(None), seen(None)].concat(),
            "holds existing.unclear",
        ),
        (
            "made late by the first request",
            again(Some(Vec::new())),
            key,
            adopt,
            seen(None),
            "advances Adopted",
        ),
        ("there before the first request", again(Some(vec![record(1)])), key, adopt, seen(None), "is sent"),
        ("nobody had looked", again(None), key, adopt, seen(None), "holds candidates.unclear"),
        (
            "perhaps below another parent",
            company("Depot"),
            narrower,
            adopt,
            seen(None),
            "holds existing.unclear",
        ),
        ("below another parent, another row's", company("Depot"), narrower, adopt, seen(Some(9)), "is sent"),
        (
            "a MAC that another device has",
            device("Till", Some("00:1a:2b:3c:4d:5e")),
            key,
            adopt,
            other_till(),
            "is rejected",
        ),
    ];
    for (case, work, subject, on_existing, seen, expected) in table {
        let evidence = RunEvidence::default();
        let mut facts = facts(&|_| true, &evidence);
        facts.policy.on_existing = on_existing;
        assert_eq!(named(&on_owners(&work, &facts, (subject, None), &seen, &[])), expected, "{case}");
    }
}

#[test]
fn a_row_waits_for_a_row_under_way_whose_record_may_be_the_one_found() {
    let below_another = |work: Work| Work { links: vec![(Role::Parent, OTHER)], ..work };
    let plain = || site("Depot", None);
    let again = Work { doubted: true, baseline: Some(Vec::new()), ..plain() };
    let (key, narrower) = (Subject::Key(JobId(1)), Subject::Narrower(JobId(1)));
    let table = [
        ("a namesake", plain(), key, site("Depot", Some("R2")), "is postponed"),
        ("in capitals", site("DEPOT", None), key, plain(), "is postponed"),
        ("once more", again, key, site("Depot", Some("R2")), "is postponed"),
        ("another name", plain(), key, site("Hall", None), "advances Existing"),
        ("of another company", plain(), key, below_another(site("Depot", None)), "advances Existing"),
        (
            "it was there before the other row",
            plain(),
            key,
            Work { baseline: Some(vec![record(1)]), ..site("Depot", Some("R2")) },
            "advances Existing",
        ),
        ("below the same parent", company("DEPOT"), key, company("Depot"), "is postponed"),
        ("below another one", company("Depot"), key, below_another(company("Depot")), "advances Existing"),
        (
            "perhaps below another",
            company("Depot"),
            narrower,
            below_another(company("Depot")),
            "is postponed",
        ),
    ];
    for (case, work, subject, other, expected) in table {
        let evidence = RunEvidence::default();
        let other = Work { job: JobId(2), state: JobState::InDoubt, ..other };
        let seen = [SeenRecord { found: depot(), owner: None, renamed_by: None }];
        let decision = on_owners(&work, &facts(&|_| true, &evidence), (subject, None), &seen, &[other]);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn a_record_that_another_row_renames_is_for_a_person_unless_more_than_its_name_is_the_rows() {
    let till = json!({"name": "Till", "identification": "00:1a:2b:3c:4d:5e", "id": record(1)});
    let table = [
        ("by its name", site("Depot", None), depot(), "holds existing.unclear"),
        ("by its MAC", device("Till", Some("00:1a:2b:3c:4d:5e")), found(till), "advances Existing"),
        ("ruled out", Work { baseline: Some(vec![record(1)]), ..site("Depot", None) }, depot(), "is sent"),
    ];
    for (case, work, found, expected) in table {
        let evidence = RunEvidence::default();
        let seen = [SeenRecord { found, owner: None, renamed_by: Some(JobId(7)) }];
        let asked = (Subject::Key(JobId(1)), None);
        let decision = on_owners(&work, &facts(&|_| true, &evidence), asked, &seen, &[]);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

fn other_till() -> Vec<SeenRecord> {
    let found = found(json!({"name": "Till 9", "identification": "00:1a:2b:3c:4d:5e", "id": record(1)}));
    vec![SeenRecord { found, owner: None, renamed_by: None }]
}
