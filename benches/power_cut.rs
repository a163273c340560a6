//! The power goes many times: `cargo bench --features mistakes --bench power_cut -- 10000`.
//!
//! The script and the look are those of `tests/power_cut`; besides, the power goes at every sync. A tenth as many cuts
//! go to the opening of an older journal, and to each of two that are opened less carefully, to see that the look
//! finds what they lose. Ends with 1 when the real journal lost
//! anything, or one of those seemed to lose nothing. A second number is the seed.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

#[path = "../tests/power_cut/check.rs"]
mod check;
#[path = "../tests/power_cut/disk.rs"]
mod disk;
#[path = "../tests/power_cut/older.rs"]
mod older;
#[path = "../tests/power_cut/proof.rs"]
mod proof;
#[path = "../tests/power_cut/records.rs"]
mod records;
#[path = "../tests/power_cut/scribe.rs"]
mod scribe;
#[path = "../tests/power_cut/script.rs"]
mod script;
#[path = "../tests/power_cut/vfs.rs"]
mod vfs;

use std::process::ExitCode;
use std::time::Instant;

use fleetload::mistake::Mistake;
use proof::{Moments, Tally, prove, prove_older};

/// Power cuts when no number is given.
const IMAGES: usize = 10_000;

fn main() -> ExitCode {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<u64>().ok());
    let images = numbers.next().map_or(IMAGES, |number| usize::try_from(number).expect("a number of images"));
    let seed = numbers.next().unwrap_or(1);
    let mut good = true;
    let mut real = |what: &str, tally: Tally, started: Instant| {
        good &= tally.wrong.is_empty();
        println!("{what}, seed {seed}, {} s: {tally}", started.elapsed().as_secs());
    };
    let started = Instant::now();
    real("at every sync", prove(None, Moments::Named(2), seed), started);
    let started = Instant::now();
    real("at any moment", prove(None, Moments::Spread(images), seed), started);
    let started = Instant::now();
    let (tally, version) = prove_older(Moments::Spread(images.div_ceil(10)), seed);
    real(&format!("on the way from version 1 to {version}"), tally, started);
    for mistake in [Mistake::SynchronousNormal, Mistake::SynchronousOff] {
        let tally = prove(Some(mistake), Moments::Spread(images.div_ceil(10)), seed);
        good &= tally.of("outcome lost") > 0 && tally.of("intent missing") > 0;
        println!("control {mistake:?}: {tally}");
    }
    if good {
        println!("nothing lost, and the controls were seen to lose");
        ExitCode::SUCCESS
    } else {
        println!("FAILED");
        ExitCode::FAILURE
    }
}
