//! fleetload creates companies, people, sites and devices from spreadsheets in a provisioning service.
//!
//! A sheet becomes records, records become jobs in a journal, a run sends them to the service, a report is a
//! view of the journal. The rooms stand on floors, and a file imports from lower floors only:
//!
//! | floor | rooms |
//! |---|---|
//! | 0 | [`error`], [`clock`], [`model`], [`catalogue`], [`command`]: words and rules; [`look`]: of the pages; [`failpoint`], [`mistake`]: handles for the proofs |
//! | 1 | [`sheet`], [`journal`], [`service`], [`sandbox`]: one part of the world each; they do not know each other |
//! | 2 | [`import`], [`plan`], [`run`], [`report`]: what brings two of them together |
//! | 3 | [`term`], [`cli`]: what a person sees and types |

#![forbid(unsafe_code)]

pub mod catalogue;
pub mod cli;
pub mod clock;
pub mod command;
pub mod error;
pub mod failpoint;
pub mod import;
pub mod journal;
pub mod look;
pub mod mistake;
pub mod model;
pub mod plan;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod service;
pub mod sheet;
pub mod term;
