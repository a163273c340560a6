//! What comes before each pass of a run over the journal: what the last one left behind, and the right to begin again
//! for rows that came in at the last moment. The first start and what is sent is left to `run`.

use super::commands::Run;
use super::context::Context;
use super::locks::Locks;
use super::safety;
use super::settings::Settings;
use crate::error::{Error, Result};
use crate::journal::{Journal, Recovered};
use crate::term::counted;

/// Takes the locks for another pass over the journal, or says which other run has them. That run may have come and
/// gone since, so that what it left is taken up as at any start.
pub(super) fn begin_again(
    context: &Context<'_>,
    typed: &Run,
    settings: &Settings,
    journal: &mut Journal,
) -> Result<std::result::Result<Locks, String>> {
    let locks = match Locks::take_quietly(context, journal, settings, typed.rehearsal.sandbox)? {
        Ok(locks) => locks,
        Err(other) => return Ok(Err(other)),
    };
    safety::enter_again(journal)?;
    let recovered = journal.recover(context.now())?;
    tell_recovered(context, &recovered);
    Ok(Ok(locks))
}

/// Tells why rows that came in at the last moment are left, where that does not make the finished run any less so.
pub(super) fn tell_left(context: &Context<'_>, error: &Error) {
    context.terminal.warn(format!("rows that were imported meanwhile are left to the next run: {error}"));
    if let Some(hint) = error.next_step() {
        context.terminal.hint(hint);
    }
}

/// Tells what a run that did not come to its end left behind.
pub(super) fn tell_recovered(context: &Context<'_>, recovered: &Recovered) {
    let terminal = context.terminal;
    if recovered.doubtful > 0 {
        terminal.say(format!(
            "the last run ended in the middle of {}; whether they were executed is looked up first",
            counted(recovered.doubtful, "request", "requests")
        ));
    }
    if recovered.held > 0 {
        terminal.warn(format!(
            "{} held: three runs ended while sending the same row",
            counted(recovered.held, "row is", "rows are")
        ));
    }
    if recovered.spilled > 0 {
        terminal.say(format!(
            "{} taken in that could not be written when the last run ended",
            counted(recovered.spilled, "outcome was", "outcomes were")
        ));
    }
    if recovered.left_out > 0 {
        terminal.warn(format!(
            "{} of the spill file no longer fit and were kept beside it",
            counted(recovered.left_out, "line", "lines")
        ));
    }
}
