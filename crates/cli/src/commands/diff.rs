//! `windlass diff`: the change of one round, of a whole control loop, or of one of its iterations.

use crate::output::{Look, Output, Paint};
use clap::Args;
use windlass_control_api::commands::Pass;
use windlass_control_api::views::LoopKind;
use windlass_control_api::{Control, Fault, exit_codes};

/// Print the change a run made, as the engine took it
///
/// Of a task loop the last round, which holds everything. Of a control loop everything from its base to the end of its
/// branch, without the loop's own files.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass diff TASK-7-20260102-030405
  windlass diff TASK-7-20260102-030405 --round 1
  windlass diff raise-the-value-20260102-030405 --iteration 2
  windlass diff TASK-7-20260102-030405 | git apply")]
pub(crate) struct DiffArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// The round of a task loop; the last one if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    round: Option<u32>,
    /// The iteration of a control loop, such as `2`, or `2.1` in an inner loop; all of them if not given
    #[arg(long, value_name = "N", conflicts_with = "round")]
    iteration: Option<String>,
}

pub(crate) async fn run(args: DiffArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let pass = args.round.map(Pass::Round).or(args.iteration.map(Pass::Iteration));
    let diff = control.diff(&args.run, pass).await?;
    if output.is_json() {
        output.document(&diff);
    } else if diff.patch.is_empty() {
        output.talk(match (&diff.iteration, control.show(&diff.run, None).await?.line.kind) {
            (Some(label), _) => format!("iteration {label} changed nothing"),
            (None, LoopKind::Control) => String::from("the run has changed nothing"),
            (None, LoopKind::Goal) => format!("iteration {} changed nothing", diff.round),
            (None, LoopKind::Task | LoopKind::Roadmap | LoopKind::Stories) => {
                format!("round {} changed nothing", diff.round)
            }
        });
    } else if output.look().colour {
        for line in String::from_utf8_lossy(&diff.patch).lines() {
            let line = painted(line, output.look());
            output.line(line);
        }
    } else {
        output.raw(&diff.patch);
    }
    Ok(exit_codes::ACCEPTED)
}

/// Escape sequences in a patch are shown, not obeyed; without colour the patch is printed byte for byte instead, so
/// that it can be applied.
fn painted(line: &str, look: Look) -> String {
    let shown: String = line
        .chars()
        .map(
            |letter| if letter.is_control() && letter != '\t' { char::REPLACEMENT_CHARACTER } else { letter },
        )
        .collect();
    let paint = match line {
        line if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => {
            Paint::Heading
        }
        line if line.starts_with('+') => Paint::Good,
        line if line.starts_with('-') => Paint::Bad,
        line if line.starts_with("@@") => Paint::Name,
        _ => return shown,
    };
    look.paint(paint, &shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_cannot_command_the_terminal() {
        let look = Look { colour: true, ..Look::PLAIN };
        assert_eq!(painted("+a\u{1b}[2Jb", look), "\u{1b}[32m+a\u{fffd}[2Jb\u{1b}[0m");
        assert_eq!(painted(" same\tline", look), " same\tline");
    }
}
