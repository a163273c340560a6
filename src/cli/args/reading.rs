//! The options of the commands that read what exists in the service, with the examples of their help.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::commands::import_id;
use super::options::RehearsalArgs;
use crate::export::{Sought, Subject};
use crate::model::id::ImportId;

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

/// `fleetload export`.
#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("records").multiple(true).args(["company", "site", "device"]))]
pub(in crate::cli) struct Export {
    /// companies, people, sites, devices, interfaces, labels, metadata, templates, subscriptions, clouds, vpn, time-zones,
    /// statuses, states, tunnels, connections or routes
    #[arg(value_name = "WHAT", value_parser = subject)]
    pub(in crate::cli) what: Subject,

    /// Only what belongs to this company: an id, or its exact name
    #[arg(long, value_name = "COMPANY")]
    pub(in crate::cli) company: Option<String>,

    /// Also what belongs to the companies below it
    #[arg(long, requires = "company", conflicts_with_all = ["site", "device"])]
    pub(in crate::cli) below: bool,

    /// Only this site and its devices: an id, or its exact name (with --company, in that company)
    #[arg(long, value_name = "SITE", conflicts_with = "device")]
    pub(in crate::cli) site: Option<String>,

    /// Only this device: an id, a MAC address, or its exact name (with --company, in that company)
    #[arg(long, value_name = "DEVICE")]
    pub(in crate::cli) device: Option<String>,

    /// Only the records that this import created or found, from the journal
    #[arg(long, value_name = "N", value_parser = import_id, conflicts_with = "records")]
    pub(in crate::cli) import: Option<ImportId>,

    /// Only the records of the rows of this sheet that exist, and those that its upkeep rows are about: by id, MAC address or
    /// username, by a key that the journal knows, else by name
    #[arg(long, value_name = "SHEET", conflicts_with_all = ["records", "import"])]
    pub(in crate::cli) sheet: Option<PathBuf>,

    /// With `statuses`: the full statuses, with last contact and addresses
    #[arg(long)]
    pub(in crate::cli) full: bool,

    /// Write to this file (.xlsx, .csv or .jsonl), in place of an earlier export but of no other file; without it, CSV to standard output, or JSON with --json
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,

    /// Go on with an export to the same file that was interrupted
    #[arg(long, requires = "out")]
    pub(in crate::cli) resume: bool,

    /// Requests a second for each operation, at most 100
    #[arg(long, value_name = "N")]
    pub(in crate::cli) rate: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) rehearsal: RehearsalArgs,
}

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  fleetload export devices --company \"Acme Ltd\" --out devices.xlsx
  fleetload export devices --company \"Acme Ltd\" --below --out all.csv
  fleetload export labels --site 6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11
  fleetload export statuses --full --company \"Acme Ltd\" --json
  fleetload export people --import 3 --out people.csv
  fleetload export interfaces --sheet devices.xlsx --out interfaces.xlsx
  fleetload export labels --sheet labels.xlsx            the labels of what its rows are about
  fleetload export devices --company \"Acme Ltd\" --out devices.xlsx --resume

Nothing is changed. Companies, sites, devices, labels, metadata, subscriptions and vpn have the columns of their sheets.
Records that could not be read have a row with the reason; exit code 4 if there are any. Ctrl-C stops; --resume goes on.";

fn subject(word: &str) -> Result<Subject, String> {
    Subject::parse(word).filter(|subject| *subject != Subject::FullStatuses).ok_or_else(|| {
        let subjects = Subject::ALL.iter().filter(|subject| **subject != Subject::FullStatuses);
        let words: Vec<&str> = subjects.map(|subject| subject.word()).collect();
        format!("what can be exported: {}", words.join(", "))
    })
}

fn sought(word: &str) -> Result<Sought, String> {
    Sought::parse(word).ok_or_else(|| {
        let kinds: Vec<&str> = Sought::ALL.iter().map(|sought| sought.plural()).collect();
        format!("the kinds are {}", kinds.join(", "))
    })
}
