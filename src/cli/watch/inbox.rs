//! The folder that is watched: which files in it are whole, and how they are moved. Nothing of it is kept in memory that a
//! restart would need.
//!
//! A file that is taken is moved into a folder of its own below `working`, which only its owner may enter: whoever writes,
//! renames or deletes in the inbox has no way to it any more. That folder gets the reports and the log too, and is moved as a
//! whole to `done` or `failed`. Nothing is ever replaced: a name that is taken gets a number. Where the inbox is shared with a
//! group, the group may read what is in `done` and `failed`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::cli::import::files::{PassedOver, judge};
use crate::error::{Error, Result};
use crate::journal::{Holder, RunLock, lock_file};
use crate::model::time::Moment;
use crate::private_file::private_folder;

/// The folder of what is at work, or waits.
const WORKING: &str = "working";

/// The lock of a watched folder.
const LOCK: &str = ".fleetload-watch.lock";

/// Where a file goes at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Done,
    Failed,
}

impl Place {
    /// The name of its folder.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A file as a look finds it: another size, time or number means that somebody is at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    bytes: u64,
    modified: Moment,
    number: u64,
}

impl Look {
    fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0);
        Self { bytes: metadata.len(), modified: Moment::from_millis(modified), number: number_of(metadata) }
    }
}

#[cfg(unix)]
fn number_of(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number_of(_metadata: &Metadata) -> u64 {
    0
}

/// A file that was seen, and since when it has not changed, by a clock that only goes forward.
#[derive(Debug, Clone)]
struct Seen {
    look: Look,
    since: Duration,
}

/// A moment by both clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    /// The wall clock, as files are dated.
    pub(super) moment: Moment,
    /// The time since the start.
    pub(super) elapsed: Duration,
}

impl Seen {
    /// Whether it has been at rest for so long: by its own date, as one that was renamed in whole is, or, as that may be
    /// wrong, by what was seen of it.
    fn is_whole(&self, now: Now, at_rest: Duration) -> bool {
        now.elapsed.saturating_sub(self.since) >= at_rest || now.moment.since(self.look.modified) >= at_rest
    }
}

/// A file that was taken, in a folder of its own.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its folder.
    pub(super) folder: PathBuf,
    /// The file in it.
    pub(super) sheet: PathBuf,
    /// Its name, as it was in the inbox.
    pub(super) name: String,
    /// Whether nothing was done about it yet.
    pub(super) is_new: bool,
    /// What was said last of why it waits.
    pub(super) told: Option<String>,
    /// As it was when it was taken.
    look: Look,
}

impl Entry {
    fn of(folder: PathBuf, sheet: PathBuf) -> Option<Self> {
        let look = Look::of(&sheet.symlink_metadata().ok().filter(Metadata::is_file)?);
        let name = sheet.file_name()?.to_str()?.to_owned();
        Some(Self { folder, sheet, name, is_new: false, told: None, look })
    }

    /// Whether somebody who had it open has gone on writing.
    pub(super) fn has_changed(&self) -> bool {
        self.sheet.symlink_metadata().is_ok_and(|metadata| Look::of(&metadata) != self.look)
    }
}

/// The folder, locked for this process.
#[derive(Debug)]
pub(super) struct Inbox {
    folder: PathBuf,
    at_rest: Duration,
    seen: BTreeMap<PathBuf, Seen>,
    passed_over: BTreeSet<PathBuf>,
    is_shared: bool,
    _lock: RunLock,
}

/// What a look at the folder came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The files that are whole, by their names.
    pub(super) whole: Vec<PathBuf>,
    /// How many are still being written.
    pub(super) growing: usize,
    /// How many of these are dated ahead of this machine's clock: their date does not tell how long they have been at rest.
    pub(super) ahead: usize,
    /// What may have been meant as a sheet and is left alone, and was not there at the look before.
    pub(super) passed_over: Vec<(PathBuf, PassedOver)>,
}

impl Inbox {
    /// Locks the folder and makes the folders in it, or says who watches it.
    ///
    /// # Errors
    /// Usage when it is no folder that can be used.
    pub(super) fn open(folder: &Path, at_rest: Duration) -> Result<std::result::Result<Self, Holder>> {
        let unusable = |path: &Path, why: &str| {
            Error::usage(format!("{} {why}", path.display())).hint(
                "name a folder that you may read and write; its own folders are working, done and failed",
            )
        };
        if !folder.is_dir() {
            return Err(unusable(folder, "is not a folder"));
        }
        let lock = folder.join(LOCK);
        if lock.is_symlink() {
            return Err(unusable(&lock, "is a link"));
        }
        let lock = match lock_file(&lock)? {
            Ok(lock) => lock,
            Err(holder) => return Ok(Err(holder)),
        };
        for name in [WORKING, Place::Done.name(), Place::Failed.name()] {
            let path = folder.join(name);
            private_folder(&path).map_err(|error| unusable(&path, "cannot be made").because(error))?;
            if path.is_symlink() {
                return Err(unusable(&path, "is a link"));
            }
        }
        let is_shared = is_shared(folder);
        if is_shared {
            for place in [Place::Done, Place::Failed] {
                let path = folder.join(place.name());
                allow(&path, SHARED_FOLDER)
                    .map_err(|error| unusable(&path, "cannot be shared with its group").because(error))?;
            }
        }
        let (seen, passed_over) = (BTreeMap::new(), BTreeSet::new());
        Ok(Ok(Self { folder: folder.to_owned(), at_rest, seen, passed_over, is_shared, _lock: lock }))
    }

    /// What was at work or waited when the last watch ended. Empty folders of files that were never moved into them go.
    pub(super) fn left(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for folder in self.read(&self.folder.join(WORKING))? {
            let Some(label) = folder.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
                continue;
            };
            let unnumbered = label.rsplit_once('-').map(|(name, _)| name.to_owned());
            let sheet = [Some(label), unnumbered].into_iter().flatten().map(|name| folder.join(name));
            match sheet.filter_map(|sheet| Entry::of(folder.clone(), sheet)).next() {
                Some(entry) => entries.push(entry),
                None => drop(fs::remove_dir(&folder)),
            }
        }
        entries.sort_by(|one, other| one.folder.cmp(&other.folder));
        Ok(entries)
    }

    /// Looks at the folder.
    pub(super) fn look(&mut self, now: Now) -> Result<Found> {
        let (mut found, mut there, mut passed_over) = (Found::default(), BTreeMap::new(), BTreeSet::new());
        for path in self.read(&self.folder)? {
            // What is gone by now was never there.
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if let Err(why) = judge(&path, &metadata) {
                if why.may_be_meant() {
                    if !self.passed_over.contains(&path) {
                        found.passed_over.push((path.clone(), why));
                    }
                    passed_over.insert(path);
                }
                continue;
            }
            let look = Look::of(&metadata);
            let before = self.seen.remove(&path).filter(|seen| seen.look == look);
            let seen = before.unwrap_or(Seen { look, since: now.elapsed });
            match seen.is_whole(now, self.at_rest) {
                true => found.whole.push(path.clone()),
                false => {
                    found.growing += 1;
                    found.ahead += usize::from(seen.look.modified > now.moment);
                }
            }
            there.insert(path, seen);
        }
        (self.seen, self.passed_over) = (there, passed_over);
        found.whole.sort();
        Ok(found)
    }

    /// Moves a file that is whole to where nobody else has a way to it; nothing if it has changed since it was looked at, or is
    /// gone.
    pub(super) fn take(&mut self, path: &Path) -> Result<Option<Entry>> {
        let (Some(seen), Some(name)) = (self.seen.remove(path), path.file_name()) else { return Ok(None) };
        let unmovable = |error: io::Error| self.unmovable(path, error);
        let folder = free(&self.folder.join(WORKING), &behind(name), make_private).map_err(unmovable)?;
        let sheet = folder.join(name);
        match fs::rename(path, &sheet) {
            Ok(()) => {}
            Err(error) => {
                drop(fs::remove_dir(&folder));
                return if error.kind() == io::ErrorKind::NotFound {
                    Ok(None)
                } else {
                    Err(unmovable(error))
                };
            }
        }
        match Entry::of(folder.clone(), sheet.clone()) {
            Some(entry) if entry.look == seen.look => Ok(Some(Entry { is_new: true, ..entry })),
            Some(_) | None => {
                self.put_back(&sheet)?;
                drop(fs::remove_dir(&folder));
                Ok(None)
            }
        }
    }

    /// Puts a file back into the inbox, beside what may have its name by now.
    pub(super) fn put_back(&self, sheet: &Path) -> Result<()> {
        // With its ending it is a sheet under each name.
        let numbered = |number| {
            let stem = sheet.file_stem().unwrap_or_default().to_string_lossy();
            let ending = sheet.extension().unwrap_or_default().to_string_lossy();
            if number > 1 { format!("{stem}-{number}.{ending}") } else { format!("{stem}.{ending}") }.into()
        };
        free(&self.folder, &numbered, |path| rename_new(sheet, path))
            .map_err(|error| self.unmovable(sheet, error))?;
        Ok(())
    }

    /// Removes the folder of a file that was put back and of which nothing came.
    pub(super) fn forget(&self, entry: &Entry) {
        drop(fs::remove_dir_all(&entry.folder));
    }

    /// Moves the folder of a file to where it belongs at the end.
    pub(super) fn settle(&self, entry: &Entry, place: Place) -> Result<PathBuf> {
        let below = self.folder.join(place.name());
        if self.is_shared {
            share(&entry.folder).map_err(|error| self.unmovable(&entry.folder, error))?;
        }
        free(&below, &behind(entry.name.as_ref()), |path| {
            if path.symlink_metadata().is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(&entry.folder, path)
        })
        .map_err(|error| self.unmovable(&entry.folder, error))
    }

    fn read(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(|error| {
            Error::usage(format!("the folder {} cannot be read", folder.display())).because(error).hint(
                format!("see that {} is there and that you may read and write it", self.folder.display()),
            )
        })?;
        Ok(entries.into_iter().map(|entry| entry.path()).collect())
    }

    fn unmovable(&self, path: &Path, error: io::Error) -> Error {
        Error::usage(format!("{} cannot be moved within {}", path.display(), self.folder.display()))
            .because(error)
            .hint("make the folder and what is in it writable for you, then start the watch again")
    }
}

/// The first name in a folder that is free, as `take` takes it.
fn free(
    folder: &Path,
    numbered: &dyn Fn(u32) -> OsString,
    take: impl Fn(&Path) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let path = folder.join(numbered(number));
        match take(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < u32::MAX => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Names of folders with a number behind: `a.csv`, `a.csv-2`.
fn behind(name: &OsStr) -> impl Fn(u32) -> OsString {
    let name = name.to_owned();
    move |number| {
        let mut label = name.clone();
        if number > 1 {
            label.push(format!("-{number}"));
        }
        label
    }
}

/// Renames a file to a name that is free.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every disk lets a file have two names, and none a link of another user.
        Err(_) if to.symlink_metadata().is_err() => fs::rename(from, to),
        Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

/// Makes a folder that only its owner may enter, and that is not there yet.
fn make_private(folder: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only there its rights can be chosen"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The rights of a folder that a group shares. It is the group's already, as it was made within the inbox.
const SHARED_FOLDER: u32 = 0o770;
/// The rights of a file that a group may read.
const SHARED_FILE: u32 = 0o640;

/// Whether a folder is shared with a group: the group may enter it, and owns what is made in it (set-group-ID).
#[cfg(unix)]
fn is_shared(folder: &Path) -> bool {
    let mode = |metadata: Metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
    folder.metadata().map(mode).is_ok_and(|mode| mode & 0o2000 != 0 && mode & 0o050 == 0o050)
}

#[cfg(not(unix))]
fn is_shared(_folder: &Path) -> bool {
    false
}

/// Lets the group read a folder and what is in it. A file of somebody else keeps its rights.
fn share(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            share(&entry.path())?;
        } else if kind.is_file() {
            allow(&entry.path(), SHARED_FILE)?;
        }
    }
    allow(folder, SHARED_FOLDER)
}

/// Sets the rights of what is ours.
#[cfg(unix)]
fn allow(path: &Path, mode: u32) -> io::Result<()> {
    match fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        set => set,
    }
}

#[cfg(not(unix))]
fn allow(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: Duration = Duration::from_secs(10);

    /// So many seconds after the start, at which the wall clock shows 12:00.
    fn after(seconds: u64) -> Now {
        Now { moment: noon().plus(Duration::from_secs(seconds)), elapsed: Duration::from_secs(seconds) }
    }

    fn noon() -> Moment {
        Moment::parse("2026-03-02T12:00:00Z").unwrap()
    }

    fn inbox() -> (tempfile::TempDir, Inbox) {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(folder.path(), REST).unwrap().unwrap();
        (folder, inbox)
    }

    /// Writes a file that is dated so many seconds after the start.
    fn write(folder: &tempfile::TempDir, name: &str, content: &str, dated: i64) -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let at = UNIX_EPOCH + Duration::from_millis((noon().millis() + dated * 1_000).unsigned_abs());
        fs::File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
        path
    }

    #[test]
    fn a_file_is_whole_when_neither_its_size_nor_its_date_has_changed_for_so_long() {
        let (folder, mut inbox) = inbox();
        let path = write(&folder, "a.csv", "na", 0);
        assert_eq!(inbox.look(after(1)).unwrap(), Found { growing: 1, ..Found::default() });
        write(&folder, "a.csv", "name", 8);
        assert_eq!(inbox.look(after(11)).unwrap().growing, 1, "it has grown");
        assert_eq!(inbox.look(after(17)).unwrap().growing, 1);
        assert_eq!(inbox.look(after(18)).unwrap().whole, [path]);
        // One that was renamed in is as old as its last change, and one from a clock that is ahead is watched.
        let renamed = write(&folder, "b.csv", "name", -500);
        let ahead = write(&folder, "c.csv", "name", 9_000);
        let found = inbox.look(after(20)).unwrap();
        assert_eq!(found.whole, [folder.path().join("a.csv"), renamed]);
        assert_eq!((found.growing, found.ahead), (1, 1));
        assert!(inbox.look(after(30)).unwrap().whole.contains(&ahead));
    }

    #[test]
    fn a_file_is_taken_only_as_it_was_seen_and_one_that_is_gone_is_not() {
        let (folder, mut inbox) = inbox();
        let path = write(&folder, "a.csv", "name", -60);
        inbox.look(after(0)).unwrap();
        write(&folder, "a.csv", "name,more", -50);
        assert!(inbox.take(&path).unwrap().is_none(), "it was written to meanwhile");
        assert_eq!(fs::read_to_string(&path).unwrap(), "name,more");
        inbox.look(after(0)).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(inbox.take(&path).unwrap().is_none(), "it was deleted meanwhile");
        assert_eq!(inbox.left().unwrap().len(), 0);
        #[cfg(unix)]
        {
            write(&folder, "a.csv", "name", -60);
            inbox.look(after(0)).unwrap();
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
            assert!(inbox.take(&path).unwrap().is_none(), "a link took its place");
            let found = inbox.look(after(60)).unwrap();
            assert_eq!((found.whole, found.passed_over), (vec![], vec![(path, PassedOver::Link)]));
            assert_eq!(inbox.look(after(70)).unwrap().passed_over, [], "told once");
        }
    }

    #[test]
    fn what_was_taken_is_found_again_after_a_restart_and_nothing_is_replaced() {
        let (folder, mut inbox) = inbox();
        for round in ["first", "second"] {
            let path = write(&folder, "a-1.csv", round, -60);
            inbox.look(after(0)).unwrap();
            inbox.take(&path).unwrap().unwrap();
        }
        fs::create_dir(folder.path().join("working/never.csv")).unwrap();
        assert!(matches!(Inbox::open(folder.path(), REST), Ok(Err(_))), "it is locked");
        drop(inbox);
        let inbox = Inbox::open(folder.path(), REST).unwrap().unwrap();
        let left = inbox.left().unwrap();
        let names: Vec<_> = left
            .iter()
            .map(|entry| (entry.name.as_str(), fs::read_to_string(&entry.sheet).unwrap()))
            .collect();
        assert_eq!(names, [("a-1.csv", "first".to_owned()), ("a-1.csv", "second".to_owned())]);
        assert!(!folder.path().join("working/never.csv").exists());
        let places: Vec<_> = left.iter().map(|entry| inbox.settle(entry, Place::Done).unwrap()).collect();
        assert_eq!(places, [folder.path().join("done/a-1.csv"), folder.path().join("done/a-1.csv-2")]);
        assert_eq!(fs::read_to_string(places[1].join("a-1.csv")).unwrap(), "second");
    }

    #[cfg(unix)]
    #[test]
    fn a_group_reads_the_results_of_an_inbox_that_is_shared_with_it_and_of_no_other() {
        use std::os::unix::fs::PermissionsExt as _;
        let rights = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for (of_inbox, expected) in [
            (0o2770, [0o770, 0o770, 0o770, 0o640]),
            (0o3750, [0o770, 0o770, 0o770, 0o640]),
            (0o2700, [0o700, 0o700, 0o700, 0o600]),
            (0o755, [0o700, 0o700, 0o700, 0o600]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(of_inbox)).unwrap();
            let mut inbox = Inbox::open(folder.path(), REST).unwrap().unwrap();
            let path = write(&folder, "a.csv", "name", -60);
            inbox.look(after(0)).unwrap();
            let entry = inbox.take(&path).unwrap().unwrap();
            private_folder(&entry.folder.join("reports")).unwrap();
            crate::private_file::create(&entry.folder.join("reports/report.html"), b"").unwrap();
            let settled = inbox.settle(&entry, Place::Done).unwrap();
            let reports = settled.join("reports");
            let found = [&folder.path().join("done"), &settled, &reports, &reports.join("report.html")];
            assert_eq!(found.map(|path| rights(path)), expected, "{of_inbox:o}");
            assert_eq!(rights(&folder.path().join("working")), 0o700, "{of_inbox:o}");
        }
    }

    #[test]
    fn a_file_goes_back_beside_what_has_its_name_by_now() {
        let (folder, mut inbox) = inbox();
        let path = write(&folder, "a.csv", "old", -60);
        inbox.look(after(0)).unwrap();
        let entry = inbox.take(&path).unwrap().unwrap();
        assert!(!entry.has_changed());
        fs::write(&entry.sheet, "old and more").unwrap();
        assert!(entry.has_changed());
        fs::write(&path, "new").unwrap();
        inbox.put_back(&entry.sheet).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_to_string(folder.path().join("a-2.csv")).unwrap(), "old and more");
    }
}
