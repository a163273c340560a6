//! The state machine of the journal against a reference: whatever happens to a job, in whatever order, the journal on
//! disk says what a plain model in memory says, and refuses what that refuses.
//!
//! 2,000 sequences of some thirty imports, writes, crashes and decisions in an ordinary run, always the same ones. More, and others:
//! `PROPTEST_CASES=100000 PROPTEST_RNG_SEED=7 cargo test --all-features --test state_machine`. A sequence that fails
//! is made as short as it goes, printed, and kept in `tests/state_machine/regressions.txt` to be tried first next time.

#![expect(clippy::unwrap_used, reason = "a journal that fails by itself fails the test, which says where")]

mod operations;
mod reference;
mod world;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestCaseError, TestError, TestRunner};

use operations::{Operation, sequences};
use world::{Seen, World};

/// How many sequences are tried without a wish for another number.
const CASES: u32 = 2_000;

/// What so many sequences must have come to, each of it many times.
const TO_BE_SEEN: [&str; 23] = [
    "import refused",
    "import given up",
    "import cancelled",
    "job revised",
    "job cancelled instead of being sent again",
    "cancelled job in doubt again",
    "skipped job brought back by an import",
    "skipped job brought back by a retry",
    "skipped",
    "children released",
    "later step done",
    "incomplete",
    "incomplete, tried again",
    "left as it was",
    "write refused",
    "of values the row has no more",
    "executed, never let go",
    "held, since another job owns the record",
    "in doubt after a crash",
    "held after three deaths",
    "decision refused",
    "upkeep row done",
    "upkeep row asked for otherwise",
];

/// The sequences are tried in so many threads, each with a journal of its own.
const SHARES: u32 = 2;

/// The sequences of an ordinary run.
const SEED: u64 = 20_260_101;

thread_local! {
    /// What the last panic of this thread said.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

#[test]
fn the_journal_does_what_the_reference_does_whatever_happens() {
    let asked = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_none() { CASES } else { asked.cases };
    let seed = match asked.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => SEED,
    };
    // Making a sequence shorter panics hundreds of times: only what the last one said is of interest.
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|panic| SAID.set(panic.to_string())));
    let shares: Vec<Result<Seen, String>> = thread::scope(|scope| {
        let shares: Vec<_> = (0..SHARES)
            .map(|share| scope.spawn(move || try_sequences(cases.div_ceil(SHARES), seed + u64::from(share))))
            .collect();
        shares.into_iter().map(|share| share.join().expect("panics are caught within")).collect()
    });
    std::panic::set_hook(before);
    let mut seen = Seen::new();
    for share in shares {
        for (what, times) in share.unwrap_or_else(|words| panic!("{words}")) {
            *seen.entry(what).or_default() += times;
        }
    }
    if cases >= CASES {
        for what in TO_BE_SEEN {
            assert!(seen.get(what).is_some_and(|&times| times >= 5), "'{what}' was hardly seen: {seen:?}");
        }
    }
}

/// Tries so many sequences; gives what was seen in them, or the shortest one that fails and why it does.
fn try_sequences(cases: u32, seed: u64) -> Result<Seen, String> {
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/state_machine/regressions.txt",
        ))),
        max_shrink_iters: 4_000,
        ..Config::default()
    };
    let world = RefCell::new(World::new());
    let outcome = TestRunner::new(config).run(&sequences(), |operations| {
        let world = &mut *world.borrow_mut();
        catch_unwind(AssertUnwindSafe(|| play(&operations, world))).map_err(|_panic| {
            *world = World::new();
            TestCaseError::fail(SAID.take())
        })
    });
    match outcome {
        Ok(()) => Ok(world.into_inner().seen),
        Err(TestError::Fail(why, operations)) => {
            let listed: Vec<String> = operations.iter().map(|operation| format!("  {operation:?}")).collect();
            Err(format!("{why}\nafter:\n{}", listed.join("\n")))
        }
        Err(TestError::Abort(why)) => Err(why.to_string()),
    }
}

fn play(operations: &[Operation], world: &mut World) {
    world.clear();
    for (index, operation) in operations.iter().enumerate() {
        world.go(operation);
        world.agree();
        // Dear, and wrong for good once it is wrong: now and then, and at the end, is often enough.
        if index % 8 == 7 || index + 1 == operations.len() {
            world.agree_in_all();
        }
    }
}
