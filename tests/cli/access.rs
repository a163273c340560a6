//! Tokens, credentials and endpoints: what stops a run stops it with every job ready, and a later run finishes.

use std::time::Duration;

use crate::bench::{self, Bench};
use crate::inside;
use fleetload::sandbox::{ClientEntry, Fault, FaultKind, Scenario};

/// A service on which one thing is wrong until the test fixes it.
fn broken(operation: &str, kind: FaultKind) -> Bench {
    Bench::new(Scenario::default().with_fault(Fault::new(operation, kind)))
}

/// Runs ten companies against a service that refuses, then fixes it and finishes.
fn stops_and_finishes(bench: &Bench, fault: FaultKind, words: &str) {
    bench.write("companies.csv", &bench::companies(10));
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(7);
    assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    assert!(bench.statistics().faults_fired[fault.name()] >= 1, "the fault fired");
    assert_eq!(bench.created("company").len(), 0);
    assert_eq!(bench.counts(1), [("ready".to_owned(), 10)].into());
    bench.clear_faults();
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 10);
    bench.assert_exact(1);
}

#[test]
fn a_refused_client_stops_the_run_with_7_and_every_job_ready() {
    let bench = broken("auth", FaultKind::InvalidClient);
    stops_and_finishes(&bench, FaultKind::InvalidClient, "invalid_client");
}

#[test]
fn a_journal_that_was_begun_with_a_mistyped_account_says_how_to_begin_again() {
    let own = ClientEntry { id: bench::CLIENT.to_owned(), secret: bench::SECRET.to_owned() };
    let bench = Bench::new(Scenario { client: vec![own], ..Scenario::default() });
    let (wrong, right) = ("client_id = \"onbaording\"", "client_id = \"onboarding\"");
    bench.alter(right, wrong);
    bench.write("companies.csv", &bench::companies(10));
    let refused = bench.fleetload(&["run", "companies.csv"]).expect_code(7);
    assert!(refused.stderr.contains("invalid_client"), "{refused:?}");
    bench.alter(wrong, right);
    // The rows may be meant for another account than that of this profile: they are not taken over.
    let refused = bench.fleetload(&["run"]).expect_code(2);
    let advice = "another file with --journal FILE; if the profile was wrong when this one was begun, import the sheets again";
    assert!(refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(advice), "{refused:?}");
    bench.fleetload(&["run", "companies.csv", "--journal", "right.db"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 10);
}

#[test]
fn the_doctor_names_the_secret_only_where_the_service_has_refused_it() {
    for (kind, check, words) in [
        (FaultKind::InvalidClient, "wrong  credentials: ", "check client_id and the client secret"),
        (
            FaultKind::UnauthorizedSource,
            "wrong  service: ",
            "check VPN and network, or have the address added",
        ),
        (FaultKind::Html503Before, "wrong  service: no token: ", "try again in a few minutes"),
        (FaultKind::Redirect302, "wrong  service: ", "whether a proxy or the sign-in page of a network"),
        (FaultKind::NotFound404, "wrong  service: ", "[profile.NAME.endpoints.auth]"),
    ] {
        let bench = broken("auth", kind);
        let told = bench.fleetload(&["doctor"]).expect_code(7).stdout;
        assert!(told.contains(check) && told.contains(words), "{kind:?}: {told}");
        assert_eq!(told.contains("secret of the profile"), kind == FaultKind::InvalidClient, "{told}");
    }
    let bench = Bench::new(Scenario::default());
    bench.service_goes_away();
    let told = bench.fleetload(&["doctor"]).expect_code(7).stdout;
    assert!(told.contains("wrong  service: no connection: "), "{told}");
    assert!(told.contains("check base_url, and the network, VPN and proxy of this machine"), "{told}");
}

#[test]
fn a_source_address_that_is_not_authorized_stops_the_run_with_7_and_every_job_ready() {
    let bench = broken("creations", FaultKind::UnauthorizedSource);
    stops_and_finishes(&bench, FaultKind::UnauthorizedSource, "unauthorizedSource");
}

#[test]
fn an_endpoint_that_is_not_there_stops_its_operation_and_names_the_key_to_set() {
    let bench = broken("addCompany", FaultKind::NotFound404);
    stops_and_finishes(&bench, FaultKind::NotFound404, "endpoints.addCompany");
}

#[test]
fn tokens_that_live_two_seconds_are_refreshed_before_they_end_and_cost_no_row() {
    let bench = Bench::new(Scenario { token_seconds: 2, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(5));
    bench.write("devices.csv", &bench::devices(400, 5));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    inside::finishes_virtually(&bench, Duration::from_millis(50), inside::options(Duration::from_secs(1)));
    let statistics = bench.statistics();
    assert!(statistics.tokens_issued >= 3, "tokens were refreshed: {statistics:?}");
    assert!(!statistics.answers.contains_key("invalid_token"), "before they ended: {statistics:?}");
    bench.assert_exact(1);
}

#[test]
fn tokens_that_are_revoked_in_mid_run_cost_no_row() {
    // More than a second apart: a request that two tokens in a row are refused for ends the run.
    let revoked = [20, 150, 280].map(|after| Fault {
        times: Some(1),
        after,
        ..Fault::new("addDevice", FaultKind::TokenRevoked)
    });
    let bench = Bench::new(Scenario { fault: revoked.into(), ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(5));
    bench.write("devices.csv", &bench::devices(300, 5));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    inside::finishes_virtually(&bench, Duration::from_millis(50), inside::options(Duration::from_secs(1)));
    let statistics = bench.statistics();
    assert_eq!(statistics.faults_fired["token_revoked"], 3);
    assert_eq!(statistics.tokens_issued, 4, "one for each that ended: {statistics:?}");
    bench.assert_exact(1);
}

#[test]
fn an_operation_without_a_path_is_refused_before_anything_is_imported_or_sent() {
    let bench = Bench::new(Scenario::default());
    bench.profile("paths = \"documented\"", "", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    let outcome = bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(2);
    assert!(outcome.stderr.contains("addSite"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("endpoints.addSite"), "{}", outcome.stderr);
    assert_eq!(bench.statistics().requests.len(), 0, "nothing was sent");
}

#[test]
fn the_method_that_the_profile_says_goes_out_with_the_body_of_the_operation() {
    let bench = Bench::new(Scenario::default());
    let mapped: String = [("addSite", "PUT"), ("addPerson", "PATCH"), ("addDevice", "DELETE")]
        .iter()
        .map(|(operation, method)| {
            format!(
                "[profile.bench.endpoints.{operation}]\nmethod = \"{method}\"\npath = \"/device-api/config/v1/{operation}\"\n"
            )
        })
        .collect();
    bench.profile(&mapped, "", "");
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(3, 2));
    bench.write("people.csv", &bench::people(3, 2));
    bench.write("devices.csv", &bench::devices(3, 2));
    let files = ["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"];
    let outcome = bench.fleetload(&files).expect_code(7);
    assert!(outcome.stderr.contains("405"), "a service that takes POST only refuses it: {}", outcome.stderr);
    assert_eq!(bench.ledger().iter().filter(|entry| entry.created).count(), 2, "only the companies");
    let take = |operation: &str, method: &str| (operation.to_owned(), method.to_owned());
    bench
        .sandbox()
        .change(|scenario| {
            scenario.methods =
                [take("addSite", "PUT"), take("addPerson", "PATCH"), take("addDevice", "DELETE")].into();
        })
        .expect("a consistent scenario");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(
        bench.created("site").len() + bench.created("person").len() + bench.created("device").len(),
        9
    );
    bench.assert_exact(1);
}
