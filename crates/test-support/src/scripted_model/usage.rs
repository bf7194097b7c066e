//! Token figures as a script sets them, in one form whatever the wire format: cached tokens are part of the input,
//! reasoning tokens part of the output.

use std::iter::Sum;
use std::ops::Add;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub reasoning: u64,
}

impl Usage {
    pub const NONE: Self = Self { input: 0, cached: 0, output: 0, reasoning: 0 };
    /// What a turn costs when the script does not say.
    pub const ORDINARY: Self = Self { input: 1000, cached: 200, output: 100, reasoning: 0 };
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cached: self.cached + other.cached,
            output: self.output + other.output,
            reasoning: self.reasoning + other.reasoning,
        }
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::NONE, Add::add)
    }
}
