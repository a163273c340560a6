//! The limit of the service: never more than 100 requests of one operation in any sliding second, as the service
//! counts arrivals, with four operations at once.

mod bench;

use bench::Bench;
use fleetload::sandbox::Scenario;

#[test]
fn four_operations_at_once_stay_below_the_limit_of_each_and_are_never_refused() {
    let bench = Bench::new(Scenario { latency_ms: [20, 60], ..Scenario::default() });
    bench.profile("", "", "");
    bench.write("companies.csv", &bench::companies(150));
    bench.write("sites.csv", &bench::sites(350, 150));
    bench.write("people.csv", &bench::people(350, 150));
    bench.write("devices.csv", &bench::devices(350, 150));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"]).expect_code(0);
    let statistics = bench.statistics();
    for (operation, most) in &statistics.most_in_a_second {
        assert!(*most <= 100, "{operation}: {most} in a second");
    }
    for operation in ["addSite", "addPerson", "addDevice"] {
        assert!(
            statistics.most_in_a_second[operation] > 50,
            "{operation} never came near its limit: {statistics:?}"
        );
    }
    assert!(!statistics.answers.contains_key("rateLimitExceeded"), "{:?}", statistics.answers);
    bench.assert_exact(1);
}

#[test]
fn a_service_that_allows_less_than_we_send_slows_the_run_down_and_costs_no_row() {
    let bench = Bench::new(Scenario { rate: 30, ..Scenario::default() });
    bench.profile("", "", "");
    bench.write("companies.csv", &bench::companies(5));
    bench.write("devices.csv", &bench::devices(150, 5));
    let outcome = bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    assert!(bench.statistics().answers["rateLimitExceeded"] >= 1, "the limit was met");
    assert!(outcome.stderr.contains("slower pace"), "{}", outcome.stderr);
    bench.assert_exact(1);
}
