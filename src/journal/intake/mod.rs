//! The intake: what an import writes and looks up.

pub(super) mod bulk_load;
pub(super) mod difference;
pub(super) mod import_writer;
pub(super) mod job_lookup;
pub(super) mod left_out;
pub(super) mod named_id;
pub(super) mod new_rows;
pub(super) mod plan_view;
pub(super) mod rounds;
