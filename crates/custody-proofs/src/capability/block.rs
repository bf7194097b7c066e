//! One signed block of a token: a text, the key of whoever may add the next block, and a signature over both.

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;

use super::NotACapability;
use crate::encoding;
use crate::keys::{PublicKey, Signature, SigningKey};

/// Before everything that is signed, so that a signature of another kind can never be taken for one of a block. What
/// follows is longer than the 64 bytes of a tree head.
const DOMAIN: &[u8] = b"windlass capability block 1\n";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// JSON, kept to the byte: it is what was signed.
    payload: String,
    pub(super) next: PublicKey,
    signature: Signature,
}

impl Block {
    pub(super) fn sign(key: &SigningKey, place: usize, payload: String, next: &SigningKey) -> Self {
        let next = next.public();
        let signature = key.sign(&signed_bytes(place, &payload, next));
        Self { payload, next, signature }
    }

    pub(super) fn is_signed_by(&self, key: PublicKey, place: usize) -> bool {
        key.verify(&signed_bytes(place, &self.payload, self.next), &self.signature)
    }

    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, NotACapability> {
        serde_json::from_str(&self.payload).map_err(|_| NotACapability)
    }
}

/// The payload has no fixed length, so it stands last; what is before it has.
fn signed_bytes(place: usize, payload: &str, next: PublicKey) -> Vec<u8> {
    let place = u64::try_from(place).expect("a place fits").to_be_bytes();
    [DOMAIN, &place, &next.0, payload.as_bytes()].concat()
}

/// One piece of base64url: key, signature, payload.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.next.0[..], &self.signature, self.payload.as_bytes()].concat();
        f.write_str(&encoding::to_base64url(&bytes))
    }
}

impl FromStr for Block {
    type Err = NotACapability;

    fn from_str(text: &str) -> Result<Self, NotACapability> {
        let bytes = encoding::from_base64url(text).ok_or(NotACapability)?;
        let (next, rest) = bytes.split_first_chunk::<32>().ok_or(NotACapability)?;
        let (signature, payload) = rest.split_first_chunk::<64>().ok_or(NotACapability)?;
        let payload = String::from_utf8(payload.to_vec()).map_err(|_| NotACapability)?;
        Ok(Self { payload, next: PublicKey(*next), signature: *signature })
    }
}
