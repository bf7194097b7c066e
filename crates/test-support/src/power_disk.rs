//! A disk whose power can be cut: an ext4 file system in an image behind a loop device. What the kernel has not written to
//! the device when the power goes is gone, as on a real machine. Must not know what lies on it.

use crate::agent_programs::can_run_here;
use crate::private_mounts::{tool, unmount};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use windlass_process_supervisor::QuickCommand;

/// As it stands in the list of what is skipped.
const NAME: &str = "power-cuts";
const SIZE: u64 = 192 * 1024 * 1024;
/// Little is put into it twice: a small journal, and tables that are written when they are needed.
const MAKE: [&str; 7] = [
    "-q",
    "-F",
    "-J",
    "size=8",
    "-E",
    "lazy_itable_init=1,lazy_journal_init=1,nodiscard",
    "-Ostable_inodes,^resize_inode",
];
/// Nothing is written because it became old, and no rename flushes what was not flushed by hand: ext4's own kindness
/// would hide what is lost on other file systems.
const MOUNT: &str = "loop,noatime,commit=300,noauto_da_alloc,noinit_itable,nodiscard";
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Images lie in memory where there is room for several, else in the directory for temporary files.
const MEMORY: &str = "/dev/shm";
const ROOM: u64 = 1024 * 1024 * 1024;

/// What becomes of the unwritten ends of files.
pub enum Tails<'a> {
    /// All of what was not written is gone.
    Lost,
    /// Of a file that lost its end, a part of it had been written after all: for so many bytes that were lost, how many
    /// come back.
    Torn(&'a mut dyn FnMut(usize) -> usize),
}

/// Only inside [`crate::with_own_disks`]. When the process ends its mounts end with its namespace, and a loop device whose
/// mount is gone is given back by the kernel.
pub struct PowerDisk {
    places: Vec<PathBuf>,
    mounted: PathBuf,
    images: tempfile::TempDir,
    cuts: u32,
}

impl PowerDisk {
    /// Lays it under these directories of a world, with all that is there already, which is on the disk for good.
    pub fn under(places: &[&Path]) -> Self {
        let mounted = places[0].parent().expect("a directory of a world").join("disk");
        fs::create_dir(&mounted).expect("the world can be written");
        let images = tempfile::Builder::new()
            .prefix("windlass-disk-")
            .tempdir_in(image_directory())
            .expect("a temporary directory");
        let disk = Self {
            places: places.iter().map(|place| place.to_path_buf()).collect(),
            mounted,
            images,
            cuts: 0,
        };
        let image = disk.image();
        File::create(&image).and_then(|file| file.set_len(SIZE)).expect("an image can be made");
        let make: Vec<&OsStr> = MAKE.iter().map(OsStr::new).chain([image.as_os_str()]).collect();
        tool("mkfs.ext4", &make);
        disk.mount();
        for place in places {
            let home = disk.home_of(place);
            for directory in [*place, &home] {
                fs::create_dir_all(directory).expect("the world can be written");
            }
            tool("cp", &["-a".as_ref(), place.join(".").as_ref(), home.as_ref()]);
        }
        disk.settle();
        disk.bind();
        disk
    }

    /// All that is there now is on the disk.
    pub fn settle(&self) {
        let root = File::open(&self.mounted).expect("a mounted disk can be opened");
        rustix::fs::syncfs(root).expect("a mounted disk can be flushed");
    }

    /// The power goes, and comes back. Nobody may be at work on it any more; how many files lost something.
    pub fn cut(&mut self, tails: Tails<'_>) -> usize {
        let before = self.contents();
        let old = self.image();
        self.cuts += 1;
        // As the device holds it: the file system above is neither flushed nor told.
        tool("cp", &["--sparse=always".as_ref(), old.as_ref(), self.image().as_ref()]);
        self.places.iter().for_each(|place| unmount(place));
        unmount(&self.mounted);
        fs::remove_file(old).expect("our own image can be removed");
        self.mount();
        let lost = self.lost(&before);
        if let Tails::Torn(part) = tails {
            for (path, end) in &lost {
                give_back(path, end, part);
            }
            self.settle();
        }
        self.bind();
        self.boot();
        lost.len()
    }

    /// Whoever starts from now on finds a machine that was started anew.
    fn boot(&self) {
        let id = self.images.path().join("boot-id");
        fs::write(&id, format!("00000000-0000-4000-8000-{:012}\n", self.cuts)).expect("our own directory");
        if self.cuts > 1 {
            // The file is mounted already, and says something else now.
            return;
        }
        tool("mount", &["--bind".as_ref(), id.as_ref(), BOOT_ID.as_ref()]);
    }

    fn image(&self) -> PathBuf {
        self.images.path().join(format!("{}.img", self.cuts))
    }

    fn home_of(&self, place: &Path) -> PathBuf {
        self.mounted.join(place.file_name().expect("a directory has a name"))
    }

    fn mount(&self) {
        tool("mount", &["-o".as_ref(), MOUNT.as_ref(), self.image().as_ref(), self.mounted.as_ref()]);
    }

    fn bind(&self) {
        for place in &self.places {
            tool("mount", &["--bind".as_ref(), self.home_of(place).as_ref(), place.as_ref()]);
        }
    }

    /// Every file as programs saw it last, by its number on the disk: a name may be lost and its content not.
    fn contents(&self) -> BTreeMap<u64, Vec<u8>> {
        let content = |path: PathBuf| Some((fs::symlink_metadata(&path).ok()?.ino(), fs::read(&path).ok()?));
        files(&self.mounted).into_iter().filter_map(content).collect()
    }

    /// The files that are shorter than they were, and what they lack.
    fn lost(&self, before: &BTreeMap<u64, Vec<u8>>) -> Vec<(PathBuf, Vec<u8>)> {
        let lost = |path: PathBuf| {
            let was = before.get(&fs::symlink_metadata(&path).ok()?.ino())?;
            let end = was.strip_prefix(&fs::read(&path).ok()?[..])?;
            (!end.is_empty()).then(|| (path.clone(), end.to_owned()))
        };
        files(&self.mounted).into_iter().filter_map(lost).collect()
    }
}

impl Drop for PowerDisk {
    /// The world below it is about to be removed.
    fn drop(&mut self) {
        self.places.iter().for_each(|place| unmount(place));
        unmount(&self.mounted);
        if self.cuts > 0 {
            unmount(Path::new(BOOT_ID));
        }
    }
}

fn give_back(path: &Path, end: &[u8], part: &mut dyn FnMut(usize) -> usize) {
    let written = part(end.len()).min(end.len());
    let appended = File::options()
        .append(true)
        .open(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &end[..written]));
    appended.expect("root can write every file");
}

/// Regular files only.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn image_directory() -> PathBuf {
    let memory = rustix::fs::statvfs(MEMORY).is_ok_and(|disk| disk.f_bavail * disk.f_frsize >= ROOM);
    if memory { MEMORY.into() } else { std::env::temp_dir() }
}

/// Whether such a disk can be had here. False only where xtask has said that these tests are skipped: anywhere else a
/// machine without one fails them, so that nothing passes by not having been tried.
#[track_caller]
pub(crate) fn can_be_cut() -> bool {
    can_run_here(NAME, why_not())
}

fn why_not() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("only root can mount a disk whose power is cut".to_owned());
    }
    if !Path::new("/dev/loop-control").exists() {
        return Some("there are no loop devices for a disk whose power is cut".to_owned());
    }
    let made = QuickCommand::new("mkfs.ext4", "/").arg("-V").envs(std::env::vars_os()).run();
    (!made.is_ok_and(|made| made.status.success()))
        .then(|| "`mkfs.ext4` is missing, which makes a disk whose power is cut".to_owned())
}
