//! What needs a person, and the command for it: rows that are held, failed or not imported, a sheet that was set aside, a
//! service that stopped the run.

use super::corrected;
use super::counts;
use super::stand::Stand;
use crate::cli::args::Overrides;
use crate::cli::context::Context;
use crate::cli::settings::Purpose;
use crate::error::Result;
use crate::journal::{Answered, ImportInfo, Journal, RunInfo};
use crate::model::id::ImportId;
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::status::row_words;
use crate::term::{count, counted};

/// Something that needs a person, and the command for it.
pub(super) struct Need {
    pub(in crate::cli) cause: &'static str,
    pub(in crate::cli) count: u64,
    pub(in crate::cli) words: String,
    pub(in crate::cli) command: String,
}

/// What needs a person, the gravest first.
pub(super) fn needs(
    context: &Context<'_>,
    journal: &Journal,
    import: Option<ImportId>,
    tally: &Tally,
    (run, stand): (Option<&RunInfo>, Stand),
) -> Result<Vec<Need>> {
    let mut needs = Vec::new();
    let held = tally.in_state(JobState::Held);
    if held > 0 {
        needs.push(Need {
            cause: "held",
            count: held,
            words: format!(
                "{} your decision: check the service first",
                counted(held, "row needs", "rows need")
            ),
            command: context.again("resolve"),
        });
    }
    if let (Stand::SetAside, Some(run)) = (stand, run) {
        let words = run.detail.as_deref().unwrap_or("a sheet");
        needs.push(Need {
            cause: "set_aside",
            count: counts::moving(tally),
            words: format!("paused: {words}; correct the sheet and run it again, or send the rest anyway"),
            command: context.again("run --despite-rejections"),
        });
    }
    let found = journal.unseen_findings(import)?;
    if let Some(first) = found.first() {
        let number = u64::try_from(found.len()).unwrap_or(u64::MAX);
        needs.push(Need {
            cause: "read_back",
            count: number,
            words: format!(
                "verification found problems with {}: review {}, then mark {} as reviewed",
                counted(number, "record", "records"),
                if number == 1 { "it" } else { "them" },
                if number == 1 { "it" } else { "them" }
            ),
            command: context.again(&format!("resolve {} --seen", first.job)),
        });
    }
    if matches!(stand, Stand::Stopped(_)) {
        needs.push(Need {
            cause: "stopped",
            count: counts::moving(tally),
            words: "the service stopped the run: find the cause, fix it, then run again".to_owned(),
            command: context.again("doctor"),
        });
    }
    if stand != Stand::Running {
        needs.extend(unavailable(context, journal, import)?);
    }
    needs.extend(rejected(context, journal, import)?);
    Ok(needs)
}

/// What the operations that make records do, in words.
const MAKING: [(Operation, &str); 5] = [
    (Operation::AddCompany, "creating companies"),
    (Operation::AddPerson, "creating people"),
    (Operation::AddSite, "creating sites"),
    (Operation::AddDevice, "creating devices"),
    (Operation::AddDeviceFromTemplate, "creating devices from templates"),
];

/// Rows that wait for an operation of which nobody has said where it is. A rehearsal has all of them, and without a
/// profile it is not known yet; what is wrong with one is told by the commands that use it.
fn unavailable(context: &Context<'_>, journal: &Journal, import: Option<ImportId>) -> Result<Vec<Need>> {
    let settings = context.settings(&Purpose::Reckoning, &Overrides::default()).ok();
    let Some(settings) = settings.filter(|settings| settings.account.is_some() && !context.rehearsing.get())
    else {
        return Ok(Vec::new());
    };
    let Ok(endpoints) = settings.endpoints() else { return Ok(Vec::new()) };
    let waiting = journal.waiting_for(import)?.into_iter();
    let missing = waiting.filter(|(operation, _)| !endpoints.available(*operation));
    Ok(missing
        .map(|(operation, rows)| {
            let known = MAKING.iter().find(|(known, _)| *known == operation);
            let what = known.map_or_else(|| operation.to_string(), |(_, words)| format!("{words} ({operation})"));
            let name = settings.profile.as_ref().map_or("NAME", |(name, _)| name.as_str());
            Need {
                cause: "unavailable",
                count: rows,
                words: format!(
                    "{what} is not available in this account: {}; set [profile.{name}.endpoints.{operation}], or \
                    paths = \"assumed\", and check that it answers",
                    counted(rows, "row waits", "rows wait")
                ),
                command: context.again("doctor"),
            }
        })
        .collect())
}

/// Rows of an import that did not get through, and for which no later import answers.
pub(in crate::cli) struct Unanswered {
    /// Those that the service rejected.
    pub(in crate::cli) refused: u64,
    /// Those that were created, with a later step that was rejected.
    pub(in crate::cli) incomplete: u64,
    /// Those that were left out because of their errors.
    pub(in crate::cli) left_out: u64,
    /// Those that were left out with what they belong to.
    pub(in crate::cli) along: u64,
    /// The rows that later imports answer for: how many, and which import.
    pub(in crate::cli) answered: Vec<(u64, ImportId)>,
}

impl Unanswered {
    /// Of an import.
    pub(in crate::cli) fn of(journal: &Journal, import: ImportId) -> Result<Self> {
        let left_out = journal.left_out_tally(Some(import))?;
        let tally = journal.tally(Some(import))?;
        let later = journal.answered_later(import)?;
        let answered = |state| later.iter().map(|later| later.left_out.in_state(state)).sum::<u64>();
        let left = |state| left_out.in_state(state).saturating_sub(answered(state));
        let of_jobs = |state| later.iter().map(|later| later.refused.in_state(state)).sum::<u64>();
        let rows = |later: &Answered| later.refused.count(JobState::is_failed) + later.left_out.total();
        let failed = |state| tally.in_state(state).saturating_sub(left_out.in_state(state) + of_jobs(state));
        Ok(Self {
            refused: failed(JobState::Rejected),
            incomplete: failed(JobState::Incomplete),
            left_out: left(JobState::Rejected),
            along: left(JobState::Skipped),
            answered: later
                .iter()
                .map(|later| (rows(later), later.by))
                .filter(|(rows, _)| *rows > 0)
                .collect(),
        })
    }

    /// How many they are.
    pub(in crate::cli) fn total(&self) -> u64 {
        self.refused + self.incomplete + self.left_out + self.along
    }

    /// Whether nothing is left to be corrected in this import.
    pub(in crate::cli) fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// Which imports answer for its rows, in words: `3 answered by import 2`; empty for none.
    pub(in crate::cli) fn answers(&self) -> String {
        let words =
            self.answered.iter().map(|(rows, by)| format!("{} answered by import {by}", count(*rows)));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// What to do about rows that failed or were not imported, for each import that has some which no later one answers for.
fn rejected(context: &Context<'_>, journal: &Journal, wanted: Option<ImportId>) -> Result<Vec<Need>> {
    let of = |info: &ImportInfo| wanted.is_none_or(|wanted| wanted == info.import);
    let mut needs = Vec::new();
    for info in journal.imports()?.iter().filter(|info| of(info)) {
        let import = info.import;
        let rows = Unanswered::of(journal, import)?;
        let mut put = |cause, (own, along): (u64, u64), what: &str| {
            if own + along > 0 {
                let (words, command) = to_correct(context, info, own);
                let were = if own == 1 { "was" } else { "were" };
                let told = match own {
                    0 => format!("{} of import {import} {what}", counted(along, "row", "rows")),
                    _ => {
                        let told =
                            format!("{} of import {import} {were} {what}", counted(own, "row", "rows"));
                        row_words::with_along(told, own, along)
                    }
                };
                needs.push(Need { cause, count: own + along, words: format!("{told}: {words}"), command });
            }
        };
        put("rejected", (rows.refused, 0), "rejected");
        put("incomplete", (rows.incomplete, 0), "created, but a later step failed");
        let what = if rows.left_out > 0 {
            "not imported because of errors"
        } else {
            "not imported because a row that it depends on was not"
        };
        put("left_out", (rows.left_out, rows.along), what);
        let differing = journal.differing(Some(import))?;
        if differing > 0 {
            needs.push(Need {
                cause: "differs",
                count: differing,
                words: format!(
                    "{} of import {import} {} from what was created earlier: the report lists the columns; put the \
                     earlier values back into the sheet, or change the records in the service",
                    counted(differing, "row", "rows"),
                    if differing == 1 { "differs" } else { "differ" }
                ),
                command: context.again(&format!("report {import}")),
            });
        }
    }
    Ok(needs)
}

/// How rows of an import are corrected, and the command for it; `own` are those with something to correct.
fn to_correct(context: &Context<'_>, info: &ImportInfo, own: u64) -> (String, String) {
    let fix = corrected::fix(context, info);
    let them = if own == 1 { "it" } else { "them" };
    if fix.exists() {
        (
            format!("correct {them} in {}, then run that file", fix.display()),
            corrected::run(context, info, &fix),
        )
    } else {
        (
            format!("write the report, which has {them} in fix.xlsx"),
            context.again(&format!("report {}", info.import)),
        )
    }
}
