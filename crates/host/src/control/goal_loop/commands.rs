//! Which command runs the tests and which ones guard a commit: the user's word, the contract's, or what the repository's
//! own files tell, in this order. Nothing is run here.

use super::setup::Files;
use crate::control::control_loop::{InWorkTree, detect};
use crate::settings::Settings;
use std::path::Path;
use windlass_artifact_formats::goal_loop::{CONTRACT_FILE, Contract};
use windlass_control_api::goal_setup::FoundCommand;
use windlass_git_workspaces::Checkout;

pub(super) struct Commands {
    pub(super) test: Option<FoundCommand>,
    pub(super) pre_commit: Vec<FoundCommand>,
    /// Those that stand in files of the repository other than its settings, whose commands are known as such.
    pub(super) foreign: Vec<String>,
    pub(super) notices: Vec<String>,
}

impl Commands {
    pub(super) fn of(settings: &Settings, contract: Option<&Contract>, top: &Path) -> Self {
        let mut commands =
            Self { test: None, pre_commit: Vec::new(), foreign: Vec::new(), notices: Vec::new() };
        let pinned = contract.map(|contract| contract.pinned.clone()).unwrap_or_default();
        match (given(settings, "goal.test-cmd"), pinned.test) {
            (Some(test), Some(pinned)) if test.command != pinned => {
                commands.notices.push(format!(
                    "the tests are run with `{}` ({}), not with the contract's `{pinned}`",
                    test.command, test.from
                ));
                commands.test = Some(test);
            }
            (Some(test), _) => commands.test = Some(test),
            (None, Some(pinned)) => commands.test = Some(commands.of_file(pinned, CONTRACT_FILE)),
            (None, None) => {
                commands.test = detected(top).map(|found| commands.of_file(found.command, &found.from));
            }
        }
        for command in pinned.pre_commit {
            let found = commands.of_file(command, CONTRACT_FILE);
            commands.pre_commit.push(found);
        }
        let from = origin(settings, "goal.pre-commit");
        for command in settings.list("goal.pre-commit") {
            if !commands.pre_commit.iter().any(|other| other.command == command) {
                commands.pre_commit.push(FoundCommand { command, from: from.clone() });
            }
        }
        commands
    }

    fn of_file(&mut self, command: String, from: &str) -> FoundCommand {
        if !self.foreign.contains(&command) {
            self.foreign.push(command.clone());
        }
        FoundCommand { command, from: from.to_owned() }
    }
}

/// The first test command that the repository's files speak for.
pub(super) fn detected(top: &Path) -> Option<FoundCommand> {
    let found = detect::sensors(&InWorkTree(top)).into_iter().find(|sensor| sensor.name == "test")?;
    Some(FoundCommand { command: found.command, from: found.why })
}

/// The commands that a goal loop of this checkout would run; none where nothing usable is set up.
pub(crate) fn commands_of(checkout: &Checkout) -> Vec<String> {
    let top = checkout.work_tree();
    let files = Files::read(top);
    let Some(contract) = files.contract.ours() else { return Vec::new() };
    let test = contract.pinned.test.clone().or_else(|| detected(top).map(|found| found.command));
    test.into_iter().chain(contract.pinned.pre_commit.iter().cloned()).collect()
}

fn given(settings: &Settings, key: &str) -> Option<FoundCommand> {
    let command = settings.text(key)?.to_owned();
    Some(FoundCommand { command, from: origin(settings, key) })
}

fn origin(settings: &Settings, key: &str) -> String {
    settings.origin(key).map(ToString::to_string).unwrap_or_default()
}
