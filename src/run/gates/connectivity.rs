//! Whether the service can be reached at all. While it cannot, one request at a time finds out; after five
//! minutes without a connection the run stops, with every row ready.

use std::time::Duration;

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
    failed_at: Duration,
    retry_at: Duration,
    wait: Duration,
    probing: bool,
    words: String,
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

    /// When the service is tried again, while it cannot be reached.
    pub(super) fn next_try(&self) -> Option<Duration> {
        self.lost.as_ref().map(|lost| lost.retry_at)
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

    /// An answer came, whatever it said.
    pub(super) fn on_answer(&mut self) {
        self.lost = None;
    }

    /// No connection. Says how long until the next try when that is news.
    pub(super) fn on_failure(&mut self, now: Duration, words: &str) -> Option<Duration> {
        match &mut self.lost {
            None => {
                self.lost = Some(ConnectionLoss {
                    since: now,
                    failed_at: now,
                    retry_at: now + FIRST_WAIT,
                    wait: FIRST_WAIT,
                    probing: false,
                    words: words.to_owned(),
                });
                Some(FIRST_WAIT)
            }
            // One of several that left before the first failure came back.
            Some(lost) if !lost.probing => None,
            Some(lost) => {
                lost.probing = false;
                lost.failed_at = now;
                lost.wait = (lost.wait * 2).min(LONGEST_WAIT);
                lost.retry_at = now + lost.wait;
                words.clone_into(&mut lost.words);
                Some(lost.wait)
            }
        }
    }

    /// Why the run must stop, once tries have failed for longer than patience lasts.
    pub(super) fn given_up(&self) -> Option<&str> {
        self.lost
            .as_ref()
            .filter(|lost| lost.failed_at.saturating_sub(lost.since) >= PATIENCE)
            .map(|lost| lost.words.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_the_service_is_away_one_request_at_a_time_looks_for_it() {
        let mut reach = Connectivity::default();
        assert_eq!(reach.on_failure(Duration::ZERO, "refused"), Some(FIRST_WAIT));
        assert_eq!(reach.on_failure(Duration::ZERO, "refused"), None, "others under way are no news");
        assert_eq!(reach.permits(Duration::ZERO), Err(Some(FIRST_WAIT)));
        assert_eq!(reach.permits(FIRST_WAIT), Ok(()));
        reach.on_send(FIRST_WAIT);
        assert_eq!(reach.permits(FIRST_WAIT), Err(None));
        assert_eq!(reach.on_failure(FIRST_WAIT, "refused"), Some(FIRST_WAIT * 2));
        reach.on_answer();
        assert_eq!(reach.permits(FIRST_WAIT), Ok(()));
    }

    /// Tries as soon as it may until `end`; says when it gave up.
    fn try_until(reach: &mut Connectivity, mut now: Duration, end: Duration) -> Option<Duration> {
        while now < end {
            if let Err(Some(at)) = reach.permits(now) {
                now = at;
            }
            reach.on_send(now);
            reach.on_failure(now, "name not known");
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
        reach.on_failure(first, "name not known");
        let ended = try_until(&mut reach, first, Duration::from_secs(3600)).expect("an end");
        assert!(ended >= first + PATIENCE && ended <= first + PATIENCE + LONGEST_WAIT, "{ended:?}");
        assert_eq!(reach.given_up(), Some("name not known"));
    }

    #[test]
    fn time_in_which_nothing_was_to_be_sent_does_not_try_patience() {
        let mut reach = Connectivity::default();
        reach.on_failure(Duration::ZERO, "connection refused");
        // Parked until the next day: nothing asks for the service.
        assert_eq!(reach.given_up(), None);
        let morning = Duration::from_secs(8 * 3600);
        reach.on_send(morning);
        reach.on_failure(morning, "connection refused");
        assert_eq!(reach.given_up(), None, "one try in the morning");
        assert!(try_until(&mut reach, morning, morning + PATIENCE - LONGEST_WAIT).is_none());
    }

    #[test]
    fn a_probe_that_never_left_lets_another_look() {
        let mut reach = Connectivity::default();
        reach.on_failure(Duration::ZERO, "connection refused");
        reach.on_send(FIRST_WAIT);
        assert_eq!(reach.permits(FIRST_WAIT), Err(None));
        reach.on_not_sent();
        assert_eq!(reach.permits(FIRST_WAIT), Ok(()));
    }
}
