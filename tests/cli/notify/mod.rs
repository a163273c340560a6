//! Notifications: each change reaches its receiver once, whatever the receiver does, and no run is held up or changed by it.

mod events;
mod hook;
mod receiver;
mod webhook;

use crate::bench::Bench;
use fleetload::sandbox::Scenario;

/// The secret of the signature.
const KEY: &str = "k3y-of-the-Signature";

/// A bench whose profile notifies: the lines of `[profile.bench.notify]`.
fn notifying(scenario: Scenario, lines: &str) -> Bench {
    let bench = Bench::new(scenario);
    notifies(&bench, lines);
    bench
}

/// A line for receivers that hang; without it a try may take as long as the slowest machine needs.
const IMPATIENT: &str = "timeout_seconds = 1";

/// Sets the lines of `[profile.bench.notify]`.
fn notifies(bench: &Bench, lines: &str) {
    let patience = if lines.contains(IMPATIENT) { "" } else { "timeout_seconds = 60\n" };
    bench.notify(&format!("{patience}{lines}"));
}
