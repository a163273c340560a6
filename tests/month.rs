//! A month of nights with everything that goes wrong in a month, a hundredth of its length: 4,000 rows, a quota of 200. The
//! whole length is `benches/month.rs`.
#![cfg(unix)]

#[path = "cli/bench/mod.rs"]
mod bench;
mod nights;
#[path = "cli/metrics/open_metrics.rs"]
mod open_metrics;
#[path = "cli/notify/receiver.rs"]
mod receiver;

use nights::{Size, month};

#[test]
fn after_a_month_of_nights_everything_is_there_once_and_every_surface_said_so_every_night() {
    month(Size { quota: 200, speed: 200 }, &mut |line| println!("{line}"));
}
