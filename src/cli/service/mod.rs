//! Commands around the service: the doctor, the probe of its endpoints, and the sandbox.

pub(super) mod doctor;
pub(super) mod journal_check;
pub(super) mod probe;
pub(super) mod rehearsal;
pub(super) mod sandbox;
