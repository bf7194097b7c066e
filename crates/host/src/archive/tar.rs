//! The one form of tar header that is written and read: plain files with short names, of nobody, from no time. A header
//! that is not byte for byte what would be written for its name and size is refused, so nothing can be hidden in it.

use std::io;

pub(crate) const BLOCK: usize = 512;
/// What the eleven octal digits of a header can say.
const LARGEST: u64 = 0o77_777_777_777;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

impl Header {
    /// Zeros up to the next block.
    pub(crate) fn padding(&self) -> usize {
        let over = usize::try_from(self.bytes % BLOCK as u64).unwrap_or(0);
        if over == 0 { 0 } else { BLOCK - over }
    }

    pub(crate) fn to_bytes(&self) -> io::Result<[u8; BLOCK]> {
        if !is_usable(&self.name) {
            return Err(io::Error::other(format!("{:?} is no name for a file of an archive", self.name)));
        }
        if self.bytes > LARGEST {
            return Err(io::Error::other(format!("{} is too large for an archive", self.name)));
        }
        let mut block = [0; BLOCK];
        let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
        put(0, self.name.as_bytes());
        put(100, b"0000644\0");
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        put(124, format!("{:011o}\0", self.bytes).as_bytes());
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, b"0");
        put(257, b"ustar\x0000");
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        Ok(block)
    }

    pub(crate) fn parse(block: &[u8; BLOCK]) -> Result<Self, String> {
        let refused = || "it holds a header that no export writes".to_owned();
        let end = block[..100].iter().position(|byte| *byte == 0).unwrap_or(100);
        let name = std::str::from_utf8(&block[..end]).map_err(|_| refused())?.to_owned();
        if !is_usable(&name) {
            return Err(format!("it holds a file whose name leads elsewhere: {name:?}"));
        }
        let digits = std::str::from_utf8(&block[124..135]).map_err(|_| refused())?;
        let bytes = u64::from_str_radix(digits, 8).map_err(|_| refused())?;
        let header = Self { name, bytes };
        let same = header.to_bytes().is_ok_and(|written| written == *block);
        if same { Ok(header) } else { Err(refused()) }
    }
}

/// Letters, digits, dots and dashes, in directories that go down.
fn is_usable(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(letter);
    name.len() <= 100 && name.split('/').all(part)
}
