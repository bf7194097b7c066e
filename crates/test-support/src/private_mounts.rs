//! Mounts that are a test's own: a disk with little room, a place that cannot be written. The test is run once more as a
//! process of its own in a private namespace, so that nobody else sees them and nothing is left of them.

use crate::output::Output;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass_process_supervisor::QuickCommand;

/// Set for the process that has the mounts to itself.
const INSIDE: &str = "WINDLASS_TEST_HAS_PRIVATE_MOUNTS";
/// A campaign visits every size in one test.
const PATIENCE: Duration = Duration::from_hours(6);

/// Runs the body of the test called `test` (with its crate in front, as `module_path!` has it) with mounts of its own.
///
/// Fails on a machine that allows nobody such mounts: a fault that was not tried is not survived.
#[track_caller]
pub fn in_private_mounts(test: &str, body: impl FnOnce()) {
    if std::env::vars_os().any(|(name, _)| name == INSIDE) {
        return body();
    }
    run_again(test, Mounter::Anybody);
}

/// As [`in_private_mounts`], but with disks of its own ([`crate::PowerDisk`]), which only root may mount.
///
/// Does nothing where xtask has said that this machine has no such disks and that these tests are skipped.
#[track_caller]
pub fn with_own_disks(test: &str, body: impl FnOnce()) {
    if std::env::vars_os().any(|(name, _)| name == INSIDE) {
        return body();
    }
    if crate::power_disk::can_be_cut() {
        run_again(test, Mounter::Root);
    }
}

#[derive(Clone, Copy)]
enum Mounter {
    /// Root in a user namespace of its own: enough for what lies in memory and for places of this machine.
    Anybody,
    Root,
}

/// The same test as a process of its own that has its mounts to itself.
#[track_caller]
fn run_again(test: &str, mounter: Mounter) {
    let (_, name) = test.split_once("::").expect("a test lies in a crate");
    let program = std::env::args_os().next().expect("a test has a program");
    let args = [name, "--exact", "--nocapture", "--test-threads=1"];
    let rights: &[&str] = match mounter {
        Mounter::Anybody => &["--map-root-user", "--mount", "--"],
        Mounter::Root => &["--mount", "--"],
    };
    let command = QuickCommand::new("unshare", ".")
        .args(rights.iter().copied())
        .arg(program)
        .args(args)
        .envs(std::env::vars_os())
        .env(INSIDE, "1")
        .deadline(PATIENCE);
    let output = Output::of(&args, command.run().expect("`unshare` of util-linux is needed for this test"));
    let said = format!("{}\n{}", output.stdout, output.stderr);
    assert!(
        !output.stderr.starts_with("unshare:"),
        "this machine allows no private mounts, so faults of its disks cannot be tried: {said}"
    );
    assert_eq!(output.code, Some(0), "{said}");
    assert!(output.stdout.contains("1 passed"), "{name} was not found again: {said}");
}

/// A disk with little room that some directories lie on. Only inside [`in_private_mounts`].
pub struct SmallDisk {
    places: Vec<PathBuf>,
    disk: PathBuf,
}

impl SmallDisk {
    /// Lays it under these directories of a world, with all that is there already and room for more.
    pub fn under(places: &[&Path]) -> Self {
        let world = places[0].parent().expect("a directory of a world");
        let disk = world.join("disk");
        std::fs::create_dir(&disk).expect("the world can be written");
        tool("mount", &["-t".as_ref(), "tmpfs".as_ref(), "tmpfs".as_ref(), disk.as_ref()]);
        for place in places {
            let home = disk.join(place.file_name().expect("a directory has a name"));
            for directory in [*place, &home] {
                std::fs::create_dir_all(directory).expect("the world can be written");
            }
            tool("cp", &["-a".as_ref(), place.join(".").as_ref(), home.as_ref()]);
            tool("mount", &["--bind".as_ref(), home.as_ref(), place.as_ref()]);
        }
        Self { places: places.iter().map(|place| place.to_path_buf()).collect(), disk }
    }

    /// So much is in it, in KiB.
    pub fn used(&self) -> u64 {
        let about = rustix::fs::statvfs(&self.disk).expect("a mounted disk can be asked");
        (about.f_blocks - about.f_bfree) * about.f_frsize / 1024
    }

    pub fn resize(&self, kib: u64) {
        let options = format!("remount,size={kib}k");
        tool("mount", &["-o".as_ref(), options.as_ref(), self.disk.as_ref()]);
    }

    /// More room than any test needs.
    pub fn free(&self) {
        self.resize(1024 * 1024);
    }
}

impl Drop for SmallDisk {
    /// The world below it is about to be removed.
    fn drop(&mut self) {
        self.places.iter().for_each(|place| unmount(place));
        unmount(&self.disk);
    }
}

/// A directory that cannot be written, not even by root, for as long as this lives. Only inside [`in_private_mounts`].
pub struct ReadOnly(PathBuf);

impl ReadOnly {
    pub fn make(directory: &Path) -> Self {
        std::fs::create_dir_all(directory).expect("the world can be written");
        tool("mount", &["--bind".as_ref(), directory.as_ref(), directory.as_ref()]);
        tool("mount", &["-o".as_ref(), "remount,ro,bind".as_ref(), directory.as_ref()]);
        Self(directory.to_owned())
    }

    /// One that a script made with [`Self::words`] while it was at work.
    pub fn made_by_a_script(directory: &Path) -> Self {
        Self(directory.to_owned())
    }

    /// What a script runs in order to make `directory` read-only.
    pub fn words(directory: &Path) -> String {
        let place = directory.display();
        format!("mount --bind {place} {place} && mount -o remount,ro,bind {place}")
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        unmount(&self.0);
    }
}

pub(crate) fn unmount(place: &Path) {
    // While a test is torn down, nothing better can be done about a failure; and the namespace ends with the process.
    let command = QuickCommand::new("umount", "/").args(["--lazy".as_ref(), place.as_os_str()]);
    let _ = command.envs(std::env::vars_os()).run();
}

#[track_caller]
pub(crate) fn tool(program: &str, args: &[&OsStr]) {
    let command = QuickCommand::new(program, "/").args(args.iter().copied()).envs(std::env::vars_os());
    let output = command.run().unwrap_or_else(|error| panic!("{program} {args:?}: {error}"));
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
