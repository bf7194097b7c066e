//! Whether a token opens what it is presented for. The order of the checks is fixed, so that a client can tell from the
//! code how far it got; all of them must pass, so what an earlier check said about a forged token gains nobody anything.

use thiserror::Error;
use windlass_protocols::protocol::story_queue::vocabulary::{
    AgentId, DispatchId, Micros, StoryId, TenantId, TokenId,
};

use super::{Capability, Grant, Opens};
use crate::keys::{PublicKey, SigningKey};

/// What a token is presented for, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Presentation<'a> {
    pub opens: Opens,
    pub tenant: TenantId,
    pub story: StoryId,
    pub agent: Option<AgentId>,
    pub lineage: &'a [DispatchId],
    pub at: Micros,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Rejected {
    /// Of another tenant: here it does not exist.
    #[error("there is no such token")]
    Invalid,
    #[error("the token opens another call")]
    WrongType,
    #[error("the token is for another story")]
    WrongStory,
    #[error("the token was made for somebody else")]
    WrongLineage,
    #[error("the token has expired")]
    Expired,
    #[error("the token was used before")]
    Replay,
    #[error("the signature does not hold")]
    InvalidSignature,
}

impl Rejected {
    /// Stable; clients tell the cases apart by it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Invalid => "invalid_capability",
            Self::WrongType => "wrong_type",
            Self::WrongStory => "wrong_story",
            Self::WrongLineage => "wrong_lineage",
            Self::Expired => "expired",
            Self::Replay => "replay",
            Self::InvalidSignature => "invalid_signature",
        }
    }
}

impl Capability {
    /// Offline: the tenant's public key is enough. Whether it was used is known to the ledger alone; who checks without
    /// one answers `false`.
    pub fn check(
        &self,
        tenant_key: PublicKey,
        shown: &Presentation<'_>,
        was_used: impl FnOnce(TokenId) -> bool,
    ) -> Result<&Grant, Rejected> {
        let grant = &self.grant;
        if grant.tenant != shown.tenant {
            return Err(Rejected::Invalid);
        }
        if grant.opens != shown.opens {
            return Err(Rejected::WrongType);
        }
        if grant.story != shown.story {
            return Err(Rejected::WrongStory);
        }
        if !self.is_for(shown) {
            return Err(Rejected::WrongLineage);
        }
        if shown.at >= self.ends() {
            return Err(Rejected::Expired);
        }
        if was_used(grant.nonce) {
            return Err(Rejected::Replay);
        }
        if !self.signatures_hold(tenant_key) {
            return Err(Rejected::InvalidSignature);
        }
        Ok(grant)
    }

    fn is_for(&self, shown: &Presentation<'_>) -> bool {
        let held = self
            .grant
            .holder
            .as_ref()
            .is_none_or(|holder| holder.agent == shown.agent && holder.lineage == shown.lineage);
        let mut bound = self.narrowings.iter().filter_map(|narrowing| narrowing.dispatch);
        held && bound.all(|dispatch| shown.lineage.contains(&dispatch))
    }

    /// Every block by the key that the one before it names, the first by the tenant; and the secret belongs to the last
    /// block, or else somebody cut off blocks that narrowed it.
    pub fn signatures_hold(&self, tenant_key: PublicKey) -> bool {
        let mut key = tenant_key;
        for (place, block) in self.blocks.iter().enumerate() {
            if !block.is_signed_by(key, place) {
                return false;
            }
            key = block.next;
        }
        SigningKey::from_seed(self.secret.clone()).public() == key
    }
}
