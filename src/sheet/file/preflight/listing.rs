//! The worksheets of a workbook, in which part each of them is, and a copy of the workbook with a list that the reader takes.
//!
//! Whatever the reader would take for something else than Excel does is refused: a part in an unusual place, two
//! worksheets of one name. What it refuses and other programs read is repaired in a copy: a sheet whose state is none is
//! shown, and one that leads nowhere is left out.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Error, Seek, Write};
use std::path::Path;

use quick_xml::escape::escape;
use quick_xml::events::BytesStart;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::WorkbookFault;
use super::elements::{attribute, id};
use super::package::{Package, macro_sheet};
use crate::sheet::finding::shown;

/// A worksheet as the workbook lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) hidden: bool,
    /// Whether it has cells: charts and dialogs have none.
    pub(crate) has_cells: bool,
    /// Where its cells are; nothing where the list does not say it.
    pub(super) part: Option<String>,
}

impl Listed {
    /// Whether the list says where it is.
    pub(crate) fn is_there(&self) -> bool {
        self.part.is_some()
    }
}

/// Where values of the workbook can come from besides from whoever typed them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sources {
    /// Databases, web pages and other files, which Excel fetches rows from when it is told to.
    pub(crate) has_connections: bool,
    /// Other workbooks, which formulas or names refer to.
    pub(crate) has_workbooks: bool,
}

/// What the workbook lists.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) sheets: Vec<Listed>,
    /// The part with the list and what is to be in it, where the reader would not take it as it is.
    pub(super) repair: Option<(String, String)>,
    /// The folder of the workbook: `xl/`.
    pub(super) folder: String,
    /// Whether the program that wrote it left the results of formulas to the next one.
    pub(super) is_uncalculated: bool,
    pub(super) sources: Sources,
}

/// A part that another one leads to.
#[derive(Debug, Default)]
pub(super) struct PartLink {
    pub(super) id: String,
    /// What it is, by the end of its type: `worksheet`.
    pub(super) what: String,
    pub(super) target: String,
}

/// The part that says where the links of another one lead.
pub(super) fn relations_of(part: &str) -> String {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    if folder.is_empty() { format!("_rels/{name}.rels") } else { format!("{folder}/_rels/{name}.rels") }
}

/// Hands over the parts that a list of relations leads to.
pub(super) fn relations(
    package: &mut Package,
    part: &str,
    take: &mut dyn FnMut(PartLink) -> Result<(), WorkbookFault>,
) -> Result<(), WorkbookFault> {
    package.small(part)?.each(&mut |element, _| {
        if element.local_name().as_ref() != "Relationship" {
            return Ok(());
        }
        let what = attribute(element, "Type").unwrap_or_default();
        take(PartLink {
            id: attribute(element, "Id").unwrap_or_default(),
            what: what.rsplit('/').next().unwrap_or_default().to_owned(),
            target: attribute(element, "Target").unwrap_or_default(),
        })
    })
}

/// Reads the list of worksheets.
pub(super) fn read(package: &mut Package) -> Result<Listing, WorkbookFault> {
    let mut document = None;
    relations(package, "_rels/.rels", &mut |relation| {
        if relation.what == "officeDocument" {
            document = Some(relation.target);
        }
        Ok(())
    })?;
    let document = document.ok_or_else(|| WorkbookFault::corrupt("it does not say where its workbook is"))?;
    let document = document.strip_prefix('/').unwrap_or(&document);
    let folder = document.rfind('/').map_or("", |slash| &document[..=slash]);
    let mut listing = Listing { folder: folder.to_owned(), ..Listing::default() };
    let part = relations_of(document);
    // In one order, so that the same of several faults is named each time.
    let mut parts = BTreeMap::new();
    relations(package, &part, &mut |relation| {
        listing.sources.has_connections |= relation.what == "connections";
        listing.sources.has_workbooks |= relation.what == "externalLink";
        match parts.insert(relation.id.clone(), relation) {
            Some(_) => {
                Err(WorkbookFault::corrupt(&format!("the part {} names one part twice", shown(&part))))
            }
            None => Ok(()),
        }
    })?;
    for (what, usual) in [("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")] {
        for relation in parts.values().filter(|relation| relation.what == what) {
            // The reader knows these parts by their usual names only.
            if package.index(&resolve(folder, &relation.target)) != package.index(&format!("{folder}{usual}"))
            {
                let target = shown(&relation.target);
                return Err(WorkbookFault::corrupt(&format!("the part {target} is not where it belongs")));
            }
        }
    }
    sheets(package, document, &parts, &mut listing)?;
    Ok(listing)
}

/// Reads the workbook's own part.
fn sheets(
    package: &mut Package,
    document: &str,
    parts: &BTreeMap<String, PartLink>,
    listing: &mut Listing,
) -> Result<(), WorkbookFault> {
    let mut is_odd = false;
    let mut list = String::new();
    package.small(document)?.each(&mut |element, _| {
        match element.local_name().as_ref() {
            "sheet" => {
                let state = attribute(element, "state");
                is_odd |= state.is_some_and(|state| !["visible", "hidden", "veryHidden"].contains(&&*state));
                let sheet = sheet(element, parts, &listing.folder)?;
                match (&sheet.part, id(element)) {
                    (Some(_), Some(id)) => {
                        let (name, id) = (escape(&*sheet.name), escape(&*id));
                        list.push_str(&format!("<sheet name=\"{name}\" id=\"{id}\"/>"));
                    }
                    _ => is_odd = true,
                }
                listing.sheets.push(sheet);
            }
            "workbookPr" => {
                if let Some(epoch) = attribute(element, "date1904") {
                    list.push_str(&format!("<workbookPr date1904=\"{}\"/>", escape(epoch)));
                }
            }
            "calcPr" => {
                let calculate = attribute(element, "fullCalcOnLoad");
                listing.is_uncalculated |= matches!(calculate.as_deref(), Some("1" | "true"));
            }
            _ => {}
        }
        Ok(())
    })?;
    listing.repair = is_odd.then(|| (document.to_owned(), format!("<workbook>{list}</workbook>")));
    must_be_different(package, &listing.sheets)
}

/// Refuses sheets of one name, or in one part.
fn must_be_different(package: &Package, sheets: &[Listed]) -> Result<(), WorkbookFault> {
    let mut names = HashSet::new();
    let mut parts = HashSet::new();
    for sheet in sheets {
        let corrupt =
            |what: &str| WorkbookFault::corrupt(&what.replace("SHEET", &format!("'{}'", shown(&sheet.name))));
        let mut is_new = names.insert(sheet.name.to_lowercase());
        if let Some(part) = &sheet.part {
            let missing = || corrupt("the part of the sheet SHEET is missing");
            is_new &= parts.insert(package.index(part).ok_or_else(missing)?);
        }
        if !is_new {
            return Err(corrupt("it lists the sheet SHEET twice"));
        }
    }
    Ok(())
}

/// One sheet of the list.
fn sheet(
    element: &BytesStart<'_>,
    parts: &BTreeMap<String, PartLink>,
    folder: &str,
) -> Result<Listed, WorkbookFault> {
    let name = attribute(element, "name").unwrap_or_default();
    // Other programs show a sheet whose state they do not know.
    let hidden = matches!(attribute(element, "state").as_deref(), Some("hidden" | "veryHidden"));
    let Some(relation) = id(element).and_then(|id| parts.get(&id)) else {
        return Ok(Listed { name, hidden, has_cells: true, part: None });
    };
    let has_cells = match relation.what.as_str() {
        "worksheet" => true,
        "chartsheet" | "dialogsheet" => false,
        "xlMacrosheet" | "xlIntlMacrosheet" => return Err(macro_sheet()),
        _ => {
            return Err(WorkbookFault::corrupt(&format!(
                "the sheet '{}' is of an unknown kind",
                shown(&name)
            )));
        }
    };
    Ok(Listed { name, hidden, has_cells, part: Some(resolve(folder, &relation.target)) })
}

/// The name of a part that another one in this folder names.
fn resolve(folder: &str, target: &str) -> String {
    target.strip_prefix('/').map_or_else(|| format!("{folder}{target}"), str::to_owned)
}

/// Copies a workbook that was looked through into a file without a name, with another list in this part.
pub(super) fn copy(path: &Path, part: &str, list: &str) -> std::io::Result<File> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?)).map_err(Error::other)?;
    let mut copy = ZipWriter::new(tempfile::tempfile()?);
    for index in 0..archive.len() {
        let raw = archive.by_index_raw(index).map_err(Error::other)?;
        let name = raw.name().map_err(Error::other)?.into_owned();
        if name.replace('\\', "/").eq_ignore_ascii_case(part) {
            copy.start_file(name, SimpleFileOptions::default()).map_err(Error::other)?;
            copy.write_all(list.as_bytes())?;
        } else {
            copy.raw_copy_file(raw).map_err(Error::other)?;
        }
    }
    let mut copy = copy.finish().map_err(Error::other)?;
    copy.rewind()?;
    Ok(copy)
}
