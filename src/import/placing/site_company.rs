//! Devices that rows put into sites of other companies, where records of earlier imports are among them: those of one import
//! are compared with each other before.

use super::super::identity::owner;
use super::super::prepared::Ready;
use super::Placing;
use crate::error::Result;
use crate::model::id::JobId;
use crate::model::record::{Role, Target, target_of};
use crate::sheet::finding::{Code, Finding};

impl Placing<'_, '_> {
    /// The error at a row whose device and site belong to two companies, as far as the journal knows both in the same way.
    pub(super) fn site_of_another_company(&mut self, ready: &Ready) -> Result<Option<Finding>> {
        let target = |role: Role| target_of(&ready.values.links, role);
        let Some(Target::Job(site)) = target(Role::Site) else { return Ok(None) };
        // A creation names its company, and what changes a device names that.
        let own = match target(Role::Device) {
            Some(Target::Job(device)) => self.company_of(device)?,
            Some(Target::Remote(_)) => None,
            None => target(Role::Company),
        };
        let (Some(own), Some(other)) = (own, self.company_of(site)?) else { return Ok(None) };
        if own == other || std::mem::discriminant(&own) != std::mem::discriminant(&other) {
            return Ok(None);
        }
        let message = "the site and the device belong to two companies: name a site of the device's company";
        let checked = &self.examined.checked;
        let mut finding = checked.finding_at(Code::RefWrongOwner, message, ready.origin.ordinal, "site");
        finding.rule = Some("a site of the device's own company".to_owned());
        Ok(Some(finding))
    }

    fn company_of(&mut self, job: JobId) -> Result<Option<Target>> {
        Ok(owner(&self.job_links_now(job)?))
    }
}
