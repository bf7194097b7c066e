//! What needs more than one tenant's ledger: the operator's tenants and keys, and what is told of the server itself.

use crate::asked::{Asked, moment};
use crate::envelope;
use crate::heads::Heads;
use crate::keys;
use crate::openapi;
use crate::route::Server;
use crate::service::{Proven, Service, is_for_the_outbox, millis, unavailable};
use crate::stream::StreamError;
use crate::views;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use windlass_control_api::stories::{Answer, BASE};
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::caller::{Actor, ActorKind, Caller};
use windlass_protocols::protocol::story_queue::custody::{self, ViolationStatus};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::facts::Entry;
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
use windlass_protocols::protocol::story_queue::registry::{self, Change, SuperadminKey, Tenant};
use windlass_protocols::protocol::story_queue::tenancy::{self, FoundTenant, MakeKey, TenantStatus};
use windlass_protocols::protocol::story_queue::vocabulary::{KeyId, KeyRole, TenantId};

/// A tenant with the raw key of its first user, shown once.
#[derive(Debug)]
pub struct Founded {
    pub tenant: Tenant,
    pub raw_key: String,
}

/// Not allowed now, or the journal could not take it.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    #[error("{}", .0.message)]
    Refused(Refusal),
    #[error(transparent)]
    Journal(#[from] StreamError),
    #[error("the signing key of the tenant {tenant} is gone: there is no {}", .file.display())]
    KeyMissing { tenant: String, file: std::path::PathBuf },
}

impl From<Refusal> for OperatorError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The operator at the machine itself: whoever can write the data directory.
fn operator() -> Caller {
    Caller {
        key: KeyId::default(),
        role: KeyRole::Superadmin,
        agent: None,
        lineage: Vec::new(),
        label: "operator".to_owned(),
        impersonating: true,
    }
}

/// Who acts for the server, as its log names them.
#[derive(Clone, Debug)]
pub struct OperatorName(pub String);

impl OperatorName {
    pub(crate) fn actor(self) -> Actor {
        Actor { kind: ActorKind::System, key: None, agent: None, lineage: Vec::new(), label: self.0 }
    }
}

fn system() -> Actor {
    OperatorName("operator".to_owned()).actor()
}

impl<J: Journal + Send + Sync> Service<J> {
    /// Every tenant the registry lists, in order of creation.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, OperatorError> {
        let at = millis(self.now());
        Ok(self.registry.look(&self.journal, at, |registry, _| registry.tenants().cloned().collect()).await?)
    }

    /// The tenant's own stream comes first: one that is listed and not founded would be a tenant nobody can enter, one that
    /// is founded and not listed is nothing at all. What is listed has a tree head, so none at all means that it was taken.
    pub async fn found(
        &self,
        name: &str,
        slug: &str,
        email: Option<String>,
        by: OperatorName,
    ) -> Result<Founded, OperatorError> {
        let at = self.now();
        let mut ids = self.outside.ids();
        let tenant = Tenant {
            id: TenantId(ids.fresh()),
            slug: slug.to_owned(),
            name: name.to_owned(),
            status: TenantStatus::Active,
            created: at,
            first_head: None,
        };
        let free = self
            .registry
            .look(&self.journal, millis(at), |registry, _| registry.list_tenant(tenant.clone()).map(|_| ()));
        free.await??;
        let mut random = [0; 32];
        self.outside.random(&mut random);
        let (raw_key, key) = keys::make(random);
        let ask = FoundTenant { id: tenant.id, name: name.to_owned(), slug: slug.to_owned(), email };
        self.inside(tenant.id, |draft| {
            tenancy::found(draft, ask)?;
            tenancy::first_key(draft, "first user".to_owned(), key)
        })
        .await??;
        let first_head = self.sign_head(tenant.id).await?.map(|head| head.position);
        let tenant = Tenant { first_head, ..tenant };
        let listed = tenant.clone();
        self.enlist(by.actor(), move |registry| registry.list_tenant(listed)).await??;
        Ok(Founded { tenant, raw_key })
    }

    /// A key of any role but superadmin, made by the operator.
    pub async fn make_key(
        &self,
        tenant: TenantId,
        name: &str,
        role: KeyRole,
    ) -> Result<String, OperatorError> {
        let mut random = [0; 32];
        self.outside.random(&mut random);
        let (raw_key, key) = keys::make(random);
        let ask = MakeKey { name: name.to_owned(), role, agent: None, expires: None, key };
        self.inside(tenant, |draft| tenancy::make_key(draft, ask)).await??;
        Ok(raw_key)
    }

    /// As `make_key`, by the role's name.
    pub async fn make_named_key(
        &self,
        tenant: TenantId,
        name: &str,
        role: &str,
    ) -> Result<String, OperatorError> {
        let role = crate::handlers::role(role)?;
        self.make_key(tenant, name, role).await
    }

    pub async fn make_superadmin_key(&self, name: &str) -> Result<String, OperatorError> {
        let at = self.now();
        let mut random = [0; 32];
        self.outside.random(&mut random);
        let (raw_key, made) = keys::make(random);
        let key = SuperadminKey {
            id: KeyId(self.outside.ids().fresh()),
            name: name.to_owned(),
            hash: made.hash,
            prefix: made.prefix,
            created: at,
            revoked: None,
        };
        self.enlist(system(), |_| Ok(Change::SuperadminKeyMade { key: Box::new(key) })).await??;
        Ok(raw_key)
    }

    /// Something the server does in a tenant's ledger on its own account.
    pub(crate) async fn inside<T>(
        &self,
        tenant: TenantId,
        decide: impl FnOnce(&mut Draft<'_>) -> Decided<T>,
    ) -> Result<Decided<T>, StreamError> {
        self.inside_as(&operator(), tenant, decide).await
    }

    /// As `inside`, with whoever asked for it named in the entries.
    pub(crate) async fn inside_as<T>(
        &self,
        caller: &Caller,
        tenant: TenantId,
        decide: impl FnOnce(&mut Draft<'_>) -> Decided<T>,
    ) -> Result<Decided<T>, StreamError> {
        let ids = self.outside.ids();
        let mut queued = false;
        let decide = |ledger: &mut Ledger, _: &crate::feed::Feed| {
            let mut draft = Draft::new(ledger, caller, ids);
            let decided = decide(&mut draft);
            let entries = draft.into_entries();
            queued = entries.iter().any(is_for_the_outbox);
            (decided, entries)
        };
        let decided = self.stream(tenant).decide(&self.journal, millis(self.now()), decide).await;
        if queued {
            self.outbox_news.notify_one();
        }
        decided
    }

    async fn enlist(
        &self,
        by: Actor,
        change: impl FnOnce(&registry::State) -> Decided<Change>,
    ) -> Result<Decided<()>, StreamError> {
        let at = self.now();
        let decide = |registry: &mut registry::State, _: &crate::feed::Feed| match change(registry) {
            Ok(change) => {
                let entry = registry::entry(at, by, change);
                crate::stream::Fold::evolve(registry, &entry);
                (Ok(()), vec![entry])
            }
            Err(refusal) => (Err(refusal), Vec::new()),
        };
        self.registry.decide(&self.journal, millis(at), decide).await
    }

    pub(crate) async fn serve(&self, what: Server, proven: Option<Proven>, asked: &Asked) -> Answer {
        match what {
            Server::Health => self.health().await,
            Server::Discovery | Server::Welcome => Answer::json(200, &discovery()),
            Server::DiscoverySchema => Answer::json(200, &discovery_schema()),
            Server::OpenApi => Answer::json(200, &openapi::document(&self.routes)),
            Server::Routes => Answer::json(200, &openapi::list(&self.routes)),
            Server::PublicKey
            | Server::TreeHead
            | Server::VerifyChain
            | Server::ExportChain
            | Server::ShowHead => self.prove_to_others(what, proven, asked).await,
            _ => {
                let answered = match (what, proven) {
                    (Server::SystemArticles, _) => self.system_articles(asked).await,
                    (Server::Violators, _) => self.violators(asked).await,
                    (Server::ResolveViolator, Some(proven)) => {
                        self.settle_violator(ViolationStatus::Resolved, proven.caller, asked).await
                    }
                    (Server::IgnoreViolator, Some(proven)) => {
                        self.settle_violator(ViolationStatus::Ignored, proven.caller, asked).await
                    }
                    (what, proven) => {
                        let by = proven.map_or_else(system, |proven| proven.caller.actor());
                        self.administer(what, by, asked).await
                    }
                };
                match answered {
                    Ok((status, body)) => Answer::json(status, &body),
                    Err(OperatorError::Refused(refusal)) => {
                        Answer::json(envelope::status_of(refusal.kind), &envelope::refusal(&refusal))
                    }
                    Err(OperatorError::Journal(error)) => unavailable(&error),
                    Err(error @ OperatorError::KeyMissing { .. }) => {
                        envelope::plain(503, Some(RefusalCode::AuditKeyMissing), &error.to_string())
                    }
                }
            }
        }
    }

    async fn health(&self) -> Answer {
        let at = millis(self.now());
        let degraded = |reason: String| Answer::json(503, &json!({ "status": "degraded", "reason": reason }));
        match self.registry.look(&self.journal, at, |registry, _| registry.tenants().count()).await {
            Ok(_) => {}
            Err(error) => return degraded(error.to_string()),
        }
        if self.writing_failed.load(Ordering::Relaxed) {
            match self.registry.try_writing(&self.journal, at).await {
                Ok(()) => self.writing_failed.store(false, Ordering::Relaxed),
                Err(error) => {
                    return degraded(format!("nothing can be written, and reading goes on: {error}"));
                }
            }
        }
        match self.halted().await {
            Ok(halted) => match halted.into_iter().next() {
                None => Answer::json(200, &json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") })),
                Some((of, why)) => degraded(format!("custody of {of} stands still: {why}")),
            },
            Err(error) => degraded(error.to_string()),
        }
    }

    /// Tenants whose custody stands still, by their slugs, and why. Every tenant is loaded for this, and its chain checked;
    /// so is the list of tenants and operators, which stands first.
    pub async fn halted(&self) -> Result<Vec<(String, String)>, OperatorError> {
        let at = millis(self.now());
        let doubt =
            self.registry.look(&self.journal, at, |registry, _| registry.doubt().map(ToOwned::to_owned));
        let mut halted: Vec<(String, String)> =
            doubt.await?.map(|why| ("the whole server".to_owned(), why)).into_iter().collect();
        for tenant in self.tenants().await? {
            let why = |ledger: &Ledger| ledger.custody.halted().map(|halt| halt.reason.clone());
            let found = match self.stream(tenant.id).peek(&self.journal, at, why).await? {
                Some(why) => Some(why),
                None => self.taken_head(&tenant).await?,
            };
            halted.extend(found.map(|why| (tenant.slug, why)));
        }
        Ok(halted)
    }

    /// Refuses where the key that signed a tenant's heads is gone: with another one nothing that was signed could be told
    /// from a forgery, and nobody would notice.
    pub async fn require_keys(&self) -> Result<(), OperatorError> {
        let at = millis(self.now());
        for tenant in self.tenants().await? {
            let signed = |heads: &Heads| heads.last().map(|_| heads.key_number());
            let Some(number) = self.heads(tenant.id).peek(&self.journal, at, signed).await? else { continue };
            for number in 1..=number {
                if let Some(file) = self.ring.missing(tenant.id, number) {
                    return Err(OperatorError::KeyMissing { tenant: tenant.slug, file });
                }
            }
        }
        Ok(())
    }

    async fn administer(
        &self,
        what: Server,
        by: Actor,
        asked: &Asked,
    ) -> Result<(u16, Value), OperatorError> {
        Ok(match what {
            Server::CreateTenant => {
                let (name, slug) = (asked.needed("name"), asked.needed("slug"));
                let by = OperatorName(by.label);
                let founded = self.found(&name, &slug, asked.owned("email"), by).await?;
                (201, json!({ "tenant": tenant_line(&founded.tenant), "raw_key": founded.raw_key }))
            }
            Server::Tenants => {
                let tenants = self.tenants().await?;
                (200, asked.page(20, 100)?.of(&tenants, tenant_line))
            }
            Server::Stats => {
                let tenants = self.tenants().await?;
                let (mut stories, mut entries) = (0, 0);
                for tenant in &tenants {
                    let count = |ledger: &Ledger, feed: &crate::feed::Feed| {
                        let in_project =
                            |project: &windlass_protocols::protocol::story_queue::plan::Project| {
                                u64::from(ledger.work.progress(project.id).stories)
                            };
                        (ledger.plan.projects().map(in_project).sum::<u64>(), feed.version())
                    };
                    let (more_stories, more_entries) =
                        self.stream(tenant.id).look(&self.journal, millis(asked.at), count).await?;
                    stories += more_stories;
                    entries += more_entries;
                }
                (
                    200,
                    json!({ "stats": { "tenants": tenants.len(), "stories": stories, "entries": entries } }),
                )
            }
            Server::OperatorsLog => {
                let page = asked.page(20, 100)?;
                let rows = |_: &registry::State, feed: &crate::feed::Feed| {
                    let newest: Vec<(u64, &Entry)> = feed.after(0).rev().collect();
                    page.of(&newest, |(sequence, entry)| views::audit::row(*sequence, entry))
                };
                (200, self.registry.look(&self.journal, millis(asked.at), rows).await?)
            }
            _ => return self.administer_one(what, by, asked).await,
        })
    }

    async fn administer_one(
        &self,
        what: Server,
        by: Actor,
        asked: &Asked,
    ) -> Result<(u16, Value), OperatorError> {
        let word = asked.parameter("id");
        let known = self.registry.look(&self.journal, millis(asked.at), |registry, _| {
            let by_id = word.parse().ok().and_then(|id| registry.tenant(id));
            by_id.or_else(|| registry.tenant_by_slug(word)).map(|tenant| tenant.id)
        });
        let Some(id) = known.await? else {
            let unknown = Refusal::not_found("tenant");
            return Err(unknown
                .with_remedy("`windlass story admin tenants` lists them, by id and slug")
                .into());
        };
        match what {
            Server::UpdateTenant => {
                if let Some(name) = asked.owned("name") {
                    let edit =
                        tenancy::TenantEdit { name: Some(name.clone()), ..tenancy::TenantEdit::default() };
                    self.inside(id, |draft| tenancy::update(draft, edit)).await??;
                    self.enlist(by, |registry| registry.rename_tenant(id, name)).await??;
                }
            }
            Server::SuspendTenant => self.set_status(id, TenantStatus::Suspended, by).await?,
            Server::ActivateTenant => self.set_status(id, TenantStatus::Active, by).await?,
            Server::ClearHalt => {
                let reason = asked.needed("assertion");
                self.inside(id, |draft| custody::clear_halt(draft, reason)).await??;
            }
            _ => {}
        }
        let stream = self.stream(id);
        let shown = stream.look(&self.journal, millis(asked.at), |ledger, _| views::tenancy::tenant(ledger));
        Ok((200, json!({ "tenant": shown.await? })))
    }

    async fn set_status(&self, id: TenantId, status: TenantStatus, by: Actor) -> Result<(), OperatorError> {
        self.inside(id, |draft| tenancy::set_status(draft, status)).await??;
        self.enlist(by, |registry| registry.set_tenant_status(id, status)).await??;
        Ok(())
    }
}

fn tenant_line(tenant: &Tenant) -> Value {
    json!({
        "id": tenant.id,
        "name": tenant.name,
        "slug": tenant.slug,
        "status": tenant.status.name(),
        "inserted_at": moment(tenant.created),
    })
}

fn discovery() -> Value {
    json!({
        "name": "windlass",
        "version": env!("CARGO_PKG_VERSION"),
        "api_base": BASE,
        "openapi": format!("{BASE}/openapi"),
        "routes": format!("{BASE}/routes"),
        "health": "/health",
        "authentication": "Authorization: Bearer <key>",
        "change_feed": format!("{BASE}/changes?since=0"),
    })
}

fn discovery_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["name", "version", "api_base", "openapi"],
        "properties": {
            "name": { "type": "string" },
            "version": { "type": "string" },
            "api_base": { "type": "string" },
            "openapi": { "type": "string" },
        },
    })
}
