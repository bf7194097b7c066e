//! Which key speaks for a tool. A process may hold several, but never two roles of one agent: whoever can both report
//! and verify as one identity marks their own work.

use serde_json::Value;
use std::fmt;
use windlass_control_api::stories::{BASE, Call, Method, StoryApi, Unreachable};

/// Raw keys, as the environment of the process gave them.
#[derive(Clone, Default)]
pub struct Keys {
    /// Speaks for every tool, whatever else is there.
    pub only: Option<String>,
    pub agent: Option<String>,
    pub orchestrator: Option<String>,
    pub user: Option<String>,
}

/// The key a tool would like to be called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Whichever,
    Agent,
    Orchestrator,
    User,
}

impl Keys {
    pub fn one(raw: impl Into<String>) -> Self {
        Self { only: Some(raw.into()), ..Self::default() }
    }

    pub(crate) fn for_tool(&self, wanted: Wanted) -> Option<&str> {
        let own = match wanted {
            Wanted::Whichever => None,
            Wanted::Agent => self.agent.as_deref(),
            Wanted::Orchestrator => self.orchestrator.as_deref(),
            Wanted::User => self.user.as_deref(),
        };
        let whichever = || match wanted {
            // Reading is for everybody, so a process with one key of any role can read.
            Wanted::Whichever => self.agent.as_deref().or(self.user.as_deref()),
            _ => None,
        };
        self.only.as_deref().or(own).or(self.orchestrator.as_deref()).or_else(whichever)
    }
}

/// Never shown, not even in a trace.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(…)")
    }
}

/// One process was given an agent key and an orchestrator key of the same agent.
#[derive(Debug, PartialEq, Eq)]
pub struct SharedIdentity {
    pub agent: String,
}

/// Asks the queue whose keys these are. A key that the queue does not know is no reason to refuse here: each tool will
/// say so.
pub async fn refuse_shared_identity(
    api: &dyn StoryApi,
    keys: &Keys,
) -> Result<Result<(), SharedIdentity>, Unreachable> {
    let (Some(agent), Some(orchestrator)) = (&keys.agent, &keys.orchestrator) else { return Ok(Ok(())) };
    let (agent, orchestrator) = (identity(api, agent).await?, identity(api, orchestrator).await?);
    Ok(match (agent, orchestrator) {
        (Some(agent), Some(orchestrator)) if agent == orchestrator => Err(SharedIdentity { agent }),
        _ => Ok(()),
    })
}

async fn identity(api: &dyn StoryApi, raw: &str) -> Result<Option<String>, Unreachable> {
    let call = Call::new(Method::Get, format!("{BASE}/tenants/me")).with_key(raw);
    let answer = api.call(call).await?.value();
    Ok(find_agent(&answer))
}

/// The key's agent, with the tenant or beside it.
fn find_agent(answer: &Value) -> Option<String> {
    let places = ["/tenant/api_key/agent_id", "/api_key/agent_id"];
    places.iter().find_map(|place| answer.pointer(place)?.as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_general_key_wins_then_the_tools_own_then_the_orchestrators() {
        let mut keys = Keys {
            only: Some("all".into()),
            agent: Some("a".into()),
            orchestrator: Some("o".into()),
            user: None,
        };
        assert_eq!(keys.for_tool(Wanted::Agent), Some("all"));
        keys.only = None;
        assert_eq!(keys.for_tool(Wanted::Agent), Some("a"));
        assert_eq!(keys.for_tool(Wanted::User), Some("o"));
        assert_eq!(keys.for_tool(Wanted::Whichever), Some("o"));
        keys.orchestrator = None;
        assert_eq!(keys.for_tool(Wanted::Orchestrator), None);
        assert_eq!(keys.for_tool(Wanted::Whichever), Some("a"));
    }

    #[test]
    fn keys_are_never_printed() {
        assert_eq!(format!("{:?}", Keys::one("lc_secret")), "Keys(…)");
    }
}
