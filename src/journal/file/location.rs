//! On what a journal lies: locks and synced writes hold on a disk of this machine, not on a network's or in a folder
//! that another program copies about; and what lies in memory is gone with the machine.
//!
//! The system's list of mounts is read where there is one (Linux); the names of folders that are synchronised are
//! known everywhere.

use std::path::{Path, PathBuf};

/// File systems that lie on another machine, or are shared with one.
const NETWORKS: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "lustre",
    "gfs2",
    "ocfs2",
    "davfs",
    "virtiofs",
    "vboxsf",
    "prl_fs",
];

/// Programs behind FUSE that reach over a network, by the second half of the name.
const REMOTE_FUSE: &[&str] = &[
    "sshfs",
    "rclone",
    "s3fs",
    "davfs",
    "davfs2",
    "gcsfuse",
    "goofys",
    "glusterfs",
    "ceph",
    "vmhgfs-fuse",
    "smbnetfs",
];

/// File systems that live in memory.
const MEMORIES: &[&str] = &["tmpfs", "ramfs"];

/// Folders that a program of this name keeps equal to those of other machines. Others may follow the name, after a
/// space or a dash: `OneDrive - Acme`.
const SYNCED: &[&str] = &[
    "dropbox",
    "onedrive",
    "google drive",
    "googledrive",
    "my drive",
    "icloud drive",
    "icloud~",
    "com~apple~clouddocs",
    "mobile documents",
    "nextcloud",
    "owncloud",
    "pcloud drive",
    "pclouddrive",
    "seafile",
    "syncthing",
    "megasync",
];

/// What a folder lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// A disk of this machine, as far as can be seen.
    Local,
    /// A network, or a share of another machine; with the name of the file system.
    Network(String),
    /// A folder that another program synchronises; with its name.
    Synced(String),
    /// Memory; with the name of the file system.
    Memory(String),
}

impl Storage {
    /// What the file at `path` lies on, or would lie on.
    pub fn of(path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = absolute.parent().unwrap_or(&absolute);
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        // A link may lead into a synchronised folder or out of it: both names count.
        match Self::judge(&real, &mounts) {
            Self::Local => Self::judge(folder, ""),
            found => found,
        }
    }

    /// What a folder lies on, by its name and the system's list of mounts (in the form of Linux' `mountinfo`).
    fn judge(folder: &Path, mounts: &str) -> Self {
        if let Some(name) = synced(folder) {
            return Self::Synced(name);
        }
        if folder.to_string_lossy().starts_with(r"\\") {
            return Self::Network("a network path".to_owned());
        }
        // Of the mounts that hold the folder the innermost counts, and of two at one place the later.
        let held = mounts
            .lines()
            .filter_map(mount)
            .filter(|(point, _)| folder.starts_with(point))
            .max_by_key(|(point, _)| point.components().count());
        match held {
            Some((_, kind)) if MEMORIES.contains(&kind) => Self::Memory(kind.to_owned()),
            Some((_, kind)) if is_network(kind) => Self::Network(kind.to_owned()),
            Some(_) | None => Self::Local,
        }
    }
}

fn is_network(kind: &str) -> bool {
    NETWORKS.contains(&kind)
        || kind.strip_prefix("fuse.").is_some_and(|program| REMOTE_FUSE.contains(&program))
}

/// Where a line of `mountinfo` mounts, and what kind of file system.
fn mount(line: &str) -> Option<(PathBuf, &str)> {
    let (left, right) = line.split_once(" - ")?;
    let point = left.split(' ').nth(4)?;
    Some((PathBuf::from(unescaped(point)), right.split(' ').next()?))
}

/// Blanks in a mount point are written as octal numbers.
fn unescaped(point: &str) -> String {
    point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// The part of a path that is the folder of a program which synchronises.
fn synced(folder: &Path) -> Option<String> {
    folder.components().find_map(|component| {
        let shown = component.as_os_str().to_string_lossy();
        let name = shown.to_lowercase();
        let known = SYNCED.iter().any(|synced| {
            name.strip_prefix(synced).is_some_and(|rest| {
                rest.is_empty()
                    || synced.ends_with('~')
                    || rest.starts_with(" -")
                    || rest.starts_with(" (")
                    || rest.starts_with('-')
            })
        });
        known.then(|| shown.into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:20 / /dev/shm rw,nosuid - tmpfs tmpfs rw
24 22 0:41 / /home rw,relatime shared:1 - nfs4 server:/home rw,vers=4.2
25 24 0:42 / /home/ann/disk rw,relatime - ext4 /dev/sdb1 rw
26 22 0:43 / /mnt/team\\040share rw - cifs //server/share rw
27 22 0:44 / /mnt/ssh rw - fuse.sshfs ann@host:/ rw
28 22 0:45 / /mnt/stick rw - fuseblk /dev/sdc1 rw
29 22 0:46 / /run/user/1000 rw - ramfs none rw
30 22 0:47 / /mnt/stick rw - 9p share rw
";

    #[test]
    fn the_innermost_mount_that_holds_the_folder_says_what_it_lies_on() {
        let network = |kind: &str| Storage::Network(kind.into());
        let memory = |kind: &str| Storage::Memory(kind.into());
        let table = [
            ("/srv/onboarding", Storage::Local),
            ("/dev/shm", memory("tmpfs")),
            ("/dev/shm/x", memory("tmpfs")),
            ("/dev/shmoo", Storage::Local),
            ("/run/user/1000/a", memory("ramfs")),
            ("/home/ann", network("nfs4")),
            ("/home/ann/disk/jobs", Storage::Local),
            ("/mnt/team share/x", network("cifs")),
            ("/mnt/ssh", network("fuse.sshfs")),
            ("/mnt/stick", network("9p")),
        ];
        for (folder, expected) in table {
            assert_eq!(Storage::judge(Path::new(folder), MOUNTS), expected, "{folder}");
        }
        assert_eq!(Storage::judge(Path::new("/home/ann"), ""), Storage::Local, "nothing known of mounts");
        assert_eq!(Storage::judge(Path::new("/"), "not a list of mounts"), Storage::Local);
    }

    #[test]
    fn folders_that_are_synchronised_are_known_by_name_and_others_are_not() {
        for name in [
            "/home/ann/Dropbox/jobs",
            "/home/ann/Dropbox (Acme)/jobs",
            "/Users/ann/OneDrive - Acme Ltd/jobs",
            "/Users/ann/Library/CloudStorage/OneDrive-Acme/jobs",
            "/Users/ann/Library/Mobile Documents/com~apple~CloudDocs/jobs",
            "/Users/ann/Google Drive/My Drive",
            "/home/ann/Nextcloud",
        ] {
            assert!(matches!(Storage::judge(Path::new(name), MOUNTS), Storage::Synced(_)), "{name}");
        }
        for name in ["/srv/dropboxes", "/srv/onedriven", "/srv/next cloud", "/srv/mega"] {
            assert_eq!(Storage::judge(Path::new(name), MOUNTS), Storage::Local, "{name}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_yet_is_judged_by_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let synced = folder.path().join("Dropbox");
        std::fs::create_dir(&synced).unwrap();
        assert_eq!(Storage::of(&synced.join("fleetload.db")), Storage::Synced("Dropbox".into()));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&synced, folder.path().join("jobs")).unwrap();
            let through = folder.path().join("jobs/fleetload.db");
            assert_eq!(Storage::of(&through), Storage::Synced("Dropbox".into()));
        }
    }
}
