//! Reads and writes git's index file (versions 2 and 3): the list of a tree's paths with the stat data under which
//! each was last seen. Must not run git and must not look at the work tree.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::ids::{Oid, TreeId};
use crate::noted_trees::NotedTrees;
use crate::repo_path::RepoPath;

pub(crate) const MODE_TYPE: u32 = 0o170_000;
pub(crate) const MODE_SYMLINK: u32 = 0o120_000;
pub(crate) const MODE_GITLINK: u32 = 0o160_000;
pub(crate) const MODE_FILE: u32 = 0o100_644;
pub(crate) const MODE_EXECUTABLE: u32 = 0o100_755;

const STAT_FIELDS: usize = 10;
const FIELD_MODE: usize = 6;
const FLAG_EXTENDED: u16 = 0x4000;
const FLAG_NAME_LENGTH: u16 = 0x0fff;
const EXTENDED_SKIP_WORKTREE: u16 = 0x4000;
const NOTED_TREES: &[u8; 4] = b"TREE";

/// The stat fields git keeps to recognise an unchanged file; all zero means "not known, look at the content".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CachedStat {
    pub(crate) ctime: (u32, u32),
    pub(crate) mtime: (u32, u32),
    pub(crate) device: u32,
    pub(crate) inode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) size: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct IndexEntry {
    pub(crate) path: RepoPath,
    pub(crate) mode: u32,
    pub(crate) oid: Oid,
    pub(crate) stat: CachedStat,
}

/// A whole index, entries in git's order (bytes of the path).
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    pub(crate) entries: Vec<IndexEntry>,
    /// The tree that git noted these entries to be, as long as none of them was changed since.
    tree: Option<Oid>,
    /// Git's notes on the trees that these entries make up, in its own form; without them it hashes every tree anew.
    noted_trees: Vec<u8>,
    /// The file's time: before git looked, or after everything it wrote. Stat data of that moment or later proves
    /// nothing: the file may have been changed again within the same tick.
    written_at: i64,
    written_at_nanos: i64,
    plain: bool,
}

impl IndexEntry {
    pub(crate) fn is_gitlink(&self) -> bool {
        self.mode & MODE_TYPE == MODE_GITLINK
    }

    pub(crate) fn is_symlink(&self) -> bool {
        self.mode & MODE_TYPE == MODE_SYMLINK
    }

    pub(crate) fn same_content(&self, other: &Self) -> bool {
        self.mode == other.mode && self.oid == other.oid
    }
}

impl Index {
    pub(crate) fn of_entries(mut entries: Vec<IndexEntry>) -> Self {
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        // Git would write a path twice into a tree that has it twice.
        entries.dedup_by(|later, earlier| later.path == earlier.path);
        Self { entries, ..Self::default() }
    }

    /// Git's notes on the trees of these entries; `None` where there are none.
    pub(crate) fn noted_trees(&self, hash_length: usize) -> Option<NotedTrees> {
        NotedTrees::parse(&self.noted_trees, hash_length)
    }

    /// Everything that the tree of these entries is made of, itself included; `None` where git did not note all of it.
    pub(crate) fn objects(&self, hash_length: usize) -> Option<HashSet<Oid>> {
        let trees = self.noted_trees(hash_length)?.ids()?;
        let files = self.entries.iter().filter(|entry| !entry.is_gitlink()).map(|entry| entry.oid);
        Some(trees.into_iter().chain(files).collect())
    }

    /// With notes that hold for these entries; the first one is of the tree of all.
    pub(crate) fn with_noted_trees(mut self, noted: &NotedTrees) -> Self {
        self.noted_trees = noted.to_bytes();
        self.tree = noted.nodes.first().and_then(|node| node.id);
        self
    }

    pub(crate) fn read(path: &Path) -> Result<Self, GitError> {
        let about = fs::metadata(path).map_err(GitError::io("read", path))?;
        let bytes = fs::read(path).map_err(GitError::io("read", path))?;
        let Parsed { mut entries, tree, noted_trees, plain } =
            parse(&bytes).map_err(|what| GitError::DamagedIndex { path: path.to_owned(), what })?;
        // Git writes them in this order; everything here searches by it.
        if !entries.is_sorted_by(|left, right| left.path < right.path) {
            entries.sort_by(|left, right| left.path.cmp(&right.path));
        }
        let (written_at, written_at_nanos) = (about.mtime(), about.mtime_nsec());
        Ok(Self { entries, tree, noted_trees, written_at, written_at_nanos, plain })
    }

    /// Whether the entries that were read are all there is to it: none has a mark of its own (skipped, only meant to be
    /// added), and none is kept in another file.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether these are the entries of `tree` and no others. "No" may also mean that nobody noted it.
    pub(crate) fn is_of(&self, tree: &TreeId) -> bool {
        self.tree.is_some() && self.tree == Oid::from_hex(tree.as_str().as_bytes()).ok()
    }

    /// The entries of `self`, with stat data taken from `earlier` where it speaks of the same content and is old
    /// enough to be believed. What this index does not know, git finds out by reading the file.
    pub(crate) fn with_stats_of(mut self, earlier: &Self) -> Self {
        let mut known = earlier.entries.iter().peekable();
        for entry in &mut self.entries {
            while known.next_if(|candidate| candidate.path < entry.path).is_some() {}
            entry.stat = match known.peek() {
                Some(found) if found.path == entry.path && found.same_content(entry) => {
                    earlier.believable_stat(found)
                }
                _ => CachedStat::default(),
            };
        }
        self
    }

    fn believable_stat(&self, entry: &IndexEntry) -> CachedStat {
        let young = |(seconds, nanos): (u32, u32)| {
            // A git built without sub-second times leaves zero there.
            let told = nanos != 0 && self.written_at_nanos != 0;
            let earlier_that_second = told && i64::from(nanos) < self.written_at_nanos;
            i64::from(seconds) > self.written_at
                || i64::from(seconds) == self.written_at && !earlier_that_second
        };
        if young(entry.stat.mtime) || young(entry.stat.ctime) { CachedStat::default() } else { entry.stat }
    }

    /// Keeps stat data only where `is_unchanged` says so, to be called for each entry in order.
    pub(crate) fn keep_stats_where(&mut self, mut is_unchanged: impl FnMut(usize, &IndexEntry) -> bool) {
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if !is_unchanged(at, entry) {
                entry.stat = CachedStat::default();
            }
        }
    }

    pub(crate) fn find(&self, path: &[u8]) -> Option<&IndexEntry> {
        let at = self.entries.binary_search_by(|entry| entry.path.as_bytes().cmp(path)).ok()?;
        self.entries.get(at)
    }

    /// Serialises for a git call of ours. Submodules are marked as outside the checkout, otherwise git would start
    /// another git inside them, which would read configuration an agent can write.
    ///
    /// The closing checksum is left zero: git reads past it, and replaces it with the first file it writes.
    pub(crate) fn to_bytes(&self, hash_length: usize) -> Vec<u8> {
        let extended = self.entries.iter().any(IndexEntry::is_gitlink);
        let mut bytes = Vec::with_capacity(self.entries.len() * 96 + 64);
        bytes.extend(b"DIRC");
        bytes.extend(if extended { 3_u32 } else { 2 }.to_be_bytes());
        bytes.extend(u32::try_from(self.entries.len()).unwrap_or(u32::MAX).to_be_bytes());
        for entry in &self.entries {
            write_entry(&mut bytes, entry);
        }
        if !self.noted_trees.is_empty() {
            bytes.extend(NOTED_TREES);
            bytes.extend(u32::try_from(self.noted_trees.len()).unwrap_or(u32::MAX).to_be_bytes());
            bytes.extend(&self.noted_trees);
        }
        bytes.extend(std::iter::repeat_n(0, hash_length));
        bytes
    }
}

impl Index {
    /// The entries as [`Self::to_bytes`] writes them, without what stands before and behind them, and where each begins.
    pub(crate) fn to_parts(&self, hash_length: usize) -> (Vec<u8>, Vec<usize>) {
        let mut bytes = Vec::with_capacity(self.entries.len() * (76 + hash_length));
        let mut starts = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            starts.push(bytes.len());
            write_entry(&mut bytes, entry);
        }
        (bytes, starts)
    }

    /// What stands before entries that were written one by one.
    pub(crate) fn header(entries: usize) -> Vec<u8> {
        let count = u32::try_from(entries).unwrap_or(u32::MAX);
        [&b"DIRC"[..], &2_u32.to_be_bytes(), &count.to_be_bytes()].concat()
    }
}

pub(crate) fn write_entry(bytes: &mut Vec<u8>, entry: &IndexEntry) {
    let start = bytes.len();
    let cached = entry.stat;
    let fields = [
        cached.ctime.0,
        cached.ctime.1,
        cached.mtime.0,
        cached.mtime.1,
        cached.device,
        cached.inode,
        entry.mode,
        cached.uid,
        cached.gid,
        cached.size,
    ];
    bytes.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
    bytes.extend(entry.oid.as_bytes());
    let path = entry.path.as_bytes();
    let name_length =
        u16::try_from(path.len()).map_or(FLAG_NAME_LENGTH, |length| length.min(FLAG_NAME_LENGTH));
    if entry.is_gitlink() {
        bytes.extend((name_length | FLAG_EXTENDED).to_be_bytes());
        bytes.extend(EXTENDED_SKIP_WORKTREE.to_be_bytes());
    } else {
        bytes.extend(name_length.to_be_bytes());
    }
    bytes.extend(path);
    let padding = 8 - (bytes.len() - start) % 8;
    bytes.extend(std::iter::repeat_n(0, padding));
}

struct Parsed {
    entries: Vec<IndexEntry>,
    tree: Option<Oid>,
    noted_trees: Vec<u8>,
    plain: bool,
}

fn parse(bytes: &[u8]) -> Result<Parsed, &'static str> {
    let header = bytes.get(..12).ok_or("too short")?;
    if &header[..4] != b"DIRC" {
        return Err("no index signature");
    }
    if !matches!(number(header, 4), Some(2 | 3)) {
        return Err("unknown version");
    }
    let count = number(header, 8).ok_or("too short")? as usize;
    // The entry size tells the length of an object id; trying both is cheaper than carrying it everywhere.
    parse_entries(bytes, count, 20).or_else(|_| parse_entries(bytes, count, 32))
}

fn parse_entries(bytes: &[u8], count: usize, hash_length: usize) -> Result<Parsed, &'static str> {
    let mut entries = Vec::with_capacity(count.min(bytes.len() / 62));
    let mut at = 12;
    for _ in 0..count {
        let mut fields = [0; STAT_FIELDS];
        for (place, field) in fields.iter_mut().enumerate() {
            *field = number(bytes, at + place * 4).ok_or("cut short")?;
        }
        let oid_at = at + STAT_FIELDS * 4;
        let oid = bytes.get(oid_at..oid_at + hash_length).ok_or("cut short")?;
        let flags_at = oid_at + hash_length;
        let flags = bytes.get(flags_at..flags_at + 2).ok_or("cut short")?;
        let flags = u16::from_be_bytes([flags[0], flags[1]]);
        let path_at = flags_at + if flags & FLAG_EXTENDED == 0 { 2 } else { 4 };
        let rest = bytes.get(path_at..).ok_or("cut short")?;
        let length = rest.iter().position(|byte| *byte == 0).ok_or("path without end")?;
        let stated = usize::from(flags & FLAG_NAME_LENGTH);
        if length == 0 || (stated < usize::from(FLAG_NAME_LENGTH) && stated != length) {
            return Err("path length does not fit");
        }
        if flags & 0x3000 != 0 {
            return Err("unmerged entry");
        }
        entries.push(IndexEntry {
            path: RepoPath::new(&rest[..length]),
            mode: fields[FIELD_MODE],
            oid: Oid::from_bytes(oid),
            stat: CachedStat {
                ctime: (fields[0], fields[1]),
                mtime: (fields[2], fields[3]),
                device: fields[4],
                inode: fields[5],
                uid: fields[7],
                gid: fields[8],
                size: fields[9],
            },
        });
        let used = path_at + length - at;
        at += used + 8 - used % 8;
    }
    let extensions = bytes.get(at..bytes.len().saturating_sub(hash_length)).ok_or("cut short")?;
    let noted_trees = noted_trees(extensions).unwrap_or_default();
    let plain = number(bytes, 4) == Some(2) && !must_be_understood(extensions);
    Ok(Parsed { entries, tree: root_of(noted_trees, hash_length), noted_trees: noted_trees.to_vec(), plain })
}

/// Git names what nobody may pass over with a small letter: entries in another file, directories that stand for theirs.
fn must_be_understood(mut extensions: &[u8]) -> bool {
    while let Some((header, rest)) = extensions.split_at_checked(8) {
        let following = number(header, 4).and_then(|length| rest.get(length as usize..));
        match following {
            Some(following) if header[0].is_ascii_uppercase() => extensions = following,
            _ => return true,
        }
    }
    !extensions.is_empty()
}

fn noted_trees(mut extensions: &[u8]) -> Option<&[u8]> {
    loop {
        let (header, rest) = extensions.split_at_checked(8)?;
        let (content, following) = rest.split_at_checked(number(header, 4)? as usize)?;
        if header.starts_with(NOTED_TREES) {
            return Some(content);
        }
        extensions = following;
    }
}

/// The first line of git's notes: an empty name, how many entries it covers (negative when one of them changed), how
/// many trees lie below it, its id.
fn root_of(noted_trees: &[u8], hash_length: usize) -> Option<Oid> {
    let line = noted_trees.strip_prefix(b"\0")?;
    let (counts, id) = line.split_at_checked(line.iter().position(|byte| *byte == b'\n')? + 1)?;
    let is_valid = counts.first().is_some_and(u8::is_ascii_digit);
    is_valid.then(|| id.get(..hash_length).map(Oid::from_bytes)).flatten()
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|field| u32::from_be_bytes([field[0], field[1], field[2], field[3]]))
}

/// Where the private index of a workspace key lies. The key becomes one file name whatever characters it holds.
pub(crate) fn path_for_key(directory: &Path, key: &str) -> PathBuf {
    let mut name = String::from("key-");
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02x}");
        }
    }
    directory.join(name + ".index")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, mode: u32, seconds: u32) -> IndexEntry {
        let stat = CachedStat { ctime: (seconds, 1), mtime: (seconds, 2), size: 3, ..CachedStat::default() };
        IndexEntry { path: RepoPath::new(path), mode, oid: Oid::from_bytes(&[7; 20]), stat }
    }

    #[test]
    fn what_is_written_is_read_back_for_both_hash_lengths() {
        for hash_length in [20, 32] {
            let mut entries: Vec<_> =
                (0..40).map(|length| entry(&"x".repeat(length + 1), MODE_EXECUTABLE, 9)).collect();
            entries.push(entry("y/sub", MODE_GITLINK, 9));
            entries.push(entry(&"z".repeat(5000), 0o100_644, 9));
            for entry in &mut entries {
                entry.oid = Oid::from_bytes(&vec![7; hash_length]);
            }
            let index = Index { entries, ..Index::default() };
            let read = parse(&index.to_bytes(hash_length)).unwrap().entries;
            assert_eq!(read.len(), 42);
            for (left, right) in read.iter().zip(&index.entries) {
                assert_eq!((&left.path, left.mode, left.oid), (&right.path, right.mode, right.oid));
                assert_eq!(left.stat, right.stat);
            }
        }
    }

    #[test]
    fn damaged_files_are_refused_not_believed() {
        let index =
            Index { entries: vec![entry("a", 0o100_644, 1), entry("b", 0o100_644, 1)], ..Index::default() };
        let bytes = index.to_bytes(20);
        for length in 0..bytes.len() {
            assert!(parse(&bytes[..length]).is_err(), "accepted after {length} bytes");
        }
    }

    #[test]
    fn the_tree_is_known_only_while_git_vouches_for_it() {
        let index = Index { entries: vec![entry("a", 0o100_644, 1)], ..Index::default() };
        let with = |extension: &[u8]| {
            let mut bytes = index.to_bytes(20);
            bytes.truncate(bytes.len() - 20);
            for (name, content) in [(&b"LINK"[..], &b"?"[..]), (b"TREE", extension)] {
                bytes.extend(name);
                bytes.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
                bytes.extend(content);
            }
            bytes.extend([0; 20]);
            parse(&bytes).unwrap().tree
        };
        let id = [7; 20];
        assert_eq!(with(&[b"\x001 0\n", &id[..]].concat()), Some(Oid::from_bytes(&id)));
        assert_eq!(with(b"\x00-1 0\n"), None, "an entry was changed");
        assert_eq!(with(&[b"\x001 0\n", &id[..19]].concat()), None, "cut short");
        assert_eq!(with(b""), None);
    }

    #[test]
    fn an_index_is_plain_only_without_marks_and_parts_elsewhere() {
        let plain = |entries: Vec<IndexEntry>, extension: &[u8]| {
            let mut bytes = Index { entries, ..Index::default() }.to_bytes(20);
            bytes.truncate(bytes.len() - 20);
            if !extension.is_empty() {
                bytes.extend(extension);
                bytes.extend(1_u32.to_be_bytes());
                bytes.push(b'?');
            }
            bytes.extend([0; 20]);
            parse(&bytes).unwrap().plain
        };
        let file = || vec![entry("a", 0o100_644, 1)];
        assert!(plain(file(), b"") && plain(file(), b"UNTR"));
        assert!(!plain(file(), b"link"), "entries in another file");
        assert!(!plain(file(), b"sdir"), "directories that stand for their entries");
        assert!(!plain(vec![entry("sub", MODE_GITLINK, 1)], b""), "an entry with a mark of its own");
    }

    #[test]
    fn stat_data_as_young_as_the_index_is_dropped() {
        let earlier = Index {
            entries: vec![entry("old", 0o100_644, 9), entry("young", 0o100_644, 10)],
            written_at: 10,
            ..Index::default()
        };
        let merged = Index { entries: earlier.entries.clone(), ..Index::default() }.with_stats_of(&earlier);
        assert_eq!(merged.entries[0].stat, earlier.entries[0].stat);
        assert_eq!(merged.entries[1].stat, CachedStat::default());
    }

    #[test]
    fn within_one_second_stat_data_is_believed_only_from_before_the_index() {
        let at = |name: &str, nanos: u32| {
            let mut entry = entry(name, 0o100_644, 10);
            (entry.stat.ctime.1, entry.stat.mtime.1) = (nanos, nanos);
            entry
        };
        let entries = vec![at("before", 5), at("same", 9), at("unknown", 0)];
        let earlier = Index { entries, written_at: 10, written_at_nanos: 9, ..Index::default() };
        let merged = Index { entries: earlier.entries.clone(), ..Index::default() }.with_stats_of(&earlier);
        assert_eq!(merged.entries[0].stat, earlier.entries[0].stat);
        assert_eq!(merged.entries[1].stat, CachedStat::default());
        assert_eq!(merged.entries[2].stat, CachedStat::default());
    }

    #[test]
    fn notes_on_trees_outlive_being_written_again() {
        let noted = [&b"\x001 0\n"[..], &[7; 20]].concat();
        let index =
            Index { entries: vec![entry("a", 0o100_644, 1)], noted_trees: noted.clone(), ..Index::default() };
        let read = parse(&index.to_bytes(20)).unwrap();
        assert_eq!(read.noted_trees, noted);
        assert_eq!(read.tree, Some(Oid::from_bytes(&[7; 20])));
    }

    #[test]
    fn keys_with_any_characters_stay_inside_the_directory() {
        let path = path_for_key(Path::new("/d"), "../../x y");
        assert_eq!(path, Path::new("/d/key-%2e%2e%2f%2e%2e%2fx%20y.index"));
    }
}
