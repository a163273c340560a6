//! The whole runner in virtual time, against the simulated service, with seeded faults, crashes and midnights.
//!
//! A failing seed is named; `SEED=n cargo test --all-features --test simulation -- the_seed --nocapture` replays it.

mod forecast;
mod many;
mod network;
mod oracle;
mod script;
mod time;
mod trial;
mod updates;
mod upkeep;

use script::Script;
use trial::Trial;

/// Seeds of the test.
const SEEDS: u64 = 220;
/// The first of them: between them they meet everything that is asked for below.
const FIRST: u64 = 200;
/// Seeds that between them notice every mistake. They are tried first; the bench `simulation` finds others.
#[cfg(feature = "mistakes")]
const NOTICING: [u64; 7] = [12, 14, 112, 236, 33, 11, 27];

fn told(seed: u64, trial: &Trial) -> String {
    format!("seed {seed}:\n  {}\n  {}", trial.violations.join("\n  "), trial.trace.join("\n  "))
}

#[test]
fn nothing_is_lost_and_nothing_made_twice_whatever_a_seed_brings() {
    let sums = many::of_seeds(FIRST..FIRST + SEEDS, None);
    let shown: Vec<_> = sums.failed.iter().take(3).map(|(seed, trial)| told(*seed, trial)).collect();
    assert!(shown.is_empty(), "{} of {SEEDS} failed\n{}", sums.failed.len(), shown.join("\n"));
    assert!(sums.in_the_window > SEEDS / 3, "only {} crashes met a request under way", sums.in_the_window);
    assert!(sums.midnights >= 3, "at most {} midnights", sums.midnights);
    assert!(
        sums.page_checks > SEEDS / 4 && sums.page_checks_left > SEEDS / 20,
        "the pages were looked at {} times, {} lives ended before that",
        sums.page_checks,
        sums.page_checks_left
    );
    assert!(sums.listed_ahead > SEEDS / 10, "{} lives began with a list", sums.listed_ahead);
    let quota = sums.quota;
    assert!(
        quota.sharp_days > SEEDS / 3 && quota.refused > SEEDS / 6 && quota.doubtful > SEEDS / 3,
        "the ledger was not put to the test: {quota:?}"
    );
    let of_state = |state: &str| sums.states.get(state).copied().unwrap_or(0);
    assert!(
        of_state("done") > SEEDS && of_state("existing") > SEEDS / 2,
        "few upkeep rows were carried out: {:?}",
        sums.states
    );
    assert!(
        sums.asked_otherwise > SEEDS / 3 && sums.left_in_doubt >= 1,
        "{} rows were asked for otherwise, {} in doubt then",
        sums.asked_otherwise,
        sums.left_in_doubt
    );
    let fewest = sums.kinds_of_fault;
    assert!(fewest > SEEDS * 2 / 3, "only {fewest} trials met three kinds of fault and a crash");
}

#[test]
fn seeds_that_once_showed_a_defect_show_none_any_more() {
    // A refusal after a resend that only the service's own uniqueness permits says nothing about the first request.
    for seed in [933, 1203] {
        let trial = trial::of_seed(seed);
        assert!(trial.violations.is_empty(), "{}", told(seed, &trial));
        assert!(trial.figures.states.contains_key("held"), "{:?}", trial.figures.states);
    }
    // What is found after an answer without an id is what that request made, not one before it, and counts once.
    for seed in [358, 1029] {
        let trial = trial::of_seed(seed);
        assert!(trial.violations.is_empty(), "{}", told(seed, &trial));
        assert!(trial.figures.faults.contains_key("id_missing"), "{:?}", trial.figures.faults);
    }
    // A creation that leaves before the service has said its time counts on the day that the journal knows it to be there.
    let trial = trial::of_seed(2340);
    assert!(trial.violations.is_empty(), "{}", told(2340, &trial));
    assert!(trial.figures.quota.doubtful > 0, "{:?}", trial.figures.quota);
    // No creation leaves before the service has answered something: its day would be this machine's, which is hours ahead.
    let trial = trial::of_seed(71_715);
    assert!(trial.violations.is_empty(), "{}", told(71_715, &trial));
    // Nor before one has said it that left after this machine's clock was set ahead.
    let trial = trial::of_seed(412_101);
    assert!(trial.violations.is_empty(), "{}", told(412_101, &trial));
    // A clock that was set forward between two runs does not end the settle time of a doubt before a late commit.
    for seed in [2976, 3054, 3450, 5097, 6516, 6675] {
        let trial = trial::of_seed(seed);
        assert!(trial.violations.is_empty(), "{}", told(seed, &trial));
        assert!(trial.figures.crashes > 0, "{:?}", trial.figures);
    }
    // A change that is sent again and refused is not rejected while its first request may still be carried out.
    for seed in [17, 34] {
        let trial = trial::of_seed(seed);
        assert!(trial.violations.is_empty(), "{}", told(seed, &trial));
        let refused = |told: &[String]| {
            told[0].contains("class: Rejected") && told[1].contains("from: Sending, to: InDoubt")
        };
        assert!(trial.trace.windows(2).any(refused), "{}", told(seed, &trial));
    }
    // Nor where the look before it is sent again is refused.
    let trial = trial::of_seed(431_744);
    assert!(trial.violations.is_empty(), "{}", told(431_744, &trial));
    // What a later import changes again is not read back as undone.
    for seed in [1_300_152, 1_303_449] {
        let trial = trial::of_seed(seed);
        assert!(trial.violations.is_empty(), "{}", told(seed, &trial));
    }
    // A record that a row of the journal has renamed is not another one, also where the clock was set back between the two.
    for seed in [672, 1281, 2028] {
        let trial = trial::of_seed(seed);
        assert!(trial.violations.is_empty(), "{}", told(seed, &trial));
        assert!(trial.trace.iter().any(|event| event.contains("ClockSkew")), "{}", told(seed, &trial));
    }
    // Where the look-up does not show what was asked for, a person decides what became of such a change.
    let trial = trial::of_seed(133);
    assert!(trial.violations.is_empty(), "{}", told(133, &trial));
    let is_held = |event: &String| event.contains("Upkeep(SiteUpdates), from: InDoubt, to: Held");
    assert!(trial.trace.iter().any(is_held), "{}", told(133, &trial));
}

#[test]
fn a_seed_always_tells_the_same_story() {
    for seed in [1, 7, 20] {
        assert_eq!(trial::of_seed(seed).trace, trial::of_seed(seed).trace, "seed {seed}");
    }
}

/// The seed in the environment, for whoever looks into one.
#[test]
fn the_seed_of_the_environment_keeps_the_promise() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let trial = trial::of_seed(seed);
    println!("{}\n{:#?}", trial.trace.join("\n"), trial.figures);
    assert!(trial.violations.is_empty(), "{}", told(seed, &trial));
}

#[test]
fn six_hours_of_maintenance_put_few_rows_in_doubt_and_hold_none() {
    for concurrency in [1, 8, 64] {
        let trial = trial::carry_out(&Script::of_maintenance(concurrency), 4);
        assert!(trial.violations.is_empty(), "{}", told(4, &trial));
        assert!(trial.figures.traffic.turned_away > 60, "{:?}", trial.figures.traffic);
        let done: u64 =
            ["created", "adopted"].iter().filter_map(|state| trial.figures.states.get(*state)).sum();
        assert_eq!(done, trial.figures.rows, "{:?}", trial.figures.states);
        // Under way when it began, and the twenty that it takes to be sure.
        let doubted = trial.trace.iter().filter(|event| event.contains("from: Sending, to: InDoubt")).count();
        assert!(doubted <= concurrency + 20, "{doubted} rows came in doubt with {concurrency} under way");
    }
}

#[cfg(feature = "mistakes")]
#[test]
fn every_mistake_on_purpose_is_noticed() {
    let seeds: Vec<u64> = NOTICING.into_iter().chain(0..SEEDS).collect();
    let unnoticed: Vec<_> = fleetload::mistake::Mistake::OF_A_RUN
        .iter()
        .filter(|mistake| many::first_to_fail(&seeds, **mistake).is_none())
        .collect();
    assert!(unnoticed.is_empty(), "never noticed: {unnoticed:?}");
}
