//! Just enough of PNG for a picture of few colours: one byte for each dot, rows told by their difference to the row
//! above, and deflate with runs only, which is all a chart needs. It knows nothing of charts.

pub(super) struct Image<'a> {
    pub(super) width: usize,
    pub(super) palette: &'a [[u8; 3]],
    /// Row by row, a number in the palette each.
    pub(super) dots: &'a [u8],
}

/// Rows hold the difference to the row above.
const FILTER_UP: u8 = 2;

pub(super) fn encode(image: &Image<'_>) -> Vec<u8> {
    let rows = image.dots.chunks_exact(image.width.max(1));
    let size = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes();
    let mut header = Vec::new();
    header.extend(size(image.width));
    header.extend(size(rows.len()));
    // Eight bits a dot, a palette, the only methods there are, not interlaced.
    header.extend([8, 3, 0, 0, 0]);
    let mut filtered = Vec::with_capacity(image.dots.len() + rows.len());
    let mut above = vec![0; image.width];
    for row in rows {
        filtered.push(FILTER_UP);
        filtered.extend(row.iter().zip(&above).map(|(dot, above)| dot.wrapping_sub(*above)));
        above.copy_from_slice(row);
    }
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut png, *b"IHDR", &header);
    chunk(&mut png, *b"PLTE", &image.palette.concat());
    chunk(&mut png, *b"IDAT", &zlib(&filtered));
    chunk(&mut png, *b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, kind: [u8; 4], content: &[u8]) {
    png.extend(u32::try_from(content.len()).unwrap_or(u32::MAX).to_be_bytes());
    let start = png.len();
    png.extend(kind);
    png.extend(content);
    let check = crc(&png[start..]);
    png.extend(check.to_be_bytes());
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x78, 0x01];
    packed.extend(deflate(content));
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in content {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    packed.extend((high << 16 | low).to_be_bytes());
    packed
}

/// Lengths that are told with nothing but zeros behind their code: length, code, how many zeros.
const RUNS: [(usize, u32, u32); 14] = [
    (258, 285, 0),
    (131, 281, 5),
    (67, 277, 4),
    (35, 273, 3),
    (19, 269, 2),
    (11, 265, 1),
    (10, 264, 0),
    (9, 263, 0),
    (8, 262, 0),
    (7, 261, 0),
    (6, 260, 0),
    (5, 259, 0),
    (4, 258, 0),
    (3, 257, 0),
];
const END: u32 = 256;

/// One block with the fixed codes; the only repetition is that of the byte before.
fn deflate(content: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    // The last block, with fixed codes.
    bits.low_first(0b011, 3);
    let mut rest = content;
    while let Some(&byte) = rest.first() {
        let mut run = rest.iter().take_while(|other| **other == byte).count();
        rest = &rest[run..];
        bits.code(u32::from(byte));
        run -= 1;
        while let Some((length, code, zeros)) = RUNS.iter().find(|(length, ..)| *length <= run) {
            bits.code(*code);
            // Behind the length the distance, one byte back, whose code is five zeros.
            bits.low_first(0, zeros + 5);
            run -= length;
        }
        for _ in 0..run {
            bits.code(u32::from(byte));
        }
    }
    bits.code(END);
    bits.done()
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    open: u32,
    count: u32,
}

impl Bits {
    fn low_first(&mut self, value: u32, count: u32) {
        for bit in 0..count {
            self.open |= (value >> bit & 1) << self.count;
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(self.open.to_le_bytes()[0]);
                (self.open, self.count) = (0, 0);
            }
        }
    }

    /// A letter or a length in the fixed code; codes are told from their highest bit on.
    fn code(&mut self, symbol: u32) {
        let (value, count) = match symbol {
            0..=143 => (0x30 + symbol, 8),
            144..=255 => (0x190 + symbol - 144, 9),
            256..=279 => (symbol - 256, 7),
            _ => (0xc0 + symbol - 280, 8),
        };
        self.low_first(value.reverse_bits() >> (32 - count), count);
    }

    fn done(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.low_first(0, 8 - self.count);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_sum_is_that_of_the_standard() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc(b"IEND"), 0xae42_6082, "as at the end of every PNG");
    }

    /// Undoes `deflate`, so that what is written is known to be readable; only what it may contain is understood.
    fn inflate(packed: &[u8]) -> Vec<u8> {
        let mut at = 0;
        let mut bit = || {
            at += 1;
            u32::from(packed[(at - 1) / 8] >> ((at - 1) % 8) & 1)
        };
        assert_eq!([bit(), bit(), bit()], [1, 1, 0]);
        let mut out: Vec<u8> = Vec::new();
        loop {
            let mut code = (0..7).fold(0, |code, _| code << 1 | bit());
            let symbol = if code <= 0x17 {
                256 + code
            } else {
                code = code << 1 | bit();
                match code {
                    0x30..=0xbf => code - 0x30,
                    0xc0..=0xc7 => 280 + code - 0xc0,
                    _ => 144 + (code << 1 | bit()) - 0x190,
                }
            };
            if symbol == END {
                return out;
            }
            match RUNS.iter().find(|(_, code, _)| *code == symbol) {
                None => out.push(u8::try_from(symbol).unwrap()),
                Some((length, _, zeros)) => {
                    assert!((0..zeros + 5).all(|_| bit() == 0));
                    out.extend(std::iter::repeat_n(*out.last().unwrap(), *length));
                }
            }
        }
    }

    #[test]
    fn runs_of_every_length_come_back() {
        for length in 0..600 {
            let content: Vec<u8> = [vec![7], vec![200; length], vec![0, 1, 255]].concat();
            assert_eq!(inflate(&deflate(&content)), content, "{length}");
        }
        assert_eq!(inflate(&deflate(&[])), Vec::<u8>::new());
    }
}
