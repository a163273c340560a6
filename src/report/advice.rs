//! One catalogue of codes: what each means in plain words, and what to do next with the command to type.
//!
//! The codes of the service are those of specification 7; the others are ours. A code that is not listed gets
//! advice by the state of its row, which is honest about knowing no more.

use crate::model::id::{ImportId, JobId};
use crate::model::state::JobState;

/// What a code means, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// What it means, as one sentence without a full stop.
    pub words: &'static str,
    /// What to do next; `{job}`, `{import}` and `{code}` stand for the row's. Empty when nothing is to be done.
    template: &'static str,
    code: Option<&'static str>,
}

/// The advice for a code and the state of its row.
pub fn of(code: Option<&str>, state: JobState) -> Advice {
    let known = code.and_then(|code| CATALOGUE.iter().find(|(known, ..)| *known == code));
    let general = of_state(state);
    match known {
        // What was read back is about a row that is done.
        Some((code, words, template)) if is_finding(code) => Advice { words, template, code: Some(code) },
        // Rows that are settled need no advice, whatever happened on the way.
        _ if general.template.is_empty() => general,
        // A code may be left from before; what goes on by itself needs no more than that.
        Some((code, words, template)) if !goes_on(state) => Advice { words, template, code: Some(code) },
        Some((code, words, _)) => Advice { words, template: general.template, code: Some(code) },
        None => general,
    }
}

/// What a code means, whatever the state of its row; `None` for a code that is not known.
pub fn words(code: &str) -> Option<&'static str> {
    CATALOGUE.iter().find(|(known, ..)| *known == code).map(|(_, words, _)| *words)
}

/// Whether a code is one of reading back, which are about rows that are done.
pub(super) fn is_finding(code: &str) -> bool {
    code.starts_with("audit.")
}

/// What to do about what reading back found; `None` for a code that is none of its.
pub fn of_finding(code: &str) -> Option<&'static str> {
    CATALOGUE.iter().find(|(known, ..)| *known == code && is_finding(code)).map(|(.., what)| *what)
}

impl Advice {
    /// What to do next about a job of an import, in words, with the command to type; empty when nothing is to be done.
    pub fn next(&self, job: JobId, import: ImportId) -> String {
        self.template
            .replace("{job}", &job.to_string())
            .replace("{import}", &import.to_string())
            .replace("{code}", self.code.unwrap_or_default())
    }

    /// The same for many jobs of an import with the same code.
    pub fn next_for_all(&self, import: ImportId) -> String {
        self.template
            .replace("{job}", "JOB")
            .replace("{import}", &import.to_string())
            .replace("{code}", self.code.unwrap_or_default())
    }
}

/// Whether the next run goes on with a row by itself.
fn goes_on(state: JobState) -> bool {
    match state {
        JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Sending | JobState::InDoubt => {
            true
        }
        JobState::Held
        | JobState::Created
        | JobState::Adopted
        | JobState::Existing
        | JobState::Done
        | JobState::Rejected
        | JobState::Skipped
        | JobState::Cancelled => false,
    }
}

/// What to do about a row that the import left out.
pub fn of_left_out(state: JobState) -> &'static str {
    if state == JobState::Skipped {
        "Nothing to correct in this row. It stands in fix.xlsx together with the row it belongs to: correct that one and type: \
         fleetload run fix.xlsx"
    } else {
        CORRECT
    }
}

const CORRECT: &str = "Correct the row, in the sheet or in fix.xlsx, and type: fleetload run FILE";
const DECIDE: &str = "Look in the service whether the record is there. If it is, type: fleetload resolve {job} --created ID; if it \
     certainly is not: fleetload resolve {job} --not-created; to give the row up: fleetload resolve {job} --abandon";

/// An unchanged row is recognised as the one that was given up.
const GIVEN_UP: &str = "It stays given up as long as it is unchanged. To send it after all, see that the service does not have it, change a value of \
     the row and type: fleetload run FILE";

/// What can be said of a row by its state alone.
fn of_state(state: JobState) -> Advice {
    let (words, template) = match state {
        JobState::Blocked => (
            "it waits for the record it belongs to",
            "Nothing to correct: it is sent once the record it waits for is there. To go on, type: fleetload run",
        ),
        JobState::Ready => {
            ("it has not been sent yet", "Nothing to correct. To send it, type: fleetload run")
        }
        JobState::Deferred => (
            "it was not carried out and waits for its time",
            "Nothing to correct: it is sent again by itself. To go on, type: fleetload run",
        ),
        JobState::Sending => (
            "a request for it is under way",
            "Do not enter it by hand. When no run is going on, type: fleetload run; it finds out what became of the request",
        ),
        JobState::InDoubt => (
            "a request for it left, and no answer told what became of it",
            "Do not enter it by hand. It is looked up and cleared by itself; to go on, type: fleetload run",
        ),
        JobState::Held => ("a person must decide", DECIDE),
        JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => ("it is done", ""),
        JobState::Rejected => (
            "it was refused, for a reason this version of fleetload has no words for",
            "Read the message, correct the row, in the sheet or in fix.xlsx, and type: fleetload run FILE; when the row is right as it is: \
             fleetload retry {import}",
        ),
        JobState::Skipped => (
            "what it belongs to is not there",
            "Nothing to correct here: correct the row it belongs to, and this one comes back by itself",
        ),
        JobState::Cancelled => ("a person gave it up", GIVEN_UP),
    };
    Advice { words, template, code: None }
}

/// Code, what it means, what to do.
const CATALOGUE: &[(&str, &str, &str)] = &[
    // The service's own codes, specification 7.
    ("invalidParam", "the service does not accept a value of the request", CORRECT),
    ("invalidData", "the service does not accept some of the values", CORRECT),
    (
        "malformedJsonInput",
        "the service could not read the request",
        "Look for unusual characters in the row and correct it; if there are none this is a fault of fleetload. To send it again unchanged, \
         type: fleetload retry {import} --code {code}",
    ),
    (
        "generalError",
        "the service refused it; its message gives the reason",
        "Read the message. Correct the row, in the sheet or in fix.xlsx, and type: fleetload run FILE; when the reason lies in the service and is \
         mended: fleetload retry {import} --code {code}",
    ),
    (
        "invalidState",
        "the state of a record in the service does not allow it: it may have been deleted",
        "Look at the record the row refers to in the service. Refer to another one, or mend it there and type: fleetload retry {import} --code {code}",
    ),
    (
        "noDataFound",
        "something the row refers to does not exist in the service: an id, a device model, a licence code",
        "Correct the reference, in the sheet or in fix.xlsx, and type: fleetload run FILE; when it exists by now: fleetload retry {import} --code {code}",
    ),
    (
        "duplicateEntity",
        "a value that must be unique is in use by another record",
        "If the other record is the one meant, take the row out of the sheet; if not, correct the value, in the sheet or in fix.xlsx, and type: \
         fleetload run FILE",
    ),
    ("internalServerError", "the service failed; what became of the request is not known", DECIDE),
    (
        "rateLimitExceeded",
        "the service asked for a slower pace; nothing was carried out",
        "Nothing to correct. To send it again, type: fleetload retry {import} --code {code}",
    ),
    (
        "quotaLimitExceeded",
        "the day's quota of creations is spent; nothing was carried out",
        "Nothing to correct: creations go on after midnight UTC. To go on, type: fleetload run",
    ),
    (
        "invalid_token",
        "the access token was not accepted; nothing was carried out",
        "Nothing to correct in the sheet. See that the profile is right with: fleetload doctor",
    ),
    (
        "invalid_client",
        "the service does not accept the client id or its secret; nothing was carried out",
        "Nothing to correct in the sheet. Correct client_id or the secret in the profile and type: fleetload doctor",
    ),
    (
        "unauthorizedSource",
        "the service does not accept requests from the address of this machine; nothing was carried out",
        "Nothing to correct in the sheet. Have the address allowed by the service and type: fleetload doctor",
    ),
    // Answers that left it open what became of a request.
    ("answer.timeout", "the service did not answer in time", DECIDE),
    ("answer.disconnected", "the connection ended before the service answered", DECIDE),
    ("answer.truncated", "the answer was cut off", DECIDE),
    ("answer.unreadable", "the answer was not one the service describes", DECIDE),
    ("answer.server-error", "the service reported an internal error", DECIDE),
    ("answer.unknown", "the service answered with a code it does not describe", DECIDE),
    ("answer.redirect", "the service answered with a redirect, which is never followed", DECIDE),
    ("answer.process-ended", "fleetload was stopped while the request was under way", DECIDE),
    (
        "journal.restored",
        "the journal is an older copy, so the row may have been sent without its knowing",
        DECIDE,
    ),
    ("answer.worker-lost", "fleetload failed while the request was under way", DECIDE),
    (
        "answer.duplicate",
        "the service says that a value which must be unique is in use, perhaps by the record of this row",
        DECIDE,
    ),
    (
        "answer.no-id",
        "the service confirmed the creation without naming its id: the record is there",
        "Find the record in the service and type: fleetload resolve {job} --created ID",
    ),
    (
        "answer.contradicts",
        "the service answered OK, but about another record than the one that was sent",
        DECIDE,
    ),
    // What was found by looking, before and after sending.
    (
        "existing",
        "a record with the same key is in the service, and the profile says to refuse such rows",
        "Take the row out of the sheet; or set on_existing = \"adopt\" in the profile and type: fleetload retry {import} --code {code}",
    ),
    (
        "existing.unclear",
        "records that may be the one of this row were in the service before anything was sent",
        "Compare them with the row. If one is meant, type: fleetload resolve {job} --created ID with its id; if a new one is to be made: \
         fleetload resolve {job} --not-created",
    ),
    (
        "candidates.unclear",
        "the answer was lost, and several records may be the one of this row",
        "Compare them with the row. If one is it, type: fleetload resolve {job} --created ID with its id; if certainly none: fleetload resolve \
         {job} --not-created",
    ),
    (
        "candidates.differ",
        "the answer was lost, and the one record found differs from the row",
        "Compare it with the row. If it is this row's, type: fleetload resolve {job} --created ID with its id; if certainly not: fleetload resolve \
         {job} --not-created",
    ),
    (
        "absent",
        "the answer was lost, and the record was not found; whether it will still appear is not known",
        DECIDE,
    ),
    (
        "lookup.failed",
        "waits: the service failed when it was asked whether the record is there already",
        "Nothing: it is asked again by itself. If it stays so, try: fleetload doctor",
    ),
    ("lookup.unavailable", "the answer was lost, and no look-up is available that could tell", DECIDE),
    ("lookup.inconclusive", "the answer was lost, and looking it up gave no clear answer", DECIDE),
    (
        "answer.never",
        "the row was sent several times, and no answer ever told what became of it",
        "See what the service says to it, or ask its operator; when the cause is gone, type: fleetload resolve {job} --not-created",
    ),
    (
        "id.owned",
        "the service named an id that belongs to another row",
        "Look at the record of that id in the service, and whether there is one of this row. If there is, type: fleetload resolve {job} --created ID \
         with its own id; if certainly not: fleetload resolve {job} --not-created",
    ),
    (
        "poison",
        "fleetload ended three times while this row was being sent, so it is not sent again by itself",
        DECIDE,
    ),
    // What comes from other rows, or from a person.
    (
        "parent.rejected",
        "what it belongs to was refused",
        "Nothing to correct here: correct the row it belongs to, and this one comes back by itself",
    ),
    (
        "parent.cancelled",
        "what it belongs to was given up",
        "Nothing to correct here: change the row it belongs to and import that again, and this one comes back by itself",
    ),
    ("cancelled", "a person gave it up", GIVEN_UP),
    // What reading back at the end of a run found.
    (
        "audit.vanished",
        "the record was created, and is not there any more",
        "Ask the service's operator what became of it, and look at what belongs to it. It is never made again by itself; to make it again, put \
         the row in a sheet of its own and type: fleetload run FILE --journal NEW.db",
    ),
    (
        "audit.double",
        "beside the record of the row there is an equal one that no row has made",
        "Compare the two in the service and see which is in use. Records cannot be deleted from here: ask the service's operator to remove the other \
         one",
    ),
    (
        "audit.orphan-site",
        "the device was in doubt, and a site of the name it brings along belongs to no row",
        "Look at the site in the service. Records cannot be deleted from here: use it for the device, or ask the service's operator to remove it",
    ),
    // Why a row was put off.
    (
        "unreachable",
        "the service could not be reached; nothing was sent",
        "Nothing to correct. See what is wrong with: fleetload doctor",
    ),
    (
        "resources",
        "this machine has no more sockets or files; nothing was sent",
        "Nothing to correct. Lower concurrency in the profile and type: fleetload run",
    ),
    (
        "not-sent",
        "the run was ending; nothing was sent",
        "Nothing to correct. To send it, type: fleetload run",
    ),
    (
        "refused",
        "the service refused the credentials; nothing was carried out",
        "Nothing to correct in the sheet. See what is wrong with: fleetload doctor",
    ),
    (
        "endpoint.missing",
        "the service has no such endpoint at the path in use; nothing was carried out",
        "Nothing to correct in the sheet. Map the operation in the profile; to see which one, type: fleetload doctor",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::Doubt;

    #[test]
    fn every_error_code_of_the_specification_and_of_every_doubt_has_words() {
        let of_service = [
            "invalidParam",
            "malformedJsonInput",
            "invalidData",
            "internalServerError",
            "rateLimitExceeded",
            "quotaLimitExceeded",
            "generalError",
            "noDataFound",
            "invalidState",
            "duplicateEntity",
            "invalid_client",
            "invalid_token",
            "unauthorizedSource",
        ];
        let doubts = [
            Doubt::Timeout,
            Doubt::Disconnected,
            Doubt::Truncated,
            Doubt::Unreadable,
            Doubt::ServerError,
            Doubt::UnknownAnswer,
            Doubt::Redirect,
            Doubt::ProcessEnded,
            Doubt::WorkerLost,
            Doubt::JournalBehind,
            Doubt::Duplicate,
            Doubt::NoId,
        ];
        for code in of_service.into_iter().chain(doubts.map(Doubt::code)) {
            assert!(words(code).is_some(), "{code}");
        }
    }

    #[test]
    fn no_code_is_listed_twice_and_each_entry_reads_as_a_sentence() {
        let mut seen = std::collections::HashSet::new();
        for (code, words, next) in CATALOGUE {
            assert!(seen.insert(code), "{code}");
            assert!(!words.ends_with('.') && words.chars().next().is_some_and(char::is_lowercase), "{code}");
            assert!(!next.is_empty() && !next.contains("  "), "{code}");
        }
    }

    #[test]
    fn every_unfinished_row_is_told_what_to_do_even_for_an_unknown_code() {
        for &state in JobState::ALL {
            let next = of(Some("brandNewCode"), state).next(JobId(7), ImportId(3));
            assert_eq!(next.is_empty(), state.is_success(), "{state}: {next}");
            assert!(!next.contains('{'), "{next}");
        }
    }

    #[test]
    fn a_held_row_is_decided_by_its_number_and_a_refused_one_retried_by_its_import() {
        let held = of(Some("absent"), JobState::Held).next(JobId(7), ImportId(3));
        assert!(held.contains("fleetload resolve 7 --created ID"), "{held}");
        let refused = of(Some("noDataFound"), JobState::Rejected).next(JobId(7), ImportId(3));
        assert!(refused.contains("fleetload retry 3 --code noDataFound"), "{refused}");
    }

    #[test]
    fn a_row_that_goes_on_by_itself_is_never_sent_to_a_person() {
        let doubt = of(Some("answer.timeout"), JobState::InDoubt);
        assert_eq!(doubt.words, "the service did not answer in time");
        assert!(!doubt.next(JobId(7), ImportId(3)).contains("resolve"));
    }
}
