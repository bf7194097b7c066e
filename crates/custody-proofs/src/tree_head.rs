//! Signed tree heads: "at this moment the chain had so many entries and this root", under the tenant's key. Two heads that
//! are not one the beginning of the other prove that somebody rewrote the past.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;

use crate::encoding;
use crate::keys::{PublicKey, Signature, SigningKey};
use crate::merkle::{self, Hash};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeHead {
    pub tenant: TenantId,
    /// How many entries it covers. Zero is the empty chain, of which there is nothing to disagree about.
    pub position: u64,
    #[serde(with = "encoding::hex")]
    pub root: Hash,
    /// Seconds since 1970.
    pub signed_at: u64,
    #[serde(with = "encoding::base64url")]
    pub signature: Signature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Inconsistent {
    #[error("the two heads are of different tenants")]
    OtherTenant,
    #[error("the later head covers fewer entries")]
    Shrunk,
    #[error("the later chain does not begin with the earlier one, or the proof is of other heads")]
    Rewritten,
}

impl TreeHead {
    pub fn sign(key: &SigningKey, tenant: TenantId, position: u64, root: Hash, signed_at: u64) -> Self {
        let signature = key.sign(&signed_bytes(tenant, position, &root, signed_at));
        Self { tenant, position, root, signed_at, signature }
    }

    pub fn is_signed_by(&self, key: PublicKey) -> bool {
        key.verify(&signed_bytes(self.tenant, self.position, &self.root, self.signed_at), &self.signature)
    }

    /// Whether the later head continues this one, by the hashes of [`merkle::consistency`]. Signatures are not looked at.
    pub fn is_continued_by(&self, later: &Self, proof: &[Hash]) -> Result<(), Inconsistent> {
        if self.tenant != later.tenant {
            return Err(Inconsistent::OtherTenant);
        }
        if self.position > later.position {
            return Err(Inconsistent::Shrunk);
        }
        let continued = merkle::extends((self.position, &self.root), (later.position, &later.root), proof);
        if continued { Ok(()) } else { Err(Inconsistent::Rewritten) }
    }
}

/// Every part has a fixed length: 64 bytes that can be read in one way only.
fn signed_bytes(tenant: TenantId, position: u64, root: &Hash, signed_at: u64) -> Vec<u8> {
    [&tenant.0.0[..], &position.to_be_bytes(), root, &signed_at.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Seed;
    use windlass_protocols::protocol::story_queue::vocabulary::Uuid;

    const TENANT: TenantId = TenantId(Uuid([1; 16]));

    fn key() -> SigningKey {
        SigningKey::from_seed(Seed([9; 32]))
    }

    fn head(entries: &[Hash]) -> TreeHead {
        TreeHead::sign(
            &key(),
            TENANT,
            entries.len().try_into().unwrap(),
            merkle::root(entries),
            1_700_000_000,
        )
    }

    #[test]
    fn a_signature_covers_tenant_position_root_and_moment() {
        let head = head(&[[1; 32], [2; 32]]);
        let key = key().public();
        assert!(head.is_signed_by(key));
        assert!(!TreeHead { tenant: TenantId(Uuid([2; 16])), ..head }.is_signed_by(key));
        assert!(!TreeHead { position: 3, ..head }.is_signed_by(key));
        assert!(!TreeHead { root: [3; 32], ..head }.is_signed_by(key));
        assert!(!TreeHead { signed_at: 1_700_000_001, ..head }.is_signed_by(key));
        assert!(!head.is_signed_by(SigningKey::from_seed(Seed([8; 32])).public()));
    }

    #[test]
    fn a_head_is_continued_by_what_grew_from_it_only() {
        let entries: Vec<Hash> = (0..7).map(|number| [number; 32]).collect();
        let (old, new) = (head(&entries[..3]), head(&entries));
        let proof = merkle::consistency(&entries, 3).unwrap();
        assert_eq!(old.is_continued_by(&new, &proof), Ok(()));
        assert_eq!(new.is_continued_by(&old, &proof), Err(Inconsistent::Shrunk));
        let mut rewritten = entries.clone();
        rewritten[1] = [99; 32];
        let proof = merkle::consistency(&rewritten, 3).unwrap();
        assert_eq!(old.is_continued_by(&head(&rewritten), &proof), Err(Inconsistent::Rewritten));
        let foreign = TreeHead { tenant: TenantId(Uuid([2; 16])), ..new };
        assert_eq!(old.is_continued_by(&foreign, &proof), Err(Inconsistent::OtherTenant));
    }

    #[test]
    fn a_head_is_read_as_it_is_written() {
        let text = serde_json::to_string(&head(&[[1; 32]])).unwrap();
        assert_eq!(serde_json::from_str::<TreeHead>(&text).unwrap(), head(&[[1; 32]]));
    }
}
