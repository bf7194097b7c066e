//! Copies of the user's repository in which others may work at the same time, and the way back for what was made there.
//! A copy borrows the user's objects, so that making one costs the same whatever the repository holds.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::control_dir::ObjectFormat;
use crate::durable_file::{ensure, flush_disk_of, read_plain};
use crate::error::GitError;
use crate::ids::Commit;
use crate::repository::Repository;

impl Repository {
    /// Makes a repository at `directory` whose branch `main` stands at this commit, with the whole history in reach and
    /// no file checked out. One that was begun is completed.
    pub fn copy_to(&self, directory: &Path, at: &Commit) -> Result<(), GitError> {
        fs::create_dir_all(directory).map_err(GitError::io("make", directory))?;
        let git_dir = directory.join(".git");
        let format = match self.format {
            ObjectFormat::Sha1 => "--object-format=sha1",
            ObjectFormat::Sha256 => "--object-format=sha256",
        };
        let call = self.git.call(&git_dir, directory);
        call.args(["init", "--quiet", "--initial-branch=main", "--template=", format]).run()?;
        let mut borrowed = self.checkout.objects_dir().as_os_str().as_bytes().to_vec();
        borrowed.push(b'\n');
        let info = git_dir.join("objects/info");
        fs::create_dir_all(&info).map_err(GitError::io("make", &info))?;
        ensure(&info.join("alternates"), &borrowed)?;
        // A history that ends early must be known to end there.
        if let Ok(shallow) = read_plain(&self.checkout.common_dir().join("shallow")) {
            ensure(&git_dir.join("shallow"), &shallow)?;
        }
        ensure(&git_dir.join("refs/heads/main"), format!("{}\n", at.id).as_bytes())?;
        // Git does not flush what it begins with, and leaves an empty HEAD of an earlier attempt as it is.
        ensure(&git_dir.join("HEAD"), b"ref: refs/heads/main\n")?;
        flush_disk_of(directory)
    }

    /// Takes a commit and its content over from the control directory of a copy, which no agent can write. From then on
    /// it is here, whatever becomes of the copy. Repeating it is harmless.
    pub fn take_from(&self, copy: &Self, commit: &Commit) -> Result<(), GitError> {
        let theirs = copy.control.objects();
        let known: String = self.imported_trees()?.iter().flat_map(|id| ["^", id.as_str(), "\n"]).collect();
        let listed = self
            .internal_call()
            .also_objects_in(&theirs)
            .args(["rev-list", "--objects", "--no-object-names", "--stdin"])
            .stdin(format!("{}\n{known}", commit.tree).into_bytes())
            .run()?;
        let mut wanted = format!("{}\n", commit.id).into_bytes();
        wanted.extend(listed);
        let pack = self.control.git_dir().join("objects/pack/pack");
        let packing =
            self.internal_call().also_objects_in(&theirs).args(["pack-objects", "-q", "--window=0"]);
        packing.arg(pack).stdin(wanted).run().map(drop)
    }
}
