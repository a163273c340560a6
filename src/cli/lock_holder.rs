//! The process that holds a lock, in words: its number, and whether it is suspended, as by Ctrl-Z: it keeps its locks then
//! and does nothing until it is continued.

use super::context::Context;
use crate::advice::Advice;

/// Which process it is, where it could be read, to be put behind what it does.
pub(super) fn process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

/// The process, if it is suspended. Where the system does not tell, none is.
pub(super) fn suspended(pid: Option<u32>) -> Option<u32> {
    pid.filter(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| is_stopped(&stat)))
}

/// How to let it continue.
pub(super) fn continue_advice(pid: u32) -> Advice {
    Advice::new()
        .words("to continue it: ")
        .command("fg")
        .words(" in its terminal, or: ")
        .command(format!("kill -CONT {pid}"))
}

/// What to do about a run in progress: to look at it, or to continue it.
pub(super) fn progress_advice(context: &Context<'_>, suspended: Option<u32>) -> Advice {
    match suspended {
        Some(pid) => continue_advice(pid),
        None => context.advice("to see its progress: ", "status"),
    }
}

/// Reads the state of a process from Linux's line about it: the letter after its name, which is in parentheses and may hold
/// some itself.
fn is_stopped(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_comes_after_the_name_whatever_the_name_holds() {
        for (stat, stopped) in [
            ("412 (fleetload) T 1 412 412 0", true),
            ("412 (fleetload) t 1 412 412 0", true),
            ("412 (fleetload) S 1 412 412 0", false),
            ("412 (a) T (b) S 1 412 412 0", false),
            ("412 (a) S) T 1 412 412 0", true),
            ("", false),
        ] {
            assert_eq!(is_stopped(stat), stopped, "{stat}");
        }
    }

    #[test]
    fn a_process_that_runs_and_one_that_is_not_known_are_not_suspended() {
        assert_eq!(suspended(Some(std::process::id())), None);
        assert_eq!(suspended(None), None);
    }
}
