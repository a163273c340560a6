//! The breaker of one operation: when the service fails at it, its requests are held back, then let through one at
//! a time until they succeed. Opening, waiting and closing charge no row anything.
//!
//! Three things open it: twenty failures in a row, a twentieth of the last two hundred outcomes, three pages in a
//! row where the service promises JSON. Only what left after that decides what follows: answers to requests that
//! were under way when it opened are news of the time before. Which request may be the probe, and what is said
//! about it, is left to `probing`.

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::operation::Operation;

/// Failures in a row that open the breaker.
const STREAK: u32 = 20;
/// Pages in a row that open it: a proxy or a sign-in page of the network stands between us and the service.
const PAGES: u32 = 3;
/// Outcomes over which the share of failures is taken. Fewer say nothing about a share.
const WINDOW: usize = 200;
/// Failures among them that open it: 5 %.
const SHARE: usize = WINDOW / 20;
/// How long the first pause lasts when nothing gets through; each further one doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// How long it lasts when most gets through: the service is there, and only asked to breathe.
const SHORT_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Probes that must succeed in a row where only a part of the requests fails: one success says little there.
const SHARE_PROBES: u32 = 3;

/// What a request that came home says about the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is at work.
    Answered,
    /// It failed, or its answer was lost.
    Failed,
    /// Something else answered in its place: a page where it promises JSON.
    Page,
}

/// Why a breaker opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// [`STREAK`] failures in a row.
    Streak,
    /// [`SHARE`] of the last [`WINDOW`] outcomes.
    Share,
    /// [`PAGES`] pages in a row.
    Pages,
}

impl Reason {
    /// What happened, in words.
    pub(super) fn words(self) -> String {
        match self {
            Self::Streak => format!("{STREAK} requests in a row failed at the service or got no answer"),
            Self::Share => format!(
                "{SHARE} of the last {WINDOW} requests failed at the service or got no answer, which is 5 %"
            ),
            Self::Pages => format!(
                "{PAGES} answers in a row were no answers of the service but pages, as a proxy or the sign-in page of a network sends them"
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
pub(super) struct Phase(u32);

/// What passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Everything.
    Closed,
    /// Nothing until then.
    Open { until: Duration },
    /// Nothing until a question that changes nothing has found out whether the service answers at all.
    Sounding,
    /// One request, which is under way when `probing`.
    HalfOpen { probing: bool },
}

/// The breaker of one operation. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone)]
pub(super) struct Breaker {
    /// Whether a request that fails leaves a row in doubt.
    changes: bool,
    state: State,
    phase: Phase,
    /// Why it opened last, and when.
    reason: Reason,
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
pub(super) enum Change {
    /// Nothing.
    Same,
    /// Requests are held back now, for so long at first.
    Opened { reason: Reason, pause: Duration },
    /// The service still fails; the next try is so far away.
    StillOpen { reason: Reason, pause: Duration },
    /// Requests pass again.
    Closed,
}

impl Breaker {
    pub(super) fn of(operation: Operation) -> Self {
        Self {
            changes: !operation.looks_up(),
            state: State::Closed,
            phase: Phase::default(),
            reason: Reason::Streak,
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
        self.state == State::Closed
    }

    /// How long nothing has succeeded, while it is not closed.
    pub(super) fn open_for(&self, now: Duration) -> Option<Duration> {
        (!self.is_closed()).then(|| now.saturating_sub(self.opened))
    }

    /// How long ago it closed, when it ever did.
    pub(super) fn closed_for(&self, now: Duration) -> Option<Duration> {
        self.closed.filter(|_| self.is_closed()).map(|closed| now.saturating_sub(closed))
    }

    /// Whether a question or a probe is under way.
    pub(super) fn is_trying(&self) -> bool {
        matches!(self.state, State::Sounding | State::HalfOpen { probing: true })
    }

    /// Whether it is time for a probe and a failing one would leave a row in doubt, so that a question that
    /// changes nothing should be asked first; if so, that question is due now.
    pub(super) fn wants_sounding(&self, now: Duration) -> bool {
        self.changes && matches!(self.state, State::Open { until } if until <= now)
    }

    /// Such a question is on its way. [`Self::sounded`] must follow.
    pub(super) fn sounds(&mut self) {
        self.state = State::Sounding;
    }

    /// The question has come home: whether the service answered it.
    pub(super) fn sounded(&mut self, answered: bool, now: Duration) -> Change {
        match (self.state, answered) {
            (State::Sounding, true) => {
                self.state = State::HalfOpen { probing: false };
                Change::Same
            }
            (State::Sounding, false) => self.still_open(now),
            (State::Closed | State::Open { .. } | State::HalfOpen { .. }, _) => Change::Same,
        }
    }

    /// Whether a request may leave now; if not, when to ask again (`None`: after the probe has come home).
    pub(super) fn permits(&mut self, now: Duration) -> Result<(), Option<Duration>> {
        match self.state {
            State::Closed => Ok(()),
            State::Open { until } if now < until => Err(Some(until)),
            State::Open { .. } => {
                self.state = State::HalfOpen { probing: false };
                Ok(())
            }
            State::HalfOpen { probing: false } => Ok(()),
            State::Sounding | State::HalfOpen { probing: true } => Err(None),
        }
    }

    /// A request leaves. Whoever brings it home says so with the phase.
    pub(super) fn leaves(&mut self) -> Phase {
        if let State::HalfOpen { probing } = &mut self.state {
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
        phase == self.phase && self.state == State::HalfOpen { probing: true }
    }

    /// A request came home and says this about the service.
    pub(super) fn heard(&mut self, outcome: Outcome, phase: Phase, now: Duration) -> Change {
        if phase != self.phase {
            return Change::Same;
        }
        match self.state {
            State::Closed => self.watch(outcome, now),
            State::HalfOpen { .. } => match outcome {
                Outcome::Answered => {
                    self.succeeded += 1;
                    self.pause = self.reason.first_pause();
                    if self.succeeded >= self.reason.probes() {
                        self.close(now)
                    } else {
                        self.state = State::HalfOpen { probing: false };
                        Change::Same
                    }
                }
                Outcome::Failed | Outcome::Page => self.still_open(now),
            },
            // Nothing of this phase is under way.
            State::Open { .. } | State::Sounding => Change::Same,
        }
    }

    /// A request came home, or never left, without telling anything about the service (not sent, token, pace,
    /// quota).
    pub(super) fn came_home(&mut self, phase: Phase) {
        if let State::HalfOpen { probing } = &mut self.state
            && phase == self.phase
        {
            *probing = false;
        }
    }

    fn watch(&mut self, outcome: Outcome, now: Duration) -> Change {
        let failed = outcome != Outcome::Answered;
        self.streak = if failed { self.streak + 1 } else { 0 };
        self.pages = if outcome == Outcome::Page { self.pages + 1 } else { 0 };
        self.remember(failed);
        let reason = if self.pages >= PAGES {
            Reason::Pages
        } else if self.streak >= STREAK {
            Reason::Streak
        } else if self.changes && self.window.len() >= WINDOW && self.failures >= SHARE {
            Reason::Share
        } else {
            return Change::Same;
        };
        self.reason = reason;
        self.opened = now;
        self.phase.0 = self.phase.0.wrapping_add(1);
        self.pause = reason.first_pause();
        self.succeeded = 0;
        self.state = State::Open { until: now + self.pause };
        Change::Opened { reason, pause: self.pause }
    }

    fn remember(&mut self, failed: bool) {
        if self.window.len() >= WINDOW && self.window.pop_front() == Some(true) {
            self.failures -= 1;
        }
        self.window.push_back(failed);
        self.failures += usize::from(failed);
    }

    fn still_open(&mut self, now: Duration) -> Change {
        // After a success among the failures it begins anew with short pauses.
        self.pause =
            if self.succeeded > 0 { self.reason.first_pause() } else { (self.pause * 2).min(LONGEST_PAUSE) };
        self.succeeded = 0;
        self.state = State::Open { until: now + self.pause };
        Change::StillOpen { reason: self.reason, pause: self.pause }
    }

    /// Old evidence does not open it again.
    fn close(&mut self, now: Duration) -> Change {
        self.closed = Some(now);
        self.state = State::Closed;
        self.streak = 0;
        self.pages = 0;
        self.window.clear();
        self.failures = 0;
        Change::Closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Duration = Duration::ZERO;

    fn breaker() -> Breaker {
        Breaker::of(Operation::AddDevice)
    }

    /// A request leaves and comes home at once.
    fn pass(breaker: &mut Breaker, outcome: Outcome, now: Duration) -> Change {
        let phase = breaker.leaves();
        breaker.heard(outcome, phase, now)
    }

    fn opened() -> Breaker {
        let mut breaker = breaker();
        for _ in 1..STREAK {
            assert_eq!(pass(&mut breaker, Outcome::Failed, NEVER), Change::Same);
        }
        let opened = Change::Opened { reason: Reason::Streak, pause: FIRST_PAUSE };
        assert_eq!(pass(&mut breaker, Outcome::Failed, NEVER), opened);
        breaker
    }

    /// After so many outcomes, of which every `nth` failed, with which reason it opened.
    fn with_every(nth: usize, outcomes: usize) -> Option<(usize, Reason)> {
        let mut breaker = breaker();
        (1..=outcomes).find_map(|n| {
            let outcome = if n % nth == 0 { Outcome::Failed } else { Outcome::Answered };
            match pass(&mut breaker, outcome, NEVER) {
                Change::Opened { reason, .. } => Some((n, reason)),
                _ => None,
            }
        })
    }

    #[test]
    fn twenty_failures_in_a_row_open_it_and_a_success_among_them_does_not() {
        let mut breaker = breaker();
        for _ in 0..5 {
            for _ in 1..STREAK {
                assert_eq!(pass(&mut breaker, Outcome::Failed, NEVER), Change::Same);
            }
            assert_eq!(pass(&mut breaker, Outcome::Answered, NEVER), Change::Same);
        }
        assert_eq!(breaker.permits(NEVER), Ok(()));
        opened();
    }

    #[test]
    fn a_twentieth_of_the_last_two_hundred_opens_it_and_less_or_fewer_do_not() {
        assert_eq!(with_every(20, 10_000), Some((200, Reason::Share)), "exactly 5 %");
        assert_eq!(with_every(23, 10_000), None, "at most 9 of 200, however the window lies");
        assert_eq!(with_every(2, 199), None, "half of fewer than two hundred is no share yet");
        assert_eq!(with_every(2, 200), Some((200, Reason::Share)));
    }

    #[test]
    fn an_outage_after_many_successes_opens_it_at_the_tenth_failure() {
        let mut breaker = breaker();
        for _ in 0..1_000 {
            assert_eq!(pass(&mut breaker, Outcome::Answered, NEVER), Change::Same);
        }
        let failures = (1..).find(|_| pass(&mut breaker, Outcome::Failed, NEVER) != Change::Same);
        assert_eq!(failures, Some(SHARE));
    }

    #[test]
    fn questions_put_no_row_in_doubt_and_are_held_back_only_when_nothing_gets_through() {
        let mut breaker = Breaker::of(Operation::GetDeviceByMac);
        for n in 0..1_000 {
            let outcome = if n % 2 == 0 { Outcome::Failed } else { Outcome::Answered };
            assert_eq!(pass(&mut breaker, outcome, NEVER), Change::Same);
        }
        for _ in 1..STREAK {
            assert_eq!(pass(&mut breaker, Outcome::Failed, NEVER), Change::Same);
        }
        assert!(matches!(pass(&mut breaker, Outcome::Failed, NEVER), Change::Opened { .. }));
        assert!(!breaker.wants_sounding(FIRST_PAUSE), "a question is its own probe");
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    }

    #[test]
    fn three_pages_in_a_row_open_it_and_an_answer_between_them_does_not() {
        let mut breaker = breaker();
        for outcome in [Outcome::Page, Outcome::Page, Outcome::Answered, Outcome::Page, Outcome::Page] {
            assert_eq!(pass(&mut breaker, outcome, NEVER), Change::Same);
        }
        let opened = Change::Opened { reason: Reason::Pages, pause: FIRST_PAUSE };
        assert_eq!(pass(&mut breaker, Outcome::Page, NEVER), opened);
    }

    #[test]
    fn an_open_breaker_lets_one_probe_pass_after_its_pause() {
        let mut breaker = opened();
        assert_eq!(breaker.permits(Duration::from_secs(4)), Err(Some(FIRST_PAUSE)));
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
        let probe = breaker.leaves();
        assert!(breaker.is_probe(probe));
        assert_eq!(breaker.permits(FIRST_PAUSE), Err(None));
        assert_eq!(breaker.heard(Outcome::Answered, probe, FIRST_PAUSE), Change::Closed);
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    }

    #[test]
    fn what_was_under_way_when_it_opened_neither_closes_nor_reopens_it() {
        let mut breaker = breaker();
        let under_way: Vec<Phase> = (0..100).map(|_| breaker.leaves()).collect();
        let (first, rest) = under_way.split_at(20);
        for &phase in first {
            breaker.heard(Outcome::Failed, phase, NEVER);
        }
        assert!(breaker.withdraws(rest[0]));
        assert_eq!(breaker.heard(Outcome::Answered, rest[0], NEVER), Change::Same);
        assert_eq!(breaker.permits(NEVER), Err(Some(FIRST_PAUSE)), "a late success is old news");
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
        let probe = breaker.leaves();
        assert!(!breaker.withdraws(probe));
        breaker.came_home(rest[1]);
        assert_eq!(breaker.heard(Outcome::Failed, rest[2], FIRST_PAUSE), Change::Same);
        assert_eq!(breaker.permits(FIRST_PAUSE), Err(None), "the probe is still under way");
        assert_eq!(breaker.heard(Outcome::Answered, probe, FIRST_PAUSE), Change::Closed);
        for &phase in &rest[3..] {
            assert_eq!(breaker.heard(Outcome::Failed, phase, FIRST_PAUSE), Change::Same);
        }
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    }

    #[test]
    fn of_an_outage_no_more_leaves_than_is_under_way_and_twenty() {
        for concurrency in [1, 16, 256] {
            for answered_before in [0, 1_000] {
                let mut breaker = breaker();
                for _ in 0..answered_before {
                    pass(&mut breaker, Outcome::Answered, NEVER);
                }
                // Dark from here on: whatever leaves fails, and for each that comes home another leaves.
                let mut under_way: VecDeque<Phase> = (0..concurrency).map(|_| breaker.leaves()).collect();
                let mut left = concurrency;
                while let Some(phase) = under_way.pop_front() {
                    breaker.heard(Outcome::Failed, phase, NEVER);
                    if breaker.permits(NEVER).is_ok() {
                        under_way.push_back(breaker.leaves());
                        left += 1;
                    }
                }
                assert!(left <= concurrency + 20, "{left} of {concurrency}");
            }
        }
    }

    #[test]
    fn after_a_share_of_failures_three_probes_in_a_row_must_succeed() {
        let mut breaker = breaker();
        for _ in 0..WINDOW / 2 {
            pass(&mut breaker, Outcome::Answered, NEVER);
            pass(&mut breaker, Outcome::Failed, NEVER);
        }
        let mut now = SHORT_PAUSE;
        let table = [
            (Outcome::Failed, Some(2)),
            (Outcome::Failed, Some(4)),
            (Outcome::Answered, None),
            (Outcome::Answered, None),
            (Outcome::Failed, Some(1)),
            (Outcome::Answered, None),
            (Outcome::Answered, None),
        ];
        for (outcome, pause) in table {
            assert_eq!(breaker.permits(now), Ok(()));
            let change = pass(&mut breaker, outcome, now);
            match pause.map(Duration::from_secs) {
                Some(pause) => {
                    assert_eq!(change, Change::StillOpen { reason: Reason::Share, pause });
                    now += pause;
                }
                None => assert_eq!(change, Change::Same),
            }
        }
        assert_eq!(pass(&mut breaker, Outcome::Answered, now), Change::Closed);
        for _ in 1..WINDOW {
            assert!(breaker.is_closed(), "old evidence does not open it again");
            pass(&mut breaker, Outcome::Answered, now);
        }
    }

    #[test]
    fn pauses_double_up_to_five_minutes_while_probes_fail() {
        let mut breaker = opened();
        let mut now = Duration::ZERO;
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let until = breaker.permits(now).expect_err("open").expect("a time");
            pauses.push((until - now).as_secs());
            now = until;
            assert_eq!(breaker.permits(now), Ok(()));
            pass(&mut breaker, Outcome::Failed, now);
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(breaker.open_for(now), Some(now));
    }

    #[test]
    fn hours_of_maintenance_cost_questions_and_no_request_that_could_leave_a_row_in_doubt() {
        let mut breaker = opened();
        let (mut now, mut questions) = (Duration::ZERO, 0);
        let end = Duration::from_secs(6 * 3_600);
        while now < end {
            now += Duration::from_secs(1);
            if breaker.wants_sounding(now) {
                breaker.sounds();
                assert_eq!(breaker.permits(now), Err(None), "nothing leaves before it is answered");
                assert!(matches!(breaker.sounded(false, now), Change::StillOpen { .. }));
                questions += 1;
            }
            assert!(breaker.permits(now).is_err());
        }
        assert!((70..90).contains(&questions), "{questions}");
        now = breaker.permits(now).expect_err("open").expect("a time");
        assert!(breaker.wants_sounding(now));
        breaker.sounds();
        assert_eq!(breaker.sounded(true, now), Change::Same);
        assert_eq!(breaker.permits(now), Ok(()));
        assert_eq!(pass(&mut breaker, Outcome::Answered, now), Change::Closed);
    }

    #[test]
    fn a_probe_that_tells_nothing_lets_another_pass() {
        let mut breaker = opened();
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
        let probe = breaker.leaves();
        breaker.came_home(probe);
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    }
}
