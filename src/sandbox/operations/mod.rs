//! The operations of the specification, an area a file, and the table that lists them.

pub(super) mod attached;
pub(super) mod call;
pub(super) mod companies;
pub(super) mod devices;
pub(super) mod diagnostics;
pub(super) mod people;
pub(super) mod routes;
pub(super) mod sites;
pub(super) mod status;
pub(super) mod subscriptions;
pub(super) mod validation;
pub(super) mod vpn;
