//! What fleetload hands out of itself: templates, explanations, completions and manual pages.

pub(super) mod completions;
pub(super) mod explain;
pub(super) mod template;
