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
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
