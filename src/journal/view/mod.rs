//! The view: what status, plan and reports read.

pub(super) mod activity;
pub(super) mod audit;
pub(super) mod awaited;
pub(super) mod causes;
pub(super) mod changes;
pub(super) mod company_tree;
pub(super) mod device_look;
pub(super) mod devices;
pub(super) mod differences;
pub(super) mod every_row;
pub(super) mod known_record;
pub(super) mod later_imports;
pub(super) mod measures;
pub(super) mod paused_imports;
pub(super) mod referenced;
pub(super) mod row_identity;
pub(super) mod rows;
pub(super) mod tallies;
