//! What a person decides of rows: retry and cancel, and the resolution of rows in doubt.

pub(super) mod ask_service;
pub(super) mod resolve;
pub(super) mod retry_cancel;
