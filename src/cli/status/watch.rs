//! `fleetload status --watch`: the status again and again, in place at a terminal, until Ctrl-C or until nobody
//! reads it.

use std::time::Duration;

use super::once;
use crate::cli::args::commands::Status as Typed;
use crate::cli::context::Context;
use crate::cli::run::signals::Signals;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};

/// Tells the status at every look. An error ends it, as it ends a single look.
pub(super) fn watch(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let every = Duration::from_secs(typed.every);
    let failed = |error| Error::internal("cannot listen for signals").because(error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let mut signals = Signals::listen().map_err(failed)?;
        loop {
            context.terminal.clear();
            once(context, typed)?.tell_look(context.terminal);
            if context.terminal.has_ended() {
                return Ok(Summary::new(End::Done));
            }
            tokio::select! {
                () = context.clock.sleep_until(context.clock.elapsed() + every) => {}
                () = signals.next() => return Ok(Summary::new(End::Signal)),
            }
        }
    })
}
