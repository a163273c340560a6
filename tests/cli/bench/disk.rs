//! A small disk in memory, where this process may mount one, and what fills it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// See the module. It goes away with this value.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a disk of this size; nothing where that is not permitted.
    pub(crate) fn mount(at: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&at).expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "none"])
            .arg(&at)
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(at))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Fills it up to so many KiB; what fills it already stays or shrinks.
    pub(crate) fn fill(&self, kib: u64) {
        let told = Command::new("df").args(["--output=avail", "-B1024"]).arg(&self.0).output().expect("df");
        let told = String::from_utf8(told.stdout).expect("UTF-8");
        let free: u64 = told.lines().last().and_then(|line| line.trim().parse().ok()).expect("a number");
        let mut ballast = self.ballast();
        let (has, wanted) = (ballast.metadata().expect("ballast").len(), |by: u64| by * 1024);
        let length = (has + wanted(free)).saturating_sub(wanted(kib));
        if length < has {
            return ballast.set_len(length).expect("less ballast");
        }
        let written = io::copy(&mut io::repeat(0).take(length - has), &mut ballast);
        // Others may have taken the rest meanwhile.
        assert!(written.is_ok() || kib == 0, "{written:?}");
    }

    fn ballast(&self) -> File {
        File::options().append(true).create(true).open(self.0.join("ballast")).expect("ballast")
    }

    /// Takes away what filled it.
    pub(crate) fn make_room(&self) {
        fs::remove_file(self.0.join("ballast")).expect("ballast");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _left_mounted = Command::new("umount").arg(&self.0).status();
    }
}
