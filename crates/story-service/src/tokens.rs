//! Capability tokens on the wire: how one is written for its holder, and read when it comes back. Whether it was used, and
//! whether it opens this call, is the core's.

use crate::asked::Asked;
use sha2::{Digest, Sha256};
use windlass_custody_proofs::capability::{Capability, Grant, Holder, Opens, Presentation};
use windlass_custody_proofs::keys::Seed;
use windlass_protocols::protocol::story_queue::custody::{Presented, Signature, Token, TokenKind};
use windlass_protocols::protocol::story_queue::decide::Draft;
use windlass_protocols::protocol::story_queue::vocabulary::{StoryId, TokenId};

const fn opens(kind: TokenKind) -> Opens {
    match kind {
        TokenKind::StartCap => Opens::StartCap,
        TokenKind::ReportCap => Opens::ReportCap,
        TokenKind::VerifyCap => Opens::VerifyCap,
        TokenKind::ReviewCompleteCap => Opens::ReviewCompleteCap,
    }
}

pub(crate) fn text(draft: &Draft<'_>, asked: &Asked, token: &Token) -> String {
    let holder = token.holder.as_ref();
    let grant = Grant {
        opens: opens(token.kind),
        tenant: draft.ledger().tenancy.id.unwrap_or_default(),
        story: token.story,
        holder: holder.map(|holder| Holder { agent: holder.agent, lineage: holder.lineage.clone() }),
        issued: token.issued,
        expires: token.expires,
        nonce: token.id,
    };
    // One request may mint several; each has a secret of its own.
    let mut hasher = Sha256::new();
    hasher.update(asked.random);
    hasher.update(token.id.0.0);
    let seed = Seed(hasher.finalize().into());
    Capability::mint(&asked.signers.current, grant, seed).to_string()
}

/// From the body (`cap` or `capability`) or the header `x-capability`.
pub(crate) fn presented(
    draft: &Draft<'_>,
    asked: &Asked,
    story: StoryId,
    kind: TokenKind,
) -> Option<Presented> {
    let text =
        asked.text("cap").or_else(|| asked.text("capability")).or_else(|| asked.header("x-capability"))?;
    // What cannot be read is a token nobody issued.
    let Ok(capability) = text.parse::<Capability>() else {
        return Some(Presented { token: TokenId::default(), signature: Signature::Fails });
    };
    let caller = draft.caller();
    let shown = Presentation {
        opens: opens(kind),
        tenant: draft.ledger().tenancy.id.unwrap_or_default(),
        story,
        agent: caller.agent,
        lineage: &caller.lineage,
        at: draft.at(),
    };
    // Also what a holder took away must hold; the ledger knows only what was granted.
    let signers = &asked.signers;
    let holds = core::iter::once(&signers.current)
        .chain(&signers.former)
        .any(|signer| capability.check(signer.public(), &shown, |_| false).is_ok());
    let signature = if holds { Signature::Holds } else { Signature::Fails };
    Some(Presented { token: capability.claimed().nonce, signature })
}

/// Who verifies is drawn from what the implementer cannot steer: the tenant's key and the story.
pub(crate) fn draw(asked: &Asked, story: StoryId) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(asked.signers.current.public().0);
    hasher.update(story.0.0);
    let digest = hasher.finalize();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
