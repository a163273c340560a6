//! A copy of a workbook whose list of sheets the reader takes: it refuses the whole file for one sheet that is neither shown
//! nor hidden, or of which the list does not say where it is.

use std::fs::File;
use std::io::{BufReader, Error, Read, Result, Seek, Write};
use std::path::Path;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::listing::{is_known, place};

/// Copies a workbook that was looked through into a file without a name, with another list in this part.
pub(super) fn copy(path: &Path, part: &str, is_lost: &dyn Fn(&str) -> bool) -> Result<File> {
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
