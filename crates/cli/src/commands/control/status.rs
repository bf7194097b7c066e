//! `windlass control status`: where a control loop stands, node by node.

use super::report;
use crate::commands::absolute;
use crate::commands::outcome::short;
use crate::output::{Fields, Output, Paint, fit, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::control_loop::{ControlStatus, NodeView, SensorReading};
use windlass_control_api::events::Tone;
use windlass_control_api::{Control, Fault, exit_codes};

/// Lines of an agent's or a sensor's report that are shown without `--full`.
const SHOWN_LINES: usize = 12;

/// Show where a control loop stands: nodes, readings, last reports, commits
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass control status
  windlass control status hdjqpvkz --full
  windlass control status --json | jq '.report.nodes[] | {path, iteration, status}'")]
pub(super) struct StatusArgs {
    /// The run, as `windlass ls` names it; the newest control loop of the repository if not given
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// The repository whose newest control loop is meant
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "run")]
    repo: PathBuf,
    /// The reports in full length
    #[arg(long)]
    full: bool,
}

pub(super) async fn run(args: StatusArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let status = control.control_status(args.run.as_deref(), &absolute(&args.repo)?).await?;
    if output.is_json() {
        output.document(&status);
        return Ok(exit_codes::ACCEPTED);
    }
    show_run(&status, output);
    heading("nodes", output);
    for (depth, node) in status.report.nodes.iter().enumerate() {
        show_node(node, depth, output);
    }
    let most = if args.full { usize::MAX } else { SHOWN_LINES };
    for (path, text) in &status.outputs {
        heading(&printable(path), output);
        show_report(text, most, output);
    }
    if !status.recent.is_empty() {
        heading("commits, the newest first", output);
        let look = output.look();
        for (commit, subject) in &status.recent {
            let room = look.width.map_or(usize::MAX, |width| width.saturating_sub(15));
            let subject = fit(&printable(subject), room, look.ellipsis());
            output.line(format!("  {} {subject}", look.paint(Paint::Name, short(commit))));
        }
    }
    Ok(exit_codes::ACCEPTED)
}

fn heading(text: &str, output: &mut Output) {
    let heading = output.look().paint(Paint::Heading, text);
    output.line("");
    output.line(heading);
}

fn show_run(status: &ControlStatus, output: &mut Output) {
    let look = output.look();
    let mut fields = Fields::new(look);
    fields.add("run", look.paint(Paint::Name, &status.run));
    fields.add("status", look.status(status.status));
    fields.add("task", printable(status.task.lines().next().unwrap_or_default()));
    fields.add("now", printable(&status.now));
    report::add(&status.report, &mut fields);
    for line in fields.lines() {
        output.line(line);
    }
}

fn show_node(node: &NodeView, depth: usize, output: &mut Output) {
    let look = output.look();
    let indent = "  ".repeat(depth + 1);
    let path = look.paint(Paint::Name, &printable(&node.path));
    let iteration = match &node.iteration {
        Some(label) => {
            format!(", iteration {label}, {} of {} actuations", node.actuations, node.max_iterations)
        }
        None => String::new(),
    };
    output.line(format!("{indent}{path}: {}{iteration}", printable(&node.status)));
    for sensor in &node.sensors {
        let (tone, words) = reading(sensor);
        output.line(format!("{indent}  {} {words}", look.mark(tone)));
    }
    for remark in &node.remarks {
        output.line(format!("{indent}  {} {}", look.mark(Tone::Attention), printable(remark)));
    }
}

fn reading(sensor: &SensorReading) -> (Tone, String) {
    let tone = match sensor.status.as_str() {
        "pass" => Tone::Good,
        "fail" => Tone::Bad,
        _ => Tone::Quiet,
    };
    let cause = sensor.cause.as_ref().map_or_else(String::new, |cause| format!(" ({})", printable(cause)));
    let need = if sensor.required { "" } else { ", not required" };
    let figure = |(name, value, unit): &(String, String, String)| {
        format!("{} {value} {}", printable(name), printable(unit)).trim_end().to_owned()
    };
    let reading = format!("{} {}{cause}{need}", printable(&sensor.name), sensor.status);
    let parts: Vec<String> = [reading].into_iter().chain(sensor.figures.iter().map(figure)).collect();
    (tone, parts.join("; "))
}

/// Front matter says nothing that is not shown above.
fn show_report(text: &str, most: usize, output: &mut Output) {
    let body =
        text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body);
    let lines: Vec<&str> = body.lines().skip_while(|line| line.trim().is_empty()).collect();
    let look = output.look();
    for line in lines.iter().take(most) {
        output.line(format!("  {}", printable(line)).trim_end());
    }
    if lines.len() > most {
        let more = format!("  {} {} more lines; `--full` shows them", look.ellipsis(), lines.len() - most);
        output.line(look.paint(Paint::Faint, &more));
    }
}
