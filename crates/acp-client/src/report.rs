//! The client's own output: one line per signal, as the plain dialect reads it.

use std::io::{self, Write};

use serde_json::json;
use windlass_agent_drivers::{EndClaim, Signal};

use crate::failure::Failure;

#[derive(Debug, Default)]
pub(crate) struct Report {
    last_claim: Option<EndClaim>,
}

impl Report {
    pub(crate) fn tell(&mut self, signals: &[Signal]) -> Result<(), Failure> {
        for signal in signals {
            if let Signal::End { claim, .. } = signal {
                self.last_claim = Some(claim.clone());
            }
            write_line(&json!({ "windlass_signal": signal }).to_string())?;
        }
        Ok(())
    }

    /// An empty line means nothing, but it is output: an agent that thinks for long must not pass for one that hangs.
    pub(crate) fn sign_of_life(&self) -> Result<(), Failure> {
        write_line("")
    }

    pub(crate) fn is_success(&self) -> bool {
        self.last_claim == Some(EndClaim::Finished)
    }
}

fn write_line(line: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(|source| Failure::Unheard { source })
}
