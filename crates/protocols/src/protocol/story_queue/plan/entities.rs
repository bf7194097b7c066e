//! Projects, epics, stories and criteria as they are kept, and the numbers people call stories by.

use crate::protocol::story_queue::vocabulary::{DependencyId, EpicId, JsonText, Micros, ProjectId, StoryId};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProjectStatus {
    Active,
    Archived,
}

impl ProjectStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    /// Unique in the tenant; never changes, for scripts name projects by it.
    pub slug: String,
    pub repo_url: Option<String>,
    pub description: Option<String>,
    pub tech_stack: Option<String>,
    pub mission: Option<String>,
    pub metadata: JsonText,
    pub status: ProjectStatus,
    pub created: Micros,
    pub updated: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epic {
    pub id: EpicId,
    pub project: ProjectId,
    /// Unique in the project; never changes.
    pub number: u32,
    pub title: String,
    pub description: Option<String>,
    pub phase: Option<String>,
    pub position: u32,
    pub metadata: JsonText,
    pub created: Micros,
    pub updated: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Story {
    pub id: StoryId,
    pub project: ProjectId,
    pub epic: EpicId,
    /// Unique in the project; never changes.
    pub number: StoryNumber,
    pub title: String,
    pub description: Option<String>,
    pub criteria: Vec<Criterion>,
    pub estimated_hours: Option<CentiHours>,
    pub metadata: JsonText,
    /// Counts the changes of title and criteria. A contract binds to one wording: it cannot outlive an edit.
    pub wording: u32,
    pub created: Micros,
    pub updated: Micros,
}

/// Hundredths of an hour: estimates are decimals, and money and time are integers here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CentiHours(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Unique in the story; `AC-<place>` where the author gave none.
    pub ac_id: String,
    pub criterion: String,
    /// How it is to be checked: an object with a `type`, as the author wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<JsonText>,
    /// The author's other keys, an object.
    #[serde(default)]
    pub extra: JsonText,
    #[serde(default)]
    pub status: CriterionStatus,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CriterionStatus {
    #[default]
    Pending,
    Verified,
    Failed,
    Unverifiable,
}

impl CriterionStatus {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Verified, Self::Failed, Self::Unverifiable];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Verified => "verified",
            Self::Failed => "failed",
            Self::Unverifiable => "unverifiable",
        }
    }
}

/// `major` or `major.minor`, each 0–9999. Ordered as people count: 3, 3.1, 3.10, 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoryNumber {
    pub major: u16,
    pub minor: Option<u16>,
}

/// Not `3`, `3.1` or `US-3.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotANumber;

impl StoryNumber {
    /// The original's single number. Minors above 999 run into the next major there, so it orders nothing here.
    pub fn sort_key(self) -> u32 {
        u32::from(self.major) * 10_000 + u32::from(self.minor.unwrap_or(0)) * 10
    }
}

impl fmt::Display for StoryNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor {
            Some(minor) => write!(f, "{}.{minor}", self.major),
            None => write!(f, "{}", self.major),
        }
    }
}

impl FromStr for StoryNumber {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let bare = text.trim();
        let bare = bare.strip_prefix("US-").or_else(|| bare.strip_prefix("us-")).unwrap_or(bare);
        let part = |digits: &str| {
            let plain = !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit());
            if plain { digits.parse::<u16>().map_err(|_| NotANumber) } else { Err(NotANumber) }
        };
        match bare.split_once('.') {
            None => Ok(Self { major: part(bare)?, minor: None }),
            Some((major, minor)) => Ok(Self { major: part(major)?, minor: Some(part(minor)?) }),
        }
    }
}

impl Serialize for StoryNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StoryNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|NotANumber| de::Error::custom("not a story number"))
    }
}

/// "from" waits for "on". Both ends are of one kind and one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    Story { from: StoryId, on: StoryId },
    Epic { from: EpicId, on: EpicId },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    pub id: DependencyId,
    pub project: ProjectId,
    pub edge: Edge,
    pub created: Micros,
}
