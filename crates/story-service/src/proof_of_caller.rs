//! Who asks: a key by its digest, at the tenant that made it; a superadmin's at the registry. Nothing about roles is decided
//! here, only whether the key is good and whose it is.

use crate::envelope;
use crate::keys;
use crate::service::{Early, Proven, Service, millis, unavailable};
use std::sync::PoisonError;
use windlass_control_api::stories::{Answer, Call};
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
use windlass_protocols::protocol::story_queue::registry::SuperadminKey;
use windlass_protocols::protocol::story_queue::tenancy::TenantStatus;
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, Micros, TenantId};

/// What a tenant's ledger says of a key.
enum Standing {
    Unknown,
    Ended,
    TenantClosed,
    Good { caller: Caller, per_minute: u64 },
}

fn unauthorized(message: &str) -> Answer {
    envelope::plain(401, Some(RefusalCode::Unauthorized), message).with_header("www-authenticate", "Bearer")
}

impl<J: Journal + Send + Sync> Service<J> {
    pub(crate) async fn prove(&self, call: &Call, at: Micros, for_operator: bool) -> Early<Proven> {
        let raw = call.header("authorization").and_then(|value| {
            let (scheme, key) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
        });
        let raw = raw.ok_or_else(|| unauthorized("a key is missing: Authorization: Bearer lc_…"))?;
        let hash = keys::digest(raw);
        let admin = self.registry.look(&self.journal, millis(at), |registry, _| {
            (registry.superadmin(&hash).cloned(), registry.doubt().map(ToOwned::to_owned))
        });
        match admin.await.map_err(|error| unavailable(&error))? {
            (Some(_), Some(why)) => {
                let why = format!("the list of tenants and operators cannot be believed: {why}");
                return Err(envelope::plain(503, Some(RefusalCode::RegistryDamaged), &why));
            }
            (Some(key), None) => return self.superadmin(call, &key, at, for_operator).await,
            (None, _) => {}
        }
        let known = self.owners.read().unwrap_or_else(PoisonError::into_inner).get(&hash).copied();
        let candidates = match known {
            Some(tenant) => vec![tenant],
            None => self.tenant_ids(at).await?,
        };
        for tenant in candidates {
            let stream = self.stream(tenant);
            let look = |ledger: &Ledger| standing(ledger, &hash, at);
            let standing = stream.peek(&self.journal, millis(at), look).await;
            match standing.map_err(|error| unavailable(&error))? {
                Standing::Unknown => {}
                Standing::Ended => return Err(unauthorized("the key has expired or was revoked")),
                Standing::TenantClosed => {
                    return Err(envelope::plain(
                        403,
                        Some(RefusalCode::TenantSuspended),
                        "the tenant is not active",
                    ));
                }
                Standing::Good { caller, per_minute } => {
                    self.owners.write().unwrap_or_else(PoisonError::into_inner).insert(hash, tenant);
                    self.seen.note(caller.key, caller.agent, at);
                    let tenant = Some((tenant, stream));
                    return Ok(Proven { caller, tenant, per_minute: Some(per_minute) });
                }
            }
        }
        Err(unauthorized("nobody has this key"))
    }

    pub(crate) async fn tenant_ids(&self, at: Micros) -> Early<Vec<TenantId>> {
        let ids = self.registry.look(&self.journal, millis(at), |registry, _| {
            registry.tenants().map(|tenant| tenant.id).collect()
        });
        ids.await.map_err(|error| unavailable(&error))
    }

    /// Inside a tenant only where that is said, and never on the operator's own routes.
    async fn superadmin(
        &self,
        call: &Call,
        key: &SuperadminKey,
        at: Micros,
        for_operator: bool,
    ) -> Early<Proven> {
        let mut caller = Caller {
            key: key.id,
            role: KeyRole::Superadmin,
            agent: None,
            lineage: Vec::new(),
            label: format!("superadmin:{}", key.name),
            impersonating: false,
        };
        let Some(word) = call.header("x-impersonate-tenant").filter(|_| !for_operator) else {
            return Ok(Proven { caller, tenant: None, per_minute: None });
        };
        let found = self.registry.look(&self.journal, millis(at), |registry, _| {
            let by_id = word.parse().ok().and_then(|id| registry.tenant(id));
            by_id.or_else(|| registry.tenant_by_slug(word)).map(|tenant| (tenant.id, tenant.slug.clone()))
        });
        let Some((tenant, slug)) = found.await.map_err(|error| unavailable(&error))? else {
            return Err(envelope::plain(404, None, "tenant not found"));
        };
        caller.role = match call.header("x-effective-role") {
            None => KeyRole::Superadmin,
            Some("user") => KeyRole::User,
            Some("orchestrator") => KeyRole::Orchestrator,
            Some("agent") => KeyRole::Agent,
            Some(_) => {
                return Err(envelope::plain(400, None, "x-effective-role is user, orchestrator or agent"));
            }
        };
        caller.label = format!("superadmin:impersonating:{slug}");
        caller.impersonating = true;
        Ok(Proven { caller, tenant: Some((tenant, self.stream(tenant))), per_minute: None })
    }
}

fn standing(ledger: &Ledger, hash: &str, at: Micros) -> Standing {
    let Some(key) = ledger.tenancy.key_by_hash(hash) else { return Standing::Unknown };
    let dispatch = key.dispatch.and_then(|id| ledger.custody.dispatch(id));
    if !key.is_active(at) || dispatch.is_some_and(|dispatch| !dispatch.is_active(at)) {
        return Standing::Ended;
    }
    if ledger.tenancy.status != TenantStatus::Active {
        return Standing::TenantClosed;
    }
    let caller = Caller {
        key: key.id,
        role: key.role,
        agent: key.agent,
        lineage: dispatch.map(|dispatch| dispatch.lineage.clone()).unwrap_or_default(),
        label: format!("{}:{}", key.role.name(), key.name),
        impersonating: false,
    };
    Standing::Good { caller, per_minute: ledger.tenancy.settings.rate_limit_requests_per_minute }
}
