//! What goes wrong, one fault a test: each shows that the fault fired, what became of the rows, what it cost in
//! requests, and that nothing was lost or made twice. Faults of the journal, the process and the clock have files
//! of their own.

mod access;
mod between;
mod network;
mod pace;
mod secure;
mod server;

use std::process::Command;
use std::time::Duration;

use crate::bench::child::UnderWay;
use crate::bench::{self, Bench, Outcome};
use crate::inside;
use fleetload::sandbox::{Fault, Scenario};

/// A service without a limit of its own.
fn service() -> Scenario {
    Scenario { rate: 0, ..Scenario::default() }
}

/// A bench whose service does this, with one company and so many devices to create, and a second of patience before it
/// is believed that nothing is there.
fn bench_of(scenario: Scenario, devices: usize) -> Bench {
    let bench = Bench::new(scenario);
    sheets(&bench, devices);
    profile_at(&bench, &bench.base_url(), "", "");
    bench
}

/// Look-ups of ten devices before they are sent and while they are in doubt: one of them has no MAC address, and is looked
/// for by its name once more when it is read back.
fn looks(bench: &Bench) -> u64 {
    bench.requests("getDeviceByMac") + bench.requests("findDevicesByName") - 1
}

fn sheets(bench: &Bench, devices: usize) {
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(devices, 1));
}

/// Another profile in the place of the bench's own: where the service is, and more lines for account and policy.
fn profile_at(bench: &Bench, base_url: &str, account: &str, policy: &str) {
    let settle = if policy.contains("settle_seconds") { "" } else { "settle_seconds = 1" };
    bench.write(
        "fleetload.toml",
        &format!(
            "[profile.bench]\nbase_url = \"{base_url}\"\nclient_id = \"{}\"\nclient_secret_file = \"secret\"\n\
             paths = \"assumed\"\n{account}\n[profile.bench.limits]\nrate = {}\n\
             [profile.bench.policy]\n{settle}\nrequest_timeout_seconds = 60\n{policy}\n",
            bench::CLIENT,
            if base_url.starts_with("http://127.0.0.1:") { "\"unlimited\"" } else { "98" },
        ),
    );
}

/// One request under way at a time, so that the third is the third.
fn one_at_a_time(bench: &Bench) {
    bench.alter("rate = \"unlimited\"", "rate = \"unlimited\"\nconcurrency = 1");
}

/// Runs company and devices with an end set.
fn run(bench: &Bench) -> Outcome {
    bench.fleetload(&["run", "companies.csv", "devices.csv", "--until", &bench::at_the_latest()])
}

/// Starts the same, waits until it says that the service cannot be reached, and asks it to stop.
fn run_in_vain(mut command: Command) -> Outcome {
    command.args(["run", "companies.csv", "devices.csv", "--json", "--until", &bench::at_the_latest()]);
    let mut run = UnderWay::start(command);
    run.hears(&["\"unreachable\""]);
    run.signal("-INT");
    run.ended()
}

/// How often a fault has fired.
fn fired(bench: &Bench, kind: &str) -> u64 {
    bench.statistics().faults_fired.get(kind).copied().unwrap_or(0)
}

/// What a fault is to lead to.
struct Expected {
    /// The exit code.
    code: i32,
    /// The states of the ten devices and their company.
    states: &'static [(&'static str, u64)],
    /// How many requests to create a device were made.
    requests: u64,
    /// How many devices there are in the end.
    devices: usize,
}

/// Ten devices, of which the third and the fourth meet the fault.
#[track_caller]
fn two_of_ten(fault: Fault, expected: &Expected) -> (Bench, Outcome) {
    two_of_ten_at(service(), fault, "", expected)
}

#[track_caller]
fn two_of_ten_at(scenario: Scenario, fault: Fault, policy: &str, expected: &Expected) -> (Bench, Outcome) {
    let kind = fault.kind.name();
    let bench = bench_of(scenario.with_fault(fault.after(2).times(2)), 10);
    profile_at(&bench, &bench.base_url(), "", policy);
    one_at_a_time(&bench);
    let outcome = run(&bench).expect_code(expected.code);
    assert_is(&bench, kind, expected);
    (bench, outcome)
}

#[track_caller]
fn assert_is(bench: &Bench, kind: &str, expected: &Expected) {
    assert_eq!(fired(bench, kind), 2, "the fault fired");
    let states = expected.states.iter().map(|(state, count)| ((*state).to_owned(), *count)).collect();
    assert_eq!(bench.counts(1), states, "{}", bench.summary(1)["causes"]);
    assert_eq!(bench.requests("addDevice"), expected.requests, "requests");
    assert_eq!(bench.created("device").len(), expected.devices, "devices");
}

/// The same where time is what matters: virtual, so that no machine is too slow for it. An answer is waited for five seconds.
#[track_caller]
fn two_of_ten_in_time(scenario: Scenario, fault: Fault, settle: Duration, expected: &Expected) -> Bench {
    let kind = fault.kind.name();
    let bench = bench_of(scenario.with_fault(fault.after(2).times(2)), 10);
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let mut options = inside::options(settle);
    options.limits.concurrency = 1;
    inside::finishes_virtually(&bench, Duration::from_millis(20), options);
    assert_is(&bench, kind, expected);
    bench.assert_exact(1);
    bench
}
