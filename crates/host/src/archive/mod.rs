//! One run in one file: a tar of plain files in one fixed form, compressed as gzip, closed by the hash of everything before
//! it. The same content gives the same bytes. Whatever is not exactly of this form is refused; knows nothing of runs.

mod gzip;
mod tar;

pub(crate) use tar::{Header, MOST_BYTES};

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
    read: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self, ArchiveError> {
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
        Ok(Self { from: Inflating::new(BufReader::new(file.take(body)))?, read: 0 })
    }

    /// The next file's name and size; its content must be read before the next one. `None` at the end, behind which
    /// nothing may stand.
    pub(crate) fn next(&mut self) -> Result<Option<Header>, ArchiveError> {
        let mut block = [0; tar::BLOCK];
        self.from.read_exact(&mut block)?;
        if block == [0; tar::BLOCK] {
            self.from.read_exact(&mut block)?;
            if block != [0; tar::BLOCK] || self.from.read(&mut [0])? != 0 {
                return Err(ArchiveError::Form("something stands behind its end".to_owned()));
            }
            return Ok(None);
        }
        let header = Header::parse(&block).map_err(ArchiveError::Form)?;
        self.read = self.read.saturating_add(header.bytes);
        if self.read > MOST_BYTES {
            return Err(ArchiveError::Form(format!("it unpacks to more than {MOST_BYTES} bytes")));
        }
        Ok(Some(header))
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
            self.from.read_exact(&mut buffer[..most])?;
            take(&buffer[..most]);
            left -= most as u64;
        }
        let mut padding = vec![0; header.padding()];
        self.from.read_exact(&mut padding)?;
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
        let mut reader = Reader::open(path)?;
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
