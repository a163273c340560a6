//! The archive that a workbook is: its parts, their names, their sizes as it declares them, and the parts that the reader
//! holds in memory as a whole: the shared texts and the formats of cells.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Error, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_xml::events::Event;
use zip::ZipArchive;

use super::listing::Listing;
use super::survey::Survey;
use super::tokens::{Tokens, elements};
use super::{Fault, LIMITS, Limits, listing, tokens, worksheet};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// A workbook's archive, and which of its parts is which.
pub(crate) struct Package {
    pub(super) archive: Archive,
    pub(super) listing: Listing,
}

/// The parts of an archive.
pub(super) struct Archive {
    zip: ZipArchive<Metered>,
    /// Which part has a name, as the reader looks it up: in small letters, with forward slashes.
    by_name: HashMap<String, usize>,
    pub(super) limits: Limits,
}

impl Package {
    /// Opens a workbook as far as the list of its worksheets.
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        Self::open_within(path, LIMITS)
    }

    /// The same within limits of one's own.
    pub(super) fn open_within(path: &Path, limits: Limits) -> Result<Self, Fault> {
        let mut archive = Archive::open(path, limits)?;
        archive.must_be_a_workbook()?;
        archive.must_be_small()?;
        let listing = listing::read(&mut archive)?;
        Ok(Self { archive, listing })
    }

    /// Looks through the parts that the reader holds in memory as a whole.
    pub(crate) fn must_be_safe_to_open(&mut self) -> Result<(), Fault> {
        look_through(&mut self.archive, &self.listing)
    }

    /// What the reader is to open in place of the workbook at `path`, where it would not take that as it is.
    pub(crate) fn repaired(&self, path: &Path) -> std::io::Result<Option<File>> {
        let Some((part, known)) = &self.listing.odd else { return Ok(None) };
        listing::copy(path, part, &|id| !known.contains(id)).map(Some)
    }

    /// The worksheets, charts and dialogs, in their order.
    pub(crate) fn listed(&self) -> &[super::Listed] {
        &self.listing.sheets
    }

    /// Where values can come from besides from whoever typed them.
    pub(crate) fn sources(&self) -> super::Sources {
        self.listing.sources
    }

    /// Surveys the worksheet in this place of the list.
    pub(crate) fn survey(&mut self, sheet: usize) -> Result<Survey, Fault> {
        let Some(listed) = self.listing.sheets.get(sheet) else {
            return Err(Fault::corrupt("a worksheet is missing"));
        };
        let Some(part) = listed.part.clone() else {
            let what = "the sheet is damaged: the workbook does not say where its cells are. Open it in Excel and save it";
            return Err(Fault::new(Code::SheetUnreadable, what));
        };
        worksheet::survey(&mut self.archive, &part, self.listing.is_uncalculated)
    }
}

impl Archive {
    fn open(path: &Path, limits: Limits) -> Result<Self, Fault> {
        let broken = || Fault::corrupt("its end is missing, or it is not a workbook");
        let file = File::open(path).map_err(|_| broken())?;
        let left = Arc::new(AtomicU64::new(limits.directory));
        let metered = Metered { inner: BufReader::new(file), left: Arc::clone(&left) };
        let zip = ZipArchive::new(metered).map_err(|_| broken())?;
        left.store(u64::MAX, Ordering::Relaxed);
        if zip.len() > limits.parts {
            return Err(Fault::new(
                Code::FileTooLarge,
                format!(
                    "the workbook has {} parts and at most {} are read: save it again in Excel",
                    zip.len(),
                    limits.parts
                ),
            ));
        }
        let twice = |name: &str| Fault::corrupt(&format!("it has two parts called {}", shown(name)));
        if zip.has_duplicate_names() {
            return Err(Fault::corrupt("it has two parts of one name"));
        }
        let mut by_name = HashMap::with_capacity(zip.len());
        for (index, name) in zip.file_names().enumerate() {
            let name = name.map_err(|_| Fault::corrupt("the name of a part cannot be read"))?;
            let normal = name.replace('\\', "/").to_ascii_lowercase();
            if by_name.insert(normal, index).is_some() {
                return Err(twice(&name));
            }
        }
        Ok(Self { zip, by_name, limits })
    }

    /// Refuses what is no workbook, or one of a kind that is not read.
    fn must_be_a_workbook(&self) -> Result<(), Fault> {
        let has = |part: &str| self.by_name.contains_key(part);
        let unsupported = |what: &str| {
            Err(Fault::new(Code::FileFormatUnsupported, format!("the file is {what}: save it as .xlsx")))
        };
        if has("xl/workbook.bin") {
            return unsupported("a binary workbook (.xlsb)");
        }
        if has("index/document.iwa") || has("index.zip") {
            return unsupported("a Numbers document");
        }
        if has("mimetype") && has("content.xml") {
            return unsupported("an OpenDocument spreadsheet (.ods)");
        }
        if self.by_name.keys().any(|name| name.starts_with("xl/macrosheets/")) {
            return Err(macro_sheet());
        }
        if has("word/document.xml") || has("ppt/presentation.xml") {
            return unsupported("a document or a presentation, not a workbook");
        }
        if !has("_rels/.rels") && !self.by_name.keys().any(|name| name.ends_with("workbook.xml")) {
            return Err(Fault::new(
                Code::FileFormatUnsupported,
                "the file is an archive, not a workbook: unpack it, then use the files inside",
            ));
        }
        Ok(())
    }

    /// Refuses what is larger than is read, by the sizes the archive declares.
    fn must_be_small(&self) -> Result<(), Fault> {
        let mut sum = 0_u64;
        for index in 0..self.zip.len() {
            let broken = || Fault::corrupt("its list of parts is broken");
            let entry = self.zip.by_index_data(index).map_err(|_| broken())?;
            let name = entry.name().map_err(|_| broken())?;
            let is_strings = name.to_ascii_lowercase().ends_with("sharedstrings.xml");
            let limit = if is_strings { self.limits.strings } else { self.limits.part };
            sum = sum.saturating_add(entry.size());
            if entry.size() > limit {
                return Err(too_large(&name, entry.size(), limit));
            }
        }
        if sum > self.limits.sum {
            return Err(Fault::new(
                Code::FileTooLarge,
                format!(
                    "the workbook has {} MB when unpacked and at most {} MB are read: split it, or save the sheet as .csv",
                    sum >> 20,
                    self.limits.sum >> 20
                ),
            ));
        }
        Ok(())
    }

    /// Whether there is a part of this name.
    pub(super) fn has(&self, part: &str) -> bool {
        self.index(part).is_some()
    }

    /// Where a part is, found as the reader finds it.
    pub(super) fn index(&self, part: &str) -> Option<usize> {
        self.by_name.get(&part.to_ascii_lowercase()).copied().or_else(|| self.zip.index_for_name(part))
    }

    /// The bytes of a part, texts and tags of at most `longest` each.
    pub(super) fn part(&mut self, part: &str, longest: usize) -> Result<Tokens<impl Read>, Fault> {
        let missing = || Fault::corrupt(&format!("the part {} is missing", shown(part)));
        let index = self.index(part).ok_or_else(missing)?;
        let unreadable = |_| Fault::corrupt(&format!("the part {} cannot be unpacked", shown(part)));
        let file = self.zip.by_index(index).map_err(unreadable)?;
        let size = file.size();
        Ok(Tokens::new(file, longest, size))
    }

    /// The same for a part that is held in memory as a whole, and is never large.
    pub(super) fn small_part(&mut self, part: &str, longest: usize) -> Result<Tokens<impl Read>, Fault> {
        if let Some(size) =
            self.index(part).and_then(|index| Some(self.zip.by_index_data(index).ok()?.size()))
            && size > self.limits.small
        {
            return Err(too_large(part, size, self.limits.small));
        }
        self.part(part, longest)
    }

    /// The declared size of a part.
    pub(super) fn size(&self, part: &str) -> u64 {
        let entry = self.index(part).and_then(|index| self.zip.by_index_data(index).ok());
        entry.map_or(0, |entry| entry.size())
    }
}

/// A macro sheet of Excel 4.
pub(super) fn macro_sheet() -> Fault {
    Fault::new(
        Code::FileFormatUnsupported,
        "the workbook has a macro sheet of Excel 4: save it as .xlsx, which has no macros",
    )
}

fn too_large(part: &str, size: u64, limit: u64) -> Fault {
    Fault::new(
        Code::FileTooLarge,
        format!(
            "the part {} has {} MB when unpacked and at most {} MB are read: split the workbook, or save the sheet as .csv",
            shown(part),
            size >> 20,
            limit >> 20
        ),
    )
}

/// A file of which so many bytes may be read; the list of the parts must be found in them.
struct Metered {
    inner: BufReader<File>,
    left: Arc<AtomicU64>,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let left = self.left.load(Ordering::Relaxed).checked_sub(length as u64);
        self.left
            .store(left.ok_or_else(|| Error::other("the list of parts is too long"))?, Ordering::Relaxed);
        Ok(length)
    }
}

impl Seek for Metered {
    fn seek(&mut self, position: SeekFrom) -> std::io::Result<u64> {
        self.inner.seek(position)
    }
}

/// Bytes that a shared text takes at least: `<si/>`.
const SMALLEST_TEXT: u64 = 5;
/// A claim that costs nothing, however wrong it is; programs write such.
const HARMLESS: u64 = 65_536;

/// Refuses what would make the reader ask for more memory than the file is worth.
pub(super) fn look_through(archive: &mut Archive, listing: &Listing) -> Result<(), Fault> {
    let strings = format!("{}sharedStrings.xml", listing.folder);
    if archive.has(&strings) {
        texts(archive, &strings)?;
    }
    let styles = format!("{}styles.xml", listing.folder);
    if archive.has(&styles) {
        formats(archive, &styles)?;
    }
    let theme = format!("{}theme/theme1.xml", listing.folder);
    if archive.has(&theme) {
        let longest = archive.limits.run;
        count(archive.small_part(&theme, longest)?, &theme, |_, _, _| Ok(()))?;
    }
    Ok(())
}

/// The shared texts: not more than the part can hold, and not more than are read.
fn texts(archive: &mut Archive, part: &str) -> Result<(), Fault> {
    let limits = archive.limits;
    let most = (archive.size(part) / SMALLEST_TEXT + 1).max(HARMLESS).min(limits.texts);
    let mut texts = 0;
    let mut begins = None;
    count(archive.part(part, limits.run)?, part, |name, claimed, at| {
        if name == "si" {
            begins = Some(at);
        }
        // A text in many runs is one anyway, and held as often as cells have it.
        if begins.is_some_and(|begins| at - begins > limits.run as u64) {
            return Err(Fault::new(
                Code::FileTooLarge,
                "a text of the workbook is longer than a million characters, and a cell holds at most 32,767: remove it, \
                 and save the workbook again",
            ));
        }
        if let Some(claimed) = claimed.filter(|claimed| *claimed > most) {
            return Err(Fault::corrupt(&format!("it claims to have {claimed} texts, more than fit into it")));
        }
        texts += u64::from(name == "si");
        if texts > limits.texts {
            return Err(Fault::new(
                Code::FileTooLarge,
                format!("the workbook has more than {} different texts: split it", limits.texts),
            ));
        }
        Ok(())
    })
}

/// The formats of cells, each of which the reader makes a copy of.
fn formats(archive: &mut Archive, part: &str) -> Result<(), Fault> {
    let limits = archive.limits;
    let mut formats = 0;
    let mut elements = 0;
    let too_many = || {
        Fault::new(
            Code::FileTooLarge,
            "the workbook has more, or longer, cell formats than Excel allows: copy the values into a new workbook",
        )
    };
    let counted = count(archive.small_part(part, limits.format_run)?, part, |name, _, _| {
        formats += u64::from(name == "xf");
        elements += 1;
        if formats > limits.formats || elements > 16 * limits.formats { Err(too_many()) } else { Ok(()) }
    });
    counted.map_err(|fault| if fault.code == Code::FileTooLarge { too_many() } else { fault })
}

/// Hands over the name of each element, how many texts it claims there are, and where it ends.
fn count<R: Read>(
    tokens: Tokens<R>,
    part: &str,
    mut each: impl FnMut(&str, Option<u64>, u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut reader = elements(tokens);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(|error| tokens::fault(&error, part))? {
            Event::Start(element) => {
                let name = element.local_name();
                let claimed = if name.as_ref() == "sst" { claimed(&element) } else { None };
                each(name.as_ref(), claimed, reader.buffer_position())?;
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// How many texts an element claims to hold.
fn claimed(element: &quick_xml::events::BytesStart<'_>) -> Option<u64> {
    let mut attributes = element.attributes();
    let claims =
        attributes.with_checks(false).flatten().filter(|attribute| attribute.key.as_ref() == "uniqueCount");
    let digits = claims.filter(|claim| claim.value.bytes().all(|byte| byte.is_ascii_digit()));
    // Digits beyond a number are a claim beyond all measure.
    digits.map(|claim| claim.value.parse().unwrap_or(u64::MAX)).max()
}
