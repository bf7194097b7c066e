//! The words between the facts. With `--json` there are none, the events tell the story; with `--quiet` nobody does.

use super::Stage;
use crate::output::{Output, Paint};
use windlass_control_api::views::RunOutcome;

pub(super) fn say(output: &mut Output, text: &str) {
    if output.tells_stories() {
        output.line(text);
    }
}

/// A heading.
pub(super) fn step(output: &mut Output, text: &str) {
    if output.tells_stories() {
        let heading = output.look().paint(Paint::Heading, text);
        output.line("");
        output.line(heading);
    }
}

pub(super) fn landed(outcome: &RunOutcome, output: &mut Output) {
    if let Some(landed) = &outcome.landed {
        let look = output.look();
        let commit = look.paint(Paint::Name, landed.commit.get(..12).unwrap_or(&landed.commit));
        say(output, &format!("  {} {commit} on {}", look.tick(), landed.reference));
    }
}

/// Commands that work when pasted, wherever the reader is.
pub(super) fn show_commands(stage: &Stage, outcome: &RunOutcome, output: &mut Output) {
    let windlass = stage.windlass();
    let run = &outcome.run;
    let mut commands = vec![
        (format!("{windlass} explain {run}"), "why it came out so"),
        (format!("{windlass} log {run}"), "what happened, fact by fact"),
        (format!("{windlass} diff {run}"), "the change"),
        (format!("{windlass} show {run}"), "everything on one screen"),
        (format!("{windlass} verify {run}"), "does the record hold?"),
    ];
    if let Some(landed) = &outcome.landed {
        let repository = stage.repository().display().to_string();
        let show =
            format!("git -C {} show {}", crate::commands::shell_words::quoted(&repository), landed.reference);
        commands.push((show, "the commit, with its trailers"));
    }
    show_list(commands, output);
}

pub(super) fn show_list(commands: Vec<(String, &str)>, output: &mut Output) {
    step(output, "Look at the evidence");
    let look = output.look();
    let column = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    for (command, meaning) in commands {
        let padded = format!("{command:column$}");
        let comment = look.paint(Paint::Faint, &format!("# {meaning}"));
        say(output, &format!("  {}  {comment}", look.paint(Paint::Name, &padded)));
    }
}
