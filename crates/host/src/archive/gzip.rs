//! One member of a gzip file as a stream, always with the same header and the same compression. Reading refuses any other
//! header, a wrong checksum, and anything behind the end.

use miniz_oxide::deflate::core::{CompressorOxide, create_comp_flags_from_zip_params};
use miniz_oxide::deflate::stream::deflate;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use std::io::{self, Read, Write};

const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const LEVEL: i32 = 6;
/// Negative: without a header of its own.
const RAW: i32 = -15;
const BUFFER: usize = 64 * 1024;

/// Of everything that passed, as gzip wants it.
#[derive(Clone, Copy)]
struct Checksum {
    crc: u32,
    length: u32,
}

impl Checksum {
    const fn new() -> Self {
        Self { crc: 0xffff_ffff, length: 0 }
    }

    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let at = (self.crc ^ u32::from(*byte)) & 0xff;
            self.crc = TABLE[at as usize] ^ (self.crc >> 8);
        }
        // Modulo 2^32, as gzip has it.
        #[expect(clippy::cast_possible_truncation, reason = "the format keeps the low 32 bits")]
        let length = bytes.len() as u32;
        self.length = self.length.wrapping_add(length);
    }

    fn to_bytes(self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&(self.crc ^ 0xffff_ffff).to_le_bytes());
        bytes[4..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0_u32;
    while at < 256 {
        let (mut value, mut bit) = (at, 0);
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[at as usize] = value;
        at += 1;
    }
    table
};

pub(super) struct Deflating<W> {
    inner: W,
    state: Box<CompressorOxide>,
    checksum: Checksum,
}

impl<W: Write> Deflating<W> {
    pub(super) fn new(mut inner: W) -> io::Result<Self> {
        inner.write_all(&HEADER)?;
        let flags = create_comp_flags_from_zip_params(LEVEL, RAW, 0);
        Ok(Self { inner, state: Box::new(CompressorOxide::new(flags)), checksum: Checksum::new() })
    }

    fn push(&mut self, mut bytes: &[u8], flush: MZFlush) -> io::Result<()> {
        let mut out = vec![0; BUFFER];
        loop {
            let result = deflate(&mut self.state, bytes, &mut out, flush);
            bytes = &bytes[result.bytes_consumed..];
            self.inner.write_all(&out[..result.bytes_written])?;
            match result.status {
                Ok(MZStatus::StreamEnd) => return Ok(()),
                Ok(_) if flush == MZFlush::None && bytes.is_empty() && result.bytes_written < BUFFER => {
                    return Ok(());
                }
                Ok(_) => {}
                // Nothing to do: everything was taken before.
                Err(_) if bytes.is_empty() && flush == MZFlush::None => return Ok(()),
                Err(error) => return Err(io::Error::other(format!("cannot compress: {error:?}"))),
            }
        }
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.push(&[], MZFlush::Finish)?;
        self.inner.write_all(&self.checksum.to_bytes())?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for Deflating<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.checksum.update(bytes);
        self.push(bytes, MZFlush::None)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct Inflating<R> {
    inner: R,
    state: Box<InflateState>,
    input: Vec<u8>,
    at: usize,
    checksum: Checksum,
    ended: bool,
}

impl<R: Read> Inflating<R> {
    pub(super) fn new(mut inner: R) -> io::Result<Self> {
        let mut header = [0; HEADER.len()];
        inner.read_exact(&mut header)?;
        if header != HEADER {
            return Err(damaged("its header is not the one that an export writes"));
        }
        let state = InflateState::new_boxed(DataFormat::Raw);
        Ok(Self { inner, state, input: Vec::new(), at: 0, checksum: Checksum::new(), ended: false })
    }

    /// The checksum, and nothing behind it.
    fn close(&mut self) -> io::Result<()> {
        self.ended = true;
        let mut rest = self.input.split_off(self.at);
        self.inner.by_ref().take(9).read_to_end(&mut rest)?;
        if rest == self.checksum.to_bytes() { Ok(()) } else { Err(damaged("its checksum is wrong")) }
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl<R: Read> Read for Inflating<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !out.is_empty() {
            if self.at == self.input.len() {
                self.input.resize(BUFFER, 0);
                let read = self.inner.read(&mut self.input)?;
                self.input.truncate(read);
                self.at = 0;
            }
            let result = inflate(&mut self.state, &self.input[self.at..], out, MZFlush::None);
            self.at += result.bytes_consumed;
            let written = result.bytes_written;
            self.checksum.update(&out[..written]);
            match result.status {
                Ok(MZStatus::StreamEnd) => self.close()?,
                Ok(_) if written == 0 && result.bytes_consumed == 0 && self.input.is_empty() => {
                    return Err(damaged("it ends before its end"));
                }
                Ok(_) => {}
                Err(_) if self.input.is_empty() => return Err(damaged("it ends before its end")),
                Err(_) => return Err(damaged("it cannot be unpacked")),
            }
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}
