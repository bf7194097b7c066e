//! Proofs about the story queue that need no trust in the server: capability tokens that a holder can narrow and anybody
//! can check, tree heads over the audit chain, and exports that a third party verifies with a public key.
//! It knows neither routes nor the ledger; single use, roles and custody are decided in the core.
//! Reading order: `keys`, `capability`, `merkle`, `tree_head`, `witness`, `export`.

pub mod capability;
pub mod encoding;
pub mod export;
pub mod key_file;
pub mod key_history;
pub mod keys;
pub mod merkle;
pub mod tree_head;
pub mod witness;
