//! The client's own output: one line per signal, as the plain dialect reads it.

use std::io::{self, Stdout, Write};

use serde_json::json;
use windlass_agent_drivers::{EndClaim, Signal};

use crate::failure::Failure;

#[derive(Debug)]
pub(crate) struct Report {
    stdout: Stdout,
    last_claim: Option<EndClaim>,
}

impl Report {
    pub(crate) fn to_stdout() -> Self {
        Self { stdout: io::stdout(), last_claim: None }
    }

    pub(crate) fn tell(&mut self, signals: &[Signal]) -> Result<(), Failure> {
        for signal in signals {
            if let Signal::End { claim, .. } = signal {
                self.last_claim = Some(claim.clone());
            }
            self.write_line(&json!({ "windlass_signal": signal }).to_string())?;
        }
        Ok(())
    }

    /// An empty line means nothing, but it is output: an agent that thinks for long must not pass for one that hangs.
    pub(crate) fn sign_of_life(&mut self) -> Result<(), Failure> {
        self.write_line("")
    }

    pub(crate) fn is_success(&self) -> bool {
        self.last_claim == Some(EndClaim::Finished)
    }

    fn write_line(&mut self, line: &str) -> Result<(), Failure> {
        let written = writeln!(self.stdout, "{line}").and_then(|()| self.stdout.flush());
        written.map_err(|source| Failure::Unheard { source })
    }
}
