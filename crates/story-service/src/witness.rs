//! What clients remember of the chain, held against what was kept. A client that was shown another head than the one we keep is
//! refused: either it made that up, or there are two histories. Custody stands still only where our own chain does not continue
//! what we signed, or somebody shows a whole head under our signature that it does not; a header alone proves nothing.

use crate::asked::Asked;
use crate::envelope;
use crate::service::{Early, Proven, Service, millis, unavailable};
use serde_json::json;
use windlass_control_api::stories::{Answer, Call};
use windlass_custody_proofs::merkle;
use windlass_custody_proofs::tree_head::TreeHead;
use windlass_custody_proofs::witness::{Standing, Witness, divergence};
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::custody;
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
use windlass_protocols::protocol::story_queue::vocabulary::{Micros, TenantId};

const REMEMBERED: &str = "x-loopctl-last-known-sth";
const BOOTSTRAP: &str = "x-loopctl-sth-bootstrap";
pub(crate) const CURRENT: &str = "x-loopctl-current-sth";

impl<J: Journal + Send + Sync> Service<J> {
    /// What the answer says of the chain; or why there is none.
    pub(crate) async fn witnessed(&self, call: &Call, proven: &Proven, at: Micros) -> Early<Option<Witness>> {
        let Some((tenant, stream)) = &proven.tenant else { return Ok(None) };
        let shown = match call.header(REMEMBERED) {
            None => None,
            Some(text) => Some(text.parse::<Witness>().map_err(|why| {
                envelope::plain(
                    428,
                    Some(RefusalCode::WitnessHeaderMalformed),
                    &format!("{REMEMBERED}: {why}"),
                )
            })?),
        };
        let looked = |heads: &crate::heads::Heads| {
            (heads.last(), shown.map(|shown| shown.compare(heads.at(shown.position).as_ref())))
        };
        let heads = self.heads(*tenant).peek(&self.journal, millis(at), looked).await;
        let (last, standing) = heads.map_err(|error| unavailable(&error))?;
        let current = last.map_or_else(Witness::of_nothing, |head| Witness::of(&head));
        match (shown, standing) {
            (None, _) if call.header(BOOTSTRAP).is_none() => {
                let required = |ledger: &Ledger| ledger.tenancy.settings.require_witness_header;
                let required = stream.peek(&self.journal, millis(at), required).await;
                if required.map_err(|error| unavailable(&error))? {
                    return Err(missing());
                }
            }
            (Some(shown), Some(Standing::Differs)) => {
                return Err(self.diverged(*tenant, shown, current).await);
            }
            // We keep what we hand out: of a position that lies behind us and is not kept we never said anything.
            (Some(shown), Some(Standing::Unknown)) if shown.position <= current.position => {
                return Err(self.diverged(*tenant, shown, current).await);
            }
            _ => {}
        }
        Ok(Some(current))
    }

    /// Whose history is wrong is not known yet: our own is looked at.
    async fn diverged(&self, tenant: TenantId, shown: Witness, current: Witness) -> Answer {
        // What cannot be looked at now is looked at within a minute.
        let _ = self.sign_head(tenant).await;
        let message = format!(
            "you were shown another head of the audit chain for {} entries than the one kept here",
            shown.position
        );
        let mut answer = envelope::plain(409, Some(RefusalCode::WitnessDivergence), &message);
        let mut body = answer.value();
        body["error"]["context"] = json!({ "shown": shown.to_string(), "current": current.to_string() });
        answer.body = body.to_string().into_bytes();
        answer.with_header(CURRENT, current.to_string())
    }

    /// A whole head that somebody kept: what it proves, and what follows from that.
    pub(crate) async fn shown_head(&self, tenant: TenantId, asked: &Asked) -> Result<Answer, String> {
        let refused = |why: &str| Ok(envelope::plain(422, Some(RefusalCode::TreeHeadMalformed), why));
        let Some(Ok(head)) = asked.value("tree_head").cloned().map(serde_json::from_value::<TreeHead>) else {
            return refused("tree_head must be a whole signed head, as GET /audit/sth gives it");
        };
        let keys = self.key_history(tenant).await?;
        let signed =
            keys.key_at(head.position).filter(|key| head.tenant == tenant && head.is_signed_by(*key));
        let Some(key) = signed else {
            return refused("this head is not signed by the tenant's key of that time, so it proves nothing");
        };
        let hashes = self.hashes(tenant).await.map_err(|error| error.to_string())?;
        let covered = usize::try_from(head.position).ok().and_then(|count| hashes.get(..count));
        let Some(found) = divergence(&head, key, (hashes.len() as u64, covered.map(merkle::root))) else {
            return Ok(Answer::json(200, &json!({ "continues": true, "position": head.position })));
        };
        let halted = self.inside(tenant, |draft| custody::halt(draft, found.to_string())).await;
        halted.map_err(|error| error.to_string())?.map_err(|refusal| refusal.message)?;
        Ok(envelope::plain(
            409,
            Some(RefusalCode::WitnessDivergence),
            &format!("{found}; custody stands still"),
        ))
    }
}

fn missing() -> Answer {
    let message =
        format!("this tenant wants to hear which tree head you saw last: {REMEMBERED}, or {BOOTSTRAP}: true");
    envelope::plain(428, Some(RefusalCode::WitnessHeaderMissing), &message)
}
