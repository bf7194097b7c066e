//! `windlass control check`: could a control loop start here, and if not, why not?

use crate::commands::absolute;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::control_loop::{SetupNode, SetupReport};
use windlass_control_api::events::Tone;
use windlass_control_api::{Control, Fault, exit_codes};

/// Say whether this repository is set up for a control loop, and what is wrong
///
/// Exits with 0 when a run could start, with 2 when something is wrong, with 14 when only your trust in its commands is
/// missing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass control check
  windlass control check --json | jq -r '.problems[]'")]
pub(super) struct CheckArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
}

pub(super) async fn run(args: CheckArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let report = control.control_setup(&absolute(&args.repo)?).await?;
    if output.is_json() {
        output.document(&report);
    } else {
        show(&report, output);
    }
    Ok(match (report.problems.is_empty(), may_run(&report)) {
        (false, _) => exit_codes::USAGE,
        (true, false) => exit_codes::REFUSED,
        (true, true) => exit_codes::ACCEPTED,
    })
}

fn may_run(report: &SetupReport) -> bool {
    report.trusted || report.commands.is_empty()
}

fn show(report: &SetupReport, output: &mut Output) {
    let look = output.look();
    let name = look.paint(Paint::Name, &printable(&report.repository));
    let (tone, words) = match (&report.dialect, report.problems.as_slice()) {
        (None, _) => (Tone::Bad, "is not set up for a control loop".to_owned()),
        (Some(_), [_, ..]) => (Tone::Bad, "cannot run a control loop yet".to_owned()),
        (Some(dialect), []) => (Tone::Good, format!("is set up for a control loop ({dialect})")),
    };
    output.line(format!("{} {name} {words}", look.mark(tone)));
    for problem in &report.problems {
        output.line(format!("  {} {}", look.mark(Tone::Bad), printable(problem)));
    }
    for (depth, node) in report.nodes.iter().enumerate() {
        show_node(node, depth, output);
    }
    if report.nodes.iter().any(|node| !node.sensors.is_empty()) {
        let words = "a sensor passes when its command exits with 0; its target is what the controller reads";
        output.line(format!("  {}", look.paint(Paint::Faint, words)));
    }
    for warning in &report.warnings {
        output.line(format!("{} {}", look.mark(Tone::Attention), printable(warning)));
    }
    if report.dialect.is_none() {
        let next = look.paint(Paint::Name, "windlass control init");
        output.line(format!("  {} {next}", look.paint(Paint::Faint, "next:")));
    } else if may_run(report) {
        output.line(format!("{} its commands are trusted", look.mark(Tone::Good)));
    } else {
        let words = "its commands are not trusted yet: `windlass trust` says that you agree to them";
        output.line(format!("{} {words}", look.mark(Tone::Attention)));
    }
}

fn show_node(node: &SetupNode, depth: usize, output: &mut Output) {
    let look = output.look();
    let indent = "  ".repeat(depth + 1);
    let most = match node.max_iterations {
        1 => "1 iteration".to_owned(),
        more => format!("{more} iterations"),
    };
    let path = look.paint(Paint::Heading, &printable(&node.path));
    output.line(format!("{indent}{path}: up to {most}, acts through {}", printable(&node.actuator)));
    if node.sensors.is_empty() {
        output.line(format!(
            "{indent}  {} no sensors: its controller's word alone counts",
            look.mark(Tone::Attention)
        ));
    }
    if !node.sensors.is_empty() && node.optional.len() == node.sensors.len() {
        let words = "no required sensor: its controller's word alone counts";
        output.line(format!("{indent}  {} {words}", look.mark(Tone::Attention)));
    }
    for (name, by, target) in &node.sensors {
        let required = if node.optional.contains(name) { ", not required" } else { "" };
        let name = look.paint(Paint::Name, &printable(name));
        let target = printable(target);
        let bullet = look.bullet();
        let lines: Vec<&str> = by.lines().collect();
        if let [one] = lines.as_slice() {
            let one = printable(one);
            output.line(format!("{indent}  {bullet} {name}: {one} (target: {target}{required})"));
            continue;
        }
        output.line(format!("{indent}  {bullet} {name} (target: {target}{required}), until a line fails:"));
        for line in lines {
            output.line(format!("{indent}      {}", printable(line)));
        }
    }
}
