//! What follows for a row in doubt from each answer, before and after the settle time.

use serde_json::json;

use super::*;
use crate::model::action::Action;
use crate::model::action::record_update::RecordUpdate;
use crate::model::id::JobId;
use crate::model::kind::Upkeep;
use crate::model::record::{Metadata, Record, Role};
use crate::run::evidence::RunEvidence;
use crate::run::tests::{OTHER, OURS, company, device, facts, found, named, reason, record, site};

const MAC: &str = "00:1a:2b:3c:4d:5e";

/// A row in doubt, which was looked up before it was sent; nothing with its key was there.
fn doubted(work: Work) -> Work {
    Work {
        state: JobState::InDoubt,
        doubt: Some(Doubt::Timeout),
        doubts: 1,
        doubted: true,
        baseline: Some(Vec::new()),
        ..work
    }
}

fn depot() -> Found {
    found(json!({"companyId": OURS, "name": "Depot", "id": record(1)}))
}

/// What the run knows; `is_late` when the settle time has passed and the look-ups are proved.
fn evidence(is_late: bool) -> RunEvidence {
    let mut evidence = RunEvidence::default();
    if is_late {
        evidence.settle.begin(JobId(1), Duration::ZERO, Duration::ZERO);
        for operation in Operation::ALL {
            evidence.controls.prove(*operation);
        }
    }
    evidence
}

fn seen(found: Found) -> Vec<SeenRecord> {
    vec![SeenRecord { found, owner: None, renamed_by: None }]
}

#[test]
fn a_row_in_doubt_is_looked_up_or_where_nothing_can_tell_left_to_a_person() {
    let none: fn(Operation) -> bool = |_| false;
    let all: fn(Operation) -> bool = |_| true;
    let licence = Work {
        action: Action::AddLicence("L".into()),
        remote_id: Some(record(1)),
        ..doubted(device("Till", None))
    };
    let table = [
        ("by key", doubted(site("Depot", None)), all, false, "asks FindSitesByName"),
        ("no look-up", doubted(site("Depot", None)), none, false, "holds lookup.unavailable"),
        ("a step that none shows", licence, all, false, "holds lookup.unavailable"),
        (
            "a unique MAC, early",
            doubted(device("Till", Some(MAC))),
            none,
            false,
            "stays in doubt after 0 reads",
        ),
        ("a unique MAC, late", doubted(device("Till", Some(MAC))), none, true, "is sent again"),
    ];
    for (case, work, usable, is_late, expected) in table {
        let evidence = evidence(is_late);
        let decision = first_lookup(&work, &facts(&usable, &evidence));
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn an_answer_that_tells_nothing_is_asked_for_again_until_enough_late_looks_were_in_vain() {
    let failed = || LookupAnswer::Failed("lost".to_owned());
    let late = Work { looks: 99, ..doubted(site("Depot", None)) };
    let metadata = Metadata { key: "k".into(), value: "v".into() };
    let step = Work {
        action: Action::PutMetadata(vec![metadata]),
        remote_id: Some(record(1)),
        ..doubted(site("Depot", None))
    };
    let licence = Work { action: Action::AddLicence("L".into()), ..step.clone() };
    let refused = Work { doubt: Some(Doubt::Refused), ..step.clone() };
    let there = found(json!({"key": "k", "value": "v"}));
    // A site shows its name and reference alone.
    let fields = [("name".to_owned(), json!("Depot")), ("phoneNumber".to_owned(), json!("+64 9 555 0900"))];
    let update = RecordUpdate { fields: fields.into(), ..RecordUpdate::default() };
    let moved = Work {
        kind: Kind::Upkeep(Upkeep::SiteUpdates),
        action: Action::Update(update),
        links: vec![(Role::owner(Kind::Site), record(1))],
        ..refused.clone()
    };
    let old_name = found(json!({"name": "Old depot", "id": record(1)}));
    let table = [
        ("early", doubted(site("Depot", None)), false, failed(), "stays in doubt after 0 reads"),
        ("late", late.clone(), true, failed(), "holds lookup.inconclusive"),
        ("late, but not settled", late, false, failed(), "stays in doubt after 0 reads"),
        (
            "not available",
            doubted(site("Depot", None)),
            false,
            LookupAnswer::Unavailable,
            "asks FindSitesByName",
        ),
        (
            "records",
            doubted(site("Depot", None)),
            false,
            LookupAnswer::Records(vec![depot()]),
            "asks who owns 1",
        ),
        ("a step, there", step.clone(), false, LookupAnswer::Records(vec![there]), "advances Done"),
        ("a step, not there", step, false, LookupAnswer::Records(Vec::new()), "is sent again"),
        (
            "a step that was refused meanwhile, not there yet",
            refused.clone(),
            false,
            LookupAnswer::Records(Vec::new()),
            "stays in doubt after 0 reads",
        ),
        (
            "a step that was refused meanwhile, not there late",
            refused,
            true,
            LookupAnswer::Records(Vec::new()),
            "is sent again",
        ),
        (
            "an update that was refused meanwhile, another value there late",
            moved.clone(),
            true,
            LookupAnswer::Records(vec![old_name]),
            "is sent again",
        ),
        (
            "an update that was refused meanwhile, a value not shown early",
            moved.clone(),
            false,
            LookupAnswer::Records(vec![depot()]),
            "stays in doubt after 0 reads",
        ),
        (
            "an update that was refused meanwhile, a value not shown late",
            moved,
            true,
            LookupAnswer::Records(vec![depot()]),
            "holds refused.in-doubt",
        ),
        (
            "a step that may do harm, not there",
            licence,
            false,
            LookupAnswer::Records(Vec::new()),
            "holds absent",
        ),
    ];
    for (case, work, is_late, answer, expected) in table {
        let evidence = evidence(is_late);
        let asked = (Subject::Key(work.job), Operation::FindSitesByName);
        let decision = on_answer(&work, &facts(&|_| true, &evidence), asked, answer);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn not_there_is_believed_late_twice_and_of_a_proved_look_up() {
    let read_before = |work: Work| Work { absent_reads: 1, ..doubted(work) };
    let mut kiosk = read_before(device("Till", Some(MAC)));
    if let Action::Create(Record::Device(device)) = &mut kiosk.action {
        device.custom_site_name = Some("Kiosk".into());
    }
    let executed = Work { executed: true, ..read_before(site("Depot", None)) };
    let tired = Work { doubts: MOST_DOUBTS, ..read_before(site("Depot", None)) };
    let table = [
        ("not proved", read_before(site("Depot", None)), false, "asks for a control of FindSitesByName"),
        ("the first time", doubted(site("Depot", None)), true, "stays in doubt after 1 reads"),
        ("the second time", read_before(site("Depot", None)), true, "is sent again"),
        ("in doubt for the eighth time", tired, true, "holds answer.never"),
        ("said to be there", executed, true, "holds absent"),
        ("a device that makes a site", kiosk, true, "asks FindSitesByName"),
    ];
    for (case, work, is_late, expected) in table {
        let evidence = evidence(is_late);
        let asked = (Subject::Key(work.job), Operation::FindSitesByName);
        let decision = on_owners(&work, &facts(&|_| true, &evidence), asked, &[], &[]);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn what_is_found_is_taken_for_ours_only_when_it_agrees_in_full() {
    let acme = |id| found(json!({"name": "Acme", "id": record(id)}));
    let twelve: Vec<SeenRecord> =
        (0..10).flat_map(|id| seen(found(json!({"name": "B", "id": record(id)})))).collect();
    let (key, narrower) = (Subject::Key(JobId(1)), Subject::Narrower(JobId(1)));
    let table = [
        ("ours", doubted(site("Depot", None)), key, seen(depot()), "advances Adopted"),
        ("a company, by name only", doubted(company("Acme")), key, seen(acme(1)), "asks GetCompany"),
        (
            "a company below another",
            doubted(company("Acme")),
            narrower,
            seen(acme(1)),
            "stays in doubt after 0 reads",
        ),
        ("a page", doubted(company("Acme")), key, twelve, "asks FindCompaniesByName"),
        (
            "two of them",
            doubted(site("Depot", None)),
            key,
            [seen(depot()), seen(found(json!({"name": "Depot", "id": record(2)})))].concat(),
            "holds candidates.unclear",
        ),
        (
            "a MAC of another company",
            doubted(device("Till", Some(MAC))),
            key,
            seen(found(json!({"companyId": OTHER, "name": "T", "identification": MAC, "id": record(1)}))),
            "was refused",
        ),
        (
            "a MAC with another name",
            doubted(device("Till", Some(MAC))),
            key,
            seen(found(json!({"companyId": OURS, "name": "TILL", "identification": MAC, "id": record(1)}))),
            "holds candidates.unclear",
        ),
    ];
    for (case, work, subject, seen, expected) in table {
        let evidence = evidence(true);
        let asked = (
            subject,
            if work.kind == Kind::Company {
                Operation::GetChildCompanies
            } else {
                Operation::FindSitesByName
            },
        );
        let decision = on_owners(&work, &facts(&|_| true, &evidence), asked, &seen, &[]);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn a_row_in_doubt_waits_for_the_answer_of_a_row_whose_record_may_be_the_one_found_and_not_for_its_doubt() {
    let hall =
        || seen(found(json!({"companyId": OURS, "name": "Depot", "reference": "R2", "id": record(2)})));
    let table = [
        ("under way", JobState::Sending, seen(depot()), "stays in doubt after 0 reads"),
        ("in doubt", JobState::InDoubt, seen(depot()), "advances Adopted"),
        (
            "both, under way",
            JobState::Sending,
            [seen(depot()), hall()].concat(),
            "stays in doubt after 0 reads",
        ),
        ("both, in doubt", JobState::InDoubt, [seen(depot()), hall()].concat(), "holds candidates.unclear"),
    ];
    for (case, state, seen, expected) in table {
        let evidence = evidence(true);
        let work = doubted(site("Depot", None));
        let other = Work { job: JobId(2), state, ..site("Depot", Some("R2")) };
        let asked = (Subject::Key(work.job), Operation::FindSitesByName);
        let decision = on_owners(&work, &facts(&|_| true, &evidence), asked, &seen, &[other]);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn the_only_candidate_is_read_in_full_before_it_is_taken() {
    let work = doubted(company("Acme"));
    let mut whole = matching::sent(&work);
    whole["id"] = json!(record(1));
    let mut other = whole.clone();
    other["address"]["city"] = json!("Wellington");
    let table = [
        ("equal", LookupAnswer::Records(vec![found(whole)]), "advances Adopted"),
        ("another address", LookupAnswer::Records(vec![found(other)]), "holds candidates.differ"),
        ("not there", LookupAnswer::Records(Vec::new()), "stays in doubt after 0 reads"),
        ("cannot be read", LookupAnswer::Unavailable, "advances Adopted"),
    ];
    for (case, answer, expected) in table {
        let evidence = evidence(false);
        let decision = on_confirmation(&work, &facts(&|_| true, &evidence), record(1), answer);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn a_look_up_that_nothing_proves_says_nothing_unless_the_service_refuses_a_second_record() {
    let (depot, till) = (doubted(site("Depot", None)), doubted(device("Till", Some(MAC))));
    let table = [
        ("proved", &depot, ControlResult::Proved, "stays in doubt after 1 reads"),
        (
            "not proved",
            &depot,
            ControlResult::NotProved("it is not found".into()),
            "stays in doubt after 0 reads",
        ),
        ("not available", &depot, ControlResult::Unavailable, "asks FindSitesByName"),
        ("nothing to prove it by", &depot, ControlResult::NoRecord, "holds lookup.inconclusive"),
        ("nothing to prove it by, and a unique MAC", &till, ControlResult::NoRecord, "is sent again"),
    ];
    for (case, work, result, expected) in table {
        let work = Work { looks: 99, ..work.clone() };
        let evidence = evidence(!case.starts_with("not proved"));
        let decision = on_control(&work, &facts(&|_| true, &evidence), result);
        assert_eq!(named(&decision), expected, "{case}");
    }
}

#[test]
fn the_site_of_a_device_that_is_not_there_is_named() {
    let mut work = Work { absent_reads: 1, ..doubted(device("Till", None)) };
    if let Action::Create(Record::Device(device)) = &mut work.action {
        device.custom_site_name = Some("Kiosk".into());
    }
    let evidence = evidence(true);
    let decide = |answer| on_custom_sites(&work, &facts(&|_| true, &evidence), answer);
    let site = |name: &str| found(json!({"companyId": OURS, "name": name, "id": record(7)}));
    let table = [
        (LookupAnswer::Records(vec![site("Kiosk")]), "holds site.unclear"),
        (LookupAnswer::Records(vec![site("Other")]), "holds absent"),
        (LookupAnswer::Unavailable, "holds site.unclear"),
    ];
    for (answer, expected) in table {
        assert_eq!(named(&decide(answer)), expected);
    }
    let decision = decide(LookupAnswer::Records(vec![site("Kiosk")]));
    assert_eq!(
        reason(&decision),
        format!(
            "its outcome was unknown, and the device is not found; sending it could make its site twice; the site 'Kiosk' (id {}) is there, perhaps made without its device",
            record(7)
        )
    );
}

#[test]
fn no_outcome_is_said_to_be_unknown_of_a_row_that_may_never_have_been_sent() {
    let mut work = company("Acme");
    work.doubt = Some(Doubt::Timeout);
    assert_eq!(cause(&work), "its outcome was unknown");
    work.doubt = Some(Doubt::JournalBehind);
    assert_eq!(cause(&work), "this copy of the journal may not know that the row was sent");
}

#[test]
fn looks_double_their_distance_up_to_the_settle_time() {
    assert_eq!(lookups_before(Duration::from_secs(1)), 1);
    assert_eq!(lookups_before(Duration::from_secs(600)), 9);
}
