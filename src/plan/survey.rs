//! The jobs that a run would find, taken in one by one, and what becomes of each: what is sent, and what keeps the
//! others from being sent.
//!
//! Of each job only what this needs is kept (about fifty bytes), so that a million rows fit in memory.

mod job_places;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use job_places::JobPlaces;

use super::action::PlannedAction;
use super::demand::{Asks, Demand};
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Target;
use crate::model::state::JobState;

/// A job as it is taken in.
#[derive(Debug, Clone)]
pub struct SurveyedJob<'a> {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// Where it stands before the run.
    pub state: JobState,
    /// The record it made, or found.
    pub remote_id: Option<RemoteId>,
    /// Its name.
    pub name: &'a str,
    /// How it comes into the run.
    pub origin: JobOrigin,
    /// The company it belongs to, or that is above it.
    pub owner: Option<Target>,
    /// The jobs it refers to that have no record yet.
    pub unmade: &'a [JobId],
    /// What it asks of the service.
    pub asks: Rc<Asks>,
    /// Whether no cell of the row by which it comes was changed since it was exported. Several rows may be one job.
    pub is_unchanged: bool,
}

/// How a job comes into the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOrigin {
    /// By a row of the sheets; done with other values than the row has, or not.
    Sheets {
        /// Whether the record was made with other values.
        changed_since: bool,
    },
    /// Left unfinished by earlier imports.
    Earlier,
    /// It is only what others refer to.
    Referred,
}

/// What keeps a row from being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Another row that is not made, and why.
    Row(JobId, PlannedAction),
    /// An operation that is neither documented nor in the profile.
    Operation(Operation),
    /// The same of a list, without which it is not known what the row names.
    List(Operation),
}

/// A job as it is kept.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) job: JobId,
    pub(super) kind: Kind,
    pub(super) state: JobState,
    pub(super) origin: JobOrigin,
    made: bool,
    /// The number of its owner, from 1; 0 for none.
    owner: u32,
    /// Where the jobs that it refers to and that are not made begin in the list of them, and how many there are.
    unmade: (u32, u32),
    /// Its number in the list of what rows ask.
    asks: u32,
    /// Its rows.
    rows: u32,
    /// Those of them that nobody has changed since they were exported.
    unchanged: u32,
}

/// What is known of a company besides.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) id: Option<RemoteId>,
}

/// The jobs that a run would find.
#[derive(Debug, Default)]
pub struct Survey {
    pub(super) nodes: Vec<Node>,
    places: JobPlaces,
    /// The owners of jobs, each once.
    owners: Vec<Target>,
    owner_numbers: HashMap<Target, u32>,
    /// The jobs that others refer to and that are not made; once for jobs that come after each other and refer to the same.
    unmade: Vec<JobId>,
    /// Names and ids of companies, by the number of the job in the list.
    pub(super) companies: HashMap<u32, Named>,
    asks: Vec<Rc<Asks>>,
    numbers: HashMap<Rc<Asks>, u32>,
}

/// What becomes of each job.
#[derive(Debug)]
pub(super) struct JobActions {
    pub(super) actions: Vec<PlannedAction>,
    /// What blocks a job, by its number in the list.
    pub(super) causes: HashMap<u32, Cause>,
}

impl Survey {
    /// Takes in a job; the second time as another row of it.
    pub fn add(&mut self, found: SurveyedJob<'_>) {
        // Rows are fewer than 2^32.
        let place = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let unchanged = u32::from(found.is_unchanged);
        if let Some(known) = self.place_of(found.job) {
            if matches!(found.origin, JobOrigin::Sheets { .. }) {
                let node = &mut self.nodes[known as usize];
                node.rows += 1;
                node.unchanged += unchanged;
            }
            return;
        }
        self.places.insert(found.job, place);
        if found.kind == Kind::Company {
            self.companies.insert(place, Named { name: found.name.to_owned(), id: found.remote_id });
        }
        let asks = match self.numbers.get(&found.asks) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.asks.len()).unwrap_or(u32::MAX);
                self.asks.push(Rc::clone(&found.asks));
                self.numbers.insert(found.asks, number);
                number
            }
        };
        let owner = found.owner.map_or(0, |owner| self.number_of_owner(owner));
        let unmade = self.keep_unmade(found.unmade);
        self.nodes.push(Node {
            job: found.job,
            kind: found.kind,
            state: found.state,
            origin: found.origin,
            made: found.remote_id.is_some(),
            owner,
            unmade,
            asks,
            rows: 1,
            unchanged,
        });
    }

    fn number_of_owner(&mut self, owner: Target) -> u32 {
        if let Some(number) = self.owner_numbers.get(&owner) {
            return *number;
        }
        self.owners.push(owner);
        let number = u32::try_from(self.owners.len()).unwrap_or(u32::MAX);
        self.owner_numbers.insert(owner, number);
        number
    }

    fn keep_unmade(&mut self, unmade: &[JobId]) -> (u32, u32) {
        if unmade.is_empty() {
            return (0, 0);
        }
        if let Some(last) = self.nodes.last()
            && self.unmade_of(last) == unmade
        {
            return last.unmade;
        }
        // Rows are fewer than 2^32 / 3, and each refers to three others at most.
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let span = (number(self.unmade.len()), number(unmade.len()));
        self.unmade.extend_from_slice(unmade);
        span
    }

    /// The company that a job belongs to, or that is above it.
    pub(super) fn owner_of(&self, node: &Node) -> Option<Target> {
        let place = node.owner.checked_sub(1)?;
        self.owners.get(place as usize).copied()
    }

    /// The jobs that a job refers to and that are not made.
    fn unmade_of(&self, node: &Node) -> &[JobId] {
        let (start, count) = (node.unmade.0 as usize, node.unmade.1 as usize);
        self.unmade.get(start..start + count).unwrap_or_default()
    }

    /// The number of a job in the list.
    pub(super) fn place_of(&self, job: JobId) -> Option<u32> {
        self.places.get(job)
    }

    /// Jobs that others refer to and that were not taken in yet: companies above others, and what is not made.
    pub fn missing(&self) -> Vec<JobId> {
        let mut missing: Vec<JobId> = self
            .nodes
            .iter()
            .flat_map(|node| {
                let owner = match self.owner_of(node) {
                    Some(Target::Job(job)) => Some(job),
                    Some(Target::Remote(_)) | None => None,
                };
                owner.into_iter().chain(self.unmade_of(node).iter().copied())
            })
            .filter(|job| self.place_of(*job).is_none())
            .collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// What the rows of the sheets would ask, or those left from earlier imports, as far as they are to be sent.
    pub(super) fn demand(&self, decided: &JobActions, of: impl Fn(JobOrigin) -> bool) -> Demand {
        let mut sent: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for (place, node) in (0_u32..).zip(&self.nodes) {
            if of(node.origin) && decided.is_sent(place) {
                let (jobs, rows) = sent.entry(node.asks).or_default();
                *jobs += 1;
                *rows += u64::from(node.rows);
            }
        }
        let mut demand = Demand::default();
        for (asks, (jobs, rows)) in sent {
            demand.ask(&self.asks[asks as usize], jobs, rows);
        }
        demand
    }

    /// How many companies, or places at the top, have companies below them that are to be sent.
    pub(super) fn parents_of_created(&self, decided: &JobActions) -> u64 {
        let sent = (0_u32..).zip(&self.nodes).filter(|(place, node)| {
            node.kind == Kind::Company && node.origin != JobOrigin::Referred && decided.is_sent(*place)
        });
        let parents: HashSet<Option<Target>> = sent.map(|(_, node)| self.owner_of(node)).collect();
        parents.len() as u64
    }

    /// What becomes of each job, when these operations can be used.
    pub(super) fn actions(&self, available: &dyn Fn(Operation) -> bool) -> JobActions {
        let lacking: Vec<Option<Cause>> = self
            .asks
            .iter()
            .map(|asks| {
                let operation = asks.sent().iter().copied().find(|&operation| !available(operation));
                // A run refuses to create what it cannot complete.
                let cause = if asks.creates_record() { Cause::Operation } else { Cause::List };
                let list = || asks.lacking_list(available).map(cause);
                operation.map(Cause::Operation).or_else(list)
            })
            .collect();
        let mut settled: Vec<Option<PlannedAction>> = vec![None; self.nodes.len()];
        let mut on_the_way = vec![false; self.nodes.len()];
        let mut causes = HashMap::new();
        for start in 0..self.nodes.len() {
            // The way down to what a row waits for, on a list of its own: companies may hang very deep.
            let mut way = vec![start];
            while let Some(&place) = way.last() {
                if settled[place].is_some() {
                    way.pop();
                    continue;
                }
                on_the_way[place] = true;
                let node = &self.nodes[place];
                let waits_for = |job: &JobId| self.place_of(*job).map(|parent| parent as usize);
                let open = self
                    .unmade_of(node)
                    .iter()
                    .filter_map(waits_for)
                    .find(|&parent| settled[parent].is_none() && !on_the_way[parent]);
                if let (Some(open), JobState::Blocked | JobState::Skipped) = (open, node.state) {
                    way.push(open);
                    continue;
                }
                let (action, cause) = self.action(node, &settled, &causes, lacking[node.asks as usize]);
                if let Some(cause) = cause {
                    // Places are made from numbers of 32 bits.
                    causes.insert(u32::try_from(place).unwrap_or(u32::MAX), cause);
                }
                settled[place] = Some(action);
                on_the_way[place] = false;
                way.pop();
            }
        }
        JobActions {
            actions: settled.into_iter().map(|action| action.unwrap_or(PlannedAction::Blocked)).collect(),
            causes,
        }
    }

    /// What becomes of a job, all that it waits for being settled.
    fn action(
        &self,
        node: &Node,
        settled: &[Option<PlannedAction>],
        causes: &HashMap<u32, Cause>,
        lacking: Option<Cause>,
    ) -> (PlannedAction, Option<Cause>) {
        let changed_since = node.origin == JobOrigin::Sheets { changed_since: true };
        let own = PlannedAction::of(node.state, node.made, changed_since);
        if let Some(
            action @ (PlannedAction::There
            | PlannedAction::Changed
            | PlannedAction::Rejected
            | PlannedAction::Incomplete
            | PlannedAction::Held
            | PlannedAction::InDoubt
            | PlannedAction::Cancelled
            | PlannedAction::Unchanged),
        ) = own
        {
            return (action, None);
        }
        for job in self.unmade_of(node) {
            let Some(parent) = self.place_of(*job) else { continue };
            match settled[parent as usize] {
                Some(
                    PlannedAction::Create
                    | PlannedAction::Apply
                    | PlannedAction::Complete
                    | PlannedAction::Unchanged
                    | PlannedAction::There
                    | PlannedAction::Changed
                    | PlannedAction::Incomplete,
                ) => {}
                Some(PlannedAction::Blocked) => {
                    let cause =
                        causes.get(&parent).copied().unwrap_or(Cause::Row(*job, PlannedAction::Blocked));
                    return (PlannedAction::Blocked, Some(cause));
                }
                Some(action) => return (PlannedAction::Blocked, Some(Cause::Row(*job, action))),
                // Rows that wait for each other in a circle.
                None => return (PlannedAction::Blocked, Some(Cause::Row(*job, PlannedAction::Blocked))),
            }
        }
        if let Some(lacking) = lacking {
            return (PlannedAction::Blocked, Some(lacking));
        }
        let action =
            match own.unwrap_or(if node.made { PlannedAction::Complete } else { PlannedAction::Create }) {
                PlannedAction::Create if self.asks[node.asks as usize].is_unchanged() => {
                    PlannedAction::Unchanged
                }
                PlannedAction::Create if !node.kind.is_record() => PlannedAction::Apply,
                action => action,
            };
        (action, (action == PlannedAction::Blocked).then_some(Cause::Row(node.job, PlannedAction::Blocked)))
    }
}

/// What would happen to each job.
#[derive(Debug)]
pub struct Outcomes<'s> {
    survey: &'s Survey,
    decided: JobActions,
}

/// What would happen to one job.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'s> {
    /// What becomes of it.
    pub action: PlannedAction,
    /// What keeps it from being sent.
    pub cause: Option<Cause>,
    /// The operations that are sent for it, in their order.
    pub sent: &'s [Operation],
}

impl Outcome<'_> {
    /// Whether something is still sent for it: by the run, perhaps after a look-up, or once the operations are there that
    /// it needs.
    pub const fn may_be_sent(&self) -> bool {
        self.action.sends()
            || matches!(self.action, PlannedAction::InDoubt)
            || matches!(self.cause, Some(Cause::Operation(_) | Cause::List(_)))
    }
}

impl Survey {
    /// What would happen to each job, when these operations can be used.
    pub fn outcomes(&self, available: &dyn Fn(Operation) -> bool) -> Outcomes<'_> {
        Outcomes { survey: self, decided: self.actions(available) }
    }
}

impl<'s> Outcomes<'s> {
    /// What would happen to a job; nothing for one that the survey has not taken in.
    pub fn of(&self, job: JobId) -> Option<Outcome<'s>> {
        let place = self.survey.place_of(job)?;
        let action = self.decided.actions[place as usize];
        let asks = &self.survey.asks[self.survey.nodes[place as usize].asks as usize];
        Some(Outcome {
            action,
            cause: self.decided.causes.get(&place).copied(),
            sent: if action.sends() { asks.sent() } else { &[] },
        })
    }
}

impl Node {
    /// How many of its rows have an action, if this is that of the job: rows that nobody has changed ask for nothing, whatever
    /// others of the job ask for.
    pub(super) fn rows(&self, action: PlannedAction) -> [(PlannedAction, u64); 2] {
        let unchanged = if action == PlannedAction::Apply { self.unchanged } else { 0 };
        [(action, u64::from(self.rows - unchanged)), (PlannedAction::Unchanged, u64::from(unchanged))]
    }
}

impl JobActions {
    /// Whether a job is sent, or would be if every operation it needs could be used.
    pub(super) fn is_sent(&self, place: u32) -> bool {
        self.actions[place as usize].sends() || matches!(self.causes.get(&place), Some(Cause::Operation(_)))
    }
}
