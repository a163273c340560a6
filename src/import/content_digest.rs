//! A digest of all that a row asks for and belongs to, by which it is known again as unchanged.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use sha2::{Digest, Sha256};

use crate::journal::WrittenStep;
use crate::model::record::{Link, Target};

/// Bytes kept of a digest: 96 bits tell any two contents apart that one row has after each other.
const KEPT: usize = 12;

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
    pub(super) fn linked(&self, links: &[Link]) -> String {
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
        BASE64.encode(&digest.finalize()[..KEPT])
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
        let digests: std::collections::BTreeSet<_> = asked.iter().map(digest).collect();
        assert_eq!(digests.len(), asked.len());
        assert_eq!(digest(&asked[3]), digest(&asked[3].clone()));
    }
}
