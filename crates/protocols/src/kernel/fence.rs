//! How far the children of a run are held to their own places, and what held each of them in the end. Opaque to every decision;
//! fixed at the start so that a run that is taken up again is held the same way.

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    #[serde(default)]
    pub sandbox: SandboxWish,
    /// Which of the machine's means may be used, in this order; all of them where nobody chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub means: Option<Vec<SandboxKind>>,
    /// Further places that agents and checks may write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// For one agent or check with everything it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// What the places themselves are made of.
    #[serde(default, skip_serializing_if = "Workspaces::are_worktrees")]
    pub workspaces: Workspaces,
}

impl Fence {
    /// What is usual is not stored.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workspaces {
    #[default]
    Worktrees,
    /// Layers over one checkout of the base.
    Overlay,
}

impl Workspaces {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worktrees => "worktrees",
            Self::Overlay => "overlay",
        }
    }

    /// What is usual is not stored.
    pub fn are_worktrees(&self) -> bool {
        *self == Self::Worktrees
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxWish {
    /// Without one nothing is started.
    Required,
    /// Where the machine offers one.
    #[default]
    Auto,
    Off,
}

/// What was in force for one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxKind {
    Landlock,
    Namespaces,
    /// The child could write whatever its user can.
    None,
}

impl SandboxKind {
    pub const ALL: [Self; 3] = [Self::Landlock, Self::Namespaces, Self::None];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
            Self::None => "none",
        }
    }
}
