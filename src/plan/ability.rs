//! What can be done with rows of a kind where certain operations are available: created, looked up, verified.
//!
//! One table for `doctor`, which says it of every kind, and for `plan` and `run`, which refuse rows that need what is not
//! available.

use serde::Serialize;

use crate::model::descriptor::ActionDescriptor;
use crate::model::kind::Kind;
use crate::model::operation::Operation;

/// What an operation is for, seen from a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// It makes the record.
    Create,
    /// It makes the record, or changes it, where a row asks for that.
    Ask,
    /// It finds the record by its natural key, before sending and after a lost answer.
    LookUp,
    /// It verifies the record afterwards.
    Verify,
}

/// The operations that only some rows of a kind ask for.
fn asked_for(kind: Kind) -> impl Iterator<Item = Operation> {
    could_send(kind).filter(move |&operation| operation != kind.descriptor().creation)
}

/// Everything that rows of a kind could send.
pub fn could_send(kind: Kind) -> impl Iterator<Item = Operation> {
    ActionDescriptor::ALL.iter().flat_map(move |action| action.operations_for(kind))
}

/// The operations of a kind by what they are for; one that is good for two things is there twice.
pub fn operations(kind: Kind) -> Vec<(Use, Operation)> {
    let known = kind.descriptor();
    let each = |of: Use| known.look_ups.iter().map(move |&operation| (of, operation));
    std::iter::once((Use::Create, known.creation))
        .chain(asked_for(kind).map(|operation| (Use::Ask, operation)))
        .chain(each(Use::LookUp))
        .chain(each(Use::Verify))
        .chain(known.by_id.map(|operation| (Use::Verify, operation)))
        .collect()
}

/// What can be done with rows of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ability {
    /// Whether they can be created.
    pub create: bool,
    /// Whether they can be looked up by their natural key; else a lost answer needs a person, but for devices with a MAC
    /// address.
    pub look_up: bool,
    /// Whether they can be verified after the run.
    pub verify: bool,
}

impl Ability {
    /// Of a kind, where these operations are available.
    pub fn of(kind: Kind, available: &dyn Fn(Operation) -> bool) -> Self {
        let known = kind.descriptor();
        let look_up = known.look_ups.iter().any(|&operation| available(operation));
        Self {
            create: available(known.creation),
            look_up,
            verify: look_up || known.by_id.is_some_and(available),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_send_what_changes_something_and_are_found_by_what_only_reads() {
        for kind in Kind::ALL {
            assert!(could_send(kind).all(|operation| !operation.looks_up()), "{kind}");
            assert!(asked_for(kind).all(|operation| operation != kind.descriptor().creation), "{kind}");
            assert!(kind.descriptor().look_ups.iter().all(|operation| operation.looks_up()), "{kind}");
        }
    }

    #[test]
    fn what_can_be_done_follows_from_what_is_available() {
        let with = |available: &[Operation]| {
            let ability = Ability::of(Kind::Device, &|operation| available.contains(&operation));
            (ability.create, ability.look_up, ability.verify)
        };
        assert_eq!(with(&[]), (false, false, false));
        assert_eq!(with(&[Operation::AddDevice]), (true, false, false));
        assert_eq!(with(&[Operation::GetDevice]), (false, false, true));
        assert_eq!(with(&[Operation::AddDevice, Operation::FindDevicesByName]), (true, true, true));
        assert_eq!(with(&[Operation::AddDeviceFromTemplate]), (false, false, false));
    }
}
