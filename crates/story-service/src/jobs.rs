//! What the server does on its own account while it runs. Each job looks at what is due, so a missed round does no harm.

use crate::operator::OperatorError;
use crate::service::{Service, millis};
use std::collections::BTreeMap;
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::vocabulary::Micros;
use windlass_protocols::protocol::story_queue::{custody, usage, webhooks};

impl<J: Journal + Send + Sync> Service<J> {
    /// Every minute: dispatches whose time is over end, with their keys.
    pub async fn end_expired(&self) -> Result<usize, OperatorError> {
        let mut ended = 0;
        for tenant in self.tenants().await? {
            ended += self.inside(tenant.id, custody::revoke_expired).await??.len();
        }
        Ok(ended)
    }

    /// Every hour, and where nobody stays, when somebody wants to know: what costs far more or less than its neighbours is pointed out, and what was kept long enough is let go.
    pub async fn look_after_costs(&self) -> Result<(), OperatorError> {
        let at = self.now();
        for tenant in self.tenants().await? {
            let settings = |ledger: &windlass_protocols::protocol::story_queue::ledger::Ledger| {
                let tenancy = &ledger.tenancy;
                (tenancy.settings.webhook_event_retention_days, tenancy.token_data_retention_days)
            };
            let stream = self.stream(tenant.id);
            let (deliveries, tokens) = stream.peek(&self.journal, millis(at), settings).await?;
            let kept = Micros::seconds(deliveries.saturating_mul(86_400));
            self.inside(tenant.id, |draft| {
                let ledger = draft.ledger();
                let project = |epic| Some((epic, ledger.plan.epic(epic)?.project));
                let projects: BTreeMap<_, _> = ledger.usage.epics_with_costs().filter_map(project).collect();
                usage::scan_anomalies(draft, |epic| projects.get(&epic).copied());
                // A round forgets so many; the draft shows what is left at once.
                while webhooks::forget_deliveries(draft, Micros(at.0.saturating_sub(kept.0))) > 0 {}
                if let Some(days) = tokens {
                    usage::keep_usage_for(draft, days.into());
                }
                Ok(())
            })
            .await??;
        }
        Ok(())
    }
}
