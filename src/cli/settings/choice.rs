//! The words of the settings that are a choice among a few, with the nearest one for a word that is none.

use clap::ValueEnum;

/// A setting whose value is one of a few words.
pub(super) trait Choice: Copy + Sized + 'static {
    /// Every value with its word.
    const WORDS: &'static [(&'static str, Self)];

    /// The value of a word.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
    }
}

/// Declares a choice with its words.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(in crate::cli) enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl Choice for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $word,)+ })
            }
        }
    };
}

choice! {
    /// `paths`: which undocumented paths are used.
    PathsWord {
        /// Only those the specification states.
        Documented = "documented",
        /// Also those that follow its naming.
        Assumed = "assumed",
    }
}
choice! {
    /// `on_quota`: what to do when the day's quota is spent.
    OnQuotaWord {
        /// Wait for the next day.
        Wait = "wait",
        /// Stop with exit code 5.
        Exit = "exit",
    }
}
choice! {
    /// `on_existing`: what to do when the record is there before we send.
    OnExistingWord {
        /// Take its id and go on.
        Adopt = "adopt",
        /// Leave the row, as existing, without its further steps.
        Skip = "skip",
        /// Reject the row.
        Fail = "fail",
    }
}
choice! {
    /// `in_doubt`: what to do when it stays unknown whether a record was created.
    InDoubtWord {
        /// Settle it by looking, and send again what is proved absent.
        Settle = "settle",
        /// Hold the row for a person.
        Hold = "hold",
    }
}
choice! {
    /// `proxy`: whether the proxy variables of the environment count.
    ProxyWord {
        /// They do not: requests go straight to the service.
        Ignore = "ignore",
        /// They do, except for a service on this machine.
        Environment = "environment",
    }
}
choice! {
    /// `audit`: which records are read back before a run ends.
    AuditWord {
        /// All that were made.
        All = "all",
        /// Those whose creation was ever in doubt.
        Doubtful = "doubtful",
        /// None.
        None = "none",
    }
}
choice! {
    /// `method` of an endpoint.
    MethodWord {
        /// Reads.
        Get = "GET",
        /// Creates and changes.
        Post = "POST",
        /// Puts or replaces.
        Put = "PUT",
        /// Changes.
        Patch = "PATCH",
        /// Removes.
        Delete = "DELETE",
    }
}

/// The known word nearest to `word`, when one is near enough to be what was meant.
pub(in crate::cli) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered_and_a_far_one_is_not() {
        let known = ["rate", "concurrency", "daily_quota", "reserve"];
        let table = [
            ("rates", Some("rate")),
            ("dailyQuota", Some("daily_quota")),
            ("Concurrency", Some("concurrency")),
            ("reserv", Some("reserve")),
            ("colour", None),
        ];
        for (word, expected) in table {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }

    #[test]
    fn the_command_line_and_the_file_know_the_same_words() {
        for (word, value) in OnExistingWord::WORDS {
            assert_eq!(<OnExistingWord as ValueEnum>::from_str(word, false), Ok(*value));
            assert_eq!(value.to_string(), *word);
        }
    }
}
