//! Whether a request of an operation may leave now.

pub(super) mod breaker;
pub(super) mod capacity;
pub(super) mod connectivity;
pub(super) mod probing;
pub(super) mod quota;
pub(super) mod quota_count;
pub(super) mod send_window;
