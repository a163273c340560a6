//! Decisions about rows: what was found by looking before and after sending, what comes from other rows or from a
//! person, why a row was put off, and what reading its record back found.

use super::service::{CORRECT, DECIDE};
use super::{Entry, Scope};
use crate::advice::Part::{Command, Words};
use crate::advice::Parts;

const fn row(code: &'static str, words: &'static str, follows: &'static str, advice: Parts) -> Entry {
    Entry::new(Scope::Rows, code, words, follows, advice)
}

/// An unchanged row is recognised as the one that was given up.
pub(super) const GIVEN_UP: Parts = &[
    Words(
        "It stays cancelled as long as it is unchanged. To send it after all, check that the \
             service does not have it, change a value of the row and type: ",
    ),
    Command("run FILE"),
];

const HELD: &str =
    "The row is on hold: nothing more is sent for it, and the rows that depend on it wait until you decide.";
const NOT_SENT: &str = "The service carried out nothing, so no attempt is counted. The row stays ready and is sent \
    when the cause is gone.";
const NEVER_REPAIRED: &str = "The row keeps its state and its id. Nothing is created again and nothing is removed. \
    Every run reports the finding until you mark it as reviewed.";

/// Every reason there is.
pub(super) const ENTRIES: &[Entry] = &[
    row(
        "answer.contradicts",
        "the service answered OK, but about another record than the one that was sent",
        HELD,
        DECIDE,
    ),
    row(
        "answer.never",
        "the row was sent several times, and its outcome is still unknown",
        HELD,
        &[
            Words("Check the service, or ask its operator. When the cause is gone, type: "),
            Command("resolve {job} --not-created"),
        ],
    ),
    row(
        "refused.in-doubt",
        "the service rejected the row when it was sent again, and the outcome of the first request is unknown",
        HELD,
        &[
            Words("Check in the service whether the record of the first request exists. If it does, type: "),
            Command("resolve {job} --created ID"),
            Words(". If it certainly does not, type: "),
            Command("resolve {job} --abandon"),
            Words(", then correct the row and type: "),
            Command("run FILE"),
        ],
    ),
    row(
        "id.owned",
        "the service gave an id that belongs to another row",
        HELD,
        &[
            Words(
                "Look at the record with that id in the service, and check whether this row has a record \
             of its own. If it has, type: ",
            ),
            Command("resolve {job} --created ID"),
            Words(" with the id of that record. If it certainly has none, type: "),
            Command("resolve {job} --not-created"),
        ],
    ),
    row(
        "request.parameter",
        "the request needs a value of the row in its address, and the value cannot be part of an address",
        "The row is rejected and nothing is sent for it.",
        CORRECT,
    ),
    row(
        "existing",
        "a record with the same key exists in the service, and the profile rejects such rows",
        "The row is rejected and nothing is sent for it, because on_existing is \"fail\".",
        &[
            Words("Remove the row from the sheet; or set on_existing = \"adopt\" in the profile and type: "),
            Command("retry {import} --code {code}"),
        ],
    ),
    row(
        "existing.unclear",
        "before anything was sent, the service already had records that may belong to this row",
        HELD,
        &[
            Words("Compare them with the row. If one of them is the row's record, type: "),
            Command("resolve {job} --created ID"),
            Words(" with its id. To create a new record, type: "),
            Command("resolve {job} --not-created"),
        ],
    ),
    row(
        "candidates.unclear",
        "it is unknown whether the row was executed, and several records may belong to it",
        HELD,
        &[
            Words("Compare them with the row. If one of them is the row's record, type: "),
            Command("resolve {job} --created ID"),
            Words(" with its id. If certainly none is, type: "),
            Command("resolve {job} --not-created"),
        ],
    ),
    row(
        "candidates.differ",
        "it is unknown whether the row was executed, and the only record found differs from it",
        HELD,
        &[
            Words("Compare it with the row. If it is the row's record, type: "),
            Command("resolve {job} --created ID"),
            Words(" with its id. If it certainly is not, type: "),
            Command("resolve {job} --not-created"),
        ],
    ),
    row(
        "absent",
        "it is unknown whether the row was executed; its record was not found, but may still appear",
        HELD,
        DECIDE,
    ),
    row(
        "lookup.failed",
        "the service failed at the look-up that checks whether the record already exists",
        "The row waits, and the look-up is repeated automatically. Nothing was sent for the row.",
        &[
            Words("Nothing: the look-up is repeated automatically. If it keeps failing, type: "),
            Command("doctor"),
        ],
    ),
    row(
        "lookup.unavailable",
        "it is unknown whether the row was executed, and no look-up is available to find out",
        "The row is on hold. Look-ups become available when their paths are in the profile, or with paths = \
        \"assumed\".",
        DECIDE,
    ),
    row(
        "lookup.inconclusive",
        "it is unknown whether the row was executed, and the look-up was inconclusive",
        HELD,
        DECIDE,
    ),
    row(
        "poison",
        "fleetload ended three times while this row was being sent, so it is not sent again automatically",
        HELD,
        DECIDE,
    ),
    row(
        "parent.rejected",
        "a row that it depends on was rejected",
        "The row is skipped, because it cannot be created without the other record. It becomes ready again when the \
        other row is corrected.",
        &[Words(
            "Nothing to correct here: correct the row that it depends on, and this row is sent \
             automatically",
        )],
    ),
    row(
        "parent.cancelled",
        "a row that it depends on was cancelled",
        "The row is skipped, because it cannot be created without the other record.",
        &[Words(
            "Nothing to correct here: change the row that it depends on and import that again, and \
             this row is sent automatically",
        )],
    ),
    row(
        "cancelled",
        "it was cancelled",
        "Nothing more is sent for it. Records that were already created for it stay in the service.",
        GIVEN_UP,
    ),
    row(
        "row.unchanged",
        "an earlier import created it, with the same values",
        "Nothing is sent. The row shows the state and the id that it has.",
        &[Words("Nothing needs to be done")],
    ),
    row(
        "row.differs",
        "the row differs from what was created earlier",
        "Nothing is sent, and the record stays as it is. The report lists the columns that differ, with the value \
        that was created and the value of the row. The import ends with exit code 4.",
        &[
            Words("Put the earlier values back into the sheet and type: "),
            Command("run FILE"),
            Words("; or change the record in the service, if the new values are right"),
        ],
    ),
    row(
        "not-sent",
        "nothing was sent, because the run was ending or no connection was possible",
        NOT_SENT,
        &[Words("Nothing to correct. To send it, type: "), Command("run")],
    ),
    row(
        "unreachable",
        "the service could not be reached; nothing was sent",
        "The run waits, with growing pauses, and goes on automatically when the service answers again.",
        &[Words("Nothing to correct. To find the cause, type: "), Command("doctor")],
    ),
    row(
        "resources",
        "this machine has no more sockets or files; nothing was sent",
        "Fewer requests are sent at once, and the row is sent again.",
        &[Words("Nothing to correct. Lower concurrency in the profile and type: "), Command("run")],
    ),
    row(
        "untrusted",
        "the certificate at the service's address is not accepted; nothing was sent",
        "The run stops (exit code 7). The rows stay ready.",
        &[
            Words(
                "Nothing to correct in the sheet. Check base_url and this machine's clock; if the service \
             has a certificate of your own authority, name its file with ca_file in the profile. Then \
             type: ",
            ),
            Command("doctor"),
        ],
    ),
    row(
        "refused",
        "the service refused the credentials; nothing was carried out",
        "The run stops (exit code 7). The rows stay ready.",
        &[Words("Nothing to correct in the sheet. To find the cause, type: "), Command("doctor")],
    ),
    row(
        "endpoint.missing",
        "the service has no such endpoint at the path in use; nothing was carried out",
        "The operation stops, no row is rejected for it, and the run ends with exit code 7. The rows stay ready.",
        &[
            Words(
                "Nothing to correct in the sheet. Map the operation in the profile, as \
             [profile.NAME.endpoints.OPERATION] with method and path; to see which one, type: ",
            ),
            Command("doctor"),
        ],
    ),
    row(
        "audit.vanished",
        "the record was created, and is missing now",
        NEVER_REPAIRED,
        &[
            Words(
                "Ask the service's operator what happened to it, and check the records that depend on it. \
             It is never created again automatically. To create it again, put the row in a sheet of \
             its own and type: ",
            ),
            Command("run FILE --journal NEW.db"),
        ],
    ),
    row(
        "audit.double",
        "the record is duplicated: there is an equal record that belongs to no row",
        NEVER_REPAIRED,
        &[Words(
            "Compare the two in the service and find out which is in use. fleetload cannot delete \
             records: ask the service's operator to remove the other one",
        )],
    ),
    row(
        "audit.orphan-site",
        "the device was in doubt, and the site that should be created with it exists but belongs to no row",
        NEVER_REPAIRED,
        &[Words(
            "Look at the site in the service. fleetload cannot delete records: use the site for the \
             device, or ask the service's operator to remove it",
        )],
    ),
];
