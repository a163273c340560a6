//! What the service says when it refuses: the codes of its specification, section 7. Most refusals come with status
//! 200, so it is the code that counts.

use super::{Entry, Scope};
use crate::advice::Part::{Command, Words};
use crate::advice::Parts;

const fn said(code: &'static str, words: &'static str, follows: &'static str, advice: Parts) -> Entry {
    Entry::new(Scope::Service, code, words, follows, advice)
}

/// Correct the values and run again.
pub(super) const CORRECT: Parts =
    &[Words("Correct the row, in the sheet or in fix.xlsx, and type: "), Command("run FILE")];

/// What `noDataFound` is about where no cell of the row names what does not exist: the sheet may be right.
pub(super) static IN_NO_CELL: Entry = said(
    "noDataFound",
    "a record that the row refers to does not exist in the service, and no cell of the row names it",
    "It is rejected; nothing was created.",
    &[
        Words(
            "Check the record that the row depends on in the service: it may have been deleted. When \
             it exists again, type: ",
        ),
        Command("retry {import} --code {code}"),
        Words(". If the row is wrong, correct it, in the sheet or in fix.xlsx, and type: "),
        Command("run FILE"),
    ],
);

/// Every code of specification 7.
pub(super) const ENTRIES: &[Entry] = &[
    said(
        "invalidParam",
        "the service does not accept a value of the request",
        "The row is rejected; nothing was created. It is not sent again as it is.",
        CORRECT,
    ),
    said(
        "malformedJsonInput",
        "the service could not read the request",
        "The row is rejected; nothing was created.",
        &[
            Words(
                "Look for unusual characters in the row and correct it; if there are none, this is a fault \
             of fleetload. To send it again unchanged, type: ",
            ),
            Command("retry {import} --code {code}"),
        ],
    ),
    said(
        "invalidData",
        "the service does not accept some of the values",
        "The row is rejected; nothing was created. If the service names the fields, the reports mark their cells. \
        After 50 equal rejections in a row the rest of the sheet is paused and you are asked.",
        CORRECT,
    ),
    said(
        "internalServerError",
        "the service failed; the outcome of the request is unknown",
        "The row is in doubt and is not sent again before it is looked up and its outcome is known. If the service \
        fails often, its creations are paused and tried one at a time.",
        DECIDE,
    ),
    said(
        "rateLimitExceeded",
        "the service asked for a slower pace; nothing was carried out",
        "The operation slows down and returns to its pace automatically. The row is sent again.",
        &[Words("Nothing to correct. To send it again, type: "), Command("retry {import} --code {code}")],
    ),
    said(
        "quotaLimitExceeded",
        "the day's quota of creations is spent; nothing was carried out",
        "Creations wait for the service's midnight, which is midnight UTC; steps that create nothing go on. The rows \
        stay ready and no attempt is counted.",
        &[Words("Nothing to correct: creations go on after midnight UTC. To go on, type: "), Command("run")],
    ),
    said(
        "generalError",
        "the service rejected it; its message gives the reason",
        "The row is rejected; nothing was created.",
        &[
            Words("Read the message. Correct the row, in the sheet or in fix.xlsx, and type: "),
            Command("run FILE"),
            Words(". If the reason was in the service and is fixed, type: "),
            Command("retry {import} --code {code}"),
        ],
    ),
    said(
        "noDataFound",
        "a record or value that the row refers to does not exist in the service: an id, a device model, a licence code",
        "If the row refers to a record that was created moments ago, fleetload looks that record up, which costs no \
         quota. If the record is found, the row is rejected. If the service does not show it yet, the row waits for \
         it, for a minute at most, and is sent again. Otherwise the row is rejected at once. Nothing was created.",
        &[
            Words("Correct the cell that names it, in the sheet or in fix.xlsx, and type: "),
            Command("run FILE"),
            Words(
                ". If no cell names it, or the name is right, it may have been deleted: check in the \
             service. When it exists there, type: ",
            ),
            Command("retry {import} --code {code}"),
        ],
    ),
    said(
        "invalidState",
        "the state of a record in the service does not allow it: it may have been deleted",
        "The row is rejected; nothing was created.",
        &[
            Words(
                "Look at the record that the row refers to in the service. Refer to another one, or \
             correct it there and type: ",
            ),
            Command("retry {import} --code {code}"),
        ],
    ),
    said(
        "duplicateEntity",
        "a value that must be unique is in use by another record",
        "After a lost answer the record may be the row's own, so it is looked up first. Otherwise the row is \
         rejected, and the message names the other record if a look-up finds it.",
        &[
            Words(
                "If the other record is the one that the row means, remove the row from the sheet. If not, \
             correct the value, in the sheet or in fix.xlsx, and type: ",
            ),
            Command("run FILE"),
        ],
    ),
    said(
        "invalid_client",
        "the service does not accept the client id or its secret; nothing was carried out",
        "The run stops (exit code 7). The rows stay ready.",
        &[
            Words(
                "Nothing to correct in the sheet. Correct client_id or the secret in the profile and type: ",
            ),
            Command("doctor"),
        ],
    ),
    said(
        "invalid_token",
        "the access token was not accepted; nothing was carried out",
        "A new token is fetched, once for all requests, and the row is sent again. If a fresh token is refused as \
        well, the run stops (exit code 7).",
        &[Words("Nothing to correct in the sheet. To check the profile, type: "), Command("doctor")],
    ),
    said(
        "unauthorizedSource",
        "the service does not accept requests from the address of this machine; nothing was carried out",
        "The run stops (exit code 7). The rows stay ready.",
        &[
            Words("Nothing to correct in the sheet. Have the address allowed by the service and type: "),
            Command("doctor"),
        ],
    ),
];

/// Decide by looking.
pub(super) const DECIDE: Parts = &[
    Words("Check in the service whether the record exists. If it does, type: "),
    Command("resolve {job} --created ID"),
    Words(". If it certainly does not, type: "),
    Command("resolve {job} --not-created"),
    Words(". To cancel the row, type: "),
    Command("resolve {job} --abandon"),
];
