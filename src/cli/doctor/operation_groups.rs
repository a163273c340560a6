//! The groups in which operations are shown.

use crate::model::operation::Operation;

/// The groups, in the order of the specification.
const GROUPS: [(&str, &[&str]); 9] = [
    ("operations of access and companies", &["4.1", "4.2"]),
    ("operations of labels", &["4.3"]),
    ("operations of licences", &["4.4"]),
    ("operations of devices and templates", &["4.5", "4.11"]),
    ("operations of metadata", &["4.6"]),
    ("operations of people", &["4.7"]),
    ("operations of sites", &["4.8"]),
    ("operations of VPN clouds", &["4.9"]),
    ("operations of status and diagnostics", &["4.10"]),
];

/// The operations of every group.
pub(super) fn groups() -> impl Iterator<Item = (&'static str, Vec<Operation>)> {
    GROUPS.into_iter().map(|(name, sections)| {
        let operations = Operation::ALL.iter().copied();
        (name, operations.filter(|operation| sections.contains(&operation.section())).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_in_one_group() {
        let mut listed: Vec<Operation> = groups().flat_map(|(_, operations)| operations).collect();
        listed.sort_unstable();
        assert_eq!(listed, Operation::ALL);
    }
}
