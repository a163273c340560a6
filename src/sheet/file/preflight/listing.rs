//! The worksheets of a workbook, in which part each of them is, and a copy of the workbook with a list that the reader takes.
//!
//! Whatever the reader would take for something else than Excel does is refused: a part in an unusual place, two
//! worksheets of one name. What it refuses and other programs read is repaired in a copy: a sheet whose state is none is
//! shown, and one that leads nowhere is left out.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Error, Read, Seek, Write};
use std::path::Path;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::package::{Archive, macro_sheet};
use super::tokens::elements;
use super::{Fault, tokens};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// A worksheet as the workbook lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) hidden: bool,
    /// Whether it has cells: charts and dialogs have none.
    pub(crate) has_cells: bool,
    /// Whether some of its cells are those of a pivot table.
    pub(crate) has_pivot: bool,
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
    /// The part with the list, and the ids of the places that are known, where the reader would not take it as it is.
    pub(super) odd: Option<(String, HashSet<String>)>,
    /// The folder of the workbook: `xl/`.
    pub(super) folder: String,
    /// Whether the program that wrote it left the results of formulas to the next one.
    pub(super) is_uncalculated: bool,
    pub(super) sources: Sources,
}

/// A part that another one leads to.
struct Relation {
    what: String,
    target: String,
}

/// Reads the list of worksheets.
pub(super) fn read(archive: &mut Archive) -> Result<Listing, Fault> {
    let root = relations(archive, "_rels/.rels")?;
    let document = root.values().find(|relation| relation.what == "officeDocument");
    let document = document.ok_or_else(|| Fault::corrupt("it does not say where its workbook is"))?;
    let (folder, name) = document
        .target
        .rsplit_once('/')
        .map_or(("", document.target.as_str()), |(folder, name)| (folder, name));
    let folder = folder.strip_prefix('/').unwrap_or(folder);
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let relations = relations(archive, &format!("{folder}_rels/{name}.rels"))?;
    for (what, usual) in [("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")] {
        for relation in relations.values().filter(|relation| relation.what == what) {
            // The reader knows these parts by their usual names only.
            if archive.index(&resolve(&folder, &relation.target))
                != archive.index(&format!("{folder}{usual}"))
            {
                return Err(Fault::corrupt(&format!(
                    "the part {} is not where it belongs",
                    shown(&relation.target)
                )));
            }
        }
    }
    let leads_to = |what: &str| relations.values().any(|relation| relation.what == what);
    let sources =
        Sources { has_connections: leads_to("connections"), has_workbooks: leads_to("externalLink") };
    let mut listing = Listing { folder, sources, ..Listing::default() };
    workbook(archive, &format!("{}{name}", listing.folder), &relations, &mut listing)?;
    Ok(listing)
}

/// Reads the workbook's own part.
fn workbook(
    archive: &mut Archive,
    part: &str,
    relations: &HashMap<String, Relation>,
    listing: &mut Listing,
) -> Result<(), Fault> {
    let limits = archive.limits;
    let mut reader = elements(archive.small_part(part, limits.run)?);
    let mut buffer = Vec::new();
    let mut found = Vec::new();
    let mut is_odd = false;
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(|error| tokens::fault(&error, part))? {
            Event::Start(element) => match element.local_name().as_ref() {
                "sheet" => {
                    if found.len() == limits.sheets {
                        return Err(Fault::new(
                            Code::FileTooLarge,
                            format!(
                                "the workbook has more than {} sheets: keep only those to import",
                                limits.sheets
                            ),
                        ));
                    }
                    let sheet = sheet(&element, relations, &listing.folder)?;
                    is_odd |= sheet.part.is_none();
                    is_odd |= attribute(&element, "state").is_some_and(|state| !is_known(&state));
                    found.push(sheet);
                }
                "calcPr" => {
                    listing.is_uncalculated |=
                        matches!(attribute(&element, "fullCalcOnLoad").as_deref(), Some("1" | "true"));
                }
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    drop(reader);
    let mut names = HashSet::new();
    let mut parts = HashSet::new();
    for sheet in &mut found {
        let index = match &sheet.part {
            Some(part) => Some(archive.index(part).ok_or_else(|| {
                Fault::corrupt(&format!("the part of the sheet '{}' is missing", shown(&sheet.name)))
            })?),
            None => None,
        };
        if !names.insert(sheet.name.to_lowercase()) || index.is_some_and(|index| !parts.insert(index)) {
            return Err(Fault::corrupt(&format!("it lists the sheet '{}' twice", shown(&sheet.name))));
        }
        sheet.has_pivot = sheet.part.as_ref().is_some_and(|part| has_pivot(archive, part));
    }
    listing.odd = is_odd.then(|| (part.to_owned(), relations.keys().cloned().collect()));
    listing.sheets = found;
    Ok(())
}

/// One sheet of the list.
fn sheet(
    element: &BytesStart<'_>,
    relations: &HashMap<String, Relation>,
    folder: &str,
) -> Result<Listed, Fault> {
    let name = attribute(element, "name").unwrap_or_default();
    // Other programs show a sheet whose state they do not know.
    let hidden = matches!(attribute(element, "state").as_deref(), Some("hidden" | "veryHidden"));
    let Some(relation) = place(element).and_then(|id| relations.get(&id)) else {
        return Ok(Listed { name, hidden, has_cells: true, has_pivot: false, part: None });
    };
    let has_cells = match relation.what.as_str() {
        "worksheet" => true,
        "chartsheet" | "dialogsheet" => false,
        "xlMacrosheet" | "xlIntlMacrosheet" => return Err(macro_sheet()),
        _ => {
            return Err(Fault::corrupt(&format!("the sheet '{}' is of an unknown kind", shown(&name))));
        }
    };
    let part = Some(resolve(folder, &relation.target));
    Ok(Listed { name, hidden, has_cells, has_pivot: false, part })
}

/// The id under which a sheet of the list says where it is.
pub(super) fn place(sheet: &BytesStart<'_>) -> Option<String> {
    attribute_named(sheet, |key| key == "id" || key.ends_with(":id"))
}

/// Whether a sheet can have this state.
pub(super) fn is_known(state: &str) -> bool {
    matches!(state, "visible" | "hidden" | "veryHidden")
}

/// Whether a worksheet has a pivot table. Its links are needed for nothing else, so broken ones are none.
fn has_pivot(archive: &mut Archive, part: &str) -> bool {
    let links = relations_of(part);
    archive.has(&links)
        && relations(archive, &links)
            .is_ok_and(|links| links.values().any(|relation| relation.what == "pivotTable"))
}

/// The part that says where the links of another one lead.
pub(super) fn relations_of(part: &str) -> String {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    format!("{folder}/_rels/{name}.rels")
}

/// The parts that a list of relations leads to, by their ids.
fn relations(archive: &mut Archive, part: &str) -> Result<HashMap<String, Relation>, Fault> {
    let limits = archive.limits;
    let mut reader = elements(archive.small_part(part, limits.run)?);
    let mut buffer = Vec::new();
    let mut found = HashMap::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(|error| tokens::fault(&error, part))? {
            Event::Start(element) if element.local_name().as_ref() == "Relationship" => {
                let id = attribute(&element, "Id").unwrap_or_default();
                let what = attribute(&element, "Type").unwrap_or_default();
                let what = what.rsplit('/').next().unwrap_or_default().to_owned();
                let target = attribute(&element, "Target").unwrap_or_default();
                if found.len() == limits.parts {
                    return Err(Fault::corrupt("it has too many links between its parts"));
                }
                if found.insert(id, Relation { what, target }).is_some() {
                    return Err(Fault::corrupt(&format!("the part {} names one part twice", shown(part))));
                }
            }
            Event::Eof => return Ok(found),
            _ => {}
        }
    }
}

/// The name of a part that another one in this folder names.
fn resolve(folder: &str, target: &str) -> String {
    target.strip_prefix('/').map_or_else(|| format!("{folder}{target}"), str::to_owned)
}

/// The value of an attribute, without its entities.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    attribute_named(element, |key| key == name)
}

/// The same of the first attribute that is the one.
pub(super) fn attribute_named(element: &BytesStart<'_>, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let mut attributes = element.attributes();
    let found = attributes.with_checks(false).flatten().find(|attribute| is_it(attribute.key.as_ref()))?;
    let text = quick_xml::escape::unescape(&found.value).map(std::borrow::Cow::into_owned);
    Some(text.unwrap_or_else(|_| found.value.to_string()))
}

/// Copies a workbook that was looked through into a file without a name, with another list in this part.
pub(super) fn copy(path: &Path, part: &str, is_lost: &dyn Fn(&str) -> bool) -> std::io::Result<File> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?)).map_err(Error::other)?;
    let mut copy = ZipWriter::new(tempfile::tempfile()?);
    for index in 0..archive.len() {
        let raw = archive.by_index_raw(index).map_err(Error::other)?;
        let name = raw.name().map_err(Error::other)?.into_owned();
        if !name.replace('\\', "/").eq_ignore_ascii_case(part) {
            copy.raw_copy_file(raw).map_err(Error::other)?;
            continue;
        }
        drop(raw);
        let mut list = String::new();
        archive.by_index(index).map_err(Error::other)?.read_to_string(&mut list)?;
        copy.start_file(name, SimpleFileOptions::default()).map_err(Error::other)?;
        copy.write_all(&repaired(&list, is_lost).map_err(Error::other)?)?;
    }
    let mut copy = copy.finish().map_err(Error::other)?;
    copy.rewind()?;
    Ok(copy)
}

/// The list without the sheets that are lost, and without states that are none.
fn repaired(list: &str, is_lost: &dyn Fn(&str) -> bool) -> quick_xml::Result<Vec<u8>> {
    let mut reader = Reader::from_str(list);
    reader.config_mut().expand_empty_elements = true;
    let mut writer = Writer::new(Vec::new());
    let mut is_left_out = false;
    loop {
        let event = reader.read_event()?;
        match event {
            Event::Start(sheet) if sheet.local_name().as_ref() == "sheet" => {
                is_left_out = place(&sheet).is_none_or(|id| is_lost(&id));
                if !is_left_out {
                    writer.write_event(Event::Start(with_known_state(&sheet)))?;
                }
            }
            Event::End(sheet) if sheet.local_name().as_ref() == "sheet" && is_left_out => is_left_out = false,
            Event::Eof => return Ok(writer.into_inner()),
            other => writer.write_event(other)?,
        }
    }
}

/// A sheet of the list; without its state where that is none, which is shown.
fn with_known_state<'a>(sheet: &'a BytesStart<'_>) -> BytesStart<'a> {
    let mut element = BytesStart::new(sheet.name().as_ref().to_owned());
    let mut attributes = sheet.attributes();
    let known = attributes.with_checks(false).flatten();
    element.extend_attributes(known.filter(|one| one.key.as_ref() != "state" || is_known(&one.value)));
    element
}
