//! Mistakes that the protocol must not make, to be made on purpose, one at a time: a checker that has never been
//! seen to fail proves nothing. Without the feature `mistakes` none of them can be made.

/// One way to break the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// The journal is opened with `synchronous = NORMAL`.
    SynchronousNormal,
    /// The journal is opened with `synchronous = OFF`.
    SynchronousOff,
}

impl Mistake {
    /// Every mistake.
    pub const ALL: &'static [Self] = &[Self::SynchronousNormal, Self::SynchronousOff];
}

#[cfg(feature = "mistakes")]
mod switch {
    use std::cell::Cell;

    use super::Mistake;

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
}

#[cfg(feature = "mistakes")]
pub(crate) use switch::made;
#[cfg(feature = "mistakes")]
pub use switch::make;

/// Whether a mistake is to be made: never.
#[cfg(not(feature = "mistakes"))]
pub(crate) const fn made(_mistake: Mistake) -> bool {
    false
}
