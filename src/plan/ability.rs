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
    /// It finds the record by its natural key, before sending and after a lost answer; of an upkeep row, it shows whether what
    /// the row asks for is so.
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
    let look_ups = look_ups(kind);
    let each = |of: Use| look_ups.iter().map(move |&operation| (of, operation));
    std::iter::once((Use::Create, known.creation))
        .chain(asked_for(kind).map(|operation| (Use::Ask, operation)))
        .chain(each(Use::LookUp))
        .chain(each(Use::Verify))
        .chain(known.by_id.map(|operation| (Use::Verify, operation)))
        .collect()
}

/// The look-ups of a kind: by the natural key of its records; of upkeep rows, those that show what they change.
fn look_ups(kind: Kind) -> Vec<Operation> {
    let mut look_ups = kind.descriptor().look_ups.to_vec();
    if let Kind::Upkeep(_) = kind {
        for shown_by in could_send(kind).filter_map(ActionDescriptor::shown_by_of) {
            if !look_ups.contains(&shown_by) {
                look_ups.push(shown_by);
            }
        }
    }
    look_ups
}

/// What can be done with rows of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ability {
    /// Whether they can be created, or carried out.
    pub create: bool,
    /// Whether they can be looked up by their natural key; else a lost answer needs a person, but for devices with a MAC
    /// address. Of upkeep rows, whether a look-up shows each change that they can ask for.
    pub look_up: bool,
    /// Whether they can be verified after the run.
    pub verify: bool,
}

impl Ability {
    /// Of a kind, where these operations are available.
    pub fn of(kind: Kind, available: &dyn Fn(Operation) -> bool) -> Self {
        let known = kind.descriptor();
        let is_shown = |operation| ActionDescriptor::shown_by_of(operation).is_some_and(available);
        let look_up = match kind {
            Kind::Upkeep(_) => {
                let mut sent = could_send(kind).filter(|&operation| available(operation)).peekable();
                sent.peek().is_some() && sent.all(is_shown)
            }
            Kind::Company | Kind::Site | Kind::Person | Kind::Device => {
                known.look_ups.iter().any(|&operation| available(operation))
            }
        };
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
    use crate::model::kind::Upkeep;

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

    #[test]
    fn upkeep_is_looked_up_where_every_change_that_can_be_sent_is_shown() {
        use Operation::{
            AddDeviceToVpnCloud, AddLicenceCode, DeleteInterfaceLabel, ListDeviceLabels, ListInterfaceLabels,
            ListSiteLabels, PutDeviceLabel, PutInterfaceLabel, PutSiteLabel,
        };
        let labels = [PutSiteLabel, PutDeviceLabel, PutInterfaceLabel, DeleteInterfaceLabel];
        let lists = [ListSiteLabels, ListDeviceLabels, ListInterfaceLabels];
        let all = [&labels[..], &lists].concat();
        for (kind, available, expected) in [
            (Upkeep::Labels, &all[..], (true, true, true)),
            (Upkeep::Labels, &all[..all.len() - 1], (true, false, false)),
            (Upkeep::Labels, &[PutDeviceLabel, ListDeviceLabels], (true, true, true)),
            (Upkeep::Labels, &labels, (true, false, false)),
            (Upkeep::Labels, &lists, (false, false, false)),
            (Upkeep::Licences, &[AddLicenceCode], (true, false, false)),
            (Upkeep::Vpn, &[AddDeviceToVpnCloud], (true, false, false)),
        ] {
            let ability = Ability::of(Kind::Upkeep(kind), &|operation| available.contains(&operation));
            let got = (ability.create, ability.look_up, ability.verify);
            assert_eq!(got, expected, "{kind:?} {available:?}");
        }
        let shown = operations(Kind::Upkeep(Upkeep::Labels));
        for list in lists {
            let uses: Vec<Use> = shown.iter().filter(|(_, of)| *of == list).map(|(of, _)| *of).collect();
            assert_eq!(uses, [Use::LookUp, Use::Verify], "{list}");
        }
    }
}
