//! Look-ups at the service about a row that a person decides, and what must be true of the answer for the decision to be
//! believed.
//!
//! Which look-ups are asked, and what counts as the row's record, is decided in [`crate::run`].

use std::time::Duration;

use super::resolve;
use crate::advice::Advice;
use crate::cli::args::commands::Resolve;
use crate::cli::args::options::Overrides;
use crate::cli::context::Context;
use crate::cli::reading::access::ServiceAccess;
use crate::cli::status::review;
use crate::error::{Error, ErrorKind, Result};
use crate::journal::{Candidate, Journal, Work, beside_another_row};
use crate::model::id::{JobId, RemoteId};
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::run::{RecordCheck, RecordSearch, Verifier};
use crate::term::{count, span};

/// The service that is asked about rows: the real one, or that of a rehearsal.
pub(in crate::cli) struct RowVerifier {
    access: ServiceAccess,
    verifier: Verifier,
    /// How long after a lost answer "not there" may be believed.
    settle: Duration,
}

impl RowVerifier {
    /// Gets ready to ask, for a decision; says in its errors what can be done without asking.
    pub(super) fn reach(context: &Context<'_>, typed: &Resolve, journal: &mut Journal) -> Result<Self> {
        Self::reach_for_reading(context, typed, journal).map_err(|error| match error.advice().cloned() {
            Some(hint) => error.hint(hint.words("\n").words(WITHOUT_ASKING)),
            None => error.hint(WITHOUT_ASKING),
        })
    }

    pub(super) fn reach_for_reading(
        context: &Context<'_>,
        typed: &Resolve,
        journal: &Journal,
    ) -> Result<Self> {
        let access = ServiceAccess::of_journal(context, &typed.rehearsal, &Overrides::default(), journal)?;
        let settings = &access.settings;
        let verifier = Verifier::new(settings.client(context.clock.clone())?, context.clock.clone());
        let settle = settings.settle.value;
        Ok(Self { access, verifier, settle })
    }

    /// Ends the sandbox of a rehearsal.
    pub(in crate::cli) fn leave(self) {
        self.access.leave();
    }

    pub(super) fn sight(
        &mut self,
        journal: &Journal,
        job: JobId,
        shown: &[Candidate],
    ) -> Result<RecordSearch> {
        let work = work(journal, job)?;
        let shown: Vec<RemoteId> = shown.iter().filter_map(|candidate| candidate.id).collect();
        self.access.runtime.block_on(self.verifier.search(journal, &work, &shown)).map_err(unreached)
    }

    /// Believes that a record was not made when the service shows none, and has had the time to carry out late what
    /// it was sent; says how that was checked.
    pub(super) fn check_absent(
        &mut self,
        context: &Context<'_>,
        journal: &Journal,
        job: JobId,
        shown: &[Candidate],
    ) -> Result<String> {
        let row = work(journal, job)?;
        let unchecked = format!("resolve {job} {} --unchecked", not_so(&row));
        match self.sight(journal, job, shown)? {
            RecordSearch::Answered { by, candidates, earlier } => {
                let ids: Vec<RemoteId> = candidates.iter().filter_map(|candidate| candidate.id).collect();
                let owners = journal.owners(&ids)?;
                let is_of_another_row = |candidate: &&Candidate| {
                    owners.iter().any(|&(id, owner)| candidate.id == Some(id) && owner != job)
                };
                let free = candidates.iter().find(|candidate| !is_of_another_row(candidate));
                let Some(first) = free.or(candidates.first()) else {
                    self.refuse_unsettled(context, &row)?;
                    return Ok(format!("checked by {by}: {}", resolve::found_none(&earlier)));
                };
                let more = match candidates.len() {
                    1 => String::new(),
                    many => format!(" and {} more", count(many as u64 - 1)),
                };
                let hint = if free.is_none() {
                    context.commands().said(&beside_another_row(job), None)
                } else {
                    let adopt = first.id.map(|id| {
                        let command = format!("resolve {job} --created {id}");
                        context.advice("if it is the row's record: ", &command).words("\n")
                    });
                    let is_not = context.advice("if you are certain that it is not: ", &unchecked);
                    adopt.unwrap_or_default().join(&is_not)
                };
                let found = review::in_words(first);
                Err(Error::usage(format!("{by} shows a record that may be the row's: {found}{more}"))
                    .hint(hint))
            }
            RecordSearch::Change { by, is_so: false } => {
                self.refuse_unsettled(context, &row)?;
                Ok(format!("checked by {by}: it is not as the row asks for"))
            }
            RecordSearch::Change { by, is_so: true } => {
                let done = context.advice("to take it as done: ", &format!("resolve {job} --done"));
                Err(Error::usage(format!("{by} shows that it is as the row asks for")).hint(done))
            }
            RecordSearch::Unknown { untold: why } => {
                let (whether, not_so) = match is_change(&row) {
                    true => ("it was carried out", "it was not carried out"),
                    false => ("the record exists", "the record does not exist"),
                };
                let look = format!("look in the service yourself; if you are certain that {not_so}: ");
                Err(Error::usage(format!("cannot check whether {whether}: {why}"))
                    .hint(context.advice(look, &unchecked)))
            }
        }
    }

    /// Refuses to believe that nothing will come of a request while the service may still be carrying it out.
    fn refuse_unsettled(&self, context: &Context<'_>, work: &Work) -> Result<()> {
        let Some(until) = unsettled(work.doubt_since, self.settle, context.now()) else { return Ok(()) };
        let job = work.job;
        let (is_not, never) = match is_change(work) {
            true => ("it is not as the row asks for yet", "it will never be carried out"),
            false => ("the record does not exist yet", "it will never exist"),
        };
        Err(Error::usage(format!(
            "{is_not}, but its outcome became unknown less than {} ago: the service may still carry out the request",
            span(self.settle)
        ))
        .hint(
            context
                .advice(
                    format!("wait until {}, then: ", context.moment(until)),
                    &format!("resolve {job} {}", not_so(work)),
                )
                .words(format!("\nif you are certain that {never}: "))
                .command(context.again(&format!("resolve {job} {} --unchecked", not_so(work)))),
        ))
    }

    /// Believes that a record is the row's when it can be read and is not another one; says how that was checked.
    pub(super) fn check_identity(
        &mut self,
        context: &Context<'_>,
        journal: &Journal,
        job: JobId,
        id: RemoteId,
    ) -> Result<String> {
        let work = work(journal, job)?;
        if is_change(&work) {
            return self.check_change(context, journal, &work, id);
        }
        refuse_record_of_another_row(context, journal, job, id)?;
        match self.access.runtime.block_on(self.verifier.check(journal, &work, id)).map_err(unreached)? {
            RecordCheck::Confirmed { by, notes } if notes.is_empty() => {
                Ok(format!("checked by {by}: the record agrees with the row"))
            }
            RecordCheck::Confirmed { by, notes } => Ok(format!(
                "checked by {by}: the record agrees with the row, except for: {}",
                notes.join("; ")
            )),
            RecordCheck::Another { by, differences } => Err(Error::usage(format!(
                "{id} is not the record of this row ({by}): {}",
                differences.join("; ")
            ))
            .hint(context.advice("to see what the service has of the row: ", &format!("resolve {job}")))),
            RecordCheck::Unknown(why) => Err(Error::usage(format!(
                "the record cannot be compared with the row: {why}"
            ))
            .hint(context.advice(
                "look at the record in the service; if you are certain that it is the row's: ",
                &format!("resolve {job} --created {id} --unchecked"),
            ))),
        }
    }

    /// The same for a step that creates no record: it is believed when it is so.
    fn check_change(
        &mut self,
        context: &Context<'_>,
        journal: &Journal,
        work: &Work,
        id: RemoteId,
    ) -> Result<String> {
        let job = work.job;
        match self.access.runtime.block_on(self.verifier.check(journal, work, id)).map_err(unreached)? {
            RecordCheck::Confirmed { by, notes: _ } => {
                Ok(format!("checked by {by}: it is as the row asks for"))
            }
            RecordCheck::Another { by, differences } => {
                // Who names another record, as that of a licence code, means that there is one.
                let hint = match work.owner().is_some_and(|(_, own)| own != id) {
                    true => context.advice("if it was carried out: ", &format!("resolve {job} --done")),
                    false => context.advice("to have it carried out: ", &format!("resolve {job} --not-done")),
                };
                Err(Error::usage(format!("{by}: {}", differences.join("; "))).hint(hint))
            }
            RecordCheck::Unknown(why) => {
                let look = "look in the service yourself; if you are certain that it was: ";
                Err(Error::usage(format!("cannot check whether it was carried out: {why}"))
                    .hint(context.advice(look, &format!("resolve {job} --done --unchecked"))))
            }
        }
    }
}

/// Whether the step of a row creates no record.
fn is_change(work: &Work) -> bool {
    work.action.record().is_none()
}

/// The option that says that a row was not carried out.
fn not_so(work: &Work) -> &'static str {
    match is_change(work) {
        true => "--not-done",
        false => "--not-created",
    }
}

/// Until when "not there" is not to be believed of a row in doubt since then; `None` when it may be.
fn unsettled(since: Option<Moment>, settle: Duration, now: Moment) -> Option<Moment> {
    // A clock that was set back since makes the wait longer, never shorter.
    since.filter(|&since| now.since(since) < settle).map(|since| since.plus(settle))
}

/// What to type when the service cannot be asked.
const WITHOUT_ASKING: &str =
    "if the service cannot be asked, add --unchecked: the decision is accepted and recorded as not checked";

/// Adds what can be done without asking to an error of the service.
fn unreached(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Service => error.hint(WITHOUT_ASKING),
        ErrorKind::Internal | ErrorKind::Usage | ErrorKind::Sheets | ErrorKind::Journal => error,
    }
}

/// The record of another row is refused before the service is asked; the journal itself refuses it as well.
fn refuse_record_of_another_row(
    context: &Context<'_>,
    journal: &Journal,
    job: JobId,
    id: RemoteId,
) -> Result<()> {
    let owners = journal.owners(&[id])?;
    match owners.iter().find(|(_, owner)| *owner != job) {
        Some((_, owner)) => {
            let name = journal.work(*owner)?.map(|work| work.name).unwrap_or_default();
            let error = Error::usage(format!(
                "the record {id} already belongs to job {owner} ('{name}'); one record cannot belong to two rows"
            ));
            Err(context.with_commands(error.hint(beside_another_row(job))))
        }
        None => Ok(()),
    }
}

/// A job that can be decided, as it stands.
fn work(journal: &Journal, job: JobId) -> Result<Work> {
    let work = journal
        .work(job)?
        .ok_or_else(|| Error::usage(format!("the journal has no job {job}")).hint(list_held()))?;
    if ![JobState::Held, JobState::InDoubt].contains(&work.state) {
        return Err(Error::usage(format!(
            "job {job} ('{}') is {}; only a job that is on hold or in doubt can be decided",
            work.name, work.state
        ))
        .hint(list_held()));
    }
    Ok(work)
}

fn list_held() -> Advice {
    Advice::from("to list the rows on hold, type: ").command("fleetload status")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_there_is_not_believed_before_the_service_has_had_its_time() {
        let at = Moment::from_millis;
        let settle = Duration::from_secs(600);
        let table = [
            (None, 1_000, None),
            (Some(1_000), 6_000, Some(601_000)),
            (Some(1_000), 600_999, Some(601_000)),
            (Some(1_000), 601_000, None),
            (Some(9_000), 1_000, Some(609_000)),
        ];
        for (since, now, until) in table {
            assert_eq!(unsettled(since.map(at), settle, at(now)), until.map(at), "{since:?} at {now}");
        }
    }
}
