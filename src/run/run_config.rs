//! What a run goes by: the version of fleetload, where each operation is, and what to do where there is a choice.
//!
//! A job may take days, and between two of its runs the binary or the profile may have changed. That is reported, not
//! refused: a path that was mapped wrongly has to be mapped rightly some time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Policy;
use crate::journal::AuditScope;
use crate::model::operation::Operation;
use crate::service::Endpoints;

/// Changes that are reported one by one; of more than these, only how many.
const TOLD: usize = 6;

/// See the module. Words, so that a journal written by another version can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunConfig {
    version: String,
    /// Method and path of each available operation.
    endpoints: BTreeMap<String, String>,
    policy: BTreeMap<String, String>,
}

impl RunConfig {
    pub(super) fn of(endpoints: &Endpoints, policy: Policy) -> Self {
        let endpoints = Operation::ALL
            .iter()
            .filter_map(|&operation| {
                let endpoint = endpoints.get(operation)?;
                let place = format!("{} {}", endpoint.method().as_str(), endpoint.path());
                Some((operation.name().to_owned(), place))
            })
            .collect();
        let audit = match policy.audit {
            Some(AuditScope::All) => "all",
            Some(AuditScope::Doubtful) => "doubtful",
            None => "none",
        };
        let policy = [
            ("on_quota", policy.on_quota.word().to_owned()),
            ("on_existing", policy.on_existing.word().to_owned()),
            ("in_doubt", policy.in_doubt.word().to_owned()),
            ("audit", audit.to_owned()),
            ("settle_seconds", policy.settle.as_secs().to_string()),
        ];
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            endpoints,
            policy: policy.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        }
    }

    /// As the journal keeps it.
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What is different from the terms of an earlier run, in one sentence; `None` when nothing is, or when they
    /// cannot be read.
    pub(super) fn changes_since(&self, earlier: &str) -> Option<String> {
        let earlier: Self = serde_json::from_str(earlier).ok()?;
        let mut changes = Vec::new();
        if earlier.version != self.version {
            changes.push(format!("fleetload is now {} (was {})", self.version, earlier.version));
        }
        compare(&earlier.endpoints, &self.endpoints, &mut changes);
        compare(&earlier.policy, &self.policy, &mut changes);
        let further = changes.len().saturating_sub(TOLD);
        changes.truncate(TOLD);
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
    use std::time::Duration;

    use super::*;
    use crate::model::operation::Method;
    use crate::run::{InDoubt, OnExisting, OnQuota, OnRejections};
    use crate::service::{Mapping, Paths};

    const POLICY: Policy = Policy {
        on_quota: OnQuota::Wait,
        on_existing: OnExisting::Adopt,
        in_doubt: InDoubt::Settle,
        settle: Duration::from_secs(600),
        audit: None,
        on_rejections: OnRejections::Leave,
    };

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
        let policy = Policy { in_doubt: InDoubt::Hold, ..POLICY };
        let after = RunConfig::of(&endpoints(Paths::Documented, Some("/b")), policy);
        assert_eq!(
            after.changes_since(&before.text()).unwrap(),
            "changed since the last run: addSite is now POST /b (was POST /a); in_doubt is now hold (was settle)"
        );
        let without = RunConfig {
            version: "9.9.9".to_owned(),
            ..RunConfig::of(&endpoints(Paths::Documented, None), POLICY)
        };
        let told = without.changes_since(&before.text()).unwrap();
        assert!(told.contains("fleetload is now 9.9.9 (was "), "{told}");
        assert!(told.contains("addSite is not set any more (was POST /a)"), "{told}");
    }

    #[test]
    fn a_whole_table_of_changes_is_counted_and_not_recited() {
        let before = RunConfig::of(&endpoints(Paths::Documented, None), POLICY);
        let after = RunConfig::of(&endpoints(Paths::Assumed, None), POLICY);
        let told = after.changes_since(&before.text()).unwrap();
        assert_eq!(told.matches("was not set").count(), TOLD);
        assert!(told.contains("; and "), "{told}");
    }
}
