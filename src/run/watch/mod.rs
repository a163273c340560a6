//! The machine's clock and the progress of the loop, under watch.

pub(super) mod clock;
pub(super) mod progress;
pub(super) mod watchdog;
