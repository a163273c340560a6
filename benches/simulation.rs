//! The simulation of whole runs with as many seeds as one likes, and every mistake on purpose:
//! `cargo bench --features mistakes --bench simulation -- 50000 [FIRST SEED]`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "figures are what a bench is for")]

#[path = "../tests/simulation/many.rs"]
mod many;
#[path = "../tests/simulation/network.rs"]
mod network;
#[path = "../tests/simulation/oracle.rs"]
mod oracle;
#[path = "../tests/simulation/script.rs"]
mod script;
#[path = "../tests/simulation/time.rs"]
mod time;
#[path = "../tests/simulation/trial.rs"]
mod trial;
#[path = "../tests/simulation/updates.rs"]
mod updates;
#[path = "../tests/simulation/upkeep.rs"]
mod upkeep;

use std::process::ExitCode;
use std::time::Instant;

use fleetload::mistake::Mistake;

/// Seeds when none are asked for.
const FEW: u64 = 100;
/// Seeds within which a mistake must be noticed.
const TO_NOTICE: u64 = 300;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let (seeds, first) = (numbers.next().unwrap_or(FEW), numbers.next().unwrap_or(0));
    let began = Instant::now();
    let sums = many::of_seeds(
        first..first + seeds,
        Some(&|done| {
            if done % 1000 == 0 {
                eprintln!("{done} of {seeds} after {} s", began.elapsed().as_secs());
            }
        }),
    );
    println!("trials                        {}", sums.trials);
    println!("  with three kinds of fault and a crash  {}", sums.kinds_of_fault);
    println!("rows                          {}", sums.rows);
    println!("  asked for otherwise later   {}", sums.asked_otherwise);
    println!("  not, being in doubt then    {}", sums.left_in_doubt);
    println!("requests                      {}", sums.requests);
    println!("crashes                       {}", sums.crashes);
    println!("  with a request under way    {}", sums.in_the_window);
    println!("  requests that then arrived or not {}", sums.orphaned);
    println!("interruptions                 {}", sums.interrupts);
    println!(
        "looks at all pages            {} ({} left to the next life)",
        sums.page_checks, sums.page_checks_left
    );
    println!("lives that began with a list  {}", sums.listed_ahead);
    println!("most midnights in one trial   {}", sums.midnights);
    println!("swallowed by the network      {}", sums.swallowed);
    println!("faults of the service         {}", sums.faults.values().sum::<u64>());
    for (kind, count) in &sums.faults {
        println!("  {kind:<26}  {count}");
    }
    println!("rows in the end");
    for (state, count) in &sums.states {
        println!("  {state:<26}  {count}");
    }
    println!("trials with anything lost, doubled, unexpected or unexplained: {}", sums.failed.len());
    for (seed, trial) in sums.failed.iter().take(20) {
        println!("seed {seed}: {}", trial.violations.join("; "));
    }
    let away = trial::carry_out(&script::Script::of_maintenance(64), 4);
    println!("six hours of maintenance: {:?}", away.figures.states);
    let mut unnoticed = 0;
    println!("mistakes on purpose, and the first seed that notices them");
    let seeds: Vec<u64> = (0..TO_NOTICE).collect();
    for &mistake in Mistake::OF_A_RUN {
        match many::first_to_fail(&seeds, mistake) {
            Some(seed) => println!("  {:<26}  {seed}", format!("{mistake:?}")),
            None => {
                unnoticed += 1;
                println!("  {:<26}  never", format!("{mistake:?}"));
            }
        }
    }
    println!("{} s", began.elapsed().as_secs());
    if sums.failed.is_empty() && away.violations.is_empty() && unnoticed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
