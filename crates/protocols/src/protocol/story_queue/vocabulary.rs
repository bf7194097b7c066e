//! Ids, moments and small values of the story queue. Nothing here decides anything.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Sixteen bytes with the usual spelling: lower-case hexadecimal in groups of 8-4-4-4-12.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// Not spelled as an id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnId;

impl FromStr for Uuid {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let well_placed = |(place, byte): (usize, u8)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        };
        if text.len() != 36 || !text.bytes().enumerate().all(well_placed) {
            return Err(NotAnId);
        }
        let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair.iter().fold(0, |value, digit| value << 4 | digit);
        }
        Ok(Self(bytes))
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

impl Serialize for Uuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|NotAnId| de::Error::custom("not an id: 8-4-4-4-12 hexadecimal digits"))
    }
}

macro_rules! entity_id {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                text.parse().map(Self)
            }
        }
    )+};
}

entity_id! {
    TenantId
    KeyId
    AgentId
    ProjectId
    EpicId
    StoryId
    DependencyId
    DispatchId
    ArtifactId
    ReviewId
    VerificationId
    ViolationId
    UsageId
    BudgetId
    AnomalyId
    SkillId
    SkillVersionId
    SkillResultId
    WebhookId
    /// One event on its way to one webhook.
    DeliveryId
    ArticleId
    LinkId
    UiTestId
    CheckpointId
    /// The random part of a capability token, by which it is used once.
    TokenId
}

/// Where new ids come from: time and randomness come in with what was asked, so that a decision stays a function.
#[derive(Clone, Debug)]
pub struct Ids {
    at: Micros,
    seed: Uuid,
    given: u32,
}

impl Ids {
    /// The seed is random; ids of one seed differ in their last four bytes.
    pub fn new(at: Micros, seed: Uuid) -> Self {
        Self { at, seed, given: 0 }
    }

    pub fn at(&self) -> Micros {
        self.at
    }

    /// Ordered by time, as version 7 of the format asks.
    pub fn fresh(&mut self) -> Uuid {
        let mut bytes = self.seed.0;
        let millis = (self.at.0 / 1000).to_be_bytes();
        bytes[..6].copy_from_slice(&millis[2..]);
        bytes[6] = 0x70 | (bytes[6] & 0x0f);
        bytes[8] = 0x80 | (bytes[8] & 0x3f);
        let tail = u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        bytes[12..].copy_from_slice(&tail.wrapping_add(self.given).to_be_bytes());
        self.given = self.given.wrapping_add(1);
        Uuid(bytes)
    }
}

/// Microseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Micros(pub u64);

impl Micros {
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    #[must_use]
    pub const fn plus(self, length: Self) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

/// A JSON value as text. The core keeps what clients attach without looking into it; whoever brings it has parsed it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(pub String);

impl JsonText {
    pub fn empty_object() -> Self {
        Self("{}".to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for JsonText {
    fn default() -> Self {
        Self::empty_object()
    }
}

/// What a key may do. The order is the hierarchy; custody ignores it and asks for exact roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyRole {
    Agent,
    Orchestrator,
    User,
    Superadmin,
}

impl KeyRole {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Orchestrator => "orchestrator",
            Self::User => "user",
            Self::Superadmin => "superadmin",
        }
    }
}
