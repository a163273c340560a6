//! The sample sheets, made by a program so that every byte has a known reason.
//!
//! The same call gives the same bytes on every machine: random choices are seeded and the workbooks carry a fixed
//! date. `tests/cli/samples.rs` compares the committed files with what is made here.

mod codes;
mod docs;
mod large;
mod mistakes;
mod onboarding;
mod operations;
mod refused;
mod sheet;
mod upkeep;
mod world;

use std::fs;
use std::path::{Path, PathBuf};

use fleetload::model::kind::Kind;
use fleetload::sheet::template;

pub(crate) use large::large;

/// The result of everything here: whatever went wrong is told and ends the program.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The account's own company in the sandbox.
const OWN_COMPANY: &str = "6f1c2a3e-0000-4000-8000-000000000001";
/// A device of the sandbox to copy.
const TEMPLATE_DEVICE: &str = "6f1c2a3e-0000-4000-8000-000000000002";
/// An enterprise template of the sandbox.
const ENTERPRISE_TEMPLATE: &str = "6f1c2a3e-0000-4000-8000-000000000003";
/// A VPN cloud of the sandbox.
const VPN_CLOUD: &str = "6f1c2a3e-0000-4000-8000-000000000005";

/// Writes every sample that is kept with the source into `folder`.
pub(crate) fn all(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let mut keep = |path: PathBuf, bytes: Vec<u8>| -> Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, bytes)?;
        written.push(path);
        Ok(())
    };
    let sheets = onboarding::sheets()?;
    keep(folder.join("onboarding.xlsx"), sheet::workbook(&onboarding::notes(), &sheets)?)?;
    for sheet in &sheets {
        let name = format!("{}.csv", sheet.name.to_lowercase());
        keep(folder.join("onboarding").join(name), sheet.csv()?)?;
    }
    let (sheets, planted) = mistakes::sheets();
    keep(folder.join("mistakes.xlsx"), sheet::workbook(&mistakes::notes(), &sheets)?)?;
    keep(folder.join("mistakes.csv"), mistakes::list(&planted)?)?;
    keep(folder.join("service-refuses.csv"), refused::sheet().csv()?)?;
    keep(folder.join("upkeep.xlsx"), sheet::workbook(&upkeep::notes(), &upkeep::sheets())?)?;
    Ok(written)
}

/// Writes the blank sheets that are kept with the source into `folder`.
pub(crate) fn templates(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let mut written = Vec::new();
    for (name, kinds) in
        [("fleetload-template.xlsx", Kind::RECORDS.to_vec()), ("fleetload-upkeep.xlsx", upkeep_kinds())]
    {
        written.push(folder.join(name));
        fs::write(folder.join(name), template::workbook_bytes(&kinds, None)?)?;
    }
    for kind in Kind::SHEETS {
        let path = folder.join(format!("{kind}.csv"));
        fs::write(&path, template::csv_bytes(kind)?)?;
        written.push(path);
    }
    Ok(written)
}

/// Writes the JSON Schema of everything that programs read into `folder`.
#[cfg(feature = "schemas")]
pub(crate) fn schemas(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let mut written = Vec::new();
    for (name, schema) in fleetload::cli::schemas() {
        let path = folder.join(format!("{name}.json"));
        fs::write(&path, format!("{schema:#}\n"))?;
        written.push(path);
    }
    Ok(written)
}

/// The kinds of upkeep sheets.
fn upkeep_kinds() -> Vec<Kind> {
    Kind::SHEETS.into_iter().filter(|kind| !kind.is_record()).collect()
}

/// Writes the pages of the documentation that are made from the program: the tables of columns and of
/// the ways a command can end, the list of codes, and that of the operations.
pub(crate) fn renew_docs(folder: &Path) -> Result<Vec<PathBuf>> {
    let pages = [
        "sheets.md",
        "upkeep.md",
        "scheduling.md",
        "guarantees.md",
        "codes.md",
        "operations.md",
        "metrics.md",
    ];
    let pages = pages.map(|name| folder.join(name));
    let [sheets, upkeep_page, scheduling, guarantees, list, operations, metrics] = &pages;
    fs::write(sheets, docs::renew_columns(&fs::read_to_string(sheets)?, &Kind::RECORDS)?)?;
    fs::write(upkeep_page, docs::renew_columns(&fs::read_to_string(upkeep_page)?, &upkeep_kinds())?)?;
    fs::write(scheduling, docs::renew_endings(&fs::read_to_string(scheduling)?)?)?;
    fs::write(guarantees, docs::renew_writing(&fs::read_to_string(guarantees)?)?)?;
    fs::write(metrics, docs::renew_metrics(&fs::read_to_string(metrics)?)?)?;
    fs::write(list, codes::page())?;
    fs::write(operations, operations::page())?;
    Ok(pages.to_vec())
}
