//! The streams of tenants, each made when it is first asked for.

use crate::stream::{Fold, Stream};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use windlass_protocols::RunId;
use windlass_protocols::protocol::story_queue::vocabulary::TenantId;

pub(crate) struct Streams<F> {
    /// Names this process in the journal's leases.
    owner: String,
    known: RwLock<BTreeMap<TenantId, Arc<Stream<F>>>>,
}

impl<F: Fold> Streams<F> {
    pub(crate) fn new(owner: &str) -> Self {
        Self { owner: owner.to_owned(), known: RwLock::default() }
    }

    pub(crate) fn of(&self, tenant: TenantId, name: impl FnOnce() -> RunId) -> Arc<Stream<F>> {
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&tenant) {
            return Arc::clone(known);
        }
        let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(tenant).or_insert_with(|| Arc::new(Stream::new(name(), &self.owner))))
    }
}
