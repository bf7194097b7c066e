//! Which key signed for a tenant when. A new key is endorsed by the one before it, so that whoever trusts one key can
//! follow to all later ones; a retired key signs nothing after its time.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;

use crate::encoding;
use crate::keys::{PublicKey, Signature, SigningKey};

const DOMAIN: &[u8] = b"windlass audit key endorsement 1\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyPeriod {
    pub key: PublicKey,
    /// The first position of a tree head that this key signs.
    pub from: u64,
    /// By the key before it; the first has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endorsement: Option<Endorsement>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Endorsement(#[serde(with = "encoding::base64url")] pub Signature);

/// Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyHistory(Vec<KeyPeriod>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("key {number} of the tenant is not endorsed by the one before it")]
pub struct NotEndorsed {
    /// Counted from 1.
    pub number: usize,
}

impl KeyHistory {
    pub fn begin(key: PublicKey) -> Self {
        Self(vec![KeyPeriod { key, from: 0, endorsement: None }])
    }

    /// The old key endorses the new one for all heads from this position on.
    pub fn rotate(&mut self, tenant: TenantId, old: &SigningKey, new: PublicKey, from: u64) {
        let endorsement = Endorsement(old.sign(&signed_bytes(tenant, new, from)));
        self.0.push(KeyPeriod { key: new, from, endorsement: Some(endorsement) });
    }

    /// A period that was kept; whether it is endorsed is for `verify`.
    pub fn follow(&mut self, period: KeyPeriod) {
        self.0.push(period);
    }

    pub fn periods(&self) -> &[KeyPeriod] {
        &self.0
    }

    pub fn current(&self) -> Option<PublicKey> {
        self.0.last().map(|period| period.key)
    }

    /// The key that signs a head at this position.
    pub fn key_at(&self, position: u64) -> Option<PublicKey> {
        self.0.iter().rev().find(|period| period.from <= position).map(|period| period.key)
    }

    pub fn verify(&self, tenant: TenantId) -> Result<(), NotEndorsed> {
        let begins_well = self.0.first().is_some_and(|first| first.from == 0 && first.endorsement.is_none());
        if !begins_well {
            return Err(NotEndorsed { number: 1 });
        }
        for (place, pair) in self.0.windows(2).enumerate() {
            let [old, new] = pair else { continue };
            let message = signed_bytes(tenant, new.key, new.from);
            let endorsed =
                new.endorsement.is_some_and(|Endorsement(signed)| old.key.verify(&message, &signed));
            if !endorsed || new.from < old.from {
                return Err(NotEndorsed { number: place + 2 });
            }
        }
        Ok(())
    }
}

fn signed_bytes(tenant: TenantId, key: PublicKey, from: u64) -> Vec<u8> {
    [DOMAIN, &tenant.0.0, &from.to_be_bytes(), &key.0].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Seed;
    use windlass_protocols::protocol::story_queue::vocabulary::Uuid;

    const TENANT: TenantId = TenantId(Uuid([1; 16]));

    fn key(byte: u8) -> SigningKey {
        SigningKey::from_seed(Seed([byte; 32]))
    }

    #[test]
    fn a_new_key_is_believed_when_the_old_one_endorsed_it_for_this_tenant_and_time() {
        let mut history = KeyHistory::begin(key(1).public());
        history.rotate(TENANT, &key(1), key(2).public(), 10);
        assert_eq!(history.verify(TENANT), Ok(()));
        assert_eq!(history.key_at(9), Some(key(1).public()));
        assert_eq!(history.key_at(10), Some(key(2).public()));
        assert_eq!(history.verify(TenantId(Uuid([2; 16]))), Err(NotEndorsed { number: 2 }));
        let mut earlier = history.clone();
        earlier.0[1].from = 5;
        assert_eq!(earlier.verify(TENANT), Err(NotEndorsed { number: 2 }));
        history.rotate(TENANT, &key(1), key(3).public(), 20);
        assert_eq!(history.verify(TENANT), Err(NotEndorsed { number: 3 }), "the retired key endorses nobody");
    }

    #[test]
    fn a_history_has_a_beginning() {
        assert_eq!(
            serde_json::from_str::<KeyHistory>("[]").unwrap().verify(TENANT),
            Err(NotEndorsed { number: 1 })
        );
    }
}
