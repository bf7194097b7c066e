//! What others can check of a tenant's chain: the public keys, the tree heads that were kept, and the whole chain as one file.

use crate::asked::Asked;
use crate::envelope;
use crate::heads::Heads;
use crate::route::Server;
use crate::service::{Proven, Service, millis};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use windlass_control_api::stories::Answer;
use windlass_custody_proofs::export::{self, Known, verify_export, write_export};
use windlass_custody_proofs::merkle::Hash;
use windlass_custody_proofs::witness::Witness;
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
use windlass_protocols::protocol::story_queue::registry::Tenant;
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;

/// The hashes of each chain as far as they were read.
#[derive(Default)]
pub(crate) struct Chains(Mutex<HashMap<TenantId, Vec<Hash>>>);

impl Chains {
    pub(crate) fn take(&self, tenant: TenantId) -> Vec<Hash> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&tenant).unwrap_or_default()
    }

    pub(crate) fn put_back(&self, tenant: TenantId, hashes: Vec<Hash>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant, hashes);
    }
}

impl<J: Journal + Send + Sync> Service<J> {
    pub(crate) async fn prove_to_others(
        &self,
        what: Server,
        proven: Option<Proven>,
        asked: &Asked,
    ) -> Answer {
        let own = proven.and_then(|proven| proven.tenant).map(|(tenant, _)| tenant);
        let named = || asked.parameter("id").parse::<TenantId>().ok();
        let Some(tenant) = own.or_else(named) else { return no_tenant() };
        let listed = self
            .registry
            .look(&self.journal, millis(asked.at), |registry, _| registry.tenant(tenant).cloned());
        let listed = match listed.await {
            Ok(Some(listed)) => listed,
            Ok(None) => return no_tenant(),
            Err(error) => return crate::service::unavailable(&error),
        };
        let answer = match what {
            Server::PublicKey => self.public_key(tenant, asked).await,
            Server::TreeHead => self.head_answer(tenant, asked).await,
            Server::ExportChain => self.export_chain(tenant).await.map(|text| {
                let mut answer =
                    Answer::json(200, &json!(null)).with_header("x-content-type-options", "nosniff");
                answer.body = text.into_bytes();
                answer
            }),
            Server::ShowHead => self.shown_head(tenant, asked).await,
            _ => self.verify_chain(&listed).await,
        };
        answer.unwrap_or_else(|why| envelope::plain(503, Some(RefusalCode::JournalUnavailable), &why))
    }

    /// PEM, or a JSON web key where JSON is asked for.
    async fn public_key(&self, tenant: TenantId, asked: &Asked) -> Result<Answer, String> {
        let key = self.signer(tenant).await?.public();
        if asked.header("accept").is_some_and(|accept| accept.contains("json")) {
            return Ok(Answer::json(200, &json!(key.to_jwk())));
        }
        let mut answer = Answer::json(200, &json!(null));
        answer.headers = vec![("content-type".to_owned(), "application/x-pem-file".to_owned())];
        answer.body = key.to_pem().into_bytes();
        Ok(answer)
    }

    /// The last one; or the first that covers so many entries. With the keys, for a head of an earlier key stays good.
    async fn head_answer(&self, tenant: TenantId, asked: &Asked) -> Result<Answer, String> {
        let at = match asked.query_number("at") {
            Ok(at) => at,
            Err(refusal) => return Ok(Answer::json(422, &envelope::refusal(&refusal))),
        };
        let look = |heads: &Heads, _: &crate::feed::Feed| match at {
            Some(at) => heads.covering(at),
            None => heads.last(),
        };
        let kept = self.heads(tenant).look(&self.journal, millis(asked.at), look).await;
        let kept = match (kept.map_err(|error| error.to_string())?, at) {
            // Nobody has seen a head yet: the first is signed for whoever asks first.
            (None, None) => self.sign_head(tenant).await.map_err(|error| error.to_string())?,
            (kept, _) => kept,
        };
        let Some(head) = kept else {
            let why = "no head covers that yet; one is signed every minute in which the chain has grown";
            return Ok(envelope::plain(404, None, why));
        };
        let keys = self.key_history(tenant).await?;
        let witness = Witness::of(&head).to_string();
        let signed_by = keys.key_at(head.position).map(windlass_custody_proofs::keys::PublicKey::to_pem);
        let body = json!({ "tree_head": head, "witness": witness, "public_key": signed_by, "keys": keys });
        Ok(Answer::json(200, &body).with_header("x-loopctl-current-sth", witness))
    }

    async fn export_chain(&self, tenant: TenantId) -> Result<String, String> {
        self.sign_head(tenant).await.map_err(|error| error.to_string())?;
        let at = millis(self.now());
        let heads = self.heads(tenant).look(&self.journal, at, |heads, _| heads.all()).await;
        let heads = heads.map_err(|error| error.to_string())?;
        let rows = self.journal.read(&export::stream(tenant), 0).await.map_err(|error| error.to_string())?;
        // What was appended since the last head was signed is left to the next export. Without any head nothing is left out: whoever
        // checks it shall see that nobody answers for it.
        let covered =
            heads.last().map_or(rows.len(), |head| usize::try_from(head.position).unwrap_or(usize::MAX));
        let keys = self.key_history(tenant).await?;
        let signer = self.signer(tenant).await?;
        Ok(write_export(tenant, &keys, &rows[..covered.min(rows.len())], &heads, &signer))
    }

    /// Exactly what a third party would do with the export, and one thing more that only this server knows.
    async fn verify_chain(&self, tenant: &Tenant) -> Result<Answer, String> {
        let text = self.export_chain(tenant.id).await?;
        let key = Some(self.ring.numbered(tenant.id, 1)?.public());
        let taken = self.taken_head(tenant).await.map_err(|error| error.to_string())?;
        let verification = match (verify_export(text.as_bytes(), Known { key, heads: &[] }), taken) {
            (_, Some(why)) => json!({ "holds": false, "row": null, "why": why }),
            (Ok(verified), None) => json!({
                "holds": true, "entries": verified.entries, "tree_heads": verified.heads, "tree_head": verified.last,
                "uncovered_entries": verified.entries.saturating_sub(verified.last.map_or(0, |last| last.position)),
            }),
            (Err(flawed), None) => {
                json!({ "holds": false, "row": flawed.row, "why": flawed.flaw.to_string() })
            }
        };
        Ok(Answer::json(200, &json!({ "verification": verification })))
    }
}

fn no_tenant() -> Answer {
    envelope::plain(404, None, "tenant not found")
}
