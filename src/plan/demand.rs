//! What rows ask of the service, added up: creations, steps after them, look-ups before them, and what could be
//! done about a lost answer.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::action::{Action, Repeat};
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::policy::InDoubt;
use crate::model::record::Role;
use crate::service::{self, Lookup};

/// How it would be found out whether a record was created after its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By looking it up; what is not there is sent again.
    LookUp,
    /// By looking it up; what is not there is held for a person (`in_doubt = "hold"`).
    LookUpOrHold,
    /// By sending it again: the service itself refuses a second device with the same MAC address.
    SendAgain,
    /// By looking at the state of the record that an upkeep row is about.
    LookAtState,
    /// By a person.
    Person,
}

impl Way {
    /// What is said of it, after the rows that it is about.
    pub const fn words(self) -> &'static str {
        match self {
            Self::LookUp => "looked up, and adopted or sent again",
            Self::LookUpOrHold => "looked up, and adopted or put on hold: in_doubt is \"hold\"",
            Self::SendAgain => "sent again; the service itself refuses a second one",
            Self::LookAtState => "the state of the record is looked up; what is not so is sent again",
            Self::Person => "put on hold: you must check the service",
        }
    }
}

/// What one row asks of the service. Few rows differ in it, so it is kept once for all that are alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Asks {
    kind: Kind,
    /// The creation, unless it is done, and the steps after it that are still to be done.
    sent: Vec<Operation>,
    /// The look-ups that would find its record, best first, none once it is made; of an upkeep row those that show its state.
    found_by: Vec<Operation>,
    /// The lists that show the id of what the row names by its name; of each group one is needed.
    named_by: Vec<Vec<Operation>>,
    /// Whether sending the creation again is safe.
    safe: bool,
    /// Whether the record is still to be made.
    creates: bool,
    /// Whether no cell of the row was changed since it was exported.
    is_unchanged: bool,
}

impl Asks {
    /// What a row of a kind asks whose steps these are, of which nothing is done yet.
    pub fn of<'a>(kind: Kind, steps: impl IntoIterator<Item = &'a Action>) -> Self {
        let mut asks = Self {
            kind,
            sent: Vec::new(),
            found_by: Vec::new(),
            named_by: Vec::new(),
            safe: false,
            creates: false,
            is_unchanged: !kind.is_record(),
        };
        for step in steps {
            asks.is_unchanged &= step.is_as_exported();
            asks.named_by.extend(lists_of_names(kind, step));
            asks.sent.extend(step.operation(kind).filter(|_| step.asks_for_a_change()));
            if let Action::Create(record) = step {
                asks.found_by = record.kind().found_by(record.has_mac());
                asks.safe = step.repeat() == Repeat::Refused;
                asks.creates = true;
            } else if !kind.is_record() {
                for operation in lookups_of_upkeep(kind, step) {
                    if !asks.found_by.contains(&operation) {
                        asks.found_by.push(operation);
                    }
                }
            }
        }
        asks
    }

    /// The operations to be sent, in their order.
    pub fn sent(&self) -> &[Operation] {
        &self.sent
    }

    /// Whether the row creates a record, or has created it.
    pub fn creates_record(&self) -> bool {
        self.kind.is_record()
    }

    /// Whether no cell of the row was changed since it was exported.
    pub fn is_unchanged(&self) -> bool {
        self.is_unchanged
    }

    /// The list without which it is not known what the row names, where none that shows it can be asked.
    pub fn lacking_list(&self, available: &dyn Fn(Operation) -> bool) -> Option<Operation> {
        let lacking = self.named_by.iter().find(|lists| !lists.iter().any(|&list| available(list)));
        lacking.and_then(|lists| lists.last()).copied()
    }
}

/// The rows of some sheets, added up.
#[derive(Debug, Clone, Default)]
pub struct Demand {
    rows: BTreeMap<Kind, u64>,
    sent: BTreeMap<Operation, u64>,
    /// Jobs and their rows by the look-ups that would find their record, best first, and whether sending again is safe.
    found_by: BTreeMap<(Kind, Vec<Operation>, bool), FoundBy>,
    /// The jobs of rows that create records by the lists that show the id of what they name, one of each group.
    named_by: BTreeMap<Vec<Operation>, u64>,
}

/// Jobs that are looked up alike. Several rows may be one job.
#[derive(Debug, Clone, Copy, Default)]
struct FoundBy {
    jobs: u64,
    /// Of those for which something is sent.
    rows: u64,
}

impl Demand {
    /// Adds a row that nothing is done of yet.
    pub fn add<'a>(&mut self, kind: Kind, steps: impl IntoIterator<Item = &'a Action>) {
        self.ask(&Asks::of(kind, steps), 1, 1);
    }

    /// Adds jobs that ask this, and their rows.
    pub fn ask(&mut self, asks: &Asks, jobs: u64, rows: u64) {
        *self.rows.entry(asks.kind).or_default() += rows;
        for &operation in &asks.sent {
            *self.sent.entry(operation).or_default() += jobs;
        }
        if asks.creates_record() {
            for lists in &asks.named_by {
                *self.named_by.entry(lists.clone()).or_default() += jobs;
            }
        }
        if asks.creates || !asks.kind.is_record() {
            let found = self.found_by.entry((asks.kind, asks.found_by.clone(), asks.safe)).or_default();
            found.jobs += jobs;
            found.rows += if asks.sent.is_empty() { 0 } else { rows };
        }
    }

    /// Rows by kind.
    pub fn rows(&self) -> &BTreeMap<Kind, u64> {
        &self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The operations that rows need and that cannot be used.
    pub fn unavailable(&self, available: &dyn Fn(Operation) -> bool) -> Vec<Operation> {
        let lacking = self.named_by.keys().filter(|lists| !lists.iter().any(|&list| available(list)));
        let sent = self.sent.keys().copied().filter(|&operation| !available(operation));
        sent.chain(lacking.filter_map(|lists| lists.last()).copied()).collect()
    }

    /// The operations that the rows need, with their calls.
    pub fn sent(&self) -> &BTreeMap<Operation, u64> {
        &self.sent
    }

    /// The look-ups before sending: one a row, and those for what it names by a name. The children of a company are listed
    /// once for all its rows, which are counted as one each here, so this is the most it can be.
    pub(super) fn looked_up(&self, available: &dyn Fn(Operation) -> bool) -> BTreeMap<Operation, u64> {
        let mut calls = BTreeMap::new();
        for ((kind, look_ups, _), FoundBy { jobs, .. }) in &self.found_by {
            // A row of a record needs the best of them, an upkeep row all.
            let most = if kind.is_record() { 1 } else { look_ups.len() };
            for &operation in look_ups.iter().filter(|&&operation| available(operation)).take(most) {
                *calls.entry(operation).or_default() += jobs;
            }
        }
        for (lists, jobs) in &self.named_by {
            for &operation in lists.iter().filter(|&&operation| available(operation)) {
                *calls.entry(operation).or_default() += jobs;
            }
        }
        calls
    }

    /// The look-ups that read back what was made: one a row, by its key, or by its id where that alone is available; of an
    /// upkeep row those that show its state.
    pub(super) fn read_back(&self, available: &dyn Fn(Operation) -> bool) -> BTreeMap<Operation, u64> {
        let mut calls = BTreeMap::new();
        for ((kind, look_ups, _), FoundBy { jobs, rows }) in &self.found_by {
            if !kind.is_record() {
                // What asks for nothing is not read back.
                for &operation in look_ups.iter().filter(|&&operation| available(operation)) {
                    *calls.entry(operation).or_default() += jobs.min(rows);
                }
                continue;
            }
            let ways = kind.read_back_by(look_ups.contains(&Operation::GetDeviceByMac));
            if let Some(operation) = ways.into_iter().find(|&operation| available(operation)) {
                *calls.entry(operation).or_default() += jobs;
            }
        }
        calls
    }

    /// How doubt about the creations would be resolved.
    pub(super) fn doubts(
        &self,
        available: &dyn Fn(Operation) -> bool,
        policy: InDoubt,
    ) -> BTreeMap<(Kind, Way), u64> {
        let mut doubts = BTreeMap::new();
        let sent = self.found_by.iter().filter(|(_, found)| found.rows > 0);
        for ((kind, look_ups, safe), FoundBy { rows, .. }) in sent {
            let is_available = |operation: &Operation| available(*operation);
            let way = if !kind.is_record() && !look_ups.is_empty() && look_ups.iter().all(is_available) {
                Way::LookAtState
            } else if kind.is_record() && look_ups.iter().any(is_available) {
                match policy {
                    InDoubt::Settle => Way::LookUp,
                    InDoubt::Hold => Way::LookUpOrHold,
                }
            } else if *safe {
                Way::SendAgain
            } else {
                Way::Person
            };
            *doubts.entry((*kind, way)).or_default() += rows;
        }
        doubts
    }
}

/// The lists that show the ids of what a step names by its name, in the order in which they are asked; one of each group is
/// enough.
fn lists_of_names(kind: Kind, action: &Action) -> Vec<Vec<Operation>> {
    let id = RemoteId::nil();
    let lists = |action: &Action| -> Vec<Operation> {
        service::name_lookups(action, kind, id).iter().map(Lookup::operation).collect()
    };
    let mut groups = vec![lists(action)];
    if let Action::ConfigureVpn(settings) = action
        && settings.cloud.id().is_none()
    {
        let mut settings = settings.clone();
        settings.cloud.set_id(id);
        groups.push(lists(&Action::ConfigureVpn(settings)));
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The look-ups that show whether what an upkeep row asks for is so, in their order.
fn lookups_of_upkeep(kind: Kind, action: &Action) -> Vec<Operation> {
    let (id, links) = (RemoteId::nil(), [(Role::Site, RemoteId::nil())]);
    let mut look_ups: Vec<Operation> = lists_of_names(kind, action).into_iter().flatten().collect();
    let mut action = action.clone();
    action.set_id(id);
    let state = service::look_up(&action, kind, id, &links).map(|lookup| lookup.operation());
    look_ups.extend(state.filter(|operation| !look_ups.contains(operation)));
    look_ups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::Offer;
    use crate::model::action::record_update::RecordUpdate;
    use crate::model::kind::Upkeep;
    use crate::model::record::Record;
    use crate::testing;

    #[test]
    fn a_row_of_several_steps_is_looked_up_for_each() {
        let site = Kind::Upkeep(Upkeep::SiteUpdates);
        let fields = [("name".to_owned(), "Head office".into())].into();
        let update = Action::Update(RecordUpdate { called: "HQ".into(), fields, ..RecordUpdate::default() });
        let mut demand = Demand::default();
        demand.add(site, [&update, &Action::PutLabels(vec!["north".into()])]);
        let looked_up: Vec<Operation> = demand.looked_up(&|_| true).into_keys().collect();
        assert_eq!(looked_up, [Operation::ListSiteLabels, Operation::GetSite]);
    }

    #[test]
    fn what_a_new_device_names_by_a_name_is_looked_up_once_for_each_row() {
        let till = Action::Create(Record::Device(testing::device("Till", None)));
        let mut demand = Demand::default();
        for (template, cloud) in [("Retail", "Guest"), ("Office", "Guest")] {
            let later = [
                Action::SubscribeTemplate(Offer::named(template)),
                Action::JoinVpnCloud(Offer::named(cloud)),
            ];
            demand.add(Kind::Device, [&till, &later[0], &later[1]]);
        }
        let looked_up = demand.looked_up(&|operation| operation != Operation::FindDevicesByName);
        let lists = [
            Operation::ListAssignableTemplates,
            Operation::ListAssignedTemplates,
            Operation::ListDeviceVpnClouds,
            Operation::ListJoinableVpnClouds,
        ];
        assert_eq!(looked_up, lists.map(|list| (list, 2)).into());
    }

    #[test]
    fn doubt_is_resolved_by_looking_else_by_sending_again_else_by_a_person() {
        let mac = Some("00:1a:2b:3c:4d:5e");
        let [company, site, person] =
            [Kind::Company, Kind::Site, Kind::Person].map(|kind| move || testing::record(kind));
        let device = |mac| Record::Device(testing::device("Till", mac));
        let mut makes_a_site = testing::device("Till", mac);
        makes_a_site.custom_site_name = Some("HQ".into());
        let makes_a_site = Record::Device(makes_a_site);
        let nothing: &[Operation] = &[];
        let table: Vec<(Record, &[Operation], Way)> = vec![
            (company(), nothing, Way::Person),
            (company(), &[Operation::GetChildCompanies], Way::LookUp),
            (company(), &[Operation::FindCompaniesByName], Way::Person),
            (site(), nothing, Way::Person),
            (site(), &[Operation::FindSitesByName], Way::LookUp),
            (person(), nothing, Way::Person),
            (person(), &[Operation::GetPersonByUsername], Way::LookUp),
            (device(None), nothing, Way::Person),
            (device(None), &[Operation::GetDeviceByMac], Way::Person),
            (device(None), &[Operation::FindDevicesByName], Way::LookUp),
            (device(mac), nothing, Way::SendAgain),
            (device(mac), &[Operation::GetDeviceByMac], Way::LookUp),
            (device(mac), &[Operation::FindDevicesByName], Way::LookUp),
            (makes_a_site, nothing, Way::Person),
        ];
        for (record, usable, expected) in table {
            let mut demand = Demand::default();
            let kind = record.kind();
            demand.add(kind, [&Action::Create(record.clone())]);
            let doubts = |policy| demand.doubts(&|operation| usable.contains(&operation), policy);
            let way = |way| BTreeMap::from([((kind, way), 1)]);
            assert_eq!(doubts(InDoubt::Settle), way(expected), "{record:?} {usable:?}");
            // What is not found is held then; where nothing can be looked up, the policy changes nothing.
            let held = if expected == Way::LookUp { Way::LookUpOrHold } else { expected };
            assert_eq!(doubts(InDoubt::Hold), way(held), "{record:?} {usable:?}");
        }
    }
}
