//! Findings between rows: what refers to what, and what is there twice; and those about the import as a whole.

use super::super::Entry;
use super::found;
use crate::advice::Part::{Command, Words};

const TWICE: &str =
    "One of the two would be rejected, or the record would be duplicated. Records cannot be deleted.";

/// `ref.`, `dup.`, `plan.` and `limit.`
pub(super) const ENTRIES: &[Entry] = &[
    found(
        "ref.not-found",
        "no row has that key or name",
        "The row depends on a record that is not known, so it \
        cannot be created.",
        &[Words(
            "Correct the spelling, add the row it refers to, or write the id of a record of the \
             service as id:ID. Name files that refer to each other in one command.",
        )],
    )
    .example("ACME-NZ", "ACME_NZ"),
    found(
        "ref.ambiguous",
        "several rows have that name",
        "fleetload would have to guess which of them is meant.",
        &[Words("Refer to the key instead of the name: give the rows a key and write key:KEY.")],
    )
    .example("Branch 1", "key:S-0012"),
    found(
        "ref.wrong-kind",
        "the row referred to is of another kind",
        "A device can be in a site, not in a person.",
        &[Words("Refer to a row of the kind that the column asks for.")],
    ),
    found(
        "ref.wrong-owner",
        "the site belongs to another company",
        "A device of one customer would be in the site of \
        another.",
        &[Words("Correct the company or the site of the row.")],
    ),
    found(
        "ref.cycle",
        "the companies are each other's parents",
        "None of them can be created first.",
        &[Words(
            "Correct the parent of one of the cells that are listed; the topmost company refers to the \
             id of a company of the service.",
        )],
    ),
    found(
        "ref.key-is-uuid",
        "a key must not look like an id of the service",
        "A cell that refers to it could mean the row or a record of the service.",
        &[Words("Choose another key, here and where it is referred to.")],
    )
    .example("6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11", "ACME-01"),
    found(
        "ref.target-invalid",
        "the row referred to has errors of its own",
        "This row is right, but it depends on \
        the other one.",
        &[Words("Correct the row it refers to.")],
    ),
    found(
        "ref.unverified",
        "an id refers to a record of the service that was not looked up",
        "If there is no such \
        record, the service rejects the row.",
        &[Words("Nothing, if you are sure of the id. Otherwise compare it with the service.")],
    ),
    found(
        "dup.key",
        "the key is in use already",
        "Rows that refer to it could mean either.",
        &[Words(
            "Give one of the two rows another key. Keys that differ only in case or spaces are the same.",
        )],
    )
    .example("acme", "ACME-2"),
    found(
        "dup.mac",
        "the MAC address belongs to another row",
        TWICE,
        &[Words(
            "Compare both with the labels of the devices and correct one, or remove one of the rows. \
             Different notations of one address are the same. The other row may be one of an earlier \
             import: if both are the same device, give this row the key of that one, or its name and \
             company where it has no key.",
        )],
    ),
    found(
        "dup.username",
        "the username belongs to another row",
        TWICE,
        &[Words(
            "Give one of the people another username, or remove one of the rows. The other row may be \
             one of an earlier import: if both are the same person, give this row the key of that one, \
             or its names and company where it has no key.",
        )],
    ),
    found(
        "dup.natural-key",
        "two rows describe the same record",
        TWICE,
        &[Words(
            "Remove one of the rows, or change the value that must be unique: the name within its \
             company, the MAC address, the username.",
        )],
    ),
    found(
        "dup.metadata-key",
        "the metadata key is given twice",
        "The last value would be used, and the order of the \
        columns should not decide that.",
        &[Words("Keep one of the two.")],
    ),
    found(
        "dup.row",
        "two rows are the same except for the value that must be unique",
        "The row may have been pasted twice, and both would be created.",
        &[Words("Remove one if it is a copy. If both are right, nothing needs to be done.")],
    ),
    found(
        "row.unchanged",
        "the row was imported before, with the same values",
        "It is recognised and not sent again; \
        its state and id are in the report. If it has a key now and had none before, the key is stored. If its key \
        differs from the key that it was imported with, a warning says so and the earlier key stays.",
        &[Words(
            "For a note, nothing needs to be done. After a warning, put the earlier key back, here and \
             in the cells that refer to it.",
        )],
    ),
    found(
        "row.differs",
        "the row was imported before, with other values",
        "Nothing is sent for it, and the record \
        stays as it is. The report lists the columns that differ with both values. The import ends with exit code 4.",
        &[Words(
            "Put the earlier values back into the sheet; or change the record in the service, if the \
             new ones are right.",
        )],
    ),
    found(
        "plan.quota",
        "the daily quota makes the import last several days",
        "The run goes on automatically after \
        midnight UTC, but it will not be done today.",
        &[
            Words("To see when it will be done: "),
            Command("plan FILE"),
            Words(". Let the run continue, or stop it and go on later: "),
            Command("run"),
            Words("."),
        ],
    ),
    found(
        "limit.findings",
        "the list of findings is shortened",
        "There are more findings than are shown.",
        &[Words(
            "Correct the findings that are shown and check again; the same mistake is often in a whole \
             column. The output with --json has all of them.",
        )],
    ),
];
