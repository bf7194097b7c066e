//! The last conversation with an agent, for loops that go on with one. It knows no loop.

use crate::outcome::AgentSession;
use crate::vocabulary::Role;
use alloc::string::String;

/// A conversation, and with whom; one with another agent cannot be gone on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSession {
    pub role: Role,
    pub agent: String,
    pub session: Option<AgentSession>,
}

impl LastSession {
    /// What to go on with when this agent is asked in this role again.
    pub(crate) fn with(&self, role: Role, agent: Option<&str>) -> Option<AgentSession> {
        let same = self.role == role && Some(self.agent.as_str()) == agent;
        self.session.clone().filter(|_| same)
    }
}
