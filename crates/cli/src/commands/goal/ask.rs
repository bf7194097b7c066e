//! The question before anything is built: does a person agree to this contract? Asked only where one sits at a terminal;
//! everywhere else `--yes` says it.

use super::check;
use crate::output::Output;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use windlass_control_api::goal_setup::GoalSetup;
use windlass_control_api::{Code, Fault};

pub(super) fn can_ask(output: &Output) -> bool {
    output.tells_stories() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The hash that was agreed to; none where there is nothing to ask, or the answer was no.
pub(super) fn contract(setup: &GoalSetup, output: &mut Output) -> Result<Option<String>, Fault> {
    let Some(contract) = setup.contract.as_ref().filter(|contract| !contract.confirmed) else {
        return Ok(None);
    };
    if !setup.problems.is_empty() || !setup.in_the_way.is_empty() {
        return Ok(None);
    }
    check::show(setup, output);
    let failed = |error: std::io::Error| Fault::new(Code::FileSystem, format!("cannot ask: {error}"));
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "Does the loop work by this contract? [y/N] ").map_err(failed)?;
    stderr.flush().map_err(failed)?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(is_yes(&answer).then(|| contract.hash.clone()))
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_a_clear_yes_is_one() {
        for yes in ["y", "Y\n", " yes "] {
            assert!(is_yes(yes), "{yes:?}");
        }
        for no in ["", "\n", "n", "yes please", "yep", "1"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
