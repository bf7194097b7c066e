//! What a client remembers of the chain, and what follows when it differs from ours. A client sends the position and the
//! first bytes of the signature of the last head it saw. That anybody can invent, so it proves nothing: a mismatch refuses
//! the one request. Custody is halted only over a whole head under our own signature that our chain does not continue.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::encoding;
use crate::keys::PublicKey;
use crate::merkle::Hash;
use crate::tree_head::TreeHead;

/// The header's value: `<position>:<base64url of the first 16 bytes of the signature>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    pub position: u64,
    prefix: [u8; 16],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected <position>:<first 16 bytes of the signature in base64url>")]
pub struct MalformedWitness;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Agrees,
    /// The client has seen nothing yet. Whatever stands behind the colon, it is no disagreement.
    NothingSeen,
    /// We have not signed so far: a head of our future, or an invention.
    Unknown,
    /// The client was shown, or made up, another head than the one we keep for this position.
    Differs,
}

impl Witness {
    pub fn of(head: &TreeHead) -> Self {
        let prefix = *head.signature.first_chunk().expect("a signature has more than 16 bytes");
        Self { position: head.position, prefix }
    }

    /// What is handed out before the first head exists.
    pub const fn of_nothing() -> Self {
        Self { position: 0, prefix: [0; 16] }
    }

    /// Against the head we keep for the position it names, if there is one.
    pub fn compare(&self, kept: Option<&TreeHead>) -> Standing {
        match kept {
            _ if self.position == 0 => Standing::NothingSeen,
            None => Standing::Unknown,
            Some(head) if Self::of(head) == *self => Standing::Agrees,
            Some(_) => Standing::Differs,
        }
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.position, encoding::to_base64url(&self.prefix))
    }
}

impl FromStr for Witness {
    type Err = MalformedWitness;

    fn from_str(text: &str) -> Result<Self, MalformedWitness> {
        let (position, prefix) = text.trim().split_once(':').ok_or(MalformedWitness)?;
        // The parser of numbers takes a plus sign, which would be a second spelling.
        if !position.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(MalformedWitness);
        }
        let position = position.parse().map_err(|_| MalformedWitness)?;
        let prefix = encoding::array_from_base64url(prefix).ok_or(MalformedWitness)?;
        Ok(Self { position, prefix })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Divergence {
    #[error("we signed {shown} entries and have {have}: the end of the chain is gone")]
    Truncated { shown: u64, have: u64 },
    #[error("we signed another root for the first {position} entries: the past was rewritten")]
    Rewritten { position: u64 },
}

/// Whether a head somebody kept proves that our chain is not what we signed. A head that we did not sign proves nothing.
/// `ours` is the size of our chain and its root at the head's position, where it reaches that far.
pub fn divergence(shown: &TreeHead, key: PublicKey, ours: (u64, Option<Hash>)) -> Option<Divergence> {
    let (have, root) = ours;
    if !shown.is_signed_by(key) {
        return None;
    }
    match root {
        Some(root) if root == shown.root => None,
        Some(_) => Some(Divergence::Rewritten { position: shown.position }),
        None => Some(Divergence::Truncated { shown: shown.position, have }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Seed, SigningKey};
    use windlass_protocols::protocol::story_queue::vocabulary::{TenantId, Uuid};

    fn key(byte: u8) -> SigningKey {
        SigningKey::from_seed(Seed([byte; 32]))
    }

    fn head(position: u64, root: u8) -> TreeHead {
        TreeHead::sign(&key(9), TenantId(Uuid([1; 16])), position, [root; 32], 1_700_000_000)
    }

    #[test]
    fn the_header_is_read_as_it_is_written() {
        let witness = Witness::of(&head(7, 1));
        assert_eq!(witness.to_string().parse(), Ok(witness));
        assert_eq!(Witness::of_nothing().to_string(), "0:AAAAAAAAAAAAAAAAAAAAAA");
        for wrong in ["", "7", "7:", ":AAAAAAAAAAAAAAAAAAAAAA", "+7:AAAAAAAAAAAAAAAAAAAAAA", "7:AAAA", "-1:A"]
        {
            assert_eq!(wrong.parse::<Witness>(), Err(MalformedWitness), "{wrong}");
        }
    }

    /// The original hands out a placeholder before the first head, compares it with that head later and halts the tenant.
    #[test]
    fn having_seen_nothing_is_never_a_divergence() {
        let nothing: Witness = "0:AAAAAAAAAAAAAAAAAAAAAA".parse().unwrap();
        assert_eq!(nothing.compare(None), Standing::NothingSeen);
        assert_eq!(nothing.compare(Some(&head(0, 1))), Standing::NothingSeen);
        let odd: Witness = "0:BBBBBBBBBBBBBBBBBBBBBA".parse().unwrap();
        assert_eq!(odd.compare(Some(&head(0, 1))), Standing::NothingSeen);
    }

    #[test]
    fn a_remembered_head_agrees_differs_or_is_unknown() {
        let witness = Witness::of(&head(7, 1));
        assert_eq!(witness.compare(Some(&head(7, 1))), Standing::Agrees);
        assert_eq!(witness.compare(Some(&head(7, 2))), Standing::Differs);
        assert_eq!(witness.compare(None), Standing::Unknown);
    }

    #[test]
    fn only_a_head_under_our_own_signature_proves_a_divergence() {
        let key_of_ours = key(9).public();
        let shown = head(7, 1);
        assert_eq!(divergence(&shown, key_of_ours, (9, Some([1; 32]))), None);
        let rewritten = Divergence::Rewritten { position: 7 };
        assert_eq!(divergence(&shown, key_of_ours, (9, Some([2; 32]))), Some(rewritten));
        let truncated = Divergence::Truncated { shown: 7, have: 3 };
        assert_eq!(divergence(&shown, key_of_ours, (3, None)), Some(truncated));
        let invented = TreeHead { root: [5; 32], ..shown };
        assert_eq!(divergence(&invented, key_of_ours, (9, Some([1; 32]))), None);
        assert_eq!(divergence(&shown, key(8).public(), (3, None)), None);
    }
}
