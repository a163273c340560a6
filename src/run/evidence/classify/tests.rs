//! What found records mean for a row, before sending and after a lost answer.

use serde_json::json;

use super::*;
use crate::model::action::{Action, Repeat};
use crate::model::state::JobState;
use crate::run::evidence::lookups;
use crate::run::tests::{OTHER, OURS, device, found, person, record, seen, site};
use crate::service::Lookup;

fn word(classified: &Classified) -> &'static str {
    match classified {
        Classified::Absent => "absent",
        Classified::Ours(_) => "ours",
        Classified::Existing(_) => "existing",
        Classified::Taken(_) => "taken",
        Classified::Owned(owner, _) => {
            assert_eq!(*owner, JobId(99));
            "owned"
        }
        Classified::Unclear(_) => "unclear",
    }
}

#[test]
fn what_is_there_before_sending_decides_whether_a_row_is_sent() {
    let mac = "00:1a:2b:3c:4d:5e";
    let depot = json!({"companyId": OURS, "name": "Depot", "id": record(1)});
    let table = [
        ("nothing there", site("Depot", None), vec![], "absent"),
        (
            "only partial matches",
            site("Depot", None),
            vec![seen(json!({"name": "Depot 2", "id": record(1)}), None)],
            "absent",
        ),
        ("it is there", site("Depot", None), vec![seen(depot.clone(), None)], "existing"),
        ("another row of ours owns it", site("Depot", None), vec![seen(depot.clone(), Some(99))], "owned"),
        (
            "another row owns one that may be elsewhere",
            site("Depot", None),
            vec![seen(json!({"name": "Depot", "id": record(1)}), Some(99))],
            "absent",
        ),
        (
            "another row owns one with another reference",
            site("Depot", None),
            vec![seen(
                json!({"companyId": OURS, "name": "Depot", "reference": "D2", "id": record(1)}),
                Some(99),
            )],
            "absent",
        ),
        (
            "MAC of another row of ours",
            device("Till", Some(mac)),
            vec![seen(
                json!({"companyId": OTHER, "name": "Till 9", "identification": mac, "id": record(1)}),
                Some(99),
            )],
            "owned",
        ),
        (
            "there twice",
            site("Depot", None),
            vec![seen(depot, None), seen(json!({"name": "Depot", "id": record(2)}), None)],
            "unclear",
        ),
        (
            "there but for case",
            site("Depot", None),
            vec![seen(json!({"name": "DEPOT", "id": record(1)}), None)],
            "unclear",
        ),
        (
            "MAC of another company",
            device("Till", Some(mac)),
            vec![seen(
                json!({"companyId": OTHER, "name": "Till", "identification": mac, "id": record(1)}),
                None,
            )],
            "taken",
        ),
        (
            "MAC of the same device",
            device("Till", Some(mac)),
            vec![seen(
                json!({"companyId": OURS, "name": "Till", "identification": mac, "id": record(1)}),
                None,
            )],
            "existing",
        ),
        ("no id named", site("Depot", None), vec![seen(json!({"name": "Depot"}), None)], "unclear"),
    ];
    for (case, work, seen, expected) in table {
        let conclusion = word(&before(&work, &seen));
        assert_eq!(conclusion, expected, "{case}");
    }
}

#[test]
fn the_refusal_of_a_taken_value_names_the_other_record() {
    let candidate =
        matching::candidate(&found(json!({"name": "Till 9", "id": record(1)})), "its company differs");
    let rejection = taken(&candidate);
    assert_eq!(rejection.code, "duplicateEntity");
    assert_eq!(
        rejection.message,
        format!("already in use by 'Till 9' (id {}): its company differs", record(1))
    );
}

#[test]
fn the_refusal_of_a_record_of_another_row_names_that_row() {
    let candidate = matching::candidate(&found(json!({"name": "Till 9", "id": record(1)})), "equal");
    let rejection = owned(JobId(99), &candidate);
    assert_eq!(
        rejection.message,
        format!("another row has this record already: 'Till 9' (id {}) is that of job 99; equal", record(1))
    );
}

fn doubt(mut work: Work, doubt: Doubt, baseline: Option<Vec<RemoteId>>) -> Work {
    work.state = JobState::InDoubt;
    work.doubt = Some(doubt);
    work.executed = doubt.executed();
    work.doubted = !doubt.executed();
    work.baseline = baseline;
    work
}

#[test]
fn only_a_new_unowned_record_that_agrees_is_ours() {
    let mac = "00:1a:2b:3c:4d:5e";
    let depot = || json!({"companyId": OURS, "name": "Depot", "id": record(1)});
    let till = || json!({"companyId": OURS, "name": "Till", "identification": mac, "id": record(1)});
    let folded_till = || json!({"companyId": OURS, "name": "TILL", "identification": mac, "id": record(1)});
    let lost = |baseline| doubt(site("Depot", None), Doubt::Timeout, baseline);
    let lost_till = |baseline| doubt(device("Till", Some(mac)), Doubt::Timeout, baseline);
    let refused_till = |baseline| doubt(device("Till", Some(mac)), Doubt::Duplicate, baseline);
    let behind = || doubt(site("Depot", None), Doubt::JournalBehind, None);
    let none = Some(vec![]);
    let table = [
        ("an older copy of the journal, and it is there", behind(), vec![seen(depot(), None)], "existing"),
        ("an older copy of the journal, and it is not", behind(), vec![], "absent"),
        (
            "an older copy of the journal, and another row has it",
            behind(),
            vec![seen(depot(), Some(99))],
            "unclear",
        ),
        (
            "an older copy of the journal, and it is there but for case",
            behind(),
            vec![seen(json!({"name": "DEPOT", "id": record(1)}), None)],
            "unclear",
        ),
        ("nothing found", lost(none.clone()), vec![], "absent"),
        ("ours", lost(none.clone()), vec![seen(depot(), None)], "ours"),
        ("seen before the first send", lost(Some(vec![record(1)])), vec![seen(depot(), None)], "absent"),
        ("new, and recorded for another row", lost(none.clone()), vec![seen(depot(), Some(99))], "unclear"),
        (
            "of another row, seen before the first send",
            lost(Some(vec![record(1)])),
            vec![seen(depot(), Some(99))],
            "absent",
        ),
        (
            "of another row, and not equal",
            lost(none.clone()),
            vec![seen(json!({"companyId": OURS, "name": "DEPOT", "id": record(1)}), Some(99))],
            "absent",
        ),
        ("no look before sending", lost(None), vec![seen(depot(), None)], "unclear"),
        (
            "two of them",
            lost(none.clone()),
            vec![seen(depot(), None), seen(json!({"name": "Depot", "id": record(2)}), None)],
            "unclear",
        ),
        (
            "an older twin and ours",
            lost(Some(vec![record(1)])),
            vec![seen(depot(), None), seen(json!({"name": "Depot", "id": record(2)}), None)],
            "ours",
        ),
        (
            "folded by the service",
            lost(none.clone()),
            vec![seen(json!({"name": "DEPOT", "id": record(1)}), None)],
            "unclear",
        ),
        ("a unique key needs no baseline", lost_till(None), vec![seen(till(), None)], "ours"),
        (
            "a unique key of another company",
            lost_till(none.clone()),
            vec![seen(
                json!({"companyId": OTHER, "name": "Till", "identification": mac, "id": record(1)}),
                None,
            )],
            "taken",
        ),
        (
            "a unique key, and the service wrote the name its own way",
            lost_till(none.clone()),
            vec![seen(folded_till(), None)],
            "unclear",
        ),
        (
            "a unique key, not looked up before, and the name is another one by now",
            lost_till(None),
            vec![seen(folded_till(), None)],
            "unclear",
        ),
        (
            "a unique key, and somebody has changed the person",
            doubt(person("ann@acme.example"), Doubt::ServerError, none.clone()),
            vec![seen(json!({"username": "ann@acme.example", "firstName": "Anna", "id": record(1)}), None)],
            "unclear",
        ),
        (
            "a unique key that was there with another name",
            lost_till(Some(vec![record(1)])),
            vec![seen(folded_till(), None)],
            "taken",
        ),
        (
            "refused at once, and another name",
            refused_till(none.clone()),
            vec![seen(folded_till(), None)],
            "taken",
        ),
        (
            "refused after a lost request, and another name",
            Work { doubted: true, ..refused_till(none.clone()) },
            vec![seen(folded_till(), None)],
            "unclear",
        ),
        (
            "a unique key that was there",
            lost_till(Some(vec![record(1)])),
            vec![seen(till(), None)],
            "existing",
        ),
        (
            "a unique key of another row of ours",
            refused_till(none.clone()),
            vec![seen(till(), Some(99))],
            "owned",
        ),
        ("refused at first, nobody had looked", refused_till(None), vec![seen(till(), None)], "existing"),
        ("refused, and not there when we looked", refused_till(none), vec![seen(till(), None)], "ours"),
    ];
    for (case, work, seen, expected) in table {
        let conclusion = word(&after(&work, &seen));
        assert_eq!(conclusion, expected, "{case}");
    }
}

#[test]
fn a_device_that_makes_a_site_is_not_guarded_by_its_mac() {
    let mut work = device("Till", Some("00:1a:2b:3c:4d:5e"));
    assert_eq!(work.action.repeat(), Repeat::Refused);
    if let Action::Create(Record::Device(device)) = &mut work.action {
        device.custom_site_name = Some("New".into());
    }
    assert_eq!(work.action.repeat(), Repeat::Duplicates);
    assert_eq!(device("Till", None).action.repeat(), Repeat::Duplicates);
}

fn kiosk(reference: Option<&str>, name: Option<&str>) -> Work {
    let mut work = device("Till", None);
    if let Action::Create(Record::Device(device)) = &mut work.action {
        device.custom_site_id = reference.map(Into::into);
        device.custom_site_name = name.map(Into::into);
    }
    work
}

#[test]
fn the_site_of_a_device_is_known_by_name_and_reference() {
    let there = |name: &str, reference: Option<&str>| {
        found(json!({"id": record(1), "companyId": OURS, "name": name, "reference": reference}))
    };
    let table = [
        (kiosk(Some("K1"), Some("Kiosk")), there("Kiosk", Some("K1")), true),
        (kiosk(Some("K1"), Some("Kiosk")), there("Kiosk", Some("K2")), false),
        (kiosk(Some("K1"), Some("Kiosk")), there("Kiosk 2", Some("K1")), false),
        (kiosk(None, Some("Kiosk")), there("KIOSK", None), true),
        (kiosk(Some("K1"), None), there("K1", Some("K1")), true),
        (site("Kiosk", None), there("Kiosk", None), false),
    ];
    for (work, site, expected) in table {
        assert_eq!(is_custom_site(&work, &site), expected, "{work:?} {site:?}");
    }
}

#[test]
fn only_a_device_that_makes_a_site_has_one_to_ask_for() {
    let expected = Lookup::SitesByName { name: "Kiosk".to_owned(), company: Some(OURS) };
    assert_eq!(lookups::of_custom_site(&kiosk(Some("K1"), Some("Kiosk"))), Some(expected));
    assert_eq!(lookups::of_custom_site(&device("Till", None)), None);
}
