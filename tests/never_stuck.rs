//! A run ends by itself: whatever happens to one row, the others are not kept waiting, and no row for ever.

mod bench;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use bench::{Bench, Outcome};
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// Runs with an end set, so that a run that never ends by itself fails instead of hanging: it exits with 5.
fn run_bounded(bench: &Bench, seconds: i64, files: &[&str]) -> Outcome {
    let until = (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).to_string();
    let mut arguments = vec!["run", "--until", &until];
    arguments.extend(files);
    bench.fleetload(&arguments)
}

#[test]
fn a_look_up_that_turns_out_missing_keeps_no_row_whose_look_was_under_way() {
    let scenario = Scenario { rate: 0, ..Scenario::default() }
        .with_fault(Fault { times: Some(1), ..Fault::new("getDeviceByMac", FaultKind::NotFound404) })
        .with_fault(Fault { ms: 300, ..Fault::new("getDeviceByMac", FaultKind::Latency) })
        .with_fault(Fault::new("getDeviceByMac", FaultKind::Error500Before));
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(9, 1));
    run_bounded(&bench, 20, &["companies.csv", "devices.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["not_found_404"], 1);
    assert!(bench.statistics().faults_fired["error_500_before"] > 1, "others were under way");
    assert_eq!(bench.created("device").len(), 9);
}
