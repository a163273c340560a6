//! A row that changes a record beside rows of earlier imports about it that are not settled yet: where two ask for different
//! things, both would be carried out, and which of them stays would be chance.

use super::super::prepared::Ready;
use super::Placing;
use super::content_now::site_of;
use crate::error::Result;
use crate::journal::KnownJob;
use crate::model::action::setting::{Setting, Wish, asked};
use crate::model::id::JobId;
use crate::model::state::JobState;
use crate::sheet::cross_row::contradictions::{RULE, column_of, does};
use crate::sheet::finding::{Code, Finding, shown};

impl Placing<'_, '_> {
    /// The error at a row that asks for something else than such a row; `own` is the job that it corrects or repeats.
    pub(super) fn contradicted(&mut self, ready: &Ready, own: Option<JobId>) -> Result<Option<Finding>> {
        let wanted: Vec<(Setting, Wish<'_>)> = ready.values.steps.iter().flat_map(asked).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        for job in self.writer.unsettled_about_record_of(&ready.values)? {
            if Some(job) == own {
                continue;
            }
            let steps = self.writer.steps_of(job)?;
            for (setting, wish) in steps.iter().flat_map(asked) {
                let Some((_, wanted)) = wanted.iter().find(|(own, _)| *own == setting) else { continue };
                let is_otherwise = match setting {
                    Setting::Licence => false,
                    Setting::Site => site_of(&self.job_links_now(job)?) != site_of(&ready.values.links),
                    _ => *wanted != wish,
                };
                if is_otherwise && let Some(known) = self.writer.by_job(job)? {
                    return self.contradiction(ready, &known, (&setting, wish)).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn contradiction(
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
        let table = ready.table(self.examined);
        let mut finding =
            self.examined.checked.finding_at(Code::RowConflict, message, ready.origin.ordinal, "");
        if let (Some(column), position) = column_of(table, setting) {
            finding = table.name_column(finding, position, column);
        }
        finding.rule = Some(RULE.to_owned());
        Ok(finding)
    }
}
