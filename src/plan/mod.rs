//! What would happen, before anything does: creations and calls by operation, what is unavailable, how doubt would
//! be resolved, quota days and finish time. Pure: rows come in as records, the rest as a few small values.
//!
//! Reading the rows is left to the import, showing the plan to the floor above.

pub mod forecast;

mod demand;

use std::collections::BTreeMap;

use serde::Serialize;

use self::forecast::{Allowance, forecast};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::time::Moment;

pub use demand::{Demand, Way};

/// What is known of the service and its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Requests a second for each operation; `None` for no limit.
    pub rate: Option<f64>,
    /// Creations that a day allows us, as far as it is known.
    pub quota: Option<Allowance>,
    /// When the run would begin.
    pub now: Moment,
    /// Whether every record that was made is read back before the run ends.
    pub read_back: bool,
}

/// The calls of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// The operation.
    pub operation: Operation,
    /// How many calls.
    pub calls: u64,
    /// Whether the profile says where the operation is.
    pub available: bool,
    /// Whether each call counts against the daily quota.
    pub counted: bool,
}

/// How doubt about the creations of one kind would be resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Doubts {
    /// The kind.
    pub kind: Kind,
    /// In which way.
    pub way: Way,
    /// How many rows.
    pub rows: u64,
}

/// What would happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Rows by kind, in the order of creation; parents go before their children within a kind.
    pub rows: BTreeMap<Kind, u64>,
    /// What would be sent to create and to complete the rows, in the order of creation.
    pub sent: Vec<Calls>,
    /// The look-ups before sending. Unavailable ones are left out of a run.
    pub looked_up: Vec<Calls>,
    /// The look-ups at the end, which read back what was made; as many as those before sending, at most.
    pub read_back: Vec<Calls>,
    /// Creations that count against the daily quota.
    pub creations: u64,
    /// UTC days on which something is created; `None` when it would never end.
    pub days: Option<u64>,
    /// When the last row would be done, if nothing goes wrong.
    pub finish: Option<Moment>,
    /// How doubt would be resolved, by kind.
    pub doubts: Vec<Doubts>,
}

impl Plan {
    /// Plans for the rows of `demand`; `available` says whether an operation can be used.
    pub fn new(demand: &Demand, available: &dyn Fn(Operation) -> bool, terms: &Terms) -> Self {
        let calls = |(&operation, &calls): (&Operation, &u64)| Calls {
            operation,
            calls,
            available: available(operation),
            counted: operation.creates(),
        };
        let mut sent: Vec<_> = demand.sent().iter().map(calls).collect();
        sent.sort_by_key(|calls| order(calls.operation));
        let looked_up: Vec<_> = demand.looked_up(available).iter().map(calls).collect();
        let read_back: Vec<_> = match terms.read_back {
            true => demand.read_back(available).iter().map(calls).collect(),
            false => Vec::new(),
        };
        let creations = sent.iter().filter(|calls| calls.counted).map(|calls| calls.calls).sum();
        let (days, finish) = end((&sent, &looked_up, &read_back), creations, terms);
        let doubts = demand
            .doubts(available)
            .into_iter()
            .map(|((kind, way), rows)| Doubts { kind, way, rows })
            .collect();
        Self { rows: demand.rows().clone(), sent, looked_up, read_back, creations, days, finish, doubts }
    }

    /// Operations that rows need and that the profile does not say where to find.
    pub fn unavailable(&self) -> Vec<Operation> {
        self.sent.iter().filter(|calls| !calls.available).map(|calls| calls.operation).collect()
    }
}

/// Companies come first, then what is in them; steps after a creation come last.
fn order(operation: Operation) -> (u8, Operation) {
    let place = match operation {
        Operation::AddCompany => 0,
        Operation::AddSite => 1,
        Operation::AddPerson => 2,
        Operation::AddDevice | Operation::AddDeviceFromTemplate => 3,
        _ => 4,
    };
    (place, operation)
}

/// The operations run side by side, each at its own pace, so the longest of them decides; the quota may be longer.
/// What was made is read back once all of it is done.
fn end(
    (sent, looked_up, read_back): (&[Calls], &[Calls], &[Calls]),
    creations: u64,
    terms: &Terms,
) -> (Option<u64>, Option<Moment>) {
    let most = |calls: &mut dyn Iterator<Item = &Calls>| calls.map(|calls| calls.calls).max().unwrap_or(0);
    let longest_creation = most(&mut sent.iter().filter(|calls| calls.counted));
    let longest = most(&mut sent.iter().chain(looked_up));
    // Without a limit the pace is that of the machine, which nobody knows beforehand.
    let Some(rate) = terms.rate else { return (None, None) };
    #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
    let pace = if longest_creation == 0 { rate } else { rate * creations as f64 / longest_creation as f64 };
    let created = forecast(creations, pace, terms.quota, terms.now);
    let steps = forecast(longest, rate, None, terms.now);
    let made = created.zip(steps).map(|(created, steps)| created.finish.max(steps.finish));
    let read = made.and_then(|made| forecast(most(&mut read_back.iter()), rate, None, made));
    (created.map(|created| created.days), read.map(|read| read.finish))
}

#[cfg(test)]
mod tests {
    use super::demand::testing::{company, device, person, site};
    use super::*;
    use crate::model::record::{Extra, Metadata};

    fn terms(quota: Option<(u64, u64)>) -> Terms {
        Terms {
            rate: Some(100.0),
            quota: quota.map(|(per_day, today)| Allowance { per_day, today }),
            now: Moment::parse("2026-03-01T12:00:00Z").unwrap(),
            read_back: false,
        }
    }

    fn demand() -> Demand {
        let mut demand = Demand::default();
        for _ in 0..10 {
            demand.add(&company(), &[]);
        }
        for _ in 0..500 {
            let labels = Extra::Labels(vec!["a".into()]);
            let metadata = Extra::Metadata(vec![Metadata { key: "k".into(), value: "v".into() }]);
            demand.add(&device(Some("00:1a:2b:3c:4d:5e")), &[labels, metadata]);
        }
        demand.add(&site(), &[]);
        demand.add(&person(), &[]);
        demand
    }

    #[test]
    fn creations_come_in_their_order_and_the_steps_after_them() {
        let plan = Plan::new(&demand(), &|_| true, &terms(None));
        let sent: Vec<_> = plan.sent.iter().map(|calls| (calls.operation.name(), calls.calls)).collect();
        assert_eq!(
            sent,
            [
                ("addCompany", 10),
                ("addSite", 1),
                ("addPerson", 1),
                ("addDevice", 500),
                ("putDeviceLabels", 500),
                ("putDeviceMetadataList", 500)
            ]
        );
        assert_eq!(plan.creations, 512);
        assert_eq!(plan.unavailable(), []);
        assert_eq!(plan.days, Some(1));
        assert_eq!(plan.finish.unwrap().to_string(), "2026-03-01T12:00:05Z");
    }

    #[test]
    fn reading_back_comes_after_the_last_creation_and_takes_a_look_up_a_row() {
        let terms = Terms { read_back: true, ..terms(None) };
        let plan = Plan::new(&demand(), &|_| true, &terms);
        let looks: Vec<_> =
            plan.read_back.iter().map(|calls| (calls.operation.name(), calls.calls)).collect();
        assert_eq!(
            looks,
            [
                ("getChildCompanies", 10),
                ("getDeviceByMac", 500),
                ("getPersonByUsername", 1),
                ("findSitesByName", 1)
            ]
        );
        assert!(plan.read_back.iter().all(|calls| !calls.counted), "look-ups are free");
        assert_eq!(plan.finish.unwrap().to_string(), "2026-03-01T12:00:10Z");
        // Without a look-up by key a record is read by its id, where that is documented.
        let documented =
            |operation: Operation| operation.provenance() == crate::model::operation::Provenance::Documented;
        let plan = Plan::new(&demand(), &documented, &terms);
        let looks: Vec<_> =
            plan.read_back.iter().map(|calls| (calls.operation.name(), calls.calls)).collect();
        assert_eq!(looks, [("getCompany", 10), ("getDevice", 500)]);
    }

    #[test]
    fn what_no_profile_key_says_is_unavailable() {
        let documented =
            |operation: Operation| operation.provenance() == crate::model::operation::Provenance::Documented;
        let plan = Plan::new(&demand(), &documented, &terms(None));
        assert_eq!(
            plan.unavailable(),
            [Operation::AddSite, Operation::PutDeviceLabels, Operation::PutDeviceMetadataList]
        );
        assert_eq!(plan.looked_up, [], "a look-up that is not available is not done");
    }

    #[test]
    fn the_quota_decides_when_it_takes_longer_than_the_pace() {
        let plan = Plan::new(&demand(), &|_| true, &terms(Some((200, 150))));
        // 150 today, 200, and 162 on the third day.
        assert_eq!(plan.days, Some(3));
        assert!(plan.finish.unwrap().to_string().starts_with("2026-03-03T00:00:01"));
        let never = Plan::new(&demand(), &|_| true, &terms(Some((0, 0))));
        assert_eq!((never.days, never.finish), (None, None));
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        let plan = Plan::new(&Demand::default(), &|_| true, &terms(Some((10, 10))));
        assert_eq!((plan.creations, plan.days), (0, Some(0)));
        assert_eq!(plan.finish, Some(terms(None).now));
    }
}
