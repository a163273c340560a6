//! Named steps at which a test can end the process as `kill -9` would: no destructor runs, nothing is flushed. Without
//! the feature `failpoints` a step is nothing at all.
//!
//! `FLEETLOAD_PANICPOINT=name` makes whatever reaches the step for the first time panic instead.
//! `FLEETLOAD_FAILPOINT=name` ends the process when it reaches the step for the first time, `name:3` at the third.

/// The variables of the environment by which a proof steers a process.
#[cfg(feature = "failpoints")]
pub(crate) const VARIABLES: &[&str] = &[
    "FLEETLOAD_CLOCK",
    "FLEETLOAD_FAILPOINT",
    "FLEETLOAD_FURTHER_MIGRATION",
    "FLEETLOAD_HOLDPOINT",
    "FLEETLOAD_PANICPOINT",
];
/// The variables of the environment by which a proof steers a process: none.
#[cfg(not(feature = "failpoints"))]
pub(crate) const VARIABLES: &[&str] = &[];

/// The steps, in the order in which a journal and its rows pass them.
pub const STEPS: &[&str] = &[
    // An older journal is brought up to date.
    "migration.before-copy",
    "migration.copy-beside",
    "migration.copied",
    "migration.begun",
    "migration.half-done",
    "migration.before-commit",
    "migration.committed",
    // Sheets become rows of the journal.
    "import.begun",
    "import.sheet",
    "import.row",
    "import.before-commit",
    "import.committed",
    "account.bound",
    // What the run before left behind.
    "pages.check-begun",
    "recovery.begun",
    "recovery.spill-taken-in",
    "recovery.put-in-doubt",
    "recovery.before-commit",
    "recovery.committed",
    "recovery.spill-put-away",
    // A request and its answer.
    "run.begun",
    "permission.granted",
    "claim.in-transaction",
    "claim.on-disk",
    "creation.handed-over",
    "creation.under-way",
    "creation.answered",
    "step.handed-over",
    "step.under-way",
    "step.answered",
    "answer.received",
    "created.in-transaction",
    "done.in-transaction",
    "rejected.in-transaction",
    "deferred.in-transaction",
    "returned.in-transaction",
    "postponed.in-transaction",
    "doubt.in-transaction",
    "settlement.on-disk",
    "settlement.told",
    // A look, before sending or out of doubt, and what follows from it.
    "look.handed-over",
    "look.under-way",
    "look.answered",
    "look.received",
    "doubt.taken-up",
    "doubt.look-read",
    "still-in-doubt.in-transaction",
    "existing.in-transaction",
    "adopted.in-transaction",
    "released.in-transaction",
    "held.in-transaction",
    // The quota ledger.
    "quota.in-transaction",
    "ceiling.in-transaction",
    "ceiling.resumption-noted",
    // A journal that cannot be written.
    "spill.before",
    "spill.written",
    // The end of a run.
    "audited.in-transaction",
    "run.before-end",
    "run.ended",
    "report.begun",
    "report.beside",
    "report.between-files",
    "report.in-place",
    "report.outdated-removed",
];

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
        end();
    }
    hold_at(step);
    panic_at(step);
}

/// Stays for ever at the step that `FLEETLOAD_HOLDPOINT` names (`STEP=FIFO`), once a reader of that pipe has been told.
#[cfg(feature = "failpoints")]
fn hold_at(step: &'static str) {
    use std::io::Write as _;
    use std::sync::OnceLock;

    static WANTED: OnceLock<Option<(String, String)>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("FLEETLOAD_HOLDPOINT").ok()?;
        let (name, pipe) = text.split_once('=')?;
        Some((name.to_owned(), pipe.to_owned()))
    });
    if let Some((name, pipe)) = wanted
        && name == step
    {
        // Opening a pipe waits for its reader.
        let told =
            std::fs::OpenOptions::new().write(true).open(pipe).and_then(|mut pipe| pipe.write_all(b"here\n"));
        assert!(told.is_ok(), "nobody reads {pipe}");
        loop {
            std::thread::park();
        }
    }
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

/// Ends the process as `kill -9` does.
#[cfg(feature = "failpoints")]
fn end() -> ! {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        // The signal takes effect before the call returns.
        let _unreachable = kill_process(getpid(), Signal::KILL);
    }
    std::process::abort()
}

/// A step made for the proofs: it changes every row of a table, so that bringing a journal up to date is seen to survive
/// kills and power cuts whichever version is the present one.
#[cfg(any(feature = "failpoints", feature = "mistakes"))]
const FURTHER: &[&str] = &["ALTER TABLE job ADD COLUMN further INTEGER;
    UPDATE job SET further = id;
    CREATE INDEX job_further ON job (further);
    CREATE TABLE further (id INTEGER PRIMARY KEY) STRICT;"];

#[cfg(any(feature = "failpoints", feature = "mistakes"))]
thread_local! {
    static TAKES_FURTHER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Lets journals that this thread opens meanwhile take the step made for the proofs.
#[cfg(any(feature = "failpoints", feature = "mistakes"))]
pub fn with_further_migration<T>(work: impl FnOnce() -> T) -> T {
    TAKES_FURTHER.set(true);
    let done = work();
    TAKES_FURTHER.set(false);
    done
}

/// Steps that a journal takes beyond the present version: the one made for the proofs, where `FLEETLOAD_FURTHER_MIGRATION` is
/// set or the thread was told so.
#[cfg(any(feature = "failpoints", feature = "mistakes"))]
pub(crate) fn further_migration() -> &'static [&'static str] {
    let is_set = cfg!(feature = "failpoints") && std::env::var_os("FLEETLOAD_FURTHER_MIGRATION").is_some();
    if is_set || TAKES_FURTHER.get() { FURTHER } else { &[] }
}

/// Steps that a journal takes beyond the present version: none.
#[cfg(not(any(feature = "failpoints", feature = "mistakes")))]
pub(crate) const fn further_migration() -> &'static [&'static str] {
    &[]
}
