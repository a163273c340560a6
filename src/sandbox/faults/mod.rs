//! Fault injection: which faults there are, how often they fire, and which have fired so far.
//!
//! A [`Fault`] is a rule of the scenario. For each request the rules are asked in their order, each draws by its own
//! probability from the seeded generator, and the first that fires decides; a `latency` adds up and lets the next
//! one be asked. What a fired kind does to the request is in `service`.

pub(super) mod apply_fault;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// A kind of fault. *Before* means that nothing was done; *after* that the deed was done and kept, and only
        /// its answer is spoilt.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum FaultKind {
            $($(#[$doc])* #[serde(rename = $name)] $kind,)*
        }

        impl FaultKind {
            /// Every kind, in the order of this list.
            pub const ALL: &'static [FaultKind] = &[$(FaultKind::$kind,)*];

            /// The name used in scenario files and statistics.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// The answer comes `ms` later.
    Latency = "latency",
    /// 429 rateLimitExceeded, nothing done.
    RateLimitExceeded = "rate_limit_exceeded",
    /// 429 quotaLimitExceeded, nothing done.
    QuotaExceeded = "quota_exceeded",
    /// 500 internalServerError, nothing done.
    Error500Before = "error_500_before",
    /// 500 internalServerError, although it was done.
    Error500After = "error_500_after",
    /// The connection is closed without an answer; nothing done.
    RequestLost = "request_lost",
    /// The connection is closed without an answer; it was done.
    AnswerLost = "answer_lost",
    /// The connection is reset without an answer; nothing done.
    ResetBefore = "reset_before",
    /// The connection is reset without an answer; it was done.
    ResetAfter = "reset_after",
    /// It was done; the answer ends after `at` bytes, head included, or anywhere.
    AnswerCut = "answer_cut",
    /// It was done; the answer comes a byte at a time, `ms` between two.
    AnswerDrip = "answer_drip",
    /// Nothing done; the connection is silent for `ms` and then closed, or for ever when `ms` is 0.
    StallBefore = "stall_before",
    /// It was done; the answer comes after `ms`, or never when `ms` is 0.
    StallAfter = "stall_after",
    /// No answer; the connection is closed after `ms`, and only then is it done.
    LateCommit = "late_commit",
    /// The request is carried out twice, as by a proxy that sends again; the second answer is given.
    SentTwice = "sent_twice",
    /// It was done; the answer is 200 with a page.
    Html200 = "html_200",
    /// A page with `status` (503), nothing done.
    Html503Before = "html_503_before",
    /// A page with `status` (503), although it was done.
    Html503After = "html_503_after",
    /// The sign-in page of a network: 200 with a page, nothing done.
    CaptivePortal = "captive_portal",
    /// The page of an unknown path, nothing done.
    NotFound404 = "not_found_404",
    /// The page of a wrong method, nothing done.
    MethodNotAllowed405 = "method_not_allowed_405",
    /// The page of a wrong media type, nothing done.
    UnsupportedMedia415 = "unsupported_media_415",
    /// All tokens are invalid from now on, this request's first.
    TokenRevoked = "token_revoked",
    /// 401 invalid_client, nothing done.
    InvalidClient = "invalid_client",
    /// 401 unauthorizedSource, nothing done.
    UnauthorizedSource = "unauthorized_source",
    /// FAILED noDataFound, nothing done.
    NoDataFound = "no_data_found",
    /// FAILED invalidData for a field that nobody knows of, nothing done: a contract that has drifted.
    InvalidData = "invalid_data",
    /// FAILED invalidState, nothing done.
    InvalidState = "invalid_state",
    /// FAILED generalError, nothing done.
    GeneralError = "general_error",
    /// It was done; the answer is FAILED with an error code that is not documented.
    UnknownCode = "unknown_code",
    /// 302 to another place, nothing done.
    Redirect302 = "redirect_302",
    /// addDevice with a site of its own: the site is made, the device is not; the answer is 500.
    OrphanSite = "orphan_site",
    /// It was done and answered OK; right after, what came into being is gone and what was changed is as before, as when a
    /// spare takes over.
    Vanished = "vanished",
    /// It is done with the name in capitals, stored and answered so; the ledger too shows it so.
    NameFolded = "name_folded",
    /// It was done; the answer is OK without an id.
    IdMissing = "id_missing",
    /// It was done; the answer is OK with the id of something else.
    WrongId = "wrong_id",
    /// It was done; the answer is OK with another name.
    WrongName = "wrong_name",
    /// It was done; the answer is 200 and no text at all.
    Garbled = "garbled",
    /// It was done; the answer carries no `Date`.
    DateMissing = "date_missing",
}

/// One rule: where, what, how often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// An operation by name, `creations` (those that count against the quota), `lookups` (those that change
    /// nothing), or `*`.
    pub operation: String,
    /// What happens.
    pub kind: FaultKind,
    /// How likely it is for a request, from 0 to 1.
    #[serde(default = "always")]
    pub probability: f64,
    /// At most so many times; without it, without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// Leave the first so many matching requests alone.
    #[serde(default)]
    pub after: u64,
    /// Milliseconds, for the kinds that take time.
    #[serde(default)]
    pub ms: u64,
    /// The byte at which an answer is cut; anywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The status of the `html_503_*` pages: 502, 503 or 504 are what proxies send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

fn always() -> f64 {
    1.0
}

impl Fault {
    /// A rule that always fires; narrow it with the methods below.
    #[must_use]
    pub fn new(operation: &str, kind: FaultKind) -> Self {
        Self {
            operation: operation.to_owned(),
            kind,
            probability: 1.0,
            times: None,
            after: 0,
            ms: 0,
            at: None,
            status: None,
        }
    }

    /// How likely, from 0 to 1.
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
    }

    /// At most `times` times.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Not for the first `after` matching requests.
    #[must_use]
    pub fn after(mut self, after: u64) -> Self {
        self.after = after;
        self
    }

    /// Milliseconds for the kinds that take time.
    #[must_use]
    pub fn ms(mut self, ms: u64) -> Self {
        self.ms = ms;
        self
    }

    /// The byte at which an answer is cut.
    #[must_use]
    pub fn at(mut self, at: usize) -> Self {
        self.at = Some(at);
        self
    }

    /// The status of an `html_503_*` page.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    fn matches(&self, operation: &str, creates: bool, reads: bool) -> bool {
        match self.operation.as_str() {
            "*" => true,
            "creations" => creates,
            "lookups" => reads,
            name => name == operation,
        }
    }
}

/// The rules at work with their counts.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    rules: Vec<Rule>,
    fired: BTreeMap<FaultKind, u64>,
}

#[derive(Debug)]
struct Rule {
    fault: Fault,
    seen: u64,
    fired: u64,
}

impl Faults {
    /// Puts other rules in place; what has fired so far stays counted.
    pub(crate) fn replace(&mut self, faults: &[Fault]) {
        self.rules = faults.iter().map(|fault| Rule { fault: fault.clone(), seen: 0, fired: 0 }).collect();
    }

    /// The rule that fires for this request, and the milliseconds that latencies add.
    pub(crate) fn draw(
        &mut self,
        operation: &str,
        creates: bool,
        reads: bool,
        chance: &mut fastrand::Rng,
    ) -> (Option<Fault>, u64) {
        let mut latency = 0;
        let mut chosen = None;
        for rule in &mut self.rules {
            if !rule.fault.matches(operation, creates, reads) {
                continue;
            }
            rule.seen += 1;
            if rule.seen <= rule.fault.after
                || rule.fault.times.is_some_and(|times| rule.fired >= times)
                || chance.f64() >= rule.fault.probability
            {
                continue;
            }
            rule.fired += 1;
            if rule.fault.kind == FaultKind::Latency {
                latency += rule.fault.ms;
                *self.fired.entry(FaultKind::Latency).or_default() += 1;
                continue;
            }
            chosen = Some(rule.fault.clone());
            break;
        }
        (chosen, latency)
    }

    /// Counts a fault whose effect is on its way to the client.
    pub(crate) fn count(&mut self, kind: FaultKind) {
        *self.fired.entry(kind).or_default() += 1;
    }

    /// Takes back a draw that found nothing to spoil, so that it does not use up one of a rule's `times`.
    pub(crate) fn give_back(&mut self, fault: &Fault) {
        let rule = self.rules.iter_mut().find(|rule| rule.fault == *fault);
        if let Some(rule) = rule {
            rule.fired = rule.fired.saturating_sub(1);
        }
    }

    pub(crate) fn fired(&self) -> &BTreeMap<FaultKind, u64> {
        &self.fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(fault: Fault, requests: u64) -> Vec<u64> {
        let mut faults = Faults::default();
        faults.replace(&[fault]);
        let mut chance = fastrand::Rng::with_seed(7);
        (0..requests).filter(|_| faults.draw("addDevice", true, false, &mut chance).0.is_some()).collect()
    }

    #[test]
    fn a_rule_fires_after_its_start_and_no_more_than_its_number() {
        let fault = Fault::new("addDevice", FaultKind::AnswerLost);
        assert_eq!(drawn(fault.clone(), 4), [0, 1, 2, 3]);
        assert_eq!(drawn(fault.clone().after(2), 4), [2, 3]);
        assert_eq!(drawn(fault.clone().after(1).times(2), 5), [1, 2]);
        assert!(drawn(fault.probability(0.0), 100).is_empty());
    }

    #[test]
    fn a_probability_is_met_by_and_large_and_the_same_seed_draws_the_same() {
        let fault = Fault::new("*", FaultKind::AnswerLost).probability(0.05);
        let first = drawn(fault.clone(), 10_000);
        assert!((400..600).contains(&first.len()), "{}", first.len());
        assert_eq!(first, drawn(fault, 10_000));
    }

    #[test]
    fn a_rule_is_met_by_name_or_by_group() {
        for (rule, operation, creates, reads, meets) in [
            ("addSite", "addSite", true, false, true),
            ("addSite", "addDevice", true, false, false),
            ("creations", "addDevice", true, false, true),
            ("creations", "getDevice", false, true, false),
            ("lookups", "getDevice", false, true, true),
            ("*", "auth", false, false, true),
        ] {
            let fault = Fault::new(rule, FaultKind::AnswerLost);
            assert_eq!(fault.matches(operation, creates, reads), meets, "{rule}");
        }
    }

    #[test]
    fn latencies_add_up_and_let_the_next_rule_be_asked() {
        let mut faults = Faults::default();
        faults.replace(&[
            Fault::new("*", FaultKind::Latency).ms(20),
            Fault::new("*", FaultKind::Latency).ms(5),
            Fault::new("*", FaultKind::Html200),
        ]);
        let (fault, latency) = faults.draw("auth", false, false, &mut fastrand::Rng::with_seed(1));
        assert_eq!(fault.map(|fault| fault.kind), Some(FaultKind::Html200));
        assert_eq!(latency, 25);
        assert_eq!(faults.fired()[&FaultKind::Latency], 2);
    }
}
