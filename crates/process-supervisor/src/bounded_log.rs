//! Keeps the beginning and the end of an endless stream in files of bounded size, with no buffer of its own: the head
//! goes to the log, what follows goes to two tail segments in turn, and `join` puts them together. All of it can be
//! read while the stream flows, and is there after a kill.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::child_spec::Limits;
use crate::effect_dir::{EffectDir, Stream};

/// A segment smaller than this would mean a truncation for every few bytes.
const SMALLEST_SEGMENT: u64 = 64 * 1024;

#[derive(Debug)]
pub(crate) struct BoundedLog {
    files: LogFiles,
    /// Made with the first byte: most agents say nothing on one of the two streams, and a log that is not there is empty.
    head: Option<File>,
    segments: Option<Segments>,
    seen: u64,
    /// After a failed write (full disk) the stream is still drained and counted, but no longer kept.
    broken: Option<io::Error>,
}

#[derive(Debug)]
struct Segments {
    files: [File; 2],
    active: usize,
    active_bytes: u64,
}

/// What is known about a stream when its pieces are joined.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Written {
    Counted {
        bytes: u64,
        newest_segment: usize,
    },
    /// The keeper was killed, and its count with it.
    Unknown,
}

/// Where the pieces of one stream are, and how large they may be.
#[derive(Debug, Clone)]
pub(crate) struct LogFiles {
    log: PathBuf,
    segments: [PathBuf; 2],
    head_bytes: u64,
    tail_bytes: u64,
}

impl LogFiles {
    pub(crate) fn new(directory: &EffectDir, stream: Stream, limits: &Limits) -> Self {
        Self {
            log: directory.log(stream),
            segments: [directory.tail_segment(stream, 0), directory.tail_segment(stream, 1)],
            head_bytes: limits.head_bytes,
            tail_bytes: limits.tail_bytes,
        }
    }

    fn segment_bytes(&self) -> u64 {
        self.tail_bytes.max(SMALLEST_SEGMENT)
    }

    /// Appends what was left out and the tail to the log. May be repeated after a crash at any point: it starts from
    /// the bare head again as long as the segments are there.
    pub(crate) fn join(&self, written: Written) -> io::Result<()> {
        if !self.segments.iter().any(|segment| segment.exists()) {
            return Ok(());
        }
        let oldest_first = match written {
            Written::Counted { newest_segment, .. } => {
                [self.segments[1 - newest_segment].clone(), self.segments[newest_segment].clone()]
            }
            Written::Unknown => self.segments_oldest_first(),
        };
        let [older, newer] = oldest_first.map(|path| open_if_there(&path));
        let (mut older, mut newer) = (older?, newer?);
        let from_newer = newer.seek_back(self.tail_bytes)?;
        let from_older = older.seek_back(self.tail_bytes - from_newer)?;
        let kept = self.head_bytes + from_older + from_newer;
        let mut log = OpenOptions::new().write(true).open(&self.log)?;
        log.set_len(self.head_bytes)?;
        log.seek(SeekFrom::End(0))?;
        match written {
            Written::Counted { bytes, .. } if bytes <= kept => {}
            Written::Counted { bytes, .. } => {
                write!(log, "\n[windlass left out {} bytes here]\n", bytes - kept)?;
            }
            Written::Unknown => write!(log, "\n[windlass left out an unknown number of bytes here]\n")?,
        }
        older.append_to(&mut log)?;
        newer.append_to(&mut log)?;
        log.sync_all()?;
        for segment in &self.segments {
            match std::fs::remove_file(segment) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// The one that is being filled is the newer; when both are full the time of the last write tells.
    fn segments_oldest_first(&self) -> [PathBuf; 2] {
        let [first, second] = self.segments.clone();
        let about = |path: &PathBuf| std::fs::metadata(path).ok();
        let full = |about: &std::fs::Metadata| about.len() >= self.segment_bytes();
        match (about(&first), about(&second)) {
            (Some(one), Some(other)) => {
                let second_is_newer = match (full(&one), full(&other)) {
                    (true, false) => true,
                    (false, true) => false,
                    _ => one.modified().ok() <= other.modified().ok(),
                };
                if second_is_newer { [first, second] } else { [second, first] }
            }
            (Some(_), None) => [second, first],
            (None, _) => [first, second],
        }
    }

    /// All pieces, newest first.
    pub(crate) fn newest_first(&self) -> [PathBuf; 3] {
        let [older, newer] = self.segments_oldest_first();
        [newer, older, self.log.clone()]
    }
}

impl BoundedLog {
    pub(crate) fn create(files: LogFiles) -> io::Result<Self> {
        // What stands there is not what this child will say.
        let stands = files.log.symlink_metadata().is_ok();
        let head = if stands { Some(File::create(&files.log)?) } else { None };
        Ok(Self { files, head, segments: None, seen: 0, broken: None })
    }

    /// Takes the next bytes of the stream. Never fails: a child must not hang because its log cannot be written.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let seen_before = self.seen;
        self.seen += bytes.len() as u64;
        if self.broken.is_none() {
            self.broken = self.keep(seen_before, bytes).err();
        }
    }

    /// Fails where not everything that should be kept is.
    pub(crate) fn finish(self) -> io::Result<()> {
        // Nothing needs no flushing.
        let flushed = match &self.head {
            Some(head) if self.seen > 0 => head.sync_data(),
            _ => Ok(()),
        };
        let newest_segment = self.segments.map_or(0, |segments| segments.active);
        // Also of a stream that broke off: its segments must not stay.
        let joined = self.files.join(Written::Counted { bytes: self.seen, newest_segment });
        self.broken.map_or(Ok(()), Err).and(flushed).and(joined)
    }

    fn keep(&mut self, seen_before: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let room = self.files.head_bytes.saturating_sub(seen_before);
        let split = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (head, rest) = bytes.split_at(split);
        let log = match &mut self.head {
            Some(log) => log,
            None => self.head.insert(File::create(&self.files.log)?),
        };
        log.write_all(head)?;
        if rest.is_empty() {
            return Ok(());
        }
        let segment_bytes = self.files.segment_bytes();
        let segments = match &mut self.segments {
            Some(segments) => segments,
            None => self.segments.insert(Segments::create(&self.files.segments)?),
        };
        segments.write(rest, segment_bytes)
    }
}

impl Segments {
    fn create([first, second]: &[PathBuf; 2]) -> io::Result<Self> {
        Ok(Self { files: [File::create(first)?, File::create(second)?], active: 0, active_bytes: 0 })
    }

    fn write(&mut self, mut bytes: &[u8], segment_bytes: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.active_bytes >= segment_bytes {
                self.active = 1 - self.active;
                self.active_bytes = 0;
                let file = &mut self.files[self.active];
                file.set_len(0)?;
                file.rewind()?;
            }
            let room = usize::try_from(segment_bytes - self.active_bytes).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.files[self.active].write_all(now)?;
            self.active_bytes += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }
}

/// The last bytes of a file, at most `limit`; nothing for a file that is not there.
pub(crate) fn last_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut piece = open_if_there(path)?;
    piece.seek_back(limit)?;
    let mut bytes = Vec::new();
    if let Some(file) = piece.0 {
        // It may be growing while it is read.
        file.take(limit).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// A piece of a log; one that was never written is empty.
struct Piece(Option<File>);

fn open_if_there(path: &Path) -> io::Result<Piece> {
    match File::open(path) {
        Ok(file) => Ok(Piece(Some(file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Piece(None)),
        Err(error) => Err(error),
    }
}

impl Piece {
    /// Goes to at most `limit` bytes before the end and returns how many that are.
    fn seek_back(&mut self, limit: u64) -> io::Result<u64> {
        let Some(file) = &mut self.0 else { return Ok(0) };
        let length = file.metadata()?.len();
        let wanted = length.min(limit);
        file.seek(SeekFrom::Start(length - wanted))?;
        Ok(wanted)
    }

    fn append_to(&mut self, log: &mut File) -> io::Result<()> {
        match &mut self.0 {
            Some(file) => io::copy(file, log).map(drop),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: usize = 64 * 1024;

    fn log_in(folder: &tempfile::TempDir, head_bytes: u64, tail_bytes: u64) -> LogFiles {
        let directory = EffectDir::new(folder.path()).unwrap();
        LogFiles::new(&directory, Stream::Stdout, &Limits { head_bytes, tail_bytes, ..Limits::default() })
    }

    fn numbered(length: usize) -> Vec<u8> {
        (0..).flat_map(|number: u64| format!("{number}\n").into_bytes()).take(length).collect()
    }

    /// What a reader should find for a stream of these bytes.
    fn expected(bytes: &[u8], head: usize, tail: usize) -> Vec<u8> {
        if bytes.len() <= head + tail {
            return bytes.to_vec();
        }
        let left_out = bytes.len() - head - tail;
        let marker = format!("\n[windlass left out {left_out} bytes here]\n");
        [&bytes[..head], marker.as_bytes(), &bytes[bytes.len() - tail..]].concat()
    }

    #[test]
    fn head_marker_and_tail_are_right_for_every_length_around_the_edges() {
        let (head, tail) = (100, 1_000);
        let edges = [0, head, head + tail, head + SEGMENT, head + 2 * SEGMENT, head + 3 * SEGMENT];
        for length in edges.into_iter().flat_map(|edge| [edge.saturating_sub(1), edge, edge + 1, edge + tail])
        {
            for chunk in [777, 200_000] {
                let folder = tempfile::tempdir().unwrap();
                let files = log_in(&folder, head as u64, tail as u64);
                let bytes = numbered(length);
                let mut log = BoundedLog::create(files.clone()).unwrap();
                bytes.chunks(chunk).for_each(|part| log.take(part));
                assert_eq!(log.seen, length as u64);
                log.finish().unwrap();
                let found = std::fs::read(&files.log).unwrap_or_default();
                assert!(found == expected(&bytes, head, tail), "length {length} in chunks of {chunk}");
                let files = usize::from(length > 0);
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), files, "segments are gone");
            }
        }
    }

    #[test]
    fn no_tail_wanted_still_says_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let files = log_in(&folder, 4, 0);
        let mut log = BoundedLog::create(files.clone()).unwrap();
        log.take(b"0123456789");
        log.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&files.log).unwrap(), "0123\n[windlass left out 6 bytes here]\n");
    }

    #[test]
    fn a_log_that_could_not_be_written_is_not_taken_for_a_whole_one() {
        let folder = tempfile::tempdir().unwrap();
        let files = log_in(&folder, 100, 100);
        std::os::unix::fs::symlink("/dev/full", &files.log).unwrap();
        let mut log = BoundedLog::create(files).unwrap();
        log.take(b"all tests passed");
        assert_eq!(log.seen, 16, "it is counted nevertheless");
        assert_eq!(log.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn joining_again_after_a_crash_in_the_middle_gives_the_same_log() {
        let folder = tempfile::tempdir().unwrap();
        let files = log_in(&folder, 10, 100);
        let mut log = BoundedLog::create(files.clone()).unwrap();
        log.take(&numbered(SEGMENT + 500));
        drop(log);
        let segment = std::fs::read(&files.segments[1]).unwrap();
        files.join(Written::Unknown).unwrap();
        let once = std::fs::read(&files.log).unwrap();
        std::fs::write(&files.segments[1], segment).unwrap();
        files.join(Written::Unknown).unwrap();
        assert_eq!(std::fs::read(&files.log).unwrap(), once);
        assert!(once.ends_with(&numbered(SEGMENT + 500)[SEGMENT + 400..]));
    }
}
