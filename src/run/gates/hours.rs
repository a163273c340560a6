//! The hours in which a run may send. Outside of them no request leaves, of whatever operation; what is under way is waited for.

use crate::journal::Waiting;
use crate::model::event::Event;
use crate::model::time::Moment;
use crate::model::window::{SendingHours, Standing};
use crate::run::run_action::{Inquiry, RunAction};

/// See the module. Moments are those of this machine's wall clock.
#[derive(Debug, Default)]
pub(super) struct HoursGate {
    hours: SendingHours,
    /// How it stands since a moment.
    known: Option<(Moment, Standing)>,
    /// Until when it was last reported that nothing leaves.
    reported: Option<Moment>,
}

impl HoursGate {
    pub(super) fn new(hours: SendingHours) -> Self {
        Self { hours, ..Self::default() }
    }

    pub(super) fn hours(&self) -> &SendingHours {
        &self.hours
    }

    /// Until when nothing may leave; `None` while it may.
    pub(super) fn closed_until(&mut self, now: Moment) -> Option<Moment> {
        let holds = |(since, standing): &(Moment, Standing)| {
            let until = match standing {
                Standing::Open { until } => *until,
                Standing::Closed { until } => Some(*until),
            };
            *since <= now && until.is_none_or(|until| now < until)
        };
        let (_, standing) = match self.known.filter(holds) {
            Some(known) => known,
            None => *self.known.insert((now, self.hours.standing(now))),
        };
        match standing {
            Standing::Open { .. } => None,
            Standing::Closed { until } => Some(until),
        }
    }

    /// What is reported, and noted in the journal, when it closes or opens: `pause` says until when nothing leaves, and why.
    pub(super) fn news(&mut self, pause: Option<Waiting>) -> Vec<RunAction> {
        let until = pause.as_ref().map(|waiting| waiting.until);
        if std::mem::replace(&mut self.reported, until) == until {
            return Vec::new();
        }
        match pause {
            Some(waiting) => {
                let (until, why) = (waiting.until, waiting.why.clone());
                vec![
                    RunAction::AskJournal(Inquiry::NoteWaiting(Some(waiting))),
                    RunAction::Tell(Event::OutsideHours { until, why }),
                ]
            }
            None => {
                vec![RunAction::AskJournal(Inquiry::NoteWaiting(None)), RunAction::Tell(Event::WithinHours)]
            }
        }
    }
}
