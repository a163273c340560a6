//! fleetload creates companies, people, sites and devices from spreadsheets in a provisioning service.

pub mod sandbox;
