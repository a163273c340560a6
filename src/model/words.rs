//! Enums of which each variant has a word: a code, a state, what is typed at the command line.

/// Declares such an enum, each variant in one line with its word. Besides the enum it makes
///
/// - `ALL`: every variant, in the order of the list;
/// - the method that gives the word, named after the colon;
/// - where a second name is given, the function that finds the variant of a word.
///
/// All are as visible as the enum, which can be compared and be a key without a derive of its own. What a person chooses
/// among, with a meaning for the help, is a `choice!` ([`crate::model::policy`]).
macro_rules! words {
    ($(#[$about:meta])* $visible:vis enum $name:ident: $word:ident $(, $parse:ident)? {
        $($(#[$doc:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visible enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// All there are, in their order.
            $visible const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word of it.
            $visible const fn $word(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            $(
                /// The one with this word.
                $visible fn $parse(word: &str) -> Option<Self> {
                    Self::ALL.iter().copied().find(|one| one.$word() == word)
                }
            )?
        }
    };
}

pub(crate) use words;
