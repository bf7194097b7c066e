//! What was signed of a tenant's chain, kept in a stream of its own: tree heads, one for a position and for ever, and the keys
//! that signed them. A head is signed when the chain has grown; before that it is held against the last one, because a chain
//! that does not continue what was signed proves that somebody rewrote it, and custody stands still.

use crate::asked::Signers;
use crate::operator::{OperatorError, OperatorName};
use crate::service::{Service, millis};
use crate::stream::{Fold, Stream, StreamError};
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_custody_proofs::export;
use windlass_custody_proofs::key_history::{KeyHistory, KeyPeriod};
use windlass_custody_proofs::keys::{PublicKey, SigningKey};
use windlass_custody_proofs::merkle::{self, Hash};
use windlass_custody_proofs::tree_head::TreeHead;
use windlass_custody_proofs::witness::divergence;
use windlass_engine::{Journal, JournalError};
use windlass_protocols::RunId;
use windlass_protocols::protocol::story_queue::custody;
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::heads;
use windlass_protocols::protocol::story_queue::registry::Tenant;
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, TenantId};

#[derive(Debug, Default)]
pub(crate) struct Heads {
    by_position: BTreeMap<u64, TreeHead>,
    /// Without the first key, which has nobody before it who could endorse it.
    later_keys: Vec<KeyPeriod>,
    /// What cannot be read; nothing is signed over it.
    unreadable: Option<String>,
}

impl Fold for Heads {
    fn evolve(&mut self, entry: &Entry) {
        let Change::Heads(change) = &entry.change else { return };
        let read = match change {
            heads::Change::Signed { position, head } => serde_json::from_str(head.as_str()).map(|head| {
                self.by_position.entry(*position).or_insert(head);
            }),
            heads::Change::KeyTaken { period } => {
                serde_json::from_str(period.as_str()).map(|period| self.later_keys.push(period))
            }
        };
        self.unreadable = self.unreadable.take().or(read.err().map(|error| error.to_string()));
    }
}

impl Heads {
    pub(crate) fn last(&self) -> Option<TreeHead> {
        self.by_position.last_key_value().map(|(_, head)| *head)
    }

    pub(crate) fn at(&self, position: u64) -> Option<TreeHead> {
        self.by_position.get(&position).copied()
    }

    /// The first that covers so many entries.
    pub(crate) fn covering(&self, position: u64) -> Option<TreeHead> {
        self.by_position.range(position..).next().map(|(_, head)| *head)
    }

    pub(crate) fn all(&self) -> Vec<TreeHead> {
        self.by_position.values().copied().collect()
    }

    /// Counted from 1.
    pub(crate) fn key_number(&self) -> usize {
        self.later_keys.len() + 1
    }

    pub(crate) fn keys(&self, first: PublicKey) -> KeyHistory {
        let mut history = KeyHistory::begin(first);
        self.later_keys.iter().for_each(|period| history.follow(*period));
        history
    }
}

/// Where a tenant's heads are, in the journal.
pub(crate) fn stream_name(tenant: TenantId) -> RunId {
    RunId::new(format!("story-heads:{tenant}"))
}

impl<J: Journal + Send + Sync> Service<J> {
    /// Every minute and at the end: whatever has grown since its last head gets a new one.
    pub async fn sign_heads(&self) -> Result<(), OperatorError> {
        for tenant in self.tenants().await? {
            self.sign_head(tenant.id).await?;
        }
        Ok(())
    }

    /// The head of the chain as it is now, kept; none of a chain that is empty or is not what was signed.
    pub(crate) async fn sign_head(&self, tenant: TenantId) -> Result<Option<TreeHead>, OperatorError> {
        let hashes = self.hashes(tenant).await.map_err(StreamError::from)?;
        if let Some(why) = self.rewritten(tenant, &hashes).await? {
            self.inside(tenant, |draft| custody::halt(draft, why)).await??;
            return Ok(None);
        }
        let position = hashes.len() as u64;
        if position == 0 {
            return Ok(None);
        }
        let at = self.now();
        let sign = |heads: &mut Heads, _: &crate::feed::Feed| {
            // Somebody else was faster, and further.
            if let Some(kept) = heads.last().filter(|kept| kept.position >= position) {
                return (Ok(Some(kept)), Vec::new());
            }
            let signed = self.ring.numbered(tenant, heads.key_number()).map(|signer| {
                TreeHead::sign(&signer, tenant, position, merkle::root(&hashes), at.0 / 1_000_000)
            });
            match signed {
                Ok(head) => {
                    let text = JsonText(serde_json::json!(head).to_string());
                    let entry = self.entry(heads::Change::Signed { position, head: text });
                    heads.evolve(&entry);
                    (Ok(Some(head)), vec![entry])
                }
                Err(why) => (Err(why), Vec::new()),
            }
        };
        let signed = self.heads(tenant).decide(&self.journal, millis(at), sign).await?;
        signed.map_err(failed)
    }

    /// Why the chain cannot be the one that the last head was signed over.
    async fn rewritten(&self, tenant: TenantId, hashes: &[Hash]) -> Result<Option<String>, OperatorError> {
        let at = millis(self.now());
        let look = |heads: &Heads, _: &crate::feed::Feed| {
            (heads.last(), heads.key_number(), heads.later_keys.clone(), heads.unreadable.clone())
        };
        let known = self.heads(tenant).look(&self.journal, at, look).await?;
        let (last, number, periods, unreadable) = known;
        if let Some(why) = unreadable {
            return Ok(Some(format!("a tree head that was kept cannot be read: {why}")));
        }
        let listed =
            self.registry.look(&self.journal, at, |registry, _| registry.tenant(tenant).cloned()).await?;
        if let Some(listed) = listed
            && let Some(why) = self.taken_head(&listed).await?
        {
            return Ok(Some(why));
        }
        let Some(last) = last else { return Ok(None) };
        let before =
            periods.last().filter(|period| period.from > last.position).map_or(number, |_| number - 1);
        let signer = self.ring.numbered(tenant, before).map_err(failed)?;
        if !last.is_signed_by(signer.public()) {
            return Ok(Some(format!("the head kept for {} entries is not one we signed", last.position)));
        }
        let covered = usize::try_from(last.position).ok().and_then(|count| hashes.get(..count));
        let ours = (hashes.len() as u64, covered.map(merkle::root));
        Ok(divergence(&last, signer.public(), ours).map(|found| found.to_string()))
    }

    /// Why not all heads of a tenant can be there that were kept: the first one was signed before anybody heard of the tenant.
    pub(crate) async fn taken_head(&self, tenant: &Tenant) -> Result<Option<String>, OperatorError> {
        let Some(first) = tenant.first_head else { return Ok(None) };
        let there = |heads: &Heads| heads.at(first).is_some();
        let there = self.heads(tenant.id).peek(&self.journal, millis(self.now()), there).await?;
        Ok((!there).then(|| {
            format!("the tree head that was signed at the founding, over {first} entries, was taken away")
        }))
    }

    /// The key that signs for a tenant now.
    pub(crate) async fn signer(&self, tenant: TenantId) -> Result<Arc<SigningKey>, String> {
        let number = self.key_number(tenant).await?;
        self.ring.numbered(tenant, number)
    }

    pub(crate) async fn key_number(&self, tenant: TenantId) -> Result<usize, String> {
        let at = millis(self.now());
        let number = self.heads(tenant).peek(&self.journal, at, Heads::key_number).await;
        number.map_err(|error| error.to_string())
    }

    pub(crate) async fn signers(&self, tenant: TenantId) -> Result<Signers, String> {
        let number = self.key_number(tenant).await?;
        let former = (number > 1).then(|| self.ring.numbered(tenant, number - 1)).transpose()?;
        Ok(Signers { current: self.ring.numbered(tenant, number)?, number, former })
    }

    /// For what belongs to no tenant.
    pub(crate) fn nobodys_signers(&self) -> Result<Signers, String> {
        Ok(Signers { current: self.ring.nobodys()?, number: 1, former: None })
    }

    pub(crate) async fn key_history(&self, tenant: TenantId) -> Result<KeyHistory, String> {
        let first = self.ring.numbered(tenant, 1)?.public();
        let at = millis(self.now());
        let keys = self.heads(tenant).look(&self.journal, at, |heads, _| heads.keys(first)).await;
        keys.map_err(|error| error.to_string())
    }

    /// The key that signs now, and the one after it, which is made for this.
    pub(crate) async fn key_and_next(
        &self,
        tenant: TenantId,
    ) -> Result<(PublicKey, PublicKey), OperatorError> {
        let number = self.key_number(tenant).await.map_err(failed)?;
        let key =
            |number| Ok::<_, OperatorError>(self.ring.numbered(tenant, number).map_err(failed)?.public());
        Ok((key(number)?, key(number + 1)?))
    }

    /// The old key signs what it answers for, endorses the new one, and signs no more.
    pub(crate) async fn rotate_key(&self, tenant: TenantId) -> Result<PublicKey, OperatorError> {
        self.sign_head(tenant).await?;
        let first = self.ring.numbered(tenant, 1).map_err(failed)?.public();
        let take = |heads: &mut Heads, _: &crate::feed::Feed| {
            let number = heads.key_number();
            let keys = self
                .ring
                .numbered(tenant, number)
                .and_then(|old| Ok((old, self.ring.numbered(tenant, number + 1)?)));
            let (old, new) = match keys {
                Ok(keys) => keys,
                Err(why) => return (Err(why), Vec::new()),
            };
            let mut history = heads.keys(first);
            let from = heads.last().map_or(0, |last| last.position) + 1;
            history.rotate(tenant, &old, new.public(), from);
            let period = JsonText(serde_json::json!(history.periods().last()).to_string());
            let entry = self.entry(heads::Change::KeyTaken { period });
            heads.evolve(&entry);
            (Ok(new.public()), vec![entry])
        };
        let taken = self.heads(tenant).decide(&self.journal, millis(self.now()), take).await?;
        taken.map_err(failed)
    }

    fn entry(&self, change: heads::Change) -> Entry {
        let by = OperatorName("server".to_owned()).actor();
        Entry { at: self.now(), by, project: None, change: Change::Heads(change) }
    }

    /// Of each entry of a tenant's chain as far as it is durable.
    pub(crate) async fn hashes(&self, tenant: TenantId) -> Result<Vec<Hash>, JournalError> {
        let mut known = self.chains.take(tenant);
        let stream = export::stream(tenant);
        for stored in self.journal.read(&stream, known.len() as u64).await? {
            let hash = windlass_custody_proofs::encoding::array_from_hex(&stored.hash);
            known.push(hash.ok_or_else(|| JournalError::Corrupt {
                run: stream.clone(),
                version: stored.version,
                why: "its hash is none".to_owned(),
            })?);
        }
        self.chains.put_back(tenant, known.clone());
        Ok(known)
    }

    pub(crate) fn heads(&self, tenant: TenantId) -> Arc<Stream<Heads>> {
        self.heads.of(tenant, || stream_name(tenant))
    }
}

/// A key that cannot be used keeps a tenant from being answered for, as a journal does that cannot be written.
fn failed(why: String) -> OperatorError {
    StreamError::from(JournalError::Unavailable { why }).into()
}
