//! The tenants' signing keys: files that only their owner can read, or memory where nothing is to be kept.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_custody_proofs::key_file;
use windlass_custody_proofs::keys::SigningKey;
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;

pub struct KeyRing {
    /// Absent: keys live as long as this ring.
    directory: Option<PathBuf>,
    held: Mutex<HashMap<TenantId, Arc<SigningKey>>>,
}

impl KeyRing {
    pub fn in_memory() -> Self {
        Self { directory: None, held: Mutex::default() }
    }

    /// The directory is there; a key is made when a tenant first needs one.
    pub fn in_directory(directory: PathBuf) -> Self {
        Self { directory: Some(directory), held: Mutex::default() }
    }

    pub(crate) fn key(&self, tenant: TenantId) -> Result<Arc<SigningKey>, String> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = held.get(&tenant) {
            return Ok(Arc::clone(key));
        }
        let key = match &self.directory {
            Some(directory) => key_file::read_or_make(&directory.join(format!("{tenant}.pem")))
                .map_err(|error| format!("the audit key cannot be used: {error}"))?,
            None => SigningKey::from_seed(key_file::fresh_seed().map_err(|error| error.to_string())?),
        };
        let key = Arc::new(key);
        held.insert(tenant, Arc::clone(&key));
        Ok(key)
    }
}
