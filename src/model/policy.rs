//! What a profile decides in one of a few words: the policies of a run, and where and how the service is reached.

/// Declares a choice of a few words, as they are typed and as a profile has them. The first line about a value is what the
/// help says of it; `[default]` before a value makes it the default.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident {
        $(#[doc = $meaning:literal] $([$default:ident])? $variant:ident = $word:literal,)+
    }) => {
        $crate::model::words::words! {
            $(#[$doc])*
            pub enum $name: word, of_word { $(#[doc = $meaning] $(#[$default])? $variant = $word,)+ }
        }

        impl $name {
            /// The words, in the order of the values.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// What each of them means, in the same order.
            pub const MEANINGS: &'static [&'static str] = &[$($meaning,)+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> std::result::Result<Self, String> {
                Self::of_word(word).ok_or_else(|| format!("it is one of {}", Self::WORDS.join(", ")))
            }
        }
    };
}

pub(crate) use choice;

choice! {
    /// `on_quota`: what to do when the day's quota is spent.
    #[derive(Default)]
    OnQuota {
        /// Wait for the next day.
        [default] Wait = "wait",
        /// Stop with exit code 5.
        Exit = "exit",
    }
}
choice! {
    /// `on_close`: what a run does outside the window in which it may send.
    #[derive(Default)]
    OnClose {
        /// Wait until it opens.
        [default] Wait = "wait",
        /// Stop with exit code 5.
        Exit = "exit",
    }
}
choice! {
    /// `on_existing`: what to do when the record is there before we send.
    #[derive(Default)]
    OnExisting {
        /// Take its id and go on.
        [default] Adopt = "adopt",
        /// Leave the row, as existing, without its further steps.
        Skip = "skip",
        /// Reject the row.
        Fail = "fail",
    }
}
choice! {
    /// `in_doubt`: what to do when it stays unknown whether a record was created.
    #[derive(Default)]
    InDoubt {
        /// Settle it by looking, and send again what is proved absent.
        [default] Settle = "settle",
        /// Hold the row for a person.
        Hold = "hold",
    }
}
choice! {
    /// `audit`: which records are read back before a run ends.
    #[derive(Default)]
    Audit {
        /// All that were made.
        [default] All = "all",
        /// Those whose creation was ever in doubt.
        Doubtful = "doubtful",
        /// None.
        None = "none",
    }
}
choice! {
    /// `paths`: which unmapped paths are used.
    #[derive(Default)]
    Paths {
        /// Only those the specification states.
        [default] Documented = "documented",
        /// Also those that follow its naming.
        Assumed = "assumed",
    }
}
choice! {
    /// `proxy`: whether the proxy variables of the environment count.
    #[derive(Default)]
    Proxy {
        /// They do not: requests go straight to the service.
        [default] Ignored = "ignore",
        /// They do, except for a service on this machine.
        FromEnvironment = "environment",
    }
}
