//! What a run begins with: it refuses operations without an endpoint, reads what the journal knows, and says what has
//! changed since the last run.
//!
//! A job may take days, and between two of its runs the binary or the profile may have changed. That is reported, not
//! refused: a path that was mapped wrongly has to be mapped rightly some time.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::canary::Canary;
use super::clock_watch::latest_due;
use super::{RunOptions, RunPolicy};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{AuditScope, ImportReserve, ImportTurn, Journal, RunId};
use crate::model::operation::Operation;
use crate::model::quota::QuotaDay;
use crate::model::time::Moment;
use crate::service::{Client, Endpoints};

/// Changes that are reported one by one; of more than these, only how many.
const LISTED: usize = 6;

/// What a run begins with.
pub(super) struct RunOpening {
    /// The operations that its jobs need.
    pub(super) operations: Vec<Operation>,
    /// The creations of the service's day.
    pub(super) today: QuotaDay,
    /// What a refusal has taught.
    pub(super) learned_ceiling: Option<u64>,
    pub(super) run: RunId,
    /// How often a person asked it to try again at once, while it signed in.
    pub(super) asked_now: u64,
    /// The imports whose turn is not as usual.
    pub(super) turns: Vec<ImportTurn>,
    /// Those with a reserve, as they stand on the service's day.
    pub(super) reserves: Vec<ImportReserve>,
    /// That the day does not have what is reserved, in words.
    pub(super) too_much: Option<String>,
    /// What is different from the last run, in words.
    pub(super) changes: Option<String>,
    /// The rows that are sent before all others, and what they are, in words.
    pub(super) canary: Canary,
    pub(super) canary_words: Option<String>,
}

impl RunOpening {
    /// Reads what the journal knows for the run with this entry; `date` is the service's time, if it has said it.
    pub(super) fn of(
        (journal, run): (&mut Journal, RunId),
        client: &Client,
        options: &RunOptions,
        now: Moment,
        date: Option<Moment>,
    ) -> Result<Self> {
        let operations = journal.lanes()?;
        require_available(client.endpoints(), &operations)?;
        let changes = note_terms(journal, run, client.endpoints(), options)?;
        // Moments written by a clock that was ahead would keep their rows waiting until it is right.
        journal.queue().bring_forward(Duration::ZERO, now, latest_due(now, options.policy.settle))?;
        let (today, learned_ceiling) = (quota_today(journal, now, date)?, journal.latest_ceiling()?);
        let (turns, reserves) = (journal.import_turns()?, journal.import_reserves(today.day, now, None)?);
        let ceiling = options.limits.daily_quota.or(learned_ceiling);
        let allowed = ceiling.map(|ceiling| ceiling.saturating_sub(options.limits.reserve));
        let too_much = allowed.and_then(|allowed| too_much(&reserves, allowed));
        let (canary, canary_words) = Canary::open(journal)?;
        Ok(Self {
            operations,
            today,
            learned_ceiling,
            run,
            asked_now: journal.asked_now(run)?,
            turns,
            reserves,
            too_much,
            changes,
            canary,
            canary_words,
        })
    }
}

/// Notes what a run goes by; what is different from the last run, in words.
pub(super) fn note_terms(
    journal: &mut Journal,
    run: RunId,
    endpoints: &Endpoints,
    options: &RunOptions,
) -> Result<Option<String>> {
    let terms =
        RunConfig { daily_quota: options.limits.daily_quota, ..RunConfig::of(endpoints, options.policy) };
    let changes = journal.last_terms()?.and_then(|earlier| terms.changes_since(&earlier));
    journal.queue().note_terms(run, &terms.text())?;
    Ok(changes)
}

/// That a day has fewer creations than what is reserved for imports with rows to send.
fn too_much(reserves: &[ImportReserve], allowed: u64) -> Option<String> {
    let waiting = || reserves.iter().filter(|reserve| reserve.left > 0);
    let together: u64 = waiting().map(|reserve| reserve.reserve).sum();
    let imports: Vec<String> = waiting().map(|reserve| reserve.import.to_string()).collect();
    (together > allowed).then(|| {
        format!(
            "{together} creations of each day are reserved for the imports {}, and a day has {allowed}: not all of them have \
             theirs",
            imports.join(", ")
        )
    })
}

/// The ledger of the service's day. Until the service says its time, this machine's clock tells the day, unless the journal
/// has counted on the day after: then this clock is behind. A day further ahead comes of a clock that was wrong.
fn quota_today(journal: &Journal, now: Moment, date: Option<Moment>) -> Result<QuotaDay> {
    if let Some(date) = date {
        return journal.quota(date.day());
    }
    let latest = journal.quota_now(now)?;
    match latest.day <= now.day().next() {
        true => Ok(latest),
        false => journal.quota(now.day()),
    }
}

/// Refuses to begin when an operation that some job needs has no endpoint.
///
/// # Errors
///
/// `Usage`, with the keys to set.
pub fn require_available(endpoints: &Endpoints, needed: &[Operation]) -> Result<()> {
    let missing: Vec<&str> = needed
        .iter()
        .filter(|operation| !endpoints.available(**operation))
        .map(|operation| operation.name())
        .collect();
    let Some(first) = missing.first() else { return Ok(()) };
    Err(Error::usage(format!(
        "rows of this journal need {}, whose path the specification does not state",
        missing.join(", ")
    ))
    .ending(End::EndpointUnknown)
    .hint(format!(
        "map it in the profile as [profile.NAME.endpoints.{first}] with method and path, or set paths = \"assumed\""
    )))
}

/// What a run goes by: the version of fleetload, where each operation is, and what to do where there is a choice. Words, so that a journal written by another version can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RunConfig {
    version: String,
    /// Method and path of each available operation.
    endpoints: BTreeMap<String, String>,
    policy: BTreeMap<String, String>,
    /// Where one was set; an option of a single command changes it, so that it is no news.
    #[serde(default)]
    daily_quota: Option<u64>,
}

impl RunConfig {
    fn of(endpoints: &Endpoints, policy: RunPolicy) -> Self {
        let endpoints = Operation::ALL
            .iter()
            .filter_map(|&operation| {
                let endpoint = endpoints.get(operation)?;
                let place = format!("{} {}", endpoint.method().as_str(), endpoint.path());
                Some((operation.name().to_owned(), place))
            })
            .collect();
        let audit = policy.audit.map_or("none", AuditScope::word);
        let policy = [
            ("on_quota", policy.on_quota.word().to_owned()),
            ("on_close", policy.on_close.word().to_owned()),
            ("on_existing", policy.on_existing.word().to_owned()),
            ("in_doubt", policy.in_doubt.word().to_owned()),
            ("audit", audit.to_owned()),
            ("settle_seconds", policy.settle.as_secs().to_string()),
        ];
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            endpoints,
            policy: policy.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            daily_quota: None,
        }
    }

    /// As the journal keeps it.
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What is different from the terms of an earlier run, in one sentence; `None` when nothing is, or when they
    /// cannot be read.
    fn changes_since(&self, earlier: &str) -> Option<String> {
        let earlier: Self = serde_json::from_str(earlier).ok()?;
        let mut changes = Vec::new();
        if earlier.version != self.version {
            changes.push(format!("fleetload is now {} (was {})", self.version, earlier.version));
        }
        compare(&earlier.endpoints, &self.endpoints, &mut changes);
        compare(&earlier.policy, &self.policy, &mut changes);
        let further = changes.len().saturating_sub(LISTED);
        changes.truncate(LISTED);
        if further > 0 {
            changes.push(format!("and {further} more"));
        }
        (!changes.is_empty()).then(|| format!("changed since the last run: {}", changes.join("; ")))
    }
}

fn compare(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>, changes: &mut Vec<String>) {
    for (name, value) in now {
        match before.get(name) {
            Some(old) if old == value => {}
            Some(old) => changes.push(format!("{name} is now {value} (was {old})")),
            None => changes.push(format!("{name} is now {value} (was not set)")),
        }
    }
    for (name, old) in before.iter().filter(|(name, _)| !now.contains_key(*name)) {
        changes.push(format!("{name} is not set any more (was {old})"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::Method;
    use crate::run::InDoubt;
    use crate::run::tests::POLICY;
    use crate::service::{Mapping, Paths};

    fn endpoints(paths: Paths, site: Option<&str>) -> Endpoints {
        let mapped =
            site.map(|path| (Operation::AddSite, Mapping { method: Method::Post, path: path.to_owned() }));
        Endpoints::new(paths, mapped.into_iter().collect()).unwrap()
    }

    #[test]
    fn the_same_terms_are_no_news_and_those_that_cannot_be_read_neither() {
        let terms = RunConfig::of(&endpoints(Paths::Documented, None), POLICY);
        assert_eq!(terms.changes_since(&terms.text()), None);
        assert_eq!(terms.changes_since("of another age"), None);
    }

    #[test]
    fn what_has_changed_is_named_with_what_it_was() {
        let before = RunConfig::of(&endpoints(Paths::Documented, Some("/a")), POLICY);
        let policy = RunPolicy { in_doubt: InDoubt::Hold, ..POLICY };
        let after = RunConfig::of(&endpoints(Paths::Documented, Some("/b")), policy);
        assert_eq!(
            after.changes_since(&before.text()).unwrap(),
            "changed since the last run: addSite is now POST /b (was POST /a); in_doubt is now hold (was settle)"
        );
        let without = RunConfig {
            version: "9.9.9".to_owned(),
            ..RunConfig::of(&endpoints(Paths::Documented, None), POLICY)
        };
        let changes = without.changes_since(&before.text()).unwrap();
        assert!(changes.contains("fleetload is now 9.9.9 (was "), "{changes}");
        assert!(changes.contains("addSite is not set any more (was POST /a)"), "{changes}");
    }

    #[test]
    fn a_whole_table_of_changes_is_counted_and_not_recited() {
        let before = RunConfig::of(&endpoints(Paths::Documented, None), POLICY);
        let after = RunConfig::of(&endpoints(Paths::Assumed, None), POLICY);
        let changes = after.changes_since(&before.text()).unwrap();
        assert_eq!(changes.matches("was not set").count(), LISTED);
        assert!(changes.contains("; and "), "{changes}");
    }
}
