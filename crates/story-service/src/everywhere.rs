//! What is asked of all tenants at once: articles that everybody may read, and the operator's view of what was tried against
//! custody. Each tenant's ledger is looked at by itself; nothing is kept across them.

use crate::asked::Asked;
use crate::envelope;
use crate::handlers;
use crate::once::{Once, replayed};
use crate::operator::OperatorError;
use crate::route::Server;
use crate::service::{Proven, Service, millis};
use crate::views;
use serde_json::{Value, json};
use windlass_control_api::stories::Answer;
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::answers;
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::custody::{self, ViolationStatus};
use windlass_protocols::protocol::story_queue::decide::Draft;
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
use windlass_protocols::protocol::story_queue::tenancy;
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, TenantId, ViolationId};

impl<J: Journal + Send + Sync> Service<J> {
    /// Published articles of system scope, by whatever tenant's superadmin they were written. They are for everybody.
    pub(crate) async fn system_articles(&self, asked: &Asked) -> Result<(u16, Value), OperatorError> {
        let (slug, category) = (asked.query("slug"), asked.query("category"));
        let mut found = Vec::new();
        for tenant in self.tenants().await? {
            let look = |ledger: &Ledger, _: &crate::feed::Feed| {
                let all = handlers::system_articles(ledger);
                let wanted = all.filter(|shown| slug.is_none_or(|slug| shown["slug"] == slug));
                wanted
                    .filter(|shown| category.is_none_or(|name| shown["category"] == name))
                    .collect::<Vec<_>>()
            };
            found.extend(self.stream(tenant.id).look(&self.journal, millis(asked.at), look).await?);
        }
        Ok((200, asked.page(20, 100)?.of(&found, Value::clone)))
    }

    pub(crate) async fn violators(&self, asked: &Asked) -> Result<(u16, Value), OperatorError> {
        let status = asked.query("status").unwrap_or("pending");
        let mut found = Vec::new();
        for tenant in self.tenants().await? {
            let look = |ledger: &Ledger, _: &crate::feed::Feed| {
                let wanted = ledger.custody.violations().filter(|one| one.status.name() == status);
                wanted.map(views::tenancy::violation).collect::<Vec<_>>()
            };
            for mut shown in self.stream(tenant.id).look(&self.journal, millis(asked.at), look).await? {
                shown["tenant_id"] = json!(tenant.id);
                shown["tenant_slug"] = json!(tenant.slug);
                found.push(shown);
            }
        }
        Ok((200, asked.page(20, 100)?.of(&found, Value::clone)))
    }

    /// In whichever tenant it is, by the command that a user of that tenant would give.
    pub(crate) async fn settle_violator(
        &self,
        status: ViolationStatus,
        by: Caller,
        asked: &Asked,
    ) -> Result<(u16, Value), OperatorError> {
        let id: ViolationId = asked.id("id", "violation")?;
        let note = asked.owned("note").unwrap_or_default();
        // The operator is no actor of the tenant, and is named as the operator there.
        let caller = Caller { impersonating: true, ..by };
        for tenant in self.tenants().await? {
            let known = |ledger: &Ledger, _: &crate::feed::Feed| ledger.custody.violation(id).is_some();
            let stream = self.stream(tenant.id);
            if !stream.look(&self.journal, millis(asked.at), known).await? {
                continue;
            }
            let settle = |draft: &mut Draft<'_>| custody::resolve_violation(draft, id, status, note);
            self.inside_as(&caller, tenant.id, settle).await??;
            let shown = |ledger: &Ledger, _: &crate::feed::Feed| {
                ledger.custody.violation(id).map(views::tenancy::violation)
            };
            let shown = stream.look(&self.journal, millis(asked.at), shown).await?;
            return Ok((200, json!({ "violation": shown })));
        }
        Err(Refusal::not_found("violation").into())
    }

    /// A user of the tenant itself; of another one nobody learns whether it is there.
    pub(crate) async fn change_key(
        &self,
        what: Server,
        proven: Option<Proven>,
        asked: &Asked,
        once: Option<Once>,
    ) -> Answer {
        let own = proven.and_then(|proven| Some((proven.caller, proven.tenant?.0)));
        let named = asked.parameter("id").parse::<TenantId>().ok();
        let Some((caller, tenant)) = own.filter(|(_, tenant)| named == Some(*tenant)) else {
            return envelope::plain(404, None, "tenant not found");
        };
        if what == Server::BootstrapKey {
            let why = "the tenant has its audit key since its first day; rotate-audit-key makes another";
            return envelope::plain(409, Some(RefusalCode::AuditKeyExists), why);
        }
        match self.change_key_of(tenant, &caller, once).await {
            Ok(answer) => answer,
            Err(OperatorError::Refused(refusal)) => {
                Answer::json(envelope::status_of(refusal.kind), &envelope::refusal(&refusal))
            }
            Err(OperatorError::Journal(error)) => crate::service::unavailable(&error),
            Err(error @ OperatorError::KeyMissing { .. }) => {
                envelope::plain(503, Some(RefusalCode::AuditKeyMissing), &error.to_string())
            }
        }
    }

    /// The log first: a key that changed without a word would look like a forger's. The answer is kept with it, so whoever asks
    /// again after a crash finds what was begun, and it is brought to its end.
    async fn change_key_of(
        &self,
        tenant: TenantId,
        caller: &Caller,
        once: Option<Once>,
    ) -> Result<Answer, OperatorError> {
        caller.require_at_least(KeyRole::User)?;
        let (was, now) = self.key_and_next(tenant).await?;
        let (old, new) = (was.to_pem(), now.to_pem());
        let body = json!({ "tenant_id": tenant, "public_key": new, "former_public_key": old });
        let log = |draft: &mut Draft<'_>| {
            if let Some(once) = &once
                && let Some(stored) = once.recall(&draft.ledger().answers, draft.caller(), draft.at())?
            {
                return Ok(Some(stored.clone()));
            }
            tenancy::audit_key_rotated(draft, old.clone(), new)?;
            if let Some(Once { key, request, .. }) = once {
                answers::keep(draft, key, request, 200, body.to_string());
            }
            Ok(None)
        };
        let Some(stored) = self.inside_as(caller, tenant, log).await?? else {
            self.rotate_key(tenant).await?;
            return Ok(Answer::json(200, &body));
        };
        let answer = replayed(&stored);
        if answer.value()["former_public_key"] == old.as_str() {
            self.rotate_key(tenant).await?;
        }
        Ok(answer)
    }
}
