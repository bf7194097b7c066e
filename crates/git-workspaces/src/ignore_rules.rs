//! Which ignore file keeps a path of the user's checkout out. Rules that only this machine has do not count: they are not in
//! the commits that others get.

use crate::error::GitError;
use crate::repository::Repository;

impl Repository {
    /// The ignore file inside the checkout, from its top, whose rule keeps this path out. Whether the file is committed is
    /// not looked at.
    pub fn ignoring_file(&self, path: &str) -> Result<Option<String>, GitError> {
        let index = self.control.indexes().join("none");
        let call = self.call_in(self.checkout().work_tree(), &index);
        let call = call.args(["check-ignore", "--no-index", "--verbose", "-z", "--stdin"]);
        let printed = call.stdin([path.as_bytes(), b"\0"].concat()).run_accepting(&[0, 1])?.stdout;
        // Source, line, pattern and path, each with a zero behind it.
        let mut fields = printed.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let (source, pattern) = (fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default());
        let is_inside = !source.is_empty() && !source.starts_with('/') && !source.starts_with(".git/");
        Ok((is_inside && !pattern.starts_with('!')).then(|| source.into_owned()))
    }
}
