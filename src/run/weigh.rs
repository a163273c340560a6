//! What the records that a look-up found mean for a row: pure rules, before sending and after a lost answer.
//!
//! Asking and acting are in [`super::before`] and [`super::after`].

use super::matching::{self, Relation, Seen};
use crate::journal::{Candidate, Work};
use crate::mistake::{self, Mistake};
use crate::model::id::RemoteId;
use crate::model::record::{Extra, Record};
use crate::model::verdict::{Doubt, Rejection};
use crate::service::Found;

/// What the look before sending concludes.
#[derive(Debug, PartialEq)]
pub(super) enum Before {
    /// Nothing with the row's key is there.
    Clear,
    /// The row's record is there.
    Exists(RemoteId),
    /// A value that must be unique belongs to another record.
    Taken(Candidate),
    /// A person must look.
    Unclear(Vec<Candidate>),
}

/// What the found records mean for a job in doubt.
#[derive(Debug, PartialEq)]
pub(super) enum After {
    /// Ours.
    Ours(RemoteId),
    /// There before we sent.
    Before(RemoteId),
    /// A value that must be unique belongs to another record.
    Taken(Candidate),
    /// A person must look.
    Unclear(Vec<Candidate>),
    /// Nothing of ours was found.
    Absent,
}

/// What the records with a row's key mean before it is sent.
pub(super) fn before(work: &Work, seen: &[Seen]) -> Before {
    let sent = matching::sent(work);
    let foreign: Vec<(&Found, Relation)> = seen
        .iter()
        .filter(|seen| seen.owner.is_none_or(|owner| owner == work.job))
        .map(|seen| (&seen.found, matching::relate(work, &sent, &seen.found)))
        .filter(|(_, relation)| *relation != Relation::Unrelated)
        .collect();
    match foreign.as_slice() {
        [] => Before::Clear,
        [(found, Relation::Agrees)] => match found.id {
            Some(id) => Before::Exists(id),
            None => Before::Unclear(vec![matching::candidate(found, "the service names no id for it")]),
        },
        [(found, Relation::Differs(difference))] if matching::key_is_unique(&work.record) => {
            Before::Taken(matching::candidate(found, difference))
        }
        several => Before::Unclear(matching::candidates(several)),
    }
}

/// Why a row is refused whose unique value another record has.
pub(super) fn taken(candidate: &Candidate) -> Rejection {
    let id = candidate.id.map(|id| format!(" (id {id})")).unwrap_or_default();
    let name = candidate.name.as_deref().unwrap_or("a record without a name");
    refusal("duplicateEntity", format!("already in use by '{name}'{id}: {}", candidate.difference))
}

pub(super) fn refusal(code: &str, message: String) -> Rejection {
    Rejection { code: code.to_owned(), message, violations: Vec::new() }
}

/// Whether the service itself refuses a second creation, and a creation makes nothing besides.
pub(super) fn guarded_by_mac(record: &Record) -> bool {
    matches!(record, Record::Device(device) if device.identification.is_some()) && !makes_a_site(record)
}

/// Whether creating it makes a site as well, so that each try may make another one.
pub(super) fn makes_a_site(record: &Record) -> bool {
    match record {
        Record::Device(_) if mistake::made(Mistake::OwnSiteSentAgain) => false,
        Record::Device(device) => device.custom_site_id.is_some() || device.custom_site_name.is_some(),
        Record::Company(_) | Record::Site(_) | Record::Person(_) => false,
    }
}

/// Whether what was found shows that a step after the creation was carried out.
pub(super) fn shows(extra: &Extra, found: &[Found]) -> bool {
    match extra {
        Extra::Labels(labels) => {
            labels.iter().all(|label| found.iter().any(|found| found.label.as_deref() == Some(label)))
        }
        Extra::Metadata(entries) => entries.iter().all(|entry| {
            found.iter().any(|found| {
                found.key.as_deref() == Some(&entry.key) && found.value.as_deref() == Some(&entry.value)
            })
        }),
        Extra::EnterpriseTemplate(id) | Extra::VpnCloud(id) => {
            found.iter().any(|found| found.id == Some(*id))
        }
        Extra::Licence(_) => false,
    }
}

/// What the records with a row's key mean after its answer was lost.
pub(super) fn after(work: &Work, seen: &[Seen]) -> After {
    let sent = matching::sent(work);
    let unique = matching::key_is_unique(&work.record);
    let related: Vec<(&Found, Relation)> = seen
        .iter()
        .filter(|seen| seen.owner.is_none_or(|owner| owner == work.job))
        .map(|seen| (&seen.found, matching::relate(work, &sent, &seen.found)))
        .filter(|(_, relation)| *relation != Relation::Unrelated)
        .collect();
    let was_there = |found: &Found| match (&work.baseline, found.id) {
        (Some(baseline), Some(id)) => baseline.contains(&id),
        _ => false,
    };
    let fresh: Vec<(&Found, Relation)> =
        related.iter().filter(|(found, _)| !was_there(found)).cloned().collect();
    match fresh.as_slice() {
        [] => match related.as_slice() {
            // Only a unique key says that the older record is the one the service meant.
            [(found, relation)] if unique => older(found, relation),
            _ => After::Absent,
        },
        [(found, Relation::Agrees)] => match (found.id, &work.baseline, work.doubt, work.doubted) {
            // The first attempt was refused as a duplicate and nobody looked before: it was there.
            (Some(id), None, Some(Doubt::Duplicate), false) => After::Before(id),
            (Some(id), Some(_), _, _) => After::Ours(id),
            (Some(id), None, _, _) if mistake::made(Mistake::BaselineIgnored) => After::Ours(id),
            (Some(id), None, _, _) if unique => After::Ours(id),
            (_, None, _, _) => {
                let why = "equal, but it may have been there before: no look was taken before sending";
                After::Unclear(vec![matching::candidate(found, why)])
            }
            (None, Some(_), _, _) => {
                After::Unclear(vec![matching::candidate(found, "the service names no id for it")])
            }
        },
        [(found, Relation::Differs(difference))] if unique => {
            After::Taken(matching::candidate(found, difference))
        }
        several => After::Unclear(matching::candidates(several)),
    }
}

/// A record with the row's unique key that was there before the first send.
fn older(found: &Found, relation: &Relation) -> After {
    match (relation, found.id) {
        (Relation::Agrees, Some(id)) => After::Before(id),
        (Relation::Differs(difference), _) => After::Taken(matching::candidate(found, difference)),
        (Relation::Agrees | Relation::Near(_) | Relation::Unrelated, _) => {
            After::Unclear(vec![matching::candidate(found, "it was there before")])
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::example::{OTHER, OURS, device, found, record, seen, site};
    use super::*;
    use crate::model::record::Metadata;
    use crate::model::state::JobState;

    #[test]
    fn what_is_there_before_sending_decides_whether_a_row_is_sent() {
        let mac = "00:1a:2b:3c:4d:5e";
        let depot = json!({"companyId": OURS, "name": "Depot", "id": record(1)});
        let table = [
            ("nothing there", site("Depot", None), vec![], "clear"),
            (
                "only partial matches",
                site("Depot", None),
                vec![seen(json!({"name": "Depot 2", "id": record(1)}), None)],
                "clear",
            ),
            ("it is there", site("Depot", None), vec![seen(depot.clone(), None)], "exists"),
            (
                "another row of ours owns it",
                site("Depot", None),
                vec![seen(depot.clone(), Some(99))],
                "clear",
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
                "exists",
            ),
            ("no id named", site("Depot", None), vec![seen(json!({"name": "Depot"}), None)], "unclear"),
        ];
        for (case, work, seen, expected) in table {
            let conclusion = match before(&work, &seen) {
                Before::Clear => "clear",
                Before::Exists(_) => "exists",
                Before::Taken(_) => "taken",
                Before::Unclear(_) => "unclear",
            };
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
        let lost = |baseline| doubt(site("Depot", None), Doubt::Timeout, baseline);
        let lost_till = |baseline| doubt(device("Till", Some(mac)), Doubt::Timeout, baseline);
        let refused_till = |baseline| doubt(device("Till", Some(mac)), Doubt::Duplicate, baseline);
        let none = Some(vec![]);
        let table = [
            ("nothing found", lost(none.clone()), vec![], "absent"),
            ("ours", lost(none.clone()), vec![seen(depot(), None)], "ours"),
            ("seen before the first send", lost(Some(vec![record(1)])), vec![seen(depot(), None)], "absent"),
            ("owned by another row", lost(none.clone()), vec![seen(depot(), Some(99))], "absent"),
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
                "a unique key that was there",
                lost_till(Some(vec![record(1)])),
                vec![seen(till(), None)],
                "before",
            ),
            ("refused at first, nobody had looked", refused_till(None), vec![seen(till(), None)], "before"),
            ("refused, and not there when we looked", refused_till(none), vec![seen(till(), None)], "ours"),
        ];
        for (case, work, seen, expected) in table {
            let conclusion = match after(&work, &seen) {
                After::Ours(_) => "ours",
                After::Before(_) => "before",
                After::Taken(_) => "taken",
                After::Unclear(_) => "unclear",
                After::Absent => "absent",
            };
            assert_eq!(conclusion, expected, "{case}");
        }
    }

    #[test]
    fn a_device_that_makes_a_site_is_not_guarded_by_its_mac() {
        let mut work = device("Till", Some("00:1a:2b:3c:4d:5e"));
        assert!(guarded_by_mac(&work.record));
        if let Record::Device(device) = &mut work.record {
            device.custom_site_name = Some("New".to_owned());
        }
        assert!(!guarded_by_mac(&work.record));
        assert!(!guarded_by_mac(&device("Till", None).record));
    }

    #[test]
    fn a_step_is_carried_out_when_all_it_puts_is_there() {
        let entry = |key: &str, value: &str| Metadata { key: key.into(), value: value.into() };
        let labels = Extra::Labels(vec!["north".into(), "till".into()]);
        let metadata = Extra::Metadata(vec![entry("cost-centre", "17")]);
        let cloud = Extra::VpnCloud(record(5));
        let table = [
            (&labels, json!([{"label": "till"}, {"label": "north"}]), true),
            (&labels, json!([{"label": "till"}]), false),
            (&metadata, json!([{"key": "cost-centre", "value": "17"}]), true),
            (&metadata, json!([{"key": "cost-centre", "value": "18"}]), false),
            (&cloud, json!([{"id": record(5)}]), true),
            (&cloud, json!([{"id": record(6)}]), false),
        ];
        for (extra, answer, expected) in table {
            let found: Vec<Found> =
                answer.as_array().unwrap().iter().map(|entry| found(entry.clone())).collect();
            assert_eq!(shows(extra, &found), expected, "{extra:?} {answer}");
        }
    }
}
