//! What can be done with rows of a kind where certain operations are available: created, looked up, verified.
//!
//! One table for `doctor`, which says it of every kind, and for `plan` and `run`, which refuse rows that need what is not
//! available.

use serde::Serialize;

use crate::model::kind::Kind;
use crate::model::operation::Operation;

/// What an operation is for, seen from a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

/// The operation without which no row of a kind is created.
pub const fn creation(kind: Kind) -> Operation {
    match kind {
        Kind::Company => Operation::AddCompany,
        Kind::Site => Operation::AddSite,
        Kind::Person => Operation::AddPerson,
        Kind::Device => Operation::AddDevice,
    }
}

/// The operations that only some rows of a kind ask for.
pub const fn asked_for(kind: Kind) -> &'static [Operation] {
    match kind {
        Kind::Company => &[Operation::PutCompanyMetadataList],
        Kind::Site => &[Operation::PutSiteLabels, Operation::PutSiteMetadataList],
        Kind::Person => &[],
        Kind::Device => &[
            Operation::AddDeviceFromTemplate,
            Operation::PutDeviceLabels,
            Operation::PutDeviceMetadataList,
            Operation::AddLicenceCode,
            Operation::SubscribeTemplate,
            Operation::AddDeviceToVpnCloud,
        ],
    }
}

/// The look-ups that find a record of a kind by its natural key, best first.
pub const fn look_ups(kind: Kind) -> &'static [Operation] {
    match kind {
        Kind::Company => &[Operation::GetChildCompanies],
        Kind::Site => &[Operation::FindSitesByName],
        Kind::Person => &[Operation::GetPersonByUsername],
        Kind::Device => &[Operation::GetDeviceByMac, Operation::FindDevicesByName],
    }
}

/// The look-up of a record by its id.
pub const fn by_id(kind: Kind) -> Operation {
    match kind {
        Kind::Company => Operation::GetCompany,
        Kind::Site => Operation::GetSite,
        Kind::Person => Operation::GetPerson,
        Kind::Device => Operation::GetDevice,
    }
}

/// Everything that rows of a kind could send.
pub fn could_send(kind: Kind) -> impl Iterator<Item = Operation> {
    std::iter::once(creation(kind)).chain(asked_for(kind).iter().copied())
}

/// The operations of a kind by what they are for; one that is good for two things is there twice.
pub fn operations(kind: Kind) -> Vec<(Use, Operation)> {
    let each =
        |of: Use, operations: &'static [Operation]| operations.iter().map(move |&operation| (of, operation));
    std::iter::once((Use::Create, creation(kind)))
        .chain(each(Use::Ask, asked_for(kind)))
        .chain(each(Use::LookUp, look_ups(kind)))
        .chain(each(Use::Verify, look_ups(kind)))
        .chain([(Use::Verify, by_id(kind))])
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
        let look_up = look_ups(kind).iter().any(|&operation| available(operation));
        Self { create: available(creation(kind)), look_up, verify: look_up || available(by_id(kind)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::RemoteId;
    use crate::model::record::{Extra, Metadata};

    #[test]
    fn everything_a_row_can_ask_for_is_among_what_its_kind_could_send() {
        let extras = [
            Extra::Labels(vec![]),
            Extra::Metadata(vec![Metadata { key: "k".into(), value: "v".into() }]),
            Extra::Licence("l".into()),
            Extra::EnterpriseTemplate(RemoteId::nil()),
            Extra::VpnCloud(RemoteId::nil()),
        ];
        for kind in Kind::ALL {
            for operation in extras.iter().filter_map(|extra| extra.operation(kind)) {
                assert!(could_send(kind).any(|could| could == operation), "{kind} {operation}");
            }
            assert!(could_send(kind).all(|operation| !operation.looks_up()), "{kind}");
            assert!(look_ups(kind).iter().all(|operation| operation.looks_up()), "{kind}");
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
