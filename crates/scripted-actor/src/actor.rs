//! Chooses the step and carries out its actions one after the other. What each action does lives in its own file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_agent_drivers::script::{
    Action, ForkAddress, Output, Places, PromptReading, RunFailure, Script, Template,
};
use windlass_process_supervisor::QuickCommand;

use crate::descendants::{self, Part};
use crate::waiting::DeafToTerm;
use crate::{ActorError, Performance, claims, files, streams, waiting};

/// A command of a script that takes longer than this was meant to hang, and `hang` is the way to say that.
const RUN_DEADLINE: Duration = Duration::from_mins(30);

/// Whether there is a next action.
pub(crate) enum Next {
    GoOn,
    End(u8),
}

pub(crate) struct Actor<'p> {
    pub(crate) performance: &'p Performance,
    script_dir: &'p Path,
    prompt: Vec<u8>,
    /// Paths in the workspace changed so far: what an honest hand-off names.
    touched: BTreeSet<String>,
    deaf: Option<DeafToTerm>,
}

pub(crate) fn perform(performance: &Performance) -> Result<u8, ActorError> {
    let path = &performance.script_file;
    let text = std::fs::read_to_string(path)
        .map_err(|source| ActorError::ScriptUnreadable { path: path.clone(), source })?;
    let script = Script::parse(&text).map_err(|source| ActorError::Script { path: path.clone(), source })?;
    let mut actor = Actor {
        performance,
        script_dir: path.parent().unwrap_or(&performance.workspace),
        prompt: Vec::new(),
        touched: BTreeSet::new(),
        deaf: None,
    };
    match &performance.part {
        Part::Agent => {
            let Performance { role, round, attempt, .. } = *performance;
            let Some((index, step)) = script.step_for(role, (round, attempt), performance.label.as_deref())
            else {
                return Err(ActorError::NoStep { path: path.clone(), role, round, attempt });
            };
            if step.prompt == PromptReading::ToTheEnd {
                actor.read_prompt()?;
            }
            actor.perform_all(&step.actions, &ForkAddress::of_step(index))
        }
        Part::Descendant { stage, address } => {
            let actions = script
                .actions_at(address)
                .ok_or_else(|| ActorError::NoFork { path: path.clone(), address: address.clone() })?;
            if descendants::enter(performance, *stage, address)? {
                actor.perform_all(actions, address)
            } else {
                Ok(0)
            }
        }
    }
}

impl Actor<'_> {
    fn perform_all(&mut self, actions: &[Action], address: &ForkAddress) -> Result<u8, ActorError> {
        for (index, action) in actions.iter().enumerate() {
            if let Next::End(code) = self.perform_one(action, &address.inside(index))? {
                return Ok(code);
            }
        }
        Ok(0)
    }

    fn perform_one(&mut self, action: &Action, address: &ForkAddress) -> Result<Next, ActorError> {
        match action {
            Action::Write { path, content, mode } => {
                files::write(&self.work_path(path), content)?;
                self.set_mode(path, *mode)?;
            }
            Action::Append { path, content } => files::append(&self.work_path(path), content)?,
            Action::Delete { path } => files::delete(&self.work_path(path))?,
            Action::Rename { from, to } => files::rename(&self.work_path(from), &self.work_path(to))?,
            Action::Chmod { path, mode } => self.set_mode(path, Some(*mode))?,
            Action::Symlink { path, target } => {
                let target = self.fill(target);
                files::symlink(Path::new(&target), &self.work_path(path))?;
            }
            Action::Mkdir { path } => files::make_directory(&self.work_path(path))?,
            Action::Run { words, failure } => self.run(words, *failure)?,
            Action::Claim { artifact, keys, without } => {
                let task_id = self.performance.task_id.as_deref();
                let claim = claims::compose(*artifact, keys, without, task_id, &self.touched)?;
                files::write_bytes(&self.performance.outbox.join(artifact.file_name()), &claim)?;
            }
            Action::Artifact { name, thing, mode } => {
                let place = self.performance.outbox.join(self.fill(name));
                files::leave_thing(&place, thing, |target| self.fill(target), &self.performance.workspace)?;
                mode.map_or(Ok(()), |mode| files::set_mode(&place, mode))?;
            }
            Action::Say { stream, content } => streams::say(*stream, content)?,
            Action::Flood { stream, bytes, line_length } => streams::flood(*stream, *bytes, *line_length)?,
            Action::Hang(hang) => return waiting::hang(hang),
            Action::IgnoreTerm => self.deaf = Some(DeafToTerm::from_now_on()?),
            Action::Crash(signal) => return waiting::crash(*signal),
            Action::Exit { code } => return Ok(Next::End(*code)),
            Action::Fork { kind, stdout, .. } => {
                descendants::fork(self.performance, *kind, *stdout, address)?;
            }
            Action::ForkStorm { count, .. } => descendants::storm(self.performance, *count, address)?,
            Action::WaitFor { path } => waiting::wait_for(&self.note_path(path))?,
            Action::Count { path } => self.count(&self.note_path(path))?,
            Action::Beat { path, every_ms } => return waiting::beat(&self.work_path(path), *every_ms),
            Action::SavePrompt { path } => files::write_bytes(&self.note_path(path), &self.prompt)?,
        }
        self.note_touched(action);
        Ok(Next::GoOn)
    }

    fn read_prompt(&mut self) -> Result<(), ActorError> {
        io::stdin()
            .lock()
            .read_to_end(&mut self.prompt)
            .map(drop)
            .map_err(|source| ActorError::System { doing: "read the prompt from stdin", source })
    }

    fn fill(&self, template: &Template) -> OsString {
        template.fill(&Places {
            workspace: &self.performance.workspace,
            outbox: &self.performance.outbox,
            script_dir: self.script_dir,
            task: self.performance.task_id.as_deref().unwrap_or_default(),
            role: self.performance.role,
            round: self.performance.round,
            attempt: self.performance.attempt,
        })
    }

    /// For the agent's work.
    fn work_path(&self, path: &Template) -> PathBuf {
        self.performance.workspace.join(self.fill(path))
    }

    /// For notes to and from whoever wrote the script, which must not show up as work.
    fn note_path(&self, path: &Template) -> PathBuf {
        self.script_dir.join(self.fill(path))
    }

    fn set_mode(&self, path: &Template, mode: Option<u32>) -> Result<(), ActorError> {
        mode.map_or(Ok(()), |mode| files::set_mode(&self.work_path(path), mode))
    }

    fn count(&self, path: &Path) -> Result<(), ActorError> {
        let Performance { role, round, attempt, .. } = self.performance;
        files::append_bytes(path, format!("{role} {round} {attempt}\n").as_bytes())
    }

    fn note_touched(&mut self, action: &Action) {
        let paths: &[&Template] = match action {
            Action::Write { path, .. }
            | Action::Append { path, .. }
            | Action::Delete { path }
            | Action::Chmod { path, .. }
            | Action::Symlink { path, .. } => &[path],
            Action::Rename { from, to } => &[from, to],
            _ => &[],
        };
        for path in paths {
            if let Ok(inside) = self.work_path(path).strip_prefix(&self.performance.workspace) {
                self.touched.insert(inside.to_string_lossy().into_owned());
            }
        }
    }

    fn run(&self, words: &[Template], failure: RunFailure) -> Result<(), ActorError> {
        let words: Vec<OsString> = words.iter().map(|word| self.fill(word)).collect();
        let [program, arguments @ ..] = words.as_slice() else {
            return Ok(());
        };
        let output = QuickCommand::new(program, &self.performance.workspace)
            .args(arguments)
            .envs(&self.performance.environment)
            .deadline(RUN_DEADLINE)
            .run()?;
        streams::say_bytes(Output::Stdout, &output.stdout)?;
        streams::say_bytes(Output::Stderr, &output.stderr)?;
        if output.status.success() || failure == RunFailure::IsIgnored {
            return Ok(());
        }
        let shown: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        Err(ActorError::RunFailed { command: shown.join(" "), status: output.status })
    }
}
