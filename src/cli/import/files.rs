//! The sheets that a command was given: files, the sheets of folders, and a sheet from standard input, which is kept as a
//! file, since it is read several times and its findings name its rows.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::cli::atomic_file::beside;
use crate::cli::context::Context;
use crate::error::{Error, Result};
use crate::model::digest::hexadecimal;
use crate::private_file::{self, private_folder};
use crate::report;
use crate::sheet;
use crate::term::{clean, counted, size};

/// The most that is read from standard input: as much as a text table may have.
const LARGEST: u64 = 2 << 30;

/// Bytes read at once.
const PIECE: usize = 1 << 16;

/// How the folder beside the journal ends that keeps sheets from standard input.
pub(in crate::cli) const KEPT: &str = ".stdin";

/// What spreadsheets are called; those that are not read are refused by name instead of being passed over.
const SHEETS: [&str; 10] = ["xlsx", "xlsm", "csv", "tsv", "txt", "xls", "xlsb", "ods", "fods", "numbers"];

/// Names of standard input.
const STDIN: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Why something in a folder is not read as a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cli) enum PassedOver {
    /// Hidden, or the lock file of a spreadsheet program: never somebody's sheet.
    Hidden,
    /// A folder, or a file with the ending of something else.
    Other,
    /// A link, which may lead anywhere.
    Link,
    /// A device, a pipe or a socket.
    Special,
    /// A name that cannot be shown as it is.
    Name,
}

impl PassedOver {
    /// Why, in words.
    pub(in crate::cli) const fn words(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::Other => "not a spreadsheet by its name",
            Self::Link => "a link; links are not followed",
            Self::Special => "not a file",
            Self::Name => "its name has characters that cannot be shown",
        }
    }

    /// Whether somebody may have meant it as a sheet.
    pub(in crate::cli) const fn may_be_meant(self) -> bool {
        matches!(self, Self::Link | Self::Special | Self::Name)
    }
}

/// Whether what has this name in a folder is a sheet; the link itself is looked at, never what it leads to.
pub(in crate::cli) fn judge(path: &Path, metadata: &fs::Metadata) -> std::result::Result<(), PassedOver> {
    let name = path.file_name().unwrap_or_default();
    let shown = name.to_string_lossy();
    if shown.starts_with('.') || sheet::locked(&shown).is_some() {
        return Err(PassedOver::Hidden);
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if metadata.is_dir() || !ending.is_some_and(|ending| SHEETS.contains(&&*ending)) {
        return Err(PassedOver::Other);
    }
    if metadata.is_symlink() {
        return Err(PassedOver::Link);
    }
    if !metadata.is_file() {
        return Err(PassedOver::Special);
    }
    if name.to_str().is_none_or(|name| clean(name) != name) {
        return Err(PassedOver::Name);
    }
    Ok(())
}

/// The files of a command, in the order they were given; the sheets of a folder by their names.
pub(in crate::cli) fn expand(context: &Context<'_>, typed: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in typed {
        if is_stdin(path) {
            files.push(keep_stdin(context)?);
        } else if path.is_dir() {
            files.extend(sheets_of(context, path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn is_stdin(path: &Path) -> bool {
    match path.to_str() {
        Some("-") => !path.exists(),
        Some(name) => STDIN.contains(&name),
        None => false,
    }
}

/// The sheets directly in a folder.
fn sheets_of(context: &Context<'_>, folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error: io::Error| {
        Error::sheets(format!("the folder {} cannot be read", folder.display()))
            .because(error)
            .hint("make it readable for you, or name the sheets in it")
    };
    let (mut sheets, mut others) = (Vec::new(), 0);
    let mut passed_over: BTreeMap<PathBuf, PassedOver> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let metadata = path.symlink_metadata().map_err(unreadable)?;
        match judge(&path, &metadata) {
            Ok(()) => sheets.push(path),
            Err(why) if why.may_be_meant() => drop(passed_over.insert(path, why)),
            Err(_) => others += 1,
        }
    }
    for (path, why) in &passed_over {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        context.terminal.warn(format!("not read in {}: {}: {}", folder.display(), clean(&name), why.words()));
    }
    if sheets.is_empty() {
        return Err(Error::sheets(format!("the folder {} has no sheets", folder.display())).hint(format!(
            "put workbooks (.xlsx) or CSV files directly into it; {} in it {} not read",
            counted(others + passed_over.len() as u64, "other entry", "other entries"),
            if others + passed_over.len() as u64 == 1 { "is" } else { "are" },
        )));
    }
    sheets.sort();
    let names: Vec<String> = sheets
        .iter()
        .filter_map(|sheet| sheet.file_name())
        .map(|name| name.to_string_lossy().into())
        .collect();
    context.terminal.say(format!(
        "{} in {}: {}",
        counted(sheets.len() as u64, "sheet", "sheets"),
        folder.display(),
        names.join(", ")
    ));
    Ok(sheets)
}

/// Keeps what comes on standard input in a file of its own beside the journal, named after its content: the same sheet is
/// kept once, and the commands that are advised name a file that is there.
fn keep_stdin(context: &Context<'_>) -> Result<PathBuf> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err(Error::usage("standard input is a terminal: there is no sheet on it")
            .hint("name the file, or pass the sheet on: … | fleetload check -"));
    }
    let folder = beside(&context.common.journal, KEPT);
    let unkept = |error: io::Error| {
        Error::journal(format!("the sheet from standard input cannot be kept in {}", folder.display()))
            .because(error)
            .hint("free some space, make the folder writable for you, or write the sheet to a file and name that")
    };
    private_folder(&folder).map_err(unkept)?;
    let kept = keep(stdin.lock(), &folder, LARGEST).map_err(unkept)?;
    let (path, bytes) = match kept {
        Kept::At(path, bytes) => (path, bytes),
        Kept::Empty => {
            return Err(Error::sheets("standard input was empty: there is no sheet on it")
                .hint("see that the command before it succeeds and writes the sheet"));
        }
        Kept::TooLarge => {
            return Err(Error::sheets(format!(
                "the sheet on standard input is larger than {}",
                size(LARGEST)
            ))
            .hint("split it into several sheets"));
        }
    };
    context.terminal.say(format!("standard input, {}: kept as {}", size(bytes), path.display()));
    Ok(path)
}

/// What came of keeping a sheet.
#[derive(Debug, PartialEq, Eq)]
enum Kept {
    /// It is there, with so many bytes.
    At(PathBuf, u64),
    Empty,
    TooLarge,
}

fn keep(mut from: impl Read, folder: &Path, largest: u64) -> io::Result<Kept> {
    let mut part = private_file::part_in(folder)?;
    let (mut digest, mut bytes, mut head) = (Sha256::new(), 0_u64, Vec::<u8>::new());
    let mut piece = vec![0; PIECE];
    loop {
        let length = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = &piece[..length];
        bytes += length as u64;
        if bytes > largest {
            return Ok(Kept::TooLarge);
        }
        if head.len() < 4 {
            head.extend(piece.iter().take(4 - head.len()));
        }
        digest.update(piece);
        part.write_all(piece)?;
    }
    if bytes == 0 {
        return Ok(Kept::Empty);
    }
    part.as_file().sync_all()?;
    // What the content is, is found out when it is read; the ending is for people.
    let ending = if head == b"PK\x03\x04" { "xlsx" } else { "csv" };
    let digest = hexadecimal(&digest.finalize());
    let path = folder.join(format!("stdin-{}.{ending}", &digest[..12]));
    match part.persist_noclobber(&path) {
        Ok(_) => {}
        // The same sheet once more, unless somebody has edited it since.
        Err(there) if there.error.kind() == io::ErrorKind::AlreadyExists => {
            if report::digest(File::open(&path)?)? != digest {
                there.file.persist(&path).map_err(|error| error.error)?;
            }
        }
        Err(error) => return Err(error.error),
    }
    Ok(Kept::At(path, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_on_standard_input_is_kept_once_under_a_name_of_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let keep = |content: &[u8]| keep(content, folder.path(), 100).unwrap();
        let Kept::At(path, 5) = keep(b"name\n") else { panic!("it is kept") };
        assert_eq!(path.extension().unwrap(), "csv");
        assert_eq!(fs::read(&path).unwrap(), b"name\n");
        assert_eq!(keep(b"name\n"), Kept::At(path.clone(), 5));
        let Kept::At(book, 4) = keep(b"PK\x03\x04") else { panic!("it is kept") };
        assert_eq!(book.extension().unwrap(), "xlsx");
        assert_eq!((keep(b""), keep(&[b'x'; 101])), (Kept::Empty, Kept::TooLarge));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
        // One that was edited has another content by now: what came is what is read.
        fs::write(&path, "edited").unwrap();
        keep(b"name\n");
        assert_eq!(fs::read(&path).unwrap(), b"name\n");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    #[cfg(unix)]
    fn in_a_folder_only_files_with_the_name_of_a_sheet_are_sheets() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let table: [(&[u8], Option<PassedOver>); 14] = [
            (b"a.csv", None),
            (b"A.XLSX", None),
            (b"old.xls", None),
            (b"B\xc3\xbcro.csv", None),
            (b"-rf.csv", None),
            (b".hidden.csv", Some(PassedOver::Hidden)),
            (b"~$a.xlsx", Some(PassedOver::Hidden)),
            (b".~lock.a.csv#", Some(PassedOver::Hidden)),
            (b"a.csv.part", Some(PassedOver::Other)),
            (b"notes.pdf", Some(PassedOver::Other)),
            (b"plain", Some(PassedOver::Other)),
            (b"a\nb.csv", Some(PassedOver::Name)),
            (b"a\xff.csv", Some(PassedOver::Name)),
            (b"\xe2\x80\xaevsc.csv", Some(PassedOver::Name)),
        ];
        for (name, expected) in table {
            let path = folder.path().join(OsStr::from_bytes(name));
            fs::write(&path, "x").unwrap();
            assert_eq!(judge(&path, &path.symlink_metadata().unwrap()).err(), expected, "{path:?}");
        }
        symlink("/etc/passwd", folder.path().join("link.csv")).unwrap();
        fs::create_dir(folder.path().join("folder.csv")).unwrap();
        for (name, expected) in [("link.csv", PassedOver::Link), ("folder.csv", PassedOver::Other)] {
            let path = folder.path().join(name);
            assert_eq!(judge(&path, &path.symlink_metadata().unwrap()), Err(expected));
        }
    }
}
