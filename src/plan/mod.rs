//! What would happen, before anything does: what becomes of each row, the tree of companies, calls by operation, what
//! is unavailable or in the way, how doubt would be resolved, quota days and finish time. Pure: the jobs that a run
//! would find come in one by one, the rest as a few small values.
//!
//! Reading the rows is left to the import and the journal, showing the plan to the layers above.

pub mod ability;
mod action;

mod demand;
mod field_changes;
mod row_settings;
mod saved_plan;
mod survey;
mod tree;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use self::survey::JobActions;
use crate::model::amount::{count, counted};
use crate::model::forecast::{Allowance, DayShare, Forecast, forecast};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::policy::InDoubt;
use crate::model::remaining::{Lane, Remaining};
use crate::model::time::Moment;
use crate::model::window::SendingHours;

pub use self::action::{ActionCounts, PlannedAction};
pub use crate::model::company_forest::{Extent, Visit};
pub use demand::{Asks, Demand, Way};
pub use field_changes::{FieldChange, FieldChanges, FixedCell};
pub use row_settings::settings_of_row;
pub use saved_plan::{Difference, FORM, RowDigest, SavedPlan, SheetDigest};
pub use survey::{Cause, JobOrigin, Outcome, Outcomes, Survey, SurveyedJob};
pub use tree::{Company, PlannedCompany, Tree, rows_in};

/// What is known of the service and its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Requests a second for each operation; `None` for no limit.
    pub rate: Option<f64>,
    /// Creations that a day allows us, as far as it is known.
    pub quota: Option<Allowance>,
    /// Until when creations wait for the quota of the next day, by our clock.
    pub parked_until: Option<Moment>,
    /// When the run would begin.
    pub now: Moment,
    /// When it may send.
    pub hours: SendingHours,
    /// Whether every record that was made is read back before the run ends.
    pub read_back: bool,
    /// What becomes of a record of which it stays unknown whether it was created.
    pub in_doubt: InDoubt,
}

/// The calls of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Doubts {
    /// The kind.
    pub kind: Kind,
    /// In which way.
    pub way: Way,
    /// How many rows.
    pub rows: u64,
}

impl Doubts {
    /// The rows that it is about: `3 rows of device`.
    pub(crate) fn rows_in_words(&self) -> String {
        counted(self.rows, &format!("row of {}", self.kind), &format!("rows of {}", self.kind))
    }
}

/// What keeps rows of the sheets from being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obstacle {
    /// What it is.
    pub cause: Cause,
    /// How many rows.
    pub rows: u64,
}

/// What would happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Plan {
    /// What would happen to the rows of the sheets, by kind, in the order of creation; parents go before their
    /// children within a kind.
    pub rows: BTreeMap<Kind, ActionCounts>,
    /// What would be sent to create and to complete the rows of the sheets, in the order of creation.
    pub sent: Vec<Calls>,
    /// What the run would send for rows left over from earlier imports.
    pub sent_earlier: Vec<Calls>,
    /// Operations that the rows need and that the profile does not say where to find, in the order of creation.
    #[serde(skip)]
    pub unavailable: Vec<Operation>,
    /// The look-ups before sending. A run does without unavailable ones.
    pub looked_up: Vec<Calls>,
    /// The look-ups of the verification at the end; as many as those before sending, at most.
    pub read_back: Vec<Calls>,
    /// Creations for the rows of the sheets; they count against the daily quota.
    pub creations: u64,
    /// Rows of earlier imports that the run sends as well.
    pub rows_earlier: u64,
    /// UTC days on which something is created; `None` when there is no end within ten years.
    pub days: Option<u64>,
    /// Whether the daily quota is why it takes so many days.
    #[serde(skip)]
    pub is_quota_bound: bool,
    /// What is created on each of these days; of very many, the first and the last.
    pub by_day: Vec<DayShare>,
    /// When the last row would be done and verified, if nothing goes wrong.
    #[serde(skip)]
    pub finish: Option<Moment>,
    /// How doubt would be resolved, by kind.
    pub doubts: Vec<Doubts>,
    /// What is in the way, the most frequent first.
    #[serde(skip)]
    pub obstacles: Vec<Obstacle>,
    /// The companies, with what becomes of the rows in each.
    #[serde(skip)]
    pub tree: Tree,
}

impl Plan {
    /// Plans for what a run would find; `available` says whether an operation can be used.
    pub fn new(survey: &Survey, available: &dyn Fn(Operation) -> bool, terms: &Terms) -> Self {
        let decided = survey.actions(available);
        let demand = survey.demand(&decided, |origin| matches!(origin, JobOrigin::Sheets { .. }));
        let earlier = survey.demand(&decided, |origin| origin == JobOrigin::Earlier);
        let both = survey.demand(&decided, |origin| origin != JobOrigin::Referred);
        let calls = |(&operation, &calls): (&Operation, &u64)| Calls {
            operation,
            calls,
            available: available(operation),
            counted: operation.creates(),
        };
        let in_order = |demand: &Demand| {
            let mut sent: Vec<_> = demand.sent().iter().map(calls).collect();
            sent.sort_by_key(|calls| order(calls.operation));
            sent
        };
        let looked_up: Vec<_> = both.looked_up(available).iter().map(calls).collect();
        let read_back: Vec<_> = match terms.read_back {
            true => both.read_back(available).iter().map(calls).collect(),
            false => Vec::new(),
        };
        let creations =
            |sent: &[Calls]| sent.iter().filter(|calls| calls.counted).map(|calls| calls.calls).sum();
        let all = in_order(&both);
        let mut verified: BTreeMap<Operation, u64> =
            read_back.iter().map(|calls| (calls.operation, calls.calls)).collect();
        // One list shows all the companies below a parent.
        let lists = survey.parents_of_created(&decided);
        verified.entry(Operation::GetChildCompanies).and_modify(|calls| *calls = lists.min(*calls));
        let requests = (&*all, &*looked_up, &verified);
        let end = end(requests, terms.quota, terms);
        let without_quota = self::end(requests, None, terms);
        let doubts = both
            .doubts(available, terms.in_doubt)
            .into_iter()
            .map(|((kind, way), rows)| Doubts { kind, way, rows })
            .collect();
        let (sent, sent_earlier) = (in_order(&demand), in_order(&earlier));
        let mut unavailable = both.unavailable(available);
        unavailable.sort_by_key(|&operation| order(operation));
        unavailable.dedup();
        Self {
            rows: rows(survey, &decided),
            creations: creations(&sent),
            sent,
            sent_earlier,
            unavailable,
            looked_up,
            read_back,
            rows_earlier: earlier.rows().values().sum(),
            days: end.days,
            is_quota_bound: without_quota.days.is_some_and(|days| end.days.is_none_or(|with| with > days)),
            by_day: end.shares,
            finish: end.finish,
            doubts,
            obstacles: obstacles(survey, &decided),
            tree: tree::company_tree(survey, &decided),
        }
    }

    /// Requests that create something, those for rows of earlier imports among them.
    pub fn counted_creations(&self) -> u64 {
        let calls = self.sent.iter().chain(&self.sent_earlier).filter(|calls| calls.counted);
        calls.map(|calls| calls.calls).sum()
    }

    /// Rows of the sheets with an action, of every kind.
    pub fn count(&self, action: PlannedAction) -> u64 {
        self.sums().of(action)
    }

    /// All rows of the sheets by their action.
    pub fn sums(&self) -> ActionCounts {
        let mut sums = ActionCounts::default();
        self.rows.values().for_each(|actions| sums.add_all(actions));
        sums
    }

    /// The rows that are sent, in words, by what is done with them: `12 rows to create`.
    pub(crate) fn to_do(&self) -> Vec<(PlannedAction, String)> {
        let sums = self.sums();
        [
            (PlannedAction::Create, "row to create", "rows to create"),
            (PlannedAction::Apply, "row to carry out", "rows to carry out"),
            (PlannedAction::Complete, "row to be completed", "rows to be completed"),
        ]
        .into_iter()
        .filter(|(action, ..)| sums.of(*action) > 0)
        .map(|(action, one, several)| (action, counted(sums.of(action), one, several)))
        .collect()
    }

    /// What is said where no row is to be sent.
    pub(crate) fn nothing_to_do(&self) -> &'static str {
        match self.count(PlannedAction::InDoubt) {
            0 => "Nothing is sent for these sheets",
            _ => "Nothing is sent before unknown outcomes are looked up",
        }
    }

    /// The requests, in lists with their titles.
    pub(crate) fn requests(&self) -> Vec<(&'static str, &[Calls])> {
        let mut lists: Vec<(&str, &[Calls])> = vec![
            ("Requests, in this order (companies before their contents)", &self.sent),
            ("Requests left over from earlier imports", &self.sent_earlier),
            (
                "Look-ups before sending, at most (records that already exist are not created again)",
                &self.looked_up,
            ),
            ("Look-ups of the verification, at most", &self.read_back),
        ];
        lists.retain(|(_, calls)| !calls.is_empty());
        lists
    }
}

/// What is reported in place of what will happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// That nothing can be sent, and why.
    pub headline: String,
    /// What would be sent once the operations are there.
    pub then: String,
}

/// Why a plan has no end. Where creations are parked, nobody knows how many the next day allows until a refusal has shown it.
pub(crate) fn without_end(quota: Option<Allowance>, parked_until: Option<Moment>) -> &'static str {
    match (quota, parked_until) {
        (Some(Allowance { per_day: 0, .. }), _) => "never: the reserve leaves nothing of the daily quota",
        (None, Some(_)) => {
            "not known: today's quota is spent, and how many creations the next day allows is not known"
        }
        (Some(_), _) | (None, None) => "more than ten years from now",
    }
}

/// What the limit allows in less is as fast as the service answers, which a plan cannot know.
const SOON: Duration = Duration::from_secs(10);

impl Plan {
    /// Whether it is done so soon that the limit does not decide when.
    pub(crate) fn is_soon(&self, now: Moment) -> bool {
        self.finish.is_some_and(|finish| finish.since(now) < SOON)
    }

    /// What to say when operations are missing; `None` when all are there.
    pub fn lacking(&self, quota: Option<Allowance>) -> Option<Lacking> {
        let first = self.unavailable.first()?.name();
        let headline = match self.unavailable.len() {
            1 => format!("Nothing can be sent yet: an operation has no path ({first})"),
            several => format!("Nothing can be sent yet: {several} operations have no path (first: {first})"),
        };
        let creations = counted(self.counted_creations(), "creation", "creations");
        let then = match (quota, self.days) {
            (None, _) => creations,
            (Some(_), None) => format!("{creations}, done {}", without_end(quota, None)),
            (Some(quota), Some(days)) => {
                format!("{creations}, {} at {} a day", counted(days, "day", "days"), count(quota.per_day))
            }
        };
        Some(Lacking { headline, then })
    }
}

/// The rows of the sheets by kind and action.
fn rows(survey: &Survey, decided: &JobActions) -> BTreeMap<Kind, ActionCounts> {
    let mut rows: BTreeMap<Kind, ActionCounts> = BTreeMap::new();
    for (node, &action) in survey.nodes.iter().zip(&decided.actions) {
        if matches!(node.origin, JobOrigin::Sheets { .. }) {
            let counts = rows.entry(node.kind).or_default();
            node.rows(action).into_iter().for_each(|(action, rows)| counts.add(action, rows));
        }
    }
    rows
}

/// What blocks rows of the sheets, the most frequent first.
fn obstacles(survey: &Survey, decided: &JobActions) -> Vec<Obstacle> {
    let mut rows: BTreeMap<Cause, u64> = BTreeMap::new();
    for (place, cause) in &decided.causes {
        let node = &survey.nodes[*place as usize];
        if matches!(node.origin, JobOrigin::Sheets { .. }) {
            *rows.entry(*cause).or_default() += node.rows(PlannedAction::Blocked)[0].1;
        }
    }
    let mut obstacles: Vec<_> = rows.into_iter().map(|(cause, rows)| Obstacle { cause, rows }).collect();
    obstacles.sort_by_key(|obstacle| (std::cmp::Reverse(obstacle.rows), obstacle.cause));
    obstacles
}

/// Companies come first, then what is in them; steps after a creation come last.
pub fn order(operation: Operation) -> (bool, Option<Kind>, Operation) {
    let made = operation.makes();
    (made.is_none(), made, operation)
}

/// How long it takes.
fn end(
    (sent, looked_up, verified): (&[Calls], &[Calls], &BTreeMap<Operation, u64>),
    quota: Option<Allowance>,
    terms: &Terms,
) -> Forecast {
    let lane = |requests| Lane { requests, limit: terms.rate, pace: None };
    let verified = verified.iter().map(|(&operation, &calls)| (operation, lane(calls))).collect();
    let (verifying, verifying_at_end) = Remaining::verified_by(verified);
    let any_created = sent.iter().any(|calls| calls.counted && calls.calls > 0);
    let parked_until = terms.parked_until.filter(|_| any_created);
    forecast(&Remaining {
        at: terms.now,
        making: sent.iter().chain(looked_up).map(|calls| (calls.operation, lane(calls.calls))).collect(),
        verifying,
        verifying_at_end,
        moving: true,
        quota,
        parked_until,
        hours: terms.hours.clone(),
        ..Remaining::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::Action;
    use crate::model::id::JobId;
    use crate::model::record::Record;
    use crate::model::state::JobState;
    use crate::model::window::Windows;
    use crate::testing::{device, record};
    use jiff::tz::TimeZone;

    fn terms(quota: Option<(u64, u64)>) -> Terms {
        Terms {
            rate: Some(100.0),
            quota: quota.map(|(per_day, today)| Allowance { per_day, today }),
            parked_until: None,
            now: Moment::parse("2026-03-01T12:00:00Z").unwrap(),
            hours: SendingHours::default(),
            read_back: false,
            in_doubt: InDoubt::Settle,
        }
    }

    /// Ten companies, 500 devices with labels and metadata, a site and a person, all new.
    fn survey() -> Survey {
        let mut rows = vec![(record(Kind::Company), vec![]); 10];
        let later = vec![Action::PutLabels(vec![]), Action::PutMetadata(vec![])];
        let till = Record::Device(device("Till", Some("00:1a:2b:3c:4d:5e")));
        rows.extend(vec![(till, later); 500]);
        rows.extend([(record(Kind::Site), vec![]), (record(Kind::Person), vec![])]);
        let mut survey = Survey::default();
        for (number, (record, later)) in (1..).zip(rows) {
            let kind = record.kind();
            let name = record.name().to_owned();
            let steps: Vec<_> = std::iter::once(Action::Create(record)).chain(later).collect();
            survey.add(SurveyedJob {
                job: JobId(number),
                kind,
                state: JobState::Ready,
                remote_id: None,
                name: &name,
                origin: JobOrigin::Sheets { changed_since: false },
                owner: None,
                unmade: &[],
                asks: Asks::of(kind, &steps).into(),
                is_unchanged: false,
            });
        }
        survey
    }

    #[test]
    fn creations_come_in_their_order_and_the_steps_after_them() {
        let plan = Plan::new(&survey(), &|_| true, &terms(None));
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
        assert_eq!(plan.unavailable, []);
        assert_eq!(plan.days, Some(1));
        assert_eq!(plan.finish.unwrap().to_string(), "2026-03-01T12:00:05Z");
    }

    #[test]
    fn reading_back_takes_a_look_up_a_row_beside_the_creations() {
        let terms = Terms { read_back: true, ..terms(None) };
        let plan = Plan::new(&survey(), &|_| true, &terms);
        let looks: Vec<_> =
            plan.read_back.iter().map(|calls| (calls.operation.name(), calls.calls)).collect();
        assert_eq!(
            looks,
            [("getChildCompanies", 10), ("getDevice", 500), ("getPerson", 1), ("findSitesByName", 1)]
        );
        assert!(plan.read_back.iter().all(|calls| !calls.counted), "look-ups are free");
        assert_eq!(plan.finish.unwrap().to_string(), "2026-03-01T12:00:05Z");
        // Without a look-up by key a record is read by its id, where that is documented.
        let documented =
            |operation: Operation| operation.provenance() == crate::model::operation::Provenance::Documented;
        let plan = Plan::new(&survey(), &documented, &terms);
        let looks: Vec<_> =
            plan.read_back.iter().map(|calls| (calls.operation.name(), calls.calls)).collect();
        assert_eq!(looks, [("getCompany", 10), ("getDevice", 500)]);
    }

    #[test]
    fn what_no_profile_key_says_is_unavailable() {
        let documented =
            |operation: Operation| operation.provenance() == crate::model::operation::Provenance::Documented;
        let plan = Plan::new(&survey(), &documented, &terms(None));
        assert_eq!(
            plan.unavailable,
            [Operation::AddSite, Operation::PutDeviceLabels, Operation::PutDeviceMetadataList]
        );
        assert_eq!(plan.looked_up, [], "a look-up that is not available is not done");
    }

    #[test]
    fn the_quota_decides_when_it_takes_longer_than_the_pace() {
        let plan = Plan::new(&survey(), &|_| true, &terms(Some((200, 150))));
        // 150 today, 200, and 162 on the third day.
        assert_eq!(plan.days, Some(3));
        assert!(plan.finish.unwrap().to_string().starts_with("2026-03-03T00:00:01"));
        // As a run that is parked knows it, whose service has another clock.
        let until = Moment::parse("2026-03-01T18:00:03Z").unwrap();
        let parked = Terms { parked_until: Some(until), ..terms(Some((200, 0))) };
        let plan = Plan::new(&survey(), &|_| true, &parked);
        assert_eq!((plan.by_day[0].from, plan.by_day[0].creations), (until, 200));
        let never = Plan::new(&survey(), &|_| true, &terms(Some((0, 0))));
        assert_eq!((never.days, never.finish, never.is_quota_bound), (None, None, true));
        assert!(never.lacking(terms(Some((0, 0))).quota).is_none(), "no operation is missing");
    }

    #[test]
    fn the_quota_is_blamed_for_days_that_it_causes_and_for_no_others() {
        let within = |between: &str| SendingHours {
            windows: Windows::new(vec![between.parse().unwrap()], TimeZone::UTC),
            ..SendingHours::default()
        };
        let late = Moment::parse("2026-03-01T23:59:58Z").unwrap();
        for (quota, hours, now, (days, is_quota_bound)) in [
            (Some((200, 150)), SendingHours::default(), terms(None).now, (3, true)),
            (Some((9_000, 8_000)), SendingHours::default(), terms(None).now, (1, false)),
            // Midnight comes in between, and one more day with the quota.
            (None, SendingHours::default(), late, (2, false)),
            (Some((9_000, 8_000)), SendingHours::default(), late, (2, false)),
            (Some((200, 200)), SendingHours::default(), late, (3, true)),
            // It begins tomorrow, whatever is left of today.
            (Some((9_000, 0)), within("06:00-08:00"), terms(None).now, (1, false)),
        ] {
            let plan = Plan::new(&survey(), &|_| true, &Terms { hours, now, ..terms(quota) });
            assert_eq!((plan.days, plan.is_quota_bound), (Some(days), is_quota_bound), "{quota:?} {now}");
        }
    }

    #[test]
    fn what_takes_longer_than_anybody_waits_is_not_said_to_be_impossible() {
        assert_eq!(
            without_end(terms(Some((0, 0))).quota, None),
            "never: the reserve leaves nothing of the daily quota"
        );
        assert_eq!(without_end(terms(Some((1, 0))).quota, None), "more than ten years from now");
        assert_eq!(without_end(None, None), "more than ten years from now");
        assert!(without_end(None, Some(terms(None).now)).starts_with("not known: today's quota is spent"));
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        let plan = Plan::new(&Survey::default(), &|_| true, &terms(Some((10, 10))));
        assert_eq!((plan.creations, plan.days), (0, Some(0)));
        assert_eq!(plan.finish, Some(terms(None).now));
    }
}
