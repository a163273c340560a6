//! The first sign-in of a run, before anything is claimed. Credentials that are refused stop a run before it begins, and
//! the first answer tells the service's time, by whose day creations are counted.
//!
//! A service that does not answer is waited for, perhaps for minutes. Meanwhile the journal says so, and a person may have
//! it tried again at once.

use std::pin::pin;
use std::time::Duration;

use super::ending::Ending;
use crate::clock::Clock;
use crate::journal::{Journal, RunId};
use crate::model::remaining::Remaining;
use crate::model::verdict::{NotSent, Verdict};
use crate::service::{Client, TokenInfo};

/// How often the journal is asked whether a person wants it tried again. A sign-in that is answered before that is not noted.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Signs in for a run that has its entry in the journal. `tell` is called when a person has it tried again.
///
/// # Errors
///
/// What the last try came to, where it gave no token.
pub async fn sign_in(
    client: &Client,
    clock: &dyn Clock,
    (journal, run): (&mut Journal, RunId),
    tell: impl Fn(&str),
) -> Result<TokenInfo, Verdict> {
    let since = clock.now();
    let (mut asked, mut is_noted) = (journal.asked_now(run).unwrap_or_default(), false);
    let ended = 'tries: loop {
        let mut answer = pin!(client.sign_in());
        loop {
            tokio::select! {
                biased;
                ended = &mut answer => break 'tries ended,
                () = clock.sleep_until(clock.elapsed() + CHECK_EVERY) => {}
            }
            if !std::mem::replace(&mut is_noted, true) {
                let waiting = Remaining { at: since, signing_in: Some(since), ..Remaining::default() };
                // Nothing depends on it but what others see.
                drop(journal.queue().note_remaining(run, Some(&waiting)));
            }
            let times = journal.asked_now(run).unwrap_or(asked);
            if std::mem::replace(&mut asked, times) < times {
                tell("asked to try again now: the sign-in");
                continue 'tries;
            }
        }
    };
    if is_noted {
        drop(journal.queue().note_remaining(run, None));
    }
    ended
}

/// What the service has said, if it has. A service that cannot be reached is left to the loop, which waits for it.
///
/// # Errors
///
/// How the run ends that cannot begin.
pub(super) fn answered(signed_in: Result<TokenInfo, Verdict>) -> Result<Option<TokenInfo>, Ending> {
    match signed_in {
        Ok(token) => Ok(Some(token)),
        Err(verdict) => ending_of(&verdict).map_or(Ok(None), Err),
    }
}

/// How a run ends whose sign-in came to this before anything else was answered; `None` when it is tried again.
pub(super) fn ending_of(sign_in: &Verdict) -> Option<Ending> {
    match sign_in {
        Verdict::Refused(refusal) => Some(Ending::refused(*refusal)),
        Verdict::EndpointMissing(status) => Some(Ending::no_token_endpoint(*status)),
        Verdict::NotSent(NotSent::Untrusted(words)) => Some(Ending::distrusted(words)),
        _ => None,
    }
}
