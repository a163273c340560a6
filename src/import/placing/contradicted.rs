//! A row that changes a record beside rows of earlier imports about it that were not carried out. Of two that ask for different
//! things, which of them stays would be chance: the row is refused while the other one waits, and the other one is cancelled
//! where it failed, so that no `retry` sends it after this one.

use super::super::prepared::Ready;
use super::Placing;
use super::content_now::site_of;
use crate::error::Result;
use crate::journal::KnownJob;
use crate::model::action::setting::{Setting, Wish, asked};
use crate::model::id::JobId;
use crate::model::state::JobState;
use crate::sheet::cross_row::contradictions::{RULE, column_of, does};
use crate::sheet::finding::{Code, Finding, Severity, shown};

/// What a row contradicts.
#[derive(Default)]
pub(super) struct Contradicted {
    /// The error at it, where one of the others is not settled yet.
    pub(super) unsettled: Option<Finding>,
    /// Those that failed, each with the warning at the row.
    pub(super) failed: Vec<(JobId, Finding)>,
}

impl Placing<'_, '_> {
    /// What a row asks for otherwise than such rows; `own` is the job that it corrects or repeats.
    pub(super) fn contradicted(&mut self, ready: &Ready, own: Option<JobId>) -> Result<Contradicted> {
        let mut found = Contradicted::default();
        let wanted: Vec<(Setting, Wish<'_>)> = ready.values.steps.iter().flat_map(asked).collect();
        if wanted.is_empty() {
            return Ok(found);
        }
        for (job, state, step) in self.writer.open_about_record_of(&ready.values)? {
            if Some(job) == own {
                continue;
            }
            // What was carried out of it stays so.
            let steps = self.writer.steps_of(job)?;
            for (setting, wish) in steps.iter().skip(step as usize).flat_map(asked) {
                let Some((_, wanted)) = wanted.iter().find(|(own, _)| *own == setting) else { continue };
                let is_otherwise = match setting {
                    Setting::Licence => false,
                    Setting::Site => site_of(&self.job_links_now(job)?) != site_of(&ready.values.links),
                    _ => *wanted != wish,
                };
                if !is_otherwise {
                    continue;
                }
                let Some(known) = self.writer.by_job(job)? else { continue };
                if !state.is_final() {
                    found.unsettled = Some(self.refusal(ready, &known, (&setting, wish))?);
                    return Ok(found);
                }
                found.failed.push((job, self.warning(ready, &known, (&setting, wish))?));
                break;
            }
        }
        Ok(found)
    }

    fn refusal(
        &self,
        ready: &Ready,
        other: &KnownJob,
        (setting, wish): (&Setting, Wish<'_>),
    ) -> Result<Finding> {
        let import = self.writer.last_import_of(other.job)?;
        let cancel = format!("cancel its import with `fleetload cancel {import}`");
        let settle = match other.state {
            JobState::Held => format!("decide the other with `fleetload resolve {}`", other.job),
            _ if self.writer.is_paused(import)? => {
                format!("send the other with `fleetload resume {import}` and `fleetload run`, or {cancel}")
            }
            _ => format!("send the other with `fleetload run`, or {cancel}"),
        };
        let message = format!(
            "{} of import {import} is not settled yet (job {}, {}) and {}: clear or delete this row; or {settle}, \
             then import this one again",
            shown(&self.writer.place_of(other.job)?),
            other.job,
            other.state,
            does(setting, wish == Wish::Gone),
        );
        Ok(self.contradiction(ready, setting, message))
    }

    fn warning(
        &self,
        ready: &Ready,
        other: &KnownJob,
        (setting, wish): (&Setting, Wish<'_>),
    ) -> Result<Finding> {
        let message = format!(
            "{} of import {} was {} and {}: it is cancelled, so that `fleetload retry` does not send it after this row",
            shown(&self.writer.place_of(other.job)?),
            self.writer.last_import_of(other.job)?,
            other.state,
            does(setting, wish == Wish::Gone),
        );
        Ok(self.contradiction(ready, setting, message).as_severity(Severity::Warning))
    }

    fn contradiction(&self, ready: &Ready, setting: &Setting, message: String) -> Finding {
        let table = ready.table(self.examined);
        let mut finding =
            self.examined.checked.finding_at(Code::RowConflict, message, ready.origin.ordinal, "");
        if let (Some(column), position) = column_of(table, setting) {
            finding = table.name_column(finding, position, column);
        }
        finding.rule = Some(RULE.to_owned());
        finding
    }
}
