//! The tenants' signing keys: files that only their owner can read, or memory where nothing is to be kept. A tenant's keys are
//! numbered from 1; which one signs now is said by what was kept of its heads, not by which files there are.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_custody_proofs::key_file;
use windlass_custody_proofs::keys::SigningKey;
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;

pub struct KeyRing {
    /// Absent: keys live as long as this ring.
    directory: Option<PathBuf>,
    held: Mutex<HashMap<(TenantId, usize), Arc<SigningKey>>>,
}

impl KeyRing {
    pub fn in_memory() -> Self {
        Self { directory: None, held: Mutex::default() }
    }

    /// The directory is there; a key is made when it is first needed.
    pub fn in_directory(directory: PathBuf) -> Self {
        Self { directory: Some(directory), held: Mutex::default() }
    }

    /// Where this key should be and is not.
    pub(crate) fn missing(&self, tenant: TenantId, number: usize) -> Option<PathBuf> {
        let file = self.directory.as_ref()?.join(name(tenant, number));
        (!file.exists()).then_some(file)
    }

    /// Of two who ask for the next key at once both get the same.
    pub(crate) fn numbered(&self, tenant: TenantId, number: usize) -> Result<Arc<SigningKey>, String> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = held.get(&(tenant, number)) {
            return Ok(Arc::clone(key));
        }
        let key = match &self.directory {
            Some(directory) => key_file::read_or_make(&directory.join(name(tenant, number)))
                .map_err(|error| format!("the audit key cannot be used: {error}"))?,
            None => SigningKey::from_seed(key_file::fresh_seed().map_err(|error| error.to_string())?),
        };
        let key = Arc::new(key);
        held.insert((tenant, number), Arc::clone(&key));
        Ok(key)
    }

    /// Nothing that lasts is signed with it, so it is not kept: a full disk must not keep anybody from looking.
    pub(crate) fn nobodys(&self) -> Result<Arc<SigningKey>, String> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = held.get(&(TenantId::default(), 1)) {
            return Ok(Arc::clone(key));
        }
        let key = Arc::new(SigningKey::from_seed(key_file::fresh_seed().map_err(|error| error.to_string())?));
        held.insert((TenantId::default(), 1), Arc::clone(&key));
        Ok(key)
    }
}

fn name(tenant: TenantId, number: usize) -> String {
    if number == 1 { format!("{tenant}.pem") } else { format!("{tenant}.{number}.pem") }
}
