//! The codes that tell why a row stands where it stands: those of the service (specification 7) and our own. Those of
//! a lost answer are with [`super::verdict::Doubt`], those of sheets with the findings.
//!
//! A code is never reused and never renamed: it is in journals, in saved reports and in people's scripts. What each
//! means, and what to do about it, is in [`crate::status::catalogue`].

use crate::model::words::words;

words! {
    /// What the service says when it refuses (specification 7).
    pub enum ServiceCode: as_str {
        /// A value of a path or another parameter is not valid.
        InvalidParam = "invalidParam",
        /// The request is no JSON.
        MalformedJsonInput = "malformedJsonInput",
        /// Values of the request are not valid.
        InvalidData = "invalidData",
        /// The service failed.
        InternalServerError = "internalServerError",
        /// Too many requests in a second.
        RateLimitExceeded = "rateLimitExceeded",
        /// The day's creations are used up.
        QuotaLimitExceeded = "quotaLimitExceeded",
        /// The message gives the reason.
        GeneralError = "generalError",
        /// A record that is referred to does not exist.
        NoDataFound = "noDataFound",
        /// The state of a record does not allow it.
        InvalidState = "invalidState",
        /// A value that must be unique is in use.
        DuplicateEntity = "duplicateEntity",
        /// Client id or secret are wrong.
        InvalidClient = "invalid_client",
        /// The token is missing, not valid or expired.
        InvalidToken = "invalid_token",
        /// The address of this machine is not allowed.
        UnauthorizedSource = "unauthorizedSource",
    }
}

words! {
    /// Why a row was put off, is held, was refused by a rule of ours, skipped or cancelled; and what was found when its
    /// record was read back.
    pub enum Reason: as_str {
        /// The answer says OK about another record.
        AnswerContradicts = "answer.contradicts",
        /// Sent several times, and never an answer that told.
        AnswerNever = "answer.never",
        /// Sent again after a lost answer, and refused then.
        RefusedInDoubt = "refused.in-doubt",
        /// The id in the answer belongs to another job.
        IdOwned = "id.owned",
        /// A value cannot be part of an address.
        RequestParameter = "request.parameter",
        /// There before we sent anything, and such rows are to be refused.
        Existing = "existing",
        /// Perhaps there before we sent anything.
        ExistingUnclear = "existing.unclear",
        /// Several records may be the one of the row.
        CandidatesUnclear = "candidates.unclear",
        /// The one record found differs from the row.
        CandidatesDiffer = "candidates.differ",
        /// Not found after a lost answer.
        Absent = "absent",
        /// The same of a device that brings a site along, which may have been made.
        SiteUnclear = "site.unclear",
        /// The look before sending failed.
        LookupFailed = "lookup.failed",
        /// What the look before sending found may be the record of another row, whose outcome is not known yet.
        OutcomeAwaited = "outcome.awaited",
        /// No look-up can tell.
        LookupUnavailable = "lookup.unavailable",
        /// The record has nothing of the name that the row gives.
        NotListed = "not-listed",
        /// The record has, or can have, several things of the name that the row gives.
        NameAmbiguous = "name.ambiguous",
        /// The service cannot change the field that the row would change.
        NotChangeable = "not-changeable",
        /// The service has changed the field since the row was exported.
        ChangedSinceExport = "changed.since-export",
        /// The look-ups tell nothing for certain.
        LookupInconclusive = "lookup.inconclusive",
        /// The process ended three times while the row was being sent.
        Poison = "poison",
        /// What it belongs to was refused.
        ParentRejected = "parent.rejected",
        /// What it belongs to was cancelled.
        ParentCancelled = "parent.cancelled",
        /// Cancelled by a person, or by a later import that asks for something else.
        Cancelled = "cancelled",
        /// Done earlier, with the same values.
        RowUnchanged = "row.unchanged",
        /// Done earlier, with other values.
        RowDiffers = "row.differs",
        /// The run was ending.
        NotSent = "not-sent",
        /// The service could not be reached.
        Unreachable = "unreachable",
        /// This machine has no more sockets or files.
        Resources = "resources",
        /// The certificate of the service was not accepted.
        Untrusted = "untrusted",
        /// The service refused the credentials.
        Refused = "refused",
        /// There is nothing at the path in use.
        EndpointMissing = "endpoint.missing",
        /// Read back: not there any more.
        AuditVanished = "audit.vanished",
        /// Read back: there twice.
        AuditDouble = "audit.double",
        /// Read back: a site that belongs to no row.
        AuditOrphanSite = "audit.orphan-site",
        /// Read back: what an upkeep row brought about is not so any more.
        AuditReverted = "audit.reverted",
    }
}
