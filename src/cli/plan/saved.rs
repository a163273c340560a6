//! The saved plan: kept beside the journal, and compared with what the import of the same files brings.
//!
//! It is information and no more: what cannot be written is warned of, and what cannot be read is as if it were not there.

use std::fs;
use std::io::ErrorKind as Io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::dry_run::Surveyed;
use crate::advice::{Advice, quoted};
use crate::cli::atomic_file;
use crate::cli::context::Context;
use crate::cli::output_file::{refuse_unless, unwritable};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::import::Examined;
use crate::journal::Account;
use crate::model::operation::Operation;
use crate::model::time::Rfc3339;
use crate::plan::{Difference, FORM, SavedPlan};
use crate::term::{Ink, Line, count, counted};

/// No plan is longer: a file that is was not written by us.
const LONGEST: u64 = 1 << 20;

/// Differences told one by one.
const TOLD: usize = 12;

/// Where the plan for a journal is kept: beside it.
pub(in crate::cli) fn file_of(journal: &Path) -> PathBuf {
    atomic_file::beside(journal, ".plan.json")
}

/// Keeps what a plan said; whole or not at all, and readable by its owner only.
pub(in crate::cli) fn keep(context: &Context<'_>, promise: &SavedPlan) {
    let file = file_of(&context.common.journal);
    if let Err(error) = write(&file, promise) {
        context.terminal.warn(format!(
            "the plan cannot be kept in {}, so the run cannot say whether something has changed since: {error}",
            file.display()
        ));
    }
}

fn write(file: &Path, promise: &SavedPlan) -> std::io::Result<()> {
    let mut text = serde_json::to_vec_pretty(promise)?;
    text.push(b'\n');
    atomic_file::put(file, &text)
}

/// What was planned for these files, if anything was.
pub(in crate::cli) fn of(context: &Context<'_>, examined: &Examined) -> Option<SavedPlan> {
    let promise = kept(context)?;
    let names: Vec<&str> = examined.files().map(|file| file.name.as_str()).collect();
    promise.is_about(&names).then_some(promise)
}

/// What was planned last for the journal, if anything was.
pub(in crate::cli) fn kept(context: &Context<'_>) -> Option<SavedPlan> {
    read(&file_of(&context.common.journal)).ok().flatten()
}

fn read(file: &Path) -> std::io::Result<Option<SavedPlan>> {
    let Some(text) = atomic_file::read(file, LONGEST)? else { return Ok(None) };
    Ok(serde_json::from_slice(&text).ok().filter(|promise: &SavedPlan| promise.form == FORM))
}

/// Saves a plan for `run --plan`, over nothing but an earlier plan.
pub(in crate::cli) fn save(context: &Context<'_>, file: &Path, promise: &SavedPlan) -> Result<()> {
    write(file, promise).map_err(|error| unwritable(format_args!("the plan {}", file.display()), error))?;
    let line = Line::plain("the plan is saved: ").ink(Ink::Strong, file.display().to_string());
    context.terminal.result(line);
    Ok(())
}

/// Refuses to save a plan over a file that is none.
pub(in crate::cli) fn refuse_others(file: &Path) -> Result<()> {
    refuse_unless(matches!(read(file), Ok(Some(_))), file, "a saved plan", "--save")
}

/// The plan in a file that was named for it.
pub(in crate::cli) fn named(context: &Context<'_>, file: &Path) -> Result<SavedPlan> {
    match read(file) {
        Ok(Some(plan)) => Ok(plan),
        Ok(None) => {
            Err(Error::usage(format!("{} is not a plan that this fleetload has saved", file.display()))
                .hint(context.advice("save one in a file of its own: ", "plan FILE --save PLAN")))
        }
        Err(cause) => {
            let save = format!("plan FILE --save {}", quoted(&file.to_string_lossy()));
            Err(Error::usage(format!("the plan {} cannot be read", file.display()))
                .because(cause)
                .hint(context.advice("save one first: ", &save)))
        }
    }
}

/// Refuses what is not as the plan says, naming every difference.
pub(in crate::cli) fn require(context: &Context<'_>, planned: &SavedPlan, now: &SavedPlan) -> Result<()> {
    if planned.differences(now).is_empty() {
        return Ok(());
    }
    tell(context, planned, now);
    Err(Error::sheets(
        "what would happen is not what the plan says; nothing was imported and nothing was sent",
    )
    .ending(End::NotAsPlanned)
    .hint(
        Advice::from("look at the differences, then plan the files again and save that plan: ")
            .command("fleetload plan FILE --save PLAN"),
    ))
}

/// Forgets a plan that has been carried out.
pub(in crate::cli) fn forget(context: &Context<'_>) {
    let file = file_of(&context.common.journal);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != Io::NotFound => context.terminal.warn(format!(
            "the plan in {} has been carried out and cannot be removed: {error}",
            file.display()
        )),
        Ok(()) | Err(_) => {}
    }
}

/// Fills in what is known of the profile.
pub(in crate::cli) fn complete(
    surveyed: &mut Surveyed,
    account: Option<&Account>,
    available: &dyn Fn(Operation) -> bool,
) {
    surveyed.promise.account = account.map(|account| (account.base_url.clone(), account.client_id.clone()));
    surveyed.promise.reckon(&surveyed.survey, available);
}

/// Says whether what was planned is still so.
pub(in crate::cli) fn tell(context: &Context<'_>, planned: &SavedPlan, now: &SavedPlan) {
    let differences = planned.differences(now);
    let terminal = context.terminal;
    let at = context.moment(planned.at);
    terminal.object(&SincePlanObject {
        planned_at: planned.at.into(),
        as_planned: differences.is_empty(),
        to_create: now.to_create(),
        differences: &differences,
    });
    let rows = rows(now);
    if differences.is_empty() {
        terminal.result(Line::new().ink(Ink::Good, "as planned").text(format!(" at {at}: {rows}")));
        return;
    }
    let planned_rows = match self::rows(planned) {
        planned if planned == rows => ", as many as were planned".to_owned(),
        planned => format!("; the plan has {planned}"),
    };
    terminal.result(
        Line::new().ink(Ink::Warning, "not as planned").text(format!(" at {at}: {rows}{planned_rows}")),
    );
    for difference in differences.iter().take(TOLD) {
        terminal.result(format!("  {}", words(difference)));
    }
    if let Some(more) = differences.len().checked_sub(TOLD).filter(|more| *more > 0) {
        terminal.result(format!("  and {more} more differences"));
    }
}

/// What is to be done, in words.
fn rows(plan: &SavedPlan) -> String {
    let created = counted(plan.to_create(), "row to be created", "rows to be created");
    let carried_out = counted(plan.to_carry_out(), "row to be carried out", "rows to be carried out");
    match (plan.to_create(), plan.to_carry_out()) {
        (_, 0) => created,
        (0, _) => carried_out,
        (_, _) => format!("{created} and {carried_out}"),
    }
}

fn words(difference: &Difference) -> String {
    match difference {
        Difference::Files { planned } => format!("the plan is about other files: {}", planned.join(", ")),
        Difference::File { name } => {
            format!("{name} has changed since the plan")
        }
        Difference::Account => "the profile is for another account".to_owned(),
        Difference::Journal { imports } if *imports > 0 => {
            let many = counted(u64::try_from(*imports).unwrap_or(0), "other import", "other imports");
            format!("the journal has changed: {many} since the plan")
        }
        Difference::Journal { .. } => "the journal is another one, or an older copy".to_owned(),
        Difference::Rows { kind, action, planned, now } => {
            let (change, than) = match now.checked_sub(*planned) {
                Some(more) => (more, "more"),
                None => (planned - now, "fewer"),
            };
            let of = if change == 1 { kind.singular() } else { kind.plural() };
            format!(
                "{} {than} {of} {}: {} instead of {}",
                count(change),
                action.words(),
                count(*now),
                count(*planned)
            )
        }
        Difference::Calls { operation, planned, now } => {
            format!("{} of {operation} instead of {}", counted(*now, "request", "requests"), count(*planned))
        }
        Difference::Earlier { operation, planned, now } => format!(
            "{} of {operation} left over from earlier imports instead of {}",
            counted(*now, "request", "requests"),
            count(*planned)
        ),
        Difference::Unavailable { operation } => {
            format!("{operation} is not available any more: the profile no longer sets its path")
        }
        Difference::Available { operation } => format!("{operation} is available now"),
        Difference::Values { file, sheet } => format!(
            "the rows of {file}, {sheet} are read differently: the options or the journal have changed"
        ),
    }
}

/// Whether what was planned is still so.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct SincePlanObject<'a> {
    /// When the plan was made.
    planned_at: Rfc3339,
    /// Whether nothing differs.
    as_planned: bool,
    /// Rows that are to be created now.
    to_create: u64,
    /// What differs.
    differences: &'a [Difference],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::Kind;
    use crate::plan::PlannedAction;

    #[test]
    fn differences_are_told_in_whole_sentences() {
        let of = |planned, now| Difference::Rows {
            kind: Kind::Company,
            action: PlannedAction::Create,
            planned,
            now,
        };
        assert_eq!(words(&of(309, 312)), "3 more companies to be created: 312 instead of 309");
        assert_eq!(words(&of(1_000, 999)), "1 fewer company to be created: 999 instead of 1,000");
        let there =
            Difference::Rows { kind: Kind::Device, action: PlannedAction::There, planned: 0, now: 12 };
        assert_eq!(words(&there), "12 more devices already in the service: 12 instead of 0");
        assert_eq!(
            words(&Difference::Journal { imports: 2 }),
            "the journal has changed: 2 other imports since the plan"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_plan_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert_eq!(read(&file).unwrap(), None);
    }

    #[test]
    fn what_is_no_plan_is_as_if_it_were_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_of(&folder.path().join("fleetload.db"));
        assert!(file.ends_with("fleetload.db.plan.json"));
        assert!(read(&file).is_err());
        for text in ["", "{}", "[1]", "{\"form\": 1}", &"[".repeat(5_000)] {
            fs::write(&file, text).unwrap();
            assert_eq!(read(&file).unwrap(), None, "{text:.20}");
        }
    }
}
