//! Findings of verification: whether a record is there, whether a second one is, whether a site was left behind, and the words
//! for it. Pure rules; asking is in [`super`].

use crate::journal::{AuditFinding, Candidate, Work};
use crate::model::action::Action;
use crate::model::id::RemoteId;
use crate::model::key::{self, Likeness};
use crate::model::record::Device;
use crate::run::evidence::matching::{self, RecordMatch};
use crate::service::Found;

/// Whether the record with this id is among those a look-up showed.
pub(super) fn shows(id: RemoteId, found: &[Found]) -> bool {
    found.iter().any(|found| found.id == Some(id))
}

/// The records that have a row's natural key and agree with it in all that can be compared, besides its own record
/// `ours` and those seen before the first send. Where nobody looked then, none can be told from older ones.
pub(super) fn twins(work: &Work, ours: RemoteId, found: &[Found]) -> Vec<(RemoteId, Candidate)> {
    let Some(baseline) = &work.baseline else { return Vec::new() };
    let sent = matching::sent(work);
    found
        .iter()
        .filter_map(|found| Some((found.id?, found)))
        .filter(|(id, _)| *id != ours && !baseline.contains(id))
        .filter(|(_, found)| matching::relate(work, &sent, found) == RecordMatch::Agrees)
        .map(|(id, found)| (id, matching::candidate(found, "equal in all that can be compared")))
        .collect()
}

/// The sites in the device's company that bear the name and the reference it brings along.
pub(super) fn sites(device: &Device, company: Option<RemoteId>, found: &[Found]) -> Vec<Candidate> {
    let equal = |ours: &str, theirs: &Option<String>| {
        theirs.as_deref().is_some_and(|theirs| key::likeness(ours, theirs) == Likeness::Equal)
    };
    let is_meant = |found: &Found| {
        let here = match (found.company, company) {
            (Some(theirs), Some(ours)) => theirs == ours,
            _ => true,
        };
        let named = device.custom_site_name.as_deref().is_none_or(|name| equal(name, &found.name));
        let referred = match device.custom_site_id.as_deref() {
            Some(reference) => equal(reference, &found.reference),
            None => found.reference.is_none(),
        };
        here && named && referred && found.id.is_some()
    };
    found.iter().filter(|found| is_meant(found)).map(|found| matching::candidate(found, "")).collect()
}

/// What was found about a row, all of it together.
#[derive(Debug, Default)]
pub(super) struct RowFindings {
    /// Its record is gone.
    pub(super) vanished: bool,
    /// No look-up shows its record, and none says for certain that it is gone.
    pub(super) is_unseen: bool,
    /// The record with its id belongs to this company, which is not the row's: the id is another record's.
    pub(super) of_company: Option<RemoteId>,
    /// The record with its id has this name, which no row gave it: the id is another record's.
    pub(super) of_another: Option<String>,
    /// Records equal to its own that nobody owns.
    pub(super) twins: Vec<Candidate>,
    /// The name of the site that it brings along, where the sites of that name were looked up.
    pub(super) site: Option<String>,
    /// Those of them that nobody owns.
    pub(super) sites: Vec<Candidate>,
    /// How many of those are its own or those of other devices.
    pub(super) expected_sites: u64,
    /// What an upkeep row changed and is not so any more, in words.
    pub(super) reverted: Vec<String>,
}

impl RowFindings {
    /// The finding as it is noted; `None` when all is as it should be. The gravest gives the code.
    pub(super) fn noted(self, work: &Work) -> Option<AuditFinding> {
        let kind = work.kind.singular();
        let ours = work.remote_id.map(|id| id.to_string()).unwrap_or_default();
        let (mut code, mut words) = (None, Vec::new());
        if !self.reverted.is_empty() {
            code.get_or_insert(AuditFinding::REVERTED);
            words.extend(self.reverted);
        }
        if self.vanished {
            code.get_or_insert(AuditFinding::VANISHED);
            words.push(format!("the {kind} was created with the id {ours} and is missing now"));
        }
        if let Some(company) = self.of_company {
            code.get_or_insert(AuditFinding::VANISHED);
            words.push(format!(
                "the {kind} was created with the id {ours}, and the service shows that id in another company, {company}"
            ));
        }
        let others = ids(&self.twins);
        if let Some(name) = self.of_another {
            code.get_or_insert(AuditFinding::VANISHED);
            let own = match self.twins.is_empty() {
                true => format!("no {kind} equal to the row was found"),
                false => format!("a {kind} equal to the row belongs to no row: {others}"),
            };
            words.push(format!(
                "the {kind} was created with the id {ours}, which the service shows as '{name}'; {own}"
            ));
        } else if !self.twins.is_empty() && (self.vanished || self.is_unseen) {
            // The only one that is seen is none too many.
            code.get_or_insert(AuditFinding::VANISHED);
            if self.is_unseen {
                words.push(format!("the {kind} was created with the id {ours}, which no look-up shows"));
            }
            words.push(format!("a {kind} equal to the row belongs to no row: {others}"));
        } else if !self.twins.is_empty() {
            code.get_or_insert(AuditFinding::DOUBLE);
            words.push(format!(
                "duplicated: beside the {kind} {ours} there is an equal one that belongs to no row: \
                 {others}"
            ));
        }
        let there = u64::try_from(self.sites.len()).unwrap_or(u64::MAX);
        let mut found = self.twins;
        if there > self.expected_sites {
            code.get_or_insert(AuditFinding::ORPHAN_SITE);
            let left = there - self.expected_sites;
            let sites = ids(&self.sites);
            words.push(match (self.expected_sites, left) {
                (0, 1) => format!("a site that the device was to bring along is there, and no row has it: {sites}"),
                (expected, left) => format!(
                    "{there} sites of the name that the device brings along are there, {expected} of them for devices; {left} may be left over: {sites}"
                ),
            });
            found.extend(self.sites);
        }
        Some(AuditFinding { code: code?.to_owned(), message: words.join("; "), found })
    }
}

/// That what an action brought about is not so any more; `seen` is what the service shows instead.
pub(super) fn reverted(action: &Action, seen: Option<&str>) -> String {
    let now = seen.unwrap_or("it is not there now");
    match action {
        Action::Keep(action) => reverted(action, seen),
        Action::PutLabel(label) => format!("the label '{}' was put, and {now}", label.label),
        Action::DeleteLabel(label) => format!("the label '{}' was deleted, and {now}", label.label),
        Action::PutLabels(labels) => {
            format!("the labels '{}' were put, and not all of them are there now", labels.join("', '"))
        }
        Action::PutMetadataEntry(entry) => {
            let value = entry.value.as_deref().unwrap_or_default();
            format!("'{}' was given the value '{value}', and {now}", entry.key)
        }
        Action::DeleteMetadataEntry(entry) => format!("'{}' was deleted, and {now}", entry.key),
        Action::PutMetadata(_) => {
            format!("metadata was put, and {}", seen.unwrap_or("not all of it is there now"))
        }
        Action::SubscribeTemplate(offer) => {
            format!("the device was subscribed to the template '{offer}', and is not now")
        }
        Action::UnsubscribeTemplate(offer) => {
            format!("the device was unsubscribed from the template '{offer}', and is subscribed to it now")
        }
        Action::JoinVpnCloud(offer) => {
            format!("the device was added to the VPN cloud '{offer}', and is not in it now")
        }
        Action::LeaveVpnCloud(offer) => {
            format!("the device was removed from the VPN cloud '{offer}', and is in it now")
        }
        Action::ConfigureVpn(settings) => {
            let now = seen.unwrap_or("the device is not in it now");
            format!("the device was given settings in the VPN cloud '{}', and {now}", settings.cloud)
        }
        Action::Update(_) => {
            let now = seen.unwrap_or("the service does not show the record now");
            format!("its fields were changed, and {now}")
        }
        Action::AssignToSite | Action::Create(_) | Action::AddLicence(_) => {
            format!("it was carried out, and {now}")
        }
    }
}

fn ids(candidates: &[Candidate]) -> String {
    let ids: Vec<String> =
        candidates.iter().filter_map(|candidate| candidate.id).map(|id| id.to_string()).collect();
    ids.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::record::Record;
    use crate::run::evidence::classify::device_with_site;
    use crate::run::tests::{OTHER, OURS, company, device, found, record, site};

    fn all(returned: &[Value]) -> Vec<Found> {
        returned.iter().cloned().map(found).collect()
    }

    #[test]
    fn only_a_new_record_that_agrees_in_all_is_a_twin() {
        let depot = |n| json!({"companyId": OURS, "name": "Depot", "id": record(n)});
        let with = |mut work: Work, baseline: Option<Vec<RemoteId>>| {
            work.baseline = baseline;
            work
        };
        let none = || Some(vec![]);
        let table = [
            ("only ours", with(site("Depot", None), none()), vec![depot(1)], vec![]),
            ("a second one", with(site("Depot", None), none()), vec![depot(1), depot(2)], vec![record(2)]),
            (
                "ours is gone, a second is there",
                with(site("Depot", None), none()),
                vec![depot(2)],
                vec![record(2)],
            ),
            (
                "there before",
                with(site("Depot", None), Some(vec![record(2)])),
                vec![depot(1), depot(2)],
                vec![],
            ),
            ("nobody looked before", with(site("Depot", None), None), vec![depot(1), depot(2)], vec![]),
            (
                "another company's",
                with(site("Depot", None), none()),
                vec![depot(1), json!({"companyId": OTHER, "name": "Depot", "id": record(2)})],
                vec![],
            ),
            (
                "a partial match",
                with(site("Depot", None), none()),
                vec![depot(1), json!({"companyId": OURS, "name": "Depot 2", "id": record(2)})],
                vec![],
            ),
            (
                "another reference",
                with(site("Depot", Some("D1")), none()),
                vec![json!({"companyId": OURS, "name": "Depot", "reference": "D2", "id": record(2)})],
                vec![],
            ),
            (
                "a device with a MAC beside one without",
                with(device("Till", None), none()),
                vec![json!({"name": "Till", "identification": "00:1a:2b:3c:4d:5e", "id": record(2)})],
                vec![],
            ),
            (
                "companies, known by name",
                with(company("Acme"), none()),
                vec![json!({"name": "Acme", "id": record(1)}), json!({"name": "Acme", "id": record(2)})],
                vec![record(2)],
            ),
        ];
        for (case, work, returned, expected) in table {
            let twins = twins(&work, record(1), &all(&returned));
            let ids: Vec<RemoteId> = twins.into_iter().map(|(id, _)| id).collect();
            assert_eq!(ids, expected, "{case}");
        }
    }

    fn bringing(name: Option<&str>, reference: Option<&str>) -> Work {
        let mut work = device("Till", Some("00:1a:2b:3c:4d:5e"));
        if let Action::Create(Record::Device(device)) = &mut work.action {
            device.custom_site_name = name.map(Into::into);
            device.custom_site_id = reference.map(Into::into);
        }
        work
    }

    #[test]
    fn the_site_that_a_device_brings_along_is_known_by_what_the_row_gave() {
        let hq = json!({"companyId": OURS, "name": "HQ", "reference": "R1", "id": record(1)});
        let bare = json!({"companyId": OURS, "name": "HQ", "id": record(1)});
        let table = [
            ("both", bringing(Some("HQ"), Some("R1")), hq.clone(), 1),
            ("reference alone", bringing(None, Some("R1")), hq.clone(), 1),
            ("name alone", bringing(Some("HQ"), None), bare, 1),
            ("a site with a reference of its own", bringing(Some("HQ"), None), hq.clone(), 0),
            ("another reference", bringing(Some("HQ"), Some("R2")), hq.clone(), 0),
            ("another name", bringing(Some("HQ 2"), Some("R1")), hq, 0),
            (
                "another company's",
                bringing(Some("HQ"), None),
                json!({"companyId": OTHER, "name": "HQ", "id": record(1)}),
                0,
            ),
        ];
        for (case, work, returned, expected) in table {
            let device = device_with_site(&work).expect("a device with a site");
            assert_eq!(sites(device, Some(OURS), &all(&[returned])).len(), expected, "{case}");
        }
        assert!(device_with_site(&device("Till", None)).is_none());
    }

    #[test]
    fn the_gravest_finding_gives_the_code_and_all_of_them_the_words() {
        let mut work = bringing(Some("HQ"), None);
        work.remote_id = Some(record(1));
        let some = |n| matching::candidate(&found(json!({"name": "HQ", "id": record(n)})), "");
        let noted = |findings: RowFindings| findings.noted(&work).map(|noted| (noted.code, noted.message));
        assert_eq!(noted(RowFindings::default()), None);
        let own = RowFindings { sites: vec![some(5)], expected_sites: 1, ..RowFindings::default() };
        assert_eq!(noted(own), None, "the device's own site");
        let table = [
            (
                RowFindings { vanished: true, ..RowFindings::default() },
                AuditFinding::VANISHED,
                vec![record(1)],
            ),
            (
                RowFindings { vanished: true, twins: vec![some(2)], ..RowFindings::default() },
                AuditFinding::VANISHED,
                vec![record(1), record(2)],
            ),
            (
                RowFindings { is_unseen: true, twins: vec![some(2)], ..RowFindings::default() },
                AuditFinding::VANISHED,
                vec![record(1), record(2)],
            ),
            (
                RowFindings { twins: vec![some(2)], ..RowFindings::default() },
                AuditFinding::DOUBLE,
                vec![record(1), record(2)],
            ),
            (
                RowFindings { sites: vec![some(5), some(6)], expected_sites: 1, ..RowFindings::default() },
                AuditFinding::ORPHAN_SITE,
                vec![record(5), record(6)],
            ),
            (
                RowFindings { sites: vec![some(5)], ..RowFindings::default() },
                AuditFinding::ORPHAN_SITE,
                vec![record(5)],
            ),
        ];
        for (findings, code, ids) in table {
            let (got, message) = noted(findings).expect("a finding");
            assert_eq!(got, code);
            for id in ids {
                assert!(message.contains(&id.to_string()), "{message}");
            }
        }
    }
}
