//! What only the run itself knows, counted from its news: requests and answers, latency, and since when something is paused.

use std::collections::BTreeMap;

use super::text_form::Histogram;
use crate::model::event::Event;
use crate::model::operation::Operation;
use crate::model::remaining::Remaining;
use crate::model::time::Moment;
use crate::model::verdict::AnswerClass;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFigures {
    pub(super) requests: BTreeMap<Operation, u64>,
    pub(super) answers: BTreeMap<(Operation, AnswerClass), u64>,
    pub(super) latency: BTreeMap<Operation, Histogram>,
    /// Since when and until when creations wait for the quota.
    pub(super) parked: Option<(Moment, Moment)>,
    pub(super) paused: BTreeMap<Operation, Moment>,
    pub(super) unreachable: Option<Moment>,
    pub(super) sheet_pauses: u64,
    pub(super) remaining: Option<Remaining>,
}

impl RunFigures {
    /// Takes in a piece of news, at its moment. Says whether something was paused or goes on.
    pub fn take(&mut self, event: &Event, now: Moment) -> bool {
        let standing = |figures: &Self| {
            let paused: Vec<Operation> = figures.paused.keys().copied().collect();
            (figures.parked, paused, figures.unreachable.is_some(), figures.sheet_pauses)
        };
        let before = standing(self);
        match event {
            Event::Answered { operation, class, took } => {
                // Of one that was not sent, nothing has left this machine.
                if *class != AnswerClass::NotSent {
                    *self.requests.entry(*operation).or_default() += 1;
                }
                *self.answers.entry((*operation, *class)).or_default() += 1;
                if let Some(took) = took {
                    self.latency.entry(*operation).or_default().observe(*took);
                    self.unreachable = None;
                }
            }
            Event::Parked { until } => {
                self.parked = Some((self.parked.map_or(now, |(since, _)| since), *until));
            }
            Event::Woken => self.parked = None,
            Event::Breaker { operation, open: true, .. } => {
                self.paused.entry(*operation).or_insert(now);
            }
            Event::Breaker { operation, open: false, .. } => {
                self.paused.remove(operation);
            }
            Event::Unreachable { .. } => {
                self.unreachable.get_or_insert(now);
            }
            Event::SheetPaused { .. } => self.sheet_pauses += 1,
            Event::Remaining(facts) => self.remaining = Some((**facts).clone()),
            Event::Sent { .. }
            | Event::Moved { .. }
            | Event::Rows { .. }
            | Event::Unseen { .. }
            | Event::QuotaUsed(_)
            | Event::OutsideHours { .. }
            | Event::WithinHours
            | Event::SlowedDown { .. }
            | Event::ReadBack { .. }
            | Event::ClockSkew { .. }
            | Event::Note { .. }
            | Event::Draining { .. } => {}
        }
        standing(self) != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> Moment {
        Moment::from_millis(0).plus(Duration::from_secs(seconds))
    }

    #[test]
    fn what_is_paused_is_paused_since_the_first_news_of_it_and_each_change_is_said() {
        let breaker = |open| Event::Breaker {
            operation: Operation::AddDevice,
            open,
            reason: "20 in a row failed".into(),
            next_try_in: None,
        };
        let unreachable =
            || Event::Unreachable { reason: "refused".into(), retry_in: Duration::from_secs(1) };
        let answered = Event::Answered {
            operation: Operation::AddDevice,
            class: AnswerClass::Succeeded,
            took: Some(Duration::from_millis(30)),
        };
        let news = [
            (breaker(true), true),
            (breaker(true), false),
            (unreachable(), true),
            (unreachable(), false),
            (Event::Parked { until: at(90) }, true),
            (Event::Parked { until: at(90) }, false),
        ];
        let mut figures = RunFigures::default();
        for (second, (event, is_change)) in (1..).zip(&news) {
            assert_eq!(figures.take(event, at(second)), *is_change, "{event:?}");
        }
        assert_eq!(figures.paused[&Operation::AddDevice], at(1));
        assert_eq!((figures.unreachable, figures.parked), (Some(at(3)), Some((at(5), at(90)))));
        for event in [answered, breaker(false), Event::Woken] {
            assert!(figures.take(&event, at(50)), "{event:?}");
        }
        assert!(figures.paused.is_empty() && figures.unreachable.is_none() && figures.parked.is_none());
    }

    #[test]
    fn a_request_without_an_answer_is_counted_unless_it_never_left_and_has_no_latency() {
        let mut figures = RunFigures::default();
        let operation = Operation::AddSite;
        figures.take(&Event::Sent { operation }, at(1));
        figures.take(&Event::Answered { operation, class: AnswerClass::NotSent, took: None }, at(1));
        assert!(figures.requests.is_empty());
        figures.take(&Event::Sent { operation }, at(1));
        figures.take(&Event::Answered { operation, class: AnswerClass::Doubtful, took: None }, at(2));
        assert_eq!(figures.requests[&operation], 1);
        assert_eq!(figures.answers[&(operation, AnswerClass::Doubtful)], 1);
        assert!(figures.latency.is_empty());
    }
}
