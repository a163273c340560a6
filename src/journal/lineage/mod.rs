//! Which copy of the journal this is, and what a process that died left behind.

pub(super) mod batch;
pub(super) mod high_water_mark;
pub(super) mod identity;
pub(super) mod recovery;
pub(super) mod regression;
pub(super) mod spill;
