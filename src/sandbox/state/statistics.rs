//! What was asked and how it was answered, for tests and for people who watch a rehearsal.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::sandbox::exchange::Millis;
use crate::sandbox::service::limits::{Client, Window};

/// Counts since the sandbox was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Requests by operation, whatever became of them.
    pub requests: BTreeMap<String, u64>,
    /// Answers by what they said before any fault: `OK`, an error code, or a page.
    pub answers: BTreeMap<String, u64>,
    /// The most requests of one client in any sliding second, by operation, refused ones included.
    pub most_in_a_second: BTreeMap<String, u32>,
    /// Tokens handed out, first ones and refreshed ones.
    pub tokens_issued: u64,
    /// The largest number of requests for a token under way at once.
    pub most_sign_ins_at_once: usize,
    /// Faults that took effect, by kind.
    pub faults_fired: BTreeMap<String, u64>,
    /// Creations used up today, by client id.
    pub quota_used: BTreeMap<String, u64>,
    /// The same of every day, by days since 1970-01-01 UTC.
    pub quota_by_day: BTreeMap<String, BTreeMap<i64, u64>>,
    /// Records that exist, by kind.
    pub records: BTreeMap<String, usize>,
    /// Entries in the ledger.
    pub commits: usize,
}

/// The counters behind [`Statistics`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: HashMap<&'static str, u64>,
    answers: HashMap<&'static str, u64>,
    arrivals: HashMap<(Option<Client>, &'static str), Window>,
    most: BTreeMap<&'static str, u32>,
    pub(crate) tokens_issued: u64,
    sign_ins: Vec<Millis>,
    most_sign_ins: usize,
}

impl Counters {
    pub(crate) fn arrive(&mut self, client: Option<Client>, operation: &'static str, now: Millis) {
        *self.requests.entry(operation).or_default() += 1;
        let number = self.arrivals.entry((client, operation)).or_default().add(now);
        let most = self.most.entry(operation).or_default();
        *most = (*most).max(number);
    }

    pub(crate) fn answer(&mut self, outcome: &'static str) {
        *self.answers.entry(outcome).or_default() += 1;
    }

    /// A request for a token is under way until its answer leaves; one that is answered at once, for a millisecond.
    pub(crate) fn sign_in(&mut self, now: Millis, delay_ms: u64) {
        self.sign_ins.retain(|end| *end > now);
        let delay = Millis::try_from(delay_ms.max(1)).unwrap_or(Millis::MAX);
        self.sign_ins.push(now.saturating_add(delay));
        self.most_sign_ins = self.most_sign_ins.max(self.sign_ins.len());
    }

    pub(crate) fn snapshot(&self) -> Statistics {
        let named = |counts: &HashMap<&'static str, u64>| {
            counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        Statistics {
            requests: named(&self.requests),
            answers: named(&self.answers),
            most_in_a_second: self.most.iter().map(|(name, most)| ((*name).to_owned(), *most)).collect(),
            tokens_issued: self.tokens_issued,
            most_sign_ins_at_once: self.most_sign_ins,
            ..Statistics::default()
        }
    }
}
