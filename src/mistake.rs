//! Mistakes that the protocol must not make, to be made on purpose, one at a time: a checker that has never been
//! seen to fail proves nothing. Without the feature `mistakes` none of them can be made.

/// Declares the mistakes, those that a run can make after those of the journal with the disk.
macro_rules! mistakes {
    (
        disk { $($(#[$of_disk:meta])* $disk:ident,)+ }
        run { $($(#[$of_run:meta])* $run:ident,)+ }
    ) => {
        /// One way to break the protocol.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Mistake { $($(#[$of_disk])* $disk,)+ $($(#[$of_run])* $run,)+ }

        impl Mistake {
            /// The mistakes that a run can make, as against those of the journal with the disk.
            pub const OF_A_RUN: &'static [Self] = &[$(Self::$run,)+];
        }
    };
}

mistakes! {
    disk {
        /// The journal is opened with `synchronous = NORMAL`.
        SynchronousNormal,
        /// The journal is opened with `synchronous = OFF`.
        SynchronousOff,
    }
    run {
        /// A request leaves before its claim is on disk.
        IntentAfterSend,
        /// Requests that change something leave before all pages of the journal are known to be whole.
        PageCheckNotAwaited,
        /// What was being sent when the process ended is ready to be sent after the next start.
        RestartMeansReady,
        /// A lost answer counts as a request that never left.
        LostAnswerIsNotSent,
        /// An internal error of the service counts as a request that was not executed.
        ServerErrorIsNotSent,
        /// A confirmation without an id counts as a request that was not executed.
        NoIdIsNotSent,
        /// A page in place of JSON counts as a success.
        PageIsSuccess,
        /// A code that nobody knows counts as a rejection.
        UnknownCodeRejects,
        /// `duplicateEntity` counts as a rejection, whatever came before.
        DuplicateRejects,
        /// A refusal for the day's quota counts against the row.
        QuotaRefusalRejects,
        /// The first look that finds nothing is believed.
        FirstLookBelieved,
        /// Absence is believed before late executions are over.
        SettleTimeIgnored,
        /// A look-up is believed that has never found anything.
        ProofNotAsked,
        /// A record that may have been there before is taken for ours.
        BaselineIgnored,
        /// A record with a similar name is taken for ours.
        PartialMatchIsEqual,
        /// A device with a site of its own is sent again.
        OwnSiteSentAgain,
        /// A licence code whose answer was lost is sent again.
        LicenceSentAgain,
        /// What was to be taken away counts as gone when the answer is lost.
        RemovalPresumed,
        /// A list that could not be read counts as one that shows what a row asks for.
        UnreadListMeansSo,
        /// A metadata entry that has another value counts as the one that a row asks for.
        ValueNotCompared,
        /// Fields of a record that are as a row asks for are sent with those that are not.
        EqualFieldsSent,
        /// A part of an address is sent without the parts of it that the record has.
        AddressSentInPart,
        /// What the service cannot change counts as the row has it.
        FixedFieldNotCompared,
        /// A creation that the service refused does not count against the day's quota.
        RefusalNotCounted,
        /// A creation that was under way when the process ended does not count against the day's quota.
        UnderWayForgotten,
    }
}

#[cfg(feature = "mistakes")]
mod switch {
    use std::cell::Cell;

    use super::Mistake;
    use crate::model::verdict::{Doubt, NotSent, Rejection, Success, Verdict};

    thread_local! {
        static MADE: Cell<Option<Mistake>> = const { Cell::new(None) };
    }

    /// Makes one mistake, or none, on this thread from now on.
    pub fn make(mistake: Option<Mistake>) {
        MADE.set(mistake);
    }

    /// Whether a mistake is to be made.
    pub(crate) fn made(mistake: Mistake) -> bool {
        MADE.get() == Some(mistake)
    }

    /// What a verdict is mistaken for.
    pub(crate) fn misjudged(verdict: Verdict) -> Verdict {
        let not_sent = || Verdict::NotSent(NotSent::NoConnection("taken for not sent".to_owned()));
        let rejected = |code: &str| {
            let (code, message) = (code.to_owned(), "taken for a rejection".to_owned());
            Verdict::Rejected(Rejection { code, message, violations: Vec::new() })
        };
        match (MADE.get(), verdict) {
            (
                Some(Mistake::LostAnswerIsNotSent),
                Verdict::Doubtful(Doubt::Timeout | Doubt::Disconnected | Doubt::Truncated),
            )
            | (Some(Mistake::ServerErrorIsNotSent), Verdict::Doubtful(Doubt::ServerError))
            | (Some(Mistake::NoIdIsNotSent), Verdict::Succeeded(Success { id: None, .. })) => not_sent(),
            (Some(Mistake::PageIsSuccess), Verdict::Doubtful(Doubt::Unreadable)) => {
                Verdict::Succeeded(Success::default())
            }
            (Some(Mistake::UnknownCodeRejects), Verdict::Doubtful(Doubt::UnknownAnswer)) => {
                rejected("unknown")
            }
            (Some(Mistake::DuplicateRejects), Verdict::Duplicate(rejection)) => Verdict::Rejected(rejection),
            (Some(Mistake::QuotaRefusalRejects), Verdict::QuotaSpent) => rejected("quotaLimitExceeded"),
            (_, verdict) => verdict,
        }
    }
}

#[cfg(feature = "mistakes")]
pub use switch::make;
#[cfg(feature = "mistakes")]
pub(crate) use switch::{made, misjudged};

/// Whether a mistake is to be made: never.
#[cfg(not(feature = "mistakes"))]
pub(crate) const fn made(_mistake: Mistake) -> bool {
    false
}

/// What a verdict is mistaken for: nothing but itself.
#[cfg(not(feature = "mistakes"))]
pub(crate) fn misjudged(verdict: crate::model::verdict::Verdict) -> crate::model::verdict::Verdict {
    verdict
}
