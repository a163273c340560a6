//! What happens when a run stands still: what it has in hand is told, and the process ends, so that whoever started
//! it can start it again.
//!
//! When a run stands still is decided in [`crate::run`]. Ending the process is safe at any moment: that is what the
//! journal is for.

use std::process;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::context::Context;
use crate::clock::Clock;
use crate::error::{Error, Exit, Result};
use crate::run::{LOOK_EVERY, PATIENCE, Pulse, Standstill, Watchdog};
use crate::term::Terminal;

/// How long telling may take: the terminal may be what is stuck.
const TELLING: Duration = Duration::from_secs(5);

/// Watches the run that shows itself in `pulse`.
pub(super) fn start(context: &Context<'_>, pulse: &Pulse) -> Result<Watchdog> {
    let clock: Arc<dyn Clock> = context.clock.clone();
    let terminal = context.terminal.clone();
    let again = context.again("run");
    Watchdog::start(pulse.clone(), clock, (PATIENCE, LOOK_EVERY), move |standstill| {
        end(terminal, standstill, &again);
    })
    .map_err(|error| Error::internal("cannot start the thread that watches the run").because(error))
}

/// Tells what is known and ends the process, even if telling gets stuck as well.
fn end(terminal: Terminal, standstill: Standstill, again: &str) -> ! {
    let error = told(&standstill, again);
    let (done, ended) = channel();
    let telling = thread::Builder::new().name("last words".to_owned()).spawn(move || {
        terminal.warn(format!("in hand: {}", standstill.in_hand));
        terminal.error(&error);
        // Whoever waits for it may have given up.
        let _gone = done.send(());
    });
    if telling.is_ok() {
        let _told_or_not = ended.recv_timeout(TELLING);
    }
    #[expect(clippy::exit, reason = "a run that is stuck gives nothing back to return from")]
    process::exit(Exit::Failed.code().into());
}

fn told(standstill: &Standstill, again: &str) -> Error {
    Error::internal(format!("{}; ended, with everything in the journal", standstill.why)).hint(format!(
        "to go on: {again}\nwhat was under way is looked up before anything is sent again; if it happens a second time, \
         report the line above that begins with `in hand`"
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
        assert_eq!(Exit::from(error.kind()).code(), 1);
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.next_step().expect("a hint").contains("fleetload run --journal a.db"));
    }
}
