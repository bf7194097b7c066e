//! What others can check of a tenant's chain: the public key, signed tree heads, and the whole chain as one file. A head is made
//! when it is asked for: the root of so many entries is always the same, so nothing needs to be kept but the chain itself.

use crate::asked::Asked;
use crate::envelope;
use crate::route::Server;
use crate::service::{Proven, Service, millis};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use windlass_control_api::stories::Answer;
use windlass_custody_proofs::encoding;
use windlass_custody_proofs::export::{self, Known, verify_export, write_export};
use windlass_custody_proofs::key_history::KeyHistory;
use windlass_custody_proofs::merkle::{self, Hash};
use windlass_custody_proofs::tree_head::TreeHead;
use windlass_custody_proofs::witness::Witness;
use windlass_engine::{Journal, JournalError};
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;

/// The hashes of each chain as far as they were read.
#[derive(Default)]
pub(crate) struct Chains(Mutex<HashMap<TenantId, Vec<Hash>>>);

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
            .look(&self.journal, millis(asked.at), |registry, _| registry.tenant(tenant).is_some());
        match listed.await {
            Ok(true) => {}
            Ok(false) => return no_tenant(),
            Err(error) => return crate::service::unavailable(&error),
        }
        let answer = match what {
            Server::PublicKey => self.public_key(tenant, asked),
            Server::TreeHead => self.head_answer(tenant, asked).await,
            Server::ExportChain => self.export_chain(tenant, asked).await.map(|text| {
                let mut answer =
                    Answer::json(200, &json!(null)).with_header("x-content-type-options", "nosniff");
                answer.body = text.into_bytes();
                answer
            }),
            _ => self.verify_chain(tenant, asked).await,
        };
        answer.unwrap_or_else(|why| envelope::plain(503, Some("journal_unavailable"), &why))
    }

    /// PEM, or a JSON web key where JSON is asked for.
    fn public_key(&self, tenant: TenantId, asked: &Asked) -> Result<Answer, String> {
        let key = self.ring.key(tenant)?.public();
        if asked.header("accept").is_some_and(|accept| accept.contains("json")) {
            return Ok(Answer::json(200, &json!(key.to_jwk())));
        }
        let mut answer = Answer::json(200, &json!(null));
        answer.headers = vec![("content-type".to_owned(), "application/x-pem-file".to_owned())];
        answer.body = key.to_pem().into_bytes();
        Ok(answer)
    }

    async fn head_answer(&self, tenant: TenantId, asked: &Asked) -> Result<Answer, String> {
        let at = match asked.query_number("at") {
            Ok(at) => at,
            Err(refusal) => return Ok(Answer::json(422, &envelope::refusal(&refusal))),
        };
        let Some(head) = self.tree_head(tenant, at, asked).await? else {
            return Ok(envelope::plain(404, None, "the chain is not that long"));
        };
        let witness = Witness::of(&head).to_string();
        Ok(Answer::json(200, &json!({ "tree_head": head, "witness": witness }))
            .with_header("x-loopctl-current-sth", witness))
    }

    async fn tree_head(
        &self,
        tenant: TenantId,
        at: Option<u64>,
        asked: &Asked,
    ) -> Result<Option<TreeHead>, String> {
        let hashes = self.hashes(tenant).await.map_err(|error| error.to_string())?;
        let size = hashes.len() as u64;
        let position = at.unwrap_or(size);
        let Some(covered) = usize::try_from(position).ok().and_then(|count| hashes.get(..count)) else {
            return Ok(None);
        };
        let signer = self.ring.key(tenant)?;
        Ok(Some(TreeHead::sign(&signer, tenant, position, merkle::root(covered), asked.at.0 / 1_000_000)))
    }

    async fn hashes(&self, tenant: TenantId) -> Result<Vec<Hash>, JournalError> {
        let mut known =
            self.chains.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&tenant).unwrap_or_default();
        let stream = export::stream(tenant);
        for stored in self.journal.read(&stream, known.len() as u64).await? {
            let hash = encoding::array_from_hex(&stored.hash).ok_or_else(|| JournalError::Corrupt {
                run: stream.clone(),
                version: stored.version,
                why: "its hash is none".to_owned(),
            })?;
            known.push(hash);
        }
        self.chains.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant, known.clone());
        Ok(known)
    }

    async fn export_chain(&self, tenant: TenantId, asked: &Asked) -> Result<String, String> {
        let head = self.tree_head(tenant, None, asked).await?;
        let rows = self.journal.read(&export::stream(tenant), 0).await.map_err(|error| error.to_string())?;
        let signer = self.ring.key(tenant)?;
        // What was appended since the head was signed is left to the next export.
        let covered =
            head.map_or(0, |head| usize::try_from(head.position).unwrap_or(usize::MAX)).min(rows.len());
        let heads: Vec<TreeHead> = head.into_iter().collect();
        Ok(write_export(tenant, &KeyHistory::begin(signer.public()), &rows[..covered], &heads, &signer))
    }

    /// Exactly what a third party would do with the export.
    async fn verify_chain(&self, tenant: TenantId, asked: &Asked) -> Result<Answer, String> {
        let text = self.export_chain(tenant, asked).await?;
        let key = Some(self.ring.key(tenant)?.public());
        Ok(match verify_export(text.as_bytes(), Known { key, heads: &[] }) {
            Ok(verified) => Answer::json(
                200,
                &json!({ "verification": {
                "holds": true, "entries": verified.entries, "tree_head": verified.last,
            } }),
            ),
            Err(flawed) => Answer::json(
                200,
                &json!({ "verification": {
                "holds": false, "row": flawed.row, "why": flawed.flaw.to_string(),
            } }),
            ),
        })
    }
}

fn no_tenant() -> Answer {
    envelope::plain(404, None, "tenant not found")
}
