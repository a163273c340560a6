//! What is known of the operations that change something, for when the answer to one is lost: the look-ups that show whether
//! it was carried out, what a second request does, and why (specification 2 and 4).

use super::Operation;
use crate::model::action::Repeat;

/// An operation that changes something.
#[derive(Debug, Clone, Copy)]
pub struct Writing {
    /// The look-ups that show whether it was carried out, best first; none where the service has no such operation.
    pub shown_by: &'static [Operation],
    /// What a second request does. Of a creation, that of a record without a value that is unique.
    pub repeat: Repeat,
    /// Why, in words.
    pub why: &'static str,
    /// The sections of the specification that say so.
    pub sections: &'static str,
}

const fn writing(
    shown_by: &'static [Operation],
    repeat: Repeat,
    why: &'static str,
    sections: &'static str,
) -> Writing {
    Writing { shown_by, repeat, why, sections }
}

const SAME_FIELDS: &str = "it sets the same fields to the same values";
const SAME_LABEL: &str = "a label is known by its owner and its text, and the same text is put";
const NO_LABEL: &str = "a label that is not there is not there after a second request either";
const SAME_ENTRY: &str = "an entry is known by its owner and its key, and the same value is put";
const NO_ENTRY: &str = "the id of the entry names nothing else once the entry is gone";
const SUBSCRIBED: &str = "a device is subscribed to a template or it is not";
const JOINED: &str = "a device belongs to a VPN cloud or it does not";

impl Operation {
    /// What is known of it, for one that changes something.
    pub const fn writing(self) -> Option<Writing> {
        Some(match self {
            Self::AddCompany => writing(
                &[Self::GetChildCompanies, Self::GetCompany],
                Repeat::Duplicates,
                "no field of a company is unique, and nothing deletes one",
                "2.3, 4.2",
            ),
            Self::AddSite => writing(
                &[Self::FindSitesByName],
                Repeat::Duplicates,
                "no field of a site is unique, and nothing deletes one",
                "2.6, 4.8",
            ),
            Self::AddPerson => writing(
                &[Self::GetPersonByUsername],
                Repeat::Duplicates,
                "the specification does not say that a second username is refused, and nothing deletes a person",
                "2.4, 4.7",
            ),
            Self::AddDevice => writing(
                &[Self::GetDeviceByMac, Self::FindDevicesByName],
                Repeat::Duplicates,
                "only a MAC address is unique: a second device with it is refused (`duplicateEntity`), one without it, or \
                 with a site of its own, is made twice",
                "2.5, 4.5, 7",
            ),
            Self::AddDeviceFromTemplate => writing(
                &[Self::FindDevicesByName],
                Repeat::Duplicates,
                "a copy has no MAC address that could be unique",
                "2.5, 4.5",
            ),
            Self::UpdateCompany => writing(&[Self::GetCompany], Repeat::Harmless, SAME_FIELDS, "4.2"),
            Self::UpdateSite => writing(&[Self::GetSite], Repeat::Harmless, SAME_FIELDS, "4.8"),
            Self::UpdateDevice => writing(&[Self::GetDevice], Repeat::Harmless, SAME_FIELDS, "4.5"),
            Self::PutInterfaceLabel | Self::PutInterfaceLabels => {
                writing(&[Self::ListInterfaceLabels], Repeat::Harmless, SAME_LABEL, "2.7, 4.3")
            }
            Self::PutDeviceLabel | Self::PutDeviceLabels => {
                writing(&[Self::ListDeviceLabels], Repeat::Harmless, SAME_LABEL, "2.7, 4.3")
            }
            Self::PutSiteLabel | Self::PutSiteLabels => {
                writing(&[Self::ListSiteLabels], Repeat::Harmless, SAME_LABEL, "2.7, 4.3")
            }
            Self::DeleteInterfaceLabel | Self::DeleteInterfaceLabelById => {
                writing(&[Self::ListInterfaceLabels], Repeat::Harmless, NO_LABEL, "4.3")
            }
            Self::AddLicenceCode => writing(
                &[],
                Repeat::Unknown,
                "the specification does not say what a second request with the same code does",
                "2.8, 4.4",
            ),
            Self::PutCompanyMetadata | Self::PutCompanyMetadataList => {
                writing(&[Self::ListCompanyMetadata], Repeat::Harmless, SAME_ENTRY, "2.7, 4.6")
            }
            Self::PutDeviceMetadata | Self::PutDeviceMetadataList => {
                writing(&[Self::ListDeviceMetadata], Repeat::Harmless, SAME_ENTRY, "2.7, 4.6")
            }
            Self::PutSiteMetadata | Self::PutSiteMetadataList => {
                writing(&[Self::ListSiteMetadata], Repeat::Harmless, SAME_ENTRY, "2.7, 4.6")
            }
            Self::DeleteCompanyMetadata => {
                writing(&[Self::ListCompanyMetadata], Repeat::Harmless, NO_ENTRY, "4.6")
            }
            Self::DeleteDeviceMetadata => {
                writing(&[Self::ListDeviceMetadata], Repeat::Harmless, NO_ENTRY, "4.6")
            }
            Self::DeleteSiteMetadata => writing(&[Self::ListSiteMetadata], Repeat::Harmless, NO_ENTRY, "4.6"),
            Self::SubscribeTemplate | Self::UnsubscribeTemplate => {
                writing(&[Self::ListAssignedTemplates], Repeat::Harmless, SUBSCRIBED, "2.8, 4.5")
            }
            Self::AddDeviceToVpnCloud | Self::RemoveDeviceFromVpnCloud => {
                writing(&[Self::ListDeviceVpnClouds], Repeat::Harmless, JOINED, "2.8, 4.9")
            }
            Self::UpdateDeviceVpnConfiguration => {
                writing(&[Self::GetDeviceVpnConfiguration], Repeat::Harmless, SAME_FIELDS, "2.9, 4.9")
            }
            Self::AssignDeviceToSite => writing(
                &[Self::ListSiteDeviceOnlineStatuses],
                Repeat::Harmless,
                "a device is in one site at a time, and the same one is named",
                "2.5, 4.8",
            ),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::descriptor::ActionDescriptor;
    use crate::model::kind::Kind;
    use crate::testing;

    #[test]
    fn every_operation_that_changes_something_is_described_and_no_other() {
        for &operation in Operation::ALL {
            assert_eq!(operation.writing().is_some(), operation.changes(), "{operation}");
        }
        assert_eq!(Operation::ALL.iter().filter(|operation| operation.changes()).count(), 32);
    }

    #[test]
    fn it_says_of_every_operation_what_the_action_says_that_it_carries_out() {
        for action in testing::actions() {
            for operation in Kind::ALL.into_iter().filter_map(|kind| action.operation(kind)) {
                let known = operation.writing().unwrap();
                assert_eq!(known.repeat, action.repeat(), "{operation}");
                let shown = |by: &Operation| action.descriptor().shown_by.contains(by);
                assert!(operation.creates() || known.shown_by.iter().all(shown), "{operation}");
            }
        }
    }

    #[test]
    fn the_look_ups_that_an_action_names_are_those_of_its_operations() {
        for action in ActionDescriptor::ALL {
            for by in action.shown_by {
                let shows = |&(_, operation): &(Kind, Operation)| {
                    operation.writing().is_some_and(|known| known.shown_by.contains(by))
                };
                assert!(action.operations.iter().any(shows), "{by} of {}", action.words);
            }
        }
    }

    #[test]
    fn a_look_up_reads_and_a_creation_is_looked_up_as_its_kind_is() {
        for &operation in Operation::ALL {
            let Some(known) = operation.writing() else { continue };
            assert!(known.shown_by.iter().all(|by| !by.changes()), "{operation}");
            if let Some(kind) = operation.makes() {
                let used = kind.descriptor();
                let shown = |by: &Operation| used.look_ups.contains(by) || used.by_id == Some(*by);
                assert!(known.shown_by.iter().all(shown), "{operation}");
            }
        }
    }
}
