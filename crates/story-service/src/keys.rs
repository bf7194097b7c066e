//! Raw keys: made here, shown once, kept only as a digest.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use windlass_protocols::protocol::story_queue::tenancy::NewKey;

/// `lc_` and forty characters.
pub(crate) fn make(random: [u8; 32]) -> (String, NewKey) {
    let raw = format!("lc_{}", URL_SAFE_NO_PAD.encode(&random[..30]));
    let prefix = raw.chars().take(8).collect();
    let key = NewKey { hash: digest(&raw), prefix };
    (raw, key)
}

/// SHA-256 in hexadecimal. A raw key has 240 random bits, so nothing slower is needed.
pub(crate) fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
