//! Decisions about rows: what was found by looking before and after sending, what comes from other rows or from a
//! person, why a row was put off, and what reading its record back found.

use super::service::{CORRECT, DECIDE};
use super::{Entry, Scope};

const fn row(code: &'static str, words: &'static str, follows: &'static str, advice: &'static str) -> Entry {
    Entry::new(Scope::Rows, code, words, follows, advice)
}

/// An unchanged row is recognised as the one that was given up.
pub(super) const GIVEN_UP: &str = "It stays given up as long as it is unchanged. To send it after all, see that the service does not have it, change a value of \
     the row and type: fleetload run FILE";

const HELD: &str =
    "The row is held: nothing more is sent for it, and what belongs to it waits, until a person decides.";
const NOT_SENT: &str = "Nothing was carried out, so no attempt is counted; the row stays ready and is sent when the cause is gone.";
const NEVER_REPAIRED: &str = "The row keeps its state and its id. Nothing is made again and nothing is removed; the finding is told until somebody has looked into it.";

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
        "the row was sent several times, and no answer ever told what became of it",
        HELD,
        "See what the service says to it, or ask its operator; when the cause is gone, type: fleetload resolve {job} --not-created",
    ),
    row(
        "refused.in-doubt",
        "the service refused the row when it was sent again, and what became of the first request is not known",
        HELD,
        "Look in the service whether the record of the first request is there. If it is, type: fleetload resolve {job} --created ID; if it \
         certainly is not: fleetload resolve {job} --abandon, then correct the row and type: fleetload run FILE",
    ),
    row(
        "id.owned",
        "the service named an id that belongs to another row",
        HELD,
        "Look at the record of that id in the service, and whether there is one of this row. If there is, type: fleetload resolve {job} --created ID \
         with its own id; if certainly not: fleetload resolve {job} --not-created",
    ),
    row(
        "request.parameter",
        "a value of the row cannot be part of an address, and the request needs it there",
        "The row is rejected before anything was sent.",
        CORRECT,
    ),
    row(
        "existing",
        "a record with the same key is in the service, and the profile says to refuse such rows",
        "The row is rejected before anything was sent: on_existing is \"fail\".",
        "Take the row out of the sheet; or set on_existing = \"adopt\" in the profile and type: fleetload retry {import} --code {code}",
    ),
    row(
        "existing.unclear",
        "records that may be the one of this row were in the service before anything was sent",
        HELD,
        "Compare them with the row. If one is meant, type: fleetload resolve {job} --created ID with its id; if a new one is to be made: \
         fleetload resolve {job} --not-created",
    ),
    row(
        "candidates.unclear",
        "it is not known whether the row was executed, and several records may be its own",
        HELD,
        "Compare them with the row. If one is it, type: fleetload resolve {job} --created ID with its id; if certainly none: fleetload resolve \
         {job} --not-created",
    ),
    row(
        "candidates.differ",
        "it is not known whether the row was executed, and the one record found differs from it",
        HELD,
        "Compare it with the row. If it is this row's, type: fleetload resolve {job} --created ID with its id; if certainly not: fleetload resolve \
         {job} --not-created",
    ),
    row(
        "absent",
        "it is not known whether the row was executed, and its record was not found; whether it will still appear is not known",
        HELD,
        DECIDE,
    ),
    row(
        "lookup.failed",
        "the service failed when it was asked whether the record is there already",
        "The row waits and is asked about again by itself; nothing of it was sent.",
        "Nothing: it is asked again by itself. If it stays so, try: fleetload doctor",
    ),
    row(
        "lookup.unavailable",
        "it is not known whether the row was executed, and no look-up is available that could tell",
        "The row is held. Look-ups become available when their paths are in the profile, or with paths = \"assumed\".",
        DECIDE,
    ),
    row(
        "lookup.inconclusive",
        "it is not known whether the row was executed, and looking it up gave no clear answer",
        HELD,
        DECIDE,
    ),
    row(
        "poison",
        "fleetload ended three times while this row was being sent, so it is not sent again by itself",
        HELD,
        DECIDE,
    ),
    row(
        "parent.rejected",
        "what it belongs to was refused",
        "The row is skipped: it could not be created without that. It becomes ready again when the row it belongs to is corrected.",
        "Nothing to correct here: correct the row it belongs to, and this one comes back by itself",
    ),
    row(
        "parent.cancelled",
        "what it belongs to was given up",
        "The row is skipped: it could not be created without that.",
        "Nothing to correct here: change the row it belongs to and import that again, and this one comes back by itself",
    ),
    row(
        "cancelled",
        "a person gave it up",
        "Nothing more is sent for it. What was created of it stays in the service.",
        GIVEN_UP,
    ),
    row(
        "row.unchanged",
        "an earlier import created it, with the same values",
        "Nothing is sent. The row shows the state and the id that it has.",
        "Nothing is to be done",
    ),
    row(
        "row.differs",
        "the row differs from what was created earlier",
        "Nothing is sent, and the record stays as it is. The columns that differ are listed with the value of the record and that of the \
         row; the import ends with exit code 4.",
        "Put the earlier values back into the sheet and type: fleetload run FILE; or change the record in the service, if the new values are right",
    ),
    row(
        "not-sent",
        "nothing was sent: the run was ending, or no connection could be had",
        NOT_SENT,
        "Nothing to correct. To send it, type: fleetload run",
    ),
    row(
        "unreachable",
        "the service could not be reached; nothing was sent",
        "Everything waits, with growing pauses, and goes on by itself when the service answers again.",
        "Nothing to correct. See what is wrong with: fleetload doctor",
    ),
    row(
        "resources",
        "this machine has no more sockets or files; nothing was sent",
        "Fewer requests are sent at once, and the row is sent again.",
        "Nothing to correct. Lower concurrency in the profile and type: fleetload run",
    ),
    row(
        "untrusted",
        "whoever answers at the service's address cannot show to be the service; nothing was sent",
        "The run stops (exit code 7). The rows stay ready.",
        "Nothing to correct in the sheet. Check base_url and this machine's clock; if the service has a certificate of your own authority, name \
         its file with ca_file in the profile. Then type: fleetload doctor",
    ),
    row(
        "refused",
        "the service refused the credentials; nothing was carried out",
        "The run stops (exit code 7). The rows stay ready.",
        "Nothing to correct in the sheet. See what is wrong with: fleetload doctor",
    ),
    row(
        "endpoint.missing",
        "the service has no such endpoint at the path in use; nothing was carried out",
        "The operation stops, no row is rejected for it, and the run ends with exit code 7. The rows stay ready.",
        "Nothing to correct in the sheet. Map the operation in the profile, as [profile.NAME.endpoints.OPERATION] with method and path; to see \
         which one, type: fleetload doctor",
    ),
    row(
        "audit.vanished",
        "the record was created, and is not there any more",
        NEVER_REPAIRED,
        "Ask the service's operator what became of it, and look at what belongs to it. It is never made again by itself; to make it again, put \
         the row in a sheet of its own and type: fleetload run FILE --journal NEW.db",
    ),
    row(
        "audit.double",
        "beside the record of the row there is an equal one that no row has made",
        NEVER_REPAIRED,
        "Compare the two in the service and see which is in use. Records cannot be deleted from here: ask the service's operator to remove the other \
         one",
    ),
    row(
        "audit.orphan-site",
        "the device was in doubt, and a site of the name it brings along belongs to no row",
        NEVER_REPAIRED,
        "Look at the site in the service. Records cannot be deleted from here: use it for the device, or ask the service's operator to remove it",
    ),
];
