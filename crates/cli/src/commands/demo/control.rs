//! `windlass demo control`: a control loop that converges, one that goes in circles and is stopped, and what was measured.

use super::control_scripts::{self as scripts};
use super::narration::{say, show_list, step};
use super::{Stage, not_as_told};
use crate::commands::control::report::best_words;
use crate::commands::control::terminal_charts;
use crate::commands::scratch_repository;
use crate::commands::shell_words::quoted;
use crate::commands::work_flags::text;
use crate::output::{LiveView, Output, Story};
use std::path::PathBuf;
use windlass_control_api::control_loop::{InitControl, StartControl};
use windlass_control_api::views::{RunOutcome, Status};
use windlass_control_api::{Control, Fault};

/// One of the two repositories.
struct Plant {
    directory: PathBuf,
    script: &'static str,
    task: &'static str,
    sensors: [(&'static str, &'static str); 3],
    steady_limit: u32,
}

pub(super) const CACHE: &str = "cache";
pub(super) const CACHE_SCRIPT: &str = "cache.toml";

pub(super) async fn play(
    stage: &Stage,
    control: &dyn Control,
    output: &mut Output,
) -> Result<RunOutcome, Fault> {
    let slugs = Plant {
        directory: stage.repository(),
        script: "script.toml",
        task: scripts::SLUG_TASK,
        sensors: scripts::SLUG_SENSORS,
        steady_limit: 3,
    };
    introduce(&slugs, output);
    step(output, "A loop that converges");
    let first = slugs.run(stage, control, output).await?;
    if first.status != Status::Accepted || first.rounds_completed != 3 {
        return Err(not_as_told(&first, stage, "the target should have been met after three actuations"));
    }
    step(output, "What happened");
    say(
        output,
        "Every iteration was measured by the engine itself and is a commit. In the third the controller said that",
    );
    say(
        output,
        "the target is met; two sensors did not pass on that very tree, so the engine refused it. The fourth time",
    );
    say(output, "everything passed, and only then the word counted.");
    branch(&first, output);

    let cache = Plant {
        directory: stage.root().join(CACHE),
        script: CACHE_SCRIPT,
        task: scripts::CACHE_TASK,
        sensors: scripts::CACHE_SENSORS,
        steady_limit: 2,
    };
    step(output, "A loop that goes in circles");
    introduce(&cache, output);
    let second = cache.run(stage, control, output).await?;
    let best = second.control.as_ref().and_then(|control| control.best.as_ref());
    if second.status != Status::NeedsHuman || best.is_none_or(|best| best.commit.is_none()) {
        return Err(not_as_told(
            &second,
            stage,
            "the loop should have been stopped with its best commit named",
        ));
    }
    step(output, "What happened");
    say(
        output,
        "What speeds the pages up does not fit, and what fits is slow: states came back, and the engine saw it in the",
    );
    say(
        output,
        "figures. It stopped long before the cap, names the best commit, and the branch ends on that content:",
    );
    branch(&second, output);
    if output.tells_stories() {
        step(output, &format!("What was measured (`windlass control plot {}`)", second.run));
        for line in terminal_charts(&control.measurements(&second.run).await?, output.look()) {
            output.line(line);
        }
    }
    if output.is_json() {
        output.json_line(&first);
    }
    show_commands(stage, &[(&slugs, &first), (&cache, &second)], output);
    Ok(second)
}

fn introduce(plant: &Plant, output: &mut Output) {
    say(output, &format!("A small repository, in {}", plant.directory.display()));
    say(output, &format!("  the task     {}", plant.task));
    for (number, (name, command)) in plant.sensors.iter().enumerate() {
        let head = if number == 0 { "the sensors" } else { "" };
        say(output, &format!("  {head:11}  {name}: {command}"));
    }
}

impl Plant {
    /// Set up by `windlass control init`, as any repository is.
    async fn run(
        &self,
        stage: &Stage,
        control: &dyn Control,
        output: &mut Output,
    ) -> Result<RunOutcome, Fault> {
        let sensors = self.sensors.iter().map(|(name, command)| ((*name).to_owned(), (*command).to_owned()));
        let init = InitControl {
            repository: self.directory.clone(),
            sensors: sensors.collect(),
            ..InitControl::default()
        };
        control.init_control(init).await?;
        let message = "Set up the control loop";
        scratch_repository::commit_all(&self.directory, message, stage.environment())?;
        let mut settings = Vec::new();
        text(&mut settings, "agent", &format!("scripted:{}", stage.shared(self.script).display()));
        let command = StartControl {
            repository: self.directory.clone(),
            directory: stage.root().to_owned(),
            task: self.task.to_owned(),
            settings,
            steady_limit: Some(self.steady_limit),
            yes: true,
            ..StartControl::default()
        };
        let view = LiveView::new(output, Story::Data);
        let ended = control.start_control(command, &view).await;
        drop(view);
        ended
    }
}

fn branch(outcome: &RunOutcome, output: &mut Output) {
    let Some(control) = &outcome.control else { return };
    say(output, &format!("  branch   {} ({} commits)", control.branch, control.commits));
    if let Some(best) = &control.best {
        say(output, &format!("  best     {}", best_words(best)));
    }
}

fn show_commands(stage: &Stage, plays: &[(&Plant, &RunOutcome)], output: &mut Output) {
    let windlass = stage.windlass();
    let mut commands = Vec::new();
    for (plant, outcome) in plays {
        let run = &outcome.run;
        commands.extend([
            (format!("{windlass} control status {run}"), "where it stands, node by node"),
            (format!("{windlass} control plot {run}"), "what was measured"),
            (format!("{windlass} explain {run}"), "why it came out so"),
            (format!("{windlass} verify {run}"), "does the record hold?"),
        ]);
        if let Some(control) = &outcome.control {
            let place = quoted(&plant.directory.to_string_lossy());
            let log = format!("git -C {place} log --oneline main..{}", control.branch);
            commands.push((log, "a commit for every iteration"));
        }
    }
    show_list(commands, output);
}
