//! The server's list of tenants and the keys that belong to none. A stream and a fold of its own, small.

use super::answers;
use super::caller::Actor;
use super::decide::Decided;
use super::facts::{self, Entry};
use super::refusal::{Kind, Refusal};
use super::tenancy::TenantStatus;
use super::vocabulary::{KeyId, Micros, TenantId};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct State {
    /// How many entries were folded: the stream's expected version.
    pub version: u64,
    tenants: BTreeMap<TenantId, Tenant>,
    by_slug: BTreeMap<String, TenantId>,
    superadmins: BTreeMap<String, SuperadminKey>,
    /// Why the stream that this was read from cannot be believed; not kept, but found again at each reading.
    doubt: Option<String>,
    /// What operators were answered under their idempotency keys.
    pub answers: answers::State,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    pub id: TenantId,
    pub slug: String,
    pub name: String,
    pub status: TenantStatus,
    pub created: Micros,
    /// How many entries the tree head covers that was signed before the tenant was listed; unknown of older ones. It is kept for
    /// ever, so where it is missing somebody took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_head: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuperadminKey {
    pub id: KeyId,
    pub name: String,
    pub hash: String,
    pub prefix: String,
    pub created: Micros,
    pub revoked: Option<Micros>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    TenantListed { tenant: Box<Tenant> },
    TenantRenamed { tenant: TenantId, was: String, now: String },
    TenantStatusSet { tenant: TenantId, was: TenantStatus, now: TenantStatus },
    SuperadminKeyMade { key: Box<SuperadminKey> },
    SuperadminKeyRevoked { hash: String },
}

/// The registry has no draft: the operator and the superadmin decide one change at a time.
pub fn entry(at: Micros, by: Actor, change: Change) -> Entry {
    Entry { at, by, project: None, change: facts::Change::Registry(change) }
}

impl State {
    /// From now on nobody is a superadmin here: who would be is written in what cannot be believed.
    pub fn suspend(&mut self, why: String) {
        self.doubt = Some(why);
    }

    pub fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    pub fn tenant(&self, id: TenantId) -> Option<&Tenant> {
        self.tenants.get(&id)
    }

    pub fn tenant_by_slug(&self, slug: &str) -> Option<&Tenant> {
        self.by_slug.get(slug).and_then(|id| self.tenants.get(id))
    }

    pub fn tenants(&self) -> impl DoubleEndedIterator<Item = &Tenant> {
        self.tenants.values()
    }

    pub fn superadmin(&self, hash: &str) -> Option<&SuperadminKey> {
        self.superadmins.get(hash).filter(|key| key.revoked.is_none())
    }

    pub fn list_tenant(&self, tenant: Tenant) -> Decided<Change> {
        require_slug(&tenant.slug)?;
        if !(1..=255).contains(&tenant.name.trim().chars().count()) {
            return Err(Refusal::field("name", "must be 1 to 255 characters"));
        }
        if self.by_slug.contains_key(&tenant.slug) || self.tenants.contains_key(&tenant.id) {
            let why = "another tenant has this slug";
            return Err(Refusal::new(Kind::Conflict, why).with_detail("slug", "has already been taken"));
        }
        Ok(Change::TenantListed { tenant: Box::new(tenant) })
    }

    pub fn set_tenant_status(&self, tenant: TenantId, now: TenantStatus) -> Decided<Change> {
        let was = self.tenant(tenant).ok_or_else(|| Refusal::not_found("tenant"))?.status;
        Ok(Change::TenantStatusSet { tenant, was, now })
    }

    pub fn rename_tenant(&self, tenant: TenantId, now: String) -> Decided<Change> {
        let was = self.tenant(tenant).ok_or_else(|| Refusal::not_found("tenant"))?.name.clone();
        Ok(Change::TenantRenamed { tenant, was, now })
    }

    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        self.version += 1;
        match change {
            Change::TenantListed { tenant } => {
                self.by_slug.insert(tenant.slug.clone(), tenant.id);
                self.tenants.insert(tenant.id, (**tenant).clone());
            }
            Change::TenantRenamed { tenant, now, .. } => {
                if let Some(tenant) = self.tenants.get_mut(tenant) {
                    tenant.name.clone_from(now);
                }
            }
            Change::TenantStatusSet { tenant, now, .. } => {
                if let Some(tenant) = self.tenants.get_mut(tenant) {
                    tenant.status = *now;
                }
            }
            Change::SuperadminKeyMade { key } => {
                self.superadmins.insert(key.hash.clone(), (**key).clone());
            }
            Change::SuperadminKeyRevoked { hash } => {
                if let Some(key) = self.superadmins.get_mut(hash) {
                    key.revoked.get_or_insert(entry.at);
                }
            }
        }
    }
}

/// 2–63 of a–z, 0–9 and hyphens, neither first nor last a hyphen.
pub(super) fn require_slug(slug: &str) -> Decided<()> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = slug.bytes().next().is_some_and(plain) && slug.bytes().next_back().is_some_and(plain);
    let inner = slug.bytes().all(|byte| plain(byte) || byte == b'-');
    if ends && inner && (2..=63).contains(&slug.len()) {
        return Ok(());
    }
    Err(Refusal::field("slug", "must be 2 to 63 lower-case letters, digits and inner hyphens"))
}
