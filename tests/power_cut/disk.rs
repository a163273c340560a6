//! What is left on a disk when the power goes: a model that is told what SQLite asked of the disk, and that can be
//! cut off at any moment.
//!
//! Durable is what was synced, and nothing else. Each write, truncation, new name and removed name since then is, by
//! a seeded choice of its own, dropped, applied, applied out of its order, or torn; and what a file grew by without
//! being written holds zeros or rubbish. One promise of disks is relied on, as SQLite does: a write does not damage
//! the bytes beside it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use fastrand::Rng;

/// Bytes that a disk writes whole, mostly.
const SECTOR: usize = 512;

/// A file, whatever its name: a new one under an old name is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId(pub(crate) usize);

/// What a disk was asked, in order.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Made {
        name: String,
        file: FileId,
    },
    Removed {
        name: String,
    },
    Written {
        file: FileId,
        offset: usize,
        bytes: Arc<[u8]>,
    },
    Truncated {
        file: FileId,
        size: usize,
    },
    Synced(FileId),
    FolderSynced,
    /// Not the disk's: the test has come to this point.
    Mark(usize),
}

/// How the power cut treats what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// All of it is lost.
    Dropped,
    /// All of it is there, as after the death of the process alone.
    Applied,
    /// It is there up to some point, and torn at that.
    UpTo(u64),
    /// Each for itself, in any order.
    Mixed(u64),
}

/// Something asked and not yet synced.
#[derive(Debug, Clone)]
enum Change {
    Name { name: String, file: Option<FileId> },
    Write { file: FileId, offset: usize, bytes: Arc<[u8]> },
    Size { file: FileId, size: usize },
}

/// The disk: what is durable and what is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    durable: Content,
    pending: Vec<Change>,
}

/// A folder and its files. Files that have no name any more may still be asked something.
#[derive(Debug, Clone, Default)]
struct Content {
    names: BTreeMap<String, FileId>,
    files: BTreeMap<FileId, Vec<u8>>,
}

impl Disk {
    /// A disk that holds these files, numbered in this order.
    pub(crate) fn holding(files: &[(String, Vec<u8>)]) -> Self {
        let mut disk = Self::default();
        for ((name, content), number) in files.iter().zip(0..) {
            disk.durable.names.insert(name.clone(), FileId(number));
            disk.durable.files.insert(FileId(number), content.clone());
        }
        disk
    }

    /// Does what the disk is asked next.
    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::Made { name, file } => {
                self.pending.push(Change::Name { name: name.clone(), file: Some(*file) });
            }
            Event::Removed { name } => self.pending.push(Change::Name { name: name.clone(), file: None }),
            Event::Written { file, offset, bytes } => {
                self.pending.push(Change::Write { file: *file, offset: *offset, bytes: Arc::clone(bytes) });
            }
            Event::Truncated { file, size } => self.pending.push(Change::Size { file: *file, size: *size }),
            Event::Synced(synced) => self.settle(|change| match change {
                Change::Write { file, .. } | Change::Size { file, .. } => file == synced,
                Change::Name { .. } => false,
            }),
            Event::FolderSynced => self.settle(|change| matches!(change, Change::Name { .. })),
            Event::Mark(_) => {}
        }
    }

    /// Makes the pending changes that are meant durable.
    fn settle(&mut self, meant: impl Fn(&Change) -> bool) {
        for change in std::mem::take(&mut self.pending) {
            if meant(&change) {
                self.durable.apply(&change);
            } else {
                self.pending.push(change);
            }
        }
    }

    /// How many changes are not durable.
    pub(crate) fn unsynced(&self) -> usize {
        self.pending.len()
    }

    /// The files that are found after a power cut at this moment.
    pub(crate) fn cut(&self, cut: Cut) -> Vec<(String, Vec<u8>)> {
        let mut left = self.durable.clone();
        match cut {
            Cut::Dropped => {}
            Cut::Applied => self.pending.iter().for_each(|change| left.apply(change)),
            Cut::UpTo(seed) => {
                let mut rng = Rng::with_seed(seed);
                let end = rng.usize(..=self.pending.len());
                self.pending[..end].iter().for_each(|change| left.apply(change));
                if let Some(torn) = self.pending.get(end) {
                    left.tear(torn, &mut rng);
                }
            }
            Cut::Mixed(seed) => {
                let mut rng = Rng::with_seed(seed);
                let mut changes: Vec<_> = self.pending.iter().collect();
                if rng.bool() {
                    rng.shuffle(&mut changes);
                }
                // Some cuts lose nearly everything, some nearly nothing.
                let kept = rng.f64();
                for change in changes {
                    if rng.f64() < kept {
                        left.apply(change);
                    } else if rng.bool() {
                        left.tear(change, &mut rng);
                    }
                }
            }
        }
        left.found()
    }
}

impl Content {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Name { name, file: Some(file) } => {
                self.names.insert(name.clone(), *file);
            }
            Change::Name { name, file: None } => {
                self.names.remove(name);
            }
            Change::Write { file, offset, bytes } => {
                put(self.files.entry(*file).or_default(), *offset, bytes);
            }
            Change::Size { file, size } => self.files.entry(*file).or_default().resize(*size, 0),
        }
    }

    /// Applies a part of a write; of anything else, nothing, since names and sizes change whole or not.
    fn tear(&mut self, change: &Change, rng: &mut Rng) {
        let Change::Write { file, offset, bytes } = change else { return };
        let content = self.files.entry(*file).or_default();
        let (offset, end) = (*offset, *offset + bytes.len());
        // The size of a file may have grown before what it grew by was written.
        if content.len() < end && rng.bool() {
            let rubbish = rng.bool();
            let grown = content.len();
            content.resize(end, 0);
            if rubbish {
                rng.fill(&mut content[grown..]);
            }
        }
        let mut part = |range: Range<usize>| {
            put(content, range.start, &bytes[range.start - offset..range.end - offset]);
        };
        let middle = rng.usize(offset..=end);
        match rng.u8(..3) {
            0 => part(offset..middle),
            1 => part(middle..end),
            _ => {
                let mut start = offset;
                while start < end {
                    let next = end.min((start / SECTOR + 1) * SECTOR);
                    if rng.bool() {
                        part(start..next);
                    }
                    start = next;
                }
            }
        }
    }

    fn found(mut self) -> Vec<(String, Vec<u8>)> {
        self.names
            .into_iter()
            .map(|(name, file)| (name, self.files.remove(&file).unwrap_or_default()))
            .collect()
    }
}

/// Writes bytes into a file, which grows with zeros up to there.
fn put(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}
