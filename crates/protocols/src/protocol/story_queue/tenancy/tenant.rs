//! The tenant itself: founded by the operator, changed by its users. Settings are merged, never replaced.

use super::entities::{SettingValue, Settings, TenantStatus};
use super::keys::left_to_people;
use super::{Change, State};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::registry;
use crate::protocol::story_queue::vocabulary::{KeyRole, TenantId};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug)]
pub struct FoundTenant {
    pub id: TenantId,
    pub name: String,
    pub slug: String,
    pub email: Option<String>,
}

/// Absent fields stay. Zero clears the budget and the retention.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TenantEdit {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, SettingValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_story_budget_millicents: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_data_retention_days: Option<u32>,
}

/// The first entry of a tenant's stream.
pub fn found(draft: &mut Draft, ask: FoundTenant) -> Decided<()> {
    if draft.ledger().tenancy.id.is_some() {
        return Err(Refusal::new(Kind::Conflict, "the tenant is already founded"));
    }
    registry::require_slug(&ask.slug)?;
    let FoundTenant { id, name, slug, email } = ask;
    draft.record(None, facts::Change::Tenancy(Change::Founded { id, name, slug, email }));
    Ok(())
}

pub fn update(draft: &mut Draft, now: TenantEdit) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    if now.name.as_ref().is_some_and(|name| !(1..=255).contains(&name.trim().chars().count())) {
        return Err(Refusal::field("name", "must be 1 to 255 characters"));
    }
    if now.token_data_retention_days.is_some_and(|days| (1..30).contains(&days)) {
        return Err(Refusal::field("token_data_retention_days", "must be 30 or more"));
    }
    // Settings say who is kept apart from whom.
    if !now.settings.is_empty() {
        left_to_people(draft, "settings are made by people, and this key is an agent's")?;
    }
    for (name, value) in &now.settings {
        require_known(name)?;
        Settings::default().set(name, value)?;
    }
    let was = draft.ledger().tenancy.before(&now);
    if was != now {
        draft.record(None, facts::Change::Tenancy(Change::Updated { was, now }));
    }
    Ok(())
}

/// For the log of the tenant: which public key is followed by which.
pub fn audit_key_rotated(draft: &mut Draft, was: String, now: String) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    draft.record(None, facts::Change::Tenancy(Change::AuditKeyRotated { was, now }));
    Ok(())
}

pub fn set_status(draft: &mut Draft, now: TenantStatus) -> Decided<()> {
    if !draft.caller().impersonating {
        draft.caller().require_exactly(&[KeyRole::Superadmin])?;
    }
    let was = draft.ledger().tenancy.status;
    if was != now {
        draft.record(None, facts::Change::Tenancy(Change::StatusSet { was, now }));
    }
    Ok(())
}

impl State {
    fn before(&self, now: &TenantEdit) -> TenantEdit {
        let old = |name: &String| self.settings.get(name).map(|value| (name.clone(), value));
        TenantEdit {
            name: now.name.as_ref().map(|_| self.name.clone()),
            email: now.email.as_ref().map(|_| self.email.clone().unwrap_or_default()),
            settings: now.settings.keys().filter_map(old).collect(),
            default_story_budget_millicents: now
                .default_story_budget_millicents
                .map(|_| self.default_story_budget_millicents.unwrap_or(0)),
            token_data_retention_days: now
                .token_data_retention_days
                .map(|_| self.token_data_retention_days.unwrap_or(0)),
        }
    }

    pub(super) fn apply(&mut self, now: &TenantEdit) {
        if let Some(name) = &now.name {
            self.name.clone_from(name);
        }
        if let Some(email) = &now.email {
            self.email = Some(email.clone()).filter(|email| !email.is_empty());
        }
        for (name, value) in &now.settings {
            // Checked when it was decided, by the rules of its day; what could not be used today counts as never said.
            if self.settings.set(name, value).is_err()
                && let Some(usual) = Settings::default().get(name)
            {
                let _ = self.settings.set(name, &usual);
            }
        }
        if let Some(budget) = now.default_story_budget_millicents {
            self.default_story_budget_millicents = Some(budget).filter(|budget| *budget > 0);
        }
        if let Some(days) = now.token_data_retention_days {
            self.token_data_retention_days = Some(days).filter(|days| *days > 0);
        }
    }
}

enum Slot<'a> {
    Number(&'a mut u64),
    Flag(&'a mut bool),
}

impl Settings {
    fn slot(&mut self, name: &str) -> Option<Slot<'_>> {
        Some(match name {
            "max_projects" => Slot::Number(&mut self.max_projects),
            "max_api_keys" => Slot::Number(&mut self.max_api_keys),
            "max_webhooks" => Slot::Number(&mut self.max_webhooks),
            "webhook_max_consecutive_failures" => Slot::Number(&mut self.webhook_max_consecutive_failures),
            "webhook_event_retention_days" => Slot::Number(&mut self.webhook_event_retention_days),
            "rate_limit_requests_per_minute" => Slot::Number(&mut self.rate_limit_requests_per_minute),
            "max_concurrent_agents" => Slot::Number(&mut self.max_concurrent_agents),
            "auto_reset_on_rejection" => Slot::Flag(&mut self.auto_reset_on_rejection),
            "knowledge_auto_extract" => Slot::Flag(&mut self.knowledge_auto_extract),
            "require_capabilities" => Slot::Flag(&mut self.require_capabilities),
            "distinct_reporter_reviewer_verifier" => {
                Slot::Flag(&mut self.distinct_reporter_reviewer_verifier)
            }
            "orchestrator_root_dispatches" => Slot::Flag(&mut self.orchestrator_root_dispatches),
            "require_witness_header" => Slot::Flag(&mut self.require_witness_header),
            _ => return None,
        })
    }

    fn set(&mut self, name: &str, value: &SettingValue) -> Decided<()> {
        match (self.slot(name), value) {
            (None, value) => {
                self.other.insert(name.into(), value.clone());
                Ok(())
            }
            (Some(Slot::Number(slot)), SettingValue::Number(value)) if *value >= least(name) => {
                *slot = *value;
                Ok(())
            }
            (Some(Slot::Flag(slot)), SettingValue::Flag(value)) => {
                *slot = *value;
                Ok(())
            }
            (Some(Slot::Number(_)), _) => {
                Err(Refusal::field(name, &format!("must be a whole number, {} or more", least(name))))
            }
            (Some(Slot::Flag(_)), _) => Err(Refusal::field(name, "must be true or false")),
        }
    }

    fn get(&self, name: &str) -> Option<SettingValue> {
        match self.clone().slot(name) {
            Some(Slot::Number(value)) => Some(SettingValue::Number(*value)),
            Some(Slot::Flag(value)) => Some(SettingValue::Flag(*value)),
            None => self.other.get(name).cloned(),
        }
    }

    /// All of them, by name, as a client sees them.
    pub fn listed(&self) -> BTreeMap<String, SettingValue> {
        let mut all = self.other.clone();
        for name in KNOWN {
            if let Some(value) = self.get(name) {
                all.insert((*name).into(), value);
            }
        }
        all
    }
}

/// A setting that nobody reads would be believed to hold. Journals of old may have some; they are shown and do nothing.
fn require_known(name: &str) -> Decided<()> {
    if KNOWN.contains(&name) {
        return Ok(());
    }
    let nearest = KNOWN.iter().min_by_key(|known| distance(name, known)).copied().unwrap_or_default();
    let why = format!("is no setting; the nearest is {nearest}");
    Err(Refusal::field(name, &why)
        .with_code(RefusalCode::UnknownSetting)
        .with_remedy(format!("the settings are {}", KNOWN.join(", "))))
}

/// How many letters must be put, taken or changed to come from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (line, letter) in (1..).zip(from.chars()) {
        let mut diagonal = row[0];
        row[0] = line;
        for (place, other) in to.chars().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// None of these can be nothing: without requests nobody could set it back, without keys nobody could come in, without agents
/// no work is given out, and a webhook that may not fail once is off.
fn least(name: &str) -> u64 {
    match name {
        "rate_limit_requests_per_minute"
        | "max_api_keys"
        | "max_concurrent_agents"
        | "webhook_max_consecutive_failures"
        | "webhook_event_retention_days" => 1,
        _ => 0,
    }
}

const KNOWN: &[&str] = &[
    "max_projects",
    "max_api_keys",
    "max_webhooks",
    "webhook_max_consecutive_failures",
    "webhook_event_retention_days",
    "rate_limit_requests_per_minute",
    "max_concurrent_agents",
    "auto_reset_on_rejection",
    "knowledge_auto_extract",
    "require_capabilities",
    "distinct_reporter_reviewer_verifier",
    "orchestrator_root_dispatches",
    "require_witness_header",
];
