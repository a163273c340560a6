//! Devices with a custom site (`customSiteId`, `customSiteName`; specification 2.5): the service makes the site with the
//! device, and may fail between. Such a row is never sent again by itself, and the site that stands alone is named.

use super::reconcile::cause;
use crate::journal::Work;
use crate::model::id::JobId;
use crate::model::key::{Likeness, likeness};
use crate::model::reason::Reason;
use crate::model::record::Record;
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::evidence::lookups;
use crate::service::{Found, Lookup};

impl Dispatcher {
    /// The look-up for the site that may have been made without its device.
    pub(in crate::run) fn custom_site_lookup(&self, work: &Work) -> Option<Lookup> {
        lookups::of_custom_site(work).filter(|lookup| !work.executed && self.gates.usable(lookup.operation()))
    }

    /// The device is not there; holds the row, and names the site that was made for it, if it is there.
    pub(in crate::run) fn on_custom_site(&mut self, job: JobId, answer: LookupAnswer) {
        let Some(work) = self.in_flight.work(job) else { return };
        let (code, found_out) = if work.absent_reads > 0 {
            (Reason::Absent, "the device is not found")
        } else {
            (Reason::LookupInconclusive, "no look-up says for certain whether the device is there")
        };
        let mut reason = format!("{}, and {found_out}; sending it could make its site twice", cause(work));
        match answer {
            LookupAnswer::Records(found) => {
                for site in found.iter().filter(|found| is_custom_site(&work.record, found)) {
                    let id = site.id.map(|id| format!(" (id {id})")).unwrap_or_default();
                    reason.push_str(&format!(
                        "; the site '{}'{id} is there, perhaps made without its device",
                        site.name.as_deref().unwrap_or_default()
                    ));
                }
            }
            LookupAnswer::Inconclusive(_) | LookupAnswer::Failed(_) | LookupAnswer::Unavailable => {
                reason.push_str("; the service could not be asked about that site");
            }
        }
        self.hold(job, code.as_str(), reason, Vec::new());
    }
}

/// Whether a site is the one that creating the device makes: its name, and its reference where both have one.
fn is_custom_site(record: &Record, site: &Found) -> bool {
    let Record::Device(device) = record else { return false };
    let equal = |ours: Option<&str>, theirs: Option<&str>| match (ours, theirs) {
        (Some(ours), Some(theirs)) => likeness(ours, theirs) != Likeness::Different,
        _ => true,
    };
    let reference = device.custom_site_id.as_deref();
    equal(device.custom_site_name.as_deref().or(reference), site.name.as_deref())
        && equal(reference, site.reference.as_deref())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::example::{OURS, device, found, record, site};

    fn kiosk(reference: Option<&str>, name: Option<&str>) -> Work {
        let mut work = device("Till", None);
        if let Record::Device(device) = &mut work.record {
            device.custom_site_id = reference.map(str::to_owned);
            device.custom_site_name = name.map(str::to_owned);
        }
        work
    }

    #[test]
    fn the_site_of_a_device_is_known_by_name_and_reference() {
        let there = |name: &str, reference: Option<&str>| {
            found(json!({"id": record(1), "companyId": OURS, "name": name, "reference": reference}))
        };
        let table = [
            (kiosk(Some("K1"), Some("Kiosk")), there("Kiosk", Some("K1")), true),
            (kiosk(Some("K1"), Some("Kiosk")), there("Kiosk", Some("K2")), false),
            (kiosk(Some("K1"), Some("Kiosk")), there("Kiosk 2", Some("K1")), false),
            (kiosk(None, Some("Kiosk")), there("KIOSK", None), true),
            (kiosk(Some("K1"), None), there("K1", Some("K1")), true),
            (site("Kiosk", None), there("Kiosk", None), false),
        ];
        for (work, site, expected) in table {
            assert_eq!(is_custom_site(&work.record, &site), expected, "{:?} {site:?}", work.record);
        }
    }

    #[test]
    fn only_a_device_that_makes_a_site_has_one_to_ask_for() {
        let expected = Lookup::SitesByName { name: "Kiosk".to_owned(), company: Some(OURS) };
        assert_eq!(lookups::of_custom_site(&kiosk(Some("K1"), Some("Kiosk"))), Some(expected));
        assert_eq!(lookups::of_custom_site(&device("Till", None)), None);
    }
}
