//! What a step used, and how far its figures are all of it. What may be used stands in `kernel::budget`.

use crate::kernel::fence::SandboxKind;
use crate::vocabulary::Millis;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub duration: Millis,
    pub output_bytes: u64,
    /// All of them: input, cached or not, and output.
    pub tokens: u64,
    /// Millionths of the currency's unit; integers only.
    pub cost_micros: u64,
    /// What `tokens` is made of, where the agent told it.
    #[serde(default, skip_serializing_if = "TokenKinds::is_untold")]
    pub kinds: TokenKinds,
    /// What the figures above leave open.
    #[serde(default, skip_serializing_if = "Told::is_usual")]
    pub told: Told,
    /// What held the step to its own places while it used all this; absent where nothing was started, and in records of
    /// older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<SandboxKind>,
}

/// How far the figures of a step can be trusted to be all of it. What is usual is not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    #[serde(default)]
    pub price: Price,
    #[serde(default)]
    pub count: Count,
}

impl Told {
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Price {
    /// What the amount says; an amount of nothing means that nobody told a price.
    #[default]
    AsAmount,
    /// Somebody told that it costs nothing.
    Free,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    #[default]
    All,
    /// It ended before it had told all of its tokens.
    AtLeast,
}

impl Usage {
    /// Adds tokens and money; time and output are counted by whoever measured them.
    pub(crate) fn spend(&mut self, more: &Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.cost_micros = self.cost_micros.saturating_add(more.cost_micros);
        self.kinds.input = self.kinds.input.saturating_add(more.kinds.input);
        self.kinds.cached = self.kinds.cached.saturating_add(more.kinds.cached);
        self.kinds.output = self.kinds.output.saturating_add(more.kinds.output);
        self.kinds.reasoning = self.kinds.reasoning.saturating_add(more.kinds.reasoning);
        if more.told.count == Count::AtLeast {
            self.told.count = Count::AtLeast;
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenKinds {
    /// Cached ones included.
    pub input: u64,
    pub cached: u64,
    /// Reasoning included.
    pub output: u64,
    pub reasoning: u64,
}

impl TokenKinds {
    pub const fn is_untold(&self) -> bool {
        self.input == 0 && self.cached == 0 && self.output == 0 && self.reasoning == 0
    }
}
