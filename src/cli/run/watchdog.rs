//! The watchdog: when a run makes no progress, what it has in hand is told, and the process ends, so that whoever started
//! it can start it again.
//!
//! When a run stands still is decided in [`crate::run`]. Ending the process is safe at any moment: that is what the
//! journal is for.

use std::sync::Arc;

use crate::advice::Advice;
use crate::cli::context::Context;
use crate::cli::summary::{Summary, end_process};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::Whose;
use crate::run::{CHECK_EVERY, PATIENCE, Pulse, Standstill, Watchdog};
use crate::term::Terminal;

/// Watches the run that shows itself in `pulse`.
pub(in crate::cli) fn start(context: &Context<'_>, pulse: &Pulse) -> Result<Watchdog> {
    let clock: Arc<dyn Clock> = context.clock.clone();
    let terminal = context.terminal.clone();
    let again = context.again("run");
    let whose = context.whose.borrow().clone().unwrap_or_default();
    Watchdog::start(pulse.clone(), clock, (PATIENCE, CHECK_EVERY), move |standstill| {
        end(terminal, standstill, &again, whose);
    })
    .map_err(|error| Error::internal("cannot start the thread that watches the run").because(error))
}

/// Tells what is known and ends the process.
fn end(terminal: Terminal, standstill: Standstill, again: &str, whose: Whose) -> ! {
    let error = told(&standstill, again);
    end_process(error.end(), terminal, move |terminal| {
        terminal.warn(format!("in hand: {}", standstill.in_hand));
        terminal.error(&error);
        let summary = Summary::of_error(&error).of_account(&whose, whose.banner().is_some());
        summary.tell(terminal);
    })
}

fn told(standstill: &Standstill, again: &str) -> Error {
    Error::internal(format!("{}; ended, with everything in the journal", standstill.why))
        .ending(End::Stuck)
        .hint(Advice::from("to go on: ").command(again).words(
            "\nrequests that were under way are looked up before anything is sent again; if it happens a second time, \
             report the line above that begins with `in hand`",
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_standstill_is_an_error_of_ours_that_says_how_to_go_on() {
        let standstill = Standstill { why: "nothing has moved".to_owned(), in_hand: "3 rows".to_owned() };
        let error = told(&standstill, "fleetload run --journal a.db");
        assert_eq!((error.end(), error.end().exit().code()), (End::Stuck, 1));
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.next_step().expect("a hint").contains("fleetload run --journal a.db"));
    }
}
