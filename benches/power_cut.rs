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
use proof::{HEADINGS, Moments, prove, prove_older};

/// Power cuts when no number is given.
const IMAGES: usize = 10_000;

/// Of a column.
const WIDTH: usize = 17;

fn main() -> ExitCode {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<u64>().ok());
    let images = numbers.next().map_or(IMAGES, |number| usize::try_from(number).expect("a number of images"));
    let seed = numbers.next().unwrap_or(1);
    let started = Instant::now();
    let (older, version) = prove_older(Moments::Spread(images.div_ceil(10)), seed);
    let real = [
        ("at every sync".to_owned(), prove(None, Moments::Named(2), seed)),
        ("at any moment".to_owned(), prove(None, Moments::Spread(images), seed)),
        (format!("version 1 to {version}"), older),
    ];
    let controls = [Mistake::SynchronousNormal, Mistake::SynchronousOff].map(|mistake| {
        (format!("{mistake:?}"), prove(Some(mistake), Moments::Spread(images.div_ceil(10)), seed))
    });
    println!("seed {seed}, {} s", started.elapsed().as_secs());
    print!("{:24}", "");
    HEADINGS.iter().for_each(|heading| print!(" {heading:>WIDTH$}"));
    println!();
    for (name, tally) in real.iter().chain(&controls) {
        print!("{name:24}");
        tally.figures().iter().for_each(|figure| print!(" {figure:>WIDTH$}"));
        println!();
    }
    let lost = real.iter().any(|(_, tally)| !tally.wrong.is_empty());
    let blind =
        controls.iter().any(|(_, tally)| tally.of("outcome lost") == 0 || tally.of("intent missing") == 0);
    if lost {
        println!("FAILED: something is wrong after a power cut");
        real.iter().flat_map(|(_, tally)| &tally.examples).for_each(|example| println!("  {example}"));
    }
    if blind {
        println!("FAILED: a journal without full synchronisation seemed to lose nothing");
    }
    if lost || blind { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
