//! fleetload creates companies, people, sites and devices from spreadsheets in a provisioning service: each row exactly
//! once, inside the service's limits, with an answer for every row.
//!
//! # The way of a row
//!
//! A sheet becomes records, records become jobs in a journal, a run sends them to the service, a report is a view of the
//! journal.
//!
//! 1. [`sheet::open`] finds the tables of a file and reads their rows: a [`sheet::Draft`] of a record for each that is right,
//!    and every problem with its cell. [`sheet::cross_row`] checks what holds between rows.
//! 2. [`import::examine`] does so for all files, [`import::import`] puts the rows in the [`journal::Journal`], all or none:
//!    every row becomes a job with a [`model::state::JobState`].
//! 3. [`run::run`] takes the jobs in the order of what they refer to. Its dispatcher keeps one order for each request:
//!    permission, claim on disk, send, settle on disk, tell. A [`service::Client`] sends it once and judges the answer into a
//!    [`model::verdict::Verdict`]; what follows from that is said in one place, [`model::settle`].
//! 4. [`report::write`] shows what became of every row, from the journal alone, at any time.
//!
//! Around that: [`plan`] says what a run would do, by placing the rows and taking them out again; [`sandbox`] is the service
//! simulated, for rehearsals and for the tests; [`status`] says where things stand and what to do next; [`cli`] has a file
//! for each command, and [`term`] is the only place that prints.
//!
//! # Why nothing is created twice
//!
//! The service cannot remove a record and has no way to send a request twice safely. So a job is `sending` on disk before
//! its request leaves, and only a listed proof that nothing was executed lets it be sent again. Whatever is no such proof is
//! *in doubt*: the record is looked up, by a look-up that has shown to find what exists, and what cannot be found out is
//! held for a person. `docs/guarantees.md` says how that is shown, `docs/faults.md` what may go wrong.
//!
//! # Layers
//!
//! A module imports from lower layers only, and modules of one layer do not import each other but for those of the lowest
//! and the highest; `tests/cli/layers.rs` checks it.
//!
//! | layer | modules |
//! |---|---|
//! | 0 | [`error`], [`ending`], [`advice`], [`clock`], [`model`]: words and rules; `private_file`: how files are kept from others; [`json_schema`]: JSON Schemas of types; [`failpoint`], [`mistake`]: handles for the proofs |
//! | 1 | [`sheet`], [`journal`], [`service`], [`sandbox`]: one part of the world each |
//! | 2 | [`import`], [`plan`], [`run`]: what brings two of them together; [`export`]: what exists at the service; [`notify`]: who is told what a run came to; [`metrics`]: figures for Prometheus; [`status`]: where things stand and what to do next |
//! | 3 | [`report`]: files that show it |
//! | 4 | [`term`], [`cli`]: what a person sees and types |
//!
//! Time comes in as a [`clock::Clock`], so that whole runs of days pass in a test at once.

#![forbid(unsafe_code)]

pub mod advice;
pub mod cli;
pub mod clock;
pub mod ending;
pub mod error;
pub mod export;
pub mod failpoint;
pub mod import;
pub mod journal;
pub mod json_schema;
pub mod metrics;
pub mod mistake;
pub mod model;
pub mod notify;
pub mod plan;
mod private_file;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod service;
pub mod sheet;
pub mod status;
pub mod term;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
