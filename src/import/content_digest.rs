//! The digest of all that a row asks for and belongs to, in two steps: what it belongs to is known later.

use sha2::{Digest as _, Sha256};

use crate::journal::WrittenStep;
use crate::model::content_hash::ContentHash;
use crate::model::record::{Link, Target};

/// A digest of what a row asks for, before it is known what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepsDigest(pub(super) [u8; 32]);

impl StepsDigest {
    /// That of steps as they are written.
    pub(super) fn of(steps: &[WrittenStep]) -> Self {
        let mut digest = Sha256::new();
        for step in steps {
            // No line break is in what is written.
            digest.update("\n");
            digest.update(&step.action);
        }
        Self(digest.finalize().into())
    }

    /// The digest of a row with these links, as the journal keeps it.
    pub(super) fn linked(&self, links: &[Link]) -> ContentHash {
        let mut digest = Sha256::new();
        digest.update(self.0);
        for link in links {
            digest.update(link.role.as_str());
            match link.target {
                Target::Job(job) => {
                    digest.update("#");
                    digest.update(job.0.to_le_bytes());
                }
                Target::Remote(id) => {
                    digest.update("=");
                    digest.update(id.as_bytes());
                }
            }
        }
        digest.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal;
    use crate::model::action::Action;
    use crate::model::id::JobId;
    use crate::model::kind::Kind;
    use crate::model::record::{Record, Role};
    use crate::testing;

    #[test]
    fn the_digest_tells_apart_all_that_a_row_asks_for_and_belongs_to() {
        let create = Action::Create(Record::Site(testing::site("Head \"office\"")));
        let labels = |labels: &[&str]| Action::PutLabels(labels.iter().map(|&label| label.into()).collect());
        let link = |job| Link { role: Role::Company, target: Target::Job(JobId(job)) };
        let remote = |id| Link { role: Role::Company, target: Target::Remote(uuid::Uuid::from_u128(id)) };
        let asked: [(Vec<Action>, Vec<Link>); 7] = [
            (vec![create.clone()], vec![]),
            (vec![create.clone()], vec![link(7)]),
            (vec![create.clone()], vec![link(8)]),
            (vec![create.clone()], vec![remote(7)]),
            (vec![create.clone(), labels(&["a", "b"])], vec![link(7)]),
            (vec![create, labels(&["a"]), labels(&["b"])], vec![link(7)]),
            (vec![Action::Create(Record::Site(testing::site("Shop")))], vec![]),
        ];
        let digest = |(actions, links): &(Vec<Action>, Vec<Link>)| {
            StepsDigest::of(&journal::written_steps(Kind::Site, actions).unwrap()).linked(links)
        };
        let digests: std::collections::HashSet<_> = asked.iter().map(digest).map(String::from).collect();
        assert_eq!(digests.len(), asked.len());
        assert_eq!(digest(&asked[3]), digest(&asked[3].clone()));
    }
}
