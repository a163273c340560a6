//! Which news of a run is reported at once, while the run goes on: what a person would act on before its end. How the run ends
//! is reported when it does.

use std::time::Duration;

use super::notification::Event as Told;
use crate::model::event::Event;
use crate::model::id::SheetId;
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::Moment;

/// Without a connection for so long it is an outage: single failures come and go. It follows four failed tries.
const OUTAGE_FROM: Duration = Duration::from_secs(8);
/// An operation that is paused for so long does not recover within seconds.
const PAUSE_FROM: Duration = Duration::from_secs(60);

/// Something to tell while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occasion {
    /// The quota is spent; creations go on at this moment.
    Parked(Moment),
    /// The first row of this run is on hold.
    Held,
    /// The service rejected the rows of a sheet one after another.
    SheetPaused {
        /// The sheet.
        sheet: SheetId,
        /// How it is called.
        title: String,
        /// How many rows in a row were rejected alike.
        times: u32,
        /// With which code. The service's words may hold values of a row and are not told.
        code: String,
    },
    /// The service fails at an operation.
    OperationPaused {
        /// The operation.
        operation: Operation,
        /// Why, in words.
        reason: String,
        /// How long until the next try.
        next_try_in: Duration,
    },
    /// The service cannot be reached.
    Unreachable {
        /// Why, in words.
        reason: String,
    },
}

impl Occasion {
    /// What it is reported as.
    pub const fn event(&self) -> Told {
        match self {
            Self::Parked(_) => Told::Parked,
            Self::Held => Told::NeedsDecision,
            Self::SheetPaused { .. } | Self::OperationPaused { .. } => Told::Paused,
            Self::Unreachable { .. } => Told::Unreachable,
        }
    }
}

/// Watches the news of one run.
#[derive(Debug, Default)]
pub struct Observer {
    is_held_told: bool,
    is_outage_told: bool,
    paused: Vec<Operation>,
}

impl Observer {
    /// Takes in a piece of news; what is to be told of it comes back.
    pub fn take(&mut self, event: &Event) -> Option<Occasion> {
        match event {
            Event::Parked { until } => Some(Occasion::Parked(*until)),
            Event::Moved { to: JobState::Held, .. } => {
                let is_first = !std::mem::replace(&mut self.is_held_told, true);
                is_first.then_some(Occasion::Held)
            }
            Event::SheetPaused { sheet, title, times, code, .. } => Some(Occasion::SheetPaused {
                sheet: *sheet,
                title: title.clone(),
                times: *times,
                code: code.clone(),
            }),
            Event::Breaker { operation, open: true, reason, next_try_in: Some(wait) }
                if *wait >= PAUSE_FROM && !self.paused.contains(operation) =>
            {
                self.paused.push(*operation);
                let (reason, next_try_in) = (reason.clone(), *wait);
                Some(Occasion::OperationPaused { operation: *operation, reason, next_try_in })
            }
            Event::Breaker { operation, open: false, .. } => {
                self.paused.retain(|paused| paused != operation);
                None
            }
            Event::Unreachable { reason, retry_in } => {
                if *retry_in < OUTAGE_FROM {
                    // The waits grow during an outage: a short one begins another.
                    self.is_outage_told = false;
                    return None;
                }
                let is_first = !std::mem::replace(&mut self.is_outage_told, true);
                is_first.then(|| Occasion::Unreachable { reason: reason.clone() })
            }
            Event::Moved { .. }
            | Event::Breaker { .. }
            | Event::Rows { .. }
            | Event::Unseen { .. }
            | Event::Sent { .. }
            | Event::Answered { .. }
            | Event::QuotaUsed(_)
            | Event::Woken
            | Event::OutsideHours { .. }
            | Event::WithinHours
            | Event::SlowedDown { .. }
            | Event::ReadBack { .. }
            | Event::Remaining(_)
            | Event::ClockSkew { .. }
            | Event::Note { .. }
            | Event::Draining { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::JobId;
    use crate::model::kind::Kind;

    #[test]
    fn of_rows_on_hold_the_first_is_told() {
        let mut observer = Observer::default();
        let moved = |to| Event::Moved { job: JobId(1), kind: Kind::Device, from: JobState::Sending, to };
        let told: Vec<bool> = [JobState::Created, JobState::Held, JobState::Held]
            .map(|to| observer.take(&moved(to)).is_some())
            .into();
        assert_eq!(told, [false, true, false]);
    }

    #[test]
    fn an_outage_is_told_once_and_a_failure_that_passes_is_not() {
        let mut observer = Observer::default();
        let told = [1, 1, 2, 4, 8, 16, 30, 30, 1, 2, 4, 8].map(|seconds| {
            let retry_in = Duration::from_secs(seconds);
            observer.take(&Event::Unreachable { reason: "refused".into(), retry_in }).is_some()
        });
        let at = |n| n == 4 || n == 11;
        assert_eq!(told.to_vec(), (0..12).map(at).collect::<Vec<bool>>());
    }

    #[test]
    fn a_long_pause_of_an_operation_is_told_once_until_it_goes_on() {
        let mut observer = Observer::default();
        let breaker = |open, seconds: Option<u64>| Event::Breaker {
            operation: Operation::AddDevice,
            open,
            reason: "20 in a row failed".into(),
            next_try_in: seconds.map(Duration::from_secs),
        };
        let news = [(true, Some(5)), (true, Some(60)), (true, Some(120)), (false, None), (true, Some(90))];
        let told = news.map(|(open, wait)| observer.take(&breaker(open, wait)).is_some());
        assert_eq!(told, [false, true, false, false, true]);
    }

    #[test]
    fn the_words_of_the_service_are_not_told_of_a_sheet() {
        let event = Event::SheetPaused {
            sheet: SheetId(3),
            title: "'Devices'".into(),
            times: 50,
            code: "noDataFound".into(),
            message: "No device model found with name RX-2000".into(),
            asks: false,
        };
        let told = Observer::default().take(&event).unwrap();
        assert!(!format!("{told:?}").contains("RX-2000"), "{told:?}");
    }
}
