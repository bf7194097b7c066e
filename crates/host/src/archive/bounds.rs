//! What an archive may cost whoever reads it. A small file can announce, and unpack to, more than a machine has; so nothing
//! is unpacked beyond what a run can be, and whoever writes an archive holds to the same.

/// How much an archive may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// What all files together may unpack to.
    pub(crate) bytes: u64,
    /// So much may always be unpacked; beyond it, at most `ratio` times what the file itself takes. Gzip can make a
    /// thousand times more of nothing, the records of a run are text.
    pub(crate) unsuspected: u64,
    pub(crate) ratio: u64,
    pub(crate) files: usize,
}

impl Bounds {
    pub(crate) const USUAL: Self = Self {
        bytes: 64 * 1024 * 1024 * 1024,
        unsuspected: 2 * 1024 * 1024 * 1024,
        ratio: 100,
        files: 500_000,
    };

    /// Why so much is too much for a file of this size.
    pub(crate) fn refuse(&self, files: usize, unpacked: u64, packed: u64) -> Result<(), String> {
        if files > self.files {
            return Err(format!("it holds more than {} files", self.files));
        }
        if unpacked > self.bytes {
            return Err(format!("it unpacks to more than {} bytes", self.bytes));
        }
        if unpacked > self.unsuspected && unpacked / self.ratio > packed {
            return Err(format!("it unpacks to more than {} times its size", self.ratio));
        }
        Ok(())
    }
}
