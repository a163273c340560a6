//! A month of nights in full length, 400,000 rows with a quota of 20,000 creations a day:
//! `cargo bench --features failpoints --bench month`. Another number is another quota; the rows are twenty times as many.
//!
//! Prints each night; ends with a panic at the first figure that is not as it should be.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

#[path = "../tests/cli/bench/mod.rs"]
mod bench;
#[path = "../tests/nights/mod.rs"]
mod nights;
#[path = "../tests/cli/metrics/open_metrics.rs"]
mod open_metrics;
#[path = "../tests/cli/notify/receiver.rs"]
mod receiver;

use std::time::Instant;

use nights::{Size, month};

/// Creations of a day when no number is given.
const QUOTA: u64 = 20_000;
/// How many times as fast as the machine's the clocks go: a night may take five minutes then.
const SPEED: u32 = 60;

fn main() {
    let quota = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(QUOTA);
    let started = Instant::now();
    let figures = month(Size { quota, speed: SPEED }, &mut |line| println!("{line}"));
    for (what, number) in figures {
        println!("{what:<48} {number:>10}");
    }
    println!("{} s", started.elapsed().as_secs());
}
