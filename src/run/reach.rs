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
pub(super) struct Reach {
    lost: Option<Lost>,
}

#[derive(Debug, Clone)]
struct Lost {
    since: Duration,
    retry_at: Duration,
    wait: Duration,
    probing: bool,
    words: String,
}

impl Reach {
    /// Whether a request may leave now; if not, when to ask again (`None`: after the probe has come home).
    pub(super) fn permits(&self, now: Duration) -> Result<(), Option<Duration>> {
        match &self.lost {
            None => Ok(()),
            Some(lost) if lost.probing => Err(None),
            Some(lost) if now < lost.retry_at => Err(Some(lost.retry_at)),
            Some(_) => Ok(()),
        }
    }

    /// A request leaves.
    pub(super) fn leaves(&mut self) {
        if let Some(lost) = &mut self.lost {
            lost.probing = true;
        }
    }

    /// An answer came, whatever it said.
    pub(super) fn reached(&mut self) {
        self.lost = None;
    }

    /// No connection. Says how long until the next try when that is news.
    pub(super) fn failed(&mut self, now: Duration, words: &str) -> Option<Duration> {
        match &mut self.lost {
            None => {
                self.lost = Some(Lost {
                    since: now,
                    retry_at: now + FIRST_WAIT,
                    wait: FIRST_WAIT,
                    probing: false,
                    words: words.to_owned(),
                });
                Some(FIRST_WAIT)
            }
            // One of several that left before the first failure came home.
            Some(lost) if !lost.probing => None,
            Some(lost) => {
                lost.probing = false;
                lost.wait = (lost.wait * 2).min(LONGEST_WAIT);
                lost.retry_at = now + lost.wait;
                words.clone_into(&mut lost.words);
                Some(lost.wait)
            }
        }
    }

    /// Why the run must stop, once patience has ended.
    pub(super) fn given_up(&self, now: Duration) -> Option<&str> {
        self.lost
            .as_ref()
            .filter(|lost| now.saturating_sub(lost.since) >= PATIENCE)
            .map(|lost| lost.words.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_the_service_is_away_one_request_at_a_time_looks_for_it() {
        let mut reach = Reach::default();
        assert_eq!(reach.failed(Duration::ZERO, "refused"), Some(FIRST_WAIT));
        assert_eq!(reach.failed(Duration::ZERO, "refused"), None, "others under way are no news");
        assert_eq!(reach.permits(Duration::ZERO), Err(Some(FIRST_WAIT)));
        assert_eq!(reach.permits(FIRST_WAIT), Ok(()));
        reach.leaves();
        assert_eq!(reach.permits(FIRST_WAIT), Err(None));
        assert_eq!(reach.failed(FIRST_WAIT, "refused"), Some(FIRST_WAIT * 2));
        reach.reached();
        assert_eq!(reach.permits(FIRST_WAIT), Ok(()));
    }

    #[test]
    fn patience_ends_after_five_minutes_and_not_before() {
        let mut reach = Reach::default();
        reach.failed(Duration::from_secs(10), "name not known");
        assert_eq!(reach.given_up(Duration::from_secs(309)), None);
        assert_eq!(reach.given_up(Duration::from_secs(310)), Some("name not known"));
    }
}
