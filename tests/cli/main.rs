//! The real binary and the rooms behind it, theme by theme, over one test bench.

mod access;
mod again;
mod audit;
mod audit_changes;
mod bench;
mod call;
mod canary;
mod checked;
mod checking;
mod clocks;
mod commands;
mod corrected;
mod cut_answers;
mod deciding;
mod deciding_changes;
mod dressing;
mod endings;
mod exactly_once;
mod explain;
mod exporting;
mod faults;
mod finding;
mod hostile_content;
mod housekeeping;
mod ids;
mod inbox;
mod inside;
mod interrupted;
mod journal;
mod layers;
mod left_out;
mod libreoffice;
mod logs;
mod metamorphic;
mod metrics;
mod never_stuck;
mod notify;
mod onboarding;
mod outage;
mod pace;
mod packaging;
mod page;
mod planning;
mod process;
mod quota;
mod rehearsal;
mod relay;
mod reserves;
mod rollout;
mod samples;
mod schemas;
mod secrets;
mod status;
mod template_for;
mod turns;
mod undo;
mod unseen;
mod updating;
mod upkeep;
mod upkeep_faults;
mod upkeep_names;
mod upkeep_order;
mod upkeep_vpn;
mod vocabulary;
mod windows;
mod zones;

/// Cargo hands the seed of `.cargo/config.toml` to the tests: the same cases on every machine.
#[test]
fn property_tests_try_the_same_cases_every_time() {
    use proptest::test_runner::{Config, RngSeed};

    assert!(
        matches!(Config::default().rng_seed, RngSeed::Fixed(_)),
        "run the tests with cargo, from the project's folder"
    );
}
