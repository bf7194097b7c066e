//! The audit chain of a tenant in one file for a third party: JSON lines with the tenant and its keys, every row, the tree
//! heads, and a seal over all bytes before it. Nothing but the file is needed to check it; whether its key is the tenant's
//! is for whoever got the key, or an earlier head, another way.

#[cfg(test)]
mod tests;
mod verify;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use windlass_engine::Stored;
use windlass_protocols::RunId;
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;

use crate::encoding;
use crate::key_history::KeyHistory;
use crate::keys::{Signature, SigningKey};
use crate::tree_head::TreeHead;
pub use verify::{Flaw, Flawed, Known, Verified, verify_export};

const FORMAT: &str = "windlass-story-audit-1";
const SEAL_DOMAIN: &[u8] = b"windlass audit export seal 1\n";

/// The stream of the journal that holds a tenant's entries; its name is what the first row is chained to.
pub fn stream(tenant: TenantId) -> RunId {
    RunId::new(format!("stories:{tenant}"))
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Export(Opening),
    Row(Row),
    Head(TreeHead),
    Seal(Seal),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    format: String,
    tenant: TenantId,
    keys: KeyHistory,
}

/// As the journal stored it; the payload to the byte, for it is what was hashed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    version: u64,
    at: u64,
    payload: String,
    hash: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seal {
    #[serde(with = "encoding::base64url")]
    signature: Signature,
}

/// The last head must cover every row: sign one before you export. The key is the tenant's current one.
pub fn write_export(
    tenant: TenantId,
    keys: &KeyHistory,
    rows: &[Stored],
    heads: &[TreeHead],
    key: &SigningKey,
) -> String {
    let mut text = String::new();
    put(&mut text, &Line::Export(Opening { format: FORMAT.to_owned(), tenant, keys: keys.clone() }));
    for row in rows {
        let Stored { version, at, payload, hash } = row.clone();
        put(&mut text, &Line::Row(Row { version, at: at.0, payload, hash }));
    }
    for head in heads {
        put(&mut text, &Line::Head(*head));
    }
    let signature = key.sign(&sealed_bytes(text.as_bytes()));
    put(&mut text, &Line::Seal(Seal { signature }));
    text
}

fn put(text: &mut String, line: &Line) {
    text.push_str(&serde_json::to_string(line).expect("a line has only texts and numbers"));
    text.push('\n');
}

fn sealed_bytes(before: &[u8]) -> Vec<u8> {
    [SEAL_DOMAIN, &Sha256::digest(before)].concat()
}
