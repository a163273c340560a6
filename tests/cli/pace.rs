//! The limit of the service: never more than 100 requests of one operation in any sliding second, as the service
//! counts arrivals, with four operations at once.

use std::sync::Arc;
use std::time::Duration;

use crate::bench::{self, Bench};
use crate::inside::{self, Direct, Fate, Inside, Nth, Virtual};
use fleetload::journal::Writing;
use fleetload::model::event::Event;
use fleetload::run::{Ending, RunLimits, RunOptions};
use fleetload::sandbox::Scenario;
use fleetload::service::Rate;

#[test]
fn four_operations_at_once_stay_below_the_limit_of_each_and_are_never_refused() {
    stays_below_the_limit(None);
}

/// The process is stopped and continued, or starved of the processor.
#[test]
fn a_stall_of_three_seconds_saves_up_no_permits_and_lets_no_burst_leave() {
    stays_below_the_limit(Some(Duration::from_secs(3)));
}

/// In virtual time, where requests arrive when they leave: a busy machine would bunch them on their way to a service
/// in the same process. In a `stall`, time passes and nothing is done.
fn stays_below_the_limit(stall: Option<Duration>) {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(150));
    bench.write("sites.csv", &bench::sites(350, 150));
    bench.write("people.csv", &bench::people(350, 150));
    bench.write("devices.csv", &bench::devices(350, 150));
    bench.fleetload(&["import", "companies.csv", "sites.csv", "people.csv", "devices.csv"]).expect_code(0);
    inside::drive_virtually(async {
        let clock = Virtual::start();
        let requests = Nth::default();
        // Answered after 20 to 60 ms.
        let uneven =
            move |_: &str| Fate::AnsweredAfter(Duration::from_millis(20 + requests.next() * 17 % 41));
        let transport = Direct::new(bench.sandbox(), clock.clone(), uneven);
        let client = inside::client_over(&bench, clock.clone(), transport);
        let options = RunOptions {
            limits: RunLimits { rate: Rate::PerSecond(98.0), concurrency: 64, daily_quota: None, reserve: 0 },
            writing: Writing::AmongTasks(Arc::new(|| Box::pin(tokio::time::sleep(Duration::from_millis(3))))),
            ..inside::options(Duration::from_secs(5))
        };
        let mut run = Inside::start(&bench, client, clock, options);
        if let Some(stall) = stall {
            let sent = Nth::default();
            run.hears("three hundred requests left", |event| {
                matches!(event, Event::Sent { .. }) && sent.next() == 300
            })
            .await;
            tokio::time::advance(stall).await;
        }
        let (_, ending, _) = run.ends().await;
        assert_eq!(ending, Ending::Finished);
    });
    let statistics = bench.statistics();
    for (operation, most) in &statistics.most_in_a_second {
        assert!(*most <= 100, "{operation}: {most} in a second");
    }
    for operation in ["addSite", "addPerson", "addDevice"] {
        assert!(
            statistics.most_in_a_second[operation] > 90,
            "{operation} never came near its limit: {statistics:?}"
        );
    }
    assert!(!statistics.answers.contains_key("rateLimitExceeded"), "{:?}", statistics.answers);
    bench.fleetload(&["report", "1"]).expect_code(0);
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
