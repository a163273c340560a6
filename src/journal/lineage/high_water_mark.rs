//! What this user on this machine remembers of the journals that were run: how far each had come.
//!
//! One small file a journal, in the user's state folder, apart from the journal itself: a journal that is restored
//! from a backup does not bring its own memory back with it. What follows from it is decided in `identity`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind as Io, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::journal::file::db_file::create_private;
use crate::model::digest::hexadecimal;
use crate::private_file::private_folder;

/// Digits of a serial: always as many, so that a newer one is written over it in one piece.
const DIGITS: usize = 20;

/// The state folder of this user for fleetload: the same at a terminal and for scheduled runs.
pub fn state_folder() -> PathBuf {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(std::env::temp_dir)
        .join("fleetload")
}

/// The memory of this user on this machine.
#[derive(Debug)]
pub struct Register {
    folder: PathBuf,
    pub(in crate::journal) machine: Machine,
}

/// A machine: a digest to compare, and a name to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::journal) struct Machine {
    pub(in crate::journal) digest: String,
    pub(in crate::journal) name: String,
}

/// What is remembered of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::journal) enum Memory {
    /// Nothing: this user has not run it on this machine.
    None,
    /// It had come this far, at this place.
    Known { serial: u64, path: PathBuf },
    /// There is a file that does not say.
    Unreadable(PathBuf),
}

/// The file of a journal that is being run.
#[derive(Debug)]
pub(in crate::journal) struct RegisterEntry {
    file: File,
}

impl Register {
    /// The register in a state folder; made where it is missing.
    pub fn open(state: &Path) -> Result<Self> {
        let folder = state.join("journals");
        private_folder(&folder).map_err(|error| unusable(&folder, error))?;
        let machine = machine(state)?;
        Ok(Self { folder, machine })
    }

    /// What is known of the journal with this id.
    pub(in crate::journal) fn recall(&self, journal: &str) -> Result<Memory> {
        let path = self.file(journal);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == Io::NotFound => return Ok(Memory::None),
            Err(error) if error.kind() == Io::InvalidData => return Ok(Memory::Unreadable(path)),
            Err(error) => return Err(unusable(&path, error)),
        };
        let mut lines = text.lines();
        let serial = lines.next().filter(|line| line.len() == DIGITS).and_then(|line| line.parse().ok());
        Ok(match (serial, lines.next()) {
            (Some(serial), Some(path)) => Memory::Known { serial, path: PathBuf::from(path) },
            _ => Memory::Unreadable(path),
        })
    }

    /// Remembers that a journal has come to `serial`; whole and on disk, or not at all.
    pub(in crate::journal) fn remember(
        &self,
        journal: &str,
        serial: u64,
        place: &Path,
    ) -> Result<RegisterEntry> {
        let path = self.file(journal);
        self.replace(&path, serial, place).map_err(|error| unusable(&path, error))
    }

    fn replace(&self, path: &Path, serial: u64, place: &Path) -> io::Result<RegisterEntry> {
        let place = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
        let mut beside = tempfile::NamedTempFile::new_in(&self.folder)?;
        writeln!(beside, "{serial:0DIGITS$}\n{}", place.display())?;
        beside.as_file().sync_all()?;
        Ok(RegisterEntry { file: beside.persist(path).map_err(|error| error.error)? })
    }

    fn file(&self, journal: &str) -> PathBuf {
        // The id comes from a file: nothing but its letters and digits becomes part of a path.
        let id: String = journal.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
        self.folder.join(id)
    }
}

impl RegisterEntry {
    /// Notes how far the journal has come. Not synced: the end of the process does not lose it, and after the end of
    /// the machine the journal is ahead of it at worst.
    pub(in crate::journal) fn note(&self, serial: u64) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(format!("{serial:0DIGITS$}").as_bytes())
    }

    /// Puts on disk what was noted.
    pub(in crate::journal) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// This machine. Its own id where the system has one; else a random one, kept in the state folder.
fn machine(state: &Path) -> Result<Machine> {
    let id = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .map(|text| text.trim().to_owned())
        .find(|id| id.len() >= 32);
    let id = match id {
        Some(id) => id,
        None => invented(&state.join("machine"))?,
    };
    let digest = Sha256::new().chain_update("fleetload").chain_update(id).finalize();
    let name = fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok())
        .or_else(|| std::env::var("COMPUTERNAME").ok())
        .unwrap_or_default();
    Ok(Machine {
        digest: hexadecimal(&digest[..12]),
        name: name.trim().chars().filter(|c| !c.is_control()).take(64).collect(),
    })
}

/// The id kept in a file, made at the first use.
fn invented(file: &Path) -> Result<String> {
    let unusable = |error| unusable(file, error);
    let kept = |text: String| (!text.trim().is_empty()).then(|| text.trim().to_owned());
    if let Some(id) = fs::read_to_string(file).ok().and_then(kept) {
        return Ok(id);
    }
    create_private(file)?;
    let mut options = OpenOptions::new();
    let mut open = options.write(true).truncate(true).open(file).map_err(unusable)?;
    let id = Uuid::new_v4().hyphenated().to_string();
    open.write_all(id.as_bytes()).and_then(|()| open.sync_all()).map_err(unusable)?;
    Ok(id)
}

fn unusable(path: &Path, error: io::Error) -> Error {
    Error::journal(format!("cannot use {}, which remembers how far the journals have come", path.display()))
        .because(error)
        .hint("set XDG_STATE_HOME to a folder of your own that can be written, and keep it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_recalled_and_a_file_that_says_nothing_is_told_apart() {
        let state = tempfile::tempdir().unwrap();
        let register = Register::open(state.path()).unwrap();
        assert_eq!(register.recall("abc").unwrap(), Memory::None);
        let entry = register.remember("abc", 7, Path::new("/data/fleetload.db")).unwrap();
        let known = |serial| Memory::Known { serial, path: "/data/fleetload.db".into() };
        assert_eq!(register.recall("abc").unwrap(), known(7));
        entry.note(12_345).unwrap();
        entry.sync().unwrap();
        assert_eq!(register.recall("abc").unwrap(), known(12_345));
        assert_eq!(register.recall("other").unwrap(), Memory::None);
        fs::write(state.path().join("journals/abc"), "").unwrap();
        assert!(matches!(register.recall("abc").unwrap(), Memory::Unreadable(_)));
    }

    #[test]
    fn an_id_from_a_file_never_leads_out_of_the_folder() {
        let state = tempfile::tempdir().unwrap();
        let register = Register::open(state.path()).unwrap();
        assert_eq!(register.file("../../etc/passwd"), state.path().join("journals/etcpasswd"));
    }

    #[test]
    fn a_machine_is_the_same_each_time_and_an_invented_one_is_kept() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(machine(state.path()).unwrap(), machine(state.path()).unwrap());
        let file = state.path().join("machine");
        assert_eq!(invented(&file).unwrap(), invented(&file).unwrap());
    }
}
