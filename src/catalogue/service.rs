//! What the service says when it refuses: the codes of its specification, section 7. Most refusals come with status
//! 200, so it is the code that counts.

use super::{Entry, Scope};

const fn said(code: &'static str, words: &'static str, follows: &'static str, advice: &'static str) -> Entry {
    Entry::new(Scope::Service, code, words, follows, advice)
}

/// Correct the values and run again.
pub(super) const CORRECT: &str = "Correct the row, in the sheet or in fix.xlsx, and type: fleetload run FILE";

/// What `noDataFound` is about where no cell of the row names what does not exist: the sheet may be right.
pub(super) static IN_NO_CELL: Entry = said(
    "noDataFound",
    "something the row refers to does not exist in the service, and no cell of the row names it",
    "It is rejected; nothing was created.",
    "Check what the row belongs to in the service: it may have been deleted. When it exists again, type: fleetload retry {import} --code {code}; \
     when the row is wrong, correct it, in the sheet or in fix.xlsx, and type: fleetload run FILE",
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
        "Look for unusual characters in the row and correct it; if there are none this is a fault of fleetload. To send it again unchanged, \
         type: fleetload retry {import} --code {code}",
    ),
    said(
        "invalidData",
        "the service does not accept some of the values",
        "The row is rejected; nothing was created. Where the service names the fields, their cells are marked in the reports. After 50 equal \
         refusals in a row the rest of the sheet is set aside and you are asked.",
        CORRECT,
    ),
    said(
        "internalServerError",
        "the service failed; what became of the request is not known",
        "The row is in doubt, never sent again on hope: it is looked up until it is known whether the record is there. When the service fails \
         often, its creations are held back and tried one at a time.",
        DECIDE,
    ),
    said(
        "rateLimitExceeded",
        "the service asked for a slower pace; nothing was carried out",
        "The operation slows down and comes back to its pace by itself; the row is sent again.",
        "Nothing to correct. To send it again, type: fleetload retry {import} --code {code}",
    ),
    said(
        "quotaLimitExceeded",
        "the day's quota of creations is spent; nothing was carried out",
        "Creations wait for the service's midnight, which is midnight UTC; what creates nothing goes on. The rows stay ready and no attempt is \
         counted.",
        "Nothing to correct: creations go on after midnight UTC. To go on, type: fleetload run",
    ),
    said(
        "generalError",
        "the service refused it; its message gives the reason",
        "The row is rejected; nothing was created.",
        "Read the message. Correct the row, in the sheet or in fix.xlsx, and type: fleetload run FILE; when the reason lies in the service and is \
         mended: fleetload retry {import} --code {code}",
    ),
    said(
        "noDataFound",
        "something the row refers to does not exist in the service: an id, a device model, a licence code",
        "When the row refers to a record that was created moments ago, that record is looked up, which costs no quota. When it is there, the row is \
         rejected. When the service does not show it yet, the row waits for it, for a minute at most, and is sent again. Else the row is rejected at once. \
         Nothing was created.",
        "Correct the cell that names it, in the sheet or in fix.xlsx, and type: fleetload run FILE. If no cell names it, or the name is right, it may \
         have been deleted: check in the service. When it exists there, type: fleetload retry {import} --code {code}",
    ),
    said(
        "invalidState",
        "the state of a record in the service does not allow it: it may have been deleted",
        "The row is rejected; nothing was created.",
        "Look at the record the row refers to in the service. Refer to another one, or mend it there and type: fleetload retry {import} --code {code}",
    ),
    said(
        "duplicateEntity",
        "a value that must be unique is in use by another record",
        "After a lost answer the record may be the row's own, so it is looked up first. Else the row is rejected, and the other record is named \
         where a look-up tells it.",
        "If the other record is the one that the row means, remove the row from the sheet. If not, correct the value, in the sheet or in fix.xlsx, \
         and type: fleetload run FILE",
    ),
    said(
        "invalid_client",
        "the service does not accept the client id or its secret; nothing was carried out",
        "The run stops (exit code 7). The rows stay ready.",
        "Nothing to correct in the sheet. Correct client_id or the secret in the profile and type: fleetload doctor",
    ),
    said(
        "invalid_token",
        "the access token was not accepted; nothing was carried out",
        "A new token is fetched, once for all requests, and the row is sent again. When a fresh token is refused as well, the run stops (exit \
         code 7).",
        "Nothing to correct in the sheet. See that the profile is right with: fleetload doctor",
    ),
    said(
        "unauthorizedSource",
        "the service does not accept requests from the address of this machine; nothing was carried out",
        "The run stops (exit code 7). The rows stay ready.",
        "Nothing to correct in the sheet. Have the address allowed by the service and type: fleetload doctor",
    ),
];

/// Decide by looking.
pub(super) const DECIDE: &str = "Look in the service whether the record is there. If it is, type: fleetload resolve {job} --created ID; if it \
     certainly is not: fleetload resolve {job} --not-created; to give the row up: fleetload resolve {job} --abandon";
