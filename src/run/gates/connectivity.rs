//! Whether the service can be reached and gives tokens at all. While it cannot or does not, one request at a time finds out.
//! After five minutes without a connection the run stops, and after a day without a token, with every row ready.

use std::time::Duration;

use super::BREAKER_PATIENCE;
use super::breaker::{FIRST_PAUSE, LONGEST_PAUSE};

/// The first wait after a failed connection; each further one doubles.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Without a connection for this long, the run stops.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// Whether the service can be reached. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone, Default)]
pub(super) struct Connectivity {
    lost: Option<ConnectionLoss>,
}

#[derive(Debug, Clone)]
struct ConnectionLoss {
    since: Duration,
    /// When the service last answered a request for a token and gave none.
    no_token_at: Option<Duration>,
    failed_at: Duration,
    retry_at: Duration,
    wait: Duration,
    probing: bool,
    words: String,
}

impl ConnectionLoss {
    /// Whether the last try was answered, without a token.
    fn is_answered(&self) -> bool {
        self.no_token_at == Some(self.failed_at)
    }
}

/// Why a request could not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// There is no connection.
    Connection,
    /// The service gives no token.
    Token,
}

impl Lack {
    /// The first wait and the longest one.
    fn waits(self) -> (Duration, Duration) {
        match self {
            Self::Connection => (FIRST_WAIT, LONGEST_WAIT),
            Self::Token => (FIRST_PAUSE, LONGEST_PAUSE),
        }
    }
}

impl Connectivity {
    /// Whether a request may leave now; if not, when to ask again (`None`: after the probe has come back).
    pub(super) fn permits(&self, now: Duration) -> Result<(), Option<Duration>> {
        match &self.lost {
            None => Ok(()),
            Some(lost) if lost.probing => Err(None),
            Some(lost) if now < lost.retry_at => Err(Some(lost.retry_at)),
            Some(_) => Ok(()),
        }
    }

    /// Whether nothing can be sent.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// When the service is tried again, while it cannot be reached.
    pub(super) fn next_try(&self) -> Option<Duration> {
        self.lost.as_ref().filter(|lost| !lost.is_answered()).map(|lost| lost.retry_at)
    }

    /// When the service is asked for a token again, while it gives none; within, `None` while it is asked.
    pub(super) fn next_token_try(&self) -> Option<Option<Duration>> {
        let lost = self.lost.as_ref().filter(|lost| lost.no_token_at.is_some())?;
        Some((!lost.probing).then_some(lost.retry_at))
    }

    /// Ends the wait for the next try. Whether there was one.
    pub(super) fn try_now(&mut self, now: Duration) -> bool {
        match &mut self.lost {
            Some(lost) if !lost.probing => {
                lost.retry_at = lost.retry_at.min(now);
                true
            }
            Some(_) | None => false,
        }
    }

    /// A request leaves.
    pub(super) fn on_send(&mut self, now: Duration) {
        if let Some(lost) = &mut self.lost {
            lost.probing = true;
            if now > lost.retry_at + LONGEST_WAIT {
                // Nothing wanted to leave for so long: that says nothing about the service.
                lost.since = now;
            }
        }
    }

    /// What was to leave did not: another request may find out.
    pub(super) fn on_not_sent(&mut self) {
        if let Some(lost) = &mut self.lost {
            lost.probing = false;
        }
    }

    /// An answer came, whatever it said. Whether the service gives tokens again, which it did not.
    pub(super) fn on_answer(&mut self) -> bool {
        match &self.lost {
            // It left with an earlier token.
            Some(lost) if lost.is_answered() && !lost.probing => false,
            Some(_) | None => self.on_token(),
        }
    }

    /// The service has given a token. Whether it gave none before.
    pub(super) fn on_token(&mut self) -> bool {
        self.lost.take().is_some_and(|lost| lost.no_token_at.is_some())
    }

    /// A request could not be sent. Says how long until the next try when that is news.
    pub(super) fn on_failure(&mut self, now: Duration, lack: Lack, words: &str) -> Option<Duration> {
        let (first, longest) = lack.waits();
        let no_token_at = (lack == Lack::Token).then_some(now);
        match &mut self.lost {
            None => {
                self.lost = Some(ConnectionLoss {
                    since: now,
                    no_token_at,
                    failed_at: now,
                    retry_at: now + first,
                    wait: first,
                    probing: false,
                    words: words.to_owned(),
                });
                Some(first)
            }
            // One of several that left before the first failure came back.
            Some(lost) if !lost.probing => None,
            Some(lost) => {
                lost.probing = false;
                lost.no_token_at = no_token_at.or(lost.no_token_at);
                lost.failed_at = now;
                lost.wait = (lost.wait * 2).clamp(first, longest);
                lost.retry_at = now + lost.wait;
                words.clone_into(&mut lost.words);
                Some(lost.wait)
            }
        }
    }

    /// What is lacking and why, once tries have failed for longer than patience lasts.
    pub(super) fn given_up(&self) -> Option<(Lack, &str)> {
        let lost = self.lost.as_ref()?;
        let lasts = |since: Duration| lost.failed_at.saturating_sub(since);
        let unreached = lost.no_token_at.map_or(lost.since, |at| at.max(lost.since));
        let lack = if lasts(unreached) >= PATIENCE {
            Lack::Connection
        } else if lost.no_token_at.is_some() && lasts(lost.since) >= BREAKER_PATIENCE {
            Lack::Token
        } else {
            return None;
        };
        Some((lack, &lost.words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_the_service_is_away_one_request_at_a_time_looks_for_it() {
        let mut reach = Connectivity::default();
        assert_eq!(reach.on_failure(Duration::ZERO, Lack::Connection, "refused"), Some(FIRST_WAIT));
        assert_eq!(
            reach.on_failure(Duration::ZERO, Lack::Connection, "refused"),
            None,
            "others under way are no news"
        );
        assert_eq!(reach.permits(Duration::ZERO), Err(Some(FIRST_WAIT)));
        assert_eq!(reach.permits(FIRST_WAIT), Ok(()));
        reach.on_send(FIRST_WAIT);
        assert_eq!(reach.permits(FIRST_WAIT), Err(None));
        assert_eq!(reach.on_failure(FIRST_WAIT, Lack::Connection, "refused"), Some(FIRST_WAIT * 2));
        reach.on_answer();
        assert_eq!(reach.permits(FIRST_WAIT), Ok(()));
    }

    /// Tries as soon as it may until `end`; says when it gave up.
    fn try_until(reach: &mut Connectivity, lack: Lack, mut now: Duration, end: Duration) -> Option<Duration> {
        while now < end {
            if let Err(Some(at)) = reach.permits(now) {
                now = at;
            }
            reach.on_send(now);
            reach.on_failure(now, lack, "name not known");
            if reach.given_up().is_some() {
                return Some(now);
            }
        }
        None
    }

    #[test]
    fn patience_ends_after_five_minutes_of_tries_and_not_before() {
        let mut reach = Connectivity::default();
        let first = Duration::from_secs(10);
        reach.on_failure(first, Lack::Connection, "name not known");
        let ended =
            try_until(&mut reach, Lack::Connection, first, Duration::from_secs(3600)).expect("an end");
        assert!(ended >= first + PATIENCE && ended <= first + PATIENCE + LONGEST_WAIT, "{ended:?}");
        assert_eq!(reach.given_up(), Some((Lack::Connection, "name not known")));
    }

    #[test]
    fn time_in_which_nothing_was_to_be_sent_does_not_try_patience() {
        let mut reach = Connectivity::default();
        reach.on_failure(Duration::ZERO, Lack::Connection, "connection refused");
        // Parked until the next day: nothing asks for the service.
        assert_eq!(reach.given_up(), None);
        let morning = Duration::from_secs(8 * 3600);
        reach.on_send(morning);
        reach.on_failure(morning, Lack::Connection, "connection refused");
        assert_eq!(reach.given_up(), None, "one try in the morning");
        assert!(
            try_until(&mut reach, Lack::Connection, morning, morning + PATIENCE - LONGEST_WAIT).is_none()
        );
    }

    #[test]
    fn a_probe_that_never_left_lets_another_look() {
        let mut reach = Connectivity::default();
        reach.on_failure(Duration::ZERO, Lack::Connection, "connection refused");
        reach.on_send(FIRST_WAIT);
        assert_eq!(reach.permits(FIRST_WAIT), Err(None));
        reach.on_not_sent();
        assert_eq!(reach.permits(FIRST_WAIT), Ok(()));
    }

    #[test]
    fn an_answer_without_a_token_shows_that_there_is_a_connection_and_each_lack_has_its_patience() {
        let mut reach = Connectivity::default();
        let shown = |reach: &Connectivity| (reach.next_try().is_some(), reach.next_token_try().is_some());
        reach.on_failure(Duration::ZERO, Lack::Connection, "refused");
        assert_eq!(shown(&reach), (true, false));
        reach.on_send(FIRST_WAIT);
        reach.on_failure(FIRST_WAIT, Lack::Token, "a page");
        assert_eq!(shown(&reach), (false, true));
        assert!(!reach.on_answer(), "of a request that left with the earlier token");
        let late = BREAKER_PATIENCE - LONGEST_PAUSE * 2;
        assert_eq!(try_until(&mut reach, Lack::Token, FIRST_WAIT, late), None);

        // Without a connection after that, its own patience begins; a night without a try does not count.
        let (mut lost, mut parked) = (reach.clone(), reach.clone());
        let ended = try_until(&mut lost, Lack::Connection, late, BREAKER_PATIENCE * 2).expect("an end");
        assert!(ended <= late + PATIENCE + LONGEST_PAUSE * 2, "{ended:?}");
        assert_eq!(
            (shown(&lost), lost.given_up()),
            ((true, true), Some((Lack::Connection, "name not known")))
        );
        parked.on_send(BREAKER_PATIENCE * 2);
        parked.on_failure(BREAKER_PATIENCE * 2, Lack::Connection, "refused");
        assert_eq!(parked.given_up(), None, "one try in the morning");

        let ended = try_until(&mut reach, Lack::Token, late, BREAKER_PATIENCE * 2).expect("an end");
        assert!(ended >= BREAKER_PATIENCE && ended <= BREAKER_PATIENCE + LONGEST_PAUSE, "{ended:?}");
        assert_eq!(reach.given_up().map(|(lack, _)| lack), Some(Lack::Token));
        assert!(reach.on_token() && !reach.is_lost());
    }
}
