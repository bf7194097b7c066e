//! Which ignore file keeps a path of the user's checkout out. Rules that only this machine has do not count: they are not in
//! the commits that others get.

use crate::error::GitError;
use crate::repository::Repository;

impl Repository {
    /// The ignore file inside the checkout, from its top, whose rule keeps this path out. Whether the file is committed is
    /// not looked at.
    pub fn ignoring_file(&self, path: &str) -> Result<Option<String>, GitError> {
        let found = self.ignoring_files(&[path.to_owned()])?;
        Ok(found.into_iter().next().map(|(_, source)| source))
    }

    /// Those of the paths that are kept out, each with the ignore file whose rule does it.
    pub fn ignoring_files(&self, paths: &[String]) -> Result<Vec<(String, String)>, GitError> {
        let index = self.control.indexes().join("none");
        let call = self.call_in(self.checkout().work_tree(), &index);
        let call = call.args(["check-ignore", "--no-index", "--verbose", "-z", "--stdin"]);
        let asked: Vec<u8> = paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        let printed = call.stdin(asked).run_accepting(&[0, 1])?.stdout;
        // Source, line, pattern and path, each with a zero behind it.
        let fields: Vec<_> = printed.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        let ignored = fields.chunks_exact(4).filter_map(|entry| match entry {
            [source, _, pattern, path] => {
                let is_inside =
                    !source.is_empty() && !source.starts_with('/') && !source.starts_with(".git/");
                (is_inside && !pattern.starts_with('!')).then(|| (path.to_string(), source.to_string()))
            }
            _ => None,
        });
        Ok(ignored.collect())
    }
}
