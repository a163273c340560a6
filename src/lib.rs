//! fleetload creates companies, people, sites and devices from spreadsheets in a provisioning service.
pub mod clock;
pub mod error;
pub mod model;
pub mod sandbox;
pub mod service;
