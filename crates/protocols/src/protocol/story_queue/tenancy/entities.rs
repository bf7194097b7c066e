//! The tenant's settings, keys and agents as they are kept.

use crate::protocol::story_queue::vocabulary::{AgentId, DispatchId, JsonText, KeyId, KeyRole, Micros};
use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TenantStatus {
    #[default]
    Active,
    Suspended,
    Deactivated,
    PendingEnrollment,
}

impl TenantStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Deactivated => "deactivated",
            Self::PendingEnrollment => "pending_enrollment",
        }
    }
}

/// Known settings are typed; what we do not know is kept and returned as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub max_projects: u64,
    pub max_api_keys: u64,
    pub max_webhooks: u64,
    pub webhook_max_consecutive_failures: u64,
    pub webhook_event_retention_days: u64,
    pub rate_limit_requests_per_minute: u64,
    pub max_concurrent_agents: u64,
    pub auto_reset_on_rejection: bool,
    pub knowledge_auto_extract: bool,
    /// Calls of custody need the token the call before them returned.
    pub require_capabilities: bool,
    /// Reporter, reviewer and verifier are three; that none of them is the implementer holds in any case.
    pub distinct_reporter_reviewer_verifier: bool,
    /// Orchestrators that people made may open root dispatches, each a fresh lineage.
    pub orchestrator_root_dispatches: bool,
    /// Every client says which tree head it saw last.
    pub require_witness_header: bool,
    pub other: BTreeMap<String, SettingValue>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_projects: 50,
            max_api_keys: 100,
            max_webhooks: 10,
            webhook_max_consecutive_failures: 10,
            webhook_event_retention_days: 30,
            rate_limit_requests_per_minute: 300,
            max_concurrent_agents: 2,
            auto_reset_on_rejection: true,
            knowledge_auto_extract: true,
            require_capabilities: false,
            distinct_reporter_reviewer_verifier: true,
            orchestrator_root_dispatches: false,
            require_witness_header: false,
            other: BTreeMap::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingValue {
    Flag(bool),
    Number(u64),
    Json(JsonText),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    pub id: KeyId,
    pub name: String,
    /// SHA-256 of the raw key, hexadecimal. The raw key is shown once and kept nowhere.
    pub hash: String,
    /// Its first eight characters, so that people can tell keys apart.
    pub prefix: String,
    /// Never changes.
    pub role: KeyRole,
    pub agent: Option<AgentId>,
    /// The dispatch it was made for; its lineage is that dispatch's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<DispatchId>,
    pub created: Micros,
    pub expires: Option<Micros>,
    pub revoked: Option<Micros>,
}

impl Key {
    pub fn is_active(&self, at: Micros) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| at < expires)
    }
}

/// What the shell kept of a key it just made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    pub hash: String,
    pub prefix: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentKind {
    Orchestrator,
    Implementer,
}

impl AgentKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orchestrator => "orchestrator",
            Self::Implementer => "implementer",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    Active,
    Idle,
    Deactivated,
}

impl AgentState {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Idle => "idle",
            Self::Deactivated => "deactivated",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub id: AgentId,
    /// Unique in the tenant.
    pub name: String,
    pub kind: AgentKind,
    pub status: AgentState,
    pub metadata: JsonText,
    pub registered: Micros,
}
