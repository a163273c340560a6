//! Named steps at which a test can end the process as if it had been killed: no destructor runs, nothing is
//! flushed. Without the feature `failpoints` a step is nothing at all.
//!
//! `FLEETLOAD_PANICPOINT=name` makes whatever reaches the step for the first time panic instead.
//! `FLEETLOAD_FAILPOINT=name` ends the process when it reaches the step for the first time, `name:3` at the third.

/// The steps, in the order in which a row passes them.
pub const STEPS: &[&str] = &["claim.in-transaction", "claim.on-disk"];

/// The process has reached a step. Ends it there when the environment says so.
#[cfg(feature = "failpoints")]
pub(crate) fn reach(step: &'static str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static TIMES: AtomicU64 = AtomicU64::new(0);
    debug_assert!(STEPS.contains(&step), "the step {step} is not listed");
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("FLEETLOAD_FAILPOINT").ok()?;
        let (name, nth) = text.split_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), nth.parse().unwrap_or(1)))
    });
    if let Some((name, nth)) = wanted
        && name == step
        && TIMES.fetch_add(1, Ordering::Relaxed) + 1 == *nth
    {
        std::process::abort();
    }
    panic_at(step);
}

/// Panics at the step that `FLEETLOAD_PANICPOINT` names, once.
#[cfg(feature = "failpoints")]
fn panic_at(step: &'static str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    static WANTED: OnceLock<Option<String>> = OnceLock::new();
    static DONE: AtomicBool = AtomicBool::new(false);
    let wanted = WANTED.get_or_init(|| std::env::var("FLEETLOAD_PANICPOINT").ok());
    let here = wanted.as_deref() == Some(step);
    assert!(!here || DONE.swap(true, Ordering::Relaxed), "asked to panic at {step}");
}

/// The process has reached a step.
#[cfg(not(feature = "failpoints"))]
pub(crate) const fn reach(_step: &'static str) {}
