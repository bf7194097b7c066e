//! Commands that the contract pins under Verification: `- Test command: ` and `- Pre-commit command: ` with the command
//! between backticks. Whether they may be run is not decided here.

use crate::markdown::Bullet;

const TEST: &str = "Test command";
const PRE_COMMIT: &str = "Pre-commit command";

/// What the engine runs where the contract says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PinnedCommands {
    /// Runs the full test suite.
    pub test: Option<String>,
    /// Each must pass on the exact tree before it is committed.
    pub pre_commit: Vec<String>,
}

impl PinnedCommands {
    /// List items as they stand in a contract, one line each; nothing where a command cannot be written on one line.
    pub(super) fn bullets(&self) -> Option<String> {
        let test = self.test.iter().map(|command| (TEST, command));
        let pre_commit = self.pre_commit.iter().map(|command| (PRE_COMMIT, command));
        let line = |(label, command): (&str, &String)| Some(format!("\n- {label}: {}", code_span(command)?));
        test.chain(pre_commit).map(line).collect()
    }

    /// Whether these commands come back from a contract as they are.
    pub fn can_be_pinned(&self) -> bool {
        self.bullets().is_some()
    }

    /// Takes a list item in if it pins a command. An error says how to write it.
    pub(super) fn take(&mut self, bullet: &Bullet) -> Result<(), String> {
        let Some((label, rest)) = labelled(&bullet.text) else { return Ok(()) };
        let command = code_of(rest).ok_or_else(|| format!("{label}: write the command between backticks"))?;
        match label {
            TEST if self.test.is_some() => Err(format!("{label}: there is one above already")),
            TEST => {
                self.test = Some(command);
                Ok(())
            }
            _ => {
                self.pre_commit.push(command);
                Ok(())
            }
        }
    }
}

/// Whether a sentence of the contract pins a command.
pub(super) fn pins(sentence: &str) -> bool {
    labelled(sentence).is_some()
}

fn labelled(text: &str) -> Option<(&'static str, &str)> {
    let (label, rest) = text.split_once(':')?;
    let label = label.replace('*', "");
    let known = [TEST, PRE_COMMIT].into_iter().find(|known| known.eq_ignore_ascii_case(label.trim()))?;
    Some((known, rest.trim().trim_start_matches('*').trim_start()))
}

/// A code span with more backticks around it than are inside.
fn code_span(command: &str) -> Option<String> {
    let plain =
        !command.trim().is_empty() && command.trim() == command && !command.contains(['\n', '\r', '\0']);
    // A comment would be blanked out before the command is read.
    if !plain || command.contains("<!--") {
        return None;
    }
    let runs = command.split(|letter| letter != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    let gap = if command.starts_with('`') || command.ends_with('`') { " " } else { "" };
    Some(format!("{fence}{gap}{command}{gap}{fence}"))
}

fn code_of(text: &str) -> Option<String> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let fence = &text[..ticks];
    let inside = text.get(ticks..)?.strip_suffix(fence).filter(|_| ticks > 0)?;
    // The span must be all there is, and end where it seems to.
    let closes_early = inside.split(|letter| letter != '`').any(|run| run.len() == ticks);
    let command = inside.trim();
    (!command.is_empty() && !closes_early).then(|| command.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bullet(text: &str) -> Bullet {
        Bullet { text: text.to_owned(), span: 0..text.len() }
    }

    #[test]
    fn a_command_stands_between_backticks_and_there_is_one_test_command() {
        let mut pinned = PinnedCommands::default();
        pinned.take(&bullet("**Test command**: `cargo test  --workspace`")).unwrap();
        pinned.take(&bullet("pre-commit command: ``echo `date` ``")).unwrap();
        pinned.take(&bullet("Full test suite green")).unwrap();
        assert_eq!(pinned.test.as_deref(), Some("cargo test  --workspace"));
        assert_eq!(pinned.pre_commit, ["echo `date`"]);
        assert_eq!(
            pinned.take(&bullet("Test command: `make`")),
            Err("Test command: there is one above already".to_owned())
        );
        for wrong in ["make test", "", "``", "`make` or `just`", "`make` by hand"] {
            let told = PinnedCommands::default().take(&bullet(&format!("Test command: {wrong}")));
            assert_eq!(told, Err("Test command: write the command between backticks".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn what_cannot_stand_on_one_line_is_not_pinned() {
        for command in ["", "a\nb", " a", "a <!-- b"] {
            let pinned = PinnedCommands { test: Some(command.to_owned()), pre_commit: Vec::new() };
            assert!(!pinned.can_be_pinned(), "{command:?}");
        }
    }

    proptest! {
        #[test]
        fn every_pinned_command_comes_back(command in "[a-z`][a-z` '\"|&:*]{0,12}[a-z`]") {
            let pinned = PinnedCommands { test: Some(command.clone()), pre_commit: vec![command] };
            let mut found = PinnedCommands::default();
            for line in pinned.bullets().unwrap().lines().filter(|line| !line.is_empty()) {
                found.take(&bullet(line.trim_start_matches("- "))).unwrap();
            }
            prop_assert_eq!(found, pinned);
        }
    }
}
