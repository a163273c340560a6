//! The service: failures before and after the deed, answers that contradict, look-ups that mislead.

use fleetload::sandbox::FaultKind;

use super::*;
use crate::relay::{Act, Relay, answer};

const FOUND: Expected =
    Expected { code: 0, states: &[("adopted", 2), ("created", 9)], requests: 10, devices: 10 };
const SENT_AGAIN: Expected = Expected { code: 0, states: &[("created", 11)], requests: 12, devices: 10 };
/// Said to be done, but not as it was asked for: a person decides, and nothing is sent again.
const HELD: Expected =
    Expected { code: 8, states: &[("created", 9), ("held", 2)], requests: 10, devices: 10 };
/// Refused, with nothing made.
const REJECTED: Expected =
    Expected { code: 4, states: &[("created", 9), ("rejected", 2)], requests: 10, devices: 8 };

#[test]
fn f12_f25_a_duplicate_of_our_own_making_is_adopted() {
    // The request is carried out twice on its way: our first answer says that the address is in use.
    let (bench, _) = two_of_ten(Fault::new("addDevice", FaultKind::SentTwice), &FOUND);
    assert_eq!(bench.statistics().answers["duplicateEntity"], 2);
    bench.assert_exact(1);
}

#[test]
fn f17_a_500_after_the_deed_is_found_again() {
    two_of_ten(Fault::new("addDevice", FaultKind::Error500After), &FOUND).0.assert_exact(1);
}

#[test]
fn f18_a_500_before_the_deed_is_settled_and_then_sent_again_or_held() {
    two_of_ten(Fault::new("addDevice", FaultKind::Error500Before), &SENT_AGAIN).0.assert_exact(1);
    let held = Expected { code: 8, states: &[("created", 9), ("held", 2)], requests: 10, devices: 8 };
    let before = Fault::new("addDevice", FaultKind::Error500Before);
    two_of_ten_at(service(), before, "in_doubt = \"hold\"", &held).0.assert_exact(1);
}

#[test]
fn f19_pages_of_502_503_and_504_say_nothing_about_the_deed() {
    for status in [502, 503, 504] {
        let after = Fault::new("addDevice", FaultKind::Html503After).status(status);
        two_of_ten(after, &FOUND).0.assert_exact(1);
    }
    two_of_ten(Fault::new("addDevice", FaultKind::Html503Before), &SENT_AGAIN).0.assert_exact(1);
}

#[test]
fn f20_a_violation_is_told_with_the_column_it_is_about() {
    let bench = bench_of(service(), 10);
    let relay = Relay::before(&bench.base_url(), |operation, nth| match (operation, nth) {
        ("addDevice", 2..=3) => Act::Instead(answer(
            "200 OK",
            "Content-Type: application/json\r\n",
            br#"{"status":"FAILED","error":{"errorCode":"invalidData","message":"not valid","errorDetails":
            {"violations":[{"path":"device.address.address1","message":"must not be null"},
            {"path":"device.phoneNumber","message":"too short"}]}}}"#,
        )),
        _ => Act::Pass,
    });
    profile_at(&bench, &relay.base_url(), "", "");
    run(&bench).expect_code(4);
    assert_eq!(relay.fired(), 2, "the fault fired");
    let results = bench.results(1);
    let rejected: Vec<_> = results.iter().filter(|row| row["status"] == "rejected").collect();
    assert_eq!(rejected.len(), 2);
    for row in rejected {
        let told = row.to_string();
        for part in ["invalidData", "must not be null", "too short", "address1", "phone"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    bench.assert_exact(1);
}

#[test]
fn f20_every_documented_refusal_rejects_its_row_and_no_other() {
    for kind in [FaultKind::InvalidData, FaultKind::InvalidState, FaultKind::GeneralError] {
        two_of_ten(Fault::new("addDevice", kind), &REJECTED).0.assert_exact(1);
    }
}

#[test]
fn f21_a_code_that_is_not_documented_is_in_doubt() {
    two_of_ten(Fault::new("addDevice", FaultKind::UnknownCode), &FOUND).0.assert_exact(1);
}

#[test]
fn f22_ok_without_an_id_is_looked_up_and_never_sent_again() {
    two_of_ten(Fault::new("addDevice", FaultKind::IdMissing), &FOUND).0.assert_exact(1);
}

#[test]
fn f23_ok_with_another_name_is_held() {
    let (bench, outcome) = two_of_ten(Fault::new("addDevice", FaultKind::WrongName), &HELD);
    assert!(outcome.stdout.contains("(1)"), "the other name is shown: {}", outcome.stdout);
    for row in bench.results(1).iter().filter(|row| row["status"] == "held") {
        assert_eq!(row["code"], "answer.contradicts", "{row}");
    }
}

#[test]
fn f24_an_id_that_another_row_has_already_is_held() {
    let wrong = Fault::new("addDevice", FaultKind::WrongId).after(2).times(1);
    let bench = bench_of(service().with_fault(wrong), 10);
    one_at_a_time(&bench);
    run(&bench).expect_code(8);
    assert_eq!(fired(&bench, "wrong_id"), 1, "the fault fired");
    assert_eq!(bench.counts(1), [("created".to_owned(), 10), ("held".to_owned(), 1)].into());
    assert_eq!(bench.requests("addDevice"), 10);
    let mut ids: Vec<_> =
        bench.results(1).iter().filter_map(|row| row["id"].as_str().map(str::to_owned)).collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "no id is said of two rows");
}

#[test]
fn f25_where_nothing_can_be_looked_up_the_services_own_uniqueness_tells_of_our_earlier_attempt() {
    let lost = Fault::new("addDevice", FaultKind::AnswerLost).after(2).times(2);
    let bench = bench_of(service().with_fault(lost), 9);
    profile_at(&bench, &bench.base_url(), "", "");
    bench.alter("\"assumed\"", "\"documented\"");
    run(&bench);
    assert_eq!(fired(&bench, "answer_lost"), 2, "the fault fired");
    assert_eq!(bench.statistics().answers["duplicateEntity"], 2, "sent again, and refused by the service");
    assert_eq!(bench.created("device").len(), 9);
    let counts = bench.counts(1);
    assert!(!counts.contains_key("rejected"), "our own record is no mistake of the row: {counts:?}");
}

#[test]
fn f26_an_address_that_a_foreign_device_has_is_rejected_with_that_device_named() {
    let bench = bench_of(service(), 3);
    bench
        .fleetload(&["run", "companies.csv", "devices.csv", "--journal", "theirs.db", "--reports", "theirs"])
        .expect_code(0);
    let there = bench.created("device");
    let there = there.iter().find(|entry| entry.request["name"] == "Till 1").expect("a device").clone();
    bench.write("devices.csv", &bench::devices(3, 1).replace("Till 1", "Counter 1"));
    // The look before sending is blind, so that the service has to refuse it.
    let blind = Fault::new("getDeviceByMac", FaultKind::NoDataFound);
    bench.sandbox().change(|scenario| scenario.fault.push(blind.times(3))).expect("a consistent scenario");
    let outcome = run(&bench);
    assert_eq!(fired(&bench, "no_data_found"), 3, "the fault fired");
    assert!(bench.statistics().answers["duplicateEntity"] >= 1, "the service refused");
    let results = bench.results(1);
    let row = results.iter().find(|row| row.to_string().contains("Counter 1"));
    let row = row.expect("the row");
    assert_eq!(row["status"], "rejected", "{row}");
    assert!(
        row.to_string().contains(&there.id.to_string()),
        "the other device is named: {row}\n{}",
        outcome.stdout
    );
    assert_eq!(bench.created("device").len(), 3, "nothing was made");
}

#[test]
fn f27_a_look_that_lags_behind_is_not_believed_before_the_settle_time() {
    let scenario = Scenario { lookup_lag_ms: 20_000, ..service() };
    let lost = Fault::new("addDevice", FaultKind::AnswerLost);
    let bench = two_of_ten_in_time(scenario, lost, Duration::from_secs(40), &FOUND);
    assert!(looks(&bench) > 10 + 2, "a look came too early");
}

/// Twenty sites, one at a time; the fault meets the second, `Branch 1`, whose name is the beginning of ten others.
fn sites(scenario: Scenario, kind: FaultKind, code: i32) -> Bench {
    let bench = Bench::new(scenario.with_fault(Fault::new("addSite", kind).after(1).times(1)));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(20, 1));
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    let files = ["run", "companies.csv", "sites.csv", "--until", &bench::at_the_latest()];
    bench.fleetload(&files).expect_code(code);
    assert_eq!(fired(&bench, kind.name()), 1, "the fault fired");
    bench
}

#[test]
fn f28_a_list_that_may_have_been_cut_short_proves_no_absence() {
    let bench = sites(Scenario { page_limit: 10, ..service() }, FaultKind::RequestLost, 8);
    assert_eq!(bench.counts(1)["held"], 1);
    assert_eq!(bench.requests("addSite"), 20, "not sent again on the word of half a list");
    bench.assert_exact(1);
}

#[test]
fn f29_a_partial_match_is_told_from_the_record_itself() {
    let bench = sites(service(), FaultKind::AnswerLost, 0);
    assert_eq!(bench.counts(1)["adopted"], 1);
    let results = bench.results(1);
    let adopted = results.iter().find(|row| row["status"] == "adopted").expect("an adopted row");
    let made = bench.created("site");
    let record = made.iter().find(|entry| Some(entry.id.to_string().as_str()) == adopted["id"].as_str());
    assert_eq!(record.expect("its record").request["name"], "Branch 1");
    bench.assert_exact(1);
}

#[test]
fn f30_a_name_that_the_service_wrote_its_own_way_is_held() {
    two_of_ten(Fault::new("addDevice", FaultKind::NameFolded), &HELD);
}

#[test]
fn f34_errors_without_their_envelope_mean_the_same() {
    let mut told = Vec::new();
    for bare_errors in [false, true] {
        let bench = bench_of(Scenario { bare_errors, ..service() }, 3);
        let sheet = bench::devices(3, 1).replacen("Edge 100", "Unheard of", 1);
        bench.write("devices.csv", &sheet);
        run(&bench).expect_code(4);
        assert!(bench.statistics().answers["noDataFound"] >= 1);
        assert_eq!(bench.counts(1)["rejected"], 1);
        told.push(
            bench
                .results(1)
                .into_iter()
                .find(|row| row["status"] == "rejected")
                .map(|row| row["code"].clone()),
        );
    }
    assert_eq!(told[0], told[1]);
}

#[test]
fn f35_an_answer_that_is_no_text_is_found_again() {
    two_of_ten(Fault::new("addDevice", FaultKind::Garbled), &FOUND).0.assert_exact(1);
}
