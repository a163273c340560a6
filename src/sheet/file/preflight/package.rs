//! The archive that a workbook is: its parts, their names and sizes, and the parts that the reader holds in memory as a
//! whole: the shared texts and the formats of cells.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Error, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zip::ZipArchive;

use super::elements::{Elements, attribute};
use super::listing::Listed;
use super::{WorkbookFault, WorkbookLimits};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// A workbook's archive, and which of its parts is which.
pub(super) struct Package {
    zip: ZipArchive<Metered>,
    /// Which part has a name, as the reader looks it up: in small letters, with forward slashes.
    by_name: HashMap<String, usize>,
    pub(super) limits: WorkbookLimits,
}

impl Package {
    /// Opens the archive of a workbook; refuses what is none, what is too large and what is ambiguous.
    pub(super) fn open(path: &Path, limits: WorkbookLimits) -> Result<Self, WorkbookFault> {
        let zip = Metered::archive(path, limits.directory)
            .ok_or_else(|| WorkbookFault::corrupt("its end is missing, or it is not a workbook"))?;
        if zip.len() > limits.parts {
            let (parts, most) = (zip.len(), limits.parts);
            return Err(WorkbookFault::too_large(format!(
                "the workbook has {parts} parts and at most {most} are read: save it again in Excel"
            )));
        }
        let mut package = Self { zip, by_name: HashMap::new(), limits };
        package.name_parts()?;
        package.must_be_a_workbook()?;
        package.must_be_small()?;
        Ok(package)
    }

    /// Refuses parts of which one program would take the first and another the second.
    fn name_parts(&mut self) -> Result<(), WorkbookFault> {
        if self.zip.has_duplicate_names() {
            return Err(WorkbookFault::corrupt("it has two parts of one name"));
        }
        for (index, name) in self.zip.file_names().enumerate() {
            let name = name.map_err(|_| WorkbookFault::corrupt("the name of a part cannot be read"))?;
            let normal = name.replace('\\', "/").to_ascii_lowercase();
            if self.by_name.insert(normal, index).is_some() {
                return Err(WorkbookFault::corrupt(&format!("it has two parts called {}", shown(&name))));
            }
        }
        Ok(())
    }

    /// Refuses what is no workbook, or one of a kind that is not read.
    fn must_be_a_workbook(&self) -> Result<(), WorkbookFault> {
        const OTHERS: [(&[&str], &str); 6] = [
            (&["xl/workbook.bin"], "a binary workbook (.xlsb)"),
            (&["index/document.iwa"], "a Numbers document"),
            (&["index.zip"], "a Numbers document"),
            (&["mimetype", "content.xml"], "an OpenDocument spreadsheet (.ods)"),
            (&["word/document.xml"], "a document or a presentation, not a workbook"),
            (&["ppt/presentation.xml"], "a document or a presentation, not a workbook"),
        ];
        let has = |part: &&str| self.by_name.contains_key(*part);
        let unsupported = |message: String| Err(WorkbookFault::new(Code::FileFormatUnsupported, message));
        if let Some((_, what)) = OTHERS.iter().find(|(parts, _)| parts.iter().all(has)) {
            return unsupported(format!("the file is {what}: save it as .xlsx"));
        }
        if self.by_name.keys().any(|name| name.starts_with("xl/macrosheets/")) {
            return Err(macro_sheet());
        }
        if !has(&"_rels/.rels") && !self.by_name.keys().any(|name| name.ends_with("workbook.xml")) {
            return unsupported(
                "the file is an archive, not a workbook: unpack it, then use the files inside".to_owned(),
            );
        }
        Ok(())
    }

    /// Refuses what is larger than is read, by the sizes the archive declares.
    fn must_be_small(&self) -> Result<(), WorkbookFault> {
        let mut sum = 0_u64;
        for index in 0..self.zip.len() {
            let broken = || WorkbookFault::corrupt("its list of parts is broken");
            let entry = self.zip.by_index_data(index).map_err(|_| broken())?;
            let name = entry.name().map_err(|_| broken())?;
            let is_strings = name.to_ascii_lowercase().ends_with("sharedstrings.xml");
            let limit = if is_strings { self.limits.strings } else { self.limits.part };
            sum = sum.saturating_add(entry.size());
            must_fit(&name, entry.size(), limit)?;
        }
        if sum > self.limits.sum {
            let (sum, most) = (sum >> 20, self.limits.sum >> 20);
            return Err(WorkbookFault::too_large(format!(
                "the workbook has {sum} MB when unpacked and at most {most} MB are read: split it, or save the sheet as \
                 .csv"
            )));
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

    /// The elements of a part.
    pub(super) fn elements(&mut self, part: &str) -> Result<Elements<impl Read>, WorkbookFault> {
        self.elements_within(part, self.limits.part, self.limits.run)
    }

    /// Those of a part that is held in memory as a whole, and is never large.
    pub(super) fn small(&mut self, part: &str) -> Result<Elements<impl Read>, WorkbookFault> {
        self.elements_within(part, self.limits.small, self.limits.run)
    }

    fn elements_within(
        &mut self,
        part: &str,
        largest: u64,
        longest: u64,
    ) -> Result<Elements<impl Read>, WorkbookFault> {
        let missing = || WorkbookFault::corrupt(&format!("the part {} is missing", shown(part)));
        let index = self.index(part).ok_or_else(missing)?;
        must_fit(part, self.size(index), largest)?;
        let unreadable = |_| WorkbookFault::corrupt(&format!("the part {} cannot be unpacked", shown(part)));
        Elements::of(part, self.zip.by_index(index).map_err(unreadable)?, longest)
    }

    /// The declared size of the part of a worksheet.
    pub(super) fn size_of(&self, sheet: &Listed) -> u64 {
        let index = sheet.part.as_deref().and_then(|part| self.index(part));
        index.map_or(0, |index| self.size(index))
    }

    /// The declared size of a part.
    fn size(&self, index: usize) -> u64 {
        self.zip.by_index_data(index).map_or(0, |entry| entry.size())
    }

    /// Refuses parts that would make the reader ask for more memory than the file is worth.
    pub(super) fn must_be_safe_to_open(&mut self, folder: &str) -> Result<(), WorkbookFault> {
        self.must_have_few_texts(&format!("{folder}sharedStrings.xml"))?;
        self.must_have_few_formats(&format!("{folder}styles.xml"))?;
        let theme = format!("{folder}theme/theme1.xml");
        if self.has(&theme) { self.small(&theme)?.each(&mut |_, _| Ok(())) } else { Ok(()) }
    }

    /// The shared texts: not more than the part can hold, and not more than are read.
    fn must_have_few_texts(&mut self, part: &str) -> Result<(), WorkbookFault> {
        /// Bytes that a shared text takes at least: `<si/>`.
        const SMALLEST: u64 = 5;
        /// A claim that costs nothing, however wrong it is; programs write such.
        const HARMLESS: u64 = 65_536;
        let Some(index) = self.index(part) else { return Ok(()) };
        let limits = self.limits;
        let size = self.size(index);
        let most = (size / SMALLEST + 1).max(HARMLESS).min(limits.texts);
        let mut texts = 0;
        let mut begins = u64::MAX;
        // A text in many pieces is one anyway, and held as often as cells have it.
        let must_end = |begins: u64, at: u64| {
            let message = "a text of the workbook is longer than a million characters, and a cell holds at most 32,767: \
                remove it, and save the workbook again";
            if at.saturating_sub(begins) > limits.run {
                Err(WorkbookFault::too_large(message))
            } else {
                Ok(())
            }
        };
        self.elements(part)?.each(&mut |element, at| {
            let name = element.local_name();
            must_end(begins, at)?;
            if name.as_ref() == "si" {
                begins = at;
                texts += 1;
            }
            if name.as_ref() == "sst" {
                let claim = attribute(element, "uniqueCount").unwrap_or_default();
                let is_number = !claim.is_empty() && claim.bytes().all(|byte| byte.is_ascii_digit());
                // Digits beyond a number are a claim beyond all measure.
                if is_number && claim.parse().map_or(true, |claimed: u64| claimed > most) {
                    let what = format!("it claims to have {} texts, more than fit into it", shown(&claim));
                    return Err(WorkbookFault::corrupt(&what));
                }
            }
            if texts > limits.texts {
                let most = limits.texts;
                return Err(WorkbookFault::too_large(format!(
                    "the workbook has more than {most} different texts: split it"
                )));
            }
            Ok(())
        })?;
        must_end(begins, size)
    }

    /// The formats of cells, each of which the reader makes a copy of.
    fn must_have_few_formats(&mut self, part: &str) -> Result<(), WorkbookFault> {
        if !self.has(part) {
            return Ok(());
        }
        let limits = self.limits;
        let (mut formats, mut elements) = (0, 0);
        let too_many = || {
            WorkbookFault::too_large(
                "the workbook has more, or longer, cell formats than Excel allows: copy the values into a new workbook",
            )
        };
        let counted = self.elements_within(part, limits.small, limits.format_run)?.each(&mut |element, _| {
            formats += u64::from(element.local_name().as_ref() == "xf");
            elements += 1;
            let is_much = formats > limits.formats || elements > 16 * limits.formats;
            if is_much { Err(too_many()) } else { Ok(()) }
        });
        counted.map_err(|fault| if fault.code == Code::FileTooLarge { too_many() } else { fault })
    }
}

/// A macro sheet of Excel 4.
pub(super) fn macro_sheet() -> WorkbookFault {
    WorkbookFault::new(
        Code::FileFormatUnsupported,
        "the workbook has a macro sheet of Excel 4: save it as .xlsx, which has no macros",
    )
}

fn must_fit(part: &str, size: u64, limit: u64) -> Result<(), WorkbookFault> {
    if size <= limit {
        return Ok(());
    }
    let (part, size, limit) = (shown(part), size >> 20, limit >> 20);
    Err(WorkbookFault::too_large(format!(
        "the part {part} has {size} MB when unpacked and at most {limit} MB are read: split the workbook, or save the \
         sheet as .csv"
    )))
}

/// A file of which so many bytes may be read; the list of the parts must be found in them.
struct Metered {
    inner: BufReader<File>,
    left: Arc<AtomicU64>,
}

impl Metered {
    /// Opens an archive whose list of parts has at most so many bytes.
    fn archive(path: &Path, directory: u64) -> Option<ZipArchive<Self>> {
        let left = Arc::new(AtomicU64::new(directory));
        let inner = BufReader::new(File::open(path).ok()?);
        let zip = ZipArchive::new(Self { inner, left: Arc::clone(&left) }).ok()?;
        left.store(u64::MAX, Ordering::Relaxed);
        Some(zip)
    }
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
