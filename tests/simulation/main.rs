//! The whole runner in virtual time, against the simulated service, with seeded faults, crashes and midnights.
//!
//! A failing seed is named; `SEED=n cargo test --all-features --test simulation -- one_seed --nocapture` replays it.

mod network;
mod oracle;
mod script;
mod time;
mod trial;

use trial::Trial;

/// Seeds of the test.
const SEEDS: u64 = 300;

fn told(seed: u64, trial: &Trial) -> String {
    format!("seed {seed}:\n  {}\n  {}", trial.violations.join("\n  "), trial.trace.join("\n  "))
}

#[test]
fn nothing_is_lost_and_nothing_made_twice_whatever_a_seed_brings() {
    let (mut failed, mut in_the_window, mut midnights) = (Vec::new(), 0, 0);
    for seed in 0..SEEDS {
        let trial = trial::of_seed(seed);
        in_the_window += trial.figures.crashes_in_the_window;
        midnights = midnights.max(trial.figures.midnights);
        if !trial.violations.is_empty() {
            failed.push(told(seed, &trial));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {SEEDS} failed\n{}",
        failed.len(),
        failed[..failed.len().min(3)].join("\n")
    );
    assert!(in_the_window > SEEDS / 3, "only {in_the_window} crashes came while a request was under way");
    assert!(midnights >= 3, "at most {midnights} midnights");
}

#[test]
fn a_seed_always_tells_the_same_story() {
    for seed in [1, 7, 20] {
        assert_eq!(trial::of_seed(seed).trace, trial::of_seed(seed).trace, "seed {seed}");
    }
}

/// The seed in the environment, for whoever looks into one.
#[test]
fn one_seed() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let trial = trial::of_seed(seed);
    println!("{}\n{:#?}", trial.trace.join("\n"), trial.figures);
    assert!(trial.violations.is_empty(), "{}", told(seed, &trial));
}

#[cfg(feature = "mistakes")]
#[test]
fn every_mistake_on_purpose_is_noticed() {
    let mut unnoticed = Vec::new();
    for &mistake in fleetload::mistake::Mistake::OF_A_RUN {
        fleetload::mistake::make(Some(mistake));
        let caught = (0..SEEDS).find(|&seed| !trial::of_seed(seed).violations.is_empty());
        println!("{mistake:?}: {caught:?}");
        if caught.is_none() {
            unnoticed.push(mistake);
        }
    }
    fleetload::mistake::make(None);
    assert!(unnoticed.is_empty(), "never noticed: {unnoticed:?}");
}
