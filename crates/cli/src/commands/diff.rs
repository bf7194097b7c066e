//! `windlass diff`: the change of one round.

use crate::output::{Look, Output, Paint};
use clap::Args;
use windlass_control_api::{Control, Fault, exit_codes};

/// Print the change a run made, as the engine took it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass diff TASK-7-20260102-030405
  windlass diff TASK-7-20260102-030405 --round 1
  windlass diff TASK-7-20260102-030405 | git apply")]
pub(crate) struct DiffArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// The round; the last one if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    round: Option<u32>,
}

pub(crate) async fn run(args: DiffArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let diff = control.diff(&args.run, args.round).await?;
    if output.is_json() {
        output.document(&diff);
    } else if diff.patch.is_empty() {
        output.talk(format!("round {} changed nothing", diff.round));
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
