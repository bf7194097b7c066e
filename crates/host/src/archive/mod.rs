//! One run in one file: a tar of plain files in one fixed form, compressed as gzip, closed by the hash of everything before
//! it. The same content gives the same bytes. Whatever is not exactly of this form is refused; knows nothing of runs.

mod bounds;
mod gzip;
mod tar;

pub(crate) use bounds::Bounds;
pub(crate) use tar::Header;

use gzip::{Deflating, Inflating};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// An empty member of the gzip file whose comment is the hash: every program that unpacks gzip passes over it.
const SEAL_START: &[u8] = b"\x1f\x8b\x08\x10\0\0\0\0\0\xffwindlass-sha256 ";
const SEAL_END: &[u8] = b"\0\x03\0\0\0\0\0\0\0\0\0";
const SEAL_BYTES: usize = SEAL_START.len() + 64 + SEAL_END.len();

/// Why a file is no archive, or none that is whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is not an archive of a run, or it was cut short")]
    NotSealed,
    #[error("it was changed after it was written: its content is not what its seal says")]
    SealBroken,
    #[error("{0}")]
    Form(String),
}

/// Writes files into an archive, in the order in which they come.
pub(crate) struct Writer {
    out: Deflating<Hashing<BufWriter<File>>>,
}

impl Writer {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let hashing = Hashing { inner: BufWriter::new(file), hash: Sha256::new() };
        Ok(Self { out: Deflating::new(hashing)? })
    }

    /// As many bytes as the header says, neither more nor fewer.
    pub(crate) fn add(&mut self, header: &Header, mut content: impl Read) -> io::Result<()> {
        self.out.write_all(&header.to_bytes()?)?;
        let copied = io::copy(&mut content.by_ref().take(header.bytes), &mut self.out)?;
        if copied != header.bytes || content.read(&mut [0])? != 0 {
            return Err(io::Error::other(format!("{} changed while it was read", header.name)));
        }
        self.out.write_all(&vec![0; header.padding()])
    }

    /// Closes and seals it; durable when this returns.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&[0; 2 * tar::BLOCK])?;
        let Hashing { mut inner, hash } = self.out.finish()?;
        inner.write_all(&seal(hash))?;
        inner.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

fn seal(hash: Sha256) -> Vec<u8> {
    let digest = crate::evidence::hex(&hash.finalize());
    [SEAL_START, digest.as_bytes(), SEAL_END].concat()
}

struct Hashing<W> {
    inner: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Reads an archive file by file. Its seal was checked before the first of them is unpacked.
pub(crate) struct Reader {
    from: Inflating<BufReader<io::Take<File>>>,
    bounds: Bounds,
    /// What the file itself takes.
    packed: u64,
    files: usize,
    announced: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path, bounds: Bounds) -> Result<Self, ArchiveError> {
        // Opening a pipe would wait for somebody to write.
        if !std::fs::metadata(path)?.is_file() {
            return Err(ArchiveError::Form("it is no plain file".to_owned()));
        }
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let body = length.checked_sub(SEAL_BYTES as u64).ok_or(ArchiveError::NotSealed)?;
        let mut hashing = Hashing { inner: io::sink(), hash: Sha256::new() };
        io::copy(&mut (&file).take(body), &mut hashing)?;
        let mut found = Vec::new();
        (&file).take(SEAL_BYTES as u64 + 1).read_to_end(&mut found)?;
        if found.len() != SEAL_BYTES || !found.starts_with(SEAL_START) || !found.ends_with(SEAL_END) {
            return Err(ArchiveError::NotSealed);
        }
        if found != seal(hashing.hash) {
            return Err(ArchiveError::SealBroken);
        }
        file.seek(SeekFrom::Start(0))?;
        let from = Inflating::new(BufReader::new(file.take(body)))?;
        Ok(Self { from, bounds, packed: length, files: 0, announced: 0 })
    }

    /// The next file's name and size; its content must be read before the next one. `None` at the end, behind which
    /// nothing may stand.
    pub(crate) fn next(&mut self) -> Result<Option<Header>, ArchiveError> {
        let mut block = [0; tar::BLOCK];
        self.fill(&mut block)?;
        if block == [0; tar::BLOCK] {
            self.fill(&mut block)?;
            if block != [0; tar::BLOCK] || self.from.read(&mut [0])? != 0 {
                return Err(ArchiveError::Form("something stands behind its end".to_owned()));
            }
            return Ok(None);
        }
        let header = Header::parse(&block).map_err(ArchiveError::Form)?;
        self.files += 1;
        self.announced = self.announced.saturating_add(header.bytes);
        self.bounds.refuse(self.files, self.announced, self.packed).map_err(ArchiveError::Form)?;
        Ok(Some(header))
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), ArchiveError> {
        self.from.read_exact(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                ArchiveError::Form("it holds less than it says, and ends in the middle of a file".to_owned())
            }
            _ => ArchiveError::Io(error),
        })
    }

    /// Hands the content over piece by piece.
    pub(crate) fn content(
        &mut self,
        header: &Header,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), ArchiveError> {
        let mut left = header.bytes;
        let mut buffer = vec![0; 64 * 1024];
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            self.fill(&mut buffer[..most])?;
            take(&buffer[..most]);
            left -= most as u64;
        }
        let mut padding = vec![0; header.padding()];
        self.fill(&mut padding)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(ArchiveError::Form(format!("something stands behind the end of {}", header.name)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(path: &Path, files: &[(&str, &[u8])]) {
        let mut writer = Writer::new(File::create(path).unwrap()).unwrap();
        for (name, content) in files {
            writer.add(&Header { name: (*name).to_owned(), bytes: content.len() as u64 }, *content).unwrap();
        }
        writer.finish().unwrap();
    }

    type Files = Vec<(String, Vec<u8>)>;

    fn read(path: &Path) -> Result<Files, ArchiveError> {
        read_within(path, Bounds::USUAL)
    }

    fn read_within(path: &Path, bounds: Bounds) -> Result<Files, ArchiveError> {
        let mut reader = Reader::open(path, bounds)?;
        let mut files = Vec::new();
        while let Some(header) = reader.next()? {
            let mut content = Vec::new();
            reader.content(&header, |bytes| content.extend_from_slice(bytes))?;
            files.push((header.name, content));
        }
        Ok(files)
    }

    #[test]
    fn what_is_written_is_read_and_written_the_same_again() {
        let world = tempfile::tempdir().unwrap();
        let (one, two) = (world.path().join("one"), world.path().join("two"));
        let large: Vec<u8> = (0..300_000_u32).map(|number| (number * 7 % 251) as u8).collect();
        let files: [(&str, &[u8]); 4] =
            [("a", b""), ("b/c", b"text"), ("block", &[7; tar::BLOCK]), ("large", &large)];
        archive(&one, &files);
        archive(&two, &files);
        assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
        let expected: Vec<_> =
            files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        assert_eq!(read(&one).unwrap(), expected);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let world = tempfile::tempdir().unwrap();
        let (path, other) = (world.path().join("one"), world.path().join("other"));
        archive(&path, &[("a", b"text and more text"), ("b", b"")]);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                std::fs::write(&other, &changed).unwrap();
                assert!(read(&other).is_err(), "bit {bit} of byte {at}");
            }
            std::fs::write(&other, &whole[..at]).unwrap();
            assert!(read(&other).is_err(), "cut at {at}");
        }
        std::fs::write(&other, [&whole[..], b"x"].concat()).unwrap();
        assert!(read(&other).is_err());
    }

    /// What stands in the way of somebody who writes the seal anew.
    fn resealed(path: &Path, tar: &[u8]) {
        let hashing = Hashing { inner: BufWriter::new(File::create(path).unwrap()), hash: Sha256::new() };
        let mut out = Deflating::new(hashing).unwrap();
        out.write_all(tar).unwrap();
        let Hashing { mut inner, hash } = out.finish().unwrap();
        inner.write_all(&seal(hash)).unwrap();
        inner.flush().unwrap();
    }

    #[test]
    fn a_tar_of_another_form_is_refused_though_its_seal_holds() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("one");
        let header = Header { name: "a".to_owned(), bytes: 1 }.to_bytes().unwrap();
        let end = [0; 2 * tar::BLOCK];
        let file = [&header[..], b"x", &[0; tar::BLOCK - 1]].concat();
        resealed(&path, &[&file[..], &end].concat());
        assert_eq!(read(&path).unwrap(), [("a".to_owned(), b"x".to_vec())]);
        for at in 0..header.len() {
            let mut changed = [&file[..], &end].concat();
            changed[at] ^= 1;
            resealed(&path, &changed);
            let found = read(&path);
            assert!(found.is_err(), "byte {at}: {found:?}");
        }
        for wrong in [
            [&file[..], &end[..tar::BLOCK]].concat(),
            [&file[..], &end, b"more"].concat(),
            [&header[..], b"x", &[1; tar::BLOCK - 1], &end].concat(),
            file[..100].to_vec(),
            Vec::new(),
        ] {
            resealed(&path, &wrong);
            assert!(read(&path).is_err());
        }
    }

    /// A header as somebody else may write it, with a checksum that is right.
    fn foreign(name: &str, bytes: u64, kind: u8, target: &str) -> [u8; tar::BLOCK] {
        let mut block = Header { name: "a".to_owned(), bytes }.to_bytes().unwrap();
        block[0] = 0;
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[156] = kind;
        block[157..157 + target.len()].copy_from_slice(target.as_bytes());
        block[148..156].copy_from_slice(b"        ");
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        block
    }

    #[track_caller]
    fn refusal(path: &Path, tar: &[u8]) -> String {
        resealed(path, tar);
        match read(path) {
            Err(ArchiveError::Form(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn links_devices_and_names_that_lead_elsewhere_are_refused_before_anything_is_unpacked() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("one");
        let end = [0; 2 * tar::BLOCK];
        for name in ["../x", "/etc/passwd", "a/../../b", "..", ".git/config", "a\\b", "a b"] {
            let why = refusal(&path, &[&foreign(name, 0, b'0', "")[..], &end].concat());
            assert!(why.contains("leads elsewhere"), "{name}: {why}");
        }
        for (kind, target) in
            [(b'1', "/etc/passwd"), (b'2', "../../x"), (b'3', ""), (b'4', ""), (b'5', ""), (b'6', "")]
        {
            let why = refusal(&path, &[&foreign("a", 0, kind, target)[..], &end].concat());
            assert!(why.contains("header that no export writes"), "kind {kind}: {why}");
        }
        for kind in [b'x', b'g', b'L', b'S'] {
            assert!(refusal(&path, &foreign("a", 0, kind, "")).contains("no export writes"));
        }
    }

    #[test]
    fn a_size_that_is_not_there_is_refused_where_the_file_ends() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("one");
        let header = Header { name: "a".to_owned(), bytes: 0o77_777_777_777 }.to_bytes().unwrap();
        let why = refusal(&path, &[&header[..], b"little"].concat());
        assert!(why.contains("times its size"), "more than a file of this size can hold: {why}");
        let header = Header { name: "a".to_owned(), bytes: 1 << 30 }.to_bytes().unwrap();
        assert!(refusal(&path, &[&header[..], b"little"].concat()).contains("less than it says"));
    }

    #[test]
    fn a_bomb_is_refused_by_what_it_announces() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("one");
        let nothing = vec![0; 4 << 20];
        archive(&path, &[("a", &nothing), ("b", &nothing)]);
        assert!(path.metadata().unwrap().len() < 64 * 1024, "it is a small file");
        assert_eq!(read(&path).unwrap().len(), 2, "a few megabytes are nothing to refuse");
        let bounds = Bounds { unsuspected: 5 << 20, ..Bounds::USUAL };
        let why = read_within(&path, bounds).unwrap_err().to_string();
        assert!(why.contains("more than 100 times its size"), "{why}");
        let why = read_within(&path, Bounds { bytes: 5 << 20, ..Bounds::USUAL }).unwrap_err().to_string();
        assert!(why.contains("more than 5242880 bytes"), "{why}");
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state.to_be_bytes()[0]
        })
        .take(3 << 20)
        .collect();
        archive(&path, &[("a", &noise), ("b", &noise)]);
        assert_eq!(read_within(&path, bounds).unwrap().len(), 2, "what is not packed tightly is no bomb");
    }

    #[test]
    fn more_files_than_a_run_has_are_refused() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("one");
        let names: Vec<String> = (0..1_001).map(|number| format!("evidence/{number}")).collect();
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        archive(&path, &files);
        let bounds = Bounds { files: 1_000, ..Bounds::USUAL };
        let why = read_within(&path, bounds).unwrap_err().to_string();
        assert!(why.contains("more than 1000 files"), "{why}");
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("no plain file"));
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused_both_ways() {
        let long = "x".repeat(101);
        for name in ["../x", "/etc/passwd", "a/../b", "a//b", "./a", "a/", "", "a\nb", "a\\b", long.as_str()]
        {
            let header = Header { name: name.to_owned(), bytes: 0 };
            assert!(header.to_bytes().is_err(), "{name:?}");
        }
    }
}
