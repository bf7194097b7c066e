//! Where a run lives and who plays in it. Fixed at the start, so that a restart finds the same places and people.

use crate::kernel::fence::Fence;
use crate::kernel::gate::GateRules;
use crate::vocabulary::{CommitId, Role};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Where the run lives. Opaque to every decision; fixed at the start so that a restart finds the same places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub repository: String,
    pub common_dir: String,
    pub run_dir: String,
    pub base_ref: String,
    pub base: CommitId,
    /// The maker's branch; in a control loop the one that every iteration is committed to.
    pub doer_branch: String,
    /// Empty in a loop whose checkers have no branch.
    pub judge_branch: String,
    /// How each role's agent is started, as the user said it.
    pub agents: BTreeMap<Role, String>,
    /// Who is asked, in this order, while the role's own agent cannot be asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fallbacks: BTreeMap<Role, Vec<String>>,
    /// Text of user prompt files that replace the built-in bodies, by role.
    pub prompts: BTreeMap<Role, String>,
    /// Who landed commits are by. Part of a commit's id, so a landing that is repeated must not look it up anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// How far agents and checks are held to their own places.
    #[serde(default, skip_serializing_if = "Fence::is_usual")]
    pub fence: Fence,
    /// How closely changes of tests, checks and their configuration are looked at.
    #[serde(default, skip_serializing_if = "GateRules::is_unset")]
    pub gate: GateRules,
}

impl Place {
    /// The agents of a role in the order in which they are asked.
    pub fn chain(&self, role: Role) -> impl Iterator<Item = &str> {
        let first = self.agents.get(&role).into_iter();
        first.chain(self.fallbacks.get(&role).into_iter().flatten()).map(String::as_str)
    }
}
