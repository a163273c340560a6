//! `kill -9` of the real binary at random moments, as often as asked for:
//! `cargo bench --features failpoints --bench kills -- 2000`.
//!
//! Prints where the kills landed and what became of the rows; ends with an error when a row was lost or a record made
//! twice.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

#[path = "../tests/cli/bench/mod.rs"]
mod bench;
#[path = "../tests/killing/mod.rs"]
mod killing;

use std::process::ExitCode;

use killing::Rows;
use killing::campaign::{Figures, Plan, campaigns};

/// Kills when no number is given.
const KILLS: u64 = 20;
/// Rows of each import: more than ten runs get through before they are killed.
const ROWS: Rows = Rows { companies: 20, sites: 150, people: 150, devices: 480 };
/// Imports side by side.
const AT_ONCE: usize = 8;

fn main() -> ExitCode {
    // Cargo adds options of its own; the numbers are ours: kills, then the first seed.
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let kills = numbers.next().unwrap_or(KILLS);
    let seed = numbers.next().unwrap_or(1);
    let mut tell = |figures: &Figures| {
        println!("{} of {kills} kills, {} lost, {} made twice", figures.kills, figures.lost, figures.doubled);
    };
    let figures = campaigns(Plan { kills, rows: ROWS, at_once: AT_ONCE, seed }, &mut tell);
    for (what, number) in [
        ("kills at random moments", figures.kills),
        ("  while a request was under way", figures.under_way),
        ("  of these, carried out and not known", figures.carried_out),
        ("imports finished in the end", figures.imports),
        ("their rows", figures.rows),
        ("requests in doubt by a kill", figures.in_doubt),
        ("requests in doubt by a fault", figures.in_doubt_by_faults),
        ("rows whose record was adopted", figures.adopted),
        ("requests sent again", figures.sent_again),
        ("rows held for a person", figures.held),
        ("rows lost", figures.lost),
        ("records made twice", figures.doubled),
    ] {
        println!("{what:<40} {number:>8}");
    }
    println!("first seed {seed}; the same command with another: -- {kills} SEED");
    if figures.carried_out == 0 {
        println!("no kill landed where it is dangerous: this proves nothing");
        return ExitCode::FAILURE;
    }
    if figures.lost == 0 && figures.doubled == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
