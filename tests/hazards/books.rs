//! Workbooks: what they hide, merge, compute, declare and break.
