//! `windlass demo roadmap`: a control plane set up from answers, a round whose first review says no, two rounds side by side,
//! and a roadmap that changes its mind on the way.

use super::narration::{say, show_list, step};
use super::{Stage, not_as_told, roadmap_scripts};
use crate::commands::scratch_repository::file_fault;
use crate::commands::shell_words::quoted;
use crate::commands::work_flags::{Given, text};
use crate::output::{LiveView, Output, Story, printable};
use windlass_control_api::roadmap_loop::StartRoadmap;
use windlass_control_api::roadmap_setup::{AnswersFormat, AnswersText, InitRoadmap};
use windlass_control_api::views::{RunOutcome, Status};
use windlass_control_api::{Code, Control, Fault};

pub(super) async fn play(
    stage: &Stage,
    control: &dyn Control,
    output: &mut Output,
) -> Result<RunOutcome, Fault> {
    set_up(stage, control, output).await?;
    step(
        output,
        "The run: planner, implementer and reviewer are separate agents, in a worktree of their round",
    );
    let mut settings = Given::new();
    text(&mut settings, "agent", &stage.agent());
    let command = StartRoadmap {
        repository: stage.repository(),
        directory: stage.root().to_owned(),
        settings,
        yes: true,
        ..StartRoadmap::default()
    };
    let view = LiveView::new(output, Story::Data);
    let ended = control.start_roadmap(command, &view).await;
    drop(view);
    let outcome = ended?;
    let as_told = outcome.roadmap.as_ref().is_some_and(|roadmap| {
        roadmap.merged.len() == 4
            && roadmap.revisions.len() == 1
            && roadmap.revision.as_deref() == Some("rev-002")
    });
    if outcome.status != Status::Accepted || !as_told {
        return Err(not_as_told(
            &outcome,
            stage,
            "four rounds should be merged and the roadmap revised once",
        ));
    }
    tell(stage, &outcome, output);
    Ok(outcome)
}

async fn set_up(stage: &Stage, control: &dyn Control, output: &mut Output) -> Result<(), Fault> {
    say(output, &format!("A small repository, in {}", stage.repository().display()));
    step(output, "The control plane, from answers: one commit, and no round is started");
    let answers = AnswersText {
        name: "the demo's answers".to_owned(),
        text: roadmap_scripts::ANSWERS.to_owned(),
        format: AnswersFormat::Toml,
    };
    let command = InitRoadmap {
        repository: stage.repository(),
        answers: Some(answers),
        records: false,
        dry_run: false,
    };
    let report = control.init_roadmap(command).await?;
    for milestone in &report.milestones {
        let after = match milestone.depends_on.as_slice() {
            [] => String::new(),
            ids => format!(", after {}", ids.join(", ")),
        };
        let words = format!("  {}  {} (lane {}{after})", milestone.id, milestone.title, milestone.lane);
        say(output, &printable(&words));
    }
    let (Some(id), Some(dir)) = (&report.roadmap_id, &report.roadmap_dir) else {
        return Err(Fault::new(Code::Bug, "the demo did not go as told: no roadmap was set up"));
    };
    let script = stage.shared("script.toml");
    std::fs::write(&script, roadmap_scripts::script(&roadmap_scripts::Roadmap { id, dir }))
        .map_err(|error| file_fault("write", &script, &error))
}

fn tell(stage: &Stage, outcome: &RunOutcome, output: &mut Output) {
    step(output, "What happened");
    let lines = [
        "The first slugs kept their capital letters; the reviewer sent the round back to its implementer, and the second",
        "try was merged. Links and headings are in different lanes, so two rounds lived at once; headings merged after links,",
        "as its plan asked. Its reviewer found that the roadmap itself had to change: an author wrote rev-002, another agent",
        "reviewed it, and the last round worked by it. Each round is one commit, with the roadmap brought up to date in it.",
    ];
    for line in lines {
        say(output, line);
    }
    let windlass = stage.windlass();
    let place = quoted(&stage.repository().to_string_lossy());
    let commands = vec![
        (format!("{windlass} roadmap status {}", outcome.run), "milestones, rounds, commits to read"),
        (format!("{windlass} roadmap inspect {place}"), "the control plane as it stands now"),
        (format!("{windlass} explain {}", outcome.run), "why it came out so"),
        (format!("{windlass} verify {}", outcome.run), "does the record hold?"),
        (format!("git -C {place} log --stat --oneline"), "one commit for each round"),
    ];
    show_list(commands, output);
}
