//! The options of the commands that read what exists in the service, with the examples of their help.

use clap::Args as ClapArgs;

use super::options::RehearsalArgs;
use crate::export::Sought;

/// `fleetload find`.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Find {
    /// companies, sites, devices, people, templates or clouds
    #[arg(value_name = "KIND", value_parser = sought)]
    pub(in crate::cli) kind: Sought,

    /// The name or a part of it; or a MAC address (devices), a username (people), an id. Without it, all records of the
    /// company or the device that you name
    #[arg(value_name = "NAME")]
    pub(in crate::cli) name: Option<String>,

    /// Only records of this company (of companies, those directly below it): an id, or its exact name
    #[arg(long, value_name = "COMPANY")]
    pub(in crate::cli) company: Option<String>,

    /// The device whose templates or clouds are listed: an id, a MAC address, or its exact name
    #[arg(long, value_name = "DEVICE")]
    pub(in crate::cli) device: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
}

pub(super) const FIND_EXAMPLES: &str = "\
Examples:
  fleetload find companies Harbour                       the ids to enter in the column parent
  fleetload find sites Queen --company \"Acme Ltd\"
  fleetload find devices 00:1a:2b:3c:4d:5e
  fleetload find people jane.doe@acme.example
  fleetload find templates --device \"Till 1\"             those it has, and those it can be subscribed to
  fleetload find companies Northwind --sandbox           in the simulated service

Shows the ids of records that exist, exact matches first. Nothing is changed. Exit code 4 if nothing is found.";

fn sought(word: &str) -> Result<Sought, String> {
    Sought::parse(word).ok_or_else(|| {
        let kinds: Vec<&str> = Sought::ALL.iter().map(|sought| sought.plural()).collect();
        format!("the kinds are {}", kinds.join(", "))
    })
}
