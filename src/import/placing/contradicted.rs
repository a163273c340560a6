//! A row that changes a record beside rows of earlier imports about it that were not carried out. Of two that ask for different
//! things, which of them stays would be chance: the row is refused while the other one waits, and the other one is cancelled
//! where it failed, so that no `retry` sends it after this one.

use super::super::prepared::Ready;
use super::Placing;
use super::content_now::site_of;
use crate::error::Result;
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
        let mut wanted: Vec<(Setting, Wish<'_>)> = ready.values.steps.iter().flat_map(asked).collect();
        // A record has many licence codes.
        wanted.retain(|(setting, _)| *setting != Setting::Licence);
        if wanted.is_empty() {
            return Ok(found);
        }
        let settings = wanted.iter().map(|(setting, _)| setting);
        for (job, state, step) in self.writer.open_about_record_of(&ready.values, settings)? {
            if Some(job) == own {
                continue;
            }
            // What was carried out of it stays so.
            let steps = self.writer.steps_of(job)?;
            for (setting, wish) in steps.iter().skip(step as usize).flat_map(asked) {
                let Some((_, wanted)) = wanted.iter().find(|(own, _)| *own == setting) else { continue };
                let is_otherwise = match setting {
                    Setting::Site => site_of(&self.job_links_now(job)?) != site_of(&ready.values.links),
                    _ => *wanted != wish,
                };
                if !is_otherwise {
                    continue;
                }
                let finding = self.contradiction(ready, (job, state), (&setting, wish))?;
                if !state.is_final() {
                    found.unsettled = Some(finding);
                    return Ok(found);
                }
                found.failed.push((job, finding));
                break;
            }
        }
        Ok(found)
    }

    /// What is said at a row of another one, by where that stands.
    fn contradiction(
        &self,
        ready: &Ready,
        (job, state): (JobId, JobState),
        (setting, wish): (&Setting, Wish<'_>),
    ) -> Result<Finding> {
        let import = self.writer.last_import_of(job)?;
        let place = shown(&self.writer.place_of(job)?);
        let does = does(setting, wish == Wish::Gone);
        let (severity, message) = if state.is_final() {
            let message = format!(
                "{place} of import {import} was {state} and {does}: it is cancelled, so that `fleetload retry` does not \
                 send it after this row"
            );
            (Severity::Warning, message)
        } else {
            let cancel = format!("cancel its import with `fleetload cancel {import}`");
            let settle = match state {
                JobState::Held => format!("decide the other with `fleetload resolve {job}`"),
                _ if self.writer.is_paused(import)? => {
                    format!(
                        "send the other with `fleetload resume {import}` and `fleetload run`, or {cancel}"
                    )
                }
                _ => format!("send the other with `fleetload run`, or {cancel}"),
            };
            let message = format!(
                "{place} of import {import} is not settled yet (job {job}, {state}) and {does}: clear or delete this row; \
                 or {settle}, then import this one again"
            );
            (Severity::Error, message)
        };
        let table = ready.table(self.examined);
        let mut finding =
            self.examined.checked.finding_at(Code::RowConflict, message, ready.origin.ordinal, "");
        if let (Some(column), position) = column_of(table, setting) {
            finding = table.name_column(finding, position, column);
        }
        finding.rule = Some(RULE.to_owned());
        Ok(finding.as_severity(severity))
    }
}
