//! `windlass demo goal`: three items, of which the first is approved by hand at L1, the second needs a second try, and the
//! third is handed back to a person.

use super::narration::{say, show_list, step};
use super::{Stage, not_as_told};
use crate::commands::scratch_repository;
use crate::commands::shell_words::quoted;
use crate::commands::work_flags::{Given, text};
use crate::output::{LiveView, Output, Story, printable};
use windlass_control_api::commands::LandingPlace;
use windlass_control_api::goal_setup::StartGoal;
use windlass_control_api::inbox::ApproveRun;
use windlass_control_api::views::{RunOutcome, Status};
use windlass_control_api::{Control, Fault};

pub(super) const SECOND_SCRIPT: &str = "second.toml";

pub(super) async fn play(
    stage: &Stage,
    control: &dyn Control,
    output: &mut Output,
) -> Result<RunOutcome, Fault> {
    introduce(stage, control, output).await?;
    step(output, "One item at L1: nothing is committed before a person approved exactly that tree");
    let rested =
        run(stage, control, output, "script.toml", &[("goal.scope", "F001"), ("goal.autonomy", "L1")]);
    let rested = rested.await?;
    let proposed = rested.goal.as_ref().and_then(|goal| goal.proposed.clone());
    let Some(proposed) = proposed.filter(|_| rested.status == Status::NeedsHuman) else {
        return Err(not_as_told(&rested, stage, "the change of F001 should wait for approval"));
    };
    say(output, &format!("  $ windlass approve {} --tree {}", rested.run, proposed.tree));
    let first = approve(control, output, &rested.run, &proposed.tree).await?;
    if first.status != Status::Accepted {
        return Err(not_as_told(&first, stage, "the approved change should have become a commit"));
    }
    let branch = first.goal.as_ref().map(|goal| goal.branch.clone()).unwrap_or_default();
    say(output, &format!("  $ git merge {branch}"));
    scratch_repository::merge(&stage.repository(), &branch, stage.environment())?;

    step(output, "The rest at L2: commits by itself, and stops where it has to");
    let second = run(stage, control, output, SECOND_SCRIPT, &[]).await?;
    let goal = second.goal.as_ref();
    let escalated = goal.and_then(|goal| goal.outcome.as_deref()) == Some("ESCALATED");
    if !escalated || goal.is_none_or(|goal| goal.commits.len() != 1 || goal.iterations_done.len() != 4) {
        return Err(not_as_told(&second, stage, "F002 should be committed and F003 handed back"));
    }
    tell(&second, output);
    if output.is_json() {
        output.json_line(&first);
    }
    show_commands(stage, &second, output);
    Ok(second)
}

async fn introduce(stage: &Stage, control: &dyn Control, output: &mut Output) -> Result<(), Fault> {
    say(
        output,
        &format!("A small repository with a queue and a contract, in {}", stage.repository().display()),
    );
    let setup = control.goal_setup(&stage.repository(), Given::new()).await?;
    for item in &setup.items {
        say(output, &format!("  {}  {}: {}", item.id, printable(&item.name), item.standing.word()));
    }
    for sentence in &setup.not_enforced {
        say(output, &format!("  no machine holds to: {}", printable(sentence)));
    }
    Ok(())
}

async fn run(
    stage: &Stage,
    control: &dyn Control,
    output: &mut Output,
    script: &str,
    more: &[(&str, &str)],
) -> Result<RunOutcome, Fault> {
    let mut settings = Given::new();
    text(&mut settings, "agent", &format!("scripted:{}", stage.shared(script).display()));
    for (key, value) in more {
        text(&mut settings, key, value);
    }
    let command = StartGoal {
        repository: stage.repository(),
        directory: stage.root().to_owned(),
        settings,
        yes: true,
        ..StartGoal::default()
    };
    let view = LiveView::new(output, Story::Data);
    let ended = control.start_goal(command, &view).await;
    drop(view);
    ended
}

async fn approve(
    control: &dyn Control,
    output: &mut Output,
    run: &str,
    tree: &str,
) -> Result<RunOutcome, Fault> {
    let command = ApproveRun {
        run: run.to_owned(),
        tree: Some(tree.to_owned()),
        place: LandingPlace::Branch(None),
        wait: false,
    };
    let view = LiveView::new(output, Story::Data);
    let ended = control.approve(command, &view).await;
    drop(view);
    ended
}

fn tell(outcome: &RunOutcome, output: &mut Output) {
    step(output, "What happened");
    let lines = [
        "F002 came without a test; the evaluator failed it, the next builder was told why, and the second try is a",
        "commit. F003 was failed twice for the same cause in other words: the engine compares causes by category and",
        "place, so there was no third try. It waits for a person, in the inbox and in docs/LOOP.md:",
    ];
    for line in lines {
        say(output, line);
    }
    for reason in outcome.explanation.because.iter().take(1) {
        say(output, &format!("  {}", printable(reason)));
    }
    for command in &outcome.explanation.commands {
        say(output, &format!("  next: {}", printable(command)));
    }
}

fn show_commands(stage: &Stage, outcome: &RunOutcome, output: &mut Output) {
    let windlass = stage.windlass();
    let run = &outcome.run;
    let mut commands = vec![
        (format!("{windlass} inbox"), "what waits for a person"),
        (format!("{windlass} goal status {run}"), "items, iterations, commits to read"),
        (format!("{windlass} explain {run}"), "why it came out so"),
        (format!("{windlass} verify {run}"), "does the record hold?"),
    ];
    if let Some(goal) = &outcome.goal {
        let place = quoted(&stage.repository().to_string_lossy());
        commands.push((format!("git -C {place} log --oneline {}", goal.branch), "one commit for each item"));
        commands.push((format!("git -C {place} show {}:docs/loop-run-log.md", goal.branch), "the ledger"));
    }
    show_list(commands, output);
}
