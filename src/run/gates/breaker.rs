//! The breaker of one operation: when the service fails at it, its requests are held back, then let through one at
//! a time until they succeed. Opening, waiting and closing charge no row anything.
//!
//! Three things open it: twenty failures in a row, a twentieth of the last two hundred outcomes, three pages in a
//! row where the service promises JSON. Only what left after that decides what follows: answers to requests that
//! were under way when it opened are news of the time before. Which request may be the probe, and what is said
//! about it, is left to the gates.

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::operation::Operation;
use crate::model::verdict::{Doubt, Verdict};

/// Failures in a row that open the breaker.
const STREAK: u32 = 20;
/// Pages in a row that open it: a proxy or a sign-in page of the network stands between us and the service.
const PAGES: u32 = 3;
/// Outcomes over which the share of failures is taken. Fewer say nothing about a share.
const WINDOW: usize = 200;
/// Failures among them that open it: 5 %.
const SHARE: usize = WINDOW / 20;
/// How long the first pause lasts when nothing gets through; each further one doubles.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// How long it lasts when most requests succeed.
const SHORT_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Probes that must succeed in a row where only a part of the requests fails: one success says little there.
const SHARE_PROBES: u32 = 3;

/// What a request that came back says about the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum BreakerOutcome {
    /// It is at work.
    Answered,
    /// It failed, or its answer was lost.
    Failed,
    /// Something else answered in its place: a page where it promises JSON.
    Page,
}

impl BreakerOutcome {
    /// What an answer says. Told only of answers that say anything.
    pub(in crate::run) fn of(verdict: &Verdict) -> Self {
        match verdict {
            // A redirect, like a page, comes from something that stands before the service.
            Verdict::Doubtful(Doubt::Unreadable | Doubt::Redirect) => Self::Page,
            Verdict::Doubtful(_) | Verdict::Contradicted(_) => Self::Failed,
            Verdict::Succeeded(_)
            | Verdict::Rejected(_)
            | Verdict::NoDataFound(_)
            | Verdict::Duplicate(_)
            | Verdict::NotSent(_)
            | Verdict::Throttled
            | Verdict::QuotaSpent
            | Verdict::TokenInvalid
            | Verdict::Refused(_)
            | Verdict::EndpointMissing(_) => Self::Answered,
        }
    }
}

/// Why a breaker opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenReason {
    /// [`STREAK`] failures in a row.
    Streak,
    /// [`SHARE`] of the last [`WINDOW`] outcomes.
    Share,
    /// [`PAGES`] pages in a row.
    Pages,
}

impl OpenReason {
    /// What happened, in words.
    pub(super) fn words(self) -> String {
        match self {
            Self::Streak => format!("{STREAK} requests in a row failed at the service or got no answer"),
            Self::Share => format!(
                "{SHARE} of the last {WINDOW} requests failed at the service or got no answer, which is 5 %"
            ),
            Self::Pages => format!(
                "{PAGES} answers in a row were none that the service documents: a proxy or the sign-in page of a network may have sent them"
            ),
        }
    }

    fn first_pause(self) -> Duration {
        match self {
            Self::Streak | Self::Pages => FIRST_PAUSE,
            Self::Share => SHORT_PAUSE,
        }
    }

    fn probes(self) -> u32 {
        match self {
            Self::Streak | Self::Pages => 1,
            Self::Share => SHARE_PROBES,
        }
    }
}

/// Since which opening a request is judged by. One that left before the last says nothing about the time after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::run) struct Phase(u32);

/// What passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BreakerState {
    /// Everything.
    Closed,
    /// Nothing until then.
    Open { until: Duration },
    /// Nothing until a question that changes nothing has found out whether the service answers at all.
    HealthCheck,
    /// One request, which is under way when `probing`.
    HalfOpen { probing: bool },
}

/// The breaker of one operation. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone)]
pub(super) struct Breaker {
    /// Whether a request that fails leaves a row in doubt.
    changes: bool,
    state: BreakerState,
    phase: Phase,
    /// Why it opened last, and when.
    reason: OpenReason,
    opened: Duration,
    /// When it closed last.
    closed: Option<Duration>,
    pause: Duration,
    /// Probes in a row that succeeded.
    succeeded: u32,
    /// Failures and pages in a row.
    streak: u32,
    pages: u32,
    /// The last outcomes since it closed; `true` for a failure.
    window: VecDeque<bool>,
    failures: usize,
}

/// What is worth telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BreakerChange {
    /// Nothing.
    Same,
    /// Requests are held back now, for so long at first.
    Opened { reason: OpenReason, pause: Duration },
    /// The service still fails; the next try is so far away.
    StillOpen { reason: OpenReason, pause: Duration },
    /// Requests pass again.
    Closed,
}

impl Breaker {
    pub(super) fn of(operation: Operation) -> Self {
        Self {
            changes: !operation.looks_up(),
            state: BreakerState::Closed,
            phase: Phase::default(),
            reason: OpenReason::Streak,
            opened: Duration::ZERO,
            closed: None,
            pause: FIRST_PAUSE,
            succeeded: 0,
            streak: 0,
            pages: 0,
            window: VecDeque::new(),
            failures: 0,
        }
    }

    /// Whether everything passes.
    pub(super) fn is_closed(&self) -> bool {
        self.state == BreakerState::Closed
    }

    /// How long nothing has succeeded, while it is not closed.
    pub(super) fn open_for(&self, now: Duration) -> Option<Duration> {
        (!self.is_closed()).then(|| now.saturating_sub(self.opened))
    }

    /// How long ago it closed, when it ever did.
    pub(super) fn closed_for(&self, now: Duration) -> Option<Duration> {
        self.closed.filter(|_| self.is_closed()).map(|closed| now.saturating_sub(closed))
    }

    /// When the next request may leave, while nothing passes; `None` while one finds out.
    pub(super) fn next_try(&self) -> Option<Duration> {
        match self.state {
            BreakerState::Open { until } => Some(until),
            BreakerState::Closed | BreakerState::HealthCheck | BreakerState::HalfOpen { .. } => None,
        }
    }

    /// Ends the pause. Whether there was one.
    pub(super) fn try_now(&mut self, now: Duration) -> bool {
        let BreakerState::Open { until } = self.state else { return false };
        self.state = BreakerState::Open { until: until.min(now) };
        true
    }

    /// Whether most requests get through and it only pauses for a moment now and then.
    pub(super) fn is_brief(&self) -> bool {
        self.pause <= SHORT_PAUSE * 2
    }

    /// Whether a question or a probe is under way.
    pub(super) fn is_trying(&self) -> bool {
        matches!(self.state, BreakerState::HealthCheck | BreakerState::HalfOpen { probing: true })
    }

    /// Whether it is time for a probe and a failing one would leave a row in doubt, so that a question that
    /// changes nothing should be asked first; if so, that question is due now.
    pub(super) fn wants_health_check(&self, now: Duration) -> bool {
        self.changes && matches!(self.state, BreakerState::Open { until } if until <= now)
    }

    /// Such a question is on its way. [`Self::on_health_check`] must follow.
    pub(super) fn on_health_check_sent(&mut self) {
        self.state = BreakerState::HealthCheck;
    }

    /// The health check has come back: whether the service answered it.
    pub(super) fn on_health_check(&mut self, answered: bool, now: Duration) -> BreakerChange {
        match (self.state, answered) {
            (BreakerState::HealthCheck, true) => {
                self.state = BreakerState::HalfOpen { probing: false };
                BreakerChange::Same
            }
            (BreakerState::HealthCheck, false) => self.still_open(now),
            (BreakerState::Closed | BreakerState::Open { .. } | BreakerState::HalfOpen { .. }, _) => {
                BreakerChange::Same
            }
        }
    }

    /// Whether a request may leave now; if not, when to ask again (`None`: after the probe has come back).
    pub(super) fn permits(&mut self, now: Duration) -> Result<(), Option<Duration>> {
        match self.state {
            BreakerState::Closed => Ok(()),
            BreakerState::Open { until } if now < until => Err(Some(until)),
            BreakerState::Open { .. } => {
                self.state = BreakerState::HalfOpen { probing: false };
                Ok(())
            }
            BreakerState::HalfOpen { probing: false } => Ok(()),
            BreakerState::HealthCheck | BreakerState::HalfOpen { probing: true } => Err(None),
        }
    }

    /// A request leaves. Whoever brings it back says so with the phase.
    pub(super) fn on_send(&mut self) -> Phase {
        if let BreakerState::HalfOpen { probing } = &mut self.state {
            *probing = true;
        }
        self.phase
    }

    /// Whether a request of this phase was let through before it opened, so that it should stay here if it can.
    pub(super) fn withdraws(&self, phase: Phase) -> bool {
        !self.is_closed() && phase != self.phase
    }

    /// Whether the request of this phase that is under way is a probe.
    pub(super) fn is_probe(&self, phase: Phase) -> bool {
        phase == self.phase && self.state == BreakerState::HalfOpen { probing: true }
    }

    /// A request came back and says this about the service.
    pub(super) fn on_outcome(
        &mut self,
        outcome: BreakerOutcome,
        phase: Phase,
        now: Duration,
    ) -> BreakerChange {
        if phase != self.phase {
            return BreakerChange::Same;
        }
        match self.state {
            BreakerState::Closed => self.watch(outcome, now),
            BreakerState::HalfOpen { .. } => match outcome {
                BreakerOutcome::Answered => {
                    self.succeeded += 1;
                    self.pause = self.reason.first_pause();
                    if self.succeeded >= self.reason.probes() {
                        self.close(now)
                    } else {
                        self.state = BreakerState::HalfOpen { probing: false };
                        BreakerChange::Same
                    }
                }
                BreakerOutcome::Failed | BreakerOutcome::Page => self.still_open(now),
            },
            // Nothing of this phase is under way.
            BreakerState::Open { .. } | BreakerState::HealthCheck => BreakerChange::Same,
        }
    }

    /// A request came back, or never left, without telling anything about the service (not sent, token, pace,
    /// quota).
    pub(super) fn on_no_outcome(&mut self, phase: Phase) {
        if let BreakerState::HalfOpen { probing } = &mut self.state
            && phase == self.phase
        {
            *probing = false;
        }
    }

    fn watch(&mut self, outcome: BreakerOutcome, now: Duration) -> BreakerChange {
        let failed = outcome != BreakerOutcome::Answered;
        self.streak = if failed { self.streak + 1 } else { 0 };
        self.pages = if outcome == BreakerOutcome::Page { self.pages + 1 } else { 0 };
        self.remember(failed);
        let reason = if self.pages >= PAGES {
            OpenReason::Pages
        } else if self.streak >= STREAK {
            OpenReason::Streak
        } else if self.changes && self.window.len() >= WINDOW && self.failures >= SHARE {
            OpenReason::Share
        } else {
            return BreakerChange::Same;
        };
        self.reason = reason;
        self.opened = now;
        self.phase.0 = self.phase.0.wrapping_add(1);
        self.pause = reason.first_pause();
        self.succeeded = 0;
        self.state = BreakerState::Open { until: now + self.pause };
        BreakerChange::Opened { reason, pause: self.pause }
    }

    fn remember(&mut self, failed: bool) {
        if self.window.len() >= WINDOW && self.window.pop_front() == Some(true) {
            self.failures -= 1;
        }
        self.window.push_back(failed);
        self.failures += usize::from(failed);
    }

    fn still_open(&mut self, now: Duration) -> BreakerChange {
        // After a success among the failures it begins again with short pauses.
        self.pause =
            if self.succeeded > 0 { self.reason.first_pause() } else { (self.pause * 2).min(LONGEST_PAUSE) };
        self.succeeded = 0;
        self.state = BreakerState::Open { until: now + self.pause };
        BreakerChange::StillOpen { reason: self.reason, pause: self.pause }
    }

    /// Old evidence does not open it again.
    fn close(&mut self, now: Duration) -> BreakerChange {
        self.closed = Some(now);
        self.state = BreakerState::Closed;
        self.streak = 0;
        self.pages = 0;
        self.window.clear();
        self.failures = 0;
        BreakerChange::Closed
    }
}

#[cfg(test)]
mod tests;
