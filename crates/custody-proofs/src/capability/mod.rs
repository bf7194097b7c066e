//! Capability tokens: a chain of signed blocks. The first block says what is granted and is signed with the tenant's key.
//! Each block names the public half of a fresh key whose secret half travels with the token; whoever holds it can add a
//! block that only takes away, and hands on the new secret instead of the old one. So a holder narrows a token without
//! asking anybody, nobody can widen it or cut a block off, and the tenant's public key is all it takes to check one.

mod block;
mod check;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use windlass_protocols::protocol::story_queue::vocabulary::{
    AgentId, DispatchId, Micros, StoryId, TenantId, TokenId,
};

use crate::encoding;
use crate::keys::{Seed, SigningKey};
use block::Block;
pub use check::{Presentation, Rejected};

/// Marks the text as ours and says which rules it was made under.
const MARK: &str = "wcap1";
/// More hands than any dispatch tree is deep; checking stays bounded whatever comes in.
const MOST_BLOCKS: usize = 16;
/// A lineage of a hundred dispatches fits; a request header does not grow without end.
const LONGEST_TEXT: usize = 8192;

/// What a token opens: one call on one story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opens {
    StartCap,
    ReportCap,
    ReviewCompleteCap,
    VerifyCap,
}

/// Who may use it. The rules of the call hold besides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    pub agent: Option<AgentId>,
    /// Root to self; empty for a key that belongs to no dispatch.
    pub lineage: Vec<DispatchId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    pub opens: Opens,
    pub tenant: TenantId,
    pub story: StoryId,
    /// Absent for a token that is handed on to somebody not known yet; such a one should be narrowed to a dispatch.
    pub holder: Option<Holder>,
    pub issued: Micros,
    pub expires: Micros,
    /// By this the ledger knows whether it was used.
    pub nonce: TokenId,
}

/// What a holder takes away. All of them hold together, so that adding one never allows more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Narrowing {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Micros>,
    /// Only this dispatch, and what it dispatches itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<DispatchId>,
}

/// A token as text may say anything; nothing of it is true before [`Capability::check`].
#[derive(Clone, PartialEq, Eq)]
pub struct Capability {
    grant: Grant,
    narrowings: Vec<Narrowing>,
    blocks: Vec<Block>,
    /// The secret half of the key the last block names.
    secret: Seed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a capability token")]
pub struct NotACapability;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the token was narrowed as often as it can be")]
pub struct TooNarrow;

impl Capability {
    /// The seed is random and used for nothing else.
    pub fn mint(tenant_key: &SigningKey, grant: Grant, seed: Seed) -> Self {
        let payload = serde_json::to_string(&grant).expect("a grant has only ids and numbers");
        let blocks = vec![Block::sign(tenant_key, 0, payload, &SigningKey::from_seed(seed.clone()))];
        Self { grant, narrowings: Vec::new(), blocks, secret: seed }
    }

    /// Needs no key but the one inside, and no server.
    pub fn narrow(mut self, narrowing: Narrowing, seed: Seed) -> Result<Self, TooNarrow> {
        if self.blocks.len() == MOST_BLOCKS {
            return Err(TooNarrow);
        }
        let payload = serde_json::to_string(&narrowing).expect("a narrowing has only ids and numbers");
        let holder = SigningKey::from_seed(self.secret);
        let next = SigningKey::from_seed(seed.clone());
        self.blocks.push(Block::sign(&holder, self.blocks.len(), payload, &next));
        self.narrowings.push(narrowing);
        Ok(Self { secret: seed, ..self })
    }

    /// What it claims to be, to look it up by; not checked.
    pub fn claimed(&self) -> &Grant {
        &self.grant
    }

    /// When the last of its hands wanted it to end; not checked.
    pub fn ends(&self) -> Micros {
        let narrowed = self.narrowings.iter().filter_map(|narrowing| narrowing.expires);
        narrowed.fold(self.grant.expires, Micros::min)
    }
}

/// The text is a secret: whoever has it, and is who it was made for, may use it.
impl fmt::Debug for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capability")
            .field("grant", &self.grant)
            .field("narrowings", &self.narrowings)
            .finish_non_exhaustive()
    }
}

/// `wcap1.<block>.<block>.….<secret>`
impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MARK)?;
        for block in &self.blocks {
            write!(f, ".{block}")?;
        }
        write!(f, ".{}", encoding::to_base64url(&self.secret.0))
    }
}

impl FromStr for Capability {
    type Err = NotACapability;

    fn from_str(text: &str) -> Result<Self, NotACapability> {
        if text.len() > LONGEST_TEXT {
            return Err(NotACapability);
        }
        let parts: Vec<&str> = text.split('.').collect();
        let [MARK, blocks @ .., secret] = parts.as_slice() else {
            return Err(NotACapability);
        };
        if blocks.len() > MOST_BLOCKS {
            return Err(NotACapability);
        }
        let blocks: Vec<Block> = blocks.iter().map(|block| block.parse()).collect::<Result<_, _>>()?;
        let (first, later) = blocks.split_first().ok_or(NotACapability)?;
        let grant = first.read()?;
        let narrowings = later.iter().map(Block::read).collect::<Result<_, _>>()?;
        let secret = encoding::array_from_base64url(secret).map(Seed).ok_or(NotACapability)?;
        Ok(Self { grant, narrowings, blocks, secret })
    }
}
