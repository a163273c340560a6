//! What follows for a job from an answer, a look-up, or a refusal.

pub(super) mod await_references;
pub(super) mod custom_site;
pub(super) mod lookup_response;
pub(super) mod paused_sheets;
pub(super) mod pre_send_lookup;
pub(super) mod reconcile;
pub(super) mod run_effects;
pub(super) mod settle;
pub(super) mod undo_claim;
