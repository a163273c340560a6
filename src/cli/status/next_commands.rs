//! The commands that a status names: where the reports of an import go, how its corrected rows are run, and which
//! operations the account lacks.

use std::path::PathBuf;

use crate::advice::Advice;
use crate::cli::args::options::Overrides;
use crate::cli::context::{Context, absolute};
use crate::cli::settings::Purpose;
use crate::error::Result;
use crate::journal::{ImportInfo, Journal};
use crate::model::id::ImportId;
use crate::model::operation::Operation;
use crate::report;
use crate::status::next_command::Again;
use crate::status::{Commands, Correction, ImportFacts, Status, Step, Unavailable};

/// The folder of the reports of an import.
pub(in crate::cli) fn folder(context: &Context<'_>, info: &ImportInfo) -> PathBuf {
    report::folder(&context.common.reports, &info.import.to_string(), info)
}

/// The commands that are told of an import: what is corrected is read as its files were, whatever was typed for the
/// command at hand.
pub(in crate::cli) fn commands(context: &Context<'_>, info: &ImportInfo) -> Again {
    NextCommands::of(context).of_import(info)
}

/// What commands are told with: the options of the command at hand, and the folder of the reports.
#[derive(Debug, Clone)]
pub(in crate::cli) struct NextCommands {
    pub(in crate::cli) again: Again,
    reports: PathBuf,
    is_watched: bool,
}

impl NextCommands {
    /// As a command was typed.
    pub(in crate::cli) fn of(context: &Context<'_>) -> Self {
        let is_watched = context.signals.is_some();
        Self { again: context.commands(), reports: context.common.reports.clone(), is_watched }
    }

    /// The same for somebody who may read them in another folder.
    pub(in crate::cli) fn elsewhere(context: &Context<'_>) -> Self {
        let reports = absolute(&context.common.reports);
        Self { again: context.commands_elsewhere(), reports, ..Self::of(context) }
    }

    fn of_import(&self, info: &ImportInfo) -> Again {
        match &info.reading {
            Some(reading) => self.again.clone().reading(reading.clone()),
            None => self.again.clone(),
        }
    }

    /// How the rows of an import are corrected. A run that was killed, or is at work, has not written those that failed in it.
    fn correction(&self, facts: &ImportFacts) -> Correction {
        let info = &facts.info;
        let folder = report::folder(&self.reports, &info.import.to_string(), info);
        let has_all = report::reported_counts(&folder).is_some_and(|told| {
            let mut failed = told.counts.iter().filter(|(state, _)| state.is_failed());
            failed.all(|(&state, &rows)| rows == facts.tally.in_state(state))
        });
        let fix = folder.join(report::FIX);
        Correction { is_there: has_all && fix.exists(), fix, again: self.of_import(info) }
    }

    /// What `tell` makes of the commands that a status names.
    pub(in crate::cli) fn with<T>(
        &self,
        unavailable: Vec<Unavailable>,
        tell: impl FnOnce(&Commands<'_>) -> T,
    ) -> T {
        let correction = |facts: &ImportFacts| self.correction(facts);
        let (again, is_watched) = (&self.again, self.is_watched);
        tell(&Commands { again, correction: &correction, unavailable, in_report: false, is_watched })
    }
}

/// Says what to type next, by how the rows stand; that.
pub(in crate::cli) fn tell_next(context: &Context<'_>, status: &Status) -> Vec<Step> {
    let steps = NextCommands::of(context).with(Vec::new(), |commands| status.next(commands));
    let mut advice = Advice::new();
    for (at, Step { words, command }) in steps.iter().enumerate() {
        let words = if words.is_empty() { String::new() } else { format!("{words}: ") };
        advice = advice.words(if at == 0 { "" } else { "\n" }).words(words).command(command);
    }
    if !advice.is_empty() {
        context.terminal.hint(advice);
    }
    steps
}

/// Rows that wait for an operation of which nobody has said where it is. A rehearsal has all of them, and without a
/// profile it is not known yet; what is wrong with one is told by the commands that use it.
pub(super) fn unavailable(
    context: &Context<'_>,
    journal: &Journal,
    import: Option<ImportId>,
) -> Result<Vec<Unavailable>> {
    let settings = context.settings(&Purpose::Reckoning, &Overrides::default()).ok();
    let Some(settings) = settings.filter(|settings| settings.account.is_some() && !context.rehearsing.get())
    else {
        return Ok(Vec::new());
    };
    let Ok(endpoints) = settings.endpoints() else { return Ok(Vec::new()) };
    let profile = settings.profile_name();
    let missing = Operation::ALL.iter().copied().filter(|operation| !endpoints.available(*operation));
    let waiting = journal.waiting_for(import, &missing.collect::<Vec<_>>())?.into_iter();
    Ok(waiting
        .map(|(operation, rows)| Unavailable { operation, rows, profile: profile.to_owned() })
        .collect())
}

/// An import by its number.
pub(in crate::cli) fn import(journal: &Journal, import: ImportId) -> Result<ImportInfo> {
    ImportInfo::find(&journal.imports()?, import).cloned()
}
