//! What would happen, before anything does: order, creations and calls, quota days, finish time.

pub mod forecast;
